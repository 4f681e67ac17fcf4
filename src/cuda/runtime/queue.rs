//! The one stream for all work on arrays that lie on a device: each call's work runs after that of the call before.
//!
//! # Rationale
//! A caller that computes on such arrays need not wait for the device. A buffer that a call returns can be reused at
//! once, since its next user's work comes later on the stream; so unused buffers are kept in a pool, and once it is
//! warm no call asks the driver for memory.
//!
//! # Bounds
//! - The pool holds no more than the peak of live arrays since it was last emptied, up to a quarter of the device's
//!   memory; or [`DEFAULT_DEVICE_BYTES`](crate::cuda::DEFAULT_DEVICE_BYTES) where that is more. With a strict budget,
//!   the rest of the budget.
//! - Work in flight takes a device about a twentieth of a second: so a wait for it can be interrupted.
//!
//! # Errors
//! A failure on the device is reported by a later call of the driver, perhaps in a later call of ours: the error then
//! names the calls that were in flight.

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
use crate::platform::process::PerProcess;
use crate::stencil::Error;

/// Maximum number of batches, in the sense of [`pace`](super::pace), in flight before one of them is waited for.
const MAX_BATCHES: f64 = 2.0;

/// Maximum number of calls in flight: about the number of launches that a stream takes without blocking its caller.
const MAX_CALLS: usize = 500;

/// Calls above this part of a batch are timed, for the pace. A smaller call would teach it nothing: a batch grows to no
/// more than [`GROWTH`] times the work that was timed. (Timing 10^6 elements costs as much as computing them.)
const WORTH_TIMING: f64 = 1.0 / GROWTH as f64;

/// Number of consecutive calls that share an event: recording one takes a third as long as launching a kernel, and
/// between two kernels it delays the device (by 2 us on an H100).
const CALLS_AN_EVENT: usize = 16;

/// Maximum part of a batch of the calls that share an event together: so a wait for the oldest call in flight is short.
const BATCHES_AN_EVENT: f64 = 0.25;

/// Maximum number of calls that an error names.
const MAX_NAMED: usize = 5;

/// The queue of a device.
#[derive(Debug)]
pub(crate) struct Queue {
    stream: Arc<Stream>,
    /// Number of times the stream was requested or work was put on it; and the one up to which it has been waited for.
    put: AtomicU64,
    waited: AtomicU64,
    /// Number of waits that failed: after a failure, work believed to be done may not be.
    failures: AtomicU64,
    state: Mutex<State>,
    /// Pinned buffer for small results: the driver takes longer to write to pageable memory.
    landing: Mutex<Option<PinnedBuffer>>,
}

/// Maximum number of bytes downloaded through the pinned buffer.
pub(crate) const LANDING_BYTES: usize = 64 << 10;

#[derive(Debug, Default)]
struct State {
    pool: Pool<DeviceBuffer>,
    /// Calls submitted since the stream was last waited for, in order; those that are over have been removed.
    calls: VecDeque<Call>,
    /// Total of their parts of a batch.
    batches: f64,
    /// Sources of uploads in flight, for the call that is being submitted, each with the value of `put` after it.
    sent: Vec<(u64, Vec<u8>)>,
    /// Events for later calls.
    events: Vec<Event>,
}

/// Work that a call has put on the stream.
#[derive(Debug)]
struct Call {
    name: &'static str,
    /// Event at its begin, if it is timed.
    begin: Option<Event>,
    /// Event at its end. A call without one is over when the next call with one is.
    end: Option<Event>,
    batches: f64,
    learns: Option<(SharedPace, usize)>,
    _sent: Vec<(u64, Vec<u8>)>,
}

/// Description of work to be put on the stream.
#[derive(Debug)]
pub(crate) struct Load<'a> {
    /// Name for error messages.
    pub(crate) name: &'static str,
    /// The pace that gives the size of a batch, and this work in its units; `None` where `bytes` suffices.
    pub(crate) pace: Option<(&'a SharedPace, usize)>,
    /// Number of bytes that it moves on the device.
    pub(crate) bytes: usize,
}

