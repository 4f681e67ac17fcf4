//! The rules of indices: from the indices of a script to the places that are read, assigned to or removed.
//!
//! The rules are the host's own, shape by shape; `tests/octave/verbs.tst` compares them with it.

use std::sync::Arc;

use super::pattern::{Pattern, Piece};
use crate::gateway::dims::{self, size_text};
use crate::gateway::options::number_text;
use crate::gateway::store::StoredArray;
use crate::mex::{Argument, Class, Error};
use crate::platform::memory;
use crate::stencil::{Indices, Places, Shift};

/// Places to read, in order, and the dimensions of the result.
#[derive(Debug, PartialEq)]
pub(super) struct Indexed {
    pub(super) places: Places,
    pub(super) dims: Vec<usize>,
}

/// Places to assign to.
#[derive(Debug, PartialEq)]
pub(super) struct Assigned {
    /// In the array after it has grown.
    pub(super) places: Places,
    /// Dimensions of the array if it grows.
    pub(super) grown: Option<Vec<usize>>,
}

/// Elements that remain after a removal, and their dimensions.
#[derive(Debug, PartialEq)]
pub(super) struct Remaining {
    pub(super) pieces: Vec<Piece>,
    pub(super) dims: Vec<usize>,
}

/// One index, counted from 0.
#[derive(Debug, Clone, PartialEq)]
enum Index {
    /// All of a dimension.
    All,
    /// `count` places from `start` on.
    Range {
        start: usize,
        step: isize,
        count: usize,
    },
    List(Vec<u64>),
    /// Places that a stored mask picks, in an engine's list: only as the single index of an array.
    Found(Arc<Indices>),
}

/// An index and its shape.
#[derive(Debug)]
pub(super) struct Subscript {
    index: Index,
    /// Dimensions that it gives to the elements it picks.
    dims: Vec<usize>,
    /// Smallest extent that it fits.
    reach: usize,
}

impl Index {
    fn len(&self, extent: usize) -> usize {
        match self {
            Index::All => extent,
            Index::Range { count, .. } => *count,
            Index::List(list) => list.len(),
            Index::Found(indices) => indices.len(),
        }
    }

    /// Returns a list of places, as a range if they are evenly spaced.
    fn of_list(list: Vec<u64>) -> Index {
        let start = *list.first().unwrap_or(&0) as usize;
        let step = match &list[..] {
            [first, second, ..] => *second as isize - *first as isize,
            _ => 1,
        };
        let same = list.windows(2).all(|pair| pair[1] as isize - pair[0] as isize == step);
        if same { Index::Range { start, step, count: list.len() } } else { Index::List(list) }
    }

    /// Returns the place of element `i`, for all indices but found ones.
    fn at(&self, i: usize) -> u64 {
        match self {
            Index::All | Index::Found(_) => i as u64,
            Index::Range { start, step, .. } => (*start as isize + *step * i as isize) as u64,
            Index::List(list) => list[i],
        }
    }
}

fn wrong(text: String) -> Error {
    Error::new("index", text)
}

/// Formats index `d` of `of`, such as `_,3`.
fn position_text(value: &str, (d, of): (usize, usize)) -> String {
    let blank = |i| if i == d { value } else { "_" };
    (0..of).map(blank).collect::<Vec<_>>().join(",")
}

fn nonconformant(places: &[usize], values: &[usize]) -> Error {
    let text = format!("=: nonconformant arguments (op1 is {}, op2 is {})", size_text(places), size_text(values));
    Error::new("size", text)
}

/// Returns true if all dimensions but one are 1.
fn is_vector(dims: &[usize]) -> bool {
    dims.iter().filter(|&&dim| dim != 1).count() == 1
}

/// Returns the dimensions of `count` elements along the direction of a vector; a column for other arrays.
fn vector_like(dims: &[usize], count: usize) -> Vec<usize> {
    if is_vector(dims) {
        dims::trimmed(dims.iter().map(|&dim| if dim == 1 { 1 } else { count }).collect())
    } else {
        vec![count, 1]
    }
}

