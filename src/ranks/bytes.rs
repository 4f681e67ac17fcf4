//! Bytes of messages.

use std::any::Any;

use crate::memory;
use crate::memory::pool::Pooled;
use crate::stencil::{Array, Error, Held, Real};

/// The bytes of a message.
#[derive(Debug)]
pub enum Bytes {
    /// In the host's memory.
    Host(Vec<u8>),
    /// In memory of the host's that serves the next message, too.
    Pooled(InPool),
    /// On a device.
    Device(OnDevice),
}

/// Bytes in memory of the host's that is used again and again. They begin where any number may.
#[derive(Debug)]
pub struct InPool {
    words: Pooled<u64>,
    len: usize,
}

/// From this many bytes on, fresh memory takes longer than to copy them.
const POOLED_BYTES: usize = 64 << 10;

/// Bytes on a device, at an address that belongs to nobody else.
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
    /// `len` zeros in the host's memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; `what` they are for, for people.
    pub fn zeros(len: usize, what: &'static str) -> Result<Bytes, Error> {
        Ok(Bytes::Host(memory::zeros(len, what)?))
    }

    /// `len` bytes of no known value in the host's memory, for messages that come round after round.
    ///
    /// # Errors
    /// As [`Bytes::zeros`].
    pub(super) fn room(len: usize, what: &'static str) -> Result<Bytes, Error> {
        if len < POOLED_BYTES {
            return Bytes::zeros(len, what);
        }
        Ok(Bytes::Pooled(InPool { words: Pooled::new(len.div_ceil(size_of::<u64>()), what)?, len }))
    }

    /// Those of an array that an engine holds on a device. This waits for what is under way there.
    ///
    /// # Errors
    /// [`Error::Internal`] for one in ordinary memory; what went wrong on the device.
    pub(super) fn of_array<T: Real>(array: Array<T>) -> Result<Bytes, Error> {
        let (len, place) = (array.len() * size_of::<T>(), array.place());
        let mut held = array.into_held();
        let address = held.settle().unwrap_or_else(|| Err(Error::Internal(format!("A message in {place}."))))?;
        Ok(Bytes::Device(OnDevice { held, address, len }))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Bytes::Host(bytes) => bytes.len(),
            Bytes::Pooled(bytes) => bytes.len,
            Bytes::Device(bytes) => bytes.len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those in the host's memory.
    ///
    /// # Errors
    /// [`Error::Internal`] where they lie elsewhere.
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

    /// Forgets all but the first so many of those in the host's memory. On a device there is room for all, whatever
    /// came.
    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Bytes::Host(bytes) => bytes.truncate(len),
            Bytes::Pooled(bytes) => bytes.len = bytes.len.min(len),
            Bytes::Device(_) => {}
        }
    }

    /// Where they are. What lies there may be written: they are nobody else's.
    pub(super) fn address(&mut self) -> *mut u8 {
        match self {
            Bytes::Host(bytes) => bytes.as_mut_ptr(),
            Bytes::Pooled(bytes) => bytes.words.as_mut_ptr().cast(),
            Bytes::Device(bytes) => std::ptr::with_exposed_provenance_mut(bytes.address as usize),
        }
    }

    /// Makes current on this thread what their address belongs to, until the guard is dropped; `None` where they need
    /// nothing.
    ///
    /// # Errors
    /// What the driver says.
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
    /// As the array that they were.
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
                // SAFETY: within the bytes, which are nobody else's.
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
