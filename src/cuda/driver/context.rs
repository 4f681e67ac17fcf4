//! What is had of the driver for a while, each given back by its owner: contexts, streams, events, graphs.
//!
//! # Rationale
//! cudarc has such owners too. But theirs leave a context retained where opening one fails half-way; and they keep an
//! error that a drop met, to tell it in the next call in place of doing that one: a wait is skipped so, and a call
//! fails that had no part in it. Here a drop does what it can. What it is refused was refused before, and told, or is
//! known to the next call of the driver.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cudarc::driver::{DriverError, result, sys};

use super::error::failed;
use crate::process::{self, PerProcess};
use crate::stencil::Error;

/// A handle of the driver.
#[derive(Debug)]
pub(crate) struct DriverHandle<T>(pub(crate) *mut T);

// SAFETY: it is a name for something of the driver's, whose functions take it on any thread; nothing behind it is
// touched from here.
unsafe impl<T> Send for DriverHandle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for DriverHandle<T> {}

/// The primary context of a device, retained.
#[derive(Debug)]
pub(crate) struct Context {
    handle: DriverHandle<sys::CUctx_st>,
    device: sys::CUdevice,
    /// The driver's number for it, which is another after a reset.
    id: u64,
    /// The process that retained it: after a fork no call of the driver may be made.
    process: u32,
    /// What broke it. Then nothing of it is left, and it is given back already.
    lost: OnceLock<Error>,
}

/// The contexts that somebody holds, by the ordinals of their devices.
static HELD: PerProcess<Mutex<BTreeMap<usize, Weak<Context>>>> = PerProcess::new();

impl Context {
    /// The context of the device with this ordinal: retained now, unless it is held already. It is not current yet.
    pub(crate) fn retain(ordinal: usize) -> Result<Arc<Context>, Error> {
        let mut held = HELD.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = held.get(&ordinal).and_then(Weak::upgrade).filter(|context| context.lost.get().is_none())
        {
            return Ok(context);
        }
        let number = i32::try_from(ordinal).map_err(|_| Error::NoDevice(format!("There is no device {ordinal}.")))?;
        let device = result::device::get(number).map_err(failed("cuDeviceGet"))?;
        // SAFETY: the device is one of the driver's.
        let handle = unsafe { result::primary_ctx::retain(device) }.map_err(failed("cuDevicePrimaryCtxRetain"))?;
        let id = id_of(handle).map_err(|error| {
            // SAFETY: it was retained just now.
            let _ = unsafe { result::primary_ctx::release(device) };
            failed("cuCtxGetId")(error)
        })?;
        let handle = DriverHandle(handle);
        let context = Arc::new(Context { handle, device, id, process: process::id(), lost: OnceLock::new() });
        held.insert(ordinal, Arc::downgrade(&context));
        Ok(context)
    }

    /// The device's ordinal.
    pub(crate) fn ordinal(&self) -> usize {
        self.device as usize
    }

    /// Gives the context back where `error` has broken it: all that was in it is gone. Its device can then be opened
    /// anew, if the driver allows that, whoever still holds some of it.
    pub(crate) fn check_alive(&self, error: &Error) {
        if self.synchronize().is_err() {
            self.lose(error);
        }
    }

    /// Gives the context back, where all that was in it is known to be gone.
    pub(crate) fn lose(&self, error: &Error) {
        if self.lost.set(error.clone()).is_ok() {
            // SAFETY: it was retained, and is not used any more: see `bind`.
            let _ = unsafe { result::primary_ctx::release(self.device) };
        }
    }

    /// # Errors
    /// What broke the context, if it is broken.
    pub(crate) fn alive(&self) -> Result<(), Error> {
        self.lost.get().cloned().map_or(Ok(()), Err)
    }

