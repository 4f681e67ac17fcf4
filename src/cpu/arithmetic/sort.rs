//! Sorts of lines: an element becomes a number whose upper half is its key and whose lower half is its place, so that
//! no two are equal, and any sort is stable.
//!
//! Short lines are sorted one by one, by all threads at once; long ones in pieces, which are then merged.

use super::threads;
use crate::cpu::tasks::{self, STEP};
use crate::host::SharedOutput;
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{Error, Order, Real};

/// Time to sort an element, relative to that of other operations.
const WORK: usize = 8;

const PURPOSE: &str = "the keys of a line";

/// Lines of `inner x length x outer` elements along the middle.
#[derive(Clone, Copy)]
struct Lines {
    inner: usize,
    length: usize,
}

impl Lines {
    /// Index of an element of a line.
    fn at(self, line: usize, place: usize) -> usize {
        (line / self.inner * self.length + place) * self.inner + line % self.inner
    }
}

/// Combines the key of an element with its place.
fn keyed<T: Real>(order: Order, x: T, place: usize) -> u128 {
    u128::from(order.key(x)) << 64 | place as u128
}

fn place_of(keyed: u128) -> usize {
    keyed as u64 as usize
}

/// Sorts `inner x length x outer` elements along the middle, optionally with the places in their lines that they come
/// from.
pub(super) fn run<T: Real>(
    order: Order,
    input: &[T],
    [inner, length, outer]: [usize; 3],
    output: &mut [T],
    places: Option<&mut [u64]>,
    watch: &Watch,
) -> Result<(), Error> {
    assert_eq!([input.len(), output.len()], [inner * length * outer; 2]);
    watch.check()?;
    if input.is_empty() {
        return Ok(());
    }
    let (lines, count) = (Lines { inner, length }, inner * outer);
    let to = SharedOutput::new(output);
    let places_to = places.map(SharedOutput::new);
    // Writes sorted elements of a line from a place on.
    let write = |line: usize, first: usize, sorted: &[u128]| {
        for (number, &keyed) in sorted.iter().enumerate() {
            let (place, at) = (place_of(keyed), lines.at(line, first + number));
            // SAFETY: no other task has this place.
            unsafe { to.places(at..at + 1) }.fill(input[lines.at(line, place)]);
            if let Some(places) = &places_to {
                // SAFETY: as above.
                unsafe { places.places(at..at + 1) }.fill(place as u64);
            }
        }
    };
    if length <= STEP {
        let at_once = STEP / length;
        let threads = threads(input.len().saturating_mul(WORK));
        return tasks::run(count.div_ceil(at_once), threads, 1, watch, |number, scratch: &mut Vec<u128>, progress| {
            memory::enlarge(scratch, length, PURPOSE)?;
            let of_task = number * at_once..((number + 1) * at_once).min(count);
            for line in of_task.clone() {
                let elements = &mut scratch[..length];
                for (place, element) in elements.iter_mut().enumerate() {
                    *element = keyed(order, input[lines.at(line, place)], place);
                }
                elements.sort_unstable();
                write(line, 0, elements);
            }
            Ok(progress.step(of_task.len() * length)?)
        });
    }
    let (mut elements, mut others) = (memory::zeros(length, PURPOSE)?, memory::zeros(length, PURPOSE)?);
    for line in 0..count {
        sort_long(&mut elements, &mut others, watch, |place| keyed(order, input[lines.at(line, place)], place))?;
        each_piece(length, watch, |piece, progress| {
            write(line, piece.start, &elements[piece.clone()]);
            Ok(progress.step(piece.len())?)
        })?;
    }
    Ok(())
}

/// Calls `work` for pieces of a line, on all threads.
fn each_piece(
    length: usize,
    watch: &Watch,
    work: impl Fn(std::ops::Range<usize>, &mut tasks::Progress) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    tasks::run(length.div_ceil(STEP), threads(length.saturating_mul(WORK)), 1, watch, |number, _: &mut (), progress| {
        work(number * STEP..((number + 1) * STEP).min(length), progress)
    })
}

/// Sorts the values of `of` for all places to `elements`; `others` is scratch of the same length.
fn sort_long(
    elements: &mut Vec<u128>,
    others: &mut Vec<u128>,
    watch: &Watch,
    of: impl Fn(usize) -> u128 + Sync,
) -> Result<(), Error> {
    let length = elements.len();
    let target = SharedOutput::new(elements);
    each_piece(length, watch, |piece, progress| {
        // SAFETY: no other piece has these places.
        let elements = unsafe { target.places(piece.clone()) };
        elements.iter_mut().zip(piece).for_each(|(element, place)| *element = of(place));
        elements.sort_unstable();
        Ok(progress.step(0)?)
    })?;
    drop(target);
    let mut sorted = STEP;
    while sorted < length {
        let target = SharedOutput::new(others);
        each_piece(length, watch, |piece, progress| {
            let first = piece.start / (2 * sorted) * (2 * sorted);
            let (middle, end) = ((first + sorted).min(length), (first + 2 * sorted).min(length));
            // SAFETY: no other piece has these places.
            let to = unsafe { target.places(piece.clone()) };
            merge([&elements[first..middle], &elements[middle..end]], piece.start - first, to);
            Ok(progress.step(0)?)
        })?;
        drop(target);
        std::mem::swap(elements, others);
        sorted *= 2;
    }
    Ok(())
}

/// Writes a part of the merge of two sorted slices, from index `first` on.
fn merge([a, b]: [&[u128]; 2], first: usize, to: &mut [u128]) {
    // Bisects for the number of elements of `a` before `first`.
    let (mut least, mut most) = (first.saturating_sub(b.len()), first.min(a.len()));
    while least < most {
        let of_a = least.midpoint(most);
        if a[of_a] < b[first - 1 - of_a] {
            least = of_a + 1;
        } else {
            most = of_a;
        }
    }
    let (mut a, mut b) = (a[least..].iter().peekable(), b[first - least..].iter().peekable());
    for to in to {
        let from_a = match (a.peek(), b.peek()) {
            (Some(a), Some(b)) => a < b,
            (a, _) => a.is_some(),
        };
        *to = *if from_a { a.next() } else { b.next() }.expect("there are as many");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_of_a_merge_is_found() {
        let (a, b) = ([1, 4, 5, 6, 20], [0, 2, 3, 7, 8, 9, 30]);
        let mut all = [&a[..], &b].concat();
        all.sort_unstable();
        for first in 0..all.len() {
            for end in first..=all.len() {
                let mut to = vec![0; end - first];
                merge([&a, &b], first, &mut to);
                assert_eq!(to, all[first..end]);
                merge([&all, &[]], first, &mut to);
                assert_eq!(to, all[first..end]);
            }
        }
    }
}
