// Many sweeps of a stencil along lines in one launch: common part of the stencil and the derivative.
//
// A sweep that goes to device memory and back is bound by the bytes. Here a tile stays in registers for all sweeps of a
// launch: a thread holds POINTS neighbouring points of a line, and a sweep only passes the RADIUS values at either edge
// of a thread to its neighbours, through shared memory. The exchange has two buffers, so one barrier a sweep is enough.
// - A line that fits one tile is kept whole, and its ends are valid in every sweep: any number of sweeps in one launch,
//    and several lines a block.
// - A longer line is cut into tiles that overlap. Each sweep invalidates RADIUS points at an end of a tile that is no
//    end of the line; the tile writes the others.
//  - Lines too short for registers are kept whole in shared memory.
//
//   LineTile:
//       set_thread, set_line, set_tile, set_run       // the points that this thread holds, and writes
//       load                                          // into registers
//       for each sweep:
//           publish                                   // this segment's ends, ghost values and points at a seam
//           sums := Operator (points)                 // those that need no neighbour, before the barrier
//           one barrier of the block
//           receive                                   // points next to this segment
//           sums := Operator (before, points, after)  // all others
//       store
//
// Every end of a line is an end of a thread: then the ghost values follow from the thread's own registers. So the last
// segment of a line is aligned to the line's end, and if the line is whole in one tile it may overlap the segment
// before it by some points, for which both compute the same values.
//
// Choice of the kernel, and number of sweeps a launch, as measured on an H200 in double (a device copy moves 260 G
// points/s). In single the kernels are the same; WHOLE takes lines of 66 to 4224, for which it has more points a
// thread.
//  - inner == 1, lines shorter than 22: SHORT.
//  - inner == 1, one sweep: WHOLE for lines of 100 to 3200 (237 G updates/s), else SMALL (228 with 3 taps, 176 with
//    21).
//  - inner == 1, fewer than a million points, or lines of 22 to 49, or longer than WHOLE takes but no longer than
//    LONG's tile: SMALL, with 256 / RADIUS sweeps a launch up to 200,000 points and 128 / RADIUS above, or all at once
//    where the lines are whole. 100,000 points take 0.14 us a sweep with 3 taps and 0.63 us with 21.
//  - inner == 1, other lines of up to 3200: WHOLE, all sweeps at once (4,480 G updates/s with 3 taps, 1,650 with 9, 737
//    with 21, if 25 divides the length; three quarters of that otherwise).
//  - inner == 1, longer lines: LONG, with 128, 64, 48, 32, 24, 20, 18, 16, 16, 16 sweeps a launch for 3, 5, .. 21 taps
//    (4,850, 2,890, 2,060, 1,600, 1,285, 1,095, 950, 840, 735, 676 G updates/s).
//  - inner > 1, lines shorter than 64: SHORT. There, too, a plane has as many whole lines as threads have elements of.
//  - inner > 1, one sweep: ROWS with 32 abreast (of 512 x 512 x 512, 0.99 of the copy along the second dimension, 0.85
//    along the third).
//  - inner > 1, more sweeps: ROWS with the most abreast of 32, 16, 8, 4 that keep the lines whole, all sweeps at once
//    (up to 1024 points; 4,660 G updates/s with 3 taps, 750 with 21, of 512 points). Longer lines: 4 abreast with 48,
//    32, 24, 16, 12, 10, 8, 8, 8, 6 sweeps a launch for 3, 5, .. 21 taps (4,000 to 570 G updates/s). Launches of equal
//    numbers of sweeps are better than full ones and a rest.
#pragma once

#include "chip.cuh"
#include "boundary.cuh"
#include "sweeps/seam.cuh"
#include "sweeps/short.cuh"

// Kind of lines that a kernel is for: code for the others is left out of it.
enum class Lines {
    Any,
    Tiled,  // tiles > 1
    Whole,  // tiles == 1
};

