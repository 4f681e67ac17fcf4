//! How the verbs run on an engine: what a call takes, the arrays that it makes, and what it gives: an array that is kept,
//! or a number of the host's.

use std::sync::Arc;

use super::super::reply::Chosen;
use super::super::store::{Home, Numbers, StoredArray};
use super::class::{self, in_class_of_host};
use crate::mex::{Class, Effort, Error, Numeric, Reply};
use crate::stencil::{self, Arithmetic, Array, Compute, Engine, Places, RANK, Real, Sample, Section, Source, Target};
use crate::watch::Watch;

/// From this many elements on, a call is watched.
const LONG: usize = 1 << 24;

pub(in super::super) type Engines = dyn Engine + 'static;

/// A class that engines compute in, with what they do in it.
pub(in super::super) trait Number: Real + Numeric {
    fn compute(engine: &Engines) -> &dyn Compute<Self>;

    fn arithmetic(engine: &Engines) -> &dyn Arithmetic<Self>;

    /// Arrays of this class among those of any.
    fn numbers(array: Arc<Array<Self>>) -> Numbers;

    /// Numbers in this class: those that are held, or converted ones.
    fn of(numbers: &Numbers, engine: &Engines, watch: &Watch) -> Result<Arc<Array<Self>>, stencil::Error>;
}

macro_rules! number {
    ($type:ty, $own:ident, $other:ident) => {
        impl Number for $type {
            fn compute(engine: &Engines) -> &dyn Compute<$type> {
                engine
            }

            fn arithmetic(engine: &Engines) -> &dyn Arithmetic<$type> {
                engine
            }

            fn numbers(array: Arc<Array<$type>>) -> Numbers {
                Numbers::$own(array)
            }

            fn of(numbers: &Numbers, engine: &Engines, watch: &Watch) -> Result<Arc<Array<$type>>, stencil::Error> {
                match numbers {
                    Numbers::$own(numbers) => Ok(Arc::clone(numbers)),
                    Numbers::$other(numbers) => {
                        let mut to = array::<$type>(engine, numbers.len())?;
                        Arithmetic::<$type>::convert(engine, numbers, &mut to, watch)?;
                        Ok(Arc::new(to))
                    }
                }
            }
        }
    };
}

number!(f64, Double, Single);
number!(f32, Single, Double);

/// Does `$then` with `$type`, the type that numbers of this class are computed in.
macro_rules! in_class_of_engine {
    ($class:expr, $type:ident => $then:expr) => {
        match $class {
            Class::Single => {
                type $type = f32;
                $then
            }
            _ => {
                type $type = f64;
                $then
            }
        }
    };
}
pub(super) use in_class_of_engine;

/// The effort of a call over `elements` elements.
pub(super) fn effort(elements: usize) -> Effort {
    Effort { updates: elements as u64, work: elements as u64, calls: 1, long: elements >= LONG, progress: false }
}

/// The reply of a call that keeps what `run` makes in `home`.
pub(super) fn keep<'a>(
    home: Home,
    elements: usize,
    run: impl FnOnce(&Engines, Home, &Watch) -> Result<StoredArray, stencil::Error> + Send + 'a,
) -> Result<Reply<'a>, Error> {
    Ok(home.choose()?.held(true, home.effort(effort(elements)), run))
}

/// The reply of a call that gives an array of this class and these dimensions, which `run` fills: one that is kept in
/// `home`, or a number of the host's where it has one element. `elements` are those that the call works on.
pub(super) fn give<'a, T: Number>(
    home: Home,
    (class, dims): (Class, Vec<usize>),
    elements: usize,
    run: impl FnOnce(&Engines, Target<T>, &Watch) -> Result<(), stencil::Error> + Send + 'a,
) -> Result<Reply<'a>, Error> {
    let len = dims.iter().product();
    if len == 1 {
        return number(home.choose()?, class, home.effort(effort(elements)), run);
    }
    keep(home, elements.max(len), move |engine, home, watch| {
        let mut array = array::<T>(engine, len)?;
        run(engine, Target::Array(&mut array), watch)?;
        Ok(StoredArray { home, dims, class, numbers: T::numbers(Arc::new(array)) })
    })
}

/// The reply of a call that gives one number of the host's, of this class.
fn number<'a, T: Number>(
    chosen: Chosen,
    class: Class,
    effort: Effort,
    run: impl FnOnce(&Engines, Target<T>, &Watch) -> Result<(), stencil::Error> + Send + 'a,
) -> Result<Reply<'a>, Error> {
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

/// What `make` writes to an array, where it is wanted: rounded, where the class asks for that.
pub(super) fn settle<T: Number>(
    engine: &Engines,
    class: Class,
    to: Target<T>,
    watch: &Watch,
    make: impl FnOnce(&mut Array<T>) -> Result<(), stencil::Error>,
) -> Result<(), stencil::Error> {
    match to {
        Target::Array(to) if class::is_rounded(class) => {
            let mut exact = array(engine, to.len())?;
            make(&mut exact)?;
            class::round(engine, class, &exact, to, watch)
        }
        Target::Array(to) => make(to),
        Target::Host(to) => {
            let mut one = array(engine, to.len())?;
            make(&mut one)?;
            T::compute(engine).copy(Source::Array(&one), Target::Host(to), watch)?;
            if class::is_rounded(class) {
                to.iter_mut().for_each(|number| *number = T::from_f64(class::cast(number.to_f64(), class)));
            }
            Ok(())
        }
    }
}

/// An array that the engine holds, of `len` elements of unknown value.
pub(super) fn array<T: Number>(engine: &Engines, len: usize) -> Result<Array<T>, stencil::Error> {
    T::compute(engine).array(len)
}

/// An array that the engine holds, with these samples.
pub(super) fn upload<T: Number>(engine: &Engines, samples: &[T], watch: &Watch) -> Result<Array<T>, stencil::Error> {
    let mut array = array(engine, samples.len())?;
    T::compute(engine).copy(Source::Host(samples), Target::Array(&mut array), watch).map(|()| array)
}

/// An array of `len` elements of one value.
pub(super) fn filled<T: Number>(
    engine: &Engines,
    len: usize,
    value: T,
    watch: &Watch,
) -> Result<Array<T>, stencil::Error> {
    let mut array = array(engine, len)?;
    T::arithmetic(engine).fill(value, &mut array, watch).map(|()| array)
}

/// `len` places one behind the other.
pub(super) fn section(start: usize, len: usize) -> Places {
    let mut section = Section { start, size: [1; RANK], steps: [0; RANK] };
    (section.size[0], section.steps[0]) = (len, 1);
    Places::Section(section)
}
