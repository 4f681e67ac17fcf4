//! How long a call takes on either engine: a plain model of it, with the few constants of a [`Machine`].
//!
//! # The model
//! Both engines were measured at some sizes, each over a whole way from an array of the host to another; between those
//! sizes lie straight lines. What a call computes beyond that comes on top: on the CPU as much as a thread was measured
//! to compute, on the device as much as an H200 was (BENCHMARKS.md), by how much slower or faster this one is.

use std::fmt;

use crate::cpu::Outline;
use crate::stencil::{Convolution, Derivative, Lines, Real, Stencil};

/// What a call computes, as far as its time depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Work {
    /// Outputs of a sweep.
    pub(super) elements: usize,
    /// Of an element.
    pub(super) bytes: usize,
    /// Multiply-adds for an output.
    pub(super) entries: usize,
    pub(super) sweeps: usize,
    /// How often the engine is called, each time from an array of the host to another.
    pub(super) calls: usize,
    pub(super) over: Over,
    /// Where a sweep is more than a filter.
    pub(super) steps: Option<Steps>,
}

/// What a sweep is, where it is more than a filter: each step is a pass over arrays that lie where the engine computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Steps {
    /// Filters, each of which takes about as long as the first.
    pub(in super::super) filters: usize,
    /// What is done beside them: the arrays that it reads and writes, in so many passes.
    pub(in super::super) moved: usize,
    pub(in super::super) passes: usize,
    /// Whether a device does many sweeps of it at once.
    pub(in super::super) joint: bool,
    /// The arrays that come from the host and go there.
    pub(in super::super) arrays: usize,
}

/// What is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Lines(Lines),
    /// The size of the image or volume, and of the filter.
    Box([usize; 3], [usize; 3]),
}

/// What a call computes, for who wants to foretell its time.
pub(in super::super) trait Job {
    /// What there is to do.
    fn work(&self) -> Work;

    /// How the CPU engine would go about it with so many threads.
    fn outline(&self, threads: usize) -> Outline;
}

impl Job for Stencil {
    fn work(&self) -> Work {
        let (lines, entries, sweeps) = (self.lines(), self.taps().count(), self.sweeps());
        let bytes = size_of::<f64>();
        Work { elements: lines.elements(), bytes, entries, sweeps, calls: 1, over: Over::Lines(lines), steps: None }
    }

    fn outline(&self, threads: usize) -> Outline {
        Outline::along(self.lines(), self.taps().radius(), self.taps().count(), self.sweeps(), threads)
    }
}

/// A derivative takes as many instructions as a stencil with so many taps.
const TAPS_OF_DERIVATIVE: usize = 9;

impl<T: Real> Job for Derivative<T> {
    fn work(&self) -> Work {
        let (lines, entries) = (self.lines(), TAPS_OF_DERIVATIVE);
        let bytes = size_of::<T>();
        Work { elements: lines.elements(), bytes, entries, sweeps: 1, calls: 1, over: Over::Lines(lines), steps: None }
    }

    fn outline(&self, threads: usize) -> Outline {
        Outline::along(self.lines(), TAPS_OF_DERIVATIVE / 2, TAPS_OF_DERIVATIVE, 1, threads)
    }
}

impl<T: Real> Job for Convolution<T> {
    fn work(&self) -> Work {
        let (entries, over) = (self.filter().values().len(), Over::Box(self.size(), self.filter().size()));
        let (elements, bytes, sweeps) = (self.elements(), size_of::<T>(), self.sweeps());
        Work { elements, bytes, entries, sweeps, calls: 1, over, steps: None }
    }

    fn outline(&self, threads: usize) -> Outline {
        Outline::over(self, threads)
    }
}

/// The same job so many times, with the host in between.
pub(in super::super) struct Times<J>(pub(in super::super) J, pub(in super::super) usize);

impl<J: Job> Job for Times<J> {
    fn work(&self) -> Work {
        let work = self.0.work();
        Work { calls: work.calls * self.1, ..work }
    }

    fn outline(&self, threads: usize) -> Outline {
        self.0.outline(threads)
    }
}

/// So many sweeps of such steps, the first filter of which is this job in one sweep.
pub(in super::super) struct Stepwise<J>(pub(in super::super) J, pub(in super::super) usize, pub(in super::super) Steps);

