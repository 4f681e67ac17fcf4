//! Choice of the layouts for an array that are faster than all other kernels.

use std::collections::VecDeque;
use std::sync::{Mutex, TryLockError};

use super::model::{Boundaries, Chip, MAX_PLACES, SWEEPS, TilesModule, Tiling};
use crate::cuda::Element;
use crate::cuda::arguments::{MIRROR, SYMMETRIC};
use crate::cuda::kernels::{Area, CAPABILITY, word};
use crate::cuda::module::Modules;
use crate::partition::Size;
use crate::stencil::Filter;

/// Key of a search for layouts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Task {
    pub(super) is_float: bool,
    pub(super) size: Size,
    pub(super) filter: Size,
    pub(super) boundaries: Boundaries,
    /// True if the constants at both ends of the rows are the same, and if those on all sides are.
    pub(super) alike: [bool; 2],
    pub(super) sweeps: usize,
    pub(super) chip: Chip,
}

/// Recent searches, which take some tens of microseconds each, and their results: scripts repeat the same calls.
pub(super) struct Searches(pub(super) Mutex<VecDeque<(Task, Option<Tilings>)>>);

pub(super) static SEARCHES: Searches = Searches(Mutex::new(VecDeque::new()));

impl Searches {
    /// Maximum number of searches that are kept.
    pub(super) const KEPT: usize = 16;

    /// Returns the result of a search, a kept one if possible. It does not wait for the lock, but searches instead.
    pub(super) fn get(&self, task: Task, search: impl FnOnce() -> Option<Tilings>) -> Option<Tilings> {
        let lock = || match self.0.try_lock() {
            Ok(searches) => Some(searches),
            Err(TryLockError::Poisoned(searches)) => Some(searches.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let known = lock().and_then(|searches| Some(searches.iter().find(|(other, _)| *other == task)?.1.clone()));
        known.unwrap_or_else(|| {
            let found = search();
            if let Some(mut searches) = lock() {
                searches.truncate(Searches::KEPT - 1);
                searches.push_front((task, found.clone()));
            }
            found
        })
    }
}

/// Layouts for an array, by the number of sweeps in a launch.
#[derive(Debug, Clone)]
pub(in crate::cuda::kernels) struct Tilings {
    pub(super) module: &'static TilesModule,
    pub(super) each: Vec<Tiling>,
}

impl Tilings {
    /// Returns the tilings that are faster than single sweeps and than `images`, the time of a sweep over images in
    /// microseconds, if these are faster than single ones.
    pub(in crate::cuda::kernels) fn of<T: Element>(
        modules: &Modules,
        area: &Area<T>,
        filter: &Filter<T>,
        images: impl FnOnce() -> Option<f64>,
    ) -> Option<Tilings> {
        let size = area.tile.size();
        let device = modules.device()?;
        let multiprocessors = device.multiprocessors.max(1) as usize;
        let chip = Chip { multiprocessors, measured: device.capability == CAPABILITY };
        let filter = filter.size();
        let ends = [0, 1].map(|d| area.sides[d].both());
        let boundaries = ends.map(|ends| ends.map(word));
        let constants = ends.map(|ends| ends.map(|end| end.constant().to_f64().to_bits()));
        let first = constants[0][0];
        let alike = [constants[0] == [first; 2], constants == [[first; 2]; 2]];
        let is_float = T::NAME == f32::NAME;
        let task = Task { is_float, size, filter, boundaries, alike, sweeps: area.sweeps, chip };
        SEARCHES.get(task, || Tilings::fastest::<T>(&task, images))
    }

    /// Searches for these.
    pub(super) fn fastest<T: Element>(task: &Task, images: impl FnOnce() -> Option<f64>) -> Option<Tilings> {
        let &Task { size, filter, boundaries, sweeps, chip, .. } = task;
        let modules = TilesModule::all_of::<T>(filter);
        let found = modules.filter_map(|module| Tilings::found(module, size, filter, boundaries, sweeps, chip));
        let timed = found.filter_map(|tilings| Some((tilings.least(sweeps)?.time, tilings)));
        let (time, tilings) = timed.min_by(|a, b| a.0.total_cmp(&b.0))?;
        images().is_none_or(|images| time < images).then_some(tilings)
    }

    /// Returns the tilings that are faster than single sweeps.
    pub(super) fn found(
        module: &'static TilesModule,
        size: Size,
        filter: Size,
        boundaries: Boundaries,
        sweeps: usize,
        chip: Chip,
    ) -> Option<Tilings> {
        let [rows, columns, _] = size;
        // A mirror must not reflect beyond the far end of the image.
        let mirrors = (0..2).all(|i| {
            let least = |end| match end {
                SYMMETRIC => filter[i] / 2,
                MIRROR => filter[i] / 2 + 1,
                _ => 0,
            };
            boundaries[i].into_iter().all(|end| size[i] >= least(end))
        });
        if !mirrors || rows.max(columns) > MAX_PLACES {
            return None;
        }
        let mut least = module.single_sweep(size, filter, chip);
        let single_sweep = least;
        let mut each = Vec::new();
        for at_once in SWEEPS.into_iter().take_while(|&at_once| at_once <= sweeps) {
            let Some(tiling) = module.tiling(size, filter, boundaries, at_once, chip) else { break };
            // From some number on it only becomes worse.
            if tiling.time > 1.25 * least {
                break;
            }
            least = least.min(tiling.time);
            if tiling.time < single_sweep {
                each.push(tiling);
            }
        }
        (!each.is_empty()).then_some(Tilings { module, each })
    }

    /// Returns the fastest tiling, by the time of a sweep, if `sweeps` sweeps are left.
    pub(super) fn least(&self, sweeps: usize) -> Option<&Tiling> {
        let fits = self.each.iter().filter(|tiling| tiling.sweeps <= sweeps);
        fits.min_by(|a, b| a.time.total_cmp(&b.time))
    }
}
