//! Sweeps over an array of the host, in blocks through the lanes.

use cudarc::driver::sys;

use super::Element;
use super::blocks::{Block, Blocks, SharedOutput};
use super::device::Device;
use super::resident::Budget;
use super::staging::{Job, Lane, PIECE_BYTES, lanes_for};
use crate::stencil::{Boundary, Error, Lines, Real};
use crate::watch::Watch;
use crate::workers::Workers;

/// From so many sweeps on, the device is what is waited for: blocks are larger, and an array that is one block stays
/// one.
const MANY_SWEEPS: usize = 8;

/// The bytes of a block then.
const SWEPT_BYTES: usize = 4 << 20;

/// The samples of the smallest block that memory is saved with, if one output does not need more.
const LEAST_SAMPLES: usize = 1024;

/// What computes blocks.
pub(super) trait Kernel<T>: Sync {
    /// How far a sweep reaches.
    fn radius(&self) -> usize;

    /// Whether it computes outputs that have all their samples, along lines that are cut into blocks of one line each
    /// and extended beyond their ends. Else it takes lines whole, or cut, and extends them itself.
    fn split(&self) -> bool;

    /// Loads what so many sweeps over such lines will need.
    fn prepare(&mut self, device: &mut Device, lines: Lines, sweeps: usize) -> Result<(), Error>;

    /// Puts so many sweeps over `block` on the stream, from the samples at the first address, with the second to write
    /// to. Returns the address of the first output. Where it waits for the device in between, it says how many sweeps
    /// are over.
    fn launch(
        &self,
        stream: sys::CUstream,
        block: &Block,
        boundary: Boundary<T>,
        sweeps: usize,
        buffers: [sys::CUdeviceptr; 2],
        over: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<sys::CUdeviceptr, Error>;
}

/// An array, and how it is swept.
pub(super) struct Array<'a, T> {
    pub(super) input: &'a [T],
    pub(super) lines: Lines,
    pub(super) boundary: Boundary<T>,
    pub(super) sweeps: usize,
}

/// Sweeps `array` to `output`. The buffers on the device stay within the budget, as far as one output and its samples
/// allow.
///
/// Where the halo for all sweeps would be too large, they are done in rounds, each through the host's memory.
pub(super) fn sweep<T: Element>(
    device: &mut Device,
    kernel: &mut dyn Kernel<T>,
    array: &Array<T>,
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    assert_eq!(array.input.len(), output.len());
    if output.is_empty() {
        return Ok(());
    }
    if array.sweeps == 0 {
        output.copy_from_slice(array.input);
        return Ok(());
    }
    let (blocks, lanes) = prepare(device, kernel, array, budget)?;
    let rounds = array.sweeps.div_ceil(blocks.sweeps());
    let in_last = array.sweeps - (rounds - 1) * blocks.sweeps();
    for lines in blocks.kinds_of_lines() {
        kernel.prepare(device, lines, in_last)?;
        if rounds > 1 {
            kernel.prepare(device, lines, blocks.sweeps())?;
        }
    }
    let kernel: &dyn Kernel<T> = kernel;
    // Rounds go from one array to the other and back, so that the last writes the output.
    let mut scratch = Vec::new();
    if rounds > 1 {
        let refused = |_| {
            Error::OutOfMemory(format!("No memory on the host for a second array of {} bytes.", size_of_val(output)))
        };
        scratch.try_reserve_exact(output.len()).map_err(refused)?;
        scratch.resize(output.len(), T::default());
    }
    let mut done = 0;
    for round in 0..rounds {
        let sweeps = blocks.sweeps().min(array.sweeps - done);
        let to_output = (rounds - round) % 2 == 1;
        let (from, to) = match (round, to_output) {
            (0, true) => (array.input, &mut *output),
            (0, false) => (array.input, &mut scratch[..]),
            (_, true) => (&scratch[..], &mut *output),
            (_, false) => (&*output, &mut scratch[..]),
        };
        // SAFETY: the outputs of two blocks have no element in common.
        let to = unsafe { SharedOutput::new(to) };
        let run = Run { kernel, blocks, boundary: blocks.boundary(array.boundary), sweeps, from, to, watch };
        let jobs = (0..blocks.count()).map(|number| BlockJob { run: &run, block: blocks.block(number), told: 0 });
        device.staging.share(lanes, jobs, watch)?;
        done += sweeps;
    }
    Ok(())
}

