//! The constants of a machine, measured by small calls of both engines: what is measured is what will run.
//!
//! Sizes grow until the next one would take too long, so that a slow machine is not measured for longer than a fast
//! one. What a device needs once, its context, kernels and page-locked memory, is made by calls that go before and do
//! not count.

use std::time::Instant;

use rayon::prelude::*;

use super::model::{self, CpuRates, Curve, FEW, GpuRates, MANY, Machine};
use crate::cpu::{Cpu, Outline};
use crate::cuda::{Cuda, Driver};
use crate::memory;
use crate::stencil::{Compute, Convolution, Engine, Error, Filter, Lines, Source, Stencil, Taps, Target};
use crate::watch::Watch;
use crate::workers::Workers;

/// The seconds that each engine is measured for at most, as far as it can be known ahead.
const BUDGET: f64 = 0.025;

/// What takes less is measured so often, what takes up to `LONG` less often, and what takes longer once.
const RUNS: [usize; 3] = [5, 3, 1];
const SHORT: f64 = 0.001;
const LONG: f64 = 0.003;

/// A first run that takes so many times what the size before it lets expect has made something that is made once, such
/// as page-locked memory (47 ms were seen on an H200). It does not count.
const ONCE: f64 = 4.0;

/// The sizes of a pass, in doubles: what a device reads where it is, what goes to it, and what fits the caches.
const SIZES: [usize; 4] = [1 << 10, 1 << 15, 1 << 17, 1 << 20];

/// And what does not: where many threads have to be busy with it, it is larger.
const LARGEST: [usize; 2] = [1 << 22, 1 << 23];
const MANY_THREADS: usize = 8;

/// Above this size an output is memory that was never touched, as the hosts' allocators give it.
const REUSED: usize = 1 << 20;

/// Rows and columns of the image that convolutions are measured over, and points of the line for many sweeps.
const IMAGE: usize = 1024;
const LINE: usize = 1 << 20;

/// What an H200 takes for a pass over doubles that lie there: the least, and each.
const H200_LAUNCH: f64 = 8e-6;
const H200_DOUBLE: f64 = 4e-12;

/// Its multiprocessors and their clock in kHz.
const H200_SPEED: f64 = 132.0 * 1_980_000.0;

/// What a measurement works on.
#[derive(Default)]
struct Data {
    input: Vec<f64>,
    output: Vec<f64>,
}

impl Data {
    /// So many numbers, and as much room; fresh for large sizes.
    fn of(&mut self, count: usize) -> Result<(&[f64], &mut [f64]), Error> {
        if self.input.len() < count {
            self.input = Vec::new();
            let mut input = memory::zeros(count, "what is measured")?;
            memory::prefer_large_pages(&mut input);
            let piece = 1 << 16;
            match Workers::get() {
                Some(pool) => pool.install(|| input.par_chunks_mut(piece).for_each(|part| part.fill(1.0))),
                None => input.fill(1.0),
            }
            self.input = input;
        }
        if self.output.len() < count || count > REUSED {
            self.output = Vec::new();
            self.output = memory::zeros(count, "what is measured")?;
            memory::prefer_large_pages(&mut self.output);
            if count <= REUSED {
                self.output.fill(0.0);
            }
        }
        Ok((&self.input[..count], &mut self.output[..count]))
    }
}

/// What is left to measure in.
struct Budget(f64);

impl Budget {
    /// The best of some runs, of more the shorter they are.
    fn best(&mut self, mut run: impl FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
        let (mut best, mut count) = (f64::INFINITY, 0);
        while count < RUNS[usize::from(best > SHORT) + usize::from(best > LONG && best.is_finite())] || count == 0 {
            let seconds = run()?;
            self.0 -= seconds;
            (best, count) = (best.min(seconds), count + 1);
        }
        Ok(best)
    }

    /// Goes on with a curve, over more sizes, as far as there is time for them.
    fn more(
        &mut self,
        points: &mut Vec<[f64; 2]>,
        sizes: &[usize],
        mut run: impl FnMut(usize) -> Result<f64, Error>,
    ) -> Result<(), Error> {
        for &size in sizes {
            let expected = points.last().map(|&[last, seconds]| seconds * size as f64 / last);
            if expected.is_some_and(|expected| expected > self.0) {
                break;
            }
            let left = self.0;
            let mut seconds = self.best(|| run(size))?;
            if expected.is_some_and(|expected| seconds > ONCE * expected) {
                // Something was made for this size.
                self.0 = left;
                seconds = self.best(|| run(size))?.min(seconds);
            }
            points.push([size as f64, seconds]);
        }
        Ok(())
    }
}

/// The largest size that is measured.
fn largest() -> usize {
    LARGEST[usize::from(Workers::count() >= MANY_THREADS)]
}

/// The seconds that `work` takes.
fn seconds(work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64().max(1e-9))
}