// The tiles of one block in registers, seen from one thread. The values of its points are arguments of the members, not
// a member: the compiler would keep all members in memory until it has unrolled the loops over them, and generate worse
// code.
//
// Parameters of Policy: THREADS of a block; POINTS of a thread; LINES; CONTIGUOUS; and EARLY, true if points that need
// no neighbour are computed before the barrier.
//
// CONTIGUOUS is for inner == 1: a block's tiles are then one run of memory, which goes through shared memory so that
// neighbouring threads move neighbouring points. POINTS should be odd, for the threads of a warp to fall on different
// banks. Otherwise neighbouring threads hold neighbouring lines, and access memory directly.
//
// The host guarantees RADIUS <= POINTS, 2 * POINTS <= length, abreast * segments * groups <= THREADS, abreast == 1
// where CONTIGUOUS, and
//  - lines kept whole: tiles == 1 and segments == ceil (length / POINTS), at least 2;
//  - lines in tiles: groups == 1, tile = segments * POINTS < length, step = tile - 2 * RADIUS * sweeps > 0, tiles == 1
//    + ceil ((length - tile) / step), and for the circular boundary ceil (length / step). The bundles of a row are ceil
//    (inner / abreast), the strips of a launch bundles * tiles * outer, fewer than 2^32, and its blocks ceil (strips /
//    groups).
//
// Operator::range<FROM, TO> (sample, sums) computes the points from FROM up to TO; sample (j) is the sample RADIUS
// before point j.
template <typename T, int RADIUS, class Policy, class Operator>
struct LineTile {
    static constexpr int THREADS = Policy::THREADS;
    static constexpr int POINTS = Policy::POINTS;
    static constexpr Lines LINES = Policy::LINES;
    static constexpr bool CONTIGUOUS = Policy::CONTIGUOUS;
    static constexpr bool EARLY = Policy::EARLY && RADIUS > 0 && POINTS >= 5 * RADIUS;
    static_assert(POINTS > RADIUS, "a thread's neighbours must hold all that it misses, and it what a mirror shows");

    // Shared memory, in elements: the exchange, and in its place the tile at load and store.
    static constexpr int EXCHANGE = 2 * 2 * RADIUS * THREADS;
    static constexpr int STAGE = CONTIGUOUS ? THREADS * POINTS : 0;
    static constexpr int MOST = EXCHANGE > STAGE ? EXCHANGE : STAGE;
    static constexpr int SIZE = MOST > 0 ? MOST : 1;

    const SweepsArgument<T>& launch;
    T* memory;

    int thread;
    int abreast;
    int segments;
    int tile_points;
    bool whole;
    bool circular;

    // This thread's segment, tile and line. Excess threads take part in the barriers only.
    int line_of_row;
    int group;
    int segment;
    bool first;  // of the tile's segments
    bool last;
    bool used;

    unsigned long long line_start;  // the place of the line's point 0 in the array
    unsigned int tile;
    long long length;

    // Begin of the tile in its line, and the range of its points that it computes correctly and no tile before it does:
    // [from, to).
    long long begin;
    int from;
    bool at_begin;  // true if this segment begins a line that has ends
    bool at_end;    // or ends it

    int overlap;  // number of points that the last segment shares with those before it, at the seam
    int place;    // of this thread's first point in the tile

    unsigned long long run;  // begin of the block's run of memory, if it is one
    int run_points;
    int to;
    int own;  // of this thread's first point there

    __device__ __forceinline__ LineTile(const SweepsArgument<T>& launch, T* memory) : launch(launch), memory(memory) {
        set_thread();
        set_line();
        set_tile();
        set_run();
    }

    __device__ __forceinline__ void set_thread() {
        thread = threadIdx.x;
        abreast = CONTIGUOUS ? 1 : launch.abreast;
        segments = launch.segments;
        tile_points = segments * POINTS;
        whole = LINES == Lines::Whole || (LINES == Lines::Any && launch.tiles == 1);
        circular = launch.ends.circular();
        const int row = CONTIGUOUS ? thread : thread / abreast;
        line_of_row = CONTIGUOUS ? 0 : thread - row * abreast;
        group = row / segments;
        segment = row - group * segments;
        first = segment == 0;
        last = segment == segments - 1;
        used = group < launch.groups;
    }

