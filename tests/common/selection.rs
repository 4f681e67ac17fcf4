//! Which checks of a case run: a selection (what `make test` runs), a sample of the others (`STENCIL_TESTS=rest`, what
//! `.ci/run` runs behind that), or all (`STENCIL_TESTS=all`, what `make test-all` runs).
//!
//! Cases walk grids: filters by sizes by boundaries by numbers of sweeps. The selection takes each check that has a
//! feature (a kernel, a boundary, ...) which no check of the case had before it, and of the others one in [`RATE`], by a
//! hash of what the check says of itself. The rest is one in [`RATE_OF_REST`] of what the selection leaves out. They are
//! the same on every machine and in every run.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

/// Of checks that have no new feature, one in so many is selected; and one in so many on the stand-in for the CUDA driver.
const RATE: u64 = 96;
const RATE_ON_STAND_IN: u64 = 384;
/// Of checks that are not selected, one in so many is in the rest.
const RATE_OF_REST: u64 = 8;

thread_local! {
    static RATE_OF_CASE: Cell<u64> = const { Cell::new(RATE) };
    /// The features that checks of this case had.
    static SEEN: RefCell<HashSet<u64>> = RefCell::new(HashSet::new());
    /// Whether every check runs, selected or not.
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

/// Whether all checks run.
pub fn is_all() -> bool {
    tier() == Tier::All
}

/// Whether a test or a check runs that is called `what`, and is selected whatever its hash is, or is not.
pub fn takes_one(what: &impl Hash, is_selected: bool) -> bool {
    let hash = hash(what);
    match tier() {
        Tier::Selection => is_selected || hash.is_multiple_of(RATE_OF_CASE.get()),
        // The other rates are multiples of it: no hash is in both.
        Tier::Rest => !is_selected && hash % RATE_OF_REST == 1,
        Tier::All => true,
    }
}

/// A case begins, of which no check has been seen.
pub fn begin() {
    SEEN.take();
    RATE_OF_CASE.set(RATE);
}

/// A case begins on the stand-in.
pub fn begin_on_stand_in() {
    begin();
    RATE_OF_CASE.set(RATE_ON_STAND_IN);
}

/// Has every check in `work` run: for tests that count what a check does.
pub fn forced<R>(work: impl FnOnce() -> R) -> R {
    let before = FORCED.replace(true);
    let result = work();
    FORCED.set(before);
    result
}

/// Whether a check runs that describes itself by `what`, in full, and has these features.
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

/// Of so many random cases, those that run.
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
