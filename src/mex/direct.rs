//! Calls that come from `object.cc`, the type of Octave's own, without the interpreter.
//!
//! Arguments are read, the output is made, and the closure is run, as in a call of `mexFunction`; but the host keeps no books
//! of the arrays, so what comes back is the caller's, and errors are told and not raised.

use std::ffi::{CStr, c_char, c_int};

use super::sys::mxArray;
use super::{Argument, Call, Error, Host, Message, Trace, object, symbols};
use crate::memory;

/// A verb of the installed type's function, called by `object.cc`: its name, how many outputs are asked for, the inputs
/// behind it, the outputs, and room for an error's identifier and text, as [`Message`] has it. Returns 0, or 1 for an
/// error.
///
/// # Safety
/// For `object.cc` alone: on the host's thread, with arrays of the host and room for all that.
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
            // SAFETY: as many as said, which live until the call returns.
            read.push(unsafe { input(&host, *arguments.add(i)) }?);
        }
        let call = Call { arguments: read, outputs: outputs.max(0) as usize };
        // SAFETY: there is room for as many outputs as were asked for, or one.
        unsafe { super::answer(&host, &function, &call, out, trace) }.map(|_| ())
    };
    match answer() {
        Ok(()) => 0,
        Err(error) => {
            let message = Message::new(function.prefix(), &error);
            // SAFETY: there is room for both, which end in NUL.
            unsafe { message.copy_to(identifier, text) };
            1
        }
    }
}