    /// Makes it current on this thread.
    ///
    /// A primary context that somebody else in the process has reset, as MATLAB's `reset (gpuDevice)` does, is lost:
    /// its handle serves for what has taken its place, and a stream of it, if named to the driver, is a fault.
    pub(crate) fn bind(&self) -> Result<(), Error> {
        self.alive()?;
        // SAFETY: it is retained.
        unsafe { result::ctx::set_current(self.handle.0) }.map_err(failed("cuCtxSetCurrent"))?;
        match id_of(self.handle.0) {
            Ok(id) if id == self.id => return Ok(()),
            // No more is there than the handle, or another context under it.
            Ok(_)
            | Err(DriverError(
                sys::CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED | sys::CUresult::CUDA_ERROR_INVALID_CONTEXT,
            )) => {}
            Err(error) => return Err(failed("cuCtxGetId")(error)),
        }
        self.lose(&Error::Cuda("The GPU was reset, and what lay on it is gone.".into()));
        self.alive()
    }

    /// Makes it current to give back what was made in it. What the host had current is current again when the answer is
    /// dropped: things go at any time, also between calls. `None` where nothing is left to be given back.
    pub(crate) fn enter_to_free(&self) -> Option<Result<HostContext, Error>> {
        let host = self.is_ours().then(HostContext::save)?;
        // Where the driver refuses, it may still take back what is its own.
        (self.bind().is_ok() || self.alive().is_ok()).then_some(host)
    }

    /// Whether it is this process that retained it.
    pub(crate) fn is_ours(&self) -> bool {
        self.process == process::id()
    }

    /// The device memory that is free, in bytes.
    pub(crate) fn free_memory(&self) -> Result<usize, Error> {
        self.bind()?;
        result::mem_get_info().map(|(free, _)| free).map_err(failed("cuMemGetInfo"))
    }

    /// All memory of the device, in bytes.
    pub(crate) fn total_memory(&self) -> Result<usize, Error> {
        self.bind()?;
        result::mem_get_info().map(|(_, total)| total).map_err(failed("cuMemGetInfo"))
    }

    /// Whether its device reaches the memory of another context's device, from now on. This context is current then.
    pub(crate) fn reaches(&self, other: &Context) -> Result<bool, Error> {
        let mut can = 0;
        // SAFETY: there is room for the answer, and both are devices of the driver's.
        unsafe { sys::cuDeviceCanAccessPeer(&mut can, self.device, other.device) }
            .result()
            .map_err(failed("cuDeviceCanAccessPeer"))?;
        if can == 0 {
            return Ok(false);
        }
        other.alive()?;
        self.bind()?;
        // SAFETY: the other context is retained; flags there are none.
        match unsafe { sys::cuCtxEnablePeerAccess(other.handle.0, 0) } {
            sys::CUresult::CUDA_SUCCESS | sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(true),
            // More devices than one may reach at the same time.
            sys::CUresult::CUDA_ERROR_TOO_MANY_PEERS | sys::CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => Ok(false),
            error => Err(failed("cuCtxEnablePeerAccess")(DriverError(error))),
        }
    }

    /// Waits for all that is under way in it.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.bind()?;
        result::ctx::synchronize().map_err(failed("cuCtxSynchronize"))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_ours() && self.alive().is_ok() {
            // SAFETY: it was retained in `retain`, and what was made in it is gone: each held this.
            let _ = unsafe { result::primary_ctx::release(self.device) };
        }
    }
}

/// The driver's number for a context.
fn id_of(context: sys::CUcontext) -> Result<u64, DriverError> {
    let mut id = 0;
    // SAFETY: there is room for the number; the context is retained, if it is there.
    unsafe { sys::cuCtxGetId(context, &mut id) }.result()?;
    Ok(id)
}

/// The ordinal of the device with the memory at this address.
pub(crate) fn device_at(address: u64) -> Result<usize, Error> {
    let mut ordinal: std::ffi::c_int = 0;
    let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    // SAFETY: the value is an int, for which there is room; what the address is, is asked here.
    unsafe { sys::cuPointerGetAttribute((&raw mut ordinal).cast(), attribute, address) }
        .result()
        .map_err(failed("cuPointerGetAttribute"))?;
    usize::try_from(ordinal).map_err(|_| Error::Internal(format!("The driver told device {ordinal} of an address.")))
}