    __device__ __forceinline__ void set_line() {
        tile = 0;
        line_start = 0;
        if (CONTIGUOUS) {
            if (whole) {
                const unsigned long long line = (unsigned long long)blockIdx.x * launch.groups + group;
                used = used && line < launch.outer;
            } else {
                const unsigned int line = blockIdx.x / launch.tiles;
                tile = blockIdx.x - line * launch.tiles;
                line_start = line * launch.length;
            }
        } else {
            // Neighbouring blocks take neighbouring lines: between them they read whole rows of memory.
            const unsigned int bundles = (unsigned int)((launch.inner + abreast - 1) / abreast);
            const unsigned int strip = blockIdx.x * launch.groups + group;
            unsigned int rest = strip / bundles;
            const unsigned long long i = (unsigned long long)(strip - rest * bundles) * abreast + line_of_row;
            unsigned long long k = rest;
            if (!whole) {
                k = rest / launch.tiles;
                tile = rest - (unsigned int)k * launch.tiles;
            }
            used = used && i < launch.inner && k < launch.outer;
            line_start = k * launch.inner * launch.length + i;
        }
    }

    __device__ __forceinline__ void set_tile() {
        const bool whole = this->whole;
        const bool circular = this->circular;
        const int tile_points = this->tile_points;
        const unsigned int tile = this->tile;
        const long long length = launch.length;
        int from = 0;
        long long begin = 0;
        int to = tile_points;
        if (whole) {
            to = (int)length;
        } else {
            const int loss = RADIUS * launch.sweeps;
            const int step = tile_points - 2 * loss;
            const bool final = tile == launch.tiles - 1;
            if (circular) {
                begin = (long long)tile * step - loss;
                from = loss;
                to = final ? (int)(length - begin) : tile_points - loss;
            } else {
                begin = final ? length - tile_points : (long long)tile * step;
                from = tile == 0 ? 0 : (int)((long long)(tile - 1) * step + (tile_points - loss) - begin);
                to = final ? tile_points : tile_points - loss;
            }
        }
        this->length = length;
        this->begin = begin;
        this->from = from;
        this->to = to;
        const bool used = this->used;
        const bool first = this->first;
        const bool last = this->last;
        at_begin = used && first && !circular && tile == 0;
        at_end = used && last && !circular && tile == launch.tiles - 1;
        overlap = whole ? tile_points - (int)length : 0;
        place = segment * POINTS - (last ? overlap : 0);
    }

    __device__ __forceinline__ void set_run() {
        run = line_start;
        run_points = tile_points;
        if (CONTIGUOUS && whole) {
            const unsigned long long line = (unsigned long long)blockIdx.x * launch.groups;
            const unsigned long long lines = launch.outer - line < launch.groups ? launch.outer - line : launch.groups;
            run = line * launch.length;
            run_points = (int)lines * (int)length;
            to = run_points;
        }
        own = used ? (CONTIGUOUS && whole ? group * (int)length : 0) + place : 0;
    }

    __device__ __forceinline__ void load(T (&points)[POINTS]) const {
        if (CONTIGUOUS) {
            const bool circular = this->circular;
            const bool whole = this->whole;
            const int tile_points = this->tile_points;
            // A tile of a circular line may begin before it, and may go past its end: those points are a length away.
            const bool ahead = begin < 0;
            const T* input = launch.input + run + begin + (ahead ? length : 0) + thread;
            const long long left = length - begin - (ahead ? length : 0);
            const int wrap = circular && !whole && left < tile_points ? (int)left : THREADS * POINTS;
#pragma unroll
            for (int v = 0; v < POINTS; ++v) {
                const int at = v * THREADS + thread;
                if (at < run_points) memory[at] = (at < wrap ? input : input - length)[v * THREADS];
            }
            __syncthreads();
#pragma unroll
            for (int v = 0; v < POINTS; ++v) points[v] = memory[own + v];
            __syncthreads();
        } else {
            long long start = begin + place;
            if (start < 0) start += length;
            if (start >= length) start -= length;
            const int wrap = length - start < POINTS ? (int)(length - start) : POINTS;
            const T* input = launch.input + line_start + start * (long long)launch.inner;
#pragma unroll
            for (int v = 0; v < POINTS; ++v) {
                if (v == wrap) input -= length * launch.inner;
                points[v] = used ? *input : T(0);
                input += launch.inner;
            }
        }
    }

