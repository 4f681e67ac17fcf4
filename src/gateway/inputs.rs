//! Inputs that are arrays of numbers.

use std::borrow::Cow;

use crate::memory::{self, OutOfMemory};
use crate::mex::{Argument, Class, Error};

/// The elements of a real, full array of one of the classes that are computed in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reals<'a> {
    Double(&'a [f64]),
    Single(&'a [f32]),
}

impl<'a> Reals<'a> {
    /// The elements in single, rounded once where they were double; `what` is what an error calls them.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn to_singles(self, what: &'static str) -> Result<Cow<'a, [f32]>, OutOfMemory> {
        match self {
            Reals::Single(values) => Ok(values.into()),
            Reals::Double(values) => {
                let mut singles = memory::with_room(values.len(), what)?;
                singles.extend(values.iter().map(|&value| value as f32));
                Ok(singles.into())
            }
        }
    }
}

/// The elements of a real, full array of class double.
pub(super) fn doubles<'a>(name: &str, array: &'a Argument) -> Result<&'a [f64], Error> {
    array.doubles().ok_or_else(|| wrong_type(name, array, "a real full double array", "double"))
}

/// The elements of a real, full array of class double or single.
pub(super) fn reals<'a>(name: &str, array: &'a Argument) -> Result<Reals<'a>, Error> {
    let singles = || array.singles().map(Reals::Single);
    let reals = array.doubles().map(Reals::Double).or_else(singles);
    reals.ok_or_else(|| wrong_type(name, array, "a real full double or single array", "double"))
}

/// The document's words for an array that is not `expected`, and what would make it so.
pub(super) fn wrong_type(name: &str, array: &Argument, expected: &str, class: &str) -> Error {
    let advice = match array.class() {
        _ if array.is_sparse() => format!("; full ({name}) makes it so"),
        _ if array.is_complex() => format!("; pass real ({name}) and imag ({name}) in two calls"),
        Class::Single | Class::Integer { .. } | Class::Logical => format!("; {class} ({name}) makes it so"),
        Class::Other if array.class_name() == "gpuArray" => format!("; gather ({name}) makes it so"),
        _ => String::new(),
    };
    Error::new(
        "dataType",
        format!("One of the Inputs are of the wrong data-type: {name} is {array}, expected {expected}{advice}."),
    )
}
