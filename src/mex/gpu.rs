//! MATLAB's arrays on the GPU, `gpuArray`, through their C interface (`gpu/mxGPUArray.h`).
//!
//! # Rationale
//! The interface is in a library of its own, which only MATLAB's Parallel Computing Toolbox needs. So it is looked up
//! once a call has such an array; other hosts do without it.
//!
//! MATLAB has finished its own work on an array when it returns its address, and expects that of code that returns one.
//! Arrays are accessed through a wrapper, which must be destroyed before the call is over in any way.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;

use super::class::Class;
use super::sys::{self, mxArray};
use super::{Error, symbols};
use crate::platform::memory::{self, OutOfMemory};

/// Class name.
pub(super) const CLASS: &str = "gpuArray";

/// Return value of functions on success.
const SUCCESS: c_int = 0;

/// Option to leave the memory of a new array uninitialised.
const DO_NOT_INITIALIZE: c_uint = 0;

/// MATLAB's wrapper.
#[repr(C)]
struct MxGpuArray {
    _private: [u8; 0],
}

type Size = usize;

/// Defines a table of functions from their names and types, with their look-up.
macro_rules! interface {
    ($($field:ident = $name:literal: fn($($type:ty),*) $(-> $result:ty)?;)*) => {
        /// Functions of the interface.
        #[derive(Debug)]
        struct Interface {
            $($field: unsafe extern "C-unwind" fn($($type),*) $(-> $result)?,)*
            /// Only in newer versions.
            is_sparse: Option<unsafe extern "C-unwind" fn(*const MxGpuArray) -> c_int>,
        }

        impl Interface {
            /// Looks them up. The error is the name of the first missing one.
            fn load() -> Result<Interface, &'static str> {
                Ok(Interface {
                    $($field: {
                        let address = symbols::find_for_gpu($name).ok_or($name)?;
                        // SAFETY: under this name MATLAB has a function of this type.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C-unwind" fn($($type),*) $(-> $result)?,
                            >(address)
                        }
                    },)*
                    is_sparse: symbols::find_for_gpu("mxGPUIsSparse").map(|address| {
                        // SAFETY: as above.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C-unwind" fn(*const MxGpuArray) -> c_int,
                            >(address)
                        }
                    }),
                })
            }
        }
    };
}

interface! {
    init = "mxInitGPU": fn() -> c_int;
    is_gpu_array = "mxIsGPUArray": fn(*const mxArray) -> c_int;
    is_valid = "mxGPUIsValidGPUData": fn(*const mxArray) -> c_int;
    wrap = "mxGPUCreateFromMxArray": fn(*const mxArray) -> *const MxGpuArray;
    create = "mxGPUCreateGPUArray":
        fn(Size, *const Size, sys::mxClassID, sys::mxComplexity, c_uint) -> *mut MxGpuArray;
    class = "mxGPUGetClassID": fn(*const MxGpuArray) -> sys::mxClassID;
    complexity = "mxGPUGetComplexity": fn(*const MxGpuArray) -> sys::mxComplexity;
    dimension_count = "mxGPUGetNumberOfDimensions": fn(*const MxGpuArray) -> Size;
    dimensions = "mxGPUGetDimensions": fn(*const MxGpuArray) -> *const Size;
    data_read_only = "mxGPUGetDataReadOnly": fn(*const MxGpuArray) -> *const c_void;
    data = "mxGPUGetData": fn(*mut MxGpuArray) -> *mut c_void;
    hand_over = "mxGPUCreateMxArrayOnGPU": fn(*const MxGpuArray) -> *mut mxArray;
    destroy = "mxGPUDestroyGPUArray": fn(*const MxGpuArray);
    free = "mxFree": fn(*mut c_void);
}

/// Returns the interface, ready for use.
///
/// # Errors
/// `gpuArray`, if the host has no complete interface, or no device for it.
fn interface() -> Result<&'static Interface, Error> {
    static INTERFACE: OnceLock<Interface> = OnceLock::new();
    let interface = match INTERFACE.get() {
        Some(interface) => interface,
        // Missing functions may be loaded later.
        None => {
            let found = Interface::load()
                .map_err(|name| unusable(format!("MATLAB's interface for them was not found: it has no {name}")))?;
            INTERFACE.get_or_init(|| found)
        }
    };
    // SAFETY: on the host's thread, in a call.
    if unsafe { (interface.init)() } == SUCCESS {
        Ok(interface)
    } else {
        Err(unusable("MATLAB could not begin to use the GPU".into()))
    }
}

fn unusable(reason: String) -> Error {
    Error::new(CLASS_ERROR, format!("gpuArrays cannot be used here: {reason}. gather the array and pass that."))
}

/// Kind of these errors.
const CLASS_ERROR: &str = "gpuArray";

/// A wrapper, destroyed when this is dropped: on the host's thread, outside `catch_unwind`, even while an error of the
/// host's unwinds.
#[derive(Debug)]
struct Wrapper {
    raw: *const MxGpuArray,
    interface: &'static Interface,
}

impl Drop for Wrapper {
    fn drop(&mut self) {
        // SAFETY: it was made for us, and is not used any more.
        unsafe { (self.interface.destroy)(self.raw) };
    }
}

/// Memory from the host that we must free.
struct Block(*const Size, &'static Interface);

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: a block of the host's, with no other owner.
        unsafe { (self.1.free)(self.0.cast_mut().cast()) };
    }
}

