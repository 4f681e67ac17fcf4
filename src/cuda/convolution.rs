//! The convolution on the device: its modules, its filter, its launches.
//!
//! # The ways
//! One sweep goes in pieces through the device and back. With a constant outside these are neighbouring columns; with
//! any other boundary they are [slabs](super::slabs), gathered by the host. More sweeps are done on the device, where
//! the array [finds room](super::resident) there; else each goes in pieces, from one array of the host to another.

use std::ops::Range;
use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use cudarc::driver::sys;

use super::Element;
use super::device::Device;
use super::launch::{Shape, counter, launch};
use super::module::{Function, wait};
use super::pace::{Pace, SharedPace, evenly};
use super::resident::{Budget, Resident};
use super::slabs::{Cut, Slab};
use super::staging::{self, Gather, PIECE_BYTES, Piece, Plan};
use crate::host;
use crate::memory::zeros;
use crate::stencil::{Boundary, Convolution, Error};
use crate::watch::Watch;
use crate::workers::Workers;

/// The filters of `cuda/convolution.cu` that have a module of their own, rows and columns, with the images for single
/// and for double. Any other goes through the general ones.
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
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
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
    unused: i32,
    outside: f64,
}

/// A convolution whose module is loaded and holds its filter.
///
/// An image or a volume is cut between columns, so what is held of the device's memory is at least what one column
/// needs with its neighbours.
pub(super) struct ConvolutionPlan {
    function: Function,
    threads: usize,
    /// Rows and columns of outputs that a block computes.
    tile: [usize; 2],
    filter: [usize; 3],
    outside: f64,
    element_bytes: usize,
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

impl ConvolutionPlan {
    /// Loads the module for the filter's size, if it was not, and copies the filter, if it is another than last time.
    pub(super) fn new<T: Element>(device: &mut Device, request: &Convolution<T>) -> Result<ConvolutionPlan, Error> {
        let (size, filter) = (request.size(), request.filter().size());
        let own = SPECIALISED.iter().find(|(size, _)| filter[..2] == [*size, *size]).map(|(_, images)| images);
        let images = own.unwrap_or(&GENERAL);
        let stream = device.stream.handle();
        let module = device.module(if T::NAME == f32::NAME { images[0] } else { images[1] })?;
        module.set_symbol(stream, c"F", request.filter().values())?;
        let boundary = match request.boundary() {
            Boundary::Constant(_) => CONSTANT,
            Boundary::Replicate => 1,
            Boundary::Symmetric => 2,
            Boundary::Circular => 3,
        };
        let kernel =
            if filter[2] > 1 { c"convolution_3D_const_mem_kernel" } else { c"convolution_2D_const_mem_kernel" };
        Ok(ConvolutionPlan {
            function: module.function(kernel)?,
            threads: module.constant(c"tile_threads")? as usize,
            tile: [
                module.constant(c"tile_rows_of_output")? as usize,
                module.constant(c"tile_columns_of_output")? as usize,
            ],
            filter,
            outside: request.boundary().constant().to_f64(),
            element_bytes: size_of::<T>(),
            array: Array { size, beyond: [boundary; 3] },
        })
    }

    /// Puts on the stream what computes the piece of an array.
    fn launch_on(
        &self,
        array: Array,
        stream: sys::CUstream,
        piece: &Piece,
        [input, output]: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let [rows, columns, pages] = array.size;
        let (first, count) = (piece.output.start / rows, piece.output.len() / rows);
        let (skip, blocks) = blocks(array.size, self.tile, first..first + count)?;
        let argument = Argument {
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
            skip,
            beyond: array.beyond,
            unused: 0,
            outside: self.outside,
        };
        let shape = Shape::row(blocks, self.threads)?;
        // SAFETY: the kernel reads the piece's inputs, and writes its outputs, at addresses where the caller has as
        // many.
        unsafe { launch(&self.function, stream, shape, &argument) }
    }

