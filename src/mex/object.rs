//! Objects of the host that stand for something of ours.
//!
//! Such an object is of the class [`CLASS`], a file in `matlab/`, and has one property: a number, by which a gateway
//! knows what it stands for. The class gives the number back when the object goes.

use std::ffi::CStr;

use super::sys::{self, mxArray};
use super::{Error, Host};

/// The class.
pub(super) const CLASS: &CStr = c"DeviceArray";

/// The property that holds the number, a scalar of class uint64.
const PROPERTY: &CStr = c"id";

/// Something that waits for its object. What is dropped without [`Pending::keep`] is given up.
pub trait Pending: Send {
    /// Its number, less than 2^53.
    fn number(&self) -> u64;

    /// There is an object that stands for it, and will give it back.
    fn keep(self: Box<Self>);
}

impl Host {
    /// The number of an object of the class; `None` for one that has none yet, or any more.
    ///
    /// # Safety
    /// `array` must be such an object.
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

    /// An object that stands for `number`.
    ///
    /// # Errors
    /// `internal` where the class is not to be found, or is another.
    pub(super) fn object(&self, number: u64) -> Result<*mut mxArray, Error> {
        let api = self.api;
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
        Err(Error::internal("There is no class DeviceArray: its file, DeviceArray.m, belongs beside this function's."))
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
