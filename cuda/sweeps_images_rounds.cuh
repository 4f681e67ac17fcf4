// Many rounds of several sweeps each in one launch: see sweeps_images.cuh for a round.
//
// A launch that ends leaves its pipeline empty, and the next one has to fill it: with 3 x 3 in single that takes 25 of
// 382 slots. Here a block goes from one round into the next without a pause. Its columns are a stream: behind the last
// one of a round comes the first one of the next. What sums hold of the round before spoils no more columns than sums
// that begin, and those are spoiled anyway.
//
// For that the first columns of a round have to be there when the last ones of the round before have just come. So in each
// round a block's columns begin, and end, as many columns later as a round spoils: the first one that it needs is the
// first one that it wrote itself. At the image's own edges columns end where they do; so the first blocks have more and
// more columns, the last ones fewer.
//
// What a block needs of its neighbours they have written half a round ago, if all are as fast. It asks at the beginning
// of a round and in the middle: each block tells in device memory how many halves of rounds it has written. So all
// blocks have to run at the same time.
//
// Two buffers are enough, of which the first may be the input: where a block writes, all have read what it overwrites.
//   Blocks above and below read the same columns, and were asked for the round before. Those behind read the last columns
//   of this one, in the beginning of their round: they were asked in the middle. Those before read none of them.
//
// For images that have strips of at least twice as many rows as a round spoils, and segments several times as long as the
// pipeline.
#pragma once

#include "sweeps_images.cuh"

namespace images {

#ifdef __CUDACC_RTC__
// Waits until what other blocks tell, one to each lane, is at least so much; what they had written before is seen from now
// on. All lanes wait: the compiler has to see that they stay together.
__device__ __forceinline__ void wait_for(const unsigned long long* told, unsigned long long least) {
    unsigned long long now;
    do {
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(told) : "memory");
    } while (__any_sync(0xffffffff, now < least));
}
// Tells it if a number is not 0, when this block has written and met.
__device__ __forceinline__ void tell_if(unsigned int tells, unsigned long long* told, unsigned long long now) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %2, 0;\n"
        "@p fence.acq_rel.gpu;\n"
        "@p st.release.gpu.global.u64 [%0], %1;\n"
        "}" ::"l"(told),
        "l"(now), "r"(tells)
        : "memory");
}
#else
__device__ inline void wait_for(const unsigned long long* told, unsigned long long least) {
    stand_in_wait_for(told, least);
    __syncwarp();
}
__device__ inline void tell_if(unsigned int tells, unsigned long long* told, unsigned long long now) {
    if (tells != 0) stand_in_tell(told, now);
}
#endif

template <typename Real>
struct RoundsLaunch : Launch<Real> {
    typedef Real T;

    T* other;                    // where rounds write that are not written to the output: every second one
    unsigned long long written;  // no block has told more halves of rounds before this launch
    int rounds;
};

// As many blocks may be in a launch.
constexpr int MOST_BLOCKS = 1024;

// Of a block, what each round has, in shared memory.
struct Rounds {
    int begin, end;              // the columns that are written in the first round
    int begin_shift, end_shift;  // how far they move in a round
    int start, start_shift;      // the first column that comes
    int length, growth;          // slots of the stream of a round, and how many more the next one has
    int idle;                    // of these, slots at the end in which nothing is taken
    int total;                   // slots of the stream of all
    int segment;
    // Blocks that it asks, and how many: above and below; and those with the three behind.
    unsigned long long* own;
    const unsigned long long* asked[5];
    int vertical, all;

    __device__ __forceinline__ int origin(int round) const {
        return round * length + growth * (round * (round - 1) / 2);
    }
    // The round of a slot of the stream, of the first one for any before.
    __device__ __forceinline__ int round_of(int slot) const {
        if (slot < length) return 0;
        if (growth == 0) return slot / length;
        int round = 1;
        while (slot >= origin(round + 1)) ++round;
        return round;
    }
    __device__ __forceinline__ int length_of(int round) const { return length + round * growth; }
    __device__ __forceinline__ int begin_of(int round) const { return begin + round * begin_shift; }
    __device__ __forceinline__ int end_of(int round) const { return end + round * end_shift; }
    __device__ __forceinline__ int start_of(int round) const { return start + round * start_shift; }
    __device__ __forceinline__ int half_of(int round) const { return (end_of(round) - begin_of(round)) / 2; }
};

