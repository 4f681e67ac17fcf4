// Many sweeps of a convolution over images in one launch.
//
// A sweep that goes to device memory and back is bound by the bytes. Here a block takes a strip of rows through several
// sweeps, column by column: its warps are the stages of a pipeline, and each does STAGES sweeps. A lane holds POINTS
// neighbouring rows of the column that has come, and for each of the 2 * RADIUS outputs that the column is not the last
// for, what is summed up to now. So a column is used up as it comes: in the filter's column-major order an output gets
// one run of multiply-adds from each, which is its chain.
//
// In a slot of time each warp takes a column, then all meet at one barrier. What a warp has finished lies in a ring of
// columns in shared memory behind it and is the next warp's column a slot later. Such a ring is before the first warp,
// too, filled from device memory while a slot computes, and behind the last warp, from where columns go there.
//
// Strips overlap, and so do the segments of columns that blocks take: each sweep spoils RADIUS rows and columns at a
// side that is not the image's. At the image's own edges every sweep is true: a strip that touches the first or last
// row does so with the first or last lane, whose registers then tell what is outside; and each warp takes the columns
// that the boundary says, before the first and behind the last, as columns of their own, from what is in the ring. It
// is `extra` columns later then, and rings are deeper. Where two sweeps follow each other inside a warp there is no
// ring: what the first column and the last stand for is kept for that, which is all that a boundary can ask for where
// RADIUS is 1.
//
// For one that goes around, images are seen as going on: nothing has an edge.
#pragma once

#include "tensor.cuh"

namespace images {

constexpr int LANES = 32;

// So many warps of a block may sweep.
constexpr int WARPS = 4;
constexpr int THREADS = WARPS * LANES;

// So many slots ahead of the first warp a column comes from device memory.
constexpr int LEAD = 2;

// Elements in front of a ring's columns, and behind them: room for what the first and the last lane read beside them,
// and for 16 bytes to begin there.
constexpr int PAD = 4;

// What stands outside.
enum Boundary : unsigned int { CONSTANT, REPLICATE, SYMMETRIC, CIRCULAR };

// One launch. Its blocks are (page, strip, segment), the segment counting fastest. In each, so many warps do STAGES
// sweeps each.
template <typename T>
struct Launch {
    const T* input;
    T* output;
    long long rows;        // of an image, which lie next to each other
    double value;          // of the constant boundary
    int columns;           // of an image
    int strips;            // of an image
    int segments;          // of a strip: none has 2^24 columns
    int lanes;             // that work: POINTS * lanes <= rows
    int warps;             // that sweep
    int extra;             // how many columns later a warp takes a column than it could
    int depth;             // columns in a ring, at least extra + 2: the one before the first warp has LEAD - 1 more
    unsigned int turn;     // 2^32 / depth, rounded up
    unsigned int first_turn;  // the same of the ring before the first warp
    unsigned int at_once;  // whether columns of strips begin and end at multiples of 16 bytes
    unsigned int boundary;
};

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

template <int COUNT, typename T>
__device__ __forceinline__ void load(const T* from, T* to) {
    if constexpr (COUNT == 4) {
        read_four(from, to);
    } else {
        *to = *from;
    }
}

template <int COUNT, typename T>
__device__ __forceinline__ void store(T* to, const T* from) {
    if constexpr (COUNT == 4) {
        *reinterpret_cast<float4*>(to) = {from[0], from[1], from[2], from[3]};
    } else {
        *to = *from;
    }
}

// The columns that one warp takes, and the one of slot 0.
struct Columns {
    int first;
    int last;  // the one behind
    int zero;
};

// What a block has to know, in shared memory: sums and samples leave few registers for it.
struct Block {
    long long top;     // the first element of the strip in its image's first column
    long long input;   // the same in the column that comes next
    long long output;  // the first element that is written next
    int of_image;      // the column that comes next
    int height;        // of the strip
    int from;          // its rows that are written: from here on
    int to;            // and up to here
    int wrap;          // its rows that lie ahead of the image's end: the others lie before the first
    int first_strip;   // whether its first row is an edge
    int last_strip;
    int slots;
    int low;           // the columns that come: from here on
    int high;          // and up to here
    int begin;         // those that are written: from here on
    int end;           // and up to here
    int coming;        // the column that comes in slot 0: a warp takes it in the next one
    int leaving;       // the one that is written
    Columns columns[WARPS];
};

// No stage is so many columns ahead of the first that comes.
constexpr int EARLIEST = 64;

// Where a column of this number is in a ring: the number modulo the depth, for numbers up to 2^24. What has no place
// yet, ahead of the first column, may go where that will be.
template <typename T>
__device__ __forceinline__ int place_of(const Launch<T>& launch, int number) {
    const unsigned int place = number + EARLIEST * launch.depth;
    const unsigned int turn = (unsigned int)((unsigned long long)place * launch.turn >> 32);
    return place - turn * launch.depth;
}

// The same in the ring before the first warp.
template <typename T>
__device__ __forceinline__ int first_place_of(const Launch<T>& launch, int number) {
    const unsigned int depth = launch.depth + LEAD - 1;
    const unsigned int place = number + EARLIEST * depth;
    const unsigned int turn = (unsigned int)((unsigned long long)place * launch.first_turn >> 32);
    return place - turn * depth;
}

// One warp's part in the pipeline.
template <typename T, int RADIUS, int POINTS, int STAGES, class Filter>
struct Warp {
    static constexpr int ACCESS = Access<T, POINTS>::COUNT;
    static constexpr int PITCH = LANES * POINTS + 2 * PAD;
    static_assert(POINTS >= RADIUS, "what is outside of a lane's edge is told by that lane");
    static_assert(STAGES == 1 || (STAGES == 2 && RADIUS == 1), "what a boundary asks for inside a warp");

