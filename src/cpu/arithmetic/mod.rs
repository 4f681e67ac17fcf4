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
use super::simd::{self, Instructions, Lanes};
use super::tasks::{self, STEP};
use crate::host::SharedOutput;
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::functions::Draw;
use crate::stencil::{
    AnySource, Array, Error, Given, Indices, Number, Operation, Places, Real, Section, Target, Term, Unary, Wanted,
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

/// [`Engine::compute`](crate::stencil::Engine::compute) for all but filters.
pub(super) fn compute<T: Lanes>(
    instructions: Instructions,
    what: &Given,
    to: Target<T>,
    watch: &Watch,
) -> Result<Option<Indices>, Error> {
    let output = to.results()?;
    match *what {
        Operation::Fill(number) => in_pieces(output, watch, |_, output| output.fill(T::from_f64(number))),
        Operation::Random(distribution, Term::Number(number), seed) => {
            let draw = Draw { distribution, number: number as u64, seed: seed as u32 };
            in_pieces(output, watch, |piece, output| random(instructions, draw, piece.start, output))
        }
        Operation::Each(op, from) => {
            let input = samples(from, output.len())?;
            in_pieces(output, watch, |piece, output| elementwise(instructions, op, &input[piece], output))
        }
        Operation::Convert(from) => {
            let input = samples(from, output.len())?;
            in_pieces(output, watch, |piece, output| {
                simd::run(instructions, ConvertPiece { input: &input[piece], output });
            })
        }
        Operation::Pair(op, terms, expansion) => {
            assert_eq!(output.len(), expansion.elements());
            let [first, second] = [terms[0].operand()?, terms[1].operand()?];
            let sides = [Side::new(0, &first, &expansion)?, Side::new(1, &second, &expansion)?];
            let size = expansion.size();
            in_pieces(output, watch, |piece, output| {
                simd::run(instructions, BinaryPiece { op, instructions, sides, size, at: piece.start, output });
            })
        }
        Operation::MultiplyAdd(weight, AnySource::Target, addend, source) => {
            let step = samples(addend, output.len())?;
            let SourcePiece::Scalar(weight) = SourcePiece::of(weight, 1)? else { return Err(not_here(what)) };
            let source = source.map(|source| SourcePiece::<T>::of(source, step.len())).transpose()?;
            in_pieces(output, watch, |piece, older| {
                let source = source.map(|source| source.of_piece(piece.clone()));
                simd::run(instructions, AdvancePiece { step: &step[piece], weight, source, older });
            })
        }
        Operation::Pick(places, from) => pick(from.source()?.samples()?, places, output, watch),
        Operation::Put(places, [from, AnySource::Target]) => put(from.source()?.samples()?, places, output, watch),
        Operation::Reduce(op, first, second, size) => {
            assert_eq!(op.of_two(), second.is_some());
            let inputs = [first.source()?.samples()?, second.unwrap_or(first).source()?.samples()?];
            reduce::run(instructions, op, inputs, size, output, watch)
        }
        Operation::Scan(op, from, size) => {
            scan::run(instructions, op, from.source()?.samples()?, size, output, true, watch)
        }
        Operation::Sort(order, from, size, wanted) => {
            let input = from.source()?.samples()?;
            let mut places = (wanted == Wanted::Places).then(|| Array::<u64>::in_memory(input.len())).transpose()?;
            let listed = places.as_mut().map(|places| places.held_mut::<Pooled<u64>>()).transpose()?;
            sort::run(order, input, size, output, listed.map(|listed| &mut **listed), watch)?;
            return Ok(places.map(|places| Indices::new(places, size[1].max(1), size[0] * size[2] <= 1)));
        }
        Operation::Extreme(which, from, size, _) => {
            let places = extremes::run(instructions, which, from.source()?.samples()?, size, output, watch)?;
            return Ok(Some(Indices::new(places, size[1].max(1), false)));
        }
        _ => Err(not_here(what)),
    }?;
    Ok(None)
}

fn not_here(what: &Given) -> Error {
    Error::Internal(format!("The CPU does not compute {what:?}."))
}

/// Returns the `len` samples of an input.
fn samples<T: Number>(input: AnySource<'_>, len: usize) -> Result<&[T], Error> {
    let samples = input.source()?.samples()?;
    assert_eq!(samples.len(), len);
    Ok(samples)
}

pub(super) fn medians<T: Lanes>(input: &[T], size: [usize; 3], output: &mut [T], watch: &Watch) -> Result<(), Error> {
    medians::run(input, size, output, watch)
}

pub(super) fn find<T: Lanes>(instructions: Instructions, input: &[T], watch: &Watch) -> Result<Indices, Error> {
    Ok(Indices::new(find::run(instructions, input, watch)?, input.len(), true))
}

pub(super) fn ordinals<T: Real>(indices: &Indices, output: &mut [T], watch: &Watch) -> Result<(), Error> {
    let numbers = indices.held().held::<Pooled<u64>>()?;
    assert_eq!(numbers.len(), output.len());
    in_pieces(output, watch, |piece, output| {
        for (output, &number) in output.iter_mut().zip(&numbers[piece]) {
            *output = T::from_f64((number + 1) as f64);
        }
    })
}

fn pick<T: Real>(input: &[T], places: &Places, output: &mut [T], watch: &Watch) -> Result<(), Error> {
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

fn put<T: Real>(input: &[T], places: &Places, output: &mut [T], watch: &Watch) -> Result<(), Error> {
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
