//! Sweeps that are more than one filter: several in a row, two time levels, a source; and the states on the way.
//!
//! # Rationale
//! Whatever an engine can do to an array that it holds makes a sweep, one thing after the other: a filter, a step of
//! two time levels, a sum. So every filter has all of this at once, and no engine knows of it. Filters alone go from one
//! array to the next. What else there is makes a sweep a step of a solver: it is [recorded](crate::steps), and run in
//! kernels of its own where there are many. (But where an engine does many sweeps of two levels at once, they are left to
//! it.) Arrays lie where the engine computes while they are swept. Where it has no room for those of a call on the host's
//! arrays, they lie in the host's memory: each filter goes over them from there to there, and the CPU does the rest, with
//! the same bits.

use std::sync::Arc;

use crate::cpu::Cpu;
use crate::stencil::{Array, Binary, Engine, Error, Expansion, Operand, Places, Source, Stencil, Target};
use crate::steps::{Number, Recorder, Recording, Run, Shape, Site, Step};
use crate::watch::Watch;

/// So many sweeps of a filter from one array to another.
pub type Filter<'a, T> =
    Box<dyn Fn(&(dyn Engine + 'static), usize, Source<T>, Target<T>, &Watch) -> Result<(), Error> + Send + 'a>;

/// A filter of which an engine may do many sweeps at once, over two time levels.
pub trait TwoLevels<T>: Send {
    /// Whether this engine does.
    fn joins(&self, engine: &(dyn Engine + 'static)) -> bool;

    /// So many sweeps, as [`Engine::two_levels`].
    fn sweep(
        &self,
        engine: &(dyn Engine + 'static),
        sweeps: usize,
        weight: T,
        levels: &mut [Array<T>; 2],
        watch: &Watch,
    ) -> Result<(), Error>;
}

impl TwoLevels<f64> for Stencil {
    fn joins(&self, engine: &(dyn Engine + 'static)) -> bool {
        engine.joins_levels(self)
    }

    fn sweep(
        &self,
        engine: &(dyn Engine + 'static),
        sweeps: usize,
        weight: f64,
        levels: &mut [Array<f64>; 2],
        watch: &Watch,
    ) -> Result<(), Error> {
        engine.two_levels(&self.with_sweeps(sweeps), weight, levels, watch)
    }
}

/// What a call sweeps, without its data.
pub struct Scheme<'a, T> {
    /// The filters of a sweep, in their order; one at least.
    pub filters: Vec<Filter<'a, T>>,
    /// The filter and the older time level, where there is one filter and an engine may sweep both at once.
    pub joint: Option<Box<dyn TwoLevels<T> + 'a>>,
    /// The weight of the older time level, where there is one.
    pub weight: Option<T>,
    /// How many states are returned.
    pub states: usize,
    /// The sweeps from one of them to the next.
    pub every: usize,
}

/// Numbers that a call gives.
#[derive(Debug)]
pub enum Given<'a, T> {
    /// The host's.
    Host(&'a [T]),
    /// Where the engine has them.
    Held(Arc<Array<T>>),
}

impl<T> Clone for Given<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Given::Host(samples) => Given::Host(samples),
            Given::Held(array) => Given::Held(array.clone()),
        }
    }
}

impl<T> Given<'_, T> {
    fn source(&self) -> Source<'_, T> {
        match self {
            Given::Host(samples) => Source::Host(samples),
            Given::Held(array) => Source::Array(array),
        }
    }
}

/// What is added in every sweep.
pub enum Addend<'a, T> {
    /// One number everywhere.
    Scalar(T),
    /// As many numbers as samples.
    Elements(Given<'a, T>),
}

/// The data of a scheme: all of them arrays of the host's, or all where the engine has them.
pub struct Data<'a, T> {
    /// What is swept.
    pub from: Given<'a, T>,
    /// The time level before that, where there is a weight of it.
    pub older: Option<Given<'a, T>>,
    /// What is added in every sweep.
    pub source: Option<Addend<'a, T>>,
    /// Where the states go, one behind the other.
    pub to: Target<'a, T>,
    /// Where the level before the last state goes, if anybody wants it.
    pub older_to: Option<Target<'a, T>>,
}

/// From so many sweeps on a call has them in kernels of their own: of fewer, cutting a program takes longer than it saves.
const MANY: usize = 16;

