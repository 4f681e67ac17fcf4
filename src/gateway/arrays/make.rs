//! Verbs that make arrays: from the host's, from one that is held, or of one value.

use std::sync::Arc;

use super::super::backend::Selection;
use super::super::inputs::{self, AnyInput, Input};
use super::super::reply::Chosen;
use super::super::store::{Home, Numbers, StoredArray};
use super::run::{effort, filled, upload};
use crate::memory;
use crate::mex::{Argument, Effort, Error, Reply};
use crate::stencil::{Array, Real};

/// Dimensions: a row of whole numbers, two at least. Those of 1 at the end go.
pub(super) fn sizes(argument: &Argument) -> Result<Vec<usize>, Error> {
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
pub(super) fn elements(dims: &[usize]) -> Result<usize, Error> {
    let product = dims.iter().try_fold(1_usize, |product, &dim| product.checked_mul(dim));
    // Zeros make nothing of everything, also where the product of the others is too large.
    let product = if dims.contains(&0) { Some(0) } else { product };
    let fits = product.filter(|&product| product <= isize::MAX as usize / size_of::<f64>());
    fits.ok_or_else(|| Error::new("outOfMemory", "There is no memory for an array of these dimensions."))
}

pub(super) fn is_single(class: &Argument) -> Result<bool, Error> {
    match class.text() {
        Some("single") => Ok(true),
        Some("double") => Ok(false),
        _ => Err(Error::new("dataType", format!("The class is \"double\" or \"single\", and this is {class}."))),
    }
}

/// An object, or the number for one, that stands for a copy of the host's array.
pub(super) fn new<'a>(object: bool, values: &'a Argument, selection: &Selection) -> Result<Reply<'a>, Error> {
    let (input, dims) = inputs::input("x", values)?;
    let dims = dims.into_owned();
    let chosen = selection.choose_home()?;
    let effort = effort(values.len());
    Ok(match input {
        AnyInput::Double(Input::Host(samples)) => chosen.held(object, effort, move |engine, home, watch| {
            Ok(StoredArray { home, dims, numbers: upload(engine, &samples, watch)?.into() })
        }),
        AnyInput::Single(Input::Host(samples)) => chosen.held(object, effort, move |engine, home, watch| {
            Ok(StoredArray { home, dims, numbers: upload(engine, &samples, watch)?.into() })
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
            .held(object, effort, move |_, home, _| Ok(StoredArray { home, dims, numbers: array.into() })));
    };
    Ok(Chosen::for_copy(other)?
        .held(object, effort, move |_, home, _| Ok(StoredArray { home, dims, numbers: other.copy_of(&array)?.into() })))
}

/// An array of one value.
pub(super) fn fill<'a>(
    number: &Argument,
    dims: &Argument,
    class: &Argument,
    selection: &Selection,
) -> Result<Reply<'a>, Error> {
    let number = number.scalar().ok_or_else(|| Error::new("dataType", format!("{number} is no number.")))?;
    let (dims, single) = (sizes(dims)?, is_single(class)?);
    let len = elements(&dims)?;
    Ok(selection.choose_home()?.held(true, effort(len), move |engine, home, watch| {
        let numbers = if single {
            filled::<f32>(engine, len, number as f32, watch)?.into()
        } else {
            filled::<f64>(engine, len, number, watch)?.into()
        };
        Ok(StoredArray { home, dims, numbers })
    }))
}
