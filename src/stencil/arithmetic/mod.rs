//! Arithmetic on arrays that an engine holds: elementwise operations and reductions.
//!
//! Every result is a function of the inputs alone, as defined by IEEE 754 to the last bit: each operation is rounded
//! once, and sums are added in an order that is part of the contract ([`Reduction`]). Only the payload of a NaN is
//! unspecified.

mod elementary;
mod expansion;
mod operations;
mod order;
mod places;
mod reduction;
mod shift;

use super::functions::Draw;
use super::{Array, Error, Real, Source, Target};
use crate::platform::watch::Watch;

pub use expansion::{Expansion, Operand};
pub(crate) use operations::saturated;
pub use operations::{Binary, MAX_POWER, Unary};
pub use order::Order;
pub use places::{Indices, Places, Section};
pub use reduction::{CHUNK, Extreme, LANES, Reduction, Scan};
pub use shift::Shift;

/// Maximum number of dimensions of an [`Expansion`] or a [`Section`] after compatible neighbours are merged.
pub const RANK: usize = 5;

/// Arithmetic on arrays that an engine holds. Each method reads the arrays as all earlier calls leave them, and writes
/// all elements of its target, or the given places. A call may return before its work is complete: only results on the
/// host are ready.
///
/// # Errors
/// [`Error::Foreign`] for an array of another engine; [`Error::OutOfMemory`]; [`Error::Interrupted`]; the driver's.
///
/// # Panics
/// If lengths do not match the other arguments, and for places outside an array.
pub trait Arithmetic<T: Real> {
    /// `to[i] = op from[i]`.
    fn unary(&self, op: Unary, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// `to[i] = a[i] op b[i]`, with the operands expanded; the expansion does not apply to a scalar.
    fn binary(
        &self,
        op: Binary,
        operands: [Operand<T>; 2],
        expansion: &Expansion,
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// Takes a step of two time levels, in place of the older one: `older[i] = fma(weight, older[i], step[i])`, and,
    /// with a source, `+ source[i]`, rounded once more. A source array has the length of `older`.
    fn advance(
        &self,
        step: &Array<T>,
        weight: T,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// Does [`advance`](Arithmetic::advance) with a weight that may be the one element of an array. Waits for it.
    fn advance_by(
        &self,
        step: &Array<T>,
        weight: Operand<T>,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let mut number = [T::default()];
        match weight {
            Operand::Scalar(weight) => number[0] = weight,
            Operand::Array(weight) => self.pick(weight, &Places::run(0, 1), Target::Host(&mut number), watch)?,
        }
        self.advance(step, number[0], source, older, watch)
    }

    /// Reduces an array of `size[0] x size[1] x size[2]` elements along the middle dimension: `size[0] size[2]`
    /// results. `second` is the other array of a reduction [of two](Reduction::of_two). Counts no updates.
    fn reduce(
        &self,
        op: Reduction,
        first: &Array<T>,
        second: Option<&Array<T>>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// Finds the smallest or the largest along the middle dimension of an array of `size[0] x size[1] x size[2]`
    /// elements: `size[0] size[2]` results, and for each of them its place in its line, counted from 0. NaN is skipped,
    /// of equals the first counts, and +0 equals -0. A line without a number gives NaN, at the place 0. Counts no
    /// updates.
    fn extremes(
        &self,
        which: Extreme,
        from: &Array<T>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<Indices, Error>;

    /// Scans the middle dimension of an array of `size[0] x size[1] x size[2]` elements: each result includes its
    /// element and all before it.
    fn scan(&self, op: Scan, from: &Array<T>, size: [usize; 3], to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// Sorts each line along the middle dimension of an array of `size[0] x size[1] x size[2]` elements by
    /// [order](Order). With places, returns for each result the place in its line that it comes from, counted from 0.
    ///
    /// # Errors
    /// Also [`Error::OutOfMemory`] for places in lines of 2^32 elements or more on a device.
    fn sort(
        &self,
        order: Order,
        from: &Array<T>,
        size: [usize; 3],
        to: &mut Array<T>,
        with_places: bool,
        watch: &Watch,
    ) -> Result<Option<Indices>, Error>;

    /// Computes the median of each line along the middle dimension of an array of `size[0] x size[1] x size[2]`
    /// elements, none of them 0: of an even number of elements half the sum of the two in the middle. NaN if there is
    /// one, and a zero has no sign. `false` if the engine can only sort. Counts no updates.
    fn medians(&self, _from: &Array<T>, _size: [usize; 3], _to: &mut Array<T>, _watch: &Watch) -> Result<bool, Error> {
        Ok(false)
    }

    /// Finds the places of all nonzero elements, ascending; NaN is nonzero. Waits until their number is known. Counts
    /// no updates.
    fn find(&self, from: &Array<T>, watch: &Watch) -> Result<Indices, Error>;

    /// `to[i] = indices[i] + 1`, rounded once: indices of the hosts start at 1.
    fn ordinals(&self, indices: &Indices, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// Fills the array with `value`.
    fn fill(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// Fills the array with [random](super::functions::random) numbers.
    fn random(&self, draw: Draw, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// Copies a list of places to this engine, for many calls; `None` if it takes one of the host's as well.
    fn list(&self, _places: &[u64], _watch: &Watch) -> Result<Option<Indices>, Error> {
        Ok(None)
    }

    /// `to[i] = from[places[i]]`.
    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// Copies each element from a place at a fixed offset.
    fn shift(&self, what: &Shift, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        self.pick(from, &Places::List(what.places()), Target::Array(to), watch)
    }

    /// `to[places[i]] = from[i]`, all others unchanged. If a place is repeated, the last element counts.
    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// Converts every element to this class, rounded once.
    fn convert(&self, from: &Array<T::Other>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;
}
