//! Choice of the module and the number of sweeps in a launch: the candidates that are faster than single sweeps, and
//! the fastest of them.

use super::layout::{LAUNCH_TIME, LaunchLayout};
use super::table::ModuleSpec;
use super::view::{Around, MAX_ROWS_OR_COLUMNS, View};
use crate::cuda::Element;
use crate::cuda::arguments::EndsArgument;
use crate::cuda::kernels::exact::{magnitude_bits, underflow_limit};
use crate::cuda::kernels::{Area, measured_multiprocessors};
use crate::cuda::module::Modules;
use crate::stencil::Filter;

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

/// Returns the fastest candidate for `sweeps` sweeps.
fn fastest<'a>(candidates: impl Iterator<Item = &'a Candidate>, sweeps: usize) -> Option<&'a Candidate> {
    candidates.filter(|candidate| candidate.sweeps <= sweeps).min_by(|a, b| a.time.total_cmp(&b.time))
}

/// Ways of doing several sweeps over an array in one launch: all that are faster than single sweeps.
pub(in crate::cuda::kernels) struct Candidates {
    pub(super) view: View,
    pub(super) around: Around,
    pub(super) all: Vec<Candidate>,
}

impl Candidates {
    /// Returns those for the sweeps of an area; `None` if there are none.
    pub(in crate::cuda::kernels) fn of<T: Element>(
        modules: &Modules,
        area: &Area<T>,
        filter: &Filter<T>,
    ) -> Option<Candidates> {
        let view = View::of(area.tile.size(), filter.size())?;
        let multiprocessors = measured_multiprocessors(modules)?;
        let around = Around::new(&view, [area.sides[0], area.sides[view.across]].map(EndsArgument::new));
        let star = ModuleSpec::for_stars::<T>(view.filter);
        let star = star.filter(|star| may_leave_out_zeros(star, filter, &view, &around));
        Candidates::new::<T>(view, around, star, area.sweeps, multiprocessors)
    }

    /// Returns those of the modules for any filter, and of the one for stars.
    pub(super) fn new<T: Element>(
        view: View,
        around: Around,
        star: Option<&'static ModuleSpec>,
        sweeps: usize,
        multiprocessors: usize,
    ) -> Option<Candidates> {
        let [rows, columns, _] = view.size;
        if rows.max(columns) > MAX_ROWS_OR_COLUMNS {
            return None;
        }
        let all: Vec<_> = ModuleSpec::all_of::<T>(view.filter, around.own_sides)
            .chain(star)
            .flat_map(|spec| candidates(spec, &view, &around, sweeps, multiprocessors))
            .collect();
        (!all.is_empty()).then_some(Candidates { view, around, all })
    }

    /// Returns the time of each of `sweeps` sweeps by a filter that is no star, in microseconds; `None` if single sweeps
    /// are faster.
    pub(in crate::cuda::kernels) fn time_by_any_filter(&self, sweeps: usize) -> Option<f64> {
        fastest(self.all.iter().filter(|candidate| !candidate.spec.is_star), sweeps).map(|candidate| candidate.time)
    }

    /// Returns the fastest for `sweeps` sweeps; `None` if single sweeps are faster.
    pub(super) fn fastest(&self, sweeps: usize) -> Option<&Candidate> {
        fastest(self.all.iter(), sweeps)
    }
}

/// True if the kernel for stars may do the sweeps. With entries that are infinite or NaN all results are, and with
/// constants that are special values many are: the fallback would recompute them all.
fn may_leave_out_zeros<T: Element>(star: &ModuleSpec, filter: &Filter<T>, view: &View, around: &Around) -> bool {
    let near_zero = underflow_limit(filter.values(), star.warp_sweeps);
    !around.own_sides
        && is_star(filter.values(), view.filter)
        && filter.values().iter().all(|entry| entry.to_f64().is_finite())
        && around.constants().chain([1.0]).all(|constant| is_plain::<T>(constant, near_zero))
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
