//! Finding the host's functions in the process that loaded us.
//!
//! # Rationale
//! Octave exports `mxGetDimensions`. MATLAB exports `mxGetDimensions_730`, and under the plain name a relic with 32-bit sizes that must not be
//! called. Octave 11 moved everything into another library. A look-up when the first call comes covers them all, and lets test programs link
//! without a host.

use std::ffi::{CStr, CString, c_void};
use std::sync::OnceLock;

use super::sys::Api;

/// Where MATLAB keeps `mx*` and `mex*`, for a host that loaded them without making their names global.
const LIBRARIES: [&CStr; 2] = [c"libmx.so", c"libmex.so"];

/// The host's functions, found once. The error is the name of one that is missing.
pub(super) fn api() -> Result<&'static Api, &'static str> {
    static API: OnceLock<Result<Api, &'static str>> = OnceLock::new();
    // SAFETY: the names are those of the MEX API, and whoever exports them in this process is the host.
    API.get_or_init(|| unsafe { Api::load(find) }).as_ref().map_err(|&name| name)
}

/// The address of the host's function `name`: of the version with 64-bit sizes, where there are two.
fn find(name: &str) -> Option<*mut c_void> {
    let versioned = CString::new(format!("{name}_730")).ok()?;
    let plain = CString::new(name).ok()?;
    let places = || std::iter::once(libc::RTLD_DEFAULT).chain(LIBRARIES.iter().filter_map(|library| loaded(library)));
    [versioned, plain].iter().find_map(|name| {
        places().find_map(|place| {
            // SAFETY: `place` is RTLD_DEFAULT or an open handle, and `name` ends in NUL.
            let address = unsafe { libc::dlsym(place, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        })
    })
}

/// A handle of `library` if the process has loaded it already; it is never loaded from here.
fn loaded(library: &CStr) -> Option<*mut c_void> {
    // SAFETY: `library` ends in NUL. The handle is not closed: the library is the host's and stays as long as it does.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    (!handle.is_null()).then_some(handle)
}
