//! Copies of tiles with their halos and ghost values, for several sweeps.

use super::operators::MAX_RADIUS;
use crate::stencil::{Ends, Real};

/// A tile with its halo, and a second buffer of that size for the results of a sweep.
pub(super) struct Copies<T> {
    pub(super) last: Vec<T>,
    pub(super) next: Vec<T>,
}

impl<T> Default for Copies<T> {
    fn default() -> Copies<T> {
        Copies { last: Vec::new(), next: Vec::new() }
    }
}

/// Source of the ghost values in each row beyond an end of a line.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "there are two of them, and only while a call lasts")]
pub(super) enum Pad<T> {
    /// Samples at these rows, in ascending order of the ghost rows.
    Samples([usize; MAX_RADIUS]),
    Constant(T),
}

impl<T: Real> Pad<T> {
    /// Pads `rows` rows from `first` on, beyond a line of at least one sample.
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

/// Placement of rows in a copy.
pub(super) struct CopyRows {
    /// First row.
    pub(super) first: isize,
    /// Number of rows from one block to the next.
    pub(super) block: usize,
    /// Number of columns.
    pub(super) width: usize,
}

impl CopyRows {
    pub(super) fn place(&self, block: usize, row: isize) -> usize {
        (block * self.block + (row - self.first) as usize) * self.width
    }
}
