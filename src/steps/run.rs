//! Programs, run over and over.

use std::sync::Arc;

use super::Number;
use super::single::{self, alone};
use crate::stencil::program::{Node, Numbers, Plan, Program, Stage, Value};
use crate::stencil::{Array, Engine, Error, Prepared};
use crate::watch::Watch;

/// A step of a solver on one engine: from some arrays to some others.
pub struct Step {
    program: Program,
    /// The arrays from outside; `None` for the arguments.
    known: Vec<Option<Numbers>>,
    /// What it gives.
    outputs: Vec<Value>,
    stages: Vec<Ready>,
}

/// A stage that is ready to run.
enum Ready {
    Kernel { inputs: Vec<Value>, outputs: Vec<Value>, kernel: Box<dyn Prepared> },
    Single(Value),
}

/// What is computed in a step, and arrays for the next one.
struct Buffers {
    results: Vec<Option<Numbers>>,
    spare: Vec<Option<Numbers>>,
}

impl Step {
    /// A program of which these results are asked for, ready to run on this engine. `known` are the arrays from outside, as
    /// [`Recording::finish`](super::Recording::finish) gives them.
    ///
    /// # Errors
    /// Those of [`Engine::prepare`].
    pub fn new(
        engine: &(dyn Engine + 'static),
        program: Program,
        known: Vec<Option<Numbers>>,
        outputs: Vec<Value>,
    ) -> Result<Step, Error> {
        let plan = match engine.limits() {
            Some(limits) => Plan::new(&program, &outputs, limits),
            None => Plan::of_singles(&program, &outputs),
        };
        let ready = |stage: Stage| -> Result<Ready, Error> {
            Ok(match stage {
                Stage::Single(value) => Ready::Single(value),
                Stage::Kernel(kernel) => Ready::Kernel {
                    kernel: engine.prepare(&kernel)?,
                    inputs: kernel.inputs,
                    outputs: kernel.outputs.into_iter().map(|(value, _)| value).collect(),
                },
            })
        };
        let stages = plan.stages.into_iter().map(ready).collect::<Result<_, _>>()?;
        Ok(Step { program, known, outputs, stages })
    }

    /// How many kernels and single operations a step is.
    pub fn stages(&self) -> usize {
        self.stages.len()
    }

    /// The arguments that it takes.
    pub fn arguments(&self) -> usize {
        self.known.iter().filter(|known| known.is_none()).count()
    }

    /// So many steps, each from what the one before gave: the first arguments are the states, of which there are as many as
    /// results, the others stay as they are. `after` is told the states of each step.
    ///
    /// # Errors
    /// Those of the engine, and of `after`.
    pub fn run(
        &mut self,
        engine: &(dyn Engine + 'static),
        arguments: Vec<Numbers>,
        steps: usize,
        watch: &Watch,
        mut after: impl FnMut(usize, &[Numbers]) -> Result<bool, Error>,
    ) -> Result<Vec<Numbers>, Error> {
        let states = self.outputs.len();
        let mut arguments = arguments;
        let nodes = self.program.nodes().len();
        let mut buffers = Buffers { results: vec![None; nodes], spare: vec![None; nodes] };
        let mut results: Vec<Numbers> = arguments[..states.min(arguments.len())].to_vec();
        for step in 0..steps {
            watch.check()?;
            self.take(&arguments, &mut buffers.results);
            for stage in &mut self.stages {
                run_stage(engine, &self.program, stage, &mut buffers, watch)?;
            }
            results.clear();
            for value in &self.outputs {
                let result = buffers.results[value.0].clone();
                results.push(result.ok_or_else(|| Error::Internal("A step without its result.".into()))?);
            }
            buffers.keep(&self.program, &self.outputs);
            watch.count(results.iter().map(Numbers::len).max().unwrap_or(0));
            if !after(step + 1, &results)? {
                break;
            }
            if step + 1 < steps {
                for (value, (argument, result)) in self.outputs.iter().zip(arguments.iter_mut().zip(&results)) {
                    buffers.give(*value, std::mem::replace(argument, result.clone()), result);
                }
            }
        }
        Ok(results)
    }

    /// The inputs of the program, as results.
    fn take(&self, arguments: &[Numbers], results: &mut [Option<Numbers>]) {
        let mut next = arguments.iter();
        let inputs =
            self.program.nodes().iter().enumerate().filter_map(|(at, node)| node.input().map(|input| (at, input)));
        for (at, input) in inputs {
            results[at] = self.known[input].as_ref().or_else(|| next.next()).cloned();
        }
    }
}

impl Buffers {
    /// An array for what a node gives, which nobody else has.
    fn room(&mut self, engine: &(dyn Engine + 'static), value: Value, node: &Node) -> Result<Numbers, Error> {
        fn new<T: Number>(engine: &(dyn Engine + 'static), len: usize) -> Result<Numbers, Error> {
            let array: Array<T> = T::compute(engine).array(len)?;
            Ok(T::numbers(Arc::new(array)))
        }
        if let Some(mut spare) = self.spare[value.0].take() {
            let is_alone =
                if node.single { alone::<f32>(&mut spare).is_ok() } else { alone::<f64>(&mut spare).is_ok() };
            if is_alone {
                return Ok(spare);
            }
        }
        if node.single { new::<f32>(engine, node.len) } else { new::<f64>(engine, node.len) }
    }

    /// What is neither argument nor result of the step is written to again in the next one.
    fn keep(&mut self, program: &Program, outputs: &[Value]) {
        for (at, (result, node)) in self.results.iter_mut().zip(program.nodes()).enumerate() {
            let result = result.take();
            if node.input().is_none() && !outputs.contains(&Value(at)) && result.is_some() {
                self.spare[at] = result;
            }
        }
    }

    /// An array that a step has read is written to in the next one, in the place of `result`, if nobody else has it.
    fn give(&mut self, value: Value, old: Numbers, result: &Numbers) {
        if old.is_single() == result.is_single() && old.len() == result.len() {
            self.spare[value.0] = Some(old);
        }
    }
}

fn run_stage(
    engine: &(dyn Engine + 'static),
    program: &Program,
    stage: &mut Ready,
    buffers: &mut Buffers,
    watch: &Watch,
) -> Result<(), Error> {
    // Steps are counted, and not what they are made of.
    let mark = watch.mark();
    match stage {
        Ready::Single(value) => {
            let node = program.node(*value);
            let mut room = buffers.room(engine, *value, node)?;
            single::compute(engine, node, &buffers.results, &mut room, watch)?;
            buffers.results[value.0] = Some(room);
        }
        Ready::Kernel { inputs, outputs, kernel } => {
            let mut rooms = Vec::with_capacity(outputs.len());
            for value in &*outputs {
                rooms.push(buffers.room(engine, *value, program.node(*value))?);
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
    Ok(())
}
