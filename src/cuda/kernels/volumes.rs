//! Many sweeps of a 3 x 3 x 3 or 1 x 3 x 3 filter over volumes that lie on the device, two of them in each launch:
//! `cuda/sweeps_volumes.cuh`, and in single, where tiles are whole, `cuda/sweeps_volumes_boxes.cuh`.
//!
//! The kernels give the bits of single sweeps. Chips of [`CAPABILITY`](super::CAPABILITY) load them, for volumes for
//! which they are faster by the [numbers](Kind) that were measured; what they do not do goes by single sweeps.

use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable};
use cudarc::driver::sys;

use super::super::Element;
use super::super::cut::Size;
use super::super::module::{Function, Modules, Shape, TensorMap, launch, launch_early};
use super::several::{Several, SeveralPlan};
use super::{Area, EndsArgument, LoadOnce, Loaded, MEASURED_ON, Plan, has_wide_memory, measured_multiprocessors};
use crate::stencil::{Boundary, Ends, Error, Filter, Sides};

/// The sweeps of a launch.
const SWEEPS: usize = 2;

/// Threads of a warp.
const LANES: usize = 32;

/// The slots that a run of pages takes beside those of its pages.
const BEGINNING: usize = 5;

/// A page of a volume has fewer samples, and a volume fewer tiles than the kernel can count.
const MOST_OF_PAGE: usize = 1 << 31;
const MOST_PAGES: usize = 1 << 30;

/// On a chip with narrow memory volumes of more elements come column by column.
const MOST_ON_NARROW_MEMORY: usize = 1 << 26;

/// What a launch takes beside its slots, and the same for a single sweep, in microseconds.
const LAUNCH: f64 = 3.0;

/// A module, and what is known of it before it is loaded.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    filter: Size,
    single: bool,
    /// Elements that have 16 bytes: so many rows a lane holds, and so many are copied at a time.
    rows: usize,
    /// Columns that a lane holds, lanes one below the other, which are a strip, and warps of a sweep.
    columns: usize,
    down: usize,
    warps: usize,
    /// How long a slot takes, in microseconds, where 16 bytes are copied at a time and where it is one element; and how
    /// many thousand updates a microsecond single sweeps do (BENCHMARKS.md).
    slot: [f64; 2],
    rate: f64,
    boxes: Option<Boxes>,
}

/// A module whose kernel takes pages as boxes, by tiles all of whose lanes work. It is as the others of its filter, but for
/// threads beside those that sweep, and how long a slot takes.
#[derive(Debug, Clone, Copy)]
struct Boxes {
    name: &'static str,
    helpers: usize,
    slot: f64,
}

/// Measured on an H200, with driver 580, with 512 x 512 x 512, where one element is copied at a time, too; single sweeps
/// in single are taken to be as fast as in double (with 256 x 256 x 256 they are not).
const KINDS: [Kind; 4] = [
    double("sweeps_volumes_double", [3, 3, 3], 15, [3.3, 4.0]),
    single("sweeps_volumes_float", [3, 3, 3], [2.65, 3.5]).or_in_boxes("sweeps_volumes_boxes_float", 2.35),
    double("sweeps_volumes_double_01x03x03", [1, 3, 3], 10, [2.09, 2.24]),
    single("sweeps_volumes_float_01x03x03", [1, 3, 3], [2.51, 3.3]),
];

const fn double(name: &'static str, filter: Size, columns: usize, slot: [f64; 2]) -> Kind {
    Kind { name, filter, single: false, rows: 2, columns, down: 48, warps: 6, slot, rate: 75.0, boxes: None }
}

const fn single(name: &'static str, filter: Size, slot: [f64; 2]) -> Kind {
    Kind { name, filter, single: true, rows: 4, columns: 11, down: 24, warps: 6, slot, rate: 75.0, boxes: None }
}

/// How tiles lie along rows or columns: `struct Axis` of `cuda/sweeps_volumes.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
struct Axis {
    count: i32,
    step: i32,
    lead: i32,
    more: i32,
}

