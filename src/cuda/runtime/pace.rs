//! Size of the batches in which work is submitted, so that a run can be stopped between them.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of slots, enough to keep 16 threads busy; fewer threads have two each, so that a thread copies for
/// one while the device works on the other. (10^8 doubles, 11 taps, on an H200's host: 133 ms with 2 threads and 2
/// slots, 128 with 4 slots; 78 and 66 with 4 threads; 29 with 16 of each, 32 with 32 slots.)
pub(crate) const MAX_SLOTS: usize = 16;

/// Time that a batch is to take the device.
const BATCH: Duration = Duration::from_millis(20);

/// Time of the first batch of a run on the slowest of devices. The second may have [`GROWTH`] times as much work: that,
/// too, is over within a tenth of a second there, even if nothing was learnt from the first.
const FIRST: Duration = Duration::from_millis(10);

/// Maximum growth from one batch to the next: a fast device then has few small batches.
pub(crate) const GROWTH: usize = 8;

/// Maximum number of launches in a batch, however short they seem: about as many as a stream takes without blocking its
/// caller.
const MAX_BATCH: usize = 1000;

/// Multiply-adds in a unit of work.
pub(crate) const UNIT: usize = 1000;

/// Time of a unit on the slowest of devices: a small card of Pascal's time has 256 cores at 1.25 GHz, and computes one
/// double in the time of 32 singles.
const SLOWEST: Duration = Duration::from_nanos(100);

/// Size of a batch, learnt from the batches that are over, in units of work, however they are launched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    batch: usize,
}

impl Pace {
    /// Starts with this time of a unit of work, on the slowest of devices.
    pub(crate) fn of_units(slowest: Duration) -> Pace {
        Pace { batch: share(FIRST, 1, slowest) }
    }

    pub(crate) fn batch(self) -> usize {
        self.batch
    }

    /// Learns that `done` units took `time`. The next batch is no more than [`GROWTH`] times `done`: a first launch may
    /// have been quick by chance. And it does not grow after much less than a batch.
    pub(crate) fn took(&mut self, done: usize, time: Duration) {
        let done = done.max(1);
        let most = done.saturating_mul(GROWTH).max(self.batch);
        self.batch = share(BATCH, done, time).min(most);
    }
}

/// A pace that several slots share, and that calls hand on to each other.
#[derive(Debug, Clone)]
pub(crate) struct SharedPace(Arc<Mutex<Pace>>);

impl SharedPace {
    /// Returns a pace in [`UNIT`]s for one tile at a time on a device of unknown speed. It begins with a quarter of the
    /// work that the slowest device does in time: the loss occurs once, since calls hand on what they learn.
    pub(crate) fn alone() -> SharedPace {
        SharedPace::of_units(SLOWEST * 4)
    }

    /// Returns a pace in [`UNIT`]s for a tile in one of several slots: the work that all of them have in flight must be
    /// over in time. They also learn while all are at work.
    pub(crate) fn shared() -> SharedPace {
        SharedPace::of_units(SLOWEST * MAX_SLOTS as u32)
    }

    fn of_units(slowest: Duration) -> SharedPace {
        SharedPace(Arc::new(Mutex::new(Pace::of_units(slowest))))
    }

    pub(crate) fn batch(&self) -> usize {
        self.get().batch()
    }

    /// Learns as [`Pace::took`] does.
    pub(crate) fn took(&self, done: usize, time: Duration) {
        self.get().took(done, time);
    }

    fn get(&self) -> MutexGuard<'_, Pace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the number of units, at least one, that take `span` if `done` of them took `time`.
fn share(span: Duration, done: usize, time: Duration) -> usize {
    let share = span.as_nanos() * done as u128 / time.as_nanos().max(1);
    usize::try_from(share).unwrap_or(usize::MAX).max(1)
}

/// Returns the size of the next piece of `whole`, at most `most`, such that all pieces are about as large.
pub(crate) fn evenly(whole: usize, most: usize) -> usize {
    whole.div_ceil(whole.div_ceil(most).max(1))
}

/// Schedule of sweeps over an array, each of some units of work. A launch has a part of a sweep, or one or more whole
/// ones; none begins before the sweep ahead of it was submitted completely.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    /// Units of a sweep.
    units: usize,
    /// Sweeps that are not submitted completely.
    sweeps: usize,
    /// First unit of the present sweep that is not submitted.
    at: usize,
    /// Maximum number of whole sweeps in a launch.
    fused: usize,
}

