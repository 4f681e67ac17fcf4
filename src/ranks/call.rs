//! One collective call, made by all ranks.

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};

use super::shim::Flight;
use super::traffic::{MessageKind, Pause, Traffic, enter};
use super::world::World;
use super::{Bytes, Others, UnderWay};
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::Error;

/// Maximum length of a packet's first message; the packet's length precedes its contents.
const FIRST: usize = 4096;

/// A collective call: all ranks make the same number of calls in the same order. It ends with [`Call::end`], on all
/// ranks or on none, or with [`Call::fail`]. A call dropped before that counts as failed by an internal error.
pub struct Call {
    world: &'static World,
    number: u64,
    over: bool,
    /// True once messages were abandoned, or differ from those expected.
    spoilt: AtomicBool,
}

impl World {
    /// Begins a collective call. Sends nothing yet.
    ///
    /// # Errors
    /// [`Error::Busy`] inside another call, and then this one is not counted; [`Error::Rank`] in a forked process, and
    /// once MPI has ended.
    pub fn call(&'static self) -> Result<Call, Error> {
        let number = self.traffic()?.begin()?;
        Ok(Call { world: self, number, over: false, spoilt: AtomicBool::new(false) })
    }
}

impl Call {
    /// Ends the call once all ranks do so, and waits for them: no rank returns a result if another raises an error.
    /// After an error the call must still be ended by [`Call::fail`].
    ///
    /// # Errors
    /// [`Error::Rank`] if another rank has failed; [`Error::Interrupted`] if the watch says so.
    pub fn end(&mut self, watch: &Watch) -> Result<(), Error> {
        if *self.spoilt.get_mut() {
            return Err(Error::Internal("Messages to other ranks were given up.".into()));
        }
        // After the first barrier all ranks have reached their end, but one may not know it yet, and be interrupted
        // while it waits. After the second all know it, and none can fail any more: it ends soon, so the watch is not
        // needed.
        self.meet(watch)?;
        self.meet(&Watch::new())?;
        self.world.traffic()?.end();
        self.over = true;
        Ok(())
    }

    /// Ends the call with an error: all other ranks get [`Error::Rank`], "Rank 3 raised" followed by this text. If this
    /// rank has itself received such an error, they get that one.
    pub fn fail(mut self, text: &str) {
        self.give_up(format!("Rank {} raised {text}", self.world.rank()));
    }

    fn give_up(&mut self, what: String) {
        self.over = true;
        // A forked process, and one where MPI has ended, cannot notify the others.
        if let Ok(mut traffic) = self.world.traffic() {
            traffic.fail(what);
        }
    }

    fn traffic(&self) -> Result<MutexGuard<'_, Traffic>, Error> {
        self.world.traffic()
    }

    /// # Errors
    /// [`Error::Internal`] unless `rank` is another rank.
    fn other(&self, rank: usize) -> Result<(), Error> {
        if rank < self.ranks() && rank != self.rank() {
            return Ok(());
        }
        Err(Error::Internal(format!("A message between rank {} and rank {rank} of {}.", self.rank(), self.ranks())))
    }

    /// Waits until all ranks have arrived: a barrier.
    fn meet(&self, watch: &Watch) -> Result<(), Error> {
        let (rank, ranks) = (self.rank(), self.ranks());
        let mut distance = 1;
        while distance < ranks {
            let (to, from) = ((rank + distance) % ranks, (rank + ranks - distance) % ranks);
            Box::new(Messages::start(
                self,
                MessageKind::Meeting,
                vec![(to, Vec::new().into())],
                vec![(from, Vec::new().into())],
            )?)
            .wait(watch)?;
            distance *= 2;
        }
        Ok(())
    }

    /// Sends bytes to one rank and receives bytes of unknown length from another.
    fn swap(&self, to: usize, packet: &[u8], from: usize, watch: &Watch) -> Result<Vec<u8>, Error> {
        let head = size_of::<u64>();
        let (first, rest) = packet.split_at(packet.len().min(FIRST - head));
        let mut message = memory::with_room(head + first.len(), "a message to another rank")?;
        message.extend((packet.len() as u64).to_le_bytes());
        message.extend(first);
        let mut sends = vec![(to, message.into())];
        if !rest.is_empty() {
            let mut message = memory::with_room(rest.len(), "a message to another rank")?;
            message.extend(rest);
            sends.push((to, message.into()));
        }
        let mut messages = Messages::start(self, MessageKind::Data, sends, vec![])?;
        messages.receive(from, room(FIRST)?, Length::AtMost)?;
        messages.finish_receives(watch)?;
        let fault = || Error::Internal(format!("Rank {from} sent what is no packet."));
        let first = messages.received.pop().ok_or_else(fault)?.into_host()?;
        let (length, first) = first.split_first_chunk().ok_or_else(fault)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| fault())?;
        let mut packet = memory::with_room(length, "a message from another rank")?;
        packet.extend(first);
        if let Some(more) = length.checked_sub(first.len()).filter(|&more| more > 0) {
            messages.receive(from, room(more)?, Length::Exact)?;
        }
        for rest in Box::new(messages).wait(watch)? {
            packet.extend(rest.into_host()?);
        }
        if packet.len() == length { Ok(packet) } else { Err(fault()) }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.over {
            self.give_up(format!("Rank {} ended this call early, for a fault of its own.", self.world.rank()));
        }
    }
}

