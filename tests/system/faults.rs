//! Single faults: each call of the driver fails in turn, and the library's answer is checked.
//!
//! A scenario is run once to count its calls of the driver; then once for each of them with that call failing, for each
//! kind of failure. Each run must end in the error that is named for it, or in the right bits; nothing may hang,
//! nothing may stay alive, and the next call must give the right bits.
//!
//! It runs only on the stand-in for the driver (`tests/stand_in/cuda`); with another driver all are counted as ignored.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use stencil_mex::cuda::study::{Angles, Study};
use stencil_mex::cuda::{self, Cuda, Team};
use stencil_mex::platform::watch::Watch;
use stencil_mex::scheme::{self, Addend, Data, Scheme, TwoLevels};
use stencil_mex::stencil::program::{Gait, Node, Program, Value};
use stencil_mex::stencil::{
    Arrays, Binary, Boundary, CoefficientSource, Compute, Convolution, Derivative, Engine, Error, Expansion, Filter,
    Filtering, Lines, Numbers, Operation, Reduction, Reference, Source, Stencil, Taps, Target, Term, Unary,
};
use stencil_mex::steps::{Pages, Run, Shape, Step, Taped, Upload, Values};

use crate::common::{Mode, StandIn, child, selection, within};

const OUT_OF_MEMORY: i32 = 2;
const DEVICE_UNAVAILABLE: i32 = 46;
const ILLEGAL_ADDRESS: i32 = 700;

/// A kind of failure: its name, the driver's status, how long it lasts.
type Kind = (&'static str, i32, Mode);

const KINDS: [Kind; 4] = [
    ("out of memory", OUT_OF_MEMORY, Mode::Once),
    ("out of memory from then on", OUT_OF_MEMORY, Mode::FromThenOn),
    ("illegal address", ILLEGAL_ADDRESS, Mode::Sticky),
    ("lost device", DEVICE_UNAVAILABLE, Mode::Lost),
];

/// Work under test: a preparation, whose calls are not counted, and the work. Wrong bits are an internal error.
struct Scenario {
    name: &'static str,
    prepare: fn(),
    run: fn() -> Result<(), Error>,
    /// The call after it.
    next: fn() -> Result<(), Error>,
}

const SCENARIOS: [Scenario; 31] = [
    Scenario { name: "first_call", prepare: nothing, run: small, next: small },
    Scenario { name: "warm_call", prepare: warm, run: small, next: small },
    Scenario { name: "other_taps", prepare: warm, run: other_taps, next: other_taps },
    Scenario { name: "large_in_pieces", prepare: nothing, run: large, next: large },
    Scenario { name: "short_lines_in_pieces", prepare: nothing, run: short_lines, next: short_lines },
    Scenario { name: "sweeps_in_blocks", prepare: nothing, run: sweeps_in_blocks, next: sweeps_in_blocks },
    Scenario { name: "sweeps_in_rounds", prepare: nothing, run: sweeps_in_rounds, next: sweeps_in_rounds },
    Scenario { name: "derivative", prepare: nothing, run: derivative, next: derivative },
    Scenario { name: "convolution_resident", prepare: nothing, run: convolution_resident, next: convolution_resident },
    Scenario { name: "convolution_in_slabs", prepare: nothing, run: convolution_in_slabs, next: convolution_in_slabs },
    Scenario { name: "convolution_in_deep_tiles", prepare: nothing, run: deep_tiles, next: deep_tiles },
    Scenario { name: "chain", prepare: nothing, run: chain, next: chain },
    Scenario { name: "warm_chain", prepare: warm_for_a_chain, run: chain, next: chain },
    Scenario { name: "chain_in_pieces", prepare: nothing, run: chain_in_pieces, next: chain_in_pieces },
    Scenario { name: "copies", prepare: nothing, run: copies, next: copies },
    Scenario { name: "sweeps_on_the_device", prepare: nothing, run: sweeps_on_the_device, next: sweeps_on_the_device },
    Scenario { name: "filters_and_levels", prepare: warm_levels, run: filters_and_levels, next: filters_and_levels },
    Scenario { name: "levels_at_once", prepare: warm_levels, run: levels_at_once, next: levels_at_once },
    Scenario { name: "first_steps", prepare: nothing, run: steps_of_a_program, next: steps_of_a_program },
    Scenario { name: "steps_at_once", prepare: nothing, run: steps_at_once, next: steps_at_once },
    Scenario { name: "sweeps_at_once", prepare: nothing, run: sweeps_at_once, next: sweeps_at_once },
    Scenario { name: "steps", prepare: warm_steps, run: steps_of_a_program, next: steps_of_a_program },
    Scenario { name: "pages", prepare: warm_steps, run: pages_of_steps, next: pages_of_steps },
    Scenario { name: "batches", prepare: warm_batches, run: batches_of_steps, next: batches_of_steps },
    Scenario { name: "study", prepare: nothing, run: study, next: small },
    Scenario { name: "two_devices", prepare: nothing, run: two_devices, next: two_devices },
    Scenario { name: "parts", prepare: nothing, run: parts, next: parts },
    Scenario { name: "warm_parts", prepare: warm_parts, run: parts, next: parts },
    Scenario { name: "parts_through_the_host", prepare: nothing, run: through_the_host, next: through_the_host },
    Scenario { name: "shared_tiles", prepare: nothing, run: shared_tiles, next: shared_tiles },
    Scenario { name: "copy_across", prepare: nothing, run: copy_across, next: copy_across },
];

fn nothing() {}

fn warm() {
    small().expect("no fault is due");
}

fn warm_for_a_chain() {
    chain().expect("no fault is due");
}

fn warm_levels() {
    filters_and_levels().expect("no fault is due");
    levels_at_once().expect("no fault is due");
}

fn warm_steps() {
    steps_of_a_program().expect("no fault is due");
}

fn warm_batches() {
    batches_of_steps().expect("no fault is due");
}

fn warm_parts() {
    parts().expect("no fault is due");
}

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919) % 1013) as f64 / 1013.0 - 0.5).collect()
}

