//! One table of cases and one runner for all engines, each held to the plain reference bit for bit.
//!
//! Samples come from the host's memory and from arrays of the engine's, and results go there: each case meets all four
//! combinations ([`ends`]).
//!
//! An engine joins with a line in [`engines`]. One that this machine cannot run is counted as ignored, with the reason
//! in the test's name.
//!
//! Where the stand-in for the driver (`tests/stand_in/cuda`) is what is found, what CUDA holds is given back after each
//! test: nothing may be alive then, and nothing may have been done that must not be.

#[path = "engines/arithmetic.rs"]
mod arithmetic;
mod common;
#[path = "engines/deep.rs"]
mod deep;
#[path = "engines/scheme.rs"]
mod scheme;
#[path = "engines/sides.rs"]
mod sides;
#[path = "engines/stars.rs"]
mod stars;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::ends::{self, AnyEngine, Ends, Stage, array_with, bits, contents};
use common::{Mode, StandIn, selection};
use cudarc::driver::{CudaContext, result};
use libtest_mimic::{Arguments, Failed, Trial};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stencil_mex::cpu::{Cpu, Level};
use stencil_mex::cuda::{self, Cuda, measure};
use stencil_mex::stencil::{
    Arithmetic, Array, Boundary, CoefficientSource, Compute, Convolution, Derivative, Ends as BothEnds, Engine, Error,
    Filter, Held, Lines, Real, Reference, Sides, Source, Stencil, Taps, Target, Unary,
};
use stencil_mex::watch::Watch;

/// What an output holds before an engine fills it: an element with this value was not written.
const POISON: f64 = -1.25e-300;

