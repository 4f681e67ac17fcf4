//! Levels of a tile: its intermediate results after each sweep, in rings of columns.

use std::ops::Range;

use super::kernel::COLUMNS;
use super::tiling::SWEEPS;
use crate::cpu::simd::Lanes;
use crate::stencil::{Convolution, Real, Sides};

/// Intermediate result of a tile after a sweep.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// Rows, columns and pages that are computed, in indices of the array.
    pub(super) reach: [Range<isize>; 3],
    /// First column not yet computed, on this page.
    pub(super) column: isize,
    pub(super) page: isize,
    /// Start of its ring in the buffer, number of columns in it, and slot of the next one.
    pub(super) start: usize,
    pub(super) ring: usize,
    pub(super) next: usize,
}

/// Number of columns of constants at the beginning of a buffer: the ghost values beyond the ends of the second
/// dimension and of the third.
pub(super) const CONSTANTS: usize = 4;

/// Levels of a tile, and the places of their columns in the buffer, after those of constants.
pub(super) struct Levels {
    pub(super) levels: [Level; SWEEPS + 1],
    /// Number of sweeps, and so the index of the last level.
    pub(super) last: usize,
    /// Rows of a column in the buffer.
    pub(super) rows: Range<isize>,
    /// Distance from one column to the next.
    pub(super) stride: usize,
    /// Number of elements in the buffer.
    pub(super) elements: usize,
    /// For each dimension, true if the array is circular, and cut.
    pub(super) endless: [bool; 3],
}

/// True if the array is treated as unbounded along a dimension.
pub(super) fn is_endless<T: Real>(request: &Convolution<T>, d: usize) -> bool {
    request.boundary()[d].is_circular() && request.filter().radius()[d] < request.size()[d]
}

impl Levels {
    /// Gives each level the same halo on both sides. If a filter's size is even, the leading side is one wider than
    /// needed, to hold a mirrored ghost value.
    pub(super) fn new<T: Lanes>(
        request: &Convolution<T>,
        sweeps: usize,
        tile: [Range<usize>; 3],
        whole_columns: bool,
    ) -> Levels {
        let (size, radius) = (request.size(), request.filter().radius());
        let circular = |d: usize| is_endless(request, d);
        // A tile with whole columns has all their samples.
        let endless = [circular(0) && !whole_columns, circular(1), circular(2)];
        let reach = |d: usize, level: usize| {
            let halo = ((sweeps - level) * radius[d]) as isize;
            let (start, end) = (tile[d].start as isize - halo, tile[d].end as isize + halo);
            if endless[d] { start..end } else { start.max(0)..end.min(size[d] as isize) }
        };
        let first = reach(0, 1);
        let rows = first.start - radius[0] as isize..first.end + radius[0] as isize;
        // A whole number of cache lines, with no stride at which columns evict each other from the cache.
        let line = 64 / size_of::<T>();
        let mut stride = rows.len().next_multiple_of(line);
        if stride % (16 * line) == 0 {
            stride += line;
        }
        let mut elements = CONSTANTS * stride;
        let levels = std::array::from_fn(|level| {
            let reach = [0, 1, 2].map(|d| reach(d, level.min(sweeps)));
            let all = reach[1].len() * reach[2].len();
            let ring = (2 * radius[2] * reach[1].len() + 2 * (radius[1] + COLUMNS)).min(all);
            let start = elements;
            if level < sweeps {
                elements += ring * stride;
            }
            Level { column: reach[1].start, page: reach[2].start, reach, start, ring, next: 0 }
        });
        Levels { levels, last: sweeps, rows, stride, elements, endless }
    }

    /// Sample at a place along the second dimension or the third; or the index of the column of constants that holds
    /// its ghost value.
    #[inline]
    pub(super) fn at<T: Lanes>(&self, d: usize, at: isize, sides: &Sides<T>, size: [usize; 3]) -> Result<isize, usize> {
        if self.endless[d] {
            return Ok(at);
        }
        let sample = sides[d].sample_at(at, size[d]);
        sample.map(|at| at as isize).map_err(|_| 2 * (d - 1) + usize::from(at >= 0))
    }

    /// Place of a level's column in the buffer: one computed recently, or the next one.
    #[inline]
    pub(super) fn place(&self, level: usize, column: isize, page: isize) -> usize {
        self.levels[level].start + self.slot(level, column, page) * self.stride
    }

    /// Slot of a level's column in its ring. The next column has the next slot; 0 follows the last.
    #[inline]
    pub(super) fn slot(&self, level: usize, column: isize, page: isize) -> usize {
        let level = &self.levels[level];
        let ahead = (page - level.page) * level.reach[1].len() as isize + (column - level.column);
        let (at, ring) = (level.next as isize + ahead, level.ring as isize);
        debug_assert!((-ring..ring).contains(&ahead));
        let at = if at < 0 { at + ring } else { at };
        let at = if at >= ring { at - ring } else { at };
        at as usize
    }
}
