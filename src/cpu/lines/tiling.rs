//! Division of an array of lines into tiles. The result does not depend on it.

use std::ops::Range;

use crate::cpu::tasks::STEP;
use crate::stencil::Lines;

/// Division of an array into tiles. The result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tiling {
    /// Number of the `outer` computed side by side in one tile; above one only with all columns and all rows.
    pub(super) blocks: usize,
    /// Number of columns in a tile, of the `inner`.
    pub(super) width: usize,
    /// Number of rows in a tile, of the `length`.
    pub(super) rows: usize,
    /// Maximum number of sweeps in one pass over the array.
    pub(super) sweeps: usize,
    /// True if the inside of a line is computed straight from the array. Only for a single sweep.
    pub(super) direct: bool,
}

/// Number of elements of a copy that stays, with the result of a sweep, in the first-level cache.
const L1_ELEMENTS: usize = 1 << 11;

/// Number of elements of a copy that stays, with the result of a sweep, in the second-level cache.
pub(super) const L2_ELEMENTS: usize = 1 << 15;

/// Number of columns of a tile computed straight from the array: its rows are read from memory as fast as longer ones.
const DIRECT_COLUMNS: usize = 1 << 10;

/// Number of columns of a tile copied for one sweep, and for many: few, to have many rows.
const COPIED_COLUMNS: usize = 64;
const COPIED_COLUMNS_FOR_MANY: usize = 32;

/// Lines of at most four times the radius are mostly ends; this is the minimum radius for that rule.
const MIN_END_RADIUS: usize = 5;

/// From this radius on, rows that are apart are copied even for one sweep: read in place, that many rows, often a power
/// of two apart, evict each other from the cache. (With 21 taps along the last dimension of 256 x 256 x 256, a core is
/// twice as fast through copies.)
const MIN_COPIED_RADIUS: usize = 3;

/// Divides `total` evenly into parts of at most about `limit`, in whole vectors.
fn evenly(total: usize, limit: usize) -> usize {
    total.div_ceil(total.div_ceil(limit.max(1)).max(1)).next_multiple_of(8).min(total)
}

impl Tiling {
    pub(super) fn choose(lines: Lines, radius: usize, sweeps: usize, threads: usize) -> Tiling {
        if sweeps == 1 { Tiling::single(lines, radius, threads) } else { Tiling::many(lines, radius, sweeps, threads) }
    }

    fn single(lines: Lines, radius: usize, threads: usize) -> Tiling {
        let (inner, length, outer) = (lines.inner(), lines.length(), lines.outer());
        let padded = length + 2 * radius;
        // Mostly ends, or many ends: whole lines are copied.
        if length <= 4 * radius.max(MIN_END_RADIUS) || (inner > 1 && inner * padded <= L1_ELEMENTS / 2) {
            return Tiling::whole(lines, radius, 1, L1_ELEMENTS / 4, L2_ELEMENTS / 2);
        }
        if inner == 1 {
            let blocks = (STEP / length).clamp(1, outer.div_ceil(threads));
            let rows = if outer >= threads { STEP } else { STEP.min(length.div_ceil(threads)) };
            return Tiling {
                blocks,
                width: 1,
                rows: if blocks > 1 { length } else { rows.min(length) },
                sweeps: 1,
                direct: true,
            };
        }
        if inner >= COPIED_COLUMNS && radius >= MIN_COPIED_RADIUS {
            let width = evenly(inner, COPIED_COLUMNS);
            let rows = length.div_ceil(length.div_ceil(L2_ELEMENTS / width - 2 * radius));
            return Tiling { blocks: 1, width, rows, sweeps: 1, direct: false };
        }
        let width = evenly(inner, DIRECT_COLUMNS);
        let tiles = outer * inner.div_ceil(width);
        // At a cut between rows both sides read the halo: with enough rows that costs little.
        let parts = (4 * threads).div_ceil(tiles).min(length / (16 * (radius + 1))).max(1);
        Tiling { blocks: 1, width, rows: length.div_ceil(if threads > 1 { parts } else { 1 }), sweeps: 1, direct: true }
    }

    fn many(lines: Lines, radius: usize, sweeps: usize, threads: usize) -> Tiling {
        let (inner, length) = (lines.inner(), lines.length());
        let padded = length + 2 * radius;
        if padded * inner.min(16) <= L2_ELEMENTS {
            let whole = Tiling::whole(lines, radius, sweeps, L1_ELEMENTS, L2_ELEMENTS);
            if whole.count(lines) >= threads || padded < 2 * L1_ELEMENTS {
                return whole;
            }
        }
        let width = evenly(inner, COPIED_COLUMNS_FOR_MANY);
        let rows = if width <= 4 { L1_ELEMENTS } else { L2_ELEMENTS } / width;
        // A tenth of the rows on either side is redundant at the first sweep, half of it on average.
        let sweeps = sweeps.min((rows / (10 * radius.max(1))).max(2));
        let rows = rows - (2 * radius * sweeps).min(rows / 2);
        Tiling { blocks: 1, width, rows: length.div_ceil(length.div_ceil(rows)), sweeps, direct: false }
    }

    /// Whole lines: several side by side in up to `near` elements; few columns of them if they have more than `far`.
    fn whole(lines: Lines, radius: usize, sweeps: usize, near: usize, far: usize) -> Tiling {
        let (inner, length, outer) = (lines.inner(), lines.length(), lines.outer());
        let padded = length + 2 * radius;
        let width = if inner * padded <= far { inner } else { evenly(inner, far / padded) };
        let blocks = if width == inner { (near / (inner * padded)).clamp(1, outer) } else { 1 };
        Tiling { blocks, width, rows: length, sweeps, direct: false }
    }

    /// Number of parts along each dimension.
    pub(super) fn parts(&self, lines: Lines) -> [usize; 3] {
        [lines.inner().div_ceil(self.width), lines.length().div_ceil(self.rows), lines.outer().div_ceil(self.blocks)]
    }

    /// Number of tiles.
    fn count(&self, lines: Lines) -> usize {
        self.parts(lines).iter().product()
    }

    /// Tile with this index, of `across` and `along` in the first two dimensions.
    pub(super) fn tile(&self, lines: Lines, [across, along, _]: [usize; 3], number: usize) -> Tile {
        let part = |at: usize, size: usize, all: usize| at * size..((at + 1) * size).min(all);
        Tile {
            columns: part(number % across, self.width, lines.inner()),
            rows: part(number / across % along, self.rows, lines.length()),
            blocks: part(number / across / along, self.blocks, lines.outer()),
        }
    }
}

/// Some columns of some rows of some of the `outer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) columns: Range<usize>,
    pub(super) rows: Range<usize>,
    pub(super) blocks: Range<usize>,
}

impl Tile {
    pub(super) fn elements(&self) -> usize {
        self.columns.len() * self.rows.len() * self.blocks.len()
    }
}
