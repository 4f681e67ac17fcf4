//! The CUDA engine against the device's own copy, and host to host, as lines of CSV with medians.
//!
//! `kernel,NAME,N,ms,copy ms,fraction of the copy,TFLOP/s`: each result is compared with the CPU engine's, bit for bit,
//! before its time is told. `host,ENGINE,TAPS,N,ms` is what happens inside `mexFunction`, from an ordinary input to
//! fresh pages. `arithmetic,NAME,CLASS,N,ms,copy ms,fraction` is arithmetic on arrays of the device: its bytes a second,
//! read and written, as a fraction of those of a copy of N elements.

use std::cell::RefCell;
use std::time::Instant;

use stencil_mex::cpu::Cpu;
use stencil_mex::cuda::{self, Cuda, measure};
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{
    Array, Binary, Boundary, CoefficientSource, Compute, Convolution, Derivative, Engine, Error, Expansion, Extreme,
    Filter, Lines, Number, Operand, Order, Reduction, Scan, Source, Stencil, Taps, Target, Unary,
};

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

/// Milliseconds of a run and of the one it is compared with, measured in turn.
struct Timing {
    /// The call, with its arrays on the device.
    kernel: Vec<f32>,
    /// A copy there: the same bytes, and nothing computed.
    copy: Vec<f32>,
}

/// Runs `run` on arrays that lie on the device several times, each time followed by a copy; the result goes to
/// `output`.
fn timed<T: Number>(
    cuda: &Cuda,
    input: &[T],
    output: &mut [T],
    repeats: usize,
    run: impl Fn(Source<T>, Target<T>, &Watch) -> Result<(), Error>,
) -> Timing {
    let watch = Watch::new();
    let arrays = (cuda as &dyn Engine).arrays::<T>();
    let array = || arrays.array(input.len()).unwrap();
    let (mut samples, computed, copied) = (array(), RefCell::new(array()), RefCell::new(array()));
    arrays.copy(input.into(), (&mut samples).into(), &watch).unwrap();
    let kernel = || run((&samples).into(), (&mut *computed.borrow_mut()).into(), &watch);
    let copy = || arrays.copy((&samples).into(), (&mut *copied.borrow_mut()).into(), &watch);
    let mut timing = Timing { kernel: Vec::new(), copy: Vec::new() };
    for repeat in 0..repeats + 3 {
        let times = [measure::time(cuda, kernel).unwrap(), measure::time(cuda, copy).unwrap()];
        if repeat >= 3 {
            timing.kernel.push(times[0]);
            timing.copy.push(times[1]);
        }
    }
    arrays.copy((&*computed.borrow()).into(), output.into(), &watch).unwrap();
    timing
}

