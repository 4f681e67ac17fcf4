//! Several steps a launch: random recurrences with any number of them, against the reference that takes one after the other.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{result, sys};
use stencil_mex::cuda::Cuda;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::program::{Gait, Node, Program, Value};
use stencil_mex::stencil::{
    Binary, Boundary, Compute, Convolution, Derivative, Ends, Expansion, Filter, Filtering, Lines, Number, Numbers,
    Operation, Places, RANK, Reduction, Reference, Section, Shift, Sides, Source, Stencil, Taps, Target, Term,
};
use stencil_mex::steps::{Run, Shape, Step, Taped, Values};

use super::checks::{Case, Outcome, check_convolution, is_slow, kernels_of, walking};
use super::programs::{Dice, alike, bits_of, entries, narrow, numbers, numbers_of, of_class, open_ends, run};
use crate::common::ends::{self, AnyEngine};
use crate::common::{self, StandIn, selection};

pub const TABLE: [Case; 6] = [
    ("random_walks", random_walks),
    ("walks_that_are_asked", walks_that_are_asked),
    ("walks_by_choice", by_choice),
    ("steps_in_batches", in_batches),
    ("calls_by_choice", calls),
    ("sweeps_by_walks", sweeps),
];

/// Lines, images, batches of both; shorter than a strip, and some strips.
const DIMS: [[usize; 3]; 14] = [
    [16, 1, 1],
    [37, 1, 1],
    [700, 1, 1],
    [17, 4, 1],
    [64, 64, 1],
    [33, 21, 1],
    [130, 9, 1],
    [300, 17, 1],
    [96, 33, 1],
    [40, 13, 3],
    [24, 5, 7],
    [19, 8, 8],
    [70, 6, 12],
    [513, 3, 1],
];

/// A recurrence under construction.
struct Making {
    program: Program,
    dims: [usize; 3],
    /// The dimensions that filters go along.
    along: Vec<usize>,
    /// Those that are circular.
    circular: [bool; 3],
    /// All of the arrays' size, with their classes.
    whole: Vec<(Value, bool)>,
    /// Values that expand, with dimensions and class.
    parts: Vec<(Value, [usize; 3], bool)>,
}

impl Making {
    fn append(&mut self, operation: Operation<Value>, single: bool) -> Value {
        let value = self.program.append(Node { operation, single, len: self.dims.iter().product() });
        self.whole.push((value, single));
        value
    }

    fn in_class(&mut self, (value, is_single): (Value, bool), single: bool) -> Value {
        if is_single == single { value } else { self.append(Operation::Convert(value), single) }
    }

    fn pair(&mut self, dice: &mut Dice, single: bool, terms: [Term<Value>; 2], sizes: [[usize; 3]; 2]) {
        let expansion = Expansion::new([&sizes[0], &sizes[1]]).expect("they expand");
        self.append(Operation::Pair(dice.binary(), terms, expansion), single);
    }

    fn grow(&mut self, dice: &mut Dice) {
        let (value, single) = *dice.pick(&self.whole);
        let dims = self.dims;
        match dice.of(10) {
            0 => drop(self.append(Operation::Each(dice.unary(), value), single)),
            1 | 2 => {
                let other = *dice.pick(&self.whole);
                let other = self.in_class(other, single);
                self.pair(dice, single, [Term::Value(value), Term::Value(other)], [dims; 2]);
            }
            3 => {
                let number = Term::Number(of_class(dice.number(), single));
                self.pair(dice, single, [Term::Value(value), number], [dims; 2]);
            }
            4 | 5 => {
                let of: Vec<_> = self.parts.iter().copied().filter(|part| part.2 == single).collect();
                if let Some(&(part, size, _)) = (!of.is_empty()).then(|| dice.pick(&of)) {
                    self.pair(dice, single, [Term::Value(value), Term::Value(part)], [dims, size]);
                }
            }
            6 => {
                let other = *dice.pick(&self.whole);
                let other = self.in_class(other, single);
                let weight = Term::Number(of_class(dice.number(), single));
                let source = dice.of(2).checked_sub(1).map(|_| Term::Value(other));
                self.append(Operation::MultiplyAdd(weight, value, other, source), single);
            }
            _ => {
                let filter = self.filter(dice, single);
                self.append(Operation::Filter(filter, value), single);
            }
        }
    }

