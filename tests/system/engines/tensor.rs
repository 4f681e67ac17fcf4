//! Convolutions on tensor cores.

use stencil_mex::cuda::Cuda;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Arrays, Boundary, Compute, Convolution, Error, Sides, Source, Target};

use super::checks::{KINDS, Outcome, check_convolution, filter, ordinary, sides, size_of_module, tame};
use crate::common::ends::{self, array_with};
use crate::common::{self, StandIn, selection};

/// Filters that go to tensor cores, on chips that have them: sizes that have a kernel, and some that are padded to
/// these.
const TENSOR_FILTERS: [[usize; 3]; 14] = [
    [15, 15, 1],
    [15, 13, 1],
    [11, 11, 1],
    [13, 15, 1],
    [15, 11, 1],
    [11, 9, 1],
    [9, 11, 1],
    [9, 7, 1],
    [7, 5, 1],
    [7, 7, 7],
    [7, 5, 7],
    [5, 7, 7],
    [5, 5, 5],
    [5, 3, 5],
];

/// Images and volumes that are large enough for tensor cores on the four multiprocessors of the stand-in for the
/// driver: rows around the edges of strips, columns of an even and of an odd number.
const TENSOR_IMAGES: [[usize; 3]; 4] = [[256, 401, 1], [255, 400, 1], [258, 500, 1], [191, 301, 2]];

const TENSOR_VOLUMES: [[usize; 3]; 4] = [[48, 32, 60], [47, 33, 61], [65, 31, 70], [121, 32, 30]];

/// Checks convolutions with many entries, in double, of arrays on the device: each with its own boundaries and data,
/// and each filter with several sizes. On a chip, which has more multiprocessors and needs larger arrays, with one: the
/// reference is slow.
pub fn check_tensor_filters(
    cuda: &Cuda,
    sizes_of_each: usize,
    boundary: impl Fn(usize) -> Sides<f64>,
    data: impl Fn(usize, u64) -> Vec<f64>,
    entries: impl Fn(usize, u64) -> Vec<f64>,
) -> Outcome {
    let chip = StandIn::find().is_none();
    for (n, size_of_filter) in TENSOR_FILTERS.into_iter().enumerate() {
        let sizes: &[[usize; 3]] = if size_of_filter[2] > 1 { &TENSOR_VOLUMES } else { &TENSOR_IMAGES };
        for m in n..n + if chip { 1 } else { sizes_of_each } {
            let size = match sizes[m % sizes.len()] {
                size if !chip => size,
                [rows, columns, pages] if size_of_filter[2] > 1 => [rows, 5 * columns, 5 * pages],
                [rows, columns, pages] if size_of_filter[0] == size_of_filter[1] => [rows, 33 * columns, pages],
                [rows, columns, pages] => [rows, 17 * columns, pages],
            };
            // The larger side selects the module.
            let module = [7, 9, 11, 15].into_iter().find(|&most| size_of_filter[0].max(size_of_filter[1]) <= most);
            let module = size_of_module(cuda, module);
            if !selection::takes(&format!("{size_of_filter:?} {size:?}"), &[&(module, size_of_filter[2] > 1)]) {
                continue;
            }
            let (count, seed) = (size.iter().product(), (10 * n + m) as u64);
            let of_filter = filter(entries(size_of_filter.iter().product(), seed), size_of_filter)?;
            // Each boundary comes to rows of an even and of an odd number.
            let convolution = Convolution::new(size, of_filter).with_boundary(boundary(m + n / 2));
            let check = || check_convolution(cuda, &convolution, &data(count, seed));
            selection::forced(|| ends::between(ends::ARRAY_TO_ARRAY, check))?;
        }
    }
    Ok(())
}

/// One boundary on all sides, by its number.
fn any_kind(number: usize) -> Sides<f64> {
    KINDS[number % KINDS.len()].into()
}

/// Convolutions on tensor cores of finite samples and entries: nothing is computed twice.
pub fn tensor_filters(cuda: Cuda) -> Outcome {
    check_tensor_filters(&cuda, 2, any_kind, ordinary, ordinary)
}

/// A product with a zero that pads the filter must not spoil an output: infinities and NaN are placed so that they come
/// to every place of a tile, and outputs near them stay finite. No sample is so small that the kernel flags outputs for
/// it.
pub fn tensor_filters_and_infinities(cuda: Cuda) -> Outcome {
    let large = |count, seed| ordinary(count, seed).into_iter().map(|x| if x.abs() < 1e-9 { 0.5 } else { x });
    let data = |count, seed: u64| {
        let mut data: Vec<f64> = large(count, seed).collect();
        for (n, at) in (seed as usize..count).step_by(5003).enumerate() {
            data[at] = [f64::INFINITY, f64::NAN, f64::NEG_INFINITY, f64::MAX][n % 4];
        }
        data
    };
    check_tensor_filters(&cuda, 1, any_kind, data, |count, seed| large(count, seed).collect())
}

