//! `DeviceArray_CUDA (verb, ...)`: what is behind the class `DeviceArray`.
//!
//! A verb is a line in [`VERBS`]. What the class checks is checked here again as far as memory depends on it: nobody
//! need call this through the class.

use std::sync::Arc;

use super::backend::Selection;
use super::inputs::{self, AnyInput, Input};
use super::options::{self, Names};
use super::places::{self, Indexed};
use super::reply::Chosen;
use super::store::{self, Held, Home, Numbers};
use super::{check_outputs, too_few_inputs};
use crate::memory;
use crate::mex::{Argument, Call, Effort, Error, Function, Numeric, Reply, Value};
use crate::stencil::{
    self, Arithmetic, Array, Binary, Compute, Engine, Expansion, MAX_POWER, Operand, Places, RANK, Real, Reduction,
    Section, Source, Target, Unary,
};
use crate::watch::Watch;

pub(super) const FUNCTION: Function = Function { name: "DeviceArray_CUDA", call };

const OPTIONS: Names = Names(&[&["Backend", "Device"]]);

/// From so many elements on, a call is watched.
const LONG: usize = 1 << 24;

type Engines = dyn Engine + 'static;

/// What is done.
#[derive(Debug, Clone, Copy)]
enum Verb {
    New { object: bool },
    Fill,
    Delete,
    Count,
    Gather,
    Size,
    Class,
    Where,
    Reshape,
    Convert,
    Pick,
    Put,
    Power,
    Unary(Unary),
    Binary(Binary),
    Reduce(Reduction),
    Both(Reduction),
}

/// The words for them, those of the hosts' own functions where there are such.
const VERBS: [(&str, Verb); 42] = [
    ("plus", Verb::Binary(Binary::Add)),
    ("times", Verb::Binary(Binary::Multiply)),
    ("delete", Verb::Delete),
    ("minus", Verb::Binary(Binary::Subtract)),
    ("rdivide", Verb::Binary(Binary::Divide)),
    ("min", Verb::Binary(Binary::Min)),
    ("max", Verb::Binary(Binary::Max)),
    ("eq", Verb::Binary(Binary::Equal)),
    ("ne", Verb::Binary(Binary::NotEqual)),
    ("lt", Verb::Binary(Binary::Less)),
    ("le", Verb::Binary(Binary::LessEqual)),
    ("gt", Verb::Binary(Binary::Greater)),
    ("ge", Verb::Binary(Binary::GreaterEqual)),
    ("and", Verb::Binary(Binary::And)),
    ("or", Verb::Binary(Binary::Or)),
    ("uminus", Verb::Unary(Unary::Negate)),
    ("abs", Verb::Unary(Unary::Abs)),
    ("sqrt", Verb::Unary(Unary::Sqrt)),
    ("not", Verb::Unary(Unary::Not)),
    ("isnan", Verb::Unary(Unary::IsNan)),
    ("power", Verb::Power),
    ("sum", Verb::Reduce(Reduction::Sum)),
    ("asum", Verb::Reduce(Reduction::SumOfMagnitudes)),
    ("amax", Verb::Reduce(Reduction::LargestMagnitude)),
    ("smallest", Verb::Reduce(Reduction::Min)),
    ("largest", Verb::Reduce(Reduction::Max)),
    ("any", Verb::Reduce(Reduction::Any)),
    ("all", Verb::Reduce(Reduction::All)),
    ("dot", Verb::Both(Reduction::Dot)),
    ("differ", Verb::Both(Reduction::Differ)),
    ("new", Verb::New { object: false }),
    ("fill", Verb::Fill),
    ("count", Verb::Count),
    ("gather", Verb::Gather),
    ("size", Verb::Size),
    ("class", Verb::Class),
    ("where", Verb::Where),
    ("reshape", Verb::Reshape),
    ("convert", Verb::Convert),
    ("pick", Verb::Pick),
    ("put", Verb::Put),
    ("make", Verb::New { object: true }),
];

