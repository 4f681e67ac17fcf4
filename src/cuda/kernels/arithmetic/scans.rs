//! Results along lines that are more than one number, and lists of places: `cuda/arithmetic/scans.cu`.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::NoUninit;
use cudarc::driver::sys;

use super::Family;
use crate::cuda::Element;
use crate::cuda::arguments::{ExtremesArgument, FindArgument, OrdinalsArgument, ScanArgument, ScanOp};
use crate::cuda::module::{Module, Modules, Shape, launch};
use crate::stencil::{CHUNK, Error, Extreme, LANES, Scan};

/// The images, for single and for double.
const IMAGES: [&str; 2] = ["arithmetic_scans_float", "arithmetic_scans_double"];

/// Lines beside each other that a block scans at once, at the least and at the most.
const COLUMNS: [usize; 2] = [8, 32];

/// The kernels for one class of numbers, loaded.
pub(in crate::cuda) struct ScanKernels<T> {
    module: Arc<Module>,
    threads: usize,
    scan_threads: usize,
    /// The elements of a warp that looks for places.
    searched: usize,
    /// The elements of a part of a line in which a thread looks for an extreme, or a warp does.
    part_rows: usize,
    part_elements: usize,
    /// The elements of the longest line of neighbours for which a thread is enough.
    short_search: usize,
    class: PhantomData<T>,
}

impl<T: Element> Family for ScanKernels<T> {
    type Element = T;

    fn load(modules: &Modules) -> Result<ScanKernels<T>, Error> {
        let module = modules.get(IMAGES[usize::from(T::NAME == f64::NAME)])?;
        Ok(ScanKernels {
            threads: module.constant(c"arithmetic_threads")?,
            scan_threads: module.constant(c"arithmetic_scan_threads")?,
            searched: module.constant(c"arithmetic_searched")?,
            part_rows: module.constant(c"arithmetic_part_rows")?,
            part_elements: module.constant(c"arithmetic_part_elements")?,
            short_search: module.constant(c"arithmetic_short_search")?,
            module,
            class: PhantomData,
        })
    }
}

/// Input of a scan: numbers of the class, or counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Numbers(Scan),
    Counts,
}

/// Elements of scratch that a scan needs: the results of chunks, and of chunks of those.
pub(in crate::cuda) fn room_of_scan([inner, length, outer]: [usize; 3]) -> usize {
    let lines = inner * outer;
    let (mut room, mut chunks) = (0, length.div_ceil(CHUNK));
    while chunks > 1 {
        room += lines * chunks;
        chunks = chunks.div_ceil(CHUNK);
    }
    room
}

impl<T: Element> ScanKernels<T> {
    /// # Safety
    /// As [`launch`].
    unsafe fn launch<A: NoUninit>(
        &self,
        stream: sys::CUstream,
        kernel: &'static CStr,
        shape: [usize; 2],
        argument: &A,
    ) -> Result<(), Error> {
        let function = self.module.function(kernel)?;
        // SAFETY: as the caller says.
        unsafe { launch(&function, stream, Shape::row(shape[0], shape[1])?, argument) }
    }

    /// Scans an array of this size, of which no extent is 0, along the middle dimension.
    ///
    /// # Safety
    /// The stream is open, and of the context that the modules are of. Until it has been waited for, there are as many
    /// elements at the addresses, and [`room_of_scan`] in the room, and nobody else touches them.
    pub(in crate::cuda) unsafe fn scan(
        &self,
        stream: sys::CUstream,
        op: Scan,
        size: [usize; 3],
        [from, to]: [sys::CUdeviceptr; 2],
        room: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        // SAFETY: as the caller says.
        unsafe { self.scan_levels(stream, Of::Numbers(op), size, [from, to], room) }
    }

    /// Each of `count` counts of eight bytes, in `lines` lines, becomes the sum of all up to it.
    ///
    /// # Safety
    /// As [`ScanKernels::scan`].
    pub(in crate::cuda) unsafe fn scan_counts(
        &self,
        stream: sys::CUstream,
        [count, lines]: [usize; 2],
        counts: sys::CUdeviceptr,
        room: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        // SAFETY: as the caller says.
        unsafe { self.scan_levels(stream, Of::Counts, [1, count, lines], [counts; 2], room) }
    }

