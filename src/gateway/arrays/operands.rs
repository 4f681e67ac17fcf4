//! Operands of two-array verbs: what an argument is, in which class it is computed, and where.

use std::sync::Arc;

use super::super::inputs::{self, AnyInput, Input};
use super::super::store::{Home, StoredArray};
use super::run::{Engines, converted, filled, upload};
use crate::memory;
use crate::mex::{Argument, Error};
use crate::stencil::{self, Arithmetic, Array, Compute, Operand, Real};
use crate::watch::Watch;

/// An operand of any class: what is held, an array of the host's, or a scalar.
#[derive(Debug)]
pub(super) enum AnyOperand<'a> {
    Array(AnyInput<'a>),
    /// A number of the host's, of class double or single.
    Scalar(Number),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Double(f64),
    Single(f32),
}

/// An operand in the class that is computed in. What has to be converted is converted where it is.
#[derive(Debug)]
pub(super) enum OperandOf<'a, T: Real> {
    Same(Input<'a, T>),
    Other(Input<'a, T::Other>),
    Scalar(T),
}

impl<'a> From<AnyOperand<'a>> for OperandOf<'a, f64> {
    fn from(operand: AnyOperand<'a>) -> OperandOf<'a, f64> {
        match operand {
            AnyOperand::Array(AnyInput::Double(input)) => OperandOf::Same(input),
            AnyOperand::Array(AnyInput::Single(input)) => OperandOf::Other(input),
            AnyOperand::Scalar(Number::Double(value)) => OperandOf::Scalar(value),
            AnyOperand::Scalar(Number::Single(value)) => OperandOf::Scalar(value.into()),
        }
    }
}

impl<'a> From<AnyOperand<'a>> for OperandOf<'a, f32> {
    fn from(operand: AnyOperand<'a>) -> OperandOf<'a, f32> {
        match operand {
            AnyOperand::Array(AnyInput::Single(input)) => OperandOf::Same(input),
            AnyOperand::Array(AnyInput::Double(input)) => OperandOf::Other(input),
            AnyOperand::Scalar(Number::Double(value)) => OperandOf::Scalar(value as f32),
            AnyOperand::Scalar(Number::Single(value)) => OperandOf::Scalar(value),
        }
    }
}

/// What an engine computes on: an array that is held, one of this call's, or a scalar.
pub(super) enum OnEngine<T> {
    Held(Arc<Array<T>>),
    Own(Array<T>),
    Scalar(T),
}

impl<T: Real> OnEngine<T> {
    /// An array, of `len` elements where this is a scalar.
    pub(super) fn array(self, len: usize, engine: &Engines, watch: &Watch) -> Result<OnEngine<T>, stencil::Error>
    where
        Engines: Compute<T> + Arithmetic<T>,
    {
        match self {
            OnEngine::Scalar(value) => filled(engine, len, value, watch).map(OnEngine::Own),
            array => Ok(array),
        }
    }

    /// The array that it is.
    pub(super) fn get(&self) -> Result<&Array<T>, stencil::Error> {
        match self.operand() {
            Operand::Array(array) => Ok(array),
            Operand::Scalar(_) => Err(stencil::Error::Internal("A scalar where an array belongs.".into())),
        }
    }

    pub(super) fn operand(&self) -> Operand<'_, T> {
        match self {
            OnEngine::Held(array) => Operand::Array(array),
            OnEngine::Own(array) => Operand::Array(array),
            OnEngine::Scalar(value) => Operand::Scalar(*value),
        }
    }
}

impl<T: Real> OperandOf<'_, T> {
    /// The operand where the engine computes.
    pub(super) fn on(self, engine: &Engines, watch: &Watch) -> Result<OnEngine<T>, stencil::Error>
    where
        Engines: Compute<T> + Arithmetic<T> + Compute<T::Other>,
    {
        Ok(match self {
            OperandOf::Same(Input::Held(_, array)) => OnEngine::Held(array),
            OperandOf::Same(Input::Host(samples)) => OnEngine::Own(upload(engine, &samples, watch)?),
            OperandOf::Other(Input::Held(_, array)) => OnEngine::Own(converted(engine, &array, watch)?),
            OperandOf::Other(Input::Host(samples)) => {
                OnEngine::Own(converted(engine, &upload(engine, &samples, watch)?, watch)?)
            }
            OperandOf::Scalar(value) => OnEngine::Scalar(value),
            // `operand` reads none.
            OperandOf::Same(Input::Gpu(_, array)) => return Err(stencil::Error::Foreign(array.place())),
            OperandOf::Other(Input::Gpu(_, array)) => return Err(stencil::Error::Foreign(array.place())),
        })
    }
}

/// An operand of a call on an array in `home`, and its dimensions.
pub(super) fn operand<'a>(argument: &'a Argument, home: Home) -> Result<(AnyOperand<'a>, Vec<usize>), Error> {
    if argument.object().is_none() {
        if let Some(scalar) = argument.scalar().filter(|_| !argument.is_complex() && !argument.is_sparse()) {
            let number = match argument.singles() {
                Some(_) => Number::Single(scalar as f32),
                None if argument.doubles().is_some() || argument.logicals().is_some() => Number::Double(scalar),
                None => return Err(inputs::wrong_operand(argument)),
            };
            return Ok((AnyOperand::Scalar(number), vec![1, 1]));
        }
        if let Some(truths) = argument.logicals() {
            let mut values = memory::with_room(truths.len(), "truth values in double")?;
            values.extend(truths.iter().map(|&truth| f64::from(truth)));
            let input = AnyInput::Double(Input::Host(values.into()));
            return Ok((AnyOperand::Array(input), argument.dims().to_vec()));
        }
    }
    let (input, dims) = inputs::input("an operand", argument)?;
    if let AnyInput::Double(Input::Held(other, _)) | AnyInput::Single(Input::Held(other, _)) = &input
        && *other != home
    {
        return Err(Error::new(
            "dataType",
            format!(
                "One operand lies in {home}, the other in {other}: gather one, and make a DeviceArray of it there."
            ),
        ));
    }
    Ok((AnyOperand::Array(input), dims.into_owned()))
}

/// Where the first of two arguments that is held lies.
pub(super) fn home_of(arguments: [&Argument; 2]) -> Result<Home, Error> {
    for argument in arguments {
        if let Some(held) = StoredArray::of(argument)? {
            return Ok(held.home);
        }
    }
    let text = format!("A DeviceArray is expected, and these are {} and {}.", arguments[0], arguments[1]);
    Err(Error::new("dataType", text))
}

/// Whether an operand makes the result single: the smaller class wins.
pub(super) fn makes_single(operand: &AnyOperand) -> bool {
    matches!(operand, AnyOperand::Array(AnyInput::Single(_)) | AnyOperand::Scalar(Number::Single(_)))
}