    const Launch<T>& launch;
    T* before;       // this lane's place in the ring before this warp
    T* behind;       // and behind it
    T* constant;     // its place in a column of the boundary's constant
    T* kept;         // its place in the column that is kept between two stages
    bool above_all;  // this lane's first row is the image's
    bool below_all;  // its last row
    T sums[STAGES][2 * RADIUS][POINTS];

    template <class Do>
    static __device__ __forceinline__ void for_all(const Do& at) {
#pragma unroll
        for (int i = 0; i < POINTS; i += ACCESS) at(i);
    }

    // A column of samples, from this lane's place there to its place in the ring behind this warp.
    template <bool EDGES>
    __device__ __forceinline__ void column(const T* from, T* to, int column) {
        T points[POINTS];
        T above[RADIUS];
        T below[RADIUS];
#pragma unroll
        for (int i = 0; i < RADIUS; ++i) above[i] = from[-1 - i];
        for_all([&](int i) { load<ACCESS>(from + i, points + i); });
#pragma unroll
        for (int i = 0; i < RADIUS; ++i) below[i] = from[POINTS + i];
        if constexpr (STAGES == 1) {
            sweep<0>(points, above, below, to);
        } else {
            T next[POINTS];
            outside(points, above, below);
            Filter::template apply<POINTS>(Samples{points, above, below}, sums[0],
                                           [&](int i, T finished) { next[i] = finished; });
            if constexpr (EDGES) between(next, column - RADIUS);
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) {
                above[i] = __shfl_up_sync(0xffffffff, next[POINTS - 1 - i], 1);
                below[i] = __shfl_down_sync(0xffffffff, next[i], 1);
            }
            sweep<1>(next, above, below, to);
        }
    }

private:
    // A lane's samples of a column, and those beside it.
    struct Samples {
        const T (&points)[POINTS];
        const T (&above)[RADIUS];
        const T (&below)[RADIUS];

        __device__ __forceinline__ T operator()(int i) const {
            if (i < 0) return above[i < 0 ? -1 - i : 0];
            return i < POINTS ? points[i < 0 || i >= POINTS ? 0 : i] : below[i < POINTS ? 0 : i - POINTS];
        }
    };

    // The last stage's sweep, whose results are stored as they come: they take no registers.
    template <int STAGE>
    __device__ __forceinline__ void sweep(const T (&points)[POINTS], T (&above)[RADIUS], T (&below)[RADIUS], T* to) {
        outside(points, above, below);
        T run[ACCESS];
        Filter::template apply<POINTS>(Samples{points, above, below}, sums[STAGE], [&](int i, T finished) {
            run[i % ACCESS] = finished;
            if (i % ACCESS == ACCESS - 1) store<ACCESS>(to + i - (ACCESS - 1), run);
        });
    }