impl<J: Job> Job for Stepwise<J> {
    fn work(&self) -> Work {
        Work { sweeps: self.1, steps: Some(self.2), ..self.0.work() }
    }

    fn outline(&self, threads: usize) -> Outline {
        self.0.outline(threads)
    }
}

impl Work {
    /// Multiply-adds in all.
    pub(super) fn multiply_adds(&self) -> f64 {
        let filters = self.steps.map_or(1, |steps| steps.filters + steps.passes);
        [self.elements, self.entries, self.sweeps, self.calls, filters].iter().map(|&count| count as f64).product()
    }

    /// One sweep of the filter alone.
    fn once(&self) -> Work {
        Work { sweeps: 1, steps: None, ..*self }
    }

    /// What takes as long to move, in doubles.
    fn doubles(&self) -> f64 {
        self.elements as f64 * self.bytes as f64 / size_of::<f64>() as f64
    }
}

/// How long something takes by its size: points that were measured, the smallest first, and straight lines.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve(Vec<[f64; 2]>);

impl Curve {
    /// Through these points: a size and seconds each, one at least.
    pub(super) fn new(points: Vec<[f64; 2]>) -> Curve {
        Curve(points)
    }

    /// The last size that was measured.
    pub(super) fn last(&self) -> f64 {
        self.0.last().map_or(0.0, |point| point[0])
    }

    /// The seconds for this size. Below the first it is what that takes; beyond the last, an element takes such a part
    /// of what it took there.
    pub(super) fn at(&self, size: f64, part: f64) -> f64 {
        let (Some(&[first, least]), Some(&[last, most])) = (self.0.first(), self.0.last()) else {
            return 0.0;
        };
        if size <= first {
            return least;
        }
        let line = |a: [f64; 2], b: [f64; 2]| (b[1] - a[1]) / (b[0] - a[0]);
        if size >= last {
            return most + part * most / last * (size - last);
        }
        let pair = self.0.windows(2).find(|pair| size < pair[1][0]);
        pair.map_or(most, |pair| pair[0][1] + line(pair[0], pair[1]) * (size - pair[0][0]))
    }
}

/// What was measured of the CPU engine. Times are in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CpuRates {
    /// One sweep over so many doubles along a line, with [`FEW`] taps and with [`MANY`].
    pub(super) pass: [Curve; 2],
    /// What a thread takes for an element in many sweeps along lines, with as many taps.
    pub(super) along: [f64; 2],
    /// The same over images, with 3 x 3 and with 15 x 15 entries.
    pub(super) over: [f64; 2],
    /// What it takes to wake all threads.
    pub(super) begin: f64,
}

/// Taps that the CPU engine is measured with.
pub(super) const FEW: usize = 3;
pub(super) const MANY: usize = 21;

/// The entries of the filters that it is measured with.
const SMALL_FILTER: f64 = 9.0;
const LARGE_FILTER: f64 = 225.0;

/// What was measured of the CUDA engine on a device.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GpuRates {
    /// One sweep over so many doubles of the host.
    pub(super) pass: Curve,
    /// So many doubles to the device and back.
    pub(super) there_and_back: Curve,
    /// How many times as long as an H200 kernels take, in double and in single.
    pub(super) slower: [f64; 2],
    /// Whether several sweeps over an image are done in a launch, and other filters than squares go through tensor
    /// cores: both on chips of capability 9.0.
    pub(super) hopper: bool,
}

/// Both engines of a machine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Machine {
    pub(super) cpu: CpuRates,
    pub(super) gpu: GpuRates,
}

/// Both predictions, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seconds {
    pub(super) cpu: f64,
    pub(super) cuda: f64,
}

impl Machine {
    /// What the call takes on either engine.
    /// The CPU has so many threads.
    pub(super) fn predict(&self, job: &dyn Job, threads: usize) -> Seconds {
        let work = job.work();
        let calls = work.calls as f64;
        Seconds { cpu: self.cpu.seconds(&work, job.outline(threads)) * calls, cuda: self.gpu.seconds(&work) * calls }
    }
}

/// What two things take that hinder each other in part: memory and arithmetic, of which a processor does both at a
/// time. (Two cores: one pass of 3 x 3 and of 15 x 15 over 4096 x 4096 takes 13.7 and 81 ms, where the memory alone
/// takes 11.7 and the arithmetic 4.1 and 80.)
fn together(a: f64, b: f64) -> f64 {
    (a.powf(POWER) + b.powf(POWER)).powf(1.0 / POWER)
}