/// The verb that a text names.
fn verb(text: &str) -> Option<Verb> {
    VERBS.iter().find(|(word, _)| *word == text).map(|&(_, verb)| verb)
}

fn call(call: &Call) -> Result<Reply<'_>, Error> {
    let expected = "a verb and what it asks for: see the class DeviceArray, which calls this";
    let [word, arguments @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(call, expected));
    };
    let text = word.text().unwrap_or_default();
    let verb = verb(text).ok_or_else(|| options::bad(format!("{word} is no verb of DeviceArray_CUDA; {expected}.")))?;
    check_outputs(call)?;
    let few = || too_few_inputs(call, expected);
    match (verb, arguments) {
        (Verb::New { object }, [values, pairs @ ..]) => new(object, values, &selection(pairs, 3)?),
        (Verb::Fill, [value, dims, class, pairs @ ..]) => fill(value, dims, class, &selection(pairs, 5)?),
        (Verb::Delete, [number, ..]) => {
            // An object whose constructor failed has no number.
            let number = number.object().flatten().or_else(|| number.whole_number());
            number.into_iter().for_each(store::delete);
            Ok(value(Value::Empty))
        }
        (Verb::Count, []) => Ok(value(Value::Double(store::count() as f64))),
        (Verb::Gather, [array]) => {
            let held = held(array)?;
            match held.numbers.clone() {
                Numbers::Double(numbers) => gather(held, numbers),
                Numbers::Single(numbers) => gather(held, numbers),
            }
        }
        (Verb::Size, [array]) => Ok(value(Value::Row(held(array)?.dims.iter().map(|&dim| dim as f64).collect()))),
        (Verb::Class, [array]) => Ok(value(held(array)?.numbers.class().into())),
        (Verb::Where, [array]) => {
            let home = held(array)?.home;
            let (backend, device) = match home {
                Home::Cpu => ("cpu", 0.0),
                Home::Cuda(ordinal) => ("cuda", ordinal as f64 + 1.0),
            };
            let place = home.to_string();
            let fields = vec![(c"Backend", backend.into()), (c"Device", device.into()), (c"Place", place.into())];
            Ok(value(Value::Struct(fields)))
        }
        (Verb::Reshape, [array, dims]) => {
            let array = held(array)?;
            let dims = sizes(dims)?;
            if elements(&dims)? != array.len() {
                let text = format!("can't reshape {array}: another number of elements was asked for");
                return Err(Error::new("size", text));
            }
            // The numbers never change, so both may have the same.
            keep(array.home, 0, move |_, _, _| Ok(Held { dims, ..array }))
        }
        (Verb::Convert, [array, class]) => convert(held(array)?, is_single(class)?),
        (Verb::Pick, [array, indices @ ..]) => {
            let held = held(array)?;
            let indexed = places::places(&held, indices)?;
            match held.numbers.clone() {
                Numbers::Double(numbers) => pick(held, numbers, indexed),
                Numbers::Single(numbers) => pick(held, numbers, indexed),
            }
        }
        (Verb::Put, [array, values, indices @ ..]) => {
            let held = held(array)?;
            let indexed = places::places(&held, indices)?;
            match held.numbers.clone() {
                Numbers::Double(numbers) => put(held, numbers, values, indexed),
                Numbers::Single(numbers) => put(held, numbers, values, indexed),
            }
        }
        (Verb::Unary(op), [array]) => unary(held(array)?, op),
        (Verb::Power, [array, exponent]) => {
            let wrong = || {
                Error::new(
                    "unsupported",
                    format!(
                        "{exponent} is no power that a DeviceArray has: whole numbers from -{MAX_POWER} to \
                         {MAX_POWER} are; gather the array for others."
                    ),
                )
            };
            let whole = |value: &f64| value.fract() == 0.0 && value.abs() <= f64::from(MAX_POWER);
            let value = exponent.scalar().filter(whole).ok_or_else(wrong)?;
            unary(held(array)?, Unary::Power(value as i32))
        }
        (Verb::Binary(op), [a, b]) => binary(op, [a, b]),
        (Verb::Reduce(op), [array, dim]) => reduce(held(array)?, op, dim),
        (Verb::Both(op), [a, b]) => both(op, [a, b]),
        _ => Err(few()),
    }
}

