//! The recording engine: its arrays are results of a program.

use std::fmt;
use std::sync::Arc;

use super::recording::{Content, Recorded, Recording, stranger};
use crate::platform::watch::Watch;
use crate::stencil::program::{Node, Value};
use crate::stencil::{
    AnySource, AnyTarget, Array, Arrays, Compute, Engine, Error, Filtering, Given, Indices, Number, Operation, Source,
    Target, Term, Wanted,
};

/// An engine that records its calls; operations without an argument of the step are computed by another engine at once.
pub struct Recorder {
    recording: Recording,
    engine: Box<dyn Engine>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("engine", &self.engine.name()).finish()
    }
}

impl Recorder {
    /// Makes an engine for this recording.
    pub fn new(recording: Recording, engine: Box<dyn Engine>) -> Recorder {
        Recorder { recording, engine }
    }

    /// Returns an array that depends on no argument of the step.
    fn known<'a, T: Number>(&self, array: &'a Array<T>) -> Result<Option<&'a Array<T>>, Error> {
        match self.recording.content(array)? {
            Content::Known(numbers) => Ok(T::of_numbers(numbers).map(|array| &**array)),
            Content::Value(_) | Content::Picked { .. } | Content::Nothing => Ok(None),
        }
    }

    /// Returns an input that depends on no argument of the step.
    fn known_input<'a>(&self, input: AnySource<'a>) -> Result<Option<AnySource<'a>>, Error> {
        Ok(match input {
            AnySource::Double(Source::Array(array)) => self.known(array)?.map(AnySource::from),
            AnySource::Single(Source::Array(array)) => self.known(array)?.map(AnySource::from),
            input => Some(input),
        })
    }

    /// Returns the result of the program in an input; numbers of the host become an input of the program.
    fn value_of(&self, input: AnySource) -> Result<Value, Error> {
        match input {
            AnySource::Double(from) => self.value_of_source(from),
            AnySource::Single(from) => self.value_of_source(from),
            AnySource::Target => Err(Error::Internal("An operation in place, of nothing.".into())),
        }
    }

    fn value_of_source<T: Number>(&self, from: Source<T>) -> Result<Value, Error> {
        match from {
            Source::Array(array) => self.recording.value_of(array),
            Source::Host(samples) => {
                let mut array = self.engine.arrays::<T>().array(samples.len())?;
                match samples {
                    [number] => self.engine.fill(*number, &mut array, &Watch::new())?,
                    _ => self.engine.arrays().copy(from, Target::Array(&mut array), &Watch::new())?,
                }
                self.recording.value(&self.recording.of_known(array.into()))
            }
        }
    }

    fn set<T: Number>(&self, to: &mut Array<T>, content: Content) -> Result<(), Error> {
        to.held_mut::<Recorded>().map_err(|_| stranger())?.content = content;
        Ok(())
    }

    /// Appends an operation to the program.
    fn append(&self, operation: Operation<Value>, single: bool, len: usize) -> Value {
        self.recording.tape().program.append(Node { operation, single, len })
    }

    /// Computes an operation on known inputs at once.
    fn compute_known<T: Number>(&self, what: &Given, to: Target<T>, watch: &Watch) -> Result<Option<Indices>, Error> {
        let to = match to {
            Target::Array(to) => to,
            to => return self.engine.compute(what, to.into(), watch),
        };
        let mut array = self.engine.arrays::<T>().array(to.len())?;
        if let (true, Some(known)) = (changes(what), self.known(to)?) {
            self.engine.arrays().copy(Source::Array(known), Target::Array(&mut array), watch)?;
        }
        let places = self.engine.compute(what, Target::Array(&mut array).into(), watch)?;
        self.set(to, Content::Known(array.into()))?;
        Ok(places)
    }

    /// Returns the operation with its inputs, if all of them are known. The draw's number is that of the step.
    fn all_known<'a, T: Number>(&self, what: &Given<'a>, to: &Target<T>) -> Result<Option<Given<'a>>, Error> {
        if let (true, Target::Array(to)) = (changes(what), to)
            && !matches!(self.recording.content(to)?, Content::Known(_) | Content::Nothing)
        {
            return Ok(None);
        }
        if matches!(what, Operation::Random(..)) {
            return Ok(None);
        }
        let mut all = true;
        let known = what.map(
            |input| -> Result<_, Error> {
                let known = self.known_input(input)?;
                all &= known.is_some();
                Ok(known.unwrap_or(input))
            },
            |places| *places,
        )?;
        Ok(all.then_some(known))
    }

    /// Returns an elementwise operation on elements that one mask picked, and that mask; `None` if there is none.
    fn of_picked(&self, what: &Given) -> Result<Option<(Operation<Value>, Value)>, Error> {
        if !matches!(what, Operation::Each(..) | Operation::Pair(..) | Operation::Convert(_)) {
            return Ok(None);
        }
        let content = |input: AnySource| match self.content_of(input)? {
            Some(Content::Picked { of, mask }) => Ok(Some((*of, *mask))),
            _ => Ok::<_, Error>(None),
        };
        let mut mask = None;
        for input in what.values() {
            mask = mask.or(content(input)?.map(|(_, mask)| mask));
        }
        let Some(mask) = mask else { return Ok(None) };
        // They combine with others picked by the same mask, and with one number.
        let of = |input: AnySource| match content(input)? {
            Some((of, own)) if own == mask => Ok(of),
            None if input.len() == 1 => self.value_of(input),
            _ => Err(self.recording.asks_how_many()),
        };
        Ok(Some((what.map(of, |places| Arc::new((*places).clone()))?, mask)))
    }

    fn content_of<'a>(&self, input: AnySource<'a>) -> Result<Option<&'a Content>, Error> {
        Ok(match input {
            AnySource::Double(Source::Array(array)) => Some(self.recording.content(array)?),
            AnySource::Single(Source::Array(array)) => Some(self.recording.content(array)?),
            _ => None,
        })
    }

    fn compute_in<T: Number>(&self, what: &Given, to: Target<T>, watch: &Watch) -> Result<Option<Indices>, Error> {
        if let Some(known) = self.all_known(what, &to)? {
            return self.compute_known(&known, to, watch);
        }
        let Target::Array(to) = to else { return Err(self.recording.asks_for_values(name(what))) };
        let (single, len) = (T::SINGLE, to.len());
        if let Some((operation, mask)) = self.of_picked(what)? {
            let of = self.append(operation, single, len);
            return self.set(to, Content::Picked { of, mask }).map(|()| None);
        }
        if let (Operation::Put(..), Content::Nothing) = (what, self.recording.content(to)?) {
            // All of it is written before it is read.
            self.set(to, Content::Value(self.append(Operation::Fill(0.0), single, len)))?;
        }
        let of = |input: AnySource| match input {
            AnySource::Target => self.recording.value_of(to),
            input => self.value_of(input),
        };
        let mut operation = what.map(of, |places| Arc::new((*places).clone()))?;
        if let Operation::Random(_, number, _) = &mut operation {
            *number = Term::Value(self.recording.draw());
        }
        // A program has an operation for the elements, and one for their places.
        let wanted = match &mut operation {
            Operation::Sort(.., size, wanted) | Operation::Extreme(.., size, wanted) => {
                Some((size[1], std::mem::replace(wanted, Wanted::Elements)))
            }
            _ => None,
        };
        self.set(to, Content::Value(self.append(operation.clone(), single, len)))?;
        let Some((bound, Wanted::Places)) = wanted else { return Ok(None) };
        if let Operation::Sort(.., wanted) | Operation::Extreme(.., wanted) = &mut operation {
            *wanted = Wanted::Places;
        }
        let value = self.append(operation, false, len);
        Ok(Some(Indices::new(self.recording.array(Content::Value(value), len), bound, false)))
    }
}

