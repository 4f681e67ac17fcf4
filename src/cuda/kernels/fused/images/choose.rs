//! Choice of the module and the number of sweeps in a launch: the candidates that are faster than single sweeps, and
//! the fastest of them.

use super::layout::{LAUNCH_TIME, LaunchLayout};
use super::table::ModuleSpec;
use super::view::{Around, Beyond, View};
use crate::cuda::Element;
use crate::cuda::arguments::EndsArgument;
use crate::cuda::kernels::exact::magnitude_bits;
use crate::partition::Size;

/// A way of doing some sweeps in one launch; by a kernel for stars, in one launch and its fallback.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) spec: &'static ModuleSpec,
    pub(super) sweeps: usize,
    /// Time of each sweep, in microseconds.
    pub(super) time: f64,
    pub(super) layout: LaunchLayout,
}

/// Returns the candidates of a module for at most `sweeps` sweeps that are faster than the kernels for single sweeps.
pub(super) fn candidates(
    spec: &'static ModuleSpec,
    view: &View,
    around: &Around,
    sweeps: usize,
    multiprocessors: usize,
) -> Vec<Candidate> {
    let all = (1..=spec.warps).filter_map(|warps| {
        let of_launch = warps * spec.warp_sweeps;
        let (time, layout) = spec.layout_of_warps(view.size, around, warps, multiprocessors)?;
        // The fallback of a star is launched after it, and finds that it has nothing to do.
        let time = if spec.is_star { time + LAUNCH_TIME / of_launch as f64 } else { time };
        (2..=sweeps).contains(&of_launch).then_some(Candidate { spec, sweeps: of_launch, time, layout })
    });
    let single_sweep = spec.time_of_single_sweep(view, multiprocessors);
    all.filter(|candidate| candidate.time < single_sweep).collect()
}

/// Returns the fastest candidate for `sweeps` sweeps; `None` if single sweeps are faster.
pub(super) fn fastest(candidates: &[Candidate], sweeps: usize) -> Option<&Candidate> {
    let fits = candidates.iter().filter(|candidate| candidate.sweeps <= sweeps);
    fits.min_by(|a, b| a.time.total_cmp(&b.time))
}

/// Returns the time of each of `sweeps` sweeps over an array, in microseconds; `None` if single sweeps are faster.
pub(in crate::cuda::kernels) fn time_of_a_sweep<T: Element>(
    filter: Size,
    size: Size,
    beyond: Beyond,
    sweeps: usize,
    multiprocessors: usize,
) -> Option<f64> {
    let view = View::of(size, filter)?;
    let around = Around::new(&view, beyond.map(|boundary| EndsArgument { value: [0.0; 2], boundary }));
    let all: Vec<_> = ModuleSpec::all_of::<T>(view.filter, around.own_sides)
        .flat_map(|spec| candidates(spec, &view, &around, sweeps, multiprocessors))
        .collect();
    fastest(&all, sweeps).map(|candidate| candidate.time)
}

/// True if a filter is a star: zero outside its middle row and column.
pub(super) fn is_star<T: Element>(values: &[T], [rows, columns]: [usize; 2]) -> bool {
    let is_beside = |at: usize| at % rows != rows / 2 && at / rows != columns / 2;
    values.iter().enumerate().all(|(at, value)| !is_beside(at) || value.to_f64() == 0.0)
}

/// True if a constant outside is no special value for a kernel that leaves out zeros: it is finite, and not so near to
/// zero that a zero's sign may be wrong.
pub(super) fn is_plain<T: Element>(constant: f64, near_zero: u32) -> bool {
    constant.is_finite() && magnitude_bits::<T>(constant).wrapping_sub(1) >= near_zero
}
