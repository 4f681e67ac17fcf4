//! The threads of this library, which both engines share.
//!
//! # Rationale
//! A pool of its own, not rayon's global one: the host may load other libraries with rayon inside, and ours must be gone, threads and all, when the
//! host clears the function. Dropping a pool tells its threads to end and does not wait for them; so their handles are kept and joined.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::stencil::Error;

/// The running pool.
static WORKERS: Mutex<Option<Workers>> = Mutex::new(None);

/// A pool and the handles of its threads.
pub struct Workers {
    pool: Arc<ThreadPool>,
    handles: Vec<JoinHandle<()>>,
}

impl Workers {
    /// How many threads the pool has, or will have: the processors this process may use, or `STENCIL_THREADS` if that is less.
    pub fn count() -> usize {
        // Asked once: the answer takes longer than a small call.
        static AVAILABLE: OnceLock<usize> = OnceLock::new();
        let available = *AVAILABLE.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        let wanted = std::env::var("STENCIL_THREADS").ok().and_then(|text| text.trim().parse().ok()).filter(|&count: &usize| count > 0);
        wanted.map_or(available, |wanted| wanted.min(available))
    }

    /// The pool, made if it is not there, and made anew if its size is to be another.
    pub fn get() -> Result<Arc<ThreadPool>, Error> {
        let count = Workers::count();
        let mut workers = lock();
        if let Some(workers) = workers.as_ref().filter(|workers| workers.pool.current_num_threads() == count) {
            return Ok(workers.pool.clone());
        }
        if let Some(old) = workers.take() {
            old.end();
        }
        let new = Workers::start(count)?;
        Ok(workers.insert(new).pool.clone())
    }

    /// Ends the pool and waits for its threads. The next call makes another.
    pub fn release() {
        if let Some(workers) = lock().take() {
            workers.end();
        }
    }

    fn start(count: usize) -> Result<Workers, Error> {
        let mut handles = Vec::with_capacity(count);
        let pool = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|number| format!("stencil-{number}"))
            .spawn_handler(|thread| {
                let name = thread.name().unwrap_or("stencil").to_owned();
                handles.push(std::thread::Builder::new().name(name).spawn(|| thread.run())?);
                Ok(())
            })
            .build()
            .map_err(|error| Error::Internal(format!("The threads could not be started: {error}")))?;
        Ok(Workers { pool: Arc::new(pool), handles })
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

fn lock() -> MutexGuard<'static, Option<Workers>> {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_ends_with_its_threads_and_can_be_made_again() {
        for _ in 0..3 {
            let workers = Workers::start(3).unwrap();
            assert_eq!(workers.pool.install(rayon::current_num_threads), 3);
            workers.end();
        }
    }
}
