//! Steps of a solver: recorded as programs, and run repeatedly.
//!
//! # Rationale
//! A recording is an [engine](Recorder) whose arrays hold no numbers. Callers, such as a verb of `DeviceArray` or one
//! of the functions, use it as any engine, and its operations append nodes to a program. So classes, shapes, boundaries
//! and the order of operations are those of a plain call, and are written once.
//!
//! A [`Step`] runs a program: its kernels if the engine has kernels, and everything else by the engine's own methods,
//! with the same bits.

mod batches;
mod buffers;
mod collections;
mod elements;
mod record;
mod recording;
mod run;
mod several;
mod single;
mod values;

use std::sync::Arc;

use crate::stencil::program::{Filtering, Numbers};
use crate::stencil::{Arithmetic, Array, Compute, Convolution, Derivative, Engine, Real};
pub use elements::Elements;
pub use record::Recorder;
pub use recording::{Drawn, Recording, Taped};
pub use run::{Ran, Run, Shape, Step};
pub use values::{Pages, Upload, Values};

/// A class of numbers, with its engine methods and its form in programs.
pub trait Number: Real {
    /// The engine's operators in this class.
    fn compute<'e>(engine: &'e (dyn Engine + 'static)) -> &'e dyn Compute<Self>;

    /// The engine's arithmetic in this class.
    fn arithmetic<'e>(engine: &'e (dyn Engine + 'static)) -> &'e dyn Arithmetic<Self>;

    /// True for single.
    const SINGLE: bool;

    /// Wraps an array.
    fn numbers(array: Arc<Array<Self>>) -> Numbers;

    /// Returns the array, if it is of this class.
    fn of_numbers(numbers: &Numbers) -> Option<&Arc<Array<Self>>>;

    /// Returns the array for changes, if it is of this class.
    fn of_numbers_mut(numbers: &mut Numbers) -> Option<&mut Arc<Array<Self>>>;

    /// Wraps a filter.
    fn derivative(what: &Derivative<Self>) -> Filtering;

    /// Wraps a filter.
    fn convolution(what: &Convolution<Self>) -> Filtering;
}

macro_rules! number {
    ($type:ty, $own:ident, $single:expr, $derivative:ident, $convolution:ident) => {
        impl Number for $type {
            const SINGLE: bool = $single;

            fn compute<'e>(engine: &'e (dyn Engine + 'static)) -> &'e dyn Compute<$type> {
                engine
            }

            fn arithmetic<'e>(engine: &'e (dyn Engine + 'static)) -> &'e dyn Arithmetic<$type> {
                engine
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

            fn derivative(what: &Derivative<$type>) -> Filtering {
                Filtering::$derivative(*what)
            }

            fn convolution(what: &Convolution<$type>) -> Filtering {
                Filtering::$convolution(what.clone())
            }
        }
    };
}

number!(f64, Double, false, Derivative, Convolution);
number!(f32, Single, true, SingleDerivative, SingleConvolution);