impl<T: Number> Scheme<'_, T> {
    /// Runs it.
    ///
    /// # Errors
    /// The engine's. What is written is of no known value then.
    ///
    /// # Panics
    /// Where data have not as many elements as go together.
    pub fn run(&self, engine: &(dyn Engine + 'static), data: Data<T>, watch: &Watch) -> Result<(), Error> {
        let Data { from, older, source, mut to, older_to } = data;
        let len = from.source().len();
        if len == 0 {
            return Ok(watch.check()?);
        }
        assert_eq!((to.len(), older.is_some()), (self.states * len, self.weight.is_some()));
        let (number, elements) = match source {
            Some(Addend::Scalar(number)) => (Some(number), None),
            Some(Addend::Elements(elements)) => (None, Some(elements)),
            None => (None, None),
        };
        // The state, what filters make of it in turns, and what is given beside it.
        let arrays = 3 + usize::from(older.is_some()) + usize::from(elements.is_some());
        let (on_host, cpu) = (matches!(from, Given::Host(_)), Cpu::new());
        let site = match on_host && !T::compute(engine).has_room(arrays, len)? {
            true => Site::in_host_memory(&cpu, engine),
            false => Site::of(engine),
        };
        if older.is_none() && elements.is_none() && number.is_none() {
            return self.filters_alone(&site, from.source(), &mut to, watch);
        }
        let adds = elements.is_some();
        let given = [Some(from), older, elements].into_iter().flatten();
        let mut arrays = given.map(|given| loaded(&site, given, watch)).collect::<Result<Vec<_>, _>>()?;
        let joint =
            self.joint.as_ref().zip(self.weight).filter(|_| !adds && number.is_none() && self.filters.len() == 1);
        let joint = joint.filter(|(joint, _)| joint.joins(site.engine()));
        let mut step = if joint.is_some() { None } else { Some(self.step(&site, len, number, adds)?) };
        for state in 0..self.states {
            watch.check()?;
            if let Some((joint, weight)) = joint.filter(|_| self.every > 0) {
                arrays = swept_at_once(&site, (&**joint, weight, self.every), arrays, watch)?;
            }
            if let Some(step) = &mut step {
                let run = Run { steps: self.every, before: 0, every: 0, check: 1, values: None };
                let states = arrays.into_iter().map(T::numbers).collect();
                let states = step.run(&site, states, &run, watch)?.states;
                arrays = states.iter().filter_map(T::of_numbers).cloned().collect();
            }
            store(&site, site.source(&arrays[0])?, &mut to, state, watch)?;
        }
        match older_to {
            Some(mut older_to) => store(&site, site.source(&arrays[1])?, &mut older_to, 0, watch),
            None => Ok(()),
        }
    }

    /// Sweeps of filters and nothing else, from array to array.
    fn filters_alone(&self, site: &Site, from: Source<T>, to: &mut Target<T>, watch: &Watch) -> Result<(), Error> {
        // One filter does all sweeps in a call.
        let (sweeps, at_once) = if self.filters.len() == 1 { (1, self.every) } else { (self.every, 1) };
        let (mut newest, mut spare): (Option<Array<T>>, Option<Array<T>>) = (None, None);
        for state in 0..self.states {
            let mut stored = false;
            for (number, filter) in (0..sweeps).flat_map(|_| &self.filters).enumerate() {
                let samples = newest.as_ref().map_or(Ok(from), |samples| site.source(samples))?;
                // The last one of all may write where the result goes.
                stored = self.states == 1 && number + 1 == sweeps * self.filters.len();
                if stored {
                    filter(site.filters(), at_once, samples, again(to), watch)?;
                    break;
                }
                let mut next = spare.take().map_or_else(|| T::compute(site.engine()).array(from.len()), Ok)?;
                filter(site.filters(), at_once, samples, site.target(&mut next)?, watch)?;
                spare = newest.replace(next);
            }
            if !stored {
                let result = newest.as_ref().map_or(Ok(from), |newest| site.source(newest))?;
                store(site, result, to, state, watch)?;
            }
        }
        Ok(())
    }

    /// A sweep as a step: of the state, the older level, and what is added, as far as there are these.
    fn step(&self, site: &Site, len: usize, number: Option<T>, adds: bool) -> Result<Step, Error> {
        let recording = Recording::new();
        let recorder = Recorder::new(recording.clone(), Box::new(Cpu::new()));
        let (compute, arithmetic) = (T::compute(&recorder), T::arithmetic(&recorder));
        let (watch, internal) = (Watch::new(), |text: &str| Error::Internal(text.into()));
        let argument = || {
            let argument = recording.argument(T::SINGLE, len);
            T::of_numbers(&argument).cloned().ok_or_else(|| internal("An argument of a sweep in another class."))
        };
        let newest = argument()?;
        let older = self.weight.map(|_| argument()).transpose()?;
        let added = adds.then(argument).transpose()?;
        let mut next = newest.clone();
        for filter in &self.filters {
            let mut to = compute.array(len)?;
            filter(&recorder, 1, Source::Array(&next), Target::Array(&mut to), &watch)?;
            next = Arc::new(to);
        }
        let source = added.as_ref().map(|added| Operand::Array(&**added)).or(number.map(Operand::Scalar));
        let mut to = compute.array(len)?;
        match (self.weight.zip(older.as_ref()), source) {
            (Some((weight, older)), source) => {
                compute.copy(Source::Array(older), Target::Array(&mut to), &watch)?;
                arithmetic.advance(&next, weight, source, &mut to, &watch)?;
            }
            (None, Some(source)) => {
                let expansion = Expansion::new([&[len], &[len]]).ok_or_else(|| internal("Arrays of one length."))?;
                arithmetic.binary(Binary::Add, [Operand::Array(&next), source], &expansion, &mut to, &watch)?;
            }
            (None, None) => return Err(internal("A sweep of filters alone as a step.")),
        }
        // What was the newest is the older one then, and what is added stays.
        let results = [Some(Arc::new(to)), older.and(Some(newest)), added].into_iter().flatten();
        let outputs = results.map(|result| recording.value(&T::numbers(result))).collect::<Result<Vec<_>, _>>()?;
        let (program, known) = recording.finish()?;
        let shape = Shape { states: outputs.len(), records: 0, until: false };
        let is_many = self.states.saturating_mul(self.every) >= MANY;
        (if is_many { Step::new } else { Step::of_singles })(site.engine(), program, known, outputs, shape)
    }
}

