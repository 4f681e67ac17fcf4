//! Reductions: along a dimension, or over everything.

use super::class::is_integer;
use super::result::result;
use super::run::{Number, in_class_of_engine};
use crate::gateway::dims::trimmed;
use crate::gateway::options::value_text;
use crate::gateway::store::StoredArray;
use crate::mex::{Argument, Class, Error, Reply};
use crate::stencil::{Compute, Reduction};

/// A dimension as a script writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Along {
    /// All elements: 0.
    All,
    /// The first dimension that is not 1: -1.
    First,
    /// One dimension, counted from 0.
    Dim(usize),
}

impl Along {
    /// Reads a dimension.
    ///
    /// # Errors
    /// `dimension`.
    pub(super) fn new(dim: &Argument) -> Result<Along, Error> {
        let number = dim.scalar().filter(|dim| dim.fract() == 0.0 && *dim >= -1.0 && *dim < 2_f64.powi(53));
        match number {
            Some(..0.0) => Ok(Along::First),
            Some(0.0) => Ok(Along::All),
            Some(dim) => Ok(Along::Dim(dim as usize - 1)),
            None => Err(wrong_dimension(dim)),
        }
    }

    /// Returns the dimension of an array, counted from 0; `None` for all elements.
    pub(super) fn of(self, dims: &[usize]) -> Option<usize> {
        match self {
            Along::All => None,
            Along::First => Some(dims.iter().position(|&dim| dim != 1).unwrap_or(0)),
            Along::Dim(dim) => Some(dim),
        }
    }
}

pub(super) fn wrong_dimension(dim: &Argument) -> Error {
    let text = format!("A dimension is a whole number from 1 up, and this is {}.", value_text(dim));
    Error::new("dimension", text)
}

/// Returns the number of elements below a dimension, along it and above it.
pub(super) fn split(dims: &[usize], at: usize) -> [usize; 3] {
    let product = |dims: &[usize]| dims.iter().product::<usize>();
    if at < dims.len() { [product(&dims[..at]), dims[at], product(&dims[at + 1..])] } else { [product(dims), 1, 1] }
}

/// Returns the three extents of a reduction, and the dimensions of its result.
pub(super) fn shape(op: Reduction, dims: &[usize], along: Along) -> ([usize; 3], Vec<usize>) {
    // Extremes of no elements are empty; other reductions take 0 x 0 for 0 x 1 unless a dimension is given, as MATLAB
    // and Octave from 11 on do.
    let of_nothing = matches!(op, Reduction::Min | Reduction::Max);
    let mut dims = dims.to_vec();
    if dims == [0, 0] && along == Along::First && !of_nothing {
        dims[1] = 1;
    }
    let at = match along.of(&dims) {
        Some(at) => at,
        None => {
            dims = vec![dims.iter().product(), 1];
            0
        }
    };
    let size = split(&dims, at);
    if at < dims.len() && !(of_nothing && dims[at] == 0) {
        dims[at] = 1;
    }
    (size, trimmed(dims))
}

/// Returns the class of a reduction's result.
fn class_of(op: Reduction, class: Class) -> Class {
    match op {
        Reduction::Any | Reduction::All | Reduction::Differ => Class::Logical,
        Reduction::Min | Reduction::Max => class,
        // Sums of logical values and of integers are numbers in double.
        _ if class == Class::Logical || is_integer(class) => Class::Double,
        _ => class,
    }
}

/// Reduces along a dimension, counted from 1; 0 is everything, -1 the first dimension that is not 1.
pub(super) fn reduce<'a>(array: StoredArray, op: Reduction, dim: &Argument) -> Result<Reply<'a>, Error> {
    let (size, dims) = shape(op, &array.dims, Along::new(dim)?);
    let class = class_of(op, array.class);
    // Logical values that are stored in single are counted in double.
    let computed = if class == Class::Double { Class::Double } else { array.numbers.class() };
    in_class_of_engine!(computed, T => result::<T>(array.home, (class, dims), array.len(), move |engine, to, watch| {
        if to.is_empty() {
            return Ok(watch.check()?);
        }
        let numbers = T::of(&array.numbers, engine, watch)?;
        engine.reduce(op, &numbers, None, size, to, watch)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_of_nothing_have_the_hosts_dimensions() {
        let of = |op, dims: &[usize], along| shape(op, dims, along).1;
        for (dims, along, of_sum, of_max) in [
            (&[0, 0][..], Along::First, &[1, 1][..], &[0, 0][..]),
            (&[0, 0], Along::Dim(0), &[1, 0], &[0, 0]),
            (&[0, 0], Along::Dim(1), &[0, 1], &[0, 0]),
            (&[0, 0], Along::Dim(2), &[0, 0], &[0, 0]),
            (&[0, 3], Along::First, &[1, 3], &[0, 3]),
            (&[3, 0], Along::First, &[1, 0], &[1, 0]),
            (&[3, 0], Along::Dim(1), &[3, 1], &[3, 0]),
            (&[2, 3, 4], Along::Dim(2), &[2, 3], &[2, 3]),
            (&[2, 3, 4], Along::Dim(7), &[2, 3, 4], &[2, 3, 4]),
            (&[2, 3, 4], Along::All, &[1, 1], &[1, 1]),
            (&[1, 1, 4], Along::First, &[1, 1], &[1, 1]),
        ] {
            assert_eq!(of(Reduction::Sum, dims, along), of_sum, "{dims:?} {along:?}");
            assert_eq!(of(Reduction::Max, dims, along), of_max, "{dims:?} {along:?}");
        }
    }
}
