//! Computes several neighbouring columns of outputs at once.
//!
//! A sample in a register serves all columns whose filter covers it, so a block reads far fewer samples than it
//! computes products. Every output is one chain all the same, in the order of the filter's entries: columns of samples
//! are visited from first to last, and each output takes the ones under its filter in that order.

use crate::cpu::simd::{self, Instructions, Lanes, Vector, VectorWork};
use crate::stencil::Filter;

/// Maximum number of columns in a block.
pub(in super::super) const COLUMNS: usize = 6;

/// Chooses the number of columns to compute together, with `left` still to do: no more than the filter's width, so that
/// some column of samples is common to all. One without vectors: there the C library's fma takes most of the time.
pub(in super::super) fn columns_at_once<T: Lanes>(
    instructions: Instructions,
    filter: &Filter<T>,
    left: usize,
    by_rows: bool,
) -> usize {
    if simd::lanes::<T>(instructions) == 1 {
        return 1;
    }
    let few = simd::registers::<T>(instructions) < MANY_REGISTERS;
    match (filter.size(), left) {
        ([3, 3, 3], 4..) if few && !by_rows => 4,
        ([3, 3, 1 | 3], COLUMNS..) if !by_rows => COLUMNS,
        ([3, 3, 1], 2..) if !by_rows => 2,
        ([_, width, _], left) => match width.min(left) {
            COLUMNS.. => COLUMNS,
            4 | 5 => 4,
            others => others,
        },
    }
}

/// Minimum number of registers that hold four vectors of [`COLUMNS`], their samples and an entry.
const MANY_REGISTERS: usize = 32;

/// Neighbouring columns of outputs.
pub(super) struct Block<'a, T> {
    filter: &'a Filter<T>,
    /// Samples.
    buffer: &'a [T],
    /// Start of each column in the buffer: for each page under the filter, from those under the first output to those
    /// under the last one.
    columns: &'a [usize],
    outputs: [*mut T; COLUMNS],
    /// Number of outputs.
    count: usize,
    /// Number of rows of a column of outputs.
    len: usize,
}

/// Computes `outputs`, neighbouring columns of one length. `columns` are the starts in `buffer` of the columns of
/// samples: for each page under the filter, from those under the first output to those under the last one. Each is
/// `height - 1` rows longer than an output, for a filter of that height. The filter's entries are taken in their order,
/// column by column; `by_rows`, row by row of each page.
///
/// # Panics
/// If lengths or counts do not match.
pub(in super::super) fn compute<T: Lanes>(
    instructions: Instructions,
    filter: &Filter<T>,
    buffer: &[T],
    columns: &[usize],
    outputs: &mut [&mut [T]],
    by_rows: bool,
) {
    let ([height, width, depth], count) = (filter.size(), outputs.len());
    let len = outputs.first().map_or(0, |output| output.len());
    assert_eq!(columns.len(), (count + width - 1) * depth);
    let behind = (buffer.len() + 1).checked_sub(len + height - 1).expect("a column of samples");
    assert!(columns.iter().all(|&place| place < behind));
    let mut starts = [std::ptr::null_mut(); COLUMNS];
    for (start, output) in starts.iter_mut().zip(outputs) {
        assert_eq!(output.len(), len);
        *start = output.as_mut_ptr();
    }
    let block = Block { filter, buffer, columns, outputs: starts, count, len };
    // Separate functions, so that register allocation is independent.
    if let (false, [3, 3, 1], 2) | (false, [3, 3, 1 | 3], 4 | COLUMNS) = (by_rows, filter.size(), count) {
        return simd::compute(instructions, ByThree(block));
    }
    assert!(count <= width, "of a narrower filter there is no column under all of them");
    if by_rows { simd::compute(instructions, ByRows(block)) } else { simd::compute(instructions, ByColumns(block)) }
}

/// A block under a filter of three rows and three columns, of two or four columns, or of [`COLUMNS`].
struct ByThree<'a, T>(Block<'a, T>);

