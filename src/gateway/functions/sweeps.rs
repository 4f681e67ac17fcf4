//! The options that all stencils share: boundary, dimension, number of sweeps, shape of the output, progress.

use std::sync::Arc;

use super::windows::Ghosts;
use crate::gateway::arrays::{self, Number};
use crate::gateway::engine::DynEngine;
use crate::gateway::engine::inputs::Part;
use crate::gateway::options;
use crate::gateway::store::StoredArray;
use crate::mex::{Argument, Class, Effort, Error, MAX_CELLS};
use crate::platform::watch::Watch;
use crate::stencil::{self, Array, BOUNDARY_WORDS, Boundary, Ends, Lines, Real, Shape, Sides};

/// Runs of this many multiply-adds are watched: they take some tens of milliseconds, a thousand times a thread's cost.
const LONG: u128 = 1 << 25;

/// Cost of a call of an engine that does little, in multiply-adds.
const CALL: u128 = 1 << 13;

/// `Boundary`, `Dim`, `Iterations`, `Shape` and `Progress` of a call.
#[derive(Debug, Clone)]
pub(super) struct Sweeps {
    boundary: BoundaryOption,
    /// For each filter, counted from 0.
    dims: Option<Vec<usize>>,
    iterations: usize,
    shape: Shape,
    progress: bool,
}

/// The value of `Boundary`: one for all sides, or a cell of values, which each function interprets.
#[derive(Debug, Clone)]
enum BoundaryOption {
    One(Boundary<f64>),
    /// A number that a step under recording computes.
    Recorded(Box<StoredArray>),
    Each(Vec<BoundaryOption>),
}

/// A number in an option: the host's, or one that a step under recording computes.
#[derive(Debug, Clone)]
pub(super) enum Scalar {
    Known(f64),
    Recorded(Box<StoredArray>),
}

/// Ghost values that a step computes, at both ends of each dimension.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedGhosts([[Option<Box<StoredArray>>; 2]; 3]);

impl Default for Sweeps {
    fn default() -> Sweeps {
        Sweeps {
            boundary: BoundaryOption::One(Boundary::default()),
            dims: None,
            iterations: 1,
            shape: Shape::Same,
            progress: false,
        }
    }
}

