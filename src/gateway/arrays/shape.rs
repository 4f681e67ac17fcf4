//! Verbs that move elements: join, repeat, turn, shift, cut. Results are stored, even those of one element.

use std::sync::Arc;

use super::class::{self, is_integer};
use super::index::{assembled, box_in, shifted};
use super::make;
use super::operands::{OnEngine, Operand, home_of};
use super::pattern::{Pattern, Piece};
use super::reduce::{Along, split, wrong_dimension};
use super::result::{result, write_in_class};
use super::run::{DynEngine, Number, array, filled, in_class_of_engine, keep};
use crate::gateway::dims::{size_text, trimmed};
use crate::gateway::options::value_text;
use crate::gateway::store::StoredArray;
use crate::mex::{Argument, Class, Error, Reply};
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{
    self, Array, Binary, Boundary, Compute, Number as _, Operand as Of, Places, Shift, Source, Target,
};

/// Reads a whole number, of any class and size.
fn whole(argument: &Argument, what: &str) -> Result<f64, Error> {
    let number = argument.scalar().filter(|number| number.fract() == 0.0);
    let text = || format!("{what} is a whole number, and this is {}.", value_text(argument));
    number.ok_or_else(|| Error::new("size", text()))
}

/// Reads numbers of any class.
fn row(argument: &Argument) -> Option<Vec<f64>> {
    argument.numbers().map(Iterator::collect)
}

/// Reads one dimension of an array.
fn dimension(argument: &Argument, dims: &[usize]) -> Result<usize, Error> {
    Along::new(argument)?.of(dims).ok_or_else(|| wrong_dimension(argument))
}

/// Returns the distance from an element to the next along each dimension.
fn strides(dims: &[usize]) -> Vec<isize> {
    let next = |stride: &mut usize, &dim: &usize| {
        let own = *stride;
        *stride *= dim;
        Some(own as isize)
    };
    dims.iter().scan(1, next).collect()
}

/// Makes an array of the elements at some places, in that order.
fn picked<'a>(held: StoredArray, places: Places, dims: Vec<usize>) -> Result<Reply<'a>, Error> {
    if places == Places::run(0, held.len()) {
        // Shared numbers never change, so both objects may have them.
        return keep(held.home, 0, move |_, _, _| Ok(StoredArray { dims, ..held }));
    }
    let to = Places::run(0, places.len());
    of_pieces(held, vec![Piece { from: places, to }], dims)
}

/// Makes an array of pieces of another.
fn of_pieces<'a>(held: StoredArray, pieces: Vec<Piece>, dims: Vec<usize>) -> Result<Reply<'a>, Error> {
    let len = make::elements(&dims)?;
    keep(held.home, len, move |engine, home, watch| {
        let numbers = in_class_of_engine!(held.numbers.class(), T => {
            let from = T::of(&held.numbers, engine, watch)?;
            T::numbers(assembled::<T>(engine, &from, &pieces, len, watch)?)
        });
        Ok(StoredArray { home, dims, class: held.class, numbers })
    })
}

/// `permute (u, order)`: dimension `i` of the result is dimension `order(i)`.
pub(super) fn permute<'a>(held: StoredArray, order: &Argument) -> Result<Reply<'a>, Error> {
    let wrong = || {
        let text = format!("permute: the order must hold 1 to {} once each.", held.dims.len());
        Error::new("dimension", text)
    };
    let order = row(order).filter(|order| order.len() >= held.dims.len()).ok_or_else(wrong)?;
    let mut seen = memory::zeros::<u8>(order.len(), "dimensions")?;
    for &at in &order {
        if !(at.fract() == 0.0 && at >= 1.0 && at <= order.len() as f64) || seen[at as usize - 1] != 0 {
            return Err(wrong());
        }
        seen[at as usize - 1] = 1;
    }
    let mut dims = held.dims.clone();
    dims.resize(order.len(), 1);
    let strides = strides(&dims);
    let along: Vec<_> = order.iter().map(|&at| (dims[at as usize - 1], strides[at as usize - 1])).collect();
    let places = Pattern::new(0, &along).places()?;
    picked(held, places, trimmed(along.iter().map(|along| along.0).collect()))
}