/// Sweeps along one line.
fn line(engine: &dyn Engine, data: &mut Data, count: usize, taps: usize, sweeps: usize) -> Result<f64, Error> {
    let stencil = Stencil::new(Lines::new(count, 1), means(taps)?).with_sweeps(sweeps);
    let (input, output) = data.of(count)?;
    seconds(|| engine.stencil(&stencil, input.into(), output.into(), &Watch::new()))
}

fn means(taps: usize) -> Result<Taps, Error> {
    Taps::new(&vec![1.0 / taps as f64; taps]).map_err(|error| Error::Internal(error.to_string()))
}

/// What a thread takes for an element in `sweeps` sweeps along a line.
fn along(budget: &mut Budget, data: &mut Data, memory: f64, taps: usize, sweeps: usize) -> Result<f64, Error> {
    let all = budget.best(|| line(&Cpu::new(), data, LINE, taps, sweeps))?;
    let outline = Outline::along(Lines::new(LINE, 1), taps / 2, taps, sweeps, Workers::count());
    Ok(of_update(all, memory, &outline))
}

/// The same of a convolution over an image.
fn over(budget: &mut Budget, data: &mut Data, memory: f64, size: usize, sweeps: usize) -> Result<f64, Error> {
    let entries = size * size;
    let filter = Filter::new(vec![1.0 / entries as f64; entries], [size, size, 1]);
    let filter = filter.map_err(|error| Error::Internal(error.to_string()))?;
    let what = Convolution::<f64>::new([IMAGE, IMAGE, 1], filter).with_sweeps(sweeps);
    let all = budget.best(|| {
        let (input, output) = data.of(IMAGE * IMAGE)?;
        seconds(|| Cpu::new().convolution(&what, input.into(), output.into(), &Watch::new()))
    })?;
    Ok(of_update(all, memory, &Outline::over(&what, Workers::count())))
}

/// What is left of a time for each element where memory took its part.
fn of_update(all: f64, memory: f64, outline: &Outline) -> f64 {
    model::apart(all, memory) / outline.updates.max(1.0)
}

fn cpu(data: &mut Data) -> Result<CpuRates, Error> {
    let engine = Cpu::new();
    let mut budget = Budget(BUDGET);
    // All threads are there.
    line(&engine, data, LINE, FEW, 1)?;
    let (mut few, mut many) = (Vec::new(), Vec::new());
    budget.more(&mut few, &SIZES, |count| line(&engine, data, count, FEW, 1))?;
    budget.more(&mut many, &SIZES, |count| line(&engine, data, count, MANY, 1))?;
    let memory = Curve::new(few.clone()).at(LINE as f64, 1.0);
    let along = [along(&mut budget, data, memory, FEW, 16)?, along(&mut budget, data, memory, MANY, 4)?];
    let over = [over(&mut budget, data, memory, 3, 8)?, over(&mut budget, data, memory, 15, 1)?];
    // What several threads take for a pass beyond what the busiest of them computes.
    let count = SIZES[2];
    let outline = Outline::along(Lines::new(count, 1), MANY / 2, MANY, 1, Workers::count());
    let beside = Curve::new(many.clone()).at(count as f64, 1.0) - outline.updates * along[1];
    let begin = if outline.threads > 1 { beside.clamp(2e-6, 100e-6) } else { 2e-6 };
    budget.0 = budget.0.max(0.0) + BUDGET;
    if many.len() == SIZES.len() {
        // The system's memory has been used before, as in a session that has run for a while.
        line(&engine, data, largest(), FEW, 1)?;
        budget.more(&mut few, &[largest()], |count| line(&engine, data, count, FEW, 1))?;
        budget.more(&mut many, &[largest()], |count| line(&engine, data, count, MANY, 1))?;
    }
    Ok(CpuRates { pass: [Curve::new(few), Curve::new(many)], along, over, begin })
}

