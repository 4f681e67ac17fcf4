//! The engine on several devices of one process: an array of the host over all of them, with the same bits.
//!
//! # Routes
//! The routes are those of one device (see [`routes`]), with the work shared out:
//! - *Streamed*: each device has slots of its own and takes the next tile when it is done with one, over its own link.
//! - *Resident*: each device holds a part of the array while it is swept, and neighbours exchange halos: see
//!   [`parts`](super::parts).
//! - *Deep*: each device takes the next deep tile when it is done with one.
//!
//! Each device has a thread. The first error ends the work of all.

use std::path::PathBuf;

use super::partition::Partition;
use super::parts::PartsRun;
use super::threads::{Shared, on_all};
use super::timeline::Timeline;
use crate::cuda::cut::{Cut, Size, Tile};
use crate::cuda::driver::context::Context;
use crate::cuda::driver::memory::Budget;
use crate::cuda::element::Element;
use crate::cuda::engine::Cuda;
use crate::cuda::kernels::{Area, Kernel};
use crate::cuda::operators::{self, Runs};
use crate::cuda::routes;
use crate::cuda::routes::deep::{DEEP_BUFFERS, DeepRound};
use crate::cuda::routes::streamed::{self, StreamedRound};
use crate::cuda::routes::work::Work;
use crate::cuda::runtime::device::{self, Device};
use crate::cuda::runtime::queue::CallBuffers;
use crate::host::{self, SharedOutput};
use crate::platform::watch::Watch;
use crate::stencil::program::Gait;
use crate::stencil::{
    AnySource, AnyTarget, Array, Arrays, Convolution, Derivative, Engine, Error, Filters, Given, Indices, Operation,
    Source, Stencil, Target, compute_filter,
};

/// The engine on several devices, for arrays of the host. It holds no arrays of its own.
///
/// It takes all its devices for a call, or none: see [`Cuda`].
#[derive(Debug, Clone)]
pub struct Team {
    members: Vec<Cuda>,
    /// True if halos go from device to device between peers, and not through the host.
    direct: bool,
    /// Number of parts on a device and of sweeps in a round, if they are fixed.
    depth: Option<(usize, usize)>,
    timeline: Option<PathBuf>,
}

impl Team {
    /// Opens the engine on these devices (their ordinals, from 0), two or more, each once, with their contexts.
    ///
    /// # Errors
    /// As [`Cuda::open`], for the first device that cannot be used.
    ///
    /// # Panics
    /// If one comes twice, or there is none.
    pub fn open(ordinals: &[usize]) -> Result<Team, Error> {
        let distinct = ordinals.iter().enumerate().all(|(i, ordinal)| !ordinals[..i].contains(ordinal));
        assert!(distinct && !ordinals.is_empty(), "devices {ordinals:?}");
        let members = ordinals.iter().map(|&ordinal| Cuda::open(Some(ordinal))).collect::<Result<_, _>>()?;
        Ok(Team { members, direct: true, depth: None, timeline: None })
    }

    /// Bounds the memory of the buffers on each device: see [`Cuda::with_device_bytes`].
    pub fn with_device_bytes(self, device_bytes: usize) -> Team {
        let members = self.members.into_iter().map(|cuda| cuda.with_device_bytes(device_bytes)).collect();
        Team { members, ..self }
    }

    /// Does several sweeps by this walk: see [`Cuda::with_walk`].
    pub fn with_walk(self, walk: Gait) -> Team {
        let members = self.members.into_iter().map(|cuda| cuda.with_walk(walk)).collect();
        Team { members, ..self }
    }

    /// Sends halos through the host's memory, as between devices that are no peers.
    pub fn through_the_host(self) -> Team {
        Team { direct: false, ..self }
    }

    /// Fixes the parts of an array on a device to `each`, and the halos to at most `sweeps` sweeps, instead of the
    /// fastest: for measurements and tests. Arrays that are swept more than once are then always in parts.
    ///
    /// # Panics
    /// For no part, or no sweep.
    pub fn in_parts(self, each: usize, sweeps: usize) -> Team {
        assert!(each > 0 && sweeps > 0);
        Team { depth: Some((each, sweeps)), ..self }
    }

