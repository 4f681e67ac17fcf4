//! Convolutions by filters of any size, by the kernels of `cuda/any_filter`: `any_filter.cu`, and `tensor.cu` where that
//! is faster.
//!
//! A thread slides along the filter with as many samples in registers as it computes outputs. It slides along the rows
//! of a column, or, under a filter of one row and one page, along the columns: a [`View`] gives the direction, and the
//! array as seen from it. A [`Layout`] gives the length of a block's tile in that direction, and the entries of the
//! filter that are staged at a time; a [`TensorLayout`] does so for a tile on tensor cores.

use std::ffi::CStr;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys;

use super::super::Element;
use super::super::module::{Function, Modules, Shape, Turns, counter, launch};
use super::super::pace::SharedPace;
use super::exact::underflow_limit;
use super::{Area, LoadOnce, Loaded, Plan, measured_multiprocessors};
use crate::cuda::arguments::{
    FILTER_TENSOR_COLUMNS, FILTER_TENSOR_TILE, FILTER_THREADS, FilterArgument, SidesArgument,
};
use crate::partition::Size;
use crate::stencil::{Error, Filter, Sides};

/// A module for the vector units.
#[derive(Debug)]
struct VectorModule {
    name: &'static str,
    /// Number of outputs of a thread.
    outputs: usize,
    /// Maximum number of elements of a block's shared memory: within the 48 KiB that every device has.
    most_staged: usize,
}

const DOUBLE: VectorModule = VectorModule { name: "any_filter_double", outputs: 11, most_staged: 6144 };
const SINGLE: VectorModule = VectorModule { name: "any_filter_float", outputs: 23, most_staged: 10_000 };
const SINGLE_SHORT: VectorModule = VectorModule { name: "any_filter_float_short", outputs: 11, most_staged: 6144 };

/// From this number of entries on, [`SINGLE`] is faster than [`SINGLE_SHORT`], if threads slide along at least as many
/// entries as it has outputs.
const MIN_ENTRIES_OF_SINGLE: usize = 512;

/// Module for tensor cores, and number of outputs of a thread that recomputes.
const TENSOR: (&str, usize) = ("any_filter_tensor", 11);

const THREADS: usize = FILTER_THREADS as usize;
const TILE: usize = FILTER_TENSOR_TILE as usize;
const COLUMNS: usize = FILTER_TENSOR_COLUMNS as usize;

/// Kernel for arrays of few rows or few columns, one output a thread, and the time of its product, in multiply-adds of
/// the other kernels.
const FEW_KERNEL: &CStr = c"any_filter_of_few";
const FEW_PRODUCT: f64 = 6.0;

/// Time of staging a sample, in multiply-adds.
const STAGING: f64 = 6.0;

/// Elements at multiples of this number begin at the same bank.
const BANKS: usize = 32;

/// Neighbours in memory that one access of a warp reads.
const ABREAST: usize = 32;

/// An array as the kernel sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct View<T> {
    size: Size,
    filter: Size,
    sides: Sides<T>,
    /// True if threads slide along the columns; else along the rows.
    by_columns: bool,
}

impl<T: Element> View<T> {
    /// Returns the view of an array of this size under a filter of this size, between these sides.
    fn new(size: Size, filter: Size, sides: Sides<T>) -> View<T> {
        match (filter, size) {
            // Neighbours that are one column of the array.
            ([1, width, 1], [1, columns, pages]) => View {
                size: [columns, pages, 1],
                filter: [width, 1, 1],
                sides: [sides[1], sides[0], sides[2]].into(),
                by_columns: false,
            },
            ([1, _, 1], _) => View { size, filter, sides, by_columns: true },
            // Pages that are adjacent columns.
            ([1, 1, depth], [rows, columns, pages]) => {
                let sides = Sides::from([sides[0], sides[2], sides[1]]);
                View::new([rows * columns, pages, 1], [1, depth, 1], sides)
            }
            _ => View { size, filter, sides, by_columns: false },
        }
    }

