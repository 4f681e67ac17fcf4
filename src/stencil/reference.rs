use super::{Compute, Convolution, DERIVATIVE_RADIUS, Derivative, Engine, Error, Real, Request};

/// The contract, written down as plainly as it can be. Slow, and what the engines are tested against.
#[derive(Debug, Clone, Copy)]
pub struct Reference;

/// The sample `offset - radius` places behind `i`, +0 where the line has none.
fn sample<T: Real>(line: &[T], i: usize, offset: usize, radius: usize) -> T {
    (i + offset).checked_sub(radius).and_then(|at| line.get(at)).copied().unwrap_or_default()
}

impl Engine for Reference {
    fn name(&self) -> &str {
        "reference"
    }

    fn stencil(&self, request: &Request, output: &mut [f64]) -> Result<(), Error> {
        assert_eq!(output.len(), request.input.len());
        // A line of no elements is no line to `chunks`.
        let length = request.lines.length().max(1);
        for (line, output) in request.input.chunks(length).zip(output.chunks_mut(length)) {
            for (i, output) in output.iter_mut().enumerate() {
                let taps = request.taps.as_slice().iter().enumerate();
                *output = taps.fold(0.0, |acc, (k, &tap)| sample(line, i, k, request.taps.radius()).fma(tap, acc));
            }
        }
        Ok(())
    }
}

impl<T: Real> Compute<T> for Reference {
    fn derivative(&self, request: &Derivative<T>, output: &mut [T]) -> Result<(), Error> {
        assert_eq!(output.len(), request.input().len());
        let length = request.lines().length().max(1);
        for (line, output) in request.input().chunks(length).zip(output.chunks_mut(length)) {
            for (x, output) in output.iter_mut().enumerate() {
                let at = |offset| sample(line, x, offset, DERIVATIVE_RADIUS);
                let terms = (1..=DERIVATIVE_RADIUS).zip(request.coefficients());
                *output = terms.fold(T::default(), |acc, (i, &c)| c.fma(at(DERIVATIVE_RADIUS + i).minus(at(DERIVATIVE_RADIUS - i)), acc));
            }
        }
        Ok(())
    }

    fn convolution(&self, request: &Convolution<T>, output: &mut [T]) -> Result<(), Error> {
        assert_eq!(output.len(), request.input().len());
        let ([rows, columns, pages], filter) = (request.size(), request.filter());
        let (size, radius) = (filter.size(), filter.radius());
        // The sample under an entry of the filter: +0 where one of its indices leaves the array.
        let at = |place: [usize; 3], entry: [usize; 3]| {
            let mut index = [0; 3];
            for d in 0..3 {
                index[d] = (place[d] + entry[d]).checked_sub(radius[d]).filter(|&at| at < request.size()[d])?;
            }
            Some(request.input()[index[0] + rows * (index[1] + columns * index[2])])
        };
        for k in 0..pages {
            for j in 0..columns {
                for i in 0..rows {
                    let mut acc = T::default();
                    for (n, &entry) in filter.values().iter().enumerate() {
                        let of_filter = [n % size[0], n / size[0] % size[1], n / (size[0] * size[1])];
                        acc = at([i, j, k], of_filter).unwrap_or_default().fma(entry, acc);
                    }
                    output[i + rows * (j + columns * k)] = acc;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{CoefficientSource, Filter, Lines, Taps};

    fn run(input: &[f64], length: usize, taps: &[f64]) -> Vec<f64> {
        let mut output = vec![f64::NAN; input.len()];
        let lines = Lines::new(length, input.len() / length);
        Reference.stencil(&Request::new(input, lines, Taps::new(taps).unwrap()).unwrap(), &mut output).unwrap();
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

    #[test]
    fn the_derivative_of_a_polynomial_is_exact_but_for_rounding() {
        // x^8 is the highest power that nine points differentiate exactly.
        let f: Vec<f64> = (0..40).map(|x| (f64::from(x) / 8.0).powi(8)).collect();
        let mut output = vec![0.0; 40];
        let request = Derivative::new(&f, Lines::new(40, 1), 1.0 / 8.0, CoefficientSource::Constant).unwrap();
        Reference.derivative(&request, &mut output).unwrap();
        for (x, &got) in output.iter().enumerate().take(36).skip(4) {
            let expected = 8.0 * (x as f64 / 8.0).powi(7);
            assert!((got - expected).abs() < 1e-12 * f[39], "{x}");
        }
        // Outside is zero: at the first sample only the right half counts.
        let c = request.coefficients();
        let first = (1..=4).fold(0.0, |acc, i| c[i - 1].mul_add(f[i], acc));
        assert_eq!(output[0], first);
    }

    #[test]
    fn a_convolution_is_not_flipped_and_ends_at_the_image() {
        let image = [1., 2., 3., 4., 5., 6.];
        let filter = Filter::new((1..=9).map(f64::from).collect(), [3, 3, 1]).unwrap();
        let mut output = [0.0; 6];
        Reference.convolution(&Convolution::new(&image, [2, 3, 1], filter).unwrap(), &mut output).unwrap();
        // The middle of the filter is its 5; of a 2 x 3 image in columns, element 0 sees 5, 6, 8 and 9 on 1, 2, 3 and 4.
        assert_eq!(output[0], 5. + 6. * 2. + 8. * 3. + 9. * 4.);
        assert_eq!(output[3], 1. + 2. * 2. + 4. * 3. + 5. * 4. + 7. * 5. + 8. * 6.);
    }

    #[test]
    fn a_filter_of_one_page_goes_page_by_page() {
        let volume = [1., 2., 10., 20.];
        let run = |filter: Filter<f64>, size| {
            let mut output = [0.0; 4];
            Reference.convolution(&Convolution::new(&volume, size, filter).unwrap(), &mut output).unwrap();
            output
        };
        let ones = |size: [usize; 3]| Filter::new(vec![1.0; size.iter().product()], size).unwrap();
        assert_eq!(run(ones([3, 1, 1]), [2, 1, 2]), [3., 3., 30., 30.]);
        assert_eq!(run(ones([3, 1, 3]), [2, 1, 2]), [33., 33., 33., 33.]);
    }
}
