//! This process as one of the ranks that a launcher such as `mpirun` started together.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::shim::Line;
use super::traffic::Traffic;
use crate::platform::process::{self, PerProcess};
use crate::stencil::Error;

/// Variables by which launchers report the number of processes: Open MPI, MPICH and its derivatives (Intel's too),
/// MVAPICH2, and Slurm's `srun`. The first that is set counts: `mpirun` may itself use `srun`, to start one process on
/// each host. Slurm sets the number for a job's script, too, under another name (`SLURM_NTASKS`); the script is started
/// once.
const SIZES: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Variables of launchers without the number of processes.
const SIGNS: [&str; 2] = ["PMIX_RANK", "PMI_RANK"];

/// Thread support of MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// Any thread, one at a time.
    Serialized,
    /// Any thread.
    Multiple,
}

/// All ranks, as seen by this process.
pub struct World {
    /// The process that started MPI. Forks of it are no ranks.
    process: u32,
    rank: usize,
    ranks: usize,
    rank_on_host: usize,
    ranks_on_host: usize,
    threads: Threads,
    library: String,
    cuda_aware: Option<bool>,
    traffic: Mutex<Traffic>,
}

static WORLD: OnceLock<World> = OnceLock::new();

/// Device support expected of MPI.
static EXPECTED: AtomicU8 = AtomicU8::new(UNKNOWN);

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// States that MPI accepts addresses in a GPU's memory, or does not; with `None` MPI is queried. Some that do accept
/// them cannot be queried.
pub fn expect_devices(expected: Option<bool>) {
    let expected = expected.map_or(UNKNOWN, |yes| if yes { YES } else { NO });
    EXPECTED.store(expected, Ordering::Relaxed);
}

