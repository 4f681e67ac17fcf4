//! A function of one element, recorded once and done with all elements of arrays.
//!
//! # Rationale
//! What the function does with an element is a program of arrays of one element. Done with all elements it is the
//! same program over longer arrays: no result depends on another element, so all of it fits into one kernel. A
//! reduction or a sort of one element is an operation on it, or the element itself.
//!
//! # Limits
//! Filters, and results of another length, have no such form.

use std::sync::Arc;

use super::recording::{Recording, Taped};
use crate::stencil::program::{Node, Numbers, Operation, Term, Value, Wanted};
use crate::stencil::{Binary, Error, Expansion, Places, RANK, Reduction, Section, Unary};

/// An array of another recording whose elements the function gets; where it expands, its elements in the result's order.
pub type Elements = (Numbers, Option<Section>);

/// A result of the function in that other recording.
#[derive(Debug, Clone, Copy)]
struct Mapped {
    value: Value,
    /// It has a number for each element, and not one for all.
    each: bool,
}

/// Operations that are appended to the recording `to`, for `len` elements.
struct Mapping<'a> {
    to: &'a Recording,
    len: usize,
    mapped: Vec<Option<Mapped>>,
}

impl Taped {
    /// Has another recording do what was recorded of one element with `len`: what these results become.
    ///
    /// # Errors
    /// [`Error::Trace`] for what is no operation on elements.
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
                // Each draw counts, also one that nobody needs.
                Operation::Random(distribution, _, seed) => {
                    let operation = Operation::Random(*distribution, to.draw(), *seed);
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

/// The error of what is not one element.
fn not_one(to: &Recording, len: usize) -> Error {
    to.refused(format!(
        "{len} elements are computed of each one, and one is expected: an array whose elements go along is one more \
         argument of arrayfun."
    ))
}

/// The error of a filter.
const NO_NEIGHBOURS: &str = "One element has no neighbours: a filter or a shift is for the whole array.";

fn missing() -> Error {
    Error::Internal("A result of an element that is not there.".into())
}

impl Mapping<'_> {
    fn append(&self, operation: Operation, single: bool, len: usize) -> Value {
        self.to.tape().program.append(Node { operation, single, len })
    }

    /// One number for each element.
    fn each(&self, operation: Operation, single: bool) -> Mapped {
        Mapped { value: self.append(operation, single, self.len), each: true }
    }

    fn argument(&self, (numbers, section): &Elements) -> Result<Mapped, Error> {
        let value = self.to.value(numbers)?;
        Ok(match section {
            // One element for all is computed on once.
            Some(_) if numbers.len() == 1 => Mapped { value, each: false },
            Some(section) => {
                self.each(Operation::Pick(Arc::new(Places::Section(*section)), value), numbers.is_single())
            }
            None => Mapped { value, each: true },
        })
    }

    /// As many elements as the result.
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
            let operation = node.operation.with(operands.iter().map(|operand| operand.value));
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
            // The element at the one place that there is.
            Operation::Pick(..)
            | Operation::Scan(..)
            | Operation::Sort(.., Wanted::Elements)
            | Operation::Extreme(.., Wanted::Elements) => first,
            Operation::Put(places, _) => operands[usize::from(places.is_empty())],
            Operation::Sort(.., Wanted::Places) | Operation::Extreme(.., Wanted::Places) => {
                self.each(Operation::Fill(1.0), single)
            }
            Operation::Reduce(op, ..) => self.reduced(*op, &operands, single),
            // Their weights are numbers, and no elements.
            Operation::MultiplyAdd(..)
            | Operation::Filter(..)
            | Operation::Input(_)
            | Operation::Fill(_)
            | Operation::Random(..) => return Err(self.to.refused(NO_NEIGHBOURS.into())),
        }))
    }

    fn term(&self, term: Term) -> (Term, usize) {
        let mapped = term.value().and_then(|value| self.mapped[value.0]);
        match mapped {
            Some(Mapped { value, each }) => (Term::Value(value), if each { self.len } else { 1 }),
            None => (term, 1),
        }
    }

    fn pair(&self, op: Binary, [a, b]: [(Term, usize); 2], single: bool) -> Mapped {
        let expansion = Expansion::new([&[a.1], &[b.1]]).expect("one of two lengths is 1, or they are the same");
        self.each(Operation::Pair(op, [a.0, b.0], expansion), single)
    }

    /// [`Reduction::take`] of one element, behind [`Reduction::start`].
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

