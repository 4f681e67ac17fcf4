//! The first derivative along lines: nine points, eighth order.
//!
//! # Contract
//! `output[i]` is the chain `acc = +0`, then `acc = fma(c_d, f[i + d] - f[i - d], acc)` for d = 1..4. The difference is
//! rounded in the class of the samples; `c_d` is weight / h, computed in double and rounded once to that class. The
//! unit is that of `f` over that of the spacing h. [Ghost values](super::Ends) are 0 by default, so that the first and
//! the last four outputs of a line show the jump to them.
//!
//! h may be any number: with 0 or NaN the coefficients are infinite or NaN, and so are results.

use super::{Ends, Lines, Real};

/// Number of samples on either side that the nine-point derivative needs.
pub const DERIVATIVE_RADIUS: usize = 4;

/// Weights of the differences `f(x + ih) - f(x - ih)`, i = 1..4, in the first derivative of eighth order, times the
/// spacing h.
const WEIGHTS: [f64; DERIVATIVE_RADIUS] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];

/// Memory from which a GPU reads the coefficients. The result is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoefficientSource {
    /// From `__constant__` memory.
    Constant,
    /// From global memory, through the read-only cache.
    ReadOnly,
}

/// The first derivative of samples along lines, of eighth order, from nine points.
#[derive(Debug, Clone, Copy)]
pub struct Derivative<T> {
    lines: Lines,
    coefficients: [T; DERIVATIVE_RADIUS],
    source: CoefficientSource,
    boundary: Ends<T>,
}

impl<T: Real> Derivative<T> {
    /// Derivative along `lines` of samples `spacing` apart, zeros outside.
    pub fn new(lines: Lines, spacing: f64, source: CoefficientSource) -> Derivative<T> {
        let coefficients = WEIGHTS.map(|weight| T::from_f64(weight / spacing));
        Derivative { lines, coefficients, source, boundary: Ends::default() }
    }

    /// Sets another boundary, or two, one at either end of a line.
    pub fn with_boundary(self, boundary: impl Into<Ends<T>>) -> Derivative<T> {
        Derivative { boundary: boundary.into(), ..self }
    }

    /// Changes the lines.
    pub fn with_lines(self, lines: Lines) -> Derivative<T> {
        Derivative { lines, ..self }
    }

    /// Layout of the samples in lines.
    pub fn lines(&self) -> Lines {
        self.lines
    }

    /// Factors of the four differences, from the nearest outwards.
    pub fn coefficients(&self) -> &[T; DERIVATIVE_RADIUS] {
        &self.coefficients
    }

    /// Memory from which a GPU reads them.
    pub fn source(&self) -> CoefficientSource {
        self.source
    }

    /// Boundaries at the ends of a line.
    pub fn boundary(&self) -> Ends<T> {
        self.boundary
    }
}
