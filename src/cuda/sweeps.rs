//! Sweeps of a stencil along the lines of an array that lies on the device: which kernel, how it is laid out, and how many sweeps a launch does.

use std::ffi::{CStr, c_void};
use std::time::{Duration, Instant};

use cudarc::driver::{result, sys};

use super::Element;
use super::block_run::Kernel;
use super::blocks::Block;
use super::device::Device;
use super::error::failed;
use super::module::{Module, bytes_of};
use super::pace::Pace;
use crate::stencil::{Boundary, DERIVATIVE_RADIUS, Derivative, Error, Lines, MAX_TAPS, Request};

/// The images of `cuda/sweeps.cu`, for 1, 3, .. 21 taps.
const STENCILS: [&str; MAX_TAPS.div_ceil(2)] = [
    "sweeps_01",
    "sweeps_03",
    "sweeps_05",
    "sweeps_07",
    "sweeps_09",
    "sweeps_11",
    "sweeps_13",
    "sweeps_15",
    "sweeps_17",
    "sweeps_19",
    "sweeps_21",
];

/// The lines side by side that one row of threads takes: those of a warp, so that it reads neighbours.
const LANES: usize = 32;

/// A launch does no more sweeps than this, be the lines short enough for any number: it cannot be stopped in the middle.
const MOST_SWEEPS: usize = 4096;

/// The argument of the kernels: `struct Sweeps` of `cuda/sweeps.cuh`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Argument<T> {
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    inner: u64,
    length: u64,
    outer: u64,
    value: T,
    boundary: u32,
    sweeps: u32,
    lanes: u32,
    segments: u32,
    groups: u32,
    tiles: u32,
}

/// A kernel that keeps tiles of lines in registers.
#[derive(Debug, Clone, Copy)]
struct Tiled {
    function: sys::CUfunction,
    shape: Tile,
}

/// What a block of such a kernel holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tile {
    threads: usize,
    /// Points of a line that a thread holds.
    points: usize,
    /// Whether it is for lines whose elements are neighbours.
    contiguous: bool,
}

/// The kernel that keeps short lines in shared memory.
#[derive(Debug, Clone, Copy)]
struct Short {
    function: sys::CUfunction,
    threads: usize,
    /// The elements that a block has room for.
    capacity: usize,
}

/// How one launch is laid out: see `struct Sweeps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    lanes: usize,
    segments: usize,
    groups: usize,
    tiles: usize,
    blocks: usize,
    sweeps: usize,
}

impl Tile {
    /// For some of so many sweeps; `None` for lines that are too short for it. Tiles that are no whole lines do `best` sweeps, or as many as they can.
    fn layout(self, lines: Lines, radius: usize, circular: bool, sweeps: usize, best: usize) -> Option<Layout> {
        let length = lines.length();
        if length < 2 * self.points || (self.contiguous && lines.inner() > 1) {
            return None;
        }
        let lanes = if self.contiguous { 1 } else { lines.inner().min(LANES) };
        let rows = self.threads / lanes;
        let bundles = lines.inner().div_ceil(lanes) * lines.outer();
        let segments = length.div_ceil(self.points);
        if segments <= rows {
            let groups = rows / segments;
            let sweeps = evenly(sweeps, MOST_SWEEPS);
            return Some(Layout { lanes, segments, groups, tiles: 1, blocks: bundles.div_ceil(groups), sweeps });
        }
        let tile = rows * self.points;
        // Half of the tile at least is to be of use.
        let most = (tile / 4).checked_div(radius).unwrap_or(MOST_SWEEPS).max(1);
        let sweeps = evenly(sweeps, best.min(most));
        let step = tile.checked_sub(2 * radius * sweeps).filter(|&step| step > 0)?;
        let tiles = if circular { length.div_ceil(step) } else { 1 + (length - tile).div_ceil(step) };
        Some(Layout { lanes, segments: rows, groups: 1, tiles, blocks: bundles * tiles, sweeps })
    }
}