impl Sweeps {
    /// Reads the option if it is one of these; returns false for any other name.
    pub(super) fn take(&mut self, name: &str, value: &Argument) -> Result<bool, Error> {
        match name {
            "Boundary" => self.boundary = BoundaryOption::new(name, value)?,
            "Dim" => self.dims = Some(dimensions(name, value)?),
            "Iterations" => self.iterations = options::integer_in(name, value, 0..=MAX_ITERATIONS)?,
            "Shape" => self.shape = options::choice(name, value, &SHAPES)?,
            "Progress" => self.progress = options::logical(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the sweeps of a part of a complex array: a number as the boundary is real.
    pub(super) fn of_part(self, part: Part) -> Sweeps {
        let boundary = if part == Part::Imaginary { self.boundary.without_numbers() } else { self.boundary };
        Sweeps { boundary, ..self }
    }

    /// Returns the boundaries at the ends of a line, with constants rounded once to the class of the computation.
    ///
    /// # Errors
    /// `option` for a cell that is no pair.
    pub(super) fn ends<T: Real>(&self) -> Result<Ends<T>, Error> {
        self.boundary.ends(OF_PAIR)
    }

    /// Returns the boundaries at the ends of a line for each filter. With `Dim`, a cell may have an entry for each.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn ends_of<T: Real>(&self, filters: usize) -> Result<Vec<Ends<T>>, Error> {
        self.option(filters).into_iter().map(|(option, expected)| option.ends(expected)).collect()
    }

    /// Returns the option of each filter, and the cells that errors expect there.
    fn option(&self, filters: usize) -> Vec<(&BoundaryOption, &'static str)> {
        match &self.boundary {
            BoundaryOption::Each(each) if self.dims.is_some() && filters > 1 && each.len() == filters => {
                each.iter().map(|option| (option, OF_PAIR)).collect()
            }
            one => {
                let each = "a cell of two of them, {low, high}, or, with 'Dim', of an entry for each filter";
                vec![(one, each); filters]
            }
        }
    }

    /// Returns the ghost values of each filter that a step computes, along dimension `axis`; empty if there are none.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn recorded_of(&self, filters: usize, axis: usize) -> Result<Vec<RecordedGhosts>, Error> {
        let along = |(option, expected): (&BoundaryOption, _)| {
            let mut recorded = RecordedGhosts::default();
            recorded.0[axis] = option.pair(expected)?.map(BoundaryOption::recorded);
            Ok(recorded)
        };
        if self.step().is_none() { Ok(Vec::new()) } else { self.option(filters).into_iter().map(along).collect() }
    }

    /// Does what [`recorded_of`](Self::recorded_of) does, around an array; see [`sides`](Self::sides).
    ///
    /// # Errors
    /// `option`.
    pub(super) fn recorded_around(&self, filters: usize) -> Result<Vec<RecordedGhosts>, Error> {
        if self.step().is_none() {
            return Ok(Vec::new());
        }
        let mut recorded = RecordedGhosts::default();
        for (d, both) in recorded.0.iter_mut().enumerate() {
            let of_dimension = match &self.boundary {
                BoundaryOption::Each(each) => each.get(d),
                one => Some(one),
            };
            if let Some(option) = of_dimension {
                *both = option.pair(OF_PAIR)?.map(BoundaryOption::recorded);
            }
        }
        Ok(vec![recorded; filters])
    }

    /// Returns the first of the ghost values that a step computes.
    pub(super) fn step(&self) -> Option<&StoredArray> {
        self.boundary.first_recorded()
    }

    /// Returns the boundaries around an array, with constants rounded once. `dimensions` counts those of the array and
    /// of the filter. A cell has an entry for each dimension of either; entries beyond the filter's have no effect.
    ///
    /// # Errors
    /// `option` for a cell with another number of entries.
    pub(super) fn sides<T: Real>(&self, dimensions: [usize; 2]) -> Result<Sides<T>, Error> {
        let BoundaryOption::Each(each) = &self.boundary else {
            return Ok([self.boundary.ends(OF_PAIR)?; 3].into());
        };
        if !dimensions.contains(&each.len()) {
            let [array, filter] = dimensions;
            let or_of = if array == filter { String::new() } else { format!(", or of F, of which there are {filter}") };
            return Err(options::bad(format!(
                "Bad value for 'Boundary': got a cell of {}, expected one with an entry for each dimension of N, of which \
                 there are {array}{or_of}: a real scalar, {}, or a pair {{low, high}} of these.",
                each.len(),
                options::quoted(&BOUNDARY_WORDS)
            )));
        }
        let mut ends = [Ends::default(); 3];
        for (d, option) in each.iter().enumerate() {
            let of_dimension = option.ends(OF_PAIR)?;
            if let Some(ends) = ends.get_mut(d) {
                *ends = of_dimension;
            }
        }
        Ok(ends.into())
    }

    /// Returns the lines of an array of these dimensions, for one filter.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn lines(&self, dims: &[usize]) -> Result<Lines, Error> {
        Ok(Lines::along(dims, self.dim(dims)?))
    }

