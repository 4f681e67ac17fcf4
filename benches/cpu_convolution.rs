//! The CPU engine's convolutions as a share of the peak of the processor's units for fused multiply-adds, and compared
//! with Octave's `conv2`.
//!
//! ```text
//! cargo bench -p stencil-mex-benches --bench cpu_convolution [-- --quick]
//! ```
//! The peak is measured in the same run, by the same number of threads: chains of fused multiply-adds in registers.
//! Peak and work take turns, and the best of each counts: what else runs on the machine takes from both. The share
//! compares the best with the best. "of processor time" is the best share where both are divided by the time that the
//! threads had a processor, instead of the time that passed: on a busy machine it tells more.
//!
//! Outputs lie in large pages where the system has them, as those of the gateway do.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use stencil_mex::cpu::{Cpu, Level};
use stencil_mex::platform::watch::Watch;
use stencil_mex::platform::workers::Workers;
use stencil_mex::stencil::{Boundary, Compute, Convolution, Filter, Number, Source, Target};

/// Concurrent chains: enough for every unit to have one without a dependency.
const CHAINS: usize = 12;

/// Steps of each chain in a measurement of the peak: some milliseconds.
const STEPS: u64 = 1 << 22;

/// Does this number of steps of [`CHAINS`] chains of vectors; returns a number that depends on all of them.
macro_rules! chains {
    ($name:ident, [$($feature:tt),+], $splat:ident, $fma:ident, $add:ident, $low:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature($(enable = $feature),+)]
        fn $name(steps: u64) -> f64 {
            use std::arch::x86_64::*;
            let (factor, addend) = ($splat(black_box(0.999)), $splat(black_box(0.001)));
            let mut chains = [$splat(black_box(0.5)); CHAINS];
            for _ in 0..steps {
                for chain in &mut chains {
                    *chain = $fma(*chain, factor, addend);
                }
            }
            let sum = chains.into_iter().reduce(|a, b| $add(a, b));
            sum.map_or(0.0, |sum| $low(sum))
        }
    };
}

chains!(chains_of_512, ["avx512f"], _mm512_set1_pd, _mm512_fmadd_pd, _mm512_add_pd, _mm512_cvtsd_f64);
chains!(chains_of_256, ["avx", "fma"], _mm256_set1_pd, _mm256_fmadd_pd, _mm256_add_pd, _mm256_cvtsd_f64);

/// Does this number of steps of the chains in the vectors of `level`; returns the number of operations of a step.
fn chains(level: Level, steps: u64) -> f64 {
    let (sum, lanes) = match level {
        // SAFETY: an engine of this level was made, so the processor has its instructions; here and below.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => (unsafe { chains_of_512(black_box(steps)) }, 8),
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => (unsafe { chains_of_256(black_box(steps)) }, 4),
        _ => {
            let mut chains = [black_box(0.5_f64); CHAINS];
            for _ in 0..black_box(steps) {
                chains.iter_mut().for_each(|chain| *chain = chain.mul_add(black_box(0.999), 0.001));
            }
            (chains.iter().sum(), 1)
        }
    };
    black_box(sum);
    (2 * lanes * CHAINS) as f64
}

/// Elapsed seconds, and processor seconds per thread.
struct Clock {
    start: Instant,
    used: f64,
}

impl Clock {
    fn start() -> Clock {
        Clock { start: Instant::now(), used: Clock::used() }
    }

    fn seconds(&self, threads: usize) -> [f64; 2] {
        [self.start.elapsed().as_secs_f64(), (Clock::used() - self.used) / threads as f64]
    }

    /// Seconds that this process had a processor.
    fn used() -> f64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: it writes the time there.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }
}

/// GFLOP/s in double of this number of threads that work in registers, by both clocks.
fn peak(level: Level, threads: usize, steps: u64) -> [f64; 2] {
    let clock = Clock::start();
    let each: f64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| chains(level, steps))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    clock.seconds(threads).map(|seconds| each * steps as f64 / seconds / 1e9)
}

