//! What travels between the ranks besides the data of a call: who has failed in which call, and who has left.
//!
//! # Rationale
//! Ranks are never at the same place. One may have failed in a call that another has not begun, and have begun the
//! next. So calls are numbered, on all ranks alike, and everything that is sent has the number of its call. Data have
//! it in their tag. The empty messages by which ranks meet have it in another tag: a rank may come to the end of a call
//! while data lie there for it that it never received, and Open MPI writes past a buffer that is too short. A *notice*
//! says it in its bytes: that this rank has failed in a call, or that it has left and begins no call from that one on.
//! A rank hears of a failure in that call of its own, whether it is still to come or under way.
//!
//! A rank that ends a call by an error gives notice of it to all others, whoever was first. Between two ranks nothing
//! overtakes, so the notice is the last that comes of that call from that rank: what then lies there with the call's
//! tag is received by nobody, and thrown away. So nothing piles up, and every send of a failed call comes to its end.
//!
//! A call that succeeds does so on all ranks (`Call::end`), and leaves nothing behind.
//!
//! # Limitations
//! Tags come again after half as many calls as MPI has tags, 32767 at least and mostly 2^31. Left-overs could be
//! mistaken for data only if all of these calls failed on one rank while another was still in the first.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::time::{Duration, Instant};

use super::shim::{Flight, Found, Line};
use crate::memory;
use crate::stencil::Error;

/// The tag of notices; data have those above.
const NOTICE: c_int = 0;

/// A notice is no longer than this, so that MPI sends it at once, whether or not anybody waits for it.
const NOTICE_BYTES: usize = 1024;

const FAILED: u8 = 1;
const LEFT: u8 = 2;

/// What messages of a call are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageKind {
    Data,
    /// They say that a rank has come so far, and are empty.
    Meeting,
}

/// All that this process sends and receives.
pub(super) struct Traffic {
    pub(super) line: Line,
    rank: usize,
    ranks: usize,
    largest_tag: c_int,
    /// The number of the call that is under way, or of the next one.
    number: u64,
    active: bool,
    /// What was heard of failures in this call and later ones.
    failures: BTreeMap<u64, String>,
    /// Who has left, and the first call that is without it.
    left: Vec<(usize, u64)>,
    /// Ranks that have sent their last of a call that failed.
    stale: Vec<(usize, u64)>,
    /// Messages of which nobody waits for the end.
    orphans: Vec<Flight>,
    /// Messages that nobody wants, and for which there was no memory yet.
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

    /// Begins a call, and gives its number.
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

    /// Ends the call that is under way: all ranks have.
    pub(super) fn end(&mut self) {
        self.active = false;
        self.number += 1;
        self.failures = self.failures.split_off(&self.number);
    }

    /// Ends the call that is under way by an error, and gives notice of it: of what was heard, or else of `what` of our
    /// own.
    pub(super) fn fail(&mut self, what: String) {
        let text = match self.verdict() {
            Err(Error::Rank(heard)) => heard,
            _ => what,
        };
        self.tell(FAILED, self.number, &text);
        self.end();
        // What others sent may be there already. What MPI finds wrong here, the next call will find, too.
        let _ = self.poll();
    }

    /// The tag of what is sent in the call with this number.
    pub(super) fn tag(&self, number: u64, kind: MessageKind) -> c_int {
        1 + 2 * (number % (self.largest_tag / 2) as u64) as c_int + kind as c_int
    }

    /// # Errors
    /// [`Error::Rank`] where another rank has failed in the call that is under way, or will not come to its end.
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

    /// Whether no message may be sent any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Takes over a message that nobody waits for.
    pub(super) fn adopt(&mut self, flight: Flight) {
        self.orphans.push(flight);
    }

    /// Reads notices that have come, and throws away what is left of calls that failed. Waits for nothing.
    ///
    /// # Errors
    /// [`Error::Rank`] for what MPI refuses.
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

    /// Forgets messages that have come to their end.
    fn reap(&mut self) {
        let line = &mut self.line;
        // Where the driver refuses, MPI does what it can.
        let _entered = enter(&self.orphans);
        // One of which MPI reports an error is given up, and its bytes stay.
        self.orphans.retain_mut(|flight| matches!(flight.is_done(line), Ok(false)));
    }

    /// Gives notice to all others; whether MPI took all of that.
    fn tell(&mut self, kind: u8, number: u64, text: &str) -> bool {
        let mut end = text.len().min(NOTICE_BYTES - 9);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut notice = vec![kind];
        notice.extend(number.to_le_bytes());
        notice.extend(&text.as_bytes()[..end]);
        let mut all = true;
        for rank in (0..self.ranks).filter(|&rank| rank != self.rank) {
            // Where MPI refuses it, there is no other way to tell.
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
        // It has arrived.
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

    /// Receives what was sent in calls that are over here, by ranks that have sent their last of them.
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

    /// Receives what nobody wants, as far as there is memory for it. MPI must not be given less than a message has:
    /// Open MPI may write all of it.
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

    /// Tells the others that this rank has left, and waits until all of them have: then nothing is on its way, and MPI
    /// can end. It would wait for them, too, and if messages were left perhaps for ever.
    pub(super) fn leave(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        if self.ranks == 1 {
            return;
        }
        if !self.tell(LEFT, self.number, "") {
            // The others may have been refused, too.
            return;
        }
        let mut pause = Pause::new();
        loop {
            // Where MPI reports an error, it is left to MPI how this ends.
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

/// Makes current on this thread what the bytes of flights lie on, until the guard is dropped: a rank has one device.
///
/// # Errors
/// What the driver says.
pub(super) fn enter<'f>(flights: impl IntoIterator<Item = &'f Flight>) -> Result<Option<Box<dyn Any>>, Error> {
    flights.into_iter().find_map(|flight| flight.enter().transpose()).transpose()
}

/// How long to wait until one looks again.
pub(super) struct Pause {
    since: Instant,
}

impl Pause {
    /// So long a rank looks again at once: a message between two processors takes a microsecond or a few.
    const SPIN: Duration = Duration::from_micros(20);

    /// So long it lets others have the processor who want it, and then sleeps between two looks.
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
