//! Inputs: numeric arrays of the host, on a GPU, or stored by an engine.

use std::borrow::Cow;
use std::sync::Arc;

use super::fastest::Work;
use super::{DynEngine, calls, chosen};
use crate::cuda::Cuda;
use crate::gateway::dims::size_text;
use crate::gateway::options::{self, Selection};
use crate::gateway::store::{Home, Numbers, StoredArray};
use crate::mex::{Argument, Class, Effort, Error, MAX_CELLS, Numeric, OnGpu, Reply};
use crate::platform::memory::{self, OutOfMemory};
use crate::platform::watch::Watch;
use crate::stencil::{self, Array, Compute, Number, Source, Target};

/// Elements of a real, full array of class double or single.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reals<'a> {
    Double(&'a [f64]),
    Single(&'a [f32]),
}

/// An input array of one class.
#[derive(Debug)]
pub(crate) enum Input<'a, T: Number> {
    /// The host's array.
    Host(Cow<'a, [T]>),
    /// A stored array.
    Held(Home, Arc<Array<T>>),
    /// A gpuArray on the GPU with this ordinal.
    Gpu(usize, Array<T>),
}

/// Runs a call's engine on a source and its targets. Boxed, so that [`Input::reply_all`] is compiled once a class.
pub(crate) type RunOn<'a, T> =
    Box<dyn FnOnce(&DynEngine, Source<T>, Vec<Target<T>>, &Watch) -> Result<(), stencil::Error> + Send + 'a>;

/// A part of complex numbers; real numbers have only the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Real,
    Imaginary,
}

/// An [`Input`] of either class.
#[derive(Debug)]
pub(crate) enum AnyInput<'a> {
    Double(Input<'a, f64>),
    Single(Input<'a, f32>),
}

impl<'a, T: Number> Input<'a, T> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Input::Host(values) => values.len(),
            Input::Held(_, array) => array.len(),
            Input::Gpu(_, array) => array.len(),
        }
    }

    /// Returns the reply of a call that returns an array of these dimensions, computed by `run` where the input lies.
    /// The result is of the input's kind: the host's, a gpuArray on that GPU, or stored. `work` is for a choice by
    /// time.
    pub(crate) fn reply(
        self,
        selection: &Selection,
        dims: &[usize],
        effort: Effort,
        work: Work,
        run: impl FnOnce(&DynEngine, Source<T>, Target<T>, &Watch) -> Result<(), stencil::Error> + Send + 'a,
    ) -> Result<Reply<'a>, Error>
    where
        T: Numeric,
    {
        let run: RunOn<'a, T> = Box::new(move |engine, from, to, watch| run(engine, from, chosen::only(to)?, watch));
        self.reply_all(selection, &[dims], effort, work, run)
    }

    /// Returns the reply of a call that returns several arrays; see [`reply`](Self::reply).
    pub(crate) fn reply_all(
        self,
        selection: &Selection,
        dims: &[&[usize]],
        effort: Effort,
        work: Work,
        run: RunOn<'a, T>,
    ) -> Result<Reply<'a>, Error>
    where
        T: Numeric,
    {
        match self {
            Input::Host(values) => {
                let run = move |engine: &DynEngine, outputs: Vec<&mut [T]>, watch: &Watch| {
                    run(engine, Source::Host(&values), outputs.into_iter().map(Target::Host).collect(), watch)
                };
                selection.choose(work)?.reply_all(dims, effort, run)
            }
            Input::Held(home, array) => {
                selection.check_home(home)?;
                let dims: Vec<_> = dims.iter().map(|dims| dims.to_vec()).collect();
                let run = move |engine: &DynEngine, home, watch: &Watch| {
                    let outputs = dims.iter().map(|dims| engine.arrays::<T>().array(dims.iter().product()));
                    let mut outputs = outputs.collect::<Result<Vec<_>, _>>()?;
                    run(engine, Source::Array(&array), outputs.iter_mut().map(Target::Array).collect(), watch)?;
                    let held = |(dims, output): (_, Array<T>)| StoredArray::new(home, dims, output);
                    Ok(dims.into_iter().zip(outputs).map(held).collect())
                };
                Ok(home.choose()?.with_note(selection.note(home)).held_all(home.effort(effort), Box::new(run)))
            }
            Input::Gpu(ordinal, array) => {
                let home = Home::Cuda(ordinal);
                selection.check_gpu(home)?;
                let chosen = home.choose()?.with_note(selection.note(home));
                let lens: Vec<usize> = dims.iter().map(|dims| dims.iter().product()).collect();
                let run = move |engine: &DynEngine, addresses: &[u64], watch: &Watch| {
                    let outputs = addresses.iter().zip(lens).map(|(&address, len)| borrowed(ordinal, address, len));
                    let mut outputs = outputs.collect::<Result<Vec<_>, _>>()?;
                    let to = outputs.iter_mut().map(Target::Array).collect();
                    let done = run(engine, Source::Array(&array), to, watch);
                    // Also after an error: the call must not end before the device is done with the host's memory.
                    let over = Cuda::open(Some(ordinal))?.settle();
                    Ok(done.and(over)?)
                };
                chosen.on_gpu::<T>(dims, home.effort(effort), run)
            }
        }
    }
}