const POWER: f64 = 1.5;

/// What the second of them takes, where the first takes so long, and both so long.
pub(super) fn apart(both: f64, a: f64) -> f64 {
    let a = a.min(0.7 * both);
    (both.powf(POWER) - a.powf(POWER)).powf(1.0 / POWER)
}

/// A pass over images asks for so many times as much of the memory as one along a line; and so do sweeps along lines,
/// which copy tiles to the cache. (16 cores, 8192 x 8192 by 3 x 3: 47 ms, as many points along a line 20; 10^8
/// points, 3
/// taps: 10 sweeps 47 ms, one 30.)
const IMAGE_MEMORY: f64 = 2.0;
const LINE_MEMORY: f64 = 1.3;

/// Up to so many sweeps along lines their arithmetic takes so many times as long as in many.
const FEW_SWEEPS: usize = 16;
const IN_FEW_SWEEPS: f64 = 1.25;

/// What of the memory's time a further pass over an array takes: the first one has to have the output's pages.
const FURTHER_PASS: f64 = 0.7;

/// In single, vectors have twice as many numbers, and the engine does not gain all of that.
const SINGLE: f64 = 0.54;

/// Volumes keep a processor less busy than images.
const VOLUME: f64 = 1.2;

impl CpuRates {
    fn seconds(&self, work: &Work, outline: Outline) -> f64 {
        if let Some(steps) = work.steps {
            // A pass with few taps reads an array and writes one.
            let moved = self.pass[0].at(work.doubles(), 1.0) / 2.0 * steps.moved as f64;
            let filters = self.seconds(&work.once(), outline) * steps.filters as f64;
            return work.sweeps as f64 * FURTHER_PASS * (filters + moved);
        }
        let [few, many] = [0, 1].map(|which| self.pass[which].at(work.doubles(), 1.0));
        let Outline { threads, passes, updates } = outline;
        let single = if work.bytes < size_of::<f64>() { SINGLE } else { 1.0 };
        let (of_update, memory) = match work.over {
            Over::Lines(_) if work.sweeps == 1 => {
                let share = (work.entries as f64 - FEW as f64) / (MANY - FEW) as f64;
                return (few + share * (many - few)).max(0.8 * few);
            }
            Over::Lines(_) => {
                let slope = (self.along[1] - self.along[0]) / (MANY - FEW) as f64;
                let few_sweeps = if work.sweeps <= FEW_SWEEPS { IN_FEW_SWEEPS } else { 1.0 };
                let of_line = (self.along[0] + slope * (work.entries as f64 - FEW as f64)).max(0.3 * self.along[0]);
                (of_line * few_sweeps, LINE_MEMORY)
            }
            Over::Box(_, filter) => {
                let slope = (self.over[1] - self.over[0]) / (LARGE_FILTER - SMALL_FILTER);
                let of_image = (self.over[0] + slope * (work.entries as f64 - SMALL_FILTER)).max(0.3 * self.over[0]);
                (of_image * if filter[2] > 1 { VOLUME } else { 1.0 }, IMAGE_MEMORY)
            }
        };
        let memory = memory * few * (1.0 + FURTHER_PASS * (passes as f64 - 1.0));
        let begin = if threads > 1 { self.begin * passes as f64 } else { 0.0 };
        together(memory, updates * of_update * single) + begin
    }
}

/// Arrays of the host up to so many bytes are one tile in many sweeps: one slot takes it there and back.
const ONE_TILE: f64 = (4 << 20) as f64;

/// Up to so many sweeps tiles are as small as in one.
const SMALL_TILES: usize = 8;

/// From so many multiply-adds for an element on, lines are swept where the whole array is on the device.
const STAYS: usize = 8192;

/// What that takes: so many times as long as the smallest pass, and so many seconds for a byte, one way.
const ONE_TILE_PASSES: f64 = 2.2;
const ONE_TILE_BYTE: f64 = 1.2e-10;

/// What an element takes beyond the largest size that was measured, of what it took there: the more tiles there are,
/// the better threads share them. (An H200 with 16 cores: 2^23 points take 0.52 ns each, 10^8 points 0.36.)
const OF_MANY: f64 = 0.7;

/// How much of the time of kernels is seen where tiles travel meanwhile.
const SEEN: f64 = 1.3;

