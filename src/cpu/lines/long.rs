//! Long filters along lines.
//!
//! Each line is divided into strips of equal length. Strips, one for each lane of two vectors, are copied side by side,
//! with the samples around them and their ghost values: row `j` of the copy has sample `j` of each strip. So all
//! vectors are full and aligned, however far apart the elements of a line are; and a sample in a register serves
//! several rows of outputs.
//!
//! The taps are processed some at a time, so that the samples under them stay in the first-level cache. Each sum is
//! continued, in the same chain.

use std::ops::Range;

use super::operators::MAX_RADIUS;
use crate::cpu::simd::{self, Instructions, Lanes, Loops, Vector, VectorWork};
use crate::cpu::tasks::{self, Progress, STEP};
use crate::host::{self, SharedOutput};
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{Ends, Error, Lines};

/// Maximum number of taps of an ordinary filter; longer ones are handled here.
pub(super) const MAX_SHORT_TAPS: usize = 2 * MAX_RADIUS;

/// Rows of outputs computed at once, and vectors of each: their sums, a row of samples and a tap take 15 registers.
const ROWS: usize = 6;
const VECTORS: usize = 2;

/// Maximum number of lanes of two vectors.
const MAX_LANES: usize = 32;

/// Maximum number of rows of a strip: successive strips are not a multiple of a page apart, at which they would evict
/// each other from the cache.
const STRIP: usize = 85 * ROWS;

/// Number of taps processed at once: the samples under them take half of the first-level cache.
const TAPS: usize = 256;

/// Alignment of copies.
const LINE_BYTES: usize = 64;

/// Sweeps of a long filter along the lines of an array.
pub(super) struct Filtered<'a, T> {
    instructions: Instructions,
    taps: &'a [T],
    lines: Lines,
    ends: Ends<T>,
    /// Number of strips side by side.
    lanes: usize,
}

/// Division of lines into strips. Strips are numbered so that neighbours are in neighbouring lines, if there are
/// several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Strips {
    /// Rows of each, some of which may be beyond the line's end.
    rows: usize,
    /// Number of all strips.
    count: usize,
}

impl Strips {
    /// Chooses strips so long that the copies are cheap relative to the work, in equal numbers for every thread.
    fn choose(lines: Lines, lanes: usize, threads: usize) -> Strips {
        let (all, length) = (lines.count(), lines.length());
        let (mut parts, at_once) = (length.div_ceil(STRIP), lanes * threads);
        if all * parts < 4 * at_once {
            parts = ((all * parts).next_multiple_of(at_once) / all).clamp(1, length);
        }
        let rows = length.div_ceil(parts).next_multiple_of(ROWS);
        Strips { rows, count: all * length.div_ceil(rows) }
    }
}

/// Buffers that a thread keeps between two tiles: the copy of the samples, and the sums.
struct Scratch<T>([Vec<T>; 2]);

impl<T> Default for Scratch<T> {
    fn default() -> Scratch<T> {
        Scratch([Vec::new(), Vec::new()])
    }
}

/// Returns `len` elements that begin at a cache line.
fn aligned<T: Lanes>(of: &mut Vec<T>, len: usize) -> Result<&mut [T], Error> {
    memory::enlarge(of, len + LINE_BYTES / size_of::<T>(), "the samples under the filter")?;
    let first = of.as_ptr().addr().next_multiple_of(LINE_BYTES) - of.as_ptr().addr();
    Ok(&mut of[first / size_of::<T>()..][..len])
}

/// A strip: the start of its line in the array, and its first row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Strip {
    line: usize,
    first: usize,
}

