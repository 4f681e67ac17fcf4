//! Messages between the ranks besides the data of a call: failures of calls, and ranks that have left.
//!
//! # Rationale
//! Ranks are never at the same point. One may have failed in a call that another has not begun, and have begun the
//! next. So calls are numbered, alike on all ranks, and every message carries the number of its call. Data have it in
//! their tag. The empty messages of barriers have it in another tag: a rank may reach the end of a call while data have
//! arrived that it never received, and Open MPI writes past a buffer that is too short. A *notice* has it in its bytes:
//! this rank has failed in a call, or it has left and begins no call from that one on. A rank gets the error in its own
//! call of that number, no matter if that call is in progress or still to come.
//!
//! A rank that ends a call by an error sends notice of it to all others, even if it was not the first. MPI keeps the
//! order between two ranks, so the notice is that rank's last message of the call: data with the call's tag that
//! arrived before it have no receiver, and are discarded. So nothing accumulates, and every send of a failed call
//! completes.
//!
//! A call that succeeds does so on all ranks (`Call::end`), and leaves no messages.
//!
//! # Limitations
//! Tags are reused after half as many calls as MPI has tags, 32767 at least and mostly 2^31. Leftover messages could be
//! mistaken for data only if all of these calls failed on one rank while another was still in the first.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::time::{Duration, Instant};

use super::shim::{Flight, Found, Line};
use crate::platform::memory;
use crate::stencil::Error;

/// Tag of notices; data use higher ones.
const NOTICE: c_int = 0;

/// Maximum length of a notice, so that MPI sends it eagerly, without waiting for a receive.
const NOTICE_BYTES: usize = 1024;

const FAILED: u8 = 1;
const LEFT: u8 = 2;

/// Purpose of a call's messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageKind {
    Data,
    /// Empty message of a barrier.
    Meeting,
}

/// All messages that this process sends and receives.
pub(super) struct Traffic {
    pub(super) line: Line,
    rank: usize,
    ranks: usize,
    largest_tag: c_int,
    /// Number of the current call, or of the next one.
    number: u64,
    active: bool,
    /// Failures reported for this call and later ones.
    failures: BTreeMap<u64, String>,
    /// Ranks that have left, with the first call without each.
    left: Vec<(usize, u64)>,
    /// Ranks that have sent their last message of a failed call.
    stale: Vec<(usize, u64)>,
    /// Messages in transit that no call waits for.
    orphans: Vec<Flight>,
    /// Messages to be discarded, for which there was no memory yet.
    unwanted: Vec<Found>,
    closed: bool,
}

impl Traffic {
    pub(super) fn new(line: Line, rank: usize, ranks: usize, largest_tag: c_int) -> Traffic {
        Traffic {
            line,
            rank,
            ranks,
            largest_tag: largest_tag.max(2),
            number: 0,
            active: false,
            failures: BTreeMap::new(),
            left: Vec::new(),
            stale: Vec::new(),
            orphans: Vec::new(),
            unwanted: Vec::new(),
            closed: false,
        }
    }

    /// Begins a call, and returns its number.
    ///
    /// # Errors
    /// [`Error::Busy`] inside another.
    pub(super) fn begin(&mut self) -> Result<u64, Error> {
        if self.active {
            return Err(Error::Busy);
        }
        self.active = true;
        Ok(self.number)
    }

    /// Ends the current call: all ranks have ended it.
    pub(super) fn end(&mut self) {
        self.active = false;
        self.number += 1;
        self.failures = self.failures.split_off(&self.number);
    }

    /// Ends the current call by an error, and sends notice of it: the error of another rank if there is one, or else
    /// `what`, of our own.
    pub(super) fn fail(&mut self, what: String) {
        let text = match self.verdict() {
            Err(Error::Rank(heard)) => heard,
            _ => what,
        };
        self.notify(FAILED, self.number, &text);
        self.end();
        // Messages of others may have arrived already. An error of MPI here will recur in the next call.
        let _ = self.poll();
    }

    /// Tag of messages in the call of this number.
    pub(super) fn tag(&self, number: u64, kind: MessageKind) -> c_int {
        1 + 2 * (number % (self.largest_tag / 2) as u64) as c_int + kind as c_int
    }

    /// # Errors
    /// [`Error::Rank`] if another rank has failed in the current call, or will not reach its end.
    pub(super) fn verdict(&self) -> Result<(), Error> {
        if let Some(text) = self.failures.get(&self.number) {
            return Err(Error::Rank(text.clone()));
        }
        match self.left.iter().find(|(_, from)| *from <= self.number) {
            Some((rank, _)) => {
                Err(Error::Rank(format!("Rank {rank} has left: its script ended, or raised an error elsewhere.")))
            }
            None => Ok(()),
        }
    }

    /// True if no message may be sent any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Takes over a message that no call waits for.
    pub(super) fn adopt(&mut self, flight: Flight) {
        self.orphans.push(flight);
    }

    /// Reads notices that have arrived, and discards leftovers of failed calls. Does not block.
    ///
    /// # Errors
    /// [`Error::Rank`] if MPI refuses.
    pub(super) fn poll(&mut self) -> Result<(), Error> {
        if self.ranks == 1 {
            return Ok(());
        }
        while let Some(found) = self.line.probe(None, Some(NOTICE))? {
            self.read_notice(found)?;
        }
        if !self.stale.is_empty() {
            self.throw_away()?;
        }
        self.swallow()?;
        self.reap();
        Ok(())
    }

