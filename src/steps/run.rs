//! Repeated runs of programs.

use std::sync::Arc;

use super::batches::Batches;
use super::buffers::Buffers;
use super::collections::{Collections, MOST_RECORDED};
use super::recording::{Drawn, Taped};
use super::several::Several;
use super::single;
use super::values::{Supply, Values};
use crate::platform::watch::Watch;
use crate::stencil::program::{Node, Plan, Program, Stage, Value};
use crate::stencil::{Array, Engine, Error, Number, Numbers, Operation, Places, Prepared, Room, Source, Span, Target};

/// Outputs of a program in each step, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of arrays that become arguments of the next step.
    pub states: usize,
    /// Number of arrays that are collected.
    pub records: usize,
    /// True if the last one is a number that ends the run if it is nonzero.
    pub until: bool,
}

/// Number of steps of a run, and their options.
#[derive(Debug)]
pub struct Run<'a> {
    /// Maximum number of steps.
    pub steps: usize,
    /// Number of earlier steps, which count for the next three.
    pub before: usize,
    /// Maximum number of steps of all runs: the end is checked after the last of them.
    pub total: usize,
    /// Interval of steps at which states are kept, and if the end is checked, also the last ones; 0 for none.
    pub every: usize,
    /// Interval of steps at which the end is checked; at least 1.
    pub check: usize,
    /// Arguments of each step that follow the states.
    pub values: Values<'a>,
}

impl Run<'_> {
    /// A run of this many steps, without checks, as the engine prefers.
    pub fn of(steps: usize) -> Run<'static> {
        Run { steps, before: 0, total: steps, every: 0, check: 1, values: Values::Pages(Vec::new()) }
    }

    /// Maximum number of steps from `done` on until one needs a check or a copy. The number that ends a run is the last
    /// step's own.
    fn free(&self, done: usize, shape: Shape) -> usize {
        let all = self.before + done;
        let mut free = self.steps - done;
        if shape.until {
            free = free.min(self.check - all % self.check).min(self.total - all) - 1;
        }
        if self.every > 0 {
            free = free.min(self.every - all % self.every);
        }
        free
    }

    /// Maximum number of states that are kept.
    fn most_kept(&self, until: bool) -> usize {
        let over = |steps: usize| steps.checked_div(self.every);
        let all = over(self.before + self.steps).zip(over(self.before)).map(|(all, before)| all - before);
        all.map_or(0, |all| all + usize::from(until))
    }
}

/// Results of a run.
#[derive(Debug)]
pub struct Ran {
    /// The last states.
    pub states: Vec<Numbers>,
    /// States kept on the way, if requested: for each state, its copies one after the other.
    pub kept: Vec<Numbers>,
    /// Number of copies.
    pub pages: usize,
    /// Collected records of each step, one after the other.
    pub records: Vec<Numbers>,
    /// Number of steps done.
    pub steps: usize,
    /// Number of them that were not taken one by one.
    pub at_once: usize,
    /// Number of them that were replayed.
    pub replayed: usize,
    /// True if the condition ended it.
    pub ended: bool,
}

/// A step of a solver on one engine: from some arrays to some others.
pub struct Step {
    program: Arc<Program>,
    /// External arrays; `None` for the arguments.
    known: Vec<Option<Numbers>>,
    /// Inputs that are arguments: the states, then the values of a step.
    arguments: Vec<usize>,
    /// Outputs.
    outputs: Vec<Value>,
    shape: Shape,
    stages: Vec<Ready>,
    /// Values of each stage that are not read after it.
    over: Vec<Vec<Value>>,
    /// Method to take several steps at once, once it has been requested.
    several: Option<Option<Several>>,
}

/// A stage that is ready to run.
enum Ready {
    Kernel {
        inputs: Vec<Value>,
        outputs: Vec<Value>,
        kernel: Box<dyn Prepared>,
    },
    /// An operation, and its places if the engine holds a list of them.
    Single(Value, Option<Places>),
}

