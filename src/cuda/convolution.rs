//! The convolution on the device: its modules, its filter, its launches.

use std::ffi::c_void;

use cudarc::driver::{result, sys};

use super::Element;
use super::device::Device;
use super::error::failed;
use super::module::bytes_of;
use super::staging::{Piece, Plan};
use crate::stencil::{Convolution, Error};

/// The filters of `cuda/convolution.cu` that have a module of their own, rows and columns, with the images for single and for double. Any other goes
/// through the general ones.
const SPECIALISED: [(usize, [&str; 2]); 7] = [
    (3, ["convolution_float_03", "convolution_double_03"]),
    (5, ["convolution_float_05", "convolution_double_05"]),
    (7, ["convolution_float_07", "convolution_double_07"]),
    (9, ["convolution_float_09", "convolution_double_09"]),
    (11, ["convolution_float_11", "convolution_double_11"]),
    (13, ["convolution_float_13", "convolution_double_13"]),
    (15, ["convolution_float_15", "convolution_double_15"]),
];

/// The images for any filter, for single and for double.
const GENERAL: [&str; 2] = ["convolution_float", "convolution_double"];

/// The argument of the kernels: `struct Part` of `cuda/convolution.cu`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Argument {
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    count: i64,
    before: i64,
    after: i64,
    first: i64,
    rows: i64,
    columns: i64,
    pages: i64,
    height: i32,
    width: i32,
    depth: i32,
}

/// A convolution whose module is loaded and holds its filter.
///
/// An image or a volume is cut between columns, so what is held of the device's memory is at least what one column needs with its neighbours.
pub(super) struct ConvolutionPlan {
    function: sys::CUfunction,
    threads: u32,
    /// Rows and columns of outputs that a block computes.
    tile: [usize; 2],
    size: [usize; 3],
    filter: [usize; 3],
}

// SAFETY: handles of the driver may be used on any thread.
unsafe impl Sync for ConvolutionPlan {}

impl ConvolutionPlan {
    /// Loads the module for the filter's size, if it was not, and copies the filter, if it is another than last time.
    pub(super) fn new<T: Element>(device: &mut Device, request: &Convolution<T>) -> Result<ConvolutionPlan, Error> {
        let (size, filter) = (request.size(), request.filter().size());
        let own = SPECIALISED.iter().find(|(size, _)| filter[..2] == [*size, *size]).map(|(_, images)| images);
        let images = own.unwrap_or(&GENERAL);
        let stream = device.stream.cu_stream();
        let module = device.module(if T::NAME == f32::NAME { images[0] } else { images[1] })?;
        module.set_symbol(stream, c"F", bytes_of(request.filter().values()))?;
        let kernel = if filter[2] > 1 { c"convolution_3D_const_mem_kernel" } else { c"convolution_2D_const_mem_kernel" };
        Ok(ConvolutionPlan {
            function: module.function(kernel)?,
            threads: module.constant(c"tile_threads")?,
            tile: [module.constant(c"tile_rows_of_output")? as usize, module.constant(c"tile_columns_of_output")? as usize],
            size,
            filter,
        })
    }
}

impl Plan for ConvolutionPlan {
    /// Whole columns, of as many outputs together as a block computes, where they are short.
    fn tile(&self) -> usize {
        let rows = self.size[0];
        rows * (self.tile[0] * self.tile[1] / rows).max(1)
    }

    fn halo(&self) -> usize {
        let [rows, columns, _] = self.size;
        (self.filter[1] / 2 + self.filter[2] / 2 * columns) * rows
    }

    fn launch(&self, stream: sys::CUstream, piece: &Piece, input: sys::CUdeviceptr, output: sys::CUdeviceptr) -> Result<(), Error> {
        let [rows, columns, pages] = self.size;
        let (first, count) = (piece.output.start / rows, piece.output.len() / rows);
        let mut argument = Argument {
            input,
            output,
            count: count as i64,
            before: ((piece.output.start - piece.input.start) / rows) as i64,
            after: ((piece.input.end - piece.output.end) / rows) as i64,
            first: first as i64,
            rows: rows as i64,
            columns: columns as i64,
            pages: pages as i64,
            height: self.filter[0] as i32,
            width: self.filter[1] as i32,
            depth: self.filter[2] as i32,
        };
        // Whole pages of tiles, also of the pages at both ends that the piece has only a part of.
        let pages_touched = (first + count).div_ceil(columns) - first / columns;
        let blocks = rows.div_ceil(self.tile[0]) * columns.div_ceil(self.tile[1]) * pages_touched;
        let blocks = i32::try_from(blocks).map_err(|_| Error::Internal(format!("{blocks} blocks in one launch")))?;
        let mut arguments = [(&raw mut argument).cast::<c_void>()];
        // SAFETY: as for stencils along lines.
        unsafe { result::launch_kernel(self.function, (blocks as u32, 1, 1), (self.threads, 1, 1), 0, stream, &mut arguments) }
            .map_err(failed("cuLaunchKernel"))
    }
}
