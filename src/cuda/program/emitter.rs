//! What a kernel is written with.

use std::collections::HashMap;

use super::code::{Argument, Code, Kind, Register};
use super::shape::Shape;
use super::walk::state::Walk;
use crate::stencil::program::Kernel;

/// The name of its argument.
pub(super) const ARGUMENT: &str = "step_param_0";

/// A kernel that is being written.
pub(super) struct Emitter<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) code: Code,
    pub(super) argument: Argument,
    pub(super) shape: Shape,
    /// Where numbers of the kernel stand in the argument.
    numbers: HashMap<String, usize>,
    /// How far the filters reach along each dimension, below and above.
    pub(super) reach: Vec<[i64; 2]>,
    /// The walk that it is a kernel of.
    pub(super) walk: Option<Box<Walk<'k>>>,
}

impl<'k> Emitter<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Emitter<'k> {
        let mut argument = Argument::default();
        for _ in 0..kernel.inputs.len() + kernel.outputs.len() {
            argument.long(0);
        }
        let (code, shape) = (Code::new(), Shape::of(&kernel.domain));
        let reach = vec![[0; 2]; kernel.domain.len()];
        Emitter { kernel, code, argument, shape, numbers: HashMap::new(), reach, walk: None }
    }

    /// A whole number of the argument that is not part of the code; `what` is what it is known by.
    #[inline(never)]
    pub(super) fn long(&mut self, what: &str, value: i64) -> Register {
        let at = match self.numbers.get(what) {
            Some(&at) => at,
            None => {
                let at = self.argument.long(value);
                self.numbers.insert(what.to_owned(), at);
                at
            }
        };
        self.code.of(Kind::Long, "ld.param.b64", &[&format!("[{ARGUMENT}+{at}]")])
    }

    /// The place of a whole number in the argument, in bytes.
    pub(super) fn argument_at(&self, what: &str) -> usize {
        self.numbers[what]
    }

    /// A number of the argument.
    #[inline(never)]
    pub(super) fn number(&mut self, what: &str, kind: Kind, value: f64) -> Register {
        let at = match self.numbers.get(what) {
            Some(&at) => at,
            None => {
                let at = self.argument.number(kind, value);
                self.numbers.insert(what.to_owned(), at);
                at
            }
        };
        self.code.of(kind, &format!("ld.param.{}", kind.number()), &[&format!("[{ARGUMENT}+{at}]")])
    }

    pub(super) fn walk(&self) -> &Walk<'k> {
        self.walk.as_deref().expect("a walk is being written")
    }

    pub(super) fn walk_mut(&mut self) -> &mut Walk<'k> {
        self.walk.as_deref_mut().expect("a walk is being written")
    }

    /// Writes what comes ahead of the loop.
    pub(super) fn ahead<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> R {
        let scopes = self.walk().scopes;
        let inner = self.code.go_ahead(scopes);
        let result = write(self);
        self.code.come_back(inner);
        result
    }

    /// A number of the argument, as an index.
    #[inline(never)]
    pub(super) fn index_of(&mut self, what: &str, value: usize) -> Register {
        let long = self.long(what, value as i64);
        self.code.of(Kind::Word, "cvt.u32.u64", &[&long])
    }
}
