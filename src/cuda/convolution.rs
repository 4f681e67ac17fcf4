//! The convolution on the device: its modules, its filter, its launches.
//!
//! # The ways
//! One sweep goes in pieces through the device and back. With a constant outside these are neighbouring columns; with any other boundary they are
//! [slabs](super::slabs), gathered by the host. More sweeps are done on the device, where the array [finds room](super::resident) there; else each goes
//! in pieces, from one array of the host to another.

use std::alloc::{Layout, alloc_zeroed};
use std::ffi::c_void;
use std::ops::Range;
use std::time::Duration;

use cudarc::driver::{result, sys};

use super::Element;
use super::device::Device;
use super::error::failed;
use super::module::bytes_of;
use super::resident::{Budget, Launched, Resident};
use super::slabs::{Cut, Slab};
use super::staging::{self, Gather, PIECE_BYTES, Piece, Plan};
use crate::stencil::{Boundary, Convolution, Error, Real};
use crate::watch::Watch;
use crate::workers::Workers;

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
    skip: i32,
    beyond: [i32; 3],
    outside: f64,
}

/// A convolution whose module is loaded and holds its filter.
///
/// An image or a volume is cut between columns, so what is held of the device's memory is at least what one column needs with its neighbours.
pub(super) struct ConvolutionPlan {
    function: sys::CUfunction,
    threads: u32,
    /// Rows and columns of outputs that a block computes.
    tile: [usize; 2],
    filter: [usize; 3],
    outside: f64,
    array: Array,
}

/// What the kernel is to take for the array.
#[derive(Debug, Clone, Copy)]
struct Array {
    /// Rows, columns, pages.
    size: [usize; 3],
    /// What stands beyond each of them: a `Boundary` of `cuda/convolution.cu`.
    beyond: [i32; 3],
}

/// The constant, as the kernel calls it.
const CONSTANT: i32 = 0;

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
        let boundary = match request.boundary() {
            Boundary::Constant(_) => CONSTANT,
            Boundary::Replicate => 1,
            Boundary::Symmetric => 2,
            Boundary::Circular => 3,
        };
        let kernel = if filter[2] > 1 { c"convolution_3D_const_mem_kernel" } else { c"convolution_2D_const_mem_kernel" };
        Ok(ConvolutionPlan {
            function: module.function(kernel)?,
            threads: module.constant(c"tile_threads")?,
            tile: [module.constant(c"tile_rows_of_output")? as usize, module.constant(c"tile_columns_of_output")? as usize],
            filter,
            outside: request.boundary().constant().to_f64(),
            array: Array { size, beyond: [boundary; 3] },
        })
    }

    /// Puts on the stream what computes the piece of an array.
    fn launch_on(&self, array: Array, stream: sys::CUstream, piece: &Piece, [input, output]: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        let [rows, columns, pages] = array.size;
        let (first, count) = (piece.output.start / rows, piece.output.len() / rows);
        let tiles = columns_of_tiles(columns, self.tile[1], first..first + count);
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
            skip: tiles.start as i32,
            beyond: array.beyond,
            outside: self.outside,
        };
        let blocks = rows.div_ceil(self.tile[0]) * tiles.len();
        let blocks = i32::try_from(blocks).map_err(|_| Error::Internal(format!("{blocks} blocks in one launch")))?;
        let mut arguments = [(&raw mut argument).cast::<c_void>()];
        // SAFETY: as for stencils along lines.
        unsafe { result::launch_kernel(self.function, (blocks as u32, 1, 1), (self.threads, 1, 1), 0, stream, &mut arguments) }
            .map_err(failed("cuLaunchKernel"))
    }

    /// How many launches a sweep over the whole array takes, so that none takes long, and how long one takes at the most, as far as is known here.
    fn launches(&self, element_bytes: usize) -> (usize, Duration) {
        let [rows, columns, pages] = self.array.size;
        let tiles = rows.div_ceil(self.tile[0]) * columns_of_tiles(columns, self.tile[1], 0..columns * pages).len();
        let multiply_adds = tiles as f64 * (self.tile.iter().product::<usize>() * self.filter.iter().product::<usize>()) as f64;
        let launches = ((multiply_adds / LAUNCH_MULTIPLY_ADDS).ceil() as usize).clamp(1, columns * pages);
        let bytes = (2 * rows * columns * pages * element_bytes) as f64;
        let rate = if element_bytes == 4 { SLOW_SINGLE } else { SLOW_DOUBLE };
        let seconds = (multiply_adds / rate + bytes / SLOW_BYTES) / launches as f64;
        (launches, LAUNCH + Duration::from_secs_f64(seconds))
    }
}

