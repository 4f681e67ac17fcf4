//! Several steps at once, on engines that can.

use crate::platform::watch::Watch;
use crate::stencil::program::{Feed, Kernel, Program, Recorded, Recurrence, Value};
use crate::stencil::{Advance, Engine, Error, Numbers, Operation, Places, Room, Span};

/// A method to take several steps at once, and the sources of their inputs.
pub(super) struct Several {
    sources: Vec<Origin>,
    advance: Box<dyn Advance>,
}

/// The source of an input.
enum Origin {
    /// An external array.
    Known(Numbers),
    /// A state.
    State(usize),
    /// Numbers of all steps.
    Numbers,
}

impl Several {
    /// Prepares a step that is one kernel whose results are its states, and whose records are elements at known places;
    /// `None` if the engine has no such method.
    pub(super) fn new(
        engine: &(dyn Engine + 'static),
        program: &Program,
        (known, arguments): (&[Option<Numbers>], &[usize]),
        (states, records): (&[Value], &[Value]),
    ) -> Result<Option<Several>, Error> {
        let Some(limits) = engine.limits() else { return Ok(None) };
        let Some(picked) = records.iter().map(|value| picked(program, *value)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let (of, places): (Vec<_>, Vec<_>) = picked.into_iter().unzip();
        let Some((kernel, parts)) = Kernel::whole(program, (states, &of), limits) else { return Ok(None) };
        let records = parts.into_iter().zip(places).map(|(part, places)| Recorded { part, places }).collect();
        let numbers = arguments.len().saturating_sub(states.len());
        let (mut sources, mut feeds) = (Vec::new(), Vec::new());
        for &value in &kernel.inputs {
            let node = program.node(value);
            let Some(input) = node.input() else { return Ok(None) };
            let (source, feed) = match arguments.iter().position(|&argument| argument == input) {
                None => match &known[input] {
                    Some(array) => (Origin::Known(array.clone()), Feed::Constant),
                    None => return Ok(None),
                },
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
        let advance = engine.prepare_steps(&Recurrence { kernel, feeds, numbers, records })?;
        Ok(advance.map(|advance| Several { sources, advance }))
    }

    /// Takes some steps, if the engine can, and returns their number. See [`Advance::run`].
    pub(super) fn run(
        &mut self,
        (states, numbers): (&[Numbers], Option<&Numbers>),
        room: Room,
        span: &Span,
        one: &mut dyn FnMut() -> Result<(), Error>,
        watch: &Watch,
    ) -> Result<usize, Error> {
        let missing = || Error::Internal("A step without its input.".into());
        let Several { sources, advance } = self;
        let mut inputs = Vec::with_capacity(sources.len());
        for source in &*sources {
            inputs.push(match source {
                Origin::Known(array) => array,
                Origin::State(at) => states.get(*at).ok_or_else(missing)?,
                Origin::Numbers => numbers.ok_or_else(missing)?,
            });
        }
        advance.run(&inputs, room, span, one, watch)
    }

    /// Number of steps that are taken at once from now on, if that is known.
    pub(super) fn settled(&mut self, span: &Span) -> Option<usize> {
        self.advance.settled(span)
    }
}

/// Returns the array that a value is picked from, and the places, if they are known.
fn picked(program: &Program, value: Value) -> Option<(Value, Vec<usize>)> {
    let Operation::Pick(places, of) = &program.node(value).operation else { return None };
    let places = match &**places {
        Places::Section(section) => section.places().collect(),
        Places::List(list) => list.iter().map(|&place| place as usize).collect(),
        Places::Held(_) => return None,
    };
    Some((*of, places))
}
