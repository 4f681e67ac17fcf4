//! Arithmetic on arrays: `cuda/arithmetic/arithmetic.cu`.
//!
//! Everything here puts launches on a stream, and nothing waits for them.

mod argument;
mod reduce;
mod scans;
mod sort;
mod walk;

use std::ffi::CStr;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::NoUninit;
use cudarc::driver::sys;

use crate::cuda::Element;
use crate::cuda::arguments::{AdvanceArgument, FillArgument, ListArgument, SectionArgument, Walk};
use crate::cuda::module::{Module, Modules, Shape, Turns, launch};
use crate::stencil::{Error, Section};

pub(in crate::cuda) use argument::On;
pub(in crate::cuda) use reduce::scratch_of;
pub(in crate::cuda) use scans::{ScanKernels, room_of_scan};
pub(in crate::cuda) use sort::{SortKernels, SortRooms, SortedLines};
pub(in crate::cuda) use walk::Places;

/// The images, for single and for double.
const IMAGES: [&str; 2] = ["arithmetic_float", "arithmetic_double"];

/// The kernels for one class of numbers, loaded.
pub(in crate::cuda) struct ArithmeticKernels<T> {
    module: Arc<Module>,
    threads: usize,
    /// The elements of a block: of arrays side by side, and of any others.
    block: usize,
    anywhere: usize,
    /// Short lines that share a lane.
    short_lines: usize,
    /// The elements of the longest line that is short.
    short_column: usize,
    turns: Arc<Turns>,
    class: PhantomData<T>,
}

/// Kernels of a module for a class of numbers.
pub(in crate::cuda) trait Family: Sized {
    type Element;

    fn load(modules: &Modules) -> Result<Self, Error>;
}

/// No kernel: copies alone, for which no module is loaded.
pub(in crate::cuda) struct Copies<T>(PhantomData<T>);

impl<T: Element> Family for Copies<T> {
    type Element = T;

    fn load(_: &Modules) -> Result<Copies<T>, Error> {
        Ok(Copies(PhantomData))
    }
}

impl<T: Element> Family for ArithmeticKernels<T> {
    type Element = T;

    fn load(modules: &Modules) -> Result<ArithmeticKernels<T>, Error> {
        let module = modules.get(IMAGES[usize::from(T::NAME == f64::NAME)])?;
        let threads = module.constant(c"arithmetic_threads")?;
        Ok(ArithmeticKernels {
            threads,
            block: threads * module.constant(c"arithmetic_own")?,
            anywhere: threads * module.constant(c"arithmetic_run")?,
            short_lines: module.constant(c"arithmetic_short_lines")?,
            short_column: module.constant(c"arithmetic_short_column")?,
            module,
            turns: modules.turns().clone(),
            class: PhantomData,
        })
    }
}

impl<T: Element> ArithmeticKernels<T> {
    /// Flag for the next launch: 1 if it begins with the last elements.
    fn backwards(&self) -> u32 {
        self.turns.next().into()
    }

    /// # Safety
    /// As [`launch`].
    unsafe fn launch<A: NoUninit>(
        &self,
        stream: sys::CUstream,
        kernel: &'static CStr,
        blocks: usize,
        argument: &A,
    ) -> Result<(), Error> {
        let function = self.module.function(kernel)?;
        let shape = Shape::row(blocks, self.threads)?;
        // SAFETY: as the caller says.
        unsafe { launch(&function, stream, shape, argument) }
    }

    /// Makes every element `value`: `count` of them, at least one, as in all the methods below.
    ///
    /// # Safety
    /// The stream is open, and of the context that the modules are of. Until it has been waited for, there are as many
    /// elements at the addresses, each one that the driver gave, and nobody else touches them.
    pub(in crate::cuda) unsafe fn fill(
        &self,
        stream: sys::CUstream,
        value: T,
        to: sys::CUdeviceptr,
        count: usize,
    ) -> Result<(), Error> {
        let argument = FillArgument { to, count: count as u64, value: value.to_f64() };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_fill", count.div_ceil(self.block), &argument) }
    }

