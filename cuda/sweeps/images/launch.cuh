// The host's description of a launch over images, and the common state of a block: places in rings, edges of rows.
#pragma once

#include "boundary.cuh"
#include "copies.cuh"
#include "sweeps/images/special_values.cuh"
#include "tensor.cuh"

namespace images {

constexpr int LANES = 32;

// Maximum number of warps of a block that sweep.
#ifndef BLOCK_WARPS
#define BLOCK_WARPS 4
#endif
constexpr int WARPS = BLOCK_WARPS;
constexpr int THREADS = WARPS * LANES;

// A block of eight has a multiprocessor to itself.
constexpr bool ALONE = WARPS == 8;

// Number of additional warps if one thread copies for all: registers are released and taken by four warps.
constexpr int PRODUCER_WARPS = 4;

// Returns the number of threads of a block.
__device__ constexpr int threads_of(bool has_producer) { return THREADS + (has_producer ? PRODUCER_WARPS * LANES : 0); }

// Elements before a ring's columns, and behind them: room for the neighbours that the first and the last lane read, and
// for 16 bytes to begin there.
constexpr int PAD = 4;

// A launch with a boundary for each side: that takes instructions of every column.
//
// No more than 128 bytes, and no arrays: else the compiler reads its fields anew each time.
template <typename Real>
struct OfSides : ImagesArgument<Real>, OtherSides {
    static constexpr bool OWN_SIDES = true;

    __device__ __forceinline__ unsigned int beyond_rows(int end) const { return this->boundary >> (8 * end) & 0xff; }
    __device__ __forceinline__ unsigned int beyond_columns(int end) const {
        return this->boundary >> (16 + 8 * end) & 0xff;
    }
    __device__ __forceinline__ Real value_of_rows(int end) const { return Real(end == 0 ? this->value : below); }
    __device__ __forceinline__ Real value_of_columns(int end) const { return Real(end == 0 ? before : behind); }
    static __device__ __forceinline__ bool is_mirror(unsigned int boundary) { return boundary == MIRROR; }

    __device__ __forceinline__ int last_depth() const { return this->depth_behind_last; }
};

// Returns true if a column is outside, and a constant there.
template <class Launch>
__device__ __forceinline__ bool is_constant(const Launch& launch, int column) {
    return (column < 0 && launch.beyond_columns(0) == CONSTANT) ||
           (column >= launch.columns && launch.beyond_columns(1) == CONSTANT);
}

// Return the number of columns of constants before the one for the end of the columns, and that of all of them.
template <class Launch>
__device__ __forceinline__ int upper(const Launch& launch) {
    return Launch::OWN_SIDES && launch.beyond_columns(0) == CONSTANT && launch.beyond_columns(1) == CONSTANT ? 1 : 0;
}
template <class Launch>
__device__ __forceinline__ int constants(const Launch& launch) {
    return upper(launch) + (launch.beyond_columns(0) == CONSTANT || launch.beyond_columns(1) == CONSTANT ? 1 : 0);
}

// Returns the number of columns in the ring behind a warp.
template <class Launch>
__device__ __forceinline__ int depth_behind(const Launch& launch, int warp) {
    return Launch::OWN_SIDES && warp == launch.warps - 1 ? launch.last_depth() : launch.depth;
}

template <typename Number>
__device__ __forceinline__ Number least(Number a, Number b) {
    return a < b ? a : b;
}

template <typename Number>
__device__ __forceinline__ Number most(Number a, Number b) {
    return a > b ? a : b;
}

// Returns the number of neighbouring elements in one access, if a lane has POINTS of them.
template <typename T, int POINTS>
struct Access {
    static constexpr int COUNT = sizeof(T) == 4 && POINTS % 4 == 0 ? 4 : 1;
};

// Returns the largest power of two that divides a number.
__device__ constexpr int largest_power(int number) { return number & -number; }

// The columns that one warp takes.
struct Columns {
    int first;
    int last;  // the one behind
    int zero;  // the one of slot 0
};

// State of a block, in shared memory: sums and samples leave few registers for it.
struct Block {
    long long before;  // the first element of the strip in its image's first column, less the rows of an image
    long long output;  // the first element that is written next
    int height;        // of the strip
    int from;          // its rows that are written: from here on
    int to;            // and up to here
    int wrap;          // its rows that lie ahead of the image's end: the others lie before the first
    int first_strip;   // nonzero if its first row is an edge
    int last_strip;
    int slots;
    int low;      // the columns that come: from here on
    int high;     // and up to here
    int begin;    // those that are written: from here on
    int end;      // and up to here
    int coming;   // the column that comes in slot 0
    int leaving;  // the one that is written there
    Columns columns[WARPS];
};

// A stage is fewer columns than this ahead of the first that comes.
constexpr int EARLIEST = 64;

// Returns the place of a column of this number in a ring of `depth`. Columns ahead of the first one may use its place
// until it comes.
__device__ __forceinline__ int place_of(int number, int depth) {
    return (unsigned int)(number + EARLIEST * depth) % (unsigned int)depth;
}

// Returns the column of the image that replaces one outside, if columns are circular.
__device__ __forceinline__ int around(int column, int columns) {
    if (column >= 0 && column < columns) return column;
    const int rest = column % columns;
    return rest < 0 ? rest + columns : rest;
}

// The boundary above a lane that has the first row, or below one that has the last, if each side has its own. No lane
// has both, unless both ends are alike.
template <typename T, bool OWN_SIDES>
struct Edge {
    template <class Launch>
    __device__ __forceinline__ void set(const Launch&, int) {}
};

template <typename T>
struct Edge<T, true> {
    bool is_value;   // a constant
    bool is_flat;    // that, or the row itself everywhere
    bool is_mirror;  // the rows behind it
    T value;         // the constant

    template <class Launch>
    __device__ __forceinline__ void set(const Launch& launch, int end) {
        const unsigned int boundary = launch.beyond_rows(end);
        value = launch.value_of_rows(end);
        is_value = boundary == CONSTANT;
        is_flat = boundary == CONSTANT || boundary == REPLICATE;
        is_mirror = Launch::is_mirror(boundary);
    }
};

}  // namespace images
