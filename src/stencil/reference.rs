//! The reference: a plain implementation of every operator and every operation on arrays.
//!
//! It is slow, has one thread, and computes in ordinary memory. Each engine is tested against it, bit by bit; if code
//! here and a description elsewhere differ, the engines follow this code.

mod arithmetic;

use super::{
    AnySource, AnyTarget, Array, Arrays, Convolution, DERIVATIVE_RADIUS, Derivative, Ends, Engine, Error, Filters,
    Given, Indices, Lines, Operation, Real, Source, Stencil, Target, compute_filter,
};
use crate::platform::watch::Watch;

/// A plain implementation of the contract. Slow, and the oracle for tests of the engines.
#[derive(Debug, Clone, Copy)]
pub struct Reference;

/// Sample of a line at the place `at`, which may lie outside; `line` returns those inside.
fn sample<T: Real>(line: impl Fn(usize) -> T, at: isize, length: usize, ends: Ends<T>) -> T {
    ends.sample_at(at, length).map_or_else(|constant| constant, line)
}

/// Calls `work` for each element: with its place in the array, its place in its line, and the start of the line.
fn each_element(lines: Lines, mut work: impl FnMut(usize, isize, usize)) {
    for k in 0..lines.outer() {
        for j in 0..lines.length() {
            for i in 0..lines.inner() {
                let start = i + lines.inner() * lines.length() * k;
                work(start + lines.inner() * j, j as isize, start);
            }
        }
    }
}

/// Does several sweeps, each over the results of the one before.
fn sweeps<T: Real>(
    elements: usize,
    from: Source<T>,
    to: Target<T>,
    sweeps: usize,
    watch: &Watch,
    mut sweep: impl FnMut(&[T], &mut [T]),
) -> Result<(), Error> {
    let (input, output) = (from.samples()?, to.results()?);
    assert_eq!([input.len(), output.len()], [elements; 2]);
    output.copy_from_slice(input);
    for _ in 0..sweeps {
        watch.check()?;
        let last = output.to_vec();
        sweep(&last, output);
        watch.count(output.len());
    }
    Ok(())
}

impl Engine for Reference {
    fn name(&self) -> &str {
        "reference"
    }

    fn compute(&self, what: &Given, to: AnyTarget, watch: &Watch) -> Result<Option<Indices>, Error> {
        if let Operation::Filter(filter, from) = what {
            let stencil = |what: &Stencil, from: Source<f64>, to: Target<f64>| self.stencil_of(what, from, to, watch);
            return compute_filter(self, stencil, (filter, *from, to), watch).map(|()| None);
        }
        match to {
            AnyTarget::Double(to) => arithmetic::compute(what, to, watch),
            AnyTarget::Single(to) => arithmetic::compute(what, to, watch),
        }
    }

    fn find(&self, from: AnySource, watch: &Watch) -> Result<Indices, Error> {
        match from {
            AnySource::Single(_) => arithmetic::find::<f32>(from, watch),
            _ => arithmetic::find::<f64>(from, watch),
        }
    }

    fn ordinals(&self, indices: &Indices, to: AnyTarget, watch: &Watch) -> Result<(), Error> {
        match to {
            AnyTarget::Double(to) => arithmetic::ordinals(indices, to, watch),
            AnyTarget::Single(to) => arithmetic::ordinals(indices, to, watch),
        }
    }
}

impl Reference {
    fn stencil_of(&self, what: &Stencil, from: Source<f64>, to: Target<f64>, watch: &Watch) -> Result<(), Error> {
        let (lines, boundary, radius) = (what.lines, what.boundary, what.taps.radius() as isize);
        sweeps(lines.elements(), from, to, what.sweeps, watch, |input, output| {
            each_element(lines, |element, place, start| {
                let line = |at| input[start + lines.inner() * at];
                let taps = (place - radius..).zip(what.taps.as_slice());
                output[element] =
                    taps.fold(0.0, |acc, (at, &tap)| sample(line, at, lines.length(), boundary).fma(tap, acc));
            });
        })
    }
}

impl<T: Real> Filters<T> for Reference {
    fn derive(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let (lines, boundary) = (what.lines(), what.boundary());
        sweeps(lines.elements(), from, to, 1, watch, |input, output| {
            each_element(lines, |element, place, start| {
                let at = |at| sample(|at| input[start + lines.inner() * at], at, lines.length(), boundary);
                let terms = (1..=DERIVATIVE_RADIUS as isize).zip(what.coefficients());
                output[element] =
                    terms.fold(T::default(), |acc, (i, &c)| c.fma(at(place + i).minus(at(place - i)), acc));
            });
        })
    }

