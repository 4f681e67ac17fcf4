//! Stencils and derivatives along lines, and sweeps of them.

use proptest::prelude::*;
use stencil_mex::cuda::Cuda;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Boundary, Compute, Ends as BothEnds, Lines};

use super::checks::{
    BOUNDARIES, KINDS, Outcome, POISON, around_borders, awkward, check, check_derivative, check_derivatives,
    check_many_sweeps, check_sweeps, check_sweeps_in_single, is_slow, kernels_of, odd_counts, ordinary, pairs, results,
    run_properties, samples, size_of_module, stencil, tame,
};
use crate::common::ends::{self, AnyEngine};
use crate::common::selection;

/// The document's example, with the numbers written out.
pub fn document(engine: &AnyEngine) -> Outcome {
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

/// One line of every length from 0 to 80, and around each border that an engine has.
pub fn single_lines(engine: &AnyEngine) -> Outcome {
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
pub fn many_lines(engine: &AnyEngine) -> Outcome {
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
pub fn large(engine: &AnyEngine) -> Outcome {
    for (length, count) in [(1_000_003, 1), (3_000_000, 1), (1000, 1700), (17, 60_000)] {
        let input = samples(length * count, 5);
        for taps in [3, 21] {
            check(engine, &input, Lines::new(length, count), &samples(taps, 6))?;
        }
    }
    Ok(())
}

/// Taps that are infinite, NaN, or nothing but zeros of either sign.
pub fn awkward_taps(engine: &AnyEngine) -> Outcome {
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

/// Any shape, any taps, any doubles.
pub fn properties(engine: &AnyEngine) -> Outcome {
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

/// Lines of all sorts, in both classes.
pub fn derivatives(engine: &AnyEngine) -> Outcome {
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

/// Every boundary, number of taps and length of a line, up to lines that have an inside of several vectors; and around
/// the borders of tiles.
pub fn boundaries(engine: &AnyEngine) -> Outcome {
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
pub fn dimensions(engine: &AnyEngine) -> Outcome {
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
pub fn derivative_boundaries(engine: &AnyEngine) -> Outcome {
    for boundary in BOUNDARIES {
        for length in (1..=30).chain(around_borders(1, 2100, 1)) {
            check_derivatives(engine, &samples(length * 2, length as u64), Lines::new(length, 2), boundary)?;
        }
    }
    Ok(())
}

/// Sweeps in double; and in single on CUDA, which has other modules for them.
fn check_both(
    engine: &AnyEngine,
    input: &[f64],
    lines: Lines,
    taps: &[f64],
    boundary: impl Into<BothEnds<f64>>,
    sweeps: usize,
) -> Outcome {
    let ends = boundary.into();
    check_sweeps(engine, input, lines, taps, ends, sweeps)?;
    if engine.name() == "cuda" { check_sweeps_in_single(engine, input, lines, taps, ends, sweeps) } else { Ok(()) }
}

/// Many sweeps give the same as repeated single ones: on lines shorter than the stencil, around the borders of tiles,
/// and for about as many sweeps as a pass fuses.
pub fn sweeps(engine: &AnyEngine) -> Outcome {
    let counts = [0, 1, 2, 3, 7, 16, 17, 50, 51, 63, 64, 65, 101, 130];
    for boundary in KINDS {
        for &count in &counts {
            for (length, taps) in
                [(1, 3), (1, 21), (2, 5), (3, 21), (5, 3), (9, 21), (20, 7), (20, 21), (33, 1), (100, 3), (300, 21)]
            {
                let lines = if length % 2 == 0 { Lines::new(length, 3) } else { Lines::strided(3, length, 2) };
                check_both(engine, &ordinary(lines.elements(), 3), lines, &tame(taps, 4), boundary, count)?;
            }
        }
    }
    // Numbers of all kinds, for as long as they last.
    for boundary in BOUNDARIES {
        for count in [2, 3] {
            for (length, taps) in [(7, 21), (40, 3), (1000, 5), (4100, 11)] {
                check_both(engine, &samples(length, 3), Lines::new(length, 1), &samples(taps, 4), boundary, count)?;
            }
        }
    }
    // One tap has no halo at all, and leaves signs of zeros and NaN where they are.
    check_sweeps(engine, &samples(5000, 3), Lines::new(5000, 1), &[-1.0], KINDS[3], 65)?;
    sweeps_in_tiles(engine)
}

/// The lengths of lines and how many, taps and sweeps: arrays large enough for all threads and all lanes, long lines and many
/// of a middling length.
const AT_LARGE: [(usize, usize, usize, usize); 5] =
    [(1_200_003, 1, 3, 7), (1_050_000, 1, 21, 2), (1000, 1100, 3, 5), (3199, 330, 21, 2), (4000, 270, 5, 3)];

/// Sweeps over such arrays.
pub fn sweeps_at_large(engine: &AnyEngine) -> Outcome {
    for (length, count, taps, sweeps) in AT_LARGE {
        let input = ordinary(length * count, 3);
        for boundary in [KINDS[0], KINDS[2], KINDS[3]] {
            check_sweeps(engine, &input, Lines::new(length, count), &tame(taps, 4), boundary, sweeps)?;
        }
    }
    Ok(())
}

/// Sweeps by each number of taps go to each of its modules: for long lines, lines that a tile holds, lines side by side,
/// short ones, and others.
pub fn sweeps_by_every_module(cuda: Cuda) -> Outcome {
    let shapes = [
        ("long", Lines::new(1_000_003, 1), 2),
        ("whole", Lines::new(1_000, 1_001), 2),
        ("rows", Lines::strided(33, 140, 1), 3),
        ("short", Lines::new(5, 40), 3),
        ("small", Lines::new(300, 3), 3),
    ];
    // In single one entry is no filter along a dimension.
    let both = odd_counts().flat_map(|taps| [(taps, "double"), (taps, "float")]);
    for (taps, class) in both.filter(|&it| it != (1, "float")) {
        for (kernel, lines, sweeps) in shapes {
            let features: [&dyn std::fmt::Debug; 2] = [&(kernel, class), &size_of_module(&cuda, taps)];
            if !selection::takes(&format!("{kernel} {class} {taps}"), &features) {
                continue;
            }
            let (input, entries) = (ordinary(lines.elements(), taps as u64), tame(taps, 4));
            let kernels = kernels_of(|| {
                ends::between(ends::ARRAY_TO_ARRAY, || match class {
                    "double" => check_sweeps(&cuda, &input, lines, &entries, KINDS[2], sweeps),
                    _ => check_sweeps_in_single(&cuda, &input, lines, &entries, KINDS[2], sweeps),
                })
            })?;
            let module = format!("sweeps_{kernel}_{class}_{taps:02}/");
            if kernels.as_ref().is_some_and(|all| !all.iter().any(|it| it.starts_with(&module))) {
                return Err(format!("{lines:?} by {taps} taps: {kernels:?}, and not {module}"));
            }
        }
    }
    Ok(())
}

/// Sweeps in single along each dimension of an array: short lines of every length, and others around the borders of
/// tiles; with ordinary samples, each of which shows an error, and with samples that spread or fade.
pub fn sweeps_of_lines_in_single(cuda: Cuda) -> Outcome {
    let all_ends: Vec<_> = KINDS.into_iter().map(BothEnds::from).chain(pairs()).collect();
    let mut number = 0;
    for length in (1..=66).chain([100, 511, 513, 1024, 1025, 1408, 1409, 2817, 4224, 4225, 8449]) {
        for dim in 0..3 {
            for (n, &along) in all_ends.iter().enumerate() {
                number += 1;
                let taps = 3 + 2 * (number % 10);
                let sweeps = [2, 3, 9, 40][number % 4];
                let (mut size, mut by) = ([[1, 3, 2], [3, 1, 2], [2, 3, 1]][dim], [1; 3]);
                (size[dim], by[dim]) = (length, taps);
                // The other dimensions have no say.
                let mut sides = [all_ends[(n + 1) % all_ends.len()]; 3];
                sides[dim] = along;
                let (input, entries) = if number % 3 == 0 {
                    awkward(by, size, number)
                } else {
                    (ordinary(size.iter().product(), number as u64), tame(taps, number as u64 + 1))
                };
                check_many_sweeps(&cuda, &(false, 0, by, size, sweeps), sides, &input, entries)?;
            }
        }
    }
    for (n, (length, count, taps, sweeps)) in AT_LARGE.into_iter().enumerate() {
        let (input, lines) = (ordinary(length * count, 3), Lines::new(length, count));
        for along in [KINDS[n % 4].into(), all_ends[4 + n]] {
            check_sweeps_in_single(&cuda, &input, lines, &tame(taps, 4), along, sweeps)?;
        }
    }
    Ok(())
}

/// Numbers of taps, and how many sweeps of them an engine does in one pass over a long line at most.
const PASSES: [(usize, usize); 5] = [(3, 102), (3, 204), (5, 102), (21, 10), (21, 20)];

/// Lines that take several tiles, each around the borders between them.
fn sweeps_in_tiles(engine: &AnyEngine) -> Outcome {
    for boundary in KINDS {
        for length in around_borders(1000, 6000, 1) {
            for (taps, count) in [(3, 60), (5, 40), (21, 7)] {
                check_both(engine, &ordinary(length, 3), Lines::new(length, 1), &tame(taps, 4), boundary, count)?;
            }
        }
        for (taps, count) in PASSES {
            for count in [count, count + 1, 2 * count + 1] {
                check_both(engine, &ordinary(4300, 3), Lines::new(4300, 1), &tame(taps, 4), boundary, count)?;
            }
        }
        // In blocks of a tile, eleven rounds of twelve sweeps and one of a single sweep, which is another kernel's.
        check_both(engine, &ordinary(4300, 3), Lines::new(4300, 1), &tame(21, 4), boundary, 133)?;
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
            check_both(engine, &ordinary(lines.elements(), 3), lines, &tame(taps, 4), boundary, count)?;
        }
    }
    Ok(())
}

/// Any shape, dimension, boundary, number of sweeps, taps and doubles.
pub fn sweeps_properties(engine: &AnyEngine) -> Outcome {
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
    let kinds = proptest::sample::select(Boundary::all_kinds(2.5).to_vec());
    let boundary = prop_oneof![1 => number().prop_map(Boundary::Constant), 1 => kinds];
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
        check_both(engine, &input, lines, &taps, boundary, sweeps)
    })
}
