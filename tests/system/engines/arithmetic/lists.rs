//! Places that an engine finds, and lists of them that it holds.

use std::sync::Arc;

use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Compute, Error, Extreme, Indices, Number, Places, Reduction, Reference, Source, Target};

use super::super::checks::{Outcome, is_slow, magnitude_of, size_of_check};
use super::{blank, compare, elements, numbers, show};
use crate::common::ends::{AnyEngine, array_with, contents};
use crate::common::selection;

/// Returns the entries of a list, counted from 1 as hosts do, seen at both ends.
fn ordinals<T: Number>(engine: &AnyEngine, indices: &Indices) -> Result<Vec<T>, String> {
    let (mut to, watch) = (blank::<T>(indices.len()), Watch::new());
    engine.ordinals(indices, Target::Host(&mut to).into(), &watch).map_err(show)?;
    let mut held = array_with(engine, &blank::<T>(indices.len())).map_err(show)?;
    engine.ordinals(indices, (&mut held).into(), &watch).map_err(show)?;
    compare(&contents(engine, &held).map_err(show)?, &to).map_err(|error| format!("to an array: {error}"))?;
    if watch.done() != 2 * indices.len() as u64 {
        return Err(format!("{} numbers were counted", watch.done()));
    }
    Ok(to)
}

/// Has `run` give lists of numbers on the engine and on the reference, and compares them.
fn check<T: Number>(engine: &AnyEngine, run: impl Fn(&AnyEngine) -> Result<Vec<Vec<T>>, String>) -> Outcome {
    let (got, want) = (run(engine)?, run(&Reference).map_err(|error| format!("the reference: {error}"))?);
    got.iter()
        .zip(&want)
        .enumerate()
        .try_for_each(|(number, (got, want))| compare(got, want).map_err(|error| format!("result {number}: {error}")))
}

fn check_extremes<T: Number>(engine: &AnyEngine, input: &[T], size: [usize; 3]) -> Outcome {
    for which in [Extreme::Smallest, Extreme::Largest] {
        let what = format!("{which:?} {size:?} {:?}", input.last());
        let operation = (which, size_of::<T>(), magnitude_of(&size));
        let (shape, numbers) = ((size_of_check(engine, size), size_of::<T>()), (which, input.first(), size_of::<T>()));
        if !selection::takes(&what, &[&operation, &shape, &numbers]) {
            continue;
        }
        check::<T>(engine, |engine| {
            let from = array_with(engine, input).map_err(show)?;
            let (mut room, watch) = (blank::<T>(size[0] * size[2] + 2), Watch::new());
            let to = 1..room.len() - 1;
            let results = Target::Host(&mut room[to.clone()]);
            let places = engine.extremes(which, &from, size, results, &watch).map_err(show)?;
            let mut held = array_with(engine, &blank::<T>(to.len())).map_err(show)?;
            let results = Target::Array(&mut held);
            let again = engine.extremes(which, &from, size, results, &watch).map_err(show)?;
            if watch.done() > 0 || places.bound() != size[1].max(1) {
                return Err(format!("{} were counted, and places are below {}", watch.done(), places.bound()));
            }
            compare(&contents(engine, &from).map_err(show)?, input)?;
            let held = contents(engine, &held).map_err(show)?;
            Ok(vec![room, held, ordinals(engine, &places)?, ordinals(engine, &again)?])
        })
        .map_err(|error| format!("{which:?} of {size:?}: {error}"))?;
    }
    Ok(())
}

pub(super) fn extremes_of_lines<T: Number>(engine: &AnyEngine) -> Outcome {
    let (zero, nan) = (T::default(), T::from_f64(f64::NAN));
    let most = if is_slow(engine) { 4000 } else { 30_000 };
    let mut sizes = vec![[0, 5, 3], [3, 5, 0], [3, 0, 2], [0, 0, 0], [1, 0, 1]];
    for length in [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000, 1024, 1025, 2100] {
        for inner in [1, 2, 33, 128, 129] {
            sizes.extend([1, 2, 65].map(|outer| [inner, length, outer]));
        }
    }
    sizes.retain(|size| elements(size) <= most);
    if !is_slow(engine) {
        sizes.extend([[1, 1024 * 1024 + 7, 1], [3, 70_000, 1], [1, 9, 20_000], [300, 300, 2], [1, 40_000, 3]]);
    }
    for size in sizes {
        let count = elements(&size);
        // Few distinct numbers, each often; then distinct ones.
        let few = (0..count).map(|i| T::from_f64((i * i % 97 % 5) as f64));
        check_extremes(engine, &few.collect::<Vec<_>>(), size)?;
        check_extremes(engine, &numbers::<T>(count, 1), size)?;
        let gaps = numbers::<T>(count, 2).into_iter().enumerate();
        check_extremes(engine, &gaps.map(|(i, x)| if i % 5 < 3 { nan } else { x }).collect::<Vec<_>>(), size)?;
        check_extremes(engine, &vec![nan; count], size)?;
        let zeros = (0..count).map(|i| if i * 7 % 5 < 2 { zero } else { zero.negative() });
        check_extremes(engine, &zeros.collect::<Vec<_>>(), size)?;
        let mut last = vec![nan; count];
        last.last_mut().into_iter().for_each(|last| *last = T::from_f64(f64::INFINITY));
        check_extremes(engine, &last, size)?;
    }
    Ok(())
}