impl<T: Number> Input<'_, T> {
    /// Returns the elements, for an engine.
    pub(crate) fn source(&self) -> Source<'_, T> {
        match self {
            Input::Host(values) => Source::Host(values),
            Input::Held(_, array) => Source::Array(array),
            Input::Gpu(_, array) => Source::Array(array),
        }
    }

    /// Returns the home of a stored array, or the ordinal of a gpuArray's device.
    fn place(&self) -> (Option<Home>, Option<usize>) {
        match self {
            Input::Host(_) => (None, None),
            Input::Held(home, _) => (Some(*home), None),
            Input::Gpu(ordinal, _) => (None, Some(*ordinal)),
        }
    }
}

impl<'a> AnyInput<'a> {
    /// Returns a stored array as an input.
    pub(crate) fn held(home: Home, numbers: Numbers) -> AnyInput<'a> {
        match numbers {
            Numbers::Double(array) => AnyInput::Double(Input::Held(home, array)),
            Numbers::Single(array) => AnyInput::Single(Input::Held(home, array)),
        }
    }

    fn place(&self) -> (Option<Home>, Option<usize>) {
        match self {
            AnyInput::Double(input) => input.place(),
            AnyInput::Single(input) => input.place(),
        }
    }

    /// Returns the home of a stored array.
    pub(crate) fn home(&self) -> Option<Home> {
        self.place().0
    }

    /// Returns true if both have the same class and lie in the same place.
    pub(crate) fn is_like(&self, other: &AnyInput) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.place() == other.place()
    }

    /// Returns true for a gpuArray.
    pub(crate) fn is_on_gpu(&self) -> bool {
        matches!(self, AnyInput::Double(Input::Gpu(..)) | AnyInput::Single(Input::Gpu(..)))
    }

    /// Text for an error: `3x4 double DeviceArray on device 1`.
    pub(crate) fn describe(&self, dims: &[usize]) -> String {
        let class = if matches!(self, AnyInput::Double(_)) { "double" } else { "single" };
        let place = match self.place() {
            (Some(Home::Cpu), _) => " DeviceArray in memory of the CPU".into(),
            (Some(home), _) => format!(" DeviceArray on {home}"),
            (None, Some(ordinal)) => format!(" gpuArray on device {}", ordinal + 1),
            (None, None) => String::new(),
        };
        format!("{} {class}{place}", size_text(dims))
    }

    /// Converts the elements to single, each rounded once; `what` names them in errors.
    pub(crate) fn into_single(self, what: &'static str) -> Result<Input<'a, f32>, Error> {
        match self {
            AnyInput::Single(input) => Ok(input),
            AnyInput::Double(Input::Host(Cow::Borrowed(values))) => {
                Ok(Input::Host(Reals::Double(values).to_singles(what)?))
            }
            AnyInput::Double(Input::Host(Cow::Owned(values))) => {
                Ok(Input::Host(Reals::Double(&values).to_singles(what)?.into_owned().into()))
            }
            AnyInput::Double(Input::Held(home, array)) => {
                let engine = home.engine()?;
                let mut singles = engine.arrays::<f32>().array(array.len())?;
                engine.convert(&array, &mut singles, &Watch::new())?;
                Ok(Input::Held(home, Arc::new(singles)))
            }
            AnyInput::Double(Input::Gpu(ordinal, array)) => {
                let engine = Home::Cuda(ordinal).engine()?;
                let mut singles = engine.arrays::<f32>().array(array.len())?;
                let converted = engine.convert(&array, &mut singles, &Watch::new());
                // Also after an error: the call must not end before the device is done with the host's memory.
                let over = Cuda::open(Some(ordinal))?.settle();
                converted.and(over)?;
                Ok(Input::Gpu(ordinal, singles))
            }
        }
    }
}

/// Alignment of a gpuArray, in bytes.
const ALIGNMENT: u64 = 16;

