//! A run that can be watched and stopped from another thread.
//!
//! # Rationale
//! Who waits for a long run, the host's own thread, wants to tell how far it is, and to end it when the user has had
//! enough. The engines know no host; so they are handed this, count their work in it between two steps, and end early
//! where they are told to. A step is to take less than a tenth of a second, whatever the machine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// That a run was asked to end before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// What was counted up to some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(u64);

/// What an engine has done of a run, and whether it is to go on.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    done: AtomicU64,
}

impl Watch {
    /// Of a run that has not begun.
    pub fn new() -> Watch {
        Watch::default()
    }

    /// Counts `updates` more as done: computed elements, each as often as there are sweeps. Of work that is done twice,
    /// the second time is not counted.
    pub fn count(&self, updates: usize) {
        self.done.fetch_add(updates as u64, Ordering::Relaxed);
    }

    /// The updates that were counted.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Where the count stands, to [rewind](Watch::rewind) to.
    pub fn mark(&self) -> Mark {
        Mark(self.done())
    }

    /// Takes back what was counted since `mark` of this watch was made: work that will be done again. Nobody else may
    /// be counting meanwhile.
    pub fn rewind(&self, mark: Mark) {
        self.done.store(mark.0, Ordering::Relaxed);
    }

    /// Asks the run to end at its next step.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// To be asked before each step.
    ///
    /// # Errors
    /// [`Stopped`] when the run is to end.
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

    /// An attempt that fails half way leaves nothing in the count, and the next one ends at 100%.
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
