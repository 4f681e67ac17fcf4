// Reductions: many numbers into one. Part of arithmetic/arithmetic.cu.
#pragma once

#include "arithmetic/operations.cuh"

namespace {
constexpr int LANES = 32;
constexpr int WARPS = THREADS / LANES;
constexpr int CHUNK = 1024;
// Lines shorter than a warp: how many a lane takes a part of.
constexpr int SHORT_LINES = 4;
// The elements of the longest line that is short, where lines are columns beside each other. It is a power of two.
constexpr int SHORT_COLUMN = 16;
}  // namespace

// An array of inner x length x outer elements, and another one of the same size where there are two. Each line of
// `length` gives a result; where it is longer than a chunk, each of its chunks does, one behind the other.

namespace {
// Chunks are joined by reducing their results once more: so one way of joining serves for lanes and for chunks.
struct Sum {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return Math::plus(lane, a); }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) { return Math::plus(lane, other); }
};
struct Dot : Sum {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL b) { return Math::fused(a, b, lane); }
};
struct SumOfMagnitudes : Sum {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) {
        return Math::plus(lane, Math::magnitude(a));
    }
};
struct Product {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return Math::times(lane, a); }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) { return Math::times(lane, other); }
};
struct Smallest {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return join(lane, a); }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) {
        return lane != lane || other < lane ? other : lane;
    }
};
struct Largest {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return join(lane, a); }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) {
        return lane != lane || other > lane ? other : lane;
    }
};
struct LargestMagnitude {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return join(lane, Math::magnitude(a)); }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) {
        return other != other || other > lane ? other : lane;
    }
};
struct Any {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return a < 0 || a > 0 ? REAL(1) : lane; }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) { return other != 0 ? other : lane; }
};
struct All {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return a == 0 ? REAL(0) : lane; }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) { return other == 0 ? other : lane; }
};
struct Differ : Any {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL b) { return a != b ? REAL(1) : lane; }
};

// Lines of neighbours: a warp takes a chunk, and reads 32 neighbours at a time.
template <class Op, bool TWO>
struct Lines {
    static __device__ __forceinline__ void run(const ReductionArgument<REAL>& job) {
        constexpr int ABREAST = TWO ? 8 : 16;
        const int lane = threadIdx.x % LANES;
        const u64 chunks = job.outer * job.chunks;
        const u64 warps = (u64)gridDim.x * WARPS;
#pragma unroll 1
        for (u64 chunk = (u64)blockIdx.x * WARPS + threadIdx.x / LANES; chunk < chunks; chunk += warps) {
            const u64 line = chunk / job.chunks;
            const u64 begin = (chunk - line * job.chunks) * CHUNK;
            const int count = job.length - begin < CHUNK ? (int)(job.length - begin) : CHUNK;
            const REAL* const a = job.from[0] + line * job.length + begin + lane;
            const REAL* const b = TWO ? job.from[1] + line * job.length + begin + lane : a;
            REAL own = REAL(job.start);
            int at = 0;  // of lane 0
#pragma unroll 1
            for (; at + ABREAST * LANES <= count; at += ABREAST * LANES) {
                REAL first[ABREAST], second[ABREAST];
#pragma unroll
                for (int i = 0; i < ABREAST; ++i) {
                    first[i] = a[at + i * LANES];
                    second[i] = TWO ? b[at + i * LANES] : first[i];
                }
#pragma unroll
                for (int i = 0; i < ABREAST; ++i) own = Op::take(own, first[i], second[i]);
            }
#pragma unroll 4
            for (; at + lane < count; at += LANES) own = Op::take(own, a[at], b[at]);
            __syncwarp();
#pragma unroll
            for (int by = LANES / 2; by > 0; by /= 2) own = Op::join(own, __shfl_down_sync(0xffffffffu, own, by));
            if (lane == 0) job.to[chunk] = own;
        }
    }
};

