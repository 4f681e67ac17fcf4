//! Verbs that record, compile and run steps, behind `DeviceArray.iterate` and `DeviceArray.compile`.

use super::class;
use super::make::sizes;
use super::operands::home_of;
use super::run::{DynEngine, keep, upload};
use super::{held, value};
use crate::gateway::dims::trimmed;
use crate::gateway::options::value_text;
use crate::gateway::store::recordings::ArrayType;
use crate::gateway::store::{Home, Numbers, StoredArray, random, steps};
use crate::mex::{Argument, Class, Effort, Error, Reply, Value};
use crate::platform::watch::Watch;
use crate::stencil;
use crate::steps::{Pages, Run, Shape, Values};

/// Reads a whole number from 0; `what` names it in errors.
pub(super) fn whole(argument: &Argument, what: &str) -> Result<u64, Error> {
    let number = argument.scalar().filter(|number| number.fract() == 0.0 && (0.0..=2_f64.powi(53)).contains(number));
    let text = || format!("{what} is a whole number from 0, and this is {}.", value_text(argument));
    number.map(|number| number as u64).ok_or_else(|| Error::new("option", text()))
}

/// Reads the number of a step.
pub(super) fn number(argument: &Argument) -> Result<u64, Error> {
    whole(argument, "A step")
}

/// Begins to record a step over arrays that lie where `like` does: a new one, or step `again` anew.
pub(super) fn record<'a>(like: &Argument, again: Option<&Argument>) -> Result<Reply<'a>, Error> {
    let number = steps::open(held(like)?.home, again.map(number).transpose()?)?;
    Ok(value(Value::Double(number as f64)))
}

/// Makes an argument of the step under recording, like this array or of other dimensions.
pub(super) fn argument<'a>(step: &Argument, like: &Argument, dims: Option<&Argument>) -> Result<Reply<'a>, Error> {
    let (number, like) = (number(step)?, held(like)?);
    let dims = dims.map_or_else(|| Ok(like.dims.clone()), sizes)?;
    let argument = steps::argument(number, like, dims)?;
    // Nothing runs: the argument is stored as it is.
    keep(argument.home, 0, move |_, _, _| Ok(argument))
}

/// Reads a row of `N` whole numbers.
fn wholes<const N: usize>(argument: &Argument) -> Result<[usize; N], Error> {
    let wrong = || Error::new("option", format!("{argument} is no row of {N} whole numbers."));
    let numbers = argument.doubles().filter(|numbers| numbers.len() == N).ok_or_else(wrong)?;
    let mut wholes = [0; N];
    for (whole, number) in wholes.iter_mut().zip(numbers) {
        if !(number.fract() == 0.0 && (0.0..=2_f64.powi(53)).contains(number)) {
            return Err(wrong());
        }
        *whole = *number as usize;
    }
    Ok(wholes)
}

/// Sets the seed of random numbers, and the number of the next draw.
pub(super) fn set_random<'a>(state: &Argument) -> Result<Reply<'a>, Error> {
    let [seed, number] = wholes(state)?;
    let wrong = || Error::new("option", format!("A seed is a whole number from 0 below 2^32, and this is {seed}."));
    let seed = u32::try_from(seed).map_err(|_| wrong())?;
    random::set(random::State { seed, number: number as u64 });
    Ok(value(Value::Empty))
}

/// Ends a recording. Returns the number of kernels and other operations in the step, and 1 if a state changes its
/// class. `shape` counts the results: states, records, and the condition that ends the run, if any.
pub(super) fn finish<'a>(step: &Argument, shape: &Argument, results: &[Argument]) -> Result<Reply<'a>, Error> {
    let [states, records, until] = wholes(shape)?;
    if states + records + until != results.len() || states == 0 || until > 1 {
        return Err(Error::new("option", format!("{} results for that many of each kind.", results.len())));
    }
    let home = home_of(results)?.outside();
    let results = results.iter().map(held).collect::<Result<_, _>>()?;
    let (stages, changes) = steps::finish(number(step)?, home, results, Shape { states, records, until: until == 1 })?;
    Ok(value(Value::Row(vec![stages as f64, f64::from(u8::from(changes))])))
}

/// Deletes a step, or only its recording.
pub(super) fn forget<'a>(step: &Argument, recording: bool) -> Result<Reply<'a>, Error> {
    steps::forget(number(step)?, recording);
    Ok(value(Value::Empty))
}

/// Refuses a condition on an array, with the reason that only the recording knows.
pub(super) fn condition<'a>(array: &Argument) -> Result<Reply<'a>, Error> {
    steps::condition(&held(array)?)?;
    Ok(value(Value::Empty))
}

