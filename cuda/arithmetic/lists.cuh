// Lists of places. Part of arithmetic/scans.cu.
#pragma once

#include "arithmetic/operations.cuh"

namespace {
// The elements of an array in which a warp looks for places.
constexpr int SEARCHED = 1024;

// Calls `work` for each 32 neighbours of this warp: with the place of this thread's, and with who of the warp has one
// that is no zero.
template <class Work>
__device__ __forceinline__ void search(const FindArgument<REAL>& job, u64 warp, Work work) {
    const int lane = threadIdx.x % 32;
    constexpr int ABREAST = 8;
#pragma unroll 1
    for (int row = 0; row < SEARCHED; row += 32 * ABREAST) {
        REAL own[ABREAST];
#pragma unroll
        for (int i = 0; i < ABREAST; ++i) {
            const u64 at = warp * SEARCHED + row + i * 32 + lane;
            own[i] = at < job.count ? job.from[at] : REAL(0);
        }
#pragma unroll
        for (int i = 0; i < ABREAST; ++i) {
            const bool found = own[i] != 0;
            work(warp * SEARCHED + row + i * 32 + lane, found, __ballot_sync(0xffffffffu, found));
        }
    }
}
}  // namespace

// Number that each warp finds.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_find_count(FindArgument<REAL> job) {
    const u64 warp = (u64)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    u64 count = 0;
    search(job, warp, [&](u64, bool, u32 found) { count += __popc(found); });
    if (threadIdx.x % 32 == 0 && warp < job.warps) job.counts[warp] = count;
}

// The places, when `counts` says how many all warps up to each one find.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_find(FindArgument<REAL> job) {
    const u64 warp = (u64)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    u64 next = warp > 0 && warp < job.warps ? job.counts[warp - 1] : 0;
    const u32 before = (1u << threadIdx.x % 32) - 1;
    search(job, warp, [&](u64 at, bool is_found, u32 found) {
        if (is_found) job.places[next + __popc(found & before)] = at;
        next += __popc(found);
    });
}

// Places are counted from 0 here, and from 1 by the hosts.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_ordinals(OrdinalsArgument<REAL> job) {
    const u64 at = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (at < job.count) job.to[at] = REAL(double(job.from[at] + 1));
}
