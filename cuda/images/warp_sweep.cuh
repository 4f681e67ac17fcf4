// One warp of the pipeline of sweeps: what it does with a column.
#pragma once

#include "images/launch.cuh"
#include "images/plan.cuh"

namespace images {

// How many neighbouring elements one access takes, where a lane has POINTS of them.
template <typename T, int POINTS>
struct Access {
    static constexpr int COUNT = sizeof(T) == 4 && POINTS % 4 == 0 ? 4 : 1;
};

// The largest power of two that divides a number.
__device__ constexpr int largest_power_in(int number) { return number & -number; }

// The boundary above a lane that has the image's first row, or below one that has the last, where each side has its
// own. No lane has both rows, unless both boundaries are alike.
template <typename T, bool OWN_SIDES>
struct RowEdge {
    template <class Launch>
    __device__ __forceinline__ void set(const Launch&, int) {}
};

template <typename T>
struct RowEdge<T, true> {
    bool is_value;   // a constant
    bool is_flat;    // that, or the row itself everywhere
    bool is_mirror;  // the rows behind it
    T value;         // the constant

    template <class Launch>
    __device__ __forceinline__ void set(const Launch& launch, int end) {
        const unsigned int boundary = kept_number(launch.row_boundary(end));
        value = launch.row_constant(end);
        is_value = boundary == CONSTANT;
        is_flat = boundary == CONSTANT || boundary == REPLICATE;
        is_mirror = Launch::is_mirror(boundary);
    }
};

// One warp of the pipeline: it takes columns of samples from the ring before it, and puts what SWEEPS sweeps make of
// them into the ring behind it.
//
// A lane holds POINTS neighbouring rows of the column that it takes, and for each of the 2 * RADIUS_COLUMNS outputs
// that need further columns their sums up to now. So a column is used up as it comes: in the filter's column-major
// order an output gets one run of multiply-adds from each column, and all of them are its chain.
//
// A warp that reads ahead has a column in its registers a slot before its turn, so a slot begins with multiply-adds. It
// is one slot more behind the warp before, and so are the columns that are stored. One warp may be half a slot behind
// another, so rings have two columns more.
//
// `Policy` has the filter's radii and the tuning; `Filter` has the entries.
template <class OfLaunch, class Policy, class Filter>
struct WarpSweep {
    typedef OfLaunch Launch;
    typedef typename Launch::T T;
    static constexpr int RADIUS_ROWS = Policy::RADIUS_ROWS, RADIUS_COLUMNS = Policy::RADIUS_COLUMNS;
    static constexpr int POINTS = Policy::POINTS, SWEEPS = Policy::SWEEPS;
    static constexpr int ACCESS = Access<T, POINTS>::COUNT;
    // Of eight lanes in a row, which read together, each is to read in banks of its own: GAP places are left out behind
    // GROUP lanes' places.
    static constexpr int ALIKE = largest_power_in(POINTS / ACCESS);
    static constexpr int GROUP = ACCESS == 1 || ALIKE == 1 ? LANES : ALIKE >= 8 ? 1 : 8 / ALIKE;
    static constexpr int GAP = GROUP == LANES ? 0 : ACCESS;
    // From a column to the next.
    static constexpr int PITCH = LANES * POINTS + LANES / GROUP * GAP + 2 * PAD;
    static constexpr bool READS_AHEAD = Policy::READS_AHEAD;
    // So many slots ahead of the first warp a column comes from device memory.
    static constexpr int LOAD_LEAD = Policy::LOAD_LEAD;
    // Whether a thread keeps a pointer for each of the few pieces that it copies, in place of distances from one.
    static constexpr bool KEEPS_POINTERS = Policy::KEEPS_POINTERS;
    // Whether samples and results are scanned for special values.
    static constexpr bool SCANS = Filter::LEAVES_OUT;
    // Columns that the last finished output is behind the column that is taken.
    static constexpr int REACH = SWEEPS * RADIUS_COLUMNS;
    static_assert(POINTS > RADIUS_ROWS && PAD >= RADIUS_ROWS, "the halo of a lane is its neighbour's");
    static_assert(SWEEPS == 1 || RADIUS_COLUMNS == 0 || (SWEEPS == 2 && RADIUS_COLUMNS == 1),
                  "what a boundary asks for inside a warp");
    // No array has no elements.
    static constexpr int HALO = RADIUS_ROWS > 0 ? RADIUS_ROWS : 1;
    static constexpr int SUMS = RADIUS_COLUMNS > 0 ? 2 * RADIUS_COLUMNS : 1;

