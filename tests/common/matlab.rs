//! The stand-in for MATLAB (`tests/stand_in`), as tests see it: the host that they call the library in.
//!
//! `STENCIL_MEX_FILE` says which MEX file to load, unless it is one for the library that cargo built.
//!
//! # Rationale
//! MATLAB calls a MEX file on its one interpreter thread, and the books of the stand-in are one for the process. So all
//! tests run one after the other on a thread of that kind, however many threads the test harness has. After each, the
//! books must be clear: no array is left, no argument was written to, no 32-bit relic was called.

mod libraries;

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashSet;
use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::mem;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::slice;
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub use libraries::stand_in_dir;

/// The library, in the folder of its MEX files.
pub const LIBRARY: &str = "libstencil_mex.so";

pub const ARRAYS: &str = "DeviceArray_CUDA";
pub const STENCIL: &str = "StencilConstantMemory_CUDA";
pub const DEVICE: &str = "ConstantMemoryDevice_CUDA";

/// The exit status of a child; `None` where it did not end in a minute, and was ended, or where it ended in another
/// way.
pub fn exit_status(child: c_int) -> Option<c_int> {
    assert!(child > 0);
    let (start, mut status) = (Instant::now(), 0);
    // SAFETY: a child of this process, and the address of an int.
    while unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } != child {
        if start.elapsed() > Duration::from_secs(60) {
            // SAFETY: as above; it has not been waited for yet.
            unsafe { (libc::kill(child, libc::SIGKILL), libc::waitpid(child, &mut status, 0)) };
            return None;
        }
        thread::sleep(Duration::from_millis(10));
    }
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}

pub fn assert_same_bits(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        // The payload of a NaN is not compared.
        assert!(
            got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
            "{what}: element {i} is {got:e} and not {expected:e}"
        );
    }
}

/// Numbers in (-1, 1) that look like nothing in particular, the same for the same seed.
pub fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

// ---- the interpreter's thread

pub type Job = Box<dyn FnOnce(&Host) + Send>;

pub const THREAD: &str = "matlab";

/// Message of the last panic on that thread. The harness captures output of a test's own thread only.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Returns the message of the last panic on the interpreter's thread.
pub fn last_panic() -> String {
    locked(&PANIC).clone()
}

/// Runs `test` as MATLAB would run a script, then checks the faults that the stand-in noted.
#[track_caller]
pub fn in_matlab(test: impl FnOnce(&Host) + Send + 'static) {
    static INTERPRETER: LazyLock<Mutex<Sender<Job>>> = LazyLock::new(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| match thread::current().name() {
            Some(THREAD) => *locked(&PANIC) = info.to_string(),
            _ => others(info),
        }));
        let (sender, jobs) = channel::<Job>();
        let run = move || {
            let host = Host::start();
            jobs.iter().for_each(|job| job(&host));
        };
        thread::Builder::new().name(THREAD.into()).spawn(run).expect("a thread");
        Mutex::new(sender)
    });
    let (done, result) = channel();
    let job = move |host: &Host| {
        host.forget_misuses();
        let before = host.live();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            test(host);
            host.assert_clear(before);
        }));
        host.refusal_pending();
        // Only the test waits, and it does nothing else.
        let _ = done.send(outcome.map_err(|_| locked(&PANIC).clone()));
    };
    let sent = locked(&INTERPRETER).send(Box::new(job)).is_ok();
    let outcome = if sent { result.recv().ok() } else { None };
    match outcome {
        Some(Ok(())) => {}
        Some(Err(failure)) => panic!("{failure}"),
        None => panic!("the stand-in did not start: {}", locked(&PANIC)),
    }
}

/// A test that failed leaves nothing half done behind these locks.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// ---- the stand-in, from this side

pub const LOGICAL: c_int = 3;
pub const CHAR: c_int = 4;
pub const DOUBLE: c_int = 6;
pub const SINGLE: c_int = 7;
pub const INT8: c_int = 8;
pub const UINT64: c_int = 15;
pub const FUNCTION: c_int = 16;
pub const OPAQUE: c_int = 17;
pub const OBJECT: c_int = 18;

pub type MxArray = *mut c_void;

