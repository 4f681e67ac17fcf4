//! Programs under construction: the operations of a step so far, and the content of its arrays.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::stencil::program::{Node, Program, Value};
use crate::stencil::{Array, Binary, Error, Expansion, Held, Number, Numbers, Operation, Term};

/// A program under construction.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) program: Program,
    /// External arrays that it uses, in the order of its inputs; `None` for the arguments of a step.
    known: Vec<Option<Numbers>>,
    /// Input of each external array, by its address.
    addresses: Vec<(usize, Value)>,
    /// Argument with the number of the first draw, and the number of draws so far.
    draws: Option<(Value, usize)>,
    /// The first refusal, even if the step caught the error.
    refused: Option<String>,
    /// True if its arguments are elements of arrays.
    of_elements: bool,
}

/// Random numbers of a step: its program has one more argument, the number of its first draw.
#[derive(Debug, Clone, Copy)]
pub struct Drawn {
    /// Input with the number.
    pub(super) input: usize,
    /// The number of the first draw of the next step.
    pub(super) next: Value,
    /// Number of draws in a step.
    pub count: usize,
}

/// A recorded step.
#[derive(Debug)]
pub struct Taped {
    /// The program.
    pub program: Arc<Program>,
    /// External arrays, in the order of the program's inputs: `None` for the arguments.
    pub known: Vec<Option<Numbers>>,
    /// Random numbers, if it has any.
    pub drawn: Option<Drawn>,
}

impl Tape {
    /// Adds `count` to a number.
    fn behind(&mut self, number: Value, count: usize) -> Value {
        let expansion = Expansion::new([&[1], &[1]]).expect("two numbers expand");
        let sum = Operation::Pair(Binary::Add, [Term::Value(number), Term::Number(count as f64)], expansion);
        self.program.append(Node { operation: sum, single: false, len: 1 })
    }
}

/// A program under construction, shared by arrays and recorders.
#[derive(Debug, Clone, Default)]
pub struct Recording(Arc<Mutex<Tape>>);

/// Content of a recorder's array.
#[derive(Debug)]
pub(super) enum Content {
    /// Not written to yet.
    Nothing,
    /// A result of the program.
    Value(Value),
    /// Numbers that are known during the recording: they depend on no argument of the step.
    Known(Numbers),
    /// Elements of a result, picked by a mask. Their number depends on values: so all elements are kept.
    Picked { of: Value, mask: Value },
}

/// An array of a recorder.
#[derive(Debug)]
pub(super) struct Recorded {
    recording: Recording,
    pub(super) content: Content,
}

impl Held for Recorded {
    fn place(&self) -> String {
        "a step that is being recorded".into()
    }
}

impl Recording {
    /// Begins an empty program.
    pub fn new() -> Recording {
        Recording::default()
    }

    /// Begins the program of a function of one element.
    pub fn of_elements() -> Recording {
        Recording(Arc::new(Mutex::new(Tape { of_elements: true, ..Tape::default() })))
    }

    pub(super) fn tape(&self) -> MutexGuard<'_, Tape> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an argument of the step.
    pub fn argument(&self, single: bool, len: usize) -> Numbers {
        let mut tape = self.tape();
        let value = tape.program.input(single, len);
        tape.known.push(None);
        drop(tape);
        if single { self.of_value::<f32>(value, len) } else { self.of_value::<f64>(value, len) }
    }

    pub(super) fn of_value<T: Number>(&self, value: Value, len: usize) -> Numbers {
        T::numbers(Arc::new(self.array(Content::Value(value), len)))
    }

    pub(super) fn array<T>(&self, content: Content, len: usize) -> Array<T> {
        Array::new(Recorded { recording: self.clone(), content }, len)
    }

    /// Wraps known numbers as an array of the recorder.
    pub fn of_known(&self, numbers: Numbers) -> Numbers {
        let len = numbers.len();
        match numbers.is_single() {
            true => f32::numbers(Arc::new(self.array(Content::Known(numbers), len))),
            false => f64::numbers(Arc::new(self.array(Content::Known(numbers), len))),
        }
    }

    /// Returns the result of the program in an array; a known array becomes an input.
    ///
    /// # Errors
    /// [`Error::Trace`] for an array of another recording.
    pub fn value(&self, numbers: &Numbers) -> Result<Value, Error> {
        match numbers {
            Numbers::Double(array) => self.value_of(array),
            Numbers::Single(array) => self.value_of(array),
        }
    }

    /// Converts a result to the other class of numbers.
    pub fn converted(&self, value: Value) -> Value {
        let mut tape = self.tape();
        let Node { single, len, .. } = *tape.program.node(value);
        tape.program.append(Node { operation: Operation::Convert(value), single: !single, len })
    }

    pub(super) fn value_of<T: Number>(&self, array: &Array<T>) -> Result<Value, Error> {
        match self.content(array)? {
            Content::Value(value) => Ok(*value),
            Content::Known(numbers) => Ok(self.input_of(numbers)),
            Content::Picked { .. } => Err(self.refused(PICKED.into())),
            // An array without elements is complete without being written to.
            Content::Nothing if array.is_empty() => Ok(self.of_nothing::<T>()),
            Content::Nothing => Err(Error::Internal("An array that is recorded before it is written.".into())),
        }
    }

    /// Returns true for numbers that have values during the recording.
    pub fn knows(&self, numbers: &Numbers) -> bool {
        matches!(self.content_of(numbers), Ok(Content::Known(_)))
    }

