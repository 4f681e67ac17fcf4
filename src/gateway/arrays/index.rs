//! Verbs with indices: reads, assignments and removals.

use std::sync::Arc;

use super::operands::{OnEngine, Operand};
use super::pattern::{Pattern, Piece};
use super::result::result;
use super::run::{DynEngine, Number, array, filled, in_class_of_engine, keep};
use super::subscripts::{self, Assigned, Indexed, Remaining, Subscript};
use super::{class, merge, order};
use crate::gateway::store::{self, Numbers, StoredArray, steps};
use crate::mex::{Argument, Class, Error, Reply};
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::{self, Array, Compute, Number as _, Places, RANK, Section, Shift, Source, Target};

/// Reads the indices of an array. The numbers of a stored index are gathered, and they alone cross the link; a mask
/// that is the only index stays on the engine if it lies where `of_array` does.
fn subscripts(indices: &[Argument], of_array: Option<&StoredArray>) -> Result<Vec<Subscript>, Error> {
    let of = indices.len();
    if let ([index], Some(array)) = (indices, of_array)
        && let Some(mask) = StoredArray::of(index)?
        && mask.class == Class::Logical
        && mask.home == array.home
        && mask.len() <= array.len()
    {
        return Ok(vec![subscripts::found(&mask, order::found(&mask)?)]);
    }
    indices.iter().enumerate().map(|(d, index)| subscripts::subscript(index, (d, of), gathered)).collect()
}

/// Downloads the numbers of a stored array, in double.
pub(crate) fn gathered(held: &StoredArray) -> Result<Vec<f64>, Error> {
    fn of<T: Number>(engine: &DynEngine, numbers: &Array<T>, to: &mut [T]) -> Result<(), stencil::Error> {
        engine.arrays::<T>().copy(Source::Array(numbers), Target::Host(to), &Watch::new())
    }
    steps::check_index(held)?;
    let engine = held.home.engine()?;
    let mut gathered = crate::platform::memory::zeros(held.len(), "an index")?;
    match &held.numbers {
        Numbers::Double(numbers) => of(&*engine, numbers, &mut gathered)?,
        Numbers::Single(numbers) => {
            let mut singles = Pooled::<f32>::new(held.len(), "an index")?;
            of(&*engine, numbers, &mut singles)?;
            gathered.iter_mut().zip(&*singles).for_each(|(to, from)| *to = f64::from(*from));
        }
    }
    Ok(gathered)
}

/// Returns true if these are all places of an array of `len` elements, in order.
fn is_everything(places: &Places, len: usize) -> bool {
    *places == Places::run(0, len) || len == 1 && places.len() == 1
}

/// Reads the elements at some places.
pub(super) fn pick<'a>(held: StoredArray, indices: &[Argument]) -> Result<Reply<'a>, Error> {
    if indices.is_empty() {
        return keep(held.home, 0, move |_, _, _| Ok(held));
    }
    if let [index] = indices
        && let Some(mask) = steps::mask_of(index, held.len())?
    {
        let dims = vec![held.len(), 1];
        let held = steps::lifted(held, mask.home)?;
        let numbers = steps::picked(&held, &mask)?;
        return keep(held.home, 0, move |_, _, _| Ok(StoredArray { dims, numbers, ..held }));
    }
    let subscripts = subscripts(indices, Some(&held))?;
    let Indexed { places, dims } = subscripts::picked(&held.dims, &subscripts)?;
    if held.home.step().is_some()
        && let Places::List(_) = places
        && let Some(shift) = subscripts::shifted(&held.dims, &subscripts)
    {
        return shifted(held, shift, dims);
    }
    if places.len() != 1 && is_everything(&places, held.len()) {
        // Shared numbers never change, so both objects may have them.
        return keep(held.home, 0, move |_, _, _| Ok(StoredArray { dims, ..held }));
    }
    in_class_of_engine!(held.numbers.class(), T => result::<T>(
        held.home,
        (held.class, dims),
        places.len(),
        move |engine, to, watch| {
            let numbers = T::of(&held.numbers, engine, watch)?;
            engine.pick(&numbers, &places, to, watch)
        },
    ))
}

/// Reads each element from a neighbour's place, in a step under recording: there a shift is cheaper than a gather.
pub(super) fn shifted<'a>(held: StoredArray, shift: Shift, dims: Vec<usize>) -> Result<Reply<'a>, Error> {
    keep(held.home, held.len(), move |engine, home, watch| {
        let numbers = in_class_of_engine!(held.numbers.class(), T => {
            let from = T::of(&held.numbers, engine, watch)?;
            let mut to = array::<T>(engine, from.len())?;
            engine.shift(&shift, &from, &mut to, watch)?;
            T::numbers(Arc::new(to))
        });
        Ok(StoredArray { home, dims, class: held.class, numbers })
    })
}

