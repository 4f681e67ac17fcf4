//! A function of one element, recorded once and applied to all elements of arrays.
//!
//! # Rationale
//! The function of an element is a program of arrays of one element. For all elements it is the same program over
//! longer arrays: no result depends on another element, so all of it fits into one kernel. A reduction or a sort of one
//! element is an operation on it, or the element itself.
//!
//! # Limits
//! Filters, and results of another length, are not supported.

use std::sync::Arc;

use super::recording::{Recording, Taped};
use crate::stencil::program::{Node, Value};
use crate::stencil::{
    Binary, Error, Expansion, Numbers, Operation, Places, RANK, Reduction, Section, Term, Unary, Wanted,
};

/// An argument of the function: an array of another recording, with its elements in the result's order if it expands.
pub type Elements = (Numbers, Option<Section>);

/// A result of the function in that other recording.
#[derive(Debug, Clone, Copy)]
struct Mapped {
    value: Value,
    /// True if it has a number for each element, false if one for all.
    each: bool,
}

/// Appends operations to the recording `to`, for `len` elements.
struct Mapping<'a> {
    to: &'a Recording,
    len: usize,
    mapped: Vec<Option<Mapped>>,
}

impl Taped {
    /// Applies the function to `len` elements in another recording, and returns the results there.
    ///
    /// # Errors
    /// [`Error::Trace`] for an operation that is not elementwise.
    pub fn map(
        &self,
        to: &Recording,
        arguments: &[Elements],
        results: &[Value],
        len: usize,
    ) -> Result<Vec<Numbers>, Error> {
        let nodes = self.program.nodes();
        let needed = self.program.needed(results);
        let mut mapping = Mapping { to, len, mapped: vec![None; nodes.len()] };
        let mut arguments = arguments.iter();
        for (at, node) in nodes.iter().enumerate() {
            mapping.mapped[at] = match &node.operation {
                Operation::Input(input) => match &self.known[*input] {
                    Some(numbers) => Some(Mapped { value: to.value(&to.of_known(numbers.clone()))?, each: false }),
                    None if self.drawn.is_some_and(|drawn| drawn.input == *input) => None,
                    None => arguments.next().map(|argument| mapping.argument(argument)).transpose()?,
                },
                // Each draw counts, even if its numbers are not needed.
                Operation::Random(distribution, _, seed) => {
                    let operation = Operation::Random(*distribution, Term::Value(to.draw()), *seed);
                    if needed[at] && node.len != 1 {
                        return Err(not_one(to, node.len));
                    }
                    Some(mapping.each(operation, node.single))
                }
                _ if needed[at] => mapping.node(node)?,
                _ => None,
            };
        }
        results.iter().map(|result| mapping.result(*result)).collect()
    }
}

/// Error of a result that is not one element.
fn not_one(to: &Recording, len: usize) -> Error {
    to.refused(format!(
        "{len} elements are computed of each one, and one is expected: an array whose elements go along is one more \
         argument of arrayfun."
    ))
}

/// Error of a filter.
const NO_NEIGHBOURS: &str = "One element has no neighbours: a filter or a shift is for the whole array.";

fn missing() -> Error {
    Error::Internal("A result of an element that is not there.".into())
}