/// How the array is cut, and how many lanes there are for it.
fn prepare<T: Real>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    array: &Array<T>,
    budget: Budget,
) -> Result<(Blocks<T>, usize), Error> {
    let (elements, size) = (array.lines.elements(), size_of::<T>());
    let cut =
        |elements| Blocks::new(array.lines, array.boundary, kernel.radius(), array.sweeps, elements, kernel.split());
    let many = array.sweeps > MANY_SWEEPS;
    let most = if many { SWEPT_BYTES } else { PIECE_BYTES } / size;
    let mut wanted = if many && elements <= most { 1 } else { lanes_for(elements * size, Workers::count()) };
    // The halo comes on top, as far as it is small.
    let mut target = elements.div_ceil(wanted).min(most) + (2 * kernel.radius() * array.sweeps).min(most / 8);
    let mut short = false;
    loop {
        let mut blocks = cut(target);
        let lane_bytes = |blocks: &Blocks<T>| 2 * blocks.most_samples() * size;
        if wanted * lane_bytes(&blocks) > budget.kept() {
            wanted = (budget.kept() / lane_bytes(&blocks)).max(1);
        }
        if lane_bytes(&blocks) > budget.kept() {
            target = (budget.kept() / (2 * size)).max(LEAST_SAMPLES);
            blocks = cut(target);
        }
        match device.staging.reserve(
            &device.context,
            wanted.min(blocks.count()),
            blocks.most_samples() * size,
            budget.kept(),
            short,
        ) {
            Ok(lanes) => return Ok((blocks, lanes)),
            Err(Error::OutOfMemory(text)) => {
                let smaller = cut(target / 2);
                if wanted > 1 {
                    wanted /= 2;
                } else if target > LEAST_SAMPLES && smaller.most_samples() < blocks.most_samples() {
                    target /= 2;
                } else {
                    let smallest = lane_bytes(&blocks);
                    return Err(Error::OutOfMemory(format!(
                        "No memory for the smallest of buffers, {smallest} bytes. {text}"
                    )));
                }
                short = true;
            }
            Err(error) => return Err(error),
        }
    }
}

/// What the blocks of a round have in common.
struct Run<'a, T> {
    kernel: &'a dyn Kernel<T>,
    blocks: Blocks<T>,
    boundary: Boundary<T>,
    sweeps: usize,
    from: &'a [T],
    to: SharedOutput<'a, T>,
    watch: &'a Watch,
}

/// All sweeps of a round over one block.
struct BlockJob<'a, T> {
    run: &'a Run<'a, T>,
    block: Block,
    /// The sweeps that the watch has heard of.
    told: usize,
}

impl<T: Element> Job for BlockJob<'_, T> {
    fn start(&mut self, lane: &mut Lane) -> Result<(), Error> {
        let (run, block) = (self.run, &self.block);
        let samples = block.lines().elements();
        run.blocks.gather(block, run.from, lane.samples(samples));
        let told = &mut self.told;
        let mut over = |sweeps: usize| {
            *told += sweeps;
            run.watch.count(sweeps * block.outputs());
            Ok(run.watch.check()?)
        };
        lane.compute::<T>(samples, block.outputs(), run.sweeps == 1, |stream, buffers| {
            run.kernel.launch(stream, block, run.boundary, run.sweeps, buffers, &mut over)
        })
    }

    fn finish(self, lane: &mut Lane) -> Result<(), Error> {
        let run = self.run;
        run.blocks.scatter(&self.block, lane.outputs(self.block.outputs())?, &run.to);
        run.watch.count((run.sweeps - self.told) * self.block.outputs());
        Ok(())
    }
}
