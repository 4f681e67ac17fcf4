//! Programs: random ones, run as an engine cuts them, against the plain reference that does one operation after the other.

use std::sync::Arc;

use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::functions::Distribution;
use stencil_mex::stencil::program::{Node, Program, Value};
use stencil_mex::stencil::{
    BOUNDARY_WORDS, Binary, Boundary, Convolution, Derivative, Ends, Expansion, Filter, Filtering, Lines, Number,
    Numbers, Operation, Places, RANK, Reduction, Reference, Section, Shift, Sides, Stencil, Taps, Term, Unary,
};
use stencil_mex::steps::{Run, Shape, Step, Taped};

use super::arithmetic::BINARY;
use super::checks::{Case, Outcome, is_slow, samples};
use crate::common::ends::{AnyEngine, array_with, bits, contents};
use crate::common::selection;

pub const TABLE: [Case; 7] = [
    ("random_programs", random_programs),
    ("programs_with_every_operation", every_operation),
    ("programs_with_every_boundary", every_boundary),
    ("programs_with_every_shift", every_shift),
    ("programs_with_every_reduction", every_reduction),
    ("programs_with_many_views", many_views),
    ("programs_deep_and_wide", deep_and_wide),
];

/// Numbers that depend on a seed alone.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// One of `sides`, from 0.
    pub fn of(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % sides
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.of(of.len())]
    }

    /// An operation, now and then an elementary function.
    pub fn unary(&mut self) -> Unary {
        let functions = self.of(4) == 0;
        *self.pick(if functions { &Unary::FUNCTIONS[..] } else { &UNARY[..] })
    }

    /// An operation of two, now and then an elementary function.
    pub fn binary(&mut self) -> Binary {
        let functions = self.of(8) == 0;
        *self.pick(if functions { &Binary::FUNCTIONS[..] } else { &BINARY[..] })
    }

    pub fn number(&mut self) -> f64 {
        const NUMBERS: [f64; 12] = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 0.1, 1e-300, 1e300, f64::INFINITY, f64::NAN];
        let number = NUMBERS[self.of(12)];
        if self.of(3) == 0 { number } else { self.of(2000) as f64 / 500.0 - 2.0 }
    }
}

const UNARY: [Unary; 14] = [
    Unary::Negate,
    Unary::Abs,
    Unary::Sqrt,
    Unary::Not,
    Unary::IsNan,
    Unary::Floor,
    Unary::Ceil,
    Unary::Round,
    Unary::Fix,
    Unary::Sign,
    Unary::Saturate { low: -128, high: 127 },
    Unary::Saturate { low: 0, high: 65_535 },
    Unary::Power(3),
    Unary::Power(-2),
];

/// A program under construction, over arrays of one size.
struct Making {
    program: Program,
    dims: [usize; 3],
    /// Values with an element for each of the arrays; true for single.
    whole: Vec<(Value, bool)>,
    /// Values that expand: their dimensions; true for single.
    parts: Vec<(Value, [usize; 3], bool)>,
    /// Single numbers; true for those in single.
    scalars: Vec<(Value, bool)>,
}

impl Making {
    fn len(&self) -> usize {
        self.dims.iter().product()
    }

    fn append(&mut self, operation: Operation<Value>, single: bool, len: usize) -> Value {
        self.program.append(Node { operation, single, len })
    }

    fn whole(&mut self, operation: Operation<Value>, single: bool) -> Value {
        let value = self.append(operation, single, self.len());
        self.whole.push((value, single));
        value
    }

    /// An array in this class.
    fn in_class(&mut self, (value, is_single): (Value, bool), single: bool) -> Value {
        if is_single == single { value } else { self.whole(Operation::Convert(value), single) }
    }

    fn pair(&mut self, op: Binary, terms: [Term<Value>; 2], sizes: [[usize; 3]; 2], single: bool) -> Value {
        let expansion = Expansion::new([&sizes[0], &sizes[1]]).expect("they expand");
        self.whole(Operation::Pair(op, terms, expansion), single)
    }

