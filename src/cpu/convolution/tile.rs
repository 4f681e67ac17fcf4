//! All sweeps of one tile: each level requests the columns that it needs of the one before.

use super::Placed;
use super::kernel::{self, COLUMNS};
use super::layout::Layout;
use super::levels::{CONSTANTS, Level, Levels};
use crate::cpu::simd::{self, Instructions, Lanes};
use crate::cpu::tasks::Progress;
use crate::host::SharedOutput;
use crate::stencil::{Boundary, Convolution, Error, Results, Samples};

/// A tile in computation.
pub(super) struct TileRun<'a, 'b, T: Lanes> {
    pub(super) layout: &'a Layout<'a, T>,
    pub(super) instructions: Instructions,
    pub(super) from: Placed<&'a dyn Samples<T>>,
    pub(super) to: Placed<&'a dyn Results<T>>,
    pub(super) levels: Levels,
    pub(super) buffer: &'a mut [T],
    /// Starts of the columns of samples of a block.
    pub(super) columns: &'a mut [usize],
    /// Stride of the columns of constants that the buffer has; 0 if it has none.
    pub(super) filled: &'a mut usize,
    pub(super) progress: &'a mut Progress<'b>,
}

impl<'a, T: Lanes> TileRun<'a, '_, T> {
    fn request(&self) -> &'a Convolution<T> {
        &self.layout.request
    }

    /// Computes the tile.
    pub(super) fn all(&mut self) -> Result<(), Error> {
        // Columns of constants persist from tile to tile. Those of an array with exchanged dimensions have the rows'
        // constants at their ends.
        let rows = &self.levels.rows;
        let has_ends = self.layout.by_rows && (rows.start < 0 || rows.end > self.request().size()[0] as isize);
        if has_ends || *self.filled != self.levels.stride {
            self.fill_constants();
            *self.filled = if has_ends { 0 } else { self.levels.stride };
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
        let Layout { request, by_rows, .. } = self.layout;
        let sides = request.boundary();
        let constants = self.buffer.chunks_exact_mut(self.levels.stride).take(CONSTANTS);
        for (column, (d, boundary)) in
            constants.zip([1, 2].into_iter().flat_map(|d| sides[d].both().map(|end| (d, end))))
        {
            column.fill(boundary.constant());
            // If two constants meet, that of the later dimension counts: the rows', if they were columns before.
            if *by_rows && d == 1 {
                let ([low, high], rows) = (sides[0].both(), request.size()[0] as isize);
                for (sample, row) in column.iter_mut().zip(self.levels.rows.clone()) {
                    match if row < 0 { low } else { high } {
                        Boundary::Constant(constant) if row < 0 || row >= rows => *sample = constant,
                        _ => {}
                    }
                }
            }
        }
    }

    /// Computes a level up to `column` of `page`, which it contains.
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
        let count = if level == 0 {
            self.fill(column, page, left)
        } else {
            let count = kernel::columns_at_once(self.instructions, self.request().filter(), left, self.layout.by_rows);
            let [_, across, front] = self.request().filter().radius().map(|radius| radius as isize);
            let [_, before, pages] = &self.levels.levels[level - 1].reach;
            let column = (column + count as isize + across).min(before.end);
            let page = (page + front).min(pages.end - 1);
            self.advance(level - 1, column, page)?;
            self.prefetch(level);
            self.compute(level, count);
            count
        };
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
        let TileRun { layout, levels, columns, .. } = self;
        let Layout { request, by_rows, .. } = layout;
        let (to, steps) = self.to;
        let (filter, boundary, size) = (request.filter(), request.boundary(), request.size());
        let ([_, width, depth], [above, across, front]) = (filter.size(), filter.before());
        let Level { ref reach, column, page, start, .. } = levels.levels[level];
        let (rows, stride) = (&reach[0], levels.stride);
        let (before, behind) = self.buffer.split_at_mut(start);
        // Offset in a column of the samples of the first row.
        let first = (rows.start - levels.rows.start) as usize - above;
        // Starts of the samples of the outputs.
        let (across_all, mut number) = (count + width - 1, 0);
        let leftmost = column - across as isize;
        let is_inside = levels.endless[1] || (leftmost >= 0 && leftmost as usize + across_all <= size[1]);
        for k in 0..depth {
            let page = levels.at(2, page + k as isize - front as isize, &boundary, size);
            let of_page = &mut columns[number..number + across_all];
            match page {
                Ok(page) if is_inside => {
                    let Level { start, ring, .. } = levels.levels[level - 1];
                    let mut slot = levels.slot(level - 1, leftmost, page);
                    for place in of_page {
                        *place = first + start + slot * stride;
                        slot = if slot + 1 == ring { 0 } else { slot + 1 };
                    }
                }
                _ => {
                    for (j, place) in of_page.iter_mut().enumerate() {
                        let column = levels.at(1, leftmost + j as isize, &boundary, size);
                        *place = first
                            + match page.and_then(|page| Ok((column?, page))) {
                                Ok((column, page)) => levels.place(level - 1, column, page),
                                Err(constants) => constants * stride,
                            };
                    }
                }
            }
            number += across_all;
        }
        // Place in memory of an output of the last level.
        let at =
            |c: usize| rows.start as usize * steps[0] + (column as usize + c) * steps[1] + page as usize * steps[2];
        let (is_last, mut is_there) = (level == levels.last, true);
        let mut outputs: [&mut [T]; COLUMNS] = std::array::from_fn(|_| Default::default());
        let ring = SharedOutput::new(behind);
        for (c, output) in outputs[..count].iter_mut().enumerate() {
            // SAFETY: no other output has these places: other columns of this tile, or of this ring, have others, and
            // no other task accesses this tile or this ring.
            *output = unsafe {
                let direct = if is_last && steps[0] == 1 { to.places(at(c)..at(c) + rows.len()) } else { None };
                is_there = direct.is_some();
                direct.unwrap_or_else(|| {
                    let column =
                        if is_last { c * stride } else { levels.place(level, column + c as isize, page) - start };
                    let first = (rows.start - levels.rows.start) as usize;
                    debug_assert!(first + rows.len() <= stride);
                    ring.places(column + first..column + first + rows.len())
                })
            };
        }
        let outputs = &mut outputs[..count];
        kernel::compute(self.instructions, filter, before, &columns[..number], outputs, *by_rows);
        if is_last && !is_there {
            let results: [&[T]; COLUMNS] = std::array::from_fn(|c| outputs.get(c).map_or(&[][..], |output| &**output));
            // SAFETY: as above.
            unsafe { to.write(at(0), [steps[0], steps[1]], &results[..count]) };
        }
    }

    /// Writes ghost values into the rows of a column that the next level needs and this one does not reach.
    fn pad(&mut self, level: usize, column: isize, page: isize) {
        let (boundary, size) = (self.request().boundary(), self.request().size());
        let filter = self.request().filter();
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

    /// Copies columns of the array, which may lie outside if that is unbounded, to the ring of level 0: one of the
    /// `left` still to be copied; if they are contiguous in memory, up to as many as the next level takes. Returns
    /// their number.
    fn fill(&mut self, column: isize, page: isize, left: usize) -> usize {
        let (boundary, [rows, columns, pages]) = (self.request().boundary(), self.request().size());
        let has = self.levels.levels[0].reach[0].clone();
        let ahead = (has.start - self.levels.rows.start) as usize;
        let (Ok(j), Ok(k)) = (boundary[1].sample_at(column, columns), boundary[2].sample_at(page, pages)) else {
            unreachable!("a level reaches beyond the array where that is endless, and there every place has a sample");
        };
        let (from, [down, across, behind]) = self.from;
        let count = if down == 1 { 1 } else { COLUMNS.min(left).min(columns - j) };
        let inside = has.start.clamp(0, rows as isize)..has.end.clamp(0, rows as isize);
        let inside = if inside.is_empty() { has.start..has.start } else { inside };
        let within = (inside.start - has.start) as usize..(inside.end - has.start) as usize;
        let levels = &self.levels;
        let place = |c: usize| levels.place(0, column + c as isize, page) + ahead;
        let first = j * across + k * behind;
        let inside = first + inside.start.max(0) as usize * down;
        if count == 1 {
            from.read(inside, [down, across], &mut [&mut self.buffer[place(0)..][within.clone()]]);
        } else {
            let ring = SharedOutput::new(self.buffer);
            let mut to: [&mut [T]; COLUMNS] = std::array::from_fn(|_| Default::default());
            for (c, to) in to[..count].iter_mut().enumerate() {
                // SAFETY: columns of a ring have places of their own.
                *to = unsafe { ring.places(place(c) + within.start..place(c) + within.end) };
            }
            from.read(inside, [down, across], &mut to[..count]);
        }
        for i in (0..within.start).chain(within.end..has.len()) {
            let row = boundary[0].sample_at(has.start + i as isize, rows);
            for c in 0..count {
                let sample = &mut self.buffer[place(c) + i];
                match row {
                    Ok(row) => {
                        let sample = std::slice::from_mut(sample);
                        from.read(first + c * across + row * down, [1, 0], &mut [sample]);
                    }
                    Err(constant) => *sample = constant,
                }
            }
        }
        count
    }

    /// Prefetches the memory that the first level and the last one will reach when every level has advanced by a block:
    /// a part at each level, so that the transfers overlap the computation of others.
    fn prefetch(&self, level: usize) {
        let (levels, rows, (from, to)) = (&self.levels, self.request().size()[0], (self.from, self.to));
        let ends = [(0, from.0.memory(), from.0.count(), from.1), (levels.last, to.0.memory(), to.0.count(), to.1)];
        for (of, (memory, bytes), count, steps) in ends {
            if steps[0] != 1 {
                continue;
            }
            let Level { reach, column, page, .. } = &levels.levels[of];
            let (first, len) = (reach[0].start.max(0) as usize, reach[0].len().min(rows));
            let part = first + len * (level - 1) / levels.last..first + len * level / levels.last;
            for column in *column..*column + COLUMNS as isize {
                let column = (column + COLUMNS as isize) * steps[1] as isize + *page * steps[2] as isize;
                let start = column + part.start as isize;
                if (0..count as isize).contains(&start) {
                    simd::prefetch(memory.wrapping_offset(start * bytes as isize), part.len() * bytes);
                }
            }
        }
    }
}
