// Arithmetic on arrays that lie side by side: element by element. Part of arithmetic/arithmetic.cu.
#pragma once

#include "arithmetic/operations.cuh"

namespace {
// Loads of a thread, and the elements of one.
constexpr int STEPS = 4;
constexpr int WIDTH = 16 / sizeof(REAL);
constexpr int OWN = STEPS * WIDTH;

struct __align__(16) Numbers { REAL of[WIDTH]; };

// The first element of this block.
__device__ __forceinline__ u64 first_of(u32 backwards) {
    return (backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * u64(THREADS * OWN);
}

// The first element of this thread's vector `i`, in a block that begins at `first`.
__device__ __forceinline__ u64 place(u64 first, int i) { return first + (i * THREADS + (int)threadIdx.x) * WIDTH; }

// Vectors of a thread, from and to memory; zero beyond the end.
__device__ __forceinline__ void load(REAL (&own)[OWN], const REAL* from, u64 first, u64 count) {
    if (first + THREADS * OWN <= count) {
        Numbers vectors[STEPS];
#pragma unroll
        for (int i = 0; i < STEPS; ++i) vectors[i] = *reinterpret_cast<const Numbers*>(from + place(first, i));
#pragma unroll
        for (int i = 0; i < OWN; ++i) own[i] = vectors[i / WIDTH].of[i % WIDTH];
    } else {
#pragma unroll
        for (int i = 0; i < OWN; ++i) {
            const u64 at = place(first, i / WIDTH) + i % WIDTH;
            own[i] = at < count ? from[at] : REAL(0);
        }
    }
}

__device__ __forceinline__ void store(const REAL (&own)[OWN], REAL* to, u64 first, u64 count) {
    if (first + THREADS * OWN <= count) {
#pragma unroll
        for (int i = 0; i < STEPS; ++i) {
            Numbers vector;
#pragma unroll
            for (int w = 0; w < WIDTH; ++w) vector.of[w] = own[i * WIDTH + w];
            *reinterpret_cast<Numbers*>(to + place(first, i)) = vector;
        }
    } else {
#pragma unroll
        for (int i = 0; i < OWN; ++i) {
            const u64 at = place(first, i / WIDTH) + i % WIDTH;
            if (at < count) to[at] = own[i];
        }
    }
}
}  // namespace

// A step of two time levels, in the place of the older one. A source without an address is the scalar.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_advance(AdvanceArgument<REAL> job) {
    const u64 first = first_of(job.backwards);
    REAL step[OWN];
    REAL older[OWN];
    load(step, job.step, first, job.count);
    load(older, job.older, first, job.count);
    REAL source[OWN];
    if (job.source) {
        load(source, job.source, first, job.count);
    } else {
#pragma unroll
        for (int i = 0; i < OWN; ++i) source[i] = REAL(job.scalar);
    }
    const REAL weight = REAL(job.weight);
#pragma unroll
    for (int i = 0; i < OWN; ++i) {
        older[i] = Math::fused(weight, older[i], step[i]);
        if (job.with_source) older[i] = Math::plus(older[i], source[i]);
    }
    store(older, job.older, first, job.count);
}

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_fill(FillArgument<REAL> job) {
    REAL own[OWN];
#pragma unroll
    for (int i = 0; i < OWN; ++i) own[i] = REAL(job.value);
    store(own, job.to, first_of(0), job.count);
}
