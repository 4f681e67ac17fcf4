// Many sweeps of a convolution over images in one launch.
//
// A sweep that goes to device memory and back is bound by the bytes. Here a block takes a strip of rows through several
// sweeps, column by column: its warps are the stages of a pipeline, and each does STAGES sweeps. A lane holds POINTS
// neighbouring rows of the column that has come, and for each of the 2 * RADIUS_COLUMNS outputs that the column is not
// the last for, what is summed up to now. So a column is used up as it comes: in the filter's column-major order an
// output gets one run of multiply-adds from each, which is its chain. RADIUS_ROWS is how many rows above an output, and
// below it, that run has.
//
// In a slot of time each warp takes a column, then all meet at one barrier. What a warp has finished lies in a ring of
// columns in shared memory behind it and is the next warp's column a slot later. Such a ring is before the first warp,
// too, and columns go to device memory from the one behind the last.
//
// In single every instruction beside the multiply-adds costs as much as one of them, and two warps are too few to hide
// what a warp waits for. So there a warp reads a column ahead, when it is done with the samples of the one before; what
// lies beside a lane's rows comes from its neighbours' registers; and that warps have met is asked for only in the middle
// of the next slot, before that reading: all have long arrived by then.
//
// The multiply-adds of one block alone cannot keep a multiprocessor busy, those of two could; but one of the two has
// precedence, always, and the other gets what is left. So two things make the speed. A slot has little beside its
// multiply-adds: no branches, and what each thread copies of the columns that come and go stands between them, as
// instructions with a predicate. And the segments of columns are of two lengths: the longer ones are those of the first
// half of the blocks, which are those that have precedence.
//
// A block of eight warps has a multiprocessor for itself. In double, one thread of another warp copies for all, in bulk: so
// much less stands between the multiply-adds. All strips follow each other in one line, of which each block takes as much;
// what it takes of a second strip is a block of its own, which comes to a multiprocessor when it is free.
//
// Strips overlap, and so do segments: each sweep spoils as many rows or columns at a side that is not the image's. At
// the image's own edges every sweep is true: a strip that touches the first or last row does so with the first or last
// lane, whose registers then tell what is outside; and each warp takes the columns that the boundary says, before the
// first and behind the last, as columns of their own, from what is in the ring. Those before the first it takes all in
// one slot, when what stands there has come: nothing is finished by them. Where two sweeps follow each other inside a
// warp there is no ring: what stands behind the last column is kept for that, one column where RADIUS_COLUMNS is 1, and
// what stands before the first is put right when it has come.
//
// Along a dimension that goes around, images are seen as going on: it has no edge.
//
// Where two sides meet, a constant beside the columns counts. What repeats a column repeats what stands above and below.
//
// A filter of one row has RADIUS_ROWS 0: no strip spoils anything. One of one column has RADIUS_COLUMNS 0: no sums wait
// for another column, so a warp has registers for any number of stages, and its first ones may be skipped.
//
// Columns, and images, may lie as far apart as they like: so the pages of a volume are columns, too.
//
// A kernel that leaves out a filter's zeros gives other results than the chain in two cases, and in no others. It flags them,
// and a second launch, of the kernel that leaves out nothing, computes the sweeps again: see images/special_values.cuh.
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
constexpr int CARRIERS = 4;

// The threads of a block.
__device__ constexpr int threads_of(bool carried) { return THREADS + (carried ? CARRIERS * LANES : 0); }

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
    // The `share` of launches in which all strips are one line.
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
    int share;  // of 256 parts of two neighbouring segments, those of the longer one; 0 if all are alike; LINE
    int lanes;  // that work: POINTS * lanes <= rows
    int warps;  // that sweep
    int depth;  // columns in a ring; the one before the first warp has Stages::LEAD - 1 more
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

// One warp's part in the pipeline.
//
// One that reads AHEAD has a column in its registers a slot before its turn, so that a slot begins with multiply-adds. It
// lags one slot more behind the warp before, and so do the columns that go. Of two warps one may be half a slot behind
// the other: rings have two columns more.
template <class OfLaunch, int ROWS_BESIDE, int COLUMNS_BESIDE, int LANE_POINTS, int WARP_STAGES, bool READS_AHEAD,
          int COMES_AHEAD, bool KEEPS_POINTERS, class Filter>
struct Warp {
    typedef OfLaunch Launch;
    typedef typename Launch::T T;
    static constexpr int RADIUS_ROWS = ROWS_BESIDE, RADIUS_COLUMNS = COLUMNS_BESIDE;
    static constexpr int POINTS = LANE_POINTS, STAGES = WARP_STAGES;
    static constexpr int ACCESS = Access<T, POINTS>::COUNT;
    // Places that are left out behind so many lanes' places: of eight lanes in a row, which read together, each reads in
    // banks of its own.
    static constexpr int ALIKE = largest_power(POINTS / ACCESS);
    static constexpr int GROUP = ACCESS == 1 || ALIKE == 1 ? LANES : ALIKE >= 8 ? 1 : 8 / ALIKE;
    static constexpr int GAP = GROUP == LANES ? 0 : ACCESS;
    // From a column to the next.
    static constexpr int PITCH = LANES * POINTS + LANES / GROUP * GAP + 2 * PAD;
    static constexpr bool AHEAD = READS_AHEAD;
    // So many slots ahead of the first warp a column comes from device memory.
    static constexpr int LEAD = COMES_AHEAD;
    // Whether a thread keeps a pointer for each of the few pieces that it copies, in place of distances from one.
    static constexpr bool POINTERS = KEEPS_POINTERS;
    static constexpr bool SCANS = Filter::LEAVES_OUT;
    static_assert(POINTS > RADIUS_ROWS && PAD >= RADIUS_ROWS, "what is outside of a lane's edge is told by that lane");
    static_assert(STAGES == 1 || RADIUS_COLUMNS == 0 || (STAGES == 2 && RADIUS_COLUMNS == 1),
                  "what a boundary asks for inside a warp");
    // No array has no elements.
    static constexpr int BESIDE = RADIUS_ROWS > 0 ? RADIUS_ROWS : 1;
    static constexpr int SUMS = RADIUS_COLUMNS > 0 ? 2 * RADIUS_COLUMNS : 1;

