//! Code that all cases share: comparison of an engine with the reference, and its samples, taps and boundaries.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stencil_mex::cpu::Cpu;
use stencil_mex::cuda::Cuda;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::program::Gait;
use stencil_mex::stencil::{
    Boundary, CoefficientSource, Compute, Convolution, Derivative, Ends as BothEnds, Error, Filter, Lines, Number,
    Reference, Sides, Source, Stencil, Taps, Target,
};

use crate::common::ends::{self, AnyEngine, Ends, Stage};
use crate::common::{StandIn, selection};

/// The value of an output's elements before an engine fills it: an element with this value was not written.
pub const POISON: f64 = -1.25e-300;

/// Success, or a description of the difference.
pub type Outcome = Result<(), String>;

/// A name, and a check of any engine.
pub type Case = (&'static str, fn(&AnyEngine) -> Outcome);

/// Device memory for one tile: every array goes in as many pieces as possible.
pub const ONE_TILE: usize = 1;

pub fn open_cuda() -> Result<Cuda, String> {
    Cuda::open(None).map_err(|error| error.to_string())
}

/// Has `work` done by an engine whose several steps go by this walk, if it has walks.
pub fn walking<R>(engine: &AnyEngine, walk: Gait, work: impl FnOnce(&AnyEngine) -> R) -> Result<R, String> {
    Ok(if engine.name() == "cuda" { work(&open_cuda()?.with_walk(walk)) } else { work(engine) })
}

/// Runs `run` on the engine, between these ends, and returns the results. `blank` fills the output beforehand.
pub fn results<T: Number>(
    engine: &AnyEngine,
    ends: Ends,
    input: &[T],
    blank: T,
    watch: &Watch,
    run: impl Fn(&AnyEngine, Source<T>, Target<T>, &Watch) -> Result<(), Error>,
) -> Result<Vec<T>, String> {
    let mut stage = Stage::new(engine, ends, input, blank).map_err(|error| format!("its arrays: {error}"))?;
    let (from, to) = stage.ends();
    run(engine, from, to, watch).map_err(|error| error.to_string())?;
    stage.results(engine)
}

/// Above this number of updates a kernel is compared with the CPU engine: the plain reference is slow. Smaller cases
/// compare the CPU engine with the reference.
const MANY_UPDATES: usize = 100_000;

/// Returns the results of the plain reference, or of the CPU engine if `engine` is CUDA and does many updates.
pub fn right<T: Number>(
    engine: &AnyEngine,
    input: &[T],
    updates: usize,
    run: impl Fn(&AnyEngine, Source<T>, Target<T>, &Watch) -> Result<(), Error>,
) -> Result<Vec<T>, String> {
    let cpu = Cpu::new();
    let other: &AnyEngine = if engine.name() == "cuda" && updates > MANY_UPDATES { &cpu } else { &Reference };
    let mut output = vec![T::default(); input.len()];
    run(other, Source::Host(input), Target::Host(&mut output), &Watch::new())
        .map_err(|error| format!("what is right: {error}"))?;
    Ok(output)
}

/// Runs `run`, of this number of sweeps, on the engine and on the reference, and compares every bit and the counts; if
/// the check is [selected](selection) by these features.
fn check_operation<T: Number>(
    what: &str,
    features: &[&dyn std::fmt::Debug],
    engine: &AnyEngine,
    input: &[T],
    sweeps: usize,
    run: impl Fn(&AnyEngine, Source<T>, Target<T>, &Watch) -> Result<(), Error>,
) -> Outcome {
    // The first feature is the kernel: the only one that counts where a check takes the stand-in a second.
    let is_dear = is_slow(engine) && input.len() * sweeps > MANY_UPDATES;
    if !selection::takes(what, if is_dear { &features[..1] } else { features }) {
        return Ok(());
    }
    let expected = right(engine, input, input.len() * sweeps, &run)?;
    for ends in ends_of_check(engine, input.len() * sweeps.max(1)) {
        let watch = Watch::new();
        let output = results(engine, ends, input, T::from_f64(POISON), &watch, &run)
            .map_err(|error| format!("{what}, {ends}: {error}"))?;
        if watch.done() != (input.len() * sweeps) as u64 {
            let (done, count) = (watch.done(), input.len());
            return Err(format!("{what}, {ends}: {done} updates were counted, not {count} times {sweeps}"));
        }
        if let Some(i) = output.iter().zip(&expected).position(|(&got, &want)| !got.same(want)) {
            return Err(format!("{what}, {ends}: element {i} is {:e}, not {:e}", output[i], expected[i]));
        }
    }
    Ok(())
}

/// True if the engine's kernels run on the stand-in for the driver, whose threads take turns: cases of many updates are
/// smaller there.
pub fn is_slow(engine: &AnyEngine) -> bool {
    engine.name() == "cuda" && StandIn::find().is_some()
}

/// Ends between which a check of this number of updates is done.
pub fn ends_of_check(engine: &AnyEngine, updates: usize) -> Vec<Ends> {
    ends::of_check(is_slow(engine) || updates > 20_000)
}

pub fn stencil(lines: Lines, taps: &[f64]) -> Result<Stencil, String> {
    Ok(Stencil::new(lines, Taps::new(taps).ok_or("no odd number of taps")?))
}

pub fn filter<T: Number>(entries: Vec<T>, size: [usize; 3]) -> Result<Filter<T>, String> {
    Filter::new(entries, size).map_err(|error| error.to_string())
}

pub fn check(engine: &AnyEngine, input: &[f64], lines: Lines, taps: &[f64]) -> Outcome {
    check_sweeps(engine, input, lines, taps, Boundary::default(), 1)
}

pub fn check_sweeps(
    engine: &AnyEngine,
    input: &[f64],
    lines: Lines,
    taps: &[f64],
    boundary: impl Into<BothEnds<f64>>,
    sweeps: usize,
) -> Outcome {
    let boundary = boundary.into();
    let stencil = stencil(lines, taps)?.with_boundary(boundary).with_sweeps(sweeps);
    let what = format!("{lines:?}, {} taps, {boundary:?}, {sweeps} sweeps", taps.len());
    let (kernel, size) = (kernel_of_lines(lines, sweeps), size_of_module(engine, taps.len()));
    let seen = (boundary, seen_by(lines.extents(), [1, taps.len(), 1], sweeps));
    let features: [&dyn std::fmt::Debug; 4] = [&kernel, &size, &seen, &sweeps];
    check_operation(&what, &features, engine, input, sweeps, |engine, from, to, watch| {
        engine.stencil(&stencil, from, to, watch)
    })
}

/// Sweeps along lines in single, in which they are those of a convolution.
pub fn check_sweeps_in_single(
    engine: &AnyEngine,
    input: &[f64],
    lines: Lines,
    taps: &[f64],
    boundary: impl Into<BothEnds<f64>>,
    sweeps: usize,
) -> Outcome {
    let boundary = boundary.into();
    let convolution = Convolution::new(lines.extents(), filter(singles(taps), [1, taps.len(), 1])?);
    let sides = single([BothEnds::default(), boundary, BothEnds::default()]);
    let convolution = convolution.with_boundary(sides).with_sweeps(sweeps);
    let what = format!("{lines:?}, {} taps in single, {boundary:?}, {sweeps} sweeps", taps.len());
    let kernel = (kernel_of_lines(lines, sweeps), "in single");
    let seen = (boundary, seen_by(lines.extents(), [1, taps.len(), 1], sweeps), "in single");
    let features: [&dyn std::fmt::Debug; 3] = [&kernel, &seen, &(sweeps, "in single")];
    check_operation(&what, &features, engine, &singles(input), sweeps, |engine, from, to, watch| {
        engine.convolution(&convolution, from, to, watch)
    })
}

/// Criteria of the choice of a kernel: several sweeps, lines across rows, the magnitude of their length.
fn kernel_of_lines(lines: Lines, sweeps: usize) -> (bool, bool, u32) {
    (sweeps > 1, lines.inner() > 1, magnitude(lines.length()))
}

/// Features of a boundary: an array with one element along a dimension, with fewer than the filter's radius, fewer than four
/// times that, or more; `None` without a radius; and several sweeps.
fn seen_by(size: [usize; 3], of_filter: [usize; 3], sweeps: usize) -> (Option<u8>, bool) {
    let along = size.iter().zip(of_filter).filter(|(_, width)| *width > 1);
    let shortest = along.map(|(&extent, width)| match extent {
        ..=1 => 0,
        _ if extent < width / 2 => 1,
        _ if extent < 2 * width => 2,
        _ => 3,
    });
    (shortest.min(), sweeps > 1)
}

/// A count's order of magnitude: checks of nothing, and of a few elements, stand for no others.
fn magnitude(count: usize) -> u32 {
    count.checked_ilog2().map_or(0, |log| 1 + log / 3)
}

/// Order of magnitude of an array's size.
pub fn magnitude_of(size: &[usize]) -> u32 {
    magnitude(size.iter().product())
}

/// A size as a feature: the stand-in sees some of each order of magnitude.
pub fn size_of_check(engine: &AnyEngine, size: [usize; 3]) -> [usize; 3] {
    if is_slow(engine) { size.map(|extent| magnitude(extent) as usize) } else { size }
}

/// Criteria of the choice of a kernel for a filter: over lines, square or oblong images or volumes, of even or odd
/// extents, of few entries or many. The modules of one kernel differ in [sizes](size_of_module).
pub fn kernel_of_filter([rows, columns, pages]: [usize; 3]) -> impl std::fmt::Debug {
    ([rows, columns, pages].map(|extent| (extent > 1, extent > 21, extent % 2)), rows.cmp(&columns))
}

/// The size that a kernel is compiled for, which is no feature on the stand-in: its modules there are the same code
/// with other constants, and compiling one takes as long as many checks.
pub fn size_of_module<S>(engine: &AnyEngine, size: S) -> Option<S> {
    (!is_slow(engine)).then_some(size)
}

pub fn check_derivative<T: Number>(
    engine: &AnyEngine,
    input: &[T],
    lines: Lines,
    spacing: f64,
    boundary: impl Into<BothEnds<T>>,
) -> Outcome {
    let boundary = boundary.into();
    for source in [CoefficientSource::Constant, CoefficientSource::ReadOnly] {
        let derivative = Derivative::new(lines, spacing, source).with_boundary(boundary);
        let what = format!("derivative, {lines:?}, {source:?}, {boundary:?}, {} bytes", size_of::<T>());
        let kernel = (source, size_of::<T>(), kernel_of_lines(lines, 1));
        let features: [&dyn std::fmt::Debug; 2] = [&kernel, &(boundary, size_of::<T>())];
        check_operation(&what, &features, engine, input, 1, |engine, from, to, watch| {
            engine.derivative(&derivative, from, to, watch)
        })?;
    }
    Ok(())
}

/// A derivative in both classes.
pub fn check_derivatives(
    engine: &AnyEngine,
    input: &[f64],
    lines: Lines,
    boundary: impl Into<BothEnds<f64>>,
) -> Outcome {
    let boundary = boundary.into();
    check_derivative(engine, input, lines, 0.1, boundary)?;
    check_derivative(engine, &singles(input), lines, 0.1, single([boundary; 3])[0])
}

pub fn check_convolution<T: Number>(engine: &AnyEngine, convolution: &Convolution<T>, input: &[T]) -> Outcome {
    let (size, filter, boundary, sweeps) =
        (convolution.size(), convolution.filter().size(), convolution.boundary(), convolution.sweeps());
    let what = format!("convolution {size:?} by {filter:?}, {} bytes, {boundary:?}, {sweeps} sweeps", size_of::<T>());
    let kernel = (kernel_of_filter(filter), size_of::<T>(), sweeps > 1, magnitude_of(&size));
    let seen = (boundary, seen_by(size, filter, sweeps));
    let features: [&dyn std::fmt::Debug; 4] = [&kernel, &size_of_module(engine, filter), &seen, &sweeps];
    check_operation(&what, &features, engine, input, sweeps, |engine, from, to, watch| {
        engine.convolution(convolution, from, to, watch)
    })
}

/// One image or volume in both classes.
pub fn check_image(engine: &AnyEngine, size: [usize; 3], filter: [usize; 3], seed: u64) -> Outcome {
    check_image_sweeps(engine, size, filter, seed, Boundary::default(), 1)
}

pub fn check_image_sweeps(
    engine: &AnyEngine,
    size: [usize; 3],
    filter_size: [usize; 3],
    seed: u64,
    boundary: impl Into<Sides<f64>>,
    sweeps: usize,
) -> Outcome {
    let boundary = boundary.into();
    let input = samples(size.iter().product(), seed);
    let mut entries = samples(filter_size.iter().product(), seed + 1);
    if sweeps > 1 {
        entries = tame(entries.len(), seed + 1);
    }
    let in_single = Convolution::new(size, filter(singles(&entries), filter_size)?);
    let in_double = Convolution::new(size, filter(entries, filter_size)?);
    check_convolution(engine, &in_double.with_boundary(boundary).with_sweeps(sweeps), &input)?;
    check_convolution(engine, &in_single.with_boundary(single(boundary)).with_sweeps(sweeps), &singles(&input))
}

/// A case of many sweeps: whether in double, the number of a boundary in [`KINDS`], the filter's size, that of an
/// array, and sweeps.
pub type ManySweeps = (bool, usize, [usize; 3], [usize; 3], usize);

/// Many sweeps with awkward samples. Each case launches a kernel of a module whose name begins with `module`. On the
/// stand-in, whose checks are slow, the cases are `of_stand_in`.
pub fn check_many(cuda: &Cuda, module: &str, of_stand_in: &[ManySweeps], of_many: &[ManySweeps]) -> Outcome {
    let cases = if StandIn::find().is_some() { of_stand_in } else { of_many };
    let step = if looks_for_faults() { 5 } else { 1 };
    for (number, case) in cases.iter().enumerate().step_by(step) {
        let &(in_double, boundary, by, size, _) = case;
        let features: [&dyn std::fmt::Debug; 3] =
            [&in_double, &kernel_of_filter(by), &size_of_module(cuda, (in_double, by))];
        if !selection::takes(&format!("{case:?}"), &features) {
            continue;
        }
        let (input, entries) = awkward(by, size, number);
        let launched = kernels_of(|| check_many_sweeps(cuda, case, KINDS[boundary], &input, entries))?;
        if launched.is_some_and(|kernels| !kernels.iter().any(|kernel| kernel.starts_with(module))) {
            return Err(format!("{case:?} went to other kernels"));
        }
    }
    Ok(())
}

/// A case of many sweeps in its class, with these ghost values, samples and filter's entries.
pub fn check_many_sweeps(
    cuda: &Cuda,
    &(in_double, _, by, size, sweeps): &ManySweeps,
    sides: impl Into<Sides<f64>>,
    input: &[f64],
    entries: Vec<f64>,
) -> Outcome {
    let sides = sides.into();
    if in_double {
        let what = Convolution::new(size, filter(entries, by)?).with_boundary(sides).with_sweeps(sweeps);
        check_convolution(cuda, &what, input)
    } else {
        let what = Convolution::new(size, filter(singles(&entries), by)?).with_boundary(single(sides));
        check_convolution(cuda, &what.with_sweeps(sweeps), &singles(input))
    }
}

/// Sweeps over an array with awkward samples here and there, which spread or fade away, in both classes.
pub fn check_awkward(
    cuda: &Cuda,
    size_of_filter: [usize; 3],
    size: [usize; 3],
    boundary: impl Into<Sides<f64>>,
    sweeps: usize,
    number: usize,
) -> Outcome {
    let boundary = boundary.into();
    let (input, entries) = awkward(size_of_filter, size, number);
    for in_double in [true, false] {
        let case = (in_double, 0, size_of_filter, size, sweeps);
        check_many_sweeps(cuda, &case, boundary, &input, entries.clone())?;
    }
    Ok(())
}

/// An array with awkward samples here and there, which spread or fade away in sweeps, and the entries of a filter.
pub fn awkward(size_of_filter: [usize; 3], size: [usize; 3], number: usize) -> (Vec<f64>, Vec<f64>) {
    let elements: usize = size.iter().product();
    let mut input = ordinary(elements, number as u64);
    let awkward = [f64::NAN, 5e-324, f64::INFINITY, -0.0, f64::MAX, f64::NEG_INFINITY, 1e-310];
    for (n, at) in (number % 50..elements).step_by(1 + elements / 5).enumerate() {
        input[at] = awkward[(n + number) % awkward.len()];
    }
    (input, tame(size_of_filter.iter().product(), number as u64 + 1))
}

/// The modules and kernels that `work` launches, in turn; `None` without the stand-in.
pub fn kernels_of(work: impl FnOnce() -> Outcome) -> Result<Option<Vec<String>>, String> {
    let stand_in = StandIn::find();
    stand_in.inspect(StandIn::reset);
    selection::forced(work)?;
    let kernels =
        |it: StandIn| (0..it.calls()).map(|number| it.kernel(number)).filter(|name| !name.is_empty()).collect();
    Ok(stand_in.map(kernels))
}

/// True for a build of the stand-in that looks for faults, which is slow.
pub fn looks_for_faults() -> bool {
    std::env::var("STAND_IN_KIND").is_ok_and(|kind| kind != "plain")
}

/// Draws this number of cases and shrinks the first that fails.
pub fn run_properties<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value) -> Outcome) -> Outcome {
    let cases = selection::of_cases(cases);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    // The ends are drawn, too: a case that shrinks keeps them.
    let run = |(turn, value)| {
        ends::take_turn(turn);
        selection::forced(|| test(value)).map_err(TestCaseError::fail)
    };
    runner.run(&(0..ends::ALL.len(), strategy), run).map_err(|error| error.to_string())
}

