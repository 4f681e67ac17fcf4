//! Convolutions over images and volumes.
//!
//! # Tiles
//! The array is cut into tiles: boxes of rows, columns and pages. A tile does several sweeps while its samples are in
//! the cache, with a halo for all of them; what neighbouring tiles both need in between, both compute. A level is what
//! a sweep leaves of a tile: level 0 are samples of the array, the last level is the output. A level reaches so far
//! beyond the tile as the sweeps after it need, and not beyond the array: what the boundary says of the samples outside
//! stands in their place in every level. Only where the array goes on and on, circularly, is it taken for one without
//! an end.
//!
//! # Rings
//! No level is ever there as a whole. Its columns are computed one block after the other, page after page, and kept in
//! a ring until those of the next level that need them are done. A level is asked for columns by the one after it, and
//! asks the one before: each goes ahead just as far as it must. So what is computed is used soon after, and several
//! levels of long columns fit the second-level cache.

mod kernel;

use std::ops::Range;

use self::kernel::{COLUMNS, MAX_COLUMNS};
use super::simd::{self, Instructions, Lanes};
use super::tasks::{self, Progress};
use crate::host::{self, SharedOutput};
use crate::memory;
use crate::stencil::{Convolution, Error, Real, Sides};
use crate::watch::Watch;

/// The most sweeps of a tile.
const SWEEPS: usize = 16;

/// The bytes of a tile's column at most.
const COLUMN: usize = 4 << 10;

/// The bytes of all rings of a tile: they stay in the second-level cache.
const RINGS: usize = 896 << 10;

/// The multiply-adds that take as long as a sample takes from memory and back.
const MEMORY: usize = 16;

/// The multiply-adds in the time that it takes to begin a pass with several threads.
const BEGIN: usize = 1 << 17;

/// All sweeps of a convolution.
pub(super) fn sweeps<T: Lanes>(
    request: &Convolution<T>,
    instructions: Instructions,
    input: &[T],
    output: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    if output.is_empty() || request.sweeps() == 0 {
        return host::copy(input, output, watch);
    }
    watch.check()?;
    let tiling = Tiling::choose(request);
    sweeps_in(tiling, request, instructions, input, output, watch)
}

/// All sweeps, at least one, over an array that is not empty.
fn sweeps_in<T: Lanes>(
    tiling: Tiling,
    request: &Convolution<T>,
    instructions: Instructions,
    input: &[T],
    output: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    let (parts, passes) = (tiling.parts(request.size()), request.sweeps().div_ceil(tiling.sweeps));
    let threads = tasks::threads(work_of_sweep(request).saturating_mul(tiling.sweeps));
    host::ping_pong(input, output, passes, |pass, input, output| {
        let sweeps = request.sweeps() / passes + usize::from(pass < request.sweeps() % passes);
        let target = SharedOutput::new(output);
        let tiles = parts.iter().product();
        tasks::run(tiles, threads, 1, watch, |number, buffer: &mut Buffer<T>, progress| {
            let tile = tiling.tile(request.size(), parts, number);
            let whole = tile[0].len() == request.size()[0];
            let levels = Levels::new(request, sweeps, tile, whole);
            memory::enlarge(&mut buffer.0, levels.elements, "the samples under the filter")?;
            let (target, buffer, columns) = (&target, &mut buffer.0[..], [0; MAX_COLUMNS]);
            Run { request, instructions, input, target, levels, buffer, columns, progress }.all()
        })
    })
}

/// The multiply-adds of a sweep.
fn work_of_sweep<T: Real>(request: &Convolution<T>) -> usize {
    request.elements().saturating_mul(request.filter().values().len())
}

/// How the array is cut into tiles. The result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tiling {
    /// Rows, columns and pages of a tile.
    size: [usize; 3],
    /// Sweeps of a tile at most.
    sweeps: usize,
}

impl Tiling {
    /// What takes the least time, by a plain model of it.
    fn choose<T: Real>(request: &Convolution<T>) -> Tiling {
        let mut best = (f64::INFINITY, Tiling { size: request.size(), sweeps: 1 });
        for sweeps in [1, 2, 3, 4, 5, 6, 8, 10, 12, SWEEPS] {
            if sweeps > request.sweeps() {
                break;
            }
            let threads = tasks::threads(work_of_sweep(request).saturating_mul(sweeps));
            let Some(tiling) = Tiling::with_sweeps(request, sweeps, threads) else { break };
            let time = tiling.time(request, threads);
            if time < best.0 {
                best = (time, tiling);
            }
        }
        best.1
    }

