//! Calls without memory: the limit on addresses grows by a page at a time. Calls return results or errors, and never
//! end the process.
//!
//! Each case runs in its own process, this program started again, because the limit on addresses is the process's.

use std::process::Command;

use libtest_mimic::{Failed, Trial};
use stencil_mex::cpu::Cpu;
use stencil_mex::platform::memory;
use stencil_mex::platform::watch::Watch;
use stencil_mex::platform::workers::Workers;
use stencil_mex::stencil::{
    Boundary, Compute, Convolution, Engine, Error, Filter, Lines, Reference, Source, Stencil, Taps, Target,
};

use crate::common::{PROCESS, task};

/// A name, and a function that walks the limit and returns the numbers of results and of errors.
type Case = (&'static str, fn() -> (usize, usize));

const CASES: [Case; 2] = [("threads", threads), ("runs", runs)];

const PAGE: usize = 4096;

/// Does `work` with a limit of this number of bytes above the process's present size.
fn with_room<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').next().unwrap().parse().unwrap();
    limit((pages * PAGE + bytes) as libc::rlim_t);
    let result = work();
    limit(libc::RLIM_INFINITY);
    result
}

fn limit(bytes: libc::rlim_t) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both get the address of a limit. The hard one stays, so that the soft one can be raised again.
    let failed = unsafe {
        libc::getrlimit(libc::RLIMIT_AS, &mut limit);
        limit.rlim_cur = bytes.min(limit.rlim_max);
        libc::setrlimit(libc::RLIMIT_AS, &limit)
    };
    assert_eq!(failed, 0);
}

/// Two threads, started and ended, from too little for one to enough for both.
fn threads() -> (usize, usize) {
    Workers::limit(Some(2));
    let (mut started, mut refused) = (0, 0);
    for pages in 0..1200 {
        let sum = with_room(pages * PAGE, || {
            let sum = Workers::get().map(|pool| pool.install(|| rayon::join(|| 1, || 2)));
            Workers::release();
            sum
        });
        match sum {
            Some(sum) => {
                assert_eq!(sum, (1, 2));
                started += 1;
            }
            None => refused += 1,
        }
    }
    (started, refused)
}

/// Sweeps of the CPU engine, from too little for anything to enough for all.
fn runs() -> (usize, usize) {
    const SIDE: usize = 500;
    Workers::limit(Some(2));
    let input: Vec<f64> = (0..SIDE * SIDE).map(|i| (i as f64).sin()).collect();
    let filter = Filter::new(vec![0.1; 9], [3, 3, 1]).unwrap();
    let convolution = Convolution::new([SIDE, SIDE, 1], filter).with_boundary(Boundary::Circular).with_sweeps(3);
    let across = Stencil::new(Lines::strided(SIDE, SIDE, 1), Taps::new(&[0.1; 9]).unwrap());
    let along = Stencil::new(Lines::new(SIDE * SIDE, 1), Taps::new(&[0.3; 3]).unwrap()).with_sweeps(250);
    let run = |case: usize, engine: &dyn Engine, output: &mut [f64]| {
        let (from, to, watch) = (Source::Host(&input), Target::Host(output), Watch::new());
        match case {
            0 => engine.convolution(&convolution, from, to, &watch),
            1 => engine.stencil(&across, from, to, &watch),
            2 => engine.stencil(&along, from, to, &watch),
            _ => {
                // To an array, and from there.
                let mut array = engine.array(input.len())?;
                engine.stencil(&across, from, Target::Array(&mut array), &watch)?;
                engine.convolution(&convolution, Source::Array(&array), to, &watch)
            }
        }
    };
    let (mut results, mut errors) = ([0; 4], [0; 4]);
    let mut output = vec![0.0; input.len()];
    for case in 0..4 {
        let mut expected = vec![0.0; input.len()];
        // As at the begin of a call: forgets what an earlier call took of the reserve.
        memory::begin().unwrap();
        run(case, &Reference, &mut expected).unwrap();
        for step in 0..100 {
            memory::begin().unwrap();
            let result = with_room(step * 16 * PAGE, || {
                let result = run(case, &Cpu::new(), &mut output);
                Workers::release();
                result
            });
            match result {
                Ok(()) => {
                    assert!(output == expected, "case {case} with {step} times 64 KiB");
                    results[case] += 1;
                }
                Err(Error::OutOfMemory(text)) => {
                    assert!(text.starts_with("Out of memory: "), "{text}");
                    errors[case] += 1;
                }
                Err(error) => panic!("case {case} with {step} times 64 KiB: {error}"),
            }
        }
    }
    assert!([results, errors].concat().iter().all(|&count| count > 0), "{results:?} results, {errors:?} errors");
    (results.iter().sum(), errors.iter().sum())
}

/// Runs a case in another process.
fn start(name: &str) -> Result<(), Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    // Memory comes from the system and returns there immediately, so that the limit has effect.
    command.env("MALLOC_ARENA_MAX", "1").env("MALLOC_MMAP_THRESHOLD_", "65536").env("MALLOC_TRIM_THRESHOLD_", "65536");
    let output = command.env(PROCESS, task(name)).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{}: {}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
    .into())
}

/// Runs a case, in its own process.
pub fn in_child(name: &str) -> Result<(), String> {
    let (_, run) =
        CASES.into_iter().find(|(case, _)| *case == name).ok_or_else(|| format!("there is no case {name}"))?;
    let (results, errors) = run();
    println!("{results} results, {errors} errors");
    assert!(results > 0 && errors > 0, "the limit was not walked across: {results} results, {errors} errors");
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    CASES.into_iter().map(|(name, _)| Trial::test(format!("memory::{name}"), move || start(name))).collect()
}
