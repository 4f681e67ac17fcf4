//! Stencils along lines on the device: their modules, their coefficients, their launches.

use bytemuck::{Pod, Zeroable};
use cudarc::driver::sys;

use super::Element;
use super::block_run::Kernel;
use super::blocks::Block;
use super::device::Device;
use super::launch::{Shape, launch};
use super::module::{Function, Module};
use super::staging::{Piece, Plan};
use crate::stencil::{Boundary, CoefficientSource, DERIVATIVE_RADIUS, Derivative, Error, Lines, MAX_TAPS, Stencil};

/// The images of `cuda/stencil.cu`, for 1, 3, .. 21 taps.
const STENCILS: [&str; MAX_TAPS.div_ceil(2)] = [
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

/// The argument of the kernels: `struct Piece` of `cuda/lines.cuh`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Argument {
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    count: u64,
    before: u64,
    after: u64,
    line: u64,
    phase: u64,
    one_line: u32,
    unused: u32,
}

/// A stencil whose module is loaded and holds its coefficients.
pub(super) struct LinesPlan {
    function: Function,
    threads: usize,
    tile: usize,
    lines: Lines,
    radius: usize,
}

impl LinesPlan {
    /// For a stencil: loads the module for as many taps, if it was not, and copies the taps, if they are others than
    /// last time.
    pub(super) fn stencil(device: &mut Device, request: &Stencil) -> Result<LinesPlan, Error> {
        let stream = device.stream.handle();
        let module = device.module(STENCILS[request.taps().radius()])?;
        // Only the taps in use travel; the rest of the 21 entries is never read by this module.
        module.set_symbol(stream, c"kernelTaps", request.taps().as_slice())?;
        let function = module.function(c"Stencil_ConstantMemory")?;
        LinesPlan::new(module, function, request.lines(), request.taps().radius())
    }

    /// For a derivative, with its coefficients in the memory that is asked for.
    pub(super) fn derivative<T: Element>(device: &mut Device, request: &Derivative<T>) -> Result<LinesPlan, Error> {
        let stream = device.stream.handle();
        let module = device.module(if T::NAME == f32::NAME { "derivative_float" } else { "derivative_double" })?;
        let (symbol, kernel) = match request.source() {
            CoefficientSource::Constant => (c"coefficients", c"stencil1DGPU"),
            CoefficientSource::ReadOnly => (c"coefficientsGlobal", c"stencil1DReadOnly"),
        };
        module.set_symbol(stream, symbol, request.coefficients())?;
        let function = module.function(kernel)?;
        LinesPlan::new(module, function, request.lines(), DERIVATIVE_RADIUS)
    }

    fn new(module: &mut Module, function: Function, lines: Lines, radius: usize) -> Result<LinesPlan, Error> {
        let threads = module.constant(c"lines_threads")? as usize;
        let tile = module.constant(c"lines_tile")? as usize;
        Ok(LinesPlan { function, threads, tile, lines, radius })
    }

    #[expect(clippy::too_many_arguments, reason = "they are those of the kernel")]
    fn submit(
        &self,
        stream: sys::CUstream,
        count: usize,
        [before, after]: [usize; 2],
        phase: usize,
        one_line: bool,
        input: sys::CUdeviceptr,
        output: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let argument = Argument {
            input,
            output,
            count: count as u64,
            before: before as u64,
            after: after as u64,
            line: self.lines.length() as u64,
            phase: phase as u64,
            one_line: one_line.into(),
            unused: 0,
        };
        let shape = Shape::row(count.div_ceil(self.tile), self.threads)?;
        // SAFETY: the kernel reads the piece's inputs, and writes its outputs, at addresses where the caller has as
        // many.
        unsafe { launch(&self.function, stream, shape, &argument) }
    }
}

/// One sweep over a stretch of one line, with its samples beyond both ends at hand.
impl<T: Element> Kernel<T> for LinesPlan {
    fn radius(&self) -> usize {
        self.radius
    }

    fn split(&self) -> bool {
        true
    }

    fn prepare(&mut self, _: &mut Device, _: Lines, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        block: &Block,
        _: Boundary<T>,
        _: usize,
        [input, output]: [sys::CUdeviceptr; 2],
        _: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<sys::CUdeviceptr, Error> {
        self.submit(stream, block.outputs(), [self.radius; 2], 0, true, input, output)?;
        Ok(output)
    }
}

impl Plan for LinesPlan {
    fn tile(&self) -> usize {
        self.tile
    }

    fn halo(&self) -> usize {
        self.radius
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        piece: &Piece,
        input: sys::CUdeviceptr,
        output: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let around = [piece.output.start - piece.input.start, piece.input.end - piece.output.end];
        self.submit(
            stream,
            piece.output.len(),
            around,
            piece.output.start % self.lines.length(),
            self.lines.count() == 1,
            input,
            output,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::launch::tests::argument_bytes;
    use super::*;

    #[test]
    fn the_kernels_take_this_argument() {
        for image in STENCILS {
            assert_eq!(argument_bytes(image, "Stencil_ConstantMemory"), size_of::<Argument>(), "{image}");
        }
        for image in ["derivative_float", "derivative_double"] {
            for kernel in ["stencil1DGPU", "stencil1DReadOnly"] {
                assert_eq!(argument_bytes(image, kernel), size_of::<Argument>(), "{image} {kernel}");
            }
        }
    }
}