impl World {
    /// Returns the ranks. The first call, on all of them, starts MPI unless it runs, and waits until all ranks do so:
    /// that has to be on the thread that ends the process. MPI started here ends as the process exits, which waits for
    /// the others.
    ///
    /// # Errors
    /// [`Error::Rank`] if there is no MPI or it cannot be used. The text names the reason and the remedy.
    pub fn get() -> Result<&'static World, Error> {
        /// Reason that MPI cannot be started, once it has been touched.
        static FAILURE: PerProcess<Mutex<Option<String>>> = PerProcess::new();
        if let Some(world) = WORLD.get() {
            return world.here();
        }
        let mut failure = FAILURE.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(world) = WORLD.get() {
            return world.here();
        }
        if let Some(text) = &*failure {
            return Err(Error::Rank(text.clone()));
        }
        let line = Line::find()?;
        match World::start(line) {
            Ok(world) => WORLD.get_or_init(|| world).here(),
            Err(error) => {
                // MPI starts only once.
                *failure = Some(error.to_string());
                Err(error)
            }
        }
    }

    /// Returns the ranks, if MPI has been started for this process.
    pub fn there() -> Option<&'static World> {
        WORLD.get().filter(|world| world.process == process::id())
    }

    /// True if a launcher started this process, as one of several or expressly as the only one.
    pub fn is_launched() -> bool {
        is_launched(|name| env::var(name).ok())
    }

    fn start(mut line: Line) -> Result<World, Error> {
        let facts = line.start(leave)?;
        let [rank, ranks, rank_on_host, ranks_on_host] =
            [facts.rank, facts.ranks, facts.host_rank, facts.host_ranks].map(|number| number.unsigned_abs() as usize);
        let library = facts.library();
        if let Some(said) = launched(|name| env::var(name).ok()).filter(|&said| said > 1 && ranks == 1) {
            return Err(Error::Rank(format!(
                "The launcher started {said} processes, but this one knows of no other by its MPI, {library}: start \
                 them with the launcher of that MPI, or build this library again where mpicc is that of the launcher."
            )));
        }
        Ok(World {
            process: process::id(),
            rank,
            ranks,
            rank_on_host,
            ranks_on_host,
            threads: if facts.threads >= 3 { Threads::Multiple } else { Threads::Serialized },
            library,
            cuda_aware: (facts.cuda >= 0).then_some(facts.cuda == 1),
            traffic: Mutex::new(Traffic::new(line, rank, ranks, facts.largest_tag)),
        })
    }

    /// Number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Number of this rank among those on its host, from 0.
    pub fn rank_on_host(&self) -> usize {
        self.rank_on_host
    }

    /// Number of ranks on this host.
    pub fn ranks_on_host(&self) -> usize {
        self.ranks_on_host
    }

    /// Thread support of MPI. This code calls it from one thread at a time in any case.
    pub fn threads(&self) -> Threads {
        self.threads
    }

    /// Name and version of the MPI in use.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// True if this MPI accepts addresses in a GPU's memory; `None` if it does not say.
    pub fn cuda_aware(&self) -> Option<bool> {
        self.cuda_aware
    }

    /// True if messages may lie on a GPU: as MPI says, unless [`expect_devices`] has said otherwise.
    pub(super) fn reaches_devices(&self) -> bool {
        match EXPECTED.load(Ordering::Relaxed) {
            NO => false,
            YES => true,
            _ => self.cuda_aware == Some(true),
        }
    }

    /// Locks the messages, and with them MPI.
    pub(super) fn traffic(&self) -> Result<MutexGuard<'_, Traffic>, Error> {
        self.here()?;
        let traffic = self.traffic.lock().unwrap_or_else(PoisonError::into_inner);
        if traffic.is_closed() {
            return Err(Error::Rank("MPI has ended in this process.".into()));
        }
        Ok(traffic)
    }

    /// # Errors
    /// [`Error::Rank`] in a process forked from the one that is a rank.
    fn here(&self) -> Result<&World, Error> {
        if self.process == process::id() {
            return Ok(self);
        }
        Err(Error::Rank("This process was forked from one that is a rank, and is none itself.".into()))
    }

    fn leave(&self) {
        /// Maximum time until a thread in a call releases the lock.
        const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);
        if self.here().is_err() {
            return;
        }
        let since = Instant::now();
        while since.elapsed() < LEAVE_TIMEOUT {
            match self.traffic.try_lock() {
                Ok(mut traffic) => return traffic.leave(),
                Err(TryLockError::Poisoned(traffic)) => return traffic.into_inner().leave(),
                // A thread that is not joined at the exit may be in a call.
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        }
    }
}

/// Run by the shim before MPI ends.
extern "C" fn leave() {
    // A panic must not reach C, and cannot be reported any more.
    let _ = catch_unwind(AssertUnwindSafe(|| WORLD.get().map(World::leave)));
}

fn is_launched(variable: impl Fn(&str) -> Option<String>) -> bool {
    SIZES.into_iter().filter(|&name| name != "SLURM_STEP_NUM_TASKS").chain(SIGNS).any(|name| variable(name).is_some())
        || launched(variable).is_some_and(|ranks| ranks > 1)
}

/// Number of processes that a launcher reports.
fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    SIZES.into_iter().find_map(|name| variable(name)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_what_they_set() {
        for (variables, is, size) in [
            (&[][..], false, None),
            (&[("OMPI_COMM_WORLD_SIZE", "3")], true, Some(3)),
            (&[("OMPI_COMM_WORLD_SIZE", "1")], true, Some(1)),
            (&[("PMI_RANK", "0"), ("PMI_SIZE", "2")], true, Some(2)),
            (&[("PMIX_RANK", "1")], true, None),
            // One of four tasks, and a shell on a host of a job.
            (&[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "4")], true, Some(4)),
            (&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "1")], false, Some(1)),
            // A job's script.
            (&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")], false, None),
            // mpirun on two hosts of a job.
            (&[("SLURM_STEP_NUM_TASKS", "2"), ("OMPI_COMM_WORLD_SIZE", "8")], true, Some(8)),
        ] {
            let find =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
            assert_eq!((is_launched(find), launched(find)), (is, size), "{variables:?}");
        }
    }
}
