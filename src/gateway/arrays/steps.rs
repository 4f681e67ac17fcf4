//! Verbs of steps: recorded, compiled, run. What is behind `DeviceArray.iterate` and `DeviceArray.compile`.

use std::sync::PoisonError;

use super::super::steps;
use super::super::store::{Numbers, StoredArray};
use super::operands::home_of;
use super::{held, value};
use crate::mex::{Argument, Effort, Error, Reply, Value};

/// A whole number from 0; `what` is what errors call it.
fn whole(argument: &Argument, what: &str) -> Result<u64, Error> {
    let number = argument.scalar().filter(|number| number.fract() == 0.0 && (0.0..=2_f64.powi(53)).contains(number));
    number.map(|number| number as u64).ok_or_else(|| {
        let got = argument.scalar().map_or_else(|| argument.to_string(), super::super::options::number_text);
        Error::new("option", format!("{what} is a whole number from 0, and this is {got}."))
    })
}

/// The number of a step.
fn number(argument: &Argument) -> Result<u64, Error> {
    whole(argument, "A step")
}

/// Begins to record a step over arrays that lie where this one does.
pub(super) fn record<'a>(like: &Argument) -> Result<Reply<'a>, Error> {
    let number = steps::open(held(like)?.home)?;
    Ok(value(Value::Double(number as f64)))
}

/// An argument of the step that is being recorded, like this array.
pub(super) fn argument<'a>(step: &Argument, like: &Argument) -> Result<Reply<'a>, Error> {
    let argument = steps::argument(number(step)?, held(like)?)?;
    // Nothing runs: it is kept as it is.
    super::run::keep(argument.home, 0, move |_, _, _| Ok(argument))
}

/// Ends a recording: how many kernels and other operations the step is.
pub(super) fn finish<'a>(step: &Argument, results: &[Argument]) -> Result<Reply<'a>, Error> {
    let home = home_of(results)?.outside();
    let results = results.iter().map(held).collect::<Result<_, _>>()?;
    let stages = steps::finish(number(step)?, home, results)?;
    Ok(value(Value::Double(stages as f64)))
}

/// Gives up a step.
pub(super) fn forget<'a>(step: &Argument) -> Result<Reply<'a>, Error> {
    steps::forget(number(step)?);
    Ok(value(Value::Empty))
}

/// So many steps from these arguments.
pub(super) fn run<'a>(step: &Argument, times: &Argument, arguments: &[Argument]) -> Result<Reply<'a>, Error> {
    let compiled = steps::compiled(number(step)?)?;
    let times = whole(times, "A number of steps")? as usize;
    let home = home_of(arguments)?;
    let arguments: Vec<StoredArray> = arguments.iter().map(held).collect::<Result<_, _>>()?;
    let elements = arguments.iter().map(StoredArray::len).max().unwrap_or(0);
    let updates = (elements as u64).saturating_mul(times as u64);
    let effort = Effort {
        updates,
        work: updates.saturating_mul(16),
        calls: times as u64,
        long: updates >= 1 << 22,
        progress: false,
    };
    Ok(home.choose()?.held_all(true, home.effort(effort), move |engine, _, watch| {
        let arguments: Vec<Numbers> = arguments.into_iter().map(|argument| argument.numbers).collect();
        let mut step = compiled.step.lock().unwrap_or_else(PoisonError::into_inner);
        let results = step.run(engine, arguments, times, watch, |_, _| Ok(true))?;
        Ok(compiled.results(results))
    }))
}
