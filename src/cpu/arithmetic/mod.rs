//! Arithmetic on arrays.
//!
//! All but the elementary functions are bound by memory. So the operation is chosen outside the loops, and each inner
//! loop runs over slices; the compiler vectorises it, for each instruction set ([`simd::run`]). Other operands,
//! expanded ones and short lines side by side, are first copied to a buffer in the cache.

/// Expands `$body` once for each variant, a constant in it, so that the compiler specialises the code.
macro_rules! settled {
    ($value:expr, $type:ident { $($variant:ident),* }, $constant:ident => $body:expr) => {
        match $value {
            $($type::$variant => {
                const $constant: $type = $type::$variant;
                $body
            })*
            #[allow(unreachable_patterns)]
            other => unreachable!("{other:?} is not done here"),
        }
    };
}

mod elementwise;
mod extremes;
mod find;
mod functions;
mod medians;
mod reduce;
mod scan;
mod sections;
mod sort;

use std::ops::Range;

use self::elementwise::{AdvancePiece, BinaryPiece, Side, SourcePiece, UnaryPiece};
pub(super) use self::elementwise::{ConvertPiece, pairwise};
pub(super) use self::functions::random;
use self::sections::{each_run, is_injective};
use super::Cpu;
use super::simd::{self, Instructions, Lanes};
use super::tasks::{self, STEP};
use crate::host::SharedOutput;
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::functions::Draw;
use crate::stencil::{
    Arithmetic, Array, Binary, Error, Expansion, Extreme, Indices, Operand, Order, Places, Real, Reduction, Scan,
    Section, Source, Target, Unary,
};

/// Cost of an element in multiply-adds: 32,768 elements are worth a thread.
const WORK: usize = 8;

/// Writes all elements of `to`, a piece a task: `work` gets the piece and its range.
fn in_pieces<T: Real>(to: &mut [T], watch: &Watch, work: impl Fn(Range<usize>, &mut [T]) + Sync) -> Result<(), Error> {
    watch.check()?;
    let len = to.len();
    let target = SharedOutput::new(to);
    tasks::run(len.div_ceil(STEP), threads(len), 1, watch, |number, _: &mut (), progress| {
        let piece = number * STEP..((number + 1) * STEP).min(len);
        // SAFETY: no other task has this piece.
        work(piece.clone(), unsafe { target.places(piece.clone()) });
        Ok(progress.step(piece.len())?)
    })
}

/// Places, borrowed from either of their forms.
#[derive(Clone, Copy)]
enum Listed<'a> {
    Section(&'a Section),
    /// `distinct` is true if no place is repeated.
    List {
        list: &'a [u64],
        distinct: bool,
    },
}

impl Listed<'_> {
    fn new(places: &Places) -> Result<Listed<'_>, Error> {
        Ok(match places {
            Places::Section(section) => Listed::Section(section),
            Places::List(list) => Listed::List { list, distinct: false },
            Places::Held(held) => {
                Listed::List { list: held.held().held::<Pooled<u64>>()?, distinct: held.are_distinct() }
            }
        })
    }
}

/// `output[i] = op input[i]`.
pub(super) fn elementwise<T: Real>(instructions: Instructions, op: Unary, input: &[T], output: &mut [T]) {
    if op.is_function() {
        functions::unary(instructions, op, input, output);
    } else {
        simd::run(instructions, UnaryPiece { op, input, output });
    }
}

/// Number of threads that are worth waking for these elements.
fn threads(elements: usize) -> usize {
    tasks::threads(elements.saturating_mul(WORK))
}

impl<T: Lanes> Arithmetic<T> for Cpu {
    fn unary(&self, op: Unary, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = (from.held::<Pooled<T>>()?, to.held_mut::<Pooled<T>>()?);
        assert_eq!(input.len(), output.len());
        in_pieces(output, watch, |piece, output| {
            elementwise(self.instructions, op, &input[piece], output);
        })
    }

    fn binary(
        &self,
        op: Binary,
        operands: [Operand<T>; 2],
        expansion: &Expansion,
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let output = to.held_mut::<Pooled<T>>()?;
        assert_eq!(output.len(), expansion.elements());
        let [first, second] = &operands;
        let sides = [Side::new(0, first, expansion)?, Side::new(1, second, expansion)?];
        let size = expansion.size();
        in_pieces(output, watch, |piece, output| {
            let instructions = self.instructions;
            simd::run(instructions, BinaryPiece { op, instructions, sides, size, at: piece.start, output });
        })
    }

    fn advance(
        &self,
        step: &Array<T>,
        weight: T,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let (step, older) = (step.held::<Pooled<T>>()?, older.held_mut::<Pooled<T>>()?);
        assert_eq!(step.len(), older.len());
        let source = match source {
            None => None,
            Some(Operand::Scalar(value)) => Some(SourcePiece::Scalar(value)),
            Some(Operand::Array(array)) => {
                let elements = array.held::<Pooled<T>>()?;
                assert_eq!(elements.len(), step.len());
                Some(SourcePiece::Elements(&elements[..]))
            }
        };
        in_pieces(older, watch, |piece, older| {
            let source = source.map(|source| match source {
                SourcePiece::Elements(elements) => SourcePiece::Elements(&elements[piece.clone()]),
                SourcePiece::Scalar(value) => SourcePiece::Scalar(value),
            });
            simd::run(self.instructions, AdvancePiece { step: &step[piece], weight, source, older });
        })
    }

