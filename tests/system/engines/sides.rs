//! Boundaries of each side, and those that mirror at a sample.

use std::collections::HashSet;

use stencil_mex::cuda::Cuda;
use stencil_mex::stencil::{Boundary, Convolution, Ends, Lines, Sides};

use super::checks::{
    ONE, Outcome, TWO, awkward, check_awkward, check_convolution, check_derivatives, check_image_sweeps,
    check_many_sweeps, check_sweeps, filter, is_slow, kernel_of_filter, kernels_of, looks_for_faults, ordinary, pairs,
    samples, sides, single, singles, size_of_module, tame,
};
use super::small_images::SMALL_FILTERS;
use super::tensor::check_tensor_filters;
use crate::common::ends::{self, AnyEngine};
use crate::common::{StandIn, selection};

/// Lines of every length around the filter, and around the borders of tiles; along the first dimension and a later one;
/// one sweep and several; and derivatives.
pub fn sides_of_lines(engine: &AnyEngine) -> Outcome {
    for (number, ends) in pairs().into_iter().enumerate() {
        let lengths = (1..=24).chain([40, 63, 64, 65, 84, 128, 204, 512, 640, 1024, 2048, 3200, 4097, 4736, 4740]);
        for (n, length) in lengths.enumerate() {
            for (m, count) in [1, 3, 5, 9, 13, 21].into_iter().enumerate() {
                if length > 24 && !(n + m + number).is_multiple_of(3) {
                    continue;
                }
                let (several, taps) = (if length < 100 { 3 } else { 1 }, tame(count, (count + length) as u64));
                let input = samples(length * several, length as u64);
                let sweeps = [1, 2, 7][(n + m) % 3];
                check_sweeps(engine, &input, Lines::new(length, several), &taps, ends, sweeps)?;
                let inner = [2, 5, 33][(n + number) % 3];
                let input = samples(inner * length, length as u64 + 1);
                check_sweeps(engine, &input, Lines::strided(inner, length, 1), &taps, ends, sweeps)?;
            }
            let input = samples(2 * length, length as u64 + 2);
            check_derivatives(engine, &input, Lines::new(length, 2), ends)?;
            check_derivatives(engine, &input, Lines::strided(2, length, 1), ends)?;
        }
        // In many tiles, and with many sweeps.
        let (length, sweeps) = if is_slow(engine) { (20_011, 9) } else { (40_011, 40) };
        let input = samples(length, 9);
        check_sweeps(engine, &input, Lines::new(length, 1), &tame(3, 1), ends, sweeps)?;
        check_sweeps(engine, &input, Lines::new(length, 1), &tame(21, 1), ends, 1)?;
        check_derivatives(engine, &input, Lines::new(length, 1), ends)?;
    }
    Ok(())
}

/// Images and volumes, some smaller than the filter, in one sweep and in several.
pub fn sides_of_images(engine: &AnyEngine) -> Outcome {
    let images = [[1, 1, 1], [2, 3, 1], [3, 2, 1], [1, 40, 1], [40, 1, 1], [31, 33, 1], [66, 18, 1], [70, 41, 2]];
    let volumes = [[1, 1, 2], [2, 3, 4], [9, 2, 3], [20, 11, 5]];
    let mut number = 0;
    for sides in sides() {
        for size in images {
            for filter in [[3, 3, 1], [5, 5, 1], [7, 7, 1], [3, 5, 1], [7, 1, 1], [1, 5, 1], [15, 13, 1]] {
                number += 1;
                check_image_sweeps(engine, size, filter, number, sides, [1, 2, 5][number as usize % 3])?;
            }
        }
        for size in volumes {
            for filter in [[3, 3, 3], [5, 5, 5], [1, 3, 3], [3, 1, 3], [1, 1, 5], [7, 3, 7]] {
                number += 1;
                check_image_sweeps(engine, size, filter, number, sides, [1, 2, 4][number as usize % 3])?;
            }
        }
    }
    Ok(())
}

/// True for double, a filter, the size of an array, and its number of sweeps: the kernel of `sweeps_images` takes these
/// on the stand-in's few multiprocessors, with any boundary.
const IN_IMAGES: [(bool, [usize; 3], [usize; 3], usize); 30] = include!("sides_in_images.in");

