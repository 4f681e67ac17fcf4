//! Ranks that speak to each other by MPI: this program runs itself under `mpirun`, as 1, 2, 3 and 5 processes on this
//! machine, through shared memory and once more through the loopback.
//!
//! Where there is no `mpirun` or no `mpicc`, the tests are counted as ignored. Each has a time limit: what they are
//! about above all is that nobody waits for ever.
//!
//! Where there is a CUDA driver, real or the stand-in, ranks exchange halos of arrays on GPUs, too.

mod common;

use std::env;
use std::ffi::{CString, c_int, c_void};
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Mode, StandIn, selection};
use libtest_mimic::{Arguments, Failed, Trial};
use stencil_mex::cuda::{self, Cuda, Driver};
use stencil_mex::ranks::{Along, Bytes, Call, Others, Passed, Plan, UnderWay, Whole, World, run as run_with_others};
use stencil_mex::stencil::{Boundary, Compute, Convolution, Engine, Error, Filter, Reference, Sides, Source, Target};
use stencil_mex::watch::Watch;

/// Says which case a rank runs.
const CASE: &str = "STENCIL_RANKS_CASE";

/// What a case may take, on a machine where others are at work, too.
const LIMIT: Duration = Duration::from_secs(60);

/// What a rank says when all was as it should be.
const DONE: &str = "[all was as it should be]";

const RANKS: [usize; 4] = [1, 2, 3, 5];

/// So many have neighbours on either side, and on one.
const SELECTED: usize = 3;

/// What each of some ranks does.
type Case = (&'static str, fn(&'static World));

/// At the end of each all ranks exit at once, those that come first while others are still in their last call.
const CASES: [Case; 17] = [
    ("places_are_told", places_are_told),
    ("gathers_of_any_length", gathers_of_any_length),
    ("messages_of_any_length", messages_of_any_length),
    ("messages_keep_their_order", messages_keep_their_order),
    ("many_small_calls", many_small_calls),
    ("fails_before_others_begin", fails_before_others_begin),
    ("fails_while_others_wait", fails_while_others_wait),
    ("fails_in_the_middle_of_a_gather", fails_in_the_middle_of_a_gather),
    ("fails_far_ahead_of_others", fails_far_ahead_of_others),
    ("all_fail_at_once", all_fail_at_once),
    ("left_overs_are_thrown_away", left_overs_are_thrown_away),
    ("ends_on_all_or_on_none", ends_on_all_or_on_none),
    ("faults_of_the_caller", faults_of_the_caller),
    ("a_forked_process_is_no_rank", a_forked_process_is_no_rank),
    ("exits_between_calls", exits_between_calls),
    ("exits_in_the_middle_of_a_call", exits_in_the_middle_of_a_call),
    ("a_panic_ends_all", a_panic_ends_all),
];

/// Those that are run through the loopback, too: there a message to a rank that never looks waits with its sender.
const ON_LOOPBACK: [&str; 6] = [
    "messages_of_any_length",
    "fails_before_others_begin",
    "fails_far_ahead_of_others",
    "left_overs_are_thrown_away",
    "exits_between_calls",
    "exits_in_the_middle_of_a_call",
];

/// So long one rank is late where others are to be waiting for it.
const LATE: Duration = Duration::from_millis(150);

const OPTION: &str = "StencilConstantMemory:option: No such option.";

fn bytes(seed: usize, len: usize) -> Vec<u8> {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn nap() {
    std::thread::sleep(LATE);
}

fn begin(world: &'static World) -> Call {
    world.call().expect("a call")
}

/// Ends as all others do.
fn end(mut call: Call) {
    call.end(&Watch::new()).expect("all ranks are here");
}

/// Messages of the host's memory, and rooms of so many bytes.
fn exchange<'c>(
    call: &'c Call,
    sends: Vec<(usize, Vec<u8>)>,
    receives: &[(usize, usize)],
) -> Result<Box<dyn UnderWay + 'c>, Error> {
    let sends = sends.into_iter().map(|(to, message)| (to, message.into())).collect();
    let rooms = receives.iter().map(|&(from, len)| Ok((from, Bytes::zeros(len, "a test")?)));
    call.exchange(sends, rooms.collect::<Result<_, Error>>()?)
}

