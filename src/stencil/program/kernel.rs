//! Kernels: computations in one pass of an engine over its arrays.

use super::{Chain, Value};
use crate::stencil::functions::Distribution;
use crate::stencil::{Binary, Ends, Operation, Reduction, Term, Unary};

/// Places of an array's elements, seen from a kernel's domain: `start + i0 steps[0] + i1 steps[1] + ..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Place of the first element.
    pub start: usize,
    /// Stride along each dimension of the domain; 0 where the array expands.
    pub steps: Vec<isize>,
}

impl View {
    /// Returns true if all elements of the domain see the same one.
    pub fn is_one(&self) -> bool {
        self.steps.iter().all(|&step| step == 0)
    }
}

/// One dimension of a filter's window.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    /// Dimension of the domain; `None` for a dimension of a single element.
    pub dim: Option<usize>,
    /// Number of entries.
    pub extent: usize,
    /// Number of entries before the middle.
    pub before: usize,
    /// Boundary at either end.
    pub ends: Ends<f64>,
}

impl Axis {
    /// The entry farthest from the middle, of a window that reaches to one side.
    pub fn farthest(&self) -> usize {
        if self.before > 0 { 0 } else { self.extent - 1 }
    }
}

/// A step computed for every element of the domain, from earlier parts.
#[derive(Debug, Clone)]
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
    /// Conversion to the other class.
    Convert(usize),
    /// Random numbers, from parts with the draw's number and the seed.
    Random(Distribution, [usize; 2]),
    /// A filter over the values of a part at all elements.
    Filter(usize, [Axis; 3], Chain),
}

impl Step {
    /// Parts that it reads.
    pub fn operands(&self) -> Vec<usize> {
        match self {
            Step::Load(..) | Step::Number(_) => Vec::new(),
            Step::Each(_, of) | Step::Convert(of) | Step::Filter(of, ..) => vec![*of],
            Step::Pair(_, of) | Step::Random(_, of) => of.to_vec(),
            Step::MultiplyAdd(of) => of.to_vec(),
        }
    }
}

/// A step, with the class of its result.
#[derive(Debug, Clone)]
pub struct Part {
    /// The step.
    pub step: Step,
    /// True if the result is in single.
    pub single: bool,
}

/// A reduction of all elements of a kernel's domain, in the order of [`Reduction`].
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The result.
    pub value: Value,
    /// The reduction.
    pub op: Reduction,
    /// The part that it reduces, and the second one for a reduction of two.
    pub of: [usize; 2],
}

/// Work of an engine in one pass: every output element is a function of elements of the inputs.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Extents of the outputs, the first one fastest; at least one, and none is 0.
    pub domain: Vec<usize>,
    /// Steps in order of computation.
    pub parts: Vec<Part>,
    /// Arrays that are read.
    pub inputs: Vec<Value>,
    /// Arrays that are written, each with its part. None of them is an input.
    pub outputs: Vec<(Value, usize)>,
    /// Reductions of all elements, each an array of one element.
    pub numbers: Vec<Reduced>,
}

/// Source of a kernel's input in the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// An array that is constant.
    Constant,
    /// This output, which has all elements of the domain.
    Output(usize),
    /// This output, which has one element.
    Scalar(usize),
    /// One of the numbers that each step has.
    Number(usize),
}

/// Traversal of an array by warps, for several steps in one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gait {
    /// Number of steps; 0 for steps one by one.
    pub levels: usize,
    /// Number of elements of a thread along the first dimension.
    pub elements: usize,
    /// Number of lines of them, in volumes.
    pub lines: usize,
    /// Number of columns of a warp; 0 for as many as keep the device busy.
    pub columns: usize,
    /// Number of blocks of a multiprocessor for which its registers suffice.
    pub blocks: usize,
}

impl Gait {
    /// No traversal: one step after the other.
    pub const NONE: Gait = Gait::of(0, 1, 1);

    /// A traversal of this many levels, elements and lines.
    pub const fn of(levels: usize, elements: usize, lines: usize) -> Gait {
        Gait { levels, elements, lines, columns: 0, blocks: 3 }
    }
}

