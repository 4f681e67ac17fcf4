//! The kernels: PTX inside the library, loaded a module at a time.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

use bytemuck::NoUninit;
use cudarc::driver::{result, sys};

use super::context::{Context, Handle};
use super::error::failed;
use super::images;
use super::pace::SharedPace;
use crate::stencil::Error;

/// An image in a context, until nobody needs it any more.
#[derive(Debug)]
struct Loaded {
    handle: Handle<sys::CUmod_st>,
    context: Arc<Context>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // A call that ended early, by a panic say, may have left a kernel of it at work, on whatever stream. If that
        // went wrong, it was told.
        let _ = self.context.bind();
        let _ = result::ctx::synchronize();
        // SAFETY: it was loaded in `load`; its kernels have been waited for, and each `Function` that could launch one
        // held this.
        let _ = unsafe { result::module::unload(self.handle.0) };
    }
}

/// A kernel. Its module stays loaded as long as this is there.
#[derive(Debug, Clone)]
pub(super) struct Function(Arc<Kernel>);

#[derive(Debug)]
struct Kernel {
    handle: Handle<sys::CUfunc_st>,
    _module: Arc<Loaded>,
}

impl Function {
    /// The driver's name for it, good while `self` is there.
    pub(super) fn handle(&self) -> sys::CUfunction {
        self.0.handle.0
    }
}

/// A loaded module, and what is known of what is in it.
pub(super) struct Module {
    loaded: Arc<Loaded>,
    functions: BTreeMap<&'static CStr, Function>,
    symbols: BTreeMap<&'static CStr, Symbol>,
    constants: BTreeMap<&'static CStr, u32>,
    pace: Option<SharedPace>,
}

/// A symbol, and what was last copied to it.
struct Symbol {
    address: sys::CUdeviceptr,
    bytes: usize,
    contents: Vec<u8>,
}

impl Module {
    /// Loads the image `name`. The driver compiles it for its chip, and keeps that for the next process.
    pub(super) fn load(context: &Arc<Context>, name: &str) -> Result<Module, Error> {
        let ptx = images::ptx(name)?;
        context.bind()?;
        // SAFETY: the image is PTX that ends in NUL.
        let handle =
            unsafe { result::module::load_data(ptx.as_ptr().cast::<c_void>()) }.map_err(failed("cuModuleLoadData"))?;
        let loaded = Arc::new(Loaded { handle: Handle(handle), context: context.clone() });
        Ok(Module {
            loaded,
            functions: BTreeMap::new(),
            symbols: BTreeMap::new(),
            constants: BTreeMap::new(),
            pace: None,
        })
    }

    /// A kernel, by name.
    pub(super) fn function(&mut self, name: &'static CStr) -> Result<Function, Error> {
        if let Some(function) = self.functions.get(name) {
            return Ok(function.clone());
        }
        // SAFETY: the module is loaded.
        let handle = unsafe { result::module::get_function(self.loaded.handle.0, name.to_owned()) }
            .map_err(failed("cuModuleGetFunction"))?;
        let function = Function(Arc::new(Kernel { handle: Handle(handle), _module: self.loaded.clone() }));
        self.functions.insert(name, function.clone());
        Ok(function)
    }

    /// Copies `values` to the beginning of the symbol `name`, in constant or in global memory, unless that is what it
    /// holds already. No kernel that reads it may be at work. The copy is done when this returns.
    pub(super) fn set_symbol<T: NoUninit>(
        &mut self,
        stream: sys::CUstream,
        name: &'static CStr,
        values: &[T],
    ) -> Result<(), Error> {
        let values: &[u8] = bytemuck::cast_slice(values);
        if !self.symbols.contains_key(name) {
            let (address, bytes) = self.global(name)?;
            self.symbols.insert(name, Symbol { address, bytes, contents: Vec::new() });
        }
        let symbol = self.symbols.get_mut(name).expect("it was inserted");
        if symbol.contents == values {
            return Ok(());
        }
        if values.len() > symbol.bytes {
            return Err(Error::Internal(format!(
                "{name:?} has {} bytes, and {} were to be copied.",
                symbol.bytes,
                values.len()
            )));
        }
        // Forgotten first: if the copy fails, nobody may believe what was there before.
        symbol.contents.clear();
        let source = values.to_vec();
        // The synchronous copy would not do: it returns when the bytes are on their way, and other streams do not wait
        // for it. SAFETY: the symbol has room for it, and `source` is there until the stream has been waited for.
        let sent =
            unsafe { result::memcpy_htod_async(symbol.address, &source, stream) }.map_err(failed("cuMemcpyHtoDAsync"));
        match sent.and_then(|()| wait(stream)) {
            Ok(()) => symbol.contents = source,
            Err(error) => {
                // Nobody knows whether it is still read: it stays for ever.
                std::mem::forget(source);
                return Err(error);
            }
        }
        Ok(())
    }

    /// The value of an unsigned constant in which the module tells something about itself.
    pub(super) fn constant(&mut self, name: &'static CStr) -> Result<u32, Error> {
        if let Some(&value) = self.constants.get(name) {
            return Ok(value);
        }
        let (address, bytes) = self.global(name)?;
        let mut value = [0_u32];
        if bytes != size_of_val(&value) {
            return Err(Error::Internal(format!("{name:?} has {bytes} bytes, not 4.")));
        }
        // SAFETY: as many bytes are there.
        unsafe { result::memcpy_dtoh_sync(&mut value, address) }.map_err(failed("cuMemcpyDtoH"))?;
        self.constants.insert(name, value[0]);
        Ok(value[0])
    }

    /// How much of its work the device does in time, as far as calls have learnt; `first` where none has.
    pub(super) fn pace(&mut self, first: impl FnOnce() -> SharedPace) -> SharedPace {
        self.pace.get_or_insert_with(first).clone()
    }

    fn global(&self, name: &CStr) -> Result<(sys::CUdeviceptr, usize), Error> {
        // SAFETY: the module is loaded.
        unsafe { result::module::get_global(self.loaded.handle.0, name.to_owned()) }
            .map_err(failed("cuModuleGetGlobal"))
    }
}

/// Waits for all that was put on the stream.
pub(super) fn wait(stream: sys::CUstream) -> Result<(), Error> {
    // SAFETY: the stream is open.
    unsafe { result::stream::synchronize(stream) }.map_err(failed("cuStreamSynchronize"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans that hold kernels go to the threads of the lanes.
    #[test]
    fn kernels_may_be_launched_on_any_thread() {
        fn shared<T: Send + Sync>() {}
        shared::<Function>();
        shared::<super::super::lines::LinesPlan>();
        shared::<super::super::sweeps::SweepsPlan>();
        shared::<super::super::convolution::ConvolutionPlan>();
    }
}
