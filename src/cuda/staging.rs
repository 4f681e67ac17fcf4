//! Arrays of the host through the device and back.
//!
//! # Rationale
//! The host's arrays are ordinary memory, which the link reads and writes slowly; page-locked memory is what it is fast
//! with. So an array goes in pieces: a thread copies a piece into a page-locked buffer, has it sent, computed and
//! returned on a stream of its own, and copies the result out. With several such *lanes* at once the link is busy both
//! ways while processors copy. Lanes are kept between calls.
//!
//! Arrays that stay on the device for a while, those of [`Resident`](super::resident::Resident), go up and come down
//! through the same buffers.
//!
//! What the lanes hold is bounded, whatever the array's size is, and shrinks to one tile where memory is short.

use std::collections::VecDeque;
use std::ops::Range;
use std::slice::ChunksMut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;
use cudarc::driver::{result, sys};
use rayon::{Scope, ThreadPool};

use super::context::{Context, Stream};
use super::device::HostContext;
use super::error::failed;
use super::memory::{DeviceBuffer, PinnedBuffer};
use crate::stencil::{Error, MAX_TAPS};
use crate::watch::Watch;
use crate::workers::Workers;

/// The most lanes that are used. As many as 16 threads keep busy; fewer threads have two each, so that one is copied
/// for while the device works on the other. (10^8 doubles, 11 taps, on an H200's host: 133 ms with 2 threads and as
/// many lanes, 128 with 4 lanes; 78 and 66 with 4 threads; 29 with 16 of each, 32 with 32 lanes.)
const MAX_LANES: usize = 16;

/// The bytes of output in a piece of a large array: enough that a piece's fixed costs vanish, few enough that the
/// processor's caches hold it.
pub(super) const PIECE_BYTES: usize = 2 << 20;

/// No lane is worth waking for fewer bytes.
const MIN_PIECE_BYTES: usize = 256 << 10;

/// Up to here the device reads and writes the page-locked memory itself: a copy each way costs more than the slower
/// access (10^4 doubles: 24 us instead of 37).
const MAPPED_BYTES: usize = 256 << 10;

/// Room for as many elements on either side is in every buffer, so that stencils of different widths share one.
const MIN_HALO: usize = MAX_TAPS / 2;

/// What the buffers of a device may take of its memory unless a call says otherwise, in bytes.
pub const DEFAULT_DEVICE_BYTES: usize = 256 << 20;

/// Work that can be done on any run of neighbouring outputs.
pub(super) trait Plan: Sync {
    /// Outputs are cut only at multiples of this many.
    fn tile(&self) -> usize;

    /// How many inputs at most are needed beyond an output on either side.
    fn halo(&self) -> usize;

    /// Puts on the stream what computes the outputs `piece.output` to the address `output`, from the inputs
    /// `piece.input` at `input`.
    fn launch(
        &self,
        stream: sys::CUstream,
        piece: &Piece,
        input: sys::CUdeviceptr,
        output: sys::CUdeviceptr,
    ) -> Result<(), Error>;
}

/// Some neighbouring outputs of an array, and the inputs they need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) output: Range<usize>,
    pub(super) input: Range<usize>,
}

impl Piece {
    pub(super) fn new(output: Range<usize>, halo: usize, elements: usize) -> Piece {
        let input = output.start.saturating_sub(halo)..(output.end + halo).min(elements);
        Piece { output, input }
    }
}

/// How many lanes an array of so many bytes is worth.
pub(super) fn lanes_for(bytes: usize, threads: usize) -> usize {
    (2 * threads).min(MAX_LANES).min(bytes / MIN_PIECE_BYTES).max(1)
}

/// Work on pieces that are more than neighbouring elements.
pub(super) trait Gather<T>: Sync {
    /// What is computed together.
    type Piece: Send;

    /// How many inputs and outputs go over the link for it.
    fn elements(&self, piece: &Self::Piece) -> [usize; 2];

    /// Writes as many inputs.
    fn fill(&self, piece: &Self::Piece, inputs: &mut [T]);

    /// Puts on the stream what computes the outputs, to the second address, from the inputs at the first.
    fn launch(&self, stream: sys::CUstream, piece: &Self::Piece, addresses: [sys::CUdeviceptr; 2])
    -> Result<(), Error>;

    /// Copies the outputs to the parts of the host's array that they belong to.
    fn take(&self, piece: &Self::Piece, outputs: &[T], to: &mut [&mut [T]]);
}

/// How an array is cut: into pieces of so many outputs, on so many lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    lanes: usize,
    piece: usize,
}

