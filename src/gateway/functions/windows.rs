//! Outputs of another size than their input, for `'Shape'`.

use std::sync::Arc;

use crate::gateway::dims::{check_fits, too_large};
use crate::gateway::engine::DynEngine;
use crate::mex::Error;
use crate::pieces;
use crate::platform::watch::Watch;
use crate::stencil::{
    self, Array, Boundary, Compute, Number, Places, RANK, Section, Shape, Sides, Source, Target, Window,
};

/// Returns the size of the output.
///
/// # Errors
/// `outOfMemory` if no memory can hold it.
pub(super) fn output_size(window: &Window) -> Result<[usize; 3], Error> {
    let size = window.size().ok_or_else(too_large)?;
    check_fits(&size).map(|()| size)
}

/// Ghost values at both ends of each dimension: those of an array's sides, or numbers that a step computes.
pub(super) struct Ghosts<T: Number> {
    pub(super) sides: Sides<T>,
    pub(super) numbers: [[Option<Arc<Array<T>>>; 2]; 3],
}

impl<T: Number> From<Sides<T>> for Ghosts<T> {
    fn from(sides: Sides<T>) -> Ghosts<T> {
        Ghosts { sides, numbers: Default::default() }
    }
}

/// Computes a window's outputs where the samples lie. `pass` computes the outputs of any array, with any boundary.
pub(super) fn compute<T: Number>(
    engine: &DynEngine,
    window: &Window,
    ghosts: &Ghosts<T>,
    (from, to): (Source<T>, Target<T>),
    watch: &Watch,
    pass: impl Fn([usize; 3], Source<T>, Target<T>) -> Result<(), stencil::Error>,
) -> Result<(), stencil::Error> {
    if to.is_empty() {
        return Ok(watch.check()?);
    }
    match (from, to) {
        (Source::Host(from), Target::Host(to)) => {
            pieces::run((window, engine.piece()), ghosts.sides, from, to, watch, |size, from, to| {
                pass(size, from.into(), to.into())
            })
        }
        (Source::Array(from), Target::Array(to)) => {
            let mark = watch.mark();
            let enlarged = match window.shape() {
                Shape::Valid => None,
                Shape::Full | Shape::Same => Some(Enlarged::new(engine, window, ghosts, from, watch)?),
            };
            let (size, samples) =
                enlarged.as_ref().map_or((window.input(), from), |enlarged| (enlarged.size, &enlarged.samples));
            let (margin, first) = (if enlarged.is_some() { window.others() } else { [0; 3] }, window.first_sample());
            let start = [0, 1, 2].map(|d| margin[d].wrapping_add_signed(first[d]) + window.before()[d]);
            let mut results = engine.arrays::<T>().array(samples.len())?;
            pass(size, samples.into(), Target::Array(&mut results))?;
            drop(enlarged);
            let inside = section(size, start, window.size().unwrap_or_default());
            let written = to.len();
            engine.pick(&results, &inside, Target::Array(to), watch)?;
            // Only the outputs count, not all that was computed and copied for them.
            watch.rewind(mark);
            watch.count(written);
            Ok(())
        }
        (from, _) => Err(stencil::Error::Internal(format!("{} samples and their results in two places", from.len()))),
    }
}

/// Does `pass` for each of `count` volumes behind each other in both arrays, either of which the host may own.
pub(super) fn each_volume<T: Number>(
    engine: &DynEngine,
    count: usize,
    (from, mut to): (Source<T>, Target<T>),
    watch: &Watch,
    pass: impl Fn(Source<T>, Target<T>) -> Result<(), stencil::Error>,
) -> Result<(), stencil::Error> {
    if count == 1 {
        return pass(from, to);
    }
    if to.is_empty() {
        return Ok(watch.check()?);
    }
    let lens = [from.len() / count, to.len() / count];
    // A volume of the engine's array is copied to an array of its own, and its results back.
    let of_engine = |array: bool, len| array.then(|| engine.arrays::<T>().array(len)).transpose();
    let mut samples = of_engine(matches!(from, Source::Array(_)), lens[0])?;
    let mut results = of_engine(matches!(to, Target::Array(_)), lens[1])?;
    for i in 0..count {
        let [of_samples, of_results] = lens.map(|len| section([len, count, 1], [0, i, 0], [len, 1, 1]));
        let from = match (from, samples.as_mut()) {
            (Source::Array(from), Some(samples)) => {
                // Copies do not count.
                let mark = watch.mark();
                engine.pick(from, &of_samples, Target::Array(samples), watch)?;
                watch.rewind(mark);
                Source::Array(samples)
            }
            (Source::Host(from), _) => from[i * lens[0]..][..lens[0]].into(),
            (Source::Array(_), None) => return Err(stencil::Error::Internal("A volume without a place.".into())),
        };
        match (&mut to, results.as_mut()) {
            (Target::Array(to), Some(results)) => {
                pass(from, Target::Array(results))?;
                let mark = watch.mark();
                engine.put(Source::Array(results), &of_results, to, watch)?;
                watch.rewind(mark);
            }
            (Target::Host(to), _) => pass(from, (&mut to[i * lens[1]..][..lens[1]]).into())?,
            (Target::Array(_), None) => return Err(stencil::Error::Internal("A volume without a place.".into())),
        }
    }
    Ok(())
}

