//! `'Backend', 'fastest'`: which engine a call takes less time on. Both give the same bits, so time alone decides.
//!
//! A [`model`] predicts both times from the constants of this machine, which [`calibration`] measures when a call first
//! needs them; they are kept as long as the process lives. Calls of a sort that comes again are decided by what they
//! took: [`learnt`].

mod calibration;
mod learnt;
mod model;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use self::learnt::{Choice, Learnt, Place, Which};
use self::model::Work;
pub(super) use self::model::{Job, Steps, Stepwise, Times};
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

/// More machines are not kept: a script that changes how many threads there may be in every call has each measured
/// anew.
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
    fn of_little() -> Decision {
        Decision::cpu(|| "so little is done there in less time than a launch takes".into())
    }

    fn cpu(reason: impl FnOnce() -> String) -> Decision {
        Decision { cuda: None, note: note(|| format!("fastest: cpu, {}", reason())), lesson: None }
    }
}

/// What a trace says, if there is one.
pub(super) fn note(text: impl FnOnce() -> String) -> Option<String> {
    mex::is_traced().then(text)
}

/// The engine that a call takes less time on. `device` is the ordinal that the user names: then it is the CPU or that
/// device.
///
/// # Errors
/// `noDevice` for a device that is named and is not there; `busy` for a call inside another that has the device, where
/// the device would be chosen, or nothing is known of it yet; what the driver says of a device that is named.
pub(super) fn decide(job: &dyn Job, device: Option<usize>, settings: &Settings) -> Result<Decision, Error> {
    let work = job.work();
    let little = if Level::best() == Level::Portable { LITTLE_WITHOUT_FMA } else { LITTLE };
    let is_little = work.multiply_adds() <= little;
    if is_little && device.is_none() {
        return Ok(Decision::of_little());
    }
    // A device that is named and not there is an error, also where it would not be used.
    let ordinal = match Cuda::find(device.or(settings.device)) {
        Ok(_) if is_little => return Ok(Decision::of_little()),
        Ok(ordinal) => ordinal,
        Err(error) if device.is_some() => return Err(error.into()),
        Err(error) => return Ok(Decision::cpu(|| format!("for there is no other: {error}"))),
    };
    let open = || match device {
        Some(_) => Ok(Ok(Cuda::open(device)?)),
        None => backend::automatic(settings),
    };
    let threads = Workers::count();
    let place = Place { ordinal, device_bytes: settings.device_bytes, threads };
    let mut measured = None;
    let choice = known().choose(place, &work, job);
    let choice = match choice {
        Some(choice) => choice,
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
            measured =
                note(|| format!("; the machine was measured in {}: {machine:?}", Told(begin.elapsed().as_secs_f64())));
            let mut known = known();
            known.add(place, machine);
            known.choose(place, &work, job).ok_or_else(|| Error::internal("A machine that was not kept."))?
        }
    };
    let note = note(|| told(&choice) + &measured.unwrap_or_default());
    let lesson = Some(Lesson { place, work, which: choice.which });
    match choice.which {
        Which::Cpu => Ok(Decision { cuda: None, note, lesson }),
        Which::Cuda => match open()? {
            Ok(cuda) => Ok(Decision { cuda: Some(cuda), note, lesson }),
            Err(reason) => Ok(Decision::cpu(|| format!("for there is no other any more: {reason}"))),
        },
    }
}

impl Known {
    /// The engine for a call; `None` where the machine was not measured yet.
    fn choose(&mut self, place: Place, work: &Work, job: &dyn Job) -> Option<Choice> {
        let (_, machine) = self.machines.iter().find(|(of, _)| *of == place)?;
        Some(self.learnt.choose(place, work, || machine.predict(job, place.threads)))
    }

    fn add(&mut self, place: Place, machine: Machine) {
        if self.machines.len() == MOST_MACHINES {
            self.machines.remove(0);
        }
        self.machines.push((place, machine));
    }
}

/// A choice in words: `fastest: cpu, of cpu 158 us (measured) and cuda 714 us (predicted)`.
fn told(choice: &Choice) -> String {
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
    use super::model::Seconds;
    use super::model::tests::{line, machine};
    use super::*;

    #[test]
    fn a_choice_is_told_with_both_times() {
        let seconds = Seconds { cpu: 158e-6, cuda: 714e-6 };
        let choice = Choice { which: Which::Cpu, seconds, measured: [true, false], tried: false };
        assert_eq!(told(&choice), "fastest: cpu, of cpu 158 us (measured) and cuda 714 us (predicted)");
        let words = told(&Choice { which: Which::Cuda, tried: true, ..choice });
        assert!(words.starts_with("fastest: cuda, of") && words.ends_with("near: it is tried"), "{words}");
    }

    /// Nothing is told of a machine that was not measured, and each is told for itself.
    #[test]
    fn each_place_has_its_machine() {
        let mut known = Known::default();
        let place = |threads| Place { ordinal: 0, device_bytes: None, threads };
        let job = line(10_000_000, 21, 200);
        let mut slow = machine(2);
        slow.gpu.slower = [1e4; 2];
        known.add(place(2), slow);
        known.add(place(16), machine(16));
        let mut choose = |threads| known.choose(place(threads), &job.work(), &job).map(|choice| choice.which);
        assert_eq!([choose(2), choose(16), choose(4)], [Some(Which::Cpu), Some(Which::Cuda), None]);
        (0..MOST_MACHINES).for_each(|threads| known.add(place(100 + threads), machine(16)));
        assert_eq!(known.machines.len(), MOST_MACHINES);
        assert!(known.choose(place(2), &job.work(), &job).is_none());
    }
}