    /// Tiles for so many sweeps; `None` where their rings would not fit the cache.
    fn with_sweeps<T: Real>(request: &Convolution<T>, sweeps: usize, threads: usize) -> Option<Tiling> {
        let (size, radius) = (request.size(), request.filter().radius());
        let [rows, columns, pages] = size;
        let parts = rows.div_ceil(COLUMN / size_of::<T>());
        let height = rows.div_ceil(parts);
        let mut tile = [height, columns, pages];
        // Whole cache lines, and one more.
        let column = ((height + 2 * radius[0] * sweeps) * size_of::<T>()).next_multiple_of(64) + 64;
        let of_level = RINGS / (sweeps * column);
        if radius[2] > 0 {
            // All pages under the filter are in the ring, with the halo of a level in the middle.
            let kept = 2 * radius[2] + 1;
            let width = (of_level / kept).saturating_sub(radius[1] * sweeps + COLUMNS);
            if sweeps > 1 && width < columns.min(COLUMNS.max(4 * radius[1] * sweeps)) {
                return None;
            }
            tile[1] = columns.div_ceil(columns.div_ceil(width.max(COLUMNS)));
        } else {
            // Pages have nothing to do with one another.
            tile[2] = 1;
            if sweeps > 1 && of_level < 2 * (radius[1] + COLUMNS) {
                return None;
            }
        }
        // Every thread is to have as much as the others, or several tiles.
        loop {
            let tiles: usize = Tiling { size: tile, sweeps }.parts(size).iter().product();
            if tiles.is_multiple_of(threads) || tiles >= 4 * threads {
                return Some(Tiling { size: tile, sweeps });
            }
            // Where a cut costs the least, beside what is cut.
            let least = [64, 2 * COLUMNS, 2];
            let room = |d: usize| tile[d] as f64 / (1 + 2 * radius[d] * sweeps) as f64;
            let d = (0..3).filter(|&d| tile[d] >= 2 * least[d]).max_by(|&a, &b| room(a).total_cmp(&room(b)));
            let Some(d) = d else { return Some(Tiling { size: tile, sweeps }) };
            tile[d] = size[d].div_ceil(size[d].div_ceil(tile[d]) + 1);
        }
    }

    /// The time of a sweep, in that of a multiply-add.
    fn time<T: Real>(&self, request: &Convolution<T>, threads: usize) -> f64 {
        let entries = request.filter().values().len() as f64;
        let of_tile = self.updates(request) * entries + self.extents(request, 0) * MEMORY as f64;
        let tiles: usize = self.parts(request.size()).iter().product();
        let begin = if threads > 1 { BEGIN as f64 } else { 0.0 };
        (of_tile * tiles.div_ceil(threads) as f64 + begin) / self.sweeps as f64
    }

    /// What all sweeps of a tile compute at most.
    fn updates<T: Real>(&self, request: &Convolution<T>) -> f64 {
        (1..=self.sweeps).map(|level| self.extents(request, level)).sum()
    }

    /// What a level of a tile has at most: its halo lies on both sides where the array is cut, or goes on and on.
    fn extents<T: Real>(&self, request: &Convolution<T>, level: usize) -> f64 {
        let (size, radius) = (request.size(), request.filter().radius());
        let along = |d: usize| {
            let cut = self.size[d] < size[d] || (request.boundary()[d].is_circular() && d > 0);
            (self.size[d] + if cut { 2 * radius[d] * (self.sweeps - level) } else { 0 }) as f64
        };
        (0..3).map(along).product()
    }

    /// In how many parts each dimension is cut.
    fn parts(&self, size: [usize; 3]) -> [usize; 3] {
        [0, 1, 2].map(|d| size[d].div_ceil(self.size[d]))
    }

    /// One of the tiles, of so many in each dimension.
    fn tile(&self, size: [usize; 3], [along, across, _]: [usize; 3], number: usize) -> [Range<usize>; 3] {
        let place = [number % along, number / along % across, number / along / across];
        [0, 1, 2].map(|d| place[d] * self.size[d]..((place[d] + 1) * self.size[d]).min(size[d]))
    }
}

