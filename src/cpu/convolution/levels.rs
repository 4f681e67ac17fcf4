//! The levels of a tile: what each sweep leaves of it, in rings of columns.

use std::ops::Range;

use super::kernel::COLUMNS;
use super::tiling::SWEEPS;
use crate::cpu::simd::Lanes;
use crate::stencil::{Convolution, Real, Sides};

/// What a sweep leaves of a tile.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// The rows, columns and pages that are computed, counted as those of the array.
    pub(super) reach: [Range<isize>; 3],
    /// All before this column of this page are done.
    pub(super) column: isize,
    pub(super) page: isize,
    /// Where its ring begins in the buffer, how many columns that has, and which one comes next.
    pub(super) start: usize,
    pub(super) ring: usize,
    pub(super) next: usize,
}

/// Columns of constants at the beginning of a buffer: the ghost values beyond the ends of the second dimension and of
/// the third.
pub(super) const CONSTANTS: usize = 4;

/// The levels of a tile, and where their columns are in the buffer. Before them, the columns of constants.
pub(super) struct Levels {
    pub(super) levels: [Level; SWEEPS + 1],
    /// Sweeps, the number of the last level.
    pub(super) last: usize,
    /// The rows of a column in the buffer.
    pub(super) rows: Range<isize>,
    /// From one column to the next.
    pub(super) stride: usize,
    /// Elements of the buffer.
    pub(super) elements: usize,
    /// Along which dimensions the array is circular, and cut.
    pub(super) endless: [bool; 3],
}

/// Whether the array is taken for one without an end along a dimension.
pub(super) fn is_endless<T: Real>(request: &Convolution<T>, d: usize) -> bool {
    request.boundary()[d].is_circular() && request.filter().radius()[d] < request.size()[d]
}

impl Levels {
    /// A level reaches as far to either side. Where a filter's size is even, that is one place further ahead than it
    /// needs, where a mirrored ghost value may be found.
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
        // Whole cache lines, and never such that columns push one another out of the cache.
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

    /// The sample whose value a place along the second dimension or the third has; or the number of the column of
    /// constants that holds its ghost value.
    #[inline]
    pub(super) fn at<T: Lanes>(&self, d: usize, at: isize, sides: &Sides<T>, size: [usize; 3]) -> Result<isize, usize> {
        if self.endless[d] {
            return Ok(at);
        }
        let sample = sides[d].sample_at(at, size[d]);
        sample.map(|at| at as isize).map_err(|_| 2 * (d - 1) + usize::from(at >= 0))
    }

    /// Where in the buffer a column of a level is: one of those that were done last, or come next.
    #[inline]
    pub(super) fn place(&self, level: usize, column: isize, page: isize) -> usize {
        self.levels[level].start + self.slot(level, column, page) * self.stride
    }

    /// The number in its ring of a column of a level. The level's next column has the next number; 0 follows the last.
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