    /// Returns true for elements picked by a mask: their number is unknown.
    pub fn is_picked(&self, numbers: &Numbers) -> bool {
        matches!(self.content_of(numbers), Ok(Content::Picked { .. }))
    }

    /// Picks elements by a mask of the same length.
    ///
    /// # Errors
    /// [`Error::Trace`].
    pub fn picked(&self, numbers: &Numbers, mask: &Numbers) -> Result<Numbers, Error> {
        let content = Content::Picked { of: self.value(numbers)?, mask: self.value(mask)? };
        Ok(match numbers {
            Numbers::Double(_) => f64::numbers(Arc::new(self.array(content, numbers.len()))),
            Numbers::Single(_) => f32::numbers(Arc::new(self.array(content, numbers.len()))),
        })
    }

    /// Returns the whole array from which a mask [picked](Recording::picked).
    ///
    /// # Errors
    /// [`Error::Trace`], if that was another mask.
    pub fn unpicked(&self, numbers: &Numbers, mask: &Numbers) -> Result<Numbers, Error> {
        let Content::Picked { of, mask: own } = self.content_of(numbers)? else { return Ok(numbers.clone()) };
        if *own != self.value(mask)? {
            return Err(self.refused(PICKED.into()));
        }
        Ok(match numbers {
            Numbers::Double(_) => self.of_value::<f64>(*of, numbers.len()),
            Numbers::Single(_) => self.of_value::<f32>(*of, numbers.len()),
        })
    }

    fn of_nothing<T: Number>(&self) -> Value {
        let operation = Operation::Fill(0.0);
        self.tape().program.append(Node { operation, single: T::SINGLE, len: 0 })
    }

    pub(super) fn content<'a, T>(&self, array: &'a Array<T>) -> Result<&'a Content, Error> {
        let held: &Recorded = array.held().map_err(|_| stranger())?;
        if Arc::ptr_eq(&held.recording.0, &self.0) { Ok(&held.content) } else { Err(stranger()) }
    }

    fn content_of<'a>(&self, numbers: &'a Numbers) -> Result<&'a Content, Error> {
        match numbers {
            Numbers::Double(array) => self.content(array),
            Numbers::Single(array) => self.content(array),
        }
    }

    /// Input of known numbers.
    fn input_of(&self, numbers: &Numbers) -> Value {
        let address = match numbers {
            Numbers::Double(array) => Arc::as_ptr(array).addr(),
            Numbers::Single(array) => Arc::as_ptr(array).addr(),
        };
        let mut tape = self.tape();
        // It lives as long as the tape does, so its address is unique.
        if let Some((_, value)) = tape.addresses.iter().find(|(known, _)| *known == address) {
            return *value;
        }
        let value = tape.program.input(numbers.is_single(), numbers.len());
        tape.known.push(Some(numbers.clone()));
        tape.addresses.push((address, value));
        value
    }

    /// Number of one more draw.
    pub(super) fn draw(&self) -> Value {
        let tape = &mut *self.tape();
        let (first, count) = *tape.draws.get_or_insert_with(|| {
            tape.known.push(None);
            (tape.program.input(false, 1), 0)
        });
        tape.draws = Some((first, count + 1));
        tape.behind(first, count)
    }

    /// Returns the program, and empties the recording.
    ///
    /// # Errors
    /// [`Error::Trace`] if something was refused: a step that caught that error would differ from the plain loop.
    pub fn finish(&self) -> Result<Taped, Error> {
        let mut tape = std::mem::take(&mut *self.tape());
        let drawn = tape.draws.map(|(first, count)| {
            let input = tape.program.node(first).input().expect("it is an argument");
            Drawn { input, next: tape.behind(first, count), count }
        });
        let taped = Taped { program: Arc::new(tape.program), known: tape.known, drawn };
        tape.refused.map_or(Ok(taped), |text| Err(Error::Trace(text)))
    }

    /// Records a refusal, and returns its error.
    pub fn refused(&self, text: String) -> Error {
        self.tape().refused.get_or_insert(text.clone());
        Error::Trace(text)
    }

    /// Error of a query for the number of elements that a mask picks.
    pub fn asks_how_many(&self) -> Error {
        self.refused(PICKED.into())
    }

    /// Error of an operation that needs values.
    pub fn asks_for_values(&self, what: &str) -> Error {
        if self.tape().of_elements {
            return self.refused(format!(
                "{what} asks for the value of an element, which has none while it is recorded: choose by merge instead \
                 of if, and write & and | for && and ||."
            ));
        }
        self.refused(format!(
            "{what} asks for values, and a step that is being recorded has none yet. Leave it out of the step; choose by \
             merge or by a product with a comparison instead of if, write & and | for && and ||, and have values handed \
             out with 'Record'."
        ))
    }
}

/// Error text of a query for the number of elements that a mask picks.
const PICKED: &str = "How many elements a mask picks only values tell, and a step that is being recorded has none yet. What \
    u(mask) gives can be computed on element by element and put back by the same mask, u(mask) = ...; for sums and the like \
    choose first: sum (merge (mask, u, 0)), and count by nnz (mask).";

pub(super) fn stranger() -> Error {
    Error::Trace(
        "An array of a step that was recorded before, or of another one, is used in this one: a step may only use its \
         arguments, what it makes of them, and arrays from outside."
            .into(),
    )
}
