//! The work of a call, and a first guess of the time that either engine takes for it.
//!
//! The guess adds three costs: those of a call and of its sweeps, of the bytes of the arrays, and of the multiply-adds.
//! Its constants are those of an H200 and its host in `docs/measurements/fastest.csv`; in that table the guess is right
//! to a factor of three where the engines differ. That is enough to begin with: see [`sorts`](mod@super::sorts).

use crate::stencil::{Convolution, Derivative, Real, Stencil};

/// The properties of a call that its time depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// `stencil`, `derivative` or `convolution`.
    function: &'static str,
    /// Extents of the array, in elements.
    size: [usize; 3],
    /// Extents of the filter.
    filter: [usize; 3],
    /// Bytes of an element.
    pub(super) bytes: usize,
    sweeps: usize,
    /// Multiply-adds for an output of a sweep.
    entries: usize,
    /// Passes over the array in a sweep; 1 also if an engine joins several.
    passes: usize,
    /// Number of arrays that are copied from or to the host's memory.
    arrays: usize,
    /// Number of calls of an engine, each from the host's memory to the host's memory.
    calls: usize,
}

/// Taps of a stencil that takes as many instructions as a derivative.
const TAPS_OF_DERIVATIVE: usize = 9;

impl From<&Stencil> for Work {
    fn from(what: &Stencil) -> Work {
        let work = Work::once::<f64>("stencil", what.lines().extents(), [1, what.taps().count(), 1]);
        Work { sweeps: what.sweeps(), ..work }
    }
}

impl<T: Real> From<&Derivative<T>> for Work {
    fn from(what: &Derivative<T>) -> Work {
        Work::once::<T>("derivative", what.lines().extents(), [1, TAPS_OF_DERIVATIVE, 1])
    }
}

impl<T: Real> From<&Convolution<T>> for Work {
    fn from(what: &Convolution<T>) -> Work {
        let work = Work::once::<T>("convolution", what.size(), what.filter().size());
        Work { sweeps: what.sweeps(), ..work }
    }
}

impl Work {
    fn once<T>(function: &'static str, size: [usize; 3], filter: [usize; 3]) -> Work {
        let (bytes, entries) = (size_of::<T>(), filter.iter().product());
        Work { function, size, filter, bytes, sweeps: 1, entries, passes: 1, arrays: 2, calls: 1 }
    }

    /// Repeats this work `calls` times, each through the host's memory.
    pub(crate) fn repeated(self, calls: usize) -> Work {
        Work { calls, ..self }
    }

    /// Describes sweeps of several filters or more arrays: `entries` multiply-adds an output in `passes` passes.
    pub(crate) fn stepwise(self, sweeps: usize, entries: usize, passes: usize, arrays: usize) -> Work {
        Work { sweeps, entries, passes, arrays, ..self }
    }

    /// Rounds extents, sweeps and calls down to powers of two.
    pub(super) fn rounded(&self) -> Work {
        let round = |count: usize| count.checked_ilog2().map_or(0, |exponent| 1 << exponent);
        Work { size: self.size.map(round), sweeps: round(self.sweeps), calls: round(self.calls), ..*self }
    }

    fn elements(&self) -> f64 {
        self.size.iter().map(|&extent| extent as f64).product()
    }

    /// Number of elements computed in all sweeps of all calls.
    pub(super) fn updates(&self) -> f64 {
        self.elements() * self.sweeps as f64 * self.calls as f64
    }

    pub(super) fn multiply_adds(&self) -> f64 {
        self.updates() * self.entries as f64
    }

    /// Guesses the seconds of the call on the CPU and on CUDA.
    pub(super) fn guess(&self, machine: &Machine) -> [f64; 2] {
        let calls = self.calls as f64;
        let bytes = self.elements() * self.bytes as f64 * self.arrays as f64 * calls;
        // A vector holds twice as many singles.
        let doubles = self.multiply_adds() * self.bytes as f64 / size_of::<f64>() as f64;
        let threads = (doubles / cpu::WORK_PER_THREAD).clamp(1.0, machine.threads as f64);
        let cpu = calls * cpu::CALL
            + bytes * cpu::BYTE / threads.min(cpu::MEMORY_THREADS)
            + doubles * cpu::MULTIPLY_ADD * machine.slower[0] / threads;
        let is_line = self.function != "convolution" && self.passes == 1;
        let sweep = if is_line { cuda::SWEEP_OF_LINES } else { cuda::SWEEP };
        let cuda = calls * cuda::CALL
            + bytes * cuda::BYTE / (machine.threads as f64).min(cuda::LINK_THREADS)
            + (self.sweeps * self.passes) as f64 * calls * sweep
            + doubles * cuda::MULTIPLY_ADD * machine.slower[1];
        [cpu, cuda]
    }
}

