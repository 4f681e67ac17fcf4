//! Transfer of the host's data to the device and back, through staging slots.
//!
//! # Rationale
//! The host's arrays are pageable memory, which the link reads and writes slowly; it is fast with pinned memory. So an
//! array goes in pieces: a thread copies a piece into a pinned buffer, submits upload, kernel and download on a stream
//! of its own, and copies the result out. With several such *slots* at once the link is busy in both directions while
//! the processors copy. Slots are kept between calls.
//!
//! The memory of the slots is bounded, whatever the size of the array, and shrinks where memory is short.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use cudarc::driver::{result, sys};

use super::pace::MAX_SLOTS;
use super::sharing::{Job, Worker, share_among};
use crate::cuda::driver::context::{Context, Event, HostContext, Stream};
use crate::cuda::driver::error::failed;
use crate::cuda::driver::memory::{DeviceBuffer, PinnedBuffer};
use crate::host;
use crate::platform::memory::with_room;
use crate::platform::watch::Watch;
use crate::platform::workers::Workers;
use crate::stencil::Error;

/// Bytes of output in a piece of a large array: large enough that a piece's fixed costs vanish, small enough for the
/// processor's caches.
pub(crate) const PIECE_BYTES: usize = 2 << 20;

/// Smallest transfer worth another slot.
const MIN_PIECE_BYTES: usize = 256 << 10;

/// Up to this size the device reads and writes the pinned memory itself: a copy each way costs more than the slower
/// access (10^4 doubles: 24 us instead of 37).
const MAPPED_BYTES: usize = 256 << 10;

/// Returns the number of slots for an array of `bytes` bytes and `threads` threads.
fn slots_of(bytes: usize, threads: usize) -> usize {
    (2 * threads).min(MAX_SLOTS).min(bytes / MIN_PIECE_BYTES).max(1)
}

/// A stream and the buffers that pieces go through on it. Dropping it waits for the stream first, then drops the fields
/// in this order.
pub(crate) struct Slot {
    host_input: PinnedBuffer,
    host_output: PinnedBuffer,
    /// Input and output; allocated when the slot first needs them.
    device: Option<[DeviceBuffer; 2]>,
    /// Device address, in the host's buffers, of the outputs in flight.
    results: sys::CUdeviceptr,
    /// Events after the last copy through each of the host's buffers.
    over: [Event; 2],
    stream: Arc<Stream>,
}

impl Slot {
    /// Allocates pinned buffers of `bytes` bytes each way.
    fn new(context: &Arc<Context>, bytes: usize) -> Result<Slot, Error> {
        Ok(Slot {
            host_input: PinnedBuffer::new(context, bytes)?,
            host_output: PinnedBuffer::new(context, bytes)?,
            device: None,
            results: 0,
            over: [Event::new(context)?, Event::new(context)?],
            stream: Stream::new(context)?,
        })
    }

    /// True if all buffers that exist are large enough; others can still be allocated. Those on the device count with
    /// `on_device` only.
    fn fits(&self, bytes: usize, on_device: bool) -> bool {
        let of_device = self.device.iter().flatten().filter(|_| on_device);
        [&self.host_input, &self.host_output].into_iter().all(|buffer| buffer.bytes() >= bytes)
            && of_device.into_iter().all(|buffer| buffer.bytes() >= bytes)
    }

    fn device_bytes(&self) -> usize {
        self.device.iter().flatten().map(DeviceBuffer::bytes).sum()
    }

    /// Returns the addresses of its buffers on the device.
    fn addresses(&self) -> Result<[sys::CUdeviceptr; 2], Error> {
        let [input, output] =
            self.device.as_ref().ok_or_else(|| Error::Internal("A slot without buffers on the device.".into()))?;
        Ok([input.address(), output.address()])
    }

