//! Stencils along lines.
//!
//! # Tiles
//! An array of lines is seen as `inner x length x outer` elements: rows of `inner` neighbours, one for each place in a
//! line. A stencil takes row `j` from the rows around it, all elements of a row by the same steps; so rows are what the
//! vectors run along, and where `inner` is 1, neighbouring rows are neighbouring numbers, which comes to the same. The
//! array is cut into tiles: some columns of some rows.
//!
//! A single sweep computes the inside of a line straight from the array. Its two ends, and lines that are mostly ends,
//! go through a copy with what the boundary says around it. Many sweeps go through such copies too: a tile is copied
//! with so many rows around it that all sweeps of a pass can be done in the cache, on fewer rows each time; what
//! neighbouring tiles both need in between, both compute. What a tile holds at the true end of a line is padded anew
//! before every sweep.

use std::ops::Range;

use super::simd::{self, Instructions, Lanes, Operator, Vector};
use super::tasks::{self, Progress, STEP};
use crate::host::{self, SharedOutput};
use crate::memory;
use crate::stencil::{DERIVATIVE_RADIUS, Ends, Error, Lines, MAX_TAPS, Real, Taps};
use crate::watch::Watch;

/// The widest stencil reaches this far to either side.
const MAX_RADIUS: usize = MAX_TAPS / 2;

/// A stencil along lines.
pub(super) trait Stencil<T>: Sync {
    /// Samples on either side that an output needs, [`MAX_RADIUS`] at the most.
    fn radius(&self) -> usize;

    /// Multiply-adds an output.
    fn work(&self) -> usize;

    /// The outputs that have all their samples in `samples`, which are `step` apart: `2 * radius * step` more than
    /// `output`.
    fn compute(&self, instructions: Instructions, samples: &[T], step: usize, output: &mut [T]);
}

impl Stencil<f64> for Taps {
    fn radius(&self) -> usize {
        Taps::radius(self)
    }

    fn work(&self) -> usize {
        self.count()
    }

    fn compute(&self, instructions: Instructions, samples: &[f64], step: usize, output: &mut [f64]) {
        let taps = self.as_slice();
        match step {
            1 => simd::evaluate(instructions, &Correlation { samples, step: One, taps }, output),
            step => simd::evaluate(instructions, &Correlation { samples, step, taps }, output),
        }
    }
}

/// The factors of the differences `f(x + ih) - f(x - ih)`, from the nearest out.
pub(super) struct Differences<'a, T>(pub(super) &'a [T; DERIVATIVE_RADIUS]);

impl<T: Lanes> Stencil<T> for Differences<'_, T> {
    fn radius(&self) -> usize {
        DERIVATIVE_RADIUS
    }

    fn work(&self) -> usize {
        DERIVATIVE_RADIUS
    }

    fn compute(&self, instructions: Instructions, samples: &[T], step: usize, output: &mut [T]) {
        let coefficients = *self.0;
        match step {
            1 => simd::evaluate(instructions, &SumOfDifferences { samples, step: One, coefficients }, output),
            step => simd::evaluate(instructions, &SumOfDifferences { samples, step, coefficients }, output),
        }
    }
}

/// How far apart the samples under an output are.
trait Step: Copy {
    fn places(self) -> usize;
}

/// Neighbours: a step of its own, since the compiler then knows the places of all samples.
#[derive(Clone, Copy)]
struct One;

impl Step for One {
    #[inline(always)]
    fn places(self) -> usize {
        1
    }
}

impl Step for usize {
    #[inline(always)]
    fn places(self) -> usize {
        self
    }
}

/// Output `i` is the chain of `fma(samples[i + k * step], taps[k], acc)`.
struct Correlation<'a, P> {
    samples: &'a [f64],
    step: P,
    taps: &'a [f64],
}

