//! Tests that can run side by side in one process: `cargo test --test checks [-- FILTER]`.

#[path = "../common/mod.rs"]
mod common;
mod documents;
mod exports;
mod functions;
mod house;
mod matlab;
mod portable;
