//! Images and volumes larger than the device's memory, in tiles that lie there one after the other.

use stencil_mex::cuda::Cuda;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Compute, Convolution, Error, Number, Sides, Source, Target};

use super::checks::{KINDS, Outcome, check_convolution, filter, open_cuda, ordinary, single, singles, tame};
use super::stops::expect_stops;
use crate::common::StandIn;
use crate::common::ends;

/// Sweeps over an array, with this share of the memory on the device that it would need there.
fn check<T: Number>(cuda: Cuda, share: f64, convolution: &Convolution<T>, input: &[T]) -> Outcome {
    let needed = 2 * size_of_val(input);
    let cuda = cuda.with_device_bytes((needed as f64 * share) as usize);
    ends::between(ends::HOST_TO_HOST, || check_convolution(&cuda, convolution, input))
        .map_err(|error| format!("with {share} of its memory: {error}"))
}

/// Sweeps over an array in both classes, with this share of the memory that it would need: of ordinary samples, or with
/// awkward ones here and there, which spread or fade away.
fn check_both(
    open: &dyn Fn() -> Result<Cuda, String>,
    share: f64,
    (size, of_filter): ([usize; 3], [usize; 3]),
    boundary: impl Into<Sides<f64>>,
    sweeps: usize,
    number: usize,
) -> Outcome {
    let boundary = boundary.into();
    let elements: usize = size.iter().product();
    let mut input = ordinary(elements, number as u64);
    let awkward = [f64::NAN, 5e-324, f64::INFINITY, -0.0, f64::MAX, f64::NEG_INFINITY, 1e-310];
    // In some columns from the first to the last, wherever tiles end; and none, as they would be all there is in the
    // end.
    let some = if number.is_multiple_of(3) { 0 } else { elements };
    for (n, at) in (0..some).step_by(1 + elements / 5).chain(some.checked_sub(1)).enumerate() {
        input[at] = awkward[(n + number) % awkward.len()];
    }
    let entries = tame(of_filter.iter().product(), number as u64 + 1);
    let in_double = Convolution::new(size, filter(entries.clone(), of_filter)?);
    check(open()?, share, &in_double.with_boundary(boundary).with_sweeps(sweeps), &input)?;
    let in_single = Convolution::new(size, filter(singles(&entries), of_filter)?);
    check(open()?, share, &in_single.with_boundary(single(boundary)).with_sweeps(sweeps), &singles(&input))
}

/// Images and volumes that are cut along columns, along pages and along both; with fewer of them than the filter or the
/// halo has; and with room for most of the array, or hardly any.
pub fn sweeps_in_deep_tiles(_: Cuda) -> Outcome {
    let open = || open_cuda();
    let slow = StandIn::find().is_some();
    let mut number = 0;
    for (place, (size, of_filter)) in [
        ([50, 230, 1], [3, 3, 1]),
        ([13, 700, 1], [5, 5, 1]),
        ([47, 160, 1], [7, 7, 1]),
        ([100, 80, 1], [3, 5, 1]),
        ([4, 900, 1], [1, 9, 1]),
        ([60, 90, 1], [9, 1, 1]),
        ([2, 600, 1], [15, 15, 1]),
        ([40, 30, 6], [3, 3, 1]),
        ([16, 200, 3], [5, 5, 1]),
        ([20, 12, 40], [3, 3, 3]),
        ([10, 60, 14], [3, 3, 3]),
        ([12, 2, 150], [3, 5, 3]),
        ([6, 150, 2], [3, 3, 5]),
        ([9, 8, 60], [5, 5, 5]),
        ([5, 40, 30], [1, 3, 7]),
        ([3, 4, 200], [7, 7, 7]),
    ]
    .into_iter()
    .enumerate()
    {
        for (sweeps, share) in [(2, 0.4), (3, 0.9), (7, 0.6), (8, 0.3), (20, 0.8)] {
            for boundary in KINDS {
                number += 1;
                // The stand-in for the driver takes its time.
                if slow && !(number + place).is_multiple_of(5) {
                    continue;
                }
                check_both(&open, share, (size, of_filter), boundary, sweeps, number)?;
            }
        }
    }
    // Tiles that get several sweeps a launch, on the stand-in's few multiprocessors.
    for (number, (size, of_filter, boundary, sweeps)) in [
        ([1200, 300, 1], [3, 3, 1], KINDS[0], 8),
        ([1201, 300, 1], [3, 3, 1], KINDS[1], 8),
        ([1200, 280, 1], [3, 3, 1], KINDS[2], 9),
        ([736, 400, 1], [5, 5, 1], KINDS[2], 5),
        ([896, 300, 1], [5, 5, 1], KINDS[3], 4),
        ([96, 48, 90], [3, 3, 3], KINDS[1], 4),
        ([95, 49, 90], [3, 3, 3], KINDS[3], 5),
        ([608, 12, 60], [3, 1, 3], KINDS[1], 8),
    ]
    .into_iter()
    .enumerate()
    {
        check_both(&open, 0.7, (size, of_filter), boundary, sweeps, number + 1)?;
    }
    if slow {
        return Ok(());
    }
    // Larger arrays, which a chip is quick enough for.
    check_both(&open, 0.9, ([4096, 2400, 1], [3, 3, 1]), KINDS[2], 8, 1)?;
    check_both(&open, 0.7, ([192, 160, 300], [3, 3, 3]), KINDS[3], 6, 2)
}

/// A run over an image that is larger than the device's memory ends as soon as any other.
pub fn deep_tiles_are_stopped(cuda: Cuda) -> Outcome {
    let size = [32, 64, 1];
    let cuda = cuda.with_device_bytes(size_of::<f64>() * 32 * 64);
    let endless = Convolution::new(size, filter(tame(9, 2), [3, 3, 1])?).with_sweeps(1 << 40);
    ends::between(ends::HOST_TO_HOST, || {
        expect_stops(&cuda, &ordinary(32 * 64, 1), |from, to, watch| {
            Compute::convolution(&cuda, &endless, from, to, watch)
        })
    })
}

/// The array goes over the link as few times as halos allow, and several sweeps over a tile are one launch.
pub fn deep_tiles_are_few_copies(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let size = [100, 600, 1];
    let input = ordinary(size.iter().product(), 1);
    // As much as the array has: a third of it is a tile, which is sent as one piece.
    let cuda = cuda.with_device_bytes(size_of_val(&input[..]));
    // Tiles in all rounds: of 200 columns, with a halo of one for each sweep; the last in eight rounds.
    for (sweeps, most) in [(2, 4), (20, 4), (50, 6), (400, 48)] {
        let convolution = Convolution::new(size, filter(tame(9, 1), [3, 3, 1])?).with_sweeps(sweeps);
        let mut output = vec![0.0; input.len()];
        let run = |output: &mut [f64]| {
            cuda.convolution(&convolution, Source::Host(&input), Target::Host(output), &Watch::new()).map_err(show)
        };
        run(&mut output)?;
        stand_in.reset();
        run(&mut output)?;
        let count = |name: &str| (0..stand_in.calls()).filter(|&n| stand_in.call(n).contains(name)).count();
        let (sent, fetched, launches) = (count("MemcpyHtoD"), count("MemcpyDtoH"), count("LaunchKernel"));
        // The filter is sent once, if it is not there.
        if fetched > most || sent > fetched + 1 || launches > fetched * sweeps.div_ceil(4).max(1) {
            return Err(format!("{sweeps} sweeps: {sent} and {fetched} copies, {launches} launches"));
        }
    }
    Ok(())
}