impl Cut {
    /// For `elements` of `size` bytes. `threads` can copy at once; `budget` bounds the bytes that all lanes together
    /// hold on the device.
    fn new(elements: usize, size: usize, tile: usize, halo: usize, threads: usize, budget: usize) -> Cut {
        let whole_tiles = |elements: usize| elements.div_ceil(tile).max(1) * tile;
        let lanes = lanes_for(elements * size, threads);
        // What is sent twice, the halo, is to stay small beside what is computed.
        let piece = elements.div_ceil(lanes).min((PIECE_BYTES / size).max(8 * halo));
        let cut = Cut { lanes, piece: whole_tiles(piece) };
        cut.within(size, tile, halo, budget)
    }

    /// The same with fewer lanes, then with smaller pieces, so that it holds no more than `budget`; but never less than
    /// a tile.
    fn within(mut self, size: usize, tile: usize, halo: usize, budget: usize) -> Cut {
        self.lanes = self.lanes.min(budget / lane_bytes(self.piece, size, halo)).max(1);
        if lane_bytes(self.piece, size, halo) > budget {
            let elements = (budget / size).saturating_sub(2 * halo.max(MIN_HALO)) / 2;
            self.piece = (elements / tile).max(1) * tile;
        }
        self
    }

    /// A smaller cut to try when memory ran out; `None` when it is down to one tile.
    fn smaller(self, tile: usize) -> Option<Cut> {
        match self {
            Cut { lanes: 2.., .. } => Some(Cut { lanes: self.lanes / 2, ..self }),
            Cut { piece, .. } if piece > tile => Some(Cut { piece: (piece / 2).div_ceil(tile) * tile, ..self }),
            _ => None,
        }
    }
}

/// What a lane for such pieces holds on the device.
fn lane_bytes(piece: usize, size: usize, halo: usize) -> usize {
    (2 * piece + 2 * halo.max(MIN_HALO)) * size
}

/// A stream and the buffers that pieces go through on it. When it is dropped, the stream is waited for ahead of all,
/// then the fields go in this order.
pub(super) struct Lane {
    host_input: PinnedBuffer,
    host_output: PinnedBuffer,
    /// For inputs and for outputs; made when the lane first needs them.
    device: Option<[DeviceBuffer; 2]>,
    /// Where in the host's buffers the outputs of what is under way will be.
    results: sys::CUdeviceptr,
    stream: Arc<Stream>,
}

impl Lane {
    fn new(context: &Arc<Context>, [input_bytes, output_bytes]: [usize; 2]) -> Result<Lane, Error> {
        Ok(Lane {
            host_input: PinnedBuffer::new(context, input_bytes)?,
            host_output: PinnedBuffer::new(context, output_bytes)?,
            device: None,
            results: 0,
            stream: Stream::new(context)?,
        })
    }

    /// Whether what it has is large enough; what it has not can still be made.
    fn fits(&self, [input_bytes, output_bytes]: [usize; 2]) -> bool {
        let on_device =
            |[input, output]: &[DeviceBuffer; 2]| input.bytes() >= input_bytes && output.bytes() >= output_bytes;
        self.host_input.bytes() >= input_bytes
            && self.host_output.bytes() >= output_bytes
            && self.device.as_ref().is_none_or(on_device)
    }

    fn device_bytes(&self) -> usize {
        self.device.iter().flatten().map(DeviceBuffer::bytes).sum()
    }

    /// The addresses of its buffers on the device.
    fn addresses(&self) -> Result<[sys::CUdeviceptr; 2], Error> {
        let [input, output] =
            self.device.as_ref().ok_or_else(|| Error::Internal("A lane without buffers on the device.".into()))?;
        Ok([input.address(), output.address()])
    }

    /// Has `launch` compute on what was put into `host_input`, from there to as many `outputs` in `host_output`; both
    /// begin at the addresses it gets. What it returns is the address of the first of the outputs. `once` says that it
    /// reads samples and writes outputs about once each.
    pub(super) fn compute<T: Pod>(
        &mut self,
        samples: usize,
        outputs: usize,
        once: bool,
        launch: impl FnOnce(sys::CUstream, [sys::CUdeviceptr; 2]) -> Result<sys::CUdeviceptr, Error>,
    ) -> Result<(), Error> {
        let stream = self.stream.handle();
        if once && samples * size_of::<T>() <= MAPPED_BYTES {
            let buffers = [self.host_input.address(), self.host_output.address()];
            self.results = launch(stream, buffers)?;
            return Ok(());
        }
        let buffers = self.addresses()?;
        // SAFETY: the buffers are as long as these slices of theirs, and nobody touches them before the stream has been
        // waited for; where an error or a panic ends this early, `Settled` waits before anything else happens to them.
        unsafe {
            result::memcpy_htod_async(buffers[0], self.host_input.as_mut_slice::<T>(samples), stream)
                .map_err(failed("cuMemcpyHtoDAsync"))?;
            let from = launch(stream, buffers)?;
            self.results = self.host_output.address();
            result::memcpy_dtoh_async(self.host_output.as_mut_slice::<T>(outputs), from, stream)
                .map_err(failed("cuMemcpyDtoHAsync"))
        }
    }

