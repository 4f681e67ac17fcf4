//! Arrays that stay on the device while they are swept.
//!
//! # Rationale
//! Between two sweeps the link is a hundred times too slow. So an array that is swept more than once, or whose boundary
//! may ask for samples from its other end, is copied to the device as a whole, if it finds room there: twice, since a
//! sweep reads one copy and writes the other.
//!
//! Launches are submitted in batches, each of so many as the device needs a hundredth of a second or two for; between
//! two of them the watch is asked.

use std::ops::Range;
use std::time::Instant;

use bytemuck::Pod;
use cudarc::driver::sys;

use super::DEFAULT_DEVICE_BYTES;
use super::device::Device;
use super::memory::{DeviceBuffer, Idle};
use super::pace::{Pace, Schedule};
use crate::stencil::Error;
use crate::watch::Watch;

/// What a call may hold of the device's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    /// As the user wants it.
    asked: Option<usize>,
}

impl Budget {
    /// The one that was asked for, if one was.
    pub(super) fn new(asked: Option<usize>) -> Budget {
        Budget { asked }
    }

    /// For what is kept between calls, in bytes.
    pub(super) fn kept(self) -> usize {
        self.asked.unwrap_or(DEFAULT_DEVICE_BYTES)
    }

    /// For one call, where `free` bytes of the device's memory are free.
    fn during_a_call(self, free: usize) -> usize {
        // Not all: the host, and whoever else is on the device, may need some.
        self.asked.unwrap_or(free / 5 * 4)
    }
}

/// An array on the device, and room for another of its size.
///
/// Its fields are dropped in this order: nothing is under way when the buffers are freed.
pub(super) struct Resident {
    idle: Idle,
    buffers: [DeviceBuffer; 2],
    /// Which of the two buffers has the array.
    current: usize,
    /// The bytes of the array.
    bytes: usize,
}

impl Resident {
    /// Room for an array of so many elements of `size` bytes, twice; `None` where that is more than the budget or the
    /// device has. The lanes of the device's staging give up their own buffers there if the budget asks for it.
    pub(super) fn new(
        device: &mut Device,
        elements: usize,
        size: usize,
        budget: Budget,
    ) -> Result<Option<Resident>, Error> {
        // At least a byte: there is no buffer of none.
        let Some(bytes) = elements.max(1).checked_mul(size).filter(|bytes| *bytes <= usize::MAX / 2) else {
            return Ok(None);
        };
        let needed = 2 * bytes;
        let resident = |device: &Device, buffers| {
            Ok(Some(Resident { idle: Idle::new(&device.stream), buffers, current: 0, bytes }))
        };
        if let Some(spare) = device.staging.take_spare() {
            let held = spare[0].bytes() + spare[1].bytes();
            if spare.iter().all(|buffer| buffer.bytes() >= bytes)
                && held + device.staging.device_bytes() <= budget.kept()
            {
                return resident(device, spare);
            }
        }
        if needed + device.staging.device_bytes() > budget.kept() {
            // More than is kept anyway: what is free has to be asked for, which takes longer than to get a little.
            let free = || device.context.free_memory();
            let limit = if budget.asked.is_some() { budget.during_a_call(0) } else { budget.during_a_call(free()?) };
            if needed > limit {
                return Ok(None);
            }
            if budget.asked.is_some() {
                device.staging.release_device();
            }
        }
        let buffers = DeviceBuffer::new(&device.context, bytes)
            .and_then(|first| Ok([first, DeviceBuffer::new(&device.context, bytes)?]));
        match buffers {
            Ok(buffers) => resident(device, buffers),
            Err(Error::OutOfMemory(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Copies an array of the host here.
    pub(super) fn upload<T: Pod + Send + Sync>(
        &mut self,
        device: &mut Device,
        input: &[T],
        watch: &Watch,
    ) -> Result<(), Error> {
        assert!(size_of_val(input) <= self.bytes);
        // SAFETY: the buffer has as many bytes, and `run` has waited for what used it.
        unsafe { device.staging.upload(&device.context, input, self.buffers[self.current].address(), watch) }
    }

    /// Copies the array to the host.
    pub(super) fn download<T: Pod + Send + Sync>(
        &self,
        device: &mut Device,
        output: &mut [T],
        watch: &Watch,
    ) -> Result<(), Error> {
        assert!(size_of_val(output) <= self.bytes);
        // SAFETY: the buffer has as many bytes, and `run` has waited for what wrote it.
        unsafe { device.staging.download(&device.context, self.buffers[self.current].address(), output, watch) }
    }

    /// The addresses of the array, and of the room beside it.
    pub(super) fn buffers(&self) -> [sys::CUdeviceptr; 2] {
        [self.buffers[self.current].address(), self.buffers[1 - self.current].address()]
    }

    /// Has `submit` put so many sweeps on the stream, each of so many units of work, in one launch or several; waits
    /// for them in batches, as `pace` says.
    ///
    /// `submit` gets the units of the launch, the stream, the address of the array and that of the room beside it, and
    /// returns the updates that it does: they are counted in `watch` at the end of the batch. Where the watch says
    /// stop, nothing more is submitted; when this returns, nothing is under way.
    pub(super) fn run(
        &mut self,
        sweeps: usize,
        units: usize,
        mut pace: Pace,
        watch: &Watch,
        mut submit: impl FnMut(Range<usize>, sys::CUstream, [sys::CUdeviceptr; 2]) -> Result<usize, Error>,
    ) -> Result<(), Error> {
        let mut schedule = Schedule::new(sweeps, units);
        while !schedule.is_over() {
            watch.check()?;
            let begin = Instant::now();
            let (mut done, mut updates) = (0, 0);
            for launch in schedule.batch(pace) {
                let last = launch.end == units;
                done += launch.len();
                updates += submit(launch, self.idle.stream().handle(), self.buffers())
                    .inspect_err(|_| self.idle.stream().settle())?;
                // The array that was written is whole, and the next launch reads it.
                self.current ^= usize::from(last);
            }
            self.idle.stream().synchronize()?;
            watch.count(updates);
            pace.took(done, begin.elapsed());
        }
        Ok(())
    }

    /// Ends the use of it. Its buffers are kept for the next call, if the budget has room for them.
    pub(super) fn keep(self, device: &mut Device, budget: Budget) {
        let Resident { idle, buffers, .. } = self;
        drop(idle);
        device.staging.keep(buffers, budget.kept());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_was_asked_for_bounds_all() {
        let asked = Budget::new(Some(1000));
        assert_eq!((asked.kept(), asked.during_a_call(1 << 40)), (1000, 1000));
        let not = Budget::new(None);
        assert_eq!((not.kept(), not.during_a_call(1000)), (DEFAULT_DEVICE_BYTES, 800));
    }
}
