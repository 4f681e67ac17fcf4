//! Filters over tiles, by the loops of the convolution.
//!
//! # Sheets
//! If no sample lies beyond an end of the array, samples are the columns of the input as they lie. Else they are
//! copied, each column of a tile once with the ghost values at its ends. Of a volume they are kept for the tile of the next
//! page, which has all of them but one sheet, under other entries.

use std::ops::Range;

use super::super::convolution::kernel::{COLUMNS, columns_at_once, compute};
use super::super::simd;
use super::block::{Frame, Sample, Tile, along, beyond};
use super::buffers::{Buffer, Buffers, Sheets};
use super::{Class, Output};
use crate::host::SharedOutput;
use crate::stencil::program::{Axis, MOST_DIMS};
use crate::stencil::{Ends, Error, Filter, Real};

/// The bytes between columns of samples are as many lines of the cache, and one more: they do not all have one place there.
const LINE_BYTES: usize = 64;

/// So many rows are worth pieces at their ends.
const LONG: usize = 256;

/// A filter over an input.
pub(super) struct Filtered {
    input: usize,
    pub(super) single: bool,
    /// The output that it writes instead of a buffer, where nobody reads that.
    pub(super) output: Option<usize>,
    axes: [Axis; 3],
    /// The columns of its entries, in the order of the chain.
    columns: Vec<Column>,
    /// The dimension along which its sheets lie, where that is one.
    deep: Option<usize>,
    /// The entries: along the first dimension where the chain goes along that first, in the columns of neighbouring lines,
    /// and in sheets.
    pub(super) doubles: Filter<f64>,
    pub(super) singles: Filter<f32>,
}

/// A column of a filter's entries.
struct Column {
    /// Its first entry in the window.
    window: [usize; 3],
    /// From an element to the sample under that entry, where that lies inside.
    offset: isize,
}

impl Filtered {
    /// A filter with these entries over an input, in single where that says so.
    pub(super) fn new(
        domain: &[usize],
        (input, single): (usize, bool),
        axes: &[Axis; 3],
        entries: &[f64],
    ) -> Result<Filtered, Error> {
        let mut others: Vec<usize> = (0..3).filter(|&d| axes[d].extent > 1).collect();
        let mut extents = axes.map(|axis| axis.extent);
        // The axis along this dimension, where it is the next of the chain and none goes along the first one later.
        let mut next = |dim| {
            let axis = others.first().copied().filter(|&axis| axes[axis].dim == Some(dim));
            let is_first = others.iter().skip(usize::from(axis.is_some())).all(|&axis| axes[axis].dim != Some(0));
            let axis = axis.filter(|_| is_first)?;
            others.remove(0);
            Some(axis)
        };
        let height = next(0).map_or(1, |axis| std::mem::replace(&mut extents[axis], 1));
        let width = next(1).map_or(1, |axis| extents[axis]);
        let deep = if let [axis] = others[..] { axes[axis].dim.filter(|&dim| dim > 0) } else { None };
        let size = [height, width, entries.len() / (height * width)];
        let step = |dim: usize| domain[..dim].iter().product::<usize>() as isize;
        let columns = (0..entries.len() / height).map(|number| {
            let window = [number % extents[0], number / extents[0] % extents[1], number / (extents[0] * extents[1])];
            let offsets = axes.iter().zip(window).map(|(axis, at)| (at as isize - axis.before as isize, axis.dim));
            Column { window, offset: offsets.filter_map(|(offset, dim)| Some(offset * step(dim?))).sum() }
        });
        let internal = |error| Error::Internal(format!("A filter of a program: {error}."));
        Ok(Filtered {
            input,
            single,
            output: None,
            axes: *axes,
            columns: columns.collect(),
            deep,
            doubles: Filter::new(entries.to_vec(), size).map_err(internal)?,
            singles: Filter::new(entries.iter().map(|&entry| entry as f32).collect(), size).map_err(internal)?,
        })
    }