    const Launch& launch;
    Place<T> before;    // this lane's place in the ring before this warp
    Place<T> behind;    // and behind it
    Place<T> constant;  // its place in the first column of a constant
    Place<T> kept;      // its place in the column that is kept between two stages
    bool above_all;     // this lane's first row is the image's
    bool below_all;     // its last row
    Edge<T, Launch::OWN_SIDES> edge;
    int skipped;  // sweeps that this warp does not do
    T sums[STAGES][SUMS][POINTS];

    // `ring` is behind the warp, `own_ring` elements behind the one before it. The columns of constants are at
    // `constant`, and behind them those that are kept.
    __device__ __forceinline__ Warp(const Launch& launch, const Block& block, T* ring, unsigned int own_ring,
                                    T* constant)
        : launch(launch) {
        const int thread = threadIdx.x;
        const int lane = thread % LANES;
        behind = kept_place(ring + PAD + place(lane * POINTS));
        before = kept_place(ring + PAD + place(lane * POINTS) - own_ring);
        this->constant = place_at(constant + PAD + place(lane * POINTS));
        // Where all sides have one boundary, no columns are kept with a constant.
        kept = place_at(constant + (Launch::OWN_SIDES ? constants(launch) * PITCH : 0) + PAD + place(thread * POINTS));
        above_all = block.first_strip && lane == 0;
        below_all = block.last_strip && lane == launch.lanes - 1;
        edge.set(launch, lane == 0 ? 0 : 1);
        skipped = RADIUS_COLUMNS > 0 ? 0 : __shfl_sync(0xffffffff, thread < LANES ? launch.skipped : 0, 0);
#pragma unroll
        for (int s = 0; s < STAGES; ++s) {
#pragma unroll
            for (int q = 0; q < SUMS; ++q) {
#pragma unroll
                for (int i = 0; i < POINTS; ++i) sums[s][q][i] = 0;
            }
        }
    }

    // The place of a row of the strip, from the first one's.
    static __device__ __forceinline__ int place(int row) { return GAP == 0 ? row : row + row / (GROUP * POINTS) * GAP; }

    template <class Do>
    static __device__ __forceinline__ void for_all(const Do& at) {
#pragma unroll
        for (int i = 0; i < POINTS; i += ACCESS) at(i);
    }

    // A column of samples, from this lane's place there to its place in the ring behind this warp.
    //
    // `beside` is called as each point is finished, for what can be done meanwhile. `column` is the column's number.
    template <bool EDGES, class Beside>
    __device__ __forceinline__ void column(Place<T> from, Place<T> to, int column, const Beside& beside) {
        T points[POINTS];
        T above[BESIDE];
        T below[BESIDE];
        if constexpr (AHEAD) {
            read(from, points);
            pass(points, above, below);
        } else {
#pragma unroll
            for (int i = 0; i < RADIUS_ROWS; ++i) read_at<1>(from + (-1 - i), above + i);
            for_all([&](int i) { read_at<ACCESS>(from + i, points + i); });
#pragma unroll
            for (int i = 0; i < RADIUS_ROWS; ++i) read_at<1>(from + (POINTS + i), below + i);
        }
        stages_from<0, EDGES>(points, above, below, to, column, beside);
    }

    // A column's samples, from this lane's place there.
    static __device__ __forceinline__ void read(Place<T> from, T (&points)[POINTS]) {
        for_all([&](int i) { read_at<ACCESS>(from + i, points + i); });
    }

    // Takes such a column, which is no edge, and reads the next one in its place as its samples are no longer needed, from
    // there. It is there when `ready` has been called.
    template <class Beside, class Ready>
    __device__ __forceinline__ void column_and_next(T (&points)[POINTS], Place<T> next, Place<T> to,
                                                    const Beside& beside, const Ready& ready) {
        // The point that is finished when warps are asked for: in the middle of the slot.
        constexpr int READY = STAGES == 1 ? POINTS / 2 / ACCESS * ACCESS : 0;
        T above[BESIDE];
        T below[BESIDE];
        pass(points, above, below);
        stages_from<0, false>(points, above, below, to, 0, [&](int i) {
            beside(i);
            // The outputs before this one, and they alone, are done with the samples before this.
            const int end = i - RADIUS_ROWS;
            if (i == READY) {
                ready();
                if constexpr (READY > RADIUS_ROWS) {
#pragma unroll
                    for (int k = ACCESS; k <= READY - RADIUS_ROWS; k += ACCESS) {
                        read_at<ACCESS>(next + (k - ACCESS), points + k - ACCESS);
                    }
                }
            } else if (i > READY && end >= ACCESS && end % ACCESS == 0) {
                read_at<ACCESS>(next + (end - ACCESS), points + end - ACCESS);
            }
        });
        constexpr int REST = (POINTS - 1 - RADIUS_ROWS) / ACCESS * ACCESS;
#pragma unroll
        for (int i = REST; i < POINTS; i += ACCESS) read_at<ACCESS>(next + i, points + i);
    }

    // A column that is no edge.
    template <class Beside>
    __device__ __forceinline__ void inner_column(Place<T> from, Place<T> to, const Beside& beside) {
        column<false>(from, to, 0, beside);
    }

private:
    // What lies beside each lane's samples, from its neighbours.
    static __device__ __forceinline__ void pass(const T (&points)[POINTS], T (&above)[BESIDE], T (&below)[BESIDE]) {
#pragma unroll
        for (int i = 0; i < RADIUS_ROWS; ++i) {
            above[i] = __shfl_up_sync(0xffffffff, points[POINTS - 1 - i], 1);
            below[i] = __shfl_down_sync(0xffffffff, points[i], 1);
        }
    }

    // A lane's samples of a column, and those beside it.
    struct Samples {
        const T (&points)[POINTS];
        const T (&above)[BESIDE];
        const T (&below)[BESIDE];

