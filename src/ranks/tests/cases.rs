//! Test cases: distributed arrays, operators over them, and the results of all ranks.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::counting::Counting;
use crate::cpu::Cpu;
use crate::partition::{Around, Parts, Planes};
use crate::platform::watch::Watch;
use crate::ranks::costs::{Costs, Way};
use crate::ranks::fake::World;
use crate::ranks::{Along, Others, Passed, Plan, Whole, run};
use crate::stencil::{
    Arrays, Boundary, CoefficientSource, Compute, Convolution, Derivative, Ends, Engine, Error, Filter, Lines, Number,
    Reference, Sides, Source, Stencil, Taps, Target,
};

/// Operator of any kind to sweep.
#[derive(Clone)]
pub(super) enum Operator<T> {
    /// Taps along a dimension; for doubles only.
    Stencil(Vec<f64>, usize, Ends<f64>),
    Derivative(usize, Ends<T>),
    Convolution(Filter<T>, Sides<T>),
}

/// Kept short, for the output of a failed property.
impl<T: fmt::Debug> fmt::Debug for Operator<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operator::Stencil(taps, dim, ends) => write!(f, "{taps:?} along {dim}, {ends:?}"),
            Operator::Derivative(dim, ends) => write!(f, "derivative along {dim}, {ends:?}"),
            Operator::Convolution(filter, sides) => write!(f, "{filter:?}, {sides:?}"),
        }
    }
}

/// Place of a rank's arrays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Where {
    Host,
    /// The engine's arrays, in ordinary memory.
    Engine,
    /// On a (fake) device.
    Far,
    /// The host's arrays, computed on a (fake) device; true if it has room for them.
    HostToFar(bool),
    /// From the host's to the engine's, and the reverse.
    HostToArray,
    ArrayToHost,
}

pub(super) const PLACES: [Where; 7] = [
    Where::Host,
    Where::Engine,
    Where::Far,
    Where::HostToFar(true),
    Where::HostToFar(false),
    Where::HostToArray,
    Where::ArrayToHost,
];

