//! The modules for several sweeps over images in a launch: their properties before they are loaded.

use crate::cuda::Element;
use crate::cuda::catalogue::{self, Entry, table};

/// Threads of a warp, and the maximum of sweeping warps of most blocks.
pub(super) const LANES: usize = 32;
pub(super) const WARPS: usize = 4;

/// Number of warps that come with a producer: `PRODUCER_WARPS` of `cuda/sweeps/images/launch.cuh`.
pub(super) const PRODUCER_WARPS: usize = 4;

/// Elements at either end of a ring's columns: `PAD` of `cuda/sweeps/images/launch.cuh`.
pub(super) const PAD: usize = 4;

/// A module, and its properties before it is loaded.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModuleSpec {
    pub(super) name: &'static str,
    /// True if it is for single precision, false for double.
    is_float: bool,
    /// Rows and columns of the filter.
    pub(super) filter: [usize; 2],
    /// True if each side has its own boundary.
    pub(super) own_sides: bool,
    /// True if its module has a kernel for stars, too.
    pub(super) is_star: bool,
    /// Rows of a strip that a lane holds.
    pub(super) lane_rows: usize,
    /// Places from a column to the next in shared memory.
    pub(super) pitch: usize,
    /// Sweeps that a warp does.
    pub(super) warp_sweeps: usize,
    /// Maximum number of sweeping warps of a block.
    pub(super) warps: usize,
    /// Number of slots that a column is in a warp's registers before its turn.
    pub(super) slots_ahead: usize,
    /// Number of slots before the first warp's in which a column comes from device memory.
    pub(super) load_lead: usize,
    /// True if a producer, one thread of another warp, copies for all where columns begin at multiples of 16 bytes.
    pub(super) has_producer: bool,
    /// Number of blocks on a multiprocessor.
    pub(super) blocks: usize,
    /// Extra time of each warp for a segment with the image's first or last column, in columns; of all of them
    /// together, if columns are circular. Measured on an H200 and an H100.
    pub(super) edge_columns: usize,
    /// The longer segment's 256ths of a pair: the part that the blocks with precedence on their multiprocessor do while
    /// the others do the rest.
    pub(super) long_share_256: usize,
    /// Time of a slot with all multiprocessors full of blocks, in microseconds.
    pub(super) slot_time: f64,
    /// Thousand updates a microsecond by the kernels for single sweeps.
    pub(super) single_sweep_rate: f64,
}

table! {
    /// Measured on an H200 with driver 580 and 8192 x 8192; the modules of blocks of eight warps on an H100, which is
    /// as fast there. Single sweeps by filters that are not square go through tensor cores in double.
    MODULES: ModuleSpec = ModuleSpec::new, catalogue::IMAGES
}

impl ModuleSpec {
    /// Reads an entry of the catalogue.
    const fn new(entry: &Entry) -> ModuleSpec {
        let lane_rows = entry.count("LANE_ROWS");
        // For eight lanes that read 16 bytes of singles each to use different banks, there is a gap after each group of
        // them.
        let gaps = match (lane_rows / 4).trailing_zeros() {
            _ if !entry.is_float => 0,
            0 => 0,
            1 => LANES / 4,
            2 => LANES / 2,
            _ => LANES,
        };
        ModuleSpec {
            name: entry.name,
            is_float: entry.is_float,
            filter: [entry.count("ROWS"), entry.count("COLUMNS")],
            own_sides: entry.count_or("SIDES", 0) > 0,
            is_star: entry.count_or("STAR", 0) > 0,
            lane_rows,
            pitch: LANES * lane_rows + 4 * gaps + 2 * PAD,
            warp_sweeps: entry.count("WARP_SWEEPS"),
            warps: entry.count_or("BLOCK_WARPS", WARPS),
            slots_ahead: entry.count_or("SLOTS_AHEAD", 0),
            load_lead: entry.count("LOAD_LEAD"),
            has_producer: entry.count_or("SWEEPER_REGISTERS", 0) > 0,
            blocks: entry.count("BLOCKS"),
            edge_columns: entry.count_or("edge_columns", 0),
            long_share_256: entry.count_or("long_share_256", 128),
            slot_time: entry.number("slot_time"),
            single_sweep_rate: entry.number("single_sweep_rate"),
        }
    }

