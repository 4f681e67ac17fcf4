//! The work of one call on the device's queue.

use std::sync::Arc;

use bytemuck::Pod;
use cudarc::driver::{result, sys};

use crate::cuda::driver::context::{Context, Stream};
use crate::cuda::driver::error::failed;
use crate::cuda::kernels::Family;
use crate::cuda::routes::array::DeviceArray;
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::module::Modules;
use crate::cuda::runtime::queue::{Beginning, CallBuffers, LANDING_BYTES, Load, Queue};
use crate::platform::watch::Watch;
use crate::stencil::{Array, Error};

/// The work of one call, and the buffers that it uses.
pub(super) struct Queued<'d, K> {
    own: CallBuffers,
    pub(super) kernels: K,
    queue: Arc<Queue>,
    beginning: Beginning,
    name: &'static str,
    device: &'d mut Device,
    watch: &'d Watch,
}

impl<'d, K: Family> Queued<'d, K> {
    /// Before anything of it is put on the stream; `name` is what it is, for people.
    pub(super) fn begin(device: &'d mut Device, name: &'static str, watch: &'d Watch) -> Result<Queued<'d, K>, Error> {
        watch.check()?;
        let kernels = K::load(&device.modules)?;
        let queue = device.queue.clone();
        let beginning = queue.begin(&Load { name, pace: None, bytes: 0 })?;
        Ok(Queued { own: CallBuffers::new(&queue), kernels, queue, beginning, name, device, watch })
    }

    pub(super) fn stream(&self) -> &Stream {
        self.queue.stream()
    }

    /// Room for `len` numbers, for this call.
    pub(super) fn room_for<N>(&mut self, len: usize) -> Result<sys::CUdeviceptr, Error> {
        let too_large = || Error::OutOfMemory(format!("There is no memory for {len} elements."));
        self.own.room_for(len.checked_mul(size_of::<N>()).ok_or_else(too_large)?)
    }

    /// An array for results that stay on the device.
    pub(super) fn array<N>(&mut self, len: usize) -> Result<Array<N>, Error> {
        DeviceArray::with_room_for(self.device, len)
    }

    /// For kernels of another family.
    pub(super) fn modules(&self) -> &Modules {
        &self.device.modules
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.device.context
    }

    /// Has numbers of the host on the device. They are there when this returns.
    pub(super) fn send<N: Pod + Send + Sync>(&mut self, input: &[N]) -> Result<sys::CUdeviceptr, Error> {
        let to = self.room_for::<N>(input.len())?;
        // SAFETY: there is room for as many.
        unsafe { self.send_to(input, to) }?;
        Ok(to)
    }

    /// Has numbers of the host at an address. They are there when this returns.
    ///
    /// # Safety
    /// There is room for as many.
    pub(super) unsafe fn send_to<N: Pod + Send + Sync>(
        &mut self,
        input: &[N],
        to: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        self.queue.wait()?;
        // SAFETY: as the caller says; nothing that uses it is under way after that wait.
        unsafe { self.device.slots.upload(&self.device.context, input, to, self.watch) }
    }

    /// Has what was computed at an address in the memory of the host. It is there when this returns.
    ///
    /// # Safety
    /// There are as many numbers.
    pub(super) unsafe fn fetch<N: Pod + Send + Sync>(
        &mut self,
        from: sys::CUdeviceptr,
        output: &mut [N],
    ) -> Result<(), Error> {
        if size_of_val(output) > LANDING_BYTES {
            self.queue.wait()?;
            // SAFETY: there is as much, and what wrote it is over.
            return unsafe { self.device.slots.download(&self.device.context, from, None, output, self.watch) };
        }
        // SAFETY: there is as much; all that writes it is on the queue.
        unsafe { self.queue.fetch(from, bytemuck::cast_slice_mut(output)) }
    }

    /// Has `put` put the kernels on the stream that write the results to an address: of the host's own memory, where they are
    /// few.
    ///
    /// # Safety
    /// They write no more than these results.
    pub(super) unsafe fn land<N: Pod + Send + Sync>(
        &mut self,
        output: &mut [N],
        put: impl FnOnce(&K, sys::CUstream, sys::CUdeviceptr) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if size_of_val(output) <= LANDING_BYTES {
            let kernels = &self.kernels;
            let output = bytemuck::cast_slice_mut(output);
            return self.queue.land(output, |landing, stream| put(kernels, stream, landing.address()));
        }
        let results = self.room_for::<N>(output.len())?;
        let stream = self.queue.stream().handle();
        put(&self.kernels, stream, results)?;
        // SAFETY: there are as many; what writes them is on the stream.
        unsafe { self.fetch(results, output) }
    }

    /// Copies so many numbers on the device.
    ///
    /// # Safety
    /// There are as many at both addresses, and they are not the same.
    pub(super) unsafe fn copy(&self, [from, to]: [sys::CUdeviceptr; 2], len: usize) -> Result<(), Error> {
        // SAFETY: as the caller says; all that uses them is on this stream.
        unsafe { result::memcpy_dtod_async(to, from, len * size_of::<K::Element>(), self.stream().handle()) }
            .map_err(failed("cuMemcpyDtoDAsync"))
    }

    /// All of it is on the stream: so many elements are read, and so many written, which count.
    pub(super) fn end(self, read: usize, written: usize) -> Result<(), Error> {
        let bytes = read.saturating_add(written).saturating_mul(size_of::<K::Element>());
        self.queue.submitted(&Load { name: self.name, pace: None, bytes }, self.beginning)?;
        self.watch.count(written);
        Ok(())
    }
}
