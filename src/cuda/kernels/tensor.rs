//! Convolutions on FP64 tensor cores: `cuda/tensor/convolution.cu` and `cuda/tensor/volume.cu`.
//!
//! They give the bits of `cuda/convolution.cu` for all data. Only chips of [`CAPABILITY`](super::CAPABILITY) load them,
//! and only for work at which they are [faster](TensorModule::pays).

use std::ffi::CStr;
use std::ops::Range;

use cudarc::driver::sys;

use super::super::Element;
use super::super::module::{Function, Modules, Shape, launch};
use super::super::pace::SharedPace;
use super::columns::ColumnUnits;
use super::exact::underflow_limit;
use super::{Area, LoadOnce, Loaded, Plan, at, measured_multiprocessors};
use crate::cuda::arguments::{SidesArgument, TensorArgument, TensorPart};
use crate::partition::Size;
use crate::stencil::{Boundary, Ends, Error, Filter, Sides};

/// A module, and its properties before it is loaded.
struct TensorModule {
    name: &'static str,
    /// Kernel for columns of outputs that begin at multiples of 16 bytes, and kernel for others.
    pairs: &'static CStr,
    singles: &'static CStr,
    /// Rows, columns and pages into whose middle a filter is laid.
    size: Size,
    /// Rows and columns that a warp computes side by side.
    tile: [usize; 2],
    /// Number of warps on a multiprocessor.
    warps: usize,
    /// Speedup over `cuda/convolution.cu` if there is enough work: for filters of its size, and for others of as many
    /// entries that have no module of their own there. As measured on an H200 (BENCHMARKS.md).
    gain: [f64; 2],
}

const fn image(name: &'static str, size: usize, rows: usize, gain: [f64; 2]) -> TensorModule {
    let (pairs, singles) = (c"tensor_convolution_pairs", c"tensor_convolution_singles");
    TensorModule { name, pairs, singles, size: [size, size, 1], tile: [rows, 1], warps: 8, gain }
}

const fn volume(name: &'static str, size: usize, columns: usize, gain: [f64; 2]) -> TensorModule {
    let (pairs, singles) = (c"tensor_volume_pairs", c"tensor_volume_singles");
    TensorModule { name, pairs, singles, size: [size; 3], tile: [16, columns], warps: 8, gain }
}

/// Minimum gain for which filters that have a module of their own in `cuda/convolution.cu` go to tensor cores. Pieces
/// with infinite or NaN samples are recomputed on the vector units and take up to three times as long: a smaller gain
/// does not outweigh that.
const WORTH_IT: f64 = 1.1;

/// Modules, the smallest first.
const MODULES: [TensorModule; 6] = [
    image("tensor_convolution_07", 7, 128, [1.16, 6.0]),
    image("tensor_convolution_09", 9, 128, [1.49, 8.4]),
    image("tensor_convolution_11", 11, 64, [1.54, 5.5]),
    image("tensor_convolution_15", 15, 64, [1.65, 10.8]),
    volume("tensor_volume_05", 5, 16, [2.27, 3.9]),
    volume("tensor_volume_07", 7, 16, [2.95, 8.4]),
];

/// Loss of a warp at its begin and end, in columns of an image's outputs: measured over 1024 x 1024 to 4096 x 4096.
const START: f64 = 8.0;

/// Maximum number of columns, or pages, that the kernels can count.
const MAX_ALONG: usize = 1 << 30;

/// Columns of outputs in a unit of an image: the smallest part of a sweep that can be a launch of its own. In a volume
/// it is a page.
const UNIT_COLUMNS: usize = 128;