    /// Returns the modules for any filter of this size, those of blocks of four warps first.
    pub(super) fn all_of<T: Element>(filter: [usize; 2], own_sides: bool) -> impl Iterator<Item = &'static ModuleSpec> {
        ModuleSpec::find::<T>(filter).filter(move |spec| !spec.is_star && spec.own_sides == own_sides)
    }

    /// Returns the module for stars of this size.
    pub(super) fn for_stars<T: Element>(filter: [usize; 2]) -> Option<&'static ModuleSpec> {
        ModuleSpec::find::<T>(filter).find(|spec| spec.is_star)
    }

    fn find<T: Element>(filter: [usize; 2]) -> impl Iterator<Item = &'static ModuleSpec> {
        MODULES.iter().filter(move |spec| spec.is_float == (T::NAME == f32::NAME) && spec.filter == filter)
    }

    /// True if both are of the same module.
    pub(super) fn is(&self, other: &ModuleSpec) -> bool {
        self.name == other.name
    }

    /// Returns the reach of an output's samples: above and below, and to either side.
    pub(super) fn radius(&self) -> [usize; 2] {
        self.filter.map(|size| size / 2)
    }

    /// Returns the rows, and the columns, that a launch of `warps` warps invalidates at a side that is not the image's.
    pub(super) fn reach(&self, warps: usize) -> [usize; 2] {
        self.radius().map(|radius| warps * self.warp_sweeps * radius)
    }

    /// Returns the number of slots by which a warp lags the one before.
    pub(super) fn lag(&self) -> usize {
        self.warp_sweeps * self.radius()[1] + 1 + self.slots_ahead
    }

    /// True if a launch may begin as the one before it ends. Where one of the two blocks of a multiprocessor has
    /// precedence, it would then share it with unintended ones: 3 x 3 in double takes half as long again then.
    pub(super) fn begins_early(&self) -> bool {
        self.slots_ahead > 0
    }

    /// Returns the bytes of an element.
    pub(super) fn element_bytes(&self) -> usize {
        if self.is_float { size_of::<f32>() } else { size_of::<f64>() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::archive;
    use crate::cuda::module::tests::constant_of;

    /// Each module has the properties that the table gives.
    #[test]
    fn the_table_is_right() {
        for spec in &MODULES {
            let name = spec.name;
            let ptx = archive::ptx(name).unwrap().into_string().unwrap();
            let constant = |constant: &str| constant_of(name, constant);
            let told = ["lane_points", "column_pitch", "warp_sweeps", "slots_between", "blocks_at_once", "block_warps"];
            let known = [spec.lane_rows, spec.pitch, spec.warp_sweeps, 1 + spec.slots_ahead, spec.blocks, spec.warps];
            assert_eq!(told.map(constant), known, "{name}");
            let producer_warps = if spec.has_producer { PRODUCER_WARPS } else { 0 };
            let threads = (spec.warps + producer_warps) * LANES;
            assert_eq!(["columns_lead", "block_threads_aligned"].map(constant), [spec.load_lead, threads], "{name}");
            let target = if spec.has_producer { ".target sm_90a\n" } else { ".target sm_90\n" };
            assert!(ptx.contains(target), "{name}");
        }
    }

    #[test]
    fn names_tell_the_filter() {
        for spec in &MODULES {
            let [rows, columns] = spec.filter;
            let size = if rows == columns { format!("_0{rows}") } else { format!("_0{rows}x0{columns}") };
            assert!(spec.name.ends_with(&size), "{}", spec.name);
        }
    }
}