/// Transposes a matrix.
///
/// # Errors
/// `dimension` for arrays of more dimensions.
pub(super) fn transpose<'a>(held: StoredArray) -> Result<Reply<'a>, Error> {
    let [rows, columns] = matrix(&held, "transpose")?;
    let places = Pattern::new(0, &[(columns, rows as isize), (rows, 1)]).places()?;
    picked(held, places, vec![columns, rows])
}

/// Returns the two dimensions of a matrix.
fn matrix(held: &StoredArray, name: &str) -> Result<[usize; 2], Error> {
    <[usize; 2]>::try_from(&held.dims[..]).map_err(|_| {
        let text =
            format!("{name} not defined for N-D objects: this is {held}; permute gives dimensions another order.");
        Error::new("dimension", text)
    })
}

/// `rot90 (u, k)`: turns by `k` quarters, counterclockwise.
pub(super) fn rot90<'a>(held: StoredArray, quarters: &Argument) -> Result<Reply<'a>, Error> {
    let [rows, columns] = matrix(&held, "rot90")?;
    let r = rows as isize;
    let last = (rows * columns).saturating_sub(1);
    let (start, along) = match whole(quarters, "How many quarters rot90 turns by")?.rem_euclid(4.0) as u8 {
        0 => (0, [(rows, 1), (columns, r)]),
        1 => (last + 1 - rows.min(last + 1), [(columns, -r), (rows, 1)]),
        2 => (last, [(rows, -1), (columns, -r)]),
        _ => (rows.saturating_sub(1), [(columns, r), (rows, -1)]),
    };
    let dims = along.map(|along| along.0).to_vec();
    let places = Pattern::new(start, &along).places()?;
    picked(held, places, dims)
}

/// `flip (u, dim)`: reverses a dimension.
pub(super) fn flip<'a>(held: StoredArray, dim: &Argument) -> Result<Reply<'a>, Error> {
    let at = dimension(dim, &held.dims)?;
    let [below, along, above] = split(&held.dims, at);
    let step = below as isize;
    let dims = [(below, 1), (along, -step), (above, step * along as isize)];
    let places = Pattern::new(along.saturating_sub(1) * below, &dims).places()?;
    let dims = held.dims.clone();
    picked(held, places, dims)
}

/// `circshift (u, n, dim)`: moves each element `n` places along a dimension, from the end to the beginning.
pub(super) fn circshift<'a>(held: StoredArray, by: &Argument, dim: &Argument) -> Result<Reply<'a>, Error> {
    let at = dimension(dim, &held.dims)?;
    let by = whole(by, "How many places circshift shifts by")?;
    let [below, along, above] = split(&held.dims, at);
    let dims = held.dims.clone();
    let by = if along == 0 { 0 } else { by.rem_euclid(along as f64) as usize };
    if by == 0 {
        return keep(held.home, 0, move |_, _, _| Ok(held));
    }
    if held.home.step().is_some() {
        let offset = by as isize - if 2 * by > along { along as isize } else { 0 };
        let [before, behind] = [below, above].map(|extent| (extent, 0, Boundary::Circular));
        if let Some(shift) = Shift::new(&[before, (along, -offset, Boundary::Circular), behind]) {
            return shifted(held, shift, dims);
        }
    }
    let run = |start: usize, len: usize| {
        Pattern::new(start * below, &[(below, 1), (len, below as isize), (above, (below * along) as isize)]).places()
    };
    let pieces = vec![
        Piece { from: run(0, along - by)?, to: run(by, along - by)? },
        Piece { from: run(along - by, by)?, to: run(0, by)? },
    ];
    of_pieces(held, pieces, dims)
}

/// `repmat (u, times)`: repeats the array along each dimension.
pub(super) fn repmat<'a>(held: StoredArray, times: &Argument) -> Result<Reply<'a>, Error> {
    let times = make::sizes(times)?;
    let rank = times.len().max(held.dims.len());
    let of = |dims: &[usize], d: usize| dims.get(d).copied().unwrap_or(1);
    let dims: Vec<usize> = (0..rank)
        .map(|d| of(&held.dims, d).checked_mul(of(&times, d)))
        .collect::<Option<_>>()
        .ok_or_else(|| Error::new("outOfMemory", "There is no memory for an array of these dimensions."))?;
    make::elements(&dims)?;
    let mut along = Vec::with_capacity(2 * rank);
    let mut stride = 1;
    for d in 0..rank {
        along.push((of(&held.dims, d), stride as isize));
        along.push((of(&times, d), 0));
        stride *= of(&held.dims, d);
    }
    let places = Pattern::new(0, &along).places()?;
    picked(held, places, trimmed(dims))
}

