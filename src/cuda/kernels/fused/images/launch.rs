//! Launches: the argument of the kernels, the modules that are loaded, and the submission of several sweeps to the
//! stream.

use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::{Pod, Zeroable};
use cudarc::driver::sys;

use super::choose::{Candidate, Candidates};
use super::layout::{Division, LaunchLayout, MAX_SHARED_BYTES};
use super::table::{LANES, ModuleSpec, PRODUCER_WARPS};
use super::view::{Around, View};
use crate::cuda::Element;
use crate::cuda::arguments::{ImagesArgument, OtherSides};
use crate::cuda::kernels::exact::underflow_limit;
use crate::cuda::kernels::several::Several;
use crate::cuda::kernels::{LoadOnce, Loaded};
use crate::cuda::module::{Function, Module, Modules, Shape, launch, launch_early};
use crate::stencil::{Error, Filter};

/// Value of `long_share_256` for strips in one line.
const LINE: i32 = -1;

/// Counter of runs, to number them: special values need the fallback for all sweeps of a run. No run has the number 0.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// Argument of the kernels. If all sides have the same boundary, the kernel takes the first part alone.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct LaunchArgument {
    images: ImagesArgument,
    sides: OtherSides,
}

/// A module that is loaded, with the filter.
pub(super) struct LoadedSpec<'a> {
    spec: &'static ModuleSpec,
    pub(super) module: &'a Module,
    /// Kernels for any address, and for columns and strips that begin and end at multiples of 16 bytes.
    functions: [Function; 2],
    /// Its kernel for stars, if there is one.
    star: Option<Star>,
}

/// A kernel for stars. The full kernel of its module is the fallback.
struct Star {
    /// For the same addresses as the full kernel's.
    functions: [Function; 2],
    near_zero: u32,
    run: u32,
}

impl<'a> LoadedSpec<'a> {
    /// Loads the module of a spec.
    pub(super) fn load<T: Element>(
        spec: &'static ModuleSpec,
        once: &'a LoadOnce,
        modules: &Modules,
        queued: bool,
        filter: &Filter<T>,
    ) -> Result<LoadedSpec<'a>, Error> {
        let entries = (c"F", bytemuck::cast_slice(filter.values()));
        let Loaded { function, module, .. } = once.get(modules, queued, spec.name, entries, c"sweeps_images")?;
        let functions = [function.clone(), module.function(c"sweeps_images_aligned")?];
        let star = if spec.is_star {
            let functions = [module.function(c"sweeps_images_star")?, module.function(c"sweeps_images_star_aligned")?];
            let run = RUNS.fetch_add(1, Ordering::Relaxed) % (u32::MAX - 1) + 1;
            Some(Star { functions, near_zero: underflow_limit(filter.values(), spec.warp_sweeps), run })
        } else {
            None
        };
        for function in functions.iter().chain(star.iter().flat_map(|star| &star.functions)) {
            function.allow_shared(MAX_SHARED_BYTES)?;
        }
        Ok(LoadedSpec { spec, module, functions, star })
    }
}

/// Launches over an array.
pub(super) struct Launches<'a> {
    pub(super) loaded: Vec<LoadedSpec<'a>>,
    pub(super) candidates: Candidates,
}

/// Treatment of special values in a launch: the number of its run, and the limit of samples near zero. Both are 0 if no
/// zeros are left out.
#[derive(Debug, Clone, Copy, Default)]
struct SpecialValues {
    run: u32,
    near_zero: u32,
}