    /// Writes to this file when each device swept and when halos travelled, for calls whose array stays on the devices,
    /// for `chrome://tracing` or `ui.perfetto.dev`. If the file cannot be written, standard error says so.
    pub fn with_timeline(self, file: PathBuf) -> Team {
        Team { timeline: Some(file), ..self }
    }

    /// Returns the devices' ordinals, from 0.
    pub fn ordinals(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(Cuda::ordinal)
    }

    /// Returns the error of calls with an array here: there is none.
    fn holds_none<R>(&self) -> Result<R, Error> {
        Err(Error::Internal("No array lies on several devices.".into()))
    }
}

impl Runs for Team {
    fn walk(&self) -> Option<Gait> {
        self.members.first().and_then(Runs::walk)
    }

    fn run<T: Element>(
        &self,
        kernel: &dyn Kernel<T>,
        work: &Work<T>,
        from: Source<T>,
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!([from.len(), to.len()], [work.elements(); 2]);
        let (Source::Host(input), Target::Host(output)) = (from, to) else {
            return self.holds_none();
        };
        if work.elements() == 0 || work.sweeps == 0 {
            return host::copy(input, output, watch);
        }
        let mark = watch.mark();
        // Each device may ask for another attempt: with its context opened anew, or with its pool given back.
        let (mut attempts, mut last) = (2 * self.members.len(), None);
        let places: Vec<_> = self.members.iter().map(Cuda::place).collect();
        device::with_all(&places, &mut [], &mut |devices| {
            if attempts == 0 {
                return last.clone().unwrap_or(Ok(()));
            }
            attempts -= 1;
            watch.rewind(mark);
            let timeline = self.timeline.as_ref().map(|_| Timeline::new());
            let Team { direct, depth, .. } = *self;
            let (_, budget) = places[0];
            let run = SharedRun { kernel, work, budget, direct, depth, timeline: timeline.as_ref(), watch };
            let result = run.all(devices, input, output);
            if let (Ok(()), Some(file), Some(timeline)) = (&result, &self.timeline, &timeline) {
                let ordinals: Vec<_> = self.ordinals().collect();
                if let Err(error) = timeline.write(file, &ordinals) {
                    eprintln!("STENCIL_TIMELINE: {} cannot be written: {error}", file.display());
                }
            }
            last = Some(result.clone());
            result
        })
    }
}

/// Work without the devices and the data.
struct SharedRun<'a, T> {
    kernel: &'a dyn Kernel<T>,
    work: &'a Work<T>,
    budget: Budget,
    direct: bool,
    depth: Option<(usize, usize)>,
    timeline: Option<&'a Timeline>,
    watch: &'a Watch,
}

