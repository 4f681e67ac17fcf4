//! Sweeps of several filters, of two time levels, with a source; and the states on the way.

use proptest::prelude::*;
use stencil_mex::cuda::Cuda;
use stencil_mex::platform::watch::Watch;
use stencil_mex::scheme::{Addend, Data, Filter, Scheme, TwoLevels};
use stencil_mex::stencil::program::Gait;
use stencil_mex::stencil::{
    Array, Arrays, Boundary, Compute, Convolution, Ends, Error, Lines, Number, Real, Reference, Sides, Source, Stencil,
    Taps, Target,
};

use super::checks::{
    Case, Outcome, POISON, filter, is_slow, open_cuda, ordinary, pairs, run_properties, sides, single, singles, tame,
    walking,
};
use crate::common::ends::{AnyEngine, array_with, contents};
use crate::common::{StandIn, selection};

/// Checks of any engine that has arrays.
pub const TABLE: [Case; 4] = [
    ("schemes_of_stencils", schemes_of_stencils),
    ("schemes_of_two_levels", schemes_of_two_levels),
    ("schemes_of_convolutions", schemes_of_convolutions),
    ("schemes_that_are_stopped", schemes_that_are_stopped),
];

/// A filter of a sweep, as an engine receives it.
#[derive(Debug, Clone)]
enum Step<T> {
    Stencil(Stencil),
    Convolution(Convolution<T>),
}

/// A class of numbers, whose steps an engine can do.
trait Swept: Number {
    fn run(
        step: &Step<Self>,
        engine: &AnyEngine,
        sweeps: usize,
        from: Source<Self>,
        to: Target<Self>,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// A step that an engine may fuse with an older time level.
    fn joint(step: &Step<Self>) -> Option<Box<dyn TwoLevels<Self>>>;
}

impl Swept for f64 {
    fn run(
        step: &Step<f64>,
        engine: &AnyEngine,
        sweeps: usize,
        from: Source<f64>,
        to: Target<f64>,
        watch: &Watch,
    ) -> Result<(), Error> {
        match step {
            Step::Stencil(stencil) => engine.stencil(&stencil.with_sweeps(sweeps), from, to, watch),
            Step::Convolution(what) => engine.convolution(&what.clone().with_sweeps(sweeps), from, to, watch),
        }
    }

    fn joint(step: &Step<f64>) -> Option<Box<dyn TwoLevels<f64>>> {
        match step {
            Step::Stencil(stencil) => Some(Box::new(*stencil)),
            Step::Convolution(_) => None,
        }
    }
}

impl Swept for f32 {
    fn run(
        step: &Step<f32>,
        engine: &AnyEngine,
        sweeps: usize,
        from: Source<f32>,
        to: Target<f32>,
        watch: &Watch,
    ) -> Result<(), Error> {
        match step {
            Step::Stencil(_) => unreachable!("stencils are in double"),
            Step::Convolution(what) => engine.convolution(&what.clone().with_sweeps(sweeps), from, to, watch),
        }
    }

    fn joint(_: &Step<f32>) -> Option<Box<dyn TwoLevels<f32>>> {
        None
    }
}

/// The source, added in every sweep.
#[derive(Debug, Clone)]
enum Added<T> {
    Nothing,
    Number(T),
    Numbers(Vec<T>),
}

/// A scheme with its data.
#[derive(Debug, Clone)]
struct Whole<T> {
    steps: Vec<Step<T>>,
    samples: Vec<T>,
    /// The older level and its weight.
    older: Option<(Vec<T>, T)>,
    added: Added<T>,
    states: usize,
    every: usize,
}

impl<T: Swept> Whole<T> {
    /// The states, one behind the other, and the level before the last, as plainly as it can be said: filter by filter,
    /// sweep by sweep, number by number.
    fn right(&self) -> Result<(Vec<T>, Vec<T>), String> {
        let (mut newest, mut older) = (self.samples.clone(), self.older.as_ref().map(|(older, _)| older.clone()));
        let mut states = Vec::new();
        for _ in 0..self.states {
            for _ in 0..self.every {
                let mut step = newest.clone();
                for filter in &self.steps {
                    let last = step.clone();
                    T::run(filter, &Reference, 1, (&last[..]).into(), (&mut step[..]).into(), &Watch::new())
                        .map_err(|error| error.to_string())?;
                }
                for (i, next) in step.iter_mut().enumerate() {
                    if let (Some(older), Some((_, weight))) = (&older, self.older.as_ref()) {
                        *next = weight.fma(older[i], *next);
                    }
                    match &self.added {
                        Added::Nothing => {}
                        Added::Number(number) => *next = next.plus(*number),
                        Added::Numbers(numbers) => *next = next.plus(numbers[i]),
                    }
                }
                older = older.map(|_| newest);
                newest = step;
            }
            states.extend_from_slice(&newest);
        }
        Ok((states, older.unwrap_or_default()))
    }

