//! State of a device that is kept between calls: loaded modules, staging slots, and the queue with its buffers.

pub(crate) mod archive;
mod buffers;
pub(crate) mod clock;
pub(crate) mod device;
pub(crate) mod generated;
mod loaded;
pub(crate) mod module;
pub(crate) mod pace;
pub(crate) mod queue;
pub(crate) mod sharing;
pub(crate) mod slots;
