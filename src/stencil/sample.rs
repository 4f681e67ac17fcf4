//! Arrays of classes that are computed in another: an 8-bit image in double, for example, with results rounded half
//! away from zero and saturated.

use std::ops::Range;

use super::Real;

/// A class of samples that is computed in the class `T`.
pub trait Sample<T: Real>: Copy + Default + Send + Sync {
    /// Converts it to the class of computation.
    fn widened(self) -> T;

    /// Converts a result to this class: integer classes round to nearest, halves away from zero, and saturate; NaN
    /// gives 0.
    fn narrowed(result: T) -> Self;

    /// Returns the numbers themselves if both classes are the same; `None` otherwise.
    fn as_computed(_: &mut [Self]) -> Option<&mut [T]> {
        None
    }

    /// Casts a number from a caller to this class, as the host does; `None` if the class has no value for it.
    fn cast(number: T) -> Option<Self> {
        Some(Self::narrowed(number))
    }
}

/// Both classes are the same.
impl<T: Real> Sample<T> for T {
    #[inline(always)]
    fn widened(self) -> T {
        self
    }

    #[inline(always)]
    fn narrowed(result: T) -> T {
        result
    }

    fn as_computed(numbers: &mut [T]) -> Option<&mut [T]> {
        Some(numbers)
    }
}

/// Adds almost half to a result, so that truncation gives the nearest integer. The addend is the largest number below
/// 1/2, so that nothing below a half becomes one. (On a baseline processor `round` is a function call.)
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
                // These steps can be vectorised; a saturating cast cannot.
                let result = if result.is_nan() { 0.0 } else { with_half(result) };
                let result = if result > <$type>::MIN.into() { result } else { <$type>::MIN.into() };
                let result = if result < <$type>::MAX.into() { result } else { <$type>::MAX.into() };
                // SAFETY: it is no NaN, and lies between the smallest number of the type and the largest.
                unsafe { result.to_int_unchecked::<i32>() as $type }
            }
        })*
    };
}

whole_numbers!(i8 u8 i16 u16 i32);

/// The largest values exceed an `i32`.
impl Sample<f64> for u32 {
    #[inline(always)]
    fn widened(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn narrowed(result: f64) -> u32 {
        // `as` truncates, saturates, and converts NaN to 0.
        with_half(result) as u32
    }
}

/// Samples of any class in memory, read as numbers of the class of computation.
pub trait Samples<T>: Sync {
    /// Number of samples.
    fn count(&self) -> usize;

    /// Address of the first one, and size of each in bytes.
    fn memory(&self) -> (*const u8, usize);

    /// Copies columns of equal length to `to`. The first one begins at the place `first`; the steps are from row to row
    /// and from column to column.
    ///
    /// # Panics
    /// If there are too few samples.
    fn read(&self, first: usize, steps: [usize; 2], to: &mut [&mut [T]]);
}

/// Memory for results, in any class.
pub trait Results<T>: Sync {
    /// Number of results.
    fn count(&self) -> usize;

    /// Address of the first one, and size of each in bytes.
    fn memory(&self) -> (*const u8, usize);

    /// Returns a range to be written directly; `None` if its class is not that of computation.
    ///
    /// # Safety
    /// No other thread may access this range meanwhile.
    #[allow(clippy::mut_from_ref)]
    unsafe fn places(&self, places: Range<usize>) -> Option<&mut [T]>;

    /// Writes columns of results, of equal length. The first one begins at the place `first`; the steps are from row to
    /// row and from column to column.
    ///
    /// # Safety
    /// No other thread may access these places meanwhile.
    ///
    /// # Panics
    /// If there are too few results.
    unsafe fn write(&self, first: usize, steps: [usize; 2], results: &[&[T]]);
}

impl<T: Real, S: Sample<T>> Samples<T> for &[S] {
    fn count(&self) -> usize {
        self.len()
    }

    fn memory(&self) -> (*const u8, usize) {
        (self.as_ptr().cast(), size_of::<S>())
    }

    fn read(&self, first: usize, [down, across]: [usize; 2], to: &mut [&mut [T]]) {
        let rows = to.first().map_or(0, |column| column.len());
        if down == 1 {
            for (c, to) in to.iter_mut().enumerate() {
                in_vectors(to, &self[first + c * across..][..rows], |to, &sample| *to = S::widened(sample));
            }
            return;
        }
        // Row by row: neighbours are in the cache for all columns.
        let from = &self[first..];
        match to {
            [a, b] => read_by_rows(from, [down, across], [a, b]),
            [a, b, c] => read_by_rows(from, [down, across], [a, b, c]),
            [a, b, c, d, e, f] => read_by_rows(from, [down, across], [a, b, c, d, e, f]),
            _ => (0..to.len()).for_each(|c| read_by_rows(&from[c * across..], [down, across], [&mut *to[c]])),
        }
    }
}

/// Reads some columns of equal length, row by row.
#[inline(always)]
fn read_by_rows<T: Real, S: Sample<T>, const N: usize>(from: &[S], steps: [usize; 2], to: [&mut [T]; N]) {
    let rows = to[0].len();
    assert!(to.iter().all(|to| to.len() == rows) && last_place([rows, N], steps).is_none_or(|last| last < from.len()));
    let to = to.map(<[T]>::as_mut_ptr);
    for row in 0..rows {
        for (c, to) in to.into_iter().enumerate() {
            // SAFETY: none lies beyond the last one.
            unsafe { *to.add(row) = from.get_unchecked(row * steps[0] + c * steps[1]).widened() };
        }
    }
}

/// Offset from the first element to the last one of some rows and columns, with these steps from row to row and from
/// column to column; `None` if there is none.
///
/// # Panics
/// If it overflows.
pub(crate) fn last_place([rows, columns]: [usize; 2], [down, across]: [usize; 2]) -> Option<usize> {
    let [rows, columns] = [rows.checked_sub(1)?, columns.checked_sub(1)?];
    let place = rows.checked_mul(down).zip(columns.checked_mul(across)).and_then(|(a, b)| a.checked_add(b));
    Some(place.expect("a place in memory"))
}

/// Calls `each` for every pair, compiled with this processor's vector instructions.
#[inline(always)]
pub(crate) fn in_vectors<A, B>(to: &mut [A], from: &[B], each: impl Fn(&mut A, &B)) {
    #[inline(always)]
    fn plain<A, B>(to: &mut [A], from: &[B], each: impl Fn(&mut A, &B)) {
        to.iter_mut().zip(from).for_each(|(to, from)| each(to, from));
    }
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn of_avx2<A, B>(to: &mut [A], from: &[B], each: impl Fn(&mut A, &B)) {
            plain(to, from, each);
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: this processor has the instructions.
            return unsafe { of_avx2(to, from, each) };
        }
    }
    plain(to, from, each);
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // The last double below a half, where doubles are widely spaced.
        let half: f64 = 4_294_967_293.5;
        assert_eq!((u32::narrowed(half.next_down()), u32::narrowed(half)), (4_294_967_293, 4_294_967_294));
        assert_eq!(i32::MIN.widened(), -2_147_483_648.0);
    }
}