impl<P: Step> Operator<f64> for Correlation<'_, P> {
    fn outputs(&self) -> usize {
        self.samples.len() - (self.taps.len() - 1) * self.step.places()
    }

    #[inline(always)]
    unsafe fn block<V: Vector<Element = f64>, const U: usize>(&self, set: V::Set, at: usize, output: *mut f64) {
        let mut acc = [V::splat(set, 0.0); U];
        for (k, &tap) in self.taps.iter().enumerate() {
            let tap = V::splat(set, tap);
            for (u, acc) in acc.iter_mut().enumerate() {
                // SAFETY: the last sample under an output is `(taps.len() - 1) * step` behind it, and there are as many
                // more samples.
                *acc = unsafe { V::load(set, self.samples.as_ptr().add(at + k * self.step.places() + u * V::LANES)) }
                    .fma(tap, *acc);
            }
        }
        for (u, acc) in acc.into_iter().enumerate() {
            // SAFETY: within what the caller promises.
            unsafe { acc.store(output.add(u * V::LANES)) };
        }
    }
}

/// Output `i` is the chain of `fma(c[d - 1], samples[i + (R + d) * step] - samples[i + (R - d) * step], acc)` for d =
/// 1..R.
struct SumOfDifferences<'a, T, P> {
    samples: &'a [T],
    step: P,
    coefficients: [T; DERIVATIVE_RADIUS],
}

impl<T: Lanes, P: Step> Operator<T> for SumOfDifferences<'_, T, P> {
    fn outputs(&self) -> usize {
        self.samples.len() - 2 * DERIVATIVE_RADIUS * self.step.places()
    }

    #[inline(always)]
    unsafe fn block<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, at: usize, output: *mut T) {
        let step = self.step.places();
        let mut acc = [V::splat(set, T::default()); U];
        for (d, &c) in (1..).zip(&self.coefficients) {
            let c = V::splat(set, c);
            for (u, acc) in acc.iter_mut().enumerate() {
                // SAFETY: samples from `radius` before to `radius` behind the middle are there for every output.
                let difference = unsafe {
                    let middle = self.samples.as_ptr().add(at + DERIVATIVE_RADIUS * step + u * V::LANES);
                    V::load(set, middle.add(d * step)).minus(V::load(set, middle.sub(d * step)))
                };
                *acc = c.fma(difference, *acc);
            }
        }
        for (u, acc) in acc.into_iter().enumerate() {
            // SAFETY: within what the caller promises.
            unsafe { acc.store(output.add(u * V::LANES)) };
        }
    }
}

/// How an array is cut into tiles. The result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tiling {
    /// Which of the `outer` are computed side by side in one tile; more than one only with all columns and all rows.
    blocks: usize,
    /// Columns in a tile, of the `inner`.
    width: usize,
    /// Rows in a tile, of the `length`.
    rows: usize,
    /// Sweeps in one pass over the array at most.
    sweeps: usize,
    /// Whether what is inside a line is computed straight from the array. Only for a single sweep.
    direct: bool,
}

/// Elements of a copy that stays, with the result of a sweep beside it, in the first-level cache.
const NEAR: usize = 1 << 11;

/// Elements of a copy that stays, with the result of a sweep beside it, in the second-level cache.
const FAR: usize = 1 << 15;

/// Columns of a tile that is computed straight from the array: its rows are read from memory as fast as longer ones.
const WIDE: usize = 1 << 10;

/// Columns of a tile that is copied for one sweep, and for many: few, for the sake of many rows.
const COPIED: usize = 64;
const COPIED_FOR_MANY: usize = 32;

/// From this radius on, rows that are apart are copied for one sweep already: read in place, so many of them, which are
/// often a power of two apart, push one another out of the cache. (Of 21 taps along the last dimension of 256 x 256 x
/// 256, a core does twice as many through copies.)
const RADIUS_COPIED: usize = 3;

/// `total` in parts of at most about `limit`, evenly, and in whole vectors.
fn evenly(total: usize, limit: usize) -> usize {
    total.div_ceil(total.div_ceil(limit.max(1)).max(1)).next_multiple_of(8).min(total)
}