    /// # Safety
    /// As [`ScanKernels::scan`]. Input and output may be the same, where lines are of neighbours.
    unsafe fn scan_levels(
        &self,
        stream: sys::CUstream,
        of: Of,
        size: [usize; 3],
        [from, to]: [sys::CUdeviceptr; 2],
        room: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let [inner, length, outer] = size;
        let chunks = length.div_ceil(CHUNK);
        if chunks == 1 {
            // SAFETY: as the caller says.
            return unsafe { self.scan_once(stream, of, size, [from, to], 0, false) };
        }
        let (lines, each) = (inner * outer, if of == Of::Counts { size_of::<u64>() } else { size_of::<T>() });
        let further = room + (lines * chunks * each) as sys::CUdeviceptr;
        // SAFETY: as the caller says; what chunks leave is at the room's beginning.
        unsafe {
            self.scan_once(stream, of, size, [from, room], 0, true)?;
            self.scan_levels(stream, of, [1, chunks, lines], [room; 2], further)?;
            self.scan_once(stream, of, size, [from, to], room, false)
        }
    }

    /// # Safety
    /// As [`ScanKernels::scan`].
    unsafe fn scan_once(
        &self,
        stream: sys::CUstream,
        of: Of,
        [inner, length, outer]: [usize; 3],
        [from, to]: [sys::CUdeviceptr; 2],
        ahead: sys::CUdeviceptr,
        only_lasts: bool,
    ) -> Result<(), Error> {
        let chunks = length.div_ceil(CHUNK);
        let columns = inner.next_power_of_two().clamp(COLUMNS[0], COLUMNS[1]);
        let lines = if length <= LANES { outer.div_ceil(LANES) } else { outer * chunks };
        let of_lines = [lines.div_ceil(self.scan_threads / LANES), self.scan_threads];
        let (kernels, shape) = match of {
            Of::Counts => ([c"arithmetic_scan_counts", c"arithmetic_scan_counts_lasts"], of_lines),
            Of::Numbers(_) if inner == 1 => ([c"arithmetic_scan_lines", c"arithmetic_scan_lines_lasts"], of_lines),
            Of::Numbers(_) => (
                [c"arithmetic_scan_columns", c"arithmetic_scan_columns_lasts"],
                [inner.div_ceil(columns) * chunks * outer, self.threads],
            ),
        };
        let argument = ScanArgument {
            from,
            to,
            ahead,
            inner: inner as u64,
            length: length as u64,
            outer: outer as u64,
            chunks: chunks as u64,
            op: if of == Of::Numbers(Scan::Product) { ScanOp::PRODUCT } else { ScanOp::SUM },
            bits: columns.ilog2(),
        };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, kernels[usize::from(only_lasts)], shape, &argument) }
    }

    /// Parts of a line of this many candidates.
    fn parts(&self, inner: usize, length: usize) -> usize {
        length.div_ceil(if self.by_threads(inner, length) { self.part_rows } else { self.part_elements })
    }

    fn by_threads(&self, inner: usize, length: usize) -> bool {
        inner > 1 || length <= self.short_search
    }

    /// Minimum places of the two scratch arrays of [`ScanKernels::extremes`].
    pub(in crate::cuda) fn room_of_extremes(&self, [inner, length, outer]: [usize; 3]) -> [usize; 2] {
        let parts = self.parts(inner, length);
        let of = |parts: usize| if parts > 1 { inner * outer * parts } else { 0 };
        [of(parts), of(self.parts(inner, parts))]
    }

    /// The place of the smallest or the largest along the middle dimension of an array of this size, of which no extent
    /// is 0, to `found`, and the number there to `to`.
    ///
    /// # Safety
    /// As [`ScanKernels::scan`], with the two rooms.
    pub(in crate::cuda) unsafe fn extremes(
        &self,
        stream: sys::CUstream,
        which: Extreme,
        size: [usize; 3],
        [from, to, found]: [sys::CUdeviceptr; 3],
        rooms: [sys::CUdeviceptr; 2],
    ) -> Result<(), Error> {
        let [inner, whole, outer] = size;
        let ([mut own, mut other], mut length, mut places) = (rooms, whole, 0);
        loop {
            let parts = self.parts(inner, length);
            let is_last = parts == 1;
            let units = inner * outer * parts;
            let (kernel, of_block) = match self.by_threads(inner, length) {
                true => (c"arithmetic_extremes_of_columns", self.threads),
                false => (c"arithmetic_extremes_of_lines", self.threads / LANES),
            };
            let argument = ExtremesArgument {
                from,
                to: if is_last { to } else { 0 },
                places,
                found: if is_last { found } else { own },
                inner: inner as u64,
                whole: whole as u64,
                length: length as u64,
                outer: outer as u64,
                parts: parts as u64,
                largest: (which == Extreme::Largest).into(),
                unused: 0,
            };
            // SAFETY: as the caller says; each launch reads what the last one wrote.
            unsafe { self.launch(stream, kernel, [units.div_ceil(of_block), self.threads], &argument) }?;
            if is_last {
                return Ok(());
            }
            (places, length) = (own, parts);
            (own, other) = (other, own);
        }
    }

    /// Counts that a search in this many elements needs.
    pub(in crate::cuda) fn counts(&self, elements: usize) -> usize {
        elements.div_ceil(self.searched)
    }

    /// Counts the elements that are no zeros, for `find`. The last of the counts is then how many there are.
    ///
    /// # Safety
    /// As [`ScanKernels::scan`]; there is room for [`ScanKernels::counts`] counts, and for their scan.
    pub(in crate::cuda) unsafe fn count(
        &self,
        stream: sys::CUstream,
        from: sys::CUdeviceptr,
        elements: usize,
        counts: sys::CUdeviceptr,
        room: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let warps = self.counts(elements);
        let argument = FindArgument { from, counts, count: elements as u64, warps: warps as u64, places: 0 };
        // SAFETY: as the caller says.
        unsafe {
            self.launch(stream, c"arithmetic_find_count", self.shape(warps * LANES), &argument)?;
            self.scan_counts(stream, [warps, 1], counts, room)
        }
    }

    /// The places of elements that are no zeros.
    ///
    /// # Safety
    /// As [`ScanKernels::scan`]; the counts are those of [`ScanKernels::count`], and there is room for the last of them.
    pub(in crate::cuda) unsafe fn find(
        &self,
        stream: sys::CUstream,
        [from, places]: [sys::CUdeviceptr; 2],
        elements: usize,
        counts: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let warps = self.counts(elements);
        let argument = FindArgument { from, counts, places, count: elements as u64, warps: warps as u64 };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_find", self.shape(warps * LANES), &argument) }
    }

    /// `to[i] = from[i] + 1`, of whole numbers.
    ///
    /// # Safety
    /// As [`ScanKernels::scan`].
    pub(in crate::cuda) unsafe fn ordinals(
        &self,
        stream: sys::CUstream,
        [from, to]: [sys::CUdeviceptr; 2],
        count: usize,
    ) -> Result<(), Error> {
        let argument = OrdinalsArgument { from, to, count: count as u64 };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_ordinals", self.shape(count), &argument) }
    }

    fn shape(&self, threads: usize) -> [usize; 2] {
        [threads.div_ceil(self.threads), self.threads]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::module::tests::argument_bytes;

    #[test]
    fn the_kernels_take_these_arguments() {
        for image in IMAGES {
            for (kernel, bytes) in [
                ("scan_lines", size_of::<ScanArgument>()),
                ("scan_lines_lasts", size_of::<ScanArgument>()),
                ("scan_columns", size_of::<ScanArgument>()),
                ("scan_columns_lasts", size_of::<ScanArgument>()),
                ("scan_counts", size_of::<ScanArgument>()),
                ("scan_counts_lasts", size_of::<ScanArgument>()),
                ("extremes_of_lines", size_of::<ExtremesArgument>()),
                ("extremes_of_columns", size_of::<ExtremesArgument>()),
                ("find_count", size_of::<FindArgument>()),
                ("find", size_of::<FindArgument>()),
                ("ordinals", size_of::<OrdinalsArgument>()),
            ] {
                assert_eq!(argument_bytes(image, &format!("arithmetic_{kernel}")), bytes, "{image} {kernel}");
            }
        }
    }

    #[test]
    fn a_scan_has_room_for_every_level() {
        assert_eq!(room_of_scan([3, 1024, 2]), 0);
        assert_eq!(room_of_scan([3, 1025, 2]), 12);
        assert_eq!(room_of_scan([1, (1 << 20) + 1, 1]), 1025 + 2);
    }
}
