//! Arithmetic on arrays: cases for every engine, each held to the plain reference bit for bit.

mod lists;
mod reductions;
mod scans;
mod sorts;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use stencil_mex::cpu::Cpu;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::functions::{Distribution, Draw};
use stencil_mex::stencil::{
    Array, Binary, Compute, Engine, Error, Expansion, Extreme, MAX_POWER, Number, Operand, Order, Places, RANK, Real,
    Reduction, Reference, Scan, Section, Source, Target, Unary,
};

use super::arrays::Elsewhere;
use super::checks::{Case, Outcome, POISON, is_slow, magnitude_of, open_cuda, ordinary, run_properties, samples};
use crate::common::ends::{AnyEngine, array_with, contents};
use crate::common::selection;
use reductions::{check_reduction, reduction_properties, reductions_of_a_line, reductions_of_many};

/// Checks of any engine. The cases do not vary ends: arrays are the engine's own.
pub const TABLE: [Case; 21] = [
    ("unary", |engine| in_both(engine, unary::<f64>, unary::<f32>)),
    ("binary", |engine| in_both(engine, binary::<f64>, binary::<f32>)),
    ("expansions", |engine| in_both(engine, expansions::<f64>, expansions::<f32>)),
    ("expansion_properties", |engine| in_both(engine, expansion_properties::<f64>, expansion_properties::<f32>)),
    ("reductions_of_a_line", |engine| in_both(engine, reductions_of_a_line::<f64>, reductions_of_a_line::<f32>)),
    ("reductions_of_many", |engine| in_both(engine, reductions_of_many::<f64>, reductions_of_many::<f32>)),
    ("reduction_properties", |engine| in_both(engine, reduction_properties::<f64>, reduction_properties::<f32>)),
    ("extremes_of_lines", |engine| in_both(engine, lists::extremes_of_lines::<f64>, lists::extremes_of_lines::<f32>)),
    ("found_places", |engine| in_both(engine, lists::found_places::<f64>, lists::found_places::<f32>)),
    ("scans", |engine| in_both(engine, scans::scans::<f64>, scans::scans::<f32>)),
    ("scan_properties", |engine| in_both(engine, scans::scan_properties::<f64>, scans::scan_properties::<f32>)),
    ("sorts", |engine| in_both(engine, sorts::sorts::<f64>, sorts::sorts::<f32>)),
    ("sort_properties", |engine| in_both(engine, sorts::sort_properties::<f64>, sorts::sort_properties::<f32>)),
    ("blocks_of_a_device", |engine| in_both(engine, blocks_of_a_device::<f64>, blocks_of_a_device::<f32>)),
    ("random_numbers", |engine| in_both(engine, random_numbers::<f64>, random_numbers::<f32>)),
    ("fills", |engine| in_both(engine, fills::<f64>, fills::<f32>)),
    ("picks_and_puts", |engine| in_both(engine, picks_and_puts::<f64>, picks_and_puts::<f32>)),
    ("conversions", |engine| in_both(engine, conversions::<f64>, conversions::<f32>)),
    ("arithmetic_with_foreign_arrays", |engine| in_both(engine, foreign::<f64>, foreign::<f32>)),
    ("arithmetic_is_stopped", |engine| in_both(engine, stops::<f64>, stops::<f32>)),
    ("places_outside_are_refused", |engine| in_both(engine, outside::<f64>, outside::<f32>)),
];

pub const BINARY: [Binary; 18] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Min,
    Binary::Max,
    Binary::Equal,
    Binary::NotEqual,
    Binary::Less,
    Binary::LessEqual,
    Binary::Greater,
    Binary::GreaterEqual,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Mod,
    Binary::Rem,
    Binary::Keep,
];

fn in_both(
    engine: &AnyEngine,
    double: impl Fn(&AnyEngine) -> Outcome,
    single: impl Fn(&AnyEngine) -> Outcome,
) -> Outcome {
    double(engine).map_err(|error| format!("double: {error}"))?;
    single(engine).map_err(|error| format!("single: {error}"))
}

fn show(error: Error) -> String {
    error.to_string()
}

