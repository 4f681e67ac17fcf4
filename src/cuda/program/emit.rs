//! A kernel of a program as PTX.
//!
//! # Rationale
//! A thread computes one output element, or some along the second dimension, of which neighbours share what they read: an
//! instruction that was written once is not written again. Where all that a thread reads lies inside the arrays, places are
//! known up to the thread's own, and the code has no trace of the boundaries; other threads find each index by the boundary.
//!
//! Sizes, numbers and entries of filters are the kernel's argument. So the text depends on what is computed alone, and is
//! what kernels are known by.

use std::sync::Arc;

use super::code::{Kind, Register, literal};
use super::emitter::{ARGUMENT, Emitter, Sized};
use super::shape::{Place, Shape};
use super::walk::state::Way;
use crate::stencil::Boundary;
use crate::stencil::program::{Axis, Chain, Kernel, Step, View};

/// The name of the kernel in its module.
pub(super) const NAME: &str = "step";

/// A kernel, written.
#[derive(Debug, Clone)]
pub(super) struct Written {
    /// The module.
    pub(super) text: Arc<str>,
    /// The argument; the addresses of the inputs and the outputs are its first entries.
    pub(super) argument: Vec<u8>,
    /// The blocks.
    pub(super) blocks: usize,
    /// The threads of a block.
    pub(super) threads: [usize; 2],
    /// The bytes for the results of chunks, whose address follows those of all arrays.
    pub(super) scratch: usize,
    /// Entries of the argument that other sizes and numbers change, each with its place.
    pub(super) sized: Vec<(Sized, usize)>,
}

impl Written {
    /// The argument for a kernel of the same [form](super::once), and the blocks.
    pub(super) fn fitted(&self, kernel: &Kernel) -> (Vec<u8>, usize) {
        let shape = Shape::of(kernel);
        let mut argument = self.argument.clone();
        for (what, at) in &self.sized {
            argument[*at..at + 8].copy_from_slice(&what.value(kernel, &shape).to_le_bytes());
        }
        (argument, shape.blocks)
    }
}