    /// The samples that are to be computed on.
    pub(super) fn samples<T: Pod>(&mut self, count: usize) -> &mut [T] {
        self.host_input.as_mut_slice(count)
    }

    /// Waits for what was set going, and gives its outputs.
    pub(super) fn outputs<T: Pod>(&mut self, count: usize) -> Result<&[T], Error> {
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
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.stream.settle();
    }
}

/// What jobs are done on, one at a time: a lane. (Tests have others, which need no device.)
trait Worker: Send {
    /// What keeps a thread ready for it.
    type Ready;

    /// Makes this thread ready to work with it, and with others like it, until the result is dropped.
    fn ready(&self) -> Result<Self::Ready, Error>;

    /// Waits for all that was set going.
    fn wait(&self) -> Result<(), Error>;
}

impl Worker for Lane {
    type Ready = HostContext;

    fn ready(&self) -> Result<HostContext, Error> {
        let others = HostContext::save()?;
        self.stream.context().bind()?;
        Ok(others)
    }

    fn wait(&self) -> Result<(), Error> {
        Lane::wait(self)
    }
}

/// What a lane does on a piece, in two halves: between them the device works on it, and the thread on another lane's.
pub(super) trait Job<L = Lane> {
    /// Sets it going.
    fn start(&mut self, lane: &mut L) -> Result<(), Error>;

    /// Waits for it, and does what is left.
    fn finish(self, lane: &mut L) -> Result<(), Error>;
}

/// Lanes at work. Unless all of it is known to be over, they are waited for when this is dropped, whatever the reason:
/// an error, a panic in a job on any thread. Nothing is then under way when their buffers are used again or freed.
struct Settled<'l, L: Worker> {
    lanes: &'l mut [L],
    over: bool,
}

impl<L: Worker> Drop for Settled<'_, L> {
    fn drop(&mut self) {
        if !self.over {
            for lane in &*self.lanes {
                // What goes wrong here went wrong before.
                let _ = lane.wait();
            }
        }
    }
}

/// Has `lanes` do all jobs, each taking the next when it is done with one, by so many threads of a pool, or by this
/// one. Nothing is under way when this returns or unwinds.
fn share_out<L: Worker, J: Job<L> + Send>(
    lanes: &mut [L],
    mut jobs: impl ExactSizeIterator<Item = J> + Send,
    pool: Option<(&ThreadPool, usize)>,
    watch: &Watch,
) -> Result<(), Error> {
    let mut settled = Settled { lanes, over: false };
    let result = match pool {
        // Nobody is woken for what one thread does.
        None => take_turns(settled.lanes, &mut jobs, watch),
        Some((pool, threads)) => {
            let lanes_each = settled.lanes.len().div_ceil(threads);
            let (lanes, jobs) = (Mutex::new(settled.lanes.chunks_mut(lanes_each)), Mutex::new(jobs));
            let team = Team { lanes, jobs, outcome: Mutex::new(Ok(())), watch };
            // A panic of any thread comes out of here, when all of them are done.
            pool.in_place_scope(|scope| team.work(scope));
            team.outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
        }
    };
    // Each job has waited for its own.
    settled.over = result.is_ok();
    result
}

/// Does jobs on `lanes` in turn: while the device works on some, this thread copies for another.
fn take_turns<L: Worker, J: Job<L>>(
    lanes: &mut [L],
    jobs: &mut dyn Iterator<Item = J>,
    watch: &Watch,
) -> Result<(), Error> {
    // What each lane is at work on: the oldest is the next in turn.
    let mut under_way: VecDeque<J> = VecDeque::with_capacity(lanes.len());
    let (count, mut next) = (lanes.len(), 0);
    for mut job in jobs {
        watch.check()?;
        let lane = &mut lanes[next % count];
        if under_way.len() == count {
            under_way.pop_front().expect("all lanes are at work").finish(lane)?;
        }
        job.start(lane)?;
        under_way.push_back(job);
        next += 1;
    }
    let first = next - under_way.len();
    under_way.into_iter().enumerate().try_for_each(|(i, job)| job.finish(&mut lanes[(first + i) % count]))
}

