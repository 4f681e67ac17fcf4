//! The host: MATLAB or GNU Octave, and the only module that handles an `mxArray`.
//!
//! A call comes in through [`enter`] and takes three steps: the arguments are **read** into plain values, the output
//! array is **made**, and the gateway's closure is **run** to fill it; a long run is on another thread, so that this
//! one can check for interrupts and report progress.
//!
//! # Rationale
//! Hosts raise errors as C++ exceptions. Such an exception may pass through our frames, which are `extern "C-unwind"`
//! for that, and drops what they own; but it must not meet `catch_unwind`, which would abort the process. A Rust panic
//! on the other hand must never reach the host. So our code runs inside `catch_unwind` and does not call the host
//! there, and the host is called outside it. Our own errors are raised last, from buffers on the stack, after
//! everything else was dropped.
//!
//! # Limitations
//! Functions here are for the host's own thread.

mod argument;
mod class;
mod direct;
mod error;
mod gpu;
mod lend;
mod object;
mod run;
mod symbols;
mod sys;
mod text;
mod value;

use std::any::Any;
use std::ffi::{CStr, c_int};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::platform::memory::{self, OutOfMemory};
pub use argument::{Argument, MAX_CELLS};
pub use class::Class;
pub use error::Error;
use error::Message;
pub use gpu::OnGpu;
pub use lend::outputs_name;
pub use object::Pending;
pub use run::Effort;
pub use sys::mxArray;
pub use value::{Fields, Fill, Numeric, Output, Reply, Truth, Value};

/// A function of the library: its name in a host, and its implementation.
#[derive(Clone, Copy)]
pub struct Function {
    /// Name, which ends in `_CUDA`; the part before that is the prefix of its identifiers.
    pub name: &'static str,
    /// Reads the arguments and describes the outputs. It does not call the host.
    pub call: for<'a> fn(&'a Call) -> Result<Reply<'a>, Error>,
}

impl Function {
    fn prefix(&self) -> &'static str {
        self.name.strip_suffix("_CUDA").unwrap_or(self.name)
    }
}

/// Arguments of a call, and number of requested outputs.
#[derive(Debug)]
pub struct Call {
    /// Inputs.
    pub arguments: Vec<Argument>,
    /// Number of requested outputs; 0 for a call at the prompt, which still gets one.
    pub outputs: usize,
}

/// The calling host.
#[derive(Clone, Copy)]
struct Host {
    api: &'static sys::Api,
    /// True if it called through `mexFunction`. Otherwise there is no function name for warnings, and outputs are not
    /// [lent](lend).
    in_call: bool,
}

/// Serves one call of `mexFunction` with these arguments, by the function of `functions` with the called name. `exit`
/// is run when the host clears the function or ends.
///
/// # Safety
/// To be called from `mexFunction` alone, with the host's arguments.
pub unsafe fn enter(
    functions: &[Function],
    exit: unsafe extern "C-unwind" fn(),
    nlhs: c_int,
    plhs: *mut *mut mxArray,
    nrhs: c_int,
    prhs: *mut *const mxArray,
) {
    let host = match symbols::api() {
        Ok(api) => Host { api, in_call: true },
        Err(name) => {
            // Without its functions an error cannot be raised either.
            log(&format!("stencil_mex: this host has no {name}; the call was not served"));
            return;
        }
    };
    // SAFETY: passed on as received.
    match unsafe { serve(host, functions, exit, nlhs, plhs, nrhs, prhs) } {
        Ok(Answered::Outputs) => {}
        Ok(Answered::Instead) => {
            // SAFETY: the inputs and one output exist. Nothing that needs dropping is left in these frames.
            unsafe { (host.api.mexCallMATLAB)(nlhs.max(1), plhs, nrhs - 2, prhs.add(2).cast(), c"feval".as_ptr()) };
        }
        // The text is passed to a format that prints it unchanged.
        // SAFETY: both end in NUL. Nothing that needs dropping is left in these frames.
        Err(message) => unsafe {
            (host.api.mexErrMsgIdAndTxt)(message.identifier(), c"%s".as_ptr(), message.text());
        },
    }
}

/// Kind of answer to a call.
enum Answered {
    /// The outputs are in place.
    Outputs,
    /// [`Output::Instead`], which is still to be called.
    Instead,
}

