//! Convolutions over images and volumes: `cuda/convolution.cu`, and the choice of the kernel for a filter.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys;

use super::super::Element;
use super::super::module::{Function, Modules, Shape, Turns, counter, launch};
use super::super::pace::SharedPace;
use super::any_filter;
use super::columns::{ColumnUnits, columns_of_tiles};
use super::fused::{images, tiles, volumes};
use super::{Area, Kernel, LoadOnce, Loaded, Plan, at, tensor};
use crate::cuda::arguments::{ConvolutionArgument, SidesArgument};
use crate::partition::{Cut, Size};
use crate::stencil::{Convolution, Ends, Error, Filter, Sides};

/// Filters with modules of their own, by rows and columns: one for single and one for double. All others go through
/// [`any_filter`].
const SQUARE: [(usize, [&str; 2]); 7] = [
    (3, ["convolution_float_03", "convolution_double_03"]),
    (5, ["convolution_float_05", "convolution_double_05"]),
    (7, ["convolution_float_07", "convolution_double_07"]),
    (9, ["convolution_float_09", "convolution_double_09"]),
    (11, ["convolution_float_11", "convolution_double_11"]),
    (13, ["convolution_float_13", "convolution_double_13"]),
    (15, ["convolution_float_15", "convolution_double_15"]),
];

/// Rows, and about the columns, of outputs that a block of those modules computes.
const TILE: [usize; 2] = [64, 32];

/// Maximum size of filters for the kernels of several sweeps, and the square ones: rows and columns of filters of one
/// page, and extents of others along each dimension.
const LARGEST: [usize; 2] = [15, 7];

/// Minimum of multiply-adds counted for an output: on the slowest devices they take as long as moving it.
const MIN_WORK: usize = 11;

/// Nanoseconds that a byte takes to the device and back: 10^8 doubles go there in 16.2 ms and come back in 21.2 (an
/// H200 and 16 threads, BENCHMARKS.md). On other machines it takes longer.
const LINK_NS_PER_BYTE: f64 = 0.05;

/// Nanoseconds of a multiply-add if several sweeps are done at once: 3 x 3 in double does 1,240 thousand million
/// updates a second (an H200, BENCHMARKS.md). On other chips it takes longer; one with few units for doubles computes
/// up to twice as much as necessary.
const NS_PER_MULTIPLY_ADD: f64 = 7e-5;

/// True if the filter is one for kernels of fixed sizes.
pub(in super::super) fn is_small<T: Element>(filter: &Filter<T>) -> bool {
    let size = filter.size();
    filter.is_centred() && size.iter().all(|&entries| entries <= LARGEST[usize::from(size[2] > 1)])
}

/// A convolution, for any number of sweeps.
#[derive(Debug, Clone)]
pub(in super::super) struct ConvolutionKernel<T> {
    size: Size,
    filter: Filter<T>,
    sides: Sides<T>,
    loaded: LoadOnce,
    by_any_filter: LoadOnce,
    on_tensor_cores: LoadOnce,
    several_sweeps: images::LoadedModules,
    over_volumes: LoadOnce,
    in_tiles: LoadOnce,
}

impl<T: Element> ConvolutionKernel<T> {
    pub(in super::super) fn new(what: &Convolution<T>) -> ConvolutionKernel<T> {
        let (size, filter, sides) = (what.size(), what.filter().clone(), what.boundary());
        let (loaded, by_any_filter, on_tensor_cores, several_sweeps, over_volumes, in_tiles) = Default::default();
        ConvolutionKernel {
            size,
            filter,
            sides,
            loaded,
            by_any_filter,
            on_tensor_cores,
            several_sweeps,
            over_volumes,
            in_tiles,
        }
    }
}

impl<T: Element> Kernel<T> for ConvolutionKernel<T> {
    fn another(&self) -> Box<dyn Kernel<T>> {
        Box::new(self.clone())
    }

    fn cut(&self, _: usize, target: usize, limit: usize) -> Cut<T> {
        Cut::volume(self.size, self.sides, self.filter.radius(), target, limit)
    }

    fn deep(&self, sweeps: usize, limit: usize) -> Option<Cut<T>> {
        let update = self.work() as f64 * NS_PER_MULTIPLY_ADD / (size_of::<T>() as f64 * LINK_NS_PER_BYTE);
        Cut::deep(self.size, self.sides, self.filter.radius(), sweeps, limit, update)
    }

