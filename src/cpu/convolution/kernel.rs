//! Outputs of some neighbouring columns at once.
//!
//! A sample that is in a register serves all columns whose filter lies over it, so a block reads far fewer samples than
//! it takes products. Every output is one chain all the same, in the order of the filter's entries: the columns of
//! samples are gone through from the first to the last, and each output takes the ones under its filter in that order.

use crate::cpu::simd::{self, Instructions, Lanes, Vector, Work};
use crate::stencil::{Filter, MAX_FILTER_2D, MAX_FILTER_3D};

/// The columns of a block at most.
pub(super) const COLUMNS: usize = 6;

/// The columns of samples of a block at most.
pub(super) const MAX_COLUMNS: usize = {
    let (image, volume) = (MAX_FILTER_2D + COLUMNS - 1, MAX_FILTER_3D * (MAX_FILTER_3D + COLUMNS - 1));
    if volume > image { volume } else { image }
};

/// How many columns are computed together, where `left` are to be computed yet.
pub(super) fn columns_at_once<T>(filter: &Filter<T>, left: usize) -> usize
where
    T: Lanes,
{
    match (filter.size(), left) {
        ([3, 3, _], 4..) => 4,
        ([3, 3, _], 2..) => 2,
        ([3, 3, _], _) => 1,
        (_, left) => left.min(COLUMNS),
    }
}

/// Neighbouring columns of outputs.
pub(super) struct Block<'a, T> {
    filter: &'a Filter<T>,
    /// For each page under the filter, the columns under the first output's and on to those under the last one's; all
    /// of one length.
    columns: &'a [&'a [T]],
    outputs: [*mut T; COLUMNS],
    /// How many of these there are.
    count: usize,
    /// The outputs of a column.
    len: usize,
}

/// Computes `outputs`, neighbouring columns of one length. `columns` are the samples: for each page under the filter,
/// the columns under the first output's and on to those under the last one's, each as much longer than an output as the
/// filter is high, less one.
///
/// # Panics
/// If lengths or counts are others.
pub(super) fn compute<T: Lanes>(
    instructions: Instructions,
    filter: &Filter<T>,
    columns: &[&[T]],
    outputs: &mut [&mut [T]],
) {
    let ([height, width, depth], count) = (filter.size(), outputs.len());
    let len = outputs.first().map_or(0, |output| output.len());
    assert_eq!(columns.len(), (count + width - 1) * depth);
    assert!(columns.iter().all(|column| column.len() == len + height - 1));
    assert!(outputs.iter().all(|output| output.len() == len));
    let mut starts = [std::ptr::null_mut(); COLUMNS];
    starts.iter_mut().zip(outputs).for_each(|(start, output)| *start = output.as_mut_ptr());
    simd::compute(instructions, Block { filter, columns, outputs: starts, count, len });
}

impl<T: Lanes> Work<T> for Block<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        // SAFETY: `compute`, which alone makes these, has compared the lengths; here and below.
        match (self.filter.size(), self.count) {
            ([3, 3, 1], 4) => unsafe { along::<T, V, _, 2>(set, &Three::<T, 4, 1>(&self), self.len) },
            ([3, 3, _], 4) => unsafe { along::<T, V, _, 2>(set, &Three::<T, 4, MAX_FILTER_3D>(&self), self.len) },
            ([3, 3, _], 2) => unsafe { along::<T, V, _, 4>(set, &Three::<T, 2, MAX_FILTER_3D>(&self), self.len) },
            ([3, 3, _], 1) => unsafe { along::<T, V, _, 4>(set, &Three::<T, 1, MAX_FILTER_3D>(&self), self.len) },
            // Chains, samples and an entry fill the registers.
            _ if V::REGISTERS >= 32 => unsafe { along::<T, V, _, 4>(set, &Any(&self), self.len) },
            _ => unsafe { along::<T, V, _, 2>(set, &Any(&self), self.len) },
        }
    }
}

/// A block, some rows at a time.
trait Rows<T> {
    /// What is made once for all rows.
    type Held<V: Vector<Element = T>>;

    fn hold<V: Vector<Element = T>>(&self, set: V::Set) -> Self::Held<V>;

    /// Computes `U` vectors of each column, from the row `at` on.
    ///
    /// # Safety
    /// There must be as many outputs.
    unsafe fn rows<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, held: &Self::Held<V>, at: usize);
}

