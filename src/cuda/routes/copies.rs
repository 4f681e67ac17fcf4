//! Copies of arrays: from the host, to the host, on a device and across devices.

use super::array::{DeviceArray, address, borrows, over_before_return};
use crate::cuda::element::Element;
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::queue::{LANDING_BYTES, Load};
use crate::host;
use crate::platform::watch::Watch;
use crate::stencil::{Array, Error, Real, Source, Target};

/// Up to this many bytes are uploaded on the queue itself, without staging or a wait.
const SMALL_BYTES: usize = 64 << 10;

/// Copies an array.
pub(crate) fn copy<T: Element>(
    device: &mut Device,
    from: Source<T>,
    to: &mut Target<T>,
    watch: &Watch,
) -> Result<(), Error> {
    let borrows = borrows(&from, to);
    over_before_return(device, borrows, |device| copy_all(device, from, to, watch))
}

/// Copies an array. Asynchronous: may return with work queued.
pub(super) fn copy_all<T: Element>(
    device: &mut Device,
    from: Source<T>,
    to: &mut Target<T>,
    watch: &Watch,
) -> Result<(), Error> {
    assert_eq!(from.len(), to.len());
    if from.is_empty() {
        return Ok(());
    }
    let context = device.context.clone();
    match (from, to) {
        (Source::Host(input), Target::Host(output)) => host::copy(input, output, watch),
        (Source::Host(input), Target::Array(array)) if size_of_val(input) <= SMALL_BYTES => {
            let to = address(array, &context)?;
            let load = Load { name: "a copy", pace: None, bytes: size_of_val(input) };
            let beginning = device.queue.begin(&load)?;
            // SAFETY: the array has room for as many, and all work that uses it is on this stream.
            unsafe { device.queue.send(bytemuck::cast_slice(input), to) }?;
            device.queue.submitted(&load, beginning)
        }
        (Source::Host(input), Target::Array(array)) => {
            let to = address(array, &context)?;
            device.queue.wait()?;
            // SAFETY: the array has room for as many, and no work that uses it is in flight after that wait.
            unsafe { device.slots.upload(&context, input, to, watch) }
        }
        (Source::Array(array), Target::Host(output)) if size_of_val(&output[..]) <= LANDING_BYTES => {
            let from = address(array, &context)?;
            // SAFETY: the array has as many elements, and they are written on the queue only.
            unsafe { device.queue.fetch(from, bytemuck::cast_slice_mut(output)) }
        }
        (Source::Array(array), Target::Host(output)) => {
            let from = address(array, &context)?;
            let ready = device.queue.mark()?;
            // SAFETY: the array has as many elements, and they are written before that mark.
            unsafe { device.slots.download(&context, from, Some(&ready), output, watch) }?;
            device.queue.wait()
        }
        (Source::Array(input), Target::Array(output)) => {
            let (from, to) = (address(input, &context)?, address(output, &context)?);
            // SAFETY: both arrays have as many bytes, and all work that uses them is on this stream.
            unsafe { device.queue.copy(to, from, input.len() * size_of::<T>()) }
        }
    }
}

/// Copies an array from the first device to the second, and waits for it: if the first device failed before that, the
/// second's queue would not report it, and the copy would hold garbage.
pub(crate) fn copy_across<T: Real>(from: &Device, to: &mut Device, array: &Array<T>) -> Result<Array<T>, Error> {
    let copy = DeviceArray::with_room_for::<T>(to, array.len())?;
    let bytes = array.len() * size_of::<T>();
    if bytes == 0 {
        return Ok(copy);
    }
    let [here, there] = [address(array, &from.context)?, address(&copy, &to.context)?];
    // If they are no peers, the driver goes through the host.
    to.context.reaches(&from.context)?;
    from.context.bind()?;
    let ready = from.queue.mark()?;
    to.context.bind()?;
    let load = Load { name: "a copy from another device", pace: None, bytes: 2 * bytes };
    let beginning = to.queue.begin(&load)?;
    let stream = to.queue.stream();
    stream.begin_after(&ready)?;
    // SAFETY: both arrays have as many bytes; work that writes the one is before the mark, and the caller keeps it
    // until this returns; all work that uses the copy is on this stream.
    let sent = unsafe { stream.copy_from(&from.context, there, here, bytes) };
    let sent = sent.and_then(|()| to.queue.submitted(&load, beginning));
    let over = to.queue.wait();
    from.context.bind()?;
    // It happened long ago; waiting reports its device's errors.
    let read = ready.wait();
    to.context.bind()?;
    sent.and(over).and(read).map(|()| copy)
}
