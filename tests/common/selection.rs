//! Which checks of a case run: a selection (what `make test` runs), the rest of them (`STENCIL_TESTS=rest`, what
//! `make test-all` runs behind that), or all (`STENCIL_TESTS=all`).
//!
//! Cases walk grids: filters by sizes by boundaries by numbers of sweeps. The selection takes each check that has a
//! feature (a filter, a boundary, ...) which no check of the case had before it, and of the others one in [`RATE`], by a
//! hash of what the check says of itself; of engines that differ from another one in the memory that they have, one in
//! [`RATE_OF_VARIANTS`]. It is the same selection on every machine and in every run.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

/// Of checks that have no new feature, one in so many is selected.
const RATE: u64 = 10;
const RATE_OF_VARIANTS: u64 = 40;

thread_local! {
    static RATE_OF_CASE: Cell<u64> = const { Cell::new(RATE) };
    /// The features that checks of this case had.
    static SEEN: RefCell<HashSet<u64>> = RefCell::new(HashSet::new());
    /// Whether every check runs, selected or not.
    static FORCED: Cell<bool> = const { Cell::new(false) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Selection,
    Rest,
    All,
}

fn mode() -> Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    *MODE.get_or_init(|| match std::env::var("STENCIL_TESTS").as_deref() {
        Err(_) | Ok("" | "selection") => Mode::Selection,
        Ok("rest") => Mode::Rest,
        Ok("all") => Mode::All,
        Ok(other) => panic!("STENCIL_TESTS is '{other}': selection (the default), rest or all"),
    })
}

/// Whether more than the selection runs.
pub fn is_thorough() -> bool {
    mode() != Mode::Selection
}

/// Whether a test runs, as a whole, that is in the selection or is not.
pub fn takes_test(is_selected: bool) -> bool {
    match mode() {
        Mode::Selection => is_selected,
        Mode::Rest => !is_selected,
        Mode::All => true,
    }
}

/// A case begins, of which no check has been seen: of an engine, or of a variant of one.
pub fn begin(of_variant: bool) {
    SEEN.take();
    RATE_OF_CASE.set(if of_variant { RATE_OF_VARIANTS } else { RATE });
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
    if mode() == Mode::All || FORCED.get() {
        return true;
    }
    let new = SEEN.with_borrow_mut(|seen| {
        let of = |(number, feature)| seen.insert(hash(&(number, format!("{feature:?}"))));
        // All of them are noted, also behind a new one.
        features.iter().enumerate().map(of).fold(false, |any, new| any | new)
    });
    takes_test(new || hash(&what).is_multiple_of(RATE_OF_CASE.get()))
}

/// Of so many random cases, those that run.
pub fn of_cases(cases: u32) -> u32 {
    if is_thorough() { cases } else { cases.div_ceil(RATE_OF_CASE.get() as u32 / 2) }
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
