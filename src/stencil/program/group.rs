//! Groups of operations for one kernel, with their dimensions.

use super::{Reach, Value};

/// Maximum number of dimensions of a kernel.
pub const MOST_DIMS: usize = 8;

/// Operations that are computed in one kernel.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) level: usize,
    pub(super) len: usize,
    /// Ends of dimensions, as products of extents: ascending, without 1 and `len`.
    pub(super) cuts: Vec<usize>,
    /// Dimensions of filters, each from a product to the next: they must not be cut.
    pub(super) spans: Vec<[usize; 2]>,
    pub(super) entries: usize,
    pub(super) parts: usize,
    pub(super) inputs: Vec<Value>,
    /// Number of different views of the inputs.
    pub(super) views: usize,
    pub(super) outputs: Vec<Value>,
    /// Reductions.
    pub(super) numbers: Vec<Value>,
}

impl Group {
    pub(super) fn new(level: usize, len: usize) -> Group {
        let (cuts, spans, inputs) = (Vec::new(), Vec::new(), Vec::new());
        let (outputs, numbers) = (Vec::new(), Vec::new());
        Group { level, len, cuts, spans, entries: 0, parts: 0, inputs, views: 0, outputs, numbers }
    }
}

/// Requirements of an operation in a group.
#[derive(Debug, Default, Clone)]
pub(super) struct Seen {
    /// Dimensions that it sees.
    pub(super) cuts: Vec<usize>,
    pub(super) spans: Vec<[usize; 2]>,
    /// Number of a filter's entries.
    pub(super) entries: usize,
    /// One for a reduction.
    pub(super) numbers: usize,
}

impl Seen {
    pub(super) fn of_size(size: &[usize]) -> Seen {
        Seen { cuts: products(size), ..Seen::default() }
    }

    pub(super) fn of_filter(reach: &Reach) -> Seen {
        let mut seen = Seen { entries: reach.entries().len(), ..Seen::default() };
        let mut product = 1;
        for (size, extent) in reach.size.into_iter().zip(reach.extents) {
            if size > 1 && extent > 1 {
                seen.cuts.extend([product, product * size]);
                seen.spans.push([product, product * size]);
            }
            product *= size;
        }
        seen
    }
}

/// Products of extents, from the first one on.
pub(super) fn products(size: &[usize]) -> Vec<usize> {
    size.iter()
        .scan(1, |product, &extent| {
            *product *= extent;
            Some(*product)
        })
        .collect()
}

/// Merges the cuts of both, if they form dimensions, and none divides a span.
pub(super) fn joined(len: usize, cuts: [&[usize]; 2], spans: [&[[usize; 2]]; 2]) -> Option<Vec<usize>> {
    let mut all: Vec<usize> = cuts.concat().into_iter().filter(|&cut| cut != 1 && cut != len).collect();
    all.sort_unstable();
    all.dedup();
    let mut before = 1;
    for &cut in all.iter().chain([&len]) {
        if cut % before != 0 {
            return None;
        }
        before = cut;
    }
    let whole = |&[low, high]: &[usize; 2]| !all.iter().any(|&cut| low < cut && cut < high);
    (all.len() < MOST_DIMS && spans.concat().iter().all(whole)).then_some(all)
}
