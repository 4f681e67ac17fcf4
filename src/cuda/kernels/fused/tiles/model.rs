//! Model of the time of a launch, and the fastest layout by it.

use crate::cuda::Element;
use crate::cuda::arguments::CIRCULAR;
use crate::cuda::catalogue::{self, Entry, table};
use crate::cuda::kernels::MEASURED_ON;
use crate::partition::Size;

/// Maximum number of rows, and of columns, of a filter.
pub(super) const MAX_ENTRIES: usize = 7;

/// Possible numbers of sweeps in a launch.
pub(super) const SWEEPS: [usize; 10] = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16];

/// Patches of a region below each other, and threads of a block, that are tried.
const PATCHES_DOWN: [usize; 5] = [8, 12, 16, 24, 32];
const THREADS: [usize; 6] = [96, 128, 192, 256, 384, 512];

/// Threads of a warp.
pub(super) const LANES: usize = 32;

/// Overhead of a block in shared memory, in bytes.
const SHARED_BESIDE: usize = 1 << 10;

/// Maximum shared memory of a block on every chip.
pub(super) const SHARED_EVERYWHERE: usize = 48 << 10;

/// Registers of a multiprocessor, and the maximum of its blocks.
const REGISTERS: usize = 64 << 10;
const RESIDENT_BLOCKS: usize = 16;

/// Maximum number of tiles of an image, and of a launch, that the kernel can count.
pub(super) const MAX_TILES: usize = 1 << 16;
pub(super) const MAX_BLOCKS: usize = 1 << 30;

/// Maximum number of rows or columns of an image.
pub(super) const MAX_PLACES: usize = 1 << 28;

/// A module, and its properties before it is loaded.
///
/// A launch takes [`LAUNCH`]; its blocks, as many at a time as multiprocessors hold, take `load` and `load_of_warp` for
/// each warp of the multiprocessor, and then for each sweep `latency` and `warp` for each warp that is not idle. All in
/// microseconds, fitted to some thousand layouts on an H200 (BENCHMARKS.md): the chosen layout was at most a tenth
/// slower than the fastest of them up to 1024 x 1024.
#[derive(Debug, Clone, Copy)]
pub(super) struct TilesModule {
    pub(super) name: &'static str,
    pub(super) is_float: bool,
    /// Rows and columns of the filter; 0 for several of either, up to [`MAX_ENTRIES`].
    pub(super) size: usize,
    /// Rows and columns of a thread's patch.
    pub(super) patch: [usize; 2],
    /// Maximum number of threads of a block, and registers of each.
    pub(super) threads: usize,
    registers: usize,
    load: f64,
    load_of_warp: f64,
    latency: f64,
    warp: f64,
    /// Minimum time of a single sweep by the kernels for that, and time for each million samples.
    sweep: f64,
    million: f64,
}

/// Overhead of a launch, in microseconds.
const LAUNCH: f64 = 2.2;

/// Maximum speedup of latency-bound work on any chip over the measured one.
const MAX_SPEEDUP: f64 = 1.5;

/// Time of a million outputs on tensor cores, which do single sweeps of filters that are not square, in microseconds.
const ON_TENSOR_CORES: f64 = 7.6;

table! {
    /// Measured on an H200, with driver 580: the general modules with 3 x 5.
    MODULES: TilesModule = TilesModule::new, catalogue::TILES
}

/// Boundaries at the ends of the rows, and of the columns, in the kernels' codes. All constants are one code.
pub(super) type Boundaries = [[u32; 2]; 2];

/// Returns true for each of the two dimensions that is circular.
pub(super) fn circular_dimensions(boundaries: Boundaries) -> [bool; 2] {
    boundaries.map(|ends| ends.contains(&CIRCULAR))
}

/// Layout of one launch: see [`TilesArgument`](crate::cuda::arguments::TilesArgument).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tiling {
    pub(super) sweeps: usize,
    /// Extents down and across, like those that follow.
    pub(super) region: [usize; 2],
    pub(super) tiles: [usize; 2],
    pub(super) patches: [usize; 2],
    /// Time of a sweep, in microseconds.
    pub(super) time: f64,
}

impl Tiling {
    pub(super) fn threads(&self) -> usize {
        (self.patches[0] * self.patches[1]).next_multiple_of(LANES)
    }

    pub(super) fn blocks(&self, pages: usize) -> usize {
        self.tiles[0].saturating_mul(self.tiles[1]).saturating_mul(pages)
    }