/// The numbers of a class that are not like others.
fn specials<T: Number>() -> Vec<T> {
    let [least, normal, most, epsilon] = match size_of::<T>() {
        4 => [f32::from_bits(1), f32::MIN_POSITIVE, f32::MAX, f32::EPSILON].map(f64::from),
        _ => [5e-324, f64::MIN_POSITIVE, f64::MAX, f64::EPSILON],
    };
    let positive = [
        0.0,
        1.0,
        0.5,
        3.0,
        1.0 / 3.0,
        1.0 + epsilon,
        least,
        normal / 4.0,
        normal - least,
        normal,
        normal.sqrt(),
        most.sqrt(),
        most / 2.0,
        most,
        f64::INFINITY,
        f64::NAN,
    ];
    positive.into_iter().flat_map(|x| [x, -x]).map(T::from_f64).collect()
}

/// Numbers of many sizes, with special ones between.
fn numbers<T: Number>(count: usize, seed: u64) -> Vec<T> {
    let scaled = samples(count, seed).into_iter().enumerate();
    scaled.map(|(i, x)| T::from_f64(x * 2_f64.powi(i as i32 % 41 - 20))).collect()
}

/// Numbers that leave next to nothing when they are added: in another order something else.
fn cancelling<T: Number>(count: usize, seed: u64) -> Vec<T> {
    let ordinary = ordinary(count, seed).into_iter().enumerate();
    ordinary.map(|(i, x)| T::from_f64(if i % 3 == 0 { x } else { x * 10_f64.powi((i * 7 % 13) as i32) })).collect()
}

/// The first place where two results are not the same.
fn compare<T: Number>(got: &[T], want: &[T]) -> Outcome {
    if got.len() != want.len() {
        return Err(format!("{} results, not {}", got.len(), want.len()));
    }
    match got.iter().zip(want).position(|(&got, &want)| !got.same(want)) {
        Some(i) => Err(format!("element {i} of {} is {:e}, not {:e}", got.len(), got[i], want[i])),
        None => Ok(()),
    }
}

/// Has `run` compute from arrays with these inputs to one that held `before`, on the engine and on the reference;
/// compares every bit, and sees that inputs stay and that `counted` elements are counted.
fn check_arrays<T: Number, F: Number>(
    engine: &AnyEngine,
    inputs: &[&[F]],
    before: &[T],
    counted: usize,
    run: impl Fn(&AnyEngine, &[Array<F>], &mut Array<T>, &Watch) -> Result<(), Error>,
) -> Outcome {
    let results = |engine: &AnyEngine| -> Result<Vec<T>, String> {
        let arrays: Result<Vec<_>, _> = inputs.iter().map(|input| array_with(engine, input)).collect();
        let (arrays, mut to) = (arrays.map_err(show)?, array_with(engine, before).map_err(show)?);
        let watch = Watch::new();
        run(engine, &arrays, &mut to, &watch).map_err(show)?;
        if watch.done() != counted as u64 {
            return Err(format!("{} elements were counted, not {counted}", watch.done()));
        }
        for (array, input) in arrays.iter().zip(inputs) {
            let after: Vec<F> = contents(engine, array).map_err(show)?;
            compare(&after, input).map_err(|error| format!("an input was changed: {error}"))?;
        }
        contents(engine, &to).map_err(show)
    };
    let want = results(&Reference).map_err(|error| format!("the reference: {error}"))?;
    compare(&results(engine)?, &want)
}

/// Contents of an array before all of it is written.
fn blank<T: Number>(len: usize) -> Vec<T> {
    vec![T::from_f64(POISON - 1.0); len]
}

fn check_unary<T: Number>(engine: &AnyEngine, op: Unary, input: &[T]) -> Outcome {
    let what = format!("{op:?} {} {:?}", input.len(), input.first());
    if !selection::takes(&what, &[&(op, size_of::<T>(), magnitude_of(&[input.len()]))]) {
        return Ok(());
    }
    check_arrays(engine, &[input], &blank::<T>(input.len()), input.len(), |engine, from, to, watch| {
        engine.unary(op, &from[0], to, watch)
    })
    .map_err(|error| format!("{op:?} of {} elements: {error}", input.len()))
}