fn value<'a>(value: Value) -> Reply<'a> {
    Reply { warnings: Vec::new(), note: None, output: crate::mex::Output::Value(value) }
}

/// The array that an argument stands for.
fn held(argument: &Argument) -> Result<Held, Error> {
    Held::of(argument)?
        .ok_or_else(|| Error::new("dataType", format!("A DeviceArray is expected, and this is {argument}.")))
}

/// `Backend` and `Device`, of which the first is the input `position`.
fn selection(pairs: &[Argument], position: usize) -> Result<Selection, Error> {
    options::check_pairs(pairs, position)?;
    let mut selection = Selection::of_array();
    for pair in options::pairs(pairs, &OPTIONS) {
        let (name, value) = pair?;
        selection.take(name, value)?;
    }
    Ok(selection)
}

/// Dimensions: a row of whole numbers, two at least. Those of 1 at the end go.
fn sizes(argument: &Argument) -> Result<Vec<usize>, Error> {
    let wrong = || Error::new("size", format!("Dimensions are a row of whole numbers, and this is {argument}."));
    let numbers = argument.doubles().filter(|numbers| numbers.len() >= 2).ok_or_else(wrong)?;
    let mut dims = memory::with_room(numbers.len(), "dimensions")?;
    for &number in numbers {
        // Below 0 is 0 to the hosts.
        if number.fract() != 0.0 || number.is_nan() || number >= 2_f64.powi(53) {
            return Err(wrong());
        }
        dims.push(number.max(0.0) as usize);
    }
    while dims.len() > 2 && dims.last() == Some(&1) {
        dims.pop();
    }
    elements(&dims)?;
    Ok(dims)
}

/// How many elements that is.
///
/// # Errors
/// `outOfMemory` for more than there can be.
fn elements(dims: &[usize]) -> Result<usize, Error> {
    let product = dims.iter().try_fold(1_usize, |product, &dim| product.checked_mul(dim));
    // Zeros make nothing of everything, also where the product of the others is too large.
    let product = if dims.contains(&0) { Some(0) } else { product };
    let fits = product.filter(|&product| product <= isize::MAX as usize / size_of::<f64>());
    fits.ok_or_else(|| Error::new("outOfMemory", "There is no memory for an array of these dimensions."))
}

fn is_single(class: &Argument) -> Result<bool, Error> {
    match class.text() {
        Some("single") => Ok(true),
        Some("double") => Ok(false),
        _ => Err(Error::new("dataType", format!("The class is \"double\" or \"single\", and this is {class}."))),
    }
}

/// What a call over so many elements takes.
fn effort(elements: usize) -> Effort {
    Effort { updates: elements as u64, work: elements as u64, calls: 1, long: elements >= LONG, progress: false }
}

/// The reply of a call that keeps what `run` makes in `home`.
fn keep<'a>(
    home: Home,
    elements: usize,
    run: impl FnOnce(&Engines, Home, &Watch) -> Result<Held, stencil::Error> + Send + 'a,
) -> Result<Reply<'a>, Error> {
    Ok(home.choose()?.held(true, home.effort(effort(elements)), run))
}

/// An array of the engine's with these samples.
fn upload<T: Real>(engine: &Engines, samples: &[T], watch: &Watch) -> Result<Array<T>, stencil::Error>
where
    Engines: Compute<T>,
{
    let mut array = Compute::<T>::array(engine, samples.len())?;
    Compute::copy(engine, Source::Host(samples), Target::Array(&mut array), watch).map(|()| array)
}

