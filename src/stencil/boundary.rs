//! Boundaries: the ghost values around an array.
//!
//! An array has ghost values wherever a filter reaches beyond its ends. A [`Boundary`] defines them at one end of a
//! dimension, [`Ends`] at both ends, [`Sides`] around an array of three dimensions. The words are those of `imfilter`
//! and `padarray`; `Mirror` is SciPy's.
//!
//! # Contract
//! - Ghost values are multiplied like any sample: a result is that of an array padded first. A constant of 0 is +0, so
//!   an infinite tap over it gives NaN.
//! - In repeated sweeps each sweep pads anew, from the results of the last sweep.
//! - Places are counted from the first sample, which is 0; those before it are negative. They may lie any distance
//!   outside, even if the array is shorter than the filter.
//! - A ghost value is a constant, or a sample no farther from that end than the place outside: a tile with a halo has it.
//!   Only a circular dimension takes it from the other end, and those who cut arrays ask [`Ends::is_circular`].
//! - A dimension is circular at both ends or at none; [`Ends::new`] gives `None` otherwise.

use std::ops::Index;

use super::{Real, Sample};

/// All boundaries but the constants, which are numbers in an option, with their words there.
pub const BOUNDARY_WORDS: [(&str, Boundary<f64>); 4] = [
    ("replicate", Boundary::Replicate),
    ("symmetric", Boundary::Symmetric),
    ("mirror", Boundary::Mirror),
    ("circular", Boundary::Circular),
];

/// The ghost values beyond an end of a dimension. Those that users may ask for are in [`BOUNDARY_WORDS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Boundary<T> {
    /// This number.
    Constant(T),
    /// The nearest sample of the array.
    Replicate,
    /// The array mirrored, with the border sample repeated: 2 1 | 1 2 3 | 3 2.
    Symmetric,
    /// The array mirrored at the border sample, which is not repeated: 3 2 | 1 2 3 | 2 1.
    Mirror,
    /// The array repeated: 2 3 | 1 2 3 | 1 2.
    Circular,
}

/// Zeros by default.
impl<T: Real> Default for Boundary<T> {
    fn default() -> Boundary<T> {
        Boundary::Constant(T::default())
    }
}

impl Boundary<f64> {
    /// One boundary of each kind, the first of which is this constant.
    pub const fn all_kinds(constant: f64) -> [Boundary<f64>; 1 + BOUNDARY_WORDS.len()] {
        let [(_, a), (_, b), (_, c), (_, d)] = BOUNDARY_WORDS;
        [Boundary::Constant(constant), a, b, c, d]
    }
}

impl<T: Copy> Boundary<T> {
    /// Converts its constant.
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> Boundary<U> {
        match self {
            Boundary::Constant(value) => Boundary::Constant(convert(value)),
            Boundary::Replicate => Boundary::Replicate,
            Boundary::Symmetric => Boundary::Symmetric,
            Boundary::Mirror => Boundary::Mirror,
            Boundary::Circular => Boundary::Circular,
        }
    }
}

impl<T: Real> Boundary<T> {
    /// Index of the sample, of `length`, with the value at the place `at`, anywhere inside or outside; `None` for a
    /// constant.
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
            Boundary::Mirror => {
                // A single sample is its own mirror image.
                let period = (2 * count - 2).max(1);
                let at = at.rem_euclid(period);
                Some(if at < count { at } else { period - at } as usize)
            }
            Boundary::Circular => Some(at.rem_euclid(count) as usize),
        }
    }

    /// True if both have the same ghost values, to the last bit.
    pub fn same(&self, other: Boundary<T>) -> bool {
        match (*self, other) {
            (Boundary::Constant(a), Boundary::Constant(b)) => a.same(b),
            (a, b) => a == b,
        }
    }

    /// The constant; +0 for the others, which do not use it.
    pub fn constant(&self) -> T {
        match self {
            Boundary::Constant(value) => *value,
            _ => T::default(),
        }
    }
}

/// Boundaries at both ends of a dimension. Both are circular or neither.
///
/// Each end is extended as if the other one had its boundary too: if the array is shorter than the filter, a mirror is
/// mirrored again at the far end, for any boundary there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends<T> {
    low: Boundary<T>,
    high: Boundary<T>,
}

/// Zeros by default.
impl<T: Real> Default for Ends<T> {
    fn default() -> Ends<T> {
        Boundary::default().into()
    }
}

