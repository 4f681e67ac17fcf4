//! Layout of a launch over images: strips, segments, rings of columns, shared memory; and a model of its time from the
//! measured numbers of its module.

use super::table::{LANES, ModuleSpec, PAD};
use super::view::{Around, View};
use crate::cuda::arguments::{CIRCULAR, CONSTANT, EndsArgument, MIRROR, REPLICATE, SYMMETRIC};
use crate::cuda::kernels::MEASURED_ON;
use crate::partition::Size;

/// Partitions of a multiprocessor, each of which issues the instructions of its own warps.
const PARTITIONS: usize = 4;

/// Maximum number of strips of a line: its blocks sort them.
pub(super) const MAX_STRIPS_OF_A_LINE: usize = 64;

/// Shared memory of a multiprocessor, and the overhead of a block in it, in bytes: on chips of the capability that
/// these kernels are for.
pub(super) const SHARED_BYTES: usize = 228 << 10;
pub(super) const SHARED_BYTES_BESIDE: usize = 2 << 10;

/// Maximum shared memory of a block.
pub(super) const MAX_SHARED_BYTES: usize = SHARED_BYTES - SHARED_BYTES_BESIDE;

/// Every segment has fewer columns than twice this.
const MAX_SEGMENT_COLUMNS: usize = 1 << 23;

/// Maximum rate of single sweeps over a volume, in thousand updates a microsecond, on an H200.
const RATE_OVER_VOLUMES: f64 = 75.0;

/// Overhead of a launch, and of a single sweep, in microseconds.
pub(super) const LAUNCH_TIME: f64 = 3.0;

/// Division of the strips of all pages among blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Division {
    /// Each strip is in `count` segments. In pairs the longer one has this many 256ths, see
    /// [`ModuleSpec::long_share_256`]; 0 if all are equally long. Those at the image's edges are shorter by
    /// `edge_columns`.
    Segments { count: usize, long_share_256: usize, edge_columns: usize },
    /// All strips follow each other in one line, which is cut into `parts` equal parts.
    Line { parts: usize },
}

impl Division {
    /// Returns the number of blocks for `strips` strips.
    pub(super) fn blocks(self, strips: usize) -> usize {
        match self {
            Division::Segments { count, .. } => strips.saturating_mul(count),
            // The piece of a second strip in a part is a block of its own.
            Division::Line { parts } => parts + strips - 1,
        }
    }
}

/// Layout of one launch: see [`ImagesArgument`](crate::cuda::arguments::ImagesArgument).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LaunchLayout {
    /// Strips of a page.
    pub(super) strips: usize,
    pub(super) division: Division,
    pub(super) lanes: usize,
    pub(super) warps: usize,
    /// Columns in a ring.
    pub(super) depth: usize,
    /// Columns in the ring behind the last warp.
    pub(super) depth_behind_last: usize,
    pub(super) shared_bytes: usize,
}

impl LaunchLayout {
    /// True if the kernel can count the blocks of a launch.
    fn has_countable_blocks(&self, pages: usize) -> bool {
        self.division.blocks(self.strips.saturating_mul(pages)) <= i32::MAX as usize
    }
}

impl ModuleSpec {
    /// Returns the time of a sweep by the kernels for single sweeps, in microseconds.
    pub(super) fn time_of_single_sweep(&self, view: &View, multiprocessors: usize) -> f64 {
        let of_volumes = if view.is_volume { RATE_OVER_VOLUMES } else { f64::INFINITY };
        let rate = 1e3 * self.single_sweep_rate.min(of_volumes) * multiprocessors as f64 / MEASURED_ON;
        view.size.iter().product::<usize>() as f64 / rate + LAUNCH_TIME
    }