    /// The number of its entries.
    pub(super) fn entries(&self) -> usize {
        self.doubles.values().len()
    }

    /// Returns true if tiles one page behind the other have samples in common.
    pub(super) fn is_deep(&self) -> bool {
        self.deep.is_some()
    }

    /// The axis along the first dimension.
    fn along(&self) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.dim == Some(0))
    }

    /// Rows of lines of so many elements in parts: those by themselves whose samples lie beyond an end, where many others need
    /// no copies so. Of a volume, copies serve several pages.
    fn parts(&self, rows: &Range<usize>, length: usize) -> [Range<usize>; 3] {
        let [before, after] = self.along().map_or([0; 2], |axis| [axis.before, axis.extent - 1 - axis.before]);
        let low = before.clamp(rows.start, rows.end);
        let high = length.saturating_sub(after).clamp(low, rows.end);
        if self.is_deep() || high - low < LONG {
            return [rows.clone(), 0..0, 0..0];
        }
        [low..high, rows.start..low, high..rows.end]
    }

    /// From an element to the sample under the last column of entries, where that lies inside.
    fn farthest(&self) -> isize {
        self.columns.last().map_or(0, |column| column.offset)
    }

    /// Returns true if no sample of these elements lies beyond an end. `lines` lines have them; `others` are the first's indices.
    fn is_inside(&self, domain: &[usize], rows: &Range<usize>, lines: usize, others: &[usize; MOST_DIMS]) -> bool {
        self.axes.iter().filter(|axis| axis.extent > 1).all(|axis| {
            let Some(dim) = axis.dim else { return false };
            let (first, count) = match dim {
                0 => (rows.start, rows.len()),
                1 => (others[0], lines),
                _ => (others[dim - 1], 1),
            };
            first >= axis.before && first + count + axis.extent - axis.before - 1 <= domain[dim]
        })
    }
}

