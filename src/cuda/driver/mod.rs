//! The driver and its devices, queried once.

pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod memory;

use std::sync::OnceLock;

use cudarc::driver::result::{self, device};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};

use crate::stencil::Error;
use error::failed;

/// Minimum driver for our PTX: CUDA 12.0, which came with 525.
const OLDEST_DRIVER: i32 = 12_000;

/// Minimum compute capability for it: Pascal.
const OLDEST_CAPABILITY: (i32, i32) = (6, 0);

/// A working driver and its devices, usable or not.
#[derive(Debug, Clone)]
pub struct Driver {
    /// CUDA version that the driver supports, in its own form: 13000 for 13.0.
    pub version: i32,
    /// At least one; for a device that does not answer, the reason.
    pub devices: Vec<Result<Properties, String>>,
}

/// Properties of a device.
#[derive(Debug, Clone)]
pub struct Properties {
    /// The vendor's name for it.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    /// Device memory in bytes.
    pub total_memory: usize,
    /// Streaming multiprocessors.
    pub multiprocessors: i32,
    /// Maximum number of threads in a block.
    pub threads_per_block: i32,
    /// Shared memory that a block has without asking for more, in bytes.
    pub shared_memory_per_block: i32,
    /// Threads in a warp.
    pub warp_size: i32,
    /// The highest clock of the multiprocessors in kHz.
    pub clock_khz: i32,
    /// Constant memory in bytes.
    pub constant_memory: i32,
    /// Second-level cache in bytes.
    pub l2_cache: i32,
}

impl Driver {
    /// Returns the driver, or a sentence that says why it cannot be used. The result is kept: a driver does not come or
    /// go while a process lives.
    pub fn get() -> Result<&'static Driver, &'static str> {
        static DRIVER: OnceLock<(u32, Result<Driver, String>)> = OnceLock::new();
        let (process, driver) = DRIVER.get_or_init(|| (crate::platform::process::id(), Driver::ask()));
        if driver.is_ok() && *process != crate::platform::process::id() {
            return Err("CUDA cannot be used in a process that was forked after CUDA was first asked for.");
        }
        driver.as_ref().map_err(String::as_str)
    }

    fn ask() -> Result<Driver, String> {
        // SAFETY: it only tries to load the library. Without it, everything below would panic.
        if !unsafe { sys::is_culib_present() } {
            return Err("There is no NVIDIA driver: libcuda.so was not found.".into());
        }
        let mut version = 0;
        // SAFETY: the address is that of an int. This call needs no cuInit.
        unsafe { sys::cuDriverGetVersion(&mut version) }
            .result()
            .map_err(|error| failed("cuDriverGetVersion")(error).to_string())?;
        if version < OLDEST_DRIVER {
            return Err(format!(
                "The NVIDIA driver is too old: it supports CUDA {}, and 12.0 is needed (driver 525 or newer).",
                dotted(version)
            ));
        }
        result::init().map_err(|error| format!("The NVIDIA driver shows no GPU: {}", failed("cuInit")(error)))?;
        let count = device::get_count().map_err(|error| failed("cuDeviceGetCount")(error).to_string())?;
        let devices: Vec<_> =
            (0..count).map(|ordinal| Properties::ask(ordinal).map_err(|error| error.to_string())).collect();
        if devices.is_empty() {
            return Err("The NVIDIA driver shows no GPU.".into());
        }
        Ok(Driver { version, devices })
    }

    /// Returns the ordinal of the device to use: the requested one, or the first that can be used.
    pub fn select(&self, wanted: Option<usize>) -> Result<usize, Error> {
        match wanted {
            Some(ordinal) => {
                let Some(device) = self.devices.get(ordinal) else {
                    return Err(Error::NoDevice(format!(
                        "There is no device {}: the driver shows {}.",
                        ordinal + 1,
                        self.devices.len()
                    )));
                };
                usable(device).map_err(Error::NoDevice).map(|()| ordinal)
            }
            None => {
                let first = self.devices.iter().position(|device| usable(device).is_ok());
                first.ok_or_else(|| Error::NoDevice(usable(&self.devices[0]).expect_err("the first is not usable")))
            }
        }
    }
}

impl Properties {
    fn ask(ordinal: i32) -> Result<Properties, Error> {
        let handle = device::get(ordinal).map_err(failed("cuDeviceGet"))?;
        // SAFETY: the handle is from the driver.
        let attribute =
            |attribute| unsafe { device::get_attribute(handle, attribute) }.map_err(failed("cuDeviceGetAttribute"));
        Ok(Properties {
            name: device::get_name(handle).map_err(failed("cuDeviceGetName"))?,
            capability: (
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            // SAFETY: the handle is from the driver.
            total_memory: unsafe { device::total_mem(handle) }.map_err(failed("cuDeviceTotalMem"))?,
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            threads_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_memory_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            warp_size: attribute(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            clock_khz: attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
            constant_memory: attribute(Attribute::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY)?,
            l2_cache: attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        })
    }
}

/// Checks that our kernels run on a device; the error says why not.
fn usable(device: &Result<Properties, String>) -> Result<(), String> {
    let device = device.as_ref().map_err(String::clone)?;
    if device.capability < OLDEST_CAPABILITY {
        let (major, minor) = device.capability;
        return Err(format!(
            "{} has compute capability {major}.{minor}, and 6.0 (Pascal) or newer is needed.",
            device.name
        ));
    }
    Ok(())
}

/// Returns a version with a dot: 12.0 for 12000.
pub fn dotted(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(capability: (i32, i32)) -> Result<Properties, String> {
        Ok(Properties {
            name: "GPU".into(),
            capability,
            total_memory: 0,
            multiprocessors: 0,
            threads_per_block: 0,
            shared_memory_per_block: 0,
            warp_size: 0,
            clock_khz: 0,
            constant_memory: 0,
            l2_cache: 0,
        })
    }

    #[test]
    fn the_first_usable_device_is_taken_and_a_named_one_is_never_replaced() {
        let driver = Driver {
            version: 12_040,
            devices: vec![device((5, 2)), device((9, 0)), Err("cuDeviceGet: broken".into())],
        };
        assert_eq!(driver.select(None), Ok(1));
        assert_eq!(driver.select(Some(2)), Err(Error::NoDevice("cuDeviceGet: broken".into())));
        assert_eq!(driver.select(Some(1)), Ok(1));
        assert!(matches!(driver.select(Some(0)), Err(Error::NoDevice(text)) if text.contains("5.2")));
        assert!(matches!(driver.select(Some(3)), Err(Error::NoDevice(text)) if text.contains("no device 4")));
        let old = Driver { version: 12_040, devices: vec![device((3, 7))] };
        assert!(matches!(old.select(None), Err(Error::NoDevice(_))));
        assert_eq!(dotted(12_040), "12.4");
    }
}
