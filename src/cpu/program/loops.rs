//! The loops over slices.

use crate::cpu::arithmetic::pairwise;
use crate::cpu::simd::{Instructions, Loops};
use crate::stencil::{Binary, Real};

/// `to[i] = a[i] op b[i]`.
pub(super) struct Pair<'a, T> {
    pub(super) instructions: Instructions,
    pub(super) op: Binary,
    pub(super) a: &'a [T],
    pub(super) b: &'a [T],
    pub(super) to: &'a mut [T],
}

impl<T: Real> Loops for Pair<'_, T> {
    #[inline(always)]
    fn run(self) {
        pairwise((self.instructions, self.op), self.a, self.b, self.to);
    }
}

/// `to[i] = fma (a[i], b[i], c[i])`.
pub(super) struct MultiplyAdd<'a, T> {
    pub(super) a: &'a [T],
    pub(super) b: &'a [T],
    pub(super) c: &'a [T],
    pub(super) to: &'a mut [T],
}

impl<T: Real> Loops for MultiplyAdd<'_, T> {
    #[inline(always)]
    fn run(self) {
        let operands = self.a.iter().zip(self.b).zip(self.c);
        self.to.iter_mut().zip(operands).for_each(|(to, ((&a, &b), &c))| *to = a.fma(b, c));
    }
}