/// Borrows `len` numbers at an address on the GPU with this ordinal.
///
/// # Errors
/// `gpuArray` if they are not there.
fn borrowed<T: Number>(ordinal: usize, address: u64, len: usize) -> Result<Array<T>, Error> {
    let wrong = |what: &str| Err(Error::new("gpuArray", format!("{what} gather the gpuArray and pass that.")));
    if len > 0 {
        if address == 0 || !address.is_multiple_of(ALIGNMENT) {
            return wrong(
                "MATLAB does not tell where the numbers of a gpuArray lie, or in no way that is of use here.",
            );
        }
        if Cuda::device_at(address)? != ordinal {
            return wrong("The gpuArray lies on another GPU than the one that MATLAB has selected.");
        }
    }
    // SAFETY: the host has `len` elements at this address while its wrapper exists, which is until the call is over.
    Ok(unsafe { Cuda::borrow(ordinal, address, len) })
}

/// Returns a gpuArray of the class of `T`.
fn on_gpu<'a, T: Number>(gpu: &OnGpu) -> Result<Input<'a, T>, Error> {
    let ordinal = Cuda::device_at(gpu.address())?;
    Ok(Input::Gpu(ordinal, borrowed(ordinal, gpu.address(), gpu.dims().iter().product())?))
}

/// Reads an input as [`input`] does, or a gpuArray.
pub(crate) fn input_or_gpu<'a>(name: &str, array: &'a Argument) -> Result<(AnyInput<'a>, Cow<'a, [usize]>), Error> {
    let Some(gpu) = array.gpu().transpose()? else {
        return input(name, array);
    };
    let input = match gpu.class() {
        Class::Double if is_plain(gpu) => AnyInput::Double(on_gpu(gpu)?),
        Class::Single if is_plain(gpu) => AnyInput::Single(on_gpu(gpu)?),
        _ => return Err(wrong_on_gpu(name, array, gpu, REALS)),
    };
    Ok((input, gpu.dims().into()))
}

/// Reads an input as [`input_or_gpu`] does; of a complex array, this part.
pub(crate) fn part_or_gpu<'a>(
    name: &str,
    array: &'a Argument,
    part: Part,
) -> Result<(AnyInput<'a>, Cow<'a, [usize]>), Error> {
    let of_doubles = array.complex_elements().map(|parts| AnyInput::Double(Input::Host(parts[part as usize].into())));
    let of_singles =
        || array.complex_elements().map(|parts| AnyInput::Single(Input::Host(parts[part as usize].into())));
    match of_doubles.or_else(of_singles) {
        Some(input) => Ok((input, array.dims().into())),
        None => input_or_gpu(name, array),
    }
}

/// Returns the reply of a call on an array from those of its parts: a complex array is computed as two.
///
/// # Errors
/// Those of `of`; `option` for a complex array with `'Distributed'`.
pub(crate) fn part_by_part<'a>(
    (name, array): (&str, &'a Argument),
    joint: bool,
    of: impl Fn(Part) -> Result<Reply<'a>, Error>,
) -> Result<Reply<'a>, Error> {
    let is_complex = array.complex_elements::<f64>().is_some() || array.complex_elements::<f32>().is_some();
    match is_complex {
        true if joint => {
            Err(options::bad(format!("'Distributed' goes with real {name}: pass real ({name}) and imag ({name}).")))
        }
        true => {
            let real = of(Part::Real)?;
            Reply::complex(real, calls::second_part(|| of(Part::Imaginary))?)
        }
        false => of(Part::Real),
    }
}

fn is_plain(gpu: &OnGpu) -> bool {
    !gpu.is_complex() && !gpu.is_sparse()
}

/// Reads a real, full array of class double or single, the host's or a stored one, and its dimensions.
pub(crate) fn input<'a>(name: &str, array: &'a Argument) -> Result<(AnyInput<'a>, Cow<'a, [usize]>), Error> {
    if let Some(held) = StoredArray::of(array)? {
        if !matches!(held.class, Class::Double | Class::Single) {
            return Err(wrong_held(name, &held, REALS, "double"));
        }
        return Ok((AnyInput::held(held.home, held.numbers), held.dims.into()));
    }
    let input = match reals(name, array)? {
        Reals::Double(values) => AnyInput::Double(Input::Host(values.into())),
        Reals::Single(values) => AnyInput::Single(Input::Host(values.into())),
    };
    Ok((input, array.dims().into()))
}

