//! What a launch takes by a model, and the layout that takes least time.

use crate::cuda::Element;
use crate::cuda::arguments::CIRCULAR;
use crate::cuda::catalogue::{self, Entry, table};
use crate::cuda::cut::Size;
use crate::cuda::kernels::MEASURED_ON;

/// The most rows, and columns, of a filter.
pub(super) const MOST_ENTRIES: usize = 7;

/// How many sweeps a launch may do.
pub(super) const SWEEPS: [usize; 10] = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16];

/// The patches of a region below each other, and the threads of a block, that are tried.
const PATCHES_DOWN: [usize; 5] = [8, 12, 16, 24, 32];
const THREADS: [usize; 6] = [96, 128, 192, 256, 384, 512];

/// Threads of a warp.
pub(super) const LANES: usize = 32;

/// The shared memory that a block takes beside what it asks for, in bytes.
const SHARED_BESIDE: usize = 1 << 10;

/// The shared memory that a block may ask for on every chip.
pub(super) const SHARED_EVERYWHERE: usize = 48 << 10;

/// The registers of a multiprocessor, and the most blocks that it holds.
const REGISTERS: usize = 64 << 10;
const RESIDENT_BLOCKS: usize = 16;

/// The tiles of an image, and those of a launch, that the kernel can count.
pub(super) const MOST_TILES: usize = 1 << 16;
pub(super) const MOST_BLOCKS: usize = 1 << 30;

/// The most rows or columns of an image.
pub(super) const MOST_PLACES: usize = 1 << 28;

/// A module, and what is known of it before it is loaded.
///
/// A launch takes [`LAUNCH`], and its blocks, as many at a time as multiprocessors hold, take `load` and `load_of_warp`
/// for each warp of the multiprocessor, and then for each sweep `latency` and `warp` for each warp that has something to
/// do. All in microseconds, fitted to some thousand layouts on an H200 (BENCHMARKS.md): what it chooses was at most a
/// tenth slower than the fastest of them up to 1024 x 1024.
#[derive(Debug, Clone, Copy)]
pub(super) struct TilesModule {
    pub(super) name: &'static str,
    pub(super) is_float: bool,
    /// Rows and columns of the filter; 0 for several of either, up to [`MOST_ENTRIES`].
    pub(super) size: usize,
    /// Rows and columns of a thread's patch.
    pub(super) patch: [usize; 2],
    /// The most threads of a block, and the registers of each.
    pub(super) threads: usize,
    registers: usize,
    load: f64,
    load_of_warp: f64,
    latency: f64,
    warp: f64,
    /// What a single sweep takes at least, by the kernels for that, and for each million samples.
    sweep: f64,
    million: f64,
}

/// What a launch takes beside its blocks, in microseconds.
const LAUNCH: f64 = 2.2;

/// No chip does what waits for itself in less than the measured time divided by this.
const QUICKEST: f64 = 1.5;

/// What a million outputs take on tensor cores, which do single sweeps of filters that are not square, in microseconds.
const ON_TENSOR_CORES: f64 = 7.6;

table! {
    /// Measured on an H200, with driver 580: the general modules with 3 x 5.
    MODULES: TilesModule = TilesModule::new, catalogue::SWEEPS_TILES
}

/// The boundaries at the ends of the rows, and of the columns, as the kernels call them. Constants of any number are one.
pub(super) type Boundaries = [[u32; 2]; 2];

/// Which of the two dimensions are circular.
pub(super) fn circular_dimensions(boundaries: Boundaries) -> [bool; 2] {
    boundaries.map(|ends| ends.contains(&CIRCULAR))
}

/// How one launch is laid out: see [`TilesArgument`](crate::cuda::arguments::TilesArgument).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tiling {
    pub(super) sweeps: usize,
    /// Down and across, as all that follow.
    pub(super) region: [usize; 2],
    pub(super) tiles: [usize; 2],
    pub(super) patches: [usize; 2],
    /// How long a sweep takes, in microseconds.
    pub(super) time: f64,
}

impl Tiling {
    pub(super) fn threads(&self) -> usize {
        (self.patches[0] * self.patches[1]).next_multiple_of(LANES)
    }

    pub(super) fn blocks(&self, pages: usize) -> usize {
        self.tiles[0].saturating_mul(self.tiles[1]).saturating_mul(pages)
    }

    /// How far the columns of a buffer are apart, and the elements of one. Neighbouring threads read places that are a
    /// patch's rows apart, an odd number: that goes on from a column of patches to the next one if the pitch is right,
    /// or nearly so, and then no two of them need the same bank.
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

    /// The bytes of the two buffers, whatever the pitch.
    pub(super) fn most_shared(&self, module: &TilesModule, filter: Size) -> usize {
        let [rows, columns] = [0, 1].map(|i| self.patches[i] * module.patch[i] + filter[i] - 1);
        2 * (rows + module.banks() - 1) * columns * module.element()
    }
}

