//! Calls of the driver that fail at the worst moment. Only the stand-in fails on request.

use cudarc::driver::result;
use stencil_mex::cuda::{self, Cuda};
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{
    Array, Arrays, Boundary, Compute, Convolution, Error, Lines, Real, Reference, Source, Target, Unary,
};

use super::checks::{
    ONE_TILE, Outcome, POISON, check, check_convolution, check_image_sweeps, filter, ordinary, samples, stencil, tame,
};
use crate::common::{Mode, StandIn, ends};

const OUT_OF_MEMORY: i32 = 2;

const ILLEGAL_ADDRESS: i32 = 700;

/// Work that runs out of memory near its end is done again, in smaller buffers, and the updates counted for the first
/// attempt are subtracted.
pub fn progress_counts_once(cuda: Cuda, stand_in: StandIn) -> Outcome {
    /// Makes the last call of `function` in `check` fail, which must repeat its calls of it.
    fn late(stand_in: StandIn, function: &str, check: &dyn Fn() -> Outcome) -> Outcome {
        let calls = || (0..stand_in.calls()).filter(|&number| stand_in.call(number) == function).count();
        let counted = |check: &dyn Fn() -> Outcome| {
            stand_in.reset();
            check().map(|()| calls())
        };
        // The first time, modules are loaded.
        check()?;
        let once = counted(check)?;
        stand_in.fail_in(function, once, OUT_OF_MEMORY, Mode::Once);
        let outcome = counted(check);
        stand_in.heal();
        match outcome? {
            twice if once > 1 && twice == 2 * once => Ok(()),
            calls => {
                Err(format!("{calls} calls of {function}, and {once} without a fault: the work was not done twice"))
            }
        }
    }
    // A piece a launch, each counted when the next is under way.
    let pieces = cuda.with_device_bytes(ONE_TILE);
    let input = samples(40_000, 1);
    late(stand_in, "cuLaunchKernel", &|| check(&pieces, &input, Lines::new(40_000, 1), &[1.0, 2.0, 3.0]))?;
    // All sweeps are counted before the image is fetched from the device, in several pieces.
    let input = ordinary(300_000, 1);
    let image = Convolution::new([1000, 300, 1], filter(tame(9, 2), [3, 3, 1])?);
    let image = image.with_boundary(Boundary::Circular).with_sweeps(3);
    late(stand_in, "cuMemcpyDtoHAsync_v2", &|| check_convolution(&cuda, &image, &input))
}

/// A copy of taps that failed leaves nothing that a later call takes for its own taps: neither those that were to be
/// copied, nor those that were there before.
pub fn taps_are_copied_anew_after_a_failure(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let (input, lines) = (samples(50, 1), Lines::new(50, 1));
    let (before, failing) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
    let from = ends::array_with(&cuda, &input).map_err(show)?;
    let mut to = Arrays::<f64>::array(&cuda, input.len()).map_err(show)?;
    for function in ["cuMemcpyHtoDAsync_v2", "cuStreamSynchronize"] {
        for next in [failing, before] {
            // Arrays on the device need no buffers. While there are none that could be given up, no call is done a
            // second time, and the device is kept.
            cuda::release();
            let run = |taps: &[f64], to: &mut Array<f64>| {
                let what = stencil(lines, taps)?;
                Ok::<_, String>(cuda.stencil(&what, Source::Array(&from), Target::Array(to), &Watch::new()))
            };
            run(&before, &mut to)?.map_err(show)?;
            stand_in.fail_in(function, 1, OUT_OF_MEMORY, Mode::Once);
            // A call on arrays waits for nothing; who reads its results does.
            let outcome = match run(&failing, &mut to)? {
                Ok(()) => ends::contents(&cuda, &to).map(drop),
                error => error,
            };
            match outcome {
                Err(Error::OutOfMemory(text)) if text.contains(function.trim_end_matches("_v2")) => {}
                // The reader of the results has buffers that were released, and reads again.
                Ok(()) if function == "cuStreamSynchronize" => {}
                other => return Err(format!("{other:?} where {function} failed")),
            }
            stand_in.reset();
            run(&next, &mut to)?.map_err(show)?;
            let names: Vec<_> = (0..stand_in.calls()).map(|number| stand_in.call(number)).collect();
            let copies = names.iter().filter(|name| *name == "cuMemcpyHtoDAsync_v2").count();
            if copies != 1 || names.iter().any(|name| name == "cuModuleLoadData") {
                return Err(format!("{copies} copies of taps after {function} failed: {names:?}"));
            }
            let mut expected = vec![POISON; input.len()];
            let what = stencil(lines, &next)?;
            Reference.stencil(&what, Source::Host(&input), Target::Host(&mut expected), &Watch::new()).map_err(show)?;
            let got = ends::contents(&cuda, &to).map_err(show)?;
            if !got.iter().zip(&expected).all(|(&got, &want)| got.same(want)) {
                return Err(format!("{got:?} after {function} failed"));
            }
        }
    }
    Ok(())
}

