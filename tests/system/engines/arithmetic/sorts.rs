//! Lines in order.

use std::sync::Arc;

use proptest::prelude::*;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Compute, Number, Order, Places, Reference, Target};

use super::super::checks::{Outcome, is_slow, magnitude_of, run_properties, size_of_check};
use super::{blank, check_arrays, compare, elements, numbers, show, specials};
use crate::common::ends::{AnyEngine, array_with, contents};
use crate::common::selection;

const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];

fn check_sort<T: Number>(engine: &AnyEngine, order: Order, input: &[T], size: [usize; 3]) -> Outcome {
    let what = format!("{order:?} {size:?} {:?}", input.last());
    let operation = (order, size_of::<T>(), magnitude_of(&size));
    let (shape, numbers) = ((size_of_check(engine, size), size_of::<T>()), (order, input.first(), size_of::<T>()));
    if !selection::takes(&what, &[&operation, &shape, &numbers]) {
        return Ok(());
    }
    check_arrays(engine, &[input], &blank::<T>(input.len()), input.len(), |engine, from, to, watch| {
        let places = engine.sort(order, &from[0], size, to, false, watch)?;
        assert!(places.is_none(), "places that nobody wanted");
        Ok(())
    })
    .map_err(|error| format!("{order:?} of {size:?}: {error}"))?;
    let with_places = |engine: &AnyEngine| -> Result<[Vec<T>; 2], String> {
        let from = array_with(engine, input).map_err(show)?;
        let mut to = array_with(engine, &blank::<T>(input.len())).map_err(show)?;
        let watch = Watch::new();
        let places = engine.sort(order, &from, size, &mut to, true, &watch).map_err(show)?;
        let places = places.ok_or("no places")?;
        let sorted = contents(engine, &to).map_err(show)?;
        let mut told = blank::<T>(input.len());
        engine.ordinals(&places, Target::Host(&mut told).into(), &watch).map_err(show)?;
        if watch.done() != 2 * input.len() as u64 {
            return Err(format!("{} elements were counted", watch.done()));
        }
        if size[0] * size[2] == 1 && places.are_distinct() {
            // In an array of one line, they are places in the array.
            let mut picked = blank::<T>(input.len());
            let places = Places::Held(Arc::new(places));
            engine.pick(&from, &places, Target::Host(&mut picked), &watch).map_err(show)?;
            compare(&picked, &sorted).map_err(|error| format!("what is picked there: {error}"))?;
        }
        Ok([sorted, told])
    };
    let (got, want) = (with_places(engine), with_places(&Reference)?);
    got.and_then(|got| {
        compare(&got[0], &want[0])?;
        compare(&got[1], &want[1]).map_err(|error| format!("places: {error}"))
    })
    .map_err(|error| format!("{order:?} of {size:?}, with places: {error}"))
}

/// Numbers with many duplicates, zeros of either sign and NaN.
fn repeated<T: Number>(count: usize) -> Vec<T> {
    let few: Vec<T> = [2.0, -1.0, 0.0, -0.0, 0.5, f64::NAN, -3.0, -0.0, f64::INFINITY].map(T::from_f64).to_vec();
    (0..count).map(|i| few[i * 31 % 101 % few.len()]).collect()
}

fn check_size<T: Number>(engine: &AnyEngine, size: [usize; 3]) -> Outcome {
    let (count, special) = (elements(&size), specials::<T>());
    for order in ORDERS {
        check_sort(engine, order, &numbers::<T>(count, 1), size)?;
        check_sort(engine, order, &repeated::<T>(count), size)?;
        let mixed = numbers::<T>(count, 2).into_iter().enumerate();
        let mixed = mixed.map(|(i, x)| if i % 3 == 0 { special[i * 7 % special.len()] } else { x });
        check_sort(engine, order, &mixed.collect::<Vec<_>>(), size)?;
    }
    Ok(())
}

pub(super) fn sorts<T: Number>(engine: &AnyEngine) -> Outcome {
    let most = if is_slow(engine) { 5000 } else { 20_000 };
    let mut sizes = vec![[0, 5, 3], [3, 5, 0], [3, 0, 2], [0, 0, 0], [1, 0, 1]];
    for length in [1, 2, 7, 8, 9, 31, 32, 33, 255, 257, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097] {
        for inner in [1, 3, 40] {
            sizes.extend([1, 2, 7, 300, 2050].map(|outer| [inner, length, outer]));
        }
    }
    sizes.retain(|size| elements(size) <= most);
    // Lines of several tiles; and, elsewhere, of several pieces, which are merged.
    sizes.extend([[1, 9000, 1], [2, 5000, 2]]);
    if !is_slow(engine) {
        sizes.extend([[1, 32_769, 2], [1, 100_003, 1], [3, 70_000, 1], [1, 300, 600], [500, 90, 3]]);
    }
    sizes.into_iter().try_for_each(|size| check_size::<T>(engine, size))
}

/// Any size.
pub(super) fn sort_properties<T: Number>(engine: &AnyEngine) -> Outcome {
    let most = if is_slow(engine) { 3000 } else { 50_000 };
    let length = prop_oneof![2 => 1..70_usize, 1 => 1..12_000_usize];
    run_properties(
        if is_slow(engine) { 15 } else { 60 },
        &(1..5_usize, length, 1..400_usize),
        |(inner, length, outer)| {
            let length = length.min(most);
            let outer = outer.min(most / length).max(1);
            check_size::<T>(engine, [inner.min(most / (length * outer)).max(1), length, outer])
        },
    )
}
