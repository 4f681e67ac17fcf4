//! Tiles, their division into blocks, and the samples around these.

use std::ops::Range;

use super::buffers::{BLOCK, Buffers, TILE};
use super::loops::{MultiplyAdd, Pair};
use super::{Action, Class, Loop, Output, Place, Slices};
use crate::cpu::arithmetic::{ConvertPiece, elementwise, random};
use crate::cpu::simd::{self, Instructions};
use crate::stencil::functions::Draw;
use crate::stencil::program::{Axis, MOST_DIMS, View};
use crate::stencil::{Boundary, Ends, Real};

/// Minimum length of lines that are blocks by themselves, if loops need neighbouring samples.
const MIN_LINE_BLOCK: usize = 128;

/// Lines are counted as at least this long in the size of a tile: each needs room of its own.
const MIN_COUNTED_ROWS: usize = 16;

/// Number of lines that filters compute at once; a tile has a multiple of it if there is room.
const LINES_AT_ONCE: usize = 12;

/// A part of some neighbouring lines: all of each, or the same range of each.
pub(super) struct Tile {
    pub(super) rows: Range<usize>,
    pub(super) lines: Range<usize>,
}

/// Consecutive elements of a tile.
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) len: usize,
    /// Index of its first element in the tile.
    at: usize,
    /// Lines that it contains parts of; empty if no loop needs them.
    lines: Vec<Line>,
}

/// A part of a block in one line of the domain.
struct Line {
    /// Its start in the block, and its range along the first dimension.
    at: usize,
    range: Range<usize>,
    /// Indices along the other dimensions.
    others: [usize; MOST_DIMS],
}

/// Arrays and sizes that all tiles of a run share.
pub(super) struct Frame<'a> {
    pub(super) domain: &'a [usize],
    pub(super) arrays: Slices<'a>,
    pub(super) instructions: Instructions,
    /// Number of elements of each line in a tile, and number of its lines.
    shape: [usize; 2],
    /// Number of lines of a page; a tile never extends into the next one.
    page: usize,
    /// True if loops need a block's lines.
    by_lines: bool,
    /// True if the tiles of neighbouring pages follow one another.
    is_deep: bool,
}