impl Tiling {
    fn choose(lines: Lines, radius: usize, sweeps: usize, threads: usize) -> Tiling {
        if sweeps == 1 { Tiling::single(lines, radius, threads) } else { Tiling::many(lines, radius, sweeps, threads) }
    }

    fn single(lines: Lines, radius: usize, threads: usize) -> Tiling {
        let (inner, length, outer) = (lines.inner(), lines.length(), lines.outer());
        let padded = length + 2 * radius;
        // Mostly ends, or many ends: whole lines are copied.
        if length <= 4 * radius.max(MAX_RADIUS / 2) || (inner > 1 && inner * padded <= NEAR / 2) {
            return Tiling::whole(lines, radius, 1, NEAR / 4, FAR / 2);
        }
        if inner == 1 {
            let blocks = (STEP / length).clamp(1, outer.div_ceil(threads));
            let rows = if outer >= threads { STEP } else { STEP.min(length.div_ceil(threads)) };
            return Tiling {
                blocks,
                width: 1,
                rows: if blocks > 1 { length } else { rows.min(length) },
                sweeps: 1,
                direct: true,
            };
        }
        if inner >= COPIED && radius >= RADIUS_COPIED {
            let width = evenly(inner, COPIED);
            let rows = length.div_ceil(length.div_ceil(FAR / width - 2 * radius));
            return Tiling { blocks: 1, width, rows, sweeps: 1, direct: false };
        }
        let width = evenly(inner, WIDE);
        let tiles = outer * inner.div_ceil(width);
        // Where rows are cut, both sides read what is around the cut: enough rows make that little.
        let parts = (4 * threads).div_ceil(tiles).min(length / (16 * (radius + 1))).max(1);
        Tiling { blocks: 1, width, rows: length.div_ceil(if threads > 1 { parts } else { 1 }), sweeps: 1, direct: true }
    }

    fn many(lines: Lines, radius: usize, sweeps: usize, threads: usize) -> Tiling {
        let (inner, length) = (lines.inner(), lines.length());
        let padded = length + 2 * radius;
        if padded * inner.min(16) <= FAR {
            let whole = Tiling::whole(lines, radius, sweeps, NEAR, FAR);
            if whole.count(lines) >= threads || padded < 2 * NEAR {
                return whole;
            }
        }
        let width = evenly(inner, COPIED_FOR_MANY);
        let rows = if width <= 4 { NEAR } else { FAR } / width;
        // A tenth of the rows on either side is computed for the sake of the others, half of it on average.
        let sweeps = sweeps.min((rows / (10 * radius.max(1))).max(2));
        let rows = rows - (2 * radius * sweeps).min(rows / 2);
        Tiling { blocks: 1, width, rows: length.div_ceil(length.div_ceil(rows)), sweeps, direct: false }
    }

    /// Whole lines: several side by side in up to `near` elements; few columns of them where they are more than `far`.
    fn whole(lines: Lines, radius: usize, sweeps: usize, near: usize, far: usize) -> Tiling {
        let (inner, length, outer) = (lines.inner(), lines.length(), lines.outer());
        let padded = length + 2 * radius;
        let width = if inner * padded <= far { inner } else { evenly(inner, far / padded) };
        let blocks = if width == inner { (near / (inner * padded)).clamp(1, outer) } else { 1 };
        Tiling { blocks, width, rows: length, sweeps, direct: false }
    }

    /// In how many parts each dimension is cut.
    fn parts(&self, lines: Lines) -> [usize; 3] {
        [lines.inner().div_ceil(self.width), lines.length().div_ceil(self.rows), lines.outer().div_ceil(self.blocks)]
    }

    /// How many tiles there are.
    fn count(&self, lines: Lines) -> usize {
        self.parts(lines).iter().product()
    }

