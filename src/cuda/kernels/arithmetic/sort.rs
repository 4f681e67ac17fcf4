//! Lines in order: `cuda/arithmetic/sort.cu`.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Zeroable;
use cudarc::driver::sys;

use super::{Family, ScanKernels, room_of_scan};
use crate::cuda::Element;
use crate::cuda::arguments::SortArgument;
use crate::cuda::module::{Module, Modules, Shape, launch};
use crate::stencil::{Error, Order};

/// The images, for single and for double.
const IMAGES: [&str; 2] = ["arithmetic_sort_float", "arithmetic_sort_double"];

/// The values of a byte.
const DIGITS: usize = 256;

/// The kernels for one class of numbers, loaded.
pub(in crate::cuda) struct SortKernels<T> {
    module: Arc<Module>,
    scans: ScanKernels<T>,
    threads: usize,
    /// The elements of the longest line that is short, and of a tile of a long one.
    short: usize,
    tile: usize,
    class: PhantomData<T>,
}

impl<T: Element> Family for SortKernels<T> {
    type Element = T;

    fn load(modules: &Modules) -> Result<SortKernels<T>, Error> {
        let module = modules.get(IMAGES[usize::from(T::NAME == f64::NAME)])?;
        Ok(SortKernels {
            threads: module.constant(c"arithmetic_threads")?,
            short: module.constant(c"arithmetic_sort_short")?,
            tile: module.constant(c"arithmetic_sort_tile")?,
            scans: ScanKernels::load(modules)?,
            module,
            class: PhantomData,
        })
    }
}

/// Lines of neighbours.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) struct SortedLines {
    pub(in crate::cuda) length: usize,
    pub(in crate::cuda) lines: usize,
}

/// Scratch of a sort: first in bytes, then as addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cuda) struct SortRooms<N> {
    /// As much as the output.
    pub(in crate::cuda) values: N,
    /// The earlier place of each element.
    pub(in crate::cuda) origins: [N; 2],
    pub(in crate::cuda) counts: N,
    pub(in crate::cuda) scan: N,
}

impl<T: Element> SortKernels<T> {
    /// Scratch that a sort needs, in bytes.
    pub(in crate::cuda) fn rooms(&self, of: SortedLines, with_places: bool) -> SortRooms<usize> {
        let SortedLines { length, lines } = of;
        if length <= self.short {
            return SortRooms { values: 0, origins: [0; 2], counts: 0, scan: 0 };
        }
        let counts = DIGITS * length.div_ceil(self.tile);
        let origins = if with_places { length * lines * size_of::<u32>() } else { 0 };
        SortRooms {
            values: length * lines * size_of::<T>(),
            origins: [origins; 2],
            counts: counts * lines * size_of::<u64>(),
            scan: room_of_scan([1, counts, lines]) * size_of::<u64>(),
        }
    }

    /// Sorts lines that are not empty, from one address to another, which may be the same. `places` is where the places
    /// in their lines go that the elements come from; 0 where they are not wanted.
    ///
    /// # Safety
    /// The stream is open, and of the context that the modules are of. Until it has been waited for, there are as many
    /// elements at the addresses, and as much in the rooms as [`SortKernels::rooms`] says, and nobody else touches them.
    pub(in crate::cuda) unsafe fn sort(
        &self,
        stream: sys::CUstream,
        order: Order,
        of: SortedLines,
        [from, to, places]: [sys::CUdeviceptr; 3],
        rooms: SortRooms<sys::CUdeviceptr>,
    ) -> Result<(), Error> {
        let SortedLines { length, lines } = of;
        let tiles = length.div_ceil(self.tile);
        let argument = SortArgument {
            from,
            to,
            places,
            counts: rooms.counts,
            length: length as u64,
            lines: lines as u64,
            tiles: tiles as u64,
            descending: (order == Order::Descending).into(),
            ..SortArgument::zeroed()
        };
        if length <= self.short {
            let blocks = lines.div_ceil(self.short / length);
            // SAFETY: as the caller says.
            return unsafe { self.launch(stream, c"arithmetic_sort_short_lines", blocks, &argument) };
        }
        // The number of passes is even: the last one goes to the output.
        let passes = size_of::<T>();
        for pass in 0..passes {
            let [origins, origins_to] = if pass % 2 == 0 { [1, 0] } else { [0, 1] }.map(|room| rooms.origins[room]);
            let (is_first, is_last) = (pass == 0, pass + 1 == passes);
            let argument = SortArgument {
                from: if is_first { from } else { [to, rooms.values][pass % 2] },
                to: [rooms.values, to][pass % 2],
                origins: if is_first || places == 0 { 0 } else { origins },
                origins_to: if places == 0 || is_last { 0 } else { origins_to },
                places: if is_last { places } else { 0 },
                shift: 8 * pass as i32,
                ..argument
            };
            // SAFETY: as the caller says; each launch reads what those before it wrote.
            unsafe {
                self.launch(stream, c"arithmetic_sort_count", lines * tiles, &argument)?;
                self.scans.scan_counts(stream, [DIGITS * tiles, lines], rooms.counts, rooms.scan)?;
                self.launch(stream, c"arithmetic_sort_scatter", lines * tiles, &argument)?;
            }
        }
        Ok(())
    }

    /// # Safety
    /// As [`launch`].
    unsafe fn launch(
        &self,
        stream: sys::CUstream,
        kernel: &'static CStr,
        blocks: usize,
        argument: &SortArgument,
    ) -> Result<(), Error> {
        let function = self.module.function(kernel)?;
        // SAFETY: as the caller says.
        unsafe { launch(&function, stream, Shape::row(blocks, self.threads)?, argument) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::module::tests::argument_bytes;

    #[test]
    fn the_kernels_take_these_arguments() {
        for image in IMAGES {
            for kernel in ["sort_short_lines", "sort_count", "sort_scatter"] {
                let bytes = argument_bytes(image, &format!("arithmetic_{kernel}"));
                assert_eq!(bytes, size_of::<SortArgument>(), "{image} {kernel}");
            }
        }
    }
}
