//! One sweep along lines of neighbours: `cuda/lines.cuh`.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys;

use super::super::Element;
use super::super::module::{Function, Modules, Shape, Turns, launch};
use super::super::pace::SharedPace;
use super::{Area, Kernel, LoadOnce, Loaded, Plan};
use crate::cuda::arguments::PieceArgument;
use crate::partition::Cut;
use crate::stencil::{CoefficientSource, DERIVATIVE_RADIUS, Derivative, Ends, Error, Filter, Lines, MAX_TAPS, Stencil};

/// Modules of `cuda/stencil.cu`, for 1, 3, .. 21 taps.
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

/// Minimum length of lines that are cut, each by itself, into tiles with halos.
pub(super) const SPLIT_LENGTH: usize = 1 << 14;

/// Maximum length of lines with zeros outside that are computed as one run of memory. (21 taps, one sweep, of the speed
/// of a copy: 0.34 for lines of 10, where the kernel that keeps lines whole has 0.25; 0.74 for lines of 1,000, where
/// that has 0.8.)
pub(super) const AS_ONE_LENGTH: usize = 100;

/// An operator along lines, with its own modules and coefficients.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Operator {
    pub(super) kind: OperatorKind,
    pub(in super::super) radius: usize,
    /// Bytes of the coefficients, and their number.
    coefficients: [u8; MAX_TAPS * size_of::<f64>()],
    bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperatorKind {
    Stencil { is_float: bool },
    Derivative { is_float: bool, source: CoefficientSource },
}

impl Operator {
    /// Returns the operator of a stencil.
    pub(in super::super) fn stencil(what: &Stencil) -> Operator {
        let kind = OperatorKind::Stencil { is_float: false };
        Operator::new(kind, what.taps().radius(), bytemuck::cast_slice(what.taps().as_slice()))
    }

    /// Returns the operator of a derivative, with its coefficients in the requested memory.
    pub(in super::super) fn derivative<T: Element>(what: &Derivative<T>) -> Operator {
        let kind = OperatorKind::Derivative { is_float: T::NAME == f32::NAME, source: what.source() };
        Operator::new(kind, DERIVATIVE_RADIUS, bytemuck::cast_slice(what.coefficients()))
    }

    /// Returns the operator of a filter whose entries are all along one dimension.
    pub(super) fn filter<T: Element>(filter: &Filter<T>) -> Operator {
        let kind = OperatorKind::Stencil { is_float: T::NAME == f32::NAME };
        Operator::new(kind, filter.values().len() / 2, bytemuck::cast_slice(filter.values()))
    }

    fn new(kind: OperatorKind, radius: usize, values: &[u8]) -> Operator {
        let mut coefficients = [0; MAX_TAPS * size_of::<f64>()];
        coefficients[..values.len()].copy_from_slice(values);
        Operator { kind, radius, coefficients, bytes: values.len() }
    }

    /// Returns the coefficients as the device has them.
    pub(super) fn coefficients(&self) -> &[u8] {
        &self.coefficients[..self.bytes]
    }

    /// Returns its name for error messages.
    pub(super) fn name(&self) -> &'static str {
        if matches!(self.kind, OperatorKind::Stencil { .. }) { "a stencil" } else { "a derivative" }
    }

    /// True if there is a kernel for one sweep: for stencils, in double alone.
    pub(super) fn has_single_sweep(&self) -> bool {
        self.kind != OperatorKind::Stencil { is_float: true }
    }

    /// Returns the multiply-adds for an output.
    pub(super) fn work(&self) -> usize {
        2 * self.radius + 1
    }
}

/// One sweep of an operator along lines of neighbours.
#[derive(Debug, Clone)]
pub(in super::super) struct LinesKernel<T> {
    operator: Operator,
    lines: Lines,
    ends: Ends<T>,
    loaded: LoadOnce,
}

