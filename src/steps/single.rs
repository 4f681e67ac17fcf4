//! Operations of a program by the engine's own methods: supported by every engine, and the reference for kernels.

use std::sync::Arc;

use super::Number;
use crate::platform::watch::Watch;
use crate::stencil::functions::Draw;
use crate::stencil::program::{Filtering, Node, Numbers, Operation, Term, Value, Wanted};
use crate::stencil::{Array, Compute, Engine, Error, Indices, Operand, Places, Source, Target};

/// Results computed so far, by value.
pub(super) type Results = [Option<Numbers>];

fn missing() -> Error {
    Error::Internal("A result of a program that is not there.".into())
}

/// Returns the array of a value, which is of this class.
fn array<T: Number>(results: &Results, value: Value) -> Result<&Arc<Array<T>>, Error> {
    results[value.0].as_ref().and_then(T::of_numbers).ok_or_else(missing)
}

/// Returns exclusive access to an unshared array.
pub(super) fn alone<T: Number>(numbers: &mut Numbers) -> Result<&mut Array<T>, Error> {
    Array::alone(T::of_numbers_mut(numbers).ok_or_else(missing)?)
}

/// Operand from which the target of an operation is updated.
pub(super) fn changed(operation: &Operation) -> Option<Value> {
    match operation {
        Operation::MultiplyAdd(_, value, _) | Operation::Put(_, [_, value]) => Some(*value),
        _ => None,
    }
}

/// Computes the result of a node, with its places from the engine's list if there is one. If the target `begins` as the
/// [changed] operand, it contains that already.
pub(super) fn compute(
    engine: &(dyn Engine + 'static),
    (node, places): (&Node, Option<&Places>),
    results: &Results,
    (to, begins): (&mut Numbers, bool),
    watch: &Watch,
) -> Result<(), Error> {
    if let Operation::Sort(.., Wanted::Places) | Operation::Extreme(.., Wanted::Places) = node.operation {
        let to = alone::<f64>(to)?;
        let of = node.operation.values().next().and_then(|of| results[of.0].as_ref()).ok_or_else(missing)?;
        let places = match of {
            Numbers::Double(from) => places_of(engine, (&node.operation, to.len()), from, watch)?,
            Numbers::Single(from) => places_of(engine, (&node.operation, to.len()), from, watch)?,
        };
        return f64::arithmetic(engine).ordinals(&places, Target::Array(to), watch);
    }
    if node.single {
        in_class::<f32>(engine, (node, places), results, (to, begins), watch)
    } else {
        in_class::<f64>(engine, (node, places), results, (to, begins), watch)
    }
}

fn in_class<T: Number>(
    engine: &(dyn Engine + 'static),
    (node, held): (&Node, Option<&Places>),
    results: &Results,
    (to, begins): (&mut Numbers, bool),
    watch: &Watch,
) -> Result<(), Error>
where
    T::Other: Number,
{
    let arithmetic = T::arithmetic(engine);
    let of = |value: &Value| array::<T>(results, *value);
    let to = alone::<T>(to)?;
    if let Some(value) = changed(&node.operation).filter(|_| !begins) {
        T::compute(engine).copy(Source::Array(of(&value)?), Target::Array(to), watch)?;
    }
    match &node.operation {
        Operation::Input(_) => Err(missing()),
        Operation::Fill(number) => arithmetic.fill(T::from_f64(*number), to, watch),
        Operation::Random(distribution, draw, seed) => {
            let mut number = [0.0];
            let draw = array::<f64>(results, *draw)?;
            Compute::<f64>::copy(engine, Source::Array(draw), Target::Host(&mut number), watch)?;
            let draw = Draw { distribution: *distribution, number: number[0] as u64, seed: *seed as u32 };
            arithmetic.random(draw, to, watch)
        }
        Operation::Each(op, value) => arithmetic.unary(*op, of(value)?, to, watch),
        Operation::Convert(value) => arithmetic.convert(array::<T::Other>(results, *value)?, to, watch),
        Operation::MultiplyAdd(weight, _, addend) => {
            let weight = match weight {
                Term::Number(number) => Operand::Scalar(T::from_f64(*number)),
                Term::Value(number) => Operand::Array(&**of(number)?),
            };
            arithmetic.advance_by(of(addend)?, weight, None, to, watch)
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
        Operation::Put(places, [from, _]) => arithmetic.put(Source::Array(of(from)?), places, to, watch),
        Operation::Scan(op, value, size) => arithmetic.scan(*op, of(value)?, *size, to, watch),
        Operation::Sort(order, value, size, _) => {
            arithmetic.sort(*order, of(value)?, *size, to, false, watch).map(drop)
        }
        Operation::Extreme(which, value, size, _) => {
            arithmetic.extremes(*which, of(value)?, *size, Target::Array(to), watch).map(drop)
        }
        Operation::Reduce(op, first, second, size) => {
            let second = second.as_ref().map(of).transpose()?;
            arithmetic.reduce(*op, of(first)?, second.map(|array| &**array), *size, Target::Array(to), watch)
        }
    }
}

/// Computes the places that a sort or an extreme of `len` results finds.
fn places_of<T: Number>(
    engine: &(dyn Engine + 'static),
    (operation, len): (&Operation, usize),
    from: &Array<T>,
    watch: &Watch,
) -> Result<Indices, Error> {
    let mut elements = T::compute(engine).array(len)?;
    let arithmetic = T::arithmetic(engine);
    match operation {
        Operation::Sort(order, _, size, _) => {
            arithmetic.sort(*order, from, *size, &mut elements, true, watch)?.ok_or_else(missing)
        }
        Operation::Extreme(which, _, size, _) => {
            arithmetic.extremes(*which, from, *size, Target::Array(&mut elements), watch)
        }
        _ => Err(missing()),
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
    /// Casts to the class of the filter, which is that of the node.
    fn same<A: 'static, B: 'static>(to: &mut Array<A>) -> Result<&mut Array<B>, Error> {
        (to as &mut dyn std::any::Any).downcast_mut().ok_or_else(missing)
    }
    let doubles = || array::<f64>(results, of).map(|array| Source::Array(array));
    let singles = || array::<f32>(results, of).map(|array| Source::Array(array));
    match filter {
        Filtering::Stencil(what) => engine.stencil(what, doubles()?, same::<T, f64>(to)?.into(), watch),
        Filtering::Derivative(what) => {
            Compute::<f64>::derivative(engine, what, doubles()?, same::<T, f64>(to)?.into(), watch)
        }
        Filtering::SingleDerivative(what) => {
            Compute::<f32>::derivative(engine, what, singles()?, same::<T, f32>(to)?.into(), watch)
        }
        Filtering::Convolution(what) => {
            Compute::<f64>::convolution(engine, what, doubles()?, same::<T, f64>(to)?.into(), watch)
        }
        Filtering::SingleConvolution(what) => {
            Compute::<f32>::convolution(engine, what, singles()?, same::<T, f32>(to)?.into(), watch)
        }
        Filtering::Shift(what) => T::arithmetic(engine).shift(what, array::<T>(results, of)?, to, watch),
    }
}
