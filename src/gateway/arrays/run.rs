//! How the verbs run on an engine: what a call takes, and the arrays that it makes.

use super::super::store::{Home, StoredArray};
use crate::mex::{Effort, Error, Reply};
use crate::stencil::{self, Arithmetic, Array, Compute, Engine, Real, Source, Target};
use crate::watch::Watch;

/// From this many elements on, a call is watched.
const LONG: usize = 1 << 24;

pub(super) type Engines = dyn Engine + 'static;

/// The effort of a call over `elements` elements.
pub(super) fn effort(elements: usize) -> Effort {
    Effort { updates: elements as u64, work: elements as u64, calls: 1, long: elements >= LONG, progress: false }
}

/// The reply of a call that keeps what `run` makes in `home`.
pub(super) fn keep<'a>(
    home: Home,
    elements: usize,
    run: impl FnOnce(&Engines, Home, &Watch) -> Result<StoredArray, stencil::Error> + Send + 'a,
) -> Result<Reply<'a>, Error> {
    Ok(home.choose()?.held(true, home.effort(effort(elements)), run))
}

/// An array that the engine holds, with these samples.
pub(super) fn upload<T: Real>(engine: &Engines, samples: &[T], watch: &Watch) -> Result<Array<T>, stencil::Error>
where
    Engines: Compute<T>,
{
    let mut array = Compute::<T>::array(engine, samples.len())?;
    Compute::copy(engine, Source::Host(samples), Target::Array(&mut array), watch).map(|()| array)
}

/// An array of `len` elements of one value.
pub(super) fn filled<T: Real>(engine: &Engines, len: usize, value: T, watch: &Watch) -> Result<Array<T>, stencil::Error>
where
    Engines: Compute<T> + Arithmetic<T>,
{
    let mut array = Compute::<T>::array(engine, len)?;
    engine.fill(value, &mut array, watch).map(|()| array)
}

/// An array of the same values, each rounded to the class once.
pub(super) fn converted<T: Real>(
    engine: &Engines,
    from: &Array<T::Other>,
    watch: &Watch,
) -> Result<Array<T>, stencil::Error>
where
    Engines: Compute<T> + Arithmetic<T>,
{
    let mut to = Compute::<T>::array(engine, from.len())?;
    Arithmetic::<T>::convert(engine, from, &mut to, watch).map(|()| to)
}
