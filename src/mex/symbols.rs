//! Look-up of the host's functions in the current process.
//!
//! # Rationale
//! Octave exports `mxGetDimensions`. MATLAB exports `mxGetDimensions_730`, and under the plain name a relic with 32-bit
//! sizes that must not be called. Octave 11 moved everything into another library. A look-up in the first call covers
//! them all, and lets test programs link without a host.

use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::sys::Api;

/// Libraries with MATLAB's `mx*`, `mex*` and `ut*`, for a host that loaded them without making their symbols global.
const LIBRARIES: [&CStr; 3] = [c"libmx.so", c"libmex.so", c"libut.so"];

/// Returns the host's functions, found once. The error is the name of a missing one.
pub(super) fn api() -> Result<&'static Api, &'static str> {
    static API: OnceLock<Result<Api, &'static str>> = OnceLock::new();
    // SAFETY: the names are those of the MEX API, and the library that exports them in this process is the host's.
    API.get_or_init(|| unsafe { Api::load(find) }).as_ref().map_err(|&name| name)
}

/// Address of the host's function `name`: of the version with 64-bit sizes, if there are two.
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

/// Libraries with MATLAB's functions for arrays on a GPU: newer releases use the first.
const GPU_LIBRARIES: [&str; 2] = ["libmwgpumexbinder.so", "libmwgpu.so"];

/// Address of one of MATLAB's functions for arrays on a GPU, or of any other.
///
/// It is looked up like all others, then in MATLAB's libraries for GPU arrays. These are loaded if need be: a MEX file
/// that is linked with them would load them, too. They are on the loader's path or in the folder of `libmx.so`.
pub(super) fn find_for_gpu(name: &'static str) -> Option<*mut c_void> {
    if let Some(address) = find(name) {
        return Some(address);
    }
    let symbol = CString::new(name).ok()?;
    let beside = folder_of_mx();
    GPU_LIBRARIES.iter().find_map(|library| {
        let paths = [Some(PathBuf::from(library)), beside.as_ref().map(|folder| folder.join(library))];
        paths.into_iter().flatten().find_map(|path| {
            let path = CString::new(path.into_os_string().into_encoded_bytes()).ok()?;
            // SAFETY: `path` ends in NUL. The library is the host's own, and stays loaded.
            let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY) };
            if handle.is_null() {
                // Clears the error, so that no other code reports it.
                // SAFETY: it takes no arguments and returns a text.
                unsafe { libc::dlerror() };
                return None;
            }
            // SAFETY: the handle is open, and the name ends in NUL.
            let address = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
            (!address.is_null()).then_some(address)
        })
    })
}

/// Folder of the library that exports `mxGetData`.
fn folder_of_mx() -> Option<PathBuf> {
    let address = find("mxGetData")?;
    // SAFETY: a structure of addresses, for which zeros are valid.
    let mut information: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: it fills the structure.
    let found = unsafe { libc::dladdr(address, &mut information) } != 0;
    if !found || information.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a text of the loader's, which ends in NUL.
    let path = unsafe { CStr::from_ptr(information.dli_fname) };
    let folder = Path::new(OsStr::from_bytes(path.to_bytes())).parent()?;
    folder.is_absolute().then(|| folder.to_path_buf())
}

/// Check for a user's interrupt, by host.
enum Interrupt {
    /// Octave's count of unhandled interrupts. It is only read: Octave resets it when it has caught our error.
    State(*const c_int),
    /// MATLAB's function, which no header declares.
    Pending(unsafe extern "C-unwind" fn() -> bool),
    /// No check is known.
    Unknown,
}

// SAFETY: addresses of objects that stay in place.
unsafe impl Send for Interrupt {}
// SAFETY: as above.
unsafe impl Sync for Interrupt {}

fn interrupt() -> &'static Interrupt {
    static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
    INTERRUPT.get_or_init(|| {
        if let Some(state) = find("octave_interrupt_state") {
            return Interrupt::State(state.cast());
        }
        find("utIsInterruptPending").map_or(Interrupt::Unknown, |pending| {
            // SAFETY: under this name MATLAB has a function of this type.
            Interrupt::Pending(unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn() -> bool>(pending)
            })
        })
    })
}

/// True if the user has pressed Ctrl-C. For the host's thread; may raise an error of the host's.
pub(super) fn interrupted() -> bool {
    match interrupt() {
        // Volatile: a signal handler writes it.
        // SAFETY: a variable of the host, of type `sig_atomic_t`.
        Interrupt::State(state) => unsafe { state.read_volatile() > 0 },
        // SAFETY: on the host's thread.
        Interrupt::Pending(pending) => unsafe { pending() },
        Interrupt::Unknown => false,
    }
}

/// Lets Octave handle a signal that it has caught, such as SIGTERM, which ends it: then this does not return. For the
/// host's thread, in a call.
pub(super) fn heed_signals() {
    type Heed = unsafe extern "C-unwind" fn();
    struct Signals {
        caught: *const c_int,
        heed: Heed,
    }
    // SAFETY: addresses of objects that stay in place.
    unsafe impl Send for Signals {}
    // SAFETY: as above.
    unsafe impl Sync for Signals {}
    static SIGNALS: OnceLock<Option<Signals>> = OnceLock::new();
    let signals = SIGNALS.get_or_init(|| {
        let (caught, heed) = (find("octave_signal_caught")?, find("octave_handle_signal")?);
        // SAFETY: under this name Octave has a function of this type.
        let heed = unsafe { std::mem::transmute::<*mut c_void, Heed>(heed) };
        Some(Signals { caught: caught.cast_const().cast(), heed })
    });
    let Some(signals) = signals else { return };
    // SAFETY: a variable of the host, of type `sig_atomic_t`, written by a signal handler.
    if unsafe { signals.caught.read_volatile() } != 0 {
        // SAFETY: the host's own function, on the host's thread.
        unsafe { (signals.heed)() }
    }
}

/// True if the host is Octave.
pub(super) fn is_octave() -> bool {
    matches!(interrupt(), Interrupt::State(_))
}

/// Octave's function to flush its output, `octave::flush_stdout ()`: all versions from 7 to 11 have it under this name.
/// It evaluates nothing, and so raises no interrupt, unlike `fflush`.
pub(super) fn flush_stdout() -> Option<unsafe extern "C-unwind" fn()> {
    static FLUSH: OnceLock<Option<unsafe extern "C-unwind" fn()>> = OnceLock::new();
    *FLUSH.get_or_init(|| {
        // SAFETY: under this name Octave has a function of this type.
        find("_ZN6octave12flush_stdoutEv")
            .map(|flush| unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn()>(flush) })
    })
}

/// Handle of `library` if the process has loaded it already; this never loads it.
fn loaded(library: &CStr) -> Option<*mut c_void> {
    // SAFETY: `library` ends in NUL. The handle is not closed: the library is the host's and stays loaded as long as it
    // runs.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    (!handle.is_null()).then_some(handle)
}