    /// Submits `launch`, which computes from the samples in `host_input` as many `outputs` as requested, into
    /// `host_output`; both begin at the addresses it gets. It returns the address of the first output. `once` states
    /// that it reads samples and writes outputs about once each.
    pub(crate) fn compute<T: Pod>(
        &mut self,
        samples: usize,
        outputs: usize,
        once: bool,
        launch: impl FnOnce(&Stream, [sys::CUdeviceptr; 2]) -> Result<sys::CUdeviceptr, Error>,
    ) -> Result<(), Error> {
        if once && samples * size_of::<T>() <= MAPPED_BYTES {
            let buffers = [self.host_input.address(), self.host_output.address()];
            self.results = launch(&self.stream, buffers)?;
            return Ok(());
        }
        let (buffers, stream) = (self.addresses()?, self.stream.handle());
        // SAFETY: the buffers are as long as these slices of theirs, and nothing touches them before the stream has
        // been waited for; after an early error or panic, `Settled` waits before anything else happens to them.
        unsafe {
            result::memcpy_htod_async(buffers[0], self.host_input.as_mut_slice::<T>(samples), stream)
                .map_err(failed("cuMemcpyHtoDAsync"))?;
            let from = launch(&self.stream, buffers)?;
            self.results = self.host_output.address();
            result::memcpy_dtoh_async(self.host_output.as_mut_slice::<T>(outputs), from, stream)
                .map_err(failed("cuMemcpyDtoHAsync"))
        }
    }

    /// Returns the buffer for the samples.
    pub(crate) fn samples<T: Pod>(&mut self, count: usize) -> &mut [T] {
        self.host_input.as_mut_slice(count)
    }

    /// Waits for the submitted work, and returns its outputs.
    pub(crate) fn outputs<T: Pod>(&mut self, count: usize) -> Result<&[T], Error> {
        self.wait()?;
        let buffer =
            [&mut self.host_input, &mut self.host_output].into_iter().find(|buffer| buffer.holds(self.results));
        let buffer = buffer.ok_or_else(|| Error::Internal("Results that are in no buffer.".into()))?;
        let skipped = (self.results - buffer.address()) as usize / size_of::<T>();
        Ok(&buffer.as_mut_slice(skipped + count)[skipped..])
    }

    fn wait(&self) -> Result<(), Error> {
        self.stream.synchronize()
    }

    /// Returns its two halves: a copy needs only one of the host's buffers.
    fn halves(&mut self) -> [Half<'_>; 2] {
        let Slot { host_input, host_output, over: [first, second], stream, .. } = self;
        [Half { buffer: host_input, over: first, stream }, Half { buffer: host_output, over: second, stream }]
    }
}

/// One of the host's buffers of a slot, for pieces that are only copied: while one is in flight, the thread copies for
/// the other. (10^8 doubles up, an H200's host with 16 threads: 16.2 ms, with one buffer a thread 22.5; down to fresh
/// memory 21.2 for 23.4.)
struct Half<'a> {
    buffer: &'a mut PinnedBuffer,
    over: &'a Event,
    stream: &'a Stream,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.stream.settle();
    }
}

impl Worker for Slot {
    type Guard = HostContext;

    fn ready(&self) -> Result<HostContext, Error> {
        let others = HostContext::save()?;
        self.stream.context().bind()?;
        Ok(others)
    }

    fn wait(&self) -> Result<(), Error> {
        Slot::wait(self)
    }
}

impl Worker for Half<'_> {
    type Guard = HostContext;

    fn ready(&self) -> Result<HostContext, Error> {
        let others = HostContext::save()?;
        self.stream.context().bind()?;
        Ok(others)
    }

    fn wait(&self) -> Result<(), Error> {
        self.stream.synchronize()
    }
}

/// Fills a buffer with the elements to be uploaded of this range.
pub(crate) type Fill<'a, T> = dyn Fn(Range<usize>, &mut [T]) + Sync + 'a;

/// Takes the downloaded elements of this range out of a buffer.
pub(crate) type Take<'a, T> = dyn Fn(Range<usize>, &[T]) + Sync + 'a;

/// Upload of some elements.
struct Sending<'a, T> {
    part: Range<usize>,
    fill: &'a Fill<'a, T>,
    to: sys::CUdeviceptr,
}

