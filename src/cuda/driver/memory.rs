//! Owners of device memory and of pinned host memory; and budgets for them.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use bytemuck::Pod;
use cudarc::driver::{result, sys};

use super::context::{Context, Stream};
use super::error::failed;
use crate::stencil::{Error, Handle};

/// Default maximum of device memory for the buffers of a device, in bytes.
pub const DEFAULT_DEVICE_BYTES: usize = 256 << 20;

/// Budget of device memory, besides the user's own arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// The user's choice.
    requested: Option<usize>,
}

impl Budget {
    /// Takes the user's budget, if there is one.
    pub(crate) fn new(requested: Option<usize>) -> Budget {
        Budget { requested }
    }

    /// True if the user has chosen it: then it holds during a call, too.
    pub(crate) fn is_strict(self) -> bool {
        self.requested.is_some()
    }

    /// Returns the bytes that may be kept between calls.
    pub(crate) fn kept(self) -> usize {
        self.requested.unwrap_or(DEFAULT_DEVICE_BYTES)
    }

    /// Returns the bytes for one call, where `free` returns the free bytes of device memory.
    pub(crate) fn during_a_call(self, free: impl FnOnce() -> Result<usize, Error>) -> Result<usize, Error> {
        // Not all: the host, and other users of the device, may need some.
        self.requested.map_or_else(|| Ok(free()? / 5 * 4), Ok)
    }
}

/// Returns a handle by which another process opens the buffer at this address, in the current context.
///
/// # Errors
/// The driver's error.
pub(crate) fn handle_of(address: sys::CUdeviceptr) -> Result<Handle, Error> {
    let mut handle = sys::CUipcMemHandle { reserved: [0; _] };
    // SAFETY: there is room for a handle. The driver knows of which addresses it can give one.
    unsafe { sys::cuIpcGetMemHandle(&mut handle, address) }.result().map_err(failed("cuIpcGetMemHandle"))?;
    Ok(handle.reserved.map(|byte| byte as u8))
}

/// Returns the address of another process's buffer in the current context, until it is [closed](close). The devices may
/// be two that are peers.
///
/// # Errors
/// The driver's error.
pub(crate) fn open(handle: &Handle) -> Result<sys::CUdeviceptr, Error> {
    let handle = sys::CUipcMemHandle { reserved: handle.map(|byte| byte as c_char) };
    let flags = sys::CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
    let mut address = 0;
    // SAFETY: there is room for an address. The driver detects invalid and expired handles.
    unsafe { sys::cuIpcOpenMemHandle_v2(&mut address, handle, flags) }
        .result()
        .map_err(failed("cuIpcOpenMemHandle"))?;
    Ok(address)
}

/// Closes a buffer opened in the current context. No work that uses it is in flight.
pub(crate) fn close(address: sys::CUdeviceptr) {
    // SAFETY: it was opened, and is not in use. An error is one of the context, which other calls report, too.
    let _ = unsafe { sys::cuIpcCloseMemHandle(address) };
}

/// A buffer on the device.
#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    address: sys::CUdeviceptr,
    bytes: usize,
    context: Arc<Context>,
}

impl DeviceBuffer {
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<DeviceBuffer, Error> {
        context.bind()?;
        // Not from the stream-ordered pool, which keeps freed memory: it would not be counted.
        // SAFETY: the context is current.
        let address = unsafe { result::malloc_sync(bytes) }.map_err(failed("cuMemAlloc"))?;
        Ok(DeviceBuffer { address, bytes, context: context.clone() })
    }

