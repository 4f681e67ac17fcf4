//! Owners of the driver's objects: contexts, streams, events, graphs.
//!
//! # Rationale
//! cudarc has such owners too. But theirs leave a context retained if opening one fails half-way; and they keep an
//! error that a drop met, and report it in place of the next call: a wait is skipped so, and a call fails that had no
//! part in it. Here a drop ignores errors: an error in it was reported before, or will be by the next call of the
//! driver.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cudarc::driver::{DriverError, result, sys};

use super::error::failed;
use crate::platform::process::{self, PerProcess};
use crate::stencil::Error;

/// A handle of the driver.
#[derive(Debug)]
pub(crate) struct DriverHandle<T>(pub(crate) *mut T);

// SAFETY: it names an object of the driver, whose functions take it on any thread; it is not dereferenced here.
unsafe impl<T> Send for DriverHandle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for DriverHandle<T> {}

/// The primary context of a device, retained.
#[derive(Debug)]
pub(crate) struct Context {
    handle: DriverHandle<sys::CUctx_st>,
    device: sys::CUdevice,
    /// The driver's number for it, which changes with a reset.
    id: u64,
    /// The process that retained it: after a fork no call of the driver may be made.
    process: u32,
    /// The error that broke it. Then nothing of it is left, and it has been released.
    lost: OnceLock<Error>,
}

/// Contexts in use, by the ordinals of their devices.
static HELD: PerProcess<Mutex<BTreeMap<usize, Weak<Context>>>> = PerProcess::new();

impl Context {
    /// Returns the context of the device with this ordinal: retained now, unless it is held already. It is not current
    /// yet.
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

    /// Returns the device's ordinal.
    pub(crate) fn ordinal(&self) -> usize {
        self.device as usize
    }

    /// Releases the context if `error` has broken it: all objects in it are lost. Its device can then be opened anew,
    /// if the driver allows that, even while objects of it are held.
    pub(crate) fn check_alive(&self, error: &Error) {
        if self.synchronize().is_err() {
            self.lose(error);
        }
    }

    /// Releases the context, if all objects in it are known to be lost.
    pub(crate) fn lose(&self, error: &Error) {
        if self.lost.set(error.clone()).is_ok() {
            // SAFETY: it was retained, and is not used any more: see `bind`.
            let _ = unsafe { result::primary_ctx::release(self.device) };
        }
    }

    /// # Errors
    /// The error that broke the context, if it is broken.
    pub(crate) fn alive(&self) -> Result<(), Error> {
        self.lost.get().cloned().map_or(Ok(()), Err)
    }

    /// Makes it current on this thread.
    ///
    /// A primary context that others in the process have reset, as MATLAB's `reset (gpuDevice)` does, is lost: its
    /// handle now denotes its successor, and passing an old stream to the driver is a fault.
    pub(crate) fn bind(&self) -> Result<(), Error> {
        self.alive()?;
        // SAFETY: it is retained.
        unsafe { result::ctx::set_current(self.handle.0) }.map_err(failed("cuCtxSetCurrent"))?;
        match id_of(self.handle.0) {
            Ok(id) if id == self.id => return Ok(()),
            // Only the handle is left, or another context under it.
            Ok(_)
            | Err(DriverError(
                sys::CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED | sys::CUresult::CUDA_ERROR_INVALID_CONTEXT,
            )) => {}
            Err(error) => return Err(failed("cuCtxGetId")(error)),
        }
        self.lose(&Error::Cuda("The GPU was reset, and what lay on it is gone.".into()));
        self.alive()
    }

    /// Makes it current to free objects in it. The host's context is current again when the result is dropped: objects
    /// are dropped at any time, also between calls. `None` if nothing is left to be freed.
    pub(crate) fn enter_to_free(&self) -> Option<Result<HostContext, Error>> {
        let host = self.is_ours().then(HostContext::save)?;
        // If the driver refuses, it may still free its objects.
        (self.bind().is_ok() || self.alive().is_ok()).then_some(host)
    }

    /// True if this process retained it.
    pub(crate) fn is_ours(&self) -> bool {
        self.process == process::id()
    }

    /// Returns the free device memory, in bytes.
    pub(crate) fn free_memory(&self) -> Result<usize, Error> {
        self.bind()?;
        result::mem_get_info().map(|(free, _)| free).map_err(failed("cuMemGetInfo"))
    }

    /// Returns the total device memory, in bytes.
    pub(crate) fn total_memory(&self) -> Result<usize, Error> {
        self.bind()?;
        result::mem_get_info().map(|(_, total)| total).map_err(failed("cuMemGetInfo"))
    }

    /// True if its device can access the memory of another context's device, from now on. This context is current then.
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
            // The limit of peers of a device is reached.
            sys::CUresult::CUDA_ERROR_TOO_MANY_PEERS | sys::CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => Ok(false),
            error => Err(failed("cuCtxEnablePeerAccess")(DriverError(error))),
        }
    }

    /// Waits for all work in flight in it.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.bind()?;
        result::ctx::synchronize().map_err(failed("cuCtxSynchronize"))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_ours() && self.alive().is_ok() {
            // SAFETY: it was retained in `retain`, and all objects in it are gone: each held this.
            let _ = unsafe { result::primary_ctx::release(self.device) };
        }
    }
}

