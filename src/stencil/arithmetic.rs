//! Arithmetic on arrays that an engine holds: what is done with each element, and how elements become one number.
//!
//! Every result is a function of the inputs alone, as IEEE 754 defines it to the last bit: each operation is rounded
//! once, and sums are added in an order that is part of the contract ([`Reduction`]). Only the payload of a NaN is left
//! open.

use super::{Array, Error, Real, Source, Target};
use crate::watch::Watch;

/// The most dimensions that an [`Expansion`] or a [`Section`] has once neighbours that go together are merged.
pub const RANK: usize = 5;

/// The largest whole power, either way.
pub const MAX_POWER: i32 = 16;

/// What is done with every element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// The other sign, also of a zero and a NaN.
    Negate,
    /// Without its sign.
    Abs,
    /// The square root, rounded once.
    Sqrt,
    /// 1 for a zero, else 0; NaN is no zero.
    Not,
    /// 1 for NaN, else 0.
    IsNan,
    /// A whole power from -[`MAX_POWER`] to [`MAX_POWER`]: products from the left, `((x x) x) x`, each rounded once; 1
    /// for the power 0, and 1 divided by the positive power for a negative one.
    Power(i32),
}

/// What is done with two elements. Comparisons and logic give 1 for true, 0 for false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// The smaller; of a number and NaN the number; of two that compare equal, such as -0 and +0, `a`.
    Min,
    /// The larger, likewise.
    Max,
    /// `a == b`.
    Equal,
    /// `a != b`.
    NotEqual,
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterEqual,
    /// Whether neither is a zero; NaN is none.
    And,
    /// Whether one of them is no zero.
    Or,
}

/// How elements become one number.
///
/// # The order
/// Elements `x[0] .. x[n - 1]` fall into chunks of [`CHUNK`], the last one perhaps shorter. Of a chunk, element `i` goes
/// to lane `i mod LANES`: each of the [`LANES`] lanes begins with the [start](Reduction::start) and takes its elements
/// in ascending order. Then lane `l` takes lane `l + 16`, for the first 16 lanes; then `l + 8` for the first 8; and so
/// on, until lane 0 has the chunk's result. Where there is more than one chunk, their results are reduced in the same
/// way, as elements that are [joined](Reduction::join) only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The sum, from +0.
    Sum,
    /// The sum of products `a b` of two arrays, from +0: a lane takes an element by a fused multiply-add.
    Dot,
    /// The sum of magnitudes, from +0.
    SumOfMagnitudes,
    /// The smallest number, NaN left out; NaN where there is no number. Of zeros, the first in this order.
    Min,
    /// The largest number, likewise.
    Max,
    /// The largest magnitude; NaN where there is one.
    LargestMagnitude,
    /// 1 where some element is neither a zero nor NaN, else 0.
    Any,
    /// 1 where no element is a zero, else 0.
    All,
    /// 1 where `a != b` for some element of two arrays, else 0; NaN is unlike itself.
    Differ,
}

/// Elements that are reduced by themselves ahead of all others.
pub const CHUNK: usize = 1024;

/// Lanes in a chunk.
pub const LANES: usize = 32;

impl Unary {
    /// What becomes of an element.
    #[inline(always)]
    pub fn of<T: Real>(self, x: T) -> T {
        let truth = |truth: bool| if truth { T::ONE } else { T::default() };
        match self {
            Unary::Negate => x.negative(),
            Unary::Abs => x.magnitude(),
            Unary::Sqrt => x.square_root(),
            Unary::Not => truth(x == T::default()),
            Unary::IsNan => truth(x.is_nan()),
            Unary::Power(exponent) => {
                let power = (1..exponent.unsigned_abs()).fold(x, |power, _| power.times(x));
                match exponent {
                    0 => T::ONE,
                    1.. => power,
                    _ => T::ONE.over(power),
                }
            }
        }
    }
}