    fn reduce(
        &self,
        op: Reduction,
        first: &Array<T>,
        second: Option<&Array<T>>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!(op.of_two(), second.is_some());
        let inputs = [first.held::<Pooled<T>>()?, second.unwrap_or(first).held::<Pooled<T>>()?];
        reduce::run(self.instructions, op, inputs.map(|input| &**input), size, to.results()?, watch)
    }

    fn extremes(
        &self,
        which: Extreme,
        from: &Array<T>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<Indices, Error> {
        let (input, output) = (from.held::<Pooled<T>>()?, to.results()?);
        let places = extremes::run(self.instructions, which, input, size, output, watch)?;
        Ok(Indices::new(places, size[1].max(1), false))
    }

    fn scan(&self, op: Scan, from: &Array<T>, size: [usize; 3], to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = (from.held::<Pooled<T>>()?, to.held_mut::<Pooled<T>>()?);
        scan::run(self.instructions, op, input, size, output, true, watch)
    }

    fn sort(
        &self,
        order: Order,
        from: &Array<T>,
        size: [usize; 3],
        to: &mut Array<T>,
        with_places: bool,
        watch: &Watch,
    ) -> Result<Option<Indices>, Error> {
        let (input, output) = (from.held::<Pooled<T>>()?, to.held_mut::<Pooled<T>>()?);
        let mut places = with_places.then(|| Array::<u64>::in_memory(input.len())).transpose()?;
        let listed = places.as_mut().map(|places| places.held_mut::<Pooled<u64>>()).transpose()?;
        sort::run(order, input, size, output, listed.map(|listed| &mut **listed), watch)?;
        Ok(places.map(|places| Indices::new(places, size[1].max(1), size[0] * size[2] <= 1)))
    }

    fn medians(&self, from: &Array<T>, size: [usize; 3], to: &mut Array<T>, watch: &Watch) -> Result<bool, Error> {
        medians::run(from.held::<Pooled<T>>()?, size, to.held_mut::<Pooled<T>>()?, watch).map(|()| true)
    }

    fn find(&self, from: &Array<T>, watch: &Watch) -> Result<Indices, Error> {
        let places = find::run(self.instructions, from.held::<Pooled<T>>()?, watch)?;
        Ok(Indices::new(places, from.len(), true))
    }

    fn ordinals(&self, indices: &Indices, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let (numbers, output) = (indices.held().held::<Pooled<u64>>()?, to.results()?);
        assert_eq!(numbers.len(), output.len());
        in_pieces(output, watch, |piece, output| {
            for (output, &number) in output.iter_mut().zip(&numbers[piece]) {
                *output = T::from_f64((number + 1) as f64);
            }
        })
    }

    fn fill(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        in_pieces(to.held_mut::<Pooled<T>>()?, watch, |_, output| output.fill(value))
    }

    fn random(&self, draw: Draw, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let instructions = self.instructions;
        in_pieces(to.held_mut::<Pooled<T>>()?, watch, |piece, output| random(instructions, draw, piece.start, output))
    }

    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = (from.held::<Pooled<T>>()?, to.results()?);
        assert_eq!(output.len(), places.len());
        assert!(places.are_within(input.len()), "places outside an array of {} elements", input.len());
        let places = Listed::new(places)?;
        in_pieces(output, watch, |piece, output| match places {
            Listed::List { list, .. } => {
                for (output, &place) in output.iter_mut().zip(&list[piece]) {
                    *output = input[place as usize];
                }
            }
            Listed::Section(section) => each_run(section, piece.clone(), |number, run| {
                let output = &mut output[number - piece.start..][..run.len];
                if run.step == 1 {
                    output.copy_from_slice(&input[run.start..][..run.len]);
                } else {
                    output.iter_mut().zip(run.places()).for_each(|(output, place)| *output = input[place]);
                }
            }),
        })
    }

    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = (from.samples()?, to.held_mut::<Pooled<T>>()?);
        assert_eq!(input.len(), places.len());
        assert!(places.are_within(output.len()), "places outside an array of {} elements", output.len());
        watch.check()?;
        // If a place may be repeated, one thread writes in order.
        let places = Listed::new(places)?;
        let threads = match places {
            Listed::Section(section) if is_injective(section) => threads(input.len()),
            Listed::List { distinct: true, .. } => threads(input.len()),
            _ => 1,
        };
        let target = SharedOutput::new(output);
        tasks::run(input.len().div_ceil(STEP), threads, 1, watch, |number, _: &mut (), progress| {
            let piece = number * STEP..((number + 1) * STEP).min(input.len());
            let input = &input[piece.clone()];
            match places {
                Listed::List { list, .. } => {
                    for (&input, &place) in input.iter().zip(&list[piece]) {
                        // SAFETY: there is one thread, which holds one element, or no other has this place.
                        unsafe { target.places(place as usize..place as usize + 1) }.fill(input);
                    }
                }
                Listed::Section(section) => each_run(section, piece.clone(), |number, run| {
                    let input = &input[number - piece.start..][..run.len];
                    if run.step == 1 {
                        // SAFETY: there is one thread, or no other run has these places.
                        unsafe { target.places(run.start..run.start + run.len) }.copy_from_slice(input);
                    } else {
                        for (&input, place) in input.iter().zip(run.places()) {
                            // SAFETY: as above.
                            unsafe { target.places(place..place + 1) }.fill(input);
                        }
                    }
                }),
            }
            Ok(progress.step(input.len())?)
        })
    }

    fn convert(&self, from: &Array<T::Other>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = (from.held::<Pooled<T::Other>>()?, to.held_mut::<Pooled<T>>()?);
        assert_eq!(input.len(), output.len());
        in_pieces(output, watch, |piece, output| {
            simd::run(self.instructions, ConvertPiece { input: &input[piece], output });
        })
    }
}
