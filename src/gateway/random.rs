//! The state of random numbers: the seed, and the draws since it was set.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::process::PerProcess;
use crate::stencil::functions::{Distribution, Draw};

/// A seed, and the number of the next draw.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    pub(super) seed: u32,
    pub(super) number: u64,
}

fn locked() -> MutexGuard<'static, State> {
    static STATE: PerProcess<Mutex<State>> = PerProcess::new();
    STATE.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state as it is.
pub(super) fn state() -> State {
    *locked()
}

/// Sets the state.
pub(super) fn set(state: State) {
    *locked() = state;
}

/// The next draw, which `counts` unless it is a step's.
pub(super) fn draw(distribution: Distribution, counts: bool) -> Draw {
    let state = state();
    advance(u64::from(counts));
    Draw { distribution, number: state.number, seed: state.seed }
}

/// Counts draws.
pub(super) fn advance(draws: u64) {
    locked().number += draws;
}
