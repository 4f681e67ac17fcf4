//! Data of the host to the device and back, through staging slots.
//!
//! # Rationale
//! The host's arrays are ordinary memory, which the link reads and writes slowly; page-locked memory is what it is fast
//! with. So an array goes in pieces: a thread copies a piece into a page-locked buffer, has it sent, computed and
//! returned on a stream of its own, and copies the result out. With several such *slots* at once the link is busy both
//! ways while processors copy. Slots are kept between calls.
//!
//! What the slots hold is bounded, whatever the array's size is, and shrinks where memory is short.

use std::collections::VecDeque;
use std::ops::Range;
use std::slice::ChunksMut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;
use cudarc::driver::{result, sys};
use rayon::{Scope, ThreadPool};

use super::pace::MAX_SLOTS;
use crate::cuda::driver::context::{Context, Event, HostContext, Stream};
use crate::cuda::driver::error::failed;
use crate::cuda::driver::memory::{DeviceBuffer, PinnedBuffer};
use crate::host;
use crate::memory::with_room;
use crate::stencil::Error;
use crate::watch::Watch;
use crate::workers::Workers;

/// The bytes of output in a piece of a large array: enough that a piece's fixed costs vanish, few enough that the
/// processor's caches hold it.
pub(crate) const PIECE_BYTES: usize = 2 << 20;

/// No slot is worth waking for fewer bytes.
const MIN_PIECE_BYTES: usize = 256 << 10;

/// Up to here the device reads and writes the page-locked memory itself: a copy each way costs more than the slower
/// access (10^4 doubles: 24 us instead of 37).
const MAPPED_BYTES: usize = 256 << 10;

/// How many slots an array of so many bytes is worth to so many threads.
fn slots_of(bytes: usize, threads: usize) -> usize {
    (2 * threads).min(MAX_SLOTS).min(bytes / MIN_PIECE_BYTES).max(1)
}

/// A stream and the buffers that pieces go through on it. When it is dropped, the stream is waited for ahead of all,
/// then the fields go in this order.
pub(crate) struct Slot {
    host_input: PinnedBuffer,
    host_output: PinnedBuffer,
    /// For inputs and for outputs; made when the slot first needs them.
    device: Option<[DeviceBuffer; 2]>,
    /// Where in the host's buffers the outputs of what is under way will be.
    results: sys::CUdeviceptr,
    /// For copies: that what went through each of the host's buffers is over.
    over: [Event; 2],
    stream: Arc<Stream>,
}

impl Slot {
    /// With buffers of so many bytes each way, of page-locked memory.
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

    /// Whether what it has is large enough; what it has not can still be made. What is on the device counts where it is
    /// needed.
    fn fits(&self, bytes: usize, on_device: bool) -> bool {
        let of_device = self.device.iter().flatten().filter(|_| on_device);
        [&self.host_input, &self.host_output].into_iter().all(|buffer| buffer.bytes() >= bytes)
            && of_device.into_iter().all(|buffer| buffer.bytes() >= bytes)
    }

    fn device_bytes(&self) -> usize {
        self.device.iter().flatten().map(DeviceBuffer::bytes).sum()
    }

    /// The addresses of its buffers on the device.
    fn addresses(&self) -> Result<[sys::CUdeviceptr; 2], Error> {
        let [input, output] =
            self.device.as_ref().ok_or_else(|| Error::Internal("A slot without buffers on the device.".into()))?;
        Ok([input.address(), output.address()])
    }

