//! The options that add to a sweep of filters: a second time level, a source, intermediate states.

use super::sweeps::{self, Scalar, Sweeps};
use crate::gateway::arrays::{self, Number};
use crate::gateway::dims;
use crate::gateway::engine::Work;
use crate::gateway::engine::inputs::{self, AnyInput, Input, RunOn};
use crate::gateway::options::{self, Selection};
use crate::gateway::store::{Home, Numbers, StoredArray, describe};
use crate::mex::{Argument, Error, Reply};
use crate::scheme::{Addend, Data, Filter, Scheme, TwoLevels};
use crate::stencil::Source;

/// `Previous`, `Weight`, `Source` and `Every` of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels<'a> {
    previous: Option<&'a Argument>,
    weight: Option<Scalar>,
    source: Option<&'a Argument>,
    every: Option<usize>,
}

/// A class that engines compute in.
pub(super) trait Computed: Number {
    /// Converts an input to this class; a double is rounded once. `what` names the input in errors.
    fn of_input<'a>(input: AnyInput<'a>, what: &'static str) -> Result<Input<'a, Self>, Error>;
}

impl Computed for f64 {
    fn of_input<'a>(input: AnyInput<'a>, what: &'static str) -> Result<Input<'a, f64>, Error> {
        match input {
            AnyInput::Double(input) => Ok(input),
            AnyInput::Single(_) => Err(Error::internal(format!("{what} is single where it is computed in double."))),
        }
    }
}

impl Computed for f32 {
    fn of_input<'a>(input: AnyInput<'a>, what: &'static str) -> Result<Input<'a, f32>, Error> {
        input.into_single(what)
    }
}

/// The arrays that the options name.
pub(super) struct Given<'a> {
    previous: Option<AnyInput<'a>>,
    source: Option<SourceArgument<'a>>,
}

/// Added in every sweep.
enum SourceArgument<'a> {
    Scalar(Scalar),
    Elements(AnyInput<'a>),
}

