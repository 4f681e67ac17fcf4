// Many sweeps of a stencil along lines in one launch: what the stencil and the derivative share.
//
// A sweep that goes to device memory and back is bound by the bytes. Here a tile stays in registers for all sweeps of a
// launch: a thread holds POINTS neighbouring points of a line, and a sweep only passes the RADIUS values at either edge
// of a thread to its neighbours, through shared memory. The exchange has two buffers, so one barrier a sweep is enough.
//  - A line that fits one tile is kept whole, and its ends are true in every sweep: any number of sweeps in one launch,
//    and several lines a block.
//  - A longer line is cut into tiles that overlap. Each sweep spoils RADIUS points at an end of a tile that is no end
//    of the line; the tile writes the others.
//  - Lines too short for registers are kept whole in shared memory.
//
// Every end of a line is an end of a thread: then what is outside follows from the thread's own registers. So the last
// segment of a line is aligned to the line's end, and where the line is whole in one tile it may overlap the segment
// before it by some points, which both then compute alike.
//
// Which kernel, and how many sweeps a launch, as measured on an H200 (a device copy moves 260 G points/s):
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
//  - inner > 1, lines shorter than 64: SHORT, with as many abreast as fit.
//  - inner > 1, one sweep: ROWS with 32 abreast (of 512 x 512 x 512, 0.99 of the copy along the second dimension, 0.85
//    along the third).
//  - inner > 1, more sweeps: ROWS with the most abreast of 32, 16, 8, 4 that keep the lines whole, all sweeps at once
//    (up to 1024 points; 4,660 G updates/s with 3 taps, 750 with 21, of 512 points). Longer lines: 4 abreast with 48,
//    32, 24, 16, 12, 10, 8, 8, 8, 6 sweeps a launch for 3, 5, .. 21 taps (4,000 to 570 G updates/s). Launches of equal
//    numbers of sweeps are better than full ones and a rest.
#pragma once

#include "boundary.cuh"
#include "chip.cuh"

// One launch. Positions are counted in elements: (i, j, k) of the array is at i + inner * (j + length * k), and a line
// is all j of one (i, k).
template <typename T>
struct Sweeps {
    const T* input;
    T* output;  // another array
    unsigned long long inner;
    unsigned long long length;
    unsigned long long outer;
    Ends ends;              // what stands beyond those of a line, in every sweep
    unsigned int sweeps;    // at least 1
    unsigned int abreast;   // neighbouring lines (along inner) that one row of threads, or one slab, takes
    unsigned int segments;  // threads that one tile of a line takes
    unsigned int groups;    // tiles of `abreast` lines, or slabs, that one block takes
    unsigned int tiles;     // tiles that a line takes: 1 where it is whole
};

// Which lines a kernel is for: what the others would need is left out of it.
enum class Lines {
    Any,
    Tiled,  // tiles > 1
    Whole,  // tiles == 1
};

// The shared memory that `sweep_tiles` asks for, in elements: the exchange, and in its place the tile on its way in and
// out.
template <int THREADS, int POINTS, int RADIUS, bool CONTIGUOUS>
struct TileMemory {
    static constexpr int EXCHANGE = 2 * 2 * RADIUS * THREADS;
    static constexpr int STAGE = CONTIGUOUS ? THREADS * POINTS : 0;
    static constexpr int MOST = EXCHANGE > STAGE ? EXCHANGE : STAGE;
    static constexpr int SIZE = MOST > 0 ? MOST : 1;
};

// What the segments at a seam publish, and where.
template <typename T>
struct Seam {
    bool second_last;  // this thread's segment is the last but one
    bool third_last;   // or the one before
    bool last;         // or the last
    T* left_of_last;
    T* right_of_second_last;
};

