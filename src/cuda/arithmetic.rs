//! Arithmetic on arrays of the device: not there yet.

use super::{Cuda, Element};
use crate::stencil::{Arithmetic, Array, Binary, Error, Expansion, Operand, Places, Reduction, Source, Target, Unary};
use crate::watch::Watch;

fn not_yet() -> Result<(), Error> {
    Err(Error::Internal("not yet".into()))
}

impl<T: Element> Arithmetic<T> for Cuda {
    fn unary(&self, _: Unary, _: &Array<T>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        not_yet()
    }

    fn binary(&self, _: Binary, _: [Operand<T>; 2], _: &Expansion, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        not_yet()
    }

    fn reduce(
        &self,
        _: Reduction,
        _: &Array<T>,
        _: Option<&Array<T>>,
        _: [usize; 3],
        _: &mut [T],
        _: &Watch,
    ) -> Result<(), Error> {
        not_yet()
    }

    fn fill(&self, _: T, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        not_yet()
    }

    fn pick(&self, _: &Array<T>, _: &Places, _: Target<T>, _: &Watch) -> Result<(), Error> {
        not_yet()
    }

    fn put(&self, _: Source<T>, _: &Places, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        not_yet()
    }

    fn convert(&self, _: &Array<T::Other>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        not_yet()
    }
}