fn wait(under_way: Box<dyn UnderWay + '_>) -> Result<Vec<Vec<u8>>, Error> {
    under_way.wait(&Watch::new())?.into_iter().map(Bytes::into_host).collect()
}

/// Sends to the next rank and receives from the one before, and so in the other direction.
fn ring(call: &Call, seed: usize, len: usize) -> Result<(), Error> {
    let (rank, ranks) = (call.rank(), call.ranks());
    if ranks == 1 {
        return Ok(());
    }
    let (next, last) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let sends = vec![(next, bytes(seed + 2 * rank, len)), (last, bytes(seed + 2 * rank + 1, len))];
    let mut under_way = exchange(call, sends, &[(last, len), (next, len)])?;
    under_way.advance()?;
    let received = wait(under_way)?;
    let expected = [bytes(seed + 2 * last, len), bytes(seed + 2 * next + 1, len)];
    assert!(received == expected, "rank {rank} received other bytes than were sent, of {len}");
    Ok(())
}

/// A call that works, with others before and behind it.
fn works(world: &'static World, seed: usize) {
    let call = begin(world);
    let all = call.gather(&bytes(seed + call.rank(), 40), &Watch::new()).expect("a gathering");
    for (rank, one) in all.iter().enumerate() {
        assert_eq!(*one, bytes(seed + rank, 40), "of rank {rank}");
    }
    ring(&call, seed, 100).expect("a ring");
    end(call);
}

/// That this is an error that another rank told of.
fn assert_told<T: std::fmt::Debug>(result: Result<T, Error>, text: &str) {
    match result {
        Err(Error::Rank(told)) => assert_eq!(told, text),
        other => panic!("{other:?} instead of {text:?}"),
    }
}

fn left(rank: usize) -> String {
    format!("Rank {rank} has left: its script ended, or raised an error elsewhere.")
}

fn places_are_told(world: &'static World) {
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

fn gathers_of_any_length(world: &'static World) {
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

fn messages_of_any_length(world: &'static World) {
    for (seed, len) in [0, 1, 8, 4095, 4096, 4097, 70_000, 1 << 20, (33 << 20) + 7].into_iter().enumerate() {
        let call = begin(world);
        ring(&call, seed, len).expect("a ring");
        end(call);
    }
}

/// Several to one rank, long and short ones, with a gathering while they are under way.
fn messages_keep_their_order(world: &'static World) {
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

fn many_small_calls(world: &'static World) {
    const CALLS: usize = 10_000;
    let since = Instant::now();
    for i in 0..CALLS {
        works(world, i);
    }
    if world.rank() == 0 {
        println!("{:.1} us a call", since.elapsed().as_secs_f64() * 1e6 / CALLS as f64);
    }
}

fn fails_before_others_begin(world: &'static World) {
    works(world, 1);
    for bad in 0..world.ranks() {
        let call = begin(world);
        if world.rank() == bad {
            call.fail(OPTION);
        } else {
            nap();
            let told = format!("Rank {bad} raised {OPTION}");
            assert_told(ring(&call, 5, 10), &told);
            assert_told(call.gather(&[1], &Watch::new()), &told);
            call.fail(&told);
        }
        works(world, bad);
    }
}

fn fails_while_others_wait(world: &'static World) {
    for (bad, len) in (0..world.ranks()).flat_map(|bad| [10, 5_000_000].map(|len| (bad, len))) {
        let call = begin(world);
        if world.rank() == bad {
            nap();
            call.fail(OPTION);
        } else {
            // With two ranks or more, somebody waits for the bad one, and the others for nobody but in the end.
            let mut call = call;
            let told = format!("Rank {bad} raised {OPTION}");
            let result = ring(&call, 5, len).and_then(|()| call.end(&Watch::new()));
            assert_told(result, &told);
            drop(call);
        }
        works(world, bad);
    }
}

/// Interrupted, when it has sent something already.
fn fails_in_the_middle_of_a_gather(world: &'static World) {
    const TEXT: &str = "StencilConstantMemory:interrupted: Interrupted.";
    let (rank, ranks) = (world.rank(), world.ranks());
    if ranks == 1 {
        return;
    }
    for (stopped, len) in (0..ranks).flat_map(|stopped| [10, 100_000].map(|len| (stopped, len))) {
        let late = (stopped + 1) % ranks;
        let call = begin(world);
        if rank == stopped {
            let watch = Watch::new();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    nap();
                    watch.stop();
                });
                assert_eq!(call.gather(&bytes(1, len), &watch), Err(Error::Interrupted));
            });
            call.fail(TEXT);
        } else {
            if rank == late {
                nap();
                nap();
            }
            assert_told(call.gather(&bytes(1, len), &Watch::new()), &format!("Rank {stopped} raised {TEXT}"));
            call.fail("what it was told");
        }
        works(world, stopped);
    }
}