fn unary<T: Number>(engine: &AnyEngine) -> Outcome {
    let lengths: &[usize] = if is_slow(engine) { &[300] } else { &[15, 16, 17, 1025, 5000, 70_001] };
    let mut inputs = vec![Vec::new(), vec![T::from_f64(-0.7)], specials()];
    // Halves, their neighbours, and bounds of integers.
    let halves =
        [0.5, 1.5, 2.5, 127.5, 254.5, 1e3, 2_147_483_646.5, 2_147_483_647.5, 4.6e18, 9.3e18, 4_503_599_627_370_497.5];
    let beside = |x: f64| match size_of::<T>() {
        4 => [x, f64::from((x as f32).next_up()), f64::from((x as f32).next_down())],
        _ => [x, x.next_up(), x.next_down()],
    };
    inputs.push(halves.into_iter().flat_map(beside).flat_map(|x| [x, -x]).map(T::from_f64).collect());
    let whole = [
        Unary::Saturate { low: -128, high: 127 },
        Unary::Saturate { low: 0, high: 255 },
        Unary::Saturate { low: i32::MIN.into(), high: i32::MAX.into() },
        Unary::Saturate { low: i64::MIN, high: i64::MAX },
    ];
    let roundings = [Unary::Floor, Unary::Ceil, Unary::Round, Unary::Fix, Unary::Sign].into_iter().chain(whole);
    let plain = [Unary::Negate, Unary::Abs, Unary::Sqrt, Unary::Not, Unary::IsNan].into_iter().chain(roundings);
    // Huge angles are reduced separately; ordinary ones lie in the same block.
    inputs.push([1e22, 1e300, -3e15, 0.7, -2e12, 1e11].map(T::from_f64).to_vec());
    inputs.extend(lengths.iter().map(|&length| numbers(length, length as u64)));
    for op in plain.chain((-MAX_POWER..=MAX_POWER).map(Unary::Power)).chain(Unary::FUNCTIONS) {
        inputs.iter().try_for_each(|input| check_unary(engine, op, input))?;
    }
    Ok(())
}

/// An operand of a check: an array by its number, or a scalar.
#[derive(Debug, Clone, Copy)]
enum Side<T> {
    Of(usize),
    Scalar(T),
}

fn check_binary<T: Number>(
    engine: &AnyEngine,
    op: Binary,
    sides: [Side<T>; 2],
    inputs: &[&[T]],
    sizes: [&[usize]; 2],
) -> Outcome {
    let what = format!("{op:?} of {:?}, {sizes:?}", sides.map(|side| format!("{side:?}")));
    let scalars = sides.map(|side| matches!(side, Side::Scalar(_)));
    if !selection::takes(&what, &[&(op, scalars, size_of::<T>()), &(sizes, size_of::<T>())]) {
        return Ok(());
    }
    let expansion = Expansion::new(sizes).ok_or_else(|| format!("{what}: no expansion"))?;
    let len = expansion.elements();
    check_arrays(engine, inputs, &blank::<T>(len), len, |engine, arrays, to, watch| {
        let operands = sides.map(|side| match side {
            Side::Of(number) => Operand::Array(&arrays[number]),
            Side::Scalar(value) => Operand::Scalar(value),
        });
        engine.binary(op, operands, &expansion, to, watch)
    })
    .map_err(|error| format!("{what}: {error}"))
}

fn binary<T: Number>(engine: &AnyEngine) -> Outcome {
    let special = specials::<T>();
    let pairs = special.iter().flat_map(|&a| special.iter().map(move |&b| (a, b)));
    let (first, second): (Vec<T>, Vec<T>) = pairs.unzip();
    // Multiples of 0.05, and their neighbours.
    let multiples: Vec<T> = (-40..=40).map(|k| T::from_f64(f64::from(k) / 20.0)).collect();
    let length = if is_slow(engine) { 1000 } else { 70_001 };
    let random = [numbers::<T>(length, 1), numbers(length, 2)];
    let scalars: Vec<T> = special.iter().copied().step_by(if is_slow(engine) { 5 } else { 1 }).collect();
    for op in BINARY.into_iter().chain(Binary::FUNCTIONS) {
        let check = |sides, inputs: &[&[T]], sizes: [usize; 2]| {
            check_binary(engine, op, sides, inputs, [&[sizes[0]], &[sizes[1]]])
        };
        let both = [Side::Of(0), Side::Of(1)];
        check(both, &[&first, &second], [first.len(); 2])?;
        check(both, &[&multiples, &vec![T::from_f64(0.1); multiples.len()]], [multiples.len(); 2])?;
        check([Side::Of(0); 2], &[&special], [special.len(); 2])?;
        for len in [0, 1, 7, 31, 33, length].into_iter().filter(|&len| len <= length) {
            check(both, &[&random[0][..len], &random[1][..len]], [len; 2])?;
        }
        for &scalar in &scalars {
            check([Side::Scalar(scalar), Side::Of(0)], &[&special], [special.len(); 2])?;
            check([Side::Of(0), Side::Scalar(scalar)], &[&special], [special.len(), 1])?;
        }
        let scalar = Side::Scalar(T::from_f64(0.3));
        check([scalar, Side::Of(0)], &[&random[0]], [1, length])?;
        check([Side::Of(0), scalar], &[&random[0]], [length; 2])?;
        check([Side::Scalar(T::from_f64(-2.0)), scalar], &[], [40; 2])?;
    }
    Ok(())
}

