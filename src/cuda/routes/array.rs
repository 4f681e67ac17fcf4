//! Arrays that lie on the device, and who may touch them: the engine's own, those of another library in the process,
//! and those of another process.

use std::any::Any;
use std::sync::Arc;

use cudarc::driver::sys;

use crate::cuda::driver::context::{Context, HostContext};
use crate::cuda::driver::memory::{self, DeviceBuffer};
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::queue::Queue;
use crate::stencil::{Array, Error, Handle, Held, Real, Source, Target};

/// What the engine holds of an array.
#[derive(Debug)]
pub(crate) enum DeviceArray {
    /// A buffer of the queue's. There is one until the array is dropped.
    Own { buffer: Option<DeviceBuffer>, queue: Arc<Queue> },
    /// Memory of somebody else's, in the primary context of the device with this ordinal: it is never freed, never kept
    /// and never exchanged, and nothing that uses it is under way when a call ends.
    Foreign { address: sys::CUdeviceptr, ordinal: usize },
    /// Memory of another process's, open in this one.
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
            // Somebody else's work may be under way there.
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

/// Arrays go at any time, on any thread: the context that is current there stays so.
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
                // What goes wrong here went wrong before, and that process answers for the memory.
                let _ = queue.context().bind();
                queue.finish();
                memory::close(*address);
            }
            DeviceArray::Imported { .. } | DeviceArray::Foreign { .. } => {}
        }
    }
}

impl DeviceArray {
    /// The ordinal of its device.
    pub(crate) fn ordinal(&self) -> usize {
        match self {
            DeviceArray::Own { queue, .. } | DeviceArray::Imported { queue, .. } => queue.context().ordinal(),
            DeviceArray::Foreign { ordinal, .. } => *ordinal,
        }
    }

    /// Room for `len` elements.
    pub(crate) fn with_room_for<T>(device: &mut Device, len: usize) -> Result<Array<T>, Error> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| too_large(len))?;
        // At least a byte: there is no buffer of none.
        let buffer = device.queue.take_for_array(bytes.max(1))?;
        Ok(Array::new(DeviceArray::Own { buffer: Some(buffer), queue: device.queue.clone() }, len))
    }

    /// Room for `len` elements in whole blocks of the driver's. The driver puts smaller buffers into one block, and
    /// what another process opens is the block: of two buffers in one it would get one address.
    pub(crate) fn with_room_alone<T: Real>(device: &mut Device, len: usize) -> Result<Array<T>, Error> {
        let bytes =
            len.checked_mul(size_of::<T>()).and_then(|bytes| bytes.max(1).checked_next_multiple_of(BLOCK_BYTES));
        let buffer = device.queue.take_for_array(bytes.ok_or_else(|| too_large(len))?)?;
        Ok(Array::new(DeviceArray::Own { buffer: Some(buffer), queue: device.queue.clone() }, len))
    }

    /// Another process's array of `len` elements, which that has exported.
    pub(crate) fn of_another_process<T: Real>(
        device: &mut Device,
        handle: &Handle,
        len: usize,
    ) -> Result<Array<T>, Error> {
        let address = memory::open(handle)?;
        Ok(Array::new(DeviceArray::Imported { address, queue: device.queue.clone() }, len))
    }

    /// Where it lies, for a call on the device of this context.
    ///
    /// # Errors
    /// [`Error::Foreign`] for another device; what broke the device that it lay on.
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
            // Whatever becomes of a context of ours, the memory's owner answers for its being there.
            DeviceArray::Foreign { address, ordinal } => (*address, *ordinal == context.ordinal()),
        };
        if here { Ok(address) } else { Err(Error::Foreign(self.place())) }
    }
}

/// The bytes of the blocks in which the driver takes a device's memory.
const BLOCK_BYTES: usize = 2 << 20;

pub(super) fn too_large(len: usize) -> Error {
    Error::OutOfMemory(format!("There is no memory for {len} elements."))
}

/// Where an array lies, for a call on the device of this context.
pub(crate) fn address<T>(array: &Array<T>, context: &Arc<Context>) -> Result<sys::CUdeviceptr, Error> {
    array.held::<DeviceArray>()?.address(context)
}

/// Whether memory of somebody else's is read or written.
pub(super) fn borrows<T>(from: &Source<T>, to: &Target<T>) -> bool {
    matches!(from, Source::Array(array) if is_foreign(array)) || matches!(to, Target::Array(array) if is_foreign(array))
}

/// Whether an array is somebody else's.
pub(crate) fn is_foreign<T>(array: &Array<T>) -> bool {
    matches!(array.held(), Ok(DeviceArray::Foreign { .. }))
}

/// Does `work` on a device. Where that uses memory of somebody else's, it is over when this returns, whatever happens.
pub(super) fn over_before_return(
    device: &mut Device,
    borrows: bool,
    work: impl FnOnce(&mut Device) -> Result<(), Error>,
) -> Result<(), Error> {
    /// Waits for the queue on the way out.
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

/// An array becomes what the first `bytes` bytes of a buffer hold: it takes the buffer, and leaves its own.
///
/// # Safety
/// Both have as many bytes, and all that uses them is on the queue's stream.
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
        // SAFETY: as the caller says.
        DeviceArray::Foreign { address, .. } => unsafe { queue.copy(*address, buffer.address(), bytes) },
    }
}