    // The exchange between a tile's segments, one of its two buffers at a time: [RADIUS][THREADS] on either side; a row
    // holds the points at one distance, so that slots are neighbours.
    //
    // The points left of a segment are published in the slot of the segment left of it, those right of it in that of
    // the segment right of it, and the segments of a tile form a ring: the points left of the first are in the slot of
    // the last. A circular line needs no more than that; at another end of a line the thread there fills the slot with
    // ghost values, and the thread at the other end of the ring leaves it alone.
    //
    // At a seam the last segment begins inside the others. The points left of it are inside the last but one or the one
    // before, which fill the slot between them; the points right of the last but one are inside the last, or behind the
    // line's end.
    struct Exchange {
        T* left_of;
        T* right_of;
        int other_buffer;  // from this buffer to the other
        bool grouped;
        int slot_first;
        int slot_last;
        int slot_left;
        int slot_right;
        bool seam;
        bool publishes_begin;
        bool publishes_end;
        int before_last;  // from this thread's first point to the first of those left of the last segment

        __device__ __forceinline__ explicit Exchange(const LineTile& own) {
            const int thread = own.thread;
            const int segment = own.segment;
            const int segments = own.segments;
            const bool first = own.first;
            const bool last = own.last;
            const bool circular = own.circular;
            grouped = own.group < own.launch.groups;
            slot_first = thread - segment * own.abreast;
            slot_last = slot_first + (segments - 1) * own.abreast;
            slot_left = !grouped ? thread : first ? slot_last : thread - own.abreast;
            slot_right = !grouped ? thread : last ? slot_first : thread + own.abreast;
            const bool has_seam = LINES != Lines::Tiled && own.overlap > 0;
            seam = has_seam;
            publishes_begin = (circular || !first) && !(has_seam && last);
            publishes_end = (circular || !last) && !(has_seam && segment == segments - 2);
            before_last = (int)own.length - POINTS - RADIUS - own.place;
            left_of = own.memory;
            right_of = own.memory + RADIUS * THREADS;
            other_buffer = 2 * RADIUS * THREADS;
        }

        __device__ __forceinline__ void turn() {
            left_of += other_buffer;
            right_of += other_buffer;
            other_buffer = -other_buffer;
        }
    };

    // Returns the ghost value at distance i before the line or behind it.
    template <bool BEHIND>
    __device__ __forceinline__ T ghost(const T (&points)[POINTS], int i) const {
        const unsigned int boundary = launch.ends.boundary[BEHIND];
        if (boundary == CONSTANT) return T(launch.ends.value[BEHIND]);
        if (boundary == REPLICATE) return BEHIND ? points[POINTS - 1] : points[0];
        if (boundary == MIRROR) return BEHIND ? points[POINTS - 2 - i] : points[i + 1];
        return BEHIND ? points[POINTS - 1 - i] : points[i];
    }