impl Mapping<'_> {
    fn append(&self, operation: Operation<Value>, single: bool, len: usize) -> Value {
        self.to.tape().program.append(Node { operation, single, len })
    }

    /// Appends an operation with one number for each element.
    fn each(&self, operation: Operation<Value>, single: bool) -> Mapped {
        Mapped { value: self.append(operation, single, self.len), each: true }
    }

    fn argument(&self, (numbers, section): &Elements) -> Result<Mapped, Error> {
        let value = self.to.value(numbers)?;
        Ok(match section {
            // One element for all is computed only once.
            Some(_) if numbers.len() == 1 => Mapped { value, each: false },
            Some(section) => {
                self.each(Operation::Pick(Arc::new(Places::Section(*section)), value), numbers.is_single())
            }
            None => Mapped { value, each: true },
        })
    }

    /// Expands a value to the length of the result.
    fn full(&self, of: Mapped, single: bool) -> Value {
        if of.each || self.len == 1 {
            return of.value;
        }
        let mut section = Section { start: 0, size: [1; RANK], steps: [0; RANK] };
        section.size[0] = self.len;
        self.append(Operation::Pick(Arc::new(Places::Section(section)), of.value), single, self.len)
    }

    fn result(&self, result: Value) -> Result<Numbers, Error> {
        let mapped = self.mapped[result.0].ok_or_else(missing)?;
        let single = self.to.tape().program.node(mapped.value).single;
        let value = self.full(mapped, single);
        Ok(if single { self.to.of_value::<f32>(value, self.len) } else { self.to.of_value::<f64>(value, self.len) })
    }

    /// `None` for the number of a draw: each recording has its own.
    fn node(&self, node: &Node) -> Result<Option<Mapped>, Error> {
        let operands: Option<Vec<Mapped>> = node.operation.values().map(|value| self.mapped[value.0]).collect();
        let Some(operands) = operands else { return Ok(None) };
        if !operands.iter().any(|operand| operand.each) {
            let mut values = operands.iter().map(|operand| operand.value);
            let operation = node.operation.map(|_| values.next().ok_or_else(missing), Arc::clone)?;
            return Ok(Some(Mapped { value: self.append(operation, node.single, node.len), each: false }));
        }
        if node.len != 1 {
            return Err(not_one(self.to, node.len));
        }
        let single = node.single;
        let first = operands[0];
        Ok(Some(match &node.operation {
            Operation::Each(op, _) => self.each(Operation::Each(*op, first.value), single),
            Operation::Convert(_) => self.each(Operation::Convert(first.value), single),
            Operation::Pair(op, terms, _) => self.pair(*op, terms.map(|term| self.term(term)), single),
            // The element at the only place.
            Operation::Pick(..)
            | Operation::Scan(..)
            | Operation::Sort(.., Wanted::Elements)
            | Operation::Extreme(.., Wanted::Elements) => first,
            Operation::Put(places, _) => operands[usize::from(places.is_empty())],
            Operation::Sort(.., Wanted::Places) | Operation::Extreme(.., Wanted::Places) => {
                self.each(Operation::Fill(1.0), single)
            }
            Operation::Reduce(op, ..) => self.reduced(*op, &operands, single),
            Operation::MultiplyAdd(..)
            | Operation::Filter(..)
            | Operation::Input(_)
            | Operation::Fill(_)
            | Operation::Random(..) => return Err(self.to.refused(NO_NEIGHBOURS.into())),
        }))
    }

    fn term(&self, term: Term<Value>) -> (Term<Value>, usize) {
        let mapped = term.value().and_then(|value| self.mapped[value.0]);
        match mapped {
            Some(Mapped { value, each }) => (Term::Value(value), if each { self.len } else { 1 }),
            None => (term, 1),
        }
    }

    fn pair(&self, op: Binary, [a, b]: [(Term<Value>, usize); 2], single: bool) -> Mapped {
        let expansion = Expansion::new([&[a.1], &[b.1]]).expect("one of two lengths is 1, or they are the same");
        self.each(Operation::Pair(op, [a.0, b.0], expansion), single)
    }

    /// Applies [`Reduction::take`] to one element, after [`Reduction::start`].
    fn reduced(&self, op: Reduction, operands: &[Mapped], single: bool) -> Mapped {
        let of = |mapped: Mapped| (Term::Value(mapped.value), if mapped.each { self.len } else { 1 });
        let zero = (Term::Number(0.0), 1);
        let magnitude = |mapped: Mapped| self.each(Operation::Each(Unary::Abs, mapped.value), single);
        let first = operands[0];
        match op {
            Reduction::Sum => self.pair(Binary::Add, [of(first), zero], single),
            Reduction::Product | Reduction::Min | Reduction::Max => first,
            Reduction::SumOfMagnitudes | Reduction::LargestMagnitude => magnitude(first),
            Reduction::Any => self.pair(Binary::Greater, [of(magnitude(first)), zero], single),
            Reduction::All => self.pair(Binary::NotEqual, [of(first), zero], single),
            Reduction::Differ => self.pair(Binary::NotEqual, [of(first), of(operands[1])], single),
            // From +0: -0 becomes 0.
            Reduction::Dot => {
                let product = self.pair(Binary::Multiply, [of(first), of(operands[1])], single);
                self.pair(Binary::Add, [of(product), zero], single)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;
    use crate::platform::watch::Watch;
    use crate::stencil::functions::{Distribution, Draw};
    use crate::stencil::{Array, Arrays, Compute, Engine, Scan, Source, Target};
    use crate::steps::{Recorder, Shape, Step};

    const SAMPLES: [f64; 8] = [1.5, -2.0, 0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-310];

    fn held(samples: &[f64]) -> Array<f64> {
        let mut array: Array<f64> = Cpu::new().array(samples.len()).unwrap();
        Cpu::new().copy(Source::Host(samples), Target::Array(&mut array), &Watch::new()).unwrap();
        array
    }

    fn values_of(array: &Array<f64>) -> Vec<f64> {
        let mut samples = vec![0.0; array.len()];
        Arrays::<f64>::copy(&Cpu::new(), Source::Array(array), Target::Host(&mut samples), &Watch::new()).unwrap();
        samples
    }

    type Function<'f> = dyn Fn(&Recorder, &[Array<f64>]) -> Result<Array<f64>, Error> + 'f;

    /// Applies the function of elements to all of these arrays; also returns the number of stages.
    fn apply(
        function: &Function,
        arrays: &[(Vec<f64>, Option<Section>)],
        len: usize,
    ) -> Result<(Vec<f64>, usize), Error> {
        let recording = Recording::of_elements();
        let arguments: Vec<_> = arrays
            .iter()
            .map(|_| match recording.argument(false, 1) {
                Numbers::Double(array) => Arc::into_inner(array).unwrap(),
                Numbers::Single(_) => unreachable!(),
            })
            .collect();
        let recorder = Recorder::new(recording.clone(), Box::new(Cpu::new()));
        let result = recording.value(&function(&recorder, &arguments)?.into())?;
        let whole = Recording::new();
        let elements: Vec<Elements> =
            arrays.iter().map(|(samples, section)| (whole.argument(false, samples.len()), *section)).collect();
        let mapped = recording.finish()?.map(&whole, &elements, &[result], len)?;
        let value = whole.value(&mapped[0])?;
        let taped = whole.finish()?;
        let mut held: Vec<Numbers> = arrays.iter().map(|(samples, _)| held(samples).into()).collect();
        if taped.drawn.is_some() {
            held.push(self::held(&[3.0]).into());
        }
        let shape = Shape { states: 1, records: 0, until: false };
        let mut step = Step::new(&Cpu::new(), Taped { drawn: None, ..taped }, vec![value], shape)?;
        match &step.once(&Cpu::new(), held, &Watch::new())?[0] {
            Numbers::Double(array) => Ok((values_of(array), step.stages())),
            Numbers::Single(_) => Err(missing()),
        }
    }

    fn bits(samples: &[f64]) -> Vec<u64> {
        samples.iter().map(|sample| if sample.is_nan() { u64::MAX } else { sample.to_bits() }).collect()
    }

    #[test]
    fn reductions_and_running_sums_of_an_element_are_those_of_lines_of_one() {
        let len = SAMPLES.len();
        let others = [2.0, 0.5, -1.0, 3.0, 1.0, 2.0, -2.0, 4.0];
        let ops = [
            Reduction::Sum,
            Reduction::Dot,
            Reduction::SumOfMagnitudes,
            Reduction::Product,
            Reduction::Min,
            Reduction::Max,
            Reduction::LargestMagnitude,
            Reduction::Any,
            Reduction::All,
            Reduction::Differ,
        ];
        for op in ops {
            let reduce = |engine: &dyn Engine, arrays: &[Array<f64>], size, to: &mut Array<f64>| {
                let second = op.of_two().then_some(&arrays[1]);
                engine.reduce(op, &arrays[0], second, size, Target::Array(to), &Watch::new())
            };
            let function = move |recorder: &Recorder, arrays: &[Array<f64>]| {
                let mut to = recorder.array(1)?;
                reduce(recorder, arrays, [1, 1, 1], &mut to).map(|()| to)
            };
            let (got, stages) = apply(&function, &[(SAMPLES.into(), None), (others.into(), None)], len).unwrap();
            let mut expected = held(&SAMPLES);
            reduce(&Cpu::new(), &[held(&SAMPLES), held(&others)], [len, 1, 1], &mut expected).unwrap();
            assert_eq!(bits(&got), bits(&values_of(&expected)), "{op:?}");
            assert!(stages <= 1, "{op:?}");
        }
        for op in [Scan::Sum, Scan::Product] {
            let scan = move |recorder: &Recorder, arrays: &[Array<f64>]| {
                let mut to = recorder.array(1)?;
                recorder.scan(op, &arrays[0], [1, 1, 1], &mut to, &Watch::new()).map(|()| to)
            };
            let (got, _) = apply(&scan, &[(SAMPLES.into(), None)], len).unwrap();
            assert_eq!(bits(&got), bits(&SAMPLES), "{op:?}");
        }
    }

    #[test]
    fn arrays_expand_and_random_numbers_are_those_of_the_whole() {
        let draw = Draw { distribution: Distribution::Uniform, number: 0, seed: 7 };
        let function = move |recorder: &Recorder, arrays: &[Array<f64>]| {
            let [mut random, mut sum] = [Arrays::<f64>::array(recorder, 1)?, Arrays::<f64>::array(recorder, 1)?];
            recorder.random(draw, &mut random, &Watch::new())?;
            let one = Expansion::new([&[1], &[1]]).unwrap();
            let operands = [&random, &arrays[0]].map(crate::stencil::Operand::Array);
            recorder.binary(Binary::Add, operands, &one, &mut sum, &Watch::new()).map(|()| sum)
        };
        let expansion = Expansion::new([&[2, 3], &[1, 3]]).unwrap();
        let section =
            Section { start: 0, size: expansion.size(), steps: expansion.steps()[1].map(|step| step as isize) };
        let (got, stages) = apply(&function, &[(vec![10.0, 20.0, 30.0], Some(section))], 6).unwrap();
        let mut random = held(&[0.0; 6]);
        Cpu::new().random(Draw { number: 3, ..draw }, &mut random, &Watch::new()).unwrap();
        let expected: Vec<f64> =
            values_of(&random).iter().enumerate().map(|(i, x)| x + [10.0, 20.0, 30.0][i / 2]).collect();
        assert_eq!((got, stages), (expected, 1));
        // One element for all stays one.
        let section = Section { start: 0, size: [6, 1, 1, 1, 1], steps: [0; RANK] };
        let same = |recorder: &Recorder, arrays: &[Array<f64>]| {
            let mut to = recorder.array(1)?;
            recorder.copy(Source::Array(&arrays[0]), Target::Array(&mut to), &Watch::new()).map(|()| to)
        };
        let (got, _) = apply(&same, &[(vec![4.0], Some(section))], 6).unwrap();
        assert_eq!(got, [4.0; 6]);
    }

    #[test]
    fn functions_of_more_than_one_element_are_refused() {
        let function = |recorder: &Recorder, arrays: &[Array<f64>]| {
            let mut two = recorder.array(2)?;
            let places = Places::List(vec![0, 0]);
            recorder.pick(&arrays[0], &places, Target::Array(&mut two), &Watch::new()).map(|()| two)
        };
        let error = apply(&function, &[(vec![1.0, 2.0, 3.0], None)], 3).unwrap_err();
        assert!(error.to_string().contains("2 elements are computed of each one"), "{error}");
    }
}
