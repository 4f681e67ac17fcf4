//! `outputArray = StencilConstantMemory_CUDA (inputArray, kernelArray, Name, Value, ...)`

use super::backend::{Selection, fallback_warning};
use super::{options, wrong_number};
use crate::mex::{Argument, Call, Error, Function, Output, Reply};
use crate::stencil::{Lines, MAX_TAPS, Request, Taps, TapsError};

pub(super) const FUNCTION: Function = Function { name: "StencilConstantMemory_CUDA", call };

/// Checks in the order of the contract; the first that fails is the one that is told.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    let [input, kernel, pairs @ ..] = &call.arguments[..] else {
        return Err(wrong_number(
            "Inputs",
            call.arguments.len(),
            "inputArray and kernelArray, then pairs of an option's name and its value",
        ));
    };
    options::check_pairs(pairs)?;
    if call.outputs > 1 {
        return Err(wrong_number("Outputs", call.outputs, "0 or 1"));
    }
    let samples = doubles("inputArray", input)?;
    let taps = taps(doubles("kernelArray", kernel)?, kernel)?;
    let mut selection = Selection::default();
    for pair in options::pairs(pairs) {
        let (name, value) = pair?;
        if !selection.take(name, value)? {
            return Err(Error::internal(format!("The option {name} is known and not handled.")));
        }
    }
    let lines = Lines::along_first_non_singleton(input.dims());
    let request = Request::new(samples, lines, taps).ok_or_else(|| Error::internal("The lines are not the array."))?;
    let chosen = selection.choose()?;
    Ok(Reply {
        warning: chosen.fallback.as_deref().and_then(fallback_warning),
        output: Output::Array { dims: input.dims().to_vec(), fill: Box::new(move |output| Ok(chosen.engine.run(&request, output)?)) },
    })
}

/// The elements of a real, full, double array.
fn doubles<'a>(name: &str, array: &'a Argument) -> Result<&'a [f64], Error> {
    array.doubles().ok_or_else(|| {
        let advice = match array.to_string() {
            got if got.contains("sparse") => format!("; full ({name}) makes it so"),
            got if got.contains("complex") => format!("; filter real ({name}) and imag ({name}) in two calls"),
            got if got.contains("gpuArray") => format!("; gather ({name}) makes it so"),
            got if ["single", "int", "logical"].iter().any(|class| got.contains(class)) => format!("; double ({name}) makes it so"),
            _ => String::new(),
        };
        let text = format!("One of the Inputs are of the wrong data-type: {name} is {array}, expected a real full double array{advice}.");
        Error::new("dataType", text)
    })
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
