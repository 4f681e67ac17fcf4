//! All sweeps of one tile: each level asks the one before it for the columns that it needs.

use super::kernel::{self, COLUMNS};
use super::levels::{CONSTANTS, Level, Levels};
use crate::cpu::simd::{self, Instructions, Lanes};
use crate::cpu::tasks::Progress;
use crate::host::SharedOutput;
use crate::stencil::{Boundary, Convolution, Error};

/// A tile that is being computed.
pub(super) struct TileRun<'a, 'b, T> {
    pub(super) request: &'a Convolution<T>,
    pub(super) instructions: Instructions,
    pub(super) input: &'a [T],
    pub(super) target: &'a SharedOutput<'a, T>,
    pub(super) levels: Levels,
    pub(super) buffer: &'a mut [T],
    /// Where the columns of samples of a block begin.
    pub(super) columns: &'a mut [usize],
    /// The stride of the columns of constants that the buffer has; 0 where it has none.
    pub(super) filled: &'a mut usize,
    pub(super) progress: &'a mut Progress<'b>,
    /// Whether rows and columns of the array, and of the filter, changed places.
    pub(super) is_transposed: bool,
}

impl<T: Lanes> TileRun<'_, '_, T> {
    /// Computes the tile.
    pub(super) fn all(&mut self) -> Result<(), Error> {
        // Constants around an array whose dimensions changed places go with the tile's rows; others stay from tile to tile.
        if self.is_transposed || *self.filled != self.levels.stride {
            self.fill_constants();
            *self.filled = self.levels.stride;
        }
        let last = self.levels.last;
        let pages = self.levels.levels[last].reach[2].end;
        while self.levels.levels[last].page < pages {
            self.block(last)?;
        }
        Ok(())
    }

    /// Fills the columns of constants.
    fn fill_constants(&mut self) {
        let sides = self.request.boundary();
        let constants = self.buffer.chunks_exact_mut(self.levels.stride).take(CONSTANTS);
        for (column, (d, boundary)) in
            constants.zip([1, 2].into_iter().flat_map(|d| sides[d].both().map(|end| (d, end))))
        {
            column.fill(boundary.constant());
            // Where two constants meet, that of the later dimension counts: the rows', if they were columns before.
            if self.is_transposed && d == 1 {
                let ([low, high], rows) = (sides[0].both(), self.request.size()[0] as isize);
                for (sample, row) in column.iter_mut().zip(self.levels.rows.clone()) {
                    match if row < 0 { low } else { high } {
                        Boundary::Constant(constant) if row < 0 || row >= rows => *sample = constant,
                        _ => {}
                    }
                }
            }
        }
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
        let count =
            if level == 0 { 1 } else { kernel::columns_at_once(self.instructions, self.request.filter(), left) };
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

    /// Computes `count` columns of a level from the one before.
    fn compute(&mut self, level: usize, count: usize) {
        let TileRun { request, levels, columns, .. } = self;
        let (filter, boundary, size) = (request.filter(), request.boundary(), request.size());
        let ([_, width, depth], [above, across, front]) = (filter.size(), filter.before());
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
        kernel::compute(
            self.instructions,
            filter,
            before,
            &columns[..number],
            &mut outputs[..count],
            self.is_transposed,
        );
    }

    /// Writes ghost values into the rows of a column that the next level needs and this one does not reach.
    fn pad(&mut self, level: usize, column: isize, page: isize) {
        let (boundary, size) = (self.request.boundary(), self.request.size());
        let filter = self.request.filter();
        let (above, below) = (filter.before()[0] as isize, filter.radius()[0] as isize);
        let (has, next) = (&self.levels.levels[level].reach[0], &self.levels.levels[level + 1].reach[0]);
        let first = self.levels.rows.start;
        let place = self.levels.place(level, column, page);
        let samples = &mut self.buffer[place..][..self.levels.stride];
        for row in (next.start - above..has.start).chain(has.end..next.end + below) {
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
