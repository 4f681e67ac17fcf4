//! Ranks that fail, are interrupted or exit: all others hear of it, and the next call works.

use std::fs;
use std::time::Duration;

use stencil_mex::platform::watch::Watch;
use stencil_mex::ranks::{Call, Others, World};
use stencil_mex::stencil::Error;

use super::calls::{DONE, OPTION, assert_told, begin, bytes, end, exchange, left, nap, ring, wait, works};

pub fn fails_before_others_begin(world: &'static World) {
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

pub fn fails_while_others_wait(world: &'static World) {
    for (bad, len) in (0..world.ranks()).flat_map(|bad| [10, 5_000_000].map(|len| (bad, len))) {
        let call = begin(world);
        if world.rank() == bad {
            nap();
            call.fail(OPTION);
        } else {
            // With two ranks or more, some wait for the bad one, and the others wait only at the end.
            let mut call = call;
            let told = format!("Rank {bad} raised {OPTION}");
            let result = ring(&call, 5, len).and_then(|()| call.end(&Watch::new()));
            assert_told(result, &told);
            drop(call);
        }
        works(world, bad);
    }
}

/// A rank is interrupted in a gathering when it has sent something already.
pub fn fails_in_the_middle_of_a_gather(world: &'static World) {
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

/// One rank makes many calls while the others are in the first. Each call receives its own errors.
pub fn fails_far_ahead_of_others(world: &'static World) {
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

pub fn all_fail_at_once(world: &'static World) {
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

/// Messages of a call that failed are thrown away, and do not pile up.
pub fn left_overs_are_thrown_away(world: &'static World) {
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
pub fn ends_on_all_or_on_none(world: &'static World) {
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

pub fn faults_of_the_caller(world: &'static World) {
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
    // Messages to oneself and to no rank, of another length, and cancelled ones.
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

/// The exit of a forked process is no rank's exit, also when it was forked in the middle of a call.
pub fn a_forked_process_is_no_rank(world: &'static World) {
    works(world, 1);
    let call = begin(world);
    // SAFETY: this process has one thread apart from MPI's; the child queries, and ends as a script would.
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
pub fn exits_between_calls(world: &'static World) {
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

/// A rank exits while messages of this call and of the one before it are on their way.
pub fn exits_in_the_middle_of_a_call(world: &'static World) {
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
pub fn a_panic_ends_all(world: &'static World) {
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
