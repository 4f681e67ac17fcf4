//! Elementwise operations: loops over pieces of slices.

use std::ops::Range;

use super::functions;
use crate::cpu::simd::{Instructions, Loops};
use crate::platform::memory::pool::Pooled;
use crate::stencil::{AnySource, Binary, Error, Expansion, Number, Operand, RANK, Real, Term, Unary, saturated};

/// Number of elements buffered at once: three such blocks stay in the first-level cache.
const BLOCK: usize = 1024;

/// Minimum length of rows that are computed one by one, without a copy of an expanded operand.
const LONG_ROW: usize = 256;

pub(in super::super) struct ConvertPiece<'a, T: Number> {
    pub(in super::super) input: &'a [T::Other],
    pub(in super::super) output: &'a mut [T],
}

impl<T: Number> Loops for ConvertPiece<'_, T> {
    #[inline(always)]
    fn run(self) {
        for (output, input) in self.output.iter_mut().zip(self.input) {
            *output = T::from_f64(input.to_f64());
        }
    }
}

pub(in super::super) struct UnaryPiece<'a, T> {
    pub(in super::super) op: Unary,
    pub(in super::super) input: &'a [T],
    pub(in super::super) output: &'a mut [T],
}

impl<T: Real> Loops for UnaryPiece<'_, T> {
    #[inline(always)]
    fn run(self) {
        if let Unary::Power(exponent) = self.op {
            return self.power(exponent);
        }
        if let Unary::Saturate { low, high } = self.op {
            let [low, high] = [low, high].map(|bound| T::from_f64(bound as f64));
            for (output, &input) in self.output.iter_mut().zip(self.input) {
                *output = saturated(input, low, high);
            }
            return;
        }
        settled!(self.op, Unary { Negate, Abs, Sqrt, Not, IsNan, Floor, Ceil, Round, Fix, Sign }, OP => {
            for (output, &input) in self.output.iter_mut().zip(self.input) {
                *output = OP.of(input);
            }
        });
    }
}

impl<T: Real> UnaryPiece<'_, T> {
    /// Multiplies factor by factor, over blocks that stay in the cache meanwhile.
    #[inline(always)]
    fn power(self, exponent: i32) {
        for (output, input) in self.output.chunks_mut(BLOCK).zip(self.input.chunks(BLOCK)) {
            if exponent == 0 {
                output.fill(T::ONE);
                continue;
            }
            output.copy_from_slice(input);
            for _ in 1..exponent.unsigned_abs() {
                for (output, &input) in output.iter_mut().zip(input) {
                    *output = output.times(input);
                }
            }
            if exponent < 0 {
                for output in output.iter_mut() {
                    *output = T::ONE.over(*output);
                }
            }
        }
    }
}

/// An operand.
#[derive(Clone, Copy)]
pub(super) struct Side<'a, T> {
    /// A scalar is an array of one element that expands everywhere.
    elements: &'a [T],
    steps: [usize; RANK],
    /// True if it does not expand in any dimension.
    is_whole: bool,
}

/// Copy of an operand's elements, for those that are not contiguous.
struct Buffer<T> {
    elements: [T; BLOCK],
    /// Index of the single element that fills the buffer, and its number of copies.
    held: Option<(usize, usize)>,
}

impl<'a, T: Real> Side<'a, T> {
    pub(super) fn new(which: usize, operand: &'a Operand<T>, expansion: &Expansion) -> Result<Side<'a, T>, Error> {
        match operand {
            Operand::Scalar(value) => {
                Ok(Side { elements: std::slice::from_ref(value), steps: [0; RANK], is_whole: false })
            }
            Operand::Array(array) => {
                let elements = array.held::<Pooled<T>>()?;
                assert_eq!(elements.len(), expansion.elements_of(which));
                let is_whole = elements.len() == expansion.elements();
                Ok(Side { elements, steps: expansion.steps()[which], is_whole })
            }
        }
    }

    /// True if a slice of it may continue in the next row.
    fn knows_no_rows(&self) -> bool {
        self.is_whole || self.elements.len() == 1
    }

    /// Returns the elements for `len` results, the first of them number `at`, at `place`.
    #[inline(always)]
    fn beside<'b>(
        &'b self,
        size: &[usize; RANK],
        at: usize,
        place: &[usize; RANK],
        len: usize,
        buffer: &'b mut Buffer<T>,
    ) -> &'b [T] {
        if self.is_whole {
            return &self.elements[at..at + len];
        }
        let base = place.iter().zip(&self.steps).map(|(place, step)| place * step).sum::<usize>();
        if self.elements.len() > 1 {
            if place[0] + len > size[0] {
                self.gather(size, *place, base, &mut buffer.elements[..len]);
                buffer.held = None;
                return &buffer.elements[..len];
            }
            if self.steps[0] == 1 {
                return &self.elements[base..base + len];
            }
        }
        if !buffer.held.is_some_and(|(held, count)| held == base && count >= len) {
            buffer.elements[..len].fill(self.elements[base]);
            buffer.held = Some((base, len));
        }
        &buffer.elements[..len]
    }

    /// Copies the elements from `place` on; `base` is the index of that element.
    #[inline(always)]
    fn gather(&self, size: &[usize; RANK], mut place: [usize; RANK], mut base: usize, mut to: &mut [T]) {
        loop {
            let (run, rest) = to.split_at_mut((size[0] - place[0]).min(to.len()));
            if self.steps[0] == 1 {
                run.iter_mut().zip(&self.elements[base..]).for_each(|(to, &from)| *to = from);
            } else {
                run.iter_mut().for_each(|to| *to = self.elements[base]);
            }
            if rest.is_empty() {
                return;
            }
            to = rest;
            base -= place[0] * self.steps[0];
            place[0] = 0;
            for d in 1..RANK {
                (place[d], base) = (place[d] + 1, base + self.steps[d]);
                if place[d] < size[d] {
                    break;
                }
                (place[d], base) = (0, base - size[d] * self.steps[d]);
            }
        }
    }
}

