//! Running sums and products along lines, in the documented order: groups, then chunks.
//!
//! Lines of several chunks are read twice: for the total of each chunk, and, once those have been scanned, for the
//! results.

use std::ops::Range;

use super::threads;
use crate::cpu::simd::{self, Instructions, Lanes, Loops};
use crate::cpu::tasks::{self, STEP};
use crate::host::SharedOutput;
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{CHUNK, Error, LANES, Real, Scan};

/// Number of neighbouring lines that are scanned side by side, if a line's elements are not contiguous.
const WIDTH: usize = 128;

/// Number of groups of a line scanned at once: each addition depends only on the one before it in its own group.
const ABREAST: usize = 8;

const PURPOSE: &str = "what is left of chunks";

/// Scans `inner x length x outer` elements along the middle. `counted` is true if the elements count as updates.
pub(super) fn run<T: Lanes>(
    instructions: Instructions,
    op: Scan,
    input: &[T],
    [inner, length, outer]: [usize; 3],
    output: &mut [T],
    counted: bool,
    watch: &Watch,
) -> Result<(), Error> {
    assert_eq!([input.len(), output.len()], [inner * length * outer; 2]);
    watch.check()?;
    if output.is_empty() {
        return Ok(());
    }
    let chunks = length.div_ceil(CHUNK);
    let pass = Pass { op, input, inner, length, chunks, outer, ahead: None, only_lasts: false };
    if chunks == 1 {
        return pass.run(instructions, output, counted, watch);
    }
    let mut lasts = memory::zeros(inner * chunks * outer, PURPOSE)?;
    Pass { only_lasts: true, ..pass }.run(instructions, &mut lasts, false, watch)?;
    let mut ahead = memory::zeros(lasts.len(), PURPOSE)?;
    run(instructions, op, &lasts, [inner, chunks, outer], &mut ahead, false, watch)?;
    Pass { ahead: Some(&ahead), ..pass }.run(instructions, output, counted, watch)
}

/// A pass over all chunks.
#[derive(Clone, Copy)]
struct Pass<'a, T> {
    op: Scan,
    input: &'a [T],
    inner: usize,
    length: usize,
    /// Number of chunks in a line.
    chunks: usize,
    outer: usize,
    /// Scan of the chunks' totals: `inner x chunks x outer` elements.
    ahead: Option<&'a [T]>,
    /// True if only the last result of each chunk is written: one element a chunk.
    only_lasts: bool,
}

impl<T: Lanes> Pass<'_, T> {
    fn run(self, instructions: Instructions, output: &mut [T], counted: bool, watch: &Watch) -> Result<(), Error> {
        let strips = self.inner.div_ceil(WIDTH);
        let units = strips * self.chunks * self.outer;
        let elements = self.input.len();
        let at_once = (STEP / elements.div_ceil(units)).max(1);
        let target = SharedOutput::new(output);
        tasks::run(units.div_ceil(at_once), threads(elements), 1, watch, |number, scratch: &mut Vec<T>, progress| {
            memory::enlarge(scratch, SCRATCH, "the lines of a scan")?;
            let units = number * at_once..((number + 1) * at_once).min(units);
            let mut done = 0;
            simd::run(instructions, Units { pass: self, units, target: &target, scratch, done: &mut done });
            Ok(progress.step(if counted { done } else { 0 })?)
        })
    }
}

/// Room for the results of a chunk, or for three rows.
const SCRATCH: usize = if CHUNK > 3 * WIDTH { CHUNK } else { 3 * WIDTH };

/// Units of a pass: each a chunk of one line, or of neighbouring ones.
struct Units<'a, T> {
    pass: Pass<'a, T>,
    units: Range<usize>,
    target: &'a SharedOutput<'a, T>,
    /// Scratch memory of [`SCRATCH`] elements.
    scratch: &'a mut [T],
    /// Number of elements scanned.
    done: &'a mut usize,
}

