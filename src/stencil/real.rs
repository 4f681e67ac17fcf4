//! The classes of floating-point numbers, `f64` and `f32`, with the operations of the contract.
//!
//! Each operation is rounded once, to nearest, ties to even, as IEEE 754 defines it; the compiler neither fuses nor
//! reorders them. Code for both classes calls these methods.

use std::fmt::{Debug, LowerExp};

/// A class of floating-point numbers that arrays are made of.
///
/// Every pattern of bits is a value of it, and zero bits are +0.
pub trait Real: bytemuck::Pod + Debug + Default + LowerExp + PartialEq + PartialOrd + Send + Sync {
    /// The other class.
    type Other: Real<Other = Self>;

    /// One.
    const ONE: Self;

    /// `value`, rounded once to this class.
    fn from_f64(value: f64) -> Self;

    /// Its value in double.
    fn to_f64(self) -> f64;

    /// `self + other`, rounded once.
    fn plus(self, other: Self) -> Self;

    /// `self - other`, rounded once.
    fn minus(self, other: Self) -> Self;

    /// `self * other`, rounded once.
    fn times(self, other: Self) -> Self;

    /// `self / other`, rounded once.
    fn over(self, other: Self) -> Self;

    /// With the other sign.
    fn negative(self) -> Self;

    /// Without its sign.
    fn magnitude(self) -> Self;

    /// The square root, rounded once.
    fn square_root(self) -> Self;

    /// `self * factor + addend`, rounded once: exact on every machine. Where there is no instruction for it, the C
    /// library's rounds the same.
    fn fma(self, factor: Self, addend: Self) -> Self;

    /// Whether it is not a number.
    fn is_nan(self) -> bool;

    /// Whether two results are the same in the sense of the contract: equal bits, or NaN both.
    fn same(self, other: Self) -> bool;
}

macro_rules! real {
    ($type:ty, $other:ty) => {
        impl Real for $type {
            type Other = $other;
            const ONE: $type = 1.0;

            #[inline(always)]
            fn from_f64(value: f64) -> $type {
                value as $type
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self + other
            }
            #[inline(always)]
            fn minus(self, other: $type) -> $type {
                self - other
            }
            #[inline(always)]
            fn times(self, other: $type) -> $type {
                self * other
            }
            #[inline(always)]
            fn over(self, other: $type) -> $type {
                self / other
            }
            #[inline(always)]
            fn negative(self) -> $type {
                -self
            }
            #[inline(always)]
            fn magnitude(self) -> $type {
                self.abs()
            }
            #[inline(always)]
            fn square_root(self) -> $type {
                self.sqrt()
            }
            #[inline(always)]
            fn fma(self, factor: $type, addend: $type) -> $type {
                self.mul_add(factor, addend)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }
            fn same(self, other: $type) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    };
}

real!(f32, f64);
real!(f64, f32);
