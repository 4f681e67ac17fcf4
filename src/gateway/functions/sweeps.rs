//! The options that stencils share: the boundary, along which dimension, how often, which outputs, and whether to tell
//! how far it is.

use std::sync::Arc;

use super::windows::Ghosts;
use crate::gateway::arrays::{self, Number};
use crate::gateway::engine::DynEngine;
use crate::gateway::engine::inputs::Part;
use crate::gateway::options;
use crate::gateway::store::StoredArray;
use crate::mex::{Argument, Class, Effort, Error, MAX_CELLS};
use crate::stencil::{self, Array, Boundary, Ends, Lines, Real, Shape, Sides};
use crate::watch::Watch;

/// From this many multiply-adds on a run is watched: they take a core some tens of milliseconds, a thousand times what
/// starting a thread costs.
const LONG: u128 = 1 << 25;

/// The cost of a call of an engine that does little, in multiply-adds.
const CALL: u128 = 1 << 13;

/// `Boundary`, `Dim`, `Iterations`, `Shape` and `Progress`, as far as a call has them.
#[derive(Debug, Clone)]
pub(super) struct Sweeps {
    boundary: BoundaryOption,
    /// Of each filter, counted from 0.
    dims: Option<Vec<usize>>,
    iterations: usize,
    shape: Shape,
    progress: bool,
}

/// What `Boundary` says: one for all sides, or a cell of such, of which the function knows the meaning.
#[derive(Debug, Clone)]
enum BoundaryOption {
    One(Boundary<f64>),
    /// A number that a step computes, which is being recorded.
    Recorded(Box<StoredArray>),
    Each(Vec<BoundaryOption>),
}

/// A number of an option's: the host's, or one that a step computes, which is being recorded.
#[derive(Debug, Clone)]
pub(super) enum Scalar {
    Known(f64),
    Recorded(Box<StoredArray>),
}

/// The numbers that a step computes among the ghost values, at both ends of each dimension.
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
    /// Takes the option, if it is one of these; false for any other name.
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

    /// The sweeps of a part of a complex array: a number as the boundary is a real one.
    pub(super) fn of_part(self, part: Part) -> Sweeps {
        let boundary = if part == Part::Imaginary { self.boundary.without_numbers() } else { self.boundary };
        Sweeps { boundary, ..self }
    }

    /// The boundaries at the ends of a line, with constants rounded once to the class that is computed in.
    ///
    /// # Errors
    /// `option`, for a cell that is no pair.
    pub(super) fn ends<T: Real>(&self) -> Result<Ends<T>, Error> {
        self.boundary.ends(OF_PAIR)
    }

    /// The boundaries at the ends of a line for each of `filters` filters. Where each filter has its own dimension, a
    /// cell may have an entry for each filter.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn ends_of<T: Real>(&self, filters: usize) -> Result<Vec<Ends<T>>, Error> {
        self.option(filters).into_iter().map(|(option, expected)| option.ends(expected)).collect()
    }

    /// The boundaries of each filter, with the words for cells that errors expect there.
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

    /// The numbers that a step computes among the ghost values of each of `filters` filters, each along dimension `axis` of
    /// its own; nothing where there are none.
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

    /// As [`recorded_of`](Self::recorded_of), of `filters` filters around an array: see [`sides`](Self::sides).
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

    /// A number that a step computes among the ghost values, if there is one.
    pub(super) fn step(&self) -> Option<&StoredArray> {
        self.boundary.first_recorded()
    }

    /// The boundaries around an array, with constants rounded once; `dimensions` are how many the array and the
    /// filter have. A cell has an entry for each of the one or of the other: beyond the filter's they have no say.
    ///
    /// # Errors
    /// `option`, for a cell with another number of entries.
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
                options::quoted(&WORDS)
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

    /// The lines of an array of these dimensions, for one filter.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn lines(&self, dims: &[usize]) -> Result<Lines, Error> {
        Ok(Lines::along(dims, self.dim(dims)?))
    }

    /// Along which of these dimensions one filter runs, counted from 0; it may be beyond them.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn dim(&self, dims: &[usize]) -> Result<usize, Error> {
        Ok(self.dims_of(1, dims)?[0])
    }

    /// The dimension, counted from 0, where a call names it.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn named_dim(&self) -> Result<Option<usize>, Error> {
        self.dims.as_ref().map(|_| self.dim(&[])).transpose()
    }

    /// The boundary as an error tells it that two processes differ in.
    pub(super) fn boundary_text(&self) -> String {
        self.boundary.to_string()
    }

    /// The dimension of each of `filters` filters.
    ///
    /// # Errors
    /// `option`, unless one dimension is named, or one for each filter.
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

    /// Which outputs there are: no sweeps give the input, whatever was asked for.
    ///
    /// # Errors
    /// `option`, where every sweep would have another size.
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

    /// Checks that the output has the size of the input, for calls with more than one filter: `what` they are.
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

    /// How many sweeps.
    pub(super) fn iterations(&self) -> usize {
        self.iterations
    }

    /// The effort of sweeps over `elements` elements with `taps` multiply-adds each.
    pub(super) fn effort(&self, elements: usize, taps: usize) -> Effort {
        self.effort_of_steps(elements, taps, 1, 1)
    }

    /// The effort of sweeps of `steps` steps, with `taps` multiply-adds for an element in all, in `calls` calls of an
    /// engine.
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

