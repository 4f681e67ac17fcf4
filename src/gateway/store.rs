//! Arrays that outlive the call that made them: what an object of the class `DeviceArray` stands for.
//!
//! An object holds a number. The numbers of a process begin at one that depends on the time, and none comes twice: what
//! another process has left in a file, or the process that this one was forked from, is known for a stranger here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::recordings;
use super::settings::Settings;
use crate::cpu::Cpu;
use crate::cuda::Cuda;
use crate::mex::{self, Argument, Class, Effort, Error, Pending};
use crate::process::PerProcess;
use crate::stencil::Engine;
pub(super) use crate::stencil::program::Numbers;
use crate::steps::{Recorder, Recording};

/// Where an array lies, and so where it is computed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// In memory of this library.
    Cpu,
    /// On the device with this ordinal, from 0.
    Cuda(usize),
    /// In the step with this number, which is being recorded for a device or the CPU.
    Step { number: u64, device: Option<usize> },
}

impl Home {
    /// The step whose arrays lie there.
    pub(super) fn step(self) -> Option<u64> {
        if let Home::Step { number, .. } = self { Some(number) } else { None }
    }

    /// The device, also that of a step; `None` for the CPU.
    pub(super) fn device(self) -> Option<usize> {
        match self {
            Home::Cpu => None,
            Home::Cuda(ordinal) => Some(ordinal),
            Home::Step { device, .. } => device,
        }
    }

    /// The step that is being recorded, if there is one; of several the one that was begun last.
    pub(super) fn current() -> Option<Home> {
        recordings::current().map(|(number, device)| Home::Step { number, device })
    }

    /// Where a step's arrays come from.
    pub(super) fn outside(self) -> Home {
        match self {
            Home::Step { device: Some(ordinal), .. } => Home::Cuda(ordinal),
            Home::Step { device: None, .. } => Home::Cpu,
            other => other,
        }
    }

    /// In a step that is recorded over arrays which lie here.
    pub(super) fn of_step(self, number: u64) -> Home {
        match self {
            Home::Cuda(ordinal) => Home::Step { number, device: Some(ordinal) },
            _ => Home::Step { number, device: None },
        }
    }

    /// The engine that computes there.
    pub(super) fn engine(self) -> Result<Box<dyn Engine>, Error> {
        let settings = Settings::from_environment()?;
        settings.apply();
        Ok(match self {
            Home::Cpu => Box::<Cpu>::default(),
            Home::Cuda(ordinal) => settings.on(Cuda::open(Some(ordinal))?),
            Home::Step { number, .. } => Box::new(Recorder::new(recordings::find(number)?, self.outside().engine()?)),
        })
    }

    /// The effort of a call on arrays there. A device has the work queued at once, so only long work is worth a thread
    /// that watches it.
    pub(super) fn effort(self, effort: Effort) -> Effort {
        let long = match self {
            Home::Cpu => effort.long,
            Home::Step { .. } => false,
            Home::Cuda(ordinal) => effort.long && (effort.progress || takes_long(&effort, Cuda::is_measured(ordinal))),
        };
        Effort { long, ..effort }
    }
}

/// Whether a call takes a device long, or its host.
fn takes_long(effort: &Effort, measured: bool) -> bool {
    let [updates, work] = if measured { LONG_ON_MEASURED } else { LONG_ON_DEVICE };
    effort.updates >= updates || effort.work >= work || effort.calls >= MANY_CALLS
}

/// Updates, or multiply-adds, that take a device some tens of milliseconds; and calls of the engine that take the host
/// some tens of milliseconds.
const LONG_ON_DEVICE: [u64; 2] = [1 << 30, u64::MAX];
const MANY_CALLS: u64 = 1 << 13;

/// [`LONG_ON_DEVICE`] of a chip that was measured, which is never as slow: a second at most, and for most kernels a tenth.
/// A thread that watches takes a hundredth of the time of 200 sweeps over 8192 x 8192 there.
const LONG_ON_MEASURED: [u64; 2] = [1 << 35, 1 << 40];

