//! Outputs: how they are described, and how the host is asked to make them.

use super::Host;
use super::error::Error;
use super::sys::{self, mxArray};

/// Fills an output array, in column-major order.
pub type Fill<'a> = Box<dyn FnOnce(&mut [f64]) -> Result<(), Error> + 'a>;

/// What a gateway makes of its arguments.
pub struct Reply<'a> {
    /// Shown by the host before anything is computed.
    pub warning: Option<Error>,
    /// What the function returns.
    pub output: Output<'a>,
}

/// The one output of a function.
pub enum Output<'a> {
    /// A double array of these dimensions. The host makes it, then it is filled.
    Array {
        /// Two or more.
        dims: Vec<usize>,
        /// Called once with all the elements, whose values are unknown before.
        fill: Fill<'a>,
    },
    /// A small value that is there already.
    Value(Value),
}

/// A value in the manner of the host's.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A double scalar.
    Double(f64),
    /// A logical scalar.
    Logical(bool),
    /// A char row.
    Text(String),
    /// A scalar struct.
    Struct(Vec<(&'static std::ffi::CStr, Value)>),
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Double(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Logical(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}

impl Host {
    /// A real double array with elements of unknown value.
    ///
    /// The one place that decides how an output comes into being. The host raises an error itself where it has no memory for it.
    pub(super) fn double_array(&self, dims: &[usize]) -> *mut mxArray {
        let mut dims: Vec<sys::mwSize> = dims.iter().map(|&dim| dim as sys::mwSize).collect();
        // Uninitialised: everyone who gets it writes every element, and a large array costs as much to clear as to compute.
        // SAFETY: as many dimensions as said.
        unsafe { (self.api.mxCreateUninitNumericArray)(dims.len() as _, dims.as_mut_ptr(), sys::mxDOUBLE_CLASS as _, sys::mxREAL) }
    }

    /// The elements of an array that `double_array` made.
    ///
    /// # Safety
    /// `array` must be such an array, of `len` elements, not yet given to the host and not borrowed elsewhere.
    pub(super) unsafe fn doubles_mut<'a>(&self, array: *mut mxArray, len: usize) -> &'a mut [f64] {
        if len == 0 {
            return &mut [];
        }
        // SAFETY: the host allocated `len` doubles there. They came from outside this program, with some bits or other, and all bits are doubles.
        unsafe { std::slice::from_raw_parts_mut((self.api.mxGetData)(array).cast(), len) }
    }

    /// The host's form of `value`.
    pub(super) fn build(&self, value: &Value) -> *mut mxArray {
        let api = self.api;
        // SAFETY: texts end in NUL, field names are as many as said, and a field is set once, to an array that nobody else owns.
        unsafe {
            match value {
                Value::Double(value) => (api.mxCreateDoubleScalar)(*value),
                Value::Logical(value) => (api.mxCreateLogicalScalar)(*value as _),
                Value::Text(text) => {
                    let text: Vec<u8> = text.bytes().filter(|&byte| byte != 0).chain([0]).collect();
                    (api.mxCreateString)(text.as_ptr().cast())
                }
                Value::Struct(fields) => {
                    let mut names: Vec<_> = fields.iter().map(|(name, _)| name.as_ptr()).collect();
                    let array = (api.mxCreateStructMatrix)(1, 1, names.len() as _, names.as_mut_ptr());
                    for (number, (_, value)) in fields.iter().enumerate() {
                        (api.mxSetFieldByNumber)(array, 0, number as _, self.build(value));
                    }
                    array
                }
            }
        }
    }
}
