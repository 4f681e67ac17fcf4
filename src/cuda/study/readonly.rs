//! Constant memory, the read-only cache and kernel arguments, for the coefficients of a derivative:
//! `cuda/study/readonly.cu`.

use super::{Array, Bench, Launch, Row, noise};
use crate::cuda::arguments::ReadOnlyArgument;
use crate::stencil::{CoefficientSource, DERIVATIVE_RADIUS, Derivative, Error, Lines, Real};

/// Takes the nine-point derivative of a line of samples in single precision, at a spacing of 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOnly {
    /// Number of samples.
    pub points: usize,
    /// Threads a block, each measured by itself.
    pub block_sizes: Vec<usize>,
}

impl Default for ReadOnly {
    /// Returns the document's parameters, and larger blocks.
    fn default() -> ReadOnly {
        ReadOnly { points: 16_777_216, block_sizes: vec![32, 64, 128, 256, 512, 1024] }
    }
}

/// Returns the coefficients of the library's derivative.
fn coefficients() -> [f32; DERIVATIVE_RADIUS] {
    let nothing = Derivative::<f32>::new(Lines::new(0, 0), 1.0, CoefficientSource::Constant);
    *nothing.coefficients()
}

/// Returns the derivative at place `x` of a line of `count` samples, with zeros outside.
fn derivative(coefficients: &[f32; DERIVATIVE_RADIUS], count: usize, sample: impl Fn(usize) -> f32, x: usize) -> f32 {
    let at = |x: Option<usize>| x.filter(|&x| x < count).map_or(0.0, &sample);
    let terms = (1..).zip(coefficients);
    terms.fold(0.0, |sum, (i, &coefficient)| coefficient.fma(at(x.checked_add(i)) - at(x.checked_sub(i)), sum))
}

impl ReadOnly {
    pub(super) fn run(&self, bench: &mut Bench) -> Result<(), Error> {
        let stream = bench.device.stream().clone();
        let count = self.points;
        let argument = coefficients();
        let samples = Array::filled(&stream, count, &noise)?;
        let output = Array::<f32>::new(&stream, count)?;
        let global = Array::filled(&stream, argument.len(), &|i| argument[i])?;
        let module = bench.device.modules.get("study_readonly")?;
        module.set_symbol(c"constantCoefficients", &argument)?;
        let kernels = [
            ("constant", module.function(c"derivative_constant")?),
            ("readonly", module.function(c"derivative_readonly")?),
            ("argument", module.function(c"derivative_argument")?),
        ];
        let job = ReadOnlyArgument {
            samples: samples.address(),
            derivative: output.address(),
            coefficients: global.address(),
            count: count as u64,
            argument,
        };
        for &block_size in &self.block_sizes {
            let shared_bytes = (block_size + 2 * DERIVATIVE_RADIUS) * size_of::<f32>();
            for &(kernel, ref function) in &kernels {
                let launch = Launch::over(function, count, block_size, shared_bytes, job)?;
                let row = Row { study: "readonly", kernel, pattern: "", operations_per_byte: None };
                bench.measure(row, &launch, &output, |x| derivative(&argument, count, noise, x))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::runtime::module::tests::argument_bytes;
    use crate::platform::watch::Watch;
    use crate::stencil::{Compute, Reference};

    #[test]
    fn the_kernels_take_this_argument() {
        for kernel in ["derivative_constant", "derivative_readonly", "derivative_argument"] {
            assert_eq!(argument_bytes("study_readonly", kernel), size_of::<ReadOnlyArgument>(), "{kernel}");
        }
    }

    #[test]
    fn it_is_the_derivative_of_the_contract() {
        for count in [1, 2, 5, 8, 9, 10, 100] {
            let samples: Vec<f32> = (0..count).map(noise).collect();
            let request = Derivative::new(Lines::new(count, 1), 1.0, CoefficientSource::Constant);
            let mut expected = vec![f32::NAN; count];
            Reference.derivative(&request, (&samples[..]).into(), (&mut expected[..]).into(), &Watch::new()).unwrap();
            for (x, expected) in expected.iter().enumerate() {
                assert_eq!(
                    derivative(&coefficients(), count, |i| samples[i], x).to_bits(),
                    expected.to_bits(),
                    "{x} of {count}"
                );
            }
        }
    }

    #[test]
    fn the_derivative_of_a_line_is_its_slope() {
        for x in 4..96 {
            assert!((derivative(&coefficients(), 100, |i| 3.0 * i as f32, x) - 3.0).abs() < 1e-4);
        }
    }
}
