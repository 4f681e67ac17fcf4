//! Blocks of elements, and the samples beside them.

use std::ops::Range;

use super::super::arithmetic::{ConvertPiece, elementwise};
use super::super::simd::{self, Instructions};
use super::loops::{Difference, Entries, MultiplyAdd, Pair};
use super::{Action, Arrays, Class, Loop, Output, Place};
use crate::stencil::program::{Axis, Chain, MOST_DIMS, View};
use crate::stencil::{Boundary, Ends, Real};

/// The most elements of a block: ten buffers stay in the first-level cache.
pub(super) const BLOCK: usize = 512;

/// Samples that are gathered at a time for a filter.
const AT_ONCE: usize = 9;

/// From so many elements on a line has its ends by themselves, so that what lies inside is nowhere copied. Of shorter ones
/// several go together.
const LONG: usize = 96;

/// Elements that lie one behind the other, in one line or in some whole ones and parts of others.
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) len: usize,
    lines: Vec<Line>,
}

/// A part of a block in one line of the domain.
struct Line {
    /// Where it begins in the block, and its elements along the first dimension.
    at: usize,
    range: Range<usize>,
    /// Its indices along the further dimensions.
    others: Vec<usize>,
}

/// Buffers of a thread.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) doubles: Vec<Vec<f64>>,
    pub(super) singles: Vec<Vec<f32>>,
}

impl Buffers {
    /// Has so many of each class, and those for samples behind them.
    pub(super) fn make(&mut self, [doubles, singles]: [usize; 2]) {
        self.doubles.resize_with(doubles + AT_ONCE, || vec![0.0; BLOCK]);
        self.singles.resize_with(singles + AT_ONCE, || vec![0.0; BLOCK]);
    }
}

/// What all blocks of a run have in common.
pub(super) struct Frame<'a> {
    domain: &'a [usize],
    arrays: Arrays<'a>,
    instructions: Instructions,
}

/// Where a sample of a block's first element lies: in a line of an array that begins there, so far along; or it is a
/// constant, but where a line so far along has one beyond its ends.
enum Sample<T> {
    Line { start: usize, shift: isize },
    Constant { constant: T, shift: isize },
}

