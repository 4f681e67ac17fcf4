// Lines of neighbours in order, equal elements as they were. What the order is, src/stencil/arithmetic/order.rs says.
//
// Elements are sorted by the bytes of their keys, the lowest first; each pass keeps the order of the one before among
// equal bytes. A key is made of an element whenever it is asked for, so nothing but elements moves. Short lines are
// sorted in shared memory, several in a block: the line's number is the highest digit. For long ones a pass is two
// launches: each block counts the bytes in its tile, the host has the counts scanned, and each block puts its elements
// where they belong.

#include "arithmetic/operations.cuh"

namespace {
constexpr int WARPS = THREADS / 32;
constexpr int DIGITS = 256;
constexpr u32 ALL = 0xffffffffu;
using Bits = decltype(Math::bits(REAL(0)));
// Elements of a thread where lines are short, and where they are long; and those of a tile.
constexpr int SHORT_ITEMS = 8;
constexpr int SHORT_TILE = THREADS * SHORT_ITEMS;
constexpr int LONG_ITEMS = 16;
constexpr int LONG_TILE = THREADS * LONG_ITEMS;
static_assert(DIGITS == THREADS, "a thread has a digit");

// A byte of an element's key. As whole numbers keys are in the order of the elements, NaN above all.
__device__ __forceinline__ u32 digit_of(REAL x, int shift, bool descending) {
    // The sum is +0 for either zero.
    const Bits bits = Math::bits(Math::plus(x, REAL(0)));
    constexpr Bits SIGN = Bits(1) << (8 * sizeof(Bits) - 1);
    Bits key = bits & SIGN ? ~bits : bits | SIGN;
    if (x != x) key = ~Bits(0);
    if (descending) key = ~key;
    return (u32)(key >> shift) & (DIGITS - 1);
}

// Number of elements with each digit in each warp; then the place of each warp's next element with a digit.
struct Counts {
    u32 of[WARPS][DIGITS];
    u32 of_warps[WARPS];
};

// For each element of a thread, the number of elements of its warp with the same digit ahead of it. The warp's order is
// element `i` of all threads, then element `i + 1`.
template <int ITEMS>
__device__ __forceinline__ void rank(Counts& counts, const u32 (&digits)[ITEMS], u32 (&ranks)[ITEMS]) {
    const int lane = threadIdx.x % 32;
    u32* const own = counts.of[threadIdx.x / 32];
    for (int digit = lane; digit < DIGITS; digit += 32) own[digit] = 0;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        // The threads with the same digit.
        u32 peers = ALL;
#pragma unroll
        for (int bit = 0; bit < 8; ++bit) {
            const bool is_set = digits[i] >> bit & 1;
            const u32 set = __ballot_sync(ALL, is_set);
            peers &= is_set ? set : ~set;
        }
        const int ahead = __popc(peers & ((1u << lane) - 1));
        u32 count = 0;
        if (ahead == 0) {
            count = own[digits[i]];
            own[digits[i]] = count + __popc(peers);
        }
        ranks[i] = __shfl_sync(ALL, count, __ffs(peers) - 1) + ahead;
        __syncwarp();
    }
}

// Number of the block's elements with this thread's digit. The counts become the numbers in the warps ahead of each.
__device__ __forceinline__ u32 sum_of_warps(Counts& counts) {
    __syncthreads();
    u32 sum = 0;
#pragma unroll
    for (int warp = 0; warp < WARPS; ++warp) {
        const u32 count = counts.of[warp][threadIdx.x];
        counts.of[warp][threadIdx.x] = sum;
        sum += count;
    }
    return sum;
}

// Number of the block's elements with digits below this thread's, which comes `count` times.
__device__ __forceinline__ u32 digits_below(Counts& counts, u32 count) {
    const int lane = threadIdx.x % 32;
    u32 sum = count;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const u32 other = __shfl_up_sync(ALL, sum, by);
        if (lane >= by) sum += other;
    }
    if (lane == 31) counts.of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    u32 below = sum - count;
    for (int warp = 0; warp < (int)threadIdx.x / 32; ++warp) below += counts.of_warps[warp];
    return below;
}

// Places of a thread's elements in the block's order.
template <int ITEMS>
__device__ __forceinline__ u32 places_in_block(Counts& counts, const u32 (&digits)[ITEMS], u32 (&places)[ITEMS]) {
    rank(counts, digits, places);
    const u32 below = digits_below(counts, sum_of_warps(counts));
#pragma unroll
    for (int warp = 0; warp < WARPS; ++warp) counts.of[warp][threadIdx.x] += below;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) places[i] += counts.of[threadIdx.x / 32][digits[i]];
    return below;
}

// Place of this thread's element `i` in the block's order.
template <int ITEMS>
__device__ __forceinline__ int in_block(int i) {
    return (threadIdx.x / 32 * ITEMS + i) * 32 + threadIdx.x % 32;
}
}  // namespace

extern "C" __constant__ unsigned int arithmetic_threads = THREADS;
extern "C" __constant__ unsigned int arithmetic_sort_short = SHORT_TILE;
extern "C" __constant__ unsigned int arithmetic_sort_tile = LONG_TILE;

// As many whole lines as there is room for. Behind them are no elements: they have the highest digit in each pass, so they
// stay behind.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_sort_short_lines(SortArgument<REAL> job) {
    __shared__ REAL values[SHORT_TILE];
    __shared__ unsigned short origins[SHORT_TILE];
    __shared__ Counts counts;
    const int length = (int)job.length;
    const int lines = SHORT_TILE / length;
    const u64 first = (u64)blockIdx.x * lines;
    const int here = job.lines - first < lines ? (int)(job.lines - first) : lines;
    const int count = here * length;
    for (int at = threadIdx.x; at < count; at += THREADS) {
        values[at] = job.from[first * length + at];
        origins[at] = (unsigned short)at;
    }
    __syncthreads();
    const int of_values = 8 * sizeof(REAL);
    const int of_lines = here == 1 ? 0 : here <= DIGITS ? 8 : 16;
