//! Classes of floating-point numbers, `f64` and `f32`, with the operations of the contract.
//!
//! Each operation is rounded once, to nearest, ties to even, as defined by IEEE 754; the compiler neither fuses nor
//! reorders them. Code for both classes calls these methods.

use std::fmt::{Debug, LowerExp};

/// A class of floating-point numbers for arrays.
///
/// Every bit pattern is a valid value, and zero bits are +0.
pub trait Real: bytemuck::Pod + Debug + Default + LowerExp + PartialEq + PartialOrd + Send + Sync {
    /// One.
    const ONE: Self;

    /// Difference between one and the next larger number.
    const EPSILON: Self;

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

    /// The negative.
    fn negative(self) -> Self;

    /// The magnitude.
    fn magnitude(self) -> Self;

    /// The magnitude with the sign of another number.
    fn with_sign_of(self, other: Self) -> Self;

    /// The square root, rounded once.
    fn square_root(self) -> Self;

    /// The next integer down, up, towards zero, and the nearest, halves away from zero. A zero keeps the operand's
    /// sign; infinities and NaN are unchanged.
    fn rounded_down(self) -> Self;

    /// See [`Real::rounded_down`].
    fn rounded_up(self) -> Self;

    /// See [`Real::rounded_down`].
    fn rounded_to_zero(self) -> Self;

    /// See [`Real::rounded_down`].
    fn rounded(self) -> Self;

    /// `self * factor + addend`, rounded once: exact on every machine. The C library's function, used on machines
    /// without an instruction, rounds the same.
    fn fma(self, factor: Self, addend: Self) -> Self;

    /// Integer in the order of the values: zeros are equal, and NaN is above all.
    fn rank(self) -> u64;

    /// True if it is not a number.
    fn is_nan(self) -> bool;

    /// True if two results are the same in the sense of the contract: equal bits, or both NaN.
    fn same(self, other: Self) -> bool;
}

macro_rules! real {
    ($type:ty, $bits:ty) => {
        impl Real for $type {
            const ONE: $type = 1.0;
            const EPSILON: $type = <$type>::EPSILON;

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
            fn with_sign_of(self, other: $type) -> $type {
                self.copysign(other)
            }
            #[inline(always)]
            fn square_root(self) -> $type {
                self.sqrt()
            }
            #[inline(always)]
            fn rounded_down(self) -> $type {
                self.floor()
            }
            #[inline(always)]
            fn rounded_up(self) -> $type {
                self.ceil()
            }
            #[inline(always)]
            fn rounded_to_zero(self) -> $type {
                self.trunc()
            }
            #[inline(always)]
            fn rounded(self) -> $type {
                self.round()
            }
            #[inline(always)]
            fn fma(self, factor: $type, addend: $type) -> $type {
                self.mul_add(factor, addend)
            }
            #[inline(always)]
            fn rank(self) -> u64 {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                // The sum is +0 for either zero. Negative numbers with larger bits are smaller.
                let bits = (self + 0.0).to_bits();
                let rank = if bits & SIGN == 0 { bits | SIGN } else { !bits };
                u64::from(if <$type>::is_nan(self) { <$bits>::MAX } else { rank })
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

real!(f32, u32);
real!(f64, u64);