    /// Returns the extents along the direction in which threads slide, and across it.
    fn along(&self, [rows, columns, _]: Size) -> [usize; 2] {
        if self.by_columns { [columns, rows] } else { [rows, columns] }
    }

    /// Returns rows and columns of a tile with these extents along that direction and across it.
    fn tile(&self, tile: [usize; 2]) -> [usize; 2] {
        self.along([tile[0], tile[1], 1])
    }
}

/// A block's tile, and the parts of it that are staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    /// Binary logarithm of the number of threads along the direction in which they slide. The others are across it.
    down: u32,
    /// Entries of the filter along that direction that are staged at a time.
    length: usize,
    /// Columns of the filter that are staged at a time: 1 where only a part of their entries is.
    width: usize,
    /// Elements from one staged column to the next.
    stride: usize,
    /// Number of outputs of a tile along that direction, and across it.
    tile: [usize; 2],
    /// Number of elements of its shared memory.
    elements: usize,
}

impl Layout {
    /// Returns the fastest layout, by the multiply-adds of all tiles and the samples that they stage.
    fn choose<T: Element>(view: &View<T>, outputs: usize, most: usize) -> Layout {
        let (of_array, of_filter) = (view.along(view.size), view.along(view.filter));
        if view.by_columns {
            // Neighbours in memory lie across.
            let across = of_array[1].next_power_of_two().min(ABREAST);
            return Layout::new((THREADS / across).ilog2(), of_filter, outputs, most);
        }
        let layouts = (3..=THREADS.ilog2()).map(|down| Layout::new(down, of_filter, outputs, most));
        let time = |layout: &Layout| layout.time(of_array, of_filter);
        layouts.min_by(|a, b| time(a).total_cmp(&time(b))).unwrap_or_else(|| Layout::new(3, of_filter, outputs, most))
    }

    /// Returns the time of a page under one of the filter's, in multiply-adds.
    fn time(&self, of_array: [usize; 2], of_filter: [usize; 2]) -> f64 {
        let tiles: f64 = (0..2).map(|d| of_array[d].div_ceil(self.tile[d]) as f64).product();
        let stages = of_filter[0].div_ceil(self.length) * of_filter[1].div_ceil(self.width);
        let products = self.tile[0] * self.tile[1] * of_filter[0] * of_filter[1];
        tiles * (products as f64 + STAGING * (stages * self.elements) as f64)
    }

    /// Lays out with 2^`down` threads along the direction in which they slide, each with this number of outputs, in at
    /// most `most` elements of shared memory.
    fn new(down: u32, [length, width]: [usize; 2], outputs: usize, most: usize) -> Layout {
        let [along, across] = [outputs << down, THREADS >> down];
        // Adjacent columns of threads in a warp begin at banks that are as far apart as the columns are long.
        let stride = |length: usize| {
            let beside = (1 << down) % BANKS;
            (along + length - 1 - beside).next_multiple_of(BANKS) + beside
        };
        // A thread reads some samples more than it needs.
        let most = most - outputs;
        let fits = |length: usize| stride(length) * across <= most;
        let staged = if fits(length) { length } else { most / across - along - BANKS };
        let width = if staged < length { 1 } else { (most / stride(staged) - across + 1).min(width) };
        let (stride, tile) = (stride(staged), [along, across]);
        Layout { down, length: staged, width, stride, tile, elements: stride * (across + width - 1) + outputs }
    }
}

/// A block's tile on tensor cores, and the parts of it that are staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TensorLayout {
    /// Entries of the filter's columns that are staged at a time.
    length: usize,
    /// Columns of the filter that are staged at a time: 1 where only a part of their entries is.
    width: usize,
    /// Elements from one staged column to the next.
    stride: usize,
    /// Number of outputs of a tile along the direction of the filter's columns, and across it.
    tile: [usize; 2],
    elements: usize,
    /// Number of elements before the bands of the filter's columns.
    bands: usize,
    /// True if the array is one column, processed as columns that follow each other.
    line: bool,
}

/// Number of samples down a column that a product takes, and of outputs down a column that it gives.
const STEP: usize = 8;