/// Quantity that is measured.
struct Case {
    name: &'static str,
    size: [usize; 3],
    filter: [usize; 3],
    sweeps: usize,
    boundary: Boundary<f64>,
    single: bool,
}

/// GFLOP/s of one call, by both clocks.
fn rate<T: Number>(engine: &Cpu, case: &Case, boundary: Boundary<T>, input: &[T], output: &mut [T]) -> [f64; 2] {
    let entries = case.filter.iter().product::<usize>();
    let filter = Filter::new(vec![T::from_f64(0.9 / entries as f64); entries], case.filter).unwrap();
    let what = Convolution::new(case.size, filter).with_boundary(boundary).with_sweeps(case.sweeps);
    let clock = Clock::start();
    engine.convolution(&what, Source::Host(input), Target::Host(output), &Watch::new()).unwrap();
    let operations = (2 * entries * case.sweeps) as f64 * input.len() as f64;
    clock.seconds(Workers::count()).map(|seconds| operations / seconds / 1e9)
}

/// Returns zeros, in large pages if the system has them.
fn zeros<T: Number>(elements: usize) -> Vec<T> {
    let mut zeros = Vec::<T>::with_capacity(elements);
    let (start, end) = (zeros.as_ptr().addr().next_multiple_of(1 << 21), zeros.as_ptr_range().start.addr());
    let last = end + elements * size_of::<T>();
    if start < last {
        // SAFETY: pages of the vector, not written yet; the advice changes no contents.
        unsafe { libc::madvise(zeros.as_mut_ptr().with_addr(start).cast(), last - start, libc::MADV_HUGEPAGE) };
    }
    zeros.resize(elements, T::default());
    zeros
}

fn measure<T: Number>(engine: &Cpu, level: Level, case: &Case, boundary: Boundary<T>, quick: bool) {
    let elements = case.size.iter().product::<usize>();
    let input: Vec<T> = (0..elements).map(|i| T::from_f64((i as f64).sin())).collect();
    let mut output = zeros::<T>(elements);
    let steps = if quick { STEPS / 16 } else { STEPS };
    let (start, least, seconds) = (Instant::now(), if quick { 2 } else { 7 }, if quick { 0.2 } else { 3.0 });
    // A single has half the bytes of a double: a vector has twice the number.
    let of_class = 8.0 / size_of::<T>() as f64;
    let (mut best_peak, mut best_rate, mut rounds) = ([0.0_f64; 2], [0.0_f64; 2], 0);
    while rounds < least || (start.elapsed().as_secs_f64() < seconds && rounds < 1000) {
        let peak = peak(level, Workers::count(), steps);
        let rate = rate(engine, case, boundary, &input, &mut output);
        for clock in 0..2 {
            best_peak[clock] = best_peak[clock].max(of_class * peak[clock]);
            best_rate[clock] = best_rate[clock].max(rate[clock]);
        }
        rounds += 1;
    }
    println!(
        "{},{},{:.1},{:.1},{:.3},{:.3},{:.4}",
        level.name(),
        case.name,
        best_rate[0],
        best_peak[0],
        best_rate[0] / best_peak[0],
        best_rate[1] / best_peak[1],
        (2 * case.filter.iter().product::<usize>() * case.sweeps * elements) as f64 / best_rate[0] / 1e6,
    );
}

/// Milliseconds of Octave's `conv2 (A, K, 'same')`, 3 x 3 over 512 x 512: the best of many. `None` without an Octave.
fn conv2() -> Option<f64> {
    let script = "A = rand (512); K = rand (3); best = Inf; for n = 1:200, t = tic (); B = conv2 (A, K, 'same'); \
                  best = min (best, toc (t)); end; printf ('%.6f', best * 1e3);";
    let octave = Command::new("octave-cli").args(["--norc", "--no-history", "--quiet", "--eval", script]).output();
    String::from_utf8(octave.ok()?.stdout).ok()?.trim().parse().ok()
}

