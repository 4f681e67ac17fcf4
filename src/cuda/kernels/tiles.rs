//! Several sweeps of a filter over small images that lie on the device, in each launch: `cuda/sweeps_tiles.cu`.
//!
//! A launch costs some microseconds, and a sweep over a small image takes less. The kernel gives the bits of single
//! sweeps. It is for every chip, and used where a [model](Kind) says that it is faster than what else there is.

use std::collections::VecDeque;
use std::sync::{Mutex, TryLockError};

use bytemuck::{Pod, Zeroable};
use cudarc::driver::sys;

use super::super::Element;
use super::super::cut::Size;
use super::super::module::{Function, Modules, Shape, launch};
use super::several::{Several, SeveralPlan};
use super::{
    Area, CAPABILITY, CIRCULAR, EndsArgument, LoadOnce, Loaded, MEASURED_ON, MIRROR, Plan, REPLICATE, SYMMETRIC,
    images, word,
};
use crate::stencil::{Ends, Error, Filter, Sides};

/// The most rows, and columns, of a filter.
const MOST_ENTRIES: usize = 7;

/// How many sweeps a launch may do.
const SWEEPS: [usize; 10] = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16];

/// The patches of a region below each other, and the threads of a block, that are tried.
const PATCHES_DOWN: [usize; 5] = [8, 12, 16, 24, 32];
const THREADS: [usize; 6] = [96, 128, 192, 256, 384, 512];

/// Threads of a warp.
const LANES: usize = 32;

/// The shared memory that a block takes beside what it asks for, in bytes.
const SHARED_BESIDE: usize = 1 << 10;

/// The shared memory that a block may ask for on every chip.
const SHARED_EVERYWHERE: usize = 48 << 10;

/// The registers of a multiprocessor, and the most blocks that it holds.
const REGISTERS: usize = 64 << 10;
const RESIDENT_BLOCKS: usize = 16;

/// The tiles of an image, and those of a launch, that the kernel can count.
const MOST_TILES: usize = 1 << 16;
const MOST_BLOCKS: usize = 1 << 30;

/// The most rows or columns of an image.
const MOST_PLACES: usize = 1 << 28;

/// A module, and what is known of it before it is loaded.
///
/// A launch takes [`LAUNCH`], and its blocks, as many at a time as multiprocessors hold, take `load` and `load_of_warp`
/// for each warp of the multiprocessor, and then for each sweep `latency` and `warp` for each warp that has something to
/// do. All in microseconds, fitted to some thousand layouts on an H200 (BENCHMARKS.md): what it chooses was at most a
/// tenth slower than the fastest of them up to 1024 x 1024.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    single: bool,
    /// Rows and columns of the filter; 0 for any up to [`MOST_ENTRIES`].
    size: usize,
    /// Rows and columns of a thread's patch.
    patch: [usize; 2],
    /// The most threads of a block, and the registers of each.
    threads: usize,
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

/// Measured on an H200, with driver 580: the general modules with 3 x 5, then those for square filters.
const KINDS: [Kind; 10] = [
    kind("sweeps_tiles_float", true, 0, [3, 4], [512, 64], [0.25, 0.061, 0.635, 0.0682], [11.5, 3.0]),
    kind("sweeps_tiles_double", false, 0, [3, 3], [512, 80], [0.35, 0.065, 0.594, 0.0808], [12.0, 5.0]),
    kind("sweeps_tiles_float_03", true, 3, [3, 4], [512, 80], [0.64, 0.033, 0.109, 0.0320], [6.0, 2.0]),
    kind("sweeps_tiles_float_05", true, 5, [3, 4], [512, 128], [0.11, 0.079, 0.317, 0.0613], [6.4, 2.3]),
    kind("sweeps_tiles_float_07", true, 7, [3, 4], [512, 128], [0.0, 0.126, 0.550, 0.0959], [7.0, 3.0]),
    kind("sweeps_tiles_double_03", false, 3, [3, 3], [512, 112], [0.48, 0.069, 0.114, 0.0353], [4.4, 3.5]),
    kind("sweeps_tiles_double_05", false, 5, [3, 3], [512, 128], [0.35, 0.035, 0.330, 0.0971], [7.0, 3.5]),
    kind("sweeps_tiles_double_07", false, 7, [3, 3], [256, 176], [0.0, 0.174, 0.672, 0.0878], [7.9, 4.0]),
    kind("sweeps_tiles_double_03_large", false, 3, [5, 4], [256, 128], [0.22, 0.254, 0.268, 0.0542], [4.4, 3.5]),
    kind("sweeps_tiles_double_07_large", false, 7, [5, 4], [256, 248], [0.0, 0.231, 1.059, 0.2573], [7.9, 4.0]),
];

const fn kind(
    name: &'static str,
    single: bool,
    size: usize,
    patch: [usize; 2],
    [threads, registers]: [usize; 2],
    [load, load_of_warp, latency, warp]: [f64; 4],
    [sweep, million]: [f64; 2],
) -> Kind {
    Kind { name, single, size, patch, threads, registers, load, load_of_warp, latency, warp, sweep, million }
}

/// What stands beyond the ends of the rows, and of the columns: each a boundary as the kernels call it. Constants of any
/// number are one.
type Beyond = [[u32; 2]; 2];

/// Along which of the two an image goes round.
fn round(beyond: Beyond) -> [bool; 2] {
    beyond.map(|ends| ends.contains(&CIRCULAR))
}