/// Numbers of every kind, the same each time for a seed: mostly of ordinary size, with the awkward ones between.
pub fn samples(count: usize, seed: u64) -> Vec<f64> {
    const AWKWARD: [f64; 12] = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        -f64::MIN_POSITIVE / 4.0,
        5e-324,
        f64::MAX,
        f64::MIN,
        1.0 + f64::EPSILON,
        1e-160,
    ];
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        // Xorshift: good enough to leave no two neighbours alike.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count)
        .map(|_| match next() {
            bits if bits % 97 == 0 => AWKWARD[(bits / 97) as usize % AWKWARD.len()],
            bits => (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0,
        })
        .collect()
}

/// Samples of ordinary size: NaN and infinity would soon be everywhere in repeated sweeps, and then show nothing.
pub fn ordinary(count: usize, seed: u64) -> Vec<f64> {
    samples(count, seed).into_iter().map(|x| if x.abs() < 2.0 { x } else { 0.25 }).collect()
}

/// Taps of different sizes and signs whose absolute values add up to 1, so that sweeps neither explode nor fade to
/// results that all engines share.
pub fn tame(count: usize, seed: u64) -> Vec<f64> {
    let taps: Vec<f64> = ordinary(count, seed).into_iter().map(|tap| tap + 0.01).collect();
    let sum: f64 = taps.iter().map(|tap| tap.abs()).sum();
    taps.into_iter().map(|tap| tap / sum).collect()
}