/// The columns of tiles of so many columns of outputs that some outputs need, which are the columns `outputs` of an array, counted through all its
/// pages. The tiles of the first such page come first, also those that are not needed.
fn columns_of_tiles(columns: usize, tile: usize, outputs: Range<usize>) -> Range<usize> {
    let last = outputs.end - 1;
    let pages = last / columns - outputs.start / columns;
    outputs.start % columns / tile..pages * columns.div_ceil(tile) + last % columns / tile + 1
}

/// Multiply-adds in a launch: what the slowest of devices needs a twentieth of a second for, and the fastest still some tenths of a millisecond.
const LAUNCH_MULTIPLY_ADDS: f64 = 5e9;

/// What a launch takes at the least.
const LAUNCH: Duration = Duration::from_micros(3);

/// Multiply-adds a second in single and in double, and bytes a second, that the slowest of devices can do.
const SLOW_SINGLE: f64 = 2e12;
const SLOW_DOUBLE: f64 = 1e11;
const SLOW_BYTES: f64 = 1e11;

/// The whole request: all its sweeps, to `output`.
pub(super) fn run<T: Element>(
    device: &mut Device,
    request: &Convolution<T>,
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    let (input, sweeps) = (request.input(), request.sweeps());
    if output.is_empty() || sweeps == 0 {
        return staging::copy(input, output, watch);
    }
    let plan = ConvolutionPlan::new(device, request)?;
    if sweeps > 1 && run_resident(device, &plan, request, output, budget, watch)? {
        return Ok(());
    }
    sweep_by_sweep(input, output, sweeps, |input, output| match request.boundary() {
        Boundary::Constant(_) => device.staging.stream(&device.context, &plan, input, output, budget.kept(), watch),
        boundary => run_slabs(device, &plan, boundary, input, output, budget, watch),
    })
}

/// All sweeps on the device; false if it has no room for the array, and nothing was done.
fn run_resident<T: Element>(
    device: &mut Device,
    plan: &ConvolutionPlan,
    request: &Convolution<T>,
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<bool, Error> {
    let elements = output.len();
    let Some(mut resident) = Resident::new(device, elements, size_of::<T>(), budget)? else {
        return Ok(false);
    };
    resident.upload(device, request.input(), watch)?;
    let (parts, guess) = plan.launches(size_of::<T>());
    let [rows, columns, pages] = plan.array.size;
    // Equal parts, but for one column.
    let begin = |part: usize| (part as u128 * (columns * pages) as u128 / parts as u128) as usize * rows;
    resident.run(request.sweeps().saturating_mul(parts), guess, watch, |launch, stream, [from, to]| {
        let part = launch % parts;
        let piece = Piece { output: begin(part)..begin(part + 1), input: 0..elements };
        let to = to + (piece.output.start * size_of::<T>()) as sys::CUdeviceptr;
        plan.launch(stream, &piece, from, to)?;
        Ok(Launched { updates: piece.output.len(), swap: part + 1 == parts })
    })?;
    resident.download(device, output, watch)?;
    resident.keep(device, budget);
    Ok(true)
}

/// One sweep, slab by slab.
fn run_slabs<T: Element>(
    device: &mut Device,
    plan: &ConvolutionPlan,
    boundary: Boundary<T>,
    input: &[T],
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    let size = size_of::<T>();
    let lanes = staging::lanes_for(size_of_val(input), Workers::count());
    let wanted = input.len().div_ceil(lanes).min(PIECE_BYTES / size);
    let mut limit = budget.kept() / size;
    loop {
        let cut = Cut::new(plan.array.size, plan.filter.map(|size| size / 2), wanted, limit);
        let bytes = cut.most_elements().map(|elements| elements * size);
        match device.staging.prepare_lanes(&device.context, lanes, bytes, budget.kept()) {
            Ok(lanes) => {
                let slabs = InSlabs { plan, cut, boundary, input };
                return device.staging.gather(&device.context, lanes, &slabs, cut.slabs(output), watch);
            }
            Err(Error::OutOfMemory(text)) => {
                let held = cut.most_elements().iter().sum::<usize>();
                if cut.is_smallest() {
                    return Err(Error::OutOfMemory(format!("No memory for the smallest of buffers, {} bytes. {text}", held * size)));
                }
                limit = held / 2;
            }
            Err(error) => return Err(error),
        }
    }
}

/// A sweep over an array of the host that is cut into slabs.
struct InSlabs<'a, T> {
    plan: &'a ConvolutionPlan,
    cut: Cut,
    boundary: Boundary<T>,
    input: &'a [T],
}

