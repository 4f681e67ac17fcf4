//! The modules for several sweeps over images in a launch: what is known of each before it is loaded. The numbers are
//! measured or are those that the module itself tells; a test compares the latter.

use crate::cuda::Element;

/// Threads of a warp, and the most sweeping warps of most blocks.
pub(super) const LANES: usize = 32;
pub(super) const WARPS: usize = 4;

/// The warps that come with a producer: `PRODUCER_WARPS` of `cuda/images/launch.cuh`.
pub(super) const PRODUCER_WARPS: usize = 4;

/// The elements at either end of a ring's columns: `PAD` of `cuda/images/launch.cuh`.
pub(super) const PAD: usize = 4;

/// A module, and what is known of it before it is loaded.
#[derive(Debug)]
pub(super) struct ModuleSpec {
    /// Of the module for one boundary, and of the one in which each side has its own.
    pub(super) names: [&'static str; 2],
    /// Whether it is for single precision, and not for double.
    is_single: bool,
    /// Rows and columns of the filter.
    pub(super) filter: [usize; 2],
    /// Rows of a strip that a lane holds.
    pub(super) lane_rows: usize,
    /// Places from a column to the next in shared memory.
    pub(super) pitch: usize,
    /// Sweeps that a warp does.
    pub(super) warp_sweeps: usize,
    /// The most warps of a block that sweep.
    pub(super) warps: usize,
    /// Slots that a column is in a warp's registers before its turn.
    pub(super) slots_ahead: usize,
    /// How many slots ahead of the first warp a column comes from device memory.
    pub(super) load_lead: usize,
    /// Whether a producer, one thread of another warp, copies for all where columns begin at multiples of 16 bytes.
    pub(super) has_producer: bool,
    /// Blocks that a multiprocessor holds.
    pub(super) blocks: usize,
    /// In columns, how much longer each warp takes for a segment that has the image's first or last column; where
    /// columns go round, all of them together. Measured on an H200 and an H100.
    pub(super) edge_columns: usize,
    /// 256ths of a pair of segments that the longer one has: what the blocks that have precedence on their
    /// multiprocessor do while the others do the rest.
    pub(super) long_share_256: usize,
    /// How long a slot takes where all multiprocessors hold as many blocks as they can, in microseconds.
    pub(super) slot_time: f64,
    /// How many thousand updates a microsecond the kernels for single sweeps do.
    pub(super) single_sweep_rate: f64,
    /// Whether its module has a kernel for stars, too.
    pub(super) is_star: bool,
}

/// The names of the modules for a class and a filter.
macro_rules! names {
    ($of:literal) => {
        [concat!("sweeps_images_", $of), concat!("sweeps_images_sides_", $of)]
    };
}

/// 3 x 3 in double where each side has its own boundary: registers hold fewer rows.
const DOUBLE_03_OF_SIDES: ModuleSpec = double(names!("double_03"), [3, 3], [17, 2], 192, [0.826, 252.0]);

/// Measured on an H200 with driver 580 and 8192 x 8192: for each class the square filters, then the others. Single
/// sweeps by the latter in double go through tensor cores.
pub(super) const OF_FOUR_WARPS: [ModuleSpec; 24] = [
    float(names!("float_03"), [3, 3], [24, 2], [0.572, 430.0]),
    float(names!("float_05"), [5, 5], [24, 1], [0.721, 355.0]),
    float(names!("float_07"), [7, 7], [24, 1], [1.308, 260.0]),
    float(names!("float_03x05"), [3, 5], [24, 1], [0.513, 131.0]),
    float(names!("float_05x03"), [5, 3], [28, 2], [0.991, 119.0]),
    float(names!("float_03x07"), [3, 7], [24, 1], [0.629, 114.0]),
    float(names!("float_07x03"), [7, 3], [28, 2], [1.331, 96.0]),
    float(names!("float_05x07"), [5, 7], [24, 1], [0.962, 82.0]),
    float(names!("float_07x05"), [7, 5], [24, 1], [0.968, 77.0]),
    float_line(names!("float_01x03"), [1, 3], [20, 2, 3], [0.571, 191.0]),
    float_line(names!("float_01x05"), [1, 5], [20, 1, 3], [0.561, 181.0]),
    float_line(names!("float_01x07"), [1, 7], [28, 1, 2], [0.538, 169.0]),
    float_line(names!("float_03x01"), [3, 1], [28, 8, 4], [1.853, 177.0]),
    float_line(names!("float_05x01"), [5, 1], [28, 4, 4], [1.644, 149.0]),
    float_line(names!("float_07x01"), [7, 1], [28, 4, 4], [2.138, 126.0]),
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

/// Blocks of eight warps, where all sides have one boundary: for the filters for which that is faster. Measured on an
/// H100, which is as fast as an H200 there.
pub(super) const OF_EIGHT_WARPS: [ModuleSpec; 5] = [
    double(names!("eight_double_03"), [3, 3], [17, 2], 192, [0.681, 252.0]).of_eight().with_producer(),
    double(names!("eight_double_05"), [5, 5], [17, 1], 192, [0.922, 236.0]).of_eight().with_producer(),
    double(names!("eight_double_03x05"), [3, 5], [19, 1], 192, [0.629, 217.0]).of_eight().with_producer(),
    double(names!("eight_double_03x07"), [3, 7], [15, 1], 192, [0.664, 217.0]).of_eight().with_producer(),
    double(names!("eight_double_05x07"), [5, 7], [11, 1], 192, [0.853, 217.0]).of_eight().with_producer(),
];

/// Filters that are zero beside their middle row and column, by blocks of eight warps. Measured on an H100.
pub(super) const STARS: [ModuleSpec; 6] = [
    float(names!("star_float_03"), [3, 3], [32, 2], [0.515, 430.0]).of_eight().of_star(),
    float(names!("star_float_05"), [5, 5], [28, 1], [0.490, 355.0]).of_eight().of_star(),
    float(names!("star_float_07"), [7, 7], [24, 1], [0.495, 260.0]).of_eight().of_star(),
    double(names!("star_double_03"), [3, 3], [17, 2], 192, [0.530, 252.0]).of_eight().of_star(),
    double(names!("star_double_05"), [5, 5], [17, 1], 192, [0.510, 236.0]).of_eight().of_star(),
    double(names!("star_double_07"), [7, 7], [11, 1], 192, [0.385, 191.0]).of_eight().of_star(),
];

/// A module in single precision, where both blocks of a multiprocessor are as fast.
const fn float(
    names: [&'static str; 2],
    filter: [usize; 2],
    [lane_rows, warp_sweeps]: [usize; 2],
    [slot_time, single_sweep_rate]: [f64; 2],
) -> ModuleSpec {
    // Of eight lanes that read 16 bytes each, none reads in the banks of another: behind each so many there is a gap.
    let gaps = match (lane_rows / 4).trailing_zeros() {
        0 => 0,
        1 => LANES / 4,
        2 => LANES / 2,
        _ => LANES,
    };
    ModuleSpec {
        names,
        is_single: true,
        filter,
        lane_rows,
        pitch: LANES * lane_rows + 4 * gaps + 2 * PAD,
        warp_sweeps,
        warps: WARPS,
        slots_ahead: 1,
        load_lead: if filter[0] == 3 && filter[1] == 3 { 5 } else { 3 },
        has_producer: false,
        blocks: 2,
        edge_columns: 6,
        long_share_256: 128,
        slot_time,
        single_sweep_rate,
        is_star: false,
    }
}

/// A module in single precision for a filter of one row or one column.
const fn float_line(
    names: [&'static str; 2],
    filter: [usize; 2],
    [lane_rows, warp_sweeps, blocks]: [usize; 3],
    measured: [f64; 2],
) -> ModuleSpec {
    ModuleSpec {
        blocks,
        slots_ahead: 0,
        load_lead: 3,
        edge_columns: 0,
        ..float(names, filter, [lane_rows, warp_sweeps], measured)
    }
}

/// A module in double precision.
const fn double(
    names: [&'static str; 2],
    filter: [usize; 2],
    [lane_rows, warp_sweeps]: [usize; 2],
    long_share_256: usize,
    [slot_time, single_sweep_rate]: [f64; 2],
) -> ModuleSpec {
    ModuleSpec {
        names,
        is_single: false,
        filter,
        lane_rows,
        pitch: LANES * lane_rows + 2 * PAD,
        warp_sweeps,
        warps: WARPS,
        slots_ahead: 0,
        load_lead: 3,
        has_producer: false,
        blocks: 2,
        edge_columns: 0,
        long_share_256,
        slot_time,
        single_sweep_rate,
        is_star: false,
    }
}

impl ModuleSpec {
    /// With blocks of eight warps, which read ahead; a multiprocessor holds one.
    const fn of_eight(self) -> ModuleSpec {
        ModuleSpec { warps: 2 * WARPS, slots_ahead: 1, load_lead: 3, blocks: 1, ..self }
    }

    /// With a producer.
    const fn with_producer(self) -> ModuleSpec {
        ModuleSpec { load_lead: 6, has_producer: true, ..self }
    }

    /// With a kernel for stars.
    const fn of_star(self) -> ModuleSpec {
        ModuleSpec { is_star: true, edge_columns: 5, ..self }
    }

    /// The module of blocks of four warps for a filter of this size.
    pub(super) fn of<T: Element>(filter: [usize; 2], own_sides: bool) -> Option<&'static ModuleSpec> {
        let spec = ModuleSpec::find::<T>(&OF_FOUR_WARPS, filter)?;
        Some(if own_sides { spec.of_sides() } else { spec })
    }

    /// The modules for any filter of this size.
    pub(super) fn all_of<T: Element>(filter: [usize; 2], own_sides: bool) -> impl Iterator<Item = &'static ModuleSpec> {
        let eight = ModuleSpec::find::<T>(&OF_EIGHT_WARPS, filter).filter(|_| !own_sides);
        ModuleSpec::of::<T>(filter, own_sides).into_iter().chain(eight)
    }

    /// The module for stars of this size.
    pub(super) fn for_stars<T: Element>(filter: [usize; 2]) -> Option<&'static ModuleSpec> {
        ModuleSpec::find::<T>(&STARS, filter)
    }

    fn find<T: Element>(specs: &'static [ModuleSpec], filter: [usize; 2]) -> Option<&'static ModuleSpec> {
        specs.iter().find(|spec| spec.is_single == (T::NAME == f32::NAME) && filter == spec.filter)
    }

    /// What is known where each side has its own boundary.
    pub(super) fn of_sides(&'static self) -> &'static ModuleSpec {
        let [_, name] = self.names;
        if name == DOUBLE_03_OF_SIDES.names[1] { &DOUBLE_03_OF_SIDES } else { self }
    }

    /// Whether both are of the same modules.
    pub(super) fn is(&self, other: &ModuleSpec) -> bool {
        self.names == other.names
    }

    /// How many sweeps of its first warp a launch may skip: only where a column needs nothing of others.
    pub(super) fn max_skipped_sweeps(&self) -> usize {
        if self.filter[1] == 1 { self.warp_sweeps - 1 } else { 0 }
    }

    /// The fewest sweeps that are done in a launch. By filters of one row or column a single sweep is faster than by
    /// `cuda/convolution.cu`, so those that are left over are done here, too.
    pub(super) fn min_sweeps(&self) -> usize {
        if self.filter.contains(&1) { 1 } else { 2 }
    }

    /// How far an output's samples reach: above and below, and to either side.
    pub(super) fn radius(&self) -> [usize; 2] {
        self.filter.map(|size| size / 2)
    }

    /// The rows, and the columns, that a launch of so many warps spoils at a side that is not the image's.
    pub(super) fn reach(&self, warps: usize) -> [usize; 2] {
        self.radius().map(|radius| warps * self.warp_sweeps * radius)
    }

    /// How many slots a warp is behind the one before.
    pub(super) fn lag(&self) -> usize {
        self.warp_sweeps * self.radius()[1] + 1 + self.slots_ahead
    }

    /// Whether a launch may begin as the one before it ends. Where one of the two blocks of a multiprocessor has
    /// precedence, it would meet others than it was made for: 3 x 3 in double takes half as long again then.
    pub(super) fn begins_early(&self) -> bool {
        self.slots_ahead > 0
    }

    /// Bytes of an element.
    pub(super) fn element_bytes(&self) -> usize {
        if self.is_single { size_of::<f32>() } else { size_of::<f64>() }
    }

    /// Whether there is a module in which each side has its own boundary.
    #[cfg(test)]
    pub(super) fn knows_sides(&self) -> bool {
        self.warps == WARPS
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cuda::archive;
    use crate::cuda::module::tests::constant_of;

    /// All modules for one boundary.
    pub(in super::super::super) fn all() -> impl Iterator<Item = &'static ModuleSpec> {
        OF_FOUR_WARPS.iter().chain(&OF_EIGHT_WARPS).chain(&STARS)
    }

    /// What is known of a module before it is loaded is what it tells.
    #[test]
    fn the_table_is_right() {
        let sides = OF_FOUR_WARPS.iter().map(|spec| (spec.of_sides(), spec.names[1]));
        for (spec, name) in all().map(|spec| (spec, spec.names[0])).chain(sides) {
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
        for spec in &OF_FOUR_WARPS {
            let [rows, columns] = spec.filter;
            let size = if rows == columns { format!("_0{rows}") } else { format!("_0{rows}x0{columns}") };
            assert!(spec.names.iter().all(|name| name.ends_with(&size)), "{:?}", spec.names);
        }
    }
}