// Lines of no more elements than there are lanes: those of a warp share them out, and have several under way.
template <class Op, bool TWO>
struct ShortLines {
    static __device__ __forceinline__ void run(const ReductionArgument<REAL>& job) {
        const int lane = threadIdx.x % LANES;
        const int lanes = 1 << job.bits;
        const int own = lane & (lanes - 1);
        const int lines = LANES >> job.bits;
        const u64 warp = (u64)blockIdx.x * WARPS + threadIdx.x / LANES;
        const u64 first = warp * (SHORT_LINES * lines) + (lane >> job.bits);
        REAL value[SHORT_LINES];
#pragma unroll
        for (int i = 0; i < SHORT_LINES; ++i) {
            const u64 line = first + i * lines;
            value[i] = REAL(job.start);
            if (line < job.outer && own < (int)job.length) {
                const u64 at = line * job.length + own;
                const REAL a = job.from[0][at];
                value[i] = Op::take(value[i], a, TWO ? job.from[1][at] : a);
            }
        }
#pragma unroll 1
        for (int by = lanes / 2; by > 0; by /= 2) {
#pragma unroll
            for (int i = 0; i < SHORT_LINES; ++i) {
                value[i] = Op::join(value[i], __shfl_down_sync(0xffffffffu, value[i], by));
            }
        }
#pragma unroll
        for (int i = 0; i < SHORT_LINES; ++i) {
            // The lanes that are not there hold what lanes begin with. To join them once is as good as each time: it
            // makes +0 of -0, which a product leaves that is too small.
            if (lanes < LANES) value[i] = Op::join(value[i], REAL(job.start));
            if (own == 0 && first + i * lines < job.outer) job.to[first + i * lines] = value[i];
        }
    }
};

// Lines with others beside them: a unit is a chunk of up to 32 neighbouring lines, and has 8 rows of threads. A thread
// is the lanes of its row, 8 rows further on, 16 and 24.
template <class Op, bool TWO>
struct Columns {
    static __device__ __forceinline__ void run(const ReductionArgument<REAL>& job) {
        constexpr int ROWS = 8;
        constexpr int APART = LANES / ROWS;
        constexpr int ABREAST = TWO ? 2 : 4;
        __shared__ REAL lanes[THREADS];
        const int columns = 1 << job.bits;
        const int per_block = THREADS / ROWS >> job.bits;
        const int row = threadIdx.x >> job.bits & (ROWS - 1);
        const u64 tiles = (job.inner + columns - 1) >> job.bits;
        const u64 units = tiles * job.chunks * job.outer;
#pragma unroll 1
        for (u64 block = (u64)blockIdx.x * per_block; block < units; block += (u64)gridDim.x * per_block) {
            const u64 unit = block + (threadIdx.x / ROWS >> job.bits);
            const u64 rest = unit / tiles;
            const u64 outer = rest / job.chunks;
            const u64 begin = (rest - outer * job.chunks) * CHUNK;
            const u64 column = ((unit - rest * tiles) << job.bits) + (threadIdx.x & (columns - 1));
            const bool mine = unit < units && column < job.inner;
            REAL own[APART];
#pragma unroll
            for (int k = 0; k < APART; ++k) own[k] = REAL(job.start);
            if (mine) {
                const int count = job.length - begin < CHUNK ? (int)(job.length - begin) : CHUNK;
                const u64 place = (outer * job.length + begin + row) * job.inner + column;
                const REAL* const a = job.from[0] + place;
                const REAL* const b = TWO ? job.from[1] + place : a;
                int at = 0;  // of row 0
#pragma unroll 1
                for (; at + ABREAST * LANES <= count; at += ABREAST * LANES) {
                    REAL first[ABREAST * APART], second[ABREAST * APART];
#pragma unroll
                    for (int i = 0; i < ABREAST * APART; ++i) {
                        first[i] = a[(at + i * ROWS) * job.inner];
                        second[i] = TWO ? b[(at + i * ROWS) * job.inner] : first[i];
                    }
#pragma unroll
                    for (int i = 0; i < ABREAST * APART; ++i) {
                        own[i % APART] = Op::take(own[i % APART], first[i], second[i]);
                    }
                }
#pragma unroll 1
                for (; at < count; at += LANES) {
#pragma unroll
                    for (int k = 0; k < APART; ++k) {
                        const int i = at + k * ROWS;
                        if (i + row < count) own[k] = Op::take(own[k], a[i * job.inner], b[i * job.inner]);
                    }
                }
            }
            // A lane takes the one 16 further on, then 8: they are this thread's.
            const REAL both[2] = {Op::join(own[0], own[2]), Op::join(own[1], own[3])};
            lanes[threadIdx.x] = Op::join(both[0], both[1]);
            __syncthreads();
#pragma unroll
            for (int by = ROWS / 2; by > 0; by /= 2) {
                if (row < by) lanes[threadIdx.x] = Op::join(lanes[threadIdx.x], lanes[threadIdx.x + (by << job.bits)]);
                __syncthreads();
            }
            if (row == 0 && mine) {
                // The results of a line's chunks are neighbours.
                job.to[(outer * job.inner + column) * job.chunks + begin / CHUNK] = lanes[threadIdx.x];
            }
        }
    }
};