    fn halo_samples(&self, _: usize) -> usize {
        0
    }

    fn work(&self) -> usize {
        let entries = self.filter.values().len().max(MIN_WORK);
        // In single, the slowest of devices does twice as many in the same time: a safe estimate.
        if T::NAME == f32::NAME { entries.div_ceil(2) } else { entries }
    }

    fn name(&self) -> &'static str {
        "a convolution"
    }

    fn prefers_resident(&self, sweeps: usize) -> bool {
        sweeps > 1
    }

    fn plan(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error> {
        if !is_small(&self.filter) {
            return any_filter::plan(&self.by_any_filter, modules, area, &self.filter);
        }
        let single_sweeps = self.plan_single_sweeps(modules, area)?;
        if let Some(tilings) = tiles::Tilings::of(modules, area, &self.filter) {
            return tiles::plan(&self.in_tiles, modules, area, &self.filter, tilings, single_sweeps);
        }
        match images::View::of(area.tile.size(), self.filter.size()) {
            Some(view) => images::plan(&self.several_sweeps, modules, area, &self.filter, view, single_sweeps),
            None => {
                volumes::plan(&self.over_volumes, modules, area, &self.filter, self.effective_sides(), single_sweeps)
            }
        }
    }
}

impl<T: Element> ConvolutionKernel<T> {
    /// Returns the boundaries, with zeros along dimensions where the filter has one entry: no ghost cell is multiplied
    /// there.
    fn effective_sides(&self) -> Sides<T> {
        let radius = self.filter.radius();
        [0, 1, 2].map(|d| if radius[d] > 0 { self.sides[d] } else { Ends::default() }).into()
    }

    /// Plans the launches of single sweeps.
    fn plan_single_sweeps(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error> {
        let by_any_filter = || any_filter::plan(&self.by_any_filter, modules, area, &self.filter);
        if any_filter::is_few(area.tile.size(), TILE) {
            return by_any_filter();
        }
        if let Some(plan) = tensor::plan(&self.on_tensor_cores, modules, area, &self.filter, self.effective_sides())? {
            return Ok(plan);
        }
        let filter = self.filter.size();
        let own = SQUARE.iter().find(|(size, _)| filter[..2] == [*size, *size]);
        let Some((_, names)) = own else { return by_any_filter() };
        let name = if T::NAME == f32::NAME { names[0] } else { names[1] };
        let kernel =
            if filter[2] > 1 { c"convolution_3D_const_mem_kernel" } else { c"convolution_2D_const_mem_kernel" };
        let entries = (c"F", bytemuck::cast_slice(self.filter.values()));
        let Loaded { function, module, .. } = self.loaded.get(modules, area.queued, name, entries, kernel)?;
        let size = area.tile.size();
        let span = area.tile.span();
        let rows = size[0].max(1);
        let outputs = span.start / rows..span.end.div_ceil(rows);
        let tile = [module.constant(c"tile_rows_of_output")?, module.constant(c"tile_columns_of_output")?];
        Ok(Box::new(ConvolutionPlan {
            function,
            pace: module.pace(area.shared),
            threads: module.constant(c"tile_threads")?,
            tile,
            filter,
            size,
            sides: SidesArgument::new([0, 1, 2].map(|d| area.sides[d])),
            units: ColumnUnits::new(size[1], tile[1], outputs),
            turns: area.queued.then(|| modules.turns().clone()),
        }))
    }
}

/// A convolution over a tile, which has whole columns.
struct ConvolutionPlan<'a> {
    function: &'a Function,
    pace: &'a SharedPace,
    threads: usize,
    /// Rows and columns of outputs that a block computes.
    tile: [usize; 2],
    filter: Size,
    /// Size of the array that the kernel sees.
    size: Size,
    /// Its boundaries.
    sides: SidesArgument,
    /// Its columns that are computed.
    units: ColumnUnits,
    /// Direction of the next sweep, if the whole array is on the device.
    turns: Option<Arc<Turns>>,
}