/// Minimum number of products of an output in a column of the filter: one less than the number of groups of outputs
/// below each other in a warp.
const MIN_STEPS: usize = 3;

/// Minimum share of a warp's products without padding zeros, times the tiles' share inside the array, for which tensor
/// cores are faster: for filters of one page, and of several, whose stages are short.
const MIN_SHARE: [f64; 2] = [0.55, 0.7];

/// Minimum number of tiles for each multiprocessor: with fewer the vector units have more parallel work.
const MIN_TILES: f64 = 1.5;

/// Minimum number of entries for which products cost more than the transfer of samples.
const MIN_ENTRIES: usize = 31;

impl TensorLayout {
    /// Returns the maximum number of elements of a block's shared memory: three blocks fit into a multiprocessor, and
    /// four of a line.
    fn most(line: bool) -> usize {
        if line { 6900 } else { 9216 }
    }

    /// Returns the layout, if tensor cores are faster on this number of multiprocessors.
    fn of<T: Element>(view: &View<T>, multiprocessors: usize) -> Option<TensorLayout> {
        let (of_array, of_filter) = (view.along(view.size), view.along(view.filter));
        let layout = TensorLayout::new(of_filter, of_array[1] == 1 && !view.by_columns);
        let steps = steps(layout.length);
        let tiles = of_array[0].div_ceil(layout.tile[0]) * of_array[1].div_ceil(layout.tile[1]) * view.size[2];
        let useful = layout.length as f64 / (steps * STEP) as f64;
        let inside = view.size.iter().product::<usize>() as f64 / (tiles * layout.tile[0] * layout.tile[1]) as f64;
        let is_faster = steps >= MIN_STEPS
            && view.filter.iter().product::<usize>() >= MIN_ENTRIES
            && useful * inside >= MIN_SHARE[usize::from(view.filter[2] > 1)]
            && tiles as f64 >= MIN_TILES * multiprocessors as f64;
        is_faster.then_some(layout)
    }

    fn new([length, width]: [usize; 2], line: bool) -> TensorLayout {
        let most = TensorLayout::most(line);
        // For a stage with `length` entries of `width` columns: the stride of columns, the begin of the bands, and the
        // total.
        let needs = |length: usize, width: usize| {
            let below = (steps(length) - 1) * STEP;
            // Adjacent columns begin four banks apart.
            let (stride, bands) = if line {
                let stride = TILE + 4;
                (stride, (TILE * COLUMNS + below).div_ceil(TILE) * stride)
            } else {
                let stride = (TILE + below - 4).next_multiple_of(16) + 4;
                (stride, stride * (COLUMNS + width - 1))
            };
            (stride, bands, bands + (steps(length) * STEP + STEP - 1) * width)
        };
        // All stages of a column are about equally long.
        let fits = |parts: &usize| needs(length.div_ceil(*parts), 1).2 <= most;
        let staged = length.div_ceil((1..).find(fits).unwrap_or(1));
        let widths = (1..=if staged < length { 1 } else { width }).rev();
        let width = widths.into_iter().find(|&width| needs(staged, width).2 <= most).unwrap_or(1);
        let (stride, bands, elements) = needs(staged, width);
        let tile = if line { [TILE * COLUMNS, 1] } else { [TILE, COLUMNS] };
        TensorLayout { length: staged, width, stride, tile, elements, bands, line }
    }
}

/// Returns the number of products of an output in a column of `length` entries: seven rows serve other outputs only.
fn steps(length: usize) -> usize {
    (length + STEP - 1).div_ceil(STEP)
}