/// What stands beyond the rows and the columns of an image, as far as a filter sees it: along a dimension in which it is
/// one entry wide nothing does, and that has what the other one has.
fn seen<T: Element>(sides: &Sides<T>, [height, width, _]: Size) -> [Ends<T>; 2] {
    [sides[usize::from(height == 1)], sides[usize::from(width > 1)]]
}

/// How one launch is laid out: see `struct Launch` of `cuda/sweeps_tiles.cuh`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tiling {
    sweeps: usize,
    /// Down and across, as all that follow.
    region: [usize; 2],
    tiles: [usize; 2],
    patches: [usize; 2],
    /// How long a sweep takes, in microseconds.
    time: f64,
}

impl Tiling {
    fn threads(&self) -> usize {
        (self.patches[0] * self.patches[1]).next_multiple_of(LANES)
    }

    fn blocks(&self, pages: usize) -> usize {
        self.tiles[0].saturating_mul(self.tiles[1]).saturating_mul(pages)
    }

    /// How far the columns of a buffer are apart, and the elements of one. Neighbouring threads read places that are a
    /// patch's rows apart, an odd number: that goes on from a column of patches to the next one if the pitch is right,
    /// or nearly so, and then no two of them need the same bank.
    fn buffer(&self, kind: &Kind, filter: Size) -> (usize, usize) {
        let banks = kind.banks() as isize;
        let [rows, columns] = [0, 1].map(|i| self.patches[i] * kind.patch[i] + filter[i] - 1);
        let off = |pitch: usize| {
            let off = (kind.patch[1] * pitch) as isize - (self.patches[0] * kind.patch[0]) as isize;
            off.rem_euclid(banks).min((-off).rem_euclid(banks))
        };
        let pitch = (rows..rows + kind.banks()).min_by_key(|&pitch| off(pitch)).unwrap_or(rows);
        (pitch, pitch * columns)
    }

    /// The bytes of the two buffers, whatever the pitch.
    fn most_shared(&self, kind: &Kind, filter: Size) -> usize {
        let [rows, columns] = [0, 1].map(|i| self.patches[i] * kind.patch[i] + filter[i] - 1);
        2 * (rows + kind.banks() - 1) * columns * kind.element()
    }
}

/// The chip that a launch is laid out for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Chip {
    multiprocessors: usize,
    /// Whether it is one of those that were measured.
    measured: bool,
}

impl Chip {
    /// How many times as long multiply-adds take as on the chip that was measured. Others are taken for the slowest
    /// there are, with a thirty-second of the units for doubles and half of those for singles: what is faster there,
    /// although it computes some outputs twice, is so on all.
    fn slower(self, single: bool) -> f64 {
        match (self.measured, single) {
            (true, _) => 1.0,
            (false, true) => 2.0,
            (false, false) => 32.0,
        }
    }

    /// The shared memory that a block may ask for, and what a multiprocessor has, in bytes; and the threads that it
    /// holds. Those of other chips are the least that there are.
    fn room(self) -> (usize, usize, usize) {
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
    let beyond = if circular { 0 } else { 2 * reach };
    // As many regions as are needed, and then as small as they may be.
    let tiles = (count - beyond).div_ceil(step).max(1);
    let held = whole((count - beyond).div_ceil(tiles) + 2 * reach);
    let held = if circular { held } else { held.min(count) };
    Some((held, (count - beyond).div_ceil(held - 2 * reach).max(1)))
}

impl Kind {
    /// Those for a filter.
    fn all_of<T: Element>(filter: Size) -> impl Iterator<Item = &'static Kind> {
        let [height, width, depth] = filter;
        let fits = depth == 1 && height.max(width) <= MOST_ENTRIES && height * width > 1;
        let own = height == width && height > 1;
        let size = if own { height } else { 0 };
        KINDS.iter().filter(move |kind| fits && kind.size == size && kind.single == (T::NAME == f32::NAME))
    }

    /// How many multiply-adds an output takes, against those of the filter that the module was measured with.
    fn share(&self, [height, width, _]: Size) -> f64 {
        if self.size == 0 { (height * width) as f64 / 15.0 } else { 1.0 }
    }

    /// Bytes of an element, and the elements that shared memory gives at once.
    fn element(&self) -> usize {
        if self.single { size_of::<f32>() } else { size_of::<f64>() }
    }

    fn banks(&self) -> usize {
        128 / self.element()
    }

    /// How long a single sweep takes by the kernels for that, in microseconds; on a chip that was not measured at least
    /// so long.
    fn single_sweep(&self, size: Size, filter: Size, chip: Chip) -> f64 {
        let share = self.share(filter);
        let sweep = if self.size == 0 { self.sweep * (1.0 + share) / 2.0 } else { self.sweep };
        let millions = size.iter().product::<usize>() as f64 / 1e6 * MEASURED_ON / chip.multiprocessors as f64;
        if chip.measured {
            let work = self.million * share;
            sweep + millions * if self.size == 0 && !self.single { work.min(ON_TENSOR_CORES) } else { work }
        } else {
            // As the patches of this kernel that have nothing else to wait for.
            let outputs = (LANES * self.patch[0] * self.patch[1]) as f64;
            let work = self.warp * share * chip.slower(self.single) * millions * 1e6 / outputs / MEASURED_ON;
            work.max(sweep / QUICKEST)
        }
    }