impl Emitter<'_> {
    /// An address of the argument.
    #[inline(never)]
    pub(super) fn address(&mut self, number: usize) -> Register {
        self.code.of(Kind::Long, "ld.param.b64", &[&format!("[{ARGUMENT}+{}]", 8 * number)])
    }

    /// The address of an element of an array, seen by the view of a part that loads it or by that of the whole domain, and
    /// the bytes from there to the element.
    fn element(
        &mut self,
        array: usize,
        (part, view): (Option<usize>, &View),
        bytes: i64,
        place: &Place,
    ) -> (Register, i64) {
        let base = self.address(array);
        let steps: Vec<_> = (0..view.steps.len()).map(|d| self.step_of(part, view, d)).collect();
        let start = (view.start != 0).then(|| self.sized(Sized::Start(part.expect("a load"), bytes)));
        let mut address = match start {
            Some(start) => self.code.of(Kind::Long, "add.s64", &[&base, &start]),
            None => base,
        };
        let mut beyond = 0;
        for (d, step) in steps.iter().enumerate() {
            let Some(step) = step else { continue };
            let index = place.index(d);
            address = match step {
                None => self.code.of(Kind::Long, "mad.lo.s64", &[index, &bytes.to_string(), &address]),
                Some(step) => {
                    let wide = self.code.of(Kind::Long, "mul.lo.s64", &[step, &bytes.to_string()]);
                    self.code.of(Kind::Long, "mad.lo.s64", &[index, &wide, &address])
                }
            };
        }
        // Constant offsets come last, so that neighbours share all before them.
        for (d, step) in steps.iter().enumerate() {
            match (step, place.offset(d)) {
                (None, _) | (_, 0) => {}
                (Some(None), offset) => beyond += offset * bytes,
                (Some(Some(step)), offset) => {
                    let wide = self.code.of(Kind::Long, "mul.lo.s64", &[step, &(bytes * offset).to_string()]);
                    address = self.code.of(Kind::Long, "add.s64", &[&address, &wide]);
                }
            }
        }
        (address, beyond)
    }

    /// By how much an array advances along a dimension: not at all, by one, or by a number.
    fn step_of(&mut self, part: Option<usize>, view: &View, d: usize) -> Option<Option<Register>> {
        match (view.steps[d], part.filter(|_| !self.kernel.is_whole(view))) {
            (0, _) => None,
            (_, None) if d == 0 => Some(None),
            (_, None) => Some(Some(self.sized(Sized::Step(d)))),
            (_, Some(part)) => Some(Some(self.sized(Sized::StepOf(part, d)))),
        }
    }

    /// The index of a place in the whole array.
    fn index_in_whole(&mut self, place: &Place) -> Register {
        let view = View { start: 0, steps: self.kernel.steps() };
        let mut sum: Option<Register> = None;
        for d in 0..view.steps.len() {
            let mut at = *place.index(d);
            if place.offset(d) != 0 {
                at = self.code.of(Kind::Long, "add.s64", &[&at, &place.offset(d).to_string()]);
            }
            sum = Some(match (self.step_of(None, &view, d).flatten(), sum) {
                (Some(step), Some(sum)) => self.code.of(Kind::Long, "mad.lo.s64", &[&at, &step, &sum]),
                _ => at,
            });
        }
        sum.expect("a domain has a dimension")
    }

    fn load(&mut self, part: usize, (input, view): (usize, &View), kind: Kind, place: &Place) -> Register {
        let bytes = if kind == Kind::Single { 4 } else { 8 };
        // An array may be seen in several ways: each is a part of its own.
        let (address, beyond) = self.element(input, (Some(part), view), bytes, place);
        self.code.of(kind, &format!("ld.global.nc.{}", kind.number()), &[&format!("[{address}+{beyond}]")])
    }

    fn store(&mut self, output: usize, part: usize, place: &Place) {
        let value = self.value(part, place);
        let kind = Kind::of_numbers(self.kernel.parts[part].single);
        let bytes = if kind == Kind::Single { 4 } else { 8 };
        let view = View { start: 0, steps: self.kernel.steps() };
        let (address, beyond) = self.element(self.kernel.inputs.len() + output, (None, &view), bytes, place);
        self.code.line(&format!("st.global.{} [{address}+{beyond}], {value}", kind.number()));
    }

    /// Returns the value of a part at a place.
    #[inline(never)]
    pub(super) fn value(&mut self, part: usize, place: &Place) -> Register {
        let key = format!("value {part} {}", place.name());
        if let Some(known) = self.code.recall(&key) {
            return known;
        }
        let walked = place.at.and_then(|at| self.walked(part, at));
        let value = walked.unwrap_or_else(|| self.operation(part, place));
        self.code.remember(key, &value);
        value
    }

    /// The operation of a part.
    pub(super) fn operation(&mut self, part: usize, place: &Place) -> Register {
        let kernel = self.kernel;
        let kind = Kind::of_numbers(kernel.parts[part].single);
        match &kernel.parts[part].step {
            Step::Load(input, view) => self.load(part, (*input, view), kind, place),
            Step::Number(_) => self.sized_number(part),
            Step::Convert(of) => {
                let of = self.value(*of, place);
                let name = if kind == Kind::Single { "cvt.rn.f32.f64" } else { "cvt.f64.f32" };
                self.code.of(kind, name, &[&of])
            }
            Step::MultiplyAdd(of) => {
                let [a, b, c] = of.map(|of| self.value(of, place));
                self.op(kind, "fma.rn", &[&a, &b, &c])
            }
            Step::Random(what, of) => {
                let index = self.index_in_whole(place);
                self.random(*what, &index, *of, (kind, place))
            }
            Step::Each(op, of) => self.unary(*op, *of, kind, place),
            Step::Pair(op, of) => self.binary(*op, *of, (part, kind), place),
            Step::Filter(of, axes, chain) => self.filter(part, *of, axes, chain, place),
        }
    }

    fn filter(&mut self, part: usize, of: usize, axes: &[Axis; 3], chain: &Chain, place: &Place) -> Register {
        if let Chain::Sample = chain {
            return self.sample(part, of, axes, axes.each_ref().map(Axis::farthest), place);
        }
        let kind = Kind::of_numbers(self.kernel.parts[part].single);
        let class = kind.number();
        let zero = self.code.of(kind, &format!("mov.{class}"), &[&literal(kind, 0.0)]);
        let mut sum = zero;
        match chain {
            Chain::Sample => unreachable!("it has no sum"),
            Chain::Entries(entries) => {
                let [rows, columns, _] = axes.map(|axis| axis.extent);
                for (i, entry) in entries.iter().enumerate() {
                    let at = [i % rows, i / rows % columns, i / (rows * columns)];
                    let sample = self.sample(part, of, axes, at, place);
                    let entry = self.number(&format!("entry {part} {i}"), kind, *entry);
                    sum = self.op(kind, "fma.rn", &[&sample, &entry, &sum]);
                }
            }
            Chain::Differences(coefficients) => {
                for (i, coefficient) in coefficients.iter().enumerate() {
                    let middle = axes[1].before;
                    let [ahead, behind] =
                        [middle + i + 1, middle - i - 1].map(|at| self.sample(part, of, axes, [0, at, 0], place));
                    let difference = self.op(kind, "sub.rn", &[&ahead, &behind]);
                    let coefficient = self.number(&format!("entry {part} {i}"), kind, *coefficient);
                    sum = self.op(kind, "fma.rn", &[&difference, &coefficient, &sum]);
                }
            }
        }
        sum
    }

    /// The sample under an entry of a filter's window.
    fn sample(&mut self, part: usize, of: usize, axes: &[Axis; 3], at: [usize; 3], place: &Place) -> Register {
        let kind = Kind::of_numbers(self.kernel.parts[of].single);
        let (mut there, mut ways) = (place.clone(), [Way::NONE; 3]);
        // The constants that may stand for the sample, and when: that of the last dimension counts.
        let mut constants: Vec<(Register, Register)> = Vec::new();
        let mut always = None;
        for (d, axis) in axes.iter().enumerate().rev() {
            let offset = at[d] as i64 - axis.before as i64;
            if offset == 0 {
                continue;
            }
            let end = axis.ends.both()[usize::from(offset > 0)];
            let when = match (axis.dim, place.at) {
                (Some(dim), Some(walk)) => self.turned(&mut ways, dim, Way { offset, end }, walk),
                (Some(dim), None) => self.moved(&mut there, dim, offset, end),
                // All samples beside a single element lie outside.
                (None, _) => Some(None),
            };
            if let (Some(when), Boundary::Constant(constant)) = (when, end) {
                let constant = self.number(&format!("constant {part} {d} {}", offset > 0), kind, constant);
                match when {
                    Some(when) => constants.push((when, constant)),
                    None => {
                        always = Some(constant);
                        break;
                    }
                }
            }
        }
        let mut value = always.unwrap_or_else(|| match place.at {
            Some(walk) => self.beside(of, ways, walk),
            None => self.value(of, &there),
        });
        for (when, constant) in constants.into_iter().rev() {
            value = self.choose(kind, &when, &constant, &value);
        }
        value
    }

    /// Loads all that a kernel without filters reads for a place.
    fn loads(&mut self, place: &Place) {
        let parts = &self.kernel.parts;
        let loads = (0..parts.len()).filter(|&part| matches!(parts[part].step, Step::Load(..)));
        loads.for_each(|part| {
            self.value(part, place);
        });
    }

    pub(super) fn stores(&mut self, place: &Place) {
        for (output, &(_, part)) in self.kernel.outputs.iter().enumerate() {
            self.store(output, part, place);
        }
    }
}