type Outcome = Result<(), String>;
/// A name, and what is to hold of any engine.
type Case = (&'static str, fn(&AnyEngine) -> Outcome);
/// A name, and what is to hold of CUDA.
type CudaCase = (&'static str, fn(Cuda) -> Outcome);
/// A name, and what is to hold of CUDA when calls of the driver fail.
type FaultCase = (&'static str, fn(Cuda, StandIn) -> Outcome);
type MakeEngine = fn() -> Result<Box<dyn Engine>, String>;

/// Device memory for one tile at the most: every array goes in as many pieces as it can.
const ONE_TILE: usize = 1;

/// Every engine there is, by name; an error says why this machine cannot run it.
fn engines() -> Vec<(&'static str, MakeEngine)> {
    fn cpu(level: Level) -> Result<Box<dyn Engine>, String> {
        Cpu::with_level(level).map(|cpu| Box::new(cpu) as _).ok_or_else(|| "this processor lacks it".into())
    }
    fn cuda(bytes: Option<usize>) -> Result<Box<dyn Engine>, String> {
        let cuda = open_cuda()?;
        Ok(Box::new(bytes.map_or(cuda, |bytes| cuda.with_device_bytes(bytes))))
    }
    vec![
        ("cpu-avx512", || cpu(Level::Avx512)),
        ("cpu-avx2", || cpu(Level::Avx2)),
        ("cpu-portable", || cpu(Level::Portable)),
        ("cuda", || cuda(None)),
        ("cuda-one-tile", || cuda(Some(ONE_TILE))),
        ("cuda-two-megabytes", || cuda(Some(2_000_000))),
    ]
}

fn open_cuda() -> Result<Cuda, String> {
    Cuda::open(None).map_err(|error| error.to_string())
}

/// Has `run` compute on the engine, between these ends, and gives the results. `blank` is where they go before.
fn results<T: Real>(
    engine: &AnyEngine,
    ends: Ends,
    input: &[T],
    blank: T,
    watch: &Watch,
    run: impl Fn(&AnyEngine, Source<T>, Target<T>, &Watch) -> Result<(), Error>,
) -> Result<Vec<T>, String>
where
    AnyEngine: Compute<T>,
{
    let mut stage = Stage::new(engine, ends, input, blank).map_err(|error| format!("its arrays: {error}"))?;
    let (from, to) = stage.ends();
    run(engine, from, to, watch).map_err(|error| error.to_string())?;
    stage.results(engine)
}

/// More updates than this of a kernel are compared with what the CPU engine gives: the plain reference takes its time.
/// Cases with less to do hold the CPU engine to the reference.
const MANY_UPDATES: usize = 100_000;

/// What the plain reference gives, or the CPU engine where `engine` is CUDA and does many updates.
fn right<T: Real>(
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

/// Has `run`, which does so many sweeps, compute on the engine and on the reference, and compares every bit, and what
/// was counted; if the check is [selected](selection) by these features.
fn check_operation<T: Real>(
    what: &str,
    features: &[&dyn std::fmt::Debug],
    engine: &AnyEngine,
    input: &[T],
    sweeps: usize,
    run: impl Fn(&AnyEngine, Source<T>, Target<T>, &Watch) -> Result<(), Error>,
) -> Outcome
where
    AnyEngine: Compute<T>,
{
    // The first feature is what tells the kernel: the only one that counts where a check takes the stand-in a second.
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

/// Whether the engine's kernels run on the stand-in for the driver, which lets each of their threads take its turn:
/// cases of many updates are smaller there.
fn is_slow(engine: &AnyEngine) -> bool {
    engine.name() == "cuda" && StandIn::find().is_some()
}

/// The ends of a check of so many updates.
fn ends_of_check(engine: &AnyEngine, updates: usize) -> Vec<Ends> {
    ends::of_check(is_slow(engine) || updates > 20_000)
}

fn stencil(lines: Lines, taps: &[f64]) -> Result<Stencil, String> {
    Ok(Stencil::new(lines, Taps::new(taps).map_err(|error| error.to_string())?))
}

fn filter<T: Real>(entries: Vec<T>, size: [usize; 3]) -> Result<Filter<T>, String> {
    Filter::new(entries, size).map_err(|error| error.to_string())
}

fn check(engine: &AnyEngine, input: &[f64], lines: Lines, taps: &[f64]) -> Outcome {
    check_sweeps(engine, input, lines, taps, Boundary::default(), 1)
}

fn check_sweeps(
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
    // The module goes by the taps, and by whether lines are long, whole in a tile, or rows beside each other.
    let module = (taps.len(), sweeps > 1, lines.inner() > 1, lines.length().max(1).ilog2() / 3);
    let features: [&dyn std::fmt::Debug; 3] = [&module, &boundary, &sweeps];
    check_operation(&what, &features, engine, input, sweeps, |engine, from, to, watch| {
        engine.stencil(&stencil, from, to, watch)
    })
}

fn check_derivative<T: Real>(
    engine: &AnyEngine,
    input: &[T],
    lines: Lines,
    spacing: f64,
    boundary: impl Into<BothEnds<T>>,
) -> Outcome
where
    AnyEngine: Compute<T>,
{
    let boundary = boundary.into();
    for source in [CoefficientSource::Constant, CoefficientSource::ReadOnly] {
        let derivative = Derivative::new(lines, spacing, source).with_boundary(boundary);
        let what = format!("derivative, {lines:?}, {source:?}, {boundary:?}, {} bytes", size_of::<T>());
        let features: [&dyn std::fmt::Debug; 2] = [&(source, size_of::<T>()), &(boundary, size_of::<T>())];
        check_operation(&what, &features, engine, input, 1, |engine, from, to, watch| {
            Compute::derivative(engine, &derivative, from, to, watch)
        })?;
    }
    Ok(())
}

/// A derivative in both classes.
fn check_derivatives(engine: &AnyEngine, input: &[f64], lines: Lines, boundary: impl Into<BothEnds<f64>>) -> Outcome {
    let boundary = boundary.into();
    check_derivative(engine, input, lines, 0.1, boundary)?;
    check_derivative(engine, &singles(input), lines, 0.1, single([boundary; 3])[0])
}

fn check_convolution<T: Real>(engine: &AnyEngine, convolution: &Convolution<T>, input: &[T]) -> Outcome
where
    AnyEngine: Compute<T>,
{
    let (size, filter, boundary, sweeps) =
        (convolution.size(), convolution.filter().size(), convolution.boundary(), convolution.sweeps());
    let what = format!("convolution {size:?} by {filter:?}, {} bytes, {boundary:?}, {sweeps} sweeps", size_of::<T>());
    let features: [&dyn std::fmt::Debug; 3] = [&(filter, size_of::<T>(), sweeps > 1), &boundary, &sweeps];
    check_operation(&what, &features, engine, input, sweeps, |engine, from, to, watch| {
        Compute::convolution(engine, convolution, from, to, watch)
    })
}

/// Numbers of every kind, the same each time for a seed: mostly of ordinary size, with the awkward ones between.
fn samples(count: usize, seed: u64) -> Vec<f64> {
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
fn ordinary(count: usize, seed: u64) -> Vec<f64> {
    samples(count, seed).into_iter().map(|x| if x.abs() < 2.0 { x } else { 0.25 }).collect()
}

/// Taps of different sizes and signs whose absolute values add up to 1, so that sweeps neither explode nor fade into
/// what all engines have in common.
fn tame(count: usize, seed: u64) -> Vec<f64> {
    let taps: Vec<f64> = ordinary(count, seed).into_iter().map(|tap| tap + 0.01).collect();
    let sum: f64 = taps.iter().map(|tap| tap.abs()).sum();
    taps.into_iter().map(|tap| tap / sum).collect()
}

/// Every kind of boundary, with the constants that are awkward.
const BOUNDARIES: [Boundary<f64>; 9] = [
    Boundary::Constant(0.0),
    Boundary::Constant(-0.0),
    Boundary::Constant(2.5),
    Boundary::Constant(f64::INFINITY),
    Boundary::Constant(f64::NAN),
    Boundary::Replicate,
    Boundary::Symmetric,
    Boundary::Mirror,
    Boundary::Circular,
];

/// One boundary of each kind, such that every sample outside shows.
const KINDS: [Boundary<f64>; 4] =
    [Boundary::Constant(2.5), Boundary::Replicate, Boundary::Symmetric, Boundary::Circular];

/// Lengths of lines at which an engine begins another tile or changes its ways, and others that are powers of two.
const BORDERS: [usize; 19] =
    [20, 40, 84, 128, 204, 512, 640, 1024, 1152, 1280, 2028, 2048, 4076, 4096, 5664, 5724, 5784, 8192, 32_768];

/// Numbers of taps, and how many sweeps of them an engine does in one pass over a long line at most.
const PASSES: [(usize, usize); 5] = [(3, 102), (3, 204), (5, 102), (21, 10), (21, 20)];

/// The lengths around all [`BORDERS`] between `least` and `most`, `reach` to either side.
fn around_borders(least: usize, most: usize, reach: usize) -> impl Iterator<Item = usize> {
    BORDERS
        .into_iter()
        .filter(move |border| (least..=most).contains(border))
        .flat_map(move |border| border - reach..=border + reach)
}

fn odd_counts() -> impl Iterator<Item = usize> {
    (1..=21).step_by(2)
}

/// One line of every length from 0 to 80, and around each border that an engine has.
fn single_lines(engine: &AnyEngine) -> Outcome {
    let borders = [128, 512, 640, 1280, 4096, 6400, 8192, 32_768, 65_536];
    let lengths = (0..=80).chain(borders.iter().flat_map(|&border| border - 11..=border + 11));
    for length in lengths {
        let input = samples(length, length as u64);
        for count in odd_counts().filter(|&count| length < 5000 || [1, 3, 21].contains(&count)) {
            check(engine, &input, Lines::new(length, usize::from(length > 0)), &samples(count, count as u64 + 99))?;
        }
    }
    Ok(())
}

/// Many lines, shorter and longer than the filter, the vector, the tile.
fn many_lines(engine: &AnyEngine) -> Outcome {
    let shapes = [
        (1, 5000),
        (2, 2000),
        (3, 1000),
        (7, 700),
        (10, 333),
        (20, 100),
        (21, 99),
        (31, 70),
        (39, 60),
        (40, 60),
        (41, 60),
        (42, 60),
        (100, 41),
        (639, 7),
        (640, 7),
        (641, 7),
        (1000, 70),
        (3, 50_000),
        (5000, 30),
    ];
    for (length, count) in shapes {
        let input = samples(length * count, length as u64);
        for taps in odd_counts().filter(|&taps| length * count < 10_000 || [1, 5, 21].contains(&taps)) {
            check(engine, &input, Lines::new(length, count), &samples(taps, taps as u64))?;
        }
    }
    Ok(())
}

/// Arrays large enough for all threads and all lanes.
fn large(engine: &AnyEngine) -> Outcome {
    for (length, count) in [(1_000_003, 1), (3_000_000, 1), (1000, 1700), (17, 60_000)] {
        let input = samples(length * count, 5);
        for taps in [3, 21] {
            check(engine, &input, Lines::new(length, count), &samples(taps, 6))?;
        }
    }
    Ok(())
}

/// The document's example, with the numbers written out.
fn document(engine: &AnyEngine) -> Outcome {
    let ones = stencil(Lines::new(20, 1), &[1.0; 11])?;
    let expected = [6., 7., 8., 9., 10., 11., 11., 11., 11., 11., 11., 11., 11., 11., 11., 10., 9., 8., 7., 6.];
    for ends in ends::ALL {
        let output = results(engine, ends, &[1.0; 20], POISON, &Watch::new(), |engine, from, to, watch| {
            engine.stencil(&ones, from, to, watch)
        })?;
        if output != expected {
            return Err(format!("{ends}: {output:?}"));
        }
    }
    Ok(())
}

/// Taps that are infinite, NaN, or nothing but zeros of either sign.
fn awkward_taps(engine: &AnyEngine) -> Outcome {
    let input = samples(1500, 3);
    for odd in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 0.0, 5e-324, f64::MAX] {
        for count in odd_counts() {
            for at in [0, count / 2, count - 1] {
                let mut taps = vec![-0.0; count];
                taps[at] = odd;
                check(engine, &input, Lines::new(1500, 1), &taps)?;
                check(engine, &input[..1491], Lines::new(7, 213), &taps)?;
            }
        }
    }
    Ok(())
}

/// The same boundaries in single.
fn single(sides: impl Into<Sides<f64>>) -> Sides<f32> {
    let boundary = |boundary| match boundary {
        Boundary::Constant(value) => Boundary::Constant(value as f32),
        Boundary::Replicate => Boundary::Replicate,
        Boundary::Symmetric => Boundary::Symmetric,
        Boundary::Mirror => Boundary::Mirror,
        Boundary::Circular => Boundary::Circular,
    };
    let sides = sides.into();
    [0, 1, 2]
        .map(|d| sides[d].both().map(boundary))
        .map(|[low, high]| BothEnds::new(low, high).expect("as in double"))
        .into()
}

/// The same samples in single.
fn singles(samples: &[f64]) -> Vec<f32> {
    samples.iter().map(|&sample| sample as f32).collect()
}

/// Lines of all sorts, in both classes.
fn derivatives(engine: &AnyEngine) -> Outcome {
    let borders = [640, 1152, 1280, 2304, 4096, 8192, 65_536];
    let single_lines = (0..=60)
        .chain(borders.iter().flat_map(|&border| border - 5..=border + 5))
        .map(|length| (length, usize::from(length > 0)));
    let many =
        [(1, 3000), (3, 1000), (8, 500), (9, 500), (40, 99), (41, 99), (639, 7), (1152, 9), (1000, 300), (700_001, 1)];
    for (length, count) in single_lines.chain(many) {
        let input = samples(length * count, length as u64);
        check_derivatives(engine, &input, Lines::new(length, count), Boundary::default())?;
    }
    let spacings = [1e-300, 1e300, 5e-324];
    spacings.iter().try_for_each(|&spacing| {
        check_derivative(engine, &samples(99, 1), Lines::new(99, 1), spacing, Boundary::default())
    })
}

/// Every size of filter, on images smaller and larger than it and than a tile.
fn filters(engine: &AnyEngine) -> Outcome {
    let sizes = (1..=15).step_by(2);
    let square = sizes.clone().map(|size| [size, size, 1]);
    let oblong = sizes.flat_map(|size| [[1, size, 1], [size, 1, 1], [size, 3, 1], [5, size, 1]]);
    for (n, filter) in square.chain(oblong).enumerate() {
        for [rows, columns] in [[1, 1], [3, 2], [70, 37], [1, 200], [200, 1], [64, 32], [65, 33]] {
            check_image(engine, [rows, columns, 1], filter, n as u64)?;
        }
    }
    Ok(())
}

/// One image or volume in both classes.
fn check_image(engine: &AnyEngine, size: [usize; 3], filter: [usize; 3], seed: u64) -> Outcome {
    check_image_sweeps(engine, size, filter, seed, Boundary::default(), 1)
}

fn check_image_sweeps(
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

/// Images of all shapes, among them such that take several pieces and tasks.
fn images(engine: &AnyEngine) -> Outcome {
    for size in [
        [0, 5, 1],
        [5, 0, 1],
        [511, 30, 1],
        [512, 30, 1],
        [513, 30, 1],
        [1030, 9, 1],
        [2, 5000, 1],
        [5000, 2, 1],
        [400, 700, 1],
    ] {
        for filter in [[3, 3, 1], [5, 5, 1], [15, 15, 1], [1, 7, 1], [11, 3, 1]] {
            check_image(engine, size, filter, 3)?;
        }
    }
    check_image(engine, [700, 900, 1], [5, 5, 1], 4)
}

/// Volumes by filters of one page and of several.
fn volumes(engine: &AnyEngine) -> Outcome {
    let sizes = [[5, 4, 3], [1, 1, 9], [9, 1, 4], [1, 9, 4], [70, 33, 5], [20, 31, 40], [64, 64, 3], [3, 3, 0]];
    let filters = [
        [3, 3, 1],
        [3, 3, 3],
        [5, 5, 3],
        [5, 5, 5],
        [7, 7, 7],
        [1, 1, 7],
        [3, 5, 7],
        [7, 1, 3],
        [15, 15, 1],
        [5, 3, 1],
    ];
    for size in sizes {
        for filter in filters {
            check_image(engine, size, filter, 7)?;
        }
    }
    // An image under a filter of several pages.
    check_image(engine, [40, 30, 1], [3, 3, 3], 8)
}

/// Any image, any filter, any doubles.
fn convolution_properties(engine: &AnyEngine) -> Outcome {
    let size = (0..90_usize, 0..60_usize, 1..4_usize);
    let filter = prop_oneof![(0..8_usize, 0..8_usize, Just(0_usize)), (0..4_usize, 0..4_usize, 0..4_usize)];
    let strategy = (size, filter, any::<u64>());
    run_properties(60, &strategy, |((rows, columns, pages), (r, c, p), seed)| {
        check_image(engine, [rows, columns, pages], [2 * r + 1, 2 * c + 1, 2 * p + 1], seed >> 1)
    })
}

/// Any shape, any taps, any doubles.
fn properties(engine: &AnyEngine) -> Outcome {
    let number = || {
        prop_oneof![
            6 => -1e3..1e3,
            2 => proptest::num::f64::ANY,
            1 => proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO,
            1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(-0.0), Just(f64::NAN)],
        ]
    };
    let shape = prop_oneof![(0..3000_usize, Just(1_usize)), (1..60_usize, 1..60_usize), (600..700_usize, 1..4_usize)];
    let strategy = (shape, 0..=10_usize).prop_flat_map(move |((length, count), radius)| {
        let input = proptest::collection::vec(number(), length * count);
        let taps = proptest::collection::vec(number(), 2 * radius + 1);
        (Just(Lines::new(length, count)), input, taps)
    });
    run_properties(200, &strategy, |(lines, input, taps)| check(engine, &input, lines, &taps))
}

/// Every boundary, number of taps and length of a line, up to lines that have an inside of several vectors; and around
/// the borders of tiles.
fn boundaries(engine: &AnyEngine) -> Outcome {
    for boundary in BOUNDARIES {
        for length in (1..=80).step_by(if matches!(boundary, Boundary::Constant(_)) { 3 } else { 1 }) {
            for count in odd_counts() {
                let several = if length % 4 == 0 { 5 } else { 1 };
                let input = samples(length * several, length as u64);
                check_sweeps(
                    engine,
                    &input,
                    Lines::new(length, several),
                    &samples(count, count as u64 + 7),
                    boundary,
                    1,
                )?;
            }
        }
    }
    for boundary in KINDS {
        for length in around_borders(81, 4500, 2) {
            for count in [1, 3, 11, 21] {
                check_sweeps(engine, &samples(length, 4), Lines::new(length, 1), &samples(count, 5), boundary, 1)?;
            }
        }
        for (length, count) in [(8190, 3), (32_769, 1), (65_537, 1), (41, 700), (700, 41)] {
            check_sweeps(engine, &samples(length * count, 4), Lines::new(length, count), &samples(21, 5), boundary, 1)?;
        }
    }
    Ok(())
}

/// The widths of rows that the dimensions before a later one can make.
const INNER: [usize; 13] = [1, 2, 3, 7, 8, 31, 32, 33, 64, 65, 100, 1000, 1025];

/// Lines along later dimensions: elements that are apart.
fn dimensions(engine: &AnyEngine) -> Outcome {
    for inner in INNER {
        for outer in [1, 3] {
            for length in [1, 2, 3, 9, 10, 11, 20, 21, 22, 30, 31, 41, 64, 150, 530, 700] {
                if inner * length * outer > if is_slow(engine) { 20_000 } else { 70_000 } {
                    continue;
                }
                let input = samples(inner * length * outer, length as u64);
                for (boundary, count) in
                    KINDS.into_iter().zip([21, 3, 5, 11]).chain([(KINDS[0], 1), (KINDS[2], 21), (KINDS[3], 21)])
                {
                    check_sweeps(
                        engine,
                        &input,
                        Lines::strided(inner, length, outer),
                        &samples(count, 8),
                        boundary,
                        1,
                    )?;
                }
                let boundary = KINDS[(length + outer) % 4];
                check_derivatives(engine, &input, Lines::strided(inner, length, outer), boundary)?;
            }
        }
    }
    // Enough for all threads: in rows, in columns, in both.
    for (inner, length, outer) in [(3, 70_000, 1), (1500, 150, 1), (70_000, 3, 1), (40, 40, 130), (1, 300_000, 1)] {
        let input = samples(inner * length * outer, 2);
        for (boundary, count) in KINDS.into_iter().zip([21, 3, 11, 5]) {
            check_sweeps(engine, &input, Lines::strided(inner, length, outer), &samples(count, 8), boundary, 1)?;
        }
    }
    Ok(())
}

/// Derivatives with every boundary, on lines of every length.
fn derivative_boundaries(engine: &AnyEngine) -> Outcome {
    for boundary in BOUNDARIES {
        for length in (1..=30).chain(around_borders(1, 2100, 1)) {
            check_derivatives(engine, &samples(length * 2, length as u64), Lines::new(length, 2), boundary)?;
        }
    }
    Ok(())
}

/// Many sweeps: as many times one, on lines shorter than the stencil, around the borders of tiles, in as many sweeps as
/// a pass takes and around.
fn sweeps(engine: &AnyEngine) -> Outcome {
    let counts = [0, 1, 2, 3, 7, 16, 17, 50, 51, 63, 64, 65, 101, 130];
    for boundary in KINDS {
        for &count in &counts {
            for (length, taps) in
                [(1, 3), (1, 21), (2, 5), (3, 21), (5, 3), (9, 21), (20, 7), (20, 21), (33, 1), (100, 3), (300, 21)]
            {
                let lines = if length % 2 == 0 { Lines::new(length, 3) } else { Lines::strided(3, length, 2) };
                check_sweeps(engine, &ordinary(lines.elements(), 3), lines, &tame(taps, 4), boundary, count)?;
            }
        }
    }
    // Numbers of all kinds, for as long as they last.
    for boundary in BOUNDARIES {
        for count in [2, 3] {
            for (length, taps) in [(7, 21), (40, 3), (1000, 5), (4100, 11)] {
                check_sweeps(engine, &samples(length, 3), Lines::new(length, 1), &samples(taps, 4), boundary, count)?;
            }
        }
    }
    // One tap has no halo at all, and leaves signs of zeros and NaN where they are.
    check_sweeps(engine, &samples(5000, 3), Lines::new(5000, 1), &[-1.0], KINDS[3], 65)?;
    sweeps_in_tiles(engine)
}

/// Arrays large enough for all threads and all lanes: long lines, and many of a middling length.
fn sweeps_at_large(engine: &AnyEngine) -> Outcome {
    for (length, count, taps, sweeps) in
        [(1_200_003, 1, 3, 7), (1_050_000, 1, 21, 2), (1000, 1100, 3, 5), (3199, 330, 21, 2), (4000, 270, 5, 3)]
    {
        let input = ordinary(length * count, 3);
        for boundary in [KINDS[0], KINDS[2], KINDS[3]] {
            check_sweeps(engine, &input, Lines::new(length, count), &tame(taps, 4), boundary, sweeps)?;
        }
    }
    Ok(())
}

/// Lines that take several tiles, each around the borders between them.
fn sweeps_in_tiles(engine: &AnyEngine) -> Outcome {
    for boundary in KINDS {
        for length in around_borders(1000, 6000, 1) {
            for (taps, count) in [(3, 60), (5, 40), (21, 7)] {
                check_sweeps(engine, &ordinary(length, 3), Lines::new(length, 1), &tame(taps, 4), boundary, count)?;
            }
        }
        for (taps, count) in PASSES {
            for count in [count, count + 1, 2 * count + 1] {
                check_sweeps(engine, &ordinary(4300, 3), Lines::new(4300, 1), &tame(taps, 4), boundary, count)?;
            }
        }
        // In blocks of a tile, eleven rounds of twelve sweeps and one of a single sweep, which is another kernel's.
        check_sweeps(engine, &ordinary(4300, 3), Lines::new(4300, 1), &tame(21, 4), boundary, 133)?;
        let many = [
            (1, 33_000, 1, 3, 40),
            (1, 40_000, 1, 21, 13),
            (2, 17_000, 1, 5, 30),
            (3, 12_000, 1, 3, 33),
            (7, 5000, 1, 3, 20),
        ];
        let wide = [
            (64, 2100, 1, 3, 7),
            (33, 2100, 1, 11, 5),
            (1000, 70, 1, 5, 7),
            (130, 300, 2, 21, 4),
            (50_000, 3, 1, 5, 4),
            (31, 33, 31, 3, 9),
        ];
        for (inner, length, outer, taps, count) in many.into_iter().chain(wide) {
            let lines = Lines::strided(inner, length, outer);
            check_sweeps(engine, &ordinary(lines.elements(), 3), lines, &tame(taps, 4), boundary, count)?;
        }
    }
    Ok(())
}

/// Any shape, dimension, boundary, number of sweeps, taps and doubles.
fn sweeps_properties(engine: &AnyEngine) -> Outcome {
    let number = || {
        prop_oneof![
            8 => -1.0..1.0,
            1 => proptest::num::f64::ANY,
            1 => prop_oneof![Just(f64::INFINITY), Just(-0.0), Just(0.0), Just(f64::NAN), Just(5e-324)],
        ]
    };
    let shape = prop_oneof![
        3 => (1..40_usize, 1..40_usize, 1..4_usize),
        1 => (Just(1_usize), 1..5000_usize, 1..3_usize),
        1 => (1..90_usize, 1..120_usize, Just(1_usize)),
    ];
    let boundary =
        prop_oneof![2 => number().prop_map(Boundary::Constant), 1 => proptest::sample::select(KINDS.to_vec())];
    let boundary = prop_oneof![3 => boundary, 1 => proptest::sample::select(vec![Boundary::Replicate, Boundary::Symmetric, Boundary::Mirror])];
    let boundary = (boundary.clone(), boundary).prop_map(|(low, high)| BothEnds::new(low, high).unwrap_or(low.into()));
    let strategy = (shape, boundary, 0..=10_usize, 0..20_usize, any::<bool>()).prop_flat_map(
        move |(shape, boundary, radius, sweeps, tamed)| {
            let (inner, length, outer) = shape;
            let input = proptest::collection::vec(number(), inner * length * outer);
            let taps = proptest::collection::vec(number(), 2 * radius + 1);
            (Just((Lines::strided(inner, length, outer), boundary, sweeps, tamed)), input, taps)
        },
    );
    run_properties(150, &strategy, |((lines, boundary, sweeps, tamed), input, taps)| {
        let taps = if tamed { tame(taps.len(), input.len() as u64) } else { taps };
        check_sweeps(engine, &input, lines, &taps, boundary, sweeps)
    })
}

/// Every boundary on images and volumes, some smaller than the filter, and in several sweeps.
fn convolution_boundaries(engine: &AnyEngine) -> Outcome {
    let images = [[1, 1, 1], [2, 3, 1], [3, 2, 1], [1, 40, 1], [40, 1, 1], [31, 33, 1], [66, 18, 1]];
    let volumes = [[1, 1, 2], [2, 3, 4], [9, 2, 3], [20, 11, 5]];
    for boundary in BOUNDARIES {
        for size in images {
            for filter in [[3, 3, 1], [15, 15, 1], [1, 5, 1], [7, 1, 1], [3, 3, 5]] {
                check_image_sweeps(engine, size, filter, 5, boundary, 1)?;
            }
        }
        for size in volumes {
            for filter in [[3, 3, 1], [3, 3, 3], [7, 7, 7], [1, 1, 5], [5, 1, 3]] {
                check_image_sweeps(engine, size, filter, 6, boundary, 1)?;
            }
        }
    }
    for boundary in KINDS {
        for size in [[511, 5, 1], [513, 4, 1], [1025, 3, 1], [3000, 1, 1], [300, 90, 1], [2, 700, 3]] {
            check_image_sweeps(engine, size, [5, 3, 1], 5, boundary, 1)?;
        }
    }
    Ok(())
}

/// Sweeps of a convolution.
fn convolution_sweeps(engine: &AnyEngine) -> Outcome {
    for boundary in KINDS {
        for count in [0, 2, 3, 8] {
            for (size, filter) in [
                ([1, 1, 1], [3, 3, 1]),
                ([2, 3, 1], [15, 15, 1]),
                ([40, 31, 1], [3, 3, 1]),
                ([600, 9, 1], [5, 5, 1]),
                ([8, 7, 4], [3, 3, 3]),
                ([8, 7, 4], [3, 3, 1]),
                ([4, 3, 2], [7, 7, 7]),
            ] {
                check_image_sweeps(engine, size, filter, 9, boundary, count)?;
            }
        }
    }
    check_image_sweeps(engine, [300, 200, 1], [5, 5, 1], 9, Boundary::Circular, 5)
}

/// Sweeps of a convolution over arrays around the sizes of tiles: of ordinary samples, and with such at their edges as
/// spread or fade away.
fn convolution_tiles(engine: &AnyEngine) -> Outcome {
    let slow = is_slow(engine);
    for boundary in KINDS {
        for (size, filter_size, sweeps) in [
            ([511, 13, 1], [3, 3, 1], 15),
            ([512, 6, 1], [3, 3, 1], 16),
            ([513, 25, 1], [3, 3, 1], 17),
            ([1025, 7, 1], [3, 3, 1], 33),
            ([521, 18, 1], [7, 7, 1], 6),
            ([1030, 14, 1], [5, 5, 1], 4),
            ([20, 70, 3], [3, 3, 1], 9),
            ([33, 40, 9], [3, 3, 3], 7),
            ([14, 13, 11], [5, 5, 5], 3),
        ] {
            let sweeps = if slow { sweeps.min(3) } else { sweeps };
            let elements = size.iter().product::<usize>();
            let entries = tame(filter_size.iter().product(), 11);
            let plain = ordinary(elements, 12);
            let mut spoilt = plain.clone();
            // The last rows of tiles and the first ones of the next, in one column after the other.
            let awkward = [f64::NAN, 5e-324, f64::INFINITY, -0.0, f64::MAX, f64::NEG_INFINITY, 1e-310];
            let rows = [0, 127, 128, 255, 256, 511, 512, 1023, 1024, size[0] - 1];
            for (n, row) in rows.into_iter().filter(|&row| row < size[0]).enumerate() {
                spoilt[row + size[0] * (n % size[1])] = awkward[(n + filter_size[0]) % awkward.len()];
            }
            for input in [plain, spoilt] {
                let in_double = Convolution::new(size, filter(entries.clone(), filter_size)?);
                let in_double = in_double.with_boundary(boundary).with_sweeps(sweeps);
                check_convolution(engine, &in_double, &input)?;
                let in_single = Convolution::new(size, filter(singles(&entries), filter_size)?);
                let in_single = in_single.with_boundary(single(boundary)).with_sweeps(sweeps);
                check_convolution(engine, &in_single, &singles(&input))?;
            }
        }
    }
    Ok(())
}

/// A run whose watch was stopped before it does nothing; one that is stopped from another thread ends soon, and the
/// engine is as good as before.
fn stopped(engine: &AnyEngine) -> Outcome {
    // Far more than any engine does in the time that is given.
    const ENDLESS: usize = 1 << 40;
    // A launch cannot be stopped: over a million points, one would take minutes on the stand-in.
    let side = if is_slow(engine) { 1 << 5 } else { 1 << 10 };
    let input = ordinary(side * side, 1);
    let ways = [Lines::new(side * side, 1), Lines::new(side, side), Lines::strided(side, side, 1), Lines::new(16, 1)];
    for lines in ways {
        let endless = stencil(lines, &tame(21, 2))?.with_sweeps(ENDLESS);
        expect_stops(engine, &input[..lines.elements()], |from, to, watch| engine.stencil(&endless, from, to, watch))?;
    }
    for size in [[side, side, 1], [4, 4, 1]] {
        let endless = Convolution::new(size, filter(tame(225, 2), [15, 15, 1])?).with_sweeps(ENDLESS);
        expect_stops(engine, &input[..endless.elements()], |from, to, watch| {
            Compute::convolution(engine, &endless, from, to, watch)
        })?;
    }
    let derivative = Derivative::new(Lines::new(input.len(), 1), 0.1, CoefficientSource::Constant);
    for ends in ends::ALL {
        let watch = Watch::new();
        watch.stop();
        let mut stage = Stage::new(engine, ends, &input, POISON).map_err(|error| error.to_string())?;
        let (from, to) = stage.ends();
        if Compute::derivative(engine, &derivative, from, to, &watch) != Err(Error::Interrupted) {
            return Err(format!("{ends}: a derivative that was stopped before it began has ended well"));
        }
        stage.results(engine).map_err(|error| format!("a derivative that was stopped, {ends}: {error}"))?;
    }
    check_sweeps(engine, &ordinary(70_000, 1), Lines::new(70_000, 1), &[0.25, 0.5, 0.25], Boundary::Circular, 3)
}

/// Stops such runs, which end at no other time, and looks at what they leave.
fn expect_stops(
    engine: &AnyEngine,
    input: &[f64],
    run: impl Fn(Source<f64>, Target<f64>, &Watch) -> Result<(), Error>,
) -> Outcome {
    for ends in ends_of_check(engine, 0) {
        let mut stage = Stage::new(engine, ends, input, POISON).map_err(|error| error.to_string())?;
        expect_stop(|watch| {
            let (from, to) = stage.ends();
            run(from, to, watch)
        })
        .and_then(|()| stage.results(engine).map(drop))
        .map_err(|error| format!("{ends}: {error}"))?;
    }
    Ok(())
}

/// Stops a run before it begins, and another when it has begun.
fn expect_stop(mut run: impl FnMut(&Watch) -> Result<(), Error>) -> Outcome {
    let watch = Watch::new();
    watch.stop();
    if run(&watch) != Err(Error::Interrupted) || watch.done() > 0 {
        return Err("a run that was stopped before it began has done something".into());
    }
    let watch = Watch::new();
    let stopped_at = std::thread::scope(|scope| {
        let stopper = scope.spawn(|| {
            // Long enough that it is under way: what was done is counted meanwhile.
            let began = Instant::now();
            while watch.done() == 0 && began.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(5));
            }
            watch.stop();
            Instant::now()
        });
        let result = run(&watch);
        let ended = Instant::now();
        (stopper.join(), result, ended)
    });
    let (Ok(stopped), result, ended) = stopped_at else {
        return Err("the thread that stops the run failed".into());
    };
    // A tenth of a second is what a step may take; on a busy machine it takes what others leave.
    let waited = ended.saturating_duration_since(stopped);
    match result {
        _ if watch.done() == 0 => Err("nothing was counted in five seconds".into()),
        Err(Error::Interrupted) if waited < Duration::from_secs(1) => Ok(()),
        Err(Error::Interrupted) => Err(format!("ended {waited:?} after it was stopped")),
        other => Err(format!("{other:?} from a run that was stopped")),
    }
}

/// An output full of NaN, as a host's uninitialised memory may be, leaves no trace: each element is written before it
/// is read, also where sweeps go to and fro between the output and another array.
fn outputs_are_not_read(engine: &AnyEngine) -> Outcome {
    let most_updates = if is_slow(engine) { 2_000_000 } else { 20_000_000 };
    fn compare<T: Real>(
        what: &str,
        engine: &AnyEngine,
        input: &[T],
        sweeps: usize,
        run: impl Fn(&AnyEngine, Source<T>, Target<T>, &Watch) -> Result<(), Error>,
    ) -> Outcome
    where
        AnyEngine: Compute<T>,
    {
        if !selection::takes(what, &[&(what.split(' ').next(), size_of::<T>())]) {
            return Ok(());
        }
        let expected = right(engine, input, input.len() * sweeps, &run)?;
        for ends in ends_of_check(engine, input.len() * sweeps.max(1)) {
            let output = results(engine, ends, input, T::from_f64(f64::NAN), &Watch::new(), &run)
                .map_err(|error| format!("{what}, {ends}: {error}"))?;
            // Bits: to `same`, one NaN is as good as another.
            if let Some(i) = output.iter().zip(&expected).position(|(&got, &want)| bits(got) != bits(want)) {
                return Err(format!("{what}, {ends}: element {i} is {:e}, not {:e}", output[i], expected[i]));
            }
        }
        Ok(())
    }
    for lines in [
        Lines::new(9, 40),
        Lines::new(30_000, 3),
        Lines::strided(70, 300, 2),
        Lines::strided(3, 5, 1000),
        Lines::new(400_000, 1),
    ] {
        let input = ordinary(lines.elements(), 8);
        for boundary in KINDS {
            for (taps, sweeps) in [(3, 0), (1, 1), (21, 1), (3, 2), (3, 3), (5, 50), (3, 301)] {
                if sweeps > 1 && sweeps * lines.elements() > most_updates {
                    continue;
                }
                let what = format!("{lines:?}, {taps} taps, {boundary:?}, {sweeps} sweeps");
                let stencil = stencil(lines, &tame(taps, 9))?.with_boundary(boundary).with_sweeps(sweeps);
                compare(&what, engine, &input, sweeps, |engine, from, to, watch| {
                    engine.stencil(&stencil, from, to, watch)
                })?;
            }
            let what = format!("derivative, {lines:?}, {boundary:?}");
            let derivative = Derivative::new(lines, 0.5, CoefficientSource::Constant).with_boundary(boundary);
            compare(&what, engine, &input, 1, |engine, from, to, watch| {
                Compute::derivative(engine, &derivative, from, to, watch)
            })?;
        }
    }
    for (size, filter_size) in
        [([300, 200, 1], [3, 3, 1]), ([1100, 3, 2], [5, 1, 1]), ([40, 30, 20], [3, 3, 3]), ([7, 5, 3], [7, 7, 7])]
    {
        let input = singles(&ordinary(size.iter().product(), 10));
        let filter = filter(singles(&tame(filter_size.iter().product(), 11)), filter_size)?;
        for boundary in KINDS {
            for sweeps in [0, 1, 2, 3, 8] {
                let what = format!("convolution {size:?} by {filter_size:?}, {boundary:?}, {sweeps} sweeps");
                let convolution = Convolution::new(size, filter.clone());
                let convolution = convolution.with_boundary(single(boundary)).with_sweeps(sweeps);
                compare(&what, engine, &input, sweeps, |engine, from, to, watch| {
                    Compute::convolution(engine, &convolution, from, to, watch)
                })?;
            }
        }
    }
    Ok(())
}

/// Copies between all ends, to the last bit, NaN too.
fn copies(engine: &AnyEngine) -> Outcome {
    fn check_copy<T: Real>(engine: &AnyEngine, input: &[T]) -> Outcome
    where
        AnyEngine: Compute<T>,
    {
        for ends in ends::ALL {
            let what = format!("{} elements of {} bytes, {ends}", input.len(), size_of::<T>());
            let watch = Watch::new();
            let output = results(engine, ends, input, T::from_f64(POISON), &watch, |engine, from, to, watch| {
                Compute::copy(engine, from, to, watch)
            })
            .map_err(|error| format!("{what}: {error}"))?;
            if let Some(i) = output.iter().zip(input).position(|(&got, &want)| bits(got) != bits(want)) {
                return Err(format!("{what}: element {i} is {:e}, not {:e}", output[i], input[i]));
            }
            if watch.done() > 0 {
                return Err(format!("{what}: {} updates were counted where nothing is computed", watch.done()));
            }
        }
        Ok(())
    }
    for count in [0, 1, 2, 1000, 4097, 70_000, 262_144, 262_145, 1_000_003] {
        let mut input = samples(count, 3);
        // NaN that say something, of either sign.
        input.iter_mut().step_by(5).for_each(|x| *x = f64::from_bits(0xFFF8_0000_E000_0000 ^ x.to_bits() >> 63 << 63));
        check_copy(engine, &input)?;
        check_copy(engine, &singles(&input))?;
    }
    Ok(())
}

/// An array that no engine holds.
#[derive(Debug)]
struct Elsewhere;

impl Held for Elsewhere {
    fn place(&self) -> String {
        "the test's hands".into()
    }
}

/// An array of another engine is refused by each operation, at either end, and nothing is changed.
fn foreign_arrays(engine: &AnyEngine) -> Outcome {
    // CUDA's where there is a device; it takes the CPU's.
    let other: Option<Box<dyn Engine>> = match engine.name() {
        "cuda" => Some(Box::new(Cpu::new())),
        _ => open_cuda().ok().map(|cuda| Box::new(cuda) as _),
    };
    // Small, and in several pieces.
    for size in [[20, 15, 1], [400, 300, 1]] {
        let lines =
            [Lines::new(size[0], size[1]), Lines::strided(size[0], size[1], 1), Lines::new(size[0] * size[1], 1)];
        let entries = tame(9, 2);
        let mut in_double = operations(engine, lines[0], size, filter(entries.clone(), [3, 3, 1])?);
        let in_single = operations(engine, lines[0], size, filter(singles(&entries), [3, 3, 1])?);
        for lines in lines {
            for sweeps in [0, 1, 3] {
                let stencil = stencil(lines, &tame(5, 2))?.with_sweeps(sweeps);
                let run =
                    move |from: Source<f64>, to: Target<f64>, watch: &Watch| engine.stencil(&stencil, from, to, watch);
                in_double.push((format!("{lines:?}, {sweeps} sweeps"), Box::new(run)));
            }
        }
        for other in [None, other.as_deref()] {
            let input = ordinary(size.iter().product(), 1);
            check_foreign(engine, other, &input, &in_double)?;
            check_foreign(engine, other, &singles(&input), &in_single)?;
        }
        ends::each(|| check(engine, &samples(lines[0].elements(), 1), lines[0], &[1.0, 2.0, 3.0]))?;
    }
    Ok(())
}

/// An operation of one engine, and what it is.
type Operation<'a, T> = (String, Box<dyn Fn(Source<T>, Target<T>, &Watch) -> Result<(), Error> + 'a>);

/// All operations that there are in both classes.
fn operations<T: Real>(engine: &AnyEngine, lines: Lines, size: [usize; 3], filter: Filter<T>) -> Vec<Operation<'_, T>>
where
    AnyEngine: Compute<T>,
{
    let mut all: Vec<Operation<T>> =
        vec![("copy".into(), Box::new(|from, to, watch| Compute::copy(engine, from, to, watch)))];
    let derivative = Derivative::new(lines, 0.1, CoefficientSource::Constant);
    let run =
        move |from: Source<T>, to: Target<T>, watch: &Watch| Compute::derivative(engine, &derivative, from, to, watch);
    all.push(("derivative".into(), Box::new(run)));
    for sweeps in [0, 1, 3] {
        let convolution = Convolution::new(size, filter.clone()).with_sweeps(sweeps);
        let run = move |from: Source<T>, to: Target<T>, watch: &Watch| {
            Compute::convolution(engine, &convolution, from, to, watch)
        };
        all.push((format!("convolution, {sweeps} sweeps"), Box::new(run)));
    }
    all
}

/// Whose an end of an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Host,
    Own,
    Foreign,
}

/// Has the operations meet arrays of the other engine, or of none.
fn check_foreign<T: Real>(
    engine: &AnyEngine,
    other: Option<&AnyEngine>,
    input: &[T],
    operations: &[Operation<T>],
) -> Outcome
where
    AnyEngine: Compute<T>,
{
    let show = |error: Error| error.to_string();
    let blank = vec![T::from_f64(POISON); input.len()];
    let foreign = |samples: &[T]| match other {
        Some(other) => array_with(other, samples),
        None => Ok(Array::new(Elsewhere, samples.len())),
    };
    let mut host = blank.clone();
    let own_from = array_with(engine, input).map_err(show)?;
    let mut own_to = array_with(engine, &blank).map_err(show)?;
    let foreign_from = foreign(input).map_err(show)?;
    let mut foreign_to = foreign(&blank).map_err(show)?;
    let refused = Err(Error::Foreign(foreign_from.place()));
    let all = [Whose::Host, Whose::Own, Whose::Foreign];
    let pairs: Vec<_> = all.iter().flat_map(|&from| all.map(|to| (from, to))).collect();
    for (what, run) in operations {
        for &(from, to) in pairs.iter().filter(|(from, to)| [*from, *to].contains(&Whose::Foreign)) {
            let what = format!("{what} of {} elements, {from:?} to {to:?}, {}", input.len(), foreign_from.place());
            let source = match from {
                Whose::Host => Source::Host(input),
                Whose::Own => Source::Array(&own_from),
                Whose::Foreign => Source::Array(&foreign_from),
            };
            let target = match to {
                Whose::Host => Target::Host(&mut host),
                Whose::Own => Target::Array(&mut own_to),
                Whose::Foreign => Target::Array(&mut foreign_to),
            };
            let watch = Watch::new();
            let outcome = run(source, target, &watch);
            if outcome != refused || watch.done() > 0 {
                return Err(format!("{what}: {outcome:?}, and {} updates were counted", watch.done()));
            }
        }
        let of_other = |array| other.map(|other| contents(other, array)).transpose();
        let kept = [
            (Some(host.clone()), &blank[..]),
            (Some(contents(engine, &own_from).map_err(show)?), input),
            (Some(contents(engine, &own_to).map_err(show)?), &blank),
            (of_other(&foreign_from).map_err(show)?, input),
            (of_other(&foreign_to).map_err(show)?, &blank),
        ];
        let changed = |(now, before): &(Option<Vec<T>>, &[T])| {
            now.iter().flatten().zip(*before).any(|(&now, &before)| bits(now) != bits(before))
        };
        if let Some(at) = kept.iter().position(changed) {
            let name = ["the host's output", "the input", "the output", "the foreign input", "the foreign output"][at];
            return Err(format!("{what} of {} elements, which was refused, has changed {name}", input.len()));
        }
    }
    Ok(())
}

/// Draws so many cases and shrinks the first that fails.
fn run_properties<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value) -> Outcome) -> Outcome {
    let cases = selection::of_cases(cases);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    // The ends are drawn, too: a case that shrinks keeps them.
    let run = |(turn, value)| {
        ends::take_turn(turn);
        selection::forced(|| test(value)).map_err(TestCaseError::fail)
    };
    runner.run(&(0..ends::ALL.len(), strategy), run).map_err(|error| error.to_string())
}

