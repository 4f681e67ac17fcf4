//! Verbs that make arrays: from the host's, from stored ones, or of one value.

use crate::stencil::Compute;
use std::fmt::Display;

use super::class;
use super::run::{array, effort, in_class_of_engine, keep};
use crate::gateway::dims::{self, size_text, trimmed};
use crate::gateway::engine::Chosen;
use crate::gateway::options::{self, Selection};
use crate::gateway::store::{Home, Numbers, StoredArray, random};
use crate::mex::{Argument, Class, Error, Output, Reply};
use crate::platform::memory;
use crate::stencil::functions::Distribution;

/// Reads dimensions from a row of at least two whole numbers; trailing ones are dropped.
pub(super) fn sizes(argument: &Argument) -> Result<Vec<usize>, Error> {
    let numbers = argument.numbers().filter(|_| argument.len() >= 2).ok_or_else(|| not_sizes(argument))?;
    sizes_of(argument.len(), numbers)
}

/// Reads dimensions from `count` whole numbers.
fn sizes_of(count: usize, numbers: impl Iterator<Item = f64>) -> Result<Vec<usize>, Error> {
    let mut dims = memory::with_room(count, "dimensions")?;
    for number in numbers {
        if number.fract() != 0.0 {
            return Err(not_sizes(&options::number_text(number)));
        }
        // The hosts read a negative size as 0.
        dims.push(number.max(0.0) as usize);
    }
    let dims = trimmed(dims);
    elements(&dims)?;
    Ok(dims)
}

fn not_sizes(got: &dyn Display) -> Error {
    Error::new("size", format!("Sizes are two or more whole numbers, and this is {got}."))
}

/// `reshape (u, m, n, ..)` and `reshape (u, [m n ..])`. One of several sizes may be empty: it follows from the others.
pub(super) fn reshape<'a>(held: StoredArray, given: &[Argument]) -> Result<Reply<'a>, Error> {
    let dims = match given {
        [row] => sizes(row)?,
        _ => sizes_of(given.len(), given_sizes(&held, given)?.into_iter())?,
    };
    if elements(&dims)? != held.len() {
        let text = format!("reshape: can't reshape {} array to {} array", size_text(&held.dims), size_text(&dims));
        return Err(Error::new("size", text));
    }
    // Shared numbers never change, so both objects may have them.
    keep(held.home, 0, move |_, _, _| Ok(StoredArray { dims, ..held }))
}

/// Reads sizes one by one, at most one of them empty.
fn given_sizes(held: &StoredArray, given: &[Argument]) -> Result<Vec<f64>, Error> {
    let mut open = None;
    let mut numbers: Vec<f64> = memory::with_room(given.len(), "dimensions")?;
    for size in given {
        if size.is_empty() && open.replace(numbers.len()).is_some() {
            return Err(Error::new("size", "reshape: only one size may be []."));
        }
        numbers.push(if size.is_empty() { 1.0 } else { size.scalar().ok_or_else(|| not_sizes(size))? });
    }
    if let Some(open) = open {
        let (len, rest) = (held.len() as f64, numbers.iter().product::<f64>());
        numbers[open] = if len == 0.0 && rest == 0.0 { 0.0 } else { len / rest };
        if numbers[open].fract() != 0.0 {
            let text = format!("reshape: {len} elements cannot be divided by the product of the sizes, {rest}.");
            return Err(Error::new("size", text));
        }
    }
    Ok(numbers)
}

/// Returns the number of elements.
///
/// # Errors
/// `outOfMemory` if no memory can hold them.
pub(super) fn elements(dims: &[usize]) -> Result<usize, Error> {
    dims::elements(dims)
        .ok_or_else(|| Error::new("outOfMemory", "There is no memory for an array of these dimensions."))
}

/// Makes an array of the host's values, or of an array that is held: with `of_class`, an object of the host's class.
pub(super) fn of_values<'a>(of_class: bool, values: &'a Argument, selection: &Selection) -> Result<Reply<'a>, Error> {
    let mut reply = match StoredArray::of(values)? {
        Some(held) => again(held, selection),
        None => from_host(values, selection),
    }?;
    if let Output::Held { of_class: wanted, .. } = &mut reply.output {
        *wanted = of_class;
    }
    Ok(reply)
}

/// Copies the host's array.
fn from_host<'a>(values: &'a Argument, selection: &Selection) -> Result<Reply<'a>, Error> {
    let (class, upload) = class::held_of_host("x", values)?;
    let (dims, chosen) = (values.dims().to_vec(), selection.choose_home()?);
    Ok(chosen.held(effort(values.len()), move |engine, home, watch| {
        Ok(StoredArray { home, dims, class, numbers: upload(engine, watch)? })
    }))
}

/// Returns an object for the same array, or for a copy if another device is named.
fn again<'a>(held: StoredArray, selection: &Selection) -> Result<Reply<'a>, Error> {
    let effort = effort(held.len());
    let Some(other) = selection.another_device(held.home)? else {
        return Ok(held.home.choose()?.held(effort, move |_, _, _| Ok(held)));
    };
    Ok(Chosen::for_copy(other)?.held(effort, move |_, home, _| {
        let numbers = match &held.numbers {
            Numbers::Double(array) => other.copy_of(array)?.into(),
            Numbers::Single(array) => other.copy_of(array)?.into(),
        };
        Ok(StoredArray { home, numbers, ..held })
    }))
}

/// Makes an array of random numbers; in a step under recording they are the step's.
pub(super) fn random<'a>(
    what: Distribution,
    dims: &Argument,
    class: &Argument,
    selection: &Selection,
) -> Result<Reply<'a>, Error> {
    let (dims, class) = (sizes(dims)?, class::named(class)?);
    if !matches!(class, Class::Double | Class::Single) {
        return Err(Error::new(
            "dataType",
            format!("Random numbers are of class double or single, and not of {class}."),
        ));
    }
    let len = elements(&dims)?;
    let chosen = match Home::current() {
        Some(home) => home.choose()?,
        None => selection.choose_home()?,
    };
    Ok(chosen.held(effort(len), move |engine, home, watch| {
        let draw = random::draw(what, home.step().is_none());
        let numbers = in_class_of_engine!(class, T => {
            let mut numbers = array::<T>(engine, len)?;
            engine.random(draw, &mut numbers, watch)?;
            Numbers::from(numbers)
        });
        Ok(StoredArray { home, dims, class, numbers })
    }))
}

/// Makes an array of one value.
pub(super) fn fill<'a>(
    number: &Argument,
    dims: &Argument,
    class: &Argument,
    selection: &Selection,
) -> Result<Reply<'a>, Error> {
    let number = number.scalar().ok_or_else(|| Error::new("dataType", format!("{number} is no number.")))?;
    let (dims, class) = (sizes(dims)?, class::named(class)?);
    if class == Class::Logical && number.is_nan() {
        return Err(class::nan_is_no_truth());
    }
    let len = elements(&dims)?;
    Ok(selection.choose_home()?.held(effort(len), move |engine, home, watch| {
        let numbers = class::of_value(engine, (number, class), len, watch)?;
        Ok(StoredArray { home, dims, class, numbers })
    }))
}
