//! The domain: what a stencil is, and the plain reference that every engine is held to.
//!
//! # The arithmetic
//! `output[i]` is the chain `acc = +0`, then `acc = fma(sample, tap, acc)` for the taps in ascending order, with the sample `i + k - radius` of
//! the same line under tap `k`. Samples outside the line are +0 *and are multiplied*: an infinite tap gives NaN there. Each step is rounded
//! once. That makes the result a function of the inputs alone: engines, thread counts and chunks cannot show in it. Only the payload of a NaN
//! is left open.

mod engine;
mod lines;
mod reference;
mod taps;

pub use engine::{Engine, Error};
pub use lines::Lines;
pub use reference::Reference;
pub use taps::{MAX_TAPS, Taps, TapsError};

/// One sweep of a stencil over an array.
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

/// Whether two results are the same in the sense of the contract: equal bits, or NaN both.
pub fn same_bits(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}
