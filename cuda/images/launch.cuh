// The argument of a launch of several sweeps over images, and the sizes that all its parts share.
#pragma once

#include "boundary.cuh"
#include "copies.cuh"
#include "tensor.cuh"

namespace images {

constexpr int LANES = 32;

// The warps of a block that sweep.
#ifndef BLOCK_WARPS
#define BLOCK_WARPS 4
#endif
constexpr int WARPS = BLOCK_WARPS;
constexpr int THREADS = WARPS * LANES;

// A block of eight warps has a multiprocessor for itself.
constexpr bool ALONE = WARPS == 8;

// The warps that come with a producer. Only one of their threads works, but registers are passed on by four warps at a
// time.
constexpr int PRODUCER_WARPS = 4;

// The threads of a block.
__device__ constexpr int threads_of(bool has_producer) { return THREADS + (has_producer ? PRODUCER_WARPS * LANES : 0); }

// Elements in front of a ring's columns, and behind them: halo of the first and the last lane, and room to begin at a
// multiple of 16 bytes.
constexpr int PAD = 4;

// No stage is so many columns ahead of the first one that comes.
constexpr int EARLIEST = 64;

template <typename Number>
__device__ __forceinline__ Number least(Number a, Number b) {
    return a < b ? a : b;
}

template <typename Number>
__device__ __forceinline__ Number most(Number a, Number b) {
    return a > b ? a : b;
}

// One launch, over images of which all sides have one boundary. Its blocks are (page, strip, segment), the segment
// counting fastest; where segments are of two lengths, all the longer ones come first. Each sweeping warp does
// Warp::SWEEPS sweeps.
//
// Field for field the struct LaunchArgument of src/cuda/kernels/images/launch.rs.
template <typename Real>
struct Launch {
    typedef Real T;
    // Whether each side has its own boundary.
    static constexpr bool OWN_SIDES = false;
    // The `long_share_256` of launches in which all strips follow each other in one line.
    static constexpr int LINE = -1;

    const T* input;
    T* output;
    long long rows;          // of an image, which lie next to each other
    long long column_step;   // elements from a column to the next one
    long long image_step;    // and from an image to the next one
    double value;            // the boundary's constant
    int columns;             // of an image
    int strips;              // of an image
    int segments;            // of a strip, each of fewer than 2^24 columns; or the parts of a line
    int long_share_256;      // 256ths of a pair of segments that the longer one has; 0 if all are alike; or LINE
    int lanes;               // lanes that work: POINTS * lanes <= rows
    int warps;               // warps that sweep
    int depth;               // columns in a ring; the one before the first warp has Warp::LOAD_LEAD - 1 more
    unsigned int boundary;   // no MIRROR
    unsigned int run;        // of launches for stars and their fallbacks: see special_values.cuh; 0 for others
    unsigned int near_zero;  // samples whose magnitude less 1 is less than this need the fallback
    int skipped_sweeps;      // sweeps of the first warp that are not done; only where RADIUS_COLUMNS is 0
    int depth_behind_last;   // of LaunchOfSides: columns in the ring behind the last warp, in which none stands for
                             // one outside of the image: fewer than in other rings where warps read ahead
    int edge_columns;        // a segment at the image's first or last column is so much shorter than others

    // The boundary above (0) or below (1) the rows, before (0) or behind (1) the columns; and its constant.
    __device__ __forceinline__ unsigned int row_boundary(int) const { return boundary; }
    __device__ __forceinline__ unsigned int column_boundary(int) const { return boundary; }
    __device__ __forceinline__ T row_constant(int) const { return T(value); }
    __device__ __forceinline__ T column_constant(int) const { return T(value); }
    static __device__ __forceinline__ bool is_mirror(unsigned int) { return false; }

    __device__ __forceinline__ int last_depth() const { return depth; }
};

// A launch in which each side has its own boundary, which takes more instructions a column. `value` is the constant
// above, and `boundary` has a byte a side, the lowest first: above, below, before, behind. A single column has no
// MIRROR. Where RADIUS_COLUMNS is 0, the boundary before and behind is CIRCULAR.
//
// At most 128 bytes, and no arrays: else the compiler reads it from memory again for each use.
template <typename Real>
struct LaunchOfSides : Launch<Real> {
    typedef Real T;
    static constexpr bool OWN_SIDES = true;

    double below;
    double before;
    double behind;

    __device__ __forceinline__ unsigned int row_boundary(int end) const { return this->boundary >> (8 * end) & 0xff; }
    __device__ __forceinline__ unsigned int column_boundary(int end) const {
        return this->boundary >> (16 + 8 * end) & 0xff;
    }
    __device__ __forceinline__ T row_constant(int end) const { return T(end == 0 ? this->value : below); }
    __device__ __forceinline__ T column_constant(int end) const { return T(end == 0 ? before : behind); }
    static __device__ __forceinline__ bool is_mirror(unsigned int boundary) { return boundary == MIRROR; }