/// Term added to each element.
#[derive(Clone, Copy)]
pub(super) enum SourcePiece<'a, T> {
    Scalar(T),
    Elements(&'a [T]),
}

impl<'a, T: Number> SourcePiece<'a, T> {
    /// A number, or an array of one element or of `len`.
    pub(super) fn of(term: Term<AnySource<'a>>, len: usize) -> Result<SourcePiece<'a, T>, Error> {
        Ok(match term.operand()? {
            Operand::Scalar(number) => SourcePiece::Scalar(number),
            Operand::Array(array) => match &**array.held::<Pooled<T>>()? {
                [one] => SourcePiece::Scalar(*one),
                elements => {
                    assert_eq!(elements.len(), len);
                    SourcePiece::Elements(elements)
                }
            },
        })
    }

    pub(super) fn of_piece(self, piece: Range<usize>) -> SourcePiece<'a, T> {
        match self {
            SourcePiece::Elements(elements) => SourcePiece::Elements(&elements[piece]),
            SourcePiece::Scalar(value) => SourcePiece::Scalar(value),
        }
    }
}

/// A step of two time levels.
pub(super) struct AdvancePiece<'a, T> {
    pub(super) step: &'a [T],
    pub(super) weight: T,
    pub(super) source: Option<SourcePiece<'a, T>>,
    pub(super) older: &'a mut [T],
}

impl<T: Real> Loops for AdvancePiece<'_, T> {
    #[inline(always)]
    fn run(self) {
        let AdvancePiece { step, weight, source, older } = self;
        match source {
            None => older.iter_mut().zip(step).for_each(|(older, &step)| *older = weight.fma(*older, step)),
            Some(SourcePiece::Scalar(value)) => {
                older.iter_mut().zip(step).for_each(|(older, &step)| *older = weight.fma(*older, step).plus(value));
            }
            Some(SourcePiece::Elements(source)) => {
                let elements = older.iter_mut().zip(step).zip(source);
                elements.for_each(|((older, &step), &source)| *older = weight.fma(*older, step).plus(source));
            }
        }
    }
}

/// `to[i] = a[i] op b[i]`.
#[inline(always)]
pub(in super::super) fn pairwise<T: Real>((instructions, op): (Instructions, Binary), a: &[T], b: &[T], to: &mut [T]) {
    if op.is_function() {
        return functions::binary(instructions, op, [a, b], to);
    }
    settled!(
        op,
        Binary {
            Add, Subtract, Multiply, Divide, Min, Max, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, And, Or,
            Xor, Mod, Rem, Keep
        },
        OP => for ((to, &a), &b) in to.iter_mut().zip(a).zip(b) {
            *to = OP.of(a, b);
        }
    );
}

pub(super) struct BinaryPiece<'a, T> {
    pub(super) op: Binary,
    pub(super) instructions: Instructions,
    pub(super) sides: [Side<'a, T>; 2],
    pub(super) size: [usize; RANK],
    /// Index of the first result.
    pub(super) at: usize,
    pub(super) output: &'a mut [T],
}

impl<T: Real> Loops for BinaryPiece<'_, T> {
    #[inline(always)]
    fn run(self) {
        let size = &self.size;
        let in_rows = size[0] >= LONG_ROW && !self.sides.iter().all(Side::knows_no_rows);
        let mut buffers = [const { None }; 2].map(|held| Buffer { elements: [T::default(); BLOCK], held });
        let [first_buffer, second_buffer] = &mut buffers;
        let (mut at, mut output) = (self.at, self.output);
        while !output.is_empty() {
            let mut number = at;
            let place: [usize; RANK] = std::array::from_fn(|d| {
                let index = number % size[d];
                number /= size[d];
                index
            });
            let mut len = output.len().min(BLOCK);
            if in_rows {
                len = len.min(size[0] - place[0]);
            }
            let (block, rest) = output.split_at_mut(len);
            let first = self.sides[0].beside(size, at, &place, len, first_buffer);
            let second = self.sides[1].beside(size, at, &place, len, second_buffer);
            pairwise((self.instructions, self.op), first, second, block);
            (at, output) = (at + len, rest);
        }
    }
}