/// True for operations that change their output in place.
fn changes(what: &Given) -> bool {
    what.values().any(|input| matches!(input, AnySource::Target))
}

/// Name of an operation, in an error about results on the host.
fn name(what: &Given) -> &'static str {
    match what {
        Operation::Reduce(..) => "A reduction",
        Operation::Extreme(..) => "max or min with places",
        Operation::Pick(..) => "An element by its index",
        Operation::Filter(Filtering::Stencil(_), _) => "A stencil of the host's array",
        Operation::Filter(Filtering::Derivative(_) | Filtering::SingleDerivative(_), _) => {
            "A derivative of the host's array"
        }
        Operation::Filter(..) => "A convolution of the host's array",
        _ => "An operation on the host's array",
    }
}

impl Engine for Recorder {
    fn name(&self) -> &str {
        "a recording"
    }

    fn compute(&self, what: &Given, to: AnyTarget, watch: &Watch) -> Result<Option<Indices>, Error> {
        match to {
            AnyTarget::Double(to) => self.compute_in(what, to, watch),
            AnyTarget::Single(to) => self.compute_in(what, to, watch),
        }
    }

    fn find(&self, from: AnySource, watch: &Watch) -> Result<Indices, Error> {
        match self.known_input(from)? {
            Some(from) => self.engine.find(from, watch),
            None => Err(self.recording.asks_for_values("find, or an index that is a mask,")),
        }
    }