    /// Has `launch` compute on what was put into `host_input`, from there to as many `outputs` in `host_output`; both
    /// begin at the addresses it gets. What it returns is the address of the first of the outputs. `once` says that it
    /// reads samples and writes outputs about once each.
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
        // SAFETY: the buffers are as long as these slices of theirs, and nobody touches them before the stream has been
        // waited for; where an error or a panic ends this early, `Settled` waits before anything else happens to them.
        unsafe {
            result::memcpy_htod_async(buffers[0], self.host_input.as_mut_slice::<T>(samples), stream)
                .map_err(failed("cuMemcpyHtoDAsync"))?;
            let from = launch(&self.stream, buffers)?;
            self.results = self.host_output.address();
            result::memcpy_dtoh_async(self.host_output.as_mut_slice::<T>(outputs), from, stream)
                .map_err(failed("cuMemcpyDtoHAsync"))
        }
    }

    /// The samples that are to be computed on.
    pub(crate) fn samples<T: Pod>(&mut self, count: usize) -> &mut [T] {
        self.host_input.as_mut_slice(count)
    }

    /// Waits for what was set going, and gives its outputs.
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

    /// Its two halves: a copy needs a buffer of the host's one way only.
    fn halves(&mut self) -> [Half<'_>; 2] {
        let Slot { host_input, host_output, over: [first, second], stream, .. } = self;
        [Half { buffer: host_input, over: first, stream }, Half { buffer: host_output, over: second, stream }]
    }
}

/// One of the host's buffers of a slot, for pieces that are only copied: while one is on its way, the thread copies
/// for the other. (10^8 doubles up, an H200's host with 16 threads: 16.2 ms, with one buffer a thread 22.5; down
/// to fresh memory 21.2 for 23.4.)
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

/// What jobs are done on, one at a time: a slot. (Tests have others, which need no device.)
trait Worker: Send {
    /// What keeps a thread ready for it.
    type Ready;

    /// Makes this thread ready to work with it, and with others like it, until the result is dropped.
    fn ready(&self) -> Result<Self::Ready, Error>;

    /// Waits for all that was set going.
    fn wait(&self) -> Result<(), Error>;
}

impl Worker for Slot {
    type Ready = HostContext;

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
    type Ready = HostContext;

    fn ready(&self) -> Result<HostContext, Error> {
        let others = HostContext::save()?;
        self.stream.context().bind()?;
        Ok(others)
    }

    fn wait(&self) -> Result<(), Error> {
        self.stream.synchronize()
    }
}

/// What a slot does on a piece, in two parts: between them the device works on it, and the thread on another slot's.
pub(crate) trait Job<L = Slot> {
    /// Sets it going.
    fn start(&mut self, slot: &mut L) -> Result<(), Error>;

    /// Waits for it, and does what is left.
    fn finish(self, slot: &mut L) -> Result<(), Error>;
}

/// Slots at work. Unless all of it is known to be over, they are waited for when this is dropped, whatever the reason:
/// an error, a panic in a job on any thread. Nothing is then under way when their buffers are used again or freed.
struct Settled<'l, L: Worker> {
    slots: &'l mut [L],
    over: bool,
}

impl<L: Worker> Drop for Settled<'_, L> {
    fn drop(&mut self) {
        if !self.over {
            for slot in &*self.slots {
                // What goes wrong here went wrong before.
                let _ = slot.wait();
            }
        }
    }
}

/// Has `slots` do all jobs, each taking the next when it is done with one, by so many threads of a pool, or by this
/// one. Nothing is under way when this returns or unwinds.
fn share_out<L: Worker, J: Job<L> + Send>(
    slots: &mut [L],
    mut jobs: impl ExactSizeIterator<Item = J> + Send,
    pool: Option<(&ThreadPool, usize)>,
    watch: &Watch,
) -> Result<(), Error> {
    let mut settled = Settled { slots, over: false };
    let result = match pool {
        // Nobody is woken for what one thread does.
        None => take_turns(settled.slots, &mut jobs, watch),
        Some((pool, threads)) => {
            let slots_each = settled.slots.len().div_ceil(threads);
            let (slots, jobs) = (Mutex::new(settled.slots.chunks_mut(slots_each)), Mutex::new(jobs));
            let team = Team { slots, jobs, outcome: Mutex::new(Ok(())), watch };
            // A panic of any thread comes out of here, when all of them are done.
            pool.in_place_scope(|scope| team.work(scope));
            team.outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
        }
    };
    // Each job has waited for its own.
    settled.over = result.is_ok();
    result
}