    const Launch& launch;
    Place<T> before;     // this lane's place in the ring before this warp
    Place<T> behind;     // and behind it
    Place<T> constant;   // its place in the first column of a constant
    Place<T> kept;       // its place in the column that is kept between two sweeps
    bool has_first_row;  // this lane's first row is the image's
    bool has_last_row;   // this lane's last row is the image's
    RowEdge<T, Launch::OWN_SIDES> edge;
    int skipped;  // sweeps that this warp does not do
    T sums[SWEEPS][SUMS][POINTS];

    __device__ __forceinline__ WarpSweep(const Launch& launch, const BlockPlan& plan, const Rings<WarpSweep>& rings,
                                         int warp)
        : launch(launch) {
        const int thread = threadIdx.x;
        const int lane = thread % LANES;
        T* const ring = rings.behind(warp);
        T* const constants = rings.constants();
        behind = kept_place(ring + PAD + place(lane * POINTS));
        before = kept_place(ring + PAD + place(lane * POINTS) - rings.size_before(warp));
        constant = place_at(constants + PAD + place(lane * POINTS));
        // Kept columns are behind those of constants. Where all sides have one boundary there is one kind or the other.
        kept = place_at(constants + (Launch::OWN_SIDES ? constant_columns(launch) * PITCH : 0) + PAD +
                        place(thread * POINTS));
        has_first_row = plan.first_strip && lane == 0;
        has_last_row = plan.last_strip && lane == launch.lanes - 1;
        edge.set(launch, lane == 0 ? 0 : 1);
        skipped = RADIUS_COLUMNS > 0 ? 0 : __shfl_sync(0xffffffff, thread < LANES ? launch.skipped_sweeps : 0, 0);
#pragma unroll
        for (int s = 0; s < SWEEPS; ++s) {
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

    // Takes a column of samples, from this lane's place in a ring to its place in the ring behind this warp. `column`
    // is its number, which counts where it has EDGES: where it is one of the image's first or last columns, or outside.
    //
    // `interleaved` is called as each point is finished, for copies that stand between multiply-adds.
    template <bool EDGES, class Interleaved>
    __device__ __forceinline__ void column(Place<T> from, Place<T> to, int column, const Interleaved& interleaved) {
        T points[POINTS];
        T above[HALO];
        T below[HALO];
        if constexpr (READS_AHEAD) {
            read(from, points);
            exchange_halo(points, above, below);
        } else {
#pragma unroll
            for (int i = 0; i < RADIUS_ROWS; ++i) read_at<1>(from + (-1 - i), above + i);
            for_all([&](int i) { read_at<ACCESS>(from + i, points + i); });
#pragma unroll
            for (int i = 0; i < RADIUS_ROWS; ++i) read_at<1>(from + (POINTS + i), below + i);
        }
        sweeps_from<0, EDGES>(points, above, below, to, column, interleaved);
    }

    // A column's samples, from this lane's place there.
    static __device__ __forceinline__ void read(Place<T> from, T (&points)[POINTS]) {
        for_all([&](int i) { read_at<ACCESS>(from + i, points + i); });
    }

    // Takes a column without edges that is in registers, and reads the next one into them, from `next`, as samples are
    // no longer needed. The next column is there when `ready` has been called.
    template <class Interleaved, class Ready>
    __device__ __forceinline__ void column_and_next(T (&points)[POINTS], Place<T> next, Place<T> to,
                                                    const Interleaved& interleaved, const Ready& ready) {
        // The point that is finished when the warp waits for the others: in the middle of the slot, when all have long
        // arrived.
        constexpr int READY = SWEEPS == 1 ? POINTS / 2 / ACCESS * ACCESS : 0;
        T above[HALO];
        T below[HALO];
        exchange_halo(points, above, below);
        sweeps_from<0, false>(points, above, below, to, 0, [&](int i) {
            interleaved(i);
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

private:
    // The halo of each lane's samples, from its neighbours' registers.
    static __device__ __forceinline__ void exchange_halo(const T (&points)[POINTS], T (&above)[HALO],
                                                         T (&below)[HALO]) {
#pragma unroll
        for (int i = 0; i < RADIUS_ROWS; ++i) {
            above[i] = __shfl_up_sync(0xffffffff, points[POINTS - 1 - i], 1);
            below[i] = __shfl_down_sync(0xffffffff, points[i], 1);
        }
    }

    // A lane's samples of a column, with their halo.
    struct Samples {
        const T (&points)[POINTS];
        const T (&above)[HALO];
        const T (&below)[HALO];

        __device__ __forceinline__ T operator()(int i) const {
            if (i < 0) return above[i < 0 ? -1 - i : 0];
            return i < POINTS ? points[i < 0 || i >= POINTS ? 0 : i] : below[i < POINTS ? 0 : i - POINTS];
        }
    };

    // A sweep of this warp and those behind it, over a column of samples.
    template <int SWEEP, bool EDGES, class Interleaved>
    __device__ __forceinline__ void sweeps_from(const T (&points)[POINTS], T (&above)[HALO], T (&below)[HALO],
                                                Place<T> to, int column, const Interleaved& interleaved) {
        const bool is_constant_column = Launch::OWN_SIDES && EDGES && RADIUS_COLUMNS > 0 && is_constant(launch, column);
        if constexpr (SWEEP == SWEEPS - 1) {
            last_sweep<SWEEP>(points, above, below, is_constant_column, to, interleaved);
        } else {
            T next[POINTS];
            if (RADIUS_COLUMNS == 0 && SWEEP < skipped) {
#pragma unroll
                for (int i = 0; i < POINTS; ++i) next[i] = points[i];
            } else {
                apply_row_boundary(points, above, below, is_constant_column);
                Filter::template apply<POINTS>(Samples{points, above, below}, sums[SWEEP],
                                               [&](int i, T finished) { next[i] = finished; });
                if constexpr (EDGES && RADIUS_COLUMNS > 0) apply_column_boundary(next, column - RADIUS_COLUMNS);
                exchange_halo(next, above, below);
            }
            sweeps_from<SWEEP + 1, EDGES>(next, above, below, to, column - RADIUS_COLUMNS, interleaved);
        }
    }

    // The warp's last sweep, whose results go to the ring as they come: they take no registers.
    template <int SWEEP, class Interleaved>
    __device__ __forceinline__ void last_sweep(const T (&points)[POINTS], T (&above)[HALO], T (&below)[HALO],
                                               bool is_constant_column, Place<T> to, const Interleaved& interleaved) {
        apply_row_boundary(points, above, below, is_constant_column);
        T run[ACCESS];
        Filter::template apply<POINTS>(Samples{points, above, below}, sums[SWEEP], [&](int i, T finished) {
            run[i % ACCESS] = finished;
            if (i % ACCESS == ACCESS - 1) write_at<ACCESS>(to + (i - (ACCESS - 1)), run);
            interleaved(i);
        });
    }

    // Puts ghost values above the image's first row and below its last, unless the column is one of a constant.
    __device__ __forceinline__ void apply_row_boundary(const T (&points)[POINTS], T (&above)[HALO], T (&below)[HALO],
                                                       bool is_constant_column) const {
        if constexpr (Launch::OWN_SIDES) {
            // Most strips have no edge. A double would take two registers: it is read from the launch.
            if (!__any_sync(0xffffffff, has_first_row || has_last_row)) return;
            const T first = !edge.is_value ? points[0] : sizeof(T) == 4 ? edge.value : launch.row_constant(0);
            const T last = !edge.is_value ? points[POINTS - 1] : sizeof(T) == 4 ? edge.value : launch.row_constant(1);
#pragma unroll
            for (int i = 0; i < RADIUS_ROWS; ++i) {
                const T own = i == 0 || edge.is_flat ? first : points[i];
                above[i] = !has_first_row || is_constant_column ? above[i] : edge.is_mirror ? points[i + 1] : own;
            }
#pragma unroll
            for (int i = 0; i < RADIUS_ROWS; ++i) {
                const T own = i == 0 || edge.is_flat ? last : points[POINTS - 1 - i];
                const T beyond = edge.is_mirror ? points[POINTS - 2 - i] : own;
                below[i] = !has_last_row || is_constant_column ? below[i] : beyond;
            }
        } else {
            const unsigned int boundary = launch.row_boundary(0);
            if (has_first_row) {
#pragma unroll
                for (int i = 0; i < RADIUS_ROWS; ++i) {
                    above[i] = boundary == CONSTANT    ? launch.row_constant(0)
                               : boundary == REPLICATE ? points[0]
                                                       : points[i];
                }
            }
            if (has_last_row) {
#pragma unroll
                for (int i = 0; i < RADIUS_ROWS; ++i) {
                    below[i] = boundary == CONSTANT    ? launch.row_constant(0)
                               : boundary == REPLICATE ? points[POINTS - 1]
                                                       : points[POINTS - 1 - i];
                }
            }
        }
    }

    // Between two sweeps of this warp there is no ring, so a column outside of the image is put in place of what the
    // sweep made there; and a column that it will be is kept.
    __device__ __forceinline__ void apply_column_boundary(T (&points)[POINTS], int column) {
        if (launch.column_boundary(0) == CIRCULAR) return;
        const unsigned int low = launch.column_boundary(0), high = launch.column_boundary(1);
        const auto keep = [&](Place<T> to) { for_all([&](int i) { write_at<ACCESS>(to + i, points + i); }); };
        if (column < 0 || column >= launch.columns) {
            // Before the first column, what is no constant is put right later. There may be no kept column yet.
            const bool is_value = (column < 0 ? low : high) == CONSTANT;
            if (Launch::OWN_SIDES && column < 0 && !is_value) return;
            const Place<T> of_constant = constant + (column < 0 ? 0 : constant_behind(launch) * PITCH);
            const Place<T> instead = is_value ? of_constant : kept;
            for_all([&](int i) { read_at<ACCESS>(instead + i, points + i); });
        } else if constexpr (Launch::OWN_SIDES) {
            // The ring behind has room, as nothing is in it yet: for sums, for the first column, and for the second.
            const Place<T> first = behind + PITCH;
            const int mirrored = Launch::is_mirror(low);
            if (low != CONSTANT && column <= mirrored) {
                keep(first + column * PITCH);
                if (column == mirrored) restart_sums(first + column * PITCH, first);
            }
            if (high != CONSTANT && column == launch.columns - 1 - Launch::is_mirror(high)) keep(kept);
        } else if (low != CONSTANT && (column == 0 || column == launch.columns - 1)) {
            keep(kept);
            if (column == 0) restart_sums(kept, kept);
        }
    }

    // The column before the first one is the first, or in a mirror the second, which was not there when it was due. So
    // the sums that the first output has by now are computed here, point by point in shared memory: this is rare, and
    // registers are full. The ring behind has room for them.
    __device__ __forceinline__ void restart_sums(Place<T> before_first, Place<T> first) {
        const bool two = Launch::is_mirror(launch.column_boundary(0));
        __syncwarp();
#pragma unroll 1
        for (int i = 0; i < POINTS; ++i) {
            // The row at each place under the filter.
            int rows[2 * RADIUS_ROWS + 1];
#pragma unroll
            for (int d = 0; d <= RADIUS_ROWS; ++d) {
                const int above = boundary_source_row(0, d - 1 - i), below = boundary_source_row(1, i + d - POINTS);
                rows[RADIUS_ROWS - d] = i < d && has_first_row ? above : i - d;
                rows[RADIUS_ROWS + d] = i + d >= POINTS && has_last_row ? POINTS - 1 - below : i + d;
            }
            T sum = Filter::chain(0, [&](int r) { return sample_of(before_first, rows[RADIUS_ROWS + r]); }, T(0), 0);
            if (two) sum = Filter::chain(0, [&](int r) { return sample_of(first, rows[RADIUS_ROWS + r]); }, sum, 1);
            write_at<1>(behind + i, &sum);
        }
        if (two) {
            for_all([&](int i) { read_at<ACCESS>(behind + i, sums[SWEEPS - 1][0] + i); });
        } else {
            for_all([&](int i) { read_at<ACCESS>(behind + i, sums[SWEEPS - 1][2 * RADIUS_COLUMNS - 1] + i); });
        }
        // Next to come in these places is another column.
        if constexpr (Launch::OWN_SIDES) __syncwarp();
    }

    // The sample in a row of a column in shared memory. The row counts from this lane's first one, and `column` is this
    // lane's place. A row that is neither the lane's own nor a neighbour's is the constant above or below.
    __device__ __forceinline__ T sample_of(Place<T> column, int row) const {
        if (Launch::OWN_SIDES && row < 0 && has_first_row) return launch.row_constant(0);
        if (Launch::OWN_SIDES && row >= POINTS && has_last_row) return launch.row_constant(1);
        const int first = threadIdx.x * POINTS;
        T sample;
        read_at<1>(column + (place(first + row) - place(first)), &sample);
        return sample;
    }

    // How far from the edge the row lies that stands for a row `beyond` it, the nearest one being 0; -1 for a constant.
    __device__ __forceinline__ int boundary_source_row(int end, int beyond) const {
        if constexpr (Launch::OWN_SIDES) {
            const unsigned int boundary = launch.row_boundary(end);
            return boundary == CONSTANT ? -1 : boundary == REPLICATE ? 0 : beyond + Launch::is_mirror(boundary);
        } else {
            // Where RADIUS_ROWS is 1, both boundaries do the same.
            return RADIUS_ROWS == 1 || launch.row_boundary(end) == SYMMETRIC ? beyond : 0;
        }
    }
};

}  // namespace images
