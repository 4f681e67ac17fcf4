//! The place of an array, and the engine that computes there.

use super::recordings;
use crate::cpu::Cpu;
use crate::cuda::Cuda;
use crate::gateway::options::settings::Settings;
use crate::mex::{Effort, Error};
use crate::stencil::Engine;
use crate::steps::Recorder;

/// The place of an array, which is also where it is computed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// Memory of this library.
    Cpu,
    /// The device with this ordinal, from 0.
    Cuda(usize),
    /// The step with this number, which is being recorded for a device or the CPU.
    Step { number: u64, device: Option<usize> },
}

impl Home {
    /// Returns the number of the step.
    pub(crate) fn step(self) -> Option<u64> {
        if let Home::Step { number, .. } = self { Some(number) } else { None }
    }

    /// Returns the device, also that of a step; `None` for the CPU.
    pub(crate) fn device(self) -> Option<usize> {
        match self {
            Home::Cpu => None,
            Home::Cuda(ordinal) => Some(ordinal),
            Home::Step { device, .. } => device,
        }
    }

    /// Returns the step under recording that was begun last, if there is one.
    pub(crate) fn current() -> Option<Home> {
        recordings::current().map(|(number, device)| Home::Step { number, device })
    }

    /// Returns the place that a step's arrays come from.
    pub(crate) fn outside(self) -> Home {
        match self {
            Home::Step { device: Some(ordinal), .. } => Home::Cuda(ordinal),
            Home::Step { device: None, .. } => Home::Cpu,
            other => other,
        }
    }

    /// Returns the place of a step that is recorded over arrays which lie here.
    pub(crate) fn of_step(self, number: u64) -> Home {
        match self {
            Home::Cuda(ordinal) => Home::Step { number, device: Some(ordinal) },
            _ => Home::Step { number, device: None },
        }
    }

    /// Returns the engine that computes there.
    pub(crate) fn engine(self) -> Result<Box<dyn Engine>, Error> {
        let settings = Settings::from_environment()?;
        settings.apply();
        Ok(match self {
            Home::Cpu => Box::<Cpu>::default(),
            Home::Cuda(ordinal) => settings.on(Cuda::open(Some(ordinal))?),
            Home::Step { number, .. } => Box::new(Recorder::new(recordings::find(number)?, self.outside().engine()?)),
        })
    }

    /// Returns the effort of a call on arrays there. A device queues work, so only long work needs a watching thread.
    pub(crate) fn effort(self, effort: Effort) -> Effort {
        let long = match self {
            Home::Cpu => effort.long,
            Home::Step { .. } => false,
            Home::Cuda(ordinal) => effort.long && (effort.progress || takes_long(&effort, Cuda::is_measured(ordinal))),
        };
        Effort { long, ..effort }
    }
}

/// Returns true if a call keeps a device or its host busy for long.
fn takes_long(effort: &Effort, measured: bool) -> bool {
    let [updates, work] = if measured { LONG_ON_MEASURED } else { LONG_ON_DEVICE };
    effort.updates >= updates || effort.work >= work || effort.calls >= MANY_CALLS
}

/// Updates and multiply-adds that take a device some tens of milliseconds; engine calls that take the host as long.
const LONG_ON_DEVICE: [u64; 2] = [1 << 30, u64::MAX];
const MANY_CALLS: u64 = 1 << 13;

/// [`LONG_ON_DEVICE`] for a chip that was measured, which is never as slow: at most a second, and for most kernels a
/// tenth. A thread that watches costs a hundredth of the time of 200 sweeps over 8192 x 8192 there.
const LONG_ON_MEASURED: [u64; 2] = [1 << 35, 1 << 40];

/// Text for users.
impl std::fmt::Display for Home {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Home::Cpu => f.write_str("memory of the CPU"),
            Home::Cuda(ordinal) => write!(f, "device {}", ordinal + 1),
            Home::Step { .. } => f.write_str("a step that is being recorded"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_work_on_a_device_is_watched() {
        let effort = |updates, work| Effort { updates, work, calls: 1, long: true, progress: false };
        // The driver lists no device of this ordinal.
        let long = |effort| Home::Cuda(1 << 20).effort(effort).long;
        assert_eq!([1 << 29, 1 << 30].map(|updates| long(effort(updates, 9 * updates))), [false, true]);
        assert!(long(Effort { progress: true, ..effort(1, 1) }));
        assert!(!long(Effort { long: false, ..effort(1 << 40, 1 << 40) }));
        assert!(Home::Cpu.effort(effort(1, 1)).long);
        // 200 and 2000 sweeps over 8192 x 8192 by 3 x 3; 200 and 400 by 7 x 7.
        let updates = 200 << 26;
        let of_sweeps = [(updates, 9), (10 * updates, 9), (updates, 49), (2 * updates, 49)]
            .map(|(updates, taps)| effort(updates, taps * updates));
        assert_eq!(of_sweeps.map(|effort| takes_long(&effort, true)), [false, true, false, true]);
        assert_eq!(of_sweeps.map(|effort| takes_long(&effort, false)), [true; 4]);
        assert!(takes_long(&Effort { calls: MANY_CALLS, ..effort(1, 1) }, true));
    }
}
