//! Convolutions over images and volumes.
//!
//! Outputs are computed a run of rows at a time. The columns of samples under the filter are copied into a buffer, with
//! what the boundary says where the array has none; then each output is a chain over that buffer, and neighbouring rows
//! are neighbouring numbers. Going on to the next column, only the columns that enter are copied: the buffer is a ring.
//! A task is such a run of rows of some columns.

use std::ops::Range;

use super::simd::{self, Instructions, Lanes, Operator, Vector};
use super::tasks::{self, STEP};
use crate::host::{self, SharedOutput};
use crate::memory;
use crate::stencil::{Boundary, Convolution, Error, Filter, MAX_FILTER_2D, MAX_FILTER_3D};
use crate::watch::Watch;

/// The rows that are computed at once at most: with 15 columns of doubles the buffer takes 64 KiB, and stays in the
/// cache.
const ROWS: usize = 512;

/// The most columns under a filter.
const MAX_COLUMNS: usize =
    if MAX_FILTER_3D * MAX_FILTER_3D > MAX_FILTER_2D { MAX_FILTER_3D * MAX_FILTER_3D } else { MAX_FILTER_2D };

/// Output `i` is the chain of `fma(columns[c][i + r], filter[r, c], acc)`, over the rows `r` within the columns `c`.
struct Columns<'a, T> {
    columns: &'a [&'a [T]],
    filter: &'a [T],
    rows: usize,
}

impl<T: Lanes> Operator<T> for Columns<'_, T> {
    fn outputs(&self) -> usize {
        self.columns[0].len() + 1 - self.rows
    }

    #[inline(always)]
    unsafe fn block<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, at: usize, output: *mut T) {
        let mut acc = [V::splat(set, T::default()); U];
        for (column, entries) in self.columns.iter().zip(self.filter.chunks_exact(self.rows)) {
            for (r, &entry) in entries.iter().enumerate() {
                let entry = V::splat(set, entry);
                for (u, acc) in acc.iter_mut().enumerate() {
                    // SAFETY: all columns are of one length, `rows - 1` more than there are outputs.
                    *acc = unsafe { V::load(set, column.as_ptr().add(at + r + u * V::LANES)) }.fma(entry, *acc);
                }
            }
        }
        for (u, acc) in acc.into_iter().enumerate() {
            // SAFETY: within what the caller promises.
            unsafe { acc.store(output.add(u * V::LANES)) };
        }
    }
}

/// All sweeps of a convolution.
pub(super) fn sweeps<T: Lanes>(
    request: &Convolution<T>,
    instructions: Instructions,
    input: &[T],
    output: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    let [rows, columns, pages] = request.size();
    if output.is_empty() || request.sweeps() == 0 {
        return host::copy(input, output, watch);
    }
    watch.check()?;
    let threads = tasks::threads(output.len().saturating_mul(request.filter().values().len()));
    // Runs of rows of one size, and so many columns that a task stays in the cache and every thread has one.
    let strips = rows.div_ceil(ROWS);
    let height = rows.div_ceil(strips);
    let width = (STEP / height).clamp(1, (columns * pages).div_ceil(threads.div_ceil(strips)));
    let groups = (columns * pages).div_ceil(width);
    host::ping_pong(input, output, request.sweeps(), |_, input, output| {
        let target = SharedOutput::new(output);
        tasks::run(strips * groups, threads, 1, watch, |number, _: &mut (), progress| {
            let (strip, group) = (number % strips, number / strips);
            let of_strip = strip * height..((strip + 1) * height).min(rows);
            let mut strip = Strip::new(request, input, of_strip.clone())?;
            for column in group * width..((group + 1) * width).min(columns * pages) {
                // SAFETY: no other task has these rows of this column.
                let output = unsafe { target.places(column * rows + of_strip.start..column * rows + of_strip.end) };
                strip.column(instructions, column, output);
                progress.step(output.len())?;
            }
            Ok(())
        })
    })
}

/// A run of rows, and the columns of samples that were last needed for it.
struct Strip<'a, T> {
    request: &'a Convolution<T>,
    input: &'a [T],
    rows: Range<usize>,
    /// For each page and each column under the filter, a column of samples with those above and below.
    buffer: Vec<T>,
    /// Which column each one of the buffer holds, as column and page of the input that may lie outside.
    held: Vec<Option<(isize, isize)>>,
}

impl<'a, T: Lanes> Strip<'a, T> {
    fn new(request: &'a Convolution<T>, input: &'a [T], rows: Range<usize>) -> Result<Strip<'a, T>, Error> {
        let [height, width, depth] = request.filter().size();
        let length = rows.len() + height - 1;
        let buffer = memory::zeros(length * width * depth, "the samples under the filter")?;
        Ok(Strip { request, input, rows, buffer, held: vec![None; width * depth] })
    }

    /// The outputs of one column, counted through all pages.
    fn column(&mut self, instructions: Instructions, column: usize, output: &mut [T]) {
        let filter: &Filter<T> = self.request.filter();
        let ([height, width, depth], [_, left, front]) = (filter.size(), filter.radius());
        let (j, k) = (column % self.request.size()[1], column / self.request.size()[1]);
        let length = self.rows.len() + height - 1;
        // Where in the ring the columns under the filter are, in the filter's order.
        let mut places = [0; MAX_COLUMNS];
        for (c, place_of_column) in places[..width * depth].iter_mut().enumerate() {
            let wanted = ((j + c % width) as isize - left as isize, (k + c / width) as isize - front as isize);
            // A column keeps its place while the filter moves over it.
            let place = wanted.0.rem_euclid(width as isize) as usize + width * (c / width);
            *place_of_column = place;
            if self.held[place] != Some(wanted) {
                self.held[place] = Some(wanted);
                self.fill(wanted, place * length);
            }
        }
        let mut columns: [&[T]; MAX_COLUMNS] = [&[]; MAX_COLUMNS];
        for (column, &place) in columns.iter_mut().zip(&places[..width * depth]) {
            *column = &self.buffer[place * length..][..length];
        }
        simd::evaluate(
            instructions,
            &Columns { columns: &columns[..width * depth], filter: filter.values(), rows: height },
            output,
        );
    }

    /// Copies the samples of a column, and what the boundary says around them and for a column outside, to the buffer
    /// from `at` on.
    fn fill(&mut self, (j, k): (isize, isize), at: usize) {
        let ([rows, columns, pages], above) = (self.request.size(), self.request.filter().radius()[0]);
        let boundary: Boundary<T> = self.request.boundary();
        let to = &mut self.buffer[at..][..self.rows.len() + 2 * above];
        let (Some(j), Some(k)) = (boundary.sample_at(j, columns), boundary.sample_at(k, pages)) else {
            return to.fill(boundary.constant());
        };
        let column = &self.input[(j + columns * k) * rows..][..rows];
        let samples = self.rows.start.saturating_sub(above)..(self.rows.end + above).min(rows);
        let before = above - (self.rows.start - samples.start);
        let behind = before + samples.len();
        // The row of the array that the buffer begins with.
        let first = self.rows.start as isize - above as isize;
        to[before..behind].copy_from_slice(&column[samples]);
        for i in (0..before).chain(behind..to.len()) {
            to[i] = boundary.sample_at(first + i as isize, rows).map_or(boundary.constant(), |row| column[row]);
        }
    }
}
