//! A choice between two operands, element by element.

use std::sync::Arc;

use super::operands::{OnEngine, Operand, Values, home_of};
use super::result::{result, write_in_class};
use super::run::{DynEngine, Number, array, in_class_of_engine, keep};
use crate::gateway::dims::size_text;
use crate::gateway::store::{StoredArray, steps};
use crate::mex::{Argument, Class, Error, Reply};
use crate::platform::watch::Watch;
use crate::stencil::{self, Array, Binary, Compute, Expansion, Number as _, Unary};

/// Takes the first of two operands where a mask is true, else the second. The arrays have one size, or one element.
pub(super) fn merge<'a>(arguments: [&'a Argument; 3]) -> Result<Reply<'a>, Error> {
    let home = home_of(arguments)?;
    let [mask, a, b] = arguments.map(|argument| Operand::new(argument, home));
    let [mask, a, b] = [mask?, a?, b?];
    if mask.class != Class::Logical {
        let text = format!("merge: the mask must be logical, and is {}: compare first, such as u > 0.", mask.class);
        return Err(Error::new("dataType", text));
    }
    if a.class != b.class {
        let text = format!("merge: cannot merge {} with {}: convert one of the two first.", a.class, b.class);
        return Err(Error::new("dataType", text));
    }
    let dims = dims_of([&mask, &a, &b])?;
    let in_single = match a.class {
        Class::Logical => a.is_in_single() && b.is_in_single(),
        class => class == Class::Single,
    };
    let computed = if in_single { Class::Single } else { Class::Double };
    let (class, len) = (a.class, dims.iter().product());
    in_class_of_engine!(computed, T => result::<T>(home, (class, dims), len, move |engine, to, watch| {
        let [a, b] = [a.values.on::<T>(engine, watch)?, b.values.on(engine, watch)?];
        // Written in the class of the computation: a choice of two integers needs no rounding.
        write_in_class(engine, computed, to, watch, |to| chosen(engine, mask.values, [a, b], to, watch))
    }))
}

/// Assigns `u(mask) = v` in a step under recording that computes the mask, a value for each element of the array. `v`
/// is one number, or elements that the mask has picked. The result has class `class`, its numbers class `stored`.
///
/// # Errors
/// `trace` for other values.
pub(super) fn put<'a>(
    held: StoredArray,
    mut values: Operand<'a>,
    mask: StoredArray,
    [class, stored]: [Class; 2],
) -> Result<Reply<'a>, Error> {
    if let Values::Held(numbers) = &mut values.values {
        *numbers = steps::unpicked(numbers, &mask)?;
    } else if values.len() != 1 {
        return Err(steps::asks_how_many(&mask));
    }
    if ![1, held.len()].contains(&values.len()) {
        return Err(steps::asks_how_many(&mask));
    }
    let len = held.len();
    in_class_of_engine!(stored, T => keep(held.home, len, move |engine, home, watch| {
        let StoredArray { dims, numbers, .. } = held;
        let values = values.in_class::<T>(class, engine, watch)?;
        let old = OnEngine::Array(T::of(&numbers, engine, watch)?);
        let mut output = array(engine, len)?;
        chosen(engine, Values::Held(mask.numbers), [values, old], &mut output, watch)?;
        Ok(StoredArray { home, dims, class, numbers: T::numbers(Arc::new(output)) })
    }))
}

/// Writes the first of two where a mask is true, else the second.
fn chosen<T: Number>(
    engine: &DynEngine,
    mask: Values,
    [a, b]: [OnEngine<T>; 2],
    to: &mut Array<T>,
    watch: &Watch,
) -> Result<(), stencil::Error> {
    let arithmetic = engine;
    let kept = |mask: &Array<T>, of: OnEngine<T>| -> Result<Array<T>, stencil::Error> {
        let len = if let OnEngine::Array(of) = &of { of.len() } else { 1 };
        let expansion = flat([mask.len(), len])?;
        let mut kept = array(engine, expansion.elements())?;
        let operands = [stencil::Operand::Array(mask), of.operand()];
        arithmetic.binary(Binary::Keep, operands, &expansion, &mut kept, watch)?;
        Ok(kept)
    };
    let yes = mask.array::<T>(1, engine, watch)?;
    let mut no = array(engine, yes.len())?;
    arithmetic.unary(Unary::Not, &yes, &mut no, watch)?;
    let [a, b] = [kept(&yes, a)?, kept(&no, b)?];
    let both = [stencil::Operand::Array(&a), stencil::Operand::Array(&b)];
    arithmetic.binary(Binary::Add, both, &flat([a.len(), b.len()])?, to, watch)
}

/// Returns the size of a choice.
///
/// # Errors
/// `size` for arrays of two sizes.
fn dims_of(operands: [&Operand; 3]) -> Result<Vec<usize>, Error> {
    let mut arrays = operands.iter().filter(|operand| operand.len() != 1);
    let dims = arrays.next().map_or_else(|| vec![1, 1], |first| first.dims.clone());
    if arrays.all(|other| other.dims == dims) {
        return Ok(dims);
    }
    let [mask, a, b] = operands.map(|operand| size_text(&operand.dims));
    let text = format!("nonconformant arguments (the mask is {mask}, and what it chooses from {a} and {b})");
    Err(Error::new("size", text))
}

/// Expands two arrays of one size or of one element, as vectors.
fn flat([a, b]: [usize; 2]) -> Result<Expansion, stencil::Error> {
    Expansion::new([&[a], &[b]]).ok_or_else(|| stencil::Error::Internal("Arrays of one dimension expand.".into()))
}
