// Elements that lie in other steps than the box that is walked through: sections, and lists of places. Part of
// arithmetic/arithmetic.cu.
#pragma once

#include "arithmetic/operations.cuh"

namespace {
constexpr int RUN = 8;  // elements of a thread
}  // namespace

namespace {
// The elements of a thread one after the other, wherever lines end.
struct Flat {
    u64 at;  // of the first one, counted through
    u64 index[RANK];
    i64 offset;

    __device__ __forceinline__ explicit Flat(const Walk& walk) {
        at = (u64)blockIdx.x * (THREADS * RUN) + threadIdx.x;
        u64 left = at;
        offset = 0;
#pragma unroll
        for (int d = 0; d < RANK; ++d) {
            if (d >= walk.rank) break;
            // Beyond the end the last one goes on.
            const u64 rest = d + 1 < walk.rank ? left / walk.size[d] : 0;
            index[d] = left - rest * walk.size[d];
            left = rest;
            offset += (i64)index[d] * walk.steps[d];
        }
    }

    // True if there is an element this many further on.
    __device__ __forceinline__ bool has(const Walk& walk, int further) const {
        return at + further * THREADS < walk.count;
    }

    __device__ __forceinline__ void next(const Walk& walk) {
        offset += walk.advance;
        bool over = false;
#pragma unroll
        for (int d = 0; d < RANK - 1; ++d) {
            if (d + 1 >= walk.rank) break;
            index[d] += walk.stride[d] + over;
            over = index[d] >= walk.size[d];
            if (over) {
                index[d] -= walk.size[d];
                offset += walk.wraps[d];
            }
        }
    }
};

// The elements of a thread where the first dimension is long: a block stays in one line.
struct Rows {
    u64 at;      // of the first one, counted through,
    u64 column;  // and in its line
    i64 offset;

    __device__ __forceinline__ explicit Rows(const Walk& walk) {
        const u64 blocks = (walk.size[0] + THREADS * RUN - 1) / (THREADS * RUN);
        u64 left = blockIdx.x / blocks;
        column = (blockIdx.x - left * blocks) * (THREADS * RUN) + threadIdx.x;
        at = left * walk.size[0] + column;
        offset = (i64)column * walk.steps[0];
#pragma unroll
        for (int d = 1; d < RANK; ++d) {
            if (d >= walk.rank) break;
            const u64 rest = d + 1 < walk.rank ? left / walk.size[d] : 0;
            const i64 index = left - rest * walk.size[d];
            left = rest;
            offset += index * walk.steps[d];
        }
    }

    __device__ __forceinline__ bool has(const Walk& walk, int further) const {
        return column + further * THREADS < walk.size[0];
    }

    __device__ __forceinline__ void next(const Walk& walk) { offset += THREADS * walk.steps[0]; }
};

template <class Way>
__device__ __forceinline__ void pick(const SectionArgument<REAL>& job) {
    Way way(job.walk);
    REAL own[RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (way.has(job.walk, i)) own[i] = job.from[job.start + way.offset];
        way.next(job.walk);
    }
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (way.has(job.walk, i)) job.to[way.at + i * THREADS] = own[i];
    }
}

template <class Way>
__device__ __forceinline__ void put(const SectionArgument<REAL>& job) {
    Way way(job.walk);
    REAL own[RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (way.has(job.walk, i)) own[i] = job.from[way.at + i * THREADS];
    }
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (way.has(job.walk, i)) job.to[job.start + way.offset] = own[i];
        way.next(job.walk);
    }
}
}  // namespace

#define EITHER_WAY(NAME)                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_##NAME##_flat(SectionArgument<REAL> job) { \
        NAME<Flat>(job);                                                                                        \
    }                                                                                                           \
    extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_##NAME##_rows(SectionArgument<REAL> job) { \
        NAME<Rows>(job);                                                                                        \
    }

EITHER_WAY(pick)
EITHER_WAY(put)

namespace {
// Place in the list of this thread's element `i`.
__device__ __forceinline__ u64 in_list(int i) { return (u64)blockIdx.x * (THREADS * RUN) + i * THREADS + threadIdx.x; }
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_pick_list(ListArgument<REAL> job) {
    REAL own[RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (in_list(i) < job.count) own[i] = job.from[job.places[in_list(i)]];
    }
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (in_list(i) < job.count) job.to[in_list(i)] = own[i];
    }
}

// No place comes twice: nobody knows which thread is the last.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_put_list(ListArgument<REAL> job) {
    u64 place[RUN];
    REAL own[RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (in_list(i) < job.count) {
            place[i] = job.places[in_list(i)];
            own[i] = job.from[job.others ? job.others[in_list(i)] : in_list(i)];
        }
    }
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (in_list(i) < job.count) job.to[place[i]] = own[i];
    }
}
