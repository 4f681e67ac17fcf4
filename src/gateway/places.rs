//! Indices, as a script writes them, into places of an array.

use super::store::StoredArray;
use crate::memory;
use crate::mex::{Argument, Class, Error};
use crate::stencil::{Places, RANK, Section};

/// What is read or written by indices: the places, in order, and the dimensions of the result.
#[derive(Debug)]
pub(super) struct Indexed {
    pub(super) places: Places,
    pub(super) dims: Vec<usize>,
}

/// One index: how many, and which, counted from 0.
#[derive(Debug, PartialEq)]
enum Index {
    /// From the first one, by so much each.
    Range {
        start: usize,
        step: isize,
        count: usize,
    },
    List(Vec<u64>),
}

impl Index {
    fn len(&self) -> usize {
        match self {
            Index::Range { count, .. } => *count,
            Index::List(list) => list.len(),
        }
    }
}

fn wrong(text: String) -> Error {
    Error::new("index", text)
}

/// The places of `array` that these indices name.
///
/// # Errors
/// `index`, for what is no index or is beyond the array; `outOfMemory`.
pub(super) fn places(array: &StoredArray, indices: &[Argument]) -> Result<Indexed, Error> {
    if indices.is_empty() {
        return Err(wrong("No index was given.".into()));
    }
    // The last index runs over all dimensions that are left.
    let count = indices.len();
    let extents: Vec<usize> = (0..count)
        .map(|d| match d + 1 < count {
            true => array.dims.get(d).copied().unwrap_or(1),
            false => array.dims.iter().skip(d).product(),
        })
        .collect();
    let parsed = indices
        .iter()
        .zip(&extents)
        .enumerate()
        .map(|(d, (index, &extent))| parse(index, extent, (d, count), &array.dims))
        .collect::<Result<Vec<_>, Error>>()?;
    let dims = match &parsed[..] {
        [one] => linear_dims(one, &indices[0], &array.dims),
        _ => {
            let mut dims: Vec<usize> = parsed.iter().map(Index::len).collect();
            while dims.len() > 2 && dims.last() == Some(&1) {
                dims.pop();
            }
            dims
        }
    };
    let places = match section(&parsed, &extents) {
        Some(section) => Places::Section(section),
        None => Places::List(listed(&parsed, &extents)?),
    };
    Ok(Indexed { places, dims })
}

/// What `array (index)` is like: the index's dimensions, but a vector's own direction where both are vectors.
fn linear_dims(index: &Index, argument: &Argument, array: &[usize]) -> Vec<usize> {
    let count = index.len();
    if argument.text().is_some() {
        return vec![count, 1];
    }
    let of_index = argument.dims();
    let is_vector = |dims: &[usize]| dims.len() == 2 && dims.contains(&1);
    // A mask picks as many as it has truths: a column, unless it is a row.
    let picked = argument.class() == Class::Logical;
    let row = match (is_vector(array) && array != [1, 1], is_vector(of_index)) {
        (true, true) => array[0] == 1,
        (false, true) => of_index[0] == 1,
        (_, false) if picked => is_vector(array) && array[0] == 1,
        (_, false) => return of_index.to_vec(),
    };
    if row { vec![1, count] } else { vec![count, 1] }
}

/// An index, number `d` of `of`, for a dimension of this extent.
fn parse(index: &Argument, extent: usize, (d, of): (usize, usize), dims: &[usize]) -> Result<Index, Error> {
    let place = |value: &str| {
        let blank = |i| if i == d { value } else { "_" };
        (0..of).map(blank).collect::<Vec<_>>().join(",")
    };
    let beyond = |value: usize| {
        let sizes = dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        wrong(format!("index ({}): out of bound {extent} (dimensions are {sizes})", place(&value.to_string())))
    };
    if let Some(text) = index.text() {
        return match text {
            ":" => Ok(Index::Range { start: 0, step: 1, count: extent }),
            _ => Err(wrong(format!("index ({}): {text:?} is no index; \":\" is all of a dimension", place("?")))),
        };
    }
    if index.object().is_some() {
        return Err(wrong(format!(
            "index ({}): a DeviceArray is no index; gather it, or gather the array",
            place("?")
        )));
    }
    let mut list = memory::with_room(index.len(), "an index")?;
    if let Some(mask) = index.logicals() {
        list.extend(mask.iter().enumerate().filter(|(_, truth)| **truth != 0).map(|(i, _)| i as u64));
        if let Some(&last) = list.last().filter(|&&last| last >= extent as u64) {
            return Err(beyond(last as usize + 1));
        }
    } else {
        let numbers = index.numbers().ok_or_else(|| wrong(format!("index ({}): {index} is no index", place("?"))))?;
        for value in numbers {
            if !(value >= 1.0 && value.fract() == 0.0) {
                let value = super::options::number_text(value);
                let text = format!("index ({}): subscripts are whole numbers from 1 up", place(&value));
                return Err(wrong(text));
            }
            if value > extent as f64 {
                return Err(beyond(value as usize));
            }
            list.push(value as u64 - 1);
        }
    }
    Ok(regular(&list).unwrap_or(Index::List(list)))
}

