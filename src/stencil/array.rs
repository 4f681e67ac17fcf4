//! Arrays of an engine, and sources and targets of data.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;

use super::{Error, Real};
use crate::platform::memory::pool::{self, Pooled};
use crate::platform::watch::Watch;

/// Numbers that an engine holds: on a device, or in memory of this library.
pub struct Array<T> {
    held: Box<dyn Held>,
    len: usize,
    class: std::marker::PhantomData<T>,
}

/// Omits the numbers: there may be millions.
impl<T> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array").field("len", &self.len).field("place", &self.place()).finish()
    }
}

/// An engine's storage of an array.
pub trait Held: Any + Send + Sync + fmt::Debug {
    /// Location for people: "the CPU's memory", "device 1".
    fn place(&self) -> String;

    /// Returns its address on a device, for code outside the engine that reads or writes it: waits until no queued work
    /// uses it. `None` if it lies in ordinary memory.
    ///
    /// # Errors
    /// Errors of the queued work.
    fn settle(&mut self) -> Option<Result<u64, Error>> {
        None
    }

    /// Returns a handle by which another process of this machine accesses it on its device, while it lives: waits until
    /// no queued work uses it. `None` if it lies in ordinary memory.
    ///
    /// # Errors
    /// Errors of the queued work; the driver's, if it shares memory with no other process.
    fn export(&mut self) -> Option<Result<Handle, Error>> {
        None
    }

    /// Makes the context of such an address current on this thread, until the guard is dropped.
    ///
    /// # Errors
    /// The driver's.
    fn enter(&self) -> Result<Box<dyn Any>, Error> {
        Ok(Box::new(()))
    }
}

/// Handle by which another process accesses an array on a device: see [`Held::export`].
pub type Handle = [u8; 64];

/// Storage of an engine that computes in ordinary memory.
impl<T: pool::Number + fmt::Debug + Sync> Held for Pooled<T> {
    fn place(&self) -> String {
        "the CPU's memory".into()
    }
}

impl<T: Pod + fmt::Debug + Send + Sync> Array<T> {
    /// Allocates `len` uninitialised elements, in ordinary memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn in_memory(len: usize) -> Result<Array<T>, Error> {
        Ok(Array::new(Pooled::<T>::new(len, "an array")?, len))
    }
}

impl<T> Array<T> {
    /// Wraps the storage of `len` elements.
    pub fn new(held: impl Held, len: usize) -> Array<T> {
        Array { held: Box::new(held), len, class: std::marker::PhantomData }
    }

    /// Returns exclusive access to an unshared array.
    ///
    /// # Errors
    /// [`Error::Internal`] if it is shared.
    pub(crate) fn alone(array: &mut Arc<Array<T>>) -> Result<&mut Array<T>, Error> {
        Arc::get_mut(array).ok_or_else(|| Error::Internal("A result that somebody else has.".into()))
    }

    /// See [`Held::export`].
    pub(crate) fn export(&mut self) -> Option<Result<Handle, Error>> {
        self.held.export()
    }

    /// Unwraps the engine's storage.
    pub(crate) fn into_held(self) -> Box<dyn Held> {
        self.held
    }