    // What is outside of the image's rows.
    __device__ __forceinline__ void outside(const T (&points)[POINTS], T (&above)[RADIUS], T (&below)[RADIUS]) const {
        if (above_all) {
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) {
                above[i] = launch.boundary == CONSTANT    ? T(launch.value)
                           : launch.boundary == REPLICATE ? points[0]
                                                          : points[i];
            }
        }
        if (below_all) {
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) {
                below[i] = launch.boundary == CONSTANT    ? T(launch.value)
                           : launch.boundary == REPLICATE ? points[POINTS - 1]
                                                          : points[POINTS - 1 - i];
            }
        }
    }

    // A column between two stages, if it is the image's first or last, or outside.
    __device__ __forceinline__ void between(T (&points)[POINTS], int column) {
        if (launch.boundary == CIRCULAR) return;
        if (column < 0 || column >= launch.columns) {
            const T* instead = launch.boundary == CONSTANT ? constant : kept;
            for_all([&](int i) { load<ACCESS>(instead + i, points + i); });
        } else if (launch.boundary != CONSTANT && (column == 0 || column == launch.columns - 1)) {
            for_all([&](int i) { store<ACCESS>(kept + i, points + i); });
            if (column == 0) begin();
        }
    }

    // The column before the first is the first, and was not there when it was due. What the sums for the first have of
    // it is computed in shared memory, point by point: this is rare, and registers are full. The ring behind has room:
    // nothing is in it yet.
    __device__ __forceinline__ void begin() {
        __syncwarp();
#pragma unroll 1
        for (int i = 0; i < POINTS; ++i) {
            const int up = i == 0 && above_all ? i : i - 1;
            const int down = i == POINTS - 1 && below_all ? i : i + 1;
            behind[i] = Filter::first([&](int r) { return kept[r < 0 ? up : r > 0 ? down : i]; });
        }
        for_all([&](int i) { load<ACCESS>(behind + i, sums[STAGES - 1][2 * RADIUS - 1] + i); });
    }
};

// What this block takes, for thread 0.
template <typename T, int RADIUS, int POINTS, int STAGES>
__device__ __forceinline__ void lay_out(const Launch<T>& launch, Block& block) {
    constexpr int WARP_REACH = STAGES * RADIUS;
    const bool circular = launch.boundary == CIRCULAR;
    const int reach = launch.warps * WARP_REACH;
    const int segment = blockIdx.x % launch.segments;
    const int strip = blockIdx.x / launch.segments % launch.strips;
    const long long page = blockIdx.x / launch.segments / launch.strips;
    // The rows of the strip, and which of them this block writes.
    const int height = launch.lanes * POINTS;
    const int step = height - 2 * reach;
    const bool first_strip = strip == 0 && !circular;
    const bool last_strip = strip == launch.strips - 1 && !circular;
    const long long wanted = (long long)strip * step + (first_strip || circular ? 0 : reach);
    const long long top = circular ? wanted - reach : last_strip ? launch.rows - height : (long long)strip * step;
    const long long below = launch.rows - top;
    block.top = page * launch.rows * launch.columns + (top < 0 ? launch.rows + top : top);
    block.output = page * launch.rows * launch.columns + wanted;
    block.height = height;
    block.from = (int)(wanted - top);
    block.to = last_strip ? height : (int)least(below, (long long)(height - reach));
    block.wrap = (int)least(top < 0 ? -top : below, (long long)height);
    block.first_strip = first_strip;
    block.last_strip = last_strip;
    // The columns that it writes, and those that each warp needs for that.
    const int begin = (int)((long long)launch.columns * segment / launch.segments);
    const int end = (int)((long long)launch.columns * (segment + 1) / launch.segments);
    const int start = circular ? begin - reach : most(begin - reach, -RADIUS);
    const int stop = circular ? end + reach : least(end + reach, launch.columns + WARP_REACH);
    const int lag = WARP_REACH + 1 + launch.extra;
    for (int w = 0; w < launch.warps; ++w) {
        const int rest = reach - w * WARP_REACH;
        block.columns[w].first = most(start, begin - rest);
        block.columns[w].last = least(stop, end + rest);
        block.columns[w].zero = start - w * lag;
    }
    block.low = circular ? start : most(start, 0);
    block.high = circular ? stop : least(stop, launch.columns);
    block.of_image = block.low % launch.columns;
    if (block.of_image < 0) block.of_image += launch.columns;
    block.input = block.top + block.of_image * launch.rows;
    block.output += begin * launch.rows;
    block.begin = begin;
    block.end = end;
    block.coming = start + LEAD + launch.extra;
    block.leaving = start - launch.warps * lag;
    block.slots = end - block.leaving;
}

// Goes on from a column of the strip to its successor, for the next slot.
__device__ __forceinline__ long long next_column(Block& block, long long rows, int columns) {
    const long long at = block.input;
    const bool around = ++block.of_image == columns;
    block.input = around ? block.top : at + rows;
    if (around) block.of_image = 0;
    return at;
}

