//! How an array is cut into tiles, by a plain model of the time. The result does not depend on it.

use std::ops::Range;

use super::kernel::COLUMNS;
use crate::cpu::tasks;
use crate::stencil::{Convolution, Real};

/// The most sweeps of a tile.
pub(super) const SWEEPS: usize = 16;

/// The bytes of a tile's column at most.
const COLUMN: usize = 4 << 10;

/// A tile's column in a single sweep over few columns is at most so many times as long.
const FEW: usize = 4;

/// Rows of a tile's column at least, where the array has them.
const LEAST: usize = 64;

/// The multiply-adds of a column of a block at most: on a machine without an instruction for them, a block takes a
/// tenth of a second.
const BLOCK: usize = 1 << 18;

/// The bytes of all rings of a tile: they stay in the second-level cache.
pub(super) const RINGS: usize = 896 << 10;

/// The multiply-adds that take as long as a sample takes from memory and back.
const MEMORY: usize = 16;

/// The multiply-adds in the time that it takes to begin a pass with several threads.
const BEGIN: usize = 1 << 17;

/// The multiply-adds of a sweep.
pub(super) fn work_of_sweep<T: Real>(request: &Convolution<T>) -> usize {
    request.elements().saturating_mul(request.filter().values().len())
}

/// How the array is cut into tiles. The result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tiling {
    /// Rows, columns and pages of a tile.
    pub(super) size: [usize; 3],
    /// Sweeps of a tile at most.
    pub(super) sweeps: usize,
}

impl Tiling {
    /// What takes the least time, by a plain model of it.
    pub(super) fn choose<T: Real>(request: &Convolution<T>) -> Tiling {
        let mut best = (f64::INFINITY, Tiling { size: request.size(), sweeps: 1 });
        for sweeps in [1, 2, 3, 4, 5, 6, 8, 10, 12, SWEEPS] {
            if sweeps > request.sweeps() {
                break;
            }
            let threads = tasks::threads(work_of_sweep(request).saturating_mul(sweeps));
            let Some(tiling) = Tiling::with_sweeps(request, sweeps, threads) else { break };
            let time = tiling.time(request, threads);
            if time < best.0 {
                best = (time, tiling);
            }
        }
        best.1
    }

    /// Tiles for `sweeps` sweeps; `None` where their rings would not fit the cache.
    fn with_sweeps<T: Real>(request: &Convolution<T>, sweeps: usize, threads: usize) -> Option<Tiling> {
        let (size, radius) = (request.size(), request.filter().radius());
        let [rows, columns, pages] = size;
        let kept = 2 * radius[2] + 1;
        // Shorter columns under a large filter: the rings of a sweep stay in the cache, and a block does not take long.
        // Of few columns longer ones, as each begins anew; but not so long that those of two sweeps push each other out of
        // the first-level cache.
        let in_ring = 2 * (radius[1] + COLUMNS);
        let in_rings = RINGS / (kept.min(pages) * in_ring * size_of::<T>());
        let longer = if sweeps == 1 { (in_ring / columns).clamp(1, FEW) } else { 1 };
        let longest = longer * COLUMN / size_of::<T>();
        let limit = in_rings.min(BLOCK / request.filter().values().len()).max(LEAST).min(longest);
        let height = rows.div_ceil(rows.div_ceil(limit));
        let mut tile = [height, columns, pages];
        // Whole cache lines, and one more.
        let column = ((height + 2 * radius[0] * sweeps) * size_of::<T>()).next_multiple_of(64) + 64;
        let of_level = RINGS / (sweeps * column);
        if radius[2] > 0 {
            // All pages under the filter are in the ring, with the halo of a level in the middle.
            let width = (of_level / kept).saturating_sub(radius[1] * sweeps + COLUMNS);
            if sweeps > 1 && width < columns.min(COLUMNS.max(4 * radius[1] * sweeps)) {
                return None;
            }
            tile[1] = columns.div_ceil(columns.div_ceil(width.max(COLUMNS)));
        } else {
            // Pages have nothing to do with one another.
            tile[2] = 1;
            if sweeps > 1 && of_level < 2 * (radius[1] + COLUMNS) {
                return None;
            }
        }
        // Every thread is to have as much as the others, or several tiles.
        loop {
            let tiles: usize = Tiling { size: tile, sweeps }.parts(size).iter().product();
            if tiles.is_multiple_of(threads) || tiles >= 4 * threads {
                return Some(Tiling { size: tile, sweeps });
            }
            // Where a cut costs the least, beside what is cut.
            let least = [64, 2 * COLUMNS, 2];
            let room = |d: usize| tile[d] as f64 / (1 + 2 * radius[d] * sweeps) as f64;
            let d = (0..3).filter(|&d| tile[d] >= 2 * least[d]).max_by(|&a, &b| room(a).total_cmp(&room(b)));
            let Some(d) = d else { return Some(Tiling { size: tile, sweeps }) };
            // In one part more; where there are as many parts as a part is long, that may leave it as long.
            tile[d] = size[d].div_ceil(size[d].div_ceil(tile[d]) + 1).min(tile[d] - 1);
        }
    }

