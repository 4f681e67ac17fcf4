//! `DeviceArray_CUDA (verb, ...)`: the verbs behind the class `DeviceArray`.
//!
//! A verb is a line in [`VERBS`]. The class's checks that memory depends on are repeated here, for direct calls.

mod apply;
mod class;
mod combine;
mod elements;
mod index;
mod make;
mod merge;
mod operands;
mod order;
mod pattern;
mod reduce;
mod result;
mod run;
mod shape;
mod statistics;
mod steps;
mod subscripts;

use crate::gateway::options::{self, Names, Selection};
use crate::gateway::store::{self, Home, StoredArray};
use crate::gateway::{check_outputs_up_to, too_few_inputs};
use crate::mex::{Argument, Call, Error, Function, Output, Reply, Value};
use crate::stencil::functions::Distribution;
use crate::stencil::{Binary, Extreme, MAX_POWER, Reduction, Scan, Unary};
use class::is_integer;
pub(super) use class::{in_class_of_host, round};
use elements::Each;
pub(super) use index::gathered;
pub(super) use operands::brought;
pub(super) use run::Number;
use statistics::Statistic;

pub(super) const FUNCTION: Function = Function { name: "DeviceArray_CUDA", call };

const OPTIONS: Names = Names(&[&["Backend", "Device"]]);

/// The action of a call.
#[derive(Debug, Clone, Copy)]
enum Verb {
    Make {
        of_class: bool,
    },
    Fill,
    Random(Distribution),
    Rng,
    Delete,
    Count,
    Native,
    Statics,
    Refusal,
    Gather,
    Size,
    Class,
    Where,
    Reshape,
    Convert,
    Pick,
    Put {
        in_place: bool,
    },
    Remove,
    Cat,
    /// Along this dimension, counted from 0.
    Join(usize),
    Repmat,
    Permute,
    Transpose,
    Flip,
    Circshift,
    Rot90,
    Triangle {
        upper: bool,
    },
    Diff,
    Resize,
    Power,
    Each(Each),
    Binary(Binary),
    Merge,
    Reduce(Reduction),
    /// With places if two outputs are asked for.
    Extreme(Reduction, Extreme),
    Scan(Scan),
    Sort,
    Find,
    Statistic(Statistic),
    /// With a weight.
    Spread(Statistic),
    Both(Reduction),
    Record,
    Elements,
    Apply,
    Argument,
    Finish,
    Forget,
    Condition,
    Run,
    Step,
    Shares,
}