impl<'a, T: Lanes> Filtered<'a, T> {
    pub(super) fn new(instructions: Instructions, taps: &'a [T], lines: Lines, ends: Ends<T>) -> Filtered<'a, T> {
        Filtered { instructions, taps, lines, ends, lanes: VECTORS * simd::lanes::<T>(instructions) }
    }

    /// Does `sweeps` sweeps from `input` to `output`.
    pub(super) fn run(&self, sweeps: usize, input: &[T], output: &mut [T], watch: &Watch) -> Result<(), Error> {
        if sweeps == 0 || input.is_empty() {
            return host::copy(input, output, watch);
        }
        watch.check()?;
        let threads = tasks::threads(input.len().saturating_mul(self.taps.len()));
        self.run_in(Strips::choose(self.lines, self.lanes, threads), threads, sweeps, input, output, watch)
    }

    fn run_in(
        &self,
        strips: Strips,
        threads: usize,
        sweeps: usize,
        input: &[T],
        output: &mut [T],
        watch: &Watch,
    ) -> Result<(), Error> {
        let work = (strips.rows * self.lanes).saturating_mul(self.taps.len());
        host::ping_pong(input, output, sweeps, |_, input, output| {
            let target = SharedOutput::new(output);
            tasks::run(
                strips.count.div_ceil(self.lanes),
                threads,
                (STEP / work.max(1)).max(1),
                watch,
                |number, scratch: &mut Scratch<T>, progress| {
                    let first = number * self.lanes;
                    let of_tile = first..(first + self.lanes).min(strips.count);
                    self.tile(strips.rows, of_tile, input, &target, scratch, progress)
                },
            )
        })
    }

    /// Computes some strips, at most one for each lane.
    fn tile(
        &self,
        rows: usize,
        strips: Range<usize>,
        input: &[T],
        target: &SharedOutput<T>,
        Scratch([samples, sums]): &mut Scratch<T>,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let lanes = self.lanes;
        let samples = aligned(samples, (rows + self.taps.len() - 1) * lanes)?;
        let sums = aligned(sums, rows * lanes)?;
        let (inner, all) = (self.lines.inner(), self.lines.count());
        let mut of_lanes = [Strip::default(); MAX_LANES];
        for (lane, strip) in of_lanes[..lanes].iter_mut().enumerate() {
            // Spare lanes repeat the last strip, and their results are ignored.
            let number = (strips.start + lane).min(strips.end - 1);
            let line = number % all;
            let line = line % inner + inner * self.lines.length() * (line / inner);
            *strip = Strip { line, first: number / all * rows };
        }
        self.gather(&of_lanes[..lanes], input, samples);
        sums.fill(T::default());
        // Parts of about equal size: a few taps left over would take as long as a full part's rows.
        let at_once = self.taps.len().div_ceil(self.taps.len().div_ceil(TAPS));
        for (number, taps) in self.taps.chunks(at_once).enumerate() {
            let first = number * at_once * lanes;
            let samples = &samples[first..][..sums.len() + (taps.len() - 1) * lanes];
            compute(self.instructions, samples, taps, sums);
            progress.step(0)?;
        }
        let computed = self.scatter(&of_lanes[..strips.len()], rows, sums, target);
        Ok(progress.step(computed)?)
    }

    /// Copies the samples of each strip, and those around it, to its lane.
    fn gather(&self, strips: &[Strip], input: &[T], to: &mut [T]) {
        let (inner, length, lanes) = (self.lines.inner(), self.lines.length(), strips.len());
        let before = (self.taps.len() - 1) / 2;
        let rows = to.len() / lanes;
        // Rows that are inside the array in all strips.
        let start = strips.iter().map(|strip| before.saturating_sub(strip.first)).max().unwrap_or(0).min(rows);
        let end = strips.iter().map(|strip| (length + before - strip.first).min(rows)).min().unwrap_or(0).max(start);
        let inside = &mut to[start * lanes..end * lanes];
        let place = |strip: &Strip| strip.line + inner * (strip.first + start - before);
        // With a smaller `inner`, consecutive lines of one element are in different blocks.
        if inner >= lanes && are_beside(strips) {
            let from = input[place(&strips[0])..].chunks(inner);
            inside.chunks_exact_mut(lanes).zip(from).for_each(|(to, from)| to.copy_from_slice(&from[..lanes]));
        } else if !inside.is_empty() {
            let mut from: [&[T]; MAX_LANES] = [&[]; MAX_LANES];
            from.iter_mut().zip(strips).for_each(|(from, strip)| *from = &input[place(strip)..]);
            simd::run(self.instructions, Gathered { from: &from[..lanes], step: inner, to: inside });
        }
        for (lane, strip) in strips.iter().enumerate() {
            for row in (0..start).chain(end..rows) {
                let found = self.ends.sample_at((strip.first + row) as isize - before as isize, length);
                to[row * lanes + lane] =
                    found.map_or_else(|constant| constant, |sample| input[strip.line + inner * sample]);
            }
        }
    }

    /// Writes the sums of each strip to the array, except those beyond the line's end; returns their number.
    fn scatter(&self, strips: &[Strip], rows: usize, sums: &[T], target: &SharedOutput<T>) -> usize {
        let (inner, length, lanes) = (self.lines.inner(), self.lines.length(), self.lanes);
        let rows_of = |strip: &Strip| rows.min(length - strip.first);
        if are_beside(strips) {
            for (row, sums) in sums.chunks_exact(lanes).enumerate().take(rows_of(&strips[0])) {
                let first = strips[0].line + inner * (strips[0].first + row);
                // SAFETY: elements of these strips, which no other tile has; here and below.
                unsafe { target.places(first..first + strips.len()) }.copy_from_slice(&sums[..strips.len()]);
            }
        } else if inner == 1 {
            for (lane, strip) in strips.iter().enumerate() {
                let first = strip.line + strip.first;
                // SAFETY: as above.
                let places = unsafe { target.places(first..first + rows_of(strip)) };
                places.iter_mut().zip(sums.chunks_exact(lanes)).for_each(|(to, sums)| *to = sums[lane]);
            }
        } else {
            for (row, sums) in sums.chunks_exact(lanes).enumerate() {
                for (strip, &sum) in strips.iter().zip(sums).filter(|(strip, _)| row < rows_of(strip)) {
                    let place = strip.line + inner * (strip.first + row);
                    // SAFETY: as above.
                    unsafe { target.places(place..place + 1) }.fill(sum);
                }
            }
        }
        strips.iter().map(rows_of).sum()
    }
}

/// Interleaves slices into rows of one element each: those of each slice that are `step` apart.
struct Gathered<'a, 'b, T> {
    from: &'a [&'b [T]],
    step: usize,
    to: &'a mut [T],
}