/// Seconds of the CPU engine.
mod cpu {
    pub(super) const CALL: f64 = 10e-6;
    /// To read or write a byte, for one thread; more than `MEMORY_THREADS` gain nothing.
    pub(super) const BYTE: f64 = 5e-11;
    pub(super) const MEMORY_THREADS: f64 = 8.0;
    /// For one thread.
    pub(super) const MULTIPLY_ADD: f64 = 1e-10;
    /// Multiply-adds that are worth waking a thread for.
    pub(super) const WORK_PER_THREAD: f64 = (1 << 18) as f64;
}

/// Seconds of the CUDA engine.
mod cuda {
    /// The first launch and the first byte there and back.
    pub(super) const CALL: f64 = 40e-6;
    /// To copy a byte one way, for one thread that feeds the link; more than `LINK_THREADS` gain nothing.
    pub(super) const BYTE: f64 = 1e-10;
    pub(super) const LINK_THREADS: f64 = 4.0;
    /// A launch, and a sweep's share of it if many sweeps along lines are one launch.
    pub(super) const SWEEP: f64 = 5e-6;
    pub(super) const SWEEP_OF_LINES: f64 = 3e-7;
    pub(super) const MULTIPLY_ADD: f64 = 7e-14;
}

/// The machine of a guess: its threads, and how much longer a multiply-add takes each engine than when it was measured.
pub(super) struct Machine {
    pub(super) threads: usize,
    pub(super) slower: [f64; 2],
}

/// Returns [`Machine::slower`] of a GPU, by its multiprocessors and, for elements in double, by their units for double:
/// chips of some capabilities have half as many as for single, others a thirty-second or less.
pub(super) fn slower(multiprocessors: i32, capability: (i32, i32), bytes: usize) -> f64 {
    let units = if bytes < size_of::<f64>() || matches!(capability, (6..=10, 0)) { 1.0 } else { 32.0 };
    132.0 / f64::from(multiprocessors.max(1)) * units
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stencil::Filter;

    /// Describes sweeps of a stencil along a line.
    pub(crate) fn line(n: usize, taps: usize, sweeps: usize) -> Work {
        Work { sweeps, ..Work::once::<f64>("stencil", [1, n, 1], [1, taps, 1]) }
    }

    fn image(n: usize, size: usize, sweeps: usize) -> Work {
        let filter = Filter::new(vec![1.0; size * size], [size, size, 1]).unwrap();
        Work::from(&Convolution::<f64>::new([n, n, 1], filter).with_sweeps(sweeps))
    }

    fn h200(threads: usize) -> Machine {
        Machine { threads, slower: [1.0; 2] }
    }

    /// The guess names the right engine if one took more than three times as long as the other on the measured machine.
    #[test]
    fn the_guess_fits_what_was_measured() {
        for row in include_str!("../../../../docs/measurements/fastest.csv").lines().skip(1) {
            let cells: Vec<_> = row.split(',').collect();
            let number = |at: usize| cells[at].parse::<usize>().unwrap();
            let work = if cells[1] == "line" { line } else { image }(number(2), number(3), number(4));
            let [cpu, cuda] = work.guess(&h200(number(0)));
            let took = [5, 6].map(|at| cells[at].parse::<f64>().unwrap());
            let times = if cpu <= cuda { took[0] / took[1] } else { took[1] / took[0] };
            assert!(times < 3.0, "{row}: {cpu} and {cuda}");
        }
    }

    #[test]
    fn the_guess_knows_slower_machines() {
        let work = line(1_000_000, 21, 200);
        let [cpu, cuda] = work.guess(&h200(16));
        assert!(cuda < cpu);
        assert!(work.guess(&h200(2))[0] > 6.0 * cpu);
        let slow = work.guess(&Machine { threads: 16, slower: [1000.0, slower(20, (8, 9), 8)] });
        assert!(slow[0] > 500.0 * cpu && slow[1] > 20.0 * cuda);
        assert_eq!(slower(66, (8, 9), 4), 2.0);
        // More steps, arrays and calls take longer.
        let more = work.stepwise(200, 22, 2, 4).repeated(2);
        assert!(more.updates() == 4e8 && more.guess(&h200(16))[1] > 4.0 * cuda);
    }
}