/// One sample that is not finite in every other piece of columns, low in its strip, where a warp looks last. Warps take
/// stretches of columns, whose lengths depend on the image's: they end with each column of a chunk.
pub fn tensor_filters_and_few_infinities(cuda: Cuda) -> Outcome {
    const APART: usize = 27;
    let [rows, columns, _] = TENSOR_IMAGES[0];
    let wide = if StandIn::find().is_some() { 1 } else { 33 };
    let of_filter = filter(ordinary(9 * 11, 1), [9, 11, 1])?;
    for n in 0..2 * APART {
        let columns = wide * (columns + 3 * n);
        let convolution = Convolution::new([rows, columns, 1], of_filter.clone()).with_boundary(Boundary::Replicate);
        let mut data = vec![1.0; rows * columns];
        for column in (5 * n % APART..columns).step_by(APART) {
            for row in (54 + n % 10..rows).step_by(64) {
                data[column * rows + row] = f64::NAN;
            }
        }
        ends::between(ends::ARRAY_TO_ARRAY, || check_convolution(&cuda, &convolution, &data))?;
    }
    Ok(())
}

/// Convolutions on tensor cores whose sums are rounded to -0, for half of the filters: a sample so small that its
/// product with an entry underflows, among zeros whose products with the other entries are -0. A product with a zero
/// around the filter would make it +0. For the others small whole numbers: many sums cancel to +0, which is right as it
/// is.
pub fn tensor_filters_and_zeros(cuda: Cuda) -> Outcome {
    // The filters' seeds differ by an odd number.
    let underflow = |seed: u64| seed.is_multiple_of(2);
    let data = |count, seed: u64| {
        if !underflow(seed) {
            return ordinary(count, seed).into_iter().map(|x| (3.0 * x).round()).collect();
        }
        let mut data = vec![0.0; count];
        for (n, at) in (seed as usize..count).step_by(1009).enumerate() {
            data[at] = [5e-324, 1e-310, -1e-320, f64::MIN_POSITIVE, 1.0][n % 5];
        }
        data
    };
    let entries = |count, seed| {
        let negative = |x: f64| -0.01 * x.abs() - 1e-9;
        let whole = |x: f64| (3.0 * x).round();
        ordinary(count, seed).into_iter().map(if underflow(seed) { negative } else { whole }).collect()
    };
    check_tensor_filters(&cuda, 1, any_kind, data, entries)
}

/// Sweeps of a convolution on tensor cores, each of which reads the results of the one before.
pub fn tensor_filters_in_sweeps(cuda: Cuda) -> Outcome {
    let wide = if StandIn::find().is_some() { 1 } else { 17 };
    for (size, size_of_filter) in [([255, 200 * wide, 1], [15, 13, 1]), ([48, 33 * wide, 60], [7, 5, 7])] {
        let of_filter = filter(tame(size_of_filter.iter().product(), 3), size_of_filter)?;
        let convolution = Convolution::new(size, of_filter).with_boundary(Boundary::Symmetric).with_sweeps(3);
        let input = ordinary(size.iter().product(), 4);
        ends::between(ends::ARRAY_TO_ARRAY, || check_convolution(&cuda, &convolution, &input))?;
    }
    Ok(())
}

/// Filters that go to tensor cores: all, or every fourth.
fn some_tensor_filters() -> Vec<[usize; 3]> {
    TENSOR_FILTERS.into_iter().step_by(if selection::is_all() { 1 } else { 4 }).collect()
}

/// Returns the convolutions over an array on the device that go to tensor cores: only those kernels ask for more shared
/// memory than every chip has.
pub fn on_tensor_cores(cuda: &Cuda, stand_in: StandIn) -> Result<Vec<[usize; 3]>, String> {
    let show = |error: Error| error.to_string();
    let mut found = Vec::new();
    let others = [[3, 3, 1], [3, 3, 3], [5, 5, 1], [7, 7, 1], [15, 1, 1]];
    for size_of_filter in some_tensor_filters().into_iter().chain(others) {
        let size = if size_of_filter[2] > 1 { TENSOR_VOLUMES[0] } else { TENSOR_IMAGES[0] };
        let count = size.iter().product();
        let of_filter = filter(ordinary(size_of_filter.iter().product(), 1), size_of_filter)?;
        let sides = sides()[found.len() % sides().len()];
        let convolution = Convolution::new(size, of_filter).with_boundary(sides);
        let from = array_with(cuda, &ordinary(count, 2)).map_err(show)?;
        let mut to = Arrays::<f64>::array(cuda, count).map_err(show)?;
        stand_in.reset();
        cuda.convolution(&convolution, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
        if (0..stand_in.calls()).any(|number| stand_in.call(number).contains("FuncSetAttribute")) {
            found.push(size_of_filter);
        }
    }
    Ok(found)
}

/// Large filters go to tensor cores; on a chip without tensor cores for doubles none does.
pub fn tensor_cores_are_used_where_they_are(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let found = on_tensor_cores(&cuda, stand_in)?;
    if found != some_tensor_filters() {
        return Err(format!("on tensor cores: {found:?}"));
    }
    for capability in ["8.9", "10.0", "12.0"].into_iter().take(if selection::is_all() { 3 } else { 1 }) {
        let ended = common::child("tensor cores", &[("CUDA_STAND_IN_CAPABILITY", capability)])?;
        if !ended.status.success() || !ended.output.contains("on tensor cores: []") {
            return Err(format!("{capability}: {:?}: {}", ended.status, ended.output));
        }
    }
    Ok(())
}
