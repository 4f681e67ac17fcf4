//! State of a walk while it is written.

use super::route::Route;
use crate::cuda::program::code::Register;
use crate::stencil::Boundary;
use crate::stencil::program::{Gait, Recurrence};

/// Number of lanes of a warp.
pub(super) const LANES: usize = 32;

/// Treatment of the array's ends, in a copy of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// For warps that meet no end.
    None,
    /// Ghost values are loaded like elements, from the place that the boundary gives.
    Loaded,
    /// Ghost values are selected among the elements in registers.
    Chosen,
}

/// Key of a kept element: level, part, age, line and element.
pub(super) type Kept = (usize, usize, usize, i64, usize);

/// A walk that is being written.
pub(in crate::cuda::program) struct Walk<'k> {
    pub(super) what: &'k Recurrence,
    pub(super) route: Route,
    pub(super) gait: Gait,
    pub(super) edges: Edges,
    /// Number of scopes of names around the loop.
    pub(in crate::cuda::program) scopes: usize,
    /// The latest column, and the first one.
    pub(super) column: Register,
    pub(super) first: Register,
    /// Index of a lane's first element, and of its first line.
    pub(super) row: Register,
    pub(super) line: Register,
    /// Kept elements. The latest column has the age 0.
    pub(super) kept: Vec<(Kept, Register)>,
    /// Chains with some of their columns, with the number of columns in the place of an age, and their values after the
    /// latest.
    pub(super) chains: Vec<(Kept, [Register; 2])>,
}

impl Walk<'_> {
    /// Returns a kept element, if it is there.
    pub(super) fn find(&self, key: Kept) -> Option<Register> {
        self.kept.iter().find(|(kept, _)| *kept == key).map(|(_, register)| *register)
    }
}

/// Offset of a sample from its element along a dimension, and the boundary at that end.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda::program) struct Way {
    pub(in crate::cuda::program) offset: i64,
    pub(in crate::cuda::program) end: Boundary<f64>,
}

impl Way {
    pub(in crate::cuda::program) const NONE: Way = Way { offset: 0, end: Boundary::Circular };

    /// Returns the offset of the element that a sample at `offset` is a copy of, `beyond` elements outside: 1 for the
    /// first one outside. `None` for a constant, and if all is inside.
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
