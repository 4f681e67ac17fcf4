//! Launches: the one place where kernels are handed to the driver, and what is checked before.

use std::ffi::c_void;

use bytemuck::NoUninit;
use cudarc::driver::{result, sys};

use super::error::failed;
use super::module::Function;
use crate::stencil::Error;

/// The most blocks along the two dimensions of a grid that are used here: CUDA's limits on every chip.
const MOST_BLOCKS: [usize; 2] = [i32::MAX as usize, 65_535];

/// The most threads in a block.
const MOST_THREADS: usize = 1024;

/// The most shared memory that a launch may ask for, in bytes, without the kernel's being prepared for more.
const MOST_SHARED: usize = 48 << 10;

/// The most bytes of arguments, on every chip and driver.
const MOST_ARGUMENTS: usize = 4096;

/// The blocks of a launch and their threads, within what CUDA can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    grid: [u32; 2],
    block: [u32; 2],
    shared_bytes: u32,
}

impl Shape {
    /// So many blocks of so many threads each, in two dimensions, with so many bytes of shared memory beside what the
    /// kernel declares.
    ///
    /// # Errors
    /// [`Error::Internal`] for what no chip can do, and for a launch of nothing.
    pub(super) fn new(grid: [usize; 2], block: [usize; 2], shared_bytes: usize) -> Result<Shape, Error> {
        let blocks_fit = grid.iter().zip(MOST_BLOCKS).all(|(&blocks, most)| (1..=most).contains(&blocks));
        let threads = block[0].saturating_mul(block[1]);
        if !blocks_fit || !(1..=MOST_THREADS).contains(&threads) || shared_bytes > MOST_SHARED {
            let [columns, rows] = grid;
            return Err(Error::Internal(format!(
                "{columns} x {rows} blocks of {} x {} threads with {shared_bytes} bytes of shared memory in one launch",
                block[0], block[1]
            )));
        }
        // All of them are small now.
        Ok(Shape {
            grid: grid.map(|blocks| blocks as u32),
            block: block.map(|threads| threads as u32),
            shared_bytes: shared_bytes as u32,
        })
    }

    /// So many blocks of so many threads, in a row.
    pub(super) fn row(blocks: usize, threads: usize) -> Result<Shape, Error> {
        Shape::new([blocks, 1], [threads, 1], 0)
    }

    /// The threads of a block.
    pub(super) fn threads(&self) -> usize {
        (self.block[0] * self.block[1]) as usize
    }
}

/// A number as the kernels count it, in an integer of their own.
///
/// # Errors
/// [`Error::Internal`] where it is too large for that; `what` says what is counted.
pub(super) fn counter<T: TryFrom<usize>>(number: usize, what: &str) -> Result<T, Error> {
    T::try_from(number).map_err(|_| Error::Internal(format!("{number} {what}: more than a kernel can count")))
}

/// Puts a kernel on the stream, which takes `argument` and nothing else. The argument is copied now, also where the
/// launch is only recorded.
///
/// # Safety
/// `A` is the argument of the kernel, field for field. The stream is open, and of the context that the kernel was
/// loaded in. Until the stream has been waited for, there are as many elements at the addresses in `argument` as the
/// kernel reads and writes, and nobody else touches them.
pub(super) unsafe fn launch<A: NoUninit>(
    function: &Function,
    stream: sys::CUstream,
    shape: Shape,
    argument: &A,
) -> Result<(), Error> {
    const { assert!(size_of::<A>() <= MOST_ARGUMENTS, "more than a launch takes along") };
    let mut arguments = [(&raw const *argument).cast_mut().cast::<c_void>()];
    let Shape { grid, block, shared_bytes } = shape;
    // SAFETY: as the caller says; the driver only reads the argument.
    unsafe {
        result::launch_kernel(
            function.handle(),
            (grid[0], grid[1], 1),
            (block[0], block[1], 1),
            shared_bytes,
            stream,
            &mut arguments,
        )
    }
    .map_err(failed("cuLaunchKernel"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::images;
    use super::*;

    /// The bytes of the one argument that `kernel` takes, as its image declares it.
    pub(in super::super) fn argument_bytes(image: &str, kernel: &str) -> usize {
        let ptx = images::ptx(image).unwrap().into_string().unwrap();
        let (_, rest) =
            ptx.split_once(&format!(".entry {kernel}(")).unwrap_or_else(|| panic!("no kernel {kernel} in {image}"));
        let (parameters, _) = rest.split_once(')').unwrap();
        assert!(!parameters.contains(','), "{kernel} takes more than one argument");
        let (_, bytes) = parameters.split_once(&format!("{kernel}_param_0[")).unwrap();
        bytes.split_once(']').unwrap().0.parse().unwrap()
    }

    #[test]
    fn a_shape_is_what_every_chip_can_launch() {
        let most = i32::MAX as usize;
        for (grid, block, shared_bytes, fits) in [
            ([1, 1], [1, 1], 0, true),
            ([most, 65_535], [1024, 1], 48 << 10, true),
            ([most + 1, 1], [1, 1], 0, false),
            // What is left of it in 32 bits would be a launch of one block.
            ([(1 << 32) + 1, 1], [1, 1], 0, false),
            ([1, 65_536], [1, 1], 0, false),
            ([0, 1], [1, 1], 0, false),
            ([1, 0], [1, 1], 0, false),
            ([1, 1], [32, 32], 0, true),
            ([1, 1], [32, 33], 0, false),
            ([1, 1], [1025, 1], 0, false),
            ([1, 1], [0, 1], 0, false),
            ([1, 1], [1 << 32, 1 << 32], 0, false),
            ([1, 1], [1, 1], (48 << 10) + 1, false),
            ([1, 1], [1, 1], 1 << 32, false),
        ] {
            let shape = Shape::new(grid, block, shared_bytes);
            let expected = Shape {
                grid: grid.map(|x| x as u32),
                block: block.map(|x| x as u32),
                shared_bytes: shared_bytes as u32,
            };
            match shape {
                Ok(shape) => assert!(fits && shape == expected, "{shape:?}"),
                Err(error) => {
                    assert!(!fits && matches!(error, Error::Internal(_)), "{grid:?} {block:?} {shared_bytes}: {error}")
                }
            }
        }
        assert_eq!(Shape::row(7, 128), Shape::new([7, 1], [128, 1], 0));
        assert_eq!(Shape::new([1, 1], [32, 4], 0).unwrap().threads(), 128);
    }

    #[test]
    fn counters_hold_what_they_count() {
        assert_eq!(counter::<i32>(i32::MAX as usize, "tiles"), Ok(i32::MAX));
        assert_eq!(counter::<u32>(u32::MAX as usize, "strips"), Ok(u32::MAX));
        for (number, error) in [
            (1_u64 << 31, counter::<i32>(1 << 31, "tiles").unwrap_err()),
            (1 << 32, counter::<u32>(1 << 32, "tiles").unwrap_err()),
        ] {
            assert_eq!(error, Error::Internal(format!("{number} tiles: more than a kernel can count")));
        }
    }
}