/// Assigns values to some places. Returns an array of the same class, larger if a place is beyond the end. `number` is
/// the handle of the array's sole owner: the array is then written in place.
pub(super) fn put<'a>(
    held: StoredArray,
    values: &'a Argument,
    indices: &[Argument],
    number: Option<u64>,
) -> Result<Reply<'a>, Error> {
    let elements = held.len();
    let mask = if let [index] = indices { steps::mask_of(index, elements)? } else { None };
    // A value of a step makes the array one of the step, too.
    let home = mask.as_ref().map(|mask| mask.home).or(StoredArray::of(values)?.map(|values| values.home));
    let home = home.filter(|_| held.home.step().is_none()).unwrap_or(held.home);
    let held = steps::lifted(held, home)?;
    let operand = Operand::new(values, held.home)?;
    // A single put into logical values makes them doubles, as in Octave; no other class does.
    let widens = held.class == Class::Logical && operand.class == Class::Single;
    let class = if widens { Class::Double } else { held.class };
    if class == Class::Logical {
        class::check_truths(values)?;
    }
    let stored = if widens { class } else { held.numbers.class() };
    if let Some(mask) = mask {
        return merge::put(held, operand, mask, [class, stored]);
    }
    let subscripts = subscripts(indices, Some(&held))?;
    if subscripts.is_empty() {
        return Err(Error::new("index", "No index was given."));
    }
    let Assigned { places, grown } = subscripts::assigned(&held.dims, &subscripts, &operand.dims)?;
    let len = grown.as_ref().map_or(held.len(), |dims| dims.iter().product());
    in_class_of_engine!(stored, T => keep(held.home, len, move |engine, home, watch| {
        let StoredArray { dims, numbers, .. } = held;
        let values = operand.in_class::<T>(class, engine, watch)?;
        let mut old = T::of(&numbers, engine, watch)?;
        drop(numbers);
        let of = |dims, output| StoredArray { home, dims, class, numbers: T::numbers(output) };
        if let Some(grown) = grown {
            let mut output = filled(engine, len, T::default(), watch)?;
            if !old.is_empty() {
                engine.put(Source::Array(&old), &box_in(&dims, &grown)?, &mut output, watch)?;
            }
            write(engine, &values, &places, &mut output, watch)?;
            return Ok(of(grown, Arc::new(output)));
        }
        if let Some(number) = number {
            let kept = store::take(number);
            drop(kept);
            if let Some(own) = Arc::get_mut(&mut old) {
                let written = write(engine, &values, &places, own, watch);
                if written.is_err() {
                    store::put_back(number, of(dims.clone(), Arc::clone(&old)));
                }
                return written.map(|()| of(dims, old));
            }
            store::put_back(number, of(dims.clone(), Arc::clone(&old)));
        }
        let mut output = array::<T>(engine, len)?;
        if !is_everything(&places, len) {
            engine.arrays::<T>().copy(Source::Array(&old), Target::Array(&mut output), watch)?;
        }
        write(engine, &values, &places, &mut output, watch)?;
        Ok(of(dims, Arc::new(output)))
    }))
}

/// Writes values to some places; a single value to all of them.
fn write<T: Number>(
    engine: &DynEngine,
    values: &OnEngine<T>,
    places: &Places,
    output: &mut Array<T>,
    watch: &Watch,
) -> Result<(), stencil::Error> {
    let wanted = places.len();
    let arithmetic = engine;
    match values {
        _ if wanted == 0 => Ok(watch.check()?),
        OnEngine::Number(value) if is_everything(places, output.len()) => arithmetic.fill(*value, output, watch),
        OnEngine::Number(value) if wanted == 1 => arithmetic.put(Source::Host(&[*value]), places, output, watch),
        OnEngine::Number(value) => {
            let many = filled(engine, wanted, *value, watch)?;
            arithmetic.put(Source::Array(&many), places, output, watch)
        }
        OnEngine::Array(one) if one.len() == 1 && wanted != 1 => {
            let mut many = array::<T>(engine, wanted)?;
            let mut same = Section { start: 0, size: [1; RANK], steps: [0; RANK] };
            same.size[0] = wanted;
            arithmetic.pick(one, &Places::Section(same), Target::Array(&mut many), watch)?;
            arithmetic.put(Source::Array(&many), places, output, watch)
        }
        OnEngine::Array(values) => arithmetic.put(Source::Array(values), places, output, watch),
    }
}

/// Removes the rows, columns or elements that indices name.
pub(super) fn remove<'a>(held: StoredArray, indices: &[Argument]) -> Result<Reply<'a>, Error> {
    // The host finds the remaining places from the indices.
    let subscripts = subscripts(indices, None)?;
    let left = if subscripts.is_empty() { None } else { subscripts::remaining(&held.dims, &subscripts)? };
    let Some(Remaining { pieces, dims }) = left else {
        return keep(held.home, 0, move |_, _, _| Ok(held));
    };
    keep(held.home, held.len(), move |engine, home, watch| {
        let numbers = in_class_of_engine!(held.numbers.class(), T => {
            T::numbers(assembled::<T>(engine, &*T::of(&held.numbers, engine, watch)?, &pieces, dims.iter().product(), watch)?)
        });
        Ok(StoredArray { home, dims, class: held.class, numbers })
    })
}

/// Assembles an array of `len` elements from pieces of another.
pub(super) fn assembled<T: Number>(
    engine: &DynEngine,
    from: &Array<T>,
    pieces: &[Piece],
    len: usize,
    watch: &Watch,
) -> Result<Arc<Array<T>>, stencil::Error> {
    let mut output = array::<T>(engine, len)?;
    if let [piece] = pieces {
        engine.pick(from, &piece.from, Target::Array(&mut output), watch)?;
        return Ok(Arc::new(output));
    }
    for piece in pieces.iter().filter(|piece| !piece.from.is_empty()) {
        let mut part = array::<T>(engine, piece.from.len())?;
        engine.pick(from, &piece.from, Target::Array(&mut part), watch)?;
        engine.put(Source::Array(&part), &piece.to, &mut output, watch)?;
    }
    Ok(Arc::new(output))
}

/// Returns the places of an array inside a larger one.
pub(super) fn box_in(dims: &[usize], larger: &[usize]) -> Result<Places, stencil::Error> {
    let mut step = 1;
    let mut pattern = Vec::with_capacity(larger.len());
    for (d, extent) in larger.iter().enumerate() {
        pattern.push((dims.get(d).copied().unwrap_or(1), step as isize));
        step *= extent;
    }
    Ok(Pattern::new(0, &pattern).places()?)
}