/// A class for which the reference and the ranks have all operators.
pub(super) trait Class: Number {
    /// Sweeps the operator over an array of these dimensions, by an engine.
    fn sweep(
        engine: &(dyn Engine + 'static),
        what: &Operator<Self>,
        dims: &[usize],
        sweeps: usize,
        from: &[Self],
        to: &mut [Self],
    );

    /// The operator for the ranks.
    fn whole<'a>(what: &Operator<Self>, plan: &Plan, sweeps: usize) -> Whole<'a, Self>;
}

pub(super) fn size(dims: &[usize]) -> [usize; 3] {
    std::array::from_fn(|d| dims.get(d).copied().unwrap_or(1))
}

pub(super) fn stencil(taps: &[f64], dim: usize, ends: Ends<f64>, dims: &[usize], sweeps: usize) -> Stencil {
    let lines = Lines::along(dims, dim);
    Stencil::new(lines, Taps::new(taps).unwrap()).with_boundary(ends).with_sweeps(sweeps)
}

macro_rules! class {
    ($type:ty, $stencil:expr, $whole:expr) => {
        impl Class for $type {
            fn sweep(
                engine: &(dyn Engine + 'static),
                what: &Operator<$type>,
                dims: &[usize],
                sweeps: usize,
                from: &[$type],
                to: &mut [$type],
            ) {
                let (from, to, watch) = (Source::Host(from), Target::Host(to), &Watch::new());
                match what {
                    Operator::Stencil(taps, dim, ends) => {
                        let what = stencil(taps, *dim, *ends, dims, sweeps);
                        let run: fn(&(dyn Engine + 'static), &Stencil, Source<$type>, Target<$type>) = $stencil;
                        run(engine, &what, from, to);
                    }
                    Operator::Derivative(dim, ends) => {
                        let what = Derivative::new(Lines::along(dims, *dim), 0.5, CoefficientSource::Constant);
                        engine.derivative(&what.with_boundary(*ends), from, to, watch).unwrap();
                    }
                    Operator::Convolution(filter, sides) => {
                        let what = Convolution::new(size(dims), filter.clone());
                        let what = what.with_boundary(*sides).with_sweeps(sweeps);
                        engine.convolution(&what, from, to, watch).unwrap();
                    }
                }
            }

            fn whole<'a>(what: &Operator<$type>, plan: &Plan, sweeps: usize) -> Whole<'a, $type> {
                match what {
                    Operator::Stencil(taps, dim, ends) => {
                        let what = stencil(taps, *dim, *ends, plan.dims(), sweeps);
                        let whole: fn(&Plan, usize, Stencil) -> Whole<'a, $type> = $whole;
                        whole(plan, *dim, what)
                    }
                    Operator::Derivative(dim, ends) => {
                        let lines = Lines::along(plan.dims(), *dim);
                        let what = Derivative::new(lines, 0.5, CoefficientSource::Constant);
                        Whole::derivative(plan, *dim, what.with_boundary(*ends))
                    }
                    Operator::Convolution(filter, sides) => {
                        let what = Convolution::new(size(plan.dims()), filter.clone());
                        Whole::convolution(plan, what.with_boundary(*sides).with_sweeps(sweeps))
                    }
                }
            }
        }
    };
}

class!(f64, |engine, what, from, to| engine.stencil(what, from, to, &Watch::new()).unwrap(), Whole::stencil);
class!(f32, |_, _, _, _| unreachable!("stencils are of doubles"), |_, _, _| unreachable!("stencils are of doubles"));

/// A distributed array, with an operator and the conditions.
#[derive(Debug, Clone)]
pub(super) struct Case<T> {
    /// Dimensions of the whole; that of `dim` is the sum of `lengths`.
    pub(super) dims: Vec<usize>,
    pub(super) dim: usize,
    pub(super) lengths: Vec<usize>,
    pub(super) what: Operator<T>,
    pub(super) sweeps: usize,
    pub(super) place: Where,
    pub(super) late: bool,
    /// True if messages may lie on a (fake) device.
    pub(super) reach: bool,
    pub(super) costs: Costs,
}

/// Results and counts of all ranks for a case.
#[derive(Default)]
pub(super) struct Made<T> {
    pub(super) results: Vec<T>,
    /// Counts of each rank.
    pub(super) updates: Vec<u64>,
    pub(super) calls: Vec<u64>,
    pub(super) from_host: Vec<u64>,
    /// Number of messages that lay on a (fake) device.
    pub(super) from_devices: usize,
    /// True if computed in place, with strips, in several rounds.
    pub(super) in_place: Vec<bool>,
}

impl<T: Class> Case<T> {
    /// Samples between -1 and 1.
    pub(super) fn samples(&self) -> Vec<T> {
        let count: usize = self.dims.iter().product();
        let mut seed = count as u64 + 7;
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
        };
        (0..count).map(|_| T::from_f64(draw())).collect()
    }

    /// Elements of each rank's part.
    pub(super) fn parts(&self, whole: &[T]) -> Vec<Vec<T>> {
        let part = |rank| self.places(rank).flat_map(|run| whole[run].to_vec()).collect();
        (0..self.lengths.len()).map(part).collect()
    }

    /// Places in the whole of a rank's elements, in order.
    fn places(&self, rank: usize) -> impl Iterator<Item = Range<usize>> {
        let around = Around::new(&self.dims, self.dim);
        around.elements(Planes::run(Parts::new(&self.lengths).unwrap().part(rank), self.dims[self.dim]))
    }

    pub(super) fn part_dims(&self, rank: usize) -> Vec<usize> {
        let mut dims = self.dims.clone();
        dims[self.dim] = self.lengths[rank];
        dims
    }

    /// Runs the case on all ranks.
    pub(super) fn made(&self, samples: &[T]) -> Result<Made<T>, String> {
        let parts = self.parts(samples);
        let world = World::new(self.lengths.len(), self.late).reaching_devices(self.reach);
        let of_rank = |others: &dyn Others| {
            let rank = others.rank();
            let (part, dims, watch) = (&parts[rank], self.part_dims(rank), Watch::new());
            let far = matches!(self.place, Where::Far | Where::HostToFar(_));
            let engine = Counting::new(Cpu::new(), far, self.place != Where::HostToFar(false));
            let along = Along::Dim(self.dim);
            let plan = Plan::agree(others, &Passed { dims: &dims, along, said: &[], filter: &[] }, &watch)?;
            let mut whole = T::whole(&self.what, &plan, self.sweeps);
            whole.swept.costs = self.costs;
            // Elements that were not written are detected.
            let poison = T::from_f64(-1.25e-30);
            let mut results = vec![poison; part.len()];
            let (from_array, to_array) = match self.place {
                Where::Host | Where::HostToFar(_) => (false, false),
                Where::Engine | Where::Far => (true, true),
                Where::HostToArray => (false, true),
                Where::ArrayToHost => (true, false),
            };
            let array = |samples: &[T]| {
                let mut array = Arrays::<T>::array(&engine, samples.len())?;
                Arrays::copy(&engine, Source::Host(samples), Target::Array(&mut array), &Watch::new())?;
                Ok::<_, Error>(array)
            };
            let (from, mut to) = (array(part)?, array(&results)?);
            run(
                others,
                &engine,
                &whole,
                if from_array { Source::Array(&from) } else { Source::Host(part) },
                if to_array { Target::Array(&mut to) } else { Target::Host(&mut results) },
                &watch,
            )?;
            if to_array {
                Arrays::copy(&engine, Source::Array(&to), Target::Host(&mut results), &Watch::new())?;
            }
            let swept = &whole.swept;
            let rounds = swept.rounds(self.sweeps.max(1), self.costs.exchange);
            let way = swept.around(rank, rounds).0;
            let in_place = swept.radius > 0 && rounds.count() > 1 && way == Way::Strips && part.len() < samples.len();
            let counts = [&engine.updates, &engine.calls, &engine.from_host];
            Ok((results, watch.done(), counts.map(|count| count.load(Ordering::Relaxed)), in_place))
        };
        let mut made = Made { results: samples.to_vec(), ..Made::default() };
        let sweeps = if matches!(self.what, Operator::Derivative(..)) { 1 } else { self.sweeps };
        for (rank, of_rank) in world.run(|others| of_rank(others)).into_iter().enumerate() {
            let (results, counted, [updates, calls, from_host], in_place) =
                of_rank.map_err(|error| format!("rank {rank}: {error}"))?;
            if counted != (results.len() * sweeps) as u64 {
                return Err(format!("rank {rank} counted {counted} updates, not {} times {sweeps}", results.len()));
            }
            let mut rest = &results[..];
            for run in self.places(rank) {
                let (own, others) = rest.split_at(run.len());
                made.results[run].copy_from_slice(own);
                rest = others;
            }
            made.updates.push(updates);
            made.calls.push(calls);
            made.from_host.push(from_host);
            made.in_place.push(in_place);
        }
        made.from_devices = world.from_devices.load(Ordering::Relaxed);
        Ok(made)
    }

    /// Compares with the reference of the whole.
    pub(super) fn check(&self, reference: &(dyn Engine + 'static)) -> Result<Made<T>, String> {
        let samples = self.samples();
        let made = self.made(&samples)?;
        let mut right = vec![T::default(); samples.len()];
        if !samples.is_empty() {
            T::sweep(reference, &self.what, &self.dims, self.sweeps, &samples, &mut right);
        }
        match made.results.iter().zip(&right).position(|(&got, &want)| !got.same(want)) {
            Some(i) => Err(format!("element {i} is {:e}, not {:e}", made.results[i], right[i])),
            None => Ok(made),
        }
    }
}

pub(super) fn ends<T: Number>() -> impl Strategy<Value = Ends<T>> {
    let open = Boundary::all_kinds(0.75).into_iter().filter(|&kind| kind != Boundary::Circular);
    let one = proptest::sample::select(open.collect::<Vec<_>>()).prop_map(|kind| kind.map(T::from_f64));
    let pair = (one.clone(), one).prop_map(|(low, high)| Ends::new(low, high).unwrap());
    prop_oneof![3 => pair, 1 => Just(Boundary::Circular.into())]
}

/// Lengths of the parts of 1, 2, 3, 5 or 8 ranks: many of them 0 or 1, or shorter than a radius, some long.
pub(super) fn lengths(long: usize) -> impl Strategy<Value = Vec<usize>> {
    let length = prop_oneof![2 => 0..2_usize, 2 => 0..9_usize, 3 => 0..long];
    proptest::sample::select(vec![1, 2, 3, 5, 8]).prop_flat_map(move |ranks| {
        prop_oneof![
            proptest::collection::vec(length.clone(), ranks),
            // Parts of about the same length, as in practice.
            (long / 2..long).prop_map(move |length| (0..ranks).map(|rank| length - rank % 2).collect()),
        ]
    })
}

pub(super) fn sweeps() -> impl Strategy<Value = usize> {
    proptest::sample::select(vec![0, 1, 2, 7, 7, 50, 50])
}

pub(super) fn taps() -> impl Strategy<Value = Vec<f64>> {
    (0..6_usize).prop_flat_map(|radius| proptest::collection::vec(-0.4..0.4, 2 * radius + 1))
}

pub(super) fn filter<T: Number>() -> impl Strategy<Value = Filter<T>> {
    proptest::sample::select(vec![
        [3, 3, 1],
        [1, 5, 1],
        [5, 1, 1],
        [3, 5, 1],
        [3, 3, 3],
        [1, 1, 5],
        [3, 1, 3],
        [1, 1, 1],
    ])
    .prop_flat_map(|size| {
        let entries = proptest::collection::vec(-0.3..0.3, size.iter().product::<usize>());
        entries.prop_map(move |entries| Filter::new(entries.into_iter().map(T::from_f64).collect(), size).unwrap())
    })
}

/// Default costs, by which small arrays take one exchange; or costs that give many rounds, with parts in place or in
/// windows.
pub(super) fn costs() -> impl Strategy<Value = Costs> {
    let cheap =
        (0..8_u32, 0..3_u128, proptest::sample::select(vec![0, 0, 0, 1 << 24])).prop_map(|(power, copy, large)| {
            let exchange = (1 << power) - 1;
            Costs { exchange, exchange_of_device: exchange, link: 0, copy, pass: copy, large, ..Costs::default() }
        });
    prop_oneof![1 => Just(Costs::default()), 4 => cheap]
}

/// Cases over a whole of up to three dimensions, distributed along any of them.
pub(super) fn case<T: Class>(what: impl Strategy<Value = Operator<T>>, long: usize) -> impl Strategy<Value = Case<T>> {
    let others = (prop_oneof![Just(1), 1..6_usize], prop_oneof![Just(1), 1..5_usize]);
    let how = (proptest::sample::select(PLACES.to_vec()), any::<[bool; 2]>(), costs());
    (what, lengths(long), 0..3_usize, others, sweeps(), how).prop_map(
        |(what, lengths, dim, others, sweeps, (place, [late, reach], costs))| {
            let mut dims = vec![others.0, others.1];
            dims.insert(dim, lengths.iter().sum());
            Case { dims, dim, lengths, what, sweeps, place, late, reach, costs }
        },
    )
}

/// Number of cases of a property: some of them take tens of milliseconds.
pub(super) const CASES: u32 = 300;

pub(super) fn check_all<T: Class>(strategy: impl Strategy<Value = Case<T>>, single: bool) {
    let mut runner = TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    let in_place = Cell::new(0);
    let outcome = runner.run(&strategy, |case| {
        let made = case.check(&Reference).map_err(TestCaseError::fail)?;
        in_place.set(in_place.get() + u32::from(made.in_place.contains(&true)));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    // Cases of a single sweep, or with a filter that does not reach the neighbours, are never in place.
    let least = if single { 0 } else { CASES / 30 };
    assert!(in_place.get() >= least, "{} cases were computed in place", in_place.get());
}