/// Reads index `d` of `of`. `gathered` downloads the numbers of a stored array.
///
/// # Errors
/// `index` for a value that is no index; `outOfMemory`; those of `gathered`.
pub(super) fn subscript(
    index: &Argument,
    (d, of): (usize, usize),
    gathered: impl FnOnce(&StoredArray) -> Result<Vec<f64>, Error>,
) -> Result<Subscript, Error> {
    if let Some(text) = index.text() {
        return match text {
            ":" => Ok(Subscript { index: Index::All, dims: Vec::new(), reach: 0 }),
            _ => Err(wrong(format!(
                "index ({}): {text:?} is no index; \":\" is all of a dimension",
                position_text("?", (d, of))
            ))),
        };
    }
    if let Some(held) = StoredArray::of(index)? {
        let numbers = gathered(&held)?;
        return match held.class {
            Class::Logical => of_mask(numbers.iter().map(|&number| number != 0.0), &held.dims),
            _ => of_numbers(numbers.into_iter(), &held.dims, (d, of)),
        };
    }
    if let Some(mask) = index.logicals() {
        return of_mask(mask.iter().map(|&truth| truth != 0), index.dims());
    }
    if let Some(range) = index.range() {
        return of_range(range, index.len(), (d, of));
    }
    let numbers = index.numbers();
    let numbers =
        numbers.ok_or_else(|| wrong(format!("index ({}): {index} is no index", position_text("?", (d, of)))))?;
    of_numbers(numbers, index.dims(), (d, of))
}

/// Makes a stored mask the only index of an array of at least as many elements; `indices` are its places.
pub(super) fn found(mask: &StoredArray, indices: Arc<Indices>) -> Subscript {
    let count = indices.len();
    let dims = if mask.len() == 1 { vec![count; 2] } else { vector_like(&mask.dims, count) };
    Subscript { index: Index::Found(indices), dims, reach: 0 }
}

/// Makes an index of a mask, which picks where it is true.
fn of_mask(mask: impl ExactSizeIterator<Item = bool>, dims: &[usize]) -> Result<Subscript, Error> {
    let single = mask.len() == 1;
    let mut list = memory::with_room(mask.len(), "an index")?;
    list.extend(mask.enumerate().filter(|&(_, truth)| truth).map(|(i, _)| i as u64));
    let reach = list.last().map_or(0, |&last| last as usize + 1);
    let dims = if single { vec![list.len(); 2] } else { vector_like(dims, list.len()) };
    Ok(Subscript { index: Index::of_list(list), dims, reach })
}

/// Makes an index of the range of `count` numbers from `first` on in steps of `by`.
fn of_range([first, by]: [f64; 2], count: usize, position: (usize, usize)) -> Result<Subscript, Error> {
    let last = count.saturating_sub(1) as f64;
    // If any element is no index, one of these is none: either end, the second, and the first below 1.
    let below = (((first - 1.0) / -by).floor() + 1.0).min(last).max(0.0);
    let some = [0.0, last.min(1.0), below, last].map(|i| first + by * i);
    let Subscript { reach, .. } = of_numbers(some.into_iter().take(4 * count.min(1)), &[4], position)?;
    let (start, step) = if count > 1 { (first as usize - 1, by as isize) } else { (reach.saturating_sub(1), 1) };
    Ok(Subscript { index: Index::Range { start, step, count }, dims: vec![1, count], reach })
}

