//! Bytes of messages.

use std::any::Any;

use crate::platform::memory;
use crate::platform::memory::pool::Pooled;
use crate::stencil::{Array, Error, Held, Real};

/// The bytes of a message.
#[derive(Debug)]
pub enum Bytes {
    /// In the host's memory.
    Host(Vec<u8>),
    /// In pooled host memory, which later messages reuse.
    Pooled(InPool),
    /// On a device.
    Device(OnDevice),
}

/// Bytes in reused host memory. They are aligned for every numeric type.
#[derive(Debug)]
pub struct InPool {
    words: Pooled<u64>,
    len: usize,
}

/// From this many bytes on, a fresh allocation takes longer than the copy.
const POOLED_BYTES: usize = 64 << 10;

/// Bytes on a device, in an allocation of their own.
#[derive(Debug)]
pub struct OnDevice {
    held: Box<dyn Held>,
    address: u64,
    len: usize,
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes::Host(bytes)
    }
}

impl Bytes {
    /// Allocates `len` zeros in the host's memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; `what` names their purpose in its message.
    pub fn zeros(len: usize, what: &'static str) -> Result<Bytes, Error> {
        Ok(Bytes::Host(memory::zeros(len, what)?))
    }

    /// Allocates `len` uninitialised bytes in the host's memory, for messages of every round.
    ///
    /// # Errors
    /// As [`Bytes::zeros`].
    pub(super) fn room(len: usize, what: &'static str) -> Result<Bytes, Error> {
        if len < POOLED_BYTES {
            return Bytes::zeros(len, what);
        }
        Ok(Bytes::Pooled(InPool { words: Pooled::new(len.div_ceil(size_of::<u64>()), what)?, len }))
    }

    /// Takes the bytes of an array that an engine holds on a device. Waits for the work queued there.
    ///
    /// # Errors
    /// [`Error::Internal`] for an array in ordinary memory; the driver's error.
    pub(super) fn of_array<T: Real>(array: Array<T>) -> Result<Bytes, Error> {
        let (len, place) = (array.len() * size_of::<T>(), array.place());
        let mut held = array.into_held();
        let address = held.settle().unwrap_or_else(|| Err(Error::Internal(format!("A message in {place}."))))?;
        Ok(Bytes::Device(OnDevice { held, address, len }))
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Bytes::Host(bytes) => bytes.len(),
            Bytes::Pooled(bytes) => bytes.len,
            Bytes::Device(bytes) => bytes.len,
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes if they are in the host's memory.
    ///
    /// # Errors
    /// [`Error::Internal`] if they are elsewhere.
    pub fn into_host(self) -> Result<Vec<u8>, Error> {
        match self {
            Bytes::Host(bytes) => Ok(bytes),
            Bytes::Pooled(bytes) => {
                let mut copy = memory::with_room(bytes.len, "a message")?;
                copy.extend_from_slice(bytes.as_slice());
                Ok(copy)
            }
            Bytes::Device(bytes) => Err(Error::Internal(format!("A message lies in {}.", bytes.held.place()))),
        }
    }

    /// Keeps the first `len` bytes in the host's memory. Memory on a device keeps its size, however much arrived.
    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Bytes::Host(bytes) => bytes.truncate(len),
            Bytes::Pooled(bytes) => bytes.len = bytes.len.min(len),
            Bytes::Device(_) => {}
        }
    }

    /// Address of the bytes. It may be written through: nothing else refers to them.
    pub(super) fn address(&mut self) -> *mut u8 {
        match self {
            Bytes::Host(bytes) => bytes.as_mut_ptr(),
            Bytes::Pooled(bytes) => bytes.words.as_mut_ptr().cast(),
            Bytes::Device(bytes) => std::ptr::with_exposed_provenance_mut(bytes.address as usize),
        }
    }

    /// Makes the context of a device's address current on this thread until the guard is dropped; `None` for bytes that
    /// need none.
    ///
    /// # Errors
    /// The driver's.
    pub(super) fn enter(&self) -> Result<Option<Box<dyn Any>>, Error> {
        match self {
            Bytes::Host(_) | Bytes::Pooled(_) => Ok(None),
            Bytes::Device(bytes) => bytes.held.enter().map(Some),
        }
    }
}

impl InPool {
    pub(super) fn as_slice(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }
}

impl OnDevice {
    /// Turns the bytes back into an array.
    pub(super) fn into_array<T: Real>(self) -> Array<T> {
        Array::of_held(self.held, self.len / size_of::<T>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_of_the_pool_where_it_is_large_and_shrinks_to_what_came() {
        for len in [0, 1, POOLED_BYTES - 1, POOLED_BYTES, POOLED_BYTES + 3] {
            let mut bytes = Bytes::room(len, "a test").unwrap();
            assert_eq!((bytes.len(), matches!(bytes, Bytes::Pooled(_))), (len, len >= POOLED_BYTES));
            let address = bytes.address();
            for place in 0..len {
                // SAFETY: within the bytes, which nothing else refers to.
                unsafe { address.add(place).write(place as u8) };
            }
            bytes.truncate(len + 1);
            assert_eq!(bytes.len(), len);
            bytes.truncate(len / 2);
            let expected: Vec<u8> = (0..len / 2).map(|place| place as u8).collect();
            assert_eq!(bytes.into_host().unwrap(), expected);
        }
    }
}