/// Words for the verbs: names of the hosts' own functions, if there are any.
const VERBS: &[(&str, Verb)] = &[
    ("plus", Verb::Binary(Binary::Add)),
    ("times", Verb::Binary(Binary::Multiply)),
    ("delete", Verb::Delete),
    ("minus", Verb::Binary(Binary::Subtract)),
    ("horzcat", Verb::Join(1)),
    ("vertcat", Verb::Join(0)),
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
    ("uminus", Verb::Each(Each::Op(Unary::Negate))),
    ("abs", Verb::Each(Each::Op(Unary::Abs))),
    ("sqrt", Verb::Each(Each::Op(Unary::Sqrt))),
    ("not", Verb::Each(Each::Op(Unary::Not))),
    ("isnan", Verb::Each(Each::Op(Unary::IsNan))),
    ("isinf", Verb::Each(Each::ToInfinity(Binary::Equal))),
    ("isfinite", Verb::Each(Each::ToInfinity(Binary::Less))),
    ("floor", Verb::Each(Each::Op(Unary::Floor))),
    ("ceil", Verb::Each(Each::Op(Unary::Ceil))),
    ("round", Verb::Each(Each::Op(Unary::Round))),
    ("fix", Verb::Each(Each::Op(Unary::Fix))),
    ("sign", Verb::Each(Each::Op(Unary::Sign))),
    ("exp", Verb::Each(Each::Op(Unary::Exp))),
    ("log", Verb::Each(Each::Op(Unary::Log))),
    ("log2", Verb::Each(Each::Op(Unary::Log2))),
    ("log10", Verb::Each(Each::Op(Unary::Log10))),
    ("log1p", Verb::Each(Each::Op(Unary::Log1p))),
    ("expm1", Verb::Each(Each::Op(Unary::Expm1))),
    ("sin", Verb::Each(Each::Op(Unary::Sin))),
    ("cos", Verb::Each(Each::Op(Unary::Cos))),
    ("tan", Verb::Each(Each::Op(Unary::Tan))),
    ("asin", Verb::Each(Each::Op(Unary::Asin))),
    ("acos", Verb::Each(Each::Op(Unary::Acos))),
    ("atan", Verb::Each(Each::Op(Unary::Atan))),
    ("sinh", Verb::Each(Each::Op(Unary::Sinh))),
    ("cosh", Verb::Each(Each::Op(Unary::Cosh))),
    ("tanh", Verb::Each(Each::Op(Unary::Tanh))),
    ("cbrt", Verb::Each(Each::Op(Unary::Cbrt))),
    ("sinpi", Verb::Each(Each::Op(Unary::Sinpi))),
    ("cospi", Verb::Each(Each::Op(Unary::Cospi))),
    ("asinh", Verb::Each(Each::Op(Unary::Asinh))),
    ("acosh", Verb::Each(Each::Op(Unary::Acosh))),
    ("atanh", Verb::Each(Each::Op(Unary::Atanh))),
    ("erf", Verb::Each(Each::Op(Unary::Erf))),
    ("erfc", Verb::Each(Each::Op(Unary::Erfc))),
    ("atan2", Verb::Binary(Binary::Atan2)),
    ("hypot", Verb::Binary(Binary::Hypot)),
    ("merge", Verb::Merge),
    ("xor", Verb::Binary(Binary::Xor)),
    ("mod", Verb::Binary(Binary::Mod)),
    ("rem", Verb::Binary(Binary::Rem)),
    ("prod", Verb::Reduce(Reduction::Product)),
    ("cumsum", Verb::Scan(Scan::Sum)),
    ("cumprod", Verb::Scan(Scan::Product)),
    ("sort", Verb::Sort),
    ("find", Verb::Find),
    ("nnz", Verb::Statistic(Statistic::Nonzeros)),
    ("sumsq", Verb::Statistic(Statistic::SumOfSquares)),
    ("mean", Verb::Statistic(Statistic::Mean)),
    ("median", Verb::Statistic(Statistic::Median)),
    ("var", Verb::Spread(Statistic::Variance { of_all: false })),
    ("std", Verb::Spread(Statistic::Deviation { of_all: false })),
    ("power", Verb::Power),
    ("sum", Verb::Reduce(Reduction::Sum)),
    ("asum", Verb::Reduce(Reduction::SumOfMagnitudes)),
    ("amax", Verb::Reduce(Reduction::LargestMagnitude)),
    ("smallest", Verb::Extreme(Reduction::Min, Extreme::Smallest)),
    ("largest", Verb::Extreme(Reduction::Max, Extreme::Largest)),
    ("any", Verb::Reduce(Reduction::Any)),
    ("all", Verb::Reduce(Reduction::All)),
    ("dot", Verb::Both(Reduction::Dot)),
    ("differ", Verb::Both(Reduction::Differ)),
    ("fill", Verb::Fill),
    ("rand", Verb::Random(Distribution::Uniform)),
    ("randn", Verb::Random(Distribution::Normal)),
    ("rng", Verb::Rng),
    ("count", Verb::Count),
    ("native", Verb::Native),
    ("statics", Verb::Statics),
    ("refusal", Verb::Refusal),
    ("gather", Verb::Gather),
    ("size", Verb::Size),
    ("class", Verb::Class),
    ("where", Verb::Where),
    ("reshape", Verb::Reshape),
    ("convert", Verb::Convert),
    ("pick", Verb::Pick),
    ("put", Verb::Put { in_place: false }),
    ("write", Verb::Put { in_place: true }),
    ("remove", Verb::Remove),
    ("cat", Verb::Cat),
    ("repmat", Verb::Repmat),
    ("permute", Verb::Permute),
    ("transpose", Verb::Transpose),
    ("flip", Verb::Flip),
    ("circshift", Verb::Circshift),
    ("rot90", Verb::Rot90),
    ("triu", Verb::Triangle { upper: true }),
    ("tril", Verb::Triangle { upper: false }),
    ("diff", Verb::Diff),
    ("resize", Verb::Resize),
    ("make", Verb::Make { of_class: false }),
    ("new", Verb::Make { of_class: true }),
    ("record", Verb::Record),
    ("elements", Verb::Elements),
    ("apply", Verb::Apply),
    ("argument", Verb::Argument),
    ("finish", Verb::Finish),
    ("forget", Verb::Forget),
    ("condition", Verb::Condition),
    ("run", Verb::Run),
    ("step", Verb::Step),
    ("shares", Verb::Shares),
];