        __device__ __forceinline__ T operator()(int i) const {
            if (i < 0) return above[i < 0 ? -1 - i : 0];
            return i < POINTS ? points[i < 0 || i >= POINTS ? 0 : i] : below[i < POINTS ? 0 : i - POINTS];
        }
    };

    // This stage's sweep and those behind it, over a column of samples.
    template <int STAGE, bool EDGES, class Beside>
    __device__ __forceinline__ void stages_from(const T (&points)[POINTS], T (&above)[BESIDE], T (&below)[BESIDE],
                                                Place<T> to, int column, const Beside& beside) {
        const bool hidden = Launch::OWN_SIDES && EDGES && RADIUS_COLUMNS > 0 && is_constant(launch, column);
        if constexpr (STAGE == STAGES - 1) {
            sweep<STAGE>(points, above, below, hidden, to, beside);
        } else {
            T next[POINTS];
            if (RADIUS_COLUMNS == 0 && STAGE < skipped) {
#pragma unroll
                for (int i = 0; i < POINTS; ++i) next[i] = points[i];
            } else {
                outside(points, above, below, hidden);
                Filter::template apply<POINTS>(Samples{points, above, below}, sums[STAGE],
                                               [&](int i, T finished) { next[i] = finished; });
                if constexpr (EDGES && RADIUS_COLUMNS > 0) between(next, column - RADIUS_COLUMNS);
                pass(next, above, below);
            }
            stages_from<STAGE + 1, EDGES>(next, above, below, to, column - RADIUS_COLUMNS, beside);
        }
    }

    // The last stage's sweep, whose results are stored as they come: they take no registers.
    template <int STAGE, class Beside>
    __device__ __forceinline__ void sweep(const T (&points)[POINTS], T (&above)[BESIDE], T (&below)[BESIDE],
                                          bool hidden, Place<T> to, const Beside& beside) {
        outside(points, above, below, hidden);
        T run[ACCESS];
        Filter::template apply<POINTS>(Samples{points, above, below}, sums[STAGE], [&](int i, T finished) {
            run[i % ACCESS] = finished;
            if (i % ACCESS == ACCESS - 1) write_at<ACCESS>(to + (i - (ACCESS - 1)), run);
            beside(i);
        });
    }

    // What is outside of the image's rows, unless a column of a constant hides it.
    __device__ __forceinline__ void outside(const T (&points)[POINTS], T (&above)[BESIDE], T (&below)[BESIDE],
                                            bool hidden) const {
        if constexpr (Launch::OWN_SIDES) {
            // Most strips have no edge. A double takes two registers, or none.
            if (!__any_sync(0xffffffff, above_all || below_all)) return;
            const T first = !edge.is_value ? points[0] : sizeof(T) == 4 ? edge.value : launch.value_of_rows(0);
            const T last = !edge.is_value ? points[POINTS - 1] : sizeof(T) == 4 ? edge.value : launch.value_of_rows(1);
#pragma unroll
            for (int i = 0; i < RADIUS_ROWS; ++i) {
                const T own = i == 0 || edge.is_flat ? first : points[i];
                above[i] = !above_all || hidden ? above[i] : edge.is_mirror ? points[i + 1] : own;
            }
#pragma unroll
            for (int i = 0; i < RADIUS_ROWS; ++i) {
                const T own = i == 0 || edge.is_flat ? last : points[POINTS - 1 - i];
                below[i] = !below_all || hidden ? below[i] : edge.is_mirror ? points[POINTS - 2 - i] : own;
            }
        } else {
            const unsigned int boundary = launch.beyond_rows(0);
            if (above_all) {
#pragma unroll
                for (int i = 0; i < RADIUS_ROWS; ++i) {
                    above[i] = boundary == CONSTANT    ? launch.value_of_rows(0)
                               : boundary == REPLICATE ? points[0]
                                                       : points[i];
                }
            }
            if (below_all) {
#pragma unroll
                for (int i = 0; i < RADIUS_ROWS; ++i) {
                    below[i] = boundary == CONSTANT    ? launch.value_of_rows(0)
                               : boundary == REPLICATE ? points[POINTS - 1]
                                                       : points[POINTS - 1 - i];
                }
            }
        }
    }

    // A column between two stages, if it is one of the image's first or last, or outside.
    __device__ __forceinline__ void between(T (&points)[POINTS], int column) {
        if (launch.beyond_columns(0) == CIRCULAR) return;
        const unsigned int low = launch.beyond_columns(0), high = launch.beyond_columns(1);
        const auto keep = [&](Place<T> to) { for_all([&](int i) { write_at<ACCESS>(to + i, points + i); }); };
        if (column < 0 || column >= launch.columns) {
            // What is no constant before the first column is put right later. There may be no column that is kept then.
            const bool is_value = (column < 0 ? low : high) == CONSTANT;
            if (Launch::OWN_SIDES && column < 0 && !is_value) return;
            const Place<T> of_constant = constant + (column < 0 ? 0 : upper(launch) * PITCH);
            const Place<T> instead = is_value ? of_constant : kept;
            for_all([&](int i) { read_at<ACCESS>(instead + i, points + i); });
        } else if constexpr (Launch::OWN_SIDES) {
            // The ring behind has room, as nothing is in it yet: for sums, for the first column, and for the second.
            const Place<T> first = behind + PITCH;
            const int mirrored = Launch::is_mirror(low);
            if (low != CONSTANT && column <= mirrored) {
                keep(first + column * PITCH);
                if (column == mirrored) begin(first + column * PITCH, first);
            }
            if (high != CONSTANT && column == launch.columns - 1 - Launch::is_mirror(high)) keep(kept);
        } else if (low != CONSTANT && (column == 0 || column == launch.columns - 1)) {
            keep(kept);
            if (column == 0) begin(kept, kept);
        }
    }

