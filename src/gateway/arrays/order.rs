//! Verbs along lines: extremes with their places, running sums and products, sorts; and the places of nonzeros.
//!
//! Two results of a call are two numbers of the host's if both are doubles of one element; else both are stored.

use std::sync::Arc;

use super::class::{is_integer, plain};
use super::reduce::{Along, shape, split};
use super::result::{result, write_in_class};
use super::run::{DynEngine, Number, array, effort, in_class_of_engine};
use crate::gateway::store::{Home, StoredArray};
use crate::mex::{Argument, Class, Error, Reply};
use crate::platform::watch::Watch;
use crate::stencil::{
    self, Array, Binary, Compute, Extreme, Indices, Operand, Order, Real, Reduction, Scan, Source, Target, Unary,
};

/// Returns the reply of a call with two results of `run`: an array of this class, and places of the same dimensions.
fn two_results<'a, T: Number>(
    home: Home,
    (class, dims): (Class, Vec<usize>),
    elements: usize,
    run: impl FnOnce(&DynEngine, &Watch) -> Result<(Array<T>, Array<f64>), stencil::Error> + Send + 'a,
) -> Result<Reply<'a>, Error> {
    let chosen = home.choose()?;
    let effort = home.effort(effort(elements));
    // A step has no numbers of the host's.
    if dims.iter().product::<usize>() == 1 && class == Class::Double && home.step().is_none() {
        return chosen.reply_all(&[&dims, &dims], effort, move |engine, outputs: Vec<&mut [f64]>, watch| {
            let (values, places) = run(engine, watch)?;
            let numbers = [f64::of(&T::numbers(Arc::new(values)), engine, watch)?, Arc::new(places)];
            outputs.into_iter().zip(&numbers).try_for_each(|(output, numbers)| {
                engine.arrays::<f64>().copy(Source::Array(numbers), Target::Host(output), watch)
            })
        });
    }
    let make = move |engine: &DynEngine, home, watch: &Watch| {
        let (values, places) = run(engine, watch)?;
        let values = StoredArray { home, dims: dims.clone(), class, numbers: T::numbers(Arc::new(values)) };
        Ok(vec![values, StoredArray::new(home, dims, places)])
    };
    Ok(chosen.held_all(effort, Box::new(make)))
}

/// Returns places counted from 1, as the hosts do.
fn counted(engine: &DynEngine, indices: &Indices, watch: &Watch) -> Result<Array<f64>, stencil::Error> {
    let mut places = array(engine, indices.len())?;
    engine.ordinals(indices, (&mut places).into(), watch).map(|()| places)
}

/// Returns the smallest or the largest element along a dimension, and its place.
pub(super) fn extremes<'a>(held: StoredArray, which: Extreme, dim: &Argument) -> Result<Reply<'a>, Error> {
    let (size, dims) = shape(Reduction::Max, &held.dims, Along::new(dim)?);
    in_class_of_engine!(held.numbers.class(), T => {
        two_results::<T>(held.home, (held.class, dims), held.len(), move |engine, watch| {
            let (below, along, above) = (size[0], size[1], size[2]);
            let mut values = array::<T>(engine, if along == 0 { 0 } else { below * above })?;
            if values.is_empty() {
                return Ok((values, array(engine, 0)?));
            }
            let numbers = T::of(&held.numbers, engine, watch)?;
            let places =
                engine.extremes(which, &numbers, size, Target::Array(&mut values), watch)?;
            Ok((values, counted(engine, &places, watch)?))
        })
    })
}

/// Combines each element with all before it along a dimension; logical values and integers in double, as the host does.
pub(super) fn scan<'a>(held: StoredArray, op: Scan, dim: &Argument) -> Result<Reply<'a>, Error> {
    let size = lines(&held.dims, Along::new(dim)?);
    let class = if held.class == Class::Logical || is_integer(held.class) { Class::Double } else { held.class };
    let len = held.len();
    in_class_of_engine!(class, T => result::<T>(held.home, (class, held.dims), len, move |engine, to, watch| {
        if to.is_empty() {
            return Ok(watch.check()?);
        }
        let numbers = T::of(&held.numbers, engine, watch)?;
        write_in_class(engine, class, to, watch, |to| engine.scan(op, &numbers, size, to, watch))
    }))
}