/// Returns the verb that a text names.
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
    let most = match verb {
        Verb::Extreme(..) | Verb::Sort | Verb::Find => 2,
        Verb::Run | Verb::Step | Verb::Apply => usize::MAX,
        _ => 1,
    };
    check_outputs_up_to(call, most)?;
    match (verb, arguments) {
        (Verb::Make { of_class }, [values, pairs @ ..]) => make::of_values(of_class, values, &selection(pairs, 3)?),
        (Verb::Random(what), [dims, class, pairs @ ..]) => make::random(what, dims, class, &selection(pairs, 4)?),
        (Verb::Rng, []) => {
            let state = store::random::state();
            Ok(value(Value::Row(vec![f64::from(state.seed), state.number as f64])))
        }
        (Verb::Rng, [state]) => steps::set_random(state),
        (Verb::Fill, [value, dims, class, pairs @ ..]) => make::fill(value, dims, class, &selection(pairs, 5)?),
        (Verb::Delete, [number, ..]) => {
            // An object whose constructor failed has no number.
            let number = number.object().flatten().or_else(|| number.whole_number());
            number.into_iter().for_each(store::delete);
            Ok(value(Value::Empty))
        }
        (Verb::Count, []) => Ok(value(Value::Double(store::count() as f64))),
        (Verb::Native, []) => Ok(reply(Output::InstallType)),
        (Verb::Statics, []) => Ok(reply(Output::NoArray)),
        (Verb::Refusal, []) => Ok(reply(Output::Refusal)),
        (Verb::Gather, [array]) => elements::gather(held(array)?),
        (Verb::Size, [array]) => size(&held(array)?),
        (Verb::Class, [array]) => Ok(value(held(array)?.class.to_string().into())),
        (Verb::Where, [array]) => Ok(place(held(array)?.home)),
        (Verb::Reshape, [array, sizes @ ..]) => make::reshape(held(array)?, sizes),
        (Verb::Convert, [array, class]) => elements::convert(held(array)?, class::named(class)?),
        (Verb::Pick, [array, indices @ ..]) => index::pick(held(array)?, indices),
        (Verb::Put { in_place }, [array, values, indices @ ..]) => {
            let number = array.object().flatten().filter(|_| in_place);
            index::put(held(array)?, values, indices, number)
        }
        (Verb::Remove, [array, indices @ ..]) => index::remove(held(array)?, indices),
        (Verb::Cat, [dim, arrays @ ..]) => shape::cat(dim, arrays),
        (Verb::Join(at), arrays) => shape::join(at, arrays),
        (Verb::Repmat, [array, times]) => shape::repmat(held(array)?, times),
        (Verb::Permute, [array, order]) => shape::permute(held(array)?, order),
        (Verb::Transpose, [array]) => shape::transpose(held(array)?),
        (Verb::Flip, [array, dim]) => shape::flip(held(array)?, dim),
        (Verb::Circshift, [array, by, dim]) => shape::circshift(held(array)?, by, dim),
        (Verb::Rot90, [array, quarters]) => shape::rot90(held(array)?, quarters),
        (Verb::Triangle { upper }, [array, diagonal]) => shape::triangle(held(array)?, upper, diagonal),
        (Verb::Diff, [array, order, dim]) => shape::diff(held(array)?, order, dim),
        (Verb::Resize, [array, sizes]) => shape::resize(held(array)?, sizes),
        (Verb::Each(op), [array]) => elements::unary(held(array)?, op),
        (Verb::Power, [base, exponent]) => match (StoredArray::of(base)?, whole_power(exponent)) {
            (Some(array), Some(power)) => elements::unary(array, Each::Op(Unary::Power(power))),
            _ => combine::binary(Binary::RaisedTo, [base, exponent]),
        },
        (Verb::Binary(op), [a, b]) => combine::binary(op, [a, b]),
        (Verb::Merge, [mask, a, b]) => merge::merge([mask, a, b]),
        (Verb::Reduce(op), [array, dim]) => reduce::reduce(held(array)?, op, dim),
        (Verb::Extreme(_, which), [array, dim]) if call.outputs > 1 => order::extremes(held(array)?, which, dim),
        (Verb::Extreme(op, _), [array, dim]) => reduce::reduce(held(array)?, op, dim),
        (Verb::Scan(op), [array, dim]) => order::scan(held(array)?, op, dim),
        (Verb::Sort, [array, dim, mode]) => order::sort(held(array)?, (dim, mode), call.outputs > 1),
        (Verb::Find, [array]) => order::find(held(array)?, call.outputs),
        (Verb::Statistic(what), [array, dim]) => statistics::reply(held(array)?, what, dim),
        (Verb::Spread(what), [array, weight, dim]) => statistics::reply(held(array)?, what.weighted(weight)?, dim),
        (Verb::Both(op), [a, b]) => combine::both(op, [a, b]),
        (Verb::Record, [like]) => steps::record(like, None),
        (Verb::Record, [like, again]) => steps::record(like, Some(again)),
        (Verb::Elements, [like]) => apply::begin(like),
        (Verb::Elements, [step, of]) => apply::element(step, of),
        (Verb::Apply, [step, dims, count, others @ ..]) => apply::apply(step, dims, count, others),
        (Verb::Argument, [step, like]) => steps::argument(step, like, None),
        (Verb::Argument, [step, like, page]) => steps::argument(step, like, Some(page)),
        (Verb::Finish, [step, shape, results @ ..]) => steps::finish(step, shape, results),
        (Verb::Forget, [step]) => steps::forget(step, false),
        (Verb::Forget, [step, _]) => steps::forget(step, true),
        (Verb::Condition, [array]) => steps::condition(array),
        (Verb::Shares, [a, b]) => Ok(value(Value::Double(f64::from(held(a)?.shares(&held(b)?))))),
        (Verb::Step, [step, _, states @ ..]) => {
            Ok(steps::step(step, states, call.outputs)?.unwrap_or_else(|| reply(Output::Instead)))
        }
        (Verb::Run, [step, times, values, states @ ..]) => steps::run(step, times, values, states, call.outputs),
        _ => {
            let count = arguments.len();
            let text = format!("Number of Inputs are Wrong: {text} got {count}; its help tells which it takes.");
            Err(Error::new("numberOfInputs", text))
        }
    }
}