    /// A step of two time levels, in the place of the older one.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::fill`].
    pub(in crate::cuda) unsafe fn advance(
        &self,
        stream: sys::CUstream,
        step: sys::CUdeviceptr,
        weight: T,
        source: Option<On<T>>,
        older: sys::CUdeviceptr,
        count: usize,
    ) -> Result<(), Error> {
        let (address, scalar) = source.map_or((0, 0.0), On::parts);
        let argument = AdvanceArgument {
            step,
            source: address,
            older,
            count: count as u64,
            weight: weight.to_f64(),
            scalar,
            with_source: source.is_some().into(),
            backwards: self.backwards(),
        };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_advance", count.div_ceil(self.block), &argument) }
    }

    /// The places of a section.
    pub(in crate::cuda) fn places(&self, section: &Section) -> Places {
        Places { start: section.start, walk: Walk::new(section.size, section.steps, self.threads) }
    }

    /// One of two kernels, by the way that goes through the places.
    ///
    /// # Safety
    /// As the kernels'.
    unsafe fn in_section(
        &self,
        stream: sys::CUstream,
        kernels: [&'static CStr; 2],
        places: &Places,
        [from, to]: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let argument = SectionArgument { from, to, start: places.start as u64, walk: places.walk };
        let (kernel, blocks) = places.walk.way(kernels, self.anywhere);
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, kernel, blocks, &argument) }
    }

    /// `to[i] = from[places[i]]`.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::fill`]; all places are in the first array.
    pub(in crate::cuda) unsafe fn pick(
        &self,
        stream: sys::CUstream,
        places: &Places,
        [from, to]: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        // SAFETY: as the caller says.
        unsafe { self.in_section(stream, [c"arithmetic_pick_flat", c"arithmetic_pick_rows"], places, [from, to]) }
    }

    /// `to[places[i]] = from[i]`.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::fill`]; all places are in the second array.
    pub(in crate::cuda) unsafe fn put(
        &self,
        stream: sys::CUstream,
        places: &Places,
        [from, to]: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        // SAFETY: as the caller says.
        unsafe { self.in_section(stream, [c"arithmetic_put_flat", c"arithmetic_put_rows"], places, [from, to]) }
    }

    /// `to[i] = from[list[i]]`.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::fill`]; all places are in the first array.
    pub(in crate::cuda) unsafe fn pick_list(
        &self,
        stream: sys::CUstream,
        list: sys::CUdeviceptr,
        [from, to]: [sys::CUdeviceptr; 2],
        count: usize,
    ) -> Result<(), Error> {
        let argument = ListArgument { from, to, places: list, others: 0, count: count as u64 };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_pick_list", count.div_ceil(self.anywhere), &argument) }
    }

    /// `to[list[i]] = from[others[i]]`, or `from[i]` without `others`. No place comes twice.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::fill`]; all places are in the second array, and the others in the first one.
    pub(in crate::cuda) unsafe fn put_list(
        &self,
        stream: sys::CUstream,
        list: sys::CUdeviceptr,
        others: Option<sys::CUdeviceptr>,
        [from, to]: [sys::CUdeviceptr; 2],
        count: usize,
    ) -> Result<(), Error> {
        let argument = ListArgument { from, to, places: list, others: others.unwrap_or(0), count: count as u64 };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_put_list", count.div_ceil(self.anywhere), &argument) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::arguments::ReductionArgument;
    use crate::cuda::module::tests::argument_bytes;

    #[test]
    fn the_kernels_take_these_arguments() {
        for image in IMAGES {
            for (kernel, bytes) in [
                ("fill", size_of::<FillArgument>()),
                ("advance", size_of::<AdvanceArgument>()),
                ("pick_flat", size_of::<SectionArgument>()),
                ("pick_rows", size_of::<SectionArgument>()),
                ("put_flat", size_of::<SectionArgument>()),
                ("put_rows", size_of::<SectionArgument>()),
                ("pick_list", size_of::<ListArgument>()),
                ("put_list", size_of::<ListArgument>()),
            ] {
                assert_eq!(argument_bytes(image, &format!("arithmetic_{kernel}")), bytes, "{image} {kernel}");
            }
            for form in ["lines", "short_lines", "columns", "short_columns"] {
                for of in ["", "two_"] {
                    let kernel = format!("arithmetic_reduce_{of}{form}");
                    assert_eq!(argument_bytes(image, &kernel), size_of::<ReductionArgument>(), "{image} {kernel}");
                }
            }
        }
    }
}