    pub(crate) fn address(&self) -> sys::CUdeviceptr {
        self.address
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if let Some(_host) = self.context.enter_to_free() {
            // SAFETY: allocated in `new`, and no work that uses it is in flight: submitters wait for their work.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Pinned memory of the host, which the device accesses under the same address.
#[derive(Debug)]
pub(crate) struct PinnedBuffer {
    address: *mut c_void,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: it owns plain memory.
unsafe impl Send for PinnedBuffer {}

impl PinnedBuffer {
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<PinnedBuffer, Error> {
        context.bind()?;
        // No flags: write-combined memory, cudarc's own choice, is slow for the host to read, and results are read.
        // SAFETY: the context is current.
        let address = unsafe { result::malloc_host(bytes, 0) }.map_err(failed("cuMemHostAlloc"))?;
        // SAFETY: that many bytes are there; from here on they are initialised and may be seen as a slice.
        unsafe { address.write_bytes(0, bytes) };
        Ok(PinnedBuffer { address, bytes, context: context.clone() })
    }

    /// Returns the address under which the device sees it (unified addressing, which every 64-bit system has).
    pub(crate) fn address(&self) -> sys::CUdeviceptr {
        self.address as sys::CUdeviceptr
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if this is the address of some byte of it.
    pub(crate) fn holds(&self, address: sys::CUdeviceptr) -> bool {
        address.checked_sub(self.address()).is_some_and(|offset| (offset as usize) < self.bytes)
    }

    /// Returns the first `len` numbers. The device must not be at work on them.
    ///
    /// # Panics
    /// If it is too short.
    pub(crate) fn as_mut_slice<T: Pod>(&mut self, len: usize) -> &mut [T] {
        // SAFETY: that many bytes were allocated and are initialised, and they are ours alone: the device is not at
        // work on them.
        numbers(unsafe { std::slice::from_raw_parts_mut(self.address.cast(), self.bytes) }, len)
    }
}

/// Returns the first `len` numbers of a buffer.
///
/// # Panics
/// If it is too short, or misaligned.
fn numbers<T: Pod>(buffer: &mut [u8], len: usize) -> &mut [T] {
    let held = buffer.len();
    let bytes = len.checked_mul(size_of::<T>()).and_then(move |bytes| buffer.get_mut(..bytes));
    bytemuck::cast_slice_mut(
        bytes.unwrap_or_else(|| panic!("{len} numbers of {} bytes in a buffer of {held}", size_of::<T>())),
    )
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        if let Some(_host) = self.context.enter_to_free() {
            // SAFETY: as for `DeviceBuffer`.
            let _ = unsafe { result::free_host(self.address) };
        }
    }
}

/// Waits for its stream when it is dropped, also after an error or a panic.
///
/// It must be dropped before the memory that the stream's work reads and writes: as the first field of a struct, or as
/// the last of the locals, since these are dropped in reverse.
pub(crate) struct Idle {
    stream: Arc<Stream>,
    waited_for: bool,
}

impl Idle {
    pub(crate) fn new(stream: &Arc<Stream>) -> Idle {
        Idle { stream: stream.clone(), waited_for: false }
    }

    /// Returns the stream that will be waited for.
    pub(crate) fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Notes that the stream has been waited for.
    pub(crate) fn waited_for(mut self) {
        self.waited_for = true;
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        if !self.waited_for {
            self.stream.settle();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// Eight bytes aligned for a double, and some more.
    #[repr(C, align(8))]
    struct Buffer([u8; 20]);

    #[test]
    fn a_budget_that_was_asked_for_bounds_all() {
        let requested = Budget::new(Some(1000));
        assert_eq!((requested.kept(), requested.during_a_call(|| Ok(1 << 40))), (1000, Ok(1000)));
        let not = Budget::new(None);
        assert_eq!((not.kept(), not.during_a_call(|| Ok(1000))), (DEFAULT_DEVICE_BYTES, Ok(800)));
    }

    #[test]
    fn numbers_are_the_bytes_of_the_buffer() {
        let mut buffer = Buffer([0; 20]);
        numbers::<f64>(&mut buffer.0, 2).copy_from_slice(&[1.5, -2.0]);
        assert_eq!(buffer.0[..8], 1.5_f64.to_ne_bytes());
        assert_eq!(buffer.0[8..16], (-2.0_f64).to_ne_bytes());
        assert_eq!(buffer.0[16..], [0; 4]);
        assert_eq!(numbers::<f32>(&mut buffer.0, 5).len(), 5);
        assert_eq!(numbers::<f64>(&mut buffer.0, 0), [0.0; 0]);
    }

    #[test]
    fn numbers_that_are_not_there_are_refused() {
        for len in [3, usize::MAX / 8 + 1, usize::MAX] {
            assert!(
                catch_unwind(|| numbers::<f64>(&mut Buffer([0; 20]).0, len).len()).is_err(),
                "{len} doubles in 20 bytes"
            );
        }
        assert!(
            catch_unwind(|| numbers::<f64>(&mut Buffer([0; 20]).0[4..], 1).len()).is_err(),
            "a double at half its place"
        );
    }
}