    /// The layout for so many sweeps at once that takes least time.
    fn tiling(&self, size: Size, filter: Size, beyond: Beyond, sweeps: usize, chip: Chip) -> Option<Tiling> {
        let shapes = PATCHES_DOWN.iter().flat_map(|&down| THREADS.map(|threads| (down, threads)));
        let shapes = shapes.filter(|&(down, threads)| threads <= self.threads && down <= threads);
        let tilings = shapes
            .filter_map(|(down, threads)| self.tiling_of(size, filter, beyond, sweeps, chip, [down, threads / down]));
        tilings.min_by(|a, b| a.time.total_cmp(&b.time))
    }

    /// The layout with regions of at most so many patches.
    fn tiling_of(
        &self,
        [rows, columns, pages]: Size,
        filter: Size,
        beyond: Beyond,
        sweeps: usize,
        chip: Chip,
        most: [usize; 2],
    ) -> Option<Tiling> {
        let [above, aside] = [filter[0] / 2, filter[1] / 2];
        let round = round(beyond);
        let (region_rows, down) = cut(rows, most[0], self.patch[0], sweeps * above, round[0])?;
        let (region_columns, across) = cut(columns, most[1], self.patch[1], sweeps * aside, round[1])?;
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
                let outputs = if tiles == 1 && !round[i] { held } else { held - 2 * sweeps * radius };
                (outputs + 2 * left * radius + self.patch[i] - 1).min(held) as f64
            };
            along(0, down, above) * along(1, across, aside)
        };
        let all = (patches[0] * self.patch[0] * patches[1] * self.patch[1]) as f64;
        let useful = (counted(0) + 4.0 * counted((sweeps - 1) / 2) + counted(sweeps - 1)) / (6.0 * all);
        let warps = threads as f64 / LANES as f64;
        let share = self.share(filter) * chip.slower(self.single);
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

/// What layouts are searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Task {
    single: bool,
    size: Size,
    filter: Size,
    beyond: Beyond,
    sweeps: usize,
    chip: Chip,
}

/// The last searches, which take some tens of microseconds each, and what they found: scripts do the same again and
/// again.
struct Searches(Mutex<VecDeque<(Task, Option<Tilings>)>>);

static SEARCHES: Searches = Searches(Mutex::new(VecDeque::new()));

impl Searches {
    /// How many are kept.
    const KEPT: usize = 16;

    /// What a search finds, or found. Nobody waits for the lock: a search does without.
    fn get(&self, task: Task, search: impl FnOnce() -> Option<Tilings>) -> Option<Tilings> {
        let lock = || match self.0.try_lock() {
            Ok(searches) => Some(searches),
            Err(TryLockError::Poisoned(searches)) => Some(searches.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let known = lock().and_then(|searches| Some(searches.iter().find(|(other, _)| *other == task)?.1.clone()));
        known.unwrap_or_else(|| {
            let found = search();
            if let Some(mut searches) = lock() {
                searches.truncate(Searches::KEPT - 1);
                searches.push_front((task, found.clone()));
            }
            found
        })
    }
}

/// The layouts for an array, by the number of sweeps that a launch does.
#[derive(Debug, Clone)]
pub(super) struct Tilings {
    kind: &'static Kind,
    each: Vec<Tiling>,
}

impl Tilings {
    /// Those that are faster than what else there is for so many sweeps; `None` where another kernel is faster.
    pub(super) fn of<T: Element>(modules: &Modules, area: &Area<T>, filter: &Filter<T>) -> Option<Tilings> {
        if !area.is_swept() {
            return None;
        }
        let size = area.tile.size();
        let device = modules.device()?;
        let multiprocessors = device.multiprocessors.max(1) as usize;
        let chip = Chip { multiprocessors, measured: device.capability == CAPABILITY };
        let filter = filter.size();
        let beyond = seen(&area.sides, filter).map(|ends| ends.both().map(word));
        let task = Task { single: T::NAME == f32::NAME, size, filter, beyond, sweeps: area.sweeps, chip };
        SEARCHES.get(task, || Tilings::fastest::<T>(&task))
    }

    /// The same, searched for.
    fn fastest<T: Element>(task: &Task) -> Option<Tilings> {
        let &Task { size, filter, beyond, sweeps, chip, .. } = task;
        let kinds = Kind::all_of::<T>(filter);
        let found = kinds.filter_map(|kind| Tilings::found(kind, size, filter, beyond, sweeps, chip));
        let timed = found.filter_map(|tilings| Some((tilings.least(sweeps)?.time, tilings)));
        let (time, tilings) = timed.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let images = || images::time_of_a_sweep::<T>(filter, size, beyond, sweeps, chip.multiprocessors);
        let faster = !chip.measured || images().is_none_or(|images| time < images);
        faster.then_some(tilings)
    }

    /// Those that are faster than single sweeps.
    fn found(
        kind: &'static Kind,
        size: Size,
        filter: Size,
        beyond: Beyond,
        sweeps: usize,
        chip: Chip,
    ) -> Option<Tilings> {
        let [rows, columns, _] = size;
        // An end that mirrors takes what it needs from the image once.
        let mirrors = (0..2).all(|i| {
            let least = |end| match end {
                SYMMETRIC => filter[i] / 2,
                MIRROR => filter[i] / 2 + 1,
                _ => 0,
            };
            beyond[i].into_iter().all(|end| size[i] >= least(end))
        });
        if !mirrors || rows.max(columns) > MOST_PLACES {
            return None;
        }
        let mut least = kind.single_sweep(size, filter, chip);
        let single = least;
        let mut each = Vec::new();
        for at_once in SWEEPS.into_iter().take_while(|&at_once| at_once <= sweeps) {
            let Some(tiling) = kind.tiling(size, filter, beyond, at_once, chip) else { break };
            // From some number on it only becomes worse.
            if tiling.time > 1.25 * least {
                break;
            }
            least = least.min(tiling.time);
            if tiling.time < single {
                each.push(tiling);
            }
        }
        (!each.is_empty()).then_some(Tilings { kind, each })
    }

    /// The one that takes least time for a sweep where so many are left.
    fn least(&self, sweeps: usize) -> Option<&Tiling> {
        let fits = self.each.iter().filter(|tiling| tiling.sweeps <= sweeps);
        fits.min_by(|a, b| a.time.total_cmp(&b.time))
    }
}

/// What a place beyond an end of a region stands for: `struct Repeated` of `cuda/sweeps_tiles.cuh`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Repeated {
    first: i32,
    turns: i32,
}

impl Repeated {
    /// Of both ends of a region that holds so many samples.
    fn both([low, high]: [u32; 2], held: usize) -> [Repeated; 2] {
        let of = |end, replicated, included| match end {
            REPLICATE => Repeated { first: replicated, turns: 0 },
            SYMMETRIC => Repeated { first: included, turns: -1 },
            MIRROR => Repeated { first: 2 * replicated, turns: -1 },
            _ => Repeated { first: 0, turns: 1 },
        };
        let held = held as i32;
        [of(low, 0, -1), of(high, held - 1, 2 * held - 1)]
    }
}

/// The argument of the kernel: `struct Launch` of `cuda/sweeps_tiles.cuh`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Argument {
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    /// Of rows and of columns, as `repeated`.
    ends: [EndsArgument; 2],
    repeated: [[Repeated; 2]; 2],
    rows: i32,
    columns: i32,
    region: [i32; 2],
    tiles: [i32; 2],
    patches: [i32; 2],
    pitch: i32,
    buffer: i32,
    sweeps: i32,
    height: i32,
    width: i32,
    tiles_turn: u32,
    patches_turn: u32,
    unused: i32,
}

