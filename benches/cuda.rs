//! The CUDA engine against the device's own copy, and host to host, as lines of CSV with medians.
//!
//! `kernel,TAPS,N,ms,copy ms,fraction of the copy` and `host,ENGINE,TAPS,N,ms`: the second is what happens inside `mexFunction`, from an ordinary
//! input to fresh pages. Every result is compared with the CPU engine's, bit for bit, before its time is told.

use std::time::Instant;

use stencil_mex::cpu::Cpu;
use stencil_mex::cuda::{self, Cuda};
use stencil_mex::stencil::{Engine, Lines, Request, Taps, same_bits};

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn samples(n: usize) -> Vec<f64> {
    (0..n as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0).collect()
}

fn taps(count: usize) -> Taps {
    Taps::new(&samples(count + 3)[3..]).unwrap()
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(&a, &b)| same_bits(a, b))
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
    println!("kernel,taps,n,ms,copy ms,of the copy");
    for count in (1..=21).step_by(2) {
        let request = Request::new(&input, Lines::new(n, 1), taps(count)).unwrap();
        Cpu::new().stencil(&request, &mut expected).unwrap();
        let timing = cuda::measure::stencil(&cuda, &request, &mut output, 21).unwrap();
        assert!(same(&output, &expected), "{count} taps");
        let (kernel, copy) = [timing.kernel, timing.copy].map(|ms| median(ms.into_iter().map(f64::from).collect())).into();
        println!("kernel,{count},{n},{kernel:.4},{copy:.4},{:.3}", copy / kernel);
    }
    for (length, count) in [(1000, 134_217), (64, 2_000_000), (10, 13_000_000), (3, 40_000_000)] {
        let lines = if quick { Lines::new(length, 1000) } else { Lines::new(length, count) };
        let request = Request::new(&input[..lines.elements()], lines, taps(21)).unwrap();
        let output = &mut output[..lines.elements()];
        Cpu::new().stencil(&request, &mut expected[..lines.elements()]).unwrap();
        let timing = cuda::measure::stencil(&cuda, &request, output, 21).unwrap();
        assert!(same(output, &expected), "lines of {length}");
        let (kernel, copy) = [timing.kernel, timing.copy].map(|ms| median(ms.into_iter().map(f64::from).collect())).into();
        println!("kernel in lines of {length},21,{},{kernel:.4},{copy:.4},{:.3}", lines.elements(), copy / kernel);
    }

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
                    engine.stencil(&request, &mut output).unwrap();
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
