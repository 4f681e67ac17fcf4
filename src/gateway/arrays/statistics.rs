//! Statistics: counts, sums of squares, means, variances, standard deviations and medians.
//!
//! # The order
//! A mean is the sum, in the order of [`Reduction`], divided by the number of elements. A variance takes two passes:
//! the mean first, then the sum of the squares of the differences from it, each rounded, divided by the number of
//! elements or by one less. A standard deviation is its square root.

use std::sync::Arc;

use super::class::{is_integer, plain};
use super::pattern::Pattern;
use super::reduce::{Along, shape};
use super::result::{result, write_in_class};
use super::run::{DynEngine, Number, array, in_class_of_engine};
use crate::gateway::store::StoredArray;
use crate::mex::{Argument, Class, Error, Reply};
use crate::platform::watch::Watch;
use crate::stencil::{self, Array, Binary, Compute, Expansion, Operand, Order, Reduction, Target, Unary};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statistic {
    /// Number of nonzeros.
    Nonzeros,
    SumOfSquares,
    Mean,
    Median,
    /// Divided by the number of elements if `of_all`, else by one less.
    Variance {
        of_all: bool,
    },
    Deviation {
        of_all: bool,
    },
}

impl Statistic {
    /// Applies the second input of the hosts' functions: 0, 1 or nothing.
    ///
    /// # Errors
    /// `unsupported` for weights.
    pub(super) fn weighted(self, weight: &Argument) -> Result<Statistic, Error> {
        let of_all = match weight.scalar() {
            _ if weight.is_empty() => false,
            Some(0.0) => false,
            Some(1.0) => true,
            _ => {
                let text =
                    format!("The weight of a variance is 0 or 1, and this is {weight}: gather the array for weights.");
                return Err(Error::new("unsupported", text));
            }
        };
        Ok(match self {
            Statistic::Variance { .. } => Statistic::Variance { of_all },
            Statistic::Deviation { .. } => Statistic::Deviation { of_all },
            other => other,
        })
    }
}

/// Computes a statistic along a dimension, counted from 1; 0 is everything, -1 the first dimension that is not 1.
pub(super) fn reply<'a>(held: StoredArray, what: Statistic, dim: &Argument) -> Result<Reply<'a>, Error> {
    let (size, dims) = shape(Reduction::Sum, &held.dims, Along::new(dim)?);
    let real = if held.class == Class::Single { Class::Single } else { Class::Double };
    let class = if what == Statistic::Nonzeros { Class::Double } else { real };
    // Counts are exact in double; so are logical values and integers.
    let computed = if is_integer(held.class) { Class::Double } else { class };
    let len = held.len();
    in_class_of_engine!(computed, T => result::<T>(held.home, (class, dims), len, move |engine, to, watch| {
        if to.is_empty() {
            return Ok(watch.check()?);
        }
        let numbers = T::of(&held.numbers, engine, watch)?;
        write_in_class(engine, class, to, watch, |to| compute(engine, what, (&numbers, size), to, watch))
    }))
}

