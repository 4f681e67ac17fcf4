//! Values of each step: arguments after the states that are different numbers, or different pages of an array, in each.
//!
//! # Rationale
//! Pages of a host array are copied to the engine in chunks of some steps: the whole array may not fit there, and with
//! a copy for each step many small steps would wait. A chunk is at most a [piece](Engine::piece), or one page.

use std::fmt;
use std::ops::Range;

use super::buffers::Buffers;
use super::single::alone;
use crate::platform::watch::Watch;
use crate::stencil::{Compute, Engine, Error, Numbers, Places, Target};

/// Values of each step.
#[derive(Debug)]
pub enum Values<'a> {
    /// A number of numbers a step, each an argument of one element; step by step.
    Numbers(Numbers, usize),
    /// One page of each of these arrays a step.
    Pages(Vec<Pages<'a>>),
}

/// An array whose pages are arguments, one a step.
pub struct Pages<'a> {
    source: Origin<'a>,
    single: bool,
    /// Number of elements in a page.
    len: usize,
}

/// Copies elements of an array of the host's to an engine.
pub type Upload<'a> = dyn Fn(&(dyn Engine + 'static), Range<usize>, &Watch) -> Result<Numbers, Error> + Send + 'a;

enum Origin<'a> {
    Engine(Numbers),
    Host(Box<Upload<'a>>),
}

impl fmt::Debug for Pages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("single", &self.single).field("len", &self.len).finish_non_exhaustive()
    }
}

impl<'a> Pages<'a> {
    /// Pages of `len` elements of an array that the engine holds.
    pub fn held(array: Numbers, len: usize) -> Pages<'a> {
        Pages { single: array.is_single(), source: Origin::Engine(array), len }
    }

    /// Pages of `len` elements of a host array, which is converted to single, or to double.
    pub fn of_host(upload: Box<Upload<'a>>, single: bool, len: usize) -> Pages<'a> {
        Pages { source: Origin::Host(upload), single, len }
    }
}

impl Values<'_> {
    /// Returns true if a step has none.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Values::Pages(pages) if pages.is_empty())
    }

    /// Classes and lengths of the arguments of a step.
    pub(super) fn arguments(&self) -> Vec<(bool, usize)> {
        match self {
            Values::Numbers(all, count) => vec![(all.is_single(), 1); *count],
            Values::Pages(pages) => pages.iter().map(|pages| (pages.single, pages.len)).collect(),
        }
    }
}

/// Values of a run's steps, one step after the other.
pub(super) struct Supply<'r, 'a> {
    values: &'r Values<'a>,
    /// Range of the run's steps among those of all runs.
    steps: Range<usize>,
    chunks: Vec<Chunk>,
}

impl<'r, 'a> Supply<'r, 'a> {
    /// Values for `steps` steps, after `before` earlier ones.
    pub(super) fn new(values: &'r Values<'a>, before: usize, steps: usize) -> Supply<'r, 'a> {
        let count = if let Values::Pages(pages) = values { pages.len() } else { 0 };
        Supply { values, steps: before..before + steps, chunks: (0..count).map(|_| Chunk::default()).collect() }
    }

    /// Numbers of all steps, if the values are numbers.
    pub(super) fn numbers(&self) -> Option<&'r Numbers> {
        if let Values::Numbers(all, _) = self.values { Some(all) } else { None }
    }

    /// Returns true if the values are pages: then each step is taken singly.
    pub(super) fn has_pages(&self) -> bool {
        self.numbers().is_none() && !self.values.is_empty()
    }

    /// Values of the step with this index in the run, an array each.
    pub(super) fn of_step(
        &mut self,
        engine: &(dyn Engine + 'static),
        step: usize,
        buffers: &mut Buffers,
        watch: &Watch,
    ) -> Result<Vec<Numbers>, Error> {
        let mark = watch.mark();
        let mut values = Vec::new();
        match self.values {
            Values::Numbers(all, count) => {
                for at in step * count..(step + 1) * count {
                    values.push(part(engine, all, (at, 1), buffers, watch)?);
                }
            }
            Values::Pages(pages) => {
                let left = self.steps.start + step..self.steps.end;
                for (Pages { source, len, .. }, chunk) in pages.iter().zip(&mut self.chunks) {
                    let (all, first) = match source {
                        Origin::Engine(all) => (all, 0),
                        Origin::Host(upload) => chunk.with(engine, (upload, *len), left.clone(), watch)?,
                    };
                    values.push(part(engine, all, ((left.start - first) * len, *len), buffers, watch)?);
                }
            }
        }
        watch.rewind(mark);
        Ok(values)
    }
}

/// Pages of some steps, on the engine.
#[derive(Default)]
struct Chunk {
    numbers: Option<Numbers>,
    steps: Range<usize>,
    /// Number of earlier chunks, and maximum number of pages that fit.
    before: usize,
    most: Option<usize>,
}

