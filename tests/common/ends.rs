//! The two ends of an operation: where an engine takes its samples from, and where it puts its results. Each is the
//! host's memory or an array that the engine holds.
//!
//! A quick check is done between all ends. In others the ends take turns, from check to check: a case meets them all in
//! about the time that it takes with one of them.

use std::cell::Cell;
use std::fmt;

use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Array, Engine, Error, Number, Source, Target};

pub type AnyEngine = dyn Engine + 'static;

/// Elements on either side of an output in the host's memory that no engine may touch.
const GUARD: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Host,
    Array,
}

/// Place of the samples and of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    from: End,
    to: End,
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = |end| if end == End::Host { "host" } else { "array" };
        write!(f, "{} to {}", name(self.from), name(self.to))
    }
}

pub const HOST_TO_HOST: Ends = Ends { from: End::Host, to: End::Host };

pub const ARRAY_TO_ARRAY: Ends = Ends { from: End::Array, to: End::Array };

/// Every combination.
pub const ALL: [Ends; 4] =
    [HOST_TO_HOST, ARRAY_TO_ARRAY, Ends { from: End::Host, to: End::Array }, Ends { from: End::Array, to: End::Host }];

thread_local! {
    /// The number of the next check whose ends are its turn's.
    static TURN: Cell<usize> = const { Cell::new(0) };
    /// The ends of every check, if they are fixed.
    static TOLD: Cell<Option<Ends>> = const { Cell::new(None) };
    /// Members of [`ALL`] met since [`begin`].
    static MET: Cell<[bool; 4]> = const { Cell::new([false; 4]) };
}

/// Begins a case: with the first turn, independent of earlier cases.
pub fn begin() {
    take_turn(0);
    MET.set([false; 4]);
}

/// The next check is the one of this number.
pub fn take_turn(number: usize) {
    TURN.set(number);
}

/// The ends between which nothing was computed since the case began.
pub fn missed() -> Vec<String> {
    ALL.iter().zip(MET.get()).filter(|(_, met)| !met).map(|(ends, _)| ends.to_string()).collect()
}

/// Has every check in `work` be between these ends.
pub fn between<R>(ends: Ends, work: impl FnOnce() -> R) -> R {
    let before = TOLD.replace(Some(ends));
    let result = work();
    TOLD.set(before);
    result
}

/// Does `work` between each of the ends.
pub fn each(mut work: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    ALL.into_iter().try_for_each(|ends| between(ends, &mut work))
}

/// The ends of a check: the fixed ones; else all of them or, for a slow check, those whose turn it is.
pub fn of_check(is_slow: bool) -> Vec<Ends> {
    match TOLD.get() {
        Some(ends) => vec![ends],
        None if is_slow => {
            let number = TURN.get();
            TURN.set(number + 1);
            // The sum of the digits to base four: checks that come in twos or fours do not keep meeting the same ends.
            let digits = std::iter::successors(Some(number), |rest| Some(rest / 4)).take_while(|&rest| rest > 0);
            vec![ALL[digits.map(|rest| rest % 4).sum::<usize>() % 4]]
        }
        None => ALL.to_vec(),
    }
}

/// Returns the bits to compare: equal for two numbers that are equal to the last bit, NaN included.
pub fn bits<T: Number>(number: T) -> u64 {
    number.to_f64().to_bits()
}

/// An array of the engine's with these samples.
pub fn array_with<T: Number>(engine: &AnyEngine, samples: &[T]) -> Result<Array<T>, Error> {
    let mut array = engine.arrays::<T>().array(samples.len())?;
    engine.arrays().copy(Source::Host(samples), Target::Array(&mut array), &Watch::new()).map(|()| array)
}

/// Returns the elements of an array of the engine.
pub fn contents<T: Number>(engine: &AnyEngine, array: &Array<T>) -> Result<Vec<T>, Error> {
    let mut samples = vec![T::default(); array.len()];
    engine.arrays().copy(Source::Array(array), Target::Host(&mut samples), &Watch::new()).map(|()| samples)
}

/// Samples, and memory for an equal number of results.
pub struct Stage<'a, T> {
    input: &'a [T],
    before: Vec<T>,
    blank: T,
    /// The host's room, with guards around it.
    room: Vec<T>,
    /// The arrays; `None` for the host's memory.
    from: Option<Array<T>>,
    to: Option<Array<T>>,
}

impl<'a, T: Number> Stage<'a, T> {
    /// With these samples, and with `blank` where the results go.
    pub fn new(engine: &AnyEngine, ends: Ends, input: &'a [T], blank: T) -> Result<Stage<'a, T>, Error> {
        MET.set(std::array::from_fn(|i| MET.get()[i] || ALL[i] == ends));
        let room = vec![blank; input.len() + 2 * GUARD];
        let array = |end, samples: &[T]| (end == End::Array).then(|| array_with(engine, samples)).transpose();
        let (from, to) = (array(ends.from, input)?, array(ends.to, &room[..input.len()])?);
        Ok(Stage { input, before: input.to_vec(), blank, room, from, to })
    }

    /// Its ends, for the engine.
    pub fn ends(&mut self) -> (Source<'_, T>, Target<'_, T>) {
        let room = &mut self.room[GUARD..GUARD + self.input.len()];
        let from = self.from.as_ref().map_or(Source::Host(self.input), Source::Array);
        (from, self.to.as_mut().map_or(Target::Host(room), Target::Array))
    }

    /// The results, unless something else was changed.
    pub fn results(self, engine: &AnyEngine) -> Result<Vec<T>, String> {
        let read = |array| contents(engine, array).map_err(|error| format!("reading an array: {error}"));
        let is_blank = |samples: &[T]| samples.iter().all(|&x| x.same(self.blank));
        let (head, rest) = self.room.split_at(GUARD);
        let (output, tail) = rest.split_at(self.input.len());
        if !is_blank(head) || !is_blank(tail) {
            return Err("written outside the output".into());
        }
        let from = self.from.as_ref().map(read).transpose()?;
        for input in [Some(self.input), from.as_deref()].into_iter().flatten() {
            if !input.iter().zip(&self.before).all(|(&a, &b)| bits(a) == bits(b)) {
                return Err("the input was changed".into());
            }
        }
        self.to.as_ref().map_or(Ok(output.to_vec()), read)
    }
}
