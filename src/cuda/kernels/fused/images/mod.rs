//! Many sweeps of a filter over images that lie on the device, some of them in each launch: `cuda/sweeps/images`.
//! Sweeps over a volume by a filter of rows and pages go this way, too: see [`View`].
//!
//! If all sides of the images have the same boundary, and it is no mirror, a module for that alone does the sweeps;
//! else one in which each side has its own.
//!
//! The kernels give the bits of single sweeps. Chips of [`CAPABILITY`](super::super::CAPABILITY) load them, for arrays
//! for which they are faster by a model with the measured numbers of `table`; other sweeps are single ones.
//!
//! A filter that is zero outside its middle row and column, a star, has a kernel that leaves these zeros out. It flags
//! special values, for which that gives other results; after each of its launches comes one of the full kernel, the
//! fallback, which recomputes the sweeps where values were flagged and has nothing to do elsewhere.
//!
//! Many sweeps in double by a filter of few rows, and all by a star, go by blocks that have a multiprocessor to
//! themselves: eight warps do twice as many sweeps in a launch as four, and none waits for those of another block.

mod choose;
mod launch;
mod layout;
mod table;
#[cfg(test)]
mod tests;
mod view;

use super::super::exact::underflow_limit;
use super::super::several::SeveralPlan;
use super::super::{Area, LoadOnce, Plan, measured_multiprocessors};
use crate::cuda::Element;
use crate::cuda::arguments::EndsArgument;
use crate::cuda::module::Modules;
use crate::stencil::{Error, Filter};
use choose::{candidates, fastest, is_plain, is_star};
use launch::{Launches, LoadedSpec};
use table::{ModuleSpec, WARPS};
use view::{Around, MAX_ROWS_OR_COLUMNS};

pub(in super::super) use choose::time_of_a_sweep;
pub(in super::super) use view::View;

/// Modules that a convolution has loaded for launches of several sweeps.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct LoadedModules {
    four_warps: LoadOnce,
    eight_warps: LoadOnce,
    star: LoadOnce,
}

impl LoadedModules {
    fn of(&self, spec: &ModuleSpec) -> &LoadOnce {
        match spec {
            ModuleSpec { is_star: true, .. } => &self.star,
            ModuleSpec { warps: WARPS, .. } => &self.four_warps,
            ModuleSpec { .. } => &self.eight_warps,
        }
    }
}

/// Plans the launches of several sweeps of a convolution over a whole array. `single_sweeps` is the plan of single
/// sweeps, which are used where they are faster.
///
/// # Errors
/// The driver's.
pub(in super::super) fn plan<'a, T: Element>(
    loaded: &'a LoadedModules,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
    view: View,
    single_sweeps: Box<dyn Plan<T> + 'a>,
) -> Result<Box<dyn Plan<T> + 'a>, Error> {
    let [rows, columns, _] = view.size;
    if !area.is_swept() || rows.max(columns) > MAX_ROWS_OR_COLUMNS {
        return Ok(single_sweeps);
    }
    let Some(multiprocessors) = measured_multiprocessors(modules) else {
        return Ok(single_sweeps);
    };
    let around = Around::new(&view, [area.sides[0], area.sides[view.across]].map(EndsArgument::new));
    let star = ModuleSpec::for_stars::<T>(view.filter).filter(|star| may_leave_out_zeros(star, filter, &view, &around));
    let candidates: Vec<_> = ModuleSpec::all_of::<T>(view.filter, around.own_sides)
        .chain(star)
        .flat_map(|spec| candidates(spec, &view, &around, area.sweeps, multiprocessors))
        .collect();
    // Modules of the candidates in use, the fastest one's first: a launch may have fewer sweeps than requested here.
    let mut taken: Vec<&ModuleSpec> = Vec::new();
    let most = candidates.iter().map(|candidate| candidate.sweeps).max().unwrap_or(0);
    for candidate in (1..=most).rev().filter_map(|sweeps| fastest(&candidates, sweeps)) {
        if !taken.iter().any(|spec| spec.is(candidate.spec)) {
            taken.push(candidate.spec);
        }
    }
    let load = |spec| LoadedSpec::load(spec, loaded.of(spec), modules, area.queued, filter);
    let loaded = taken.into_iter().map(load).collect::<Result<Vec<_>, Error>>()?;
    let Some(fastest) = loaded.first() else {
        return Ok(single_sweeps);
    };
    let pace = fastest.module.pace(area.shared);
    let launches = Launches { loaded, candidates, view, around };
    Ok(Box::new(SeveralPlan { single_sweeps, pace, launches }))
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
