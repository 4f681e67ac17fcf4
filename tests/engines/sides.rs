//! Boundaries of each side, and those that mirror at a sample.

use stencil_mex::cuda::Cuda;
use stencil_mex::stencil::{Boundary, Convolution, Ends, Lines, Sides};

use super::common::ends::AnyEngine;
use super::{
    Outcome, awkward, check_convolution, check_derivatives, check_image_sweeps, check_sweeps, filter, is_slow,
    ordinary, samples, single, singles, tame,
};

const ONE: Boundary<f64> = Boundary::Constant(2.5);
const TWO: Boundary<f64> = Boundary::Constant(-1.25);

/// What stands beyond the ends of a dimension, such that every sample outside shows: each boundary that goes with
/// another one at least once at either end.
const PAIRS: [[Boundary<f64>; 2]; 10] = [
    [Boundary::Mirror, Boundary::Mirror],
    [ONE, TWO],
    [Boundary::Mirror, ONE],
    [ONE, Boundary::Mirror],
    [Boundary::Replicate, TWO],
    [TWO, Boundary::Symmetric],
    [Boundary::Symmetric, Boundary::Mirror],
    [Boundary::Mirror, Boundary::Replicate],
    [Boundary::Symmetric, Boundary::Replicate],
    [Boundary::Constant(f64::NAN), Boundary::Constant(-0.0)],
];

/// All of them.
pub fn pairs() -> Vec<Ends<f64>> {
    PAIRS.iter().map(|&[low, high]| Ends::new(low, high).expect("both ends go round, or none")).collect()
}

/// Sides of an array, of which every dimension has its own: mirrors, pairs of constants, one that goes round.
pub fn sides() -> Vec<Sides<f64>> {
    let pairs = pairs();
    let round: Ends<f64> = Boundary::Circular.into();
    vec![
        [pairs[0]; 3].into(),
        [pairs[1]; 3].into(),
        [round, pairs[1], pairs[0]].into(),
        [pairs[2], round, pairs[5]].into(),
        [pairs[4], pairs[3], round].into(),
        [pairs[6], pairs[7], pairs[1]].into(),
        [pairs[3], pairs[8], pairs[2]].into(),
        [round, round, pairs[5]].into(),
        [pairs[9], pairs[0], pairs[6]].into(),
    ]
}

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

/// Whether in double, a filter, and the size of an array that the kernel of `sweeps_images` takes for so many sweeps on
/// the stand-in's few multiprocessors, whatever stands around it.
const IN_IMAGES: [(bool, [usize; 3], [usize; 3], usize); 36] = include!("sides_in_images.in");

/// Sweeps over images, several in a launch: all that stands beside the columns, each with something else above and below.
/// Few columns, some as many as a filter reaches, and one; in one strip, and in several; and images on tensor cores.
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
    let check = |in_double: bool, size_of_filter: [usize; 3], size: [usize; 3], sides: Sides<f64>, sweeps, seed| {
        let (input, entries) = awkward(size_of_filter, size, seed);
        if in_double {
            let what = Convolution::new(size, filter(entries, size_of_filter)?);
            check_convolution(&cuda, &what.with_boundary(sides).with_sweeps(sweeps), &input)
        } else {
            let what = Convolution::new(size, filter(singles(&entries), size_of_filter)?);
            check_convolution(&cuda, &what.with_boundary(single(sides)).with_sweeps(sweeps), &singles(&input))
        }
    };
    for (n, &(in_double, size_of_filter, size, sweeps)) in IN_IMAGES.iter().enumerate() {
        // The reference takes its time, and so does the stand-in for the driver.
        let many = size.iter().product::<usize>() > 40_000;
        for beside in (if many { n % 4 } else { 0 }..12).step_by(if many { 4 } else { 1 }) {
            check(in_double, size_of_filter, size, sides(beside, size_of_filter), sweeps, beside)?;
        }
    }
    // Samples that tensor cores compute right.
    for beside in (0..12).filter(|beside| beside % 4 > 1) {
        let (size, sweeps) = [([192, 900, 1], 4), ([350, 300, 2], 4)][beside % 2];
        let mut input = ordinary(size.iter().product(), beside as u64);
        input.iter_mut().for_each(|x| *x = if x.abs() < 1e-9 { 0.5 } else { *x });
        let what = Convolution::new(size, filter(tame(49, beside as u64), [7, 7, 1])?);
        let what = what.with_boundary(sides(beside, [7, 7, 1])).with_sweeps(sweeps);
        check_convolution(&cuda, &what, &input)?;
    }
    Ok(())
}