// Publishes at a seam of `overlap` points, LOW <= overlap < HIGH, what the segments there hold of it. A register array
// must not be indexed by a variable, so there is code for each overlap, and it is looked for by halves. For few taps:
// the code grows with them.
template <int LOW, int HIGH, int POINTS, int RADIUS, int THREADS, typename T>
__device__ __forceinline__ void publish_overlap(const T* points, int overlap, const Seam<T>& seam) {
    if constexpr (HIGH - LOW > 1) {
        constexpr int MIDDLE = (LOW + HIGH) / 2;
        if (overlap < MIDDLE) {
            publish_overlap<LOW, MIDDLE, POINTS, RADIUS, THREADS>(points, overlap, seam);
        } else {
            publish_overlap<MIDDLE, HIGH, POINTS, RADIUS, THREADS>(points, overlap, seam);
        }
    } else {
#pragma unroll
        for (int i = 0; i < RADIUS; ++i) {
            const int left = POINTS - LOW - RADIUS + i;
            if (left >= 0) {
                if (seam.second_last) seam.left_of_last[i * THREADS] = points[left >= 0 ? left : 0];
            } else {
                if (seam.third_last) seam.left_of_last[i * THREADS] = points[left >= 0 ? 0 : left + POINTS];
            }
            if (LOW + i < POINTS) {
                if (seam.last) seam.right_of_second_last[i * THREADS] = points[LOW + i < POINTS ? LOW + i : 0];
            }
        }
    }
}

// The same for many taps: puts those of the RADIUS points from `from` on that lie in [LOW, HIGH) where they belong
// among the rows at a slot; `row` is where point 0 would belong. A test of each point would take longer than the sweep.
template <int LOW, int HIGH, int RADIUS, int THREADS, typename T>
__device__ __forceinline__ void publish(const T* points, int from, T* row) {
    constexpr int FEW = 4;
    if constexpr (HIGH - LOW > FEW) {
        constexpr int MIDDLE = (LOW + HIGH) / 2;
        if (from < MIDDLE) publish<LOW, MIDDLE, RADIUS, THREADS>(points, from, row);
        if (from + RADIUS > MIDDLE) publish<MIDDLE, HIGH, RADIUS, THREADS>(points, from, row);
    } else {
#pragma unroll
        for (int v = LOW; v < HIGH; ++v) {
            if ((unsigned int)(v - from) < RADIUS) row[v * THREADS] = points[v];
        }
    }
}

