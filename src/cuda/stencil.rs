//! The stencil on the device: its module, its taps, its launches.

use std::ffi::c_void;

use cudarc::driver::{DeviceRepr, result, sys};

use super::device::Device;
use super::error::failed;
use super::staging::{Piece, Plan};
use crate::stencil::{Error, Lines, MAX_TAPS, Request, Taps};

/// The images of `cuda/stencil.cu`, for 1, 3, .. 21 taps.
const IMAGES: [&str; MAX_TAPS.div_ceil(2)] = [
    "stencil_01",
    "stencil_03",
    "stencil_05",
    "stencil_07",
    "stencil_09",
    "stencil_11",
    "stencil_13",
    "stencil_15",
    "stencil_17",
    "stencil_19",
    "stencil_21",
];

/// The argument of the kernel: `struct Piece` of `cuda/stencil.cu`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument {
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    count: u64,
    before: u64,
    after: u64,
    line: u64,
    phase: u64,
    one_line: u32,
}

// SAFETY: plain numbers in the layout of C.
unsafe impl DeviceRepr for Argument {}

/// A stencil whose module is loaded and holds its taps.
pub(super) struct Stencil {
    function: sys::CUfunction,
    threads: u32,
    tile: usize,
    lines: Lines,
    radius: usize,
}

// SAFETY: handles of the driver may be used on any thread.
unsafe impl Sync for Stencil {}

impl Stencil {
    /// Loads the module for as many taps, if it was not, and copies the taps, if they are others than last time.
    pub(super) fn prepare(device: &mut Device, lines: Lines, taps: &Taps) -> Result<Stencil, Error> {
        let image = IMAGES[taps.radius()];
        let stream = device.stream.cu_stream();
        let module = device.module(image)?;
        // Only the taps in use travel; the rest of the 21 entries is never read by this module.
        let bytes: Vec<u8> = taps.as_slice().iter().flat_map(|tap| tap.to_ne_bytes()).collect();
        module.set_constant(stream, c"kernelTaps", &bytes)?;
        Ok(Stencil {
            function: module.function(c"Stencil_ConstantMemory")?,
            threads: module.constant(c"stencil_threads")?,
            tile: module.constant(c"stencil_tile")? as usize,
            lines,
            radius: taps.radius(),
        })
    }
}

impl Plan for Stencil {
    fn tile(&self) -> usize {
        self.tile
    }

    fn halo(&self) -> usize {
        self.radius
    }

    fn launch(&self, stream: sys::CUstream, piece: &Piece, input: sys::CUdeviceptr, output: sys::CUdeviceptr) -> Result<(), Error> {
        let count = piece.output.len();
        let mut argument = Argument {
            input,
            output,
            count: count as u64,
            before: (piece.output.start - piece.input.start) as u64,
            after: (piece.input.end - piece.output.end) as u64,
            line: self.lines.length() as u64,
            phase: (piece.output.start % self.lines.length()) as u64,
            one_line: (self.lines.count() == 1).into(),
        };
        let blocks = u32::try_from(count.div_ceil(self.tile)).map_err(|_| Error::Internal(format!("{count} outputs in one launch")))?;
        let mut arguments = [(&raw mut argument).cast::<c_void>()];
        // SAFETY: the function takes this one argument, which the launch copies. It reads the piece's inputs, and writes its outputs, at addresses
        // where the caller has as many.
        unsafe { result::launch_kernel(self.function, (blocks, 1, 1), (self.threads, 1, 1), 0, stream, &mut arguments) }
            .map_err(failed("cuLaunchKernel"))
    }
}

/// A whole request, through the device's staging.
pub(super) fn run(device: &mut Device, request: &Request, output: &mut [f64], budget: usize) -> Result<(), Error> {
    if request.input().is_empty() {
        return Ok(());
    }
    let stencil = Stencil::prepare(device, request.lines(), request.taps())?;
    device.staging.stream(&device.context, &stencil, request.input(), output, budget)
}
