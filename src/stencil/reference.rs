use super::{Engine, Error, Request};

/// The contract, written down as plainly as it can be. Slow, and what the engines are tested against.
#[derive(Debug, Clone, Copy)]
pub struct Reference;

impl Engine for Reference {
    fn name(&self) -> &str {
        "reference"
    }

    fn run(&self, request: &Request, output: &mut [f64]) -> Result<(), Error> {
        assert_eq!(output.len(), request.input.len());
        let (length, radius) = (request.lines.length(), request.taps.radius());
        if length == 0 {
            return Ok(());
        }
        for (line, output) in request.input.chunks(length).zip(output.chunks_mut(length)) {
            for (i, output) in output.iter_mut().enumerate() {
                let mut acc = 0.0;
                for (k, &tap) in request.taps.as_slice().iter().enumerate() {
                    let sample = (i + k).checked_sub(radius).and_then(|at| line.get(at)).copied().unwrap_or(0.0);
                    // Exact on every machine: where there is no instruction for it, the C library's fma rounds the same.
                    acc = sample.mul_add(tap, acc);
                }
                *output = acc;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{Lines, Taps};

    fn run(input: &[f64], length: usize, taps: &[f64]) -> Vec<f64> {
        let mut output = vec![f64::NAN; input.len()];
        let lines = Lines::new(length, input.len() / length);
        Reference.run(&Request::new(input, lines, Taps::new(taps).unwrap()).unwrap(), &mut output).unwrap();
        output
    }

    #[test]
    fn the_document_s_example() {
        let expected = [6., 7., 8., 9., 10., 11., 11., 11., 11., 11., 11., 11., 11., 11., 11., 10., 9., 8., 7., 6.];
        assert_eq!(run(&[1.0; 20], 20, &[1.0; 11]), expected);
    }

    #[test]
    fn it_is_a_correlation_and_lines_are_apart() {
        assert_eq!(run(&[1., 2., 3., 4.], 4, &[1., 10., 100.]), [210., 321., 432., 43.]);
        assert_eq!(run(&[1., 2., 3., 4.], 2, &[1., 10., 100.]), [210., 21., 430., 43.]);
    }

    #[test]
    fn each_step_is_rounded_once() {
        // 1 + 2^-54 rounds to 1 before the second product is added, unless the steps are fused.
        let e = 2f64.powi(-27);
        assert_eq!(run(&[-1.0, 1.0 + e, 0.0], 3, &[1.0, 1.0 - e, 0.0])[1], -(e * e));
    }

    #[test]
    fn outside_counts_for_zero_and_is_multiplied() {
        assert!(run(&[1.0, 1.0], 2, &[f64::INFINITY, 1.0, 0.0])[0].is_nan());
        assert_eq!(run(&[1.0, 1.0], 2, &[f64::INFINITY, 1.0, 0.0])[1], f64::INFINITY);
        // The chain begins with +0, so it never ends in -0 for lack of anything else.
        assert_eq!(run(&[-0.0], 1, &[1.0])[0].to_bits(), 0);
    }
}
