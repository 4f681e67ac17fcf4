//! Stencils along lines.
//!
//! Every stencil is an operator on contiguous samples: output `i` from the samples `i` to `i + 2 * radius`. The inside of a line is that already. Its
//! two ends, and lines too short to have an inside, are copied with zeros around them first. A range of outputs may begin and end anywhere.

use std::ops::Range;

use super::simd::{self, Lanes, Level, Operator, Vector};
use crate::stencil::{DERIVATIVE_RADIUS, Derivative, Lines, MAX_TAPS, Request};

/// The widest stencil reaches this far to either side.
const MAX_RADIUS: usize = MAX_TAPS / 2;

/// Outputs that are computed from one copied buffer.
const COPIED: usize = 512;

/// A stencil along lines.
pub(super) trait Stencil<T>: Sync {
    /// The samples, line after line.
    fn input(&self) -> &[T];

    /// How they fall into lines.
    fn lines(&self) -> Lines;

    /// Samples on either side that an output needs, [`MAX_RADIUS`] at the most.
    fn radius(&self) -> usize;

    /// The outputs that have all their samples in `samples`, which are `2 * radius` more than `output`.
    fn inside(&self, level: Level, samples: &[T], output: &mut [T]);
}

impl Stencil<f64> for Request<'_> {
    fn input(&self) -> &[f64] {
        Request::input(self)
    }

    fn lines(&self) -> Lines {
        Request::lines(self)
    }

    fn radius(&self) -> usize {
        self.taps().radius()
    }

    fn inside(&self, level: Level, samples: &[f64], output: &mut [f64]) {
        simd::evaluate(level, &Correlation { samples, taps: self.taps().as_slice() }, output);
    }
}

impl<T: Lanes> Stencil<T> for Derivative<'_, T> {
    fn input(&self) -> &[T] {
        Derivative::input(self)
    }

    fn lines(&self) -> Lines {
        Derivative::lines(self)
    }

    fn radius(&self) -> usize {
        DERIVATIVE_RADIUS
    }

    fn inside(&self, level: Level, samples: &[T], output: &mut [T]) {
        simd::evaluate(level, &Differences { samples, coefficients: *self.coefficients() }, output);
    }
}

/// Output `i` is the chain of `fma(samples[i + k], taps[k], acc)`.
struct Correlation<'a> {
    samples: &'a [f64],
    taps: &'a [f64],
}

impl Operator<f64> for Correlation<'_> {
    fn outputs(&self) -> usize {
        self.samples.len() + 1 - self.taps.len()
    }

    #[inline(always)]
    unsafe fn block<V: Vector<Element = f64>, const U: usize>(&self, at: usize, output: *mut f64) {
        let mut acc = [V::splat(0.0); U];
        for (k, &tap) in self.taps.iter().enumerate() {
            let tap = V::splat(tap);
            for (u, acc) in acc.iter_mut().enumerate() {
                // SAFETY: the last sample under a block of outputs is `taps.len() - 1` behind the last output, and there are as many more samples.
                *acc = unsafe { V::load(self.samples.as_ptr().add(at + k + u * V::LANES)) }.fma(tap, *acc);
            }
        }
        for (u, acc) in acc.into_iter().enumerate() {
            // SAFETY: within what the caller promises.
            unsafe { acc.store(output.add(u * V::LANES)) };
        }
    }
}

/// Output `i` is the chain of `fma(c[d - 1], samples[i + R + d] - samples[i + R - d], acc)` for d = 1..R.
struct Differences<'a, T> {
    samples: &'a [T],
    coefficients: [T; DERIVATIVE_RADIUS],
}

impl<T: Lanes> Operator<T> for Differences<'_, T> {
    fn outputs(&self) -> usize {
        self.samples.len() - 2 * DERIVATIVE_RADIUS
    }

    #[inline(always)]
    unsafe fn block<V: Vector<Element = T>, const U: usize>(&self, at: usize, output: *mut T) {
        let mut acc = [V::splat(T::default()); U];
        for (d, &c) in (1..).zip(&self.coefficients) {
            let c = V::splat(c);
            for (u, acc) in acc.iter_mut().enumerate() {
                // SAFETY: samples from `radius` before to `radius` behind the middle are there for every output.
                let difference = unsafe {
                    let middle = self.samples.as_ptr().add(at + DERIVATIVE_RADIUS + u * V::LANES);
                    V::load(middle.add(d)).minus(V::load(middle.sub(d)))
                };
                *acc = c.fma(difference, *acc);
            }
        }
        for (u, acc) in acc.into_iter().enumerate() {
            // SAFETY: within what the caller promises.
            unsafe { acc.store(output.add(u * V::LANES)) };
        }
    }
}