const TABLE: [Case; 26] = [
    ("document", document),
    ("single_lines", single_lines),
    ("many_lines", many_lines),
    ("large", large),
    ("awkward_taps", awkward_taps),
    ("properties", properties),
    ("derivatives", derivatives),
    ("filters", filters),
    ("images", images),
    ("volumes", volumes),
    ("convolution_properties", convolution_properties),
    ("boundaries", boundaries),
    ("sides_of_lines", sides::sides_of_lines),
    ("sides_of_images", sides::sides_of_images),
    ("dimensions", dimensions),
    ("derivative_boundaries", derivative_boundaries),
    ("sweeps", sweeps),
    ("sweeps_at_large", sweeps_at_large),
    ("sweeps_properties", sweeps_properties),
    ("convolution_boundaries", convolution_boundaries),
    ("convolution_sweeps", convolution_sweeps),
    ("convolution_tiles", convolution_tiles),
    ("outputs_are_not_read", outputs_are_not_read),
    ("copies", copies),
    ("foreign_arrays", foreign_arrays),
    ("stopped", stopped),
];

/// What holds for CUDA alone: its state between calls, and its manners beside others on the same device.
const CUDA_TABLE: [CudaCase; 30] = [
    ("schemes_without_room", scheme::schemes_without_room),
    ("sweeps_of_images", sweeps_of_images),
    ("sweeps_of_images_by_eight_warps", sweeps_of_images_by_eight_warps),
    ("stars_over_images", stars::stars_over_images),
    ("sides_in_sweeps_of_images", sides::sides_in_sweeps_of_images),
    ("sweeps_of_small_images", sweeps_of_small_images),
    ("sides_in_sweeps_of_small_images", sides::sides_in_sweeps_of_small_images),
    ("sweeps_of_volumes", sweeps_of_volumes),
    ("sides_in_sweeps_of_volumes", sides::sides_in_sweeps_of_volumes),
    ("sides_on_tensor_cores", sides::sides_on_tensor_cores),
    ("sweeps_of_lines_in_single", sweeps_of_lines_in_single),
    ("sweeps_of_volumes_by_one_column", sweeps_of_volumes_by_one_column),
    ("sweeps_in_deep_tiles", deep::sweeps_in_deep_tiles),
    ("deep_tiles_are_stopped", deep::deep_tiles_are_stopped),
    ("sweeps_on_tensor_cores", sweeps_on_tensor_cores),
    ("sides_in_sweeps_on_tensor_cores", sides::sides_in_sweeps_on_tensor_cores),
    ("tensor_filters", tensor_filters),
    ("tensor_filters_and_infinities", tensor_filters_and_infinities),
    ("tensor_filters_and_few_infinities", tensor_filters_and_few_infinities),
    ("tensor_filters_and_zeros", tensor_filters_and_zeros),
    ("tensor_filters_in_sweeps", tensor_filters_in_sweeps),
    ("what_is_timed_is_right", what_is_timed_is_right),
    ("taps_change", taps_change),
    ("released_and_used_again", released_and_used_again),
    ("context_of_the_host_stays", context_of_the_host_stays),
    ("memory_of_the_host_stays", memory_of_the_host_stays),
    ("arrays_outlive_a_release", arrays_outlive_a_release),
    ("memory_is_flat", memory_is_flat),
    ("memory_is_short", memory_is_short),
    ("memory_is_short_for_arrays", memory_is_short_for_arrays),
];