/// An object, or the number for one, that stands for a copy of the host's array.
fn new<'a>(object: bool, values: &'a Argument, selection: &Selection) -> Result<Reply<'a>, Error> {
    let (input, dims) = inputs::input("x", values)?;
    let dims = dims.into_owned();
    let chosen = selection.choose_home()?;
    let effort = effort(values.len());
    Ok(match input {
        AnyInput::Double(Input::Host(samples)) => chosen.held(object, effort, move |engine, home, watch| {
            Ok(Held { home, dims, numbers: upload(engine, &samples, watch)?.into() })
        }),
        AnyInput::Single(Input::Host(samples)) => chosen.held(object, effort, move |engine, home, watch| {
            Ok(Held { home, dims, numbers: upload(engine, &samples, watch)?.into() })
        }),
        AnyInput::Double(Input::Held(home, array)) => again(object, effort, (home, dims, array), selection)?,
        AnyInput::Single(Input::Held(home, array)) => again(object, effort, (home, dims, array), selection)?,
        // `input` reads none.
        AnyInput::Double(Input::Gpu(..)) | AnyInput::Single(Input::Gpu(..)) => {
            return Err(inputs::wrong_operand(values));
        }
    })
}

/// An object that stands for the same array; or for a copy of it, where another device is named.
fn again<'a, T: Real>(
    object: bool,
    effort: Effort,
    (home, dims, array): (Home, Vec<usize>, Arc<Array<T>>),
    selection: &Selection,
) -> Result<Reply<'a>, Error>
where
    Numbers: From<Arc<Array<T>>> + From<Array<T>>,
{
    let Some(other) = selection.another_device(home)? else {
        return Ok(home
            .choose()?
            .held(object, effort, move |_, home, _| Ok(Held { home, dims, numbers: array.into() })));
    };
    Ok(Chosen::for_copy(other)?
        .held(object, effort, move |_, home, _| Ok(Held { home, dims, numbers: other.copy_of(&array)?.into() })))
}

/// An array of one value.
fn fill<'a>(number: &Argument, dims: &Argument, class: &Argument, selection: &Selection) -> Result<Reply<'a>, Error> {
    let number = number.scalar().ok_or_else(|| Error::new("dataType", format!("{number} is no number.")))?;
    let (dims, single) = (sizes(dims)?, is_single(class)?);
    let len = elements(&dims)?;
    Ok(selection.choose_home()?.held(true, effort(len), move |engine, home, watch| {
        let numbers = if single {
            filled::<f32>(engine, len, number as f32, watch)?.into()
        } else {
            filled::<f64>(engine, len, number, watch)?.into()
        };
        Ok(Held { home, dims, numbers })
    }))
}

fn filled<T: Real>(engine: &Engines, len: usize, value: T, watch: &Watch) -> Result<Array<T>, stencil::Error>
where
    Engines: Compute<T> + Arithmetic<T>,
{
    let mut array = Compute::<T>::array(engine, len)?;
    engine.fill(value, &mut array, watch).map(|()| array)
}

/// The numbers, as an array of the host's.
fn gather<'a, T: Real + Numeric>(held: Held, numbers: Arc<Array<T>>) -> Result<Reply<'a>, Error>
where
    Engines: Compute<T>,
{
    held.home.choose()?.reply(&held.dims, effort(held.len()), move |engine, output, watch| {
        Compute::copy(engine, Source::Array(&numbers), Target::Host(output), watch)
    })
}

/// Those at some places, as an array of the host's.
fn pick<'a, T: Real + Numeric>(held: Held, numbers: Arc<Array<T>>, indexed: Indexed) -> Result<Reply<'a>, Error>
where
    Engines: Arithmetic<T>,
{
    let effort = effort(indexed.places.len());
    held.home.choose()?.reply(&indexed.dims, effort, move |engine, output, watch| {
        engine.pick(&numbers, &indexed.places, Target::Host(output), watch)
    })
}