/// Computes the outputs `range` of a stencil into `output`.
pub(super) fn range<T: Lanes>(stencil: &impl Stencil<T>, level: Level, range: Range<usize>, output: &mut [T]) {
    let (lines, radius, start) = (stencil.lines(), stencil.radius(), range.start);
    if lines.length() <= 4 * MAX_RADIUS {
        return short_lines(stencil, level, range, output);
    }
    for (line, piece) in lines.pieces(range) {
        let inside = piece.start.max(line.start + radius)..piece.end.min(line.end - radius);
        let output = &mut output[piece.start - start..piece.end - start];
        let (before, output) = output.split_at_mut(inside.start.min(piece.end) - piece.start);
        let (middle, after) = output.split_at_mut(inside.len());
        end_of_line(stencil, level, &line, piece.start, before);
        if !middle.is_empty() {
            stencil.inside(level, &stencil.input()[inside.start - radius..inside.end + radius], middle);
        }
        end_of_line(stencil, level, &line, piece.end - after.len(), after);
    }
}

/// A few outputs from `first` on, near an end of `line`, through a copy with zeros where there are no samples.
fn end_of_line<T: Lanes>(stencil: &impl Stencil<T>, level: Level, line: &Range<usize>, first: usize, output: &mut [T]) {
    if output.is_empty() {
        return;
    }
    let radius = stencil.radius();
    let mut buffer = [T::default(); 4 * MAX_RADIUS];
    let buffer = &mut buffer[..output.len() + 2 * radius];
    // The element of the input that stands at the buffer's beginning may lie before the input.
    let samples = first.saturating_sub(radius).max(line.start)..(first + output.len() + radius).min(line.end);
    let at = samples.start + radius - first;
    buffer[at..at + samples.len()].copy_from_slice(&stencil.input()[samples]);
    stencil.inside(level, buffer, output);
}

/// Outputs of lines that are mostly ends: several lines are copied side by side with zeros between them, and computed as one.
fn short_lines<T: Lanes>(stencil: &impl Stencil<T>, level: Level, range: Range<usize>, output: &mut [T]) {
    let (lines, radius) = (stencil.lines(), stencil.radius());
    let length = lines.length();
    // One gap of zeros serves as the end of one line and the beginning of the next.
    let stride = length + radius;
    let mut buffer = [T::default(); COPIED + 2 * MAX_RADIUS];
    let mut result = [T::default(); COPIED];
    let at_once = (COPIED + radius) / stride;
    let mut start = range.start;
    while start < range.end {
        let first = start / length;
        let last = (first + at_once).min(range.end.div_ceil(length));
        for (i, line) in stencil.input()[first * length..last * length].chunks_exact(length).enumerate() {
            buffer[radius + i * stride..][..length].copy_from_slice(line);
        }
        // Behind the last line is a gap too: lines stand at the same places in every group, and gaps are never written.
        let computed = (last - first) * stride - radius;
        stencil.inside(level, &buffer[..computed + 2 * radius], &mut result[..computed]);
        let end = (last * length).min(range.end);
        for (line, piece) in lines.pieces(start..end) {
            let from = (line.start / length - first) * stride + (piece.start - line.start);
            output[piece.start - range.start..piece.end - range.start].copy_from_slice(&result[from..from + piece.len()]);
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{CoefficientSource, Compute, Engine, Reference, Taps};
    use crate::watch::Watch;

    fn agree<T: Lanes>(stencil: &impl Stencil<T>, expected: &[T], what: &str) {
        for start in (0..expected.len()).step_by(13) {
            for size in [1, 2, 9, 21, 64, 700] {
                let end = (start + size).min(expected.len());
                let mut output = vec![T::from_f64(f64::NAN); end - start];
                range(stencil, Level::best(), start..end, &mut output);
                assert!(output.iter().zip(&expected[start..end]).all(|(&a, &b)| a.same(b)), "{what}, {start}..{end}");
            }
        }
    }

    /// Any range of outputs, wherever it begins and ends, is what the whole has there.
    #[test]
    fn ranges_agree_with_the_whole() {
        let input: Vec<f64> = (0..1400).map(|i| f64::from(i).sin()).collect();
        for length in [1, 2, 3, 7, 14, 39, 40, 41, 42, 50, 70, 100, 1400] {
            let lines = Lines::new(length, 1400 / length);
            let input = &input[..lines.elements()];
            let mut expected = vec![0.0; input.len()];
            for count in [1, 3, 11, 21] {
                let taps: Vec<f64> = (0..count).map(|k| (f64::from(k) + 0.5).cos()).collect();
                let request = Request::new(input, lines, Taps::new(&taps).unwrap()).unwrap();
                Reference.stencil(&request, &mut expected, &Watch::new()).unwrap();
                agree(&request, &expected, &format!("lines of {length}, {count} taps"));
            }
            let request = Derivative::new(input, lines, 0.3, CoefficientSource::Constant).unwrap();
            Reference.derivative(&request, &mut expected, &Watch::new()).unwrap();
            agree(&request, &expected, &format!("derivative, lines of {length}"));
        }
    }
}
