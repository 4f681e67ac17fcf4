//! `'Backend', 'fastest'`: the engine that takes less time for a call. Both give the same bits, so time alone decides.
//!
//! [`work`] guesses both times from the size of the arrays and the number of multiply-adds; the first call of a sort
//! goes to the engine with the smaller guess. [`sorts`](mod@sorts) remembers the times of calls: if the guesses are
//! near, the other engine is tried once, and from then on the quicker one is taken. A trial is three calls, of which
//! the shortest counts, because the first call may load a kernel, start threads or page-lock memory.
//!
//! # Limitations
//! Only calls on the host's arrays get here; otherwise the place of the array decides. A call inside another one is
//! neither a trial nor measured. The results hold until the process ends.

mod sorts;
mod work;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use self::sorts::{Candidate, Choice, Resources, Sort, Sorts};
use self::work::Machine;
pub(crate) use self::work::Work;
use super::{calls, default_device};
use crate::cpu::Level;
use crate::cuda::{Cuda, Driver};
use crate::gateway::options::settings::Settings;
use crate::mex::{self, Error};
use crate::platform::process::PerProcess;
use crate::platform::workers::Workers;

/// Calls of up to this many multiply-adds go to the CPU on any machine, since it computes them in less time than a
/// launch takes. A processor without the instruction for a multiply-add takes `WITHOUT_FMA` times as long for each.
const SMALL: f64 = (1 << 17) as f64;
const WITHOUT_FMA: f64 = 1000.0;

static SORTS: PerProcess<Mutex<Sorts>> = PerProcess::new();

fn sorts() -> MutexGuard<'static, Sorts> {
    SORTS.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The engine for a call.
pub(crate) struct Decision {
    /// The opened device; `None` for the CPU.
    pub(crate) cuda: Option<Cuda>,
    /// The choice and its reason, for a trace.
    pub(crate) note: Option<String>,
    /// Measures the call.
    pub(crate) stopwatch: Option<Stopwatch>,
}

impl Decision {
    fn cpu(reason: impl FnOnce() -> String) -> Decision {
        Decision { cuda: None, note: note(|| format!("fastest: cpu, {}", reason())), stopwatch: None }
    }
}

/// Returns the text for a trace, if tracing is on.
pub(crate) fn note(text: impl FnOnce() -> String) -> Option<String> {
    mex::is_traced().then(text)
}

/// Chooses the engine that takes less time for a call: the CPU, or the named device, else the default one.
///
/// # Errors
/// `noDevice` if the named device does not exist; `busy` for a call inside another one that uses the chosen device; the
/// driver's error if the named device cannot be opened.
pub(crate) fn decide(work: Work, device: Option<usize>, settings: &Settings) -> Result<Decision, Error> {
    let slower = if Level::best() == Level::Portable { WITHOUT_FMA } else { 1.0 };
    let is_small = work.multiply_adds() * slower <= SMALL;
    let small = || Decision::cpu(|| "so little is done there in less time than a launch takes".into());
    if is_small && device.is_none() {
        return Ok(small());
    }
    // A missing device is an error, even if it would not be used.
    let ordinal = match Cuda::find(device.or(settings.device)) {
        Ok(_) if is_small => return Ok(small()),
        Ok(ordinal) => ordinal,
        Err(error) if device.is_some() => return Err(error.into()),
        Err(error) => return Ok(Decision::cpu(|| format!("for there is no other: {error}"))),
    };
    let threads = Workers::count();
    let resources = Resources { ordinal, device_bytes: settings.device_bytes, threads };
    let sort = Sort::new(&work, resources);
    let guess = work.guess(&Machine { threads, slower: [slower, slower_chip(ordinal, work.bytes)] });
    let choice = sorts().choose(sort, work.updates(), guess, !calls::any());
    let cuda = match (choice.which, device) {
        (Candidate::Cpu, _) => None,
        (Candidate::Cuda, Some(_)) => Some(Cuda::open(device)?),
        (Candidate::Cuda, None) => match default_device::open(settings)? {
            Ok(cuda) => Some(cuda),
            Err(reason) => return Ok(Decision::cpu(|| format!("for there is no other: {reason}"))),
        },
    };
    let stopwatch = Some(Stopwatch { sort, updates: work.updates(), which: choice.which });
    Ok(Decision { cuda, note: note(|| describe(&choice)), stopwatch })
}

/// Returns [`Machine::slower`] of a device.
fn slower_chip(ordinal: usize, bytes: usize) -> f64 {
    let device = Driver::get().ok().and_then(|driver| driver.devices.get(ordinal)?.as_ref().ok());
    device.map_or(1.0, |device| work::slower(device.multiprocessors, device.capability, bytes))
}

/// Describes a choice: `fastest: cpu, of cpu 0.158 ms (measured) and cuda 0.714 ms (guessed)`.
fn describe(choice: &Choice) -> String {
    let names = ["cpu", "cuda"];
    let [cpu, cuda] = [0, 1].map(|at| {
        let word = if choice.measured[at] { "measured" } else { "guessed" };
        format!("{} {:.4} ms ({word})", names[at], 1e3 * choice.seconds[at])
    });
    let trial = if choice.trial { ", which are near: it is tried" } else { "" };
    format!("fastest: {}, of {cpu} and {cuda}{trial}", names[choice.which as usize])
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    sort: Sort,
    updates: f64,
    which: Candidate,
}

impl Stopwatch {
    /// Runs the call, and remembers its time unless it failed.
    pub(crate) fn time<E>(self, run: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let begin = Instant::now();
        run()?;
        sorts().learn(self.sort, self.which, begin.elapsed().as_secs_f64() / self.updates);
        Ok(())
    }
}