// What the rounds are, for thread 0, when `block` says what the first one would be alone.
template <class Stages, class Launch>
__device__ __forceinline__ void lay_out_rounds(const Launch& launch, const Block& block, unsigned long long* progress,
                                               Rounds& rounds) {
    constexpr int WARP_REACH = Stages::STAGES * Stages::RADIUS_COLUMNS;
    const bool around_rows = launch.beyond_rows(0) == CIRCULAR, around_columns = launch.beyond_columns(0) == CIRCULAR;
    const int reach = launch.warps * WARP_REACH;
    const int lag = WARP_REACH + 1 + Stages::AHEAD;
    const bool alike = launch.share == 0;
    const unsigned int half = alike ? gridDim.x : gridDim.x / 2;
    const bool second = blockIdx.x >= half;
    const unsigned int number = second ? blockIdx.x - half : blockIdx.x;
    const int runs = alike ? launch.segments : launch.segments / 2;
    const int segment = alike ? number % runs : 2 * (number % runs) + second;
    const int strip = number / runs % launch.strips;
    const int page = number / runs / launch.strips;
    const bool first = segment == 0 && !around_columns, last = segment == launch.segments - 1 && !around_columns;
    // In the middle of the rounds the columns are those of a launch of one.
    const int back = around_columns ? 0 : reach * (launch.rounds - 1) / 2;
    rounds.begin = first ? 0 : block.begin - back;
    rounds.end = last ? launch.columns : block.end - back;
    rounds.begin_shift = first ? 0 : reach;
    rounds.end_shift = last ? 0 : reach;
    rounds.start = first ? -Stages::RADIUS_COLUMNS : rounds.begin - reach;
    rounds.start_shift = rounds.begin_shift;
    // Where a boundary stands for columns, warps take what is in a ring later than that is written over.
    rounds.idle = first || last ? lag + 1 : 0;
    const int stop = last ? launch.columns + WARP_REACH : rounds.end + reach;
    rounds.length = stop - rounds.start + rounds.idle;
    rounds.growth = first ? reach : last ? -reach : 0;
    rounds.segment = segment;
    rounds.total = rounds.origin(launch.rounds);
    const auto progress_of = [&](int strip, int segment) {
        return progress + (page * launch.strips + strip) * launch.segments + segment;
    };
    const int next = segment + 1 < launch.segments ? segment + 1 : 0;
    rounds.own = progress_of(strip, segment);
    int asked = 0;
    const int above = strip > 0 ? strip - 1 : launch.strips - 1, below = strip + 1 < launch.strips ? strip + 1 : 0;
    const bool has_above = strip > 0 || around_rows, has_below = strip + 1 < launch.strips || around_rows;
    if (has_above) rounds.asked[asked++] = progress_of(above, segment);
    if (has_below) rounds.asked[asked++] = progress_of(below, segment);
    rounds.vertical = asked;
    if (!last) {
        if (has_above) rounds.asked[asked++] = progress_of(above, next);
        rounds.asked[asked++] = progress_of(strip, next);
        if (has_below) rounds.asked[asked++] = progress_of(below, next);
    }
    rounds.all = asked;
}

