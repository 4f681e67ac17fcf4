//! Calls from `object.cc`, Octave's own type, without the interpreter.
//!
//! As in a call of `mexFunction`, arguments are read, the output is made, and the closure is run; but the host does not
//! track the arrays, so the caller owns the results, and errors are returned and not raised.

use std::ffi::{CStr, c_char, c_int};

use super::sys::mxArray;
use super::{Argument, Call, Error, Host, Message, Trace, object, symbols};
use crate::platform::memory;

/// Runs a verb of the installed type's function, for `object.cc`: its name, the number of requested outputs, the inputs
/// after it, the outputs, and buffers for an error's identifier and text, of the sizes in [`Message`]. Returns 0, or 1
/// for an error.
///
/// # Safety
/// For `object.cc` alone: on the host's thread, with arrays of the host and memory for all results.
pub(super) unsafe extern "C-unwind" fn call(
    verb: *const c_char,
    outputs: c_int,
    inputs: usize,
    arguments: *const *const mxArray,
    out: *mut *mut mxArray,
    identifier: *mut c_char,
    text: *mut c_char,
) -> c_int {
    let (Some(function), Ok(api)) = (object::function_of_type(), symbols::api()) else { return 1 };
    let trace = Trace::start();
    let host = Host { api, in_call: false };
    // SAFETY: as the caller says.
    let verb = unsafe { CStr::from_ptr(verb) };
    let answer = move || -> Result<(), Error> {
        memory::begin()?;
        let mut read = memory::with_room(inputs + 1, "the arguments")?;
        let verb = verb.to_string_lossy();
        // Position of the first index.
        let indices = match &*verb {
            "pick" | "remove" => 1,
            "put" | "write" => 2,
            _ => inputs,
        };
        read.push(Argument::of_text(&verb)?);
        for i in 0..inputs {
            let input = if i < indices { Argument::read } else { Argument::read_index };
            // SAFETY: the given number of inputs is there, and they live until the call returns.
            read.push(unsafe { input(&host, *arguments.add(i)) }?);
        }
        let call = Call { arguments: read, outputs: outputs.max(0) as usize };
        // SAFETY: there is room for the requested number of outputs, or one.
        unsafe { super::answer(&host, &function, &call, out, trace) }.map(|_| ())
    };
    match answer() {
        Ok(()) => 0,
        Err(error) => {
            let message = Message::new(function.prefix(), &error);
            // SAFETY: both buffers have the size, and the texts end in NUL.
            unsafe { message.copy_to(identifier, text) };
            1
        }
    }
}
