//! The recording engine: its arrays are results of a program.

use std::fmt;
use std::sync::Arc;

use super::Number;
use super::recording::{Content, Recorded, Recording, stranger};
use crate::platform::watch::Watch;
use crate::stencil::functions::Draw;
use crate::stencil::program::{Filtering, Node, Operation, Term, Value, Wanted};
use crate::stencil::{
    Arithmetic, Array, Binary, Compute, Convolution, Derivative, Engine, Error, Expansion, Extreme, Indices, Operand,
    Order, Places, Reduction, Scan, Shift, Source, Stencil, Target, Unary,
};

/// An engine that records its calls; operations without an argument of the step are computed by another engine at once.
pub struct Recorder {
    recording: Recording,
    engine: Box<dyn Engine>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("engine", &self.engine.name()).finish()
    }
}

impl Recorder {
    /// Makes an engine for this recording.
    pub fn new(recording: Recording, engine: Box<dyn Engine>) -> Recorder {
        Recorder { recording, engine }
    }

    fn known<'a, T: Number>(&self, array: &'a Array<T>) -> Result<Option<&'a Array<T>>, Error> {
        match self.recording.content(array)? {
            Content::Known(numbers) => Ok(T::of_numbers(numbers).map(|array| &**array)),
            Content::Value(_) | Content::Picked { .. } | Content::Nothing => Ok(None),
        }
    }

    fn term<T: Number>(&self, operand: &Operand<T>) -> Result<Term, Error> {
        match operand {
            Operand::Scalar(number) => Ok(Term::Number(number.to_f64())),
            Operand::Array(array) => self.recording.value_of(array).map(Term::Value),
        }
    }

    fn set<T: Number>(&self, to: &mut Array<T>, content: Content) -> Result<(), Error> {
        to.held_mut::<Recorded>().map_err(|_| stranger())?.content = content;
        Ok(())
    }

    /// Records an operation as the new content of `to`.
    fn record<T: Number>(&self, to: &mut Array<T>, operation: Operation) -> Result<(), Error> {
        let node = Node { operation, single: T::SINGLE, len: to.len() };
        let value = self.recording.tape().program.append(node);
        self.set(to, Content::Value(value))
    }

    /// Operand of an array in an elementwise operation, and the mask that picked its elements.
    fn element<T: Number>(&self, array: &Array<T>) -> Result<(Value, Option<Value>), Error> {
        match self.recording.content(array)? {
            Content::Picked { of, mask } => Ok((*of, Some(*mask))),
            _ => Ok((self.recording.value_of(array)?, None)),
        }
    }

    /// Records an operation on elements picked by this mask.
    fn record_by_mask<T: Number>(
        &self,
        to: &mut Array<T>,
        operation: Operation,
        mask: Option<Value>,
    ) -> Result<(), Error> {
        self.record(to, operation)?;
        let Some(mask) = mask else { return Ok(()) };
        let of = self.recording.value_of(to)?;
        self.set(to, Content::Picked { of, mask })
    }

    /// Does [`record_by_mask`](Self::record_by_mask) with one operand.
    fn record_each<T: Number, O: Number>(
        &self,
        from: &Array<O>,
        to: &mut Array<T>,
        operation: impl FnOnce(Value) -> Operation,
    ) -> Result<(), Error> {
        let (of, mask) = self.element(from)?;
        self.record_by_mask(to, operation(of), mask)
    }

    /// Computes the new content of `to` now.
    fn compute<T: Number>(
        &self,
        to: &mut Array<T>,
        run: impl FnOnce(&(dyn Engine + 'static), &mut Array<T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut array = T::compute(&*self.engine).array(to.len())?;
        run(&*self.engine, &mut array)?;
        self.set(to, Content::Known(T::numbers(Arc::new(array))))
    }

    /// Does [`compute`](Self::compute) for an operation that also returns places.
    fn compute_with_places<T: Number>(
        &self,
        to: &mut Array<T>,
        run: impl FnOnce(&(dyn Engine + 'static), &mut Array<T>) -> Result<Option<Indices>, Error>,
    ) -> Result<Option<Indices>, Error> {
        let mut places = None;
        self.compute(to, |engine, to| {
            places = run(engine, to)?;
            Ok(())
        })?;
        Ok(places)
    }

    /// Records an operation that finds `len` places, all smaller than `bound`.
    fn record_places(&self, operation: Operation, (len, bound): (usize, usize)) -> Indices {
        let value = self.recording.tape().program.append(Node { operation, single: false, len });
        Indices::new(self.recording.array(Content::Value(value), len), bound, false)
    }

    /// Computes the new content of `to` from its present one, now.
    fn change<T: Number>(
        &self,
        to: &mut Array<T>,
        watch: &Watch,
        run: impl FnOnce(&(dyn Engine + 'static), &mut Array<T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut array = T::compute(&*self.engine).array(to.len())?;
        if let Some(known) = self.known(to)? {
            T::compute(&*self.engine).copy(Source::Array(known), Target::Array(&mut array), watch)?;
        }
        run(&*self.engine, &mut array)?;
        self.set(to, Content::Known(T::numbers(Arc::new(array))))
    }

    fn filter<T: Number>(&self, what: &str, filter: Filtering, from: Source<T>, to: Target<T>) -> Result<(), Error> {
        match (from, to) {
            (Source::Array(from), Target::Array(to)) => {
                let of = self.recording.value_of(from)?;
                self.record(to, Operation::Filter(filter, of))
            }
            _ => Err(self.recording.asks_for_values(what)),
        }
    }
}

impl Engine for Recorder {
    fn name(&self) -> &str {
        "a recording"
    }

    fn stencil(&self, what: &Stencil, from: Source<f64>, to: Target<f64>, _: &Watch) -> Result<(), Error> {
        self.filter("A stencil of the host's array", Filtering::Stencil(*what), from, to)
    }
}

impl<T: Number> Compute<T> for Recorder {
    fn derivative(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, _: &Watch) -> Result<(), Error> {
        self.filter("A derivative of the host's array", T::derivative(what), from, to)
    }

    fn convolution(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, _: &Watch) -> Result<(), Error> {
        self.filter("A convolution of the host's array", T::convolution(what), from, to)
    }

    fn array(&self, len: usize) -> Result<Array<T>, Error> {
        Ok(self.recording.array(Content::Nothing, len))
    }

    fn has_room(&self, arrays: usize, len: usize) -> Result<bool, Error> {
        T::compute(&*self.engine).has_room(arrays, len)
    }

    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        match (from, to) {
            (Source::Array(from), Target::Array(to)) => {
                let content = match self.recording.content(from)? {
                    Content::Nothing => Content::Nothing,
                    Content::Value(value) => Content::Value(*value),
                    Content::Known(numbers) => Content::Known(numbers.clone()),
                    Content::Picked { of, mask } => Content::Picked { of: *of, mask: *mask },
                };
                self.set(to, content)
            }
            (Source::Host(from), Target::Array(to)) => {
                self.compute(to, |engine, to| T::compute(engine).copy(Source::Host(from), Target::Array(to), watch))
            }
            (Source::Array(from), Target::Host(to)) => match self.known(from)? {
                Some(from) => T::compute(&*self.engine).copy(Source::Array(from), Target::Host(to), watch),
                None => Err(self.recording.asks_for_values("gather")),
            },
            (Source::Host(from), Target::Host(to)) => {
                to.copy_from_slice(from);
                Ok(())
            }
        }
    }
}

impl<T: Number> Arithmetic<T> for Recorder
where
    T::Other: Number,
{
    fn unary(&self, op: Unary, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        match self.known(from)? {
            Some(from) => self.compute(to, |engine, to| T::arithmetic(engine).unary(op, from, to, watch)),
            None => self.record_each(from, to, |of| Operation::Each(op, of)),
        }
    }

    fn binary(
        &self,
        op: Binary,
        operands: [Operand<T>; 2],
        expansion: &Expansion,
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let mut known = [None; 2];
        for (known, operand) in known.iter_mut().zip(&operands) {
            *known = match operand {
                Operand::Scalar(number) => Some(Operand::Scalar(*number)),
                Operand::Array(array) => self.known(array)?.map(Operand::Array),
            };
        }
        if let [Some(a), Some(b)] = known {
            return self.compute(to, |engine, to| T::arithmetic(engine).binary(op, [a, b], expansion, to, watch));
        }
        let (mut terms, mut masks) = ([Term::Number(0.0); 2], [None; 2]);
        for (which, operand) in operands.iter().enumerate() {
            (terms[which], masks[which]) = match operand {
                Operand::Scalar(number) => (Term::Number(number.to_f64()), None),
                Operand::Array(array) => {
                    let (value, mask) = self.element(*array)?;
                    (Term::Value(value), mask)
                }
            };
        }
        // Elements picked by a mask combine with others picked by the same mask, and with one number.
        let mask = masks[0].or(masks[1]);
        let is_one = |operand: &Operand<T>| !matches!(operand, Operand::Array(array) if array.len() != 1);
        if !operands.iter().zip(masks).all(|(operand, own)| own == mask || own.is_none() && is_one(operand)) {
            return Err(self.recording.asks_how_many());
        }
        self.record_by_mask(to, Operation::Pair(op, terms, *expansion), mask)
    }

    fn advance(
        &self,
        step: &Array<T>,
        weight: T,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        self.advance_by(step, Operand::Scalar(weight), source, older, watch)
    }

    /// Here a source may have one element, too.
    fn advance_by(
        &self,
        step: &Array<T>,
        weight: Operand<T>,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        _: &Watch,
    ) -> Result<(), Error> {
        let [step, before] = [self.recording.value_of(step)?, self.recording.value_of(older)?];
        self.record(older, Operation::MultiplyAdd(self.term(&weight)?, before, step))?;
        let Some(source) = source else { return Ok(()) };
        let len = if let Operand::Array(array) = source { array.len() } else { 1 };
        let expansion = Expansion::new([&[older.len()], &[len]])
            .ok_or_else(|| Error::Internal("A source of another length.".into()))?;
        let sum = [Term::Value(self.recording.value_of(older)?), self.term(&source)?];
        self.record(older, Operation::Pair(Binary::Add, sum, expansion))
    }

    fn reduce(
        &self,
        op: Reduction,
        first: &Array<T>,
        second: Option<&Array<T>>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let others = second.map(|second| self.known(second)).transpose()?;
        match (self.known(first)?, others, to) {
            (Some(first), None, to) => self.reduce_known(op, [first, first], false, size, to, watch),
            (Some(first), Some(Some(second)), to) => self.reduce_known(op, [first, second], true, size, to, watch),
            (_, _, Target::Host(_)) => Err(self.recording.asks_for_values("A reduction")),
            (_, _, Target::Array(to)) => {
                let first = self.recording.value_of(first)?;
                let second = second.map(|second| self.recording.value_of(second)).transpose()?;
                self.record(to, Operation::Reduce(op, first, second, size))
            }
        }
    }

    fn extremes(
        &self,
        which: Extreme,
        from: &Array<T>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<Indices, Error> {
        match (self.known(from)?, to) {
            (Some(from), Target::Host(to)) => {
                T::arithmetic(&*self.engine).extremes(which, from, size, Target::Host(to), watch)
            }
            (Some(from), Target::Array(to)) => {
                let places = self.compute_with_places(to, |engine, to| {
                    T::arithmetic(engine).extremes(which, from, size, Target::Array(to), watch).map(Some)
                })?;
                places.ok_or_else(|| Error::Internal("An extreme without its places.".into()))
            }
            (None, Target::Array(to)) => {
                let of = self.recording.value_of(from)?;
                self.record(to, Operation::Extreme(which, of, size, Wanted::Elements))?;
                Ok(self.record_places(Operation::Extreme(which, of, size, Wanted::Places), (to.len(), size[1])))
            }
            (None, Target::Host(_)) => Err(self.recording.asks_for_values("max or min with places")),
        }
    }

    fn scan(&self, op: Scan, from: &Array<T>, size: [usize; 3], to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        match self.known(from)? {
            Some(from) => self.compute(to, |engine, to| T::arithmetic(engine).scan(op, from, size, to, watch)),
            None => self.record(to, Operation::Scan(op, self.recording.value_of(from)?, size)),
        }
    }

    fn sort(
        &self,
        order: Order,
        from: &Array<T>,
        size: [usize; 3],
        to: &mut Array<T>,
        with_places: bool,
        watch: &Watch,
    ) -> Result<Option<Indices>, Error> {
        match self.known(from)? {
            Some(from) => self.compute_with_places(to, |engine, to| {
                T::arithmetic(engine).sort(order, from, size, to, with_places, watch)
            }),
            None => {
                let of = self.recording.value_of(from)?;
                self.record(to, Operation::Sort(order, of, size, Wanted::Elements))?;
                let places = Operation::Sort(order, of, size, Wanted::Places);
                Ok(with_places.then(|| self.record_places(places, (to.len(), size[1]))))
            }
        }
    }

    fn find(&self, from: &Array<T>, watch: &Watch) -> Result<Indices, Error> {
        match self.known(from)? {
            Some(from) => T::arithmetic(&*self.engine).find(from, watch),
            None => Err(self.recording.asks_for_values("find, or an index that is a mask,")),
        }
    }

    fn ordinals(&self, indices: &Indices, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let recorded = match self.recording.content(indices.held()) {
            Ok(Content::Value(value)) => Some(*value),
            _ => None,
        };
        match to {
            Target::Array(to) if recorded.is_some() => {
                let places = recorded.map(|value| if T::SINGLE { self.recording.converted(value) } else { value });
                self.set(to, places.map_or(Content::Nothing, Content::Value))
            }
            Target::Host(to) => T::arithmetic(&*self.engine).ordinals(indices, Target::Host(to), watch),
            Target::Array(to) => {
                self.compute(to, |engine, to| T::arithmetic(engine).ordinals(indices, Target::Array(to), watch))
            }
        }
    }

    fn fill(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        self.compute(to, |engine, to| T::arithmetic(engine).fill(value, to, watch))
    }

    /// The draw's number is that of the step.
    fn random(&self, draw: Draw, to: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        let number = self.recording.draw();
        self.record(to, Operation::Random(draw.distribution, number, f64::from(draw.seed)))
    }

    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        match (self.known(from)?, to) {
            (Some(from), Target::Host(to)) => T::arithmetic(&*self.engine).pick(from, places, Target::Host(to), watch),
            (Some(from), Target::Array(to)) => {
                self.compute(to, |engine, to| T::arithmetic(engine).pick(from, places, Target::Array(to), watch))
            }
            (None, Target::Host(_)) => Err(self.recording.asks_for_values("An element by its index")),
            (None, Target::Array(to)) => {
                let of = self.recording.value_of(from)?;
                self.record(to, Operation::Pick(Arc::new(places.clone()), of))
            }
        }
    }

    fn shift(&self, what: &Shift, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        match self.known(from)? {
            Some(from) => self.compute(to, |engine, to| T::arithmetic(engine).shift(what, from, to, watch)),
            None => self.record(to, Operation::Filter(Filtering::Shift(*what), self.recording.value_of(from)?)),
        }
    }

    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let known = match from {
            Source::Host(samples) => Some(Source::Host(samples)),
            Source::Array(array) => self.known(array)?.map(Source::Array),
        };
        let is_value = matches!(self.recording.content(to)?, Content::Value(_));
        if let (Some(from), false) = (known, is_value) {
            return self.change(to, watch, |engine, to| T::arithmetic(engine).put(from, places, to, watch));
        }
        let own;
        let from = match from {
            Source::Array(array) => array,
            Source::Host(samples) => {
                let mut array = Compute::<T>::array(self, samples.len())?;
                match samples {
                    [number] => Arithmetic::fill(self, *number, &mut array, watch)?,
                    _ => Compute::copy(self, Source::Host(samples), Target::Array(&mut array), watch)?,
                }
                own = array;
                &own
            }
        };
        let from = self.recording.value_of(from)?;
        if matches!(self.recording.content(to)?, Content::Nothing) {
            // All of it is written before it is read.
            self.record(to, Operation::Fill(0.0))?;
        }
        let into = self.recording.value_of(to)?;
        self.record(to, Operation::Put(Arc::new(places.clone()), [from, into]))
    }

    fn convert(&self, from: &Array<T::Other>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        match self.known(from)? {
            Some(from) => self.compute(to, |engine, to| T::arithmetic(engine).convert(from, to, watch)),
            None => self.record_each(from, to, Operation::Convert),
        }
    }
}

impl Recorder {
    fn reduce_known<T: Number>(
        &self,
        op: Reduction,
        [first, second]: [&Array<T>; 2],
        of_two: bool,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let second = of_two.then_some(second);
        match to {
            Target::Host(to) => T::arithmetic(&*self.engine).reduce(op, first, second, size, Target::Host(to), watch),
            Target::Array(to) => self.compute(to, |engine, to| {
                T::arithmetic(engine).reduce(op, first, second, size, Target::Array(to), watch)
            }),
        }
    }
}
