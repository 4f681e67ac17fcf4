//! The state of random numbers: the seed, and the number of draws since it was set.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::platform::process::PerProcess;
use crate::stencil::functions::{Distribution, Draw};

/// The seed, and the number of the next draw.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct State {
    pub(crate) seed: u32,
    pub(crate) number: u64,
}

fn locked() -> MutexGuard<'static, State> {
    static STATE: PerProcess<Mutex<State>> = PerProcess::new();
    STATE.get().lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn state() -> State {
    *locked()
}

pub(crate) fn set(state: State) {
    *locked() = state;
}

/// Returns the next draw, and counts it unless a step makes it.
pub(crate) fn draw(distribution: Distribution, counts: bool) -> Draw {
    let state = state();
    advance(u64::from(counts));
    Draw { distribution, number: state.number, seed: state.seed }
}

/// Counts draws.
pub(crate) fn advance(draws: u64) {
    locked().number += draws;
}
