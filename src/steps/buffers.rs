//! The arrays of a run: what is computed in a step, and what is written to again.

use std::sync::Arc;

use super::Number;
use crate::stencil::program::{Numbers, Value};
use crate::stencil::{Array, Engine, Error, Noted};

/// The results of a step, and arrays that nobody needs any more.
pub(super) struct Buffers {
    pub(super) results: Vec<Option<Numbers>>,
    pub(super) spare: Vec<Numbers>,
    /// Kernels that are put off, while they are.
    pub(super) noted: Option<Vec<Noted>>,
}

/// An array of unknown numbers.
pub(super) fn room(engine: &(dyn Engine + 'static), single: bool, len: usize) -> Result<Numbers, Error> {
    fn new<T: Number>(engine: &(dyn Engine + 'static), len: usize) -> Result<Numbers, Error> {
        let array: Array<T> = T::compute(engine).array(len)?;
        Ok(T::numbers(Arc::new(array)))
    }
    if single { new::<f32>(engine, len) } else { new::<f64>(engine, len) }
}

impl Buffers {
    /// An array that nobody else has.
    pub(super) fn room(&mut self, engine: &(dyn Engine + 'static), single: bool, len: usize) -> Result<Numbers, Error> {
        let fits = |spare: &Numbers| spare.is_single() == single && spare.len() == len;
        match self.spare.iter().position(fits) {
            Some(found) => Ok(self.spare.swap_remove(found)),
            None => room(engine, single, len),
        }
    }

    /// A result, taken away, if nobody else has it.
    pub(super) fn alone(result: &mut Option<Numbers>) -> Option<Numbers> {
        let is_alone = match result.as_mut()? {
            Numbers::Double(array) => Array::alone(array).is_ok(),
            Numbers::Single(array) => Array::alone(array).is_ok(),
        };
        if is_alone { result.take() } else { None }
    }

    /// An array that is not needed here any more. If nobody else has it, it is written to again.
    pub(super) fn give(&mut self, numbers: Numbers) {
        self.spare.extend(Buffers::alone(&mut Some(numbers)));
    }

    /// A result that is not needed any more.
    pub(super) fn drop_result(&mut self, of: Value) {
        self.results[of.0].take().into_iter().for_each(|result| self.give(result));
    }
}
