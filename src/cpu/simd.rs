//! Operators on contiguous numbers, written once over a vector type and compiled for each instruction set.
//!
//! # Tokens as proof
//! Executing an instruction that the processor lacks is undefined behaviour. So the tokens `Avx512` and `Avx2` exist
//! only if the processor was found to have their features; a vector can only be made from a token, and computing with a
//! vector needs no other proof. The list of features is written once, in `instruction_set!`: the code is compiled with
//! exactly the features that detection tests, and the compiler refuses intrinsics that need others.

use std::sync::OnceLock;

use crate::stencil::{Number, Real};

/// A set of vector instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// 512-bit vectors.
    Avx512,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 128-bit vectors of every 64-bit Arm processor.
    Neon,
    /// One number after the other, on any machine. Without an instruction for fma the C library computes it: exact, and
    /// slow.
    Portable,
}

impl Level {
    /// All levels, the best first.
    pub const ALL: [Level; 4] = [Level::Avx512, Level::Avx2, Level::Neon, Level::Portable];

    /// The name reported by `ConstantMemoryDevice_CUDA`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Avx512 => "avx512",
            Level::Avx2 => "avx2",
            Level::Neon => "neon",
            Level::Portable => "portable",
        }
    }

    /// True if this processor has it.
    pub fn is_available(self) -> bool {
        self.detect().is_some()
    }

    /// Proof that this processor has it.
    pub(super) fn detect(self) -> Option<Instructions> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => x86_64::Avx512::detect().map(Instructions::Avx512),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => x86_64::Avx2::detect().map(Instructions::Avx2),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => aarch64::Neon::detect().map(Instructions::Neon),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx512 | Level::Avx2 => None,
            #[cfg(not(target_arch = "aarch64"))]
            Level::Neon => None,
            Level::Portable => Some(Instructions::Portable),
        }
    }

    /// The best level of this processor.
    pub fn best() -> Level {
        Instructions::best().level()
    }
}

/// A level that this processor has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Instructions {
    #[cfg(target_arch = "x86_64")]
    Avx512(x86_64::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86_64::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(aarch64::Neon),
    Portable,
}

impl Instructions {
    pub(super) fn best() -> Instructions {
        static BEST: OnceLock<Instructions> = OnceLock::new();
        *BEST.get_or_init(|| Level::ALL.into_iter().find_map(Level::detect).unwrap_or(Instructions::Portable))
    }

    /// Proof that the processor has AVX2, if these instructions include it.
    #[cfg(target_arch = "x86_64")]
    fn avx2(self) -> Option<x86_64::Avx2> {
        match self {
            Instructions::Avx512(_) => x86_64::Avx2::detect(),
            Instructions::Avx2(set) => Some(set),
            Instructions::Portable => None,
        }
    }

    pub(super) fn level(self) -> Level {
        match self {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => Level::Avx512,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(_) => Level::Avx2,
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(_) => Level::Neon,
            Instructions::Portable => Level::Portable,
        }
    }
}

/// Computes several neighbouring outputs at once, by the same steps for each.
pub(super) trait Operator<T> {
    /// Number of outputs.
    fn outputs(&self) -> usize;

    /// Computes `U` vectors of outputs, from the output `at` on, to `output`. `U` independent chains hide the latency
    /// of each other's steps.
    ///
    /// # Safety
    /// `at + U * LANES` may not be more than `outputs`, and `U * LANES` elements must be writable at `output`.
    unsafe fn block<V: Vector<Element = T>, const U: usize>(&self, set: V::Set, at: usize, output: *mut T);
}

/// Computes all outputs of `operator`.
///
/// # Panics
/// If the length of `output` is not the operator's.
pub(super) fn evaluate<T: Lanes>(instructions: Instructions, operator: &impl Operator<T>, output: &mut [T]) {
    assert_eq!(output.len(), operator.outputs());
    compute(instructions, Evaluation { operator, output });
}

/// Work on vectors of any type. All functions that it calls must be inlined: others are compiled without these
/// instructions.
pub(super) trait VectorWork<T> {
    fn run<V: Vector<Element = T>>(self, set: V::Set);
}

