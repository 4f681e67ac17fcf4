//! Sweeps over small images on the CUDA engine, several of them in a launch.

use stencil_mex::cuda::Cuda;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Arrays, Compute, Convolution, Error, Source, Target};

use super::checks::{KINDS, Outcome, check_convolution, filter, ordinary, single, singles, tame};
use crate::common::ends::array_with;
use crate::common::{self, StandIn};

/// Filters whose sweeps over a small image are fused.
pub const SMALL_FILTERS: [[usize; 3]; 9] =
    [[3, 3, 1], [5, 5, 1], [7, 7, 1], [3, 5, 1], [7, 3, 1], [3, 7, 1], [5, 3, 1], [7, 5, 1], [5, 7, 1]];

/// Filters along one dimension, for which that holds at any size.
const ALONG_LINES: [[usize; 3]; 2] = [[1, 7, 1], [5, 1, 1]];

/// Sweeps over small images: rows and columns around the sizes of a thread's patch, of a tile's and of the filter, and
/// one of either, for more sweeps and fewer than a launch does; with samples here and there that spread or fade away.
pub fn sweeps_of_small_images(cuda: Cuda) -> Outcome {
    let share = if StandIn::find().is_some() { 17 } else { 11 };
    let mut number = 0;
    for size_of_filter in SMALL_FILTERS {
        for boundary in KINDS {
            for rows in [1, 2, 3, 4, 23, 24, 25, 36, 48, 49, 61, 95, 97, 130] {
                for (columns, sweeps) in
                    [(1, 3), (2, 9), (3, 4), (4, 17), (25, 8), (36, 5), (47, 2), (73, 20), (110, 7)]
                {
                    number += 1;
                    if number % share != 0 {
                        continue;
                    }
                    let size = [rows, columns, 1 + number / share % 3];
                    let elements: usize = size.iter().product();
                    let mut input = ordinary(elements, number as u64);
                    let awkward = [f64::NAN, 5e-324, f64::INFINITY, -0.0, f64::MAX, f64::NEG_INFINITY, 1e-310];
                    // With none of these in some, which would be all there is of an image after many sweeps.
                    let some = if number % 2 == 0 { elements } else { 0 };
                    for (n, at) in (number % 50..some).step_by(1 + elements / 3).enumerate() {
                        input[at] = awkward[(n + number) % awkward.len()];
                    }
                    let entries = tame(size_of_filter.iter().product(), number as u64 + 1);
                    let in_double = Convolution::new(size, filter(entries.clone(), size_of_filter)?);
                    check_convolution(&cuda, &in_double.with_boundary(boundary).with_sweeps(sweeps), &input)?;
                    let in_single = Convolution::new(size, filter(singles(&entries), size_of_filter)?);
                    let in_single = in_single.with_boundary(single(boundary)).with_sweeps(sweeps);
                    check_convolution(&cuda, &in_single, &singles(&input))?;
                }
            }
        }
    }
    Ok(())
}

/// The number of launches for these sweeps over an array on the device.
pub fn launches_of(
    cuda: &Cuda,
    stand_in: StandIn,
    size: [usize; 3],
    by: [usize; 3],
    sweeps: usize,
) -> Result<usize, String> {
    let show = |error: Error| error.to_string();
    let count = size.iter().product();
    let from = array_with(cuda, &ordinary(count, 2)).map_err(show)?;
    let mut to = Arrays::<f64>::array(cuda, count).map_err(show)?;
    let convolution = Convolution::new(size, filter(tame(by.iter().product(), 1), by)?).with_sweeps(sweeps);
    stand_in.reset();
    cuda.convolution(&convolution, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
    Ok((0..stand_in.calls()).filter(|&number| stand_in.call(number).contains("LaunchKernel")).count())
}

/// The filters with which six sweeps over an image of `side` rows and columns are fewer launches.
pub fn in_few_launches(cuda: &Cuda, stand_in: StandIn, side: usize) -> Result<Vec<[usize; 3]>, String> {
    let mut found = Vec::new();
    let others = [[1, 1, 1], [9, 9, 1], [9, 3, 1], [3, 3, 3]];
    for by in SMALL_FILTERS.into_iter().chain(ALONG_LINES).chain(others) {
        if launches_of(cuda, stand_in, [side, side, 1], by, 6)? < 6 {
            found.push(by);
        }
    }
    Ok(found)
}

/// Several sweeps over a small image are one launch, for any shape of the filter up to some size, on every chip; but
/// only where that is safe.
pub fn sweeps_of_small_images_are_few_launches(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let found = in_few_launches(&cuda, stand_in, 40)?;
    if found != [&SMALL_FILTERS[..], &ALONG_LINES].concat() {
        return Err(format!("in few launches: {found:?}"));
    }
    // The remaining sweeps are fused, too.
    for (sweeps, most) in [(1, 1), (2, 1), (3, 1), (16, 2), (400, 50)] {
        let launches = launches_of(&cuda, stand_in, [40, 40, 1], [3, 3, 1], sweeps)?;
        if launches > most {
            return Err(format!("{sweeps} sweeps: {launches} launches"));
        }
    }
    let ended = common::child("small images", &[("CUDA_STAND_IN_CAPABILITY", "8.9")])?;
    let expected = format!("small: {found:?}\nlarger: {ALONG_LINES:?}");
    if !ended.status.success() || !ended.output.contains(&expected) {
        return Err(format!("{:?}: {}", ended.status, ended.output));
    }
    Ok(())
}
