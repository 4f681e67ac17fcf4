//! How an array that falls into lines is cut into blocks, and how blocks are copied out of it and into it.
//!
//! A block is a box of the array: some lines side by side, a stretch of each, the same of some neighbours further out.
//! It is what one lane works on at a time. Sweeps over a block spoil what lies near its ends, where they are not the
//! ends of lines; so a block takes a halo along, as many samples on either side as its sweeps reach.

use std::ops::Range;

use crate::stencil::{Boundary, Lines, Real};

/// Where the rows of a block are copied one by one, they are at least as long as a page, if there is one sweep for each
/// copy.
const ROW: usize = 512;

/// The same for many sweeps: then the lines had better be whole, and the copies do not count.
const SWEPT_ROW: usize = 32;

/// A halo takes at most this part of a block at either end.
const HALO_SHARE: usize = 8;

/// A box of an array, and the samples at hand around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Which of the lines that lie side by side.
    inner: Range<usize>,
    /// The outputs, as places in their line.
    along: Range<usize>,
    outer: Range<usize>,
    /// Samples ahead of the outputs in each line, and behind them.
    before: usize,
    after: usize,
}

impl Block {
    /// The lines that the samples form, once they are copied out.
    pub(super) fn lines(&self) -> Lines {
        Lines::strided(self.inner.len(), self.before + self.along.len() + self.after, self.outer.len())
    }

    /// How many outputs there are.
    pub(super) fn outputs(&self) -> usize {
        self.inner.len() * self.along.len() * self.outer.len()
    }

    /// How many elements of the copied block are ahead of the first output. There are outputs only from there on,
    /// without gaps.
    pub(super) fn ahead(&self) -> usize {
        self.before * self.inner.len()
    }
}

/// An array of lines, cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Blocks<T> {
    lines: Lines,
    /// What is copied for samples outside a line; `None` where blocks end with the line, and what is outside is left to
    /// the kernel.
    extended: Option<Boundary<T>>,
    /// Lines side by side, outputs along a line, and those further out, in a block.
    shape: [usize; 3],
    halo: usize,
    /// The sweeps that the halo is made for.
    sweeps: usize,
}

impl<T: Real> Blocks<T> {
    /// For `sweeps` of a stencil of this radius, or as many of them as can be done at once, with blocks of about
    /// `elements` samples. Each line in a block of its own, and extended beyond its ends, if `split`; else whole lines
    /// where they fit. A block is never smaller than one output needs.
    pub(super) fn new(
        lines: Lines,
        boundary: Boundary<T>,
        radius: usize,
        sweeps: usize,
        elements: usize,
        split: bool,
    ) -> Blocks<T> {
        let (inner, length, outer) = (lines.inner(), lines.length(), lines.outer());
        let whole = Blocks { lines, extended: None, shape: [inner, length, 1], halo: 0, sweeps };
        if !split && inner * length <= elements {
            return Blocks {
                shape: [inner, length, (elements / (inner * length).max(1)).clamp(1, outer.max(1))],
                ..whole
            };
        }
        let row = if sweeps > 1 { SWEPT_ROW } else { ROW }.min(inner);
        if !split && elements / length.max(1) >= row {
            return Blocks { shape: [elements / length, length, 1], ..whole };
        }
        // Rows as long as they should be, unless not even the halo of one sweep would fit.
        let least = 2 * radius + 1;
        let row = row.min(elements / least).max(1);
        let along = (elements / row).max(least).min(length + 2 * radius * sweeps);
        let at_once = (along / HALO_SHARE).checked_div(radius).unwrap_or(sweeps).clamp(1, sweeps);
        // All rounds of about as many.
        let at_once = sweeps.div_ceil(sweeps.div_ceil(at_once));
        let halo = radius * at_once;
        // Going round, a line has no end that a kernel could see.
        let extended = (split || boundary == Boundary::Circular).then_some(boundary);
        Blocks { lines, extended, shape: [row, (along - 2 * halo).min(length), 1], halo, sweeps: at_once }
    }

    /// How many sweeps are done at once.
    pub(super) fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// What a kernel is to take for the boundary of the copied lines, of those that the array has.
    pub(super) fn boundary(&self, boundary: Boundary<T>) -> Boundary<T> {
        // Beyond a halo anything will do.
        if self.extended.is_some() { Boundary::default() } else { boundary }
    }

    /// Blocks along each of the three dimensions.
    fn counts(&self) -> [usize; 3] {
        let sizes = [self.lines.inner(), self.lines.length(), self.lines.outer()];
        std::array::from_fn(|d| sizes[d].div_ceil(self.shape[d].max(1)))
    }

    /// How many blocks there are.
    pub(super) fn count(&self) -> usize {
        self.counts().iter().product()
    }