    /// How long the slowest of devices takes for a column of tiles.
    fn slowest(&self) -> Duration {
        slowest(self.array.size[0], self.tile, self.filter, self.element_bytes)
    }
}

/// The columns of tiles that a launch skips ahead of those that the outputs in some columns need, and its blocks: see
/// `struct Part`.
///
/// # Errors
/// [`Error::Internal`] for more than the kernel can count.
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

/// The columns of tiles of so many columns of outputs that some outputs need, which are the columns `outputs` of an
/// array, counted through all its pages. The tiles of the first such page come first, also those that are not needed.
fn columns_of_tiles(columns: usize, tile: usize, outputs: Range<usize>) -> Range<usize> {
    let last = outputs.end - 1;
    let pages = last / columns - outputs.start / columns;
    outputs.start % columns / tile..pages * columns.div_ceil(tile) + last % columns / tile + 1
}

/// The first column of outputs that a column of tiles is for, both counted through all pages: no tile reaches into
/// another page.
fn first_column(columns: usize, tile: usize, column_of_tiles: usize) -> usize {
    let across = columns.div_ceil(tile);
    column_of_tiles / across * columns + column_of_tiles % across * tile
}

/// What of `outputs`, some columns of an array that are not yet computed, goes into the next of several launches of
/// about as much: no more than `most` columns of tiles. Cut between tiles: what is on both sides would be computed
/// twice. Also, how many columns of tiles it needs.
fn next_step(columns: usize, tile: usize, outputs: &Range<usize>, most: usize) -> (Range<usize>, usize) {
    let tiles = columns_of_tiles(columns, tile, outputs.clone());
    let step = evenly(tiles.len(), most);
    let ahead = outputs.start / columns * columns.div_ceil(tile);
    (outputs.start..first_column(columns, tile, ahead + tiles.start + step).min(outputs.end), step)
}

/// Multiply-adds a second in single and in double, and bytes a second, that the slowest of devices can do: a small card
/// of Pascal's time has 256 cores at 1.25 GHz, a double for 32 singles, and a narrow memory. In single with more to
/// spare: what is begun too small costs one batch.
const SLOW_SINGLE: f64 = 2e10;
const SLOW_DOUBLE: f64 = 1e10;
const SLOW_BYTES: f64 = 1.5e10;

/// How long the slowest of devices takes for a column of tiles of an array with so many rows.
fn slowest(rows: usize, tile: [usize; 2], filter: [usize; 3], element_bytes: usize) -> Duration {
    let outputs = (rows.div_ceil(tile[0]) * tile[0] * tile[1]) as f64;
    let rate = if element_bytes == 4 { SLOW_SINGLE } else { SLOW_DOUBLE };
    let computing = outputs * filter.iter().product::<usize>() as f64 / rate;
    let moving = outputs * (2 * element_bytes) as f64 / SLOW_BYTES;
    // It does both at a time.
    Duration::from_secs_f64(computing.max(moving))
}

/// A convolution whose pieces go into several launches as long as nobody knows that the device is fast enough for one.
///
/// What all lanes have under way must be over within a tenth of a second. With 16 lanes and pieces of 2 MiB of doubles
/// that is 9e8 multiply-adds for a filter of 15 x 15, and 1.4e9 for one of 7 x 7 x 7: 0.09 and 0.14 s on the slowest of
/// devices; and pieces are larger where the halo is large, for 7 x 7 x 7 and pages of 512 x 512 they are 2.2e9
/// multiply-adds each. So a lane begins with its share of what such a device does in time, waits for that, and goes on
/// with what follows from the time it took: on a fast device twice as much, which mostly is the rest of its first
/// piece.
///
/// # Limitations
/// A launch has at least one column of tiles, from the first row to the last. With 15 x 15 in double and 130,000 rows
/// that alone takes the slowest device a tenth of a second.
struct Steps<'a> {
    plan: &'a ConvolutionPlan,
    /// Counts columns of tiles.
    pace: SharedPace,
    /// How many lanes there may be.
    lanes: u32,
    watch: &'a Watch,
}

