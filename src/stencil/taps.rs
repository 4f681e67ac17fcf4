//! The taps of a stencil: an odd number of doubles, 1 to [`MAX_TAPS`].
//!
//! Tap `k` is multiplied with sample `i + k - radius` for output `i`: a correlation, in which the taps are not flipped as
//! those of `filter` and `conv` are. [`TapsError`] says why numbers are no filter.

/// The most taps a filter may have: the entries of the `__constant__` array.
pub const MAX_TAPS: usize = 21;

/// A filter: an odd number of taps, 1 to [`MAX_TAPS`], the middle one laid on the element that is computed.
#[derive(Debug, Clone, Copy)]
pub struct Taps {
    values: [f64; MAX_TAPS],
    len: usize,
}

/// Why some taps are no filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TapsError {
    /// There are none.
    #[error("it is empty")]
    Empty,
    /// An even number of taps has no middle.
    #[error("it has {0} taps, an even number, and so no middle")]
    Even(usize),
    /// More than the constant array holds.
    #[error("it has {0} taps")]
    TooMany(usize),
}

impl Taps {
    /// Copies `values`.
    pub fn new(values: &[f64]) -> Result<Taps, TapsError> {
        match values.len() {
            0 => Err(TapsError::Empty),
            len if len > MAX_TAPS => Err(TapsError::TooMany(len)),
            len if len % 2 == 0 => Err(TapsError::Even(len)),
            len => {
                let mut taps = Taps { values: [0.0; MAX_TAPS], len };
                taps.values[..len].copy_from_slice(values);
                Ok(taps)
            }
        }
    }

    /// The taps in the order in which they meet ascending samples.
    pub fn as_slice(&self) -> &[f64] {
        &self.values[..self.len]
    }

    /// Turns them round: the last one is the first.
    pub fn reverse(&mut self) {
        self.values[..self.len].reverse();
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.len
    }

    /// How many stand on either side of the middle.
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
            match Taps::new(&values) {
                Ok(taps) => {
                    assert!(len % 2 == 1 && len <= 21);
                    assert_eq!(taps.as_slice(), values);
                    assert_eq!(2 * taps.radius() + 1, taps.count());
                }
                Err(TapsError::Empty) => assert_eq!(len, 0),
                Err(TapsError::TooMany(got)) => assert!(got > 21 && got == len as usize),
                Err(TapsError::Even(got)) => assert!(got % 2 == 0 && got == len as usize),
            }
        }
    }
}