/// For people.
impl std::fmt::Display for Home {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Home::Cpu => f.write_str("memory of the CPU"),
            Home::Cuda(ordinal) => write!(f, "device {}", ordinal + 1),
            Home::Step { .. } => f.write_str("a step that is being recorded"),
        }
    }
}

impl Numbers {
    /// The class that is computed in.
    pub(super) fn class(&self) -> Class {
        if self.is_single() { Class::Single } else { Class::Double }
    }
}

/// An array that is held. What is computed is another array; its own numbers change where an assignment may do so in their
/// place, since nobody shares them.
#[derive(Debug, Clone)]
pub(super) struct StoredArray {
    pub(super) home: Home,
    /// Two or more.
    pub(super) dims: Vec<usize>,
    /// What the host calls it. Truth values are ones and zeros in either class of numbers, integers are whole numbers in
    /// double.
    pub(super) class: Class,
    pub(super) numbers: Numbers,
}

/// As an error tells it: `3x4 double DeviceArray`.
impl std::fmt::Display for StoredArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, dim) in self.dims.iter().enumerate() {
            write!(f, "{}{dim}", if i > 0 { "x" } else { "" })?;
        }
        write!(f, " {} DeviceArray", self.class)
    }
}

impl StoredArray {
    /// Of the class that its numbers are of.
    pub(super) fn new(home: Home, dims: Vec<usize>, numbers: impl Into<Numbers>) -> StoredArray {
        let numbers = numbers.into();
        StoredArray { home, dims, class: numbers.class(), numbers }
    }

    /// The number of its elements.
    pub(super) fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether another one has the same numbers, since both stand for one array, in the same dimensions and class.
    pub(super) fn shares(&self, other: &StoredArray) -> bool {
        let numbers = match (&self.numbers, &other.numbers) {
            (Numbers::Double(a), Numbers::Double(b)) => Arc::ptr_eq(a, b),
            (Numbers::Single(a), Numbers::Single(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        numbers && self.dims == other.dims && self.class == other.class
    }

    /// Returns true for a result of a step under recording: it has no values yet.
    pub(super) fn is_computed(&self) -> bool {
        self.recording().is_some_and(|recording| !recording.knows(&self.numbers))
    }

    /// Returns true for elements picked by a mask in a step under recording: their number is not known.
    pub(super) fn is_picked(&self) -> bool {
        self.recording().is_some_and(|recording| recording.is_picked(&self.numbers))
    }

    /// The step that it belongs to, while that is being recorded.
    fn recording(&self) -> Option<Recording> {
        recordings::find(self.home.step()?).ok()
    }

    /// What the object `argument` stands for; `None` for an argument of another kind.
    ///
    /// # Errors
    /// `unsupported` for an array of objects; `deleted` where there is no such array, or none any more.
    pub(super) fn of(argument: &Argument) -> Result<Option<StoredArray>, Error> {
        let Some(number) = argument.object() else {
            return Ok(None);
        };
        if argument.len() != 1 {
            return Err(Error::new(
                "unsupported",
                "A DeviceArray cannot be put into an array: write x(...) = gather (u) for its values, or x{...} = u for \
                 a cell that holds it.",
            ));
        }
        let held = number.and_then(|number| arrays().get(&number).cloned());
        held.map(Some).ok_or_else(|| {
            Error::new(
                "deleted",
                "There is no array behind this DeviceArray: it was deleted, or comes from a file or from the process \
                 that this one was forked from. Make it anew from the host's numbers.",
            )
        })
    }

    /// Keeps it, for the object that is made next.
    pub(super) fn store(self) -> Box<dyn Pending> {
        let number = next_number();
        let (mut dims, class) = (self.dims.clone(), self.class);
        if self.is_picked() {
            dims[0] = UNKNOWN;
        }
        arrays().insert(number, self);
        Box::new(Waiting { number, dims, class, kept: false })
    }
}

/// A dimension that nobody knows yet: the host asks for the size where it is wanted.
const UNKNOWN: usize = usize::MAX;

/// One that has no object yet.
struct Waiting {
    number: u64,
    dims: Vec<usize>,
    class: Class,
    kept: bool,
}

impl Pending for Waiting {
    fn number(&self) -> u64 {
        self.number
    }

    fn dims(&self) -> &[usize] {
        &self.dims
    }

    fn class(&self) -> Class {
        self.class
    }

    fn gone(&self) -> unsafe extern "C" fn(u64) {
        unsafe extern "C" fn gone(number: u64) {
            mex::quietly(|| delete(number));
        }
        gone
    }

    fn keep(mut self: Box<Self>) {
        self.kept = true;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.kept {
            delete(self.number);
        }
    }
}

/// Gives up the array with this number, if there is one.
pub(super) fn delete(number: u64) {
    // Not dropped under the lock: that may wait for a device.
    let held = arrays().remove(&number);
    drop(held);
}

/// Takes the array with this number away from its object, until it is [put back](put_back) or another object stands for
/// it.
pub(super) fn take(number: u64) -> Option<StoredArray> {
    arrays().remove(&number)
}

/// The array that this number stands for from now on.
pub(super) fn put_back(number: u64, array: StoredArray) {
    arrays().insert(number, array);
}

/// How many there are.
pub(super) fn count() -> usize {
    arrays().len()
}

type Arrays = HashMap<u64, StoredArray>;

fn arrays() -> MutexGuard<'static, Arrays> {
    static ARRAYS: PerProcess<Mutex<Arrays>> = PerProcess::new();
    ARRAYS.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next one. A forked process goes on counting where its parent stood, and so never meets a number of its parent's.
pub(super) fn next_number() -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    static GIVEN: AtomicU64 = AtomicU64::new(0);
    let first = FIRST.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // A million numbers for each millisecond, and all below 2^53.
        (since.as_millis() as u64 % (1 << 32)) << 20
    });
    first + GIVEN.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held() -> StoredArray {
        let array = crate::stencil::Array::<f64>::in_memory(6).unwrap();
        StoredArray::new(Home::Cpu, vec![2, 3], array)
    }