fn gpu(cuda: Cuda, data: &mut Data) -> Result<GpuRates, Error> {
    let mut budget = Budget(BUDGET);
    // The kernel is loaded, and the slots have their buffers.
    line(&cuda, data, SIZES[0], MANY, 1)?;
    let mut pass = Vec::new();
    budget.more(&mut pass, &SIZES, |count| line(&cuda, data, count, MANY, 1))?;
    let fits = |pass: &[[f64; 2]], budget: &Budget| {
        pass.len() == SIZES.len() && pass[SIZES.len() - 1][1] * (largest() / SIZES[SIZES.len() - 1]) as f64 <= budget.0
    };
    if fits(&pass, &budget) {
        line(&cuda, data, largest(), MANY, 1)?;
        budget.more(&mut pass, &[largest()], |count| line(&cuda, data, count, MANY, 1))?;
    }
    let pass = Curve::new(pass);
    let most = pass.last() as usize;
    let sizes: Vec<usize> = SIZES[1..].iter().copied().chain([largest()]).filter(|&size| size <= most).collect();
    let sizes = if sizes.is_empty() { vec![most] } else { sizes };
    let mut array = Compute::<f64>::array(&cuda, most)?;
    let mut result = Compute::<f64>::array(&cuda, most)?;
    budget.0 = budget.0.max(0.0) + BUDGET;
    let mut there_and_back = Vec::new();
    budget.more(&mut there_and_back, &sizes, |count| {
        let mut part = if count == most { None } else { Some(Compute::<f64>::array(&cuda, count)?) };
        let array = part.as_mut().unwrap_or(&mut array);
        let (input, output) = data.of(count)?;
        seconds(|| {
            let watch = Watch::new();
            Compute::copy(&cuda, Source::Host(input), Target::Array(array), &watch)?;
            Compute::copy(&cuda, Source::Array(array), Target::Host(output), &watch)
        })
    })?;
    let there_and_back = Curve::new(there_and_back);
    // A pass over what lies there. It is in the queue when a call returns.
    let stencil = Stencil::new(Lines::new(most, 1), means(MANY)?);
    Compute::copy(&cuda, Source::Host(data.of(most)?.0), Target::Array(&mut array), &Watch::new())?;
    let mut passes = |count: usize| -> Result<f64, Error> {
        cuda.settle()?;
        let all = seconds(|| {
            (0..count).try_for_each(|_| {
                cuda.stencil(&stencil, Source::Array(&array), Target::Array(&mut result), &Watch::new())
            })?;
            cuda.settle()
        })?;
        Ok(all / count as f64)
    };
    let first = passes(1)?;
    let of_pass = if 8.0 * first < budget.0 { passes(8)?.min(first) } else { first };
    let double = of_pass / (H200_LAUNCH.max(H200_DOUBLE * most as f64));
    let driver = Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?;
    let device = driver.devices.get(cuda.ordinal()).and_then(|device| device.as_ref().ok());
    let speed =
        device.map_or(1.0, |device| f64::from(device.multiprocessors.max(1)) * f64::from(device.clock_khz.max(1)));
    Ok(GpuRates {
        pass,
        there_and_back,
        // A measurement of microseconds does not say more than that.
        slower: [if double < 1.6 { 1.0 } else { double }, (H200_SPEED / speed).clamp(0.5, 100.0)],
        hopper: device.is_some_and(|device| device.capability == (9, 0)),
    })
}

/// Both engines, by small calls on this thread.
///
/// # Errors
/// That of an engine.
pub(super) fn machine(cuda: Cuda) -> Result<Machine, Error> {
    let mut data = Data::default();
    let gpu = gpu(cuda, &mut data)?;
    Ok(Machine { cpu: cpu(&mut data)?, gpu })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Curves end where the next size would take longer than there is time for.
    #[test]
    fn sizes_end_where_time_does() {
        let measured = |of_element: f64| {
            let (mut points, mut sizes) = (Vec::new(), Vec::new());
            let run = |size| {
                sizes.push(size);
                Ok(of_element * size as f64)
            };
            Budget(BUDGET).more(&mut points, &SIZES, run).unwrap();
            (points.len(), sizes)
        };
        assert_eq!(measured(1e-6), (1, vec![SIZES[0]; 3]), "32 times as many take longer");
        assert_eq!(measured(1e-5), (1, vec![SIZES[0]]), "long, and so once");
        assert_eq!(measured(1e-10).0, SIZES.len());
    }

    /// What is made once for a size is not taken for what it takes.
    #[test]
    fn what_is_made_once_does_not_count() {
        let mut points = Vec::new();
        let mut made = false;
        let run = |size| {
            let first = size == SIZES[1] && !made;
            made |= first;
            Ok(1e-9 * size as f64 + if first { 0.047 } else { 0.0 })
        };
        Budget(BUDGET).more(&mut points, &SIZES, run).unwrap();
        let expected: Vec<_> = SIZES.iter().map(|&size| [size as f64, 1e-9 * size as f64]).collect();
        assert_eq!(points, expected);
    }

    /// Each engine's rates are those of calls that were made: positive, and larger for more.
    #[test]
    fn the_cpu_is_measured() {
        let mut data = Data::default();
        let rates = cpu(&mut data).unwrap();
        let positive = |value: f64| value > 0.0 && value < 1.0;
        assert!(positive(rates.along[0]) && positive(rates.over[0]) && positive(rates.begin), "{rates:?}");
        assert!(rates.along[1] > rates.along[0] && rates.over[1] > rates.over[0], "{rates:?}");
        assert!(rates.pass.iter().all(|curve| curve.at(1e8, 1.0) > curve.at(1e3, 1.0)), "{rates:?}");
    }

    /// What memory takes and what arithmetic does are put together, and taken apart again.
    #[test]
    fn arithmetic_is_what_is_left() {
        let outline = Outline { threads: 1, passes: 1, updates: 1000.0 };
        let all = (2_f64.powf(1.5) + 5_f64.powf(1.5)).powf(1.0 / 1.5);
        assert!((of_update(all, 2.0, &outline) - 5e-3).abs() < 1e-12);
        assert!(of_update(0.1, 9.0, &outline) > 0.0, "what seems to take longer than all");
    }
}