impl<'a> Levels<'a> {
    /// Reads the option if it is one of these; returns false for any other name.
    pub(super) fn take(&mut self, name: &str, value: &'a Argument) -> Result<bool, Error> {
        match name {
            "Previous" => self.previous = Some(value),
            "Source" => self.source = Some(value),
            "Every" => self.every = Some(options::positive_integer(name, value)?),
            "Weight" => {
                self.weight = Some(sweeps::real_scalar(value).ok_or_else(|| {
                    options::bad(format!("Bad value for 'Weight': got {value}, expected a real scalar."))
                })?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns true if none of the options is given.
    pub(super) fn are_none(&self) -> bool {
        self.previous.is_none() && self.weight.is_none() && self.source.is_none() && self.every.is_none()
    }

    /// Returns the step under recording that one of the values belongs to.
    ///
    /// # Errors
    /// `deleted`.
    pub(super) fn step(&self) -> Result<Option<Home>, Error> {
        if let Some(Scalar::Recorded(weight)) = &self.weight {
            return Ok(Some(weight.home));
        }
        for array in [self.previous, self.source].into_iter().flatten() {
            if let Some(held) = StoredArray::of(array)?.filter(|held| held.home.step().is_some()) {
                return Ok(Some(held.home));
            }
        }
        Ok(None)
    }

    /// Checks that a call on a complex array names no other array.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn only_real(&self, name: &str, array: &Argument) -> Result<(), Error> {
        if array.is_complex() && (self.previous.is_some() || self.source.is_some()) {
            return Err(options::bad(format!(
                "'Previous' and 'Source' go with real {name}: call the function for real ({name}) and imag ({name})."
            )));
        }
        Ok(())
    }

    /// Checks the options against each other and against the array of the sweeps, of this name and these dimensions.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn check(
        &self,
        (name, samples, dims): (&str, &AnyInput, &[usize]),
        sweeps: &Sweeps,
    ) -> Result<Given<'a>, Error> {
        if let Some(every) = self.every.filter(|every| !sweeps.iterations().is_multiple_of(*every)) {
            return Err(options::bad(format!(
                "Bad value for 'Every': got {every}, expected a divisor of 'Iterations', which is {}.",
                sweeps.iterations()
            )));
        }
        sweeps.only_same("'Previous', 'Source', 'Every' and lists of filters")?;
        let like = |option: &str, value: &'a Argument, more: &str| -> Result<AnyInput<'a>, Error> {
            let wrong = || {
                options::bad(format!(
                    "Bad value for '{option}': got {}, expected an array like {name}: {}{more}.",
                    describe(value),
                    samples.describe(dims)
                ))
            };
            let of_type = |error: Error| if error.kind == "dataType" { wrong() } else { error };
            let (mut input, other) = inputs::input_or_gpu(option, value).map_err(of_type)?;
            // The host's array goes where the samples are stored; one from outside, into the step under recording.
            if let Some(home) = samples.home().filter(|_| !input.is_on_gpu() && !input.is_like(samples)) {
                input = AnyInput::held(home, arrays::brought(value, home).map_err(of_type)?);
            }
            if input.is_like(samples) && *other == *dims { Ok(input) } else { Err(wrong()) }
        };
        let previous = self.previous.map(|value| like("Previous", value, "")).transpose()?;
        let source = match self.source {
            None => None,
            Some(value) => Some(match sweeps::real_scalar(value) {
                Some(scalar) => SourceArgument::Scalar(scalar),
                None => SourceArgument::Elements(like("Source", value, "; or a real scalar")?),
            }),
        };
        if self.previous.is_some() != self.weight.is_some() {
            let [given, missing] =
                if self.previous.is_some() { ["Previous", "Weight"] } else { ["Weight", "Previous"] };
            return Err(options::bad(format!(
                "'{given}' is given without '{missing}': a sweep of two time levels is F * u + weight * previous, and \
                 needs both."
            )));
        }
        Ok(Given { previous, source })
    }

    /// Returns the reply of a call with these options.
    pub(super) fn reply<T: Computed>(
        &self,
        samples: Input<'a, T>,
        given: Given<'a>,
        dims: &[usize],
        Filters { filters, joint, entries, first }: Filters<'a, T>,
        (sweeps, selection, outputs): (&Sweeps, &Selection, usize),
    ) -> Result<Reply<'a>, Error> {
        let previous = given.previous.map(|previous| T::of_input(previous, "'Previous' in single")).transpose()?;
        let source = match given.source {
            None => None,
            Some(SourceArgument::Scalar(Scalar::Known(value))) => Some(Added::Scalar(T::from_f64(value))),
            Some(SourceArgument::Scalar(Scalar::Recorded(held))) => Some(Added::Recorded(held.numbers)),
            Some(SourceArgument::Elements(input)) => Some(Added::Elements(T::of_input(input, "'Source' in single")?)),
        };
        let iterations = sweeps.iterations();
        let (states, every) = self.every.map_or((1, iterations), |every| (iterations / every, every));
        let (weight, recorded) = match self.weight.clone() {
            None => (None, None),
            Some(Scalar::Known(weight)) => (Some(T::from_f64(weight)), None),
            Some(Scalar::Recorded(held)) => (None, Some(held.numbers)),
        };
        let elements = usize::from(matches!(source, Some(Added::Elements(_))));
        let older = usize::from(self.weight.is_some());
        let passes = usize::from(older > 0 || source.is_some());
        let steps = filters.len() + passes;
        // A sweep counts once; without other passes, each of its filters counts.
        let counted = if passes > 0 { 1 } else { steps };
        // An engine may do many sweeps of two levels at once.
        let is_joint = joint.is_some() && weight.is_some() && source.is_none();
        let apart = if is_joint { 1 } else { steps };
        let work = first.stepwise(iterations, entries + passes, apart, 1 + states + older + elements);
        let calls = if steps == 1 { 2 * states } else { iterations.saturating_mul(steps) };
        let effort = sweeps.effort_of_steps(samples.len(), entries, counted, calls);
        let scheme = Scheme { filters, joint, weight, states, every };
        let of_states = if self.every.is_some() { dims::stacked(dims, states)? } else { dims.to_vec() };
        // The older level is an output only on request.
        let all = [&of_states[..], dims];
        let wanted = &all[..if outputs > 1 { 2 } else { 1 }];
        let run: RunOn<T> = Box::new(move |engine, from, to, watch| {
            let mut to = to.into_iter();
            let (Some(first), older_to) = (to.next(), to.next()) else {
                return Err(crate::stencil::Error::Internal("A call without an output.".into()));
            };
            let of = |numbers: &Numbers| T::of(numbers, engine, watch);
            let weight = recorded.as_ref().map(of).transpose()?;
            let number = if let Some(Added::Recorded(numbers)) = &source { Some(of(numbers)?) } else { None };
            let source = source.as_ref().map(|source| match source {
                Added::Scalar(value) => Some(Addend::Scalar(*value)),
                Added::Elements(input) => Some(Addend::Elements(input.source())),
                Added::Recorded(_) => Some(Addend::Elements(Source::Array(number.as_deref()?))),
            });
            let older = previous.as_ref().map(Input::source);
            let (source, weight) = (source.flatten(), weight.as_deref());
            scheme.run(engine, Data { from, older, weight, source, to: first, older_to }, watch)
        });
        samples.reply_all(selection, wanted, effort, work, run)
    }
}

/// The filters of a sweep.
pub(super) struct Filters<'a, T> {
    pub(super) filters: Vec<Filter<'a, T>>,
    /// The only filter, if an engine may do many sweeps of it and the older level at once.
    pub(super) joint: Option<Box<dyn TwoLevels<T> + 'a>>,
    /// Multiply-adds for an output of a sweep.
    pub(super) entries: usize,
    /// A sweep of the first filter alone.
    pub(super) first: Work,
}

/// The source in the class of the computation.
enum Added<'a, T: Number> {
    Scalar(T),
    /// A number that a step computes.
    Recorded(Numbers),
    Elements(Input<'a, T>),
}
