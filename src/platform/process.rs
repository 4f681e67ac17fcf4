//! State that is not inherited by a fork.
//!
//! # Rationale
//! A forked process has the memory of its parent and one thread of it. Threads, locks that another thread held, and all
//! objects of the CUDA driver are unusable there, and cannot even be released: joining a thread, taking such a lock, or
//! calling the driver may block for ever. So a forked process begins with a state of its own, and the inherited one is
//! never accessed and never dropped.

use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Identifier of this process. The system is queried once, and again after a fork: that takes longer than much of a
/// small call.
pub(crate) fn id() -> u32 {
    /// 0 if unknown.
    static ID: AtomicU32 = AtomicU32::new(0);
    static FORKS_ARE_NOTICED: Once = Once::new();
    extern "C" fn in_the_child() {
        ID.store(0, Ordering::Relaxed);
    }
    match ID.load(Ordering::Relaxed) {
        0 => {
            let mut noticed = true;
            FORKS_ARE_NOTICED.call_once(|| {
                // SAFETY: the function is never unloaded, and does nothing that a fork forbids.
                noticed = unsafe { libc::pthread_atfork(None, None, Some(in_the_child)) } == 0;
            });
            let id = std::process::id();
            if noticed {
                ID.store(id, Ordering::Relaxed);
            }
            id
        }
        id => id,
    }
}

/// A `T` for each process, initially its default.
pub(crate) struct PerProcess<T: 'static> {
    current: AtomicPtr<Owned<T>>,
}

struct Owned<T> {
    process: u32,
    state: T,
}

impl<T: Default + Send + Sync> PerProcess<T> {
    pub(crate) const fn new() -> PerProcess<T> {
        PerProcess { current: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the state of this process.
    pub(crate) fn get(&self) -> &'static T {
        self.of(id())
    }

    /// Returns the state of the process with this identifier, which is the running one.
    fn of(&self, process: u32) -> &'static T {
        loop {
            let found = self.current.load(Ordering::Acquire);
            // SAFETY: null, or from the box below; a published state is never freed.
            if let Some(owned) = unsafe { found.as_ref() }.filter(|owned| owned.process == process) {
                return &owned.state;
            }
            let fresh = Box::into_raw(Box::new(Owned { process, state: T::default() }));
            if self.current.compare_exchange(found, fresh, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                // SAFETY: as above.
                return unsafe { &(*fresh).state };
            }
            // Another thread was first.
            // SAFETY: from `into_raw`, and never published.
            drop(unsafe { Box::from_raw(fresh) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, TryLockError};

    use super::*;

    #[test]
    fn a_fork_is_another_process() {
        assert_eq!((id(), id()), (std::process::id(), std::process::id()));
        // SAFETY: the child only queries its identifier and exits.
        match unsafe { libc::fork() } {
            // SAFETY: as above.
            0 => unsafe { libc::_exit(i32::from(id() != std::process::id())) },
            child => {
                let mut ended = -1;
                // SAFETY: the address is that of an int.
                assert_eq!(unsafe { libc::waitpid(child, &mut ended, 0) }, child);
                assert_eq!(ended, 0);
            }
        }
    }

    #[test]
    fn a_process_keeps_its_state() {
        static STATE: PerProcess<Mutex<Vec<i32>>> = PerProcess::new();
        STATE.get().lock().unwrap().push(1);
        std::thread::scope(|scope| {
            scope.spawn(|| STATE.get().lock().unwrap().push(2));
        });
        assert_eq!(*STATE.get().lock().unwrap(), [1, 2]);
    }

    /// The inherited state is not dropped, and a lock that was held at the fork does not matter.
    #[test]
    fn a_forked_process_begins_anew() {
        struct Inherited(i32);
        impl Drop for Inherited {
            fn drop(&mut self) {
                panic!("{} was dropped", self.0);
            }
        }
        static STATE: PerProcess<Mutex<Vec<Inherited>>> = PerProcess::new();
        STATE.of(1).lock().unwrap().push(Inherited(1));
        let held = STATE.of(1).lock().unwrap();
        assert!(matches!(STATE.of(1).try_lock(), Err(TryLockError::WouldBlock)));
        let child = STATE.of(2).try_lock().expect("a lock of its own");
        assert_eq!((child.len(), held.len()), (0, 1));
    }
}