/// `resize (u, sizes)`: cuts the array off, or adds zeros.
pub(super) fn resize<'a>(held: StoredArray, sizes: &Argument) -> Result<Reply<'a>, Error> {
    let dims = make::sizes(sizes)?;
    let rank = dims.len().max(held.dims.len());
    let of = |dims: &[usize], d: usize| dims.get(d).copied().unwrap_or(1);
    let common: Vec<_> = (0..rank).map(|d| of(&dims, d).min(of(&held.dims, d))).collect();
    let len = make::elements(&dims)?;
    keep(held.home, len.max(held.len()), move |engine, home, watch| {
        let whole = |dims: &[usize]| (0..rank).map(|d| of(dims, d)).collect::<Vec<_>>();
        let (from, to) = (box_in(&common, &whole(&held.dims))?, box_in(&common, &whole(&dims))?);
        let numbers = in_class_of_engine!(held.numbers.class(), T => {
            let numbers = T::of(&held.numbers, engine, watch)?;
            let mut output = filled(engine, len, T::default(), watch)?;
            if !from.is_empty() {
                let mut part = array::<T>(engine, from.len())?;
                engine.pick(&numbers, &from, Target::Array(&mut part), watch)?;
                engine.put(Source::Array(&part), &to, &mut output, watch)?;
            }
            T::numbers(Arc::new(output))
        });
        Ok(StoredArray { home, dims, class: held.class, numbers })
    })
}

/// `triu (u, k)` and `tril (u, k)`: zeros below or above a diagonal.
pub(super) fn triangle<'a>(held: StoredArray, upper: bool, diagonal: &Argument) -> Result<Reply<'a>, Error> {
    let [rows, columns] = matrix(&held, if upper { "triu" } else { "tril" })?;
    let k = whole(diagonal, "A diagonal")? as isize;
    // The zeros of a column are its end, or its beginning.
    let zeros = |j: usize| {
        let first = (j as isize).saturating_sub(k).saturating_add(isize::from(upper)).clamp(0, rows as isize) as usize;
        if upper { first..rows } else { 0..first }
    };
    let mut places = memory::with_room((0..columns).map(|j| zeros(j).len()).sum(), "places of zeros")?;
    places.extend((0..columns).flat_map(|j| zeros(j).map(move |i| (j * rows + i) as u64)));
    let (len, places) = (held.len(), Places::List(places));
    keep(held.home, len, move |engine, home, watch| {
        let numbers = in_class_of_engine!(held.numbers.class(), T => {
            let numbers = T::of(&held.numbers, engine, watch)?;
            let mut output = array::<T>(engine, len)?;
            engine.arrays::<T>().copy(Source::Array(&numbers), Target::Array(&mut output), watch)?;
            if !places.is_empty() {
                let zeros = filled(engine, places.len(), T::default(), watch)?;
                engine.put(Source::Array(&zeros), &places, &mut output, watch)?;
            }
            T::numbers(Arc::new(output))
        });
        Ok(StoredArray { home, numbers, ..held })
    })
}