impl<'a> Steps<'a> {
    /// For an array of so many bytes.
    fn new(plan: &'a ConvolutionPlan, bytes: usize, watch: &'a Watch) -> Steps<'a> {
        let lanes = staging::lanes_for(bytes, Workers::count()) as u32;
        Steps { plan, pace: SharedPace::of_units(plan.slowest() * lanes), lanes, watch }
    }

    /// Puts on the stream what computes the piece of an array. Waits in between as long as the piece is more than a
    /// step.
    fn launch_on(
        &self,
        array: Array,
        stream: sys::CUstream,
        piece: &Piece,
        [input, output]: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let ([rows, columns, _], tile) = (array.size, self.plan.tile[1]);
        let mut outputs = piece.output.start / rows..piece.output.end / rows;
        let mut begin = None;
        while !outputs.is_empty() {
            let most = self.pace.batch();
            let (step, tiles) = next_step(columns, tile, &outputs, most);
            let last = step.end == outputs.end;
            if !last && begin.is_none() {
                // The samples' way to the device is not to be counted.
                wait(stream)?;
                begin = Some(Instant::now());
            }
            let part = Piece { output: step.start * rows..step.end * rows, input: piece.input.clone() };
            let shift = (part.output.start - piece.output.start) * self.plan.element_bytes;
            self.plan.launch_on(array, stream, &part, [input, output + shift as sys::CUdeviceptr])?;
            outputs.start = step.end;
            if let Some(start) = begin.filter(|_| !last) {
                wait(stream)?;
                // As if the other lanes had been idle: they may be the next time not.
                self.pace.took(tiles, start.elapsed() * self.lanes);
                self.watch.check()?;
                begin = Some(Instant::now());
            }
        }
        Ok(())
    }
}

impl Plan for Steps<'_> {
    fn tile(&self) -> usize {
        self.plan.tile()
    }

    fn halo(&self) -> usize {
        self.plan.halo()
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        piece: &Piece,
        input: sys::CUdeviceptr,
        output: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        self.launch_on(self.plan.array, stream, piece, [input, output])
    }
}

/// The whole request: all its sweeps, to `output`.
pub(super) fn run<T: Element>(
    device: &mut Device,
    request: &Convolution<T>,
    input: &[T],
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    let sweeps = request.sweeps();
    if output.is_empty() || sweeps == 0 {
        return host::copy(input, output, watch);
    }
    let plan = ConvolutionPlan::new(device, request)?;
    if sweeps > 1 && run_resident(device, &plan, request, input, output, budget, watch)? {
        return Ok(());
    }
    let steps = Steps::new(&plan, size_of_val(input), watch);
    sweep_by_sweep(input, output, sweeps, |input, output| match request.boundary() {
        Boundary::Constant(_) => device.staging.stream(&device.context, &steps, input, output, budget.kept(), watch),
        boundary => run_slabs(device, &steps, boundary, input, output, budget, watch),
    })
}

/// All sweeps on the device; false if it has no room for the array, and nothing was done.
fn run_resident<T: Element>(
    device: &mut Device,
    plan: &ConvolutionPlan,
    request: &Convolution<T>,
    input: &[T],
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<bool, Error> {
    let elements = output.len();
    let Some(mut resident) = Resident::new(device, elements, size_of::<T>(), budget)? else {
        return Ok(false);
    };
    resident.upload(device, input, watch)?;
    let [rows, columns, pages] = plan.array.size;
    let first = |unit| first_column(columns, plan.tile[1], unit) * rows;
    let units = columns.div_ceil(plan.tile[1]) * pages;
    resident.run(request.sweeps(), units, Pace::of_units(plan.slowest()), watch, |units, stream, [from, to]| {
        let piece = Piece { output: first(units.start)..first(units.end), input: 0..elements };
        let to = to + (piece.output.start * size_of::<T>()) as sys::CUdeviceptr;
        plan.launch(stream, &piece, from, to)?;
        Ok(piece.output.len())
    })?;
    resident.download(device, output, watch)?;
    resident.keep(device, budget);
    Ok(true)
}

/// One sweep, slab by slab.
fn run_slabs<T: Element>(
    device: &mut Device,
    steps: &Steps,
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
        let cut = Cut::new(steps.plan.array.size, steps.plan.filter.map(|size| size / 2), wanted, limit);
        let bytes = cut.most_elements().map(|elements| elements * size);
        match device.staging.prepare_lanes(&device.context, lanes, bytes, budget.kept()) {
            Ok(lanes) => {
                let slabs = InSlabs { steps, cut, boundary, input };
                return device.staging.gather(lanes, &slabs, cut.slabs(output), watch);
            }
            Err(Error::OutOfMemory(text)) => {
                let held = cut.most_elements().iter().sum::<usize>();
                if cut.is_smallest() {
                    return Err(Error::OutOfMemory(format!(
                        "No memory for the smallest of buffers, {} bytes. {text}",
                        held * size
                    )));
                }
                limit = held / 2;
            }
            Err(error) => return Err(error),
        }
    }
}

