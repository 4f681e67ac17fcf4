//! Programs: operations on arrays as data, and their division into kernels.
//!
//! A [`Program`] is a list of operations, each on earlier results. Each has the result of [`Engine::compute`], to the last
//! bit; so an engine may run a program in any way. [`Plan`] divides a program into [`Kernel`]s, each of which an engine
//! computes in one pass over its arrays, and operations to compute one by one.
//!
//! [`Engine::compute`]: super::Engine::compute
//!
//! # Limits
//! Arrays here are flat: shapes are part of the operations that need them. Every number is given in double; one of a
//! node in single is exact in single.

mod cut;
mod group;
mod kernel;
mod reach;

use std::collections::HashMap;

use super::Operation;
pub use cut::{Limits, Plan, Stage};
pub use group::MOST_DIMS;
pub use kernel::{Axis, Feed, Gait, Kernel, Part, Recorded, Recurrence, Reduced, Step, View};
pub use reach::{Chain, Reach};

/// Result of an operation of a program, by its place in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub usize);

/// An operation, with the type of its result.
#[derive(Debug, Clone)]
pub struct Node {
    /// The operation.
    pub operation: Operation<Value>,
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
