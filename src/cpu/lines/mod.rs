//! Stencils along lines.
//!
//! # Tiles
//! An array of lines is seen as `inner x length x outer` elements: rows of `inner` neighbours, one for each place in a
//! line. A stencil computes row `j` from the rows around it, all elements of a row by the same steps; so vectors run
//! along rows; if `inner` is 1, they run over neighbouring rows, whose elements are neighbours. The array is cut into
//! tiles: some columns of some rows.
//!
//! A single sweep computes the inside of a line straight from the array. Its two ends, and lines that are mostly ends,
//! go through a copy with its ghost values. Many sweeps go through such copies too: a tile is copied with a halo for
//! all sweeps of a pass, which are done in the cache, on fewer rows each time; intermediate values that neighbouring
//! tiles both need are computed by both. Ghost values at the true end of a line are recomputed before every sweep.

mod copies;
mod long;
mod operators;
mod tiling;

use std::ops::Range;

use self::copies::{Copies, CopyRows, Pad};
pub(super) use self::operators::Differences;
use self::operators::{Correlated, MAX_RADIUS, Stencil};
use self::tiling::{Tile, Tiling};
use super::simd::{Instructions, Lanes};
use super::tasks::{self, Progress, STEP};
use crate::host::{self, SharedOutput};
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{Ends, Error, Lines};

/// Does `sweeps` sweeps of a filter along the lines of an array, from `input` to `output`.
pub(super) fn correlate<T: Lanes>(
    instructions: Instructions,
    taps: &[T],
    (lines, ends): (Lines, Ends<T>),
    sweeps: usize,
    input: &[T],
    output: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    if taps.len() > long::MAX_SHORT_TAPS {
        long::Filtered::new(instructions, taps, lines, ends).run(sweeps, input, output, watch)
    } else {
        Sweeps::new(instructions, &Correlated(taps), lines, ends).run(sweeps, input, output, watch)
    }
}

/// Sweeps of a stencil along the lines of an array.
pub(super) struct Sweeps<'a, T, S> {
    instructions: Instructions,
    stencil: &'a S,
    lines: Lines,
    ends: Ends<T>,
    /// Ghost values before a line, and after it.
    pads: [Pad<T>; 2],
}