impl Binary {
    /// What becomes of two elements.
    #[inline(always)]
    pub fn of<T: Real>(self, a: T, b: T) -> T {
        let zero = T::default();
        let truth = |truth: bool| if truth { T::ONE } else { zero };
        match self {
            Binary::Add => a.plus(b),
            Binary::Subtract => a.minus(b),
            Binary::Multiply => a.times(b),
            Binary::Divide => a.over(b),
            Binary::Min => {
                if b.is_nan() || a <= b {
                    a
                } else {
                    b
                }
            }
            Binary::Max => {
                if b.is_nan() || a >= b {
                    a
                } else {
                    b
                }
            }
            Binary::Equal => truth(a == b),
            Binary::NotEqual => truth(a != b),
            Binary::Less => truth(a < b),
            Binary::LessEqual => truth(a <= b),
            Binary::Greater => truth(a > b),
            Binary::GreaterEqual => truth(a >= b),
            Binary::And => truth(a != zero && b != zero),
            Binary::Or => truth(a != zero || b != zero),
        }
    }
}

impl Reduction {
    /// Whether it takes two arrays.
    pub fn of_two(self) -> bool {
        matches!(self, Reduction::Dot | Reduction::Differ)
    }

    /// What a lane begins with, and what is left of no elements at all.
    #[inline(always)]
    pub fn start<T: Real>(self) -> T {
        match self {
            Reduction::Min | Reduction::Max => T::from_f64(f64::NAN),
            Reduction::All => T::ONE,
            _ => T::default(),
        }
    }

    /// A lane with one element more; `b` is that of the second array, where there are two.
    #[inline(always)]
    pub fn take<T: Real>(self, lane: T, a: T, b: T) -> T {
        let zero = T::default();
        match self {
            Reduction::Sum | Reduction::Min | Reduction::Max => self.join(lane, a),
            Reduction::Dot => a.fma(b, lane),
            Reduction::SumOfMagnitudes | Reduction::LargestMagnitude => self.join(lane, a.magnitude()),
            Reduction::Any => {
                if a.magnitude() > zero {
                    T::ONE
                } else {
                    lane
                }
            }
            Reduction::All => {
                if a == zero {
                    zero
                } else {
                    lane
                }
            }
            Reduction::Differ => {
                if a != b {
                    T::ONE
                } else {
                    lane
                }
            }
        }
    }

    /// A lane with another, or with the result of a chunk.
    #[inline(always)]
    pub fn join<T: Real>(self, lane: T, other: T) -> T {
        match self {
            Reduction::Sum | Reduction::Dot | Reduction::SumOfMagnitudes => lane.plus(other),
            Reduction::Min => {
                if lane.is_nan() || other < lane {
                    other
                } else {
                    lane
                }
            }
            Reduction::Max => {
                if lane.is_nan() || other > lane {
                    other
                } else {
                    lane
                }
            }
            Reduction::LargestMagnitude => {
                if other.is_nan() || other > lane {
                    other
                } else {
                    lane
                }
            }
            Reduction::Any | Reduction::Differ => {
                if other != T::default() {
                    other
                } else {
                    lane
                }
            }
            Reduction::All => {
                if other == T::default() {
                    other
                } else {
                    lane
                }
            }
        }
    }
}

/// An input of [`Binary`].
#[derive(Debug, Clone, Copy)]
pub enum Operand<'a, T> {
    /// An array of the size that the [`Expansion`] has for it.
    Array(&'a Array<T>),
    /// One number for all elements.
    Scalar(T),
}

/// How two arrays meet, element by element: along a dimension in which one of them has a single element, that one
/// goes with all elements of the other.
///
/// Neighbouring dimensions that expand alike are merged: arrays of one size have one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expansion {
    size: [usize; RANK],
    steps: [[usize; RANK]; 2],
    /// Of each operand.
    elements: [usize; 2],
}

