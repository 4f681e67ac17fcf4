//! Blocks of an image or a volume, each with the samples around it, for a convolution that has not the whole array on
//! the device.
//!
//! # Rationale
//! What stands beyond the border of an array may come from its other end. So the host gathers a block of whole columns,
//! from some neighbouring pages, with the columns and pages around it that the filter reaches, each put where the block
//! wants to see it: a *slab*. To the kernel a slab is an array of its own. It still finds the rows beyond the border by
//! itself, since a slab has all of them; and the columns, or the pages, where a slab has all of these.

use std::ops::Range;
use std::slice::ChunksMut;

use crate::stencil::{Boundary, Real};

/// How an array is cut into slabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Of the array: rows, columns, pages.
    size: [usize; 3],
    /// Of the filter.
    radius: [usize; 3],
    /// The most columns and pages of outputs in a slab.
    most: [usize; 2],
}

/// A slab: the columns and pages of the outputs that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slab {
    columns: Range<usize>,
    pages: Range<usize>,
}

impl Cut {
    /// Slabs of about `wanted` elements of output and not much more of input, of which no slab holds more than `limit`
    /// together; but never less than a column.
    pub(super) fn new(size: [usize; 3], radius: [usize; 3], wanted: usize, limit: usize) -> Cut {
        let mut cut = Cut { size, radius, most: [1, 1] };
        loop {
            let [inputs, outputs] = cut.most_elements();
            let net = size[0] * cut.most[0] * cut.most[1];
            // What is sent beside what is computed is to stay small.
            if net >= wanted && inputs + outputs <= 2 * net + net / 2 {
                return cut;
            }
            // First that dimension in which more is sent beside what is computed; where that is all the same, along
            // memory.
            let beside = |d: usize| cut.pad(d) as f64 / cut.most[d] as f64;
            let order = if beside(0) >= beside(1) { [0, 1] } else { [1, 0] };
            let larger = order.into_iter().filter(|&d| cut.most[d] < size[1 + d]).map(|d| {
                let mut most = cut.most;
                most[d] = (2 * most[d]).min(size[1 + d]);
                Cut { most, ..cut }
            });
            match larger.into_iter().find(|larger| larger.most_elements().iter().sum::<usize>() <= limit) {
                Some(larger) => cut = larger,
                None => return cut,
            }
        }
    }

    /// The inputs and the outputs of the largest slab.
    pub(super) fn most_elements(&self) -> [usize; 2] {
        self.elements(&Slab { columns: 0..self.most[0], pages: 0..self.most[1] })
    }

    /// How many columns (0) or pages (1) stand on either side of a slab's own. None, where it has all that there are.
    fn pad(&self, d: usize) -> usize {
        if self.most[d] >= self.size[1 + d] { 0 } else { self.radius[1 + d] }
    }

    /// Whether slabs are as small as can be.
    pub(super) fn is_smallest(&self) -> bool {
        self.most == [1, 1]
    }

    /// Whether a slab has all columns (0) or all pages (1), and so nothing beside them.
    pub(super) fn is_whole(&self, d: usize) -> bool {
        self.most[d] >= self.size[1 + d]
    }

    /// Rows, columns and pages of the array that a slab is to the kernel.
    pub(super) fn size(&self, slab: &Slab) -> [usize; 3] {
        [self.size[0], slab.columns.len() + 2 * self.pad(0), slab.pages.len() + 2 * self.pad(1)]
    }

    /// Which of its elements are computed: its own pages, with the columns beside its own, whose results nobody takes.
    pub(super) fn computed(&self, slab: &Slab) -> Range<usize> {
        let [rows, columns, _] = self.size(slab);
        let page = rows * columns;
        page * self.pad(1)..page * (self.pad(1) + slab.pages.len())
    }

    /// How many inputs a slab has, and how many of its elements are computed.
    pub(super) fn elements(&self, slab: &Slab) -> [usize; 2] {
        [self.size(slab).iter().product(), self.computed(slab).len()]
    }

