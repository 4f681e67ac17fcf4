//! How elements fall to threads, and how places are written.

use super::code::Register;

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

/// How a kernel's elements fall to threads.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// Whether elements go to threads one behind the other, whatever their dimensions.
    pub(super) flat: bool,
    /// The extents.
    pub(super) domain: Vec<usize>,
    /// The elements of a thread along the second dimension.
    pub(super) rows: usize,
    pub(super) threads: [usize; 2],
    pub(super) blocks: usize,
}

impl Shape {
    pub(super) fn of(domain: &[usize]) -> Shape {
        let elements: usize = domain.iter().product();
        let own = domain.to_vec();
        if domain.len() == 1 || domain[0] < SHORT {
            return Shape { flat: true, domain: own, rows: 1, threads: [FLAT, 1], blocks: elements.div_ceil(FLAT) };
        }
        let [columns, rows] = THREADS;
        let rest: usize = domain[2..].iter().product();
        let blocks = |own: usize| domain[0].div_ceil(columns) * domain[1].div_ceil(rows * own) * rest;
        let mut each = MOST_ROWS;
        while each > 1 && blocks(each) < ENOUGH_BLOCKS {
            each /= 2;
        }
        Shape { flat: false, domain: own, rows: each, threads: THREADS, blocks: blocks(each) }
    }
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
    /// What is added to each, where that is inside the array without a question.
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

    /// What it is known by.
    pub(super) fn name(&self) -> String {
        match self.at {
            Some(at) => format!("{at:?}"),
            None => format!("{:?} {:?}", self.indices, self.offsets),
        }
    }

    /// The element of a thread so many rows on.
    pub(super) fn row(&self, row: i64) -> Place {
        let mut place = self.clone();
        if let (Some(offset), true) = (place.offsets.as_mut().and_then(|offsets| offsets.get_mut(1)), row > 0) {
            *offset = row;
        }
        place
    }
}
