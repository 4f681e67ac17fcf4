//! Filters over tiles, computed by the loops of the convolution.
//!
//! # Sheets
//! If no sample lies beyond an end of the array, samples are the columns of the input in place. Otherwise they are
//! copied, each column of a tile once with the ghost values at its ends. In a volume they are kept for the tile of the
//! next page, which has all of them but one sheet, under other entries.

use std::ops::Range;

use super::block::{Frame, Sample, Tile, along, beyond};
use super::buffers::{Buffer, Buffers, Sheets};
use super::{Class, Output};
use crate::cpu::convolution::kernel::{COLUMNS, columns_at_once, compute};
use crate::cpu::simd;
use crate::host::SharedOutput;
use crate::stencil::program::{Axis, MOST_DIMS};
use crate::stencil::{Ends, Error, Filter, Real};

/// Strides of columns of samples are a whole number of cache lines, and one more: so they do not all map to one cache
/// set.
const LINE_BYTES: usize = 64;

/// Minimum number of inner rows for which the ends are separate pieces.
const MIN_INNER_ROWS: usize = 256;

/// A filter over an input.
pub(super) struct Filtered {
    input: usize,
    pub(super) single: bool,
    /// Output that it writes instead of a buffer, if no loop reads that.
    pub(super) output: Option<usize>,
    axes: [Axis; 3],
    /// Columns of its entries, in the order of the chain.
    columns: Vec<Column>,
    /// Dimension along which its sheets lie, if that is one.
    deep: Option<usize>,
    /// Entries: those along the first dimension, if the chain begins with it, in the columns of neighbouring lines, and
    /// in sheets.
    pub(super) doubles: Filter<f64>,
    pub(super) singles: Filter<f32>,
}

/// A column of a filter's entries.
struct Column {
    /// Its first entry in the window.
    window: [usize; 3],
    /// Distance from an element to the sample under that entry, if that lies inside.
    offset: isize,
}

impl Filtered {
    /// Makes a filter with these entries over an input, in single if `single`.
    pub(super) fn new(
        domain: &[usize],
        (input, single): (usize, bool),
        axes: &[Axis; 3],
        entries: &[f64],
    ) -> Result<Filtered, Error> {
        let mut others: Vec<usize> = (0..3).filter(|&d| axes[d].extent > 1).collect();
        let mut extents = axes.map(|axis| axis.extent);
        // The axis along this dimension, if it is the next of the chain and no later one is along the first dimension.
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

    /// Number of its entries.
    pub(super) fn entries(&self) -> usize {
        self.doubles.values().len()
    }

    /// Returns true if tiles of successive pages share samples.
    pub(super) fn is_deep(&self) -> bool {
        self.deep.is_some()
    }

    /// The axis along the first dimension.
    fn along(&self) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.dim == Some(0))
    }

    /// Divides the rows of lines of this length: the ends, whose samples lie beyond the array, are separated if many
    /// rows between them then need no copies. In a volume, copies serve several pages.
    fn parts(&self, rows: &Range<usize>, length: usize) -> [Range<usize>; 3] {
        let [before, after] = self.along().map_or([0; 2], |axis| [axis.before, axis.extent - 1 - axis.before]);
        let low = before.clamp(rows.start, rows.end);
        let high = length.saturating_sub(after).clamp(low, rows.end);
        if self.is_deep() || high - low < MIN_INNER_ROWS {
            return [rows.clone(), 0..0, 0..0];
        }
        [low..high, rows.start..low, high..rows.end]
    }

    /// Distance from an element to the sample under the last column of entries, if that lies inside.
    fn farthest(&self) -> isize {
        self.columns.last().map_or(0, |column| column.offset)
    }

    /// Returns true if no sample of these elements lies beyond an end. They are in `lines` lines; `others` are the
    /// first one's indices.
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
    /// No other task may access the tile's elements of the output.
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
                    // A tile that follows soon is the first to need this.
                    let sample = line * self.domain[0] + rows.start + ahead;
                    simd::prefetch(input.as_ptr().wrapping_offset(one.farthest() + sample as isize), rows.len());
                    let start = first + (line - tile.lines.start) * length + rows.start - tile.rows.start;
                    // SAFETY: each piece of a line has places of its own, and no other task accesses the tile.
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

    /// Divides a tile into pieces of one page each, whose ends are separate if much lies between them.
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

    /// Copies the samples under a tile's lines in a page, and around them, unless they are held already. Appends the
    /// starts of the columns to `places`.
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
                // The last line's first column is followed by its others.
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
