//! Many sweeps of a 3 x 3 x 3 or 1 x 3 x 3 filter over volumes that lie on the device, two of them in each launch:
//! `cuda/sweeps/volumes/volumes.cuh`.
//!
//! The kernels give the bits of single sweeps. Chips of [`CAPABILITY`](super::super::CAPABILITY) load them, for volumes
//! for which they are faster by the measured [numbers](layout); other work goes by single sweeps.

mod layout;
mod schedule;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;

use cudarc::driver::sys;

use super::super::several::{Several, SeveralPlan};
use super::super::{Area, LoadOnce, Loaded, Plan, measured_multiprocessors};
use crate::cuda::Element;
use crate::cuda::arguments::{SidesArgument, VolumesArgument};
use crate::cuda::module::{Function, Modules, Shape, launch};
use crate::partition::Size;
use crate::stencil::{Boundary, Ends, Error, Filter, Sides};

use layout::{LANES, SWEEPS, VolumesLayout, VolumesModule};

/// Layouts of the launches of two sweeps over a volume, which are faster than single sweeps.
pub(in super::super) struct Layouts {
    module: &'static VolumesModule,
    one_by_one: VolumesLayout,
    at_once: Option<VolumesLayout>,
    sides: SidesArgument,
}

impl Layouts {
    /// Returns those for an area between these sides; `None` if single sweeps are faster.
    pub(in super::super) fn of<T: Element>(
        modules: &Modules,
        area: &Area<T>,
        filter: &Filter<T>,
        sides: Sides<T>,
    ) -> Option<Layouts> {
        let size = area.tile.size();
        let module = VolumesModule::of::<T>(filter.size())?;
        let multiprocessors = measured_multiprocessors(modules)?;
        let circular = [0, 1].map(|d| sides[d].is_circular());
        let layout = |at_once: usize| module.layout(size, circular, at_once, multiprocessors);
        let (one_by_one, at_once) = (layout(1)?, layout(module.rows));
        let pays = match &at_once {
            Some(layout) => module.pays(layout, size, module.rows, multiprocessors),
            None => module.pays(&one_by_one, size, 1, multiprocessors),
        };
        let sides = SidesArgument::new([0, 1, 2].map(|d| without_single_mirrors(sides[d], size[d])));
        pays.then_some(Layouts { module, one_by_one, at_once, sides })
    }
}

/// Plans the launches of these layouts over a whole array. `single_sweeps` is the plan of the sweep that is left over.
///
/// # Errors
/// The driver's.
pub(in super::super) fn plan<'a, T: Element>(
    loaded: &'a LoadOnce,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
    Layouts { module: known, one_by_one, at_once, sides }: Layouts,
    single_sweeps: Box<dyn Plan<T> + 'a>,
) -> Result<Box<dyn Plan<T> + 'a>, Error> {
    let entries = (c"F", bytemuck::cast_slice(filter.values()));
    let Loaded { function, module, .. } = loaded.get(modules, area.queued, known.name, entries, c"sweeps_volumes")?;
    let threads = SWEEPS * known.warps * LANES;
    let prepared = |layout: VolumesLayout, function: Function, bytes: usize| -> Result<PreparedLaunch, Error> {
        function.allow_shared(bytes)?;
        let shape = Shape::prepared(layout.schedule.blocks(), threads, bytes)?;
        Ok(PreparedLaunch { layout, function, shape })
    };
    let one_by_one = prepared(one_by_one, function.clone(), module.constant(c"shared_bytes_one_by_one")?)?;
    let at_once = match at_once {
        Some(layout) => {
            let function = module.function(c"sweeps_volumes_at_once")?;
            Some(prepared(layout, function, module.constant(c"shared_bytes")?)?)
        }
        None => None,
    };
    let pace = module.pace(area.shared);
    let launches = Launches { one_by_one, at_once, size: area.tile.size(), sides, class: PhantomData::<T> };
    Ok(Box::new(SeveralPlan { single_sweeps, pace, launches }))
}

/// Returns the boundaries at the ends of `samples` samples. The kernel has no mirror of a single one, which is a
/// replicate.
fn without_single_mirrors<T: Element>(ends: Ends<T>, samples: usize) -> Ends<T> {
    let seen = |end| if samples == 1 && end == Boundary::Mirror { Boundary::Replicate } else { end };
    let [low, high] = ends.both().map(seen);
    Ends::new(low, high).unwrap_or(ends)
}

/// One of the kernels, and its launch.
struct PreparedLaunch {
    layout: VolumesLayout,
    function: Function,
    shape: Shape,
}

/// Launches over a volume.
struct Launches<T> {
    one_by_one: PreparedLaunch,
    /// For columns that begin at multiples of 16 bytes, if the volume does.
    at_once: Option<PreparedLaunch>,
    size: Size,
    sides: SidesArgument,
    class: PhantomData<T>,
}

impl<T: Element> Several for Launches<T> {
    /// Each kernel has its own; the addresses decide between the kernels.
    type Layout = ();

    fn fastest(&self, sweeps: usize) -> Option<(usize, &())> {
        (sweeps >= SWEEPS).then_some((SWEEPS, &()))
    }

    /// A single sweep takes several times as long as two in a launch.
    fn batch_granularity(&self) -> usize {
        SWEEPS
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        (): &(),
        buffers: [sys::CUdeviceptr; 2],
        aligned: bool,
    ) -> Result<(), Error> {
        let prepared = self.at_once.as_ref().filter(|_| aligned).unwrap_or(&self.one_by_one);
        let VolumesLayout { down, across, lanes, strips, schedule } = prepared.layout;
        let [rows, columns, pages] = self.size;
        let [input, output] = buffers;
        let argument = VolumesArgument {
            input,
            output,
            rows: rows as i64,
            columns: columns as i32,
            pages: pages as i32,
            down,
            across,
            lanes: lanes as i32,
            strips: strips as i32,
            sides: self.sides,
            rounds: schedule.rounds,
        };
        // SAFETY: the kernel reads the volume's samples, and writes its outputs, at addresses where the caller has as
        // many.
        unsafe { launch(&prepared.function, stream, prepared.shape, &argument) }
    }
}