    #[test]
    fn what_has_no_object_is_given_up() {
        let before = count();
        let waiting = held().store();
        assert_eq!(count(), before + 1);
        drop(waiting);
        assert_eq!(count(), before);
        let waiting = held().store();
        let number = waiting.number();
        waiting.keep();
        assert_eq!(count(), before + 1);
        delete(number);
        delete(number);
        assert_eq!(count(), before);
    }

    #[test]
    fn a_device_gets_a_thread_that_looks_on_for_what_takes_it_long() {
        let effort = |updates, work| Effort { updates, work, calls: 1, long: true, progress: false };
        // No driver shows this one.
        let long = |effort| Home::Cuda(1 << 20).effort(effort).long;
        assert_eq!([1 << 29, 1 << 30].map(|updates| long(effort(updates, 9 * updates))), [false, true]);
        assert!(long(Effort { progress: true, ..effort(1, 1) }));
        assert!(!long(Effort { long: false, ..effort(1 << 40, 1 << 40) }));
        assert!(Home::Cpu.effort(effort(1, 1)).long);
        // 200 sweeps over 8192 x 8192 by 3 x 3, and ten times as many; 200 by 7 x 7, and twice as many.
        let updates = 200 << 26;
        let of_sweeps = [(updates, 9), (10 * updates, 9), (updates, 49), (2 * updates, 49)]
            .map(|(updates, taps)| effort(updates, taps * updates));
        assert_eq!(of_sweeps.map(|effort| takes_long(&effort, true)), [false, true, false, true]);
        assert_eq!(of_sweeps.map(|effort| takes_long(&effort, false)), [true; 4]);
        assert!(takes_long(&Effort { calls: MANY_CALLS, ..effort(1, 1) }, true));
    }

    #[test]
    fn numbers_are_exact_in_double_and_come_once() {
        let numbers = [next_number(), next_number(), next_number()];
        assert!(numbers[0] < numbers[1] && numbers[1] < numbers[2] && numbers[2] < 1 << 53);
        assert_eq!(held().to_string(), "2x3 double DeviceArray");
        let truths = StoredArray { class: Class::Logical, ..held() };
        assert_eq!(truths.to_string(), "2x3 logical DeviceArray");
    }
}