impl Others for Call {
    fn rank(&self) -> usize {
        self.world.rank()
    }

    fn ranks(&self) -> usize {
        self.world.ranks()
    }

    fn reach_devices(&self) -> bool {
        self.world.reaches_devices()
    }

    fn exchange(
        &self,
        sends: Vec<(usize, Bytes)>,
        receives: Vec<(usize, Bytes)>,
    ) -> Result<Box<dyn UnderWay + '_>, Error> {
        Ok(Box::new(Messages::start(self, MessageKind::Data, sends, receives)?))
    }

    /// Takes log2(ranks) rounds, rounded up: in each, a rank passes on all that it has.
    fn gather(&self, mine: &[u8], watch: &Watch) -> Result<Vec<Vec<u8>>, Error> {
        let (rank, ranks) = (self.rank(), self.ranks());
        // Starts with this rank, followed by the next one and so on.
        let mut all = vec![copy(mine)?];
        while all.len() < ranks {
            let distance = all.len();
            let count = distance.min(ranks - distance);
            let from = (rank + distance) % ranks;
            let packet = self.swap((rank + ranks - distance) % ranks, &pack(&all[..count])?, from, watch)?;
            unpack(&packet, count, &mut all)?
                .ok_or_else(|| Error::Internal(format!("Rank {from} sent what is no gathering.")))?;
        }
        all.rotate_right(rank);
        Ok(all)
    }
}

fn room(len: usize) -> Result<Bytes, Error> {
    Bytes::zeros(len, "a message from another rank")
}

fn copy(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut copy = memory::with_room(bytes.len(), "what ranks give")?;
    copy.extend(bytes);
    Ok(copy)
}

/// Concatenates messages, each preceded by its length.
fn pack(all: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
    let len = all.iter().map(|one| size_of::<u64>() + one.len()).sum();
    let mut packet = memory::with_room(len, "what ranks give")?;
    for one in all {
        packet.extend((one.len() as u64).to_le_bytes());
        packet.extend(one);
    }
    Ok(packet)
}

/// Appends `count` messages of a packet to `all`; `None` if the packet is malformed.
fn unpack(mut packet: &[u8], count: usize, all: &mut Vec<Vec<u8>>) -> Result<Option<()>, Error> {
    for _ in 0..count {
        let Some((len, rest)) = packet.split_first_chunk() else { return Ok(None) };
        let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let Some((one, rest)) = rest.split_at_checked(len) else { return Ok(None) };
        all.push(copy(one)?);
        packet = rest;
    }
    Ok(packet.is_empty().then_some(()))
}

/// Requirement on the length of a received message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Exact,
    AtMost,
}

/// Messages of a call in transit.
struct Messages<'a> {
    call: &'a Call,
    kind: MessageKind,
    sends: Vec<Flight>,
    receives: Vec<Receive>,
    /// Results of the receives that are complete.
    received: Vec<Bytes>,
    waited_for: bool,
}

struct Receive {
    from: usize,
    length: Length,
    flight: Flight,
}