/// Elements recorded in each step.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The part that computes them.
    pub part: usize,
    /// Places in the domain.
    pub places: Vec<usize>,
}

/// A kernel that is run step after step.
#[derive(Debug, Clone)]
pub struct Recurrence {
    /// One step. All its outputs are inputs of the next.
    pub kernel: Kernel,
    /// Source of each input in the next step.
    pub feeds: Vec<Feed>,
    /// Number of the numbers that each step has.
    pub numbers: usize,
    /// Elements recorded in each step.
    pub records: Vec<Recorded>,
}

impl Kernel {
    /// Key of the kernel: kernels of one text do the same to the last bit, and -0 differs from 0 in it.
    pub fn text(&self) -> String {
        format!("{self:?}")
    }

    /// Kernel of an elementwise operation with `len` results, whose inputs are its arrays in their order; `None` for any
    /// other operation.
    pub fn of<V: Copy, P>(what: &Operation<V, P>, single: bool, len: usize) -> Option<Kernel> {
        let mut kernel = Kernel {
            domain: vec![len],
            parts: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            numbers: Vec::new(),
        };
        let step = match what {
            Operation::Fill(number) => Step::Number(*number),
            Operation::Each(op, _) => Step::Each(*op, kernel.load(vec![1], single)),
            Operation::Convert(_) => Step::Convert(kernel.load(vec![1], !single)),
            Operation::Random(what, Term::Number(draw), seed) => {
                Step::Random(*what, [*draw, *seed].map(|number| kernel.push(Step::Number(number), false)))
            }
            Operation::Pair(op, terms, expansion) => {
                let rank = expansion.size().iter().rposition(|&extent| extent > 1).map_or(1, |last| last + 1);
                kernel.domain = expansion.size()[..rank].to_vec();
                let steps = expansion.steps();
                let of = [0, 1].map(|which| match terms[which] {
                    Term::Number(number) => kernel.push(Step::Number(number), single),
                    Term::Value(_) => {
                        let own = steps[which][..rank].iter().map(|&step| step as isize);
                        kernel.load(own.collect(), single)
                    }
                });
                Step::Pair(*op, of)
            }
            _ => return None,
        };
        let part = kernel.push(step, single);
        kernel.outputs = vec![(Value(kernel.inputs.len()), part)];
        Some(kernel)
    }

    fn push(&mut self, step: Step, single: bool) -> usize {
        self.parts.push(Part { step, single });
        self.parts.len() - 1
    }

    /// Appends one more input.
    fn load(&mut self, steps: Vec<isize>, single: bool) -> usize {
        let input = self.inputs.len();
        self.inputs.push(Value(input));
        self.push(Step::Load(input, View { start: 0, steps }), single)
    }

    /// Windows of its filters.
    pub fn filters(&self) -> impl Iterator<Item = &[Axis; 3]> {
        self.parts.iter().filter_map(|part| match &part.step {
            Step::Filter(_, axes, _) => Some(axes),
            _ => None,
        })
    }

    /// Number of elements of each output.
    pub fn len(&self) -> usize {
        self.domain.iter().product()
    }

    /// True if there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.numbers.is_empty()
    }

    /// Arrays that it writes: the outputs, then the numbers.
    pub fn written(&self) -> impl Iterator<Item = Value> {
        let outputs = self.outputs.iter().map(|(value, _)| *value);
        outputs.chain(self.numbers.iter().map(|number| number.value))
    }

    /// Strides along each dimension of an array with the size of the domain.
    pub fn steps(&self) -> Vec<isize> {
        steps(&self.domain)
    }

    /// Returns true for the view of an array that has all elements of the domain, in its order.
    pub fn is_whole(&self, view: &View) -> bool {
        view.start == 0 && view.steps == self.steps()
    }
}

/// [`Kernel::steps`] of a domain.
pub(super) fn steps(domain: &[usize]) -> Vec<isize> {
    let before = |d: usize| domain[..d].iter().product::<usize>() as isize;
    (0..domain.len()).map(before).collect()
}
