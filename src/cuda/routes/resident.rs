//! Sweeps over an array that lies on the device as a whole, like the buffer for a sweep's results.

use super::array::{address, take_over, too_large};
use super::sweeping::Sweeps;
use super::work::Work;
use crate::cuda::driver::memory::Budget;
use crate::cuda::element::Element;
use crate::cuda::kernels::{Area, Kernel};
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::queue::CallBuffers;
use crate::host::SharedOutput;
use crate::platform::watch::Watch;
use crate::stencil::{Error, Source, Target};

/// Does all sweeps with the array on the device; returns false, with nothing done, if the budget or the device has no
/// room for the buffers.
pub(super) fn resident<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    from: Source<T>,
    to: &mut Target<T>,
    budget: Option<Budget>,
    watch: &Watch,
) -> Result<bool, Error> {
    let context = device.context.clone();
    let elements = work.elements();
    let bytes = elements.checked_mul(size_of::<T>()).ok_or_else(|| too_large(elements))?;
    // A sweep reads one array and writes another. The copy of a host's array may be overwritten by the next sweep; the
    // user's array may not.
    let uploaded = matches!(from, Source::Host(_));
    let downloaded = matches!(to, Target::Host(_));
    let wanted = usize::from(uploaded) + usize::from(downloaded) + usize::from(!uploaded && work.sweeps > 1);
    if let Some(budget) = budget
        && !device.has_room(wanted, bytes, budget)?
    {
        return Ok(false);
    }
    let queue = device.queue.clone();
    let mut own = CallBuffers::new(&queue);
    for _ in 0..wanted {
        match own.room_for(bytes) {
            Ok(_) => {}
            // It goes in tiles.
            Err(Error::OutOfMemory(_)) if budget.is_some() => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    let (first, other) = own.ends();
    let written = match to {
        Target::Host(_) => first,
        Target::Array(array) => address(array, &context)?,
    };
    let samples = match from {
        Source::Array(array) => address(array, &context)?,
        Source::Host(input) => {
            queue.wait()?;
            // SAFETY: the buffer has as many bytes, and no work that uses it is in flight after that wait.
            unsafe { device.slots.upload(&context, input, other, watch) }?;
            other
        }
    };
    let area = Area::whole(work.size, work.sides, work.sweeps);
    let plan = kernel.plan(&device.modules, &area)?;
    let mut counted = 0;
    let mut progress = |updates: usize| {
        watch.count(updates - counted);
        counted = updates;
        Ok(watch.check()?)
    };
    watch.check()?;
    let sweeps = Sweeps { plan: &*plan, outputs: elements, work: kernel.work(), sweeps: work.sweeps };
    let mut sweep = || sweeps.run_on(&queue, kernel.name(), samples, [written, other], &mut progress);
    let in_other = match to {
        // The output's pages may be unmapped yet. They are touched while the device is at work.
        Target::Host(output) => SharedOutput::new(output).have_pages_during(0..elements, || {
            let in_other = sweep()?;
            queue.wait().map(|()| in_other)
        }),
        Target::Array(_) => sweep(),
    }?;
    watch.count(elements * work.sweeps - counted);
    match to {
        Target::Host(output) => {
            let result = if in_other { other } else { written };
            // SAFETY: the buffer has as many bytes, and the work that wrote it is over.
            unsafe { device.slots.download(&context, result, None, output, watch) }?;
        }
        Target::Array(array) if in_other => {
            let last = own.buffers().last_mut().ok_or_else(|| Error::Internal("A sweep without its buffer.".into()))?;
            // SAFETY: both have as many bytes, and the array's owner has left it to this call.
            unsafe { take_over(&queue, array, last, bytes) }?;
        }
        Target::Array(_) => {}
    }
    Ok(true)
}