impl<T: Lanes> Loops for Gathered<'_, '_, T> {
    #[inline(always)]
    fn run(self) {
        match self.from.len() {
            // Lane counts of vectors, as constants for the compiler.
            4 => self.lanes::<4>(),
            8 => self.lanes::<8>(),
            16 => self.lanes::<16>(),
            32 => self.lanes::<32>(),
            _ => self.lanes::<2>(),
        }
    }
}

impl<T: Lanes> Gathered<'_, '_, T> {
    #[inline(always)]
    fn lanes<const LANES: usize>(self) {
        let Gathered { from, step, to } = self;
        let from: [&[T]; LANES] = std::array::from_fn(|lane| from[lane]);
        let rows = to.len() / LANES;
        let last = (rows - 1) * step;
        assert!(from.iter().all(|from| from.len() > last));
        for (row, to) in to.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            for (to, from) in to.iter_mut().zip(&from) {
                // SAFETY: each is longer than `last`.
                *to = unsafe { *from.get_unchecked(row * step) };
            }
        }
    }
}

/// True if the rows of these strips are contiguous in the array.
fn are_beside(strips: &[Strip]) -> bool {
    strips.windows(2).all(|pair| pair[1] == Strip { line: pair[0].line + 1, ..pair[0] })
}

/// Continues every sum with these taps: sum `i` by `fma(samples[i + k * lanes], taps[k], sum)` for each `k`.
///
/// # Panics
/// If there are too few samples, or sums that are no multiple of [`ROWS`] rows.
fn compute<T: Lanes>(instructions: Instructions, samples: &[T], taps: &[T], sums: &mut [T]) {
    let lanes = VECTORS * simd::lanes::<T>(instructions);
    assert!(taps.len() >= ROWS && sums.len().is_multiple_of(ROWS * lanes));
    assert_eq!(samples.len(), sums.len() + (taps.len() - 1) * lanes);
    simd::compute(instructions, Sums { samples, taps, sums });
}

