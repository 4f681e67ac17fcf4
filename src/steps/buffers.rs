//! Arrays of a run: results of a step, and arrays to reuse.

use std::sync::Arc;

use crate::stencil::program::Value;
use crate::stencil::{Array, Engine, Error, Noted, Number, Numbers};

/// Results of a step, and arrays that are free for reuse.
pub(super) struct Buffers {
    pub(super) results: Vec<Option<Numbers>>,
    pub(super) spare: Vec<Numbers>,
    /// Kernels deferred for a chain, while one is recorded.
    pub(super) noted: Option<Vec<Noted>>,
}

/// Allocates an uninitialised array.
pub(super) fn room(engine: &(dyn Engine + 'static), single: bool, len: usize) -> Result<Numbers, Error> {
    fn new<T: Number>(engine: &(dyn Engine + 'static), len: usize) -> Result<Numbers, Error> {
        let array: Array<T> = engine.arrays::<T>().array(len)?;
        Ok(T::numbers(Arc::new(array)))
    }
    if single { new::<f32>(engine, len) } else { new::<f64>(engine, len) }
}

impl Buffers {
    /// Returns an unshared array, reused if possible.
    pub(super) fn room(&mut self, engine: &(dyn Engine + 'static), single: bool, len: usize) -> Result<Numbers, Error> {
        let fits = |spare: &Numbers| spare.is_single() == single && spare.len() == len;
        match self.spare.iter().position(fits) {
            Some(found) => Ok(self.spare.swap_remove(found)),
            None => room(engine, single, len),
        }
    }

    /// Takes a result if it is unshared.
    pub(super) fn alone(result: &mut Option<Numbers>) -> Option<Numbers> {
        let is_alone = match result.as_mut()? {
            Numbers::Double(array) => Array::alone(array).is_ok(),
            Numbers::Single(array) => Array::alone(array).is_ok(),
        };
        if is_alone { result.take() } else { None }
    }

    /// Releases an array. It is reused if it is unshared.
    pub(super) fn release(&mut self, numbers: Numbers) {
        self.spare.extend(Buffers::alone(&mut Some(numbers)));
    }

    /// Releases a result.
    pub(super) fn drop_result(&mut self, of: Value) {
        self.results[of.0].take().into_iter().for_each(|result| self.release(result));
    }
}
