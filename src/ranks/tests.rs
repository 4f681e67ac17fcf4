//! Compares parts of an array, swept by ranks, bit for bit with the plain reference of the whole array.

mod cases;
mod counting;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::costs::Costs;
use super::fake::{Rank, World};
use super::{Along, Others, Passed, Plan, run};
use crate::cpu::Cpu;
use crate::platform::watch::Watch;
use crate::stencil::{Boundary, Ends, Error, Real, Reference, Sides, Source, Target};

use cases::*;
use counting::Counting;

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

/// Case of a line in equal parts.
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

/// Each pair of boundaries, with parts long enough for strips, in several rounds.
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
                // The plain reference would take minutes; the engine is compared with it elsewhere.
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

/// Redundant work is little if parts are long, and a round takes one call for a window, or one for the inside and one
/// for both strips.
#[test]
fn little_is_computed_twice() {
    for (lengths, dims, sweeps, twice, most_calls) in [
        (vec![60_000; 3], [180_000, 10], 100, 1.02, 12),
        (vec![1500, 1500], [3000, 400], 50, 1.08, 40),
        // So small that exchanges matter too.
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

/// Small arrays are computed by each rank as a whole, in one call; an array that one rank has entirely needs no
/// exchange.
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

/// Host arrays are copied to a device with room for them before they are swept in rounds, and streamed through it
/// otherwise.
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

/// Case of a line in parts that are swept in several rounds, in place; one rank has no planes.
fn in_rounds() -> Case<f64> {
    let costs = Costs { exchange: 1 << 12, pass: 0, large: 0, ..Costs::default() };
    let mut case = Case { costs, ..line(4, 1000, 3, 100, Where::Host) };
    (case.dims[0], case.lengths[1]) = (3000, 0);
    case
}

/// One rank's part of a collective call, from the start; returns the number of its exchanges and gathers, too.
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
    whole.swept.costs = case.costs;
    let mut results = vec![0.0; part.len()];
    run(others, engine, &whole, Source::Host(part), Target::Host(&mut results), watch)?;
    Ok(others.begun.load(Ordering::Relaxed))
}

fn on_processor(fails_at: Option<u64>) -> Counting {
    Counting { fails_at, ..Counting::new(Cpu::new(), false, true) }
}

/// Checks that one rank has ended with its own error, and all others with the error sent to them.
fn check_ended(results: &[Result<usize, Error>], failed: usize, own: impl Fn(&Error) -> bool) {
    for (rank, result) in results.iter().enumerate() {
        match result {
            Err(error) if rank == failed => assert!(own(error), "{error:?}"),
            Err(Error::Rank(text)) => assert!(text.starts_with("Rank ") && text.contains("raised"), "{text}"),
            result => panic!("rank {rank}, where {failed} has failed: {result:?}"),
        }
    }
}

/// The next round's edges are in transit before the inside of a round is computed; with one round, its own edges are.
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
            // Strips need the halos; an only exchange has nothing but the inside to overlap with.
            assert_eq!(seen[0].0 == parts[rank].len(), sweeps == 1);
            let inside: Vec<_> = seen.into_iter().filter(|(len, _)| *len == parts[rank].len()).collect();
            // One gather for the plan, one for the costs of several rounds, and one at the end.
            let before = 1 + usize::from(sweeps > 1);
            let rounds = begun - before - 1;
            assert!(inside.len() == rounds && (rounds > 2) == (sweeps > 1), "{inside:?}");
            for (round, (_, begun)) in inside.into_iter().enumerate() {
                assert_eq!(begun, before + rounds.min(round + 2), "round {round} of {rounds} of rank {rank}");
            }
        }
    }
}

/// Any exchange or gather of any rank may fail, and any call of its engine: all ranks end with an error, that one with
/// its own.
#[test]
fn a_rank_that_fails_ends_all_of_them() {
    let case = in_rounds();
    let parts = case.parts(&case.samples());
    let call = |others: &Rank, fails_at| one_call(&case, &parts, others, &on_processor(fails_at), &Watch::new());
    let all = World::new(4, false).run(|others| call(others, None));
    let all = all.into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    // Two gathers before the rounds, an exchange for each of these, and a gather at the end; a rank without planes has
    // the gathers only.
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

/// An interrupt of one rank is noticed while it waits, and by the others.
#[test]
fn an_interrupt_is_noticed_while_waiting() {
    let case = in_rounds();
    let parts = case.parts(&case.samples());
    let begun = Instant::now();
    let results = World::new(4, false).run(|others| {
        let watch = Watch::new();
        // The others do not arrive until this one has ended.
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
