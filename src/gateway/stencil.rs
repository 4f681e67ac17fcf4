//! `outputArray = StencilConstantMemory_CUDA (inputArray, kernelArray, Name, Value, ...)`

use super::backend::Selection;
use super::options::{self, Names};
use super::sweeps::Sweeps;
use super::{check_outputs, inputs, too_few_inputs};
use crate::mex::{Argument, Call, Error, Function, Reply};
use crate::stencil::{MAX_TAPS, Stencil, Taps, TapsError};

pub(super) const FUNCTION: Function = Function { name: "StencilConstantMemory_CUDA", call };

const OPTIONS: Names =
    Names { available: &["Backend", "Device", "Boundary", "Dim", "Iterations", "Progress"], reserved: &[] };

/// Checks in the order of the contract; the first that fails is the one that is told.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    let [input, kernel, pairs @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(call, "inputArray and kernelArray, then pairs of an option's name and its value"));
    };
    options::check_pairs(pairs, 3)?;
    check_outputs(call)?;
    let (samples, dims) = inputs::double_input_or_gpu("inputArray", input)?;
    let taps = taps(inputs::doubles("kernelArray", kernel)?, kernel)?;
    let (mut selection, mut sweeps) = (Selection::default(), Sweeps::default());
    for pair in options::pairs(pairs, &OPTIONS) {
        let (name, value) = pair?;
        let _ = selection.take(name, value)? || sweeps.take(name, value)?;
    }
    let stencil = Stencil::new(sweeps.lines(&dims), taps);
    let stencil = stencil.with_boundary(sweeps.boundary()).with_sweeps(sweeps.iterations());
    let effort = sweeps.effort(samples.len(), taps.count());
    samples.reply(&selection, &dims, effort, move |engine, from, to, watch| engine.stencil(&stencil, from, to, watch))
}

/// The filter: first that there is one, then that it is a vector, then its length.
fn taps(values: &[f64], array: &Argument) -> Result<Taps, Error> {
    let expected = format!("expected a vector of odd length, 1 to {MAX_TAPS}");
    let wrong_length =
        |error: TapsError| Error::new("kernelLength", format!("kernelArray is {array}: {error}; {expected}."));
    let taps = Taps::new(values);
    if let Err(error @ TapsError::Empty) = taps {
        return Err(wrong_length(error));
    }
    if array.dims().len() != 2 || !array.dims().contains(&1) {
        return Err(Error::new("kernelShape", format!("kernelArray is {array}: it is not a vector; {expected}.")));
    }
    taps.map_err(wrong_length)
}
