//! `outputArray = StencilConstantMemory_CUDA (inputArray, kernelArray, Name, Value, ...)`

use super::backend::Selection;
use super::options::{self, Names};
use super::{check_outputs, inputs, too_few_inputs};
use crate::mex::{Argument, Call, Error, Function, Reply};
use crate::stencil::{Lines, MAX_TAPS, Request, Taps, TapsError};

pub(super) const FUNCTION: Function = Function { name: "StencilConstantMemory_CUDA", call };

const OPTIONS: Names = Names { available: &["Backend", "Device"], reserved: &["Boundary", "Dim", "Iterations", "Progress"] };

/// Checks in the order of the contract; the first that fails is the one that is told.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    let [input, kernel, pairs @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(call, "inputArray and kernelArray, then pairs of an option's name and its value"));
    };
    options::check_pairs(pairs, 3)?;
    check_outputs(call)?;
    let samples = inputs::doubles("inputArray", input)?;
    let taps = taps(inputs::doubles("kernelArray", kernel)?, kernel)?;
    let mut selection = Selection::default();
    for pair in options::pairs(pairs, &OPTIONS) {
        let (name, value) = pair?;
        selection.take(name, value)?;
    }
    let lines = Lines::along_first_non_singleton(input.dims());
    let request = Request::new(samples, lines, taps).ok_or_else(|| Error::internal("The lines are not the array."))?;
    Ok(selection.choose()?.reply(input.dims(), move |engine, output| engine.stencil(&request, output)))
}

/// The filter: first that there is one, then that it is a vector, then its length.
fn taps(values: &[f64], array: &Argument) -> Result<Taps, Error> {
    let expected = format!("expected a vector of odd length, 1 to {MAX_TAPS}");
    let wrong_length = |error: TapsError| Error::new("kernelLength", format!("kernelArray is {array}: {error}; {expected}."));
    let taps = Taps::new(values);
    if let Err(error @ TapsError::Empty) = taps {
        return Err(wrong_length(error));
    }
    if array.dims().len() != 2 || !array.dims().contains(&1) {
        return Err(Error::new("kernelShape", format!("kernelArray is {array}: it is not a vector; {expected}.")));
    }
    taps.map_err(wrong_length)
}
