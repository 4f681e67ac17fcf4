//! Many sweeps of a filter over images that lie on the device, some of them in each launch:
//! `cuda/sweeps_images.cu`. So are sweeps over a volume by a filter of one column: [`View`].
//!
//! Where all sides of the images have one boundary, and it is no mirror, a module that knows no other does it; else one in
//! which each side has its own.
//!
//! The kernel gives the bits of single sweeps. Chips of [`CAPABILITY`](super::CAPABILITY) load it, for arrays
//! for which it is faster by the [numbers](Kind) that were measured; what it does not do goes by single sweeps.
//!
//! A filter that is zero beside its middle row and column, a star, has a kernel that leaves these zeros out. It flags special
//! values, for which that gives other results; behind each of its launches comes one of the full kernel, the fallback, which
//! computes the sweeps again where values were flagged and has nothing to do elsewhere.
//!
//! Of many sweeps in double by a filter of few rows, and of all by a star, one block has a multiprocessor for itself: eight
//! warps do twice as many sweeps in a launch as four, and none of them has to wait for those of another block.

use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::{Pod, Zeroable};
use cudarc::driver::sys;

use super::super::Element;
use super::super::cut::Size;
use super::super::module::{Function, Module, Modules, Shape, launch, launch_early};
use super::exact::{magnitude_bits, underflow_limit};
use super::several::{Several, SeveralPlan};
use super::{
    Area, CIRCULAR, CONSTANT, EndsArgument, LoadOnce, Loaded, MEASURED_ON, MIRROR, Plan, REPLICATE, SYMMETRIC,
    measured_multiprocessors,
};
use crate::stencil::{Error, Filter};

/// Threads of a warp, and the most warps of most blocks that sweep.
const LANES: usize = 32;
const WARPS: usize = 4;

/// The parts of a multiprocessor that issue instructions, each for warps of its own.
const PARTITIONS: usize = 4;

/// Warps beside those that sweep, where one thread copies for all: `CARRIERS` of `cuda/sweeps_images.cuh`.
const CARRIERS: usize = 4;

/// The `share` that tells the kernel that all strips are one line.
const LINE: i32 = -1;

/// The most strips of a line: whose blocks sort them.
const MOST_OF_A_LINE: usize = 64;

/// The elements at either end of a ring's columns: `PAD` there.
const PAD: usize = 4;

/// The shared memory of a multiprocessor, and how much of it a block takes beside what it asks for, in bytes: on chips
/// of that capability.
const MOST_SHARED: usize = 228 << 10;
const SHARED_BESIDE: usize = 2 << 10;

/// No segment has as many columns.
const MOST_COLUMNS: usize = 1 << 23;

/// The most rows or columns of an image: the bytes of a column, and of a strip beside it, are counted in 32 bits.
const MOST_PLACES: usize = 1 << 28;

/// How many thousand updates a microsecond single sweeps over a volume do at most, on an H200 (BENCHMARKS.md).
const OF_VOLUMES: f64 = 75.0;

/// What a launch takes beside its slots, and the same for a single sweep, in microseconds.
const LAUNCH: f64 = 3.0;