/// One rank goes through many calls while the others are in the first. Each hears in each call what belongs to it.
fn fails_far_ahead_of_others(world: &'static World) {
    for bad in 0..world.ranks() {
        for i in 0..50 {
            let call = begin(world);
            if world.rank() == bad {
                call.fail(&format!("number {i}"));
                continue;
            }
            if i == 0 {
                nap();
            }
            assert_told(ring(&call, i, 1000), &format!("Rank {bad} raised number {i}"));
            call.fail("what it was told");
        }
        works(world, bad);
    }
}

fn all_fail_at_once(world: &'static World) {
    for i in 0..200 {
        let call = begin(world);
        if i % 3 == 0 {
            // Some may have heard of others already.
            let _ = ring(&call, i, 10);
        }
        call.fail(&format!("number {i}"));
        if i % 20 == 0 {
            works(world, i);
        }
    }
}

/// What was sent in a call that failed is nobody's, and does not pile up.
fn left_overs_are_thrown_away(world: &'static World) {
    const LEN: usize = 2 << 20;
    let (rank, ranks) = (world.rank(), world.ranks());
    if ranks == 1 {
        return;
    }
    let mut before = 0;
    for i in 0..40 {
        let call = begin(world);
        let next = (rank + 1) % ranks;
        let last = (rank + ranks - 1) % ranks;
        // Short ones lie there, long ones wait with their sender; and one rank alone expects any.
        let sends = vec![(next, vec![i as u8; LEN]), (next, vec![i as u8; 100])];
        let receives = if rank == 0 { vec![(last, LEN), (last, 100), (last, LEN)] } else { Vec::new() };
        drop(exchange(&call, sends, &receives));
        call.fail("an error of its own");
        let call = begin(world);
        ring(&call, i, LEN).expect("a ring");
        end(call);
        works(world, i);
        if i == 10 {
            before = resident();
        }
    }
    let grown = resident().saturating_sub(before);
    // Those of some rounds may still be on their way. If they piled up, there would be those of 29.
    assert!(grown < 14 * LEN, "{grown} bytes more than after 10 of 40 rounds");
}

/// The memory that this process has, in bytes.
fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").expect("the system tells");
    4096 * statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("a number")
}