/// What a launch takes with the call that makes it, and what a device takes to move a byte: as BENCHMARKS.md has it of an
/// H200.
const LAUNCH: f64 = 4e-6;
const MOVED: f64 = 0.25e-12;

impl GpuRates {
    fn seconds(&self, work: &Work) -> f64 {
        if let Some(steps) = work.steps {
            let elements = work.elements as f64;
            let slower = self.slower[usize::from(Self::single(work))];
            let there_and_back = self.there_and_back.at(work.doubles(), OF_MANY) / 2.0 * steps.arrays as f64;
            let sweep = if steps.joint {
                let alone = 150e-9 + 12e-9 * work.entries as f64;
                alone.max(elements * 0.08e-12 * (work.entries as f64 + 1.0) * slower)
            } else {
                let filter = LAUNCH.max(self.of_update(&work.once()) * elements);
                let moved = MOVED * slower * elements * work.bytes as f64 * steps.moved as f64;
                filter * steps.filters as f64 + moved.max(LAUNCH * steps.passes as f64)
            };
            return there_and_back + sweep * work.sweeps as f64;
        }
        let pass = self.pass.at(work.doubles(), OF_MANY);
        let kernels = self.kernels(work);
        let bytes = work.elements as f64 * work.bytes as f64;
        if work.sweeps == 1 {
            // The link takes longer than any kernel, but for the last tile's.
            let last = self.of_update(work) * 1e6_f64.min(work.elements as f64 / 4.0) + 6e-8 * work.entries as f64;
            return (pass + last).max(kernels);
        }
        let resident = match work.over {
            Over::Box(..) => true,
            Over::Lines(_) => bytes > ONE_TILE && work.sweeps * work.entries >= STAYS,
        };
        if resident {
            self.there_and_back.at(work.doubles(), OF_MANY) + kernels
        } else if bytes <= ONE_TILE && work.sweeps > SMALL_TILES {
            ONE_TILE_PASSES * self.pass.at(0.0, 1.0) + 2.0 * bytes * ONE_TILE_BYTE + kernels
        } else {
            pass + SEEN * kernels
        }
    }

    /// All sweeps, with the array on the device.
    fn kernels(&self, work: &Work) -> f64 {
        (self.of_update(work) * work.elements as f64 + self.of_sweep(work)) * work.sweeps as f64
    }

    fn single(work: &Work) -> bool {
        work.bytes < size_of::<f64>()
    }

    /// What a device that is busy takes for an output of a sweep: as BENCHMARKS.md has it of an H200.
    fn of_update(&self, work: &Work) -> f64 {
        let (single, entries) = (Self::single(work), work.entries as f64);
        let several = match work.over {
            Over::Box(_, filter) if self.hopper && work.sweeps > 1 => of_several(filter, single),
            _ => None,
        };
        let once = || match work.over {
            Over::Lines(_) if work.sweeps == 1 => {
                if single {
                    2.0
                } else {
                    3.9
                }
            }
            Over::Lines(lines) => {
                let short = lines.length() < 22 || (lines.inner() > 1 && lines.length() < 64);
                0.07 * entries * if short { 10.0 } else { 1.0 }
            }
            Over::Box(_, [rows, columns, 1]) if rows == columns && rows > 1 => {
                if single {
                    (1.7 + 0.04 * entries).max(2.3)
                } else {
                    (1.2 + 0.07 * entries).max(4.0)
                }
            }
            Over::Box(_, [_, _, 1]) => {
                let once = if single { 2.0 + 0.25 * entries } else { 3.0 + 0.48 * entries };
                if self.hopper && !single { once.min(14.0) } else { once }
            }
            Over::Box(..) => {
                if single {
                    15.0 + 0.08 * entries
                } else {
                    12.0 + 0.14 * entries
                }
            }
        };
        1e-12 * several.unwrap_or_else(once) * self.slower[usize::from(single)]
    }

    /// What a sweep takes however small it is.
    fn of_sweep(&self, work: &Work) -> f64 {
        let nanoseconds = match work.over {
            Over::Lines(_) if work.sweeps == 1 => 0.0,
            Over::Lines(lines) => {
                // Up to here a line is one block, which waits for its own barriers.
                let alone = if lines.length() <= 1408 { 1.8 } else { 1.0 };
                (50.0 + 28.0 * work.entries as f64) * alone
            }
            Over::Box(_, [rows, columns, 1]) if self.hopper && rows == columns && (3..=7).contains(&rows) => {
                5500.0 + 100.0 * (work.entries as f64 - 9.0)
            }
            Over::Box(..) => 8000.0,
        };
        1e-9 * nanoseconds
    }
}