/// Does jobs on `slots` in turn: while the device works on some, this thread copies for another.
fn take_turns<L: Worker, J: Job<L>>(
    slots: &mut [L],
    jobs: &mut dyn Iterator<Item = J>,
    watch: &Watch,
) -> Result<(), Error> {
    // What each slot is at work on: the oldest is the next in turn.
    let mut under_way: VecDeque<J> = VecDeque::with_capacity(slots.len());
    let (count, mut next) = (slots.len(), 0);
    for mut job in jobs {
        watch.check()?;
        let slot = &mut slots[next % count];
        if under_way.len() == count {
            under_way.pop_front().expect("all slots are at work").finish(slot)?;
        }
        job.start(slot)?;
        under_way.push_back(job);
        next += 1;
    }
    let first = next - under_way.len();
    under_way.into_iter().enumerate().try_for_each(|(i, job)| job.finish(&mut slots[(first + i) % count]))
}

/// Threads that share out slots and pieces among themselves.
///
/// The thread that was called begins at once, and each that has begun calls two more, as long as there is something
/// left to do: to wake a thread takes about as long as a piece.
struct Team<'a, 'l, L, P> {
    /// What each thread is to work on.
    slots: Mutex<ChunksMut<'l, L>>,
    jobs: Mutex<P>,
    /// The first error.
    outcome: Mutex<Result<(), Error>>,
    watch: &'a Watch,
}

impl<L: Worker, J: Job<L>, P: ExactSizeIterator<Item = J> + Send> Team<'_, '_, L, P> {
    fn work<'s>(&'s self, scope: &Scope<'s>) {
        let Some(slots) = lock(&self.slots).next() else {
            return;
        };
        for _ in 0..lock(&self.slots).len().min(lock(&self.jobs).len()).min(2) {
            scope.spawn(move |scope| self.work(scope));
        }
        let mut run = || {
            let _ready = slots.first().map(L::ready).transpose()?;
            // After an error nobody takes another job.
            let mut jobs =
                std::iter::from_fn(|| lock(&self.outcome).is_ok().then(|| lock(&self.jobs).next()).flatten());
            take_turns(slots, &mut jobs, self.watch)
        };
        if let Err(error) = run() {
            let mut outcome = lock(&self.outcome);
            if outcome.is_ok() {
                *outcome = Err(error);
            }
        }
    }
}

/// The same by as many threads as `most` and those that are `available` allow.
fn share_among<L: Worker, J: Job<L> + Send>(
    slots: &mut [L],
    most: usize,
    available: usize,
    jobs: impl ExactSizeIterator<Item = J> + Send,
    watch: &Watch,
) -> Result<(), Error> {
    // Where each would have but one job, half as many threads: to wake as many again costs more than they save.
    let threads = if jobs.len() > most { most } else { most.div_ceil(2) }.min(available);
    let pool = if threads > 1 { Workers::get() } else { None };
    share_out(slots, jobs, pool.as_deref().map(|pool| (pool, threads)), watch)
}

/// A panic elsewhere is raised again when all threads are done; until then the work goes on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fills a buffer with the elements at these places of what is to be sent.
pub(crate) type Fill<'a, T> = dyn Fn(Range<usize>, &mut [T]) + Sync + 'a;

/// Takes the elements at these places of what was fetched out of a buffer.
pub(crate) type Take<'a, T> = dyn Fn(Range<usize>, &[T]) + Sync + 'a;

/// Some numbers of the host on their way to the device.
struct Sending<'a, T> {
    part: Range<usize>,
    fill: &'a Fill<'a, T>,
    to: sys::CUdeviceptr,
}

impl<T: Pod> Job<Half<'_>> for Sending<'_, T> {
    fn start(&mut self, half: &mut Half) -> Result<(), Error> {
        let samples = half.buffer.as_mut_slice(self.part.len());
        (self.fill)(self.part.clone(), samples);
        // SAFETY: who asked for an upload has room at that address for as many; as for the buffer, see `Slot::compute`.
        unsafe { result::memcpy_htod_async(self.to, samples, half.stream.handle()) }
            .map_err(failed("cuMemcpyHtoDAsync"))?;
        half.over.record(half.stream)
    }