impl Load<'_> {
    /// Returns the part of a batch that it is.
    fn batches(&self) -> f64 {
        match self.pace {
            Some((pace, units)) => units as f64 / pace.batch().max(1) as f64,
            // The slowest of devices moves 100 GB a second; a batch is 20 ms.
            None => self.bytes as f64 / 2e9,
        }
    }
}

/// Queues in use, by the ordinals of their devices.
static HELD: PerProcess<Mutex<BTreeMap<usize, Weak<Queue>>>> = PerProcess::new();

impl Queue {
    /// Returns the queue of this context: the one that arrays in it hold, or a new one.
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

    /// Returns the stream, for a caller that is about to put work on it.
    pub(crate) fn stream(&self) -> &Arc<Stream> {
        self.put.fetch_add(1, Ordering::SeqCst);
        &self.stream
    }

    /// Returns the context of the stream.
    pub(crate) fn context(&self) -> &Arc<Context> {
        self.stream.context()
    }

    /// Returns the number of waits that failed.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Announces work on the stream. Its time begins now, if the work is large enough to be timed.
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

    /// Records submitted work. Waits for the oldest in flight if there is too much.
    pub(crate) fn submitted(&self, load: &Load, beginning: Beginning) -> Result<(), Error> {
        let mut state = lock(&self.state);
        let learns = beginning.0.as_ref().and(load.pace).map(|(pace, units)| (pace.clone(), units));
        let batches = load.batches();
        let without_event = state.calls.iter().rev().take_while(|call| call.end.is_none());
        let (calls, together) = without_event.fold((1, batches), |(n, sum), call| (n + 1, sum + call.batches));
        let is_last = learns.is_some() || calls >= CALLS_AN_EVENT || together > BATCHES_AN_EVENT;
        // Called in any case: it counts the work as put on the stream.
        let stream = self.stream();
        let end = if is_last { Some(state.event(stream)?) } else { None };
        if let Some(end) = &end {
            end.record(stream)?;
        }
        state.batches += batches;
        let sent = std::mem::take(&mut state.sent);
        state.calls.push_back(Call { name: load.name, begin: beginning.0, end, batches, learns, _sent: sent });
        while state.calls.len() > 1 && (state.batches > MAX_BATCHES || state.calls.len() > MAX_CALLS) {
            state.retire()?;
        }
        Ok(())
    }

    /// Returns an event that happens when all submitted work is over.
    pub(crate) fn mark(&self) -> Result<Event, Error> {
        let event = Event::new(self.context())?;
        event.record(self.stream())?;
        Ok(event)
    }