impl<'a, T: Lanes, S: Stencil<T>> Sweeps<'a, T, S> {
    pub(super) fn new(instructions: Instructions, stencil: &'a S, lines: Lines, ends: Ends<T>) -> Sweeps<'a, T, S> {
        let (length, before, behind) = (lines.length(), stencil.before(), stencil.radius());
        let pads = match length {
            0 => [Pad::Samples([0; MAX_RADIUS]); 2],
            _ => [(-(before as isize), before), (length as isize, behind)]
                .map(|(first, rows)| Pad::new(ends, first, rows, length)),
        };
        Sweeps { instructions, stencil, lines, ends, pads }
    }

    /// Does `sweeps` sweeps from `input` to `output`.
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

    /// Does one sweep of a tile.
    fn once(
        &self,
        tile: &Tile,
        input: &[T],
        target: &SharedOutput<T>,
        copies: &mut Copies<T>,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let (inner, length) = (self.lines.inner(), self.lines.length());
        let (before, radius) = (self.stencil.before(), self.stencil.radius());
        let (width, rows) = (tile.columns.len(), &tile.rows);
        // Rows that have all their samples in the array.
        let start = rows.start.max(before).min(rows.end);
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
                let samples = &input[first + inner * (row - before)..];
                self.rows(tile, block, rows.clone(), samples, inner, target);
                progress.step(width * rows.len())?;
                row = rows.end;
            }
        }
        Ok(())
    }

    /// Computes a few outputs near an end of a contiguous line, more cheaply than [`Sweeps::sweep`].
    fn end(&self, line: &[T], rows: &Range<usize>, output: &mut [T]) {
        let (length, ahead) = (line.len() as isize, self.stencil.before());
        let mut buffer = [T::default(); 3 * MAX_RADIUS];
        let buffer = &mut buffer[..rows.len() + ahead + self.stencil.radius()];
        // First row in the buffer.
        let first = rows.start as isize - ahead as isize;
        let inside = first.max(0)..(first + buffer.len() as isize).min(length);
        let before = (inside.start - first) as usize;
        let behind = (inside.end - first) as usize;
        buffer[before..behind].copy_from_slice(&line[inside.start as usize..inside.end as usize]);
        let (low, rest) = buffer.split_at_mut(before);
        for (rows, skipped, pads) in
            [(low, ahead - before, &self.pads[0]), (&mut rest[behind - before..], 0, &self.pads[1])]
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

    /// Computes `rows` of a tile's columns, in one of its blocks. `samples` begin with the first sample of the first
    /// row, and `step` is the distance of rows.
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
        let reach = (self.stencil.before() + self.stencil.radius()) * step;
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

    /// Place of row 0 of a tile's first column, in a block.
    fn first(&self, tile: &Tile, block: usize) -> usize {
        tile.columns.start + self.lines.inner() * self.lines.length() * block
    }

    /// Does `sweeps` sweeps of a tile in copies.
    fn sweep(
        &self,
        tile: &Tile,
        sweeps: usize,
        input: &[T],
        target: &SharedOutput<T>,
        copies: &mut Copies<T>,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let (length, width) = (self.lines.length(), tile.columns.len());
        // The halo is the same on both sides: with an even number of taps, a mirrored ghost value may be one place
        // further ahead than the samples are.
        let (before, radius) = (self.stencil.before(), self.stencil.radius());
        let (rows, blocks) = (&tile.rows, tile.blocks.len());
        let whole = *rows == (0..length);
        // A circular line that is cut has no ends.
        let endless = !whole && self.ends.is_circular();
        // Rows that are needed with `remaining` sweeps still to be done.
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
        // If both ends have one constant, the ghost values before a line serve the line before it, too.
        let shared = matches!(self.pads, [Pad::Constant(before), Pad::Constant(behind)] if before.same(behind));
        let gap = if shared { radius } else { 2 * radius };
        let copy_rows = CopyRows { first: loaded.start - radius as isize, block: loaded.len() + gap, width };
        let size = ((blocks - 1) * copy_rows.block + loaded.len() + 2 * radius) * width;
        for copy in [&mut copies.last, &mut copies.next] {
            memory::enlarge(copy, size, "a tile's copy")?;
        }
        let (mut last, mut next) = (&mut copies.last[..size], &mut copies.next[..size]);
        self.load(tile, &loaded, &copy_rows, input, last);
        for done in 1..=sweeps {
            let (from, to) = (needed(sweeps - (done - 1)), needed(sweeps - done));
            if !endless {
                self.pad(&from, blocks, &copy_rows, last);
            }
            if done == sweeps && blocks == 1 {
                let samples = &last[copy_rows.place(0, to.start - before as isize)..];
                self.rows(tile, tile.blocks.start, rows.clone(), samples, width, target);
            } else {
                // Values computed in the gaps between lines are overwritten by ghost values.
                let places = copy_rows.place(0, to.start)..copy_rows.place(blocks - 1, to.end);
                let samples = &last[places.start - before * width..places.end + radius * width];
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
                unsafe { target.places(at..at + size) }.copy_from_slice(&last[copy_rows.place(block, 0)..][..size]);
            }
        }
        Ok(())
    }

    /// Copies the rows `rows` of a tile's columns; rows outside are those of a circular line.
    fn load(&self, tile: &Tile, rows: &Range<isize>, copy_rows: &CopyRows, input: &[T], copy: &mut [T]) {
        let (inner, length, width) = (self.lines.inner(), self.lines.length(), copy_rows.width);
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
                    (&input[first + inner * at..], &mut copy[copy_rows.place(block, row)..][..together * width]);
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

    /// Writes the ghost values before and after the lines of a copy, if its rows `rows` include their ends.
    fn pad(&self, rows: &Range<isize>, blocks: usize, copy_rows: &CopyRows, copy: &mut [T]) {
        let length = self.lines.length() as isize;
        let (before, behind) = (self.stencil.before() as isize, self.stencil.radius() as isize);
        for block in 0..blocks {
            for (reached, rows, pads) in [
                (rows.start == 0, -before..0, &self.pads[0]),
                (rows.end == length, length..length + behind, &self.pads[1]),
            ] {
                if !reached {
                    continue;
                }
                match pads {
                    Pad::Constant(value) => {
                        copy[copy_rows.place(block, rows.start)..copy_rows.place(block, rows.end)].fill(*value);
                    }
                    Pad::Samples(samples) => {
                        for (row, &sample) in rows.zip(samples) {
                            let from = copy_rows.place(block, sample as isize);
                            copy.copy_within(from..from + copy_rows.width, copy_rows.place(block, row));
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tiling::L2_ELEMENTS;
    use super::*;
    use crate::selection;
    use crate::stencil::{
        Boundary, CoefficientSource, Compute, Convolution, Derivative, Filter, Number, Real, Reference, Sides,
    };

    /// One boundary at both ends, and different ones at each.
    pub(super) fn boundaries() -> Vec<Ends<f64>> {
        let [one, two] = [1.5, -0.5].map(Boundary::Constant);
        let same = Boundary::all_kinds(1.5);
        let own =
            [(one, two), (Boundary::Mirror, two), (one, Boundary::Symmetric), (Boundary::Replicate, Boundary::Mirror)];
        let own = own.map(|(low, high)| Ends::new(low, high).unwrap());
        same.map(Ends::from).into_iter().chain(own).collect()
    }

    /// Sweeps of a filter along lines, as a convolution along the second dimension.
    pub(super) fn filtered<T: Real>(lines: Lines, ends: Ends<T>, taps: &[T], sweeps: usize) -> Convolution<T> {
        let filter = Filter::new(taps.to_vec(), [1, taps.len(), 1]).unwrap();
        let sides = Sides::from([Ends::default(), ends, Ends::default()]);
        Convolution::new(lines.extents(), filter).with_boundary(sides).with_sweeps(sweeps)
    }

    /// Result of the reference.
    pub(super) fn right<T: Number>(request: &Convolution<T>, input: &[T]) -> Vec<T> {
        let mut expected = vec![T::default(); input.len()];
        Reference.convolution(request, input.into(), (&mut expected[..]).into(), &Watch::new()).unwrap();
        expected
    }

    /// The result is that of the whole for any tiling and any number of sweeps a pass.
    #[test]
    fn tilings_agree() {
        selection::begin();
        for (inner, length, outer) in [(1, 1, 1), (1, 57, 3), (3, 20, 2), (1, 9, 7), (5, 130, 1), (70, 23, 2)] {
            let lines = Lines::strided(inner, length, outer);
            let input: Vec<f64> = (0..lines.elements()).map(|i| (i as f64).sin()).collect();
            for boundary in boundaries() {
                for (taps, sweeps) in [
                    (1, 2),
                    (2, 1),
                    (2, 7),
                    (3, 1),
                    (3, 7),
                    (4, 3),
                    (5, 5),
                    (20, 3),
                    (21, 1),
                    (21, 3),
                    (64, 1),
                    (64, 3),
                ] {
                    let what = format!("{lines:?} {boundary:?} {taps} {sweeps}");
                    if !selection::takes(&what, &[&lines, &boundary, &(taps, sweeps)]) {
                        continue;
                    }
                    let taps: Vec<f64> = (0..taps).map(|k| (f64::from(k) + 0.5).cos() / f64::from(taps)).collect();
                    let request = filtered(lines, boundary, &taps, sweeps);
                    let expected = right(&request, &input);
                    for tiling in tilings(lines, sweeps) {
                        let (mut output, watch) = (vec![f64::NAN; input.len()], Watch::new());
                        let taps = Correlated(&taps);
                        let all = Sweeps::new(Instructions::best(), &taps, lines, boundary);
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

    /// Tilings of all shapes that fit the array.
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

    /// Tiles cover any array, copies stay small, and every thread has some if there is enough work.
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
                        (MAX_RADIUS, 1, 1),
                        (MAX_RADIUS, 1, 64),
                        (MAX_RADIUS, 9, 2),
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
                        assert!(tiling.direct || copy <= 5 * L2_ELEMENTS / 4, "{what}: {copy}");
                    }
                }
            }
        }
    }
}