/// Along which dimension a stencil runs where none is named: the first that is not 1, counted from 0.
pub(super) fn default_dim(dims: &[usize]) -> usize {
    dims.iter().position(|&dim| dim != 1).unwrap_or(0)
}

/// As a user would write it.
impl std::fmt::Display for BoundaryOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BoundaryOption::One(Boundary::Constant(value)) => f.write_str(&options::number_text(*value)),
            BoundaryOption::One(boundary) => {
                let word = WORDS.iter().find(|(_, of)| of.same(*boundary)).map_or("", |(word, _)| word);
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

/// What a cell of boundaries may be along a dimension.
const OF_PAIR: &str = "a cell of two of them, {low, high}";

/// The most dimensions that are named at once: one for each filter of a list.
const MAX_LIST: usize = MAX_CELLS;

/// Dimensions, counted from 0: of a scalar or a vector of whole numbers from 1 up.
fn dimensions(name: &str, value: &Argument) -> Result<Vec<usize>, Error> {
    let is_vector = value.dims().len() == 2 && value.dims().contains(&1) && (2..=MAX_LIST).contains(&value.len());
    match value.numbers().filter(|_| is_vector) {
        None => Ok(vec![options::positive_integer(name, value)? - 1]),
        Some(numbers) => numbers.map(|number| Ok(options::positive_number(name, number)? - 1)).collect(),
    }
}

/// More than anyone waits for, and still counted without rounding.
const MAX_ITERATIONS: usize = u32::MAX as usize;

/// The words for shapes.
const SHAPES: [(&str, Shape); 3] = [("same", Shape::Same), ("full", Shape::Full), ("valid", Shape::Valid)];

/// The words for boundaries.
const WORDS: [(&str, Boundary<f64>); 4] = [
    ("replicate", Boundary::Replicate),
    ("symmetric", Boundary::Symmetric),
    ("mirror", Boundary::Mirror),
    ("circular", Boundary::Circular),
];

/// The words of other tools for the same boundaries, and ours.
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

/// Whether a text says which boundary, in our words or in those of other tools.
pub(super) fn is_boundary(text: &str) -> bool {
    let mut words = WORDS.iter().map(|(word, _)| word).chain(OTHER_WORDS.iter().map(|(word, _)| word));
    words.any(|word| word.eq_ignore_ascii_case(text))
}

/// The words for boundaries, then those for shapes.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(word, _)| *word).chain(SHAPES.iter().map(|(word, _)| *word))
}

/// Whether a text says which outputs.
pub(super) fn is_shape(text: &str) -> bool {
    SHAPES.iter().any(|(word, _)| word.eq_ignore_ascii_case(text))
}

