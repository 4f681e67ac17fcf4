//! Arrays of an engine: copies, outputs that are written and never read, arrays of another engine.

use stencil_mex::cpu::Cpu;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{
    Array, CoefficientSource, Compute, Convolution, Derivative, Engine, Error, Filter, Held, Lines, Number, Source,
    Target,
};

use super::checks::{
    KINDS, Outcome, POISON, check, ends_of_check, filter, is_slow, open_cuda, ordinary, results, right, samples,
    single, singles, stencil, tame,
};
use crate::common::ends::{self, AnyEngine, array_with, bits, contents};
use crate::common::selection;

/// Copies between all ends, to the last bit, NaN too.
pub fn copies(engine: &AnyEngine) -> Outcome {
    fn check_copy<T: Number>(engine: &AnyEngine, input: &[T]) -> Outcome {
        for ends in ends::ALL {
            let what = format!("{} elements of {} bytes, {ends}", input.len(), size_of::<T>());
            let watch = Watch::new();
            let output = results(engine, ends, input, T::from_f64(POISON), &watch, |engine, from, to, watch| {
                engine.arrays().copy(from, to, watch)
            })
            .map_err(|error| format!("{what}: {error}"))?;
            if let Some(i) = output.iter().zip(input).position(|(&got, &want)| bits(got) != bits(want)) {
                return Err(format!("{what}: element {i} is {:e}, not {:e}", output[i], input[i]));
            }
            if watch.done() > 0 {
                return Err(format!("{what}: {} updates were counted where nothing is computed", watch.done()));
            }
        }
        Ok(())
    }
    for count in [0, 1, 2, 1000, 4097, 70_000, 262_144, 262_145, 1_000_003] {
        let mut input = samples(count, 3);
        // NaN that say something, of either sign.
        input.iter_mut().step_by(5).for_each(|x| *x = f64::from_bits(0xFFF8_0000_E000_0000 ^ x.to_bits() >> 63 << 63));
        check_copy(engine, &input)?;
        check_copy(engine, &singles(&input))?;
    }
    Ok(())
}

/// An output full of NaN, as a host's uninitialised memory may be, leaves no trace: each element is written before it
/// is read, also where sweeps go to and fro between the output and another array.
pub fn outputs_are_not_read(engine: &AnyEngine) -> Outcome {
    let most_updates = if is_slow(engine) { 2_000_000 } else { 20_000_000 };
    fn compare<T: Number>(
        what: &str,
        engine: &AnyEngine,
        input: &[T],
        sweeps: usize,
        run: impl Fn(&AnyEngine, Source<T>, Target<T>, &Watch) -> Result<(), Error>,
    ) -> Outcome {
        if !selection::takes(what, &[&(what.split(' ').next(), size_of::<T>())]) {
            return Ok(());
        }
        let expected = right(engine, input, input.len() * sweeps, &run)?;
        for ends in ends_of_check(engine, input.len() * sweeps.max(1)) {
            let output = results(engine, ends, input, T::from_f64(f64::NAN), &Watch::new(), &run)
                .map_err(|error| format!("{what}, {ends}: {error}"))?;
            // Bits: to `same`, one NaN is as good as another.
            if let Some(i) = output.iter().zip(&expected).position(|(&got, &want)| bits(got) != bits(want)) {
                return Err(format!("{what}, {ends}: element {i} is {:e}, not {:e}", output[i], expected[i]));
            }
        }
        Ok(())
    }
    for lines in [
        Lines::new(9, 40),
        Lines::new(30_000, 3),
        Lines::strided(70, 300, 2),
        Lines::strided(3, 5, 1000),
        Lines::new(400_000, 1),
    ] {
        let input = ordinary(lines.elements(), 8);
        for boundary in KINDS {
            for (taps, sweeps) in [(3, 0), (1, 1), (21, 1), (3, 2), (3, 3), (5, 50), (3, 301)] {
                if sweeps > 1 && sweeps * lines.elements() > most_updates {
                    continue;
                }
                let what = format!("{lines:?}, {taps} taps, {boundary:?}, {sweeps} sweeps");
                let stencil = stencil(lines, &tame(taps, 9))?.with_boundary(boundary).with_sweeps(sweeps);
                compare(&what, engine, &input, sweeps, |engine, from, to, watch| {
                    engine.stencil(&stencil, from, to, watch)
                })?;
            }
            let what = format!("derivative, {lines:?}, {boundary:?}");
            let derivative = Derivative::new(lines, 0.5, CoefficientSource::Constant).with_boundary(boundary);
            compare(&what, engine, &input, 1, |engine, from, to, watch| {
                engine.derivative(&derivative, from, to, watch)
            })?;
        }
    }
    for (size, filter_size) in
        [([300, 200, 1], [3, 3, 1]), ([1100, 3, 2], [5, 1, 1]), ([40, 30, 20], [3, 3, 3]), ([7, 5, 3], [7, 7, 7])]
    {
        let input = singles(&ordinary(size.iter().product(), 10));
        let filter = filter(singles(&tame(filter_size.iter().product(), 11)), filter_size)?;
        for boundary in KINDS {
            for sweeps in [0, 1, 2, 3, 8] {
                let what = format!("convolution {size:?} by {filter_size:?}, {boundary:?}, {sweeps} sweeps");
                let convolution = Convolution::new(size, filter.clone());
                let convolution = convolution.with_boundary(single(boundary)).with_sweeps(sweeps);
                compare(&what, engine, &input, sweeps, |engine, from, to, watch| {
                    engine.convolution(&convolution, from, to, watch)
                })?;
            }
        }
    }
    Ok(())
}