/// What a thread keeps between two tiles.
struct Buffer<T>(Vec<T>);

impl<T> Default for Buffer<T> {
    fn default() -> Buffer<T> {
        Buffer(Vec::new())
    }
}

/// What a sweep leaves of a tile.
#[derive(Debug, Clone)]
struct Level {
    /// The rows, columns and pages that are computed, counted as those of the array.
    reach: [Range<isize>; 3],
    /// All before this column of this page are done.
    column: isize,
    page: isize,
    /// Where its ring begins in the buffer, how many columns that has, and which one comes next.
    start: usize,
    ring: usize,
    next: usize,
}

/// Columns of constants at the beginning of a buffer: of what stands beyond the ends of the second dimension and of the
/// third.
const CONSTANTS: usize = 4;

/// The levels of a tile, and where their columns are in the buffer. Before them, the columns of constants.
struct Levels {
    levels: [Level; SWEEPS + 1],
    /// Sweeps, the number of the last level.
    last: usize,
    /// The rows of a column in the buffer.
    rows: Range<isize>,
    /// From one column to the next.
    stride: usize,
    /// Of the buffer.
    elements: usize,
    /// Along which dimensions the array goes on and on.
    endless: [bool; 3],
}

impl Levels {
    fn new<T: Lanes>(request: &Convolution<T>, sweeps: usize, tile: [Range<usize>; 3], whole_columns: bool) -> Levels {
        let (size, radius) = (request.size(), request.filter().radius());
        let circular = |d: usize| request.boundary()[d].is_circular();
        // A whole column has all its samples at hand.
        let endless = [circular(0) && !whole_columns, circular(1), circular(2)];
        let reach = |d: usize, level: usize| {
            let halo = ((sweeps - level) * radius[d]) as isize;
            let (start, end) = (tile[d].start as isize - halo, tile[d].end as isize + halo);
            if endless[d] { start..end } else { start.max(0)..end.min(size[d] as isize) }
        };
        let first = reach(0, 1);
        let rows = first.start - radius[0] as isize..first.end + radius[0] as isize;
        // Whole cache lines, and never such that columns push one another out of the cache.
        let line = 64 / size_of::<T>();
        let mut stride = rows.len().next_multiple_of(line);
        if stride % (16 * line) == 0 {
            stride += line;
        }
        let mut elements = CONSTANTS * stride;
        let levels = std::array::from_fn(|level| {
            let reach = [0, 1, 2].map(|d| reach(d, level.min(sweeps)));
            let all = reach[1].len() * reach[2].len();
            let ring = (2 * radius[2] * reach[1].len() + 2 * (radius[1] + COLUMNS)).min(all);
            let start = elements;
            if level < sweeps {
                elements += ring * stride;
            }
            Level { column: reach[1].start, page: reach[2].start, reach, start, ring, next: 0 }
        });
        Levels { levels, last: sweeps, rows, stride, elements, endless }
    }

    /// What stands at a place along the second dimension or the third; or the number of the column of constants that
    /// does.
    #[inline]
    fn at<T: Lanes>(&self, d: usize, at: isize, sides: &Sides<T>, size: [usize; 3]) -> Result<isize, usize> {
        if self.endless[d] {
            return Ok(at);
        }
        let sample = sides[d].sample_at(at, size[d]);
        sample.map(|at| at as isize).map_err(|_| 2 * (d - 1) + usize::from(at >= 0))
    }

    /// Where in the buffer a column of a level stands: one of those that were done last, or come next.
    #[inline]
    fn place(&self, level: usize, column: isize, page: isize) -> usize {
        let level = &self.levels[level];
        let ahead = (page - level.page) * level.reach[1].len() as isize + (column - level.column);
        let (at, ring) = (level.next as isize + ahead, level.ring as isize);
        debug_assert!((-ring..ring).contains(&ahead));
        let at = if at < 0 { at + ring } else { at };
        let at = if at >= ring { at - ring } else { at };
        level.start + at as usize * self.stride
    }
}

