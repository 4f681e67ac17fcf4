//! Sweeps over an array distributed over several ranks, bit-identical to those of one process.
//!
//! # Rounds
//! A round does several sweeps, after an exchange of halos that are wide enough for all of them. A *window* is a part
//! with its halos around it, computed as an array of its own: at a cut end each sweep invalidates one more radius of
//! the halo, and the part itself stays right to the end. The window persists from round to round, and only the halos
//! are replaced. A long part is not copied into one: it is computed by itself, and then its ends, which are wrong, are
//! replaced by the middle of *strips*, windows of a halo and two more of the part. Both strips are one array, one after
//! the other, since the planes in which they affect each other are not used.
//!
//! Strips are computed first, as soon as the halos have arrived. They contain all edges for the next round's halos, so
//! these travel while the rest of the part is computed.
//!
//! # Boundary of a window
//! An end of a window is either an end of the whole, where the whole's boundary is right, or a cut, where any boundary
//! will do. A mirror at an end of the whole reads no further in than the filter does: a sample at `i` needs those up to
//! `i + r`, and the mirror returns some of these. So invalid planes do not spread faster from the window's other end.
//! If the whole is shorter than the radius, so that a mirror reaches its other end, the window is the whole.

use std::collections::VecDeque;

use super::distribution::{Costs, Halos, Piece, Reach, Rounds, Swept, Way};
use super::planes::{Between, Of, Runs, again};
use super::shared::{self, Inbox, Outbox, Trial};
use super::whole::Whole;
use super::{Bytes, Others, UnderWay};
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::{Array, Engine, Error, Handle, Number, Real, Source, Target};

/// Number of arrays that a part takes on a device while it is swept, including room for strips.
const ARRAYS: usize = 3;

