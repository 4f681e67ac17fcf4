//! Several sweeps along long lines on FP64 tensor cores, in each launch: `cuda/sweeps_tensor.cu`.
//!
//! They give the bits of `cuda/sweeps.cu` for all data. Only chips of [`CAPABILITY`](super::CAPABILITY) load them, and
//! only for what they are [faster](SweepsModule::layout) at.

use cudarc::driver::sys;

use super::super::Element;
use super::super::module::{Function, Modules, Shape, launch};
use super::super::pace::SharedPace;
use super::exact::underflow_limit;
use super::lines::Operator;
use super::{Area, LoadOnce, Loaded, measured_multiprocessors};
use crate::cuda::arguments::{EndsArgument, TensorLines, TensorSweepsArgument};
use crate::stencil::{Error, Lines};

/// A module, and what is known of it before it is loaded.
struct SweepsModule {
    name: &'static str,
    taps: usize,
    /// Sweeps of a launch.
    sweeps: usize,
    /// Warps of a block, of which a multiprocessor holds one.
    warps: usize,
    /// Steps that a row takes beyond those for its outputs, and the steps of a turn of the band: it takes whole turns.
    lag: usize,
    turn: usize,
    /// How many times as fast it is as `cuda/sweeps.cu` for each step that it takes, if all those were for outputs. As
    /// measured on an H200 (BENCHMARKS.md).
    gain: f64,
}

const fn module(
    name: &'static str,
    taps: usize,
    [sweeps, warps]: [usize; 2],
    [lag, turn]: [usize; 2],
    gain: f64,
) -> SweepsModule {
    SweepsModule { name, taps, sweeps, warps, lag, turn, gain }
}

const MODULES: [SweepsModule; 4] = [
    module("sweeps_tensor_13", 13, [8, 8], [31, 4], 1.16),
    module("sweeps_tensor_17", 17, [6, 8], [29, 6], 1.11),
    module("sweeps_tensor_19", 19, [6, 8], [35, 6], 1.20),
    module("sweeps_tensor_21", 21, [6, 8], [35, 6], 1.32),
];

/// From such a gain on they are used: where samples are infinite or NaN, what depends on them is computed twice.
const WORTH_IT: f64 = 1.03;

/// Rows that a warp takes at a time, and the outputs of each that it finishes in a step.
const ROWS: usize = 16;
const OUTPUTS: usize = 4;

/// The most steps of a row, and rows in all, that the kernels count.
const MOST_STEPS: usize = 1 << 28;
const MOST_ROWS: usize = 1 << 30;

/// Threads of a warp.
const LANES: usize = 32;

/// How the lines fall into rows: see [`TensorLines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RowLayout {
    /// Of a line.
    rows: usize,
    row_steps: usize,
}

impl SweepsModule {
    /// How many outputs at either end of a line go through plain chains at least.
    fn margin(&self) -> usize {
        self.taps / 2 * self.sweeps + 3
    }

    /// The shortest line that the kernel can do.
    fn least_length(&self) -> usize {
        2 * self.margin() + 2 * OUTPUTS
    }

    /// How a launch over so many lines is laid out on so many multiprocessors, and how many times as fast it is as
    /// `cuda/sweeps.cu`; `None` for lines that it cannot do.
    ///
    /// What it does for nothing: the ends of lines, which take time on the vector units, what each row computes ahead of
    /// its first output, places of warps that no row takes, and steps of the last turn.
    fn layout(&self, length: usize, lines: usize, multiprocessors: usize) -> Option<(RowLayout, f64)> {
        if length < self.least_length() || lines == 0 {
            return None;
        }
        let groups = (length - 2 * self.margin()) / OUTPUTS;
        let at_once = ROWS * self.warps * multiprocessors;
        let of_rounds = |rounds: usize| {
            let rows = (rounds * at_once / lines).clamp(1, groups);
            let row_steps = groups.div_ceil(rows);
            let rows = groups.div_ceil(row_steps);
            let rounds = (rows * lines).div_ceil(at_once);
            let steps = rounds * (row_steps + self.lag).next_multiple_of(self.turn);
            (RowLayout { rows, row_steps }, steps)
        };
        let (layout, steps) = (1..=4).map(of_rounds).min_by_key(|&(_, steps)| steps)?;
        let counted = layout.row_steps <= MOST_STEPS && layout.rows.saturating_mul(lines) <= MOST_ROWS;
        let useful = (groups * OUTPUTS * lines) as f64 / (steps * OUTPUTS * at_once) as f64;
        counted.then_some((layout, self.gain * useful))
    }
}

/// Some sweeps in one launch over lines that lie on the device.
pub(super) struct TensorSweeps<'a> {
    function: &'a Function,
    pub(super) pace: &'a SharedPace,
    shape: Shape,
    /// How many.
    pub(super) sweeps: usize,
    /// But for the two addresses.
    lines: TensorLines,
}