/// Uses one boundary for both ends.
impl<T: Copy> From<Boundary<T>> for Ends<T> {
    fn from(boundary: Boundary<T>) -> Ends<T> {
        Ends { low: boundary, high: boundary }
    }
}

impl<T: Copy> Ends<T> {
    /// Converts their constants.
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> Ends<U> {
        Ends { low: self.low.map(&convert), high: self.high.map(&convert) }
    }
}

impl<T: Real> Ends<T> {
    /// Combines a boundary before the first sample with another after the last; `None` if just one of them is circular.
    pub fn new(low: Boundary<T>, high: Boundary<T>) -> Option<Ends<T>> {
        let circular = |boundary| matches!(boundary, Boundary::Circular);
        (circular(low) == circular(high)).then_some(Ends { low, high })
    }

    /// Boundaries before the first sample, and after the last.
    pub fn both(&self) -> [Boundary<T>; 2] {
        [self.low, self.high]
    }

    /// True if the dimension is periodic.
    pub fn is_circular(&self) -> bool {
        matches!(self.low, Boundary::Circular)
    }

    /// True if there is a constant at either end.
    pub fn has_constant(&self) -> bool {
        self.both().iter().any(|boundary| matches!(boundary, Boundary::Constant(_)))
    }

    /// Index of the sample, of `length`, with the value at the place `at`, anywhere inside or outside.
    ///
    /// # Errors
    /// The constant, if that is the value.
    ///
    /// # Panics
    /// If there are no samples.
    pub fn sample_at(&self, at: isize, length: usize) -> Result<usize, T> {
        let end = if at < 0 { &self.low } else { &self.high };
        end.sample_at(at, length).ok_or(end.constant())
    }

    /// The value at a place: a sample, or the ghost value there.
    pub fn value_at<S: Sample<T>>(&self, at: isize, samples: &[S]) -> T {
        self.sample_at(at, samples.len()).map_or_else(|constant| constant, |at| samples[at].widened())
    }

    /// True if both have the same ghost values, to the last bit.
    pub fn same(&self, other: Ends<T>) -> bool {
        self.low.same(other.low) && self.high.same(other.high)
    }
}

/// Boundaries around an array of three dimensions.
///
/// Ghost values are those of an array padded along its first dimension, then along the second, then along the third:
/// where two sides meet, a constant of the later dimension counts, and otherwise the ghost value of the earlier one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sides<T>([Ends<T>; 3]);

/// Zeros by default.
impl<T: Real> Default for Sides<T> {
    fn default() -> Sides<T> {
        Boundary::default().into()
    }
}

/// Uses one boundary for all sides.
impl<T: Copy> From<Boundary<T>> for Sides<T> {
    fn from(boundary: Boundary<T>) -> Sides<T> {
        Sides([boundary.into(); 3])
    }
}

/// Ends of each dimension.
impl<T> From<[Ends<T>; 3]> for Sides<T> {
    fn from(ends: [Ends<T>; 3]) -> Sides<T> {
        Sides(ends)
    }
}

/// Ends of a dimension, counted from 0.
impl<T> Index<usize> for Sides<T> {
    type Output = Ends<T>;

    fn index(&self, dim: usize) -> &Ends<T> {
        &self.0[dim]
    }
}

impl<T: Copy> Sides<T> {
    /// Converts their constants.
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> Sides<U> {
        Sides(self.0.map(|ends| ends.map(&convert)))
    }
}

impl<T: Real> Sides<T> {
    /// Indices of the sample, of an array of this size, with the value at a place, anywhere inside or outside.
    ///
    /// # Errors
    /// The constant, if that is the value.
    ///
    /// # Panics
    /// If the array is empty.
    pub fn sample_at(&self, at: [isize; 3], size: [usize; 3]) -> Result<[usize; 3], T> {
        let mut found = [0; 3];
        for d in [2, 1, 0] {
            found[d] = self.0[d].sample_at(at[d], size[d])?;
        }
        Ok(found)
    }

    /// Returns the boundary, if it is the same on all sides, to the last bit.
    pub fn uniform(&self) -> Option<Boundary<T>> {
        let [first, ..] = self.0[0].both();
        self.0.iter().all(|ends| ends.same(first.into())).then_some(first)
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
        // As in scipy.ndimage, also for an array shorter than the filter.
        assert_eq!(places(Boundary::Mirror, 3), some(&[1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1]));
        assert_eq!(places(Boundary::Mirror, 2), some(&[1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]));
        assert_eq!(places(Boundary::Mirror, 1), some(&[0; 15]));
        assert_eq!(places(Boundary::Circular, 2), some(&[1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]));
        let constant = places(Boundary::Constant(5.0), 2);
        assert_eq!((constant[6], constant[7], constant[8], constant[9]), (None, Some(0), Some(1), None));
    }

