//! Division of an array into parts and tiles with halos, for streams, several devices and several ranks alike; and
//! copies of a tile out of an array and back. Nothing here knows of devices or of messages.
//!
//! An array is a box of up to three dimensions, column-major: rows, columns, pages. (Lines are seen so, too: neighbours
//! that belong to different lines, the places along a line, and the rest.) A *tile* is a box of its outputs, with a
//! *halo*: the samples around it that its outputs need. Every element of the array is an output of one tile. A *part* is
//! the tile of a device or of a rank, of an array that is cut along one dimension.
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
mod parts;
mod planes;
mod rounds;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::stencil::{Ends, Real, Sides};
pub(crate) use parts::{Halo, Parts, Piece, around};
pub(crate) use planes::{Around, Planes};
pub(crate) use rounds::{Rounds, numbers_to};

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

/// Elements of a tile's halo that are neighbours in memory: the tile that computes them, the first one's place there, and
/// their places in the halo's own tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) part: usize,
    pub(crate) from: usize,
    pub(crate) to: Range<usize>,
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

    /// Returns the rounds for `sweeps` sweeps, each with as many as the halos allow.
    pub(crate) fn rounds(&self, sweeps: usize) -> Rounds {
        Rounds::new(sweeps, self.sweeps)
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
        let around = [0, 1, 2].map(|d| around(&outputs[d], self.halo[d], self.size[d], self.extended[d]));
        let [before, after] = [0, 1].map(|side| around.map(|around| around[side]));
        Tile { outputs, before, after }
    }

    /// Returns the halo of each tile, of an array that is cut along one dimension at most.
    pub(crate) fn halos(&self) -> Vec<Vec<Segment>> {
        let counts = self.counts();
        let along = (0..3).find(|&d| counts[d] > 1).unwrap_or_default();
        let tiles: Vec<Tile> = (0..self.count()).map(|number| self.tile(number)).collect();
        let lengths: Vec<usize> = tiles.iter().map(|tile| tile.outputs[along].len()).collect();
        let parts = Parts::new(&lengths).expect("parts are no longer than their array");
        let around = Around::new(&self.size, along);
        let halo = |(number, tile): (usize, &Tile)| {
            let segments = |(piece, to): (&Piece, Planes)| {
                let (part, owner) = (piece.part, &tiles[piece.part]);
                let from =
                    Planes { first: owner.before[along] + piece.planes.start, length: owner.size()[along], ..to };
                around.elements(from).zip(around.elements(to)).map(move |(from, to)| Segment {
                    part,
                    from: from.start,
                    to,
                })
            };
            parts.halo(number, tile.around(along)).placed(tile.size()[along]).flat_map(segments).collect()
        };
        tiles.iter().enumerate().map(halo).collect()
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