// What a block does, by warps of this kind and by copies of WIDE elements. `progress` is of all blocks, by page, strip and
// segment: how many halves of rounds each has written.
template <class Stages, int WIDE>
__device__ __forceinline__ void sweep_rounds(const typename Stages::Launch& launch, unsigned long long* progress) {
    typedef typename Stages::Launch Launch;
    typedef typename Stages::T T;
    constexpr int POINTS = Stages::POINTS, STAGES = Stages::STAGES;
    constexpr int RADIUS_COLUMNS = Stages::RADIUS_COLUMNS;
    typedef Pieces<Stages, WIDE> Copies;
    constexpr int PITCH = Stages::PITCH;
    constexpr int WARP_REACH = STAGES * RADIUS_COLUMNS;
    constexpr int LAG = WARP_REACH + 1 + Stages::AHEAD;
    DYNAMIC_SHARED(T, memory);
    __shared__ Block block;
    __shared__ Rounds rounds;
    const int thread = threadIdx.x;
    const int warp = __shfl_sync(0xffffffff, thread / LANES, 0);
    const unsigned int ring = launch.depth * PITCH;
    const unsigned int first_ring = ring + (LEAD - 1) * PITCH;
    const bool circular = launch.beyond_columns(0) == CIRCULAR;
    T* constant = memory + first_ring + launch.warps * ring;
    if (launch.beyond_columns(0) == CONSTANT) {
        for (int i = thread; i < PITCH; i += THREADS) constant[i] = launch.value_of_columns(0);
    }
    __shared__ Barrier met;
    if (thread == 0) {
        lay_out<Stages>(launch, block);
        // Where the strip's first row is written in the image's first column.
        block.output -= block.begin * launch.column_step;
        lay_out_rounds<Stages>(launch, block, progress, rounds);
        if constexpr (Stages::AHEAD) make_barrier(&met, WARPS);
    }
    __syncthreads();

    const unsigned int own_ring = warp == 0 ? first_ring : ring;
    Stages stages(launch, block, memory + first_ring + warp * ring, own_ring, constant);
    // In the slots that are like any other, what of a column is copied in them: found out anew for each run of these, so
    // that it takes no more registers.
    Copies copies(block, launch.rows);
    const auto pieces_of = [&](bool comes, bool leaves) {
        unsigned int coming = 0, leaving = 0;
        const int count = here(thread * WIDE);
#pragma unroll
        for (int k = 0; k < Copies::COUNT; ++k) {
            const int at = count + k * Copies::STEP;
            if (count < Copies::STEP && at < block.height) coming |= 1u << k;
            if (count < Copies::STEP && at < block.to - block.from) leaving |= 1u << k;
        }
        copies.coming = comes ? coming : 0;
        copies.leaving = leaves ? leaving : 0;
    };
    const Place<T> coming_here = kept_place(memory + PAD + Stages::place(thread * WIDE));
    const Place<T> leaving_here = kept_place(memory + first_ring + (launch.warps - 1) * ring + PAD +
                                             Stages::place(block.from + thread * WIDE));
    int alike = 0;
    const T* before = nullptr;
    T* output = nullptr;
    unsigned int from = 0, to = 0, coming_to = 0, leaving_from = 0;
    const int first_depth = launch.depth + LEAD - 1;
    const int own_depth = warp == 0 ? first_depth : launch.depth;
    const auto next = [](unsigned int place, unsigned int ring) {
        return least(place + PITCH, place + PITCH - ring);
    };
    T held[WIDE];
    const auto copy = [&](int i) {
        constexpr int EACH = POINTS / Copies::COUNT;
        const int k = i / EACH;
        if (k >= Copies::COUNT) return;
        if (i % EACH == 0) {
            copies.bring(k, coming_here + coming_to, before);
            copies.read(k, leaving_here + leaving_from, held);
        } else if (i % EACH == EACH - 1) {
            copies.write(k, output, held);
        }
    };
    const auto written_by = [&](int round) { return (launch.rounds - 1 - round) % 2 == 0 ? launch.output : launch.other; };
    const auto read_by = [&](int round) { return round == 0 ? launch.input : written_by(round - 1); };
    // Waits until those above and below have written so many halves of rounds, and those behind one less, of as many
    // blocks as are asked. Each warp asks for itself.
    const auto ask = [&](int count, int halves) {
        if (count == 0) return;
        const int which = least(thread % LANES, count - 1);
        wait_for(rounds.asked[which], launch.written + halves - (which < rounds.vertical ? 0 : 1));
    };
    // Positions in the stream: of the column that comes in a slot, of the one that goes, and of the one that this warp
    // takes.
    const auto coming_in = [&](int slot) { return slot + LEAD + Stages::AHEAD; };
    const auto leaving_in = [&](int slot) { return slot - launch.warps * LAG; };
    const auto taken_in = [&](int slot) { return slot - warp * LAG; };

    const auto carefully = [&](int slot) {
        pieces_of(true, true);
        const int coming = coming_in(slot), leaving = leaving_in(slot), taken = taken_in(slot);
        if (coming < rounds.total) {
            const int round = rounds.round_of(coming);
            const int at = coming - rounds.origin(round);
            if (round > 0 && at == 0) ask(rounds.vertical, 2 * round - 1);
            if (round > 0 && at == rounds.half_of(round - 1)) ask(rounds.all, 2 * round);
            const int column = rounds.start_of(round) + at;
            const bool is_there = circular || (column >= 0 && column < launch.columns);
            if (is_there && at < rounds.length_of(round) - rounds.idle) {
                const T* const before =
                    read_by(round) + block.before + around(column, launch.columns) * launch.column_step;
                const Place<T> to = coming_here + place_of(coming, first_depth) * PITCH;
#pragma unroll
                for (int k = 0; k < Copies::COUNT; ++k) copies.bring(k, to, before);
            }
        }
        if (leaving >= 0 && leaving < rounds.total) {
            const int round = rounds.round_of(leaving);
            const int column = rounds.start_of(round) + (leaving - rounds.origin(round));
            const int begin = rounds.begin_of(round), end = rounds.end_of(round);
            const int middle = begin + rounds.half_of(round);
            if (column == middle || column == end) {
                tell_if(thread == 0, rounds.own, launch.written + 2 * round + (column == middle ? 1 : 2));
            }
            if (column >= begin && column < end) {
                T* const output =
                    written_by(round) + block.output + around(column, launch.columns) * launch.column_step;
                const Place<T> from = leaving_here + place_of(leaving, launch.depth) * PITCH;
#pragma unroll
                for (int k = 0; k < Copies::COUNT; ++k) {
                    T held[WIDE];
                    copies.read(k, from, held);
                    copies.write(k, output, held);
                }
            }
        }
        if (warp >= launch.warps || taken < 0 || taken >= rounds.total) return;
        const int round = rounds.round_of(taken);
        const int at = taken - rounds.origin(round);
        if (at >= rounds.length_of(round) - rounds.idle) return;
        const int start = rounds.start_of(round);
        const int last = start + at;
        int column = last;
        if (start < 0 && !circular) {
            const int ready = launch.beyond_columns(0) == SYMMETRIC ? RADIUS_COLUMNS - 1 : 0;
            if (last < ready) return;
            if (last == ready) column = start;
        }
        const int zero = rounds.origin(round) - start;
#pragma unroll 1
        for (; column <= last; ++column) {
            int place = column;
            if (!circular && (column < 0 || column >= launch.columns)) {
                const unsigned int boundary = launch.beyond_columns(0);
                if (boundary == REPLICATE) {
                    place = column < 0 ? 0 : launch.columns - 1;
                } else if (boundary == SYMMETRIC) {
                    place = (place < 0 ? 0 : 2 * launch.columns) - 1 - place;
                }
            }
            const bool none = !circular && (place < 0 || place >= launch.columns);
            const Place<T> from =
                none ? stages.constant : stages.before + place_of(zero + place, own_depth) * PITCH;
            const int to = place_of(zero + column - WARP_REACH, launch.depth) * PITCH;
            stages.template column<true>(from, stages.behind + to, column, [](int) {});
        }
    };
    const auto look_ahead = [&](int slot) {
        if (warp >= launch.warps) return;
        const int coming = coming_in(slot), leaving = leaving_in(slot), taken = taken_in(slot);
        if (taken < 0 || taken >= rounds.total) return;
        int count = rounds.total - taken;
        if (rounds.idle > 0) {
            // At an edge.
            const int round = rounds.round_of(taken);
            const int start = rounds.start_of(round);
            const int column = start + taken - rounds.origin(round);
            const int outer = rounds.growth < 0 ? launch.columns - 1
                                                : start + rounds.length_of(round) - rounds.idle;
            if ((start < 0 && column < WARP_REACH) || column >= outer) return;
            count = outer - column;
        }
        bool comes = false;
        if (coming < rounds.total) {
            const int round = rounds.round_of(coming);
            const int at = coming - rounds.origin(round), half = round == 0 ? 0 : rounds.half_of(round - 1);
            const int length = rounds.length_of(round);
            const int column = rounds.start_of(round) + at;
            // A slot in which others are asked is none of these.
            if (round > 0 && (at == 0 || at == half)) return;
            count = least(count, (at < half ? half : length) - at);
            const int low = circular ? column : 0;
            const int high =
                circular || rounds.growth >= 0 ? rounds.start_of(round) + length - rounds.idle : launch.columns;
            if (column < low) return;
            comes = column < high;
            if (comes) {
                const int of_image = around(column, launch.columns);
                count = least(count, least(high - column, launch.columns - of_image));
                before = read_by(round) + block.before + of_image * launch.column_step;
            }
        }
        bool leaves = false;
        if (leaving < rounds.total) {
            const int round = rounds.round_of(leaving);
            const int at = leaving - rounds.origin(round);
            const int column = rounds.start_of(round) + at;
            const int begin = rounds.begin_of(round), end = rounds.end_of(round), middle = begin + rounds.half_of(round);
            // Nor is one in which others are told.
            if (column == middle || column == end) return;
            leaves = column >= begin && column < end;
            const int until = column < begin    ? begin
                              : column < middle ? middle
                              : column < end
                                  ? end
                                  : rounds.start_of(round) + rounds.length_of(round);
            count = least(count, until - column);
            if (leaves) {
                const int of_image = around(column, launch.columns);
                count = least(count, launch.columns - of_image);
                output = written_by(round) + block.output + of_image * launch.column_step;
            }
        }
        if (count <= 0) return;
        pieces_of(comes, leaves);
        alike = count;
        from = place_of(taken, own_depth) * PITCH;
        to = place_of(taken - WARP_REACH, launch.depth) * PITCH;
        coming_to = place_of(coming, first_depth) * PITCH;
        leaving_from = place_of(leaving, launch.depth) * PITCH;
    };
    const int slots = rounds.origin(launch.rounds - 1) + rounds.end_of(launch.rounds - 1) -
                      rounds.start_of(launch.rounds - 1) + launch.warps * LAG;
    int slot = -(LEAD + Stages::AHEAD);
    if constexpr (Stages::AHEAD) {
        const unsigned int is_first = kept_number(thread % LANES == 0);
        const Place<Barrier> meeting = kept_place(&met);
        unsigned int parity = 1;
        const auto arrive = [&]() {
            end_group();
            wait_groups<LEAD - 1>();
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
                    stages.column_and_next(points, stages.before + from, stages.behind + to, copy, all_are_there);
                    before += launch.column_step;
                    output += launch.column_step;
                    to = next(to, ring);
                    coming_to = next(coming_to, first_ring);
                    leaving_from = next(leaving_from, ring);
                    arrive();
                } while (--alike > 0);
            } else {
                if (slot >= slots) break;
                all_are_there();
                carefully(slot);
                look_ahead(slot + 1);
                ++slot;
                arrive();
            }
        }
    } else {
        const auto end_slot = [&]() {
            end_group();
            wait_groups<LEAD - 1>();
            meet<THREADS>();
        };
#pragma unroll 1
        while (true) {
            if (alike > 0) {
                slot += alike;
#pragma unroll 1
                do {
                    stages.inner_column(0, stages.before + from, stages.behind + to, copy);
                    before += launch.column_step;
                    output += launch.column_step;
                    from = next(from, own_ring);
                    to = next(to, ring);
                    coming_to = next(coming_to, first_ring);
                    leaving_from = next(leaving_from, ring);
                    end_slot();
                } while (--alike > 0);
            } else {
                if (slot >= slots) break;
                carefully(slot);
                look_ahead(slot + 1);
                ++slot;
                end_slot();
            }
        }
    }
}

}  // namespace images