    // The column before the first is the first, or in a mirror the second, and was not there when it was due. What the
    // sums for the first have by now is computed in shared memory, point by point: this is rare, and registers are full.
    // The ring behind has room for that.
    __device__ __forceinline__ void begin(Place<T> before_first, Place<T> first) {
        const bool two = Launch::is_mirror(launch.beyond_columns(0));
        __syncwarp();
#pragma unroll 1
        for (int i = 0; i < POINTS; ++i) {
            // The row at each place under the filter.
            int rows[2 * RADIUS_ROWS + 1];
#pragma unroll
            for (int d = 0; d <= RADIUS_ROWS; ++d) {
                const int above = from_edge(0, d - 1 - i), below = from_edge(1, i + d - POINTS);
                rows[RADIUS_ROWS - d] = i < d && above_all ? above : i - d;
                rows[RADIUS_ROWS + d] = i + d >= POINTS && below_all ? POINTS - 1 - below : i + d;
            }
            T sum = Filter::chain(0, [&](int r) { return sample_of(before_first, rows[RADIUS_ROWS + r]); }, T(0), 0);
            if (two) sum = Filter::chain(0, [&](int r) { return sample_of(first, rows[RADIUS_ROWS + r]); }, sum, 1);
            write_at<1>(behind + i, &sum);
        }
        if (two) {
            for_all([&](int i) { read_at<ACCESS>(behind + i, sums[STAGES - 1][0] + i); });
        } else {
            for_all([&](int i) { read_at<ACCESS>(behind + i, sums[STAGES - 1][2 * RADIUS_COLUMNS - 1] + i); });
        }
        // Next to come in these places is another column.
        if constexpr (Launch::OWN_SIDES) __syncwarp();
    }

    // Of a column that lies in shared memory, from this lane's place in it: the sample in a row, counted from this lane's
    // first. Where that is neither the lane's own nor a neighbour's, it is the constant above or below.
    __device__ __forceinline__ T sample_of(Place<T> column, int row) const {
        if (Launch::OWN_SIDES && row < 0 && above_all) return launch.value_of_rows(0);
        if (Launch::OWN_SIDES && row >= POINTS && below_all) return launch.value_of_rows(1);
        const int first = threadIdx.x * POINTS;
        T sample;
        read_at<1>(column + (place(first + row) - place(first)), &sample);
        return sample;
    }

    // How far from the edge the row lies that stands for a row so far beyond it, the nearest being 0; -1 if a constant
    // does.
    __device__ __forceinline__ int from_edge(int end, int beyond) const {
        if constexpr (Launch::OWN_SIDES) {
            const unsigned int boundary = launch.beyond_rows(end);
            return boundary == CONSTANT ? -1 : boundary == REPLICATE ? 0 : beyond + Launch::is_mirror(boundary);
        } else {
            // Where RADIUS_ROWS is 1, both boundaries do the same.
            return RADIUS_ROWS == 1 || launch.beyond_rows(end) == SYMMETRIC ? beyond : 0;
        }
    }
};

// The columns of a strip of a page that a block takes.
struct Piece {
    long long page;
    int strip;
    int begin;
    int end;
};

// Where each strip is in segments.
template <class Launch>
__device__ __forceinline__ Piece segment_of(const Launch& launch) {
    const bool alike = launch.share == 0;
    const unsigned int half = alike ? gridDim.x : gridDim.x / 2;
    const bool second = blockIdx.x >= half;
    const unsigned int number = second ? blockIdx.x - half : blockIdx.x;
    const int runs = alike ? launch.segments : launch.segments / 2;
    const int run = number % runs;
    const unsigned int strip = number / runs;
    const long long length = launch.columns + 2LL * launch.edge;
    int begin = (int)(length * run / runs) - launch.edge;
    int end = (int)(length * (run + 1) / runs) - launch.edge;
    if (!alike) {
        const int between = begin + (int)((long long)(end - begin) * launch.share >> 8);
        (second ? begin : end) = between;
    }
    return {strip / launch.strips, (int)(strip % launch.strips), most(begin, 0), least(end, launch.columns)};
}

// Where all strips follow each other in one line, which is in `segments` equal parts, none of which begins behind it or is
// longer than a strip. There each strip is longer by what it takes to begin with it, which is done for each part.
//
// The first blocks take a part each, up to the end of the strip in which it begins. The others take what of parts lies in
// the strip behind that, the longest first: so each comes to where a block has just ended that had so much less.
template <class Stages>
__device__ __forceinline__ Piece part_of(const typename Stages::Launch& launch) {
    const int to_begin = launch.warps * (2 * Stages::STAGES * Stages::RADIUS_COLUMNS + 1 + Stages::AHEAD);
    const int parts = launch.segments, strips = gridDim.x - parts + 1, length = launch.columns + to_begin;
    const int part = (int)(((long long)strips * length + parts - 1) / parts);
    int strip, from;  // the part begins there, in the strip's own count
    if (blockIdx.x < parts) {
        const long long in_line = (long long)blockIdx.x * part;
        strip = (int)(in_line / length);
        from = (int)(in_line - (long long)strip * length);
    } else {
        // Where each strip but the first begins in its part, the earlier the more is behind that; at its end where it begins
        // with the next part, whose block takes it.
        const int step = length % part;
        const auto next = [&](int at) { return at + step <= part ? at + step : at + step - part; };
        int at = part, ahead;
        strip = 0;
        do {
            ++strip;
            at = next(at);
            ahead = 0;
            int other = part;
#pragma unroll 1
            for (int i = 1; i < strips; ++i) {
                other = next(other);
                ahead += other < at || (other == at && i < strip);
            }
        } while (ahead != blockIdx.x - parts);
        from = -at;
    }
    const int begin = most(from - to_begin, 0), end = least(from + part - to_begin, launch.columns);
    return {strip / launch.strips, strip % launch.strips, begin, most(begin, end)};
}