// Lanes of one thread: each of the first BY takes the one BY further on, and so on.
template <class Op, int BY>
struct Tree {
    static __device__ __forceinline__ void join(REAL (&lane)[SHORT_COLUMN]) {
#pragma unroll
        for (int i = 0; i < BY; ++i) lane[i] = Op::join(lane[i], lane[i + BY]);
        Tree<Op, BY / 2>::join(lane);
    }
};
template <class Op>
struct Tree<Op, 0> {
    static __device__ __forceinline__ void join(REAL (&)[SHORT_COLUMN]) {}
};

// Short lines with others beside them: a thread is all lanes of one, and joins those that are not there once.
template <class Op, bool TWO>
struct ShortColumns {
    static __device__ __forceinline__ void run(const ReductionArgument<REAL>& job) {
        const u64 line = (u64)blockIdx.x * THREADS + threadIdx.x;
        if (line >= job.inner * job.outer) return;
        const u64 outer = line / job.inner;
        const u64 place = outer * job.length * job.inner + (line - outer * job.inner);
        REAL lane[SHORT_COLUMN], second[SHORT_COLUMN];
        const int length = (int)job.length;
#pragma unroll
        for (int i = 0; i < SHORT_COLUMN; ++i) {
            lane[i] = second[i] = 0;
            if (i < length) lane[i] = job.from[0][place + i * job.inner];
            if (TWO && i < length) second[i] = job.from[1][place + i * job.inner];
        }
        const REAL start = REAL(job.start);
#pragma unroll
        for (int i = 0; i < SHORT_COLUMN; ++i) lane[i] = i < length ? Op::take(start, lane[i], second[i]) : start;
        Tree<Op, SHORT_COLUMN / 2>::join(lane);
        job.to[line] = Op::join(lane[0], start);
    }
};

template <template <class, bool> class Form>
__device__ __forceinline__ void reduce(const ReductionArgument<REAL>& job) {
    switch (job.op) {
        case ReductionOp::SUM: return Form<Sum, false>::run(job);
        case ReductionOp::SUM_OF_MAGNITUDES: return Form<SumOfMagnitudes, false>::run(job);
        case ReductionOp::PRODUCT: return Form<Product, false>::run(job);
        case ReductionOp::SMALLEST: return Form<Smallest, false>::run(job);
        case ReductionOp::LARGEST: return Form<Largest, false>::run(job);
        case ReductionOp::LARGEST_MAGNITUDE: return Form<LargestMagnitude, false>::run(job);
        case ReductionOp::ANY: return Form<Any, false>::run(job);
        default: return Form<All, false>::run(job);
    }
}

template <template <class, bool> class Form>
__device__ __forceinline__ void reduce_two(const ReductionArgument<REAL>& job) {
    if (job.op == ReductionOp::DOT) return Form<Dot, true>::run(job);
    Form<Differ, true>::run(job);
}
}  // namespace

// Reductions of two arrays have kernels of their own: their registers would be too many for one array.
#define REDUCTION(NAME, FORM)                                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_reduce_##NAME(ReductionArgument<REAL> job) {     \
        reduce<FORM>(job);                                                                                            \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_reduce_two_##NAME(ReductionArgument<REAL> job) { \
        reduce_two<FORM>(job);                                                                                        \
    }

REDUCTION(lines, Lines)
REDUCTION(short_lines, ShortLines)
REDUCTION(columns, Columns)
REDUCTION(short_columns, ShortColumns)