    fn finish(self, half: &mut Half) -> Result<(), Error> {
        half.over.wait()
    }
}

/// Some numbers of the device on their way to the host.
struct Fetching<'a, T> {
    from: sys::CUdeviceptr,
    output: &'a mut [T],
}

impl<T: Pod> Job<Half<'_>> for Fetching<'_, T> {
    fn start(&mut self, half: &mut Half) -> Result<(), Error> {
        let results = half.buffer.as_mut_slice::<T>(self.output.len());
        // SAFETY: who asked for a download has as many at that address; as for the buffer, see `Slot::compute`.
        unsafe { result::memcpy_dtoh_async(results, self.from, half.stream.handle()) }
            .map_err(failed("cuMemcpyDtoHAsync"))?;
        half.over.record(half.stream)?;
        // The output's memory may never have been touched. Meanwhile the device is at work.
        host::have_pages(self.output);
        Ok(())
    }

    fn finish(self, half: &mut Half) -> Result<(), Error> {
        half.over.wait()?;
        self.output.copy_from_slice(half.buffer.as_mut_slice(self.output.len()));
        Ok(())
    }
}

/// The same, where they do not belong beside each other.
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

    fn finish(self, half: &mut Half) -> Result<(), Error> {
        half.over.wait()?;
        (self.take)(self.part.clone(), half.buffer.as_mut_slice(self.part.len()));
        Ok(())
    }
}

/// The elements of the first of the pieces that an output of the host is filled in. Where they are as large as the pages
/// that large arrays have, each piece but the first and the last is a page: then no two threads wait for each other to
/// have one cleared. (10^8 doubles, an H200's host: 19.2 to 20.6 ms, and 23.8 to 24.7 across pages.)
fn first_piece<T>(output: &[T], piece: usize) -> usize {
    let ahead = output.as_ptr().addr() % PIECE_BYTES / size_of::<T>();
    if piece * size_of::<T>() == PIECE_BYTES { piece - ahead } else { piece }
}

