//! Programs: operations on arrays as data, and their division into kernels.
//!
//! A [`Program`] is a list of operations, each on earlier results. The result of each is that of the engine's method of
//! the same name, to the last bit; so an engine may run a program in any way. [`Plan`] divides a program into
//! [`Kernel`]s, each of which an engine computes in one pass over its arrays, and operations for the engine's own
//! methods.
//!
//! # Limits
//! Arrays here are flat: shapes are part of the operations that need them. Every number is given in double; one of a
//! node in single is exact in single.

mod cut;
mod group;
mod kernel;
mod reach;

use std::collections::HashMap;
use std::sync::Arc;

use super::functions::Distribution;
use super::{
    Array, Binary, Convolution, Derivative, Expansion, Extreme, Order, Places, Reduction, Scan, Shift, Stencil, Unary,
};
pub use cut::{Limits, Plan, Stage};
pub use group::MOST_DIMS;
pub use kernel::{Axis, Feed, Gait, Kernel, Part, Recorded, Recurrence, Reduced, Step, View};
pub use reach::{Chain, Reach};

/// Numbers of one of the classes of engines.
#[derive(Debug, Clone)]
pub enum Numbers {
    /// In double precision.
    Double(Arc<Array<f64>>),
    /// In single precision.
    Single(Arc<Array<f32>>),
}

impl Numbers {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Double(array) => array.len(),
            Numbers::Single(array) => array.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if they are in single.
    pub fn is_single(&self) -> bool {
        matches!(self, Numbers::Single(_))
    }
}

impl From<Arc<Array<f64>>> for Numbers {
    fn from(array: Arc<Array<f64>>) -> Numbers {
        Numbers::Double(array)
    }
}

impl From<Arc<Array<f32>>> for Numbers {
    fn from(array: Arc<Array<f32>>) -> Numbers {
        Numbers::Single(array)
    }
}

impl From<Array<f64>> for Numbers {
    fn from(array: Array<f64>) -> Numbers {
        Arc::new(array).into()
    }
}

impl From<Array<f32>> for Numbers {
    fn from(array: Array<f32>) -> Numbers {
        Arc::new(array).into()
    }
}

/// Result of an operation of a program, by its place in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub usize);

/// An input of [`Operation::Pair`], or the weight of [`Operation::MultiplyAdd`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Term {
    /// An array.
    Value(Value),
    /// One number for all elements.
    Number(f64),
}

impl Term {
    /// Returns the array, if it is one.
    pub fn value(self) -> Option<Value> {
        if let Term::Value(value) = self { Some(value) } else { None }
    }
}

/// A filter, with the arguments of an engine's method.
#[derive(Debug, Clone)]
pub enum Filtering {
    /// For [`Engine::stencil`](super::Engine::stencil).
    Stencil(Stencil),
    /// For [`Compute::derivative`](super::Compute::derivative) in double.
    Derivative(Derivative<f64>),
    /// A derivative in single.
    SingleDerivative(Derivative<f32>),
    /// For [`Compute::convolution`](super::Compute::convolution) in double.
    Convolution(Convolution<f64>),
    /// A convolution in single.
    SingleConvolution(Convolution<f32>),
    /// For [`Arithmetic::shift`](super::Arithmetic::shift).
    Shift(Shift),
}

/// Result of an operation that finds elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The elements.
    Elements,
    /// Their places in their lines, in double, counted from 1.
    Places,
}

/// An operation; see [`Arithmetic`](super::Arithmetic) for their definitions.
#[derive(Debug, Clone)]
pub enum Operation {
    /// Input of the program with this number.
    Input(usize),
    /// An array filled with one number.
    Fill(f64),
    /// An operation on each element.
    Each(Unary, Value),
    /// An operation on two arrays, expanded; the expansion does not apply to a number.
    Pair(Binary, [Term; 2], Expansion),
    /// `fma (weight, value, addend)`; a weight that is a value has one element.
    MultiplyAdd(Term, Value, Value),
    /// Conversion to the other class.
    Convert(Value),
    /// A filter.
    Filter(Filtering, Value),
    /// Elements by their places.
    Pick(Arc<Places>, Value),
    /// The second array, with the elements of the first at these places.
    Put(Arc<Places>, [Value; 2]),
    /// Random numbers, for the draw whose number is in this array of one element, with a seed.
    Random(Distribution, Value, f64),
    /// A reduction of one array or of two, along the middle of three dimensions.
    Reduce(Reduction, Value, Option<Value>, [usize; 3]),
    /// Cumulative operation along the middle of three dimensions.
    Scan(Scan, Value, [usize; 3]),
    /// Sort of lines along the middle of three dimensions.
    Sort(Order, Value, [usize; 3], Wanted),
    /// The smallest or the largest along the middle of three dimensions.
    Extreme(Extreme, Value, [usize; 3], Wanted),
}