/// Returns the dimensions of an array.
///
/// # Errors
/// `trace` for the elements that a mask picks in a step under recording.
fn size<'a>(array: &StoredArray) -> Result<Reply<'a>, Error> {
    if array.is_picked() {
        return Err(store::steps::asks_how_many(array));
    }
    Ok(value(Value::Row(array.dims.iter().map(|&dim| dim as f64).collect())))
}

/// Describes a place for the host; for a step under recording, the place that its arrays will have.
fn place<'a>(home: Home) -> Reply<'a> {
    let (backend, device) = match home.device() {
        Some(ordinal) => ("cuda", ordinal as f64 + 1.0),
        None => ("cpu", 0.0),
    };
    let (place, recorded) = (home.to_string(), f64::from(u8::from(home.step().is_some())));
    let fields = vec![
        (c"Backend", backend.into()),
        (c"Device", device.into()),
        (c"Place", place.into()),
        (c"Recorded", recorded.into()),
    ];
    value(Value::Struct(fields))
}

/// Returns an exponent that is computed by products: a whole number of a class other than integers.
fn whole_power(exponent: &Argument) -> Option<i32> {
    let whole = |value: &f64| value.fract() == 0.0 && value.abs() <= f64::from(MAX_POWER);
    exponent.scalar().filter(|value| whole(value) && !is_integer(exponent.class())).map(|value| value as i32)
}

/// The hosts' numeric classes, which users may put where an option belongs.
const CLASSES: [&str; 12] =
    ["double", "single", "logical", "char", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"];

fn value<'a>(value: Value) -> Reply<'a> {
    reply(Output::Value(value))
}

fn reply(output: Output<'_>) -> Reply<'_> {
    Reply { warnings: Vec::new(), note: None, output }
}

/// Returns the array of an argument.
fn held(argument: &Argument) -> Result<StoredArray, Error> {
    StoredArray::of(argument)?
        .ok_or_else(|| Error::new("dataType", format!("A DeviceArray is expected, and this is {argument}.")))
}

/// Reads `Backend` and `Device`; the first of the pairs is the input `position`.
fn selection(pairs: &[Argument], position: usize) -> Result<Selection, Error> {
    if let Some(class) = pairs.first().and_then(Argument::text).filter(|text| CLASSES.contains(text)) {
        let text = format!(
            "A DeviceArray is of the class that its values have, and '{class}' comes where an option is expected: \
             DeviceArray (single (x)), DeviceArray.zeros (2, 'single'). Classes are double, single, logical, and \
             integers of up to 32 bits."
        );
        return Err(Error::new("dataType", text));
    }
    options::check_pairs(pairs, position)?;
    let mut selection = Selection::of_array();
    for pair in options::pairs(pairs, &OPTIONS) {
        let (name, value) = pair?;
        selection.take(name, value)?;
    }
    Ok(selection)
}