    /// Wraps [`Array::into_held`] of an array of `len` elements.
    pub(crate) fn of_held(held: Box<dyn Held>, len: usize) -> Array<T> {
        Array { held, len, class: std::marker::PhantomData }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Location for people.
    pub fn place(&self) -> String {
        self.held.place()
    }

    /// Returns the engine's storage, if it is of this type.
    ///
    /// # Errors
    /// [`Error::Foreign`] for an array of another engine.
    pub fn held<H: Held>(&self) -> Result<&H, Error> {
        let any: &dyn Any = &*self.held;
        any.downcast_ref().ok_or_else(|| Error::Foreign(self.place()))
    }

    /// As [`Array::held`].
    ///
    /// # Errors
    /// [`Error::Foreign`] for an array of another engine.
    pub fn held_mut<H: Held>(&mut self) -> Result<&mut H, Error> {
        let place = self.place();
        let any: &mut dyn Any = &mut *self.held;
        any.downcast_mut().ok_or(Error::Foreign(place))
    }
}

/// Source of samples.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a, T> {
    /// The host's memory.
    Host(&'a [T]),
    /// An array of the engine.
    Array(&'a Array<T>),
}

impl<T> Source<'_, T> {
    /// Number of samples.
    pub fn len(&self) -> usize {
        match self {
            Source::Host(samples) => samples.len(),
            Source::Array(array) => array.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a, T: Real> Source<'a, T> {
    /// Returns the samples, for an engine that computes in ordinary memory.
    ///
    /// # Errors
    /// [`Error::Foreign`] if they lie elsewhere.
    pub(crate) fn samples(self) -> Result<&'a [T], Error> {
        match self {
            Source::Host(samples) => Ok(samples),
            Source::Array(array) => array.held::<Pooled<T>>().map(|buffer| &**buffer),
        }
    }
}

/// Target of results.
#[derive(Debug)]
pub enum Target<'a, T> {
    /// The host's memory.
    Host(&'a mut [T]),
    /// An array of the engine.
    Array(&'a mut Array<T>),
}

impl<T> Target<'_, T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Target::Host(results) => results.len(),
            Target::Array(array) => array.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a, T: Real> Target<'a, T> {
    /// Returns the memory of the results, for an engine that computes in ordinary memory.
    ///
    /// # Errors
    /// [`Error::Foreign`] if it is elsewhere.
    pub(crate) fn results(self) -> Result<&'a mut [T], Error> {
        match self {
            Target::Host(results) => Ok(results),
            Target::Array(array) => array.held_mut::<Pooled<T>>().map(|buffer| &mut **buffer),
        }
    }
}

impl<'a, T> From<&'a [T]> for Source<'a, T> {
    fn from(samples: &'a [T]) -> Source<'a, T> {
        Source::Host(samples)
    }
}

impl<'a, T> From<&'a Array<T>> for Source<'a, T> {
    fn from(array: &'a Array<T>) -> Source<'a, T> {
        Source::Array(array)
    }
}

impl<'a, T> From<&'a mut [T]> for Target<'a, T> {
    fn from(results: &'a mut [T]) -> Target<'a, T> {
        Target::Host(results)
    }
}

impl<'a, T> From<&'a mut Array<T>> for Target<'a, T> {
    fn from(array: &'a mut Array<T>) -> Target<'a, T> {
        Target::Array(array)
    }
}

/// The arrays of an engine, of one class of numbers.
pub trait Arrays<T> {
    /// Allocates an array of this engine, of `len` uninitialised elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn array(&self, len: usize) -> Result<Array<T>, Error>;

    /// Allocates an array of `len` elements in memory that can be [exported](Held::export) by itself.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn array_for_others(&self, len: usize) -> Result<Array<T>, Error> {
        self.array(len)
    }

    /// Opens an array of `len` elements that another process has exported from a device of this machine. It may only be
    /// read, and must be dropped before that process drops it.
    ///
    /// # Errors
    /// The driver's; [`Error::Internal`] if this engine's arrays lie in ordinary memory.
    fn import(&self, _: &Handle, _len: usize) -> Result<Array<T>, Error> {
        Err(Error::Internal("An array of another process, for an engine without a device.".into()))
    }

    /// True if `arrays` arrays of `len` elements fit the memory, within the given limit.
    fn has_room(&self, arrays: usize, len: usize) -> Result<bool, Error>;

    /// Copies all elements from one array to another of the same length.
    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_printed_without_its_numbers() {
        let array = Array::<f64>::in_memory(1000).unwrap();
        assert_eq!(format!("{array:?}"), r#"Array { len: 1000, place: "the CPU's memory" }"#);
    }
}
