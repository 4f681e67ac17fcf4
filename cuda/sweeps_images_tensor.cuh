// Warps that sweep images by 7 x 7 on tensor cores, in double: another kind of stage for the pipeline of
// sweeps_images.cuh.
//
// A warp takes a column of samples a slot, as the others do, and multiplies it for the seven columns of outputs that need
// it. Each of these has a place among the accumulators, one of eight, in turn. A group is two neighbouring rows; A is the
// 8 samples that each of 16 groups needs, B the taps laid into a band: what two rows of four places need of these
// samples. The band turns from column to column; it comes from a table in shared memory. Of the multiply-adds 77% are the
// filter's.
//
// Shared memory would be what takes longest. So the groups that a lane has samples of, tile by tile, follow each other
// by four rows: the second half of a group's samples is the first half of the next one's, and is read once. And the
// columns of B are ordered such that every other lane has a part of the column that is finished.
//
// So each output is the chain of fused multiply-adds from +0 in the filter's column-major order, with products with zeros
// among them. Such a product changes two things, and nothing else (see tensor_strips.cuh and sweeps_tensor.cuh):
//  - It is NaN where the sample is infinite or NaN, and then what comes of it in the last sweep is, too: its results tell.
//  - It may turn a sum of -0 into +0, where a sample is too near to zero: the samples of the last sweep tell.
// A block looks at these two. If it meets them, it says so for its `turn`, a run of launches: all launches of that turn
// on tensor cores end at once from then on, and those that come behind each of them, of the kernel without tensor cores,
// do what these had to do. Else they have nothing to do.
#pragma once

#include "sweeps_images.cuh"

namespace images {

// A strip is TILES times 16 groups. `Entries` has the filter's.
template <class OfLaunch, int TILES, class Entries>
struct TensorWarp {
    typedef OfLaunch Launch;
    typedef double T;
    static constexpr int SIZE = 7;
    static constexpr int PLACES = 8;
    static constexpr int TILE_PLACES = 4;
    static constexpr int HEIGHT = 32 * TILES;
    // Rows of two neighbouring lanes' groups in all tiles.
    static constexpr int SPAN = 4 * TILES;
    static constexpr int RADIUS_ROWS = SIZE / 2, RADIUS_COLUMNS = SIZE / 2;
    static constexpr int POINTS = HEIGHT / LANES, STAGES = 1;
    static constexpr int PITCH = HEIGHT + 2 * PAD;
    static constexpr int GAP = 0, GROUP = LANES;
    static constexpr bool AHEAD = false;
    static constexpr int LEAD = 3;
    static constexpr bool POINTERS = false;
    static constexpr bool LOOKS = true;
    static constexpr int TURN = PLACES;
    static_assert(SPAN % 16 == 8, "the banks of 16 lanes' samples are apart");
    static_assert(POINTS == TILES, "each tile has its part of what is done beside");

    // Elements of the table: for each turn of the band two numbers of a lane, which are for its samples q and q + 4. In
    // launches OfSides the constants above and below come behind them.
    static constexpr int BAND = PLACES * 2 * LANES;
    static constexpr int TABLE = Launch::OWN_SIDES ? BAND + 2 : BAND;

    const Launch& launch;
    Place<double> before;      // the first row's place in the ring before this warp
    Place<double> behind;      // and behind it
    Place<double> constant;    // in the first column of a constant
    Place<double> outside;     // of launches OfSides: the constant above this lane's rows, or below them
    Place<double> table;       // this lane's first number
    unsigned int own;          // the row of this lane's sample q in its first tile
    unsigned int top;          // the one that is read for it, which may be outside
    unsigned int bottom;       // and behind the last tile, in the strip's lower half
    unsigned int written;      // the first row that it may write
    unsigned int odd;          // whether q is odd
    unsigned int is_constant;  // 1 if a constant stands for `top`, 2 for `bottom`
    double sums[TILES][2][4];

    // The first row of a group in the first tile. The others are four rows below each other.
    static __device__ __forceinline__ int group(int number) { return number / 2 * SPAN + number % 2 * 2; }