fn compute<T: Number>(
    engine: &DynEngine,
    what: Statistic,
    (numbers, size): (&Arc<Array<T>>, [usize; 3]),
    to: &mut Array<T>,
    watch: &Watch,
) -> Result<(), stencil::Error> {
    let arithmetic = engine;
    let [_, count, _] = size;
    let of_each = |op, other: Operand<T>| -> Result<Array<T>, stencil::Error> {
        let mut results = array(engine, numbers.len())?;
        arithmetic.binary(op, [Operand::Array(numbers), other], &plain(numbers.len())?, &mut results, watch)?;
        Ok(results)
    };
    let sum =
        |of: &Array<T>, to: &mut Array<T>| arithmetic.reduce(Reduction::Sum, of, None, size, Target::Array(to), watch);
    let divided = |sums: &Array<T>, by: usize, to: &mut Array<T>| {
        let operands = [Operand::Array(sums), Operand::Scalar(T::from_f64(by as f64))];
        arithmetic.binary(Binary::Divide, operands, &plain(sums.len())?, to, watch)
    };
    let of_all = match what {
        Statistic::Nonzeros => return sum(&of_each(Binary::NotEqual, Operand::Scalar(T::default()))?, to),
        Statistic::SumOfSquares => return sum(&of_each(Binary::Multiply, Operand::Array(numbers))?, to),
        Statistic::Mean => {
            let mut sums = array(engine, to.len())?;
            sum(numbers, &mut sums)?;
            return divided(&sums, count, to);
        }
        Statistic::Median => return medians((numbers, size), engine, to, watch),
        Statistic::Variance { of_all } | Statistic::Deviation { of_all } => of_all,
    };
    let mut sums = array(engine, to.len())?;
    sum(numbers, &mut sums)?;
    let mut means = array(engine, to.len())?;
    divided(&sums, count, &mut means)?;
    let expansion = Expansion::new([&size, &[size[0], 1, size[2]]])
        .ok_or_else(|| stencil::Error::Internal("Means that do not expand.".into()))?;
    let mut differences = array(engine, numbers.len())?;
    let operands = [Operand::Array(numbers), Operand::Array(&means)];
    arithmetic.binary(Binary::Subtract, operands, &expansion, &mut differences, watch)?;
    let mut squares = array(engine, numbers.len())?;
    let operands = [Operand::Array(&differences), Operand::Array(&differences)];
    arithmetic.binary(Binary::Multiply, operands, &plain(numbers.len())?, &mut squares, watch)?;
    drop(differences);
    sum(&squares, &mut sums)?;
    // The hosts return 0 for one element, and NaN for none.
    let by = if of_all || count == 1 { count } else { count.saturating_sub(1) };
    match what {
        Statistic::Deviation { .. } => {
            divided(&sums, by, &mut means)?;
            arithmetic.unary(Unary::Sqrt, &means, to, watch)
        }
        _ => divided(&sums, by, to),
    }
}

/// Computes the median of each line, half the sum of the middle two if their number is even. NaN for a line with NaN or
/// without elements. A zero has no sign.
fn medians<T: Number>(
    (numbers, size): (&Array<T>, [usize; 3]),
    engine: &DynEngine,
    to: &mut Array<T>,
    watch: &Watch,
) -> Result<(), stencil::Error> {
    let arithmetic = engine;
    let [below, count, above] = size;
    if count == 0 {
        return arithmetic.fill(T::from_f64(f64::NAN), to, watch);
    }
    if arithmetic.medians(numbers.into(), size, (&mut *to).into(), watch)? {
        return Ok(());
    }
    let len = to.len();
    let mut sorted = array(engine, numbers.len())?;
    arithmetic.sort(Order::Ascending, numbers, size, &mut sorted, false, watch)?;
    let at = |place: usize| -> Result<Array<T>, stencil::Error> {
        let places = Pattern::new(place * below, &[(below, 1), (above, (below * count) as isize)]).places()?;
        let mut picked = array(engine, len)?;
        arithmetic.pick(&sorted, &places, Target::Array(&mut picked), watch).map(|()| picked)
    };
    let with = |op, first: Operand<T>, second: Operand<T>| -> Result<Array<T>, stencil::Error> {
        let mut result = array(engine, len)?;
        arithmetic.binary(op, [first, second], &plain(len)?, &mut result, watch).map(|()| result)
    };
    let mut middle = at((count - 1) / 2)?;
    if count % 2 == 0 {
        let sum = with(Binary::Add, Operand::Array(&middle), Operand::Array(&at(count / 2)?))?;
        middle = with(Binary::Divide, Operand::Array(&sum), Operand::Scalar(T::from_f64(2.0)))?;
    }
    // NaN sorts last: 0 if the last is a number, else NaN.
    let last = at(count - 1)?;
    let is_number = with(Binary::Equal, Operand::Array(&last), Operand::Array(&last))?;
    let spoiled = with(Binary::Divide, Operand::Scalar(T::default()), Operand::Array(&is_number))?;
    arithmetic.binary(Binary::Add, [Operand::Array(&middle), Operand::Array(&spoiled)], &plain(len)?, to, watch)
}