// What this block takes, for thread 0.
template <class Stages>
__device__ __forceinline__ void lay_out(const typename Stages::Launch& launch, Block& block) {
    constexpr int POINTS = Stages::POINTS, STAGES = Stages::STAGES;
    constexpr int RADIUS_ROWS = Stages::RADIUS_ROWS, RADIUS_COLUMNS = Stages::RADIUS_COLUMNS;
    constexpr int WARP_REACH = STAGES * RADIUS_COLUMNS;
    const bool around_rows = launch.beyond_rows(0) == CIRCULAR, around_columns = launch.beyond_columns(0) == CIRCULAR;
    const int reach = launch.warps * WARP_REACH;
    // No launch of stages that scan is a line: their blocks take longer to begin.
    const bool is_line = ALONE && !Stages::SCANS && launch.share == Stages::Launch::LINE;
    const Piece piece = is_line ? part_of<Stages>(launch) : segment_of(launch);
    const int strip = piece.strip, begin = piece.begin, end = piece.end;
    const long long page = piece.page;
    // The rows of the strip, and which of them this block writes.
    const int height = launch.lanes * POINTS;
    const int spoiled = launch.warps * STAGES * RADIUS_ROWS;
    const int step = height - 2 * spoiled;
    const bool first_strip = strip == 0 && !around_rows;
    const bool last_strip = strip == launch.strips - 1 && !around_rows;
    const long long wanted = (long long)strip * step + (first_strip || around_rows ? 0 : spoiled);
    const long long top = around_rows ? wanted - spoiled : last_strip ? launch.rows - height : (long long)strip * step;
    const long long below = launch.rows - top;
    block.before = page * launch.image_step + (top < 0 ? top : top - launch.rows);
    block.output = page * launch.image_step + wanted;
    block.height = height;
    block.from = (int)(wanted - top);
    block.to = last_strip ? height : (int)least(below, (long long)(height - spoiled));
    block.wrap = (int)least(top < 0 ? -top : below, (long long)height);
    block.first_strip = first_strip;
    block.last_strip = last_strip;
    // The columns that each warp needs for those that the block writes.
    const int start = around_columns ? begin - reach : most(begin - reach, -RADIUS_COLUMNS);
    const int stop = around_columns ? end + reach : least(end + reach, launch.columns + WARP_REACH);
    const int lag = WARP_REACH + 1 + Stages::AHEAD;
    for (int w = 0; w < launch.warps; ++w) {
        const int rest = reach - w * WARP_REACH;
        block.columns[w].first = most(start, begin - rest);
        block.columns[w].last = least(stop, end + rest);
        block.columns[w].zero = start - w * lag;
    }
    block.low = around_columns ? start : most(start, 0);
    block.high = around_columns ? stop : least(stop, launch.columns);
    block.output += begin * launch.column_step;
    block.begin = begin;
    block.end = end;
    block.coming = start + Stages::LEAD + Stages::AHEAD;
    block.leaving = start - launch.warps * lag;
    // Of no columns nothing is done.
    block.slots = begin < end ? end - block.leaving : -EARLIEST;
}

// What a thread copies of each column: some runs of WIDE elements that lie next to each other, THREADS * WIDE apart. A
// bit for each says whether the strip has it. Where each comes from is told by its distance from a place as many elements
// ahead of the column that comes as that has: what lies around the image's end comes from there.
template <class Stages, int WIDE>
struct Pieces {
    typedef typename Stages::T T;
    static constexpr int POINTS = Stages::POINTS;
    // Where there are gaps, only so many threads that a step is one of whole groups of lanes.
    static constexpr int GROUP_ROWS = Stages::GROUP * POINTS;
    static constexpr int STEP = Stages::GAP == 0 ? THREADS * WIDE : THREADS * WIDE / GROUP_ROWS * GROUP_ROWS;
    static constexpr int PLACES = Stages::GAP == 0 ? STEP : STEP + STEP / GROUP_ROWS * Stages::GAP;
    static constexpr int COUNT = (LANES * POINTS + STEP - 1) / STEP;
    static constexpr int BYTES = WIDE * (int)sizeof(T);
    static_assert(COUNT <= 16 && POINTS / COUNT >= 2, "bits, and a point for the beginning and the end of each");

    // Those of which a thread has pointers, which need no registers for distances meanwhile.
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

    // Where piece k of a column comes from, and where the first one goes. `before` is the strip's place in the column, less
    // the rows of an image, and `column` that in the column.
    __device__ __forceinline__ const char* source(int k, const T* before) const {
        return reinterpret_cast<const char*>(before) + from[k];
    }
    __device__ __forceinline__ T* target(T* column) const {
        return reinterpret_cast<T*>(reinterpret_cast<char*>(column) + to);
    }

