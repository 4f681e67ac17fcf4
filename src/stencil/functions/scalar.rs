//! The machine that computes directly, number by number.

use super::machine::Machine;

/// Numbers are `f64`. Everything is inlined, so that the compiler vectorises loops over a function.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scalar;

/// The nearest integer, ties to even: below 2 to 52 the sum has no fractional bits. Some machines have no instruction
/// for it.
#[inline(always)]
fn nearest(a: f64) -> f64 {
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    let nearest = (a.abs() + WHOLE) - WHOLE;
    if a.abs() < WHOLE { nearest.copysign(a) } else { a }
}

macro_rules! operations {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $body:expr;)*) => {
        $(#[inline(always)]
        fn $name(&mut self, $($argument: $type),*) -> $result {
            $body
        })*
    };
}

impl Machine for Scalar {
    type Number = f64;
    type Whole = u64;
    type Truth = bool;

    operations! {
        number(value: f64) -> f64 = value;
        whole(value: i64) -> u64 = value as u64;
        add(a: f64, b: f64) -> f64 = a + b;
        sub(a: f64, b: f64) -> f64 = a - b;
        mul(a: f64, b: f64) -> f64 = a * b;
        div(a: f64, b: f64) -> f64 = a / b;
        fma(a: f64, b: f64, c: f64) -> f64 = a.mul_add(b, c);
        sqrt(a: f64) -> f64 = a.sqrt();
        neg(a: f64) -> f64 = -a;
        abs(a: f64) -> f64 = a.abs();
        nearest(a: f64) -> f64 = nearest(a);
        bits(a: f64) -> u64 = a.to_bits();
        of_bits(a: u64) -> f64 = f64::from_bits(a);
        wadd(a: u64, b: u64) -> u64 = a.wrapping_add(b);
        wsub(a: u64, b: u64) -> u64 = a.wrapping_sub(b);
        wmul(a: u64, b: u64) -> u64 = a.wrapping_mul(b);
        wmulhi(a: u64, b: u64) -> u64 = ((u128::from(a) * u128::from(b)) >> 64) as u64;
        wand(a: u64, b: u64) -> u64 = a & b;
        wor(a: u64, b: u64) -> u64 = a | b;
        wxor(a: u64, b: u64) -> u64 = a ^ b;
        shl(a: u64, by: u32) -> u64 = a << by;
        shr(a: u64, by: u32) -> u64 = a >> by;
        shl_by(a: u64, by: u64) -> u64 = a << (by & 63);
        shr_by(a: u64, by: u64) -> u64 = a >> (by & 63);
        less(a: f64, b: f64) -> bool = a < b;
        less_equal(a: f64, b: f64) -> bool = a <= b;
        equal(a: f64, b: f64) -> bool = a == b;
        wless(a: u64, b: u64) -> bool = (a as i64) < b as i64;
        wequal(a: u64, b: u64) -> bool = a == b;
        both(a: bool, b: bool) -> bool = a & b;
        either(a: bool, b: bool) -> bool = a | b;
        not(a: bool) -> bool = !a;
        select(which: bool, a: f64, b: f64) -> f64 = if which { a } else { b };
        wselect(which: bool, a: u64, b: u64) -> u64 = if which { a } else { b };
        word(table: &'static [u64], at: u64) -> u64 = table[at as usize];
    }
}