/// How so many sweeps over these lines are launched, if they go through tensor cores.
///
/// # Errors
/// The driver's.
pub(super) fn plan<'a, T: Element>(
    loaded: &'a LoadOnce,
    modules: &Modules,
    area: &Area<T>,
    lines: Lines,
    operator: &Operator,
) -> Result<Option<TensorSweeps<'a>>, Error> {
    // What goes through the slots waits for the link, whatever computes it; what lies on the device is one tile.
    if T::NAME != f64::NAME || !area.is_whole() || lines.inner() != 1 {
        return Ok(None);
    }
    let Some(multiprocessors) = measured_multiprocessors(modules) else { return Ok(None) };
    let taps: &[f64] = bytemuck::cast_slice(operator.coefficients());
    let kind = MODULES.iter().find(|kind| kind.taps == taps.len() && area.sweeps >= kind.sweeps);
    // With taps that are infinite or NaN all outputs are, and are computed twice.
    let Some(kind) = kind.filter(|_| taps.iter().all(|tap| tap.is_finite())) else {
        return Ok(None);
    };
    let Some((layout, _)) =
        kind.layout(lines.length(), lines.outer(), multiprocessors).filter(|&(_, gain)| gain >= WORTH_IT)
    else {
        return Ok(None);
    };
    let coefficients = (c"kernelTaps", operator.coefficients());
    let Loaded { function, module, .. } =
        loaded.get(modules, area.queued, kind.name, coefficients, c"sweeps_tensor")?;
    let shared_bytes = module.constant(c"shared_bytes")?;
    function.allow_shared(shared_bytes)?;
    Ok(Some(TensorSweeps {
        function,
        pace: module.pace(area.shared),
        shape: Shape::prepared(multiprocessors, LANES * kind.warps, shared_bytes)?,
        sweeps: kind.sweeps,
        lines: TensorLines {
            input: 0,
            output: 0,
            length: lines.length() as i64,
            lines: lines.outer() as i64,
            ends: EndsArgument::new(area.sides[1]),
            underflow_limit: underflow_limit(taps, 1),
            rows: layout.rows as i32,
            row_steps: layout.row_steps as i32,
            unused: 0,
        },
    }))
}

impl TensorSweeps<'_> {
    /// Puts [so many](TensorSweeps::sweeps) sweeps on the stream, from the samples at the first address to the second.
    ///
    /// # Safety
    /// There are as many elements at both addresses as the lines have, and nobody else touches them until the stream has
    /// been waited for.
    pub(super) unsafe fn launch(
        &self,
        stream: sys::CUstream,
        [input, output]: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let lines = TensorLines { input, output, ..self.lines };
        let argument = TensorSweepsArgument { lines, zeros: [0; 24] };
        // SAFETY: it is the kernel's argument; the rest as the caller says.
        unsafe { launch(self.function, stream, self.shape, &argument) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::archive;
    use super::super::super::module::tests::{argument_bytes, constant_of};
    use super::*;

    #[test]
    fn the_kernels_take_this_argument() {
        for SweepsModule { name, .. } in &MODULES {
            assert_eq!(argument_bytes(name, "sweeps_tensor"), size_of::<TensorSweepsArgument>(), "{name}");
        }
    }

    /// What is known of a module before it is loaded is what it tells, and it is for the chips that load it.
    #[test]
    fn the_table_is_right() {
        for module in &MODULES {
            let ptx = archive::ptx(module.name).unwrap().into_string().unwrap();
            let constant = |name: &str| constant_of(module.name, name);
            let SweepsModule { name, taps, sweeps, warps, lag, turn, .. } = module;
            assert_eq!(*name, format!("sweeps_tensor_{taps}"));
            let told = ["launch_sweeps", "block_warps", "lag_steps", "turn_steps", "least_length"].map(constant);
            assert_eq!(told, [*sweeps, *warps, *lag, *turn, module.least_length()], "{name}");
            assert!(constant("shared_bytes") <= 227 << 10, "{name}");
            assert!(ptx.contains(".target sm_90\n"), "{name}");
        }
    }

    /// The rows of a line have all its outputs but for the margins, and none begins behind the last.
    #[test]
    fn layouts_are_what_the_kernels_are_promised() {
        for module in &MODULES {
            let least = module.least_length();
            assert_eq!(module.layout(least - 1, 1, 132), None);
            assert_eq!(module.layout(least, 0, 132), None);
            for length in (least..least + 40).chain([1000, 5001, 65_536, 1_000_003, 1 << 26, 1 << 33]) {
                for lines in [1, 2, 3, 37, 1000, 100_000] {
                    for multiprocessors in [1, 4, 132] {
                        let what = format!("{} {length} {lines} {multiprocessors}", module.name);
                        let Some((RowLayout { rows, row_steps }, gain)) = module.layout(length, lines, multiprocessors)
                        else {
                            // Longer rows than the kernel counts.
                            assert!(length * lines > 1 << 33, "{what}");
                            continue;
                        };
                        let groups = (length - 2 * module.margin()) / OUTPUTS;
                        assert!(rows * row_steps >= groups && (rows - 1) * row_steps < groups, "{what}");
                        assert!(gain > 0.0 && gain <= module.gain * 1.01 + 1.0, "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn it_pays_where_there_is_enough_to_do() {
        for module in &MODULES {
            let pays = |length: usize, lines: usize| {
                module.layout(length, lines, 132).is_some_and(|(_, gain)| gain >= WORTH_IT)
            };
            let name = module.name;
            assert!(pays(1 << 26, 1) && pays(1 << 16, 1 << 10), "{name}");
            // Too few points for so many rows, and lines of hardly more than margins.
            assert!(!pays(1 << 20, 1) && !pays(1000, 1 << 10) && !pays(module.least_length(), 1 << 20), "{name}");
        }
    }
}