/// How several sweeps of a convolution over a whole array are launched. `single` is how single ones are.
///
/// # Errors
/// The driver's.
pub(super) fn plan<'a, T: Element>(
    loaded: &'a LoadOnce,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
    tilings: Tilings,
    single: Box<dyn Plan<T> + 'a>,
) -> Result<Box<dyn Plan<T> + 'a>, Error> {
    let entries = (c"F", bytemuck::cast_slice(filter.values()));
    let Loaded { function, module } = loaded.get(modules, area.queued, tilings.kind.name, entries, c"sweeps_tiles")?;
    let shared = tilings.each.iter().map(|tiling| tiling.most_shared(tilings.kind, filter.size())).max();
    if let Some(bytes) = shared.filter(|&bytes| bytes > SHARED_EVERYWHERE) {
        function.allow_shared(bytes)?;
    }
    let launches = Launches {
        function,
        tilings,
        size: area.tile.size(),
        filter: filter.size(),
        ends: seen(&area.sides, filter.size()).map(EndsArgument::new),
    };
    Ok(Box::new(SeveralPlan { single_sweeps: single, pace: module.pace(area.shared), launches }))
}

/// The launches over an array.
struct Launches<'a> {
    function: &'a Function,
    tilings: Tilings,
    size: Size,
    filter: Size,
    /// Of rows and of columns.
    ends: [EndsArgument; 2],
}

