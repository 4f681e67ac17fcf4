//! The threads of this library, which both engines share.
//!
//! # Rationale
//! A pool of its own, not rayon's global one: the host may load other libraries with rayon inside, and ours must be gone, threads and all, when the
//! host clears the function. Dropping a pool tells its threads to end and does not wait for them; so their handles are kept and joined.
//!
//! # Limitations
//! Threads do not survive a fork: a forked process forgets the pool that it inherited and starts one of its own.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::memory;

/// The running pool.
static WORKERS: Mutex<Option<Workers>> = Mutex::new(None);

/// The most threads that are wanted; 0 for no limit.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// A pool and the handles of its threads.
pub struct Workers {
    pool: Option<Arc<ThreadPool>>,
    handles: Vec<JoinHandle<()>>,
    /// The process whose threads they are.
    process: u32,
}

impl Workers {
    /// Sets the most threads that the pool may have; `None` for as many as there are processors.
    pub fn limit(threads: Option<usize>) {
        LIMIT.store(threads.unwrap_or(0), Ordering::Relaxed);
    }

    /// How many threads the pool has, or will have: the processors this process may use, or the limit if that is less.
    pub fn count() -> usize {
        // Asked once: the answer takes longer than a small call.
        static AVAILABLE: OnceLock<usize> = OnceLock::new();
        let available = *AVAILABLE.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        match LIMIT.load(Ordering::Relaxed) {
            0 => available,
            limit => limit.min(available),
        }
    }

    /// The pool, made if it is not there, and made anew if its size is to be another. `None` where the system gives no more threads, or has no memory
    /// for them: the caller then does the work itself.
    pub fn get() -> Option<Arc<ThreadPool>> {
        let count = Workers::count();
        let mut workers = lock();
        if let Some(pool) = workers.as_ref().and_then(|workers| workers.pool.as_ref()).filter(|pool| pool.current_num_threads() == count) {
            return Some(pool.clone());
        }
        if let Some(old) = workers.take() {
            old.end();
        }
        workers.insert(Workers::start(count)?).pool.clone()
    }

    /// Ends the pool and waits for its threads. The next call makes another.
    pub fn release() {
        if let Some(workers) = lock().take() {
            workers.end();
        }
    }

    fn start(count: usize) -> Option<Workers> {
        // What the pool is made of.
        memory::spare(count * memory::THREAD).ok()?;
        let mut handles = Vec::with_capacity(count);
        let pool = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|number| format!("stencil-{number}"))
            .spawn_handler(|thread| {
                // Also for the threads before it, which may need a little more still.
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
                // One after the other: the C library may take all there is for a thread's heap, and the next one is asked for only then.
                begun.wait();
                Ok(())
            })
            .build();
        let workers = Workers { pool: pool.ok().map(Arc::new), handles, process: std::process::id() };
        if workers.pool.is_none() {
            // Those that did start end by themselves.
            workers.end();
            return None;
        }
        // Each does something, and has then all that it takes.
        workers.pool.as_ref()?.broadcast(|_| ());
        Some(workers)
    }

    fn end(self) {
        // Ends the threads, as long as nobody else holds the pool; calls are over when this runs.
        drop(self.pool);
        for handle in self.handles {
            // A worker that panicked has told its caller.
            let _ = handle.join();
        }
    }
}

/// The pool of this process.
fn lock() -> MutexGuard<'static, Option<Workers>> {
    let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    if workers.as_ref().is_some_and(|workers| workers.process != std::process::id()) {
        // Inherited by a fork, without its threads: to end it would be to wait for them for ever.
        std::mem::forget(workers.take());
    }
    workers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_ends_with_its_threads_and_can_be_made_again() {
        for _ in 0..3 {
            let workers = Workers::start(3).unwrap();
            assert_eq!(workers.pool.as_ref().unwrap().install(rayon::current_num_threads), 3);
            workers.end();
        }
    }
}
