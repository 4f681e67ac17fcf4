use super::Real;

/// What stands where a line, or an image, has no samples. The words are those of `imfilter` and `padarray`.
///
/// Samples outside are *extended and multiplied*: the result is that of an array that was padded first. In repeated
/// sweeps every sweep pads anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Boundary<T> {
    /// This number.
    Constant(T),
    /// The nearest sample of the array.
    Replicate,
    /// The array mirrored, the sample at the border standing twice: 2 1 | 1 2 3 | 3 2.
    Symmetric,
    /// The array over and over: 2 3 | 1 2 3 | 1 2.
    Circular,
}

/// Zeros.
impl<T: Real> Default for Boundary<T> {
    fn default() -> Boundary<T> {
        Boundary::Constant(T::default())
    }
}

impl<T: Real> Boundary<T> {
    /// Which of `length` samples stands at the place `at`, which may be anywhere, also further out than the samples
    /// reach; `None` for the constant.
    ///
    /// # Panics
    /// If there are no samples.
    pub fn sample_at(&self, at: isize, length: usize) -> Option<usize> {
        assert!(length > 0);
        let count = length as isize;
        if (0..count).contains(&at) {
            return Some(at as usize);
        }
        match self {
            Boundary::Constant(_) => None,
            Boundary::Replicate => Some(at.clamp(0, count - 1) as usize),
            Boundary::Symmetric => {
                let at = at.rem_euclid(2 * count);
                Some(if at < count { at } else { 2 * count - 1 - at } as usize)
            }
            Boundary::Circular => Some(at.rem_euclid(count) as usize),
        }
    }

    /// Whether both put the same outside, to the last bit.
    pub fn same(&self, other: Boundary<T>) -> bool {
        match (*self, other) {
            (Boundary::Constant(a), Boundary::Constant(b)) => a.same(b),
            (a, b) => a == b,
        }
    }

    /// The number outside, where it is one; +0 for the others, which have no use for it.
    pub fn constant(&self) -> T {
        match self {
            Boundary::Constant(value) => *value,
            _ => T::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(boundary: Boundary<f64>, length: usize) -> Vec<Option<usize>> {
        (-7..length as isize + 7).map(|at| boundary.sample_at(at, length)).collect()
    }

    fn some(places: &[usize]) -> Vec<Option<usize>> {
        places.iter().copied().map(Some).collect()
    }

    #[test]
    fn places_are_those_of_padarray() {
        assert_eq!(places(Boundary::Replicate, 3), some(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2]));
        assert_eq!(places(Boundary::Symmetric, 3), some(&[0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2]));
        assert_eq!(places(Boundary::Circular, 3), some(&[2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]));
        assert_eq!(places(Boundary::Symmetric, 1), some(&[0; 15]));
        assert_eq!(places(Boundary::Circular, 2), some(&[1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]));
        let constant = places(Boundary::Constant(5.0), 2);
        assert_eq!((constant[6], constant[7], constant[8], constant[9]), (None, Some(0), Some(1), None));
    }
}
