//! Arithmetic on arrays: a plain implementation of the contract.

use super::Reference;
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::functions::Draw;
use crate::stencil::{
    Arithmetic, Array, Binary, CHUNK, Error, Expansion, Extreme, Indices, LANES, Operand, Order, Places, Real,
    Reduction, Scan, Source, Target, Unary,
};

/// Reduces elements: each chunk to one number, and those to one number in the end, in the order of [`Reduction`].
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

/// Lists the places in their order, after a check that they lie within an array of `elements` elements.
fn places_in(places: &Places, elements: usize) -> Result<Vec<usize>, Error> {
    assert!(places.are_within(elements), "places outside an array of {elements} elements");
    Ok(match places {
        Places::List(list) => list.iter().map(|&place| place as usize).collect(),
        Places::Held(list) => numbers_in(list)?.iter().map(|&place| place as usize).collect(),
        Places::Section(section) => section.places().collect(),
    })
}

/// Numbers of a list in ordinary memory.
fn numbers_in(indices: &Indices) -> Result<&[u64], Error> {
    indices.held().held::<Pooled<u64>>().map(|numbers| &**numbers)
}

/// Makes a list of these numbers.
fn list_of(numbers: &[u64], bound: usize, distinct: bool) -> Result<Indices, Error> {
    let mut held = Array::<u64>::in_memory(numbers.len())?;
    held.held_mut::<Pooled<u64>>()?.copy_from_slice(numbers);
    Ok(Indices::new(held, bound, distinct))
}

/// Scans elements, in the order of [`Scan`].
fn scanned<T: Real>(op: Scan, elements: &[T]) -> Vec<T> {
    let join = |ahead: Option<T>, x: T| ahead.map_or(x, |ahead| op.join(ahead, x));
    let mut results: Vec<T> = Vec::new();
    for chunk in elements.chunks(CHUNK) {
        let mut groups = None;
        for group in chunk.chunks(LANES) {
            let mut before = None;
            for &x in group {
                before = Some(join(before, x));
                results.extend(before.map(|own| join(groups, own)));
            }
            groups = results.last().copied();
        }
    }
    let lasts: Vec<T> = results.chunks(CHUNK).map(|chunk| chunk[chunk.len() - 1]).collect();
    if lasts.len() > 1 {
        let ahead = scanned(op, &lasts);
        results[CHUNK..].chunks_mut(CHUNK).zip(ahead).for_each(|(chunk, ahead)| {
            chunk.iter_mut().for_each(|x| *x = op.join(ahead, *x));
        });
    }
    results
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

    fn extremes(
        &self,
        which: Extreme,
        from: &Array<T>,
        size: [usize; 3],
        to: Target<T>,
        watch: &Watch,
    ) -> Result<Indices, Error> {
        watch.check()?;
        let [inner, length, outer] = size;
        let (input, to) = (from.held::<Pooled<T>>()?, to.results()?);
        assert_eq!([input.len(), to.len()], [inner * length * outer, inner * outer]);
        let mut places = vec![0; to.len()];
        for (number, (result, place)) in to.iter_mut().zip(&mut places).enumerate() {
            let at = |j: usize| input[number % inner + inner * (j + length * (number / inner))];
            *result = if length > 0 { at(0) } else { T::from_f64(f64::NAN) };
            for j in 1..length {
                if which.prefers(at(j), *result) {
                    (*result, *place) = (at(j), j as u64);
                }
            }
        }
        list_of(&places, length.max(1), false)
    }

    fn scan(&self, op: Scan, from: &Array<T>, size: [usize; 3], to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        watch.check()?;
        let [inner, length, outer] = size;
        let (input, output) = (from.held::<Pooled<T>>()?, to.held_mut::<Pooled<T>>()?);
        assert_eq!([input.len(), output.len()], [inner * length * outer; 2]);
        for number in 0..if length > 0 { inner * outer } else { 0 } {
            let first = number % inner + inner * length * (number / inner);
            let line: Vec<T> = (0..length).map(|j| input[first + inner * j]).collect();
            scanned(op, &line).into_iter().enumerate().for_each(|(j, x)| output[first + inner * j] = x);
        }
        watch.count(output.len());
        Ok(())
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
        watch.check()?;
        let [inner, length, outer] = size;
        let (input, output) = (from.held::<Pooled<T>>()?, to.held_mut::<Pooled<T>>()?);
        assert_eq!([input.len(), output.len()], [inner * length * outer; 2]);
        let mut places = vec![0; input.len()];
        for number in 0..if length > 0 { inner * outer } else { 0 } {
            let at = |place: usize| number % inner + inner * (place + length * (number / inner));
            let mut line: Vec<usize> = (0..length).collect();
            line.sort_by_key(|&place| order.key(input[at(place)]));
            for (to, from) in line.into_iter().enumerate() {
                (output[at(to)], places[at(to)]) = (input[at(from)], from as u64);
            }
        }
        watch.count(output.len());
        with_places.then(|| list_of(&places, length.max(1), inner * outer <= 1)).transpose()
    }

    fn find(&self, from: &Array<T>, watch: &Watch) -> Result<Indices, Error> {
        watch.check()?;
        let input = from.held::<Pooled<T>>()?;
        let places: Vec<u64> = (0..input.len()).filter(|&i| input[i] != T::default()).map(|i| i as u64).collect();
        list_of(&places, input.len(), true)
    }

    fn ordinals(&self, indices: &Indices, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        watch.check()?;
        let (numbers, to) = (numbers_in(indices)?, to.results()?);
        assert_eq!(numbers.len(), to.len());
        to.iter_mut().zip(numbers).for_each(|(to, &number)| *to = T::from_f64((number + 1) as f64));
        watch.count(to.len());
        Ok(())
    }

    fn fill(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        each_to(to, watch, |_| value)
    }

    fn random(&self, draw: Draw, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        each_to(to, watch, |i| draw.of(i))
    }

    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        watch.check()?;
        let (input, output) = (from.held::<Pooled<T>>()?, to.results()?);
        assert_eq!(output.len(), places.len());
        for (output, place) in output.iter_mut().zip(places_in(places, input.len())?) {
            *output = input[place];
        }
        watch.count(output.len());
        Ok(())
    }

    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        watch.check()?;
        let (input, output) = (from.samples()?, to.held_mut::<Pooled<T>>()?);
        assert_eq!(input.len(), places.len());
        for (&input, place) in input.iter().zip(places_in(places, output.len())?) {
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
