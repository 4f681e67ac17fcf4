// A launch over images, as the host describes it, and what all parts of a block share: places in rings, edges of rows.
#pragma once

#include "boundary.cuh"
#include "copies.cuh"
#include "images/special_values.cuh"
#include "tensor.cuh"

namespace images {

constexpr int LANES = 32;

// So many warps of a block may sweep.
#ifndef BLOCK_WARPS
#define BLOCK_WARPS 4
#endif
constexpr int WARPS = BLOCK_WARPS;
constexpr int THREADS = WARPS * LANES;

// A block of eight has a multiprocessor for itself.
constexpr bool ALONE = WARPS == 8;

// The warps beside those where one thread copies for all: registers are given and taken by four warps.
constexpr int PRODUCER_WARPS = 4;

// The threads of a block.
__device__ constexpr int threads_of(bool has_producer) { return THREADS + (has_producer ? PRODUCER_WARPS * LANES : 0); }

// Elements in front of a ring's columns, and behind them: room for what the first and the last lane read beside them,
// and for 16 bytes to begin there.
constexpr int PAD = 4;

// One launch, over images of which all sides have the same boundary. Its blocks are (page, strip, segment), the segment
// counting fastest; where segments are of two lengths, first all the longer ones, then the others. In each, so many warps
// do STAGES sweeps each.
template <typename Real>
struct Launch {
    typedef Real T;
    // Whether each side has its own boundary.
    static constexpr bool OWN_SIDES = false;
    // The `long_share_256` of launches in which all strips are one line.
    static constexpr int LINE = -1;

    const T* input;
    T* output;
    long long rows;         // of an image, which lie next to each other
    long long column_step;  // elements from a column to the next one
    long long image_step;   // and from an image to the next one
    double value;           // of the boundary, if it is CONSTANT
    int columns;            // of an image
    int strips;             // of an image
    int segments;           // of a strip: none has 2^24 columns; or the parts of a LINE
    int long_share_256;  // of 256 parts of two neighbouring segments, those of the longer one; 0 if all are alike; LINE
    int lanes;           // that work: POINTS * lanes <= rows
    int warps;           // that sweep
    int depth;           // columns in a ring; the one before the first warp has Stages::LEAD - 1 more
    unsigned int boundary;  // no MIRROR
    unsigned int
        run;  // of launches for stars, and of the fallback behind each: see images/special_values.cuh; 0 for others
    unsigned int near_zero;  // samples whose magnitude less 1 is less than this need the fallback
    int skipped;             // sweeps of the first warp that are not done; only where RADIUS_COLUMNS is 0
    int leaving_depth;       // of OfSides: columns in the ring behind the last warp, where nothing stands for what is
                             // outside; as many as in the others unless warps read ahead
    int edge;                // a segment that has the image's first or last column is shorter by so many than others

    // What stands above the rows and below, and before the columns and behind; and the number, if that is CONSTANT.
    __device__ __forceinline__ unsigned int beyond_rows(int) const { return boundary; }
    __device__ __forceinline__ unsigned int beyond_columns(int) const { return boundary; }
    __device__ __forceinline__ T value_of_rows(int) const { return T(value); }
    __device__ __forceinline__ T value_of_columns(int) const { return T(value); }
    static __device__ __forceinline__ bool is_mirror(unsigned int) { return false; }

    // Columns in the ring behind the last warp.
    __device__ __forceinline__ int last_depth() const { return depth; }
};

// A launch where each side has its own boundary: that takes instructions of every column. `value` is that above, and `boundary`
// has a byte of each side, the lowest first: above, below, before, behind. No MIRROR of a single column; before and
// behind it is CIRCULAR where RADIUS_COLUMNS is 0.
//
// No more than 128 bytes, and no arrays: else the compiler reads what it needs of them anew each time.
template <typename Real>
struct OfSides : Launch<Real> {
    typedef Real T;
    static constexpr bool OWN_SIDES = true;

    double below;
    double before;
    double behind;

    __device__ __forceinline__ unsigned int beyond_rows(int end) const { return this->boundary >> (8 * end) & 0xff; }
    __device__ __forceinline__ unsigned int beyond_columns(int end) const {
        return this->boundary >> (16 + 8 * end) & 0xff;
    }
    __device__ __forceinline__ T value_of_rows(int end) const { return T(end == 0 ? this->value : below); }
    __device__ __forceinline__ T value_of_columns(int end) const { return T(end == 0 ? before : behind); }
    static __device__ __forceinline__ bool is_mirror(unsigned int boundary) { return boundary == MIRROR; }

    __device__ __forceinline__ int last_depth() const { return this->leaving_depth; }
};

// Whether a column is outside, and a constant stands there.
template <class Launch>
__device__ __forceinline__ bool is_constant(const Launch& launch, int column) {
    return (column < 0 && launch.beyond_columns(0) == CONSTANT) ||
           (column >= launch.columns && launch.beyond_columns(1) == CONSTANT);
}

// How many columns of constants there are, and how many of them are before the one that stands behind the last column.
template <class Launch>
__device__ __forceinline__ int upper(const Launch& launch) {
    return Launch::OWN_SIDES && launch.beyond_columns(0) == CONSTANT && launch.beyond_columns(1) == CONSTANT ? 1 : 0;
}
template <class Launch>
__device__ __forceinline__ int constants(const Launch& launch) {
    return upper(launch) + (launch.beyond_columns(0) == CONSTANT || launch.beyond_columns(1) == CONSTANT ? 1 : 0);
}

// Columns in the ring behind a warp.
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

// How many neighbouring elements one access takes, where a lane has POINTS of them.
template <typename T, int POINTS>
struct Access {
    static constexpr int COUNT = sizeof(T) == 4 && POINTS % 4 == 0 ? 4 : 1;
};

// The largest power of two that divides a number.
__device__ constexpr int largest_power(int number) { return number & -number; }

// The columns that one warp takes.
struct Columns {
    int first;
    int last;  // the one behind
    int zero;  // the one of slot 0
};

// What a block has to know, in shared memory: sums and samples leave few registers for it.
struct Block {
    long long before;  // the first element of the strip in its image's first column, less the rows of an image
    long long output;  // the first element that is written next
    int height;        // of the strip
    int from;          // its rows that are written: from here on
    int to;            // and up to here
    int wrap;          // its rows that lie ahead of the image's end: the others lie before the first
    int first_strip;   // whether its first row is an edge
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

// No stage is so many columns ahead of the first that comes.
constexpr int EARLIEST = 64;

// Where a column of this number is in a ring of so many. What has no place yet, ahead of the first column, may go where
// that will be.
__device__ __forceinline__ int place_of(int number, int depth) {
    return (unsigned int)(number + EARLIEST * depth) % (unsigned int)depth;
}

// The column of the image that a column outside of it is, where columns go round.
__device__ __forceinline__ int around(int column, int columns) {
    if (column >= 0 && column < columns) return column;
    const int rest = column % columns;
    return rest < 0 ? rest + columns : rest;
}

// What stands above a lane that has the first row, or below one that has the last, where each side has its own boundary.
// No lane has both, unless both ends are alike.
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
