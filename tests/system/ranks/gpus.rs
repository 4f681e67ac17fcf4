//! Ranks that exchange the halos of arrays on GPUs.

use stencil_mex::cuda::{Cuda, Driver};
use stencil_mex::platform::watch::Watch;
use stencil_mex::ranks::{Along, Passed, Plan, Whole, World, run as run_with_others};
use stencil_mex::stencil::{Boundary, Compute, Convolution, Engine, Error, Filter, Reference, Sides, Source, Target};

use super::calls::begin;
use crate::common::{Mode, StandIn};

/// Cases of ranks with a GPU each, or the one there is, and the environment they run in: with memory that reaches from
/// process to process, and without.
pub const ON_GPUS: [OfGpus; 4] = [
    ("halos_of_gpus", 2, &[], halos_of_gpus),
    ("halos_of_gpus", 3, &[], halos_of_gpus),
    ("halos_of_gpus_that_share_no_memory", 2, &[("CUDA_STAND_IN_IPC", "0")], halos_of_gpus_that_share_no_memory),
    ("a_gpu_fails_while_others_read_its_halos", 3, &[], a_gpu_fails_while_others_read_its_halos),
];

/// A name, the number of ranks, their environment, and the work of each.
pub type OfGpus = (&'static str, usize, &'static [(&'static str, &'static str)], fn(&'static World));

/// A call of a world of planes of 24 numbers over this rank's GPU, in rounds of a sweep each, or a few.
struct OnGpu {
    world: &'static World,
    engine: Cuda,
    planes: usize,
    sides: Sides<f64>,
}

impl OnGpu {
    fn new(world: &'static World, planes: usize, sides: Sides<f64>) -> OnGpu {
        let devices = Driver::get().expect("a driver").devices.len();
        let engine = Cuda::open(Some(world.rank_on_host() % devices)).expect("a device");
        OnGpu { world, engine, planes, sides }
    }

    fn samples(&self) -> Vec<f64> {
        (0..ROWS * self.planes).map(|i| ((i * 7919) % 1009) as f64 / 500.0 - 1.0).collect()
    }

    fn what(&self, planes: usize) -> Convolution<f64> {
        let filter = Filter::new((1..=9).map(|tap| f64::from(tap) / 47.0).collect(), [3, 3, 1]).expect("a filter");
        Convolution::new([ROWS, planes, 1], filter).with_boundary(self.sides).with_sweeps(SWEEPS)
    }

    /// This rank's planes of an array; the last rank has none where there are three.
    fn mine(&self) -> std::ops::Range<usize> {
        let with = if self.world.ranks() == 3 { 2 } else { self.world.ranks() };
        let place = |rank: usize| (self.planes * rank / with).min(self.planes) * ROWS;
        place(self.world.rank())..place(self.world.rank() + 1)
    }

    fn call(&self) -> Result<Vec<f64>, Error> {
        let (watch, all, mine) = (Watch::new(), self.samples(), self.mine());
        let mut call = begin(self.world);
        let passed = Passed { dims: &[ROWS, mine.len() / ROWS], along: Along::Dim(1), said: &[], filter: &[] };
        let result = Plan::agree(&call, &passed, &watch).and_then(|plan| {
            let whole = Whole::convolution(&plan, self.what(mine.len() / ROWS)).with_exchange(1);
            let engine: &(dyn Engine + 'static) = &self.engine;
            let [mut from, mut to] = [mine.len(); 2].map(|len| engine.arrays::<f64>().array(len).expect("room"));
            engine.arrays().copy(Source::Host(&all[mine.clone()]), Target::Array(&mut from), &watch)?;
            run_with_others(&call, engine, &whole, Source::Array(&from), Target::Array(&mut to), &watch)?;
            let mut results = vec![f64::NAN; mine.len()];
            engine.arrays().copy(Source::Array(&to), Target::Host(&mut results), &watch)?;
            Ok(results)
        });
        match result {
            Ok(results) => call.end(&watch).map(|()| results),
            Err(error) => {
                call.fail(&error.to_string());
                Err(error)
            }
        }
    }

    /// Returns the results of a single process.
    fn expected(&self) -> Vec<f64> {
        let (all, watch) = (self.samples(), Watch::new());
        let mut results = vec![f64::NAN; all.len()];
        let reference: &(dyn Engine + 'static) = &Reference;
        let (from, to) = (Source::Host(&all[..]), Target::Host(&mut results[..]));
        Compute::convolution(reference, &self.what(self.planes), from, to, &watch).expect("the reference");
        results[self.mine()].to_vec()
    }
}

/// The rows of a plane, and the sweeps.
const ROWS: usize = 24;

const SWEEPS: usize = 12;

/// Number of times that memory of other processes was opened since the stand-in was reset.
fn opened(stand_in: &StandIn) -> usize {
    (0..stand_in.calls()).filter(|&call| stand_in.call(call) == "cuIpcOpenMemHandle_v2").count()
}

fn halos_on_gpus(world: &'static World, shared: bool) {
    let stand_in = StandIn::find();
    for sides in [Boundary::Constant(0.5), Boundary::Circular, Boundary::Mirror] {
        for planes in [40, 41, 6] {
            let on_gpu = OnGpu::new(world, planes, Sides::from(sides));
            if let Some(stand_in) = &stand_in {
                stand_in.reset();
            }
            let results = on_gpu.call().expect("all is well");
            let same = results.iter().zip(on_gpu.expected()).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{sides:?}, {planes} planes: other bits");
            let Some(stand_in) = &stand_in else { continue };
            assert_eq!(stand_in.misuse(), None);
            // One to try, and two in turn for each edge of the only other rank that has planes.
            let edges = if sides == Boundary::Circular { 2 } else { 1 };
            let expected = match (on_gpu.mine().is_empty(), shared) {
                (true, _) => 0,
                // Both get all of it, once.
                _ if planes == 6 && sides == Boundary::Circular => 0,
                (_, false) => 1,
                (_, true) => 1 + 2 * edges,
            };
            assert_eq!(opened(stand_in), expected, "{sides:?}, {planes} planes");
        }
    }
}

fn halos_of_gpus(world: &'static World) {
    halos_on_gpus(world, true);
}

fn halos_of_gpus_that_share_no_memory(world: &'static World) {
    halos_on_gpus(world, StandIn::find().is_none());
}

/// One rank's device fails in the middle of a call: all raise, and the next call is right.
fn a_gpu_fails_while_others_read_its_halos(world: &'static World) {
    let stand_in = StandIn::find();
    // Two edges in each round.
    for nth in [1, 2, 3, 5] {
        let on_gpu = OnGpu::new(world, 40, Sides::from(Boundary::Circular));
        // On a real driver all of them are right.
        if let Some(stand_in) = stand_in.as_ref().filter(|_| world.rank() == 1) {
            stand_in.fail_in("cuIpcGetMemHandle", nth + 1, 700, Mode::Once);
        }
        let result = on_gpu.call();
        match &stand_in {
            Some(stand_in) => {
                let error = result.expect_err("a fault");
                assert_eq!(matches!(error, Error::Rank(_)), world.rank() != 1, "{error}");
                stand_in.heal();
                assert_eq!(stand_in.misuse(), None);
            }
            None => assert_eq!(result, Ok(on_gpu.expected())),
        }
        let result = on_gpu.call().expect("the next call");
        assert!(result.iter().zip(on_gpu.expected()).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}