impl<T: Lanes> VectorWork<T> for ByThree<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        let (block, len) = (&self.0, self.0.len);
        // SAFETY: `compute`, which alone makes these, has compared the lengths.
        unsafe {
            match (block.filter.size()[2], block.count) {
                // Conditions on constants, here and in `under`: kernels that an instruction set never uses are not
                // compiled.
                _ if const { V::LANES == 1 } => under::<T, V, false>(set, block),
                (1, COLUMNS) => along::<T, V, _, 2>(set, &Three::<T, COLUMNS, 1>(block), len),
                (1, 2) => along::<T, V, _, 4>(set, &Three::<T, 2, 1>(block), len),
                (3, COLUMNS) if const { V::REGISTERS >= MANY_REGISTERS } => {
                    along::<T, V, _, 2>(set, &Three::<T, COLUMNS, 3>(block), len)
                }
                (3, 4) if const { V::REGISTERS < MANY_REGISTERS } => {
                    along::<T, V, _, 3>(set, &Three::<T, 4, 3>(block), len)
                }
                _ => unreachable!("`columns_at_once` has said how many"),
            }
        }
    }
}

/// A block whose filter is traversed column by column.
struct ByColumns<'a, T>(Block<'a, T>);

impl<T: Lanes> VectorWork<T> for ByColumns<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        // SAFETY: `compute`, which alone makes these, has compared the lengths.
        unsafe { under::<T, V, false>(set, &self.0) }
    }
}

/// A block whose filter is traversed row by row.
struct ByRows<'a, T>(Block<'a, T>);

impl<T: Lanes> VectorWork<T> for ByRows<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        // SAFETY: `compute`, which alone makes these, has compared the lengths.
        unsafe { under::<T, V, true>(set, &self.0) }
    }
}

/// Computes a block of no more columns than its filter has, as checked by [`compute`]. Chains, samples and an entry
/// fill the registers.
///
/// # Safety
/// The block's lengths must be those that [`compute`] demands.
#[inline(always)]
unsafe fn under<T: Lanes, V: Vector<Element = T>, const BY_ROWS: bool>(set: V::Set, block: &Block<T>) {
    // SAFETY: the caller's promise.
    unsafe {
        match block.count {
            1 => along::<T, V, _, 8>(set, &Under::<T, 1, BY_ROWS>(block), block.len),
            _ if const { V::LANES == 1 } => unreachable!("`columns_at_once` has said one"),
            2 => along::<T, V, _, 4>(set, &Under::<T, 2, BY_ROWS>(block), block.len),
            3 => along::<T, V, _, 3>(set, &Under::<T, 3, BY_ROWS>(block), block.len),
            4 => along::<T, V, _, 3>(set, &Under::<T, 4, BY_ROWS>(block), block.len),
            COLUMNS if const { V::REGISTERS >= MANY_REGISTERS } => {
                along::<T, V, _, 4>(set, &Under::<T, COLUMNS, BY_ROWS>(block), block.len);
            }
            COLUMNS => along::<T, V, _, 2>(set, &Under::<T, COLUMNS, BY_ROWS>(block), block.len),
            _ => unreachable!("`columns_at_once` has said how many"),
        }
    }
}

/// `C` columns under a filter of at least `C` columns, traversed column by column or, `BY_ROWS`, row by row.
struct Under<'a, 'b, T, const C: usize, const BY_ROWS: bool>(&'a Block<'b, T>);

impl<T: Lanes, const C: usize, const BY_ROWS: bool> Rows<T> for Under<'_, '_, T, C, BY_ROWS> {
    type Hoisted<V: Vector<Element = T>> = ();

    #[inline(always)]
    fn hoist<V: Vector<Element = T>>(&self, _: V::Set) {}

