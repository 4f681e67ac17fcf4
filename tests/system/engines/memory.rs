//! The device's memory and contexts: releases by the CUDA engine, memory left to others, and work in little memory.

use std::sync::Arc;

use cudarc::driver::{CudaContext, result};
use stencil_mex::cuda::{self, Cuda};
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Arrays, Compute, Error, Lines, Real, Reference, Source, Target};

use super::checks::{Outcome, POISON, check, is_slow, samples, stencil};
use crate::common::{StandIn, ends};

pub fn released_and_used_again(cuda: Cuda) -> Outcome {
    let input = samples(700_000, 1);
    for _ in 0..3 {
        check(&cuda, &input, Lines::new(700_000, 1), &samples(9, 2))?;
        cuda::release();
    }
    Ok(())
}

/// A context that another extension made current on this thread is current after a call, too.
pub fn context_of_the_host_stays(cuda: Cuda) -> Outcome {
    let show = |error: result::DriverError| error.to_string();
    let other = CudaContext::new_non_primary(cuda.ordinal(), 0).map_err(show)?;
    other.bind_to_thread().map_err(show)?;
    for length in [100, 1_000_000] {
        ends::each(|| {
            check(&cuda, &samples(length, 1), Lines::new(length, 1), &[1.0, 2.0, 3.0])?;
            match result::ctx::get_current().map_err(show)? {
                Some(context) if context == other.cu_ctx() => Ok(()),
                _ => Err(format!("another context is current after the calls with {length} elements")),
            }
        })?;
    }
    cuda::release();
    if result::ctx::get_current().map_err(show)? != Some(other.cu_ctx()) {
        return Err("another context is current after the release".into());
    }
    // SAFETY: null makes none current.
    unsafe { result::ctx::set_current(std::ptr::null_mut()) }.map_err(show)?;
    ends::each(|| {
        check(&cuda, &samples(100, 1), Lines::new(100, 1), &[1.0])?;
        match result::ctx::get_current().map_err(show)? {
            None => Ok(()),
            Some(_) => Err("a context was left current where there was none".into()),
        }
    })
}

/// Memory of others in the primary context outlives our release: the context is released, not reset.
pub fn memory_of_the_host_stays(cuda: Cuda) -> Outcome {
    let show = |error: result::DriverError| error.to_string();
    let context = CudaContext::new(cuda.ordinal()).map_err(show)?;
    let stream = context.default_stream();
    let theirs = stream.clone_htod(&[1.0, 2.0, 3.0]).map_err(show)?;
    check(&cuda, &samples(1000, 1), Lines::new(1000, 1), &[1.0])?;
    cuda::release();
    context.bind_to_thread().map_err(show)?;
    let back = stream.clone_dtoh(&theirs).map_err(show)?;
    stream.synchronize().map_err(show)?;
    if back == [1.0, 2.0, 3.0] { Ok(()) } else { Err(format!("{back:?}")) }
}

