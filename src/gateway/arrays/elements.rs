//! Verbs that work on the elements of one array: to the host, at some places, in another class, one by one.

use std::sync::Arc;

use super::super::places::Indexed;
use super::super::store::{Numbers, StoredArray};
use super::operands::{AnyOperand, OnEngine, OperandOf, operand};
use super::run::{Engines, converted, effort, keep};
use crate::mex::{Argument, Error, Numeric, Reply};
use crate::stencil::{self, Arithmetic, Array, Compute, Places, RANK, Real, Section, Source, Target, Unary};
use crate::watch::Watch;

/// The numbers, as an array of the host's.
pub(super) fn gather<'a, T: Real + Numeric>(held: StoredArray, numbers: Arc<Array<T>>) -> Result<Reply<'a>, Error>
where
    Engines: Compute<T>,
{
    held.home.choose()?.reply(&held.dims, effort(held.len()), move |engine, output, watch| {
        Compute::copy(engine, Source::Array(&numbers), Target::Host(output), watch)
    })
}

/// The elements at some places, as an array of the host's.
pub(super) fn pick<'a, T: Real + Numeric>(
    held: StoredArray,
    numbers: Arc<Array<T>>,
    indexed: Indexed,
) -> Result<Reply<'a>, Error>
where
    Engines: Arithmetic<T>,
{
    let effort = effort(indexed.places.len());
    held.home.choose()?.reply(&indexed.dims, effort, move |engine, output, watch| {
        engine.pick(&numbers, &indexed.places, Target::Host(output), watch)
    })
}

/// Another array, with other values at some places. Of a list of places, `indexed` by one index, as many values are enough,
/// whatever their dimensions.
pub(super) fn put<'a, T: Real>(
    array: StoredArray,
    numbers: Arc<Array<T>>,
    values: &'a Argument,
    (indexed, is_list): (Indexed, bool),
) -> Result<Reply<'a>, Error>
where
    Engines: Compute<T> + Arithmetic<T> + Compute<T::Other>,
    Numbers: From<Array<T>>,
    AnyOperand<'a>: Into<OperandOf<'a, T>>,
{
    let wanted = indexed.places.len();
    let (operand, dims) = operand(values, array.home)?;
    let ones = |dims: &[usize]| dims.iter().copied().filter(|&dim| dim != 1).collect::<Vec<_>>();
    let count = dims.iter().product::<usize>();
    let is_one = count == 1;
    let fits = is_one || (is_list && count == wanted) || ones(&dims) == ones(&indexed.dims);
    if !fits {
        let told = |dims: &[usize]| dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let text = format!("=: nonconformant arguments (op1 is {}, op2 is {})", told(&indexed.dims), told(&dims));
        return Err(Error::new("size", text));
    }
    let operand: OperandOf<T> = operand.into();
    keep(array.home, array.len(), move |engine, home, watch| {
        let mut output = Compute::<T>::array(engine, numbers.len())?;
        Compute::copy(engine, Source::Array(&numbers), Target::Array(&mut output), watch)?;
        let mut values = operand.on(engine, watch)?.array(wanted, engine, watch)?;
        if is_one && wanted != values.get()?.len() {
            // One value for all places.
            let mut many = Compute::<T>::array(engine, wanted)?;
            let mut same = Section { start: 0, size: [1; RANK], steps: [0; RANK] };
            same.size[0] = wanted;
            engine.pick(values.get()?, &Places::Section(same), Target::Array(&mut many), watch)?;
            values = OnEngine::Own(many);
        }
        engine.put(Source::Array(values.get()?), &indexed.places, &mut output, watch)?;
        Ok(StoredArray { home, dims: array.dims, numbers: output.into() })
    })
}

/// The numbers in another class.
pub(super) fn convert<'a>(array: StoredArray, single: bool) -> Result<Reply<'a>, Error> {
    keep(array.home, array.len(), move |engine, _, watch| {
        let numbers = match (array.numbers, single) {
            (Numbers::Double(numbers), true) => converted::<f32>(engine, &numbers, watch)?.into(),
            (Numbers::Single(numbers), false) => converted::<f64>(engine, &numbers, watch)?.into(),
            // The numbers never change, so both objects may share them.
            (same, _) => same,
        };
        Ok(StoredArray { numbers, ..array })
    })
}

/// An operation on every element.
pub(super) fn unary<'a>(array: StoredArray, op: Unary) -> Result<Reply<'a>, Error> {
    fn run<T: Real>(op: Unary, from: &Array<T>, engine: &Engines, watch: &Watch) -> Result<Array<T>, stencil::Error>
    where
        Engines: Compute<T> + Arithmetic<T>,
    {
        let mut to = Compute::<T>::array(engine, from.len())?;
        engine.unary(op, from, &mut to, watch).map(|()| to)
    }
    keep(array.home, array.len(), move |engine, _, watch| {
        let numbers = match &array.numbers {
            Numbers::Double(numbers) => run(op, numbers, engine, watch)?.into(),
            Numbers::Single(numbers) => run(op, numbers, engine, watch)?.into(),
        };
        Ok(StoredArray { numbers, ..array })
    })
}