/// An array that no engine holds.
#[derive(Debug)]
pub struct Elsewhere;

impl Held for Elsewhere {
    fn place(&self) -> String {
        "the test's hands".into()
    }
}

/// An array of another engine is refused by each operation, at either end, and nothing is changed.
pub fn foreign_arrays(engine: &AnyEngine) -> Outcome {
    // CUDA's where there is a device; it takes the CPU's.
    let other: Option<Box<dyn Engine>> = match engine.name() {
        "cuda" => Some(Box::new(Cpu::new())),
        _ => open_cuda().ok().map(|cuda| Box::new(cuda) as _),
    };
    // Small, and in several pieces.
    for size in [[20, 15, 1], [400, 300, 1]] {
        let lines =
            [Lines::new(size[0], size[1]), Lines::strided(size[0], size[1], 1), Lines::new(size[0] * size[1], 1)];
        let entries = tame(9, 2);
        let mut in_double = operations(engine, lines[0], size, filter(entries.clone(), [3, 3, 1])?);
        let in_single = operations(engine, lines[0], size, filter(singles(&entries), [3, 3, 1])?);
        for lines in lines {
            for sweeps in [0, 1, 3] {
                let stencil = stencil(lines, &tame(5, 2))?.with_sweeps(sweeps);
                let run =
                    move |from: Source<f64>, to: Target<f64>, watch: &Watch| engine.stencil(&stencil, from, to, watch);
                in_double.push((format!("{lines:?}, {sweeps} sweeps"), Box::new(run)));
            }
        }
        for other in [None, other.as_deref()] {
            let input = ordinary(size.iter().product(), 1);
            check_foreign(engine, other, &input, &in_double)?;
            check_foreign(engine, other, &singles(&input), &in_single)?;
        }
        ends::each(|| check(engine, &samples(lines[0].elements(), 1), lines[0], &[1.0, 2.0, 3.0]))?;
    }
    Ok(())
}

/// An operation of one engine, and its name.
type Operation<'a, T> = (String, Box<dyn Fn(Source<T>, Target<T>, &Watch) -> Result<(), Error> + 'a>);

