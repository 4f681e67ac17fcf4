//! The one loop that sweeps: launches in batches, so that a run can be stopped between them.

use std::time::Instant;

use cudarc::driver::sys;

use crate::cuda::driver::context::Stream;
use crate::cuda::kernels::Plan;
use crate::cuda::runtime::pace::{Schedule, UNIT};
use crate::cuda::runtime::queue::{Load, Queue};
use crate::stencil::Error;

/// Result of submitting sweeps to a stream.
pub(super) struct Submitted {
    /// True if the result will be in the second of the buffers.
    pub(super) in_other: bool,
    /// Work that has not been waited for, in units of [`pace`](crate::cuda::runtime::pace).
    pub(super) left: usize,
}

/// Sweeps over a tile on the device.
pub(super) struct Sweeps<'a, T> {
    pub(super) plan: &'a dyn Plan<T>,
    /// Number of outputs of a sweep, and of multiply-adds for each.
    pub(super) outputs: usize,
    pub(super) work: usize,
    pub(super) sweeps: usize,
}

impl<T> Sweeps<'_, T> {
    /// Puts the sweeps on the queue as [`Sweeps::run`] does on a stream, and records their amount.
    pub(super) fn run_on(
        &self,
        queue: &Queue,
        name: &'static str,
        samples: sys::CUdeviceptr,
        buffers: [sys::CUdeviceptr; 2],
        progress: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let pace = self.plan.pace();
        let units = self.plan.units().saturating_mul(self.sweeps).saturating_mul(self.unit());
        let load = |units| Load { name, pace: Some((pace, units)), bytes: 0 };
        let mut beginning = queue.begin(&load(units))?;
        let Submitted { in_other, left } = self.run(queue.stream(), samples, buffers, progress)?;
        if left < units {
            // The rest has been waited for, and the pace has learnt from it.
            beginning = beginning.without_time();
        }
        queue.submitted(&load(left), beginning)?;
        Ok(in_other)
    }

    /// Returns the multiply-adds, in thousands, of a unit that the plan can launch by itself.
    fn unit(&self) -> usize {
        (self.outputs.saturating_mul(self.work) / self.plan.units().max(1)).div_ceil(UNIT).max(1)
    }

    /// Puts the sweeps on the stream: the first from `samples` to the first of two buffers, the next from there to the
    /// other, and so on.
    /// If there is more work than a batch, it is waited for in between, as [`pace`](crate::cuda::runtime::pace) says;
    /// then `progress` gets the number of outputs computed so far, in all sweeps, and may end the run.
    pub(super) fn run(
        &self,
        stream: &Stream,
        samples: sys::CUdeviceptr,
        buffers: [sys::CUdeviceptr; 2],
        progress: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<Submitted, Error> {
        let (plan, pace) = (self.plan, self.plan.pace());
        let units = plan.units();
        let granularity = plan.batch_granularity().max(1) * units.max(1);
        let unit = self.unit();
        let mut schedule = Schedule::new(self.sweeps, units, plan.fused(self.sweeps)?);
        // The source of the next sweep and the buffer that it writes; units submitted; begin of the timing.
        let (mut from, mut to, mut done, mut begin) = (samples, 0, 0, None);
        let mut waited = 0;
        while !schedule.is_over() {
            let most = (pace.batch() / unit).max(granularity);
            let batch = schedule.batch(most - most % granularity);
            let last = schedule.is_over();
            if !last && begin.is_none() {
                // Earlier work on the stream, such as the upload of the samples, is not to be timed.
                stream.synchronize()?;
                begin = Some(Instant::now());
            }
            let before = done;
            if let Some(part) = batch.part {
                let ended = part.end == units;
                done += part.len();
                plan.part(stream.handle(), part, [from, buffers[to]])?;
                if ended {
                    (from, to) = (buffers[to], 1 - to);
                }
            }
            let mut left = batch.sweeps;
            while left > 0 {
                let fused = plan.fused(left)?;
                plan.sweep(stream.handle(), fused, [from, buffers[to]])?;
                (from, to) = (buffers[to], 1 - to);
                left -= fused;
                done += fused * units;
            }
            if let Some(start) = begin.filter(|_| !last) {
                stream.synchronize()?;
                waited = done;
                pace.took((done - before).saturating_mul(unit), start.elapsed());
                progress(done / units * self.outputs + done % units * self.outputs / units)?;
                begin = Some(Instant::now());
            }
        }
        Ok(Submitted { in_other: to == 0, left: (done - waited).saturating_mul(unit) })
    }
}
