//! A convolution that reads its filter from constant memory, and then its image once: `cuda/study/convolution.cu`.

use std::ops::RangeInclusive;

use super::super::runtime::module::{Shape, counter};
use super::{Array, Bench, Launch, Row, noise};
use crate::cuda::arguments::StudyConvolutionArgument;
use crate::stencil::{Error, Real};

/// Possible radii of a filter; as in the document.
pub const RADII: RangeInclusive<usize> = 1..=7;

/// Convolves a square image in single precision with a square filter.
#[derive(Debug, Clone, PartialEq)]
pub struct Convolution {
    /// Rows of the image, and columns.
    pub size: usize,
    /// Entries of the filter on either side of its middle.
    pub radius: usize,
}

impl Default for Convolution {
    fn default() -> Convolution {
        Convolution { size: 4096, radius: 2 }
    }
}

/// Returns an entry of the filter; the values differ from the image's first ones.
fn entry(index: usize) -> f32 {
    noise(index + (1 << 30))
}

impl Convolution {
    /// Returns the number of rows, and of columns, of the filter.
    fn filter_size(&self) -> usize {
        2 * self.radius + 1
    }

    /// Returns the output in row `index % size` and column `index / size`.
    fn output(&self, filter: &[f32], sample: impl Fn(usize) -> f32, index: usize) -> f32 {
        let Convolution { size, radius } = *self;
        let (row, column) = (index % size, index / size);
        let inside = |at: usize| at.checked_sub(radius).filter(|&at| at < size);
        filter.iter().enumerate().fold(0.0, |sum, (k, &entry)| {
            let (i, j) = (k % self.filter_size(), k / self.filter_size());
            let at = inside(row + i).zip(inside(column + j));
            at.map_or(0.0, |(row, column)| sample(row + size * column)).fma(entry, sum)
        })
    }

    /// Returns the operations for a byte that a block of a tiled kernel reads from global memory: it reads every sample
    /// under its tile once.
    fn tiled_operations_per_byte(&self, tile_edge: usize) -> f64 {
        let operations = 2 * (tile_edge * self.filter_size()).pow(2);
        let bytes = size_of::<f32>() * (tile_edge + 2 * self.radius).pow(2);
        operations as f64 / bytes as f64
    }

    pub(super) fn run(&self, bench: &mut Bench) -> Result<(), Error> {
        let stream = bench.device.stream().clone();
        let count = self.size * self.size;
        let filter: Vec<f32> = (0..self.filter_size().pow(2)).map(entry).collect();
        let image = Array::filled(&stream, count, &noise)?;
        let output = Array::<f32>::new(&stream, count)?;
        let global = Array::filled(&stream, filter.len(), &entry)?;
        let module = bench.device.modules.get("study_convolution")?;
        module.set_symbol(c"constantFilter", &filter)?;
        let edge = module.constant(c"study_edge")?;
        let tile_edge = module.constant(c"study_tile_edge")?;
        let tile_columns = module.constant(c"study_tile_columns")?;
        // An inner step of the basic kernel loads a sample and an entry of the filter, 8 bytes, for a product and a
        // sum. The constant cache saves the second load.
        let kernels = [
            ("basic", module.function(c"convolution_basic")?, edge, edge, 2.0 / 8.0),
            ("constant", module.function(c"convolution_constant")?, edge, edge, 2.0 / 4.0),
            (
                "tiled",
                module.function(c"convolution_tiled")?,
                tile_edge,
                tile_columns,
                self.tiled_operations_per_byte(tile_edge),
            ),
        ];
        let side = counter(self.size, "rows and columns")?;
        let job = StudyConvolutionArgument {
            image: image.address(),
            output: output.address(),
            filter: global.address(),
            rows: side,
            columns: side,
            radius: counter(self.radius, "entries on either side")?,
            unused: 0,
        };
        for (kernel, function, edge, block_columns, operations_per_byte) in kernels {
            let blocks = self.size.div_ceil(edge);
            let launch =
                Launch { function, shape: Shape::new([blocks, blocks], [edge, block_columns], 0)?, argument: job };
            let row = Row { study: "convolution", kernel, pattern: "", operations_per_byte: Some(operations_per_byte) };
            bench.measure(row, &launch, &output, |index| self.output(&filter, noise, index))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::runtime::module::tests::argument_bytes;
    use crate::platform::watch::Watch;
    use crate::stencil::{self, Compute, Filter, Reference};

    #[test]
    fn the_kernels_take_this_argument() {
        for kernel in ["convolution_basic", "convolution_constant", "convolution_tiled"] {
            assert_eq!(argument_bytes("study_convolution", kernel), size_of::<StudyConvolutionArgument>(), "{kernel}");
        }
    }

    #[test]
    fn it_is_the_convolution_of_the_contract() {
        for (size, radius) in [(1, 1), (2, 1), (7, 2), (12, 7), (20, 3)] {
            let study = Convolution { size, radius };
            let filter_size = study.filter_size();
            let filter: Vec<f32> = (0..filter_size * filter_size).map(entry).collect();
            let image: Vec<f32> = (0..size * size).map(noise).collect();
            let mut expected = vec![f32::NAN; size * size];
            let entries = Filter::new(filter.clone(), [filter_size, filter_size, 1]).unwrap();
            let request = stencil::Convolution::new([size, size, 1], entries);
            Reference.convolution(&request, (&image[..]).into(), (&mut expected[..]).into(), &Watch::new()).unwrap();
            for (index, expected) in expected.iter().enumerate() {
                let got = study.output(&filter, |at| image[at], index);
                assert_eq!(got.to_bits(), expected.to_bits(), "{index} of {size}, radius {radius}");
            }
        }
    }

    #[test]
    fn a_filter_with_one_entry_moves_the_image() {
        let study = Convolution { size: 4, radius: 1 };
        // Row 0 and column 1 of the filter: the sample above.
        let filter: Vec<f32> = (0..9).map(|k| if k == 3 { 1.0 } else { 0.0 }).collect();
        let moved: Vec<f32> = (0..16).map(|index| study.output(&filter, |at| at as f32, index)).collect();
        assert_eq!(moved, [0., 0., 1., 2., 0., 4., 5., 6., 0., 8., 9., 10., 0., 12., 13., 14.]);
    }

    #[test]
    fn operations_a_byte_of_a_tile() {
        // 32 x 32 outputs of a 5 x 5 filter need 36 x 36 samples.
        let study = Convolution { size: 4096, radius: 2 };
        assert_eq!(study.tiled_operations_per_byte(32), 2.0 * 1024.0 * 25.0 / (4.0 * 1296.0));
    }
}
