//! The one stream for all that is done with arrays which lie on a device, each call's work behind that of the call
//! before.
//!
//! # Rationale
//! Who computes on such arrays need not wait for the device. A buffer that a call gives back may be another's at once,
//! since the other's work comes behind; so buffers that nobody needs at the moment are kept in a pool, and once it is
//! warm no call asks the driver for memory.
//!
//! # Bounds
//! - The pool holds no more than the arrays that lived at once, at the most since it was last emptied, up to a quarter
//!   of the device's memory; or [`DEFAULT_DEVICE_BYTES`](crate::cuda::DEFAULT_DEVICE_BYTES) where that is more. With a
//!   strict budget, what is left of that.
//! - What is under way takes a device about a twentieth of a second: so whoever waits for it can be interrupted.
//!
//! # Errors
//! What goes wrong on the device is told by a later call of the driver, perhaps in a later call of ours: the error then
//! names those that were under way.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use cudarc::driver::{result, sys};

use super::buffers::Pool;
use super::pace::{GROWTH, SharedPace};
use crate::cuda::driver::context::{Context, Event, Stream};
use crate::cuda::driver::error::failed;
use crate::cuda::driver::memory::{DeviceBuffer, Idle, PinnedBuffer};
use crate::process::PerProcess;
use crate::stencil::Error;

/// As many batches, in the sense of [`pace`](super::pace), may be under way before one of them is waited for.
const MOST_BATCHES: f64 = 2.0;

/// The most calls that are under way: about as many launches as a stream takes without making its caller wait.
const MOST_CALLS: usize = 500;

/// Above this part of a batch, a call's time is taken, for the pace. A smaller call would teach it nothing: a batch
/// grows to no more than [`GROWTH`] times what was seen. (To take the time of 10^6 elements costs as much as to compute
/// them.)
const WORTH_TIMING: f64 = 1.0 / GROWTH as f64;

/// Of so many calls, one after the other, the last one gets an event: to record one takes a third as long as to launch a
/// kernel, and between two kernels it holds the device up (by 2 us on an H100).
const CALLS_AN_EVENT: usize = 16;

/// Calls that share an event are no more than this part of a batch together: so whoever waits for the first of those under
/// way waits for little.
const BATCHES_AN_EVENT: f64 = 0.25;

/// The most calls that an error names.
const NAMED: usize = 5;

/// The queue of a device.
#[derive(Debug)]
pub(crate) struct Queue {
    stream: Arc<Stream>,
    /// How often the stream was asked for, or something was put on it; and up to which of these it has been waited for.
    put: AtomicU64,
    waited: AtomicU64,
    /// How often a wait has failed: what was believed to be done before is not known to be.
    failures: AtomicU64,
    state: Mutex<State>,
    /// Small results land here on their way to the host: the driver takes longer to write to pages that may be moved.
    landing: Mutex<Option<PinnedBuffer>>,
}

/// The most bytes that land at once.
pub(crate) const LANDING_BYTES: usize = 64 << 10;

#[derive(Debug, Default)]
struct State {
    pool: Pool<DeviceBuffer>,
    /// What was put on the stream since it was last waited for is over up to here.
    calls: VecDeque<Call>,
    /// The parts of a batch that they are, together.
    batches: f64,
    /// What is on its way to the device, for the call that is being put on the stream, each with the count of what was
    /// put there up to it.
    sent: Vec<(u64, Vec<u8>)>,
    /// Events for calls to come.
    events: Vec<Event>,
}

/// What a call has put on the stream.
#[derive(Debug)]
struct Call {
    name: &'static str,
    /// When it began, where its time is taken.
    begin: Option<Event>,
    /// Where there is none, it is over when the next one is that has one.
    end: Option<Event>,
    batches: f64,
    learns: Option<(SharedPace, usize)>,
    _sent: Vec<(u64, Vec<u8>)>,
}

/// Work that is put on the stream, for the books.
#[derive(Debug)]
pub(crate) struct Load<'a> {
    /// What it is, for people.
    pub(crate) name: &'static str,
    /// The pace that says how much is a batch, and the units of it that this is; `None` where it is known without.
    pub(crate) pace: Option<(&'a SharedPace, usize)>,
    /// The bytes that it moves on the device.
    pub(crate) bytes: usize,
}

impl Load<'_> {
    /// The part of a batch that it is.
    fn batches(&self) -> f64 {
        match self.pace {
            Some((pace, units)) => units as f64 / pace.batch().max(1) as f64,
            // The slowest of devices moves 100 GB a second; a batch is 20 ms.
            None => self.bytes as f64 / 2e9,
        }
    }
}

/// The queues that somebody holds, by the ordinals of their devices.
static HELD: PerProcess<Mutex<BTreeMap<usize, Weak<Queue>>>> = PerProcess::new();