/// The ordinal of the device whose context is current on this thread; `None` where none is.
pub(crate) fn current_device() -> Result<Option<usize>, Error> {
    if result::ctx::get_current().map_err(failed("cuCtxGetCurrent"))?.is_none() {
        return Ok(None);
    }
    let mut device = 0;
    // SAFETY: there is room for the device.
    unsafe { sys::cuCtxGetDevice(&mut device) }.result().map_err(failed("cuCtxGetDevice"))?;
    Ok(usize::try_from(device).ok())
}

/// The context that the host, or another library in its process, had made current on this thread. It is current again
/// when this is dropped.
///
/// None is ever dropped in a forked process: of the parent's threads only the one that forked is there, and no call of
/// the host, which alone may fork, is made while it has one of these.
pub(crate) struct HostContext(sys::CUcontext);

impl HostContext {
    pub(crate) fn save() -> Result<HostContext, Error> {
        let current = result::ctx::get_current().map_err(failed("cuCtxGetCurrent"))?;
        Ok(HostContext(current.unwrap_or(std::ptr::null_mut())))
    }
}

impl Drop for HostContext {
    fn drop(&mut self) {
        // An error here would be the host's own context gone bad: nothing of ours to mend.
        // SAFETY: it was current a moment ago, or is null, which makes none current.
        let _ = unsafe { result::ctx::set_current(self.0) };
    }
}

/// A stream that does not wait for the null stream.
#[derive(Debug)]
pub(crate) struct Stream {
    handle: DriverHandle<sys::CUstream_st>,
    context: Arc<Context>,
}

impl Stream {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Arc<Stream>, Error> {
        context.bind()?;
        let handle =
            result::stream::create(result::stream::StreamKind::NonBlocking).map_err(failed("cuStreamCreate"))?;
        Ok(Arc::new(Stream { handle: DriverHandle(handle), context: context.clone() }))
    }

    /// The driver's name for it, good while `self` is there.
    pub(crate) fn handle(&self) -> sys::CUstream {
        self.handle.0
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Waits for all that was put on it. Its context must be current.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the stream is open.
        unsafe { result::stream::synchronize(self.handle.0) }.map_err(failed("cuStreamSynchronize"))
    }

    /// Whether its context, which must be current, is whole, as far as the driver knows by now. Nothing is waited for.
    pub(crate) fn check(&self) -> Result<(), Error> {
        // SAFETY: the stream is open.
        let status = unsafe { sys::cuStreamQuery(self.handle.0) };
        match status {
            sys::CUresult::CUDA_SUCCESS | sys::CUresult::CUDA_ERROR_NOT_READY => Ok(()),
            error => Err(failed("cuStreamQuery")(DriverError(error))),
        }
    }

    /// Has what is put on it from now on begin after `event`, of this stream or another, also of another device.
    pub(crate) fn begin_after(&self, event: &Event) -> Result<(), Error> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both are there; events of other contexts may be waited for.
        unsafe { result::stream::wait_event(self.handle.0, event.handle.0, flags) }.map_err(failed("cuStreamWaitEvent"))
    }

    /// Puts a copy of `bytes` bytes from the memory of another context to this one's on it.
    ///
    /// # Safety
    /// There are as many at both addresses, and whoever else uses them does so before or after this on the devices.
    pub(crate) unsafe fn copy_from(
        &self,
        other: &Context,
        to: sys::CUdeviceptr,
        from: sys::CUdeviceptr,
        bytes: usize,
    ) -> Result<(), Error> {
        // SAFETY: as the caller says; both contexts are retained.
        unsafe { sys::cuMemcpyPeerAsync(to, self.context.handle.0, from, other.handle.0, bytes, self.handle.0) }
            .result()
            .map_err(failed("cuMemcpyPeerAsync"))
    }

    /// Waits for it whatever has happened before. What goes wrong here has gone wrong before, and was told.
    pub(crate) fn settle(&self) {
        let wait = || self.context.bind().and_then(|()| self.synchronize());
        // Once more: a refusal that is over must not leave the work under way.
        let _ = wait().or_else(|_| wait());
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(_host) = self.context.enter_to_free() {
            // SAFETY: it was made in `new`.
            let _ = unsafe { result::stream::destroy(self.handle.0) };
        }
    }
}