impl<'a> Reals<'a> {
    /// Returns the elements if they are doubles.
    pub(crate) fn as_doubles(&self) -> Option<&'a [f64]> {
        match *self {
            Reals::Double(values) => Some(values),
            Reals::Single(_) => None,
        }
    }

    /// Returns the elements in single, each rounded once; `what` names them in errors.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(crate) fn to_singles(self, what: &'static str) -> Result<Cow<'a, [f32]>, OutOfMemory> {
        match self {
            Reals::Single(values) => Ok(values.into()),
            Reals::Double(values) => {
                let mut singles = memory::with_room(values.len(), what)?;
                singles.extend(values.iter().map(|&value| value as f32));
                Ok(singles.into())
            }
        }
    }

    /// Returns the elements in double; `what` names them in errors.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(crate) fn to_doubles(self, what: &'static str) -> Result<Cow<'a, [f64]>, OutOfMemory> {
        match self {
            Reals::Double(values) => Ok(values.into()),
            Reals::Single(values) => {
                let mut doubles = memory::with_room(values.len(), what)?;
                doubles.extend(values.iter().map(|&value| f64::from(value)));
                Ok(doubles.into())
            }
        }
    }
}

/// Returns the filters of a list, or the only filter, each with its name for errors.
///
/// # Errors
/// `dataType` for a list that is too long.
pub(crate) fn listed<'a>(name: &str, filter: &'a Argument) -> Result<Vec<(String, &'a Argument)>, Error> {
    match filter.cells() {
        Some(cells) if !cells.is_empty() => {
            Ok(cells.iter().enumerate().map(|(i, cell)| (format!("{name}{{{}}}", i + 1), cell)).collect())
        }
        None if filter.is_cell() && filter.len() > MAX_CELLS => {
            Err(wrong_data_type(format!("{name} is {filter}, expected a list of at most {MAX_CELLS} filters.")))
        }
        _ => Ok(vec![(name.into(), filter)]),
    }
}

/// Reads the elements of a real, full array of class double or single.
pub(crate) fn reals<'a>(name: &str, array: &'a Argument) -> Result<Reals<'a>, Error> {
    let singles = || array.singles().map(Reals::Single);
    let reals = array.doubles().map(Reals::Double).or_else(singles);
    reals.ok_or_else(|| wrong_type(name, array, REALS, "double"))
}

/// Expected input of a call that computes in double or single only, for errors.
const REALS: &str = "a real full double or single array";

/// Returns the error of an array that is not `expected`, in the document's words, with advice on the conversion.
pub(crate) fn wrong_type(name: &str, array: &Argument, expected: &str, class: &str) -> Error {
    let is_computed = |held: StoredArray| held.is_computed();
    let advice = match array.class() {
        Class::Other if StoredArray::of(array).ok().flatten().is_some_and(is_computed) => format!(
            "; a step that is being recorded has no values for it yet: keep {name} constant and scale what is made by it, \
             such as s * C (u, F)"
        ),
        Class::Other if matches!(array.class_name(), "gpuArray" | "DeviceArray") => {
            format!("; gather ({name}) makes it so")
        }
        of => advice(name, of, array.is_sparse(), array.is_complex(), class),
    };
    wrong_data_type(format!("{name} is {array}, expected {expected}{advice}."))
}

/// Returns [`wrong_type`] for a stored array.
pub(crate) fn wrong_held(name: &str, held: &StoredArray, expected: &str, class: &str) -> Error {
    let advice = advice(name, held.class, false, false, class);
    wrong_data_type(format!("{name} is {held}, expected {expected}{advice}."))
}

/// Returns advice on the conversion of an array of class `of` to class `class`; empty if there is none.
fn advice(name: &str, of: Class, sparse: bool, complex: bool, class: &str) -> String {
    // "an operand" is no name to call a function with.
    let name = if name.contains(' ') { "..." } else { name };
    match of {
        _ if sparse => format!("; full ({name}) makes it so"),
        _ if complex => format!("; pass real ({name}) and imag ({name}) in two calls"),
        Class::Single | Class::Integer { .. } | Class::Logical => format!("; {class} ({name}) makes it so"),
        _ => String::new(),
    }
}

/// Returns the error of an array of a class that no DeviceArray has.
pub(crate) fn wrong_class(name: &str, array: &Argument) -> Error {
    let expected = "a real full array of class double, single, logical, or of integers of up to 32 bits";
    wrong_type(name, array, expected, "double")
}

/// Returns [`wrong_type`] for a gpuArray.
fn wrong_on_gpu(name: &str, array: &Argument, gpu: &OnGpu, expected: &str) -> Error {
    let advice = advice(name, gpu.class(), gpu.is_sparse(), gpu.is_complex(), "double");
    wrong_data_type(format!("{name} is {array}, expected {expected}{advice}."))
}

fn wrong_data_type(text: String) -> Error {
    Error::new("dataType", format!("One of the Inputs are of the wrong data-type: {text}"))
}
