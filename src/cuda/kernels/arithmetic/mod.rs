//! Arithmetic on arrays: `cuda/arithmetic.cu`.
//!
//! Everything here puts launches on a stream, and nothing waits for them.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::{NoUninit, Pod, Zeroable};
use cudarc::driver::sys;

use super::super::Element;
use super::super::module::{Module, Modules, Shape, Turns, launch};
use crate::stencil::{Binary, CHUNK, Error, Expansion, LANES, RANK, Reduction, Section, Unary};

/// The images, for single and for double.
const IMAGES: [&str; 2] = ["arithmetic_float", "arithmetic_double"];

/// From so many elements on along its first dimension, a box is walked through line by line: at least half of a block's
/// places are in the line then.
const LONG: usize = 1024;

/// The most blocks of a reduction, which go on with what is left.
const MOST_BLOCKS: usize = 1 << 20;

/// The argument of what goes from one array to another: `struct OneToOne` of `cuda/arithmetic.cu`, field for field, as
/// are those below.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct OneToOne {
    from: sys::CUdeviceptr,
    to: sys::CUdeviceptr,
    count: u64,
    op: u32,
    exponent: i32,
    backwards: u32,
    unused: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Scalar {
    to: sys::CUdeviceptr,
    count: u64,
    value: f64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct TwoToOne {
    from: [sys::CUdeviceptr; 2],
    to: sys::CUdeviceptr,
    count: u64,
    scalar: [f64; 2],
    op: u32,
    backwards: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Advance {
    step: sys::CUdeviceptr,
    source: sys::CUdeviceptr,
    older: sys::CUdeviceptr,
    count: u64,
    weight: f64,
    scalar: f64,
    with_source: u32,
    backwards: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
struct Walk {
    count: u64,
    rank: u64,
    size: [u64; RANK],
    steps: [[i64; RANK]; 2],
    stride: [u64; RANK],
    advance: [i64; 2],
    wraps: [[i64; RANK]; 2],
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Expanded {
    from: [sys::CUdeviceptr; 2],
    to: sys::CUdeviceptr,
    scalar: [f64; 2],
    walk: Walk,
    op: u32,
    unused: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct InSection {
    from: sys::CUdeviceptr,
    to: sys::CUdeviceptr,
    start: u64,
    walk: Walk,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct List {
    from: sys::CUdeviceptr,
    to: sys::CUdeviceptr,
    places: sys::CUdeviceptr,
    others: sys::CUdeviceptr,
    count: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Reduced {
    from: [sys::CUdeviceptr; 2],
    to: sys::CUdeviceptr,
    inner: u64,
    length: u64,
    outer: u64,
    chunks: u64,
    start: f64,
    op: u32,
    bits: u32,
}

/// An operand on the device.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum On<T> {
    Array(sys::CUdeviceptr),
    Scalar(T),
}

impl<T: Element> On<T> {
    /// Its address, if it has one, and its value, if it has not.
    fn parts(self) -> (sys::CUdeviceptr, f64) {
        match self {
            On::Array(address) => (address, 0.0),
            On::Scalar(value) => (0, value.to_f64()),
        }
    }
}

/// The number of an operation, and its exponent.
fn unary(op: Unary) -> (u32, i32) {
    match op {
        Unary::Negate => (0, 0),
        Unary::Abs => (1, 0),
        Unary::Sqrt => (2, 0),
        Unary::Not => (3, 0),
        Unary::IsNan => (4, 0),
        Unary::Power(exponent) => (5, exponent),
    }
}

fn binary(op: Binary) -> u32 {
    match op {
        Binary::Add => 0,
        Binary::Subtract => 1,
        Binary::Multiply => 2,
        Binary::Divide => 3,
        Binary::Min => 4,
        Binary::Max => 5,
        Binary::Equal => 6,
        Binary::NotEqual => 7,
        Binary::Less => 8,
        Binary::LessEqual => 9,
        Binary::Greater => 10,
        Binary::GreaterEqual => 11,
        Binary::And => 12,
        Binary::Or => 13,
    }
}

fn reduction(op: Reduction) -> u32 {
    match op {
        Reduction::Sum => 0,
        Reduction::Dot => 1,
        Reduction::SumOfMagnitudes => 2,
        Reduction::Min => 3,
        Reduction::Max => 4,
        Reduction::LargestMagnitude => 5,
        Reduction::Any => 6,
        Reduction::All => 7,
        Reduction::Differ => 8,
    }
}

/// What reduces the results of chunks: it takes as `op` joins.
///
/// The others do so themselves. (A result of magnitudes has no sign to lose, and one of logic is 0 or 1.)
fn joining(op: Reduction) -> Reduction {
    match op {
        Reduction::Dot => Reduction::Sum,
        Reduction::Differ => Reduction::Any,
        other => other,
    }
}

impl Walk {
    /// Through a box of this size, by these steps in two arrays; a thread's elements are `threads` places apart.
    /// Dimensions of one element are left out, and those that go on as the one before them would are merged.
    fn new(size: [usize; RANK], steps: [[isize; RANK]; 2], threads: usize) -> Walk {
        let mut walk = Walk { rank: 1, size: [1; RANK], ..Walk::zeroed() };
        walk.count = size.iter().product::<usize>() as u64;
        let mut last = None;
        for d in (0..RANK).filter(|&d| size[d] != 1) {
            let (extent, by) = (size[d] as u64, steps.map(|of| of[d] as i64));
            match last {
                Some(before) if (0..2).all(|a| by[a] == walk.size[before] as i64 * walk.steps[a][before]) => {
                    walk.size[before] *= extent;
                }
                _ => {
                    let next = last.map_or(0, |before| before + 1);
                    walk.size[next] = extent;
                    (0..2).for_each(|a| walk.steps[a][next] = by[a]);
                    last = Some(next);
                }
            }
        }
        let rank = last.unwrap_or(0) + 1;
        walk.rank = rank as u64;
        let mut left = threads as u64;
        for d in 0..rank {
            // Along the last dimension there is no end that a walk could go beyond.
            let extent = if d + 1 < rank { walk.size[d] } else { u64::MAX };
            walk.stride[d] = left.checked_rem(extent).unwrap_or(0);
            left = left.checked_div(extent).unwrap_or(0);
        }
        for a in 0..2 {
            walk.advance[a] = (0..rank).map(|d| walk.stride[d] as i64 * walk.steps[a][d]).sum();
            for d in 1..rank {
                walk.wraps[a][d - 1] = walk.steps[a][d] - walk.size[d - 1] as i64 * walk.steps[a][d - 1];
            }
        }
        walk
    }

    fn is_long(&self) -> bool {
        self.size[0] >= LONG as u64
    }

    /// Which kernel of two goes this way, and how many blocks of so many places it takes.
    fn way(&self, kernels: [&'static CStr; 2], places: usize) -> (&'static CStr, usize) {
        let blocks = |count: u64| count.div_ceil(places as u64) as usize;
        if self.is_long() {
            (kernels[1], blocks(self.size[0]) * (self.count / self.size[0]) as usize)
        } else {
            (kernels[0], blocks(self.count))
        }
    }
}

/// A section as the kernels go through it.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Places {
    start: usize,
    walk: Walk,
}

impl Places {
    /// Where the only run of neighbours begins that the section is, if it is one.
    pub(in super::super) fn run(&self) -> Option<usize> {
        let one = self.walk.rank == 1 && (self.walk.size[0] == 1 || self.walk.steps[0][0] == 1);
        one.then_some(self.start)
    }
}

/// The kernels for one class of numbers, loaded.
pub(in super::super) struct ArithmeticKernels<T> {
    module: Arc<Module>,
    threads: usize,
    /// The elements of a block: of arrays side by side, of those to be converted, of any others.
    block: usize,
    converted: usize,
    anywhere: usize,
    /// How many short lines a lane takes a part of.
    short_lines: usize,
    /// The elements of the longest line that is short.
    short_column: usize,
    turns: Arc<Turns>,
    class: PhantomData<T>,
}

impl<T: Element> ArithmeticKernels<T> {
    pub(in super::super) fn new(modules: &Modules) -> Result<ArithmeticKernels<T>, Error> {
        let module = modules.get(IMAGES[usize::from(T::NAME == f64::NAME)])?;
        let threads = module.constant(c"arithmetic_threads")?;
        Ok(ArithmeticKernels {
            threads,
            block: threads * module.constant(c"arithmetic_own")?,
            converted: threads * module.constant(c"arithmetic_own_converted")?,
            anywhere: threads * module.constant(c"arithmetic_run")?,
            short_lines: module.constant(c"arithmetic_short_lines")?,
            short_column: module.constant(c"arithmetic_short_column")?,
            module,
            turns: modules.turns().clone(),
            class: PhantomData,
        })
    }

    /// Whether the next launch begins with the last elements, as the kernels are told.
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

    /// `to[i] = op from[i]`, for `count` of them, at least one, as in all the methods below.
    ///
    /// # Safety
    /// The stream is open, and of the context that the modules are of. Until it has been waited for, there are as many
    /// elements at the addresses, each one that the driver gave, and nobody else touches them.
    pub(in super::super) unsafe fn unary(
        &self,
        stream: sys::CUstream,
        op: Unary,
        [from, to]: [sys::CUdeviceptr; 2],
        count: usize,
    ) -> Result<(), Error> {
        let (op, exponent) = unary(op);
        let argument = OneToOne { from, to, count: count as u64, op, exponent, backwards: self.backwards(), unused: 0 };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_unary", count.div_ceil(self.block), &argument) }
    }

    /// Converts from the other class.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::unary`]; the elements at the first address are of the other class.
    pub(in super::super) unsafe fn convert(
        &self,
        stream: sys::CUstream,
        [from, to]: [sys::CUdeviceptr; 2],
        count: usize,
    ) -> Result<(), Error> {
        let argument =
            OneToOne { from, to, count: count as u64, op: 0, exponent: 0, backwards: self.backwards(), unused: 0 };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_convert", count.div_ceil(self.converted), &argument) }
    }

    /// Every element is `value`.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::unary`].
    pub(in super::super) unsafe fn fill(
        &self,
        stream: sys::CUstream,
        value: T,
        to: sys::CUdeviceptr,
        count: usize,
    ) -> Result<(), Error> {
        let argument = Scalar { to, count: count as u64, value: value.to_f64() };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_fill", count.div_ceil(self.block), &argument) }
    }

    /// Two operands that go together everywhere.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::unary`].
    pub(in super::super) unsafe fn binary(
        &self,
        stream: sys::CUstream,
        op: Binary,
        operands: [On<T>; 2],
        to: sys::CUdeviceptr,
        count: usize,
    ) -> Result<(), Error> {
        let parts = operands.map(On::parts);
        let argument = TwoToOne {
            from: parts.map(|(address, _)| address),
            to,
            count: count as u64,
            scalar: parts.map(|(_, value)| value),
            op: binary(op),
            backwards: self.backwards(),
        };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_binary", count.div_ceil(self.block), &argument) }
    }

    /// A step of two time levels, in the place of the older one.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::unary`].
    pub(in super::super) unsafe fn advance(
        &self,
        stream: sys::CUstream,
        step: sys::CUdeviceptr,
        weight: T,
        source: Option<On<T>>,
        older: sys::CUdeviceptr,
        count: usize,
    ) -> Result<(), Error> {
        let (address, scalar) = source.map_or((0, 0.0), On::parts);
        let argument = Advance {
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

    /// Two operands, expanded.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::unary`]; there are as many elements as the expansion says.
    pub(in super::super) unsafe fn expanded(
        &self,
        stream: sys::CUstream,
        op: Binary,
        operands: [On<T>; 2],
        expansion: &Expansion,
        to: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let parts = operands.map(On::parts);
        // No array is as long as that a step could not be signed.
        let steps = expansion.steps().map(|steps| steps.map(|step| step as isize));
        let walk = Walk::new(expansion.size(), steps, self.threads);
        let argument = Expanded {
            from: parts.map(|(address, _)| address),
            to,
            scalar: parts.map(|(_, value)| value),
            walk,
            op: binary(op),
            unused: 0,
        };
        let (kernel, blocks) = walk.way([c"arithmetic_expanded_flat", c"arithmetic_expanded_rows"], self.anywhere);
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, kernel, blocks, &argument) }
    }

    /// The places of a section.
    pub(in super::super) fn places(&self, section: &Section) -> Places {
        // Beside them goes an array whose elements are neighbours.
        let mut apart = 1;
        let beside = section.size.map(|extent| {
            let step = apart;
            apart *= extent as isize;
            step
        });
        Places { start: section.start, walk: Walk::new(section.size, [section.steps, beside], self.threads) }
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
        let argument = InSection { from, to, start: places.start as u64, walk: places.walk };
        let (kernel, blocks) = places.walk.way(kernels, self.anywhere);
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, kernel, blocks, &argument) }
    }

    /// `to[i] = from[places[i]]`.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::unary`]; all places are in the first array.
    pub(in super::super) unsafe fn pick(
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
    /// As [`ArithmeticKernels::unary`]; all places are in the second array.
    pub(in super::super) unsafe fn put(
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
    /// As [`ArithmeticKernels::unary`]; all places are in the first array.
    pub(in super::super) unsafe fn pick_list(
        &self,
        stream: sys::CUstream,
        list: sys::CUdeviceptr,
        [from, to]: [sys::CUdeviceptr; 2],
        count: usize,
    ) -> Result<(), Error> {
        let argument = List { from, to, places: list, others: 0, count: count as u64 };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_pick_list", count.div_ceil(self.anywhere), &argument) }
    }

    /// `to[list[i]] = from[others[i]]`, or `from[i]` without `others`. No place comes twice.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::unary`]; all places are in the second array, and the others in the first one.
    pub(in super::super) unsafe fn put_list(
        &self,
        stream: sys::CUstream,
        list: sys::CUdeviceptr,
        others: Option<sys::CUdeviceptr>,
        [from, to]: [sys::CUdeviceptr; 2],
        count: usize,
    ) -> Result<(), Error> {
        let argument = List { from, to, places: list, others: others.unwrap_or(0), count: count as u64 };
        // SAFETY: as the caller says.
        unsafe { self.launch(stream, c"arithmetic_put_list", count.div_ceil(self.anywhere), &argument) }
    }

    /// Reduces the middle dimension of arrays of this size, of which no extent is 0. The results are at the address
    /// that is returned: at one of the two of `scratch`, which has room for [`scratch_of`] elements.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::unary`], with the scratch; there is a second array where the reduction is of two.
    pub(in super::super) unsafe fn reduce(
        &self,
        stream: sys::CUstream,
        op: Reduction,
        from: [sys::CUdeviceptr; 2],
        size: [usize; 3],
        scratch: [sys::CUdeviceptr; 2],
    ) -> Result<sys::CUdeviceptr, Error> {
        let [mut to, mut other] = scratch;
        let mut chunks = size[1].div_ceil(CHUNK);
        // SAFETY: as the caller says.
        unsafe { self.reduce_once(stream, op, from, size, to) }?;
        while chunks > 1 {
            let size = [1, chunks, size[0] * size[2]];
            (to, other) = (other, to);
            // SAFETY: what it reads was written by the last one, and there is room for fewer results than that had.
            unsafe { self.reduce_once(stream, joining(op), [other, 0], size, to) }?;
            chunks = chunks.div_ceil(CHUNK);
        }
        Ok(to)
    }

    /// Each chunk.
    ///
    /// # Safety
    /// As [`ArithmeticKernels::unary`].
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
        let argument = Reduced {
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

/// How many elements each of the two scratch arrays of a reduction must have.
pub(in super::super) fn scratch_of([inner, length, outer]: [usize; 3]) -> [usize; 2] {
    let lines = inner * outer;
    let chunks = length.div_ceil(CHUNK);
    [lines * chunks, if chunks > 1 { lines * chunks.div_ceil(CHUNK) } else { 0 }]
}

#[cfg(test)]
mod tests {
    use super::super::super::module::tests::argument_bytes;
    use super::*;

    #[test]
    fn the_kernels_take_these_arguments() {
        for image in IMAGES {
            for (kernel, bytes) in [
                ("unary", size_of::<OneToOne>()),
                ("convert", size_of::<OneToOne>()),
                ("fill", size_of::<Scalar>()),
                ("binary", size_of::<TwoToOne>()),
                ("advance", size_of::<Advance>()),
                ("expanded_flat", size_of::<Expanded>()),
                ("expanded_rows", size_of::<Expanded>()),
                ("pick_flat", size_of::<InSection>()),
                ("pick_rows", size_of::<InSection>()),
                ("put_flat", size_of::<InSection>()),
                ("put_rows", size_of::<InSection>()),
                ("pick_list", size_of::<List>()),
                ("put_list", size_of::<List>()),
            ] {
                assert_eq!(argument_bytes(image, &format!("arithmetic_{kernel}")), bytes, "{image} {kernel}");
            }
            for form in ["lines", "short_lines", "columns", "short_columns"] {
                for of in ["", "two_"] {
                    let kernel = format!("arithmetic_reduce_{of}{form}");
                    assert_eq!(argument_bytes(image, &kernel), size_of::<Reduced>(), "{image} {kernel}");
                }
            }
        }
    }

    #[test]
    fn a_walk_leaves_out_what_is_no_dimension() {
        let plain = Walk::new([4, 1, 5, 1, 3], [[1, 9, 4, 9, 20], [2, 7, 8, 7, 40]], 256);
        assert_eq!((plain.rank, plain.size, plain.count), (1, [60, 1, 1, 1, 1], 60));
        assert_eq!((plain.stride, plain.advance), ([256, 0, 0, 0, 0], [256, 512]));
        let one = Walk::new([1; RANK], [[0; RANK]; 2], 256);
        assert_eq!((one.rank, one.size, one.count), (1, [1; RANK], 1));
        let row = Walk::new([3, 200, 1, 7, 1], [[1, 3, 0, 600, 0], [0, 1, 0, 200, 0]], 256);
        // Along the first both steps must go on: the first array alone is all neighbours.
        assert_eq!((row.rank, row.size), (2, [3, 1400, 1, 1, 1]));
        assert_eq!(row.stride, [1, 85, 0, 0, 0]);
        assert_eq!((row.advance, row.wraps[0][0], row.wraps[1][0]), ([256, 85], 0, 1));
    }

    /// What the kernels do with it, against the sum of products that it stands for.
    #[test]
    fn a_walk_comes_by_every_place() {
        for (size, steps) in [
            ([3, 2, 5, 2, 7], [[-2, 11, 100, -7, 1000], [1, 3, 6, 30, 60]]),
            ([300, 2, 3, 1, 1], [[2, 1, -900, 0, 0], [1, 300, 600, 0, 0]]),
            ([1, 1, 1, 9, 40], [[5, 5, 5, 2, -1], [0, 0, 0, 1, 9]]),
        ] {
            let walk = Walk::new(size, steps, 256);
            let offset = |a: usize, mut at: usize| -> i64 {
                (0..RANK)
                    .map(|d| {
                        let index = at % size[d];
                        at /= size[d];
                        index as i64 * steps[a][d] as i64
                    })
                    .sum()
            };
            let rank = walk.rank as usize;
            for first in 0..256.min(walk.count as usize) {
                let mut left = first as u64;
                let mut index: Vec<u64> = (0..rank)
                    .map(|d| {
                        let extent = if d + 1 < rank { walk.size[d] } else { u64::MAX };
                        let index = left % extent;
                        left /= extent;
                        index
                    })
                    .collect();
                let mut at = [0, 1].map(|a| (0..rank).map(|d| index[d] as i64 * walk.steps[a][d]).sum::<i64>());
                for place in (first..walk.count as usize).step_by(256) {
                    assert_eq!(at, [offset(0, place), offset(1, place)], "{size:?} {place}");
                    (0..2).for_each(|a| at[a] += walk.advance[a]);
                    let mut over = false;
                    for (d, index) in index.iter_mut().enumerate().take(rank - 1) {
                        *index += walk.stride[d] + u64::from(over);
                        over = *index >= walk.size[d];
                        if over {
                            *index -= walk.size[d];
                            (0..2).for_each(|a| at[a] += walk.wraps[a][d]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn scratch_is_for_every_step() {
        assert_eq!(scratch_of([3, 1024, 2]), [6, 0]);
        assert_eq!(scratch_of([3, 1025, 2]), [12, 6]);
        assert_eq!(scratch_of([1, (1 << 20) + 1, 1]), [1025, 2]);
    }
}