    /// One more operation.
    fn grow(&mut self, dice: &mut Dice) {
        let (value, single) = *dice.pick(&self.whole);
        match dice.of(13) {
            12 => {
                let number = self.append(Operation::Fill(dice.of(1000) as f64), false, 1);
                let what = *dice.pick(&[Distribution::Uniform, Distribution::Normal]);
                let len = *dice.pick(&[self.len(), 1]);
                let value = self.append(Operation::Random(what, Term::Value(number), dice.of(9) as f64), single, len);
                match len {
                    1 => self.parts.push((value, [1; 3], single)),
                    _ => self.whole.push((value, single)),
                }
            }
            0 => drop(self.whole(Operation::Each(dice.unary(), value), single)),
            1..4 => {
                let other = *dice.pick(&self.whole);
                let other = self.in_class(other, single);
                let sizes = [self.dims; 2];
                self.pair(dice.binary(), [Term::Value(value), Term::Value(other)], sizes, single);
            }
            4 => {
                let mut terms = [Term::Value(value), Term::Number(of_class(dice.number(), single))];
                if dice.of(2) == 0 {
                    terms.swap(0, 1);
                }
                let sizes = [self.dims; 2];
                self.pair(dice.binary(), terms, sizes, single);
            }
            5 => {
                let parts: Vec<_> = self.parts.iter().copied().filter(|part| part.2 == single).collect();
                if let Some(&(part, size, _)) = (!parts.is_empty()).then(|| dice.pick(&parts)) {
                    self.pair(dice.binary(), [Term::Value(value), Term::Value(part)], [self.dims, size], single);
                }
            }
            6 => {
                let other = *dice.pick(&self.whole);
                let other = self.in_class(other, single);
                // By a number, or by one that is computed.
                let computed =
                    self.scalars.iter().find(|scalar| scalar.1 == single).map(|scalar| Term::Value(scalar.0));
                let number = Term::Number(of_class(dice.number(), single));
                let source = match dice.of(4) {
                    0 => Some(Term::Number(of_class(dice.number(), single))),
                    1 => Some(Term::Value(value)),
                    2 => computed,
                    _ => None,
                };
                self.whole(Operation::MultiplyAdd(computed.unwrap_or(number), value, other, source), single);
            }
            7 => drop(self.whole(Operation::Convert(value), !single)),
            8 | 9 => {
                let filter = self.filter(dice, single);
                self.whole(Operation::Filter(filter, value), single);
            }
            10 => {
                let size = [1, self.len(), 1];
                let op = *dice.pick(&REDUCTIONS);
                let second = op.of_two().then(|| *dice.pick(&self.whole));
                let second = second.map(|second| self.in_class(second, single));
                let sum = self.append(Operation::Reduce(op, value, second, size), single, 1);
                self.scalars.push((sum, single));
                let scalars: Vec<_> = self.scalars.iter().copied().filter(|scalar| scalar.1 == single).collect();
                let other = dice.pick(&scalars).0;
                let plain = Expansion::new([&[1], &[1]]).expect("they are alike");
                let operation = Operation::Pair(dice.binary(), [Term::Value(sum), Term::Value(other)], plain);
                let scalar = self.append(operation, single, 1);
                self.scalars.push((scalar, single));
                self.parts.push((scalar, [1; 3], single));
            }
            _ => self.move_elements(dice, value, single),
        }
    }

    /// The elements in another order, some of them in others' places, or a part of them that expands.
    fn move_elements(&mut self, dice: &mut Dice, value: Value, single: bool) {
        let [a, b, c] = self.dims;
        let steps = [1, a as isize, (a * b) as isize];
        if dice.of(3) == 0 {
            // A row, a column or a page.
            let d = dice.of(3);
            let mut size = self.dims;
            size[d] = 1;
            let places = section((dice.of(self.dims[d])) * steps[d] as usize, size, steps);
            let len = size.iter().product();
            let part = self.append(Operation::Pick(Arc::new(places), value), single, len);
            self.parts.push((part, size, single));
            return;
        }
        // Backwards along a dimension.
        let d = dice.of(3);
        let mut turned = steps;
        turned[d] = -steps[d];
        let start = (self.dims[d] - 1) * steps[d] as usize;
        let places = Arc::new(section(start, [a, b, c], turned));
        if dice.of(2) == 0 {
            self.whole(Operation::Pick(places, value), single);
        } else {
            let other = *dice.pick(&self.whole);
            let other = self.in_class(other, single);
            self.whole(Operation::Put(places, [value, other]), single);
        }
    }

