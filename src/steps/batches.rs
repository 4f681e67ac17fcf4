//! Batches of steps that an engine replays.
//!
//! # Rationale
//! Steps of small arrays cost as much as their launches. Each writes to arrays that are no longer needed after the one
//! before it; so after some launches every array is back in its place, and the launches since then can be repeated
//! unchanged.

use std::sync::Arc;

use super::buffers::Buffers;
use crate::platform::watch::Watch;
use crate::stencil::{Chain, Engine, Error, Numbers};

/// Number of single launches before a batch is made, which takes as long as some of them.
const MIN_SINGLES: usize = 16;

/// Minimum and maximum number of launches of a batch.
const MIN_LAUNCHES: usize = 16;
const MAX_LAUNCHES: usize = 48;

/// Steps of arrays of more elements take longer than a launch.
const MAX_ELEMENTS: usize = 1 << 22;

/// Launches one step, or several: from states to states.
pub(super) type Launch<'a> = dyn FnMut(&mut Vec<Numbers>, &mut Buffers) -> Result<(), Error> + 'a;

/// Batches of a run.
pub(super) struct Batches {
    /// False once no more are made.
    may_be: bool,
    /// Number of steps of a launch, and of single launches.
    levels: usize,
    singles: usize,
    batch: Option<Batch>,
    /// Number of replayed steps.
    pub(super) replayed: usize,
}

struct Batch {
    chain: Box<dyn Chain>,
    steps: usize,
    /// Addresses of the arrays before and after it.
    arrangement: Vec<usize>,
}

/// Addresses of the arrays of a run.
fn arrangement(states: &[Numbers], buffers: &Buffers) -> Vec<usize> {
    let place = |array: &Numbers| match array {
        Numbers::Double(array) => Arc::as_ptr(array).addr(),
        Numbers::Single(array) => Arc::as_ptr(array).addr(),
    };
    states.iter().chain(&buffers.spare).map(place).collect()
}

impl Batches {
    /// Batches of a run; `may_be` is true if its steps may be replayed.
    pub(super) fn new(may_be: bool) -> Batches {
        Batches { may_be, levels: 1, singles: 0, batch: None, replayed: 0 }
    }

    /// Runs a batch of launches of `levels` steps each, if there is one and that many steps are `free`. Returns the
    /// number of steps.
    pub(super) fn take(
        &mut self,
        engine: &(dyn Engine + 'static),
        launch: &mut Launch,
        (levels, free): (usize, usize),
        (states, buffers): (&mut Vec<Numbers>, &mut Buffers),
        watch: &Watch,
    ) -> Result<usize, Error> {
        // Steps left over between walks are not replayed.
        if !self.may_be || levels < self.levels || states.iter().any(|state| state.len() > MAX_ELEMENTS) {
            return Ok(0);
        }
        if levels > self.levels {
            *self = Batches { levels, replayed: self.replayed, ..Batches::new(true) };
        }
        self.singles += 1;
        match &mut self.batch {
            Some(batch) if batch.steps <= free && batch.arrangement == arrangement(states, buffers) => {
                batch.chain.run(watch)?;
                self.replayed += batch.steps;
                Ok(batch.steps)
            }
            None if self.singles > MIN_SINGLES && free >= MAX_LAUNCHES * levels => {
                self.make(engine, launch, states, buffers, watch)
            }
            _ => Ok(0),
        }
    }

    /// Makes a batch, and runs it once.
    fn make(
        &mut self,
        engine: &(dyn Engine + 'static),
        launch: &mut Launch,
        states: &mut Vec<Numbers>,
        buffers: &mut Buffers,
        watch: &Watch,
    ) -> Result<usize, Error> {
        let before = arrangement(states, buffers);
        buffers.noted = Some(Vec::new());
        let (mut launches, mut is_whole) = (0, false);
        let mut note = || -> Result<(), Error> {
            while !is_whole && launches < MAX_LAUNCHES {
                launch(states, buffers)?;
                launches += 1;
                is_whole = launches >= MIN_LAUNCHES && before == arrangement(states, buffers);
            }
            Ok(())
        };
        let came = note();
        let noted = buffers.noted.take().unwrap_or_default();
        came?;
        let mut chain = engine.chain(noted)?;
        chain.run(watch)?;
        let steps = launches * self.levels;
        self.may_be = is_whole;
        self.batch = is_whole.then_some(Batch { chain, steps, arrangement: before });
        Ok(steps)
    }
}