// Computes the tiles of one block in registers.
//
// CONTIGUOUS is for inner == 1: a block's tiles are then one run of memory, which goes through shared memory so that
// neighbouring threads move neighbouring points. POINTS should be odd, for the threads of a warp to fall on different
// banks. Otherwise neighbouring threads hold neighbouring lines, and no detour is needed.
//
// The host guarantees RADIUS <= POINTS, 2 * POINTS <= length, abreast * segments * groups <= THREADS, abreast == 1
// where CONTIGUOUS, and
//  - lines kept whole: tiles == 1 and segments == ceil (length / POINTS), at least 2;
//  - lines in tiles: groups == 1, tile = segments * POINTS < length, step = tile - 2 * RADIUS * sweeps > 0, tiles == 1
//    + ceil ((length - tile) / step), and for the circular boundary ceil (length / step). The bundles of a row are ceil
//    (inner / abreast), the strips of a launch bundles * tiles * outer, fewer than 2^32, and its blocks ceil (strips /
//    groups).
//
// Operator::all<POINTS> (sample, sums) computes the POINTS points whose first sample is sample (0).
template <typename T, int THREADS, int POINTS, int RADIUS, Lines LINES, bool CONTIGUOUS, bool EARLY, class Operator>
__device__ __forceinline__ void sweep_tiles(const Sweeps<T>& launch) {
    static_assert(POINTS > RADIUS, "a thread's neighbours must hold all that it misses, and it what a mirror shows");
    __shared__ T memory[TileMemory<THREADS, POINTS, RADIUS, CONTIGUOUS>::SIZE];

    const int thread = threadIdx.x;
    const int abreast = CONTIGUOUS ? 1 : launch.abreast;
    const int segments = launch.segments;
    const int tile_points = segments * POINTS;
    const bool whole = LINES == Lines::Whole || (LINES == Lines::Any && launch.tiles == 1);
    const bool circular = launch.ends.circular();

    // Which segment of which tile of which line this thread holds. All that is left over takes part in the barriers
    // only.
    const int row = CONTIGUOUS ? thread : thread / abreast;
    const int line_of_row = CONTIGUOUS ? 0 : thread - row * abreast;
    const int group = row / segments;
    const int segment = row - group * segments;
    const bool first = segment == 0;
    const bool last = segment == segments - 1;
    bool used = group < launch.groups;

    unsigned int tile = 0;
    unsigned long long line_start = 0;  // the place of the line's point 0 in the array
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

    // Where the tile begins in its line, and which of its points it computes rightly that no tile before it does:
    // [from, to).
    const long long length = launch.length;
    long long begin = 0;
    int from = 0;
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
    const bool at_begin = used && first && !circular && tile == 0;
    const bool at_end = used && last && !circular && tile == launch.tiles - 1;

    // The seam: how many points the last segment shares with those before it.
    const int overlap = whole ? tile_points - (int)length : 0;
    const int place = segment * POINTS - (last ? overlap : 0);  // of this thread's first point in the tile

    // Where the block's run of memory begins, if it is one, and which of its points the block writes.
    unsigned long long run = line_start;
    int run_points = tile_points;
    if (CONTIGUOUS && whole) {
        const unsigned long long line = (unsigned long long)blockIdx.x * launch.groups;
        const unsigned long long lines = launch.outer - line < launch.groups ? launch.outer - line : launch.groups;
        run = line * launch.length;
        run_points = (int)lines * (int)length;
        to = run_points;
    }
    const int own = used ? (CONTIGUOUS && whole ? group * (int)length : 0) + place : 0;

    T points[POINTS];
    if (CONTIGUOUS) {
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

    // What lies left of a segment is published in the slot of the segment left of it, what lies right of it in that of
    // the segment right of it, and the segments of a tile form a ring: what lies left of the first is in the slot of
    // the last. A circular line needs no more than that; at another end of a line the thread there fills the slot with
    // what is outside, and the thread at the other end of the ring leaves it alone.
    //
    // At a seam the last segment begins inside the others. What lies left of it is inside the last but one or the one
    // before, which fill the slot between them; what lies right of the last but one is inside the last, or behind the
    // line's end.
    const bool grouped = group < launch.groups;
    const int slot_first = thread - segment * abreast;
    const int slot_last = slot_first + (segments - 1) * abreast;
    const int slot_left = !grouped ? thread : first ? slot_last : thread - abreast;
    const int slot_right = !grouped ? thread : last ? slot_first : thread + abreast;
    const bool seam = LINES != Lines::Tiled && overlap > 0;
    const bool publishes_begin = (circular || !first) && !(seam && last);
    const bool publishes_end = (circular || !last) && !(seam && segment == segments - 2);
    // From this thread's first point to the first of those left of the last segment.
    const int before_last = (int)length - POINTS - RADIUS - place;

    const auto outside = [&](int i, bool behind) {
        const unsigned int boundary = launch.ends.boundary[behind];
        if (boundary == CONSTANT) return T(launch.ends.value[behind]);
        if (boundary == REPLICATE) return behind ? points[POINTS - 1] : points[0];
        if (boundary == MIRROR) return behind ? points[POINTS - 2 - i] : points[i + 1];
        return behind ? points[POINTS - 1 - i] : points[i];
    };

    // [RADIUS][THREADS]: a row holds the points at one distance, so that slots are neighbours.
    T* left_of = memory;
    T* right_of = memory + RADIUS * THREADS;  // the same
    int other_buffer = 2 * RADIUS * THREADS;  // from this buffer to the other
#pragma unroll 1
    for (unsigned int sweep = 0; sweep < launch.sweeps; ++sweep) {
        T before[RADIUS > 0 ? RADIUS : 1];
        T after[RADIUS > 0 ? RADIUS : 1];
        if constexpr (RADIUS > 0) {
            if (publishes_begin) {
#pragma unroll
                for (int i = 0; i < RADIUS; ++i) right_of[i * THREADS + thread] = points[i];
            }
            if (publishes_end) {
#pragma unroll
                for (int i = 0; i < RADIUS; ++i) left_of[i * THREADS + thread] = points[POINTS - RADIUS + i];
            }
            if (at_begin) {
#pragma unroll
                for (int i = 0; i < RADIUS; ++i) left_of[(RADIUS - 1 - i) * THREADS + slot_last] = outside(i, false);
            }
            if (at_end) {
#pragma unroll
                for (int i = 0; i < RADIUS; ++i) right_of[i * THREADS + slot_first] = outside(i, true);
            }
            if (seam && grouped) {
                const bool second_last = segment == segments - 2;
                const bool third_last = segment == segments - 3;
                if constexpr (RADIUS <= 4) {
                    if (second_last || third_last || last) {
                        const Seam<T> seam_slots = {second_last, third_last, last, left_of + slot_last - abreast,
                                                    right_of + slot_last};
                        publish_overlap<1, POINTS, POINTS, RADIUS, THREADS>(points, here(overlap), seam_slots);
                    }
                } else {
                    const int left_from = here(before_last);
                    if ((second_last || third_last) && left_from < POINTS) {
                        publish<0, POINTS, RADIUS, THREADS>(points, left_from,
                                                            left_of + slot_last - abreast - left_from * THREADS);
                    }
                    if (last) {
                        const int right_from = here(overlap);
                        publish<0, POINTS, RADIUS, THREADS>(points, right_from,
                                                            right_of + slot_last - right_from * THREADS);
                    }
                }
                if (circular ? first : last) {
                    const int ahead = here(POINTS - overlap);
#pragma unroll
                    for (int i = 0; i < RADIUS; ++i) {
                        const int at = i + ahead;
                        if (at < RADIUS) right_of[at * THREADS + slot_last] = circular ? points[i] : outside(i, true);
                    }
                }
            }
        }
        T sums[POINTS];
        // What needs no neighbour is computed ahead of the barrier, so that no warp waits idle.
        constexpr bool early = EARLY && RADIUS > 0 && POINTS >= 5 * RADIUS;
        if constexpr (early) {
            Operator::template range<RADIUS, POINTS - RADIUS>([&](int j) { return points[j - RADIUS]; }, sums);
        }
        if constexpr (RADIUS > 0) {
            __syncthreads();
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) before[i] = left_of[i * THREADS + slot_left];
#pragma unroll
            for (int i = 0; i < RADIUS; ++i) after[i] = right_of[i * THREADS + slot_right];
        }
        const auto sample = [&](int j) {
            if constexpr (RADIUS == 0) return points[j];
            else return j < RADIUS ? before[j] : j < RADIUS + POINTS ? points[j - RADIUS] : after[j - RADIUS - POINTS];
        };
        if constexpr (early) {
            Operator::template range<0, RADIUS>(sample, sums);
            Operator::template range<POINTS - RADIUS, POINTS>(sample, sums);
        } else {
            Operator::template range<0, POINTS>(sample, sums);
        }
#pragma unroll
        for (int v = 0; v < POINTS; ++v) points[v] = sums[v];
        left_of += other_buffer;
        right_of += other_buffer;
        other_buffer = -other_buffer;
    }

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

// Computes whole lines of any length in shared memory, for those that are too short for registers.
//
// A slab is `abreast` neighbouring lines of one k, in the order that they have in memory. The host guarantees length *
// abreast * groups <= CAPACITY, abreast <= inner, tiles == 1, and groups == 1 unless abreast == inner. The slabs of a
// row are ceil (inner / abreast), and a launch takes ceil (slabs * outer / groups) blocks.
//
// Operator::one (sample) computes a single point from sample (0) .. sample (2 * RADIUS).
template <typename T, int THREADS, int CAPACITY, int RADIUS, class Operator>
__device__ __forceinline__ void sweep_short_lines(const Sweeps<T>& launch) {
    static_assert(CAPACITY < 0xffff, "places are counted in 16 bits");
    constexpr unsigned int NOWHERE = 0xffff;
    __shared__ T memory[2][CAPACITY];
    __shared__ unsigned short place_of[CAPACITY];       // of an element in its line
    // The place whose value is RADIUS .. 1 ahead of a line, and 0 .. RADIUS - 1 behind it.
    __shared__ unsigned short outside[2 * RADIUS + 1];

    const unsigned int thread = threadIdx.x;
    const int length = (int)launch.length;
    const bool full = launch.abreast == launch.inner;
    unsigned int abreast = launch.abreast;
    unsigned int count;
    unsigned long long start;
    if (full) {
        const unsigned long long slab = (unsigned long long)blockIdx.x * launch.groups;
        const unsigned long long slabs = launch.outer - slab < launch.groups ? launch.outer - slab : launch.groups;
        start = slab * abreast * length;
        count = (unsigned int)slabs * abreast * length;
    } else {
        const unsigned long long slabs = (launch.inner + abreast - 1) / abreast;
        const unsigned long long k = blockIdx.x / slabs;
        const unsigned long long i = (blockIdx.x - k * slabs) * abreast;
        if (launch.inner - i < abreast) abreast = (unsigned int)(launch.inner - i);
        start = k * launch.inner * length + i;
        count = abreast * length;
    }
    // An element of the block as an element of the array.
    const auto global = [&](unsigned int at) {
        if (full) return start + at;
        const unsigned int j = at / abreast;
        return start + j * launch.inner + (at - j * abreast);
    };

    for (unsigned int at = thread; at < count; at += THREADS) {
        memory[0][at] = launch.input[global(at)];
        place_of[at] = (unsigned short)(at / abreast % (unsigned int)length);
    }
    for (int at = thread; at < 2 * RADIUS; at += THREADS) {
        const int position = at < RADIUS ? at - RADIUS : at - RADIUS + length;
        const unsigned int boundary = position < 0 ? launch.ends.boundary[0] : launch.ends.boundary[1];
        int from;
        if (boundary == CONSTANT) {
            from = NOWHERE;
        } else if (boundary == REPLICATE) {
            from = position < 0 ? 0 : length - 1;
        } else {
            // Periods at once: a line may be shorter than the radius.
            const int mirrored = boundary == SYMMETRIC ? 2 * length : length > 1 ? 2 * length - 2 : 1;
            const int period = boundary == CIRCULAR ? length : mirrored;
            from = position % period;
            if (from < 0) from += period;
            if (from >= length) from = boundary == SYMMETRIC ? period - 1 - from : period - from;
        }
        outside[at] = (unsigned short)from;
    }

    int current = 0;
#pragma unroll 1
    for (unsigned int sweep = 0; sweep < launch.sweeps; ++sweep) {
        __syncthreads();
        const T* samples = memory[current];
#pragma unroll 1
        for (unsigned int at = thread; at < count; at += THREADS) {
            const int place = place_of[at];
            const T* line = samples + (at - place * abreast);
            T result;
            if (place >= RADIUS && place + RADIUS < length) {
                const T* nearest = line + (place - RADIUS) * (int)abreast;
                result = Operator::one([&](int k) { return nearest[k * (int)abreast]; });
            } else {
                result = Operator::one([&](int k) {
                    int from = place + k - RADIUS;
                    const bool before = from < 0;
                    if (before) from = outside[from + RADIUS];
                    else if (from >= length) from = outside[from - length + RADIUS];
                    if (from != NOWHERE) return line[from * (int)abreast];
                    return T(before ? launch.ends.value[0] : launch.ends.value[1]);
                });
            }
            memory[current ^ 1][at] = result;
        }
        current ^= 1;
    }
    __syncthreads();
    for (unsigned int at = thread; at < count; at += THREADS) launch.output[global(at)] = memory[current][at];
}