    /// Some elements of a value, also several times: in a list, or of a line of rows or of columns.
    fn record(&mut self, dice: &mut Dice) -> Value {
        let (of, single) = *dice.pick(&self.whole);
        let [rows, columns, pages] = self.dims;
        let places = match dice.of(3) {
            0 => {
                let count = 1 + dice.of(20);
                Places::List((0..count).map(|_| dice.of(rows * columns * pages) as u64).collect())
            }
            way => {
                let mut section = Section { start: 0, size: [1; RANK], steps: [0; RANK] };
                let (row, column) = (dice.of(rows), dice.of(columns));
                (section.start, section.size[0], section.steps[0]) = match way {
                    1 => (column * rows + rows - 1, rows.div_ceil(2), -2),
                    _ => (row, columns * pages, rows as isize),
                };
                Places::Section(section)
            }
        };
        let len = places.len();
        self.program.append(Node { operation: Operation::Pick(Arc::new(places), of), single, len })
    }

    /// Boundaries along a dimension.
    fn ends(&self, dice: &mut Dice, d: usize) -> Ends<f64> {
        if self.circular[d] {
            return Boundary::Circular.into();
        }
        open_ends(dice)
    }

    fn filter(&self, dice: &mut Dice, single: bool) -> Filtering {
        let dims = self.dims;
        let ends = [0, 1, 2].map(|d| self.ends(dice, d));
        let d = *dice.pick(&self.along);
        let own = ends[d];
        match dice.of(6) {
            0 => {
                let is_plain = |end| !matches!(end, Boundary::Constant(_));
                let boundaries = ends.map(|ends| ends.both()[0]);
                let mut offsets = [0; 3];
                self.along.iter().for_each(|&d| offsets[d] = dice.of(5) as isize - 2);
                if boundaries.into_iter().zip(offsets).all(|(end, offset)| offset == 0 || is_plain(end)) {
                    return Filtering::Shift(Shift {
                        size: dims,
                        offsets,
                        boundaries: boundaries.map(|end| if is_plain(end) { end } else { Boundary::Replicate }),
                    });
                }
                self.filter(dice, single)
            }
            1 if !single => {
                let count = *dice.pick(&[1, 3, 5, 9]);
                let taps = entries(dice, count, single);
                let taps = Taps::new(&taps).expect("few");
                Filtering::Stencil(Stencil::new(Lines::along(&dims, d), taps).with_boundary(own))
            }
            2 => {
                let (lines, what) = (Lines::along(&dims, d), stencil_mex::stencil::CoefficientSource::Constant);
                match single {
                    true => Filtering::SingleDerivative(Derivative::new(lines, 0.5, what).with_boundary(narrow(own))),
                    false => Filtering::Derivative(Derivative::new(lines, 0.5, what).with_boundary(own)),
                }
            }
            _ => {
                let mut size = [1; 3];
                self.along.iter().for_each(|&d| size[d] = 1 + dice.of(3));
                let entries = entries(dice, size.iter().product(), single);
                if single {
                    let entries = entries.iter().map(|&entry| entry as f32).collect();
                    let filter = Filter::new(entries, size).expect("a filter");
                    let sides = Sides::from(ends.map(narrow));
                    Filtering::SingleConvolution(Convolution::new(dims, filter).with_boundary(sides))
                } else {
                    let filter = Filter::new(entries, size).expect("a filter");
                    Filtering::Convolution(Convolution::new(dims, filter).with_boundary(Sides::from(ends)))
                }
            }
        }
    }
}