/// Threads that share out lanes and pieces among themselves.
///
/// The thread that was called begins at once, and each that has begun calls two more, as long as there is something
/// left to do: to wake a thread takes about as long as a piece.
struct Team<'a, 'l, L, P> {
    /// What each thread is to work on.
    lanes: Mutex<ChunksMut<'l, L>>,
    jobs: Mutex<P>,
    /// The first error.
    outcome: Mutex<Result<(), Error>>,
    watch: &'a Watch,
}

impl<L: Worker, J: Job<L>, P: ExactSizeIterator<Item = J> + Send> Team<'_, '_, L, P> {
    fn work<'s>(&'s self, scope: &Scope<'s>) {
        let Some(lanes) = lock(&self.lanes).next() else {
            return;
        };
        for _ in 0..lock(&self.lanes).len().min(lock(&self.jobs).len()).min(2) {
            scope.spawn(move |scope| self.work(scope));
        }
        let mut run = || {
            let _ready = lanes.first().map(L::ready).transpose()?;
            // After an error nobody takes another job.
            let mut jobs =
                std::iter::from_fn(|| lock(&self.outcome).is_ok().then(|| lock(&self.jobs).next()).flatten());
            take_turns(lanes, &mut jobs, self.watch)
        };
        if let Err(error) = run() {
            let mut outcome = lock(&self.outcome);
            if outcome.is_ok() {
                *outcome = Err(error);
            }
        }
    }
}

/// A panic elsewhere is raised again when all threads are done; until then the work goes on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Some neighbouring outputs of an array, from the host's input to the host's output.
struct PieceJob<'a, T> {
    plan: &'a dyn Plan,
    piece: Piece,
    input: &'a [T],
    output: &'a mut [T],
    watch: &'a Watch,
}

impl<T: Pod> Job for PieceJob<'_, T> {
    fn start(&mut self, lane: &mut Lane) -> Result<(), Error> {
        let samples = &self.input[self.piece.input.clone()];
        lane.samples(samples.len()).copy_from_slice(samples);
        lane.compute::<T>(samples.len(), self.output.len(), true, |stream, [input, output]| {
            self.plan.launch(stream, &self.piece, input, output)?;
            Ok(output)
        })
    }

    fn finish(self, lane: &mut Lane) -> Result<(), Error> {
        self.output.copy_from_slice(lane.outputs(self.output.len())?);
        self.watch.count(self.output.len());
        Ok(())
    }
}

/// A piece that is gathered from all over an array.
struct Gathering<'a, 'o, T, G: Gather<T>> {
    gather: &'a G,
    piece: G::Piece,
    to: Vec<&'o mut [T]>,
    watch: &'a Watch,
}

impl<T: Pod, G: Gather<T>> Job for Gathering<'_, '_, T, G> {
    fn start(&mut self, lane: &mut Lane) -> Result<(), Error> {
        let [inputs, outputs] = self.gather.elements(&self.piece);
        self.gather.fill(&self.piece, lane.samples(inputs));
        lane.compute::<T>(inputs, outputs, true, |stream, addresses| {
            self.gather.launch(stream, &self.piece, addresses)?;
            Ok(addresses[1])
        })
    }

    fn finish(mut self, lane: &mut Lane) -> Result<(), Error> {
        let [_, outputs] = self.gather.elements(&self.piece);
        self.gather.take(&self.piece, lane.outputs(outputs)?, &mut self.to);
        self.watch.count(self.to.iter().map(|to| to.len()).sum());
        Ok(())
    }
}

/// Some numbers of the host on their way to the device.
struct Sending<'a, T> {
    input: &'a [T],
    to: sys::CUdeviceptr,
}

impl<T: Pod> Job for Sending<'_, T> {
    fn start(&mut self, lane: &mut Lane) -> Result<(), Error> {
        let stream = lane.stream.handle();
        let samples = lane.samples(self.input.len());
        samples.copy_from_slice(self.input);
        // SAFETY: who asked for an upload has room at that address for as many; as for the buffer, see `Lane::compute`.
        unsafe { result::memcpy_htod_async(self.to, samples, stream) }.map_err(failed("cuMemcpyHtoDAsync"))
    }

    fn finish(self, lane: &mut Lane) -> Result<(), Error> {
        lane.wait()
    }
}

/// Some numbers of the device on their way to the host.
struct Fetching<'a, T> {
    from: sys::CUdeviceptr,
    output: &'a mut [T],
}