/// Finds places, and reads and writes there.
fn check_found<T: Number>(engine: &AnyEngine, mask: &[T]) -> Outcome {
    let whole = numbers::<T>(mask.len() + 3, 5);
    check::<T>(engine, |engine| {
        let (from, watch) = (array_with(engine, mask).map_err(show)?, Watch::new());
        let found = engine.find((&from).into(), &watch).map_err(show)?;
        if watch.done() > 0 || !found.are_distinct() || found.bound() != mask.len() {
            return Err(format!("{} were counted of {found:?}", watch.done()));
        }
        let ordinals = ordinals(engine, &found)?;
        let (count, places) = (found.len(), Places::Held(Arc::new(found)));
        let from = array_with(engine, &whole).map_err(show)?;
        let (mut picked, mut held) = (blank::<T>(count), array_with(engine, &blank::<T>(count)).map_err(show)?);
        engine.pick(&from, &places, Target::Host(&mut picked), &watch).map_err(show)?;
        engine.pick(&from, &places, Target::Array(&mut held), &watch).map_err(show)?;
        let (mut first, mut second) =
            (array_with(engine, &whole).map_err(show)?, array_with(engine, &whole).map_err(show)?);
        let values = numbers::<T>(count, 6);
        engine.put(Source::Host(&values), &places, &mut first, &watch).map_err(show)?;
        let values = array_with(engine, &values).map_err(show)?;
        engine.put(Source::Array(&values), &places, &mut second, &watch).map_err(show)?;
        if watch.done() != 4 * count as u64 {
            return Err(format!("{} were counted, not four times {count}", watch.done()));
        }
        let [held, first, second] = [&held, &first, &second].map(|array| contents(engine, array).map_err(show));
        Ok(vec![ordinals, picked, held?, first?, second?])
    })
    .map_err(|error| format!("places in {}: {error}", mask.len()))
}

pub(super) fn found_places<T: Number>(engine: &AnyEngine) -> Outcome {
    let (zero, nan) = (T::default(), T::from_f64(f64::NAN));
    let mut lengths = vec![0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 5000];
    if !is_slow(engine) {
        // Enough warps for several chunks of their counts.
        lengths.extend([70_001, 1_100_000]);
    }
    for length in lengths {
        check_found(engine, &vec![zero.negative(); length])?;
        check_found(engine, &vec![nan; length])?;
        for every in [2, 3, 100, 3000] {
            let mask = (0..length).map(|i| if i * i % every == 1 { T::from_f64(-0.5) } else { zero });
            check_found(engine, &mask.collect::<Vec<_>>())?;
        }
    }
    repeated::<T>(engine)?;
    foreign_list::<T>(engine)
}

/// Places of a list in which some come twice: of those that are written, the last counts.
fn repeated<T: Number>(engine: &AnyEngine) -> Outcome {
    let size = [40, 30, 1];
    check::<T>(engine, |engine| {
        let (from, watch) = (array_with(engine, &numbers::<T>(elements(&size), 1)).map_err(show)?, Watch::new());
        let mut largest = blank::<T>(size[0]);
        let results = Target::Host(&mut largest);
        let places = engine.extremes(Extreme::Largest, &from, size, results, &watch);
        let places = Places::Held(Arc::new(places.map_err(show)?));
        let mut to = array_with(engine, &numbers::<T>(size[1], 2)).map_err(show)?;
        let values = numbers::<T>(size[0], 3);
        engine.put(Source::Host(&values), &places, &mut to, &watch).map_err(show)?;
        // The largest of each line once more, by another way.
        let mut again = blank::<T>(size[0]);
        let results = Target::Host(&mut again);
        engine.reduce(Reduction::Max, &from, None, size, results, &watch).map_err(show)?;
        compare(&again, &largest)?;
        Ok(vec![contents(engine, &to).map_err(show)?])
    })
    .map_err(|error| format!("places that come twice: {error}"))
}

/// A list of another engine is refused.
fn foreign_list<T: Number>(engine: &AnyEngine) -> Outcome {
    if engine.name() != "cuda" {
        return Ok(());
    }
    let ones = vec![T::ONE; 10];
    let other = array_with(&Reference, &ones).map_err(show)?;
    let list = (&Reference as &AnyEngine).find((&other).into(), &Watch::new()).map_err(show)?;
    let (list, mut own) = (Arc::new(list), array_with(engine, &ones).map_err(show)?);
    let mut to = blank::<T>(10);
    let watch = Watch::new();
    let outcomes = [
        engine.ordinals(&list, Target::Host(&mut to).into(), &watch),
        engine.put(Source::Host(&ones), &Places::Held(list.clone()), &mut own, &watch),
        engine.pick(&own, &Places::Held(list), Target::Host(&mut to), &watch),
    ];
    match outcomes.iter().all(|outcome| matches!(outcome, Err(Error::Foreign(_)))) {
        true => Ok(()),
        false => Err(format!("a list of another engine: {outcomes:?}")),
    }
}