/// Serves the call. An error is returned as a message that owns nothing.
///
/// # Safety
/// As [`enter`].
#[expect(clippy::result_large_err, reason = "a box would be something left to drop when the error is raised")]
unsafe fn serve(
    host: Host,
    functions: &[Function],
    exit: unsafe extern "C-unwind" fn(),
    nlhs: c_int,
    plhs: *mut *mut mxArray,
    nrhs: c_int,
    prhs: *mut *const mxArray,
) -> Result<Answered, Message> {
    let api = host.api;
    let trace = Trace::start();
    // In every call, not in the first: the host stores it with the name that was called, and there may be several.
    // SAFETY: `exit` stays in place, since the library is never unloaded.
    unsafe { (api.mexAtExit)(Some(exit)) };
    // SAFETY: the host returns a text that ends in NUL and outlives the call.
    let name = unsafe { CStr::from_ptr((api.mexFunctionName)()) }.to_string_lossy();
    let Some(function) = functions.iter().find(|function| function.name == name) else {
        let names: Vec<_> = functions.iter().map(|function| function.name).collect();
        let text = format!(
            "This library serves {}, and was called as {name}: give its file one of these names.",
            names.join(", ")
        );
        return Err(Message::new(functions[0].prefix(), &Error::internal(text)));
    };
    let failed = |error: Error| Message::new(function.prefix(), &error);
    let short = |error: OutOfMemory| failed(error.into());
    memory::begin().map_err(short)?;
    lend::prepare(&host);

    let inputs = nrhs.max(0) as usize;
    let mut arguments = memory::with_room(inputs, "the arguments").map_err(short)?;
    for i in 0..inputs {
        // SAFETY: the host passes `nrhs` inputs, which live until the call returns.
        arguments.push(unsafe { Argument::read(&host, *prhs.add(i)) }.map_err(short)?);
    }
    let call = Call { arguments, outputs: nlhs.max(0) as usize };
    // SAFETY: there is room for the requested number of outputs, and always for one, even if none was requested: it
    // becomes `ans`.
    unsafe { answer(&host, function, &call, plhs, trace) }.map_err(failed)
}

/// Answers a call by `function`, after its arguments have been read, and writes its outputs to `out`. The trace began
/// with the call.
///
/// # Safety
/// There must be room for the requested number of outputs, or one.
unsafe fn answer(
    host: &Host,
    function: &Function,
    call: &Call,
    out: *mut *mut mxArray,
    mut trace: Trace,
) -> Result<Answered, Error> {
    let reply = guarded(|| (function.call)(call))?;
    memory::check()?;
    trace.step("read");
    if let Some(note) = &reply.note {
        trace.note(function.name, note);
    }
    for warning in &reply.warnings {
        if !host.in_call {
            log(&warning.text);
            continue;
        }
        let message = Message::new(function.prefix(), warning);
        // SAFETY: both texts end in NUL. The user may have made the warning an error: then this raises, and drops what
        // we hold.
        unsafe { (host.api.mexWarnMsgIdAndTxt)(message.identifier(), c"%s".as_ptr(), message.text()) };
    }
    if matches!(reply.output, Output::Instead) {
        let possible = host.in_call && call.arguments.len() > 2;
        return possible.then_some(Answered::Instead).ok_or_else(|| Error::internal("There is no function to call."));
    }
    let mut outputs = Outputs { host, arrays: Vec::new() };
    outputs.make(function, reply.output, &mut trace)?;
    trace.end(function.name);
    if outputs.arrays.len() > call.outputs.max(1) {
        return Err(Error::internal("More outputs than there is room for."));
    }
    for (place, output) in std::mem::take(&mut outputs.arrays).into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { *out.add(place) = output };
    }
    Ok(Answered::Outputs)
}

/// Output arrays of a call. If it ends in an error, of ours or of the host's, they are destroyed.
struct Outputs<'h> {
    host: &'h Host,
    arrays: Vec<*mut sys::mxArray>,
}

