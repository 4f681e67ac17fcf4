//! The operations that the functions are made of.

/// What does the operations that the functions are made of.
///
/// Operations on numbers are rounded once, to nearest, ties to even; subnormal numbers count. Comparisons with NaN are
/// false. Operations on whole numbers drop what does not go into 64 bits.
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
    /// With the other sign.
    fn neg(&mut self, a: Self::Number) -> Self::Number;
    /// Without its sign.
    fn abs(&mut self, a: Self::Number) -> Self::Number;
    /// The nearest whole number, ties to even.
    fn nearest(&mut self, a: Self::Number) -> Self::Number;

    /// The bits of a number.
    fn bits(&mut self, a: Self::Number) -> Self::Whole;
    /// The number of these bits.
    fn of_bits(&mut self, a: Self::Whole) -> Self::Number;

    /// `a + b`.
    fn wadd(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// `a - b`.
    fn wsub(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// The low 64 bits of `a b`.
    fn wmul(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// The high 64 bits of `a b`, both without sign.
    fn wmulhi(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Bits that both have.
    fn wand(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Bits that one of them has.
    fn wor(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Bits that exactly one of them has.
    fn wxor(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// To the left by less than 64.
    fn shl(&mut self, a: Self::Whole, by: u32) -> Self::Whole;
    /// To the right by less than 64; zeros follow.
    fn shr(&mut self, a: Self::Whole, by: u32) -> Self::Whole;
    /// To the left by `by`, which is from 0 to 63.
    fn shl_by(&mut self, a: Self::Whole, by: Self::Whole) -> Self::Whole;
    /// To the right by `by`, which is from 0 to 63; zeros follow.
    fn shr_by(&mut self, a: Self::Whole, by: Self::Whole) -> Self::Whole;

    /// `a < b`.
    fn less(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    /// `a <= b`.
    fn less_equal(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    /// `a == b`.
    fn equal(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    /// `a < b`, with their signs.
    fn wless(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Truth;
    /// `a == b`.
    fn wequal(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Truth;
    /// Whether both are true.
    fn both(&mut self, a: Self::Truth, b: Self::Truth) -> Self::Truth;
    /// Whether one of them is true.
    fn either(&mut self, a: Self::Truth, b: Self::Truth) -> Self::Truth;
    /// Whether it is false.
    fn not(&mut self, a: Self::Truth) -> Self::Truth;

    /// `a` where `which` is true, else `b`.
    fn select(&mut self, which: Self::Truth, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a` where `which` is true, else `b`.
    fn wselect(&mut self, which: Self::Truth, a: Self::Whole, b: Self::Whole) -> Self::Whole;

    /// An entry of a table; `at` lies within.
    fn word(&mut self, table: &'static [u64], at: Self::Whole) -> Self::Whole;

    /// `steps` of these operands, which several functions take. A machine may have them compiled once, apart.
    #[inline(always)]
    fn shared<S: Steps<Self, A, R>, A, R>(&mut self, _: S, operands: A) -> R
    where
        Self: Sized,
    {
        S::take(self, operands)
    }
}

/// Steps that several functions take.
pub trait Steps<M, A, R> {
    /// Takes them.
    fn take(m: &mut M, operands: A) -> R;
}