/// Does `work` with the vectors of these instructions.
pub(super) fn compute<T: Lanes>(instructions: Instructions, work: impl VectorWork<T>) {
    match instructions {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512(set) => set.compute(work),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2(set) => set.compute(work),
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon(set) => set.compute(work),
        Instructions::Portable => work.run::<T>(()),
    }
}

/// Number of elements in a vector of these instructions.
pub(super) fn lanes<T: Lanes>(instructions: Instructions) -> usize {
    match instructions {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512(_) => <T::Avx512 as Vector>::LANES,
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2(_) => <T::Avx2 as Vector>::LANES,
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon(_) => <T::Neon as Vector>::LANES,
        Instructions::Portable => 1,
    }
}

/// Number of vector registers of these instructions.
pub(super) fn registers<T: Lanes>(instructions: Instructions) -> usize {
    match instructions {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512(_) => <T::Avx512 as Vector>::REGISTERS,
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2(_) => <T::Avx2 as Vector>::REGISTERS,
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon(_) => <T::Neon as Vector>::REGISTERS,
        Instructions::Portable => T::REGISTERS,
    }
}

/// Loops over plain slices, vectorised by the compiler: for elementwise operations. All functions that they call must
/// be inlined: others are compiled without these instructions.
pub(super) trait Loops {
    fn run(self);
}

/// Runs `loops`, compiled for these instructions. With AVX-512 the code for AVX2 is used: such loops wait for memory,
/// and each instruction set makes the library a sixth larger. On Arm all code is compiled with NEON.
pub(super) fn run(instructions: Instructions, loops: impl Loops) {
    #[cfg(target_arch = "x86_64")]
    if let Some(set) = instructions.avx2() {
        return set.run(loops);
    }
    let _ = instructions;
    loops.run();
}

/// Prefetches `count` elements, which will be read or written soon: the processor does not predict distant columns.
/// Does nothing on processors without the instruction.
#[inline]
pub(super) fn prefetch<T>(from: *const T, count: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..count).step_by(64 / size_of::<T>()) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every processor of this kind has the instruction, which takes any address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, count);
}

/// A vector of elements. A value of this type is the proof that the processor has the instructions.
pub(super) trait Vector: Copy {
    type Element: Copy;
    /// The proof that the processor has the instructions.
    type Set: Copy;
    const LANES: usize;
    /// Number of vector registers.
    const REGISTERS: usize;
    fn splat(set: Self::Set, value: Self::Element) -> Self;
    /// # Safety
    /// `LANES` numbers must be readable at `from`.
    unsafe fn load(set: Self::Set, from: *const Self::Element) -> Self;
    /// # Safety
    /// `LANES` numbers must be writable at `to`.
    unsafe fn store(self, to: *mut Self::Element);
    /// `self - other`, rounded once.
    fn minus(self, other: Self) -> Self;
    /// `self * factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
}

/// A class of numbers, with its vectors.
pub(super) trait Lanes: Number + Vector<Element = Self, Set = ()> {
    #[cfg(target_arch = "x86_64")]
    type Avx512: Vector<Element = Self, Set = x86_64::Avx512>;
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Element = Self, Set = x86_64::Avx2>;
    #[cfg(target_arch = "aarch64")]
    type Neon: Vector<Element = Self, Set = aarch64::Neon>;
}

/// A number is a vector of one.
impl<T: Real> Vector for T {
    type Element = T;
    type Set = ();
    const LANES: usize = 1;
    const REGISTERS: usize = 16;
    #[inline(always)]
    fn splat((): (), value: T) -> T {
        value
    }
    #[inline(always)]
    unsafe fn load((): (), from: *const T) -> T {
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

/// Computes all outputs of an operator, to a slice of that length.
struct Evaluation<'a, T, O> {
    operator: &'a O,
    output: &'a mut [T],
}

impl<T: Lanes, O: Operator<T>> VectorWork<T> for Evaluation<'_, T, O> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(self, set: V::Set) {
        // SAFETY: `evaluate`, which alone makes these, has compared the lengths.
        unsafe { evaluate_in::<T, V, O>(set, self.operator, self.output) }
    }
}

