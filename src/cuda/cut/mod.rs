//! Cutting of an array into tiles with halos, and copies of a tile out of it and back.
//!
//! An array is a box of up to three dimensions, column-major: rows, columns, pages. (Lines are seen so, too: neighbours
//! that belong to different lines, the places along a line, and the rest.) A *tile* is a box of its outputs, with a
//! *halo*: the samples around it that its outputs need. Every element of the array is an output of one tile.
//!
//! A halo ends at the array's edge: the kernel supplies the ghost cells there, since to it a tile is an array of its
//! own. Its outputs near the other edges of the tile are wrong, and are not used. Only where the array is periodic, or
//! where a kernel wants it, the halo extends beyond the array, with the samples that the boundary puts there.
//!
//! # Rationale
//! A sweep over a tile invalidates as much of its edge as the stencil reaches. With a halo for several sweeps a tile is
//! transferred once for all of them: temporal blocking. The halo is transferred and computed redundantly, the more so
//! the more sweeps it is for: [`Cut::deep`] weighs this against the rounds that are saved.

mod choose;
mod copies;

use std::ops::Range;

use crate::stencil::{Ends, Real, Sides};

/// Bytes of a tile that is swept many times.
pub(crate) const SWEPT_BYTES: usize = 4 << 20;

/// Rows, columns, pages.
pub(crate) type Size = [usize; 3];

/// An array, cut into tiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cut<T> {
    /// Rows, columns and pages of the array.
    size: Size,
    /// Maximum number of outputs of a tile along each dimension.
    most: Size,
    /// Halo along each dimension in which the array is cut.
    halo: Size,
    /// Boundaries of the array.
    sides: Sides<T>,
    /// Dimensions along which halos extend beyond the array.
    extended: [bool; 3],
    /// Number of sweeps that the halo allows.
    sweeps: usize,
}

/// A tile: its outputs, and the samples on either side of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tile {
    outputs: [Range<usize>; 3],
    before: Size,
    after: Size,
}

impl Tile {
    /// Returns a whole array as one tile.
    pub(crate) fn whole(size: Size) -> Tile {
        Tile { outputs: size.map(|size| 0..size), before: [0; 3], after: [0; 3] }
    }

    /// Returns the size of the array that the tile is to a kernel.
    pub(crate) fn size(&self) -> Size {
        std::array::from_fn(|d| self.before[d] + self.outputs[d].len() + self.after[d])
    }

    /// Returns the number of its samples.
    pub(crate) fn samples(&self) -> usize {
        self.size().iter().product()
    }

    /// Returns the number of samples on either side of the outputs, along a dimension.
    pub(crate) fn around(&self, d: usize) -> [usize; 2] {
        [self.before[d], self.after[d]]
    }

    /// Returns the places of its outputs along a dimension.
    pub(crate) fn output(&self, d: usize) -> Range<usize> {
        self.outputs[d].clone()
    }

    /// Returns the number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs.iter().map(Range::len).product()
    }

    /// Returns the range from the first of its samples that is an output to the last, as they follow each other in the
    /// tile.
    pub(crate) fn span(&self) -> Range<usize> {
        if self.outputs() == 0 {
            return 0..0;
        }
        let size = self.size();
        let at = |place: Size| place[0] + size[0] * (place[1] + size[1] * place[2]);
        let last = std::array::from_fn(|d| self.before[d] + self.outputs[d].len() - 1);
        at(self.before)..at(last) + 1
    }
}

impl<T: Real> Cut<T> {
    /// Returns rows, columns and pages of the array.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// Returns the number of the tile with the outputs at this place, of an array that is cut along this dimension
    /// alone.
    pub(crate) fn tile_with(&self, along: usize, place: usize) -> usize {
        place / self.most[along].max(1)
    }

    /// Returns the number of samples of all tiles, or somewhat less.
    fn sent(&self) -> f64 {
        let counts = self.counts();
        let along = |d: usize| {
            // A tile has no halo at the array's own edges, unless it extends beyond them.
            let cuts = if self.extended[d] { counts[d] } else { counts[d] - 1 };
            self.size[d] as f64 + 2.0 * self.halo[d] as f64 * cuts as f64
        };
        (0..3).map(along).product()
    }

    /// Returns the number of sweeps that the halos allow.
    pub(crate) fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// Returns the boundaries that a kernel is to use for a tile.
    pub(crate) fn sides(&self) -> Sides<T> {
        // Beyond a complete halo any boundary will do.
        let cut = |d: usize| self.extended[d] && self.halo[d] > 0;
        [0, 1, 2].map(|d| if cut(d) { Ends::default() } else { self.sides[d] }).into()
    }

    /// Returns the number of tiles along each dimension.
    fn counts(&self) -> Size {
        std::array::from_fn(|d| self.size[d].div_ceil(self.most[d].max(1)))
    }

    /// Returns the number of tiles.
    pub(crate) fn count(&self) -> usize {
        self.counts().iter().product()
    }

    /// Returns the maximum number of samples of a tile.
    pub(crate) fn most_samples(&self) -> usize {
        // With a halo on both sides, also if there are only two tiles.
        let held = |d: usize| self.most[d] + 2 * self.halo[d];
        let held = |d: usize| if self.extended[d] { held(d) } else { held(d).min(self.size[d]) };
        (0..3).map(held).product()
    }

    /// Returns the tile of this number: neighbours in memory follow each other.
    pub(crate) fn tile(&self, number: usize) -> Tile {
        let counts = self.counts();
        let place = [number % counts[0], number / counts[0] % counts[1], number / (counts[0] * counts[1])];
        let outputs: [Range<usize>; 3] =
            std::array::from_fn(|d| place[d] * self.most[d]..((place[d] + 1) * self.most[d]).min(self.size[d]));
        let room = |d: usize, room: usize| if self.extended[d] { self.halo[d] } else { self.halo[d].min(room) };
        let before = std::array::from_fn(|d| room(d, outputs[d].start));
        let after = std::array::from_fn(|d| room(d, self.size[d] - outputs[d].end));
        Tile { outputs, before, after }
    }

    /// Returns the places in the array of the outputs of a tile with whole columns, if they follow each other there as
    /// they do in the tile.
    pub(crate) fn run_of(&self, tile: &Tile) -> Option<Range<usize>> {
        let [rows, columns, _] = self.size;
        let alone = tile.around(1) == [0, 0] && tile.outputs[1].len() == columns;
        let first = rows * (tile.outputs[1].start + columns * tile.outputs[2].start);
        let whole = tile.outputs[0].len() == rows && tile.around(0) == [0, 0];
        (whole && (alone || tile.outputs[2].len() == 1)).then(|| first..first + tile.outputs())
    }
}
