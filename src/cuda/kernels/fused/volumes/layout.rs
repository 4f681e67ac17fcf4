//! The modules for volumes, the layout of a launch, and the comparison of its time with single sweeps.

use super::schedule::{ROUNDS, Schedule};
use crate::cuda::Element;
use crate::cuda::arguments::{Axis, Round};
use crate::cuda::catalogue::{self, Entry, table};
use crate::cuda::kernels::MEASURED_ON;
use crate::partition::Size;

/// Sweeps of a launch.
pub(super) const SWEEPS: usize = 2;

/// Threads of a warp.
pub(super) const LANES: usize = 32;

/// Upper bounds of the samples of a page, and of the pages: the kernel can count no more.
const MAX_PAGE_SAMPLES: usize = 1 << 31;
const MAX_PAGES: usize = 1 << 30;

/// Overhead of a launch, and of a single sweep, in microseconds.
const LAUNCH: f64 = 3.0;

/// A module, and its properties before it is loaded.
#[derive(Debug, Clone, Copy)]
pub(super) struct VolumesModule {
    pub(super) name: &'static str,
    pub(super) filter: Size,
    pub(super) is_float: bool,
    /// Elements in 16 bytes: the number of rows of a lane, and of elements copied at a time.
    pub(super) rows: usize,
    /// Columns of a lane, lanes below each other, which form a strip, and warps of a sweep.
    pub(super) columns: usize,
    pub(super) down: usize,
    pub(super) warps: usize,
    /// Time of a slot, in microseconds, if 16 bytes are copied at a time and if one element is; and thousand updates a
    /// microsecond of single sweeps (BENCHMARKS.md).
    slot: [f64; 2],
    rate: f64,
}

table! {
    /// Measured on an H200, with driver 580, with 512 x 512 x 512, also with copies of one element at a time; single
    /// sweeps in single are taken to be as fast as in double (with 256 x 256 x 256 they are not).
    MODULES: VolumesModule = VolumesModule::new, catalogue::VOLUMES
}

impl Axis {
    /// Returns tiles of `height` of `size` rows, where tiles and their outputs begin at multiples of `multiple`.
    fn new(size: usize, height: usize, multiple: usize, circular: bool) -> Option<Axis> {
        // A single tile writes all its samples.
        if height >= size && !circular {
            return Some(Axis { count: 1, step: height as i32, lead: 0, more: 0 });
        }
        let lead = multiple;
        let step = height.checked_sub(1 + lead)? / multiple * multiple;
        if step == 0 {
            return None;
        }
        // The first tile has no neighbour before it. If tiles begin at multiples of a number, so do their outputs.
        let more = if circular || multiple > 1 { 0 } else { 1 };
        let count =
            if circular { size.div_ceil(step) } else { 1 + (size + lead).checked_sub(height + more)?.div_ceil(step) };
        Some(Axis { count: count as i32, step: step as i32, lead: lead as i32, more: more as i32 })
    }
}

/// Layout of one launch: see [`VolumesArgument`](crate::cuda::arguments::VolumesArgument).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VolumesLayout {
    pub(super) down: Axis,
    pub(super) across: Axis,
    pub(super) lanes: usize,
    pub(super) strips: usize,
    pub(super) schedule: Schedule,
}

impl VolumesModule {
    /// Reads an entry of the catalogue.
    const fn new(entry: &Entry) -> VolumesModule {
        VolumesModule {
            name: entry.name,
            filter: [entry.count_or("TAP_ROWS", 3), 3, 3],
            is_float: entry.is_float,
            rows: 16 / if entry.is_float { size_of::<f32>() } else { size_of::<f64>() },
            columns: entry.count("LANE_COLUMNS"),
            down: entry.count("LANES_DOWN"),
            warps: entry.count("SWEEP_WARPS"),
            slot: [entry.number("slot_at_once"), entry.number("slot_one_by_one")],
            rate: entry.number("rate"),
        }
    }

    pub(super) fn of<T: Element>(filter: Size) -> Option<&'static VolumesModule> {
        MODULES.iter().find(|module| module.filter == filter && module.is_float == (T::NAME == f32::NAME))
    }

    /// Returns the layout for two sweeps, with `at_once` elements copied at a time, if there is one; `circular` is for
    /// rows, and columns.
    pub(super) fn layout(
        &self,
        size: Size,
        circular: [bool; 2],
        at_once: usize,
        multiprocessors: usize,
    ) -> Option<VolumesLayout> {
        let [rows, columns, pages] = size;
        if rows.checked_mul(columns).is_none_or(|page| page >= MAX_PAGE_SAMPLES) || pages >= MAX_PAGES {
            return None;
        }
        if rows % at_once != 0 {
            return None;
        }
        // No more lanes than have rows of their own, and no more strips than have columns.
        let most_strips = self.strips();
        let lanes = if circular[0] { self.down } else { self.down.min(rows / self.rows) };
        let strips = if circular[1] { most_strips } else { most_strips.min(columns / self.columns) };
        if lanes == 0 || strips == 0 {
            return None;
        }
        let (height, width) = (lanes * self.rows, strips * self.columns);
        // Columns of 32 bytes match memory's sectors, if they take no more tiles.
        let down = Axis::new(rows, height, at_once, circular[0])?;
        let in_sectors = Axis::new(rows, height, 2 * at_once, circular[0]);
        let sectors = at_once > 1 && rows.is_multiple_of(2 * at_once);
        let down = in_sectors.filter(|axis| sectors && axis.count == down.count).unwrap_or(down);
        let across = Axis::new(columns, width, 1, circular[1])?;
        let tiles = down.count.checked_mul(across.count)?;
        let all = Round { blocks: multiprocessors as i32, tiles, pages: pages as i32, ..Round::NONE };
        Some(VolumesLayout { down, across, lanes, strips, schedule: Schedule::new(all, ROUNDS) })
    }

    /// Returns the number of strips of a tile, side by side.
    pub(super) fn strips(&self) -> usize {
        self.warps * LANES / self.down
    }

    /// Returns the time of a slot, in microseconds, with `at_once` elements copied at a time.
    fn slot(&self, at_once: usize) -> f64 {
        self.slot[usize::from(at_once == 1)]
    }

    /// True if the launch is faster than single sweeps, with `at_once` elements copied at a time.
    pub(super) fn pays(&self, layout: &VolumesLayout, size: Size, at_once: usize, multiprocessors: usize) -> bool {
        layout.schedule.slots as f64 * self.slot(at_once) + LAUNCH < self.single_sweeps(size, multiprocessors)
    }

    /// Returns the time of the same number of single sweeps, in microseconds.
    fn single_sweeps(&self, size: Size, multiprocessors: usize) -> f64 {
        let rate = 1e3 * self.rate * multiprocessors as f64 / MEASURED_ON;
        SWEEPS as f64 * (size.iter().product::<usize>() as f64 / rate + LAUNCH)
    }
}
