//! Objects of the host that stand for something of ours.
//!
//! Such an object is of the class [`CLASS`], a folder in `matlab/`, and has one property: a number, by which a gateway
//! knows what it stands for.
//!
//! # How they are made, and how they go
//! The class's constructor, called with a number, adopts it, with something that gives the number back when the object
//! goes: that is code of the interpreter's, at both ends of an object's life. In Octave this takes three times as long
//! as what C++ built with its headers needs (28 and 9 us on a machine of two cores, most of a small operation's time).
//! So there is a library for that, `object.cc`, built and opened as the one of [`lend`] is. Without it all
//! works.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

use super::sys::{self, mxArray};
use super::{Error, Host, lend, symbols};

/// The class.
const CLASS: &CStr = c"DeviceArray";

/// Its name.
pub(super) const NAME: &str = "DeviceArray";

/// The property that holds the number, a scalar of class uint64.
const PROPERTY: &CStr = c"id";

/// Something that waits for its object. What is dropped without [`Pending::keep`] is given up.
pub trait Pending: Send {
    /// Its number, less than 2^53.
    fn number(&self) -> u64;

    /// What an object is to call with the number when it goes: any number, any time, on the host's thread. It never
    /// panics.
    fn gone(&self) -> unsafe extern "C" fn(u64);

    /// There is an object that stands for it, and will give it back.
    fn keep(self: Box<Self>);
}

/// `stencil_object` of `object.cc`: class, property, number, what is called when the object goes, and the object. It
/// calls the host, which may raise.
type Make = unsafe extern "C-unwind" fn(
    *const c_char,
    *const c_char,
    u64,
    unsafe extern "C" fn(u64),
    *mut *mut mxArray,
) -> c_int;

/// `stencil_number` of `object.cc`: an object of the host, and its number.
type Read = unsafe extern "C-unwind" fn(*const mxArray, *mut u64) -> c_int;

/// The functions of `object.cc`, which need no interpreter.
#[derive(Clone, Copy)]
struct Direct {
    make: Make,
    read: Read,
}

/// The functions of `object.cc`, if its library was found; looked for by the first call that needs them, and anew after
/// `clear`.
static DIRECT: Mutex<Option<Option<Direct>>> = Mutex::new(None);

fn remember(direct: Option<Option<Direct>>) {
    *DIRECT.lock().unwrap_or_else(PoisonError::into_inner) = direct;
}

/// For the exit function: the next call looks again.
pub(super) fn forget() {
    remember(None);
}

impl Host {
    /// The functions of `object.cc`, if there are such for this Octave.
    fn direct(&self) -> Option<Direct> {
        let known = *DIRECT.lock().unwrap_or_else(PoisonError::into_inner);
        known.unwrap_or_else(|| {
            let function = |name| lend::function_for_this_octave(self, "object", name);
            let both = || Some((function(c"stencil_object")?, function(c"stencil_number")?));
            let direct = symbols::is_octave().then(both).flatten().map(|(make, read)| {
                // SAFETY: `object.cc` declares them so.
                unsafe {
                    Direct {
                        make: std::mem::transmute::<*mut c_void, Make>(make),
                        read: std::mem::transmute::<*mut c_void, Read>(read),
                    }
                }
            });
            remember(Some(direct));
            direct
        })
    }

    /// The number of an array that is an object which was made without the interpreter; `None` for any other.
    ///
    /// # Safety
    /// `array` must be an array of the host that nobody has asked for its data.
    pub(super) unsafe fn number_at_once(&self, array: *const mxArray) -> Option<u64> {
        let mut number = 0;
        // SAFETY: the array is the host's, and there is room for the number.
        self.direct().is_some_and(|direct| unsafe { (direct.read)(array, &mut number) } == 0).then_some(number)
    }

    /// The number of any other object of the class; `None` for one that has none yet, or any more.
    ///
    /// # Safety
    /// `array` must be one such object, not an array of none or several.
    pub(super) unsafe fn number_of(&self, array: *const mxArray) -> Option<u64> {
        let api = self.api;
        // SAFETY: the object is the host's, and its class has the property. What comes back is a copy, or nothing.
        unsafe {
            let value = (api.mxGetProperty)(array, 0, PROPERTY.as_ptr());
            if value.is_null() {
                return None;
            }
            let number = scalar(self, value);
            (api.mxDestroyArray)(value);
            number
        }
    }

    /// A scalar of class uint64.
    pub(super) fn whole_number(&self, number: u64) -> *mut mxArray {
        let mut dims = [1_usize, 1];
        // SAFETY: as many dimensions as said; the array has one element of that class, which nobody has seen yet.
        unsafe {
            let array = (self.api.mxCreateUninitNumericArray)(
                2,
                dims.as_mut_ptr().cast(),
                sys::mxUINT64_CLASS as _,
                sys::mxREAL,
            );
            (self.api.mxGetData)(array).cast::<u64>().write(number);
            array
        }
    }

    /// An object that stands for `number`. When it goes, `gone` is called, or the class gives the number back.
    ///
    /// # Errors
    /// `internal` where the class is not to be found, or is another.
    pub(super) fn object(&self, number: u64, gone: unsafe extern "C" fn(u64)) -> Result<*mut mxArray, Error> {
        let api = self.api;
        if let Some(direct) = self.direct() {
            let mut object = std::ptr::null_mut();
            // SAFETY: the texts end in NUL, and `gone` is never unloaded.
            let status = unsafe { (direct.make)(CLASS.as_ptr(), PROPERTY.as_ptr(), number, gone, &mut object) };
            if status == 0 && !object.is_null() {
                return Ok(object);
            }
            remember(Some(None));
        }
        let argument = self.whole_number(number);
        let (mut object, mut inputs) = (std::ptr::null_mut(), [argument]);
        // SAFETY: one output and one input are there; an error of the call comes back as an array of its own.
        let trouble = unsafe { (api.mexCallMATLABWithTrap)(1, &mut object, 1, inputs.as_mut_ptr(), CLASS.as_ptr()) };
        // SAFETY: each was made here or for us; an object is asked for its number as `number_of` says.
        unsafe {
            (api.mxDestroyArray)(argument);
            if !trouble.is_null() {
                (api.mxDestroyArray)(trouble);
            } else if !object.is_null() {
                if is_object(self, object) {
                    return Ok(object);
                }
                (api.mxDestroyArray)(object);
            }
        }
        Err(Error::internal("There is no class DeviceArray: its folder, @DeviceArray, belongs beside this function's."))
    }
}

/// Whether an array is an object of the class.
///
/// # Safety
/// `array` must be an array of the host.
pub(super) unsafe fn is_object(host: &Host, array: *const mxArray) -> bool {
    // SAFETY: the host returns a text that ends in NUL.
    unsafe { CStr::from_ptr((host.api.mxGetClassName)(array)) == CLASS }
}

/// The value of a real scalar of class uint64.
///
/// # Safety
/// `array` must be an array of the host.
unsafe fn scalar(host: &Host, array: *const mxArray) -> Option<u64> {
    let api = host.api;
    // SAFETY: the class and the size are looked at ahead of the data.
    unsafe {
        if (api.mxGetClassID)(array) != sys::mxUINT64_CLASS {
            return None;
        }
        let dims = std::slice::from_raw_parts(
            (api.mxGetDimensions)(array).cast::<usize>(),
            (api.mxGetNumberOfDimensions)(array) as usize,
        );
        if dims.iter().any(|&dim| dim != 1) {
            return None;
        }
        let data = (api.mxGetData)(array).cast::<u64>();
        (!data.is_null()).then(|| data.read())
    }
}