/// A user's arrays stay in place when all else is released.
pub fn arrays_outlive_a_release(cuda: Cuda) -> Outcome {
    let show = |error: Error| error.to_string();
    let what = stencil(Lines::new(1000, 1), &[1.0, 2.0, 3.0])?;
    let input = samples(1000, 1);
    let mut expected = vec![POISON; 1000];
    Reference.stencil(&what, Source::Host(&input), Target::Host(&mut expected), &Watch::new()).map_err(show)?;
    let from = ends::array_with(&cuda, &input).map_err(show)?;
    for _ in 0..2 {
        let mut to = Arrays::<f64>::array(&cuda, 1000).map_err(show)?;
        cuda::release();
        cuda.stencil(&what, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
        cuda::release();
        let got = ends::contents(&cuda, &to).map_err(show)?;
        if !got.iter().zip(&expected).all(|(&got, &want)| got.same(want)) {
            return Err(format!("{got:?}"));
        }
    }
    Ok(())
}

/// The most slots through which the pieces of an array go.
const SLOTS: usize = 16;

/// Calls leave the device's memory as it was once each size has been seen.
pub fn memory_is_flat(cuda: Cuda) -> Outcome {
    let sizes = [20, 5000, 100_000, 3_000_000];
    let small = samples(20, 1);
    let round = || {
        ends::each(|| {
            sizes.iter().try_for_each(|&size| check(&cuda, &samples(size, 1), Lines::new(size, 1), &[1.0, 2.0, 3.0]))
        })
    };
    let free = || cuda.free_memory().map_err(|error| error.to_string());
    round()?;
    let mut seen = vec![free()?];
    // Threads share an array's pieces, and a slot gets its buffers with its first piece: where one thread was quicker
    // than all others, some slots get theirs in a later round. A leak takes from every round.
    while seen.len() <= SLOTS {
        for _ in 0..if is_slow(&cuda) { 1 } else { 5 } {
            round()?;
        }
        for _ in 0..10_000 {
            check(&cuda, &small, Lines::new(20, 1), &[1.0, 2.0, 3.0])?;
        }
        let after = free()?;
        if seen.last() == Some(&after) {
            return Ok(());
        }
        seen.push(after);
    }
    Err(format!("{seen:?} bytes were free, round by round"))
}

/// When others hold nearly all of the device's memory, arrays go through the rest of it.
pub fn memory_is_short(cuda: Cuda) -> Outcome {
    cuda::release();
    let context = CudaContext::new(cuda.ordinal()).map_err(|error| error.to_string())?;
    check(&cuda, &samples(20, 1), Lines::new(20, 1), &[1.0, 2.0, 3.0])?;
    let large = || check(&cuda, &samples(1_000_000, 1), Lines::new(1_000_000, 1), &[1.0, 2.0, 3.0]);
    let held = Hog::take(&context);
    // From the host's memory: there is no room for arrays of the device.
    let outcome = ends::between(ends::HOST_TO_HOST, large);
    drop(held);
    outcome?;
    large()
}

/// With nearly all of the device's memory held by others, no array is made there; with it given back, one is.
pub fn memory_is_short_for_arrays(cuda: Cuda) -> Outcome {
    cuda::release();
    let context = CudaContext::new(cuda.ordinal()).map_err(|error| error.to_string())?;
    let held = Hog::take(&context);
    let array = Arrays::<f64>::array(&cuda, 1_000_000).map(drop);
    drop(held);
    match array {
        Err(Error::OutOfMemory(_)) => ends::each(|| check(&cuda, &samples(1000, 1), Lines::new(1000, 1), &[1.0])),
        other => Err(format!("{other:?} where there is no memory")),
    }
}

/// An array's memory serves the next one, and goes back to the driver where a budget has no room for it.
pub fn a_budget_bounds_the_pool(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    for (cuda, frees) in [(cuda, 0), (cuda.with_device_bytes(10_000), 1)] {
        let mut array = Arrays::<f64>::array(&cuda, 50_000).map_err(show)?;
        Compute::fill(&cuda, 1.0, &mut array, &Watch::new()).map_err(show)?;
        stand_in.reset();
        drop(array);
        let names = (0..stand_in.calls()).map(|number| stand_in.call(number));
        let freed = names.filter(|name| name.starts_with("cuMemFree")).count();
        if freed != frees {
            return Err(format!("{freed} buffers were freed, not {frees}"));
        }
    }
    Ok(())
}

/// All the device memory that can be had, in pieces from large to small.
struct Hog {
    pieces: Vec<cudarc::driver::sys::CUdeviceptr>,
    context: Arc<CudaContext>,
}

impl Hog {
    fn take(context: &Arc<CudaContext>) -> Hog {
        let _ = context.bind_to_thread();
        let mut pieces = Vec::new();
        let mut bytes = 1_usize << 36;
        while bytes >= 1 << 14 {
            // SAFETY: a context is current.
            match unsafe { result::malloc_sync(bytes) } {
                Ok(piece) => pieces.push(piece),
                Err(_) => bytes /= 2,
            }
        }
        Hog { pieces, context: context.clone() }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = self.context.bind_to_thread();
        for &piece in &self.pieces {
            // SAFETY: allocated in `take`.
            let _ = unsafe { result::free_sync(piece) };
        }
    }
}
