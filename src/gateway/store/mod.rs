//! The state that outlives a call: arrays, steps that are recorded or compiled, and random numbers.
//!
//! An object of the host holds a number that names its array or step here.

mod arrays;
mod home;
pub(super) mod random;
pub(super) mod recordings;
pub(super) mod steps;

pub(super) use crate::stencil::Numbers;
pub(super) use arrays::{StoredArray, count, delete, describe, next_number, put_back, take};
pub(super) use home::Home;
