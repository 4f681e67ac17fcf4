// The places of the smallest or largest. Part of arithmetic/scans.cu.
//
// A line is searched in parts. The place in each part becomes an element of a line that is searched in the same way,
// until there is one part. What the order is does not show: of equals the first place counts.
#pragma once

#include "arithmetic/operations.cuh"

namespace {
constexpr int PART_ELEMENTS = 1024;  // of a warp
constexpr int PART_ROWS = 64;        // of a thread
// The elements of the longest line of neighbours for which a thread is enough.
constexpr int SHORT_SEARCH = 16;

// A place in a line, and the number there.
struct Candidate {
    REAL value;
    u64 place;
};

// True if `a` replaces `b`. NaN gives way to any number.
template <bool LARGEST>
__device__ __forceinline__ bool is_better(const Candidate& a, const Candidate& b) {
    const bool beyond = LARGEST ? a.value > b.value : a.value < b.value;
    const bool behind = LARGEST ? b.value > a.value : b.value < a.value;
    const bool is_nan = a.value != a.value, other_is_nan = b.value != b.value;
    if (is_nan != other_is_nan) return other_is_nan;
    return beyond || (!behind && a.place < b.place);
}

// The candidate of a line with this number.
__device__ __forceinline__ Candidate candidate(const ExtremesArgument<REAL>& job, u64 outer, u64 column, u64 number) {
    const u64 place = job.places ? job.places[(outer * job.length + number) * job.inner + column] : number;
    return {job.from[(outer * job.whole + place) * job.inner + column], place};
}

__device__ __forceinline__ void found(const ExtremesArgument<REAL>& job, u64 result, const Candidate& best) {
    job.found[result] = best.place;
    if (job.to) job.to[result] = best.value;
}

// A warp for each part of a line of neighbours.
template <bool LARGEST>
__device__ __forceinline__ void extremes_of_lines(const ExtremesArgument<REAL>& job) {
    const u64 unit = (u64)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    const u64 line = unit / job.parts;
    if (line >= job.outer) return;
    const u64 begin = (unit - line * job.parts) * PART_ELEMENTS;
    const int count = job.length - begin < PART_ELEMENTS ? (int)(job.length - begin) : PART_ELEMENTS;
    const int lane = threadIdx.x % 32;
    // A lane without an element has the first one, which is the same as none.
    Candidate best = candidate(job, line, 0, begin + (lane < count ? lane : 0));
#pragma unroll 8
    for (int at = lane + 32; at < count; at += 32) {
        const Candidate next = candidate(job, line, 0, begin + at);
        if (is_better<LARGEST>(next, best)) best = next;
    }
    __syncwarp();
#pragma unroll
    for (int by = 16; by > 0; by /= 2) {
        const Candidate other = {__shfl_down_sync(0xffffffffu, best.value, by),
                                 __shfl_down_sync(0xffffffffu, best.place, by)};
        if (is_better<LARGEST>(other, best)) best = other;
    }
    if (lane == 0) found(job, unit, best);
}

// A thread for each part of a line, neighbouring ones for lines beside each other.
template <bool LARGEST>
__device__ __forceinline__ void extremes_of_columns(const ExtremesArgument<REAL>& job) {
    const u64 unit = (u64)blockIdx.x * THREADS + threadIdx.x;
    const u64 rest = unit / job.inner;
    const u64 column = unit - rest * job.inner;
    const u64 outer = rest / job.parts;
    if (outer >= job.outer) return;
    const u64 begin = (rest - outer * job.parts) * PART_ROWS;
    const int count = job.length - begin < PART_ROWS ? (int)(job.length - begin) : PART_ROWS;
    Candidate best = candidate(job, outer, column, begin);
#pragma unroll 8
    for (int at = 1; at < count; ++at) {
        const Candidate next = candidate(job, outer, column, begin + at);
        if (is_better<LARGEST>(next, best)) best = next;
    }
    found(job, unit, best);
}
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_extremes_of_lines(ExtremesArgument<REAL> job) {
    if (job.largest) {
        extremes_of_lines<true>(job);
    } else {
        extremes_of_lines<false>(job);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_extremes_of_columns(ExtremesArgument<REAL> job) {
    if (job.largest) {
        extremes_of_columns<true>(job);
    } else {
        extremes_of_columns<false>(job);
    }
}