impl Axis {
    /// Tiles of so many rows over so many, where tiles and what they write begin at multiples of a number.
    fn new(size: usize, height: usize, multiple: usize, circular: bool) -> Option<Axis> {
        // One tile writes all that it has.
        if height >= size && !circular {
            return Some(Axis { count: 1, step: height as i32, lead: 0, more: 0 });
        }
        let lead = multiple;
        let step = height.checked_sub(1 + lead)? / multiple * multiple;
        if step == 0 {
            return None;
        }
        // The first tile has no neighbour before it. Where tiles begin at multiples of a number, so is what they write.
        let more = if circular || multiple > 1 { 0 } else { 1 };
        let count =
            if circular { size.div_ceil(step) } else { 1 + (size + lead).checked_sub(height + more)?.div_ceil(step) };
        Some(Axis { count: count as i32, step: step as i32, lead: lead as i32, more: more as i32 })
    }
}

/// So many parts a launch has at most: `ROUNDS` there.
const ROUNDS: usize = 4;

/// Some pages of some tiles, by some of the blocks: `struct Round` there.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
struct Round {
    block: i32,
    blocks: i32,
    tile: i32,
    tiles: i32,
    page: i32,
    pages: i32,
    share: i32,
    unused: i32,
}

impl Round {
    /// Nothing.
    const NONE: Round = Round { block: 0, blocks: 0, tile: 0, tiles: 0, page: 0, pages: 0, share: 1, unused: 0 };

    /// How many runs it has, each some pages of a tile.
    fn runs(&self) -> i32 {
        self.tiles * ((self.pages + self.share - 1) / self.share)
    }
}

/// The parts of a launch, and the slots that a block takes at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Schedule {
    rounds: [Round; ROUNDS],
    slots: usize,
}

impl Schedule {
    /// Some pages of some tiles by some blocks, in so many rounds: `all` is these as one round, whose share counts for
    /// nothing. Blocks that work at a time go through the same pages, as long as there are tiles for them: where there
    /// are fewer tiles, through some ranges of pages, and the blocks that are left take the pages that are left; where
    /// there are more, tile by tile, and then all take the tiles that are left.
    fn new(all: Round, rounds: usize) -> Schedule {
        let nothing = Schedule { rounds: [Round::NONE; ROUNDS], slots: 0 };
        let Round { block, blocks, tile, tiles, page, pages, .. } = all;
        if tiles == 0 || pages == 0 {
            return nothing;
        }
        let one = |round: Round, slots: usize| {
            let mut rounds = nothing.rounds;
            rounds[0] = round;
            Schedule { rounds, slots }
        };
        let ranges = blocks / tiles;
        if ranges == 0 {
            let turns = (tiles / blocks) as usize;
            let left = tiles % blocks;
            let slots = pages as usize + BEGINNING;
            let plain = one(Round { share: pages, ..all }, (turns + usize::from(left > 0)) * slots);
            if left == 0 || rounds == 1 {
                return plain;
            }
            let first = one(Round { tiles: tiles - left, share: pages, ..all }, turns * slots);
            let others = Schedule::new(Round { tile: tile + tiles - left, tiles: left, ..all }, rounds - 1);
            return plain.or(first.then(&others, turns * slots + others.slots));
        }
        let busy = ranges * tiles;
        // Ranges of so many pages each, by as many blocks.
        let ranged = |share: i32| {
            let pages = pages.min(share.saturating_mul(ranges));
            one(Round { blocks: busy, pages, share, ..all }, share as usize + BEGINNING)
        };
        let (mut least, mut most) = (1, (pages - 1) / ranges + 1);
        let mut best = ranged(most);
        while rounds > 1 && busy < blocks && least < most {
            let share = least + (most - least) / 2;
            let first = ranged(share);
            let taken = first.rounds[0].pages;
            let left =
                Round { block: block + busy, blocks: blocks - busy, page: page + taken, pages: pages - taken, ..all };
            let others = Schedule::new(left, rounds - 1);
            if others.slots <= first.slots {
                best = first.then(&others, first.slots);
                most = share;
            } else {
                least = share + 1;
            }
        }
        best
    }

    /// The one that takes fewer slots.
    fn or(self, other: Schedule) -> Schedule {
        if other.slots < self.slots { other } else { self }
    }

    /// The first round, and those of another behind it, which are fewer than there may be.
    fn then(&self, others: &Schedule, slots: usize) -> Schedule {
        let mut rounds = self.rounds;
        rounds[1..].copy_from_slice(&others.rounds[..ROUNDS - 1]);
        Schedule { rounds, slots }
    }