impl TensorModule {
    /// Returns the module for filters of this size.
    fn of([rows, columns, pages]: Size) -> Option<&'static TensorModule> {
        let fits = |module: &&TensorModule| {
            (pages > 1) == (module.size[2] > 1) && rows.max(columns) <= module.size[0] && pages <= module.size[2]
        };
        MODULES.iter().find(fits)
    }

    /// True if it is faster than `cuda/convolution.cu` for these columns of outputs, counted through all pages of an
    /// array of this size, on this number of multiprocessors.
    ///
    /// The redundant work: padding around the filter, rows and columns of tiles outside the array, and for each warp as
    /// many columns, or pages, before its first output as the filter reaches beyond it.
    fn pays(&self, filter: Size, size: Size, outputs: usize, multiprocessors: usize) -> bool {
        let [rows, columns, _] = size;
        let [down, across] = [rows.div_ceil(self.tile[0]), columns.div_ceil(self.tile[1])];
        // Columns of an image's outputs, or pages of a volume's.
        let along = if self.size[2] > 1 { down * across * (outputs / columns) } else { down * outputs };
        let stretch = along as f64 / (multiprocessors * self.warps) as f64;
        // No stretch goes on into another page.
        let stretch = if self.size[2] > 1 { stretch } else { stretch.min(columns as f64) };
        let tiles = (rows * columns) as f64 / (down * self.tile[0] * across * self.tile[1]) as f64;
        let start = if self.size[2] > 1 { 0.0 } else { START };
        let ahead = stretch / (stretch + (self.size[0] - 1) as f64 + start);
        let entries = |size: Size| size.iter().product::<usize>() as f64;
        let [square, other] = self.gain;
        let square_filter = filter[0] == filter[1];
        let gain = if square_filter { square } else { other };
        gain * tiles * ahead * entries(filter) / entries(self.size) >= if square_filter { WORTH_IT } else { 1.0 }
    }
}

/// Plans the launches of a convolution of this filter over a tile, if it goes through tensor cores. `sides` are the
/// boundaries of the array.
///
/// # Errors
/// The driver's.
pub(super) fn plan<'a, T: Element>(
    loaded: &'a LoadOnce,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
    sides: Sides<T>,
) -> Result<Option<Box<dyn Plan<T> + 'a>>, Error> {
    // Tiles through the slots wait for the link, whatever the kernel.
    if T::NAME != f64::NAME || !area.is_whole() {
        return Ok(None);
    }
    let Some(multiprocessors) = measured_multiprocessors(modules) else { return Ok(None) };
    let size @ [rows, columns, pages] = area.tile.size();
    // The kernels count a dimension's samples in integers of 32 bits, and some more.
    if columns.max(pages) > MAX_ALONG {
        return Ok(None);
    }
    let outputs = 0..columns * pages;
    let Some(kind) =
        TensorModule::of(filter.size()).filter(|kind| kind.pays(filter.size(), size, outputs.len(), multiprocessors))
    else {
        return Ok(None);
    };
    let entries = (c"F", bytemuck::cast_slice(filter.values()));
    let Loaded { function: singles, module, .. } =
        loaded.get(modules, area.queued, kind.name, entries, kind.singles)?;
    let shared_bytes = module.constant(c"shared_bytes")?;
    singles.allow_shared(shared_bytes)?;
    let pairs = if rows % 2 == 0 { Some(module.function(kind.pairs)?) } else { None };
    if let Some(pairs) = &pairs {
        pairs.allow_shared(shared_bytes)?;
    }
    let warps = module.constant(c"block_warps")?;
    let unit = if kind.size[2] > 1 { columns } else { UNIT_COLUMNS };
    Ok(Some(Box::new(TensorPlan {
        pairs,
        singles,
        pace: module.pace(area.shared),
        shape: Shape::prepared(
            multiprocessors * module.constant(c"blocks_at_once")?,
            module.constant(c"block_threads")?,
            shared_bytes,
        )?,
        filter: filter.size(),
        size,
        written_once: written_once(sides[0], sides[1]).map(i32::from),
        sides: SidesArgument::new([0, 1, 2].map(|d| sides[d])),
        abreast: abreast(rows.div_ceil(kind.tile[0]), warps),
        underflow_limit: underflow_limit(filter.values(), 1),
        units: ColumnUnits::new(columns, unit, outputs),
    })))
}

