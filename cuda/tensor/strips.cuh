// Common part of the convolutions on tensor cores: their argument, the transfer of samples to a warp, and the choice of
// results to be recomputed.
//
// One idea throughout: rolling accumulators. A warp owns a strip of the array and streams along the filter's outer
// dimension, over the columns of an image or the pages of a volume. Every output in flight has a slot among the
// accumulators. The next samples are read once and multiplied for all slots, each with the entries that it needs now:
// the filter is laid into a band, with zeros where a slot has no entry for a sample. A completed slot is written,
// cleared, and taken by the next output. So each output is the chain of fused multiply-adds from +0 in the filter's
// column-major order, with products with zeros among them.
//
// Such a product changes two things, and nothing else:
// - It is NaN if the sample is infinite or NaN.
// - It may turn -0 into +0. A chain that began with +0 comes to -0 only if a nonzero sum is rounded to it: a sum of
//    finite numbers less than half of the least subnormal number, 2^-1074. Every accumulator is a multiple of 2^-1074;
//    so is every product of a sample and an entry whose last places' values have a product of at least that. So if
//    every nonzero sample is large enough for the filter's smallest entry (`TensorPart::underflow_limit`), no sum is
//    rounded to zero, no accumulator is ever -0, and nothing differs. Samples that are zero do no harm, and outputs may
//    cancel to +0: images with constant regions cost nothing more.
// An accumulator that is infinite or NaN without such a sample, because a sum overflowed, is so in the plain chain,
// too: the following products are of finite numbers in the same order.
//
// So a scan of all samples finds the results that may be wrong. The warp flags that piece of its strip, and recomputes
// it by plain chains when it has done the strip: at the speed of the vector units, in about twice the time of the rest.
#pragma once

#include "boundary.cuh"
#include "tensor.cuh"

namespace {

constexpr int LANES = 32;
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr unsigned int NOT_FINITE = 0x7ffu << 21;  // the magnitude of infinities and NaN, or less
constexpr int MAX_ENTRIES = 343;                   // 7 x 7 x 7, which is more than 15 x 15

}  // namespace

// The filter, in column-major order.
__constant__ double F[MAX_ENTRIES];

// Ends the basic block of instructions: after each column, or after some tiles of it. Otherwise ptxas would order all
// multiplications of a loop by accumulator, and each would wait for the one before: twice the time. It cannot know that
// these numbers are zero. The condition includes the scan, or ptxas would keep its operands until later.
#define END_OF_BLOCK(NUMBER)                            \
    do {                                                \
        if (launch.zeros[NUMBER] & scan.bits()) return; \
    } while (0)
// Ends the basic block of a warp that scans nothing.
#define END_OF_BLOCK_UNSCANNED(NUMBER)    \
    do {                                  \
        if (launch.zeros[NUMBER]) return; \
    } while (0)