    #[inline(always)]
    unsafe fn rows<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, (): &(), at: usize) {
        let &Block { filter, buffer, columns, outputs, .. } = self.0;
        let [height, width, depth] = filter.size();
        let mut acc = [[V::splat(set, T::default()); U]; C];
        // By columns, all rows are visited at each column.
        let (times, together) = if BY_ROWS { (height, 1) } else { (1, height) };
        for page in 0..depth {
            let of_page = page * (width + C - 1);
            for row in 0..times {
                // Column `x` of samples, under the columns of outputs from `FIRST` to before `BEHIND`.
                macro_rules! column {
                    ($x:expr, $first:literal, $behind:expr) => {
                        // SAFETY: there are `width + C - 1` columns for each page, each `height - 1` rows longer than
                        // the outputs; and `x - c` is a column of the filter for each of these `c`.
                        unsafe {
                            let samples = buffer.as_ptr().add(columns.get_unchecked(of_page + $x) + at + row);
                            let entries = filter.values().as_ptr().add((page * width + $x - $first) * height + row);
                            column::<T, V, U, C>(
                                set,
                                samples,
                                (entries, height),
                                together,
                                ($first, $behind),
                                &mut acc,
                            );
                        }
                    };
                }
                // Unrolled instead of a loop: the compiler must know the columns of each call.
                macro_rules! first {
                    ($($x:literal)+) => { $(if $x + 1 < C { column!($x, 0, $x + 1); })+ };
                }
                macro_rules! last {
                    ($($c:literal)+) => { $(if $c < C { column!(width + $c - 1, $c, C); })+ };
                }
                const { assert!(C <= 6) };
                first!(0 1 2 3 4);
                for x in C - 1..width {
                    column!(x, 0, C);
                }
                last!(1 2 3 4 5);
            }
        }
        for (acc, &output) in acc.iter().zip(&outputs) {
            for (u, acc) in acc.iter().enumerate() {
                // SAFETY: within what the caller promises.
                unsafe { acc.store(output.add(at + u * V::LANES)) };
            }
        }
    }
}

/// Adds the products of `rows` rows of a column of samples to the columns of outputs from `first` to before `behind`:
/// `entries` are those of the first one, and those of each next one are `height` places before.
///
/// # Safety
/// `U` vectors and `rows - 1` samples more must be readable, and all these entries.
#[inline(always)]
unsafe fn column<T, V: Vector<Element = T>, const U: usize, const C: usize>(
    set: V::Set,
    samples: *const T,
    (entries, height): (*const T, usize),
    rows: usize,
    (first, behind): (usize, usize),
    acc: &mut [[V; U]; C],
) where
    T: Lanes,
{
    for r in 0..rows {
        let mut of_row = [V::splat(set, T::default()); U];
        for (u, sample) in of_row.iter_mut().enumerate() {
            // SAFETY: the caller's promise; here and below.
            *sample = unsafe { V::load(set, samples.add(r + u * V::LANES)) };
        }
        for (c, acc) in acc.iter_mut().enumerate() {
            if first <= c && c < behind {
                // SAFETY: as above.
                let entry = V::splat(set, unsafe { *entries.add(r).sub((c - first) * height) });
                for (acc, &sample) in acc.iter_mut().zip(&of_row) {
                    *acc = sample.fma(entry, *acc);
                }
            }
        }
    }
}

/// A block, computed some rows at a time.
trait Rows<T> {
    /// Values computed once for all rows.
    type Hoisted<V: Vector<Element = T>>;

    fn hoist<V: Vector<Element = T>>(&self, set: V::Set) -> Self::Hoisted<V>;

    /// Computes `U` vectors of each column, from the row `at` on.
    ///
    /// # Safety
    /// Each column must have these outputs.
    unsafe fn rows<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, hoisted: &Self::Hoisted<V>, at: usize);
}