/// A module, and what is known of it before it is loaded.
#[derive(Debug)]
struct Kind {
    /// Of the module for one boundary, and of the one for sides that have their own.
    names: [&'static str; 2],
    single: bool,
    /// Rows and columns of the filter.
    filter: [usize; 2],
    /// Rows of a strip that a lane holds.
    points: usize,
    /// Places from a column to the next in shared memory.
    pitch: usize,
    /// Sweeps that a warp does.
    stages: usize,
    /// The most of them that a block has.
    warps: usize,
    /// Slots that a column is in a warp's registers before its turn.
    ahead: usize,
    /// How many slots ahead of the first warp a column comes from device memory.
    lead: usize,
    /// Whether one thread of another warp copies for all where that goes in pieces of 16 bytes.
    is_carried: bool,
    /// Blocks that a multiprocessor holds.
    blocks: usize,
    /// In columns, how much longer each warp takes for a segment that has the image's first or last column, or all of them
    /// together where columns go round: measured on an H200 and an H100 (BENCHMARKS.md).
    edge: usize,
    /// Of 256 columns of two neighbouring segments, those of the longer one: what the blocks that have precedence on
    /// their multiprocessor do while the others do the rest.
    share: usize,
    /// How long a slot takes where all multiprocessors hold as many, in microseconds, and how many thousand updates a
    /// microsecond single sweeps do: measured on an H200 with 8192 x 8192 (BENCHMARKS.md).
    slot: f64,
    rate: f64,
    /// Whether its module has a kernel for stars, too.
    is_star: bool,
}

/// The names of the modules for a class and a filter.
macro_rules! names {
    ($of:literal) => {
        [concat!("sweeps_images_", $of), concat!("sweeps_images_sides_", $of)]
    };
}

/// 3 x 3 in double where each side has its own boundary: registers hold fewer rows.
const DOUBLE_03_OF_SIDES: Kind = double(names!("double_03"), [3, 3], [17, 2], 192, [0.826, 252.0]);

/// Special values need the fallback for all sweeps of a run; this numbers the runs. No run has the number 0.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// Measured on an H200, with driver 580: the square filters, then the others. Single sweeps of the latter in double go
/// through tensor cores.
const KINDS: [Kind; 24] = [
    single(names!("float_03"), [3, 3], [24, 2], [0.572, 430.0]),
    single(names!("float_05"), [5, 5], [24, 1], [0.721, 355.0]),
    single(names!("float_07"), [7, 7], [24, 1], [1.308, 260.0]),
    single(names!("float_03x05"), [3, 5], [24, 1], [0.513, 131.0]),
    single(names!("float_05x03"), [5, 3], [28, 2], [0.991, 119.0]),
    single(names!("float_03x07"), [3, 7], [24, 1], [0.629, 114.0]),
    single(names!("float_07x03"), [7, 3], [28, 2], [1.331, 96.0]),
    single(names!("float_05x07"), [5, 7], [24, 1], [0.962, 82.0]),
    single(names!("float_07x05"), [7, 5], [24, 1], [0.968, 77.0]),
    line(names!("float_01x03"), [1, 3], [20, 2, 3], [0.571, 191.0]),
    line(names!("float_01x05"), [1, 5], [20, 1, 3], [0.561, 181.0]),
    line(names!("float_01x07"), [1, 7], [28, 1, 2], [0.538, 169.0]),
    line(names!("float_03x01"), [3, 1], [28, 8, 4], [1.853, 177.0]),
    line(names!("float_05x01"), [5, 1], [28, 4, 4], [1.644, 149.0]),
    line(names!("float_07x01"), [7, 1], [28, 4, 4], [2.138, 126.0]),
    double(names!("double_03"), [3, 3], [19, 2], 192, [0.834, 252.0]),
    double(names!("double_05"), [5, 5], [17, 1], 192, [1.005, 236.0]),
    double(names!("double_07"), [7, 7], [11, 1], 192, [1.208, 191.0]),
    double(names!("double_03x05"), [3, 5], [17, 1], 160, [0.788, 217.0]),
    double(names!("double_05x03"), [5, 3], [17, 2], 160, [1.270, 217.0]),
    double(names!("double_03x07"), [3, 7], [13, 1], 192, [0.730, 217.0]),
    double(names!("double_07x03"), [7, 3], [17, 2], 192, [1.629, 217.0]),
    double(names!("double_05x07"), [5, 7], [11, 1], 192, [0.924, 217.0]),
    double(names!("double_07x05"), [7, 5], [15, 1], 192, [1.218, 217.0]),
];

/// With blocks of eight warps, where all sides have one boundary: those of the filters of which that is faster than by
/// [`KINDS`], measured likewise on an H100, which is as fast as an H200 there.
const EIGHTS: [Kind; 5] = [
    double(names!("eight_double_03"), [3, 3], [17, 2], 192, [0.681, 252.0]).of_eight().carried(),
    double(names!("eight_double_05"), [5, 5], [17, 1], 192, [0.922, 236.0]).of_eight().carried(),
    double(names!("eight_double_03x05"), [3, 5], [19, 1], 192, [0.629, 217.0]).of_eight().carried(),
    double(names!("eight_double_03x07"), [3, 7], [15, 1], 192, [0.664, 217.0]).of_eight().carried(),
    double(names!("eight_double_05x07"), [5, 7], [11, 1], 192, [0.853, 217.0]).of_eight().carried(),
];

/// Stars, likewise.
const STARS: [Kind; 6] = [
    single(names!("star_float_03"), [3, 3], [32, 2], [0.515, 430.0]).of_eight().of_star(),
    single(names!("star_float_05"), [5, 5], [28, 1], [0.490, 355.0]).of_eight().of_star(),
    single(names!("star_float_07"), [7, 7], [24, 1], [0.495, 260.0]).of_eight().of_star(),
    double(names!("star_double_03"), [3, 3], [17, 2], 192, [0.530, 252.0]).of_eight().of_star(),
    double(names!("star_double_05"), [5, 5], [17, 1], 192, [0.510, 236.0]).of_eight().of_star(),
    double(names!("star_double_07"), [7, 7], [11, 1], 192, [0.385, 191.0]).of_eight().of_star(),
];

/// Whether a filter is zero beside its middle row and column.
fn is_star<T: Element>(values: &[T], [rows, columns]: [usize; 2]) -> bool {
    let is_beside = |at: usize| at % rows != rows / 2 && at / rows != columns / 2;
    values.iter().enumerate().all(|(at, value)| !is_beside(at) || value.to_f64() == 0.0)
}

/// In single both blocks of a multiprocessor are as fast.
const fn single(
    names: [&'static str; 2],
    filter: [usize; 2],
    [points, stages]: [usize; 2],
    [slot, rate]: [f64; 2],
) -> Kind {
    // Of eight lanes that read 16 bytes each, none reads in the banks of another: behind each so many there is a gap.
    let gaps = match (points / 4).trailing_zeros() {
        0 => 0,
        1 => LANES / 4,
        2 => LANES / 2,
        _ => LANES,
    };
    let pitch = LANES * points + 4 * gaps + 2 * PAD;
    Kind {
        names,
        single: true,
        filter,
        points,
        pitch,
        stages,
        warps: WARPS,
        ahead: 1,
        lead: if filter[0] == 3 && filter[1] == 3 { 5 } else { 3 },
        is_carried: false,
        blocks: 2,
        edge: 6,
        share: 128,
        slot,
        rate,
        is_star: false,
    }
}

/// Of one row or one column.
const fn line(
    names: [&'static str; 2],
    filter: [usize; 2],
    [points, stages, blocks]: [usize; 3],
    measured: [f64; 2],
) -> Kind {
    Kind { blocks, ahead: 0, lead: 3, edge: 0, ..single(names, filter, [points, stages], measured) }
}

const fn double(
    names: [&'static str; 2],
    filter: [usize; 2],
    [points, stages]: [usize; 2],
    share: usize,
    [slot, rate]: [f64; 2],
) -> Kind {
    let pitch = LANES * points + 2 * PAD;
    Kind {
        names,
        single: false,
        filter,
        points,
        pitch,
        stages,
        warps: WARPS,
        ahead: 0,
        lead: 3,
        is_carried: false,
        blocks: 2,
        edge: 0,
        share,
        slot,
        rate,
        is_star: false,
    }
}

/// An array as the kernel has it: images whose rows are neighbours in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    /// Rows, columns and images.
    size: Size,
    /// Elements from a column to the next one, and from an image to the next one. All begin at multiples of so many
    /// elements as there are rows of the array.
    column_step: usize,
    image_step: usize,
    /// Rows and columns.
    filter: [usize; 2],
    /// Along which dimension of the array its columns follow each other. Its rows do along the first one.
    across: usize,
    /// Whether single sweeps are those over a volume.
    volume: bool,
}

impl View {
    /// The one for an array of this size and this filter; `None` if it has several columns and several pages.
    pub(super) fn of([rows, columns, pages]: Size, filter: Size) -> Option<View> {
        let page = rows * columns;
        let view = |size, filter, across, [column_step, image_step]: [usize; 2], volume| {
            Some(View { size, filter, column_step, image_step, across, volume })
        };
        match filter {
            // A filter of one row goes along columns that may be as long as a page is, and one of one column along those
            // of all pages.
            [1, 1, depth] if depth > 1 && page <= MOST_PLACES => {
                view([page, pages, 1], [1, depth], 2, [page, page], true)
            }
            [height, 1, 1] if columns * pages <= MOST_PLACES => {
                view([rows, columns * pages, 1], [height, 1], 1, [rows, page], false)
            }
            [height, width, 1] => view([rows, columns, pages], [height, width], 1, [rows, page], false),
            // The pages of a volume are the columns of as many images as it has columns.
            [height, 1, depth] => view([rows, pages, columns], [height, depth], 2, [page, rows], true),
            _ => None,
        }
    }
}

/// What stands beyond the ends of the rows, and of the columns: each a boundary as the kernels call it.
pub(super) type Beyond = [[u32; 2]; 2];

/// What stands around a view, as a kernel has it.
#[derive(Debug, Clone, Copy)]
struct Around {
    /// Above the rows and below.
    rows: EndsArgument,
    /// Before the columns and behind.
    columns: EndsArgument,
    /// Whether a module is needed in which each side has its own boundary.
    own_sides: bool,
}

impl Around {
    /// That of which the filter sees something: along a dimension of which an output needs no sample but its own, all of
    /// it has one form.
    fn new(view: &View, [rows, mut columns]: [EndsArgument; 2]) -> Around {
        // A mirror has nothing else to show of a single column.
        if view.size[1] == 1 {
            columns.boundary = columns.boundary.map(|end| if end == MIRROR { REPLICATE } else { end });
        }
        let seen = [rows, columns].map(|ends| {
            // What is no constant has no number.
            let number = |end: usize| if ends.boundary[end] == CONSTANT { ends.value[end] } else { 0.0 };
            EndsArgument { value: [number(0), number(1)], boundary: ends.boundary }
        });
        let ends = |boundary| EndsArgument { value: [0.0; 2], boundary: [boundary; 2] };
        let [rows, columns] = match view.filter {
            [1, _] => [seen[1]; 2],
            [_, 1] => [seen[0]; 2],
            _ => seen,
        };
        let all = [rows, columns].map(|ends| [0, 1].map(|end| (ends.boundary[end], ends.value[end].to_bits())));
        let first = all[0][0];
        if all == [[first; 2]; 2] && first.0 != MIRROR {
            return Around { rows, columns, own_sides: false };
        }
        let rows = if view.filter[0] == 1 { ends(REPLICATE) } else { rows };
        let columns = if view.filter[1] == 1 { ends(CIRCULAR) } else { columns };
        Around { rows, columns, own_sides: true }
    }

    /// The numbers of all four sides.
    fn numbers(&self) -> impl Iterator<Item = f64> {
        [self.rows, self.columns].into_iter().flat_map(|ends| ends.value)
    }
}

/// How the strips of all pages are given to blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Division {
    /// Each is in so many segments; for `share` see [`Kind::share`]: 0 if all are as long.
    /// Those at the image's edges are shorter by `edge` columns than others.
    Segments { count: usize, share: usize, edge: usize },
    /// They follow each other in one line, which is in so many equal parts.
    Line { parts: usize },
}

impl Division {
    /// The blocks of so many strips.
    fn blocks(self, strips: usize) -> usize {
        match self {
            Division::Segments { count, .. } => strips.saturating_mul(count),
            // What a part has of a second strip is a block of its own.
            Division::Line { parts } => parts + strips - 1,
        }
    }
}

/// How one launch is laid out: see `struct Launch` of `cuda/sweeps_images.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    /// Of a page.
    strips: usize,
    division: Division,
    lanes: usize,
    warps: usize,
    depth: usize,
    /// In the ring behind the last warp.
    last_depth: usize,
    shared_bytes: usize,
}

impl Kind {
    /// With blocks of eight warps, which read ahead; a multiprocessor holds one.
    const fn of_eight(self) -> Kind {
        Kind { warps: 2 * WARPS, ahead: 1, lead: 3, blocks: 1, ..self }
    }