    fn filter(&self, dice: &mut Dice, single: bool) -> Filtering {
        let [a, b, c] = self.dims;
        let ends: [Ends<f64>; 3] = [(); 3].map(|()| ends(dice));
        match dice.of(4) {
            3 => Filtering::Shift(shift(dice, self.dims)),
            0 if !single => {
                let lines = Lines::along(&self.dims, dice.of(3));
                let count = 1 + 2 * [0, 1, 2, 4][dice.of(4)];
                let taps = Taps::new(&entries(dice, count, single)).expect("few");
                Filtering::Stencil(Stencil::new(lines, taps).with_boundary(ends[0]))
            }
            1 => {
                let lines = Lines::along(&self.dims, dice.of(3));
                let what = stencil_mex::stencil::CoefficientSource::Constant;
                if single {
                    Filtering::SingleDerivative(Derivative::new(lines, 0.5, what).with_boundary(narrow(ends[0])))
                } else {
                    Filtering::Derivative(Derivative::new(lines, 0.5, what).with_boundary(ends[0]))
                }
            }
            _ => {
                let size = [1 + dice.of(3), 1 + dice.of(3), 1 + dice.of(2)];
                let entries = entries(dice, size.iter().product(), single);
                if single {
                    let entries = entries.iter().map(|&entry| entry as f32).collect();
                    let filter = Filter::new(entries, size).expect("a filter");
                    let sides = Sides::from(ends.map(narrow));
                    Filtering::SingleConvolution(Convolution::new([a, b, c], filter).with_boundary(sides))
                } else {
                    let filter = Filter::new(entries, size).expect("a filter");
                    Filtering::Convolution(Convolution::new([a, b, c], filter).with_boundary(Sides::from(ends)))
                }
            }
        }
    }
}

/// A shift to neighbouring elements, or far away.
fn shift(dice: &mut Dice, dims: [usize; 3]) -> Shift {
    let far = dice.of(4) == 0;
    let offsets = dims.map(|extent| match far {
        true => dice.of(2 * extent + 3) as isize - extent as isize - 1,
        false => dice.of(3) as isize - 1,
    });
    Shift { size: dims, offsets, boundaries: [(); 3].map(|()| dice.pick(&BOUNDARY_WORDS).1) }
}

/// A number that both classes have.
pub fn of_class(number: f64, single: bool) -> f64 {
    if single { f64::from(number as f32) } else { number }
}

pub fn narrow(ends: Ends<f64>) -> Ends<f32> {
    ends.map(|value| value as f32)
}

/// Any ends but circular ones.
pub fn open_ends(dice: &mut Dice) -> Ends<f64> {
    let mut end = || match dice.of(4) {
        0 => Boundary::Constant([0.0, 1.5, -2.0][dice.of(3)]),
        1 => Boundary::Replicate,
        2 => Boundary::Symmetric,
        _ => Boundary::Mirror,
    };
    let (low, high) = (end(), end());
    Ends::new(low, high).expect("none is circular")
}

fn ends(dice: &mut Dice) -> Ends<f64> {
    let open = open_ends(dice);
    if dice.of(4) == 0 { Boundary::Circular.into() } else { open }
}

/// Entries of a filter.
pub fn entries(dice: &mut Dice, count: usize, single: bool) -> Vec<f64> {
    (0..count).map(|_| of_class(dice.number().clamp(-9.0, 9.0), single)).collect()
}

fn section(start: usize, size: [usize; 3], steps: [isize; 3]) -> Places {
    let mut section = Section { start, size: [1; RANK], steps: [0; RANK] };
    section.size[..3].copy_from_slice(&size);
    section.steps[..3].copy_from_slice(&steps);
    Places::Section(section)
}

/// An array of samples that depend on a seed.
pub fn numbers(engine: &AnyEngine, single: bool, len: usize, seed: u64) -> Result<Numbers, String> {
    let samples = samples(len, seed);
    let told = |error: stencil_mex::stencil::Error| error.to_string();
    Ok(match single {
        true => {
            let samples: Vec<f32> = samples.iter().map(|&sample| sample as f32).collect();
            array_with(engine, &samples).map_err(told)?.into()
        }
        false => array_with(engine, &samples).map_err(told)?.into(),
    })
}