    /// All slabs, each with the parts of `output` that it is for, one a page.
    ///
    /// # Panics
    /// If the array is empty.
    pub(super) fn slabs<'a, T>(&self, output: &'a mut [T]) -> Slabs<'a, T> {
        let page = self.size[0] * self.size[1];
        assert!(page > 0 && output.len() == page * self.size[2]);
        Slabs { cut: *self, layers: output.chunks_mut(page * self.most[1]), layer: Vec::new(), column: 0, pages: 0..0 }
    }

    /// Writes the samples of a slab, with those around it.
    pub(super) fn fill<T: Real>(&self, slab: &Slab, input: &[T], boundary: Boundary<T>, inputs: &mut [T]) {
        let [rows, columns, pages] = self.size;
        let mut rest = inputs;
        let mut next = |columns: usize| rest.split_off_mut(..columns * rows).expect("there are as many columns");
        let own = &slab.columns;
        for page in beside(&slab.pages, self.pad(1)) {
            let page = boundary.sample_at(page, pages);
            // So many columns of this page from that one on, or what stands for them where there is none.
            let put = |to: &mut [T], column: Option<usize>| match page.zip(column) {
                Some((page, column)) => to.copy_from_slice(&input[(page * columns + column) * rows..][..to.len()]),
                None => to.fill(boundary.constant()),
            };
            let places = beside(own, self.pad(0));
            (places.start..own.start as isize).for_each(|at| put(next(1), boundary.sample_at(at, columns)));
            put(next(own.len()), Some(own.start));
            (own.end as isize..places.end).for_each(|at| put(next(1), boundary.sample_at(at, columns)));
        }
    }

    /// Copies what was computed for a slab, without what lies beside it, to the parts of the output that it is for.
    pub(super) fn take<T: Copy>(&self, slab: &Slab, outputs: &[T], to: &mut [&mut [T]]) {
        let [rows, columns, _] = self.size(slab);
        for (from, to) in outputs.chunks_exact(rows * columns).zip(to) {
            to.copy_from_slice(&from[rows * self.pad(0)..][..to.len()]);
        }
    }
}

/// The places of `range` and of `pad` more on either side.
fn beside(range: &Range<usize>, pad: usize) -> Range<isize> {
    range.start as isize - pad as isize..(range.end + pad) as isize
}

/// See [`Cut::slabs`].
pub(super) struct Slabs<'a, T> {
    cut: Cut,
    /// So many pages as a slab has, and again.
    layers: ChunksMut<'a, T>,
    /// Of the present layer: for each page its parts that are still to come.
    layer: Vec<ChunksMut<'a, T>>,
    column: usize,
    pages: Range<usize>,
}