/// So many elements in pieces.
fn parts(elements: usize, piece: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Send {
    (0..elements).step_by(piece).map(move |start| start..elements.min(start + piece))
}

/// The staging slots of a device.
pub(crate) struct Slots {
    slots: Vec<Slot>,
    /// How many devices share the threads with this one, itself included.
    among: usize,
}

impl Slots {
    pub(crate) fn new() -> Slots {
        Slots { slots: Vec::new(), among: 1 }
    }

    /// Has this device share the threads with others from now on: as many as said, itself included.
    pub(crate) fn among(&mut self, devices: usize) {
        self.among = devices.max(1);
    }

    /// The threads that copy for this device.
    fn threads(&self) -> usize {
        (Workers::count() / self.among).max(1)
    }

    /// How many slots an array of so many bytes is worth.
    pub(crate) fn worth(&self, bytes: usize) -> usize {
        slots_of(bytes, self.threads())
    }

    /// Copies `input` to the address `to` on the device, by all slots at once. It is there when this returns.
    ///
    /// # Safety
    /// There is room for it, and nothing that uses it is under way.
    pub(crate) unsafe fn upload<T: Pod + Send + Sync>(
        &mut self,
        context: &Arc<Context>,
        input: &[T],
        to: sys::CUdeviceptr,
        watch: &Watch,
    ) -> Result<(), Error> {
        let fill = |part: Range<usize>, to: &mut [T]| to.copy_from_slice(&input[part]);
        // SAFETY: as the caller says.
        unsafe { self.upload_by(context, input.len(), &fill, to, watch) }
    }

    /// The same with so many elements that `fill` collects.
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

    /// Copies what is at the address `from` on the device to `output`, by all slots at once, once `ready` has happened.
    ///
    /// # Safety
    /// There is as much then, and nothing that writes it is under way.
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

    /// Copies so many elements at the address `from` on the device to wherever `take` puts them, once `ready` has
    /// happened.
    ///
    /// # Safety
    /// There are as many then, and nothing writes them from then on.
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

    /// Sees that there are slots for a copy of so many elements, with whatever they have on the device, and says how
    /// many there are, and the elements of a piece.
    fn reserve_for_copy<T>(&mut self, context: &Arc<Context>, elements: usize) -> Result<(usize, usize), Error> {
        let slots = self.worth(elements * size_of::<T>());
        let piece = elements.div_ceil(slots).clamp(1, PIECE_BYTES / size_of::<T>());
        let slots = self.reserve(context, slots, piece * size_of::<T>(), None, false)?;
        Ok((slots, piece))
    }

    /// Sees that there are `wanted` slots with buffers of so many bytes each way, and says how many there are: fewer
    /// where neither the budget nor memory gives more, one at the least. With a `budget` they have buffers on the
    /// device, which hold no more than that together; one slot is always allowed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] where there is no memory for one. `short` says that it was so before: then buffers are no
    /// larger than they must be.
    pub(crate) fn reserve(
        &mut self,
        context: &Arc<Context>,
        wanted: usize,
        bytes: usize,
        budget: Option<usize>,
        short: bool,
    ) -> Result<usize, Error> {
        // Rounded up, so that arrays which grow a little from call to call find a buffer; but not beyond what all slots
        // together may hold.
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
                // Those that there are do the work.
                Err(Error::OutOfMemory(_)) if made > 0 => return Ok(made),
                Err(error) => return Err(error),
            }
        }
        Ok(wanted)
    }

    /// Makes the slot `number`, which is one of those there are or the next.
    fn make(&mut self, context: &Arc<Context>, number: usize, bytes: usize, on_device: bool) -> Result<(), Error> {
        if number == self.slots.len() {
            self.slots.push(Slot::new(context, bytes)?);
        }
        if on_device {
            self.slots[number].device = Some([DeviceBuffer::new(context, bytes)?, DeviceBuffer::new(context, bytes)?]);
        }
        Ok(())
    }

    /// Has the first `slots` slots do all jobs, each taking the next when it is done with one. Nothing is under way
    /// when this returns, also with an error, or when the watch has said stop, or unwinds.
    pub(crate) fn share<J: Job + Send>(
        &mut self,
        slots: usize,
        jobs: impl ExactSizeIterator<Item = J> + Send,
        watch: &Watch,
    ) -> Result<(), Error> {
        let threads = self.threads();
        share_among(&mut self.slots[..slots], slots, threads, jobs, watch)
    }

    /// The same with both halves of each.
    fn share_halves<J: for<'h> Job<Half<'h>> + Send>(
        &mut self,
        slots: usize,
        jobs: impl ExactSizeIterator<Item = J> + Send,
        watch: &Watch,
    ) -> Result<(), Error> {
        let threads = self.threads();
        let mut halves: Vec<_> = self.slots[..slots].iter_mut().flat_map(Slot::halves).collect();
        share_among(&mut halves, slots, threads, jobs, watch)
    }

    /// Gives up the slots, and says whether there were any.
    pub(crate) fn release(&mut self) -> bool {
        let any = !self.slots.is_empty();
        self.slots.clear();
        any
    }

    /// The bytes that the slots hold on the device.
    pub(crate) fn device_bytes(&self) -> usize {
        self.slots.iter().map(Slot::device_bytes).sum()
    }

    /// Gives up what the slots hold on the device. They make it again when they need it.
    pub(crate) fn release_device(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.device = None);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use rayon::ThreadPoolBuilder;

    use super::*;

    /// A slot without a device: it is at work from a job's start until it is waited for.
    #[derive(Default)]
    struct FakeSlot {
        at_work: AtomicBool,
        waits: AtomicUsize,
    }

    impl Worker for FakeSlot {
        type Ready = ();

        fn ready(&self) -> Result<(), Error> {
            Ok(())
        }

        fn wait(&self) -> Result<(), Error> {
            self.at_work.store(false, Ordering::Relaxed);
            self.waits.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Trouble {
        None,
        ErrorInStart,
        PanicInStart,
        ErrorInFinish,
        PanicInFinish,
        Stop,
    }

    struct FakeJob<'a> {
        trouble: Trouble,
        watch: &'a Watch,
        finished: &'a AtomicUsize,
    }

    impl Job<FakeSlot> for FakeJob<'_> {
        fn start(&mut self, slot: &mut FakeSlot) -> Result<(), Error> {
            assert!(!slot.at_work.swap(true, Ordering::Relaxed), "a slot does one job at a time");
            match self.trouble {
                Trouble::ErrorInStart => return Err(Error::Cuda("start".into())),
                Trouble::PanicInStart => panic!("in start"),
                Trouble::Stop => self.watch.stop(),
                _ => {}
            }
            Ok(())
        }

        fn finish(self, slot: &mut FakeSlot) -> Result<(), Error> {
            match self.trouble {
                Trouble::ErrorInFinish => return Err(Error::Cuda("finish".into())),
                Trouble::PanicInFinish => panic!("in finish"),
                _ => {}
            }
            self.finished.fetch_add(1, Ordering::Relaxed);
            slot.wait()
        }
    }

    /// Whatever happens to a job on whichever thread, nothing is under way when it is over; and nobody waits twice
    /// where nothing happens.
    #[test]
    fn slots_are_waited_for_whatever_way_jobs_end() {
        use Trouble::{ErrorInFinish, ErrorInStart, None, PanicInFinish, PanicInStart, Stop};
        const JOBS: usize = 9;
        let pool = ThreadPoolBuilder::new().num_threads(3).panic_handler(|_| {}).build().unwrap();
        for trouble in [None, ErrorInStart, PanicInStart, ErrorInFinish, PanicInFinish, Stop] {
            for at in 0..JOBS {
                for (count, threads) in [(1, 1), (2, 1), (4, 1), (2, 2), (4, 2), (5, 3), (JOBS, 3)] {
                    let what = format!("{trouble:?} in job {at} of {count} slots, {threads} threads");
                    let mut slots: Vec<FakeSlot> = (0..count).map(|_| FakeSlot::default()).collect();
                    let (watch, finished) = (Watch::new(), AtomicUsize::new(0));
                    let job = |number| FakeJob {
                        trouble: if number == at { trouble } else { None },
                        watch: &watch,
                        finished: &finished,
                    };
                    let team = (threads > 1).then_some((&pool, threads));
                    let outcome =
                        catch_unwind(AssertUnwindSafe(|| share_out(&mut slots, (0..JOBS).map(job), team, &watch)));
                    match trouble {
                        None => assert!(matches!(outcome, Ok(Ok(()))), "{what}"),
                        ErrorInStart | ErrorInFinish => assert!(matches!(outcome, Ok(Err(Error::Cuda(_)))), "{what}"),
                        PanicInStart | PanicInFinish => assert!(outcome.is_err(), "{what}"),
                        // There may have been nothing left to stop.
                        Stop => assert!(matches!(outcome, Ok(Ok(()) | Err(Error::Interrupted))), "{what}"),
                    }
                    assert!(!slots.iter().any(|slot| slot.at_work.load(Ordering::Relaxed)), "{what}");
                    if trouble == None {
                        let waits: usize = slots.iter().map(|slot| slot.waits.load(Ordering::Relaxed)).sum();
                        assert_eq!((finished.load(Ordering::Relaxed), waits), (JOBS, JOBS), "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn small_arrays_take_one_slot_and_large_ones_all() {
        assert_eq!((slots_of(8, 16), slots_of(80_000, 16)), (1, 1));
        assert_eq!((slots_of(800_000_000, 16), slots_of(800_000_000, 2), slots_of(800_000_000, 1)), (16, 4, 2));
    }
}
