//! Parts of an array swept by ranks are, bit for bit, what the plain reference makes of the whole array.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::distribution::{Costs, Rounds, Way};
use super::fake::{Rank, World};
use super::{Along, Others, Passed, Plan, Whole, run};
use crate::cpu::Cpu;
use crate::memory::pool::Pooled;
use crate::stencil::{
    Arithmetic, Array, Binary, Boundary, CoefficientSource, Compute, Convolution, Derivative, Ends, Engine, Error,
    Expansion, Filter, Held, Lines, Operand, Places, Real, Reduction, Reference, Sides, Source, Stencil, Taps, Target,
    Unary,
};
use crate::watch::Watch;

/// An engine that counts what it computes. Its arrays are another engine's, or lie where nobody else can read them.
struct Counting {
    engine: Box<dyn Engine>,
    far: bool,
    room: bool,
    /// Elements that were computed, as often as there were sweeps.
    updates: AtomicU64,
    /// Calls that computed, and how many of those took samples from the host's memory.
    calls: AtomicU64,
    from_host: AtomicU64,
    /// The call that fails.
    fails_at: Option<u64>,
    /// How often its rank has turned to the others, and what that was in each call, behind the elements of that.
    begun: Arc<AtomicUsize>,
    seen: Mutex<Vec<(usize, usize)>>,
}

/// An array that is not in ordinary memory, as far as anybody can tell.
#[derive(Debug)]
struct Far<T>(Array<T>);

impl<T: Real> Held for Far<T> {
    fn place(&self) -> String {
        "far away".into()
    }

    fn settle(&mut self) -> Option<Result<u64, Error>> {
        let near = self.0.held_mut::<Pooled<T>>();
        Some(near.map(|near| near.as_mut_ptr().expose_provenance() as u64))
    }
}

impl Counting {
    fn new(engine: impl Engine + 'static, far: bool, room: bool) -> Counting {
        let zero = || AtomicU64::new(0);
        Counting {
            engine: Box::new(engine),
            far,
            room,
            updates: zero(),
            calls: zero(),
            from_host: zero(),
            fails_at: None,
            begun: Arc::default(),
            seen: Mutex::default(),
        }
    }

    fn near<'a, T: Real>(&self, array: &'a Array<T>) -> Result<&'a Array<T>, Error> {
        if self.far { array.held::<Far<T>>().map(|far| &far.0) } else { Ok(array) }
    }

    fn near_mut<'a, T: Real>(&self, array: &'a mut Array<T>) -> Result<&'a mut Array<T>, Error> {
        if self.far { array.held_mut::<Far<T>>().map(|far| &mut far.0) } else { Ok(array) }
    }

    fn source<'a, T: Real>(&self, from: Source<'a, T>) -> Result<Source<'a, T>, Error> {
        match from {
            Source::Array(array) => self.near(array).map(Source::Array),
            host => Ok(host),
        }
    }

    fn target<'a, T: Real>(&self, to: Target<'a, T>) -> Result<Target<'a, T>, Error> {
        match to {
            Target::Array(array) => self.near_mut(array).map(Target::Array),
            host => Ok(host),
        }
    }

    fn count<T>(&self, from: Source<T>, sweeps: usize) -> Result<(), Error> {
        if self.fails_at == Some(self.calls.load(Ordering::Relaxed)) {
            return Err(Error::Cuda("the driver refused a call".into()));
        }
        self.seen.lock().unwrap().push((from.len(), self.begun.load(Ordering::Relaxed)));
        self.updates.fetch_add((from.len() * sweeps) as u64, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.from_host.fetch_add(matches!(from, Source::Host(_)).into(), Ordering::Relaxed);
        Ok(())
    }
}

impl Engine for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn stencil(&self, what: &Stencil, from: Source<f64>, to: Target<f64>, watch: &Watch) -> Result<(), Error> {
        self.count(from, what.sweeps())?;
        self.engine.stencil(what, self.source(from)?, self.target(to)?, watch)
    }
}

