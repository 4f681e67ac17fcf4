//! Outputs of some neighbouring columns at once.
//!
//! A sample that is in a register serves all columns whose filter lies over it, so a block reads far fewer samples than
//! it takes products. Every output is one chain all the same, in the order of the filter's entries: the columns of
//! samples are gone through from the first to the last, and each output takes the ones under its filter in that order.

use crate::cpu::simd::{self, Instructions, Lanes, Vector, VectorWork};
use crate::stencil::Filter;

/// The columns of a block at most.
pub(in super::super) const COLUMNS: usize = 6;

/// How many columns are computed together, where `left` are to be computed yet: no more than a filter is wide, so that
/// there is a column of samples under all of them. One without vectors: there the C library's fma takes most of the time.
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

/// So many registers hold four vectors of [`COLUMNS`], their samples and an entry.
const MANY_REGISTERS: usize = 32;

/// Neighbouring columns of outputs.
pub(super) struct Block<'a, T> {
    filter: &'a Filter<T>,
    /// What holds the samples.
    buffer: &'a [T],
    /// Where in it columns begin: for each page under the filter, those under the first output's to those under the
    /// last one's.
    columns: &'a [usize],
    outputs: [*mut T; COLUMNS],
    /// How many of these there are.
    count: usize,
    /// The outputs of a column.
    len: usize,
}

/// Computes `outputs`, neighbouring columns of one length. `columns` are the places in `buffer` where columns of
/// samples begin: for each page under the filter, those under the first output's to those under the last one's. Each is
/// as much longer than an output as the filter is high, less one. The filter's entries are taken in their order, column by
/// column; `by_rows`, row by row of each page.
///
/// # Panics
/// If lengths or counts are others.
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
    // Functions of their own, so that none takes registers of another.
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
                // Conditions on constants, here and in `under`: kernels that a set of instructions never uses are not compiled.
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

/// A block whose filter is gone through column by column.
struct ByColumns<'a, T>(Block<'a, T>);

impl<T: Lanes> VectorWork<T> for ByColumns<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        // SAFETY: `compute`, which alone makes these, has compared the lengths.
        unsafe { under::<T, V, false>(set, &self.0) }
    }
}

/// A block whose filter is gone through row by row.
struct ByRows<'a, T>(Block<'a, T>);

impl<T: Lanes> VectorWork<T> for ByRows<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        // SAFETY: `compute`, which alone makes these, has compared the lengths.
        unsafe { under::<T, V, true>(set, &self.0) }
    }
}

/// A block of no more columns than its filter has, as [`compute`] has seen. Chains, samples and an entry fill the registers.
///
/// # Safety
/// The block's lengths must be what [`compute`] demands.
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

/// `C` columns under a filter of at least `C` columns, which is gone through column by column or, `BY_ROWS`, row by row.
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
        // By columns all rows are gone through at each column.
        let (times, together) = if BY_ROWS { (height, 1) } else { (1, height) };
        for page in 0..depth {
            let of_page = page * (width + C - 1);
            for row in 0..times {
                // The column `x` of samples under the columns of outputs from `FIRST` to those before `BEHIND`.
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
                // One after the other, and not in a loop: the compiler is to know which columns each is for.
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

/// What `rows` rows of a column of samples add to the columns of outputs from `first` to those before `behind`:
/// `entries` are those of the first one, and of each next one those that are `height` places before.
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

/// A block, some rows at a time.
trait Rows<T> {
    /// Values that are made once for all rows.
    type Hoisted<V: Vector<Element = T>>;

    fn hoist<V: Vector<Element = T>>(&self, set: V::Set) -> Self::Hoisted<V>;

    /// Computes `U` vectors of each column, from the row `at` on.
    ///
    /// # Safety
    /// Each column must have these outputs.
    unsafe fn rows<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, hoisted: &Self::Hoisted<V>, at: usize);
}

/// All rows of a block, `U` vectors at a time. The last ones overlap those before, where that makes fewer steps: few
/// chains at once take longer than a few more, and what is written twice is the same both times.
///
/// # Safety
/// There must be `len` of them.
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
        // Nothing to overlap, and no vectors that single elements are left of.
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
            // One after the other, and not in a loop: the compiler is to know which entries each takes.
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

/// What the column `X` of samples, of which `column` is the first, adds to `C` columns of outputs under three rows and
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