/// Another array, with other values at some places.
fn put<'a, T: Real>(
    array: Held,
    numbers: Arc<Array<T>>,
    values: &'a Argument,
    indexed: Indexed,
) -> Result<Reply<'a>, Error>
where
    Engines: Compute<T> + Arithmetic<T> + Compute<T::Other>,
    Numbers: From<Array<T>>,
    AnyOperand<'a>: Into<OperandOf<'a, T>>,
{
    let wanted = indexed.places.len();
    let (operand, dims) = operand(values, array.home)?;
    let ones = |dims: &[usize]| dims.iter().copied().filter(|&dim| dim != 1).collect::<Vec<_>>();
    let is_one = dims.iter().product::<usize>() == 1;
    if !is_one && ones(&dims) != ones(&indexed.dims) {
        let told = |dims: &[usize]| dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let text = format!("=: nonconformant arguments (op1 is {}, op2 is {})", told(&indexed.dims), told(&dims));
        return Err(Error::new("size", text));
    }
    let operand: OperandOf<T> = operand.into();
    keep(array.home, array.len(), move |engine, home, watch| {
        let mut output = Compute::<T>::array(engine, numbers.len())?;
        Compute::copy(engine, Source::Array(&numbers), Target::Array(&mut output), watch)?;
        let mut values = operand.on(engine, watch)?.array(wanted, engine, watch)?;
        if is_one && wanted != values.get()?.len() {
            // The same one for all places.
            let mut many = Compute::<T>::array(engine, wanted)?;
            let mut same = Section { start: 0, size: [1; RANK], steps: [0; RANK] };
            same.size[0] = wanted;
            engine.pick(values.get()?, &Places::Section(same), Target::Array(&mut many), watch)?;
            values = Ready::Own(many);
        }
        engine.put(Source::Array(values.get()?), &indexed.places, &mut output, watch)?;
        Ok(Held { home, dims: array.dims, numbers: output.into() })
    })
}

/// The same numbers in a class.
fn convert<'a>(array: Held, single: bool) -> Result<Reply<'a>, Error> {
    keep(array.home, array.len(), move |engine, _, watch| {
        let numbers = match (array.numbers, single) {
            (Numbers::Double(numbers), true) => converted::<f32>(engine, &numbers, watch)?.into(),
            (Numbers::Single(numbers), false) => converted::<f64>(engine, &numbers, watch)?.into(),
            // The numbers never change, so both may have the same.
            (same, _) => same,
        };
        Ok(Held { numbers, ..array })
    })
}

fn converted<T: Real>(engine: &Engines, from: &Array<T::Other>, watch: &Watch) -> Result<Array<T>, stencil::Error>
where
    Engines: Compute<T> + Arithmetic<T>,
{
    let mut to = Compute::<T>::array(engine, from.len())?;
    Arithmetic::<T>::convert(engine, from, &mut to, watch).map(|()| to)
}

fn unary<'a>(array: Held, op: Unary) -> Result<Reply<'a>, Error> {
    fn run<T: Real>(op: Unary, from: &Array<T>, engine: &Engines, watch: &Watch) -> Result<Array<T>, stencil::Error>
    where
        Engines: Compute<T> + Arithmetic<T>,
    {
        let mut to = Compute::<T>::array(engine, from.len())?;
        engine.unary(op, from, &mut to, watch).map(|()| to)
    }
    keep(array.home, array.len(), move |engine, _, watch| {
        let numbers = match &array.numbers {
            Numbers::Double(numbers) => run(op, numbers, engine, watch)?.into(),
            Numbers::Single(numbers) => run(op, numbers, engine, watch)?.into(),
        };
        Ok(Held { numbers, ..array })
    })
}

// ---- two operands

/// An operand of any class: what is held, an array of the host's, or a scalar.
#[derive(Debug)]
enum AnyOperand<'a> {
    Array(AnyInput<'a>),
    /// A number of the host's, of class double or single.
    Scalar(Number),
}

