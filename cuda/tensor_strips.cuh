// What the convolutions on tensor cores share: their argument, how samples come to a warp, and what is computed again.
//
// One idea throughout: rolling accumulators. A warp owns a strip of the array and streams along the filter's outer
// dimension, over the columns of an image or the pages of a volume. Every output that is under way there has a slot
// among the accumulators. What comes next of the samples is read once and multiplied for all of them, each slot with
// the entries that are its own now: the filter laid into a band, with zeros where a slot has no entry for a sample.
// A finished slot is written, cleared, and taken by the next output. So each output is the chain of fused
// multiply-adds from +0 in the filter's column-major order, with products with zeros among them.
//
// Such a product changes two things, and nothing else:
//  - It is NaN where the sample is infinite or NaN.
//  - It turns -0 into +0, or not. A chain that began with +0 comes to -0 only where a sum that is not zero is rounded
//    to it: a sum of finite numbers less than half of the least subnormal number, 2^-1074. Every accumulator is a
//    multiple of 2^-1074; so is every product of a sample and an entry whose last places' values have a product of at
//    least that. So: where every sample that is not zero is far enough from zero for the filter's smallest entry
//    (`Part::near_zero`), no sum is rounded to zero, no accumulator is ever -0, and nothing differs. A sample that is
//    zero is as good as one far away, and outputs may cancel to +0: images with constant regions cost nothing more.
// An accumulator that is infinite or NaN without such a sample, because a sum overflowed, is what the plain chain has,
// too: what follows are products of finite numbers in the same order.
//
// So the samples tell, and the warp looks at all that come to it. Where it met one that is not between those limits, it
// goes through that piece of its strip once more when it has done the strip, and computes it by plain chains: at the
// speed of the vector units, which takes about twice the time of the rest.
#pragma once

#include "boundary.cuh"
#include "tensor.cuh"

namespace {

constexpr int LANES = 32;
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr unsigned int NOT_FINITE = 0x7ffu << 21;  // the magnitude of infinities and NaN, or less
constexpr int MAX_ENTRIES = 343;  // 7 x 7 x 7, which is more than 15 x 15

}  // namespace

// The filter, in column-major order.
__constant__ double F[MAX_ENTRIES];

// The part of an image or a volume that one launch works on: whole columns, counted through all pages.
struct Part {
    const double* input;  // the samples, from `before` columns ahead of the first output's column
    double* output;
    long long count;   // columns to compute; of a volume, those of whole pages
    long long before;  // columns at hand ahead of the first
    long long after;   // columns at hand behind the last
    long long first;   // the first output's column
    long long rows;    // of the image
    long long columns;
    long long pages;
    int height;      // of the filter, and no more than the kernel's SIZE
    int width;
    int depth;
    int abreast;  // strips below each other that neighbouring warps take: a divisor of the warps of a block
    unsigned int near_zero;  // samples whose magnitude less 1 is less than this are too near to zero
    int stays[2];  // whether a constant above the rows, or below them, stays where it was written: see `Ring::turn_to`
    int unused;
};

// What stands around an array.
struct Sides {
    Ends of_rows;
    Ends of_columns;
    Ends of_pages;
};

struct Launch {
    Part part;
    Sides sides;
    int never[24];  // zeros: see `END_OF_COLUMN`
};

// Ends the block of instructions after each column, or some tiles of it. Otherwise ptxas orders all of a loop's
// multiplications by accumulator, and each waits for the one before: twice the time. It cannot know that these numbers
// are zero. What the warp met is asked for, too, or ptxas would keep all that it is made of until later.
#define END_OF_COLUMN(NUMBER)                          \
    do {                                               \
        if (launch.never[NUMBER] & met.bits()) return; \
    } while (0)
// The same for a warp that meets nothing.
#define END_OF_COLUMN_ALONE(NUMBER)       \
    do {                                  \
        if (launch.never[NUMBER]) return; \
    } while (0)

