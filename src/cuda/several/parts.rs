//! Sweeps over an array on several devices at once, each with a part of it.
//!
//! # Rounds
//! The array is cut along one dimension into parts with halos, [tiles](crate::partition) that stay on their devices. In
//! a round every part is swept as an array of its own, as often as its halo allows. Then each halo is filled anew from
//! the parts that compute its elements: from device to device between peers, else by the driver through the host. So
//! the array crosses the host's link only at the begin and at the end.
//!
//! # Order
//! The devices wait for each other by events. A thread submits a wait for an event only when the event was recorded,
//! which it learns at the [`Rendezvous`].

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cudarc::driver::sys;

use super::division::Division;
use super::threads::on_all;
use super::timeline::{Notes, Timeline, What};
use crate::cuda::driver::context::{Context, Event, HostContext, Stream};
use crate::cuda::driver::memory::Idle;
use crate::cuda::element::Element;
use crate::cuda::kernels::Kernel;
use crate::cuda::routes::deep::SweptTile;
use crate::cuda::routes::work::{Round, Work};
use crate::cuda::runtime::device::Device;
use crate::cuda::runtime::queue::{CallBuffers, Queue};
use crate::host::SharedOutput;
use crate::partition::Tile;
use crate::platform::watch::Watch;
use crate::platform::workers::Workers;
use crate::stencil::Error;

/// Work over parts.
pub(crate) struct PartsRun<'a, T> {
    pub(crate) kernel: &'a dyn Kernel<T>,
    pub(crate) work: &'a Work<T>,
    pub(crate) division: &'a Division<T>,
    pub(crate) timeline: Option<&'a Timeline>,
    pub(crate) watch: &'a Watch,
}

/// Waits for the queues of all devices when dropped, also after an error: later drops then free unused objects.
struct Settled(Vec<Arc<Queue>>);

impl Drop for Settled {
    fn drop(&mut self) {
        self.0.iter().for_each(|queue| queue.finish());
    }
}

impl<T: Element> PartsRun<'_, T> {
    /// Does all sweeps, from the host's memory to the host's memory.
    pub(crate) fn all(&self, devices: &mut [&mut Device], input: &[T], output: &mut [T]) -> Result<(), Error> {
        let (_, bytes) = self.division.buffers();
        // Others read a device's buffers: they are freed when all are done.
        let owns: Vec<_> = devices.iter().map(|device| Mutex::new(CallBuffers::new(&device.queue))).collect();
        let _settled = Settled(devices.iter().map(|device| device.queue.clone()).collect());
        let kernels: Vec<_> = devices.iter().map(|_| self.kernel.another()).collect();
        let contexts: Vec<Arc<Context>> = devices.iter().map(|device| device.context.clone()).collect();
        let rendezvous = Rendezvous::new(self.division.parts.len());
        let output = SharedOutput::new(output);
        let failed = |error: &Error| rendezvous.fail(error);
        on_all(devices, &failed, &|index, device| {
            let round = Round {
                kernel: &*kernels[index],
                work: *self.work,
                cut: &self.division.cut,
                from: input,
                to: &output,
                watch: self.watch,
            };
            let mut own = owns[index].lock().unwrap_or_else(PoisonError::into_inner);
            let mut parts = Vec::new();
            for number in self.division.of_device(index) {
                let (tile, here) = (&self.division.parts[number].tile, own.room_for(bytes)?);
                parts.push(OnDevice { number, tile, here, other: 0, arrived: None, counted: 0 });
            }
            let mut notes = Notes::new(self.timeline, index, device.queue.stream())?;
            let member = Member { run: round, division: self.division, contexts: &contexts, rendezvous: &rendezvous };
            member.send(device, &mut parts, &mut own, bytes)?;
            member.run(device, parts, &mut notes)?;
            notes.hand_in()
        })
    }
}

/// A part, on its device.
struct OnDevice<'a> {
    number: usize,
    tile: &'a Tile,
    /// Address of its samples, and of the other buffer.
    here: sys::CUdeviceptr,
    other: sys::CUdeviceptr,
    /// Event of the last copies from other devices.
    arrived: Option<Arc<Event>>,
    /// Updates already reported to the watch.
    counted: usize,
}

/// Work of one device.
struct Member<'a, T> {
    run: Round<'a, T>,
    division: &'a Division<T>,
    contexts: &'a [Arc<Context>],
    rendezvous: &'a Rendezvous,
}

