//! Sweeps over an array of the host, in tiles that go through the staging slots of a device. The device memory is
//! bounded.

use cudarc::driver::sys;

use super::sweeping::Sweeps;
use super::work::{Round, Work};
use crate::cuda::driver::memory::Budget;
use crate::cuda::element::Element;
use crate::cuda::kernels::{Area, Kernel};
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::module::Modules;
use crate::cuda::runtime::sharing::Job;
use crate::cuda::runtime::slots::{PIECE_BYTES, Slot};
use crate::partition::{Cut, SWEPT_BYTES};
use crate::platform::watch::Watch;
use crate::stencil::Error;

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
        let round = Round { kernel, work: Work { sweeps, ..*work }, cut: &cut, from, to, watch };
        round.streamed(device, slots, 0..cut.count())
    })
}

impl<T: Element> Round<'_, T> {
    /// Does the tiles of these numbers, through `slots` slots of a device.
    pub(crate) fn streamed(
        &self,
        device: &mut Device,
        slots: usize,
        numbers: impl ExactSizeIterator<Item = usize> + Send,
    ) -> Result<(), Error> {
        let modules = device.modules.clone();
        let under_way = (slots * self.cut.most_samples()).min(self.from.len());
        let (sides, sweeps, shared) = (self.cut.sides(), self.work.sweeps, slots > 1);
        let jobs = numbers.map(|number| {
            let area = Area { tile: self.cut.tile(number), sides, sweeps, under_way, shared, queued: false };
            TileJob { round: self, modules: &modules, area, counted: 0 }
        });
        device.slots.share(slots, jobs, self.watch)
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

/// All sweeps of a round over one tile.
struct TileJob<'a, T> {
    round: &'a Round<'a, T>,
    modules: &'a Modules,
    area: Area<T>,
    /// Updates already reported to the watch.
    counted: usize,
}

impl<T: Element> Job<Slot> for TileJob<'_, T> {
    fn start(&mut self, slot: &mut Slot) -> Result<(), Error> {
        let (round, tile) = (self.round, &self.area.tile);
        let samples = tile.samples();
        round.cut.gather(tile, 0..samples, round.from, slot.samples(samples));
        let plan = round.kernel.plan(self.modules, &self.area)?;
        let sweeps = round.work.sweeps;
        let counted = &mut self.counted;
        let outputs = tile.outputs();
        let mut progress = |updates: usize| {
            let updates = updates.min(sweeps * outputs);
            round.watch.count(updates - *counted);
            *counted = updates;
            Ok(round.watch.check()?)
        };
        let work = round.kernel.work();
        let run = Sweeps { plan: &*plan, outputs, work, sweeps };
        slot.compute::<T>(samples, tile.span().len(), sweeps == 1, |stream, [input, output]| {
            let in_input = run.run(stream, input, [output, input], &mut progress)?.in_other;
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
        let (round, tile) = (self.round, &self.area.tile);
        let outputs = slot.outputs(tile.span().len())?;
        if let Some(places) = round.cut.run_of(tile) {
            round.to.await_pages(places);
        }
        // SAFETY: every tile is one job.
        unsafe { round.cut.scatter(tile, 0..outputs.len(), outputs, round.to) };
        round.watch.count(round.work.sweeps * tile.outputs() - self.counted);
        Ok(())
    }
}
