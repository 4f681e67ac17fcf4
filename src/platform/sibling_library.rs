//! Libraries in the folder of ours, opened on demand.

use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Opens the library of this file name, which does nothing on load, and never closes it.
///
/// # Errors
/// The loader's message, with the path.
pub(crate) fn open(name: &str, flags: c_int) -> Result<*mut c_void, String> {
    let folder = folder().ok_or_else(|| format!("{name}: it is not known where to look"))?;
    let file = CString::new(folder.join(name).into_os_string().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: the name ends in NUL. The loader refuses a file that is no library, or that needs missing symbols.
    // `dlerror` returns a text that is valid until this thread's next call of it.
    unsafe {
        let handle = libc::dlopen(file.as_ptr(), flags);
        if !handle.is_null() {
            return Ok(handle);
        }
        let error = libc::dlerror();
        if error.is_null() {
            return Err(format!("{}: it cannot be opened", file.to_string_lossy()));
        }
        Err(CStr::from_ptr(error).to_string_lossy().into_owned())
    }
}

/// Looks up a symbol in a library that was [opened](open).
pub(crate) fn symbol(handle: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends in NUL, and the handle is never closed.
    let symbol = unsafe { libc::dlsym(handle, name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

/// Returns the file of this name in the folder of our library, if there is one.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    Some(folder()?.join(name)).filter(|path| path.is_file())
}

/// Folder of our own library, with links resolved.
fn folder() -> Option<PathBuf> {
    // SAFETY: zeros are valid for a `Dl_info`, and the address is one of this library's.
    let name = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(folder as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let file = Path::new(OsStr::from_bytes(name.to_bytes())).canonicalize().ok()?;
    Some(file.parent()?.to_owned())
}
