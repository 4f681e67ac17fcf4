//! Host objects that represent arrays of ours, of the class [`CLASS`].
//!
//! In Octave they are values of a type of their own, if its library is there: `object.cc`, built and opened like the
//! one of [`lend`], and installed on request of the class's folder. Its operators call us [directly](super::direct),
//! which takes a tenth of the time of a call through the interpreter.
//!
//! Elsewhere they are objects of a class in a folder of `matlab/`, and have one property: a number, by which a gateway
//! finds the array. The class's constructor, called with a number, adopts it, and attaches a cleanup that releases the
//! number when the object is destroyed.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use super::sys::{self, mxArray};
use super::{Class, Error, Function, Host, lend, symbols};

/// Class name, for the host.
const CLASS: &CStr = c"DeviceArray";

/// Class name.
pub(super) const NAME: &str = "DeviceArray";

/// Property with the number, a scalar of class uint64.
const PROPERTY: &CStr = c"id";

/// An array that waits for its object. Dropping it without [`Pending::keep`] releases the array.
pub trait Pending: Send {
    /// Number, less than 2^53.
    fn number(&self) -> u64;

    /// Dimensions of the array, two or more.
    fn dims(&self) -> &[usize];

    /// Class of its elements.
    fn class(&self) -> Class;

    /// Function for an object to call with its number when it is destroyed: with any number, at any time, on the host's
    /// thread. It never panics.
    fn gone(&self) -> unsafe extern "C" fn(u64);

    /// Marks the array as owned by an object, which will release it.
    fn keep(self: Box<Self>);
}

/// Function by which `object.cc` calls a verb: see [`direct`](super::direct).
pub(super) type DirectCall = unsafe extern "C-unwind" fn(
    *const c_char,
    c_int,
    usize,
    *const *const mxArray,
    *mut *mut mxArray,
    *mut c_char,
    *mut c_char,
) -> c_int;

/// `stencil_install_2` of `object.cc`, which takes the function for its operators. The 2 is the version of this
/// interface: so a library of another build is not used.
type Install = unsafe extern "C-unwind" fn(DirectCall) -> c_int;

/// `stencil_object` of `object.cc`: the number, the function to call when its last value is destroyed, the class of the
/// elements, the dimensions, and the value. It calls the host, which may raise.
type Make = unsafe extern "C-unwind" fn(
    u64,
    unsafe extern "C" fn(u64),
    *const c_char,
    usize,
    *const usize,
    *mut *mut mxArray,
) -> c_int;

/// `stencil_number` of `object.cc`: a value, and its number.
type Read = unsafe extern "C-unwind" fn(*const mxArray, *mut u64) -> c_int;

/// `stencil_range` of `object.cc`: a value, and the first element, increment and number of elements of a range.
type ReadRange = unsafe extern "C-unwind" fn(*const mxArray, *mut f64) -> c_int;

/// `stencil_refusal` of `object.cc`: the value.
type Refuse = unsafe extern "C-unwind" fn(*mut *mut mxArray) -> c_int;

/// Octave's own type, once it is installed.
#[derive(Clone, Copy)]
struct Native {
    make: Make,
    read: Read,
    read_range: ReadRange,
    refuse: Refuse,
    /// Function with the verbs of its operators.
    function: Function,
}

/// Returns the function with the verbs of the type's operators, once it is installed.
pub(super) fn function_of_type() -> Option<Function> {
    NATIVE.get().map(|native| native.function)
}

/// Never reset: the library stays open, and values of the type may live as long as the process.
static NATIVE: OnceLock<Native> = OnceLock::new();

impl Host {
    /// Registers the type in Octave; its operators are verbs of `function`, called by `call`. False if the library for
    /// this Octave is missing, or in another host.
    pub(super) fn install_type(&self, function: Function, call: DirectCall) -> bool {
        if NATIVE.get().is_some() {
            return true;
        }
        if !symbols::is_octave() {
            return false;
        }
        let find = |name| lend::function_for_this_octave(self, "object", name);
        let names = [c"stencil_install_2", c"stencil_object", c"stencil_number", c"stencil_range", c"stencil_refusal"];
        let [Some(install), Some(make), Some(read), Some(read_range), Some(refuse)] = names.map(find) else {
            return false;
        };
        // SAFETY: `object.cc` declares them so.
        let (install, make, read, read_range, refuse) = unsafe {
            (
                std::mem::transmute::<*mut c_void, Install>(install),
                std::mem::transmute::<*mut c_void, Make>(make),
                std::mem::transmute::<*mut c_void, Read>(read),
                std::mem::transmute::<*mut c_void, ReadRange>(read_range),
                std::mem::transmute::<*mut c_void, Refuse>(refuse),
            )
        };
        // SAFETY: on the host's thread; `call` is never unloaded.
        if unsafe { install(call) } != 0 {
            return false;
        }
        NATIVE.get_or_init(|| Native { make, read, read_range, refuse, function });
        true
    }

