//! Operators of two arrays, which expand.

use std::sync::Arc;

use super::class::{self, is_integer};
use super::operands::{OnEngine, Operand, Values, home_of};
use super::result::{result, write_in_class};
use super::run::{DynEngine, Number, array, in_class_of_engine};
use crate::gateway::dims::size_text;
use crate::mex::{Argument, Class, Error, Reply};
use crate::platform::watch::Watch;
use crate::stencil::{self, Binary, Compute, Expansion, RANK};

/// Returns the class of an operator's result, and the class that it is computed in.
///
/// # Errors
/// `dataType` for two classes of integers that the operator cannot combine.
fn classes(op: Binary, a: &Operand, b: &Operand) -> Result<(Class, Class), Error> {
    let name = match op {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => ".*",
        Binary::Divide => "./",
        Binary::Min => "min",
        Binary::Max => "max",
        Binary::Mod => "mod",
        Binary::Rem => "rem",
        Binary::RaisedTo => ".^",
        Binary::Atan2 => return of_plane("atan2", [a.class, b.class]),
        Binary::Hypot => return of_plane("hypot", [a.class, b.class]),
        // Comparisons of integers with other numbers are exact in double; all others in the class of their numbers.
        _ => {
            let integers = is_integer(a.class) || is_integer(b.class);
            let single = [a, b].iter().any(|operand| operand.class == Class::Single);
            let truths = [a, b].iter().all(|operand| operand.is_in_single());
            let computed = if !integers && (single || truths) { Class::Single } else { Class::Double };
            return Ok((Class::Logical, computed));
        }
    };
    if of_one_class(op) {
        match [a.class, b.class] {
            [Class::Logical, Class::Logical] if matches!(op, Binary::Min | Binary::Max) => {
                return Ok((Class::Logical, Class::Double));
            }
            // Only these operators combine two classes of integers.
            [Class::Integer { bytes: a, signed }, Class::Integer { bytes: b, signed: other }] if signed == other => {
                return Ok((Class::Integer { bytes: a.max(b), signed }, Class::Double));
            }
            _ => {}
        }
    }
    let class = class::of_arithmetic(name, [a.class, b.class])?;
    Ok((class, class))
}

/// Returns the classes of a function of coordinates: integers become double, or single with a single operand.
///
/// # Errors
/// `dataType` for logical values.
fn of_plane(name: &str, classes: [Class; 2]) -> Result<(Class, Class), Error> {
    if classes.contains(&Class::Logical) {
        let text = format!("{name}: wrong type argument 'logical': convert it first, double (u).");
        return Err(Error::new("dataType", text));
    }
    let class = if classes.contains(&Class::Single) { Class::Single } else { Class::Double };
    Ok((class, class))
}

/// Returns true for operators that convert both operands to integers first if one is of such a class: NaN becomes 0.
fn of_one_class(op: Binary) -> bool {
    matches!(op, Binary::Min | Binary::Max | Binary::Mod | Binary::Rem)
}

/// Applies an operator to two operands, which expand along extents of 1.
pub(super) fn binary<'a>(op: Binary, arguments: [&'a Argument; 2]) -> Result<Reply<'a>, Error> {
    let home = home_of(arguments)?;
    of_operands(op, home, [Operand::new(arguments[0], home)?, Operand::new(arguments[1], home)?])
}

/// Does what [`binary`] does for operands that lie in `home` or are uploaded there.
pub(super) fn of_operands<'a>(
    op: Binary,
    home: super::Home,
    [mut a, mut b]: [Operand<'a>; 2],
) -> Result<Reply<'a>, Error> {
    let rank = a.dims.len().max(b.dims.len());
    let of = |dims: &[usize], d: usize| dims.get(d).copied().unwrap_or(1);
    let goes = |d: usize| {
        let (a, b) = (of(&a.dims, d), of(&b.dims, d));
        a == b || a == 1 || b == 1
    };
    if !(0..rank).all(goes) {
        let (a, b) = (size_text(&a.dims), size_text(&b.dims));
        return Err(Error::new("size", format!("nonconformant arguments (op1 is {a}, op2 is {b})")));
    }
    let (class, computed) = classes(op, &a, &b)?;
    let expansion = Expansion::new([&a.dims, &b.dims]).ok_or_else(|| {
        Error::new(
            "unsupported",
            format!("The operands expand in more than {RANK} ways: reshape them so that fewer dimensions alternate."),
        )
    })?;
    let dims = (0..rank).map(|d| if of(&a.dims, d) == 1 { of(&b.dims, d) } else { of(&a.dims, d) }).collect();
    let first = of_one_class(op) && is_integer(class);
    for operand in [&mut a, &mut b] {
        if let Values::Number(number) = &mut operand.values
            && first
        {
            *number = class::cast(*number, class);
        }
    }
    let [from_a, from_b] = [&a, &b].map(|operand| first && operand.class != class);
    in_class_of_engine!(computed, T => result::<T>(home, (class, dims), expansion.elements(), move |engine, to, watch| {
        let a = in_integers::<T>(a.values, from_a.then_some(class), engine, watch)?;
        let b = in_integers::<T>(b.values, from_b.then_some(class), engine, watch)?;
        write_in_class(engine, class, to, watch, |to| {
            engine.binary(op, [a.operand(), b.operand()], &expansion, to, watch)
        })
    }))
}

/// Uploads values, rounded if `class` is a class of integers.
fn in_integers<T: Number>(
    values: Values,
    class: Option<Class>,
    engine: &DynEngine,
    watch: &Watch,
) -> Result<OnEngine<T>, stencil::Error> {
    Ok(match (values.on::<T>(engine, watch)?, class) {
        (OnEngine::Array(exact), Some(class)) => {
            let mut rounded = array(engine, exact.len())?;
            class::round(engine, class, &exact, &mut rounded, watch)?;
            OnEngine::Array(Arc::new(rounded))
        }
        (values, _) => values,
    })
}

/// Reduces two arrays to one number of the host's.
pub(super) fn both<'a>(op: stencil::Reduction, arguments: [&'a Argument; 2]) -> Result<Reply<'a>, Error> {
    let home = home_of(arguments)?;
    let [a, b] = [Operand::new(arguments[0], home)?, Operand::new(arguments[1], home)?];
    if a.len() != b.len() {
        let text = format!("nonconformant arguments: {} and {}", size_text(&a.dims), size_text(&b.dims));
        return Err(Error::new("size", text));
    }
    let size = [1, a.len(), 1];
    let single = [a.class, b.class].contains(&Class::Single) && !is_integer(a.class) && !is_integer(b.class);
    let computed = if single { Class::Single } else { Class::Double };
    let class = if op == stencil::Reduction::Differ { Class::Logical } else { computed };
    in_class_of_engine!(computed, T => result::<T>(home, (class, vec![1, 1]), size[1], move |engine, to, watch| {
        let [a, b] = [a.values.array::<T>(size[1], engine, watch)?, b.values.array::<T>(size[1], engine, watch)?];
        engine.reduce(op, &a, Some(&b), size, to, watch)
    }))
}