/// The elements of an array of these sizes.
fn elements(size: &[usize]) -> usize {
    size.iter().product()
}

/// Two arrays of these sizes, either way round.
fn check_expansion<T: Number>(engine: &AnyEngine, op: Binary, sizes: [&[usize]; 2], seed: u64) -> Outcome {
    let inputs = [numbers::<T>(elements(sizes[0]), seed), numbers(elements(sizes[1]), seed + 1)];
    let inputs = [&inputs[0][..], &inputs[1]];
    check_binary(engine, op, [Side::Of(0), Side::Of(1)], &inputs, sizes)?;
    check_binary(engine, op, [Side::Of(1), Side::Of(0)], &inputs, [sizes[1], sizes[0]])
}

fn expansions<T: Number>(engine: &AnyEngine) -> Outcome {
    let small: [[&[usize]; 2]; 20] = [
        [&[3, 4, 5], &[1, 4]],
        [&[3, 4, 5], &[3]],
        [&[3, 4, 5], &[1, 1, 5]],
        [&[3, 4, 5], &[3, 1, 5]],
        [&[3, 4, 5], &[1, 4, 5]],
        [&[3, 4, 5], &[1, 1]],
        [&[3, 4, 5], &[3, 4]],
        [&[7], &[1, 9]],
        [&[1], &[1, 1]],
        [&[2, 1, 3, 1], &[1, 4, 1, 5]],
        [&[3, 1, 4, 1, 2], &[1, 5, 1, 3, 1]],
        [&[3, 5, 4, 3, 2], &[1, 5, 1, 3, 1]],
        [&[3, 5, 4, 3, 2], &[3, 1, 4, 1, 2]],
        [&[0, 4], &[1, 4]],
        [&[0], &[1]],
        [&[3, 0], &[3, 1]],
        [&[5, 1], &[1, 0]],
        [&[300, 3], &[300]],
        [&[300, 3], &[1, 3]],
        [&[255, 2, 2], &[255, 1, 2]],
    ];
    let large: [[&[usize]; 2]; 12] = [
        [&[1100, 70], &[1100]],
        [&[1100, 70], &[1, 70]],
        [&[1100], &[1, 70]],
        [&[70_000], &[1, 2]],
        [&[1, 70_000], &[2]],
        [&[2, 40_000], &[1, 40_000]],
        [&[3, 40_000], &[3]],
        [&[256, 9, 30], &[256, 1, 30]],
        [&[256, 9, 30], &[1, 9]],
        [&[257, 9, 30], &[257, 1, 30]],
        [&[2049, 3, 11], &[2049, 1, 11]],
        [&[13, 11, 9, 7, 5], &[1, 11, 1, 7, 1]],
    ];
    let large = if is_slow(engine) { &[][..] } else { &large };
    for op in [Binary::Subtract, Binary::Divide, Binary::Less] {
        for (seed, &sizes) in small.iter().chain(large).enumerate() {
            check_expansion::<T>(engine, op, sizes, seed as u64)?;
        }
    }
    Ok(())
}

/// Any sizes that go together.
fn expansion_properties<T: Number>(engine: &AnyEngine) -> Outcome {
    let dimension = (0..3_usize, prop_oneof![8 => 1..6_usize, 1 => Just(0_usize)]);
    let first = prop_oneof![3 => 1..9_usize, 1 => 60..70_usize, 1 => 250..260_usize];
    let strategy = (first, proptest::collection::vec(dimension, 1..RANK), proptest::sample::select(&BINARY[..]));
    run_properties(if is_slow(engine) { 30 } else { 200 }, &strategy, |(first, mut dimensions, op)| {
        dimensions[0].1 *= first;
        let of = |which| -> Vec<usize> {
            dimensions.iter().map(|&(who, extent)| if who == which { 1 } else { extent }).collect()
        };
        check_expansion::<T>(engine, op, [&of(0), &of(1)], first as u64)
    })
}