impl<'a> Frame<'a> {
    pub(super) fn new(domain: &'a [usize], arrays: Arrays<'a>, instructions: Instructions) -> Frame<'a> {
        Frame { domain, arrays, instructions }
    }

    /// The blocks of a range of elements.
    pub(super) fn blocks(&self, range: Range<usize>) -> impl Iterator<Item = Block> {
        let mut start = range.start;
        // Long lines fall into blocks of one length.
        let own = self.domain[0].div_ceil(self.domain[0].div_ceil(BLOCK));
        std::iter::from_fn(move || {
            (start < range.end).then(|| {
                let mut len = BLOCK.min(range.end - start);
                if own >= BLOCK / 4 {
                    let at = start % self.domain[0];
                    len = (own - at % own).min(self.domain[0] - at).min(range.end - start);
                }
                let block = self.block(start, len);
                start += len;
                block
            })
        })
    }

    fn block(&self, start: usize, len: usize) -> Block {
        let mut lines = Vec::with_capacity(1);
        let mut at = 0;
        while at < len {
            let first = (start + at) % self.domain[0];
            let count = (self.domain[0] - first).min(len - at);
            let mut rest = (start + at) / self.domain[0];
            let others = self.domain[1..].iter().map(|extent| {
                let index = rest % extent;
                rest /= extent;
                index
            });
            lines.push(Line { at, range: first..first + count, others: others.collect() });
            at += count;
        }
        Block { start, len, lines }
    }

    fn slice<'b, T: Class>(&'b self, place: &Place, block: &Block, buffers: &'b [Vec<T>]) -> &'b [T] {
        match place {
            Place::Buffer(buffer) => &buffers[*buffer][..block.len],
            Place::Input(input) => &T::of_arrays(&self.arrays, *input)[block.start..block.start + block.len],
        }
    }

    /// Copies what is at a place.
    pub(super) fn copy<T: Class>(&self, place: &Place, block: &Block, buffers: &mut Buffers, to: &mut [T]) {
        let buffers = T::buffers(buffers);
        to.copy_from_slice(self.slice(place, block, buffers));
    }

    /// Does a loop over a block, to its buffer or to an output of its class.
    ///
    /// # Safety
    /// Nobody else has the block's elements of the output.
    pub(super) unsafe fn run<T: Class>(&self, one: &Loop, block: &Block, all: &mut Buffers, output: Option<&Output>)
    where
        T::Other: Class,
    {
        let mut buffer = std::mem::take(&mut T::buffers(all)[one.to]);
        let to = match output.and_then(T::of_output) {
            // SAFETY: as the caller says.
            Some(output) => unsafe { output.places(block.start..block.start + block.len) },
            None => &mut buffer[..block.len],
        };
        let instructions = self.instructions;
        match &one.action {
            Action::Load(input, view) => self.load(T::of_arrays(&self.arrays, *input), view, block, to),
            Action::Fill(number) => to.fill(T::from_f64(*number)),
            Action::Each(op, of) => {
                let input = self.slice(of, block, T::buffers(all));
                elementwise(instructions, *op, input, to);
            }
            Action::Pair(op, of) => {
                let buffers = &*T::buffers(all);
                let [a, b] = [0, 1].map(|which| self.slice(&of[which], block, buffers));
                simd::run(instructions, Pair { instructions, op: *op, a, b, to });
            }
            Action::MultiplyAdd(of) => {
                let buffers = &*T::buffers(all);
                let [a, b, c] = [0, 1, 2].map(|which| self.slice(&of[which], block, buffers));
                simd::run(instructions, MultiplyAdd { a, b, c, to });
            }
            Action::Convert(of) => {
                let input = self.slice::<T::Other>(of, block, T::Other::buffers(all));
                simd::run(instructions, ConvertPiece { input, output: to });
            }
            Action::Filter(input, axes, chain) => {
                let input = T::of_arrays(&self.arrays, *input);
                let buffers = T::buffers(all);
                let spare = buffers.len() - AT_ONCE;
                to.fill(T::default());
                self.filter(input, (axes, chain), block, &mut buffers[spare..], to);
            }
        }
        T::buffers(all)[one.to] = buffer;
    }

    /// Elements of an array that does not go along with the domain.
    fn load<T: Real>(&self, array: &[T], view: &View, block: &Block, to: &mut [T]) {
        for line in &block.lines {
            let others = line.others.iter().zip(&view.steps[1..]);
            let start = view.start as isize + others.map(|(&index, step)| index as isize * step).sum::<isize>();
            let step = view.steps[0];
            let first = start + line.range.start as isize * step;
            let to = &mut to[line.at..line.at + line.range.len()];
            match step {
                0 => to.fill(array[first as usize]),
                1 => to.copy_from_slice(&array[first as usize..first as usize + to.len()]),
                _ => to.iter_mut().enumerate().for_each(|(i, to)| *to = array[(first + i as isize * step) as usize]),
            }
        }
    }

    fn filter<T: Class>(
        &self,
        input: &[T],
        (axes, chain): (&[Axis; 3], &Chain),
        block: &Block,
        spare: &mut [Vec<T>],
        to: &mut [T],
    ) {
        match chain {
            Chain::Entries(entries) => {
                let mut windows = windows(axes);
                let mut rest = &entries[..];
                while !rest.is_empty() {
                    rest = match rest.len() {
                        AT_ONCE.. => self.entries::<T, AT_ONCE>(input, axes, (&mut windows, rest), block, spare, to),
                        5.. => self.entries::<T, 5>(input, axes, (&mut windows, rest), block, spare, to),
                        3.. => self.entries::<T, 3>(input, axes, (&mut windows, rest), block, spare, to),
                        2 => self.entries::<T, 2>(input, axes, (&mut windows, rest), block, spare, to),
                        _ => self.entries::<T, 1>(input, axes, (&mut windows, rest), block, spare, to),
                    };
                }
            }
            Chain::Sample => {
                let [own, ..] = spare else { return };
                let window = axes.each_ref().map(Axis::farthest);
                to.copy_from_slice(self.sample(input, axes, window, block, &mut own[..block.len]));
            }
            Chain::Differences(coefficients) => {
                let middle = axes[1].before;
                for (i, coefficient) in coefficients.iter().enumerate() {
                    let [one, two, ..] = spare else { return };
                    let ahead = self.sample(input, axes, [0, middle + i + 1, 0], block, &mut one[..block.len]);
                    let behind = self.sample(input, axes, [0, middle - i - 1, 0], block, &mut two[..block.len]);
                    let coefficient = T::from_f64(*coefficient);
                    simd::run(self.instructions, Difference { ahead, behind, coefficient, to: &mut *to });
                }
            }
        }
    }

    /// The next few entries of a chain, over a block; gives those behind them.
    fn entries<'e, T: Class, const N: usize>(
        &self,
        input: &[T],
        axes: &[Axis; 3],
        (windows, entries): (&mut impl Iterator<Item = [usize; 3]>, &'e [f64]),
        block: &Block,
        spare: &mut [Vec<T>],
        to: &mut [T],
    ) -> &'e [f64] {
        let windows: [_; N] = std::array::from_fn(|_| windows.next().unwrap_or_default());
        let (own, behind) = entries.split_at(N);
        let entries = std::array::from_fn(|i| T::from_f64(own[i]));
        if self.domain[0] < LONG {
            let mut spare = spare.iter_mut();
            let samples = windows.map(|window| match spare.next() {
                Some(own) => self.sample(input, axes, window, block, &mut own[..block.len]),
                None => &[],
            });
            simd::run(self.instructions, Entries::<T, N> { samples, entries, to });
            return behind;
        }
        let along = axes.iter().find(|axis| axis.dim == Some(0));
        let ends = along.map_or(Ends::default(), |axis| axis.ends);
        let [before, after] = along.map_or([0; 2], |axis| [axis.before, axis.extent - 1 - axis.before]);
        for line in &block.lines {
            let found = windows.map(|window| self.find::<T>(axes, window, line));
            let range = &line.range;
            let high = range.end.min(self.domain[0].saturating_sub(after)).max(range.start);
            let low = before.clamp(range.start, high);
            for part in [low..high, range.start..low, high..range.end].into_iter().filter(|part| !part.is_empty()) {
                let mut spare = spare.iter_mut();
                let samples = found.each_ref().map(|found| match (found, spare.next()) {
                    (Sample::Line { start, shift }, _) if part.start == low && low < high => {
                        &input[(start + low).wrapping_add_signed(*shift)..][..part.len()]
                    }
                    (_, Some(own)) => {
                        let own = &mut own[..part.len()];
                        own.iter_mut()
                            .zip(part.clone())
                            .for_each(|(own, at)| *own = self.value(input, found, &ends, at));
                        &*own
                    }
                    (_, None) => &[],
                });
                let to = &mut to[line.at..][part.start - range.start..part.end - range.start];
                simd::run(self.instructions, Entries::<T, N> { samples, entries, to });
            }
        }
        behind
    }

    /// The sample of one element of a line.
    fn value<T: Real>(&self, input: &[T], found: &Sample<T>, ends: &Ends<f64>, at: usize) -> T {
        let sample_at = |shift: isize| ends.sample_at(at as isize + shift, self.domain[0]);
        match *found {
            Sample::Line { start, shift } => sample_at(shift).map_or_else(T::from_f64, |at| input[start + at]),
            Sample::Constant { constant, shift } => sample_at(shift).map_or_else(T::from_f64, |_| constant),
        }
    }

    /// The samples under one entry of a window: a part of the input as it lies, or copied to `own`.
    fn sample<'b, T: Class>(
        &self,
        input: &'b [T],
        axes: &[Axis; 3],
        window: [usize; 3],
        block: &Block,
        own: &'b mut [T],
    ) -> &'b [T] {
        if let [line] = &block.lines[..]
            && let Sample::Line { start, shift } = self.find::<T>(axes, window, line)
        {
            let first = line.range.start as isize + shift;
            if first >= 0 && first as usize + block.len <= self.domain[0] {
                return &input[start + first as usize..][..block.len];
            }
        }
        let ends = axes.iter().find(|axis| axis.dim == Some(0)).map_or(Ends::default(), |axis| axis.ends);
        for line in &block.lines {
            let to = &mut own[line.at..line.at + line.range.len()];
            match self.find(axes, window, line) {
                Sample::Constant { constant, shift } => {
                    to.fill(constant);
                    beyond(self.domain[0], line.range.start as isize + shift, &ends, to);
                }
                Sample::Line { start, shift } => {
                    let samples = &input[start..start + self.domain[0]];
                    along(samples, line.range.start as isize + shift, &ends, to);
                }
            }
        }
        own
    }

    /// Where the samples under an entry lie, but for the ends of lines. The last dimension has the first say.
    fn find<T: Real>(&self, axes: &[Axis; 3], window: [usize; 3], line: &Line) -> Sample<T> {
        let mut others = [0; MOST_DIMS];
        let others = &mut others[..line.others.len()];
        others.copy_from_slice(&line.others);
        let mut shift = 0;
        for (axis, at) in axes.iter().zip(window).rev() {
            let offset = at as isize - axis.before as isize;
            if offset == 0 {
                continue;
            }
            let found = match axis.dim {
                Some(0) => {
                    shift = offset;
                    continue;
                }
                Some(d) => {
                    axis.ends.sample_at(others[d - 1] as isize + offset, self.domain[d]).map(|at| others[d - 1] = at)
                }
                None => match axis.ends.both()[usize::from(offset > 0)] {
                    Boundary::Constant(constant) => Err(constant),
                    _ => Ok(()),
                },
            };
            if let Err(constant) = found {
                return Sample::Constant { constant: T::from_f64(constant), shift };
            }
        }
        let mut start = 0;
        for (index, extent) in others.iter().zip(&self.domain[1..]).rev() {
            start = start * extent + index;
        }
        Sample::Line { start: start * self.domain[0], shift }
    }
}