/// Returns the driver's number for a context.
fn id_of(context: sys::CUcontext) -> Result<u64, DriverError> {
    let mut id = 0;
    // SAFETY: there is room for the number; the context is retained, if it is there.
    unsafe { sys::cuCtxGetId(context, &mut id) }.result()?;
    Ok(id)
}

/// Returns the ordinal of the device with the memory at this address.
pub(crate) fn device_at(address: u64) -> Result<usize, Error> {
    let mut ordinal: std::ffi::c_int = 0;
    let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    // SAFETY: the value is an int, for which there is room; the driver checks the address.
    unsafe { sys::cuPointerGetAttribute((&raw mut ordinal).cast(), attribute, address) }
        .result()
        .map_err(failed("cuPointerGetAttribute"))?;
    usize::try_from(ordinal).map_err(|_| Error::Internal(format!("The driver told device {ordinal} of an address.")))
}

/// Returns the ordinal of the device whose context is current on this thread; `None` if none is.
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
/// None is ever dropped in a forked process: only the forking thread lives on there, and the host, which alone may
/// fork, makes no call while it has one of these.
pub(crate) struct HostContext(sys::CUcontext);

impl HostContext {
    pub(crate) fn save() -> Result<HostContext, Error> {
        let current = result::ctx::get_current().map_err(failed("cuCtxGetCurrent"))?;
        Ok(HostContext(current.unwrap_or(std::ptr::null_mut())))
    }
}

impl Drop for HostContext {
    fn drop(&mut self) {
        // An error here means that the host's own context is broken.
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

    /// Returns the driver's handle, valid while `self` lives.
    pub(crate) fn handle(&self) -> sys::CUstream {
        self.handle.0
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Waits for all work on it. Its context must be current.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the stream is open.
        unsafe { result::stream::synchronize(self.handle.0) }.map_err(failed("cuStreamSynchronize"))
    }

    /// Returns an error if its context, which must be current, is known to be broken. Does not wait.
    pub(crate) fn check(&self) -> Result<(), Error> {
        // SAFETY: the stream is open.
        let status = unsafe { sys::cuStreamQuery(self.handle.0) };
        match status {
            sys::CUresult::CUDA_SUCCESS | sys::CUresult::CUDA_ERROR_NOT_READY => Ok(()),
            error => Err(failed("cuStreamQuery")(DriverError(error))),
        }
    }

    /// Lets later work on it begin after `event`, of this stream or another, also of another device.
    pub(crate) fn begin_after(&self, event: &Event) -> Result<(), Error> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both are there; events of other contexts may be waited for.
        unsafe { result::stream::wait_event(self.handle.0, event.handle.0, flags) }.map_err(failed("cuStreamWaitEvent"))
    }

    /// Copies `bytes` bytes from the memory of another context to this one's, in order with the stream.
    ///
    /// # Safety
    /// Both addresses have that many bytes, and other uses of them come before or after this on the devices.
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

    /// Waits for it and ignores errors: they occurred before, and were reported.
    pub(crate) fn settle(&self) {
        let wait = || self.context.bind().and_then(|()| self.synchronize());
        // Once more: after a passing refusal work must not stay in flight.
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

/// An event with a time stamp.
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

    /// Records it on the stream: it happens after the work submitted so far.
    pub(crate) fn record(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: both are of one context.
        unsafe { result::event::record(self.handle.0, stream.handle()) }.map_err(failed("cuEventRecord"))
    }

    /// Waits for it.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        // SAFETY: the event is there.
        unsafe { result::event::synchronize(self.handle.0) }.map_err(failed("cuEventSynchronize"))
    }

    /// Waits for this event and a later one, and returns the milliseconds between them.
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

/// Captured work, to be repeated on its stream.
#[derive(Debug)]
pub(crate) struct Graph {
    ready: DriverHandle<sys::CUgraphExec_st>,
    stream: Arc<Stream>,
}

impl Graph {
    /// Captures the work that `work` submits to the stream, without running it.
    pub(crate) fn record(stream: &Arc<Stream>, work: &dyn Fn() -> Result<(), Error>) -> Result<Graph, Error> {
        // Other threads of the host may go on using CUDA meanwhile.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is open.
        unsafe { result::stream::begin_capture(stream.handle(), mode) }.map_err(failed("cuStreamBeginCapture"))?;
        let submitted = {
            let _recording = Recording::begin();
            work()
        };
        // Also after an error: a stream that keeps capturing can do nothing else.
        // SAFETY: it is recording.
        let graph = unsafe { result::stream::end_capture(stream.handle()) }.map_err(failed("cuStreamEndCapture"));
        let graph = match (submitted, graph) {
            (Ok(()), graph) => graph?,
            (Err(error), graph) => {
                // SAFETY: it was captured just now, and has no other owner.
                let _ = graph.map(|graph| unsafe { result::graph::destroy(graph) });
                return Err(error);
            }
        };
        if graph.is_null() {
            return Err(Error::Internal("The launches were not recorded.".into()));
        }
        // SAFETY: the graph is there.
        let ready = unsafe { result::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0)) };
        // SAFETY: the executable graph does not need it any more.
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

/// True if this thread's submissions are being captured for a graph.
pub(crate) fn is_recording() -> bool {
    IS_RECORDING.get()
}

/// Sets [`is_recording`] while it lives.
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
            // SAFETY: it was made in `record`, and its launches have been waited for.
            let _ = unsafe { result::graph::exec_destroy(self.ready.0) };
        }
    }
}
