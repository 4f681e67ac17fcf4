//! Reductions: which kernel takes which lines, and how the results of chunks are joined.

use cudarc::driver::sys;

use super::ArithmeticKernels;
use super::argument::{joining, reduction};
use crate::cuda::Element;
use crate::cuda::arguments::ReductionArgument;
use crate::stencil::{CHUNK, Error, LANES, Reduction};

/// The most blocks of a reduction, which go on with what is left.
const MOST_BLOCKS: usize = 1 << 20;

impl<T: Element> ArithmeticKernels<T> {
    /// Reduces the middle dimension of arrays of this size, of which no extent is 0, to `to`. Each of the two of `scratch`
    /// has room for as many elements as [`scratch_of`] says.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::fill`], with the scratch; there is a second array where the reduction is of two.
    pub(in crate::cuda) unsafe fn reduce(
        &self,
        stream: sys::CUstream,
        op: Reduction,
        from: [sys::CUdeviceptr; 2],
        size: [usize; 3],
        scratch: [sys::CUdeviceptr; 2],
        to: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let (mut op, mut from, mut size) = (op, from, size);
        let [mut own, mut other] = scratch;
        loop {
            let chunks = size[1].div_ceil(CHUNK);
            // SAFETY: as the caller says; each pass reads what the last one wrote, and has room for its results.
            unsafe { self.reduce_once(stream, op, from, size, if chunks == 1 { to } else { own }) }?;
            if chunks == 1 {
                return Ok(());
            }
            (op, from, size) = (joining(op), [own, 0], [1, chunks, size[0] * size[2]]);
            (own, other) = (other, own);
        }
    }

    /// Each chunk.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::fill`].
    unsafe fn reduce_once(
        &self,
        stream: sys::CUstream,
        op: Reduction,
        from: [sys::CUdeviceptr; 2],
        [inner, length, outer]: [usize; 3],
        to: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let of_two = op.of_two();
        let chunks = length.div_ceil(CHUNK);
        let warps = self.threads / LANES;
        let (kernels, bits, blocks) = if inner == 1 && length <= LANES {
            let lanes = length.next_power_of_two();
            let lines = warps * self.short_lines * (LANES / lanes);
            let kernels = [c"arithmetic_reduce_short_lines", c"arithmetic_reduce_two_short_lines"];
            // As many as there are: no block does the work of another.
            (kernels, lanes.ilog2(), outer.div_ceil(lines))
        } else if inner == 1 {
            let kernels = [c"arithmetic_reduce_lines", c"arithmetic_reduce_two_lines"];
            (kernels, 0, (outer * chunks).div_ceil(warps).min(MOST_BLOCKS))
        } else if length <= self.short_column {
            let kernels = [c"arithmetic_reduce_short_columns", c"arithmetic_reduce_two_short_columns"];
            (kernels, 0, (inner * outer).div_ceil(self.threads))
        } else {
            let columns = inner.min(LANES).next_power_of_two();
            let units = inner.div_ceil(columns) * chunks * outer;
            let kernels = [c"arithmetic_reduce_columns", c"arithmetic_reduce_two_columns"];
            (kernels, columns.ilog2(), units.div_ceil(LANES / columns).min(MOST_BLOCKS))
        };
        let argument = ReductionArgument {
            from,
            to,
            inner: inner as u64,
            length: length as u64,
            outer: outer as u64,
            chunks: chunks as u64,
            start: op.start::<f64>(),
            op: reduction(op),
            bits,
        };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, kernels[usize::from(of_two)], blocks, &argument) }
    }
}

/// Minimum elements of the two scratch arrays of a reduction.
pub(in crate::cuda) fn scratch_of([inner, length, outer]: [usize; 3]) -> [usize; 2] {
    let lines = inner * outer;
    let chunks = length.div_ceil(CHUNK);
    let of = |chunks: usize| if chunks > 1 { lines * chunks } else { 0 };
    [of(chunks), of(chunks.div_ceil(CHUNK))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_for_every_step_but_the_last() {
        assert_eq!(scratch_of([3, 1024, 2]), [0, 0]);
        assert_eq!(scratch_of([3, 1025, 2]), [12, 0]);
        assert_eq!(scratch_of([1, (1 << 20) + 1, 1]), [1025, 2]);
    }
}
