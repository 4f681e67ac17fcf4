//! How an array falls into tiles with halos, and how a tile is copied out of it and back.
//!
//! An array is a box of up to three dimensions, column-major: rows, columns, pages. (Lines are seen so, too: neighbours
//! that belong to different lines, the places along a line, and the rest.) A *tile* is a box of its outputs, with a
//! *halo*: the samples around it that its outputs need. Every element of the array is an output of one tile.
//!
//! A halo ends where the array does: what stands beyond is left to the kernel, to which a tile is an array of its own.
//! Its outputs near the other ends of the tile are wrong, and nobody takes them. Only where the array goes round, or
//! where a kernel wants it so, a halo goes on beyond the array, with the samples that the boundary puts there.
//!
//! # Rationale
//! A sweep over a tile spoils as much of it as the stencil reaches. With a halo for several sweeps a tile is sent once
//! for all of them: temporal blocking. What a halo has is sent and computed for nothing, and the more sweeps it is for,
//! the more that is: [`Cut::deep`] weighs this against the rounds that are saved.

mod choose;
mod copies;

use std::ops::Range;

use crate::stencil::{Ends, Real, Sides};

/// The bytes of a tile that is swept many times.
pub(crate) const SWEPT_BYTES: usize = 4 << 20;

/// Rows, columns, pages.
pub(crate) type Size = [usize; 3];

/// An array, cut into tiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cut<T> {
    /// Rows, columns and pages of the array.
    size: Size,
    /// The most outputs of a tile along each dimension.
    most: Size,
    /// The halo along each dimension, in which it is cut.
    halo: Size,
    /// What stands around the array.
    sides: Sides<T>,
    /// Along which dimensions halos go on beyond the array.
    extended: [bool; 3],
    /// The sweeps that the halo is made for.
    sweeps: usize,
}

/// A tile: its outputs, and the samples at hand on either side of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tile {
    outputs: [Range<usize>; 3],
    before: Size,
    after: Size,
}

impl Tile {
    /// A whole array as one tile.
    pub(crate) fn whole(size: Size) -> Tile {
        Tile { outputs: size.map(|size| 0..size), before: [0; 3], after: [0; 3] }
    }

    /// The size of the array that the tile is to a kernel.
    pub(crate) fn size(&self) -> Size {
        std::array::from_fn(|d| self.before[d] + self.outputs[d].len() + self.after[d])
    }

    /// How many samples that are.
    pub(crate) fn samples(&self) -> usize {
        self.size().iter().product()
    }

    /// The samples at hand on either side of the outputs, along a dimension.
    pub(crate) fn around(&self, d: usize) -> [usize; 2] {
        [self.before[d], self.after[d]]
    }

    /// The places of its outputs along a dimension.
    pub(crate) fn output(&self, d: usize) -> Range<usize> {
        self.outputs[d].clone()
    }

    /// How many outputs there are.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs.iter().map(Range::len).product()
    }

    /// From the first of its samples that is an output to behind the last, as they follow each other in the tile.
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
    /// Rows, columns and pages of the array.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// The number of the tile with the outputs at this place, of an array that is cut along this dimension alone.
    pub(crate) fn tile_with(&self, along: usize, place: usize) -> usize {
        place / self.most[along].max(1)
    }

    /// How many samples all tiles have, or somewhat fewer.
    fn sent(&self) -> f64 {
        let counts = self.counts();
        let along = |d: usize| {
            // At the array's own ends there is nothing beside a tile, unless it goes on there.
            let cuts = if self.extended[d] { counts[d] } else { counts[d] - 1 };
            self.size[d] as f64 + 2.0 * self.halo[d] as f64 * cuts as f64
        };
        (0..3).map(along).product()
    }

    /// How many sweeps the halos are for.
    pub(crate) fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// What a kernel is to take for what stands around a tile.
    pub(crate) fn sides(&self) -> Sides<T> {
        // Beyond a halo that is whole anything will do.
        let cut = |d: usize| self.extended[d] && self.halo[d] > 0;
        [0, 1, 2].map(|d| if cut(d) { Ends::default() } else { self.sides[d] }).into()
    }

    /// Tiles along each dimension.
    fn counts(&self) -> Size {
        std::array::from_fn(|d| self.size[d].div_ceil(self.most[d].max(1)))
    }

    /// How many tiles there are.
    pub(crate) fn count(&self) -> usize {
        self.counts().iter().product()
    }

    /// The most samples that a tile has.
    pub(crate) fn most_samples(&self) -> usize {
        // With a halo on both sides, also where there are but two tiles.
        let held = |d: usize| self.most[d] + 2 * self.halo[d];
        let held = |d: usize| if self.extended[d] { held(d) } else { held(d).min(self.size[d]) };
        (0..3).map(held).product()
    }

    /// The tile of this number: neighbours in memory follow each other.
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

    /// Where the outputs of a tile with whole columns are in the array, if they follow each other there as they do in
    /// the tile.
    pub(crate) fn run_of(&self, tile: &Tile) -> Option<Range<usize>> {
        let [rows, columns, _] = self.size;
        let alone = tile.around(1) == [0, 0] && tile.outputs[1].len() == columns;
        let first = rows * (tile.outputs[1].start + columns * tile.outputs[2].start);
        let whole = tile.outputs[0].len() == rows && tile.around(0) == [0, 0];
        (whole && (alone || tile.outputs[2].len() == 1)).then(|| first..first + tile.outputs())
    }
}