#[derive(Debug, Clone, Copy)]
enum Number {
    Double(f64),
    Single(f32),
}

/// An operand in the class that is computed in. What has to be converted is converted where it is.
#[derive(Debug)]
enum OperandOf<'a, T: Real> {
    Same(Input<'a, T>),
    Other(Input<'a, T::Other>),
    Scalar(T),
}

impl<'a> From<AnyOperand<'a>> for OperandOf<'a, f64> {
    fn from(operand: AnyOperand<'a>) -> OperandOf<'a, f64> {
        match operand {
            AnyOperand::Array(AnyInput::Double(input)) => OperandOf::Same(input),
            AnyOperand::Array(AnyInput::Single(input)) => OperandOf::Other(input),
            AnyOperand::Scalar(Number::Double(value)) => OperandOf::Scalar(value),
            AnyOperand::Scalar(Number::Single(value)) => OperandOf::Scalar(value.into()),
        }
    }
}

impl<'a> From<AnyOperand<'a>> for OperandOf<'a, f32> {
    fn from(operand: AnyOperand<'a>) -> OperandOf<'a, f32> {
        match operand {
            AnyOperand::Array(AnyInput::Single(input)) => OperandOf::Same(input),
            AnyOperand::Array(AnyInput::Double(input)) => OperandOf::Other(input),
            AnyOperand::Scalar(Number::Double(value)) => OperandOf::Scalar(value as f32),
            AnyOperand::Scalar(Number::Single(value)) => OperandOf::Scalar(value),
        }
    }
}

/// What an engine computes on: an array that is held, one of this call's, or a scalar.
enum Ready<T> {
    Held(Arc<Array<T>>),
    Own(Array<T>),
    Scalar(T),
}

impl<T: Real> Ready<T> {
    /// An array, of `len` elements where this is a scalar.
    fn array(self, len: usize, engine: &Engines, watch: &Watch) -> Result<Ready<T>, stencil::Error>
    where
        Engines: Compute<T> + Arithmetic<T>,
    {
        match self {
            Ready::Scalar(value) => filled(engine, len, value, watch).map(Ready::Own),
            array => Ok(array),
        }
    }

    /// The array that it is.
    fn get(&self) -> Result<&Array<T>, stencil::Error> {
        match self.operand() {
            Operand::Array(array) => Ok(array),
            Operand::Scalar(_) => Err(stencil::Error::Internal("A scalar where an array belongs.".into())),
        }
    }

    fn operand(&self) -> Operand<'_, T> {
        match self {
            Ready::Held(array) => Operand::Array(array),
            Ready::Own(array) => Operand::Array(array),
            Ready::Scalar(value) => Operand::Scalar(*value),
        }
    }
}

impl<T: Real> OperandOf<'_, T> {
    /// The operand where the engine computes.
    fn on(self, engine: &Engines, watch: &Watch) -> Result<Ready<T>, stencil::Error>
    where
        Engines: Compute<T> + Arithmetic<T> + Compute<T::Other>,
    {
        Ok(match self {
            OperandOf::Same(Input::Held(_, array)) => Ready::Held(array),
            OperandOf::Same(Input::Host(samples)) => Ready::Own(upload(engine, &samples, watch)?),
            OperandOf::Other(Input::Held(_, array)) => Ready::Own(converted(engine, &array, watch)?),
            OperandOf::Other(Input::Host(samples)) => {
                Ready::Own(converted(engine, &upload(engine, &samples, watch)?, watch)?)
            }
            OperandOf::Scalar(value) => Ready::Scalar(value),
            // `operand` reads none.
            OperandOf::Same(Input::Gpu(_, array)) => return Err(stencil::Error::Foreign(array.place())),
            OperandOf::Other(Input::Gpu(_, array)) => return Err(stencil::Error::Foreign(array.place())),
        })
    }
}

