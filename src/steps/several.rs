//! Several steps at once, by an engine that can.

use super::run::{Buffers, Run, Shape, Step, values_of};
use crate::stencil::program::{Feed, Kernel, Numbers, Program, Recurrence, Value};
use crate::stencil::{Advance, Engine, Error, Span};
use crate::watch::Watch;

/// Several steps at once, and where what they read comes from.
pub(super) struct Several {
    sources: Vec<Origin>,
    advance: Box<dyn Advance>,
}

/// Where an input comes from.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// An array from outside.
    Known(usize),
    /// A state.
    State(usize),
    /// The numbers of all steps.
    Numbers,
}

impl Run {
    /// The most steps from `done` on before something is asked of one. The number that ends a run is the last step's own.
    fn free(&self, done: usize, shape: Shape) -> usize {
        let all = self.before + done;
        let mut free = self.steps - done;
        if shape.until {
            free = free.min(self.check - all % self.check).min(self.total - all) - 1;
        }
        if self.every > 0 {
            free = free.min(self.every - all % self.every);
        }
        if shape.records > 0 { 0 } else { free }
    }
}

impl Several {
    /// Those of a step that is one kernel whose results are its states, where the engine can.
    pub(super) fn new(
        engine: &(dyn Engine + 'static),
        program: &Program,
        known: &[Option<Numbers>],
        states: &[Value],
    ) -> Result<Option<Several>, Error> {
        let Some(limits) = engine.limits() else { return Ok(None) };
        let arguments: Vec<usize> = (0..known.len()).filter(|&input| known[input].is_none()).collect();
        let Some(kernel) = Kernel::whole(program, states, limits) else { return Ok(None) };
        let numbers = arguments.len().saturating_sub(states.len());
        let (mut sources, mut feeds) = (Vec::new(), Vec::new());
        for &value in &kernel.inputs {
            let node = program.node(value);
            let Some(input) = node.input() else { return Ok(None) };
            let (source, feed) = match arguments.iter().position(|&argument| argument == input) {
                None => (Origin::Known(input), Feed::Constant),
                Some(number) if number >= states.len() => (Origin::Numbers, Feed::Number(number - states.len())),
                Some(state) => {
                    let next = program.node(states[state]);
                    if (next.single, next.len) != (node.single, node.len) {
                        return Ok(None);
                    }
                    let feed = if node.len == 1 { Feed::Scalar(state) } else { Feed::Output(state) };
                    (Origin::State(state), feed)
                }
            };
            sources.push(source);
            feeds.push(feed);
        }
        let advance = engine.prepare_steps(&Recurrence { kernel, feeds, numbers })?;
        Ok(advance.map(|advance| Several { sources, advance }))
    }
}

impl Step {
    /// Some steps at once, if the engine can and nothing is asked of one on the way; how many.
    pub(super) fn take_several(
        &mut self,
        engine: &(dyn Engine + 'static),
        (run, done): (&Run, usize),
        states: &mut Vec<Numbers>,
        buffers: &mut Buffers,
        watch: &Watch,
    ) -> Result<usize, Error> {
        let span = Span { first: done, most: run.free(done, self.shape), gait: run.gait };
        if span.most < 2 || span.gait.is_some_and(|gait| gait.levels == 0) {
            return Ok(0);
        }
        let several = match self.several.take() {
            Some(several) => several,
            None => Several::new(engine, &self.program, &self.known, &self.outputs[..self.shape.states])?,
        };
        let Some(mut several) = several else {
            self.several = Some(None);
            return Ok(0);
        };
        let mark = watch.mark();
        let took = self.take_several_by(engine, &mut several, (run, span), (states, buffers), watch);
        self.several = Some(Some(several));
        let took = took?;
        watch.rewind(mark);
        watch.count(took.saturating_mul(states.iter().map(Numbers::len).max().unwrap_or(0)));
        Ok(took)
    }

    fn take_several_by(
        &mut self,
        engine: &(dyn Engine + 'static),
        several: &mut Several,
        (run, span): (&Run, Span),
        (states, buffers): (&mut Vec<Numbers>, &mut Buffers),
        watch: &Watch,
    ) -> Result<usize, Error> {
        let mut outputs = Vec::with_capacity(states.len());
        for state in &*states {
            outputs.push(buffers.room_of(engine, state.is_single(), state.len())?);
        }
        let missing = || Error::Internal("A step without its input.".into());
        let input = |from: &Origin| match *from {
            Origin::Known(at) => self.known[at].as_ref().ok_or_else(missing),
            Origin::State(at) => states.get(at).ok_or_else(missing),
            Origin::Numbers => run.values.as_ref().map(|(all, _)| all).ok_or_else(missing),
        };
        let inputs = several.sources.iter().map(input).collect::<Result<Vec<_>, _>>()?;
        let inputs: Vec<Numbers> = inputs.into_iter().cloned().collect();
        let mut one = || {
            let values = values_of(engine, run, span.first, watch)?;
            let results = self.take_one(engine, states.iter().cloned().chain(values), buffers, watch)?;
            results.into_iter().for_each(|result| buffers.give(result));
            Ok(())
        };
        let inputs: Vec<&Numbers> = inputs.iter().collect();
        let took = several.advance.run(&inputs, &mut outputs, &span, &mut one, watch)?;
        drop(inputs);
        if took > 0 {
            std::mem::swap(states, &mut outputs);
        }
        outputs.into_iter().for_each(|array| buffers.give(array));
        Ok(took)
    }
}
