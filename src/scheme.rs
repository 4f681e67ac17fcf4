//! Sweeps of more than one filter: several in a row, two time levels, a source; and intermediate states.
//!
//! # Rationale
//! A sweep is a sequence of operations on arrays that an engine holds: a filter, a step of two time levels, a sum. So
//! every filter supports all of these, and engines need no code for it. (Only if an engine does many sweeps of two
//! levels at once, they are left to it.) Many sweeps that are more than filters are recorded once, and run like a [step
//! of a solver](crate::steps): one kernel has the last filter and all operations after it. Arrays lie in the engine's
//! memory while they are swept. If it has no room for those of a call on host arrays, they stay in the host's memory:
//! each filter is computed from there to there, and the CPU does the rest, with the same bits.

use std::sync::Arc;

use crate::cpu::Cpu;
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::{
    Array, Binary, Compute, Engine, Error, Expansion, Number, Numbers, Operand, Places, Source, Stencil, Target,
};
use crate::steps::{Recorder, Recording, Run, Shape, Step};

/// Does a number of sweeps of a filter from one array to another.
pub type Filter<'a, T> =
    Box<dyn Fn(&(dyn Engine + 'static), usize, Source<T>, Target<T>, &Watch) -> Result<(), Error> + Send + 'a>;

/// A filter for which an engine may do many sweeps at once, over two time levels.
pub trait TwoLevels<T>: Send {
    /// True if this engine does.
    fn joins(&self, engine: &(dyn Engine + 'static)) -> bool;

    /// Does a number of sweeps, as [`Engine::two_levels`].
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

/// Operations of a call's sweeps, without its data.
pub struct Scheme<'a, T> {
    /// Filters of a sweep, in their order; at least one.
    pub filters: Vec<Filter<'a, T>>,
    /// The filter and the older time level, if there is one filter and an engine may sweep both at once.
    pub joint: Option<Box<dyn TwoLevels<T> + 'a>>,
    /// Weight of the older time level, if there is one that is known before the data.
    pub weight: Option<T>,
    /// Number of states that are returned.
    pub states: usize,
    /// Number of sweeps from one state to the next.
    pub every: usize,
}

/// Source term, added in every sweep.
pub enum Addend<'a, T> {
    /// One number for all elements.
    Scalar(T),
    /// A number for each sample; in a recorded step, also one number.
    Elements(Source<'a, T>),
}

/// Data of a scheme: all of them host arrays, or all held by the engine.
pub struct Data<'a, T> {
    /// Initial state.
    pub from: Source<'a, T>,
    /// The time level before that, if it has a weight.
    pub older: Option<Source<'a, T>>,
    /// Its weight, if a recorded step computes it: one element.
    pub weight: Option<&'a Array<T>>,
    /// Source term.
    pub source: Option<Addend<'a, T>>,
    /// Target of the states, one after the other.
    pub to: Target<'a, T>,
    /// Target of the level before the last state, if requested.
    pub older_to: Option<Target<'a, T>>,
}

/// Place of the arrays during the sweeps.
struct Stage<'e> {
    engine: &'e (dyn Engine + 'static),
    /// Computes all but the filters if the arrays lie in the host's memory, since the engine has no room.
    cpu: Option<Cpu>,
}

/// The source term, in the place of the arrays.
enum Ready<'a, T> {
    Scalar(T),
    Own(Array<T>),
    Given(&'a Array<T>),
}

impl<T> Ready<'_, T> {
    fn operand(&self) -> Operand<'_, T>
    where
        T: Copy,
    {
        match self {
            Ready::Scalar(value) => Operand::Scalar(*value),
            Ready::Own(array) => Operand::Array(array),
            Ready::Given(array) => Operand::Array(array),
        }
    }
}

/// Minimum number of sweeps to run as kernels: for fewer, planning a program takes longer than it saves.
const MIN_SWEEPS_IN_KERNELS: usize = 8;

