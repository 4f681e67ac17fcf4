//! Outputs of some neighbouring columns at once.
//!
//! A sample that is in a register serves all columns whose filter lies over it, so a block reads far fewer samples than
//! it takes products. Every output is one chain all the same, in the order of the filter's entries: the columns of
//! samples are gone through from the first to the last, and each output takes the ones under its filter in that order.

use crate::cpu::simd::{self, Instructions, Lanes, Vector, VectorWork};
use crate::stencil::Filter;

/// The columns of a block at most.
pub(super) const COLUMNS: usize = 6;

/// How many columns are computed together, where `left` are to be computed yet.
pub(super) fn columns_at_once<T: Lanes>(instructions: Instructions, filter: &Filter<T>, left: usize) -> usize {
    let few = simd::registers::<T>(instructions) < MANY_REGISTERS;
    match (filter.size(), left) {
        ([3, 3, 3] | [_, FEWER..COLUMNS, _], FEWER..) if few => FEWER,
        ([3, 3, 1 | 3], 2..COLUMNS) => 2,
        (_, left) => left.min(COLUMNS),
    }
}

/// The columns of a block under a filter that is not as wide as [`COLUMNS`], and under 3 x 3 x 3, of three vectors
/// each: with 16 registers, fewer loads than [`COLUMNS`] of two vectors take. (With AVX2, one core of an EPYC of the
/// third generation: 5 x 5 in sweeps 0.75 of the time, 3 x 3 x 3 in double 0.83 to 0.98, in single 0.92 to 1.05.)
const FEWER: usize = 4;

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
pub(super) fn compute<T: Lanes>(
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
    if by_rows {
        simd::compute(instructions, ByRows(block));
    } else if [FEWER, COLUMNS].contains(&count) && width >= count {
        simd::compute(instructions, Wide(block));
    } else {
        simd::compute(instructions, block);
    }
}

impl<T: Lanes> VectorWork<T> for Block<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        match (self.filter.size(), self.count) {
            // SAFETY: `compute`, which alone makes these, has compared the lengths; here and below.
            ([3, 3, 1], COLUMNS) => unsafe { along::<T, V, _, 2>(set, &Three::<T, COLUMNS, 1>(&self), self.len) },
            // SAFETY: as above.
            ([3, 3, 1], 2) => unsafe { along::<T, V, _, 4>(set, &Three::<T, 2, 1>(&self), self.len) },
            // SAFETY: as above.
            ([3, 3, 3], COLUMNS) if V::REGISTERS >= MANY_REGISTERS => unsafe {
                along::<T, V, _, 2>(set, &Three::<T, COLUMNS, 3>(&self), self.len)
            },
            // SAFETY: as above.
            ([3, 3, 3], FEWER) if V::REGISTERS < MANY_REGISTERS => unsafe {
                along::<T, V, _, 3>(set, &Three::<T, FEWER, 3>(&self), self.len)
            },
            // SAFETY: as above.
            ([3, 3, 3], 2) => unsafe { along::<T, V, _, 4>(set, &Three::<T, 2, 3>(&self), self.len) },
            // Chains, samples and an entry fill the registers.
            // SAFETY: as above.
            _ if V::REGISTERS >= MANY_REGISTERS => unsafe {
                along::<T, V, _, 4>(set, &Any::<T, false>(&self), self.len)
            },
            // SAFETY: as above.
            _ => unsafe { along::<T, V, _, 2>(set, &Any::<T, false>(&self), self.len) },
        }
    }
}

/// A block whose filter is gone through row by row.
struct ByRows<'a, T>(Block<'a, T>);

impl<T: Lanes> VectorWork<T> for ByRows<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        // SAFETY: `compute`, which alone makes these, has compared the lengths.
        unsafe { along::<T, V, _, 2>(set, &Any::<T, true>(&self.0), self.0.len) }
    }
}

/// A block of [`FEWER`] columns or of [`COLUMNS`] under a filter of at least as many.
struct Wide<'a, T>(Block<'a, T>);

impl<T: Lanes> VectorWork<T> for Wide<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        let (block, len) = (&self.0, self.0.len);
        // SAFETY: `compute`, which alone makes these, has compared the lengths, and the filter is as wide.
        unsafe {
            match block.count {
                COLUMNS if V::REGISTERS >= MANY_REGISTERS => {
                    along::<T, V, _, 4>(set, &Under::<T, COLUMNS>(block), len);
                }
                COLUMNS => along::<T, V, _, 2>(set, &Under::<T, COLUMNS>(block), len),
                _ => along::<T, V, _, 3>(set, &Under::<T, FEWER>(block), len),
            }
        }
    }
}

/// `C` columns under a filter of at least `C` columns.
struct Under<'a, 'b, T, const C: usize>(&'a Block<'b, T>);