/// Place of the sample of a line's first element: `shift` elements along the line of an array that begins at `start`.
/// Or a constant, except where the line shifted by that much extends beyond its ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample<T> {
    Line { start: usize, shift: isize },
    Constant { constant: T, shift: isize },
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        domain: &'a [usize],
        arrays: Slices<'a>,
        instructions: Instructions,
        [by_lines, is_deep]: [bool; 2],
    ) -> Frame<'a> {
        let line = domain[0];
        // Long lines are divided into equal parts, of whole cache lines.
        let rows = line.div_ceil(line.div_ceil(BLOCK)).next_multiple_of(8).min(line);
        let (lines, all) = (TILE / rows.max(MIN_COUNTED_ROWS), domain[1..].iter().product());
        let page = *domain.get(1).unwrap_or(&1);
        let (lines, page) = match lines {
            _ if page > lines || is_deep => (lines.min(page), page),
            _ => (lines / page * page, all),
        };
        let lines = if lines > LINES_AT_ONCE && lines < page { lines / LINES_AT_ONCE * LINES_AT_ONCE } else { lines };
        Frame { domain, arrays, instructions, shape: [rows, lines], page, by_lines, is_deep }
    }

    /// Number of parts of a line, and of a page.
    fn parts(&self) -> [usize; 2] {
        [self.domain[0].div_ceil(self.shape[0]), self.page.div_ceil(self.shape[1])]
    }

    /// Number of tiles.
    pub(super) fn tiles(&self) -> usize {
        let pages = self.domain[1..].iter().product::<usize>() / self.page;
        self.parts().iter().product::<usize>() * pages
    }

    /// Tile with this index.
    pub(super) fn tile(&self, number: usize) -> Tile {
        let ([along, across], [rows, lines]) = (self.parts(), self.shape);
        let (of_page, pages) = (along * across, self.tiles() / (along * across));
        let (part, page) = match self.is_deep {
            true => (number / pages, number % pages),
            false => (number % of_page, number / of_page),
        };
        let (row, line, page) = (part % along * rows, part / along * lines, page * self.page);
        Tile { rows: row..(row + rows).min(self.domain[0]), lines: page + line..page + (line + lines).min(self.page) }
    }

    /// Distance from a tile to a later one that needs samples of other lines.
    pub(super) fn ahead(&self) -> usize {
        self.domain[0] * if self.is_deep { self.page } else { self.shape[1] }
    }

    /// Divides a tile into blocks.
    pub(super) fn blocks(&self, tile: &Tile) -> impl Iterator<Item = Block> {
        let (rows, lines) = (tile.rows.len(), tile.lines.len());
        let len = if rows < self.domain[0] || (self.by_lines && rows >= MIN_LINE_BLOCK) { rows } else { BLOCK };
        let start = tile.lines.start * self.domain[0] + tile.rows.start;
        (0..rows * lines).step_by(len).map(move |at| {
            let len = len.min(rows * lines - at);
            // Parts of lines are blocks by themselves.
            let start = start + at / rows * (self.domain[0] - rows) + at;
            Block { start, len, at, lines: if self.by_lines { self.lines(start, len) } else { Vec::new() } }
        })
    }

    fn lines(&self, start: usize, len: usize) -> Vec<Line> {
        let mut lines = Vec::with_capacity(1);
        let mut at = 0;
        while at < len {
            let first = (start + at) % self.domain[0];
            let count = (self.domain[0] - first).min(len - at);
            let others = self.others((start + at) / self.domain[0]);
            lines.push(Line { at, range: first..first + count, others });
            at += count;
        }
        lines
    }

    /// Indices of a line along the other dimensions.
    pub(super) fn others(&self, mut line: usize) -> [usize; MOST_DIMS] {
        let mut others = [0; MOST_DIMS];
        for (index, extent) in others.iter_mut().zip(&self.domain[1..]) {
            *index = line % extent;
            line /= extent;
        }
        others
    }

    fn slice<'b, T: Class>(&'b self, place: &Place, block: &Block, buffers: &'b Buffers) -> &'b [T] {
        match place {
            Place::Buffer(buffer) => &buffers.blocks[*buffer].all()[..block.len],
            Place::Number(number) => &buffers.numbers[*number].all()[..block.len],
            Place::Filtered(filter) => &buffers.filters[*filter].results.all()[block.at..][..block.len],
            Place::Input(input) => &T::of_arrays(&self.arrays, *input)[block.start..block.start + block.len],
        }
    }

    /// Copies the elements at a place.
    pub(super) fn copy<T: Class>(&self, place: &Place, block: &Block, buffers: &Buffers, to: &mut [T]) {
        to.copy_from_slice(self.slice(place, block, buffers));
    }

    /// Runs a loop over a block, to its buffer or to an output of its class.
    ///
    /// # Safety
    /// No other task may access the block's elements of the output.
    pub(super) unsafe fn run<T: Class>(&self, one: &Loop, block: &Block, all: &mut Buffers, output: Option<&Output>)
    where
        T::Other: Class,
    {
        let mut buffer = std::mem::take(&mut all.blocks[one.to]);
        let to = match output.and_then(T::of_output) {
            // SAFETY: as the caller says.
            Some(output) => unsafe { output.places(block.start..block.start + block.len) },
            None => &mut buffer.all_mut::<T>()[..block.len],
        };
        let instructions = self.instructions;
        match &one.action {
            Action::Load(input, view) => self.load(T::of_arrays(&self.arrays, *input), view, block, to),
            Action::Each(op, of) => elementwise(instructions, *op, self.slice(of, block, all), to),
            Action::Pair(op, of) => {
                let [a, b] = [0, 1].map(|which| self.slice(&of[which], block, all));
                simd::run(instructions, Pair { instructions, op: *op, a, b, to });
            }
            Action::MultiplyAdd(of) => {
                let [a, b, c] = [0, 1, 2].map(|which| self.slice(&of[which], block, all));
                simd::run(instructions, MultiplyAdd { a, b, c, to });
            }
            Action::Convert(of) => {
                let input = self.slice::<T::Other>(of, block, all);
                simd::run(instructions, ConvertPiece { input, output: to });
            }
            Action::Random(distribution, of) => {
                let [number, seed] = [0, 1].map(|which| self.slice::<f64>(&of[which], block, all)[0]);
                let draw = Draw { distribution: *distribution, number: number as u64, seed: seed as u32 };
                random(instructions, draw, block.start, to);
            }
            Action::Sample(input, axes) => {
                let window = axes.each_ref().map(Axis::farthest);
                let own = &mut all.samples.all_mut()[..block.len];
                to.copy_from_slice(self.sample(T::of_arrays(&self.arrays, *input), axes, window, block, own));
            }
        }
        all.blocks[one.to] = buffer;
    }

    /// Loads elements of an array whose layout differs from the domain's.
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

    /// Samples under one entry of a window: a part of the input in place, or copied to `own`.
    fn sample<'b, T: Class>(
        &self,
        input: &'b [T],
        axes: &[Axis; 3],
        window: [usize; 3],
        block: &Block,
        own: &'b mut [T],
    ) -> &'b [T] {
        if let [line] = &block.lines[..]
            && let Sample::Line { start, shift } = self.find::<T>(axes, window, line.others)
        {
            let first = line.range.start as isize + shift;
            if first >= 0 && first as usize + block.len <= self.domain[0] {
                return &input[start + first as usize..][..block.len];
            }
        }
        let ends = axes.iter().find(|axis| axis.dim == Some(0)).map_or(Ends::default(), |axis| axis.ends);
        for line in &block.lines {
            let to = &mut own[line.at..line.at + line.range.len()];
            match self.find(axes, window, line.others) {
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

    /// Finds the place of the samples under an entry, apart from the ends of lines. The last dimension takes
    /// precedence.
    pub(super) fn find<T: Real>(
        &self,
        axes: &[Axis; 3],
        window: [usize; 3],
        mut others: [usize; MOST_DIMS],
    ) -> Sample<T> {
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

/// Writes the constants beyond the ends of a line of `count` elements, if its boundaries have them, from the place
/// `first` on.
pub(super) fn beyond<T: Real>(count: usize, first: isize, ends: &Ends<f64>, to: &mut [T]) {
    let [low, high] = [-first, count as isize - first].map(|at| at.clamp(0, to.len() as isize) as usize);
    for (end, outside) in ends.both().into_iter().zip([0..low, high..to.len()]) {
        if let Boundary::Constant(constant) = end {
            to[outside].fill(T::from_f64(constant));
        }
    }
}

/// Writes the values of a line from the place `first` on, which may lie outside.
pub(super) fn along<T: Real>(samples: &[T], first: isize, ends: &Ends<f64>, to: &mut [T]) {
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