/// Fused sweeps over images: all boundaries of the columns, each with others above and below. Few columns, about as
/// many as a filter reaches, and one; in one strip, and in several.
pub fn sides_in_sweeps_of_images(cuda: Cuda) -> Outcome {
    let mut kinds = pairs();
    kinds.push(Boundary::Circular.into());
    kinds.push(Boundary::Replicate.into());
    let mut number = 0;
    let mut sides = |beside: usize, size_of_filter: [usize; 3]| -> Sides<f64> {
        number += 1;
        let (rows, columns) = (kinds[(number * 5 + number / kinds.len()) % kinds.len()], kinds[beside]);
        // The other dimension has no say.
        let other = kinds[(number * 7 + 3) % kinds.len()];
        if size_of_filter[2] > 1 { [rows, other, columns].into() } else { [rows, columns, other].into() }
    };
    let check = |in_double, size_of_filter, size, sides: Sides<f64>, sweeps, seed| {
        let (input, entries) = awkward(size_of_filter, size, seed);
        check_many_sweeps(&cuda, &(in_double, 0, size_of_filter, size, sweeps), sides, &input, entries)
    };
    // Builds of the stand-in that look for faults see them in few sides as well.
    let slowly = looks_for_faults();
    let mut launched = HashSet::new();
    for (n, &(in_double, size_of_filter, size, sweeps)) in IN_IMAGES.iter().enumerate() {
        let features: [&dyn std::fmt::Debug; 3] =
            [&in_double, &kernel_of_filter(size_of_filter), &size_of_module(&cuda, (in_double, size_of_filter))];
        if !selection::takes(&format!("{in_double} {size_of_filter:?} {size:?}"), &features) {
            continue;
        }
        // The reference takes its time, and so does the stand-in for the driver.
        let many = size.iter().product::<usize>() > 40_000;
        let step = match (many, slowly) {
            (true, true) => 12,
            (true, false) => [6, 12][n % 2],
            (false, true) => 4,
            (false, false) => 1,
        };
        let chosen = (n * 5 % step..12).step_by(step);
        let of = (in_double, size_of_filter);
        for (m, beside) in chosen.clone().chain(0..12).enumerate() {
            if m >= chosen.len() && (slowly || launched.contains(&of)) {
                break;
            }
            let sides = sides(beside, size_of_filter);
            let check = || check(in_double, size_of_filter, size, sides, sweeps, beside);
            // Its module is launched once at least. (Where all sides have one boundary, another one does the sweeps.)
            if launched.contains(&of) {
                check()?;
            } else if kernels_of(check)?.is_none_or(|all| all.iter().any(|it| it.starts_with("sweeps_images_sides_"))) {
                launched.insert(of);
            }
        }
        if !launched.contains(&of) && !slowly {
            return Err(format!("the module for {size_of_filter:?}, in double {in_double}, was not launched"));
        }
    }
    Ok(())
}

/// Sides of images whose rows and columns differ in kind: periodic ones next to constants, constants next to repeated
/// samples, and constants that meet in corners.
fn sides_of_an_image() -> Vec<Sides<f64>> {
    let pairs = pairs();
    let round: Ends<f64> = Boundary::Circular.into();
    let other_way_round = Ends::new(TWO, ONE).expect("constants both");
    let beside = |rows: Ends<f64>, columns: Ends<f64>| Sides::from([rows, columns, pairs[9]]);
    let mut all = sides();
    all.extend([
        beside(pairs[1], other_way_round),
        beside(other_way_round, pairs[1]),
        beside(pairs[2], pairs[4]),
        beside(pairs[1], round),
        beside(round, pairs[2]),
        beside(pairs[0], pairs[1]),
        beside(pairs[1], pairs[0]),
        beside(pairs[5], pairs[4]),
        beside(round, pairs[7]),
        beside(pairs[8], round),
    ]);
    all
}

/// Images, and how many sweeps: each of the kernels for several a launch is chosen for one of them at least, on the
/// stand-in's few multiprocessors.
const SMALL_IMAGES: [([usize; 3], usize); 9] = include!("small_images.in");