/// A rank is interrupted while it waits for others to end the call, or fails when others wait there.
fn ends_on_all_or_on_none(world: &'static World) {
    let (rank, ranks) = (world.rank(), world.ranks());
    if ranks == 1 {
        return;
    }
    for bad in 0..ranks {
        // Interrupted in the wait, while one is late.
        let mut call = begin(world);
        let late = (bad + 1) % ranks;
        if rank == bad {
            let watch = Watch::new();
            watch.stop();
            assert_eq!(call.end(&watch), Err(Error::Interrupted));
            call.fail("interrupted");
        } else {
            if rank == late {
                nap();
            }
            assert_told(call.end(&Watch::new()), &format!("Rank {bad} raised interrupted"));
            call.fail("what it was told");
        }
        // An error when all others are done.
        let mut call = begin(world);
        if rank == bad {
            nap();
            call.fail(OPTION);
        } else {
            assert_told(call.end(&Watch::new()), &format!("Rank {bad} raised {OPTION}"));
            drop(call);
        }
        works(world, bad);
    }
    // At any moment: all have a result, or none.
    for i in 0..300 {
        let mut call = begin(world);
        let result = if rank == i % ranks {
            let watch = Watch::new();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_micros((i * 7 % 200) as u64));
                    watch.stop();
                });
                call.end(&watch)
            })
        } else {
            call.end(&Watch::new())
        };
        if result.is_err() {
            call.fail("interrupted");
        }
        let call = begin(world);
        let all = call.gather(&[u8::from(result.is_ok())], &Watch::new()).expect("a gathering");
        assert!(all.iter().all(|one| *one == all[0]), "call {i}: {all:?}");
        end(call);
    }
}

fn faults_of_the_caller(world: &'static World) {
    let (rank, ranks) = (world.rank(), world.ranks());
    // A call inside another is refused, and counts for nothing.
    let call = begin(world);
    if rank == 0 {
        assert!(matches!(world.call().map(drop), Err(Error::Busy)));
    }
    end(call);
    works(world, 1);
    // A call that is dropped.
    let call = begin(world);
    if rank == 0 {
        drop(call);
    } else {
        assert_told(call.gather(&[1], &Watch::new()), "Rank 0 ended this call early, for a fault of its own.");
        call.fail("what it was told");
    }
    works(world, 2);
    // Messages to oneself and to nobody, of another length, and such as are given up.
    for other in [rank, ranks] {
        let call = begin(world);
        assert!(matches!(exchange(&call, vec![(other, Vec::new())], &[]).map(drop), Err(Error::Internal(_))));
        drop(call);
    }
    works(world, 3);
    if ranks == 1 {
        return;
    }
    let mut call = begin(world);
    if rank == 1 {
        match exchange(&call, Vec::new(), &[(0, 11)]).and_then(wait) {
            Err(Error::Internal(text)) => assert_eq!(text, "Rank 0 sent 10 bytes where 11 were expected."),
            other => panic!("{other:?}"),
        }
        call.fail(OPTION);
    } else {
        let sends = if rank == 0 { vec![(1, vec![1; 10])] } else { Vec::new() };
        let result = exchange(&call, sends, &[]).and_then(wait);
        assert_told(result.and_then(|_| call.end(&Watch::new())), &format!("Rank 1 raised {OPTION}"));
        drop(call);
    }
    works(world, 4);
    let mut call = begin(world);
    if rank == 0 {
        drop(exchange(&call, Vec::new(), &[(1, 8)]).expect("a message"));
        assert!(matches!(call.end(&Watch::new()), Err(Error::Internal(_))));
        call.fail(OPTION);
    } else {
        assert_told(call.end(&Watch::new()), &format!("Rank 0 raised {OPTION}"));
        drop(call);
    }
    works(world, 5);
    // A text of any length, cut between two characters.
    let call = begin(world);
    if rank == 0 {
        call.fail(&"é".repeat(5000));
    } else {
        let Err(Error::Rank(told)) = call.gather(&[1], &Watch::new()) else { panic!("no error") };
        let start = told.strip_prefix("Rank 0 raised ").expect("who");
        assert!((400..600).contains(&start.chars().count()) && start.chars().all(|letter| letter == 'é'), "{told}");
        drop(call);
    }
    works(world, 6);
}

