//! The operators along lines: sums of products with taps, and with differences of samples.

use crate::cpu::simd::{self, Instructions, Lanes, Operator, Vector};
use crate::stencil::DERIVATIVE_RADIUS;

/// Maximum radius. Longer filters are handled by [`crate::cpu::lines::long`].
pub(super) const MAX_RADIUS: usize = 32;

/// A stencil along lines.
pub(in crate::cpu) trait Stencil<T>: Sync {
    /// Number of samples needed after an output, at most [`MAX_RADIUS`].
    fn radius(&self) -> usize;

    /// Number of samples needed before an output: no more than [`radius`](Self::radius).
    fn before(&self) -> usize {
        self.radius()
    }

    /// Number of multiply-adds of an output.
    fn work(&self) -> usize;

    /// Computes the outputs that have all their samples in `samples`, which are `step` apart: `samples` has `(before +
    /// radius) * step` more elements than `output`.
    fn compute(&self, instructions: Instructions, samples: &[T], step: usize, output: &mut [T]);
}

/// Taps in the order of ascending samples. With an even number, there is one fewer before the middle.
pub(in crate::cpu) struct Correlated<'a, T>(pub(in crate::cpu) &'a [T]);

impl<T: Lanes> Stencil<T> for Correlated<'_, T> {
    fn radius(&self) -> usize {
        self.0.len() / 2
    }

    fn before(&self) -> usize {
        (self.0.len() - 1) / 2
    }

    fn work(&self) -> usize {
        self.0.len()
    }

    fn compute(&self, instructions: Instructions, samples: &[T], step: usize, output: &mut [T]) {
        let taps = self.0;
        match step {
            1 => simd::evaluate(instructions, &Correlation { samples, step: One, taps }, output),
            step => simd::evaluate(instructions, &Correlation { samples, step, taps }, output),
        }
    }
}

/// Factors of the differences `f(x + ih) - f(x - ih)`, from the nearest outwards.
pub(in crate::cpu) struct Differences<'a, T>(pub(in crate::cpu) &'a [T; DERIVATIVE_RADIUS]);

impl<T: Lanes> Stencil<T> for Differences<'_, T> {
    fn radius(&self) -> usize {
        DERIVATIVE_RADIUS
    }

    fn work(&self) -> usize {
        DERIVATIVE_RADIUS
    }

    fn compute(&self, instructions: Instructions, samples: &[T], step: usize, output: &mut [T]) {
        let coefficients = *self.0;
        match step {
            1 => simd::evaluate(instructions, &SumOfDifferences { samples, step: One, coefficients }, output),
            step => simd::evaluate(instructions, &SumOfDifferences { samples, step, coefficients }, output),
        }
    }
}

/// Distance of the samples under an output.
trait Step: Copy {
    fn places(self) -> usize;
}

/// Distance of contiguous samples: a separate type, so that the compiler knows the addresses of all.
#[derive(Clone, Copy)]
struct One;

impl Step for One {
    #[inline(always)]
    fn places(self) -> usize {
        1
    }
}

impl Step for usize {
    #[inline(always)]
    fn places(self) -> usize {
        self
    }
}

/// Output `i` is the chain of `fma(samples[i + k * step], taps[k], acc)`.
struct Correlation<'a, T, P> {
    samples: &'a [T],
    step: P,
    taps: &'a [T],
}

impl<T: Lanes, P: Step> Operator<T> for Correlation<'_, T, P> {
    fn outputs(&self) -> usize {
        self.samples.len() - (self.taps.len() - 1) * self.step.places()
    }

    #[inline(always)]
    unsafe fn block<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, at: usize, output: *mut T) {
        let mut acc = [V::splat(set, T::default()); U];
        for (k, &tap) in self.taps.iter().enumerate() {
            let tap = V::splat(set, tap);
            for (u, acc) in acc.iter_mut().enumerate() {
                // SAFETY: the last sample under an output is `(taps.len() - 1) * step` after it, and `samples` is
                // longer than the outputs by that much.
                *acc = unsafe { V::load(set, self.samples.as_ptr().add(at + k * self.step.places() + u * V::LANES)) }
                    .fma(tap, *acc);
            }
        }
        for (u, acc) in acc.into_iter().enumerate() {
            // SAFETY: within what the caller promises.
            unsafe { acc.store(output.add(u * V::LANES)) };
        }
    }
}

/// Output `i` is the chain of `fma(c[d - 1], samples[i + (R + d) * step] - samples[i + (R - d) * step], acc)` for d =
/// 1..R.
struct SumOfDifferences<'a, T, P> {
    samples: &'a [T],
    step: P,
    coefficients: [T; DERIVATIVE_RADIUS],
}

impl<T: Lanes, P: Step> Operator<T> for SumOfDifferences<'_, T, P> {
    fn outputs(&self) -> usize {
        self.samples.len() - 2 * DERIVATIVE_RADIUS * self.step.places()
    }

    #[inline(always)]
    unsafe fn block<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, at: usize, output: *mut T) {
        let step = self.step.places();
        let mut acc = [V::splat(set, T::default()); U];
        for (d, &c) in (1..).zip(&self.coefficients) {
            let c = V::splat(set, c);
            for (u, acc) in acc.iter_mut().enumerate() {
                // SAFETY: samples from `radius` before to `radius` after the middle are there for every output.
                let difference = unsafe {
                    let middle = self.samples.as_ptr().add(at + DERIVATIVE_RADIUS * step + u * V::LANES);
                    V::load(set, middle.add(d * step)).minus(V::load(set, middle.sub(d * step)))
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
