//! Elementary functions, in blocks of doubles that stay in the cache. Arrays of singles are converted to such blocks,
//! too: so each function is compiled once for an instruction set.

use crate::cpu::simd::{self, Instructions, Loops};
use crate::stencil::functions::{Distribution, Draw, MODERATE, Reach, Scalar};
use crate::stencil::{Binary, Real, Unary};

/// Number of elements in a block.
const BLOCK: usize = 1024;

/// Applies a function to each number of a block, in place.
struct UnaryBlock<'a> {
    op: Unary,
    numbers: &'a mut [f64],
}

impl Loops for UnaryBlock<'_> {
    #[inline(always)]
    fn run(self) {
        // The reduction of huge angles takes most of the time, and can hardly be vectorised.
        let is_huge = |angle: f64| angle.abs() > MODERATE && angle.abs() < f64::INFINITY;
        if matches!(self.op, Unary::Sin | Unary::Cos | Unary::Tan)
            && !self.numbers.iter().fold(false, |huge, &angle| huge | is_huge(angle))
        {
            settled!(self.op, Unary { Sin, Cos, Tan }, OP => {
                for x in self.numbers {
                    *x = OP.on(&mut Scalar, *x, Reach::Moderate);
                }
            });
            return;
        }
        settled!(
            self.op,
            Unary {
                Exp, Log, Log2, Log10, Log1p, Expm1, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Cbrt, Sinpi,
                Cospi, Asinh, Acosh, Atanh, Erf, Erfc
            },
            OP => for x in self.numbers {
                *x = OP.on(&mut Scalar, *x, Reach::Everything);
            }
        );
    }
}

/// Applies a function to the numbers of two blocks, in place of the first.
struct BinaryBlocks<'a> {
    op: Binary,
    first: &'a mut [f64],
    second: &'a [f64],
}

impl Loops for BinaryBlocks<'_> {
    #[inline(always)]
    fn run(self) {
        settled!(self.op, Binary { Atan2, Hypot, RaisedTo }, OP => {
            for (a, &b) in self.first.iter_mut().zip(self.second) {
                *a = OP.on(&mut Scalar, [*a, b]);
            }
        });
    }
}

/// Random numbers for elements from this index on.
struct RandomBlock<'a, T> {
    draw: Draw,
    first: usize,
    output: &'a mut [T],
}

impl<T: Real> Loops for RandomBlock<'_, T> {
    #[inline(always)]
    fn run(self) {
        settled!(self.draw.distribution, Distribution { Uniform, Normal }, OF => {
            let draw = Draw { distribution: OF, ..self.draw };
            self.output.iter_mut().zip(self.first..).for_each(|(output, index)| *output = draw.of(index));
        });
    }
}

/// Block of doubles, which begins with these numbers.
struct Block([f64; BLOCK]);

impl Block {
    #[inline(always)]
    fn filled<T: Real>(&mut self, from: &[T]) -> &mut [f64] {
        let numbers = &mut self.0[..from.len()];
        numbers.iter_mut().zip(from).for_each(|(number, from)| *number = from.to_f64());
        numbers
    }
}

/// Random numbers for elements from this index on.
pub(in super::super) fn random<T: Real>(instructions: Instructions, draw: Draw, first: usize, output: &mut [T]) {
    simd::run(instructions, RandomBlock { draw, first, output });
}

/// Applies a function to every element.
pub(super) fn unary<T: Real>(instructions: Instructions, op: Unary, input: &[T], output: &mut [T]) {
    let mut block = Block([0.0; BLOCK]);
    for (output, input) in output.chunks_mut(BLOCK).zip(input.chunks(BLOCK)) {
        let numbers = block.filled(input);
        simd::run(instructions, UnaryBlock { op, numbers });
        output.iter_mut().zip(numbers).for_each(|(output, &mut number)| *output = T::from_f64(number));
    }
}

/// Applies a function to every pair of elements.
pub(super) fn binary<T: Real>(instructions: Instructions, op: Binary, inputs: [&[T]; 2], output: &mut [T]) {
    let mut blocks = [0, 1].map(|_| Block([0.0; BLOCK]));
    let [first, second] = &mut blocks;
    let [a, b] = inputs.map(|input| input.chunks(BLOCK));
    for (output, (a, b)) in output.chunks_mut(BLOCK).zip(a.zip(b)) {
        let (first, second) = (first.filled(a), second.filled(b));
        simd::run(instructions, BinaryBlocks { op, first, second });
        output.iter_mut().zip(first).for_each(|(output, &mut number)| *output = T::from_f64(number));
    }
}
