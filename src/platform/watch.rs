//! A run that can be watched and stopped from another thread.
//!
//! # Rationale
//! The host's own thread, which waits for a long run, shows its progress, and ends it when the user has pressed Ctrl-C.
//! Engines do not depend on the host; so they get this, count their work in it between two steps, and end early on
//! request. A step should take less than a tenth of a second, on any machine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The run was requested to stop before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Count at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(u64);

/// Progress of an engine in a run, and the request to stop.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    done: AtomicU64,
}

impl Watch {
    /// Makes a watch for a new run.
    pub fn new() -> Watch {
        Watch::default()
    }

    /// Adds `updates` to the count: computed elements, times the sweeps. Work that is repeated is counted once.
    pub fn count(&self, updates: usize) {
        self.done.fetch_add(updates as u64, Ordering::Relaxed);
    }

    /// Number of updates that were counted.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Returns the present count, to [rewind](Watch::rewind) to.
    pub fn mark(&self) -> Mark {
        Mark(self.done())
    }

    /// Resets the count to `mark` of this watch, for work that will be repeated. No other thread may count meanwhile.
    pub fn rewind(&self, mark: Mark) {
        self.done.store(mark.0, Ordering::Relaxed);
    }

    /// Requests the run to end at its next step.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True if a stop was requested.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Must be called before each step.
    ///
    /// # Errors
    /// [`Stopped`] if the run should end.
    pub fn check(&self) -> Result<(), Stopped> {
        if self.is_stopped() { Err(Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_and_stops() {
        let watch = Watch::new();
        watch.count(3);
        watch.count(4);
        assert_eq!((watch.done(), watch.check()), (7, Ok(())));
        watch.stop();
        assert_eq!(watch.check(), Err(Stopped));
    }

    /// An attempt that fails half way leaves the count unchanged, and the next one ends at 100%.
    #[test]
    fn a_second_attempt_does_not_count_twice() {
        let watch = Watch::new();
        watch.count(100);
        let mark = watch.mark();
        for updates in [[30, 20], [40, 60]] {
            watch.rewind(mark);
            assert_eq!(watch.done(), 100);
            updates.into_iter().for_each(|updates| watch.count(updates));
        }
        assert_eq!(watch.done(), 200);
        watch.stop();
        watch.rewind(mark);
        assert_eq!((watch.done(), watch.check()), (100, Err(Stopped)), "what was stopped stays so");
    }
}