impl Outputs<'_> {
    /// Makes the outputs of `function`, and runs the closure that fills them.
    ///
    /// # Errors
    /// Those of the closure; `gpuArray`; `internal`.
    fn make(&mut self, function: &Function, output: Output, trace: &mut Trace) -> Result<(), Error> {
        let name = function.name;
        match output {
            Output::InstallType => {
                let installed = self.host.install_type(*function, direct::call);
                self.arrays.push(self.host.build(&Value::Logical(installed)));
            }
            Output::NoArray => self.arrays.push(self.host.no_array()?),
            Output::Refusal => self.arrays.push(self.host.refusal()?),
            Output::Instead => return Err(Error::internal("A function of the host's makes the outputs.")),
            Output::Value(value) => self.arrays.push(self.host.build(&value)),
            Output::Held { of_class, make, effort } => {
                let mut made = None;
                let run = self.host.run(name, &effort, |watch| {
                    made = Some(make(watch)?);
                    Ok(())
                });
                let pending = run.and_then(|()| made.ok_or_else(|| Error::internal("Nothing was made.")))?;
                trace.step("run");
                for one in &pending {
                    self.arrays.push(self.host.object(&**one, of_class)?);
                }
                pending.into_iter().for_each(|one| one.keep());
            }
            Output::OnGpu { dims, single, fill, effort } => {
                // Destroyed on any way out, including an error of ours or of the host's.
                let made = dims.iter().map(|dims| gpu::Made::new(single, dims)).collect::<Result<Vec<_>, _>>()?;
                trace.step("made on the GPU");
                let addresses: Vec<_> = made.iter().map(|made| made.address).collect();
                self.host.run(name, &effort, |watch| fill(&addresses, watch))?;
                for one in made {
                    self.arrays.push(one.into_array()?);
                }
            }
            Output::Arrays { dims, complex, fill, effort } => {
                let mut parts = Vec::with_capacity(dims.len());
                for mut dims in dims {
                    let len: usize = dims.iter().product();
                    let (array, way) = self.host.array(&mut dims, fill.class, complex);
                    trace.step(way);
                    self.arrays.push(array);
                    let bytes = len * fill.class.bytes();
                    parts.push((array, bytes, false));
                    parts.extend(complex.then_some((array, bytes, true)));
                }
                // Without memory for a thread a long run is done on this one, as on a system that refuses more threads.
                let effort =
                    Effort { long: effort.long && memory::spare(memory::STACK + memory::THREAD).is_ok(), ..effort };
                let host = self.host;
                let bytes = parts.into_iter().map(|(array, bytes, imaginary)| {
                    // SAFETY: each array was made some lines ago, with `bytes` bytes of elements, and each part is
                    // taken once.
                    unsafe { host.bytes_mut(array, bytes, imaginary) }
                });
                let bytes = bytes.collect();
                self.host.run(name, &effort, |watch| (fill.fill)(bytes, watch))?;
            }
        }
        Ok(())
    }
}

impl Drop for Outputs<'_> {
    fn drop(&mut self) {
        // SAFETY: the arrays are unshared.
        self.arrays.drain(..).for_each(|array| unsafe { (self.host.api.mxDestroyArray)(array) });
    }
}

/// Time of each step of a call, on standard error, if `STENCIL_TRACE` requests it. It does not include the host's own
/// overhead.
struct Trace {
    last: Option<Instant>,
    line: String,
}

impl Trace {
    fn start() -> Trace {
        Trace { last: is_traced().then(Instant::now), line: String::new() }
    }

    /// Writes a separate line.
    fn note(&self, function: &str, note: &str) {
        if self.last.is_some() {
            log(&format!("{function}: {note}"));
        }
    }

    fn step(&mut self, name: &str) {
        if let Some(last) = &mut self.last {
            let now = Instant::now();
            self.line += &format!(" {name} {:.1} us,", (now - *last).as_secs_f64() * 1e6);
            *last = now;
        }
    }

    fn end(&mut self, function: &str) {
        self.step("run");
        if self.last.is_some() {
            log(&format!("{function}:{}", self.line.trim_end_matches(',')));
        }
    }
}

/// True if `STENCIL_TRACE` requests a trace: it is set, and neither empty nor 0.
pub fn is_traced() -> bool {
    std::env::var_os("STENCIL_TRACE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Writes a line to standard error. `eprintln!` would panic if that is not writable, outside `catch_unwind`.
fn log(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Runs our code, and converts a panic to an error: it must not reach the host.
fn guarded<T>(code: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(code))
        .unwrap_or_else(|payload| Err(Error::internal(format!("A fault in the library: {}", panic_text(&*payload)))))
}

/// Runs code of the exit function, which cannot report an error: Rust itself prints a panic on standard error, and it
/// goes no further.
pub fn guarded_exit(code: impl FnOnce()) {
    quietly(|| {
        lend::forget();
        code();
    });
}

/// Runs code that the host calls outside any call: as in [`guarded_exit`].
pub fn quietly(code: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(code));
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no text)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let error = guarded::<()>(|| panic!("seven of {}", 6)).unwrap_err();
        assert_eq!((error.kind, error.text.as_str()), ("internal", "A fault in the library: seven of 6"));
    }

    #[test]
    fn the_prefix_is_the_name_without_its_ending() {
        let function = Function { name: "ConstantMemoryDevice_CUDA", call: |_| Err(Error::internal("")) };
        assert_eq!(function.prefix(), "ConstantMemoryDevice");
    }
}
