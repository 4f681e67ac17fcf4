use std::ops::Range;

/// How an array falls into the lines along which a stencil runs: lines of equal length, one after the other in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    length: usize,
    count: usize,
}

impl Lines {
    /// `count` lines of `length` elements.
    ///
    /// # Panics
    /// If that is more than memory can hold.
    pub fn new(length: usize, count: usize) -> Lines {
        assert!(length.checked_mul(count).is_some(), "{count} lines of {length} elements");
        Lines { length, count }
    }

    /// The lines along the first dimension that is not 1 of a column-major array of these dimensions.
    pub fn along_first_non_singleton(dims: &[usize]) -> Lines {
        let length = dims.iter().copied().find(|&dim| dim != 1).unwrap_or(1);
        let elements: usize = dims.iter().product();
        // The dimensions before it are all 1: the elements of a line are neighbours.
        Lines::new(length, elements.checked_div(length).unwrap_or(0))
    }

    /// Elements in a line.
    pub fn length(&self) -> usize {
        self.length
    }

    /// How many lines.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Elements in all.
    pub fn elements(&self) -> usize {
        self.length * self.count
    }

    /// The pieces of lines that the elements `range` consist of: for each, the elements of its line, and its own elements.
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
            assert_eq!(Lines::along_first_non_singleton(dims), Lines { length, count }, "{dims:?}");
        }
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