impl<T: Pod> Job for Fetching<'_, T> {
    fn start(&mut self, lane: &mut Lane) -> Result<(), Error> {
        lane.results = lane.host_output.address();
        let results = lane.host_output.as_mut_slice::<T>(self.output.len());
        // SAFETY: who asked for a download has as many at that address; as for the buffer, see `Lane::compute`.
        unsafe { result::memcpy_dtoh_async(results, self.from, lane.stream.handle()) }
            .map_err(failed("cuMemcpyDtoHAsync"))
    }

    fn finish(self, lane: &mut Lane) -> Result<(), Error> {
        self.output.copy_from_slice(lane.outputs(self.output.len())?);
        Ok(())
    }
}

/// The lanes of a device.
pub(super) struct Staging {
    lanes: Vec<Lane>,
    /// Buffers for arrays that stay on the device for a call, kept for the next.
    spare: Option<[DeviceBuffer; 2]>,
}

impl Staging {
    pub(super) fn new() -> Staging {
        Staging { lanes: Vec::new(), spare: None }
    }

    /// Computes `output` from `input`, of as many elements, by `plan`. At most `budget` bytes of device memory are
    /// held, if a tile fits in it.
    ///
    /// Each output is counted in `watch` when it is there.
    pub(super) fn stream<T: Pod + Send + Sync>(
        &mut self,
        context: &Arc<Context>,
        plan: &dyn Plan,
        input: &[T],
        output: &mut [T],
        budget: usize,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!(input.len(), output.len());
        let elements = input.len();
        if elements == 0 {
            return Ok(());
        }
        let halo = plan.halo();
        let cut = Cut::new(elements, size_of::<T>(), plan.tile(), halo, Workers::count(), budget);
        let cut = self.prepare(context, cut, size_of::<T>(), plan.tile(), halo, budget)?;
        let jobs = output.chunks_mut(cut.piece).enumerate().map(|(i, output)| {
            let start = i * cut.piece;
            PieceJob { plan, piece: Piece::new(start..start + output.len(), halo, elements), input, output, watch }
        });
        self.share(cut.lanes, jobs, watch)
    }

    /// Sees that there are lanes for pieces of so many bytes of input and of output: as many as wished, or as the
    /// budget and memory give, but one.
    pub(super) fn prepare_lanes(
        &mut self,
        context: &Arc<Context>,
        lanes: usize,
        bytes: [usize; 2],
        budget: usize,
    ) -> Result<usize, Error> {
        let lanes = lanes.min(MAX_LANES).min(budget / (bytes[0] + bytes[1])).max(1);
        match self.grow(context, lanes, bytes, budget, false) {
            // Once more, with buffers that are no larger than they must be, and without what is only kept.
            Err(Error::OutOfMemory(_)) => {
                self.release();
                self.grow(context, lanes, bytes, budget, true)
            }
            result => result,
        }
    }