    // `ring` is behind the warp, `own_ring` elements behind the one before it; the columns of constants, or room for one if
    // all sides have one boundary, are at `constant`, and behind them is the table.
    __device__ __forceinline__ TensorWarp(const Launch& launch, const Block& block, double* ring,
                                          unsigned int own_ring, double* constant)
        : launch(launch) {
        const int lane = threadIdx.x % LANES;
        const int q = lane % 4;
        behind = kept_place(ring + PAD);
        before = kept_place(ring + PAD - own_ring);
        this->constant = place_at(constant + PAD);
        double* const band = constant + (Launch::OWN_SIDES ? constants(launch) : 1) * PITCH;
        for (int at = threadIdx.x; at < BAND; at += THREADS) {
            // Which place and which row a column of B is for, the first place being the one that is finished, and what
            // that needs of the sample.
            const int of = at % LANES / 4;
            const int column = SIZE - 1 - (at / LANES / 2 + of % TILE_PLACES) % PLACES;
            const int row = at % LANES % 4 + at / LANES % 2 * 4 - of / TILE_PLACES;
            const bool has = column >= 0 && row >= 0 && row < SIZE;
            band[at] = has ? Entries::at(has ? row : 0, has ? column : 0) : 0.0;
        }
        if (Launch::OWN_SIDES && threadIdx.x < 2) band[BAND + threadIdx.x] = launch.value_of_rows(threadIdx.x);
        table = kept_place(band + lane);
        __syncthreads();
        const unsigned int beyond[2] = {launch.beyond_rows(0), launch.beyond_rows(1)};
        const int mirror[2] = {Launch::is_mirror(beyond[0]), Launch::is_mirror(beyond[1])};
        const int first = group(lane / 4) + q - RADIUS_ROWS;
        const bool is_above = first < 0 && block.first_strip;
        const int above = beyond[0] == SYMMETRIC || mirror[0] ? mirror[0] - 1 - first : 0;
        const int last = first + HEIGHT / 2 + SPAN;
        const bool is_below = last >= HEIGHT && block.last_strip;
        const int below = beyond[1] == SYMMETRIC || mirror[1] ? 2 * HEIGHT - 1 - mirror[1] - last : HEIGHT - 1;
        own = kept_number(first);
        top = kept_number(is_above && beyond[0] != CONSTANT ? above : first);
        bottom = kept_number(is_below && beyond[1] != CONSTANT ? below : last);
        written = kept_number(group(lane / 4) + q / 2);
        odd = kept_number(q % 2);
        // No lane has the first row and the last.
        const bool is_value = launch.beyond_rows(is_below ? 1 : 0) == CONSTANT;
        is_constant = kept_number(is_value ? (is_above ? 1 : 0) + (is_below ? 2 : 0) : 0);
        if constexpr (Launch::OWN_SIDES) outside = kept_place(band + BAND + (is_below ? 1 : 0));
#pragma unroll
        for (int m = 0; m < TILES; ++m) {
#pragma unroll
            for (int t = 0; t < 2; ++t) {
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[m][t][i] = 0;
            }
        }
    }

    static __device__ __forceinline__ int place(int row) { return row; }

    // The place that a column finishes.
    static __device__ __forceinline__ int turn_of(int column) {
        return (unsigned int)(column + EARLIEST * PLACES - RADIUS_COLUMNS) % PLACES;
    }

    // A column of samples, from the first row's place there to that in the ring behind this warp.
    //
    // `beside` is called POINTS times, for what can be done meanwhile. `column` is the column's number.
    template <bool EDGES, class Beside>
    __device__ __forceinline__ void column(Place<double> from, Place<double> to, int column, const Beside& beside) {
        // A column of a constant hides what is above and below.
        const unsigned int own = is_constant;
        if (Launch::OWN_SIDES && images::is_constant(launch, column)) is_constant = 0;
        inner_column(turn_of(column), from, to, beside);
        is_constant = own;
    }

    // The same for one that finishes this place.
    template <class Beside>
    __device__ __forceinline__ void inner_column(int done, Place<double> from, Place<double> to, const Beside& beside) {
        if (done < TILE_PLACES) {
            if (done % 2 == 0) {
                multiply<0, 0>(from, to, done, beside);
            } else {
                multiply<0, 1>(from, to, done, beside);
            }
        } else {
            if (done % 2 == 0) {
                multiply<1, 0>(from, to, done, beside);
            } else {
                multiply<1, 1>(from, to, done, beside);
            }
        }
    }

private:
    // DONE is the tile of places with the one that is finished, and SECOND which of two of a lane's numbers it is.
    template <int DONE, int SECOND, class Beside>
    __device__ __forceinline__ void multiply(Place<double> from, Place<double> to, int done, const Beside& beside) {
        double b[2][2];
#pragma unroll
        for (int t = 0; t < 2; ++t) {
            const int turn = (t * TILE_PLACES - done + PLACES) % PLACES;
            const Place<double> part = table + turn * (2 * LANES);
            read_at<1>(part, &b[t][0]);
            read_at<1>(part + LANES, &b[t][1]);
        }
        const Place<double> shown = Launch::OWN_SIDES ? outside : constant;
        const bool mine = odd == (unsigned int)(done % TILE_PLACES / 2);
        const Place<double> own_to = to + (int)written;
        const Place<double> own_from = from + (int)own;
        const Place<double> top_from = is_constant & 1 ? shown : from + (int)top;
        const Place<double> bottom_from = is_constant & 2 ? shown : from + (int)bottom;
        // The samples q of a tile's groups, in the strip's upper half and in its lower one. Those of the next tile are
        // the samples q + 4.
        double a[3][2];
        const auto load = [&](int m) {
            read_at<1>(m == 0 ? top_from : own_from + 4 * m, &a[m % 3][0]);
            read_at<1>(m == TILES ? bottom_from : own_from + (HEIGHT / 2 + 4 * m), &a[m % 3][1]);
        };
        const auto finish = [&](int m) {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                double& sum = sums[m][DONE][2 * i + SECOND];
                write_if(mine, own_to + (i * (HEIGHT / 2) + 4 * m), sum);
                sum = mine ? 0.0 : sum;
            }
        };
        load(0);
        load(1);
#pragma unroll
        for (int m = 0; m < TILES; ++m) {
            if (m + 2 <= TILES) load(m + 2);
            const double(&first)[2] = a[m % 3];
            const double(&second)[2] = a[(m + 1) % 3];
            // Four samples at a time: eight would have to lie in neighbouring registers. What is finished comes first.
            multiply_4(sums[m][DONE], first[0], first[1], b[DONE][0]);
            multiply_4(sums[m][1 - DONE], first[0], first[1], b[1 - DONE][0]);
            multiply_4(sums[m][DONE], second[0], second[1], b[DONE][1]);
            multiply_4(sums[m][1 - DONE], second[0], second[1], b[1 - DONE][1]);
            if (m > 0) finish(m - 1);
            beside(m);
        }
        finish(TILES - 1);
    }
};

}  // namespace images