/// Returns the extents below a dimension, along it and above it; all elements are one line.
fn lines(dims: &[usize], along: Along) -> [usize; 3] {
    along.of(dims).map_or_else(|| [1, dims.iter().product(), 1], |at| split(dims, at))
}

/// `sort (u, dim, mode)`, with the original places of the elements if two results are asked for.
pub(super) fn sort<'a>(
    held: StoredArray,
    (dim, mode): (&Argument, &Argument),
    with_places: bool,
) -> Result<Reply<'a>, Error> {
    let order = match mode.text() {
        Some(text) if text.eq_ignore_ascii_case("ascend") => Order::Ascending,
        Some(text) if text.eq_ignore_ascii_case("descend") => Order::Descending,
        _ => {
            let text = format!("sort: the mode is \"ascend\" or \"descend\", and this is {mode}.");
            return Err(Error::new("option", text));
        }
    };
    let size = lines(&held.dims, Along::new(dim)?);
    let (home, class, len) = (held.home, held.class, held.len());
    let dims = held.dims.clone();
    in_class_of_engine!(held.numbers.class(), T => {
        if !with_places {
            return result::<T>(home, (class, dims), len, move |engine, to, watch| {
                if to.is_empty() {
                    return Ok(watch.check()?);
                }
                let numbers = T::of(&held.numbers, engine, watch)?;
                write_in_class(engine, Class::Double, to, watch, |to| {
                    engine.sort(order, &numbers, size, to, false, watch).map(drop)
                })
            });
        }
        two_results::<T>(home, (class, dims), len, move |engine, watch| {
            let mut values = array::<T>(engine, len)?;
            if len == 0 {
                return Ok((values, array(engine, 0)?));
            }
            let numbers = T::of(&held.numbers, engine, watch)?;
            let places = engine.sort(order, &numbers, size, &mut values, true, watch)?;
            let places = places.ok_or_else(|| stencil::Error::Internal("A sort without its places.".into()))?;
            Ok((values, counted(engine, &places, watch)?))
        })
    })
}

/// Finds the places of nonzeros. Their number is known afterwards, so this waits for the engine.
pub(super) fn found(held: &StoredArray) -> Result<Arc<Indices>, Error> {
    let engine = held.home.engine()?;
    let watch = Watch::new();
    Ok(Arc::new(engine.find(held.numbers.input(), &watch)?))
}

/// `find (u)`: places in the whole array, or `[i, j]`, their rows and columns.
pub(super) fn find<'a>(held: StoredArray, outputs: usize) -> Result<Reply<'a>, Error> {
    let indices = found(&held)?;
    let count = indices.len();
    let dims = match &held.dims[..] {
        [0, 0] => vec![0, 0],
        [1, 1] => vec![count; 2],
        [1, _] => vec![1, count],
        _ => vec![count, 1],
    };
    let len = held.len();
    if outputs < 2 {
        return result::<f64>(held.home, (Class::Double, dims), len, move |engine, to, watch| match to.is_empty() {
            true => Ok(watch.check()?),
            false => engine.ordinals(&indices, to.into(), watch),
        });
    }
    let rows = held.dims[0] as f64;
    two_results::<f64>(held.home, (Class::Double, dims), len, move |engine, watch| {
        if count == 0 {
            return Ok((array(engine, 0)?, array(engine, 0)?));
        }
        let arithmetic = engine;
        let plain = plain(count)?;
        let with = |op, from: &Array<f64>, number: f64| -> Result<Array<f64>, stencil::Error> {
            let mut to = array(engine, count)?;
            arithmetic.binary(op, [Operand::Array(from), Operand::Scalar(number)], &plain, &mut to, watch)?;
            Ok(to)
        };
        // Quotients of whole numbers below 2^53 are never rounded up to the next whole number.
        let before = with(Binary::Subtract, &counted(engine, &indices, watch)?, 1.0)?;
        let mut columns = array(engine, count)?;
        arithmetic.unary(Unary::Floor, &with(Binary::Divide, &before, rows)?, &mut columns, watch)?;
        let ahead = with(Binary::Multiply, &columns, rows)?;
        let mut in_column = array(engine, count)?;
        arithmetic.binary(
            Binary::Subtract,
            [Operand::Array(&before), Operand::Array(&ahead)],
            &plain,
            &mut in_column,
            watch,
        )?;
        Ok((with(Binary::Add, &in_column, f64::ONE)?, with(Binary::Add, &columns, f64::ONE)?))
    })
}