/// An operand of a call on an array in `home`, and its dimensions.
fn operand<'a>(argument: &'a Argument, home: Home) -> Result<(AnyOperand<'a>, Vec<usize>), Error> {
    if argument.object().is_none() {
        if let Some(scalar) = argument.scalar().filter(|_| !argument.is_complex() && !argument.is_sparse()) {
            let number = match argument.singles() {
                Some(_) => Number::Single(scalar as f32),
                None if argument.doubles().is_some() || argument.logicals().is_some() => Number::Double(scalar),
                None => return Err(inputs::wrong_operand(argument)),
            };
            return Ok((AnyOperand::Scalar(number), vec![1, 1]));
        }
        if let Some(truths) = argument.logicals() {
            let mut values = memory::with_room(truths.len(), "truth values in double")?;
            values.extend(truths.iter().map(|&truth| f64::from(truth)));
            let input = AnyInput::Double(Input::Host(values.into()));
            return Ok((AnyOperand::Array(input), argument.dims().to_vec()));
        }
    }
    let (input, dims) = inputs::input("an operand", argument)?;
    if let AnyInput::Double(Input::Held(other, _)) | AnyInput::Single(Input::Held(other, _)) = &input
        && *other != home
    {
        return Err(Error::new(
            "dataType",
            format!(
                "One operand lies in {home}, the other in {other}: gather one, and make a DeviceArray of it there."
            ),
        ));
    }
    Ok((AnyOperand::Array(input), dims.into_owned()))
}

/// Where the first of two arguments that is held lies.
fn home_of(arguments: [&Argument; 2]) -> Result<Home, Error> {
    for argument in arguments {
        if let Some(held) = Held::of(argument)? {
            return Ok(held.home);
        }
    }
    let text = format!("A DeviceArray is expected, and these are {} and {}.", arguments[0], arguments[1]);
    Err(Error::new("dataType", text))
}

/// Whether an operand makes the result single: the smaller class wins.
fn makes_single(operand: &AnyOperand) -> bool {
    matches!(operand, AnyOperand::Array(AnyInput::Single(_)) | AnyOperand::Scalar(Number::Single(_)))
}

fn binary<'a>(op: Binary, arguments: [&'a Argument; 2]) -> Result<Reply<'a>, Error> {
    let home = home_of(arguments)?;
    let (a, sizes_of_a) = operand(arguments[0], home)?;
    let (b, sizes_of_b) = operand(arguments[1], home)?;
    let single = makes_single(&a) || makes_single(&b);
    let sizes = [sizes_of_a, sizes_of_b];
    let nonconformant = || {
        let told = |dims: &[usize]| dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let text = format!("nonconformant arguments (op1 is {}, op2 is {})", told(&sizes[0]), told(&sizes[1]));
        Error::new("size", text)
    };
    let rank = sizes[0].len().max(sizes[1].len());
    let of = |which: usize, d: usize| sizes[which].get(d).copied().unwrap_or(1);
    if !(0..rank).all(|d| of(0, d) == of(1, d) || of(0, d) == 1 || of(1, d) == 1) {
        return Err(nonconformant());
    }
    let expansion = Expansion::new([&sizes[0], &sizes[1]]).ok_or_else(|| {
        Error::new(
            "unsupported",
            format!("The operands expand in more than {RANK} ways: reshape them so that fewer dimensions alternate."),
        )
    })?;
    let dims = (0..rank).map(|d| if of(0, d) == 1 { of(1, d) } else { of(0, d) }).collect();
    keep(home, expansion.elements(), move |engine, home, watch| {
        let numbers = if single {
            combined::<f32>(engine, op, [a.into(), b.into()], &expansion, watch)?.into()
        } else {
            combined::<f64>(engine, op, [a.into(), b.into()], &expansion, watch)?.into()
        };
        Ok(Held { home, dims, numbers })
    })
}