    /// Returns the engine's results: from the host's memory to the host's memory, or between its own arrays.
    fn on(&self, engine: &AnyEngine, on_host: bool, watch: &Watch) -> Result<(Vec<T>, Vec<T>), String> {
        let text = |error: Error| error.to_string();
        let filter = |step: &Step<T>| -> Filter<'static, T> {
            let step = step.clone();
            Box::new(move |engine, sweeps, from, to, watch| T::run(&step, engine, sweeps, from, to, watch))
        };
        let scheme = Scheme {
            filters: self.steps.iter().map(filter).collect(),
            joint: match &self.steps[..] {
                [one] => T::joint(one),
                _ => None,
            },
            weight: self.older.as_ref().map(|(_, weight)| *weight),
            states: self.states,
            every: self.every,
        };
        let (len, poison) = (self.samples.len(), T::from_f64(POISON));
        let blank = [self.states * len, if self.older.is_some() { len } else { 0 }];
        let mut results = blank.map(|len| vec![poison; len]);
        let given = |numbers: &[T]| -> Result<Array<T>, String> { array_with(engine, numbers).map_err(text) };
        if on_host {
            let [states, older] = &mut results;
            let source = match &self.added {
                Added::Nothing => None,
                Added::Number(number) => Some(Addend::Scalar(*number)),
                Added::Numbers(numbers) => Some(Addend::Elements(Source::Host(numbers))),
            };
            let data = Data {
                from: Source::Host(&self.samples),
                older: self.older.as_ref().map(|(older, _)| Source::Host(&older[..])),
                weight: None,
                source,
                to: Target::Host(states),
                older_to: self.older.as_ref().map(|_| Target::Host(older)),
            };
            scheme.run(engine, data, watch).map_err(text)?;
        } else {
            let samples = given(&self.samples)?;
            let older = self.older.as_ref().map(|(older, _)| given(older)).transpose()?;
            let numbers = match &self.added {
                Added::Numbers(numbers) => Some(given(numbers)?),
                _ => None,
            };
            let [mut states, mut older_to] = [given(&results[0])?, given(&results[1])?];
            let source = match (&self.added, &numbers) {
                (_, Some(numbers)) => Some(Addend::Elements(Source::Array(numbers))),
                (Added::Number(number), _) => Some(Addend::Scalar(*number)),
                _ => None,
            };
            let data = Data {
                from: Source::Array(&samples),
                older: older.as_ref().map(Source::Array),
                weight: None,
                source,
                to: Target::Array(&mut states),
                older_to: older.as_ref().map(|_| Target::Array(&mut older_to)),
            };
            scheme.run(engine, data, watch).map_err(text)?;
            // The inputs are unchanged.
            for (array, was) in
                [(Some(&samples), Some(&self.samples)), (older.as_ref(), self.older.as_ref().map(|(older, _)| older))]
            {
                if let (Some(array), Some(was)) = (array, was) {
                    let is = contents(engine, array).map_err(text)?;
                    if !is.iter().zip(was).all(|(is, was)| is.same(*was)) {
                        return Err("an input was written to".into());
                    }
                }
            }
            results = [contents(engine, &states).map_err(text)?, contents(engine, &older_to).map_err(text)?];
        }
        let [states, older] = results;
        Ok((states, older))
    }

