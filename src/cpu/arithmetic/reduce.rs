//! Reductions along lines, in the documented order: lanes of a chunk, then chunks.

use std::ops::Range;

use super::threads;
use crate::cpu::simd::{self, Instructions, Lanes, Loops};
use crate::cpu::tasks::{self, STEP};
use crate::host::SharedOutput;
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{CHUNK, Error, LANES, Real, Reduction};

/// Number of neighbouring lines that are reduced side by side, if a line's elements are not contiguous: a kibibyte of
/// doubles of each row, and lanes that stay in the cache.
const WIDTH: usize = 128;

/// Shorter contiguous lines are reduced side by side, `SHORT_LINES` at once: alone they would leave most lanes unused.
const SHORT_LINE: usize = 64;
const SHORT_LINES: usize = 64;

/// Reduces `inner x length x outer` elements of one array, or of two, along the middle, to `inner x outer`.
pub(super) fn run<T: Lanes>(
    instructions: Instructions,
    op: Reduction,
    inputs: [&[T]; 2],
    [inner, length, outer]: [usize; 3],
    to: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    assert_eq!(inputs.map(|input| input.len()), [inner * length * outer; 2]);
    assert_eq!(to.len(), inner * outer);
    watch.check()?;
    let mut lines = Reduced { inner, length, outer };
    let mut results: Option<Vec<T>> = None;
    // Each pass reduces a chunk to one element; the first one takes elements, later ones join results.
    loop {
        let (inputs, takes) = match &results {
            None => (inputs, true),
            Some(results) => ([&results[..]; 2], false),
        };
        let pass = Pass { op, takes, lines, inputs };
        if lines.chunks() == 1 {
            return pass.run(instructions, to, watch);
        }
        let mut of_chunks = memory::zeros(inner * lines.chunks() * outer, "what is left of chunks")?;
        pass.run(instructions, &mut of_chunks, watch)?;
        lines.length = lines.chunks();
        results = Some(of_chunks);
    }
}

/// Dimensions of a reduction: `inner x length x outer` elements, each line along the middle.
#[derive(Clone, Copy)]
struct Reduced {
    inner: usize,
    length: usize,
    outer: usize,
}

impl Reduced {
    /// Number of chunks in a line; one for a line without elements, too.
    fn chunks(self) -> usize {
        self.length.div_ceil(CHUNK).max(1)
    }
}

/// A pass over all chunks, with one result for each.
#[derive(Clone, Copy)]
struct Pass<'a, T> {
    op: Reduction,
    /// True if elements are taken, false if results of chunks are joined.
    takes: bool,
    lines: Reduced,
    inputs: [&'a [T]; 2],
}

impl<T: Lanes> Pass<'_, T> {
    /// Writes `output`, of `inner x chunks x outer` elements. Counts no updates: no array is written.
    fn run(self, instructions: Instructions, output: &mut [T], watch: &Watch) -> Result<(), Error> {
        if output.is_empty() {
            return Ok(());
        }
        let lines = self.lines;
        // Lines side by side: neighbours if a line's elements are not contiguous, otherwise short lines, transposed.
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

/// Units of a pass: each a chunk of some lines.
struct Units<'a, T> {
    pass: Pass<'a, T>,
    /// True if a unit is a number of short lines, which are transposed first.
    turned: bool,
    /// Number of units side by side.
    strips: usize,
    units: Range<usize>,
    target: &'a SharedOutput<'a, T>,
    /// Scratch memory of [`SCRATCH`] elements.
    scratch: &'a mut [T],
}

/// Room for the lanes, and for transposed lines of both inputs.
const SCRATCH: usize = LANES * WIDTH + 2 * SHORT_LINE * SHORT_LINES;

impl<T: Real> Loops for Units<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Pass { op, takes, lines: Reduced { inner, length, outer }, inputs } = self.pass;
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

/// Transposes lines of `length` elements, so that they lie side by side.
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

/// Takes, or joins, a chunk of `width` lines side by side into `width` lanes of each index. Rows are `apart` elements
/// apart.
#[inline(always)]
fn take_rows<T: Real>(op: Reduction, takes: bool, inputs: [&[T]; 2], width: usize, apart: usize, lanes: &mut [T]) {
    if let (1, Ok(lanes)) = (apart, <&mut [T; LANES]>::try_from(&mut *lanes)) {
        return take_line(op, takes, inputs, lanes);
    }
    // If rows are contiguous, those of all lanes are neighbours, as the lanes are.
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

/// Takes, or joins, a chunk of contiguous elements. The lanes stay in registers.
#[inline(always)]
fn take_line<T: Real>(op: Reduction, takes: bool, [a, b]: [&[T]; 2], lanes: &mut [T; LANES]) {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut in_registers = *lanes;
    if takes {
        settled!(
            op,
            Reduction { Sum, Dot, SumOfMagnitudes, Product, Min, Max, LargestMagnitude, Any, All, Differ },
            OP => for (a, b) in a.iter().zip(b) {
                for ((lane, &a), &b) in in_registers.iter_mut().zip(a).zip(b) {
                    *lane = OP.take(*lane, a, b);
                }
            }
        );
    } else {
        settled!(
            op,
            Reduction { Sum, Dot, SumOfMagnitudes, Product, Min, Max, LargestMagnitude, Any, All, Differ },
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

/// Takes one element into each lane.
#[inline(always)]
fn take<T: Real>(op: Reduction, lanes: &mut [T], a: &[T], b: &[T]) {
    settled!(
        op,
        Reduction { Sum, Dot, SumOfMagnitudes, Product, Min, Max, LargestMagnitude, Any, All, Differ },
        OP => for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
            *lane = OP.take(*lane, a, b);
        }
    );
}

/// Joins another number to each lane.
#[inline(always)]
fn join<T: Real>(op: Reduction, lanes: &mut [T], others: &[T]) {
    settled!(
        op,
        Reduction { Sum, Dot, SumOfMagnitudes, Product, Min, Max, LargestMagnitude, Any, All, Differ },
        OP => for (lane, &other) in lanes.iter_mut().zip(others) {
            *lane = OP.join(*lane, other);
        }
    );
}
