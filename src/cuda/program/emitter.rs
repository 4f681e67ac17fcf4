//! State of a kernel that is being written.

use std::collections::HashMap;

use super::code::{Argument, Code, Kind, Register};
use super::shape::Shape;
use super::walk::state::Walk;
use crate::stencil::LANES;
use crate::stencil::program::{Kernel, Part, Step};

/// The name of its argument.
pub(super) const ARGUMENT: &str = "step_param_0";

/// An entry of the argument that depends on the sizes of a kernel, or on its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sized {
    /// The elements of the domain.
    Elements,
    /// Its extent along a dimension.
    Extent(usize),
    /// The blocks along a dimension.
    Blocks(usize),
    /// The number of the last block, for a launch that begins there; else 0.
    LastBlock,
    /// The elements from one to the next along a dimension of the domain.
    Step(usize),
    /// The first element that a part loads, in elements of so many bytes.
    Start(usize, i64),
    /// The elements from one to the next along a dimension, as a part loads them.
    StepOf(usize, usize),
    /// The number that a part is.
    Number(usize),
}

impl Sized {
    /// The entry, for a kernel of this shape.
    pub(super) fn value(self, kernel: &Kernel, shape: &Shape) -> i64 {
        let load = |part: usize| match &kernel.parts[part].step {
            Step::Load(_, view) => view,
            other => unreachable!("{other:?} is no load"),
        };
        match self {
            Sized::Elements => kernel.len() as i64,
            Sized::Extent(d) => kernel.domain[d] as i64,
            Sized::Blocks(d) => shape.blocks_along(d) as i64,
            Sized::LastBlock => 0,
            Sized::Step(d) => kernel.domain[..d].iter().product::<usize>() as i64,
            Sized::Start(part, bytes) => load(part).start as i64 * bytes,
            Sized::StepOf(part, d) => load(part).steps[d] as i64,
            Sized::Number(part) => match kernel.parts[part] {
                Part { step: Step::Number(number), single: true } => i64::from((number as f32).to_bits()),
                Part { step: Step::Number(number), .. } => number.to_bits() as i64,
                ref other => unreachable!("{other:?} is no number"),
            },
        }
    }
}

/// A kernel that is being written.
pub(super) struct Emitter<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) code: Code,
    pub(super) argument: Argument,
    pub(super) shape: Shape,
    /// Places of the kernel's numbers in the argument.
    numbers: HashMap<String, usize>,
    pub(super) sized: Vec<(Sized, usize)>,
    /// Reach of the filters along each dimension, below and above.
    pub(super) reach: Vec<[i64; 2]>,
    /// The walk that it is a kernel of.
    pub(super) walk: Option<Box<Walk<'k>>>,
}

impl<'k> Emitter<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Emitter<'k> {
        let mut argument = Argument::default();
        // The results of chunks have an address, too.
        for _ in 0..kernel.inputs.len() + kernel.written().count() + usize::from(!kernel.numbers.is_empty()) {
            argument.long(0);
        }
        let (code, shape) = (Code::new(), Shape::of(kernel));
        let reach = vec![[0; 2]; kernel.domain.len()];
        Emitter { kernel, code, argument, shape, numbers: HashMap::new(), sized: Vec::new(), reach, walk: None }
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
        self.parameter(Kind::Long, at)
    }

    /// Loads an entry of the argument.
    fn parameter(&mut self, kind: Kind, at: usize) -> Register {
        let class = if kind == Kind::Long { "b64" } else { kind.number() };
        self.code.of(kind, &format!("ld.param.{class}"), &[&format!("[{ARGUMENT}+{at}]")])
    }

    /// The place of a whole number in the argument, in bytes.
    pub(super) fn argument_at(&self, what: &str) -> usize {
        self.numbers[what]
    }

    /// Loads an entry of the argument that depends on sizes.
    pub(super) fn sized(&mut self, what: Sized) -> Register {
        let at = self.sized_at(what);
        self.parameter(Kind::Long, at)
    }

    /// Loads the number that a part is.
    pub(super) fn sized_number(&mut self, part: usize) -> Register {
        let kind = Kind::of_numbers(self.kernel.parts[part].single);
        let at = self.sized_at(Sized::Number(part));
        self.parameter(kind, at)
    }

    fn sized_at(&mut self, what: Sized) -> usize {
        if let Some(&(_, at)) = self.sized.iter().find(|(known, _)| *known == what) {
            return at;
        }
        let at = self.argument.long(what.value(self.kernel, &self.shape));
        self.sized.push((what, at));
        at
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
        self.parameter(kind, at)
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

    /// A register of the lane so many further on. Beyond the warp it is anything.
    pub(super) fn shuffled(&mut self, kind: Kind, register: &str, lanes: i64) -> Register {
        let key = format!("shuffle {register} {lanes}");
        if let Some(known) = self.code.recall(&key) {
            return known;
        }
        let lanes = lanes.clamp(1 - LANES as i64, LANES as i64 - 1);
        let (name, clamp) = if lanes < 0 { ("up", "0") } else { ("down", "31") };
        let name = format!("shfl.sync.{name}.b32");
        let distance = lanes.unsigned_abs().to_string();
        let result = if kind == Kind::Single {
            self.code.of(Kind::Single, &name, &[register, &distance, clamp, "-1"])
        } else {
            let words = [Kind::Word; 2].map(|kind| self.code.register(kind));
            self.code.line(&format!("mov.b64 {{{}, {}}}, {register}", words[0], words[1]));
            let words = words.map(|word| self.code.of(Kind::Word, &name, &[&word, &distance, clamp, "-1"]));
            let result = self.code.register(Kind::Double);
            self.code.line(&format!("mov.b64 {result}, {{{}, {}}}", words[0], words[1]));
            result
        };
        self.code.remember(key, &result);
        result
    }

    /// A number of the argument, as an index.
    #[inline(never)]
    pub(super) fn index_of(&mut self, what: &str, value: usize) -> Register {
        let long = self.long(what, value as i64);
        self.code.of(Kind::Word, "cvt.u32.u64", &[&long])
    }
}
