//! Shifts: every element is copied from the same offset.

use crate::stencil::{Boundary, Ends};

/// `to[i] = from[i + offset]` along each of three dimensions. Beyond an end, a boundary other than a constant selects
/// the element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The array's extents.
    pub size: [usize; 3],
    /// Offset of the element read, along each dimension.
    pub offsets: [isize; 3],
    /// Boundary along each dimension.
    pub boundaries: [Boundary<f64>; 3],
}

/// Extent of a dimension, offset along it, and its boundary.
pub type Along = (usize, isize, Boundary<f64>);

impl Shift {
    /// Recognises the places `at` of a line, one for each element, as a shift along it; `None` if they are not.
    pub fn along(extent: usize, at: impl Fn(usize) -> usize) -> Option<Along> {
        if extent == 0 {
            return None;
        }
        // An element far from both ends determines the offset, if there is one; else one at an end.
        let candidates = [extent / 2, 0, extent - 1].map(|i| at(i) as isize - i as isize);
        let boundaries = [Boundary::Replicate, Boundary::Circular, Boundary::Symmetric, Boundary::Mirror];
        let mut all = candidates.into_iter().flat_map(|offset| boundaries.map(|boundary| (offset, boundary)));
        let fits = |&(offset, boundary): &(isize, Boundary<f64>)| {
            (0..extent).all(|i| boundary.sample_at(i as isize + offset, extent) == Some(at(i)))
        };
        all.find(fits).map(|(offset, boundary)| (extent, offset, boundary))
    }

    /// Shifts along these dimensions, the first one fastest; `None` if there are too many.
    pub fn new(dims: &[Along]) -> Option<Shift> {
        let stays = |&(extent, offset, _): &Along| offset == 0 || extent == 1;
        let mut merged: Vec<Along> = Vec::new();
        for dim in dims {
            match merged.last_mut() {
                Some(last) if stays(last) && stays(dim) => last.0 *= dim.0,
                _ => merged.push(*dim),
            }
        }
        if merged.len() > 3 {
            return None;
        }
        merged.resize(3, (1, 0, Boundary::Replicate));
        let of = |d: usize| merged[d];
        Some(Shift {
            size: [of(0).0, of(1).0, of(2).0],
            offsets: [of(0).1, of(1).1, of(2).1],
            boundaries: [of(0).2, of(1).2, of(2).2],
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.size.iter().product()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Place from which each element is read, counted from 0 over the whole array.
    pub fn places(&self) -> Vec<u64> {
        let along = [0, 1, 2].map(|d| {
            let (extent, ends) = (self.size[d], Ends::from(self.boundaries[d]));
            // A constant has no place.
            let place = |i: usize| ends.sample_at(i as isize + self.offsets[d], extent).unwrap_or(i);
            (0..extent).map(place).collect::<Vec<_>>()
        });
        let [rows, columns, pages] = &along;
        let lines = pages.iter().flat_map(|page| columns.iter().map(move |column| page * self.size[1] + column));
        lines.flat_map(|line| rows.iter().map(move |row| (line * self.size[0] + row) as u64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_read_beside_their_own_places() {
        let along_columns = |offset, boundary| Shift {
            size: [2, 4, 1],
            offsets: [0, offset, 0],
            boundaries: [Boundary::Replicate, boundary, Boundary::Replicate],
        };
        let [circular, replicate, mirror] = [Boundary::Circular, Boundary::Replicate, Boundary::Mirror];
        assert_eq!(along_columns(1, circular).places(), [2, 3, 4, 5, 6, 7, 0, 1]);
        assert_eq!(along_columns(-1, replicate).places(), [0, 1, 0, 1, 2, 3, 4, 5]);
        assert_eq!(along_columns(-1, mirror).places(), [2, 3, 0, 1, 2, 3, 4, 5]);
        let all = Shift { size: [2, 1, 2], offsets: [1, 0, -1], boundaries: [circular; 3] };
        assert_eq!(all.places(), [3, 2, 1, 0]);
    }

    #[test]
    fn lines_of_places_are_known_as_shifts() {
        for extent in 1..9 {
            for offset in -9..=9 {
                for boundary in [Boundary::<f64>::Replicate, Boundary::Circular, Boundary::Symmetric, Boundary::Mirror]
                {
                    let at = |i: usize| boundary.sample_at(i as isize + offset, extent).unwrap_or(i);
                    let (_, found, beyond) = Shift::along(extent, at).unwrap_or((0, isize::MAX, Boundary::Replicate));
                    // Two shifts may have the same places.
                    let same = |i: usize| beyond.sample_at(i as isize + found, extent) == Some(at(i));
                    let plain = offset.unsigned_abs() <= extent / 2 && boundary != Boundary::Mirror;
                    assert!((0..extent).all(same) || !plain && found == isize::MAX, "{extent} {offset} {boundary:?}");
                }
            }
        }
        assert_eq!(Shift::along(5, |i| [0, 2, 1, 3, 4][i]), None);
        assert_eq!(Shift::along(5, |i| [0, 1, 2, 2, 4][i]), None);
        assert_eq!(Shift::along(5, |i| [1, 2, 3, 4, 0][i]), Some((5, 1, Boundary::Circular)));
        assert_eq!(Shift::along(5, |i| [0, 0, 1, 2, 3][i]), Some((5, -1, Boundary::Replicate)));
        assert_eq!(Shift::along(5, |i| [1, 0, 1, 2, 3][i]), Some((5, -1, Boundary::Mirror)));
    }

    #[test]
    fn dimensions_along_which_nothing_moves_are_one() {
        let stays = |extent| (extent, 0, Boundary::Circular);
        let moves = |extent| (extent, 2, Boundary::Circular);
        let shift = Shift::new(&[stays(3), stays(4), moves(5), stays(6)]);
        assert_eq!(shift.map(|shift| (shift.size, shift.offsets)), Some(([12, 5, 6], [0, 2, 0])));
        assert_eq!(Shift::new(&[moves(3), stays(4), moves(5), stays(6)]), None);
    }
}
