//! Whole calls of the engines, from ordinary memory to ordinary memory that was written before; the CPU engine, on 1,
//! 2, .. threads, compared with a copy of the same bytes by the same number of threads; and arithmetic compared with
//! copies.
//!
//! `cargo bench -p stencil-mex-benches --bench engines` runs all, `-- copy` the second alone, `-- taps` the first,
//! `-- arithmetic` the third.
//! The second prints lines of CSV: `copy,TAPS,N,THREADS,engine ms,copy ms,engine / copy,quartiles of that`, from an ordinary input to fresh pages.
//! Engine and copy take turns, and the ratio is that of neighbours. A call of 21 taps over 10^8 points is to take no
//! more than 1.3 times the copy.

use std::time::Instant;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use stencil_mex::cpu::{Cpu, Level};
use stencil_mex::cuda::Cuda;
use stencil_mex::platform::watch::Watch;
use stencil_mex::platform::workers::Workers;
use stencil_mex::stencil::{
    Array, Arrays, Binary, Compute, Engine, Expansion, Lines, Operand, Reduction, Reference, Source, Stencil, Taps,
    Target,
};

fn engines() -> Vec<(String, Box<dyn Engine>)> {
    let mut engines: Vec<(String, Box<dyn Engine>)> = vec![("reference".into(), Box::new(Reference))];
    for level in Level::ALL {
        if let Some(cpu) = Cpu::with_level(level) {
            engines.push((level.name().into(), Box::new(cpu)));
        }
    }
    match Cuda::open(None) {
        Ok(cuda) => engines.push(("cuda".into(), Box::new(cuda))),
        Err(error) => eprintln!("cuda is left out: {error}"),
    }
    engines
}

/// A call, from the host's memory to the host's memory.
fn call(engine: &dyn Engine, stencil: &Stencil, input: &[f64], output: &mut [f64]) {
    engine.stencil(stencil, Source::Host(input), Target::Host(output), &Watch::new()).unwrap();
}

fn sweep(criterion: &mut Criterion) {
    let engines = engines();
    for taps in [5, 21] {
        let mut group = criterion.benchmark_group(format!("{taps} taps"));
        group.sample_size(10);
        for n in [20, 10_000, 1_000_000, 10_000_000] {
            let input: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let stencil = Stencil::new(Lines::new(n, 1), Taps::new(&vec![0.1; taps]).unwrap());
            let mut output = vec![0.0; n];
            group.throughput(Throughput::Elements(n as u64));
            for (name, engine) in &engines {
                if name == "reference" && n > 1_000_000 {
                    continue;
                }
                group.bench_function(BenchmarkId::new(name, n), |bencher| {
                    bencher.iter(|| call(&**engine, &stencil, &input, &mut output))
                });
            }
        }
        group.finish();
    }
}

/// A call of a hundred sweeps, and one of a single sweep: tiles of many sweeps have to beat a hundred of these.
fn sweeps(criterion: &mut Criterion) {
    const SWEEPS: usize = 100;
    let engines = engines();
    let mut group = criterion.benchmark_group("sweeps of 3 taps");
    group.sample_size(10);
    for n in [1_000, 1_000_000, 1 << 25] {
        let input: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let stencil = Stencil::new(Lines::new(n, 1), Taps::new(&[0.25, 0.5, 0.25]).unwrap());
        let mut output = vec![0.0; n];
        for (name, engine) in engines.iter().filter(|(name, _)| name != "reference" && name != "portable") {
            for sweeps in [1, SWEEPS] {
                let stencil = stencil.with_sweeps(sweeps);
                group.throughput(Throughput::Elements((n * sweeps) as u64));
                group.bench_function(BenchmarkId::new(format!("{name}, {sweeps}"), n), |bencher| {
                    bencher.iter(|| call(&**engine, &stencil, &input, &mut output))
                });
            }
        }
    }
    group.finish();
}

/// The dimensions of a cube, in one sweep and in many.
fn dimensions(criterion: &mut Criterion) {
    const SIDE: usize = 320;
    let engines = engines();
    let input: Vec<f64> = (0..SIDE * SIDE * SIDE).map(|i| (i as f64).sin()).collect();
    let mut output = vec![0.0; input.len()];
    for taps in [3, 21] {
        for sweeps in [1, 10] {
            let mut group = criterion.benchmark_group(format!("cube, {taps} taps, {sweeps} sweeps"));
            group.sample_size(10);
            group.throughput(Throughput::Elements((input.len() * sweeps) as u64));
            for dim in 0..3 {
                let lines = Lines::along(&[SIDE; 3], dim);
                let stencil = Stencil::new(lines, Taps::new(&vec![0.04; taps]).unwrap()).with_sweeps(sweeps);
                for (name, engine) in engines.iter().filter(|(name, _)| name != "reference" && name != "portable") {
                    group.bench_function(BenchmarkId::new(name, dim + 1), |bencher| {
                        bencher.iter(|| call(&**engine, &stencil, &input, &mut output))
                    });
                }
            }
            group.finish();
        }
    }
}

