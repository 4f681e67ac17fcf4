//! The CUDA engine against the device's own copy, and host to host, as lines of CSV with medians.
//!
//! `kernel,NAME,N,ms,copy ms,fraction of the copy,TFLOP/s`: each result is compared with the CPU engine's, bit for bit,
//! before its time is told. `host,ENGINE,TAPS,N,ms` is what happens inside `mexFunction`, from an ordinary input to
//! fresh pages.

use std::time::Instant;

use stencil_mex::cpu::Cpu;
use stencil_mex::cuda::measure::{self, Timing};
use stencil_mex::cuda::{self, Cuda};
use stencil_mex::stencil::{
    Boundary, CoefficientSource, Compute, Convolution, Derivative, Engine, Filter, Lines, Real, Request, Taps,
};
use stencil_mex::watch::Watch;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn samples(n: usize) -> Vec<f64> {
    (0..n as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0).collect()
}

fn singles(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

fn taps(count: usize) -> Taps {
    Taps::new(&samples(count + 3)[3..]).unwrap()
}

/// A line about a kernel whose result is right, with the rate of its multiply-adds, so many an output, counted as two
/// operations.
fn report<T: Real>(name: &str, output: &[T], expected: &[T], timing: Timing, multiply_adds: usize) {
    assert!(output.iter().zip(expected).all(|(&a, &b)| a.same(b)), "{name}");
    let [kernel, copy] = [timing.kernel, timing.copy].map(|ms| median(ms.into_iter().map(f64::from).collect()));
    let rate = 2.0 * (multiply_adds * output.len()) as f64 / kernel / 1e9;
    println!("kernel,{name},{},{kernel:.4},{copy:.4},{:.3},{rate:.2}", output.len(), copy / kernel);
}

/// Derivatives and convolutions in double and in single.
fn other_kernels(cuda: &Cuda, input: &[f64], quick: bool) {
    const REPEATS: usize = 21;
    let input_single = singles(input);
    let mut expected = vec![0.0; input.len()];
    let mut output = vec![0.0; input.len()];
    let (mut expected_single, mut output_single) = (vec![0.0_f32; input.len()], vec![0.0_f32; input.len()]);
    let lines = Lines::new(input.len(), 1);
    for source in [CoefficientSource::Constant, CoefficientSource::ReadOnly] {
        let request = Derivative::new(input, lines, 0.1, source).unwrap();
        Cpu::new().derivative(&request, &mut expected, &Watch::new()).unwrap();
        let timing = measure::derivative_double(cuda, &request, &mut output, REPEATS).unwrap();
        report(&format!("derivative double {source:?}"), &output, &expected, timing, 4);
        let request = Derivative::new(&input_single, lines, 0.1, source).unwrap();
        Cpu::new().derivative(&request, &mut expected_single, &Watch::new()).unwrap();
        let timing = measure::derivative_single(cuda, &request, &mut output_single, REPEATS).unwrap();
        report(&format!("derivative single {source:?}"), &output_single, &expected_single, timing, 4);
    }
    let side = if quick { 700 } else { 8192 };
    let cube = if quick { 50 } else { 256 };
    let images = [3, 5, 7, 9, 11, 15].map(|size| ([side, side, 1], [size, size, 1]));
    for (size, filter_size) in images.into_iter().chain([3, 5, 7].map(|size| ([cube; 3], [size; 3]))) {
        let n = size.iter().product();
        let entries = samples(filter_size.iter().product());
        let name = format!("{}x{}x{}", filter_size[0], filter_size[1], filter_size[2]);
        let filter = Filter::new(entries.clone(), filter_size).unwrap();
        let request = Convolution::new(&input[..n], size, filter).unwrap();
        Cpu::new().convolution(&request, &mut expected[..n], &Watch::new()).unwrap();
        let timing = measure::convolution_double(cuda, &request, &mut output[..n], REPEATS).unwrap();
        report(&format!("convolution double {name}"), &output[..n], &expected[..n], timing, entries.len());
        let filter = Filter::new(singles(&entries), filter_size).unwrap();
        let request = Convolution::new(&input_single[..n], size, filter).unwrap();
        Cpu::new().convolution(&request, &mut expected_single[..n], &Watch::new()).unwrap();
        let timing = measure::convolution_single(cuda, &request, &mut output_single[..n], REPEATS).unwrap();
        report(
            &format!("convolution single {name}"),
            &output_single[..n],
            &expected_single[..n],
            timing,
            entries.len(),
        );
    }
}

fn main() {
    let cuda = match Cuda::open(None) {
        Ok(cuda) => cuda,
        Err(error) => return println!("skipped: {error}"),
    };
    // Under `cargo test` or a sanitizer only see that it runs.
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--quick");

    let n = if quick { 1 << 20 } else { 1 << 27 };
    let input = samples(n);
    let mut expected = vec![0.0; n];
    let mut output = vec![0.0; n];
    println!("kernel,name,n,ms,copy ms,of the copy,TFLOP/s");
    for count in (1..=21).step_by(2) {
        let request = Request::new(&input, Lines::new(n, 1), taps(count)).unwrap();
        Cpu::new().stencil(&request, &mut expected, &Watch::new()).unwrap();
        let timing = measure::stencil(&cuda, &request, &mut output, 21).unwrap();
        report(&format!("{count} taps"), &output, &expected, timing, count);
    }
    for (length, count) in [(1000, 134_217), (64, 2_000_000), (10, 13_000_000), (3, 40_000_000)] {
        let lines = if quick { Lines::new(length, 1000) } else { Lines::new(length, count) };
        let request = Request::new(&input[..lines.elements()], lines, taps(21)).unwrap();
        let output = &mut output[..lines.elements()];
        Cpu::new().stencil(&request, &mut expected[..lines.elements()], &Watch::new()).unwrap();
        let timing = measure::stencil(&cuda, &request, output, 21).unwrap();
        report(&format!("21 taps in lines of {length}"), output, &expected[..lines.elements()], timing, 21);
    }
    other_kernels(&cuda, &input, quick);

    many_sweeps(&cuda, &input, quick);

    println!("host,engine,taps,n,ms");
    for count in [11, 21] {
        for n in [20, 1000, 4096, 10_000, 30_000, 100_000, 1_000_000, 10_000_000, 100_000_000] {
            let n = if quick { n.min(1_000_000) } else { n };
            let request = Request::new(&input[..n], Lines::new(n, 1), taps(count)).unwrap();
            let engines: [&dyn Engine; 2] = [&cuda, &Cpu::new()];
            for engine in engines {
                let repeats = (20_000_000 / n).clamp(9, 1001);
                let times = (0..repeats + 2).map(|_| {
                    // Zeroed by the system when first touched: the pages are as fresh as a host's.
                    let mut output = vec![0.0; n];
                    let start = Instant::now();
                    engine.stencil(&request, &mut output, &Watch::new()).unwrap();
                    let time = start.elapsed().as_secs_f64() * 1e3;
                    assert!(output[n / 2] != 0.0);
                    time
                });
                println!("host,{},{count},{n},{:.4}", engine.name(), median(times.skip(2).collect()));
            }
        }
    }
    cuda::release();
}

/// Sweeps of arrays that stay on the device, along each dimension, in updates of a point a second.
fn many_sweeps(cuda: &Cuda, input: &[f64], quick: bool) {
    println!("sweeps,taps,inner,length,outer,boundary,sweeps,ms,G updates/s");
    let n = if quick { 1 << 18 } else { 1 << 26 };
    let edge = if quick { 64 } else { 512 };
    let long = |n| Lines::new(n, 1);
    let cube = [Lines::new(edge, edge * edge), Lines::strided(edge, edge, edge), Lines::strided(edge * edge, edge, 1)];
    let report = |lines: Lines, count: usize, boundary, sweeps| {
        let input = &input[..lines.elements().min(input.len())];
        let request = Request::new(input, lines, smoothing(count)).unwrap().with_boundary(boundary).with_sweeps(sweeps);
        let (mut output, mut expected) = (vec![0.0; input.len()], vec![0.0; input.len()]);
        let times = measure::sweeps(cuda, &request, &mut output, 5).unwrap();
        // The same on the CPU, of so many sweeps as do not take minutes.
        if lines.elements() * sweeps * count < 1 << 35 {
            Cpu::new().stencil(&request, &mut expected, &Watch::new()).unwrap();
            assert!(
                output.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()),
                "{lines:?} {count} taps {boundary:?}"
            );
        }
        let ms = median(times.into_iter().map(f64::from).collect());
        let rate = lines.elements() as f64 * sweeps as f64 / ms / 1e6;
        let (inner, length, outer) = (lines.inner(), lines.length(), lines.outer());
        println!("sweeps,{count},{inner},{length},{outer},{boundary:?},{sweeps},{ms:.4},{rate:.0}");
    };
    for count in (1..=21).step_by(2) {
        report(long(n), count, Boundary::default(), 200);
        report(long(2 * n), count, Boundary::default(), 200);
    }
    for count in [3, 5, 9, 21] {
        for boundary in [Boundary::Replicate, Boundary::Symmetric, Boundary::Circular] {
            report(long(n), count, boundary, 200);
        }
        for lines in cube {
            report(lines, count, Boundary::default(), 1);
            report(lines, count, Boundary::default(), 100);
        }
    }
    for n in [1000, 10_000, 100_000, 1_000_000, 10_000_000] {
        for count in [3, 21] {
            report(long(n), count, Boundary::default(), 1000);
        }
    }
}

/// Taps of a sum of one: repeated, they keep numbers in bounds.
fn smoothing(count: usize) -> Taps {
    Taps::new(&vec![1.0 / count as f64; count]).unwrap()
}