#pragma unroll 1
    for (int shift = 0; shift < of_values + of_lines; shift += 8) {
        REAL own[SHORT_ITEMS];
        unsigned short origin[SHORT_ITEMS];
        u32 digits[SHORT_ITEMS], places[SHORT_ITEMS];
#pragma unroll
        for (int i = 0; i < SHORT_ITEMS; ++i) {
            const int at = in_block<SHORT_ITEMS>(i);
            const bool is_there = at < count;
            own[i] = is_there ? values[at] : REAL(0);
            origin[i] = is_there ? origins[at] : 0;
            digits[i] = shift < of_values ? digit_of(own[i], shift, job.descending)
                                          : (u32)(origin[i] / length) >> (shift - of_values) & (DIGITS - 1);
            if (!is_there) digits[i] = DIGITS - 1;
        }
        places_in_block(counts, digits, places);
#pragma unroll
        for (int i = 0; i < SHORT_ITEMS; ++i) {
            if (places[i] < count) {
                values[places[i]] = own[i];
                origins[places[i]] = origin[i];
            }
        }
        __syncthreads();
    }
    for (int at = threadIdx.x; at < count; at += THREADS) {
        job.to[first * length + at] = values[at];
        if (job.places) job.places[first * length + at] = origins[at] % length;
    }
}

namespace {
// The tile of this block, of a long line.
struct Tile {
    u64 line, number, begin;
    int count;

    __device__ __forceinline__ explicit Tile(const SortArgument<REAL>& job) {
        line = blockIdx.x / job.tiles;
        number = blockIdx.x - line * job.tiles;
        begin = number * LONG_TILE;
        count = job.length - begin < LONG_TILE ? (int)(job.length - begin) : LONG_TILE;
    }

    // The elements of this thread and their digits; behind the line's end the highest.
    __device__ __forceinline__ void load(const SortArgument<REAL>& job, REAL (&own)[LONG_ITEMS],
                                         u32 (&digits)[LONG_ITEMS]) const {
        const REAL* const from = job.from + line * job.length + begin;
#pragma unroll
        for (int i = 0; i < LONG_ITEMS; ++i) {
            const int at = in_block<LONG_ITEMS>(i);
            own[i] = at < count ? from[at] : REAL(0);
        }
#pragma unroll
        for (int i = 0; i < LONG_ITEMS; ++i) {
            const bool is_there = in_block<LONG_ITEMS>(i) < count;
            digits[i] = is_there ? digit_of(own[i], job.shift, job.descending) : DIGITS - 1;
        }
    }

    // Place of the count of this thread's digit: digit by digit, and for each, tile by tile.
    __device__ __forceinline__ u64 of_counts(const SortArgument<REAL>& job) const {
        return (line * DIGITS + threadIdx.x) * job.tiles + number;
    }
};
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_sort_count(SortArgument<REAL> job) {
    __shared__ Counts counts;
    const Tile tile(job);
    REAL own[LONG_ITEMS];
    u32 digits[LONG_ITEMS], ranks[LONG_ITEMS];
    tile.load(job, own, digits);
    rank(counts, digits, ranks);
    u32 count = sum_of_warps(counts);
    if (threadIdx.x == DIGITS - 1) count -= LONG_TILE - tile.count;
    job.counts[tile.of_counts(job)] = count;
}

// When `counts` says how many come ahead: up to each digit of each tile.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_sort_scatter(SortArgument<REAL> job) {
    __shared__ REAL values[LONG_TILE];
    __shared__ Counts counts;
    __shared__ u64 ahead[DIGITS];
    const Tile tile(job);
    REAL own[LONG_ITEMS];
    u32 digits[LONG_ITEMS], places[LONG_ITEMS];
    tile.load(job, own, digits);
    const u32 below = places_in_block(counts, digits, places);
    const bool is_first = threadIdx.x == 0 && tile.number == 0;
    const u64 others = is_first ? 0 : job.counts[tile.of_counts(job) - 1];
    ahead[threadIdx.x] = tile.line * job.length + others - below;
#pragma unroll
    for (int i = 0; i < LONG_ITEMS; ++i) values[places[i]] = own[i];
    __syncthreads();
    // Neighbours now belong beside each other.
    u64 to[LONG_ITEMS];
#pragma unroll
    for (int i = 0; i < LONG_ITEMS; ++i) {
        const int at = i * THREADS + threadIdx.x;
        if (at < tile.count) {
            const REAL value = values[at];
            to[i] = ahead[digit_of(value, job.shift, job.descending)] + at;
            job.to[to[i]] = value;
        }
    }
    if (!job.origins_to && !job.places) return;
    __syncthreads();
    u32* const origins = reinterpret_cast<u32*>(values);
#pragma unroll
    for (int i = 0; i < LONG_ITEMS; ++i) {
        const int at = in_block<LONG_ITEMS>(i);
        if (at < tile.count) {
            const u64 place = tile.begin + at;
            origins[places[i]] = job.origins ? job.origins[tile.line * job.length + place] : (u32)place;
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < LONG_ITEMS; ++i) {
        const int at = i * THREADS + threadIdx.x;
        if (at < tile.count) {
            if (job.places) {
                job.places[to[i]] = origins[at];
            } else {
                job.origins_to[to[i]] = origins[at];
            }
        }
    }
}
