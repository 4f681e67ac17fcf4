//! Many sweeps of a filter over images that lie on the device, some of them in each launch: `cuda/sweeps/images`.
//! Sweeps over a volume by a filter of rows and pages go this way, too: see [`view`].
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
pub(super) mod tests;
mod view;

use super::super::several::SeveralPlan;
use super::super::{Area, LoadOnce, Plan};
use crate::cuda::Element;
use crate::cuda::module::Modules;
use crate::stencil::{Error, Filter};
use launch::{Launches, LoadedSpec};
use table::{ModuleSpec, WARPS};

pub(in super::super) use choose::Candidates;

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

/// Plans the launches of these candidates over a whole array. `single_sweeps` is the plan of single sweeps, which are used
/// where they are faster.
///
/// # Errors
/// The driver's.
pub(in super::super) fn plan<'a, T: Element>(
    loaded: &'a LoadedModules,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
    candidates: Candidates,
    single_sweeps: Box<dyn Plan<T> + 'a>,
) -> Result<Box<dyn Plan<T> + 'a>, Error> {
    // Modules of the candidates in use, the fastest one's first: a launch may have fewer sweeps than requested here.
    let mut taken: Vec<&ModuleSpec> = Vec::new();
    let most = candidates.all.iter().map(|candidate| candidate.sweeps).max().unwrap_or(0);
    for candidate in (1..=most).rev().filter_map(|sweeps| candidates.fastest(sweeps)) {
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
    let launches = Launches { loaded, candidates };
    Ok(Box::new(SeveralPlan { single_sweeps, pace, launches }))
}