impl<T: Pod> Job<Half<'_>> for Sending<'_, T> {
    fn start(&mut self, half: &mut Half) -> Result<(), Error> {
        let samples = half.buffer.as_mut_slice(self.part.len());
        (self.fill)(self.part.clone(), samples);
        // SAFETY: the caller of the upload has room for as many at that address; the buffer: see `Slot::compute`.
        unsafe { result::memcpy_htod_async(self.to, samples, half.stream.handle()) }
            .map_err(failed("cuMemcpyHtoDAsync"))?;
        half.over.record(half.stream)
    }

    fn finish(self: Box<Self>, half: &mut Half) -> Result<(), Error> {
        half.over.wait()
    }
}

/// Download of some elements into a slice.
struct Fetching<'a, T> {
    from: sys::CUdeviceptr,
    output: &'a mut [T],
}

impl<T: Pod> Job<Half<'_>> for Fetching<'_, T> {
    fn start(&mut self, half: &mut Half) -> Result<(), Error> {
        let results = half.buffer.as_mut_slice::<T>(self.output.len());
        // SAFETY: the caller of the download promises as many at that address; as for the buffer, see `Slot::compute`.
        unsafe { result::memcpy_dtoh_async(results, self.from, half.stream.handle()) }
            .map_err(failed("cuMemcpyDtoHAsync"))?;
        half.over.record(half.stream)?;
        // The output's pages may be unmapped yet. They are touched while the device is at work.
        host::have_pages(self.output);
        Ok(())
    }

    fn finish(self: Box<Self>, half: &mut Half) -> Result<(), Error> {
        half.over.wait()?;
        self.output.copy_from_slice(half.buffer.as_mut_slice(self.output.len()));
        Ok(())
    }
}

/// Download of some elements to scattered places of the host.
struct Returning<'a, T> {
    from: sys::CUdeviceptr,
    part: Range<usize>,
    take: &'a Take<'a, T>,
}

impl<T: Pod> Job<Half<'_>> for Returning<'_, T> {
    fn start(&mut self, half: &mut Half) -> Result<(), Error> {
        let results = half.buffer.as_mut_slice::<T>(self.part.len());
        // SAFETY: as for `Fetching`.
        unsafe { result::memcpy_dtoh_async(results, self.from, half.stream.handle()) }
            .map_err(failed("cuMemcpyDtoHAsync"))?;
        half.over.record(half.stream)
    }

    fn finish(self: Box<Self>, half: &mut Half) -> Result<(), Error> {
        half.over.wait()?;
        (self.take)(self.part.clone(), half.buffer.as_mut_slice(self.part.len()));
        Ok(())
    }
}

/// Returns the length of the first of the pieces in which an output of the host is filled. Where pieces are as large as
/// the huge pages of large arrays, each piece but the first and the last is a page: then no two threads wait for each
/// other while one is cleared. (10^8 doubles, an H200's host: 19.2 to 20.6 ms, and 23.8 to 24.7 across pages.)
fn first_piece<T>(output: &[T], piece: usize) -> usize {
    let ahead = output.as_ptr().addr() % PIECE_BYTES / size_of::<T>();
    if piece * size_of::<T>() == PIECE_BYTES { piece - ahead } else { piece }
}