    // Piece k of a column, from there and to there.
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

// Where a thread's pieces of the column that comes come from. Two are not set from the beginning: ptxas would have the
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

// What a thread does that copies for all others, in bulk: in each slot it begins to copy the column that comes, and the one
// that goes. It has ended the slot when what came LEAD - 1 slots before is there, and what goes has left shared memory.
//
// All meet at `met`; each of LEAD barriers at `come` is for what comes in a slot.
template <class Stages>
__device__ __forceinline__ void carry(const typename Stages::Launch& launch, const Block& block,
                                      typename Stages::T* memory, Barrier* met, Barrier* come) {
    typedef typename Stages::T T;
    constexpr int PITCH = Stages::PITCH, LEAD = Stages::LEAD;
    const auto next = [](unsigned int place, unsigned int ring) { return place + PITCH == ring ? 0 : place + PITCH; };
    const unsigned int ring = launch.depth * PITCH;
    const unsigned int first_ring = ring + (LEAD - 1) * PITCH, last_ring = launch.last_depth() * PITCH;
    int slot = -(LEAD + Stages::AHEAD);
    const int slots = block.slots;
    // Of the columns that come: how many slots there are until the first, and how many there are.
    int until_comes = block.low - block.coming - slot, to_come = block.high - block.low;
    int of_image = around(block.low, launch.columns);
    const T* before = launch.input + block.before + of_image * launch.column_step;
    const int height = block.height, wrap = block.wrap;
    T* const coming = memory + PAD;
    unsigned int coming_to = 0;
    // And of those that go.
    int until_goes = block.begin - block.leaving - slot;
    T* output = launch.output + block.output;
    T* const leaving = memory + first_ring + (launch.warps - 1) * ring + PAD + block.from;
    const int bytes = (block.to - block.from) * (int)sizeof(T);
    unsigned int leaving_from = place_of(block.begin - block.low, launch.last_depth()) * PITCH;
    unsigned int parity = 1;
    int number = 0;
#pragma unroll 1
    for (; slot < slots; ++slot) {
        wait(met, parity);
        writes_before_copies();
        const bool comes = until_comes <= 0 && to_come > 0;
        arrive(come + number % LEAD, comes ? height * (int)sizeof(T) : 0);
        if (comes) {
            // What lies around the image's end comes from there.
            T* const to = coming + coming_to;
            copy_bulk(to, before + launch.rows, wrap * (int)sizeof(T), come + number % LEAD);
            if (wrap < height) {
                copy_bulk(to + wrap, before + wrap, (height - wrap) * (int)sizeof(T), come + number % LEAD);
            }
            coming_to = next(coming_to, first_ring);
            before += launch.column_step;
            if (++of_image == launch.columns) {
                of_image = 0;
                before -= launch.columns * launch.column_step;
            }
            --to_come;
        }
        --until_comes;
        if (until_goes <= 0) {
            copy_out_bulk(output, leaving + leaving_from, bytes);
            end_leaving();
            leaving_from = next(leaving_from, last_ring);
            output += launch.column_step;
        }
        --until_goes;
        wait_for_leaving();
        // Before the first slot nothing was to come.
        wait(come + (number + 1) % LEAD, (number + 1 < LEAD ? 1 : (number + 1 - LEAD) / LEAD) & 1);
        ++number;
        arrive(met, 0);
        parity ^= 1;
    }
}

#ifdef __CUDACC_RTC__
// Sources are used when they have been set, by a function that is made before.
#pragma nv_diag_suppress 549
#endif

// What a block does, by warps of this kind and by copies of WIDE elements. Returns whether this thread saw special values
// that need the fallback. With REGISTERS, which a thread that sweeps has, one thread copies for all.
template <class Stages, int WIDE, int REGISTERS = 0>
__device__ __forceinline__ bool sweep_images(const typename Stages::Launch& launch) {
    typedef typename Stages::Launch Launch;
    typedef typename Stages::T T;
    constexpr int POINTS = Stages::POINTS, STAGES = Stages::STAGES, LEAD = Stages::LEAD;
    constexpr int RADIUS_COLUMNS = Stages::RADIUS_COLUMNS;
    constexpr bool CARRIED = REGISTERS > 0;
    static_assert(!CARRIED || (ALONE && WIDE > 1 && Stages::AHEAD && Stages::GAP == 0 && !Stages::SCANS),
                  "columns that are copied whole, by one that need not scan them");
    constexpr int ALL = threads_of(CARRIED);
    typedef Pieces<Stages, WIDE> Copies;
    constexpr int PITCH = Stages::PITCH;
    constexpr int WARP_REACH = STAGES * RADIUS_COLUMNS;
    DYNAMIC_SHARED(T, memory);
    __shared__ Block block;
    const int thread = threadIdx.x;
    // A number that is alike in all lanes, which the compiler cannot know: what is alike in a warp takes no registers of a lane.
    const int warp = __shfl_sync(0xffffffff, threadIdx.x / LANES, 0);
    const unsigned int ring = launch.depth * PITCH;
    const unsigned int first_ring = ring + (LEAD - 1) * PITCH;
    const bool circular = launch.beyond_columns(0) == CIRCULAR;
    T* constant = memory + first_ring + (launch.warps * ring - (launch.depth - launch.last_depth()) * PITCH);
    if constexpr (Stages::SCANS) {
        // What lies beside the columns, and in those that have not come, is multiplied, by zeros.
        const unsigned int rings = first_ring + launch.warps * ring - (launch.depth - launch.last_depth()) * PITCH;
        for (int i = thread; i < rings; i += ALL) memory[i] = T(0);
    }
#pragma unroll
    for (int end = 0; end < (Launch::OWN_SIDES ? 2 : 1); ++end) {
        if (launch.beyond_columns(end) != CONSTANT) continue;
        for (int i = thread; i < PITCH; i += ALL) {
            constant[i + end * PITCH * upper(launch)] = launch.value_of_columns(end);
        }
    }
    __shared__ Barrier met;
    __shared__ Barrier come[CARRIED ? LEAD : 1];
    if (thread == 0) {
        lay_out<Stages>(launch, block);
        if constexpr (Stages::AHEAD) make_barrier(&met, CARRIED ? WARPS + 1 : WARPS);
        if constexpr (CARRIED) {
            for (Barrier& barrier : come) make_barrier(&barrier, 1);
            barriers_are_made();
        }
    }
    __syncthreads();
    follow_launch_before();

    if constexpr (CARRIED) {
        if (warp >= WARPS) {
            give_registers<(65536 / ALL / 8 * 8 * ALL / LANES - WARPS * REGISTERS) / CARRIERS>();
            if (warp == WARPS && is_elected()) carry<Stages>(launch, block, memory, &met, come);
            return false;
        }
        take_registers<REGISTERS>();
    }

    const unsigned int own_ring = warp == 0 ? first_ring : ring;
    Stages stages(launch, block, memory + first_ring + warp * ring, own_ring, constant);

    const Copies copies(block, launch.rows);
    // What of that is copied in the slots that are like any other.
    unsigned int coming_now = copies.coming, leaving_now = copies.leaving;
    const Place<T> coming_here = kept_place(memory + PAD + Stages::place(thread * WIDE));
    const Place<T> leaving_here =
        kept_place(memory + first_ring + (launch.warps - 1) * ring + PAD + Stages::place(block.from + thread * WIDE));
    // Of the slots that are like any other: how many there are to come, where columns come from and go to, and
    // their places in the rings.
    int alike = 0;
    const T* before = nullptr;
    T* output = nullptr;
    Sources<Copies::POINTERS ? Copies::COUNT : 0> sources;
    T* target = nullptr;
    const long long step_bytes = Copies::POINTERS ? kept_distance(launch.column_step * (long long)sizeof(T)) : 0;
    unsigned int from = 0, to = 0, coming_to = 0, leaving_from = 0;

    const int first_depth = launch.depth + LEAD - 1;
    const int own_depth = warp == 0 ? first_depth : launch.depth;

    // What this thread scans: its part of the samples of the last sweep, and of what that made of them.
    const int last_depth = launch.warps == 1 ? first_depth : launch.depth;
    const unsigned int last_ring = last_depth * PITCH;
    T* const last = memory + PAD + first_ring + (launch.warps - 1) * ring;
    SpecialValueScan<Stages, WIDE> scan(last - last_ring);
    unsigned int scanned_from = 0;
    unsigned int scanning_now = copies.coming;
    // Places in rings go round.
    const auto next = [](unsigned int place, unsigned int ring) { return least(place + PITCH, place + PITCH - ring); };
    // What is copied while one of those computes, as it finishes its points.
    T held[WIDE];
    const auto copy = [&](int i) {
        Copies now = copies;
        if constexpr (Stages::AHEAD) {
            now.coming = coming_now;
            now.leaving = leaving_now;
        }
        constexpr int EACH = POINTS / Copies::COUNT;
        const int k = i / EACH;
        if (k >= Copies::COUNT) return;
        if (i % EACH == 0) {
            if constexpr (Copies::POINTERS) {
                now.bring(k, coming_here + coming_to, sources.of[k]);
            } else {
                now.bring(k, coming_here + coming_to, now.source(k, before));
            }
            now.read(k, leaving_here + leaving_from, held);
        }
        // Those that scan have a sample in their registers when the output has left these, if there are points enough.
        constexpr int WRITTEN = Stages::SCANS && EACH >= 4 ? EACH / 2 : EACH - 1;
        if (i % EACH == WRITTEN) {
            now.write(k, Copies::POINTERS ? target : now.target(output), held);
            scan.at_output(now, k, held);
        }
        if (i % EACH == (WRITTEN < EACH - 1 ? WRITTEN : 0))
            scan.template read_sample<Copies>(scanning_now, k, scanned_from);
        if (i % EACH == EACH - 1) scan.at_sample(scanning_now, k);
    };
    // One slot of those.
    const auto quickly = [&]() {
        stages.inner_column(stages.before + from, stages.behind + to, copy);
        if constexpr (Stages::SCANS) {
            scanned_from = next(scanned_from, last_ring);
        }
        before += launch.column_step;
        output += launch.column_step;
        from = next(from, own_ring);
        to = next(to, depth_behind(launch, warp) * PITCH);
        coming_to = next(coming_to, first_ring);
        leaving_from = next(leaving_from, launch.last_depth() * PITCH);
    };
    // A slot of any kind.
    const auto carefully = [&](int slot) {
        const int coming = block.coming + slot;
        const int leaving = block.leaving + slot;
        if (!CARRIED && coming >= block.low && coming < block.high) {
            const T* const before = launch.input + block.before + around(coming, launch.columns) * launch.column_step;
            const Place<T> to = coming_here + place_of(coming - block.low, first_depth) * PITCH;
#pragma unroll
            for (int k = 0; k < Copies::COUNT; ++k) copies.bring(k, to, copies.source(k, before));
        }
        if (!CARRIED && leaving >= block.begin && leaving < block.end) {
            T* const output = launch.output + block.output + (leaving - block.begin) * launch.column_step;
            const Place<T> from = leaving_here + place_of(leaving - block.low, launch.last_depth()) * PITCH;
#pragma unroll
            for (int k = 0; k < Copies::COUNT; ++k) {
                T held[WIDE];
                copies.read(k, from, held);
                copies.write(k, copies.target(output), held);
                scan.at_output(copies, k, held);
            }
        }
        if constexpr (Stages::SCANS) {
            // What stands for a column outside of the image is one that is scanned itself.
            const Columns columns = block.columns[launch.warps - 1];
            const int column = columns.zero + slot;
            if (column >= most(columns.first, block.low) && column < least(columns.last, block.high)) {
                scan.at_samples(copies, place_of(column - block.low, last_depth) * PITCH);
            }
        }
        if (warp >= launch.warps) return;
        const Columns columns = block.columns[warp];
        const int last = columns.zero + slot;
        if (last < columns.first || last >= columns.last) return;
        int column = last;
        if (columns.first < 0 && !circular) {
            // The columns before the image's first are taken together, when what stands there has come.
            const unsigned int boundary = launch.beyond_columns(0);
            const int ready = Launch::is_mirror(boundary) ? RADIUS_COLUMNS
                              : boundary == SYMMETRIC     ? RADIUS_COLUMNS - 1
                                                          : 0;
            if (last < ready) return;
            if (last == ready) column = columns.first;
        }
#pragma unroll 1
        for (; column <= last; ++column) {
            int place = column;
            if (!circular && (column < 0 || column >= launch.columns)) {
                // The boundary says which column it is, or that there is none.
                const unsigned int boundary = launch.beyond_columns(column < 0 ? 0 : 1);
                const int left_out = Launch::is_mirror(boundary) ? 1 : 0;
                if (boundary == REPLICATE) {
                    place = column < 0 ? 0 : launch.columns - 1;
                } else if (boundary == SYMMETRIC || left_out) {
                    do place = (place < 0 ? left_out : 2 * launch.columns - left_out) - 1 - place;
                    while (place < 0 || place >= launch.columns);
                }
            }
            const bool none = !circular && (place < 0 || place >= launch.columns);
            const Place<T> from = none ? stages.constant + (column < 0 ? 0 : upper(launch) * PITCH)
                                       : stages.before + place_of(place - block.low, own_depth) * PITCH;
            const int to = place_of(column - WARP_REACH - block.low, depth_behind(launch, warp)) * PITCH;
            stages.template column<true>(from, stages.behind + to, column, [](int) {});
        }
    };
    // Whether the slots from this one on are like any other: no stage sees an edge in them, a column comes in each, and
    // one goes. Where stages read ahead, there may be none in all of them, as when a block begins and ends.
    const auto look_ahead = [&](int slot) {
        if (warp >= launch.warps) return;
        const Columns columns = block.columns[warp];
        // A mirror shows a column more.
        const int first = WARP_REACH + Launch::is_mirror(launch.beyond_columns(0));
        const int inner = circular ? columns.first : most(columns.first, first);
        const int outer = circular ? columns.last : least(columns.last, launch.columns - 1);
        int until = outer - columns.zero;
        if constexpr (!Stages::AHEAD) until = least(until, block.end - block.leaving);
        const int column = columns.zero + slot;
        if constexpr (CARRIED) {
            if (column < inner || slot >= until) return;
            alike = until - slot;
            from = place_of(column - block.low, own_depth) * PITCH;
            to = place_of(column - WARP_REACH - block.low, depth_behind(launch, warp)) * PITCH;
            return;
        }
        const int coming = block.coming + slot;
        const int leaving = block.leaving + slot;
        // The columns that come are neighbours in memory up to where they go round.
        const int of_image = around(coming, launch.columns);
        const int around_at = slot + launch.columns - of_image;
        if constexpr (Stages::AHEAD) {
            // None comes or goes in any of them, or one in each.
            const bool comes = coming < block.high;
            const bool leaves = leaving >= block.begin;
            if (comes) until = least(until, least(block.high - block.coming, around_at));
            until = least(until, (leaves ? block.end : block.begin) - block.leaving);
            if (column < inner || coming < block.low || slot >= until) return;
            coming_now = comes ? copies.coming : 0;
            leaving_now = leaves ? copies.leaving : 0;
        } else {
            until = least(until, least(block.high - block.coming, around_at));
            if (column < inner || coming < block.low || leaving < block.begin || slot >= until) return;
        }
        alike = until - slot;
        from = place_of(column - block.low, own_depth) * PITCH;
        to = place_of(column - WARP_REACH - block.low, depth_behind(launch, warp)) * PITCH;
        coming_to = place_of(coming - block.low, first_depth) * PITCH;
        leaving_from = place_of(leaving - block.low, launch.last_depth()) * PITCH;
        if constexpr (Stages::SCANS) {
            scanned_from = place_of(block.columns[launch.warps - 1].zero + slot - block.low, last_depth) * PITCH;
        }
        if constexpr (Stages::SCANS) {
            // The last warp takes a column in all of them, or in none.
            const Columns of_last = block.columns[launch.warps - 1];
            const int begin = most(of_last.first, block.low) - of_last.zero;
            const int end = least(of_last.last, block.high) - of_last.zero;
            const bool takes = slot >= begin && slot < end;
            if (slot < end) alike = least(alike, (takes ? end : begin) - slot);
            scanning_now = takes ? copies.coming : 0;
        }
        before = launch.input + block.before + of_image * launch.column_step;
        output = launch.output + block.output + (leaving - block.begin) * launch.column_step;
        if constexpr (Copies::POINTERS) {
#pragma unroll
            for (int k = 0; k < Copies::COUNT; ++k) sources.of[k] = copies.source(k, before);
            target = copies.target(output);
        }
    };
    // The first slots only bring columns. A column that comes is for a slot LEAD later, one that goes was there before
    // the last barrier.
    int slot = -(LEAD + Stages::AHEAD);
    const auto end_slot = [&]() {
        ++slot;
        end_group();
        wait_groups<LEAD - 1>();
        meet<THREADS>();
    };
    if constexpr (Stages::AHEAD) {
        // A warp arrives at the end of a slot, and sees in the next one that all have.
        const unsigned int is_first = kept_number(thread % LANES == 0);
        const Place<Barrier> meeting = kept_place(&met);
        unsigned int parity = 1;
        const auto arrive = [&]() {
            if constexpr (!CARRIED) {
                end_group();
                wait_groups<LEAD - 1>();
            }
            __syncwarp();
            arrive_if(is_first, meeting);
            parity ^= 1;
        };
        const auto all_are_there = [&]() { wait_at(meeting, parity); };
        const unsigned int ring_before = kept_number(own_ring);
#pragma unroll 1
        while (true) {
            if (alike > 0) {
                all_are_there();
                T points[POINTS];
                stages.read(stages.before + from, points);
                slot += alike;
#pragma unroll 1
                do {
                    from = next(from, ring_before);
                    if constexpr (CARRIED) {
                        stages.column_and_next(
                            points, stages.before + from, stages.behind + to, [](int) {}, all_are_there);
                    } else {
                        stages.column_and_next(points, stages.before + from, stages.behind + to, copy, all_are_there);
                        if constexpr (Copies::POINTERS) {
#pragma unroll
                            for (const char*& source : sources.of) source += step_bytes;
                            target = reinterpret_cast<T*>(reinterpret_cast<char*>(target) + step_bytes);
                        } else {
                            before += launch.column_step;
                            output += launch.column_step;
                        }
                        coming_to = next(coming_to, first_ring);
                        leaving_from = next(leaving_from, launch.last_depth() * PITCH);
                    }
                    to = next(to, depth_behind(launch, warp) * PITCH);
                    if constexpr (Stages::SCANS) scanned_from = next(scanned_from, last_ring);
                    arrive();
                } while (--alike > 0);
            } else {
                if (slot >= block.slots) break;
                all_are_there();
                carefully(slot);
                look_ahead(slot + 1);
                ++slot;
                arrive();
            }
        }
    } else {
#pragma unroll 1
        while (true) {
            if (alike > 0) {
                --alike;
                quickly();
                end_slot();
            } else {
                if (slot >= block.slots) break;
                carefully(slot);
                look_ahead(slot + 1);
                end_slot();
            }
        }
    }
    return scan.needs_fallback(launch.near_zero);
}

#ifdef __CUDACC_RTC__
#pragma nv_diag_default 549
#endif

}  // namespace images