/// Two states, in double and in single, and a number that is one; then arrays from outside.
fn inputs_of(dims: [usize; 3]) -> Vec<(bool, usize)> {
    let len = dims.iter().product();
    vec![(false, len), (true, len), (false, 1), (false, len), (true, len), (false, dims[0]), (true, dims[1] * dims[2])]
}

/// Without operations, a filter over each state: walks of one level load their ghost values for these.
fn random(seed: u64, dims: [usize; 3], (operations, records): (usize, usize)) -> (Program, Vec<Value>) {
    let mut dice = Dice::new(seed);
    let circular = [(); 3].map(|()| dice.of(3) == 0);
    let along = match dice.of(4) {
        _ if dims[2] == 1 => vec![0, 1],
        0 => vec![0, 1],
        1 => vec![0, 2],
        _ => vec![0, 1, 2],
    };
    let mut making = Making { program: Program::new(), dims, along, circular, whole: Vec::new(), parts: Vec::new() };
    let inputs = inputs_of(dims);
    let values: Vec<_> = inputs.iter().map(|&(single, len)| making.program.input(single, len)).collect();
    for (at, &(single, _)) in inputs.iter().enumerate() {
        match at {
            0 | 1 | 3 | 4 => making.whole.push((values[at], single)),
            2 => making.parts.push((values[at], [1; 3], single)),
            5 => making.parts.push((values[at], [dims[0], 1, 1], single)),
            _ => making.parts.push((values[at], [1, dims[1], dims[2]], single)),
        }
    }
    (0..operations).for_each(|_| making.grow(&mut dice));
    for (state, single) in [(0, false), (1, true)].into_iter().filter(|_| operations == 0) {
        let filter = making.filter(&mut dice, single);
        making.append(Operation::Filter(filter, values[state]), single);
    }
    let [first, second] = [false, true].map(|single| {
        let of: Vec<_> = making.whole.iter().copied().filter(|value| value.1 == single).collect();
        of[of.len() - 1 - dice.of(of.len().min(3))].0
    });
    let plain = Expansion::new([&[1], &[1]]).expect("they are alike");
    let terms = [Term::Value(values[2]), Term::Number(0.25)];
    let clock =
        making.program.append(Node { operation: Operation::Pair(Binary::Add, terms, plain), single: false, len: 1 });
    let records: Vec<_> = (0..records).map(|_| making.record(&mut dice)).collect();
    (making.program, [vec![first, second, clock], records].concat())
}

fn random_walks(engine: &AnyEngine) -> Outcome {
    walks_of(engine, 0..u64::from(selection::of_cases(if is_slow(engine) { 900 } else { 3000 })))
}

/// The random walks of these seeds.
fn walks_of(engine: &AnyEngine, seeds: Range<u64>) -> Outcome {
    let count = seeds.end - seeds.start;
    let [mut walked, mut kept] = [0; 2];
    for seed in seeds {
        let mut dice = Dice::new(seed + 77);
        let dims = *dice.pick(&DIMS);
        let operations = if dice.of(3) == 0 { 0 } else { 1 + dice.of(9) };
        let gait = Gait {
            levels: if operations == 0 { 1 } else { 1 + dice.of(5) },
            elements: *dice.pick(&[1, 2, 4]),
            lines: if dims[2] > 1 { *dice.pick(&[1, 2, 4]) } else { 1 },
            columns: *dice.pick(&[1, 2, 3, 7, 16, 100]),
            blocks: 3,
        };
        let steps = 1 + dice.of(3) + gait.levels * (1 + dice.of(2));
        let records = dice.of(3);
        let make = || random(seed, dims, (operations, records));
        let what = format!("seed {seed}, {dims:?}, {operations} operations, {records} kept, {steps} steps by {gait:?}");
        let by = |engine: &AnyEngine| run(engine, &make, &inputs_of(dims), (seed, steps, records));
        let (found, at_once) = walking(engine, gait, by)?.map_err(|error| format!("{what}: {error}"))?;
        let (right, _) = by(&Reference)?;
        alike(&what, &make, &found, &right)?;
        walked += u64::from(at_once > 0);
        kept += u64::from(at_once > 0 && records > 0);
    }
    // Some reach too far, or differ in their boundaries.
    if engine.name() == "cuda" && (walked < count / 3 || kept < count / 5) {
        return Err(format!("{walked} of {count} recurrences were walked, {kept} with records"));
    }
    Ok(())
}

