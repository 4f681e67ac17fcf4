// A warp's stages: columns in registers, partial sums, ghost values above and below.
#pragma once

#include "sweeps/images/launch.cuh"

namespace images {

// One warp's part in the pipeline.
//
// A warp that reads AHEAD has a column in its registers a slot before its turn, so that a slot begins with
// multiply-adds. It lags one slot more behind the warp before, and so do the columns that go. Of two warps one may be
// half a slot behind the other: rings have two columns more.
template <class OfLaunch, int ROWS_BESIDE, int COLUMNS_BESIDE, int LANE_POINTS, int WARP_STAGES, bool READS_AHEAD,
          int COMES_AHEAD, bool KEEPS_POINTERS, class Filter>
struct Warp {
    typedef OfLaunch Launch;
    typedef typename Launch::Real T;
    static constexpr int RADIUS_ROWS = ROWS_BESIDE, RADIUS_COLUMNS = COLUMNS_BESIDE;
    static constexpr int POINTS = LANE_POINTS, STAGES = WARP_STAGES;
    static constexpr int ACCESS = Access<T, POINTS>::COUNT;
    // Places that are left out after this number of lanes: eight lanes in a row, which read together, then read from
    // different banks.
    static constexpr int ALIKE = largest_power(POINTS / ACCESS);
    static constexpr int GROUP = ACCESS == 1 || ALIKE == 1 ? LANES : ALIKE >= 8 ? 1 : 8 / ALIKE;
    static constexpr int GAP = GROUP == LANES ? 0 : ACCESS;
    // From a column to the next.
    static constexpr int PITCH = LANES * POINTS + LANES / GROUP * GAP + 2 * PAD;
    static constexpr bool AHEAD = READS_AHEAD;
    // Number of slots before the first warp's in which a column comes from device memory.
    static constexpr int LEAD = COMES_AHEAD;
    // True if a thread keeps a pointer for each of the few pieces that it copies, instead of distances from one.
    static constexpr bool POINTERS = KEEPS_POINTERS;
    static constexpr bool SCANS = Filter::LEAVES_OUT;
    static_assert(POINTS > RADIUS_ROWS && PAD >= RADIUS_ROWS, "what is outside of a lane's edge is told by that lane");
    static_assert(STAGES == 1 || (STAGES == 2 && RADIUS_COLUMNS == 1), "what a boundary asks for inside a warp");

    const Launch& launch;
    Place<T> before;    // this lane's place in the ring before this warp
    Place<T> behind;    // and behind it
    Place<T> constant;  // its place in the first column of a constant
    Place<T> kept;      // its place in the column that is kept between two stages
    bool above_all;     // this lane's first row is the image's
    bool below_all;     // its last row
    Edge<T, Launch::OWN_SIDES> edge;
    T sums[STAGES][2 * RADIUS_COLUMNS][POINTS];

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
        // If all sides have the same boundary, no columns are kept with a constant.
        kept = place_at(constant + (Launch::OWN_SIDES ? constants(launch) * PITCH : 0) + PAD + place(thread * POINTS));
        above_all = block.first_strip && lane == 0;
        below_all = block.last_strip && lane == launch.lanes - 1;
        edge.set(launch, lane == 0 ? 0 : 1);
#pragma unroll
        for (int s = 0; s < STAGES; ++s) {
#pragma unroll
            for (int q = 0; q < 2 * RADIUS_COLUMNS; ++q) {
#pragma unroll
                for (int i = 0; i < POINTS; ++i) sums[s][q][i] = 0;
            }
        }
    }

    // Returns the place of a row of the strip, from the first one's.
    static __device__ __forceinline__ int place(int row) { return GAP == 0 ? row : row + row / (GROUP * POINTS) * GAP; }

    template <class Do>
    static __device__ __forceinline__ void for_all(const Do& at) {
#pragma unroll
        for (int i = 0; i < POINTS; i += ACCESS) at(i);
    }