impl Several for Launches<'_> {
    type Layout = Tiling;

    fn fastest(&self, sweeps: usize) -> Option<(usize, &Tiling)> {
        self.tilings.least(sweeps).map(|tiling| (tiling.sweeps, tiling))
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        tiling: &Tiling,
        buffers: [sys::CUdeviceptr; 2],
        _: bool,
    ) -> Result<(), Error> {
        let [rows, columns, pages] = self.size;
        let (pitch, buffer) = tiling.buffer(self.tilings.kind, self.filter);
        let pairs = [tiling.region, tiling.tiles, tiling.patches];
        let [region, tiles, patches] = pairs.map(|pair| pair.map(|number| number as i32));
        let turn = |divisor: usize| (1_u64 << 32).div_ceil(divisor as u64) as u32;
        let argument = Argument {
            input: buffers[0],
            output: buffers[1],
            ends: self.ends,
            repeated: [0, 1].map(|i| Repeated::both(self.ends[i].boundary, tiling.region[i])),
            rows: rows as i32,
            columns: columns as i32,
            region,
            tiles,
            patches,
            pitch: pitch as i32,
            buffer: buffer as i32,
            sweeps: tiling.sweeps as i32,
            height: self.filter[0] as i32,
            width: self.filter[1] as i32,
            tiles_turn: turn(tiling.tiles[0]),
            patches_turn: turn(tiling.patches[0]),
            unused: 0,
        };
        let shape = Shape::prepared(tiling.blocks(pages), tiling.threads(), 2 * buffer * self.tilings.kind.element())?;
        // SAFETY: the kernel reads the array's samples, and writes its outputs, at addresses where the caller has as
        // many.
        unsafe { launch(self.function, stream, shape, &argument) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::archive;
    use super::super::super::module::tests::{argument_bytes, constant_of};
    use super::super::CONSTANT;
    use super::*;
    use crate::stencil::Boundary;

    const MEASURED: Chip = Chip { multiprocessors: 132, measured: true };

    /// The same boundary on all sides.
    const fn all(boundary: u32) -> Beyond {
        [[boundary; 2]; 2]
    }

    /// Sides that are not all the same.
    const MIXED: [Beyond; 6] = [
        [[CIRCULAR; 2], [CONSTANT; 2]],
        [[MIRROR, SYMMETRIC], [CIRCULAR; 2]],
        [[CONSTANT, MIRROR], [REPLICATE, CONSTANT]],
        [[SYMMETRIC, CONSTANT], [MIRROR, REPLICATE]],
        [[CIRCULAR; 2], [CONSTANT, MIRROR]],
        [[REPLICATE, SYMMETRIC], [CONSTANT; 2]],
    ];

    /// Each boundary on all sides, and those.
    fn beyonds() -> impl Iterator<Item = Beyond> {
        (CONSTANT..=MIRROR).map(all).chain(MIXED)
    }

    #[test]
    fn the_kernels_take_this_argument() {
        for kind in &KINDS {
            assert_eq!(argument_bytes(kind.name, "sweeps_tiles"), size_of::<Argument>(), "{}", kind.name);
        }
    }

    /// What is known of a module before it is loaded is what it tells.
    #[test]
    fn the_table_is_right() {
        for kind in &KINDS {
            let ptx = archive::ptx(kind.name).unwrap().into_string().unwrap();
            let constant = |name: &str| constant_of(kind.name, name);
            let told = ["patch_rows", "patch_columns", "most_threads"].map(constant);
            assert_eq!(told, [kind.patch[0], kind.patch[1], kind.threads], "{}", kind.name);
            assert!(ptx.contains(".target sm_60\n"), "{}", kind.name);
            // Neighbouring threads are to read from all banks.
            assert!(kind.patch[0] % 2 == 1, "{}", kind.name);
        }
    }

    /// Ends along which a filter is one entry wide count for nothing; nor do constants, to a search.
    #[test]
    fn sides_that_no_output_sees_are_not_looked_at() {
        let pair = |low, high| Ends::new(low, high).unwrap();
        let rows = pair(Boundary::Mirror, Boundary::Constant(3.0));
        let columns = pair(Boundary::Constant(-1.0), Boundary::Replicate);
        let sides = [rows, columns, Boundary::Circular.into()].into();
        assert_eq!(seen(&sides, [3, 5, 1]), [rows, columns]);
        assert_eq!(seen(&sides, [7, 1, 1]), [rows; 2]);
        assert_eq!(seen(&sides, [1, 3, 1]), [columns; 2]);
    }

    /// The kernel finds in a region what the domain finds in an image of that size.
    #[test]
    fn places_stand_for_those_of_the_domain() {
        let boundaries =
            [Boundary::Constant(1.0), Boundary::Replicate, Boundary::Symmetric, Boundary::Circular, Boundary::Mirror];
        for (low, high) in boundaries.into_iter().flat_map(|low| boundaries.map(|high| (low, high))) {
            let Some(ends) = Ends::new(low, high) else { continue };
            let repeated = Repeated::both(ends.both().map(word), 5);
            for at in (-4..0).chain(5..9) {
                let Repeated { first, turns } = repeated[usize::from(at > 0)];
                // Of constants there are cells where the place is, and what goes round is loaded there.
                let own = matches!(ends.both()[usize::from(at > 0)], Boundary::Constant(_) | Boundary::Circular);
                let expected = if own { at } else { ends.sample_at(at as isize, 5).unwrap() as i32 };
                assert_eq!(first + turns * at, expected, "{at} of {ends:?}");
            }
        }
    }

    /// What the regions of a dimension write, as `struct Span` of `cuda/sweeps_tiles.cuh` has it: from each region the
    /// place of its first sample, and the samples from which and up to which it writes.
    fn written(count: isize, held: isize, tiles: isize, reach: isize, circular: bool) -> Vec<[isize; 3]> {
        let step = held - 2 * reach;
        let of = |tile: isize| {
            if circular {
                let first = tile * step - reach;
                return [first, first + reach, if tile == tiles - 1 { count } else { first + held - reach }];
            }
            let first = (tile * step).min(count - held);
            let from = if tile == 0 { 0 } else { tile * step + reach };
            [first, from, if tile == tiles - 1 { count } else { (tile + 1) * step + reach }]
        };
        (0..tiles).map(of).collect()
    }

    /// Each output is written once, by a region whose samples it can be computed from.
    fn check_cut(count: usize, (held, tiles): (usize, usize), reach: usize, circular: bool, what: &str) {
        let [count, held, reach] = [count, held, reach].map(|number| number as isize);
        let mut next = 0;
        for [first, from, to] in written(count, held, tiles as isize, reach, circular) {
            assert!(from == next && from < to, "{what}: {from}..{to} behind {next}");
            let low = first + if !circular && first == 0 { 0 } else { reach };
            let high = first + held - if !circular && first + held == count { 0 } else { reach };
            assert!(low <= from && to <= high, "{what}: {from}..{to} of {low}..{high}");
            assert!(circular || (first >= 0 && first + held <= count), "{what}");
            next = to;
        }
        assert_eq!(next, count, "{what}");
    }

    /// Each launch is one that the kernel is made for, whatever the array.
    #[test]
    fn tilings_are_what_the_kernel_can_do() {
        let mut found = 0;
        for kind in &KINDS {
            let filters =
                if kind.size == 0 { vec![[1, 7, 1], [3, 5, 1], [7, 1, 1]] } else { vec![[kind.size, kind.size, 1]] };
            for rows in [1, 2, 5, 12, 47, 48, 49, 100, 256, 1000, 4097, 1 << 20] {
                for columns in [1, 3, 64, 65, 700, 5000] {
                    for (beyond, pages) in beyonds().zip([1, 3, 1, 200].into_iter().cycle()) {
                        for (filter, chip) in filters.iter().flat_map(|&filter| {
                            [MEASURED, Chip { multiprocessors: 5, measured: false }].map(|chip| (filter, chip))
                        }) {
                            let size = [rows, columns, pages];
                            for tiling in SWEEPS.iter().filter_map(|&n| kind.tiling(size, filter, beyond, n, chip)) {
                                found += 1;
                                check(kind, &tiling, size, filter, beyond, chip);
                            }
                        }
                    }
                }
            }
        }
        assert!(found > 1000, "{found}");
    }

    fn check(kind: &Kind, tiling: &Tiling, size: Size, filter: Size, beyond: Beyond, chip: Chip) {
        let what = format!("{tiling:?} for {size:?}, {filter:?}, {beyond:?}, {}", kind.name);
        for i in 0..2 {
            let reach = tiling.sweeps * (filter[i] / 2);
            check_cut(size[i], (tiling.region[i], tiling.tiles[i]), reach, round(beyond)[i], &what);
            assert_eq!(tiling.patches[i], tiling.region[i].div_ceil(kind.patch[i]), "{what}");
        }
        assert!(tiling.threads() <= kind.threads && tiling.time > 0.0, "{what}");
        let (pitch, buffer) = tiling.buffer(kind, filter);
        assert!(pitch >= tiling.patches[0] * kind.patch[0] + filter[0] - 1, "{what}");
        let bytes = 2 * buffer * kind.element();
        assert!(bytes <= tiling.most_shared(kind, filter) && bytes <= chip.room().0, "{what}");
        assert!(tiling.tiles[0] * tiling.tiles[1] <= MOST_TILES && tiling.blocks(size[2]) <= MOST_BLOCKS, "{what}");
    }

    /// Where columns of patches can follow each other without conflicts, the threads of a warp read each bank once.
    #[test]
    fn neighbours_read_other_banks() {
        for kind in &KINDS {
            let filter = if kind.size == 0 { [3, 5, 1] } else { [kind.size, kind.size, 1] };
            for down in [8, 12, 16, 24, 32] {
                let patches = [down, 8];
                let region = [0, 1].map(|i| patches[i] * kind.patch[i]);
                let tiling = Tiling { sweeps: 2, region, tiles: [1, 1], patches, time: 1.0 };
                let (pitch, _) = tiling.buffer(kind, filter);
                let bank = |thread: usize| {
                    (thread / down * kind.patch[1] * pitch + thread % down * kind.patch[0]) % kind.banks()
                };
                let mut banks: Vec<_> = (0..kind.banks()).map(bank).collect();
                banks.sort_unstable();
                banks.dedup();
                assert_eq!(banks.len(), kind.banks(), "{}, {down}", kind.name);
            }
        }
    }

    /// What was measured as faster is chosen: some sweeps at once over small images, and not over large ones.
    #[test]
    fn small_images_do_many_sweeps_a_launch() {
        for kind in &KINDS {
            let filter = if kind.size == 0 { [3, 5, 1] } else { [kind.size, kind.size, 1] };
            for beyond in beyonds() {
                let tilings = Tilings::found(kind, [256, 256, 1], filter, beyond, 400, MEASURED).unwrap();
                assert!((4..=16).contains(&tilings.least(400).unwrap().sweeps), "{tilings:?}");
                assert_eq!(tilings.least(3).unwrap().sweeps, 3, "{tilings:?}");
                assert!(tilings.least(1).is_none());
                let slow = Chip { multiprocessors: 20, measured: false };
                assert!(Tilings::found(kind, [4096, 4096, 1], filter, beyond, 400, slow).is_none(), "{}", kind.name);
                let same = |other: &&Kind| other.single == kind.single && other.size == kind.size;
                let found = |kind| Tilings::found(kind, [12, 12, 1], filter, beyond, 400, slow);
                assert!(KINDS.iter().filter(same).filter_map(found).next().is_some(), "{}", kind.name);
            }
            // An end that mirrors is not for an image in which it would see its far end.
            let [above, aside] = [filter[0] / 2, filter[1] / 2];
            for (end, beside) in [(SYMMETRIC, 0), (MIRROR, 1)] {
                let found = |size, beyond| Tilings::found(kind, size, filter, beyond, 9, MEASURED).is_some();
                for ends in [[end; 2], [CONSTANT, end], [end, REPLICATE]] {
                    let [along_rows, along_columns] = [[ends, [CONSTANT; 2]], [[CIRCULAR; 2], ends]];
                    let (rows, columns) = (above + beside, aside + beside);
                    assert!(found([rows, 40, 1], along_rows), "{}", kind.name);
                    assert!(found([40, columns, 1], along_columns), "{}", kind.name);
                    assert!(rows < 2 || !found([rows - 1, 40, 1], along_rows), "{}", kind.name);
                    assert!(columns < 2 || !found([40, columns - 1, 1], along_columns), "{}", kind.name);
                    assert!(columns < 2 || found([40, columns - 1, 1], along_rows), "{}", kind.name);
                }
            }
        }
    }

    /// The tests of the engines have each module do something.
    #[test]
    fn each_module_is_chosen_for_images_of_the_tests() {
        let chip = Chip { multiprocessors: 4, measured: true };
        let chosen = |beyond, filter, size, sweeps, single| {
            let task = Task { single, size, filter, beyond, sweeps, chip };
            let found = if single { Tilings::fastest::<f32>(&task) } else { Tilings::fastest::<f64>(&task) };
            found.map(|tilings| tilings.kind.name)
        };
        for beyond in [all(MIRROR)].into_iter().chain(MIXED) {
            let mut names = Vec::new();
            for (size, sweeps) in SMALL_IMAGES {
                for (filter, single) in [3, 5, 7].iter().flat_map(|&n| [([n, n, 1], false), ([n, n, 1], true)]) {
                    names.extend(chosen(beyond, filter, size, sweeps, single));
                }
                names.extend([false, true].iter().filter_map(|&it| chosen(beyond, [3, 5, 1], size, sweeps, it)));
            }
            for kind in &KINDS {
                assert!(names.contains(&kind.name), "{} with {beyond:?}", kind.name);
            }
        }
    }

    const SMALL_IMAGES: [(Size, usize); 9] = include!("../../../tests/engines/small_images.in");

    /// Whether the kernel of `images` does so many sweeps over an image, and not this one.
    fn goes_to_images<T: Element>(filter: Size, size: Size, boundary: u32, sweeps: usize, on: usize) -> bool {
        goes_to_images_with::<T>(filter, size, all(boundary), sweeps, on)
    }

    /// The same with a boundary for each side.
    fn goes_to_images_with<T: Element>(filter: Size, size: Size, beyond: Beyond, sweeps: usize, on: usize) -> bool {
        let chip = Chip { multiprocessors: on, measured: true };
        let task = Task { single: T::NAME == f32::NAME, size, filter, beyond, sweeps, chip };
        let images = images::time_of_a_sweep::<T>(filter, size, beyond, sweeps, on);
        images.is_some() && Tilings::fastest::<T>(&task).is_none()
    }

    /// What was found is found again, and for nothing else.
    #[test]
    fn searches_are_kept() {
        let chip = Chip { multiprocessors: 77, measured: true };
        let (filter, beyond) = ([3, 3, 1], MIXED[0]);
        let task = |rows| Task { single: false, size: [rows, 50, 1], filter, beyond, sweeps: 9, chip };
        let searches = Searches(Mutex::default());
        for rows in 50..50 + 2 * Searches::KEPT {
            let found = searches.get(task(rows), || Tilings::fastest::<f64>(&task(rows)));
            let again = searches.get(task(rows), || panic!("searched again"));
            assert_eq!(found.map(|tilings| tilings.each), again.map(|tilings| tilings.each));
            for other in [Task { sweeps: 1, ..task(rows) }, Task { beyond: MIXED[4], ..task(rows) }] {
                let mut searched = false;
                searches.get(other, || {
                    searched = true;
                    None
                });
                assert!(searched);
            }
        }
        assert_eq!(searches.0.lock().unwrap().len(), Searches::KEPT);
    }

    #[test]
    fn large_images_are_left_to_other_kernels() {
        for filter in OF_IMAGES {
            for boundary in 0..4 {
                let size = [8192, 8192, 1];
                assert!(goes_to_images::<f64>(filter, size, boundary, 200, 132), "{filter:?}, {boundary}");
                assert!(goes_to_images::<f32>(filter, size, boundary, 200, 132), "{filter:?}, {boundary}");
                let small = [256, 256, 1];
                assert!(!goes_to_images::<f64>(filter, small, boundary, 200, 132), "{filter:?}, {boundary}");
                assert!(!goes_to_images::<f32>(filter, small, boundary, 200, 132), "{filter:?}, {boundary}");
            }
        }
        for filter in OF_LINES {
            for boundary in 0..4 {
                assert!(goes_to_images::<f32>(filter, [8192, 8192, 1], boundary, 200, 132), "{filter:?}, {boundary}");
                assert!(!goes_to_images::<f32>(filter, [64, 64, 1], boundary, 200, 132), "{filter:?}, {boundary}");
            }
        }
        // What the tests of the engines rely on, with the multiprocessors of the stand-in for the driver.
        for (filter, rows, columns) in [
            ([3, 3, 1], 1200, 160),
            ([5, 5, 1], 680, 230),
            ([7, 7, 1], 680, 350),
            ([3, 5, 1], 680, 230),
            ([5, 3, 1], 1072, 160),
        ] {
            assert!(goes_to_images::<f64>(filter, [rows, columns, 1], 0, 4, 4), "{filter:?}");
        }
        for (filter, boundary, [rows, columns], sweeps) in IN_DOUBLE {
            assert!(goes_to_images::<f64>(filter, [rows, columns, 1], boundary, sweeps, 4), "{filter:?}, {boundary}");
        }
        for (filter, boundary, [rows, columns], sweeps) in IN_SINGLE.into_iter().chain(LINES_IN_SINGLE) {
            assert!(goes_to_images::<f32>(filter, [rows, columns, 1], boundary, sweeps, 4), "{filter:?}, {boundary}");
        }
    }

    /// So are those of the test of sides: each array goes to that kernel, whatever stands around it.
    #[test]
    fn images_of_the_test_of_sides_are_left_to_other_kernels() {
        for (in_double, filter, size, sweeps) in SIDES_IN_IMAGES {
            for beyond in beyonds().filter(|_| filter[2] == 1) {
                let goes = if in_double { goes_to_images_with::<f64> } else { goes_to_images_with::<f32> };
                assert!(goes(filter, size, beyond, sweeps, 4), "{size:?} by {filter:?}, {beyond:?}, {in_double}");
            }
        }
    }

    const SIDES_IN_IMAGES: [(bool, Size, Size, usize); 39] = include!("../../../tests/engines/sides_in_images.in");

    /// The filters that the kernel of `images` is for.
    const OF_IMAGES: [Size; 9] =
        [[3, 3, 1], [5, 5, 1], [7, 7, 1], [3, 5, 1], [5, 3, 1], [3, 7, 1], [7, 3, 1], [5, 7, 1], [7, 5, 1]];

    /// Those of one row or one column that it is for in single.
    const OF_LINES: [Size; 6] = [[1, 3, 1], [1, 5, 1], [1, 7, 1], [3, 1, 1], [5, 1, 1], [7, 1, 1]];

    /// A filter, a boundary, the rows and columns of an image, and how many sweeps.
    type Case = (Size, u32, [usize; 2], usize);

    const IN_DOUBLE: [Case; 36] = [
        ([3, 3, 1], 0, [1200, 160], 8),
        ([3, 3, 1], 1, [1201, 161], 8),
        ([3, 3, 1], 2, [1200, 160], 9),
        ([3, 3, 1], 3, [1282, 350], 8),
        ([5, 5, 1], 0, [544, 160], 4),
        ([5, 5, 1], 1, [737, 230], 4),
        ([5, 5, 1], 2, [736, 230], 8),
        ([5, 5, 1], 3, [896, 160], 4),
        ([7, 7, 1], 0, [352, 500], 4),
        ([7, 7, 1], 1, [352, 500], 4),
        ([7, 7, 1], 2, [352, 500], 4),
        ([7, 7, 1], 3, [640, 350], 4),
        ([3, 5, 1], 0, [544, 120], 4),
        ([3, 5, 1], 1, [1057, 80], 9),
        ([3, 5, 1], 2, [544, 1], 6),
        ([3, 5, 1], 3, [1193, 40], 8),
        ([5, 3, 1], 0, [544, 80], 8),
        ([5, 3, 1], 1, [721, 80], 9),
        ([5, 3, 1], 2, [545, 120], 8),
        ([5, 3, 1], 3, [1193, 40], 9),
        ([3, 7, 1], 0, [416, 160], 4),
        ([3, 7, 1], 1, [809, 80], 9),
        ([3, 7, 1], 2, [809, 80], 8),
        ([3, 7, 1], 3, [913, 80], 4),
        ([7, 3, 1], 0, [544, 80], 8),
        ([7, 3, 1], 1, [1057, 40], 9),
        ([7, 3, 1], 2, [721, 80], 8),
        ([7, 3, 1], 3, [954, 40], 8),
        ([5, 7, 1], 0, [352, 351], 4),
        ([5, 7, 1], 1, [618, 230], 6),
        ([5, 7, 1], 2, [618, 230], 8),
        ([5, 7, 1], 3, [618, 230], 9),
        ([7, 5, 1], 0, [480, 230], 4),
        ([7, 5, 1], 1, [933, 120], 6),
        ([7, 5, 1], 2, [842, 160], 8),
        ([7, 5, 1], 3, [842, 160], 9),
    ];

    const IN_SINGLE: [Case; 36] = [
        ([3, 5, 1], 0, [768, 120], 4),
        ([3, 5, 1], 1, [1057, 120], 9),
        ([3, 5, 1], 2, [1405, 80], 4),
        ([3, 5, 1], 3, [1193, 80], 8),
        ([5, 3, 1], 0, [896, 80], 8),
        ([5, 3, 1], 1, [1057, 80], 9),
        ([5, 3, 1], 2, [1193, 80], 8),
        ([5, 3, 1], 3, [1405, 40], 9),
        ([3, 7, 1], 0, [768, 160], 4),
        ([3, 7, 1], 1, [1247, 120], 9),
        ([3, 7, 1], 2, [1247, 120], 8),
        ([3, 7, 1], 3, [896, 120], 4),
        ([7, 3, 1], 0, [896, 80], 8),
        ([7, 3, 1], 1, [1057, 80], 9),
        ([7, 3, 1], 2, [896, 80], 8),
        ([7, 3, 1], 3, [1247, 80], 8),
        ([5, 7, 1], 0, [768, 120], 4),
        ([5, 7, 1], 1, [768, 120], 6),
        ([5, 7, 1], 2, [1247, 80], 8),
        ([5, 7, 1], 3, [1405, 80], 9),
        ([7, 5, 1], 0, [768, 120], 4),
        ([7, 5, 1], 1, [1057, 80], 6),
        ([7, 5, 1], 2, [1247, 80], 8),
        ([7, 5, 1], 3, [897, 80], 9),
        ([3, 3, 1], 0, [768, 230], 8),
        ([3, 3, 1], 1, [1193, 120], 9),
        ([3, 3, 1], 2, [1057, 160], 8),
        ([3, 3, 1], 3, [1247, 120], 8),
        ([5, 5, 1], 0, [768, 230], 8),
        ([5, 5, 1], 1, [1193, 120], 9),
        ([5, 5, 1], 2, [1057, 160], 8),
        ([5, 5, 1], 3, [1247, 120], 8),
        ([7, 7, 1], 0, [768, 350], 8),
        ([7, 7, 1], 1, [1193, 230], 9),
        ([7, 7, 1], 2, [1193, 230], 8),
        ([7, 7, 1], 3, [1405, 160], 8),
    ];

    const LINES_IN_SINGLE: [Case; 15] = include!("../../../tests/engines/lines_in_single.in");
}