/// `diff (u, order, dim)`: differences of neighbours along a dimension, taken `order` times.
pub(super) fn diff<'a>(held: StoredArray, order: &Argument, dim: &Argument) -> Result<Reply<'a>, Error> {
    let order = Some(whole(order, "The order of differences")?).filter(|order| *order >= 0.0);
    let order = order.ok_or_else(|| Error::new("size", "The order of differences is a whole number from 0 up."))?;
    let (at, order) = match Along::new(dim)? {
        Along::First => match unnamed(&held.dims, order as usize) {
            Some(found) => found,
            None => return of_pieces(held, Vec::new(), vec![0, 0]),
        },
        Along::Dim(at) if at < held.dims.len() => (at, order as usize),
        _ => {
            let text = format!("diff: a {held} has no dimension {}.", value_text(dim));
            return Err(Error::new("dimension", text));
        }
    };
    let class = if held.class == Class::Logical { Class::Double } else { held.class };
    let [below, along, above] = split(&held.dims, at);
    let mut dims = held.dims.clone();
    dims[at] = along.saturating_sub(order);
    let (dims, len) = (trimmed(dims), held.len());
    let computed = if is_integer(class) { Class::Double } else { class };
    in_class_of_engine!(computed, T => result::<T>(held.home, (class, dims), len, move |engine, to, watch| {
        if to.is_empty() {
            return Ok(watch.check()?);
        }
        let mut from = T::of(&held.numbers, engine, watch)?;
        let step = |from: &Array<T>, along: usize, to: Target<T>| -> Result<(), stencil::Error> {
            let part = |start: usize| -> Result<Array<T>, stencil::Error> {
                let dims = [(below, 1), (along - 1, below as isize), (above, (below * along) as isize)];
                let places = Pattern::new(start * below, &dims).places()?;
                let mut part = array::<T>(engine, places.len())?;
                engine.pick(from, &places, Target::Array(&mut part), watch).map(|()| part)
            };
            let (later, earlier) = (part(1)?, part(0)?);
            write_in_class(engine, class, to, watch, |to| {
                let operands = [Of::Array(&later), Of::Array(&earlier)];
                engine.binary(Binary::Subtract, operands, &class::plain(later.len())?, to, watch)
            })
        };
        if order == 0 {
            return engine.arrays::<T>().copy(Source::Array(&from), to, watch);
        }
        for i in 1..order {
            let mut between = array::<T>(engine, below * (along - i) * above)?;
            step(&from, along - i + 1, Target::Array(&mut between))?;
            from = Arc::new(between);
        }
        step(&from, along - order + 1, to)
    }))
}

/// Returns the dimension and the order of differences if no dimension is named: the first that is not 1. If `order` is
/// not less than its extent, the extent minus one is taken along it, and the rest along the next dimension of the
/// original array, as in Octave. `None` for one element, since nothing remains of it.
fn unnamed(dims: &[usize], order: usize) -> Option<(usize, usize)> {
    let first = dims.iter().position(|&dim| dim != 1).unwrap_or(0);
    if dims[first] > order || order == 0 {
        return Some((first, order));
    }
    let (mut found, mut rest) = (None, isize::try_from(order).unwrap_or(isize::MAX));
    for (at, &dim) in dims.iter().enumerate().skip(first).filter(|(_, dim)| **dim != 1) {
        found = Some((at, dim.saturating_sub(1)));
        rest = rest.saturating_sub(dim as isize - 1);
        if rest <= 0 {
            return found;
        }
    }
    found.map(|_| (dims.len() - 1, rest as usize))
}

/// Limit on the dimensions of joined arrays: each takes memory, even an extent of 1.
const MOST_DIMENSIONS: usize = 1 << 16;

/// `cat (dim, u, v, ..)`.
pub(super) fn cat<'a>(dim: &Argument, arrays: &'a [Argument]) -> Result<Reply<'a>, Error> {
    let Along::Dim(at) = Along::new(dim)? else { return Err(wrong_dimension(dim)) };
    if at >= MOST_DIMENSIONS {
        let text = format!("cat: arrays have {MOST_DIMENSIONS} dimensions at most, and this is number {}.", at + 1);
        return Err(Error::new("dimension", text));
    }
    join(at, arrays)
}

/// Joins arrays along a dimension, counted from 0.
pub(super) fn join(at: usize, arrays: &[Argument]) -> Result<Reply<'_>, Error> {
    let home = home_of(arrays)?;
    let operands = arrays.iter().map(|array| Operand::new(array, home)).collect::<Result<Vec<_>, _>>()?;
    let class = class::of_joined(&operands.iter().map(|operand| operand.class).collect::<Vec<_>>());
    if class == Class::Logical {
        arrays.iter().try_for_each(class::check_truths)?;
    }
    let mut dims = operands[0].dims.clone();
    for operand in &operands[1..] {
        dims = joined(&dims, &operand.dims, at)?;
    }
    dims.resize(dims.len().max(at + 1), 1);
    let len = make::elements(&dims)?;
    let computed = if class == Class::Single { Class::Single } else { Class::Double };
    keep(home, len, move |engine, home, watch| {
        let numbers = in_class_of_engine!(computed, T => {
            T::numbers(Arc::new(behind_each_other::<T>(engine, operands, (class, &dims, at), watch)?))
        });
        Ok(StoredArray { home, dims: trimmed(dims), class, numbers })
    })
}