// A column of the strip comes, by all threads: it is there when all have waited for their copies.
template <typename T>
__device__ __forceinline__ void bring(const Launch<T>& launch, const Block& block, T* to, int column) {
    if (column < 0 || column >= launch.columns) {
        column %= launch.columns;
        if (column < 0) column += launch.columns;
    }
    const T* from = launch.input + block.top + column * launch.rows;
#pragma unroll 1
    for (int i = threadIdx.x; i < block.height; i += THREADS) {
        copy_element(to + i, from + i - (i < block.wrap ? 0 : launch.rows));
    }
}

// The next column comes, by one thread, as a whole: it is there when the barrier says so.
template <typename T>
__device__ __forceinline__ void bring_at_once(const Launch<T>& launch, Block& block, T* to, Barrier* barrier) {
    const T* from = launch.input + next_column(block, launch.rows, launch.columns);
    const int bytes = block.height * (int)sizeof(T);
    const int first = block.wrap * (int)sizeof(T);
    arrive(barrier, bytes);
    copy_bulk(to, from, first, barrier);
    if (first < bytes) copy_bulk(to + block.wrap, from + block.wrap - launch.rows, bytes - first, barrier);
}

// A column of the strip goes, by all threads.
template <typename T>
__device__ __forceinline__ void take(const Launch<T>& launch, const Block& block, const T* from, int column) {
    T* to = launch.output + block.output + (column - block.begin) * launch.rows;
#pragma unroll 1
    for (int i = threadIdx.x; i < block.to - block.from; i += THREADS) to[i] = from[block.from + i];
}

// The next column goes, by one thread, as a whole.
template <typename T>
__device__ __forceinline__ void take_at_once(const Launch<T>& launch, Block& block, const T* from) {
    const long long at = block.output;
    block.output = at + launch.rows;
    copy_bulk_out(launch.output + at, from + block.from, (block.to - block.from) * (int)sizeof(T));
}