/// Fused sweeps over small images: of one tile and of several, with edges on every side; with ordinary samples, each of
/// which shows an error, and with samples that spread or fade.
pub fn sides_in_sweeps_of_small_images(cuda: Cuda) -> Outcome {
    // True if all of these sweeps are done singly. When launches take long, as in a build that looks for faults, the
    // pace may do some of a call so.
    let is_singly = |sweeps: usize, check: &dyn Fn() -> Outcome| {
        let kernels = kernels_of(|| ends::between(ends::ARRAY_TO_ARRAY, check))?;
        let is_singly = |kernels: &Vec<String>| {
            let is_of_several = |kernel: &String| kernel.starts_with("sweeps_");
            !kernels.iter().any(is_of_several) || (!looks_for_faults() && kernels.len() >= sweeps)
        };
        Ok::<_, String>(kernels.as_ref().is_some_and(is_singly))
    };
    let (mut number, mut checked, mut singly) = (0, 0, 0);
    for (n, size_of_filter) in SMALL_FILTERS.into_iter().enumerate() {
        for ((m, sides), way) in sides_of_an_image().into_iter().enumerate().flat_map(|it| [(it, 0), (it, 5)]) {
            number += 1;
            let (size, sweeps) = SMALL_IMAGES[(n + m + way) % SMALL_IMAGES.len()];
            let features: [&dyn std::fmt::Debug; 2] =
                [&kernel_of_filter(size_of_filter), &size_of_module(&cuda, size_of_filter)];
            if !selection::takes(&format!("{size_of_filter:?}, {size:?}, {sides:?}"), &features) {
                continue;
            }
            checked += 2;
            let (input, entries) = if number % 3 == 0 {
                awkward(size_of_filter, size, number)
            } else {
                let entries = tame(size_of_filter.iter().product(), number as u64 + 1);
                (ordinary(size.iter().product(), number as u64), entries)
            };
            let in_single = Convolution::new(size, filter(singles(&entries), size_of_filter)?);
            let in_single = in_single.with_boundary(single(sides)).with_sweeps(sweeps);
            let in_double = Convolution::new(size, filter(entries, size_of_filter)?);
            let in_double = in_double.with_boundary(sides).with_sweeps(sweeps);
            singly += usize::from(is_singly(sweeps, &|| check_convolution(&cuda, &in_double, &input))?);
            singly += usize::from(is_singly(sweeps, &|| check_convolution(&cuda, &in_single, &singles(&input)))?);
        }
    }
    // A few of them are faster singly.
    let share = if looks_for_faults() { 5 } else { 50 };
    if singly * share > checked {
        return Err(format!("{singly} of {checked} were done by single sweeps"));
    }
    Ok(())
}

/// More of them: six constants, which differ in corners; constants before the pages and none behind them, and the other
/// way round; constants that are not finite, or so small that sums with them are rounded to zero.
fn other_sides() -> Vec<Sides<f64>> {
    let pairs = pairs();
    let round: Ends<f64> = Boundary::Circular.into();
    let constants = |low, high| Ends::new(Boundary::Constant(low), Boundary::Constant(high)).expect("none goes round");
    vec![
        [constants(1.5, -2.5), constants(0.75, 3.25), constants(-0.5, 4.5)].into(),
        [pairs[1], pairs[4], pairs[3]].into(),
        [pairs[0], constants(5.0, 6.0), pairs[4]].into(),
        [pairs[8], round, round].into(),
        [constants(f64::INFINITY, 5e-324), pairs[0], constants(1e-310, f64::NEG_INFINITY)].into(),
        [pairs[0], constants(-0.0, f64::NAN), pairs[7]].into(),
        [constants(0.0, 5e-324), constants(-1e-310, 0.0), pairs[5]].into(),
    ]
}

/// Sweeps over volumes, two of them a launch: one tile and several, in few pages and in many, with rows that are copied
/// one by one or not. The stand-in's few multiprocessors take them in double, in single or in both.
pub fn sides_in_sweeps_of_volumes(cuda: Cuda) -> Outcome {
    let sizes: &[[usize; 3]] = if StandIn::find().is_some() {
        &[[96, 60, 4], [96, 88, 3], [95, 60, 7], [97, 62, 12], [188, 61, 10], [95, 100, 16], [32, 250, 25]]
    } else {
        &[[48, 400, 200], [95, 160, 90]]
    };
    for (n, sides) in sides().into_iter().chain(other_sides()).enumerate() {
        for (m, &size) in sizes.iter().enumerate() {
            let number = n + m;
            // The smallest always; of the larger ones some.
            if m < 3 || number % 2 == 0 {
                check_awkward(&cuda, [3, 3, 3], size, sides, 2 + number % 2, number)?;
            }
            if number % 3 == 0 {
                check_awkward(&cuda, [1, 3, 3], size, sides, 2, number)?;
            }
        }
    }
    Ok(())
}

/// Filters that go to tensor cores, whose samples are finite or, some of them, not.
pub fn sides_on_tensor_cores(cuda: Cuda) -> Outcome {
    let all: Vec<_> = sides().into_iter().chain(other_sides()).collect();
    let data = |count, seed: u64| {
        let mut data = ordinary(count, seed);
        if seed.is_multiple_of(3) {
            for (n, at) in (seed as usize..count).step_by(15_013).enumerate() {
                data[at] = [f64::INFINITY, 5e-324, f64::NAN, f64::MAX][n % 4];
            }
        }
        data
    };
    check_tensor_filters(&cuda, 4, |number| all[number % all.len()], data, ordinary)
}