macro_rules! functions {
    ($(fn $name:ident($($type:ty),*) $(-> $result:ty)?;)*) => {
        /// Functions of MATLAB and of the driver that the tests call.
        #[allow(non_snake_case)]
        pub struct Api {
            $(pub $name: unsafe extern "C-unwind" fn($($type),*) $(-> $result)?,)*
        }
        impl Api {
            /// # Safety
            /// `library` must be the stand-in's libmex.
            unsafe fn load(library: *mut c_void) -> Api {
                let name = |name: &str| CString::new(name).unwrap();
                // SAFETY: the signatures are those of the stand-in's headers.
                unsafe {
                    Api {
                        $($name: mem::transmute::<
                            *mut c_void,
                            unsafe extern "C-unwind" fn($($type),*) $(-> $result)?,
                        >(symbol(library, &name(stringify!($name)))),)*
                    }
                }
            }
        }
    };
}

functions! {
    fn mexEvalString(*const c_char) -> c_int;
    fn mxCreateNumericArray_730(usize, *const usize, c_int, c_int) -> MxArray;
    fn mxCreateLogicalArray_730(usize, *const usize) -> MxArray;
    fn mxCreateCharArray_730(usize, *const usize) -> MxArray;
    fn mxCreateCellMatrix_730(usize, usize) -> MxArray;
    fn mxCreateStructMatrix_730(usize, usize, c_int, *const *const c_char) -> MxArray;
    fn mxCreateString(*const c_char) -> MxArray;
    fn mxDestroyArray(MxArray);
    fn mxGetClassName(MxArray) -> *const c_char;
    fn mxGetData(MxArray) -> *mut c_void;
    fn mxGetDimensions_730(MxArray) -> *const usize;
    fn mxGetFieldByNumber_730(MxArray, usize, c_int) -> MxArray;
    fn mxGetFieldNameByNumber(MxArray, c_int) -> *const c_char;
    fn mxGetNumberOfDimensions_730(MxArray) -> usize;
    fn mxGetNumberOfElements(MxArray) -> usize;
    fn mxGetNumberOfFields(MxArray) -> c_int;
    fn mxGetProperty_730(MxArray, usize, *const c_char) -> MxArray;
    fn mxIsDouble(MxArray) -> bool;
    fn standin_callback(Option<unsafe extern "C-unwind" fn(*mut c_void)>, *mut c_void, usize);
    fn standin_call(*const c_char, c_int, *mut MxArray, c_int, *const MxArray) -> c_int;
    fn standin_clear(*const c_char) -> c_int;
    fn standin_constructor(c_int);
    fn standin_device_array(u64) -> MxArray;
    fn standin_error_id() -> *const c_char;
    fn standin_error_text() -> *const c_char;
    fn standin_forget_misuses();
    fn standin_interrupt(usize);
    fn standin_interrupt_queries() -> usize;
    fn standin_printed() -> *const c_char;
    fn standin_raise_when_evaluating();
    fn standin_shown() -> usize;
    fn standin_has_exit(*const c_char) -> c_int;
    fn standin_live_arrays() -> usize;
    fn standin_live_blocks() -> usize;
    fn standin_load(*const c_char, *const c_char) -> *const c_char;
    fn standin_misuse(usize) -> *const c_char;
    fn standin_misuses() -> usize;
    fn standin_object(*const c_char, c_int) -> MxArray;
    fn standin_refusal_pending() -> c_int;
    fn standin_refuse_array(usize);
    fn standin_relics() -> usize;
    fn standin_sparse(usize, usize, usize) -> MxArray;
    fn standin_stray(usize) -> *const c_char;
    fn standin_strays() -> usize;
    fn standin_string(*const *const c_char, usize) -> MxArray;
    fn standin_warning_id(usize) -> *const c_char;
    fn standin_warning_text(usize) -> *const c_char;
    fn standin_warnings() -> usize;
}

/// # Safety
/// `library` must be an open handle.
pub unsafe fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: as promised.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    assert!(!address.is_null(), "the stand-in has no {name:?}");
    address
}

