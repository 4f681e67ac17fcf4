//! The valid correlation, written once over a vector type and compiled for each instruction set.

use std::sync::OnceLock;

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

/// `output[i]` = the chain of `fma(input[i + k], taps[k], acc)` from +0 for ascending `k`.
///
/// # Panics
/// If `input` has not `taps.len() - 1` elements more than `output`, or the processor lacks `level`.
pub(super) fn valid(level: Level, input: &[f64], taps: &[f64], output: &mut [f64]) {
    assert_eq!(input.len() + 1, output.len() + taps.len());
    debug_assert!(level.is_available());
    match level {
        // SAFETY: a `Level` other than the portable one is only made where the processor has it, and the lengths were checked.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86_64::valid_avx512(input, taps, output) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86_64::valid_avx2(input, taps, output) },
        // SAFETY: the lengths were checked.
        _ => unsafe { valid_in::<f64>(input, taps, output) },
    }
}

/// Some doubles that are computed with together.
trait Vector: Copy {
    const LANES: usize;
    fn splat(value: f64) -> Self;
    /// # Safety
    /// `LANES` doubles must be readable at `from`.
    unsafe fn load(from: *const f64) -> Self;
    /// # Safety
    /// `LANES` doubles must be writable at `to`.
    unsafe fn store(self, to: *mut f64);
    /// `self * factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
}

impl Vector for f64 {
    const LANES: usize = 1;
    #[inline(always)]
    fn splat(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> f64 {
        // SAFETY: the caller's promise.
        unsafe { *from }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller's promise.
        unsafe { *to = self }
    }
    #[inline(always)]
    fn fma(self, factor: f64, addend: f64) -> f64 {
        self.mul_add(factor, addend)
    }
}

/// `U` vectors of neighbouring outputs at once: as many chains, so that each has time to finish a step while the others take theirs.
///
/// # Safety
/// `taps.len() - 1 + U * LANES` doubles must be readable at `input`, `U * LANES` writable at `output`.
#[inline(always)]
unsafe fn block<V: Vector, const U: usize>(input: *const f64, taps: &[f64], output: *mut f64) {
    let mut acc = [V::splat(0.0); U];
    for (k, &tap) in taps.iter().enumerate() {
        let tap = V::splat(tap);
        for (u, acc) in acc.iter_mut().enumerate() {
            // SAFETY: within what the caller promises.
            *acc = unsafe { V::load(input.add(k + u * V::LANES)) }.fma(tap, *acc);
        }
    }
    for (u, acc) in acc.into_iter().enumerate() {
        // SAFETY: within what the caller promises.
        unsafe { acc.store(output.add(u * V::LANES)) };
    }
}

/// [`valid`] with vectors of type `V`.
///
/// # Safety
/// `input` must have `taps.len() - 1` elements more than `output`.
#[inline(always)]
unsafe fn valid_in<V: Vector>(input: &[f64], taps: &[f64], output: &mut [f64]) {
    const U: usize = 8;
    let (from, to, len) = (input.as_ptr(), output.as_mut_ptr(), output.len());
    let mut i = 0;
    while i + U * V::LANES <= len {
        // SAFETY: a block that begins at `i` writes outputs below `len`, and reads samples below `len + taps.len() - 1`; here and below.
        unsafe { block::<V, U>(from.add(i), taps, to.add(i)) };
        i += U * V::LANES;
    }
    while i + V::LANES <= len {
        // SAFETY: as above.
        unsafe { block::<V, 1>(from.add(i), taps, to.add(i)) };
        i += V::LANES;
    }
    if i < len && len >= V::LANES {
        // The last vector overlaps the one before: what it writes twice is the same both times.
        i = len - V::LANES;
        // SAFETY: as above.
        unsafe { block::<V, 1>(from.add(i), taps, to.add(i)) };
    } else {
        while i < len {
            // SAFETY: as above.
            unsafe { block::<f64, 1>(from.add(i), taps, to.add(i)) };
            i += 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::*;

    use super::{Vector, valid_in};

    /// # Safety
    /// As [`valid_in`], on a processor with AVX-512.
    #[target_feature(enable = "avx512f,fma")]
    pub(super) unsafe fn valid_avx512(input: &[f64], taps: &[f64], output: &mut [f64]) {
        // SAFETY: the caller's promise.
        unsafe { valid_in::<__m512d>(input, taps, output) }
    }

    /// # Safety
    /// As [`valid_in`], on a processor with AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn valid_avx2(input: &[f64], taps: &[f64], output: &mut [f64]) {
        // SAFETY: the caller's promise.
        unsafe { valid_in::<__m256d>(input, taps, output) }
    }

    /// Gives a vector type the operations of its intrinsics. They are sound where the processor has them: these types are only computed with inside
    /// the two functions above, whose callers know the processor.
    macro_rules! vector {
        ($type:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident, $fma:ident) => {
            impl Vector for $type {
                const LANES: usize = $lanes;
                #[inline(always)]
                fn splat(value: f64) -> $type {
                    // SAFETY: as said of the macro.
                    unsafe { $splat(value) }
                }
                #[inline(always)]
                unsafe fn load(from: *const f64) -> $type {
                    // SAFETY: as said of the macro; the caller promises the memory.
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut f64) {
                    // SAFETY: as said of the macro; the caller promises the memory.
                    unsafe { $store(to, self) }
                }
                #[inline(always)]
                fn fma(self, factor: $type, addend: $type) -> $type {
                    // SAFETY: as said of the macro.
                    unsafe { $fma(self, factor, addend) }
                }
            }
        };
    }

    vector!(__m512d, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_fmadd_pd);
    vector!(__m256d, 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_fmadd_pd);
}