    /// The blocks that it takes.
    fn blocks(&self) -> usize {
        self.rounds.iter().map(|round| round.block + round.blocks.min(round.runs())).max().unwrap_or(0) as usize
    }
}

/// How one launch is laid out: see `struct Launch` there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    down: Axis,
    across: Axis,
    lanes: usize,
    strips: usize,
    schedule: Schedule,
}

impl Kind {
    const fn or_in_boxes(self, name: &'static str, slot: f64) -> Kind {
        Kind { boxes: Some(Boxes { name, helpers: 4 * LANES, slot }), ..self }
    }

    fn of<T: Element>(filter: Size) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.filter == filter && kind.single == (T::NAME == f32::NAME))
    }

    /// The layout for two sweeps on so many multiprocessors, with so many elements copied at a time, if there is one;
    /// `round` says whether rows go round, and columns.
    fn layout(&self, size: Size, round: [bool; 2], at_once: usize, multiprocessors: usize) -> Option<Layout> {
        let [rows, columns, pages] = size;
        if rows.checked_mul(columns).is_none_or(|page| page >= MOST_OF_PAGE) || pages >= MOST_PAGES {
            return None;
        }
        if rows % at_once != 0 {
            return None;
        }
        // As many lanes as have rows of their own, and strips as have columns.
        let most_strips = self.strips();
        let lanes = if round[0] { self.down } else { self.down.min(rows / self.rows) };
        let strips = if round[1] { most_strips } else { most_strips.min(columns / self.columns) };
        if lanes == 0 || strips == 0 {
            return None;
        }
        let (height, width) = (lanes * self.rows, strips * self.columns);
        // Columns of 32 bytes are what memory has, if that takes no more tiles.
        let down = Axis::new(rows, height, at_once, round[0])?;
        let in_sectors = Axis::new(rows, height, 2 * at_once, round[0]);
        let sectors = at_once > 1 && rows.is_multiple_of(2 * at_once);
        let down = in_sectors.filter(|axis| sectors && axis.count == down.count).unwrap_or(down);
        let across = Axis::new(columns, width, 1, round[1])?;
        let tiles = down.count.checked_mul(across.count)?;
        let all = Round { blocks: multiprocessors as i32, tiles, pages: pages as i32, ..Round::NONE };
        Some(Layout { down, across, lanes, strips, schedule: Schedule::new(all, ROUNDS) })
    }

    /// Strips of a tile, side by side.
    fn strips(&self) -> usize {
        self.warps * LANES / self.down
    }

    /// The module that takes pages as boxes, if volumes of that size have whole tiles, for launches that copy 16 bytes at a
    /// time.
    fn boxes(&self, [rows, columns, _]: Size) -> Option<&Boxes> {
        let [height, width] = [self.down * self.rows, self.strips() * self.columns];
        self.boxes.as_ref().filter(|_| rows >= height && columns >= width)
    }

    /// The same on a chip whose device memory is wide, or narrow. Where memory is what bounds a volume, blocks that keep
    /// step with each other are faster: they find more of what they share in the chip's cache (BENCHMARKS.md).
    fn boxes_on(&self, size: Size, is_wide: bool) -> Option<&Boxes> {
        let fits = is_wide || size.iter().product::<usize>() <= MOST_ON_NARROW_MEMORY;
        self.boxes(size).filter(|_| fits)
    }

    /// The rows and columns of a box: a tile, and what stands beside it.
    fn in_box(&self) -> [usize; 2] {
        [(self.down + 2) * self.rows, self.strips() * self.columns + 2]
    }

    /// How long a slot takes, in microseconds, with so many elements copied at a time or in those boxes.
    fn slot(&self, at_once: usize, boxes: Option<&Boxes>) -> f64 {
        boxes.filter(|_| at_once > 1).map_or(self.slot[usize::from(at_once == 1)], |boxes| boxes.slot)
    }

    /// Whether that takes less time than single sweeps do.
    fn pays(&self, layout: &Layout, size: Size, slot: f64, multiprocessors: usize) -> bool {
        layout.schedule.slots as f64 * slot + LAUNCH < self.single(size, multiprocessors)
    }

    /// How long as many single sweeps take.
    fn single(&self, size: Size, multiprocessors: usize) -> f64 {
        let rate = 1e3 * self.rate * multiprocessors as f64 / MEASURED_ON;
        SWEEPS as f64 * (size.iter().product::<usize>() as f64 / rate + LAUNCH)
    }
}

