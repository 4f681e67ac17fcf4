//! The CPU engine: the same bits without a GPU.
//!
//! Everything is an operator of [`simd`] on contiguous numbers; [`lines`] and [`convolution`] bring the samples into
//! that form, a tile at a time. Tiles are the [`tasks`] that the threads share.

mod convolution;
mod lines;
mod simd;
mod tasks;

use crate::stencil::{Compute, Convolution, Derivative, Engine, Error, Request};
use crate::watch::Watch;
use lines::{Differences, Sweeps};
pub use simd::Level;
use simd::{Instructions, Lanes};

/// The CPU engine with one level of SIMD.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    instructions: Instructions,
}

impl Cpu {
    /// With the best instructions that this processor has.
    pub fn new() -> Cpu {
        Cpu { instructions: Instructions::best() }
    }

    /// With these instructions; `None` where the processor lacks them.
    pub fn with_level(level: Level) -> Option<Cpu> {
        level.detect().map(|instructions| Cpu { instructions })
    }
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::new()
    }
}

impl Engine for Cpu {
    fn name(&self) -> &str {
        self.instructions.level().name()
    }

    fn stencil(&self, request: &Request, output: &mut [f64], watch: &Watch) -> Result<(), Error> {
        assert_eq!(output.len(), request.input().len());
        let sweeps = Sweeps::new(self.instructions, request.taps(), request.lines(), request.boundary());
        sweeps.run(request.sweeps(), request.input(), output, watch)
    }
}

impl<T: Lanes> Compute<T> for Cpu {
    fn derivative(&self, request: &Derivative<T>, output: &mut [T], watch: &Watch) -> Result<(), Error> {
        assert_eq!(output.len(), request.input().len());
        let differences = Differences(request.coefficients());
        Sweeps::new(self.instructions, &differences, request.lines(), request.boundary()).run(
            1,
            request.input(),
            output,
            watch,
        )
    }

    fn convolution(&self, request: &Convolution<T>, output: &mut [T], watch: &Watch) -> Result<(), Error> {
        assert_eq!(output.len(), request.input().len());
        convolution::sweeps(request, self.instructions, output, watch)
    }
}
