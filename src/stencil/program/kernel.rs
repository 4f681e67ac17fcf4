//! Kernels: what an engine computes in one pass over its arrays.

use super::super::functions::{Distribution, Draw};
use super::super::{Binary, Ends, Expansion, Reduction, Unary};
use super::{Chain, Value};

/// Where the elements of an array lie, seen from a kernel's domain: `start + i0 steps[0] + i1 steps[1] + ..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The place of the first one.
    pub start: usize,
    /// From one to the next along each dimension of the domain; 0 where the array expands.
    pub steps: Vec<isize>,
}

impl View {
    /// Returns true where all elements of the domain see the same one.
    pub fn is_one(&self) -> bool {
        self.steps.iter().all(|&step| step == 0)
    }
}

/// One dimension of a filter's window.
#[derive(Debug, Clone, Copy)]
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

impl Axis {
    /// The entry that lies farthest from the middle, of a window that reaches to one side.
    pub fn farthest(&self) -> usize {
        if self.before > 0 { 0 } else { self.extent - 1 }
    }
}

/// What is computed of every element of the domain, from parts ahead of it.
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
    /// In the other class.
    Convert(usize),
    /// Random numbers, of parts that are the draw's number and the seed.
    Random(Distribution, [usize; 2]),
    /// A filter over what a part gives at all elements.
    Filter(usize, [Axis; 3], Chain),
}

impl Step {
    /// The parts that it reads.
    pub fn operands(&self) -> Vec<usize> {
        match self {
            Step::Load(..) | Step::Number(_) => Vec::new(),
            Step::Each(_, of) | Step::Convert(of) | Step::Filter(of, ..) => vec![*of],
            Step::Pair(_, of) | Step::Random(_, of) => of.to_vec(),
            Step::MultiplyAdd(of) => of.to_vec(),
        }
    }
}

/// A step, and whether what it gives is in single.
#[derive(Debug, Clone)]
pub struct Part {
    /// What is done.
    pub step: Step,
    /// Whether the result is in single.
    pub single: bool,
}

/// A number that a kernel makes of all elements of its domain, in the order of [`Reduction`].
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The number.
    pub value: Value,
    /// The reduction.
    pub op: Reduction,
    /// The part that it is made of, and the second one where it is made of two.
    pub of: [usize; 2],
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
    /// The numbers that are made of all elements, each an array of one element.
    pub numbers: Vec<Reduced>,
}

/// The source of a kernel's input in the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// An array that stays as it is.
    Constant,
    /// This output, which has all elements of the domain.
    Output(usize),
    /// This output, which has one element.
    Scalar(usize),
    /// One number of those that each step has.
    Number(usize),
}

/// A walk of warps through an array, for several steps in one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gait {
    /// The steps; 0 for steps one by one.
    pub levels: usize,
    /// The elements of a thread along the first dimension.
    pub elements: usize,
    /// The lines of them, in volumes.
    pub lines: usize,
    /// The columns of a warp; 0 for as many as keep the device busy.
    pub columns: usize,
    /// The blocks of a multiprocessor that its registers suffice for.
    pub blocks: usize,
}

impl Gait {
    /// No walk: one step after the other.
    pub const NONE: Gait = Gait::of(0, 1, 1);

    /// A walk of so many levels, elements and lines.
    pub const fn of(levels: usize, elements: usize, lines: usize) -> Gait {
        Gait { levels, elements, lines, columns: 0, blocks: 3 }
    }
}

/// Elements that are kept of each step.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The part that gives them.
    pub part: usize,
    /// Their places in the domain.
    pub places: Vec<usize>,
}

/// A kernel that is run step after step.
#[derive(Debug, Clone)]
pub struct Recurrence {
    /// One step. All its outputs are inputs of the next.
    pub kernel: Kernel,
    /// The source of each input in the next step.
    pub feeds: Vec<Feed>,
    /// The numbers that each step has.
    pub numbers: usize,
    /// Elements that are kept of each.
    pub records: Vec<Recorded>,
}

impl Kernel {
    /// What it is known by: kernels of one text do the same to the last bit, and a -0 in it is no 0.
    pub fn text(&self) -> String {
        format!("{self:?}")
    }

    /// One operation on each element of an array of `len` elements.
    pub fn of_one(op: Unary, single: bool, len: usize) -> Kernel {
        let load = Step::Load(0, View { start: 0, steps: vec![1] });
        let parts = [load, Step::Each(op, 0)].map(|step| Part { step, single }).into();
        Kernel { domain: vec![len], parts, inputs: vec![Value(0)], outputs: vec![(Value(1), 1)], numbers: Vec::new() }
    }

    /// An array of `len` elements, converted to this class from the other one.
    pub fn of_conversion(single: bool, len: usize) -> Kernel {
        let load = Part { step: Step::Load(0, View { start: 0, steps: vec![1] }), single: !single };
        let parts = vec![load, Part { step: Step::Convert(0), single }];
        Kernel { domain: vec![len], parts, inputs: vec![Value(0)], outputs: vec![(Value(1), 1)], numbers: Vec::new() }
    }

    /// Random numbers of an array of `len` elements.
    pub fn of_random(draw: Draw, single: bool, len: usize) -> Kernel {
        let numbers =
            [draw.number as f64, f64::from(draw.seed)].map(|number| Part { step: Step::Number(number), single: false });
        let random = Part { step: Step::Random(draw.distribution, [0, 1]), single };
        let parts = numbers.into_iter().chain([random]).collect();
        Kernel { domain: vec![len], parts, inputs: Vec::new(), outputs: vec![(Value(0), 2)], numbers: Vec::new() }
    }

    /// One operation on two operands, expanded: each an array, or a number.
    pub fn of_two(op: Binary, operands: [Option<f64>; 2], expansion: &Expansion, single: bool) -> Kernel {
        let rank = expansion.size().iter().rposition(|&extent| extent > 1).map_or(1, |last| last + 1);
        let mut inputs = Vec::new();
        let steps = [0, 1].map(|which| match operands[which] {
            Some(number) => Step::Number(number),
            None => {
                let steps = expansion.steps()[which][..rank].iter().map(|&step| step as isize).collect();
                inputs.push(Value(which));
                Step::Load(inputs.len() - 1, View { start: 0, steps })
            }
        });
        let parts = steps.into_iter().chain([Step::Pair(op, [0, 1])]).map(|step| Part { step, single }).collect();
        let domain = expansion.size()[..rank].to_vec();
        Kernel { domain, parts, inputs, outputs: vec![(Value(2), 2)], numbers: Vec::new() }
    }

    /// The windows of its filters.
    pub fn filters(&self) -> impl Iterator<Item = &[Axis; 3]> {
        self.parts.iter().filter_map(|part| match &part.step {
            Step::Filter(_, axes, _) => Some(axes),
            _ => None,
        })
    }

    /// The elements of each output.
    pub fn len(&self) -> usize {
        self.domain.iter().product()
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.numbers.is_empty()
    }

    /// The arrays that it writes: the outputs, then the numbers.
    pub fn written(&self) -> impl Iterator<Item = Value> {
        let outputs = self.outputs.iter().map(|(value, _)| *value);
        outputs.chain(self.numbers.iter().map(|number| number.value))
    }

    /// From one element to the next along each dimension of an array that is as large as the domain.
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
