//! Programs, run over and over.

use std::sync::Arc;

use super::Number;
use super::single::{self, alone};
use crate::stencil::program::{Node, Numbers, Operation, Plan, Program, Stage, Value};
use crate::stencil::{Array, Engine, Error, Places, Prepared, Source, Target};
use crate::watch::Watch;

/// What a program gives in each step, one kind behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Arrays that become arguments of the next step.
    pub states: usize,
    /// Arrays that are collected.
    pub records: usize,
    /// Whether the last one is a number that ends the run where it is no zero.
    pub until: bool,
}

/// How often a step is run, and what for.
#[derive(Debug)]
pub struct Run {
    /// The most steps.
    pub steps: usize,
    /// The steps that were done before, which count for the next two.
    pub before: usize,
    /// States are kept each time that so many steps are over; 0 for the last ones alone.
    pub every: usize,
    /// The end is asked for each time that so many steps are over; 1 at least.
    pub check: usize,
    /// Numbers for each step, so many a step, which follow the states as arguments of one element.
    pub values: Option<(Numbers, usize)>,
}

impl Run {
    /// How many states are kept.
    pub fn kept(&self) -> Option<usize> {
        let until = |steps: usize| steps.checked_div(self.every);
        until(self.before + self.steps).zip(until(self.before)).map(|(all, before)| all - before)
    }
}

/// What a run has come to.
#[derive(Debug)]
pub struct Ran {
    /// The last states.
    pub states: Vec<Numbers>,
    /// Where states were kept on the way: each of them, its copies one behind the other.
    pub kept: Vec<Numbers>,
    /// What was collected in each step, one behind the other.
    pub records: Vec<Numbers>,
    /// The steps that were done.
    pub steps: usize,
    /// Whether its end came by itself.
    pub ended: bool,
}

/// A step of a solver on one engine: from some arrays to some others.
pub struct Step {
    program: Arc<Program>,
    /// The arrays from outside; `None` for the arguments.
    known: Vec<Option<Numbers>>,
    /// What it gives.
    outputs: Vec<Value>,
    shape: Shape,
    stages: Vec<Ready>,
    /// Of each stage, what nobody reads behind it.
    over: Vec<Vec<Value>>,
}

/// A stage that is ready to run.
enum Ready {
    Kernel {
        inputs: Vec<Value>,
        outputs: Vec<Value>,
        kernel: Box<dyn Prepared>,
    },
    /// An operation, and its places where the engine holds a list of them.
    Single(Value, Option<Places>),
}

/// What is computed in a step, and arrays that nobody needs any more.
struct Buffers {
    results: Vec<Option<Numbers>>,
    spare: Vec<Numbers>,
}

