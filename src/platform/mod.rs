//! The process and its machine: memory, threads, forks, signals, libraries. Nothing here knows of stencils.

pub mod memory;
pub(crate) mod process;
pub(crate) mod sibling_library;
pub mod watch;
pub mod workers;