    /// One of them, of so many in each dimension.
    fn tile(&self, lines: Lines, [across, along, _]: [usize; 3], number: usize) -> Tile {
        let part = |at: usize, size: usize, all: usize| at * size..((at + 1) * size).min(all);
        Tile {
            columns: part(number % across, self.width, lines.inner()),
            rows: part(number / across % along, self.rows, lines.length()),
            blocks: part(number / across / along, self.blocks, lines.outer()),
        }
    }
}

/// Some columns of some rows of some of the `outer`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tile {
    columns: Range<usize>,
    rows: Range<usize>,
    blocks: Range<usize>,
}

impl Tile {
    fn elements(&self) -> usize {
        self.columns.len() * self.rows.len() * self.blocks.len()
    }
}

/// A tile with what is around it, and room for a sweep over that.
struct Copies<T> {
    last: Vec<T>,
    next: Vec<T>,
}

impl<T> Default for Copies<T> {
    fn default() -> Copies<T> {
        Copies { last: Vec::new(), next: Vec::new() }
    }
}

/// What stands in each row beyond an end of a line.
#[derive(Debug, Clone, Copy)]
enum Pad<T> {
    /// These samples, in ascending order of the rows.
    Samples([usize; MAX_RADIUS]),
    Constant(T),
}

impl<T: Real> Pad<T> {
    /// In so many rows from one on, beyond a line of so many samples, of which there is one at least.
    fn new(ends: Ends<T>, first: isize, rows: usize, length: usize) -> Pad<T> {
        let mut samples = [0; MAX_RADIUS];
        for (row, sample) in samples[..rows].iter_mut().enumerate() {
            match ends.sample_at(first + row as isize, length) {
                Ok(found) => *sample = found,
                Err(constant) => return Pad::Constant(constant),
            }
        }
        Pad::Samples(samples)
    }
}

/// Sweeps of a stencil along the lines of an array.
pub(super) struct Sweeps<'a, T, S> {
    instructions: Instructions,
    stencil: &'a S,
    lines: Lines,
    ends: Ends<T>,
    /// Before a line, and behind it.
    pads: [Pad<T>; 2],
}

