//! Large outputs without a copy in Octave.
//!
//! # Rationale
//! An Octave whose arrays are allocated by `std::allocator` cannot take over memory that a MEX function got from
//! `malloc`: after the call it copies every output into fresh pages, with one thread. For large arrays that takes
//! several times as long as computing them. An output that *is* a value of Octave's own is not copied. Only C++ built
//! with Octave's headers can make one, and it then belongs to that version of Octave; so this is a library of its own,
//! `lend.cc`, which `matlab/build-mex` builds and puts into the folder of ours, with the version in its name. It is
//! opened if there is one for the running Octave, and without it everything works as before.
//!
//! # Hosts that copy
//! The version alone does not decide: if Octave was configured with `--enable-std-pmr-polymorphic-allocator`, as newer
//! ones are by default, its arrays have another allocator and take MEX memory over. But the allocator is a parameter of
//! the array's type, and so part of the names that Octave exports, which can be looked up in any version. Known to
//! copy: 7.3 and 9.4, which have [`COPYING_ARRAY`]; known to take over: 11.3, which does not have it. MATLAB has no
//! such name.

use std::ffi::{CStr, c_int, c_void};
use std::sync::{Mutex, PoisonError};

use super::Host;
use super::class::Class;
use super::sys::mxArray;
use super::text::any_row;
use crate::platform::sibling_library;

/// Minimum size of an output to lend, in bytes.
///
/// Lending takes 1 to 4 us more than making an array in the ordinary way, of any size, for a call of the interpreter.
/// The copy was measured, as the difference of whole calls on two cores: 2 us for 32 KB, 7 to 10 for 64 KB, 12 to 20
/// for 128 KB (and up to 300 from there on, when `malloc` begins to fetch fresh pages for each copy), 500 for 800 KB,
/// 4,500 for 8 MB. So from this size on lending is always cheaper, and small calls are not affected.
const LEND_FROM: usize = 64 << 10;

/// Virtual table of `Array<double, std::allocator<double>>`.
const COPYING_ARRAY: &CStr = c"_ZTV5ArrayIdSaIdEE";

/// `stencil_lend` of `lend.cc`: true for class single, dimensions, and the array. It calls the host, which may raise.
type Lend = unsafe extern "C-unwind" fn(c_int, usize, *const usize, *mut *mut mxArray) -> c_int;

/// Treatment of large outputs in this process.
#[derive(Clone, Copy)]
enum Outputs {
    /// The host takes over their memory.
    Direct,
    /// The host copies them, and this cannot be avoided.
    Copied,
    /// The host would copy them, but they are made as its own values.
    Lent(Lend),
}

/// Determined by the first call, and again after `clear`.
static OUTPUTS: Mutex<Option<Outputs>> = Mutex::new(None);

fn outputs() -> Option<Outputs> {
    *OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(outputs: Option<Outputs>) {
    *OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner) = outputs;
}

/// Treatment of large outputs, in a word: `direct`, `copied` or `lent`.
pub fn outputs_name() -> &'static str {
    match outputs() {
        Some(Outputs::Lent(_)) => "lent",
        Some(Outputs::Copied) => "copied",
        Some(Outputs::Direct) | None => "direct",
    }
}

/// Resets the decision, for the exit function: the next call makes it again. The library itself stays open.
pub(super) fn forget() {
    remember(None);
}

/// Determines the treatment of large outputs, once. It calls the host, so it must be called where an error of the host
/// may pass.
pub(super) fn prepare(host: &Host) {
    if outputs().is_none() {
        let outputs = if !copies() { Outputs::Direct } else { library(host).map_or(Outputs::Copied, Outputs::Lent) };
        remember(Some(outputs));
    }
}

/// Makes a real array of these dimensions for a large output, with uninitialised elements; `None` if it has to be made
/// in the ordinary way.
pub(super) fn array(class: Class, dims: &[usize]) -> Option<*mut mxArray> {
    let single = match class {
        Class::Double => false,
        Class::Single => true,
        _ => return None,
    };
    let bytes = dims.iter().product::<usize>() * class.bytes();
    let Some(Outputs::Lent(lend)) = outputs().filter(|_| bytes >= LEND_FROM) else {
        return None;
    };
    let mut array = std::ptr::null_mut();
    // SAFETY: `library` found it; it reads as many dimensions as said and sets the array.
    match unsafe { lend(single.into(), dims.len(), dims.as_ptr(), &mut array) } {
        0 => Some(array),
        // No memory: the host will raise its own error.
        1 => None,
        _ => {
            remember(Some(Outputs::Copied));
            None
        }
    }
}

/// True if the host copies outputs of MEX functions.
fn copies() -> bool {
    // SAFETY: the name ends in NUL.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, COPYING_ARRAY.as_ptr()) }.is_null()
}

/// Looks up the lending function, in the library for this version of Octave if there is one.
fn library(host: &Host) -> Option<Lend> {
    let function = function_for_this_octave(host, "lend", c"stencil_lend")?;
    // SAFETY: `lend.cc` declares it so.
    Some(unsafe { std::mem::transmute::<*mut c_void, Lend>(function) })
}

/// Looks up a function of the library `libstencil_STEM-VERSION.so` in our folder, for the running version of Octave.
pub(super) fn function_for_this_octave(host: &Host, stem: &str, function: &CStr) -> Option<*mut c_void> {
    // The loader refuses a file that is no library, or that needs symbols missing in this Octave. The library stays
    // open: values that it made refer to code in it.
    let name = format!("libstencil_{stem}-{}.so", version(host)?);
    sibling_library::symbol(sibling_library::open(&name, libc::RTLD_NOW | libc::RTLD_LOCAL).ok()?, function)
}

/// Version of the running Octave, as it reports it.
fn version(host: &Host) -> Option<String> {
    let api = host.api;
    let mut array = std::ptr::null_mut();
    // SAFETY: one output and no input are there; an error of the call comes back as an array of its own.
    let version = unsafe {
        let trouble = (api.mexCallMATLABWithTrap)(1, &mut array, 0, std::ptr::null_mut(), c"OCTAVE_VERSION".as_ptr());
        if !trouble.is_null() {
            (api.mxDestroyArray)(trouble);
            return None;
        }
        if array.is_null() {
            return None;
        }
        let version = any_row(host, array);
        (api.mxDestroyArray)(array);
        version?
    };
    // The version becomes part of a file name.
    is_version(&version).then_some(version)
}

fn is_version(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-~_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::is_version;

    #[test]
    fn a_version_is_no_path() {
        assert!(["7.3.0", "9.4.0", "11.0.0~rc1", "10.0.1+dev-2"].into_iter().all(is_version));
        assert!(["", "7/3", "../7.3.0 ", "7.3.0\n"].into_iter().all(|text| !is_version(text)));
    }
}