impl<T: Element> SharedRun<'_, T> {
    fn all(&self, devices: &mut [&mut Device], input: &[T], output: &mut [T]) -> Result<(), Error> {
        /// Assigns all threads to one device again when dropped.
        struct Alone<'a, 'd>(&'a mut [&'d mut Device]);
        impl Drop for Alone<'_, '_> {
            fn drop(&mut self) {
                self.0.iter_mut().for_each(|device| device.slots.among(1));
            }
        }
        let among = devices.len();
        devices.iter_mut().for_each(|device| device.slots.among(among));
        let devices = Alone(devices);
        let prefers_resident =
            self.work.sweeps > 1 && (self.depth.is_some() || routes::prefers_resident(self.kernel, self.work));
        if prefers_resident {
            let Some(partition) = self.partition(devices.0)? else {
                // One device takes no longer.
                let [first, ..] = &mut *devices.0 else { return Ok(()) };
                first.context.bind()?;
                first.slots.among(1);
                let (kernel, to) = (self.kernel.another(), &mut Target::Host(output));
                return routes::run(first, &*kernel, self.work, Source::Host(input), to, self.budget, self.watch);
            };
            if self.in_parts(devices.0, &partition, input, output)? || self.deep(devices.0, input, output)? {
                return Ok(());
            }
        }
        self.streamed(devices.0, input, output)
    }

    /// Returns the partition of the array, if parts are worth it.
    fn partition(&self, devices: &[&mut Device]) -> Result<Option<Partition<T>>, Error> {
        if let Some(depth) = self.depth {
            return Ok(Partition::of_depth(self.work, devices.len(), depth));
        }
        let direct = self.direct && reach_each_other(devices)?;
        let fused = |size: Size| {
            let [first, ..] = devices else { return Ok(1) };
            first.context.bind()?;
            let (kernel, tile) = (self.kernel.another(), Tile::whole(size));
            let Work { sides, sweeps, .. } = *self.work;
            let area = Area { under_way: tile.samples(), tile, sides, sweeps, shared: false, queued: true };
            kernel.plan(&first.modules, &area)?.fused(sweeps)
        };
        Partition::new(self.work, self.kernel.work(), devices.len(), direct, fused)
    }

    /// Does all sweeps, each device with its parts of the array; returns false if they have no room.
    fn in_parts(
        &self,
        devices: &mut [&mut Device],
        partition: &Partition<T>,
        input: &[T],
        output: &mut [T],
    ) -> Result<bool, Error> {
        if self.direct {
            reach_each_other(devices)?;
        }
        // Unused buffers are room for a part.
        for device in devices.iter_mut() {
            let (buffers, bytes) = partition.buffers();
            device.context.bind()?;
            if !device.has_room(buffers, bytes, self.budget)? {
                return Ok(false);
            }
        }
        let SharedRun { kernel, work, timeline, watch, .. } = *self;
        let run = PartsRun { kernel, work, partition, timeline, watch };
        let mark = self.watch.mark();
        match run.all(devices, input, output) {
            Err(Error::OutOfMemory(_)) => {
                // It goes in tiles.
                self.watch.rewind(mark);
                Ok(false)
            }
            result => result.map(|()| true),
        }
    }

    /// Does all sweeps in deep tiles; returns false if there are none, or no room for them.
    fn deep(&self, devices: &mut [&mut Device], input: &[T], output: &mut [T]) -> Result<bool, Error> {
        let mut limit = self.work.elements().div_ceil(devices.len());
        for device in devices.iter_mut() {
            device.context.bind()?;
            device.queue.release();
            let free = self.budget.during_a_call(|| device.context.free_memory())?;
            limit = limit.min(free / (DEEP_BUFFERS * size_of::<T>()));
        }
        // Tiles larger by the halo than a device's share are worth it, if there is room for them.
        let (cut, owns) = loop {
            let Some(cut) = self.kernel.deep(self.work.sweeps, limit) else {
                return Ok(false);
            };
            let bytes = cut.most_samples() * size_of::<T>();
            let mut owns = Vec::with_capacity(devices.len());
            let room = devices.iter_mut().try_for_each(|device| {
                device.context.bind()?;
                if !device.has_room(DEEP_BUFFERS, bytes, self.budget)? {
                    return Err(Error::OutOfMemory(String::new()));
                }
                let (mut own, mut buffers) = (CallBuffers::new(&device.queue), [0; DEEP_BUFFERS]);
                buffers.iter_mut().try_for_each(|buffer| own.room_for(bytes).map(|address| *buffer = address))?;
                owns.push((own, buffers));
                Ok(())
            });
            match room {
                Ok(()) => break (cut, owns),
                Err(Error::OutOfMemory(_)) => limit = cut.most_samples() / 2,
                Err(error) => return Err(error),
            }
            drop(owns);
            for device in devices.iter_mut() {
                device.queue.release();
            }
        };
        let kernels: Vec<_> = devices.iter().map(|_| self.kernel.another()).collect();
        let buffers: Vec<_> = owns.iter().map(|(_, buffers)| *buffers).collect();
        self.in_rounds(&cut, input, output, |sweeps, from, to| {
            let numbers = Shared::new(0..cut.count());
            on_all(devices, &|_| {}, &|index, device| {
                let kernel = &*kernels[index];
                // Earlier users of the buffers may have work in flight.
                device.queue.wait()?;
                let work = Work { sweeps, ..*self.work };
                let round = DeepRound { kernel, work, cut: &cut, from, to, watch: self.watch };
                let result = round.run(device, numbers.take(), buffers[index]);
                // Also after an error, nothing is in flight when the buffers are returned.
                device.queue.finish();
                result
            })
        })?;
        Ok(true)
    }

    /// Does all sweeps in tiles that go through the slots of all devices.
    fn streamed(&self, devices: &mut [&mut Device], input: &[T], output: &mut [T]) -> Result<(), Error> {
        let among = devices.len();
        let reserve = |device: &mut &mut Device| {
            device.context.bind()?;
            streamed::reserve(device, self.kernel, self.work, self.budget, among)
        };
        let reserved = devices.iter_mut().map(reserve).collect::<Result<Vec<_>, _>>()?;
        // The smallest tiles fit every slot.
        let Some(cut) = reserved.iter().map(|(cut, _)| *cut).min_by_key(Cut::most_samples) else {
            return Ok(());
        };
        let kernels: Vec<_> = devices.iter().map(|_| self.kernel.another()).collect();
        self.in_rounds(&cut, input, output, |sweeps, from, to| {
            let numbers = Shared::new(0..cut.count());
            on_all(devices, &|_| {}, &|index, device| {
                let kernel = &*kernels[index];
                let round = StreamedRound { kernel, cut: &cut, sweeps, from, to, watch: self.watch };
                round.run(device, reserved[index].1, numbers.take())
            })
        })
    }

    /// Does all sweeps, in rounds of as many as the halos of a cut allow.
    fn in_rounds(
        &self,
        cut: &Cut<T>,
        input: &[T],
        output: &mut [T],
        mut round: impl FnMut(usize, &[T], &SharedOutput<T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (sweeps, at_once) = (self.work.sweeps, cut.sweeps());
        host::ping_pong(input, output, sweeps.div_ceil(at_once), |number, from, to| {
            round(at_once.min(sweeps - number * at_once), from, &SharedOutput::new(to))
        })
    }
}