impl Short {
    /// As [`Tile::layout`]; `None` for lines that are too long.
    fn layout(capacity: usize, lines: Lines, sweeps: usize) -> Option<Layout> {
        let (inner, length) = (lines.inner(), lines.length());
        let lanes = inner.min(capacity / length);
        if lanes == 0 {
            return None;
        }
        let groups = if lanes == inner { capacity / (length * inner) } else { 1 };
        let blocks = (inner.div_ceil(lanes) * lines.outer()).div_ceil(groups);
        Some(Layout { lanes, segments: 1, groups, tiles: 1, blocks, sweeps: evenly(sweeps, MOST_SWEEPS) })
    }
}

/// How many of `sweeps` are done in the next launch, if no more than `most` can be: all launches do about as many.
fn evenly(sweeps: usize, most: usize) -> usize {
    sweeps.div_ceil(sweeps.div_ceil(most).max(1))
}

/// A stencil for sweeps, whose module is loaded and holds its coefficients.
pub(super) struct SweepsPlan {
    long: Tiled,
    small: Tiled,
    rows: Tiled,
    short: Short,
    radius: usize,
    multiprocessors: usize,
}

// SAFETY: handles of the driver may be used on any thread.
unsafe impl Sync for SweepsPlan {}

impl SweepsPlan {
    /// For a stencil: loads the module for as many taps, if it was not, and copies the taps, if they are others than last time.
    pub(super) fn stencil(device: &mut Device, request: &Request) -> Result<SweepsPlan, Error> {
        let radius = request.taps().radius();
        SweepsPlan::new(device, STENCILS[radius], c"kernelTaps", bytes_of(request.taps().as_slice()), radius)
    }

    /// For a derivative. Its coefficients come from constant memory, whatever the source that is asked for: the result is the same.
    pub(super) fn derivative<T: Element>(device: &mut Device, request: &Derivative<T>) -> Result<SweepsPlan, Error> {
        let image = if T::NAME == f32::NAME { "sweeps_derivative_float" } else { "sweeps_derivative_double" };
        SweepsPlan::new(device, image, c"coefficients", bytes_of(request.coefficients()), DERIVATIVE_RADIUS)
    }

    fn new(
        device: &mut Device,
        image: &'static str,
        symbol: &'static CStr,
        coefficients: &[u8],
        radius: usize,
    ) -> Result<SweepsPlan, Error> {
        let multiprocessors = device.multiprocessors()?;
        let stream = device.stream.cu_stream();
        let module = device.module(image)?;
        module.set_symbol(stream, symbol, coefficients)?;
        let tiled = |module: &mut Module, function, threads, points, contiguous| -> Result<Tiled, Error> {
            let shape = Tile { threads: module.constant(threads)? as usize, points: module.constant(points)? as usize, contiguous };
            Ok(Tiled { function: module.function(function)?, shape })
        };
        Ok(SweepsPlan {
            long: tiled(module, c"sweeps_long", c"long_threads", c"long_points", true)?,
            small: tiled(module, c"sweeps_small", c"small_threads", c"small_points", true)?,
            rows: tiled(module, c"sweeps_rows", c"rows_threads", c"rows_points", false)?,
            short: Short {
                function: module.function(c"sweeps_short")?,
                threads: module.constant(c"short_threads")? as usize,
                capacity: module.constant(c"short_capacity")? as usize,
            },
            radius,
            multiprocessors,
        })
    }