/// Special ways of kernels: full blocks, long lines in several dimensions, and short lines whose products leave -0.
fn blocks_of_a_device<T: Number>(engine: &AnyEngine) -> Outcome {
    let many = [numbers::<T>(9_001, 1), numbers(9_001, 2)];
    check_unary(engine, Unary::Negate, &many[0])?;
    check_unary(engine, Unary::Power(-3), &many[0])?;
    let size: &[usize] = &[many[0].len()];
    check_binary(engine, Binary::Subtract, [Side::Of(0), Side::Of(1)], &[&many[0], &many[1]], [size; 2])?;
    for sizes in [[&[1030, 1, 3][..], &[1, 2, 1]], [&[1100, 2, 1, 2], &[1100, 1, 3]], [&[2, 3, 700], &[2, 1, 700]]] {
        check_expansion::<T>(engine, Binary::Subtract, sizes, 3)?;
    }
    for (size, steps) in [([1100, 2, 2], [1, 1200, 3600]), ([1100, 2, 2], [1, 3600, 1200]), ([7, 90, 3], [3, 40, 3600])]
    {
        check_places::<T>(engine, &section(5, &size, &steps), 12_000)?;
    }
    // The smallest number of the class, with and without a sign: products vanish, and keep their sign.
    let mut smallest = T::ONE;
    while smallest.times(T::from_f64(0.5)) != T::default() {
        smallest = smallest.times(T::from_f64(0.5));
    }
    for size in [[1, 1, 40], [1, 5, 40], [1, 16, 40], [1, 17, 40], [40, 1, 1], [40, 5, 2], [40, 16, 1], [40, 17, 2]] {
        let count = elements(&size);
        let inputs = [vec![smallest.negative(); count], vec![smallest; count]];
        check_reduction(engine, Reduction::Dot, [&inputs[0], &inputs[1]], size)?;
    }
    Ok(())
}

fn random_numbers<T: Number>(engine: &AnyEngine) -> Outcome {
    for distribution in [Distribution::Uniform, Distribution::Normal] {
        for (number, seed) in [(0, 0), (7, 3), ((1 << 40) + 1, u32::MAX)] {
            for len in [0, 1, 33, if is_slow(engine) { 500 } else { 40_000 }] {
                let draw = Draw { distribution, number, seed };
                check_arrays::<T, T>(engine, &[], &blank::<T>(len), len, |engine, _, to, watch| {
                    engine.random(draw, to, watch)
                })
                .map_err(|error| format!("{len} of {draw:?}: {error}"))?;
            }
        }
    }
    Ok(())
}

fn fills<T: Number>(engine: &AnyEngine) -> Outcome {
    for value in specials::<T>() {
        for len in [0, 1, 33, if is_slow(engine) { 500 } else { 40_000 }] {
            check_arrays::<T, T>(engine, &[], &blank::<T>(len), len, |engine, _, to, watch| {
                engine.fill(value, to, watch)
            })
            .map_err(|error| format!("{len} times {value:e}: {error}"))?;
        }
    }
    Ok(())
}

/// A section; dimensions that are not given have one place.
fn section(start: usize, size: &[usize], steps: &[isize]) -> Places {
    let mut section = Section { start, size: [1; RANK], steps: [0; RANK] };
    section.size[..size.len()].copy_from_slice(size);
    section.steps[..steps.len()].copy_from_slice(steps);
    Places::Section(section)
}

/// Returns `count` places of an array, in no order, with repeats.
fn scattered(count: usize, elements: usize, seed: u64) -> Places {
    let places = samples(count, seed).into_iter().map(|x| (x.to_bits() >> 7).wrapping_mul(seed | 1) >> 20);
    Places::List(places.map(|place| place % elements as u64).collect())
}