fn same(what: &str, output: &[f64], expected: &[f64]) -> Result<(), Error> {
    match output.iter().zip(expected).position(|(got, wanted)| got.to_bits() != wanted.to_bits()) {
        None => Ok(()),
        Some(i) => Err(Error::Internal(format!("{what}: element {i} is {}, not {}", output[i], expected[i]))),
    }
}

/// Returns the results of the plain reference, which every run is compared with: computed once.
fn expected(what: &str, compute: impl FnOnce() -> Result<Vec<f64>, Error>) -> Result<Vec<f64>, Error> {
    static KNOWN: Mutex<BTreeMap<String, Vec<f64>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.contains_key(what) {
        known.insert(what.into(), compute()?);
    }
    Ok(known[what].clone())
}

fn stencil(lines: Lines, taps: &[f64]) -> Stencil {
    Stencil::new(lines, Taps::new(taps).expect("they are taps"))
}

fn convolution(size: [usize; 3], filter: [usize; 3]) -> Convolution<f64> {
    Convolution::new(size, Filter::new(numbers(filter.iter().product()), filter).expect("a filter"))
}

/// Has `run` compute on CUDA and, the first time, on the reference.
fn compare(
    what: &str,
    cuda: &(dyn Engine + 'static),
    input: &[f64],
    run: impl Fn(&(dyn Engine + 'static), Source<f64>, Target<f64>) -> Result<(), Error>,
) -> Result<(), Error> {
    let expected = expected(what, || {
        let mut expected = vec![0.0; input.len()];
        run(&Reference, Source::Host(input), Target::Host(&mut expected)).map(|()| expected)
    })?;
    let mut output = vec![f64::NAN; input.len()];
    run(cuda, Source::Host(input), Target::Host(&mut output))?;
    same(what, &output, &expected)
}

fn stencil_on(cuda: &Cuda, lines: Lines, taps: &[f64], boundary: Boundary<f64>, sweeps: usize) -> Result<(), Error> {
    let what = format!("stencil {lines:?} {taps:?} {boundary:?} {sweeps}");
    let stencil = stencil(lines, taps).with_boundary(boundary).with_sweeps(sweeps);
    compare(&what, cuda, &numbers(lines.elements()), |engine, from, to| {
        engine.stencil(&stencil, from, to, &Watch::new())
    })
}

fn small() -> Result<(), Error> {
    stencil_on(&Cuda::open(None)?, Lines::new(20, 1), &[1.0, 2.0, 3.0], Boundary::default(), 1)
}

fn other_taps() -> Result<(), Error> {
    stencil_on(&Cuda::open(None)?, Lines::new(20, 1), &[1.0, 2.0, 4.0], Boundary::default(), 1)
}

/// In some pieces, each too large to be read where it is.
fn large() -> Result<(), Error> {
    stencil_on(
        &Cuda::open(None)?.with_device_bytes(2 << 20),
        Lines::new(100_000, 1),
        &[0.25, 0.5, 0.25],
        Boundary::default(),
        1,
    )
}

fn short_lines() -> Result<(), Error> {
    stencil_on(
        &Cuda::open(None)?.with_device_bytes(2 << 20),
        Lines::new(50, 1600),
        &[0.25, 0.5, 0.25],
        Boundary::default(),
        1,
    )
}

fn sweeps_in_blocks() -> Result<(), Error> {
    stencil_on(
        &Cuda::open(None)?.with_device_bytes(1 << 20),
        Lines::strided(8, 3000, 4),
        &[0.25, 0.5, 0.25],
        Boundary::Circular,
        9,
    )
}

/// With so little memory that the sweeps go through the host's more than once.
fn sweeps_in_rounds() -> Result<(), Error> {
    stencil_on(
        &Cuda::open(None)?.with_device_bytes(30_000),
        Lines::new(4000, 1),
        &[0.25, 0.5, 0.25],
        Boundary::Symmetric,
        250,
    )
}

fn derivative() -> Result<(), Error> {
    let derivative = Derivative::new(Lines::new(40_000, 1), 0.1, CoefficientSource::ReadOnly);
    compare("derivative", &Cuda::open(None)?, &numbers(40_000), |engine, from, to| {
        engine.derivative(&derivative, from, to, &Watch::new())
    })
}

fn convolution_on(
    cuda: &Cuda,
    size: [usize; 3],
    filter: [usize; 3],
    boundary: Boundary<f64>,
    sweeps: usize,
) -> Result<(), Error> {
    let what = format!("convolution {size:?} {filter:?} {boundary:?} {sweeps}");
    let convolution = convolution(size, filter).with_boundary(boundary).with_sweeps(sweeps);
    compare(&what, cuda, &numbers(convolution.elements()), |engine, from, to| {
        engine.convolution(&convolution, from, to, &Watch::new())
    })
}

fn convolution_resident() -> Result<(), Error> {
    convolution_on(&Cuda::open(None)?, [200, 150, 1], [3, 3, 1], Boundary::Replicate, 5)
}

fn convolution_in_slabs() -> Result<(), Error> {
    convolution_on(&Cuda::open(None)?.with_device_bytes(1 << 20), [128, 700, 1], [5, 5, 1], Boundary::Circular, 1)
}

/// With so little memory that tiles lie on the device one after the other, in two rounds of several sweeps.
fn deep_tiles() -> Result<(), Error> {
    convolution_on(&Cuda::open(None)?.with_device_bytes(24_000), [25, 60, 1], [3, 3, 1], Boundary::Circular, 18)
}

/// From the host's memory to an array, from there to another with another operator, and from that to the host's memory:
/// a stencil along one dimension, sweeps of a convolution, a derivative along the other.
fn chain_on(cuda: &Cuda, rows: usize, columns: usize) -> Result<(), Error> {
    let stencil = stencil(Lines::strided(rows, columns, 1), &[0.25, 0.5, 0.25]).with_boundary(Boundary::Circular);
    let convolution = convolution([rows, columns, 1], [3, 3, 1]).with_boundary(Boundary::Symmetric).with_sweeps(3);
    let derivative = Derivative::new(Lines::new(rows, columns), 0.1, CoefficientSource::Constant);
    compare(&format!("chain {rows} x {columns}"), cuda, &numbers(rows * columns), |engine, from, to| {
        let len = from.len();
        let (mut first, mut second) = (engine.array(len)?, engine.array(len)?);
        counting(len, |watch| engine.stencil(&stencil, from, Target::Array(&mut first), watch))?;
        counting(3 * len, |watch| {
            engine.convolution(&convolution, Source::Array(&first), Target::Array(&mut second), watch)
        })?;
        counting(len, |watch| engine.derivative(&derivative, Source::Array(&second), to, watch))
    })
}

/// Work that counts this number of updates, even if some are done twice.
fn counting(updates: usize, work: impl FnOnce(&Watch) -> Result<(), Error>) -> Result<(), Error> {
    let watch = Watch::new();
    work(&watch)?;
    match watch.done() {
        done if done == updates as u64 => Ok(()),
        done => Err(Error::Internal(format!("{done} updates were counted, not {updates}"))),
    }
}

fn chain() -> Result<(), Error> {
    chain_on(&Cuda::open(None)?, 30, 20)
}

/// In some pieces and slabs.
fn chain_in_pieces() -> Result<(), Error> {
    chain_on(&Cuda::open(None)?.with_device_bytes(1 << 20), 400, 250)
}

/// A program of one state: its filter, and the state of a step that is that alone.
fn filtering(size: [usize; 3]) -> (Program, Value) {
    let len = size.iter().product();
    let mut program = Program::new();
    let state = program.input(false, len);
    let filter = convolution(size, [3, 3, 1]).with_boundary(Boundary::Circular);
    let operation = Operation::Filter(Filtering::Convolution(filter), state);
    let filtered = program.append(Node { operation, single: false, len });
    (program, filtered)
}

/// Several sweeps a launch, of a filter that the archive sweeps one by one, and those that are left.
fn sweeps_at_once() -> Result<(), Error> {
    let walk = Gait { columns: 7, ..Gait::of(3, 2, 1) };
    convolution_on(&Cuda::open(None)?.with_walk(walk), [40, 20, 1], [2, 3, 1], Boundary::Mirror, 8)
}

/// Several steps a launch, and those that are left one by one.
fn steps_at_once() -> Result<(), Error> {
    let size = [40, 20, 1];
    let (program, filtered) = filtering(size);
    let walk = Gait { columns: 7, ..Gait::of(3, 2, 1) };
    let cuda = Cuda::open(None)?.with_walk(walk);
    steps_of(("steps at once", &cuda), program, vec![filtered], (size.iter().product(), 0), &Run::of(8))
}

/// Steps of a solver: a kernel that is written at run time, a reduction, and a kernel that uses it; states on the way.
fn steps_of_a_program() -> Result<(), Error> {
    // The records are kept one by one.
    scaled_steps("steps of a program", 1, Run { every: 2, ..Run::of(4) })
}

/// Enough steps for replays of the last ones.
fn batches_of_steps() -> Result<(), Error> {
    scaled_steps("batches of steps", 0, Run::of(67))
}

/// Steps with a page each of an array of the host's, in three chunks: the last one has more than a page.
fn pages_of_steps() -> Result<(), Error> {
    let (len, steps) = (12_000, 5);
    let mut program = Program::new();
    let inputs = [0, 1].map(|_| Term::Value(program.input(false, len)));
    let expansion = Expansion::new([&[len], &[len]]).expect("one size");
    let operation = Operation::Pair(Binary::Subtract, inputs, expansion);
    let next = program.append(Node { operation, single: false, len });
    let all = numbers(len * steps);
    let upload: Box<Upload> = Box::new(move |engine, part, watch| {
        let mut array = engine.arrays::<f64>().array(part.len())?;
        engine.arrays().copy(Source::Host(&all[part]), Target::Array(&mut array), watch)?;
        Ok(array.into())
    });
    let run = Run { values: Values::Pages(vec![Pages::of_host(upload, false, len)]), ..Run::of(steps) };
    steps_of(("pages of steps", &Cuda::open(None)?), program, vec![next], (len, 0), &run)
}

fn scaled_steps(what: &str, records: usize, run: Run) -> Result<(), Error> {
    let size = [30, 20, 1];
    let len = size.iter().product();
    let (mut program, filtered) = filtering(size);
    let mut append = |operation, len| program.append(Node { operation, single: false, len });
    let root = append(Operation::Each(Unary::Atan, filtered), len);
    let largest = append(Operation::Reduce(Reduction::LargestMagnitude, root, None, [1, len, 1]), 1);
    let expansion = Expansion::new([&[len], &[1]]).expect("one goes with all");
    let scaled = append(Operation::Pair(Binary::Divide, [Term::Value(root), Term::Value(largest)], expansion), len);
    let outputs = [vec![scaled], vec![largest; records]].concat();
    steps_of((what, &Cuda::open(None)?), program, outputs, (len, records), &run)
}

/// A run of a step with one state of `len` elements, and this number of records.
fn steps_of(
    (what, cuda): (&str, &Cuda),
    program: Program,
    outputs: Vec<Value>,
    (len, records): (usize, usize),
    run: &Run,
) -> Result<(), Error> {
    let inputs = program.inputs();
    let program = Arc::new(program);
    compare(what, cuda, &numbers(len), |engine, from, to| {
        let mut array = engine.arrays::<f64>().array(len)?;
        counting(0, |watch| engine.arrays().copy(from, Target::Array(&mut array), watch))?;
        let shape = Shape { states: 1, records, until: false };
        let taped = Taped { program: Arc::clone(&program), known: vec![None; inputs], drawn: None };
        let mut step = Step::new(engine, taped, outputs.clone(), shape)?;
        let mut ran = None;
        counting(run.steps * len, |watch| {
            ran = Some(step.run(engine, vec![array.into()], run, watch)?);
            Ok(())
        })?;
        let Some(Numbers::Double(last)) = ran.and_then(|mut ran| ran.states.pop()) else {
            return Err(Error::Internal("no state".into()));
        };
        counting(0, |watch| engine.arrays().copy(Source::Array(&last), to, watch))
    })
}

/// A copy to an array, to another one, and back.
fn copies() -> Result<(), Error> {
    compare("copies", &Cuda::open(None)?, &numbers(100_000), |engine, from, to| {
        let (mut first, mut second) = (engine.array(from.len())?, engine.array(from.len())?);
        counting(0, |watch| {
            engine.copy(from, Target::Array(&mut first), watch)?;
            engine.copy(Source::Array(&first), Target::Array(&mut second), watch)?;
            engine.copy(Source::Array(&second), to, watch)
        })
    })
}

/// Sweeps of these filters along lines of neighbours and of an older level, with an optional source: two states, and
/// this number of sweeps for each. Each sweep overwrites its input, so none may be done twice.
fn scheme_on(cuda: &Cuda, lines: Lines, filters: usize, with_source: bool, sweeps: usize) -> Result<(), Error> {
    const STATES: usize = 2;
    let len = lines.elements();
    let stencil = stencil(lines, &[0.25, 0.5, 0.25]).with_boundary(Boundary::Mirror);
    let (samples, older, added) = (numbers(len), numbers(2 * len), numbers(3 * len));
    let what = format!("{filters} filters and levels {lines:?} {with_source} {sweeps}");
    compare(&what, cuda, &numbers(STATES * len), |engine, _, to| {
        let filter = || -> scheme::Filter<f64> {
            Box::new(|engine, sweeps, from, to, watch| engine.stencil(&stencil.with_sweeps(sweeps), from, to, watch))
        };
        let joint = (filters == 1).then(|| Box::new(stencil) as Box<dyn TwoLevels<f64>>);
        let filters: Vec<_> = (0..filters).map(|_| filter()).collect();
        let scheme = Scheme { filters, joint, weight: Some(-0.5), states: STATES, every: sweeps };
        let data = Data {
            from: Source::Host(&samples),
            older: Some(Source::Host(&older[len..])),
            weight: None,
            source: with_source.then(|| Addend::Elements(Source::Host(&added[2 * len..]))),
            to,
            older_to: None,
        };
        counting(STATES * sweeps * len, |watch| scheme.run(engine, data, watch))
    })
}

fn filters_and_levels() -> Result<(), Error> {
    scheme_on(&Cuda::open(None)?, Lines::new(50, 3), 2, true, 3)
}

fn levels_at_once() -> Result<(), Error> {
    // More than a launch does.
    scheme_on(&Cuda::open(None)?, Lines::new(1500, 2), 1, false, 300)
}

fn study() -> Result<(), Error> {
    let cuda = Cuda::open(None)?;
    // It has every kind of call; all studies together would be ten thousand of them.
    Study::Angles(Angles { threads: vec![1] }).run(&cuda).map(drop)
}

/// Enough sweeps for a large array to be resident.
fn sweeps_on_the_device() -> Result<(), Error> {
    convolution_on(&Cuda::open(None)?, [90, 70, 1], [3, 3, 1], Boundary::Symmetric, 40)
}

fn two_devices() -> Result<(), Error> {
    for ordinal in [0, 1, 0] {
        stencil_on(&Cuda::open(Some(ordinal))?, Lines::new(100, 1), &[1.0, 2.0, 3.0], Boundary::default(), 1)?;
    }
    Ok(())
}

/// True if a run that met this fault may end so.
fn is_named(kind: Kind, outcome: &Result<(), Error>) -> bool {
    let (_, status, mode) = kind;
    let says = |text: &str, word: &str| text.contains(word) && text.contains("cu");
    match outcome {
        // In smaller buffers, by a second try, or because the call was one whose failure changes nothing.
        Ok(()) => mode != Mode::FromThenOn || status == OUT_OF_MEMORY,
        Err(Error::OutOfMemory(text)) => status == OUT_OF_MEMORY && says(text, "CUDA_ERROR_OUT_OF_MEMORY"),
        Err(Error::Cuda(text)) if status == ILLEGAL_ADDRESS => says(text, "CUDA_ERROR_ILLEGAL_ADDRESS"),
        Err(Error::Cuda(text)) if status == DEVICE_UNAVAILABLE => says(text, "CUDA_ERROR_DEVICE_UNAVAILABLE"),
        _ => false,
    }
}

/// All that is asked of one run with one fault.
fn one_fault(
    stand_in: StandIn,
    scenario: &Scenario,
    kind: Kind,
    nth: usize,
    ends: &mut BTreeMap<String, usize>,
) -> Result<(), String> {
    let (kind_name, status, mode) = kind;
    stand_in.heal();
    cuda::release();
    (scenario.prepare)();
    stand_in.reset();
    stand_in.fail(nth, status, mode);
    let what = format!("{}, {kind_name} in call {nth}", scenario.name);
    let outcome = within(Duration::from_secs(30), &what, scenario.run);
    let call = stand_in.call(nth - 1);
    let what = format!("{what}, {call}");
    stand_in.heal();
    if !is_named(kind, &outcome) {
        return Err(format!("{what}: {outcome:?}"));
    }
    let end = match &outcome {
        Ok(()) => "right bits",
        Err(Error::OutOfMemory(_)) => "outOfMemory",
        Err(_) => "cuda",
    };
    *ends.entry(format!("{kind_name}: {end}")).or_default() += 1;
    if let Some(told) = stand_in.misuse() {
        return Err(format!("{what}: {told}"));
    }
    within(Duration::from_secs(30), &format!("the call after {what}"), scenario.next)
        .map_err(|error| format!("the call after {what}: {error}"))?;
    cuda::release();
    let left = stand_in.alive();
    if !left.is_empty() {
        return Err(format!("{what}: left alive after the release: {left}"));
    }
    match stand_in.misuse() {
        Some(told) => Err(format!("the call after {what}, or the release: {told}")),
        None => Ok(()),
    }
}

/// The calls of a scenario in which none fails.
fn calls_of(stand_in: StandIn, scenario: &Scenario) -> Result<Vec<String>, String> {
    stand_in.heal();
    cuda::release();
    (scenario.prepare)();
    stand_in.reset();
    (scenario.run)().map_err(|error| format!("without a fault: {error}"))?;
    Ok((0..stand_in.calls()).map(|number| stand_in.call(number)).collect())
}

/// Every fault of one kind in a scenario.
fn every_fault(stand_in: StandIn, scenario: &Scenario, kind: Kind) -> Result<(), String> {
    // Threads that share the work make a few calls more or fewer.
    let names = calls_of(stand_in, scenario)?;
    let calls = names.len();
    // In a long sequence of equal launches, or of launches in turn with an event, the first and the last ones stand for
    // all.
    let alike = |at: usize| {
        (1..=3).any(|period| {
            let reach = 3 * period;
            at >= reach
                && at + reach < calls
                && (at - reach..at + reach - period).all(|other| names[other] == names[other + period])
        })
    };
    let mut ends = BTreeMap::new();
    let mut failures = Vec::new();
    // A selection has two kinds of failure of each function, chosen by the length of its name: one in its first call,
    // the other in its last; the next scenario has the others. All scenarios open a device in the same way, so this is
    // selected in the first one only.
    let [first, ..] = &SCENARIOS;
    let opening = match scenario.name == first.name {
        true => 0,
        false => calls_of(stand_in, first)?.iter().zip(&names).take_while(|(one, other)| one == other).count(),
    };
    let kind_number = KINDS.iter().position(|other| other.0 == kind.0).ok_or("a kind")?;
    let turn = SCENARIOS.iter().position(|other| other.name == scenario.name).ok_or("a scenario")?;
    let is_of_first = (kind_number / 2 + turn).is_multiple_of(2);
    let is_selected = |nth: usize| {
        let name = &names[nth - 1];
        let others = if is_of_first { &names[opening.min(nth - 1)..nth - 1] } else { &names[nth..] };
        nth > opening && (name.len() + kind_number + turn).is_multiple_of(2) && !others.contains(name)
    };
    let is_taken = |nth: usize| selection::takes_one(&(scenario.name, kind.0, nth), is_selected(nth));
    for nth in (1..=calls).filter(|&nth| !alike(nth - 1) && is_taken(nth)) {
        if let Err(failure) = one_fault(stand_in, scenario, kind, nth, &mut ends) {
            // The rest is tried, too: one cause shows in many places.
            let _ = stand_in.misuse();
            failures.push(failure);
        }
    }
    let ends: Vec<_> = ends.into_iter().map(|(end, count)| format!("{count} {end}")).collect();
    let left_out = (0..calls).filter(|&at| alike(at)).count();
    eprintln!(
        "{}: {calls} calls, {left_out} of them inside runs of like ones and left out; {}",
        scenario.name,
        ends.join(", ")
    );
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {calls} faults:\n{}", failures.len(), failures[..failures.len().min(12)].join("\n")))
}

/// Makes each call of a process fail in turn, from the first to the last: checks its exit and its message.
fn whole_processes(_: StandIn) -> Result<(), String> {
    let whole = child("live", &[])?;
    let calls = whole
        .output
        .lines()
        .find_map(|line| line.strip_prefix("calls: "))
        .and_then(|calls| calls.parse::<usize>().ok());
    let calls = calls.ok_or_else(|| format!("{:?}: {}", whole.status, whole.output))?;
    if !whole.status.success() || calls < 20 {
        return Err(format!("without a fault: {:?}: {}", whole.status, whole.output));
    }
    let mut failures = Vec::new();
    for (number, (kind, status, mode)) in KINDS.into_iter().enumerate() {
        let is_taken = |&nth: &usize| selection::takes_one(&(kind, nth), (nth + number).is_multiple_of(16));
        for nth in (1..=calls).filter(is_taken) {
            let fault = format!("{nth}:{status}:{}", mode as i32);
            let ended = child("live", &[("CUDA_STAND_IN_FAIL", &fault)])?;
            let said = ["right bits", "OutOfMemory", "Cuda", "NoDevice"].iter().any(|word| ended.output.contains(word));
            if !ended.status.success() || !said {
                failures.push(format!("{kind} in call {nth}: {:?}: {}", ended.status, ended.output));
            }
        }
    }
    eprintln!("whole processes: {calls} calls");
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// Runs such a process. A permanent fault is lifted before its end: a failing release is another subject.
pub fn in_child(_: &str) -> Result<(), String> {
    match small() {
        Ok(()) => println!("right bits"),
        Err(error) => println!("{error:?}"),
    }
    cuda::release();
    if let Some(stand_in) = StandIn::find() {
        println!("calls: {}", stand_in.calls());
    }
    Ok(())
}

/// Sweeps over an image that lies in parts on two devices.
fn sweeps_in_parts(team: &Team) -> Result<(), Error> {
    let what = convolution([5, 24, 1], [3, 3, 1]).with_boundary(Boundary::Circular).with_sweeps(6);
    compare("parts", team, &numbers(5 * 24), |engine, from, to| engine.convolution(&what, from, to, &Watch::new()))
}

/// With halos that go from device to device.
fn parts() -> Result<(), Error> {
    sweeps_in_parts(&Team::open(&[0, 1])?.in_parts(1, 2))
}

/// With two parts on each device, and halos that go through the host.
fn through_the_host() -> Result<(), Error> {
    sweeps_in_parts(&Team::open(&[0, 1])?.in_parts(2, 2).through_the_host())
}

/// Tiles that go through the slots of two devices, whichever has room.
fn shared_tiles() -> Result<(), Error> {
    let team = Team::open(&[0, 1])?.with_device_bytes(1 << 20);
    let what = stencil(Lines::new(200_000, 1), &[0.5, -0.25, 2.0]).with_boundary(Boundary::Replicate);
    compare("shared tiles", &team, &numbers(200_000), |engine, from, to| engine.stencil(&what, from, to, &Watch::new()))
}

/// An array that is copied from one device to the other, and gone before that is over.
fn copy_across() -> Result<(), Error> {
    let (first, second) = (Cuda::open(Some(0))?, Cuda::open(Some(1))?);
    let input = numbers(1000);
    let mut array = Arrays::<f64>::array(&first, input.len())?;
    Arrays::copy(&first, Source::Host(&input), Target::Array(&mut array), &Watch::new())?;
    let copy = second.copy_of(&array)?;
    drop(array);
    let mut output = vec![f64::NAN; input.len()];
    Arrays::copy(&second, Source::Array(&copy), Target::Host(&mut output), &Watch::new())?;
    same("a copy on another device", &output, &input)
}

/// The variables of the one process.
pub fn processes() -> &'static [&'static [(&'static str, &'static str)]] {
    &[&[("CUDA_STAND_IN_DEVICES", "2")]]
}

pub fn trials() -> Vec<Trial> {
    let stand_in = StandIn::find();
    let reason = if stand_in.is_none() { " (skipped: the stand-in is not what is found as the driver)" } else { "" };
    let mut trials = Vec::new();
    for scenario in &SCENARIOS {
        for kind in KINDS {
            let name = format!("faults::{}::{}{reason}", scenario.name, kind.0.replace(' ', "_"));
            let run = move || every_fault(stand_in.ok_or("no stand-in")?, scenario, kind).map_err(Failed::from);
            trials.push(Trial::test(name, run).with_ignored_flag(stand_in.is_none()));
        }
    }
    let run = move || whole_processes(stand_in.ok_or("no stand-in")?).map_err(Failed::from);
    trials.push(Trial::test(format!("faults::whole_processes{reason}"), run).with_ignored_flag(stand_in.is_none()));
    trials
}