namespace {

// True if a double's address is no multiple of 16.
__device__ __forceinline__ int is_odd(unsigned long long address) { return static_cast<int>(address >> 3 & 1); }

// Copies into shared memory: the filter, for all threads of a block to make their bands of it, and the array's
// boundaries. (A function that is called for samples at an edge would get all that on the stack each time.)
template <int THREADS>
__device__ __forceinline__ void fetch_filter(const TensorArgument& launch, double* to, SidesArgument* sides) {
    const TensorPart& part = launch.part;
    if (threadIdx.x == 0) *sides = launch.sides;
    for (int at = threadIdx.x; at < part.height * part.width * part.depth; at += THREADS) to[at] = F[at];
    __syncthreads();
}

// Returns the shared memory that the launch asked for. Called where it is needed: pointers that are kept take
// registers.
__device__ __forceinline__ double* shared_memory() {
    DYNAMIC_SHARED(double2, memory);
    return reinterpret_cast<double*>(memory);
}

// ---- transfer of samples

// Some neighbouring columns of a page, from the row `top` on.
struct Box {
    long long top;
    long long column;       // the first
    long long page;         // of the box
    long long source_page;  // source of its samples: see `sample_at`
};

// Returns the number of a box's first column among those in the input, if it is one.
__device__ __forceinline__ long long place_of(const TensorPart& part, const Box& box) {
    return box.page * part.columns + box.column - (part.first - part.before);
}

// Returns the address of the first sample of a box, or where it would be.
__device__ __forceinline__ unsigned long long address_of(const TensorPart& part, const Box& box) {
    return reinterpret_cast<unsigned long long>(part.input) + 8 * (place_of(part, box) * part.rows + box.top);
}

// Bulk copies keep addresses modulo 16. So if the first sample of a column lies, or would lie, at an address that is no
// multiple of that, it is the second in its place in shared memory. From column to column that changes if the number of
// rows is odd.

// The places of a column that are copied in bulk: from `low` up to `high`, which are even, so that both ends are
// multiples of 16 bytes.
struct BulkRows {
    int low;
    int high;
};

// Requests the few samples of a column that are not copied in bulk, one by one. The lanes that share the column begin
// at `own` and go on by SHARING. `top` is the row of the column's first place; `from` is the address of the column's
// row 0, if it is there; else `outside` is the value of all of its places.
//
// No output that is written needs samples further below the last row than ROWS_BELOW. They keep the ring's old values.
template <int LENGTH, int RADIUS, int ROWS_BELOW, int SHARING>
__device__ __forceinline__ void request_rest(const TensorPart& part, const EndsArgument& of_rows, double* column,
                                             BulkRows bulk, int own, long long top, bool has, const double* from,
                                             double outside) {
    const int end = part.rows + ROWS_BELOW - top < LENGTH ? static_cast<int>(part.rows + ROWS_BELOW - top) : LENGTH;
    const EndsArgument ends = of_rows;  // copied, since it may alias the samples' places: it would be read for each
#pragma unroll 1
    for (int i = own;; i += SHARING) {
        const int place = i < bulk.low ? i : i + bulk.high - bulk.low;
        if (place >= end) break;
        const long long row = has ? sample_at(top + place, part.rows, RADIUS, ends) : -1;
        if (row >= 0) {
            copy_element(column + place, from + row);
        } else {
            column[place] = has ? constant_of(ends, row) : outside;
        }
    }
}

// Requests a box with columns that are not in the input, or are copies of others.
template <int LENGTH, int COLUMNS, int RADIUS, int ROWS_BELOW>
__device__ __forceinline__ void request_at_edge(const TensorPart& part, const SidesArgument& sides, const Box& box,
                                                double* to, Barrier* full) {
    constexpr int SHARING = LANES / COLUMNS;
    const int lane = threadIdx.x % LANES;
    const int c = lane % COLUMNS;
    const int own = lane / COLUMNS;
    if (own < SHARING) {
        double* const column = to + c * LENGTH;
        const long long top = box.top - (is_odd(address_of(part, box)) ^ (c & static_cast<int>(part.rows & 1)));
        const long long of = sample_at(box.column + c, part.columns, RADIUS, sides.of_columns);
        const long long at = box.source_page * part.columns + of - (part.first - part.before);
        const bool has = box.source_page >= 0 && of >= 0 && at >= 0 && at < part.before + part.count + part.after;
        const double* const from = part.input + (has ? at : 0) * part.rows;
        BulkRows bulk{0, 0};
        const int low = top < 0 ? static_cast<int>(-top) : 0;
        const int high = part.rows - top < LENGTH ? static_cast<int>(part.rows - top) : LENGTH;
        if (has && low < high && !is_odd(reinterpret_cast<unsigned long long>(from) + 8 * top)) {
            bulk = {low + (low & 1), high - (high & 1)};
        }
        if (own == 0) {
            const int bytes = (bulk.high - bulk.low) * 8;
            arrive(full, bytes);
            if (bytes > 0) copy_bulk(column + bulk.low, from + top + bulk.low, bytes, full);
        }
        // If two sides meet, the later dimension's constant takes precedence.
        const double outside =
            box.source_page < 0 ? constant_of(sides.of_pages, box.source_page) : constant_of(sides.of_columns, of);
        request_rest<LENGTH, RADIUS, ROWS_BELOW, SHARING>(part, sides.of_rows, column, bulk, own, top, has, from,
                                                          outside);
    }
}

// Requests the samples that are not copied in bulk, of a box whose columns are all in the input.
template <int LENGTH, int COLUMNS, int RADIUS, int ROWS_BELOW>
__device__ __forceinline__ void request_above_and_below(const TensorPart& part, const SidesArgument& sides,
                                                        const Box& box, double* to, BulkRows bulk) {
    constexpr int SHARING = LANES / COLUMNS;
    const int lane = threadIdx.x % LANES;
    const int c = lane % COLUMNS;
    const int own = lane / COLUMNS;
    if (own < SHARING) {
        const long long top = box.top - (is_odd(address_of(part, box)) ^ (c & static_cast<int>(part.rows & 1)));
        const double* const from = part.input + (place_of(part, box) + c) * part.rows;
        double* const column = to + c * LENGTH;
        request_rest<LENGTH, RADIUS, ROWS_BELOW, SHARING>(part, sides.of_rows, column, bulk, own, top, true, from, 0);
    }
}

// Clears a warp's ring, which is not filled completely: its old contents may not be finite.
template <int COUNT>
__device__ __forceinline__ void clear_ring(double* samples) {
    for (int at = threadIdx.x % LANES; at < COUNT; at += LANES) samples[at] = 0;
    writes_before_copies();
    __syncwarp();
}

// The boxes of a segment, one after the other in the direction of the stream, whose columns are all in the input.
struct InnerBoxes {
    unsigned long long from;  // address where the first sample of the first box would be
    int first;                // the first inner box
    int end;                  // behind the last one
    BulkRows bulk;            // of each of their columns