/// Plans the launches of a sweep of a filter of any size.
///
/// # Errors
/// The driver's.
pub(super) fn plan<'a, T: Element>(
    loaded: &'a LoadOnce,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
) -> Result<Box<dyn Plan<T> + 'a>, Error> {
    let view = View::new(area.tile.size(), filter.size(), area.sides);
    let of_filter = view.along(view.filter);
    // Tiles through the slots wait for the link, whatever the kernel.
    let multiprocessors = if area.is_whole() { measured_multiprocessors(modules) } else { None };
    let tensor = multiprocessors.filter(|_| T::NAME == f64::NAME).and_then(|count| TensorLayout::of(&view, count));
    let module = match T::NAME == f64::NAME {
        true => DOUBLE,
        false if of_filter[0] >= SINGLE.outputs && filter.values().len() >= MIN_ENTRIES_OF_SINGLE => SINGLE,
        false => SINGLE_SHORT,
    };
    let (name, outputs) = if tensor.is_some() { TENSOR } else { (module.name, module.outputs) };
    let kernels: [&CStr; 2] = match tensor {
        Some(_) => [c"any_filter_tensor_by_rows", c"any_filter_tensor_by_columns"],
        None => [c"any_filter_by_rows", c"any_filter_by_columns"],
    };
    let entries = (c"F", bytemuck::cast_slice(filter.values()));
    let layout = Layout::choose(&view, outputs, module.most_staged);
    let few = tensor.is_none() && layout.time(view.along(view.size), of_filter) > few_time(view.size, view.filter);
    let kernel = if few { FEW_KERNEL } else { kernels[usize::from(view.by_columns)] };
    let Loaded { function, module: loaded, .. } = loaded.get(modules, area.queued, name, entries, kernel)?;
    let tile = view.tile(tensor.map_or(layout.tile, |tensor| tensor.tile));
    let staged = if few { 0 } else { tensor.map_or(0, |tensor| tensor.elements).max(layout.elements) };
    let shared_bytes = staged * size_of::<T>();
    if tensor.is_some() {
        function.allow_shared(shared_bytes)?;
    }
    // The output begins with a whole column of the array.
    let (rows, span) = (area.tile.size()[0].max(1), area.tile.span());
    let places = span.start / rows * rows..span.end.next_multiple_of(rows);
    Ok(Box::new(AnyFilterPlan {
        function,
        pace: loaded.pace(area.shared),
        shared_bytes,
        layout,
        tensor,
        underflow_limit: underflow_limit(filter.values(), 1),
        size: view.size,
        filter: view.filter,
        sides: SidesArgument::new([0, 1, 2].map(|d| view.sides[d])),
        tiles: if few { 0..places.len().div_ceil(THREADS) } else { tiles_with(view.size, tile, &places) },
        places,
        turns: area.queued.then(|| modules.turns().clone()),
    }))
}

/// Returns the time of a page under one of the filter's with a thread for each output, in multiply-adds.
fn few_time([rows, columns, _]: Size, [height, width, _]: Size) -> f64 {
    FEW_PRODUCT * (rows * columns) as f64 * (height * width) as f64
}

/// True if tiles of this size would cover so little of an array of this size that a thread for each output is faster.
pub(super) fn is_few(size: Size, tile: [usize; 2]) -> bool {
    let in_tiles = size[0].next_multiple_of(tile[0]) as f64 * size[1].next_multiple_of(tile[1]) as f64;
    in_tiles > few_time(size, [1; 3])
}

/// Returns the numbers of the tiles from the one with the first of these places of an array to the one with the last.
/// Tiles are counted along the rows first, then along the columns.
fn tiles_with([rows, columns, _]: Size, tile: [usize; 2], places: &Range<usize>) -> Range<usize> {
    if places.is_empty() {
        return 0..0;
    }
    let [down, beside] = [rows.div_ceil(tile[0]), columns.div_ceil(tile[1])];
    let of = |place: usize| {
        let column = place / rows;
        (place % rows / tile[0], column % columns / tile[1] + beside * (column / columns))
    };
    let ((first_down, first), (last_down, last)) = (of(places.start), of(places.end - 1));
    if places.start / rows == (places.end - 1) / rows {
        down * first + first_down..down * last + last_down + 1
    } else {
        down * first..down * (last + 1)
    }
}