    /// Makes a value of the type without an array, by which methods without one are found, as in `DeviceArray.zeros
    /// (3)`.
    ///
    /// # Errors
    /// `internal` if the type is not installed.
    pub(super) fn no_array(&self) -> Result<*mut mxArray, Error> {
        unsafe extern "C" fn nothing(_: u64) {}
        self.native(0, nothing, &[0, 0], Class::Double).ok_or_else(|| Error::internal("There is no type DeviceArray."))
    }

    /// Makes a value of the type for the array with this number; `None` if the type is not installed, or fails.
    fn native(
        &self,
        number: u64,
        gone: unsafe extern "C" fn(u64),
        dims: &[usize],
        class: Class,
    ) -> Option<*mut mxArray> {
        let native = NATIVE.get()?;
        let class = CString::new(class.to_string()).ok()?;
        let mut value = std::ptr::null_mut();
        // SAFETY: the text ends in NUL, there are as many dimensions as said, and `gone` is never unloaded.
        let status = unsafe { (native.make)(number, gone, class.as_ptr(), dims.len(), dims.as_ptr(), &mut value) };
        (status == 0 && !value.is_null()).then_some(value)
    }

    /// Makes a value that raises the host's last error when the host queries it.
    ///
    /// # Errors
    /// `internal`, if the type is not installed.
    pub(super) fn refusal(&self) -> Result<*mut mxArray, Error> {
        let none = || Error::internal("There is no type DeviceArray.");
        let (native, mut value) = (NATIVE.get().ok_or_else(none)?, std::ptr::null_mut());
        // SAFETY: there is room for the value.
        let status = unsafe { (native.refuse)(&mut value) };
        if status == 0 && !value.is_null() { Ok(value) } else { Err(none()) }
    }

    /// Number of an array that is a value of the type; `None` for any other.
    ///
    /// # Safety
    /// `array` must be an array of the host whose data have not been accessed.
    pub(super) unsafe fn number_at_once(&self, array: *const mxArray) -> Option<u64> {
        let native = NATIVE.get()?;
        let mut number = 0;
        // SAFETY: the array is the host's, and there is room for the number.
        (unsafe { (native.read)(array, &mut number) } == 0).then_some(number)
    }

    /// First element, increment and number of elements of a range of Octave's; `None` for any other array.
    ///
    /// # Safety
    /// As for [`number_at_once`](Self::number_at_once).
    pub(super) unsafe fn range_at_once(&self, array: *const mxArray) -> Option<[f64; 3]> {
        let native = NATIVE.get()?;
        let mut range = [0.0; 3];
        // SAFETY: the array is the host's, and there is room for three numbers.
        (unsafe { (native.read_range)(array, range.as_mut_ptr()) } == 0).then_some(range)
    }

    /// Number of any other object of the class; `None` for one that has none yet, or no longer.
    ///
    /// # Safety
    /// `array` must be one such object, not an array of none or several.
    pub(super) unsafe fn number_of(&self, array: *const mxArray) -> Option<u64> {
        let api = self.api;
        // SAFETY: the object is the host's, and its class has the property. The result is a copy, or null.
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

    /// Makes a scalar of class uint64.
    pub(super) fn whole_number(&self, number: u64) -> *mut mxArray {
        let mut dims = [1_usize, 1];
        // SAFETY: as many dimensions as said; the array has one element of that class, and is not shared yet.
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

    /// Makes an object for the array of `pending`. When it is destroyed, the array is released, or the class releases
    /// the number. With `of_class` it is an object of the class, also where there is Octave's own type.
    ///
    /// # Errors
    /// `internal` if the class is not found, or is another.
    pub(super) fn object(&self, pending: &dyn Pending, of_class: bool) -> Result<*mut mxArray, Error> {
        let api = self.api;
        let number = pending.number();
        if NATIVE.get().is_some() && !of_class {
            let value = self.native(number, pending.gone(), pending.dims(), pending.class());
            return value.ok_or_else(|| Error::internal("This Octave does not make values of the type DeviceArray."));
        }
        let argument = self.whole_number(number);
        let (mut object, mut inputs) = (std::ptr::null_mut(), [argument]);
        // SAFETY: one output and one input are there; an error of the call comes back as an array of its own.
        let trouble = unsafe { (api.mexCallMATLABWithTrap)(1, &mut object, 1, inputs.as_mut_ptr(), CLASS.as_ptr()) };
        // SAFETY: each was made here or for us; the number is read as `number_of` requires.
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

/// True if an array is an object of the class.
///
/// # Safety
/// `array` must be an array of the host.
pub(super) unsafe fn is_object(host: &Host, array: *const mxArray) -> bool {
    // SAFETY: the host returns a text that ends in NUL.
    unsafe { CStr::from_ptr((host.api.mxGetClassName)(array)) == CLASS }
}

/// Value of a real scalar of class uint64.
///
/// # Safety
/// `array` must be an array of the host.
unsafe fn scalar(host: &Host, array: *const mxArray) -> Option<u64> {
    let api = host.api;
    // SAFETY: the class and the size are checked before the data.
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