/// The places of a window, the first dimension fastest.
fn windows(axes: &[Axis; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [rows, columns, _] = axes.map(|axis| axis.extent);
    (0..).map(move |number| [number % rows, number / rows % columns, number / (rows * columns)])
}

/// The constants beyond the ends of a line of so many elements, where there are such, of values from the place `first` on.
fn beyond<T: Real>(count: usize, first: isize, ends: &Ends<f64>, to: &mut [T]) {
    let [low, high] = [-first, count as isize - first].map(|at| at.clamp(0, to.len() as isize) as usize);
    for (end, outside) in ends.both().into_iter().zip([0..low, high..to.len()]) {
        if let Boundary::Constant(constant) = end {
            to[outside].fill(T::from_f64(constant));
        }
    }
}

/// The values of a line from the place `first` on, which may lie outside.
fn along<T: Real>(samples: &[T], first: isize, ends: &Ends<f64>, to: &mut [T]) {
    let count = samples.len() as isize;
    let value = |at: isize| ends.sample_at(at, samples.len()).map_or_else(T::from_f64, |at| samples[at]);
    let inside = (-first).clamp(0, to.len() as isize)..(count - first).clamp(0, to.len() as isize);
    let (low, high) = (inside.start as usize, inside.end.max(inside.start) as usize);
    (0..low).for_each(|i| to[i] = value(first + i as isize));
    if low < high {
        let from = (first + low as isize) as usize;
        to[low..high].copy_from_slice(&samples[from..from + high - low]);
    }
    (high..to.len()).for_each(|i| to[i] = value(first + i as isize));
}
