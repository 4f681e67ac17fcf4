//! Threads that share out jobs on slots, and wait for each slot also after errors and panics.

use std::collections::VecDeque;
use std::slice::ChunksMut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::{Scope, ThreadPool};

use crate::platform::watch::Watch;
use crate::platform::workers::Workers;
use crate::stencil::Error;

/// A slot, which does one job at a time. (Tests have others, which need no device.)
pub(super) trait Worker: Send {
    /// Guard that keeps a thread ready for it.
    type Guard;

    /// Makes this thread ready to work with it, and with others like it, until the result is dropped.
    fn ready(&self) -> Result<Self::Guard, Error>;

    /// Waits for all work in flight on it.
    fn wait(&self) -> Result<(), Error>;
}

/// A slot's work on a piece, in two parts: between them the device works on it, and the thread on another slot's.
pub(crate) trait Job<L> {
    /// Submits the work.
    fn start(&mut self, slot: &mut L) -> Result<(), Error>;

    /// Waits for the work, and does the rest.
    fn finish(self: Box<Self>, slot: &mut L) -> Result<(), Error>;
}

/// Jobs of any kind, so that sharing them out is compiled once: boxing a job takes far less time than doing it.
pub(super) type Jobs<'j, L> = dyn ExactSizeIterator<Item = Box<dyn Job<L> + Send + 'j>> + Send + 'j;

/// Slots at work. Unless all of it is known to be over, dropping this waits for them, also after an error or a panic in
/// a job on any thread. Nothing is then in flight when their buffers are used again or freed.
struct Settled<'l, L: Worker> {
    slots: &'l mut [L],
    over: bool,
}

impl<L: Worker> Drop for Settled<'_, L> {
    fn drop(&mut self) {
        if !self.over {
            for slot in &*self.slots {
                // An error here has occurred before.
                let _ = slot.wait();
            }
        }
    }
}

/// Has `slots` do all jobs, each taking the next when it is done with one, by some threads of a pool, or by this one.
/// Nothing is in flight when this returns or unwinds.
fn share_out<'j, L: Worker>(
    slots: &mut [L],
    jobs: &mut Jobs<'j, L>,
    pool: Option<(&ThreadPool, usize)>,
    watch: &Watch,
) -> Result<(), Error> {
    let mut settled = Settled { slots, over: false };
    let result = match pool {
        // One thread is enough: none is woken.
        None => take_turns(settled.slots, jobs, watch),
        Some((pool, threads)) => {
            let slots_each = settled.slots.len().div_ceil(threads);
            let (slots, jobs) = (Mutex::new(settled.slots.chunks_mut(slots_each)), Mutex::new(jobs));
            let crew = Crew { slots, jobs, outcome: Mutex::new(Ok(())), watch };
            // A panic of any thread is raised here, when all of them are done.
            pool.in_place_scope(|scope| crew.work(scope));
            crew.outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
        }
    };
    // Each job has waited for its own work.
    settled.over = result.is_ok();
    result
}

/// Does jobs on `slots` in turn: while the device works on some, this thread copies for another.
fn take_turns<'j, L: Worker>(
    slots: &mut [L],
    jobs: &mut dyn Iterator<Item = Box<dyn Job<L> + Send + 'j>>,
    watch: &Watch,
) -> Result<(), Error> {
    // The jobs in flight: the oldest is the next to be finished.
    let mut under_way: VecDeque<Box<dyn Job<L> + Send + 'j>> = VecDeque::with_capacity(slots.len());
    let (count, mut next) = (slots.len(), 0);
    for mut job in jobs {
        watch.check()?;
        let slot = &mut slots[next % count];
        if under_way.len() == count {
            under_way.pop_front().expect("all slots are at work").finish(slot)?;
        }
        job.start(slot)?;
        under_way.push_back(job);
        next += 1;
    }
    let first = next - under_way.len();
    under_way.into_iter().enumerate().try_for_each(|(i, job)| job.finish(&mut slots[(first + i) % count]))
}

/// Threads that share out slots and pieces among themselves.
///
/// The calling thread begins at once, and each that has begun calls two more, as long as there is work left: waking a
/// thread takes about as long as a piece.
struct Crew<'a, 'j, 'l, L> {
    /// Slots of each thread.
    slots: Mutex<ChunksMut<'l, L>>,
    jobs: Mutex<&'a mut Jobs<'j, L>>,
    /// The first error.
    outcome: Mutex<Result<(), Error>>,
    watch: &'a Watch,
}

impl<L: Worker> Crew<'_, '_, '_, L> {
    fn work<'s>(&'s self, scope: &Scope<'s>) {
        let Some(slots) = lock(&self.slots).next() else {
            return;
        };
        for _ in 0..lock(&self.slots).len().min(lock(&self.jobs).len()).min(2) {
            scope.spawn(move |scope| self.work(scope));
        }
        let mut run = || {
            let _guard = slots.first().map(L::ready).transpose()?;
            // After an error no thread takes another job.
            let mut jobs =
                std::iter::from_fn(|| lock(&self.outcome).is_ok().then(|| lock(&self.jobs).next()).flatten());
            take_turns(slots, &mut jobs, self.watch)
        };
        if let Err(error) = run() {
            let mut outcome = lock(&self.outcome);
            if outcome.is_ok() {
                *outcome = Err(error);
            }
        }
    }
}