/// All NaN are equal.
fn known_bits<T: Number>(number: T) -> u64 {
    if number.is_nan() { u64::MAX } else { bits(number) }
}

pub fn bits_of(engine: &AnyEngine, numbers: &Numbers) -> Result<Vec<u64>, String> {
    let told = |error: stencil_mex::stencil::Error| error.to_string();
    Ok(match numbers {
        Numbers::Double(array) => contents(engine, array).map_err(told)?.into_iter().map(known_bits).collect(),
        Numbers::Single(array) => contents(engine, array).map_err(told)?.into_iter().map(known_bits).collect(),
    })
}

/// Steps of a program on an engine, from states and other arrays that depend on a seed: the states, the last `records`
/// results of each step, and the number of steps per launch.
pub fn run(
    engine: &AnyEngine,
    make: &dyn Fn() -> (Program, Vec<Value>),
    inputs: &[(bool, usize)],
    (seed, steps, records): (u64, usize, usize),
) -> Result<(Vec<Vec<u64>>, usize), String> {
    let told = |error: stencil_mex::stencil::Error| error.to_string();
    let (program, outputs) = make();
    let inputs = inputs.iter().zip(seed..).map(|(&(single, len), seed)| numbers(engine, single, len, seed));
    let mut inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let count = outputs.len() - records;
    let states = inputs.drain(..count).collect();
    // Inputs that are no states are arrays from outside.
    let known = (0..count).map(|_| None).chain(inputs.into_iter().map(Some)).collect();
    let shape = Shape { states: count, records, until: false };
    let mut step =
        Step::new(engine, Taped { program: Arc::new(program), known, drawn: None }, outputs, shape).map_err(told)?;
    let ran = step.run(engine, states, &Run::of(steps), &Watch::new()).map_err(told)?;
    let results = ran.states.iter().chain(&ran.records).map(|result| bits_of(engine, result));
    Ok((results.collect::<Result<_, _>>()?, ran.at_once))
}

/// An engine against the reference.
fn check(
    engine: &AnyEngine,
    what: &str,
    make: &dyn Fn() -> (Program, Vec<Value>),
    inputs: &[(bool, usize)],
    seed: u64,
) -> Outcome {
    let of = (seed, 2, 0);
    let (found, _) = run(engine, make, inputs, of).map_err(|error| format!("{what}: {error}"))?;
    let (right, _) = run(&Reference, make, inputs, of)?;
    alike(what, make, &found, &right)
}

/// Results against the right ones.
pub fn alike(what: &str, make: &dyn Fn() -> (Program, Vec<Value>), found: &[Vec<u64>], right: &[Vec<u64>]) -> Outcome {
    for (number, (found, right)) in found.iter().zip(right).enumerate() {
        if let Some(at) = (0..right.len()).find(|&at| found[at] != right[at]) {
            let (program, _) = make();
            let nodes: Vec<_> =
                program.nodes().iter().enumerate().map(|(at, node)| format!("{at}: {node:?}")).collect();
            return Err(format!(
                "{what}: result {number}, element {at}: {:x} for {:x}\n{}",
                found[at],
                right[at],
                nodes.join("\n")
            ));
        }
    }
    Ok(())
}

/// A random program of some states, operands that expand, and this number of operations.
fn random(seed: u64, dims: [usize; 3], operations: usize) -> (Program, Vec<Value>) {
    let mut dice = Dice::new(seed);
    let (program, whole, parts, scalars) = (Program::new(), Vec::new(), Vec::new(), Vec::new());
    let mut making = Making { program, dims, whole, parts, scalars };
    for (single, len) in inputs_of(dims) {
        let value = making.program.input(single, len);
        match len {
            len if len == making.len() => making.whole.push((value, single)),
            1 => making.parts.push((value, [1; 3], single)),
            len if len == dims[0] => making.parts.push((value, [dims[0], 1, 1], single)),
            _ => making.parts.push((value, [1, dims[1], dims[2]], single)),
        }
    }
    (0..operations).for_each(|_| making.grow(&mut dice));
    // Two states, of the classes of the first two inputs.
    let [first, second] = [false, true].map(|single| {
        let of: Vec<_> = making.whole.iter().copied().filter(|value| value.1 == single).collect();
        of[of.len() - 1 - dice.of(of.len().min(3))].0
    });
    (making.program, vec![first, second])
}