    fn convolve(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        let (size, filter, boundary) = (what.size(), what.filter(), what.boundary());
        let [rows, columns, pages] = size;
        sweeps(what.elements(), from, to, what.sweeps(), watch, |input, output| {
            // The sample under an entry of the filter, or the constant there.
            let at = |place: [usize; 3], entry: [usize; 3]| {
                let at = [0, 1, 2].map(|d| (place[d] + entry[d]) as isize - filter.before()[d] as isize);
                let found = boundary.sample_at(at, size);
                found.map_or_else(|constant| constant, |[i, j, k]| input[i + rows * (j + columns * k)])
            };
            for k in 0..pages {
                for j in 0..columns {
                    for i in 0..rows {
                        let mut acc = T::default();
                        for (n, &entry) in filter.values().iter().enumerate() {
                            let [height, width, _] = filter.size();
                            let of_filter = [n % height, n / height % width, n / (height * width)];
                            acc = at([i, j, k], of_filter).fma(entry, acc);
                        }
                        output[i + rows * (j + columns * k)] = acc;
                    }
                }
            }
        })
    }
}

impl<T: Real> Arrays<T> for Reference {
    fn array(&self, len: usize) -> Result<Array<T>, Error> {
        Array::in_memory(len)
    }

    fn has_room(&self, _: usize, _: usize) -> Result<bool, Error> {
        Ok(true)
    }

    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        sweeps(from.len(), from, to, 0, watch, |_, _| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{Boundary, CoefficientSource, Compute, Filter, Lines, Sides, Taps};

    fn stencil(what: &Stencil, input: &[f64], output: &mut [f64]) {
        Reference.stencil(what, input.into(), output.into(), &Watch::new()).unwrap();
    }

    fn convolve(what: &Convolution<f64>, input: &[f64], output: &mut [f64]) {
        Reference.convolution(what, input.into(), output.into(), &Watch::new()).unwrap();
    }

    fn run(input: &[f64], length: usize, taps: &[f64]) -> Vec<f64> {
        let mut output = vec![f64::NAN; input.len()];
        let lines = Lines::new(length, input.len() / length);
        stencil(&Stencil::new(lines, Taps::new(taps).unwrap()), input, &mut output);
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
        // The chain begins with +0, so it never ends in -0 without another addend.
        assert_eq!(run(&[-0.0], 1, &[1.0])[0].to_bits(), 0);
    }

    #[test]
    fn the_derivative_of_a_polynomial_is_exact_but_for_rounding() {
        // x^8 is the highest power that nine points differentiate exactly.
        let f: Vec<f64> = (0..40).map(|x| (f64::from(x) / 8.0).powi(8)).collect();
        let mut output = vec![0.0; 40];
        let what = Derivative::new(Lines::new(40, 1), 1.0 / 8.0, CoefficientSource::Constant);
        Reference.derivative(&what, (&f[..]).into(), (&mut output[..]).into(), &Watch::new()).unwrap();
        for (x, &got) in output.iter().enumerate().take(36).skip(4) {
            let expected = 8.0 * (x as f64 / 8.0).powi(7);
            assert!((got - expected).abs() < 1e-12 * f[39], "{x}");
        }
        // Samples outside are zero: at the first sample only the right half contributes.
        let c = what.coefficients();
        let first = (1..=4).fold(0.0, |acc, i| c[i - 1].mul_add(f[i], acc));
        assert_eq!(output[0], first);
    }

    #[test]
    fn a_convolution_is_not_flipped_and_ends_at_the_image() {
        let image = [1., 2., 3., 4., 5., 6.];
        let filter = Filter::new((1..=9).map(f64::from).collect(), [3, 3, 1]).unwrap();
        let mut output = [0.0; 6];
        convolve(&Convolution::new([2, 3, 1], filter), &image, &mut output);
        // The middle of the filter is its 5; in a 2 x 3 image in columns, element 0 has 5, 6, 8 and 9 over 1, 2, 3 and
        // 4.
        assert_eq!(output[0], 5. + 6. * 2. + 8. * 3. + 9. * 4.);
        assert_eq!(output[3], 1. + 2. * 2. + 4. * 3. + 5. * 4. + 7. * 5. + 8. * 6.);
    }

    #[test]
    fn a_filter_of_one_page_goes_page_by_page() {
        let volume = [1., 2., 10., 20.];
        let run = |filter: Filter<f64>, size| {
            let mut output = [0.0; 4];
            convolve(&Convolution::new(size, filter), &volume, &mut output);
            output
        };
        let ones = |size: [usize; 3]| Filter::new(vec![1.0; size.iter().product()], size).unwrap();
        assert_eq!(run(ones([3, 1, 1]), [2, 1, 2]), [3., 3., 30., 30.]);
        assert_eq!(run(ones([3, 1, 3]), [2, 1, 2]), [33., 33., 33., 33.]);
    }

    /// Three sweeps with each boundary are three sweeps, by hand, over an array padded each time.
    #[test]
    fn sweeps_pad_anew_each_time() {
        type Pad = fn(&[f64]) -> (f64, f64);
        let sides = Ends::new(Boundary::Mirror, Boundary::Constant(-3.0)).unwrap();
        let pads: [(Ends<f64>, Pad); 6] = [
            (Boundary::Constant(7.0).into(), |_| (7.0, 7.0)),
            (Boundary::Replicate.into(), |x| (x[0], x[3])),
            (Boundary::Symmetric.into(), |x| (x[0], x[3])),
            (Boundary::Circular.into(), |x| (x[3], x[0])),
            (Boundary::Mirror.into(), |x| (x[1], x[2])),
            (sides, |x| (x[1], -3.0)),
        ];
        let taps = [1.0, 2.0, -3.0];
        for (boundary, pad) in pads {
            let input = [1.0, 5.0, -2.0, 3.0];
            let mut expected = input.to_vec();
            for _ in 0..3 {
                let (before, after) = pad(&expected);
                let padded = [&[before], &expected[..], &[after]].concat();
                expected =
                    padded.windows(3).map(|x| x[2].mul_add(taps[2], x[1].mul_add(taps[1], x[0] * taps[0]))).collect();
            }
            let mut output = [f64::NAN; 4];
            let what = Stencil::new(Lines::new(4, 1), Taps::new(&taps).unwrap());
            stencil(&what.with_boundary(boundary).with_sweeps(3), &input, &mut output);
            assert_eq!(output, expected[..], "{boundary:?}");
            stencil(&what.with_sweeps(0), &input, &mut output);
            assert_eq!(output, input);
        }
    }

    #[test]
    fn a_line_along_a_later_dimension() {
        let input = [1., 2., 3., 4., 5., 6.];
        let mut output = [0.0; 6];
        stencil(&Stencil::new(Lines::strided(2, 3, 1), Taps::new(&[1., 10., 100.]).unwrap()), &input, &mut output);
        assert_eq!(output, [310., 420., 531., 642., 53., 64.]);
    }

    #[test]
    fn a_convolution_is_extended_along_each_dimension() {
        // The filter picks the sample up and to the left: outside, in both dimensions, the array is mirrored or wraps
        // around.
        let mut values = vec![0.0; 9];
        values[0] = 1.0;
        let filter = Filter::new(values, [3, 3, 1]).unwrap();
        let image = [1., 2., 3., 4.];
        let across: Sides<f64> =
            [Boundary::Constant(9.0).into(), Boundary::Replicate.into(), Boundary::Circular.into()].into();
        let down: Sides<f64> =
            [Boundary::Replicate.into(), Boundary::Constant(9.0).into(), Boundary::Circular.into()].into();
        for (boundary, expected) in [
            (Boundary::Constant(9.0).into(), [9., 9., 9., 1.]),
            (Boundary::Replicate.into(), [1., 1., 1., 1.]),
            (Boundary::Symmetric.into(), [1., 1., 1., 1.]),
            (Boundary::Circular.into(), [4., 3., 2., 1.]),
            (Boundary::Mirror.into(), [4., 3., 2., 1.]),
            (across, [9., 1., 9., 1.]),
            (down, [9., 9., 1., 1.]),
        ] {
            let mut output = [0.0; 4];
            convolve(&Convolution::new([2, 2, 1], filter.clone()).with_boundary(boundary), &image, &mut output);
            assert_eq!(output, expected, "{boundary:?}");
        }
    }

    #[test]
    fn a_stopped_run_ends() {
        let watch = Watch::new();
        watch.stop();
        let what = Stencil::new(Lines::new(1, 1), Taps::new(&[1.0]).unwrap());
        assert_eq!(
            Reference.stencil(&what, (&[1.0][..]).into(), (&mut [0.0][..]).into(), &watch),
            Err(Error::Interrupted)
        );
    }
}
