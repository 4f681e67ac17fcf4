//! Steps of a solver, by their numbers: recorded over stored arrays, and compiled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::random;
use super::recordings::{self, ArrayType, ArrayTypes};
use crate::gateway::dims;
use crate::gateway::store::{Home, Numbers, StoredArray, next_number};
use crate::mex::{Argument, Class, Error};
use crate::platform::process::PerProcess;
use crate::platform::watch::Watch;
use crate::stencil::{self, Array, Compute, Engine};
use crate::steps::{Ran, Recording, Run, Shape, Step};

/// A step that is ready to run.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub(crate) home: Home,
    pub(crate) step: Arc<Mutex<Step>>,
    /// Types of its arguments, then of its results.
    arguments: ArrayTypes,
    shapes: ArrayTypes,
    shape: Shape,
    drawn: Option<Draws>,
}

/// The random numbers of a step.
#[derive(Clone, Copy)]
struct Draws {
    /// Number of draws in a step.
    of_step: usize,
    /// Seed at the time of the recording.
    seed: u32,
}

fn ready() -> MutexGuard<'static, HashMap<u64, Compiled>> {
    static READY: PerProcess<Mutex<HashMap<u64, Compiled>>> = PerProcess::new();
    READY.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to record a step over arrays in `home`. Returns its number: a new one, or that of the step recorded `again`.
///
/// # Errors
/// `trace` for arrays of a step under recording.
pub(crate) fn open(home: Home, again: Option<u64>) -> Result<u64, Error> {
    if home.step().is_some() {
        let text =
            "A step cannot be compiled or iterated inside a step that is being recorded: call the function itself.";
        return Err(Error::new("trace", text));
    }
    let number = match again {
        Some(number) => compiled(number).map(|_| number)?,
        None => next_number(),
    };
    recordings::open(number, home.device(), Recording::new());
    Ok(number)
}

/// Makes an argument of the step under recording, of the class of this array and of these dimensions.
pub(crate) fn argument(number: u64, like: StoredArray, dims: Vec<usize>) -> Result<StoredArray, Error> {
    let recording = recordings::find(number)?;
    let numbers = recording.argument(like.numbers.is_single(), dims.iter().product());
    recordings::add_argument(number, ArrayType { dims: dims.clone(), ..like.array_type() });
    Ok(StoredArray { home: like.home.of_step(number), dims, numbers, ..like })
}

/// Brings an array from outside into a step under recording.
///
/// # Errors
/// `trace` if the recording has ended.
pub(crate) fn lifted(held: StoredArray, home: Home) -> Result<StoredArray, Error> {
    let Some(number) = home.step().filter(|_| held.home == home.outside()) else { return Ok(held) };
    let recording = recordings::find(number)?;
    Ok(StoredArray { home, numbers: recording.of_known(held.numbers), ..held })
}

/// Checks that an index has values.
///
/// # Errors
/// `trace` if a step under recording computes it.
pub(crate) fn check_index(index: &StoredArray) -> Result<(), Error> {
    let Some(number) = index.home.step().filter(|_| index.is_computed()) else { return Ok(()) };
    Err(recordings::find(number)?.asks_for_values("An index that the step computes").into())
}

/// Returns a mask that a step under recording computes, as the only index of an array of `elements` elements.
///
/// # Errors
/// `deleted`; `trace` for a mask of another number of elements.
pub(crate) fn mask_of(index: &Argument, elements: usize) -> Result<Option<StoredArray>, Error> {
    let mask = StoredArray::of(index)?.filter(|mask| mask.class == Class::Logical && mask.is_computed());
    match mask {
        Some(mask) if mask.len() != elements => {
            let text =
                format!("A mask that a step computes has as many elements as the array, {elements}; this is {mask}.");
            Err(recording_of(&mask)?.refused(text).into())
        }
        mask => Ok(mask),
    }
}

/// Returns the elements of an array that a mask picks.
///
/// # Errors
/// `trace`.
pub(crate) fn picked(array: &StoredArray, mask: &StoredArray) -> Result<Numbers, Error> {
    Ok(recording_of(mask)?.picked(&array.numbers, &mask.numbers)?)
}

/// Returns the whole array that the mask [picked] from, and any other numbers unchanged.
///
/// # Errors
/// `trace` if another mask picked.
pub(crate) fn unpicked(numbers: &Numbers, mask: &StoredArray) -> Result<Numbers, Error> {
    Ok(recording_of(mask)?.unpicked(numbers, &mask.numbers)?)
}

/// Returns the error of a request for the number of elements that a mask picks.
pub(crate) fn asks_how_many(mask: &StoredArray) -> Error {
    recording_of(mask).map_or_else(|error| error, |recording| recording.asks_how_many().into())
}

/// Returns the recording that an array belongs to.
fn recording_of(array: &StoredArray) -> Result<Recording, Error> {
    Ok(recordings::find(array.home.step().unwrap_or_default())?)
}

/// Refuses a condition on an array of a step under recording.
///
/// # Errors
/// `trace`; none for any other array.
pub(crate) fn condition(array: &StoredArray) -> Result<(), Error> {
    let Some(number) = array.home.step() else { return Ok(()) };
    Err(recordings::find(number)?.asks_for_values("A condition, such as if, while or switch,").into())
}

