//! Arrays that lie on the device, and their owners: the engine, another library in the process, or another process.

use std::any::Any;
use std::sync::Arc;

use cudarc::driver::sys;

use crate::cuda::driver::context::{Context, HostContext};
use crate::cuda::driver::memory::{self, DeviceBuffer};
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::queue::Queue;
use crate::stencil::{Array, Error, Handle, Held, Real, Source, Target};

/// Memory of an array.
#[derive(Debug)]
pub(crate) enum DeviceArray {
    /// A buffer of the queue. There is one until the array is dropped.
    Own { buffer: Option<DeviceBuffer>, queue: Arc<Queue> },
    /// Memory of another library, in the primary context of the device with this ordinal: it is never freed, never kept
    /// and never exchanged, and no work that uses it is in flight when a call ends.
    Foreign { address: sys::CUdeviceptr, ordinal: usize },
    /// Memory of another process, open in this one.
    Imported { address: sys::CUdeviceptr, queue: Arc<Queue> },
}

impl Held for DeviceArray {
    fn place(&self) -> String {
        format!("the memory of device {}", self.ordinal() + 1)
    }

    fn settle(&mut self) -> Option<Result<u64, Error>> {
        Some(match self {
            DeviceArray::Own { buffer: Some(buffer), queue } => {
                let _host = HostContext::save();
                let context = queue.context();
                context
                    .bind()
                    .and_then(|()| queue.wait())
                    .map_err(|error| queue.blame(error))
                    .map(|()| buffer.address())
            }
            DeviceArray::Own { buffer: None, .. } => Err(Error::Internal("An array without its buffer.".into())),
            // The owner's work may be in flight there.
            DeviceArray::Foreign { .. } | DeviceArray::Imported { .. } => {
                Err(Error::Internal("An array that is not the engine's own.".into()))
            }
        })
    }

    fn export(&mut self) -> Option<Result<Handle, Error>> {
        let address = self.settle()?;
        Some(address.and_then(|address| {
            let _entered = self.enter()?;
            memory::handle_of(address)
        }))
    }

    fn enter(&self) -> Result<Box<dyn Any>, Error> {
        let host = HostContext::save()?;
        if let DeviceArray::Own { queue, .. } = self {
            queue.context().bind()?;
        }
        Ok(Box::new(host))
    }
}

/// Arrays are dropped at any time, on any thread: the context that is current there stays current.
impl Drop for DeviceArray {
    fn drop(&mut self) {
        // In a forked process not even the queue's lock may be touched.
        match self {
            DeviceArray::Own { buffer, queue } => {
                if let Some(buffer) = buffer.take().filter(|_| queue.context().is_ours()) {
                    let _host = HostContext::save();
                    queue.give_up(buffer);
                }
            }
            DeviceArray::Imported { address, queue } if queue.context().is_ours() => {
                let _host = HostContext::save();
                // An error here has occurred before, and the other process owns the memory.
                let _ = queue.context().bind();
                queue.finish();
                memory::close(*address);
            }
            DeviceArray::Imported { .. } | DeviceArray::Foreign { .. } => {}
        }
    }
}

impl DeviceArray {
    /// Returns the ordinal of its device.
    pub(crate) fn ordinal(&self) -> usize {
        match self {
            DeviceArray::Own { queue, .. } | DeviceArray::Imported { queue, .. } => queue.context().ordinal(),
            DeviceArray::Foreign { ordinal, .. } => *ordinal,
        }
    }

