//! Calls under way, and calls inside them.
//!
//! # Rationale
//! During a long run on another thread the host may run callbacks of timers and figures on its own. They may call our
//! functions, and clear them. So
//! - a call inside another gets threads of its own: those of the outer call may be busy for hours, and the thread that
//!   would wait for them is the one that asks if the user has pressed Ctrl-C;
//! - a request to release the engines waits until the last call under way ends.

use std::cell::Cell;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::platform::process::PerProcess;
use crate::platform::workers::Workers;

static CALLS: Calls = Calls { counts: PerProcess::new(), release_engines: crate::gateway::release_engines };

struct Calls {
    counts: PerProcess<Mutex<Counts>>,
    /// Releases all that calls have left for the next ones.
    release_engines: fn(),
}

#[derive(Debug, Default)]
struct Counts {
    under_way: usize,
    /// True if the last call has to release at its end.
    release: bool,
}

/// A call, from before its output is made until its work is done.
pub(crate) struct UnderWay {
    calls: &'static Calls,
    counts: &'static Mutex<Counts>,
    nested: bool,
}

pub(crate) fn begin() -> UnderWay {
    CALLS.begin()
}

/// Reads the second part of a call whose first part has begun, so that it does not count as a call inside another.
pub(crate) fn second_part<T>(read: impl FnOnce() -> T) -> T {
    OWN.set(2);
    let read = read();
    OWN.set(1);
    read
}

thread_local! {
    /// Number of parts of this thread's call, including the one that begins next.
    static OWN: Cell<usize> = const { Cell::new(1) };
}

/// Returns true if a call is under way.
pub(crate) fn any() -> bool {
    lock(CALLS.counts.get()).under_way > 0
}

/// Releases all that is held between calls, once no call is under way.
pub(crate) fn release() {
    CALLS.release();
}

impl Calls {
    fn begin(&'static self) -> UnderWay {
        let counts = self.counts.get();
        let mut counted = lock(counts);
        counted.under_way += 1;
        UnderWay { calls: self, counts, nested: counted.under_way > OWN.get() }
    }

    fn release(&self) {
        {
            let mut counts = lock(self.counts.get());
            counts.release = counts.under_way > 0;
            if counts.release {
                return;
            }
        }
        (self.release_engines)();
    }
}

impl UnderWay {
    /// Returns true if the call is inside another.
    pub(crate) fn is_nested(&self) -> bool {
        self.nested
    }

    /// Does the work of the call, or a part of it.
    pub(crate) fn work<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.nested { Workers::apart(work) } else { work() }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if !ptr::eq(self.counts, self.calls.counts.get()) {
            // This is a forked process with a call of its parent's: neither the count nor the held state is its own.
            return;
        }
        let mut counts = lock(self.counts);
        counts.under_way -= 1;
        if counts.under_way == 0 && std::mem::take(&mut counts.release) {
            drop(counts);
            (self.calls.release_engines)();
        }
    }
}

fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn engines_are_released_when_no_call_is_left() {
        static RELEASED: AtomicUsize = AtomicUsize::new(0);
        fn release_engines() {
            RELEASED.fetch_add(1, Ordering::Relaxed);
        }
        static CALLS: Calls = Calls { counts: PerProcess::new(), release_engines };
        let released = || RELEASED.load(Ordering::Relaxed);
        CALLS.release();
        assert_eq!(released(), 1, "at once");
        let outer = CALLS.begin();
        let inner = CALLS.begin();
        CALLS.release();
        CALLS.release();
        drop(inner);
        drop(CALLS.begin());
        assert_eq!(released(), 1, "a call is still under way");
        // Also on a thread other than the one that began the call.
        std::thread::spawn(move || drop(outer)).join().unwrap();
        assert_eq!(released(), 2);
        drop(CALLS.begin());
        assert_eq!(released(), 2, "asked for once");
    }

    #[test]
    fn a_call_inside_another_has_threads_of_its_own() {
        static CALLS: Calls = Calls { counts: PerProcess::new(), release_engines: || {} };
        let pool = || std::ptr::from_ref(&*Workers::get().unwrap()).addr();
        let outer = CALLS.begin();
        let shared = outer.work(pool);
        let inner = CALLS.begin();
        assert_ne!(inner.work(pool), shared);
        assert_eq!(outer.work(pool), shared);
        drop(inner);
        let second = second_part(|| CALLS.begin());
        assert_eq!(second.work(pool), shared, "a part of the same call");
        drop((outer, second));
        assert_eq!(CALLS.begin().work(pool), shared);
    }
}