/// Picks from an array of `len` elements, and puts into one, to and from both ends.
fn check_places<T: Number>(engine: &AnyEngine, places: &Places, len: usize) -> Outcome {
    let (whole, part) = (numbers::<T>(len, 1), numbers::<T>(places.len(), 2));
    let picked = |engine: &AnyEngine| -> Result<Vec<T>, String> {
        let from = array_with(engine, &whole).map_err(show)?;
        let (mut room, watch) = (blank::<T>(part.len() + 2), Watch::new());
        let to = 1..room.len() - 1;
        engine.pick(&from, places, Target::Host(&mut room[to.clone()]), &watch).map_err(show)?;
        if watch.done() != part.len() as u64 {
            return Err(format!("{} elements were counted", watch.done()));
        }
        compare(&[room[0], room[to.end]], &blank(2)).map_err(|error| format!("written outside: {error}"))?;
        Ok(room[to].to_vec())
    };
    picked(engine).and_then(|got| compare(&got, &picked(&Reference)?)).map_err(|e| format!("pick to the host: {e}"))?;
    check_arrays(engine, &[&whole], &blank::<T>(part.len()), part.len(), |engine, from, to, watch| {
        engine.pick(&from[0], places, Target::Array(to), watch)
    })
    .map_err(|error| format!("pick: {error}"))?;
    check_arrays(engine, &[&part], &whole, part.len(), |engine, from, to, watch| {
        engine.put(Source::Array(&from[0]), places, to, watch)
    })
    .map_err(|error| format!("put: {error}"))?;
    check_arrays::<T, T>(engine, &[], &whole, part.len(), |engine, _, to, watch| {
        engine.put(Source::Host(&part), places, to, watch)
    })
    .map_err(|error| format!("put from the host: {error}"))
}

fn picks_and_puts<T: Number>(engine: &AnyEngine) -> Outcome {
    // As a matrix of 30 by 40, and as a volume of 10 by 12 by 10.
    let small = [
        section(0, &[1200], &[1]),
        section(1199, &[1200], &[-1]),
        section(7, &[300], &[3]),
        section(1190, &[170], &[-7]),
        section(33, &[25, 30], &[1, 30]),
        section(1199, &[30, 40], &[-1, -30]),
        section(0, &[40, 30], &[30, 1]),
        section(29, &[15, 13], &[-2, 90]),
        section(2, &[4, 6, 5], &[2, 20, 240]),
        section(1083, &[3, 2, 5, 1, 4], &[1, 10, -120, 0, -3]),
        section(5, &[1, 1, 7], &[0, 0, 9]),
        section(600, &[1], &[0]),
        section(0, &[0], &[1]),
        section(0, &[4, 0, 2], &[1, 1, 1]),
        // One place several times: the last value that is put there counts.
        section(3, &[50], &[0]),
        section(0, &[10, 40], &[1, 4]),
        section(500, &[9, 9], &[3, -3]),
        Places::List(vec![]),
        Places::List((0..1200).collect()),
        Places::List((0..1200).rev().collect()),
        Places::List(vec![11; 100]),
        Places::List((0..1000).map(|i| i * i % 37).collect()),
        scattered(1000, 1200, 5),
        scattered(5, 1200, 6),
    ];
    for places in small {
        check_places::<T>(engine, &places, 1200).map_err(|error| format!("{places:?}: {error}"))?;
    }
    check_places::<T>(engine, &section(0, &[0], &[1]), 0)?;
    check_places::<T>(engine, &Places::List(vec![]), 0)?;
    if is_slow(engine) {
        return Ok(());
    }
    // Enough for all threads.
    let large = [
        section(0, &[300_000], &[1]),
        section(299_999, &[300_000], &[-1]),
        section(1, &[99_990], &[3]),
        section(0, &[300, 1000], &[1000, 1]),
        section(299_999, &[1000, 300], &[-1, -1000]),
        section(17, &[3, 70_000], &[1, 4]),
        section(5, &[700, 400], &[1, 740]),
        section(0, &[1000, 200], &[1, 500]),
        section(9, &[200_000], &[0]),
        scattered(200_000, 300_000, 5),
        scattered(200_000, 1000, 7),
    ];
    for (number, places) in large.iter().enumerate() {
        check_places::<T>(engine, places, 300_000).map_err(|error| format!("large places {number}: {error}"))?;
    }
    Ok(())
}

fn conversions<T: Number>(engine: &AnyEngine) -> Outcome {
    // Near the limits of single, and half way between two of its numbers.
    let (max, least) = (f64::from(f32::MAX), f64::from(f32::from_bits(1)));
    let half = 2_f64.powi(-24);
    let edges = [
        1.0 + half,
        1.0 + half * 1.000_001,
        1.0 + 3.0 * half,
        1.0 + half * 0.999_999,
        max + 2_f64.powi(102),
        max + 2_f64.powi(103),
        max + 2_f64.powi(103) * 0.999,
        max * 1.01,
        1e300,
        least / 2.0,
        least * 0.500_001,
        least * 1.5,
        least * 2.5,
        f64::from(f32::MIN_POSITIVE) * (1.0 - half),
        1e-300,
        5e-324,
    ];
    let edges = edges.into_iter().flat_map(|x| [x, -x]).map(T::Other::from_f64).collect();
    let length = if is_slow(engine) { 1000 } else { 70_001 };
    for input in [vec![], edges, specials(), numbers(33, 1), numbers(length, 2)] {
        check_arrays(engine, &[&input[..]], &blank::<T>(input.len()), input.len(), |engine, from, to, watch| {
            engine.convert(&from[0], to, watch)
        })
        .map_err(|error| format!("{} elements: {error}", input.len()))?;
    }
    Ok(())
}

