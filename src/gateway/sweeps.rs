//! The options that stencils share: what stands outside the array, along which dimension, how often, and whether to
//! tell how far it is.

use super::options;
use crate::mex::{Argument, Class, Effort, Error};
use crate::stencil::{Boundary, Lines, Real};

/// From so many multiply-adds on a run is watched: some tens of milliseconds of one core, some thousand times what a
/// thread costs.
const LONG: u128 = 1 << 25;

/// `Boundary`, `Dim`, `Iterations` and `Progress`, as far as a call has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweeps {
    boundary: Boundary<f64>,
    /// Counted from 0.
    dim: Option<usize>,
    iterations: usize,
    progress: bool,
}

impl Default for Sweeps {
    fn default() -> Sweeps {
        Sweeps { boundary: Boundary::default(), dim: None, iterations: 1, progress: false }
    }
}

impl Sweeps {
    /// Takes the option, if it is one of the four; false for any other name.
    pub(super) fn take(&mut self, name: &str, value: &Argument) -> Result<bool, Error> {
        match name {
            "Boundary" => self.boundary = boundary(name, value)?,
            "Dim" => self.dim = Some(options::positive_integer(name, value)? - 1),
            "Iterations" => self.iterations = options::integer_in(name, value, 0..=MAX_ITERATIONS)?,
            "Progress" => self.progress = options::logical(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What stands outside, rounded once to the class that is computed in.
    pub(super) fn boundary<T: Real>(&self) -> Boundary<T> {
        match self.boundary {
            Boundary::Constant(value) => Boundary::Constant(T::from_f64(value)),
            Boundary::Replicate => Boundary::Replicate,
            Boundary::Symmetric => Boundary::Symmetric,
            Boundary::Circular => Boundary::Circular,
        }
    }

    /// The lines of an array of these dimensions.
    pub(super) fn lines(&self, dims: &[usize]) -> Lines {
        self.dim.map_or_else(|| Lines::along_first_non_singleton(dims), |dim| Lines::along(dims, dim))
    }

    /// How many sweeps.
    pub(super) fn iterations(&self) -> usize {
        self.iterations
    }

    /// What they take over so many elements, with so many multiply-adds each.
    pub(super) fn effort(&self, elements: usize, taps: usize) -> Effort {
        let updates = elements as u128 * self.iterations as u128;
        Effort {
            updates: updates.min(u64::MAX.into()) as u64,
            long: updates * taps as u128 >= LONG,
            progress: self.progress,
        }
    }
}

/// More than anyone waits for, and still counted without rounding.
const MAX_ITERATIONS: usize = u32::MAX as usize;

/// The words for boundaries.
const WORDS: [(&str, Boundary<f64>); 3] =
    [("replicate", Boundary::Replicate), ("symmetric", Boundary::Symmetric), ("circular", Boundary::Circular)];

/// A real scalar of any numeric class, or one of the words.
fn boundary(name: &str, value: &Argument) -> Result<Boundary<f64>, Error> {
    if let Some(text) = value.text() {
        return options::choice_of_text(name, text, &WORDS).map_err(|error| Error {
            text: error.text.replace(", expected ", ", expected a real scalar or "),
            ..error
        });
    }
    let number = value.scalar().filter(|_| value.is_real_number() || value.class() == Class::Logical);
    number.map(Boundary::Constant).ok_or_else(|| {
        let words = WORDS.map(|(word, _)| format!("{word:?}")).join(" or ");
        options::bad(format!("Bad value for {name}: got {value}, expected a real scalar or {words}."))
    })
}