/// Prints a line about a kernel whose result is right, with the rate of its multiply-adds (a number per output),
/// counted as two operations.
fn report<T: Number>(name: &str, output: &[T], expected: &[T], timing: Timing, multiply_adds: usize) {
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
        let what = Derivative::new(lines, 0.1, source);
        Cpu::new().derivative(&what, input.into(), (&mut expected[..]).into(), &Watch::new()).unwrap();
        let timing =
            timed(cuda, input, &mut output, REPEATS, |from, to, watch| cuda.derivative(&what, from, to, watch));
        report(&format!("derivative double {source:?}"), &output, &expected, timing, 4);
        let what = Derivative::new(lines, 0.1, source);
        let (from, to) = ((&input_single[..]).into(), (&mut expected_single[..]).into());
        Cpu::new().derivative(&what, from, to, &Watch::new()).unwrap();
        let timing = timed(cuda, &input_single, &mut output_single, REPEATS, |from, to, watch| {
            cuda.derivative(&what, from, to, watch)
        });
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
        let what = Convolution::new(size, filter);
        let (from, to) = ((&input[..n]).into(), (&mut expected[..n]).into());
        Cpu::new().convolution(&what, from, to, &Watch::new()).unwrap();
        let timing = timed(cuda, &input[..n], &mut output[..n], REPEATS, |from, to, watch| {
            cuda.convolution(&what, from, to, watch)
        });
        report(&format!("convolution double {name}"), &output[..n], &expected[..n], timing, entries.len());
        let what = Convolution::new(size, Filter::new(singles(&entries), filter_size).unwrap());
        let (from, to) = ((&input_single[..n]).into(), (&mut expected_single[..n]).into());
        Cpu::new().convolution(&what, from, to, &Watch::new()).unwrap();
        let timing = timed(cuda, &input_single[..n], &mut output_single[..n], REPEATS, |from, to, watch| {
            cuda.convolution(&what, from, to, watch)
        });
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
        let what = Stencil::new(Lines::new(n, 1), taps(count));
        Cpu::new().stencil(&what, (&input[..]).into(), (&mut expected[..]).into(), &Watch::new()).unwrap();
        let timing = timed(&cuda, &input, &mut output, 21, |from, to, watch| cuda.stencil(&what, from, to, watch));
        report(&format!("{count} taps"), &output, &expected, timing, count);
    }
    for (length, count) in [(1000, 134_217), (64, 2_000_000), (10, 13_000_000), (3, 40_000_000)] {
        let lines = if quick { Lines::new(length, 1000) } else { Lines::new(length, count) };
        let what = Stencil::new(lines, taps(21));
        let n = lines.elements();
        let (input, output, expected) = (&input[..n], &mut output[..n], &mut expected[..n]);
        Cpu::new().stencil(&what, input.into(), (&mut *expected).into(), &Watch::new()).unwrap();
        let timing = timed(&cuda, input, output, 21, |from, to, watch| cuda.stencil(&what, from, to, watch));
        report(&format!("21 taps in lines of {length}"), output, expected, timing, 21);
    }
    other_kernels(&cuda, &input, quick);

    println!("arithmetic,name,class,n,ms,copy ms,of the copy");
    for n in [10_000_000, 100_000_000] {
        let input = &input[..if quick { n / 1000 } else { n }];
        arithmetic(&cuda, "double", input);
        arithmetic(&cuda, "single", &singles(input));
    }

    many_sweeps(&cuda, &input, quick);

    println!("host,engine,taps,n,ms");
    for count in [11, 21] {
        for n in [20, 1000, 4096, 10_000, 30_000, 100_000, 1_000_000, 10_000_000, 100_000_000] {
            let n = if quick { n.min(1_000_000) } else { n };
            let what = Stencil::new(Lines::new(n, 1), taps(count));
            let engines: [&dyn Engine; 2] = [&cuda, &Cpu::new()];
            for engine in engines {
                let repeats = (20_000_000 / n).clamp(9, 1001);
                let times = (0..repeats + 2).map(|_| {
                    // Zeroed by the system when first touched: the pages are as fresh as a host's.
                    let mut output = vec![0.0; n];
                    let start = Instant::now();
                    engine.stencil(&what, (&input[..n]).into(), (&mut output[..]).into(), &Watch::new()).unwrap();
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

/// Arithmetic on arrays of the device, compared with a copy there.
fn arithmetic<T: Number>(cuda: &Cuda, class: &str, input: &[T]) {
    const ROWS: usize = 1000;
    const FEW: usize = 5;
    let (n, watch, arrays) = (input.len(), Watch::new(), (cuda as &dyn Engine).arrays::<T>());
    let (mut to, mut copied): (Array<T>, Array<T>) = (arrays.array(n).unwrap(), arrays.array(n).unwrap());
    let (from, from_cpu) = (held(cuda, input), held(&Cpu::new(), input));
    let mut to_cpu: Array<T> = (&Cpu::new() as &dyn Engine).arrays().array(n).unwrap();
    let report = |name: &str, elements: usize, times: [Vec<f32>; 2]| {
        let [work, copy] = times.map(|ms| median(ms.into_iter().map(f64::from).collect()));
        let of_copy = elements as f64 / work / (2.0 * n as f64 / copy);
        println!("arithmetic,{name},{class},{n},{work:.4},{copy:.4},{of_copy:.3}");
    };
    let mut beside = |work: &mut dyn FnMut()| {
        let mut times = [Vec::new(), Vec::new()];
        let (work, copied) = (RefCell::new(work), RefCell::new(&mut copied));
        for repeat in 0..24 {
            let run = || {
                (work.borrow_mut())();
                Ok(())
            };
            let copy = || arrays.copy((&from).into(), (&mut **copied.borrow_mut()).into(), &watch);
            let pair = [measure::time(cuda, run).unwrap(), measure::time(cuda, copy).unwrap()];
            if repeat >= 3 {
                times.iter_mut().zip(pair).for_each(|(times, ms)| times.push(ms));
            }
        }
        times
    };
    let check = |name: &str, to: &Array<T>, to_cpu: &Array<T>| {
        let (mut got, mut want) = (vec![T::default(); n], vec![T::default(); n]);
        arrays.copy(to.into(), (&mut got[..]).into(), &watch).unwrap();
        (&Cpu::new() as &dyn Engine).arrays().copy(to_cpu.into(), (&mut want[..]).into(), &watch).unwrap();
        assert!(got.iter().zip(&want).all(|(&a, &b)| a.same(b)), "{name}");
    };

    Cpu::new().unary(Unary::Abs, &from_cpu, &mut to_cpu, &watch).unwrap();
    let times = beside(&mut || cuda.unary(Unary::Abs, &from, &mut to, &watch).unwrap());
    check("abs", &to, &to_cpu);
    report("abs", 2 * n, times);
    for (name, sizes) in [
        ("add", [[n, 1], [n, 1]]),
        ("add a row", [[ROWS, n / ROWS], [1, n / ROWS]]),
        ("add a column", [[ROWS, n / ROWS], [ROWS, 1]]),
        ("add a row to few rows", [[FEW, n / FEW], [1, n / FEW]]),
    ] {
        let expansion = Expansion::new([&sizes[0], &sizes[1]]).unwrap();
        let other = &input[..expansion.elements_of(1)];
        let (second, second_cpu) = (held(cuda, other), held(&Cpu::new(), other));
        let operands = [Operand::Array(&from_cpu), Operand::Array(&second_cpu)];
        Cpu::new().binary(Binary::Add, operands, &expansion, &mut to_cpu, &watch).unwrap();
        let operands = [Operand::Array(&from), Operand::Array(&second)];
        let times = beside(&mut || cuda.binary(Binary::Add, operands, &expansion, &mut to, &watch).unwrap());
        check(name, &to, &to_cpu);
        report(name, 2 * n + other.len(), times);
    }
    for (name, size) in [
        ("sum", [1, n, 1]),
        ("sum of columns", [1, ROWS, n / ROWS]),
        ("sum of short columns", [1, FEW, n / FEW]),
        ("sum of rows", [ROWS, n / ROWS, 1]),
        ("sum of short rows", [n / FEW, FEW, 1]),
    ] {
        let lines = size[0] * size[2];
        let (mut got, mut want) = (vec![T::default(); lines], vec![T::default(); lines]);
        Cpu::new().reduce(Reduction::Sum, &from_cpu, None, size, Target::Host(&mut want), &watch).unwrap();
        let times =
            beside(&mut || cuda.reduce(Reduction::Sum, &from, None, size, Target::Host(&mut got), &watch).unwrap());
        assert!(got.iter().zip(&want).all(|(&a, &b)| a.same(b)), "{name}");
        report(name, n + lines, times);
    }
    for (name, size) in [("", [1, n, 1]), (" columns", [1, ROWS, n / ROWS]), (" rows", [ROWS, n / ROWS, 1])] {
        Cpu::new().scan(Scan::Sum, &from_cpu, size, &mut to_cpu, &watch).unwrap();
        let times = beside(&mut || cuda.scan(Scan::Sum, &from, size, &mut to, &watch).unwrap());
        check("running sums", &to, &to_cpu);
        report(&format!("running sums{name}"), 2 * n, times);
        for with_places in [false, true] {
            let order = Order::Ascending;
            Cpu::new().sort(order, &from_cpu, size, &mut to_cpu, with_places, &watch).unwrap();
            let times = beside(&mut || drop(cuda.sort(order, &from, size, &mut to, with_places, &watch).unwrap()));
            check("sort", &to, &to_cpu);
            let places = if with_places { " with places" } else { "" };
            report(&format!("sort{name}{places}"), 2 * n, times);
        }
        let mut most = held(cuda, &input[..size[0] * size[2]]);
        let which = Extreme::Largest;
        let times = beside(&mut || drop(cuda.extremes(which, &from, size, (&mut most).into(), &watch).unwrap()));
        report(&format!("largest and where{name}"), n, times);
    }
    let mask = Operand::Scalar(T::default());
    let same = Expansion::new([&[n], &[n]]).unwrap();
    cuda.binary(Binary::Greater, [Operand::Array(&from), mask], &same, &mut to, &watch).unwrap();
    let times = beside(&mut || drop(cuda.find((&to).into(), &watch).unwrap()));
    report("find", 2 * n + n / 2 * 8 / size_of::<T>(), times);
}

/// These numbers as the engine holds them.
fn held<T: Number>(engine: &dyn Engine, values: &[T]) -> Array<T> {
    let mut array = engine.arrays().array(values.len()).unwrap();
    engine.arrays().copy(values.into(), (&mut array).into(), &Watch::new()).unwrap();
    array
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
        let what = Stencil::new(lines, smoothing(count)).with_boundary(boundary).with_sweeps(sweeps);
        let (mut output, mut expected) = (vec![0.0; input.len()], vec![0.0; input.len()]);
        let timing = timed(cuda, input, &mut output, 5, |from, to, watch| cuda.stencil(&what, from, to, watch));
        // Checks the CPU engine's results, unless that takes minutes.
        if lines.elements() * sweeps * count < 1 << 35 {
            Cpu::new().stencil(&what, input.into(), (&mut expected[..]).into(), &Watch::new()).unwrap();
            assert!(
                output.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()),
                "{lines:?} {count} taps {boundary:?}"
            );
        }
        let ms = median(timing.kernel.into_iter().map(f64::from).collect());
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
