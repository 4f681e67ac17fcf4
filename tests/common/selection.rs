//! Selects the checks of a case that run: a selection (run by `make test`), a sample of the others
//! (`STENCIL_TESTS=rest`, run by `.ci/run` after that), or all (`STENCIL_TESTS=all`, run by `make test-all`).
//!
//! Cases walk grids: filters by sizes by boundaries by numbers of sweeps. The selection takes each check with a feature
//! (a kernel, a boundary, ...) that no earlier check of the case had, and one in [`RATE`] of the others, by a hash of
//! the check's description. The rest is one in [`RATE_OF_REST`] of the checks outside the selection. They are the same
//! on every machine and in every run.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

/// One in this number of the checks without a new feature is selected; the second is for the stand-in for the CUDA
/// driver.
const RATE: u64 = 96;
const RATE_ON_STAND_IN: u64 = 384;
/// One in this number of the checks that are not selected is in the rest.
const RATE_OF_REST: u64 = 8;

thread_local! {
    static RATE_OF_CASE: Cell<u64> = const { Cell::new(RATE) };
    /// The features that checks of this case had.
    static SEEN: RefCell<HashSet<u64>> = RefCell::new(HashSet::new());
    /// True if every check runs, selected or not.
    static FORCED: Cell<bool> = const { Cell::new(false) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tier {
    Selection,
    Rest,
    All,
}

fn tier() -> Tier {
    static TIER: OnceLock<Tier> = OnceLock::new();
    *TIER.get_or_init(|| match std::env::var("STENCIL_TESTS").as_deref() {
        Err(_) | Ok("" | "selection") => Tier::Selection,
        Ok("rest") => Tier::Rest,
        Ok("all") => Tier::All,
        Ok(other) => panic!("STENCIL_TESTS is '{other}': selection (the default), rest or all"),
    })
}

/// True if all checks run.
pub fn is_all() -> bool {
    tier() == Tier::All
}

/// True if the test or check named `what` runs: the selection takes it if `is_selected`, or by its hash.
pub fn takes_one(what: &impl Hash, is_selected: bool) -> bool {
    let hash = hash(what);
    match tier() {
        Tier::Selection => is_selected || hash.is_multiple_of(RATE_OF_CASE.get()),
        // The other rates are multiples of it: no hash is in both.
        Tier::Rest => !is_selected && hash % RATE_OF_REST == 1,
        Tier::All => true,
    }
}

/// Begins a case: no check has been seen yet.
pub fn begin() {
    SEEN.take();
    RATE_OF_CASE.set(RATE);
}

/// A case begins on the stand-in.
pub fn begin_on_stand_in() {
    begin();
    RATE_OF_CASE.set(RATE_ON_STAND_IN);
}

/// Runs every check in `work`: for tests that count what a check does.
pub fn forced<R>(work: impl FnOnce() -> R) -> R {
    let before = FORCED.replace(true);
    let result = work();
    FORCED.set(before);
    result
}

/// True if the check runs whose full description is `what`, with these features.
pub fn takes(what: &str, features: &[&dyn std::fmt::Debug]) -> bool {
    if FORCED.get() {
        return true;
    }
    let new = SEEN.with_borrow_mut(|seen| {
        let of = |(number, feature)| seen.insert(hash(&(number, format!("{feature:?}"))));
        // All of them are noted, also behind a new one.
        features.iter().enumerate().map(of).fold(false, |any, new| any | new)
    });
    takes_one(&what, new)
}

/// Number of random cases to run out of `cases`.
pub fn of_cases(cases: u32) -> u32 {
    match tier() {
        // They are drawn anew in each run: more of them than of checks, which are the same ones.
        Tier::Selection => cases.div_ceil(RATE_OF_CASE.get() as u32 / 6),
        Tier::Rest => cases.div_ceil(5),
        Tier::All => cases,
    }
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