    /// Tiles have a halo of as many samples as a filter reaches.
    #[test]
    fn ghost_values_are_samples_near_their_end() {
        for boundary in Boundary::all_kinds(1.0).into_iter().filter(|&kind| kind != Boundary::Circular) {
            for outside in 1..9 {
                let [below, above] = [-outside, 8 + outside].map(|at| boundary.sample_at(at, 9));
                assert!(below.is_none_or(|sample| sample as isize <= outside), "{boundary:?} at -{outside}");
                assert!(above.is_none_or(|sample| sample as isize >= 8 - outside), "{boundary:?} at {}", 8 + outside);
            }
        }
    }

    #[test]
    fn each_end_is_extended_by_itself() {
        let ends = Ends::new(Boundary::Symmetric, Boundary::Constant(7.0)).unwrap();
        let found: Vec<_> = (-5..5).map(|at| ends.sample_at(at, 2)).collect();
        assert_eq!(found, [Ok(0), Ok(0), Ok(1), Ok(1), Ok(0), Ok(0), Ok(1), Err(7.0), Err(7.0), Err(7.0)]);
        let ends = Ends::new(Boundary::Constant(-1.0), Boundary::Mirror).unwrap();
        let found: Vec<_> = (-1..7).map(|at| ends.value_at(at, &[10.0, 20.0, 30.0])).collect();
        assert_eq!(found, [-1.0, 10.0, 20.0, 30.0, 20.0, 10.0, 20.0, 30.0]);
        assert_eq!(Ends::new(Boundary::Circular, Boundary::Constant(0.0)), None);
        assert_eq!(Ends::new(Boundary::Replicate, Boundary::<f64>::Circular), None);
        assert!(Ends::new(Boundary::<f64>::Circular, Boundary::Circular).unwrap().is_circular());
    }

    /// Ghost values agree with padding one dimension after the other.
    #[test]
    fn sides_are_those_of_an_array_padded_along_one_dimension_after_the_other() {
        let (one, two) = (Boundary::Constant(-1.0), Boundary::Constant(-2.0));
        let ends = |low, high| Ends::new(low, high).unwrap();
        for sides in [
            Sides::from([ends(one, Boundary::Replicate), ends(Boundary::Mirror, two), Boundary::Circular.into()]),
            Sides::from([Boundary::Circular.into(), ends(Boundary::Replicate, Boundary::Symmetric), ends(two, one)]),
            Sides::from([ends(one, two), ends(two, Boundary::Mirror), ends(Boundary::Replicate, one)]),
        ] {
            let (size, margin) = ([3, 2, 4], 5_usize);
            let number = |at: [usize; 3]| (at[0] + size[0] * (at[1] + size[1] * at[2])) as f64;
            // Padding along one dimension after the other: a growing map of places to numbers.
            let mut padded = std::collections::HashMap::new();
            for k in 0..size[2] as isize {
                for j in 0..size[1] as isize {
                    for i in 0..size[0] as isize {
                        padded.insert([i, j, k], number([i, j, k].map(|at| at as usize)));
                    }
                }
            }
            for d in 0..3 {
                let last = padded.clone();
                for (&place, _) in last.iter().filter(|(place, _)| place[d] == 0) {
                    for at in -(margin as isize)..(size[d] + margin) as isize {
                        let mut to = place;
                        to[d] = at;
                        let value = match sides[d].sample_at(at, size[d]) {
                            Ok(sample) => {
                                let mut from = place;
                                from[d] = sample as isize;
                                last[&from]
                            }
                            Err(constant) => constant,
                        };
                        padded.insert(to, value);
                    }
                }
            }
            assert_eq!(padded.len(), 13 * 12 * 14);
            for (place, value) in padded {
                let found = sides.sample_at(place, size).map_or_else(|constant| constant, number);
                assert_eq!(found, value, "{place:?} of {sides:?}");
            }
            assert_eq!(sides.uniform(), None);
        }
        assert_eq!(Sides::from(one).uniform(), Some(one));
        assert_eq!(Sides::from([one.into(), one.into(), two.into()]).uniform(), None);
    }
}
