//! This process among the ranks that a launcher such as `mpirun` started together.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::shim::Line;
use super::traffic::Traffic;
use crate::process::{self, PerProcess};
use crate::stencil::Error;

/// How many processes a launcher says it started: of Open MPI, MPICH and what follows it (Intel's too), MVAPICH2, and
/// Slurm's `srun`. The first that is there counts: `mpirun` may itself use `srun`, to start one process on each host.
/// Slurm has the number for a job's script, too, under another name (`SLURM_NTASKS`); that is started once.
const SIZES: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"];

/// What launchers set that do not say how many there are.
const SIGNS: [&str; 2] = ["PMIX_RANK", "PMI_RANK"];

/// What threads MPI lets call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// Any, one at a time.
    Serialized,
    /// Any.
    Multiple,
}

/// The ranks, of which this process is one.
pub struct World {
    /// The process that started MPI. A fork of it is none of the ranks.
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

/// What is expected of MPI.
static EXPECTED: AtomicU8 = AtomicU8::new(UNKNOWN);

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// Says whether MPI takes addresses of a GPU's memory; with `None` MPI is asked. Some that do have no way to be asked.
pub fn expect_devices(expected: Option<bool>) {
    let expected = expected.map_or(UNKNOWN, |yes| if yes { YES } else { NO });
    EXPECTED.store(expected, Ordering::Relaxed);
}

impl World {
    /// The ranks. The first time, on all of them, this starts MPI where nobody has, and waits until all ranks do so:
    /// that is to be done on the thread by which the process ends. What this started ends as the process exits; it
    /// waits there for the others.
    ///
    /// # Errors
    /// [`Error::Rank`] where there is no MPI or it cannot be used. The text says why, and what is to be done.
    pub fn get() -> Result<&'static World, Error> {
        /// Why it cannot be started, once MPI has been touched.
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
                // MPI starts once.
                *failure = Some(error.to_string());
                Err(error)
            }
        }
    }

    /// The ranks, if MPI has been started for this process.
    pub fn there() -> Option<&'static World> {
        WORLD.get().filter(|world| world.process == process::id())
    }

    /// Whether a launcher started this process as one of several, or as one that is to know it has no others.
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

    /// The number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// The number of this rank among those on its host, from 0.
    pub fn rank_on_host(&self) -> usize {
        self.rank_on_host
    }

    /// How many ranks there are on this host.
    pub fn ranks_on_host(&self) -> usize {
        self.ranks_on_host
    }

    /// What threads may call MPI. Here they do so one at a time, whatever this is.
    pub fn threads(&self) -> Threads {
        self.threads
    }

    /// The MPI that is in use, by name and version.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Whether this MPI takes addresses of a GPU's memory; `None` where it does not tell.
    pub fn cuda_aware(&self) -> Option<bool> {
        self.cuda_aware
    }

    /// Whether messages may lie on a GPU: where MPI says so, unless [`expect_devices`] has said otherwise.
    pub(super) fn reaches_devices(&self) -> bool {
        match EXPECTED.load(Ordering::Relaxed) {
            NO => false,
            YES => true,
            _ => self.cuda_aware == Some(true),
        }
    }

    /// All that is sent and received; who holds it has MPI for itself.
    pub(super) fn traffic(&self) -> Result<MutexGuard<'_, Traffic>, Error> {
        self.here()?;
        let traffic = self.traffic.lock().unwrap_or_else(PoisonError::into_inner);
        if traffic.is_closed() {
            return Err(Error::Rank("MPI has ended in this process.".into()));
        }
        Ok(traffic)
    }

    /// # Errors
    /// [`Error::Rank`] in a process that was forked from the one that is a rank.
    fn here(&self) -> Result<&World, Error> {
        if self.process == process::id() {
            return Ok(self);
        }
        Err(Error::Rank("This process was forked from one that is a rank, and is none itself.".into()))
    }

    fn leave(&self) {
        /// What a thread in a call takes to look up once.
        const LONG: Duration = Duration::from_secs(10);
        if self.here().is_err() {
            return;
        }
        let since = Instant::now();
        while since.elapsed() < LONG {
            match self.traffic.try_lock() {
                Ok(mut traffic) => return traffic.leave(),
                Err(TryLockError::Poisoned(traffic)) => return traffic.into_inner().leave(),
                // A thread that is not joined at the exit may be in a call.
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        }
    }
}

/// What the shim runs before MPI ends.
extern "C" fn leave() {
    // A panic must not reach C. There is nobody left to hear of it.
    let _ = catch_unwind(AssertUnwindSafe(|| WORLD.get().map(World::leave)));
}

fn is_launched(variable: impl Fn(&str) -> Option<String>) -> bool {
    SIZES.into_iter().filter(|&name| name != "SLURM_STEP_NUM_TASKS").chain(SIGNS).any(|name| variable(name).is_some())
        || launched(variable).is_some_and(|ranks| ranks > 1)
}

/// How many processes a launcher says it started.
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