/// The inputs of a random program.
fn inputs_of(dims: [usize; 3]) -> Vec<(bool, usize)> {
    let len = dims.iter().product();
    vec![(false, len), (true, len), (false, len), (false, dims[0]), (true, dims[1] * dims[2]), (false, 1), (true, 1)]
}

pub const REDUCTIONS: [Reduction; 10] = [
    Reduction::Sum,
    Reduction::Dot,
    Reduction::SumOfMagnitudes,
    Reduction::Product,
    Reduction::Min,
    Reduction::Max,
    Reduction::LargestMagnitude,
    Reduction::Any,
    Reduction::All,
    Reduction::Differ,
];

const DIMS: [[usize; 3]; 10] = [
    [1, 1, 1],
    [7, 1, 1],
    [700, 1, 1],
    [1, 9, 1],
    [3, 50, 2],
    [33, 6, 1],
    [16, 5, 4],
    [40, 17, 3],
    [513, 3, 1],
    [20, 1, 6],
];

fn random_programs(engine: &AnyEngine) -> Outcome {
    let count = selection::of_cases(if is_slow(engine) { 200 } else { 400 });
    for seed in 0..u64::from(count) {
        let mut dice = Dice::new(seed + 1000);
        let dims = *dice.pick(&DIMS);
        let operations = 1 + dice.of(25);
        let make = || random(seed, dims, operations);
        check(engine, &format!("seed {seed}, {dims:?}, {operations} operations"), &make, &inputs_of(dims), seed)?;
    }
    Ok(())
}

/// Each operation on numbers of all kinds, in both classes.
fn every_operation(engine: &AnyEngine) -> Outcome {
    let dims = [37, 5, 1];
    let len = dims.iter().product();
    for single in [false, true] {
        let plain = Expansion::new([&dims, &dims]).ok_or("they are alike")?;
        for op in UNARY.into_iter().chain(Unary::FUNCTIONS) {
            let make = || {
                let mut program = Program::new();
                let of = program.input(single, len);
                let value = program.append(Node { operation: Operation::Each(op, of), single, len });
                (program, vec![value])
            };
            check(engine, &format!("{op:?}"), &make, &[(single, len)], 7)?;
        }
        for op in BINARY.into_iter().chain(Binary::FUNCTIONS) {
            let make = || {
                let mut program = Program::new();
                let of = [program.input(single, len), program.input(single, len)].map(Term::Value);
                let value = program.append(Node { operation: Operation::Pair(op, of, plain), single, len });
                (program, vec![value])
            };
            check(engine, &format!("{op:?}"), &make, &[(single, len); 2], 11)?;
        }
    }
    Ok(())
}

/// A filter that reaches beyond both ends of short and long arrays, under every boundary.
fn every_boundary(engine: &AnyEngine) -> Outcome {
    let alike = Boundary::all_kinds(2.5);
    // In a corner one of them wins.
    let each = [0.5, 1.5, 2.5]
        .map(|low| Ends::new(Boundary::Constant(low), Boundary::Constant(10.0 * low)).expect("none is circular"));
    let open = Ends::new(Boundary::Replicate, Boundary::Constant(-4.5)).expect("none is circular");
    let corners = [each, [each[0], open, each[2]], [open, each[1], open]];
    let boundaries = alike.into_iter().map(|boundary| [boundary.into(); 3]).chain(corners).map(Sides::from);
    for (number, boundary) in boundaries.enumerate() {
        for dims in [
            [1, 1, 1],
            [1, 3, 1],
            [4, 1, 3],
            [1, 1, 5],
            [2, 3, 1],
            [3, 2, 4],
            [40, 9, 1],
            [17, 40, 2],
            [130, 5, 2],
            [600, 2, 1],
        ] {
            for size in [[9, 1, 1], [1, 7, 1], [5, 4, 1], [3, 3, 3], [2, 1, 4]] {
                let len = dims.iter().product();
                let make = || {
                    let mut program = Program::new();
                    let of = program.input(false, len);
                    let entries = (0..size.iter().product()).map(|i: usize| 0.3 * i as f64 - 1.0).collect();
                    let filter = Filter::new(entries, size).expect("a filter");
                    let filter = Convolution::new(dims, filter).with_boundary(boundary);
                    let operation = Operation::Filter(Filtering::Convolution(filter), of);
                    let value = program.append(Node { operation, single: false, len });
                    (program, vec![value])
                };
                check(engine, &format!("{boundary:?}, {dims:?} by {size:?}"), &make, &[(false, len)], number as u64)?;
            }
        }
    }
    Ok(())
}

