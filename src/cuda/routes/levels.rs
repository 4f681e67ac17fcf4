//! Sweeps of two time levels that lie on the device.

use super::array::{address, is_foreign, over_before_return, take_over};
use super::sweeping::Sweeps;
use crate::cuda::kernels::LevelsKernel;
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::queue::CallBuffers;
use crate::platform::watch::Watch;
use crate::stencil::{Array, Error};

/// Sweeps two time levels that lie on the device, the newest one first. The results replace both; `begun` becomes true
/// when that may have begun.
///
/// A sweep counts twice: for its filter, and for the combination with the older level.
pub(crate) fn two_levels(
    device: &mut Device,
    kernel: &LevelsKernel,
    levels: &mut [Array<f64>; 2],
    begun: &mut bool,
    watch: &Watch,
) -> Result<(), Error> {
    let borrows = levels.iter().any(is_foreign);
    over_before_return(device, borrows, |device| two_levels_here(device, kernel, levels, begun, watch))
}

/// Sweeps two time levels. Asynchronous: may return with work queued.
fn two_levels_here(
    device: &mut Device,
    kernel: &LevelsKernel,
    levels: &mut [Array<f64>; 2],
    begun: &mut bool,
    watch: &Watch,
) -> Result<(), Error> {
    let context = device.context.clone();
    let (elements, total) = (levels[0].len(), kernel.what().sweeps());
    watch.check()?;
    if elements == 0 || total == 0 {
        return Ok(());
    }
    let bytes = elements * size_of::<f64>();
    let queue = device.queue.clone();
    let mut own = CallBuffers::new(&queue);
    let here = [address(&levels[0], &context)?, address(&levels[1], &context)?];
    let other = [own.room_for(bytes)?, own.room_for(bytes)?];
    let plan = kernel.plan(&device.modules, [here, other])?;
    let mut counted = 0;
    let mut progress = |updates: usize| {
        watch.count(updates - counted);
        counted = updates;
        Ok(watch.check()?)
    };
    let sweeps = Sweeps { plan: &plan, outputs: elements, work: kernel.work(), sweeps: total };
    *begun = true;
    let in_here = sweeps.run_on(&queue, kernel.name(), here[0], [other[0], here[0]], &mut progress)?;
    watch.count(elements * total - counted);
    if !in_here {
        for (array, buffer) in levels.iter_mut().zip(own.buffers()) {
            // SAFETY: each has as many bytes, and its owner has left the array to this call.
            unsafe { take_over(&queue, array, buffer, bytes) }?;
        }
    }
    Ok(())
}