/// # Safety
/// `text` must be null or end in NUL.
pub unsafe fn owned(text: *const c_char) -> Option<String> {
    // SAFETY: as promised.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The MEX file: in its library's folder, which cargo puts next to the tests or one folder up.
pub fn mex_file() -> PathBuf {
    static MADE: LazyLock<PathBuf> = LazyLock::new(|| {
        let test = env::current_exe().expect("the path of this test");
        let places = test.ancestors().skip(1).take(2).map(|folder| folder.join(LIBRARY));
        let library = places
            .clone()
            .find(|path| path.is_file())
            .unwrap_or_else(|| panic!("{LIBRARY} is in none of {:?}", places.collect::<Vec<_>>()));
        let file = library.with_extension("mexa64");
        let builder = Path::new(env!("CARGO_MANIFEST_DIR")).join("matlab/build-mex");
        let status = Command::new(builder).arg("--mex").arg(&file).status().expect("matlab/build-mex");
        assert!(status.success(), "matlab/build-mex --mex: {status}");
        file
    });
    env::var_os("STENCIL_MEX_FILE").map_or_else(|| MADE.clone(), PathBuf::from)
}

/// An error or a warning as MATLAB shows it.
#[derive(Debug, PartialEq)]
pub struct Message {
    pub id: String,
    pub text: String,
}

pub struct Host {
    pub api: Api,
    pub library: *mut c_void,
    loaded: RefCell<HashSet<String>>,
}

// SAFETY of the calls below: arrays are live while their `Array` is, texts end in NUL, counts are those of the slices,
// and everything happens on the thread that `in_matlab` started.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Host {
    pub fn start() -> Host {
        // Settings of this machine would override the defaults that are tested.
        unsafe { libc::unsetenv(c"STENCIL_BACKEND".as_ptr()) };
        let path = CString::new(stand_in_dir().join("libmex.so").into_os_string().into_encoded_bytes()).unwrap();
        // RTLD_LOCAL, as a host may load them: their names can only be found by those who know which libraries to ask.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!library.is_null(), "{:?}", unsafe { owned(libc::dlerror()) });
        assert!(
            unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mxGetData".as_ptr()) }.is_null(),
            "the names are not global"
        );
        Host { api: unsafe { Api::load(library) }, library, loaded: RefCell::default() }
    }

    pub fn wrap(&self, raw: MxArray) -> Array<'_> {
        assert!(!raw.is_null());
        Array { host: self, raw }
    }

    /// An array of zeros.
    pub fn make(&self, class: c_int, dims: &[usize], complex: bool) -> Array<'_> {
        self.wrap(match class {
            LOGICAL => unsafe { (self.api.mxCreateLogicalArray_730)(dims.len(), dims.as_ptr()) },
            CHAR => unsafe { (self.api.mxCreateCharArray_730)(dims.len(), dims.as_ptr()) },
            _ => unsafe { (self.api.mxCreateNumericArray_730)(dims.len(), dims.as_ptr(), class, complex.into()) },
        })
    }

    pub fn double(&self, dims: &[usize], values: &[f64]) -> Array<'_> {
        let array = self.make(DOUBLE, dims, false);
        assert_eq!(values.len(), dims.iter().product());
        if !values.is_empty() {
            unsafe { ptr::copy_nonoverlapping(values.as_ptr(), (self.api.mxGetData)(array.raw).cast(), values.len()) };
        }
        array
    }

    /// A scalar of class uint64.
    pub fn number(&self, number: u64) -> Array<'_> {
        self.make(UINT64, &[1, 1], false).with_bytes(&number.to_ne_bytes())
    }

    pub fn ones(&self, dims: &[usize]) -> Array<'_> {
        self.double(dims, &vec![1.0; dims.iter().product()])
    }

    pub fn text(&self, text: &str) -> Array<'_> {
        let text = CString::new(text).unwrap();
        self.wrap(unsafe { (self.api.mxCreateString)(text.as_ptr()) })
    }

    pub fn char_matrix(&self, m: usize, n: usize) -> Array<'_> {
        self.make(CHAR, &[m, n], false)
    }

    /// A string array; `None` is a missing string.
    pub fn string(&self, texts: &[Option<&str>]) -> Array<'_> {
        let texts: Vec<_> = texts.iter().map(|text| text.map(|text| CString::new(text).unwrap())).collect();
        let texts: Vec<_> = texts.iter().map(|text| text.as_ref().map_or(ptr::null(), |text| text.as_ptr())).collect();
        self.wrap(unsafe { (self.api.standin_string)(texts.as_ptr(), texts.len()) })
    }

    pub fn sparse(&self, m: usize, n: usize, stored: usize) -> Array<'_> {
        self.wrap(unsafe { (self.api.standin_sparse)(m, n, stored) })
    }

    pub fn object(&self, class: &CStr, id: c_int) -> Array<'_> {
        self.wrap(unsafe { (self.api.standin_object)(class.as_ptr(), id) })
    }

    /// An object of class DeviceArray with this number. Nothing happens when it goes.
    pub fn device_array(&self, number: u64) -> Array<'_> {
        self.wrap(unsafe { (self.api.standin_device_array)(number) })
    }

    /// Sets what the class's constructor does from now on: 0 makes an object, 1 raises an error, 2 returns nothing, 3
    /// returns something else.
    pub fn constructor(&self, mode: c_int) {
        unsafe { (self.api.standin_constructor)(mode) };
    }

    pub fn cell(&self, m: usize, n: usize) -> Array<'_> {
        self.wrap(unsafe { (self.api.mxCreateCellMatrix_730)(m, n) })
    }

    pub fn structure(&self, m: usize, n: usize, fields: &[&CStr]) -> Array<'_> {
        let fields: Vec<_> = fields.iter().map(|field| field.as_ptr()).collect();
        self.wrap(unsafe { (self.api.mxCreateStructMatrix_730)(m, n, fields.len() as c_int, fields.as_ptr()) })
    }

    /// `'Backend', 'cpu'`.
    pub fn cpu(&self) -> [Array<'_>; 2] {
        [self.text("Backend"), self.text("cpu")]
    }

    pub fn try_load(&self, file: &std::path::Path, name: &str) -> Result<(), String> {
        let file = CString::new(file.as_os_str().as_encoded_bytes()).unwrap();
        let name = CString::new(name).unwrap();
        unsafe { owned((self.api.standin_load)(file.as_ptr(), name.as_ptr())) }.map_or(Ok(()), Err)
    }

    pub fn load(&self, name: &str) {
        self.try_load(&mex_file(), name).unwrap_or_else(|why| panic!("{name} did not load: {why}"));
        self.loaded.borrow_mut().insert(name.into());
    }

    /// Calls a function, and loads it if it is not loaded, as MATLAB does. The outputs are those that were set.
    pub fn call(&self, name: &str, outputs: usize, arguments: &[&Array]) -> Result<Vec<Array<'_>>, Message> {
        if !self.loaded.borrow().contains(name) {
            self.load(name);
        }
        self.call_raw(name, outputs, arguments)
    }

    pub fn call_raw(&self, name: &str, outputs: usize, arguments: &[&Array]) -> Result<Vec<Array<'_>>, Message> {
        let name = CString::new(name).unwrap();
        let inputs: Vec<_> = arguments.iter().map(|array| array.raw).collect();
        let mut places = vec![ptr::null_mut(); outputs.max(1)];
        let failed = unsafe {
            (self.api.standin_call)(
                name.as_ptr(),
                outputs as c_int,
                places.as_mut_ptr(),
                inputs.len() as c_int,
                inputs.as_ptr(),
            )
        };
        if failed != 0 {
            let text = |text| unsafe { owned(text) }.expect("a text");
            return unsafe {
                Err(Message { id: text((self.api.standin_error_id)()), text: text((self.api.standin_error_text)()) })
            };
        }
        Ok(places.into_iter().filter(|raw| !raw.is_null()).map(|raw| self.wrap(raw)).collect())
    }

    /// Calls a function that returns one array.
    pub fn one(&self, name: &str, outputs: usize, arguments: &[&Array]) -> Array<'_> {
        let mut all = self
            .call(name, outputs, arguments)
            .unwrap_or_else(|error| panic!("{name} failed: {error:?}, for {arguments:?}"));
        assert_eq!(all.len(), 1, "one output, and `ans` where none was asked for");
        all.remove(0)
    }

    /// Calls the stencil with arguments that it refuses, then with valid ones.
    pub fn refuses(&self, name: &str, outputs: usize, arguments: &[&Array], kind: &str, opening: &str) -> Message {
        let Err(error) = self.call(name, outputs, arguments) else { panic!("{kind} was expected for {arguments:?}") };
        assert_eq!(error.id, format!("{}:{kind}", name.trim_end_matches("_CUDA")), "{error:?}, for {arguments:?}");
        assert!(error.text.starts_with(opening), "{error:?}");
        assert!(
            error.text.len() > opening.len() && error.text.contains(' '),
            "it says what was got and what is expected: {error:?}"
        );
        let (x, k, cpu) = (self.ones(&[1, 4]), self.ones(&[1, 3]), self.cpu());
        let next = self.one(STENCIL, 1, &[&[&x, &k], &cpu.each_ref()[..]].concat());
        assert_eq!(next.doubles(), [2.0, 3.0, 3.0, 2.0], "the next call works");
        error
    }

    pub fn clear(&self, name: &str) {
        assert!(self.loaded.borrow_mut().remove(name), "{name} is loaded");
        let name = CString::new(name).unwrap();
        assert_eq!(unsafe { (self.api.standin_clear)(name.as_ptr()) }, 0);
    }

    /// Clears all functions that are loaded, as the host does at its end.
    pub fn clear_all(&self) {
        let names: Vec<_> = self.loaded.borrow().iter().cloned().collect();
        names.iter().for_each(|name| self.clear(name));
    }

    pub fn has_exit(&self, name: &str) -> bool {
        let name = CString::new(name).unwrap();
        unsafe { (self.api.standin_has_exit)(name.as_ptr()) != 0 }
    }

    /// All the warnings of the process that are the stencil's.
    pub fn warnings(&self) -> Vec<Message> {
        let text = |text| unsafe { owned(text) }.expect("a text");
        (0..unsafe { (self.api.standin_warnings)() })
            .map(|i| unsafe {
                Message { id: text((self.api.standin_warning_id)(i)), text: text((self.api.standin_warning_text)(i)) }
            })
            .filter(|warning| warning.id.starts_with("StencilConstantMemory:"))
            .collect()
    }

    /// All that was printed in this process.
    pub fn printed(&self) -> String {
        unsafe { owned((self.api.standin_printed)()) }.expect("a text")
    }

    /// Number of times that MATLAB was asked to show it.
    pub fn shown(&self) -> usize {
        unsafe { (self.api.standin_shown)() }
    }

    /// Presses Ctrl-C in the next call, before it is asked about for the time `after`, counted from 0.
    pub fn interrupt(&self, after: usize) {
        unsafe { (self.api.standin_interrupt)(after) };
    }

    /// Number of times that the last call asked.
    pub fn interrupt_queries(&self) -> usize {
        unsafe { (self.api.standin_interrupt_queries)() }
    }

    /// Does `body` while the user has a callback, which is run once in the middle of a call, when that asks for an
    /// interrupt for the time `after`, counted from 0, and whenever MATLAB is asked to run callbacks.
    pub fn with_callback<T>(&self, after: usize, callback: &mut dyn FnMut(), body: impl FnOnce() -> T) -> T {
        struct Slot<'a> {
            callback: &'a mut dyn FnMut(),
            panic: Option<Box<dyn Any + Send>>,
        }
        /// A panic of the test's is not to pass through the library.
        unsafe extern "C-unwind" fn run(slot: *mut c_void) {
            // SAFETY: what is set below, for as long as `body` lasts, on this thread.
            let slot = unsafe { &mut *slot.cast::<Slot>() };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(&mut *slot.callback)) {
                slot.panic.get_or_insert(panic);
            }
        }
        let mut slot = Slot { callback, panic: None };
        unsafe { (self.api.standin_callback)(Some(run), ptr::from_mut(&mut slot).cast(), after) };
        let result = catch_unwind(AssertUnwindSafe(body));
        unsafe { (self.api.standin_callback)(None, ptr::null_mut(), usize::MAX) };
        // It came first.
        slot.panic.map_or(result, Err).unwrap_or_else(|panic| panic::resume_unwind(panic))
    }

    pub fn raise_when_evaluating(&self) {
        unsafe { (self.api.standin_raise_when_evaluating)() };
    }

    /// Arrays and blocks of memory that exist.
    pub fn live(&self) -> (usize, usize) {
        unsafe { ((self.api.standin_live_arrays)(), (self.api.standin_live_blocks)()) }
    }

    pub fn relics(&self) -> usize {
        unsafe { (self.api.standin_relics)() }
    }

    pub fn misuses(&self) -> Vec<String> {
        unsafe { (0..(self.api.standin_misuses)()).filter_map(|i| owned((self.api.standin_misuse)(i))).collect() }
    }

    pub fn strays(&self) -> Vec<String> {
        unsafe { (0..(self.api.standin_strays)()).filter_map(|i| owned((self.api.standin_stray)(i))).collect() }
    }

    pub fn forget_misuses(&self) {
        unsafe { (self.api.standin_forget_misuses)() };
    }

    pub fn refuse_array(&self, after: usize) {
        unsafe { (self.api.standin_refuse_array)(after) };
    }

    /// True if a requested refusal has not happened yet; cancels it.
    pub fn refusal_pending(&self) -> bool {
        unsafe { (self.api.standin_refusal_pending)() != 0 }
    }

    pub fn assert_clear(&self, live: (usize, usize)) {
        assert_eq!(self.misuses(), [""; 0], "misuses of MATLAB's interface");
        assert_eq!(self.relics(), 0, "32-bit relics that were called");
        assert_eq!(self.strays(), [""; 0], "what a call left behind");
        assert_eq!(self.live(), live, "arrays and blocks of memory that were there before the test, and after");
    }
}

