//! What is kept of a device between calls.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaStream, result, sys};

use super::error::failed;
use super::module::Module;
use super::staging::Staging;
use crate::stencil::Error;

/// A device in use: its primary context, what was loaded into it, and the buffers that data go through. Fields are dropped in this order.
pub(super) struct Device {
    modules: BTreeMap<&'static str, Module>,
    pub(super) staging: Staging,
    /// For what is not part of staging: filling constant memory, measuring.
    pub(super) stream: Arc<CudaStream>,
    pub(super) context: Arc<CudaContext>,
}

/// The devices in use, by ordinal. One call works at a time.
static DEVICES: Mutex<BTreeMap<usize, Device>> = Mutex::new(BTreeMap::new());

impl Device {
    fn open(ordinal: usize) -> Result<Device, Error> {
        let context = CudaContext::new(ordinal).map_err(failed("cuDevicePrimaryCtxRetain"))?;
        // Streams are waited for before anything of theirs is touched again: cudarc need not track events for that.
        // SAFETY: as said.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(failed("cuStreamCreate"))?;
        Ok(Device { modules: BTreeMap::new(), staging: Staging::new(), stream, context })
    }

    /// The module with this image, loaded if it was not.
    pub(super) fn module(&mut self, image: &'static str) -> Result<&mut Module, Error> {
        match self.modules.entry(image) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => Ok(entry.insert(Module::load(&self.context, image)?)),
        }
    }
}

/// Whether the device is open already.
pub(super) fn is_open(ordinal: usize) -> bool {
    !DEVICES.is_poisoned() && lock().contains_key(&ordinal)
}

/// Runs `work` with the device `ordinal`, opened if it was not, current on this thread; the host's own context is current again afterwards.
///
/// `work` is run a second time where it ran out of memory while buffers were held that could be given up. After any other error of the driver the
/// device is given up, since a context may not outlive some of them; the next call opens it anew.
pub(super) fn with<T>(ordinal: usize, mut work: impl FnMut(&mut Device) -> Result<T, Error>) -> Result<T, Error> {
    let _host = HostContext::save()?;
    let mut devices = lock();
    if DEVICES.is_poisoned() {
        // A panic in the middle of a call: who knows what is half done.
        devices.clear();
        DEVICES.clear_poison();
    }
    let device = match devices.entry(ordinal) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(Device::open(ordinal)?),
    };
    let mut run = |device: &mut Device| {
        device.context.bind_to_thread().map_err(failed("cuCtxSetCurrent"))?;
        work(device)
    };
    let mut result = run(device);
    if matches!(result, Err(Error::OutOfMemory(_))) && device.staging.release() {
        result = run(device);
    }
    if matches!(result, Err(Error::Cuda(_) | Error::Internal(_))) {
        devices.remove(&ordinal);
    }
    result
}

/// Gives back all devices: contexts, modules, memory.
pub(super) fn release() {
    let mut devices = lock();
    if devices.is_empty() {
        // Perhaps there is no driver at all.
        return;
    }
    let _host = HostContext::save();
    devices.clear();
    DEVICES.clear_poison();
}

/// Forgets, without a call of the driver, what a forked process inherited: it is of no use there, not even to be released.
pub(super) fn forget() {
    std::mem::forget(std::mem::take(&mut *lock()));
}

fn lock() -> MutexGuard<'static, BTreeMap<usize, Device>> {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The context that the host, or another library in its process, had made current on this thread. It is current again when this is dropped.
pub(super) struct HostContext(sys::CUcontext);

impl HostContext {
    pub(super) fn save() -> Result<HostContext, Error> {
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
