//! Steps of a solver that are being recorded, or are ready to run, by their numbers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::store::{Home, Numbers, StoredArray, next_number};
use crate::mex::{Class, Error};
use crate::process::PerProcess;
use crate::stencil::{self, Engine};
use crate::steps::{Recorder, Recording, Step};

/// What a step gives: the dimensions and the class of each result.
pub(super) type Shapes = Vec<(Vec<usize>, Class)>;

/// A step that is ready to run.
#[derive(Clone)]
pub(super) struct Compiled {
    pub(super) home: Home,
    pub(super) step: Arc<Mutex<Step>>,
    pub(super) shapes: Shapes,
}

enum Entry {
    /// One that is being recorded, for arrays in this home.
    Open(Home, Recording),
    Ready(Compiled),
}

fn entries() -> MutexGuard<'static, HashMap<u64, Entry>> {
    static ENTRIES: PerProcess<Mutex<HashMap<u64, Entry>>> = PerProcess::new();
    ENTRIES.get().lock().unwrap_or_else(PoisonError::into_inner)
}

fn over() -> stencil::Error {
    stencil::Error::Trace(
        "The step that this array belongs to is recorded to its end: what a step makes can be had from its results alone."
            .into(),
    )
}

/// Begins to record a step, over arrays in `home`: the number that it has from now on.
///
/// # Errors
/// `trace`, for arrays of a step that is being recorded.
pub(super) fn open(home: Home) -> Result<u64, Error> {
    if home.step().is_some() {
        let text =
            "A step cannot be compiled or iterated inside a step that is being recorded: call the function itself.";
        return Err(Error::new("trace", text));
    }
    let number = next_number();
    entries().insert(number, Entry::Open(home, Recording::new()));
    Ok(number)
}

/// The recording with this number.
pub(super) fn recording(number: u64) -> Result<(Home, Recording), stencil::Error> {
    match entries().get(&number) {
        Some(Entry::Open(home, recording)) => Ok((*home, recording.clone())),
        _ => Err(over()),
    }
}

/// The engine that records there.
pub(super) fn recorder(number: u64) -> Result<Box<dyn Engine>, Error> {
    let (home, recording) = recording(number)?;
    Ok(Box::new(Recorder::new(recording, home.engine()?)))
}

/// An argument of the step that is being recorded, like this array.
pub(super) fn argument(number: u64, like: StoredArray) -> Result<StoredArray, Error> {
    let (home, recording) = recording(number)?;
    if like.home != home {
        let other = like.home;
        return Err(Error::new(
            "dataType",
            format!("The arguments of a step lie in one place, and of these one lies in {home}, another in {other}."),
        ));
    }
    let numbers = recording.argument(like.numbers.is_single(), like.len());
    Ok(StoredArray { home: home.of_step(number), numbers, ..like })
}

/// An array from outside among those of a step that is being recorded.
pub(super) fn lifted(held: StoredArray, home: Home) -> StoredArray {
    let Some(number) = home.step().filter(|_| held.home == home.outside()) else { return held };
    match recording(number) {
        Ok((_, recording)) => StoredArray { home, numbers: recording.of_known(held.numbers), ..held },
        Err(_) => held,
    }
}

/// Ends the recording of a step that gives these results.
///
/// # Errors
/// `trace`, for what is no array of this step; what the engine says.
pub(super) fn finish(number: u64, results: Vec<StoredArray>) -> Result<usize, Error> {
    let (home, recording) = recording(number)?;
    let mut values = Vec::with_capacity(results.len());
    let mut shapes = Shapes::with_capacity(results.len());
    for result in results {
        let result = lifted(result, home.of_step(number));
        values.push(recording.value(&result.numbers)?);
        shapes.push((result.dims, result.class));
    }
    let (program, known) = recording.finish();
    let step = Step::new(&*home.engine()?, program, known, values)?;
    let stages = step.stages();
    entries().insert(number, Entry::Ready(Compiled { home, step: Arc::new(Mutex::new(step)), shapes }));
    Ok(stages)
}

/// A step that is ready to run.
///
/// # Errors
/// `deleted`.
pub(super) fn compiled(number: u64) -> Result<Compiled, Error> {
    match entries().get(&number) {
        Some(Entry::Ready(compiled)) => Ok(compiled.clone()),
        _ => Err(Error::new("deleted", "There is no such step: it was deleted, or belongs to another process.")),
    }
}

/// Gives up a step, recorded or not.
pub(super) fn forget(number: u64) {
    // Its arrays are not dropped under the lock.
    let entry = entries().remove(&number);
    drop(entry);
}

impl Compiled {
    /// The arrays that become results.
    pub(super) fn results(&self, numbers: Vec<Numbers>) -> Vec<StoredArray> {
        let shapes = self.shapes.iter().cloned().zip(numbers);
        shapes.map(|((dims, class), numbers)| StoredArray { home: self.home, dims, class, numbers }).collect()
    }
}