impl<T: Real> Compute<T> for Counting
where
    dyn Engine: Compute<T>,
{
    fn derivative(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        self.count(from, 1)?;
        Compute::derivative(&*self.engine, what, self.source(from)?, self.target(to)?, watch)
    }

    fn convolution(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        self.count(from, what.sweeps())?;
        Compute::convolution(&*self.engine, what, self.source(from)?, self.target(to)?, watch)
    }

    fn array(&self, len: usize) -> Result<Array<T>, Error> {
        let array = Compute::<T>::array(&*self.engine, len)?;
        Ok(if self.far { Array::new(Far(array), len) } else { array })
    }

    fn has_room(&self, _: usize, _: usize) -> Result<bool, Error> {
        Ok(self.room)
    }

    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        Compute::copy(&*self.engine, self.source(from)?, self.target(to)?, watch)
    }
}

fn unused() -> Result<(), Error> {
    Err(Error::Internal("Ranks have no use for this.".into()))
}

impl<T: Real> Arithmetic<T> for Counting
where
    dyn Engine: Arithmetic<T>,
{
    fn unary(&self, _: Unary, _: &Array<T>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn binary(&self, _: Binary, _: [Operand<T>; 2], _: &Expansion, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn advance(&self, _: &Array<T>, _: T, _: Option<Operand<T>>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn reduce(
        &self,
        _: Reduction,
        _: &Array<T>,
        _: Option<&Array<T>>,
        _: [usize; 3],
        _: &mut [T],
        _: &Watch,
    ) -> Result<(), Error> {
        unused()
    }

    fn fill(&self, _: T, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        Arithmetic::pick(&*self.engine, self.near(from)?, places, self.target(to)?, watch)
    }

    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        Arithmetic::put(&*self.engine, self.source(from)?, places, self.near_mut(to)?, watch)
    }

    fn convert(&self, _: &Array<T::Other>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }
}

/// What is swept: an operator of any kind.
#[derive(Clone)]
enum Operator<T> {
    /// Taps along a dimension; for doubles only.
    Stencil(Vec<f64>, usize, Ends<f64>),
    Derivative(usize, Ends<T>),
    Convolution(Filter<T>, Sides<T>),
}

/// As short as it can be, for what a failed property prints.
impl<T: fmt::Debug> fmt::Debug for Operator<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operator::Stencil(taps, dim, ends) => write!(f, "{taps:?} along {dim}, {ends:?}"),
            Operator::Derivative(dim, ends) => write!(f, "derivative along {dim}, {ends:?}"),
            Operator::Convolution(filter, sides) => write!(f, "{filter:?}, {sides:?}"),
        }
    }
}

/// Where a rank's arrays lie.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Where {
    Host,
    /// The engine's, in ordinary memory.
    Engine,
    /// On what is like a device.
    Far,
    /// The host's, computed on what is like a device; with room for the arrays there, or without.
    HostToFar(bool),
    /// From the host's to the engine's, and the other way round.
    HostToArray,
    ArrayToHost,
}

const PLACES: [Where; 7] = [
    Where::Host,
    Where::Engine,
    Where::Far,
    Where::HostToFar(true),
    Where::HostToFar(false),
    Where::HostToArray,
    Where::ArrayToHost,
];

