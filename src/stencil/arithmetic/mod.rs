//! Arithmetic on arrays that an engine holds: what is done with each element, and how elements become one number.
//!
//! Every result is a function of the inputs alone, as IEEE 754 defines it to the last bit: each operation is rounded
//! once, and sums are added in an order that is part of the contract ([`Reduction`]). Only the payload of a NaN is left
//! open.

mod elementary;
mod expansion;
mod operations;
mod order;
mod places;
mod reduction;
mod shift;

use super::functions::Draw;
use super::{Array, Error, Real, Source, Target};
use crate::watch::Watch;

pub use expansion::{Expansion, Operand};
pub(crate) use operations::saturated;
pub use operations::{Binary, MAX_POWER, Unary};
pub use order::Order;
pub use places::{Indices, Places, Section};
pub use reduction::{CHUNK, Extreme, LANES, Reduction, Scan};
pub use shift::Shift;

/// The most dimensions that an [`Expansion`] or a [`Section`] has once neighbours that go together are merged.
pub const RANK: usize = 5;

/// Arithmetic on arrays that an engine holds. Each method reads the arrays as they are when all calls before it are
/// over, and writes all elements of its target, or those places of it. A call may return before its work is over:
/// results on the host are there.
///
/// # Errors
/// [`Error::Foreign`] for an array of another engine; [`Error::OutOfMemory`]; [`Error::Interrupted`]; what the driver
/// says.
///
/// # Panics
/// Where lengths are not those that the other arguments ask for, and for places outside an array.
pub trait Arithmetic<T: Real> {
    /// `to[i] = op from[i]`.
    fn unary(&self, op: Unary, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// `to[i] = a[i] op b[i]`, with the operands expanded; to a scalar the expansion does not apply.
    fn binary(
        &self,
        op: Binary,
        operands: [Operand<T>; 2],
        expansion: &Expansion,
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// A step of two time levels, in the place of the older one: `older[i] = fma(weight, older[i], step[i])`, and where
    /// there is a source, `+ source[i]`, rounded once more. A source that is an array has the length of `older`.
    fn advance(
        &self,
        step: &Array<T>,
        weight: T,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// [`advance`](Arithmetic::advance) by a weight that may be the one element of an array. This waits for it.
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

    /// An array of `size[0] x size[1] x size[2]` elements, reduced along the middle dimension: `size[0] size[2]` results.
    /// `second` is the other array of a reduction [of two](Reduction::of_two). Nothing is counted.
    fn reduce(
        &self,
        op: Reduction,
        first: &Array<T>,
        second: Option<&Array<T>>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// The smallest or the largest along the middle dimension of an array of `size[0] x size[1] x size[2]` elements:
    /// `size[0] size[2]` results, and for each of them its place in its line, counted from 0. NaN is left out, of equals
    /// the first counts, and +0 equals -0. A line without a number gives NaN, at the place 0. Nothing is counted.
    fn extremes(
        &self,
        which: Extreme,
        from: &Array<T>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<Indices, Error>;

    /// Each element with all ahead of it along the middle dimension of an array of `size[0] x size[1] x size[2]`
    /// elements.
    fn scan(&self, op: Scan, from: &Array<T>, size: [usize; 3], to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// Each line along the middle dimension of an array of `size[0] x size[1] x size[2]` elements in [order](Order). With
    /// places, the answer is, for each result, the place in its line that it comes from, counted from 0.
    ///
    /// # Errors
    /// Beside those above, [`Error::OutOfMemory`] for places in lines of 2^32 elements or more on a device.
    fn sort(
        &self,
        order: Order,
        from: &Array<T>,
        size: [usize; 3],
        to: &mut Array<T>,
        with_places: bool,
        watch: &Watch,
    ) -> Result<Option<Indices>, Error>;

    /// The median of each line along the middle dimension of an array of `size[0] x size[1] x size[2]` elements, none of
    /// them 0: of an even number of elements half the sum of the two in the middle. NaN where there is one, and a zero has no
    /// sign. `false` where the engine has no other way to it than a sort. Nothing is counted.
    fn medians(&self, _from: &Array<T>, _size: [usize; 3], _to: &mut Array<T>, _watch: &Watch) -> Result<bool, Error> {
        Ok(false)
    }

    /// The places of all elements that are no zeros, ascending; NaN is none. This waits until it is known how many
    /// there are. Nothing is counted.
    fn find(&self, from: &Array<T>, watch: &Watch) -> Result<Indices, Error>;

    /// `to[i] = indices[i] + 1`, rounded once: as the hosts count.
    fn ordinals(&self, indices: &Indices, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// Every element is `value`.
    fn fill(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// Every element is [random](super::functions::random).
    fn random(&self, draw: Draw, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// A list of places that this engine holds, for many calls; `None` where it takes one of the host's as well.
    fn list(&self, _places: &[u64], _watch: &Watch) -> Result<Option<Indices>, Error> {
        Ok(None)
    }

    /// `to[i] = from[places[i]]`.
    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// Each element from a place beside its own.
    fn shift(&self, what: &Shift, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        self.pick(from, &Places::List(what.places()), Target::Array(to), watch)
    }

    /// `to[places[i]] = from[i]`, all others as they were. Where a place comes twice, the last of them counts.
    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;

    /// Every element in this class, rounded once.
    fn convert(&self, from: &Array<T::Other>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error>;
}
