// Special values: samples and results for which a kernel that leaves out a filter's zeros differs from the full chain
// of multiply-adds, and how its blocks find them, so that a second launch recomputes the sweeps.
//
// Zeros may be left out unless one of two things happens, each visible in a sample or a result:
// - A sample is infinite or NaN: zero times that is NaN. The filter's middle is never left out, so a result in the same
//    place is not finite, either: the results of the last sweep show it.
// - A sum is -0, which needs samples that are too near to zero, and a product of +0 would turn it into +0. Without such
//    samples a sum begins at +0 and stays there until a product is not zero, so signs of zeros in the sweeps before do
//    not matter: the samples of the last warp's first sweep show it. The limit, `near_zero`, is set by the host such
//    that it holds for the warp's other sweeps, too.
//
// The launches over an array are numbered as a run. A block that finds a special value writes the run's number to a
// variable of the module. From then on launches for stars of that run end at once, and the fallback, a launch of the
// full kernel after each of them, does the work. Until then the fallback has nothing to do.
#pragma once

#include "copies.cuh"
#include "tensor.cuh"

namespace images {

// A thread's findings: the sample nearest to zero, and a result that was not finite.
template <typename T>
struct SpecialValues;

template <>
struct SpecialValues<double> {
    // The least magnitude less 1, which for zero is the greatest number.
    unsigned int nearest = ~0u;

    __device__ __forceinline__ void sample(unsigned int mask, unsigned int bit, double value) {
        keep_least_of_piece(mask, bit, nearest, magnitude(value) - 1);
    }
    __device__ __forceinline__ void output(unsigned int mask, unsigned int bit, double value) {
        keep_least_of_piece(mask, bit, nearest, ~(high_word(value) << 1));
    }
    __device__ __forceinline__ bool any(unsigned int near_zero) const {
        // The complement of twice the upper half of infinities and NaN is less than 2^21.
        const unsigned int limit = near_zero > 1u << 21 ? near_zero : 1u << 21;
        return nearest < limit;
    }
};

template <>
struct SpecialValues<float> {
    unsigned int nearest = ~0u;
    // Zero, unless a result was not finite.
    float sum = 0;

    __device__ __forceinline__ void sample(unsigned int mask, unsigned int bit, float value) {
        keep_least_of_piece(mask, bit, nearest, 2 * __float_as_uint(value) - 1);
    }
    __device__ __forceinline__ void output(unsigned int mask, unsigned int bit, float value) {
        add_nothing_of_piece(mask, bit, sum, value);
    }
    __device__ __forceinline__ bool any(unsigned int near_zero) const { return nearest < near_zero || sum != 0; }
};

// A thread's scan of the pieces that it copies: those of the columns that the last warp takes, and of those that go to
// device memory. It does nothing for stages that leave out nothing.
template <class Stages, int WIDE, bool SCANS = Stages::SCANS>
struct SpecialValueScan {
    typedef typename Stages::T T;

    __device__ __forceinline__ SpecialValueScan(T*) {}
    template <class Copies>
    __device__ __forceinline__ void at_samples(const Copies&, unsigned int) {}
    template <class Copies>
    __device__ __forceinline__ void read_sample(unsigned int, int, unsigned int) {}
    __device__ __forceinline__ void at_sample(unsigned int, int) {}
    template <class Copies>
    __device__ __forceinline__ void at_output(const Copies&, int, const T (&)[WIDE]) {}
    __device__ __forceinline__ bool needs_fallback(unsigned int) const { return false; }
};

template <class Stages, int WIDE>
struct SpecialValueScan<Stages, WIDE, true> {
    typedef typename Stages::T T;
    Place<T> samples;
    SpecialValues<T> values;
    T seen[WIDE];

    // `before` is the first row's place in the ring before the last warp.
    __device__ __forceinline__ SpecialValueScan(T* before)
        : samples(kept_place(before + Stages::place(threadIdx.x * WIDE))) {}

    // Reads and scans piece k of a column of samples, at the given place in the ring, if the mask has its bit.
    template <class Copies>
    __device__ __forceinline__ void read_sample(unsigned int mask, int k, unsigned int place) {
        read_piece(mask, 1u << k, samples + place + k * Copies::PLACES, seen);
    }
    __device__ __forceinline__ void at_sample(unsigned int mask, int k) {
#pragma unroll
        for (int i = 0; i < WIDE; ++i) values.sample(mask, 1u << k, seen[i]);
    }
    template <class Copies>
    __device__ __forceinline__ void at_samples(const Copies& copies, unsigned int place) {
#pragma unroll
        for (int k = 0; k < Copies::COUNT; ++k) {
            read_sample<Copies>(copies.coming, k, place);
            at_sample(copies.coming, k);
        }
    }
    // Scans piece k of a column that goes.
    template <class Copies>
    __device__ __forceinline__ void at_output(const Copies& copies, int k, const T (&leaving)[WIDE]) {
#pragma unroll
        for (int i = 0; i < WIDE; ++i) values.output(copies.leaving, 1u << k, leaving[i]);
    }

    __device__ __forceinline__ bool needs_fallback(unsigned int near_zero) const { return values.any(near_zero); }
};

}  // namespace images