/// Reductions of all elements of results, and of a second array: of a part of a chunk, of some chunks, and of more than
/// are joined in one go.
fn every_reduction(engine: &AnyEngine) -> Outcome {
    let few = [[2, 1, 1], [31, 1, 1], [16, 64, 1], [1025, 1, 1], [300, 11, 1], [70, 9, 8]];
    for op in REDUCTIONS {
        let many = match op {
            // Teams of four warps, of two and of one on the stand-in's few multiprocessors; the last are joined once more.
            Reduction::Dot | Reduction::LargestMagnitude => &[[1050, 41, 1], [1050, 81, 1], [1050, 1001, 1]][..],
            _ => &[],
        };
        for dims in few.into_iter().chain(many.iter().copied()) {
            // A sum of the awkward numbers is NaN. Others lie around 1: a product stays a number.
            for (single, is_tame) in [(false, false), (false, true), (true, true)] {
                let len = dims.iter().product();
                let make = || numbers_of(op, dims, (single, is_tame));
                let what = format!("{op:?}, {dims:?}, single {single}, tame {is_tame}");
                check(engine, &what, &make, &[(single, len), (single, 1), (single, 1)], 5)?;
            }
        }
    }
    Ok(())
}

fn smoothing<T: Number>(dims: [usize; 3], size: [usize; 3], entries: [T; 3]) -> Convolution<T> {
    let filter = Filter::new(entries.into(), size).expect("a filter");
    Convolution::new(dims, filter).with_boundary(Boundary::Mirror)
}

/// A filter's results, a reduction of these, and the largest of them.
pub fn numbers_of(op: Reduction, dims: [usize; 3], (single, is_tame): (bool, bool)) -> (Program, Vec<Value>) {
    let len = dims.iter().product();
    let plain = Expansion::new([&[len], &[len]]).expect("they are alike");
    let mut program = Program::new();
    let state = program.input(single, len);
    let _ = [(); 2].map(|()| program.input(single, 1));
    let mut whole = |operation| program.append(Node { operation, single, len });
    let mut of = state;
    if is_tame {
        for (op, bound) in [(Binary::Max, 0.75), (Binary::Min, 1.25)] {
            of = whole(Operation::Pair(op, [Term::Value(of), Term::Number(bound)], plain));
        }
    }
    let size = if dims[1] > 1 { [1, 3, 1] } else { [3, 1, 1] };
    let filter = match single {
        true => Filtering::SingleConvolution(smoothing(dims, size, [0.25, 0.5, 0.25])),
        false => Filtering::Convolution(smoothing(dims, size, [0.25, 0.5, 0.25])),
    };
    let next = whole(Operation::Filter(filter, of));
    let second = op.of_two().then_some(of);
    let mut number = |op, second| {
        program.append(Node { operation: Operation::Reduce(op, next, second, [1, len, 1]), single, len: 1 })
    };
    let numbers = [number(op, second), number(Reduction::Max, None)];
    (program, vec![next, numbers[0], numbers[1]])
}

/// Elements from other places than their own: of an array, and of a result.
fn every_shift(engine: &AnyEngine) -> Outcome {
    for (number, (_, boundary)) in BOUNDARY_WORDS.into_iter().enumerate() {
        for dims in [[1, 1, 1], [2, 3, 1], [3, 2, 4], [40, 9, 1], [17, 40, 2], [130, 5, 2], [600, 2, 1]] {
            for offsets in [[1, 0, 0], [-1, 2, 0], [0, -3, 1], [7, -9, 3], [-41, 0, -5]] {
                let (len, shift) = (dims.iter().product(), Shift { size: dims, offsets, boundaries: [boundary; 3] });
                let make = || {
                    let mut program = Program::new();
                    let [of, _] = [(); 2].map(|()| program.input(false, len));
                    let mut shifted = |of| {
                        let operation = Operation::Filter(Filtering::Shift(shift), of);
                        program.append(Node { operation, single: false, len })
                    };
                    let once = shifted(of);
                    let twice = shifted(once);
                    (program, vec![once, twice])
                };
                let what = format!("{boundary:?}, {dims:?} by {offsets:?}");
                check(engine, &what, &make, &[(false, len); 2], number as u64)?;
            }
        }
    }
    Ok(())
}