    /// Returns the distance between columns of a buffer, and its elements. Neighbouring threads read places that are a
    /// patch's rows apart, an odd number: that continues from a column of patches to the next one if the pitch is
    /// right, or nearly so, and then no two of them need the same bank.
    pub(super) fn buffer(&self, module: &TilesModule, filter: Size) -> (usize, usize) {
        let banks = module.banks() as isize;
        let [rows, columns] = [0, 1].map(|i| self.patches[i] * module.patch[i] + filter[i] - 1);
        let off = |pitch: usize| {
            let off = (module.patch[1] * pitch) as isize - (self.patches[0] * module.patch[0]) as isize;
            off.rem_euclid(banks).min((-off).rem_euclid(banks))
        };
        let pitch = (rows..rows + module.banks()).min_by_key(|&pitch| off(pitch)).unwrap_or(rows);
        (pitch, pitch * columns)
    }

    /// Returns the maximum bytes of the two buffers, for any pitch.
    pub(super) fn most_shared(&self, module: &TilesModule, filter: Size) -> usize {
        let [rows, columns] = [0, 1].map(|i| self.patches[i] * module.patch[i] + filter[i] - 1);
        2 * (rows + module.banks() - 1) * columns * module.element()
    }
}

/// The chip that a launch is laid out for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chip {
    pub(super) multiprocessors: usize,
    /// True if it is one of those that were measured.
    pub(super) measured: bool,
}

impl Chip {
    /// Returns the time of multiply-adds relative to the measured chip. All others are taken for the slowest there are,
    /// with a thirty-second of the units for doubles and half of those for singles: redundant work that pays there pays
    /// on all.
    fn slower(self, is_float: bool) -> f64 {
        match (self.measured, is_float) {
            (true, _) => 1.0,
            (false, true) => 2.0,
            (false, false) => 32.0,
        }
    }

    /// Returns the maximum shared memory of a block, and that of a multiprocessor, in bytes; and the threads that it
    /// holds. For other chips these are the smallest values of any chip.
    pub(super) fn room(self) -> (usize, usize, usize) {
        if self.measured { (226 << 10, 228 << 10, 2048) } else { (SHARED_EVERYWHERE, 64 << 10, 1024) }
    }
}

/// Cuts an image along a dimension, for a halo of `reach` on either side: returns the samples that a region of at most
/// `most` patches holds, and the number of regions.
fn cut(count: usize, most: usize, patch: usize, reach: usize, circular: bool) -> Option<(usize, usize)> {
    let whole = |held: usize| held.next_multiple_of(patch);
    if !circular && most * patch >= count {
        return Some((count, 1));
    }
    // The outputs of a region that has an edge on both sides; the first and the last have more.
    let step = (most * patch).checked_sub(2 * reach).filter(|&step| step > 0)?;
    let at_ends = if circular { 0 } else { 2 * reach };
    // The minimum number of regions, and then the smallest ones.
    let tiles = (count - at_ends).div_ceil(step).max(1);
    let held = whole((count - at_ends).div_ceil(tiles) + 2 * reach);
    let held = if circular { held } else { held.min(count) };
    Some((held, (count - at_ends).div_ceil(held - 2 * reach).max(1)))
}

impl TilesModule {
    /// Reads an entry of the catalogue.
    const fn new(entry: &Entry) -> TilesModule {
        TilesModule {
            name: entry.name,
            is_float: entry.is_float,
            size: entry.count_or("SIZE", 0),
            patch: [entry.count("PATCH_ROWS"), entry.count("PATCH_COLUMNS")],
            threads: entry.count("MOST_THREADS"),
            registers: entry.count("registers"),
            load: entry.number("load"),
            load_of_warp: entry.number("load_of_warp"),
            latency: entry.number("latency"),
            warp: entry.number("warp"),
            sweep: entry.number("sweep"),
            million: entry.number("million"),
        }
    }