/// What an output of a sweep takes, in picoseconds, by filters of which several sweeps are a launch on chips of compute
/// capability 9.0.
fn of_several(filter: [usize; 3], single: bool) -> Option<f64> {
    let of_entry = match filter {
        [3, 3, 1] => return Some(if single { 0.55 } else { 0.85 }),
        [5, 5, 1] => return Some(if single { 1.4 } else { 2.2 }),
        [7, 7, 1] => return Some(if single { 2.6 } else { 4.3 }),
        [1, 1, 1] => None,
        _ if filter.iter().any(|&size| size > 7) => None,
        [_, 1, 1] => single.then_some(0.06),
        [1, _, 1] => single.then_some(0.12),
        [_, 1, _] => Some(0.15),
        [1, 3, 3] => Some(0.2),
        _ => None,
    };
    of_entry.map(|of_entry| of_entry * filter.iter().product::<usize>() as f64)
}

/// Seconds, as a trace has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told(pub(super) f64);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Told(seconds) = *self;
        let (number, unit) = match seconds {
            0.0..1e-3 => (seconds * 1e6, "us"),
            1e-3..1.0 => (seconds * 1e3, "ms"),
            _ => (seconds, "s"),
        };
        let decimals = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
        write!(f, "{number:.decimals$} {unit}")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stencil::{Filter, Taps};

    /// An H200, as it was measured behind its host of 16 cores, and behind two threads of that.
    fn h200(cores: usize) -> GpuRates {
        let [pass, there_and_back] = match cores {
            16 => [
                [
                    [1024.0, 14.9e-6],
                    [32768.0, 110e-6],
                    [131_072.0, 182e-6],
                    [1_048_576.0, 545e-6],
                    [8_388_608.0, 4.4e-3],
                ],
                [[1024.0, 75e-6], [32768.0, 75e-6], [131_072.0, 283e-6], [1_048_576.0, 824e-6], [8_388_608.0, 3.71e-3]],
            ],
            _ => [
                [
                    [1024.0, 19.3e-6],
                    [32768.0, 114e-6],
                    [131_072.0, 214e-6],
                    [1_048_576.0, 0.8e-3],
                    [8_388_608.0, 15e-3],
                ],
                [[1024.0, 71e-6], [32768.0, 71e-6], [131_072.0, 283e-6], [1_048_576.0, 1.65e-3], [8_388_608.0, 15e-3]],
            ],
        };
        GpuRates {
            pass: Curve::new(pass.to_vec()),
            there_and_back: Curve::new(there_and_back.to_vec()),
            slower: [1.0; 2],
            hopper: true,
        }
    }

    /// That host.
    fn host(cores: usize) -> CpuRates {
        let [few, many] = match cores {
            16 => [
                [
                    [1024.0, 0.54e-6],
                    [32768.0, 9.7e-6],
                    [131_072.0, 44.8e-6],
                    [1_048_576.0, 96e-6],
                    [8_388_608.0, 2.09e-3],
                ],
                [
                    [1024.0, 1.72e-6],
                    [32768.0, 54.7e-6],
                    [131_072.0, 92e-6],
                    [1_048_576.0, 179e-6],
                    [8_388_608.0, 2.2e-3],
                ],
            ],
            _ => [
                [
                    [1024.0, 0.81e-6],
                    [32768.0, 12e-6],
                    [131_072.0, 70e-6],
                    [1_048_576.0, 455e-6],
                    [8_388_608.0, 10.4e-3],
                ],
                [[1024.0, 1.89e-6], [32768.0, 59e-6], [131_072.0, 138e-6], [1_048_576.0, 783e-6], [8_388_608.0, 12e-3]],
            ],
        };
        let (along, over, begin) = match cores {
            16 => ([285e-12, 1475e-12], [1133e-12, 14.9e-9], 53e-6),
            _ => ([339e-12, 1742e-12], [755e-12, 13.6e-9], 23e-6),
        };
        CpuRates { pass: [Curve::new(few.to_vec()), Curve::new(many.to_vec())], along, over, begin }
    }

    /// A host with so many cores, and an H200.
    pub(in super::super) fn machine(cores: usize) -> Machine {
        Machine { cpu: host(cores), gpu: h200(cores) }
    }

    pub(in super::super) fn line(n: usize, taps: usize, sweeps: usize) -> Stencil {
        let taps = Taps::new(&vec![1.0; taps]).unwrap();
        Stencil::new(Lines::new(n, 1), taps).with_sweeps(sweeps)
    }

    fn image(n: usize, size: usize, sweeps: usize) -> Convolution<f64> {
        let filter = Filter::new(vec![1.0; size * size], [size, size, 1]).unwrap();
        Convolution::new([n, n, 1], filter).with_sweeps(sweeps)
    }

    /// One of the calls of `measured.csv`, which `benches/fastest.m` timed on that machine, with 16 threads and
    /// with two.
    struct Row {
        told: Seconds,
        took: Seconds,
        what: &'static str,
    }

    fn rows(threads: usize) -> Vec<Row> {
        let lines =
            include_str!("measured.csv").lines().skip(1).map(|what| (what, what.split(',').collect::<Vec<_>>()));
        let machine = machine(threads);
        let row = |(what, cells): (&'static str, Vec<&str>)| {
            let number = |at: usize| cells[at].parse::<usize>().unwrap();
            let (size, filter, sweeps) = (number(2), number(3), number(4));
            let told = match cells[1] {
                "line" => machine.predict(&line(size, filter, sweeps), threads),
                _ => machine.predict(&image(size, filter, sweeps), threads),
            };
            // What Octave takes for a call of any function of ours is in the table.
            let [cpu, cuda] = [5, 6].map(|at| (1e-3 * cells[at].parse::<f64>().unwrap() - 13e-6).max(1e-6));
            Row { told, took: Seconds { cpu, cuda }, what }
        };
        lines.filter(|(_, cells)| cells[0] == threads.to_string()).map(row).collect()
    }

    /// Where one engine took more than 1.7 times as long as the other, the model knows which. Nearer ones are tried,
    /// see `learnt`; and even there it is seldom wrong by more than a tenth.
    #[test]
    fn the_model_knows_the_faster_engine() {
        for threads in [16, 2] {
            let rows = rows(threads);
            let mut wrong = Vec::new();
            for Row { told, took, what } in &rows {
                let cpu = told.cpu <= told.cuda;
                let [chosen, other] = if cpu { [took.cpu, took.cuda] } else { [took.cuda, took.cpu] };
                if chosen > 1.1 * other {
                    wrong.push(format!("{what}: {:.2} times as long, {told:?}", chosen / other));
                }
                assert!(chosen < 1.7 * other, "{what}: {told:?}");
            }
            println!("{wrong:#?}");
            assert!(rows.len() > 60 && wrong.len() * 12 <= rows.len(), "of {}: {wrong:#?}", rows.len());
        }
    }

    /// Most times are right to some tens of per cent.
    #[test]
    fn the_model_knows_the_times() {
        for threads in [16, 2] {
            let rows = rows(threads);
            for engine in [|seconds: Seconds| seconds.cpu, |seconds: Seconds| seconds.cuda] {
                let mut off: Vec<f64> =
                    rows.iter().map(|row| (engine(row.told) / engine(row.took)).ln().abs()).collect();
                off.sort_by(f64::total_cmp);
                let [middle, most] = [off[off.len() / 2], off[off.len() * 9 / 10]].map(f64::exp);
                println!("{threads} threads: {middle:.2} and {most:.2}");
                assert!(middle < 1.5 && most < 2.5, "{threads} threads: off by {middle:.2} and {most:.2}");
            }
        }
    }

    /// Whatever the size, one pass along a line is the CPU's on 16 cores.
    #[test]
    fn on_sixteen_cores_the_cpu_is_ahead_in_every_pass_along_a_line() {
        for n in [1, 20, 1000, 4096, 30_000, 300_000, 3_000_000, 300_000_000] {
            for taps in [1, 3, 21] {
                let told = machine(16).predict(&line(n, taps, 1), 16);
                assert!(told.cpu < told.cuda, "{n}, {taps} taps: {told:?}");
            }
        }
    }

    /// Fewer threads can be busy where there are few tiles.
    #[test]
    fn a_short_line_is_one_threads() {
        let told = [2, 16].map(|cores| machine(cores).predict(&line(1000, 3, 10_000), cores).cpu);
        assert!(told[1] > 0.8 * told[0], "{told:?}");
        let told = [2, 16].map(|cores| machine(cores).predict(&line(10_000_000, 3, 1000), cores).cpu);
        assert!(told[0] > 7.0 * told[1] && told[0] < 11.0 * told[1], "{told:?}");
    }

    /// A chip that is slower loses what it was ahead with.
    #[test]
    fn a_slower_chip_is_told_from_a_fast_one() {
        let mut slow = machine(16);
        let work = line(1_000_000, 21, 200);
        assert!(slow.predict(&work, 16).cuda < slow.predict(&work, 16).cpu);
        slow.gpu.slower = [70.0; 2];
        assert!(slow.predict(&work, 16).cuda > slow.predict(&work, 16).cpu);
    }

    #[test]
    fn calls_that_go_there_and_back_take_as_many_times_as_long() {
        let (machine, work) = (machine(16), image(1024, 5, 1));
        let (once, thrice) = (machine.predict(&work, 16), machine.predict(&Times(work, 3), 16));
        assert!((thrice.cpu / once.cpu - 3.0).abs() < 1e-9 && (thrice.cuda / once.cuda - 3.0).abs() < 1e-9);
    }

    /// What a sweep takes where it is more than a filter, as BENCHMARKS.md has it of an H200: launches of their own, unless
    /// the device does many sweeps of two levels at once; the CPU knows no such thing.
    #[test]
    fn steps_are_passes_unless_a_device_joins_them() {
        let of = |sweeps, n, filters, moved, joint| {
            let steps = Steps { filters, moved, passes: usize::from(moved > 0), joint, arrays: 3 };
            machine(16).predict(&Stepwise(line(n, 3, 1), sweeps, steps), 16)
        };
        let of_sweep = |n, filters, moved, joint| {
            let [more, less] = [2000, 1000].map(|sweeps| of(sweeps, n, filters, moved, joint));
            [more.cuda - less.cuda, more.cpu - less.cpu].map(|seconds| seconds / 1000.0)
        };
        for (filters, moved, joint, seconds) in
            [(1, 3, false, 964e-6), (1, 4, false, 1138e-6), (2, 0, false, 790e-6), (1, 3, true, 31e-6)]
        {
            let told = of_sweep(100_000_000, filters, moved, joint)[0];
            assert!((0.85..1.15).contains(&(told / seconds)), "{filters} filters, {moved}, {joint}: {told}");
        }
        // A short line: its launches, or its barriers.
        let told = [false, true].map(|joint| of_sweep(1000, 1, 3, joint)[0]);
        assert!(told[0] > 7e-6 && told[1] < 0.5e-6, "{told:?}");
        assert_eq!(of_sweep(1000, 1, 3, true)[1], of_sweep(1000, 1, 3, false)[1]);
        let [many, few] = [3, 1].map(|filters| of_sweep(10_000_000, filters, 0, false)[1]);
        assert!((many / few - 3.0).abs() < 1e-9);
        // They are not mistaken for plain sweeps.
        let steps = Steps { filters: 1, moved: 3, passes: 1, joint: true, arrays: 3 };
        assert_ne!(Stepwise(line(1000, 3, 1), 9, steps).work(), line(1000, 3, 9).work());
    }

    #[test]
    fn curves_are_straight_between_what_was_measured() {
        let curve = Curve::new(vec![[10.0, 1.0], [20.0, 3.0], [100.0, 19.0]]);
        for (size, seconds) in [(0.0, 1.0), (10.0, 1.0), (15.0, 2.0), (20.0, 3.0), (60.0, 11.0), (100.0, 19.0)] {
            assert!((curve.at(size, 1.0) - seconds).abs() < 1e-12, "{size}");
        }
        // Beyond, a part of what it took there for each.
        assert!((curve.at(200.0, 1.0) - 38.0).abs() < 1e-12 && (curve.at(200.0, 0.5) - 28.5).abs() < 1e-12);
        assert_eq!(curve.last(), 100.0);
    }

    #[test]
    fn times_are_told_in_their_units() {
        for (seconds, told) in
            [(0.0, "0.00 us"), (15.4e-6, "15.4 us"), (7.3e-4, "730 us"), (0.025, "25.0 ms"), (2.5, "2.50 s")]
        {
            assert_eq!(Told(seconds).to_string(), told);
        }
    }
}