/// Returns the dimensions of two joined arrays. Leaves out one of 0 x 0, and one of 1 x 0 or 0 x 1 that does not fit.
fn joined(a: &[usize], b: &[usize], at: usize) -> Result<Vec<usize>, Error> {
    let rank = a.len().max(b.len()).max(at + 1);
    let of = |dims: &[usize], d: usize| dims.get(d).copied().unwrap_or(1);
    if (0..rank).all(|d| d == at || of(a, d) == of(b, d)) {
        let mut dims: Vec<_> = (0..rank).map(|d| of(a, d)).collect();
        dims[at] = dims[at]
            .checked_add(of(b, at))
            .ok_or_else(|| Error::new("outOfMemory", "There is no memory for an array of these dimensions."))?;
        return Ok(dims);
    }
    let is_nothing = |dims: &[usize]| dims == [0, 0] || at < 2 && (dims == [1, 0] || dims == [0, 1]);
    match (is_nothing(a), is_nothing(b)) {
        (_, true) => Ok(a.to_vec()),
        (true, _) => Ok(b.to_vec()),
        _ => {
            let which = match at {
                0 => "vertical dimensions mismatch",
                1 => "horizontal dimensions mismatch",
                _ => "cat: dimension mismatch",
            };
            let (a, b) = (size_text(&trimmed(a.to_vec())), size_text(b));
            Err(Error::new("size", format!("{which} ({a} vs {b})")))
        }
    }
}

/// Writes operands behind each other to an array of these dimensions.
fn behind_each_other<T: Number>(
    engine: &DynEngine,
    operands: Vec<Operand>,
    (class, dims, at): (Class, &[usize], usize),
    watch: &Watch,
) -> Result<Array<T>, stencil::Error> {
    let [below, total, above] = split(dims, at);
    let mut output = array::<T>(engine, below * total * above)?;
    let mut start = 0;
    for operand in operands {
        let along = operand.dims.get(at).copied().unwrap_or(1);
        if operand.len() == 0 {
            // An operand that was left out may have an extent here.
            continue;
        }
        let steps = [(below * along, 1), (above, (below * total) as isize)];
        let places = Pattern::new(start * below, &steps).places()?;
        match operand.in_class::<T>(class, engine, watch)? {
            OnEngine::Array(array) => engine.put(Source::Array(&array), &places, &mut output, watch)?,
            OnEngine::Number(number) => {
                engine.put(Source::Host(&[number]), &places, &mut output, watch)?;
            }
        }
        start += along;
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_go_on_along_the_next_dimension() {
        for (dims, order, found) in [
            (&[1, 5][..], 4, Some((1, 4))),
            (&[1, 5], 5, Some((1, 1))),
            (&[2, 2], 2, Some((1, 1))),
            (&[2, 3], 4, Some((1, 1))),
            (&[3, 1], 3, Some((1, 1))),
            (&[0, 3], 1, Some((1, 2))),
            (&[2, 3, 4], 4, Some((2, 3))),
            (&[2, 3, 4], 99, Some((2, 93))),
            (&[1, 1], 1, None),
            (&[1, 1], 0, Some((0, 0))),
            (&[0, 3], 0, Some((0, 0))),
        ] {
            assert_eq!(unnamed(dims, order), found, "{dims:?} {order}");
        }
    }

    #[test]
    fn arrays_are_joined_as_the_host_joins_them() {
        let joined = |a: &[usize], b: &[usize], at| joined(a, b, at).map_err(|error| error.text);
        assert_eq!(joined(&[2, 3], &[2, 4], 1), Ok(vec![2, 7]));
        assert_eq!(joined(&[2, 3], &[2, 3], 2), Ok(vec![2, 3, 2]));
        assert_eq!(joined(&[0, 0], &[2, 3], 0), Ok(vec![2, 3]));
        assert_eq!(joined(&[2, 3], &[0, 0], 2), Ok(vec![2, 3]));
        assert_eq!(joined(&[1, 0], &[2, 3], 0), Ok(vec![2, 3]));
        assert_eq!(joined(&[2, 3], &[2, 3, 2], 2), Ok(vec![2, 3, 3]));
        assert_eq!(joined(&[1, 2], &[1, 3], 0), Err("vertical dimensions mismatch (1x2 vs 1x3)".into()));
        assert_eq!(joined(&[1, 2], &[2, 2], 1), Err("horizontal dimensions mismatch (1x2 vs 2x2)".into()));
    }
}
