//! Assignment of elements to threads, and places in the code.

use super::code::Register;
use crate::stencil::Binary;
use crate::stencil::program::{Kernel, Part, Step};

/// The threads of a block along the first dimension, and along the second.
const THREADS: [usize; 2] = [32, 4];

/// Those of a block of elements that lie one behind the other.
const FLAT: usize = 128;

/// Shorter first dimensions leave too many of a block's threads idle.
const SHORT: usize = 16;

/// The most elements of a thread along the second dimension.
const MOST_ROWS: usize = 4;

/// So many blocks keep a chip busy.
const ENOUGH_BLOCKS: usize = 600;

/// Bytes that a thread has to load at once where it does little else: fewer leave an H200's memory idle. (4e7 doubles, one
/// array: 154 us for 197 with 8.)
const BYTES_UNDER_WAY: usize = 16;

/// Assignment of a kernel's elements to threads.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// True if threads take elements in their order in memory, whatever the dimensions.
    pub(super) flat: bool,
    /// The extents.
    pub(super) domain: Vec<usize>,
    /// Elements of a thread, along `dim`, each `stride` further on.
    pub(super) rows: usize,
    pub(super) dim: usize,
    pub(super) stride: usize,
    pub(super) threads: [usize; 2],
    pub(super) blocks: usize,
}

impl Shape {
    pub(super) fn of(kernel: &Kernel) -> Shape {
        let domain = &kernel.domain[..];
        let own = domain.to_vec();
        if domain.len() == 1 || domain[0] < SHORT {
            let rows = if domain.len() == 1 { in_flight(kernel) } else { 1 };
            let blocks = kernel.len().div_ceil(FLAT * rows);
            return Shape { flat: true, domain: own, rows, dim: 0, stride: FLAT, threads: [FLAT, 1], blocks };
        }
        let [columns, rows] = THREADS;
        let rest: usize = domain[2..].iter().product();
        let blocks = |own: usize| domain[0].div_ceil(columns) * domain[1].div_ceil(rows * own) * rest;
        let mut each = MOST_ROWS;
        while each > 1 && blocks(each) < ENOUGH_BLOCKS {
            each /= 2;
        }
        Shape { flat: false, domain: own, rows: each, dim: 1, stride: 1, threads: THREADS, blocks: blocks(each) }
    }

    /// The blocks along a dimension, where elements do not go to threads one behind the other.
    pub(super) fn blocks_along(&self, d: usize) -> usize {
        let own = [self.threads[0], self.threads[1] * self.rows];
        own.get(d).map_or(self.domain[d], |&own| self.domain[d].div_ceil(own))
    }

    /// The distance from the first element of a thread to its last, along `dim`.
    pub(super) fn depth(&self, dim: usize) -> i64 {
        if dim == self.dim { ((self.rows - 1) * self.stride) as i64 } else { 0 }
    }
}

/// Returns the elements of a thread whose loads go out together: several where little is loaded for each, and all that is
/// done is a few instructions, since the driver compiles them for each element.
fn in_flight(kernel: &Kernel) -> usize {
    let is_short = |step: &Step| match step {
        Step::Each(op, _) => !op.is_function(),
        Step::Pair(op, _) => !(op.is_function() || matches!(op, Binary::Divide | Binary::Mod | Binary::Rem)),
        Step::Filter(..) | Step::Random(..) => false,
        Step::Load(..) | Step::Number(_) | Step::MultiplyAdd(_) | Step::Convert(_) => true,
    };
    if !kernel.numbers.is_empty() || !kernel.parts.iter().all(|part| is_short(&part.step)) {
        return 1;
    }
    let bytes = |part: &Part| match &part.step {
        Step::Load(_, view) if !view.is_one() => 4 * (2 - usize::from(part.single)),
        _ => 0,
    };
    // A store alone has nothing to wait for.
    BYTES_UNDER_WAY / kernel.parts.iter().map(bytes).sum::<usize>().clamp(4, BYTES_UNDER_WAY)
}

/// A place in a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct At {
    /// The step, from 0.
    pub(super) level: usize,
    /// The element of the lane, and its line, counted from the first one that is the lane's own.
    pub(super) element: usize,
    pub(super) line: i64,
    /// The columns between it and the latest one of its level.
    pub(super) lag: usize,
}

/// A place in the domain.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// An index along each dimension.
    pub(super) indices: Vec<Register>,
    /// Offsets from the indices, where they stay inside the array for sure.
    pub(super) offsets: Option<Vec<i64>>,
    /// In a walk: the place there, and nothing else.
    pub(super) at: Option<At>,
}

impl Place {
    /// A place in a walk.
    pub(super) fn of_walk(at: At) -> Place {
        Place { indices: Vec::new(), offsets: None, at: Some(at) }
    }

    pub(super) fn index(&self, d: usize) -> &Register {
        &self.indices[d]
    }

    pub(super) fn offset(&self, d: usize) -> i64 {
        self.offsets.as_ref().map_or(0, |offsets| offsets[d])
    }

    /// Key of the place.
    pub(super) fn name(&self) -> String {
        match self.at {
            Some(at) => format!("{at:?}"),
            None => format!("{:?} {:?}", self.indices, self.offsets),
        }
    }

    /// The element so much further on along a dimension.
    pub(super) fn moved_by(&self, dim: usize, distance: usize) -> Place {
        let mut place = self.clone();
        if let (Some(offset), true) = (place.offsets.as_mut().and_then(|offsets| offsets.get_mut(dim)), distance > 0) {
            *offset = distance as i64;
        }
        place
    }
}
