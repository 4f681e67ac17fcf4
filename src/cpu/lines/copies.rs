//! Copies of a tile with its halo and its ghost values, in which several sweeps are done.

use super::operators::MAX_RADIUS;
use crate::stencil::{Ends, Real};

/// A tile with what is around it, and room for a sweep over that.
pub(super) struct Copies<T> {
    pub(super) last: Vec<T>,
    pub(super) next: Vec<T>,
}

impl<T> Default for Copies<T> {
    fn default() -> Copies<T> {
        Copies { last: Vec::new(), next: Vec::new() }
    }
}

/// What stands in each row beyond an end of a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pad<T> {
    /// These samples, in ascending order of the rows.
    Samples([usize; MAX_RADIUS]),
    Constant(T),
}

impl<T: Real> Pad<T> {
    /// In so many rows from one on, beyond a line of so many samples, of which there is one at least.
    pub(super) fn new(ends: Ends<T>, first: isize, rows: usize, length: usize) -> Pad<T> {
        let mut samples = [0; MAX_RADIUS];
        for (row, sample) in samples[..rows].iter_mut().enumerate() {
            match ends.sample_at(first + row as isize, length) {
                Ok(found) => *sample = found,
                Err(constant) => return Pad::Constant(constant),
            }
        }
        Pad::Samples(samples)
    }
}

/// Where rows are in a copy.
pub(super) struct CopyRows {
    /// The row that stands first.
    pub(super) first: isize,
    /// Rows from one block to the next.
    pub(super) block: usize,
    /// Columns.
    pub(super) width: usize,
}

impl CopyRows {
    pub(super) fn place(&self, block: usize, row: isize) -> usize {
        (block * self.block + (row - self.first) as usize) * self.width
    }
}