impl<'a, T: Lanes, S: Stencil<T>> Sweeps<'a, T, S> {
    pub(super) fn new(instructions: Instructions, stencil: &'a S, lines: Lines, ends: Ends<T>) -> Sweeps<'a, T, S> {
        let (length, radius) = (lines.length(), stencil.radius());
        let pads = match length {
            0 => [Pad::Samples([0; MAX_RADIUS]); 2],
            _ => [-(radius as isize), length as isize].map(|first| Pad::new(ends, first, radius, length)),
        };
        Sweeps { instructions, stencil, lines, ends, pads }
    }

    /// So many sweeps from `input` to `output`.
    pub(super) fn run(&self, sweeps: usize, input: &[T], output: &mut [T], watch: &Watch) -> Result<(), Error> {
        if sweeps == 0 || input.is_empty() {
            return host::copy(input, output, watch);
        }
        watch.check()?;
        let work = input.len().saturating_mul(self.stencil.work()).saturating_mul(sweeps);
        let threads = tasks::threads(work);
        let tiling = Tiling::choose(self.lines, self.stencil.radius(), sweeps, threads);
        self.run_in(tiling, sweeps, threads, input, output, watch)
    }

    fn run_in(
        &self,
        tiling: Tiling,
        sweeps: usize,
        threads: usize,
        input: &[T],
        output: &mut [T],
        watch: &Watch,
    ) -> Result<(), Error> {
        let parts = tiling.parts(self.lines);
        let (tiles, passes) = (parts.iter().product::<usize>(), sweeps.div_ceil(tiling.sweeps));
        host::ping_pong(input, output, passes, |pass, input, output| {
            let sweeps = sweeps / passes + usize::from(pass < sweeps % passes);
            let updates = (input.len() / tiles).saturating_mul(sweeps);
            let target = SharedOutput::new(output);
            tasks::run(
                tiles,
                threads,
                (STEP / updates.max(1)).max(1),
                watch,
                |number, copies: &mut Copies<T>, progress| {
                    let tile = tiling.tile(self.lines, parts, number);
                    if tiling.direct {
                        self.once(&tile, input, &target, copies, progress)
                    } else {
                        self.sweep(&tile, sweeps, input, &target, copies, progress)
                    }
                },
            )
        })
    }

    /// One sweep of a tile.
    fn once(
        &self,
        tile: &Tile,
        input: &[T],
        target: &SharedOutput<T>,
        copies: &mut Copies<T>,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let (inner, length, radius) = (self.lines.inner(), self.lines.length(), self.stencil.radius());
        let (width, rows) = (tile.columns.len(), &tile.rows);
        // The rows that have all their samples in the array.
        let start = rows.start.max(radius).min(rows.end);
        let end = rows.end.min(length - radius.min(length)).max(start);
        for block in tile.blocks.clone() {
            for ends in [rows.start..start, end..rows.end] {
                if inner == 1 && ends.len() <= radius {
                    let line = length * block..length * (block + 1);
                    // SAFETY: elements of this tile, and tiles do not overlap.
                    let output = unsafe { target.places(line.start + ends.start..line.start + ends.end) };
                    self.end(&input[line], &ends, output);
                    progress.step(ends.len())?;
                } else if !ends.is_empty() {
                    let tile = Tile { columns: tile.columns.clone(), rows: ends, blocks: block..block + 1 };
                    self.sweep(&tile, 1, input, target, copies, progress)?;
                }
            }
            let first = self.first(tile, block);
            let together = (STEP / width).max(1);
            let mut row = start;
            while row < end {
                let rows = row..(row + together).min(end);
                let samples = &input[first + inner * (row - radius)..];
                self.rows(tile, block, rows.clone(), samples, inner, target);
                progress.step(width * rows.len())?;
                row = rows.end;
            }
        }
        Ok(())
    }

    /// A few outputs near an end of a line of neighbours: what [`Sweeps::sweep`] does, without its cost.
    fn end(&self, line: &[T], rows: &Range<usize>, output: &mut [T]) {
        let (length, radius) = (line.len() as isize, self.stencil.radius());
        let mut buffer = [T::default(); 3 * MAX_RADIUS];
        let buffer = &mut buffer[..rows.len() + 2 * radius];
        // The row that the buffer begins with.
        let first = rows.start as isize - radius as isize;
        let inside = first.max(0)..(first + buffer.len() as isize).min(length);
        let before = (inside.start - first) as usize;
        let behind = (inside.end - first) as usize;
        buffer[before..behind].copy_from_slice(&line[inside.start as usize..inside.end as usize]);
        let (low, rest) = buffer.split_at_mut(before);
        for (rows, skipped, pads) in
            [(low, radius - before, &self.pads[0]), (&mut rest[behind - before..], 0, &self.pads[1])]
        {
            match pads {
                Pad::Constant(value) => rows.fill(*value),
                Pad::Samples(samples) => {
                    rows.iter_mut().zip(&samples[skipped..]).for_each(|(to, &sample)| *to = line[sample]);
                }
            }
        }
        self.stencil.compute(self.instructions, buffer, 1, output);
    }

    /// Computes `rows` of a tile's columns, in one of its blocks, with `samples` from the first sample of the first row
    /// on, and `step` from row to row.
    fn rows(
        &self,
        tile: &Tile,
        block: usize,
        rows: Range<usize>,
        samples: &[T],
        step: usize,
        target: &SharedOutput<T>,
    ) {
        let (inner, width) = (self.lines.inner(), tile.columns.len());
        let first = self.first(tile, block);
        let reach = 2 * self.stencil.radius() * step;
        if width == inner && width == step {
            // SAFETY: elements of this tile, and tiles do not overlap; here and below.
            let output = unsafe { target.places(first + inner * rows.start..first + inner * rows.end) };
            self.stencil.compute(self.instructions, &samples[..reach + output.len()], step, output);
        } else {
            for (i, row) in rows.enumerate() {
                // SAFETY: as above.
                let output = unsafe { target.places(first + inner * row..first + inner * row + width) };
                self.stencil.compute(self.instructions, &samples[i * step..][..reach + width], step, output);
            }
        }
    }

    /// Where the first column of a tile has its row 0, in a block.
    fn first(&self, tile: &Tile, block: usize) -> usize {
        tile.columns.start + self.lines.inner() * self.lines.length() * block
    }

    /// So many sweeps of a tile in copies.
    fn sweep(
        &self,
        tile: &Tile,
        sweeps: usize,
        input: &[T],
        target: &SharedOutput<T>,
        copies: &mut Copies<T>,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let (length, radius, width) = (self.lines.length(), self.stencil.radius(), tile.columns.len());
        let (rows, blocks) = (&tile.rows, tile.blocks.len());
        let whole = *rows == (0..length);
        // A line that goes round has no ends where it is not in one tile.
        let endless = !whole && self.ends.is_circular();
        // The rows that are needed when so many sweeps are still to be done.
        let needed = |remaining: usize| -> Range<isize> {
            let (start, end) = (rows.start as isize, rows.end as isize);
            if whole {
                return start..end;
            }
            let reach = (radius * remaining) as isize;
            if endless {
                start - reach..end + reach
            } else {
                (start - reach).max(0)..(end + reach).min(length as isize)
            }
        };
        let loaded = needed(sweeps);
        // Where both are the same constant, what stands before a line stands behind the line before it, too.
        let shared = matches!(self.pads, [Pad::Constant(before), Pad::Constant(behind)] if before.same(behind));
        let gap = if shared { radius } else { 2 * radius };
        let layout = Layout { first: loaded.start - radius as isize, block: loaded.len() + gap, width };
        let size = ((blocks - 1) * layout.block + loaded.len() + 2 * radius) * width;
        for copy in [&mut copies.last, &mut copies.next] {
            memory::enlarge(copy, size, "a tile's copy")?;
        }
        let (mut last, mut next) = (&mut copies.last[..size], &mut copies.next[..size]);
        self.load(tile, &loaded, &layout, input, last);
        for done in 1..=sweeps {
            let (from, to) = (needed(sweeps - (done - 1)), needed(sweeps - done));
            if !endless {
                self.pad(&from, blocks, &layout, last);
            }
            if done == sweeps && blocks == 1 {
                let samples = &last[layout.place(0, to.start - radius as isize)..];
                self.rows(tile, tile.blocks.start, rows.clone(), samples, width, target);
            } else {
                // What is computed in the gaps between lines is padded over.
                let places = layout.place(0, to.start)..layout.place(blocks - 1, to.end);
                let samples = &last[places.start - radius * width..places.end + radius * width];
                self.stencil.compute(self.instructions, samples, width, &mut next[places]);
            }
            std::mem::swap(&mut last, &mut next);
            progress.step(tile.elements())?;
        }
        if blocks > 1 {
            let size = width * length;
            for block in 0..blocks {
                let at = (tile.blocks.start + block) * size;
                // SAFETY: elements of this tile, and tiles do not overlap.
                unsafe { target.places(at..at + size) }.copy_from_slice(&last[layout.place(block, 0)..][..size]);
            }
        }
        Ok(())
    }

    /// Copies the rows `rows` of a tile's columns, which go round where they lie outside.
    fn load(&self, tile: &Tile, rows: &Range<isize>, layout: &Layout, input: &[T], copy: &mut [T]) {
        let (inner, length, width) = (self.lines.inner(), self.lines.length(), layout.width);
        for (block, of_array) in tile.blocks.clone().enumerate() {
            let first = self.first(tile, of_array);
            let mut row = rows.start;
            while row < rows.end {
                let at = if (0..length as isize).contains(&row) {
                    row as usize
                } else {
                    row.rem_euclid(length as isize) as usize
                };
                let together = (length - at).min((rows.end - row) as usize);
                let (from, to) =
                    (&input[first + inner * at..], &mut copy[layout.place(block, row)..][..together * width]);
                if width == inner {
                    to.copy_from_slice(&from[..to.len()]);
                } else {
                    for (i, to) in to.chunks_exact_mut(width).enumerate() {
                        to.copy_from_slice(&from[i * inner..][..width]);
                    }
                }
                row += together as isize;
            }
        }
    }

    /// Writes what the boundary says before and behind the lines of a copy, where its rows `rows` reach their ends.
    fn pad(&self, rows: &Range<isize>, blocks: usize, layout: &Layout, copy: &mut [T]) {
        let (length, radius) = (self.lines.length() as isize, self.stencil.radius() as isize);
        for block in 0..blocks {
            for (reached, rows, pads) in [
                (rows.start == 0, -radius..0, &self.pads[0]),
                (rows.end == length, length..length + radius, &self.pads[1]),
            ] {
                if !reached {
                    continue;
                }
                match pads {
                    Pad::Constant(value) => {
                        copy[layout.place(block, rows.start)..layout.place(block, rows.end)].fill(*value);
                    }
                    Pad::Samples(samples) => {
                        for (row, &sample) in rows.zip(samples) {
                            let from = layout.place(block, sample as isize);
                            copy.copy_within(from..from + layout.width, layout.place(block, row));
                        }
                    }
                }
            }
        }
    }
}

/// Where rows are in a copy.
struct Layout {
    /// The row that stands first.
    first: isize,
    /// Rows from one block to the next.
    block: usize,
    /// Columns.
    width: usize,
}

impl Layout {
    fn place(&self, block: usize, row: isize) -> usize {
        (block * self.block + (row - self.first) as usize) * self.width
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{Boundary, CoefficientSource, Compute, Derivative, Engine, Real, Reference, Stencil};

    /// The same at both ends, and each its own.
    fn boundaries() -> Vec<Ends<f64>> {
        let [one, two] = [1.5, -0.5].map(Boundary::Constant);
        let same = [one, Boundary::Replicate, Boundary::Symmetric, Boundary::Mirror, Boundary::Circular];
        let own =
            [(one, two), (Boundary::Mirror, two), (one, Boundary::Symmetric), (Boundary::Replicate, Boundary::Mirror)];
        let own = own.map(|(low, high)| Ends::new(low, high).unwrap());
        same.map(Ends::from).into_iter().chain(own).collect()
    }

    /// However the array is cut, and however many sweeps are done in a pass, the result is that of the whole.
    #[test]
    fn tilings_agree() {
        for (inner, length, outer) in [(1, 1, 1), (1, 57, 3), (3, 20, 2), (1, 9, 7), (5, 130, 1), (70, 23, 2)] {
            let lines = Lines::strided(inner, length, outer);
            let input: Vec<f64> = (0..lines.elements()).map(|i| (i as f64).sin()).collect();
            for boundary in boundaries() {
                for (taps, sweeps) in [(1, 2), (3, 1), (3, 7), (5, 5), (21, 1), (21, 3)] {
                    let taps: Vec<f64> = (0..taps).map(|k| (f64::from(k) + 0.5).cos() / f64::from(taps)).collect();
                    let request = Stencil::new(lines, Taps::new(&taps).unwrap());
                    let request = request.with_boundary(boundary).with_sweeps(sweeps);
                    let mut expected = vec![0.0; input.len()];
                    Reference
                        .stencil(&request, (&input[..]).into(), (&mut expected[..]).into(), &Watch::new())
                        .unwrap();
                    for tiling in tilings(lines, sweeps) {
                        let (mut output, watch) = (vec![f64::NAN; input.len()], Watch::new());
                        let all = Sweeps::new(Instructions::best(), request.taps(), lines, boundary);
                        all.run_in(tiling, sweeps, 2, &input, &mut output, &watch).unwrap();
                        let what = format!("{request:?} in {tiling:?}");
                        assert!(output.iter().zip(&expected).all(|(a, &b)| a.same(b)), "{what}");
                        assert_eq!(watch.done(), (input.len() * sweeps) as u64, "{what}");
                    }
                }
                let request = Derivative::new(lines, 0.3, CoefficientSource::Constant).with_boundary(boundary);
                let mut expected = vec![0.0; input.len()];
                Reference.derivative(&request, (&input[..]).into(), (&mut expected[..]).into(), &Watch::new()).unwrap();
                for tiling in tilings(lines, 1) {
                    let mut output = vec![f64::NAN; input.len()];
                    let differences = Differences(request.coefficients());
                    let all = Sweeps::new(Instructions::best(), &differences, lines, boundary);
                    all.run_in(tiling, 1, 2, &input, &mut output, &Watch::new()).unwrap();
                    assert!(output.iter().zip(&expected).all(|(a, &b)| a.same(b)), "{request:?} in {tiling:?}");
                }
            }
        }
    }

    /// Tiles of all shapes that the array has room for.
    fn tilings(lines: Lines, sweeps: usize) -> Vec<Tiling> {
        let (inner, length) = (lines.inner(), lines.length());
        let mut tilings = Vec::new();
        for direct in [false, true] {
            for width in [1, 2, 8, inner] {
                for rows in [1, 2, 9, 30, length] {
                    for at_once in [1, 2, sweeps] {
                        let tiling = Tiling {
                            blocks: 1,
                            width: width.min(inner),
                            rows: rows.min(length),
                            sweeps: at_once,
                            direct,
                        };
                        tilings.push(tiling);
                    }
                }
            }
            for blocks in [2, 3, 100] {
                tilings.push(Tiling { blocks, width: inner, rows: length, sweeps, direct });
            }
        }
        tilings.retain(|tiling| !tiling.direct || sweeps == 1);
        tilings
    }

    /// Whatever the array and the stencil, tiles cover it, copies stay small, and every thread has some where there is
    /// enough.
    #[test]
    fn chosen_tilings_fit() {
        for inner in [1, 2, 7, 63, 64, 65, 1000, 100_000] {
            for length in [1, 2, 20, 41, 300, 2000, 2049, 32_768, 1_000_000] {
                for outer in [1, 2, 100, 10_000] {
                    let lines = Lines::strided(inner, length, outer);
                    for (radius, sweeps, threads) in [
                        (0, 1, 1),
                        (1, 1, 64),
                        (10, 1, 2),
                        (0, 9, 1),
                        (1, 2, 1),
                        (1, 1000, 64),
                        (10, 2, 2),
                        (10, 50, 1),
                    ] {
                        let tiling = Tiling::choose(lines, radius, sweeps, threads);
                        let what = format!("{lines:?}, radius {radius}, {sweeps} sweeps: {tiling:?}");
                        assert!((1..=sweeps).contains(&tiling.sweeps) && (1..=inner).contains(&tiling.width), "{what}");
                        assert!((1..=length).contains(&tiling.rows) && (1..=outer).contains(&tiling.blocks), "{what}");
                        assert!(tiling.blocks == 1 || (tiling.width, tiling.rows) == (inner, length), "{what}");
                        assert!(!tiling.direct || sweeps == 1, "{what}");
                        let rows =
                            if tiling.rows == length { length } else { tiling.rows + 2 * radius * tiling.sweeps };
                        let copy = tiling.blocks * tiling.width * (rows + 2 * radius);
                        assert!(tiling.direct || copy <= 5 * FAR / 4, "{what}: {copy}");
                    }
                }
            }
        }
    }
}
