//! Running sums and products along lines.

use proptest::prelude::*;
use stencil_mex::stencil::{Compute, Number, Scan};

use super::super::checks::{Outcome, is_slow, magnitude_of, run_properties, samples, size_of_check};
use super::{blank, cancelling, check_arrays, elements, numbers};
use crate::common::ends::AnyEngine;
use crate::common::selection;

const SCANS: [Scan; 2] = [Scan::Sum, Scan::Product];

/// Factors about 1, some negative, whose products stay finite.
fn factors<T: Number>(count: usize, seed: u64) -> Vec<T> {
    let scaled = samples(count, seed).into_iter().enumerate();
    scaled.map(|(i, x)| T::from_f64((1.0 + x.fract() / 8.0) * if i % 7 == 3 { -1.0 } else { 1.0 })).collect()
}

fn check_scan<T: Number>(engine: &AnyEngine, op: Scan, input: &[T], size: [usize; 3]) -> Outcome {
    let what = format!("{op:?} {size:?} {:?}", input.last());
    let operation = (op, size_of::<T>(), magnitude_of(&size));
    let (shape, numbers) = ((size_of_check(engine, size), size_of::<T>()), (op, input.first(), size_of::<T>()));
    if !selection::takes(&what, &[&operation, &shape, &numbers]) {
        return Ok(());
    }
    check_arrays(engine, &[input], &blank::<T>(input.len()), input.len(), |engine, from, to, watch| {
        engine.scan(op, &from[0], size, to, watch)
    })
    .map_err(|error| format!("{op:?} of {size:?}: {error}"))
}

/// Checks one size: sums and products that show their order, special numbers, and zeros of either sign.
fn check_size<T: Number>(engine: &AnyEngine, size: [usize; 3]) -> Outcome {
    let count = elements(&size);
    check_scan(engine, Scan::Sum, &cancelling::<T>(count, 1), size)?;
    check_scan(engine, Scan::Product, &factors::<T>(count, 2), size)?;
    let zeros: Vec<T> = (0..count).map(|i| if i % 50 < 40 { T::default().negative() } else { T::default() }).collect();
    SCANS.into_iter().try_for_each(|op| check_scan(engine, op, &zeros, size))?;
    SCANS.into_iter().try_for_each(|op| check_scan(engine, op, &numbers::<T>(count, 3), size))
}

pub(super) fn scans<T: Number>(engine: &AnyEngine) -> Outcome {
    let most = if is_slow(engine) { 6000 } else { 40_000 };
    let lengths = [1, 2, 3, 8, 31, 32, 33, 63, 64, 65, 255, 256, 257, 300, 1000, 1023, 1024, 1025, 1056, 2047, 3500];
    let mut sizes = vec![[0, 5, 3], [3, 5, 0], [3, 0, 2], [0, 0, 0]];
    for length in lengths {
        for inner in [1, 2, 7, 8, 9, 33, 127, 129] {
            sizes.extend([1, 2, 33, 129].map(|outer| [inner, length, outer]));
        }
    }
    sizes.retain(|size| elements(size) <= most);
    // Enough chunks for several chunks of chunks; and enough for all threads.
    sizes.extend([[1, 35_000, 1], [2, 2100, 3], [1, 2, 5000]]);
    if !is_slow(engine) {
        sizes.extend([[1, 1024 * 1024 + 1030, 1], [3, 40_000, 2], [130, 2100, 2], [1, 50, 6000], [1000, 300, 1]]);
    }
    sizes.into_iter().try_for_each(|size| check_size::<T>(engine, size))
}

/// Any size.
pub(super) fn scan_properties<T: Number>(engine: &AnyEngine) -> Outcome {
    let (inner, length) = (prop_oneof![1..6_usize, 20..300_usize], prop_oneof![1..80_usize, 900..3300_usize]);
    let most = if is_slow(engine) { 4000 } else { 100_000 };
    run_properties(if is_slow(engine) { 20 } else { 100 }, &(inner, length, 1..40_usize), |(inner, length, outer)| {
        let length = length.min(most);
        let outer = outer.min(most / length).max(1);
        check_size::<T>(engine, [inner.min(most / (length * outer)).max(1), length, outer])
    })
}