    /// Returns the dimension of one filter, counted from 0; it may be beyond those of the array.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn dim(&self, dims: &[usize]) -> Result<usize, Error> {
        Ok(self.dims_of(1, dims)?[0])
    }

    /// Returns the dimension that a call names, counted from 0.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn named_dim(&self) -> Result<Option<usize>, Error> {
        self.dims.as_ref().map(|_| self.dim(&[])).transpose()
    }

    /// Formats the boundary, for the error of ranks that disagree.
    pub(super) fn boundary_text(&self) -> String {
        self.boundary.to_string()
    }

    /// Returns the dimension of each filter.
    ///
    /// # Errors
    /// `option`, unless the call names none, or one for each filter.
    pub(super) fn dims_of(&self, filters: usize, dims: &[usize]) -> Result<Vec<usize>, Error> {
        match &self.dims {
            None => Ok(vec![default_dim(dims); filters]),
            Some(of_filters) if of_filters.len() == filters => Ok(of_filters.clone()),
            Some(of_filters) => {
                let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
                Err(options::bad(format!(
                    "Bad value for 'Dim': got {}, expected one for each filter, of which there {} {filters}.",
                    counted(of_filters.len(), "dimension"),
                    if filters == 1 { "is" } else { "are" }
                )))
            }
        }
    }

    /// Returns the shape of the output. No sweeps return the input, so they have its shape.
    ///
    /// # Errors
    /// `option` if every sweep would have another size.
    pub(super) fn shape(&self) -> Result<Shape, Error> {
        match (self.iterations, self.shape) {
            (_, Shape::Same) | (0, _) => Ok(Shape::Same),
            (1, shape) => Ok(shape),
            (count, shape) => {
                let word = SHAPES.iter().find(|(_, choice)| *choice == shape).map_or("", |(word, _)| word);
                Err(options::bad(format!(
                    "'Shape', '{word}' goes with one sweep, and 'Iterations' is {count}: each sweep would have another \
                     size. Call the function once for each."
                )))
            }
        }
    }

    /// Checks that the output of a call with `what` has the size of its input.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn only_same(&self, what: &str) -> Result<(), Error> {
        match SHAPES.iter().find(|(_, choice)| *choice == self.shape) {
            Some((word, shape)) if *shape != Shape::Same => Err(options::bad(format!(
                "'Shape', '{word}' does not go with {what}: expected 'same', or one filter in one sweep."
            ))),
            _ => Ok(()),
        }
    }

    pub(super) fn iterations(&self) -> usize {
        self.iterations
    }

    /// Returns the effort of sweeps over `elements` elements with `taps` multiply-adds each.
    pub(super) fn effort(&self, elements: usize, taps: usize) -> Effort {
        self.effort_of_steps(elements, taps, 1, 1)
    }

    /// Returns the effort of sweeps of `steps` steps, with `taps` multiply-adds an element, in `calls` engine calls.
    pub(super) fn effort_of_steps(&self, elements: usize, taps: usize, steps: usize, calls: usize) -> Effort {
        let sweeps = elements as u128 * self.iterations as u128;
        let counted = |count: u128| count.min(u64::MAX.into()) as u64;
        Effort {
            updates: counted(sweeps * steps as u128),
            work: counted(sweeps * taps as u128),
            calls: calls as u64,
            long: sweeps * taps as u128 + calls as u128 * CALL >= LONG,
            progress: self.progress,
        }
    }
}

/// Returns the dimension of a stencil that names none: the first that is not 1, counted from 0.
pub(super) fn default_dim(dims: &[usize]) -> usize {
    dims.iter().position(|&dim| dim != 1).unwrap_or(0)
}

/// Written as the user would write the option.
impl std::fmt::Display for BoundaryOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BoundaryOption::One(Boundary::Constant(value)) => f.write_str(&options::number_text(*value)),
            BoundaryOption::One(boundary) => {
                let word = BOUNDARY_WORDS.iter().find(|(_, of)| of.same(*boundary)).map_or("", |(word, _)| word);
                write!(f, "'{word}'")
            }
            BoundaryOption::Recorded(_) => f.write_str("a number of a step"),
            BoundaryOption::Each(each) => {
                let texts: Vec<_> = each.iter().map(ToString::to_string).collect();
                write!(f, "{{{}}}", texts.join(", "))
            }
        }
    }
}

/// The cell that a dimension may have, for errors.
const OF_PAIR: &str = "a cell of two of them, {low, high}";

/// Limit on the dimensions that a call names: one for each filter of a list.
const MAX_LIST: usize = MAX_CELLS;