impl Queue {
    /// The queue of this context: the one that arrays in it hold, or a new one.
    pub(crate) fn of(context: &Arc<Context>) -> Result<Arc<Queue>, Error> {
        let mut held = lock(HELD.get());
        let found = held.get(&context.ordinal()).and_then(Weak::upgrade);
        if let Some(queue) = found.filter(|queue| Arc::ptr_eq(queue.context(), context)) {
            return Ok(queue);
        }
        let limit = context.total_memory()? / 4;
        let queue = Arc::new(Queue {
            stream: Stream::new(context)?,
            put: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            state: Mutex::new(State { pool: Pool { limit, ..Pool::default() }, ..State::default() }),
            landing: Mutex::default(),
        });
        held.insert(context.ordinal(), Arc::downgrade(&queue));
        Ok(queue)
    }

    /// The stream, for who is about to put something on it.
    pub(crate) fn stream(&self) -> &Arc<Stream> {
        self.put.fetch_add(1, Ordering::SeqCst);
        &self.stream
    }

    /// The context that all of it is in.
    pub(crate) fn context(&self) -> &Arc<Context> {
        self.stream.context()
    }

    /// How often a wait has failed.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// That work is about to be put on the stream. Its time begins now, if it is worth taking.
    pub(crate) fn begin(&self, load: &Load) -> Result<Beginning, Error> {
        let mut state = lock(&self.state);
        let batches = load.batches();
        let begin = match load.pace {
            Some(_) if batches > WORTH_TIMING => Some(state.event(self.stream())?),
            _ => None,
        };
        if let Some(begin) = &begin {
            begin.record(self.stream())?;
        }
        Ok(Beginning(begin))
    }

    /// That it is there. Where more is under way than may be, this waits for the first of it.
    pub(crate) fn submitted(&self, load: &Load, beginning: Beginning) -> Result<(), Error> {
        let mut state = lock(&self.state);
        let learns = beginning.0.as_ref().and(load.pace).map(|(pace, units)| (pace.clone(), units));
        let batches = load.batches();
        let without_event = state.calls.iter().rev().take_while(|call| call.end.is_none());
        let (calls, together) = without_event.fold((1, batches), |(n, sum), call| (n + 1, sum + call.batches));
        let is_last = learns.is_some() || calls >= CALLS_AN_EVENT || together > BATCHES_AN_EVENT;
        // Asked for in any case: what is on the stream counts as put there.
        let stream = self.stream();
        let end = if is_last { Some(state.event(stream)?) } else { None };
        if let Some(end) = &end {
            end.record(stream)?;
        }
        state.batches += batches;
        let sent = std::mem::take(&mut state.sent);
        state.calls.push_back(Call { name: load.name, begin: beginning.0, end, batches, learns, _sent: sent });
        while state.calls.len() > 1 && (state.batches > MOST_BATCHES || state.calls.len() > MOST_CALLS) {
            state.retire()?;
        }
        Ok(())
    }

    /// An event that happens when all that is there by now is over.
    pub(crate) fn mark(&self) -> Result<Event, Error> {
        let event = Event::new(self.context())?;
        event.record(self.stream())?;
        Ok(event)
    }