    /// Where one thread copies for all.
    const fn carried(self) -> Kind {
        Kind { lead: 6, is_carried: true, ..self }
    }

    /// With a kernel for stars.
    const fn of_star(self) -> Kind {
        Kind { is_star: true, edge: 5, ..self }
    }

    /// Whether there is a module for sides that have their own boundaries.
    #[cfg(test)]
    fn knows_sides(&self) -> bool {
        self.warps == WARPS
    }

    /// Whether both have the same modules.
    fn is(&self, other: &Kind) -> bool {
        self.names == other.names
    }

    fn of<T: Element>(filter: [usize; 2], own_sides: bool) -> Option<&'static Kind> {
        let kind = Kind::among::<T>(&KINDS, filter)?;
        Some(if own_sides { kind.of_sides() } else { kind })
    }

    /// The modules for any filter of this size.
    fn all_for<T: Element>(filter: [usize; 2], own_sides: bool) -> impl Iterator<Item = &'static Kind> {
        let eight = Kind::among::<T>(&EIGHTS, filter).filter(|_| !own_sides);
        Kind::of::<T>(filter, own_sides).into_iter().chain(eight)
    }

    fn among<T: Element>(kinds: &'static [Kind], filter: [usize; 2]) -> Option<&'static Kind> {
        kinds.iter().find(|kind| kind.single == (T::NAME == f32::NAME) && filter == kind.filter)
    }

    /// The same where each side has its own boundary.
    fn of_sides(&'static self) -> &'static Kind {
        let [_, name] = self.names;
        if name == DOUBLE_03_OF_SIDES.names[1] { &DOUBLE_03_OF_SIDES } else { self }
    }

    /// How many sweeps of its first warp a launch may leave out: a column needs nothing of others.
    fn most_skipped(&self) -> usize {
        if self.filter[1] == 1 { self.stages - 1 } else { 0 }
    }

    /// The fewest sweeps that are done in a launch. By filters of one row or column a single sweep is faster than by
    /// `cuda/convolution.cu`, so those that are left over are done here, too.
    fn least_sweeps(&self) -> usize {
        if self.filter.contains(&1) { 1 } else { 2 }
    }

    /// How far an output's samples reach: above and below, and to either side.
    fn radius(&self) -> [usize; 2] {
        self.filter.map(|size| size / 2)
    }

    /// The rows, and the columns, that a launch of so many warps spoils at a side that is not the image's.
    fn reach(&self, warps: usize) -> [usize; 2] {
        self.radius().map(|radius| warps * self.stages * radius)
    }

    /// How long a single sweep takes.
    fn single(&self, view: &View, multiprocessors: usize) -> f64 {
        let rate = if view.volume { self.rate.min(OF_VOLUMES) } else { self.rate };
        let rate = 1e3 * rate * multiprocessors as f64 / MEASURED_ON;
        view.size.iter().product::<usize>() as f64 / rate + LAUNCH
    }

    /// The layout for so many warps, whatever a single sweep takes.
    fn layout_of_warps(
        &self,
        size: Size,
        around: &Around,
        warps: usize,
        multiprocessors: usize,
    ) -> Option<(f64, Layout)> {
        let [rows, columns, pages] = size;
        let (strips, lanes) = self.strips(rows, around, warps)?;
        let depth = self.depth(around);
        let last_depth = self.last_depth(around);
        let shared_bytes = self.shared_bytes(around, warps);
        let blocks = self.blocks.min(MOST_SHARED / (shared_bytes + SHARED_BESIDE));
        let capacity = multiprocessors * blocks;
        // As many segments as keep all multiprocessors busy once, twice, ..
        let segments = (1..=4).map(|waves| (capacity * waves / (strips * pages)).clamp(1, columns));
        let segments = segments.map(|segments| segments.max(columns.div_ceil(MOST_COLUMNS)));
        let segments = segments.map(|count| {
            // Where two blocks meet on a multiprocessor, segments are in pairs.
            let pairs = blocks == 2 && count > 1 && strips * count * pages > multiprocessors;
            let (count, share) = if pairs { (count & !1, self.share) } else { (count, 0) };
            Division::Segments { count, share, edge: self.edge(around, warps, columns / count) }
        });
        // No part has columns of three strips, and none begins behind the last strip.
        let is_line = self.is_carried && (2..=MOST_OF_A_LINE.min(capacity)).contains(&(strips * pages));
        let line = is_line.then(|| {
            let whole = self.line(strips * pages, columns, warps);
            Division::Line { parts: whole.div_ceil(whole.div_ceil(capacity)) }
        });
        let divisions = segments.chain(line);
        let layout = |division| Layout { strips, division, lanes, warps, depth, last_depth, shared_bytes };
        let time = |layout: &Layout| self.time(layout, size, capacity, blocks) / (warps * self.stages) as f64;
        let layouts = divisions.map(layout).map(|layout| (time(&layout), layout));
        layouts.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(_, layout)| blocks_are_counted(layout, pages))
    }

    /// The strips of an image, and the lanes of a warp that work on each.
    fn strips(&self, rows: usize, around: &Around, warps: usize) -> Option<(usize, usize)> {
        let lanes = LANES.min(rows / self.points);
        let EndsArgument { value, boundary } = around.rows;
        // A lane knows one end.
        if lanes == 1 && (boundary[0] != boundary[1] || value[0].to_bits() != value[1].to_bits()) {
            return None;
        }
        let (height, [reach, _]) = (lanes * self.points, self.reach(warps));
        let step = height.checked_sub(2 * reach).filter(|&step| step > 0);
        let strips = if boundary[0] == CIRCULAR {
            // A strip goes round once at most.
            (reach <= rows).then_some(rows.div_ceil(step?))?
        } else if height == rows && lanes > 0 {
            1
        } else {
            1 + (rows - height).div_ceil(step?)
        };
        Some((strips, lanes))
    }

    /// The columns in the rings between warps: what a boundary stands for has to be there. While those before the first
    /// are taken one more comes; behind the last none does.
    fn depth(&self, around: &Around) -> usize {
        let [_, radius] = self.radius();
        let [low, high] = around.columns.boundary.map(|end| match end {
            SYMMETRIC => radius,
            MIRROR => radius + 1,
            _ => 1,
        });
        2 * self.ahead + (low + 1).max(high).max(2)
    }

    /// The columns in the ring behind the last warp, whose columns stand for nothing outside. Where warps do not read ahead
    /// there is memory enough.
    fn last_depth(&self, around: &Around) -> usize {
        if around.own_sides && self.ahead > 0 { 2 * self.ahead + 2 } else { self.depth(around) }
    }

    fn shared_bytes(&self, around: &Around, warps: usize) -> usize {
        // The rings and the constants; and a column that each warp keeps between its stages.
        let [low, high] = around.columns.boundary.map(|end| end == CONSTANT);
        let constants = if around.own_sides { usize::from(low) + usize::from(high) } else { usize::from(low) };
        let columns = warps * self.depth(around) + self.lead - 1 + self.last_depth(around) + constants;
        let kept = if self.keeps(around) { self.warps * (self.pitch - 2 * PAD) + 2 * PAD } else { 0 };
        (columns * self.pitch + kept) * self.element()
    }

    /// Whether each warp keeps a column between its stages, as what stands for those outside.
    fn keeps(&self, around: &Around) -> bool {
        let shows = matches!(around.columns.boundary[1], REPLICATE | SYMMETRIC | MIRROR);
        self.stages > 1 && self.radius()[1] > 0 && shows
    }

    /// How long so many strips are together, each longer than its columns by what it takes to begin with it.
    fn line(&self, strips: usize, columns: usize, warps: usize) -> usize {
        let [_, reach] = self.reach(warps);
        strips * (columns + reach + warps * self.lag())
    }

    /// By how many columns segments at the image's edges are shorter than others, which have so many: at most 9 of 16 of
    /// them. Else one could be empty, and its neighbour would be at the edge.
    fn edge(&self, around: &Around, warps: usize, columns: usize) -> usize {
        let goes_round = around.columns.boundary == [CIRCULAR; 2];
        let edge = if goes_round { self.edge } else { self.edge * warps };
        edge.min(columns * 9 / 16)
    }

    /// How many slots a warp is behind the one before.
    fn lag(&self) -> usize {
        self.stages * self.radius()[1] + 1 + self.ahead
    }

    /// Whether a launch may begin as the one before it ends. Where of two blocks of a multiprocessor one has precedence, it
    /// would meet others than it was made for: 3 x 3 in double takes half as long again then.
    fn begins_early(&self) -> bool {
        self.ahead > 0
    }

    /// Whether columns and strips begin and end at multiples of 16 bytes where buffers do.
    fn is_in_pieces(&self, [rows, ..]: Size, layout: &Layout) -> bool {
        let [reach, _] = self.reach(layout.warps);
        [rows, reach, layout.lanes * self.points].into_iter().all(|rows| (rows * self.element()).is_multiple_of(16))
    }

    /// Bytes of an element.
    fn element(&self) -> usize {
        if self.single { size_of::<f32>() } else { size_of::<f64>() }
    }

    /// How long a launch takes, in microseconds.
    fn time(&self, layout: &Layout, [_, columns, pages]: Size, capacity: usize, blocks: usize) -> f64 {
        let [_, reach] = self.reach(layout.warps);
        let strips = layout.strips * pages;
        // The columns of a block, how many blocks there are at once or one after the other, and what more there is to do.
        let (of_block, all, more) = match layout.division {
            Division::Segments { count, .. } => (columns.div_ceil(count), strips * count, 0.0),
            Division::Line { parts } => {
                // The blocks that come later sort strips.
                let part = self.line(strips, columns, layout.warps).div_ceil(parts);
                (part, parts, LAUNCH + 0.01 * (strips * strips) as f64)
            }
        };
        let slots = of_block + 2 * reach + layout.warps * self.lag() + self.lead + self.ahead;
        // Of two blocks, one that has a multiprocessor for itself is not as many times as fast.
        let filled = (all as f64 / capacity as f64).min(1.0) * blocks as f64 / self.blocks as f64;
        let share = if self.blocks > 1 { filled } else { 1.0 };
        // Nor is a partition with fewer warps than a full block has for it.
        let [warps, most] = [layout.warps, self.warps].map(|warps| warps.div_ceil(PARTITIONS) as f64);
        let alone = 0.5 + 0.5 * warps / most;
        let slot = self.slot * (0.25 + 0.75 * share) * alone;
        all.div_ceil(capacity) as f64 * slots as f64 * slot + LAUNCH + more
    }
}