impl<T: Lanes, const C: usize> Rows<T> for Under<'_, '_, T, C> {
    type Hoisted<V: Vector<Element = T>> = ();

    #[inline(always)]
    fn hoist<V: Vector<Element = T>>(&self, _: V::Set) {}

    #[inline(always)]
    unsafe fn rows<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, (): &(), at: usize) {
        let &Block { filter, buffer, columns, outputs, .. } = self.0;
        let [height, width, depth] = filter.size();
        let mut acc = [[V::splat(set, T::default()); U]; C];
        for page in 0..depth {
            let of_page = page * (width + C - 1);
            // The column `x` of samples under the columns of outputs from `FIRST` to those before `BEHIND`.
            macro_rules! column {
                ($x:expr, $first:literal, $behind:expr) => {
                    // SAFETY: there are `width + C - 1` columns for each page, each `height - 1` rows longer than the
                    // outputs; and `x - c` is a column of the filter for each of these `c`.
                    unsafe {
                        let samples = buffer.as_ptr().add(columns.get_unchecked(of_page + $x) + at);
                        let entries = filter.values().as_ptr().add((page * width + $x - $first) * height);
                        column::<T, V, U, C>(set, samples, entries, height, ($first, $behind), &mut acc);
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
        for (acc, &output) in acc.iter().zip(&outputs) {
            for (u, acc) in acc.iter().enumerate() {
                // SAFETY: within what the caller promises.
                unsafe { acc.store(output.add(at + u * V::LANES)) };
            }
        }
    }
}

/// What a column of samples adds to the columns of outputs from `first` to those before `behind`: `entries` are those
/// of the first one, and of each next one those that are `height` places before.
///
/// # Safety
/// `U` vectors and `height - 1` samples more must be readable, and all these entries.
#[inline(always)]
unsafe fn column<T, V: Vector<Element = T>, const U: usize, const C: usize>(
    set: V::Set,
    samples: *const T,
    entries: *const T,
    height: usize,
    (first, behind): (usize, usize),
    acc: &mut [[V; U]; C],
) where
    T: Lanes,
{
    for r in 0..height {
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
                            under::<T, V, U, C, $x>(set, entries, self.0.buffer.as_ptr().add(column + at), &mut acc);
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
unsafe fn under<T, V: Vector<Element = T>, const U: usize, const C: usize, const X: usize>(
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

/// Up to [`COLUMNS`] columns under any filter, whose columns are gone through one after the other, or, `BY_ROWS`, its rows.
struct Any<'a, 'b, T, const BY_ROWS: bool>(&'a Block<'b, T>);

impl<T: Lanes, const BY_ROWS: bool> Rows<T> for Any<'_, '_, T, BY_ROWS> {
    type Hoisted<V: Vector<Element = T>> = ();

    #[inline(always)]
    fn hoist<V: Vector<Element = T>>(&self, _: V::Set) {}

    #[inline(always)]
    unsafe fn rows<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, (): &(), at: usize) {
        let &Block { filter, buffer, columns, outputs, count, .. } = self.0;
        let [height, width, depth] = filter.size();
        let mut acc = [[V::splat(set, T::default()); U]; COLUMNS];
        let across = count + width - 1;
        for page in 0..depth {
            for outer in 0..if BY_ROWS { height } else { across } {
                for inner in 0..if BY_ROWS { across } else { height } {
                    let (x, r) = if BY_ROWS { (inner, outer) } else { (outer, inner) };
                    // The outputs that this column of samples is under the filter of.
                    let (first, behind) = ((x + 1).saturating_sub(width), (x + 1).min(count));
                    // SAFETY: there are this many columns for each page, each `height - 1` rows longer than the outputs.
                    let column = unsafe { buffer.as_ptr().add(columns.get_unchecked(page * across + x) + at + r) };
                    let mut samples = [V::splat(set, T::default()); U];
                    for (u, sample) in samples.iter_mut().enumerate() {
                        // SAFETY: as above.
                        *sample = unsafe { V::load(set, column.add(u * V::LANES)) };
                    }
                    for (c, acc) in acc.iter_mut().enumerate() {
                        if first <= c && c < behind {
                            // SAFETY: `x - c` is a column of the filter.
                            let entry = unsafe { *filter.values().get_unchecked((page * width + x - c) * height + r) };
                            let entry = V::splat(set, entry);
                            for (acc, &sample) in acc.iter_mut().zip(&samples) {
                                *acc = sample.fma(entry, *acc);
                            }
                        }
                    }
                }
            }
        }
        for (acc, &output) in acc.iter().zip(&outputs[..count]) {
            for (u, acc) in acc.iter().enumerate() {
                // SAFETY: within what the caller promises.
                unsafe { acc.store(output.add(at + u * V::LANES)) };
            }
        }
    }
}