    __device__ __forceinline__ int last_depth() const { return this->depth_behind_last; }
};

// Whether a column is outside of the image, and a constant stands there.
template <class Launch>
__device__ __forceinline__ bool is_constant(const Launch& launch, int column) {
    return (column < 0 && launch.column_boundary(0) == CONSTANT) ||
           (column >= launch.columns && launch.column_boundary(1) == CONSTANT);
}

// The place among the columns of constants of the one that stands behind the last column; and how many there are.
template <class Launch>
__device__ __forceinline__ int constant_behind(const Launch& launch) {
    return Launch::OWN_SIDES && launch.column_boundary(0) == CONSTANT && launch.column_boundary(1) == CONSTANT ? 1 : 0;
}
template <class Launch>
__device__ __forceinline__ int constant_columns(const Launch& launch) {
    return constant_behind(launch) +
           (launch.column_boundary(0) == CONSTANT || launch.column_boundary(1) == CONSTANT ? 1 : 0);
}

// Columns in the ring behind a warp.
template <class Launch>
__device__ __forceinline__ int depth_behind(const Launch& launch, int warp) {
    return Launch::OWN_SIDES && warp == launch.warps - 1 ? launch.last_depth() : launch.depth;
}

// A number of the launch, for what is rarely computed of it: the compiler computes that where it is needed. Else it would
// do so once, and keep it in registers which the loop over regular slots has not.
__device__ __forceinline__ int rarely_used(int number) { return (int)kept_number(number); }

// The place of a column of this number in a ring of `depth` columns. A number may be up to EARLIEST less than 0.
__device__ __forceinline__ int place_of(int number, int depth) {
    return (unsigned int)(number + EARLIEST * depth) % (unsigned int)depth;
}

// The column of the image that a column outside of it is, where columns go round.
__device__ __forceinline__ int around(int column, int columns) {
    if (column >= 0 && column < columns) return column;
    const int rest = column % columns;
    return rest < 0 ? rest + columns : rest;
}

// The rings of columns in shared memory: one before the first warp, one behind each, then the columns of constants.
template <class Warp>
struct Rings {
    typedef typename Warp::Launch Launch;
    typedef typename Warp::T T;
    static constexpr int PITCH = Warp::PITCH;

    T* memory;
    unsigned int size;        // elements of a ring between two warps
    unsigned int first_size;  // and of the one before the first warp
    unsigned int all_size;    // and of all rings

    __device__ __forceinline__ Rings(const Launch& launch, T* memory)
        : memory(memory),
          size(launch.depth * PITCH),
          first_size(size + (Warp::LOAD_LEAD - 1) * PITCH),
          all_size(first_size + (launch.warps * size - (launch.depth - launch.last_depth()) * PITCH)) {}

    __device__ __forceinline__ T* behind(int warp) const { return memory + first_size + warp * size; }
    __device__ __forceinline__ unsigned int size_before(int warp) const { return warp == 0 ? first_size : size; }
    // The ring behind a warp. Without own sides it is `size` itself, which the compiler then subtracts in the instruction
    // that finds the less of two places.
    __device__ __forceinline__ unsigned int size_behind(const Launch& launch, int warp) const {
        return Launch::OWN_SIDES ? kept_number(depth_behind(launch, warp) * PITCH) : size;
    }
    __device__ __forceinline__ unsigned int last_size(const Launch& launch) const {
        return Launch::OWN_SIDES ? launch.last_depth() * PITCH : size;
    }
    __device__ __forceinline__ T* constants() const { return memory + all_size; }

    // Fills the columns of constants, by THREADS threads.
    template <int THREADS>
    __device__ __forceinline__ void fill_constants(const Launch& launch, int thread) const {
#pragma unroll
        for (int end = 0; end < (Launch::OWN_SIDES ? 2 : 1); ++end) {
            if (launch.column_boundary(end) != CONSTANT) continue;
            for (int i = thread; i < PITCH; i += THREADS) {
                constants()[i + end * PITCH * constant_behind(launch)] = launch.column_constant(end);
            }
        }
    }

    // Fills all rings with zeros.
    template <int THREADS>
    __device__ __forceinline__ void clear(int thread) const {
        for (int i = thread; i < all_size; i += THREADS) memory[i] = T(0);
    }
};

// The place behind another one in a ring, which goes round.
template <int PITCH>
__device__ __forceinline__ unsigned int next_place(unsigned int place, unsigned int ring) {
    return least(place + PITCH, place + PITCH - ring);
}

}  // namespace images