fn combined<T: Real>(
    engine: &Engines,
    op: Binary,
    operands: [OperandOf<T>; 2],
    expansion: &Expansion,
    watch: &Watch,
) -> Result<Array<T>, stencil::Error>
where
    Engines: Compute<T> + Arithmetic<T> + Compute<T::Other>,
{
    let mut to = Compute::<T>::array(engine, expansion.elements())?;
    let [a, b] = operands.map(|operand| operand.on(engine, watch));
    let (a, b) = (a?, b?);
    engine.binary(op, [a.operand(), b.operand()], expansion, &mut to, watch).map(|()| to)
}

// ---- reductions

/// Reduced along a dimension, counted from 1; over everything for 0, along the first that is not 1 for -1: an array of
/// the host's.
fn reduce<'a>(array: Held, op: Reduction, dim: &Argument) -> Result<Reply<'a>, Error> {
    let dim = dim.scalar().filter(|dim| dim.fract() == 0.0 && *dim >= -1.0).ok_or_else(|| {
        Error::new("dimension", format!("A dimension is a whole number from 1 up, and this is {dim}."))
    })?;
    let first = || array.dims.iter().position(|&dim| dim != 1).unwrap_or(0) + 1;
    let dim = match dim {
        // Of nothing at all the hosts make a scalar.
        ..0.0 if array.dims == [0, 0] => 0,
        ..0.0 => first(),
        dim => dim as usize,
    };
    let (size, dims) = match dim {
        0 => ([1, array.len(), 1], vec![1, 1]),
        _ => {
            let mut dims = array.dims.clone();
            let product = |dims: &[usize]| dims.iter().product::<usize>();
            let at = dim - 1;
            if at < dims.len() {
                let size = [product(&dims[..at]), dims[at], product(&dims[at + 1..])];
                dims[at] = 1;
                (size, dims)
            } else {
                ([array.len(), 1, 1], dims)
            }
        }
    };
    let effort = effort(array.len());
    let chosen = array.home.choose()?;
    match array.numbers {
        Numbers::Double(numbers) => chosen
            .reply(&dims, effort, move |engine, output, watch| engine.reduce(op, &numbers, None, size, output, watch)),
        Numbers::Single(numbers) => chosen
            .reply(&dims, effort, move |engine, output, watch| engine.reduce(op, &numbers, None, size, output, watch)),
    }
}

/// A reduction of two arrays, over everything: a scalar.
fn both<'a>(op: Reduction, arguments: [&'a Argument; 2]) -> Result<Reply<'a>, Error> {
    let home = home_of(arguments)?;
    let (a, sizes_of_a) = operand(arguments[0], home)?;
    let (b, sizes_of_b) = operand(arguments[1], home)?;
    let elements = |dims: &[usize]| dims.iter().product::<usize>();
    if elements(&sizes_of_a) != elements(&sizes_of_b) {
        let text = format!("nonconformant arguments: {} and {}", arguments[0], arguments[1]);
        return Err(Error::new("size", text));
    }
    let size = [1, elements(&sizes_of_a), 1];
    let chosen = home.choose()?;
    if makes_single(&a) || makes_single(&b) {
        let (a, b): (OperandOf<f32>, OperandOf<f32>) = (a.into(), b.into());
        chosen.reply(&[1, 1], effort(size[1]), move |engine, output, watch| {
            let [a, b] = [a.on(engine, watch)?, b.on(engine, watch)?];
            let [a, b] = [a.array(size[1], engine, watch)?, b.array(size[1], engine, watch)?];
            engine.reduce(op, a.get()?, Some(b.get()?), size, output, watch)
        })
    } else {
        let (a, b): (OperandOf<f64>, OperandOf<f64>) = (a.into(), b.into());
        chosen.reply(&[1, 1], effort(size[1]), move |engine, output, watch| {
            let [a, b] = [a.on(engine, watch)?, b.on(engine, watch)?];
            let [a, b] = [a.array(size[1], engine, watch)?, b.array(size[1], engine, watch)?];
            engine.reduce(op, a.get()?, Some(b.get()?), size, output, watch)
        })
    }
}
