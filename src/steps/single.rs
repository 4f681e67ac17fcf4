//! An operation of a program by the engine's own method: what every engine can, and what programs are held to.

use std::sync::Arc;

use super::Number;
use crate::stencil::program::{Filtering, Node, Numbers, Operation, Term, Value};
use crate::stencil::{Array, Compute, Engine, Error, Operand, Places, Source, Target};
use crate::watch::Watch;

/// What has been computed so far, by value.
pub(super) type Results = [Option<Numbers>];

fn missing() -> Error {
    Error::Internal("A result of a program that is not there.".into())
}

/// The array behind a value, which is of this class.
fn array<T: Number>(results: &Results, value: Value) -> Result<&Arc<Array<T>>, Error> {
    results[value.0].as_ref().and_then(T::of_numbers).ok_or_else(missing)
}

/// An array that nobody else has.
pub(super) fn alone<T: Number>(numbers: &mut Numbers) -> Result<&mut Array<T>, Error> {
    Array::alone(T::of_numbers_mut(numbers).ok_or_else(missing)?)
}

/// Computes what a node gives; where the engine holds a list of its places, by that.
pub(super) fn compute(
    engine: &(dyn Engine + 'static),
    (node, places): (&Node, Option<&Places>),
    results: &Results,
    to: &mut Numbers,
    watch: &Watch,
) -> Result<(), Error> {
    if node.single {
        in_class::<f32>(engine, (node, places), results, to, watch)
    } else {
        in_class::<f64>(engine, (node, places), results, to, watch)
    }
}

fn in_class<T: Number>(
    engine: &(dyn Engine + 'static),
    (node, held): (&Node, Option<&Places>),
    results: &Results,
    to: &mut Numbers,
    watch: &Watch,
) -> Result<(), Error>
where
    T::Other: Number,
{
    let arithmetic = T::arithmetic(engine);
    let of = |value: &Value| array::<T>(results, *value);
    let to = alone::<T>(to)?;
    match &node.operation {
        Operation::Input(_) => Err(missing()),
        Operation::Fill(number) => arithmetic.fill(T::from_f64(*number), to, watch),
        Operation::Each(op, value) => arithmetic.unary(*op, of(value)?, to, watch),
        Operation::Convert(value) => arithmetic.convert(array::<T::Other>(results, *value)?, to, watch),
        Operation::MultiplyAdd(weight, value, addend) => {
            // The array that the engine advances is the target, and so begins as the value.
            T::compute(engine).copy(Source::Array(of(value)?), Target::Array(to), watch)?;
            arithmetic.advance(of(addend)?, T::from_f64(*weight), None, to, watch)
        }
        Operation::Pair(op, terms, expansion) => {
            let operand = |term: &Term| -> Result<Operand<T>, Error> {
                Ok(match term {
                    Term::Number(number) => Operand::Scalar(T::from_f64(*number)),
                    Term::Value(value) => Operand::Array(of(value)?),
                })
            };
            arithmetic.binary(*op, [operand(&terms[0])?, operand(&terms[1])?], expansion, to, watch)
        }
        Operation::Filter(filter, value) => filtered::<T>(engine, filter, results, *value, to, watch),
        Operation::Pick(places, value) => arithmetic.pick(of(value)?, held.unwrap_or(places), Target::Array(to), watch),
        Operation::Put(places, [from, into]) => {
            T::compute(engine).copy(Source::Array(of(into)?), Target::Array(to), watch)?;
            arithmetic.put(Source::Array(of(from)?), places, to, watch)
        }
        Operation::Reduce(op, first, second, size) => {
            let second = second.as_ref().map(of).transpose()?;
            arithmetic.reduce(*op, of(first)?, second.map(|array| &**array), *size, Target::Array(to), watch)
        }
    }
}

fn filtered<T: Number>(
    engine: &(dyn Engine + 'static),
    filter: &Filtering,
    results: &Results,
    of: Value,
    to: &mut Array<T>,
    watch: &Watch,
) -> Result<(), Error> {
    fn same<A: 'static, B: 'static>(to: &mut Array<A>) -> Result<&mut Array<B>, Error> {
        (to as &mut dyn std::any::Any).downcast_mut().ok_or_else(missing)
    }
    match filter {
        Filtering::Stencil(what) => {
            engine.stencil(what, (&**array::<f64>(results, of)?).into(), same::<T, f64>(to)?.into(), watch)
        }
        Filtering::Derivative(what) => Compute::<f64>::derivative(
            engine,
            what,
            (&**array::<f64>(results, of)?).into(),
            same::<T, f64>(to)?.into(),
            watch,
        ),
        Filtering::SingleDerivative(what) => Compute::<f32>::derivative(
            engine,
            what,
            (&**array::<f32>(results, of)?).into(),
            same::<T, f32>(to)?.into(),
            watch,
        ),
        Filtering::Convolution(what) => Compute::<f64>::convolution(
            engine,
            what,
            (&**array::<f64>(results, of)?).into(),
            same::<T, f64>(to)?.into(),
            watch,
        ),
        Filtering::SingleConvolution(what) => Compute::<f32>::convolution(
            engine,
            what,
            (&**array::<f32>(results, of)?).into(),
            same::<T, f32>(to)?.into(),
            watch,
        ),
        Filtering::Shift(what) => T::arithmetic(engine).shift(what, array::<T>(results, of)?, to, watch),
    }
}
