// A thread's copies of the columns that come from device memory and go there.
#pragma once

#include "sweeps/images/launch.cuh"

namespace images {

// A thread's part of each column: some runs of WIDE elements, THREADS * WIDE apart. A bit for each is set if the strip
// has it. Each source is given by its distance from the place that is an image's rows before the column that comes: rows
// beyond the image's end come from there.
template <class Stages, int WIDE>
struct Pieces {
    typedef typename Stages::T T;
    static constexpr int POINTS = Stages::POINTS;
    // If there are gaps, only the number of threads for which a step is one of whole groups of lanes.
    static constexpr int GROUP_ROWS = Stages::GROUP * POINTS;
    static constexpr int STEP = Stages::GAP == 0 ? THREADS * WIDE : THREADS * WIDE / GROUP_ROWS * GROUP_ROWS;
    static constexpr int PLACES = Stages::GAP == 0 ? STEP : STEP + STEP / GROUP_ROWS * Stages::GAP;
    static constexpr int COUNT = (LANES * POINTS + STEP - 1) / STEP;
    static constexpr int BYTES = WIDE * (int)sizeof(T);
    static_assert(COUNT <= 16 && POINTS / COUNT >= 2, "bits, and a point for the beginning and the end of each");

    // True if a thread has pointers to the pieces, which need no registers for distances meanwhile.
    static constexpr bool POINTERS = Stages::POINTERS && WIDE > 1;
    static_assert(!POINTERS || COUNT <= 2, "there are registers for pointers");

    unsigned int from[COUNT];  // bytes
    unsigned int to;           // of the first piece from the column's place in the output, bytes
    unsigned int coming;       // pieces that come
    unsigned int leaving;      // pieces that go

    __device__ __forceinline__ Pieces(const Block& block, long long rows)
        : to(kept_number(threadIdx.x * BYTES)), coming(0), leaving(0) {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const int at = threadIdx.x * WIDE + k * STEP;
            const unsigned int bytes = (unsigned int)((at < block.wrap ? at + rows : at) * sizeof(T));
            from[k] = POINTERS ? bytes : kept_number(bytes);
            const bool has_one = (int)threadIdx.x * WIDE < STEP;
            if (has_one && at < block.height) coming |= 1u << k;
            if (has_one && at < block.to - block.from) leaving |= 1u << k;
        }
    }

    // Return the source of piece k of a column, and the destination of the first piece. `before` is the strip's place
    // in the column, less the rows of an image, and `column` that in the column.
    __device__ __forceinline__ const char* source(int k, const T* before) const {
        return reinterpret_cast<const char*>(before) + from[k];
    }
    __device__ __forceinline__ T* target(T* column) const {
        return reinterpret_cast<T*>(reinterpret_cast<char*>(column) + to);
    }

    // Copies piece k of a column.
    __device__ __forceinline__ void bring(int k, Place<T> to, const char* source) const {
        copy_piece<BYTES>(coming, 1u << k, to + k * PLACES, source);
    }
    __device__ __forceinline__ void read(int k, Place<T> from, T (&to)[WIDE]) const {
        read_piece(leaving, 1u << k, from + k * PLACES, to);
    }
    __device__ __forceinline__ void write(int k, T* target, const T (&from)[WIDE]) const {
        write_piece(leaving, 1u << k, target + k * STEP, from);
    }
};

// Sources of a thread's pieces of the column that comes. Two are not set from the beginning: ptxas would have the
// halves of a pointer in registers that are no pair, and move them for each copy.
template <int COUNT>
struct Sources {
    const char* of[COUNT];
};
template <>
struct Sources<1> {
    const char* of[1] = {};
};
template <>
struct Sources<0> {};

}  // namespace images
