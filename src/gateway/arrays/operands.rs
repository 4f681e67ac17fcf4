//! Operands: what an argument is, of which class, and how it comes to where the engine computes.

use std::sync::Arc;

use super::class::{self, Upload};
use super::run::{DynEngine, Number, filled};
use crate::gateway::store::steps;
use crate::gateway::store::{Home, Numbers, StoredArray};
use crate::mex::{Argument, Class, Error};
use crate::stencil::{self, Array};
use crate::watch::Watch;

/// An operand: what is held, an array of the host's, or a number of the host's.
pub(super) struct Operand<'a> {
    pub(super) class: Class,
    pub(super) dims: Vec<usize>,
    pub(super) values: Values<'a>,
}

/// The values of one.
pub(super) enum Values<'a> {
    Held(Numbers),
    Host(Upload<'a>),
    Number(f64),
}

/// What an engine computes on.
pub(super) enum OnEngine<T> {
    Array(Arc<Array<T>>),
    Number(T),
}

impl<'a> Operand<'a> {
    /// An argument of a call on an array in `home`.
    ///
    /// # Errors
    /// `dataType`: for what has no class of a DeviceArray's, and for an array that lies elsewhere; `trace` as
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

    /// An array that is held.
    ///
    /// # Errors
    /// `dataType`, where it does not lie in `home`; `trace`, where that is a step that is over, or both are steps.
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

    /// The number of its elements.
    pub(super) fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Its values as those of an array of another class, where the engine computes.
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

    /// Whether it is stored in single.
    pub(super) fn is_in_single(&self) -> bool {
        match &self.values {
            Values::Held(Numbers::Single(_)) => true,
            _ => self.class == Class::Single,
        }
    }
}

impl Values<'_> {
    /// They are where the engine computes, in this class.
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

    /// An array of them, of `len` elements where they are one number.
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

/// The error of two operands that lie apart.
pub(super) fn apart(home: Home, other: Home) -> Error {
    let text =
        format!("One operand lies in {home}, the other in {other}: gather one, and make a DeviceArray of it there.");
    Error::new("dataType", text)
}

/// The numbers of an argument where arrays in `home` are computed on: those of the host's go there, and what is held outside
/// a step that is being recorded comes into it.
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

/// Where the first of some arguments that is held lies; in a step that is being recorded, where one of them does.
///
/// # Errors
/// `dataType`, where none is.
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
