//! The kernels: PTX inside the library, loaded a module at a time.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

use cudarc::driver::{CudaContext, DeviceRepr, result, sys};

use super::error::failed;
use crate::stencil::Error;

include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// A loaded module, and what is known of what is in it.
pub(super) struct Module {
    handle: sys::CUmodule,
    context: Arc<CudaContext>,
    functions: BTreeMap<&'static CStr, sys::CUfunction>,
    symbols: BTreeMap<&'static CStr, Symbol>,
    constants: BTreeMap<&'static CStr, u32>,
}

// SAFETY: handles of the driver may be used on any thread.
unsafe impl Send for Module {}

/// A symbol, and what was last copied to it.
struct Symbol {
    address: sys::CUdeviceptr,
    bytes: usize,
    contents: Vec<u8>,
}

impl Module {
    /// Loads the image `name`. The driver compiles it for its chip, and keeps that for the next process.
    pub(super) fn load(context: &Arc<CudaContext>, name: &str) -> Result<Module, Error> {
        let image = IMAGES.iter().find(|(image, _)| *image == name);
        let (_, ptx) = image.ok_or_else(|| Error::Internal(format!("There is no kernel image {name}.")))?;
        context.bind_to_thread().map_err(failed("cuCtxSetCurrent"))?;
        // SAFETY: the image is PTX that ends in NUL.
        let handle = unsafe { result::module::load_data(ptx.as_ptr().cast::<c_void>()) }.map_err(failed("cuModuleLoadData"))?;
        Ok(Module { handle, context: context.clone(), functions: BTreeMap::new(), symbols: BTreeMap::new(), constants: BTreeMap::new() })
    }

    /// A kernel, by name.
    pub(super) fn function(&mut self, name: &'static CStr) -> Result<sys::CUfunction, Error> {
        if let Some(&function) = self.functions.get(name) {
            return Ok(function);
        }
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(self.handle, name.to_owned()) }.map_err(failed("cuModuleGetFunction"))?;
        self.functions.insert(name, function);
        Ok(function)
    }

    /// Copies `contents` to the beginning of the symbol `name`, in constant or in global memory, unless that is what it holds already. No kernel that reads it may be at
    /// work. The copy is done when this returns.
    pub(super) fn set_symbol(&mut self, stream: sys::CUstream, name: &'static CStr, contents: &[u8]) -> Result<(), Error> {
        if !self.symbols.contains_key(name) {
            let (address, bytes) = self.global(name)?;
            self.symbols.insert(name, Symbol { address, bytes, contents: Vec::new() });
        }
        let symbol = self.symbols.get_mut(name).expect("it was inserted");
        if symbol.contents == contents {
            return Ok(());
        }
        if contents.len() > symbol.bytes {
            return Err(Error::Internal(format!("{name:?} has {} bytes, and {} were to be copied.", symbol.bytes, contents.len())));
        }
        // Forgotten first: if the copy fails, nobody may believe what was there before.
        symbol.contents.clear();
        // The synchronous copy would not do: it returns when the bytes are on their way, and other streams do not wait for it.
        // SAFETY: the symbol has room for it, and `contents` stays until the stream has been waited for.
        unsafe { result::memcpy_htod_async(symbol.address, contents, stream) }.map_err(failed("cuMemcpyHtoDAsync"))?;
        // SAFETY: the stream is open.
        unsafe { result::stream::synchronize(stream) }.map_err(failed("cuStreamSynchronize"))?;
        symbol.contents.extend_from_slice(contents);
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

    fn global(&self, name: &CStr) -> Result<(sys::CUdeviceptr, usize), Error> {
        // SAFETY: the module is loaded.
        unsafe { result::module::get_global(self.handle, name.to_owned()) }.map_err(failed("cuModuleGetGlobal"))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        self.context.record_err(self.context.bind_to_thread());
        // SAFETY: it was loaded in `load`, and its kernels have been waited for.
        self.context.record_err(unsafe { result::module::unload(self.handle) });
    }
}

/// Numbers as the bytes that they are.
pub(super) fn bytes_of<T: DeviceRepr>(values: &[T]) -> &[u8] {
    // SAFETY: what may be sent to a device is plain numbers, without padding in those that are sent here, and any byte is a u8.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}
