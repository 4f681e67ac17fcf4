//! The domain: what is computed, to the last bit, and the plain reference that every engine is held to.
//!
//! # The arithmetic
//! Every result is a chain of fused multiply-adds from +0 in an order that is part of the contract, each step rounded once; [`Request`],
//! [`Derivative`] and [`Convolution`] say which. Samples outside an array are +0 *and are multiplied*: an infinite tap gives NaN there. That makes the
//! result a function of the inputs alone: engines, thread counts and pieces cannot show in it. Only the payload of a NaN is left open.

mod convolution;
mod derivative;
mod engine;
mod lines;
mod real;
mod reference;
mod taps;

pub use convolution::{Convolution, Filter, FilterError, MAX_FILTER_2D, MAX_FILTER_3D};
pub use derivative::{CoefficientSource, DERIVATIVE_RADIUS, Derivative};
pub use engine::{Compute, Engine, Error};
pub use lines::Lines;
pub use real::Real;
pub use reference::Reference;
pub use taps::{MAX_TAPS, Taps, TapsError};

/// One sweep of a stencil over an array.
///
/// `output[i]` is the chain `acc = +0`, then `acc = fma(sample, tap, acc)` for the taps in ascending order, with the sample `i + k - radius` of the
/// same line under tap `k`.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    input: &'a [f64],
    lines: Lines,
    taps: Taps,
}

impl<'a> Request<'a> {
    /// A stencil of `taps` along `lines` of `input`; `None` unless the lines are as many elements as there are.
    pub fn new(input: &'a [f64], lines: Lines, taps: Taps) -> Option<Request<'a>> {
        (lines.elements() == input.len()).then_some(Request { input, lines, taps })
    }

    /// The samples, line after line.
    pub fn input(&self) -> &'a [f64] {
        self.input
    }

    /// How the samples fall into lines.
    pub fn lines(&self) -> Lines {
        self.lines
    }

    /// The filter.
    pub fn taps(&self) -> &Taps {
        &self.taps
    }
}