    fn ordinals(&self, indices: &Indices, to: AnyTarget, watch: &Watch) -> Result<(), Error> {
        match to {
            AnyTarget::Double(to) => self.ordinals_in(indices, to, watch),
            AnyTarget::Single(to) => self.ordinals_in(indices, to, watch),
        }
    }
}

impl Recorder {
    fn ordinals_in<T: Number>(&self, indices: &Indices, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let to = match to {
            Target::Array(to) => to,
            to => return self.engine.ordinals(indices, to.into(), watch),
        };
        if let Ok(Content::Value(value)) = self.recording.content(indices.held()) {
            let value = if T::SINGLE { self.recording.converted(*value) } else { *value };
            return self.set(to, Content::Value(value));
        }
        let mut array = self.engine.arrays::<T>().array(to.len())?;
        self.engine.ordinals(indices, Target::Array(&mut array).into(), watch)?;
        self.set(to, Content::Known(array.into()))
    }
}

impl<T: Number> Arrays<T> for Recorder {
    fn array(&self, len: usize) -> Result<Array<T>, Error> {
        Ok(self.recording.array(Content::Nothing, len))
    }

    fn has_room(&self, arrays: usize, len: usize) -> Result<bool, Error> {
        self.engine.arrays::<T>().has_room(arrays, len)
    }

    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        match (from, to) {
            (Source::Array(from), Target::Array(to)) => {
                let content = match self.recording.content(from)? {
                    Content::Nothing => Content::Nothing,
                    Content::Value(value) => Content::Value(*value),
                    Content::Known(numbers) => Content::Known(numbers.clone()),
                    Content::Picked { of, mask } => Content::Picked { of: *of, mask: *mask },
                };
                self.set(to, content)
            }
            (Source::Host(_), Target::Array(to)) => {
                let mut array = self.engine.arrays::<T>().array(to.len())?;
                self.engine.arrays().copy(from, Target::Array(&mut array), watch)?;
                self.set(to, Content::Known(array.into()))
            }
            (Source::Array(from), Target::Host(to)) => match self.known(from)? {
                Some(from) => self.engine.arrays().copy(Source::Array(from), Target::Host(to), watch),
                None => Err(self.recording.asks_for_values("gather")),
            },
            (Source::Host(from), Target::Host(to)) => {
                to.copy_from_slice(from);
                Ok(())
            }
        }
    }
}
