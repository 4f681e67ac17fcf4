//! Sweeps over an array that is too large for the device, in tiles as large as there is room for. Each lies on the
//! device like an array of its own while it is swept as often as its halo allows.

use std::ops::Range;

use cudarc::driver::sys;

use super::sweeping::Sweeps;
use super::work::{Round, Work};
use crate::cuda::driver::context::Event;
use crate::cuda::driver::memory::Budget;
use crate::cuda::element::Element;
use crate::cuda::kernels::{Area, Kernel};
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::queue::CallBuffers;
use crate::partition::{Cut, Tile};
use crate::platform::watch::Watch;
use crate::stencil::Error;

/// Does all sweeps, in rounds of as many as the halos of tiles allow that lie on the device one after the other;
/// returns false, with nothing done, if the kernel has no such tiles for which the budget and the device have room.
pub(super) fn deep<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    input: &[T],
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<bool, Error> {
    let Some((cut, reserved)) = reserve(&mut [&mut *device], kernel, work, budget)? else {
        return Ok(false);
    };
    // Earlier users of the buffers may have work in flight.
    device.queue.wait()?;
    cut.rounds(work.sweeps).over(input, output, |sweeps, from, to| {
        let round = Round { kernel, work: Work { sweeps, ..*work }, cut: &cut, from, to, watch };
        round.deep(device, 0..cut.count(), reserved[0].1)
    })?;
    Ok(true)
}

/// Chooses deep tiles, at least one for each device, and reserves buffers for them on each; `None` if the kernel has no
/// such tiles for which the budget and the devices have room.
pub(crate) fn reserve<T: Element>(
    devices: &mut [&mut Device],
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    budget: Budget,
) -> Result<Option<Reserved<T>>, Error> {
    let mut limit = work.elements().div_ceil(devices.len());
    for device in devices.iter_mut() {
        device.context.bind()?;
        // Unused buffers are room for a tile.
        device.queue.release();
        let free = budget.during_a_call(|| device.context.free_memory())?;
        limit = limit.min(free / (DEEP_BUFFERS * size_of::<T>()));
    }
    loop {
        let Some(cut) = kernel.deep(work.sweeps, limit) else {
            return Ok(None);
        };
        let bytes = cut.most_samples() * size_of::<T>();
        let mut reserved = Vec::with_capacity(devices.len());
        let room = devices.iter_mut().try_for_each(|device| {
            device.context.bind()?;
            if !device.has_room(DEEP_BUFFERS, bytes, budget)? {
                return Err(Error::OutOfMemory(String::new()));
            }
            let (mut own, mut buffers) = (CallBuffers::new(&device.queue), [0; DEEP_BUFFERS]);
            buffers.iter_mut().try_for_each(|buffer| own.room_for(bytes).map(|address| *buffer = address))?;
            reserved.push((own, buffers));
            Ok(())
        });
        match room {
            Ok(()) => return Ok(Some((cut, reserved))),
            Err(Error::OutOfMemory(_)) => limit = cut.most_samples() / 2,
            Err(error) => return Err(error),
        }
        drop(reserved);
        for device in devices.iter_mut() {
            device.queue.release();
        }
    }
}

/// Number of buffers for deep tiles: two to sweep to and fro, and one for the last tile and then the next one.
const DEEP_BUFFERS: usize = 3;

type Buffers = [sys::CUdeviceptr; DEEP_BUFFERS];

/// Deep tiles, and for each device its buffers and their addresses.
type Reserved<T> = (Cut<T>, Vec<(CallBuffers, Buffers)>);

/// Work in flight over a tile.
pub(crate) struct SweptTile {
    /// Address of the result.
    pub(crate) result: sys::CUdeviceptr,
    /// Event of its completion.
    pub(crate) ready: Event,
    /// Updates already reported to the watch.
    pub(crate) counted: usize,
}