/// Calls each operation with these two arrays and a target, an array of another class, and a target of the host's.
#[expect(clippy::type_complexity, reason = "a list of calls")]
fn calls<T: Number>(
    engine: &AnyEngine,
) -> Vec<(&'static str, Box<dyn Fn([&Array<T>; 2], &Array<T::Other>, &mut Array<T>, &Watch) -> Result<(), Error> + '_>)>
{
    let (op, sum) = (Binary::Add, Reduction::Sum);
    let plain = |len: usize| Expansion::new([&[len], &[len]]).expect("of the same size");
    let all = |len: usize| section(0, &[len], &[1]);
    let list = |len: usize| Places::List((0..len as u64).collect());
    vec![
        ("unary", Box::new(|[a, _], _, to, watch| engine.unary(Unary::Negate, a, to, watch))),
        (
            "binary",
            Box::new(move |[a, b], _, to, watch| {
                let operands = [Operand::Array(a), Operand::Array(b)];
                engine.binary(op, operands, &plain(a.len()), to, watch)
            }),
        ),
        (
            "binary with a scalar",
            Box::new(move |[a, _], _, to, watch| {
                let operands = [Operand::Scalar(T::ONE), Operand::Array(a)];
                engine.binary(op, operands, &plain(a.len()), to, watch)
            }),
        ),
        ("fill", Box::new(|_, _, to, watch| engine.fill(T::ONE, to, watch))),
        (
            "random",
            Box::new(|_, _, to, watch| {
                let draw = Draw { distribution: Distribution::Normal, number: 1, seed: 1 };
                engine.random(draw, to, watch)
            }),
        ),
        ("convert", Box::new(|_, other, to, watch| engine.convert(other, to, watch))),
        ("pick", Box::new(move |[a, _], _, to, watch| engine.pick(a, &all(a.len()), Target::Array(to), watch))),
        (
            "pick of a list",
            Box::new(move |[a, _], _, to, watch| engine.pick(a, &list(a.len()), Target::Array(to), watch)),
        ),
        ("put", Box::new(move |[a, _], _, to, watch| engine.put(Source::Array(a), &all(a.len()), to, watch))),
        (
            "put of a list",
            Box::new(move |[a, _], _, to, watch| engine.put(Source::Array(a), &list(a.len()), to, watch)),
        ),
        (
            "sum",
            Box::new(move |[a, _], _, _, watch| {
                let (mut to, size) = ([T::default()], [1, a.len(), 1]);
                engine.reduce(sum, a, None, size, Target::Host(&mut to), watch)
            }),
        ),
        (
            "sums to an array",
            Box::new(move |[a, _], _, to, watch| engine.reduce(sum, a, None, [a.len(), 1, 1], to.into(), watch)),
        ),
        ("find", Box::new(|[a, _], _, _, watch| engine.find(a.into(), watch).map(drop))),
        ("scan", Box::new(|[a, _], _, to, watch| engine.scan(Scan::Sum, a, [1, a.len(), 1], to, watch))),
        (
            "sort",
            Box::new(|[a, _], _, to, watch| {
                let size = [1, a.len(), 1];
                engine.sort(Order::Ascending, a, size, to, true, watch).map(drop)
            }),
        ),
        (
            "extremes",
            Box::new(|[a, _], _, to, watch| {
                let (which, size) = (Extreme::Largest, [a.len(), 1, 1]);
                engine.extremes(which, a, size, to.into(), watch).map(drop)
            }),
        ),
        (
            "dot",
            Box::new(|[a, b], _, _, watch| {
                let (mut to, size) = ([T::default()], [1, a.len(), 1]);
                engine.reduce(Reduction::Dot, a, Some(b), size, Target::Host(&mut to), watch)
            }),
        ),
    ]
}