/// An array of the workspace.
pub struct Array<'a> {
    host: &'a Host,
    pub raw: MxArray,
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Array<'_> {
    pub fn class_name(&self) -> String {
        unsafe { owned((self.host.api.mxGetClassName)(self.raw)) }.expect("a class")
    }

    pub fn dims(&self) -> Vec<usize> {
        let api = &self.host.api;
        unsafe {
            slice::from_raw_parts((api.mxGetDimensions_730)(self.raw), (api.mxGetNumberOfDimensions_730)(self.raw))
                .to_vec()
        }
    }

    pub fn doubles(&self) -> Vec<f64> {
        let api = &self.host.api;
        assert!(unsafe { (api.mxIsDouble)(self.raw) });
        match unsafe { (api.mxGetNumberOfElements)(self.raw) } {
            0 => Vec::new(),
            count => unsafe { slice::from_raw_parts((api.mxGetData)(self.raw).cast::<f64>(), count).to_vec() },
        }
    }

    /// Returns the bytes of its elements, each of the given size.
    pub fn bytes(&self, each: usize) -> Vec<u8> {
        let api = &self.host.api;
        match unsafe { (api.mxGetNumberOfElements)(self.raw) } {
            0 => Vec::new(),
            count => unsafe { slice::from_raw_parts((api.mxGetData)(self.raw).cast::<u8>(), count * each).to_vec() },
        }
    }

    /// The elements of an array of class uint64.
    pub fn numbers(&self) -> Vec<u64> {
        let api = &self.host.api;
        assert_eq!(self.class_name(), "uint64");
        match unsafe { (api.mxGetNumberOfElements)(self.raw) } {
            0 => Vec::new(),
            count => unsafe { slice::from_raw_parts((api.mxGetData)(self.raw).cast::<u64>(), count).to_vec() },
        }
    }

    /// A property that is a scalar of class uint64; `None` for one that is not there.
    pub fn number_property(&self, name: &CStr) -> Option<u64> {
        let api = &self.host.api;
        let value = unsafe { (api.mxGetProperty_730)(self.raw, 0, name.as_ptr()) };
        (!value.is_null()).then(|| {
            let value = self.host.wrap(value);
            assert_eq!((value.class_name().as_str(), value.dims()), ("uint64", vec![1, 1]));
            unsafe { (api.mxGetData)(value.raw).cast::<u64>().read() }
        })
    }

    /// The names of a struct's fields, and the classes of their values.
    pub fn fields(&self) -> Vec<(String, String)> {
        let api = &self.host.api;
        (0..unsafe { (api.mxGetNumberOfFields)(self.raw) })
            .map(|i| unsafe {
                let value = (api.mxGetFieldByNumber_730)(self.raw, 0, i);
                assert!(!value.is_null(), "every field is set");
                (owned((api.mxGetFieldNameByNumber)(self.raw, i)).unwrap(), owned((api.mxGetClassName)(value)).unwrap())
            })
            .collect()
    }

    pub fn with_bytes(self, bytes: &[u8]) -> Self {
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), (self.host.api.mxGetData)(self.raw).cast(), bytes.len()) };
        self
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.dims(), self.class_name())
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Drop for Array<'_> {
    fn drop(&mut self) {
        unsafe { (self.host.api.mxDestroyArray)(self.raw) };
    }
}