/// Work that is submitted before the next wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    /// A launch for these units of the present sweep.
    pub(crate) part: Option<Range<usize>>,
    /// Number of whole sweeps after it.
    pub(crate) sweeps: usize,
}

impl Schedule {
    pub(crate) fn new(sweeps: usize, units: usize, fused: usize) -> Schedule {
        Schedule { units, sweeps: if units == 0 { 0 } else { sweeps }, at: 0, fused }
    }

    /// True if everything was submitted.
    pub(crate) fn is_over(&self) -> bool {
        self.sweeps == 0
    }

    /// Returns the next batch, at most `most` units of work, but at least one: whole sweeps where they fit, else one
    /// launch.
    pub(crate) fn batch(&mut self, most: usize) -> Batch {
        let Schedule { units, sweeps, at, fused } = *self;
        let left = units - at;
        // The rest of a sweep that was begun, or a part of one; and whole sweeps after it.
        let part = if at == 0 && left <= most { 0 } else { evenly(left, most) };
        let ended = usize::from(part == left);
        let whole = if part == 0 || part == left { (most - part) / units } else { 0 };
        let whole = whole.min((MAX_BATCH - ended).saturating_mul(fused)).min(sweeps - ended);
        self.sweeps -= ended + whole;
        self.at = if part == 0 || part == left { 0 } else { at + part };
        Batch { part: (part > 0).then_some(at..at + part), sweeps: whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_and_shrink_with_what_units_take() {
        assert_eq!(Pace::of_units(Duration::from_secs(1)).batch(), 1);
        assert_eq!(Pace::of_units(Duration::from_micros(2500)).batch(), 4);
        let mut pace = Pace::of_units(Duration::from_secs(1));
        let mut batches = Vec::new();
        for _ in 0..6 {
            batches.push(pace.batch());
            pace.took(pace.batch(), pace.batch() as u32 * Duration::from_millis(1));
        }
        assert_eq!(batches, [1, 8, 20, 20, 20, 20]);
        pace.took(20, Duration::from_secs(1));
        assert_eq!(pace.batch(), 1);
        let mut quick = Pace::of_units(Duration::ZERO);
        quick.took(1000, Duration::ZERO);
        assert!(quick.batch() >= 2000);
    }

    #[test]
    fn what_was_less_than_asked_for_does_not_let_a_batch_grow_further() {
        let mut pace = Pace::of_units(Duration::from_micros(250));
        assert_eq!(pace.batch(), 40);
        // Several slots get the batch at once, and report one after the other.
        for _ in 0..3 {
            pace.took(39, Duration::from_micros(1));
            assert_eq!(pace.batch(), 8 * 39);
        }
        pace.took(1, Duration::from_millis(2));
        assert_eq!(pace.batch(), 10, "but it shrinks");
    }

    #[test]
    fn pieces_are_about_as_large_each() {
        assert_eq!((evenly(65, 64), evenly(64, 64), evenly(1, 64), evenly(1000, 64)), (33, 64, 1, 63));
    }

    /// Simulates a run on a device that does `speed` units a second and takes `LAUNCH` for each launch; it is waited
    /// for after each batch. Returns the seconds of each batch and its launches. If `first` is given, the pace learns
    /// it as the time of the first batch.
    fn simulate(sweeps: usize, units: usize, slowest: f64, speed: f64, first: Option<Duration>) -> Vec<(f64, usize)> {
        const LAUNCH: f64 = 3e-6;
        let mut pace = Pace::of_units(Duration::from_secs_f64(1.0 / slowest));
        let mut schedule = Schedule::new(sweeps, units, 1);
        let (mut batches, mut next) = (Vec::new(), (0, 0));
        while !schedule.is_over() {
            let most = pace.batch();
            let batch = schedule.batch(most);
            let launches: Vec<_> = batch.part.into_iter().chain(std::iter::repeat_n(0..units, batch.sweeps)).collect();
            let done: usize = launches.iter().map(Range::len).sum();
            assert!(done >= 1 && (done <= most) && launches.len() <= MAX_BATCH);
            for launch in &launches {
                assert!(launch.end <= units && (next.0, launch.start) == next, "{launch:?} where {next:?} is next");
                next = if launch.end == units { (next.0 + 1, 0) } else { (next.0, launch.end) };
            }
            let seconds = done as f64 / speed + launches.len() as f64 * LAUNCH;
            let told = Duration::from_secs_f64(seconds);
            pace.took(done, first.filter(|_| batches.is_empty()).unwrap_or(told));
            batches.push((seconds, launches.len()));
        }
        assert_eq!(next, (sweeps, 0), "every unit of every sweep");
        batches
    }

    #[test]
    fn no_batch_takes_a_tenth_of_a_second_on_the_slowest_of_devices() {
        for (sweeps, units) in [(1, 1), (1, 1_000_000), (7, 12_345), (1000, 100), (100_000, 3)] {
            let slowest = 1e4;
            for first in [None, Some(Duration::ZERO), Some(Duration::from_secs(1))] {
                let batches = simulate(sweeps, units, slowest, slowest, first);
                assert!(
                    batches.iter().all(|(seconds, _)| *seconds < 0.09),
                    "{sweeps} x {units}, {first:?}: {batches:?}"
                );
                assert!(batches[0].0 < 0.05);
            }
            // A device that has slowed down after a while, and one in between.
            for factor in [1.5, 10.0, 300.0] {
                assert!(
                    simulate(sweeps, units, slowest, factor * slowest, None).iter().all(|(seconds, _)| *seconds < 0.05)
                );
            }
        }
    }

    /// The device is a thousand times as fast as the slowest one: learning its pace must cost next to nothing.
    #[test]
    fn a_fast_device_is_kept_busy() {
        let (slowest, fast) = (1e6, 1e9);
        for (sweeps, units) in [(1000, 1_000_000), (10, 100_000_000), (100_000, 10_000)] {
            let batches = simulate(sweeps, units, slowest, fast, None);
            let all: f64 = batches.iter().map(|(seconds, _)| seconds).sum();
            // The wait for a batch costs some 20 us.
            let waits = batches.len() as f64 * 20e-6;
            assert!(batches[0].0 < 0.01 * all && waits < 0.01 * all, "{} batches, {all} s", batches.len());
            let launches: usize = batches.iter().map(|(_, launches)| launches).sum();
            let needed = sweeps.max((all / 0.020) as usize);
            assert!(launches <= 2 * needed + 20, "{launches} launches for {sweeps} sweeps in {all} s");
        }
    }

    #[test]
    fn launches_of_several_sweeps_are_counted_as_one() {
        let mut schedule = Schedule::new(1_000_000, 1, 128);
        assert_eq!(schedule.batch(1 << 40), Batch { part: None, sweeps: 128 * MAX_BATCH });
        assert_eq!(schedule.batch(500), Batch { part: None, sweeps: 500 });
        assert_eq!(Schedule::new(7, 10, 128).batch(25), Batch { part: None, sweeps: 2 });
    }

    #[test]
    fn a_run_that_is_short_on_any_device_is_one_batch() {
        assert_eq!(simulate(10, 1000, 1e6, 1e9, None).len(), 1);
        assert_eq!(simulate(11, 1000, 1e6, 1e9, None).len(), 2);
        assert_eq!(simulate(1, 10_000, 1e6, 1e6, None).len(), 1);
        assert!(Schedule::new(5, 0, 1).is_over() && Schedule::new(0, 5, 1).is_over());
    }
}