impl Chunk {
    /// Returns a chunk with the page of the first remaining step, and the chunk's first step.
    fn with(
        &mut self,
        engine: &(dyn Engine + 'static),
        (upload, len): (&Upload, usize),
        left: Range<usize>,
        watch: &Watch,
    ) -> Result<(&Numbers, usize), Error> {
        if !self.steps.contains(&left.start) {
            self.load(engine, (upload, len), left, watch)?;
        }
        let missing = || Error::Internal("A step without its page.".into());
        Ok((self.numbers.as_ref().ok_or_else(missing)?, self.steps.start))
    }

    /// Copies the next pages, as many as fit.
    fn load(
        &mut self,
        engine: &(dyn Engine + 'static),
        (upload, len): (&Upload, usize),
        left: Range<usize>,
        watch: &Watch,
    ) -> Result<(), Error> {
        // Its buffers are reused for the next pages.
        (self.numbers, self.steps) = (None, 0..0);
        let most = self.most.unwrap_or_else(|| (engine.piece() / len.max(1)).max(1));
        // A run allocates all of its arrays in two steps: only then is it known how many pages fit.
        let mut count = if self.before < 2 { 1 } else { most.min(left.len()) };
        loop {
            let steps = left.start..left.start + count;
            match upload(engine, steps.start * len..steps.end * len, watch) {
                Err(Error::OutOfMemory(_)) if count > 1 => {
                    count = count.div_ceil(2);
                    self.most = Some(count);
                }
                numbers => {
                    (self.numbers, self.steps) = (Some(numbers?), steps);
                    self.before += 1;
                    return Ok(());
                }
            }
        }
    }
}

/// Returns a part of an array, or the array itself if that is all of it.
fn part(
    engine: &(dyn Engine + 'static),
    all: &Numbers,
    (start, len): (usize, usize),
    buffers: &mut Buffers,
    watch: &Watch,
) -> Result<Numbers, Error> {
    if all.len() == len {
        return Ok(all.clone());
    }
    let mut part = buffers.room(engine, all.is_single(), len)?;
    let places = Places::run(start, len);
    match all {
        Numbers::Double(all) => engine.pick(all, &places, Target::Array(alone::<f64>(&mut part)?), watch),
        Numbers::Single(all) => engine.pick(all, &places, Target::Array(alone::<f32>(&mut part)?), watch),
    }?;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::cpu::Cpu;
    use crate::stencil::{Array, Source};

    /// Uploads part after part by the CPU engine, with room for `room` elements at once: returns the parts, and the
    /// values of each step.
    fn supplied(room: usize, len: usize, [before, steps]: [usize; 2]) -> (Vec<Range<usize>>, Vec<Vec<f64>>) {
        let engine: &(dyn Engine + 'static) = &Cpu::default();
        let all: Vec<f64> = (0..len * (before + steps)).map(|at| at as f64).collect();
        let parts = Arc::new(Mutex::new(Vec::new()));
        let loaded = Arc::clone(&parts);
        let upload: Box<Upload> = Box::new(move |engine, part, watch| {
            loaded.lock().unwrap().push(part.clone());
            if part.len() > room {
                return Err(Error::OutOfMemory("Out of memory: a test's".into()));
            }
            let mut array: Array<f64> = engine.array(part.len())?;
            engine.copy(Source::Host(&all[part]), Target::Array(&mut array), watch)?;
            Ok(array.into())
        });
        let values = Values::Pages(vec![Pages::of_host(upload, false, len)]);
        let mut supply = Supply::new(&values, before, steps);
        let mut buffers = Buffers { results: Vec::new(), spare: Vec::new(), noted: None };
        let watch = Watch::new();
        let pages = (0..steps).map(|step| {
            let page = supply.of_step(engine, step, &mut buffers, &watch).unwrap().remove(0);
            let mut values = vec![0.0; len];
            let Numbers::Double(array) = &page else { panic!("{page:?}") };
            engine.copy(Source::Array(&**array), Target::Host(&mut values), &watch).unwrap();
            // A step releases it like this.
            buffers.release(page);
            values
        });
        let pages = pages.collect();
        assert!(buffers.spare.len() <= 1, "{:?}", buffers.spare);
        assert_eq!(watch.done(), 0);
        drop(supply);
        drop(values);
        (Arc::into_inner(parts).unwrap().into_inner().unwrap(), pages)
    }

    #[test]
    fn pages_come_in_chunks_that_have_room() {
        let pages_of = |len: usize, steps: Range<usize>| -> Vec<Vec<f64>> {
            steps.map(|step| (step * len..(step + 1) * len).map(|at| at as f64).collect()).collect()
        };
        // Two pages alone, and the rest at once.
        let (parts, pages) = supplied(usize::MAX, 10, [3, 9]);
        assert_eq!(parts, [30..40, 40..50, 50..120]);
        assert_eq!(pages, pages_of(10, 3..12));
        // At most three pages fit.
        let (parts, pages) = supplied(35, 10, [0, 9]);
        assert_eq!(parts, [0..10, 10..20, 20..90, 20..60, 20..40, 40..60, 60..80, 80..90]);
        assert_eq!(pages, pages_of(10, 0..9));
        // A chunk is a piece of the engine's, or a page that is larger.
        let piece = Cpu::default().piece();
        assert_eq!(supplied(usize::MAX, piece / 2, [0, 6]).0.iter().map(Range::len).max(), Some(piece));
        assert_eq!(supplied(usize::MAX, piece + 1, [0, 4]).0.iter().map(Range::len).max(), Some(piece + 1));
        // Pages without elements are copied at once.
        assert_eq!(supplied(usize::MAX, 0, [0, 5]), (vec![0..0, 0..0, 0..0], vec![vec![]; 5]));
    }
}