    /// Waits for all that is under way.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        let Some(put) = self.not_waited_for() else {
            return Ok(());
        };
        self.wait_for_stream(put).inspect_err(|_| {
            self.failures.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// The count of what was put on the stream, if some of it has not been waited for.
    fn not_waited_for(&self) -> Option<u64> {
        let put = self.put.load(Ordering::SeqCst);
        (self.waited.load(Ordering::SeqCst) < put).then_some(put)
    }

    /// Waits for what was put on the stream up to this count at least: slots send coefficients from several threads.
    fn wait_for_stream(&self, put: u64) -> Result<(), Error> {
        // Not under the lock: whoever drops an array meanwhile is not to wait, too.
        self.stream.synchronize()?;
        let mut state = lock(&self.state);
        while !state.calls.is_empty() {
            state.retire()?;
        }
        self.over(&mut state, put);
        Ok(())
    }

    /// That the stream has been waited for, when this was the count.
    fn over(&self, state: &mut State, put: u64) {
        state.sent.retain(|&(number, _)| number > put);
        self.waited.fetch_max(put, Ordering::SeqCst);
    }

    /// Waits for all that is under way, if there is anything, whatever has happened.
    pub(crate) fn finish(&self) {
        self.settle(&mut lock(&self.state));
    }

    /// Waits for all that is under way, whatever has happened.
    fn settle(&self, state: &mut State) {
        if let Some(put) = self.not_waited_for() {
            self.stream.settle();
            state.calls.clear();
            state.batches = 0.0;
            self.over(state, put);
        }
    }

    /// Puts a copy of `values` to the address `to` on the stream.
    ///
    /// # Safety
    /// There is room for them, and who reads what is there does so on this stream.
    pub(crate) unsafe fn send(&self, values: &[u8], to: sys::CUdeviceptr) -> Result<(), Error> {
        let values = values.to_vec();
        // SAFETY: as the caller says; the source stays until the stream has been waited for.
        let sent = unsafe { result::memcpy_htod_async(to, &values, self.stream().handle()) };
        // Counted once more, now that it is there: who waited meanwhile may have come before it. Also after an error:
        // nobody knows whether it is still read.
        let number = self.put.fetch_add(1, Ordering::SeqCst) + 1;
        lock(&self.state).sent.push((number, values));
        sent.map_err(failed("cuMemcpyHtoDAsync"))
    }

    /// Copies what lies at the address `from` to the host, where it is when this returns: [`LANDING_BYTES`] at the most.
    ///
    /// # Safety
    /// There is as much, and what writes it is on this stream.
    pub(crate) unsafe fn fetch(&self, from: sys::CUdeviceptr, output: &mut [u8]) -> Result<(), Error> {
        let bytes = output.len();
        self.land(output, |landing, stream| {
            // SAFETY: as the caller says; it is waited for.
            unsafe { result::memcpy_dtoh_async(landing.as_mut_slice::<u8>(bytes), from, stream) }
                .map_err(failed("cuMemcpyDtoHAsync"))
        })
    }

    /// Has `put` put what writes `output` on the stream, and waits for it. It is written to a buffer that the device reaches:
    /// [`LANDING_BYTES`] at the most.
    pub(crate) fn land(
        &self,
        output: &mut [u8],
        put: impl FnOnce(&mut PinnedBuffer, sys::CUstream) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut landing = lock(&self.landing);
        let landing = match &mut *landing {
            Some(landing) => landing,
            none => none.insert(PinnedBuffer::new(self.context(), LANDING_BYTES)?),
        };
        // Whatever happens, nothing is written behind this.
        let idle = Idle::new(self.stream());
        put(landing, idle.stream().handle())?;
        self.wait().map(|()| idle.waited_for())?;
        output.copy_from_slice(landing.as_mut_slice(output.len()));
        Ok(())
    }

    /// Puts a copy of `bytes` bytes from one address on the device to another on the stream.
    ///
    /// # Safety
    /// There are as many at both addresses, and all that uses them is on this stream.
    pub(crate) unsafe fn copy(&self, to: sys::CUdeviceptr, from: sys::CUdeviceptr, bytes: usize) -> Result<(), Error> {
        let load = Load { name: "a copy", pace: None, bytes: 2 * bytes };
        let beginning = self.begin(&load)?;
        // SAFETY: as the caller says.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream().handle()) }
            .map_err(failed("cuMemcpyDtoDAsync"))?;
        self.submitted(&load, beginning)
    }

    /// `error`, with what was under way when it was met.
    pub(crate) fn blame(&self, error: Error) -> Error {
        let state = lock(&self.state);
        match error {
            Error::Cuda(text) if !state.calls.is_empty() => {
                let names: Vec<_> = state.calls.iter().take(NAMED).map(|call| call.name).collect();
                let more = state.calls.len() - names.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                Error::Cuda(format!("{text} Under way on the device were: {}{more}.", names.join(", ")))
            }
            error => error,
        }
    }

    // ---- memory

    /// A buffer of `bytes` bytes at least, for a call's own use: of the pool, or a new one. What a call before this one
    /// did with it is ahead on the stream.
    pub(crate) fn take(&self, bytes: usize) -> Result<DeviceBuffer, Error> {
        let found = lock(&self.state).pool.take(bytes);
        let Some(buffer) = found else {
            return DeviceBuffer::new(self.context(), bytes);
        };
        // A new one would not be had in a context that something has broken; nor is this one to be.
        if let Err(error) = self.stream.check() {
            self.give(buffer);
            return Err(error);
        }
        Ok(buffer)
    }

    /// A buffer of `bytes` bytes at least, for an array that lives until it is [given up](Queue::give_up).
    pub(crate) fn take_for_array(&self, bytes: usize) -> Result<DeviceBuffer, Error> {
        let buffer = self.take(bytes)?;
        lock(&self.state).pool.count(buffer.bytes(), 0);
        Ok(buffer)
    }

    /// Takes back what was taken for a call.
    pub(crate) fn give(&self, buffer: DeviceBuffer) {
        let mut state = lock(&self.state);
        let dropped = state.pool.keep(buffer);
        self.drop_all(&mut state, dropped);
    }

    /// Takes back what was taken for an array.
    pub(crate) fn give_up(&self, buffer: DeviceBuffer) {
        let mut state = lock(&self.state);
        state.pool.count(0, buffer.bytes());
        let dropped = state.pool.keep(buffer);
        self.drop_all(&mut state, dropped);
    }

    /// A buffer of an array becomes a call's own, and that one the array's.
    pub(crate) fn exchange(&self, of_array: &mut DeviceBuffer, own: &mut DeviceBuffer) {
        let mut state = lock(&self.state);
        state.pool.count(own.bytes(), of_array.bytes());
        std::mem::swap(of_array, own);
    }

    /// Frees buffers. No work may be under way with them then.
    fn drop_all(&self, state: &mut State, buffers: Vec<DeviceBuffer>) {
        if !buffers.is_empty() {
            self.settle(state);
        }
        drop(buffers);
    }

    /// Sets how many bytes the pool may hold; `strict` says that it may not hold more beside arrays that live.
    pub(crate) fn bound(&self, bytes: usize, strict: bool) {
        let mut state = lock(&self.state);
        (state.pool.bound, state.pool.strict) = (bytes, strict);
    }

    /// The bytes in the pool, and how many of `wanted` buffers of `bytes` bytes it has not.
    pub(crate) fn stock(&self, wanted: usize, bytes: usize) -> (usize, usize) {
        let state = lock(&self.state);
        (state.pool.bytes(), wanted.saturating_sub(state.pool.fitting(bytes)))
    }

    /// Frees what is in the pool, and says whether there was anything.
    pub(crate) fn release(&self) -> bool {
        // Ahead of the other lock, as whoever lands takes them.
        drop(lock(&self.landing).take());
        let mut state = lock(&self.state);
        state.pool.peak = state.pool.live;
        let buffers = std::mem::take(&mut state.pool.free);
        let any = !buffers.is_empty();
        self.drop_all(&mut state, buffers);
        any
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // What goes next may still be in use.
        if self.context().is_ours() && self.not_waited_for().is_some() {
            self.stream.settle();
        }
    }
}

/// Buffers that one call uses. They go back to the queue at its end, whatever that is.
#[derive(Debug)]
pub(crate) struct CallBuffers {
    queue: Arc<Queue>,
    buffers: Vec<DeviceBuffer>,
}

impl CallBuffers {
    /// None yet.
    pub(crate) fn new(queue: &Arc<Queue>) -> CallBuffers {
        CallBuffers { queue: queue.clone(), buffers: Vec::new() }
    }

    /// One more, of `bytes` bytes at least, and where it lies.
    pub(crate) fn room_for(&mut self, bytes: usize) -> Result<sys::CUdeviceptr, Error> {
        let buffer = self.queue.take(bytes.max(1))?;
        let address = buffer.address();
        self.buffers.push(buffer);
        Ok(address)
    }

    /// Where the first and the last of them lie; 0 where there are none.
    pub(crate) fn ends(&self) -> (sys::CUdeviceptr, sys::CUdeviceptr) {
        let address = |buffer: Option<&DeviceBuffer>| buffer.map_or(0, DeviceBuffer::address);
        (address(self.buffers.first()), address(self.buffers.last()))
    }

    /// All of them, in their order.
    pub(crate) fn buffers(&mut self) -> &mut [DeviceBuffer] {
        &mut self.buffers
    }
}

impl Drop for CallBuffers {
    fn drop(&mut self) {
        self.buffers.drain(..).for_each(|buffer| self.queue.give(buffer));
    }
}

/// The beginning of a call's work on the stream.
#[derive(Debug)]
pub(crate) struct Beginning(Option<Event>);

impl Beginning {
    /// Without the time, so that the pace learns nothing from this call.
    pub(crate) fn without_time(self) -> Beginning {
        Beginning(None)
    }
}

impl State {
    fn event(&mut self, stream: &Stream) -> Result<Event, Error> {
        self.events.pop().map_or_else(|| Event::new(stream.context()), Ok)
    }

    /// Waits for the first of the calls under way that has an event, and so for those before it, and learns from it. Where
    /// none has, all of them have been waited for.
    fn retire(&mut self) -> Result<(), Error> {
        let with_event = self.calls.iter().position(|call| call.end.is_some());
        let over = with_event.map_or(self.calls.len(), |at| at + 1);
        if let Some(Call { begin, end: Some(end), learns, .. }) = with_event.and_then(|at| self.calls.get(at)) {
            end.wait()?;
            if let (Some(begin), Some((pace, units))) = (begin, learns) {
                pace.took(*units, Duration::from_secs_f32(begin.elapsed(end)?.max(0.0) / 1e3));
            }
        }
        for call in self.calls.drain(..over) {
            self.batches -= call.batches;
            self.events.extend(call.begin.into_iter().chain(call.end));
        }
        if self.calls.is_empty() {
            self.batches = 0.0;
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
