//! An array that is swept on several devices at once, each with a part of it.
//!
//! # How
//! The array is cut along one dimension into parts with halos, [tiles](super::cut) that stay where they are. In a round
//! every part is swept as an array of its own, as often as its halo allows. Then each halo is filled anew from the
//! parts whose outputs it shows: from device to device where they reach each other, else through the host, as the
//! driver has it. So the host's memory is met at the beginning and at the end alone.
//!
//! # How deep
//! A halo is computed for nothing, and an exchange takes time: [`Layout::new`] weighs both. Between devices that reach
//! each other an exchange of halos for some hundred sweeps takes microseconds, and such rounds take milliseconds. Where
//! it takes longer than that is worth, a device has three parts: those at its ends are swept first, and while their
//! halos travel, on a stream of their own, the one in the middle is swept.
//!
//! # Order
//! The devices wait for each other by events. A thread puts on the queue of its device what waits for an event only
//! when the event was recorded, which it hears at the [`Meeting`].

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cudarc::driver::sys;

use super::Element;
use super::context::{Context, Event, Stream};
use super::cut::{Cut, Size, Tile};
use super::device::{Device, HostContext};
use super::kernels::Kernel;
use super::memory::Idle;
use super::queue::{Own, Queue};
use super::schedule::{self, DeepRound, Swept, Work};
use super::team;
use super::timeline::{Notes, Timeline, What};
use crate::host::SharedOutput;
use crate::stencil::{Error, Real};
use crate::watch::Watch;
use crate::workers::Workers;

/// Multiply-adds in a second, of a large array on a chip of the kind that was measured (an H200: 10 to 14 T). Others take
/// longer, and so an exchange counts less with them.
const MULTIPLY_ADDS: f64 = 12e12;

/// No sweep takes less, in seconds.
const LEAST_SWEEP: f64 = 1e-6;

/// What the beginning and the end of a launch leave idle of a device, in seconds.
const LAUNCH: f64 = 4e-6;

/// What each part of a device but the first adds to a launch, in seconds: its beginning and end, and copies of halos
/// between parts of one device. From two rounds of two H200 with three parts each: 80 us of 8 sweeps of 3 x 3 over 16384 x
/// 16384, and 96 us of two of 3 x 3 x 3 over 640 x 640 x 640.
const MORE_PARTS: f64 = 40e-6;

/// The way of a halo between two devices.
#[derive(Debug, Clone, Copy)]
struct Link {
    /// In seconds, events included.
    latency: f64,
    /// In bytes a second.
    rate: f64,
}

/// Between two H200 of one host 395 GB/s each way, and 4.9 us for 8 KB with events; with a margin.
const DIRECT: Link = Link { latency: 15e-6, rate: 250e9 };

/// Through the host's memory, both ways at the same time.
const THROUGH_THE_HOST: Link = Link { latency: 60e-6, rate: 15e9 };

/// The parts that a device may have.
const PARTS_EACH: [usize; 2] = [1, 3];

/// How an array falls into parts, and how its halos are filled.
#[derive(Debug)]
pub(super) struct Layout<T> {
    cut: Cut<T>,
    /// For each part, its device and where its halo comes from.
    parts: Vec<Part>,
    /// The parts that a device has at most.
    each: usize,
}

#[derive(Debug)]
struct Part {
    device: usize,
    tile: Tile,
    halo: Vec<Segment>,
}

/// Neighbouring elements of a halo: which part computes them, where they lie there, and where they belong.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    part: usize,
    from: usize,
    to: usize,
    elements: usize,
}

impl<T: Real> Layout<T> {
    /// For this work on so many devices, which do so many multiply-adds for an output. `fused` tells how many sweeps a
    /// launch does over an array of this size. `None` where one device takes no longer, or the array cannot be cut.
    ///
    /// # Errors
    /// Those of `fused`.
    pub(super) fn new(
        work: &Work<T>,
        multiply_adds: usize,
        devices: usize,
        direct: bool,
        fused: impl FnOnce(Size) -> Result<usize, Error>,
    ) -> Result<Option<Layout<T>>, Error> {
        let Some(along) = dimension(work, devices) else { return Ok(None) };
        let link = if direct { DIRECT } else { THROUGH_THE_HOST };
        let mut size = work.size;
        size[along] = size[along].div_ceil(devices);
        let depth = depth(work, along, multiply_adds, fused(size)?, devices, link);
        Ok(depth.map(|(each, at_once)| Layout::with(work, along, devices, each, at_once)))
    }

