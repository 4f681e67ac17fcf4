//! Sweeps over an array of the host, in tiles that go through the staging slots of a device. The device memory is
//! bounded.

use cudarc::driver::sys;

use super::sweeping::Sweeps;
use super::work::Work;
use crate::cuda::driver::memory::Budget;
use crate::cuda::element::Element;
use crate::cuda::kernels::{Area, Kernel};
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::module::Modules;
use crate::cuda::runtime::sharing::Job;
use crate::cuda::runtime::slots::{PIECE_BYTES, Slot};
use crate::host::SharedOutput;
use crate::partition::{Cut, SWEPT_BYTES, Tile};
use crate::platform::watch::Watch;
use crate::stencil::{Error, Sides};

/// Up to this many sweeps the link is the bottleneck. Beyond, it is the device: tiles are larger, and an array that is
/// one tile stays one.
const LINK_BOUND_SWEEPS: usize = 8;

/// Minimum samples of a tile when memory is short, if one output does not need more.
const MIN_SAMPLES: usize = 1024;

/// Returns the samples of a tile of the host's, if memory is not short.
pub(super) fn target<T>(work: &Work<T>) -> usize {
    if work.sweeps > LINK_BOUND_SWEEPS { SWEPT_BYTES / size_of::<T>() } else { PIECE_BYTES / size_of::<T>() }
}

/// Does all sweeps, tile by tile, in as many rounds as the halos require.
pub(super) fn streamed<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    input: &[T],
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    let (cut, slots) = reserve(device, kernel, work, budget, 1)?;
    cut.rounds(work.sweeps).over(input, output, |sweeps, from, to| {
        StreamedRound { kernel, cut: &cut, sweeps, from, to, watch }.run(device, slots, 0..cut.count())
    })
}

/// A round over tiles that go through the slots.
pub(crate) struct StreamedRound<'a, T> {
    pub(crate) kernel: &'a dyn Kernel<T>,
    pub(crate) cut: &'a Cut<T>,
    pub(crate) sweeps: usize,
    pub(crate) from: &'a [T],
    pub(crate) to: &'a SharedOutput<'a, T>,
    pub(crate) watch: &'a Watch,
}

impl<T: Element> StreamedRound<'_, T> {
    /// Does the tiles of these numbers, through `slots` slots of a device.
    pub(crate) fn run(
        &self,
        device: &mut Device,
        slots: usize,
        numbers: impl ExactSizeIterator<Item = usize> + Send,
    ) -> Result<(), Error> {
        let StreamedRound { kernel, cut, sweeps, from, to, watch } = *self;
        let modules = device.modules.clone();
        let under_way = (slots * cut.most_samples()).min(from.len());
        let (sides, shared) = (cut.sides(), slots > 1);
        let round =
            TileContext { kernel, modules: &modules, cut: *cut, sides, sweeps, under_way, shared, from, to, watch };
        let jobs = numbers.map(|number| TileJob { round: &round, tile: cut.tile(number), counted: 0 });
        device.slots.share(slots, jobs, watch)
    }
}