impl<T: Element> Plan<T> for ConvolutionPlan<'_> {
    fn pace(&self) -> &SharedPace {
        self.pace
    }

    /// Returns the number of columns of tiles, from the first row to the last.
    ///
    /// # Limitations
    /// With 15 x 15 in double and 130,000 rows one of them takes the slowest device a tenth of a second.
    fn units(&self) -> usize {
        self.units.len()
    }

    fn sweep(&self, stream: sys::CUstream, _: usize, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        let backwards = self.turns.as_deref().is_some_and(Turns::next);
        self.launch::<T>(stream, 0..self.units.len(), backwards, buffers)
    }

    fn part(&self, stream: sys::CUstream, units: Range<usize>, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        self.launch::<T>(stream, units, false, buffers)
    }
}

impl ConvolutionPlan<'_> {
    /// Puts some units of a sweep on the stream, the last of them first if `backwards`.
    fn launch<T>(
        &self,
        stream: sys::CUstream,
        units: Range<usize>,
        backwards: bool,
        [input, output]: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let [rows, columns, pages] = self.size;
        let outputs = self.units.outputs_of(units);
        let (skip, blocks) = blocks(self.size, self.tile, outputs.clone())?;
        let argument = ConvolutionArgument {
            input,
            output: at::<T>(output, (outputs.start - self.units.outputs().start) * rows),
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
            skip,
            backwards: backwards.into(),
            unused: 0,
            sides: self.sides,
        };
        let shape = Shape::row(blocks, self.threads)?;
        // SAFETY: the kernel reads the tile's samples, and writes its outputs, at addresses where the caller has as
        // many.
        unsafe { launch(self.function, stream, shape, &argument) }
    }
}

/// Returns the columns of tiles that a launch skips before those of the outputs in some columns, and its blocks: see
/// [`ConvolutionArgument`].
///
/// # Errors
/// [`Error::Internal`] if the kernel cannot count them.
fn blocks([rows, columns, _]: [usize; 3], tile: [usize; 2], outputs: Range<usize>) -> Result<(i32, usize), Error> {
    let tiles = columns_of_tiles(columns, tile[1], outputs);
    // The kernel numbers tiles in integers of 32 bits: those of a page along either dimension, and those of the launch
    // from the first page's first on.
    let down = rows.div_ceil(tile[0]);
    counter::<i32>(down, "tiles below each other")?;
    counter::<i32>(columns.div_ceil(tile[1]), "tiles beside each other")?;
    counter::<i32>(tiles.end, "columns of tiles in one launch")?;
    Ok((counter(tiles.start, "columns of tiles to skip")?, down.saturating_mul(tiles.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::module::tests::argument_bytes;

    #[test]
    fn the_kernels_take_this_argument() {
        let modules = SQUARE.iter().flat_map(|(size, modules)| modules.map(|module| (*size, module)));
        for (size, module) in modules {
            assert_eq!(
                argument_bytes(module, "convolution_2D_const_mem_kernel"),
                size_of::<ConvolutionArgument>(),
                "{module}"
            );
            if size <= 7 {
                assert_eq!(
                    argument_bytes(module, "convolution_3D_const_mem_kernel"),
                    size_of::<ConvolutionArgument>(),
                    "{module}"
                );
            }
        }
    }

    #[test]
    fn launches_that_the_kernel_cannot_count_are_refused() {
        let most = i32::MAX as usize;
        assert_eq!(blocks([100, 100, 2], [64, 16], 20..130), Ok((1, 2 * 8)));
        let refused = |size, outputs| matches!(blocks(size, [64, 16], outputs), Err(Error::Internal(_)));
        assert_eq!(blocks([1, 16 * most, 1], [64, 16], 0..16 * most), Ok((0, most)));
        assert_eq!(blocks([1, 16 * most, 1], [64, 16], 16 * (most - 1)..16 * most), Ok((i32::MAX - 1, 1)));
        // One tile more than can be counted, even if it is not in the launch; and launches over several pages likewise.
        assert!(refused([1, 16 * most + 1, 1], 0..1));
        assert!(refused([64 * most + 1, 1, 1], 0..1));
        assert!(refused([1, 16 << 20, 1 << 12], 0..16 << 31));
        // The counters hold it; the shape of the launch is checked elsewhere.
        assert_eq!(blocks([128 << 20, 1, 2048], [64, 16], 0..2048), Ok((0, 1 << 32)));
        assert!(Shape::row(1 << 32, 128).is_err());
    }
}
