//! Routes of the data, and the one loop that sweeps.
//!
//! # Routes
//! - *Streamed*: an array of the host goes in tiles through the staging slots, each swept as often as its halo allows.
//!   The device memory is bounded. If the halos do not allow all sweeps, there are rounds, each through the host's
//!   memory.
//! - *Resident*: the array and the buffer for a sweep's results lie on the device as a whole. The array was there
//!   before, or is uploaded.
//! - *Deep*: an image or a volume that would be resident, but does not fit, goes in tiles that are as large as there is
//!   room for. Each lies on the device like an array of its own while it is swept as often as its halo allows.

pub(crate) mod array;
pub(crate) mod copies;
pub(crate) mod deep;
pub(crate) mod levels;
mod resident;
pub(crate) mod streamed;
mod sweeping;
pub(crate) mod work;

use super::driver::memory::Budget;
use super::element::Element;
use super::kernels::Kernel;
use super::runtime::device::Device;
use crate::platform::watch::Watch;
use crate::stencil::{Error, Source, Target};
use array::{borrows, over_before_return};
use copies::copy_all;
use deep::deep;
use resident::resident;
use streamed::{streamed, target};
use work::Work;

/// Does all of `work` by this kernel. Source and target have exactly the work's size.
pub(crate) fn run<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    from: Source<T>,
    to: &mut Target<T>,
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    let borrows = borrows(&from, to);
    over_before_return(device, borrows, |device| run_all(device, kernel, work, from, to, budget, watch))
}

/// Chooses the route, and takes it. Asynchronous: may return with work queued.
fn run_all<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    from: Source<T>,
    to: &mut Target<T>,
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    if work.elements() == 0 || work.sweeps == 0 {
        return copy_all(device, from, to, watch);
    }
    if let (Source::Array(_), _) | (_, Target::Array(_)) = (&from, &*to) {
        // Whatever the budget: the arrays are here, and the buffers must be here, too.
        return resident(device, kernel, work, from, to, None, watch).map(drop);
    }
    let prefers_resident = prefers_resident(kernel, work);
    if prefers_resident && resident(device, kernel, work, from, to, Some(budget), watch)? {
        return Ok(());
    }
    match (from, to) {
        (Source::Host(input), Target::Host(output)) => {
            if prefers_resident && deep(device, kernel, work, input, output, budget, watch)? {
                return Ok(());
            }
            streamed(device, kernel, work, input, output, budget, watch)
        }
        _ => unreachable!("they are the host's"),
    }
}

/// True if an array of the host should be resident while it is swept, if there is room.
pub(crate) fn prefers_resident<T: Element>(kernel: &dyn Kernel<T>, work: &Work<T>) -> bool {
    let rounds = || kernel.cut(work.sweeps, target(work), usize::MAX).rounds(work.sweeps).count() > 1;
    work.sweeps > 1 && (kernel.prefers_resident(work.sweeps) || rounds())
}