    /// Has the first `lanes` lanes, for which there was [room](Staging::prepare_lanes) made, compute pieces that are
    /// gathered from all over an array, each to some parts of the output. Each output is counted in `watch` when it is
    /// there.
    pub(super) fn gather<'a, T: Pod + Send + 'a, G: Gather<T>>(
        &mut self,
        lanes: usize,
        gather: &G,
        pieces: impl Iterator<Item = (G::Piece, Vec<&'a mut [T]>)>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let jobs: Vec<_> = pieces.map(|(piece, to)| Gathering { gather, piece, to, watch }).collect();
        self.share(lanes, jobs.into_iter(), watch)
    }

    /// Copies `input` to the address `to` on the device, by all lanes at once. It is there when this returns.
    ///
    /// # Safety
    /// There is room for it, and nothing that uses it is under way.
    pub(super) unsafe fn upload<T: Pod + Send + Sync>(
        &mut self,
        context: &Arc<Context>,
        input: &[T],
        to: sys::CUdeviceptr,
        watch: &Watch,
    ) -> Result<(), Error> {
        let cut = self.prepare_transfer(context, input.len(), size_of::<T>())?;
        let place = |i: usize| to + (i * cut.piece * size_of::<T>()) as sys::CUdeviceptr;
        let jobs = input.chunks(cut.piece).enumerate().map(|(i, input)| Sending { input, to: place(i) });
        self.share(cut.lanes, jobs, watch)
    }

    /// Copies what is at the address `from` on the device to `output`, by all lanes at once.
    ///
    /// # Safety
    /// There is as much, and nothing that writes it is under way.
    pub(super) unsafe fn download<T: Pod + Send + Sync>(
        &mut self,
        context: &Arc<Context>,
        from: sys::CUdeviceptr,
        output: &mut [T],
        watch: &Watch,
    ) -> Result<(), Error> {
        let cut = self.prepare_transfer(context, output.len(), size_of::<T>())?;
        let place = |i: usize| from + (i * cut.piece * size_of::<T>()) as sys::CUdeviceptr;
        let jobs = output.chunks_mut(cut.piece).enumerate().map(|(i, output)| Fetching { from: place(i), output });
        self.share(cut.lanes, jobs, watch)
    }

    /// Makes lanes with a buffer of `bytes` each way, within the budget, and says how many there are: `wanted`, or
    /// fewer, but one at the least.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] where there is no memory for one. `short` says that it was so before: then buffers are no
    /// larger than they must be.
    pub(super) fn reserve(
        &mut self,
        context: &Arc<Context>,
        wanted: usize,
        bytes: usize,
        budget: usize,
        short: bool,
    ) -> Result<usize, Error> {
        match self.grow(context, wanted, [bytes; 2], budget, short) {
            // Nobody needs what is only kept.
            Err(Error::OutOfMemory(_)) if self.spare.take().is_some() => {
                self.grow(context, wanted, [bytes; 2], budget, short)
            }
            result => result,
        }
    }

    /// Has the first `lanes` lanes do all jobs, each taking the next when it is done with one. Nothing is under way
    /// when this returns, also with an error, or when the watch has said stop, or unwinds.
    pub(super) fn share<J: Job + Send>(
        &mut self,
        lanes: usize,
        jobs: impl ExactSizeIterator<Item = J> + Send,
        watch: &Watch,
    ) -> Result<(), Error> {
        // Where each lane has but one job, two lanes to a thread: to wake as many again costs more than they save.
        let threads = if jobs.len() > lanes { lanes } else { lanes.div_ceil(2) }.min(Workers::count());
        let pool = if threads > 1 { Workers::get() } else { None };
        share_out(&mut self.lanes[..lanes], jobs, pool.as_deref().map(|pool| (pool, threads)), watch)
    }

    /// Gives up the buffers, and says whether there were any.
    pub(super) fn release(&mut self) -> bool {
        let any = !self.lanes.is_empty() || self.spare.is_some();
        self.lanes.clear();
        self.spare = None;
        any
    }

    /// The bytes that the lanes hold on the device.
    pub(super) fn device_bytes(&self) -> usize {
        self.lanes.iter().map(Lane::device_bytes).sum()
    }

    /// Gives up what the lanes hold on the device. They make it again when they need it.
    pub(super) fn release_device(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.device = None);
    }

    /// The buffers that were [kept](Staging::keep), if any.
    pub(super) fn take_spare(&mut self) -> Option<[DeviceBuffer; 2]> {
        self.spare.take()
    }

    /// Keeps a call's own buffers for the next call, unless that is more than `budget` bytes together with what the
    /// lanes hold.
    pub(super) fn keep(&mut self, buffers: [DeviceBuffer; 2], budget: usize) {
        if buffers.iter().map(DeviceBuffer::bytes).sum::<usize>() + self.device_bytes() <= budget {
            self.spare = Some(buffers);
        }
    }