/// An error on the device is reported by the call that waits, with the names of the work under way; and by each array
/// of the broken context.
pub fn late_errors_name_the_calls(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let watch = Watch::new();
    let array = ends::array_with(&cuda, &samples(100, 1)).map_err(show)?;
    let mut results = Arrays::<f64>::array(&cuda, 100).map_err(show)?;
    let what = stencil(Lines::new(100, 1), &[1.0, 2.0, 3.0])?;
    cuda.stencil(&what, Source::Array(&array), Target::Array(&mut results), &watch).map_err(show)?;
    let mut negated = Arrays::<f64>::array(&cuda, 100).map_err(show)?;
    Compute::unary(&cuda, Unary::Negate, &results, &mut negated, &watch).map_err(show)?;
    stand_in.fail_in("cuStreamSynchronize", 1, ILLEGAL_ADDRESS, Mode::Sticky);
    let outcome = ends::contents(&cuda, &negated);
    stand_in.heal();
    match outcome {
        Err(Error::Cuda(text)) if text.contains("a stencil, an operation on each element") => {}
        other => return Err(format!("{other:?}")),
    }
    match ends::contents(&cuda, &array) {
        Err(Error::Cuda(text)) if text.contains("ILLEGAL_ADDRESS") => {}
        other => return Err(format!("an array of the broken context: {other:?}")),
    }
    check(&cuda, &samples(100, 1), Lines::new(100, 1), &[1.0, 2.0, 3.0])
}

/// Breaks the primary context, as other code's kernel in this process would.
fn break_context(cuda: &Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: result::DriverError| error.to_string();
    let device = result::device::get(cuda.ordinal() as i32).map_err(show)?;
    // SAFETY: the device is one of the driver's; the retained context is released, and not current any more then.
    let broken = unsafe {
        let context = result::primary_ctx::retain(device).map_err(show)?;
        result::ctx::set_current(context).map_err(show)?;
        stand_in.fail(1, ILLEGAL_ADDRESS, Mode::Sticky);
        let broken = [result::ctx::synchronize().is_err(), result::ctx::synchronize().is_err()];
        stand_in.heal();
        // These calls report the failure, too.
        let _ = (result::ctx::set_current(std::ptr::null_mut()), result::primary_ctx::release(device));
        broken
    };
    if broken == [true; 2] { Ok(()) } else { Err("the context was not broken".into()) }
}

/// A context that someone else in this process breaks between two calls is no reason for the second one to fail.
pub fn a_broken_context_is_opened_anew(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let short = || check(&cuda, &samples(100, 1), Lines::new(100, 1), &[1.0, 2.0, 3.0]);
    let long = || check(&cuda, &samples(300_000, 1), Lines::new(300_000, 1), &[1.0, 2.0, 3.0]);
    let image = || check_image_sweeps(&cuda, [40, 31, 1], [3, 3, 1], 1, Boundary::Circular, 3);
    let next: [&dyn Fn() -> Outcome; 3] = [&short, &long, &image];
    for (next, ends) in next.into_iter().flat_map(|next| ends::ALL.map(|ends| (next, ends))) {
        short()?;
        image()?;
        break_context(&cuda, stand_in)?;
        ends::between(ends, next)?;
    }
    Ok(())
}

/// Arrays of a lost context report the reason, and new ones work.
pub fn a_broken_context_takes_its_arrays_along(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let what = stencil(Lines::new(100, 1), &[1.0, 2.0, 3.0])?;
    let input = samples(100, 1);
    let run = |from: &Array<f64>, to: &mut Array<f64>| {
        cuda.stencil(&what, Source::Array(from), Target::Array(to), &Watch::new())
    };
    let lost = ends::array_with(&cuda, &input).map_err(show)?;
    let mut results = Arrays::<f64>::array(&cuda, 100).map_err(show)?;
    run(&lost, &mut results).map_err(show)?;
    break_context(&cuda, stand_in)?;
    for _ in 0..2 {
        let outcomes = [
            run(&lost, &mut results),
            cuda.copy(Source::Array(&results), Target::Host(&mut [POISON; 100]), &Watch::new()),
            cuda.copy(Source::Host(&input), Target::Array(&mut results), &Watch::new()),
        ];
        for outcome in outcomes {
            match outcome {
                Err(Error::Cuda(text)) if text.contains("CUDA_ERROR_ILLEGAL_ADDRESS") => {}
                other => return Err(format!("{other:?} with an array of a broken context")),
            }
        }
        // While the old ones are still there.
        check(&cuda, &input, Lines::new(100, 1), &[1.0, 2.0, 3.0])?;
    }
    Ok(())
}
