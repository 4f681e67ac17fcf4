//! Buffers of a thread for blocks and tiles.

use bytemuck::{Pod, Zeroable};

use crate::platform::memory;
use crate::stencil::Error;

/// Maximum number of elements of a block: ten buffers stay in the first-level cache.
pub(super) const BLOCK: usize = 512;

/// Maximum number of elements of a tile: the results of some filters stay in the second-level cache.
pub(super) const TILE: usize = 6 * BLOCK;

/// A cache line. Buffers are made of them: vectors that straddle two take twice as long.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u64; 8]);

/// A buffer for numbers of either class.
#[derive(Debug, Default)]
pub(super) struct Buffer(Vec<CacheLine>);

impl Buffer {
    /// Enlarges the buffer to this many elements.
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
    /// Prepares the buffers for a task: one filled with each of these numbers, in single if so marked, and this many
    /// others. Samples of an earlier task are dropped, since arrays may differ.
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
    /// Samples, with the key of each sheet: the first line of the tile in its page, its first row, and the page.
    pub(super) samples: Buffer,
    pub(super) held: Vec<Option<[usize; 3]>>,
}

impl Sheets {
    /// Enlarges the results to a tile of this many elements, and forgets the samples, which may have changed.
    ///
    /// # Errors
    /// As [`Buffer::grow`].
    fn begin(&mut self, tile: usize) -> Result<(), Error> {
        self.held.clear();
        self.results.grow::<f64>(tile)
    }
}