impl<T: Number> Scheme<'_, T> {
    /// Runs it. A sweep of filters alone counts in `watch` for each filter, any other once.
    ///
    /// # Errors
    /// The engine's. The target is unspecified then.
    ///
    /// # Panics
    /// If lengths of data do not match.
    pub fn run(&self, engine: &(dyn Engine + 'static), data: Data<T>, watch: &Watch) -> Result<(), Error> {
        let len = data.from.len();
        if len == 0 {
            return Ok(watch.check()?);
        }
        let weighted = self.weight.is_some() || data.weight.is_some();
        assert_eq!((data.to.len(), data.older.is_some()), (self.states * len, weighted));
        // The state, alternating results of filters, and the other data.
        let older = usize::from(data.older.is_some());
        let arrays = 3 + older + usize::from(matches!(data.source, Some(Addend::Elements(_))));
        let on_host = matches!(data.from, Source::Host(_));
        let stage = Stage { engine, cpu: (on_host && !engine.arrays::<T>().has_room(arrays, len)?).then(Cpu::new) };
        let joint = self.joint.as_ref().zip(self.weight.zip(data.older)).filter(|(joint, _)| {
            let alone = self.filters.len() == 1 && data.source.is_none() && stage.cpu.is_none();
            alone && self.every > 0 && joint.joins(engine)
        });
        let adds = weighted || data.source.is_some();
        // Several filters are one walk.
        let is_joined = self.filters.len() > 1;
        let is_long = self.states.saturating_mul(self.every) >= MIN_SWEEPS_IN_KERNELS && self.every > 1;
        if let Some((joint, older)) = joint {
            self.at_once(&stage, &**joint, older, data, watch)
        } else if (adds || is_joined) && is_long && stage.cpu.is_none() && data.weight.is_none() && engine.has_chains()
        {
            self.in_kernels(&stage, data, watch)
        } else {
            self.filter_by_filter(&stage, data, watch)
        }
    }

    /// Does sweeps of two levels, many at once in the engine.
    fn at_once(
        &self,
        stage: &Stage,
        joint: &dyn TwoLevels<T>,
        (weight, older): (T, Source<T>),
        data: Data<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let Data { from, mut to, older_to, .. } = data;
        let mut levels = [stage.loaded(from, watch)?, stage.loaded(older, watch)?];
        for state in 0..self.states {
            joint.sweep(stage.engine, self.every, weight, &mut levels, watch)?;
            stage.store(Source::Array(&levels[0]), &mut to, state, watch)?;
        }
        match older_to {
            Some(mut older_to) => stage.store(Source::Array(&levels[1]), &mut older_to, 0, watch),
            None => Ok(()),
        }
    }

    /// Does the sweeps one after the other, each as a step of a program.
    fn in_kernels(&self, stage: &Stage, data: Data<T>, watch: &Watch) -> Result<(), Error> {
        let adds = data.older.is_some() || data.source.is_some();
        let Data { from, older, source, mut to, older_to, .. } = data;
        let (number, added) = match source {
            None => (None, None),
            Some(Addend::Scalar(number)) => (Some(number), None),
            Some(Addend::Elements(added)) => (None, Some(added)),
        };
        let mut step = self.step(stage.engine, from.len(), number, added.is_some())?;
        let given = [Some(from), older, added].into_iter().flatten();
        let loaded = given.map(|given| Ok(T::numbers(Arc::new(stage.loaded(given, watch)?))));
        let mut states = loaded.collect::<Result<Vec<_>, Error>>()?;
        let run = Run::of(self.every);
        let counted_again = if adds { 0 } else { (self.filters.len() - 1) * self.every * from.len() };
        for state in 0..self.states {
            states = step.run(stage.engine, states, &run, watch)?.states;
            watch.count(counted_again);
            stage.store(Source::Array(array_of(&states[0])?), &mut to, state, watch)?;
        }
        match older_to {
            Some(mut older_to) => stage.store(Source::Array(array_of(&states[1])?), &mut older_to, 0, watch),
            None => Ok(()),
        }
    }

    /// Records a sweep as a step: of the state, the older level, and the source term, as far as present.
    fn step(&self, engine: &(dyn Engine + 'static), len: usize, number: Option<T>, adds: bool) -> Result<Step, Error> {
        let recording = Recording::new();
        let recorder = Recorder::new(recording.clone(), Box::new(Cpu::new()));
        let stage = Stage { engine: &recorder, cpu: None };
        let (watch, argument) = (Watch::new(), || recording.argument(T::SINGLE, len));
        let (newest, older, added) = (argument(), self.weight.map(|_| argument()), adds.then(argument));
        let mut next: Option<Array<T>> = None;
        for filter in &self.filters {
            let mut to = stage.array(len)?;
            let from = next.as_ref().map_or_else(|| array_of(&newest), Ok)?;
            filter(&recorder, 1, Source::Array(from), Target::Array(&mut to), &watch)?;
            next = Some(to);
        }
        let mut next = next.ok_or_else(|| Error::Internal("A sweep without a filter.".into()))?;
        let added_array = added.as_ref().map(array_of).transpose()?;
        let source = added_array.map(Operand::Array).or(number.map(Operand::Scalar));
        if let Some((weight, older)) = self.weight.zip(older.as_ref()) {
            let mut to = stage.loaded(Source::Array(array_of(older)?), &watch)?;
            stage.arithmetic().advance(&next, Operand::Scalar(weight), source, &mut to, &watch)?;
            next = to;
        } else if let Some(source) = source {
            let mut to = stage.array(len)?;
            stage.sum([Operand::Array(&next), source], &mut to, &watch)?;
            next = to;
        }
        // The newest level becomes the older one, and the source term stays.
        let results = [Some(T::numbers(Arc::new(next))), older.and(Some(newest)), added].into_iter().flatten();
        let outputs = results.map(|result| recording.value(&result)).collect::<Result<Vec<_>, _>>()?;
        let shape = Shape { states: outputs.len(), records: 0, until: false };
        Step::new(engine, recording.finish()?, outputs, shape)
    }

    /// Does one operation after the other.
    fn filter_by_filter(&self, stage: &Stage, data: Data<T>, watch: &Watch) -> Result<(), Error> {
        let Data { from, older, weight, source, mut to, older_to } = data;
        let weight = weight.map(Operand::Array).or(self.weight.map(Operand::Scalar));
        let len = from.len();
        let mut older = older.map(|older| stage.loaded(older, watch)).transpose()?;
        let source = match source {
            None => None,
            Some(Addend::Scalar(value)) => Some(Ready::Scalar(value)),
            Some(Addend::Elements(Source::Array(array))) => Some(Ready::Given(array)),
            Some(Addend::Elements(elements)) => Some(Ready::Own(stage.loaded(elements, watch)?)),
        };
        let adds = weight.is_some() || source.is_some();
        // Sweeps that are a single filter are combined in one call.
        let (sweeps, at_once) = if self.filters.len() == 1 && !adds { (1, self.every) } else { (self.every, 1) };
        // The state, and the level before it: `None` until computed, for the data of the call. And arrays to reuse.
        let (mut newest, mut spare): (Option<Array<T>>, Vec<Array<T>>) = (None, Vec::new());
        let mut stored = false;
        for state in 0..self.states {
            for sweep in 0..sweeps {
                let mark = watch.mark();
                // If no earlier level is needed, the state is replaced by the result.
                let mut step = if weight.is_none() { newest.take() } else { None };
                for (number, filter) in self.filters.iter().enumerate() {
                    let samples = step.as_ref().or(newest.as_ref());
                    let samples = samples.map_or(Ok(from), |samples| stage.source(samples))?;
                    // The very last filter may write to the target directly.
                    stored = !adds && self.states == 1 && sweep + 1 == sweeps && number + 1 == self.filters.len();
                    if stored {
                        filter(stage.engine, at_once, samples, again(&mut to), watch)?;
                        break;
                    }
                    let mut next = spare.pop().map_or_else(|| stage.array(len), Ok)?;
                    filter(stage.engine, at_once, samples, stage.target(&mut next)?, watch)?;
                    spare.extend(step.replace(next));
                }
                let Some(step) = step.filter(|_| !stored) else { break };
                let source = source.as_ref().map(Ready::operand);
                newest = Some(match (weight, source) {
                    (Some(weight), source) => {
                        let mut next = older.take().map_or_else(|| stage.loaded(from, watch), Ok)?;
                        stage.arithmetic().advance(&step, weight, source, &mut next, watch)?;
                        older = newest;
                        spare.push(step);
                        next
                    }
                    (None, Some(source)) => {
                        let mut next = spare.pop().map_or_else(|| stage.array(len), Ok)?;
                        stage.sum([Operand::Array(&step), source], &mut next, watch)?;
                        spare.push(step);
                        next
                    }
                    (None, None) => step,
                });
                if adds {
                    watch.rewind(mark);
                    watch.count(len);
                }
            }
            if !stored {
                let result = newest.as_ref().map_or(Ok(from), |newest| stage.source(newest))?;
                stage.store(result, &mut to, state, watch)?;
            }
        }
        match older_to {
            Some(mut older_to) => {
                let level = older.as_ref().map_or(Ok(from), |older| stage.source(older))?;
                stage.store(level, &mut older_to, 0, watch)
            }
            None => Ok(()),
        }
    }
}

/// Returns the array of numbers of this class.
fn array_of<T: Number>(numbers: &Numbers) -> Result<&Array<T>, Error> {
    let array = T::of_numbers(numbers).map(|array| &**array);
    array.ok_or_else(|| Error::Internal("A sweep in another class than its arrays.".into()))
}

/// Reborrows a target, for one of several writes to it.
fn again<'t, T>(target: &'t mut Target<'_, T>) -> Target<'t, T> {
    match target {
        Target::Host(results) => Target::Host(results),
        Target::Array(array) => Target::Array(array),
    }
}

impl<'e> Stage<'e> {
    fn array<T: Number>(&self, len: usize) -> Result<Array<T>, Error> {
        match &self.cpu {
            Some(cpu) => (cpu as &dyn Engine).arrays().array(len),
            None => self.engine.arrays().array(len),
        }
    }

    /// Engine for operations other than filters.
    fn arithmetic(&self) -> &(dyn Engine + 'static) {
        self.cpu.as_ref().map_or(self.engine, |cpu| cpu)
    }

    /// Lends an array to a filter as its source.
    fn source<'a, T: Number>(&self, array: &'a Array<T>) -> Result<Source<'a, T>, Error> {
        Ok(if self.cpu.is_some() { Source::Host(array.held::<Pooled<T>>()?) } else { Source::Array(array) })
    }

    /// Lends an array to a filter as its target.
    fn target<'a, T: Number>(&self, array: &'a mut Array<T>) -> Result<Target<'a, T>, Error> {
        Ok(if self.cpu.is_some() { Target::Host(array.held_mut::<Pooled<T>>()?) } else { Target::Array(array) })
    }

    /// Adds two operands, one of which is an array.
    fn sum<T: Number>(&self, operands: [Operand<T>; 2], to: &mut Array<T>, watch: &Watch) -> Result<(), Error>