impl<T: Element> Member<'_, T> {
    /// Uploads the parts, and allocates buffers of `bytes` bytes for the results.
    ///
    /// The driver takes some milliseconds to allocate a gigabyte, and the parts are uploaded meanwhile.
    fn send(
        &self,
        device: &mut Device,
        parts: &mut [OnDevice],
        own: &mut CallBuffers,
        bytes: usize,
    ) -> Result<(), Error> {
        let context = device.context.clone();
        // Earlier users of the buffers may have work in flight.
        device.queue.wait()?;
        let mut others = Vec::with_capacity(parts.len());
        let mut have_others = |count: usize| (0..count).try_for_each(|_| own.room_for(bytes).map(|at| others.push(at)));
        let (count, tiles) = (parts.len(), parts.iter().map(|part| (part.tile, part.here)));
        let mut send = || tiles.clone().try_for_each(|(tile, here)| self.run.send(device, tile, here));
        match Workers::get() {
            None => have_others(count).and_then(|()| send())?,
            Some(pool) => {
                let mut had = Ok(());
                let sent = pool.in_place_scope(|scope| {
                    scope.spawn(|_| {
                        had = HostContext::save().and_then(|_others| {
                            context.bind()?;
                            have_others(count)
                        });
                    });
                    send()
                });
                had.and(sent)?;
            }
        }
        parts.iter_mut().zip(others).for_each(|(part, other)| part.other = other);
        // Earlier work with these buffers is on the queue, and other devices write to them, too.
        device.queue.wait()
    }

    fn run(&self, device: &mut Device, mut parts: Vec<OnDevice>, notes: &mut Notes) -> Result<(), Error> {
        // Declared last, so that it waits before the others are dropped.
        let copies = Idle::new(&Stream::new(&device.context)?);
        // The output's pages may be unmapped yet. They are touched while the device is at work.
        let places = parts.iter().filter_map(|part| self.run.cut.run_of(part.tile));
        let places = places.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end)).unwrap_or(0..0);
        self.run.to.have_pages_during(places, || {
            self.rounds(device, &mut parts, copies.stream(), notes)?;
            device.queue.wait()
        })?;
        for part in &parts {
            self.fetch(device, part)?;
        }
        device.queue.wait()
    }

    /// Does all rounds of sweeps.
    fn rounds(
        &self,
        device: &Device,
        parts: &mut [OnDevice],
        copies: &Arc<Stream>,
        notes: &mut Notes,
    ) -> Result<(), Error> {
        let rounds = self.division.cut.rounds(self.run.work.sweeps);
        for round in 0..rounds.count() {
            for part in &mut *parts {
                self.sweep(device, part, (round, rounds.sweeps_of(round)), notes)?;
            }
            if round + 1 < rounds.count() {
                self.fill_from_here(device, parts)?;
                for part in &mut *parts {
                    self.fill_from_others(copies, part, round, notes)?;
                }
            }
        }
        Ok(())
    }

    /// Puts the sweeps of a round over a part on the queue, after its halo was filled and others have read the outputs
    /// that they overwrite.
    fn sweep(
        &self,
        device: &Device,
        part: &mut OnDevice,
        (round, sweeps): (usize, usize),
        notes: &mut Notes,
    ) -> Result<(), Error> {
        let stream = device.queue.stream();
        if let Some(arrived) = part.arrived.take() {
            stream.begin_after(&arrived)?;
        }
        if round > 0 {
            for other in self.division.shown_in(part.number) {
                let filled = self.rendezvous.filled(other, round - 1, self.run.watch)?;
                stream.begin_after(&filled)?;
            }
        }
        let work = Work { sweeps, ..self.run.work };
        let run = Round { work, ..self.run };
        let begin = notes.begin(stream)?;
        let SweptTile { result, ready, counted } = run.sweep(device, part.tile, [part.here, part.other])?;
        // The round counts as done when the next one begins: that is after this on the queue.
        let updates = sweeps * part.tile.outputs();
        self.run.watch.count(updates - counted);
        part.counted += updates;
        if result != part.here {
            (part.here, part.other) = (part.other, part.here);
        }
        let ready = Arc::new(ready);
        notes.end(begin, What::Sweeps { part: part.number, round, sweeps }, &ready);
        self.rendezvous.publish(part.number, round, result, ready);
        Ok(())
    }

    /// Fills halos of the device's parts from each other, on its queue.
    fn fill_from_here(&self, device: &Device, parts: &[OnDevice]) -> Result<(), Error> {
        for part in parts {
            for segment in &self.division.parts[part.number].halo {
                let Some(owner) = parts.iter().find(|other| other.number == segment.part) else { continue };
                let (to, from) = (at::<T>(part.here, segment.to.start), at::<T>(owner.here, segment.from));
                // SAFETY: both are within their parts, whose work is on this queue, and outputs are no halos.
                unsafe { device.queue.copy(to, from, segment.to.len() * size_of::<T>()) }?;
            }
        }
        Ok(())
    }

    /// Fills a part's halo from other devices' parts, on a stream for that alone.
    fn fill_from_others(
        &self,
        copies: &Arc<Stream>,
        part: &mut OnDevice,
        round: usize,
        notes: &mut Notes,
    ) -> Result<(), Error> {
        let segments = self.division.of_others(part.number);
        if segments.is_empty() {
            return Ok(());
        }
        // Its own sweeps write to the halo, too.
        copies.begin_after(&self.rendezvous.swept(part.number, round, self.run.watch)?.1)?;
        let mut begin = None;
        for segment in segments {
            let (address, ready) = self.rendezvous.swept(segment.part, round, self.run.watch)?;
            copies.begin_after(&ready)?;
            if begin.is_none() {
                begin = notes.begin(copies)?;
            }
            let owner = &self.contexts[self.division.parts[segment.part].device];
            let (to, from) = (at::<T>(part.here, segment.to.start), at::<T>(address, segment.from));
            // SAFETY: both are within their parts; the source is overwritten only after this copy, and the halo is read
            // only after it: both wait for the event that follows.
            unsafe { copies.copy_from(owner, to, from, segment.to.len() * size_of::<T>()) }?;
        }
        let (arrived, filled) = (Arc::new(Event::new(copies.context())?), Event::new(copies.context())?);
        arrived.record(copies)?;
        filled.record(copies)?;
        notes.end(begin, What::Halos { part: part.number, round }, &arrived);
        part.arrived = Some(arrived);
        self.rendezvous.publish_filled(part.number, round, filled);
        Ok(())
    }

    /// Downloads the outputs of a part.
    fn fetch(&self, device: &mut Device, part: &OnDevice) -> Result<(), Error> {
        let swept = SweptTile { result: part.here, ready: device.queue.mark()?, counted: part.counted };
        self.run.fetch(device, part.tile, swept)
    }
}