impl Launches<'_> {
    /// Puts one launch of a kernel on the stream.
    fn submit(
        &self,
        stream: sys::CUstream,
        (function, has_producer): (&Function, bool),
        &Candidate { spec, layout, .. }: &Candidate,
        special: SpecialValues,
        buffers: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let blocks = layout.division.blocks(layout.strips * self.candidates.view.size[2]);
        let warps = spec.warps + if has_producer { PRODUCER_WARPS } else { 0 };
        let shape = Shape::prepared(blocks, warps * LANES, layout.shared_bytes)?;
        let argument = self.argument(layout, special, buffers);
        // SAFETY: the kernel reads the array's samples, and writes its outputs, at addresses where the caller has as
        // many. All kernels of these modules wait for the launch before.
        unsafe {
            if spec.begins_early() {
                launch_early(function, stream, shape, &argument)
            } else {
                launch(function, stream, shape, &argument)
            }
        }
    }

    fn argument(
        &self,
        layout: LaunchLayout,
        SpecialValues { run, near_zero }: SpecialValues,
        [input, output]: [sys::CUdeviceptr; 2],
    ) -> LaunchArgument {
        let LaunchLayout { strips, division, lanes, warps, depth, depth_behind_last, .. } = layout;
        let (segments, long_share_256, edge_columns) = match division {
            Division::Segments { count, long_share_256, edge_columns } => (count, long_share_256 as i32, edge_columns),
            Division::Line { parts } => (parts, LINE, 0),
        };
        let Around { rows: of_rows, columns: of_columns, own_sides } = self.candidates.around;
        let [[above, below], [before, behind]] = [of_rows.boundary, of_columns.boundary];
        let bytes = [above, below, before, behind].map(|boundary| boundary as u8);
        let View { size: [rows, columns, _], column_step, image_step, .. } = self.candidates.view;
        let images = ImagesArgument {
            input,
            output,
            rows: rows as i64,
            column_step: column_step as i64,
            image_step: image_step as i64,
            value: of_rows.value[0],
            columns: columns as i32,
            strips: strips as i32,
            segments: segments as i32,
            long_share_256,
            lanes: lanes as i32,
            warps: warps as i32,
            depth: depth as i32,
            boundary: if own_sides { u32::from_le_bytes(bytes) } else { of_rows.boundary[0] },
            run,
            near_zero,
            depth_behind_last: depth_behind_last as i32,
            edge_columns: edge_columns as i32,
        };
        let sides = OtherSides { below: of_rows.value[1], before: of_columns.value[0], behind: of_columns.value[1] };
        LaunchArgument { images, sides }
    }
}

impl Several for Launches<'_> {
    type Layout = Candidate;

    fn fastest(&self, sweeps: usize) -> Option<(usize, &Candidate)> {
        self.candidates.fastest(sweeps).map(|candidate| (candidate.sweeps, candidate))
    }

    fn batch_granularity(&self) -> usize {
        self.candidates.fastest(usize::MAX).map_or(1, |candidate| candidate.sweeps)
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        candidate: &Candidate,
        buffers: [sys::CUdeviceptr; 2],
        aligned: bool,
    ) -> Result<(), Error> {
        let loaded = self.loaded.iter().find(|loaded| loaded.spec.is(candidate.spec));
        let loaded = loaded.ok_or_else(|| Error::Internal("A module of a launch is not loaded.".into()))?;
        let aligned = aligned && candidate.spec.is_aligned(self.candidates.view.size, &candidate.layout);
        let mut special = SpecialValues::default();
        if let Some(star) = &loaded.star {
            let function = (&star.functions[usize::from(aligned)], false);
            self.submit(
                stream,
                function,
                candidate,
                SpecialValues { run: star.run, near_zero: star.near_zero },
                buffers,
            )?;
            special.run = star.run;
        }
        let function = (&loaded.functions[usize::from(aligned)], aligned && candidate.spec.has_producer);
        self.submit(stream, function, candidate, special, buffers)
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::MODULES;
    use super::*;
    use crate::cuda::module::tests::argument_bytes;

    /// Bytes of the argument of a module for one boundary, and of one with a boundary for each side.
    const BYTES: [usize; 2] = [size_of::<ImagesArgument>(), size_of::<LaunchArgument>()];

    #[test]
    fn the_kernels_take_this_argument() {
        let check = |name: &str, functions: &[&str], bytes: usize| {
            for function in functions {
                assert_eq!(argument_bytes(name, function), bytes, "{name}");
            }
        };
        for spec in &MODULES {
            let bytes = BYTES[usize::from(spec.own_sides)];
            check(spec.name, &["sweeps_images", "sweeps_images_aligned"], bytes);
            if spec.is_star {
                check(spec.name, &["sweeps_images_star", "sweeps_images_star_aligned"], bytes);
            }
        }
    }
}
