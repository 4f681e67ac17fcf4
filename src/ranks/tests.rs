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
use crate::stencil::{Boundary, Ends, Error, Number, Reference, Sides, Source, Target};

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
    fn what<T: Number>() -> impl Strategy<Value = Operator<T>> {
        let sides = [ends(), ends(), ends()].prop_map(Sides::from);
        (filter(), sides).prop_map(|(filter, sides)| Operator::Convolution(filter, sides))
    }
    check_all::<f64>(case(what(), 40), false);
    check_all::<f32>(case(what(), 40), false);
}

/// Case of lines side by side, in parts of these lengths, on the host, with the measured costs.
fn lines(lengths: &[usize], across: usize, taps: Vec<f64>, ends: impl Into<Ends<f64>>, sweeps: usize) -> Case<f64> {
    Case {
        dims: vec![lengths.iter().sum(), across],
        dim: 0,
        lengths: lengths.to_vec(),
        what: Operator::Stencil(taps, 0, ends.into()),
        sweeps,
        place: Where::Host,
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
            let costs = Costs { exchange: 1 << 13, exchange_of_device: 1 << 13, pass: 0, large: 0, ..Costs::default() };
            let case = Case { costs, ..lines(&lengths, 8, taps, ends, 60) };
            for place in [Where::Host, Where::Far] {
                let case = Case { place, reach: place == Where::Far, ..case.clone() };
                // The plain reference would take minutes; the engine is compared with it elsewhere.
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
    for (lengths, across, sweeps, twice, most_calls) in [
        (&[60_000; 3][..], 10, 100, 1.02, 12),
        (&[1500, 1500], 400, 50, 1.08, 40),
        // So small that exchanges matter too.
        (&[400, 1, 399, 0, 400], 300, 20, 1.2, 20),
    ] {
        let strips = Costs { exchange: 1 << 19, pass: 0, large: 0, ..Costs::default() };
        for costs in [Costs::default(), strips] {
            let case = lines(lengths, across, vec![0.25, 0.5, 0.25], Boundary::Replicate, sweeps);
            let case = Case { late: false, costs, ..case };
            let made = case.check(&Cpu::new()).unwrap();
            for (rank, (&updates, &calls)) in
                made.updates.iter().zip(&made.calls).enumerate().filter(|(rank, _)| case.lengths[*rank] > 100)
            {
                let own = (case.lengths[rank] * across * sweeps) as f64;
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
    for (lengths, calls) in [([50, 40, 30], [1, 1, 1]), ([0, 500, 0], [0, 1, 0])] {
        let case = Case { late: false, ..lines(&lengths, 1, vec![0.25, 0.5, 0.25], Boundary::Circular, 1000) };
        assert_eq!(case.check(&Reference).unwrap().calls, calls);
    }
}

/// Host arrays are copied to a device with room for them before they are swept in rounds, and streamed through it
/// otherwise.
#[test]
fn arrays_of_the_host_go_to_a_device_for_several_rounds() {
    for (room, sweeps, from_host) in [(true, 2000, false), (false, 2000, true), (true, 1, true)] {
        let costs = Costs { exchange_of_device: 1 << 20, link: 20, large: 0, ..Costs::default() };
        let case = lines(&[1500, 1500], 100, vec![0.3, 0.3, 0.4], Boundary::Mirror, sweeps);
        let case = Case { place: Where::HostToFar(room), costs, ..case };
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
    Case { costs, ..lines(&[1000, 0, 1000, 1000], 1, vec![1.0 / 3.0; 3], Boundary::Mirror, 100) }
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