impl Expansion {
    /// Of arrays with these sizes, each of any number of dimensions; missing ones are 1. `None` where a dimension
    /// differs and is not 1, or where more than [`RANK`] dimensions are left.
    pub fn new(sizes: [&[usize]; 2]) -> Option<Expansion> {
        let rank = sizes[0].len().max(sizes[1].len());
        let of = |which: usize, d: usize| sizes[which].get(d).copied().unwrap_or(1);
        // Each merged dimension: its extent, and which of the two go along it.
        let mut merged: Vec<(usize, [bool; 2])> = Vec::new();
        for d in 0..rank {
            let (a, b) = (of(0, d), of(1, d));
            if a != b && a != 1 && b != 1 {
                return None;
            }
            let extent = if a == 1 { b } else { a };
            if extent == 1 {
                continue;
            }
            let goes = [a == extent, b == extent];
            match merged.last_mut() {
                Some((before, same)) if *same == goes => *before = before.checked_mul(extent)?,
                _ => merged.push((extent, goes)),
            }
        }
        if merged.len() > RANK {
            return None;
        }
        let mut expansion = Expansion { size: [1; RANK], steps: [[0; RANK]; 2], elements: [1; 2] };
        for (d, (extent, goes)) in merged.into_iter().enumerate() {
            expansion.size[d] = extent;
            for which in (0..2).filter(|&which| goes[which]) {
                expansion.steps[which][d] = expansion.elements[which];
                expansion.elements[which] = expansion.elements[which].checked_mul(extent)?;
            }
        }
        Some(expansion)
    }

    /// The extents of the result, the first dimension fastest; 1 where there is no dimension any more.
    pub fn size(&self) -> [usize; RANK] {
        self.size
    }

    /// By how many elements each operand advances along each dimension of the result: 0 where it expands.
    pub fn steps(&self) -> [[usize; RANK]; 2] {
        self.steps
    }

    /// The elements of the result.
    pub fn elements(&self) -> usize {
        self.size.iter().product()
    }

    /// The elements of an operand, by its number.
    pub fn elements_of(&self, operand: usize) -> usize {
        self.elements[operand]
    }

    /// Whether both go together everywhere.
    pub fn is_plain(&self) -> bool {
        self.size[1] == 1 && (self.size[0] == 1 || self.steps == [[1, 0, 0, 0, 0]; 2])
    }
}

/// Places in an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Places {
    /// In a regular pattern.
    Section(Section),
    /// One by one, counted from 0 over the whole array, in the order in which they are read or written.
    List(Vec<u64>),
}

/// Places in a regular pattern: `start + i0 step0 + i1 step1 + ..`, the first dimension fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The place of the first one.
    pub start: usize,
    /// How many there are along each dimension; 1 where there is none.
    pub size: [usize; RANK],
    /// From one to the next along each dimension; a step may go back.
    pub steps: [isize; RANK],
}

impl Places {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Places::Section(section) => section.size.iter().product(),
            Places::List(places) => places.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all of them are places of an array of `elements` elements.
    pub fn are_within(&self, elements: usize) -> bool {
        match self {
            _ if self.is_empty() => true,
            Places::List(places) => places.iter().all(|&place| place < elements as u64),
            Places::Section(section) => {
                // As wide as no sum of products of lengths of arrays can be.
                let reach = |forward: bool| -> i128 {
                    (0..RANK)
                        .filter(|&d| (section.steps[d] > 0) == forward)
                        .map(|d| (section.size[d] as i128 - 1) * section.steps[d] as i128)
                        .sum()
                };
                let start = section.start as i128;
                start + reach(false) >= 0 && start + reach(true) < elements as i128
            }
        }
    }
}