/// What holds for CUDA where a call of the driver fails at the worst moment. The stand-in alone fails when it is told
/// to.
const FAULT_TABLE: [FaultCase; 16] = [
    ("progress_counts_once", progress_counts_once),
    ("taps_are_copied_anew_after_a_failure", taps_are_copied_anew_after_a_failure),
    ("a_warm_chain_asks_for_nothing", a_warm_chain_asks_for_nothing),
    ("a_few_sweeps_leave_the_pool_alone", a_few_sweeps_leave_the_pool_alone),
    ("filters_in_turn_are_not_sent_again", filters_in_turn_are_not_sent_again),
    ("tensor_cores_are_used_where_they_are", tensor_cores_are_used_where_they_are),
    ("sweeps_of_images_are_done_at_once", sweeps_of_images_are_done_at_once),
    ("zeros_of_stars_are_left_out", stars::zeros_of_stars_are_left_out),
    ("sweeps_go_to_tensor_cores_where_they_are", sweeps_go_to_tensor_cores_where_they_are),
    ("sweeps_of_small_images_are_few_launches", sweeps_of_small_images_are_few_launches),
    ("deep_tiles_are_few_copies", deep::deep_tiles_are_few_copies),
    ("late_errors_name_the_calls", late_errors_name_the_calls),
    ("a_budget_bounds_the_pool", a_budget_bounds_the_pool),
    ("a_broken_context_is_opened_anew", a_broken_context_is_opened_anew),
    ("a_broken_context_takes_its_arrays_along", a_broken_context_takes_its_arrays_along),
    ("calls_learn_the_pace_from_each_other", calls_learn_the_pace_from_each_other),
];

const OUT_OF_MEMORY: i32 = 2;
const ILLEGAL_ADDRESS: i32 = 700;

/// Work that runs out of memory near its end is done once more, in smaller buffers, and what was counted for the first
/// attempt is taken back.
fn progress_counts_once(cuda: Cuda, stand_in: StandIn) -> Outcome {
    /// Has the last call of `function` fail in what `check` does, which must make as many calls of it once more.
    fn late(stand_in: StandIn, function: &str, check: &dyn Fn() -> Outcome) -> Outcome {
        let calls = || (0..stand_in.calls()).filter(|&number| stand_in.call(number) == function).count();
        let counted = |check: &dyn Fn() -> Outcome| {
            stand_in.reset();
            check().map(|()| calls())
        };
        // The first time, modules are loaded.
        check()?;
        let once = counted(check)?;
        stand_in.fail_in(function, once, OUT_OF_MEMORY, Mode::Once);
        let outcome = counted(check);
        stand_in.heal();
        match outcome? {
            twice if once > 1 && twice == 2 * once => Ok(()),
            calls => {
                Err(format!("{calls} calls of {function}, and {once} without a fault: the work was not done twice"))
            }
        }
    }
    // A piece a launch, each counted when the next is under way.
    let pieces = cuda.with_device_bytes(ONE_TILE);
    let input = samples(40_000, 1);
    late(stand_in, "cuLaunchKernel", &|| check(&pieces, &input, Lines::new(40_000, 1), &[1.0, 2.0, 3.0]))?;
    // All sweeps are counted before the image is fetched from the device, in several pieces.
    let input = ordinary(300_000, 1);
    let image = Convolution::new([1000, 300, 1], filter(tame(9, 2), [3, 3, 1])?);
    let image = image.with_boundary(Boundary::Circular).with_sweeps(3);
    late(stand_in, "cuMemcpyDtoHAsync_v2", &|| check_convolution(&cuda, &image, &input))
}

/// A copy of taps that failed leaves nothing that a later call takes for its own taps: neither those that were to be
/// copied, nor those that were there before.
fn taps_are_copied_anew_after_a_failure(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let (input, lines) = (samples(50, 1), Lines::new(50, 1));
    let (before, failing) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
    let from = ends::array_with(&cuda, &input).map_err(show)?;
    let mut to = Compute::<f64>::array(&cuda, input.len()).map_err(show)?;
    for function in ["cuMemcpyHtoDAsync_v2", "cuStreamSynchronize"] {
        for next in [failing, before] {
            // Arrays on the device need no buffers. While there are none that could be given up, no call is done a
            // second time, and the device is kept.
            cuda::release();
            let run = |taps: &[f64], to: &mut Array<f64>| {
                let what = stencil(lines, taps)?;
                Ok::<_, String>(cuda.stencil(&what, Source::Array(&from), Target::Array(to), &Watch::new()))
            };
            run(&before, &mut to)?.map_err(show)?;
            stand_in.fail_in(function, 1, OUT_OF_MEMORY, Mode::Once);
            // A call on arrays waits for nothing; who reads its results does.
            let outcome = match run(&failing, &mut to)? {
                Ok(()) => ends::contents(&cuda, &to).map(drop),
                error => error,
            };
            match outcome {
                Err(Error::OutOfMemory(text)) if text.contains(function.trim_end_matches("_v2")) => {}
                // Who reads the results has buffers that were given up, and read them once more.
                Ok(()) if function == "cuStreamSynchronize" => {}
                other => return Err(format!("{other:?} where {function} failed")),
            }
            stand_in.reset();
            run(&next, &mut to)?.map_err(show)?;
            let names: Vec<_> = (0..stand_in.calls()).map(|number| stand_in.call(number)).collect();
            let copies = names.iter().filter(|name| *name == "cuMemcpyHtoDAsync_v2").count();
            if copies != 1 || names.iter().any(|name| name == "cuModuleLoadData") {
                return Err(format!("{copies} copies of taps after {function} failed: {names:?}"));
            }
            let mut expected = vec![POISON; input.len()];
            let what = stencil(lines, &next)?;
            Reference.stencil(&what, Source::Host(&input), Target::Host(&mut expected), &Watch::new()).map_err(show)?;
            let got = ends::contents(&cuda, &to).map_err(show)?;
            if !got.iter().zip(&expected).all(|(&got, &want)| got.same(want)) {
                return Err(format!("{got:?} after {function} failed"));
            }
        }
    }
    Ok(())
}

/// Once a chain on arrays has run, the next ones ask the driver for no memory, give none back, and wait for nothing: also
/// with other taps each time.
fn a_warm_chain_asks_for_nothing(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let watch = Watch::new();
    let from = ends::array_with(&cuda, &samples(3000, 1)).map_err(show)?;
    let chain = || {
        let mut last = Compute::<f64>::array(&cuda, 3000).map_err(show)?;
        Compute::copy(&cuda, Source::Array(&from), Target::Array(&mut last), &watch).map_err(show)?;
        for tap in 1..6 {
            let what = stencil(Lines::new(3000, 1), &[1.0, f64::from(tap), 0.5])?;
            let mut next = Compute::<f64>::array(&cuda, 3000).map_err(show)?;
            cuda.stencil(&what, Source::Array(&last), Target::Array(&mut next), &watch).map_err(show)?;
            let mut sum = Compute::<f64>::array(&cuda, 3000).map_err(show)?;
            Arithmetic::unary(&cuda, Unary::Negate, &next, &mut sum, &watch).map_err(show)?;
            last = sum;
        }
        Ok::<_, String>(last)
    };
    let want = ends::contents(&cuda, &chain()?).map_err(show)?;
    stand_in.reset();
    let last = chain()?;
    let names: Vec<_> = (0..stand_in.calls()).map(|number| stand_in.call(number)).collect();
    let asked = |name: &String| {
        ["MemAlloc", "MemFree", "MemHostAlloc", "Synchronize", "ModuleLoad"].iter().any(|word| name.contains(word))
    };
    if let Some(name) = names.iter().find(|name| asked(name)) {
        return Err(format!("{name} in a warm chain: {names:?}"));
    }
    let got = ends::contents(&cuda, &last).map_err(show)?;
    if got.iter().zip(&want).all(|(&a, &b)| a.same(b)) { Ok(()) } else { Err("another result".into()) }
}

/// A few sweeps over an array of the host, which goes through a slot, neither give back what chains on arrays have in the
/// pool nor ask how much memory is free.
fn a_few_sweeps_leave_the_pool_alone(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let what = stencil(Lines::new(3000, 1), &[1.0, 2.0, 0.5])?.with_sweeps(2);
    let (input, mut output) = (samples(3000, 1), vec![0.0; 3000]);
    let mut run = || cuda.stencil(&what, Source::Host(&input), Target::Host(&mut output), &Watch::new()).map_err(show);
    run()?;
    drop(ends::array_with(&cuda, &input).map_err(show)?);
    stand_in.reset();
    run()?;
    let names: Vec<_> = (0..stand_in.calls()).map(|number| stand_in.call(number)).collect();
    let asked = |name: &String| ["MemGetInfo", "MemFree", "MemAlloc"].iter().any(|word| name.contains(word));
    match names.iter().find(|name| asked(name)) {
        Some(name) => Err(format!("{name} in a call of two sweeps: {names:?}")),
        None => Ok(()),
    }
}

