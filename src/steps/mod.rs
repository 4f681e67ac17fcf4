//! Steps of a solver: recorded as programs, and run over and over.
//!
//! # Rationale
//! A recording is an [engine](Recorder) whose arrays hold no numbers. Whoever computes on them, a verb of `DeviceArray` or
//! one of the functions, calls an engine as always, and so says once more, in a program, what it would have done. So
//! classes, shapes, boundaries and the order of operations are those of a plain call, and are written once.
//!
//! A [`Step`] runs a program: its kernels where the engine has such, and everything else by the engine's own methods, with
//! the same bits.

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

/// A class that engines compute in, as programs see it.
pub trait Number: Real {
    /// What the engine computes in it.
    fn compute<'e>(engine: &'e (dyn Engine + 'static)) -> &'e dyn Compute<Self>;

    /// Its arithmetic in it.
    fn arithmetic<'e>(engine: &'e (dyn Engine + 'static)) -> &'e dyn Arithmetic<Self>;

    /// Whether it is single.
    const SINGLE: bool;

    /// An array among those of any class.
    fn numbers(array: Arc<Array<Self>>) -> Numbers;

    /// The array, if it is of this class.
    fn of_numbers(numbers: &Numbers) -> Option<&Arc<Array<Self>>>;

    /// The array, to change it, if it is of this class.
    fn of_numbers_mut(numbers: &mut Numbers) -> Option<&mut Arc<Array<Self>>>;

    /// A filter among those of any class.
    fn derivative(what: &Derivative<Self>) -> Filtering;

    /// A filter among those of any class.
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