fn of_numbers(
    numbers: impl Iterator<Item = f64>,
    dims: &[usize],
    position: (usize, usize),
) -> Result<Subscript, Error> {
    let mut list = memory::with_room(dims.iter().product(), "an index")?;
    let mut reach = 0;
    for value in numbers {
        if !(value >= 1.0 && value.fract() == 0.0 && value <= isize::MAX as f64) {
            let value = number_text(value);
            return Err(wrong(format!(
                "index ({}): subscripts are whole numbers from 1 up",
                position_text(&value, position)
            )));
        }
        reach = reach.max(value as usize);
        list.push(value as u64 - 1);
    }
    Ok(Subscript { index: Index::of_list(list), dims: dims.to_vec(), reach })
}

/// Returns the extents that `count` indices run over; the last index runs over all remaining dimensions.
fn extents(dims: &[usize], count: usize) -> Vec<usize> {
    (0..count)
        .map(|d| match d + 1 < count {
            true => dims.get(d).copied().unwrap_or(1),
            false => dims.iter().skip(d).product(),
        })
        .collect()
}

/// Returns the places that indices read from an array of these dimensions.
///
/// # Errors
/// `index` for a place beyond the array; `outOfMemory`.
pub(super) fn picked(array: &[usize], subscripts: &[Subscript]) -> Result<Indexed, Error> {
    let count = subscripts.len();
    let extents = extents(array, count);
    for (d, (subscript, &extent)) in subscripts.iter().zip(&extents).enumerate() {
        if subscript.reach > extent {
            let place = position_text(&subscript.reach.to_string(), (d, count));
            let text = format!("index ({place}): out of bound {extent} (dimensions are {})", size_text(array));
            return Err(wrong(text));
        }
    }
    let dims = match subscripts {
        [one] => linear_dims(one, array),
        _ => {
            let lens = subscripts.iter().zip(&extents).map(|(subscript, &extent)| subscript.index.len(extent));
            dims::trimmed(lens.collect())
        }
    };
    Ok(Indexed { places: places(subscripts, &extents)?, dims })
}

/// Returns the shift of indices that name all elements, each near its own place.
pub(super) fn shifted(array: &[usize], subscripts: &[Subscript]) -> Option<Shift> {
    let extents = extents(array, subscripts.len());
    let along = subscripts.iter().zip(&extents).map(|(Subscript { index, .. }, &extent)| {
        let all = index.len(extent) == extent && !matches!(index, Index::Found(_));
        all.then(|| Shift::along(extent, |i| index.at(i) as usize))?
    });
    Shift::new(&along.collect::<Option<Vec<_>>>()?)
}

/// Returns the dimensions of `array (index)`: those of the index, but the array's direction if both are vectors.
fn linear_dims(subscript: &Subscript, array: &[usize]) -> Vec<usize> {
    let elements = array.iter().product();
    let count = subscript.index.len(elements);
    match subscript.index {
        Index::All => vec![count, 1],
        _ if elements != 1 && is_vector(array) && count != 1 && is_vector(&subscript.dims) => vector_like(array, count),
        _ => subscript.dims.clone(),
    }
}

