//! Numbers of a class that is known at run time: arrays, and the inputs and outputs of operations.

use std::sync::Arc;

use super::operation::Filtering;
use super::{Array, Arrays, Convolution, Derivative, Error, Real, Source, Target};

/// An array of one of the classes of engines.
#[derive(Debug, Clone)]
pub enum Numbers {
    /// In double precision.
    Double(Arc<Array<f64>>),
    /// In single precision.
    Single(Arc<Array<f32>>),
}

/// An input of an operation: a source of either class.
#[derive(Debug, Clone, Copy)]
pub enum AnySource<'a> {
    /// In double precision.
    Double(Source<'a, f64>),
    /// In single precision.
    Single(Source<'a, f32>),
    /// The target itself: the operation changes it in place.
    Target,
}

/// The output of an operation: a target of either class.
#[derive(Debug)]
pub enum AnyTarget<'a> {
    /// In double precision.
    Double(Target<'a, f64>),
    /// In single precision.
    Single(Target<'a, f32>),
}

/// The arrays of an engine, by class.
#[derive(Clone, Copy)]
pub struct AllArrays<'a> {
    /// In double precision.
    pub double: &'a dyn Arrays<f64>,
    /// In single precision.
    pub single: &'a dyn Arrays<f32>,
}

/// A class of numbers that engines compute in.
pub trait Number: Real {
    /// The other class.
    type Other: Number<Other = Self>;

    /// True for single.
    const SINGLE: bool;

    /// Returns the arrays of this class.
    fn arrays(all: AllArrays<'_>) -> &dyn Arrays<Self>;

    /// Wraps an array.
    fn numbers(array: Arc<Array<Self>>) -> Numbers;

    /// Returns the array, if it is of this class.
    fn of_numbers(numbers: &Numbers) -> Option<&Arc<Array<Self>>>;

    /// Returns the array for changes, if it is of this class.
    fn of_numbers_mut(numbers: &mut Numbers) -> Option<&mut Arc<Array<Self>>>;

    /// Wraps a source.
    fn input(source: Source<Self>) -> AnySource;

    /// Returns the source, if it is of this class.
    fn source(input: AnySource) -> Option<Source<Self>>;

    /// Wraps a target.
    fn output(target: Target<Self>) -> AnyTarget;

    /// Wraps a filter.
    fn derivative(what: &Derivative<Self>) -> Filtering;

    /// Wraps a filter.
    fn convolution(what: &Convolution<Self>) -> Filtering;
}

macro_rules! number {
    ($type:ty, $other:ty, $own:ident, $arrays:ident, $single:expr, $derivative:ident, $convolution:ident) => {
        impl Number for $type {
            type Other = $other;

            const SINGLE: bool = $single;

            fn arrays(all: AllArrays<'_>) -> &dyn Arrays<$type> {
                all.$arrays
            }

            fn numbers(array: Arc<Array<$type>>) -> Numbers {
                Numbers::$own(array)
            }

            fn of_numbers(numbers: &Numbers) -> Option<&Arc<Array<$type>>> {
                if let Numbers::$own(array) = numbers { Some(array) } else { None }
            }

            fn of_numbers_mut(numbers: &mut Numbers) -> Option<&mut Arc<Array<$type>>> {
                if let Numbers::$own(array) = numbers { Some(array) } else { None }
            }

            fn input(source: Source<$type>) -> AnySource {
                AnySource::$own(source)
            }

            fn source(input: AnySource) -> Option<Source<$type>> {
                if let AnySource::$own(source) = input { Some(source) } else { None }
            }

            fn output(target: Target<$type>) -> AnyTarget {
                AnyTarget::$own(target)
            }

            fn derivative(what: &Derivative<$type>) -> Filtering {
                Filtering::$derivative(*what)
            }

            fn convolution(what: &Convolution<$type>) -> Filtering {
                Filtering::$convolution(what.clone())
            }
        }
    };
}

number!(f64, f32, Double, double, false, Derivative, Convolution);
number!(f32, f64, Single, single, true, SingleDerivative, SingleConvolution);

impl Numbers {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Double(array) => array.len(),
            Numbers::Single(array) => array.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if they are in single.
    pub fn is_single(&self) -> bool {
        matches!(self, Numbers::Single(_))
    }

    /// Returns them as an input.
    pub fn input(&self) -> AnySource<'_> {
        match self {
            Numbers::Double(array) => AnySource::Double(Source::Array(array)),
            Numbers::Single(array) => AnySource::Single(Source::Array(array)),
        }
    }

    /// Returns them as an output.
    ///
    /// # Errors
    /// [`Error::Internal`] if they are shared.
    pub fn output(&mut self) -> Result<AnyTarget<'_>, Error> {
        Ok(match self {
            Numbers::Double(array) => AnyTarget::Double(Array::alone(array)?.into()),
            Numbers::Single(array) => AnyTarget::Single(Array::alone(array)?.into()),
        })
    }
}

impl<T: Number> From<Arc<Array<T>>> for Numbers {
    fn from(array: Arc<Array<T>>) -> Numbers {
        T::numbers(array)
    }
}

impl<T: Number> From<Array<T>> for Numbers {
    fn from(array: Array<T>) -> Numbers {
        Arc::new(array).into()
    }
}

impl<'a> AnySource<'a> {
    /// Number of elements; 0 for the output.
    pub fn len(self) -> usize {
        match self {
            AnySource::Double(source) => source.len(),
            AnySource::Single(source) => source.len(),
            AnySource::Target => 0,
        }
    }

    /// True if there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the source.
    ///
    /// # Errors
    /// [`Error::Internal`] if it is of another class, or the output.
    pub fn source<T: Number>(self) -> Result<Source<'a, T>, Error> {
        T::source(self).ok_or_else(|| Error::Internal("An input of another class.".into()))
    }

    /// Returns the array.
    ///
    /// # Errors
    /// [`Error::Internal`] if it is of another class, of the host, or the output.
    pub fn array<T: Number>(self) -> Result<&'a Array<T>, Error> {
        match self.source()? {
            Source::Array(array) => Ok(array),
            Source::Host(_) => Err(Error::Internal("An operation on the host's memory.".into())),
        }
    }
}

impl<'a, T: Number> From<Source<'a, T>> for AnySource<'a> {
    fn from(source: Source<'a, T>) -> AnySource<'a> {
        T::input(source)
    }
}

impl<'a, T: Number> From<&'a Array<T>> for AnySource<'a> {
    fn from(array: &'a Array<T>) -> AnySource<'a> {
        T::input(Source::Array(array))
    }
}

impl<'a, T: Number> From<Target<'a, T>> for AnyTarget<'a> {
    fn from(target: Target<'a, T>) -> AnyTarget<'a> {
        T::output(target)
    }
}

impl<'a, T: Number> From<&'a mut Array<T>> for AnyTarget<'a> {
    fn from(array: &'a mut Array<T>) -> AnyTarget<'a> {
        T::output(Target::Array(array))
    }
}