namespace {

// Whether a double's address is no multiple of 16.
__device__ __forceinline__ int is_odd(unsigned long long address) { return static_cast<int>(address >> 3 & 1); }

// Copies the filter into shared memory, for all threads of a block to make something of it; and what stands around the
// array: what asks for samples at an edge is called, and would get all that on the stack each time.
template <int THREADS>
__device__ __forceinline__ void fetch_filter(const Launch& launch, double* to, Sides* sides) {
    const Part& part = launch.part;
    if (threadIdx.x == 0) *sides = launch.sides;
    for (int at = threadIdx.x; at < part.height * part.width * part.depth; at += THREADS) to[at] = F[at];
    __syncthreads();
}

// The shared memory that the launch asked for. Asked for where it is needed: pointers that are kept take registers.
__device__ __forceinline__ double* shared_memory() {
    DYNAMIC_SHARED(double2, memory);
    return reinterpret_cast<double*>(memory);
}

// ---- samples on their way

// Some neighbouring columns of a page, from the row `top` on. Each is LENGTH samples, which is even.
struct Box {
    long long top;
    long long column;       // the first
    long long page;         // where the box is
    long long source_page;  // which page stands there: see `sample_at`
};

// The first column of a box among those at hand, if it is one.
__device__ __forceinline__ long long place_of(const Part& part, const Box& box) {
    return box.page * part.columns + box.column - (part.first - part.before);
}

// Where the first sample of a box is, or would be if it were there.
__device__ __forceinline__ unsigned long long address_of(const Part& part, const Box& box) {
    return reinterpret_cast<unsigned long long>(part.input) + 8 * (place_of(part, box) * part.rows + box.top);
}

// Copies in bulk keep addresses modulo 16. So where the first sample of a column lies, or would lie, at an address that
// is no multiple of that, it is the second in its place in shared memory. From column to column that changes if the
// number of rows is odd.

// Which places of a column come in bulk: from `low` up to `high`, which are even, so that both ends are multiples of
// 16 bytes.
struct Bulk {
    int low;
    int high;
};

// Asks for the few samples of a column that do not come in bulk, one by one. The lanes that share the column begin at
// `own` and go on by SHARING. `top` is the row of the column's first place; `from` is where the column's row 0 is, if
// it is there; else `outside` stands in all of its places.
//
// No output that is written needs samples further below the last row than BELOW. They keep what the ring had.
template <int LENGTH, int RADIUS, int BELOW, int SHARING>
__device__ __forceinline__ void ask_for_rest(const Part& part, const Ends& of_rows, double* column, Bulk bulk, int own,
                                             long long top, bool has, const double* from, double outside) {
    const int end = part.rows + BELOW - top < LENGTH ? static_cast<int>(part.rows + BELOW - top) : LENGTH;
    const Ends ends = of_rows;  // as it lies where samples may go, too, it would be read for each
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

// Asks for a box of which some columns are not at hand, or others stand for them.
template <int LENGTH, int COLUMNS, int RADIUS, int BELOW>
__device__ __forceinline__ void ask_at_edge(const Part& part, const Sides& sides, const Box& box, double* to,
                                            Barrier* full) {
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
        Bulk bulk{0, 0};
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
        // Where two sides meet, the later dimension's constant counts.
        const double outside = box.source_page < 0 ? constant_of(sides.of_pages, box.source_page)
                                                   : constant_of(sides.of_columns, of);
        ask_for_rest<LENGTH, RADIUS, BELOW, SHARING>(part, sides.of_rows, column, bulk, own, top, has, from, outside);
    }
}

// Asks for what does not come in bulk of a box of which all columns are at hand.
template <int LENGTH, int COLUMNS, int RADIUS, int BELOW>
__device__ __forceinline__ void ask_above_and_below(const Part& part, const Sides& sides, const Box& box, double* to,
                                                    Bulk bulk) {
    constexpr int SHARING = LANES / COLUMNS;
    const int lane = threadIdx.x % LANES;
    const int c = lane % COLUMNS;
    const int own = lane / COLUMNS;
    if (own < SHARING) {
        const long long top = box.top - (is_odd(address_of(part, box)) ^ (c & static_cast<int>(part.rows & 1)));
        const double* const from = part.input + (place_of(part, box) + c) * part.rows;
        double* const column = to + c * LENGTH;
        ask_for_rest<LENGTH, RADIUS, BELOW, SHARING>(part, sides.of_rows, column, bulk, own, top, true, from, 0);
    }
}

// Clears a warp's ring, of which not every place is filled: what lies there by chance may not be finite.
template <int COUNT>
__device__ __forceinline__ void clear_ring(double* samples) {
    for (int at = threadIdx.x % LANES; at < COUNT; at += LANES) samples[at] = 0;
    writes_before_copies();
    __syncwarp();
}

// The boxes of a stretch, one behind the other in the direction of the stream: those of which all columns are at hand.
struct Inner {
    unsigned long long from;  // where the first sample of the first box would be
    int first;                // box that is such a one
    int end;                  // behind the last
    Bulk bulk;                // of each of their columns

