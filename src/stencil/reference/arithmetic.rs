//! Arithmetic on arrays, as plainly as the contract can be written down.

use super::Reference;
use crate::memory::pool::Pooled;
use crate::stencil::{
    Arithmetic, Array, Binary, CHUNK, Error, Expansion, LANES, Operand, Places, Real, Reduction, Source, Target, Unary,
};
use crate::watch::Watch;

/// So many elements, of which each chunk becomes one number, and those one number in the end: in the order of
/// [`Reduction`].
fn reduced<T: Real>(op: Reduction, elements: usize, take: &dyn Fn(T, usize) -> T) -> T {
    let chunks = (0..elements.max(1)).step_by(CHUNK).map(|first| {
        let mut lanes = [op.start(); LANES];
        for i in first..elements.min(first + CHUNK) {
            lanes[i % LANES] = take(lanes[i % LANES], i);
        }
        for half in [16, 8, 4, 2, 1] {
            for lane in 0..half {
                lanes[lane] = op.join(lanes[lane], lanes[lane + half]);
            }
        }
        lanes[0]
    });
    let results: Vec<T> = chunks.collect();
    match results[..] {
        [result] => result,
        _ => reduced(op, results.len(), &|lane, i| op.join(lane, results[i])),
    }
}

/// The places in their order, each checked to lie within an array of `elements` elements.
fn places_in(places: &Places, elements: usize) -> Vec<usize> {
    assert!(places.are_within(elements), "places outside an array of {elements} elements");
    match places {
        Places::List(list) => list.iter().map(|&place| place as usize).collect(),
        Places::Section(section) => (0..places.len())
            .map(|mut number| {
                let along = section.size.iter().zip(section.steps).map(|(&extent, step)| {
                    let index = number % extent;
                    number /= extent;
                    index as isize * step
                });
                section.start.checked_add_signed(along.sum()).expect("it was checked to be a place")
            })
            .collect(),
    }
}

/// Writes each element of an array.
fn each_to<T: Real>(to: &mut Array<T>, watch: &Watch, mut of: impl FnMut(usize) -> T) -> Result<(), Error> {
    watch.check()?;
    let output = to.held_mut::<Pooled<T>>()?;
    output.iter_mut().enumerate().for_each(|(i, output)| *output = of(i));
    watch.count(output.len());
    Ok(())
}

impl<T: Real> Arithmetic<T> for Reference {
    fn unary(&self, op: Unary, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let input = from.held::<Pooled<T>>()?;
        assert_eq!(input.len(), to.len());
        each_to(to, watch, |i| op.of(input[i]))
    }

    fn binary(
        &self,
        op: Binary,
        operands: [Operand<T>; 2],
        expansion: &Expansion,
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!(to.len(), expansion.elements());
        let mut inputs: [&[T]; 2] = [&[]; 2];
        for (which, operand) in operands.iter().enumerate() {
            if let Operand::Array(array) = operand {
                assert_eq!(array.len(), expansion.elements_of(which));
                inputs[which] = array.held::<Pooled<T>>()?;
            }
        }
        let element = |which: usize, mut i: usize| match operands[which] {
            Operand::Scalar(value) => value,
            Operand::Array(_) => {
                let along = expansion.size().into_iter().zip(expansion.steps()[which]).map(|(extent, step)| {
                    let index = i % extent;
                    i /= extent;
                    index * step
                });
                inputs[which][along.sum::<usize>()]
            }
        };
        each_to(to, watch, |i| op.of(element(0, i), element(1, i)))
    }

    fn advance(
        &self,
        step: &Array<T>,
        weight: T,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let step = step.held::<Pooled<T>>()?;
        assert_eq!(step.len(), older.len());
        let last = older.held::<Pooled<T>>()?.to_vec();
        let source = match source {
            None => None,
            Some(Operand::Scalar(value)) => Some(vec![value; last.len()]),
            Some(Operand::Array(array)) => Some(array.held::<Pooled<T>>()?.to_vec()),
        };
        each_to(older, watch, |i| {
            let next = weight.fma(last[i], step[i]);
            source.as_ref().map_or(next, |source| next.plus(source[i]))
        })
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
        watch.check()?;
        let [inner, length, outer] = size;
        assert_eq!(op.of_two(), second.is_some());
        let inputs = [first.held::<Pooled<T>>()?, second.unwrap_or(first).held::<Pooled<T>>()?];
        assert_eq!(inputs.map(|input| input.len()), [inner * length * outer; 2]);
        let to = to.results()?;
        assert_eq!(to.len(), inner * outer);
        for (number, result) in to.iter_mut().enumerate() {
            let at = |j: usize| number % inner + inner * (j + length * (number / inner));
            *result = reduced(op, length, &|lane, j| op.take(lane, inputs[0][at(j)], inputs[1][at(j)]));
        }
        Ok(())
    }

    fn fill(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        each_to(to, watch, |_| value)
    }

    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        watch.check()?;
        let (input, output) = (from.held::<Pooled<T>>()?, to.results()?);
        assert_eq!(output.len(), places.len());
        for (output, place) in output.iter_mut().zip(places_in(places, input.len())) {
            *output = input[place];
        }
        watch.count(output.len());
        Ok(())
    }

    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        watch.check()?;
        let (input, output) = (from.samples()?, to.held_mut::<Pooled<T>>()?);
        assert_eq!(input.len(), places.len());
        for (&input, place) in input.iter().zip(places_in(places, output.len())) {
            output[place] = input;
        }
        watch.count(input.len());
        Ok(())
    }

    fn convert(&self, from: &Array<T::Other>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        let input = from.held::<Pooled<T::Other>>()?;
        assert_eq!(input.len(), to.len());
        each_to(to, watch, |i| T::from_f64(input[i].to_f64()))
    }
}