template <typename T, int RADIUS, int POINTS, int STAGES, class Filter>
__device__ __forceinline__ void sweep_images(const Launch<T>& launch) {
    typedef Warp<T, RADIUS, POINTS, STAGES, Filter> Stages;
    constexpr int PITCH = Stages::PITCH;
    constexpr int WARP_REACH = STAGES * RADIUS;
    DYNAMIC_SHARED(T, memory);
    __shared__ Block block;
    __shared__ Barrier arrived[4];  // for columns by their number modulo 4
    const int thread = threadIdx.x;
    const int lane = thread % LANES;
    // The same for all lanes, which the compiler cannot know: what is the same for a warp takes no registers of a lane.
    const int warp = __shfl_sync(0xffffffff, thread / LANES, 0);
    const int ring = launch.depth * PITCH;
    const int first_ring = ring + (LEAD - 1) * PITCH;
    const bool circular = launch.boundary == CIRCULAR;
    T* constant = memory + first_ring + launch.warps * ring;
    for (int i = thread; i < PITCH; i += THREADS) constant[i] = T(launch.value);
    if (thread == 0) {
        lay_out<T, RADIUS, POINTS, STAGES>(launch, block);
        for (int i = 0; i < 4; ++i) make_barrier(arrived + i, 1);
        barriers_are_made();
    }
    __syncthreads();

    Stages stages = {launch};
    const int own_ring = warp == 0 ? first_ring : ring;
    stages.behind = memory + first_ring + warp * ring + PAD + lane * POINTS;
    stages.before = stages.behind - own_ring;
    stages.constant = constant + PAD + lane * POINTS;
    stages.kept = constant + PITCH + PAD + thread * POINTS;
    stages.above_all = block.first_strip && lane == 0;
    stages.below_all = block.last_strip && lane == launch.lanes - 1;
#pragma unroll
    for (int s = 0; s < STAGES; ++s) {
#pragma unroll
        for (int q = 0; q < 2 * RADIUS; ++q) {
#pragma unroll
            for (int i = 0; i < POINTS; ++i) stages.sums[s][q][i] = 0;
        }
    }

    // Work beside the sweeps goes to different warps, for none to be later than the others.
    const bool by_pieces = !launch.at_once;
    const bool awaits = !by_pieces && warp == 0;
    const bool brings = !by_pieces && warp == least(1, launch.warps - 1);
    const bool takes = !by_pieces && warp == least(2, launch.warps - 1);
    const bool publishes = !by_pieces && warp == launch.warps - 1;
    // The slots in which this warp has a column.
    const bool sweeps = warp < launch.warps;
    const int zero = sweeps ? block.columns[warp].zero : 0;
    const int first = sweeps ? block.columns[warp].first - zero : 0;
    const int last = sweeps ? block.columns[warp].last - zero : 0;
    // Those in which it is one of many: no stage sees an edge in it, a column comes, and one goes.
    int inner = circular ? first : most(first, WARP_REACH - zero);
    int outer = circular ? last : least(last, launch.columns - 1 - zero);
    if (awaits || brings || by_pieces) {
        inner = most(inner, block.low + LEAD - block.coming);
        outer = least(outer, block.high - block.coming);
    }
    if (takes || by_pieces) {
        inner = most(inner, block.begin - block.leaving);
        outer = least(outer, block.end - block.leaving);
    }

    const auto own_place_of = [&](int number) {
        return warp == 0 ? first_place_of(launch, number) : place_of(launch, number);
    };
    // What comes and goes in a slot, at which places of the rings. A column that comes is for a slot
    // LEAD later, one that goes was the last slot's.
    const auto begin_slot = [&](int slot, int coming_to, int leaving_from, bool comes, bool came, bool goes) {
        const int coming = block.coming + slot - block.low;
        if (by_pieces) {
            if (comes) bring(launch, block, memory + coming_to + PAD, coming + block.low);
            if (goes) take(launch, block, memory + leaving_from + PAD, block.leaving + slot);
        } else if (lane == 0) {
            if (brings && comes) bring_at_once(launch, block, memory + coming_to + PAD, arrived + (coming & 3));
            if (takes && goes) take_at_once(launch, block, memory + leaving_from + PAD);
        }
        if (awaits && came) wait(arrived + ((coming - LEAD) & 3), (coming - LEAD) >> 2 & 1);
    };
    const auto end_slot = [&]() {
        if (by_pieces) {
            end_group();
            wait_groups<0>();
        }
        if (publishes) writes_before_copies();
        if (takes && lane == 0) wait_until_read();
        meet<THREADS>();
    };
    const int output_ring = first_ring + (launch.warps - 1) * ring;
    // The first slots only bring columns.
    int slot = -LEAD - launch.extra;
#pragma unroll 1
    while (slot < block.slots) {
        if (slot >= inner && slot < outer) {
            // Places in rings go round.
            int from = own_place_of(zero + slot - block.low) * PITCH;
            int to = place_of(launch, zero + slot - WARP_REACH - block.low) * PITCH;
            int coming_to = first_place_of(launch, block.coming + slot - block.low) * PITCH;
            int leaving_from = place_of(launch, block.leaving + slot - block.low) * PITCH;
#pragma unroll 1
            do {
                begin_slot(slot, coming_to, output_ring + leaving_from, true, true, true);
                stages.template column<false>(stages.before + from, stages.behind + to, 0);
                from = from + PITCH == own_ring ? 0 : from + PITCH;
                to = to + PITCH == ring ? 0 : to + PITCH;
                coming_to = coming_to + PITCH == first_ring ? 0 : coming_to + PITCH;
                leaving_from = leaving_from + PITCH == ring ? 0 : leaving_from + PITCH;
                end_slot();
            } while (++slot < outer);
        } else {
            const int coming = block.coming + slot;
            const int leaving = block.leaving + slot;
            begin_slot(slot, first_place_of(launch, coming - block.low) * PITCH,
                       output_ring + place_of(launch, leaving - block.low) * PITCH,
                       coming >= block.low && coming < block.high,
                       coming >= block.low + LEAD && coming < block.high + LEAD,
                       leaving >= block.begin && leaving < block.end);
            if (slot >= first && slot < last) {
                const int column = zero + slot;
                int place = column;
                if (!circular && (column < 0 || column >= launch.columns)) {
                    // The boundary says which column it is, or that there is none.
                    if (launch.boundary == REPLICATE) {
                        place = column < 0 ? 0 : launch.columns - 1;
                    } else if (launch.boundary == SYMMETRIC) {
                        do place = (place < 0 ? 0 : 2 * launch.columns) - 1 - place;
                        while (place < 0 || place >= launch.columns);
                    }
                }
                const bool none = !circular && (place < 0 || place >= launch.columns);
                const T* from = none ? stages.constant : stages.before + own_place_of(place - block.low) * PITCH;
                const int to = place_of(launch, column - WARP_REACH - block.low) * PITCH;
                stages.template column<true>(from, stages.behind + to, column);
            }
            end_slot();
            ++slot;
        }
    }
    if (takes && lane == 0) wait_until_written();
}

}  // namespace images