/// A sweep over a tile of the array; the kernel sees the tile as an array of its own.
struct AnyFilterPlan<'a> {
    function: &'a Function,
    pace: &'a SharedPace,
    shared_bytes: usize,
    layout: Layout,
    /// Layout on tensor cores, if they are used.
    tensor: Option<TensorLayout>,
    underflow_limit: u32,
    size: Size,
    filter: Size,
    /// Its boundaries.
    sides: SidesArgument,
    /// Numbers of the blocks' tiles that have outputs.
    tiles: Range<usize>,
    /// Places that are written, counted from the first output.
    places: Range<usize>,
    /// Direction of the next sweep, if the whole array is on the device.
    turns: Option<Arc<Turns>>,
}

impl<T: Element> Plan<T> for AnyFilterPlan<'_> {
    fn pace(&self) -> &SharedPace {
        self.pace
    }

    /// Returns the number of blocks' tiles.
    fn units(&self) -> usize {
        self.tiles.len()
    }

    fn sweep(&self, stream: sys::CUstream, _: usize, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        let backwards = self.turns.as_deref().is_some_and(Turns::next);
        self.launch(stream, 0..self.tiles.len(), backwards, buffers)
    }

    fn part(&self, stream: sys::CUstream, units: Range<usize>, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        self.launch(stream, units, false, buffers)
    }
}