impl Step {
    /// A program of which these results are asked for, ready to run on this engine. `known` are the arrays from outside, as
    /// [`Recording::finish`](super::Recording::finish) gives them.
    ///
    /// # Errors
    /// Those of [`Engine::prepare`].
    pub fn new(
        engine: &(dyn Engine + 'static),
        program: impl Into<Arc<Program>>,
        known: Vec<Option<Numbers>>,
        outputs: Vec<Value>,
        shape: Shape,
    ) -> Result<Step, Error> {
        let program = program.into();
        let plan = match engine.limits() {
            Some(limits) => Plan::new(&program, &outputs, limits),
            None => Plan::of_singles(&program, &outputs),
        };
        let ready = |stage: Stage| -> Result<Ready, Error> {
            Ok(match stage {
                Stage::Single(value) => Ready::Single(value, held_places(engine, program.node(value))?),
                Stage::Kernel(kernel) => Ready::Kernel {
                    kernel: engine.prepare(&kernel)?,
                    inputs: kernel.inputs,
                    outputs: kernel.outputs.into_iter().map(|(value, _)| value).collect(),
                },
            })
        };
        let stages = plan.stages.into_iter().map(ready).collect::<Result<Vec<_>, _>>()?;
        let over = over(&program, &stages, &outputs);
        Ok(Step { program, known, outputs, shape, stages, over })
    }

    /// How many kernels and single operations a step is.
    pub fn stages(&self) -> usize {
        self.stages.len()
    }

    /// Checks that a run can begin with these states and values, and that what a step gives is good for the next one:
    /// kernels do not ask how long arrays are.
    ///
    /// # Errors
    /// [`Error::Internal`].
    fn check(&self, states: &[Numbers], run: &Run) -> Result<(), Error> {
        let of_node = |node: &Node| (node.single, node.len);
        let is_argument = |node: &&Node| node.input().is_some_and(|input| self.known[input].is_none());
        let arguments = self.program.nodes().iter().filter(is_argument).map(of_node);
        let values = run.values.iter().flat_map(|(all, count)| std::iter::repeat_n((all.is_single(), 1), *count));
        let given = states.iter().map(|state| (state.is_single(), state.len())).chain(values);
        let results = self.outputs[..self.shape.states].iter().map(|value| of_node(self.program.node(*value)));
        let again = run.steps < 2 || results.eq(arguments.clone().take(self.shape.states));
        if states.len() == self.shape.states && given.eq(arguments) && again {
            return Ok(());
        }
        Err(Error::Internal(format!("A step that {} states or its values do not fit.", states.len())))
    }

    /// So many steps, each from the states that the one before gave.
    ///
    /// # Errors
    /// Those of the engine; [`Error::Internal`] for other arguments than the step was recorded with, and for results that
    /// are none of these where there is a second step.
    pub fn run(
        &mut self,
        engine: &(dyn Engine + 'static),
        states: Vec<Numbers>,
        run: &Run,
        watch: &Watch,
    ) -> Result<Ran, Error> {
        self.check(&states, run)?;
        let nodes = self.program.nodes().len();
        let mut buffers = Buffers { results: vec![None; nodes], spare: Vec::new() };
        let kept = run.kept().unwrap_or(0);
        let of_states: Vec<_> =
            self.outputs[..self.shape.states].iter().map(|value| self.program.node(*value)).collect();
        let of_records = self.outputs[self.shape.states..][..self.shape.records].iter();
        let mut on_the_way = Collections::new(engine, of_states, kept)?;
        let of_records = of_records.map(|value| self.program.node(*value)).collect();
        let mut records = Collections::new(engine, of_records, run.steps)?;
        let (mut states, mut done, mut ended) = (states, 0, false);
        while done < run.steps && !ended {
            watch.check()?;
            let values = values_of(engine, run, done, watch)?;
            self.take(states.drain(..).chain(values), &mut buffers.results);
            for (stage, over) in self.stages.iter_mut().zip(&self.over) {
                run_stage(engine, (&self.program, over), stage, &mut buffers, watch)?;
            }
            done += 1;
            let missing = || Error::Internal("A step without its result.".into());
            let results = self.outputs.iter().map(|value| buffers.results[value.0].clone().ok_or_else(missing));
            let results = results.collect::<Result<Vec<_>, _>>()?;
            (0..nodes).for_each(|at| buffers.drop_result(Value(at)));
            let mark = watch.mark();
            records.put(engine, done - 1, &results[self.shape.states..], watch)?;
            let all = run.before + done;
            if run.every > 0 && all.is_multiple_of(run.every) {
                on_the_way.put(engine, all / run.every - run.before / run.every - 1, &results, watch)?;
            }
            if self.shape.until && (all.is_multiple_of(run.check) || done == run.steps) {
                ended = is_true(engine, results.last().ok_or_else(missing)?, watch)?;
            }
            watch.rewind(mark);
            watch.count(results.iter().map(Numbers::len).max().unwrap_or(0));
            let mut results = results.into_iter();
            states.extend(results.by_ref().take(self.shape.states));
            results.for_each(|result| buffers.give(result));
        }
        let all = |collections: Collections| collections.0.into_iter().map(|(all, _)| all).collect();
        let kept = if run.every > 0 { all(on_the_way) } else { Vec::new() };
        Ok(Ran { states, kept, records: all(records), steps: done, ended })
    }

    /// The inputs of the program, as results.
    fn take(&self, mut arguments: impl Iterator<Item = Numbers>, results: &mut [Option<Numbers>]) {
        let inputs =
            self.program.nodes().iter().enumerate().filter_map(|(at, node)| node.input().map(|input| (at, input)));
        for (at, input) in inputs {
            results[at] = self.known[input].clone().or_else(|| arguments.next());
        }
    }
}

/// What nobody reads behind each stage.
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

/// The places that an operation picks, in a list that the engine holds: so none crosses the link in a step.
fn held_places(engine: &(dyn Engine + 'static), node: &Node) -> Result<Option<Places>, Error> {
    let Operation::Pick(places, _) = &node.operation else { return Ok(None) };
    let Places::List(list) = &**places else { return Ok(None) };
    let held = match node.single {
        true => f32::arithmetic(engine).list(list, &Watch::new()),
        false => f64::arithmetic(engine).list(list, &Watch::new()),
    };
    Ok(held?.map(|list| Places::Held(Arc::new(list))))
}

/// An array of unknown numbers.
fn room(engine: &(dyn Engine + 'static), single: bool, len: usize) -> Result<Numbers, Error> {
    fn new<T: Number>(engine: &(dyn Engine + 'static), len: usize) -> Result<Numbers, Error> {
        let array: Array<T> = T::compute(engine).array(len)?;
        Ok(T::numbers(Arc::new(array)))
    }
    if single { new::<f32>(engine, len) } else { new::<f64>(engine, len) }
}

/// The values of a step, an array each.
fn values_of(engine: &(dyn Engine + 'static), run: &Run, step: usize, watch: &Watch) -> Result<Vec<Numbers>, Error> {
    fn pick<T: Number>(
        engine: &(dyn Engine + 'static),
        all: &Array<T>,
        at: usize,
        watch: &Watch,
    ) -> Result<Numbers, Error> {
        let mut value: Array<T> = T::compute(engine).array(1)?;
        T::arithmetic(engine).pick(all, &Places::run(at, 1), Target::Array(&mut value), watch)?;
        Ok(value).map(|value| T::numbers(Arc::new(value)))
    }
    let Some((all, count)) = &run.values else { return Ok(Vec::new()) };
    let places = step * count..(step + 1) * count;
    places
        .map(|at| match all {
            Numbers::Double(all) => pick(engine, all, at, watch),
            Numbers::Single(all) => pick(engine, all, at, watch),
        })
        .collect()
}

/// Whether a number is no zero. This waits for it.
fn is_true(engine: &(dyn Engine + 'static), number: &Numbers, watch: &Watch) -> Result<bool, Error> {
    fn value<T: Number>(engine: &(dyn Engine + 'static), of: &Array<T>, watch: &Watch) -> Result<bool, Error> {
        let mut value = vec![T::default(); of.len()];
        T::compute(engine).copy(Source::Array(of), Target::Host(&mut value), watch)?;
        Ok(value.iter().all(|value| *value != T::default()))
    }
    match number {
        Numbers::Double(number) => value(engine, number, watch),
        Numbers::Single(number) => value(engine, number, watch),
    }
}

/// Arrays that are collected, with the length of each.
struct Collections(Vec<(Numbers, usize)>);

impl Collections {
    /// Room for `count` results of each of these nodes.
    fn new(engine: &(dyn Engine + 'static), of: Vec<&Node>, count: usize) -> Result<Collections, Error> {
        let too_large = || Error::OutOfMemory("What is collected has more elements than can be counted.".into());
        let all = of.into_iter().map(|node| {
            let len = node.len.checked_mul(count).ok_or_else(too_large)?;
            Ok((room(engine, node.single, len)?, node.len))
        });
        all.collect::<Result<_, _>>().map(Collections)
    }

    /// Keeps the results number `at`.
    fn put(
        &mut self,
        engine: &(dyn Engine + 'static),
        at: usize,
        results: &[Numbers],
        watch: &Watch,
    ) -> Result<(), Error> {
        fn put<T: Number>(
            engine: &(dyn Engine + 'static),
            (all, from): (&mut Numbers, &Array<T>),
            (at, len): (usize, usize),
            watch: &Watch,
        ) -> Result<(), Error> {
            T::arithmetic(engine).put(Source::Array(from), &Places::run(at * len, len), alone::<T>(all)?, watch)
        }
        for ((all, len), result) in self.0.iter_mut().zip(results) {
            match result {
                Numbers::Double(result) => put(engine, (all, result), (at, *len), watch)?,
                Numbers::Single(result) => put(engine, (all, result), (at, *len), watch)?,
            }
        }
        Ok(())
    }
}

impl Buffers {
    /// An array for what a node gives, which nobody else has.
    fn room(&mut self, engine: &(dyn Engine + 'static), node: &Node) -> Result<Numbers, Error> {
        let fits = |spare: &Numbers| spare.is_single() == node.single && spare.len() == node.len;
        match self.spare.iter().position(fits) {
            Some(found) => Ok(self.spare.swap_remove(found)),
            None => room(engine, node.single, node.len),
        }
    }

    /// A result, taken away, if nobody else has it.
    fn alone(result: &mut Option<Numbers>) -> Option<Numbers> {
        let is_alone = match result.as_mut()? {
            Numbers::Double(array) => Array::alone(array).is_ok(),
            Numbers::Single(array) => Array::alone(array).is_ok(),
        };
        if is_alone { result.take() } else { None }
    }

    /// An array that is not needed here any more. If nobody else has it, it is written to again.
    fn give(&mut self, numbers: Numbers) {
        self.spare.extend(Buffers::alone(&mut Some(numbers)));
    }

    /// A result that is not needed any more.
    fn drop_result(&mut self, of: Value) {
        self.results[of.0].take().into_iter().for_each(|result| self.give(result));
    }
}

fn run_stage(
    engine: &(dyn Engine + 'static),
    (program, over): (&Program, &[Value]),
    stage: &mut Ready,
    buffers: &mut Buffers,
    watch: &Watch,
) -> Result<(), Error> {
    // Steps are counted, and not what they are made of.
    let mark = watch.mark();
    match stage {
        Ready::Single(value, places) => {
            let node = program.node(*value);
            // What is changed gives way to the result, where nobody reads it any more.
            let read_once = |of: &Value| node.operation.values().filter(|value| value == of).count() == 1;
            let changed = single::changed(&node.operation).filter(|of| over.contains(of) && read_once(of));
            let begun = changed.and_then(|of| Buffers::alone(&mut buffers.results[of.0]));
            let begins = begun.is_some();
            let mut room = begun.map_or_else(|| buffers.room(engine, node), Ok)?;
            single::compute(engine, (node, places.as_ref()), &buffers.results, (&mut room, begins), watch)?;
            buffers.results[value.0] = Some(room);
        }
        Ready::Kernel { inputs, outputs, kernel } => {
            let mut rooms = Vec::with_capacity(outputs.len());
            for value in &*outputs {
                rooms.push(buffers.room(engine, program.node(*value))?);
            }
            let missing = || Error::Internal("A kernel without its input.".into());
            let of = |value: &Value| buffers.results[value.0].as_ref().ok_or_else(missing);
            let inputs = inputs.iter().map(of).collect::<Result<Vec<_>, _>>()?;
            kernel.run(&inputs, &mut rooms, watch)?;
            for (value, room) in outputs.iter().zip(rooms) {
                buffers.results[value.0] = Some(room);
            }
        }
    }
    watch.rewind(mark);
    over.iter().for_each(|value| buffers.drop_result(*value));
    Ok(())
}