/// An array of another engine, or of none, is refused wherever an operation takes one, and nothing is changed.
fn foreign<T: Number>(engine: &AnyEngine) -> Outcome {
    const LEN: usize = 100;
    let other: Option<Box<dyn Engine>> = match engine.name() {
        "cuda" => Some(Box::new(Cpu::new())),
        _ => open_cuda().ok().map(|cuda| Box::new(cuda) as _),
    };
    fn held_by<T: Number>(other: Option<&AnyEngine>) -> Result<Array<T>, Error> {
        other.map_or_else(|| Ok(Array::new(Elsewhere, LEN)), |other| array_with(other, &numbers::<T>(LEN, 1)))
    }
    let input = numbers::<T>(LEN, 1);
    let own = array_with(engine, &input).map_err(show)?;
    let own_other = array_with(engine, &numbers::<T::Other>(LEN, 2)).map_err(show)?;
    let mut to = array_with(engine, &blank::<T>(LEN)).map_err(show)?;
    for other in [None, other.as_deref()] {
        let (foreign, foreign_other) = (held_by::<T>(other).map_err(show)?, held_by::<T::Other>(other).map_err(show)?);
        let mut foreign_to = held_by::<T>(other).map_err(show)?;
        let refused = Err(Error::Foreign(foreign.place()));
        let watch = Watch::new();
        for (name, call) in calls::<T>(engine) {
            let mut outcomes = vec![];
            if !["fill", "random", "convert"].contains(&name) {
                outcomes.push(("the first", call([&foreign, &own], &own_other, &mut to, &watch)));
            }
            if ["binary", "dot"].contains(&name) {
                outcomes.push(("the second", call([&own, &foreign], &own_other, &mut to, &watch)));
            }
            if name == "convert" {
                outcomes.push(("the input", call([&own; 2], &foreign_other, &mut to, &watch)));
            }
            if !["sum", "dot", "find"].contains(&name) {
                outcomes.push(("the target", call([&own; 2], &own_other, &mut foreign_to, &watch)));
            }
            if let Some((which, outcome)) = outcomes.into_iter().find(|(_, outcome)| *outcome != refused) {
                return Err(format!("{name} with {which} in {}: {outcome:?}", foreign.place()));
            }
            compare(&contents(engine, &to).map_err(show)?, &blank(LEN)).map_err(|error| format!("{name}: {error}"))?;
        }
        if watch.done() > 0 {
            return Err(format!("{} elements were counted", watch.done()));
        }
    }
    Ok(())
}

/// A watch that was stopped ends all that takes long, and the engine is as good as before.
fn stops<T: Number>(engine: &AnyEngine) -> Outcome {
    let len = if is_slow(engine) { 5000 } else { 1_000_000 };
    let input = numbers::<T>(len, 1);
    let own = array_with(engine, &input).map_err(show)?;
    let other = array_with(engine, &numbers::<T::Other>(len, 2)).map_err(show)?;
    let mut to = array_with(engine, &blank::<T>(len)).map_err(show)?;
    let watch = Watch::new();
    watch.stop();
    for (name, call) in calls::<T>(engine) {
        let outcome = call([&own; 2], &other, &mut to, &watch);
        if outcome != Err(Error::Interrupted) {
            return Err(format!("{name}, stopped before it began: {outcome:?}"));
        }
    }
    compare(&contents(engine, &own).map_err(show)?, &input)?;
    check_unary(engine, Unary::Negate, &input[..1000])
}

/// Places outside an array are a panic, before anything is read or written there.
fn outside<T: Number>(engine: &AnyEngine) -> Outcome {
    let mut whole = array_with(engine, &numbers::<T>(100, 1)).map_err(show)?;
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let mut wrong = Vec::new();
    for places in [
        section(0, &[101], &[1]),
        section(99, &[2], &[1]),
        section(1, &[3], &[-1]),
        section(90, &[4, 4], &[1, 3]),
        Places::List(vec![0, 100]),
        Places::List(vec![u64::MAX]),
    ] {
        let mut part = blank::<T>(places.len());
        let pick = catch_unwind(AssertUnwindSafe(|| {
            let _ = engine.pick(&whole, &places, Target::Host(&mut part), &Watch::new());
        }));
        let put = catch_unwind(AssertUnwindSafe(|| {
            let _ = engine.put(Source::Host(&part), &places, &mut whole, &Watch::new());
        }));
        if pick.is_ok() || put.is_ok() {
            wrong.push(format!("{places:?}"));
        }
    }
    std::panic::set_hook(hook);
    if wrong.is_empty() { Ok(()) } else { Err(format!("not refused: {wrong:?}")) }
}