/// A tile that is being computed.
struct Run<'a, 'b, T> {
    request: &'a Convolution<T>,
    instructions: Instructions,
    input: &'a [T],
    target: &'a SharedOutput<'a, T>,
    levels: Levels,
    buffer: &'a mut [T],
    /// Where the columns of samples of a block begin.
    columns: [usize; MAX_COLUMNS],
    progress: &'a mut Progress<'b>,
}

impl<T: Lanes> Run<'_, '_, T> {
    /// Computes the tile.
    fn all(&mut self) -> Result<(), Error> {
        let sides = self.request.boundary();
        let constants = self.buffer.chunks_exact_mut(self.levels.stride).take(CONSTANTS);
        for (column, boundary) in constants.zip([1, 2].into_iter().flat_map(|d| sides[d].both())) {
            column.fill(boundary.constant());
        }
        let last = self.levels.last;
        let pages = self.levels.levels[last].reach[2].end;
        while self.levels.levels[last].page < pages {
            self.block(last)?;
        }
        Ok(())
    }

    /// Computes a level up to `column` of `page`, which it has.
    fn advance(&mut self, level: usize, column: isize, page: isize) -> Result<(), Error> {
        loop {
            let Level { column: next, page: of_page, .. } = self.levels.levels[level];
            if (of_page, next) >= (page, column) {
                return Ok(());
            }
            self.block(level)?;
        }
    }

    /// Computes the next columns of a level.
    fn block(&mut self, level: usize) -> Result<(), Error> {
        let Level { ref reach, column, page, .. } = self.levels.levels[level];
        let [rows, columns, _] = reach.clone();
        let left = (columns.end - column) as usize;
        let count = if level == 0 { 1 } else { kernel::columns_at_once(self.request.filter(), left) };
        if level == 0 {
            self.fill(column, page);
        } else {
            let [_, across, front] = self.request.filter().radius().map(|radius| radius as isize);
            let [_, before, pages] = &self.levels.levels[level - 1].reach;
            let column = (column + count as isize + across).min(before.end);
            let page = (page + front).min(pages.end - 1);
            self.advance(level - 1, column, page)?;
            self.prefetch(level);
            self.compute(level, count);
        }
        if level < self.levels.last {
            for column in column..column + count as isize {
                self.pad(level, column, page);
            }
            self.progress.step(0)?;
        } else {
            self.progress.step(count * rows.len() * level)?;
        }
        let next = &mut self.levels.levels[level];
        next.column += count as isize;
        next.next += count;
        if next.next >= next.ring {
            next.next -= next.ring;
        }
        if next.column == columns.end {
            (next.column, next.page) = (columns.start, page + 1);
        }
        Ok(())
    }

    /// Computes so many columns of a level from the one before.
    fn compute(&mut self, level: usize, count: usize) {
        let Run { request, levels, columns, .. } = self;
        let (filter, boundary, size) = (request.filter(), request.boundary(), request.size());
        let ([_, width, depth], [above, across, front]) = (filter.size(), filter.radius());
        let Level { ref reach, column, page, start, .. } = levels.levels[level];
        let (rows, stride) = (&reach[0], levels.stride);
        let (before, behind) = self.buffer.split_at_mut(start);
        // Where the samples of the first row begin in a column.
        let first = (rows.start - levels.rows.start) as usize - above;
        // Where the samples of the outputs begin.
        let (across_all, mut number) = (count + width - 1, 0);
        for k in 0..depth {
            let page = levels.at(2, page + k as isize - front as isize, &boundary, size);
            for j in 0..across_all {
                let column = levels.at(1, column + j as isize - across as isize, &boundary, size);
                columns[number] = first
                    + match page.and_then(|page| Ok((column?, page))) {
                        Ok((column, page)) => levels.place(level - 1, column, page),
                        Err(constants) => constants * stride,
                    };
                number += 1;
            }
        }
        let mut outputs: [&mut [T]; COLUMNS] = std::array::from_fn(|_| Default::default());
        let ring = SharedOutput::new(behind);
        for (c, output) in outputs[..count].iter_mut().enumerate() {
            let column = column + c as isize;
            // SAFETY: no other output has these places: other columns of this tile, or of this ring, have others, and
            // nobody else has this tile or this ring.
            *output = unsafe {
                if level == levels.last {
                    let column = size[0] * (column as usize + size[1] * page as usize);
                    let places = column + rows.start as usize..column + rows.end as usize;
                    self.target.places(places)
                } else {
                    let column = levels.place(level, column, page) - start;
                    let first = (rows.start - levels.rows.start) as usize;
                    debug_assert!(first + rows.len() <= stride);
                    ring.places(column + first..column + first + rows.len())
                }
            };
        }
        kernel::compute(self.instructions, filter, before, &columns[..number], &mut outputs[..count]);
    }

