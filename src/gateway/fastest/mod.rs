//! `'Backend', 'fastest'`: which engine a call takes less time on. Both give the same bits, so time alone decides.
//!
//! A [`model`] predicts both times from the constants of this machine, which [`calibration`] measures when a call first
//! needs them; they are kept as long as the process lives. Calls of a sort that comes again are decided by what they
//! took: [`learnt`].

mod calibration;
mod learnt;
mod model;

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use self::learnt::{Choice, Learnt, Place, Which};
pub(super) use self::model::Work;
use self::model::{Machine, Told};
use super::settings::Settings;
use super::{backend, calls};
use crate::cpu::Level;
use crate::cuda::Cuda;
use crate::mex::{self, Error};
use crate::process::PerProcess;
use crate::stencil;
use crate::workers::Workers;

/// Up to so many multiply-adds no device is ahead: the CPU computes them in less than a launch takes. Without the
/// instruction for them it takes a thousand times as long.
const LITTLE: f64 = (1 << 17) as f64;
const LITTLE_WITHOUT_FMA: f64 = (1 << 7) as f64;

/// What is known in this process.
#[derive(Debug, Default)]
struct Known {
    machines: Vec<(Place, Machine)>,
    learnt: Learnt,
}

/// More machines are not kept: a script that changes how many threads there may be in every call has each measured anew.
const MOST_MACHINES: usize = 8;

static KNOWN: PerProcess<Mutex<Known>> = PerProcess::new();

fn known() -> MutexGuard<'static, Known> {
    KNOWN.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The engine for a call.
pub(super) struct Decision {
    /// The device, opened; `None` for the CPU.
    pub(super) cuda: Option<Cuda>,
    /// The choice and its reason, for a trace.
    pub(super) note: Option<String>,
    /// To be told how long the call took.
    pub(super) lesson: Option<Lesson>,
}

impl Decision {
    fn cpu(reason: impl FnOnce() -> String) -> Decision {
        Decision { cuda: None, note: note(|| format!("fastest: cpu, {}", reason())), lesson: None }
    }
}

/// What a trace says, if there is one.
pub(super) fn note(text: impl FnOnce() -> String) -> Option<String> {
    mex::is_traced().then(text)
}

/// The engine that a call takes less time on. `work` says what it computes, for so many threads of the CPU; `device` is
/// the ordinal that the user names: then it is the CPU or that device.
///
/// # Errors
/// `noDevice` for a device that is named and is not there; `busy` for a call inside another that has the device, where
/// the device would be chosen, or nothing is known of it yet; what the driver says of a device that is named.
pub(super) fn decide(
    work: impl FnOnce(usize) -> Work,
    device: Option<usize>,
    settings: &Settings,
) -> Result<Decision, Error> {
    // A device that is named and not there is an error, also where it would not be used.
    let found = Cuda::find(device);
    if device.is_some() {
        found.clone()?;
    }
    let threads = Workers::count();
    let work = work(threads);
    let little = if Level::best() == Level::Portable { LITTLE_WITHOUT_FMA } else { LITTLE };
    if work.multiply_adds() <= little {
        return Ok(Decision::cpu(|| "so little is done there in less time than a launch takes".into()));
    }
    let ordinal = match found {
        Ok(ordinal) => ordinal,
        Err(error) => return Ok(Decision::cpu(|| format!("for there is no other: {error}"))),
    };
    let open = || match device {
        Some(_) => Ok(Ok(Cuda::open(device)?)),
        None => backend::automatic(),
    };
    let place = Place { ordinal, device_bytes: settings.device_bytes, threads };
    let mut measured = None;
    let machine = known().machines.iter().find(|(of, _)| *of == place).map(|(_, machine)| machine.clone());
    let machine = match machine {
        Some(machine) => machine,
        None => {
            let cuda = match open()? {
                Ok(cuda) => cuda,
                Err(reason) => return Ok(Decision::cpu(|| format!("for there is no other: {reason}"))),
            };
            if calls::any() {
                let note = note(|| "fastest: cuda, for another call is running and nothing can be measured".into());
                return Ok(Decision { cuda: Some(cuda), note, lesson: None });
            }
            let begin = Instant::now();
            let machine = match calibration::machine(settings.bounded(cuda)) {
                Ok(machine) => machine,
                Err(stencil::Error::Busy) => return Err(stencil::Error::Busy.into()),
                // The next call may have more memory, or a device that works again.
                Err(error) => return Ok(Decision::cpu(|| format!("for the device cannot be measured: {error}"))),
            };
            measured = Some((begin.elapsed().as_secs_f64(), machine.clone()));
            let mut known = known();
            if known.machines.len() == MOST_MACHINES {
                known.machines.remove(0);
            }
            known.machines.push((place, machine.clone()));
            machine
        }
    };
    let choice = known().learnt.choose(place, &work, machine.predict(&work));
    let note = note(|| told(&choice, measured.as_ref().map(|(seconds, machine)| (*seconds, machine))));
    let lesson = Some(Lesson { place, work, which: choice.which });
    match choice.which {
        Which::Cpu => Ok(Decision { cuda: None, note, lesson }),
        Which::Cuda => match open()? {
            Ok(cuda) => Ok(Decision { cuda: Some(cuda), note, lesson }),
            Err(reason) => Ok(Decision::cpu(|| format!("for there is no other any more: {reason}"))),
        },
    }
}

/// A choice in words: `fastest: cpu, of cpu 158 us (measured) and cuda 714 us (predicted)`; and what was measured just now.
fn told(choice: &Choice, measured: Option<(f64, &Machine)>) -> String {
    let seconds = choice.seconds;
    let word = |which: Which| if choice.measured[which as usize] { "measured" } else { "predicted" };
    let [cpu, cuda] = [
        format!("cpu {} ({})", Told(seconds.cpu), word(Which::Cpu)),
        format!("cuda {} ({})", Told(seconds.cuda), word(Which::Cuda)),
    ];
    let name = if choice.which == Which::Cpu { "cpu" } else { "cuda" };
    let mut told = format!("fastest: {name}, of {cpu} and {cuda}");
    if choice.tried {
        told += ", which are near: it is tried";
    }
    if let Some((seconds, machine)) = measured {
        let _ = write!(told, "; the machine was measured in {}: {machine:?}", Told(seconds));
    }
    told
}

/// What a call is to be remembered by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lesson {
    place: Place,
    work: Work,
    which: Which,
}

impl Lesson {
    /// Runs the call, and remembers how long that took, unless it failed.
    pub(super) fn time<E>(self, run: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let begin = Instant::now();
        run()?;
        let seconds = begin.elapsed().as_secs_f64();
        known().learnt.learn(self.place, &self.work, self.which, seconds);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::model::{Seconds, tests::machine};
    use super::*;

    #[test]
    fn a_choice_is_told_with_both_times() {
        let seconds = Seconds { cpu: 158e-6, cuda: 714e-6 };
        let choice = Choice { which: Which::Cpu, seconds, measured: [true, false], tried: false };
        assert_eq!(told(&choice, None), "fastest: cpu, of cpu 158 us (measured) and cuda 714 us (predicted)");
        let choice = Choice { which: Which::Cuda, tried: true, ..choice };
        let words = told(&choice, Some((0.0312, &machine(16))));
        assert!(words.starts_with("fastest: cuda, of") && words.contains("it is tried"), "{words}");
        assert!(words.contains("; the machine was measured in 31.2 ms: Machine {"), "{words}");
    }
}