impl Frame<'_> {
    /// Computes a filter over a tile: to its buffer, or to an output of its class.
    ///
    /// # Errors
    /// As [`Buffer::grow`].
    ///
    /// # Safety
    /// Nobody else has the tile's elements of the output.
    pub(super) unsafe fn filter<T: Class>(
        &self,
        (number, one): (usize, &Filtered),
        tile: &Tile,
        buffers: &mut Buffers,
        output: Option<&Output>,
    ) -> Result<(), Error> {
        let Sheets { results, samples: copies, held } = &mut buffers.filters[number];
        let own = SharedOutput::new(results.all_mut::<T>());
        let (to, [first, length]) = match output.and_then(T::of_output) {
            Some(output) => (output, [tile.lines.start * self.domain[0] + tile.rows.start, self.domain[0]]),
            None => (&own, [0, tile.rows.len()]),
        };
        let (input, filter) = (T::of_arrays(&self.arrays, one.input), T::filter(one));
        let (width, ahead) = (filter.size()[1], self.ahead());
        let (mut places, mut under) = (Vec::new(), Vec::new());
        for Tile { rows, lines } in &self.pieces(one, tile) {
            let others = self.others(lines.start);
            let columns = lines.len() + width - 1;
            places.clear();
            let samples = if one.is_inside(self.domain, rows, lines.len(), &others) {
                let first = lines.start * self.domain[0] + rows.start;
                for sheet in one.columns.chunks(width) {
                    let offset = |x| sheet[0].offset + (x * self.domain[0]) as isize;
                    places.extend((0..columns).map(|x| first.wrapping_add_signed(offset(x))));
                }
                input
            } else {
                self.copy_sheets(one, rows, (lines.start, &others, columns), (input, copies, held), &mut places)?;
                copies.all()
            };
            let mut line = lines.start;
            while line < lines.end {
                let count = columns_at_once(self.instructions, filter, lines.end - line, false);
                let at = line - lines.start;
                under.clear();
                places.chunks(columns).for_each(|sheet| under.extend(&sheet[at..at + count + width - 1]));
                let mut outputs: [&mut [T]; COLUMNS] = Default::default();
                for (line, output) in (line..).zip(&mut outputs[..count]) {
                    // A tile comes soon that is the first to need this.
                    let sample = line * self.domain[0] + rows.start + ahead;
                    simd::prefetch(input.as_ptr().wrapping_offset(one.farthest() + sample as isize), rows.len());
                    let start = first + (line - tile.lines.start) * length + rows.start - tile.rows.start;
                    // SAFETY: each piece of a line has places of its own, and nobody else has the tile.
                    *output = unsafe { to.places(start..start + rows.len()) };
                    if one.output.is_some() {
                        simd::prefetch(output.as_ptr().wrapping_add(ahead), rows.len());
                    }
                }
                compute(self.instructions, filter, samples, &under, &mut outputs[..count], false);
                line += count;
            }
        }
        Ok(())
    }

    /// A tile in pieces of one page each, whose ends are pieces by themselves where much lies between them.
    fn pieces(&self, one: &Filtered, tile: &Tile) -> Vec<Tile> {
        let mut pieces = Vec::with_capacity(3);
        let page = *self.domain.get(1).unwrap_or(&1);
        let mut line = tile.lines.start;
        while line < tile.lines.end {
            let end = (line / page * page + page).min(tile.lines.end);
            let of_rows = |rows: &Range<usize>| Tile { rows: rows.clone(), lines: line..end };
            pieces.extend(one.parts(&tile.rows, self.domain[0]).iter().filter(|rows| !rows.is_empty()).map(of_rows));
            line = end;
        }
        pieces
    }

    /// Copies the samples under a tile's lines in a page, with those beside them, where they are not there yet. Adds where the
    /// columns begin to `places`.
    fn copy_sheets<T: Class>(
        &self,
        one: &Filtered,
        rows: &Range<usize>,
        (line, others, columns): (usize, &[usize; MOST_DIMS], usize),
        (input, copies, held): (&[T], &mut Buffer, &mut Vec<Option<[usize; 3]>>),
        places: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let [height, width, depth] = T::filter(one).size();
        let len = rows.len() + height - 1;
        let of_line = LINE_BYTES / size_of::<T>();
        let stride = len.next_multiple_of(of_line) + of_line;
        copies.grow::<T>(stride * columns * depth)?;
        held.resize(depth, None);
        let ends = one.along().map_or(Ends::default(), |axis| axis.ends);
        let (page, step) = one.deep.map_or((0, 0), |dim| (others[dim - 1], self.domain[1..dim].iter().product()));
        for (z, sheet) in one.columns.chunks(width).enumerate() {
            let (key, slot) = ([line - page * step, rows.start, page + z], (page + z) % depth);
            let first = slot * columns * stride;
            places.extend((0..columns).map(|x| first + x * stride));
            if held[slot].replace(key) == Some(key) {
                continue;
            }
            for (x, to) in copies.all_mut::<T>()[first..].chunks_mut(stride).take(columns).enumerate() {
                // Beside the last line's first column are its others.
                let beside = x.min(columns - width);
                let mut others = *others;
                others[0] += beside;
                let found = self.find::<T>(&one.axes, sheet[x - beside].window, others);
                self.gather(input, (&found, &ends), rows.start, height, &mut to[..len]);
            }
        }
        Ok(())
    }

    /// Copies the samples under a column of entries, for elements of a line from `first` on.
    fn gather<T: Real>(
        &self,
        input: &[T],
        (found, ends): (&Sample<T>, &Ends<f64>),
        first: usize,
        height: usize,
        to: &mut [T],
    ) {
        match *found {
            Sample::Constant { constant, shift } => {
                to.fill(constant);
                // The constant of a later dimension counts.
                if height == 1 {
                    beyond(self.domain[0], first as isize + shift, ends, to);
                }
            }
            Sample::Line { start, shift } => {
                along(&input[start..start + self.domain[0]], first as isize + shift, ends, to);
            }
        }
    }
}
