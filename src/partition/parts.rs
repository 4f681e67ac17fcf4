//! Parts of an array along one dimension, and the pieces of other parts that make up a halo.
//!
//! The array is a row of *planes*: in the dimension along which it is divided a plane has one element. Planes of the
//! whole are counted over all parts, in their order.

use std::ops::Range;

use super::planes::Planes;

/// Number of planes of each part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Start of each part, and the end of the last one.
    starts: Vec<usize>,
    /// Number of parts that have any planes.
    filled: usize,
}

impl Parts {
    /// Makes parts of these lengths; `None` if their sum overflows.
    pub(crate) fn new(lengths: &[usize]) -> Option<Parts> {
        let mut starts = vec![0_usize];
        for &length in lengths {
            starts.push(starts[starts.len() - 1].checked_add(length).filter(|&end| isize::try_from(end).is_ok())?);
        }
        Some(Parts { starts, filled: lengths.iter().filter(|&&length| length > 0).count() })
    }

    /// Returns the number of parts.
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of planes.
    pub(crate) fn length(&self) -> usize {
        self.starts[self.count()]
    }

    /// Returns the planes of a part.
    pub(crate) fn part(&self, number: usize) -> Range<usize> {
        self.starts[number]..self.starts[number + 1]
    }

    /// Returns the number of parts that have any planes.
    pub(crate) fn filled(&self) -> usize {
        self.filled
    }

    /// Returns the number of planes of the longest part.
    pub(crate) fn longest(&self) -> usize {
        (0..self.count()).map(|number| self.part(number).len()).max().unwrap_or(0)
    }

    /// Returns the halo of a part, of so many planes before it and after it.
    pub(crate) fn halo(&self, number: usize, [before, after]: [usize; 2]) -> Halo {
        let [start, end] = [self.starts[number], self.starts[number + 1]].map(|place| place as isize);
        Halo([self.pieces(start - before as isize..start), self.pieces(end..end + after as isize)])
    }

    /// Splits a range of the whole, which wraps around, into runs of planes by part.
    fn pieces(&self, range: Range<isize>) -> Vec<Piece> {
        let (mut pieces, mut at) = (Vec::new(), range.start);
        while at < range.end {
            let plane = at.rem_euclid(self.length() as isize) as usize;
            // The last part that begins there or before: parts without planes precede it.
            let number = self.starts.partition_point(|&start| start <= plane) - 1;
            let part = self.part(number);
            let count = (part.end - plane).min((range.end - at) as usize);
            pieces.push(Piece { part: number, planes: plane - part.start..plane - part.start + count });
            at += count as isize;
        }
        pieces
    }
}

/// Returns the number of planes of a halo before a part and after it, in an array of this length. It ends at the array's
/// edges, unless it extends beyond them.
pub(crate) fn around(part: &Range<usize>, halo: usize, length: usize, extended: bool) -> [usize; 2] {
    [part.start, length - part.end].map(|room| if extended { halo } else { halo.min(room) })
}

/// Planes of a part, counted from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) part: usize,
    pub(crate) planes: Range<usize>,
}

/// Halo of a part: the pieces before it, and those after it. In a periodic array a plane may be there more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Halo(pub(crate) [Vec<Piece>; 2]);

impl Halo {
    /// Returns all pieces.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.0.iter().flatten()
    }

    /// Returns each piece, and its planes in an array of `length` planes which begins with the halo before the part and
    /// ends with that after it.
    pub(crate) fn placed(&self, length: usize) -> impl Iterator<Item = (&Piece, Planes)> {
        let [before, after] = &self.0;
        let first = length - after.iter().map(|piece| piece.planes.len()).sum::<usize>();
        [(before, 0), (after, first)].into_iter().flat_map(move |(pieces, first)| {
            pieces.iter().scan(first, move |end, piece| {
                let start = *end;
                *end += piece.planes.len();
                Some((piece, Planes::run(start..*end, length)))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_skip_parts_without_planes_and_go_round() {
        let parts = Parts::new(&[0, 3, 0, 2, 0]).unwrap();
        let piece = |part, planes| Piece { part, planes };
        assert_eq!((parts.count(), parts.length(), parts.longest()), (5, 5, 3));
        assert_eq!(parts.pieces(1..4), [piece(1, 1..3), piece(3, 0..1)]);
        assert_eq!(parts.pieces(-1..1), [piece(3, 1..2), piece(1, 0..1)]);
        assert_eq!(parts.pieces(-7..0).len(), 3);
        assert_eq!(parts.pieces(2..2), []);
        assert_eq!(Parts::new(&[usize::MAX, 1]), None);
    }
}