/// One number at an end: known, or computed by a step.
enum Ghost<T> {
    Constant(T),
    Number(Arc<Array<T>>),
}

impl<T: Number> Ghost<T> {
    fn same(&self, other: &Ghost<T>) -> bool {
        match (self, other) {
            (Ghost::Constant(a), Ghost::Constant(b)) => Boundary::Constant(*a).same(Boundary::Constant(*b)),
            (Ghost::Number(a), Ghost::Number(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Fills an array with this number.
    fn fill(&self, engine: &DynEngine, to: &mut Array<T>, watch: &Watch) -> Result<(), stencil::Error> {
        match self {
            Ghost::Constant(value) => engine.fill(*value, to, watch),
            Ghost::Number(number) => {
                let mut same = Section { start: 0, size: [1; RANK], steps: [0; RANK] };
                same.size[0] = to.len();
                engine.pick(number, &Places::Section(same), Target::Array(to), watch)
            }
        }
    }
}

/// An engine's array with ghost values around it, as far as the outermost outputs of the window reach.
struct Enlarged<T> {
    samples: Array<T>,
    size: [usize; 3],
}

impl<T: Number> Enlarged<T> {
    fn new(
        engine: &DynEngine,
        window: &Window,
        Ghosts { sides, numbers }: &Ghosts<T>,
        from: &Array<T>,
        watch: &Watch,
    ) -> Result<Enlarged<T>, stencil::Error> {
        let (input, margin) = (window.input(), window.others());
        let size = [0, 1, 2].map(|d| input[d] + 2 * margin[d]);
        let mut samples = engine.arrays::<T>().array(size.iter().product())?;
        // One number on all sides is written by one launch.
        let ghost = |(number, end): (&Option<Arc<Array<T>>>, Boundary<T>)| match (number, end) {
            (Some(number), _) => Some(Ghost::Number(Arc::clone(number))),
            (None, Boundary::Constant(value)) => Some(Ghost::Constant(value)),
            _ => None,
        };
        let of = |d: usize| numbers[d].iter().zip(sides[d].both()).map(ghost);
        let mut ends = (0..3).filter(|&d| margin[d] > 0).flat_map(of);
        let everywhere = ends.next().flatten().filter(|first| ends.all(|end| end.is_some_and(|end| end.same(first))));
        everywhere.as_ref().map_or(Ok(()), |ghost| ghost.fill(engine, &mut samples, watch))?;
        engine.put(Source::Array(from), &section(size, margin, input), &mut samples, watch)?;
        if everywhere.is_some() {
            return Ok(Enlarged { samples, size });
        }
        // Along one dimension after the other a plane of ghost values is a constant, or a copy of the plane of its
        // samples. The planes of later dimensions include those of earlier ones.
        let (mut first, mut extent) = (margin, input);
        for d in 0..3 {
            if margin[d] > 0 {
                let plane = |at: usize| {
                    let (mut first, mut extent) = (first, extent);
                    (first[d], extent[d]) = (at, 1);
                    section(size, first, extent)
                };
                let mut copy = engine.arrays::<T>().array(plane(0).len())?;
                for ghost in (0..margin[d]).chain(margin[d] + input[d]..size[d]) {
                    match sides[d].sample_at(ghost as isize - margin[d] as isize, input[d]) {
                        Ok(at) => engine.pick(&samples, &plane(margin[d] + at), Target::Array(&mut copy), watch)?,
                        Err(constant) => {
                            let number = numbers[d][usize::from(ghost >= margin[d])].clone();
                            let ghost = number.map_or(Ghost::Constant(constant), Ghost::Number);
                            ghost.fill(engine, &mut copy, watch)?;
                        }
                    }
                    engine.put(Source::Array(&copy), &plane(ghost), &mut samples, watch)?;
                }
            }
            (first[d], extent[d]) = (0, size[d]);
        }
        Ok(Enlarged { samples, size })
    }
}

/// Returns a box of an array of this size.
fn section(size: [usize; 3], first: [usize; 3], extent: [usize; 3]) -> Places {
    let steps = [1, size[0], size[0] * size[1]];
    let mut section = Section { start: (0..3).map(|d| first[d] * steps[d]).sum(), size: [1; RANK], steps: [0; RANK] };
    for d in 0..3 {
        (section.size[d], section.steps[d]) = (extent[d], steps[d] as isize);
    }
    Places::Section(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_beyond_memory_are_errors() {
        let size = |input| output_size(&Window::new(Shape::Full, input, [3, 1, 1]));
        assert_eq!(size([2, 3, 4]), Ok([4, 3, 4]));
        assert_eq!(size([0, usize::MAX, 4]), Ok([0, usize::MAX, 4]));
        assert_eq!(size([1 << 40, 1 << 20, 1]).unwrap_err().kind, "outOfMemory");
    }
}