/// Returns the ranges of `elements` elements in pieces of `piece`.
fn parts(elements: usize, piece: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Send {
    (0..elements).step_by(piece).map(move |start| start..elements.min(start + piece))
}

/// Staging slots of a device.
pub(crate) struct Slots {
    slots: Vec<Slot>,
    /// Number of devices that share the threads with this one, itself included.
    among: usize,
}

impl Slots {
    pub(crate) fn new() -> Slots {
        Slots { slots: Vec::new(), among: 1 }
    }

    /// Sets the number of devices that share the threads with this one, itself included.
    pub(crate) fn among(&mut self, devices: usize) {
        self.among = devices.max(1);
    }

    /// Returns the number of threads that copy for this device.
    fn threads(&self) -> usize {
        (Workers::count() / self.among).max(1)
    }

    /// Returns the number of slots for an array of `bytes` bytes.
    pub(crate) fn worth(&self, bytes: usize) -> usize {
        slots_of(bytes, self.threads())
    }

    /// Copies `input` to the address `to` on the device, by all slots at once, and waits for it.
    ///
    /// # Safety
    /// There is room for it, and nothing that uses it is in flight.
    pub(crate) unsafe fn upload<T: Pod + Send + Sync>(
        &mut self,
        context: &Arc<Context>,
        input: &[T],
        to: sys::CUdeviceptr,
        watch: &Watch,
    ) -> Result<(), Error> {
        let fill = |part: Range<usize>, to: &mut [T]| to.copy_from_slice(&input[part]);
        // SAFETY: by the caller's promise.
        unsafe { self.upload_by(context, input.len(), &fill, to, watch) }
    }

    /// Copies `elements` elements, collected by `fill`, to the address `to` on the device, and waits for them.
    ///
    /// # Safety
    /// As for [`Slots::upload`].
    pub(crate) unsafe fn upload_by<T: Pod>(
        &mut self,
        context: &Arc<Context>,
        elements: usize,
        fill: &Fill<T>,
        to: sys::CUdeviceptr,
        watch: &Watch,
    ) -> Result<(), Error> {
        let (slots, piece) = self.reserve_for_copy::<T>(context, elements)?;
        let place = |part: &Range<usize>| to + (part.start * size_of::<T>()) as sys::CUdeviceptr;
        let jobs = parts(elements, piece).map(|part| Sending { to: place(&part), part, fill });
        self.share_halves(slots, jobs, watch)
    }

    /// Copies the elements at the address `from` on the device to `output`, by all slots at once, after `ready`.
    ///
    /// # Safety
    /// There are at least as many elements then, and nothing that writes them is in flight.
    pub(crate) unsafe fn download<T: Pod + Send + Sync>(
        &mut self,
        context: &Arc<Context>,
        from: sys::CUdeviceptr,
        ready: Option<&Event>,
        output: &mut [T],
        watch: &Watch,
    ) -> Result<(), Error> {
        let (slots, piece) = self.reserve_for_copy::<T>(context, output.len())?;
        if let Some(ready) = ready {
            self.slots[..slots].iter().try_for_each(|slot| slot.stream.begin_after(ready))?;
        }
        let mut pieces = with_room(output.len() / piece + 2, "the pieces of a copy")?;
        let mut next = first_piece(output, piece);
        let (mut from, mut left) = (from, output);
        while !left.is_empty() {
            let (output, others) = left.split_at_mut(next.min(left.len()));
            let bytes = size_of_val(output) as sys::CUdeviceptr;
            pieces.push(Fetching { from, output });
            (from, left, next) = (from + bytes, others, piece);
        }
        self.share_halves(slots, pieces.into_iter(), watch)
    }

    /// Copies `elements` elements at the address `from` on the device to the places where `take` puts them, after
    /// `ready`.
    ///
    /// # Safety
    /// There are at least as many elements then, and nothing writes them from then on.
    pub(crate) unsafe fn download_by<T: Pod>(
        &mut self,
        context: &Arc<Context>,
        (from, ready): (sys::CUdeviceptr, &Event),
        elements: usize,
        take: &Take<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let (slots, piece) = self.reserve_for_copy::<T>(context, elements)?;
        self.slots[..slots].iter().try_for_each(|slot| slot.stream.begin_after(ready))?;
        let place = |part: &Range<usize>| from + (part.start * size_of::<T>()) as sys::CUdeviceptr;
        let jobs = parts(elements, piece).map(|part| Returning { from: place(&part), part, take });
        self.share_halves(slots, jobs, watch)
    }

    /// Reserves slots for a copy of `elements` elements, and returns their number, and the elements of a piece. Their
    /// buffers on the device may be missing.
    fn reserve_for_copy<T>(&mut self, context: &Arc<Context>, elements: usize) -> Result<(usize, usize), Error> {
        let slots = self.worth(elements * size_of::<T>());
        let piece = elements.div_ceil(slots).clamp(1, PIECE_BYTES / size_of::<T>());
        let slots = self.reserve(context, slots, piece * size_of::<T>(), None, false)?;
        Ok((slots, piece))
    }

    /// Makes `wanted` slots with buffers of `bytes` bytes each way, and returns their number: less where the budget or
    /// memory is short, but at least one. With a `budget` they have buffers on the device, which take no more than that
    /// in total; one slot is always allowed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] where there is no memory for one. `short` states that memory was short before: then
    /// buffers have no spare room.
    pub(crate) fn reserve(
        &mut self,
        context: &Arc<Context>,
        wanted: usize,
        bytes: usize,
        budget: Option<usize>,
        short: bool,
    ) -> Result<usize, Error> {
        // Rounded up, so that arrays which grow a little from call to call find a buffer; but not beyond the bound for
        // all slots together.
        let most = budget.unwrap_or(usize::MAX);
        let rounded = bytes.next_multiple_of(MIN_PIECE_BYTES);
        let room = if short || wanted.saturating_mul(2 * rounded) > most { bytes } else { rounded };
        let fit = |slot: &Slot| slot.fits(bytes, budget.is_some());
        if !self.slots.iter().take(wanted).all(fit) || self.device_bytes() > most.max(2 * room) {
            self.slots.clear();
        }
        for made in 0..wanted {
            let there = self.slots.get(made);
            if there.is_some_and(|slot| budget.is_none() || slot.device.is_some()) {
                continue;
            }
            if made > 0 && budget.is_some() && self.device_bytes() + 2 * room > most {
                return Ok(made);
            }
            match self.make(context, made, room, budget.is_some()) {
                Ok(()) => {}
                // The slots made so far do the work.
                Err(Error::OutOfMemory(_)) if made > 0 => return Ok(made),
                Err(error) => return Err(error),
            }
        }
        Ok(wanted)
    }

    /// Makes the slot `number`, an existing one or the next.
    fn make(&mut self, context: &Arc<Context>, number: usize, bytes: usize, on_device: bool) -> Result<(), Error> {
        if number == self.slots.len() {
            self.slots.push(Slot::new(context, bytes)?);
        }
        if on_device {
            self.slots[number].device = Some([DeviceBuffer::new(context, bytes)?, DeviceBuffer::new(context, bytes)?]);
        }
        Ok(())
    }

    /// Has the first `slots` slots do all jobs, each taking the next when it is done with one. Nothing is in flight
    /// when this returns, also with an error or after the watch has stopped the run, or unwinds.
    pub(crate) fn share<'j, J: Job<Slot> + Send + 'j>(
        &mut self,
        slots: usize,
        jobs: impl ExactSizeIterator<Item = J> + Send + 'j,
        watch: &Watch,
    ) -> Result<(), Error> {
        let threads = self.threads();
        let mut jobs = jobs.map(|job| Box::new(job) as _);
        share_among(&mut self.slots[..slots], slots, threads, &mut jobs, watch)
    }

    /// Has both halves of the first `slots` slots do all jobs, as [`Slots::share`] does.
    fn share_halves<'j, J: for<'h> Job<Half<'h>> + Send + 'j>(
        &mut self,
        slots: usize,
        jobs: impl ExactSizeIterator<Item = J> + Send + 'j,
        watch: &Watch,
    ) -> Result<(), Error> {
        let threads = self.threads();
        let mut halves: Vec<_> = self.slots[..slots].iter_mut().flat_map(Slot::halves).collect();
        let mut jobs = jobs.map(|job| Box::new(job) as _);
        share_among(&mut halves, slots, threads, &mut jobs, watch)
    }

    /// Frees the slots, and returns true if there were any.
    pub(crate) fn release(&mut self) -> bool {
        let any = !self.slots.is_empty();
        self.slots.clear();
        any
    }

    /// Returns the bytes that the slots hold on the device.
    pub(crate) fn device_bytes(&self) -> usize {
        self.slots.iter().map(Slot::device_bytes).sum()
    }

    /// Frees the slots' buffers on the device. They are allocated again when needed.
    pub(crate) fn release_device(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.device = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_arrays_take_one_slot_and_large_ones_all() {
        assert_eq!((slots_of(8, 16), slots_of(80_000, 16)), (1, 1));
        assert_eq!((slots_of(800_000_000, 16), slots_of(800_000_000, 2), slots_of(800_000_000, 1)), (16, 4, 2));
    }
}