/// Its exit is nobody's leave, also when it was forked in the middle of a call.
fn a_forked_process_is_no_rank(world: &'static World) {
    works(world, 1);
    let call = begin(world);
    // SAFETY: this process has one thread beside those of MPI; the child asks, and ends as a script would.
    match unsafe { libc::fork() } {
        0 => {
            let is_refused =
                |result: Result<(), Error>| matches!(result, Err(Error::Rank(text)) if text.contains("forked"));
            let mut good = is_refused(World::get().map(drop)) && is_refused(world.call().map(drop));
            if world.ranks() > 1 {
                good &= is_refused(ring(&call, 1, 10));
            }
            drop(call);
            // SAFETY: it runs the functions that are registered, as a script's end does.
            unsafe { libc::exit(i32::from(!good)) }
        }
        child => {
            let mut ended = -1;
            // SAFETY: the address is that of an int.
            assert_eq!(unsafe { libc::waitpid(child, &mut ended, 0) }, child);
            assert_eq!(ended, 0, "what the forked process found");
        }
    }
    ring(&call, 3, 100).expect("a ring");
    end(call);
    works(world, 2);
}

/// A script that ends early, or has raised an error where no others are.
fn exits_between_calls(world: &'static World) {
    works(world, 1);
    let leaver = world.ranks() - 1;
    if world.rank() == leaver {
        if world.ranks() > 1 {
            nap();
        }
        println!("{DONE}");
        std::process::exit(0);
    }
    for _ in 0..3 {
        let call = begin(world);
        assert_told(call.gather(&[1], &Watch::new()), &left(leaver));
        call.fail("what it was told");
    }
}

/// With messages on their way, of this call and one before it.
fn exits_in_the_middle_of_a_call(world: &'static World) {
    const LEN: usize = 4 << 20;
    let (rank, ranks) = (world.rank(), world.ranks());
    works(world, 1);
    let leaver = ranks / 2;
    let others: Vec<_> = (0..ranks).filter(|&other| other != rank).collect();
    let send_all = |call: &Call| {
        let sends = others.iter().flat_map(|&other| [(other, vec![1; LEN]), (other, vec![1; 10])]).collect();
        let receives: Vec<_> = others.iter().map(|&other| (other, LEN + 1)).collect();
        drop(exchange(call, sends, &receives));
    };
    let call = begin(world);
    send_all(&call);
    call.fail("an error of its own");
    let mut call = begin(world);
    if rank == leaver {
        let sends = others.iter().map(|&other| (other, vec![2; LEN])).collect();
        let receives: Vec<_> = others.iter().map(|&other| (other, LEN)).collect();
        let under_way = exchange(&call, sends, &receives);
        if ranks > 1 {
            nap();
        }
        println!("{DONE}");
        std::mem::forget(under_way);
        std::process::exit(0);
    }
    let result = exchange(&call, others.iter().map(|&other| (other, vec![3; LEN])).collect(), &[]);
    let result = result.and_then(wait).map(drop);
    assert_told(result.and_then(|()| call.end(&Watch::new())), &left(leaver));
    drop(call);
    let call = begin(world);
    assert_told(call.gather(&[1], &Watch::new()), &left(leaver));
}

/// A panic unwinds through a call, as an error of the host's does.
fn a_panic_ends_all(world: &'static World) {
    let caught = std::panic::catch_unwind(|| {
        let call = begin(world);
        if world.rank() == 0 {
            // Without the words of the hook.
            std::panic::resume_unwind(Box::new("part of the test"));
        }
        call.gather(&[1], &Watch::new()).map(drop)
    });
    if world.rank() == 0 {
        assert!(caught.is_err());
    } else {
        assert_told(caught.expect("no panic"), "Rank 0 ended this call early, for a fault of its own.");
    }
    works(world, 1);
}

/// How many ranks there are of it, or none where it is run without a launcher.
/// Cases of ranks with a GPU each, or the one there is, and the environment they run in: with memory that reaches from
/// process to process, and without.
const ON_GPUS: [OfGpus; 4] = [
    ("halos_of_gpus", 2, &[], halos_of_gpus),
    ("halos_of_gpus", 3, &[], halos_of_gpus),
    ("halos_of_gpus_that_share_no_memory", 2, &[("CUDA_STAND_IN_IPC", "0")], halos_of_gpus_that_share_no_memory),
    ("a_gpu_fails_while_others_read_its_halos", 3, &[], a_gpu_fails_while_others_read_its_halos),
];