/// A sweep over an array of the host that is cut into slabs.
struct InSlabs<'a, T> {
    steps: &'a Steps<'a>,
    cut: Cut,
    boundary: Boundary<T>,
    input: &'a [T],
}

impl<T: Element> Gather<T> for InSlabs<'_, T> {
    type Piece = Slab;

    fn elements(&self, slab: &Slab) -> [usize; 2] {
        self.cut.elements(slab)
    }

    fn fill(&self, slab: &Slab, inputs: &mut [T]) {
        self.cut.fill(slab, self.input, self.boundary, inputs);
    }

    fn launch(&self, stream: sys::CUstream, slab: &Slab, addresses: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        let beyond = self.steps.plan.array.beyond;
        // Beyond what is at hand of the columns and pages there is nothing that an output needs.
        let beside = |d: usize| if self.cut.is_whole(d) { beyond[1 + d] } else { CONSTANT };
        let array = Array { size: self.cut.size(slab), beyond: [beyond[0], beside(0), beside(1)] };
        let piece = Piece { output: self.cut.computed(slab), input: 0..self.cut.elements(slab)[0] };
        self.steps.launch_on(array, stream, &piece, addresses)
    }

    fn take(&self, slab: &Slab, outputs: &[T], to: &mut [&mut [T]]) {
        self.cut.take(slab, outputs, to);
    }
}