/// Runs steps from these states. `times` has the number of steps, those before this run and those in all; the intervals
/// at which states are kept and the end is tested; and 1 to show progress. `values` has the numbers of each step in a
/// column; otherwise arrays follow the states, with a page for each step in all. One more output is the number of steps
/// done, and 1 if a condition ended the run.
pub(super) fn run<'a>(
    step: &Argument,
    times: &Argument,
    values: &Argument,
    arrays: &'a [Argument],
    outputs: usize,
) -> Result<Reply<'a>, Error> {
    let compiled = steps::compiled(number(step)?)?;
    let [times, before, total, every, check, progress] = wholes(times)?;
    let (states, pages) = arrays.split_at(compiled.states().min(arrays.len()));
    let home = home_of(states)?;
    let states: Vec<StoredArray> = states.iter().map(held).collect::<Result<_, _>>()?;
    let (shapes, values) = match StoredArray::of(values)? {
        Some(_) if !pages.is_empty() => return Err(Error::new("option", "A step has numbers or pages, and not both.")),
        Some(values) => numbers_of(values, home, times)?,
        None => {
            let steps = before.saturating_add(times);
            let pages = pages.iter().map(|array| pages_of(array, home, steps)).collect::<Result<Vec<_>, _>>()?;
            let (shapes, pages) = pages.into_iter().unzip();
            (shapes, Values::Pages(pages))
        }
    };
    compiled.fits(&states, &shapes, times)?;
    let of_pages = shapes.iter().map(|shape| shape.dims.iter().product()).max().unwrap_or(0);
    let run = Run { steps: times, before, total, every, check: check.max(1), values };
    take(compiled, states, run, RunOptions { home, outputs, elements: of_pages, progress: progress > 0 })
}

/// Runs a compiled step once from these states. Returns `None` if it does not fit them, or none of them is on a device.
pub(super) fn step<'a>(step: &Argument, states: &'a [Argument], outputs: usize) -> Result<Option<Reply<'a>>, Error> {
    let Ok(compiled) = steps::compiled(number(step)?) else { return Ok(None) };
    let Ok(home) = home_of(states) else { return Ok(None) };
    let Some(states) = states.iter().map(StoredArray::of).collect::<Result<Option<Vec<_>>, _>>()? else {
        return Ok(None);
    };
    if outputs > states.len() || compiled.fits(&states, &[], 1).is_err() {
        return Ok(None);
    }
    let run = Run { steps: 1, before: 0, total: 1, every: 0, check: 1, values: Values::Pages(Vec::new()) };
    take(compiled, states, run, RunOptions { home, outputs, elements: 0, progress: false }).map(Some)
}

/// The place of a run, and its outputs.
struct RunOptions {
    home: Home,
    outputs: usize,
    /// Elements of the longest array that is no state.
    elements: usize,
    progress: bool,
}

/// Runs the steps of `run` from states that fit.
fn take<'a>(
    compiled: steps::Compiled,
    states: Vec<StoredArray>,
    run: Run<'a>,
    options: RunOptions,
) -> Result<Reply<'a>, Error> {
    let RunOptions { home, outputs, elements, progress } = options;
    let elements = states.iter().map(StoredArray::len).max().unwrap_or(0).max(elements);
    let updates = (elements as u64).saturating_mul(run.steps as u64);
    let work = updates.saturating_mul(16);
    let effort = Effort { updates, work, calls: run.steps as u64, long: updates >= 1 << 22, progress };
    let make = move |engine: &DynEngine, home, watch: &Watch| {
        let states: Vec<Numbers> = states.into_iter().map(|state| state.numbers).collect();
        let ran = compiled.run(engine, states, &run, watch)?;
        let counts = [ran.steps as f64, f64::from(u8::from(ran.ended))];
        let mut results = compiled.results(ran).map_err(|error| stencil::Error::OutOfMemory(error.text))?;
        if outputs > results.len() {
            let counts = upload(engine, &counts, watch)?;
            results.push(StoredArray::new(home, vec![1, 2], counts));
        }
        results.truncate(outputs.max(1));
        Ok(results)
    };
    Ok(home.choose()?.held_all(home.effort(effort), Box::new(make)))
}

/// Returns the types and the values of the numbers of each step, from an array with a column for each step.
fn numbers_of<'a>(values: StoredArray, home: Home, times: usize) -> Result<(Vec<ArrayType>, Values<'a>), Error> {
    let count = values.dims[0];
    if values.home != home || count.checked_mul(times).is_none_or(|all| all > values.len()) {
        return Err(Error::new("size", format!("{values} has no column for each of {times} steps.")));
    }
    let one = ArrayType { dims: vec![1, 1], ..values.array_type() };
    Ok((vec![one; count], Values::Numbers(values.numbers, count)))
}

/// Returns the type of a page and the pages of an array whose last dimension is the step.
///
/// # Errors
/// `dataType` for an array of an unsupported class, or that lies elsewhere; `size` for fewer pages than steps.
fn pages_of<'a>(array: &'a Argument, home: Home, steps: usize) -> Result<(ArrayType, Pages<'a>), Error> {
    let (count, page, pages) = match StoredArray::of(array)? {
        Some(held) if held.home != home => {
            let text = format!("A step lies in {home}, its pages in {}: gather them first.", held.home);
            return Err(Error::new("dataType", text));
        }
        Some(held) => {
            let (count, page) = page_of(held.array_type());
            let pages = Pages::held(held.numbers, page.dims.iter().product());
            (count, page, pages)
        }
        None => {
            let (class, upload) = class::parts_of_host("the array of pages", array)?;
            let (count, page) =
                page_of(ArrayType { dims: array.dims().to_vec(), class, single: class == Class::Single });
            let pages = Pages::of_host(upload, page.single, page.dims.iter().product());
            (count, page, pages)
        }
    };
    if count < steps {
        return Err(Error::new("size", format!("{array} has no page for each of {steps} steps.")));
    }
    Ok((page, pages))
}

/// Returns the number of pages along an array's last dimension, and the type of one.
fn page_of(mut array: ArrayType) -> (usize, ArrayType) {
    let count = array.dims.pop().unwrap_or(0);
    array.dims = trimmed(array.dims);
    let rank = array.dims.len().max(2);
    array.dims.resize(rank, 1);
    (count, array)
}
