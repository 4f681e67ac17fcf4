//! Kernels that are written at run time, loaded.
//!
//! # Rationale
//! The driver takes a tenth of a second and more for a kernel of several steps, and whoever loads it waits for that. So a
//! thread has the driver's linker make a binary of it, and the one who launches it loads that, which is quick.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use cudarc::driver::sys;

use super::loaded::{Function, LoadedModule};
use crate::cuda::driver::context::Context;
use crate::cuda::driver::error::failed;
use crate::stencil::Error;

/// The most kernels that stay loaded.
const MOST_LOADED: usize = 256;

/// The kernels of a device. Whoever drops them waits for those that are being compiled.
#[derive(Debug)]
pub(crate) struct Generated {
    context: Arc<Context>,
    /// By their text; the last ones were used last.
    loaded: Mutex<Vec<(String, Function)>>,
    compiling: Mutex<Vec<Compiling>>,
}

#[derive(Debug)]
struct Compiling {
    text: String,
    /// The binary, or what is wrong.
    thread: Option<JoinHandle<Result<Vec<u8>, Error>>>,
}

impl Generated {
    pub(super) fn new(context: &Arc<Context>) -> Generated {
        Generated { context: context.clone(), loaded: Mutex::default(), compiling: Mutex::default() }
    }

    /// The kernel `name` of a module. The driver compiles it where it is not loaded yet.
    ///
    /// # Errors
    /// Those of the driver.
    pub(crate) fn get(&self, text: &str, name: &str) -> Result<Function, Error> {
        let ptx = || Ok(Some([text.as_bytes(), b"\0"].concat()));
        self.find(text, name, ptx)?.ok_or_else(|| Error::Internal("A kernel without a text.".into()))
    }

    /// As [`Generated::get`], but a thread compiles it: `None` until it is ready.
    pub(crate) fn get_ahead(&self, text: &str, name: &str) -> Result<Option<Function>, Error> {
        self.find(text, name, || self.binary(text))
    }

    fn find(
        &self,
        text: &str,
        name: &str,
        image: impl FnOnce() -> Result<Option<Vec<u8>>, Error>,
    ) -> Result<Option<Function>, Error> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = loaded.iter().rposition(|(known, _)| known == text) {
            loaded[found..].rotate_left(1);
            return Ok(loaded.last().map(|(_, function)| function.clone()));
        }
        let Some(image) = image()? else { return Ok(None) };
        let name = CString::new(name).map_err(|_| Error::Internal("A kernel with a NUL.".into()))?;
        let function = Function::new(&LoadedModule::new(&self.context, &image)?, name)?;
        if loaded.len() == MOST_LOADED {
            loaded.remove(0);
        }
        loaded.push((text.to_owned(), function.clone()));
        Ok(Some(function))
    }

    /// The binary of a module, if it is ready; it is handed out once. Where nobody has asked for it, a thread begins it.
    ///
    /// # Errors
    /// Those of the driver against the text; [`Error::OutOfMemory`] where no thread can be had.
    fn binary(&self, text: &str) -> Result<Option<Vec<u8>>, Error> {
        let mut all = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = all.iter().position(|one| one.text == text) else {
            let (context, owned) = (self.context.clone(), text.to_owned());
            let compile = move || linked(&context, &owned);
            let thread = thread::Builder::new().name("stencil-compile".into()).spawn(compile);
            let thread =
                thread.map_err(|error| Error::OutOfMemory(format!("No thread to compile a kernel: {error}.")))?;
            all.push(Compiling { text: text.to_owned(), thread: Some(thread) });
            return Ok(None);
        };
        if all[at].thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(None);
        }
        let ended = all.swap_remove(at).thread.take().map(JoinHandle::join);
        let panicked = || Error::Internal("The thread that compiles a kernel panicked.".into());
        ended.and_then(Result::ok).unwrap_or_else(|| Err(panicked())).map(Some)
    }
}

impl Drop for Compiling {
    fn drop(&mut self) {
        // Nobody asks for its result any more.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The driver's linker at work.
struct Link(sys::CUlinkState);

impl Drop for Link {
    fn drop(&mut self) {
        // SAFETY: it was created, and its binary was copied.
        let _ = unsafe { sys::cuLinkDestroy(self.0) }.result();
    }
}

/// PTX as a binary for the chip of this context.
fn linked(context: &Arc<Context>, text: &str) -> Result<Vec<u8>, Error> {
    let text = CString::new(text).map_err(|_| Error::Internal("A kernel with a NUL.".into()))?;
    let name: &CStr = c"steps";
    context.bind()?;
    let mut state = ptr::null_mut();
    // SAFETY: there are no options.
    unsafe { sys::cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &mut state) }
        .result()
        .map_err(failed("cuLinkCreate"))?;
    let link = Link(state);
    let bytes = text.as_bytes_with_nul();
    let ptx = sys::CUjitInputType::CU_JIT_INPUT_PTX;
    // SAFETY: it is PTX that ends in NUL, which the driver only reads.
    unsafe {
        let data = bytes.as_ptr().cast_mut().cast::<c_void>();
        sys::cuLinkAddData_v2(link.0, ptx, data, bytes.len(), name.as_ptr(), 0, ptr::null_mut(), ptr::null_mut())
    }
    .result()
    .map_err(failed("cuLinkAddData"))?;
    let (mut binary, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the state is the driver's.
    unsafe { sys::cuLinkComplete(link.0, &mut binary, &mut size) }.result().map_err(failed("cuLinkComplete"))?;
    // SAFETY: so many bytes are there until the state is destroyed.
    Ok(unsafe { std::slice::from_raw_parts(binary.cast::<u8>(), size) }.to_vec())
}
