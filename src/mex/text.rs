//! Texts from host arrays: char rows, and MATLAB's strings.

use std::ffi::CStr;

use super::Host;
use super::class::{self, Class};
use super::sys::mxArray;

/// Maximum length of a text read from an argument, in bytes. Options and their values are words.
const TEXT_LIMIT: usize = 255;

/// Text of a char row.
///
/// # Safety
/// `array` must be a char array of the host, of these dimensions.
pub(super) unsafe fn char_row(host: &Host, array: *const mxArray, dims: &[usize]) -> Option<String> {
    let length: usize = dims.iter().product();
    if length == 0 {
        return Some(String::new());
    }
    if dims.len() != 2 || dims[0] != 1 {
        return None;
    }
    if length > TEXT_LIMIT {
        // A text, but no known word.
        return Some(format!("(a text of {length} characters)"));
    }
    // The host's characters have one byte or two: only the host can convert them to text, of up to four bytes each.
    let mut buffer = [0_u8; 4 * TEXT_LIMIT + 1];
    // SAFETY: the buffer has the given length.
    let failed = unsafe { (host.api.mxGetString)(array, buffer.as_mut_ptr().cast(), buffer.len() as _) } != 0;
    let text = CStr::from_bytes_until_nul(&buffer).ok()?;
    if failed || text.count_bytes() < length {
        // An embedded NUL ends the text for the host, not for the user.
        return Some(format!("(a text of {length} characters, not all of them printable)"));
    }
    Some(text.to_string_lossy().into_owned())
}

/// Text of a scalar of MATLAB's class string, which only MATLAB itself can read.
///
/// # Safety
/// `array` must be an array of the host.
pub(super) unsafe fn string_object(host: &Host, array: *const mxArray) -> Option<String> {
    let api = host.api;
    let mut row = std::ptr::null_mut();
    let mut inputs = [array.cast_mut()];
    // SAFETY: one output and one input are there; an error of the call comes back as an array of its own.
    unsafe {
        let trouble = (api.mexCallMATLABWithTrap)(1, &mut row, 1, inputs.as_mut_ptr(), c"char".as_ptr());
        if !trouble.is_null() {
            (api.mxDestroyArray)(trouble);
            return None;
        }
        // A user's class may be called string too, and its char may return anything, or nothing.
        if row.is_null() {
            return None;
        }
        let text = any_row(host, row);
        (api.mxDestroyArray)(row);
        text
    }
}

/// Text of an array that may be a char row.
///
/// # Safety
/// `array` must be an array of the host.
pub(super) unsafe fn any_row(host: &Host, array: *const mxArray) -> Option<String> {
    // SAFETY: the caller's promise; the text is read from a char array only.
    unsafe {
        let is_char = Class::of((host.api.mxGetClassID)(array)) == Class::Char;
        if is_char { char_row(host, array, &class::dims(host, array).ok()?) } else { None }
    }
}