/// Returns true if all of these devices are peers from now on.
fn reach_each_other(devices: &[&mut Device]) -> Result<bool, Error> {
    let contexts: Vec<&Context> = devices.iter().map(|device| &*device.context).collect();
    for context in &contexts {
        for other in contexts.iter().filter(|other| other.ordinal() != context.ordinal()) {
            if !context.reaches(other)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// There are no arrays on several devices, and no operations but filters of the host's.
impl Engine for Team {
    fn name(&self) -> &str {
        "cuda"
    }

    fn compute(&self, what: &Given, to: AnyTarget, watch: &Watch) -> Result<Option<Indices>, Error> {
        let Operation::Filter(filter, from) = what else { return self.holds_none() };
        let stencil =
            |what: &Stencil, from: Source<f64>, to: Target<f64>| operators::stencil(self, what, from, to, watch);
        compute_filter(self, stencil, (filter, *from, to), watch).map(|()| None)
    }

    fn find(&self, _: AnySource, _: &Watch) -> Result<Indices, Error> {
        self.holds_none()
    }

    fn ordinals(&self, _: &Indices, _: AnyTarget, _: &Watch) -> Result<(), Error> {
        self.holds_none()
    }
}

impl<T: Element> Filters<T> for Team {
    fn derive(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        operators::derivative(self, what, from, to, watch)
    }

    fn convolve(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        operators::convolution(self, what, from, to, watch)
    }
}

impl<T: Element> Arrays<T> for Team {
    fn array(&self, _: usize) -> Result<Array<T>, Error> {
        self.holds_none()
    }

    /// Returns false: a call needs only memory of the host.
    fn has_room(&self, _: usize, _: usize) -> Result<bool, Error> {
        Ok(false)
    }

    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        match (from, to) {
            (Source::Host(input), Target::Host(output)) => host::copy(input, output, watch),
            _ => self.holds_none(),
        }
    }
}