/// Returns the places that an assignment of values of these dimensions writes to; one value goes to all places.
///
/// # Errors
/// `size` for another number of values than places; `index` if the array cannot grow to fit; `outOfMemory`.
pub(super) fn assigned(array: &[usize], subscripts: &[Subscript], values: &[usize]) -> Result<Assigned, Error> {
    let is_one = values.iter().product::<usize>() == 1;
    let (extents, grown) = match subscripts {
        [one] => {
            let elements = array.iter().product();
            let count = one.index.len(elements);
            if !is_one && count != values.iter().product::<usize>() {
                return Err(nonconformant(&[count, 1], values));
            }
            let reach = one.reach.max(elements);
            let grown = match array {
                _ if reach == elements => None,
                [0 | 1, _] => Some(vec![1, reach]),
                [_, 1] => Some(vec![reach, 1]),
                _ => return Err(cannot_grow(reach, array)),
            };
            (vec![reach], grown)
        }
        _ => {
            let count = subscripts.len();
            let now = extents(array, count);
            let others = without_ones(values);
            let then = match array.iter().all(|&dim| dim == 0) {
                true => extents_for_values(subscripts, values, &others),
                false => subscripts.iter().zip(&now).map(|(subscript, &extent)| extent.max(subscript.reach)).collect(),
            };
            let lens: Vec<_> = subscripts.iter().zip(&then).map(|(one, &extent)| one.index.len(extent)).collect();
            if !is_one && !same_shape(&lens, &others) {
                let nothing = Assigned { places: Places::List(Vec::new()), grown: None };
                let is_nothing = lens.contains(&0) && others.contains(&0);
                return if is_nothing { Ok(nothing) } else { Err(nonconformant(&lens, values)) };
            }
            let grown = (then != now).then(|| dims::trimmed(then.clone()));
            if grown.is_some() && array.len() > count {
                return Err(cannot_grow(subscripts.iter().map(|one| one.reach).max().unwrap_or(0), array));
            }
            (then, grown)
        }
    };
    if let Some(grown) = &grown {
        dims::check_fits(grown)?;
    }
    Ok(Assigned { places: places(subscripts, &extents)?, grown })
}

fn cannot_grow(reach: usize, array: &[usize]) -> Error {
    wrong(format!(
        "Octave:index out of bound; value {reach} out of bound {} (dimensions are {}): only a vector grows by one index, \
         and an array of several dimensions by as many indices.",
        array.iter().product::<usize>(),
        size_text(array)
    ))
}

/// Returns at least two dimensions, without those of 1.
fn without_ones(dims: &[usize]) -> Vec<usize> {
    let mut others: Vec<_> = dims.iter().copied().filter(|&dim| dim != 1).collect();
    others.resize(others.len().max(2), 1);
    others
}

/// Returns true if the dimensions of places and values agree but for those of 1.
fn same_shape(places: &[usize], values: &[usize]) -> bool {
    let mut values = values.iter();
    let mut places = places.iter().filter(|&&len| len != 1);
    places.all(|len| values.next() == Some(len)) && values.all(|&len| len == 1)
}

/// Returns the extents of an empty array after an assignment: ':' takes that of the values.
fn extents_for_values(subscripts: &[Subscript], values: &[usize], others: &[usize]) -> Vec<usize> {
    let is_colon = |one: &Subscript| one.index == Index::All;
    let is_scalar = |one: &Subscript| !is_colon(one) && one.index.len(0) == 1;
    let several = subscripts.iter().filter(|one| !is_scalar(one)).count();
    if subscripts.len() > 2 && subscripts.iter().all(is_colon) {
        return (0..subscripts.len()).map(|d| values.get(d).copied().unwrap_or(1)).collect();
    }
    let mut from = if several == values.len() { values } else { others }.iter().copied();
    subscripts
        .iter()
        .map(|one| {
            let extent = if is_scalar(one) { None } else { from.next() };
            if is_colon(one) { extent.unwrap_or(1) } else { one.reach }
        })
        .collect()
}

