//! The CPU engine: the same bits without a GPU.
//!
//! Everything is an operator of [`simd`] on contiguous numbers; [`lines`] and [`convolution`] bring the samples into that form. Work is split into runs of
//! neighbouring outputs.

mod convolution;
mod lines;
mod simd;

use rayon::prelude::*;

use crate::stencil::{Compute, Convolution, DERIVATIVE_RADIUS, Derivative, Engine, Error, Request};
use crate::watch::Watch;
use crate::workers::Workers;
use simd::Lanes;
pub use simd::Level;

/// The work, in multiply-adds, that is worth waking a thread for: some 20 microseconds of one core.
const WORK_PER_THREAD: usize = 1 << 18;

/// The outputs that one task computes at most: input and output of a task stay in the second-level cache.
const TASK: usize = 1 << 15;

/// The CPU engine with one level of SIMD.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    level: Level,
}

impl Cpu {
    /// With the best instructions that this processor has.
    pub fn new() -> Cpu {
        Cpu { level: Level::best() }
    }

    /// With these instructions; `None` where the processor lacks them.
    pub fn with_level(level: Level) -> Option<Cpu> {
        level.is_available().then_some(Cpu { level })
    }
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::new()
    }
}

impl Engine for Cpu {
    fn name(&self) -> &str {
        self.level.name()
    }

    fn stencil(&self, request: &Request, output: &mut [f64], watch: &Watch) -> Result<(), Error> {
        stencil(self.level, request, request.taps().count(), output);
        Ok(())
    }
}

impl<T: Lanes> Compute<T> for Cpu {
    fn derivative(&self, request: &Derivative<T>, output: &mut [T], watch: &Watch) -> Result<(), Error> {
        stencil(self.level, request, DERIVATIVE_RADIUS, output);
        Ok(())
    }

    fn convolution(&self, request: &Convolution<T>, output: &mut [T], watch: &Watch) -> Result<(), Error> {
        assert_eq!(output.len(), request.input().len());
        let work = request.filter().values().len();
        // Columns of no rows are not worth counting.
        let unit = request.size()[0].max(1);
        in_tasks(output, unit, work, |columns, output| convolution::columns(request, self.level, columns, output));
        Ok(())
    }
}

/// A stencil along lines, with so much work an output.
fn stencil<T: Lanes>(level: Level, stencil: &impl lines::Stencil<T>, work: usize, output: &mut [T]) {
    assert_eq!(output.len(), stencil.input().len());
    in_tasks(output, 1, work, |range, output| lines::range(stencil, level, range, output));
}

/// Fills `output` by `compute`, which is given ranges of units of `unit` outputs; on all threads where the work, so much an output, is worth it.
fn in_tasks<T: Send>(output: &mut [T], unit: usize, work: usize, compute: impl Fn(std::ops::Range<usize>, &mut [T]) + Sync) {
    if output.is_empty() {
        return;
    }
    let units = output.len() / unit;
    let threads = Workers::count().min(output.len().saturating_mul(work) / WORK_PER_THREAD).min(units);
    let pool = if threads > 1 { Workers::get() } else { None };
    let Some(pool) = pool else {
        compute(0..units, output);
        return;
    };
    // Tasks no larger than the cache likes, and enough of them that all threads have one.
    let task = units.div_ceil(threads).min(TASK.div_ceil(unit));
    pool.install(|| {
        output.par_chunks_mut(task * unit).enumerate().for_each(|(i, output)| compute(i * task..i * task + output.len() / unit, output));
    });
}