/// An input on a GPU, with its properties in the host.
#[derive(Debug)]
pub struct OnGpu {
    pub(super) class: Class,
    pub(super) complex: bool,
    pub(super) sparse: bool,
    pub(super) dims: Vec<usize>,
    pub(super) address: u64,
    /// Keeps the data alive.
    _wrapper: Wrapper,
}

impl OnGpu {
    /// Class.
    pub fn class(&self) -> Class {
        self.class
    }

    /// True if it has imaginary parts.
    pub fn is_complex(&self) -> bool {
        self.complex
    }

    /// True if it is sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// Dimensions.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Address of the elements of a real, full array of class double or single, in column-major order, valid during the
    /// call; 0 if it is empty, and for any other array.
    pub fn address(&self) -> u64 {
        self.address
    }
}

/// Reads an input of class gpuArray; `None` for an array of another class of that name.
///
/// # Errors
/// In the outer result [`OutOfMemory`]; in the inner one `gpuArray`, if its properties are unknown.
///
/// # Safety
/// `array` must be one of the inputs of the running call, and the value must not outlive that call.
pub(super) unsafe fn read(array: *const mxArray) -> Result<Option<Result<OnGpu, Error>>, OutOfMemory> {
    let interface = match interface() {
        Ok(interface) => interface,
        Err(error) => return Ok(Some(Err(error))),
    };
    // SAFETY: `array` is an array of the host for as long as the call runs, and these only look at it.
    let (is_gpu_array, is_valid) = unsafe { ((interface.is_gpu_array)(array) != 0, (interface.is_valid)(array) != 0) };
    if !is_gpu_array {
        return Ok(None);
    }
    if !is_valid {
        let text = "The data of a gpuArray are gone, since its GPU was reset or another was selected: make it anew.";
        return Ok(Some(Err(Error::new(CLASS_ERROR, text))));
    }
    // SAFETY: as above; the new wrapper is destroyed by its owner.
    let raw = unsafe { (interface.wrap)(array) };
    if raw.is_null() {
        return Ok(Some(Err(unusable("MATLAB does not open the array".into()))));
    }
    let wrapper = Wrapper { raw, interface };
    // SAFETY: the wrapper is alive, here and below.
    let (class, complex) = unsafe { (Class::of((interface.class)(raw)), (interface.complexity)(raw) != sys::mxREAL) };
    // SAFETY: as above.
    let sparse = interface.is_sparse.is_some_and(|is_sparse| unsafe { is_sparse(raw) } != 0);
    // SAFETY: as above.
    let dims = unsafe { dims(interface, raw) }?;
    let plain = matches!(class, Class::Double | Class::Single) && !complex && !sparse;
    let address = if plain && !dims.contains(&0) {
        // SAFETY: as above.
        unsafe { (interface.data_read_only)(raw) }.expose_provenance() as u64
    } else {
        0
    };
    Ok(Some(Ok(OnGpu { class, complex, sparse, dims, address, _wrapper: wrapper })))
}

/// Reads the dimensions of an array.
///
/// # Errors
/// [`OutOfMemory`].
///
/// # Safety
/// The wrapper must be alive.
unsafe fn dims(interface: &'static Interface, raw: *const MxGpuArray) -> Result<Vec<usize>, OutOfMemory> {
    // SAFETY: the host returns as many dimensions as it says, in a block that we then own.
    unsafe {
        let count = (interface.dimension_count)(raw);
        let block = Block((interface.dimensions)(raw), interface);
        let mut dims = memory::with_room(count, "dimensions")?;
        if !block.0.is_null() {
            dims.extend_from_slice(std::slice::from_raw_parts(block.0, count));
        }
        Ok(dims)
    }
}

/// An output on the GPU, not yet returned to the host.
pub(super) struct Made {
    wrapper: Wrapper,
    /// Address of its elements; 0 if there are none.
    pub(super) address: u64,
}

impl Made {
    /// Makes a real array on the GPU that the host has selected, with uninitialised elements. The host raises an error
    /// itself if that has no memory for it.
    ///
    /// # Errors
    /// `gpuArray`.
    pub(super) fn new(single: bool, dims: &[usize]) -> Result<Made, Error> {
        let interface = interface()?;
        let class = if single { sys::mxSINGLE_CLASS } else { sys::mxDOUBLE_CLASS };
        // SAFETY: as many dimensions as said; the new wrapper is destroyed by its owner.
        let raw =
            unsafe { (interface.create)(dims.len(), dims.as_ptr(), class as _, sys::mxREAL as _, DO_NOT_INITIALIZE) };
        if raw.is_null() {
            return Err(Error::new("outOfMemory", "MATLAB has no memory on the GPU for the result."));
        }
        let wrapper = Wrapper { raw, interface };
        let address = if dims.contains(&0) {
            0
        } else {
            // SAFETY: the wrapper is alive, and the array was made a line ago and is unshared.
            unsafe { (interface.data)(raw) }.expose_provenance() as u64
        };
        Ok(Made { wrapper, address })
    }

    /// Converts it to the host's array.
    ///
    /// # Errors
    /// `gpuArray`.
    pub(super) fn into_array(self) -> Result<*mut mxArray, Error> {
        // SAFETY: the wrapper is alive; the array keeps references to all that it needs.
        let array = unsafe { (self.wrapper.interface.hand_over)(self.wrapper.raw) };
        if array.is_null() { Err(unusable("MATLAB does not take the result".into())) } else { Ok(array) }
    }
}
