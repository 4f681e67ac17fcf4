//! Verbs that make arrays: from the host's, from one that is held, or of one value.

use super::super::backend::Selection;
use super::super::reply::Chosen;
use super::super::store::{Numbers, StoredArray};
use super::class;
use super::run::effort;
use crate::memory;
use crate::mex::{Argument, Class, Error, Reply};

/// Dimensions: a row of whole numbers, two at least. Those of 1 at the end go.
pub(super) fn sizes(argument: &Argument) -> Result<Vec<usize>, Error> {
    let wrong = || Error::new("size", format!("Dimensions are a row of whole numbers, and this is {argument}."));
    let numbers = argument.numbers().filter(|_| argument.len() >= 2).ok_or_else(wrong)?;
    let mut dims = memory::with_room(argument.len(), "dimensions")?;
    for number in numbers {
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

/// An object, or the number for one, that stands for a copy of the host's array.
pub(super) fn new<'a>(object: bool, values: &'a Argument, selection: &Selection) -> Result<Reply<'a>, Error> {
    if let Some(held) = StoredArray::of(values)? {
        return again(object, held, selection);
    }
    let (class, upload) = class::held_of_host("x", values)?;
    let (dims, chosen) = (values.dims().to_vec(), selection.choose_home()?);
    Ok(chosen.held(object, effort(values.len()), move |engine, home, watch| {
        Ok(StoredArray { home, dims, class, numbers: upload(engine, watch)? })
    }))
}

/// An object that stands for the same array; or for a copy of it, where another device is named.
fn again<'a>(object: bool, held: StoredArray, selection: &Selection) -> Result<Reply<'a>, Error> {
    let effort = effort(held.len());
    let Some(other) = selection.another_device(held.home)? else {
        return Ok(held.home.choose()?.held(object, effort, move |_, _, _| Ok(held)));
    };
    Ok(Chosen::for_copy(other)?.held(object, effort, move |_, home, _| {
        let numbers = match &held.numbers {
            Numbers::Double(array) => other.copy_of(array)?.into(),
            Numbers::Single(array) => other.copy_of(array)?.into(),
        };
        Ok(StoredArray { home, numbers, ..held })
    }))
}

/// An array of one value.
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
    Ok(selection.choose_home()?.held(true, effort(len), move |engine, home, watch| {
        let numbers = class::of_value(engine, (number, class), len, watch)?;
        Ok(StoredArray { home, dims, class, numbers })
    }))
}