    /// With so many parts on each device, and so many sweeps in a round at the most. `None` where the array cannot be cut.
    pub(super) fn of_depth(work: &Work<T>, devices: usize, (each, at_once): (usize, usize)) -> Option<Layout<T>> {
        Some(Layout::with(work, dimension(work, devices)?, devices, each, at_once))
    }

    /// With so many parts on each device, cut along this dimension, and so many sweeps in a round at the most.
    fn with(work: &Work<T>, along: usize, devices: usize, each: usize, at_once: usize) -> Layout<T> {
        let length = work.size[along];
        let reach = work.radius[along];
        // Without a halo there is nothing to exchange.
        let at_once = if reach == 0 { work.sweeps } else { at_once.clamp(1, work.sweeps) };
        // A device's parts are neighbours; where there are fewer parts than were asked for, some devices have fewer.
        let wanted = (devices * each).min(length);
        let cut = Cut::parts(work.size, work.sides, along, wanted, reach * at_once, at_once);
        let count = cut.count();
        let part = |number: usize| {
            let tile = cut.tile(number);
            let halo = if reach == 0 { Vec::new() } else { halo(&cut, along, &tile) };
            Part { device: number * devices / count, tile, halo }
        };
        let parts: Vec<Part> = (0..count).map(part).collect();
        let most = |device: usize| parts.iter().filter(|part| part.device == device).count();
        let each = (0..devices).map(most).max().unwrap_or(0);
        Layout { cut, parts, each }
    }

    /// The buffers that a device needs, and the bytes of each.
    pub(super) fn buffers(&self) -> (usize, usize) {
        (2 * self.each, self.cut.most_samples() * size_of::<T>())
    }

    /// The numbers of a device's parts, in the order in which they are swept: first those that others wait for.
    fn of_device(&self, device: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> =
            (0..self.parts.len()).filter(|&number| self.parts[number].device == device).collect();
        numbers.sort_by_key(|&number| self.of_others(number).is_empty());
        numbers
    }

    /// The segments of a part's halo that lie on other devices.
    fn of_others(&self, number: usize) -> Vec<&Segment> {
        let part = &self.parts[number];
        part.halo.iter().filter(|segment| self.parts[segment.part].device != part.device).collect()
    }

    /// The parts of other devices whose halos show some of this one.
    fn shown_in(&self, number: usize) -> Vec<usize> {
        let device = self.parts[number].device;
        let shows = |other: &usize| self.parts[*other].halo.iter().any(|segment| segment.part == number);
        (0..self.parts.len()).filter(|&other| self.parts[other].device != device).filter(shows).collect()
    }
}

/// The dimension along which an array had better be cut for so many devices: one along which no output needs its
/// neighbours; else the last one, where the elements of a halo are neighbours in memory, or the longest.
fn dimension<T>(work: &Work<T>, devices: usize) -> Option<usize> {
    let Work { size, radius, .. } = work;
    let long = |d: &usize| size[*d] >= 2 * devices;
    let free = [2, 1].into_iter().filter(long).find(|&d| radius[d] == 0);
    let last = [2, 1].into_iter().find(|&d| size[d] >= 8 * devices * radius[d].max(1));
    let longest = if size[2] >= size[1] { 2 } else { 1 };
    free.or(last).or(Some(longest)).filter(|&d| size[d] > 1)
}