/// Reads dimensions, counted from 0, from a scalar or a vector of whole numbers from 1 up.
fn dimensions(name: &str, value: &Argument) -> Result<Vec<usize>, Error> {
    let is_vector = value.dims().len() == 2 && value.dims().contains(&1) && (2..=MAX_LIST).contains(&value.len());
    match value.numbers().filter(|_| is_vector) {
        None => Ok(vec![options::positive_integer(name, value)? - 1]),
        Some(numbers) => numbers.map(|number| Ok(options::positive_number(name, number)? - 1)).collect(),
    }
}

/// Takes longer than any user waits, and is still counted without rounding.
const MAX_ITERATIONS: usize = u32::MAX as usize;

const SHAPES: [(&str, Shape); 3] = [("same", Shape::Same), ("full", Shape::Full), ("valid", Shape::Valid)];

/// Words of other tools for these boundaries, and ours.
const OTHER_WORDS: [(&str, &str); 6] = [
    ("periodic", "'circular' here"),
    ("wrap", "'circular' here"),
    ("nearest", "'replicate' here"),
    ("zero", "the number 0 here"),
    ("constant", "a number here, such as 0"),
    (
        "reflect",
        "'symmetric' here as SciPy means it, with the sample at the border twice, and 'mirror' as NumPy does, with it once",
    ),
];

/// Returns true if a text names a boundary, in our words or in those of other tools.
pub(super) fn is_boundary(text: &str) -> bool {
    let mut words = BOUNDARY_WORDS.iter().map(|(word, _)| word).chain(OTHER_WORDS.iter().map(|(word, _)| word));
    words.any(|word| word.eq_ignore_ascii_case(text))
}

/// Returns the words for boundaries, then those for shapes.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    BOUNDARY_WORDS.iter().map(|(word, _)| *word).chain(SHAPES.iter().map(|(word, _)| *word))
}

/// Returns true if a text names a shape.
pub(super) fn is_shape(text: &str) -> bool {
    SHAPES.iter().any(|(word, _)| word.eq_ignore_ascii_case(text))
}

/// Reads a real scalar of any numeric class or a logical one, also of a stored array; `None` for any other value.
pub(super) fn real_scalar(value: &Argument) -> Option<Scalar> {
    let held = StoredArray::of(value).ok().flatten().filter(|held| held.len() == 1);
    match held {
        Some(held) if held.home.step().is_some() => Some(Scalar::Recorded(Box::new(held))),
        Some(held) => Some(Scalar::Known(*arrays::gathered(&held).ok()?.first()?)),
        None => {
            let number = value.scalar().filter(|_| value.is_real_number() || value.class() == Class::Logical);
            number.map(Scalar::Known)
        }
    }
}

impl RecordedGhosts {
    /// Returns the ghost values around an array: these sides, and the computed numbers on the engine.
    pub(super) fn ghosts<T: Number>(
        &self,
        sides: Sides<T>,
        engine: &DynEngine,
        watch: &Watch,
    ) -> Result<Ghosts<T>, stencil::Error> {
        let mut ghosts = Ghosts::from(sides);
        // One number at several ends stays one array.
        let mut known: Vec<(&StoredArray, Arc<Array<T>>)> = Vec::new();
        for (to, from) in ghosts.numbers.iter_mut().flatten().zip(self.0.iter().flatten()) {
            let Some(from) = from else { continue };
            let found = known.iter().find(|(other, _)| from.shares(other)).map(|(_, number)| Arc::clone(number));
            let number = found.map_or_else(|| T::of(&from.numbers, engine, watch), Ok)?;
            known.push((from, Arc::clone(&number)));
            *to = Some(number);
        }
        Ok(ghosts)
    }
}

