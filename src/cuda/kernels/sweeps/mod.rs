//! Sweeps of a stencil along the lines of an array that lies on the device.

mod layout;

use std::ops::Range;

use cudarc::driver::sys;

use super::lines::{Operator, OperatorKind};
use super::{Area, Kernel, LoadOnce, Loaded, Plan};
use crate::cuda::Element;
use crate::cuda::arguments::{EndsArgument, SweepsArgument};
use crate::cuda::module::{Function, Modules, Shape, launch};
use crate::cuda::pace::SharedPace;
use crate::partition::{Cut, SWEPT_BYTES};
use crate::stencil::{Ends, Error, Lines};

use layout::{LineKernel, LinesLayout, SHORT_THREADS, Tile, best_sweeps, kernel_for, short_layout};

/// Minimum number of multiply-adds for an element for which sweeps are faster if the array stays on the device: below,
/// the link takes longer, and should be busy in both directions at a time.
const MIN_WORK_TO_STAY: usize = 8192;

/// Sweeps of an operator along lines.
#[derive(Debug, Clone)]
pub(crate) struct SweepsKernel<T> {
    operator: Operator,
    lines: Lines,
    ends: Ends<T>,
    /// Loaded kernels by kind.
    loaded: [LoadOnce; 5],
}

impl<T: Element> SweepsKernel<T> {
    /// Returns the kernel for lines of any kind.
    pub(crate) fn new(operator: &Operator, lines: Lines, ends: Ends<T>) -> SweepsKernel<T> {
        SweepsKernel { operator: *operator, lines, ends, loaded: Default::default() }
    }
}

impl<T: Element> Kernel<T> for SweepsKernel<T> {
    fn another(&self) -> Box<dyn Kernel<T>> {
        Box::new(self.clone())
    }

    fn cut(&self, sweeps: usize, target: usize, _: usize) -> Cut<T> {
        Cut::lines(self.lines, self.ends, self.operator.radius, sweeps, target, false)
    }

    fn halo_samples(&self, sweeps: usize) -> usize {
        2 * self.operator.radius * sweeps
    }

    fn work(&self) -> usize {
        self.operator.work()
    }

    fn name(&self) -> &'static str {
        self.operator.name()
    }

    fn prefers_resident(&self, sweeps: usize) -> bool {
        // A small array is one tile, and is transferred only once anyway.
        self.lines.elements() * size_of::<T>() > SWEPT_BYTES
            && sweeps.saturating_mul(self.operator.work()) >= MIN_WORK_TO_STAY
    }

    fn plan(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error> {
        let [inner, length, outer] = area.tile.size();
        let lines = Lines::strided(inner, length, outer);
        let derivative = matches!(self.operator.kind, OperatorKind::Derivative { .. });
        let is_float = T::NAME == f32::NAME;
        let (kind, side_by_side) =
            kernel_for(lines, self.operator.radius, area.sweeps, area.under_way, derivative, is_float);
        let (name, symbol) = match self.operator.kind {
            OperatorKind::Stencil { is_float } => (kind.stencil(self.operator.radius, is_float), c"kernelTaps"),
            // Its coefficients come from constant memory, whatever the requested source: the result is the same.
            OperatorKind::Derivative { is_float, .. } => (kind.derivative(is_float), c"coefficients"),
        };
        let name = name.ok_or_else(|| Error::Internal(format!("No kernel {kind:?} for {}.", self.operator.name())))?;
        let coefficients = (symbol, self.operator.coefficients());
        let Loaded { function, module, .. } =
            self.loaded[kind as usize].get(modules, area.queued, name, coefficients, c"sweeps")?;
        Ok(Box::new(SweepsPlan {
            function,
            pace: module.pace(area.shared),
            tile: kind.tile(2 * self.operator.radius + 1, is_float),
            kind,
            side_by_side,
            lines,
            radius: self.operator.radius,
            ends: area.sides[1],
            first_output: area.tile.span().start,
        }))
    }
}

struct SweepsPlan<'a, T> {
    function: &'a Function,
    pace: &'a SharedPace,
    kind: LineKernel,
    /// `None` for short lines.
    tile: Option<Tile>,
    /// Number of lines in a row of threads.
    side_by_side: usize,
    lines: Lines,
    radius: usize,
    ends: Ends<T>,
    first_output: usize,
}

impl<T: Element> SweepsPlan<'_, T> {
    /// Returns the layout of a launch for some of `sweeps` sweeps.
    fn layout(&self, sweeps: usize) -> Result<LinesLayout, Error> {
        let circular = self.ends.is_circular();
        let best = best_sweeps(self.kind, self.radius, self.lines.elements());
        let layout = match self.tile {
            Some(tile) => tile.layout(self.lines, self.side_by_side, self.radius, circular, sweeps, best),
            None => Some(short_layout(self.lines, sweeps)),
        };
        layout.ok_or_else(|| Error::Internal(format!("{:?} does not fit kernel {:?}.", self.lines, self.kind)))
    }
}

impl<T: Element> Plan<T> for SweepsPlan<'_, T> {
    fn pace(&self) -> &SharedPace {
        self.pace
    }

    fn units(&self) -> usize {
        1
    }

    fn fused(&self, sweeps: usize) -> Result<usize, Error> {
        Ok(self.layout(sweeps)?.sweeps)
    }

    fn first_output(&self) -> usize {
        self.first_output
    }

    fn sweep(&self, stream: sys::CUstream, sweeps: usize, [input, output]: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        let layout = self.layout(sweeps)?;
        let shape = Shape::row(layout.blocks, self.tile.map_or(SHORT_THREADS, |tile| tile.threads))?;
        let [inner, length, outer] =
            [self.lines.inner(), self.lines.length(), self.lines.outer()].map(|size| size as u64);
        let ends = EndsArgument::new(self.ends);
        let argument = SweepsArgument { input, output, inner, length, outer, ends, ..layout.argument()? };
        // SAFETY: it reads and writes as many elements as the lines have, which the caller has at both addresses.
        unsafe { launch(self.function, stream, shape, &argument) }
    }

    fn part(&self, stream: sys::CUstream, _: Range<usize>, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        self.sweep(stream, 1, buffers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::module::tests::argument_bytes;
    use crate::stencil::MAX_TAPS;

    const ALL: [LineKernel; 5] =
        [LineKernel::Long, LineKernel::Whole, LineKernel::Small, LineKernel::Rows, LineKernel::Short];

    #[test]
    fn the_kernels_take_these_arguments() {
        for is_float in [true, false] {
            let of = |kind: LineKernel| (0..=MAX_TAPS / 2).filter_map(move |radius| kind.stencil(radius, is_float));
            let stencils = ALL.into_iter().flat_map(of);
            for module in stencils.chain(ALL.into_iter().filter_map(|kind| kind.derivative(is_float))) {
                assert_eq!(argument_bytes(module, "sweeps"), size_of::<SweepsArgument>(), "{module}");
            }
        }
    }
}