/// [`evaluate`] with vectors of type `V`.
///
/// # Safety
/// `output` must have the operator's length.
#[inline(always)]
unsafe fn evaluate_in<T: Lanes, V: Vector<Element = T>, O: Operator<T>>(set: V::Set, operator: &O, output: &mut [T]) {
    const U: usize = 8;
    let (to, len) = (output.as_mut_ptr(), output.len());
    let mut i = 0;
    while i + U * V::LANES <= len {
        // SAFETY: a block that begins at `i` writes outputs below `len`; here and below.
        unsafe { operator.block::<V, U>(set, i, to.add(i)) };
        i += U * V::LANES;
    }
    while i + V::LANES <= len {
        // SAFETY: as above.
        unsafe { operator.block::<V, 1>(set, i, to.add(i)) };
        i += V::LANES;
    }
    if i < len && len >= V::LANES {
        // The last vector overlaps the one before: elements computed twice get the same values.
        i = len - V::LANES;
        // SAFETY: as above.
        unsafe { operator.block::<V, 1>(set, i, to.add(i)) };
    } else {
        while i < len {
            // SAFETY: as above.
            unsafe { operator.block::<T, 1>((), i, to.add(i)) };
            i += 1;
        }
    }
}

/// An instruction set: its token, functions compiled for it, and its vectors of doubles and of singles.
///
/// The features come from one list. It includes those that others imply (as listed in the reference of the Rust
/// language): a hypervisor may hide one and show the other, and code compiled for the one may contain instructions
/// of the other.
macro_rules! instruction_set {
    ($(#[$doc:meta])* $set:ident, $detected:ident, [$($feature:tt),+], $doubles:tt, $singles:tt) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(in super::super) struct $set(());

        impl $set {
            #[cfg(all(test, target_arch = "x86_64"))]
            pub(super) const FEATURES: &[&str] = &[$($feature),+];

            /// Returns the token if this processor, and the system on it, have all the features.
            pub(super) fn detect() -> Option<$set> {
                ($($detected!($feature))&&+).then_some($set(()))
            }

            /// Does `work` with the vectors of this set.
            #[inline(always)]
            pub(super) fn compute<T: Lanes, W: VectorWork<T>>(self, work: W) {
                #[target_feature($(enable = $feature),+)]
                fn compiled<T: Lanes, W: VectorWork<T>>(set: $set, work: W) {
                    work.run::<T::$set>(set)
                }
                // SAFETY: the token says that the processor has the features.
                unsafe { compiled(self, work) }
            }

            /// Runs `loops`.
            #[allow(dead_code, reason = "see the function of this name outside")]
            #[inline(always)]
            pub(super) fn run<L: Loops>(self, loops: L) {
                #[target_feature($(enable = $feature),+)]
                fn compiled<L: Loops>(loops: L) {
                    loops.run()
                }
                // SAFETY: the token says that the processor has the features.
                unsafe { compiled(loops) }
            }
        }

        vector!($set, [$($feature),+], $doubles);
        vector!($set, [$($feature),+], $singles);
    };
}

/// A vector of an instruction set, with its operations. Inside, the compiler checks that the features suffice for
/// the intrinsics.
macro_rules! vector {
    ($set:ident, [$($feature:tt),+], ($type:ident, $register:ty, $element:ty, $lanes:literal, $registers:literal,
     $splat:ident, $load:ident, $store:ident, $sub:ident, $fma:ident)) => {
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(in super::super) struct $type($register);

        impl $type {
            #[inline]
            #[target_feature($(enable = $feature),+)]
            fn splat_in(value: $element) -> $type {
                $type($splat(value))
            }
            #[inline]
            #[target_feature($(enable = $feature),+)]
            unsafe fn load_in(from: *const $element) -> $type {
                // SAFETY: the caller's promise.
                $type(unsafe { $load(from) })
            }
            #[inline]
            #[target_feature($(enable = $feature),+)]
            unsafe fn store_in(self, to: *mut $element) {
                // SAFETY: the caller's promise.
                unsafe { $store(to, self.0) }
            }
            #[inline]
            #[target_feature($(enable = $feature),+)]
            fn minus_in(self, other: $type) -> $type {
                $type($sub(self.0, other.0))
            }
            #[inline]
            #[target_feature($(enable = $feature),+)]
            fn fma_in(self, factor: $type, addend: $type) -> $type {
                $type($fma(self.0, factor.0, addend.0))
            }
        }

        impl Vector for $type {
            type Element = $element;
            type Set = $set;
            const LANES: usize = $lanes;
            const REGISTERS: usize = $registers;
            #[inline(always)]
            fn splat(_: $set, value: $element) -> $type {
                // SAFETY: the token says that the processor has the features.
                unsafe { $type::splat_in(value) }
            }
            #[inline(always)]
            unsafe fn load(_: $set, from: *const $element) -> $type {
                // SAFETY: as above; the caller promises the memory.
                unsafe { $type::load_in(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: a vector was made from a token; the caller promises the memory.
                unsafe { self.store_in(to) }
            }
            #[inline(always)]
            fn minus(self, other: $type) -> $type {
                // SAFETY: a vector was made from a token.
                unsafe { self.minus_in(other) }
            }
            #[inline(always)]
            fn fma(self, factor: $type, addend: $type) -> $type {
                // SAFETY: as above.
                unsafe { self.fma_in(factor, addend) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::*;

    use super::{Lanes, Loops, Vector, VectorWork};

    instruction_set! {
        /// Proof that the processor has 512-bit vectors.
        Avx512, is_x86_feature_detected, ["sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "f16c", "fma", "avx512f"],
        (F64x8, __m512d, f64, 8, 32, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_sub_pd, _mm512_fmadd_pd),
        (F32x16, __m512, f32, 16, 32, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_sub_ps, _mm512_fmadd_ps)
    }

    instruction_set! {
        /// Proof that the processor has 256-bit vectors with fused multiply-add.
        Avx2, is_x86_feature_detected, ["sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "fma"],
        (F64x4, __m256d, f64, 4, 16, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_sub_pd, _mm256_fmadd_pd),
        (F32x8, __m256, f32, 8, 16, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_sub_ps, _mm256_fmadd_ps)
    }

    impl Lanes for f64 {
        type Avx512 = F64x8;
        type Avx2 = F64x4;
    }

    impl Lanes for f32 {
        type Avx512 = F32x16;
        type Avx2 = F32x8;
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use std::arch::aarch64::*;
    use std::arch::is_aarch64_feature_detected;

    use super::{Lanes, Loops, Vector, VectorWork};

    /// `a * b + c`: the instruction has the addend first.
    #[inline]
    #[target_feature(enable = "neon")]
    fn fma_f64(a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
        vfmaq_f64(c, a, b)
    }

    /// See [`fma_f64`].
    #[inline]
    #[target_feature(enable = "neon")]
    fn fma_f32(a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
        vfmaq_f32(c, a, b)
    }

    instruction_set! {
        /// Proof that the processor has 128-bit vectors with fused multiply-add.
        Neon, is_aarch64_feature_detected, ["neon"],
        (F64x2, float64x2_t, f64, 2, 32, vdupq_n_f64, vld1q_f64, vst1q_f64, vsubq_f64, fma_f64),
        (F32x4, float32x4_t, f32, 4, 32, vdupq_n_f32, vld1q_f32, vst1q_f32, vsubq_f32, fma_f32)
    }

    impl Lanes for f64 {
        type Neon = F64x2;
    }

    impl Lanes for f32 {
        type Neon = F32x4;
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl<T: Number> Lanes for T {}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::x86_64::{Avx2, Avx512};

    /// Features that each one implies, by the Rust reference ("The target_feature attribute", x86).
    const IMPLIED: [(&str, &[&str]); 8] = [
        ("avx512f", &["avx2", "f16c", "fma"]),
        ("avx2", &["avx"]),
        ("f16c", &["avx"]),
        ("fma", &["avx"]),
        ("avx", &["sse4.2"]),
        ("sse4.2", &["sse4.1"]),
        ("sse4.1", &["ssse3"]),
        ("ssse3", &["sse3"]),
    ];

    #[test]
    fn detection_asks_for_every_feature_that_the_code_is_compiled_with() {
        for features in [Avx512::FEATURES, Avx2::FEATURES] {
            for feature in features {
                for implied in IMPLIED.into_iter().filter(|(name, _)| name == feature).flat_map(|(_, implied)| implied)
                {
                    assert!(
                        features.contains(implied),
                        "{feature} switches {implied} on, and detection does not ask for it"
                    );
                }
            }
        }
    }
}