impl AnyFilterPlan<'_> {
    /// Puts some units of a sweep on the stream, the last of them first if `backwards`.
    fn launch(
        &self,
        stream: sys::CUstream,
        units: Range<usize>,
        backwards: bool,
        [input, output]: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let Layout { down, length, width, stride, .. } = self.layout;
        let number = |of: fn(&TensorLayout) -> usize| {
            counter(self.tensor.as_ref().map_or(0, of), "elements of a stage on tensor cores")
        };
        let argument = FilterArgument {
            input,
            output,
            first: self.places.start as i64,
            count: self.places.len() as i64,
            rows: self.size[0] as i64,
            columns: self.size[1] as i64,
            pages: self.size[2] as i64,
            skip: (self.tiles.start + units.start) as i64,
            height: self.filter[0] as i32,
            width: self.filter[1] as i32,
            depth: self.filter[2] as i32,
            down: down as i32,
            stage_length: counter(length, "entries in a stage")?,
            stage_width: counter(width, "columns in a stage")?,
            stride: counter(stride, "elements of a staged column")?,
            backwards: backwards.into(),
            tensor_length: number(|tensor| tensor.length)?,
            tensor_width: number(|tensor| tensor.width)?,
            tensor_stride: number(|tensor| tensor.stride)?,
            bands: number(|tensor| tensor.bands)?,
            line: number(|tensor| tensor.line.into())?,
            underflow_limit: self.underflow_limit,
            sides: self.sides,
        };
        let shape = match self.tensor {
            Some(_) => Shape::prepared(units.len(), THREADS, self.shared_bytes)?,
            None => Shape::new([units.len(), 1], [THREADS, 1], self.shared_bytes)?,
        };
        // SAFETY: the kernel reads the tile's samples, and writes its outputs, at addresses where the caller has as
        // many.
        unsafe { launch(self.function, stream, shape, &argument) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::module::tests::argument_bytes;
    use crate::stencil::{Boundary, Ends, MAX_ENTRIES};

    #[test]
    fn the_kernels_take_this_argument() {
        for (module, kernels) in [
            (DOUBLE.name, ["any_filter_by_rows", "any_filter_by_columns"]),
            (SINGLE.name, ["any_filter_by_rows", "any_filter_by_columns"]),
            (SINGLE_SHORT.name, ["any_filter_by_rows", "any_filter_by_columns"]),
            (TENSOR.0, ["any_filter_tensor_by_rows", "any_filter_tensor_by_columns"]),
        ] {
            for kernel in kernels {
                assert_eq!(argument_bytes(module, kernel), size_of::<FilterArgument>(), "{module}");
            }
            if module != TENSOR.0 {
                assert_eq!(argument_bytes(module, "any_filter_of_few"), size_of::<FilterArgument>(), "{module}");
            }
        }
    }

    /// The figures of the modules here are those that they are compiled for.
    #[test]
    fn modules_have_the_outputs_that_they_are_compiled_for() {
        let catalogue = include_str!("../../../cuda/modules.txt");
        let known = [DOUBLE, SINGLE, SINGLE_SHORT].map(|module| (module.name, module.outputs));
        for (name, outputs) in known.into_iter().chain([TENSOR]) {
            let line = catalogue.lines().find(|line| line.split(' ').nth(1) == Some(name)).unwrap();
            assert!(line.split(' ').any(|word| word == format!("OUTPUTS={outputs}")), "{line}");
        }
    }

    #[test]
    fn lines_are_seen_along_the_direction_of_the_filter() {
        let ends = [Boundary::Mirror, Boundary::Replicate, Boundary::Symmetric].map(Ends::from);
        let view = |size, filter| {
            let View { size, filter, sides, by_columns } = View::<f64>::new(size, filter, ends.into());
            let d = if by_columns { 1 } else { 0 };
            (size, filter, sides[d] == ends[1], by_columns)
        };
        assert_eq!(view([1, 50, 3], [1, 9, 1]), ([50, 3, 1], [9, 1, 1], true, false));
        assert_eq!(view([7, 50, 3], [1, 9, 1]), ([7, 50, 3], [1, 9, 1], true, true));
        assert_eq!(view([7, 50, 3], [2, 9, 1]), ([7, 50, 3], [2, 9, 1], false, false));
        assert_eq!(view([1, 50, 3], [1, 9, 2]), ([1, 50, 3], [1, 9, 2], false, false));
        let of_pages = View::<f64>::new([7, 5, 30], [1, 1, 9], ends.into());
        assert_eq!((of_pages.size, of_pages.filter, of_pages.by_columns), ([35, 30, 1], [1, 9, 1], true));
        assert_eq!(of_pages.sides[1], ends[2]);
    }

    /// Returns views of arrays and filters of all shapes, along the direction in which threads slide, and across it.
    fn views() -> Vec<View<f64>> {
        let filters = [[1, 1], [2, 2], [15, 13], [31, 31], [63, 1], [1, 63], [1, 8191], [8191, 1], [90, 91], [4095, 2]];
        let arrays = [[1, 1], [3, 5], [1000, 1000], [10_000_000, 1], [1, 10_000_000], [40, 100_000], [4096, 4096]];
        let mut views = Vec::new();
        for filter in filters {
            assert!(filter[0] * filter[1] <= MAX_ENTRIES);
            for [rows, columns] in arrays {
                let (size, sides) = ([rows, columns, 1], Sides::default());
                views.push(View { size, filter: [filter[0], filter[1], 1], sides, by_columns: false });
                views.push(View { size, filter: [1, filter[0], 1], sides, by_columns: true });
            }
        }
        views
    }

    /// For every array and filter, the staged elements fit, and include those that the threads read.
    #[test]
    fn layouts_fit() {
        for (module, bytes) in [(DOUBLE, 8), (SINGLE, 4), (SINGLE_SHORT, 4)] {
            assert!(module.most_staged * bytes <= 48 << 10 && module.outputs % 2 == 1);
            for view in views() {
                let layout = Layout::choose(&view, module.outputs, module.most_staged);
                let (what, of_filter) = (format!("{view:?}: {layout:?}"), view.along(view.filter));
                assert!(layout.elements <= module.most_staged, "{what}");
                assert!((1..=of_filter[0]).contains(&layout.length), "{what}");
                assert!((1..=of_filter[1]).contains(&layout.width), "{what}");
                // Parts of columns come one after the other, in the order of the sum.
                assert!(layout.width == 1 || layout.length == of_filter[0], "{what}");
                assert!(layout.stride >= layout.tile[0] + layout.length - 1, "{what}");
                assert_eq!(layout.tile[1] << layout.down, THREADS, "{what}");
            }
        }
        // On a long line all threads are in a row; on an image they are side by side.
        let down = |size, filter| {
            let view = View::<f64>::new(size, filter, Sides::default());
            Layout::choose(&view, DOUBLE.outputs, DOUBLE.most_staged).down
        };
        assert_eq!(down([1, 10_000_000, 1], [1, 255, 1]), THREADS.ilog2());
        assert!(down([1000, 1000, 1], [31, 31, 1]) < 5);
        // Neighbours in memory are read together.
        assert_eq!((down([1000, 1000, 1], [1, 31, 1]), down([3, 1000, 1], [1, 31, 1])), (2, 5));
    }

    #[test]
    fn layouts_on_tensor_cores_fit() {
        for view in views() {
            let line = view.size[1] == 1 && !view.by_columns;
            let (of_filter, layout) = (view.along(view.filter), TensorLayout::new(view.along(view.filter), line));
            let what = format!("{view:?}: {layout:?}");
            assert!(layout.elements <= TensorLayout::most(line), "{what}");
            assert!(
                (1..=of_filter[0]).contains(&layout.length) && (1..=of_filter[1]).contains(&layout.width),
                "{what}"
            );
            assert!(layout.width == 1 || layout.length == of_filter[0], "{what}");
            // Each stage has the minimum of steps, also the last one.
            let last = of_filter[0] - (of_filter[0].div_ceil(layout.length) - 1) * layout.length;
            assert!(of_filter[0] < 17 || steps(last) >= MIN_STEPS, "{what}");
            // The samples of the last output's last product.
            let rows = layout.tile[0] + (steps(layout.length) - 1) * STEP;
            if line {
                assert!(rows.div_ceil(TILE) * layout.stride <= layout.bands && layout.stride % 16 == 4, "{what}");
            } else {
                assert!(rows <= layout.stride && layout.stride % 16 == 4, "{what}");
                assert_eq!(layout.bands, layout.stride * (COLUMNS + layout.width - 1), "{what}");
            }
        }
    }

    #[test]
    fn tensor_cores_are_for_much_to_do() {
        let pays = |size, filter| TensorLayout::of(&View::<f64>::new(size, filter, Sides::default()), 132).is_some();
        assert!(pays([4096, 4096, 1], [31, 31, 1]) && pays([4096, 4096, 1], [17, 17, 1]));
        assert!(pays([1, 10_000_000, 1], [1, 63, 1]) && pays([4096, 4096, 1], [1, 63, 1]));
        // Too few tiles, tiles that are mostly outside, too many zeros, too few products.
        assert!(!pays([512, 512, 1], [31, 31, 1]) && !pays([1, 100_000, 1], [1, 8191, 1]));
        assert!(!pays([20, 100_000, 1], [31, 31, 1]));
        assert!(!pays([4096, 4096, 1], [10, 31, 1]) && !pays([256, 256, 256], [11, 11, 11]));
        assert!(!pays([4096, 4096, 1], [24, 1, 1]) && !pays([4096, 4096, 1], [2, 200, 1]));
    }

    #[test]
    fn tiles_are_all_that_have_a_place() {
        for (size, tile) in [([7, 5, 3], [3, 2]), ([10, 1, 1], [4, 4]), ([2, 9, 2], [8, 2]), ([1, 12, 1], [4, 5])] {
            let [rows, columns, pages]: Size = size;
            let (down, beside) = (rows.div_ceil(tile[0]), columns.div_ceil(tile[1]));
            let of = |place: usize| {
                let [row, column, page] = [place % rows, place / rows % columns, place / rows / columns];
                row / tile[0] + down * (column / tile[1] + beside * page)
            };
            for first in 0..rows * columns * pages {
                for end in first + 1..=rows * columns * pages {
                    let tiles = tiles_with(size, tile, &(first..end));
                    assert!((first..end).all(|place| tiles.contains(&of(place))), "{size:?} {first}..{end}");
                    // And there are no more columns of tiles than those.
                    assert!(tiles.start / down == of(first) / down && (tiles.end - 1) / down == of(end - 1) / down);
                }
            }
        }
        assert_eq!(tiles_with([100, 1, 1], [10, 1], &(25..31)), 2..4);
        assert_eq!(tiles_with([0, 5, 1], [10, 1], &(0..0)), 0..0);
    }
}