/// Whether the kernel can count the blocks of a launch.
fn blocks_are_counted(layout: &Layout, pages: usize) -> bool {
    layout.division.blocks(layout.strips.saturating_mul(pages)) <= i32::MAX as usize
}

/// The argument of the kernel: `struct OfSides` of `cuda/sweeps_images.cuh`, field for field. Where all sides have one
/// boundary the kernel takes what comes before `below`: `struct Launch`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Argument {
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    rows: i64,
    column_step: i64,
    image_step: i64,
    /// Of the one boundary, or of that above.
    value: f64,
    columns: i32,
    strips: i32,
    segments: i32,
    share: i32,
    lanes: i32,
    warps: i32,
    depth: i32,
    /// The one, or a byte for each of those above, below, before and behind.
    boundary: u32,
    run: u32,
    near_zero: u32,
    skipped: i32,
    leaving_depth: i32,
    edge: i32,
    unused: i32,
    below: f64,
    before: f64,
    behind: f64,
}

/// How some sweeps are done in one launch; by a kernel for stars, in one launch and its fallback.
#[derive(Debug, Clone, Copy)]
struct Way {
    kind: &'static Kind,
    sweeps: usize,
    /// For each sweep.
    time: f64,
    layout: Layout,
    /// Sweeps of the first warp that are not done.
    skipped: usize,
}

/// The ways to do up to so many sweeps in one launch by a module that are faster than single sweeps by the kernels for
/// these.
fn ways(kind: &'static Kind, view: &View, around: &Around, sweeps: usize, multiprocessors: usize) -> Vec<Way> {
    let size = view.size;
    let fits = |of_launch: usize| (kind.least_sweeps()..=sweeps).contains(&of_launch);
    let layouts = (1..=kind.warps).flat_map(|warps| (0..kind.most_skipped() + 1).map(move |skipped| (warps, skipped)));
    let ways = layouts.filter_map(|(warps, skipped)| {
        let all = warps * kind.stages;
        let (time, layout) = kind.layout_of_warps(size, around, warps, multiprocessors)?;
        let time = time * all as f64 / (all - skipped) as f64;
        // The fallback comes behind, and sees that it has nothing to do.
        let time = if kind.is_star { time + LAUNCH / all as f64 } else { time };
        fits(all - skipped).then_some(Way { kind, sweeps: all - skipped, time, layout, skipped })
    });
    let single = kind.single(view, multiprocessors);
    ways.filter(|way| way.time < single).collect()
}

/// The fastest of them for so many sweeps; `None` where single sweeps had better be.
fn fastest(ways: &[Way], sweeps: usize) -> Option<&Way> {
    let fits = ways.iter().filter(|way| way.sweeps <= sweeps);
    fits.min_by(|a, b| a.time.total_cmp(&b.time))
}

/// Whether what stands outside is finite, and not so near to zero that a zero's sign may be wrong where zeros are left out.
fn is_plain<T: Element>(outside: f64, near_zero: u32) -> bool {
    outside.is_finite() && magnitude_bits::<T>(outside).wrapping_sub(1) >= near_zero
}

/// How long each of so many sweeps over an array takes on so many multiprocessors, in microseconds; `None` where single sweeps had better be.
pub(super) fn time_of_a_sweep<T: Element>(
    filter: Size,
    size: Size,
    beyond: Beyond,
    sweeps: usize,
    multiprocessors: usize,
) -> Option<f64> {
    let view = View::of(size, filter)?;
    let around = Around::new(&view, beyond.map(|boundary| EndsArgument { value: [0.0; 2], boundary }));
    let ways: Vec<_> = Kind::all_for::<T>(view.filter, around.own_sides)
        .flat_map(|kind| ways(kind, &view, &around, sweeps, multiprocessors))
        .collect();
    fastest(&ways, sweeps).map(|way| way.time)
}

/// The modules of a convolution's launches of several sweeps.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadedModules {
    /// That of the kernel which does several.
    several: LoadOnce,
    eight: LoadOnce,
    star: LoadOnce,
}

impl LoadedModules {
    fn of(&self, kind: &Kind) -> &LoadOnce {
        match kind {
            Kind { is_star: true, .. } => &self.star,
            Kind { warps: WARPS, .. } => &self.several,
            Kind { .. } => &self.eight,
        }
    }
}

