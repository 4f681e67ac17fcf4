//! A walk while it is written.

use super::route::Route;
use crate::cuda::program::code::Register;
use crate::stencil::Boundary;
use crate::stencil::program::{Gait, Recurrence};

/// The lanes of a warp.
pub(super) const LANES: usize = 32;

/// The ends of an array, in a copy of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// It is for warps that meet none.
    None,
    /// Ghost values are loaded as elements are, from where the boundary says.
    Loaded,
    /// Ghost values are chosen among the elements that are in registers.
    Chosen,
}

/// The key of a kept element: level, part, age, line and element.
pub(super) type Kept = (usize, usize, usize, i64, usize);

/// A walk that is being written.
pub(in crate::cuda::program) struct Walk<'k> {
    pub(super) what: &'k Recurrence,
    pub(super) route: Route,
    pub(super) gait: Gait,
    pub(super) edges: Edges,
    /// The number of scopes of names around the loop.
    pub(in crate::cuda::program) scopes: usize,
    /// The column that has come last, and the first one.
    pub(super) column: Register,
    pub(super) first: Register,
    /// The index of a lane's first element, and of its first line.
    pub(super) row: Register,
    pub(super) line: Register,
    /// The elements that are kept. The latest column has the age 0.
    pub(super) kept: Vec<(Kept, Register)>,
    /// Chains that have had some columns, in the place of an age, and what they are when the latest has come.
    pub(super) chains: Vec<(Kept, [Register; 2])>,
}

impl Walk<'_> {
    /// A kept element, if it is there.
    pub(super) fn find(&self, key: Kept) -> Option<Register> {
        self.kept.iter().find(|(kept, _)| *kept == key).map(|(_, register)| *register)
    }
}

/// A sample's way from its element along a dimension, and what is beyond that end.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda::program) struct Way {
    pub(in crate::cuda::program) offset: i64,
    pub(in crate::cuda::program) end: Boundary<f64>,
}

impl Way {
    pub(in crate::cuda::program) const NONE: Way = Way { offset: 0, end: Boundary::Circular };

    /// The offset of the element that stands for a sample at `offset`, which lies `beyond` elements outside: 1 for the first
    /// one outside. `None` for a constant, and where all is inside.
    pub(super) fn inside(self, offset: i64, beyond: i64) -> Option<i64> {
        let back = match self.end {
            Boundary::Replicate => beyond,
            Boundary::Symmetric => 2 * beyond - 1,
            Boundary::Mirror => 2 * beyond,
            Boundary::Constant(_) | Boundary::Circular => return None,
        };
        Some(if self.offset < 0 { offset + back } else { offset - back })
    }
}
