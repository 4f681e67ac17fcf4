//! Kernels: what an engine computes in one pass over its arrays.

use super::super::{Binary, Ends, Unary};
use super::{Chain, Value};

/// Where the elements of an array lie, seen from a kernel's domain: `start + i0 steps[0] + i1 steps[1] + ..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The place of the first one.
    pub start: usize,
    /// From one to the next along each dimension of the domain; 0 where the array expands.
    pub steps: Vec<isize>,
}

/// One dimension of a filter's window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Which of the domain's; `None` for one of a single element.
    pub dim: Option<usize>,
    /// The entries.
    pub extent: usize,
    /// Those ahead of the middle.
    pub before: usize,
    /// The ghost values.
    pub ends: Ends<f64>,
}

/// What is computed of every element of the domain, from parts ahead of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// An element of an input.
    Load(usize, View),
    /// A number.
    Number(f64),
    /// An operation on one part.
    Each(Unary, usize),
    /// An operation on two.
    Pair(Binary, [usize; 2]),
    /// `fma (first, second, third)`.
    MultiplyAdd([usize; 3]),
    /// In the other class.
    Convert(usize),
    /// A filter over what a part gives at all elements.
    Filter(usize, [Axis; 3], Chain),
}

/// A step, and whether what it gives is in single.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What is done.
    pub step: Step,
    /// Whether the result is in single.
    pub single: bool,
}

/// What an engine computes in one pass: every output element is a function of elements of the inputs.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// The extents of the outputs, the first one fastest; one at least, and none is 0.
    pub domain: Vec<usize>,
    /// What is computed.
    pub parts: Vec<Part>,
    /// The arrays that are read.
    pub inputs: Vec<Value>,
    /// The arrays that are written, each with its part. They are none of those that are read.
    pub outputs: Vec<(Value, usize)>,
}

impl Kernel {
    /// The elements of each output.
    pub fn len(&self) -> usize {
        self.domain.iter().product()
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// From one element to the next along each dimension of an array that is as large as the domain.
    pub fn steps(&self) -> Vec<isize> {
        steps(&self.domain)
    }
}

/// [`Kernel::steps`] of a domain.
pub(super) fn steps(domain: &[usize]) -> Vec<isize> {
    let before = |d: usize| domain[..d].iter().product::<usize>() as isize;
    (0..domain.len()).map(before).collect()
}