    /// The kernel for the next of so many sweeps, how many threads a block of it has, and its layout.
    fn choose(&self, lines: Lines, circular: bool, sweeps: usize) -> Result<(sys::CUfunction, usize, Layout), Error> {
        let layout = |kernel: &Tiled, best| {
            let layout = kernel.shape.layout(lines, self.radius, circular, sweeps, best);
            layout.map(|layout| (kernel.function, kernel.shape.threads, layout))
        };
        let short = || Short::layout(self.short.capacity, lines, sweeps).map(|layout| (self.short.function, self.short.threads, layout));
        let chosen = if lines.inner() > 1 {
            layout(&self.rows, best_sweeps(self.radius, false))
        } else {
            let long = layout(&self.long, best_sweeps(self.radius, true));
            // Too few blocks to keep the chip busy: smaller ones.
            match long {
                Some((_, _, layout)) if layout.blocks < 3 * self.multiprocessors => None,
                long => long,
            }
            .or_else(|| layout(&self.small, best_sweeps(self.radius, true) / 4))
            .or(long)
        };
        chosen.or_else(short).ok_or_else(|| Error::Internal(format!("No kernel for {lines:?}.")))
    }

    /// Puts so many sweeps on the stream, over the array at the first of two addresses, with `boundary` outside: there and back between both. Returns
    /// which of the two will have the result. Waits now and then, to ask the watch; of the sweeps that are known to be over, `updates` each are counted.
    pub(super) fn run<T: Element>(
        &self,
        stream: sys::CUstream,
        lines: Lines,
        boundary: Boundary<T>,
        sweeps: usize,
        buffers: [sys::CUdeviceptr; 2],
        mut over: impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let (mut done, mut current, mut told) = (0, 0, 0);
        let mut pace = Pace::new(Duration::from_millis(2));
        let (mut launches, mut begin) = (0, Instant::now());
        while done < sweeps {
            if launches == pace.batch() {
                // SAFETY: the stream is open.
                unsafe { result::stream::synchronize(stream) }.map_err(failed("cuStreamSynchronize"))?;
                pace.took(launches, begin.elapsed());
                over(done - told)?;
                told = done;
                (launches, begin) = (0, Instant::now());
            }
            let (function, threads, layout) = self.choose(lines, boundary == Boundary::Circular, sweeps - done)?;
            self.submit(stream, function, threads, lines, boundary, layout, buffers[current], buffers[1 - current])?;
            done += layout.sweeps;
            current = 1 - current;
            launches += 1;
        }
        Ok(current)
    }

    #[expect(clippy::too_many_arguments, reason = "they are those of the kernel")]
    fn submit<T: Element>(
        &self,
        stream: sys::CUstream,
        function: sys::CUfunction,
        threads: usize,
        lines: Lines,
        boundary: Boundary<T>,
        layout: Layout,
        input: sys::CUdeviceptr,
        output: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let mut argument = Argument {
            input,
            output,
            inner: lines.inner() as u64,
            length: lines.length() as u64,
            outer: lines.outer() as u64,
            value: boundary.constant(),
            boundary: match boundary {
                Boundary::Constant(_) => 0,
                Boundary::Replicate => 1,
                Boundary::Symmetric => 2,
                Boundary::Circular => 3,
            },
            sweeps: layout.sweeps as u32,
            lanes: layout.lanes as u32,
            segments: layout.segments as u32,
            groups: layout.groups as u32,
            tiles: u32::try_from(layout.tiles).map_err(|_| Error::Internal(format!("{} tiles in a line", layout.tiles)))?,
        };
        let blocks = i32::try_from(layout.blocks).map_err(|_| Error::Internal(format!("{} blocks in one launch", layout.blocks)))?;
        let mut arguments = [(&raw mut argument).cast::<c_void>()];
        // SAFETY: the function takes this one argument, which the launch copies. It reads and writes as many elements as the lines have, which the
        // caller has at both addresses.
        unsafe { result::launch_kernel(function, (blocks as u32, 1, 1), (threads as u32, 1, 1), 0, stream, &mut arguments) }
            .map_err(failed("cuLaunchKernel"))
    }
}

impl<T: Element> Kernel<T> for SweepsPlan {
    fn radius(&self) -> usize {
        self.radius
    }