where {
        let sizes = operands.map(|operand| match operand {
            Operand::Array(array) => [array.len(), 1],
            Operand::Scalar(_) => [1, 1],
        });
        let expansion = Expansion::new(sizes.each_ref().map(|size| &size[..]));
        let expansion = expansion.ok_or_else(|| Error::Internal("Two arrays of different sizes in a sweep.".into()))?;
        self.arithmetic().binary(Binary::Add, operands, &expansion, to, watch)
    }

    /// Copies an array to this place.
    fn loaded<T: Number>(&self, from: Source<T>, watch: &Watch) -> Result<Array<T>, Error> {
        let mut array = self.array(from.len())?;
        let mark = watch.mark();
        self.engine.arrays().copy(from, self.target(&mut array)?, watch)?;
        watch.rewind(mark);
        Ok(array)
    }

    /// Copies an array to the target of a state: the first one, the next one after it, and so on.
    fn store<T: Number>(&self, from: Source<T>, to: &mut Target<T>, state: usize, watch: &Watch) -> Result<(), Error> {
        let len = from.len();
        let mark = watch.mark();
        match to {
            Target::Host(results) => {
                let place = &mut results[state * len..(state + 1) * len];
                self.engine.arrays().copy(from, Target::Host(place), watch)?;
            }
            Target::Array(array) if array.len() == len => {
                self.engine.arrays().copy(from, Target::Array(array), watch)?;
            }
            Target::Array(array) => {
                self.engine.put(from, &Places::run(state * len, len), array, watch)?;
            }
        }
        // Copies count as no updates.
        watch.rewind(mark);
        Ok(())
    }
}
