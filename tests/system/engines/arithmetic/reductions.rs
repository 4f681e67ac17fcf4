//! Reductions along lines, of one array and of two.

use proptest::prelude::*;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Compute, Number, Reduction, Reference, Target};

use super::super::checks::{Outcome, is_slow, magnitude_of, run_properties, size_of_check};
use super::super::programs::REDUCTIONS;
use super::{blank, cancelling, compare, elements, numbers, show};
use crate::common::ends::{AnyEngine, array_with, contents};
use crate::common::selection;

pub(super) fn check_reduction<T: Number>(
    engine: &AnyEngine,
    op: Reduction,
    inputs: [&[T]; 2],
    size: [usize; 3],
) -> Outcome {
    let what = format!("{op:?} {size:?} {:?} {:?}", inputs[0].first(), inputs[0].last());
    let operation = (op, size_of::<T>(), magnitude_of(&size));
    let (shape, numbers) = ((size_of_check(engine, size), size_of::<T>()), (op, inputs[0].first(), size_of::<T>()));
    if !selection::takes(&what, &[&operation, &shape, &numbers]) {
        return Ok(());
    }
    let results = |engine: &AnyEngine| -> Result<Vec<T>, String> {
        let first = array_with(engine, inputs[0]).map_err(show)?;
        let second = op.of_two().then(|| array_with(engine, inputs[1])).transpose().map_err(show)?;
        // Between other arrays, which must stay unchanged.
        let mut room = blank::<T>(size[0] * size[2] + 2);
        let to = 1..room.len() - 1;
        let watch = Watch::new();
        let results = Target::Host(&mut room[to.clone()]);
        engine.reduce(op, &first, second.as_ref(), size, results, &watch).map_err(show)?;
        let around = [room[0], room[to.end]];
        compare(&around, &blank(2)).map_err(|error| format!("written outside: {error}"))?;
        let mut held = array_with(engine, &blank::<T>(to.len())).map_err(show)?;
        let results = Target::Array(&mut held);
        engine.reduce(op, &first, second.as_ref(), size, results, &watch).map_err(show)?;
        let held = contents(engine, &held).map_err(show)?;
        compare(&held, &room[to.clone()]).map_err(|error| format!("to an array: {error}"))?;
        if watch.done() > 0 {
            return Err(format!("{} elements were counted", watch.done()));
        }
        for (array, input) in [Some(&first), second.as_ref()].into_iter().flatten().zip(inputs) {
            compare(&contents(engine, array).map_err(show)?, input)
                .map_err(|error| format!("an input was changed: {error}"))?;
        }
        Ok(room[to].to_vec())
    };
    let of_engine = results(engine).and_then(|got| compare(&got, &results(&Reference)?));
    of_engine.map_err(|error| format!("{op:?} of {size:?}: {error}"))
}

/// Pairs of inputs, each of which tells some reductions apart.
fn telling<T: Number>(count: usize) -> Vec<[Vec<T>; 2]> {
    let (zero, nan) = (T::default(), T::from_f64(f64::NAN));
    let only = |value: T| vec![value; count];
    let one_at = |place: usize, value: T, others: T| {
        let mut all = only(others);
        all.get_mut(place).into_iter().for_each(|element| *element = value);
        all
    };
    let zeros = || (0..count).map(|i| if i * 7 % 5 < 2 { zero } else { zero.negative() }).collect::<Vec<T>>();
    let mut signs = zeros();
    signs.reverse();
    let tiny = T::from_f64(1e-40);
    vec![
        [cancelling(count, 1), cancelling(count, 2)],
        [numbers(count, 3), numbers(count, 4)],
        [only(nan), only(nan)],
        [zeros(), signs],
        [only(zero.negative()), only(T::ONE)],
        // Products that vanish, with a sign.
        [only(tiny.negative()), only(T::from_f64(f64::MIN_POSITIVE * 4.0))],
        [one_at(count / 2, nan, zero), one_at(count.saturating_sub(1), T::ONE, zero)],
        [one_at(count.saturating_sub(1), zero, T::ONE), only(T::ONE)],
        [one_at(0, zero.negative(), nan), only(nan)],
    ]
}

pub(super) fn reductions_of_a_line<T: Number>(engine: &AnyEngine) -> Outcome {
    let short = [0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000, 1023, 1024, 1025, 1056, 2047, 2048, 5000];
    let long = [31 * 1024, 32 * 1024 + 1, 40_000];
    let lengths = if is_slow(engine) { short.to_vec() } else { [&short[..], &long].concat() };
    for length in lengths {
        let inputs = telling::<T>(length);
        let few = if is_slow(engine) && length > 100 { 2 } else { inputs.len() };
        for op in REDUCTIONS {
            for [first, second] in &inputs[..few] {
                check_reduction(engine, op, [first, second], [1, length, 1])?;
            }
        }
    }
    if !is_slow(engine) {
        // So long that the results of chunks fall into chunks.
        let length = 1024 * 1024 + 7;
        let inputs = [cancelling::<T>(length, 1), cancelling(length, 2)];
        for op in REDUCTIONS {
            check_reduction(engine, op, [&inputs[0], &inputs[1]], [1, length, 1])?;
        }
    }
    Ok(())
}

pub(super) fn reductions_of_many<T: Number>(engine: &AnyEngine) -> Outcome {
    let most = if is_slow(engine) { 4000 } else { 20_000 };
    let mut sizes = vec![[0, 5, 3], [3, 5, 0], [3, 0, 2], [0, 0, 0]];
    for inner in [1, 2, 3, 32, 127, 128, 129, 300] {
        for length in [0, 1, 3, 31, 32, 33, 63, 64, 65, 1024, 1025, 2100] {
            sizes.extend([1, 2, 3, 63, 64, 65, 130].map(|outer| [inner, length, outer]));
        }
    }
    sizes.retain(|size| elements(size) <= most && size[0] * size[2] <= most / 4);
    if is_slow(engine) {
        sizes = sizes.into_iter().step_by(7).collect();
    } else {
        // Enough for all threads.
        sizes.extend([[1, 50, 6000], [3, 2500, 40], [130, 2100, 2], [1000, 300, 1], [1, 1500, 200]]);
    }
    for (number, size) in sizes.into_iter().enumerate() {
        let inputs = telling::<T>(elements(&size));
        for op in REDUCTIONS {
            for inputs in [&inputs[0], &inputs[1 + number % (inputs.len() - 1)]] {
                check_reduction(engine, op, [&inputs[0], &inputs[1]], size)?;
            }
        }
    }
    Ok(())
}

/// Any size, any reduction.
pub(super) fn reduction_properties<T: Number>(engine: &AnyEngine) -> Outcome {
    let (inner, length) = (prop_oneof![1..6_usize, 100..300_usize], prop_oneof![0..40_usize, 900..2200_usize]);
    let strategy = (inner, length, 1..5_usize, proptest::sample::select(&REDUCTIONS[..]), any::<bool>());
    let most = if is_slow(engine) { 4000 } else { 200_000 };
    run_properties(if is_slow(engine) { 30 } else { 150 }, &strategy, |(inner, length, outer, op, special)| {
        let inner = inner.min(most / (length * outer).max(1)).max(1);
        let size = [inner, length, outer];
        let of = if special { numbers::<T> } else { cancelling::<T> };
        let inputs = [of(elements(&size), 1), of(elements(&size), 2)];
        check_reduction(engine, op, [&inputs[0], &inputs[1]], size)
    })
}