/// An operation, with the type of its result.
#[derive(Debug, Clone)]
pub struct Node {
    /// The operation.
    pub operation: Operation,
    /// True if the result is in single.
    pub single: bool,
    /// Number of its elements.
    pub len: usize,
}

impl Node {
    /// Number of the input, if it is one.
    pub fn input(&self) -> Option<usize> {
        if let Operation::Input(input) = self.operation { Some(input) } else { None }
    }
}

/// Operations, each after those that it needs.
#[derive(Debug, Default)]
pub struct Program {
    nodes: Vec<Node>,
    inputs: usize,
    /// Operations that are compared by their text, so that none is repeated.
    known: HashMap<String, Value>,
}

impl Program {
    /// Makes an empty program.
    pub fn new() -> Program {
        Program::default()
    }

    /// Adds an input.
    pub fn input(&mut self, single: bool, len: usize) -> Value {
        let operation = Operation::Input(self.inputs);
        self.inputs += 1;
        self.append(Node { operation, single, len })
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Appends an operation, and returns its result; a known operation is not repeated.
    pub fn append(&mut self, node: Node) -> Value {
        let next = Value(self.nodes.len());
        // The text of places may be as long as an array.
        if !matches!(node.operation, Operation::Pick(..) | Operation::Put(..)) {
            let text = format!("{node:?}");
            if let Some(&known) = self.known.get(&text) {
                return known;
            }
            self.known.insert(text, next);
        }
        self.nodes.push(node);
        next
    }

    /// The operations.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One of the operations.
    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[value.0]
    }

    /// Marks the operations that the results `of` depend on, including themselves.
    pub fn needed(&self, of: &[Value]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        of.iter().for_each(|value| needed[value.0] = true);
        // Each operation comes after its operands.
        for at in (0..self.nodes.len()).rev() {
            if needed[at] {
                self.nodes[at].operation.values().for_each(|value| needed[value.0] = true);
            }
        }
        needed
    }
}

impl Operation {
    /// Arrays that it reads.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        let values = match self {
            Operation::Input(_) | Operation::Fill(_) => [None; 3],
            Operation::Each(_, value)
            | Operation::Random(_, value, _)
            | Operation::Scan(_, value, _)
            | Operation::Sort(_, value, ..)
            | Operation::Extreme(_, value, ..)
            | Operation::Convert(value)
            | Operation::Filter(_, value)
            | Operation::Pick(_, value) => [Some(*value), None, None],
            Operation::MultiplyAdd(weight, value, addend) => [weight.value(), Some(*value), Some(*addend)],
            Operation::Put(_, [from, to]) => [Some(*from), Some(*to), None],
            Operation::Reduce(_, first, second, _) => [Some(*first), *second, None],
            Operation::Pair(_, [a, b], _) => [a.value(), b.value(), None],
        };
        values.into_iter().flatten()
    }

    /// Returns this operation on other arrays, in the order of [`values`](Operation::values).
    pub fn with(&self, others: impl IntoIterator<Item = Value>) -> Operation {
        let mut operation = self.clone();
        let mut others = others.into_iter();
        let mut set = |value: &mut Value| *value = others.next().unwrap_or(*value);
        let set_term = |term: &mut Term, set: &mut dyn FnMut(&mut Value)| {
            if let Term::Value(value) = term {
                set(value);
            }
        };
        match &mut operation {
            Operation::Input(_) | Operation::Fill(_) => {}
            Operation::Each(_, value)
            | Operation::Random(_, value, _)
            | Operation::Scan(_, value, _)
            | Operation::Sort(_, value, ..)
            | Operation::Extreme(_, value, ..)
            | Operation::Convert(value)
            | Operation::Filter(_, value)
            | Operation::Pick(_, value) => set(value),
            Operation::MultiplyAdd(weight, value, addend) => {
                set_term(weight, &mut set);
                set(value);
                set(addend);
            }
            Operation::Put(_, values) => values.iter_mut().for_each(set),
            Operation::Reduce(_, first, second, _) => {
                set(first);
                second.iter_mut().for_each(set);
            }
            Operation::Pair(_, terms, _) => terms.iter_mut().for_each(|term| set_term(term, &mut set)),
        }
        operation
    }
}
