//! Lists of places: the host sees to it that none comes twice.

use crate::platform::memory::{enlarge, with_room};
use crate::stencil::{Error, Section};

/// Name of a list of places in an error about memory.
const WHAT: &str = "a list of places";

/// Returns true if a place may come twice; also for some odd patterns in which none does.
pub(super) fn may_repeat(section: &Section) -> bool {
    let mut along: Vec<(usize, usize)> = section
        .steps
        .into_iter()
        .map(isize::unsigned_abs)
        .zip(section.size)
        .filter(|&(_, extent)| extent > 1)
        .collect();
    along.sort_unstable();
    // Reach of the dimensions with shorter steps: a longer step must exceed it.
    let mut reach = 0_usize;
    along.into_iter().any(|(step, extent)| {
        let repeats = step <= reach;
        reach = reach.saturating_add(step.saturating_mul(extent - 1));
        repeats
    })
}

/// The places of a section one by one.
pub(super) fn list_of(section: &Section) -> Result<Vec<u64>, Error> {
    let count: usize = section.size.iter().product();
    let mut list = with_room(count, WHAT)?;
    list.extend((0..count).map(|mut i| {
        let along = section.size.into_iter().zip(section.steps).map(|(extent, step)| {
            let index = i % extent;
            i /= extent;
            index as isize * step
        });
        section.start.wrapping_add_signed(along.sum()) as u64
    }));
    Ok(list)
}

/// The places of a list, each once, and which element is the last that goes there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) places: Vec<u64>,
    pub(super) elements: Vec<u64>,
}

/// Returns the last occurrence of each place in a list, for an array of this many elements; `None` if no place comes twice.
///
/// # Rationale
///
/// The order of threads that write one element is undefined, so the host decides. Most lists are ascending, which one pass
/// shows.
pub(super) fn last_of_each(list: &[u64], elements: usize) -> Result<Option<Last>, Error> {
    if list.is_sorted_by(|a, b| a < b) {
        return Ok(None);
    }
    // Numbers of the last occurrences. Short lists are sorted; for long ones a bit for each element of the array takes
    // less.
    let mut last = with_room(list.len(), WHAT)?;
    if list.len() < elements / 256 {
        last.extend(0..list.len() as u64);
        let place = |i: u64| list[i as usize];
        last.sort_unstable_by_key(|&i| (place(i), std::cmp::Reverse(i)));
        last.dedup_by_key(|i| place(*i));
    } else {
        let mut seen = Vec::new();
        enlarge(&mut seen, elements.div_ceil(64), WHAT)?;
        for (i, &place) in list.iter().enumerate().rev() {
            let (word, bit): (&mut u64, u64) = (&mut seen[place as usize / 64], 1 << (place % 64));
            if *word & bit == 0 {
                *word |= bit;
                last.push(i as u64);
            }
        }
    }
    if last.len() == list.len() {
        return Ok(None);
    }
    let mut places = with_room(last.len(), WHAT)?;
    places.extend(last.iter().map(|&i| list[i as usize]));
    Ok(Some(Last { places, elements: last }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_go_over_a_place_twice_are_known() {
        let section = |size, steps| Section { start: 50, size, steps };
        for (size, steps, repeats) in [
            ([3, 4, 1, 1, 1], [1, 3, 0, 0, 0], false),
            ([4, 3, 1, 1, 1], [-3, 1, 0, 0, 0], false),
            ([4, 3, 1, 1, 1], [2, -1, 0, 0, 0], true),
            ([1, 3, 1, 1, 1], [0, 0, 0, 0, 0], true),
            ([0, 3, 1, 1, 1], [1, 5, 0, 0, 0], false),
        ] {
            assert_eq!(may_repeat(&section(size, steps)), repeats, "{size:?} {steps:?}");
        }
        let list = list_of(&section([2, 2, 1, 1, 1], [-3, 7, 0, 0, 0])).unwrap();
        assert_eq!(list, [50, 47, 57, 54]);
    }

    #[test]
    fn of_places_that_come_twice_the_last_counts() {
        for elements in [10, 10_000] {
            assert_eq!(last_of_each(&[], elements), Ok(None));
            assert_eq!(last_of_each(&[1, 4, 9], elements), Ok(None));
            assert_eq!(last_of_each(&[9, 1, 4], elements), Ok(None));
            let Last { places, elements: from } = last_of_each(&[3, 5, 3, 9, 5, 3], elements).unwrap().unwrap();
            let mut pairs: Vec<_> = places.into_iter().zip(from).collect();
            pairs.sort_unstable();
            assert_eq!(pairs, [(3, 5), (5, 4), (9, 3)]);
        }
    }
}