/// A list of places that are the same distance apart, as a range.
fn regular(list: &[u64]) -> Option<Index> {
    let start = *list.first().unwrap_or(&0) as usize;
    let step = match list {
        [first, second, ..] => *second as isize - *first as isize,
        _ => 1,
    };
    let same = list.windows(2).all(|pair| pair[1] as isize - pair[0] as isize == step);
    same.then_some(Index::Range { start, step, count: list.len() })
}

/// The places as a regular pattern, where they are one.
fn section(indices: &[Index], extents: &[usize]) -> Option<Section> {
    let mut merged: Vec<(usize, isize)> = Vec::new();
    let (mut first, mut stride) = (0_usize, 1_usize);
    for (index, &extent) in indices.iter().zip(extents) {
        let &Index::Range { start, step, count } = index else {
            return None;
        };
        first += start * stride;
        let step = step * stride as isize;
        stride *= extent;
        match merged.last_mut() {
            _ if count == 1 => {}
            Some((before, steps)) if *steps * *before as isize == step => *before *= count,
            _ => merged.push((count, step)),
        }
    }
    if merged.len() > RANK {
        return None;
    }
    let mut section = Section { start: first, size: [1; RANK], steps: [0; RANK] };
    for (d, (count, step)) in merged.into_iter().enumerate() {
        (section.size[d], section.steps[d]) = (count, step);
    }
    Some(section)
}

/// The places one by one.
fn listed(indices: &[Index], extents: &[usize]) -> Result<Vec<u64>, Error> {
    let mut places = vec![0_u64];
    let mut stride = 1_u64;
    for (index, &extent) in indices.iter().zip(extents) {
        let count = index.len();
        let mut next = memory::with_room(places.len().saturating_mul(count), "the places of an index")?;
        for i in 0..count {
            let at = match index {
                Index::Range { start, step, .. } => (*start as isize + *step * i as isize) as u64,
                Index::List(list) => list[i],
            };
            next.extend(places.iter().map(|place| place + at * stride));
        }
        places = next;
        stride *= extent as u64;
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_the_same_places_as_lists() {
        let range = |start, step, count| Index::Range { start, step, count };
        for (indices, extents) in [
            (vec![range(2, 3, 4)], vec![20]),
            (vec![range(0, 1, 5), range(0, 1, 4)], vec![5, 4]),
            (vec![range(0, 1, 5), range(3, -1, 4)], vec![5, 4]),
            (vec![range(1, 2, 2), range(2, 1, 1), range(0, 1, 3)], vec![5, 4, 3]),
            (vec![range(4, 0, 3), range(1, 1, 2)], vec![5, 4]),
        ] {
            let section = section(&indices, &extents).unwrap();
            let mut places = Vec::new();
            let [a, b, c, d, e] = section.size;
            for i in 0..a * b * c * d * e {
                let mut rest = i;
                let mut place = section.start as isize;
                for dim in 0..RANK {
                    place += (rest % section.size[dim]) as isize * section.steps[dim];
                    rest /= section.size[dim];
                }
                places.push(place as u64);
            }
            assert_eq!(places, listed(&indices, &extents).unwrap(), "{indices:?}");
        }
    }

    #[test]
    fn lists_that_are_regular_are_ranges() {
        assert_eq!(regular(&[3, 5, 7]), Some(Index::Range { start: 3, step: 2, count: 3 }));
        assert_eq!(regular(&[7, 5]), Some(Index::Range { start: 7, step: -2, count: 2 }));
        assert_eq!(regular(&[]), Some(Index::Range { start: 0, step: 1, count: 0 }));
        assert_eq!(regular(&[1, 2, 4]), None);
    }
}