impl Step {
    /// Prepares a program with these results for this engine. A program that draws random numbers has one more state,
    /// the last: the number of the first draw, which is not among the requested results.
    ///
    /// # Errors
    /// Those of [`Engine::prepare`].
    pub fn new(
        engine: &(dyn Engine + 'static),
        Taped { program, known, drawn }: Taped,
        mut outputs: Vec<Value>,
        mut shape: Shape,
    ) -> Result<Step, Error> {
        let mut arguments: Vec<usize> = (0..known.len()).filter(|&input| known[input].is_none()).collect();
        if let Some(Drawn { input, next, .. }) = drawn {
            arguments.retain(|&argument| argument != input);
            arguments.insert(shape.states, input);
            outputs.insert(shape.states, next);
            shape.states += 1;
        }
        let plan = match engine.limits() {
            Some(limits) => Plan::new(&program, &outputs, limits),
            None => Plan::of_singles(&program, &outputs),
        };
        let ready = |stage: Stage| -> Result<Ready, Error> {
            Ok(match stage {
                Stage::Single(value) => Ready::Single(value, held_places(engine, program.node(value))?),
                Stage::Kernel(kernel) => Ready::Kernel {
                    kernel: engine.prepare(&kernel)?,
                    outputs: kernel.written().collect(),
                    inputs: kernel.inputs,
                },
            })
        };
        let stages = plan.stages.into_iter().map(ready).collect::<Result<Vec<_>, _>>()?;
        let over = over(&program, &stages, &outputs);
        Ok(Step { program, known, arguments, outputs, shape, stages, over, several: None })
    }

    /// Number of kernels and single operations in a step.
    pub fn stages(&self) -> usize {
        self.stages.len()
    }

    /// Checks that a run can begin with these states and values, and that the outputs of a step fit the next one:
    /// kernels do not check lengths.
    ///
    /// # Errors
    /// [`Error::Internal`].
    fn check(&self, states: &[Numbers], run: &Run) -> Result<(), Error> {
        let of_node = |node: &Node| (node.single, node.len);
        let inputs: Vec<&Node> = self.program.nodes().iter().filter(|node| node.input().is_some()).collect();
        let arguments = self.arguments.iter().map(|&input| of_node(inputs[input]));
        let given = states.iter().map(|state| (state.is_single(), state.len())).chain(run.values.arguments());
        let results = self.outputs[..self.shape.states].iter().map(|value| of_node(self.program.node(*value)));
        let again = run.steps < 2 || results.eq(arguments.clone().take(self.shape.states));
        if states.len() == self.shape.states && given.eq(arguments) && again {
            return Ok(());
        }
        Err(Error::Internal(format!("A step that {} states or its values do not fit.", states.len())))
    }

    /// Takes one step from these arguments, whose number may differ from that of the results.
    ///
    /// # Errors
    /// Those of the engine; [`Error::Internal`] for other arguments than the step was recorded with.
    pub fn once(
        &mut self,
        engine: &(dyn Engine + 'static),
        arguments: Vec<Numbers>,
        watch: &Watch,
    ) -> Result<Vec<Numbers>, Error> {
        let inputs: Vec<&Node> = self.program.nodes().iter().filter(|node| node.input().is_some()).collect();
        let expected = self.arguments.iter().map(|&input| (inputs[input].single, inputs[input].len));
        if !arguments.iter().map(|argument| (argument.is_single(), argument.len())).eq(expected) {
            return Err(Error::Internal("A program whose arguments do not fit.".into()));
        }
        let results = vec![None; self.program.nodes().len()];
        let mut buffers = Buffers { results, spare: Vec::new(), noted: None };
        self.take_one(engine, arguments.into_iter(), &mut buffers, watch)
    }

    /// Takes several steps, each from the states of the one before.
    ///
    /// # Errors
    /// Those of the engine; [`Error::Internal`] for other arguments than the step was recorded with, and, with a second
    /// step, for results that do not fit these.
    pub fn run(
        &mut self,
        engine: &(dyn Engine + 'static),
        states: Vec<Numbers>,
        run: &Run,
        watch: &Watch,
    ) -> Result<Ran, Error> {
        self.check(&states, run)?;
        let nodes = self.program.nodes().len();
        let mut buffers = Buffers { results: vec![None; nodes], spare: Vec::new(), noted: None };
        let until = self.shape.until;
        let of = |outputs: &[Value]| outputs.iter().map(|value| self.program.node(*value)).collect::<Vec<_>>();
        let kept = if run.every > 0 { of(&self.outputs[..self.shape.states]) } else { Vec::new() };
        let mut on_the_way = Collections::new(engine, &kept, (run.most_kept(until), until))?;
        let of_records = of(&self.outputs[self.shape.states..][..self.shape.records]);
        let mut records = Collections::new(engine, &of_records, (run.steps, until))?;
        let (mut states, mut done, mut at_once, mut ended) = (states, 0, 0, false);
        let mut supply = Supply::new(&run.values, run.before, run.steps);
        let mut batches = Batches::new(self.can_be_noted(engine, run));
        while done < run.steps && !ended {
            watch.check()?;
            let free = run.free(done, self.shape);
            let span = Span { first: done, most: free };
            let settled = self.several.as_mut().and_then(|several| several.as_mut()?.settled(&span));
            let mut took = 0;
            if let Some(levels) = settled {
                let mut launch = |states: &mut Vec<Numbers>, buffers: &mut Buffers| match self.take_several(
                    engine,
                    (&mut supply, span),
                    (states, &mut records),
                    buffers,
                    watch,
                )? {
                    took if took == levels => Ok(()),
                    took => Err(Error::Internal(format!("{took} steps in place of {levels}."))),
                };
                took = batches.take(engine, &mut launch, (levels, free), (&mut states, &mut buffers), watch)?;
            }
            if took == 0 {
                took =
                    self.take_several(engine, (&mut supply, span), (&mut states, &mut records), &mut buffers, watch)?;
            }
            if took == 0 {
                let mut launch = |states: &mut Vec<Numbers>, buffers: &mut Buffers| {
                    let results = self.take_one(engine, states.drain(..), buffers, watch)?;
                    self.take_over(results, states, buffers);
                    Ok(())
                };
                took = batches.take(engine, &mut launch, (1, free), (&mut states, &mut buffers), watch)?;
            }
            if took > 0 {
                watch.count(took.saturating_mul(states.iter().map(Numbers::len).max().unwrap_or(0)));
                (done, at_once) = (done + took, at_once + took);
                if run.every > 0 && (run.before + done).is_multiple_of(run.every) {
                    let mark = watch.mark();
                    on_the_way.put(engine, &states, watch)?;
                    watch.rewind(mark);
                }
                continue;
            }
            let values = supply.of_step(engine, done, &mut buffers, watch)?;
            let results = self.take_one(engine, states.drain(..).chain(values), &mut buffers, watch)?;
            done += 1;
            let mark = watch.mark();
            records.put(engine, &results[self.shape.states..], watch)?;
            let all = run.before + done;
            if until && (all.is_multiple_of(run.check) || all == run.total) {
                ended = results.last().map_or(Ok(false), |number| is_true(engine, number, all, watch))?;
            }
            if run.every > 0 && (all.is_multiple_of(run.every) || until && (ended || all == run.total)) {
                on_the_way.put(engine, &results, watch)?;
            }
            watch.rewind(mark);
            watch.count(results.iter().map(Numbers::len).max().unwrap_or(0));
            self.take_over(results, &mut states, &mut buffers);
        }
        let pages = on_the_way.count;
        let (kept, records) = (on_the_way.all(engine, watch)?, records.all(engine, watch)?);
        Ok(Ran { states, kept, pages, records, steps: done, at_once, replayed: batches.replayed, ended })
    }

    /// Turns the results of a step into the states of the next one, as far as they are states.
    fn take_over(&self, results: Vec<Numbers>, states: &mut Vec<Numbers>, buffers: &mut Buffers) {
        let mut results = results.into_iter();
        states.extend(results.by_ref().take(self.shape.states));
        results.for_each(|result| buffers.release(result));
    }

    /// Returns true if steps consist only of kernels that the engine can defer, and have no values or records of their
    /// own.
    fn can_be_noted(&self, engine: &(dyn Engine + 'static), run: &Run) -> bool {
        let are_kernels = self.stages.iter().all(|stage| matches!(stage, Ready::Kernel { .. }));
        let has_own = !run.values.is_empty() || self.shape.records > 0;
        engine.has_chains() && are_kernels && !has_own
    }

    /// Takes one step, and returns all its outputs.
    fn take_one(
        &mut self,
        engine: &(dyn Engine + 'static),
        arguments: impl Iterator<Item = Numbers>,
        buffers: &mut Buffers,
        watch: &Watch,
    ) -> Result<Vec<Numbers>, Error> {
        self.take(arguments, &mut buffers.results);
        for (stage, over) in self.stages.iter_mut().zip(&self.over) {
            run_stage(engine, (&self.program, over), stage, buffers, watch)?;
        }
        let missing = || Error::Internal("A step without its result.".into());
        let results = self.outputs.iter().map(|value| buffers.results[value.0].clone().ok_or_else(missing));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        (0..buffers.results.len()).for_each(|at| buffers.drop_result(Value(at)));
        Ok(results)
    }

    /// Takes several steps at once, if the engine can and none of them needs a check. Returns their number.
    fn take_several(
        &mut self,
        engine: &(dyn Engine + 'static),
        (supply, mut span): (&mut Supply, Span),
        (states, records): (&mut Vec<Numbers>, &mut Collections),
        buffers: &mut Buffers,
        watch: &Watch,
    ) -> Result<usize, Error> {
        if span.most == 0 || supply.has_pages() {
            return Ok(0);
        }
        let several = match self.several.take() {
            Some(several) => several,
            None => {
                let (states, rest) = self.outputs.split_at(self.shape.states);
                let inputs = (&self.known[..], &self.arguments[..]);
                Several::new(engine, &self.program, inputs, (states, &rest[..self.shape.records]))?
            }
        };
        let Some(mut several) = several else {
            self.several = Some(None);
            return Ok(0);
        };
        let mark = watch.mark();
        if !records.arrays.is_empty() {
            span.most = span.most.min(MOST_RECORDED);
            records.reserve(engine, span.most, watch)?;
        }
        let mut outputs = Vec::with_capacity(states.len());
        for state in &*states {
            outputs.push(buffers.room(engine, state.is_single(), state.len())?);
        }
        let mut noted = buffers.noted.take();
        let numbers = supply.numbers();
        let mut one = || {
            let values = supply.of_step(engine, span.first, buffers, watch)?;
            let results = self.take_one(engine, states.iter().cloned().chain(values), buffers, watch)?;
            results.into_iter().for_each(|result| buffers.release(result));
            Ok(())
        };
        let Collections { arrays, count, .. } = records;
        let room = Room { outputs: &mut outputs, records: arrays, recorded: *count, noted: noted.as_mut() };
        let took = several.run((states, numbers), room, &span, &mut one, watch);
        self.several = Some(Some(several));
        buffers.noted = noted;
        let took = took?;
        records.count += took;
        if took > 0 {
            std::mem::swap(states, &mut outputs);
        }
        outputs.into_iter().for_each(|array| buffers.release(array));
        watch.rewind(mark);
        Ok(took)
    }

    /// Writes the inputs of the program to the results.
    fn take(&self, arguments: impl Iterator<Item = Numbers>, results: &mut [Option<Numbers>]) {
        let mut inputs = self.known.clone();
        for (&input, argument) in self.arguments.iter().zip(arguments) {
            inputs[input] = Some(argument);
        }
        for (node, result) in self.program.nodes().iter().zip(results) {
            if let Some(input) = node.input() {
                *result = inputs[input].take();
            }
        }
    }
}

/// Finds the values that are not read after each stage.
fn over(program: &Program, stages: &[Ready], outputs: &[Value]) -> Vec<Vec<Value>> {
    let mut read = vec![false; program.nodes().len()];
    outputs.iter().for_each(|value| read[value.0] = true);
    let mut over: Vec<_> = stages
        .iter()
        .rev()
        .map(|stage| {
            let values = match stage {
                Ready::Kernel { inputs, .. } => inputs.clone(),
                Ready::Single(value, _) => program.node(*value).operation.values().collect(),
            };
            values.into_iter().filter(|value| !std::mem::replace(&mut read[value.0], true)).collect()
        })
        .collect();
    over.reverse();
    over
}

/// Copies the places that an operation picks to the engine: so none crosses the link in a step.
fn held_places(engine: &(dyn Engine + 'static), node: &Node) -> Result<Option<Places>, Error> {
    let Operation::Pick(places, _) = &node.operation else { return Ok(None) };
    let Places::List(list) = &**places else { return Ok(None) };
    Ok(engine.list(list, &Watch::new())?.map(|list| Places::Held(Arc::new(list))))
}

/// Waits for the number that ends a run, and returns true unless it is zero. `steps` are done then.
///
/// # Errors
/// [`Error::Until`] for NaN.
fn is_true(engine: &(dyn Engine + 'static), number: &Numbers, steps: usize, watch: &Watch) -> Result<bool, Error> {
    fn value<T: Number>(engine: &(dyn Engine + 'static), of: &Array<T>, watch: &Watch) -> Result<f64, Error> {
        let mut value = [T::default()];
        engine.arrays::<T>().copy(Source::Array(of), Target::Host(&mut value), watch)?;
        Ok(value[0].to_f64())
    }
    let value = match number {
        Numbers::Double(number) => value(engine, number, watch)?,
        Numbers::Single(number) => value(engine, number, watch)?,
    };
    if value.is_nan() { Err(Error::Until(steps)) } else { Ok(value != 0.0) }
}

fn run_stage(
    engine: &(dyn Engine + 'static),
    (program, over): (&Program, &[Value]),
    stage: &mut Ready,
    buffers: &mut Buffers,
    watch: &Watch,
) -> Result<(), Error> {
    // Steps are counted instead of their operations.
    let mark = watch.mark();
    match stage {
        Ready::Single(value, places) => {
            let node = program.node(*value);
            // The changed array is reused for the result, if it is not read any more.
            let read_once = |of: &Value| node.operation.values().filter(|value| value == of).count() == 1;
            let changed = single::changed(&node.operation).filter(|of| over.contains(of) && read_once(of));
            let begun = changed.and_then(|of| Buffers::alone(&mut buffers.results[of.0]));
            let begins = begun.is_some();
            let mut room = begun.map_or_else(|| buffers.room(engine, node.single, node.len), Ok)?;
            single::compute(engine, (node, places.as_ref()), &buffers.results, (&mut room, begins), watch)?;
            buffers.results[value.0] = Some(room);
        }
        Ready::Kernel { inputs, outputs, kernel } => {
            let mut rooms = Vec::with_capacity(outputs.len());
            for value in &*outputs {
                rooms.push({
                    let node = program.node(*value);
                    buffers.room(engine, node.single, node.len)?
                });
            }
            let missing = || Error::Internal("A kernel without its input.".into());
            let of = |value: &Value| buffers.results[value.0].as_ref().ok_or_else(missing);
            let inputs = inputs.iter().map(of).collect::<Result<Vec<_>, _>>()?;
            match &mut buffers.noted {
                Some(noted) => noted.push(kernel.note(&inputs, &mut rooms)?),
                None => kernel.run(&inputs, &mut rooms, watch)?,
            }
            for (value, room) in outputs.iter().zip(rooms) {
                buffers.results[value.0] = Some(room);
            }
        }
    }
    watch.rewind(mark);
    over.iter().for_each(|value| buffers.drop_result(*value));
    Ok(())
}
