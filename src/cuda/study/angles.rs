//! A table that every thread reads from end to end: `cuda/study/angles.cu`.

use super::{Array, Bench, Launch, Row};
use crate::cuda::arguments::AnglesArgument;
use crate::stencil::Error;

/// Entries of the table: one a degree.
const ANGLES: usize = 360;

/// Threads a block, as in the document.
const BLOCK_SIZE: usize = 64;

/// Number of distinct elements: few sums then suffice to check them all.
const DISTINCT: usize = 1000;

/// Adds all 360 angles to each element, the table in constant and in global memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Angles {
    /// Numbers of elements, each measured by itself.
    pub threads: Vec<usize>,
}

impl Default for Angles {
    /// Returns the document's number, which leaves most of a device idle, and one that fills it.
    fn default() -> Angles {
        Angles { threads: vec![3200, 1 << 24] }
    }
}

/// Returns an angle in radians.
fn angle(degrees: usize) -> f32 {
    ((-1_f64).acos() * degrees as f64 / 180.0) as f32
}

fn element(index: usize) -> f32 {
    (index % DISTINCT) as f32 / 8.0
}

/// Adds all angles to an element, one after the other.
fn sum(element: f32) -> f32 {
    (0..ANGLES).fold(element, |sum, degrees| sum + angle(degrees))
}

impl Angles {
    pub(super) fn run(&self, bench: &mut Bench) -> Result<(), Error> {
        let stream = bench.device.stream().clone();
        let values: Vec<f32> = (0..ANGLES).map(angle).collect();
        let global = Array::filled(&stream, ANGLES, &angle)?;
        let module = bench.device.modules.get("study_angles")?;
        module.set_symbol(c"constantAngles", &values)?;
        let kernels =
            [("constant", module.function(c"angles_constant")?), ("global", module.function(c"angles_global")?)];
        let expected: Vec<f32> = (0..DISTINCT).map(|index| sum(element(index))).collect();
        for &count in &self.threads {
            let elements = Array::filled(&stream, count, &element)?;
            let sums = Array::<f32>::new(&stream, count)?;
            let job = AnglesArgument {
                elements: elements.address(),
                sums: sums.address(),
                angles: global.address(),
                count: count as u64,
            };
            for &(kernel, ref function) in &kernels {
                let launch = Launch::over(function, count, BLOCK_SIZE, 0, job)?;
                let row = Row { study: "angles", kernel, pattern: "", operations_per_byte: None };
                bench.measure(row, &launch, &sums, |index| expected[index % DISTINCT])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::runtime::module::tests::argument_bytes;

    #[test]
    fn the_kernels_take_this_argument() {
        for kernel in ["angles_constant", "angles_global"] {
            assert_eq!(argument_bytes("study_angles", kernel), size_of::<AnglesArgument>(), "{kernel}");
        }
    }

    #[test]
    fn angles_go_round_the_circle() {
        assert_eq!(angle(0), 0.0);
        assert_eq!(angle(90), std::f32::consts::FRAC_PI_2);
        assert_eq!(angle(180), std::f32::consts::PI);
        assert!((0..ANGLES).all(|degrees| (f64::from(angle(degrees)) - (degrees as f64).to_radians()).abs() < 5e-7));
    }

    #[test]
    fn the_sum_is_that_of_the_series() {
        // 0 + 1 + .. + 359 degrees.
        let expected = std::f64::consts::PI * (359.0 * 180.0) / 180.0;
        assert!((f64::from(sum(0.0)) - expected).abs() < 0.01, "{}", sum(0.0));
        assert!((f64::from(sum(element(80))) - 10.0 - expected).abs() < 0.01);
    }

    #[test]
    fn elements_repeat() {
        assert_eq!(element(8), 1.0);
        assert_eq!(element(DISTINCT + 8), 1.0);
    }
}