    /// Waits for all work in flight.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        let Some(put) = self.not_waited_for() else {
            return Ok(());
        };
        self.wait_for_stream(put).inspect_err(|_| {
            self.failures.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Returns the count of submissions, if some of them have not been waited for.
    fn not_waited_for(&self) -> Option<u64> {
        let put = self.put.load(Ordering::SeqCst);
        (self.waited.load(Ordering::SeqCst) < put).then_some(put)
    }

    /// Waits at least for the submissions up to this count: slots send coefficients from several threads.
    fn wait_for_stream(&self, put: u64) -> Result<(), Error> {
        // Not under the lock: a thread that drops an array meanwhile must not wait, too.
        self.stream.synchronize()?;
        let mut state = lock(&self.state);
        while !state.calls.is_empty() {
            state.retire()?;
        }
        self.over(&mut state, put);
        Ok(())
    }

    /// Notes that the stream has been waited for, at this count of submissions.
    fn over(&self, state: &mut State, put: u64) {
        state.sent.retain(|&(number, _)| number > put);
        self.waited.fetch_max(put, Ordering::SeqCst);
    }

    /// Waits for all work in flight, if there is any, and ignores errors.
    pub(crate) fn finish(&self) {
        self.settle(&mut lock(&self.state));
    }

    /// Waits for all work in flight, if there is any, and ignores errors.
    fn settle(&self, state: &mut State) {
        if let Some(put) = self.not_waited_for() {
            self.stream.settle();
            state.calls.clear();
            state.batches = 0.0;
            self.over(state, put);
        }
    }

    /// Copies `values` to the device address `to`, in order with the stream.
    ///
    /// # Safety
    /// There is room for them, and all work that reads them is on this stream.
    pub(crate) unsafe fn send(&self, values: &[u8], to: sys::CUdeviceptr) -> Result<(), Error> {
        let values = values.to_vec();
        // SAFETY: by the caller's promise; the source stays until the stream has been waited for.
        let sent = unsafe { result::memcpy_htod_async(to, &values, self.stream().handle()) };
        // Counted again after the submission: a concurrent wait may have come before it. Also after an error: the
        // driver may still read the source.
        let number = self.put.fetch_add(1, Ordering::SeqCst) + 1;
        lock(&self.state).sent.push((number, values));
        sent.map_err(failed("cuMemcpyHtoDAsync"))
    }

    /// Copies the bytes at the device address `from` to the host and waits for them: [`LANDING_BYTES`] at most.
    ///
    /// # Safety
    /// There are at least that many bytes, and the work that writes them is on this stream.
    pub(crate) unsafe fn fetch(&self, from: sys::CUdeviceptr, output: &mut [u8]) -> Result<(), Error> {
        let bytes = output.len();
        self.land(output, |landing, stream| {
            // SAFETY: by the caller's promise; `land` waits for it.
            unsafe { result::memcpy_dtoh_async(landing.as_mut_slice::<u8>(bytes), from, stream) }
                .map_err(failed("cuMemcpyDtoHAsync"))
        })
    }

    /// Waits for work, put on the stream by `put`, that writes `output` by way of the pinned buffer: [`LANDING_BYTES`]
    /// at most.
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
        // Nothing writes to the buffer after this returns, whatever happens.
        let idle = Idle::new(self.stream());
        put(landing, idle.stream().handle())?;
        self.wait().map(|()| idle.waited_for())?;
        output.copy_from_slice(landing.as_mut_slice(output.len()));
        Ok(())
    }

    /// Copies `bytes` bytes from one address on the device to another, in order with the stream.
    ///
    /// # Safety
    /// Both addresses have that many bytes, and all work that uses them is on this stream.
    pub(crate) unsafe fn copy(&self, to: sys::CUdeviceptr, from: sys::CUdeviceptr, bytes: usize) -> Result<(), Error> {
        let load = Load { name: "a copy", pace: None, bytes: 2 * bytes };
        let beginning = self.begin(&load)?;
        // SAFETY: by the caller's promise.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream().handle()) }
            .map_err(failed("cuMemcpyDtoDAsync"))?;
        self.submitted(&load, beginning)
    }

    /// Adds the calls in flight to `error`.
    pub(crate) fn blame(&self, error: Error) -> Error {
        let state = lock(&self.state);
        match error {
            Error::Cuda(text) if !state.calls.is_empty() => {
                let names: Vec<_> = state.calls.iter().take(MAX_NAMED).map(|call| call.name).collect();
                let more = state.calls.len() - names.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                Error::Cuda(format!("{text} Under way on the device were: {}{more}.", names.join(", ")))
            }
            error => error,
        }
    }

    // ---- memory

    /// Returns a buffer of `bytes` bytes at least for use within a call: from the pool, or a new one. Earlier calls'
    /// work with it comes earlier on the stream.
    pub(crate) fn take(&self, bytes: usize) -> Result<DeviceBuffer, Error> {
        let found = lock(&self.state).pool.take(bytes);
        let Some(buffer) = found else {
            return DeviceBuffer::new(self.context(), bytes);
        };
        // In a broken context, a pooled buffer fails as a new one would.
        if let Err(error) = self.stream.check() {
            self.put_back(buffer);
            return Err(error);
        }
        Ok(buffer)
    }

    /// Returns a buffer of `bytes` bytes at least for an array that lives until it is [given up](Queue::give_up).
    pub(crate) fn take_for_array(&self, bytes: usize) -> Result<DeviceBuffer, Error> {
        let buffer = self.take(bytes)?;
        lock(&self.state).pool.count(buffer.bytes(), 0);
        Ok(buffer)
    }

    /// Returns a call's buffer to the pool.
    pub(crate) fn put_back(&self, buffer: DeviceBuffer) {
        let mut state = lock(&self.state);
        let dropped = state.pool.keep(buffer);
        self.drop_all(&mut state, dropped);
    }

    /// Returns an array's buffer to the pool.
    pub(crate) fn give_up(&self, buffer: DeviceBuffer) {
        let mut state = lock(&self.state);
        state.pool.count(0, buffer.bytes());
        let dropped = state.pool.keep(buffer);
        self.drop_all(&mut state, dropped);
    }

    /// Exchanges an array's buffer and a call's.
    pub(crate) fn exchange(&self, of_array: &mut DeviceBuffer, own: &mut DeviceBuffer) {
        let mut state = lock(&self.state);
        state.pool.count(own.bytes(), of_array.bytes());
        std::mem::swap(of_array, own);
    }

    /// Frees buffers, after waiting for the work that may use them.
    fn drop_all(&self, state: &mut State, buffers: Vec<DeviceBuffer>) {
        if !buffers.is_empty() {
            self.settle(state);
        }
        drop(buffers);
    }

    /// Sets the number of bytes that the pool may hold; only without `strict` it may hold more, up to the arrays' peak.
    pub(crate) fn bound(&self, bytes: usize, strict: bool) {
        let mut state = lock(&self.state);
        (state.pool.bound, state.pool.strict) = (bytes, strict);
    }

    /// Returns the bytes in the pool, and the number of the `wanted` buffers of `bytes` bytes that it lacks.
    pub(crate) fn stock(&self, wanted: usize, bytes: usize) -> (usize, usize) {
        let state = lock(&self.state);
        (state.pool.bytes(), wanted.saturating_sub(state.pool.fitting(bytes)))
    }

    /// Frees the pool, and returns true if there were any buffers in it.
    pub(crate) fn release(&self) -> bool {
        // Before the other lock is taken, in the same order as in `land`.
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
        // Fields dropped after this may still be in use by the device.
        if self.context().is_ours() && self.not_waited_for().is_some() {
            self.stream.settle();
        }
    }
}