/// Heat that spreads from `dims`, with two numbers in each step if it `changes`; and whether a sum of magnitudes is above a
/// bound.
fn heat(dims: [usize; 3], bound: f64, changes: bool) -> (Program, Vec<Value>) {
    let len = dims.iter().product();
    let mut program = Program::new();
    let state = program.input(false, len);
    let numbers: Vec<Value> = (0..2 * usize::from(changes)).map(|_| program.input(false, 1)).collect();
    let filter = Filter::new(vec![0.0, 0.1, 0.0, 0.1, 0.6, 0.1, 0.0, 0.1, 0.0], [3, 3, 1]).expect("a filter");
    let sides = Sides::from([Ends::from(Boundary::Mirror), Ends::from(Boundary::Constant(0.5)), Ends::default()]);
    let filter = Convolution::new(dims, filter).with_boundary(sides);
    let mut append = |operation, len| program.append(Node { operation, single: false, len });
    let mut next = append(Operation::Filter(Filtering::Convolution(filter), state), len);
    let expansion = Expansion::new([&[len], &[1]]).expect("one goes with all");
    for (op, number) in [Binary::Multiply, Binary::Add].into_iter().zip(numbers) {
        next = append(Operation::Pair(op, [Term::Value(next), Term::Value(number)], expansion), len);
    }
    let sum = append(Operation::Reduce(Reduction::SumOfMagnitudes, next, None, [1, len, 1]), 1);
    let plain = Expansion::new([&[1], &[1]]).expect("they are alike");
    let end = append(Operation::Pair(Binary::Greater, [Term::Value(sum), Term::Number(bound)], plain), 1);
    (program, vec![next, end])
}

/// The end of a run of [`heat`]: bits of states and of pages, the steps, true if it ended by itself, the steps per
/// launch, and the number of replayed steps.
type Came = (Vec<Vec<u64>>, Vec<Vec<u64>>, usize, bool, usize, usize);

fn heated(engine: &AnyEngine, dims: [usize; 3], bound: f64, run: &Run) -> Result<Came, String> {
    let (program, outputs) = heat(dims, bound, true);
    let values = numbers(engine, false, 2 * run.steps, 6)?;
    came(
        engine,
        (program, outputs, vec![(false, dims.iter().product())]),
        &Run { values: Values::Numbers(values, 2), ..*run },
    )
}

/// Runs a step, of whose results the last one is a number that ends it.
fn came(
    engine: &AnyEngine,
    (program, outputs, states): (Program, Vec<Value>, Vec<(bool, usize)>),
    run: &Run,
) -> Result<Came, String> {
    let told = |error: stencil_mex::stencil::Error| error.to_string();
    let shape = Shape { states: states.len(), records: 0, until: true };
    let known = vec![None; program.inputs()];
    let states = states.into_iter().map(|(single, len)| numbers(engine, single, len, 5)).collect::<Result<_, _>>()?;
    let mut step =
        Step::new(engine, Taped { program: Arc::new(program), known, drawn: None }, outputs, shape).map_err(told)?;
    let ran = step.run(engine, states, run, &Watch::new()).map_err(told)?;
    let bits = |all: &[Numbers]| all.iter().map(|one| bits_of(engine, one)).collect::<Result<Vec<_>, _>>();
    Ok((bits(&ran.states)?, bits(&ran.kept)?, ran.steps, ran.ended, ran.at_once, ran.replayed))
}

