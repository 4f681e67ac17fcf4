//! A box of places, as the kernels for arithmetic go through it in an array that advances by other steps.

use std::ffi::CStr;

use bytemuck::Zeroable;

use crate::cuda::arguments::Walk;
use crate::stencil::RANK;

/// From so many elements on along its first dimension, a box is walked through line by line: at least half of a block's
/// places are in the line then.
const LONG: usize = 1024;

impl Walk {
    /// Through a box of this size, by these steps in the array; a thread's elements are `threads` places apart. Dimensions
    /// of one element are left out, and those that go on as the one before them would are merged.
    pub(super) fn new(size: [usize; RANK], steps: [isize; RANK], threads: usize) -> Walk {
        let mut walk = Walk { rank: 1, size: [1; RANK], ..Walk::zeroed() };
        walk.count = size.iter().product::<usize>() as u64;
        let mut last = None;
        for d in (0..RANK).filter(|&d| size[d] != 1) {
            let (extent, by) = (size[d] as u64, steps[d] as i64);
            match last {
                Some(before) if by == walk.size[before] as i64 * walk.steps[before] => walk.size[before] *= extent,
                _ => {
                    let next = last.map_or(0, |before| before + 1);
                    walk.size[next] = extent;
                    walk.steps[next] = by;
                    last = Some(next);
                }
            }
        }
        let rank = last.unwrap_or(0) + 1;
        walk.rank = rank as u64;
        let mut left = threads as u64;
        for d in 0..rank {
            // Along the last dimension there is no end that a walk could go beyond.
            let extent = if d + 1 < rank { walk.size[d] } else { u64::MAX };
            walk.stride[d] = left.checked_rem(extent).unwrap_or(0);
            left = left.checked_div(extent).unwrap_or(0);
        }
        walk.advance = (0..rank).map(|d| walk.stride[d] as i64 * walk.steps[d]).sum();
        for d in 1..rank {
            walk.wraps[d - 1] = walk.steps[d] - walk.size[d - 1] as i64 * walk.steps[d - 1];
        }
        walk
    }

    fn is_long(&self) -> bool {
        self.size[0] >= LONG as u64
    }

    /// Returns the kernel of two for this walk, and the number of its blocks of `places` places.
    pub(super) fn way(&self, kernels: [&'static CStr; 2], places: usize) -> (&'static CStr, usize) {
        let blocks = |count: u64| count.div_ceil(places as u64) as usize;
        if self.is_long() {
            (kernels[1], blocks(self.size[0]) * (self.count / self.size[0]) as usize)
        } else {
            (kernels[0], blocks(self.count))
        }
    }
}

/// A section as the kernels go through it.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) struct Places {
    pub(super) start: usize,
    pub(super) walk: Walk,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_leaves_out_what_is_no_dimension() {
        let plain = Walk::new([4, 1, 5, 1, 3], [2, 7, 8, 7, 40], 256);
        assert_eq!((plain.rank, plain.size, plain.count), (1, [60, 1, 1, 1, 1], 60));
        assert_eq!((plain.stride, plain.advance), ([256, 0, 0, 0, 0], 512));
        let one = Walk::new([1; RANK], [0; RANK], 256);
        assert_eq!((one.rank, one.size, one.count), (1, [1; RANK], 1));
        let row = Walk::new([3, 200, 1, 7, 1], [0, 1, 0, 200, 0], 256);
        assert_eq!((row.rank, row.size), (2, [3, 1400, 1, 1, 1]));
        assert_eq!((row.stride, row.advance, row.wraps[0]), ([1, 85, 0, 0, 0], 85, 1));
    }

    /// The steps of the kernels, against the sum of products that they stand for.
    #[test]
    fn a_walk_comes_by_every_place() {
        for (size, steps) in [
            ([3, 2, 5, 2, 7], [-2, 11, 100, -7, 1000]),
            ([300, 2, 3, 1, 1], [2, 1, -900, 0, 0]),
            ([1, 1, 1, 9, 40], [5, 5, 5, 2, -1]),
        ] {
            let walk = Walk::new(size, steps, 256);
            let offset = |mut at: usize| -> i64 {
                (0..RANK)
                    .map(|d| {
                        let index = at % size[d];
                        at /= size[d];
                        index as i64 * steps[d] as i64
                    })
                    .sum()
            };
            let rank = walk.rank as usize;
            for first in 0..256.min(walk.count as usize) {
                let mut left = first as u64;
                let mut index: Vec<u64> = (0..rank)
                    .map(|d| {
                        let extent = if d + 1 < rank { walk.size[d] } else { u64::MAX };
                        let index = left % extent;
                        left /= extent;
                        index
                    })
                    .collect();
                let mut at = (0..rank).map(|d| index[d] as i64 * walk.steps[d]).sum::<i64>();
                for place in (first..walk.count as usize).step_by(256) {
                    assert_eq!(at, offset(place), "{size:?} {place}");
                    at += walk.advance;
                    let mut over = false;
                    for (d, index) in index.iter_mut().enumerate().take(rank - 1) {
                        *index += walk.stride[d] + u64::from(over);
                        over = *index >= walk.size[d];
                        if over {
                            *index -= walk.size[d];
                            at += walk.wraps[d];
                        }
                    }
                }
            }
        }
    }
}
