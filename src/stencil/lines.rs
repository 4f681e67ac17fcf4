//! Lines: the layout of an array of any number of dimensions for a stencil.
//!
//! A stencil runs along one dimension. The dimensions before it and those after it are merged, so that every array is
//! `inner x length x outer` elements in column-major order. Extents are in elements, and strides too; dimensions are
//! counted from 0.
//!
//! # Limits
//! The product of the extents fits `usize`; constructors panic otherwise. An array without elements has no lines.

use std::ops::Range;

/// Division of an array into the lines along which a stencil runs.
///
/// The array is seen as three dimensions, column-major: `inner` neighbouring lines, whose successive elements are
/// `inner` places apart, `length` elements a line, and `outer` such groups. Element `j` of the line `(i, k)` is at `i +
/// inner * (j + length * k)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    inner: usize,
    length: usize,
    outer: usize,
}

impl Lines {
    /// `count` lines of `length` contiguous elements, one line after the other.
    ///
    /// # Panics
    /// If that is more than memory can hold.
    pub fn new(length: usize, count: usize) -> Lines {
        Lines::strided(1, length, count)
    }

    /// Lines of `length` elements that are `inner` places apart: `inner` neighbouring lines, `outer` times.
    ///
    /// # Panics
    /// If that is more than memory can hold.
    pub fn strided(inner: usize, length: usize, outer: usize) -> Lines {
        let elements = inner.checked_mul(length).and_then(|elements| elements.checked_mul(outer));
        assert!(elements.is_some(), "{inner} by {outer} lines of {length} elements");
        Lines { inner, length, outer }
    }

    /// Lines along the first dimension that is not 1 of a column-major array of these dimensions.
    pub fn along_first_non_singleton(dims: &[usize]) -> Lines {
        let first = dims.iter().position(|&dim| dim != 1).unwrap_or(0);
        Lines::along(dims, first)
    }

    /// Lines along dimension `dim`, counted from 0, of a column-major array of these dimensions. Beyond the last
    /// dimension, lines have one element.
    pub fn along(dims: &[usize], dim: usize) -> Lines {
        let product = |dims: &[usize]| dims.iter().product();
        let dim = dim.min(dims.len());
        let length = dims.get(dim).copied().unwrap_or(1);
        if dims.contains(&0) {
            // An empty array has no lines in any dimension.
            return Lines { inner: 1, length, outer: 0 };
        }
        let (inner, outer) = (product(&dims[..dim]), product(&dims[(dim + 1).min(dims.len())..]));
        if length == 1 { Lines::new(1, inner * outer) } else { Lines::strided(inner, length, outer) }
    }

    /// Distance of a line's elements, and so the number of neighbouring lines.
    pub fn inner(&self) -> usize {
        self.inner
    }

    /// Number of elements in a line.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Number of groups of neighbouring lines.
    pub fn outer(&self) -> usize {
        self.outer
    }

    /// [`inner`](Self::inner), [`length`](Self::length) and [`outer`](Self::outer).
    pub fn extents(&self) -> [usize; 3] {
        [self.inner, self.length, self.outer]
    }

    /// Number of lines.
    pub fn count(&self) -> usize {
        self.inner * self.outer
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.inner * self.length * self.outer
    }

    /// Splits the elements `range` into pieces of lines, if the elements of a line are contiguous: for each, the
    /// elements of its line, and its own elements.
    pub fn pieces(self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let mut start = range.start;
        std::iter::from_fn(move || {
            (start < range.end).then(|| {
                let line = start - start % self.length;
                let line = line..line + self.length;
                let piece = start..line.end.min(range.end);
                start = piece.end;
                (line, piece)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_dimension_that_is_not_one_is_taken() {
        for (dims, length, count) in [
            (&[1, 20][..], 20, 1),
            (&[20, 1], 20, 1),
            (&[3, 4], 3, 4),
            (&[1, 1], 1, 1),
            (&[1, 1, 7], 7, 1),
            (&[1, 2, 7], 2, 7),
            (&[5, 1, 2, 3], 5, 6),
            (&[0, 0], 0, 0),
            (&[1, 0], 0, 0),
            (&[3, 0], 3, 0),
            (&[0, 3], 0, 0),
        ] {
            assert_eq!(Lines::along_first_non_singleton(dims), Lines::new(length, count), "{dims:?}");
        }
    }

    #[test]
    fn lines_along_any_dimension() {
        let dims = [4, 5, 6];
        let along = |dim| Lines::along(&dims, dim);
        assert_eq!(
            (along(0), along(1), along(2)),
            (Lines::strided(1, 4, 30), Lines::strided(4, 5, 6), Lines::strided(20, 6, 1))
        );
        assert_eq!((along(3), along(17)), (Lines::new(1, 120), Lines::new(1, 120)));
        assert_eq!(Lines::along(&[4, 1, 6], 1), Lines::new(1, 24));
        assert_eq!(Lines::along(&[4, 0, 6], 2).elements(), 0);
    }

    #[test]
    fn pieces_cover_the_range_and_end_with_their_line() {
        let lines = Lines::new(5, 3);
        let pieces: Vec<_> = lines.pieces(3..12).collect();
        assert_eq!(pieces, [(0..5, 3..5), (5..10, 5..10), (10..15, 10..12)]);
        assert_eq!(lines.pieces(4..4).count(), 0);
        assert_eq!(Lines::new(0, 0).pieces(0..0).count(), 0);
    }
}
