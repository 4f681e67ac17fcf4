//! Operations of an engine by their names.

use super::functions::Draw;
use super::{
    AnySource, AnyTarget, Array, Binary, Convolution, Derivative, Engine, Error, Expansion, Extreme, Filtering, Given,
    Indices, Number, Operand, Operation, Order, Places, Reduction, Scan, Shift, Source, Stencil, Target, Term, Unary,
    Wanted,
};
use crate::platform::watch::Watch;

/// Operations of an engine by their names: each is an [`Operation`] that [`Engine::compute`] computes, and has its errors.
///
/// # Panics
/// If lengths do not match the other arguments, and for places outside an array.
pub trait Compute: Engine {
    /// Does sweeps of a stencil along lines.
    fn stencil(&self, what: &Stencil, from: Source<f64>, to: Target<f64>, watch: &Watch) -> Result<(), Error> {
        run(self, &Operation::Filter(Filtering::Stencil(*what), from.into()), to, watch)
    }

    /// Computes a nine-point derivative along lines.
    fn derivative<T: Number>(
        &self,
        what: &Derivative<T>,
        from: Source<T>,
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        run(self, &Operation::Filter(T::derivative(what), from.into()), to, watch)
    }

    /// Does sweeps of a convolution over an image or a volume.
    fn convolution<T: Number>(
        &self,
        what: &Convolution<T>,
        from: Source<T>,
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        run(self, &Operation::Filter(T::convolution(what), from.into()), to, watch)
    }

    /// `to[i] = op from[i]`.
    fn unary<T: Number>(&self, op: Unary, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        run(self, &Operation::Each(op, from.into()), to, watch)
    }

    /// `to[i] = a[i] op b[i]`, with the operands expanded.
    fn binary<T: Number>(
        &self,
        op: Binary,
        operands: [Operand<T>; 2],
        expansion: &Expansion,
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        run(self, &Operation::Pair(op, operands.map(Term::from), *expansion), to, watch)
    }

    /// Takes a step of two time levels, in place of the older one: `older[i] = fma(weight, older[i], step[i])`, and,
    /// with a source, `+ source[i]`, rounded once more. A weight that is an array has one element; a source has that, or
    /// the length of `older`.
    fn advance<T: Number>(
        &self,
        step: &Array<T>,
        weight: Operand<T>,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let what = Operation::MultiplyAdd(weight.into(), AnySource::Target, step.into(), source.map(Term::from));
        run(self, &what, older, watch)
    }

    /// Reduces the lines of an array, or of two for a reduction [of two](Reduction::of_two).
    fn reduce<T: Number>(
        &self,
        op: Reduction,
        first: &Array<T>,
        second: Option<&Array<T>>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        run(self, &Operation::Reduce(op, first.into(), second.map(AnySource::from), size), to, watch)
    }

    /// Finds the smallest or the largest element of each line, and its place there, counted from 0.
    fn extremes<T: Number>(
        &self,
        which: Extreme,
        from: &Array<T>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<Indices, Error> {
        self.compute(&Operation::Extreme(which, from.into(), size, Wanted::Places), to.into(), watch)?
            .ok_or_else(missing)
    }

    /// Scans lines: each result includes its element and all before it.
    fn scan<T: Number>(
        &self,
        op: Scan,
        from: &Array<T>,
        size: [usize; 3],
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        run(self, &Operation::Scan(op, from.into(), size), to, watch)
    }

    /// Sorts lines. With places, returns for each result the place in its line that it comes from, counted from 0.
    ///
    /// # Errors
    /// Also [`Error::OutOfMemory`] for places in lines of 2^32 elements or more on a device.
    fn sort<T: Number>(
        &self,
        order: Order,
        from: &Array<T>,
        size: [usize; 3],
        to: &mut Array<T>,
        with_places: bool,
        watch: &Watch,
    ) -> Result<Option<Indices>, Error> {
        let wanted = if with_places { Wanted::Places } else { Wanted::Elements };
        self.compute(&Operation::Sort(order, from.into(), size, wanted), to.into(), watch)
    }

    /// Fills the array with `value`.
    fn fill<T: Number>(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        run(self, &Operation::Fill(value.to_f64()), to, watch)
    }

    /// Fills the array with [random](super::functions::random) numbers.
    fn random<T: Number>(&self, draw: Draw, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let (number, seed) = (Term::Number(draw.number as f64), f64::from(draw.seed));
        run(self, &Operation::Random(draw.distribution, number, seed), to, watch)
    }

    /// `to[i] = from[places[i]]`.
    fn pick<T: Number>(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        run(self, &Operation::Pick(places, from.into()), to, watch)
    }

    /// Copies each element from a place at a fixed offset.
    fn shift<T: Number>(&self, what: &Shift, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        run(self, &Operation::Filter(Filtering::Shift(*what), from.into()), to, watch)
    }

    /// `to[places[i]] = from[i]`, all others unchanged. If a place is repeated, the last element counts.
    fn put<T: Number>(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        run(self, &Operation::Put(places, [from.into(), AnySource::Target]), to, watch)
    }

    /// Converts every element to this class, rounded once.
    fn convert<T: Number>(&self, from: &Array<T::Other>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        run(self, &Operation::Convert(from.into()), to, watch)
    }
}

impl<E: Engine + ?Sized> Compute for E {}

fn run<'a>(
    engine: &(impl Engine + ?Sized),
    what: &Given,
    to: impl Into<AnyTarget<'a>>,
    watch: &Watch,
) -> Result<(), Error> {
    engine.compute(what, to.into(), watch).map(drop)
}

fn missing() -> Error {
    Error::Internal("An operation without its places.".into())
}

impl<'a> Term<AnySource<'a>> {
    /// Returns the operand.
    ///
    /// # Errors
    /// Those of [`AnySource::array`].
    pub fn operand<T: Number>(self) -> Result<Operand<'a, T>, Error> {
        Ok(match self {
            Term::Value(input) => Operand::Array(input.array()?),
            Term::Number(number) => Operand::Scalar(T::from_f64(number)),
        })
    }
}

impl<'a, T: Number> From<Operand<'a, T>> for Term<AnySource<'a>> {
    fn from(operand: Operand<'a, T>) -> Term<AnySource<'a>> {
        match operand {
            Operand::Array(array) => Term::Value(array.into()),
            Operand::Scalar(number) => Term::Number(number.to_f64()),
        }
    }
}