/// Work of [`compute`], which has compared the lengths.
struct Sums<'a, T> {
    samples: &'a [T],
    taps: &'a [T],
    sums: &'a mut [T],
}

impl<T: Lanes> VectorWork<T> for Sums<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        let Sums { samples, taps, sums } = self;
        let (lanes, last) = (VECTORS * V::LANES, taps.len() - 1);
        for (block, sums) in sums.chunks_exact_mut(ROWS * lanes).enumerate() {
            let (sums, samples) = (sums.as_mut_ptr(), samples[block * ROWS * lanes..].as_ptr());
            let mut acc = [[V::splat(set, T::default()); VECTORS]; ROWS];
            for (row, acc) in acc.iter_mut().enumerate() {
                for (v, acc) in acc.iter_mut().enumerate() {
                    // SAFETY: `sums` has this many rows of vectors.
                    *acc = unsafe { V::load(set, sums.add(row * lanes + v * V::LANES)) };
                }
            }
            // The first rows of samples are under the taps of the first outputs only, the last ones under those of the
            // last outputs.
            for at in 0..ROWS - 1 {
                // SAFETY: there are `ROWS + last` rows of samples, and at least `ROWS` taps; here and below.
                unsafe { under::<T, V>(set, samples, taps, at, 0..at + 1, &mut acc) };
            }
            for at in ROWS - 1..last + 1 {
                // SAFETY: as above.
                unsafe { under::<T, V>(set, samples, taps, at, 0..ROWS, &mut acc) };
            }
            for behind in 1..ROWS {
                // SAFETY: as above.
                unsafe { under::<T, V>(set, samples, taps, last + behind, behind..ROWS, &mut acc) };
            }
            for (row, acc) in acc.iter().enumerate() {
                for (v, acc) in acc.iter().enumerate() {
                    // SAFETY: as for the loads.
                    unsafe { acc.store(sums.add(row * lanes + v * V::LANES)) };
                }
            }
        }
    }
}

