//! A loaded module, and its kernels.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::{result, sys};

use crate::cuda::driver::context::{Context, DriverHandle};
use crate::cuda::driver::error::failed;
use crate::stencil::Error;

/// A module in a context, unloaded when no longer used.
#[derive(Debug)]
pub(super) struct LoadedModule {
    pub(super) handle: DriverHandle<sys::CUmod_st>,
    context: Arc<Context>,
}

impl LoadedModule {
    /// Loads a binary, or PTX that ends in NUL: the driver compiles that for its chip and caches it for the next
    /// process.
    pub(super) fn new(context: &Arc<Context>, image: &[u8]) -> Result<Arc<LoadedModule>, Error> {
        context.bind()?;
        // SAFETY: the driver reads either as far as it goes.
        let handle = unsafe { result::module::load_data(image.as_ptr().cast::<c_void>()) }
            .map_err(failed("cuModuleLoadData"))?;
        Ok(Arc::new(LoadedModule { handle: DriverHandle(handle), context: context.clone() }))
    }
}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        // After a call that ended early, by a panic say, a kernel of it may still be at work on any stream. An error of
        // it has been reported.
        if let Some(_host) = self.context.enter_to_free() {
            let _ = result::ctx::synchronize();
            // SAFETY: it was loaded in `load`; its kernels have been waited for, and each `Function` that could launch
            // one held this.
            let _ = unsafe { result::module::unload(self.handle.0) };
        }
    }
}

/// A kernel. It keeps its module loaded.
#[derive(Debug, Clone)]
pub(crate) struct Function(Arc<LoadedFunction>);

#[derive(Debug)]
struct LoadedFunction {
    handle: DriverHandle<sys::CUfunc_st>,
    _module: Arc<LoadedModule>,
}

impl Function {
    /// Returns the kernel of this name in a module.
    pub(super) fn new(module: &Arc<LoadedModule>, name: CString) -> Result<Function, Error> {
        // SAFETY: the module is loaded.
        let handle =
            unsafe { result::module::get_function(module.handle.0, name) }.map_err(failed("cuModuleGetFunction"))?;
        Ok(Function(Arc::new(LoadedFunction { handle: DriverHandle(handle), _module: module.clone() })))
    }

    /// Returns the driver's handle, valid while `self` lives.
    pub(crate) fn handle(&self) -> sys::CUfunction {
        self.0.handle.0
    }

    /// Lets its launches ask for `bytes` bytes of shared memory, more than every chip has: see `Shape::prepared`.
    pub(crate) fn allow_shared(&self, bytes: usize) -> Result<(), Error> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let value = counter(bytes, "bytes of shared memory")?;
        // SAFETY: its module is loaded.
        unsafe { result::function::set_function_attribute(self.handle(), attribute, value) }
            .map_err(failed("cuFuncSetAttribute"))
    }
}

/// Converts a number to a kernel's type of integer.
///
/// # Errors
/// [`Error::Internal`] if it is too large; `what` names the counted things.
pub(crate) fn counter<T: TryFrom<usize>>(number: usize, what: &str) -> Result<T, Error> {
    T::try_from(number).map_err(|_| Error::Internal(format!("{number} {what}: more than a kernel can count")))
}
