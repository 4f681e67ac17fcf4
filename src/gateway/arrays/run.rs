//! Runs of verbs on an engine: their effort, and the arrays that they make.

use std::sync::Arc;

use crate::gateway::store::{Home, Numbers, StoredArray};
use crate::mex::{Effort, Error, Numeric, Reply};
use crate::platform::watch::Watch;
use crate::stencil::{self, Array, Compute, Source, Target};

/// Calls on this many elements are watched.
const LONG: usize = 1 << 24;

pub(crate) use crate::gateway::engine::DynEngine;

/// A class that engines compute in.
pub(crate) trait Number: stencil::Number + Numeric {
    /// Returns numbers in this class, shared if they have it already.
    fn of(numbers: &Numbers, engine: &DynEngine, watch: &Watch) -> Result<Arc<Array<Self>>, stencil::Error>;
}

impl<T: stencil::Number + Numeric> Number for T {
    fn of(numbers: &Numbers, engine: &DynEngine, watch: &Watch) -> Result<Arc<Array<T>>, stencil::Error> {
        if let Some(own) = T::of_numbers(numbers) {
            return Ok(Arc::clone(own));
        }
        let mut to = array::<T>(engine, numbers.len())?;
        if let Some(other) = <T::Other as stencil::Number>::of_numbers(numbers) {
            engine.convert(other, &mut to, watch)?;
        }
        Ok(Arc::new(to))
    }
}

/// Does `$then` with `$type`, the type that numbers of this class are computed in.
macro_rules! in_class_of_engine {
    ($class:expr, $type:ident => $then:expr) => {
        match $class {
            Class::Single => {
                type $type = f32;
                $then
            }
            _ => {
                type $type = f64;
                $then
            }
        }
    };
}
pub(super) use in_class_of_engine;

/// Returns the effort of a call on `elements` elements.
pub(super) fn effort(elements: usize) -> Effort {
    Effort { updates: elements as u64, work: elements as u64, calls: 1, long: elements >= LONG, progress: false }
}

/// Returns the reply of a call that stores the array that `run` makes in `home`.
pub(super) fn keep<'a>(
    home: Home,
    elements: usize,
    run: impl FnOnce(&DynEngine, Home, &Watch) -> Result<StoredArray, stencil::Error> + Send + 'a,
) -> Result<Reply<'a>, Error> {
    Ok(home.choose()?.held(home.effort(effort(elements)), run))
}

/// Makes an array on the engine, of `len` elements of unknown value.
pub(super) fn array<T: Number>(engine: &DynEngine, len: usize) -> Result<Array<T>, stencil::Error> {
    engine.arrays::<T>().array(len)
}

/// Uploads samples to a new array.
pub(super) fn upload<T: Number>(engine: &DynEngine, samples: &[T], watch: &Watch) -> Result<Array<T>, stencil::Error> {
    let mut array = array(engine, samples.len())?;
    engine.arrays::<T>().copy(Source::Host(samples), Target::Array(&mut array), watch).map(|()| array)
}

/// Makes an array of `len` elements of one value.
pub(super) fn filled<T: Number>(
    engine: &DynEngine,
    len: usize,
    value: T,
    watch: &Watch,
) -> Result<Array<T>, stencil::Error> {
    let mut array = array(engine, len)?;
    engine.fill(value, &mut array, watch).map(|()| array)
}