/// All rows of a block, `U` vectors at a time.
///
/// # Safety
/// There must be `len` of them.
#[inline(always)]
unsafe fn along<T: Lanes, V: Vector<Element = T>, R: Rows<T>, const U: usize>(set: V::Set, rows: &R, len: usize) {
    let held = rows.hold::<V>(set);
    let mut at = 0;
    while at + U * V::LANES <= len {
        // SAFETY: rows that begin at `at` end before `len`; here and below.
        unsafe { rows.rows::<V, U>(set, &held, at) };
        at += U * V::LANES;
    }
    while at + V::LANES <= len {
        // SAFETY: as above.
        unsafe { rows.rows::<V, 1>(set, &held, at) };
        at += V::LANES;
    }
    if at < len && len >= V::LANES {
        // The last vector overlaps the one before: what it writes twice is the same both times.
        // SAFETY: as above.
        unsafe { rows.rows::<V, 1>(set, &held, len - V::LANES) };
    } else if at < len {
        let held = rows.hold::<T>(());
        while at < len {
            // SAFETY: as above.
            unsafe { rows.rows::<T, 1>((), &held, at) };
            at += 1;
        }
    }
}

/// `C` columns under a filter of three rows and three columns, and `D` pages at most.
struct Three<'a, T, const C: usize, const D: usize>(&'a Block<'a, T>);

impl<T: Lanes, const C: usize, const D: usize> Rows<T> for Three<'_, T, C, D> {
    type Held<V: Vector<Element = T>> = [[V; 9]; D];

    #[inline(always)]
    fn hold<V: Vector<Element = T>>(&self, set: V::Set) -> [[V; 9]; D] {
        let mut held = [[V::splat(set, T::default()); 9]; D];
        for (held, &entry) in held.as_flattened_mut().iter_mut().zip(self.0.filter.values()) {
            *held = V::splat(set, entry);
        }
        held
    }

    #[inline(always)]
    unsafe fn rows<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, held: &[[V; 9]; D], at: usize) {
        let mut acc = [[V::splat(set, T::default()); U]; C];
        let depth = if D == 1 { 1 } else { self.0.filter.size()[2] };
        for (page, entries) in held.iter().enumerate().take(depth) {
            for x in 0..C + 2 {
                // SAFETY: there are `C + 2` columns for each page, each two rows longer than the outputs.
                let column = unsafe { self.0.columns.get_unchecked(page * (C + 2) + x).as_ptr().add(at) };
                for r in 0..3 {
                    let mut samples = [V::splat(set, T::default()); U];
                    for (u, sample) in samples.iter_mut().enumerate() {
                        // SAFETY: as above.
                        *sample = unsafe { V::load(set, column.add(r + u * V::LANES)) };
                    }
                    for (c, acc) in acc.iter_mut().enumerate() {
                        if x >= c && x - c < 3 {
                            for (acc, &sample) in acc.iter_mut().zip(&samples) {
                                *acc = sample.fma(entries[(x - c) * 3 + r], *acc);
                            }
                        }
                    }
                }
            }
        }
        for (acc, &output) in acc.iter().zip(&self.0.outputs) {
            for (u, acc) in acc.iter().enumerate() {
                // SAFETY: within what the caller promises.
                unsafe { acc.store(output.add(at + u * V::LANES)) };
            }
        }
    }
}

/// Up to [`COLUMNS`] columns under any filter.
struct Any<'a, T>(&'a Block<'a, T>);

impl<T: Lanes> Rows<T> for Any<'_, T> {
    type Held<V: Vector<Element = T>> = ();

    #[inline(always)]
    fn hold<V: Vector<Element = T>>(&self, _: V::Set) {}

    #[inline(always)]
    unsafe fn rows<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, (): &(), at: usize) {
        let &Block { filter, columns, outputs, count, .. } = self.0;
        let [height, width, depth] = filter.size();
        let mut acc = [[V::splat(set, T::default()); U]; COLUMNS];
        for page in 0..depth {
            for x in 0..count + width - 1 {
                // The outputs that this column of samples is under the filter of.
                let (first, behind) = ((x + 1).saturating_sub(width), (x + 1).min(count));
                // SAFETY: there are so many columns for each page, each `height - 1` rows longer than the outputs.
                let column = unsafe { columns.get_unchecked(page * (count + width - 1) + x).as_ptr().add(at) };
                for r in 0..height {
                    let mut samples = [V::splat(set, T::default()); U];
                    for (u, sample) in samples.iter_mut().enumerate() {
                        // SAFETY: as above.
                        *sample = unsafe { V::load(set, column.add(r + u * V::LANES)) };
                    }
                    for (c, acc) in acc.iter_mut().enumerate() {
                        if first <= c && c < behind {
                            // SAFETY: `x - c` is a column of the filter.
                            let entry =
                                unsafe { *filter.values().get_unchecked((page * width + x - c) * height + r) };
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
