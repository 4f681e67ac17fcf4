use std::fmt::{Debug, LowerExp};

/// A class of floating-point numbers that arrays are made of.
///
/// Every pattern of bits is a value of it, and zero bits are +0.
pub trait Real: Copy + Debug + Default + LowerExp + PartialEq + Send + Sync + 'static {
    /// `value`, rounded once to this class.
    fn from_f64(value: f64) -> Self;

    /// The same value in double.
    fn to_f64(self) -> f64;

    /// `self - other`, rounded once.
    fn minus(self, other: Self) -> Self;

    /// `self * factor + addend`, rounded once: exact on every machine. Where there is no instruction for it, the C
    /// library's rounds the same.
    fn fma(self, factor: Self, addend: Self) -> Self;

    /// Whether two results are the same in the sense of the contract: equal bits, or NaN both.
    fn same(self, other: Self) -> bool;
}

macro_rules! real {
    ($type:ty) => {
        impl Real for $type {
            fn from_f64(value: f64) -> $type {
                value as $type
            }
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn minus(self, other: $type) -> $type {
                self - other
            }
            #[inline(always)]
            fn fma(self, factor: $type, addend: $type) -> $type {
                self.mul_add(factor, addend)
            }
            fn same(self, other: $type) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    };
}

real!(f32);
real!(f64);