fn main() {
    // Under `cargo test` only see that it runs.
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--quick");
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let plain =
        |name, size, filter, sweeps| Case { name, size, filter, sweeps, boundary: Boundary::default(), single: false };
    let image = if quick { [256, 256, 1] } else { [4096, 4096, 1] };
    let small = [512, 512, 1];
    let volume = if quick { [32; 3] } else { [160; 3] };
    let cases = [
        plain("3x3 100 sweeps", image, [3, 3, 1], 100),
        Case { boundary: Boundary::Circular, ..plain("3x3 100 sweeps circular", image, [3, 3, 1], 100) },
        Case { single: true, ..plain("3x3 100 sweeps single", image, [3, 3, 1], 100) },
        plain("5x5 100 sweeps", image, [5, 5, 1], 100),
        plain("7x7 100 sweeps", image, [7, 7, 1], 100),
        plain("15x15 3 sweeps", image, [15, 15, 1], 3),
        plain("3x3x3 100 sweeps", volume, [3, 3, 3], 100),
        Case { boundary: Boundary::Circular, ..plain("3x3x3 100 sweeps circular", volume, [3, 3, 3], 100) },
        Case { single: true, ..plain("3x3x3 100 sweeps single", volume, [3, 3, 3], 100) },
        plain("5x5x5 20 sweeps", volume, [5, 5, 5], 20),
        plain("7x7x7 5 sweeps", volume, [7, 7, 7], 5),
        plain("3x3 1 sweep", image, [3, 3, 1], 1),
        plain("7x7 1 sweep", image, [7, 7, 1], 1),
        plain("15x15 1 sweep", image, [15, 15, 1], 1),
        plain("3x3x3 1 sweep", volume, [3, 3, 3], 1),
        plain("512 3x3 1 sweep", small, [3, 3, 1], 1),
        plain("512 3x3 100 sweeps", small, [3, 3, 1], 100),
        plain("256 3x3 1000 sweeps", [256, 256, 1], [3, 3, 1], 1000),
        plain("64 3x3 1000 sweeps", [64, 64, 1], [3, 3, 1], 1000),
        plain("20 3x3 1 sweep", [20, 20, 1], [3, 3, 1], 1),
        plain("20 3x3 1000 sweeps", [20, 20, 1], [3, 3, 1], 1000),
    ];
    println!("level,case,GFLOP/s,peak in registers,share,of processor time,best ms");
    for level in Level::ALL {
        let Some(engine) = Cpu::with_level(level) else { continue };
        // Without vectors it takes minutes: only where it is asked for by name.
        if level == Level::Portable && !filter.as_ref().is_some_and(|filter| filter.contains(level.name())) {
            continue;
        }
        for case in &cases {
            let name = format!("{} {}", level.name(), case.name);
            if filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
                continue;
            }
            let boundary = case.boundary;
            match case.single {
                false => measure::<f64>(&engine, level, case, boundary, quick),
                true => {
                    measure::<f32>(&engine, level, case, boundary.map(|value| value as f32), quick);
                }
            }
        }
    }
    if !quick && filter.as_ref().is_none_or(|filter| "conv2".contains(filter.as_str())) {
        beside_conv2();
    }
    Workers::release();
}

/// A single pass of 3 x 3 over 512 x 512 and Octave's, in turns.
fn beside_conv2() {
    let engine = Cpu::new();
    let input: Vec<f64> = (0..512 * 512).map(|i| f64::from(i).sin()).collect();
    let mut output = vec![0.0; input.len()];
    let filter = Filter::new(vec![0.1; 9], [3, 3, 1]).unwrap();
    let what = Convolution::new([512, 512, 1], filter);
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        let Some(ms) = conv2() else { return println!("conv2: there is no octave-cli") };
        theirs = theirs.min(ms);
        for _ in 0..500 {
            let start = Instant::now();
            engine.convolution(&what, Source::Host(&input), Target::Host(&mut output), &Watch::new()).unwrap();
            ours = ours.min(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    println!("conv2 512x512 by 3x3: {theirs:.3} ms, the engine {ours:.3} ms: {:.2} times as fast", theirs / ours);
}