/// The argument of the kernel: `struct Launch` of `cuda/sweeps_volumes.cuh`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Argument {
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    rows: i64,
    columns: i32,
    pages: i32,
    down: Axis,
    across: Axis,
    lanes: i32,
    strips: i32,
    sides: [EndsArgument; 3],
    rounds: [Round; ROUNDS],
}

/// The same with how the input lies: `struct BoxLaunch` of `cuda/sweeps_volumes_boxes.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct BoxArgument {
    map: TensorMap,
    launch: Argument,
    unused: [u64; 6],
}

/// The modules of these launches.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadedModules {
    copies: LoadOnce,
    boxes: LoadOnce,
}

/// How several sweeps of a convolution over a whole array are launched: `single`, which is how single sweeps are, where
/// these had better be. `sides` is what stands around the array.
///
/// # Errors
/// The driver's.
pub(super) fn plan<'a, T: Element>(
    loaded: &'a LoadedModules,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
    sides: Sides<T>,
    single: Box<dyn Plan<T> + 'a>,
) -> Result<Box<dyn Plan<T> + 'a>, Error> {
    let size = area.tile.size();
    if !area.is_swept() {
        return Ok(single);
    }
    let (Some(kind), Some(multiprocessors)) = (Kind::of::<T>(filter.size()), measured_multiprocessors(modules)) else {
        return Ok(single);
    };
    let round = [0, 1].map(|d| sides[d].is_circular());
    let layout = |at_once: usize| kind.layout(size, round, at_once, multiprocessors);
    let at_once = layout(kind.rows);
    let Some(one_by_one) = layout(1) else {
        return Ok(single);
    };
    let sides = [0, 1, 2].map(|d| as_seen(sides[d], size[d]));
    // Where pages are mirrored, the second sweep needs one before the first has come to it.
    let is_mirrored = sides[2].both()[0] == Boundary::Mirror;
    let boxes = kind.boxes_on(size, has_wide_memory(modules)).filter(|_| !is_mirrored);
    let pays = match &at_once {
        Some(layout) => kind.pays(layout, size, kind.slot(kind.rows, boxes), multiprocessors),
        None => kind.pays(&one_by_one, size, kind.slot(1, None), multiprocessors),
    };
    if !pays {
        return Ok(single);
    }
    let entries = (c"F", bytemuck::cast_slice(filter.values()));
    let Loaded { function, module } = loaded.copies.get(modules, area.queued, kind.name, entries, c"sweeps_volumes")?;
    let mut pace = module.pace(area.shared);
    let sweepers = SWEEPS * kind.warps * LANES;
    let prepared = |layout: Layout, function: Function, threads: usize, bytes: usize| -> Result<Way, Error> {
        function.allow_shared(bytes)?;
        let shape = Shape::prepared(layout.schedule.blocks(), threads, bytes)?;
        Ok(Way { layout, function, shape, in_box: None })
    };
    let one_by_one = prepared(one_by_one, function.clone(), sweepers, module.constant(c"shared_bytes_one_by_one")?)?;
    let at_once = match at_once {
        Some(layout) => Some(match boxes {
            Some(&Boxes { name, helpers, .. }) => {
                let name_of_kernel = c"sweeps_volumes_in_boxes";
                let Loaded { function, module } =
                    loaded.boxes.get(modules, area.queued, name, entries, name_of_kernel)?;
                pace = module.pace(area.shared);
                let bytes = module.constant(c"shared_bytes_in_boxes")?;
                Way { in_box: Some(kind.in_box()), ..prepared(layout, function.clone(), sweepers + helpers, bytes)? }
            }
            None => {
                let function = module.function(c"sweeps_volumes_at_once")?;
                prepared(layout, function, sweepers, module.constant(c"shared_bytes")?)?
            }
        }),
        None => None,
    };
    let sides = sides.map(EndsArgument::new);
    let launches = Launches { one_by_one, at_once, size, sides, class: PhantomData::<T> };
    Ok(Box::new(SeveralPlan { single_sweeps: single, pace, launches }))
}

/// What stands beyond so many samples. The kernel has no mirror of a single one: that shows nothing else.
fn as_seen<T: Element>(ends: Ends<T>, samples: usize) -> Ends<T> {
    let seen = |end| if samples == 1 && end == Boundary::Mirror { Boundary::Replicate } else { end };
    let [low, high] = ends.both().map(seen);
    Ends::new(low, high).unwrap_or(ends)
}

