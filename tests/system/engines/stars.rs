//! Many sweeps with filters that are zero except for their middle row and column: stars, whose zeros a kernel skips.

use stencil_mex::cuda::Cuda;
use stencil_mex::stencil::{Boundary, Convolution};

use super::checks::{
    KINDS, ManySweeps, Outcome, awkward, check_convolution, check_many_sweeps, filter, looks_for_faults, ordinary,
    single, singles, tame,
};
use crate::common::{StandIn, ends};

/// Arrays for which the stand-in's few multiprocessors take the kernel for stars.
const STARS: [ManySweeps; 17] = include!("stars.in");

/// Cases of many sweeps that an H200's many multiprocessors choose the kernel for.
const STARS_OF_MANY: [ManySweeps; 8] = [
    (true, 0, [3, 3, 1], [2600, 2201, 1], 17),
    (true, 3, [3, 3, 1], [2444, 2300, 1], 33),
    (true, 2, [5, 5, 1], [2500, 2200, 1], 9),
    (true, 1, [7, 7, 1], [2401, 2200, 1], 9),
    (false, 3, [3, 3, 1], [2600, 2201, 1], 17),
    (false, 0, [3, 3, 1], [2501, 2300, 1], 33),
    (false, 2, [5, 5, 1], [2500, 2200, 1], 9),
    (false, 1, [7, 7, 1], [2600, 2203, 1], 8),
];

/// True for an entry outside the middle row and column of a filter of this size.
fn is_beside(at: usize, size: [usize; 3]) -> bool {
    let columns = size[1] * size[2];
    at % size[0] != size[0] / 2 && at / size[0] != columns / 2
}

/// Entries of a star, its zeros of either sign.
fn star(mut entries: Vec<f64>, size: [usize; 3]) -> Vec<f64> {
    for (at, entry) in entries.iter_mut().enumerate().filter(|(at, _)| is_beside(*at, size)) {
        *entry = if at % 3 == 0 { -0.0 } else { 0.0 };
    }
    entries
}

/// Stars over images: of ordinary samples and zeros; with infinities, NaN and subnormal numbers among them; and with
/// samples whose products with small entries are rounded to -0, which one with a zero that is left out would make +0.
pub fn stars_over_images(cuda: Cuda) -> Outcome {
    let stand_in = StandIn::find();
    let cases = if stand_in.is_some() { &STARS[..] } else { &STARS_OF_MANY };
    let step = if looks_for_faults() { 5 } else { 1 };
    for (number, case) in cases.iter().enumerate().step_by(step) {
        let &(in_double, boundary, by, size, _) = case;
        let count: usize = size.iter().product();
        let entries = star(tame(by.iter().product(), number as u64), by);
        // Half of the samples are zeros, of both signs.
        let mut plain = ordinary(count, number as u64);
        for (at, x) in plain.iter_mut().enumerate() {
            if at < count / 3 || at % 7 == 0 {
                *x = if at % 2 == 0 { 0.0 } else { -0.0 };
            } else if x.abs() < 1e-3 {
                *x = 0.5;
            }
        }
        check_many_sweeps(&cuda, case, KINDS[boundary], &plain, entries.clone())?;
        let (spoilt, _) = awkward(by, size, number);
        check_many_sweeps(&cuda, case, KINDS[boundary], &spoilt, entries)?;
        // The middle entry keeps a sample where it is, or doubles it; the others bring nothing of it anywhere else.
        let (small, tiny, bounds) = if in_double {
            (2_f64.powi(-400), 2_f64.powi(-700), f64::MAX_EXP)
        } else {
            (2_f64.powi(-39), 2_f64.powi(-115), f32::MAX_EXP)
        };
        let entries = |middle: f64, other: f64| {
            let entries: usize = by.iter().product();
            star((0..entries).map(|at| if at == entries / 2 { middle } else { other }).collect(), by)
        };
        let zeros = if boundary == 0 { Boundary::Constant(0.0) } else { KINDS[boundary] };
        let mut near_zero = vec![0.0; count];
        for (n, at) in (number % 13..count).step_by(409).enumerate() {
            near_zero[at] = if n % 2 == 0 { tiny } else { -tiny };
        }
        check_many_sweeps(&cuda, case, zeros, &near_zero, entries(1.0, -small))?;
        // A single nonzero sample, in a row and a column that may be the first or the last. It overflows in the last
        // sweep but one of a launch by all warps, or is so small that only sums with zeros show it.
        let case = &(in_double, boundary, by, size, if by[0] == 3 { 16 } else { 8 });
        let columns = count / size[0];
        let row = [0, size[0] / 2, size[0] - 1][number % 3];
        for column in [0, columns / 3, columns - 1] {
            let one = |sample: f64| {
                let mut all = vec![0.0; count];
                all[column * size[0] + row] = sample;
                all
            };
            let grows = 2_f64.powi(bounds - case.4 as i32 + 1);
            check_many_sweeps(&cuda, case, zeros, &one(grows), entries(2.0, 0.25))?;
            check_many_sweeps(&cuda, case, zeros, &one(tiny), entries(1.0, -small))?;
        }
    }
    Ok(())
}

/// A star has two kernels more than the ordinary ones, which alone ask for more shared memory than every chip has;
/// filters that are no stars have none, and neither have those by which all samples would be too near to zero, or
/// boundaries that are not for it.
pub fn zeros_of_stars_are_left_out(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let size = [1110, 140, 1];
    let kernels = |entries: Vec<f64>, boundary: Boundary<f64>| -> Result<usize, String> {
        let what = Convolution::new(size, filter(singles(&entries), [3, 3, 1])?);
        let what = what.with_boundary(single(boundary)).with_sweeps(16);
        stand_in.reset();
        let input = singles(&ordinary(size.iter().product(), 5));
        ends::between(ends::ARRAY_TO_ARRAY, || check_convolution(&cuda, &what, &input))?;
        Ok((0..stand_in.calls()).filter(|&call| stand_in.call(call).contains("FuncSetAttribute")).count())
    };
    let a_star = star(tame(9, 2), [3, 3, 1]);
    let with = |at: usize, entry: f64| {
        let mut entries = a_star.clone();
        entries[at] = entry;
        entries
    };
    let found = [
        kernels(a_star.clone(), Boundary::Circular)?,
        kernels(a_star.clone(), Boundary::Constant(2.5))?,
        kernels(a_star.clone(), Boundary::Constant(f64::NAN))?,
        kernels(a_star.clone(), Boundary::Mirror)?,
        kernels(with(8, 1e-9), Boundary::Circular)?,
        kernels(with(1, 1e-25), Boundary::Circular)?,
        kernels(with(4, f64::INFINITY), Boundary::Circular)?,
    ];
    // The ordinary module, for fewer sweeps, is there as well as the star's.
    if found != [6, 6, 2, 2, 2, 2, 2] {
        return Err(format!("{found:?} kernels"));
    }
    Ok(())
}
