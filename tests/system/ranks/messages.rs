//! Messages and gatherings between ranks, of any length and in any order.

use std::env;
use std::time::Instant;

use stencil_mex::platform::watch::Watch;
use stencil_mex::ranks::{Others, World};

use super::calls::{begin, bytes, end, exchange, ring, wait, works};
use crate::common::selection;

pub fn places_are_told(world: &'static World) {
    assert!(World::is_launched());
    let said = env::var("OMPI_COMM_WORLD_SIZE").or_else(|_| env::var("PMI_SIZE")).expect("a launcher says how many");
    assert_eq!(said.parse(), Ok(world.ranks()));
    assert!(world.rank() < world.ranks());
    assert_eq!((world.rank_on_host(), world.ranks_on_host()), (world.rank(), world.ranks()), "all are on one host");
    assert!(!world.library().is_empty() && !world.library().contains(['\n', '\0']));
    let again = World::get().expect("the same");
    assert!(std::ptr::eq(world, again));
    if world.rank() == 0 {
        println!("{}, {:?}, CUDA-aware: {:?}", world.library(), world.threads(), world.cuda_aware());
    }
    works(world, 1);
}

pub fn gathers_of_any_length(world: &'static World) {
    // About the length of a first message, too.
    let lengths = [0, 1, 7, 4072, 4080, 4081, 4088, 4089, 4096, 100_000, 3_000_000];
    let call = begin(world);
    for round in 0..2 * lengths.len() {
        let len = |rank: usize| lengths[(round + 3 * rank) % lengths.len()];
        let mine = bytes(round + 100 * call.rank(), len(call.rank()));
        let all = call.gather(&mine, &Watch::new()).expect("a gathering");
        assert_eq!(all.len(), world.ranks());
        for (rank, one) in all.iter().enumerate() {
            assert!(*one == bytes(round + 100 * rank, len(rank)), "round {round}, rank {rank}: {} bytes", one.len());
        }
    }
    end(call);
}

pub fn messages_of_any_length(world: &'static World) {
    for (seed, len) in [0, 1, 8, 4095, 4096, 4097, 70_000, 1 << 20, (33 << 20) + 7].into_iter().enumerate() {
        let call = begin(world);
        ring(&call, seed, len).expect("a ring");
        end(call);
    }
}

/// Several to one rank, long and short ones, with a gathering while they are under way.
pub fn messages_keep_their_order(world: &'static World) {
    let lengths = [5, 200_000, 0, 6, 5, 80_000, 1];
    let call = begin(world);
    let (rank, ranks) = (call.rank(), call.ranks());
    let others: Vec<_> = (0..ranks).filter(|&other| other != rank).collect();
    let message = |from: usize, to: usize, i: usize| bytes(1000 * from + 100 * to + i, lengths[i]);
    let numbers = || (0..lengths.len()).flat_map(|i| others.iter().map(move |&other| (i, other)));
    let sends = numbers().map(|(i, to)| (to, message(rank, to, i))).collect();
    let receives: Vec<_> = numbers().map(|(i, from)| (from, lengths[i])).collect();
    let under_way = exchange(&call, sends, &receives).expect("an exchange");
    let all = call.gather(&[rank as u8], &Watch::new()).expect("a gathering");
    assert!(all.iter().enumerate().all(|(rank, one)| one == &[rank as u8]));
    let received = wait(under_way).expect("messages");
    for ((i, from), one) in numbers().zip(received) {
        assert!(one == message(from, rank, i), "message {i} of rank {from} to rank {rank}");
    }
    end(call);
}

pub fn many_small_calls(world: &'static World) {
    // Ranks that wait keep a processor busy: with more of them than processors each call takes a slice of time.
    let calls = if selection::is_all() { 10_000 } else { 500 };
    let since = Instant::now();
    for i in 0..calls {
        works(world, i);
    }
    if world.rank() == 0 {
        println!("{:.1} us a call", since.elapsed().as_secs_f64() * 1e6 / calls as f64);
    }
}