    // Returns the bulk rows of boxes like this one, whose columns have `length` places.
    static __device__ __forceinline__ BulkRows bulk_of(const TensorPart& part, const Box& box, int length) {
        const int alternates = static_cast<int>(part.rows & 1);
        const int odd = is_odd(address_of(part, box));
        // The first row of a column is box.top, or the one above it.
        const long long least = box.top - (odd | alternates);
        const long long most = box.top - (odd & ~alternates);
        const int low = least < 0 ? static_cast<int>(1 - least) & ~1 : 0;
        const int high = part.rows - most < length ? static_cast<int>(part.rows - most) & ~1 : length;
        return {low, high > low ? high : low};
    }
};

// Requests the samples that are copied in bulk, of a box whose columns are all in the input. Its first sample is, or
// would be, at `from`.
template <int LENGTH, int COLUMNS>
__device__ __forceinline__ void request_in_bulk(const TensorPart& part, unsigned long long from, BulkRows bulk,
                                                double* to, Barrier* full) {
    static_assert(LENGTH % 2 == 0 && COLUMNS <= LANES, "a copy is of pairs, and an arrival a lane's");
    const int bytes = (bulk.high - bulk.low) * 8;
    if (threadIdx.x % LANES < COLUMNS) arrive(full, bytes);
    if (is_elected()) {
#pragma unroll
        for (int i = 0; i < COLUMNS; ++i) {
            const double* const first = reinterpret_cast<const double*>(from & ~15ull);
            copy_bulk(to + i * LENGTH + bulk.low, first + bulk.low, bytes, full);
            from += 8 * part.rows;
        }
    }
}

// ---- division of the work

// Places of a sequence, of which each team of warps has a range: from `at` up to `end`.
struct WorkRange {
    long long at;
    long long end;
};

__device__ __forceinline__ WorkRange work_range_of(long long total, int abreast, int warps) {
    const int teams = warps / abreast;
    const long long number = static_cast<long long>(blockIdx.x) * teams + threadIdx.x / LANES / abreast;
    const long long of = static_cast<long long>(gridDim.x) * teams;
    return {total * number / of, total * (number + 1) / of};
}

// ---- special values, and recomputed results

// A scan of samples for those with which a product with a zero may change a result.
struct SpecialValueScan {
    unsigned int least = ~0u;  // magnitude less 1: zero does not count
    unsigned int most = 0;     // magnitude

    __device__ __forceinline__ void sample(double value) {
        const unsigned int of_value = magnitude(value);
        keep_least(least, of_value - 1);
        keep_most(most, of_value);
    }
    __device__ __forceinline__ unsigned int bits() const { return least ^ most; }
    // Returns true if results of these samples are to be recomputed by plain chains.
    __device__ __forceinline__ bool needs_fallback(const TensorPart& part) const {
        return least < part.underflow_limit || most >= NOT_FINITE;
    }
};

// Pieces of a segment that are to be recomputed: its steps fall into pieces, and each has a bit.
struct FlaggedPieces {
    unsigned long long flags;
    int length;
    int unused;

    // Without flags, for `steps` steps. A piece has no less than LEAST steps.
    template <int LEAST>
    static __device__ __forceinline__ FlaggedPieces of(int steps) {
        // One bit remains for outputs that come behind the last step.
        const int length = (steps + 62) / 63;
        return {0, (length + LEAST - 1) / LEAST * LEAST, 0};
    }

    // Flags the outputs that depend on special values found from the step `from` on, over no more steps than a piece
    // has: they change outputs up to that many steps later. Called by a whole warp; the scan begins anew.
    __device__ __forceinline__ void flag(SpecialValueScan& scan, const TensorPart& part, int from) {
        if (!__any_sync(ALL_LANES, scan.needs_fallback(part))) return;
        __syncwarp();
        if (threadIdx.x % LANES == 0) flags |= 3ull << from / length;
        __syncwarp();
        scan = SpecialValueScan();
    }

    __device__ __forceinline__ bool has(int piece) const { return piece < 64 && (flags >> piece & 1) != 0; }
};

}  // namespace