/// How many parts a device has, and how many sweeps are in a round, so that a sweep takes least time; `None` where one
/// device takes no longer for the whole array. A launch does `fused` sweeps; rounds of whole launches are quicker than
/// others.
fn depth<T>(
    work: &Work<T>,
    along: usize,
    multiply_adds: usize,
    fused: usize,
    devices: usize,
    link: Link,
) -> Option<(usize, usize)> {
    let Work { size, radius, sweeps, .. } = work;
    let elements = size.iter().product::<usize>() as f64;
    let (length, reach) = (size[along] as f64 / devices as f64, radius[along] as f64);
    let plane = elements / size[along] as f64;
    let sweep = (elements / devices as f64 * multiply_adds as f64 / MULTIPLY_ADDS).max(LEAST_SWEEP);
    let time = |each: usize, at_once: usize| {
        let (parts, at_once) = (each as f64, at_once as f64);
        let halo = reach * at_once;
        let exchange = link.latency + halo * plane * size_of::<T>() as f64 / link.rate;
        // Behind it is the sweeping of the parts that do not wait for it.
        let hidden = if each > 1 { sweep * at_once * (parts - 2.0) / parts } else { 0.0 };
        sweep * (1.0 + 2.0 * parts * halo / length)
            + (LAUNCH + (parts - 1.0) * MORE_PARTS) / at_once.min(fused as f64)
            + (exchange - hidden).max(0.0) / at_once
    };
    let fused = fused.clamp(1, *sweeps);
    let fewer = std::iter::successors(Some(fused), |&k| (k > 1).then_some(k / 2));
    let launches = std::iter::successors(Some(1_usize), |&n| n.checked_add((n / 8).max(1)));
    let more = launches.map_while(|n| n.checked_mul(fused).filter(|k| k <= sweeps));
    let depths: Vec<usize> = fewer.chain(more).chain([*sweeps]).collect();
    let ways = PARTS_EACH.into_iter().flat_map(|each| depths.iter().map(move |&at_once| (each, at_once)));
    let alone = (elements * multiply_adds as f64 / MULTIPLY_ADDS).max(LEAST_SWEEP) + LAUNCH / fused as f64;
    let best = ways.min_by(|a, b| time(a.0, a.1).total_cmp(&time(b.0, b.1)));
    best.filter(|best| time(best.0, best.1) < alone)
}

/// Where the halo of a part comes from.
fn halo<T: Real>(cut: &Cut<T>, along: usize, tile: &Tile) -> Vec<Segment> {
    let size = tile.size();
    let outputs = tile.output(along);
    let [before, after] = tile.around(along);
    let (inner, outer) = (size[..along].iter().product::<usize>(), size[along + 1..].iter().product::<usize>());
    let length = cut.size()[along] as isize;
    let first = outputs.start as isize - before as isize;
    let mut segments = Vec::new();
    let sides = [first..outputs.start as isize, outputs.end as isize..(outputs.end + after) as isize];
    for mut places in sides {
        while !places.is_empty() {
            // Where the array goes round, a halo may show it more than once.
            let place = places.start.rem_euclid(length) as usize;
            let owner = cut.tile_with(along, place);
            let its = cut.tile(owner);
            let run = (its.output(along).end - place).min(places.len());
            let (in_it, its_length) = (place - its.output(along).start + its.around(along)[0], its.size()[along]);
            for slice in 0..outer {
                segments.push(Segment {
                    part: owner,
                    from: inner * (in_it + its_length * slice),
                    to: inner * ((places.start - first) as usize + size[along] * slice),
                    elements: inner * run,
                });
            }
            places.start += run as isize;
        }
    }
    segments
}

/// What is computed, over which parts.
pub(super) struct Run<'a, T, K> {
    pub(super) kernel: &'a K,
    pub(super) work: &'a Work<T>,
    pub(super) layout: &'a Layout<T>,
    pub(super) timeline: Option<&'a Timeline>,
    pub(super) watch: &'a Watch,
}

/// Waits for the queues of all devices on the way out, whatever happened: what is dropped after it is in use no more.
struct Settled(Vec<Arc<Queue>>);

impl Drop for Settled {
    fn drop(&mut self) {
        self.0.iter().for_each(|queue| queue.finish());
    }
}