/// A class for which the reference and the ranks do all operators.
trait Class: Real {
    /// The operator over an array of these dimensions, by an engine.
    fn sweep(
        engine: &(dyn Engine + 'static),
        what: &Operator<Self>,
        dims: &[usize],
        sweeps: usize,
        from: &[Self],
        to: &mut [Self],
    );

    /// The operator as the ranks take it.
    fn whole<'a>(what: &Operator<Self>, plan: &Plan, sweeps: usize) -> Whole<'a, Self>;
}

fn size(dims: &[usize]) -> [usize; 3] {
    std::array::from_fn(|d| dims.get(d).copied().unwrap_or(1))
}

fn stencil(taps: &[f64], dim: usize, ends: Ends<f64>, dims: &[usize], sweeps: usize) -> Stencil {
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
                        Compute::derivative(engine, &what.with_boundary(*ends), from, to, watch).unwrap();
                    }
                    Operator::Convolution(filter, sides) => {
                        let what = Convolution::new(size(dims), filter.clone());
                        let what = what.with_boundary(*sides).with_sweeps(sweeps);
                        Compute::convolution(engine, &what, from, to, watch).unwrap();
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

/// An array in parts, what is done to it, and how.
#[derive(Debug, Clone)]
struct Case<T> {
    /// Of the whole; that of `dim` is the sum of `lengths`.
    dims: Vec<usize>,
    dim: usize,
    lengths: Vec<usize>,
    what: Operator<T>,
    sweeps: usize,
    place: Where,
    late: bool,
    /// Whether messages may lie on what is like a device.
    reach: bool,
    costs: Costs,
}

/// What all ranks made of a case.
struct Made<T> {
    results: Vec<T>,
    /// Of each rank.
    updates: Vec<u64>,
    calls: Vec<u64>,
    from_host: Vec<u64>,
    /// Messages that lay on what is like a device.
    from_devices: usize,
    /// Whether it was computed in place, with strips, in several rounds.
    in_place: Vec<bool>,
}

impl<T: Class> Case<T>
where
    dyn Engine: Compute<T> + Arithmetic<T>,
{
    /// Samples between -1 and 1.
    fn samples(&self) -> Vec<T> {
        let count: usize = self.dims.iter().product();
        let mut seed = count as u64 + 7;
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
        };
        (0..count).map(|_| T::from_f64(draw())).collect()
    }

    /// The elements of each rank's part.
    fn parts(&self, whole: &[T]) -> Vec<Vec<T>> {
        let (inner, outer) = self.around();
        let length: usize = self.lengths.iter().sum();
        let mut start = 0;
        let part = |&count: &usize| {
            start += count;
            let planes = start - count..start;
            let run = |k: usize| &whole[inner * (k * length + planes.start)..inner * (k * length + planes.end)];
            (0..outer).flat_map(|k| run(k).to_vec()).collect()
        };
        self.lengths.iter().map(part).collect()
    }

    fn around(&self) -> (usize, usize) {
        (self.dims[..self.dim].iter().product(), self.dims[self.dim + 1..].iter().product())
    }

    fn part_dims(&self, rank: usize) -> Vec<usize> {
        let mut dims = self.dims.clone();
        dims[self.dim] = self.lengths[rank];
        dims
    }

    /// What the ranks make of it.
    fn made(&self, samples: &[T]) -> Result<Made<T>, String> {
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
            whole.costs = self.costs;
            // What was not written is told.
            let poison = T::from_f64(-1.25e-30);
            let mut results = vec![poison; part.len()];
            let (from_array, to_array) = match self.place {
                Where::Host | Where::HostToFar(_) => (false, false),
                Where::Engine | Where::Far => (true, true),
                Where::HostToArray => (false, true),
                Where::ArrayToHost => (true, false),
            };
            let array = |samples: &[T]| {
                let mut array = Compute::<T>::array(&engine, samples.len())?;
                Compute::copy(&engine, Source::Host(samples), Target::Array(&mut array), &Watch::new())?;
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
                Compute::copy(&engine, Source::Array(&to), Target::Host(&mut results), &Watch::new())?;
            }
            let swept = whole.swept();
            let rounds = Rounds::choose(swept, self.sweeps.max(1), self.costs.exchange);
            let way = swept.reach(rank, rounds).way;
            let in_place = swept.radius > 0 && rounds.count > 1 && way == Way::Strips && part.len() < samples.len();
            let counts = [&engine.updates, &engine.calls, &engine.from_host];
            Ok((results, watch.done(), counts.map(|count| count.load(Ordering::Relaxed)), in_place))
        };
        let mut made = Made {
            results: samples.to_vec(),
            updates: vec![],
            calls: vec![],
            from_host: vec![],
            from_devices: 0,
            in_place: vec![],
        };
        let (inner, outer) = self.around();
        let (length, mut start) = (self.lengths.iter().sum::<usize>(), 0);
        let sweeps = if matches!(self.what, Operator::Derivative(..)) { 1 } else { self.sweeps };
        for (rank, of_rank) in world.run(|others| of_rank(others)).into_iter().enumerate() {
            let (results, counted, [updates, calls, from_host], in_place) =
                of_rank.map_err(|error| format!("rank {rank}: {error}"))?;
            if counted != (results.len() * sweeps) as u64 {
                return Err(format!("rank {rank} counted {counted} updates, not {} times {sweeps}", results.len()));
            }
            let count = self.lengths[rank];
            for k in 0..outer {
                let to = inner * (k * length + start)..inner * (k * length + start + count);
                made.results[to].copy_from_slice(&results[inner * k * count..inner * (k + 1) * count]);
            }
            start += count;
            made.updates.push(updates);
            made.calls.push(calls);
            made.from_host.push(from_host);
            made.in_place.push(in_place);
        }
        made.from_devices = world.from_devices.load(Ordering::Relaxed);
        Ok(made)
    }

