//! Work in tasks: on all threads if it is worth it, counted, and interruptible between steps.

use std::sync::{Mutex, PoisonError};

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::platform::watch::{Stopped, Watch};
use crate::platform::workers::Workers;
use crate::stencil::Error;

/// Work, in multiply-adds, that is worth waking a thread for: about 20 microseconds of one core.
const WORK_PER_THREAD: usize = 1 << 18;

/// Maximum number of outputs in one step. Input and output of a step stay in the second-level cache; and on a machine
/// without an instruction for the multiply-add, where one takes up to 50 ns, 21 taps take 35 ms.
pub(super) const STEP: usize = 1 << 15;

/// Number of updates that a thread accumulates before it adds them to the shared count.
const COUNTED_AT_ONCE: usize = 1 << 16;

/// Number of threads that are worth waking for `work` multiply-adds; 1 at least.
pub(super) fn threads(work: usize) -> usize {
    Workers::count().min(work / WORK_PER_THREAD).max(1)
}

/// Progress of a thread, and its check for a stop.
pub(super) struct Progress<'a> {
    watch: &'a Watch,
    uncounted: usize,
}

impl Progress<'_> {
    pub(super) fn new(watch: &Watch) -> Progress<'_> {
        Progress { watch, uncounted: 0 }
    }

    /// Reports a completed step of `updates` updates.
    pub(super) fn step(&mut self, updates: usize) -> Result<(), Stopped> {
        self.uncounted += updates;
        if self.uncounted >= COUNTED_AT_ONCE {
            self.count();
        }
        self.watch.check()
    }

    fn count(&mut self) {
        self.watch.count(std::mem::take(&mut self.uncounted));
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.count();
    }
}

/// Runs `tasks` tasks on `threads` threads. Each thread has its own scratch; at least `at_once` neighbouring tasks go
/// to the same thread.
///
/// # Errors
/// The first error of a task; tasks that have not begun are skipped.
pub(super) fn run<B: Default + Send>(
    tasks: usize,
    threads: usize,
    at_once: usize,
    watch: &Watch,
    task: impl Fn(usize, &mut B, &mut Progress) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    run_each(tasks, threads, at_once, watch, &task)
}

/// A task, which gets its number and the scratch of its thread.
type Task<'t, B> = &'t (dyn Fn(usize, &mut B, &mut Progress) -> Result<(), Error> + Sync);

/// Does [`run`], compiled once a kind of scratch: rayon's code for a loop is large, and a task takes far longer than a
/// call through a pointer.
fn run_each<B: Default + Send>(
    tasks: usize,
    threads: usize,
    at_once: usize,
    watch: &Watch,
    task: Task<B>,
) -> Result<(), Error> {
    let pool = if threads.min(tasks) > 1 { Workers::get() } else { None };
    let Some(pool) = pool else {
        let (mut scratch, mut progress) = (B::default(), Progress::new(watch));
        return (0..tasks).try_for_each(|number| task(number, &mut scratch, &mut progress));
    };
    // Never contended: a thread locks only its own, and releases it before its next task.
    let of_threads: Vec<_> =
        (0..pool.current_num_threads()).map(|_| Mutex::new((B::default(), Progress::new(watch)))).collect();
    each(&pool, tasks, at_once, &|number| {
        let own = &of_threads[rayon::current_thread_index().unwrap_or(0)];
        let (scratch, progress) = &mut *own.lock().unwrap_or_else(PoisonError::into_inner);
        task(number, scratch, progress)
    })
}

/// Runs `task` for each number: compiled once in the library.
fn each(
    pool: &ThreadPool,
    tasks: usize,
    at_once: usize,
    task: &(dyn Fn(usize) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    pool.install(|| (0..tasks).into_par_iter().with_min_len(at_once).try_for_each(task))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_and_none_after_a_stop() {
        for threads in [1, 4] {
            let (watch, seen) = (Watch::new(), Mutex::new(vec![0; 1000]));
            let run_all = || {
                run(1000, threads, 3, &watch, |number, _: &mut (), progress| {
                    seen.lock().unwrap()[number] += 1;
                    Ok(progress.step(2)?)
                })
            };
            assert_eq!(run_all(), Ok(()));
            assert_eq!((seen.lock().unwrap().iter().all(|&times| times == 1), watch.done()), (true, 2000));
            watch.stop();
            assert_eq!(run_all(), Err(Error::Interrupted));
            // Each thread notices after its first task.
            assert!(seen.lock().unwrap().iter().sum::<i32>() <= 1000 + Workers::count() as i32);
        }
    }
}