/// So many sweeps, each from one array of the host to another; the last one to `output`.
fn sweep_by_sweep<T: Element>(
    input: &[T],
    output: &mut [T],
    sweeps: usize,
    mut sweep: impl FnMut(&[T], &mut [T]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut other = if sweeps > 1 { zeros(output.len(), "what lies between two sweeps")? } else { Vec::new() };
    for left in (0..sweeps).rev() {
        let (from, to) = if left % 2 == 0 { (&*other, &mut *output) } else { (&*output, &mut *other) };
        sweep(if left + 1 == sweeps { input } else { from }, to)?;
    }
    Ok(())
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

    fn launch(
        &self,
        stream: sys::CUstream,
        piece: &Piece,
        input: sys::CUdeviceptr,
        output: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        self.launch_on(self.array, stream, piece, [input, output])
    }
}

#[cfg(test)]
mod tests {
    use super::super::launch::tests::argument_bytes;
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
    fn the_kernels_take_this_argument() {
        let images = SPECIALISED.iter().flat_map(|(size, images)| images.map(|image| (*size, image)));
        for (size, image) in images.chain(GENERAL.map(|image| (1, image))) {
            assert_eq!(argument_bytes(image, "convolution_2D_const_mem_kernel"), size_of::<Argument>(), "{image}");
            if size <= 7 {
                assert_eq!(argument_bytes(image, "convolution_3D_const_mem_kernel"), size_of::<Argument>(), "{image}");
            }
        }
    }

    /// Step by step every column is computed once, in order, and every column of tiles but the first and the last of an
    /// array that was cut elsewhere.
    #[test]
    fn steps_are_cut_between_tiles() {
        for (columns, pages, tile) in [(1, 1, 4), (10, 3, 4), (8, 3, 4), (3, 5, 4), (33, 2, 16), (7, 4, 1)] {
            let all = columns * pages;
            for outputs in (0..all).flat_map(|start| (start + 1..=all).map(move |end| start..end)) {
                for most in [1, 2, 3, 5, usize::MAX] {
                    let (mut rest, mut tiles, mut steps) = (outputs.clone(), 0, 0);
                    while !rest.is_empty() {
                        let (step, needed) = next_step(columns, tile, &rest, most);
                        assert!(step.start == rest.start && step.end <= outputs.end && !step.is_empty());
                        assert_eq!(columns_of_tiles(columns, tile, step.clone()).len(), needed);
                        assert!(needed <= most);
                        (rest.start, tiles, steps) = (step.end, tiles + needed, steps + 1);
                    }
                    let needed = columns_of_tiles(columns, tile, outputs.clone()).len();
                    assert_eq!(
                        (tiles, steps),
                        (needed, needed.div_ceil(most)),
                        "{outputs:?} of {columns} x {pages} by {tile}, {most} at once"
                    );
                }
            }
            let across = columns.div_ceil(tile);
            assert_eq!(first_column(columns, tile, across * pages), all);
            assert!((0..pages).all(|page| first_column(columns, tile, across * page) == columns * page));
        }
    }

    #[test]
    fn launches_that_the_kernel_cannot_count_are_refused() {
        let most = i32::MAX as usize;
        assert_eq!(blocks([100, 100, 2], [64, 16], 20..130), Ok((1, 2 * 8)));
        let refused = |size, outputs| matches!(blocks(size, [64, 16], outputs), Err(Error::Internal(_)));
        assert_eq!(blocks([1, 16 * most, 1], [64, 16], 0..16 * most), Ok((0, most)));
        assert_eq!(blocks([1, 16 * most, 1], [64, 16], 16 * (most - 1)..16 * most), Ok((i32::MAX - 1, 1)));
        // A tile more than can be counted, even if the launch is not for it; and the same of launches over several
        // pages.
        assert!(refused([1, 16 * most + 1, 1], 0..1));
        assert!(refused([64 * most + 1, 1, 1], 0..1));
        assert!(refused([1, 16 << 20, 1 << 12], 0..16 << 31));
        // Fine for the counters, and left to the shape.
        assert_eq!(blocks([128 << 20, 1, 2048], [64, 16], 0..2048), Ok((0, 1 << 32)));
        assert!(Shape::row(1 << 32, 128).is_err());
    }

    /// What `Steps` says of pieces of 2 MiB, and how its first steps keep below it.
    #[test]
    fn first_steps_of_all_lanes_are_short_on_the_slowest_of_devices() {
        let piece = |filter: [usize; 3]| PIECE_BYTES / 8 * filter.iter().product::<usize>();
        let seconds = |filter| 16.0 * piece(filter) as f64 / SLOW_DOUBLE;
        assert!((0.094..0.095).contains(&seconds([15, 15, 1])) && (0.143..0.145).contains(&seconds([7, 7, 7])));
        for (rows, filter) in [(64, [3, 3, 1]), (512, [7, 7, 7]), (1024, [15, 15, 1]), (2048, [15, 15, 1])] {
            for (element_bytes, rate) in [(4, SLOW_SINGLE), (8, SLOW_DOUBLE)] {
                let unit = slowest(rows, [64, 32], filter, element_bytes);
                let step = Pace::of_units(unit * 16).batch();
                let multiply_adds = 16 * step * rows * 32 * filter.iter().product::<usize>();
                assert!(multiply_adds as f64 / rate <= 0.05, "{rows} rows, {filter:?}");
            }
        }
        // Where there is nothing to compute, bytes are what takes time.
        assert_eq!(slowest(64, [64, 16], [1, 1, 1], 8), Duration::from_secs_f64(1024.0 * 16.0 / SLOW_BYTES));
    }
}
