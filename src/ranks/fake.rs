//! Fake ranks for tests: threads in place of processes, queues in place of MPI.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Bytes, Others, UnderWay};
use crate::platform::watch::Watch;
use crate::stencil::Error;

/// Timeout of a test that waits for a missing message.
const PATIENCE: Duration = Duration::from_secs(60);

/// A number of ranks.
pub(super) struct World {
    ranks: usize,
    /// True if messages are delayed at random.
    late: bool,
    /// True if messages may lie on a (fake) device; the count below is of those sent from there.
    reach_devices: bool,
    pub(super) from_devices: AtomicUsize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Messages from one rank to another, with the time from which they may be received.
    queues: Vec<VecDeque<(Instant, Vec<u8>)>>,
    /// Error of the first rank that failed.
    failed: Option<Error>,
    /// Seed of the delays.
    seed: u64,
}

/// Ends the other ranks if one panics.
struct Panics<'w>(&'w World);

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.failed.get_or_insert(Error::Rank("Rank ? has panicked.".into()));
            self.0.changed.notify_all();
        }
    }
}

/// One rank's view of the others.
pub(super) struct Rank<'w> {
    world: &'w World,
    rank: usize,
    /// Number of exchanges and gathers that it has begun.
    pub(super) begun: Arc<AtomicUsize>,
    /// Index of the exchange or gather that fails.
    fails_at: Option<usize>,
}

impl World {
    pub(super) fn new(ranks: usize, late: bool) -> World {
        let queues = (0..ranks * ranks).map(|_| VecDeque::new()).collect();
        World {
            ranks,
            late,
            reach_devices: false,
            from_devices: AtomicUsize::new(0),
            state: Mutex::new(State { queues, ..State::default() }),
            changed: Condvar::new(),
        }
    }

    /// Allows messages to lie on a (fake) device.
    pub(super) fn reaching_devices(self, reach_devices: bool) -> World {
        World { reach_devices, ..self }
    }

    /// Runs `work` on each rank and returns the results. All messages have been received by then, unless a rank has
    /// failed.
    pub(super) fn run<R: Send>(&self, work: impl Fn(&Rank) -> Result<R, Error> + Sync) -> Vec<Result<R, Error>> {
        self.run_failing(None, work)
    }

    /// Runs `work` on each rank, where an exchange or gather of one fails: `failing` is the rank and the index of its
    /// call.
    pub(super) fn run_failing<R: Send>(
        &self,
        failing: Option<(usize, usize)>,
        work: impl Fn(&Rank) -> Result<R, Error> + Sync,
    ) -> Vec<Result<R, Error>> {
        let of_rank = |rank: usize| {
            let fails_at = failing.filter(|(of, _)| *of == rank).map(|(_, at)| at);
            let _panics = Panics(self);
            let result = work(&Rank { world: self, rank, begun: Arc::default(), fails_at });
            if let Err(error) = &result {
                let error = Error::Rank(format!("Rank {rank} raised: {error}"));
                self.state().failed.get_or_insert(error);
                self.changed.notify_all();
            }
            result
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let of_rank = &of_rank;
            let ranks: Vec<_> = (0..self.ranks).map(|rank| scope.spawn(move || of_rank(rank))).collect();
            ranks.into_iter().map(|rank| rank.join().expect("a rank")).collect()
        });
        let left: usize = self.state().queues.iter().map(VecDeque::len).sum();
        assert!(left == 0 || results.iter().any(Result::is_err), "{left} messages that nobody awaits");
        results
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rank<'_> {
    fn begin(&self) -> Result<(), Error> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        if self.fails_at == Some(number) {
            return Err(Error::OutOfMemory("no memory for a message".into()));
        }
        self.world.state().failed.clone().map_or(Ok(()), Err)
    }
}

