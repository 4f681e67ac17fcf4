//! Threads of this library, shared by both engines.
//!
//! # Rationale
//! A pool of its own, not rayon's global one: the host may load other libraries with rayon inside, and ours must end,
//! threads and all, when the host clears the function. Dropping a pool tells its threads to end and does not wait for
//! them; so their handles are kept and joined.
//!
//! No call waits for a pool in use by another: a pool that is released, or replaced by one of another size, is ended by
//! its last user.
//!
//! # Limitations
//! Threads do not survive a fork: a forked process leaves the inherited pool alone and starts one of its own.

use std::cell::RefCell;
use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::platform::memory;
use crate::platform::process::PerProcess;

/// The current pool, if there is one.
type Kept = Option<Arc<Workers>>;

/// The pool of this process.
static WORKERS: PerProcess<Mutex<Kept>> = PerProcess::new();

/// Maximum number of threads; 0 for no limit.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Separate pool of a call on this thread, made when first needed.
    static APART: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// A pool and the handles of its threads, which are ended and joined when this is dropped.
pub struct Workers {
    pool: Option<ThreadPool>,
    handles: Vec<JoinHandle<()>>,
    /// Process that owns the threads.
    process: u32,
}

/// The pool, kept alive while in use.
pub struct Pool(Arc<Workers>);

impl Deref for Pool {
    type Target = ThreadPool;

    fn deref(&self) -> &ThreadPool {
        self.0.pool.as_ref().expect("it is there until it is dropped")
    }
}

impl Workers {
    /// Sets the maximum number of threads of the pool; `None` for the number of processors.
    pub fn limit(threads: Option<usize>) {
        LIMIT.store(threads.unwrap_or(0), Ordering::Relaxed);
    }

    /// Number of threads of the pool, present or future: the processors this process may use, or the limit if that is
    /// less.
    pub fn count() -> usize {
        // Queried once: the query takes longer than a small call.
        static AVAILABLE: OnceLock<usize> = OnceLock::new();
        let available = *AVAILABLE.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        match LIMIT.load(Ordering::Relaxed) {
            0 => available,
            limit => limit.min(available),
        }
    }

    /// Returns the pool, made if it does not exist, and replaced if its size must change. `None` if the system refuses
    /// more threads, or has no memory for them: the caller then does the work itself.
    ///
    /// Several threads may use it at the same time; none is served before tasks of others that have begun.
    pub fn get() -> Option<Pool> {
        let count = Workers::count();
        let apart = APART.with_borrow_mut(|apart| apart.as_mut().map(|kept| Workers::of_size(kept, count)));
        apart.unwrap_or_else(|| Workers::of_size(&mut lock(), count))
    }

    /// Does `work` with a separate pool on this thread, ended afterwards. It never waits for the tasks of others, which
    /// may take hours.
    pub fn apart<T>(work: impl FnOnce() -> T) -> T {
        /// Restores the former state, even after a panic.
        struct Before(Option<Kept>);
        impl Drop for Before {
            fn drop(&mut self) {
                // Taken out of the cell first: ending a pool takes a while.
                let own = APART.replace(self.0.take());
                drop(own);
            }
        }
        let _before = Before(APART.replace(Some(None)));
        work()
    }

    /// True if this thread is in such `work`: then threads that it starts for it should be, too.
    pub fn is_apart() -> bool {
        APART.with_borrow(Option::is_some)
    }

    /// Ends the pool and waits for its threads, unless it is in use: then its last user ends it. A later request gets
    /// another pool.
    pub fn release() {
        let kept = lock().take();
        drop(kept);
    }

    fn of_size(kept: &mut Kept, count: usize) -> Option<Pool> {
        if kept.as_ref().is_none_or(|workers| workers.handles.len() != count) {
            *kept = None;
            *kept = Some(Arc::new(Workers::start(count)?));
        }
        kept.clone().map(Pool)
    }