/// A name, how many ranks, their environment, and what each does.
type OfGpus = (&'static str, usize, &'static [(&'static str, &'static str)], fn(&'static World));

/// A call of a world of planes of 24 numbers over this rank's GPU, in rounds of a sweep each, or a few.
struct OnGpu {
    world: &'static World,
    engine: Cuda,
    planes: usize,
    sides: Sides<f64>,
}

/// The rows of a plane, and the sweeps.
const ROWS: usize = 24;
const SWEEPS: usize = 12;

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
            let [mut from, mut to] = [mine.len(); 2].map(|len| Compute::<f64>::array(engine, len).expect("room"));
            Compute::copy(engine, Source::Host(&all[mine.clone()]), Target::Array(&mut from), &watch)?;
            run_with_others(&call, engine, &whole, Source::Array(&from), Target::Array(&mut to), &watch)?;
            let mut results = vec![f64::NAN; mine.len()];
            Compute::copy(engine, Source::Array(&to), Target::Host(&mut results), &watch)?;
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

    /// What one process makes of it.
    fn expected(&self) -> Vec<f64> {
        let (all, watch) = (self.samples(), Watch::new());
        let mut results = vec![f64::NAN; all.len()];
        let reference: &(dyn Engine + 'static) = &Reference;
        let (from, to) = (Source::Host(&all[..]), Target::Host(&mut results[..]));
        Compute::convolution(reference, &self.what(self.planes), from, to, &watch).expect("the reference");
        results[self.mine()].to_vec()
    }
}

/// How often the stand-in's memory of other processes was opened since it was reset.
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

type Apart = (&'static str, Option<usize>, fn());

/// Cases that begin MPI themselves, or do without it.
const APART: [Apart; 6] = [
    ("started_by_somebody_else", Some(3), started_by_somebody_else),
    ("started_for_one_thread", Some(2), started_for_one_thread),
    ("ended_before", Some(2), ended_before),
    ("without_a_launcher", None, without_a_launcher),
    ("without_its_launcher", None, without_its_launcher),
    ("without_mpi", None, without_mpi),
];

/// A function of MPI's.
fn mpi(name: &str) -> *mut c_void {
    let shim = env::current_exe().expect("this program").with_file_name("libstencil_mpi.so");
    let shim = CString::new(shim.into_os_string().into_encoded_bytes()).expect("a path");
    let name = CString::new(name).expect("a name");
    // SAFETY: both end in NUL, and the library does nothing as it is loaded.
    let found = unsafe { libc::dlsym(libc::dlopen(shim.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL), name.as_ptr()) };
    assert!(!found.is_null(), "MPI has no {name:?}");
    found
}

fn init_thread(wanted: c_int) -> c_int {
    type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int, *mut c_int) -> c_int;
    let mut provided = -1;
    // SAFETY: so MPI declares it; it may be told of no arguments.
    let code = unsafe {
        let init = std::mem::transmute::<*mut c_void, Init>(mpi("MPI_Init_thread"));
        init(std::ptr::null_mut(), std::ptr::null_mut(), wanted, &mut provided)
    };
    assert_eq!(code, 0);
    provided
}

fn finalize() {
    // SAFETY: so MPI declares it.
    let code = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(mpi("MPI_Finalize"))() };
    assert_eq!(code, 0);
}

fn refused(words: &str) {
    for _ in 0..2 {
        match World::get().map(drop) {
            Err(Error::Rank(text)) => assert!(text.contains(words), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

/// Of Open MPI and MPICH, as of all that are made from it.
const MULTIPLE: c_int = 3;
const SINGLE: c_int = 0;

/// Who started it ends it: one rank early, and the others hear of that.
fn started_by_somebody_else() {
    init_thread(MULTIPLE);
    let world = World::get().expect("ranks");
    works(world, 1);
    if world.rank() != 0 {
        let call = begin(world);
        assert_told(call.gather(&[1], &Watch::new()), &left(0));
        drop(call);
    }
    finalize();
    assert!(matches!(world.call().map(drop), Err(Error::Rank(text)) if text == "MPI has ended in this process."));
}

fn started_for_one_thread() {
    if init_thread(SINGLE) != SINGLE {
        // This MPI has no such level.
        finalize();
        return;
    }
    refused("by other code in this process");
    finalize();
}

fn ended_before() {
    init_thread(MULTIPLE);
    finalize();
    refused("MPI has ended in this process");
}

/// It is one rank.
fn without_a_launcher() {
    assert!(!World::is_launched());
    let world = World::get().expect("a rank");
    assert_eq!((world.rank(), world.ranks()), (0, 1));
    works(world, 1);
}

fn without_its_launcher() {
    assert!(World::is_launched());
    refused("The launcher started 4 processes, but this one knows of no other");
}

fn without_mpi() {
    refused("libopenmpi-dev");
}

/// What one rank does.
fn rank(case: &str) {
    // SAFETY: it ends the process if all else fails.
    unsafe { libc::alarm(LIMIT.as_secs() as u32 + 10) };
    match (CASES.iter().find(|known| known.0 == case), APART.iter().find(|known| known.0 == case)) {
        (Some((_, run)), _) => run(World::get().expect("ranks")),
        (_, Some((_, _, run))) => run(),
        _ => match ON_GPUS.iter().find(|known| known.0 == case) {
            Some((.., run)) => {
                run(World::get().expect("ranks"));
                // What is alive when a process ends is a fault on the stand-in.
                cuda::release();
            }
            None => panic!("there is no case {case}"),
        },
    }
    println!("{DONE}");
}

/// Where the ranks are run: this program, and beside it what speaks MPI.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn make() -> Result<Folder, String> {
        let say = |error: std::io::Error| error.to_string();
        let folder = Folder { path: env::temp_dir().join(format!("stencil-ranks-{}", std::process::id())) };
        let bare = folder.path.join("bare");
        fs::create_dir_all(&bare).map_err(say)?;
        let this = env::current_exe().map_err(say)?;
        for to in [folder.program(), bare.join("ranks")] {
            fs::hard_link(&this, &to).or_else(|_| fs::copy(&this, &to).map(drop)).map_err(say)?;
        }
        Ok(folder)
    }

    fn program(&self) -> PathBuf {
        self.path.join("ranks")
    }

    /// Why there can be no ranks here.
    fn absent(&self) -> Result<Option<String>, String> {
        if Command::new("mpirun").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            return Ok(Some("there is no mpirun".into()));
        }
        let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
        let build = Command::new(Path::new(&root).join("matlab/build-mex")).arg("--mpi").arg(&self.path).output();
        let build = build.map_err(|error| format!("matlab/build-mex: {error}"))?;
        match build.status.code() {
            Some(0) => Ok(None),
            Some(3) => Ok(Some("there is no mpicc".into())),
            _ => Err(format!("matlab/build-mex: {}", String::from_utf8_lossy(&build.stdout))),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Runs a case, and wants each rank to say that all was well.
fn run(command: &mut Command, case: &str, ranks: usize) -> Result<(), Failed> {
    // Options of Open MPI's by their variables, which others do not mind: more ranks than processors, none of them bound
    // to one, no network.
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("OMPI_MCA_btl_tcp_if_include", "lo"),
        ("OMPI_MCA_oob_tcp_if_include", "lo"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
        ("PRTE_MCA_hwloc_default_binding_policy", "none"),
        ("FI_PROVIDER", "shm,tcp"),
        (CASE, case),
    ] {
        command.env(name, value);
    }
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
    let mut readers = Vec::new();
    for pipe in [
        child.stdout.take().map(|p| Box::new(p) as Box<dyn Read + Send>),
        child.stderr.take().map(|p| Box::new(p) as _),
    ] {
        let mut pipe = pipe.ok_or("no pipe")?;
        readers.push(std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        }));
    }
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if since.elapsed() > LIMIT {
            // It ends what it started.
            // SAFETY: the process is ours, and has not been waited for.
            unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
            std::thread::sleep(Duration::from_secs(3));
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let told: String = readers.into_iter().map(|reader| reader.join().unwrap_or_default()).collect();
    let done = told.matches(DONE).count();
    match status {
        None => Err(format!("not over after {LIMIT:?}; {done} of {ranks} ranks were done:\n{told}").into()),
        Some(status) if !status.success() || done != ranks => {
            Err(format!("{status}; {done} of {ranks} ranks were done:\n{told}").into())
        }
        Some(_) => {
            print!("{}", told.replace(&format!("{DONE}\n"), ""));
            Ok(())
        }
    }
}

fn main() {
    if let Ok(case) = env::var(CASE) {
        return rank(&case);
    }
    let mut arguments = Arguments::from_args();
    // Several ranks have enough to do with each other.
    arguments.test_threads = Some(1);
    let folder = Folder::make();
    let absent = folder.as_ref().map_err(Clone::clone).and_then(Folder::absent);
    let path = folder.as_ref().map(|folder| folder.path.clone()).unwrap_or_default();
    let (absent, broken) = match absent {
        Ok(absent) => (absent, None),
        Err(error) => (None, Some(error)),
    };
    let reason = absent.as_deref().map(|reason| format!(" (skipped: {reason})")).unwrap_or_default();
    let mut trials = Vec::new();
    let mut add =
        |name: String, case: &'static str, ranks: Option<usize>, bare: bool, variables: &'static [(&str, &str)]| {
            let program = if bare { path.join("bare/ranks") } else { path.join("ranks") };
            let broken = broken.clone();
            let test = move || {
                if let Some(error) = broken {
                    return Err(error.into());
                }
                let mut command = match ranks {
                    Some(ranks) => {
                        let mut command = Command::new("mpirun");
                        command.arg("-np").arg(ranks.to_string()).arg(program);
                        command
                    }
                    None => Command::new(program),
                };
                run(command.envs(variables.iter().copied()), case, ranks.unwrap_or(1))
            };
            trials.push(Trial::test(format!("ranks::{name}{reason}"), test).with_ignored_flag(absent.is_some()));
        };
    for (case, _) in CASES {
        for ranks in RANKS.into_iter().filter(|&ranks| selection::takes_test(ranks == SELECTED)) {
            add(format!("{case}::{ranks}"), case, Some(ranks), false, &[]);
        }
    }
    for (number, case) in ON_LOOPBACK.into_iter().enumerate() {
        if !selection::takes_test(number == 0) {
            continue;
        }
        add(format!("{case}::loopback"), case, Some(3), false, &[("OMPI_MCA_btl", "self,tcp")]);
    }
    for (case, ranks, _) in APART.into_iter().filter(|_| selection::takes_test(true)) {
        let variables: &[_] = if case == "without_its_launcher" { &[("MV2_COMM_WORLD_SIZE", "4")] } else { &[] };
        add(case.into(), case, ranks, case == "without_mpi", variables);
    }
    let mut on_gpus = 0;
    for (case, ranks, variables, _) in ON_GPUS.into_iter().filter(|_| selection::takes_test(true)) {
        on_gpus += 1;
        add(format!("{case}::{ranks}"), case, Some(ranks), false, variables);
    }
    if let Err(reason) = Driver::get() {
        let those = trials.split_off(trials.len() - on_gpus);
        trials.extend(those.into_iter().map(|trial| {
            Trial::test(format!("{} (skipped: {reason})", trial.name()), || Ok(())).with_ignored_flag(true)
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(folder);
    conclusion.exit();
}