/// Arithmetic on arrays that the CPU engine holds, compared with its copies of the same number of bytes, read and
/// written together: a sum corresponds to a copy of half the array, an addition to one of one and a half.
fn arithmetic(criterion: &mut Criterion) {
    const SIZE: [usize; 2] = [10_000, 1000];
    const N: usize = SIZE[0] * SIZE[1];
    let watch = Watch::new();
    let array = |engine: &Cpu, len: usize| -> Array<f64> {
        let samples: Vec<f64> = (0..len).map(|i| (i as f64).sin()).collect();
        let mut array = engine.array(len).unwrap();
        engine.copy(Source::Host(&samples), Target::Array(&mut array), &watch).unwrap();
        array
    };
    for engine in Level::ALL.into_iter().filter_map(Cpu::with_level) {
        let mut group = criterion.benchmark_group(format!("arithmetic, {}", engine.name()));
        group.sample_size(10);
        let (first, second) = (array(&engine, N), array(&engine, N));
        let (mut to, mut result) = (array(&engine, N), [0.0]);
        let plain = Expansion::new([&SIZE, &SIZE]).unwrap();
        for (name, bytes) in [("sum", 8 * N), ("expand", 16 * N), ("add", 24 * N)] {
            group.throughput(Throughput::Bytes(bytes as u64));
            let (from, mut copied) = (array(&engine, bytes / 16), array(&engine, bytes / 16));
            group.bench_function(BenchmarkId::new("copy beside", name), |bencher| {
                bencher.iter(|| engine.copy(Source::Array(&from), Target::Array(&mut copied), &watch).unwrap())
            });
            if name == "sum" {
                group.bench_function(name, |bencher| {
                    bencher.iter(|| {
                        engine
                            .reduce(Reduction::Sum, &first, None, [1, N, 1], Target::Host(&mut result), &watch)
                            .unwrap();
                    })
                });
                continue;
            }
            let expanding = [("row", [1, SIZE[1]]), ("column", [SIZE[0], 1])];
            let others = expanding.map(|(kind, size)| {
                (format!("{name} {kind}"), array(&engine, size[0] * size[1]), Expansion::new([&SIZE, &size]).unwrap())
            });
            let mut bench = |name: &str, other: &Array<f64>, expansion: &Expansion| {
                let operands = [Operand::Array(&first), Operand::Array(other)];
                group.bench_function(name, |bencher| {
                    bencher.iter(|| engine.binary(Binary::Add, operands, expansion, &mut to, &watch).unwrap())
                });
            };
            match name {
                "add" => bench(name, &second, &plain),
                _ => others.iter().for_each(|(name, other, expansion)| bench(name, other, expansion)),
            }
        }
        group.finish();
    }
}

/// Bytes that a task of the copy moves: its two pieces stay in the second-level cache, as the engine's do.
const PIECE: usize = 1 << 15;

/// Copies by the engine's number of threads, each on the next free piece.
fn copy(input: &[f64], output: &mut [f64]) {
    let threads = Workers::count();
    if threads == 1 {
        return output.copy_from_slice(input);
    }
    let pieces = std::sync::Mutex::new(input.chunks(PIECE).zip(output.chunks_mut(PIECE)));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    // Let go of before the piece is copied.
                    let piece = pieces.lock().unwrap().next();
                    let Some((input, output)) = piece else { break };
                    output.copy_from_slice(input);
                }
            });
        }
    });
}

/// Milliseconds that `fill` takes for fresh pages: zeros that the system makes when they are first touched.
fn into_fresh_pages(n: usize, fill: impl FnOnce(&mut [f64])) -> f64 {
    let mut output = vec![0.0; n];
    let start = Instant::now();
    fill(&mut output);
    let time = start.elapsed().as_secs_f64() * 1e3;
    assert!(output[n / 2] != 0.0);
    time
}

/// The quartiles, the median among them.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[quarter * (values.len() - 1) / 4])
}

/// The CPU engine compared with the copy.
fn beside_the_copy(quick: bool) {
    let engine = Cpu::new();
    let rounds = if quick { 1 } else { 11 };
    // 1, 2, 4, .. and all of them.
    let all = Workers::count();
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|&count| count < all).collect();
    counts.push(all);
    println!("copy,taps,n,threads,engine ms,copy ms,engine / copy,lower,upper");
    for n in if quick { [10_000, 1_000_000] } else { [10_000_000, 100_000_000] } {
        let input: Vec<f64> = (1..=n).map(|i| (i % 1000) as f64 * 1e-3 + 1.0).collect();
        for &threads in &counts {
            Workers::limit(Some(threads));
            for taps in [5, 21] {
                let stencil = Stencil::new(Lines::new(n, 1), Taps::new(&vec![0.1; taps]).unwrap());
                let mut times = Vec::new();
                for round in 0..=rounds {
                    let ours = into_fresh_pages(n, |output| call(&engine, &stencil, &input, output));
                    let copy = into_fresh_pages(n, |output| copy(&input, output));
                    // The first one starts the threads.
                    if round > 0 {
                        times.push((ours, copy));
                    }
                }
                let [_, ours, _] = quartiles(times.iter().map(|time| time.0).collect());
                let [_, copy, _] = quartiles(times.iter().map(|time| time.1).collect());
                let [lower, ratio, upper] = quartiles(times.iter().map(|time| time.0 / time.1).collect());
                println!("copy,{taps},{n},{threads},{ours:.2},{copy:.2},{ratio:.3},{lower:.3},{upper:.3}");
            }
        }
    }
    Workers::limit(None);
    Workers::release();
}

criterion_group!(benches, sweep, sweeps, dimensions, arithmetic);

fn main() {
    // Under `cargo test` or a sanitizer only see that it runs.
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--quick");
    // Criterion's own filter: criterion handles an argument that names neither.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let copy_alone = filter.as_deref() == Some("copy");
    if !copy_alone {
        benches();
        Criterion::default().configure_from_args().final_summary();
    }
    if copy_alone || filter.is_none() {
        beside_the_copy(quick);
    }
}