/// Pages, numbers of each step, and an end that is asked for now and then.
fn walks_that_are_asked(engine: &AnyEngine) -> Outcome {
    let dims = [50, 23, 1];
    for (number, (steps, every, check, before)) in
        [(23, 5, 4, 0), (12, 3, 100, 0), (17, 0, 1, 0), (9, 2, 3, 7), (6, 100, 6, 0), (31, 4, 8, 3)]
            .into_iter()
            .enumerate()
    {
        for (levels, bound) in [(2, 1e300), (3, 700.0), (1, 600.0), (5, 1e300)] {
            let gait = Gait { columns: 4, ..Gait::of(levels, 2, 1) };
            let run = Run { steps, before, total: before + steps, every, check, ..Run::of(steps) };
            let what = format!("run {number} by {levels} levels");
            let found = walking(engine, gait, |engine| heated(engine, dims, bound, &run))?;
            let found = found.map_err(|error| format!("{what}: {error}"))?;
            let right = heated(&Reference, dims, bound, &run)?;
            if (&found.0, &found.1, found.2, found.3) != (&right.0, &right.1, right.2, right.3) {
                return Err(format!("{what}: {} steps for {}, or other bits", found.2, right.2));
            }
            let walks =
                engine.name() == "cuda" && check > levels && (every == 0 || every >= levels) && found.2 > levels;
            if walks && found.4 == 0 {
                return Err(format!("{what}: no steps at once"));
            }
        }
    }
    Ok(())
}

/// Two runs, long enough for the engine to choose: the second uses the first one's choice.
fn by_choice(engine: &AnyEngine) -> Outcome {
    let dims = [40, 11, 1];
    let run = Run { steps: 700, before: 0, total: 700, every: 0, check: 1000, ..Run::of(700) };
    let right = heated(&Reference, dims, 1e300, &run)?;
    for round in 0..2 {
        let found = heated(engine, dims, 1e300, &run)?;
        if (&found.0, found.2) != (&right.0, right.2) {
            return Err(format!("round {round}: other bits, of {} steps at once", found.4));
        }
    }
    // Sweeps of one filter for which the archive has no fused kernel.
    let values = [0.1, 0.2, -0.3, 0.15, 0.05, 0.2, 0.3, -0.1].to_vec();
    let filter = Filter::new(values, [2, 4, 1]).map_err(|error| error.to_string())?;
    let what = Convolution::new(dims, filter).with_boundary(Boundary::Mirror).with_sweeps(700);
    let input: Vec<f64> = (0..dims.iter().product()).map(|i: usize| (i * 29 % 101) as f64).collect();
    (0..2).try_for_each(|_| check_convolution(engine, &what, &input))
}

/// Enough convolutions over a volume for the engine to try walks, and to take the quickest.
fn calls(engine: &AnyEngine) -> Outcome {
    fn in_class<T: Number>(engine: &AnyEngine, ends: Boundary<T>) -> Outcome {
        let dims = [50, 31, 23];
        let values = |count: usize, by: usize| (0..count).map(move |i| T::from_f64((i * by % 101) as f64 / 7.0 - 5.0));
        let [what, other] = [37, 41].map(|by| {
            let filter = Filter::new(values(27, by).collect(), [3; 3]).expect("a filter");
            Convolution::new(dims, filter).with_boundary(ends)
        });
        let from: Vec<T> = values(dims.iter().product(), 29).collect();
        let (watch, told) = (Watch::new(), |error: stencil_mex::stencil::Error| error.to_string());
        let [mut found, mut right] = [(); 2].map(|()| vec![T::default(); from.len()]);
        Reference.convolution(&what, Source::Host(&from), Target::Host(&mut right), &watch).map_err(told)?;
        let [mut on_device, mut to]: [stencil_mex::stencil::Array<T>; 2] =
            [engine.arrays().array(from.len()).map_err(told)?, engine.arrays().array(from.len()).map_err(told)?];
        engine.arrays().copy(Source::Host(&from), Target::Array(&mut on_device), &watch).map_err(told)?;
        for call in 0..230 {
            engine.convolution(&what, Source::Array(&on_device), Target::Array(&mut to), &watch).map_err(told)?;
            if call >= 200 || call % 50 == 0 {
                engine.arrays().copy(Source::Array(&to), Target::Host(&mut found), &watch).map_err(told)?;
                if found != right {
                    return Err(format!("call {call}: other numbers"));
                }
            }
        }
        // Another filter of the same shape.
        Reference.convolution(&other, Source::Host(&from), Target::Host(&mut right), &watch).map_err(told)?;
        engine.convolution(&other, Source::Array(&on_device), Target::Array(&mut to), &watch).map_err(told)?;
        engine.arrays().copy(Source::Array(&to), Target::Host(&mut found), &watch).map_err(told)?;
        if found == right { Ok(()) } else { Err("another filter: other numbers".into()) }
    }
    in_class::<f64>(engine, Boundary::Symmetric)?;
    in_class::<f32>(engine, Boundary::Constant(0.25))
}