/// The boundaries of an array in single, from those in double.
pub fn single(sides: impl Into<Sides<f64>>) -> Sides<f32> {
    sides.into().map(|value| value as f32)
}

/// Samples in single, from those in double.
pub fn singles(samples: &[f64]) -> Vec<f32> {
    samples.iter().map(|&sample| sample as f32).collect()
}

/// Every kind of boundary, with the constants that are awkward.
pub const BOUNDARIES: [Boundary<f64>; 9] = {
    let [zero, replicate, symmetric, mirror, circular] = Boundary::all_kinds(0.0);
    let [negative, number, infinite, nan] = [-0.0, 2.5, f64::INFINITY, f64::NAN];
    [
        zero,
        Boundary::Constant(negative),
        Boundary::Constant(number),
        Boundary::Constant(infinite),
        Boundary::Constant(nan),
        replicate,
        symmetric,
        mirror,
        circular,
    ]
};

/// One boundary of each kind but the mirror, such that every sample outside shows.
pub const KINDS: [Boundary<f64>; 4] =
    [Boundary::Constant(2.5), Boundary::Replicate, Boundary::Symmetric, Boundary::Circular];

/// Two distinct ghost values.
pub const ONE: Boundary<f64> = Boundary::Constant(2.5);
pub const TWO: Boundary<f64> = Boundary::Constant(-1.25);

