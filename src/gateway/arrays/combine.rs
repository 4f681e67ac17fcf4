//! Verbs that combine arrays: operators of two, which expand, and reductions.

use super::super::store::{Numbers, StoredArray};
use super::operands::{OperandOf, home_of, makes_single, operand};
use super::run::{Engines, effort, keep};
use crate::mex::{Argument, Error, Reply};
use crate::stencil::{self, Arithmetic, Array, Binary, Compute, Expansion, RANK, Real, Reduction, Target};
use crate::watch::Watch;

/// An operator of two operands, which expand where an extent is 1.
pub(super) fn binary<'a>(op: Binary, arguments: [&'a Argument; 2]) -> Result<Reply<'a>, Error> {
    let home = home_of(arguments)?;
    let (a, sizes_of_a) = operand(arguments[0], home)?;
    let (b, sizes_of_b) = operand(arguments[1], home)?;
    let single = makes_single(&a) || makes_single(&b);
    let sizes = [sizes_of_a, sizes_of_b];
    let nonconformant = || {
        let told = |dims: &[usize]| dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let text = format!("nonconformant arguments (op1 is {}, op2 is {})", told(&sizes[0]), told(&sizes[1]));
        Error::new("size", text)
    };
    let rank = sizes[0].len().max(sizes[1].len());
    let of = |which: usize, d: usize| sizes[which].get(d).copied().unwrap_or(1);
    if !(0..rank).all(|d| of(0, d) == of(1, d) || of(0, d) == 1 || of(1, d) == 1) {
        return Err(nonconformant());
    }
    let expansion = Expansion::new([&sizes[0], &sizes[1]]).ok_or_else(|| {
        Error::new(
            "unsupported",
            format!("The operands expand in more than {RANK} ways: reshape them so that fewer dimensions alternate."),
        )
    })?;
    let dims = (0..rank).map(|d| if of(0, d) == 1 { of(1, d) } else { of(0, d) }).collect();
    keep(home, expansion.elements(), move |engine, home, watch| {
        let numbers = if single {
            combined::<f32>(engine, op, [a.into(), b.into()], &expansion, watch)?.into()
        } else {
            combined::<f64>(engine, op, [a.into(), b.into()], &expansion, watch)?.into()
        };
        Ok(StoredArray { home, dims, numbers })
    })
}

fn combined<T: Real>(
    engine: &Engines,
    op: Binary,
    operands: [OperandOf<T>; 2],
    expansion: &Expansion,
    watch: &Watch,
) -> Result<Array<T>, stencil::Error>
where
    Engines: Compute<T> + Arithmetic<T> + Compute<T::Other>,
{
    let mut to = Compute::<T>::array(engine, expansion.elements())?;
    let [a, b] = operands.map(|operand| operand.on(engine, watch));
    let (a, b) = (a?, b?);
    engine.binary(op, [a.operand(), b.operand()], expansion, &mut to, watch).map(|()| to)
}

/// Reduced along a dimension, counted from 1; over everything for 0, along the first that is not 1 for -1: an array of
/// the host's.
pub(super) fn reduce<'a>(array: StoredArray, op: Reduction, dim: &Argument) -> Result<Reply<'a>, Error> {
    let dim = dim.scalar().filter(|dim| dim.fract() == 0.0 && *dim >= -1.0).ok_or_else(|| {
        Error::new("dimension", format!("A dimension is a whole number from 1 up, and this is {dim}."))
    })?;
    let first = || array.dims.iter().position(|&dim| dim != 1).unwrap_or(0) + 1;
    let dim = match dim {
        // Of nothing at all the hosts make a scalar.
        ..0.0 if array.dims == [0, 0] => 0,
        ..0.0 => first(),
        dim => dim as usize,
    };
    let (size, dims) = match dim {
        0 => ([1, array.len(), 1], vec![1, 1]),
        _ => {
            let mut dims = array.dims.clone();
            let product = |dims: &[usize]| dims.iter().product::<usize>();
            let at = dim - 1;
            if at < dims.len() {
                let size = [product(&dims[..at]), dims[at], product(&dims[at + 1..])];
                dims[at] = 1;
                (size, dims)
            } else {
                ([array.len(), 1, 1], dims)
            }
        }
    };
    let effort = effort(array.len());
    let chosen = array.home.choose()?;
    match array.numbers {
        Numbers::Double(numbers) => chosen.reply(&dims, effort, move |engine, output, watch| {
            engine.reduce(op, &numbers, None, size, Target::Host(output), watch)
        }),
        Numbers::Single(numbers) => chosen.reply(&dims, effort, move |engine, output, watch| {
            engine.reduce(op, &numbers, None, size, Target::Host(output), watch)
        }),
    }
}

/// A reduction of two arrays, over everything: a scalar.
pub(super) fn both<'a>(op: Reduction, arguments: [&'a Argument; 2]) -> Result<Reply<'a>, Error> {
    let home = home_of(arguments)?;
    let (a, sizes_of_a) = operand(arguments[0], home)?;
    let (b, sizes_of_b) = operand(arguments[1], home)?;
    let elements = |dims: &[usize]| dims.iter().product::<usize>();
    if elements(&sizes_of_a) != elements(&sizes_of_b) {
        let text = format!("nonconformant arguments: {} and {}", arguments[0], arguments[1]);
        return Err(Error::new("size", text));
    }
    let size = [1, elements(&sizes_of_a), 1];
    let chosen = home.choose()?;
    if makes_single(&a) || makes_single(&b) {
        let (a, b): (OperandOf<f32>, OperandOf<f32>) = (a.into(), b.into());
        chosen.reply(&[1, 1], effort(size[1]), move |engine, output, watch| {
            let [a, b] = [a.on(engine, watch)?, b.on(engine, watch)?];
            let [a, b] = [a.array(size[1], engine, watch)?, b.array(size[1], engine, watch)?];
            engine.reduce(op, a.get()?, Some(b.get()?), size, Target::Host(output), watch)
        })
    } else {
        let (a, b): (OperandOf<f64>, OperandOf<f64>) = (a.into(), b.into());
        chosen.reply(&[1, 1], effort(size[1]), move |engine, output, watch| {
            let [a, b] = [a.on(engine, watch)?, b.on(engine, watch)?];
            let [a, b] = [a.array(size[1], engine, watch)?, b.array(size[1], engine, watch)?];
            engine.reduce(op, a.get()?, Some(b.get()?), size, Target::Host(output), watch)
        })
    }
}