    __device__ __forceinline__ void publish(const T (&points)[POINTS], const Exchange& to) const {
        if (to.publishes_begin) {
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) to.right_of[i * THREADS + thread] = points[i];
        }
        if (to.publishes_end) {
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) to.left_of[i * THREADS + thread] = points[POINTS - RADIUS + i];
        }
        if (at_begin) {
#pragma unroll
            for (int i = 0; i < RADIUS; ++i)
                to.left_of[(RADIUS - 1 - i) * THREADS + to.slot_last] = ghost<false>(points, i);
        }
        if (at_end) {
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) to.right_of[i * THREADS + to.slot_first] = ghost<true>(points, i);
        }
        if (to.seam && to.grouped) publish_at_seam(points, to);
    }

    __device__ __forceinline__ void publish_at_seam(const T (&points)[POINTS], const Exchange& to) const {
        const bool second_last = segment == segments - 2;
        const bool third_last = segment == segments - 3;
        if constexpr (RADIUS <= 4) {
            if (second_last || third_last || last) {
                const Seam<T> slots = {second_last, third_last, last, to.left_of + to.slot_last - abreast,
                                       to.right_of + to.slot_last};
                publish_overlap<1, POINTS, POINTS, RADIUS, THREADS>(points, here(overlap), slots);
            }
        } else {
            const int left_from = here(to.before_last);
            if ((second_last || third_last) && left_from < POINTS) {
                publish_some<0, POINTS, RADIUS, THREADS>(points, left_from,
                                                         to.left_of + to.slot_last - abreast - left_from * THREADS);
            }
            if (last) {
                const int right_from = here(overlap);
                publish_some<0, POINTS, RADIUS, THREADS>(points, right_from,
                                                         to.right_of + to.slot_last - right_from * THREADS);
            }
        }
        if (circular ? first : last) {
            const int ahead = here(POINTS - overlap);
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) {
                const int at = i + ahead;
                if (at < RADIUS)
                    to.right_of[at * THREADS + to.slot_last] = circular ? points[i] : ghost<true>(points, i);
            }
        }
    }

    __device__ __forceinline__ void sweep(T (&points)[POINTS], Exchange& exchange) const {
        T before[RADIUS > 0 ? RADIUS : 1];
        T after[RADIUS > 0 ? RADIUS : 1];
        if constexpr (RADIUS > 0) publish(points, exchange);
        T sums[POINTS];
        // Points that need no neighbour are computed before the barrier, so that no warp waits idle.
        if constexpr (EARLY) {
            Operator::template range<RADIUS, POINTS - RADIUS>([&](int j) { return points[j - RADIUS]; }, sums);
        }
        if constexpr (RADIUS > 0) {
            __syncthreads();
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) before[i] = exchange.left_of[i * THREADS + exchange.slot_left];
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) after[i] = exchange.right_of[i * THREADS + exchange.slot_right];
        }
        const auto sample = [&](int j) {
            if constexpr (RADIUS == 0)
                return points[j];
            else
                return j < RADIUS ? before[j] : j < RADIUS + POINTS ? points[j - RADIUS] : after[j - RADIUS - POINTS];
        };
        if constexpr (EARLY) {
            Operator::template range<0, RADIUS>(sample, sums);
            Operator::template range<POINTS - RADIUS, POINTS>(sample, sums);
        } else {
            Operator::template range<0, POINTS>(sample, sums);
        }
#pragma unroll
        for (int v = 0; v < POINTS; ++v) points[v] = sums[v];
        exchange.turn();
    }

    __device__ __forceinline__ void store(const T (&points)[POINTS]) const {
        const int shared_points = last ? overlap : 0;  // the segments before it write these
        if (CONTIGUOUS) {
            __syncthreads();
            if (used) {
#pragma unroll
                for (int v = 0; v < POINTS; ++v) {
                    if (v >= shared_points) memory[own + v] = points[v];
                }
            }
            __syncthreads();
            T* output = launch.output + run + begin + thread;
            const unsigned int count = to - from;
#pragma unroll
            for (int v = 0; v < POINTS; ++v) {
                const int at = v * THREADS + thread;
                if ((unsigned int)(at - from) < count) output[v * THREADS] = memory[at];
            }
        } else {
            const int low = shared_points > from - place ? shared_points : from - place;
            const int high = used ? to - place : 0;
            T* output = launch.output + line_start + (begin + place) * (long long)launch.inner;
#pragma unroll
            for (int v = 0; v < POINTS; ++v) {
                if (v >= low && v < high) *output = points[v];
                output += launch.inner;
            }
        }
    }
};

template <typename T, int RADIUS, class Policy, class Operator>
__device__ __forceinline__ void sweep_lines(const SweepsArgument<T>& launch) {
    typedef LineTile<T, RADIUS, Policy, Operator> Own;
    __shared__ T memory[Own::SIZE];
    const Own own(launch, memory);
    T points[Own::POINTS];
    own.load(points);
    typename Own::Exchange exchange(own);
#pragma unroll 1
    for (unsigned int sweep = 0; sweep < launch.sweeps; ++sweep) own.sweep(points, exchange);
    own.store(points);
}