/// An array that is seen in several ways in one kernel, and in more ways than go into one.
fn many_views(engine: &AnyEngine) -> Outcome {
    let dims = [20, 6, 3];
    let len = dims.iter().product();
    let steps = [1, 20, 120_isize];
    let turned = |turns: usize, forward: usize| {
        let mut section = (0, steps);
        for d in (0..3).filter(|d| turns >> d & 1 == 1) {
            section.0 += (dims[d] - 1) * steps[d] as usize;
            section.1[d] = -steps[d];
        }
        // Some of them lie in the second half of a larger array.
        self::section(section.0 + forward * len, dims, section.1)
    };
    let make = |ways: usize| {
        move || {
            let mut program = Program::new();
            let [of, larger] = [len, 4 * len].map(|len| program.input(false, len));
            let plain = Expansion::new([&[len], &[len]]).expect("they are alike");
            let mut sum = of;
            for way in 0..ways {
                let places = Arc::new(turned(way % 8, way / 8));
                let operation = Operation::Pick(places, larger);
                let view = program.append(Node { operation, single: false, len });
                for (op, other) in [(Binary::Multiply, Term::Number(-1.25)), (Binary::Add, Term::Value(view))] {
                    let operation = Operation::Pair(op, [Term::Value(sum), other], plain);
                    sum = program.append(Node { operation, single: false, len });
                }
            }
            (program, vec![sum])
        }
    };
    for ways in [2, 3, 8, 15, 16, 17, 32] {
        check(engine, &format!("{ways} views"), &make(ways), &[(false, len), (false, 4 * len)], 3)?;
    }
    Ok(())
}

/// Chains whose operations use their operand twice: an array, and a number. And more filters than fit a kernel, each
/// with its constants.
fn deep_and_wide(engine: &AnyEngine) -> Outcome {
    let dims = [20, 6, 1];
    let len = dims.iter().product();
    let deep = || {
        let mut program = Program::new();
        let [mut array, mut number] = [len, 1].map(|len| program.input(false, len));
        let state = number;
        for _ in 0..70 {
            for (value, len) in [(&mut array, len), (&mut number, 1)] {
                let plain = Expansion::new([&[len], &[len]]).expect("they are alike");
                for (op, other) in [(Binary::Add, Term::Value(*value)), (Binary::Multiply, Term::Number(0.25))] {
                    let operation = Operation::Pair(op, [Term::Value(*value), other], plain);
                    *value = program.append(Node { operation, single: false, len });
                }
            }
        }
        let expansion = Expansion::new([&[len], &[1]]).expect("one goes with all");
        let operation = Operation::Pair(Binary::Subtract, [Term::Value(array), Term::Value(number)], expansion);
        let result = program.append(Node { operation, single: false, len });
        (program, vec![result, state])
    };
    check(engine, "a deep program", &deep, &[(false, len), (false, 1)], 3)?;
    let wide = || {
        let mut program = Program::new();
        let state = program.input(false, len);
        let mut sum = state;
        let plain = Expansion::new([&dims, &dims]).expect("they are alike");
        for i in 0..90 {
            let filter = Filter::new(vec![0.5, 0.25 + f64::from(i)], [2, 1, 1]).expect("a filter");
            let sides = [0, 1, 2].map(|d| {
                let end = |high: i32| Boundary::Constant(f64::from(10 * i + 2 * d + high));
                Ends::new(end(0), end(1)).expect("none is circular")
            });
            let filter = Convolution::new(dims, filter).with_boundary(Sides::from(sides));
            let operation = Operation::Filter(Filtering::Convolution(filter), state);
            let filtered = program.append(Node { operation, single: false, len });
            let operation = Operation::Pair(Binary::Add, [Term::Value(sum), Term::Value(filtered)], plain);
            sum = program.append(Node { operation, single: false, len });
        }
        (program, vec![sum])
    };
    check(engine, "a wide program", &wide, &[(false, len)], 4)
}
