//! Arrays that lie in parts with several processes, the *ranks*: what a rank does for its part in a call that all of
//! them make together.
//!
//! A rank knows the others by messages alone. So what is computed here does not know MPI: it is tested with threads in
//! the place of ranks.
//!
//! [`World`] is what this process knows of the others by MPI, and [`Call`] one call that all of them make.

mod bytes;
mod call;
mod shim;
mod traffic;
mod world;

pub use bytes::Bytes;
pub use call::Call;
pub use world::{Threads, World, expect_devices};

mod distribution;
#[cfg(test)]
mod fake;
mod plan;
mod planes;
mod shared;
mod sweeps;
#[cfg(test)]
mod tests;
mod whole;

pub use distribution::Distribution;
pub use plan::{Along, Passed, Plan};
pub use sweeps::run;
pub use whole::Whole;

use crate::stencil::Error;
use crate::watch::Watch;

/// The other ranks, during one call that all of them make. Between two ranks messages arrive in the order in which they
/// were sent.
pub trait Others: Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn ranks(&self) -> usize;

    /// Whether messages may lie on a device, as far as this rank is concerned.
    fn reach_devices(&self) -> bool {
        false
    }

    /// Sets messages going: bytes to ranks, and what comes from ranks to where there is as much room for it. None is to
    /// or from this rank itself.
    ///
    /// # Errors
    /// [`Error::Rank`] where another rank has raised an error or left; [`Error::OutOfMemory`].
    fn exchange(
        &self,
        sends: Vec<(usize, Bytes)>,
        receives: Vec<(usize, Bytes)>,
    ) -> Result<Box<dyn UnderWay + '_>, Error>;

    /// What every rank gives, by rank; the ranks may give different numbers of bytes.
    ///
    /// # Errors
    /// As [`Others::exchange`]; [`Error::Interrupted`].
    fn gather(&self, mine: &[u8], watch: &Watch) -> Result<Vec<Vec<u8>>, Error>;
}

/// Messages on their way.
pub trait UnderWay {
    /// Lets those go on that need the processor for it. Waits for nothing.
    ///
    /// # Errors
    /// As [`Others::exchange`].
    fn advance(&mut self) -> Result<(), Error>;

    /// Waits for all of them, and gives what was received, in the order in which it was asked for, where it was to lie.
    /// What is still on its way to other ranks after an error stays so, and touches nothing of a later call.
    ///
    /// # Errors
    /// As [`Others::exchange`]; [`Error::Interrupted`] where the watch says so.
    fn wait(self: Box<Self>, watch: &Watch) -> Result<Vec<Bytes>, Error>;
}
