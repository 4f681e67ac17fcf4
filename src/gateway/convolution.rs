//! `P = ConvolutionConstantMemory_CUDA (N, F, Name, Value, ...)`

use super::backend::Selection;
use super::inputs::{self, AnyInput, Input, Reals};
use super::options::{self, Names};
use super::store::Numbers;
use super::sweeps::Sweeps;
use super::{check_outputs, too_few_inputs};
use crate::mex::{Argument, Call, Error, Function, Numeric, Reply};
use crate::stencil::{Array, Compute, Convolution, Engine, Filter, FilterError, MAX_FILTER_2D, MAX_FILTER_3D, Real};

pub(super) const FUNCTION: Function = Function { name: "ConvolutionConstantMemory_CUDA", call };

const OPTIONS: Names = Names { available: &["Backend", "Device", "Boundary", "Iterations", "Progress"], reserved: &[] };

/// Checks in the order of the stencil's; `imageShape`, `filterSize` and `filterShape` stand where the kernel's checks
/// stand there.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    let [image, filter, pairs @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(call, "N and F, then pairs of an option's name and its value"));
    };
    options::check_pairs(pairs, 3)?;
    check_outputs(call)?;
    let (samples, dims) = inputs::input_or_gpu("N", image)?;
    let entries = inputs::reals("F", filter)?;
    let size = size(&dims)
        .ok_or_else(|| Error::new("imageShape", format!("N is {image}; expected at most three dimensions.")))?;
    let filter_size = check_filter(filter)?;
    let (mut selection, mut sweeps) = (Selection::default(), Sweeps::default());
    for pair in options::pairs(pairs, &OPTIONS) {
        let (name, value) = pair?;
        let _ = selection.take(name, value)? || sweeps.take(name, value)?;
    }
    let of = |error: FilterError| filter_error(filter, error);
    // Of two classes the result has the smaller, as conv2 has it.
    match (samples, entries) {
        (AnyInput::Double(samples), Reals::Double(entries)) => {
            let filter = Filter::new(entries.to_vec(), filter_size).map_err(of)?;
            reply(&selection, &dims, samples, size, filter, &sweeps)
        }
        (samples, entries) => {
            let filter = Filter::new(entries.to_singles("F in single")?.into_owned(), filter_size).map_err(of)?;
            reply(&selection, &dims, samples.into_single("N in single")?, size, filter, &sweeps)
        }
    }
}

fn reply<'a, T: Real + Numeric>(
    selection: &Selection,
    dims: &[usize],
    samples: Input<'a, T>,
    size: [usize; 3],
    filter: Filter<T>,
    sweeps: &Sweeps,
) -> Result<Reply<'a>, Error>
where
    Numbers: From<Array<T>>,
    dyn Engine: Compute<T>,
{
    let effort = sweeps.effort(samples.len(), filter.values().len());
    let what = Convolution::new(size, filter).with_boundary(sweeps.boundary()).with_sweeps(sweeps.iterations());
    samples.reply(selection, dims, effort, move |engine, from, to, watch| {
        Compute::convolution(engine, &what, from, to, watch)
    })
}

/// Rows, columns and pages; `None` where there are more dimensions.
fn size(dims: &[usize]) -> Option<[usize; 3]> {
    match *dims {
        [rows, columns] => Some([rows, columns, 1]),
        [rows, columns, pages] => Some([rows, columns, pages]),
        _ => None,
    }
}

/// The size of the filter: first that there is one, then its dimensions, then their sizes.
fn check_filter(array: &Argument) -> Result<[usize; 3], Error> {
    if array.is_empty() {
        return Err(filter_error(array, FilterError::Empty));
    }
    let size = size(array.dims())
        .ok_or_else(|| Error::new("filterShape", format!("F is {array}; expected at most three dimensions.")))?;
    FilterError::check(size).map_err(|error| filter_error(array, error))?;
    Ok(size)
}

fn filter_error(array: &Argument, error: FilterError) -> Error {
    let expected = format!(
        "expected odd sizes, up to {MAX_FILTER_2D}x{MAX_FILTER_2D}, or up to \
         {MAX_FILTER_3D}x{MAX_FILTER_3D}x{MAX_FILTER_3D} with several pages"
    );
    Error::new("filterSize", format!("F is {array}: {error}; {expected}."))
}
