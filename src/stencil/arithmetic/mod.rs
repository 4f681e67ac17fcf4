//! Arithmetic on arrays that an engine holds: elementwise operations and reductions.
//!
//! Every result is a function of the inputs alone, as defined by IEEE 754 to the last bit: each operation is rounded
//! once, and sums are added in an order that is part of the contract ([`Reduction`]). Only the payload of a NaN is
//! unspecified.

mod elementary;
mod expansion;
mod operations;
mod order;
mod places;
mod reduction;
mod shift;

pub use expansion::{Expansion, Operand};
pub(crate) use operations::saturated;
pub use operations::{Binary, MAX_POWER, Unary};
pub use order::Order;
pub use places::{Indices, Places, Section};
pub use reduction::{CHUNK, Extreme, LANES, Reduction, Scan};
pub use shift::Shift;

/// Maximum number of dimensions of an [`Expansion`] or a [`Section`] after compatible neighbours are merged.
pub const RANK: usize = 5;
