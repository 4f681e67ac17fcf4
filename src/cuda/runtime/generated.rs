//! Loading of kernels that are written at run time.
//!
//! # Rationale
//! The driver takes a tenth of a second and more to compile a kernel of several steps, and the thread that loads it
//! waits for that. So another thread has the driver's linker make a binary of it, and loading that at the launch is
//! quick.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use cudarc::driver::sys;

use super::loaded::{Function, LoadedModule};
use crate::cuda::driver::context::Context;
use crate::cuda::driver::error::failed;
use crate::cuda::recent::Recent;
use crate::stencil::Error;

/// Maximum number of kernels that stay loaded.
const MAX_LOADED: usize = 256;

/// Generated kernels of a device. Dropping them waits for those that are being compiled.
#[derive(Debug)]
pub(crate) struct Generated {
    context: Arc<Context>,
    /// Kernels by their text.
    loaded: Mutex<Recent<String, Function, MAX_LOADED>>,
    compiling: Mutex<Vec<Compiling>>,
}

#[derive(Debug)]
struct Compiling {
    text: String,
    /// Its result is the binary, or the error.
    thread: Option<JoinHandle<Result<Vec<u8>, Error>>>,
}

impl Generated {
    pub(super) fn new(context: &Arc<Context>) -> Generated {
        Generated { context: context.clone(), loaded: Mutex::default(), compiling: Mutex::default() }
    }

    /// Returns the kernel `name` of a module. The driver compiles it now if it is not loaded yet.
    ///
    /// # Errors
    /// Those of the driver.
    pub(crate) fn get(&self, text: &str, name: &str) -> Result<Function, Error> {
        let ptx = || Ok(Some([text.as_bytes(), b"\0"].concat()));
        self.find(text, name, ptx)?.ok_or_else(|| Error::Internal("A kernel without a text.".into()))
    }

    /// Returns a kernel as [`Generated::get`] does, but a thread compiles it: `None` until it is ready.
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
        if let Some(function) = loaded.find(|known| known == text) {
            return Ok(Some(function.clone()));
        }
        let Some(image) = image()? else { return Ok(None) };
        let name = CString::new(name).map_err(|_| Error::Internal("A kernel with a NUL.".into()))?;
        let function = Function::new(&LoadedModule::new(&self.context, &image)?, name)?;
        Ok(Some(loaded.insert(text.to_owned(), function).clone()))
    }

    /// Returns the binary of a module once, when it is ready. The first call for it starts the thread.
    ///
    /// # Errors
    /// The driver's errors about the text; [`Error::OutOfMemory`] if no thread can be started.
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
        // The result is no longer needed.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A session of the driver's linker.
struct Link(sys::CUlinkState);

impl Drop for Link {
    fn drop(&mut self) {
        // SAFETY: it was created, and its binary was copied.
        let _ = unsafe { sys::cuLinkDestroy(self.0) }.result();
    }
}

/// Links PTX to a binary for the chip of this context.
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
    // SAFETY: that many bytes are there until the state is destroyed.
    Ok(unsafe { std::slice::from_raw_parts(binary.cast::<u8>(), size) }.to_vec())
}