/// Chooses the cut of the array and the number of slots of this device for its share, out of `devices` devices: smaller
/// tiles and fewer slots if memory is short.
pub(crate) fn reserve<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    budget: Budget,
    devices: usize,
) -> Result<(Cut<T>, usize), Error> {
    // The slots have streams of their own, and may need the coefficients' places and the memory.
    device.queue.wait()?;
    let (elements, size, kept) = (work.elements().div_ceil(devices), size_of::<T>(), budget.kept());
    let most = target(work);
    let whole = devices == 1 && work.sweeps > LINK_BOUND_SWEEPS && elements <= most;
    let mut wanted = if whole { 1 } else { device.slots.worth(elements * size) };
    let mut limit = kept / size;
    let cut = |target: usize, limit: usize| kernel.cut(work.sweeps, target, limit);
    // The halo comes on top, up to a limit.
    let mut target = elements.div_ceil(wanted).min(most) + kernel.halo_samples(work.sweeps).min(most / 8);
    let mut short = false;
    loop {
        let mut tiles = cut(target, limit);
        let bytes = |tiles: &Cut<T>| 2 * tiles.most_samples() * size;
        if bytes(&tiles) > kept {
            target = (kept / (2 * size)).max(MIN_SAMPLES);
            tiles = cut(target, limit);
        }
        wanted = wanted.min(kept / bytes(&tiles)).max(1);
        let slots = wanted.min(tiles.count());
        match device.slots.reserve(&device.context, slots, tiles.most_samples() * size, Some(kept), short) {
            Ok(slots) => return Ok((tiles, slots)),
            // Unused buffers are freed first.
            Err(Error::OutOfMemory(_)) if device.queue.release() => {}
            Err(Error::OutOfMemory(text)) => {
                let smaller = cut(target / 2, limit.min(tiles.most_samples()));
                if wanted > 1 {
                    wanted /= 2;
                } else if smaller.most_samples() < tiles.most_samples() {
                    (target, limit) = (target / 2, limit.min(tiles.most_samples()));
                } else {
                    let smallest = bytes(&tiles);
                    let text = format!("No memory for the smallest of buffers, {smallest} bytes. {text}");
                    return Err(Error::OutOfMemory(text));
                }
                short = true;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Common data of the tiles of a round.
struct TileContext<'a, T> {
    kernel: &'a dyn Kernel<T>,
    modules: &'a Modules,
    cut: Cut<T>,
    sides: Sides<T>,
    sweeps: usize,
    under_way: usize,
    shared: bool,
    from: &'a [T],
    to: &'a SharedOutput<'a, T>,
    watch: &'a Watch,
}

/// All sweeps of a round over one tile.
struct TileJob<'a, T> {
    round: &'a TileContext<'a, T>,
    tile: Tile,
    /// Updates already reported to the watch.
    counted: usize,
}

impl<T: Element> Job<Slot> for TileJob<'_, T> {
    fn start(&mut self, slot: &mut Slot) -> Result<(), Error> {
        let (round, tile) = (self.round, &self.tile);
        let samples = tile.samples();
        round.cut.gather(tile, 0..samples, round.from, slot.samples(samples));
        let TileContext { sides, sweeps, under_way, shared, .. } = *round;
        let area = Area { tile: tile.clone(), sides, sweeps, under_way, shared, queued: false };
        let plan = round.kernel.plan(round.modules, &area)?;
        let counted = &mut self.counted;
        let outputs = tile.outputs();
        let mut progress = |updates: usize| {
            let updates = updates.min(round.sweeps * outputs);
            round.watch.count(updates - *counted);
            *counted = updates;
            Ok(round.watch.check()?)
        };
        let work = round.kernel.work();
        let sweeps = Sweeps { plan: &*plan, outputs, work, sweeps: round.sweeps };
        slot.compute::<T>(samples, tile.span().len(), round.sweeps == 1, |stream, [input, output]| {
            let in_input = sweeps.run(stream, input, [output, input], &mut progress)?.in_other;
            let result = if in_input { input } else { output };
            Ok(result + (plan.first_output() * size_of::<T>()) as sys::CUdeviceptr)
        })?;
        if let Some(places) = round.cut.run_of(tile) {
            // The output's pages may be unmapped yet. They are touched while the device is at work.
            round.to.have_pages(places);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, slot: &mut Slot) -> Result<(), Error> {
        let round = self.round;
        let outputs = slot.outputs(self.tile.span().len())?;
        if let Some(places) = round.cut.run_of(&self.tile) {
            round.to.await_pages(places);
        }
        // SAFETY: every tile is one job.
        unsafe { round.cut.scatter(&self.tile, 0..outputs.len(), outputs, round.to) };
        round.watch.count(round.sweeps * self.tile.outputs() - self.counted);
        Ok(())
    }
}