    /// Writes what the boundary says into the rows of a column that the next level needs and this one does not reach.
    fn pad(&mut self, level: usize, column: isize, page: isize) {
        let (boundary, size) = (self.request.boundary(), self.request.size());
        let above = self.request.filter().radius()[0] as isize;
        let (has, next) = (&self.levels.levels[level].reach[0], &self.levels.levels[level + 1].reach[0]);
        let first = self.levels.rows.start;
        let place = self.levels.place(level, column, page);
        let samples = &mut self.buffer[place..][..self.levels.stride];
        for row in (next.start - above..has.start).chain(has.end..next.end + above) {
            samples[(row - first) as usize] = match boundary[0].sample_at(row, size[0]) {
                Ok(row) => samples[(row as isize - first) as usize],
                Err(constant) => constant,
            };
        }
    }

    /// Copies a column of the array, which may lie outside where that is endless, to the ring of level 0.
    fn fill(&mut self, column: isize, page: isize) {
        let (boundary, [rows, columns, pages]) = (self.request.boundary(), self.request.size());
        let has = self.levels.levels[0].reach[0].clone();
        let place = self.levels.place(0, column, page) + (has.start - self.levels.rows.start) as usize;
        let samples = &mut self.buffer[place..][..has.len()];
        let (Ok(j), Ok(k)) = (boundary[1].sample_at(column, columns), boundary[2].sample_at(page, pages)) else {
            unreachable!("a level reaches beyond the array where that is endless, and there every place has a sample");
        };
        let column = &self.input[(j + columns * k) * rows..][..rows];
        let inside = has.start.clamp(0, rows as isize)..has.end.clamp(0, rows as isize);
        let inside = if inside.is_empty() { has.start..has.start } else { inside };
        let (before, behind) = ((inside.start - has.start) as usize, (inside.end - has.start) as usize);
        samples[before..behind].copy_from_slice(&column[inside.start.max(0) as usize..][..behind - before]);
        for i in (0..before).chain(behind..samples.len()) {
            samples[i] = boundary[0].value_at(has.start + i as isize, column);
        }
    }