    /// The most samples that a block has.
    pub(super) fn most_samples(&self) -> usize {
        // With a halo on both sides, also where the line ends sooner.
        self.shape[0] * (self.shape[1] + 2 * self.halo) * self.shape[2]
    }

    /// The lines that the samples of a block may form, each once.
    pub(super) fn kinds_of_lines(&self) -> Vec<Lines> {
        // Blocks differ only where the array ends, and where a halo would reach beyond the ends of its lines.
        let counts = self.counts();
        let near = self.halo.div_ceil(self.shape[1].max(1)) + 1;
        let mut kinds: Vec<Lines> = Vec::new();
        for k in [0, counts[2].saturating_sub(1)] {
            for j in (0..counts[1]).filter(|&j| j <= near || j + near >= counts[1]) {
                for i in [0, counts[0].saturating_sub(1)] {
                    let inside = counts.iter().all(|&count| count > 0);
                    let lines = inside.then(|| self.block(i + counts[0] * (j + counts[1] * k)).lines());
                    kinds.extend(lines.filter(|lines| !kinds.contains(lines)));
                }
            }
        }
        kinds
    }

    /// The block of this number: neighbours in memory follow each other.
    pub(super) fn block(&self, number: usize) -> Block {
        let counts = self.counts();
        let place = [number % counts[0], number / counts[0] % counts[1], number / (counts[0] * counts[1])];
        let sizes = [self.lines.inner(), self.lines.length(), self.lines.outer()];
        let range = |d: usize| place[d] * self.shape[d]..((place[d] + 1) * self.shape[d]).min(sizes[d]);
        let along = range(1);
        let (before, after) = match self.extended {
            Some(_) => (self.halo, self.halo),
            None => (self.halo.min(along.start), self.halo.min(sizes[1] - along.end)),
        };
        Block { inner: range(0), along, outer: range(2), before, after }
    }

    /// Copies the samples of `block` out of `input` to the beginning of `to`.
    pub(super) fn gather(&self, block: &Block, input: &[T], to: &mut [T]) {
        let (inner, length) = (self.lines.inner(), self.lines.length());
        let width = block.inner.len();
        let mut to = to;
        // Places that the line has are copied at once where they are neighbours in memory, and where not, row by row.
        let start = block.along.start as isize - block.before as isize;
        let end = (block.along.end + block.after) as isize;
        let inside = start.clamp(0, length as isize) as usize..end.clamp(0, length as isize) as usize;
        for k in block.outer.clone() {
            let at = |place: usize| block.inner.start + inner * (place + length * k);
            let outside = |places: Range<isize>, to: &mut &mut [T]| {
                let boundary = self.extended.unwrap_or_default();
                for place in places {
                    let row = take(to, width);
                    match boundary.sample_at(place, length) {
                        Some(place) => row.copy_from_slice(&input[at(place)..][..width]),
                        None => row.fill(boundary.constant()),
                    }
                }
            };
            outside(start..start.max(0).min(end), &mut to);
            if width == inner {
                let elements = at(inside.start)..at(inside.end);
                take(&mut to, elements.len()).copy_from_slice(&input[elements]);
            } else {
                for place in inside.clone() {
                    take(&mut to, width).copy_from_slice(&input[at(place)..][..width]);
                }
            }
            outside((length as isize).max(start)..end, &mut to);
        }
    }

    /// Copies the outputs of `block`, without gaps in `from`, to their places in the array.
    pub(super) fn scatter(&self, block: &Block, from: &[T], output: &SharedOutput<T>) {
        let (inner, length) = (self.lines.inner(), self.lines.length());
        let width = block.inner.len();
        let mut from = from;
        for k in block.outer.clone() {
            let at = |place: usize| block.inner.start + inner * (place + length * k);
            let mut put = |start: usize, count: usize| {
                let (row, rest) = from.split_at(count);
                from = rest;
                output.write(start, row);
            };
            if width == inner {
                put(at(block.along.start), width * block.along.len());
            } else {
                block.along.clone().for_each(|place| put(at(place), width));
            }
        }
    }
}

/// The next `count` elements of `rest`, which goes on behind them.
fn take<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (first, others) = std::mem::take(rest).split_at_mut(count);
    *rest = others;
    first
}

/// An array that several threads write to, each elsewhere.
pub(super) struct SharedOutput<'a, T> {
    start: *mut T,
    len: usize,
    _borrowed: std::marker::PhantomData<&'a mut [T]>,
}

// SAFETY: it is only written to, and by the promise of `new` nothing of it by two threads.
unsafe impl<T: Send> Sync for SharedOutput<'_, T> {}