impl<T: Real> Gather<T> for InSlabs<'_, T> {
    type Piece = Slab;

    fn elements(&self, slab: &Slab) -> [usize; 2] {
        self.cut.elements(slab)
    }

    fn fill(&self, slab: &Slab, inputs: &mut [T]) {
        self.cut.fill(slab, self.input, self.boundary, inputs);
    }

    fn launch(&self, stream: sys::CUstream, slab: &Slab, addresses: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        let beyond = self.plan.array.beyond;
        // Beyond what is at hand of the columns and pages there is nothing that an output needs.
        let beside = |d: usize| if self.cut.is_whole(d) { beyond[1 + d] } else { CONSTANT };
        let array = Array { size: self.cut.size(slab), beyond: [beyond[0], beside(0), beside(1)] };
        let piece = Piece { output: self.cut.computed(slab), input: 0..self.cut.elements(slab)[0] };
        self.plan.launch_on(array, stream, &piece, addresses)
    }

    fn take(&self, slab: &Slab, outputs: &[T], to: &mut [&mut [T]]) {
        self.cut.take(slab, outputs, to);
    }
}

/// So many sweeps, each from one array of the host to another; the last one to `output`.
fn sweep_by_sweep<T: Real>(
    input: &[T],
    output: &mut [T],
    sweeps: usize,
    mut sweep: impl FnMut(&[T], &mut [T]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut other = if sweeps > 1 { zeros(output.len())? } else { Vec::new() };
    for left in (0..sweeps).rev() {
        let (from, to) = if left % 2 == 0 { (&*other, &mut *output) } else { (&*output, &mut *other) };
        sweep(if left + 1 == sweeps { input } else { from }, to)?;
    }
    Ok(())
}

/// Zeros that the system makes when they are first touched.
fn zeros<T: Real>(count: usize) -> Result<Vec<T>, Error> {
    let no_room = || Error::OutOfMemory(format!("No memory for {count} numbers between two sweeps."));
    let layout = Layout::array::<T>(count).map_err(|_| no_room())?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout has a size.
    let address = unsafe { alloc_zeroed(layout) }.cast::<T>();
    if address.is_null() {
        return Err(no_room());
    }
    // SAFETY: allocated just now as an array of as many; zero bits are a number.
    Ok(unsafe { Vec::from_raw_parts(address, count, count) })
}

impl Plan for ConvolutionPlan {
    /// Whole columns, of as many outputs together as a block computes, where they are short.
    fn tile(&self) -> usize {
        let rows = self.array.size[0];
        rows * (self.tile[0] * self.tile[1] / rows).max(1)
    }

    fn halo(&self) -> usize {
        let [rows, columns, _] = self.array.size;
        (self.filter[1] / 2 + self.filter[2] / 2 * columns) * rows
    }

    fn launch(&self, stream: sys::CUstream, piece: &Piece, input: sys::CUdeviceptr, output: sys::CUdeviceptr) -> Result<(), Error> {
        self.launch_on(self.array, stream, piece, [input, output])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_go_from_array_to_array_and_end_in_the_output() {
        for sweeps in 1..6 {
            let mut output = [f64::NAN; 3];
            let next = |from: &[f64], to: &mut [f64]| {
                from.iter().zip(to).for_each(|(from, to)| *to = from + 1.0);
                Ok(())
            };
            sweep_by_sweep(&[0.0, 10.0, 20.0], &mut output, sweeps, next).unwrap();
            assert_eq!(output, [0.0, 10.0, 20.0].map(|start| start + sweeps as f64));
        }
    }

    #[test]
    fn the_tiles_of_some_columns_are_all_that_have_one_of_them() {
        for (columns, pages, tile) in [(1, 5, 4), (7, 3, 4), (8, 2, 4), (9, 3, 2), (3, 4, 1)] {
            let of_page = usize::div_ceil(columns, tile);
            for first in 0..columns * pages {
                for end in first + 1..=columns * pages {
                    // Of every output the column of tiles that it is in.
                    let tiles = (first..end).map(|at| (at / columns - first / columns) * of_page + at % columns / tile);
                    let expected = tiles.clone().min().unwrap()..tiles.max().unwrap() + 1;
                    assert_eq!(columns_of_tiles(columns, tile, first..end), expected);
                }
            }
        }
    }

    #[test]
    fn zeros_are_refused_where_there_is_no_room() {
        assert_eq!(zeros::<f64>(3), Ok(vec![0.0; 3]));
        assert_eq!(zeros::<f64>(0), Ok(vec![]));
        assert!(matches!(zeros::<f64>(usize::MAX / 16), Err(Error::OutOfMemory(_))));
        assert!(matches!(zeros::<f64>(usize::MAX), Err(Error::OutOfMemory(_))));
    }
}