impl<T: Element, K: Kernel<T> + Clone + Send> Run<'_, T, K> {
    /// All sweeps, from the host's memory to the host's memory.
    pub(super) fn all(&self, devices: &mut [&mut Device], input: &[T], output: &mut [T]) -> Result<(), Error> {
        let (_, bytes) = self.layout.buffers();
        // Others read a device's buffers: they go when all are done.
        let owns: Vec<_> = devices.iter().map(|device| Mutex::new(Own::new(&device.queue))).collect();
        let _settled = Settled(devices.iter().map(|device| device.queue.clone()).collect());
        let kernels: Vec<K> = devices.iter().map(|_| self.kernel.clone()).collect();
        let contexts: Vec<Arc<Context>> = devices.iter().map(|device| device.context.clone()).collect();
        let meeting = Meeting::new(self.layout.parts.len());
        let output = SharedOutput::new(output);
        let failed = |error: &Error| meeting.fail(error);
        team::on_all(devices, &failed, &|index, device| {
            let round = DeepRound {
                kernel: &kernels[index],
                work: *self.work,
                cut: &self.layout.cut,
                from: input,
                to: &output,
                watch: self.watch,
            };
            let mut own = owns[index].lock().unwrap_or_else(PoisonError::into_inner);
            let mut parts = Vec::new();
            for number in self.layout.of_device(index) {
                let (tile, here) = (&self.layout.parts[number].tile, own.room_for(bytes)?);
                parts.push(OnDevice { number, tile, here, other: 0, arrived: None, told: 0 });
            }
            let mut notes = Notes::new(self.timeline, index, device.queue.stream())?;
            let member = Member { run: round, layout: self.layout, contexts: &contexts, meeting: &meeting };
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
    /// Where its samples are, and what may be written to.
    here: sys::CUdeviceptr,
    other: sys::CUdeviceptr,
    /// When what came from other devices is there.
    arrived: Option<Arc<Event>>,
    /// The updates that the watch has heard of.
    told: usize,
}

/// A device's share of the work.
struct Member<'a, T> {
    run: DeepRound<'a, T>,
    layout: &'a Layout<T>,
    contexts: &'a [Arc<Context>],
    meeting: &'a Meeting,
}

impl<T: Element> Member<'_, T> {
    /// Sends the parts to where they are to lie, and has buffers of so many bytes for what is made of them.
    ///
    /// A gigabyte of a device's memory takes the driver some milliseconds, and the parts are on their way meanwhile.
    fn send(&self, device: &mut Device, parts: &mut [OnDevice], own: &mut Own, bytes: usize) -> Result<(), Error> {
        let context = device.context.clone();
        // The buffers may have been somebody's whose work is under way.
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
        // What somebody did with these buffers is ahead on the queue, and others write to them, too.
        device.queue.wait()
    }

    fn run(&self, device: &mut Device, mut parts: Vec<OnDevice>, notes: &mut Notes) -> Result<(), Error> {
        // Waited for ahead of all that is dropped before.
        let copies = Idle::new(&Stream::new(&device.context)?);
        // The output's memory may never have been touched. Meanwhile the device is at work.
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

    /// All rounds of sweeps.
    fn rounds(
        &self,
        device: &Device,
        parts: &mut [OnDevice],
        copies: &Arc<Stream>,
        notes: &mut Notes,
    ) -> Result<(), Error> {
        let (sweeps, at_once) = (self.run.work.sweeps, self.layout.cut.sweeps());
        let rounds = sweeps.div_ceil(at_once);
        for round in 0..rounds {
            let now = at_once.min(sweeps - round * at_once);
            for part in &mut *parts {
                self.sweep(device, part, (round, now), notes)?;
            }
            if round + 1 < rounds {
                self.fill_from_here(device, parts)?;
                for part in &mut *parts {
                    self.fill_from_others(copies, part, round, notes)?;
                }
            }
        }
        Ok(())
    }

    /// Puts the sweeps of a round over a part on the queue, once its halo is there and nobody reads what they overwrite.
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
            for other in self.layout.shown_in(part.number) {
                let filled = self.meeting.filled(other, round - 1, self.run.watch)?;
                stream.begin_after(&filled)?;
            }
        }
        let work = Work { sweeps, ..self.run.work };
        let run = DeepRound { work, ..self.run };
        let begin = notes.begin(stream)?;
        let Swept { result, ready, told } = run.sweep(device, part.tile, [part.here, part.other])?;
        // All of the round is counted when the next one begins: it is behind this on the queue.
        let updates = sweeps * part.tile.outputs();
        self.run.watch.count(updates - told);
        part.told += updates;
        if result != part.here {
            (part.here, part.other) = (part.other, part.here);
        }
        let ready = Arc::new(ready);
        notes.end(begin, What::Sweeps { part: part.number, round, sweeps }, &ready);
        self.meeting.publish(part.number, round, result, ready);
        Ok(())
    }

    /// Fills halos of the device's parts from each other, on its queue.
    fn fill_from_here(&self, device: &Device, parts: &[OnDevice]) -> Result<(), Error> {
        for part in parts {
            for segment in &self.layout.parts[part.number].halo {
                let Some(owner) = parts.iter().find(|other| other.number == segment.part) else { continue };
                let (to, from) = (at::<T>(part.here, segment.to), at::<T>(owner.here, segment.from));
                // SAFETY: both are within their parts, whose work is on this queue, and outputs are no halos.
                unsafe { schedule::copy_on_device(&device.queue, to, from, segment.elements * size_of::<T>()) }?;
            }
        }
        Ok(())
    }

    /// Fills what a part's halo shows of other devices' parts, on a stream for that alone.
    fn fill_from_others(
        &self,
        copies: &Arc<Stream>,
        part: &mut OnDevice,
        round: usize,
        notes: &mut Notes,
    ) -> Result<(), Error> {
        let segments = self.layout.of_others(part.number);
        if segments.is_empty() {
            return Ok(());
        }
        // Its own sweeps write to the halo, too.
        copies.begin_after(&self.meeting.swept(part.number, round, self.run.watch)?.1)?;
        let mut begin = None;
        for segment in segments {
            let (address, ready) = self.meeting.swept(segment.part, round, self.run.watch)?;
            copies.begin_after(&ready)?;
            if begin.is_none() {
                begin = notes.begin(copies)?;
            }
            let owner = &self.contexts[self.layout.parts[segment.part].device];
            let (to, from) = (at::<T>(part.here, segment.to), at::<T>(address, segment.from));
            // SAFETY: both are within their parts; the owner overwrites what is read only after this, and what is written
            // is read only after this: they wait for the event that follows.
            unsafe { copies.copy_from(owner, to, from, segment.elements * size_of::<T>()) }?;
        }
        let (arrived, filled) = (Arc::new(Event::new(copies.context())?), Event::new(copies.context())?);
        arrived.record(copies)?;
        filled.record(copies)?;
        notes.end(begin, What::Halos { part: part.number, round }, &arrived);
        part.arrived = Some(arrived);
        self.meeting.publish_filled(part.number, round, filled);
        Ok(())
    }

    /// Has the outputs of a part come back.
    fn fetch(&self, device: &mut Device, part: &OnDevice) -> Result<(), Error> {
        let swept = Swept { result: part.here, ready: device.queue.mark()?, told: part.told };
        self.run.fetch(device, part.tile, swept)
    }
}