    /// Returns the fastest layout for `warps` warps, and the time of each sweep, in microseconds.
    pub(super) fn layout_of_warps(
        &self,
        size: Size,
        around: &Around,
        warps: usize,
        multiprocessors: usize,
    ) -> Option<(f64, LaunchLayout)> {
        let [rows, columns, pages] = size;
        let (strips, lanes) = self.strips(rows, around, warps)?;
        let depth = self.depth(around);
        let depth_behind_last = self.depth_behind_last(around);
        let shared_bytes = self.shared_bytes(around, warps);
        let blocks = self.blocks.min(SHARED_BYTES / (shared_bytes + SHARED_BYTES_BESIDE));
        if blocks == 0 {
            return None;
        }
        let capacity = multiprocessors * blocks;
        // The number of segments that keeps all multiprocessors busy once, twice, ..
        let segments = (1..=4).map(|waves| (capacity * waves / (strips * pages)).clamp(1, columns));
        let segments = segments.map(|segments| segments.max(columns.div_ceil(MAX_SEGMENT_COLUMNS)));
        let segments = segments.map(|count| {
            // If two blocks share a multiprocessor, segments are in pairs.
            let pairs = blocks == 2 && count > 1 && strips * count * pages > multiprocessors;
            let (count, long_share_256) = if pairs { (count & !1, self.long_share_256) } else { (count, 0) };
            let edge_columns = self.edge_columns_of(around, warps, columns / count);
            Division::Segments { count, long_share_256, edge_columns }
        });
        // No part has columns of three strips, and none begins behind the last strip.
        let is_line = self.has_producer && (2..=MAX_STRIPS_OF_A_LINE.min(capacity)).contains(&(strips * pages));
        let line = is_line.then(|| {
            let whole = self.columns_of_line(strips * pages, columns, warps);
            Division::Line { parts: whole.div_ceil(whole.div_ceil(capacity)) }
        });
        let divisions = segments.chain(line);
        let layout = |division| LaunchLayout { strips, division, lanes, warps, depth, depth_behind_last, shared_bytes };
        let time =
            |layout: &LaunchLayout| self.time(layout, size, capacity, blocks) / (warps * self.warp_sweeps) as f64;
        let layouts = divisions.map(layout).map(|layout| (time(&layout), layout));
        layouts.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(_, layout)| layout.has_countable_blocks(pages))
    }

    /// Returns the number of strips of an image, and of a warp's lanes that work on each.
    pub(super) fn strips(&self, rows: usize, around: &Around, warps: usize) -> Option<(usize, usize)> {
        let lanes = LANES.min(rows / self.lane_rows);
        let EndsArgument { value, boundary } = around.rows;
        // A lane knows one end.
        if lanes == 1 && (boundary[0] != boundary[1] || value[0].to_bits() != value[1].to_bits()) {
            return None;
        }
        let (height, [reach, _]) = (lanes * self.lane_rows, self.reach(warps));
        let step = height.checked_sub(2 * reach).filter(|&step| step > 0);
        let strips = if boundary[0] == CIRCULAR {
            // A strip wraps around once at most.
            (reach <= rows).then_some(rows.div_ceil(step?))?
        } else if height == rows && lanes > 0 {
            1
        } else {
            1 + (rows - height).div_ceil(step?)
        };
        Some((strips, lanes))
    }

    /// Returns the columns in the rings between warps: they must hold the columns that a boundary refers to. While the
    /// columns before the first one are taken one more comes; behind the last none does.
    pub(super) fn depth(&self, around: &Around) -> usize {
        let [_, radius] = self.radius();
        let [low, high] = around.columns.boundary.map(|end| match end {
            SYMMETRIC => radius,
            MIRROR => radius + 1,
            _ => 1,
        });
        2 * self.slots_ahead + (low + 1).max(high).max(2)
    }

    /// Returns the columns in the ring behind the last warp, which holds no ghost columns. Where warps do not read
    /// ahead, memory suffices for as many as in other rings.
    fn depth_behind_last(&self, around: &Around) -> usize {
        if around.own_sides && self.slots_ahead > 0 { 2 * self.slots_ahead + 2 } else { self.depth(around) }
    }

    /// Returns the shared memory of a block, for the rings and the columns of constants, and for a column that each
    /// warp keeps.
    fn shared_bytes(&self, around: &Around, warps: usize) -> usize {
        let [low, high] = around.columns.boundary.map(|end| end == CONSTANT);
        let constants = if around.own_sides { usize::from(low) + usize::from(high) } else { usize::from(low) };
        let columns = warps * self.depth(around) + self.load_lead - 1 + self.depth_behind_last(around) + constants;
        let kept = if self.keeps_a_column(around) { self.warps * (self.pitch - 2 * PAD) + 2 * PAD } else { 0 };
        (columns * self.pitch + kept) * self.element_bytes()
    }

    /// True if each warp keeps a column between its sweeps, as ghost column.
    fn keeps_a_column(&self, around: &Around) -> bool {
        let shows = matches!(around.columns.boundary[1], REPLICATE | SYMMETRIC | MIRROR);
        self.warp_sweeps > 1 && shows
    }

    /// Returns the columns of a line of `strips` strips, each extended by the columns that starting it costs.
    pub(super) fn columns_of_line(&self, strips: usize, columns: usize, warps: usize) -> usize {
        let [_, reach] = self.reach(warps);
        strips * (columns + reach + warps * self.lag())
    }

    /// Returns by how many columns segments at the image's edges are shorter than others, which have `columns` of them:
    /// by at most 9 of 16. Else one could be empty, and its neighbour would be at the edge.
    pub(super) fn edge_columns_of(&self, around: &Around, warps: usize, columns: usize) -> usize {
        let goes_round = around.columns.boundary == [CIRCULAR; 2];
        let edge_columns = if goes_round { self.edge_columns } else { self.edge_columns * warps };
        edge_columns.min(columns * 9 / 16)
    }

    /// True if columns and strips begin and end at multiples of 16 bytes, given that buffers do.
    pub(super) fn is_aligned(&self, [rows, ..]: Size, layout: &LaunchLayout) -> bool {
        let [reach, _] = self.reach(layout.warps);
        let height = layout.lanes * self.lane_rows;
        [rows, reach, height].into_iter().all(|rows| (rows * self.element_bytes()).is_multiple_of(16))
    }

    /// Returns the time of a launch, in microseconds.
    fn time(&self, layout: &LaunchLayout, [_, columns, pages]: Size, capacity: usize, blocks_at_once: usize) -> f64 {
        let [_, reach] = self.reach(layout.warps);
        let strips = layout.strips * pages;
        // Columns of a block, blocks of the launch, and extra columns.
        let (of_block, blocks, more) = match layout.division {
            Division::Segments { count, .. } => (columns.div_ceil(count), strips * count, 0.0),
            Division::Line { parts } => {
                // The later blocks sort strips.
                let part = self.columns_of_line(strips, columns, layout.warps).div_ceil(parts);
                (part, parts, LAUNCH_TIME + 0.01 * (strips * strips) as f64)
            }
        };
        let slots = of_block + 2 * reach + layout.warps * self.lag() + self.load_lead + self.slots_ahead;
        // If only one of two blocks is on a multiprocessor, it is less than twice as fast.
        let filled = (blocks as f64 / capacity as f64).min(1.0) * blocks_at_once as f64 / self.blocks as f64;
        let filled = if self.blocks > 1 { filled } else { 1.0 };
        // Nor is a partition with half the warps of a full block twice as fast with them.
        let [warps, most] = [layout.warps, self.warps].map(|warps| warps.div_ceil(PARTITIONS) as f64);
        let alone = 0.5 + 0.5 * warps / most;
        let slot_time = self.slot_time * (0.25 + 0.75 * filled) * alone;
        blocks.div_ceil(capacity) as f64 * slots as f64 * slot_time + LAUNCH_TIME + more
    }
}