/// A script that goes through the same filters again and again has each of them in a module of its own in the end, and
/// one that comes later is computed right, too.
fn filters_in_turn_are_not_sent_again(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let from = ends::array_with(&cuda, &samples(100, 1)).map_err(show)?;
    let call = |tap: i32| {
        let what = stencil(Lines::new(100, 1), &[1.0, f64::from(tap), 0.5])?;
        let mut to = Compute::<f64>::array(&cuda, 100).map_err(show)?;
        cuda.stencil(&what, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
        ends::contents(&cuda, &to).map_err(show)
    };
    let called = |word: &str| (0..stand_in.calls()).filter(|&number| stand_in.call(number).contains(word)).count();
    let want = (0..4).map(call).collect::<Result<Vec<_>, _>>()?;
    let same = |tap: i32| match call(tap)?.iter().zip(&want[tap as usize]).all(|(&a, &b)| a.same(b)) {
        true => Ok(()),
        false => Err(format!("another result of filter {tap}")),
    };
    stand_in.reset();
    for _ in 0..400 {
        (0..3).try_for_each(same)?;
    }
    let loads = called("ModuleLoad");
    if loads != 2 {
        return Err(format!("{loads} modules were loaded for two filters more"));
    }
    for (turn, sent) in [(0..3, 0), (0..4, 1), (0..3, 1)] {
        stand_in.reset();
        turn.clone().try_for_each(same)?;
        let (copies, launches) = (called("MemcpyHtoD"), called("LaunchKernel"));
        if copies < sent || (sent == 0 && copies > 0) || launches != turn.len() {
            return Err(format!("{copies} copies to the device, {launches} launches for the filters {turn:?}"));
        }
    }
    Ok(())
}

/// An array's memory serves the next one, and goes back to the driver where a budget has no room for it.
fn a_budget_bounds_the_pool(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    for (cuda, frees) in [(cuda, 0), (cuda.with_device_bytes(10_000), 1)] {
        let mut array = Compute::<f64>::array(&cuda, 50_000).map_err(show)?;
        Arithmetic::fill(&cuda, 1.0, &mut array, &Watch::new()).map_err(show)?;
        stand_in.reset();
        drop(array);
        let names = (0..stand_in.calls()).map(|number| stand_in.call(number));
        let freed = names.filter(|name| name.starts_with("cuMemFree")).count();
        if freed != frees {
            return Err(format!("{freed} buffers were freed, not {frees}"));
        }
    }
    Ok(())
}

/// What breaks on the device is told by the call that waits, with the names of what was under way; and each array says so.
fn late_errors_name_the_calls(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let watch = Watch::new();
    let array = ends::array_with(&cuda, &samples(100, 1)).map_err(show)?;
    let mut results = Compute::<f64>::array(&cuda, 100).map_err(show)?;
    let what = stencil(Lines::new(100, 1), &[1.0, 2.0, 3.0])?;
    cuda.stencil(&what, Source::Array(&array), Target::Array(&mut results), &watch).map_err(show)?;
    let mut negated = Compute::<f64>::array(&cuda, 100).map_err(show)?;
    Arithmetic::unary(&cuda, Unary::Negate, &results, &mut negated, &watch).map_err(show)?;
    stand_in.fail_in("cuStreamSynchronize", 1, ILLEGAL_ADDRESS, Mode::Sticky);
    let outcome = ends::contents(&cuda, &negated);
    stand_in.heal();
    match outcome {
        Err(Error::Cuda(text)) if text.contains("a stencil, an operation on each element") => {}
        other => return Err(format!("{other:?}")),
    }
    match ends::contents(&cuda, &array) {
        Err(Error::Cuda(text)) if text.contains("ILLEGAL_ADDRESS") => {}
        other => return Err(format!("an array of the broken context: {other:?}")),
    }
    check(&cuda, &samples(100, 1), Lines::new(100, 1), &[1.0, 2.0, 3.0])
}

/// Breaks the primary context, as a kernel of somebody else's in this process would.
/// Filters that go to tensor cores, on chips that have them: sizes that are theirs, and some that are laid into these.
const TENSOR_FILTERS: [[usize; 3]; 14] = [
    [15, 15, 1],
    [15, 13, 1],
    [11, 11, 1],
    [13, 15, 1],
    [15, 11, 1],
    [11, 9, 1],
    [9, 11, 1],
    [9, 7, 1],
    [7, 5, 1],
    [7, 7, 7],
    [7, 5, 7],
    [5, 7, 7],
    [5, 5, 5],
    [5, 3, 5],
];

/// Sizes of images and volumes that are enough for that on the four multiprocessors of the stand-in for the driver:
/// rows around the edges of its strips, columns of an even and of an odd number.
const TENSOR_IMAGES: [[usize; 3]; 4] = [[256, 401, 1], [255, 400, 1], [258, 500, 1], [191, 301, 2]];
const TENSOR_VOLUMES: [[usize; 3]; 4] = [[48, 32, 60], [47, 33, 61], [65, 31, 70], [121, 32, 30]];

/// Checks convolutions with many entries, in double, of arrays on the device: each with its own boundaries and data, and
/// each filter with so many sizes. On a chip, which has more multiprocessors and needs larger arrays, with one: the
/// reference takes its time.
fn check_tensor_filters(
    cuda: &Cuda,
    sizes_of_each: usize,
    boundary: impl Fn(usize) -> Sides<f64>,
    data: impl Fn(usize, u64) -> Vec<f64>,
    entries: impl Fn(usize, u64) -> Vec<f64>,
) -> Outcome {
    let chip = StandIn::find().is_none();
    for (n, size_of_filter) in TENSOR_FILTERS.into_iter().enumerate() {
        let sizes: &[[usize; 3]] = if size_of_filter[2] > 1 { &TENSOR_VOLUMES } else { &TENSOR_IMAGES };
        for m in n..n + if chip { 1 } else { sizes_of_each } {
            let size = match sizes[m % sizes.len()] {
                size if !chip => size,
                [rows, columns, pages] if size_of_filter[2] > 1 => [rows, 5 * columns, 5 * pages],
                [rows, columns, pages] if size_of_filter[0] == size_of_filter[1] => [rows, 33 * columns, pages],
                [rows, columns, pages] => [rows, 17 * columns, pages],
            };
            // What tells the module is the larger side.
            let module = [7, 9, 11, 15].into_iter().find(|&most| size_of_filter[0].max(size_of_filter[1]) <= most);
            if !selection::takes(&format!("{size_of_filter:?} {size:?}"), &[&(module, size_of_filter[2])]) {
                continue;
            }
            let (count, seed) = (size.iter().product(), (10 * n + m) as u64);
            let of_filter = filter(entries(size_of_filter.iter().product(), seed), size_of_filter)?;
            // Each boundary comes to rows of an even and of an odd number.
            let convolution = Convolution::new(size, of_filter).with_boundary(boundary(m + n / 2));
            let check = || check_convolution(cuda, &convolution, &data(count, seed));
            selection::forced(|| ends::between(ends::ARRAY_TO_ARRAY, check))?;
        }
    }
    Ok(())
}

/// The same on all sides.
fn any_kind(number: usize) -> Sides<f64> {
    KINDS[number % KINDS.len()].into()
}

/// Finite samples and entries: nothing is computed twice.
fn tensor_filters(cuda: Cuda) -> Outcome {
    check_tensor_filters(&cuda, 2, any_kind, ordinary, ordinary)
}

/// What a product with a zero around the filter must not spoil: infinities and NaN here and there, so that they come to
/// every place of a tile, and outputs beside them stay finite. No sample is so small that outputs are looked at for it.
fn tensor_filters_and_infinities(cuda: Cuda) -> Outcome {
    let large = |count, seed| ordinary(count, seed).into_iter().map(|x| if x.abs() < 1e-9 { 0.5 } else { x });
    let data = |count, seed: u64| {
        let mut data: Vec<f64> = large(count, seed).collect();
        for (n, at) in (seed as usize..count).step_by(5003).enumerate() {
            data[at] = [f64::INFINITY, f64::NAN, f64::NEG_INFINITY, f64::MAX][n % 4];
        }
        data
    };
    check_tensor_filters(&cuda, 1, any_kind, data, |count, seed| large(count, seed).collect())
}

/// One sample that is not finite in every other piece of columns, low in its strip: what a warp looks at last. Warps take
/// stretches of columns, whose lengths go with the image's: they end with each column of a chunk.
fn tensor_filters_and_few_infinities(cuda: Cuda) -> Outcome {
    const APART: usize = 27;
    let [rows, columns, _] = TENSOR_IMAGES[0];
    let wide = if StandIn::find().is_some() { 1 } else { 33 };
    let of_filter = filter(ordinary(9 * 11, 1), [9, 11, 1])?;
    for n in 0..2 * APART {
        let columns = wide * (columns + 3 * n);
        let convolution = Convolution::new([rows, columns, 1], of_filter.clone()).with_boundary(Boundary::Replicate);
        let mut data = vec![1.0; rows * columns];
        for column in (5 * n % APART..columns).step_by(APART) {
            for row in (54 + n % 10..rows).step_by(64) {
                data[column * rows + row] = f64::NAN;
            }
        }
        ends::between(ends::ARRAY_TO_ARRAY, || check_convolution(&cuda, &convolution, &data))?;
    }
    Ok(())
}

/// Sums that are rounded to -0, for half of the filters: a sample so small that its product with an entry underflows,
/// among zeros whose products with the other entries are -0. A product with a zero around the filter would make it +0.
/// For the others small whole numbers: many sums cancel to +0, which is right as it is.
fn tensor_filters_and_zeros(cuda: Cuda) -> Outcome {
    // The filters' seeds differ by an odd number.
    let underflow = |seed: u64| seed.is_multiple_of(2);
    let data = |count, seed: u64| {
        if !underflow(seed) {
            return ordinary(count, seed).into_iter().map(|x| (3.0 * x).round()).collect();
        }
        let mut data = vec![0.0; count];
        for (n, at) in (seed as usize..count).step_by(1009).enumerate() {
            data[at] = [5e-324, 1e-310, -1e-320, f64::MIN_POSITIVE, 1.0][n % 5];
        }
        data
    };
    let entries = |count, seed| {
        let negative = |x: f64| -0.01 * x.abs() - 1e-9;
        let whole = |x: f64| (3.0 * x).round();
        ordinary(count, seed).into_iter().map(if underflow(seed) { negative } else { whole }).collect()
    };
    check_tensor_filters(&cuda, 1, any_kind, data, entries)
}

/// Sweeps, of which each reads what the one before wrote.
fn tensor_filters_in_sweeps(cuda: Cuda) -> Outcome {
    let wide = if StandIn::find().is_some() { 1 } else { 17 };
    for (size, size_of_filter) in [([255, 200 * wide, 1], [15, 13, 1]), ([48, 33 * wide, 60], [7, 5, 7])] {
        let of_filter = filter(tame(size_of_filter.iter().product(), 3), size_of_filter)?;
        let convolution = Convolution::new(size, of_filter).with_boundary(Boundary::Symmetric).with_sweeps(3);
        let input = ordinary(size.iter().product(), 4);
        ends::between(ends::ARRAY_TO_ARRAY, || check_convolution(&cuda, &convolution, &input))?;
    }
    Ok(())
}

/// Filters that go there: all, or one of every fourth size.
fn some_tensor_filters() -> Vec<[usize; 3]> {
    TENSOR_FILTERS.into_iter().step_by(if selection::is_thorough() { 1 } else { 4 }).collect()
}

/// Which convolutions over an array on the device go to tensor cores: those kernels alone ask for more shared memory
/// than every chip has.
fn on_tensor_cores(cuda: &Cuda, stand_in: StandIn) -> Result<Vec<[usize; 3]>, String> {
    let show = |error: Error| error.to_string();
    let mut found = Vec::new();
    let others = [[3, 3, 1], [3, 3, 3], [5, 5, 1], [7, 7, 1], [15, 1, 1]];
    for size_of_filter in some_tensor_filters().into_iter().chain(others) {
        let size = if size_of_filter[2] > 1 { TENSOR_VOLUMES[0] } else { TENSOR_IMAGES[0] };
        let count = size.iter().product();
        let of_filter = filter(ordinary(size_of_filter.iter().product(), 1), size_of_filter)?;
        let sides = sides::sides()[found.len() % sides::sides().len()];
        let convolution = Convolution::new(size, of_filter).with_boundary(sides);
        let from = array_with(cuda, &ordinary(count, 2)).map_err(show)?;
        let mut to = Compute::<f64>::array(cuda, count).map_err(show)?;
        stand_in.reset();
        cuda.convolution(&convolution, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
        if (0..stand_in.calls()).any(|number| stand_in.call(number).contains("FuncSetAttribute")) {
            found.push(size_of_filter);
        }
    }
    Ok(found)
}

/// Where there are tensor cores for it they are used, for large filters; a chip without them does without.
fn tensor_cores_are_used_where_they_are(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let found = on_tensor_cores(&cuda, stand_in)?;
    if found != some_tensor_filters() {
        return Err(format!("on tensor cores: {found:?}"));
    }
    for capability in ["8.9", "10.0", "12.0"].into_iter().take(if selection::is_thorough() { 3 } else { 1 }) {
        let ended = common::child("tensor cores", &[("CUDA_STAND_IN_CAPABILITY", capability)])?;
        if !ended.status.success() || !ended.output.contains("on tensor cores: []") {
            return Err(format!("{capability}: {:?}: {}", ended.status, ended.output));
        }
    }
    Ok(())
}

/// How many sweeps along lines a launch on tensor cores does, by the number of taps.
const TENSOR_SWEEPS: [(usize, usize); 4] = [(13, 8), (17, 6), (19, 6), (21, 6)];

/// Lines that are long enough for that on the four multiprocessors of the stand-in for the driver: one, of which the
/// last row is full or not; some, that begin at addresses of every kind; one row each.
const TENSOR_LINES: [(usize, usize); 5] = [(850_003, 1), (860_160, 1), (130_001, 7), (26_003, 39), (2003, 512)];

/// What there is among the samples.
#[derive(Debug, Clone, Copy)]
enum Among {
    /// Nothing: no output is computed twice.
    Ordinary,
    /// Infinities and NaN here and there, and at the ends of lines.
    Infinities,
    /// Zeros, and among them samples so small that sums of some sweep are rounded to -0.
    Underflow,
    /// Whole numbers, of which many sums cancel to +0.
    Whole,
}

/// Sweeps along lines, in as many launches on tensor cores as there are, and then some.
fn sweeps_on_tensor_cores(cuda: Cuda) -> Outcome {
    let longer = if StandIn::find().is_some() { 1 } else { 33 };
    let kinds = [Among::Ordinary, Among::Infinities, Among::Underflow, Among::Whole];
    let mut number = 0;
    for (n, (taps, at_once)) in TENSOR_SWEEPS.into_iter().enumerate() {
        for (m, among) in kinds.into_iter().enumerate() {
            let (length, count) = TENSOR_LINES[number % TENSOR_LINES.len()];
            let lines = Lines::new(length * longer, count);
            let sweeps = [at_once, at_once + 1, 2 * at_once, 2 * at_once + 3][(number / 3) % 4];
            let boundary = KINDS[(n + m) % KINDS.len()];
            number += 1;
            if !selection::takes(&format!("{taps} {among:?}"), &[&taps, &(n + m == 3)]) {
                continue;
            }
            let seed = number as u64;
            let large = |x: f64| if x.abs() < 1e-9 { 0.5 } else { x };
            let mut input: Vec<f64> = ordinary(lines.elements(), seed).into_iter().map(large).collect();
            let mut entries = tame(taps, seed + 1);
            match among {
                Among::Ordinary => {}
                Among::Infinities => {
                    // Ends of lines, the first points that are no end, and what falls on each place of a step.
                    let reach = taps / 2 * at_once;
                    let places = [0, length * longer - 1, reach + 3, length * longer - reach - 4];
                    let here_and_there = (number..lines.elements()).step_by(20_011);
                    for (n, at) in places.into_iter().chain(here_and_there).enumerate() {
                        input[at] = [f64::INFINITY, f64::NAN, f64::NEG_INFINITY, f64::MAX][n % 4];
                    }
                }
                Among::Underflow => {
                    const SMALL: [f64; 9] =
                        [1.0, -1e-290, 1e-296, -1e-300, 1e-304, -1e-308, 1e-313, -1e-318, f64::MIN_POSITIVE];
                    input.fill(0.0);
                    for (n, at) in (number..lines.elements()).step_by(509).enumerate() {
                        input[at] = SMALL[n % SMALL.len()];
                    }
                    entries = entries.into_iter().map(|x| -0.02 * x.abs() - 1e-4).collect();
                }
                Among::Whole => {
                    input = input.into_iter().map(|x| (3.0 * x).round()).collect();
                    entries = (0..taps).map(|k| [1.0, -1.0, 0.0][k % 3]).collect();
                }
            }
            let what = |error| format!("{among:?}: {error}");
            let check = || check_sweeps(&cuda, &input, lines, &entries, boundary, sweeps).map_err(what);
            selection::forced(|| ends::between(ends::ARRAY_TO_ARRAY, check))?;
        }
    }
    Ok(())
}

/// All of them, or the least and the most.
fn some_tensor_sweeps() -> Vec<(usize, usize)> {
    TENSOR_SWEEPS.into_iter().step_by(if selection::is_thorough() { 1 } else { 3 }).collect()
}

/// Which numbers of taps have launches on tensor cores of so many sweeps along lines on the device: of the kernels for
/// lines, those alone ask for more shared memory than every chip has.
fn lines_on_tensor_cores(cuda: &Cuda, stand_in: StandIn) -> Result<Vec<usize>, String> {
    let show = |error: Error| error.to_string();
    let mut found = Vec::new();
    let long = Lines::new(TENSOR_LINES[0].0, 1);
    let asked = some_tensor_sweeps().into_iter().map(|(taps, sweeps)| (taps, sweeps, long));
    // Too few sweeps, too few taps, too short a line, lines that are no neighbours.
    let others = [
        (21, 5, long),
        (11, 8, long),
        (21, 6, Lines::new(20_000, 1)),
        (21, 6, Lines::strided(2, TENSOR_LINES[0].0, 1)),
    ];
    for (taps, sweeps, lines) in asked.chain(others) {
        let stencil = stencil(lines, &tame(taps, 1))?.with_sweeps(sweeps);
        let from = array_with(cuda, &ordinary(lines.elements(), 2)).map_err(show)?;
        let mut to = Compute::<f64>::array(cuda, lines.elements()).map_err(show)?;
        stand_in.reset();
        cuda.stencil(&stencil, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
        if (0..stand_in.calls()).any(|number| stand_in.call(number).contains("FuncSetAttribute")) {
            found.push(taps);
        }
    }
    Ok(found)
}

/// Long lines are swept on tensor cores where there are such, for many taps.
fn sweeps_go_to_tensor_cores_where_they_are(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let found = lines_on_tensor_cores(&cuda, stand_in)?;
    if !some_tensor_sweeps().into_iter().map(|(taps, _)| taps).eq(found.iter().copied()) {
        return Err(format!("on tensor cores: {found:?}"));
    }
    let ended = common::child("lines", &[("CUDA_STAND_IN_CAPABILITY", "8.9")])?;
    if !ended.status.success() || !ended.output.contains("on tensor cores: []") {
        return Err(format!("{:?}: {}", ended.status, ended.output));
    }
    Ok(())
}

/// Sweeps over images around the sizes of strips, of a lane's rows and of a warp's, for more sweeps and fewer than a
/// launch does; with samples here and there that spread or fade away.
fn sweeps_of_images(cuda: Cuda) -> Outcome {
    let slow = StandIn::find().is_some();
    let mut number = 0;
    // A filter's size, and the rows that a lane holds in double and in single.
    for (size_of_filter, lanes) in [
        ([3, 3], [19, 24]),
        ([5, 5], [17, 24]),
        ([7, 7], [11, 24]),
        ([3, 5], [17, 24]),
        ([5, 3], [17, 28]),
        ([3, 7], [13, 24]),
        ([7, 3], [17, 28]),
        ([5, 7], [11, 24]),
        ([7, 5], [15, 24]),
    ] {
        for boundary in KINDS {
            for lane in lanes {
                for rows in [lane - 1, lane, 2 * lane + 1, 9 * lane + 4, 32 * lane, 32 * lane + 2, 70 * lane + 3] {
                    for (columns, sweeps) in [(1, 3), (2, 8), (3, 9), (5, 8), (19, 2), (40, 16), (230, 7)] {
                        number += 1;
                        // The reference takes its time, and so does the stand-in for the driver.
                        let (share, most) = if slow { (29, 100_000) } else { (5, 150_000) };
                        if number % share != 0 || rows * columns > most {
                            continue;
                        }
                        check_sweeps_of_images(&cuda, size_of_filter, [rows, columns], boundary, sweeps, number)?;
                    }
                }
            }
        }
    }
    // Images that the kernel for these is chosen for on the stand-in's few multiprocessors, where others are done in
    // tiles.
    for (number, (boundary, size_of_filter, size, sweeps)) in [
        // in double
        (KINDS[0], [3, 3], [1200, 160], 8),
        (KINDS[1], [3, 3], [1201, 161], 8),
        (KINDS[2], [3, 3], [1200, 160], 9),
        (KINDS[3], [3, 3], [1282, 350], 8),
        (KINDS[0], [5, 5], [544, 160], 4),
        (KINDS[1], [5, 5], [737, 230], 4),
        (KINDS[2], [5, 5], [736, 230], 8),
        (KINDS[3], [5, 5], [896, 160], 4),
        (KINDS[0], [7, 7], [352, 500], 4),
        (KINDS[1], [7, 7], [352, 500], 4),
        (KINDS[2], [7, 7], [352, 500], 4),
        (KINDS[3], [7, 7], [640, 350], 4),
        (KINDS[0], [3, 5], [544, 120], 4),
        (KINDS[1], [3, 5], [1057, 80], 9),
        (KINDS[2], [3, 5], [544, 1], 6),
        (KINDS[3], [3, 5], [1193, 40], 8),
        (KINDS[0], [5, 3], [544, 80], 8),
        (KINDS[1], [5, 3], [721, 80], 9),
        (KINDS[2], [5, 3], [545, 120], 8),
        (KINDS[3], [5, 3], [1193, 40], 9),
        (KINDS[0], [3, 7], [416, 160], 4),
        (KINDS[1], [3, 7], [809, 80], 9),
        (KINDS[2], [3, 7], [809, 80], 8),
        (KINDS[3], [3, 7], [913, 80], 4),
        (KINDS[0], [7, 3], [544, 80], 8),
        (KINDS[1], [7, 3], [1057, 40], 9),
        (KINDS[2], [7, 3], [721, 80], 8),
        (KINDS[3], [7, 3], [954, 40], 8),
        (KINDS[0], [5, 7], [352, 351], 4),
        (KINDS[1], [5, 7], [618, 230], 6),
        (KINDS[2], [5, 7], [618, 230], 8),
        (KINDS[3], [5, 7], [618, 230], 9),
        (KINDS[0], [7, 5], [480, 230], 4),
        (KINDS[1], [7, 5], [933, 120], 6),
        (KINDS[2], [7, 5], [842, 160], 8),
        (KINDS[3], [7, 5], [842, 160], 9),
        // in single
        (KINDS[0], [3, 5], [768, 120], 4),
        (KINDS[1], [3, 5], [1057, 120], 9),
        (KINDS[2], [3, 5], [1405, 80], 4),
        (KINDS[3], [3, 5], [1193, 80], 8),
        (KINDS[0], [5, 3], [896, 80], 8),
        (KINDS[1], [5, 3], [1057, 80], 9),
        (KINDS[2], [5, 3], [1193, 80], 8),
        (KINDS[3], [5, 3], [1405, 40], 9),
        (KINDS[0], [3, 7], [768, 160], 4),
        (KINDS[1], [3, 7], [1247, 120], 9),
        (KINDS[2], [3, 7], [1247, 120], 8),
        (KINDS[3], [3, 7], [896, 120], 4),
        (KINDS[0], [7, 3], [896, 80], 8),
        (KINDS[1], [7, 3], [1057, 80], 9),
        (KINDS[2], [7, 3], [896, 80], 8),
        (KINDS[3], [7, 3], [1247, 80], 8),
        (KINDS[0], [5, 7], [768, 120], 4),
        (KINDS[1], [5, 7], [768, 120], 6),
        (KINDS[2], [5, 7], [1247, 80], 8),
        (KINDS[3], [5, 7], [1405, 80], 9),
        (KINDS[0], [7, 5], [768, 120], 4),
        (KINDS[1], [7, 5], [1057, 80], 6),
        (KINDS[2], [7, 5], [1247, 80], 8),
        (KINDS[3], [7, 5], [897, 80], 9),
        (KINDS[0], [3, 3], [768, 230], 8),
        (KINDS[1], [3, 3], [1193, 120], 9),
        (KINDS[2], [3, 3], [1057, 160], 8),
        (KINDS[3], [3, 3], [1247, 120], 8),
        (KINDS[0], [5, 5], [768, 230], 8),
        (KINDS[1], [5, 5], [1193, 120], 9),
        (KINDS[2], [5, 5], [1057, 160], 8),
        (KINDS[3], [5, 5], [1247, 120], 8),
        (KINDS[0], [7, 7], [768, 350], 8),
        (KINDS[1], [7, 7], [1193, 230], 9),
        (KINDS[2], [7, 7], [1193, 230], 8),
        (KINDS[3], [7, 7], [1405, 160], 8),
    ]
    .into_iter()
    .enumerate()
    {
        let check = || check_sweeps_of_images(&cuda, size_of_filter, size, boundary, sweeps, number * 2);
        if selection::takes(&format!("{boundary:?} {size_of_filter:?} {size:?}"), &[&(size_of_filter, number < 36)]) {
            selection::forced(check)?;
        }
    }
    Ok(())
}

/// Whether in double, which boundary, the filter's size, that of an array, and sweeps.
type ManySweeps = (bool, usize, [usize; 3], [usize; 3], usize);

/// Arrays and sweeps for which the stand-in's few multiprocessors have blocks of eight warps, and an H200's.
const BY_EIGHT: [ManySweeps; 24] = include!("engines/images_by_eight.in");
const BY_EIGHT_OF_MANY: [ManySweeps; 6] = [
    (true, 0, [3, 3, 1], [4001, 4003, 1], 41),
    (true, 3, [3, 3, 1], [4100, 4096, 1], 60),
    (true, 2, [3, 5, 1], [3001, 5003, 1], 25),
    (true, 1, [3, 7, 1], [4096, 4001, 1], 17),
    (true, 3, [5, 5, 1], [4096, 4000, 1], 33),
    (true, 2, [5, 7, 1], [4097, 4003, 1], 19),
];

/// Many sweeps by blocks of eight warps, with awkward samples.
fn sweeps_of_images_by_eight_warps(cuda: Cuda) -> Outcome {
    check_many(&cuda, "sweeps_images_eight_", &BY_EIGHT, &BY_EIGHT_OF_MANY)
}

/// Many sweeps with awkward samples, of each case some at least by modules whose names begin like that. On the stand-in, whose
/// checks are slow, it takes `of_stand_in`.
fn check_many(cuda: &Cuda, module: &str, of_stand_in: &[ManySweeps], of_many: &[ManySweeps]) -> Outcome {
    let cases = if StandIn::find().is_some() { of_stand_in } else { of_many };
    let step = if looks_for_faults() { 5 } else { 1 };
    for (number, case) in cases.iter().enumerate().step_by(step) {
        let &(in_double, boundary, by, size, _) = case;
        if !selection::takes(&format!("{case:?}"), &[&(in_double, by)]) {
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

/// The modules and kernels that `work` launches, in turn; `None` without the stand-in.
fn kernels_of(work: impl FnOnce() -> Outcome) -> Result<Option<Vec<String>>, String> {
    let stand_in = StandIn::find();
    stand_in.inspect(StandIn::reset);
    selection::forced(work)?;
    let kernels =
        |it: StandIn| (0..it.calls()).map(|number| it.kernel(number)).filter(|name| !name.is_empty()).collect();
    Ok(stand_in.map(kernels))
}

/// Whether this is a build of the stand-in that looks for faults, which takes its time.
fn looks_for_faults() -> bool {
    std::env::var("STAND_IN_KIND").is_ok_and(|kind| kind != "plain")
}

/// The case's sweeps in its class, with what stands around the array, its samples, and the filter's entries.
fn check_many_sweeps(
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

/// Sweeps over one of these images, or two, with awkward samples, in both classes.
fn check_sweeps_of_images(
    cuda: &Cuda,
    [height, width]: [usize; 2],
    [rows, columns]: [usize; 2],
    boundary: impl Into<Sides<f64>>,
    sweeps: usize,
    number: usize,
) -> Outcome {
    check_awkward(cuda, [height, width, 1], [rows, columns, 1 + number % 2], boundary, sweeps, number)
}

/// Sweeps over an array with awkward samples here and there, which spread or fade away, in both classes.
fn check_awkward(
    cuda: &Cuda,
    size_of_filter: [usize; 3],
    size: [usize; 3],
    boundary: impl Into<Sides<f64>>,
    sweeps: usize,
    number: usize,
) -> Outcome {
    let boundary = boundary.into();
    let (input, entries) = awkward(size_of_filter, size, number);
    let in_double = Convolution::new(size, filter(entries, size_of_filter)?);
    check_convolution(cuda, &in_double.with_boundary(boundary).with_sweeps(sweeps), &input)?;
    check_awkward_singles(cuda, size_of_filter, size, boundary, sweeps, number)
}

/// The same in single.
fn check_awkward_singles(
    cuda: &Cuda,
    size_of_filter: [usize; 3],
    size: [usize; 3],
    boundary: impl Into<Sides<f64>>,
    sweeps: usize,
    number: usize,
) -> Outcome {
    let (input, entries) = awkward(size_of_filter, size, number);
    let in_single = Convolution::new(size, filter(singles(&entries), size_of_filter)?);
    let in_single = in_single.with_boundary(single(boundary)).with_sweeps(sweeps);
    check_convolution(cuda, &in_single, &singles(&input))
}

/// Such an array, and a filter's entries.
fn awkward(size_of_filter: [usize; 3], size: [usize; 3], number: usize) -> (Vec<f64>, Vec<f64>) {
    let elements: usize = size.iter().product();
    let mut input = ordinary(elements, number as u64);
    let awkward = [f64::NAN, 5e-324, f64::INFINITY, -0.0, f64::MAX, f64::NEG_INFINITY, 1e-310];
    for (n, at) in (number % 50..elements).step_by(1 + elements / 5).enumerate() {
        input[at] = awkward[(n + number) % awkward.len()];
    }
    (input, tame(size_of_filter.iter().product(), number as u64 + 1))
}

/// A filter of one row or one column, the number of a boundary, rows and columns, and sweeps: images in single that the
/// kernel of `sweeps_images` is chosen for on the stand-in's few multiprocessors, where others are done in tiles.
const LINES_IN_SINGLE: [([usize; 3], usize, [usize; 2], usize); 15] = include!("engines/lines_in_single.in");

/// Sweeps in single by filters of one row or one column, over images around the sizes of strips, of a lane's rows and of
/// a warp's, for more sweeps and fewer than a launch does.
fn sweeps_of_lines_in_single(cuda: Cuda) -> Outcome {
    let slow = StandIn::find().is_some();
    let mut number = 0;
    for size_of_filter in [[1, 3, 1], [1, 5, 1], [1, 7, 1], [3, 1, 1], [5, 1, 1], [7, 1, 1]] {
        for boundary in KINDS {
            for rows in [27, 28, 57, 256, 896, 900, 1963] {
                for (columns, sweeps) in [(1, 3), (2, 8), (3, 17), (5, 16), (40, 16), (230, 7), (90, 21)] {
                    number += 1;
                    // The reference takes its time, and so does the stand-in for the driver.
                    let (share, most) = if slow { (29, 100_000) } else { (5, 150_000) };
                    if number % share == 0 && rows * columns <= most {
                        let size = [rows, columns, 1 + number % 3];
                        check_awkward_singles(&cuda, size_of_filter, size, boundary, sweeps, number)?;
                    }
                }
            }
        }
    }
    for (number, &(size_of_filter, boundary, [rows, columns], sweeps)) in LINES_IN_SINGLE.iter().enumerate() {
        let size = [rows, columns, 1 + number % 2];
        let check = || check_awkward_singles(&cuda, size_of_filter, size, KINDS[boundary], sweeps, number);
        if selection::takes(&format!("{size:?} {size_of_filter:?}"), &[&("chosen", size_of_filter)]) {
            selection::forced(check)?;
        }
    }
    Ok(())
}

/// Sweeps over volumes by filters of one column: rows around a lane's, a warp's and a strip's.
fn sweeps_of_volumes_by_one_column(cuda: Cuda) -> Outcome {
    let mut number = 0;
    for size_of_filter in
        [[3, 1, 3], [1, 1, 3], [5, 1, 5], [3, 1, 5], [1, 1, 5], [7, 1, 3], [5, 1, 7], [1, 1, 7], [7, 1, 7]]
    {
        for boundary in KINDS {
            for rows in [17, 57, 192, 300, 543, 544, 610, 896] {
                for (columns, pages, sweeps) in
                    [(1, 30, 3), (7, 40, 8), (12, 30, 9), (3, 2, 4), (30, 12, 16), (5, 61, 5), (2, 150, 17)]
                {
                    number += 1;
                    if number % 19 == 0 && rows * columns * pages <= 150_000 {
                        check_awkward(&cuda, size_of_filter, [rows, columns, pages], boundary, sweeps, number)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Sweeps of 3 x 3 x 3 and 1 x 3 x 3 over volumes around the sizes of tiles, in rows, columns and pages, for even and odd
/// numbers of sweeps; with samples here and there that spread or fade away.
fn sweeps_of_volumes(cuda: Cuda) -> Outcome {
    let slow = StandIn::find().is_some();
    let check = |boundary, size, sweeps, number: usize| {
        if number.is_multiple_of(3) {
            check_awkward(&cuda, [1, 3, 3], size, boundary, sweeps, number)?;
        }
        check_awkward(&cuda, [3, 3, 3], size, boundary, sweeps, number)
    };
    let mut number = 0;
    // Tiles that do not go into the multiprocessors, or these into them: several parts of a launch, of which some begin
    // behind the first page. `sizes_of_the_tests_are_several_parts` in `src/cuda/kernels/fused/volumes/tests.rs` has two. They come
    // first: what the stand-in takes for a sweep teaches the pace to submit less than two of them.
    let sizes: &[[usize; 3]] =
        if slow { &[[96, 160, 24], [96, 240, 16], [32, 400, 24], [32, 250, 25]] } else { &[[48, 400, 200]] };
    for boundary in KINDS {
        for &size in sizes {
            number += 1;
            check(boundary, size, 2, number)?;
        }
    }
    number = 0;
    // Rows of a tile are 96; columns, in double and in single.
    for boundary in KINDS {
        for rows in [3, 17, 24, 95, 96, 97, 98, 100, 187, 188, 192, 283] {
            for columns in [1, 10, 11, 15, 44, 59, 60, 61, 62, 87, 88, 89, 160] {
                for (pages, sweeps) in [(1, 2), (2, 4), (3, 3), (7, 2), (24, 4), (60, 3), (200, 2)] {
                    number += 1;
                    // The reference takes its time, and so does the stand-in for the driver.
                    let (share, least, most) = if slow { (29, 0, 350_000) } else { (71, 500_000, 3_000_000) };
                    let size: [usize; 3] = [rows, columns, pages];
                    let elements = size.iter().product::<usize>();
                    if number % share != 0 || elements > most || (elements < least && number % 3 != 0) {
                        continue;
                    }
                    check(boundary, size, sweeps, number)?;
                }
            }
        }
    }
    Ok(())
}

/// Which filters do four sweeps over an image or a volume on the device in fewer launches: of the kernels for these
/// filters, those for that alone ask for more shared memory than every chip has. The images are those that
/// `large_images_are_left_to_other_kernels` in `src/cuda/kernels/fused/tiles/tests.rs` has.
fn done_at_once(cuda: &Cuda, stand_in: StandIn) -> Result<Vec<[usize; 3]>, String> {
    let show = |error: Error| error.to_string();
    let mut found = Vec::new();
    for (size_of_filter, size) in [
        ([3, 3, 1], [1200, 160, 1]),
        ([5, 5, 1], [680, 230, 1]),
        ([7, 7, 1], [680, 350, 1]),
        ([3, 5, 1], [680, 230, 1]),
        ([5, 3, 1], [1072, 160, 1]),
        ([1, 1, 1], [672, 230, 1]),
        ([9, 9, 1], [672, 230, 1]),
        ([3, 3, 3], [96, 60, 40]),
        ([3, 3, 3], [95, 60, 40]),
        ([1, 3, 3], [96, 60, 40]),
        ([3, 1, 3], [544, 8, 40]),
        ([5, 1, 7], [544, 8, 40]),
        ([3, 3, 5], [96, 60, 40]),
    ] {
        let count = size.iter().product();
        let from = array_with(cuda, &ordinary(count, 2)).map_err(show)?;
        let mut to = Compute::<f64>::array(cuda, count).map_err(show)?;
        let of_filter = filter(tame(size_of_filter.iter().product(), 1), size_of_filter)?;
        let mut convolution = Convolution::new(size, of_filter).with_sweeps(4);
        if size_of_filter[1..] == [3, 3] {
            convolution = convolution.with_boundary(sides::sides()[found.len() % 9]);
        }
        stand_in.reset();
        cuda.convolution(&convolution, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
        if (0..stand_in.calls()).any(|number| stand_in.call(number).contains("FuncSetAttribute")) {
            found.push(size_of_filter);
        }
    }
    Ok(found)
}

/// Several sweeps over an image or a volume are one launch, on chips for which that was measured, and for filters of 3,
/// 5 and 7 rows and columns, or rows and pages, and for 3 x 3 x 3 and 1 x 3 x 3.
fn sweeps_of_images_are_done_at_once(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let found = done_at_once(&cuda, stand_in)?;
    if found
        != [
            [3, 3, 1],
            [5, 5, 1],
            [7, 7, 1],
            [3, 5, 1],
            [5, 3, 1],
            [3, 3, 3],
            [3, 3, 3],
            [1, 3, 3],
            [3, 1, 3],
            [5, 1, 7],
        ]
    {
        return Err(format!("at once: {found:?}"));
    }
    // Where a call is waited for in between, as here, where the device is slow, that is behind whole launches.
    let launches = launches_of(&cuda, stand_in, [96, 160, 24], [3, 3, 3], 8)?;
    if launches != 4 {
        return Err(format!("8 sweeps over a volume: {launches} launches"));
    }
    let ended = common::child("sweep", &[("CUDA_STAND_IN_CAPABILITY", "8.9")])?;
    if !ended.status.success() || !ended.output.contains("at once: []") {
        return Err(format!("{:?}: {}", ended.status, ended.output));
    }
    Ok(())
}

/// Filters of which several sweeps over a small image are done at once.
const SMALL_FILTERS: [[usize; 3]; 10] =
    [[3, 3, 1], [5, 5, 1], [7, 7, 1], [3, 5, 1], [7, 3, 1], [1, 7, 1], [5, 1, 1], [7, 5, 1], [1, 3, 1], [3, 1, 1]];

/// Sweeps over small images: rows and columns around the sizes of a thread's patch, of a tile's and of the filter, and
/// one of either, for more sweeps and fewer than a launch does; with samples here and there that spread or fade away.
fn sweeps_of_small_images(cuda: Cuda) -> Outcome {
    let share = if StandIn::find().is_some() { 17 } else { 11 };
    let mut number = 0;
    for size_of_filter in SMALL_FILTERS {
        for boundary in KINDS {
            for rows in [1, 2, 3, 4, 23, 24, 25, 36, 48, 49, 61, 95, 97, 130] {
                for (columns, sweeps) in
                    [(1, 3), (2, 9), (3, 4), (4, 17), (25, 8), (36, 5), (47, 2), (73, 20), (110, 7)]
                {
                    number += 1;
                    if number % share != 0 {
                        continue;
                    }
                    let size = [rows, columns, 1 + number / share % 3];
                    let elements: usize = size.iter().product();
                    let mut input = ordinary(elements, number as u64);
                    let awkward = [f64::NAN, 5e-324, f64::INFINITY, -0.0, f64::MAX, f64::NEG_INFINITY, 1e-310];
                    // With none of these in some, which would be all there is of an image after many sweeps.
                    let some = if number % 2 == 0 { elements } else { 0 };
                    for (n, at) in (number % 50..some).step_by(1 + elements / 3).enumerate() {
                        input[at] = awkward[(n + number) % awkward.len()];
                    }
                    let entries = tame(size_of_filter.iter().product(), number as u64 + 1);
                    let in_double = Convolution::new(size, filter(entries.clone(), size_of_filter)?);
                    check_convolution(&cuda, &in_double.with_boundary(boundary).with_sweeps(sweeps), &input)?;
                    let in_single = Convolution::new(size, filter(singles(&entries), size_of_filter)?);
                    let in_single = in_single.with_boundary(single(boundary)).with_sweeps(sweeps);
                    check_convolution(&cuda, &in_single, &singles(&input))?;
                }
            }
        }
    }
    Ok(())
}

/// How many launches so many sweeps over an array on the device are.
fn launches_of(
    cuda: &Cuda,
    stand_in: StandIn,
    size: [usize; 3],
    by: [usize; 3],
    sweeps: usize,
) -> Result<usize, String> {
    let show = |error: Error| error.to_string();
    let count = size.iter().product();
    let from = array_with(cuda, &ordinary(count, 2)).map_err(show)?;
    let mut to = Compute::<f64>::array(cuda, count).map_err(show)?;
    let convolution = Convolution::new(size, filter(tame(by.iter().product(), 1), by)?).with_sweeps(sweeps);
    stand_in.reset();
    cuda.convolution(&convolution, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
    Ok((0..stand_in.calls()).filter(|&number| stand_in.call(number).contains("LaunchKernel")).count())
}

/// Of which filters several sweeps over an image of so many rows and columns are fewer launches.
fn in_few_launches(cuda: &Cuda, stand_in: StandIn, side: usize) -> Result<Vec<[usize; 3]>, String> {
    let mut found = Vec::new();
    for by in SMALL_FILTERS.into_iter().chain([[1, 1, 1], [9, 9, 1], [9, 3, 1], [3, 3, 3]]) {
        if launches_of(cuda, stand_in, [side, side, 1], by, 6)? < 6 {
            found.push(by);
        }
    }
    Ok(found)
}

/// Several sweeps over a small image are one launch, whatever the filter's shape, up to some size, and on every chip;
/// there only where that is safe, though.
fn sweeps_of_small_images_are_few_launches(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let found = in_few_launches(&cuda, stand_in, 40)?;
    if found != SMALL_FILTERS {
        return Err(format!("in few launches: {found:?}"));
    }
    // What is left at the end is done at once, too.
    for (sweeps, most) in [(1, 1), (2, 1), (3, 1), (16, 2), (400, 50)] {
        let launches = launches_of(&cuda, stand_in, [40, 40, 1], [3, 3, 1], sweeps)?;
        if launches > most {
            return Err(format!("{sweeps} sweeps: {launches} launches"));
        }
    }
    let ended = common::child("small images", &[("CUDA_STAND_IN_CAPABILITY", "8.9")])?;
    // Filters of one row or column are stencils, for which that is so whatever the size.
    let lines: Vec<_> = SMALL_FILTERS.into_iter().filter(|[height, width, _]| height.min(width) == &1).collect();
    let expected = format!("small: {found:?}\nlarger: {lines:?}");
    if !ended.status.success() || !ended.output.contains(&expected) {
        return Err(format!("{:?}: {}", ended.status, ended.output));
    }
    Ok(())
}

fn break_context(cuda: &Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: result::DriverError| error.to_string();
    let device = result::device::get(cuda.ordinal() as i32).map_err(show)?;
    // SAFETY: the device is one of the driver's; what is retained is released, and not current any more then.
    let broken = unsafe {
        let context = result::primary_ctx::retain(device).map_err(show)?;
        result::ctx::set_current(context).map_err(show)?;
        stand_in.fail(1, ILLEGAL_ADDRESS, Mode::Sticky);
        let broken = [result::ctx::synchronize().is_err(), result::ctx::synchronize().is_err()];
        stand_in.heal();
        // These tell of it, too.
        let _ = (result::ctx::set_current(std::ptr::null_mut()), result::primary_ctx::release(device));
        broken
    };
    if broken == [true; 2] { Ok(()) } else { Err("the context was not broken".into()) }
}

/// A context that someone else in this process breaks between two calls is no reason for the second one to fail.
fn a_broken_context_is_opened_anew(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let short = || check(&cuda, &samples(100, 1), Lines::new(100, 1), &[1.0, 2.0, 3.0]);
    let long = || check(&cuda, &samples(300_000, 1), Lines::new(300_000, 1), &[1.0, 2.0, 3.0]);
    let image = || check_image_sweeps(&cuda, [40, 31, 1], [3, 3, 1], 1, Boundary::Circular, 3);
    let next: [&dyn Fn() -> Outcome; 3] = [&short, &long, &image];
    for (next, ends) in next.into_iter().flat_map(|next| ends::ALL.map(|ends| (next, ends))) {
        short()?;
        image()?;
        break_context(&cuda, stand_in)?;
        ends::between(ends, next)?;
    }
    Ok(())
}

/// With a context go the arrays that lay in it: each tells why, and new ones work.
fn a_broken_context_takes_its_arrays_along(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let show = |error: Error| error.to_string();
    let what = stencil(Lines::new(100, 1), &[1.0, 2.0, 3.0])?;
    let input = samples(100, 1);
    let run = |from: &Array<f64>, to: &mut Array<f64>| {
        cuda.stencil(&what, Source::Array(from), Target::Array(to), &Watch::new())
    };
    let lost = ends::array_with(&cuda, &input).map_err(show)?;
    let mut results = Compute::<f64>::array(&cuda, 100).map_err(show)?;
    run(&lost, &mut results).map_err(show)?;
    break_context(&cuda, stand_in)?;
    for _ in 0..2 {
        let outcomes = [
            run(&lost, &mut results),
            cuda.copy(Source::Array(&results), Target::Host(&mut [POISON; 100]), &Watch::new()),
            cuda.copy(Source::Host(&input), Target::Array(&mut results), &Watch::new()),
        ];
        for outcome in outcomes {
            match outcome {
                Err(Error::Cuda(text)) if text.contains("CUDA_ERROR_ILLEGAL_ADDRESS") => {}
                other => return Err(format!("{other:?} with an array of a broken context")),
            }
        }
        // While the old ones are still there.
        check(&cuda, &input, Lines::new(100, 1), &[1.0, 2.0, 3.0])?;
    }
    Ok(())
}

/// The first call does not know how slow the device is, and submits much before it waits; the second one knows.
fn calls_learn_the_pace_from_each_other(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let (length, sweeps) = (30_000, 2000);
    let input = ordinary(length, 1);
    let many = stencil(Lines::new(length, 1), &tame(3, 2))?.with_sweeps(sweeps);
    let mut output = vec![POISON; length];
    let mut launches_ahead_of_the_first_wait = || {
        stand_in.reset();
        cuda.stencil(&many, Source::Host(&input), Target::Host(&mut output), &Watch::new())
            .map_err(|error| error.to_string())?;
        let names =
            (0..stand_in.calls()).map(|number| stand_in.call(number)).skip_while(|name| name != "cuLaunchKernel");
        Ok::<_, String>(
            names.take_while(|name| name != "cuStreamSynchronize").filter(|name| name == "cuLaunchKernel").count(),
        )
    };
    let (first, second) = (launches_ahead_of_the_first_wait()?, launches_ahead_of_the_first_wait()?);
    if second < first {
        Ok(())
    } else {
        Err(format!("{first} launches ahead of the first wait, and {second} in the next call"))
    }
}

/// What is timed on the device's clock takes time there, and is done.
fn what_is_timed_is_right(cuda: Cuda) -> Outcome {
    let (input, show) = (ordinary(30_000, 1), |error: Error| error.to_string());
    let once = stencil(Lines::new(input.len(), 1), &tame(5, 2))?;
    let mut expected = vec![POISON; input.len()];
    Reference.stencil(&once, Source::Host(&input), Target::Host(&mut expected), &Watch::new()).map_err(show)?;
    let samples = ends::array_with(&cuda, &input).map_err(show)?;
    let results = RefCell::new(Compute::<f64>::array(&cuda, input.len()).map_err(show)?);
    let work = || cuda.stencil(&once, Source::Array(&samples), Target::Array(&mut results.borrow_mut()), &Watch::new());
    let milliseconds = measure::time(&cuda, work).map_err(show)?;
    let got = ends::contents(&cuda, &results.borrow()).map_err(show)?;
    match got.iter().zip(&expected).all(|(&got, &want)| got.same(want)) {
        true if milliseconds > 0.0 && milliseconds < 60_000.0 => Ok(()),
        right => Err(format!("right: {right}, in {milliseconds} ms")),
    }
}

/// The taps in constant memory are those of the call, also after the same number of others, and after the same ones.
fn taps_change(cuda: Cuda) -> Outcome {
    let input = samples(3000, 1);
    for seed in [1, 1, 2, 3, 3, 1] {
        for count in [3, 21, 3, 5] {
            check(&cuda, &input, Lines::new(3000, 1), &samples(count, seed))?;
        }
    }
    let mut taps = [0.0; 5];
    check(&cuda, &input, Lines::new(3000, 1), &taps)?;
    // Differs from the last in a sign that `==` does not see; the output shows it nowhere but here.
    taps[2] = -0.0;
    check(&cuda, &input, Lines::new(3000, 1), &taps)
}

fn released_and_used_again(cuda: Cuda) -> Outcome {
    let input = samples(700_000, 1);
    for _ in 0..3 {
        check(&cuda, &input, Lines::new(700_000, 1), &samples(9, 2))?;
        cuda::release();
    }
    Ok(())
}

/// A context that another extension made current on this thread is current after a call, too.
fn context_of_the_host_stays(cuda: Cuda) -> Outcome {
    let show = |error: result::DriverError| error.to_string();
    let other = CudaContext::new_non_primary(cuda.ordinal(), 0).map_err(show)?;
    other.bind_to_thread().map_err(show)?;
    for length in [100, 1_000_000] {
        ends::each(|| {
            check(&cuda, &samples(length, 1), Lines::new(length, 1), &[1.0, 2.0, 3.0])?;
            match result::ctx::get_current().map_err(show)? {
                Some(context) if context == other.cu_ctx() => Ok(()),
                _ => Err(format!("another context is current after the calls with {length} elements")),
            }
        })?;
    }
    cuda::release();
    if result::ctx::get_current().map_err(show)? != Some(other.cu_ctx()) {
        return Err("another context is current after the release".into());
    }
    // SAFETY: null makes none current.
    unsafe { result::ctx::set_current(std::ptr::null_mut()) }.map_err(show)?;
    ends::each(|| {
        check(&cuda, &samples(100, 1), Lines::new(100, 1), &[1.0])?;
        match result::ctx::get_current().map_err(show)? {
            None => Ok(()),
            Some(_) => Err("a context was left current where there was none".into()),
        }
    })
}

/// What others hold in the primary context outlives our release: it is given back, not reset.
fn memory_of_the_host_stays(cuda: Cuda) -> Outcome {
    let show = |error: result::DriverError| error.to_string();
    let context = CudaContext::new(cuda.ordinal()).map_err(show)?;
    let stream = context.default_stream();
    let theirs = stream.clone_htod(&[1.0, 2.0, 3.0]).map_err(show)?;
    check(&cuda, &samples(1000, 1), Lines::new(1000, 1), &[1.0])?;
    cuda::release();
    context.bind_to_thread().map_err(show)?;
    let back = stream.clone_dtoh(&theirs).map_err(show)?;
    stream.synchronize().map_err(show)?;
    if back == [1.0, 2.0, 3.0] { Ok(()) } else { Err(format!("{back:?}")) }
}

/// What a user holds stays where it is when all else is given back.
fn arrays_outlive_a_release(cuda: Cuda) -> Outcome {
    let show = |error: Error| error.to_string();
    let what = stencil(Lines::new(1000, 1), &[1.0, 2.0, 3.0])?;
    let input = samples(1000, 1);
    let mut expected = vec![POISON; 1000];
    Reference.stencil(&what, Source::Host(&input), Target::Host(&mut expected), &Watch::new()).map_err(show)?;
    let from = ends::array_with(&cuda, &input).map_err(show)?;
    for _ in 0..2 {
        let mut to = Compute::<f64>::array(&cuda, 1000).map_err(show)?;
        cuda::release();
        cuda.stencil(&what, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
        cuda::release();
        let got = ends::contents(&cuda, &to).map_err(show)?;
        if !got.iter().zip(&expected).all(|(&got, &want)| got.same(want)) {
            return Err(format!("{got:?}"));
        }
    }
    Ok(())
}

/// Calls leave the device's memory as it was once each size has been seen.
fn memory_is_flat(cuda: Cuda) -> Outcome {
    let sizes = [20, 5000, 100_000, 3_000_000];
    let round = || {
        ends::each(|| {
            sizes.iter().try_for_each(|&size| check(&cuda, &samples(size, 1), Lines::new(size, 1), &[1.0, 2.0, 3.0]))
        })
    };
    round()?;
    let free = || cuda.free_memory().map_err(|error| error.to_string());
    let before = free()?;
    for _ in 0..if is_slow(&cuda) { 1 } else { 5 } {
        round()?;
    }
    let input = samples(20, 1);
    for _ in 0..10_000 {
        check(&cuda, &input, Lines::new(20, 1), &[1.0, 2.0, 3.0])?;
    }
    let after = free()?;
    if after == before { Ok(()) } else { Err(format!("{before} bytes were free before, {after} after")) }
}

/// With nearly all of the device's memory held by others, arrays go through in what is left.
fn memory_is_short(cuda: Cuda) -> Outcome {
    cuda::release();
    let context = CudaContext::new(cuda.ordinal()).map_err(|error| error.to_string())?;
    check(&cuda, &samples(20, 1), Lines::new(20, 1), &[1.0, 2.0, 3.0])?;
    let large = || check(&cuda, &samples(1_000_000, 1), Lines::new(1_000_000, 1), &[1.0, 2.0, 3.0]);
    let held = Hog::take(&context);
    // From the host's memory: there is no room for arrays of the device.
    let outcome = ends::between(ends::HOST_TO_HOST, large);
    drop(held);
    outcome?;
    large()
}

/// With nearly all of the device's memory held by others, no array is made there; with it given back, one is.
fn memory_is_short_for_arrays(cuda: Cuda) -> Outcome {
    cuda::release();
    let context = CudaContext::new(cuda.ordinal()).map_err(|error| error.to_string())?;
    let held = Hog::take(&context);
    let array = Compute::<f64>::array(&cuda, 1_000_000).map(drop);
    drop(held);
    match array {
        Err(Error::OutOfMemory(_)) => ends::each(|| check(&cuda, &samples(1000, 1), Lines::new(1000, 1), &[1.0])),
        other => Err(format!("{other:?} where there is no memory")),
    }
}

/// All the device memory that can be had, in pieces from large to small.
struct Hog {
    pieces: Vec<cudarc::driver::sys::CUdeviceptr>,
    context: Arc<CudaContext>,
}

impl Hog {
    fn take(context: &Arc<CudaContext>) -> Hog {
        let _ = context.bind_to_thread();
        let mut pieces = Vec::new();
        let mut bytes = 1_usize << 36;
        while bytes >= 1 << 14 {
            // SAFETY: a context is current.
            match unsafe { result::malloc_sync(bytes) } {
                Ok(piece) => pieces.push(piece),
                Err(_) => bytes /= 2,
            }
        }
        Hog { pieces, context: context.clone() }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = self.context.bind_to_thread();
        for &piece in &self.pieces {
            // SAFETY: allocated in `take`.
            let _ = unsafe { result::free_sync(piece) };
        }
    }
}

/// What a child does, by its name.
fn in_child(what: &str) -> Outcome {
    match what {
        "tensor cores" => {
            let found = on_tensor_cores(&open_cuda()?, StandIn::find().ok_or("no stand-in")?)?;
            println!("on tensor cores: {found:?}");
            cuda::release();
            Ok(())
        }
        "lines" => {
            let found = lines_on_tensor_cores(&open_cuda()?, StandIn::find().ok_or("no stand-in")?)?;
            println!("on tensor cores: {found:?}");
            cuda::release();
            Ok(())
        }
        "small images" => {
            let stand_in = StandIn::find().ok_or("no stand-in")?;
            for (name, side) in [("small", 12), ("larger", 150)] {
                println!("{name}: {:?}", in_few_launches(&open_cuda()?, stand_in, side)?);
            }
            cuda::release();
            Ok(())
        }
        "sweep" => {
            let found = done_at_once(&open_cuda()?, StandIn::find().ok_or("no stand-in")?)?;
            println!("at once: {found:?}");
            cuda::release();
            Ok(())
        }
        _ => Err(format!("nobody knows how to {what}")),
    }
}

fn main() {
    if let Ok(what) = std::env::var(common::CHILD) {
        if let Err(error) = in_child(&what) {
            println!("{error}");
            std::process::exit(1);
        }
        return;
    }
    let mut arguments = Arguments::from_args();
    // Some tests take all of the device's memory, or release what others would be using.
    arguments.test_threads = Some(1);
    let failed = |outcome: Outcome| outcome.map_err(Failed::from);
    let mut trials = Vec::new();
    for (engine, make) in engines() {
        let absent = make().err();
        for (case, run) in TABLE {
            let run = move || {
                let missed = run(&*make()?).map(|()| ends::missed())?;
                // A selection may have fewer checks than there are ends, and so may what is left.
                if missed.is_empty() || !selection::takes_test(true) || !selection::takes_test(false) {
                    Ok(())
                } else {
                    Err(format!("nothing was computed {}", missed.join(", ")))
                }
            };
            trials.push(trial(engine, case, absent.as_deref(), move || failed(run())));
        }
        for (case, run) in arithmetic::TABLE.into_iter().chain(scheme::TABLE) {
            trials.push(trial(engine, case, absent.as_deref(), move || failed(run(&*make()?))));
        }
    }
    let absent = open_cuda().err();
    for (case, run) in CUDA_TABLE {
        trials.push(trial("cuda", case, absent.as_deref(), move || failed(run(open_cuda()?))));
    }
    let stand_in = StandIn::find();
    let absent =
        absent.or_else(|| stand_in.is_none().then(|| "the stand-in is not what is found as the driver".into()));
    for (case, run) in FAULT_TABLE.into_iter().filter(|_| selection::takes_test(true)) {
        trials.push(trial("cuda", case, absent.as_deref(), move || {
            let (cuda, stand_in) = (open_cuda()?, stand_in.ok_or("no stand-in")?);
            // They count the calls of the driver that one call of the engine makes.
            failed(selection::forced(|| ends::between(ends::HOST_TO_HOST, || run(cuda, stand_in))))
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    cuda::release();
    conclusion.exit();
}

/// A test of `engine`, counted as ignored where it is absent.
fn trial(
    engine: &str,
    case: &str,
    absent: Option<&str>,
    run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let reason = absent.map(|reason| format!(" (skipped: {reason})")).unwrap_or_default();
    let (engine, name) = (engine.to_owned(), format!("{engine}::{case}"));
    let title = format!("{name}{reason}");
    let run = move || {
        ends::begin();
        selection::begin(engine.starts_with("cuda-"));
        let started = Instant::now();
        let outcome = run();
        if std::env::var_os("STENCIL_TEST_TIMES").is_some() {
            eprintln!("{:9.3} s  {name}", started.elapsed().as_secs_f64());
        }
        let books = StandIn::find().map_or(Ok(()), clear_books);
        outcome.and(books.map_err(Failed::from))
    };
    Trial::test(title, run).with_ignored_flag(absent.is_some())
}

/// Gives back what CUDA holds, and looks at what the stand-in has noted.
fn clear_books(stand_in: StandIn) -> Outcome {
    stand_in.heal();
    cuda::release();
    let (left, misuse) = (stand_in.alive(), stand_in.misuse());
    match misuse {
        Some(told) => Err(format!("the stand-in has noted: {told}")),
        None if left.is_empty() => Ok(()),
        None => Err(format!("left alive after the release: {left}")),
    }
}