/// Buffers that one call uses. They go back to the queue at its end, also after an error or a panic.
#[derive(Debug)]
pub(crate) struct CallBuffers {
    queue: Arc<Queue>,
    buffers: Vec<DeviceBuffer>,
}

impl CallBuffers {
    /// Starts without buffers.
    pub(crate) fn new(queue: &Arc<Queue>) -> CallBuffers {
        CallBuffers { queue: queue.clone(), buffers: Vec::new() }
    }

    /// Adds a buffer of `bytes` bytes at least, and returns its address.
    pub(crate) fn room_for(&mut self, bytes: usize) -> Result<sys::CUdeviceptr, Error> {
        let buffer = self.queue.take(bytes.max(1))?;
        let address = buffer.address();
        self.buffers.push(buffer);
        Ok(address)
    }

    /// Returns the addresses of the first and of the last buffer; 0 where there are none.
    pub(crate) fn ends(&self) -> (sys::CUdeviceptr, sys::CUdeviceptr) {
        let address = |buffer: Option<&DeviceBuffer>| buffer.map_or(0, DeviceBuffer::address);
        (address(self.buffers.first()), address(self.buffers.last()))
    }

    /// Returns all buffers in order.
    pub(crate) fn buffers(&mut self) -> &mut [DeviceBuffer] {
        &mut self.buffers
    }
}

impl Drop for CallBuffers {
    fn drop(&mut self) {
        self.buffers.drain(..).for_each(|buffer| self.queue.put_back(buffer));
    }
}

/// Begin of a call's work on the stream.
#[derive(Debug)]
pub(crate) struct Beginning(Option<Event>);

impl Beginning {
    /// Drops the time, so that the pace learns nothing from this call.
    pub(crate) fn without_time(self) -> Beginning {
        Beginning(None)
    }
}

impl State {
    fn event(&mut self, stream: &Stream) -> Result<Event, Error> {
        self.events.pop().map_or_else(|| Event::new(stream.context()), Ok)
    }

    /// Waits for the oldest call in flight that has an event, and so for those before it, and learns from it. If none
    /// has an event, all of them have been waited for.
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