impl Others for Rank<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.world.ranks
    }

    fn reach_devices(&self) -> bool {
        self.world.reach_devices
    }

    fn exchange(
        &self,
        sends: Vec<(usize, Bytes)>,
        receives: Vec<(usize, Bytes)>,
    ) -> Result<Box<dyn UnderWay + '_>, Error> {
        self.begin()?;
        let mut state = self.world.state();
        for (to, mut message) in sends {
            self.world.from_devices.fetch_add(matches!(message, Bytes::Device(_)).into(), Ordering::Relaxed);
            // SAFETY: the message has this many bytes, in ordinary memory even where it is said to lie on a device.
            let message = unsafe { std::slice::from_raw_parts(message.address(), message.len()) }.to_vec();
            assert!(to != self.rank && to < self.world.ranks);
            // A linear congruential generator; Knuth's constants.
            state.seed = state.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let late = if self.world.late { Duration::from_micros(state.seed >> 53) } else { Duration::ZERO };
            state.queues[self.rank * self.world.ranks + to].push_back((Instant::now() + late, message));
        }
        self.world.changed.notify_all();
        assert!(receives.iter().all(|(from, _)| *from != self.rank));
        let received = receives.into_iter().map(|(from, room)| (from, room, false)).collect();
        Ok(Box::new(Messages { rank: self, received }))
    }

    fn gather(&self, mine: &[u8], watch: &Watch) -> Result<Vec<Vec<u8>>, Error> {
        self.begin()?;
        let others: Vec<_> = (0..self.world.ranks).filter(|&rank| rank != self.rank).collect();
        // Lengths are sent first.
        let send = |bytes: &[u8]| others.iter().map(|&rank| (rank, bytes.to_vec().into())).collect::<Vec<_>>();
        let exchange = |bytes: &[u8], lens: Vec<(usize, usize)>| {
            self.begun.fetch_sub(1, Ordering::Relaxed);
            let rooms = lens.into_iter().map(|(rank, len)| (rank, vec![0; len].into())).collect();
            self.exchange(send(bytes), rooms)?
                .wait(watch)?
                .into_iter()
                .map(Bytes::into_host)
                .collect::<Result<Vec<_>, _>>()
        };
        let lens = exchange(&mine.len().to_le_bytes(), others.iter().map(|&rank| (rank, 8)).collect())?;
        let lens = lens.iter().map(|len| usize::from_le_bytes(len[..].try_into().expect("eight bytes")));
        let mut all = exchange(mine, others.iter().copied().zip(lens).collect())?;
        all.insert(self.rank, mine.to_vec());
        Ok(all)
    }
}

struct Messages<'r> {
    rank: &'r Rank<'r>,
    /// Sender, destination, and true once it has arrived.
    received: Vec<(usize, Bytes, bool)>,
}

impl Messages<'_> {
    /// Receives the messages that have arrived.
    fn take(&mut self, state: &mut State) -> bool {
        let now = Instant::now();
        for (from, room, is_there) in self.received.iter_mut().filter(|(.., is_there)| !is_there) {
            // All are compared with one time: a message due a moment later must not take the place of the next one.
            let queue = &mut state.queues[*from * self.rank.world.ranks + self.rank.rank];
            if queue.front().is_some_and(|(due, _)| *due <= now) {
                let (_, message) = queue.pop_front().expect("a message");
                assert_eq!(message.len(), room.len(), "from {from} to {}", self.rank.rank);
                // SAFETY: the destination has this many bytes, in ordinary memory even where it is said to lie on a
                // device.
                unsafe { room.address().copy_from_nonoverlapping(message.as_ptr(), message.len()) };
                *is_there = true;
            }
        }
        self.received.iter().all(|(.., is_there)| *is_there)
    }
}

impl UnderWay for Messages<'_> {
    fn advance(&mut self) -> Result<(), Error> {
        let mut state = self.rank.world.state();
        self.take(&mut state);
        state.failed.clone().map_or(Ok(()), Err)
    }

    fn wait(mut self: Box<Self>, watch: &Watch) -> Result<Vec<Bytes>, Error> {
        let begun = Instant::now();
        let mut state = self.rank.world.state();
        while !self.take(&mut state) {
            watch.check()?;
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            assert!(begun.elapsed() < PATIENCE, "rank {} waits in vain", self.rank.rank);
            let waited = self.rank.world.changed.wait_timeout(state, Duration::from_micros(200));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(self.received.into_iter().map(|(_, room, _)| room).collect())
    }
}
