//! Convolutions over images and volumes by square filters: `cuda/convolution.cu`.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys;

use super::super::Element;
use super::super::module::{Function, Modules, Shape, Turns, counter, launch};
use super::super::pace::SharedPace;
use super::columns::{ColumnUnits, columns_of_tiles};
use super::{Area, LoadOnce, Loaded, Plan, at};
use crate::cuda::arguments::{ConvolutionArgument, SidesArgument};
use crate::partition::Size;
use crate::stencil::{Error, Filter};

/// Filters with modules of their own, by rows and columns: one for single and one for double.
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
pub(super) const TILE: [usize; 2] = [64, 32];

/// Returns the module for filters of this size.
pub(super) fn module_for<T: Element>(filter: Size) -> Option<&'static str> {
    let (_, names) = SQUARE.iter().find(|(size, _)| filter[..2] == [*size, *size])?;
    Some(if T::NAME == f32::NAME { names[0] } else { names[1] })
}

/// Plans the launches of single sweeps by the module of this name.
///
/// # Errors
/// The driver's.
pub(super) fn plan<'a, T: Element>(
    loaded: &'a LoadOnce,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
    name: &'static str,
) -> Result<Box<dyn Plan<T> + 'a>, Error> {
    let entries = (c"F", bytemuck::cast_slice(filter.values()));
    let filter = filter.size();
    let kernel = if filter[2] > 1 { c"convolution_3D_const_mem_kernel" } else { c"convolution_2D_const_mem_kernel" };
    let Loaded { function, module, .. } = loaded.get(modules, area.queued, name, entries, kernel)?;
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
