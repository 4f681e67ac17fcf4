//! `info = ConstantMemoryDevice_CUDA ()`

use crate::cpu::Level;
use crate::cuda::{self, Driver, dotted};
use crate::gateway::check_outputs;
use crate::gateway::engine::choice::Outlook;
use crate::mex::{Call, Error, Function, Output, Reply, Value, outputs_name};
use crate::platform::workers::Workers;
use crate::ranks::World;

pub(super) const FUNCTION: Function = Function { name: "ConstantMemoryDevice_CUDA", call };

/// Returns the same fields on every machine: without a device, numbers are NaN and texts are empty.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    if !call.arguments.is_empty() {
        let text = format!("Number of Inputs are Wrong: got {}, expected none.", call.arguments.len());
        return Err(Error::new("numberOfInputs", text));
    }
    check_outputs(call)?;
    // Under a launcher this process is a rank, and its rank decides on its device.
    let world = if World::is_launched() { Some(World::get()?) } else { World::there() };
    let outlook = Outlook::new()?;
    let driver = Driver::get().ok();
    let ordinal = outlook.cuda.map(|cuda| cuda.ordinal());
    // A device that cannot be used is shown, too: its owner wants to know which one it is.
    let device = driver.and_then(|driver| driver.devices[ordinal.unwrap_or(0)].as_ref().ok());
    let number = |value: Option<f64>| Value::Double(value.unwrap_or(f64::NAN));
    let text = |value: Option<String>| Value::Text(value.unwrap_or_default());
    let int = |field: fn(&cuda::Properties) -> i32| number(device.map(|device| f64::from(field(device))));

    let fields = vec![
        (c"Name", text(device.map(|device| device.name.clone()))),
        (c"Index", number(ordinal.map(|ordinal| (ordinal + 1) as f64))),
        (c"ComputeCapability", text(device.map(|device| format!("{}.{}", device.capability.0, device.capability.1)))),
        (c"DriverVersion", number(driver.and_then(|driver| dotted(driver.version).parse().ok()))),
        (c"KernelDriver", text(kernel_driver())),
        (c"TotalMemory", number(device.map(|device| device.total_memory as f64))),
        (c"AvailableMemory", number(outlook.cuda.and_then(|cuda| cuda.free_memory().ok()).map(|bytes| bytes as f64))),
        (c"MultiprocessorCount", int(|device| device.multiprocessors)),
        (c"MaxThreadsPerBlock", int(|device| device.threads_per_block)),
        (c"MaxShmemPerBlock", int(|device| device.shared_memory_per_block)),
        (c"SIMDWidth", int(|device| device.warp_size)),
        (c"ClockRateKHz", int(|device| device.clock_khz)),
        (c"ConstantMemory", int(|device| device.constant_memory)),
        (c"L2CacheSize", int(|device| device.l2_cache)),
        (c"DeviceCount", Value::Double(driver.map_or(0.0, |driver| driver.devices.len() as f64))),
        (c"DeviceSupported", Value::Logical(outlook.cuda.is_some())),
        (c"Backend", outlook.backend.into()),
        (c"BackendReason", outlook.reason.into()),
        (c"SIMD", Level::best().name().into()),
        (c"Threads", Value::Double(Workers::count() as f64)),
        (c"DeviceBytes", number(outlook.device_bytes.map(|bytes| bytes as f64))),
        (c"Outputs", outputs_name().into()),
        (c"Rank", Value::Double(world.map_or(0.0, |world| world.rank() as f64))),
        (c"Ranks", Value::Double(world.map_or(1.0, |world| world.ranks() as f64))),
        (c"Version", env!("CARGO_PKG_VERSION").into()),
        (c"Build", env!("STENCIL_BUILD").into()),
    ];
    Ok(Reply { warnings: Vec::new(), note: None, output: Output::Value(Value::Struct(fields)) })
}

/// Returns the version of the driver's kernel module, such as 580.159.04, by which people know a driver.
fn kernel_driver() -> Option<String> {
    Some(std::fs::read_to_string("/sys/module/nvidia/version").ok()?.trim().to_owned())
}
