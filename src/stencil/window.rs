//! Range of a filter's outputs relative to the samples: of the same size, larger at both ends, or smaller, along each
//! of three dimensions. The words are those of `conv2`.

/// Range of the outputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shape {
    /// One for each sample.
    #[default]
    Same,
    /// Outputs for which the filter overlaps some sample: one more for each of its entries but the first.
    Full,
    /// Outputs for which the filter lies within the samples: one fewer for each of its entries but the first.
    Valid,
}

/// Outputs of a filter over an array of three dimensions, with their places relative to the samples.
///
/// A dimension without samples has no outputs either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    shape: Shape,
    input: [usize; 3],
    filter: [usize; 3],
}

impl Window {
    /// Window over an array of the size `input`, for a filter of the size `filter`, which has at least one entry.
    pub fn new(shape: Shape, input: [usize; 3], filter: [usize; 3]) -> Window {
        Window { shape, input, filter }
    }

    /// Range of the outputs.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Size of the array.
    pub fn input(&self) -> [usize; 3] {
        self.input
    }

    /// Number of the filter's entries along each dimension, minus one: the filter covers that many more samples than
    /// outputs.
    pub fn others(&self) -> [usize; 3] {
        self.filter.map(|size| size - 1)
    }

    /// Number of entries before the filter's middle.
    pub fn before(&self) -> [usize; 3] {
        self.others().map(|others| others / 2)
    }

    /// Size of the output; `None` if it overflows.
    pub fn size(&self) -> Option<[usize; 3]> {
        let mut size = self.input;
        for (size, others) in size.iter_mut().zip(self.others()) {
            *size = match self.shape {
                _ if *size == 0 => 0,
                Shape::Same => *size,
                Shape::Full => size.checked_add(others)?,
                Shape::Valid => size.saturating_sub(others),
            };
        }
        Some(size)
    }

    /// Place in the array of the first sample under the first output.
    pub fn first_sample(&self) -> [isize; 3] {
        match self.shape {
            Shape::Same => self.before().map(|before| -(before as isize)),
            Shape::Full => self.others().map(|others| -(others as isize)),
            Shape::Valid => [0; 3],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_the_sizes_of_conv2() {
        let size = |shape, input| Window::new(shape, input, [3, 5, 1]).size().unwrap();
        assert_eq!(size(Shape::Same, [4, 5, 6]), [4, 5, 6]);
        assert_eq!(size(Shape::Full, [4, 5, 6]), [6, 9, 6]);
        assert_eq!(size(Shape::Valid, [4, 5, 6]), [2, 1, 6]);
        assert_eq!(size(Shape::Valid, [4, 4, 6]), [2, 0, 6]);
        assert_eq!(size(Shape::Valid, [1, 1, 1]), [0, 0, 1]);
        assert_eq!(size(Shape::Full, [0, 5, 6]), [0, 9, 6]);
        assert_eq!(Window::new(Shape::Full, [usize::MAX; 3], [2; 3]).size(), None);
        // With an even size there is one entry fewer before the middle.
        let even = |shape| Window::new(shape, [9, 9, 9], [2, 4, 6]);
        assert_eq!(even(Shape::Full).size(), Some([10, 12, 14]));
        assert_eq!(even(Shape::Valid).size(), Some([8, 6, 4]));
        assert_eq!((even(Shape::Same).first_sample(), even(Shape::Full).first_sample()), ([0, -1, -2], [-1, -3, -5]));
    }
}