    /// Drops messages that are complete.
    fn reap(&mut self) {
        let line = &mut self.line;
        // If the driver refuses, MPI is called all the same.
        let _entered = enter(&self.orphans);
        // A message with an MPI error is dropped, and its bytes stay allocated.
        self.orphans.retain_mut(|flight| matches!(flight.is_done(line), Ok(false)));
    }

    /// Sends notice to all others; true if MPI accepted every message.
    fn notify(&mut self, kind: u8, number: u64, text: &str) -> bool {
        let mut end = text.len().min(NOTICE_BYTES - 9);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut notice = vec![kind];
        notice.extend(number.to_le_bytes());
        notice.extend(&text.as_bytes()[..end]);
        let mut all = true;
        for rank in (0..self.ranks).filter(|&rank| rank != self.rank) {
            // If MPI refuses, there is no other way to notify that rank.
            match Flight::send(&mut self.line, rank, NOTICE, notice.clone().into()) {
                Ok(flight) => self.orphans.push(flight),
                Err(_) => all = false,
            }
        }
        all
    }

    fn read_notice(&mut self, found: Found) -> Result<(), Error> {
        let rank = found.rank;
        let room = vec![0; found.bytes];
        let mut flight = Flight::fetch(&mut self.line, found, room)?;
        // The message has arrived, so this is short.
        while !flight.is_done(&mut self.line)? {
            std::hint::spin_loop();
        }
        let notice = flight.into_bytes().into_host()?;
        let (&[kind, a, b, c, d, e, f, g, h], text) = notice
            .split_first_chunk::<9>()
            .ok_or_else(|| Error::Internal(format!("Rank {rank} sent what is no notice.")))?;
        let number = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        if kind == LEFT {
            self.left.push((rank, number));
        } else if number >= self.number {
            let text = String::from_utf8_lossy(text).into_owned();
            self.failures.entry(number).or_insert(text);
        }
        self.stale.push((rank, number));
        Ok(())
    }

    /// Receives and discards messages of calls that are over here, from ranks that have sent their last of them.
    fn throw_away(&mut self) -> Result<(), Error> {
        let over = self.number;
        for (rank, number) in std::mem::take(&mut self.stale) {
            if number < over {
                for kind in [MessageKind::Data, MessageKind::Meeting] {
                    let tag = self.tag(number, kind);
                    while let Some(found) = self.line.probe(Some(rank), Some(tag))? {
                        self.unwanted.push(found);
                    }
                }
            } else {
                self.stale.push((rank, number));
            }
        }
        Ok(())
    }

    /// Receives and drops messages without a receiver, as far as memory permits. MPI needs a buffer for the full
    /// length: Open MPI may write all of it.
    fn swallow(&mut self) -> Result<(), Error> {
        while let Some(found) = self.unwanted.pop() {
            let Ok(room) = memory::zeros(found.bytes, "what another rank sent") else {
                self.unwanted.push(found);
                break;
            };
            let flight = Flight::fetch(&mut self.line, found, room)?;
            self.orphans.push(flight);
        }
        Ok(())
    }

    /// Notifies the others that this rank has left, and waits until all of them have: then nothing is in transit, and
    /// MPI can end. It would wait for them, too, and with messages left perhaps for ever.
    pub(super) fn leave(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        if self.ranks == 1 {
            return;
        }
        if !self.notify(LEFT, self.number, "") {
            // MPI may have refused the others' notices, too.
            return;
        }
        let mut pause = Pause::new();
        loop {
            // On an error, the rest is left to MPI.
            match self.line.probe(None, None) {
                Ok(Some(found)) if found.tag == NOTICE => {
                    if self.read_notice(found).is_err() {
                        return;
                    }
                }
                Ok(Some(found)) => self.unwanted.push(found),
                Ok(None) => {
                    if self.swallow().is_err() {
                        return;
                    }
                    self.reap();
                    if self.left.len() == self.ranks - 1 && self.orphans.is_empty() && self.unwanted.is_empty() {
                        return;
                    }
                    pause.wait();
                }
                Err(_) => return,
            }
        }
    }
}

/// Makes the device of the flights' bytes current on this thread until the guard is dropped: a rank has one device.
///
/// # Errors
/// The driver's.
pub(super) fn enter<'f>(flights: impl IntoIterator<Item = &'f Flight>) -> Result<Option<Box<dyn Any>>, Error> {
    flights.into_iter().find_map(|flight| flight.enter().transpose()).transpose()
}

/// Delay between two polls.
pub(super) struct Pause {
    since: Instant,
}

impl Pause {
    /// Time of polling without a pause: a message between two processors takes a microsecond or a few.
    const SPIN: Duration = Duration::from_micros(20);

    /// Time of yielding the processor between polls; after that it sleeps between them.
    const YIELD: Duration = Duration::from_millis(2);

    const SLEEP: Duration = Duration::from_micros(50);

    pub(super) fn new() -> Pause {
        Pause { since: Instant::now() }
    }

    pub(super) fn wait(&mut self) {
        let waited = self.since.elapsed();
        if waited < Pause::SPIN {
            std::hint::spin_loop();
        } else if waited < Pause::YIELD {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Pause::SLEEP);
        }
    }
}
