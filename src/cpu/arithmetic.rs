//! Arithmetic on arrays.
//!
//! All of it is bound by memory. So what is done with a number is settled outside the loops, and a loop over slices is
//! all that is left inside; the compiler makes vectors of it, for each instruction set ([`simd::run`]). Whatever is not
//! a slice is made one first: operands that expand, and short lines side by side, go through a buffer in the cache.

use std::ops::Range;

use super::Cpu;
use super::simd::{self, Instructions, Lanes, Loops};
use super::tasks::{self, STEP};
use crate::host::SharedOutput;
use crate::memory;
use crate::pool::Pooled;
use crate::stencil::{
    Arithmetic, Array, Binary, CHUNK, Error, Expansion, LANES, Operand, Places, RANK, Real, Reduction, Section, Source,
    Target, Unary,
};
use crate::watch::Watch;

/// Elements that go through a buffer at once: three of them stay in the first-level cache.
const BLOCK: usize = 1024;

/// Rows that are at least so long are computed one by one, without a copy of what expands.
const LONG_ROW: usize = 256;

/// What an element takes, in multiply-adds: 32,768 of them are worth a thread.
const WORK: usize = 8;

/// Neighbouring lines that are reduced side by side, where a line's elements are apart: a kibibyte of doubles of each
/// row, and lanes that stay in the cache.
const WIDTH: usize = 128;

/// Contiguous lines that are shorter are reduced side by side, so many at once: by themselves they would spend their
/// time on lanes that are hardly used.
const SHORT_LINE: usize = 64;
const SHORT_LINES: usize = 64;

/// `$body` once for each variant, which is a constant in it: what depends on it is settled by the compiler.
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

/// Writes all elements of `to`, a piece a task: `work` gets the piece and where it lies.
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

/// How many threads so many elements are worth.
fn threads(elements: usize) -> usize {
    tasks::threads(elements.saturating_mul(WORK))
}

