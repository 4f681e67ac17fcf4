//! Which outputs a filter has: as many as samples, more at both ends, or fewer; and the classes that samples may have.
//!
//! A [`Window`] is where the outputs lie beside the samples, along each of three dimensions; the words are those of `conv2`.
//! A [`Sample`] is an element of a class that is computed on in another: an 8-bit image in double, for example, with
//! results rounded half away from zero and saturated.

use super::Real;

/// Which outputs there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shape {
    /// One for each sample.
    #[default]
    Same,
    /// Outputs for which the filter meets a sample at all: one more for each of its entries but the first.
    Full,
    /// Outputs for which the filter meets samples only: one fewer for each of its entries but the first.
    Valid,
}

/// The outputs of a filter over an array of three dimensions, in their places beside the samples.
///
/// Along a dimension without samples there are no outputs either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    shape: Shape,
    input: [usize; 3],
    filter: [usize; 3],
}

impl Window {
    /// Of an array of the size `input`, under a filter of the size `filter`, which has an entry at least.
    pub fn new(shape: Shape, input: [usize; 3], filter: [usize; 3]) -> Window {
        Window { shape, input, filter }
    }

    /// Which outputs there are.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The size of the array.
    pub fn input(&self) -> [usize; 3] {
        self.input
    }

    /// The entries of the filter along each dimension, but for one: so many more samples than outputs a filter meets.
    pub fn others(&self) -> [usize; 3] {
        self.filter.map(|size| size - 1)
    }

    /// Entries ahead of the filter's middle.
    pub fn before(&self) -> [usize; 3] {
        self.others().map(|others| others / 2)
    }

    /// The size of the output; `None` where that is beyond counting.
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

    /// The place in the array of the first sample that the first output meets.
    pub fn first_sample(&self) -> [isize; 3] {
        match self.shape {
            Shape::Same => self.before().map(|before| -(before as isize)),
            Shape::Full => self.others().map(|others| -(others as isize)),
            Shape::Valid => [0; 3],
        }
    }
}

/// A class of samples that is computed on in the class `T`.
pub trait Sample<T: Real>: Copy + Default + Send + Sync {
    /// Its value in the class that is computed in.
    fn widened(self) -> T;

    /// The value of this class for a result: of whole numbers the nearest, half-way cases away from zero; the largest
    /// or the smallest for what is beyond them; 0 for NaN.
    fn narrowed(result: T) -> Self;

    /// The value of this class for a number that a caller gives, as a cast of the host's has it; `None` where the class has
    /// none for it.
    fn cast(number: T) -> Option<Self> {
        Some(Self::narrowed(number))
    }
}

/// Nothing changes.
impl<T: Real> Sample<T> for T {
    #[inline(always)]
    fn widened(self) -> T {
        self
    }

    #[inline(always)]
    fn narrowed(result: T) -> T {
        result
    }
}

/// A result for which the nearest whole number is what it is without its fraction. What is added is the largest number below
/// 1/2, so that nothing below a half becomes one. (`round` is a call of a function on a processor of the least kind.)
#[inline(always)]
fn with_half(result: f64) -> f64 {
    result + 0.499_999_999_999_999_94_f64.copysign(result)
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {
        $(impl Sample<f64> for $type {
            #[inline(always)]
            fn widened(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn narrowed(result: f64) -> $type {
                // Steps that there are vectors for; a cast that saturates is none.
                let result = if result.is_nan() { 0.0 } else { with_half(result) };
                let result = if result > <$type>::MIN.into() { result } else { <$type>::MIN.into() };
                let result = if result < <$type>::MAX.into() { result } else { <$type>::MAX.into() };
                // SAFETY: it is no NaN, and lies between the least number of the type and the largest.
                unsafe { result.to_int_unchecked::<i32>() as $type }
            }
        })*
    };
}

whole_numbers!(i8 u8 i16 u16 i32);

/// The largest are beyond an `i32`.
impl Sample<f64> for u32 {
    #[inline(always)]
    fn widened(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn narrowed(result: f64) -> u32 {
        // `as` cuts off, saturates, and makes 0 of NaN.
        with_half(result) as u32
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
        // Of an even size the middle has one entry fewer ahead of it.
        let even = |shape| Window::new(shape, [9, 9, 9], [2, 4, 6]);
        assert_eq!(even(Shape::Full).size(), Some([10, 12, 14]));
        assert_eq!(even(Shape::Valid).size(), Some([8, 6, 4]));
        assert_eq!((even(Shape::Same).first_sample(), even(Shape::Full).first_sample()), ([0, -1, -2], [-1, -3, -5]));
    }

    #[test]
    fn results_are_rounded_and_saturate() {
        for (result, rounded) in
            [(0.5, 1), (-0.5, -1), (1.5, 2), (2.5, 3), (0.499_999_999_999_999_94, 0), (127.4, 127), (127.5, 127)]
        {
            assert_eq!(i8::narrowed(result), rounded, "{result}");
        }
        assert_eq!((i8::narrowed(1e300), i8::narrowed(f64::NEG_INFINITY), i8::narrowed(f64::NAN)), (127, -128, 0));
        assert_eq!((u8::narrowed(255.5), u8::narrowed(-0.5), u8::narrowed(f64::NAN)), (255, 0, 0));
        assert_eq!(
            (i32::narrowed(2e9 + 0.5), i32::narrowed(-3e9), i32::narrowed(3e9)),
            (2_000_000_001, i32::MIN, i32::MAX)
        );
        assert_eq!((u32::narrowed(4_294_967_295.5), u32::narrowed(-0.6)), (u32::MAX, 0));
        // The last double below a half, where doubles are far apart.
        let half: f64 = 4_294_967_293.5;
        assert_eq!((u32::narrowed(half.next_down()), u32::narrowed(half)), (4_294_967_293, 4_294_967_294));
        assert_eq!(i32::MIN.widened(), -2_147_483_648.0);
    }
}
