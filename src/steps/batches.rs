//! Batches of steps that an engine replays.
//!
//! # Rationale
//! Steps of small arrays cost as much as their launches. Each writes to the arrays that the one before it needs no more; so
//! after some steps every array has the place that it had, and what was launched since can be launched again as it is.

use std::sync::Arc;

use super::buffers::Buffers;
use crate::stencil::program::Numbers;
use crate::stencil::{Chain, Engine, Error};
use crate::watch::Watch;

/// As many steps are taken one by one before a batch is made, which takes as long as some steps.
const FEW: usize = 16;

/// The steps of a batch: at least so many, and at most.
const LEAST: usize = 16;
const MOST: usize = 48;

/// Steps of arrays of more elements take longer than a launch.
const LARGE: usize = 1 << 22;

/// Takes one step: from states to states.
pub(super) type One<'a> = dyn FnMut(&mut Vec<Numbers>, &mut Buffers) -> Result<(), Error> + 'a;

/// The batches of a run.
pub(super) struct Batches {
    /// False where none is made any more.
    may_be: bool,
    /// The steps that were taken one by one.
    singles: usize,
    batch: Option<Batch>,
}

struct Batch {
    chain: Box<dyn Chain>,
    steps: usize,
    /// The arrays ahead of it, and behind it.
    arrangement: Vec<usize>,
}

/// The arrays of a run, each in its place.
fn arrangement(states: &[Numbers], buffers: &Buffers) -> Vec<usize> {
    let place = |array: &Numbers| match array {
        Numbers::Double(array) => Arc::as_ptr(array).addr(),
        Numbers::Single(array) => Arc::as_ptr(array).addr(),
    };
    states.iter().chain(&buffers.spare).map(place).collect()
}

impl Batches {
    /// Those of a run whose steps may be replayed.
    pub(super) fn new(may_be: bool) -> Batches {
        Batches { may_be, singles: 0, batch: None }
    }

    /// Takes a batch of steps, if there is one and so many are free. Returns their number.
    pub(super) fn take(
        &mut self,
        engine: &(dyn Engine + 'static),
        (one, free): (&mut One, usize),
        states: &mut Vec<Numbers>,
        buffers: &mut Buffers,
        watch: &Watch,
    ) -> Result<usize, Error> {
        if !self.may_be {
            return Ok(0);
        }
        let elements = states.iter().map(Numbers::len).max().unwrap_or(0);
        if elements > LARGE {
            return Ok(0);
        }
        self.singles += 1;
        let took = match &mut self.batch {
            Some(batch) if batch.steps <= free && batch.arrangement == arrangement(states, buffers) => {
                batch.chain.run(watch)?;
                batch.steps
            }
            None if self.singles > FEW && free >= MOST => self.make(engine, one, states, buffers, watch)?,
            _ => 0,
        };
        watch.count(took.saturating_mul(elements));
        Ok(took)
    }

    /// Makes a batch, and runs it once.
    fn make(
        &mut self,
        engine: &(dyn Engine + 'static),
        one: &mut One,
        states: &mut Vec<Numbers>,
        buffers: &mut Buffers,
        watch: &Watch,
    ) -> Result<usize, Error> {
        let before = arrangement(states, buffers);
        buffers.noted = Some(Vec::new());
        let (mut steps, mut is_whole) = (0, false);
        let mut note = || -> Result<(), Error> {
            while !is_whole && steps < MOST {
                one(states, buffers)?;
                steps += 1;
                is_whole = steps >= LEAST && before == arrangement(states, buffers);
            }
            Ok(())
        };
        let came = note();
        let noted = buffers.noted.take().unwrap_or_default();
        came?;
        let mut chain = engine.chain(noted)?;
        chain.run(watch)?;
        self.may_be = is_whole;
        self.batch = is_whole.then_some(Batch { chain, steps, arrangement: before });
        Ok(steps)
    }
}