    fn start(count: usize) -> Option<Workers> {
        // Memory for the pool itself.
        memory::spare(count * memory::THREAD).ok()?;
        let mut handles = Vec::with_capacity(count);
        let pool = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|number| format!("stencil-{number}"))
            .spawn_handler(|thread| {
                // Includes the earlier threads, which may still need a little more.
                let room = memory::check().and_then(|()| memory::spare(memory::STACK + count * memory::THREAD));
                room.map_err(|_| io::ErrorKind::OutOfMemory)?;
                let name = thread.name().unwrap_or("stencil").to_owned();
                let begun = Arc::new(Barrier::new(2));
                let begins = begun.clone();
                let start = move || {
                    begins.wait();
                    thread.run();
                };
                handles.push(std::thread::Builder::new().name(name).stack_size(memory::STACK).spawn(start)?);
                // One after the other: the C library may take all memory for a thread's heap, and the check for the
                // next one comes only then.
                begun.wait();
                Ok(())
            })
            .build();
        let workers = Workers { pool: pool.ok(), handles, process: crate::platform::process::id() };
        // If not all have started, those that did end by themselves, and are joined here. In a complete pool each
        // thread does a task, and then has all the memory that it needs.
        workers.pool.as_ref()?.broadcast(|_| ());
        Some(workers)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let (pool, handles) = (self.pool.take(), std::mem::take(&mut self.handles));
        if self.process != crate::platform::process::id() {
            // Inherited by a fork, without the threads: ending it would wait for them for ever.
            std::mem::forget((pool, handles));
            return;
        }
        drop(pool);
        for handle in handles {
            // A worker that panicked has reported to its caller.
            let _ = handle.join();
        }
    }
}

fn lock() -> MutexGuard<'static, Kept> {
    WORKERS.get().lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the threads that have ended, by a value that they drop then.
    #[derive(Clone, Default)]
    struct Ended(Arc<AtomicUsize>);

    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Ended {
        /// Watches all threads of `pool`.
        fn watch(&self, pool: &ThreadPool) {
            thread_local!(static MARK: RefCell<Option<Ended>> = const { RefCell::new(None) });
            pool.broadcast(|_| MARK.set(Some(Ended(self.0.clone()))));
        }

        fn count(&self) -> usize {
            self.0.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn a_pool_ends_with_its_threads_and_can_be_made_again() {
        for _ in 0..3 {
            let (workers, ended) = (Workers::start(3).unwrap(), Ended::default());
            assert_eq!(workers.pool.as_ref().unwrap().install(rayon::current_num_threads), 3);
            ended.watch(workers.pool.as_ref().unwrap());
            drop(workers);
            assert_eq!(ended.count(), 3);
        }
    }

    #[test]
    fn a_pool_in_use_is_ended_by_its_last_user() {
        for replaced in [true, false] {
            let (mut kept, ended) = (None, Ended::default());
            let (first, second) = (Workers::of_size(&mut kept, 2).unwrap(), Workers::of_size(&mut kept, 2).unwrap());
            assert!(Arc::ptr_eq(&first.0, &second.0));
            ended.watch(&first);
            let other = if replaced { Workers::of_size(&mut kept, 3) } else { kept.take().map(Pool) };
            assert_eq!(other.unwrap().current_num_threads(), if replaced { 3 } else { 2 });
            drop(first);
            assert_eq!(
                (second.install(rayon::current_num_threads), ended.count()),
                (2, 0),
                "it goes on for who has it"
            );
            drop(second);
            assert_eq!(ended.count(), 2);
        }
    }

    #[test]
    fn a_pool_of_another_process_is_left_alone() {
        let (mut workers, ended) = (Workers::start(2).unwrap(), Ended::default());
        workers.process += 1;
        ended.watch(workers.pool.as_ref().unwrap());
        drop(workers);
        assert_eq!(ended.count(), 0);
    }

    #[test]
    fn apart_work_has_a_pool_of_its_own() {
        let (shared, ended) = (Workers::get().unwrap(), Ended::default());
        let threads = Workers::apart(|| {
            let (own, again) = (Workers::get().unwrap(), Workers::get().unwrap());
            assert!(!Arc::ptr_eq(&own.0, &shared.0) && Arc::ptr_eq(&own.0, &again.0), "one for all that it does");
            ended.watch(&own);
            let inner = Workers::apart(|| Workers::get().unwrap());
            assert!(!Arc::ptr_eq(&own.0, &inner.0) && Arc::ptr_eq(&own.0, &Workers::get().unwrap().0));
            own.current_num_threads()
        });
        assert_eq!(ended.count(), threads, "they are joined");
        assert!(Arc::ptr_eq(&shared.0, &Workers::get().unwrap().0));
    }
}