/// Arithmetic on arrays that an engine holds. Each method reads the arrays as they are when all calls before it are
/// over, and writes all elements of its target, or those places of it. A call may return before its work is over:
/// results on the host are there.
///
/// # Errors
/// [`Error::Foreign`] for an array of another engine; [`Error::OutOfMemory`]; [`Error::Interrupted`]; what the driver
/// says.
///
/// # Panics
/// Where lengths are not those that the other arguments ask for, and for places outside an array.
pub trait Arithmetic<T: Real> {
    /// `to[i] = op from[i]`.
    fn unary(&self, op: Unary, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// `to[i] = a[i] op b[i]`, with the operands expanded; to a scalar the expansion does not apply.
    fn binary(
        &self,
        op: Binary,
        operands: [Operand<T>; 2],
        expansion: &Expansion,
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// A step of two time levels, in the place of the older one: `older[i] = fma(weight, older[i], step[i])`, and where
    /// there is a source, `+ source[i]`, rounded once more. A source that is an array has the length of `older`.
    fn advance(
        &self,
        step: &Array<T>,
        weight: T,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// An array of `size[0] x size[1] x size[2]` elements, reduced along the middle dimension: `size[0] size[2]` results.
    /// `second` is the other array of a reduction [of two](Reduction::of_two).
    fn reduce(
        &self,
        op: Reduction,
        first: &Array<T>,
        second: Option<&Array<T>>,
        size: [usize; 3],
        to: &mut [T],
        watch: &Watch,
    ) -> Result<(), Error>;

    /// Every element is `value`.
    fn fill(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// `to[i] = from[places[i]]`.
    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// `to[places[i]] = from[i]`, all others as they were. Where a place comes twice, the last of them counts.
    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// Every element in this class, rounded once.
    fn convert(&self, from: &Array<T::Other>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_that_go_together_are_merged() {
        let expansion = |a: &[usize], b: &[usize]| Expansion::new([a, b]);
        let plain = expansion(&[3, 4, 5], &[3, 4, 5]).unwrap();
        assert_eq!((plain.size(), plain.is_plain()), ([60, 1, 1, 1, 1], true));
        assert!(expansion(&[1, 1], &[1, 1]).unwrap().is_plain());
        let row = expansion(&[3, 4, 5], &[1, 4]).unwrap();
        assert_eq!(row.size(), [3, 4, 5, 1, 1]);
        assert_eq!(row.steps(), [[1, 3, 12, 0, 0], [0, 1, 0, 0, 0]]);
        assert_eq!((row.elements(), row.elements_of(0), row.elements_of(1), row.is_plain()), (60, 60, 4, false));
        let outer = expansion(&[7, 1], &[1, 9]).unwrap();
        assert_eq!((outer.size(), outer.steps()), ([7, 9, 1, 1, 1], [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]));
        assert_eq!(expansion(&[3, 4], &[4, 3]), None);
        assert_eq!(expansion(&[2, 1, 2, 1, 2, 1], &[1, 2, 1, 2, 1, 2]), None);
        let none = expansion(&[0, 4], &[1, 4]).unwrap();
        assert_eq!((none.elements(), none.elements_of(0), none.elements_of(1)), (0, 0, 4));
    }

    #[test]
    fn places_know_the_array_they_are_in() {
        let section = |start, size: usize, step| {
            Places::Section(Section { start, size: [size, 1, 1, 1, 1], steps: [step, 0, 0, 0, 0] })
        };
        assert!(section(0, 5, 2).are_within(9) && !section(0, 5, 2).are_within(8));
        assert!(section(4, 5, -1).are_within(5) && !section(3, 5, -1).are_within(5));
        assert!(section(100, 0, 1).are_within(5));
        assert!(Places::List(vec![4, 4, 0]).are_within(5) && !Places::List(vec![5]).are_within(5));
    }

    #[test]
    fn zeros_and_nans_are_as_the_contract_says() {
        let nan = f64::NAN;
        assert_eq!((Binary::Min.of(1.0, nan), Binary::Max.of(nan, -1.0)), (1.0, -1.0));
        assert!(Binary::Min.of(nan, nan).is_nan());
        assert_eq!(Binary::Min.of(-0.0, 0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Binary::Max.of(-0.0, 0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!((Unary::Not.of(nan), Unary::IsNan.of(nan), Binary::And.of(nan, 1.0)), (0.0, 1.0, 1.0));
        assert_eq!((Unary::Power(0).of(nan), Unary::Power(3).of(2.0), Unary::Power(-2).of(2.0)), (1.0, 8.0, 0.25));
    }
}
