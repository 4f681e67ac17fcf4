//! Primitive operations of the functions.

/// Executes the primitive operations of the functions.
///
/// Operations on numbers are rounded once, to nearest, ties to even; subnormal numbers are supported. Comparisons with
/// NaN are false. Operations on integers wrap at 64 bits.
pub trait Machine {
    /// A double.
    type Number: Copy;
    /// 64 bits, a two's complement integer.
    type Whole: Copy;
    /// True or false.
    type Truth: Copy;

    /// A constant.
    fn number(&mut self, value: f64) -> Self::Number;
    /// A constant.
    fn whole(&mut self, value: i64) -> Self::Whole;

    /// `a + b`.
    fn add(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a - b`.
    fn sub(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a b`.
    fn mul(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a / b`.
    fn div(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a b + c`, rounded once.
    fn fma(&mut self, a: Self::Number, b: Self::Number, c: Self::Number) -> Self::Number;
    /// The square root.
    fn sqrt(&mut self, a: Self::Number) -> Self::Number;
    /// The negative.
    fn neg(&mut self, a: Self::Number) -> Self::Number;
    /// The magnitude.
    fn abs(&mut self, a: Self::Number) -> Self::Number;
    /// The nearest integer, ties to even.
    fn nearest(&mut self, a: Self::Number) -> Self::Number;

    /// The bits of a number.
    fn bits(&mut self, a: Self::Number) -> Self::Whole;
    /// The number with these bits.
    fn of_bits(&mut self, a: Self::Whole) -> Self::Number;

    /// `a + b`.
    fn wadd(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// `a - b`.
    fn wsub(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// The low 64 bits of `a b`.
    fn wmul(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// The high 64 bits of `a b`, both unsigned.
    fn wmulhi(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Bitwise and.
    fn wand(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Bitwise or.
    fn wor(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Bitwise exclusive or.
    fn wxor(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Shifts left by less than 64.
    fn shl(&mut self, a: Self::Whole, by: u32) -> Self::Whole;
    /// Shifts right by less than 64, filling with zeros.
    fn shr(&mut self, a: Self::Whole, by: u32) -> Self::Whole;
    /// Shifts left by `by`, which is from 0 to 63.
    fn shl_by(&mut self, a: Self::Whole, by: Self::Whole) -> Self::Whole;
    /// Shifts right by `by`, which is from 0 to 63, filling with zeros.
    fn shr_by(&mut self, a: Self::Whole, by: Self::Whole) -> Self::Whole;

    /// `a < b`.
    fn less(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    /// `a <= b`.
    fn less_equal(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    /// `a == b`.
    fn equal(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    /// `a < b`, both signed.
    fn wless(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Truth;
    /// `a == b`.
    fn wequal(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Truth;
    /// True if both are true.
    fn both(&mut self, a: Self::Truth, b: Self::Truth) -> Self::Truth;
    /// True if one of them is true.
    fn either(&mut self, a: Self::Truth, b: Self::Truth) -> Self::Truth;
    /// True if it is false.
    fn not(&mut self, a: Self::Truth) -> Self::Truth;

    /// `a` if `which` is true, else `b`.
    fn select(&mut self, which: Self::Truth, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a` if `which` is true, else `b`.
    fn wselect(&mut self, which: Self::Truth, a: Self::Whole, b: Self::Whole) -> Self::Whole;

    /// An entry of a table; `at` lies within.
    fn word(&mut self, table: &'static [u64], at: Self::Whole) -> Self::Whole;

    /// Runs `steps`, which several functions use, on these operands. A machine may compile them once, as a function.
    #[inline(always)]
    fn shared<S: Steps<Self, A, R>, A, R>(&mut self, _: S, operands: A) -> R
    where
        Self: Sized,
    {
        S::take(self, operands)
    }
}

/// A sequence of operations that several functions use.
pub trait Steps<M, A, R> {
    /// Runs it.
    fn take(m: &mut M, operands: A) -> R;
}