    /// Asks for the memory that the first level and the last one will come to when every level has done a block more: a
    /// part at each level, so that it is on its way while others are computed.
    fn prefetch(&self, level: usize) {
        let (levels, [rows, columns, _]) = (&self.levels, self.request.size());
        for (of, memory) in [(0, self.input.as_ptr()), (levels.last, self.target.as_ptr())] {
            let Level { reach, column, page, .. } = &levels.levels[of];
            let (first, len) = (reach[0].start.max(0) as usize, reach[0].len().min(rows));
            let part = first + len * (level - 1) / levels.last..first + len * level / levels.last;
            for column in *column..*column + COLUMNS as isize {
                let column = (column + COLUMNS as isize + *page * columns as isize) * rows as isize;
                simd::prefetch(memory.wrapping_offset(column + part.start as isize), part.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::Level as Instruction;
    use crate::stencil::{Boundary, Compute, Ends, Filter, Real, Reference};

    /// A number of each sort at changing places: now ordinary ones, now such that spread, or fade away.
    fn samples<T: Real>(count: usize, seed: usize) -> Vec<T> {
        const AWKWARD: [f64; 6] = [-0.0, f64::INFINITY, f64::NAN, 1e-310, f64::NEG_INFINITY, f64::MIN_POSITIVE];
        let sample = |i: usize| match (i + 31 * seed) % 61 {
            place if seed % 2 == 1 && place == 17 => T::from_f64(AWKWARD[i % AWKWARD.len()]),
            _ => T::from_f64(((i * 37 + seed) as f64).sin()),
        };
        (0..count).map(sample).collect()
    }

    /// However the array is cut, and however many sweeps a tile does, the result is that of the whole, and every update
    /// is counted once.
    fn expect_the_same<T: Lanes>(
        size: [usize; 3],
        of_filter: [usize; 3],
        boundary: Sides<T>,
        sweeps: usize,
        tilings: &[Tiling],
    ) where
        Reference: Compute<T>,
    {
        let (elements, entries) = (size.iter().product::<usize>(), of_filter.iter().product::<usize>());
        let entries: Vec<T> =
            (0..entries).map(|i| T::from_f64((i as f64 + 0.5).cos() / (entries as f64).sqrt())).collect();
        for seed in [0, 1] {
            let input = samples::<T>(elements, seed + sweeps % 2 * 2);
            let request = Convolution::new(size, Filter::new(entries.clone(), of_filter).unwrap());
            let request = request.with_boundary(boundary).with_sweeps(sweeps);
            let mut expected = vec![T::default(); elements];
            let (from, to) = ((&input[..]).into(), (&mut expected[..]).into());
            Compute::convolution(&Reference, &request, from, to, &Watch::new()).unwrap();
            for tiling in tilings {
                for instructions in Instruction::ALL.into_iter().filter_map(Instruction::detect) {
                    let (mut output, watch) = (vec![T::from_f64(-7.0); elements], Watch::new());
                    sweeps_in(*tiling, &request, instructions, &input, &mut output, &watch).unwrap();
                    let what = format!("{request:?} in {tiling:?}, {}", instructions.level().name());
                    assert!(output.iter().zip(&expected).all(|(a, &b)| a.same(b)), "{what}");
                    assert_eq!(watch.done(), (elements * sweeps) as u64, "{what}");
                }
            }
        }
    }

    /// The same on all sides, and sides of their own.
    fn boundaries<T: Real>() -> Vec<Sides<T>> {
        let [one, two] = [1.5, -2.5].map(|value| Boundary::Constant(T::from_f64(value)));
        let same = [one, Boundary::Replicate, Boundary::Symmetric, Boundary::Mirror, Boundary::Circular];
        let ends = |low, high| Ends::new(low, high).unwrap();
        let own = [
            [ends(one, two), ends(Boundary::Mirror, two), Boundary::Circular.into()],
            [Boundary::Mirror.into(), Boundary::Circular.into(), ends(two, Boundary::Symmetric)],
            [Boundary::Circular.into(), ends(two, one), ends(one, Boundary::Mirror)],
        ];
        same.map(Sides::from).into_iter().chain(own.map(Sides::from)).collect()
    }

    /// Tiles of such sizes that an array has room for.
    fn tilings(size: [usize; 3], along: [&[usize]; 3], sweeps: &[usize]) -> Vec<Tiling> {
        let mut tilings = Vec::new();
        for &rows in along[0] {
            for &columns in along[1] {
                for &pages in along[2] {
                    for &sweeps in sweeps {
                        let of_tile = [rows, columns, pages];
                        let tiling = Tiling { size: [0, 1, 2].map(|d| of_tile[d].min(size[d])), sweeps };
                        if !tilings.contains(&tiling) {
                            tilings.push(tiling);
                        }
                    }
                }
            }
        }
        tilings
    }

    #[test]
    fn tilings_of_images_agree() {
        for size in [[1, 1, 1], [3, 2, 1], [2, 9, 1], [41, 1, 1], [1, 23, 1], [38, 17, 1], [9, 12, 2]] {
            for (filter, sweeps) in [
                ([3, 3, 1], 1),
                ([3, 3, 1], 2),
                ([3, 3, 1], 5),
                ([5, 5, 1], 3),
                ([7, 7, 1], 2),
                ([1, 5, 1], 4),
                ([7, 1, 1], 4),
                ([3, 13, 1], 1),
            ] {
                let tilings = tilings(size, [&[1, 8, 19, 50], &[1, 4, 7, 50], &[1]], &[1, 2, sweeps]);
                for boundary in boundaries() {
                    expect_the_same::<f64>(size, filter, boundary, sweeps, &tilings);
                }
            }
        }
    }
    #[test]
    fn tilings_of_volumes_agree() {
        for size in [[1, 1, 1], [2, 1, 7], [9, 8, 1], [11, 19, 9], [5, 3, 21]] {
            for (filter, sweeps) in
                [([3, 3, 3], 1), ([3, 3, 3], 5), ([5, 5, 5], 2), ([1, 1, 7], 3), ([3, 5, 3], 3), ([5, 1, 3], 2)]
            {
                let tilings = tilings(size, [&[4, 50], &[3, 8, 50], &[2, 5, 50]], &[1, 2, sweeps]);
                for boundary in boundaries() {
                    expect_the_same::<f64>(size, filter, boundary, sweeps, &tilings);
                }
            }
        }
    }

    /// As many sweeps as a tile does at most, one more, and more than two passes of them.
    #[test]
    fn tilings_of_many_sweeps_agree() {
        for sweeps in [SWEEPS - 1, SWEEPS, SWEEPS + 1, 2 * SWEEPS + 1] {
            let size = [43, 37, 1];
            let tilings = tilings(size, [&[21, 50], &[13, 50], &[1]], &[SWEEPS]);
            for boundary in boundaries() {
                expect_the_same::<f64>(size, [3, 3, 1], boundary, sweeps, &tilings);
                expect_the_same::<f64>(
                    [7, 6, 3],
                    [3, 3, 1],
                    boundary,
                    sweeps,
                    &[Tiling { size: [7, 6, 1], sweeps: 16 }],
                );
                expect_the_same::<f64>(
                    [4, 6, 5],
                    [3, 3, 3],
                    boundary,
                    sweeps,
                    &[Tiling { size: [4, 4, 3], sweeps: 16 }],
                );
            }
        }
    }

    /// Vectors of singles are twice as long.
    #[test]
    fn tilings_in_single_agree() {
        for boundary in boundaries::<f32>() {
            for rows in [15, 16, 17, 31, 33, 47, 64, 65, 95, 130] {
                let (image, volume) = ([rows, 15, 1], [rows, 9, 3]);
                let of_image = tilings(image, [&[33, 200], &[6, 20], &[1]], &[1, 3]);
                expect_the_same(image, [3, 3, 1], boundary, 3, &of_image);
                expect_the_same(image, [5, 5, 1], boundary, 2, &of_image);
                expect_the_same(volume, [3, 3, 3], boundary, 2, &tilings(volume, [&[33, 200], &[4, 20], &[2]], &[2]));
            }
        }
    }

    /// Whatever the array and the filter, the tiles' rings stay small, and there is one for every thread where the
    /// array is large.
    #[test]
    fn chosen_tilings_fit() {
        for rows in [1, 2, 100, 511, 513, 4096, 1_000_000] {
            for columns in [1, 7, 160, 4096, 1_000_000] {
                for pages in [1, 3, 160] {
                    for filter in [[1, 1, 1], [3, 3, 1], [15, 15, 1], [3, 3, 3], [7, 7, 7], [1, 1, 7]] {
                        for sweeps in [1, 2, 1000] {
                            let entries = vec![0.0; filter.iter().product()];
                            let size = [rows, columns, pages];
                            let request = Convolution::new(size, Filter::new(entries, filter).unwrap());
                            let request = request.with_sweeps(sweeps).with_boundary(Boundary::Circular);
                            let tiling = Tiling::choose::<f64>(&request);
                            let what = format!("{size:?} by {filter:?}, {sweeps} sweeps: {tiling:?}");
                            assert!((1..=sweeps.min(SWEEPS)).contains(&tiling.sweeps), "{what}");
                            assert!((0..3).all(|d| (1..=size[d]).contains(&tiling.size[d])), "{what}");
                            let parts = tiling.parts(size);
                            assert!((0..3).all(|d| parts[d] * tiling.size[d] < size[d] + tiling.size[d]), "{what}");
                            let whole = parts[0] == 1;
                            let tile = tiling.tile(size, parts, parts.iter().product::<usize>() / 2);
                            let bytes = size_of::<f64>() * Levels::new(&request, tiling.sweeps, tile, whole).elements;
                            // What is needed for one sweep is needed, however much it is.
                            assert!(tiling.sweeps == 1 || bytes <= RINGS * 3 / 2, "{what}: {bytes} bytes");
                            let threads = tasks::threads(work_of_sweep(&request));
                            let tiles: usize = parts.iter().product();
                            assert!(tiles >= threads || rows * columns * pages < 1 << 16, "{what}: {threads} threads");
                        }
                    }
                }
            }
        }
    }
}