/// Returns the number of a block's warps that take strips below each other: a power of two that divides the warps. They
/// share the samples at the border of their strips while these are in the cache; but if the last of them would be idle
/// too often, they go apart.
fn abreast(strips: usize, warps: usize) -> usize {
    let mut abreast = 1 << warps.trailing_zeros();
    while abreast > 1 && strips.next_multiple_of(abreast) * 9 > strips * 10 {
        abreast /= 2;
    }
    abreast
}

/// Returns true for the constants, above the rows and below, that a warp can write once for all columns of a segment.
/// It cannot if another constant, before the first column, takes that place in shared memory.
fn written_once<T: Element>(rows: Ends<T>, columns: Ends<T>) -> [bool; 2] {
    let [before, _] = columns.both();
    let other = |end: Boundary<T>| matches!(before, Boundary::Constant(_)) && !before.same(end);
    rows.both().map(|end| matches!(end, Boundary::Constant(_)) && !other(end))
}

/// A convolution on tensor cores over a whole array.
struct TensorPlan<'a> {
    pairs: Option<Function>,
    singles: &'a Function,
    pace: &'a SharedPace,
    shape: Shape,
    filter: Size,
    size: Size,
    written_once: [i32; 2],
    /// Boundaries of the array.
    sides: SidesArgument,
    abreast: usize,
    underflow_limit: u32,
    units: ColumnUnits,
}