/// The address of an element.
fn at<T>(address: sys::CUdeviceptr, element: usize) -> sys::CUdeviceptr {
    address + (element * size_of::<T>()) as sys::CUdeviceptr
}

/// Where the threads of the devices tell each other what they have put on their queues.
struct Meeting {
    told: Mutex<Told>,
    changed: Condvar,
}

struct Told {
    /// For each part, its last round, where its outputs are then, and when.
    swept: Vec<Option<(usize, sys::CUdeviceptr, Arc<Event>)>>,
    /// For each part, the last round after which its halo was filled from other devices, and when.
    filled: Vec<Option<(usize, Arc<Event>)>>,
    /// What has ended the work of all.
    failed: Option<Error>,
}

/// How often a thread that waits for another one asks whether the user has had enough.
const TICK: Duration = Duration::from_millis(50);

impl Meeting {
    fn new(parts: usize) -> Meeting {
        let told = Told { swept: vec![None; parts], filled: vec![None; parts], failed: None };
        Meeting { told: Mutex::new(told), changed: Condvar::new() }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, part: usize, round: usize, address: sys::CUdeviceptr, ready: Arc<Event>) {
        self.told().swept[part] = Some((round, address, ready));
        self.changed.notify_all();
    }

    fn publish_filled(&self, part: usize, round: usize, event: Event) {
        self.told().filled[part] = Some((round, Arc::new(event)));
        self.changed.notify_all();
    }

    /// Ends the waiting of all.
    fn fail(&self, error: &Error) {
        self.told().failed.get_or_insert_with(|| error.clone());
        self.changed.notify_all();
    }

    /// Where a part's outputs of this round are, and when.
    fn swept(&self, part: usize, round: usize, watch: &Watch) -> Result<(sys::CUdeviceptr, Arc<Event>), Error> {
        self.wait(watch, |told| match &told.swept[part] {
            Some((of, address, ready)) if *of == round => Some((*address, ready.clone())),
            _ => None,
        })
    }

    /// When a part's halo was filled after this round.
    fn filled(&self, part: usize, round: usize, watch: &Watch) -> Result<Arc<Event>, Error> {
        self.wait(watch, |told| match &told.filled[part] {
            Some((of, event)) if *of == round => Some(event.clone()),
            _ => None,
        })
    }

