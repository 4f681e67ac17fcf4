//! Verbs behind `arrayfun`: a function of one element is recorded, then applied to all elements of arrays.

use super::make::{elements, sizes};
use super::operands::{Operand, Values, apart, home_of};
use super::run::{DynEngine, array, effort, filled, in_class_of_engine, keep};
use super::steps::{number, whole};
use super::{held, value};
use crate::gateway::dims::size_text;
use crate::gateway::store::{Home, Numbers, StoredArray, next_number, random, recordings, steps};
use crate::mex::{Argument, Class, Error, Reply, Value};
use crate::platform::watch::Watch;
use crate::stencil::{self, Expansion, RANK, Section};
use crate::steps::{Elements, Recording, Shape, Step, Taped};

/// Begins to record a function of elements of arrays that lie where `like` does. Returns the recording's number.
pub(super) fn begin<'a>(like: &Argument) -> Result<Reply<'a>, Error> {
    let (number, device) = (next_number(), held(like)?.home.device());
    recordings::open(number, device, Recording::of_elements());
    Ok(value(Value::Double(number as f64)))
}

/// Makes an element of this array an argument of the function.
///
/// # Errors
/// `trace` if the recording has ended; `dataType` for arrays in two places.
pub(super) fn element<'a>(step: &Argument, of: &Argument) -> Result<Reply<'a>, Error> {
    let (number, of) = (number(step)?, held(of)?);
    if let Some(device) = recordings::device(number).filter(|device| *device != of.home.device()) {
        return Err(apart(device.map_or(Home::Cpu, Home::Cuda), of.home.outside()));
    }
    let numbers = recordings::find(number)?.argument(of.numbers.is_single(), 1);
    let element = StoredArray { home: of.home.outside().of_step(number), dims: vec![1, 1], numbers, ..of };
    keep(element.home, 0, move |_, _, _| Ok(element))
}

/// Expands the elements of an array to the dimensions of the result.
fn expanded(numbers: Numbers, own: &[usize], dims: &[usize]) -> Result<Elements, Error> {
    let wrong =
        || Error::new("size", format!("An array of {} does not expand to {}.", size_text(own), size_text(dims)));
    let len: usize = dims.iter().product();
    if own == dims {
        return Ok((numbers, None));
    }
    let expansion = Expansion::new([dims, own]).ok_or_else(|| {
        let clash = |(d, extent): (usize, &usize)| *extent != 1 && *extent != dims.get(d).copied().unwrap_or(1);
        if own.iter().enumerate().any(clash) {
            return wrong();
        }
        let text = format!("An array expands in more than {RANK} ways: reshape it so that fewer dimensions alternate.");
        Error::new("unsupported", text)
    })?;
    // `own` may be longer than `dims`, or claim another number of elements than there are.
    if (expansion.elements(), expansion.elements_of(0)) != (len, len) || expansion.elements_of(1) != numbers.len() {
        return Err(wrong());
    }
    Ok((
        numbers,
        Some(Section { start: 0, size: expansion.size(), steps: expansion.steps()[1].map(|step| step as isize) }),
    ))
}

/// Ends the recording and applies the function to all elements of `count` arrays, which expand to `dims`. The results
/// of the function follow the arrays in `others`.
///
/// # Errors
/// `trace` for an operation that does not work on elements; `size` for arrays that do not expand to `dims`.
pub(super) fn apply<'a>(
    step: &Argument,
    dims: &Argument,
    count: &Argument,
    others: &[Argument],
) -> Result<Reply<'a>, Error> {
    let (step, count) = (number(step)?, whole(count, "The number of arrays")? as usize);
    if !(1..others.len()).contains(&count) {
        return Err(Error::new("option", format!("{} arrays and results, and {count} of them arrays.", others.len())));
    }
    let (arrays, results) = others.split_at(count);
    let recording = recordings::find(step)?;
    let dims = sizes(dims)?;
    let len = elements(&dims)?;
    let home = home_of(arrays)?;
    let mut arguments = Vec::with_capacity(count);
    for array in arrays {
        let Operand { dims: own, values, .. } = Operand::of_held(held(array)?, home)?;
        let Values::Held(numbers) = values else { return Err(Error::new("dataType", "An array that is not held.")) };
        arguments.push(expanded(numbers, &own, &dims)?);
    }
    let (mut values, mut classes) = (Vec::new(), Vec::new());
    for result in results {
        let result = steps::lifted(held(result)?, home.outside().of_step(step))?;
        if result.len() != 1 {
            return Err(Error::new("trace", format!("A result is one element, and this is {result}.")));
        }
        values.push(recording.value(&result.numbers)?);
        classes.push(result.class);
    }
    let taped = recording.finish();
    recordings::close(step);
    let results = match home.step() {
        Some(outer) => Done::Recorded(taped?.map(&recordings::find(outer)?, &arguments, &values, len)?),
        None => compiled(&taped?, arguments, &values, len)?,
    };
    let of_all = crate::mex::Effort { work: (len as u64).saturating_mul(16), ..effort(len) };
    let make = move |engine: &DynEngine, home, watch: &Watch| {
        let numbers = results.numbers(engine, len, watch)?;
        let array = |(class, numbers)| StoredArray { home, dims: dims.clone(), class, numbers };
        Ok(classes.into_iter().zip(numbers).map(array).collect())
    };
    Ok(home.choose()?.held_all(home.effort(of_all), Box::new(make)))
}

/// Results of the function: recorded in an outer step, or a program that is still to run.
enum Done {
    Recorded(Vec<Numbers>),
    Program { taped: Taped, arrays: Vec<Numbers>, values: Vec<stencil::program::Value>, draws: Option<usize> },
}

/// Compiles the recorded function of one element to a program of these arrays.
fn compiled(
    taped: &Taped,
    arrays: Vec<Elements>,
    values: &[stencil::program::Value],
    len: usize,
) -> Result<Done, Error> {
    let whole = Recording::new();
    let argument = |(numbers, section): &Elements| (whole.argument(numbers.is_single(), numbers.len()), *section);
    let arguments: Vec<Elements> = arrays.iter().map(argument).collect();
    let results = taped.map(&whole, &arguments, values, len)?;
    let values = results.iter().map(|result| whole.value(result)).collect::<Result<_, _>>()?;
    let Taped { program, known, drawn } = whole.finish()?;
    // The number of the first draw is the last argument.
    let (taped, draws) = (Taped { program, known, drawn: None }, drawn.map(|drawn| drawn.count));
    Ok(Done::Program { taped, arrays: arrays.into_iter().map(|(numbers, _)| numbers).collect(), values, draws })
}

impl Done {
    fn numbers(self, engine: &DynEngine, len: usize, watch: &Watch) -> Result<Vec<Numbers>, stencil::Error> {
        let (taped, mut arrays, values, draws) = match self {
            Done::Recorded(numbers) => return Ok(numbers),
            Done::Program { taped, arrays, values, draws } => (taped, arrays, values, draws),
        };
        if let Some(count) = draws {
            arrays.push(filled::<f64>(engine, 1, random::state().number as f64, watch)?.into());
            random::advance(count as u64);
        }
        if len == 0 {
            let none = |value: &stencil::program::Value| {
                let class = if taped.program.node(*value).single { Class::Single } else { Class::Double };
                in_class_of_engine!(class, T => array::<T>(engine, 0).map(Numbers::from))
            };
            return values.iter().map(none).collect();
        }
        let shape = Shape { states: values.len(), records: 0, until: false };
        Step::new(engine, taped, values, shape)?.once(engine, arrays, watch)
    }
}
