//! Operands: their classes, and their way to the engine that computes.

use std::sync::Arc;

use super::class::{self, Upload};
use super::run::{DynEngine, Number, filled};
use crate::gateway::store::{Home, Numbers, StoredArray, steps};
use crate::mex::{Argument, Class, Error};
use crate::platform::watch::Watch;
use crate::stencil::{self, Array};

/// An operand: a stored array, an array of the host's, or a number of the host's.
pub(super) struct Operand<'a> {
    pub(super) class: Class,
    pub(super) dims: Vec<usize>,
    pub(super) values: Values<'a>,
}

/// Values of an operand.
pub(super) enum Values<'a> {
    Held(Numbers),
    Host(Upload<'a>),
    Number(f64),
}

/// Values on the engine that computes.
pub(super) enum OnEngine<T> {
    Array(Arc<Array<T>>),
    Number(T),
}

impl<'a> Operand<'a> {
    /// Reads an argument of a call on an array in `home`.
    ///
    /// # Errors
    /// `dataType` for a class that no DeviceArray has, and for an array that lies elsewhere; `trace` as in
    /// [`of_held`](Operand::of_held).
    pub(super) fn new(argument: &'a Argument, home: Home) -> Result<Operand<'a>, Error> {
        if let Some(held) = StoredArray::of(argument)? {
            return Operand::of_held(held, home);
        }
        let (class, upload) = class::held_of_host("an operand", argument)?;
        let values = match argument.scalar() {
            Some(number) => Values::Number(number),
            None => Values::Host(upload),
        };
        Ok(Operand { class, dims: argument.dims().to_vec(), values })
    }

    /// Reads a stored array.
    ///
    /// # Errors
    /// `dataType` if it does not lie in `home`; `trace` if `home` is a step that has ended, or both belong to steps.
    pub(super) fn of_held(held: StoredArray, home: Home) -> Result<Operand<'a>, Error> {
        let held = steps::lifted(held, home)?;
        if held.home != home {
            let other = held.home;
            if home.step().is_some() && other.step().is_some() {
                return Err(Error::new("trace", "Arrays of two steps that are being recorded do not go together."));
            }
            return Err(apart(home, other));
        }
        Ok(Operand { class: held.class, dims: held.dims, values: Values::Held(held.numbers) })
    }

    pub(super) fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Uploads the values, converted to another class.
    pub(super) fn in_class<T: Number>(
        self,
        class: Class,
        engine: &DynEngine,
        watch: &Watch,
    ) -> Result<OnEngine<T>, stencil::Error> {
        let numbers = match self.values {
            Values::Number(number) => return Ok(OnEngine::Number(T::from_f64(class::cast(number, class)))),
            Values::Held(numbers) => numbers,
            Values::Host(upload) => upload(engine, watch)?,
        };
        let numbers = class::converted(engine, (numbers, self.class), class, watch)?;
        T::of(&numbers, engine, watch).map(OnEngine::Array)
    }

    /// Returns true if the values are stored in single.
    pub(super) fn is_in_single(&self) -> bool {
        match &self.values {
            Values::Held(Numbers::Single(_)) => true,
            _ => self.class == Class::Single,
        }
    }
}

impl Values<'_> {
    /// Uploads the values in this class.
    pub(super) fn on<T: Number>(self, engine: &DynEngine, watch: &Watch) -> Result<OnEngine<T>, stencil::Error> {
        match self {
            Values::Held(numbers) => T::of(&numbers, engine, watch).map(OnEngine::Array),
            Values::Host(upload) => {
                let numbers = upload(engine, watch)?;
                T::of(&numbers, engine, watch).map(OnEngine::Array)
            }
            Values::Number(number) => Ok(OnEngine::Number(T::from_f64(number))),
        }
    }

    /// Uploads the values as an array; one number is repeated `len` times.
    pub(super) fn array<T: Number>(
        self,
        len: usize,
        engine: &DynEngine,
        watch: &Watch,
    ) -> Result<Arc<Array<T>>, stencil::Error> {
        match self.on(engine, watch)? {
            OnEngine::Array(array) => Ok(array),
            OnEngine::Number(number) => filled(engine, len, number, watch).map(Arc::new),
        }
    }
}

impl<T: Number> OnEngine<T> {
    pub(super) fn operand(&self) -> stencil::Operand<'_, T> {
        match self {
            OnEngine::Array(array) => stencil::Operand::Array(array),
            OnEngine::Number(number) => stencil::Operand::Scalar(*number),
        }
    }
}

/// Returns the error of two operands in two places.
pub(super) fn apart(home: Home, other: Home) -> Error {
    let text =
        format!("One operand lies in {home}, the other in {other}: gather one, and make a DeviceArray of it there.");
    Error::new("dataType", text)
}

/// Brings an argument's numbers to `home`: uploads the host's, and moves stored arrays into a step under recording.
///
/// # Errors
/// Those of [`Operand::new`], and the engine's.
pub(crate) fn brought(argument: &Argument, home: Home) -> Result<Numbers, Error> {
    let Operand { class, values, .. } = Operand::new(argument, home)?;
    Ok(match values {
        Values::Held(numbers) => numbers,
        Values::Host(upload) => upload(&*home.engine()?, &Watch::new())?,
        Values::Number(number) => class::of_value(&*home.engine()?, (number, class), 1, &Watch::new())?,
    })
}

/// Returns the home of the first stored array among some arguments, or of the first in a step under recording.
///
/// # Errors
/// `dataType` if none is stored.
pub(super) fn home_of<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> Result<Home, Error> {
    let mut others = Vec::new();
    let mut first = None;
    for argument in arguments {
        match StoredArray::of(argument)? {
            Some(held) if held.home.step().is_some() => return Ok(held.home),
            Some(held) => first = first.or(Some(held.home)),
            None => others.push(argument.to_string()),
        }
    }
    first.ok_or_else(|| {
        Error::new("dataType", format!("A DeviceArray is expected, and these are {}.", others.join(" and ")))
    })
}
