//! Operations on arrays, as data: what an engine computes, and what a node of a program records.

use std::sync::Arc;

use super::functions::Distribution;
use super::{
    Binary, Convolution, Derivative, Expansion, Extreme, Order, Places, Reduction, Scan, Shift, Stencil, Unary,
};

/// An operand of an operation: an array, or a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Term<V> {
    /// An array.
    Value(V),
    /// One number for all elements, exact in the class of the result.
    Number(f64),
}

/// A filter.
#[derive(Debug, Clone)]
pub enum Filtering {
    /// A stencil along lines, in double.
    Stencil(Stencil),
    /// A derivative in double.
    Derivative(Derivative<f64>),
    /// A derivative in single.
    SingleDerivative(Derivative<f32>),
    /// A convolution in double.
    Convolution(Convolution<f64>),
    /// A convolution in single.
    SingleConvolution(Convolution<f32>),
    /// Each element from a place at a fixed offset.
    Shift(Shift),
}

/// Result of an operation that finds elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The elements.
    Elements,
    /// Their places in their lines: in a program in double, counted from 1; from an engine beside the elements, counted
    /// from 0.
    Places,
}

/// An operation on arrays `V`, with lists of places `P`. Every result is a function of the inputs alone, as defined by
/// IEEE 754 to the last bit: each step is rounded once, and sums have the order of [`Reduction`].
///
/// Lines are those along the middle of three dimensions.
#[derive(Debug, Clone)]
pub enum Operation<V, P = Arc<Places>> {
    /// Input of a program, by its number.
    Input(usize),
    /// An array filled with one number.
    Fill(f64),
    /// An operation on each element.
    Each(Unary, V),
    /// An operation on two operands, expanded; the expansion does not apply to a number.
    Pair(Binary, [Term<V>; 2], Expansion),
    /// `fma (weight, value, addend)`, and `+ source`, rounded once more, if there is one. A weight that is an array has one
    /// element; a source has that, or the length of the others.
    MultiplyAdd(Term<V>, V, V, Option<Term<V>>),
    /// Conversion from the other class, rounded once.
    Convert(V),
    /// A filter.
    Filter(Filtering, V),
    /// Elements by their places.
    Pick(P, V),
    /// The second array, with the elements of the first at these places. If a place is repeated, the last one counts.
    Put(P, [V; 2]),
    /// [Random](super::functions::random) numbers, for the draw of this number, with a seed; a number that is an array
    /// is in double and has one element.
    Random(Distribution, Term<V>, f64),
    /// A reduction of each line, of one array or [of two](Reduction::of_two).
    Reduce(Reduction, V, Option<V>, [usize; 3]),
    /// A cumulative operation along lines: each result includes its element and all before it.
    Scan(Scan, V, [usize; 3]),
    /// The elements of each line in [order](Order).
    Sort(Order, V, [usize; 3], Wanted),
    /// The smallest or the largest element of each line. NaN is skipped, of equals the first counts, and +0 equals -0. A
    /// line without a number gives NaN, at its first place.
    Extreme(Extreme, V, [usize; 3], Wanted),
}

impl<V> Term<V> {
    /// Returns the array, if it is one.
    pub fn value(self) -> Option<V> {
        if let Term::Value(value) = self { Some(value) } else { None }
    }

    fn map<W, E>(&self, of: &mut impl FnMut(V) -> Result<W, E>) -> Result<Term<W>, E>
    where
        V: Copy,
    {
        Ok(match self {
            Term::Value(value) => Term::Value(of(*value)?),
            Term::Number(number) => Term::Number(*number),
        })
    }
}

impl<V: Copy, P> Operation<V, P> {
    /// Arrays that it reads.
    pub fn values(&self) -> impl Iterator<Item = V> {
        let values = match self {
            Operation::Input(_) | Operation::Fill(_) => [None; 4],
            Operation::Each(_, value)
            | Operation::Scan(_, value, _)
            | Operation::Sort(_, value, ..)
            | Operation::Extreme(_, value, ..)
            | Operation::Convert(value)
            | Operation::Filter(_, value)
            | Operation::Pick(_, value) => [Some(*value), None, None, None],
            Operation::Random(_, number, _) => [number.value(), None, None, None],
            Operation::MultiplyAdd(weight, value, addend, source) => {
                [weight.value(), Some(*value), Some(*addend), source.and_then(Term::value)]
            }
            Operation::Put(_, [from, to]) => [Some(*from), Some(*to), None, None],
            Operation::Reduce(_, first, second, _) => [Some(*first), *second, None, None],
            Operation::Pair(_, [a, b], _) => [a.value(), b.value(), None, None],
        };
        values.into_iter().flatten()
    }

    /// Returns this operation on other arrays, which `of` gets in the order of [`values`](Operation::values), and with
    /// another form of its places.
    ///
    /// # Errors
    /// Those of `of`.
    pub fn map<'a, W, Q, E>(
        &'a self,
        mut of: impl FnMut(V) -> Result<W, E>,
        places: impl FnOnce(&'a P) -> Q,
    ) -> Result<Operation<W, Q>, E> {
        Ok(match self {
            Operation::Input(input) => Operation::Input(*input),
            Operation::Fill(number) => Operation::Fill(*number),
            Operation::Each(op, value) => Operation::Each(*op, of(*value)?),
            Operation::Pair(op, [a, b], expansion) => {
                Operation::Pair(*op, [a.map(&mut of)?, b.map(&mut of)?], *expansion)
            }
            Operation::MultiplyAdd(weight, value, addend, source) => {
                let (weight, value, addend) = (weight.map(&mut of)?, of(*value)?, of(*addend)?);
                Operation::MultiplyAdd(weight, value, addend, source.map(|source| source.map(&mut of)).transpose()?)
            }
            Operation::Convert(value) => Operation::Convert(of(*value)?),
            Operation::Filter(filter, value) => Operation::Filter(filter.clone(), of(*value)?),
            Operation::Pick(list, value) => Operation::Pick(places(list), of(*value)?),
            Operation::Put(list, [from, to]) => Operation::Put(places(list), [of(*from)?, of(*to)?]),
            Operation::Random(what, number, seed) => Operation::Random(*what, number.map(&mut of)?, *seed),
            Operation::Reduce(op, first, second, size) => {
                Operation::Reduce(*op, of(*first)?, second.map(of).transpose()?, *size)
            }
            Operation::Scan(op, value, size) => Operation::Scan(*op, of(*value)?, *size),
            Operation::Sort(order, value, size, wanted) => Operation::Sort(*order, of(*value)?, *size, *wanted),
            Operation::Extreme(which, value, size, wanted) => Operation::Extreme(*which, of(*value)?, *size, *wanted),
        })
    }
}