/// Returns the elements that remain after a removal; `None` if all do.
///
/// # Errors
/// `index` for a place beyond the array, or for no whole row, column or page of it; `outOfMemory`.
pub(super) fn remaining(array: &[usize], subscripts: &[Subscript]) -> Result<Option<Remaining>, Error> {
    let out_of_bounds = |place: &str, reach: usize, extent: usize| {
        wrong(format!("{place} = []: index out of bounds: value {reach} out of bound {extent}"))
    };
    let nothing = |dims| Ok(Some(Remaining { pieces: Vec::new(), dims }));
    if let [one] = subscripts {
        let elements: usize = array.iter().product();
        if one.index == Index::All {
            return nothing(vec![0, 0]);
        }
        if one.index.len(elements) == 0 {
            return Ok(None);
        }
        if one.reach > elements {
            return Err(out_of_bounds("A(I)", one.reach, elements));
        }
        let runs = runs(&one.index, elements)?;
        let count = runs.iter().map(|run| run.1).sum();
        let removed_at_once = matches!(one.index, Index::Range { step: 1, .. });
        let dims = match array {
            [rows, 1] if *rows != 1 => vec![count, 1],
            _ if removed_at_once => vec![1, count],
            _ => vector_like(array, count),
        };
        return Ok(Some(Remaining { pieces: of_runs(&[elements], 0, &runs)?, dims }));
    }
    let others: Vec<_> = (0..subscripts.len()).filter(|&d| subscripts[d].index != Index::All).collect();
    match others[..] {
        [] => nothing([&[0], &array[1..]].concat()),
        [d] => {
            let extent = *array.get(d).ok_or_else(|| {
                wrong(format!("A(..,I,..) = []: there is no dimension {} to remove from ({})", d + 1, size_text(array)))
            })?;
            let one = &subscripts[d];
            if one.index.len(extent) == 0 {
                return Ok(None);
            }
            if one.reach > extent {
                return Err(out_of_bounds("A(..,I,..)", one.reach, extent));
            }
            let runs = runs(&one.index, extent)?;
            let mut dims = array.to_vec();
            dims[d] = runs.iter().map(|run| run.1).sum();
            Ok(Some(Remaining { pieces: of_runs(array, d, &runs)?, dims: dims::trimmed(dims) }))
        }
        _ => {
            let extents = array.iter().copied().chain(std::iter::repeat(1));
            match subscripts.iter().zip(extents).any(|(one, extent)| one.index.len(extent) == 0) {
                true => Ok(None),
                false => Err(wrong("a null assignment can only have one non-colon index".into())),
            }
        }
    }
}

/// Returns the start and the length of each run of places that an index does not name.
fn runs(index: &Index, extent: usize) -> Result<Vec<(usize, usize)>, Error> {
    let mut named = memory::zeros::<u8>(extent, "which elements are removed")?;
    (0..index.len(extent)).for_each(|i| named[index.at(i) as usize] = 1);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut before = 1;
    for (i, &named) in named.iter().enumerate() {
        match (named, before) {
            (0, 1) => runs.push((i, 1)),
            (0, _) => runs.last_mut().into_iter().for_each(|run| run.1 += 1),
            _ => {}
        }
        before = named;
    }
    Ok(runs)
}

/// More runs than these become one list of places.
const MANY_RUNS: usize = 8;

/// Returns the pieces that close up the runs along a dimension.
fn of_runs(array: &[usize], d: usize, runs: &[(usize, usize)]) -> Result<Vec<Piece>, Error> {
    let below: usize = array[..d].iter().product();
    let above: usize = array[d + 1..].iter().product();
    let total: usize = runs.iter().map(|run| run.1).sum();
    let run = |start: usize, len: usize, extent: usize| {
        let dims = [(below, 1), (len, below as isize), (above, (below * extent) as isize)];
        Pattern::new(start * below, &dims).places()
    };
    if runs.len() > MANY_RUNS {
        let mut kept = memory::with_room(total, "the places that stay")?;
        kept.extend(runs.iter().flat_map(|&(start, len)| (start..start + len).map(|i| i as u64)));
        let subscripts =
            [Index::All, Index::List(kept), Index::All].map(|index| Subscript { index, dims: Vec::new(), reach: 0 });
        let from = listed(&subscripts, &[below, array[d], above])?;
        return Ok(vec![Piece { from, to: run(0, total, total)? }]);
    }
    let mut at = 0;
    let piece = |&(start, len): &(usize, usize)| {
        at += len;
        Ok(Piece { from: run(start, len, array[d])?, to: run(at - len, len, total)? })
    };
    runs.iter().map(piece).collect()
}

