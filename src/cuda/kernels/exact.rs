//! Conditions for kernels that also multiply by zeros to give the bits of the plain chain of fused multiply-adds.
//!
//! A product with a zero that the filter does not have changes two things only: it is NaN where the sample is infinite
//! or NaN, and it may turn -0 into +0. A sum of a chain that began with +0 is -0 only where a nonzero sum is rounded to
//! it, which [`underflow_limit`] excludes. Kernels compare the [`magnitude_bits`] of each sample with that limit, and
//! recompute by the plain chain all outputs that depend on a sample beyond it.

use super::super::Element;

/// Returns the least [`magnitude_bits`], less 1, of safe nonzero samples: no sum of products with these entries
/// underflows to zero, in any of `sweeps` sweeps. (A sample that is zero is safe, too: 0 less 1 wraps around.)
///
/// The product of a sample and an entry is a multiple of the product of their last places' values. If that is no less
/// than the least subnormal number, each sum is a multiple of it, and none is rounded to zero. In double, 2^-1074, a
/// sample of 2^e is not safe if e - 52 and the exponent of the smallest entry's last place add up to less than -1074. A
/// multiple of a power of two stays one when it is rounded; so the next sweep needs that exponent once more.
pub(super) fn underflow_limit<T: Element>(entries: &[T], sweeps: usize) -> u32 {
    // Digits behind the first one, the exponent of the least subnormal number, the maximum of a stored exponent, and
    // its position in the magnitude.
    let (digits, least, most, place) = if T::NAME == f32::NAME { (23, -149, 0xff, 24) } else { (52, -1074, 0x7ff, 21) };
    // Exponent of the last place of each nonzero entry; sums with infinities and NaN are never finite, so these have
    // none.
    let last_place = |entry: f64| (((entry.to_bits() >> 52 & 0x7ff) as i32).max(1) - 1023 - digits).max(least);
    let entries = entries.iter().map(|entry| entry.to_f64()).filter(|entry| *entry != 0.0 && entry.is_finite());
    match entries.map(last_place).min() {
        // The stored exponent, at its position in the magnitude, less one.
        Some(last) if last < 0 => {
            let exponent: i32 = (1 - last.saturating_mul(sweeps as i32)).min(most);
            ((exponent as u32) << place) - 1
        }
        _ => 0,
    }
}

/// Returns the magnitude of a value, as the kernels compute it: 0 for zero alone. In double these are the upper 32 bits
/// without the sign, and a last bit that is set if any of the lower 32 bits is.
pub(super) fn magnitude_bits<T: Element>(value: f64) -> u32 {
    if T::NAME == f32::NAME {
        return (value as f32).to_bits() << 1;
    }
    let bits = value.to_bits();
    ((bits >> 32) as u32) << 1 | u32::from(bits as u32 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_where_sums_underflow() {
        let nearness = |sample: f64| magnitude_bits::<f64>(sample).wrapping_sub(1);
        for exponent in [-1074, -1060, -1022, -1000, -500, -60, -53, -10, -1, 0, 5, 51] {
            let entry = if exponent < -1022 {
                f64::from_bits(1 << (exponent + 1074)) + f64::from_bits(1)
            } else {
                2_f64.powi(exponent) * (1.0 + f64::EPSILON)
            };
            let limit = underflow_limit(&[f64::MAX, 0.0, -entry, f64::NAN], 1);
            assert_ne!(limit, 0, "{exponent}");
            // The least safe sample is a power of two: its last place and the entry's have the least
            // subnormal number as their product.
            let least = f64::from_bits(u64::from((limit + 1) >> 1) << 32);
            assert!(nearness(least) >= limit && nearness(least.next_down()) < limit, "{exponent}");
            let exponents = (least.to_bits() >> 52) as i32 - 1075 + ((entry.to_bits() >> 52) as i32).max(1) - 1075;
            assert_eq!(exponents, -1074, "{exponent}");
            assert!(nearness(0.0) >= limit && nearness(-0.0) >= limit && nearness(f64::from_bits(1)) < limit);
        }
        assert_eq!(underflow_limit(&[0.0, -0.0], 1), 0);
        assert_eq!(underflow_limit(&[2_f64.powi(52)], 1), 0);
    }

    /// In single, and for several sweeps: the least safe sample has sums that are multiples of the least subnormal
    /// number, to the last sweep, and half of it has not.
    #[test]
    fn the_limit_counts_for_several_sweeps() {
        let nearness = |sample: f32| magnitude_bits::<f32>(sample.into()).wrapping_sub(1);
        for (entry, sweeps, exponent) in
            [(0.25_f32, 1, -101), (0.25, 2, -76), (-1.0, 1, -103), (3.0, 8, 50), (0.2, 2, -74)]
        {
            let limit = underflow_limit(&[f32::MAX, entry, 0.0], sweeps);
            let least = 2_f32.powi(exponent);
            assert!(nearness(least) >= limit && nearness(-least.next_down()) < limit, "{entry}, {sweeps}");
            // The exponent of the entry's last place; that of the last sweep's products is the least possible one.
            let last = (entry.abs().to_bits() >> 23) as i32 - 150;
            assert_eq!(exponent - 23 + sweeps as i32 * last, -149, "{entry}, {sweeps}");
            assert!(nearness(0.0) >= limit && nearness(-0.0) >= limit && nearness(f32::from_bits(1)) < limit);
        }
        // Even if no nonzero sample is safe, zero is.
        let limit = underflow_limit(&[1e-30_f32], 4);
        assert!(nearness(f32::MAX) < limit && nearness(0.0) >= limit);
        let limit = underflow_limit(&[1e-300_f64], 4);
        assert!(magnitude_bits::<f64>(f64::MAX) - 1 < limit && magnitude_bits::<f64>(0.0).wrapping_sub(1) >= limit);
        let both = [1, 2].map(|sweeps| underflow_limit(&[0.25_f64], sweeps));
        assert_eq!(both.map(|limit| (limit + 1) >> 21), [55, 109]);
    }
}
