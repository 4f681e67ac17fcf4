//! Copies of a tile's samples out of an array, and of its outputs to their places.

use std::ops::Range;

use super::{Cut, Tile};
use crate::host::SharedOutput;
use crate::stencil::Real;

impl<T: Real> Cut<T> {
    /// Copies the samples in this range of a tile out of `input`.
    pub(crate) fn gather(&self, tile: &Tile, part: Range<usize>, input: &[T], to: &mut [T]) {
        let [rows, columns, pages] = self.size;
        let [height, width, depth] = tile.size();
        assert!(tile.around(0) == [0; 2] && part.len() == to.len());
        let first = [1, 2].map(|d| tile.outputs[d].start as isize - tile.before[d] as isize);
        let (mut at, mut to) = (part.start, to);
        while !to.is_empty() {
            let (row, across, along) = (at % height, at / height % width, at / height / width);
            let (column, page) = (first[0] + across as isize, first[1] + along as isize);
            // Whole columns inside the array are copied at once where they are neighbours in memory, and so are pages.
            let inside = height == rows && (0..columns as isize).contains(&column);
            let beside = if inside { (width - across).min(columns - column as usize) } else { 1 };
            let whole = inside && width == columns && tile.before[1] == 0 && (0..pages as isize).contains(&page);
            let behind = if whole { (depth - along).min(pages - page as usize) - 1 } else { 0 };
            let run = (height * (beside + columns * behind) - row).min(to.len());
            let to = to.split_off_mut(..run).expect("a run is no longer than the rest");
            match self.column_at(column, page) {
                Ok(column) => to.copy_from_slice(&input[tile.outputs[0].start + row + rows * column..][..run]),
                Err(constant) => to.fill(constant),
            }
            at += run;
        }
    }

    /// Returns the number of the column at a place, among all of the array; or the constant there.
    fn column_at(&self, column: isize, page: isize) -> Result<usize, T> {
        let [_, columns, pages] = self.size;
        let page = self.sides[2].sample_at(page, pages)?;
        Ok(self.sides[1].sample_at(column, columns)? + columns * page)
    }

    /// Copies a part of the [span](Tile::span) of a tile to its places in the array. The part is counted from the
    /// beginning of the span.
    ///
    /// # Safety
    /// No other thread is at work on this part of this tile.
    pub(crate) unsafe fn scatter(&self, tile: &Tile, part: Range<usize>, from: &[T], output: &SharedOutput<T>) {
        let put = |place: usize, from: &[T]| {
            // SAFETY: every element is an output of one tile.
            unsafe { output.places(place..place + from.len()) }.copy_from_slice(from);
        };
        assert!(tile.around(0) == [0; 2] && part.len() == from.len());
        if let Some(places) = self.run_of(tile) {
            return put(places.start + part.start, from);
        }
        let [rows, columns, _] = self.size;
        let ([height, width, _], outputs) = (tile.size(), tile.outputs[1].len());
        if part.is_empty() || outputs == 0 {
            return;
        }
        // The halos of two pages lie between their outputs. Columns that are whole are neighbours in the array, too.
        let (page, together) = (height * width, if height == rows { outputs } else { 1 });
        for along in part.start / page..part.end.div_ceil(page) {
            for across in (0..outputs).step_by(together) {
                let run = page * along + height * across;
                let [start, end] = [part.start, part.end].map(|at| at.clamp(run, run + height * together));
                if start < end {
                    let column = tile.outputs[1].start + across + columns * (tile.outputs[2].start + along);
                    let place = tile.outputs[0].start + rows * column + (start - run);
                    put(place, &from[start - part.start..end - part.start]);
                }
            }
        }
    }
}