/// A kernel as PTX.
pub(super) fn write(kernel: &Kernel) -> Written {
    let mut emitter = Emitter::new(kernel);
    let (rows, threads) = (emitter.shape.rows, emitter.shape.threads);
    let end = emitter.code.label();
    let own = emitter.begin(&end);
    let before = emitter.code.take();
    // Written first, since it says how far it reaches.
    emitter.code.scope();
    let (dim, stride) = (emitter.shape.dim, emitter.shape.stride);
    let places: Vec<Place> = (0..rows).map(|row| own.moved_by(dim, row * stride)).collect();
    if emitter.shape.flat && rows > 1 {
        // All of them go out ahead of the first use.
        places.iter().for_each(|place| emitter.loads(place));
    }
    places.iter().for_each(|place| emitter.stores(place));
    emitter.code.jump(&end);
    emitter.code.leave();
    let inside = emitter.code.take();
    emitter.code.put(&before);
    let edge = emitter.code.label();
    let reaches = emitter.reach.iter().any(|reach| *reach != [0; 2]);
    if reaches || rows > 1 {
        emitter.branch_unless_inside(&own, &edge);
    }
    emitter.code.put(&inside);
    if reaches || rows > 1 {
        emitter.code.place(&edge);
        emitter.each_row(&own, &end, |emitter, place| emitter.stores(place));
    }
    emitter.code.place(&end);
    let blocks = emitter.shape.blocks;
    let (argument, sized) = (emitter.argument.bytes, emitter.sized);
    let text = emitter.code.module(NAME, argument.len(), threads, 0).into();
    Written { text, argument, blocks, threads, scratch: 0, sized }
}