/// Returns the address of an element.
fn at<T>(address: sys::CUdeviceptr, element: usize) -> sys::CUdeviceptr {
    address + (element * size_of::<T>()) as sys::CUdeviceptr
}

/// Exchange between the devices' threads of the events on their queues.
struct Rendezvous {
    announced: Mutex<Announced>,
    changed: Condvar,
}

struct Announced {
    /// Last round of each part, the address of its outputs then, and their event.
    swept: Vec<Option<(usize, sys::CUdeviceptr, Arc<Event>)>>,
    /// Last round after which each part's halo was filled from other devices, and the event.
    filled: Vec<Option<(usize, Arc<Event>)>>,
    /// Error that has ended the work of all.
    failed: Option<Error>,
}

/// Interval in which a thread that waits for another one checks for Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

impl Rendezvous {
    fn new(parts: usize) -> Rendezvous {
        let announced = Announced { swept: vec![None; parts], filled: vec![None; parts], failed: None };
        Rendezvous { announced: Mutex::new(announced), changed: Condvar::new() }
    }

    fn announced(&self) -> MutexGuard<'_, Announced> {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, part: usize, round: usize, address: sys::CUdeviceptr, ready: Arc<Event>) {
        self.announced().swept[part] = Some((round, address, ready));
        self.changed.notify_all();
    }

    fn publish_filled(&self, part: usize, round: usize, event: Event) {
        self.announced().filled[part] = Some((round, Arc::new(event)));
        self.changed.notify_all();
    }

    /// Ends the waits of all with this error.
    fn fail(&self, error: &Error) {
        self.announced().failed.get_or_insert_with(|| error.clone());
        self.changed.notify_all();
    }

    /// Waits until a part was submitted for this round, and returns the address of its outputs, and their event.
    fn swept(&self, part: usize, round: usize, watch: &Watch) -> Result<(sys::CUdeviceptr, Arc<Event>), Error> {
        self.wait(watch, |announced| match &announced.swept[part] {
            Some((of, address, ready)) if *of == round => Some((*address, ready.clone())),
            _ => None,
        })
    }

    /// Waits until the copies to a part's halo were submitted after this round, and returns their event.
    fn filled(&self, part: usize, round: usize, watch: &Watch) -> Result<Arc<Event>, Error> {
        self.wait(watch, |announced| match &announced.filled[part] {
            Some((of, event)) if *of == round => Some(event.clone()),
            _ => None,
        })
    }

    fn wait<R>(&self, watch: &Watch, find: impl Fn(&Announced) -> Option<R>) -> Result<R, Error> {
        let mut announced = self.announced();
        loop {
            if let Some(error) = &announced.failed {
                return Err(error.clone());
            }
            if let Some(found) = find(&announced) {
                return Ok(found);
            }
            watch.check()?;
            announced = self.changed.wait_timeout(announced, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
