//! Whole calls of the engines, from ordinary memory to ordinary memory that was written before.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use stencil_mex::cpu::{Cpu, Level};
use stencil_mex::cuda::Cuda;
use stencil_mex::stencil::{Engine, Lines, Reference, Request, Taps};
use stencil_mex::watch::Watch;

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

fn sweep(criterion: &mut Criterion) {
    let engines = engines();
    for taps in [5, 21] {
        let mut group = criterion.benchmark_group(format!("{taps} taps"));
        group.sample_size(10);
        for n in [20, 10_000, 1_000_000, 10_000_000] {
            let input: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let request = Request::new(&input, Lines::new(n, 1), Taps::new(&vec![0.1; taps]).unwrap()).unwrap();
            let mut output = vec![0.0; n];
            group.throughput(Throughput::Elements(n as u64));
            for (name, engine) in &engines {
                if name == "reference" && n > 1_000_000 {
                    continue;
                }
                group.bench_function(BenchmarkId::new(name, n), |bencher| {
                    bencher.iter(|| engine.stencil(&request, &mut output, &Watch::new()).unwrap())
                });
            }
        }
        group.finish();
    }
}

/// A hundred sweeps at once, beside one alone: a hundred of those are what the tiles of many sweeps have to beat.
fn sweeps(criterion: &mut Criterion) {
    const SWEEPS: usize = 100;
    let engines = engines();
    let mut group = criterion.benchmark_group("sweeps of 3 taps");
    group.sample_size(10);
    for n in [1_000, 1_000_000, 1 << 25] {
        let input: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let request = Request::new(&input, Lines::new(n, 1), Taps::new(&[0.25, 0.5, 0.25]).unwrap()).unwrap();
        let mut output = vec![0.0; n];
        for (name, engine) in engines.iter().filter(|(name, _)| name != "reference" && name != "portable") {
            for sweeps in [1, SWEEPS] {
                let request = request.with_sweeps(sweeps);
                group.throughput(Throughput::Elements((n * sweeps) as u64));
                group.bench_function(BenchmarkId::new(format!("{name}, {sweeps}"), n), |bencher| {
                    bencher.iter(|| engine.stencil(&request, &mut output, &Watch::new()).unwrap())
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
                let request = Request::new(&input, Lines::along(&[SIDE; 3], dim), Taps::new(&vec![0.04; taps]).unwrap()).unwrap();
                let request = request.with_sweeps(sweeps);
                for (name, engine) in engines.iter().filter(|(name, _)| name != "reference" && name != "portable") {
                    group.bench_function(BenchmarkId::new(name, dim + 1), |bencher| {
                        bencher.iter(|| engine.stencil(&request, &mut output, &Watch::new()).unwrap())
                    });
                }
            }
            group.finish();
        }
    }
}

criterion_group!(benches, sweep, sweeps, dimensions);
criterion_main!(benches);
