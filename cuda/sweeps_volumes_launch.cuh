// What the host tells a launch of sweeps_volumes.cuh, and what a block makes of it: its runs, each some pages of a tile.
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

// How tiles lie along rows or columns: `count` of them write `step` each, the first one `more` than that, the last one
// what is left. Each begins `lead` before what it writes, and has at least step + lead + 1 rows or columns; the last one
// is moved to end at the volume's side.
struct Axis {
    int count;
    int step;
    int lead;
    int more;
};

// A part of a launch: some pages of some tiles, by some of the blocks. Each of these pages is in one of the parts that
// `share` pages make. The runs are counted through the tiles, then through the parts, and each block takes every
// blocks-th of them.
struct Round {
    int block;   // the first one
    int blocks;  // how many, or 0
    int tile;    // the first one
    int tiles;
    int page;
    int pages;
    int share;
    int unused;
};

constexpr int ROUNDS = 4;

// One launch. Blocks that work at a time go through the same pages of neighbouring tiles: what one of them reads beside
// its tile, its neighbour has brought into the chip's cache.
template <typename T>
struct Launch {
    const T* input;
    T* output;
    long long rows;  // rows * columns < 2^31
    int columns;
    int pages;
    Axis down;     // tiles along rows
    Axis across;   // and along columns
    int lanes;     // that work: ROWS * lanes <= rows, but where rows are circular
    int strips;    // that work: COLUMNS * strips <= columns, but where columns are circular
    Ends of_rows;  // the boundaries; no MIRROR of one row, and so with columns and pages
    Ends of_columns;
    Ends of_pages;
    Round rounds[ROUNDS];
};

// Whether the ghost value next to an end is a sample of that end.
__device__ __forceinline__ bool is_sample(unsigned int boundary) { return boundary != CONSTANT && boundary != CIRCULAR; }

// Which of `size` rows, columns or pages has the value of the one at `place`, which is at most one outside unless they
// are circular; negative for a constant.
__device__ __forceinline__ int boundary_source(int place, int size, const Ends& ends) {
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
    int low;    // the samples that are needed, ghost values among them
    int high;

    __device__ __forceinline__ void set(const Axis& axis, int number, int size, int extent, bool circular) {
        from = number == 0 ? 0 : number * axis.step + axis.more;
        to = number == axis.count - 1 ? size : (number + 1) * axis.step + axis.more;
        start = from - axis.lead;
        if (!circular) start = most(0, least(start, size - extent));
        low = circular ? from - 2 : most(from - 2, -1);
        high = circular ? to + 2 : least(to + 2, size + 1);
    }

    // Where COUNT neighbouring samples come from, ghost values among them, if one of them is needed; negative where none
    // is, and for a constant.
    template <int COUNT>
    __device__ __forceinline__ int source(int place, int size, const Ends& ends) const {
        return place + COUNT <= low || place >= high ? -1 : boundary_source(place, size, ends);
    }
};

// A run: some pages of a tile, which are written. In shared memory: sums and samples leave no registers for it.
struct Run {
    Span down;
    Span across;
    int begin;  // the pages: from here on
    int stop;   // and up to here
    // At which sides of the volume the tile is whose ghost values are samples: above, below, left and right a bit each,
    // and 4 bits further where that is not the sample at the side but the one before it.
    unsigned int sides;

    // Part number `part` of a round, of the tile with that number. `height` and `width` are the tile's.
    template <typename T>
    __device__ __forceinline__ void set(const Launch<T>& launch, const Round& round, int part, int tile, int height,
                                        int width) {
        down.set(launch.down, tile % launch.down.count, (int)launch.rows, height, launch.of_rows.circular());
        across.set(launch.across, tile / launch.down.count, launch.columns, width, launch.of_columns.circular());
        const auto side_of = [&](bool is_there, unsigned int boundary, int bit) {
            return is_there && is_sample(boundary) ? (boundary == MIRROR ? 17u : 1u) << bit : 0;
        };
        const bool below = down.start + height == (int)launch.rows;
        const bool right = across.start + width == launch.columns;
        sides = side_of(down.start == 0, launch.of_rows.boundary[0], 0) |
                side_of(below, launch.of_rows.boundary[1], 1) |
                side_of(across.start == 0, launch.of_columns.boundary[0], 2) |
                side_of(right, launch.of_columns.boundary[1], 3);
        begin = round.page + part * round.share;
        stop = least(round.page + round.pages, begin + round.share);
    }
};

}  // namespace volumes