/// So many sweeps of two levels, which an engine does at once.
fn swept_at_once<T: Number>(
    site: &Site,
    (joint, weight, sweeps): (&dyn TwoLevels<T>, T, usize),
    levels: Vec<Arc<Array<T>>>,
    watch: &Watch,
) -> Result<Vec<Arc<Array<T>>>, Error> {
    // They are written over: what somebody else has stays as it is.
    let own = |mut level: Arc<Array<T>>| match Array::alone(&mut level).is_ok() {
        true => Ok(level),
        false => copied(site, Source::Array(&level), watch),
    };
    let own = levels.into_iter().map(own).collect::<Result<Vec<_>, Error>>()?;
    let own: Vec<_> = own.into_iter().filter_map(Arc::into_inner).collect();
    let mut own = <[Array<T>; 2]>::try_from(own).map_err(|_| Error::Internal("Other than two time levels.".into()))?;
    joint.sweep(site.engine(), sweeps, weight, &mut own, watch)?;
    Ok(own.map(Arc::new).into())
}

/// A target, for one of several writes to it.
fn again<'t, T>(target: &'t mut Target<'_, T>) -> Target<'t, T> {
    match target {
        Target::Host(results) => Target::Host(results),
        Target::Array(array) => Target::Array(array),
    }
}

/// What is given, as an array of the site.
fn loaded<T: Number>(site: &Site, given: Given<T>, watch: &Watch) -> Result<Arc<Array<T>>, Error> {
    match given {
        Given::Held(array) => Ok(array),
        Given::Host(samples) => copied(site, Source::Host(samples), watch),
    }
}

/// A copy, in an array of the site.
fn copied<T: Number>(site: &Site, from: Source<T>, watch: &Watch) -> Result<Arc<Array<T>>, Error> {
    let mut array = T::compute(site.engine()).array(from.len())?;
    let mark = watch.mark();
    T::compute(site.filters()).copy(from, site.target(&mut array)?, watch)?;
    watch.rewind(mark);
    Ok(Arc::new(array))
}

/// Copies an array to where a state goes: the first one, the next one behind it, and so on.
fn store<T: Number>(
    site: &Site,
    from: Source<T>,
    to: &mut Target<T>,
    state: usize,
    watch: &Watch,
) -> Result<(), Error> {
    let (engine, len) = (site.filters(), from.len());
    let mark = watch.mark();
    match to {
        Target::Host(results) => {
            let place = &mut results[state * len..(state + 1) * len];
            T::compute(engine).copy(from, Target::Host(place), watch)?;
        }
        Target::Array(array) if array.len() == len => T::compute(engine).copy(from, Target::Array(array), watch)?,
        Target::Array(array) => T::arithmetic(engine).put(from, &Places::run(state * len, len), array, watch)?,
    }
    // Of all that is copied nothing is an update.
    watch.rewind(mark);
    Ok(())
}