/// Sweeps of one filter over images and volumes by random walks, between all ends: of filters that the archive has kernels of
/// several sweeps for on some chips, and of others.
fn sweeps(engine: &AnyEngine) -> Outcome {
    fn in_class<T: Number>(engine: &AnyEngine, dice: &mut Dice, ends: [Ends<T>; 3]) -> Outcome {
        let dims = *dice.pick(&DIMS[3..]);
        let depth = if dims[2] > 1 { *dice.pick(&[1, 2, 3]) } else { 1 };
        let size = [1 + dice.of(4), 2 + dice.of(3), depth];
        let values = entries(dice, size.iter().product(), T::SINGLE).into_iter().map(T::from_f64).collect();
        let filter = Filter::new(values, size).map_err(|error| error.to_string())?;
        let sweeps = *dice.pick(&[1, 2, 3, 8, 11, 21]);
        let what = Convolution::new(dims, filter).with_boundary(Sides::from(ends)).with_sweeps(sweeps);
        let lines = if dims[2] > 1 { *dice.pick(&[1, 2]) } else { 1 };
        let gait = Gait::of(1 + dice.of(4), *dice.pick(&[1, 2, 4]), lines);
        let gait = Gait { columns: *dice.pick(&[0, 3, 16]), ..gait };
        let input: Vec<T> =
            (0..dims.iter().product()).map(|i: usize| T::from_f64((i * 29 % 101) as f64 / 7.0)).collect();
        let check = |engine: &AnyEngine| ends::each(|| check_convolution(engine, &what, &input));
        walking(engine, gait, check)?.map_err(|error| format!("{gait:?}: {error}"))
    }
    let count = selection::of_cases(if is_slow(engine) { 40 } else { 200 });
    let launched = kernels_of(|| {
        (0..count as u64).try_for_each(|seed| {
            let mut dice = Dice::new(seed);
            let ends = [0; 3].map(|_| if dice.of(3) == 0 { Boundary::Circular.into() } else { open_ends(&mut dice) });
            in_class::<f64>(engine, &mut dice, ends)?;
            in_class::<f32>(engine, &mut dice, ends.map(narrow))
        })
    })?;
    let walked = launched.clone().map(|all| all.iter().filter(|kernel| kernel.ends_with("/step")).count());
    let all = launched.unwrap_or_default();
    match walked.filter(|&walked| engine.name() == "cuda" && walked < count as usize) {
        Some(walked) => Err(format!("{walked} launches in {count} cases were walks: {all:?}")),
        None => Ok(()),
    }
}

/// The chips that there are, with the multiprocessors of one of each kind.
const CHIPS: [(&str, &str); 9] = [
    ("6.0", "56"),
    ("7.0", "80"),
    ("7.5", "40"),
    ("8.0", "108"),
    ("8.6", "84"),
    ("8.9", "142"),
    ("9.0", "78"),
    ("10.0", "148"),
    ("12.0", "170"),
];

