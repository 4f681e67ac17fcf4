// Many sweeps along lines that are too short for registers (sweeps.cuh): they are kept whole in shared memory.
#pragma once

#include "boundary.cuh"

// A slab is `abreast` neighbouring lines of one k, in the order that they have in memory. The host guarantees length *
// abreast * groups <= CAPACITY, abreast <= inner, tiles == 1, and groups == 1 unless abreast == inner. The slabs of a
// row are ceil (inner / abreast), and a launch takes ceil (slabs * outer / groups) blocks.
//
// Operator::one (sample) computes a single point from sample (0) .. sample (2 * RADIUS).
template <typename T, int THREADS, int CAPACITY, int RADIUS, class Operator>
__device__ __forceinline__ void sweep_short_lines(const SweepsArgument<T>& launch) {
    static_assert(CAPACITY < 0xffff, "places are counted in 16 bits");
    constexpr unsigned int NOWHERE = 0xffff;
    __shared__ T memory[2][CAPACITY];
    __shared__ unsigned short place_of[CAPACITY];  // of an element in its line
    // The place whose value is RADIUS .. 1 ahead of a line, and 0 .. RADIUS - 1 behind it.
    __shared__ unsigned short outside[2 * RADIUS + 1];

    const unsigned int thread = threadIdx.x;
    const int length = (int)launch.length;
    const bool full = launch.abreast == launch.inner;
    unsigned int abreast = launch.abreast;
    unsigned int count;
    unsigned long long start;
    if (full) {
        const unsigned long long slab = (unsigned long long)blockIdx.x * launch.groups;
        const unsigned long long slabs = launch.outer - slab < launch.groups ? launch.outer - slab : launch.groups;
        start = slab * abreast * length;
        count = (unsigned int)slabs * abreast * length;
    } else {
        const unsigned long long slabs = (launch.inner + abreast - 1) / abreast;
        const unsigned long long k = blockIdx.x / slabs;
        const unsigned long long i = (blockIdx.x - k * slabs) * abreast;
        if (launch.inner - i < abreast) abreast = (unsigned int)(launch.inner - i);
        start = k * launch.inner * length + i;
        count = abreast * length;
    }
    // An element of the block as an element of the array.
    const auto global = [&](unsigned int at) {
        if (full) return start + at;
        const unsigned int j = at / abreast;
        return start + j * launch.inner + (at - j * abreast);
    };

    for (unsigned int at = thread; at < count; at += THREADS) {
        memory[0][at] = launch.input[global(at)];
        place_of[at] = (unsigned short)(at / abreast % (unsigned int)length);
    }
    for (int at = thread; at < 2 * RADIUS; at += THREADS) {
        const int position = at < RADIUS ? at - RADIUS : at - RADIUS + length;
        const unsigned int boundary = position < 0 ? launch.ends.boundary[0] : launch.ends.boundary[1];
        int from;
        if (boundary == CONSTANT) {
            from = NOWHERE;
        } else if (boundary == REPLICATE) {
            from = position < 0 ? 0 : length - 1;
        } else {
            // Periods at once: a line may be shorter than the radius.
            const int mirrored = boundary == SYMMETRIC ? 2 * length : length > 1 ? 2 * length - 2 : 1;
            const int period = boundary == CIRCULAR ? length : mirrored;
            from = position % period;
            if (from < 0) from += period;
            if (from >= length) from = boundary == SYMMETRIC ? period - 1 - from : period - from;
        }
        outside[at] = (unsigned short)from;
    }

    int current = 0;
#pragma unroll 1
    for (unsigned int sweep = 0; sweep < launch.sweeps; ++sweep) {
        __syncthreads();
        const T* samples = memory[current];
#pragma unroll 1
        for (unsigned int at = thread; at < count; at += THREADS) {
            const int place = place_of[at];
            const T* line = samples + (at - place * abreast);
            T result;
            if (place >= RADIUS && place + RADIUS < length) {
                const T* nearest = line + (place - RADIUS) * (int)abreast;
                result = Operator::one([&](int k) { return nearest[k * (int)abreast]; });
            } else {
                result = Operator::one([&](int k) {
                    int from = place + k - RADIUS;
                    const bool before = from < 0;
                    if (before)
                        from = outside[from + RADIUS];
                    else if (from >= length)
                        from = outside[from - length + RADIUS];
                    if (from != NOWHERE) return line[from * (int)abreast];
                    return T(before ? launch.ends.value[0] : launch.ends.value[1]);
                });
            }
            memory[current ^ 1][at] = result;
        }
        current ^= 1;
    }
    __syncthreads();
    for (unsigned int at = thread; at < count; at += THREADS) launch.output[global(at)] = memory[current][at];
}
