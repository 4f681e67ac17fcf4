//! Places in regular patterns, and pieces that move from some places to others.

use crate::platform::memory;
use crate::stencil::{Places, RANK, Section};

/// Elements that move from places of one array to places of another. A single piece fills the other array in order.
#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) from: Places,
    pub(super) to: Places,
}

/// Places in a regular pattern of any number of dimensions; dimensions that form one run are merged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    start: usize,
    /// Number of places along each dimension, and distance from one to the next.
    dims: Vec<(usize, isize)>,
}

impl Pattern {
    pub(super) fn new(start: usize, dims: &[(usize, isize)]) -> Pattern {
        let mut merged: Vec<(usize, isize)> = Vec::new();
        for &(count, step) in dims {
            match merged.last_mut() {
                _ if count == 1 => {}
                Some((before, steps)) if *steps * *before as isize == step => *before *= count,
                _ => merged.push((count, step)),
            }
        }
        Pattern { start, dims: merged }
    }

    pub(super) fn len(&self) -> usize {
        self.dims.iter().map(|&(count, _)| count).product()
    }

    /// Converts to the form that engines take: a list if there are too many dimensions.
    ///
    /// # Errors
    /// `outOfMemory`.
    pub(super) fn places(&self) -> Result<Places, memory::OutOfMemory> {
        if self.dims.len() <= RANK {
            let mut section = Section { start: self.start, size: [1; RANK], steps: [0; RANK] };
            for (d, &(count, step)) in self.dims.iter().enumerate() {
                (section.size[d], section.steps[d]) = (count, step);
            }
            return Ok(Places::Section(section));
        }
        let mut places = memory::with_room(self.len(), "places of an array")?;
        places.push(self.start as u64);
        for &(count, step) in &self.dims {
            let before = places.len();
            if count == 0 {
                places.clear();
                break;
            }
            for i in 1..count {
                let by = step * i as isize;
                places.extend_from_within(..before);
                places[i * before..].iter_mut().for_each(|place| *place = (*place as isize + by) as u64);
            }
        }
        Ok(Places::List(places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_many_dimensions_is_a_list() {
        let steps = [1, 4, 16, 64, 256, 1024];
        let pattern = Pattern::new(7, &steps.map(|step| (2, step)));
        let Ok(Places::List(places)) = pattern.places() else { panic!("a list is expected") };
        let expected = (0..64).map(|i| 7 + (0..6).map(|d| (i >> d & 1) * steps[d] as u64).sum::<u64>());
        assert_eq!(places, expected.collect::<Vec<_>>());
        assert_eq!(Pattern::new(0, &[(3, 1), (1, 9), (4, 3)]).dims, [(12, 1)]);
    }
}
