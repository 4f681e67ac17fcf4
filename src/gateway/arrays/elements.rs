//! Verbs that work on the elements of one array: download, conversion, operations on each.

use super::class::{self, download, in_class_of_host, is_integer};
use super::result::{result, write_in_class};
use super::run::{Number, array, effort, in_class_of_engine, keep};
use crate::gateway::store::{Numbers, StoredArray};
use crate::mex::{Class, Error, Reply};
use crate::stencil::{Array, Binary, Compute, Operand, Real, Source, Target, Unary};

/// Returns the numbers as an array of the host's.
pub(super) fn gather<'a>(held: StoredArray) -> Result<Reply<'a>, Error> {
    let (chosen, effort) = (held.home.choose()?, effort(held.len()));
    let StoredArray { dims, class, numbers, .. } = held;
    match (numbers, class) {
        (Numbers::Double(numbers), Class::Double) => chosen.reply(&dims, effort, move |engine, output, watch| {
            engine.arrays::<f64>().copy(Source::Array(&numbers), Target::Host(output), watch)
        }),
        (Numbers::Single(numbers), Class::Single) => chosen.reply(&dims, effort, move |engine, output, watch| {
            engine.arrays::<f32>().copy(Source::Array(&numbers), Target::Host(output), watch)
        }),
        (numbers, class) => in_class_of_host!(class, S => {
            chosen.reply(&dims, effort, move |engine, output: &mut [S], watch| match &numbers {
                Numbers::Double(numbers) => download(engine, numbers, output, watch),
                Numbers::Single(numbers) => download(engine, numbers, output, watch),
            })
        }),
    }
}

/// Converts the numbers to another class.
pub(super) fn convert<'a>(array: StoredArray, class: Class) -> Result<Reply<'a>, Error> {
    if class == Class::Logical {
        class::check_truths_of(&array)?;
    }
    keep(array.home, array.len(), move |engine, home, watch| {
        let StoredArray { dims, class: from, numbers, .. } = array;
        let numbers = class::converted(engine, (numbers, from), class, watch)?;
        Ok(StoredArray { home, dims, class, numbers })
    })
}

/// An operation on every element of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Each {
    Op(Unary),
    /// A comparison of magnitudes with infinity.
    ToInfinity(Binary),
}

/// Returns the class of its result.
fn class_of(op: Each, class: Class) -> Class {
    match op {
        Each::Op(Unary::Not | Unary::IsNan) | Each::ToInfinity(_) => Class::Logical,
        Each::Op(op) if is_integer(class) && (op == Unary::Sqrt || op.is_function()) => Class::Double,
        _ if class == Class::Logical => Class::Double,
        _ => class,
    }
}

/// Applies an operation to every element.
pub(super) fn unary<'a>(held: StoredArray, op: Each) -> Result<Reply<'a>, Error> {
    let StoredArray { home, dims, class: from, numbers } = held;
    let class = class_of(op, from);
    let computed = if class == Class::Double { Class::Double } else { numbers.class() };
    let len = dims.iter().product();
    in_class_of_engine!(computed, T => result::<T>(home, (class, dims), len, move |engine, to, watch| {
        let from = T::of(&numbers, engine, watch)?;
        let arithmetic = engine;
        write_in_class(engine, class, to, watch, |to: &mut Array<T>| match op {
            Each::Op(op) => arithmetic.unary(op, &from, to, watch),
            Each::ToInfinity(op) => {
                let mut magnitudes = array::<T>(engine, len)?;
                arithmetic.unary(Unary::Abs, &from, &mut magnitudes, watch)?;
                let operands = [Operand::Array(&magnitudes), Operand::Scalar(T::from_f64(f64::INFINITY))];
                arithmetic.binary(op, operands, &class::plain(len)?, to, watch)
            }
        })
    }))
}