    // Takes a column of samples, from this lane's place there to its place in the ring behind this warp.
    //
    // `beside` is called as each point is completed, for work to be done meanwhile. `column` is the column's number.
    template <bool EDGES, class Beside>
    __device__ __forceinline__ void column(Place<T> from, Place<T> to, int column, const Beside& beside) {
        T points[POINTS];
        T above[RADIUS_ROWS];
        T below[RADIUS_ROWS];
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

    // Reads a column's samples, from this lane's place there.
    static __device__ __forceinline__ void read(Place<T> from, T (&points)[POINTS]) {
        for_all([&](int i) { read_at<ACCESS>(from + i, points + i); });
    }

    // Takes such a column, which is no edge, and reads the next one in its place as its samples are no longer needed.
    // The next one is there when `ready` has been called.
    template <class Beside, class Ready>
    __device__ __forceinline__ void column_and_next(T (&points)[POINTS], Place<T> next, Place<T> to,
                                                    const Beside& beside, const Ready& ready) {
        // The point after which warps are waited for: in the middle of the slot.
        constexpr int READY = STAGES == 1 ? POINTS / 2 / ACCESS * ACCESS : 0;
        T above[RADIUS_ROWS];
        T below[RADIUS_ROWS];
        pass(points, above, below);
        stages_from<0, false>(points, above, below, to, 0, [&](int i) {
            beside(i);
            // Only the outputs before this one are done with the samples before this.
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

    // Takes a column that is no edge.
    template <class Beside>
    __device__ __forceinline__ void inner_column(Place<T> from, Place<T> to, const Beside& beside) {
        column<false>(from, to, 0, beside);
    }

private:
    // Passes each lane's samples to its neighbours.
    static __device__ __forceinline__ void pass(const T (&points)[POINTS], T (&above)[RADIUS_ROWS],
                                                T (&below)[RADIUS_ROWS]) {
#pragma unroll
        for (int i = 0; i < RADIUS_ROWS; ++i) {
            above[i] = __shfl_up_sync(0xffffffff, points[POINTS - 1 - i], 1);
            below[i] = __shfl_down_sync(0xffffffff, points[i], 1);
        }
    }

    // A lane's samples of a column, and those next to them.
    struct Samples {
        const T (&points)[POINTS];
        const T (&above)[RADIUS_ROWS];
        const T (&below)[RADIUS_ROWS];

        __device__ __forceinline__ T operator()(int i) const {
            if (i < 0) return above[i < 0 ? -1 - i : 0];
            return i < POINTS ? points[i < 0 || i >= POINTS ? 0 : i] : below[i < POINTS ? 0 : i - POINTS];
        }
    };

    // Does this stage's sweep and those behind it, over a column of samples.
    template <int STAGE, bool EDGES, class Beside>
    __device__ __forceinline__ void stages_from(const T (&points)[POINTS], T (&above)[RADIUS_ROWS],
                                                T (&below)[RADIUS_ROWS], Place<T> to, int column,
                                                const Beside& beside) {
        const bool hidden = Launch::OWN_SIDES && EDGES && is_constant(launch, column);
        if constexpr (STAGE == STAGES - 1) {
            sweep<STAGE>(points, above, below, hidden, to, beside);
        } else {
            T next[POINTS];
            outside(points, above, below, hidden);
            Filter::template apply<POINTS>(Samples{points, above, below}, sums[STAGE],
                                           [&](int i, T finished) { next[i] = finished; });
            if constexpr (EDGES) between(next, column - RADIUS_COLUMNS);
            pass(next, above, below);
            stages_from<STAGE + 1, EDGES>(next, above, below, to, column - RADIUS_COLUMNS, beside);
        }
    }

    // Does the last stage's sweep, whose results are stored as they come: they take no registers.
    template <int STAGE, class Beside>
    __device__ __forceinline__ void sweep(const T (&points)[POINTS], T (&above)[RADIUS_ROWS], T (&below)[RADIUS_ROWS],
                                          bool hidden, Place<T> to, const Beside& beside) {
        outside(points, above, below, hidden);
        T run[ACCESS];
        Filter::template apply<POINTS>(Samples{points, above, below}, sums[STAGE], [&](int i, T finished) {
            run[i % ACCESS] = finished;
            if (i % ACCESS == ACCESS - 1) write_at<ACCESS>(to + (i - (ACCESS - 1)), run);
            beside(i);
        });
    }

    // Sets the ghost values of the image's rows, unless a column of a constant replaces them.
    __device__ __forceinline__ void outside(const T (&points)[POINTS], T (&above)[RADIUS_ROWS], T (&below)[RADIUS_ROWS],
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

    // Corrects a column between two stages, if it is one of the image's first or last, or outside.
    __device__ __forceinline__ void between(T (&points)[POINTS], int column) {
        if (launch.beyond_columns(0) == CIRCULAR) return;
        const unsigned int low = launch.beyond_columns(0), high = launch.beyond_columns(1);
        const auto keep = [&](Place<T> to) { for_all([&](int i) { write_at<ACCESS>(to + i, points + i); }); };
        if (column < 0 || column >= launch.columns) {
            // Ghost columns before the first that are no constant are corrected later. There may be no column that is
            // kept then.
            const bool is_value = (column < 0 ? low : high) == CONSTANT;
            if (Launch::OWN_SIDES && column < 0 && !is_value) return;
            const Place<T> of_constant = constant + (column < 0 ? 0 : upper(launch) * PITCH);
            const Place<T> instead = is_value ? of_constant : kept;
            for_all([&](int i) { read_at<ACCESS>(instead + i, points + i); });
        } else if constexpr (Launch::OWN_SIDES) {
            // The ring behind has room, as it is still empty: for sums, for the first column, and for the second.
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

    // Corrects the first sums: the column before the first is a copy of the first, or in a mirror of the second, and
    // was not there when it was due. The sums for the first so far are recomputed in shared memory, point by point:
    // this is rare, and registers are full. The ring behind has room for that.
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
        // The next column comes to these places.
        if constexpr (Launch::OWN_SIDES) __syncwarp();
    }

    // Returns the sample in a row, counted from this lane's first, of a column in shared memory, from this lane's place
    // in it. If the row is neither the lane's own nor a neighbour's, it is the constant above or below.
    __device__ __forceinline__ T sample_of(Place<T> column, int row) const {
        if (Launch::OWN_SIDES && row < 0 && above_all) return launch.value_of_rows(0);
        if (Launch::OWN_SIDES && row >= POINTS && below_all) return launch.value_of_rows(1);
        const int first = threadIdx.x * POINTS;
        T sample;
        read_at<1>(column + (place(first + row) - place(first)), &sample);
        return sample;
    }

    // Returns the distance from the edge of the row that a row beyond it copies, the nearest being 0; -1 for a
    // constant.
    __device__ __forceinline__ int from_edge(int end, int beyond) const {
        if constexpr (Launch::OWN_SIDES) {
            const unsigned int boundary = launch.beyond_rows(end);
            return boundary == CONSTANT ? -1 : boundary == REPLICATE ? 0 : beyond + Launch::is_mirror(boundary);
        } else {
            // If RADIUS_ROWS is 1, both boundaries do the same.
            return RADIUS_ROWS == 1 || launch.beyond_rows(end) == SYMMETRIC ? beyond : 0;
        }
    }
};

}  // namespace images
