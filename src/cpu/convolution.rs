//! Convolutions over images and volumes.
//!
//! Outputs are computed a run of rows at a time. The columns of samples under the filter are copied into a buffer with zeros where the array has none;
//! then each output is a chain over that buffer, and neighbouring rows are neighbouring numbers. Going on to the next column, only the columns that
//! enter are copied: the buffer is a ring.

use std::ops::Range;

use super::simd::{self, Lanes, Level, Operator, Vector};
use crate::stencil::{Convolution, Filter, MAX_FILTER_2D, MAX_FILTER_3D};

/// The rows that are computed at once at most: with 15 columns of doubles the buffer takes 64 KiB, and stays in the cache.
pub(super) const ROWS: usize = 512;

/// The most columns under a filter.
const MAX_COLUMNS: usize = if MAX_FILTER_3D * MAX_FILTER_3D > MAX_FILTER_2D { MAX_FILTER_3D * MAX_FILTER_3D } else { MAX_FILTER_2D };

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
    unsafe fn block<V: Vector<Element = T>, const U: usize>(&self, at: usize, output: *mut T) {
        let mut acc = [V::splat(T::default()); U];
        for (column, entries) in self.columns.iter().zip(self.filter.chunks_exact(self.rows)) {
            for (r, &entry) in entries.iter().enumerate() {
                let entry = V::splat(entry);
                for (u, acc) in acc.iter_mut().enumerate() {
                    // SAFETY: all columns are of one length, `rows - 1` more than there are outputs.
                    *acc = unsafe { V::load(column.as_ptr().add(at + r + u * V::LANES)) }.fma(entry, *acc);
                }
            }
        }
        for (u, acc) in acc.into_iter().enumerate() {
            // SAFETY: within what the caller promises.
            unsafe { acc.store(output.add(u * V::LANES)) };
        }
    }
}

/// Computes the columns `columns` of the output, counted through all pages, into `output`.
pub(super) fn columns<T: Lanes>(request: &Convolution<T>, level: Level, columns: Range<usize>, output: &mut [T]) {
    let rows = request.size()[0];
    for from in (0..rows).step_by(ROWS) {
        let mut strip = Strip::new(request, from..(from + ROWS).min(rows));
        for (i, column) in columns.clone().enumerate() {
            strip.column(level, column, &mut output[i * rows..][strip.rows.clone()]);
        }
    }
}

/// A run of rows, and the columns of samples that were last needed for it.
struct Strip<'a, T> {
    request: &'a Convolution<'a, T>,
    rows: Range<usize>,
    /// For each page and each column under the filter, a column of samples with those above and below.
    buffer: Vec<T>,
    /// Which column each one of the buffer holds, as column and page of the input that may lie outside.
    held: Vec<Option<(isize, isize)>>,
}

impl<'a, T: Lanes> Strip<'a, T> {
    fn new(request: &'a Convolution<'a, T>, rows: Range<usize>) -> Strip<'a, T> {
        let [height, width, depth] = request.filter().size();
        let length = rows.len() + height - 1;
        Strip { request, rows, buffer: vec![T::default(); length * width * depth], held: vec![None; width * depth] }
    }

    /// The outputs of one column, counted through all pages.
    fn column(&mut self, level: Level, column: usize, output: &mut [T]) {
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
        simd::evaluate(level, &Columns { columns: &columns[..width * depth], filter: filter.values(), rows: height }, output);
    }

    /// Copies the samples of a column, and zeros where it has none, to the buffer from `at` on.
    fn fill(&mut self, (j, k): (isize, isize), at: usize) {
        let ([rows, columns, pages], above) = (self.request.size(), self.request.filter().radius()[0]);
        let to = &mut self.buffer[at..][..self.rows.len() + 2 * above];
        to.fill(T::default());
        if (0..columns as isize).contains(&j) && (0..pages as isize).contains(&k) {
            let samples = self.rows.start.saturating_sub(above)..(self.rows.end + above).min(rows);
            let column = &self.request.input()[(j as usize + columns * k as usize) * rows..][..rows];
            let skipped = above - (self.rows.start - samples.start);
            to[skipped..][..samples.len()].copy_from_slice(&column[samples]);
        }
    }
}
