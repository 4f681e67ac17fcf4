//! Implicit expansion (broadcasting) of two arrays.

use super::RANK;
use crate::stencil::Array;

/// An input of [`Binary`](super::Binary).
#[derive(Debug, Clone, Copy)]
pub enum Operand<'a, T> {
    /// Array whose size is the one in the [`Expansion`].
    Array(&'a Array<T>),
    /// One number for all elements.
    Scalar(T),
}

/// Implicit expansion (broadcasting) of two arrays: along a dimension in which one of them has a single element, that
/// element is combined with all elements of the other.
///
/// Neighbouring dimensions that expand alike are merged: arrays of one size have one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expansion {
    size: [usize; RANK],
    steps: [[usize; RANK]; 2],
    /// Number of elements of each operand.
    elements: [usize; 2],
}

impl Expansion {
    /// Combines arrays of these sizes, each of any number of dimensions; missing ones are 1. `None` if a dimension
    /// differs and is not 1, or if more than [`RANK`] dimensions remain.
    pub fn new(sizes: [&[usize]; 2]) -> Option<Expansion> {
        let rank = sizes[0].len().max(sizes[1].len());
        let of = |which: usize, d: usize| sizes[which].get(d).copied().unwrap_or(1);
        // Each merged dimension: its extent, and true for each operand that does not expand.
        let mut merged: Vec<(usize, [bool; 2])> = Vec::new();
        for d in 0..rank {
            let (a, b) = (of(0, d), of(1, d));
            if a != b && a != 1 && b != 1 {
                return None;
            }
            let extent = if a == 1 { b } else { a };
            if extent == 1 {
                continue;
            }
            let goes = [a == extent, b == extent];
            match merged.last_mut() {
                Some((before, same)) if *same == goes => *before = before.checked_mul(extent)?,
                _ => merged.push((extent, goes)),
            }
        }
        if merged.len() > RANK {
            return None;
        }
        let mut expansion = Expansion { size: [1; RANK], steps: [[0; RANK]; 2], elements: [1; 2] };
        for (d, (extent, goes)) in merged.into_iter().enumerate() {
            expansion.size[d] = extent;
            for which in (0..2).filter(|&which| goes[which]) {
                expansion.steps[which][d] = expansion.elements[which];
                expansion.elements[which] = expansion.elements[which].checked_mul(extent)?;
            }
        }
        Some(expansion)
    }

    /// Extents of the result, the first dimension fastest; 1 for missing dimensions.
    pub fn size(&self) -> [usize; RANK] {
        self.size
    }

    /// Strides of each operand along each dimension of the result: 0 where it expands.
    pub fn steps(&self) -> [[usize; RANK]; 2] {
        self.steps
    }

    /// Number of elements of the result.
    pub fn elements(&self) -> usize {
        self.size.iter().product()
    }

    /// Number of elements of an operand, by its index.
    pub fn elements_of(&self, operand: usize) -> usize {
        self.elements[operand]
    }

    /// True if neither operand expands.
    pub fn is_plain(&self) -> bool {
        self.size[1] == 1 && (self.size[0] == 1 || self.steps == [[1, 0, 0, 0, 0]; 2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_that_go_together_are_merged() {
        let expansion = |a: &[usize], b: &[usize]| Expansion::new([a, b]);
        let plain = expansion(&[3, 4, 5], &[3, 4, 5]).unwrap();
        assert_eq!((plain.size(), plain.is_plain()), ([60, 1, 1, 1, 1], true));
        assert!(expansion(&[1, 1], &[1, 1]).unwrap().is_plain());
        let row = expansion(&[3, 4, 5], &[1, 4]).unwrap();
        assert_eq!(row.size(), [3, 4, 5, 1, 1]);
        assert_eq!(row.steps(), [[1, 3, 12, 0, 0], [0, 1, 0, 0, 0]]);
        assert_eq!((row.elements(), row.elements_of(0), row.elements_of(1), row.is_plain()), (60, 60, 4, false));
        let outer = expansion(&[7, 1], &[1, 9]).unwrap();
        assert_eq!((outer.size(), outer.steps()), ([7, 9, 1, 1, 1], [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]));
        assert_eq!(expansion(&[3, 4], &[4, 3]), None);
        assert_eq!(expansion(&[2, 1, 2, 1, 2, 1], &[1, 2, 1, 2, 1, 2]), None);
        let none = expansion(&[0, 4], &[1, 4]).unwrap();
        assert_eq!((none.elements(), none.elements_of(0), none.elements_of(1)), (0, 0, 4));
    }
}