/// Ends the recording of a step with these results. Returns the number of kernels and other operations in the step, and
/// true if the step changes the class of a state.
///
/// # Errors
/// `trace` for results that are no arrays of this step; the engine's errors.
pub(crate) fn finish(number: u64, home: Home, results: Vec<StoredArray>, shape: Shape) -> Result<(usize, bool), Error> {
    let recording = recordings::find(number)?;
    let mut values = Vec::with_capacity(results.len());
    let mut shapes = ArrayTypes::with_capacity(results.len());
    for (at, result) in results.into_iter().enumerate() {
        let result = lifted(result, home.of_step(number))?;
        let (mut value, mut like) = (recording.value(&result.numbers)?, result.array_type());
        // Logical values may be double or single; those of a state keep the class that they begin with.
        let before = recordings::argument(number, at).filter(|before| at < shape.states && before.class == like.class);
        if before.is_some_and(|before| before.single != like.single) {
            value = recording.converted(value);
            like.single = !like.single;
        }
        values.push(value);
        shapes.push(like);
    }
    // Arrays of a recording are useless once it ends, even if it ends in an error.
    let (finished, arguments) = (recording.finish(), recordings::close(number));
    let taped = finished?;
    let drawn = taped.drawn.map(|drawn| Draws { of_step: drawn.count, seed: random::state().seed });
    let step = Step::new(&*home.engine()?, taped, values, shape)?;
    let stages = step.stages();
    let changes = arguments.iter().zip(&shapes).take(shape.states).any(|(before, after)| before.class != after.class);
    ready().insert(number, Compiled { home, step: Arc::new(Mutex::new(step)), arguments, shapes, shape, drawn });
    Ok((stages, changes))
}

/// Returns the step with this number.
///
/// # Errors
/// `deleted`.
pub(crate) fn compiled(number: u64) -> Result<Compiled, Error> {
    let compiled = ready().get(&number).cloned();
    compiled.ok_or_else(|| {
        Error::new(
            "deleted",
            "There is no such step here: it was compiled in another session, or deleted. Compile it again with \
             DeviceArray.compile.",
        )
    })
}

/// Deletes a step; with `recording`, only its recording, and an older compiled step stays.
pub(crate) fn forget(number: u64, recording: bool) {
    recordings::close(number);
    if recording {
        return;
    }
    // Its arrays are dropped outside the lock.
    let step = ready().remove(&number);
    drop(step);
}

impl Compiled {
    /// Returns the number of its states.
    pub(crate) fn states(&self) -> usize {
        self.shape.states
    }

    /// Checks that a run of `times` steps can begin with these states, each step with further arguments like `values`.
    ///
    /// # Errors
    /// `trace` for another number of states, or for other sizes or classes than those of the recording; and for several
    /// steps that change these.
    pub(crate) fn fits(&self, states: &[StoredArray], values: &[ArrayType], times: usize) -> Result<(), Error> {
        let same = |(state, like): (&StoredArray, &ArrayType)| state.array_type() == *like && state.home == self.home;
        let (of_states, others) = self.arguments.split_at(self.shape.states.min(self.arguments.len()));
        let begins = states.len() == of_states.len() && states.iter().zip(of_states).all(same);
        if !begins || states.len() != self.shape.states || others != values {
            let text = "The step was recorded with states or values of other sizes or classes, or in another place.";
            return Err(Error::new("trace", text));
        }
        if self.drawn.is_some_and(|drawn| drawn.seed != random::state().seed) {
            return Err(Error::new("trace", "The step was recorded with another seed."));
        }
        if times > 1 && self.shapes[..states.len()] != *of_states {
            return Err(Error::new("trace", "The step changes a state's size or class, so it can be done once alone."));
        }
        Ok(())
    }

    /// Runs the steps. The draws of a step with random numbers count once the steps are done.
    ///
    /// # Errors
    /// Those of [`Step::run`].
    pub(crate) fn run(
        &self,
        engine: &(dyn Engine + 'static),
        mut states: Vec<Numbers>,
        run: &Run,
        watch: &Watch,
    ) -> Result<Ran, stencil::Error> {
        let mut step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(drawn) = self.drawn else { return step.run(engine, states, run, watch) };
        let mut number: Array<f64> = engine.arrays::<f64>().array(1)?;
        engine.fill(random::state().number as f64, &mut number, watch)?;
        states.push(Numbers::from(number));
        let mut ran = step.run(engine, states, run, watch)?;
        random::advance((drawn.of_step * ran.steps) as u64);
        ran.states.pop();
        ran.kept.pop();
        Ok(ran)
    }

    /// Returns the result arrays of a run.
    ///
    /// # Errors
    /// `outOfMemory` for an array of more elements than the host can count.
    pub(crate) fn results(&self, ran: Ran) -> Result<Vec<StoredArray>, Error> {
        let states = &self.shapes[..self.shape.states];
        let (pages, steps) = (ran.pages, ran.steps);
        let kept = if ran.kept.is_empty() { &[] } else { states };
        let records = &self.shapes[self.shape.states..][..self.shape.records];
        let numbers = ran.states.into_iter().chain(ran.kept).chain(ran.records);
        let shapes = states.iter().chain(kept).chain(records).zip(numbers).enumerate();
        let made = shapes.map(|(number, (ArrayType { dims, class, .. }, numbers))| {
            let dims = match number / states.len() {
                0 => dims.clone(),
                1 if number < states.len() + kept.len() => dims::stacked(dims, pages)?,
                _ => vec![dims.iter().product(), steps],
            };
            Ok(StoredArray { home: self.home, dims, class: *class, numbers })
        });
        made.collect()
    }
}
