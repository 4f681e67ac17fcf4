//! The engine on several devices of one process.

mod division;
mod parts;
pub(crate) mod team;
mod threads;
mod timeline;
