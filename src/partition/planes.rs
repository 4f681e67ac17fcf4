//! Planes of an array along one dimension, and the runs of elements that they are in memory.

use std::ops::Range;

use crate::stencil::Lines;

/// Layout around the dimension along which an array is divided: `inner` contiguous elements in a plane, `outer` such
/// runs apart from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) inner: usize,
    pub(crate) outer: usize,
}

impl Around {
    /// Divides an array of these dimensions along one of them.
    pub(crate) fn new(dims: &[usize], along: usize) -> Around {
        let product = |dims: &[usize]| dims.iter().try_fold(1_usize, |product, &dim| product.checked_mul(dim));
        match (product(&dims[..along]), product(&dims[along + 1..])) {
            (Some(inner), Some(outer)) if inner.checked_mul(outer).is_some_and(|area| area > 0) => {
                Around { inner, outer }
            }
            // In an empty array, the product of the other dimensions may overflow.
            _ => Around { inner: 1, outer: 0 },
        }
    }

    /// Returns the number of elements in a plane.
    pub(crate) fn area(&self) -> usize {
        self.inner * self.outer
    }

    /// Returns lines of `length` planes along the dimension.
    pub(crate) fn lines(&self, length: usize) -> Lines {
        // Lines of one element are fastest side by side.
        if length == 1 { Lines::new(1, self.area()) } else { Lines::strided(self.inner, length, self.outer) }
    }

    /// Returns the elements of each run of planes, in memory order.
    pub(crate) fn elements(self, planes: Planes) -> impl Iterator<Item = Range<usize>> {
        let Planes { length, first, len, count, apart } = planes;
        (0..self.outer).flat_map(move |k| {
            (0..count).map(move |run| {
                let start = self.inner * (k * length + first + run * apart);
                start..start + self.inner * len
            })
        })
    }
}

/// Planes of an array that has `length` of them: equidistant runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Planes {
    pub(crate) length: usize,
    /// First plane.
    pub(crate) first: usize,
    /// Number of planes in a run.
    pub(crate) len: usize,
    pub(crate) count: usize,
    /// Distance from the first plane of a run to that of the next one.
    pub(crate) apart: usize,
}

impl Planes {
    /// Selects one run.
    pub(crate) fn run(planes: Range<usize>, length: usize) -> Planes {
        Planes { length, first: planes.start, len: planes.len(), count: 1, apart: planes.len() }
    }

    /// Selects all planes.
    pub(crate) fn all(length: usize) -> Planes {
        Planes::run(0..length, length)
    }

    /// Returns the number of selected planes.
    pub(crate) fn selected(&self) -> usize {
        self.len * self.count
    }

    /// Selects all planes of an array that consists of just these.
    pub(crate) fn dense(self) -> Planes {
        Planes { length: self.selected(), first: 0, apart: self.len, ..self }
    }
}
