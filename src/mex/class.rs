//! Class and dimensions of a host array.

use std::fmt;

use super::Host;
use super::sys::{self, mxArray};
use crate::platform::memory::{self, OutOfMemory};

/// Class of an array, as far as this library distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Double-precision floating point.
    Double,
    /// Single-precision floating point.
    Single,
    /// Truth values, a byte each.
    Logical,
    /// Text.
    Char,
    /// Integers of this many bytes.
    Integer {
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// True if the class has negative numbers.
        signed: bool,
    },
    /// Any other class.
    Other,
}

impl Class {
    /// Number of bytes of an element, for numbers and truth values; 0 for other classes.
    pub(super) fn bytes(self) -> usize {
        match self {
            Class::Double => 8,
            Class::Single => 4,
            Class::Logical => 1,
            Class::Integer { bytes, .. } => bytes.into(),
            Class::Char | Class::Other => 0,
        }
    }

    /// Number of a numeric class in the host.
    ///
    /// # Panics
    /// For other classes.
    pub(super) fn id(self) -> sys::mxClassID {
        match self {
            Class::Double => sys::mxDOUBLE_CLASS,
            Class::Single => sys::mxSINGLE_CLASS,
            Class::Integer { bytes: 1, signed: true } => sys::mxINT8_CLASS,
            Class::Integer { bytes: 1, signed: false } => sys::mxUINT8_CLASS,
            Class::Integer { bytes: 2, signed: true } => sys::mxINT16_CLASS,
            Class::Integer { bytes: 2, signed: false } => sys::mxUINT16_CLASS,
            Class::Integer { bytes: 4, signed: true } => sys::mxINT32_CLASS,
            Class::Integer { bytes: 4, signed: false } => sys::mxUINT32_CLASS,
            Class::Integer { bytes: 8, signed: true } => sys::mxINT64_CLASS,
            Class::Integer { bytes: 8, signed: false } => sys::mxUINT64_CLASS,
            _ => panic!("no class of numbers: {self}"),
        }
    }

    pub(super) fn of(id: sys::mxClassID) -> Class {
        let integer = |bytes, signed| Class::Integer { bytes, signed };
        match id {
            sys::mxDOUBLE_CLASS => Class::Double,
            sys::mxSINGLE_CLASS => Class::Single,
            sys::mxLOGICAL_CLASS => Class::Logical,
            sys::mxCHAR_CLASS => Class::Char,
            sys::mxINT8_CLASS => integer(1, true),
            sys::mxUINT8_CLASS => integer(1, false),
            sys::mxINT16_CLASS => integer(2, true),
            sys::mxUINT16_CLASS => integer(2, false),
            sys::mxINT32_CLASS => integer(4, true),
            sys::mxUINT32_CLASS => integer(4, false),
            sys::mxINT64_CLASS => integer(8, true),
            sys::mxUINT64_CLASS => integer(8, false),
            _ => Class::Other,
        }
    }
}

/// Class name in the host, or a phrase for other classes.
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Double => f.write_str("double"),
            Class::Single => f.write_str("single"),
            Class::Logical => f.write_str("logical"),
            Class::Char => f.write_str("char"),
            Class::Integer { bytes, signed } => write!(f, "{}int{}", if *signed { "" } else { "u" }, 8 * bytes),
            Class::Other => f.write_str("other"),
        }
    }
}

// One library serves both hosts: it may be built against either header only because these values agree.
const _: () = assert!(
    sys::mxCHAR_CLASS == 4 && sys::mxDOUBLE_CLASS == 6 && sys::mxSINGLE_CLASS == 7 && sys::mxUINT64_CLASS == 15
);
const _: () = assert!(size_of::<sys::mwSize>() == size_of::<usize>());

/// Reads the dimensions of an array.
///
/// # Errors
/// [`OutOfMemory`].
///
/// # Safety
/// `array` must be an array of the host.
pub(super) unsafe fn dims(host: &Host, array: *const mxArray) -> Result<Vec<usize>, OutOfMemory> {
    // SAFETY: the host returns as many dimensions as it says.
    let of_host = unsafe {
        let count = (host.api.mxGetNumberOfDimensions)(array) as usize;
        std::slice::from_raw_parts((host.api.mxGetDimensions)(array), count)
    };
    let mut dims = memory::with_room(of_host.len(), "dimensions")?;
    dims.extend(of_host.iter().map(|&dim| dim as usize));
    Ok(dims)
}