    fn wait<R>(&self, watch: &Watch, find: impl Fn(&Told) -> Option<R>) -> Result<R, Error> {
        let mut told = self.told();
        loop {
            if let Some(error) = &told.failed {
                return Err(error.clone());
            }
            if let Some(found) = find(&told) {
                return Ok(found);
            }
            watch.check()?;
            told = self.changed.wait_timeout(told, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{Boundary, Compute, Convolution, Ends, Filter, Reference, Sides};

    /// Several parts, swept in rounds as arrays of their own, with halos that are filled as the layout says, are the whole
    /// array: for all boundaries, along each dimension, with halos longer than parts.
    #[test]
    fn parts_and_their_halos_are_the_array() {
        let ends = |low, high| Ends::new(low, high).unwrap();
        let [one, two] = [7.5, -3.25].map(Boundary::Constant);
        let same = [one, Boundary::Replicate, Boundary::Symmetric, Boundary::Mirror, Boundary::Circular];
        let own = [
            [ends(one, two), ends(Boundary::Mirror, two), ends(Boundary::Symmetric, Boundary::Replicate)],
            [Boundary::Replicate.into(), Boundary::Circular.into(), ends(two, Boundary::Symmetric)],
            [ends(two, Boundary::Mirror), ends(one, Boundary::Mirror), Boundary::Circular.into()],
        ];
        let sides: Vec<Sides<f64>> = same.map(Sides::from).into_iter().chain(own.map(Sides::from)).collect();
        let numbers = |count: usize| (0..count).map(|i| ((i * 7919) % 1013) as f64 / 512.0 - 1.0).collect::<Vec<_>>();
        let (mut cut, mut between) = (0, 0);
        for (size, filter, sweeps) in [
            ([1, 40, 1], [1, 3, 1], 7),
            ([1, 7, 1], [1, 5, 1], 5),
            ([1, 2, 1], [1, 7, 1], 3),
            ([3, 20, 1], [3, 5, 1], 4),
            ([2, 9, 20], [3, 3, 3], 4),
            ([3, 4, 5], [1, 3, 7], 3),
            ([2, 20, 3], [3, 3, 1], 5),
            ([4, 5, 6], [3, 1, 1], 6),
        ] {
            let (input, entries) = (numbers(size.iter().product()), numbers(filter.iter().product()));
            let filter = Filter::new(entries, filter).unwrap();
            for &sides in &sides {
                let run = |size, sweeps, input: &[f64]| {
                    let what = Convolution::new(size, filter.clone()).with_boundary(sides).with_sweeps(sweeps);
                    let mut output = vec![f64::NAN; input.len()];
                    Reference.convolution(&what, input.into(), (&mut output[..]).into(), &Watch::new()).unwrap();
                    output
                };
                let expected = run(size, sweeps, &input);
                let work = Work { size, radius: filter.radius(), sides, sweeps };
                for (devices, each, at_once) in
                    [(1, 1, 2), (2, 1, 1), (2, 3, 2), (3, 1, 3), (3, 3, 1), (5, 1, 2), (8, 3, 1), (2, 1, 100)]
                {
                    for along in [1, 2].into_iter().filter(|&d| size[d] > 1) {
                        let layout = Layout::with(&work, along, devices, each, at_once);
                        let what = format!("{layout:?}");
                        let gather = |part: &Part| {
                            let mut samples = vec![f64::NAN; part.tile.samples()];
                            layout.cut.gather(&part.tile, &input, &mut samples);
                            samples
                        };
                        let mut arrays: Vec<_> = layout.parts.iter().map(gather).collect();
                        let rounds = sweeps.div_ceil(layout.cut.sweeps());
                        for round in 0..rounds {
                            let now = layout.cut.sweeps().min(sweeps - round * layout.cut.sweeps());
                            arrays = arrays
                                .iter()
                                .zip(&layout.parts)
                                .map(|(array, part)| run(part.tile.size(), now, array))
                                .collect();
                            if round + 1 == rounds {
                                break;
                            }
                            let last = arrays.clone();
                            for (array, part) in arrays.iter_mut().zip(&layout.parts) {
                                for Segment { part: owner, from, to, elements } in &part.halo {
                                    array[*to..to + elements].copy_from_slice(&last[*owner][*from..from + elements]);
                                }
                            }
                        }
                        let mut output = vec![f64::NAN; input.len()];
                        for (array, part) in arrays.iter().zip(&layout.parts) {
                            // SAFETY: nobody else is there.
                            unsafe {
                                layout.cut.scatter(
                                    &part.tile,
                                    &array[part.tile.span()],
                                    &SharedOutput::new(&mut output),
                                );
                            }
                        }
                        assert_eq!(output, expected, "{what}");
                        cut += usize::from(layout.parts.len() > 1);
                        // Who reads and who is read know of each other.
                        for (number, part) in layout.parts.iter().enumerate() {
                            assert!(part.device < devices, "{what}");
                            for other in layout.shown_in(number) {
                                assert!(layout.of_others(other).iter().any(|segment| segment.part == number), "{what}");
                                between += 1;
                            }
                        }
                        // First those that others wait for; each part once.
                        let mut all: Vec<_> = (0..devices).flat_map(|device| layout.of_device(device)).collect();
                        all.sort_unstable();
                        assert_eq!(all, (0..layout.parts.len()).collect::<Vec<_>>(), "{what}");
                    }
                }
            }
        }
        assert!(cut > 400 && between > 1000, "{cut} {between}");
    }

    /// What is computed twice and what is waited for are next to nothing where parts are large.
    #[test]
    fn halos_are_as_deep_as_pays() {
        let work = |size, radius, sweeps| Work::<f64> { size, radius, sides: Sides::default(), sweeps };
        let chosen = |work: &Work<f64>, multiply_adds, fused, devices, direct| {
            let along = dimension(work, devices).unwrap();
            let link = if direct { DIRECT } else { THROUGH_THE_HOST };
            let (each, at_once) = depth(work, along, multiply_adds, fused, devices, link).unwrap();
            let twice = 2.0 * (each * work.radius[along] * at_once * devices) as f64 / work.size[along] as f64;
            (along, each, at_once, twice)
        };
        let line = work([1, 100_000_000, 1], [0, 1, 0], 20_000);
        let (along, each, at_once, twice) = chosen(&line, 3, 64, 2, true);
        assert!((along, each) == (1, 1) && at_once > 500 && twice < 0.001, "{each} {at_once} {twice}");
        assert_eq!(at_once % 64, 0);
        let image = work([16_384, 16_384, 1], [1, 1, 0], 2000);
        for fused in [7, 8] {
            let (along, each, at_once, twice) = chosen(&image, 9, fused, 2, true);
            assert!(along == 1 && each == 1 && (16..100).contains(&at_once) && twice < 0.02, "{at_once} {twice}");
            assert_eq!(at_once % fused, 0);
        }
        let volume = work([640, 640, 640], [1, 1, 1], 1000);
        let (along, each, at_once, twice) = chosen(&volume, 27, 2, 2, true);
        assert!((along, each) == (2, 1) && twice < 0.05, "{at_once} {twice}");
        // What takes long is hidden.
        let (_, each, at_once, twice) = chosen(&volume, 27, 2, 2, false);
        assert!(each == 3 && twice < 0.2, "{at_once} {twice}");
        // What is small stays on one device.
        for (size, fused) in [([1, 4000, 1], 1_000_000), ([256, 256, 1], 12)] {
            assert_eq!(depth(&work(size, [0, 1, 0], 1_000_000), 1, 3, fused, 2, DIRECT), None);
        }
        // A launch may do all sweeps: that is no reason for halos that are many times as long as what is between.
        let long = work([1, 10_000_000, 1], [0, 10, 0], 1_000_000);
        let (_, _, at_once, twice) = chosen(&long, 21, 1_000_000, 2, true);
        assert!(twice < 0.1, "{at_once} {twice}");
        // Pages, where there are enough of them; columns else. Where no output needs its neighbours, nothing is sent.
        assert_eq!(dimension(&work([100, 100, 400], [1, 1, 1], 10), 4), Some(2));
        assert_eq!(dimension(&work([100, 400, 3], [1, 1, 1], 10), 4), Some(1));
        assert_eq!(dimension(&work([100, 400, 50], [1, 1, 0], 10), 4), Some(2));
        assert_eq!(dimension(&work([100, 400, 50], [1, 0, 1], 10), 4), Some(1));
        assert_eq!(dimension(&work([100, 1, 1], [1, 0, 0], 10), 4), None);
        let pages = Layout::new(&work([1000, 400, 50], [1, 1, 0], 1000), 9, 4, true, |size| {
            assert_eq!(size, [1000, 400, 13]);
            Ok(7)
        });
        let pages = pages.unwrap().unwrap();
        assert_eq!((pages.cut.sweeps(), pages.parts.len()), (1000, 4));
        assert!(pages.parts.iter().all(|part| part.halo.is_empty()));
    }
}
