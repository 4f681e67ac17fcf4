//! A walk while it is written.

use super::route::Route;
use crate::cuda::program::code::Register;
use crate::stencil::program::{Gait, Recurrence};

/// The lanes of a warp.
pub(super) const LANES: usize = 32;

/// What is kept of a column: its level, its part, its age, its line and its element.
pub(super) type Kept = (usize, usize, usize, i64, usize);

/// A walk that is being written.
pub(in crate::cuda::program) struct Walk<'k> {
    pub(super) what: &'k Recurrence,
    pub(super) route: Route,
    pub(super) gait: Gait,
    /// Whether the copy is for warps that meet an end of the array.
    pub(super) edges: bool,
    /// How many scopes of names there are around the loop.
    pub(in crate::cuda::program) scopes: usize,
    /// The column that has come last, and the first one.
    pub(super) column: Register,
    pub(super) first: Register,
    /// The index of a lane's first element, and of its first line.
    pub(super) row: Register,
    pub(super) line: Register,
    /// What is kept of a column, by its age: 0 for the latest one.
    pub(super) kept: Vec<(Kept, Register)>,
    /// Chains that have had some columns, in the place of an age, and what they are when the latest has come.
    pub(super) chains: Vec<(Kept, [Register; 2])>,
}

impl Walk<'_> {
    /// What is kept, if it is there.
    pub(super) fn find(&self, key: Kept) -> Option<Register> {
        self.kept.iter().find(|(kept, _)| *kept == key).map(|(_, register)| register.clone())
    }
}