/// A real scalar of any numeric class or a logical one, also of an array that is held; `None` for anything else.
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
    /// The ghost values around an array: of these sides, and the numbers, where an engine computes.
    pub(super) fn ghosts<T: Number>(
        &self,
        sides: Sides<T>,
        engine: &DynEngine,
        watch: &Watch,
    ) -> Result<Ghosts<T>, stencil::Error> {
        let mut ghosts = Ghosts::from(sides);
        // One number at several ends stays one.
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
    /// One boundary, or a cell of them, at most two deep.
    fn new(name: &str, value: &Argument) -> Result<BoundaryOption, Error> {
        if !value.is_cell() {
            return boundary(name, value);
        }
        let cells = value.cells().filter(|cells| !cells.is_empty()).ok_or_else(|| {
            options::bad(format!(
                "Bad value for '{name}': got {value}, expected a real scalar or {}, or a cell of 1 to {MAX_CELLS} of these.",
                options::quoted(&WORDS)
            ))
        })?;
        cells.iter().map(|cell| BoundaryOption::new(name, cell)).collect::<Result<_, _>>().map(BoundaryOption::Each)
    }

    /// With zeros for all numbers.
    fn without_numbers(self) -> BoundaryOption {
        match self {
            BoundaryOption::One(Boundary::Constant(_)) => BoundaryOption::One(Boundary::default()),
            BoundaryOption::Each(each) => {
                BoundaryOption::Each(each.into_iter().map(BoundaryOption::without_numbers).collect())
            }
            one => one,
        }
    }

    /// One that a step computes, if there is one.
    fn first_recorded(&self) -> Option<&StoredArray> {
        match self {
            BoundaryOption::One(_) => None,
            BoundaryOption::Recorded(number) => Some(number),
            BoundaryOption::Each(each) => each.iter().find_map(BoundaryOption::first_recorded),
        }
    }

    /// The number, where a step computes it.
    fn recorded(&self) -> Option<Box<StoredArray>> {
        if let BoundaryOption::Recorded(number) = self { Some(number.clone()) } else { None }
    }

    /// The two ends of a dimension, neither of them a cell; `expected` are an error's words for a cell there.
    fn pair(&self, expected: &str) -> Result<[&BoundaryOption; 2], Error> {
        let BoundaryOption::Each(each) = self else { return Ok([self, self]) };
        let has_cells = each.iter().any(|one| matches!(one, BoundaryOption::Each(_)));
        match &each[..] {
            [low, high] if !has_cells => Ok([low, high]),
            _ => Err(options::bad(format!(
                "Bad value for 'Boundary': got a cell of {}{}, expected a real scalar, {}, or {expected}.",
                each.len(),
                if has_cells { " with cells in it" } else { "" },
                options::quoted(&WORDS)
            ))),
        }
    }

    /// The boundaries at both ends of a dimension; `expected` says what a cell may be there.
    fn ends<T: Real>(&self, expected: &str) -> Result<Ends<T>, Error> {
        let [low, high] = self.pair(expected)?.map(|end| match end {
            BoundaryOption::One(boundary) => rounded(*boundary),
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

/// The boundary in the class that is computed in, a constant rounded once.
fn rounded<T: Real>(boundary: Boundary<f64>) -> Boundary<T> {
    match boundary {
        Boundary::Constant(value) => Boundary::Constant(T::from_f64(value)),
        Boundary::Replicate => Boundary::Replicate,
        Boundary::Symmetric => Boundary::Symmetric,
        Boundary::Mirror => Boundary::Mirror,
        Boundary::Circular => Boundary::Circular,
    }
}

/// A real scalar of any numeric class, or one of the words.
fn boundary(name: &str, value: &Argument) -> Result<BoundaryOption, Error> {
    let Some(text) = value.text() else {
        let option = real_scalar(value).map(|number| match number {
            Scalar::Known(number) => BoundaryOption::One(Boundary::Constant(number)),
            Scalar::Recorded(number) => BoundaryOption::Recorded(number),
        });
        return option.ok_or_else(|| {
            let words = options::quoted(&WORDS);
            options::bad(format!("Bad value for '{name}': got {value}, expected a real scalar or {words}."))
        });
    };
    options::choice_of_text(name, text, &WORDS).map(BoundaryOption::One).map_err(|error| {
        let other = OTHER_WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        let advice = other.map(|(word, ours)| format!(" What other tools call '{word}' is {ours}."));
        let text = error.text.replace(", expected ", ", expected a real scalar or ");
        Error { text: text + &advice.unwrap_or_default(), ..error }
    })
}