impl BoundaryOption {
    /// Reads a boundary, or a cell of them, at most two deep.
    fn new(name: &str, value: &Argument) -> Result<BoundaryOption, Error> {
        if !value.is_cell() {
            return boundary(name, value);
        }
        let cells = value.cells().filter(|cells| !cells.is_empty()).ok_or_else(|| {
            options::bad(format!(
                "Bad value for '{name}': got {value}, expected a real scalar or {}, or a cell of 1 to {MAX_CELLS} of these.",
                options::quoted(&BOUNDARY_WORDS)
            ))
        })?;
        cells.iter().map(|cell| BoundaryOption::new(name, cell)).collect::<Result<_, _>>().map(BoundaryOption::Each)
    }

    /// Replaces all numbers by zeros.
    fn without_numbers(self) -> BoundaryOption {
        match self {
            BoundaryOption::One(Boundary::Constant(_)) => BoundaryOption::One(Boundary::default()),
            BoundaryOption::Each(each) => {
                BoundaryOption::Each(each.into_iter().map(BoundaryOption::without_numbers).collect())
            }
            one => one,
        }
    }

    /// Returns the first number that a step computes.
    fn first_recorded(&self) -> Option<&StoredArray> {
        match self {
            BoundaryOption::One(_) => None,
            BoundaryOption::Recorded(number) => Some(number),
            BoundaryOption::Each(each) => each.iter().find_map(BoundaryOption::first_recorded),
        }
    }

    /// Returns the number if a step computes it.
    fn recorded(&self) -> Option<Box<StoredArray>> {
        if let BoundaryOption::Recorded(number) = self { Some(number.clone()) } else { None }
    }

    /// Returns the two ends of a dimension, neither of them a cell; `expected` are an error's words for a cell there.
    fn pair(&self, expected: &str) -> Result<[&BoundaryOption; 2], Error> {
        let BoundaryOption::Each(each) = self else { return Ok([self, self]) };
        let has_cells = each.iter().any(|one| matches!(one, BoundaryOption::Each(_)));
        match &each[..] {
            [low, high] if !has_cells => Ok([low, high]),
            _ => Err(options::bad(format!(
                "Bad value for 'Boundary': got a cell of {}{}, expected a real scalar, {}, or {expected}.",
                each.len(),
                if has_cells { " with cells in it" } else { "" },
                options::quoted(&BOUNDARY_WORDS)
            ))),
        }
    }

    /// Returns the boundaries at both ends of a dimension; `expected` are an error's words for a cell there.
    fn ends<T: Real>(&self, expected: &str) -> Result<Ends<T>, Error> {
        let [low, high] = self.pair(expected)?.map(|end| match end {
            BoundaryOption::One(boundary) => boundary.map(T::from_f64),
            // A computed number has no value yet.
            BoundaryOption::Recorded(_) | BoundaryOption::Each(_) => Boundary::Constant(T::default()),
        });
        Ends::new(low, high).ok_or_else(|| {
            options::bad(
                "Bad value for 'Boundary': got 'circular' for one end alone; a dimension goes round at both ends or at \
                 none."
                    .into(),
            )
        })
    }
}

/// Reads a real scalar of any numeric class, or one of the words.
fn boundary(name: &str, value: &Argument) -> Result<BoundaryOption, Error> {
    let Some(text) = value.text() else {
        let option = real_scalar(value).map(|number| match number {
            Scalar::Known(number) => BoundaryOption::One(Boundary::Constant(number)),
            Scalar::Recorded(number) => BoundaryOption::Recorded(number),
        });
        return option.ok_or_else(|| {
            let words = options::quoted(&BOUNDARY_WORDS);
            options::bad(format!("Bad value for '{name}': got {value}, expected a real scalar or {words}."))
        });
    };
    options::choice_of_text(name, text, &BOUNDARY_WORDS).map(BoundaryOption::One).map_err(|error| {
        let other = OTHER_WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        let advice = other.map(|(word, ours)| format!(" What other tools call '{word}' is {ours}."));
        let text = error.text.replace(", expected ", ", expected a real scalar or ");
        Error { text: text + &advice.unwrap_or_default(), ..error }
    })
}
