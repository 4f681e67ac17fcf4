//! Order of elements in a sort.

use crate::stencil::Real;

/// Order of a sorted line.
///
/// -0 equals +0, NaN equals NaN and is larger than any number: so NaN is last in ascending order and first in
/// descending order. The sort is stable in either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

impl Order {
    /// Integer key: smaller for an element that precedes another, and equal for equal ones.
    #[inline(always)]
    pub fn key<T: Real>(self, x: T) -> u64 {
        match self {
            Order::Ascending => x.rank(),
            Order::Descending => !x.rank(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_the_elements() {
        fn check<T: Real>(least: f64) {
            let numbers = [f64::NEG_INFINITY, -1.5, -1.0, -least, 0.0, least, 1.0, 1.5, f64::INFINITY, f64::NAN];
            let keys = |order: Order| numbers.map(|x| order.key(T::from_f64(x)));
            assert!(keys(Order::Ascending).is_sorted_by(|a, b| a < b));
            assert!(keys(Order::Descending).is_sorted_by(|a, b| a > b));
            for order in [Order::Ascending, Order::Descending] {
                let key = |x: f64| order.key(T::from_f64(x));
                assert_eq!((key(-0.0), key(-f64::NAN)), (key(0.0), key(f64::NAN)));
            }
        }
        check::<f64>(5e-324);
        check::<f32>(f32::from_bits(1).into());
    }
}