    /// Returns the modules that sweep by a filter of this size.
    pub(super) fn all_of<T: Element>(filter: Size) -> impl Iterator<Item = &'static TilesModule> {
        let [height, width, depth] = filter;
        let fits = depth == 1 && height.min(width) > 1 && height.max(width) <= MAX_ENTRIES;
        let size = if height == width { height } else { 0 };
        MODULES.iter().filter(move |module| fits && module.size == size && module.is_float == (T::NAME == f32::NAME))
    }

    /// Returns the multiply-adds of an output, relative to the filter with which the module was measured.
    fn share(&self, [height, width, _]: Size) -> f64 {
        if self.size == 0 { (height * width) as f64 / 15.0 } else { 1.0 }
    }

    /// Returns the bytes of an element, and the elements that shared memory gives at once.
    pub(super) fn element(&self) -> usize {
        if self.is_float { size_of::<f32>() } else { size_of::<f64>() }
    }

    pub(super) fn banks(&self) -> usize {
        128 / self.element()
    }

    /// Returns the time of a single sweep by the kernels for that, in microseconds; on a chip that was not measured, a
    /// lower bound.
    pub(super) fn single_sweep(&self, size: Size, filter: Size, chip: Chip) -> f64 {
        let share = self.share(filter);
        let sweep = if self.size == 0 { self.sweep * (1.0 + share) / 2.0 } else { self.sweep };
        let millions = size.iter().product::<usize>() as f64 / 1e6 * MEASURED_ON / chip.multiprocessors as f64;
        if chip.measured {
            let work = self.million * share;
            sweep + millions * if self.size == 0 && !self.is_float { work.min(ON_TENSOR_CORES) } else { work }
        } else {
            // Like the patches of this kernel without any latency.
            let outputs = (LANES * self.patch[0] * self.patch[1]) as f64;
            let work = self.warp * share * chip.slower(self.is_float) * millions * 1e6 / outputs / MEASURED_ON;
            work.max(sweep / MAX_SPEEDUP)
        }
    }

    /// Returns the fastest layout for `sweeps` sweeps at once.
    pub(super) fn tiling(
        &self,
        size: Size,
        filter: Size,
        boundaries: Boundaries,
        sweeps: usize,
        chip: Chip,
    ) -> Option<Tiling> {
        let shapes = PATCHES_DOWN.iter().flat_map(|&down| THREADS.map(|threads| (down, threads)));
        let shapes = shapes.filter(|&(down, threads)| threads <= self.threads && down <= threads);
        let tilings = shapes.filter_map(|(down, threads)| {
            self.tiling_of(size, filter, boundaries, sweeps, chip, [down, threads / down])
        });
        tilings.min_by(|a, b| a.time.total_cmp(&b.time))
    }

    /// Returns the layout with regions of at most these patches.
    fn tiling_of(
        &self,
        [rows, columns, pages]: Size,
        filter: Size,
        boundaries: Boundaries,
        sweeps: usize,
        chip: Chip,
        most: [usize; 2],
    ) -> Option<Tiling> {
        let [above, aside] = [filter[0] / 2, filter[1] / 2];
        let circular = circular_dimensions(boundaries);
        let (region_rows, down) = cut(rows, most[0], self.patch[0], sweeps * above, circular[0])?;
        let (region_columns, across) = cut(columns, most[1], self.patch[1], sweeps * aside, circular[1])?;
        let region = [region_rows, region_columns];
        let patches = [region_rows.div_ceil(self.patch[0]), region_columns.div_ceil(self.patch[1])];
        let mut tiling = Tiling { sweeps, region, tiles: [down, across], patches, time: f64::INFINITY };
        let blocks = tiling.blocks(pages);
        let (shared, threads) = (tiling.most_shared(self, filter), tiling.threads());
        let (most_shared, room, most_threads) = chip.room();
        if down.saturating_mul(across) > MAX_TILES || blocks > MAX_BLOCKS || shared > most_shared {
            return None;
        }
        let at_once = (room / (shared + SHARED_BESIDE)).min(REGISTERS / (threads * self.registers));
        let at_once = at_once.min(most_threads / threads).min(RESIDENT_BLOCKS);
        if at_once == 0 {
            return None;
        }
        // The samples of a region that count for its outputs: less and less towards the last sweep.
        let counted = |left: usize| {
            let along = |i: usize, tiles: usize, radius: usize| {
                let held = region[i];
                let outputs = if tiles == 1 && !circular[i] { held } else { held - 2 * sweeps * radius };
                (outputs + 2 * left * radius + self.patch[i] - 1).min(held) as f64
            };
            along(0, down, above) * along(1, across, aside)
        };
        let all = (patches[0] * self.patch[0] * patches[1] * self.patch[1]) as f64;
        let useful = (counted(0) + 4.0 * counted((sweeps - 1) / 2) + counted(sweeps - 1)) / (6.0 * all);
        let warps = threads as f64 / LANES as f64;
        let share = self.share(filter) * chip.slower(self.is_float);
        let wave = |blocks: f64| {
            let sweep = self.latency * self.share(filter) + self.warp * share * warps * blocks * useful;
            self.load + self.load_of_warp * warps * blocks + sweeps as f64 * sweep
        };
        let (waves, rest) = (blocks / (chip.multiprocessors * at_once), blocks % (chip.multiprocessors * at_once));
        let last = if rest == 0 { 0.0 } else { wave(rest.div_ceil(chip.multiprocessors) as f64) };
        tiling.time = (LAUNCH + waves as f64 * wave(at_once as f64) + last) / sweeps as f64;
        Some(tiling)
    }
}