    /// Compares both, between both pairs of ends.
    fn check(&self, engine: &AnyEngine) -> Outcome {
        let right = self.right()?;
        // Each filter of each sweep counts; with more than filters, each sweep. Copies do not count.
        let adds = self.older.is_some() || !matches!(self.added, Added::Nothing);
        let updates = self.samples.len() * self.states * self.every * if adds { 1 } else { self.steps.len() };
        for on_host in [true, false] {
            let watch = Watch::new();
            let walk = Gait { columns: 3, ..Gait::of(2, 1, 1) };
            let got = match (self.states + usize::from(on_host)) % 3 {
                0 => walking(engine, Gait::NONE, |engine| self.on(engine, on_host, &watch))?,
                1 => walking(engine, walk, |engine| self.on(engine, on_host, &watch))?,
                _ => self.on(engine, on_host, &watch),
            }?;
            if watch.done() != updates as u64 {
                return Err(format!("{} updates were counted, not {updates}: {:?}", watch.done(), self.steps));
            }
            for (what, got, right) in [("state", &got.0, &right.0), ("older level", &got.1, &right.1)] {
                if got.len() != right.len() {
                    return Err(format!("{} numbers of the {what}s, not {}", got.len(), right.len()));
                }
                if let Some(i) = got.iter().zip(right).position(|(got, right)| !got.same(*right)) {
                    let (got, right) = (got[i], right[i]);
                    let place = if on_host { "the host's memory" } else { "its own arrays" };
                    return Err(format!(
                        "element {i} of the {what}s is {got:e}, not {right:e}, in {place}: {:?}, weight {:?}, {} states of \
                         {} sweeps, {} samples",
                        self.steps,
                        self.older.as_ref().map(|(_, weight)| weight),
                        self.states,
                        self.every,
                        self.samples.len()
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The filters' numbers, the older level's weight if there is one, the kind of source, the states and sweeps between
/// them, and a seed.
type Drawn = (Vec<(usize, usize, usize)>, Option<f64>, u8, (usize, usize), u64);

fn drawn() -> impl Strategy<Value = Drawn> {
    let filters = proptest::collection::vec((0..3_usize, 0..4_usize, 0..11_usize), 1..4);
    let weight = prop_oneof![
        2 => Just(None),
        1 => Just(Some(-1.0)),
        2 => (-1.0..1.0_f64).prop_map(Some),
        1 => prop_oneof![Just(Some(0.0)), Just(Some(f64::INFINITY)), Just(Some(f64::NAN)), Just(Some(-0.0))],
    ];
    // Few sweeps, and numbers of sweeps that have kernels.
    let sweeps = (0..4_usize, prop_oneof![3 => 0..5_usize, 1 => 8..20_usize]);
    (filters, weight, 0..4_u8, sweeps, any::<u64>())
}

/// A scheme over `len` samples, as a call does it, with these steps and random choices.
fn whole<T: Swept>(
    steps: Vec<Step<T>>,
    len: usize,
    in_class: impl Fn(Vec<f64>) -> Vec<T>,
    (_, weight, added, (states, every), seed): &Drawn,
) -> Whole<T> {
    let numbers = |more: u64| in_class(ordinary(len, seed.wrapping_add(more) >> 1));
    let added = match added {
        0 | 1 => Added::Nothing,
        2 => Added::Number(T::from_f64(if seed % 3 == 0 { -0.0 } else { 0.375 })),
        _ => Added::Numbers(numbers(7)),
    };
    let older = weight.map(|weight| (numbers(3), T::from_f64(weight)));
    Whole { steps, samples: numbers(1), older, added, states: *states, every: *every }
}

/// Ends of a line, also periodic.
fn ends() -> Vec<Ends<f64>> {
    pairs().into_iter().chain([Boundary::Circular.into()]).collect()
}

/// Lines of every shape, filters along any dimension with ends of their own.
fn schemes_of_stencils(engine: &AnyEngine) -> Outcome {
    let all = ends();
    let shape = prop_oneof![
        3 => (1..12_usize, 1..12_usize, 1..5_usize),
        1 => (1..1500_usize, Just(1_usize), Just(1_usize)),
        1 => (1..40_usize, 1..40_usize, Just(1_usize)),
    ];
    let cases = if is_slow(engine) { 300 } else { 800 };
    run_properties(cases, &(shape, drawn()), |((rows, columns, pages), drawn)| {
        let step = |&(dim, radius, ends): &(usize, usize, usize)| {
            let taps = tame(2 * radius + 1, drawn.4 >> 1);
            let taps = Taps::new(&taps).ok_or("no odd number of taps")?;
            let lines = Lines::along(&[rows, columns, pages], dim);
            Ok(Step::Stencil(Stencil::new(lines, taps).with_boundary(all[ends])))
        };
        let steps = drawn.0.iter().map(step).collect::<Result<Vec<_>, String>>()?;
        whole(steps, rows * columns * pages, |numbers| numbers, &drawn).check(engine)
    })
}

/// One filter and an older level along lines of neighbours: lengths about that of a block, sweeps about those of a
/// launch.
fn schemes_of_two_levels(engine: &AnyEngine) -> Outcome {
    let all = ends();
    let scheme =
        |(length, count): (usize, usize), radius: usize, ends: usize, weight: f64, (states, every), seed: u64| {
            let taps = tame(2 * radius + 1, seed >> 1);
            let taps = Taps::new(&taps).ok_or("no odd number of taps")?;
            let stencil = Stencil::new(Lines::new(length, count), taps).with_boundary(all[ends % all.len()]);
            // Tests this way on each engine that has it.
            let joins = (1..=4).contains(&radius) && length > radius;
            if engine.name().starts_with("cuda") && engine.joins_levels(&stencil) != joins {
                return Err(format!("{count} lines of {length}, radius {radius}: joined is {}", !joins));
            }
            let drawn = (Vec::new(), Some(weight), 0, (states, every), seed);
            whole(vec![Step::Stencil(stencil)], length * count, |numbers| numbers, &drawn).check(engine)
        };
    for ends in 0..all.len() {
        for (number, shape) in [(7, 3), (30, 3), (1500, 2)].into_iter().enumerate() {
            scheme(shape, 1 + (ends + number) % 4, ends, 0.375, (1, 5), 5)?;
        }
    }
    let short = prop_oneof![Just(1_usize), 2..12_usize, 12..300_usize];
    let shapes = prop_oneof![
        3 => (short, 1..40_usize),
        2 => (prop::sample::select(vec![1023, 1024, 1025, 1407, 1408]), 1..4_usize),
        4 => (prop::sample::select(vec![1409, 1410, 2600, 2815, 2816, 2817, 3000, 5375, 5376, 5377]), 1..4_usize),
    ];
    let sweeps = (1..3_usize, prop_oneof![3 => 1..12_usize, 1 => prop::sample::select(vec![43, 45, 128, 130, 177])]);
    let weights = prop_oneof![1 => Just(-1.0), 3 => -1.0..1.0_f64, 1 => Just(f64::NAN), 1 => Just(-0.0)];
    let joins = engine.name().starts_with("cuda");
    let cases = if is_slow(engine) || !joins { 120 } else { 600 };
    let drawn = (shapes, 0..6_usize, 0..100_usize, weights, sweeps, any::<u64>());
    run_properties(cases, &drawn, |(shape, radius, ends, weight, sweeps, seed)| {
        scheme(shape, radius, ends, weight, sweeps, seed)
    })?;
    // The maximal number of blocks of many short lines, and more; then enough for large tiles.
    let shapes = [(20, 9000), (150, 700), (5377, 75), (400_001, 1), (134_000, 3)];
    for (number, shape) in shapes.into_iter().enumerate().filter(|_| joins) {
        for ends in 0..all.len() {
            let radius = 1 + (number + ends) % 4;
            let sweeps = if is_slow(engine) { 2 + ends % 2 } else { 35 };
            if !selection::takes(&format!("{shape:?} {ends}"), &[&shape]) {
                continue;
            }
            scheme(shape, radius, ends, 0.375, (1, sweeps), 5)?;
        }
    }
    Ok(())
}

/// Images and volumes, in both classes.
fn schemes_of_convolutions(engine: &AnyEngine) -> Outcome {
    let all: Vec<Sides<f64>> = sides();
    let shape = prop_oneof![
        2 => (1..20_usize, 1..20_usize, Just(1_usize)),
        1 => (1..9_usize, 1..9_usize, 1..9_usize),
        1 => (30..50_usize, 20..40_usize, Just(1_usize)),
    ];
    let cases = if is_slow(engine) { 200 } else { 500 };
    run_properties(cases, &(shape, drawn()), |((rows, columns, pages), drawn)| {
        let size = [rows, columns, pages];
        let of_filter = |&(kind, radius, _): &(usize, usize, usize)| match (kind, radius) {
            (0, radius) => [2 * radius + 1, 3, 1],
            (1, radius) => [3, 2 * radius + 1, 1],
            (_, radius) => [3, 3, if radius > 1 { 3 } else { 1 }],
        };
        let entries = |size: [usize; 3]| tame(size.iter().product(), drawn.4 >> 1);
        let in_double = drawn.0.iter().map(|step| {
            let size_of_filter = of_filter(step);
            let what = Convolution::new(size, filter(entries(size_of_filter), size_of_filter)?);
            Ok(Step::Convolution(what.with_boundary(all[step.2 % all.len()])))
        });
        let in_double = in_double.collect::<Result<Vec<_>, String>>()?;
        let in_single = drawn.0.iter().map(|step| {
            let size_of_filter = of_filter(step);
            let what = Convolution::new(size, filter(singles(&entries(size_of_filter)), size_of_filter)?);
            Ok(Step::Convolution(what.with_boundary(single(all[step.2 % all.len()]))))
        });
        let in_single = in_single.collect::<Result<Vec<_>, String>>()?;
        let len = rows * columns * pages;
        whole(in_double, len, |numbers| numbers, &drawn).check(engine)?;
        whole(in_single, len, |numbers| singles(&numbers), &drawn).check(engine)
    })
}

/// A run that is stopped returns that error: before it begins, and in the middle.
fn schemes_that_are_stopped(engine: &AnyEngine) -> Outcome {
    let taps = Taps::new(&[0.25, 0.5, 0.25]).ok_or("no odd number of taps")?;
    let stencil = Stencil::new(Lines::new(50, 1), taps);
    let samples = ordinary(50, 1);
    let interrupted = |got: Result<(Vec<f64>, Vec<f64>), String>| match got {
        Err(text) if text.contains("Interrupted") => Ok(()),
        other => Err(format!("not stopped: {:?}", other.map(|_| ()))),
    };
    for (older, added) in [
        (None, Added::Nothing),
        (None, Added::Number(1.0)),
        (Some((samples.clone(), -1.0)), Added::Nothing),
        (Some((samples.clone(), -1.0)), Added::Numbers(samples.clone())),
    ] {
        for count in [1, 2] {
            let steps = vec![Step::Stencil(stencil); count];
            let (older, added) = (older.clone(), added.clone());
            // More than anybody waits for.
            let whole = Whole { steps, samples: samples.clone(), older, added, states: 2, every: 1 << 31 };
            for on_host in [true, false] {
                let watch = Watch::new();
                watch.stop();
                interrupted(whole.on(engine, on_host, &watch))?;
                let watch = Watch::new();
                let got = std::thread::scope(|scope| {
                    scope.spawn(|| {
                        while watch.done() < 1000 && !watch.is_stopped() {
                            std::thread::yield_now();
                        }
                        watch.stop();
                    });
                    let got = whole.on(engine, on_host, &watch);
                    watch.stop();
                    got
                });
                interrupted(got)?;
            }
        }
    }
    Ok(())
}

/// When the device has no room for the arrays of a call, filters go over the host's memory, with the same bits.
pub fn schemes_without_room(_: Cuda) -> Outcome {
    let taps = Taps::new(&tame(5, 3)).ok_or("no odd number of taps")?;
    let (rows, columns) = if StandIn::find().is_some() { (300, 40) } else { (3000, 400) };
    let step = |dim, ends: usize| {
        Step::Stencil(Stencil::new(Lines::along(&[rows, columns], dim), taps).with_boundary(pairs()[ends]))
    };
    let samples = ordinary(rows * columns, 5);
    for (older, added) in [
        (None, Added::Nothing),
        (None, Added::Numbers(samples.clone())),
        (Some((ordinary(rows * columns, 6), -0.5)), Added::Numbers(samples.clone())),
        (Some((ordinary(rows * columns, 6), -0.5)), Added::Nothing),
    ] {
        for steps in [vec![step(0, 1), step(1, 2)], vec![step(0, 1)]] {
            let (older, added) = (older.clone(), added.clone());
            let whole = Whole { steps, samples: samples.clone(), older, added, states: 2, every: 2 };
            let right = whole.right()?;
            for bytes in [1, 8 * rows * columns] {
                let cuda = open_cuda()?.with_device_bytes(bytes);
                if Arrays::<f64>::has_room(&cuda, 3, samples.len()).map_err(|error| error.to_string())? {
                    return Err(format!("there is room in {bytes} bytes"));
                }
                let got = whole.on(&cuda, true, &Watch::new())?;
                let same = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(*b));
                if !same(&got.0, &right.0) || !same(&got.1, &right.1) {
                    return Err(format!("other bits with {bytes} bytes"));
                }
            }
        }
    }
    Ok(())
}