/// Boundaries of a dimension's ends, chosen so that every ghost value matters: each boundary that can be paired is at
/// either end at least once.
const PAIRS: [[Boundary<f64>; 2]; 10] = [
    [Boundary::Mirror, Boundary::Mirror],
    [ONE, TWO],
    [Boundary::Mirror, ONE],
    [ONE, Boundary::Mirror],
    [Boundary::Replicate, TWO],
    [TWO, Boundary::Symmetric],
    [Boundary::Symmetric, Boundary::Mirror],
    [Boundary::Mirror, Boundary::Replicate],
    [Boundary::Symmetric, Boundary::Replicate],
    [Boundary::Constant(f64::NAN), Boundary::Constant(-0.0)],
];

/// All [`PAIRS`] as the ends of a dimension.
pub fn pairs() -> Vec<BothEnds<f64>> {
    PAIRS.iter().map(|&[low, high]| BothEnds::new(low, high).expect("both ends go round, or none")).collect()
}

/// Sides of an array whose dimensions all differ: mirrors, pairs of constants, one periodic.
pub fn sides() -> Vec<Sides<f64>> {
    let pairs = pairs();
    let round: BothEnds<f64> = Boundary::Circular.into();
    vec![
        [pairs[0]; 3].into(),
        [pairs[1]; 3].into(),
        [round, pairs[1], pairs[0]].into(),
        [pairs[2], round, pairs[5]].into(),
        [pairs[4], pairs[3], round].into(),
        [pairs[6], pairs[7], pairs[1]].into(),
        [pairs[3], pairs[8], pairs[2]].into(),
        [round, round, pairs[5]].into(),
        [pairs[9], pairs[0], pairs[6]].into(),
    ]
}

/// Lengths of lines at which an engine begins another tile or changes its ways, and others that are powers of two.
const BORDERS: [usize; 19] =
    [20, 40, 84, 128, 204, 512, 640, 1024, 1152, 1280, 2028, 2048, 4076, 4096, 5664, 5724, 5784, 8192, 32_768];

/// The lengths around all [`BORDERS`] between `least` and `most`, `reach` to either side.
pub fn around_borders(least: usize, most: usize, reach: usize) -> impl Iterator<Item = usize> {
    BORDERS
        .into_iter()
        .filter(move |border| (least..=most).contains(border))
        .flat_map(move |border| border - reach..=border + reach)
}

pub fn odd_counts() -> impl Iterator<Item = usize> {
    (1..=21).step_by(2)
}