impl<T: Element> Plan<T> for TensorPlan<'_> {
    fn pace(&self) -> &SharedPace {
        self.pace
    }

    /// Returns the number of pages, or of units of [`UNIT_COLUMNS`] columns.
    fn units(&self) -> usize {
        self.units.len()
    }

    fn sweep(&self, stream: sys::CUstream, _: usize, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        Plan::<T>::part(self, stream, 0..self.units.len(), buffers)
    }

    fn part(
        &self,
        stream: sys::CUstream,
        units: Range<usize>,
        [input, output]: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let [rows, columns, pages] = self.size;
        let outputs = self.units.outputs_of(units);
        let output = at::<T>(output, outputs.start * rows);
        let part = TensorPart {
            input,
            output,
            count: outputs.len() as i64,
            before: outputs.start as i64,
            after: (columns * pages - outputs.end) as i64,
            first: outputs.start as i64,
            rows: rows as i64,
            columns: columns as i64,
            pages: pages as i64,
            height: self.filter[0] as i32,
            width: self.filter[1] as i32,
            depth: self.filter[2] as i32,
            abreast: self.abreast as i32,
            underflow_limit: self.underflow_limit,
            written_once: self.written_once,
            unused: 0,
        };
        let argument = TensorArgument { part, sides: self.sides, zeros: [0; 24] };
        let function = self.pairs.as_ref().filter(|_| output.is_multiple_of(16)).unwrap_or(self.singles);
        // SAFETY: the kernel reads the array's samples, and writes its outputs, at addresses where the caller has as
        // many.
        unsafe { launch(function, stream, self.shape, &argument) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::archive;
    use crate::cuda::module::tests::{argument_bytes, constant_of};

    #[test]
    fn the_kernels_take_this_argument() {
        for TensorModule { name, pairs, singles, .. } in &MODULES {
            for kernel in [pairs, singles] {
                assert_eq!(argument_bytes(name, kernel.to_str().unwrap()), size_of::<TensorArgument>(), "{name}");
            }
        }
    }

    /// Each module has the properties given here, and it is for the chips that load it.
    #[test]
    fn the_table_is_right() {
        for module in &MODULES {
            let ptx = archive::ptx(module.name).unwrap().into_string().unwrap();
            let constant = |name: &str| constant_of(module.name, name);
            let tile = ["tile_rows_of_output", "tile_columns_of_output"].map(constant);
            let warps = constant("block_warps") * constant("blocks_at_once");
            assert_eq!((tile, warps), (module.tile, module.warps), "{}", module.name);
            // Volumes need instructions that later chips lack.
            let target = if module.size[2] > 1 { ".target sm_90a\n" } else { ".target sm_90\n" };
            assert!(ptx.contains(target), "{}", module.name);
        }
    }

    #[test]
    fn a_filter_goes_into_the_smallest_that_it_fits() {
        for (filter, name) in [
            ([1, 1, 1], "tensor_convolution_07"),
            ([7, 7, 1], "tensor_convolution_07"),
            ([9, 3, 1], "tensor_convolution_09"),
            ([3, 11, 1], "tensor_convolution_11"),
            ([13, 13, 1], "tensor_convolution_15"),
            ([15, 1, 1], "tensor_convolution_15"),
            ([1, 1, 3], "tensor_volume_05"),
            ([5, 3, 5], "tensor_volume_05"),
            ([1, 1, 7], "tensor_volume_07"),
            ([7, 3, 3], "tensor_volume_07"),
        ] {
            assert_eq!(TensorModule::of(filter).unwrap().name, name);
        }
        // Sizes that no filter has.
        for filter in [[17, 1, 1], [9, 9, 3], [3, 3, 9]] {
            assert!(TensorModule::of(filter).is_none());
        }
    }

    #[test]
    fn it_pays_where_there_is_enough_to_do() {
        let pays =
            |filter: Size, size: Size| TensorModule::of(filter).unwrap().pays(filter, size, size[1] * size[2], 132);
        assert!(pays([15, 13, 1], [8192, 8192, 1]) && pays([15, 13, 1], [8191, 8193, 3]));
        assert!(pays([7, 5, 7], [512, 512, 512]));
        // Filters with a kernel of their own, if tensor cores are slower.
        for size in [9, 11, 13, 15] {
            assert!(pays([size, size, 1], [8192, 8192, 1]) && !pays([size, size, 1], [1024, 1024, 1]), "{size}");
        }
        assert!(pays([5, 5, 5], [512, 512, 512]) && pays([7, 7, 7], [128, 128, 128]));
        assert!(
            pays([7, 7, 1], [8192, 8192, 1]) && !pays([7, 7, 1], [1024, 1024, 1]) && !pays([3, 3, 3], [512, 512, 512])
        );
        // Too few columns for a warp, too few rows for a strip, pages that end too soon, and a filter too small.
        assert!(!pays([15, 13, 1], [3, 1 << 24, 1]));
        assert!(!pays([15, 13, 1], [8192, 2, 3000]));
        assert!(!pays([15, 1, 1], [8192, 8192, 1]));
        assert!(!pays([7, 5, 7], [16, 16, 8]));
    }

    #[test]
    fn warps_lie_abreast_unless_too_many_would_lie_idle() {
        for (strips, expected) in [(1, 1), (2, 2), (3, 1), (8, 8), (9, 2), (15, 8), (128, 8), (130, 8)] {
            assert_eq!(abreast(strips, 8), expected, "{strips}");
        }
    }

    #[test]
    fn a_constant_is_written_once_where_no_column_writes_another() {
        let (one, other) = (Boundary::Constant(0.0), Boundary::Constant(-0.0));
        let ends = |low, high| Ends::new(low, high).unwrap();
        assert_eq!(written_once(one.into(), one.into()), [true; 2]);
        assert_eq!(written_once(one.into(), other.into()), [false; 2]);
        // The ghost columns behind the last one come last.
        assert_eq!(written_once(ends(one, other), ends(one, other)), [true, false]);
        assert_eq!(written_once(ends(one, other), ends(Boundary::Mirror, one)), [true; 2]);
        assert_eq!(written_once(ends(Boundary::Replicate, one), Boundary::Circular.into()), [false, true]);
    }
}
