//! The CPU engine: bit-identical results without a GPU.
//!
//! Everything is an operator of `simd` on contiguous numbers; `lines` and `convolution` bring the samples into that
//! form, a tile at a time. Elementwise operations, `arithmetic`, are plain loops that the compiler vectorises, for the
//! same instruction sets. Tiles and pieces are the `tasks` that the threads share.

mod arithmetic;
mod convolution;
mod lines;
mod program;
mod simd;
mod tasks;

use crate::host;
use crate::platform::watch::Watch;
use crate::stencil::program::{Kernel, Limits};
use crate::stencil::{
    AnySource, AnyTarget, Array, Arrays, Convolution, Derivative, Engine, Error, Filters, Given, Indices, Lines,
    Operation, Prepared, Real, Results, Samples, Source, Stencil, Target, compute_filter,
};
use lines::{Differences, Sweeps};
pub use simd::Level;
use simd::{Instructions, Lanes};

/// The CPU engine for one SIMD level.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    instructions: Instructions,
}

impl Cpu {
    /// Uses the best instruction set of this processor.
    pub fn new() -> Cpu {
        Cpu { instructions: Instructions::best() }
    }

    /// Uses this instruction set; `None` if the processor lacks it.
    pub fn with_level(level: Level) -> Option<Cpu> {
        level.detect().map(|instructions| Cpu { instructions })
    }
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::new()
    }
}

/// Minimum number of contiguous neighbours for a tile's columns.
const MIN_TILE_COLUMNS: usize = 64;

/// Minimum lengths of lines that are not mostly ends: of neighbouring lines, and of contiguous ones, each of which is a
/// loop by itself.
const MIN_LINE: usize = 8;
const MIN_CONTIGUOUS_LINE: usize = 20;

/// Number of entries along one dimension from which on tiles are never faster.
const MIN_TAPS_BY_LINES: usize = 16;

/// Maximum number of entries along one dimension at which lines are faster if the array is three times as long. (Across
/// the columns of 1000 x 1000 doubles, with AVX-512, lines take 0.44, 0.46 and 1.02 of a tile's time for 3, 5 and 9
/// entries.)
const MAX_TAPS_BY_LONG_LINES: usize = 7;

impl Engine for Cpu {
    fn name(&self) -> &str {
        self.instructions.level().name()
    }

    fn limits(&self) -> Option<Limits> {
        Some(program::LIMITS)
    }

    fn prepare(&self, kernel: &Kernel) -> Result<Box<dyn Prepared>, Error> {
        program::prepare(self.instructions, kernel)
    }

    /// Samples and results of a piece stay in the caches.
    fn piece(&self) -> usize {
        1 << 17
    }

    fn convolution_of_any(
        &self,
        what: &Convolution<f64>,
        from: &dyn Samples<f64>,
        to: &dyn Results<f64>,
        watch: &Watch,
    ) -> Result<bool, Error> {
        assert_eq!([from.count(), to.count()], [what.elements(); 2]);
        if from.count() == 0 || (what.lines().is_some() && what.filter().values().len() >= MIN_TAPS_BY_LINES) {
            return Ok(false);
        }
        convolution::sweep(what, self.instructions, (from, to), watch).map(|()| true)
    }

    fn compute(&self, what: &Given, to: AnyTarget, watch: &Watch) -> Result<Option<Indices>, Error> {
        if let Operation::Filter(filter, from) = what {
            let stencil = |what: &Stencil, from: Source<f64>, to: Target<f64>| {
                let (input, output) = ends(what.lines().elements(), from, to)?;
                let (taps, lines) = (what.taps().as_slice(), (what.lines(), what.boundary()));
                lines::correlate(self.instructions, taps, lines, what.sweeps(), input, output, watch)
            };
            return compute_filter(self, stencil, (filter, *from, to), watch).map(|()| None);
        }
        match to {
            AnyTarget::Double(to) => arithmetic::compute(self.instructions, what, to, watch),
            AnyTarget::Single(to) => arithmetic::compute(self.instructions, what, to, watch),
        }
    }

    fn find(&self, from: AnySource, watch: &Watch) -> Result<Indices, Error> {
        match from {
            AnySource::Single(from) => arithmetic::find(self.instructions, from.samples()?, watch),
            _ => arithmetic::find::<f64>(self.instructions, from.source()?.samples()?, watch),
        }
    }

    fn ordinals(&self, indices: &Indices, to: AnyTarget, watch: &Watch) -> Result<(), Error> {
        match to {
            AnyTarget::Double(to) => arithmetic::ordinals(indices, to.results()?, watch),
            AnyTarget::Single(to) => arithmetic::ordinals(indices, to.results()?, watch),
        }
    }

    fn medians(&self, from: AnySource, size: [usize; 3], to: AnyTarget, watch: &Watch) -> Result<bool, Error> {
        match to {
            AnyTarget::Double(to) => arithmetic::medians(from.source()?.samples()?, size, to.results()?, watch),
            AnyTarget::Single(to) => arithmetic::medians(from.source()?.samples()?, size, to.results()?, watch),
        }?;
        Ok(true)
    }
}

impl<T: Lanes> Filters<T> for Cpu {
    fn derive(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = ends(what.lines().elements(), from, to)?;
        let differences = Differences(what.coefficients());
        Sweeps::new(self.instructions, &differences, what.lines(), what.boundary()).run(1, input, output, watch)
    }

    fn convolve(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = ends(what.elements(), from, to)?;
        // Along one dimension the chain is that of a stencil. Its vectors run along contiguous elements: along the
        // lines themselves, or, if columns are too short for a tile's vectors, across them. With more neighbours, a
        // tile keeps as many columns in the cache as the filter has entries: that pays for a medium number of entries.
        let taps = what.filter().values();
        let by_lines = |lines: &Lines| match taps.len() {
            MIN_TAPS_BY_LINES.. => true,
            _ if lines.inner() < MIN_TILE_COLUMNS => {
                lines.length() >= if lines.inner() == 1 { MIN_CONTIGUOUS_LINE } else { MIN_LINE }
            }
            taps => taps <= MAX_TAPS_BY_LONG_LINES && lines.length() >= 3 * taps,
        };
        if let Some((axis, lines)) = what.lines().filter(|(_, lines)| by_lines(lines)) {
            let lines = (lines, what.boundary()[axis]);
            return lines::correlate(self.instructions, taps, lines, what.sweeps(), input, output, watch);
        }
        convolution::sweeps(what, self.instructions, input, output, watch)
    }
}

impl<T: Lanes> Arrays<T> for Cpu {
    fn array(&self, len: usize) -> Result<Array<T>, Error> {
        Array::in_memory(len)
    }

    fn has_room(&self, _: usize, _: usize) -> Result<bool, Error> {
        Ok(true)
    }

    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let (input, output) = ends(from.len(), from, to)?;
        host::copy(input, output, watch)
    }
}

/// Returns the samples and the room for the results.
///
/// # Panics
/// Unless their lengths are `elements`.
fn ends<'a, T: Real>(elements: usize, from: Source<'a, T>, to: Target<'a, T>) -> Result<(&'a [T], &'a mut [T]), Error> {
    let (input, output) = (from.samples()?, to.results()?);
    assert_eq!([input.len(), output.len()], [elements; 2]);
    Ok((input, output))
}