    // Of boxes like this one, whose columns are `length` samples.
    static __device__ __forceinline__ Bulk bulk_of(const Part& part, const Box& box, int length) {
        const int turns = static_cast<int>(part.rows & 1);
        const int odd = is_odd(address_of(part, box));
        // The first row of a column is box.top, or the one above it.
        const long long least = box.top - (odd | turns);
        const long long most = box.top - (odd & ~turns);
        const int low = least < 0 ? static_cast<int>(1 - least) & ~1 : 0;
        const int high = part.rows - most < length ? static_cast<int>(part.rows - most) & ~1 : length;
        return {low, high > low ? high : low};
    }
};

// Asks for a box of which all columns are at hand, as far as they come in bulk. Its first sample is, or would be, at
// `from`.
template <int LENGTH, int COLUMNS>
__device__ __forceinline__ void ask_in_bulk(const Part& part, unsigned long long from, Bulk bulk, double* to,
                                            Barrier* full) {
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

// ---- a warp's share

// Places of a sequence, of which each team of warps has a run: from `at` up to `end`.
struct Share {
    long long at;
    long long end;
};

__device__ __forceinline__ Share share_of(long long total, int abreast, int warps) {
    const int teams = warps / abreast;
    const long long number = static_cast<long long>(blockIdx.x) * teams + threadIdx.x / LANES / abreast;
    const long long of = static_cast<long long>(gridDim.x) * teams;
    return {total * number / of, total * (number + 1) / of};
}

// ---- what a warp meets, and computes again

// Of the samples that a warp has looked at, the magnitudes.
struct Met {
    unsigned int least = ~0u;  // less 1: zero does not count
    unsigned int most = 0;

    __device__ __forceinline__ void sample(double value) {
        const unsigned int of_value = magnitude(value);
        keep_least(least, of_value - 1);
        keep_most(most, of_value);
    }
    __device__ __forceinline__ unsigned int bits() const { return least ^ most; }
    // Whether a product of one of them with a zero may not be as if it were not there.
    __device__ __forceinline__ bool is_awkward(const Part& part) const {
        return least < part.near_zero || most >= NOT_FINITE;
    }
};

// What of a stretch is to be computed again: its steps fall into pieces, and each has a bit.
struct Pieces {
    unsigned long long again;
    int length;
    int unused;

    // For so many steps: pieces of no less than LEAST.
    template <int LEAST>
    static __device__ __forceinline__ Pieces of(int steps) {
        // One bit remains for outputs that come behind the last step.
        const int length = (steps + 62) / 63;
        return {0, (length + LEAST - 1) / LEAST * LEAST, 0};
    }

    // Remembers what was met from the step `from` on, over no more steps than a piece has: that changes what is
    // written until as many steps later. A whole warp's.
    __device__ __forceinline__ void remember(Met& met, const Part& part, int from) {
        if (!__any_sync(ALL_LANES, met.is_awkward(part))) return;
        __syncwarp();
        if (threadIdx.x % LANES == 0) again |= 3ull << from / length;
        __syncwarp();
        met = Met();
    }

    __device__ __forceinline__ bool has(int piece) const { return piece < 64 && (again >> piece & 1) != 0; }
};

}  // namespace
