//! Division of an array into tiles, by a simple model of the time. The result does not depend on it.

use std::ops::Range;

use super::kernel::COLUMNS;
use crate::cpu::tasks;
use crate::stencil::{Convolution, Real};

/// Maximum number of sweeps of a tile.
pub(super) const SWEEPS: usize = 16;

/// Maximum number of bytes in a tile's column.
const COLUMN_BYTES: usize = 4 << 10;

/// Maximum factor by which a tile's column is lengthened in a single sweep over few columns.
const MAX_LENGTHENING: usize = 4;

/// Minimum number of rows in a tile's column, if the array has them.
const MIN_ROWS: usize = 64;

/// Maximum number of multiply-adds for a column of a block: on a machine without an instruction for them, a block takes
/// a tenth of a second.
const MAX_BLOCK_WORK: usize = 1 << 18;

/// Number of bytes of all rings of a tile: they stay in the second-level cache.
pub(super) const RING_BYTES: usize = 896 << 10;

/// Number of multiply-adds in the time of a sample's way from memory and back.
const SAMPLE_COST: usize = 16;

/// Number of multiply-adds in the time to start a pass with several threads.
const PASS_COST: usize = 1 << 17;

/// Number of multiply-adds of a sweep.
pub(super) fn work_of_sweep<T: Real>(request: &Convolution<T>) -> usize {
    request.elements().saturating_mul(request.filter().values().len())
}

/// Division of the array into tiles. The result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tiling {
    /// Rows, columns and pages of a tile.
    pub(super) size: [usize; 3],
    /// Maximum number of sweeps of a tile.
    pub(super) sweeps: usize,
}

impl Tiling {
    /// Chooses the fastest tiling, by a simple model.
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

    /// Tiles for `sweeps` sweeps; `None` if their rings would not fit the cache.
    fn with_sweeps<T: Real>(request: &Convolution<T>, sweeps: usize, threads: usize) -> Option<Tiling> {
        let (size, radius) = (request.size(), request.filter().radius());
        let [rows, columns, pages] = size;
        let kept = 2 * radius[2] + 1;
        // Shorter columns under a large filter: the rings of a sweep stay in the cache, and a block does not take long.
        // Few columns are longer, to start fewer; but not so long that those of two sweeps evict each other from the
        // first-level cache.
        let in_ring = 2 * (radius[1] + COLUMNS);
        let in_rings = RING_BYTES / (kept.min(pages) * in_ring * size_of::<T>());
        let longer = if sweeps == 1 { (in_ring / columns).clamp(1, MAX_LENGTHENING) } else { 1 };
        let longest = longer * COLUMN_BYTES / size_of::<T>();
        let limit = in_rings.min(MAX_BLOCK_WORK / request.filter().values().len()).max(MIN_ROWS).min(longest);
        let height = rows.div_ceil(rows.div_ceil(limit));
        let mut tile = [height, columns, pages];
        // A whole number of cache lines, and one more.
        let column = ((height + 2 * radius[0] * sweeps) * size_of::<T>()).next_multiple_of(64) + 64;
        let of_level = RING_BYTES / (sweeps * column);
        if radius[2] > 0 {
            // The ring holds all pages under the filter, with the halo of a middle level.
            let width = (of_level / kept).saturating_sub(radius[1] * sweeps + COLUMNS);
            if sweeps > 1 && width < columns.min(COLUMNS.max(4 * radius[1] * sweeps)) {
                return None;
            }
            tile[1] = columns.div_ceil(columns.div_ceil(width.max(COLUMNS)));
        } else {
            // Pages are independent.
            tile[2] = 1;
            if sweeps > 1 && of_level < 2 * (radius[1] + COLUMNS) {
                return None;
            }
        }
        // Every thread should have the same number of tiles, or several.
        loop {
            let tiles: usize = Tiling { size: tile, sweeps }.parts(size).iter().product();
            if tiles.is_multiple_of(threads) || tiles >= 4 * threads {
                return Some(Tiling { size: tile, sweeps });
            }
            // Cuts where the relative cost of the halo is least.
            let least = [64, 2 * COLUMNS, 2];
            let room = |d: usize| tile[d] as f64 / (1 + 2 * radius[d] * sweeps) as f64;
            let d = (0..3).filter(|&d| tile[d] >= 2 * least[d]).max_by(|&a, &b| room(a).total_cmp(&room(b)));
            let Some(d) = d else { return Some(Tiling { size: tile, sweeps }) };
            // One part more; if there are as many parts as a part is long, that may not shorten it.
            tile[d] = size[d].div_ceil(size[d].div_ceil(tile[d]) + 1).min(tile[d] - 1);
        }
    }

    /// Time of a sweep, in multiply-adds.
    fn time<T: Real>(&self, request: &Convolution<T>, threads: usize) -> f64 {
        let entries = request.filter().values().len() as f64;
        let of_tile = self.updates(request) * entries + self.extents(request, 0) * SAMPLE_COST as f64;
        let tiles: usize = self.parts(request.size()).iter().product();
        let begin = if threads > 1 { PASS_COST as f64 } else { 0.0 };
        (of_tile * tiles.div_ceil(threads) as f64 + begin) / self.sweeps as f64
    }

    /// Maximum number of elements computed in all sweeps of a tile.
    fn updates<T: Real>(&self, request: &Convolution<T>) -> f64 {
        (1..=self.sweeps).map(|level| self.extents(request, level)).sum()
    }

    /// Maximum number of elements in a level of a tile: it has a halo on both sides if the array is cut or circular.
    fn extents<T: Real>(&self, request: &Convolution<T>, level: usize) -> f64 {
        let (size, radius) = (request.size(), request.filter().radius());
        let along = |d: usize| {
            let cut = self.size[d] < size[d] || (request.boundary()[d].is_circular() && d > 0);
            let all = self.size[d] + if cut { 2 * radius[d] * (self.sweeps - level) } else { 0 };
            // Under a filter that covers the whole array, each sample is stored once.
            if radius[d] < size[d] { all as f64 } else { all.min(size[d]) as f64 }
        };
        (0..3).map(along).product()
    }

    /// Number of parts along each dimension.
    pub(super) fn parts(&self, size: [usize; 3]) -> [usize; 3] {
        [0, 1, 2].map(|d| size[d].div_ceil(self.size[d]))
    }

    /// Tile with this index, of `along` and `across` in the first two dimensions.
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
