//! Bytes of messages.

use std::any::Any;

use crate::memory;
use crate::stencil::{Array, Error, Held, Real};

/// The bytes of a message.
#[derive(Debug)]
pub enum Bytes {
    /// In the host's memory.
    Host(Vec<u8>),
    /// On a device.
    Device(OnDevice),
}

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
    /// So many zeros in the host's memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; `what` they are for, for people.
    pub fn zeros(len: usize, what: &'static str) -> Result<Bytes, Error> {
        Ok(Bytes::Host(memory::zeros(len, what)?))
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
            Bytes::Device(bytes) => Err(Error::Internal(format!("A message lies in {}.", bytes.held.place()))),
        }
    }

    /// Where they are. What lies there may be written: they are nobody else's.
    pub(super) fn address(&mut self) -> *mut u8 {
        match self {
            Bytes::Host(bytes) => bytes.as_mut_ptr(),
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
            Bytes::Host(_) => Ok(None),
            Bytes::Device(bytes) => bytes.held.enter().map(Some),
        }
    }
}

impl OnDevice {
    /// As the array that they were.
    pub(super) fn into_array<T: Real>(self) -> Array<T> {
        Array::of_held(self.held, self.len / size_of::<T>())
    }
}