/// Has `slots` do all jobs as [`share_out`] does, on at most `most` threads and at most the `available` ones.
pub(super) fn share_among<'j, L: Worker>(
    slots: &mut [L],
    most: usize,
    available: usize,
    jobs: &mut Jobs<'j, L>,
    watch: &Watch,
) -> Result<(), Error> {
    // If each thread had but one job, half as many threads: waking as many again costs more than they save.
    let threads = if jobs.len() > most { most } else { most.div_ceil(2) }.min(available);
    let pool = if threads > 1 { Workers::get() } else { None };
    share_out(slots, jobs, pool.as_deref().map(|pool| (pool, threads)), watch)
}

/// Locks also after a panic elsewhere: it is raised again when all threads are done; until then the work goes on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use rayon::ThreadPoolBuilder;

    use super::*;

    /// A slot without a device: it is at work from a job's start until it is waited for.
    #[derive(Default)]
    struct FakeSlot {
        at_work: AtomicBool,
        waits: AtomicUsize,
    }

    impl Worker for FakeSlot {
        type Guard = ();

        fn ready(&self) -> Result<(), Error> {
            Ok(())
        }

        fn wait(&self) -> Result<(), Error> {
            self.at_work.store(false, Ordering::Relaxed);
            self.waits.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Trouble {
        None,
        ErrorInStart,
        PanicInStart,
        ErrorInFinish,
        PanicInFinish,
        Stop,
    }

    struct FakeJob<'a> {
        trouble: Trouble,
        watch: &'a Watch,
        finished: &'a AtomicUsize,
    }

    impl Job<FakeSlot> for FakeJob<'_> {
        fn start(&mut self, slot: &mut FakeSlot) -> Result<(), Error> {
            assert!(!slot.at_work.swap(true, Ordering::Relaxed), "a slot does one job at a time");
            match self.trouble {
                Trouble::ErrorInStart => return Err(Error::Cuda("start".into())),
                Trouble::PanicInStart => panic!("in start"),
                Trouble::Stop => self.watch.stop(),
                _ => {}
            }
            Ok(())
        }

        fn finish(self: Box<Self>, slot: &mut FakeSlot) -> Result<(), Error> {
            match self.trouble {
                Trouble::ErrorInFinish => return Err(Error::Cuda("finish".into())),
                Trouble::PanicInFinish => panic!("in finish"),
                _ => {}
            }
            self.finished.fetch_add(1, Ordering::Relaxed);
            slot.wait()
        }
    }

    /// A job may fail in any way on any thread: nothing is in flight afterwards; and each slot is waited for only once
    /// if nothing fails.
    #[test]
    fn slots_are_waited_for_whatever_way_jobs_end() {
        use Trouble::{ErrorInFinish, ErrorInStart, None, PanicInFinish, PanicInStart, Stop};
        const JOBS: usize = 9;
        let pool = ThreadPoolBuilder::new().num_threads(3).panic_handler(|_| {}).build().unwrap();
        for trouble in [None, ErrorInStart, PanicInStart, ErrorInFinish, PanicInFinish, Stop] {
            for at in 0..JOBS {
                for (count, threads) in [(1, 1), (2, 1), (4, 1), (2, 2), (4, 2), (5, 3), (JOBS, 3)] {
                    let what = format!("{trouble:?} in job {at} of {count} slots, {threads} threads");
                    let mut slots: Vec<FakeSlot> = (0..count).map(|_| FakeSlot::default()).collect();
                    let (watch, finished) = (Watch::new(), AtomicUsize::new(0));
                    let job = |number| FakeJob {
                        trouble: if number == at { trouble } else { None },
                        watch: &watch,
                        finished: &finished,
                    };
                    let team = (threads > 1).then_some((&pool, threads));
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        share_out(&mut slots, &mut (0..JOBS).map(|number| Box::new(job(number)) as _), team, &watch)
                    }));
                    match trouble {
                        None => assert!(matches!(outcome, Ok(Ok(()))), "{what}"),
                        ErrorInStart | ErrorInFinish => assert!(matches!(outcome, Ok(Err(Error::Cuda(_)))), "{what}"),
                        PanicInStart | PanicInFinish => assert!(outcome.is_err(), "{what}"),
                        // There may have been no work left to stop.
                        Stop => assert!(matches!(outcome, Ok(Ok(()) | Err(Error::Interrupted))), "{what}"),
                    }
                    assert!(!slots.iter().any(|slot| slot.at_work.load(Ordering::Relaxed)), "{what}");
                    if trouble == None {
                        let waits: usize = slots.iter().map(|slot| slot.waits.load(Ordering::Relaxed)).sum();
                        assert_eq!((finished.load(Ordering::Relaxed), waits), (JOBS, JOBS), "{what}");
                    }
                }
            }
        }
    }
}
