//! Arithmetic on arrays: a plain implementation of the contract.

use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::functions::Draw;
use crate::stencil::{
    AnySource, Array, Binary, CHUNK, Error, Expansion, Extreme, Given, Indices, LANES, Number, Operation, Order,
    Places, Real, Reduction, Scan, Target, Term, Wanted,
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

/// Writes each element of an output.
fn each_to<T: Real>(output: &mut [T], watch: &Watch, mut of: impl FnMut(usize) -> T) {
    output.iter_mut().enumerate().for_each(|(i, output)| *output = of(i));
    watch.count(output.len());
}

/// Returns the samples of an input of the output's class.
fn samples<T: Number>(input: AnySource<'_>) -> Result<&[T], Error> {
    input.source()?.samples()
}

/// Lines along the middle of three dimensions.
#[derive(Clone, Copy)]
struct LinesOf([usize; 3]);

impl LinesOf {
    fn len(self) -> usize {
        self.0[1]
    }

    fn count(self) -> usize {
        self.0[0] * self.0[2]
    }

    /// Place of an element of a line.
    fn at(self, line: usize, j: usize) -> usize {
        let [inner, length, _] = self.0;
        line % inner + inner * (j + length * (line / inner))
    }

    fn check(self, elements: usize) {
        assert_eq!(elements, self.count() * self.len());
    }
}

/// [`Engine::compute`](crate::stencil::Engine::compute) for all but filters.
pub(super) fn compute<T: Number>(what: &Given, to: Target<T>, watch: &Watch) -> Result<Option<Indices>, Error> {
    watch.check()?;
    let output = to.results()?;
    match *what {
        Operation::Fill(number) => each_to(output, watch, |_| T::from_f64(number)),
        Operation::Random(distribution, Term::Number(number), seed) => {
            let draw = Draw { distribution, number: number as u64, seed: seed as u32 };
            each_to(output, watch, |i| draw.of(i));
        }
        Operation::Each(op, from) => {
            let input = samples::<T>(from)?;
            assert_eq!(input.len(), output.len());
            each_to(output, watch, |i| op.of(input[i]));
        }
        Operation::Convert(from) => {
            let input = samples::<T::Other>(from)?;
            assert_eq!(input.len(), output.len());
            each_to(output, watch, |i| T::from_f64(input[i].to_f64()));
        }
        Operation::Pair(op, terms, expansion) => pair(op, terms, &expansion, output, watch)?,
        Operation::MultiplyAdd(weight, AnySource::Target, addend, source) => {
            let (last, addend) = (output.to_vec(), samples::<T>(addend)?);
            assert_eq!(addend.len(), last.len());
            let all = |term: Term<AnySource>| -> Result<Vec<T>, Error> {
                Ok(match term {
                    Term::Number(number) => vec![T::from_f64(number); last.len()],
                    Term::Value(of) => match samples(of)? {
                        &[number] => vec![number; last.len()],
                        many => many.to_vec(),
                    },
                })
            };
            let (weight, source) = (all(weight)?, source.map(all).transpose()?);
            each_to(output, watch, |i| {
                let next = weight[i].fma(last[i], addend[i]);
                source.as_ref().map_or(next, |source| next.plus(source[i]))
            });
        }
        Operation::Pick(places, from) => {
            let input = samples::<T>(from)?;
            assert_eq!(output.len(), places.len());
            let places = places_in(places, input.len())?;
            each_to(output, watch, |i| input[places[i]]);
        }
        Operation::Put(places, [from, AnySource::Target]) => {
            let input = samples(from)?;
            assert_eq!(input.len(), places.len());
            for (&input, place) in input.iter().zip(places_in(places, output.len())?) {
                output[place] = input;
            }
            watch.count(input.len());
        }
        Operation::Reduce(op, first, second, size) => {
            let lines = LinesOf(size);
            assert_eq!(op.of_two(), second.is_some());
            let inputs = [samples::<T>(first)?, samples(second.unwrap_or(first))?];
            inputs.iter().for_each(|input| lines.check(input.len()));
            assert_eq!(output.len(), lines.count());
            for (line, result) in output.iter_mut().enumerate() {
                let of = |lane, j| op.take(lane, inputs[0][lines.at(line, j)], inputs[1][lines.at(line, j)]);
                *result = reduced(op, lines.len(), &of);
            }
        }
        Operation::Scan(op, from, size) => {
            let (input, lines) = (samples::<T>(from)?, LinesOf(size));
            [input.len(), output.len()].iter().for_each(|&len| lines.check(len));
            for line in 0..if lines.len() > 0 { lines.count() } else { 0 } {
                let elements: Vec<T> = (0..lines.len()).map(|j| input[lines.at(line, j)]).collect();
                let results = scanned(op, &elements).into_iter().enumerate();
                results.for_each(|(j, x)| output[lines.at(line, j)] = x);
            }
            watch.count(output.len());
        }
        Operation::Sort(order, from, size, wanted) => {
            return sorted(order, samples(from)?, LinesOf(size), (output, wanted == Wanted::Places), watch);
        }
        Operation::Extreme(which, from, size, _) => {
            return extremes(which, samples(from)?, LinesOf(size), output).map(Some);
        }
        _ => return Err(Error::Internal(format!("The reference does not compute {what:?}."))),
    }
    Ok(None)
}

fn pair<T: Number>(
    op: Binary,
    terms: [Term<AnySource>; 2],
    expansion: &Expansion,
    output: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    assert_eq!(output.len(), expansion.elements());
    let mut inputs: [&[T]; 2] = [&[]; 2];
    for (which, term) in terms.iter().enumerate() {
        if let Term::Value(of) = term {
            inputs[which] = samples(*of)?;
            assert_eq!(inputs[which].len(), expansion.elements_of(which));
        }
    }
    let element = |which: usize, mut i: usize| match terms[which] {
        Term::Number(number) => T::from_f64(number),
        Term::Value(_) => {
            let along = expansion.size().into_iter().zip(expansion.steps()[which]).map(|(extent, step)| {
                let index = i % extent;
                i /= extent;
                index * step
            });
            inputs[which][along.sum::<usize>()]
        }
    };
    each_to(output, watch, |i| op.of(element(0, i), element(1, i)));
    Ok(())
}

fn extremes<T: Real>(which: Extreme, input: &[T], lines: LinesOf, output: &mut [T]) -> Result<Indices, Error> {
    lines.check(input.len());
    assert_eq!(output.len(), lines.count());
    let mut places = vec![0; output.len()];
    for (line, (result, place)) in output.iter_mut().zip(&mut places).enumerate() {
        let at = |j: usize| input[lines.at(line, j)];
        *result = if lines.len() > 0 { at(0) } else { T::from_f64(f64::NAN) };
        for j in 1..lines.len() {
            if which.prefers(at(j), *result) {
                (*result, *place) = (at(j), j as u64);
            }
        }
    }
    list_of(&places, lines.len().max(1), false)
}

fn sorted<T: Real>(
    order: Order,
    input: &[T],
    lines: LinesOf,
    (output, with_places): (&mut [T], bool),
    watch: &Watch,
) -> Result<Option<Indices>, Error> {
    [input.len(), output.len()].iter().for_each(|&len| lines.check(len));
    let mut places = vec![0; input.len()];
    for line in 0..if lines.len() > 0 { lines.count() } else { 0 } {
        let mut elements: Vec<usize> = (0..lines.len()).collect();
        elements.sort_by_key(|&j| order.key(input[lines.at(line, j)]));
        for (to, from) in elements.into_iter().enumerate() {
            (output[lines.at(line, to)], places[lines.at(line, to)]) = (input[lines.at(line, from)], from as u64);
        }
    }
    watch.count(output.len());
    with_places.then(|| list_of(&places, lines.len().max(1), lines.count() <= 1)).transpose()
}

pub(super) fn find<T: Number>(from: AnySource, watch: &Watch) -> Result<Indices, Error> {
    watch.check()?;
    let input = samples::<T>(from)?;
    let places: Vec<u64> = (0..input.len()).filter(|&i| input[i] != T::default()).map(|i| i as u64).collect();
    list_of(&places, input.len(), true)
}

pub(super) fn ordinals<T: Real>(indices: &Indices, to: Target<T>, watch: &Watch) -> Result<(), Error> {
    watch.check()?;
    let (numbers, to) = (numbers_in(indices)?, to.results()?);
    assert_eq!(numbers.len(), to.len());
    each_to(to, watch, |i| T::from_f64((numbers[i] + 1) as f64));
    Ok(())
}