impl<T: Lanes> Arithmetic<T> for Cpu {
    fn unary(&self, op: Unary, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = (from.held::<Pooled<T>>()?, to.held_mut::<Pooled<T>>()?);
        assert_eq!(input.len(), output.len());
        in_pieces(output, watch, |piece, output| {
            simd::run(self.instructions, UnaryPiece { op, input: &input[piece], output });
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
            simd::run(self.instructions, BinaryPiece { op, sides, size, at: piece.start, output });
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
            Some(Operand::Scalar(value)) => Some(Addend::Scalar(value)),
            Some(Operand::Array(array)) => {
                let elements = array.held::<Pooled<T>>()?;
                assert_eq!(elements.len(), step.len());
                Some(Addend::Elements(&elements[..]))
            }
        };
        in_pieces(older, watch, |piece, older| {
            let source = source.map(|source| match source {
                Addend::Elements(elements) => Addend::Elements(&elements[piece.clone()]),
                Addend::Scalar(value) => Addend::Scalar(value),
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
        to: &mut [T],
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!(op.of_two(), second.is_some());
        let inputs = [first.held::<Pooled<T>>()?, second.unwrap_or(first).held::<Pooled<T>>()?];
        let [inner, length, outer] = size;
        assert_eq!(inputs.map(|input| input.len()), [inner * length * outer; 2]);
        assert_eq!(to.len(), inner * outer);
        watch.check()?;
        let mut lines = Lines { inner, length, outer };
        let mut results: Option<Vec<T>> = None;
        // Each pass leaves one element of a chunk; the first one takes them, later ones join them.
        loop {
            let (inputs, takes) = match &results {
                None => (inputs.map(|input| &**input), true),
                Some(results) => ([&results[..]; 2], false),
            };
            let pass = Pass { op, takes, lines, inputs };
            if lines.chunks() == 1 {
                return pass.run(self.instructions, to, watch);
            }
            let mut of_chunks = memory::zeros(inner * lines.chunks() * outer, "what is left of chunks")?;
            pass.run(self.instructions, &mut of_chunks, watch)?;
            lines.length = lines.chunks();
            results = Some(of_chunks);
        }
    }

    fn fill(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        in_pieces(to.held_mut::<Pooled<T>>()?, watch, |_, output| output.fill(value))
    }

    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = (from.held::<Pooled<T>>()?, to.results()?);
        assert_eq!(output.len(), places.len());
        assert!(places.are_within(input.len()), "places outside an array of {} elements", input.len());
        in_pieces(output, watch, |piece, output| match places {
            Places::List(list) => {
                for (output, &place) in output.iter_mut().zip(&list[piece]) {
                    *output = input[place as usize];
                }
            }
            Places::Section(section) => each_run(section, piece.clone(), |number, run| {
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
        // Where a place may come twice, one thread writes in order.
        let threads = match places {
            Places::Section(section) if is_injective(section) => threads(input.len()),
            _ => 1,
        };
        let target = SharedOutput::new(output);
        tasks::run(input.len().div_ceil(STEP), threads, 1, watch, |number, _: &mut (), progress| {
            let piece = number * STEP..((number + 1) * STEP).min(input.len());
            let input = &input[piece.clone()];
            match places {
                Places::List(list) => {
                    for (&input, &place) in input.iter().zip(&list[piece]) {
                        // SAFETY: there is one thread, which holds one element.
                        unsafe { target.places(place as usize..place as usize + 1) }.fill(input);
                    }
                }
                Places::Section(section) => each_run(section, piece.clone(), |number, run| {
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

struct ConvertPiece<'a, T: Real> {
    input: &'a [T::Other],
    output: &'a mut [T],
}

impl<T: Real> Loops for ConvertPiece<'_, T> {
    #[inline(always)]
    fn run(self) {
        for (output, input) in self.output.iter_mut().zip(self.input) {
            *output = T::from_f64(input.to_f64());
        }
    }
}

struct UnaryPiece<'a, T> {
    op: Unary,
    input: &'a [T],
    output: &'a mut [T],
}

impl<T: Real> Loops for UnaryPiece<'_, T> {
    #[inline(always)]
    fn run(self) {
        if let Unary::Power(exponent) = self.op {
            return self.power(exponent);
        }
        settled!(self.op, Unary { Negate, Abs, Sqrt, Not, IsNan }, OP => {
            for (output, &input) in self.output.iter_mut().zip(self.input) {
                *output = OP.of(input);
            }
        });
    }
}

impl<T: Real> UnaryPiece<'_, T> {
    /// Factor by factor, over blocks that stay in the cache meanwhile.
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
struct Side<'a, T> {
    /// A scalar is an array of one element that expands everywhere.
    elements: &'a [T],
    steps: [usize; RANK],
    /// Whether it goes along everywhere.
    is_whole: bool,
}

/// What an operand's elements are copied to where they are not a slice as they are.
struct Buffer<T> {
    elements: [T; BLOCK],
    /// The place of the element that the first so many are.
    held: Option<(usize, usize)>,
}

impl<'a, T: Real> Side<'a, T> {
    fn new(which: usize, operand: &'a Operand<T>, expansion: &Expansion) -> Result<Side<'a, T>, Error> {
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

    /// Whether a slice of it may go on into the next row.
    fn knows_no_rows(&self) -> bool {
        self.is_whole || self.elements.len() == 1
    }

    /// The elements beside `len` results, the first of them number `at`, at `place`.
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

    /// Copies the elements from `place` on, which is that of the element `base`.
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

/// What is added to each element.
#[derive(Clone, Copy)]
enum Addend<'a, T> {
    Scalar(T),
    Elements(&'a [T]),
}

/// A step of two time levels.
struct AdvancePiece<'a, T> {
    step: &'a [T],
    weight: T,
    source: Option<Addend<'a, T>>,
    older: &'a mut [T],
}

impl<T: Real> Loops for AdvancePiece<'_, T> {
    #[inline(always)]
    fn run(self) {
        let AdvancePiece { step, weight, source, older } = self;
        match source {
            None => older.iter_mut().zip(step).for_each(|(older, &step)| *older = weight.fma(*older, step)),
            Some(Addend::Scalar(value)) => {
                older.iter_mut().zip(step).for_each(|(older, &step)| *older = weight.fma(*older, step).plus(value));
            }
            Some(Addend::Elements(source)) => {
                let elements = older.iter_mut().zip(step).zip(source);
                elements.for_each(|((older, &step), &source)| *older = weight.fma(*older, step).plus(source));
            }
        }
    }
}

struct BinaryPiece<'a, T> {
    op: Binary,
    sides: [Side<'a, T>; 2],
    size: [usize; RANK],
    /// The number of the first result.
    at: usize,
    output: &'a mut [T],
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
            settled!(
                self.op,
                Binary {
                    Add, Subtract, Multiply, Divide, Min, Max, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual,
                    And, Or
                },
                OP => for ((output, &a), &b) in block.iter_mut().zip(first).zip(second) {
                    *output = OP.of(a, b);
                }
            );
            (at, output) = (at + len, rest);
        }
    }
}

/// The lines that are reduced: `inner x length x outer` elements, each line along the middle.
#[derive(Clone, Copy)]
struct Lines {
    inner: usize,
    length: usize,
    outer: usize,
}

impl Lines {
    /// The chunks of a line; one also of a line without elements.
    fn chunks(self) -> usize {
        self.length.div_ceil(CHUNK).max(1)
    }
}

/// A pass over all chunks, each of which leaves one result.
#[derive(Clone, Copy)]
struct Pass<'a, T> {
    op: Reduction,
    /// Whether elements are taken, or results of chunks joined.
    takes: bool,
    lines: Lines,
    inputs: [&'a [T]; 2],
}

impl<T: Lanes> Pass<'_, T> {
    /// To `output`, of `inner x chunks x outer` elements. Nothing is counted: no array is written.
    fn run(self, instructions: Instructions, output: &mut [T], watch: &Watch) -> Result<(), Error> {
        if output.is_empty() {
            return Ok(());
        }
        let lines = self.lines;
        // Lines side by side: neighbours where a line's elements are apart, else, where they are short, some of them.
        let turned = lines.inner == 1 && lines.length < SHORT_LINE && lines.outer > 1;
        let (strips, width) = match turned {
            true => (lines.outer.div_ceil(SHORT_LINES), SHORT_LINES),
            false => (lines.inner.div_ceil(WIDTH), lines.inner.min(WIDTH)),
        };
        let units = if turned { strips } else { strips * lines.chunks() * lines.outer };
        let at_once = (STEP / (width * lines.length.clamp(1, CHUNK))).max(1);
        let elements = self.inputs[0].len();
        let target = SharedOutput::new(output);
        tasks::run(units.div_ceil(at_once), threads(elements), 1, watch, |number, scratch: &mut Vec<T>, progress| {
            memory::enlarge(scratch, SCRATCH, "the lanes of a reduction")?;
            let units = number * at_once..((number + 1) * at_once).min(units);
            simd::run(instructions, Units { pass: self, turned, strips, units, target: &target, scratch });
            Ok(progress.step(0)?)
        })
    }
}

/// Some units of a pass: a chunk of some lines each.
struct Units<'a, T> {
    pass: Pass<'a, T>,
    /// Whether a unit is some short lines, which are turned first, so that they lie side by side.
    turned: bool,
    /// How many units there are side by side.
    strips: usize,
    units: Range<usize>,
    target: &'a SharedOutput<'a, T>,
    /// Of [`SCRATCH`] elements.
    scratch: &'a mut [T],
}

/// Lanes, and lines of both inputs that are turned.
const SCRATCH: usize = LANES * WIDTH + 2 * SHORT_LINE * SHORT_LINES;

impl<T: Real> Loops for Units<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Pass { op, takes, lines: Lines { inner, length, outer }, inputs } = self.pass;
        let chunks = self.pass.lines.chunks();
        let (lanes, turned) = self.scratch.split_at_mut(LANES * WIDTH);
        for unit in self.units {
            let (slices, results, width, apart): ([&[T]; 2], _, _, _);
            if self.turned {
                let lines = unit * SHORT_LINES..((unit + 1) * SHORT_LINES).min(outer);
                (width, apart) = (lines.len(), lines.len());
                let (first, second) = turned.split_at_mut(SHORT_LINE * SHORT_LINES);
                turn(&inputs[0][lines.start * length..lines.end * length], length, first);
                if op.of_two() {
                    turn(&inputs[1][lines.start * length..lines.end * length], length, second);
                }
                let first = &first[..width * length];
                slices = [first, if op.of_two() { &second[..width * length] } else { first }];
                results = lines;
            } else {
                let (strip, chunk) = (unit % self.strips, unit / self.strips);
                let of_strip = strip * WIDTH..((strip + 1) * WIDTH).min(inner);
                let (chunk, line) = (chunk % chunks, chunk / chunks);
                let rows = line * length + chunk * CHUNK..line * length + ((chunk + 1) * CHUNK).min(length);
                let elements = match rows.len() {
                    0 => 0..0,
                    _ => rows.start * inner + of_strip.start..(rows.end - 1) * inner + of_strip.end,
                };
                slices = inputs.map(|input| &input[elements.clone()]);
                (width, apart) = (of_strip.len(), inner);
                let first = (line * chunks + chunk) * inner;
                results = first + of_strip.start..first + of_strip.end;
            }
            let lanes = &mut lanes[..LANES * width];
            lanes.fill(op.start());
            take_rows(op, takes, slices, width, apart, lanes);
            for half in [16, 8, 4, 2, 1] {
                let (lanes, others) = lanes.split_at_mut(half * width);
                join(op, lanes, &others[..half * width]);
            }
            // SAFETY: no other unit has these results.
            unsafe { self.target.places(results) }.copy_from_slice(&lanes[..width]);
        }
    }
}

/// Turns lines of so many elements, so that they lie side by side.
#[inline(always)]
fn turn<T: Real>(lines: &[T], length: usize, to: &mut [T]) {
    if length == 0 {
        return;
    }
    let count = lines.len() / length;
    for (i, line) in lines.chunks_exact(length).enumerate() {
        to[i..].iter_mut().step_by(count).zip(line).for_each(|(to, &from)| *to = from);
    }
}

/// Takes, or joins, a chunk of `width` lines side by side into as many lanes of each number. The rows are `apart`.
#[inline(always)]
fn take_rows<T: Real>(op: Reduction, takes: bool, inputs: [&[T]; 2], width: usize, apart: usize, lanes: &mut [T]) {
    if let (1, Ok(lanes)) = (apart, <&mut [T; LANES]>::try_from(&mut *lanes)) {
        return take_line(op, takes, inputs, lanes);
    }
    // Where no rows are left out between, those of all lanes are neighbours, as the lanes are.
    let (run, step) = if width == apart { (LANES * width, LANES * width) } else { (width, apart) };
    let [a, b] = inputs;
    for (number, start) in (0..a.len()).step_by(step).enumerate() {
        let elements = start..(start + run).min(a.len());
        let lane = if width == apart { 0 } else { number % LANES };
        let lanes = &mut lanes[lane * width..][..elements.len()];
        if takes {
            take(op, lanes, &a[elements.clone()], &b[elements]);
        } else {
            join(op, lanes, &a[elements]);
        }
    }
}

/// Takes, or joins, a chunk of neighbours. The lanes stay in registers.
#[inline(always)]
fn take_line<T: Real>(op: Reduction, takes: bool, [a, b]: [&[T]; 2], lanes: &mut [T; LANES]) {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut in_registers = *lanes;
    if takes {
        settled!(
            op,
            Reduction { Sum, Dot, SumOfMagnitudes, Min, Max, LargestMagnitude, Any, All, Differ },
            OP => for (a, b) in a.iter().zip(b) {
                for ((lane, &a), &b) in in_registers.iter_mut().zip(a).zip(b) {
                    *lane = OP.take(*lane, a, b);
                }
            }
        );
    } else {
        settled!(
            op,
            Reduction { Sum, Dot, SumOfMagnitudes, Min, Max, LargestMagnitude, Any, All, Differ },
            OP => for a in a {
                for (lane, &a) in in_registers.iter_mut().zip(a) {
                    *lane = OP.join(*lane, a);
                }
            }
        );
    }
    *lanes = in_registers;
    if takes {
        take(op, &mut lanes[..a_rest.len()], a_rest, b_rest);
    } else {
        join(op, &mut lanes[..a_rest.len()], a_rest);
    }
}

/// Each lane takes an element.
#[inline(always)]
fn take<T: Real>(op: Reduction, lanes: &mut [T], a: &[T], b: &[T]) {
    settled!(
        op,
        Reduction { Sum, Dot, SumOfMagnitudes, Min, Max, LargestMagnitude, Any, All, Differ },
        OP => for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
            *lane = OP.take(*lane, a, b);
        }
    );
}

/// Each lane is joined by another number.
#[inline(always)]
fn join<T: Real>(op: Reduction, lanes: &mut [T], others: &[T]) {
    settled!(
        op,
        Reduction { Sum, Dot, SumOfMagnitudes, Min, Max, LargestMagnitude, Any, All, Differ },
        OP => for (lane, &other) in lanes.iter_mut().zip(others) {
            *lane = OP.join(*lane, other);
        }
    );
}

/// Places of a section along its first dimension.
struct Run {
    start: usize,
    step: isize,
    len: usize,
}

impl Run {
    fn places(&self) -> impl Iterator<Item = usize> {
        let (start, step) = (self.start, self.step);
        (0..self.len as isize).map(move |i| start.wrapping_add_signed(i * step))
    }
}

/// Calls `work` for the places with these numbers, a run at a time: with the number of its first one.
fn each_run(section: &Section, numbers: Range<usize>, mut work: impl FnMut(usize, Run)) {
    let (size, steps) = (&section.size, &section.steps);
    let mut rest = numbers.start;
    let mut index: [usize; RANK] = std::array::from_fn(|d| {
        let index = rest % size[d];
        rest /= size[d];
        index
    });
    let mut number = numbers.start;
    while number < numbers.end {
        let along = (0..RANK).map(|d| index[d] as isize * steps[d]).sum();
        let len = (size[0] - index[0]).min(numbers.end - number);
        work(number, Run { start: section.start.wrapping_add_signed(along), step: steps[0], len });
        number += len;
        index[0] = 0;
        for d in 1..RANK {
            index[d] += 1;
            if index[d] < size[d] {
                break;
            }
            index[d] = 0;
        }
    }
}

/// Whether no place comes twice, as far as the steps show: each is longer than all smaller ones together reach.
fn is_injective(section: &Section) -> bool {
    let mut along: [(usize, usize); RANK] = std::array::from_fn(|d| (section.steps[d].unsigned_abs(), section.size[d]));
    along.sort_unstable();
    let mut reach = 0_usize;
    along.into_iter().filter(|&(_, size)| size > 1).all(|(step, size)| {
        let is_longer = step > reach;
        reach = reach.saturating_add(step.saturating_mul(size - 1));
        is_longer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_meet_themselves_are_found() {
        let section = |size: [usize; 3], steps: [isize; 3]| {
            let (size, steps) = ([size[0], size[1], size[2], 1, 1], [steps[0], steps[1], steps[2], 0, 0]);
            is_injective(&Section { start: 1000, size, steps })
        };
        assert!(section([5, 4, 3], [1, 5, 20]) && section([5, 4, 3], [-12, 3, 1]) && section([1, 9, 1], [0, -2, 0]));
        assert!(!section([5, 4, 3], [1, 4, 20]) && !section([5, 1, 1], [0, 0, 0]) && !section([3, 3, 1], [2, -2, 0]));
    }
}