impl<T: Element> LinesKernel<T> {
    /// Returns the kernel for one sweep along these lines.
    pub(super) fn new(operator: &Operator, lines: Lines, ends: Ends<T>) -> LinesKernel<T> {
        LinesKernel { operator: *operator, lines, ends, loaded: LoadOnce::default() }
    }
}

impl<T: Element> Kernel<T> for LinesKernel<T> {
    fn another(&self) -> Box<dyn Kernel<T>> {
        Box::new(self.clone())
    }

    fn cut(&self, _: usize, target: usize, _: usize) -> Cut<T> {
        let split = self.lines.length() >= SPLIT_LENGTH;
        Cut::lines(self.lines, self.ends, self.operator.radius, 1, target, split)
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

    fn prefers_resident(&self, _: usize) -> bool {
        false
    }

    fn plan(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error> {
        let (name, symbol, function) = match self.operator.kind {
            // Only the taps in use are sent; the rest of the 21 entries is never read by this module.
            OperatorKind::Stencil { .. } => (STENCILS[self.operator.radius], c"kernelTaps", c"Stencil_ConstantMemory"),
            OperatorKind::Derivative { is_float, source } => {
                let name = if is_float { "derivative_float" } else { "derivative_double" };
                match source {
                    CoefficientSource::Constant => (name, c"coefficients", c"stencil1DGPU"),
                    CoefficientSource::ReadOnly => (name, c"coefficientsGlobal", c"stencil1DReadOnly"),
                }
            }
        };
        let Loaded { function, module, .. } =
            self.loaded.get(modules, area.queued, name, (symbol, self.operator.coefficients()), function)?;
        let size = area.tile.size();
        Ok(Box::new(LinesPlan {
            function,
            pace: module.pace(area.shared),
            threads: module.constant(c"lines_threads")?,
            tile: module.constant(c"lines_tile")?,
            count: area.tile.outputs(),
            around: area.tile.around(1),
            line: self.lines.length(),
            lines: size[2],
            turns: area.queued.then(|| modules.turns().clone()),
        }))
    }
}

struct LinesPlan<'a> {
    function: &'a Function,
    pace: &'a SharedPace,
    threads: usize,
    tile: usize,
    /// Number of outputs, and of samples on either side of them.
    count: usize,
    around: [usize; 2],
    line: usize,
    lines: usize,
    /// Direction of the next sweep, if the whole array is on the device.
    turns: Option<Arc<Turns>>,
}

impl<T: Element> Plan<T> for LinesPlan<'_> {
    fn pace(&self) -> &SharedPace {
        self.pace
    }

    fn units(&self) -> usize {
        1
    }

    fn sweep(&self, stream: sys::CUstream, _: usize, [input, output]: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        let argument = PieceArgument {
            input,
            output,
            count: self.count as u64,
            before: self.around[0] as u64,
            after: self.around[1] as u64,
            line: self.line as u64,
            phase: 0,
            one_line: (self.lines == 1).into(),
            backwards: self.turns.as_deref().is_some_and(Turns::next).into(),
        };
        let shape = Shape::row(self.count.div_ceil(self.tile), self.threads)?;
        // SAFETY: the kernel reads the tile's samples, and writes its outputs, at addresses where the caller has as
        // many.
        unsafe { launch(self.function, stream, shape, &argument) }
    }

    fn part(&self, stream: sys::CUstream, _: Range<usize>, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        Plan::<T>::sweep(self, stream, 1, buffers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::module::tests::argument_bytes;

    #[test]
    fn the_kernels_take_this_argument() {
        for module in STENCILS {
            assert_eq!(argument_bytes(module, "Stencil_ConstantMemory"), size_of::<PieceArgument>(), "{module}");
        }
        for module in ["derivative_float", "derivative_double"] {
            for kernel in ["stencil1DGPU", "stencil1DReadOnly"] {
                assert_eq!(argument_bytes(module, kernel), size_of::<PieceArgument>(), "{module} {kernel}");
            }
        }
    }
}