impl<T: Element> Round<'_, T> {
    /// Does the tiles of these numbers, one after the other. While the device is at work on one, the outputs of the
    /// last one are downloaded, and the next one is uploaded to their place.
    pub(crate) fn deep(
        &self,
        device: &mut Device,
        numbers: impl Iterator<Item = usize>,
        buffers: Buffers,
    ) -> Result<(), Error> {
        let [mut here, mut other, mut ahead] = buffers;
        let mut tiles = numbers.map(|number| self.cut.tile(number)).peekable();
        let mut last: Option<(Tile, SweptTile)> = None;
        tiles.peek().map_or(Ok(()), |first| self.send(device, first, here))?;
        while let Some(tile) = tiles.next() {
            let swept = self.sweep(device, &tile, [here, other])?;
            last.map_or(Ok(()), |(tile, swept)| self.fetch(device, &tile, swept))?;
            tiles.peek().map_or(Ok(()), |next| self.send(device, next, ahead))?;
            (here, other, ahead) = (ahead, if swept.result == here { other } else { here }, swept.result);
            last = Some((tile, swept));
        }
        last.map_or(Ok(()), |(tile, swept)| self.fetch(device, &tile, swept))?;
        device.queue.wait()
    }

    /// Uploads a tile to a buffer that no work in flight uses.
    pub(crate) fn send(&self, device: &mut Device, tile: &Tile, to: sys::CUdeviceptr) -> Result<(), Error> {
        let context = device.context.clone();
        let gather = |part: Range<usize>, to: &mut [T]| self.cut.gather(tile, part, self.from, to);
        // SAFETY: each buffer has room for every tile; it is not in use, by the caller's promise.
        unsafe { device.slots.upload_by(&context, tile.samples(), &gather, to, self.watch) }
    }

    /// Puts the sweeps over a tile, which lies in the first of these buffers, on the queue.
    pub(crate) fn sweep(
        &self,
        device: &Device,
        tile: &Tile,
        buffers: [sys::CUdeviceptr; 2],
    ) -> Result<SweptTile, Error> {
        let Work { sides, sweeps, .. } = self.work;
        let (samples, outputs, [here, other]) = (tile.samples(), tile.outputs(), buffers);
        // The kernel sees an ordinary array with its boundary on all sides. At the cuts the results are wrong, and are
        // not used.
        let area = Area::whole(tile.size(), sides, sweeps);
        let plan = self.kernel.plan(&device.modules, &area)?;
        let mut counted = 0;
        let mut progress = |updates: usize| {
            // Updates of halos do not count as progress.
            let updates = (updates as u128 * outputs as u128 / samples as u128) as usize;
            self.watch.count(updates - counted);
            counted = updates;
            Ok(self.watch.check()?)
        };
        let run = Sweeps { plan: &*plan, outputs: samples, work: self.kernel.work(), sweeps };
        let in_here = run.run_on(&device.queue, self.kernel.name(), here, [other, here], &mut progress)?;
        Ok(SweptTile { result: if in_here { here } else { other }, ready: device.queue.mark()?, counted })
    }

    /// Downloads and scatters a tile's outputs.
    pub(crate) fn fetch(
        &self,
        device: &mut Device,
        tile: &Tile,
        SweptTile { result, ready, counted }: SweptTile,
    ) -> Result<(), Error> {
        let (context, span) = (device.context.clone(), tile.span());
        let from = result + (span.start * size_of::<T>()) as sys::CUdeviceptr;
        if let Some(places) = self.cut.run_of(tile) {
            // SAFETY: every tile is fetched once.
            let output = unsafe { self.to.places(places) };
            // SAFETY: the tile lies there by then, and no later work in flight writes there.
            unsafe { device.slots.download(&context, from, Some(&ready), output, self.watch) }?;
            self.watch.count(self.work.sweeps * tile.outputs() - counted);
            return Ok(());
        }
        // SAFETY: every tile is fetched once, and each part of it by one thread.
        let scatter = |part: Range<usize>, from: &[T]| unsafe { self.cut.scatter(tile, part, from, self.to) };
        // SAFETY: the tile lies there by then, and no later work in flight writes there.
        unsafe { device.slots.download_by(&context, (from, &ready), span.len(), &scatter, self.watch) }?;
        self.watch.count(self.work.sweeps * tile.outputs() - counted);
        Ok(())
    }
}