/// Computes all rows of a block, `U` vectors at a time. The last ones overlap those before, if that takes fewer steps:
/// few chains at once take longer than a few more, and rows computed twice get the same values.
///
/// # Safety
/// Columns must have `len` rows.
#[inline(always)]
unsafe fn along<T: Lanes, V: Vector<Element = T>, R: Rows<T>, const U: usize>(set: V::Set, rows: &R, len: usize) {
    let hoisted = rows.hoist::<V>(set);
    let mut at = 0;
    while at + U * V::LANES <= len {
        // SAFETY: rows that begin at `at` end before `len`; here and below.
        unsafe { rows.rows::<V, U>(set, &hoisted, at) };
        at += U * V::LANES;
    }
    match (len - at).div_ceil(V::LANES) {
        0 => return,
        // No overlap is needed, since a vector is a single element.
        _ if V::LANES == 1 => {
            while at < len {
                // SAFETY: as above.
                unsafe { rows.rows::<V, 1>(set, &hoisted, at) };
                at += 1;
            }
            return;
        }
        // SAFETY: as above.
        3.. if len >= U * V::LANES => return unsafe { rows.rows::<V, U>(set, &hoisted, len - U * V::LANES) },
        // SAFETY: as above.
        2 if len >= 2 * V::LANES => return unsafe { rows.rows::<V, 2>(set, &hoisted, len - 2 * V::LANES) },
        _ => {}
    }
    if len >= V::LANES {
        while at < len {
            // SAFETY: as above.
            unsafe { rows.rows::<V, 1>(set, &hoisted, at.min(len - V::LANES)) };
            at += V::LANES;
        }
    } else {
        let hoisted = rows.hoist::<T>(());
        while at < len {
            // SAFETY: as above.
            unsafe { rows.rows::<T, 1>((), &hoisted, at) };
            at += 1;
        }
    }
}

/// `C` columns under a filter of three rows, three columns and `D` pages.
struct Three<'a, T, const C: usize, const D: usize>(&'a Block<'a, T>);

impl<T: Lanes, const C: usize, const D: usize> Rows<T> for Three<'_, T, C, D> {
    type Hoisted<V: Vector<Element = T>> = [[V; 9]; D];

    #[inline(always)]
    fn hoist<V: Vector<Element = T>>(&self, set: V::Set) -> [[V; 9]; D] {
        let mut hoisted = [[V::splat(set, T::default()); 9]; D];
        for (hoisted, &entry) in hoisted.as_flattened_mut().iter_mut().zip(self.0.filter.values()) {
            *hoisted = V::splat(set, entry);
        }
        hoisted
    }

    #[inline(always)]
    unsafe fn rows<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, hoisted: &[[V; 9]; D], at: usize) {
        let mut acc = [[V::splat(set, T::default()); U]; C];
        for (page, entries) in hoisted.iter().enumerate() {
            // Unrolled instead of a loop: the compiler must know the entries of each call.
            macro_rules! columns {
                ($($x:literal)+) => {
                    $(if $x < C + 2 {
                        // SAFETY: there are `C + 2` columns for each page, each two rows longer than the outputs.
                        unsafe {
                            let column = *self.0.columns.get_unchecked(page * (C + 2) + $x);
                            under_three::<T, V, U, C, $x>(set, entries, self.0.buffer.as_ptr().add(column + at), &mut acc);
                        }
                    })+
                };
            }
            const { assert!(C + 2 <= 8) };
            columns!(0 1 2 3 4 5 6 7);
        }
        for (acc, &output) in acc.iter().zip(&self.0.outputs) {
            for (u, acc) in acc.iter().enumerate() {
                // SAFETY: within what the caller promises.
                unsafe { acc.store(output.add(at + u * V::LANES)) };
            }
        }
    }
}

/// Adds the products of column `X` of samples, beginning at `column`, to `C` columns of outputs under three rows and
/// three columns.
///
/// # Safety
/// `U` vectors and two samples more must be readable there.
#[inline(always)]
unsafe fn under_three<T, V: Vector<Element = T>, const U: usize, const C: usize, const X: usize>(
    set: V::Set,
    entries: &[V; 9],
    column: *const T,
    acc: &mut [[V; U]; C],
) {
    for r in 0..3 {
        for u in 0..U {
            // SAFETY: the caller's promise.
            let sample = unsafe { V::load(set, column.add(r + u * V::LANES)) };
            for (c, acc) in acc.iter_mut().enumerate() {
                if X >= c && X - c < 3 {
                    acc[u] = sample.fma(entries[(X - c) * 3 + r], acc[u]);
                }
            }
        }
    }
}