/// Walks by every kind of chip: steps, sweeps of one filter, and those that are chosen.
pub fn on_every_chip(_: Cuda, _: StandIn) -> Outcome {
    CHIPS.into_iter().try_for_each(|(capability, multiprocessors)| {
        let settings = [
            ("CUDA_STAND_IN_CAPABILITY", capability),
            ("CUDA_STAND_IN_MULTIPROCESSORS", multiprocessors),
            ("STENCIL_TESTS", "selection"),
        ];
        let ended = common::child("walks", &settings)?;
        if ended.status.success() { Ok(()) } else { Err(format!("{capability}: {:?}: {}", ended.status, ended.output)) }
    })
}

/// The cases of a child.
pub fn of_a_chip(engine: &AnyEngine) -> Outcome {
    walks_of(engine, 5000..5030)?;
    sweeps(engine)?;
    by_choice(engine)
}

/// The context that is current on this thread; none with an engine that has none.
fn current_context(engine: &AnyEngine) -> Result<Option<sys::CUcontext>, String> {
    if engine.name() != "cuda" {
        return Ok(None);
    }
    result::ctx::get_current().map_err(|error| error.to_string())
}

/// Steps that end in numbers, enough for replays of a batch: without a condition, and with pages and a condition to
/// end.
fn in_batches(engine: &AnyEngine) -> Outcome {
    for (single, dims) in [(false, [40, 11, 1]), (true, [1300, 1, 1])] {
        let len = dims.iter().product();
        for (number, (steps, every, check, bound)) in
            [(200, 0, 1000, 2.0), (230, 75, 1000, 2.0), (300, 0, 70, 2.0), (300, 90, 110, 0.0), (40, 0, 1000, 2.0)]
                .into_iter()
                .enumerate()
        {
            let run = Run { steps, before: 0, total: steps, every, check, ..Run::of(steps) };
            let made = || {
                let (mut program, mut outputs) = numbers_of(Reduction::Sum, dims, (single, true));
                let plain = Expansion::new([&[1], &[1]]).expect("they are alike");
                let operation = Operation::Pair(Binary::Greater, [Term::Value(outputs[2]), Term::Number(bound)], plain);
                outputs.push(program.append(Node { operation, single, len: 1 }));
                (program, outputs, vec![(single, len), (single, 1), (single, 1)])
            };
            let what = format!("run {number}, single {single}");
            let host = current_context(engine)?;
            let found = came(engine, made(), &run).map_err(|error| format!("{what}: {error}"))?;
            if current_context(engine)? != host {
                return Err(format!("{what}: another context is current than before"));
            }
            let right = came(&Reference, made(), &run)?;
            if (&found.0, &found.1, found.2, found.3) != (&right.0, &right.1, right.2, right.3) {
                return Err(format!("{what}: {} steps for {}, or other bits", found.2, right.2));
            }
            if engine.name() == "cuda" && (found.5 > 0) != (steps > 100) {
                return Err(format!("{what}: {} steps in batches", found.5));
            }
        }
    }
    // Walks are replayed, too.
    let dims = [50, 23, 1];
    for (levels, steps, every) in [(2, 400, 0), (3, 1000, 350), (2, 90, 0), (1, 200, 0)] {
        let gait = Gait { columns: 4, ..Gait::of(levels, 2, 1) };
        let run = Run { steps, before: 0, total: steps, every, check: 2000, ..Run::of(steps) };
        let made = || {
            let (program, outputs) = heat(dims, 1e300, false);
            (program, outputs, vec![(false, dims.iter().product())])
        };
        let found = walking(engine, gait, |engine| came(engine, made(), &run))??;
        let right = came(&Reference, made(), &run)?;
        if (&found.0, &found.1, found.2) != (&right.0, &right.1, right.2) {
            return Err(format!("{steps} steps by {levels}: other bits, of {} replayed", found.5));
        }
        if engine.name() == "cuda" && (found.5 > 0) != (steps > 100) {
            return Err(format!("{steps} steps by {levels}: {} replayed", found.5));
        }
    }
    Ok(())
}
