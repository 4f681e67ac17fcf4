//! The result of a verb: a stored array, or a number of the host's.

use std::sync::Arc;

use super::class::{self, in_class_of_host};
use super::run::{DynEngine, Number, array, effort, keep};
use crate::gateway::engine::Chosen;
use crate::gateway::store::{Home, StoredArray};
use crate::mex::{Class, Effort, Error, Reply};
use crate::platform::watch::Watch;
use crate::stencil::{self, Array, Sample, Source, Target};

/// Fills an array or a number. Boxed, so that the code around it is compiled once.
type Fill<'a, T> = Box<dyn FnOnce(&DynEngine, Target<T>, &Watch) -> Result<(), stencil::Error> + Send + 'a>;

/// Returns the reply of a call with a result of this class and these dimensions, which `run` fills: an array stored in
/// `home`, or a number of the host's if it has one element. The call works on `elements` elements.
pub(super) fn result<'a, T: Number>(
    home: Home,
    (class, dims): (Class, Vec<usize>),
    elements: usize,
    run: impl FnOnce(&DynEngine, Target<T>, &Watch) -> Result<(), stencil::Error> + Send + 'a,
) -> Result<Reply<'a>, Error> {
    result_boxed(home, (class, dims), elements, Box::new(run))
}

fn result_boxed<'a, T: Number>(
    home: Home,
    (class, dims): (Class, Vec<usize>),
    elements: usize,
    run: Fill<'a, T>,
) -> Result<Reply<'a>, Error> {
    let len = dims.iter().product();
    // A result of a step has no value while the step is recorded.
    if len == 1 && home.step().is_none() {
        return number(home.choose()?, class, home.effort(effort(elements)), run);
    }
    keep(home, elements.max(len), move |engine, home, watch| {
        let mut array = array::<T>(engine, len)?;
        run(engine, Target::Array(&mut array), watch)?;
        Ok(StoredArray { home, dims, class, numbers: T::numbers(Arc::new(array)) })
    })
}

/// Returns the reply of a call with one number of the host's, of this class.
fn number<'a, T: Number>(chosen: Chosen, class: Class, effort: Effort, run: Fill<'a, T>) -> Result<Reply<'a>, Error> {
    if class == T::CLASS {
        return chosen
            .reply(&[1, 1], effort, move |engine, output: &mut [T], watch| run(engine, Target::Host(output), watch));
    }
    in_class_of_host!(class, S => chosen.reply(&[1, 1], effort, move |engine, output: &mut [S], watch| {
        let mut numbers = [T::default()];
        run(engine, Target::Host(&mut numbers), watch)?;
        output.fill(S::narrowed(numbers[0].to_f64()));
        Ok(())
    }))
}

/// Writes the numbers that `make` makes to `to`, rounded for a class of integers.
pub(super) fn write_in_class<T: Number>(
    engine: &DynEngine,
    class: Class,
    to: Target<T>,
    watch: &Watch,
    make: impl FnOnce(&mut Array<T>) -> Result<(), stencil::Error>,
) -> Result<(), stencil::Error> {
    match to {
        Target::Array(to) if class::is_integer(class) => {
            let mut exact = array(engine, to.len())?;
            make(&mut exact)?;
            class::round(engine, class, &exact, to, watch)
        }
        Target::Array(to) => make(to),
        Target::Host(to) => {
            let mut one = array(engine, to.len())?;
            make(&mut one)?;
            engine.arrays::<T>().copy(Source::Array(&one), Target::Host(to), watch)?;
            if class::is_integer(class) {
                to.iter_mut().for_each(|number| *number = T::from_f64(class::cast(number.to_f64(), class)));
            }
            Ok(())
        }
    }
}
