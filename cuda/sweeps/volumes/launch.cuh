// The argument of a launch of sweeps/volumes/volumes.cuh, and a block's runs, each some pages of a tile.
#pragma once

#include "boundary.cuh"

namespace volumes {

template <typename Number>
__device__ __forceinline__ Number least(Number a, Number b) {
    return a < b ? a : b;
}

template <typename Number>
__device__ __forceinline__ constexpr Number most(Number a, Number b) {
    return a > b ? a : b;
}

// True if the ghost value next to an end is a sample of that end.
__device__ __forceinline__ bool is_sample(unsigned int boundary) {
    return boundary != CONSTANT && boundary != CIRCULAR;
}

// Returns the number of `size` rows, columns or pages that gives the one at `place` its value. The place is at most one
// outside unless they are circular. The result is negative for a constant.
__device__ __forceinline__ int boundary_source(int place, int size, const EndsArgument& ends) {
    if (place >= 0 && place < size) return place;
    if (ends.circular()) {
        place %= size;
        return place < 0 ? place + size : place;
    }
    const unsigned int boundary = place < 0 ? ends.boundary[0] : ends.boundary[1];
    if (boundary == CONSTANT) return -1;
    const int inside = boundary == MIRROR ? 1 : 0;
    return place < 0 ? inside : size - 1 - inside;
}

// One tile's rows or columns.
struct Span {
    int start;  // of the tile
    int from;   // those that are written
    int to;
    int low;  // the samples that are needed, ghost values among them
    int high;

    __device__ __forceinline__ void set(const Axis& axis, int number, int size, int extent, bool circular) {
        from = number == 0 ? 0 : number * axis.step + axis.more;
        to = number == axis.count - 1 ? size : (number + 1) * axis.step + axis.more;
        start = from - axis.lead;
        if (!circular) start = most(0, least(start, size - extent));
        low = circular ? from - 2 : most(from - 2, -1);
        high = circular ? to + 2 : least(to + 2, size + 1);
    }

    // Returns the source of COUNT neighbouring samples, ghost values among them, if one of them is needed; else, and
    // for a constant, a negative number.
    template <int COUNT>
    __device__ __forceinline__ int source(int place, int size, const EndsArgument& ends) const {
        return place + COUNT <= low || place >= high ? -1 : boundary_source(place, size, ends);
    }
};

// A run: some pages of a tile, which are written. In shared memory: sums and samples leave no registers for it.
struct Run {
    Span down;
    Span across;
    int begin;  // the pages: from here on
    int stop;   // and up to here
    // The tile's sides at the volume's with ghost values that are samples: a bit each for above, below, left and right,
    // and 4 bits further if the ghost value is not the sample at the side but the one before it.
    unsigned int sides;

    // Takes part number `part` of a round, of the tile with that number. `height` and `width` are the tile's.
    template <typename T>
    __device__ __forceinline__ void set(const VolumesArgument<T>& launch, const Round& round, int part, int tile,
                                        int height, int width) {
        down.set(launch.down, tile % launch.down.count, (int)launch.rows, height, launch.sides.of_rows.circular());
        across.set(launch.across, tile / launch.down.count, launch.columns, width, launch.sides.of_columns.circular());
        const auto side_of = [&](bool is_there, unsigned int boundary, int bit) {
            return is_there && is_sample(boundary) ? (boundary == MIRROR ? 17u : 1u) << bit : 0;
        };
        const bool below = down.start + height == (int)launch.rows;
        const bool right = across.start + width == launch.columns;
        sides = side_of(down.start == 0, launch.sides.of_rows.boundary[0], 0) |
                side_of(below, launch.sides.of_rows.boundary[1], 1) |
                side_of(across.start == 0, launch.sides.of_columns.boundary[0], 2) |
                side_of(right, launch.sides.of_columns.boundary[1], 3);
        begin = round.page + part * round.share;
        stop = least(round.page + round.pages, begin + round.share);
    }
};

}  // namespace volumes
