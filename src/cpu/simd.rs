//! Operators on contiguous numbers, written once over a vector type and compiled for each instruction set.

use std::sync::OnceLock;

use crate::stencil::Real;

/// A set of vector instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// 512-bit vectors.
    Avx512,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// One number after the other, on any machine. Without an instruction for fma the C library computes it: exact, and slow.
    Portable,
}

impl Level {
    /// All of them, the best first.
    pub const ALL: [Level; 3] = [Level::Avx512, Level::Avx2, Level::Portable];

    /// The name that `ConstantMemoryDevice_CUDA` reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Avx512 => "avx512",
            Level::Avx2 => "avx2",
            Level::Portable => "portable",
        }
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx512 | Level::Avx2 => false,
            Level::Portable => true,
        }
    }

    /// The best that this processor has.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| Level::ALL.into_iter().find(|level| level.is_available()).unwrap_or(Level::Portable))
    }
}

/// What computes some neighbouring outputs at once, by the same steps for each.
pub(super) trait Operator<T> {
    /// How many outputs there are.
    fn outputs(&self) -> usize;

    /// Computes `U` vectors of outputs, from the output `at` on, to `output`. `U` chains at once: each has time to finish a step while the others
    /// take theirs.
    ///
    /// # Safety
    /// `at + U * LANES` may not be more than `outputs`, and as many numbers must be writable at `output`.
    unsafe fn block<V: Vector<Element = T>, const U: usize>(&self, at: usize, output: *mut T);
}

/// Computes all outputs of `operator`.
///
/// # Panics
/// If `output` is of another length than the operator's, or the processor lacks `level`.
pub(super) fn evaluate<T: Lanes>(level: Level, operator: &impl Operator<T>, output: &mut [T]) {
    assert_eq!(output.len(), operator.outputs());
    assert!(level.is_available());
    match level {
        // SAFETY: the processor has it, and the length was checked.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86_64::evaluate_avx512(operator, output) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86_64::evaluate_avx2(operator, output) },
        // SAFETY: the length was checked.
        _ => unsafe { evaluate_in::<T, T, _>(operator, output) },
    }
}

/// Some numbers that are computed with together.
pub(super) trait Vector: Copy {
    type Element: Copy;
    const LANES: usize;
    fn splat(value: Self::Element) -> Self;
    /// # Safety
    /// `LANES` numbers must be readable at `from`.
    unsafe fn load(from: *const Self::Element) -> Self;
    /// # Safety
    /// `LANES` numbers must be writable at `to`.
    unsafe fn store(self, to: *mut Self::Element);
    /// `self - other`, rounded once.
    fn minus(self, other: Self) -> Self;
    /// `self * factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
}

/// A class of numbers, with its vectors.
pub(super) trait Lanes: Real + Vector<Element = Self> {
    #[cfg(target_arch = "x86_64")]
    type Avx512: Vector<Element = Self>;
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Element = Self>;
}

/// A number is a vector of one.
impl<T: Real> Vector for T {
    type Element = T;
    const LANES: usize = 1;
    #[inline(always)]
    fn splat(value: T) -> T {
        value
    }
    #[inline(always)]
    unsafe fn load(from: *const T) -> T {
        // SAFETY: the caller's promise.
        unsafe { *from }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller's promise.
        unsafe { *to = self }
    }
    #[inline(always)]
    fn minus(self, other: T) -> T {
        Real::minus(self, other)
    }
    #[inline(always)]
    fn fma(self, factor: T, addend: T) -> T {
        Real::fma(self, factor, addend)
    }
}

/// [`evaluate`] with vectors of type `V`.
///
/// # Safety
/// `output` must be as long as the operator says.
#[inline(always)]
unsafe fn evaluate_in<T: Lanes, V: Vector<Element = T>, O: Operator<T>>(operator: &O, output: &mut [T]) {
    const U: usize = 8;
    let (to, len) = (output.as_mut_ptr(), output.len());
    let mut i = 0;
    while i + U * V::LANES <= len {
        // SAFETY: a block that begins at `i` writes outputs below `len`; here and below.
        unsafe { operator.block::<V, U>(i, to.add(i)) };
        i += U * V::LANES;
    }
    while i + V::LANES <= len {
        // SAFETY: as above.
        unsafe { operator.block::<V, 1>(i, to.add(i)) };
        i += V::LANES;
    }
    if i < len && len >= V::LANES {
        // The last vector overlaps the one before: what it writes twice is the same both times.
        i = len - V::LANES;
        // SAFETY: as above.
        unsafe { operator.block::<V, 1>(i, to.add(i)) };
    } else {
        while i < len {
            // SAFETY: as above.
            unsafe { operator.block::<T, 1>(i, to.add(i)) };
            i += 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::*;

    use super::{Lanes, Operator, Vector, evaluate_in};

    /// # Safety
    /// As [`evaluate_in`], on a processor with AVX-512.
    #[target_feature(enable = "avx512f,fma")]
    pub(super) unsafe fn evaluate_avx512<T: Lanes, O: Operator<T>>(operator: &O, output: &mut [T]) {
        // SAFETY: the caller's promise.
        unsafe { evaluate_in::<T, T::Avx512, O>(operator, output) }
    }

    /// # Safety
    /// As [`evaluate_in`], on a processor with AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn evaluate_avx2<T: Lanes, O: Operator<T>>(operator: &O, output: &mut [T]) {
        // SAFETY: the caller's promise.
        unsafe { evaluate_in::<T, T::Avx2, O>(operator, output) }
    }

    impl Lanes for f64 {
        type Avx512 = __m512d;
        type Avx2 = __m256d;
    }

    impl Lanes for f32 {
        type Avx512 = __m512;
        type Avx2 = __m256;
    }

    /// Gives a vector type the operations of its intrinsics. They are sound where the processor has them: these types are only computed with inside
    /// the two functions above, whose callers know the processor.
    macro_rules! vector {
        ($type:ty, $element:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident, $sub:ident, $fma:ident) => {
            impl Vector for $type {
                type Element = $element;
                const LANES: usize = $lanes;
                #[inline(always)]
                fn splat(value: $element) -> $type {
                    // SAFETY: as said of the macro.
                    unsafe { $splat(value) }
                }
                #[inline(always)]
                unsafe fn load(from: *const $element) -> $type {
                    // SAFETY: as said of the macro; the caller promises the memory.
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut $element) {
                    // SAFETY: as said of the macro; the caller promises the memory.
                    unsafe { $store(to, self) }
                }
                #[inline(always)]
                fn minus(self, other: $type) -> $type {
                    // SAFETY: as said of the macro.
                    unsafe { $sub(self, other) }
                }
                #[inline(always)]
                fn fma(self, factor: $type, addend: $type) -> $type {
                    // SAFETY: as said of the macro.
                    unsafe { $fma(self, factor, addend) }
                }
            }
        };
    }

    vector!(__m512d, f64, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_sub_pd, _mm512_fmadd_pd);
    vector!(__m256d, f64, 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_sub_pd, _mm256_fmadd_pd);
    vector!(__m512, f32, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_sub_ps, _mm512_fmadd_ps);
    vector!(__m256, f32, 8, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_sub_ps, _mm256_fmadd_ps);
}

#[cfg(not(target_arch = "x86_64"))]
impl<T: Real> Lanes for T {}