impl<'a, T: Copy> SharedOutput<'a, T> {
    /// # Safety
    /// No two threads may write to the same element, or to one that someone else sees.
    pub(super) unsafe fn new(output: &'a mut [T]) -> SharedOutput<'a, T> {
        SharedOutput { start: output.as_mut_ptr(), len: output.len(), _borrowed: std::marker::PhantomData }
    }

    fn write(&self, at: usize, values: &[T]) {
        assert!(at <= self.len && values.len() <= self.len - at);
        // SAFETY: they are within the array; the rest is the promise of `new`.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.start.add(at), values.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDARIES: [Boundary<f64>; 4] =
        [Boundary::Constant(7.5), Boundary::Replicate, Boundary::Symmetric, Boundary::Circular];

    /// Every cut of every shape: blocks are within their size, their outputs are the array, each once, and their
    /// samples are those of the padded array.
    #[test]
    fn blocks_are_the_array_and_what_is_around_it() {
        for (inner, length, outer) in
            [(1, 1, 1), (1, 50, 1), (1, 7, 5), (3, 20, 2), (40, 9, 3), (600, 3, 1), (2, 100, 1), (70, 30, 1)]
        {
            let lines = Lines::strided(inner, length, outer);
            let input: Vec<f64> = (0..lines.elements()).map(|i| i as f64).collect();
            for boundary in BOUNDARIES {
                for (radius, sweeps) in [(0, 1), (1, 1), (1, 5), (2, 3), (10, 1), (10, 40)] {
                    for elements in [1, 3, 21, 64, 100, 1000, 100_000] {
                        for split in [false, true] {
                            let blocks = Blocks::new(lines, boundary, radius, sweeps, elements, split && inner == 1);
                            check(&blocks, &input, boundary, radius, elements);
                        }
                    }
                }
            }
        }
    }

    fn check(blocks: &Blocks<f64>, input: &[f64], boundary: Boundary<f64>, radius: usize, elements: usize) {
        let lines = blocks.lines;
        let what = format!("{blocks:?}, {elements} elements");
        assert!(blocks.most_samples() <= elements.max(2 * radius + 1), "{what}");
        assert!(blocks.sweeps >= 1 && blocks.halo == 0 || blocks.halo == radius * blocks.sweeps, "{what}");
        let mut output = vec![f64::NAN; input.len()];
        let kinds = blocks.kinds_of_lines();
        for number in 0..blocks.count() {
            let block = blocks.block(number);
            let samples = block.lines().elements();
            assert!(samples <= blocks.most_samples(), "{what}");
            assert!(kinds.contains(&block.lines()), "{what}");
            let mut copied = vec![f64::NAN; samples];
            blocks.gather(&block, input, &mut copied);
            // Each sample is the one of its place, also outside.
            let mut copies = copied.iter();
            for k in block.outer.clone() {
                for place in
                    block.along.start as isize - block.before as isize..(block.along.end + block.after) as isize
                {
                    for i in block.inner.clone() {
                        let at = boundary.sample_at(place, lines.length());
                        let expected =
                            at.map_or(boundary.constant(), |at| input[i + lines.inner() * (at + lines.length() * k)]);
                        assert_eq!(copies.next(), Some(&expected), "{what}");
                    }
                }
            }
            // A halo ends only where the line does, and then the kernel sees to what is outside.
            let cut = |halo: usize, room: usize| halo == blocks.halo || (blocks.extended.is_none() && halo == room);
            assert!(
                cut(block.before, block.along.start) && cut(block.after, lines.length() - block.along.end),
                "{what}"
            );
            assert!(block.outer.len() == 1 || (block.before, block.after) == (0, 0), "{what}");
            let outputs = &copied[block.ahead()..][..block.outputs()];
            // SAFETY: nobody else is there.
            blocks.scatter(&block, outputs, &unsafe { SharedOutput::new(&mut output) });
        }
        assert_eq!(output, input, "{what}");
    }

    #[test]
    fn lines_are_whole_where_they_fit_and_sweeps_are_many_at_once() {
        let cut = |lines, sweeps| Blocks::<f64>::new(lines, Boundary::default(), 1, sweeps, 1 << 18, false);
        assert_eq!(cut(Lines::new(1000, 1000), 9).shape, [1, 1000, 262]);
        assert_eq!(cut(Lines::strided(512 * 512, 512, 1), 1).shape, [512, 512, 1]);
        let long = cut(Lines::new(100_000_000, 1), 1000);
        assert_eq!((long.sweeps, long.halo), (1000, 1000));
        // More than a halo may hold are done in rounds of the same size.
        let rounds = cut(Lines::new(100_000_000, 1), 100_000);
        assert_eq!(rounds.sweeps, 25_000);
    }
}
