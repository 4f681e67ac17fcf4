//! Choice of the kernel for a sweep: every reason that a sweep takes one kernel and not another.
//!
//! A convolution is [`along_lines`] or a [`ConvolutionKernel`], by its filter alone ([`Way::of`]). Then a route brings the
//! array, or its tiles, to the device, and [`ConvolutionKernel::plan`] chooses again, by what lies there.

use std::cell::OnceCell;

use super::super::Element;
use super::super::module::Modules;
use super::any_filter;
use super::convolution;
use super::fused::images::{self, Candidates};
use super::fused::tiles::{self, Tilings};
use super::fused::volumes::{self, Layouts};
use super::lines::{AS_ONE_LENGTH, LinesKernel, Operator, SPLIT_LENGTH};
use super::sweeps::SweepsKernel;
use super::{Area, Kernel, LoadOnce, Plan, are_known, tensor};
use crate::partition::{Cut, Size};
use crate::stencil::{Convolution, Ends, Error, Filter, Lines, Sides, Taps};

/// Maximum size of filters for the kernels of several sweeps, and the square ones: rows and columns of filters of one
/// page, and extents of others along each dimension.
const LARGEST: [usize; 2] = [15, 7];

/// Minimum of multiply-adds counted for an output: on the slowest devices they take as long as moving it.
const MIN_WORK: usize = 11;

/// Nanoseconds that a byte takes to the device and back: 10^8 doubles go there in 16.2 ms and come back in 21.2 (an
/// H200 and 16 threads, BENCHMARKS.md). On other machines it takes longer.
const LINK_NS_PER_BYTE: f64 = 0.05;

/// Nanoseconds of a multiply-add if several sweeps are done at once: 3 x 3 in double does 1,240 thousand million
/// updates a second (an H200, BENCHMARKS.md). On other chips it takes longer; one with few units for doubles computes
/// up to twice as much as necessary.
const NS_PER_MULTIPLY_ADD: f64 = 7e-5;

/// Kernels that a convolution goes to.
pub(in super::super) enum Way<T> {
    /// Those along lines.
    Lines(Operator, Lines, Ends<T>),
    /// [`ConvolutionKernel`], by which the array may be seen in another way.
    Convolution(Convolution<T>),
}

impl<T: Element> Way<T> {
    /// Chooses by the filter.
    pub(in super::super) fn of(what: &Convolution<T>) -> Way<T> {
        let (filter, is_float) = (what.filter(), T::NAME == f32::NAME);
        if let Some((dim, lines)) = what.lines() {
            // Along one dimension the chain of multiply-adds is a stencil's. Its kernels have as many taps as a stencil,
            // and in single there are those of many sweeps alone.
            if Taps::fit(filter.values().len()) && (what.sweeps() > 1 || !is_float) {
                return Way::Lines(Operator::filter(filter), lines, what.boundary()[dim]);
            }
        }
        // Kernels of certain sizes take arrays without reordering; for the others lines can be cut wherever a tile ends.
        let turned = if is_small(filter) { None } else { what.along_columns() };
        Way::Convolution(turned.unwrap_or_else(|| what.clone()))
    }
}

/// Returns the kernel for sweeps along lines; `on_device` states that the whole array lies there.
pub(in super::super) fn along_lines<T: Element>(
    operator: &Operator,
    lines: Lines,
    ends: Ends<T>,
    sweeps: usize,
    on_device: bool,
) -> Box<dyn Kernel<T>> {
    // The kernel for one sweep along lines of neighbours supplies zeros outside; other ghost cells must be in memory.
    let zeros = ends.same(Ends::default());
    let as_one = lines.length() < AS_ONE_LENGTH && zeros;
    let split = lines.length() >= SPLIT_LENGTH && (zeros || !on_device);
    if sweeps == 1 && lines.inner() == 1 && (as_one || split) && operator.has_single_sweep() {
        return Box::new(LinesKernel::new(operator, lines, ends));
    }
    // It chooses among its modules by the length and the number of the lines of a tile.
    Box::new(SweepsKernel::new(operator, lines, ends))
}

/// True if the filter is one for kernels of fixed sizes.
fn is_small<T: Element>(filter: &Filter<T>) -> bool {
    let size = filter.size();
    filter.is_centred() && size.iter().all(|&entries| entries <= LARGEST[usize::from(size[2] > 1)])
}

/// A convolution by the families of kernels, for any number of sweeps.
#[derive(Debug, Clone)]
pub(in super::super) struct ConvolutionKernel<T> {
    size: Size,
    filter: Filter<T>,
    sides: Sides<T>,
    by_own_size: LoadOnce,
    by_any_filter: LoadOnce,
    on_tensor_cores: LoadOnce,
    over_images: images::LoadedModules,
    over_volumes: LoadOnce,
    in_tiles: LoadOnce,
}

