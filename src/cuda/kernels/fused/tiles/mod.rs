//! Several sweeps of a filter over small images that lie on the device, in each launch: `cuda/sweeps/tiles/tiles.cu`.
//!
//! A launch costs some microseconds, and a sweep over a small image takes less. The kernel gives the bits of single
//! sweeps. It is for every chip, and used where a [`model`] predicts that it is faster than all other kernels.

mod choose;
mod model;
#[cfg(test)]
mod tests;

use cudarc::driver::sys;

use super::super::several::{Several, SeveralPlan};
use super::super::{Area, LoadOnce, Loaded, Plan};
use crate::cuda::Element;
use crate::cuda::arguments::{EndsArgument, MIRROR, REPLICATE, Repeated, SYMMETRIC, TilesArgument};
use crate::cuda::module::{Function, Modules, Shape, launch};
use crate::partition::Size;
use crate::stencil::{Error, Filter};

pub(in super::super) use choose::Tilings;
use model::{SHARED_EVERYWHERE, Tiling};

impl Repeated {
    /// Takes both ends of a region that holds `held` samples.
    fn both([low, high]: [u32; 2], held: usize) -> [Repeated; 2] {
        let of = |end, replicated, included| match end {
            REPLICATE => Repeated { first: replicated, turns: 0 },
            SYMMETRIC => Repeated { first: included, turns: -1 },
            MIRROR => Repeated { first: 2 * replicated, turns: -1 },
            _ => Repeated { first: 0, turns: 1 },
        };
        let held = held as i32;
        [of(low, 0, -1), of(high, held - 1, 2 * held - 1)]
    }
}

/// Plans several sweeps of a convolution over a whole array. `single` is the plan of single sweeps.
///
/// # Errors
/// The driver's.
pub(in super::super) fn plan<'a, T: Element>(
    loaded: &'a LoadOnce,
    modules: &Modules,
    area: &Area<T>,
    filter: &Filter<T>,
    tilings: Tilings,
    single: Box<dyn Plan<T> + 'a>,
) -> Result<Box<dyn Plan<T> + 'a>, Error> {
    let entries = (c"F", bytemuck::cast_slice(filter.values()));
    let Loaded { function, module, .. } =
        loaded.get(modules, area.queued, tilings.module.name, entries, c"sweeps_tiles")?;
    let shared = tilings.each.iter().map(|tiling| tiling.most_shared(tilings.module, filter.size())).max();
    if let Some(bytes) = shared.filter(|&bytes| bytes > SHARED_EVERYWHERE) {
        function.allow_shared(bytes)?;
    }
    let launches = Launches {
        function,
        tilings,
        size: area.tile.size(),
        filter: filter.size(),
        ends: [area.sides[0], area.sides[1]].map(EndsArgument::new),
    };
    Ok(Box::new(SeveralPlan { single_sweeps: single, pace: module.pace(area.shared), launches }))
}

/// Launches over an array.
struct Launches<'a> {
    function: &'a Function,
    tilings: Tilings,
    size: Size,
    filter: Size,
    /// Boundaries at the ends of rows and of columns.
    ends: [EndsArgument; 2],
}

impl Several for Launches<'_> {
    type Layout = Tiling;

    fn fastest(&self, sweeps: usize) -> Option<(usize, &Tiling)> {
        self.tilings.least(sweeps).map(|tiling| (tiling.sweeps, tiling))
    }

    fn launch(
        &self,
        stream: sys::CUstream,
        tiling: &Tiling,
        buffers: [sys::CUdeviceptr; 2],
        _: bool,
    ) -> Result<(), Error> {
        let [rows, columns, pages] = self.size;
        let (pitch, buffer) = tiling.buffer(self.tilings.module, self.filter);
        let [of_rows, of_columns] = self.ends;
        let repeated = |ends: EndsArgument, i: usize| Repeated::both(ends.boundary, tiling.region[i]);
        let turn = |divisor: usize| (1_u64 << 32).div_ceil(divisor as u64) as u32;
        let argument = TilesArgument {
            input: buffers[0],
            output: buffers[1],
            of_rows,
            of_columns,
            repeated_rows: repeated(of_rows, 0),
            repeated_columns: repeated(of_columns, 1),
            rows: rows as i32,
            columns: columns as i32,
            region_rows: tiling.region[0] as i32,
            region_columns: tiling.region[1] as i32,
            tiles_down: tiling.tiles[0] as i32,
            tiles_across: tiling.tiles[1] as i32,
            patches_down: tiling.patches[0] as i32,
            patches_across: tiling.patches[1] as i32,
            pitch: pitch as i32,
            buffer: buffer as i32,
            sweeps: tiling.sweeps as i32,
            height: self.filter[0] as i32,
            width: self.filter[1] as i32,
            tiles_turn: turn(tiling.tiles[0]),
            patches_turn: turn(tiling.patches[0]),
            unused: 0,
        };
        let shape =
            Shape::prepared(tiling.blocks(pages), tiling.threads(), 2 * buffer * self.tilings.module.element())?;
        // SAFETY: the kernel reads the array's samples, and writes its outputs, at addresses where the caller has as
        // many.
        unsafe { launch(self.function, stream, shape, &argument) }
    }
}
