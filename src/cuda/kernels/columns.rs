//! Launches over whole columns: the parts of a sweep, so that no launch takes too long.

use std::ops::Range;

/// Units into which a sweep over some neighbouring columns can be cut: columns of tiles, from the first row to the
/// last. All columns are counted through the pages of the array.
#[derive(Debug, Clone)]
pub(super) struct ColumnUnits {
    /// Columns of a page.
    columns: usize,
    /// Columns of a tile.
    tile: usize,
    /// Columns that the sweep computes.
    outputs: Range<usize>,
    /// Columns of tiles, counted from the page of the first output.
    units: Range<usize>,
}

impl ColumnUnits {
    pub(super) fn new(columns: usize, tile: usize, outputs: Range<usize>) -> ColumnUnits {
        ColumnUnits { columns, tile, units: columns_of_tiles(columns, tile, outputs.clone()), outputs }
    }

    /// Returns the number of units.
    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    /// Returns the columns that the sweep computes.
    pub(super) fn outputs(&self) -> &Range<usize> {
        &self.outputs
    }

    /// Returns the columns that some of the units compute.
    pub(super) fn outputs_of(&self, units: Range<usize>) -> Range<usize> {
        let across = self.columns.div_ceil(self.tile);
        let ahead = self.outputs.start / self.columns * across + self.units.start;
        // No tile reaches into another page.
        let first = |unit: usize| (ahead + unit) / across * self.columns + (ahead + unit) % across * self.tile;
        let end = if units.end == self.units.len() { self.outputs.end } else { first(units.end) };
        first(units.start).max(self.outputs.start)..end
    }
}

/// Returns the columns of tiles that have one of the columns `outputs`, counted from the first tile of the page in
/// which the outputs begin. A page has `columns` columns, a tile `tile`.
pub(super) fn columns_of_tiles(columns: usize, tile: usize, outputs: Range<usize>) -> Range<usize> {
    let last = outputs.end - 1;
    let pages = last / columns - outputs.start / columns;
    outputs.start % columns / tile..pages * columns.div_ceil(tile) + last % columns / tile + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tiles_of_some_columns_are_all_that_have_one_of_them() {
        for (columns, pages, tile) in [(1, 5, 4), (7, 3, 4), (8, 2, 4), (9, 3, 2), (3, 4, 1)] {
            let of_page = usize::div_ceil(columns, tile);
            for first in 0..columns * pages {
                for end in first + 1..=columns * pages {
                    // The column of tiles of every output.
                    let tiles = (first..end).map(|at| (at / columns - first / columns) * of_page + at % columns / tile);
                    let expected = tiles.clone().min().unwrap()..tiles.max().unwrap() + 1;
                    assert_eq!(columns_of_tiles(columns, tile, first..end), expected);
                }
            }
        }
    }

    /// The launches compute each column once, in order, and each column of tiles, too.
    #[test]
    fn launches_are_cut_between_tiles() {
        for (columns, pages, tile) in [(1, 1, 4), (10, 3, 4), (8, 3, 4), (3, 5, 4), (33, 2, 16), (7, 4, 1)] {
            let all = columns * pages;
            for outputs in (0..all).flat_map(|start| (start + 1..=all).map(move |end| start..end)) {
                let whole = ColumnUnits::new(columns, tile, outputs.clone());
                let units = whole.units.len();
                assert_eq!(whole.outputs_of(0..units), outputs);
                for most in [1, 2, 3, 5] {
                    let mut next = outputs.start;
                    for first in (0..units).step_by(most) {
                        let part = first..(first + most).min(units);
                        let step = whole.outputs_of(part.clone());
                        let what = format!("{outputs:?} of {columns} x {pages} by {tile}: {step:?}");
                        assert!(step.start == next && !step.is_empty(), "{what}");
                        assert_eq!(columns_of_tiles(columns, tile, step.clone()).len(), part.len(), "{what}");
                        next = step.end;
                    }
                    assert_eq!(next, outputs.end);
                }
            }
        }
    }
}
