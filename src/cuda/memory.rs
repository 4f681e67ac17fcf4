//! Memory of the device, and page-locked memory of the host, each freed by its owner.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{CudaContext, result, sys};

use super::error::failed;
use crate::stencil::Error;

/// Bytes on the device.
#[derive(Debug)]
pub(super) struct DeviceBuffer {
    address: sys::CUdeviceptr,
    bytes: usize,
    context: Arc<CudaContext>,
}

impl DeviceBuffer {
    pub(super) fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<DeviceBuffer, Error> {
        context.bind_to_thread().map_err(failed("cuCtxSetCurrent"))?;
        // Not from the stream-ordered pool, which keeps what is freed: what we hold is to be what we say we hold.
        // SAFETY: the context is current.
        let address = unsafe { result::malloc_sync(bytes) }.map_err(failed("cuMemAlloc"))?;
        Ok(DeviceBuffer { address, bytes, context: context.clone() })
    }

    pub(super) fn address(&self) -> sys::CUdeviceptr {
        self.address
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        self.context.record_err(self.context.bind_to_thread());
        // SAFETY: allocated in `new`, and no work that uses it is under way: who submits work waits for it.
        self.context.record_err(unsafe { result::free_sync(self.address) });
    }
}

/// Page-locked bytes on the host, which the device reaches under the same address.
#[derive(Debug)]
pub(super) struct PinnedBuffer {
    address: *mut c_void,
    bytes: usize,
    context: Arc<CudaContext>,
}

// SAFETY: it owns plain memory.
unsafe impl Send for PinnedBuffer {}

impl PinnedBuffer {
    pub(super) fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<PinnedBuffer, Error> {
        context.bind_to_thread().map_err(failed("cuCtxSetCurrent"))?;
        // No flags: write-combined memory, cudarc's own choice, is slow for the host to read, and results are read.
        // SAFETY: the context is current.
        let address = unsafe { result::malloc_host(bytes, 0) }.map_err(failed("cuMemHostAlloc"))?;
        // SAFETY: as many bytes are there; from here on they have a value and may be seen as a slice.
        unsafe { address.write_bytes(0, bytes) };
        Ok(PinnedBuffer { address, bytes, context: context.clone() })
    }

    /// The address under which the device sees it (unified addressing, which every 64-bit system has).
    pub(super) fn address(&self) -> sys::CUdeviceptr {
        self.address as sys::CUdeviceptr
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether this is the address of some byte of it.
    pub(super) fn holds(&self, address: sys::CUdeviceptr) -> bool {
        address.checked_sub(self.address()).is_some_and(|offset| (offset as usize) < self.bytes)
    }

    /// The first `len` numbers. The device must not be at work on them.
    pub(super) fn as_mut_slice<T: cudarc::driver::DeviceRepr>(&mut self, len: usize) -> &mut [T] {
        assert!(len * size_of::<T>() <= self.bytes);
        // SAFETY: the memory is ours, page-aligned, long enough, initialised, and numbers may have any bits.
        unsafe { std::slice::from_raw_parts_mut(self.address.cast(), len) }
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        self.context.record_err(self.context.bind_to_thread());
        // SAFETY: as for `DeviceBuffer`.
        self.context.record_err(unsafe { result::free_host(self.address) });
    }
}