/// Computes this rank's part of an operator over the whole, from an array in the host's memory or the engine's to
/// another. All ranks call it with operators of the same plan, and it returns once all have succeeded. `watch` counts
/// this rank's own updates.
///
/// # Errors
/// The engine's and those of [`Others`]. The target is unspecified then; and this rank's collective call has to end
/// with that error, so that no other rank waits for it.
///
/// # Panics
/// Unless source and target have the length of the part.
pub fn run<T: Real>(
    others: &dyn Others,
    engine: &(dyn Engine + 'static),
    what: &Whole<T>,
    from: Source<T>,
    to: Target<T>,
    watch: &Watch,
) -> Result<(), Error>
where
    T: Number,
{
    let mut outbox = Outbox::default();
    sweep(others, engine, what, from, to, &mut outbox, watch)?;
    // A rank may be complete while another one fails, or still reads this one's edges.
    others.gather(&[], watch)?;
    Ok(())
}

/// Does [`run`] up to the final gather: other ranks may still read `outbox` then.
fn sweep<T: Real>(
    others: &dyn Others,
    engine: &(dyn Engine + 'static),
    what: &Whole<T>,
    from: Source<T>,
    to: Target<T>,
    outbox: &mut Outbox<T>,
    watch: &Watch,
) -> Result<(), Error>
where
    T: Number,
{
    let (area, n) = (what.around.area(), what.distribution.part(others.rank()).len());
    let elements = n * area;
    assert_eq!([from.len(), to.len(), others.ranks()], [elements, elements, what.distribution.ranks()]);
    watch.check()?;
    if what.radius == 0 || what.sweeps == 0 || area == 0 || what.distribution.longest() == what.distribution.length() {
        // No part needs planes of another.
        return if elements == 0 { Ok(()) } else { (what.pass)(engine, n, what.sweeps, from, to, watch) };
    }
    let on_host = matches!((&from, &to), (Source::Host(_), Target::Host(_)));
    let Agreed { swept, rounds, loads, shares } = agree(others, engine, what, on_host, watch)?;
    if n == 0 {
        return Ok(());
    }
    let on_host = on_host && !loads;
    let halos = swept.halos(others.rank(), rounds);
    let sends_arrays = !on_host && others.reach_devices() && !is_near::<T>(engine)?;
    let (coming, inbox) = (None, Inbox::default());
    let mut part = Part {
        others,
        engine,
        what,
        watch,
        rounds,
        on_host,
        sends_arrays,
        shares,
        outbox,
        inbox,
        halos: &halos,
        coming,
    };
    // Before the first round its edges are sent, in each round those of the next.
    part.send((from, n), |plane| plane)?;
    match halos.reach.way {
        Way::Window => part.in_window(from, to),
        Way::Strips if loads => part.in_strips_on_device(from, to),
        Way::Strips => part.in_strips(from, to),
    }
}

/// Method of the sweeps, agreed on by all ranks.
struct Agreed<'a> {
    swept: Swept<'a>,
    rounds: Rounds,
    /// True if this rank's part, which is the host's, lies on the device for all rounds.
    loads: bool,
    /// For each rank, true if the two read each other's edges in place.
    shares: Vec<bool>,
}

/// Gathers the costs of an exchange on each rank, and chooses the rounds. All ranks decide alike, from the same values.
fn agree<'a, T: Real>(
    others: &dyn Others,
    engine: &(dyn Engine + 'static),
    what: &'a Whole<T>,
    on_host: bool,
    watch: &Watch,
) -> Result<Agreed<'a>, Error>
where
    T: Number,
{
    let (mut swept, n) = (what.swept(), what.distribution.part(others.rank()).len());
    let mut shares = vec![false; others.ranks()];
    if what.sweeps == 1 {
        return Ok(Agreed { swept, rounds: Rounds::choose(swept, 1, 0), loads: false, shares });
    }
    let bytes = [what.sweeps, what.radius, swept.area, size_of::<T>()];
    let bytes = bytes.into_iter().fold(1_u128, |bytes, count| bytes.saturating_mul(count as u128));
    let much = bytes >= what.costs.opened;
    let (mut exchange, mut on_gpu, mut loads, mut trial) = (0_u128, false, false, None);
    if n > 0 {
        let (near, elements) = (is_near::<T>(engine)?, n * swept.area);
        loads = on_host && !near && engine.arrays::<T>().has_room(ARRAYS, elements)?;
        let Costs { exchange: of_processor, exchange_of_device, link, .. } = what.costs;
        exchange = if near { of_processor } else { exchange_of_device };
        if on_host && !near && !loads {
            exchange += link * elements as u128;
        }
        on_gpu = !near && (!on_host || loads);
        // Waits for the device. Sharing that MPI does itself is left to it.
        if on_gpu && much && !others.reach_devices() {
            trial = Trial::<T>::new(engine)?;
        }
    }
    let mine = u64::try_from(exchange).unwrap_or(u64::MAX).to_le_bytes();
    let offer = trial.as_ref().map_or(&[][..], Trial::offer);
    let all = others.gather(&[&mine[..], &[u8::from(on_gpu)], offer].concat(), watch)?;
    let all = all.iter().map(|bytes| {
        let (cost, rest) = bytes.split_first_chunk()?;
        let (on_gpu, offer) = rest.split_first()?;
        Some((u64::from_le_bytes(*cost), *on_gpu == 1, offer))
    });
    let all = all.collect::<Option<Vec<_>>>().ok_or_else(|| Error::Internal("A rank's costs are no number.".into()))?;
    let most = all.iter().map(|(cost, ..)| *cost).max().unwrap_or(0);
    let mut parts = all.iter().enumerate().filter(|(rank, _)| !what.distribution.part(*rank).is_empty());
    if parts.all(|(_, (_, on_gpu, _))| *on_gpu) {
        swept = swept.on_gpus();
    }
    let rounds = Rounds::choose(swept, what.sweeps, most.into());
    if rounds.count > 1 && much {
        let offers: Vec<_> = all.iter().map(|(.., offer)| *offer).collect();
        let partners = if n > 0 { swept.halos(others.rank(), rounds).partners() } else { Vec::new() };
        shares = shared::sharing::<T>(others, engine, &offers, &partners, watch)?;
    }
    Ok(Agreed { swept, rounds, loads: loads && rounds.count > 1, shares })
}

/// True if an engine's arrays lie in ordinary memory.
fn is_near<T: Real>(engine: &(dyn Engine + 'static)) -> Result<bool, Error>
where
    T: Number,
{
    Ok(engine.arrays::<T>().array(1)?.held::<Pooled<T>>().is_ok())
}

/// Uses a target as the source of the next step.
fn source<'t, T>(target: &'t Target<'_, T>) -> Source<'t, T> {
    match target {
        Target::Host(results) => Source::Host(results),
        Target::Array(array) => Source::Array(array),
    }
}

/// State of a rank's part between rounds.
struct Part<'a, T> {
    others: &'a dyn Others,
    engine: &'a (dyn Engine + 'static),
    what: &'a Whole<'a, T>,
    watch: &'a Watch,
    rounds: Rounds,
    /// Place of windows and strips.
    on_host: bool,
    /// True if messages take the engine's arrays as they are.
    sends_arrays: bool,
    /// For each rank, true if the two read each other's edges in place.
    shares: Vec<bool>,
    outbox: &'a mut Outbox<T>,
    inbox: Inbox<T>,
    /// Halos of every round.
    halos: &'a Halos,
    /// Halos of the next round, once their edges are computed.
    coming: Option<Coming<'a>>,
}

/// Halos in transit.
struct Coming<'a> {
    messages: Box<dyn UnderWay + 'a>,
    /// Pieces from this rank itself.
    own: VecDeque<Bytes>,
}

