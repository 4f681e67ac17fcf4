//! Smallest or largest elements along lines, with their places.

use std::ops::Range;

use super::{in_pieces, threads};
use crate::cpu::simd::{self, Instructions, Lanes, Loops};
use crate::cpu::tasks::{self, STEP};
use crate::host::SharedOutput;
use crate::platform::memory;
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::{Array, Error, Extreme, LANES, Real};

/// Number of neighbouring lines that are searched side by side, if a line's elements are not contiguous.
const WIDTH: usize = 128;

/// Finds the places in `inner x length x outer` elements along the middle; copies the elements there to `to`.
pub(super) fn run<T: Lanes>(
    instructions: Instructions,
    which: Extreme,
    input: &[T],
    [inner, length, outer]: [usize; 3],
    to: &mut [T],
    watch: &Watch,
) -> Result<Array<u64>, Error> {
    assert_eq!([input.len(), to.len()], [inner * length * outer, inner * outer]);
    watch.check()?;
    let mut places = Array::<u64>::in_memory(to.len())?;
    let numbers: &mut [u64] = places.held_mut::<Pooled<u64>>()?;
    if input.is_empty() {
        numbers.fill(0);
        to.fill(T::from_f64(f64::NAN));
        return Ok(places);
    }
    // First the places in some rows of each line, which are then compared.
    let strips = inner.div_ceil(WIDTH);
    let rows = (STEP / inner.min(WIDTH)).min(length);
    let parts = length.div_ceil(rows);
    let mut of_parts: Vec<u64> = memory::zeros(inner * parts * outer, "places in parts of lines")?;
    let search = Search { which, input, inner, length, rows, parts };
    let target = SharedOutput::new(&mut of_parts);
    let units = strips * parts * outer;
    let at_once = (STEP / input.len().div_ceil(units)).max(1);
    tasks::run(units.div_ceil(at_once), threads(input.len()), 1, watch, |number, _: &mut (), progress| {
        let units = number * at_once..((number + 1) * at_once).min(units);
        simd::run(instructions, Units { search, units, target: &target });
        Ok(progress.step(0)?)
    })?;
    drop(target);
    let target = SharedOutput::new(numbers);
    let quiet = &Watch::new();
    in_pieces(to, quiet, |piece, to| {
        // SAFETY: no other piece has these places.
        let numbers = unsafe { target.places(piece.clone()) };
        for ((line, to), place) in piece.zip(to).zip(numbers) {
            let (column, k) = (line % inner, line / inner);
            let at = |place: u64| input[(k * length + place as usize) * inner + column];
            let mut found = (0..parts).map(|part| of_parts[(k * parts + part) * inner + column]);
            let first = found.next().unwrap_or(0);
            *place = found.fold(first, |best, place| if which.prefers(at(place), at(best)) { place } else { best });
            *to = at(*place);
        }
    })?;
    drop(target);
    Ok(places)
}

#[derive(Clone, Copy)]
struct Search<'a, T> {
    which: Extreme,
    input: &'a [T],
    inner: usize,
    length: usize,
    /// Number of rows in a part.
    rows: usize,
    parts: usize,
}

/// Units of a search: each a part of one line, or of neighbouring ones.
struct Units<'a, T> {
    search: Search<'a, T>,
    units: Range<usize>,
    target: &'a SharedOutput<'a, u64>,
}

impl<T: Real> Loops for Units<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Search { which, input, inner, length, rows, parts } = self.search;
        let strips = inner.div_ceil(WIDTH);
        let (mut best, mut places) = ([T::default(); WIDTH], [0; WIDTH]);
        for unit in self.units {
            let (strip, part) = (unit % strips, unit / strips);
            let strip = strip * WIDTH..((strip + 1) * WIDTH).min(inner);
            let (part, line) = (part % parts, part / parts);
            let rows = part * rows..((part + 1) * rows).min(length);
            let first = (line * parts + part) * inner + strip.start;
            // SAFETY: no other unit has these places.
            let to = unsafe { self.target.places(first..first + strip.len()) };
            let first = (line * length + rows.start) * inner + strip.start;
            if inner == 1 {
                // Each lane takes every 32nd element.
                let input = &input[first..first + rows.len()];
                let lanes = input.len().min(LANES);
                settled!(which, Extreme { Smallest, Largest }, OP => {
                    for (number, row) in input.chunks(LANES).enumerate() {
                        take_row(OP, number, row, &mut best, &mut places);
                    }
                });
                let place = |lane: usize| places[lane] * LANES as u64 + lane as u64;
                let better = |a: usize, b: usize| {
                    let equal = !which.prefers(best[b], best[a]) && place(a) < place(b);
                    which.prefers(best[a], best[b]) || equal
                };
                let lane = (1..lanes).fold(0, |b, a| if better(a, b) { a } else { b });
                to[0] = rows.start as u64 + place(lane);
                continue;
            }
            settled!(which, Extreme { Smallest, Largest }, OP => {
                for row in 0..rows.len() {
                    take_row(OP, row, &input[first + row * inner..][..strip.len()], &mut best, &mut places);
                }
            });
            to.iter_mut().zip(&places).for_each(|(to, place)| *to = rows.start as u64 + place);
        }
    }
}

/// Compares a row with the best of each column so far; the first row initialises it.
#[inline(always)]
fn take_row<T: Real>(which: Extreme, number: usize, row: &[T], best: &mut [T; WIDTH], places: &mut [u64; WIDTH]) {
    if number == 0 {
        best[..row.len()].copy_from_slice(row);
        places[..row.len()].fill(0);
        return;
    }
    for ((&x, best), place) in row.iter().zip(best).zip(places) {
        let better = which.prefers(x, *best);
        *best = if better { x } else { *best };
        *place = if better { number as u64 } else { *place };
    }
}