/// All operations that there are in both classes.
fn operations<T: Number>(
    engine: &AnyEngine,
    lines: Lines,
    size: [usize; 3],
    filter: Filter<T>,
) -> Vec<Operation<'_, T>> {
    let mut all: Vec<Operation<T>> =
        vec![("copy".into(), Box::new(|from, to, watch| engine.arrays().copy(from, to, watch)))];
    let derivative = Derivative::new(lines, 0.1, CoefficientSource::Constant);
    let run = move |from: Source<T>, to: Target<T>, watch: &Watch| engine.derivative(&derivative, from, to, watch);
    all.push(("derivative".into(), Box::new(run)));
    for sweeps in [0, 1, 3] {
        let convolution = Convolution::new(size, filter.clone()).with_sweeps(sweeps);
        let run =
            move |from: Source<T>, to: Target<T>, watch: &Watch| engine.convolution(&convolution, from, to, watch);
        all.push((format!("convolution, {sweeps} sweeps"), Box::new(run)));
    }
    all
}

/// Whose an end of an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Host,
    Own,
    Foreign,
}

/// Gives the operations arrays of the other engine, or none.
fn check_foreign<T: Number>(
    engine: &AnyEngine,
    other: Option<&AnyEngine>,
    input: &[T],
    operations: &[Operation<T>],
) -> Outcome {
    let show = |error: Error| error.to_string();
    let blank = vec![T::from_f64(POISON); input.len()];
    let foreign = |samples: &[T]| match other {
        Some(other) => array_with(other, samples),
        None => Ok(Array::new(Elsewhere, samples.len())),
    };
    let mut host = blank.clone();
    let own_from = array_with(engine, input).map_err(show)?;
    let mut own_to = array_with(engine, &blank).map_err(show)?;
    let foreign_from = foreign(input).map_err(show)?;
    let mut foreign_to = foreign(&blank).map_err(show)?;
    let refused = Err(Error::Foreign(foreign_from.place()));
    let all = [Whose::Host, Whose::Own, Whose::Foreign];
    let pairs: Vec<_> = all.iter().flat_map(|&from| all.map(|to| (from, to))).collect();
    for (what, run) in operations {
        for &(from, to) in pairs.iter().filter(|(from, to)| [*from, *to].contains(&Whose::Foreign)) {
            let what = format!("{what} of {} elements, {from:?} to {to:?}, {}", input.len(), foreign_from.place());
            let source = match from {
                Whose::Host => Source::Host(input),
                Whose::Own => Source::Array(&own_from),
                Whose::Foreign => Source::Array(&foreign_from),
            };
            let target = match to {
                Whose::Host => Target::Host(&mut host),
                Whose::Own => Target::Array(&mut own_to),
                Whose::Foreign => Target::Array(&mut foreign_to),
            };
            let watch = Watch::new();
            let outcome = run(source, target, &watch);
            if outcome != refused || watch.done() > 0 {
                return Err(format!("{what}: {outcome:?}, and {} updates were counted", watch.done()));
            }
        }
        let of_other = |array| other.map(|other| contents(other, array)).transpose();
        let kept = [
            (Some(host.clone()), &blank[..]),
            (Some(contents(engine, &own_from).map_err(show)?), input),
            (Some(contents(engine, &own_to).map_err(show)?), &blank),
            (of_other(&foreign_from).map_err(show)?, input),
            (of_other(&foreign_to).map_err(show)?, &blank),
        ];
        let changed = |(now, before): &(Option<Vec<T>>, &[T])| {
            now.iter().flatten().zip(*before).any(|(&now, &before)| bits(now) != bits(before))
        };
        if let Some(at) = kept.iter().position(changed) {
            let name = ["the host's output", "the input", "the output", "the foreign input", "the foreign output"][at];
            return Err(format!("{what} of {} elements, which was refused, has changed {name}", input.len()));
        }
    }
    Ok(())
}