    /// The time of a sweep, in that of a multiply-add.
    fn time<T: Real>(&self, request: &Convolution<T>, threads: usize) -> f64 {
        let entries = request.filter().values().len() as f64;
        let of_tile = self.updates(request) * entries + self.extents(request, 0) * MEMORY as f64;
        let tiles: usize = self.parts(request.size()).iter().product();
        let begin = if threads > 1 { BEGIN as f64 } else { 0.0 };
        (of_tile * tiles.div_ceil(threads) as f64 + begin) / self.sweeps as f64
    }

    /// What all sweeps of a tile compute at most.
    fn updates<T: Real>(&self, request: &Convolution<T>) -> f64 {
        (1..=self.sweeps).map(|level| self.extents(request, level)).sum()
    }

    /// What a level of a tile has at most: its halo lies on both sides where the array is cut or circular.
    fn extents<T: Real>(&self, request: &Convolution<T>, level: usize) -> f64 {
        let (size, radius) = (request.size(), request.filter().radius());
        let along = |d: usize| {
            let cut = self.size[d] < size[d] || (request.boundary()[d].is_circular() && d > 0);
            let all = self.size[d] + if cut { 2 * radius[d] * (self.sweeps - level) } else { 0 };
            // Of a filter that reaches all over the array, each sample is there once.
            if radius[d] < size[d] { all as f64 } else { all.min(size[d]) as f64 }
        };
        (0..3).map(along).product()
    }

    /// In how many parts each dimension is cut.
    pub(super) fn parts(&self, size: [usize; 3]) -> [usize; 3] {
        [0, 1, 2].map(|d| size[d].div_ceil(self.size[d]))
    }

    /// The tile with this number, of `along` and `across` in the first two dimensions.
    pub(super) fn tile(&self, size: [usize; 3], [along, across, _]: [usize; 3], number: usize) -> [Range<usize>; 3] {
        let place = [number % along, number / along % across, number / along / across];
        [0, 1, 2].map(|d| place[d] * self.size[d]..((place[d] + 1) * self.size[d]).min(size[d]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::Filter;

    #[test]
    fn tiles_get_smaller_until_threads_have_enough() {
        for pages in 1..=70 {
            for threads in 1..=70 {
                let filter = Filter::new(vec![1.0; 27], [3, 3, 3]).expect("its sides are odd");
                let request = Convolution::new([8, 8, pages], filter);
                let tiling = Tiling::with_sweeps(&request, 1, threads).expect("one sweep fits");
                let tiles: usize = tiling.parts([8, 8, pages]).iter().product();
                assert!(
                    tiles.is_multiple_of(threads) || tiles >= 4 * threads || tiling.size[2] < 4,
                    "{pages} {threads}"
                );
            }
        }
    }
}
