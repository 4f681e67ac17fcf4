//! The engine of a call, and the replies that run on it.
//!
//! A stored array is computed where it lies ([`inputs`]). For the host's arrays, options, the environment or time
//! decide ([`choice`]).

pub(super) mod calls;
pub(super) mod choice;
mod chosen;
pub(super) mod default_device;
pub(super) mod fastest;
pub(super) mod inputs;

pub(super) use chosen::Chosen;

/// Any engine.
pub(crate) type DynEngine = dyn crate::stencil::Engine + 'static;