/// An event that knows when it happened.
#[derive(Debug)]
pub(crate) struct Event {
    handle: DriverHandle<sys::CUevent_st>,
    context: Arc<Context>,
}

impl Event {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Event, Error> {
        context.bind()?;
        let handle = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(failed("cuEventCreate"))?;
        Ok(Event { handle: DriverHandle(handle), context: context.clone() })
    }

    /// Has it happen when the stream comes to it.
    pub(crate) fn record(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: both are of one context.
        unsafe { result::event::record(self.handle.0, stream.handle()) }.map_err(failed("cuEventRecord"))
    }

    /// Waits for it.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        // SAFETY: the event is there.
        unsafe { result::event::synchronize(self.handle.0) }.map_err(failed("cuEventSynchronize"))
    }

    /// Waits for this one and a later one, and gives the milliseconds between them.
    pub(crate) fn elapsed(&self, end: &Event) -> Result<f32, Error> {
        self.wait()?;
        end.wait()?;
        // SAFETY: both are there, and have happened.
        unsafe { result::event::elapsed(self.handle.0, end.handle.0) }.map_err(failed("cuEventElapsedTime"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Some(_host) = self.context.enter_to_free() {
            // SAFETY: it was made in `new`.
            let _ = unsafe { result::event::destroy(self.handle.0) };
        }
    }
}

/// Work that was recorded, to be repeated on its stream.
#[derive(Debug)]
pub(crate) struct Graph {
    ready: DriverHandle<sys::CUgraphExec_st>,
    stream: Arc<Stream>,
}

impl Graph {
    /// What `work` submits to the stream, which is not done yet.
    pub(crate) fn record(stream: &Arc<Stream>, work: &dyn Fn() -> Result<(), Error>) -> Result<Graph, Error> {
        // Other threads of the host may go on using CUDA meanwhile.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is open.
        unsafe { result::stream::begin_capture(stream.handle(), mode) }.map_err(failed("cuStreamBeginCapture"))?;
        let submitted = {
            let _recording = Recording::begin();
            work()
        };
        // Whatever came of the work: a stream that is left recording can do nothing else.
        // SAFETY: it is recording.
        let graph = unsafe { result::stream::end_capture(stream.handle()) }.map_err(failed("cuStreamEndCapture"));
        let graph = match (submitted, graph) {
            (Ok(()), graph) => graph?,
            (Err(error), graph) => {
                // SAFETY: it was recorded just now, and nobody else has it.
                let _ = graph.map(|graph| unsafe { result::graph::destroy(graph) });
                return Err(error);
            }
        };
        if graph.is_null() {
            return Err(Error::Internal("The launches were not recorded.".into()));
        }
        // SAFETY: the graph is there.
        let ready = unsafe { result::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0)) };
        // SAFETY: what was made of it needs it no more.
        let _ = unsafe { result::graph::destroy(graph) };
        let ready = ready.map_err(failed("cuGraphInstantiate"))?;
        Ok(Graph { ready: DriverHandle(ready), stream: stream.clone() })
    }

    /// Puts it on its stream.
    pub(crate) fn launch(&self) -> Result<(), Error> {
        // SAFETY: both are there.
        unsafe { result::graph::launch(self.ready.0, self.stream.handle()) }.map_err(failed("cuGraphLaunch"))
    }
}

thread_local! {
    static IS_RECORDING: Cell<bool> = const { Cell::new(false) };
}

/// Whether what this thread submits is recorded, for a graph.
pub(crate) fn is_recording() -> bool {
    IS_RECORDING.get()
}

/// As long as it lives, that is so.
struct Recording;

impl Recording {
    fn begin() -> Recording {
        IS_RECORDING.set(true);
        Recording
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        IS_RECORDING.set(false);
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if let Some(_host) = self.stream.context().enter_to_free() {
            // SAFETY: it was made in `record`, and what was launched has been waited for.
            let _ = unsafe { result::graph::exec_destroy(self.ready.0) };
        }
    }
}
