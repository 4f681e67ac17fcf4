// Running sums and products. Part of arithmetic/scans.cu.
//
// The order is that of `Scan` in src/stencil/arithmetic/reduction.rs: groups of 32, chunks of 1,024. A line of several
// chunks is read twice: once for what each chunk leaves, and once more, when the host has had that scanned, for the
// results.
#pragma once

#include "arithmetic/operations.cuh"

namespace {
constexpr int GROUP = 32;
constexpr int GROUPS = 32;  // of a chunk
constexpr int SCAN_CHUNK = GROUP * GROUPS;
constexpr int SCAN_THREADS = 128;
constexpr int SCAN_WARPS = SCAN_THREADS / 32;

template <class T>
struct RunningSum {
    static __device__ __forceinline__ T join(T ahead, T other) { return Class<T>::plus(ahead, other); }
};
template <>
struct RunningSum<u64> {
    static __device__ __forceinline__ u64 join(u64 ahead, u64 other) { return ahead + other; }
};
struct RunningProduct {
    static __device__ __forceinline__ REAL join(REAL ahead, REAL other) { return Math::times(ahead, other); }
};

// The shared memory of a block: one for all operations of a kernel.
template <class T>
struct Tiles {
    T of_warp[SCAN_WARPS][SCAN_CHUNK + GROUPS];
};
template <class T>
struct Lasts {
    T of_thread[THREADS];
    T groups[32];
};

// Lines of neighbours. A warp takes a chunk, or 32 lines that are no longer than a group. Each thread goes along a group
// of its own, which lies in shared memory: there, one element is left out after each group, so that threads meet no
// others in their banks.
template <class T, class Op, bool ONLY_LASTS>
__device__ __forceinline__ void scan_lines(const ScanArgument<T>& job, Tiles<T>& tiles) {
    T* const tile = tiles.of_warp[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    const u64 unit = (u64)blockIdx.x * SCAN_WARPS + threadIdx.x / 32;
    const bool is_short = job.length <= GROUP;
    const int own = is_short ? (int)job.length : GROUP;  // of a thread
    const u64 line = is_short ? 0 : unit / job.chunks;
    const u64 chunk = is_short ? 0 : unit - line * job.chunks;
    const u64 first = is_short ? unit * (32 * job.length) : line * job.length + chunk * SCAN_CHUNK;
    const u64 end = is_short ? job.length * job.outer : (line + 1) * job.length;
    // The last warps of the last block may have nothing to do; they stay for the others of their warp alone.
    const u64 left = (is_short ? first < end : line < job.outer) ? end - first : 0;
    const int most = is_short ? 32 * own : SCAN_CHUNK;
    const int count = left < most ? (int)left : most;
#pragma unroll 8
    for (int at = lane; at < count; at += 32) tile[at + at / GROUP] = job.from[first + at];
    __syncwarp();
    T last = T(0);
    const int begin = lane * own;
    if (begin < count) last = tile[begin + begin / GROUP];
#pragma unroll 8
    for (int k = 1; k < own; ++k) {
        const int at = begin + k;
        if (at < count) {
            last = Op::join(last, tile[at + at / GROUP]);
            if (!ONLY_LASTS) tile[at + at / GROUP] = last;
        }
    }
    __syncwarp();
    if (is_short) {
        for (int at = lane; at < count; at += 32) job.to[first + at] = tile[at + at / GROUP];
        return;
    }
    // For each thread, all groups up to its own.
#pragma unroll
    for (int k = 1; k < GROUPS; ++k) {
        const T ahead = __shfl_sync(0xffffffffu, last, k - 1);
        if (lane == k) last = Op::join(ahead, last);
    }
    if (ONLY_LASTS) {
        if (count > 0 && lane == (count - 1) / GROUP) job.to[unit] = last;
        return;
    }
    const bool has_chunks_ahead = chunk > 0 && count > 0;
    const T chunks_ahead = has_chunks_ahead ? job.ahead[unit - 1] : T(0);
#pragma unroll 8
    for (int group = 0; group < GROUPS; ++group) {
        const int at = group * GROUP + lane;
        const T ahead = __shfl_sync(0xffffffffu, last, group > 0 ? group - 1 : 0);
        if (at < count) {
            T result = tile[at + group];
            if (group > 0) result = Op::join(ahead, result);
            if (has_chunks_ahead) result = Op::join(chunks_ahead, result);
            job.to[first + at] = result;
        }
    }
}

// Lines with others beside them: a unit is a chunk of up to 32 neighbouring lines. A thread has a group of a line in its
// registers; there are as many groups at once as rows of threads.
template <class T, class Op, bool ONLY_LASTS>
__device__ __forceinline__ void scan_columns(const ScanArgument<T>& job, Lasts<T>& lasts) {
    const int columns = 1 << job.bits;
    const int rows = THREADS >> job.bits;
    const int row = threadIdx.x >> job.bits;
    const u64 tiles = (job.inner + columns - 1) >> job.bits;
    const u64 unit = blockIdx.x;
    const u64 rest = unit / tiles;
    const u64 outer = rest / job.chunks;
    const u64 chunk = rest - outer * job.chunks;
    const int in_tile = threadIdx.x & (columns - 1);
    const u64 column = ((unit - rest * tiles) << job.bits) + in_tile;
    const bool mine = column < job.inner;
    const u64 begin = chunk * SCAN_CHUNK;
    const int count = job.length - begin < SCAN_CHUNK ? (int)(job.length - begin) : SCAN_CHUNK;
    const u64 place = (outer * job.length + begin) * job.inner + column;
    const u64 of_chunk = (outer * job.inner + column) * job.chunks + chunk;
    const T chunks_ahead = mine && chunk > 0 && !ONLY_LASTS ? job.ahead[of_chunk - 1] : T(0);
#pragma unroll 1
    for (int group = row; (group - row) * GROUP < count; group += rows) {
        const int first = group * GROUP;
        T own[GROUP];
#pragma unroll
        for (int k = 0; k < GROUP; ++k) {
            own[k] = mine && first + k < count ? job.from[place + (first + k) * job.inner] : T(0);
        }
#pragma unroll
        for (int k = 1; k < GROUP; ++k) own[k] = first + k < count ? Op::join(own[k - 1], own[k]) : own[k - 1];
        lasts.of_thread[threadIdx.x] = own[GROUP - 1];
        __syncthreads();
        // All groups ahead of this thread's, in their order.
        T ahead = group > row ? lasts.groups[in_tile] : T(0);
        bool is_first = group == row;
#pragma unroll 1
        for (int other = 0; other < row; ++other) {
            const T last = lasts.of_thread[(other << job.bits) + in_tile];
            ahead = is_first ? last : Op::join(ahead, last);
            is_first = false;
        }
        if (!is_first) {
#pragma unroll
            for (int k = 0; k < GROUP; ++k) own[k] = Op::join(ahead, own[k]);
        }
        __syncthreads();
        if (row == rows - 1) lasts.groups[in_tile] = own[GROUP - 1];
        __syncthreads();
        if (mine && first < count) {
            if (ONLY_LASTS) {
                if (first + GROUP >= count) job.to[of_chunk] = own[GROUP - 1];
            } else {
#pragma unroll
                for (int k = 0; k < GROUP; ++k) {
                    if (first + k < count) {
                        const T result = chunk > 0 ? Op::join(chunks_ahead, own[k]) : own[k];
                        job.to[place + (first + k) * job.inner] = result;
                    }
                }
            }
        }
    }
}
}  // namespace

#define SCAN(NAME, FORM, SHARED, BLOCK, ONLY_LASTS)                                                      \
    extern "C" __global__ void __launch_bounds__(BLOCK) arithmetic_scan_##NAME(ScanArgument<REAL> job) { \
        __shared__ SHARED<REAL> shared;                                                                  \
        if (job.op == ScanOp::SUM) {                                                                     \
            FORM<REAL, RunningSum<REAL>, ONLY_LASTS>(job, shared);                                       \
        } else {                                                                                         \
            FORM<REAL, RunningProduct, ONLY_LASTS>(job, shared);                                         \
        }                                                                                                \
    }

SCAN(lines, scan_lines, Tiles, SCAN_THREADS, false)
SCAN(lines_lasts, scan_lines, Tiles, SCAN_THREADS, true)
SCAN(columns, scan_columns, Lasts, THREADS, false)
SCAN(columns_lasts, scan_columns, Lasts, THREADS, true)

// Sums of counts.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) arithmetic_scan_counts(ScanArgument<u64> job) {
    __shared__ Tiles<u64> shared;
    scan_lines<u64, RunningSum<u64>, false>(job, shared);
}
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) arithmetic_scan_counts_lasts(ScanArgument<u64> job) {
    __shared__ Tiles<u64> shared;
    scan_lines<u64, RunningSum<u64>, true>(job, shared);
}