impl<'a, T> Iterator for Slabs<'a, T> {
    type Item = (Slab, Vec<&'a mut [T]>);

    fn next(&mut self) -> Option<Self::Item> {
        let [rows, columns, _] = self.cut.size;
        if self.column == columns || self.layer.is_empty() {
            let layer = self.layers.next()?;
            self.pages = self.pages.end..self.pages.end + layer.len() / (rows * columns);
            self.layer =
                layer.chunks_mut(rows * columns).map(|page| page.chunks_mut(rows * self.cut.most[0])).collect();
            self.column = 0;
        }
        let parts: Vec<_> = self.layer.iter_mut().filter_map(Iterator::next).collect();
        let first = self.column;
        self.column = (first + self.cut.most[0]).min(columns);
        Some((Slab { columns: first..self.column, pages: self.pages.clone() }, parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{Compute, Convolution, Filter, Reference};
    use crate::watch::Watch;

    const BOUNDARIES: [Boundary<f64>; 4] =
        [Boundary::Constant(0.5), Boundary::Replicate, Boundary::Symmetric, Boundary::Circular];

    fn numbers(count: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919) % 1013) as f64 - 500.0).collect()
    }

    /// Slab by slab, each by the plain reference as if it were an array of its own, is the whole.
    fn check(size: [usize; 3], filter: [usize; 3], wanted: usize, limit: usize) {
        let input = numbers(size.iter().product());
        let filter = Filter::new(numbers(filter.iter().product()), filter).unwrap();
        for boundary in BOUNDARIES {
            let whole = Convolution::new(size, filter.clone()).with_boundary(boundary);
            let mut expected = vec![0.0; input.len()];
            Reference.convolution(&whole, (&input[..]).into(), (&mut expected[..]).into(), &Watch::new()).unwrap();

            let cut = Cut::new(size, filter.radius(), wanted, limit);
            let mut output = vec![f64::NAN; input.len()];
            for (slab, mut to) in cut.slabs(&mut output) {
                let [inputs, outputs] = cut.elements(&slab);
                assert!(inputs <= cut.most_elements()[0] && outputs <= cut.most_elements()[1]);
                let mut samples = vec![f64::NAN; inputs];
                cut.fill(&slab, &input, boundary, &mut samples);
                let alone = Convolution::new(cut.size(&slab), filter.clone()).with_boundary(boundary);
                let mut computed = vec![0.0; inputs];
                Reference
                    .convolution(&alone, (&samples[..]).into(), (&mut computed[..]).into(), &Watch::new())
                    .unwrap();
                cut.take(&slab, &computed[cut.computed(&slab)], &mut to);
            }
            assert_eq!(output, expected, "{size:?} by {:?}, {boundary:?}, {cut:?}", filter.size());
        }
    }

    #[test]
    fn slabs_together_are_the_whole() {
        let sizes = [[1, 1, 1], [3, 2, 1], [2, 9, 1], [4, 7, 5], [1, 13, 3], [5, 1, 6], [2, 3, 11]];
        for size in sizes {
            for filter in [[3, 3, 1], [1, 15, 1], [5, 1, 1], [3, 5, 7], [1, 1, 3], [3, 7, 3]] {
                for (wanted, limit) in [(1, 0), (8, 40), (20, 200), (usize::MAX, 60), (usize::MAX, usize::MAX)] {
                    check(size, filter, wanted, limit);
                }
            }
        }
    }

    #[test]
    fn a_slab_of_all_has_nothing_beside_it() {
        let cut = Cut::new([70, 33, 5], [2, 2, 2], usize::MAX, usize::MAX);
        assert_eq!((cut.most, cut.most_elements()), ([33, 5], [70 * 33 * 5; 2]));
        assert!(cut.is_whole(0) && cut.is_whole(1));
    }

    #[test]
    fn a_cut_keeps_to_its_limit_down_to_one_column() {
        for radius in [[0, 0, 0], [1, 1, 0], [7, 7, 0], [1, 2, 3], [3, 3, 3]] {
            for limit in (0..30).map(|i| i * i * 531) {
                let cut = Cut::new([50, 40, 30], radius, 1 << 18, limit);
                let held = cut.most_elements().iter().sum::<usize>();
                assert!(held <= limit || cut.most == [1, 1], "{cut:?} holds {held} of {limit}");
            }
        }
    }

    #[test]
    fn what_is_sent_beside_a_large_slab_is_little() {
        for (size, radius) in [
            ([4096, 4096, 1], [7, 7, 0]),
            ([512, 512, 512], [3, 3, 3]),
            ([64, 64, 4000], [7, 7, 0]),
            ([1000, 8, 4000], [3, 3, 3]),
        ] {
            let cut = Cut::new(size, radius, 1 << 18, 1 << 24);
            let net = size[0] * cut.most[0] * cut.most[1];
            assert!(net >= 1 << 18 && cut.most_elements().iter().sum::<usize>() <= 2 * net + net / 2, "{cut:?}");
        }
    }
}