impl<T: Element> ConvolutionKernel<T> {
    pub(in super::super) fn new(what: &Convolution<T>) -> ConvolutionKernel<T> {
        let (size, filter, sides) = (what.size(), what.filter().clone(), what.boundary());
        let (by_own_size, by_any_filter, on_tensor_cores, over_images, over_volumes, in_tiles) = Default::default();
        ConvolutionKernel {
            size,
            filter,
            sides,
            by_own_size,
            by_any_filter,
            on_tensor_cores,
            over_images,
            over_volumes,
            in_tiles,
        }
    }

    /// Returns the boundaries, with zeros along dimensions where the filter has one entry: no ghost cell is multiplied
    /// there.
    fn effective_sides(&self) -> Sides<T> {
        let radius = self.filter.radius();
        [0, 1, 2].map(|d| if radius[d] > 0 { self.sides[d] } else { Ends::default() }).into()
    }

    fn plan_any_filter(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error> {
        any_filter::plan(&self.by_any_filter, modules, area, &self.filter)
    }

    /// Plans the launches of single sweeps by a small filter.
    fn plan_single_sweeps(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error> {
        // Most of a tile would lie outside the array.
        if any_filter::is_few(area.tile.size(), convolution::TILE) {
            return self.plan_any_filter(modules, area);
        }
        // In double, on chips that were measured, where there is enough work.
        if let Some(plan) = tensor::plan(&self.on_tensor_cores, modules, area, &self.filter, self.effective_sides())? {
            return Ok(plan);
        }
        // Square filters.
        if let Some(name) = convolution::module_for::<T>(self.filter.size()) {
            return convolution::plan(&self.by_own_size, modules, area, &self.filter, name);
        }
        self.plan_any_filter(modules, area)
    }
}

impl<T: Element> Kernel<T> for ConvolutionKernel<T> {
    fn another(&self) -> Box<dyn Kernel<T>> {
        Box::new(self.clone())
    }

    fn cut(&self, _: usize, target: usize, limit: usize) -> Cut<T> {
        Cut::volume(self.size, self.sides, self.filter.radius(), target, limit)
    }

    fn deep(&self, sweeps: usize, limit: usize) -> Option<Cut<T>> {
        let update = self.work() as f64 * NS_PER_MULTIPLY_ADD / (size_of::<T>() as f64 * LINK_NS_PER_BYTE);
        Cut::deep(self.size, self.sides, self.filter.radius(), sweeps, limit, update)
    }

    fn halo_samples(&self, _: usize) -> usize {
        0
    }

    fn work(&self) -> usize {
        let entries = self.filter.values().len().max(MIN_WORK);
        // In single, the slowest of devices does twice as many in the same time: a safe estimate.
        if T::NAME == f32::NAME { entries.div_ceil(2) } else { entries }
    }

    fn name(&self) -> &'static str {
        "a convolution"
    }

    fn prefers_resident(&self, sweeps: usize) -> bool {
        sweeps > 1
    }

    fn plan(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error> {
        let filter = &self.filter;
        // Even and large filters have no kernel of their own size.
        if !is_small(filter) {
            return self.plan_any_filter(modules, area);
        }
        // Single sweeps are what each family is compared with, and do the sweeps that its launches leave over.
        let single_sweeps = self.plan_single_sweeps(modules, area)?;
        // Launches of several sweeps are for arrays that lie on the device whole and are swept more than once.
        if !area.is_swept() || !(0..3).all(|d| are_known(area.sides[d])) {
            return Ok(single_sweeps);
        }
        // A family takes them where its model, of constants measured for each module, is faster than single sweeps. Small
        // images are for every chip, and must be faster than large ones, too; the others, for chips that were measured.
        let of_images = OnceCell::new();
        let images = || of_images.get_or_init(|| Candidates::of(modules, area, filter)).as_ref();
        if let Some(tilings) = Tilings::of(modules, area, filter, || images()?.time_by_any_filter(area.sweeps)) {
            return tiles::plan(&self.in_tiles, modules, area, filter, tilings, single_sweeps);
        }
        if images().is_some()
            && let Some(candidates) = of_images.into_inner().flatten()
        {
            return images::plan(&self.over_images, modules, area, filter, candidates, single_sweeps);
        }
        if let Some(layouts) = Layouts::of(modules, area, filter, self.effective_sides()) {
            return volumes::plan(&self.over_volumes, modules, area, filter, layouts, single_sweeps);
        }
        // Walks are tried while these run (`program/walked.rs`).
        Ok(single_sweeps)
    }
}
