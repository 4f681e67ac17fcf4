//! Sections of arrays: places in a regular pattern, one run along the first dimension at a time.

use std::ops::Range;

use crate::stencil::{RANK, Section};

/// Places of a section along its first dimension.
pub(super) struct Strided {
    pub(super) start: usize,
    pub(super) step: isize,
    pub(super) len: usize,
}

impl Strided {
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        let (start, step) = (self.start, self.step);
        (0..self.len as isize).map(move |i| start.wrapping_add_signed(i * step))
    }
}

/// Calls `work` for the places with these indices, a run at a time, with the index of its first one.
pub(super) fn each_run(section: &Section, numbers: Range<usize>, mut work: impl FnMut(usize, Strided)) {
    let (size, steps) = (&section.size, &section.steps);
    let mut rest = numbers.start;
    let mut index: [usize; RANK] = std::array::from_fn(|d| {
        let index = rest % size[d];
        rest /= size[d];
        index
    });
    let mut number = numbers.start;
    while number < numbers.end {
        let along = (0..RANK).map(|d| index[d] as isize * steps[d]).sum();
        let len = (size[0] - index[0]).min(numbers.end - number);
        work(number, Strided { start: section.start.wrapping_add_signed(along), step: steps[0], len });
        number += len;
        index[0] = 0;
        for d in 1..RANK {
            index[d] += 1;
            if index[d] < size[d] {
                break;
            }
            index[d] = 0;
        }
    }
}

/// True if no place is repeated, judged by the steps: each is longer than the reach of all smaller ones together.
pub(super) fn is_injective(section: &Section) -> bool {
    let mut along: [(usize, usize); RANK] = std::array::from_fn(|d| (section.steps[d].unsigned_abs(), section.size[d]));
    along.sort_unstable();
    let mut reach = 0_usize;
    along.into_iter().filter(|&(_, size)| size > 1).all(|(step, size)| {
        let is_longer = step > reach;
        reach = reach.saturating_add(step.saturating_mul(size - 1));
        is_longer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_meet_themselves_are_found() {
        let section = |size: [usize; 3], steps: [isize; 3]| {
            let (size, steps) = ([size[0], size[1], size[2], 1, 1], [steps[0], steps[1], steps[2], 0, 0]);
            is_injective(&Section { start: 1000, size, steps })
        };
        assert!(section([5, 4, 3], [1, 5, 20]) && section([5, 4, 3], [-12, 3, 1]) && section([1, 9, 1], [0, -2, 0]));
        assert!(!section([5, 4, 3], [1, 4, 20]) && !section([5, 1, 1], [0, 0, 0]) && !section([3, 3, 1], [2, -2, 0]));
    }
}
