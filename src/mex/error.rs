//! Errors for the host.

use std::ffi::{CStr, c_char};

use crate::platform::memory::OutOfMemory;

/// An error or a warning of a gateway.
///
/// The host shows `text` and lets scripts test the identifier, which consists of the function's prefix and `kind`:
/// `StencilConstantMemory:dataType`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Last part of the identifier, in letters only.
    pub kind: &'static str,
    /// One or more sentences for the user.
    pub text: String,
}

impl Error {
    /// Makes an error of this kind with this text.
    pub fn new(kind: &'static str, text: impl Into<String>) -> Error {
        Error { kind, text: text.into() }
    }

    /// An internal error of this library, not of the call.
    pub fn internal(text: impl Into<String>) -> Error {
        Error::new("internal", text)
    }
}

impl From<OutOfMemory> for Error {
    fn from(error: OutOfMemory) -> Error {
        Error::new("outOfMemory", error.to_string())
    }
}

/// An identifier and a text in buffers of their own, in the form that the host needs.
///
/// Raising unwinds as a C++ exception does, and everything that owned memory must be dropped before. So both texts are
/// copied here first.
pub(super) struct Message {
    identifier: [u8; 128],
    text: [u8; 2048],
}

impl Message {
    pub(super) fn new(prefix: &str, error: &Error) -> Message {
        let mut message = Message { identifier: [0; 128], text: [0; 2048] };
        fill(&mut message.identifier, [prefix, ":", error.kind]);
        fill(&mut message.text, [error.text.as_str()]);
        message
    }

    pub(super) fn identifier(&self) -> *const c_char {
        self.identifier.as_ptr().cast()
    }

    pub(super) fn text(&self) -> *const c_char {
        self.text.as_ptr().cast()
    }

    /// Copies both into buffers of the size of these, 128 and 2048 bytes.
    ///
    /// # Safety
    /// Both buffers must have this size.
    pub(super) unsafe fn copy_to(&self, identifier: *mut c_char, text: *mut c_char) {
        // SAFETY: the caller's promise.
        unsafe {
            identifier.copy_from_nonoverlapping(self.identifier(), self.identifier.len());
            text.copy_from_nonoverlapping(self.text(), self.text.len());
        }
    }
}

/// Concatenates `parts`, truncated between characters if they do not fit before the last NUL.
fn fill<const N: usize>(buffer: &mut [u8], parts: [&str; N]) {
    let mut at = 0;
    for part in parts {
        let mut end = part.len().min(buffer.len() - 1 - at);
        while !part.is_char_boundary(end) {
            end -= 1;
        }
        // A NUL would end the text early for the host.
        for (to, from) in
            buffer[at..].iter_mut().zip(part[..end].bytes().map(|byte| if byte == 0 { b' ' } else { byte }))
        {
            *to = from;
        }
        at += end;
    }
    debug_assert!(CStr::from_bytes_until_nul(buffer).is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(message: &Message) -> (&str, &str) {
        (word(&message.identifier), word(&message.text))
    }

    fn word(buffer: &[u8]) -> &str {
        CStr::from_bytes_until_nul(buffer).unwrap().to_str().unwrap()
    }

    #[test]
    fn a_message_carries_identifier_and_text() {
        let message = Message::new("Stencil", &Error::new("dataType", "got single, 100%"));
        assert_eq!(words(&message), ("Stencil:dataType", "got single, 100%"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let message = Message::new("S", &Error::new("cuda", "é".repeat(2000)));
        assert_eq!(words(&message).1, "é".repeat(1023));
    }

    #[test]
    fn a_nul_does_not_end_the_text() {
        let message = Message::new("S", &Error::new("cuda", "a\0b"));
        assert_eq!(words(&message).1, "a b");
    }
}