impl<T: Real> Part<'_, T>
where
    T: Number,
{
    /// Does work without counting its updates.
    fn uncounted<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        let mark = self.watch.mark();
        let done = work();
        self.watch.rewind(mark);
        done
    }

    /// Computes all rounds in a window.
    fn in_window(&mut self, from: Source<T>, to: Target<T>) -> Result<(), Error> {
        let Reach { before, after, .. } = self.halos.reach;
        let n = from.len() / self.what.around.area();
        let length = before + n + after;
        let part = Of { length, runs: (before..before + n).into() };
        let [mut samples, mut results] = self.buffers(length)?;
        self.uncounted(|| self.copy((from, Of::all(n)), (samples.target()?, part)))?;
        for number in 0..self.rounds.count {
            self.receive((&mut samples, length))?;
            let sweeps = self.rounds.sweeps_of(number);
            self.uncounted(|| {
                (self.what.pass)(self.engine, length, sweeps, samples.source()?, results.target()?, self.watch)
            })?;
            self.watch.count(from.len() * sweeps);
            if number + 1 < self.rounds.count {
                self.send((results.source()?, length), |plane| before + plane)?;
            }
            std::mem::swap(&mut samples, &mut results);
        }
        self.uncounted(|| self.copy((samples.source()?, part), (to, Of::all(n))))
    }

    /// Computes all rounds in place and in strips.
    fn in_strips(&mut self, from: Source<T>, mut to: Target<T>) -> Result<(), Error> {
        let strips = &mut self.buffers(self.of_strips().0)?;
        let mut scratch = match self.rounds.count {
            1 => None,
            _ => Some(Between::new(self.engine, self.on_host, from.len())?),
        };
        for number in 0..self.rounds.count {
            // The last round writes to the target, the one before it to the other array, and so on.
            let to_target = (self.rounds.count - number) % 2 == 1;
            match (&mut scratch, to_target) {
                (None, _) => self.strips(number, strips, from, again(&mut to))?,
                (Some(scratch), true) => {
                    let from = if number == 0 { from } else { scratch.source()? };
                    self.strips(number, strips, from, again(&mut to))?;
                }
                (Some(scratch), false) => {
                    let from = if number == 0 { from } else { source(&to) };
                    self.strips(number, strips, from, scratch.target()?)?;
                }
            }
        }
        Ok(())
    }

    /// Computes all rounds with a host part on the device meanwhile.
    fn in_strips_on_device(&mut self, from: Source<T>, to: Target<T>) -> Result<(), Error> {
        let strips = &mut self.buffers(self.of_strips().0)?;
        let [mut newest, mut next] =
            [Between::new(self.engine, false, from.len())?, Between::new(self.engine, false, from.len())?];
        self.uncounted(|| self.engine.arrays().copy(from, newest.target()?, self.watch))?;
        for number in 0..self.rounds.count {
            self.strips(number, strips, newest.source()?, next.target()?)?;
            std::mem::swap(&mut newest, &mut next);
        }
        self.uncounted(|| self.engine.arrays().copy(newest.source()?, to, self.watch))
    }

    /// Number of planes of both strips, and the number of strips at the low end and at the high one, zero or one.
    fn of_strips(&self) -> (usize, [usize; 2]) {
        let (Reach { before, after, .. }, halo) = (self.halos.reach, self.halo());
        let ends = [before, after].map(|planes| usize::from(planes > 0));
        (before + 2 * halo * (ends[0] + ends[1]) + after, ends)
    }

    fn halo(&self) -> usize {
        self.what.swept().halo(self.rounds.deepest())
    }

    /// Computes one round from one array to another, with arrays for the strips and their results.
    fn strips(
        &mut self,
        number: usize,
        [samples, results]: &mut [Between<T>; 2],
        from: Source<T>,
        mut to: Target<T>,
    ) -> Result<(), Error> {
        let (before, halo, (length, [low, high])) = (self.halos.reach.before, self.halo(), self.of_strips());
        let (n, sweeps) = (from.len() / self.what.around.area(), self.rounds.sweeps_of(number));
        let inside = |part: &Self, to: Target<T>| (part.what.pass)(part.engine, n, sweeps, from, to, part.watch);
        // The exchange before an only round has nothing else to overlap with.
        let is_only = self.rounds.count == 1;
        if is_only {
            inside(self, again(&mut to))?;
            self.advance()?;
        }
        // The strip at the low end, if there is one, then the other.
        let count = low + high;
        let (own, made, ends) = (
            Runs { first: if low > 0 { 0 } else { n - 2 * halo }, len: 2 * halo, count, apart: n - 2 * halo },
            Runs { first: before + (1 - low) * halo, len: halo, count, apart: 3 * halo },
            Runs { first: if low > 0 { 0 } else { n - halo }, len: halo, count, apart: n - halo },
        );
        self.uncounted(|| {
            let at = Of { length, runs: Runs { first: before, len: 2 * halo, count, apart: 2 * halo } };
            self.copy((from, Of { length: n, runs: own }), (samples.target()?, at))
        })?;
        self.receive((samples, length))?;
        self.uncounted(|| {
            (self.what.pass)(self.engine, length, sweeps, samples.source()?, results.target()?, self.watch)
        })?;
        if number + 1 < self.rounds.count {
            // An edge lies within the strip at its end: it is never wider than a halo.
            let place = |plane| before + if plane < halo { plane } else { 2 * halo * low + plane - (n - 2 * halo) };
            self.send((results.source()?, length), place)?;
        }
        if !is_only {
            self.advance()?;
            inside(self, again(&mut to))?;
            self.advance()?;
        }
        self.uncounted(|| self.copy((results.source()?, Of { length, runs: made }), (to, Of { length: n, runs: ends })))
    }

    /// Allocates two arrays of `length` planes.
    fn buffers(&self, length: usize) -> Result<[Between<T>; 2], Error> {
        let len = length * self.what.around.area();
        Ok([Between::new(self.engine, self.on_host, len)?, Between::new(self.engine, self.on_host, len)?])
    }

    fn copy(&self, from: (Source<T>, Of), to: (Target<T>, Of)) -> Result<(), Error> {
        self.what.around.copy(self.engine, from, to, self.watch)
    }

    /// Number of bytes in `planes` planes.
    fn bytes(&self, planes: usize) -> usize {
        planes * self.what.around.area() * size_of::<T>()
    }

    /// Sends edges, and begins to receive halos, each in a message of its own. The edges are in an array of `length`
    /// planes, at the index `place` of a plane of the part.
    fn send(&mut self, (from, length): (Source<T>, usize), place: impl Fn(usize) -> usize) -> Result<(), Error> {
        let (halos, this) = (self.halos, self.others.rank());
        let (mut own, mut sends) = (VecDeque::new(), Vec::with_capacity(halos.sends.len()));
        self.outbox.next_round();
        let mut number = 0;
        for (rank, edges) in &halos.sends {
            for edge in edges {
                let first = place(edge.start);
                let edge = (from, Of { length, runs: (first..first + edge.len()).into() });
                let message = match self.shares[*rank] {
                    true => self.offer(number, edge)?,
                    false => self.read(edge)?,
                };
                number += 1;
                if *rank == this {
                    own.push_back(message);
                } else {
                    sends.push((*rank, message));
                }
            }
        }
        let pieces = halos.before.iter().chain(&halos.after).filter(|piece| piece.rank != this);
        let rooms = pieces.map(|piece| Ok((piece.rank, self.room(piece)?))).collect::<Result<_, Error>>()?;
        self.coming = Some(Coming { messages: self.others.exchange(sends, rooms)?, own });
        Ok(())
    }

    /// Copies planes of an array to a message.
    fn read(&self, (from, of): (Source<T>, Of)) -> Result<Bytes, Error> {
        let planes = of.runs.planes();
        if self.sends_arrays && matches!(from, Source::Array(_)) {
            let mut message = self.engine.arrays::<T>().array(planes * self.what.around.area())?;
            self.uncounted(|| self.copy((from, of), (Target::Array(&mut message), Of::all(planes))))?;
            return Bytes::of_array(message);
        }
        let mut message = Bytes::room(self.bytes(planes), "edges")?;
        let bytes = match &mut message {
            Bytes::Host(bytes) => &mut bytes[..],
            Bytes::Pooled(bytes) => bytes.as_mut_slice(),
            Bytes::Device(_) => return Err(Error::Internal("Room for a message on a device.".into())),
        };
        self.uncounted(|| self.what.around.read(self.engine, (from, of), bytes, self.watch))?;
        Ok(message)
    }

    /// Returns a message by which another rank reads planes of an array in place.
    fn offer(&mut self, number: usize, (from, of): (Source<T>, Of)) -> Result<Bytes, Error> {
        let planes = of.runs.planes();
        // Planes in the host's memory are copied to the device first.
        let read = if matches!(from, Source::Host(_)) { Some(self.read((from, of))?) } else { None };
        let Part { engine, what, watch, .. } = *self;
        let edge = self.outbox.edge(engine, number, planes * what.around.area())?;
        let mark = watch.mark();
        let to = (Target::Array(edge), Of::all(planes));
        match read {
            Some(bytes) => what.around.write(engine, &bytes.into_host()?, to, watch)?,
            None => what.around.copy(engine, (from, of), to, watch)?,
        }
        watch.rewind(mark);
        let handle = edge.export().unwrap_or_else(|| Err(Error::Internal("An edge in ordinary memory.".into())))?;
        Ok(handle.to_vec().into())
    }

    /// Buffer for a message with a piece of a halo.
    fn room(&self, Piece { rank, planes }: &Piece) -> Result<Bytes, Error> {
        if self.shares[*rank] {
            return Bytes::zeros(size_of::<Handle>(), "a handle");
        }
        let planes = planes.len();
        if self.sends_arrays {
            return Bytes::of_array(self.engine.arrays::<T>().array(planes * self.what.around.area())?);
        }
        Bytes::room(self.bytes(planes), "halos")
    }

    /// Advances the messages.
    fn advance(&mut self) -> Result<(), Error> {
        self.coming.as_mut().map_or(Ok(()), |coming| coming.messages.advance())
    }

    /// Waits for the halos, and writes them before and after the other planes of an array of `length` planes.
    fn receive(&mut self, (to, length): (&mut Between<T>, usize)) -> Result<(), Error> {
        let (halos, this) = (self.halos, self.others.rank());
        let coming = self.coming.take().ok_or_else(|| Error::Internal("No halos were asked for.".into()))?;
        let Coming { messages, mut own } = coming;
        let mut came = messages.wait(self.watch)?.into_iter();
        let places = [(&halos.before, 0), (&halos.after, length - halos.reach.after)];
        for (pieces, mut first) in places {
            for Piece { rank, planes } in pieces {
                let message = if *rank == this { own.pop_front() } else { came.next() };
                let shares = self.shares[*rank];
                let bytes = if shares { size_of::<Handle>() } else { self.bytes(planes.len()) };
                let message = message.filter(|message| message.len() == bytes);
                let message =
                    message.ok_or_else(|| Error::Internal(format!("Halos of rank {rank} are not as awaited.")))?;
                let at = Of { length, runs: (first..first + planes.len()).into() };
                first += planes.len();
                if shares {
                    self.take(message, (to.target()?, at))?;
                } else {
                    self.uncounted(|| self.write(message, (to.target()?, at)))?;
                }
            }
        }
        Ok(())
    }

    /// Copies planes of another rank, named by a message, to planes of an array.
    fn take(&mut self, message: Bytes, (to, at): (Target<T>, Of)) -> Result<(), Error> {
        let Part { engine, what, watch, .. } = *self;
        let planes = at.runs.planes();
        let array = self.inbox.array(engine, &message.into_host()?, planes * what.around.area())?;
        let mark = watch.mark();
        what.around.copy(engine, (Source::Array(array), Of::all(planes)), (to, at), watch)?;
        watch.rewind(mark);
        Ok(())
    }

    /// Copies a message to planes of an array.
    fn write(&self, message: Bytes, (to, at): (Target<T>, Of)) -> Result<(), Error> {
        match message {
            Bytes::Host(message) => self.what.around.write(self.engine, &message, (to, at), self.watch),
            Bytes::Pooled(message) => self.what.around.write(self.engine, message.as_slice(), (to, at), self.watch),
            Bytes::Device(message) => {
                let message: Array<T> = message.into_array();
                self.copy((Source::Array(&message), Of::all(at.runs.planes())), (to, at))
            }
        }
    }
}