/// One of the kernels, and its launch.
struct Way {
    layout: Layout,
    function: Function,
    shape: Shape,
    /// The rows and columns of the boxes that it copies, if it does.
    in_box: Option<[usize; 2]>,
}

/// The launches over a volume.
struct Launches<T> {
    one_by_one: Way,
    /// Where columns begin at multiples of 16 bytes, if the volume does.
    at_once: Option<Way>,
    size: Size,
    sides: [EndsArgument; 3],
    class: PhantomData<T>,
}

impl<T: Element> Several for Launches<T> {
    /// Each way has its own, which the addresses decide.
    type Layout = ();

    fn fastest(&self, sweeps: usize) -> Option<(usize, &())> {
        (sweeps >= SWEEPS).then_some((SWEEPS, &()))
    }

    /// A single sweep takes several times as long as two in a launch.
    fn batch_granularity(&self) -> usize {
        SWEEPS
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        (): &(),
        buffers: [sys::CUdeviceptr; 2],
        aligned: bool,
    ) -> Result<(), Error> {
        let way = self.at_once.as_ref().filter(|_| aligned).unwrap_or(&self.one_by_one);
        let Layout { down, across, lanes, strips, schedule } = way.layout;
        let [rows, columns, pages] = self.size;
        let [input, output] = buffers;
        let argument = Argument {
            input,
            output,
            rows: rows as i64,
            columns: columns as i32,
            pages: pages as i32,
            down,
            across,
            lanes: lanes as i32,
            strips: strips as i32,
            sides: self.sides,
            rounds: schedule.rounds,
        };
        match way.in_box {
            Some(in_box) => {
                let map = TensorMap::new::<T>(input, self.size, in_box)?;
                let argument = BoxArgument { map, launch: argument, unused: [0; 6] };
                // SAFETY: as below; each thread waits for the launch before as it begins.
                unsafe { launch_early(&way.function, stream, way.shape, &argument) }
            }
            // SAFETY: the kernel reads the volume's samples, and writes its outputs, at addresses where the caller has as
            // many.
            None => unsafe { launch(&way.function, stream, way.shape, &argument) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::archive;
    use super::super::super::module::tests::{argument_bytes, constant_of};
    use super::*;

    /// Whether rows go round, and columns.
    const ROUND: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];

    #[test]
    fn a_mirror_of_a_single_sample_shows_that() {
        let ends = Ends::new(Boundary::Mirror, Boundary::Constant(2.0)).unwrap();
        assert_eq!(as_seen(ends, 2), ends);
        assert_eq!(as_seen(ends, 1).both(), [Boundary::Replicate, Boundary::Constant(2.0)]);
        let round: Ends<f64> = Boundary::Circular.into();
        assert_eq!(as_seen(round, 1), round);
    }

    #[test]
    fn the_kernels_take_this_argument() {
        for kind in &KINDS {
            for function in ["sweeps_volumes", "sweeps_volumes_at_once"] {
                assert_eq!(argument_bytes(kind.name, function), size_of::<Argument>(), "{}", kind.name);
            }
            if let Some(boxes) = kind.boxes {
                let bytes = argument_bytes(boxes.name, "sweeps_volumes_in_boxes");
                assert_eq!(bytes, size_of::<BoxArgument>(), "{}", boxes.name);
            }
        }
    }

    /// What is known of a module before it is loaded is what it tells.
    #[test]
    fn the_table_is_right() {
        for kind in &KINDS {
            let ptx = archive::ptx(kind.name).unwrap().into_string().unwrap();
            let constant = |name: &str| constant_of(kind.name, name);
            let told = ["lane_rows", "lane_columns", "strip_lanes", "sweep_warps"].map(constant);
            assert_eq!(told, [kind.rows, kind.columns, kind.down, kind.warps], "{}", kind.name);
            assert!(ptx.contains(".target sm_90\n"), "{}", kind.name);
            let Some(Boxes { name, helpers, .. }) = kind.boxes else { continue };
            let constant = |what: &str| constant_of(name, what);
            let told = ["lane_rows", "lane_columns", "strip_lanes", "sweep_warps"].map(constant);
            assert_eq!(told, [kind.rows, kind.columns, kind.down, kind.warps], "{name}");
            assert_eq!(constant("block_threads"), SWEEPS * kind.warps * LANES + helpers, "{name}");
            // Six pages, each of which begins at a multiple of 128 bytes.
            let [rows, columns] = kind.in_box();
            let page = (rows * columns * 16 / kind.rows).next_multiple_of(128);
            assert_eq!(constant("shared_bytes_in_boxes"), 6 * page, "{name}");
            assert!(rows <= 256 && columns <= 256, "{name}");
            assert!(archive::ptx(name).unwrap().into_string().unwrap().contains(".target sm_90a\n"), "{name}");
        }
    }

    /// Each launch is one that the kernel is made for, whatever the volume.
    #[test]
    fn layouts_are_what_the_kernel_can_do() {
        let mut found = 0;
        for kind in &KINDS {
            for rows in [1, 2, 3, 8, 12, 13, 95, 96, 97, 98, 100, 186, 187, 188, 192, 512, 1000] {
                for columns in [1, 8, 9, 10, 13, 47, 48, 49, 79, 80, 81, 95, 512, 1000] {
                    for pages in [1, 2, 100] {
                        for round in ROUND {
                            for at_once in [1, kind.rows] {
                                let size = [rows, columns, pages];
                                let Some(layout) = kind.layout(size, round, at_once, 132) else { continue };
                                found += 1;
                                let what = format!("{layout:?} for {size:?}, {round:?}, {at_once}");
                                check(&layout.down, rows, layout.lanes * kind.rows, at_once, round[0], &what);
                                check(&layout.across, columns, layout.strips * kind.columns, 1, round[1], &what);
                                assert!((1..=kind.down).contains(&layout.lanes), "{what}");
                                assert!((1..=kind.strips()).contains(&layout.strips), "{what}");
                                covered(&layout.schedule, layout.down.count * layout.across.count, pages, 132, &what);
                            }
                        }
                    }
                }
            }
        }
        assert!(found > 5000, "{found}");
    }

    /// Each page of each tile is taken once, by blocks that there are, and none takes more slots than is said.
    fn covered(schedule: &Schedule, tiles: i32, pages: usize, blocks: usize, what: &str) {
        let mut taken = vec![0; tiles as usize * pages];
        let mut slots = vec![0; blocks];
        assert!((1..=blocks).contains(&schedule.blocks()), "{what}");
        for round in &schedule.rounds {
            assert!(round.share > 0, "{what}");
            // As the kernel does.
            for run in 0..if round.blocks > 0 { round.runs() } else { 0 } {
                let begin = round.page + run / round.tiles * round.share;
                let end = (begin + round.share).min(round.page + round.pages);
                let tile = (round.tile + run % round.tiles) as usize;
                slots[(round.block + run % round.blocks) as usize] += (end - begin) as usize + BEGINNING;
                taken[tile * pages..][begin as usize..end as usize].iter_mut().for_each(|count| *count += 1);
            }
        }
        assert!(taken.iter().all(|&count| count == 1), "{what}");
        assert!(slots[schedule.blocks()..].iter().all(|&count| count == 0), "{what}");
        assert!(slots.iter().all(|&count| count <= schedule.slots), "{what}");
    }

    /// Few slots are lost, and most blocks go through the same pages as others.
    #[test]
    fn schedules_take_hardly_more_than_equal_shares() {
        for tiles in [1, 7, 36, 54, 60, 66, 131, 132, 133, 216, 500] {
            for pages in [1, 20, 100, 512, 1000] {
                for blocks in [1, 78, 114, 132, 148] {
                    let all = Round { blocks, tiles, pages, ..Round::NONE };
                    let schedule = Schedule::new(all, ROUNDS);
                    let what = format!("{schedule:?} for {tiles}, {pages}, {blocks}");
                    covered(&schedule, tiles, pages as usize, blocks as usize, &what);
                    let equal = (tiles as usize * (pages as usize + BEGINNING)).div_ceil(blocks as usize) + BEGINNING;
                    assert!(schedule.slots <= equal + equal / 8 + 2 * BEGINNING, "{equal}: {what}");
                }
            }
        }
        let of = |tiles: i32| Schedule::new(Round { blocks: 132, tiles, pages: 512, ..Round::NONE }, ROUNDS);
        assert_eq!(of(54).slots, 217);
        let round = Round { blocks: 108, tiles: 54, pages: 424, share: 212, ..Round::NONE };
        let others = [
            Round { block: 108, blocks: 24, tiles: 48, page: 424, pages: 88, share: 88, ..Round::NONE },
            Round { block: 108, blocks: 24, tile: 48, tiles: 6, page: 424, pages: 88, share: 22, unused: 0 },
        ];
        assert_eq!(of(54).rounds, [round, others[0], others[1], Round::NONE]);
    }

    /// What tiles write covers all rows, each once, and of what a tile writes it has the neighbours.
    fn check(axis: &Axis, size: usize, height: usize, multiple: usize, circular: bool, what: &str) {
        let (size, height, multiple) = (size as i32, height as i32, multiple as i32);
        let mut next = 0;
        for number in 0..axis.count {
            let from = if number == 0 { 0 } else { number * axis.step + axis.more };
            let to = if number == axis.count - 1 { size } else { (number + 1) * axis.step + axis.more };
            let start = from - axis.lead;
            let start = if circular { start } else { start.min(size - height).max(0) };
            assert_eq!(from, next, "{what}");
            assert!(from < to && to <= size, "{what}");
            let first = !circular && start == 0;
            let last = !circular && start + height == size;
            assert!(from > start || (first && from == 0), "{what}");
            assert!(to < start + height || (last && to == size), "{what}");
            assert!(circular || (start >= 0 && start + height <= size), "{what}");
            assert!([from, to, start].iter().all(|at| at % multiple == 0), "{what}");
            next = to;
        }
        assert_eq!(next, size, "{what}");
    }

    #[test]
    fn large_volumes_go_two_sweeps_at_a_time() {
        for kind in &KINDS {
            for round in ROUND {
                for (size, at_once) in [([512; 3], kind.rows), ([511; 3], 1)] {
                    let layout = kind.layout(size, round, at_once, 132).unwrap();
                    assert!(
                        kind.pays(&layout, size, kind.slot(at_once, kind.boxes(size)), 132),
                        "{}, {round:?}: {layout:?}",
                        kind.name
                    );
                }
            }
            let small = [8, 60, 8];
            let layout = kind.layout(small, [true; 2], 1, 132).unwrap();
            assert!(!kind.pays(&layout, small, kind.slot(1, None), 132), "{}: {layout:?}", kind.name);
        }
    }

    /// Likewise: those of one test have whole tiles.
    #[test]
    fn whole_tiles_come_in_boxes() {
        let sizes: [Size; 8] = include!("../../../tests/engines/volumes_in_boxes.in");
        let kind = Kind::of::<f32>([3, 3, 3]).unwrap();
        for size in sizes {
            for round in ROUND {
                let layout = kind.layout(size, round, kind.rows, 4).unwrap();
                assert!(
                    kind.boxes(size).is_some() && kind.pays(&layout, size, kind.slot(kind.rows, kind.boxes(size)), 4),
                    "{size:?}: {layout:?}"
                );
                assert_eq!((layout.lanes, layout.strips), (kind.down, kind.strips()), "{size:?}");
            }
        }
        for size in [[92, 88, 5], [96, 87, 5]] {
            assert!(kind.boxes(size).is_none(), "{size:?}");
        }
        let on = |size, is_wide| kind.boxes_on([size; 3], is_wide).is_some();
        assert_eq!([on(512, true), on(512, false), on(384, false), on(95, true)], [true, false, true, false]);
        assert!(Kind::of::<f32>([1, 3, 3]).unwrap().boxes([96, 88, 5]).is_none());
    }

    /// What the tests of the engines rely on, with the four multiprocessors of the stand-in for the driver.
    #[test]
    fn sizes_of_the_tests_are_several_parts() {
        for (kind, size) in KINDS.iter().zip([[96, 160, 24], [96, 240, 16]]) {
            let layout = kind.layout(size, [false; 2], kind.rows, 4).unwrap();
            assert!(
                kind.pays(&layout, size, kind.slot(kind.rows, kind.boxes(size)), 4),
                "{} {size:?}: {layout:?}",
                kind.name
            );
            let later = layout.schedule.rounds.iter().any(|round| round.runs() > 0 && round.page > 0);
            assert!(later, "{} {size:?}: {layout:?}", kind.name);
        }
    }
}
