//! How elements become one number, and in which order.

use crate::stencil::Real;

/// How elements become one number.
///
/// # The order
/// Elements `x[0] .. x[n - 1]` fall into chunks of [`CHUNK`], the last one perhaps shorter. Of a chunk, element `i` goes
/// to lane `i mod LANES`: each of the [`LANES`] lanes begins with the [start](Reduction::start) and takes its elements
/// in ascending order. Then lane `l` takes lane `l + 16`, for the first 16 lanes; then `l + 8` for the first 8; and so
/// on, until lane 0 has the chunk's result. Where there is more than one chunk, their results are reduced in the same
/// way, as elements that are [joined](Reduction::join) only.
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
    /// The smallest number, NaN left out; NaN where there is no number. Of zeros, the first in this order.
    Min,
    /// The largest number, likewise.
    Max,
    /// The largest magnitude; NaN where there is one.
    LargestMagnitude,
    /// 1 where some element is neither a zero nor NaN, else 0.
    Any,
    /// 1 where no element is a zero, else 0.
    All,
    /// 1 where `a != b` for some element of two arrays, else 0; NaN is unlike itself.
    Differ,
}

/// Elements that are reduced by themselves ahead of all others.
pub const CHUNK: usize = 1024;

/// Lanes in a chunk.
pub const LANES: usize = 32;

impl Reduction {
    /// Whether it takes two arrays.
    pub fn of_two(self) -> bool {
        matches!(self, Reduction::Dot | Reduction::Differ)
    }

    /// What a lane begins with, and what is left of no elements at all.
    #[inline(always)]
    pub fn start<T: Real>(self) -> T {
        match self {
            Reduction::Min | Reduction::Max => T::from_f64(f64::NAN),
            Reduction::All | Reduction::Product => T::ONE,
            _ => T::default(),
        }
    }

    /// A lane with one element more; `b` is that of the second array, where there are two.
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

    /// A lane with another, or with the result of a chunk.
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

/// Which number of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// The smallest.
    Smallest,
    /// The largest.
    Largest,
}

impl Extreme {
    /// Whether `a` takes the place of `b`, which comes ahead of it: of equals the first stays, and NaN gives way to any
    /// number.
    #[inline(always)]
    pub fn prefers<T: Real>(self, a: T, b: T) -> bool {
        let beyond = match self {
            Extreme::Smallest => a < b,
            Extreme::Largest => a > b,
        };
        beyond | (b.is_nan() & !a.is_nan())
    }
}

/// How each element becomes what it and all elements ahead of it are together.
///
/// # The order
/// The elements of a line fall into chunks of [`CHUNK`], and those of a chunk into groups of [`LANES`], the last ones
/// perhaps shorter. In a group each element is joined to the result of the one before it; the first is its own result.
/// Then what the groups ahead of it in the chunk are together is joined with each of them: that is the last result of
/// the group before. Where there is more than one chunk, the last results of all chunks are elements of a line that is
/// scanned in the same way; then the result of all chunks ahead is joined with each of a chunk. What is joined stands on the
/// left, and nothing is joined where nothing is ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// Running sums.
    Sum,
    /// Running products.
    Product,
}

impl Scan {
    /// What is ahead, with what follows.
    #[inline(always)]
    pub fn join<T: Real>(self, ahead: T, other: T) -> T {
        match self {
            Scan::Sum => ahead.plus(other),
            Scan::Product => ahead.times(other),
        }
    }
}