/// How several sweeps of a convolution over a whole array are launched; `single` is how single sweeps are, which do it
/// where they had better.
///
/// # Errors
/// The driver's.
pub(super) fn plan<'a, T: Element>(
    loaded: &'a LoadedModules,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
    view: View,
    single: Box<dyn Plan<T> + 'a>,
) -> Result<Box<dyn Plan<T> + 'a>, Error> {
    let [rows, columns, _] = view.size;
    if !area.is_swept() || rows.max(columns) > MOST_PLACES {
        return Ok(single);
    }
    let around = Around::new(&view, [area.sides[0], area.sides[view.across]].map(EndsArgument::new));
    let Some(multiprocessors) = measured_multiprocessors(modules) else {
        return Ok(single);
    };
    // Whether a kernel for stars may be taken, which scans the samples of so many sweeps of each launch for special values.
    // With entries that are infinite or NaN all results are, and would be computed twice.
    let finite = filter.values().iter().all(|entry| entry.to_f64().is_finite());
    let is_plain_for = |sweeps| {
        let near_zero = underflow_limit(filter.values(), sweeps);
        finite && around.numbers().chain([1.0]).all(|number| is_plain::<T>(number, near_zero))
    };
    let star = Kind::among::<T>(&STARS, view.filter)
        .filter(|star| !around.own_sides && is_star(filter.values(), view.filter) && is_plain_for(star.stages));
    let ways: Vec<_> = Kind::all_for::<T>(view.filter, around.own_sides)
        .chain(star)
        .flat_map(|kind| ways(kind, &view, &around, area.sweeps, multiprocessors))
        .collect();
    // The modules of those that are taken, the fastest one's first: so many sweeps and fewer may be asked for.
    let mut taken: Vec<&Kind> = Vec::new();
    let most = ways.iter().map(|way| way.sweeps).max().unwrap_or(0);
    for way in (1..=most).rev().filter_map(|sweeps| fastest(&ways, sweeps)) {
        if !taken.iter().any(|kind| kind.is(way.kind)) {
            taken.push(way.kind);
        }
    }
    let load = |kind| Ready::load(kind, loaded.of(kind), modules, area.queued, filter, usize::from(around.own_sides));
    let ready = taken.into_iter().map(load).collect::<Result<Vec<_>, Error>>()?;
    let Some(fastest) = ready.first() else {
        return Ok(single);
    };
    let pace = fastest.module.pace(area.shared);
    Ok(Box::new(SeveralPlan { single, pace, launches: Launches { ready, ways, view, around } }))
}

/// A module that is loaded.
struct Ready<'a> {
    kind: &'static Kind,
    module: &'a Module,
    /// For any address, and where columns and strips begin and end at multiples of 16 bytes.
    functions: [Function; 2],
    /// Where it has a kernel for stars.
    star: Option<Star>,
}

impl<'a> Ready<'a> {
    /// Loads the module of a kind, by which of its names, with a filter.
    fn load<T: Element>(
        kind: &'static Kind,
        once: &'a LoadOnce,
        modules: &Modules,
        queued: bool,
        filter: &Filter<T>,
        name: usize,
    ) -> Result<Ready<'a>, Error> {
        let entries = (c"F", bytemuck::cast_slice(filter.values()));
        let Loaded { function, module } = once.get(modules, queued, kind.names[name], entries, c"sweeps_images")?;
        let functions = [function.clone(), module.function(c"sweeps_images_aligned")?];
        let star = if kind.is_star {
            let functions = [module.function(c"sweeps_images_star")?, module.function(c"sweeps_images_star_aligned")?];
            let run = RUNS.fetch_add(1, Ordering::Relaxed) % (u32::MAX - 1) + 1;
            Some(Star { functions, near_zero: underflow_limit(filter.values(), kind.stages), run })
        } else {
            None
        };
        for function in functions.iter().chain(star.iter().flat_map(|star| &star.functions)) {
            function.allow_shared(MOST_SHARED - SHARED_BESIDE)?;
        }
        Ok(Ready { kind, module, functions, star })
    }
}

/// A kernel for stars, behind which the full kernel of its module is the fallback.
struct Star {
    /// As of the full kernel.
    functions: [Function; 2],
    near_zero: u32,
    run: u32,
}

/// The launches over an array.
struct Launches<'a> {
    ready: Vec<Ready<'a>>,
    ways: Vec<Way>,
    view: View,
    around: Around,
}

impl Launches<'_> {
    /// Launches a kernel of a module, as a part of a run for stars, or of none: 0.
    fn submit(
        &self,
        stream: sys::CUstream,
        (kind, function, aligned): (&Kind, &Function, bool),
        layout: Layout,
        skipped: usize,
        run: [u32; 2],
        buffers: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let Layout { strips, division, shared_bytes, .. } = layout;
        let blocks = division.blocks(strips * self.view.size[2]);
        let carriers = if aligned && kind.is_carried { CARRIERS } else { 0 };
        let shape = Shape::prepared(blocks, (kind.warps + carriers) * LANES, shared_bytes)?;
        let argument = self.argument(layout, skipped, run, buffers);
        // SAFETY: the kernel reads the array's samples, and writes its outputs, at addresses where the caller has as
        // many. All kernels of these modules wait for the launch before.
        unsafe {
            if kind.begins_early() {
                launch_early(function, stream, shape, &argument)
            } else {
                launch(function, stream, shape, &argument)
            }
        }
    }

    fn argument(
        &self,
        layout: Layout,
        skipped: usize,
        [run, near_zero]: [u32; 2],
        [input, output]: [sys::CUdeviceptr; 2],
    ) -> Argument {
        let Layout { strips, division, lanes, warps, depth, last_depth, .. } = layout;
        let (segments, share, edge) = match division {
            Division::Segments { count, share, edge } => (count, share as i32, edge),
            Division::Line { parts } => (parts, LINE, 0),
        };
        let Around { rows: of_rows, columns: of_columns, own_sides } = self.around;
        let [[above, below], [before, behind]] = [of_rows.boundary, of_columns.boundary];
        let bytes = [above, below, before, behind].map(|boundary| boundary as u8);
        let View { size: [rows, columns, _], column_step, image_step, .. } = self.view;
        Argument {
            input,
            output,
            rows: rows as i64,
            column_step: column_step as i64,
            image_step: image_step as i64,
            value: of_rows.value[0],
            columns: columns as i32,
            strips: strips as i32,
            segments: segments as i32,
            share,
            lanes: lanes as i32,
            warps: warps as i32,
            depth: depth as i32,
            boundary: if own_sides { u32::from_le_bytes(bytes) } else { of_rows.boundary[0] },
            run,
            near_zero,
            skipped: skipped as i32,
            leaving_depth: last_depth as i32,
            edge: edge as i32,
            unused: 0,
            below: of_rows.value[1],
            before: of_columns.value[0],
            behind: of_columns.value[1],
        }
    }
}