    /// Sees that there are lanes for `cut`, or for a smaller one where memory is short.
    fn prepare(
        &mut self,
        context: &Arc<Context>,
        mut cut: Cut,
        size: usize,
        tile: usize,
        halo: usize,
        budget: usize,
    ) -> Result<Cut, Error> {
        let mut short = false;
        loop {
            let bytes = [(cut.piece + 2 * halo.max(MIN_HALO)) * size, cut.piece * size];
            match self.grow(context, cut.lanes, bytes, budget, short) {
                Ok(lanes) => return Ok(Cut { lanes, ..cut }),
                // Nobody needs what is only kept.
                Err(Error::OutOfMemory(_)) if self.spare.take().is_some() => {}
                Err(Error::OutOfMemory(text)) => {
                    let smallest = lane_bytes(cut.piece, size, halo);
                    let advice = || {
                        Error::OutOfMemory(format!("No memory for the smallest of buffers, {smallest} bytes. {text}"))
                    };
                    cut = cut.smaller(tile).ok_or_else(advice)?;
                    short = true;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes so many lanes for pieces of so many bytes of input and of output, within the budget, and says how many
    /// there are: fewer than wished where neither budget nor memory gives more, one at the least. With memory short,
    /// buffers are no larger than they must be.
    fn grow(
        &mut self,
        context: &Arc<Context>,
        lanes: usize,
        bytes: [usize; 2],
        budget: usize,
        short: bool,
    ) -> Result<usize, Error> {
        // Rounded up, so that arrays which grow a little from call to call find a buffer; but not beyond what all lanes
        // together may hold.
        let mut room = bytes.map(rounded);
        if short || lanes * (room[0] + room[1]) > budget {
            room = bytes;
        }
        let room_bytes = room[0] + room[1];
        let all_fit = self.lanes.iter().take(lanes).all(|lane| lane.fits(bytes));
        // One tile is always allowed, whatever the budget.
        if !all_fit || self.device_bytes() > budget.max(room_bytes) {
            self.lanes.clear();
        }
        if self.spare.as_ref().is_some_and(|spare| {
            spare[0].bytes() + spare[1].bytes() + lanes * room_bytes + self.device_bytes() > budget
        }) {
            self.spare = None;
        }
        for made in 0..lanes {
            if self.lanes.get(made).is_some_and(|lane| lane.device.is_some()) {
                continue;
            }
            if made > 0 && self.device_bytes() + room_bytes > budget {
                return Ok(made);
            }
            match self.make_lane(context, made, room) {
                Ok(()) => {}
                // Those that there are do the work.
                Err(Error::OutOfMemory(_)) if made > 0 => return Ok(made),
                Err(error) => return Err(error),
            }
        }
        Ok(lanes)
    }

    /// Makes the lane `number`, which is one of those there are or the next, with its buffers on the device.
    fn make_lane(&mut self, context: &Arc<Context>, number: usize, room: [usize; 2]) -> Result<(), Error> {
        if number == self.lanes.len() {
            self.lanes.push(Lane::new(context, room)?);
        }
        self.lanes[number].device = Some([DeviceBuffer::new(context, room[0])?, DeviceBuffer::new(context, room[1])?]);
        Ok(())
    }

    /// Sees that there are lanes that can copy so many elements of so many bytes, with whatever they may have on the
    /// device.
    fn prepare_transfer(&mut self, context: &Arc<Context>, elements: usize, size: usize) -> Result<Cut, Error> {
        let cut = Cut::new(elements, size, 1, 0, Workers::count(), usize::MAX);
        let bytes = cut.piece * size;
        let on_host = |lane: &Lane| lane.host_input.bytes() >= bytes && lane.host_output.bytes() >= bytes;
        if !self.lanes.iter().take(cut.lanes).all(on_host) {
            self.lanes.clear();
        }
        while self.lanes.len() < cut.lanes {
            match Lane::new(context, [rounded(bytes); 2]) {
                Ok(lane) => self.lanes.push(lane),
                // Those that there are do the work.
                Err(Error::OutOfMemory(_)) if !self.lanes.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Cut { lanes: self.lanes.len().min(cut.lanes), ..cut })
    }
}

/// The size of buffer that is made where this many bytes are needed.
fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(MIN_PIECE_BYTES)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use rayon::ThreadPoolBuilder;

    use super::*;

    /// A lane without a device: it is at work from a job's start until it is waited for.
    #[derive(Default)]
    struct FakeLane {
        at_work: AtomicBool,
        waits: AtomicUsize,
    }

    impl Worker for FakeLane {
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

    impl Job<FakeLane> for FakeJob<'_> {
        fn start(&mut self, lane: &mut FakeLane) -> Result<(), Error> {
            assert!(!lane.at_work.swap(true, Ordering::Relaxed), "a lane does one job at a time");
            match self.trouble {
                Trouble::ErrorInStart => return Err(Error::Cuda("start".into())),
                Trouble::PanicInStart => panic!("in start"),
                Trouble::Stop => self.watch.stop(),
                _ => {}
            }
            Ok(())
        }

        fn finish(self, lane: &mut FakeLane) -> Result<(), Error> {
            match self.trouble {
                Trouble::ErrorInFinish => return Err(Error::Cuda("finish".into())),
                Trouble::PanicInFinish => panic!("in finish"),
                _ => {}
            }
            self.finished.fetch_add(1, Ordering::Relaxed);
            lane.wait()
        }
    }

    /// Whatever happens to a job on whichever thread, nothing is under way when it is over; and nobody waits twice
    /// where nothing happens.
    #[test]
    fn lanes_are_waited_for_whatever_way_jobs_end() {
        use Trouble::{ErrorInFinish, ErrorInStart, None, PanicInFinish, PanicInStart, Stop};
        const JOBS: usize = 9;
        let pool = ThreadPoolBuilder::new().num_threads(3).panic_handler(|_| {}).build().unwrap();
        for trouble in [None, ErrorInStart, PanicInStart, ErrorInFinish, PanicInFinish, Stop] {
            for at in 0..JOBS {
                for (count, threads) in [(1, 1), (2, 1), (4, 1), (2, 2), (4, 2), (5, 3), (JOBS, 3)] {
                    let what = format!("{trouble:?} in job {at} of {count} lanes, {threads} threads");
                    let mut lanes: Vec<FakeLane> = (0..count).map(|_| FakeLane::default()).collect();
                    let (watch, finished) = (Watch::new(), AtomicUsize::new(0));
                    let job = |number| FakeJob {
                        trouble: if number == at { trouble } else { None },
                        watch: &watch,
                        finished: &finished,
                    };
                    let team = (threads > 1).then_some((&pool, threads));
                    let outcome =
                        catch_unwind(AssertUnwindSafe(|| share_out(&mut lanes, (0..JOBS).map(job), team, &watch)));
                    match trouble {
                        None => assert!(matches!(outcome, Ok(Ok(()))), "{what}"),
                        ErrorInStart | ErrorInFinish => assert!(matches!(outcome, Ok(Err(Error::Cuda(_)))), "{what}"),
                        PanicInStart | PanicInFinish => assert!(outcome.is_err(), "{what}"),
                        // There may have been nothing left to stop.
                        Stop => assert!(matches!(outcome, Ok(Ok(()) | Err(Error::Interrupted))), "{what}"),
                    }
                    assert!(!lanes.iter().any(|lane| lane.at_work.load(Ordering::Relaxed)), "{what}");
                    if trouble == None {
                        let waits: usize = lanes.iter().map(|lane| lane.waits.load(Ordering::Relaxed)).sum();
                        assert_eq!((finished.load(Ordering::Relaxed), waits), (JOBS, JOBS), "{what}");
                    }
                }
            }
        }
    }

    const TILE: usize = 640;
    const SIZE: usize = 8;

    fn cut(elements: usize, threads: usize, budget: usize) -> Cut {
        Cut::new(elements, SIZE, TILE, 10, threads, budget)
    }

    #[test]
    fn small_arrays_take_one_lane_and_large_ones_all() {
        assert_eq!(cut(1, 16, DEFAULT_DEVICE_BYTES), Cut { lanes: 1, piece: TILE });
        assert_eq!(cut(10_000, 16, DEFAULT_DEVICE_BYTES).lanes, 1);
        let large = cut(100_000_000, 16, DEFAULT_DEVICE_BYTES);
        assert_eq!(large.lanes, 16);
        assert!(large.piece * SIZE >= PIECE_BYTES && large.piece * SIZE < PIECE_BYTES + TILE * SIZE);
        assert_eq!(cut(100_000_000, 2, DEFAULT_DEVICE_BYTES).lanes, 4);
    }

    #[test]
    fn a_cut_stays_within_its_budget_down_to_one_tile() {
        for budget in (0..200).map(|i| i * 7919).chain([1 << 24, 1 << 26, DEFAULT_DEVICE_BYTES]) {
            for elements in [1, 639, 640, 641, 65_536, 1_000_000, 30_000_000] {
                for threads in [1, 2, 16, 64] {
                    let cut = cut(elements, threads, budget);
                    assert!(cut.lanes >= 1 && cut.piece >= TILE && cut.piece.is_multiple_of(TILE));
                    let held = cut.lanes * lane_bytes(cut.piece, SIZE, 10);
                    assert!(
                        held <= budget || (cut.lanes == 1 && cut.piece == TILE),
                        "{cut:?} holds {held} of {budget}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_cut_shrinks_to_one_tile_and_no_further() {
        let mut cut = cut(100_000_000, 16, DEFAULT_DEVICE_BYTES);
        let mut steps = 0;
        while let Some(smaller) = cut.smaller(TILE) {
            assert!(smaller.lanes * smaller.piece < cut.lanes * cut.piece && smaller.piece.is_multiple_of(TILE));
            cut = smaller;
            steps += 1;
        }
        assert_eq!(cut, Cut { lanes: 1, piece: TILE });
        assert!(steps > 8);
    }

    #[test]
    fn a_piece_has_its_halo_where_the_array_has_it() {
        assert_eq!(Piece::new(0..640, 10, 2000).input, 0..650);
        assert_eq!(Piece::new(640..1280, 10, 2000).input, 630..1290);
        assert_eq!(Piece::new(1280..1995, 10, 2000).input, 1270..2000);
        assert_eq!(Piece::new(0..5, 10, 5).input, 0..5);
    }
}