/// Adds the products of row `at` of samples to these rows of sums.
///
/// # Safety
/// There must be such a row, and taps `at - row` for each of the rows.
#[inline(always)]
unsafe fn under<T: Lanes, V: Vector<Element = T>>(
    set: V::Set,
    samples: *const T,
    taps: &[T],
    at: usize,
    rows: Range<usize>,
    acc: &mut [[V; VECTORS]; ROWS],
) {
    let mut row_of_samples = [V::splat(set, T::default()); VECTORS];
    for (v, sample) in row_of_samples.iter_mut().enumerate() {
        // SAFETY: the caller's promise; here and below.
        *sample = unsafe { V::load(set, samples.add((at * VECTORS + v) * V::LANES)) };
    }
    for (row, acc) in acc.iter_mut().enumerate() {
        if rows.contains(&row) {
            // SAFETY: as above.
            let tap = V::splat(set, unsafe { *taps.get_unchecked(at - row) });
            for (acc, sample) in acc.iter_mut().zip(row_of_samples) {
                *acc = sample.fma(tap, *acc);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::lines::tests::{boundaries, filtered, right};
    use crate::cpu::simd::Level;
    use crate::selection;
    use crate::stencil::Real;

    /// The result is that of the whole for any division into strips: lines shorter and longer than the filter, side by
    /// side and one after the other, more and fewer of them than lanes.
    #[test]
    fn strips_agree() {
        selection::begin();
        for (inner, length, outer) in [
            (1, 1, 1),
            (1, 700, 1),
            (3, 40, 7),
            (1, 9, 37),
            (70, 23, 2),
            (33, 130, 1),
            (8, 1, 5),
            (1, 1, 75),
            (3, 1, 50),
        ] {
            let lines = Lines::strided(inner, length, outer);
            let mut input: Vec<f64> = (0..lines.elements()).map(|i| (i as f64).sin()).collect();
            for (at, awkward) in [f64::NAN, f64::INFINITY, -0.0, 1e-310].into_iter().enumerate() {
                let place = (at + 1) * input.len() / 7;
                input[place] = awkward;
            }
            for taps in [MAX_SHORT_TAPS + 1, MAX_SHORT_TAPS + 2, TAPS, TAPS + 1, 2 * TAPS + 1] {
                let entries: Vec<f64> = (0..taps).map(|k| (k as f64 + 0.5).cos() / taps as f64).collect();
                for (number, ends) in boundaries().into_iter().enumerate() {
                    // Each with a selection of the lines and taps.
                    if (number + taps + length) % 3 != 0
                        || !selection::takes(&format!("{lines:?} {taps} {number}"), &[&lines, &taps, &number])
                    {
                        continue;
                    }
                    let sweeps = if taps < TAPS && number % 2 == 0 { 2 } else { 1 };
                    let expected = right(&filtered(lines, ends, &entries, sweeps), &input);
                    for instructions in Level::ALL.into_iter().filter_map(Level::detect) {
                        let all = Filtered::new(instructions, &entries, lines, ends);
                        for rows in [ROWS, 5 * ROWS, length.next_multiple_of(ROWS), STRIP] {
                            let strips = Strips { rows, count: lines.count() * length.div_ceil(rows) };
                            let (mut output, watch) = (vec![f64::NAN; input.len()], Watch::new());
                            all.run_in(strips, 2, sweeps, &input, &mut output, &watch).unwrap();
                            let what =
                                format!("{lines:?} by {taps}, {ends:?}, {rows} rows, {}", instructions.level().name());
                            assert!(output.iter().zip(&expected).all(|(a, &b)| a.same(b)), "{what}");
                            assert_eq!(watch.done(), (input.len() * sweeps) as u64, "{what}");
                        }
                    }
                }
            }
        }
    }

    /// Vectors of singles have twice as many lanes.
    #[test]
    fn strips_in_single_agree() {
        for (inner, length, outer) in [(1, 900, 1), (5, 70, 9), (40, 90, 1)] {
            let lines = Lines::strided(inner, length, outer);
            let input: Vec<f32> = (0..lines.elements()).map(|i| (i as f32).sin()).collect();
            for taps in [MAX_SHORT_TAPS + 1, TAPS + 30] {
                let entries: Vec<f32> = (0..taps).map(|k| (k as f32 + 0.5).cos() / taps as f32).collect();
                let expected = right(&filtered(lines, Ends::default(), &entries, 2), &input);
                for instructions in Level::ALL.into_iter().filter_map(Level::detect) {
                    let mut output = vec![f32::NAN; input.len()];
                    let all = Filtered::new(instructions, &entries, lines, Ends::default());
                    all.run(2, &input, &mut output, &Watch::new()).unwrap();
                    assert!(output.iter().zip(&expected).all(|(a, &b)| a.same(b)), "{lines:?} by {taps}");
                }
            }
        }
    }

    /// Strips cover any lines, none is empty, and every thread has some if there is enough work.
    #[test]
    fn chosen_strips_fit() {
        for inner in [1, 2, 7, 64, 100_000] {
            for length in [1, 2, 6, 41, 510, 511, 2049, 32_768, 1_000_000] {
                for outer in [1, 2, 100, 10_000] {
                    for (lanes, threads) in [(2, 1), (8, 2), (8, 64), (32, 64)] {
                        let lines = Lines::strided(inner, length, outer);
                        let strips = Strips::choose(lines, lanes, threads);
                        let what = format!("{lines:?}, {lanes} lanes, {threads} threads: {strips:?}");
                        let parts = strips.count / lines.count();
                        assert_eq!(strips.count, parts * lines.count(), "{what}");
                        assert!(strips.rows.is_multiple_of(ROWS) && (ROWS..=STRIP).contains(&strips.rows), "{what}");
                        assert!(((parts - 1) * strips.rows..parts * strips.rows).contains(&(length - 1)), "{what}");
                        let tiles = strips.count.div_ceil(lanes);
                        assert!(2 * tiles >= threads || strips.rows == ROWS || lines.elements() < 1 << 16, "{what}");
                    }
                }
            }
        }
    }
}
