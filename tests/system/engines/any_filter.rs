//! Filters of any size on tensor cores: the bits are those of the units of vectors.

use stencil_mex::cuda::Cuda;
use stencil_mex::stencil::{Convolution, Sides};

use super::checks::{
    KINDS, Outcome, awkward, check_convolution, filter, is_slow, kernels_of, ordinary, single, singles,
};
use crate::common::ends;
use crate::common::selection;

/// Arrays and filters that go to tensor cores on the four multiprocessors of the stand-in for the driver: an image,
/// whose tiles reach beyond it, a long line, lines across, a volume whose filter has several pages, and a filter of
/// several stages. On a chip the arrays are wider, by the ratio of multiprocessors.
const CASES: [([usize; 3], [usize; 3]); 6] = [
    ([250, 190, 1], [31, 5, 1]),
    ([1, 45_001, 1], [1, 63, 1]),
    ([64, 1020, 1], [1, 65, 1]),
    ([128, 64, 3], [17, 3, 2]),
    ([256, 96, 1], [40, 2, 1]),
    ([1, 40_960, 1], [1, 2101, 1]),
];

/// Special values among the samples.
#[derive(Debug, Clone, Copy)]
enum Among {
    /// Nothing that a product with a zero could show in.
    Ordinary,
    /// Infinities and NaN, here and there: their tiles are computed again.
    Infinities,
    /// Zeros but for samples whose products underflow: sums that are rounded to -0.
    Underflow,
    /// Numbers that sums often cancel of.
    Whole,
}

/// Each case with each kind of data, and with one boundary after the other.
pub fn any_filters_on_tensor_cores(cuda: Cuda) -> Outcome {
    let wide = if is_slow(&cuda) { 1 } else { 40 };
    let mut number = 0;
    for (size, of_filter) in CASES {
        for among in [Among::Ordinary, Among::Infinities, Among::Underflow, Among::Whole] {
            number += 1;
            // Long chains are dear on the stand-in, and a filter of several stages has but to be one.
            if of_filter[1] > 2000 && is_slow(&cuda) && !matches!(among, Among::Ordinary) {
                continue;
            }
            if !selection::takes(&format!("{size:?} by {of_filter:?}, {among:?}"), &[&(size, of_filter), &among]) {
                continue;
            }
            let size = [size[0], size[1] * wide, size[2]];
            let (input, entries) = data(among, size.iter().product(), of_filter.iter().product(), number);
            let boundary = KINDS[number as usize % KINDS.len()];
            let what = Convolution::new(size, filter(entries, of_filter)?).with_boundary(boundary);
            let check = || selection::forced(|| check_convolution(&cuda, &what, &input));
            let launched = kernels_of(|| ends::between(ends::ARRAY_TO_ARRAY, check))?;
            if launched.is_some_and(|kernels| !kernels.iter().any(|kernel| kernel.starts_with("any_filter_tensor"))) {
                return Err(format!("{size:?} by {of_filter:?} went to other kernels"));
            }
        }
    }
    Ok(())
}

/// Arrays of few rows or few columns, from the device to it and through slots: each output has a thread.
pub fn arrays_of_few_rows(cuda: Cuda) -> Outcome {
    let mut number = 0;
    for size in [[1, 900, 1], [2, 500, 3], [3, 333, 1], [7, 64, 2], [5, 2, 4], [1, 1, 30]] {
        for of_filter in [[3, 3, 1], [3, 2, 1], [15, 15, 1], [2, 4, 1], [5, 5, 5], [31, 17, 1]] {
            // Five boundaries take turns.
            for _ in 0..2 {
                number += 1;
                let sides: Sides<f64> = KINDS[number % KINDS.len()].into();
                let (input, entries) = awkward(of_filter, size, number);
                let double = Convolution::new(size, filter(entries.clone(), of_filter)?).with_boundary(sides);
                let of_single =
                    Convolution::new(size, filter(singles(&entries), of_filter)?).with_boundary(single(sides));
                let launched = kernels_of(|| {
                    check_convolution(&cuda, &double, &input)?;
                    check_convolution(&cuda, &of_single, &singles(&input))
                })?;
                let few = |kernels: Vec<String>| kernels.iter().all(|kernel| kernel.ends_with("any_filter_of_few"));
                if launched.is_some_and(|kernels| kernels.is_empty() || !few(kernels)) {
                    return Err(format!("{size:?} by {of_filter:?} went to other kernels"));
                }
            }
        }
    }
    Ok(())
}

/// Lines along the third dimension in single, in tiles of two lines and in one of a single line: that is seen as an array of
/// one row, and goes to another kernel than the tiles before it.
pub fn tiles_that_take_other_kernels(cuda: Cuda) -> Outcome {
    let (size, of_filter) = ([1, 3, 700], [1, 1, 7]);
    let (input, entries) = awkward(of_filter, size, 1);
    let what = Convolution::new(size, filter(singles(&entries), of_filter)?);
    let cuda = cuda.with_device_bytes(12_000);
    let check = || selection::forced(|| check_convolution(&cuda, &what, &singles(&input)));
    let launched = kernels_of(|| ends::between(ends::HOST_TO_HOST, check))?;
    let all = ["any_filter_by_columns", "any_filter_by_rows"];
    match launched {
        Some(kernels) if !all.iter().all(|&one| kernels.iter().any(|kernel| kernel.ends_with(one))) => {
            Err(format!("all tiles went to {kernels:?}"))
        }
        _ => Ok(()),
    }
}

/// Samples and entries.
fn data(among: Among, count: usize, entries: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let ordinary = |count| ordinary(count, seed).into_iter().map(|x| if x.abs() < 1e-9 { 0.5 } else { x });
    let whole = |count| ordinary(count).map(|x| (3.0 * x).round()).collect();
    match among {
        Among::Ordinary => (ordinary(count).collect(), ordinary(entries).collect()),
        Among::Whole => (whole(count), whole(entries)),
        Among::Infinities => {
            let mut samples: Vec<f64> = ordinary(count).collect();
            for (n, at) in (seed as usize..count).step_by(9001).enumerate() {
                samples[at] = [f64::INFINITY, f64::NAN, f64::NEG_INFINITY, f64::MAX][n % 4];
            }
            (samples, ordinary(entries).collect())
        }
        Among::Underflow => {
            let mut samples = vec![0.0; count];
            for (n, at) in (seed as usize..count).step_by(2003).enumerate() {
                samples[at] = [5e-324, 1e-310, -1e-320, f64::MIN_POSITIVE, 1.0][n % 5];
            }
            (samples, ordinary(entries).map(|x| -0.01 * x.abs() - 1e-9).collect())
        }
    }
}
