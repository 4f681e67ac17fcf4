//! The domain: operators defined to the last bit, and the plain reference for every engine.
//!
//! # Arithmetic
//! Every result is a chain of fused multiply-adds from +0 in an order that is part of the contract, each step rounded
//! once; [`Stencil`], [`Derivative`] and [`Convolution`] define the order. Ghost values are set by the [`Boundary`], +0
//! by default, *and are multiplied*: an infinite tap gives NaN there. That makes the result a function of the inputs
//! alone: it is the same for all engines, thread counts and pieces. Only the payload of a NaN is unspecified.

mod arithmetic;
mod array;
mod boundary;
mod compute;
mod convolution;
mod derivative;
mod engine;
mod error;
pub mod functions;
mod lines;
mod number;
mod operation;
pub mod program;
mod real;
mod reference;
mod sample;
mod taps;
mod window;

pub(crate) use arithmetic::saturated;
pub use arithmetic::{
    Binary, CHUNK, Expansion, Extreme, Indices, LANES, MAX_POWER, Operand, Order, Places, RANK, Reduction, Scan,
    Section, Shift, Unary,
};
pub use array::{Array, Arrays, Handle, Held, Source, Target};
pub use boundary::{BOUNDARY_WORDS, Boundary, Ends, Sides};
pub use compute::Compute;
pub use convolution::{Convolution, Filter, FilterError, MAX_ENTRIES};
pub use derivative::{CoefficientSource, DERIVATIVE_RADIUS, Derivative};
pub use engine::{Advance, Chain, Engine, Given, Noted, Prepared, Room, Span};
pub(crate) use engine::{Filters, compute_filter};
pub use error::Error;
pub use lines::Lines;
pub use number::{AllArrays, AnySource, AnyTarget, Number, Numbers};
pub use operation::{Filtering, Operation, Term, Wanted};
pub use real::Real;
pub use reference::Reference;
pub use sample::{Results, Sample, Samples};
pub(crate) use sample::{in_vectors, last_place};
pub use taps::{MAX_TAPS, Taps};
pub use window::{Shape, Window};

/// Sweeps of a stencil along the lines of an array, each over the results of the one before.
///
/// In a sweep, `output[i]` is the chain `acc = +0`, then `acc = fma(sample, tap, acc)` for the taps in ascending order,
/// with the sample `i + k - radius` of the same line under tap `k`; beyond the ends of the line, its ghost value.
/// Without sweeps the output is the input.
#[derive(Debug, Clone, Copy)]
pub struct Stencil {
    lines: Lines,
    taps: Taps,
    boundary: Ends<f64>,
    sweeps: usize,
}

impl Stencil {
    /// Does one sweep of `taps` along `lines`, zeros outside.
    pub fn new(lines: Lines, taps: Taps) -> Stencil {
        Stencil { lines, taps, boundary: Ends::default(), sweeps: 1 }
    }

    /// Sets another boundary, or two, one at either end of a line.
    pub fn with_boundary(self, boundary: impl Into<Ends<f64>>) -> Stencil {
        Stencil { boundary: boundary.into(), ..self }
    }

    /// Sets the number of sweeps.
    pub fn with_sweeps(self, sweeps: usize) -> Stencil {
        Stencil { sweeps, ..self }
    }

    /// Changes the lines.
    pub fn with_lines(self, lines: Lines) -> Stencil {
        Stencil { lines, ..self }
    }

    /// Layout of the array in lines.
    pub fn lines(&self) -> Lines {
        self.lines
    }

    /// The filter.
    pub fn taps(&self) -> &Taps {
        &self.taps
    }

    /// The boundaries at the ends of a line.
    pub fn boundary(&self) -> Ends<f64> {
        self.boundary
    }

    /// Number of sweeps.
    pub fn sweeps(&self) -> usize {
        self.sweeps
    }
}
