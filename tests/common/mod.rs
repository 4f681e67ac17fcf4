//! The stand-in for the CUDA driver (`tests/stand_in/cuda`), as tests see it where the library has found it in place of
//! a driver; and that for MATLAB.

// Each test program uses only some of these modules.
#![allow(dead_code)]

pub mod assembler;
pub mod ends;
pub mod matlab;
pub mod selection;

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Duration of a failure that the stand-in is asked to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One call fails.
    Once = 0,
    /// So does after it every call that makes something.
    FromThenOn = 1,
    /// The context stays broken, as after a kernel's illegal access.
    Sticky = 2,
    /// The device is, and cannot be opened again.
    Lost = 3,
}

/// The stand-in's own functions.
#[derive(Clone, Copy)]
pub struct StandIn {
    calls: extern "C" fn() -> c_long,
    call: extern "C" fn(c_long) -> *const c_char,
    fail: extern "C" fn(*const c_char, c_long, c_int, c_int),
    heal: extern "C" fn(),
    kernel: extern "C" fn(c_long) -> *const c_char,
    reset: extern "C" fn(),
    alive: extern "C" fn(*mut c_char, usize),
    misuse: extern "C" fn(*mut c_char, usize) -> c_int,
}

impl StandIn {
    /// Returns the stand-in, if it is the driver that this program finds.
    pub fn find() -> Option<StandIn> {
        // SAFETY: to load a driver's library has no effect that the tests, which load it anyway, would not see.
        let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW) };
        let symbol = |name: &CStr| {
            // SAFETY: a handle from `dlopen`, or null, which is not used.
            let address =
                if library.is_null() { std::ptr::null_mut() } else { unsafe { libc::dlsym(library, name.as_ptr()) } };
            (!address.is_null()).then_some(address)
        };
        // SAFETY: the functions have these types where they have these names: see the end of driver.cpp.
        unsafe {
            Some(StandIn {
                calls: std::mem::transmute::<*mut c_void, extern "C" fn() -> c_long>(symbol(c"stand_in_calls")?),
                call: std::mem::transmute::<*mut c_void, extern "C" fn(c_long) -> *const c_char>(symbol(
                    c"stand_in_call",
                )?),
                kernel: std::mem::transmute::<*mut c_void, extern "C" fn(c_long) -> *const c_char>(symbol(
                    c"stand_in_kernel",
                )?),
                fail: std::mem::transmute::<*mut c_void, extern "C" fn(*const c_char, c_long, c_int, c_int)>(symbol(
                    c"stand_in_fail",
                )?),
                heal: std::mem::transmute::<*mut c_void, extern "C" fn()>(symbol(c"stand_in_heal")?),
                reset: std::mem::transmute::<*mut c_void, extern "C" fn()>(symbol(c"stand_in_reset")?),
                alive: std::mem::transmute::<*mut c_void, extern "C" fn(*mut c_char, usize)>(symbol(
                    c"stand_in_alive",
                )?),
                misuse: std::mem::transmute::<*mut c_void, extern "C" fn(*mut c_char, usize) -> c_int>(symbol(
                    c"stand_in_misuse",
                )?),
            })
        }
    }

    /// Calls of the driver since the last [`reset`](StandIn::reset).
    pub fn calls(&self) -> usize {
        (self.calls)() as usize
    }

    /// The name of the call of this number since then, from 0.
    pub fn call(&self, number: usize) -> String {
        // SAFETY: the stand-in returns a text that stays.
        unsafe { CStr::from_ptr((self.call)(number as c_long)) }.to_string_lossy().into_owned()
    }

    /// The name of the module and that of the kernel that this call launches, with a slash between; empty where it launches
    /// none.
    pub fn kernel(&self, number: usize) -> String {
        // SAFETY: the stand-in returns a text that stays.
        unsafe { CStr::from_ptr((self.kernel)(number as c_long)) }.to_string_lossy().into_owned()
    }

    /// Begins to count calls anew.
    pub fn reset(&self) {
        (self.reset)();
    }

    /// Makes the `nth` call from now fail, from 1.
    pub fn fail(&self, nth: usize, status: i32, mode: Mode) {
        (self.fail)(std::ptr::null(), nth as c_long, status, mode as c_int);
    }

    /// Makes the `nth` call of one function fail.
    pub fn fail_in(&self, function: &str, nth: usize, status: i32, mode: Mode) {
        let function = CString::new(function).expect("a name has no NUL");
        (self.fail)(function.as_ptr(), nth as c_long, status, mode as c_int);
    }

    /// Cancels failures to come, and repairs lost devices. A broken context stays broken.
    pub fn heal(&self) {
        (self.heal)();
    }

    /// Describes the objects that are alive; empty if there are none.
    pub fn alive(&self) -> String {
        let mut text = [0_u8; 4096];
        (self.alive)(text.as_mut_ptr().cast(), text.len());
        CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the forbidden actions since the last query.
    pub fn misuse(&self) -> Option<String> {
        let mut text = [0_u8; 4096];
        let count = (self.misuse)(text.as_mut_ptr().cast(), text.len());
        (count > 0).then(|| CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy().into_owned())
    }
}

/// Runs `work` on its own thread. Ends the process with a message if that takes longer than `limit`.
pub fn within<T: Send>(limit: Duration, what: &str, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let (done, over) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            let _done = done;
            work()
        });
        if let Err(RecvTimeoutError::Timeout) = over.recv_timeout(limit) {
            eprintln!("{what} has not ended within {limit:?}");
            std::process::abort();
        }
        match worker.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The variable that gives a process of the program `system` its task: the tests of a part, such as `faults`, or the
/// work of a child of these, such as `faults::live`.
pub const PROCESS: &str = "STENCIL_TEST_PROCESS";

/// Value of [`PROCESS`] for a child of this process that is to do `what`.
pub fn task(what: &str) -> String {
    let this = std::env::var(PROCESS).expect("a process of a part");
    format!("{}::{what}", this.split("::").next().unwrap_or_default())
}

/// Output of a child, and its exit status.
pub struct Ended {
    pub status: ExitStatus,
    pub output: String,
}

/// Runs this program again to do `what`, with these variables; stops it after half a minute.
pub fn child(what: &str, variables: &[(&str, &str)]) -> Result<Ended, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command
        .env(PROCESS, task(what))
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| error.to_string())?;
    wait(child).map_err(|error| format!("{what}: {error}"))
}

fn wait(mut child: Child) -> Result<Ended, String> {
    use std::io::Read;
    fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = from.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    }
    let readers =
        [reader(child.stdout.take().expect("it is piped")), reader(child.stderr.take().expect("it is piped"))];
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            let output = readers.map(|reader| reader.join().unwrap_or_default()).concat();
            return Ok(Ended { status, output });
        }
        if begin.elapsed() > Duration::from_secs(30) {
            let _ = child.kill();
            let _ = child.wait();
            return Err("it has not ended within half a minute".into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
