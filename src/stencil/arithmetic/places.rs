//! Places in an array to read or write.

use std::sync::Arc;

use super::RANK;
use crate::stencil::Array;

/// Places in an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Places {
    /// In a regular pattern.
    Section(Section),
    /// One by one, counted from 0 over the whole array, in the order in which they are read or written.
    List(Vec<u64>),
    /// One by one, in a list that an engine holds.
    Held(Arc<Indices>),
}

/// Whole numbers from 0 that an engine holds: places in an array, or along its lines.
#[derive(Debug)]
pub struct Indices {
    held: Array<u64>,
    bound: usize,
    distinct: bool,
}

/// Lists are compared by identity: the numbers may lie on a device.
impl PartialEq for Indices {
    fn eq(&self, other: &Indices) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Indices {}

impl Indices {
    /// Takes the numbers of an array, which are all smaller than `bound`; `distinct` is true if no two are equal.
    pub(crate) fn new(held: Array<u64>, bound: usize, distinct: bool) -> Indices {
        Indices { held, bound, distinct }
    }

    /// Number of indices.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Upper bound, which no index reaches.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// True if all are known to be distinct.
    pub fn are_distinct(&self) -> bool {
        self.distinct
    }

    pub(crate) fn held(&self) -> &Array<u64> {
        &self.held
    }
}

/// Places in a regular pattern: `start + i0 step0 + i1 step1 + ..`, the first dimension fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// First place.
    pub start: usize,
    /// Number of places along each dimension; 1 for missing dimensions.
    pub size: [usize; RANK],
    /// Stride along each dimension, which may be negative.
    pub steps: [isize; RANK],
}

impl Places {
    /// Selects `len` consecutive places.
    pub fn run(start: usize, len: usize) -> Places {
        let mut section = Section { start, size: [1; RANK], steps: [0; RANK] };
        (section.size[0], section.steps[0]) = (len, 1);
        Places::Section(section)
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        match self {
            Places::Section(section) => section.size.iter().product(),
            Places::List(places) => places.len(),
            Places::Held(places) => places.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if all of them are within an array of `elements` elements.
    pub fn are_within(&self, elements: usize) -> bool {
        match self {
            _ if self.is_empty() => true,
            Places::List(places) => places.iter().all(|&place| place < elements as u64),
            Places::Held(places) => places.bound() <= elements,
            Places::Section(section) => {
                // Wide enough for any sum of products of array lengths.
                let reach = |forward: bool| -> i128 {
                    (0..RANK)
                        .filter(|&d| (section.steps[d] > 0) == forward)
                        .map(|d| (section.size[d] as i128 - 1) * section.steps[d] as i128)
                        .sum()
                };
                let start = section.start as i128;
                start + reach(false) >= 0 && start + reach(true) < elements as i128
            }
        }
    }
}

impl Section {
    /// Returns the first place if they follow one another.
    pub fn run(&self) -> Option<usize> {
        let mut next = 1;
        for (&extent, &step) in self.size.iter().zip(&self.steps).filter(|(extent, _)| **extent != 1) {
            if step != next {
                return None;
            }
            next *= extent as isize;
        }
        Some(self.start)
    }

    /// Lists the places in order, for a section within an array.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        let all = self.size.iter().product();
        (0..all).map(|mut number: usize| {
            let along = self.size.iter().zip(self.steps).map(|(&extent, step)| {
                let index = number % extent;
                number /= extent;
                index as isize * step
            });
            self.start.wrapping_add_signed(along.sum())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_columns_are_a_run() {
        let run = |size, steps| Section { start: 7, size, steps }.run();
        assert_eq!(run([5, 3, 1, 1, 1], [1, 5, 0, 0, 0]), Some(7));
        assert_eq!(run([1, 3, 1, 4, 1], [9, 1, 2, 3, 0]), Some(7));
        assert_eq!([run([5, 3, 1, 1, 1], [1, 6, 0, 0, 0]), run([5, 1, 1, 1, 1], [-1, 0, 0, 0, 0])], [None; 2]);
    }

    #[test]
    fn places_know_the_array_they_are_in() {
        let section = |start, size: usize, step| {
            Places::Section(Section { start, size: [size, 1, 1, 1, 1], steps: [step, 0, 0, 0, 0] })
        };
        assert!(section(0, 5, 2).are_within(9) && !section(0, 5, 2).are_within(8));
        assert!(section(4, 5, -1).are_within(5) && !section(3, 5, -1).are_within(5));
        assert!(section(100, 0, 1).are_within(5));
        assert!(Places::List(vec![4, 4, 0]).are_within(5) && !Places::List(vec![5]).are_within(5));
    }
}
