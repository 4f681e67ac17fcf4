//! Operations of a program by the engine's own: supported by every engine, and the reference for kernels.

use crate::platform::watch::Watch;
use crate::stencil::program::{Node, Value};
use crate::stencil::{
    AnySource, AnyTarget, Array, Engine, Error, Given, Indices, Number, Numbers, Operation, Places, Target, Term,
    Wanted,
};

/// Results computed so far, by value.
pub(super) type Results = [Option<Numbers>];

fn missing() -> Error {
    Error::Internal("A result of a program that is not there.".into())
}

/// Returns exclusive access to an unshared array.
pub(super) fn alone<T: Number>(numbers: &mut Numbers) -> Result<&mut Array<T>, Error> {
    Array::alone(T::of_numbers_mut(numbers).ok_or_else(missing)?)
}

/// Operand from which the target of an operation is updated.
pub(super) fn changed(operation: &Operation<Value>) -> Option<Value> {
    match operation {
        Operation::MultiplyAdd(_, value, ..) | Operation::Put(_, [_, value]) => Some(*value),
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
    let of = |value: Value| results[value.0].as_ref().map(Numbers::input).ok_or_else(missing);
    let changed = changed(&node.operation);
    if let Some(value) = changed.filter(|_| !begins) {
        copy(engine, of(value)?, to.output()?, watch)?;
    }
    let of = |value| if begins && changed == Some(value) { Ok(AnySource::Target) } else { of(value) };
    let mut what = node.operation.map(of, |own| places.unwrap_or(own))?;
    if let Operation::MultiplyAdd(_, changed, ..) | Operation::Put(_, [_, changed]) = &mut what {
        *changed = AnySource::Target;
    }
    if let Operation::Random(_, number, _) = &mut what
        && let Term::Value(of) = *number
    {
        let mut draw = [0.0];
        engine.arrays::<f64>().copy(of.source()?, Target::Host(&mut draw), watch)?;
        *number = Term::Number(draw[0]);
    }
    if let Operation::Sort(_, from, _, Wanted::Places) | Operation::Extreme(_, from, _, Wanted::Places) = what {
        let len = to.len();
        let places = match from {
            AnySource::Single(_) => places_of::<f32>(engine, &what, len, watch),
            _ => places_of::<f64>(engine, &what, len, watch),
        }?;
        return engine.ordinals(&places, to.output()?, watch);
    }
    engine.compute(&what, to.output()?, watch).map(drop)
}

fn copy(engine: &(dyn Engine + 'static), from: AnySource, to: AnyTarget, watch: &Watch) -> Result<(), Error> {
    match to {
        AnyTarget::Double(to) => engine.arrays::<f64>().copy(from.source()?, to, watch),
        AnyTarget::Single(to) => engine.arrays::<f32>().copy(from.source()?, to, watch),
    }
}

/// Computes the places that a sort or an extreme of `len` results finds.
fn places_of<T: Number>(
    engine: &(dyn Engine + 'static),
    what: &Given,
    len: usize,
    watch: &Watch,
) -> Result<Indices, Error> {
    let mut elements = engine.arrays::<T>().array(len)?;
    engine.compute(what, (&mut elements).into(), watch)?.ok_or_else(missing)
}
