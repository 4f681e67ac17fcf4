//! Arrays distributed over several processes, the *ranks*: the work of one rank in a collective call.
//!
//! A rank knows the others by messages alone. The computations here do not depend on MPI, and are tested with threads
//! in place of ranks.
//!
//! [`World`] is this process's view of the other ranks through MPI, and [`Call`] one collective call.

mod bytes;
mod call;
mod shim;
mod traffic;
mod world;

pub use bytes::Bytes;
pub use call::Call;
pub use world::{Threads, World, expect_devices};

mod costs;
#[cfg(test)]
mod fake;
mod plan;
mod planes;
mod shared;
mod sweeps;
#[cfg(test)]
mod tests;
mod whole;

pub use plan::{Along, Passed, Plan};
pub use sweeps::run;
pub use whole::Whole;

use crate::platform::watch::Watch;
use crate::stencil::Error;

/// The other ranks during one collective call. Messages between two ranks arrive in the order in which they were sent.
pub trait Others: Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn ranks(&self) -> usize;

    /// True if messages of this rank may lie on a device.
    fn reach_devices(&self) -> bool {
        false
    }

    /// Starts messages: sends bytes to ranks, and receives from ranks into buffers of the same length. None is to or
    /// from this rank itself.
    ///
    /// # Errors
    /// [`Error::Rank`] if another rank has raised an error or left; [`Error::OutOfMemory`].
    fn exchange(
        &self,
        sends: Vec<(usize, Bytes)>,
        receives: Vec<(usize, Bytes)>,
    ) -> Result<Box<dyn UnderWay + '_>, Error>;

    /// Gathers the bytes of every rank, by rank; their lengths may differ.
    ///
    /// # Errors
    /// As [`Others::exchange`]; [`Error::Interrupted`].
    fn gather(&self, mine: &[u8], watch: &Watch) -> Result<Vec<Vec<u8>>, Error>;
}

/// Messages in transit.
pub trait UnderWay {
    /// Advances the messages that need the processor for it. Does not block.
    ///
    /// # Errors
    /// As [`Others::exchange`].
    fn advance(&mut self) -> Result<(), Error>;

    /// Waits for all messages, and returns the received ones in their buffers, in the order of the request. Messages
    /// still in transit to other ranks after an error stay so, and touch nothing of a later call.
    ///
    /// # Errors
    /// As [`Others::exchange`]; [`Error::Interrupted`] if the watch says so.
    fn wait(self: Box<Self>, watch: &Watch) -> Result<Vec<Bytes>, Error>;
}