impl<T: Real> Loops for Units<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Pass { op, input, inner, length, chunks, ahead, only_lasts, .. } = self.pass;
        let strips = inner.div_ceil(WIDTH);
        for unit in self.units {
            let (strip, chunk) = (unit % strips, unit / strips);
            let strip = strip * WIDTH..((strip + 1) * WIDTH).min(inner);
            let (chunk, line) = (chunk % chunks, chunk / chunks);
            let rows = (length - chunk * CHUNK).min(CHUNK);
            let first = (line * length + chunk * CHUNK) * inner + strip.start;
            let last = (line * chunks + chunk) * inner + strip.start;
            let ahead = ahead.filter(|_| chunk > 0).map(|ahead| &ahead[last - inner..][..strip.len()]);
            *self.done += rows * strip.len();
            if inner == 1 {
                let input = &input[first..first + rows];
                let output = match only_lasts {
                    true => &mut self.scratch[..rows],
                    // SAFETY: no other unit has these places.
                    false => unsafe { self.target.places(first..first + rows) },
                };
                settled!(op, Scan { Sum, Product }, OP => scan_chunk(OP, input, ahead.map(|ahead| ahead[0]), output));
                if only_lasts {
                    // SAFETY: as above.
                    let last = unsafe { self.target.places(last..last + 1) };
                    last[0] = output[rows - 1];
                }
                continue;
            }
            let mut strip = Strip::new(self.scratch, strip.len());
            for row in 0..rows {
                let input = &input[first + row * inner..][..strip.width];
                settled!(op, Scan { Sum, Product }, OP => strip.take(OP, row, input));
                if only_lasts && row + 1 < rows {
                    continue;
                }
                let place = if only_lasts { last } else { first + row * inner };
                // SAFETY: as above.
                let output = unsafe { self.target.places(place..place + strip.width) };
                match ahead {
                    None => output.copy_from_slice(strip.results),
                    Some(ahead) => settled!(op, Scan { Sum, Product }, OP => {
                        output.copy_from_slice(ahead);
                        join(OP, output, strip.results);
                    }),
                }
            }
        }
    }
}

/// Chunks of neighbouring lines, row by row.
struct Strip<'a, T> {
    width: usize,
    /// Scan within the current group of each line.
    own: &'a mut [T],
    /// Total of the preceding groups of the chunk.
    groups: &'a mut [T],
    /// Both combined.
    results: &'a mut [T],
}

impl<'a, T: Real> Strip<'a, T> {
    #[inline(always)]
    fn new(scratch: &'a mut [T], width: usize) -> Strip<'a, T> {
        let (own, rest) = scratch.split_at_mut(width);
        let (groups, rest) = rest.split_at_mut(width);
        Strip { width, own, groups, results: &mut rest[..width] }
    }

    #[inline(always)]
    fn take(&mut self, op: Scan, row: usize, input: &[T]) {
        if row.is_multiple_of(LANES) {
            self.own.copy_from_slice(input);
            self.groups.copy_from_slice(self.results);
        } else {
            join(op, self.own, input);
        }
        if row < LANES {
            self.results.copy_from_slice(self.own);
        } else {
            self.results.copy_from_slice(self.groups);
            join(op, self.results, self.own);
        }
    }
}

/// Combines each element with the one that follows it.
#[inline(always)]
fn join<T: Real>(op: Scan, elements: &mut [T], others: &[T]) {
    elements.iter_mut().zip(others).for_each(|(element, &other)| *element = op.join(*element, other));
}

/// Scans a chunk of contiguous elements.
#[inline(always)]
fn scan_chunk<T: Real>(op: Scan, input: &[T], ahead: Option<T>, output: &mut [T]) {
    const SPAN: usize = ABREAST * LANES;
    let ((spans, rest), (to, to_rest)) = (input.as_chunks::<SPAN>(), output.as_chunks_mut::<SPAN>());
    for (input, output) in spans.iter().zip(to) {
        let mut own: [T; ABREAST] = std::array::from_fn(|group| input[group * LANES]);
        for (group, &own) in own.iter().enumerate() {
            output[group * LANES] = own;
        }
        for k in 1..LANES {
            for (group, own) in own.iter_mut().enumerate() {
                *own = op.join(*own, input[group * LANES + k]);
                output[group * LANES + k] = *own;
            }
        }
    }
    for (input, output) in rest.chunks(LANES).zip(to_rest.chunks_mut(LANES)) {
        let mut own = input[0];
        output[0] = own;
        for (output, &x) in output.iter_mut().zip(input).skip(1) {
            own = op.join(own, x);
            *output = own;
        }
    }
    let mut groups = output[output.len().min(LANES) - 1];
    for group in output.chunks_mut(LANES).skip(1) {
        group.iter_mut().for_each(|x| *x = op.join(groups, *x));
        groups = group[group.len() - 1];
    }
    if let Some(ahead) = ahead {
        output.iter_mut().for_each(|x| *x = op.join(ahead, *x));
    }
}
