//! The taps of a stencil: an odd number of doubles, 1 to [`MAX_TAPS`].
//!
//! Tap `k` is multiplied with sample `i + k - radius` for output `i`: a correlation, in which the taps are not flipped
//! as they are in `filter` and `conv`. Filters of other lengths, and singles, are [convolutions](super::Convolution)
//! along one dimension.

/// Maximum number of taps with a dedicated kernel: the entries of the `__constant__` array.
pub const MAX_TAPS: usize = 21;

/// A filter: an odd number of taps, 1 to [`MAX_TAPS`], with the middle one on the computed element.
#[derive(Debug, Clone, Copy)]
pub struct Taps {
    values: [f64; MAX_TAPS],
    len: usize,
}

impl Taps {
    /// Copies `values`; `None` if their number is even, or more than [`MAX_TAPS`].
    pub fn new(values: &[f64]) -> Option<Taps> {
        if !Taps::fit(values.len()) {
            return None;
        }
        let mut taps = Taps { values: [0.0; MAX_TAPS], len: values.len() };
        taps.values[..values.len()].copy_from_slice(values);
        Some(taps)
    }

    /// True if so many taps have a dedicated kernel.
    pub fn fit(count: usize) -> bool {
        count <= MAX_TAPS && !count.is_multiple_of(2)
    }

    /// Taps in the order of ascending samples.
    pub fn as_slice(&self) -> &[f64] {
        &self.values[..self.len]
    }

    /// Reverses the taps.
    pub fn reversed(mut self) -> Taps {
        self.values[..self.len].reverse();
        self
    }

    /// Number of taps.
    pub fn count(&self) -> usize {
        self.len
    }

    /// Number of taps on either side of the middle.
    pub fn radius(&self) -> usize {
        self.len / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_counts_up_to_the_limit_are_filters() {
        for len in 0..=30 {
            let values: Vec<f64> = (0..len).map(f64::from).collect();
            let taps = Taps::new(&values);
            assert_eq!(taps.is_some(), len % 2 == 1 && len <= 21);
            if let Some(taps) = taps {
                assert_eq!(taps.as_slice(), values);
                assert_eq!(2 * taps.radius() + 1, taps.count());
            }
        }
    }
}