    /// Compares with what the reference makes of the whole.
    fn check(&self, reference: &(dyn Engine + 'static)) -> Result<Made<T>, String> {
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

fn ends<T: Real>() -> impl Strategy<Value = Ends<T>> {
    let kinds = [Boundary::Constant(0.75), Boundary::Replicate, Boundary::Symmetric, Boundary::Mirror];
    let one = proptest::sample::select(kinds.to_vec()).prop_map(|kind| match kind {
        Boundary::Constant(value) => Boundary::Constant(T::from_f64(value)),
        Boundary::Replicate => Boundary::Replicate,
        Boundary::Symmetric => Boundary::Symmetric,
        Boundary::Mirror => Boundary::Mirror,
        Boundary::Circular => Boundary::Circular,
    });
    let pair = (one.clone(), one).prop_map(|(low, high)| Ends::new(low, high).unwrap());
    prop_oneof![3 => pair, 1 => Just(Boundary::Circular.into())]
}

/// Lengths of the parts of 1, 2, 3, 5 or 8 ranks: many of them 0 or 1, or shorter than a radius, some long.
fn lengths(long: usize) -> impl Strategy<Value = Vec<usize>> {
    let length = prop_oneof![2 => 0..2_usize, 2 => 0..9_usize, 3 => 0..long];
    proptest::sample::select(vec![1, 2, 3, 5, 8]).prop_flat_map(move |ranks| {
        prop_oneof![
            proptest::collection::vec(length.clone(), ranks),
            // Parts of about the same length, as they are in practice.
            (long / 2..long).prop_map(move |length| (0..ranks).map(|rank| length - rank % 2).collect()),
        ]
    })
}

fn sweeps() -> impl Strategy<Value = usize> {
    proptest::sample::select(vec![0, 1, 2, 7, 7, 50, 50])
}

fn taps() -> impl Strategy<Value = Vec<f64>> {
    (0..6_usize).prop_flat_map(|radius| proptest::collection::vec(-0.4..0.4, 2 * radius + 1))
}

fn filter<T: Real>() -> impl Strategy<Value = Filter<T>> {
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

/// As they are, by which small arrays take one exchange; or such that there are many rounds, with parts in place or in
/// windows.
fn costs() -> impl Strategy<Value = Costs> {
    let cheap =
        (0..8_u32, 0..3_u128, proptest::sample::select(vec![0, 0, 0, 1 << 24])).prop_map(|(power, copy, large)| {
            let exchange = (1 << power) - 1;
            Costs { exchange, exchange_of_device: exchange, link: 0, copy, pass: copy, large, ..Costs::default() }
        });
    prop_oneof![1 => Just(Costs::default()), 4 => cheap]
}

/// A case over a whole of up to three dimensions, cut along any of them.
fn case<T: Class>(what: impl Strategy<Value = Operator<T>>, long: usize) -> impl Strategy<Value = Case<T>> {
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

/// Cases of a property: some of them take tens of milliseconds.
const CASES: u32 = 300;

fn check_all<T: Class>(strategy: impl Strategy<Value = Case<T>>, single: bool)
where
    dyn Engine: Compute<T> + Arithmetic<T>,
{
    let mut runner = TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    let in_place = Cell::new(0);
    let outcome = runner.run(&strategy, |case| {
        let made = case.check(&Reference).map_err(TestCaseError::fail)?;
        in_place.set(in_place.get() + u32::from(made.in_place.contains(&true)));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    // Cases without a single sweep, or with a filter that does not reach the neighbours, are others.
    let least = if single { 0 } else { CASES / 30 };
    assert!(in_place.get() >= least, "{} cases were computed in place", in_place.get());
}

#[test]
fn stencils_have_the_bits_of_one_process() {
    let what = (taps(), prop_oneof![3 => 0..2_usize, 2 => Just(2)], ends());
    check_all::<f64>(case(what.prop_map(|(taps, dim, ends)| Operator::Stencil(taps, dim, ends)), 90), false);
}

#[test]
fn derivatives_have_the_bits_of_one_process() {
    let double = (0..3_usize, ends()).prop_map(|(dim, ends)| Operator::Derivative(dim, ends));
    check_all::<f64>(case(double, 60), true);
    let single = (0..3_usize, ends()).prop_map(|(dim, ends)| Operator::Derivative(dim, ends));
    check_all::<f32>(case(single, 60), true);
}

#[test]
fn convolutions_have_the_bits_of_one_process() {
    fn what<T: Real>() -> impl Strategy<Value = Operator<T>> {
        let sides = [ends(), ends(), ends()].prop_map(Sides::from);
        (filter(), sides).prop_map(|(filter, sides)| Operator::Convolution(filter, sides))
    }
    check_all::<f64>(case(what(), 40), false);
    check_all::<f32>(case(what(), 40), false);
}

/// A line in equal parts.
fn line(ranks: usize, length: usize, taps: usize, sweeps: usize, place: Where) -> Case<f64> {
    let what = Operator::Stencil(vec![1.0 / taps as f64; taps], 0, Boundary::Mirror.into());
    Case {
        dims: vec![ranks * length, 1],
        dim: 0,
        lengths: vec![length; ranks],
        what,
        sweeps,
        place,
        late: true,
        reach: false,
        costs: Costs::default(),
    }
}

/// Each pair of boundaries, with parts that are long enough for strips, in several rounds.
#[test]
fn long_parts_have_the_bits_of_one_process_with_every_pair_of_ends() {
    let kinds = [Boundary::Constant(0.75), Boundary::Replicate, Boundary::Symmetric, Boundary::Mirror];
    let pairs = kinds.iter().flat_map(|&low| kinds.map(|high| Ends::new(low, high).unwrap()));
    for ends in pairs.chain([Boundary::Circular.into()]) {
        for (radius, lengths) in [(1, [3000, 2000, 2500]), (5, [2000, 3, 3000]), (3, [1, 2500, 2500])] {
            let taps = (0..2 * radius + 1).map(|i| 0.3 - 0.1 * f64::from(i)).collect();
            let what = Operator::<f64>::Stencil(taps, 0, ends);
            for place in [Where::Host, Where::Far] {
                let lengths = lengths.to_vec();
                let dims = vec![lengths.iter().sum(), 8];
                // The plain reference would take minutes; the engine is held to it elsewhere.
                let costs =
                    Costs { exchange: 1 << 13, exchange_of_device: 1 << 13, pass: 0, large: 0, ..Costs::default() };
                let case = Case {
                    dims,
                    dim: 0,
                    lengths,
                    what: what.clone(),
                    sweeps: 60,
                    place,
                    late: true,
                    reach: place == Where::Far,
                    costs,
                };
                let made = case.check(&Cpu::new()).unwrap_or_else(|error| panic!("{case:?}: {error}"));
                assert!(made.in_place.iter().filter(|in_place| **in_place).count() > 1, "{case:?}");
                assert_eq!(made.from_devices > 0, place == Where::Far, "{case:?}");
            }
        }
    }
}

/// What is computed twice: little where parts are long, and in a round one call for a window, or one for the inside and
/// one for both strips.
#[test]
fn little_is_computed_twice() {
    for (lengths, dims, sweeps, twice, most_calls) in [
        (vec![60_000; 3], [180_000, 10], 100, 1.02, 12),
        (vec![1500, 1500], [3000, 400], 50, 1.08, 40),
        // So small that exchanges count as well.
        (vec![400, 1, 399, 0, 400], [1200, 300], 20, 1.2, 20),
    ] {
        let what = Operator::<f64>::Stencil(vec![0.25, 0.5, 0.25], 0, Boundary::Replicate.into());
        let strips = Costs { exchange: 1 << 19, pass: 0, large: 0, ..Costs::default() };
        for costs in [Costs::default(), strips] {
            let case = Case {
                dims: dims.to_vec(),
                dim: 0,
                lengths: lengths.clone(),
                what: what.clone(),
                sweeps,
                place: Where::Host,
                late: false,
                reach: false,
                costs,
            };
            let made = case.check(&Cpu::new()).unwrap();
            for (rank, (&updates, &calls)) in
                made.updates.iter().zip(&made.calls).enumerate().filter(|(rank, _)| case.lengths[*rank] > 100)
            {
                let own = (case.lengths[rank] * dims[1] * sweeps) as f64;
                let what = format!("rank {rank} of {lengths:?}: {updates} of {own}, {calls} calls");
                assert!(updates as f64 >= own && updates as f64 <= twice * own, "{what}");
                assert!((1 + u64::from(costs == strips)..=most_calls).contains(&calls), "{what}");
            }
        }
    }
}

/// Small arrays are computed by each rank as a whole, in one call, and what is whole with one rank needs no exchange.
#[test]
fn small_arrays_take_one_exchange() {
    for (lengths, calls) in [(vec![50, 40, 30], vec![1, 1, 1]), (vec![0, 500, 0], vec![0, 1, 0])] {
        let what = Operator::<f64>::Stencil(vec![0.25, 0.5, 0.25], 0, Boundary::Circular.into());
        let dims = vec![lengths.iter().sum(), 1];
        let case = Case {
            dims,
            dim: 0,
            lengths,
            what,
            sweeps: 1000,
            place: Where::Host,
            late: false,
            reach: false,
            costs: Costs::default(),
        };
        assert_eq!(case.check(&Reference).unwrap().calls, calls);
    }
}

/// The host's arrays go to a device that has room for them before they are swept in rounds, and else go through it.
#[test]
fn arrays_of_the_host_go_to_a_device_for_several_rounds() {
    for (room, sweeps, from_host) in [(true, 2000, false), (false, 2000, true), (true, 1, true)] {
        let mut case = line(2, 1500, 3, sweeps, Where::HostToFar(room));
        case.costs = Costs { exchange_of_device: 1 << 20, link: 20, large: 0, ..Costs::default() };
        (case.dims[1], case.what) = (100, Operator::Stencil(vec![0.3, 0.3, 0.4], 0, Boundary::Mirror.into()));
        let made = case.check(&Cpu::new()).unwrap();
        for rank in 0..2 {
            let (calls, of_host) = (made.calls[rank], made.from_host[rank]);
            assert!(calls >= 2 && of_host == if from_host { calls } else { 0 }, "{room} {sweeps}: {calls}, {of_host}");
        }
    }
}

/// A line in parts that are swept in several rounds, in place; one rank has nothing.
fn in_rounds() -> Case<f64> {
    let costs = Costs { exchange: 1 << 12, pass: 0, large: 0, ..Costs::default() };
    let mut case = Case { costs, ..line(4, 1000, 3, 100, Where::Host) };
    (case.dims[0], case.lengths[1]) = (3000, 0);
    case
}

/// A rank's part of a call that all ranks make, from its beginning; and how often it has turned to the others.
fn one_call(
    case: &Case<f64>,
    parts: &[Vec<f64>],
    others: &Rank,
    engine: &Counting,
    watch: &Watch,
) -> Result<usize, Error> {
    let dims = case.part_dims(others.rank());
    let plan = Plan::agree(others, &Passed { dims: &dims, along: Along::Last, said: &[], filter: &[] }, watch)?;
    let (mut whole, part) = (f64::whole(&case.what, &plan, case.sweeps), &parts[others.rank()]);
    whole.costs = case.costs;
    let mut results = vec![0.0; part.len()];
    run(others, engine, &whole, Source::Host(part), Target::Host(&mut results), watch)?;
    Ok(others.begun.load(Ordering::Relaxed))
}

fn on_processor(fails_at: Option<u64>) -> Counting {
    Counting { fails_at, ..Counting::new(Cpu::new(), false, true) }
}

/// Checks that one rank has ended with its own error, and all others with what they were told.
fn check_ended(results: &[Result<usize, Error>], failed: usize, own: impl Fn(&Error) -> bool) {
    for (rank, result) in results.iter().enumerate() {
        match result {
            Err(error) if rank == failed => assert!(own(error), "{error:?}"),
            Err(Error::Rank(text)) => assert!(text.starts_with("Rank ") && text.contains("raised"), "{text}"),
            result => panic!("rank {rank}, where {failed} has failed: {result:?}"),
        }
    }
}

/// The next round's edges are on their way before the inside of a round is computed; and where there is one round, its
/// edges are.
#[test]
fn exchanges_hide_behind_the_inside() {
    let mut case = in_rounds();
    for sweeps in [100, 1] {
        case.sweeps = sweeps;
        let parts = case.parts(&case.samples());
        let all = World::new(4, false).run(|others| {
            let engine = Counting { begun: Arc::clone(&others.begun), ..on_processor(None) };
            let begun = one_call(&case, &parts, others, &engine, &Watch::new())?;
            Ok((begun, engine.seen.into_inner().unwrap()))
        });
        for (rank, result) in all.into_iter().enumerate().filter(|(rank, _)| case.lengths[*rank] > 0) {
            let (begun, seen) = result.unwrap();
            // Strips need the halos; the only exchange there is has nothing but the inside to hide behind.
            assert_eq!(seen[0].0 == parts[rank].len(), sweeps == 1);
            let inside: Vec<_> = seen.into_iter().filter(|(len, _)| *len == parts[rank].len()).collect();
            // One gather for the plan, one for the costs of several rounds, and one in the end.
            let before = 1 + usize::from(sweeps > 1);
            let rounds = begun - before - 1;
            assert!(inside.len() == rounds && (rounds > 2) == (sweeps > 1), "{inside:?}");
            for (round, (_, begun)) in inside.into_iter().enumerate() {
                assert_eq!(begun, before + rounds.min(round + 2), "round {round} of {rounds} of rank {rank}");
            }
        }
    }
}

/// Whatever exchange or gather of whatever rank fails, and whatever call of its engine, all ranks end with an error,
/// that one with its own.
#[test]
fn a_rank_that_fails_ends_all_of_them() {
    let case = in_rounds();
    let parts = case.parts(&case.samples());
    let call = |others: &Rank, fails_at| one_call(&case, &parts, others, &on_processor(fails_at), &Watch::new());
    let all = World::new(4, false).run(|others| call(others, None));
    let all = all.into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    // Two gathers before the rounds, an exchange for each of these, and a gather in the end; without planes, the
    // gathers.
    let rounds = all[0] - 3;
    assert!(rounds > 2 && all == [all[0], 3, all[0], all[0]], "{all:?}");
    for (rank, &begun) in all.iter().enumerate() {
        for at in 0..begun {
            let results = World::new(4, true).run_failing(Some((rank, at)), |others| call(others, None));
            check_ended(&results, rank, |error| matches!(error, Error::OutOfMemory(_)));
        }
    }
    for rank in [0, 2, 3] {
        // The inside and the strips of each round.
        for at in 0..2 * rounds as u64 {
            let results = World::new(4, true).run(|others| call(others, (others.rank() == rank).then_some(at)));
            check_ended(&results, rank, |error| matches!(error, Error::Cuda(_)));
        }
    }
}

/// An interrupt of one rank is noticed in its wait, and by the others.
#[test]
fn an_interrupt_is_noticed_while_waiting() {
    let case = in_rounds();
    let parts = case.parts(&case.samples());
    let begun = Instant::now();
    let results = World::new(4, false).run(|others| {
        let watch = Watch::new();
        // The others do not come until this one has ended.
        if others.rank() > 0 {
            std::thread::sleep(Duration::from_millis(300));
            return one_call(&case, &parts, others, &on_processor(None), &watch);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                watch.stop();
            });
            one_call(&case, &parts, others, &on_processor(None), &watch)
        })
    });
    check_ended(&results, 0, |error| *error == Error::Interrupted);
    assert!(begun.elapsed() < Duration::from_secs(20));
}
