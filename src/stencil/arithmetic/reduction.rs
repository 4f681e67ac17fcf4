//! Reductions and scans, with their order of operations.

use crate::stencil::Real;

/// Reduction of elements to one number.
///
/// # Order
/// Elements `x[0] .. x[n - 1]` are divided into chunks of [`CHUNK`], the last one perhaps shorter. In a chunk, element
/// `i` goes to lane `i mod LANES`: each of the [`LANES`] lanes begins with the [start](Reduction::start) and takes its
/// elements in ascending order. Then lane `l` takes lane `l + 16`, for the first 16 lanes; then `l + 8` for the first
/// 8; and so on, until lane 0 has the chunk's result. If there is more than one chunk, their results are reduced in the
/// same way, as elements that are [joined](Reduction::join) only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The sum, from +0.
    Sum,
    /// The sum of products `a b` of two arrays, from +0: a lane takes an element by a fused multiply-add.
    Dot,
    /// The sum of magnitudes, from +0.
    SumOfMagnitudes,
    /// The product, from 1.
    Product,
    /// The smallest number, NaN skipped; NaN if there is no number. Of zeros, the first in this order.
    Min,
    /// The largest number, likewise.
    Max,
    /// The largest magnitude; NaN if there is one.
    LargestMagnitude,
    /// 1 if some element is neither a zero nor NaN, else 0.
    Any,
    /// 1 if no element is a zero, else 0.
    All,
    /// 1 if `a != b` for some element of two arrays, else 0; NaN differs from itself.
    Differ,
}

/// Number of elements in a chunk, which is reduced before it is combined with others.
pub const CHUNK: usize = 1024;

/// Number of lanes in a chunk.
pub const LANES: usize = 32;

impl Reduction {
    /// True if it takes two arrays.
    pub fn of_two(self) -> bool {
        matches!(self, Reduction::Dot | Reduction::Differ)
    }

    /// Initial value of a lane, and result of an empty reduction.
    #[inline(always)]
    pub fn start<T: Real>(self) -> T {
        match self {
            Reduction::Min | Reduction::Max => T::from_f64(f64::NAN),
            Reduction::All | Reduction::Product => T::ONE,
            _ => T::default(),
        }
    }

    /// Adds an element to a lane; `b` is that of the second array, if there are two.
    #[inline(always)]
    pub fn take<T: Real>(self, lane: T, a: T, b: T) -> T {
        let zero = T::default();
        match self {
            Reduction::Sum | Reduction::Product | Reduction::Min | Reduction::Max => self.join(lane, a),
            Reduction::Dot => a.fma(b, lane),
            Reduction::SumOfMagnitudes | Reduction::LargestMagnitude => self.join(lane, a.magnitude()),
            Reduction::Any => {
                if a.magnitude() > zero {
                    T::ONE
                } else {
                    lane
                }
            }
            Reduction::All => {
                if a == zero {
                    zero
                } else {
                    lane
                }
            }
            Reduction::Differ => {
                if a != b {
                    T::ONE
                } else {
                    lane
                }
            }
        }
    }

    /// Combines a lane with another, or with the result of a chunk.
    #[inline(always)]
    pub fn join<T: Real>(self, lane: T, other: T) -> T {
        match self {
            Reduction::Sum | Reduction::Dot | Reduction::SumOfMagnitudes => lane.plus(other),
            Reduction::Product => lane.times(other),
            Reduction::Min => {
                if lane.is_nan() || other < lane {
                    other
                } else {
                    lane
                }
            }
            Reduction::Max => {
                if lane.is_nan() || other > lane {
                    other
                } else {
                    lane
                }
            }
            Reduction::LargestMagnitude => {
                if other.is_nan() || other > lane {
                    other
                } else {
                    lane
                }
            }
            Reduction::Any | Reduction::Differ => {
                if other != T::default() {
                    other
                } else {
                    lane
                }
            }
            Reduction::All => {
                if other == T::default() {
                    other
                } else {
                    lane
                }
            }
        }
    }
}

/// Extreme to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// The smallest.
    Smallest,
    /// The largest.
    Largest,
}

impl Extreme {
    /// True if `a` replaces `b`, which precedes it: of equals the first stays, and any number replaces NaN.
    #[inline(always)]
    pub fn prefers<T: Real>(self, a: T, b: T) -> bool {
        let beyond = match self {
            Extreme::Smallest => a < b,
            Extreme::Largest => a > b,
        };
        beyond | (b.is_nan() & !a.is_nan())
    }
}

/// Cumulative operation: each element is combined with all elements before it.
///
/// # Order
/// The elements of a line are divided into chunks of [`CHUNK`], and those of a chunk into groups of [`LANES`], the last
/// ones perhaps shorter. In a group each element is joined to the result of the one before it; the first is its own
/// result. Then the total of the preceding groups of the chunk, which is the last result of the group before, is joined
/// with each of them. If there is more than one chunk, the last results of all chunks are elements of a line that is
/// scanned in the same way; then the result of all preceding chunks is joined with each element of a chunk. The
/// preceding total is the left operand, and the first group and chunk are left as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// Running sums.
    Sum,
    /// Running products.
    Product,
}

impl Scan {
    /// Combines the preceding total with an element.
    #[inline(always)]
    pub fn join<T: Real>(self, ahead: T, other: T) -> T {
        match self {
            Scan::Sum => ahead.plus(other),
            Scan::Product => ahead.times(other),
        }
    }
}