    fn split(&self) -> bool {
        false
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        block: &Block,
        boundary: Boundary<T>,
        sweeps: usize,
        buffers: [sys::CUdeviceptr; 2],
        over: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<sys::CUdeviceptr, Error> {
        let result = self.run(stream, block.lines(), boundary, sweeps, buffers, over)?;
        Ok(buffers[result] + (block.ahead() * size_of::<T>()) as sys::CUdeviceptr)
    }
}

/// How many sweeps a tile does best in one launch.
fn best_sweeps(radius: usize, contiguous: bool) -> usize {
    let best = if contiguous { 64 } else { 16 };
    (best / radius.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernels are promised holds for lines of every length.
    #[test]
    fn layouts_are_what_the_kernels_are_promised() {
        for (threads, points, contiguous) in [(128, 31, true), (128, 11, true), (128, 32, false), (96, 13, false)] {
            let tile = Tile { threads, points, contiguous };
            for length in (1..300).chain([1000, 3967, 3968, 3969, 4096, 10_000, 1 << 27]) {
                for inner in if contiguous { vec![1] } else { vec![1, 2, 3, 31, 32, 33, 1000] } {
                    for (radius, sweeps, circular) in [(0, 9, false), (1, 1, false), (1, 1000, true), (10, 7, false), (10, 7, true)] {
                        if radius <= points {
                            check(tile, Lines::strided(inner, length, 3), radius, circular, sweeps);
                        }
                    }
                }
            }
        }
    }

    fn check(tile: Tile, lines: Lines, radius: usize, circular: bool, sweeps: usize) {
        let what = format!("{tile:?} {lines:?} radius {radius} sweeps {sweeps}");
        let Some(layout) = tile.layout(lines, radius, circular, sweeps, 64) else {
            assert!(lines.length() < 2 * tile.points, "{what}");
            return;
        };
        let Layout { lanes, segments, groups, tiles, blocks, sweeps: at_once } = layout;
        assert!(lanes * segments * groups <= tile.threads && (1..=sweeps).contains(&at_once), "{what}");
        assert!(lanes <= lines.inner() && (!tile.contiguous || lanes == 1), "{what}");
        let bundles = lines.inner().div_ceil(lanes);
        assert_eq!(blocks, (bundles * tiles * lines.outer()).div_ceil(groups), "{what}");
        if tiles == 1 && segments * tile.points >= lines.length() {
            assert_eq!(segments, lines.length().div_ceil(tile.points), "{what}");
            assert!(segments >= 2, "{what}");
        } else {
            let (points, loss) = (segments * tile.points, radius * at_once);
            assert!(groups == 1 && points < lines.length() && 2 * loss < points, "{what}");
            let step = points - 2 * loss;
            // The last tile ends with the line or beyond, the last but one does not.
            let reach = |tiles: usize| if circular { tiles * step } else { points + (tiles - 1) * step };
            assert!(reach(tiles) >= lines.length() && reach(tiles - 1) < lines.length(), "{what}");
        }
    }

    #[test]
    fn short_lines_fit_their_block() {
        for length in 1..=64 {
            for inner in [1, 2, 7, 32, 40, 1000, 100_000] {
                let lines = Lines::strided(inner, length, 5);
                let Layout { lanes, groups, blocks, .. } = Short::layout(2560, lines, 3).unwrap();
                assert!(lanes <= inner && lanes * length * groups <= 2560 && groups >= 1);
                assert!(groups == 1 || lanes == inner);
                assert_eq!(blocks, (inner.div_ceil(lanes) * 5).div_ceil(groups));
            }
        }
        assert_eq!(Short::layout(2560, Lines::new(2561, 1), 1), None);
    }

    #[test]
    fn launches_do_about_as_many_sweeps_each() {
        assert_eq!((evenly(65, 64), evenly(64, 64), evenly(1, 64), evenly(1000, 64)), (33, 64, 1, 63));
    }
}
