//! Arrays that outlive the call that made them.
//!
//! A `DeviceArray` holds the number of one. A process counts from a number that depends on the time, and gives no
//! number twice. So a number from a file, or from the process that this one was forked from, names no array here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::home::Home;
use super::recordings::{self, ArrayType};
use crate::gateway::dims::size_text;
use crate::mex::{self, Argument, Class, Error, Pending};
use crate::platform::process::PerProcess;
use crate::stencil::Numbers;
use crate::steps::Recording;

impl Numbers {
    /// Returns the class that engines compute in.
    pub(crate) fn class(&self) -> Class {
        if self.is_single() { Class::Single } else { Class::Double }
    }
}

/// A stored array. Its numbers change only by an assignment, and only while no other object shares them.
#[derive(Debug, Clone)]
pub(crate) struct StoredArray {
    pub(crate) home: Home,
    /// At least two.
    pub(crate) dims: Vec<usize>,
    /// The host's class. Logical values are ones and zeros in double or single, integers are whole numbers in double.
    pub(crate) class: Class,
    pub(crate) numbers: Numbers,
}

/// Text for errors: `3x4 double DeviceArray`.
impl std::fmt::Display for StoredArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} DeviceArray", size_text(&self.dims), self.class)
    }
}

impl StoredArray {
    /// Returns an array of the class of its numbers.
    pub(crate) fn new(home: Home, dims: Vec<usize>, numbers: impl Into<Numbers>) -> StoredArray {
        let numbers = numbers.into();
        StoredArray { home, dims, class: numbers.class(), numbers }
    }

    pub(crate) fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Returns true if both stand for one array: they share their numbers and have equal dimensions and classes.
    pub(crate) fn shares(&self, other: &StoredArray) -> bool {
        let numbers = match (&self.numbers, &other.numbers) {
            (Numbers::Double(a), Numbers::Double(b)) => Arc::ptr_eq(a, b),
            (Numbers::Single(a), Numbers::Single(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        numbers && self.dims == other.dims && self.class == other.class
    }

    /// Returns true for a result of a step under recording: it has no values yet.
    pub(crate) fn is_computed(&self) -> bool {
        self.recording().is_some_and(|recording| !recording.knows(&self.numbers))
    }

    /// Returns true for elements picked by a mask in a step under recording: their number is not known.
    pub(crate) fn is_picked(&self) -> bool {
        self.recording().is_some_and(|recording| recording.is_picked(&self.numbers))
    }

    /// Returns its dimensions and class.
    pub(crate) fn array_type(&self) -> ArrayType {
        ArrayType { dims: self.dims.clone(), class: self.class, single: self.numbers.is_single() }
    }

    /// Returns the step under recording that the array belongs to.
    fn recording(&self) -> Option<Recording> {
        recordings::find(self.home.step()?).ok()
    }

    /// Returns the array of the object `argument`; `None` if that is no object.
    ///
    /// # Errors
    /// `unsupported` for an array of objects; `deleted` if the array does not exist or was deleted.
    pub(crate) fn of(argument: &Argument) -> Result<Option<StoredArray>, Error> {
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
                "There is no array behind this DeviceArray: it was made of none or deleted, or comes from a file or \
                 from the process that this one was forked from. Make it anew from the host's numbers.",
            )
        })
    }

    /// Stores the array under a new number, for the object that is made next.
    pub(crate) fn store(self) -> Box<dyn Pending> {
        let number = next_number();
        let (mut dims, class) = (self.dims.clone(), self.class);
        if self.is_picked() {
            dims[0] = UNKNOWN;
        }
        arrays().insert(number, self);
        Box::new(Waiting { number, dims, class, kept: false })
    }
}

/// A dimension that is not known yet: the host asks for the size when it needs it.
const UNKNOWN: usize = usize::MAX;

/// A stored array that has no object yet.
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

/// Formats an argument for an error; for a DeviceArray, its array.
pub(crate) fn describe(value: &Argument) -> String {
    StoredArray::of(value).ok().flatten().map_or_else(|| value.to_string(), |held| held.to_string())
}

/// Deletes the array with this number, if there is one.
pub(crate) fn delete(number: u64) {
    // Dropped outside the lock: the drop may wait for a device.
    let held = arrays().remove(&number);
    drop(held);
}

/// Takes the array with this number away from its object, to [put it back](put_back) or to store it for another one.
pub(crate) fn take(number: u64) -> Option<StoredArray> {
    arrays().remove(&number)
}

/// Makes this number stand for `array`.
pub(crate) fn put_back(number: u64, array: StoredArray) {
    arrays().insert(number, array);
}

/// Returns the number of stored arrays.
pub(crate) fn count() -> usize {
    arrays().len()
}

type ByNumber = HashMap<u64, StoredArray>;

fn arrays() -> MutexGuard<'static, ByNumber> {
    static ARRAYS: PerProcess<Mutex<ByNumber>> = PerProcess::new();
    ARRAYS.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the next number. A forked process counts on from its parent's, and so meets none of them again.
pub(crate) fn next_number() -> u64 {
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
    fn arrays_without_an_object_are_deleted() {
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
    fn numbers_are_exact_in_double_and_unique() {
        let numbers = [next_number(), next_number(), next_number()];
        assert!(numbers[0] < numbers[1] && numbers[1] < numbers[2] && numbers[2] < 1 << 53);
        assert_eq!(held().to_string(), "2x3 double DeviceArray");
        let truths = StoredArray { class: Class::Logical, ..held() };
        assert_eq!(truths.to_string(), "2x3 logical DeviceArray");
    }
}