impl<'a> Messages<'a> {
    fn start(
        call: &'a Call,
        kind: MessageKind,
        sends: Vec<(usize, Bytes)>,
        receives: Vec<(usize, Bytes)>,
    ) -> Result<Messages<'a>, Error> {
        let mut messages =
            Messages { call, kind, sends: Vec::new(), receives: Vec::new(), received: Vec::new(), waited_for: false };
        // Receives are posted first, so that messages arrive directly in their buffers.
        for (from, room) in receives {
            messages.receive(from, room, Length::Exact)?;
        }
        for (to, bytes) in sends {
            call.other(to)?;
            let mut traffic = call.traffic()?;
            let tag = traffic.tag(call.number, kind);
            messages.sends.push(Flight::send(&mut traffic.line, to, tag, bytes)?);
        }
        messages.poll()?;
        Ok(messages)
    }

    fn receive(&mut self, from: usize, room: Bytes, length: Length) -> Result<(), Error> {
        self.call.other(from)?;
        let mut traffic = self.call.traffic()?;
        let tag = traffic.tag(self.call.number, self.kind);
        self.receives.push(Receive { from, length, flight: Flight::receive(&mut traffic.line, from, tag, room)? });
        Ok(())
    }

    /// Tests the messages, and checks if another rank has failed. True once all have arrived.
    fn poll(&mut self) -> Result<bool, Error> {
        let mut traffic = self.call.traffic()?;
        let flights = self.receives.iter().map(|receive| &receive.flight).chain(&self.sends);
        let _entered = enter(flights)?;
        traffic.poll()?;
        traffic.verdict()?;
        let mut all = true;
        for flight in self.receives.iter_mut().map(|receive| &mut receive.flight).chain(&mut self.sends) {
            all &= flight.is_done(&mut traffic.line)?;
        }
        Ok(all)
    }

    /// Waits until the condition holds.
    fn wait_for(&mut self, watch: &Watch, is_so: impl Fn(&mut Self) -> Result<bool, Error>) -> Result<(), Error> {
        let mut pause = Pause::new();
        while !is_so(self)? {
            watch.check()?;
            pause.wait();
        }
        Ok(())
    }

    /// Waits for the receives.
    fn finish_receives(&mut self, watch: &Watch) -> Result<(), Error> {
        self.wait_for(watch, |messages| {
            Ok(messages.poll()? || messages.receives.iter().all(|receive| receive.flight.is_over()))
        })?;
        self.take_received()
    }

    fn take_received(&mut self) -> Result<(), Error> {
        for Receive { from, length, flight } in self.receives.drain(..) {
            let (expected, got) = flight.lengths();
            if length == Length::Exact && got != expected {
                return Err(Error::Internal(format!("Rank {from} sent {got} bytes where {expected} were expected.")));
            }
            self.received.push(flight.into_bytes());
        }
        Ok(())
    }
}

impl UnderWay for Messages<'_> {
    fn advance(&mut self) -> Result<(), Error> {
        self.poll().map(drop)
    }

    fn wait(mut self: Box<Self>, watch: &Watch) -> Result<Vec<Bytes>, Error> {
        self.wait_for(watch, Messages::poll)?;
        self.take_received()?;
        self.waited_for = true;
        Ok(std::mem::take(&mut self.received))
    }
}

impl Drop for Messages<'_> {
    /// Leaves messages in transit to complete by themselves.
    fn drop(&mut self) {
        if self.waited_for {
            return;
        }
        self.call.spoilt.store(true, Ordering::Relaxed);
        let receives = self.receives.drain(..).map(|receive| (true, receive.flight));
        let left = receives.chain(self.sends.drain(..).map(|flight| (false, flight)));
        let Ok(mut traffic) = self.call.world.traffic() else {
            // They are never tested again, and their bytes stay allocated.
            return;
        };
        let left: Vec<_> = left.collect();
        // If the driver refuses, MPI is called all the same.
        let _entered = enter(left.iter().map(|(_, flight)| flight));
        for (is_receive, mut flight) in left.into_iter().filter(|(_, flight)| !flight.is_over()) {
            if is_receive {
                flight.cancel(&mut traffic.line);
            }
            traffic.adopt(flight);
        }
    }
}
