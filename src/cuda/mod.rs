//! The CUDA engine.
//!
//! It needs a driver and nothing else: the library of the driver is loaded when first asked for, and the kernels are PTX inside this library.
//!
//! What is kept between calls, in [`device`]: the device's primary context, retained; a module for each tap count that was used; the taps in
//! it; and the buffers and streams of [`staging`]. [`release`] gives it all back. No call resets a device or leaves another context current than
//! it found: the host and its other extensions may use the same GPU.

mod device;
mod driver;
mod error;
pub mod measure;
mod memory;
mod module;
mod staging;
mod stencil;
pub mod study;

pub use driver::{Driver, Properties, dotted};

use crate::stencil::{Engine, Error, Request};

/// The engine on one device.
#[derive(Debug, Clone, Copy)]
pub struct Cuda {
    ordinal: usize,
    device_bytes: usize,
}

impl Cuda {
    /// The engine on the device that is asked for (its ordinal, from 0), or on the first that can be used; its context is opened now.
    ///
    /// The bound on device memory is `STENCIL_DEVICE_BYTES`, where the environment has it.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where there is no driver, none new enough, or no such device; what the driver says if it refuses a context.
    pub fn open(wanted: Option<usize>) -> Result<Cuda, Error> {
        let ordinal = Cuda::find(wanted)?;
        device::with(ordinal, |_| Ok(()))?;
        Ok(Cuda { ordinal, device_bytes: device_bytes() })
    }

    /// The ordinal of the device that [`Cuda::open`] would use. The device is not touched.
    ///
    /// # Errors
    /// [`Error::NoDevice`], as for `open`.
    pub fn find(wanted: Option<usize>) -> Result<usize, Error> {
        Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?.select(wanted)
    }

    /// The same with another bound on device memory, in bytes. One tile is used even if that is more.
    pub fn with_device_bytes(self, device_bytes: usize) -> Cuda {
        Cuda { device_bytes, ..self }
    }

    /// The device's ordinal, from 0.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The device memory that is free now, in bytes.
    pub fn free_memory(&self) -> Result<usize, Error> {
        device::with(self.ordinal, |device| device.context.mem_get_info().map(|(free, _)| free).map_err(error::failed("cuMemGetInfo")))
    }
}

impl Engine for Cuda {
    fn name(&self) -> &str {
        "cuda"
    }

    fn stencil(&self, request: &Request, output: &mut [f64]) -> Result<(), Error> {
        assert_eq!(output.len(), request.input().len());
        device::with(self.ordinal, |device| stencil::run(device, request, output, self.device_bytes))
    }
}

impl<T: crate::stencil::Real> crate::stencil::Compute<T> for Cuda {
    fn derivative(&self, _: &crate::stencil::Derivative<T>, _: &mut [T]) -> Result<(), Error> {
        unimplemented!()
    }
    fn convolution(&self, _: &crate::stencil::Convolution<T>, _: &mut [T]) -> Result<(), Error> {
        unimplemented!()
    }
}

/// The bound on device memory that the environment asks for, in bytes, or the default.
pub fn device_bytes() -> usize {
    let wanted = std::env::var("STENCIL_DEVICE_BYTES").ok();
    wanted.and_then(|text| text.trim().parse().ok()).unwrap_or(staging::DEFAULT_DEVICE_BYTES)
}

/// Gives back everything that is held of any device. The next call opens what it needs again.
pub fn release() {
    device::release();
}