    /// Allocates `len` elements.
    pub(crate) fn with_room_for<T>(device: &mut Device, len: usize) -> Result<Array<T>, Error> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| too_large(len))?;
        // At least a byte: there are no empty buffers.
        let buffer = device.queue.take_for_array(bytes.max(1))?;
        Ok(Array::new(DeviceArray::Own { buffer: Some(buffer), queue: device.queue.clone() }, len))
    }

    /// Allocates `len` elements in whole blocks of the driver. The driver puts smaller buffers into one block, and
    /// another process opens the block: for two buffers in one it would get one address.
    pub(crate) fn with_room_alone<T: Real>(device: &mut Device, len: usize) -> Result<Array<T>, Error> {
        let bytes =
            len.checked_mul(size_of::<T>()).and_then(|bytes| bytes.max(1).checked_next_multiple_of(BLOCK_BYTES));
        let buffer = device.queue.take_for_array(bytes.ok_or_else(|| too_large(len))?)?;
        Ok(Array::new(DeviceArray::Own { buffer: Some(buffer), queue: device.queue.clone() }, len))
    }

    /// Opens another process's exported array of `len` elements.
    pub(crate) fn of_another_process<T: Real>(
        device: &mut Device,
        handle: &Handle,
        len: usize,
    ) -> Result<Array<T>, Error> {
        let address = memory::open(handle)?;
        Ok(Array::new(DeviceArray::Imported { address, queue: device.queue.clone() }, len))
    }

    /// Returns its address, for a call on the device of this context.
    ///
    /// # Errors
    /// [`Error::Foreign`] for another device; the error that broke its device.
    fn address(&self, context: &Arc<Context>) -> Result<sys::CUdeviceptr, Error> {
        let (address, here) = match self {
            DeviceArray::Own { buffer, queue } => {
                let buffer = buffer.as_ref().ok_or_else(|| Error::Internal("An array without its buffer.".into()))?;
                queue.context().alive()?;
                (buffer.address(), Arc::ptr_eq(queue.context(), context))
            }
            DeviceArray::Imported { address, queue } => {
                queue.context().alive()?;
                (*address, Arc::ptr_eq(queue.context(), context))
            }
            // The memory's owner guarantees that it is there, whatever happens to a context of ours.
            DeviceArray::Foreign { address, ordinal } => (*address, *ordinal == context.ordinal()),
        };
        if here { Ok(address) } else { Err(Error::Foreign(self.place())) }
    }
}

/// Bytes of the blocks in which the driver allocates device memory.
const BLOCK_BYTES: usize = 2 << 20;

pub(super) fn too_large(len: usize) -> Error {
    Error::OutOfMemory(format!("There is no memory for {len} elements."))
}

/// Returns the address of an array, for a call on the device of this context.
pub(crate) fn address<T>(array: &Array<T>, context: &Arc<Context>) -> Result<sys::CUdeviceptr, Error> {
    array.held::<DeviceArray>()?.address(context)
}

/// True if memory of another library is read or written.
pub(super) fn borrows<T>(from: &Source<T>, to: &Target<T>) -> bool {
    matches!(from, Source::Array(array) if is_foreign(array)) || matches!(to, Target::Array(array) if is_foreign(array))
}

/// True if another library owns the array.
pub(crate) fn is_foreign<T>(array: &Array<T>) -> bool {
    matches!(array.held(), Ok(DeviceArray::Foreign { .. }))
}

/// Does `work` on a device. If that uses memory of another library, this waits for its end, also after an error.
pub(super) fn over_before_return(
    device: &mut Device,
    borrows: bool,
    work: impl FnOnce(&mut Device) -> Result<(), Error>,
) -> Result<(), Error> {
    /// Waits for the queue when dropped.
    struct Settled(Arc<Queue>);
    impl Drop for Settled {
        fn drop(&mut self) {
            self.0.finish();
        }
    }
    if !borrows {
        return work(device);
    }
    let settled = Settled(device.queue.clone());
    work(device)?;
    settled.0.wait()
}

/// Makes the first `bytes` bytes of a buffer an array's contents: the array takes the buffer, and leaves its own.
///
/// # Safety
/// Both have that many bytes, and all work that uses them is on the queue's stream.
pub(super) unsafe fn take_over<T>(
    queue: &Queue,
    array: &mut Array<T>,
    buffer: &mut DeviceBuffer,
    bytes: usize,
) -> Result<(), Error> {
    match array.held_mut::<DeviceArray>()? {
        DeviceArray::Own { buffer: Some(of_array), .. } => {
            queue.exchange(of_array, buffer);
            Ok(())
        }
        DeviceArray::Own { buffer: None, .. } => Err(Error::Internal("An array without its buffer.".into())),
        DeviceArray::Imported { .. } => Err(Error::Internal("Another process's array is read alone.".into())),
        // SAFETY: by the caller's promise.
        DeviceArray::Foreign { address, .. } => unsafe { queue.copy(*address, buffer.address(), bytes) },
    }
}