impl Several for Launches<'_> {
    type Layout = Way;

    fn fastest(&self, sweeps: usize) -> Option<(usize, &Way)> {
        fastest(&self.ways, sweeps).map(|way| (way.sweeps, way))
    }

    fn batch_granularity(&self) -> usize {
        fastest(&self.ways, usize::MAX).map_or(1, |way| way.sweeps)
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        &Way { kind, layout, skipped, .. }: &Way,
        buffers: [sys::CUdeviceptr; 2],
        aligned: bool,
    ) -> Result<(), Error> {
        let ready = self.ready.iter().find(|ready| ready.kind.is(kind));
        let ready = ready.ok_or_else(|| Error::Internal("A module of a launch is not loaded.".into()))?;
        let aligned = aligned && kind.is_in_pieces(self.view.size, &layout);
        let mut run = 0;
        if let Some(star) = &ready.star {
            run = star.run;
            let function = (kind, &star.functions[usize::from(aligned)], aligned);
            self.submit(stream, function, layout, 0, [run, star.near_zero], buffers)?;
        }
        let function = (kind, &ready.functions[usize::from(aligned)], aligned);
        self.submit(stream, function, layout, skipped, [run, 0], buffers)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::archive;
    use super::super::super::module::tests::{argument_bytes, constant_of};
    use super::*;
    use crate::stencil::{Boundary, Ends, Sides};

    /// The bytes of it that the module for one boundary takes, and the one for sides that have their own.
    const BYTES: [usize; 2] = [std::mem::offset_of!(Argument, below), size_of::<Argument>()];

    #[test]
    fn the_kernels_take_this_argument() {
        for (name, bytes) in KINDS.iter().flat_map(|kind| kind.names.into_iter().zip(BYTES)) {
            for function in ["sweeps_images", "sweeps_images_aligned"] {
                assert_eq!(argument_bytes(name, function), bytes, "{name}");
            }
        }
        for name in EIGHTS.iter().map(|kind| kind.names[0]) {
            for function in ["sweeps_images", "sweeps_images_aligned"] {
                assert_eq!(argument_bytes(name, function), BYTES[0], "{name}");
            }
        }
        for name in STARS.iter().map(|kind| kind.names[0]) {
            for function in
                ["sweeps_images", "sweeps_images_aligned", "sweeps_images_star", "sweeps_images_star_aligned"]
            {
                assert_eq!(argument_bytes(name, function), BYTES[0], "{name}");
            }
        }
    }

    /// What is known of a module before it is loaded is what it tells.
    #[test]
    fn the_table_is_right() {
        let all = |kind: &'static Kind| [(kind, kind.names[0]), (kind.of_sides(), kind.names[1])];
        let others = EIGHTS.iter().chain(&STARS).map(|kind| (kind, kind.names[0]));
        for (kind, name) in KINDS.iter().flat_map(all).chain(others) {
            let ptx = archive::ptx(name).unwrap().into_string().unwrap();
            let constant = |constant: &str| constant_of(name, constant);
            let told = ["lane_points", "column_pitch", "warp_sweeps", "slots_between", "blocks_at_once", "block_warps"];
            let known = [kind.points, kind.pitch, kind.stages, 1 + kind.ahead, kind.blocks, kind.warps];
            assert_eq!(told.map(constant), known, "{name}");
            let carriers = if kind.is_carried { CARRIERS } else { 0 };
            let threads = (kind.warps + carriers) * LANES;
            assert_eq!(["columns_lead", "block_threads_aligned"].map(constant), [kind.lead, threads], "{name}");
            let target = if kind.is_carried { ".target sm_90a\n" } else { ".target sm_90\n" };
            assert!(ptx.contains(target), "{name}");
        }
    }

    /// Boundaries that rows, or columns, have at both ends: each one alike, and with others.
    const ENDS: [[u32; 2]; 10] = [
        [CONSTANT; 2],
        [REPLICATE; 2],
        [SYMMETRIC; 2],
        [CIRCULAR; 2],
        [MIRROR; 2],
        [CONSTANT, MIRROR],
        [MIRROR, CONSTANT],
        [REPLICATE, MIRROR],
        [MIRROR, SYMMETRIC],
        [SYMMETRIC, CONSTANT],
    ];

    /// All pairs of those, rows first.
    fn beyonds() -> impl Iterator<Item = Beyond> {
        ENDS.into_iter().flat_map(|rows| ENDS.map(|columns| [rows, columns]))
    }

    /// What stands around a view, where constants are these numbers: above, below, before and behind.
    fn around_with(view: &View, beyond: Beyond, numbers: [f64; 4]) -> Around {
        let [above, below, before, behind] = numbers;
        let ends = |value, boundary| EndsArgument { value, boundary };
        Around::new(view, [ends([above, below], beyond[0]), ends([before, behind], beyond[1])])
    }

    /// The same, where they are all zeros.
    fn around(view: &View, beyond: Beyond) -> Around {
        around_with(view, beyond, [0.0; 4])
    }

    /// Images as they lie in memory.
    fn of_images(size: Size, [height, width]: [usize; 2]) -> View {
        View::of(size, [height, width, 1]).unwrap()
    }

    /// Each output of a view is one of the array, and its neighbours in the view are those under the filter.
    #[test]
    fn views_have_the_array_and_its_neighbours() {
        for size in [[5, 7, 3], [1, 4, 6], [8, 1, 2], [3, 2, 1]] {
            for filter in [[3, 3, 1], [1, 3, 1], [3, 1, 1], [5, 1, 3], [1, 1, 5], [7, 1, 7]] {
                let view = View::of(size, filter).unwrap();
                let [rows, columns, images] = view.size;
                let of_view =
                    |[row, column, image]: [usize; 3]| image * view.image_step + column * view.column_step + row;
                let mut taken = vec![0; size.iter().product()];
                for image in 0..images {
                    for (column, row) in (0..columns).flat_map(|column| (0..rows).map(move |row| (column, row))) {
                        let at = of_view([row, column, image]);
                        taken[at] += 1;
                        let place = [at % size[0], at / size[0] % size[1], at / (size[0] * size[1])];
                        // Along which dimension of the array each dimension of the view's filter goes.
                        let pages = filter[2] > 1;
                        for (of_filter, along, own, count) in [
                            (view.filter[0], 0, row, rows),
                            (view.filter[1], if pages { 2 } else { 1 }, column, columns),
                        ] {
                            if of_filter > 1 {
                                assert_eq!((own, count), (place[along], size[along]), "{view:?} of {size:?}");
                                assert!(along == 0 || along == view.across, "{view:?} of {size:?}");
                            }
                        }
                    }
                }
                assert!(taken.iter().all(|&count| count == 1), "{view:?} of {size:?}");
                let entries: usize = view.filter.iter().product();
                assert_eq!(entries, filter.iter().product::<usize>(), "{view:?}");
                assert!([view.column_step, view.image_step].iter().all(|step| step % size[0] == 0));
            }
        }
        assert_eq!(View::of([100; 3], [3, 3, 3]), None);
        assert_eq!(View::of([100; 3], [1, 3, 3]), None);
        // Longer columns than the kernel counts.
        let long = View::of([1 << 20, 1 << 10, 8], [1, 1, 3]).unwrap();
        assert_eq!((long.size, long.image_step), ([1 << 20, 8, 1 << 10], 1 << 20));
    }

    /// The view's rows have the ends of the first dimension, its columns those of the one that they go along; where the
    /// filter sees nothing of them, or a mirror has nothing to show, another boundary has the same results.
    #[test]
    fn views_have_the_sides_of_the_array() {
        let constant = Boundary::Constant;
        let ends = |low, high| Ends::new(low, high).unwrap();
        let of_rows = ends(constant(1.0), Boundary::Mirror);
        let of_columns = ends(Boundary::Replicate, constant(2.0));
        let of_pages = ends(Boundary::Mirror, constant(3.0));
        let sides = Sides::from([of_rows, of_columns, of_pages]);
        let found = |size, filter| {
            let view = View::of(size, filter).unwrap();
            let around = Around::new(&view, [sides[0], sides[view.across]].map(EndsArgument::new));
            assert!(around.own_sides);
            [around.rows, around.columns].map(|ends| (ends.boundary, ends.value))
        };
        let (rows, columns) = (([CONSTANT, MIRROR], [1.0, 0.0]), ([REPLICATE, CONSTANT], [0.0, 2.0]));
        let (pages, unseen) = (([MIRROR, CONSTANT], [0.0, 3.0]), ([CIRCULAR; 2], [0.0; 2]));
        assert_eq!(found([50, 60, 7], [3, 5, 1]), [rows, columns]);
        assert_eq!(found([50, 60, 7], [3, 1, 5]), [rows, pages]);
        assert_eq!(found([50, 60, 7], [3, 1, 1]), [rows, unseen]);
        assert_eq!(found([50, 60, 7], [1, 5, 1]), [([REPLICATE; 2], [0.0; 2]), columns]);
        assert_eq!(found([50, 60, 7], [1, 1, 5]), [([REPLICATE; 2], [0.0; 2]), pages]);
        assert_eq!(found([50, 60, 1], [3, 1, 5]), [rows, ([REPLICATE, CONSTANT], [0.0, 3.0])]);
    }

    /// The module for one boundary is for that alone: the same number beyond all sides that are seen, and no mirror.
    #[test]
    fn one_boundary_needs_no_sides_of_its_own() {
        let own = |filter, columns, beyond, numbers| {
            around_with(&of_images([50, columns, 1], filter), beyond, numbers).own_sides
        };
        for boundary in [CONSTANT, REPLICATE, SYMMETRIC, CIRCULAR] {
            for numbers in [[0.5; 4], [0.0; 4], [f64::NAN; 4]] {
                assert!(!own([3, 5], 60, [[boundary; 2]; 2], numbers), "{boundary}");
            }
            // Numbers count where they are seen.
            for differs in 0..4 {
                let mut numbers = [0.0; 4];
                numbers[differs] = -0.0;
                let is_constant = boundary == CONSTANT;
                assert_eq!(own([3, 5], 60, [[boundary; 2]; 2], numbers), is_constant, "{boundary}");
                assert_eq!(own([3, 1], 60, [[boundary; 2]; 2], numbers), is_constant && differs < 2, "{boundary}");
                assert_eq!(own([1, 5], 60, [[boundary; 2]; 2], numbers), is_constant && differs > 1, "{boundary}");
            }
            assert!(own([3, 5], 60, [[boundary; 2], [MIRROR; 2]], [0.0; 4]), "{boundary}");
            assert!(!own([3, 1], 60, [[boundary; 2], [MIRROR; 2]], [0.0; 4]), "{boundary}");
            assert!(!own([1, 5], 60, [[MIRROR, REPLICATE], [boundary; 2]], [0.0; 4]), "{boundary}");
        }
        for beyond in [[[MIRROR; 2]; 2], [[REPLICATE, SYMMETRIC]; 2], [[REPLICATE; 2], [CIRCULAR; 2]]] {
            assert!(own([3, 5], 60, beyond, [0.0; 4]), "{beyond:?}");
        }
        assert!(!own([3, 5], 1, [[REPLICATE; 2], [MIRROR; 2]], [0.0; 4]));
    }

    #[test]
    fn what_stands_outside_is_plain_unless_it_underflows() {
        let limit = underflow_limit(&[1.0 / 49.0], 1);
        for value in [0.0, -0.0, 1.0, -3.5e-200, f64::MAX] {
            assert!(is_plain::<f64>(value, limit), "{value}");
        }
        for value in [f64::NAN, f64::INFINITY, 5e-324, -1e-310] {
            assert!(!is_plain::<f64>(value, limit), "{value}");
        }
    }

    /// Segments at an edge are shorter where there is one, by what it takes the warps, and not by as much as they have.
    #[test]
    fn edges_are_counted_as_columns() {
        let edge = |kind: &Kind, boundary, warps, columns| {
            let around = around(&of_images([8192, 8192, 1], kind.filter), [[boundary; 2]; 2]);
            kind.edge(&around, warps, columns)
        };
        let (single, star, double) = (&KINDS[0], &STARS[0], &KINDS[15]);
        for boundary in [CONSTANT, REPLICATE, SYMMETRIC, MIRROR] {
            assert_eq!([4, 1].map(|warps| edge(single, boundary, warps, 341)), [24, 6]);
            assert_eq!(edge(star, boundary, 8, 585), 40);
            assert_eq!([32, 1].map(|columns| edge(single, boundary, 4, columns)), [18, 0]);
            assert_eq!(edge(double, boundary, 4, 341), 0);
        }
        // What comes from around the image's end is no matter of the warps.
        assert_eq!([single, star, double].map(|kind| edge(kind, CIRCULAR, 4, 341)), [6, 5, 0]);
        assert_eq!([1, 8].map(|warps| edge(star, CIRCULAR, warps, 5)), [2; 2]);
    }

    /// What a filter reaches along one dimension has nothing to do with the other.
    #[test]
    fn rows_and_columns_reach_as_far_as_their_own_entries() {
        let kind = |filter: [usize; 2]| Kind::of::<f64>(filter, false).unwrap();
        let depth = |filter, columns| {
            let around = around(&of_images([8192, 8192, 1], filter), [[REPLICATE; 2], columns]);
            kind(filter).depth(&around)
        };
        let of = |filter, boundary| (kind(filter).reach(4), depth(filter, [boundary; 2]));
        assert_eq!(of([7, 3], SYMMETRIC), ([24, 8], 2));
        assert_eq!(of([3, 7], SYMMETRIC), ([4, 12], 4));
        assert_eq!(of([3, 7], REPLICATE), ([4, 12], 2));
        // A mirror shows a column more, and one before the first is taken while the next one comes.
        assert_eq!((of([7, 3], MIRROR), of([3, 7], MIRROR)), (([24, 8], 3), ([4, 12], 5)));
        let depths = [[SYMMETRIC, CONSTANT], [CONSTANT, SYMMETRIC], [MIRROR, REPLICATE], [CONSTANT, MIRROR]];
        assert_eq!(depths.map(|ends| depth([3, 7], ends)), [4, 3, 5, 4]);
        // 8192 rows in strips of 544 less 24 on either side, and of 416 less 4.
        let strips = |filter| {
            let around = around(&of_images([8192, 8192, 1], filter), [[CONSTANT; 2]; 2]);
            kind(filter).strips(8192, &around, 4)
        };
        assert_eq!([strips([7, 3]), strips([3, 7])], [Some((17, LANES)), Some((21, LANES))]);
        for kind in &KINDS {
            let [rows, columns] = kind.filter;
            let size = if rows == columns { format!("_0{rows}") } else { format!("_0{rows}x0{columns}") };
            assert!(kind.names.iter().all(|name| name.ends_with(&size)), "{:?}", kind.names);
        }
    }

    /// What the tests of the engines rely on, with the multiprocessors of the stand-in for the driver: all these arrays go
    /// to this kernel, whatever stands around them.
    #[test]
    fn the_tests_of_sides_are_for_this_kernel() {
        for (in_double, filter, size, sweeps) in IN_IMAGES {
            for beyond in beyonds() {
                let time = if in_double {
                    time_of_a_sweep::<f64>(filter, size, beyond, sweeps, 4)
                } else {
                    time_of_a_sweep::<f32>(filter, size, beyond, sweeps, 4)
                };
                assert!(time.is_some(), "{size:?} by {filter:?}, {beyond:?}");
            }
        }
    }

    /// Whether in double, a filter, the size of an array, and how many sweeps.
    const IN_IMAGES: [(bool, Size, Size, usize); 39] = include!("../../../tests/engines/sides_in_images.in");

    /// The same for the modules whose blocks have eight warps.
    #[test]
    fn the_tests_of_eight_warps_are_for_these_modules() {
        let kinds = [CONSTANT, REPLICATE, SYMMETRIC, CIRCULAR];
        let mut lines = [0, 0];
        for (_, boundary, filter, size, sweeps) in BY_EIGHT {
            let view = View::of(size, filter).unwrap();
            let way = fastest_for::<f64>(&view, &around(&view, [[kinds[boundary]; 2]; 2]), false, sweeps, 4).unwrap();
            assert!(is_of_eight(way.kind), "{size:?} by {filter:?}, {boundary}: {way:?}");
            if let Division::Line { .. } = way.layout.division {
                // Columns and strips that begin at multiples of 16 bytes, and others.
                lines[size[0] % 2] += 1;
            }
        }
        assert!(lines.iter().all(|&count| count > 2), "{lines:?}");
    }

    fn is_of_eight(kind: &Kind) -> bool {
        kind.warps == 8 && !kind.is_star
    }

    /// The fastest way by any filter of a view's size, or by a star.
    fn fastest_for<T: Element>(
        view: &View,
        around: &Around,
        by_star: bool,
        sweeps: usize,
        multiprocessors: usize,
    ) -> Option<Way> {
        let star = Kind::among::<T>(&STARS, view.filter).filter(|_| by_star);
        let kinds = Kind::all_for::<T>(view.filter, around.own_sides).chain(star);
        let ways: Vec<_> = kinds.flat_map(|kind| ways(kind, view, around, sweeps, multiprocessors)).collect();
        fastest(&ways, sweeps).copied()
    }

    /// Whether in double, which boundary, a filter, the size of an array, and how many sweeps.
    const BY_EIGHT: [(bool, usize, Size, Size, usize); 24] = include!("../../../tests/engines/images_by_eight.in");

    /// Eight warps do many sweeps over large images, and four do a few.
    #[test]
    fn eight_warps_are_for_many_sweeps() {
        for filter in EIGHTS.map(|kind| kind.filter) {
            let view = of_images([8192, 8192, 1], filter);
            let around = around(&view, [[CIRCULAR; 2]; 2]);
            let by_eight = |sweeps| is_of_eight(fastest_for::<f64>(&view, &around, false, sweeps, 132).unwrap().kind);
            let stages = if filter == [3, 3] { 2 } else { 1 };
            assert!([200, 8 * stages].into_iter().all(by_eight), "{filter:?}");
            assert!(![4 * stages, 3].into_iter().any(by_eight), "{filter:?}");
        }
    }

    /// And for the kernel for stars: an H200's and those of the stand-in.
    #[test]
    fn the_tests_of_stars_are_for_this_kernel() {
        let kinds = [CONSTANT, REPLICATE, SYMMETRIC, CIRCULAR];
        for (in_double, boundary, filter, size, sweeps) in STARS_OF_IMAGES {
            let view = View::of(size, filter).unwrap();
            let around = around(&view, [[kinds[boundary]; 2]; 2]);
            let fastest_for = if in_double { fastest_for::<f64> } else { fastest_for::<f32> };
            let way = fastest_for(&view, &around, true, sweeps, 4).unwrap();
            assert!(way.kind.is_star, "{size:?} by {filter:?}, {boundary}: {way:?}");
        }
    }

    /// Whether in double, which boundary, a star's size, that of an array, and how many sweeps.
    const STARS_OF_IMAGES: [(bool, usize, Size, Size, usize); 17] = include!("../../../tests/engines/stars.in");

    #[test]
    fn a_star_is_zero_beside_its_middle() {
        let at = |n: usize| {
            let mut entries = [0.0, 1.0, -0.0, 1.0, 2.0, f64::NAN, 0.0, 0.0, 0.0];
            entries[n] = 3.0;
            is_star(&entries, [3, 3])
        };
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(at), [false, true, false, true, true, true, false, true, false]);
        let mut entries = [0.0_f32; 25];
        entries[10..15].fill(1.0);
        entries.iter_mut().skip(2).step_by(5).for_each(|entry| *entry = 1.0);
        assert!(is_star(&entries, [5, 5]));
        entries[11 + 5] = f32::NAN;
        assert!(!is_star(&entries, [5, 5]));
    }

    /// Each launch is one that the kernel is made for, whatever the array.
    #[test]
    fn layouts_are_what_the_kernel_can_do() {
        let mut found = 0;
        for kind in KINDS.iter().chain(&EIGHTS).chain(&STARS) {
            for rows in [1, 12, 13, 20, 21, 36, 44, 100, 500, 671, 672, 673, 1344, 8192, 1 << 20] {
                for columns in [1, 2, 7, 100, 8192] {
                    for pages in [1, 3, 100] {
                        for (number, beyond) in beyonds().enumerate() {
                            for sweeps in [2, 3, 4, 7, 200] {
                                if beyond[0] != beyond[1] && (number + rows + sweeps) % 7 != 0 {
                                    continue;
                                }
                                let size = [rows, columns, pages];
                                let view = of_images(size, kind.filter);
                                let around = around(&view, beyond);
                                if !kind.knows_sides() && around.own_sides {
                                    continue;
                                }
                                let kind = if around.own_sides { kind.of_sides() } else { kind };
                                for way in ways(kind, &view, &around, sweeps, 132) {
                                    found += 1;
                                    check(kind, &way.layout, view.size, &around, sweeps);
                                }
                            }
                        }
                    }
                }
            }
        }
        assert!(found > 1000, "{found}");
    }

    fn check(kind: &Kind, layout: &Layout, [rows, columns, pages]: Size, around: &Around, sweeps: usize) {
        let what = format!("{layout:?} for {rows} x {columns}, {around:?}");
        let [of_rows, of_columns] = [around.rows, around.columns].map(|ends| ends.boundary);
        let (height, [reach, _]) = (layout.lanes * kind.points, kind.reach(layout.warps));
        assert!((1..=LANES).contains(&layout.lanes) && height <= rows, "{what}");
        let skipped = kind.most_skipped();
        assert!((1..=kind.warps).contains(&layout.warps) && layout.warps * kind.stages - skipped <= sweeps, "{what}");
        match layout.division {
            Division::Segments { count, share, edge } => {
                assert!((1..=columns).contains(&count), "{what}");
                assert!(16 * edge * count <= 9 * columns, "{what}");
                assert!(share == 0 || (count.is_multiple_of(2) && share < 256), "{what}");
            }
            Division::Line { parts } => {
                let strips = layout.strips * pages;
                assert!(kind.is_carried && (2..=parts.min(MOST_OF_A_LINE)).contains(&strips), "{what}");
                // The last part, which is as long as the others, begins in the line.
                let whole = kind.line(strips, columns, layout.warps);
                assert!((parts - 1) * whole.div_ceil(parts) < whole, "{what}");
            }
        }
        assert!(layout.depth >= 2 && layout.shared_bytes + SHARED_BESIDE <= MOST_SHARED, "{what}");
        // What a boundary shows is in the rings, and behind them there is a column for each constant.
        let mut constants = of_columns.iter().filter(|&&end| end == CONSTANT).count();
        if !around.own_sides {
            constants = constants.min(1);
        }
        let all = layout.warps * layout.depth + kind.lead - 1 + layout.last_depth + constants;
        assert!(layout.shared_bytes >= all * kind.pitch * kind.element(), "{what}");
        let shows = |end| kind.radius()[1] + usize::from(of_columns[end] == MIRROR);
        let repeats = |end: usize| matches!(of_columns[end], SYMMETRIC | MIRROR);
        assert!(!repeats(0) || layout.depth > shows(0) + 2 * kind.ahead, "{what}");
        assert!(!repeats(1) || layout.depth >= shows(1) + 2 * kind.ahead, "{what}");
        assert!((2 + 2 * kind.ahead..=layout.depth).contains(&layout.last_depth), "{what}");
        assert!(around.own_sides || layout.last_depth == layout.depth, "{what}");
        assert!(columns > 1 || !of_columns.contains(&MIRROR), "{what}");
        assert!(layout.lanes > 1 || of_rows[0] == of_rows[1], "{what}");
        // Strips reach from edge to edge.
        let step = height as isize - 2 * reach as isize;
        let all = layout.strips as isize * step;
        let covered = if of_rows[0] == CIRCULAR { all } else { all + 2 * reach as isize };
        assert!(covered >= rows as isize, "{what}");
    }

    #[test]
    fn large_images_do_as_many_sweeps_a_launch_as_there_are_warps_for() {
        for kind in KINDS.iter().chain(&EIGHTS).chain(&STARS) {
            for beyond in beyonds() {
                let view = of_images([8192, 8192, 1], kind.filter);
                let around = around(&view, beyond);
                if !kind.knows_sides() && around.own_sides {
                    continue;
                }
                let kind = if around.own_sides { kind.of_sides() } else { kind };
                let ways = ways(kind, &view, &around, 200, 132);
                let layout = fastest(&ways, 200).unwrap().layout;
                // What a mirror shows of 3 x 5 is as much as a warp's ring.
                let most = kind.warps - usize::from(kind.names == EIGHTS[2].names && beyond[1] == [SYMMETRIC; 2]);
                assert_eq!(layout.warps, most, "{:?}, {beyond:?}: {layout:?}", kind.names);
                // Memory is no reason for fewer blocks.
                let room = MOST_SHARED / (layout.shared_bytes + SHARED_BESIDE);
                assert!(room >= kind.blocks, "{:?}, {beyond:?}: {layout:?}", kind.names);
            }
        }
    }
}
