//! Room for the blocks and tiles of a thread.

use bytemuck::{Pod, Zeroable};

use crate::memory;
use crate::stencil::Error;

/// The most elements of a block: ten buffers stay in the first-level cache.
pub(super) const BLOCK: usize = 512;

/// The most elements of a tile: what some filters give stays in the second-level cache.
pub(super) const TILE: usize = 6 * BLOCK;

/// A line of the cache. Buffers are made of them: vectors that lie in two take twice as long.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u64; 8]);

/// Room for numbers of either class.
#[derive(Debug, Default)]
pub(super) struct Buffer(Vec<CacheLine>);

impl Buffer {
    /// Has room for so many elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn grow<T>(&mut self, elements: usize) -> Result<(), Error> {
        let lines = (elements * size_of::<T>()).div_ceil(size_of::<CacheLine>());
        Ok(memory::enlarge(&mut self.0, lines, "the tiles of a program")?)
    }

    pub(super) fn all<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }

    pub(super) fn all_mut<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// Buffers of a thread.
#[derive(Default)]
pub(super) struct Buffers {
    /// One for each result of a block.
    pub(super) blocks: Vec<Buffer>,
    pub(super) numbers: Vec<Buffer>,
    pub(super) filters: Vec<Sheets>,
    /// Samples that are copied together.
    pub(super) samples: Buffer,
}

impl Buffers {
    /// Has one for each of these numbers, in single where it says so, and so many others. A task begins: arrays may be others.
    ///
    /// # Errors
    /// As [`Buffer::grow`].
    pub(super) fn make(&mut self, numbers: &[(f64, bool)], filters: usize, blocks: usize) -> Result<(), Error> {
        for &(number, single) in &numbers[self.numbers.len()..] {
            let mut buffer = Buffer::default();
            buffer.grow::<f64>(BLOCK)?;
            if single {
                buffer.all_mut().fill(number as f32)
            } else {
                buffer.all_mut().fill(number)
            }
            self.numbers.push(buffer);
        }
        self.filters.resize_with(filters, Sheets::default);
        self.filters.iter_mut().try_for_each(|sheets| sheets.begin(TILE))?;
        self.blocks.resize_with(blocks, Buffer::default);
        self.blocks.iter_mut().chain([&mut self.samples]).try_for_each(|buffer| buffer.grow::<f64>(BLOCK))
    }
}

/// A filter's results and samples in a thread.
#[derive(Default)]
pub(super) struct Sheets {
    /// Its results over a tile.
    pub(super) results: Buffer,
    /// Samples, and which sheets they are: the first line of the tile in its page, its first row, and the page.
    pub(super) samples: Buffer,
    pub(super) held: Vec<Option<[usize; 3]>>,
}

impl Sheets {
    /// Has room for a tile of so many elements, and forgets the samples, which may be others now.
    ///
    /// # Errors
    /// As [`Buffer::grow`].
    fn begin(&mut self, tile: usize) -> Result<(), Error> {
        self.held.clear();
        self.results.grow::<f64>(tile)
    }
}
