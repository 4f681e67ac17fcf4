//! The engine of a call, and the replies that run on it.
//!
//! Stored arrays are computed where they lie ([`inputs`]); options, environment or time decide on others ([`choice`]).

pub(super) mod calls;
pub(super) mod choice;
mod chosen;
pub(super) mod default_device;
pub(super) mod fastest;
pub(super) mod inputs;

pub(super) use chosen::Chosen;
pub(super) use fastest::Work;

pub(crate) type DynEngine = dyn crate::stencil::Engine + 'static;