/// Returns the places that indices name.
fn places(subscripts: &[Subscript], extents: &[usize]) -> Result<Places, Error> {
    let (mut start, mut stride, mut dims) = (0_usize, 1_usize, Vec::new());
    for (subscript, &extent) in subscripts.iter().zip(extents) {
        match subscript.index {
            Index::All => dims.push((extent, stride as isize)),
            Index::Range { start: first, step, count } => {
                start += first * stride;
                dims.push((count, step * stride as isize));
            }
            Index::List(_) => return listed(subscripts, extents),
            Index::Found(ref indices) => return Ok(Places::Held(Arc::clone(indices))),
        }
        stride *= extent;
    }
    Ok(Pattern::new(start, &dims).places()?)
}

/// Returns the places as a list.
fn listed(subscripts: &[Subscript], extents: &[usize]) -> Result<Places, Error> {
    let mut places = vec![0_u64];
    let mut stride = 1_u64;
    for (Subscript { index, .. }, &extent) in subscripts.iter().zip(extents) {
        let count = index.len(extent);
        let mut next = memory::with_room(places.len().saturating_mul(count), "the places of an index")?;
        for i in 0..count {
            let at = index.at(i);
            next.extend(places.iter().map(|place| place + at * stride));
        }
        places = next;
        stride *= extent as u64;
    }
    Ok(Places::List(places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::RANK;

    fn subscript_of(index: Index) -> Subscript {
        let reach = match &index {
            Index::All => 0,
            index => (0..index.len(0)).map(|i| index.at(i) as usize + 1).max().unwrap_or(0),
        };
        let dims = vec![1, index.len(0)];
        Subscript { index, dims, reach }
    }

    fn range(start: usize, step: isize, count: usize) -> Index {
        Index::Range { start, step, count }
    }

    /// Returns any places as a list.
    fn one_by_one(places: &Places) -> Vec<u64> {
        let section = match places {
            Places::List(list) => return list.clone(),
            Places::Held(_) => panic!("no list of an engine's"),
            Places::Section(section) => section,
        };
        let place = |i: usize| {
            let (mut rest, mut place) = (i, section.start as isize);
            for dim in 0..RANK {
                place += (rest % section.size[dim]) as isize * section.steps[dim];
                rest /= section.size[dim];
            }
            place as u64
        };
        (0..places.len()).map(place).collect()
    }

    #[test]
    fn patterns_are_the_same_places_as_lists() {
        for (indices, extents) in [
            (vec![range(2, 3, 4)], vec![20]),
            (vec![range(0, 1, 5), Index::All], vec![5, 4]),
            (vec![Index::All, range(3, -1, 4)], vec![5, 4]),
            (vec![range(1, 2, 2), range(2, 1, 1), range(0, 1, 3)], vec![5, 4, 3]),
            (vec![range(4, 0, 3), range(1, 1, 2)], vec![5, 4]),
        ] {
            let subscripts: Vec<_> = indices.into_iter().map(subscript_of).collect();
            let pattern = places(&subscripts, &extents).unwrap();
            assert!(matches!(pattern, Places::Section(_)));
            let list = listed(&subscripts, &extents).unwrap();
            assert_eq!(one_by_one(&pattern), one_by_one(&list), "{subscripts:?}");
        }
    }

    #[test]
    fn lists_that_are_regular_are_ranges() {
        assert_eq!(Index::of_list(vec![3, 5, 7]), range(3, 2, 3));
        assert_eq!(Index::of_list(vec![7, 5]), range(7, -2, 2));
        assert_eq!(Index::of_list(vec![]), range(0, 1, 0));
        assert_eq!(Index::of_list(vec![1, 2, 4]), Index::List(vec![1, 2, 4]));
    }

    #[test]
    fn an_array_grows_where_its_shape_says_how() {
        let grown = |array: &[usize], indices: &[Index], values: &[usize]| {
            let subscripts: Vec<_> = indices.iter().cloned().map(subscript_of).collect();
            assigned(array, &subscripts, values).map(|assigned| assigned.grown).map_err(|error| error.kind)
        };
        let one = &[1, 1][..];
        assert_eq!(grown(&[1, 3], &[range(4, 1, 1)], one), Ok(Some(vec![1, 5])));
        assert_eq!(grown(&[3, 1], &[range(4, 1, 1)], one), Ok(Some(vec![5, 1])));
        assert_eq!(grown(&[0, 3], &[range(1, 1, 1)], one), Ok(Some(vec![1, 2])));
        assert_eq!(grown(&[3, 3], &[range(8, 1, 1)], one), Ok(None));
        assert_eq!(grown(&[3, 3], &[range(9, 1, 1)], one), Err("index"));
        assert_eq!(grown(&[3, 3], &[range(3, 1, 1), Index::All], &[1, 3]), Ok(Some(vec![4, 3])));
        assert_eq!(grown(&[3, 3], &[range(3, 1, 1), Index::All], &[3, 1]), Ok(Some(vec![4, 3])));
        assert_eq!(grown(&[3, 3], &[range(3, 1, 1), Index::All], &[1, 2]), Err("size"));
        assert_eq!(grown(&[0, 0], &[range(1, 1, 1), Index::All], &[1, 3]), Ok(Some(vec![2, 3])));
        assert_eq!(grown(&[2, 2], &[Index::All, Index::All, range(2, 1, 1)], &[2, 2]), Ok(Some(vec![2, 2, 3])));
        assert_eq!(grown(&[2, 2, 2], &[range(2, 1, 1), range(0, 1, 1)], one), Err("index"));
    }

    #[test]
    fn removals_leave_blocks() {
        let remaining = |array: &[usize], indices: &[Index]| {
            let subscripts: Vec<_> = indices.iter().cloned().map(subscript_of).collect();
            remaining(array, &subscripts).map_err(|error| error.kind)
        };
        let rows = remaining(&[4, 5], &[range(1, 1, 2), Index::All]).unwrap().unwrap();
        assert_eq!(rows.dims, [2, 5]);
        let places: Vec<_> =
            rows.pieces.iter().map(|piece| [one_by_one(&piece.from), one_by_one(&piece.to)].concat()).collect();
        assert_eq!(places, [[0, 4, 8, 12, 16, 0, 2, 4, 6, 8], [3, 7, 11, 15, 19, 1, 3, 5, 7, 9]]);
        let many = remaining(&[2, 20], &[Index::All, range(1, 2, 10)]).unwrap().unwrap();
        assert_eq!((many.dims, many.pieces.len()), (vec![2, 10], 1));
        assert_eq!(one_by_one(&many.pieces[0].from)[..6], [0, 1, 4, 5, 8, 9]);
        assert_eq!(remaining(&[4, 5], &[range(0, 1, 0), Index::All]), Ok(None));
        assert_eq!(remaining(&[4, 5], &[range(4, 1, 1), Index::All]), Err("index"));
        assert_eq!(remaining(&[4, 5], &[range(0, 1, 1), range(0, 1, 1)]), Err("index"));
        assert_eq!(remaining(&[4, 5], &[Index::All, Index::All]).unwrap().unwrap().dims, [0, 5]);
        assert_eq!(remaining(&[1, 5], &[range(0, 2, 3)]).unwrap().unwrap().dims, [1, 2]);
        assert_eq!(remaining(&[3, 3], &[Index::List(vec![0, 2, 3])]).unwrap().unwrap().dims, [6, 1]);
        assert_eq!(remaining(&[2, 3], &[range(0, 1, 6)]).unwrap().unwrap().dims, [1, 0]);
        assert_eq!(remaining(&[2, 3], &[range(5, -1, 6)]).unwrap().unwrap().dims, [0, 1]);
        assert_eq!(remaining(&[1, 1], &[range(0, 0, 2)]).unwrap().unwrap().dims, [0, 1]);
    }
}