/// The chip that a launch is laid out for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chip {
    pub(super) multiprocessors: usize,
    /// Whether it is one of those that were measured.
    pub(super) measured: bool,
}

impl Chip {
    /// How many times as long multiply-adds take as on the chip that was measured. Others are taken for the slowest
    /// there are, with a thirty-second of the units for doubles and half of those for singles: what is faster there,
    /// although it computes some outputs twice, is so on all.
    fn slower(self, is_float: bool) -> f64 {
        match (self.measured, is_float) {
            (true, _) => 1.0,
            (false, true) => 2.0,
            (false, false) => 32.0,
        }
    }

    /// The shared memory that a block may ask for, and what a multiprocessor has, in bytes; and the threads that it
    /// holds. Those of other chips are the least that there are.
    pub(super) fn room(self) -> (usize, usize, usize) {
        if self.measured { (226 << 10, 228 << 10, 2048) } else { (SHARED_EVERYWHERE, 64 << 10, 1024) }
    }
}

/// How an image is cut along a dimension, for a halo of `reach` on either side: the samples that a region of at most so
/// many patches holds, and how many regions there are.
fn cut(count: usize, most: usize, patch: usize, reach: usize, circular: bool) -> Option<(usize, usize)> {
    let whole = |held: usize| held.next_multiple_of(patch);
    if !circular && most * patch >= count {
        return Some((count, 1));
    }
    // The outputs of a region that has an edge on both sides; the first and the last have more.
    let step = (most * patch).checked_sub(2 * reach).filter(|&step| step > 0)?;
    let at_ends = if circular { 0 } else { 2 * reach };
    // As many regions as are needed, and then as small as they may be.
    let tiles = (count - at_ends).div_ceil(step).max(1);
    let held = whole((count - at_ends).div_ceil(tiles) + 2 * reach);
    let held = if circular { held } else { held.min(count) };
    Some((held, (count - at_ends).div_ceil(held - 2 * reach).max(1)))
}

impl TilesModule {
    /// What the catalogue says.
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

    /// The modules that sweep by a filter of this size.
    pub(super) fn all_of<T: Element>(filter: Size) -> impl Iterator<Item = &'static TilesModule> {
        let [height, width, depth] = filter;
        let fits = depth == 1 && height.min(width) > 1 && height.max(width) <= MOST_ENTRIES;
        let size = if height == width { height } else { 0 };
        MODULES.iter().filter(move |module| fits && module.size == size && module.is_float == (T::NAME == f32::NAME))
    }

    /// How many multiply-adds an output takes, against those of the filter that the module was measured with.
    fn share(&self, [height, width, _]: Size) -> f64 {
        if self.size == 0 { (height * width) as f64 / 15.0 } else { 1.0 }
    }

    /// Bytes of an element, and the elements that shared memory gives at once.
    pub(super) fn element(&self) -> usize {
        if self.is_float { size_of::<f32>() } else { size_of::<f64>() }
    }

    pub(super) fn banks(&self) -> usize {
        128 / self.element()
    }

    /// How long a single sweep takes by the kernels for that, in microseconds; on a chip that was not measured at least
    /// so long.
    pub(super) fn single_sweep(&self, size: Size, filter: Size, chip: Chip) -> f64 {
        let share = self.share(filter);
        let sweep = if self.size == 0 { self.sweep * (1.0 + share) / 2.0 } else { self.sweep };
        let millions = size.iter().product::<usize>() as f64 / 1e6 * MEASURED_ON / chip.multiprocessors as f64;
        if chip.measured {
            let work = self.million * share;
            sweep + millions * if self.size == 0 && !self.is_float { work.min(ON_TENSOR_CORES) } else { work }
        } else {
            // As the patches of this kernel that have nothing else to wait for.
            let outputs = (LANES * self.patch[0] * self.patch[1]) as f64;
            let work = self.warp * share * chip.slower(self.is_float) * millions * 1e6 / outputs / MEASURED_ON;
            work.max(sweep / QUICKEST)
        }
    }

    /// The layout for so many sweeps at once that takes least time.
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

    /// The layout with regions of at most so many patches.
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
        if down.saturating_mul(across) > MOST_TILES || blocks > MOST_BLOCKS || shared > most_shared {
            return None;
        }
        let at_once = (room / (shared + SHARED_BESIDE)).min(REGISTERS / (threads * self.registers));
        let at_once = at_once.min(most_threads / threads).min(RESIDENT_BLOCKS);
        if at_once == 0 {
            return None;
        }
        // Of what a region has, what counts for its outputs: less and less towards the last sweep.
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
