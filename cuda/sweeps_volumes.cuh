// Two sweeps of a 3 x 3 x 3 convolution over a volume in one launch.
//
// A block takes a tile of rows and columns through both sweeps, page by page: half of its warps do the first sweep, the
// others the second. A lane holds ROWS neighbouring rows of COLUMNS columns and, for each of these points, the sums of
// the two outputs that the page that has come is not the last for. So a page is used up as it comes: in the filter's
// order, pages outermost, an output gets one run of nine multiply-adds from each of three pages, which is its chain.
//
// In a slot of time each half takes a page, then all meet at one barrier. Pages of samples come into two buffers in
// shared memory, one ahead; pages that the first sweep has finished go to two others, and are the second sweep's
// samples one slot later. What the second sweep has finished goes to device memory some columns at a time, through
// columns of shared memory, where lanes exchange rows: neighbouring lanes then write neighbouring elements.
//
// Instructions come slowly where a warp has them for itself: a line of them is fetched while eight are done. So both
// sweeps go through the same instructions, and several warps of a partition share what was fetched. And sums and
// samples take nearly all registers: what would be kept across a page beside them goes to local memory and comes back
// from afar. So a block computes anew what it needs for the first and the last slots of a run, and in those between
// only addresses change.
//
// Tiles overlap, and so do the runs of pages that blocks take: each sweep spoils a row, a column and a page at a side
// that is not the volume's. At the volume's own sides each sweep is true. Every page in shared memory has a row and a
// column more on each side. A tile that reaches to the volume's side has there what the boundary asks for: samples
// come from the place that the boundary says, whoever finishes a sample of the first sweep at the side writes it to
// both places, and the boundary's constant is there from the beginning. The page before the first and the one behind
// the last are taken like others, if need be from the buffer of the first or the last. With a radius of 1, 'replicate' and 'symmetric' are the same.
//
// For the boundary that goes around, volumes are seen as going on: nothing has a side.
#pragma once

#include "tensor.cuh"

namespace volumes {

constexpr int LANES = 32;

// A run of pages takes so many slots more than it has pages.
constexpr int BEGINNING = 5;

// What is not an element of a page.
constexpr unsigned int NOWHERE = 0xffffffff;

// What stands outside.
enum Boundary : unsigned int { CONSTANT, REPLICATE, SYMMETRIC, CIRCULAR };

#ifdef __CUDACC_RTC__

// A place in shared memory.
typedef unsigned int Place;

__device__ __forceinline__ Place place_in_shared(void* pointer) { return shared_address(pointer); }

// Begins a copy of COUNT elements to so many elements behind a place, for this thread's current group.
template <int COUNT, typename T>
__device__ __forceinline__ void copy_to_place(Place place, int behind, const T* from) {
    if constexpr (COUNT * sizeof(T) == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place + behind * (int)sizeof(T)), "l"(from)
                     : "memory");
    } else {
        static_assert(COUNT == 1, "one element or 16 bytes");
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place + behind * (int)sizeof(T)), "l"(from),
                     "n"(sizeof(T))
                     : "memory");
    }
}

// The same address, but the compiler does not compute it anew where it is needed.
template <typename T>
__device__ __forceinline__ const T* held(const T* address) {
    asm volatile("" : "+l"(address));
    return address;
}

#else

typedef void* Place;

inline Place place_in_shared(void* pointer) { return pointer; }

template <int COUNT, typename T>
inline void copy_to_place(Place place, int behind, const T* from) {
    for (int i = 0; i < COUNT; ++i) copy_element(static_cast<T*>(place) + behind + i, from + i);
}

template <typename T>
inline const T* held(const T* address) {
    return address;
}

#endif

// Copies COUNT elements from shared to global memory.
template <int COUNT, typename T>
__device__ __forceinline__ void write_run(T* to, const T* from) {
    if constexpr (COUNT == 4) {
        T run[4];
        read_four(from, run);
        *reinterpret_cast<float4*>(to) = {run[0], run[1], run[2], run[3]};
    } else if constexpr (COUNT == 2) {
        *reinterpret_cast<double2*>(to) = read_pair_here(in_shared(from));
    } else {
        *to = *from;
    }
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

// One launch. A block takes `share` of all slots, which are counted through the tiles: each has BEGINNING, then its
// pages.
template <typename T>
struct Launch {
    const T* input;
    T* output;
    long long rows;  // rows * columns < 2^31
    long long share;
    double value;  // of the constant boundary
    int columns;
    int pages;
    Axis down;    // tiles along rows
    Axis across;  // and along columns
    int lanes;    // that work: ROWS * lanes <= rows, but where the boundary goes around
    int warps;    // of each sweep that work: COLUMNS * warps <= columns, likewise
    unsigned int boundary;
    unsigned int unused;
};

template <typename Number>
__device__ __forceinline__ Number least(Number a, Number b) {
    return a < b ? a : b;
}

template <typename Number>
__device__ __forceinline__ constexpr Number most(Number a, Number b) {
    return a > b ? a : b;
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

    // Where the boundary says that COUNT neighbouring samples come from, if one of them is needed and they are there at
    // all, or a negative number.
    template <int COUNT>
    __device__ __forceinline__ int source(int place, int size, unsigned int boundary) const {
        if (place + COUNT <= low || place >= high) return -1;
        if (place >= 0 && place < size) return place;
        if (boundary == CONSTANT) return -1;
        if (boundary != CIRCULAR) return place < 0 ? 0 : size - 1;
        place %= size;
        return place < 0 ? place + size : place;
    }
};

// A run: some pages of a tile, which are written. In shared memory: sums and samples leave no registers for it.
struct Run {
    Span down;
    Span across;
    int begin;  // the pages: from here on
    int stop;   // and up to here
};

// A tile's pages, and what a lane does with one.
//
// AT_ONCE elements are copied at a time, 1 or as many as have 16 bytes. In a volume, then, columns of tiles begin and end
// at multiples of that.
template <typename T, int ROW_COUNT, int COLUMN_COUNT, int WARP_COUNT, int RUN, int GROUPED, class Filter>
struct Tile {
    static constexpr int ROWS = ROW_COUNT;
    static constexpr int COLUMNS = COLUMN_COUNT;
    static constexpr int WARPS = WARP_COUNT;
    static constexpr int AT_ONCE = RUN;
    static constexpr int HEIGHT = LANES * ROWS;
    static constexpr int WIDTH = WARPS * COLUMNS;
    static constexpr int THREADS = 2 * WARPS * LANES;
    // A column of a page in shared memory, with a ghost value or more at both ends, and a page.
    static constexpr int PITCH = HEIGHT + 2 * AT_ONCE;
    static constexpr int PAGE = PITCH * (WIDTH + 2);
    // The place of the tile's first row and column in it.
    static constexpr int FIRST = PITCH + AT_ONCE;
    // Columns of a page come several at a time: a thread has the same rows of every COPIED-th.
    static constexpr int RUNS = PITCH / AT_ONCE;
    static constexpr int COPYING = RUNS <= 32 ? 32 : RUNS <= 64 ? 64 : RUNS <= 128 ? 128 : 256;
    static constexpr int COPIED = THREADS / COPYING;
    static constexpr int COPIES = (WIDTH + 2 + COPIED - 1) / COPIED;
    // They are asked for with the first of a lane's columns: so many with each.
    static constexpr int ASKED = most(4, (COPIES + COLUMNS * 2 / 3 - 1) / (COLUMNS * 2 / 3));
    static_assert(RUNS <= THREADS, "a thread has the same rows of all columns that come");
    static_assert(HEIGHT % AT_ONCE == 0, "columns of results are written so");
    // The second sweep's results are written by so many columns, which each warp has twice in shared memory: a lane
    // writes so many runs of them.
    static constexpr int GROUP = GROUPED;
    static constexpr int WRITES = (GROUP * HEIGHT / AT_ONCE + LANES - 1) / LANES;
    static constexpr int ELEMENTS = 4 * PAGE + 2 * WARPS * 2 * GROUP * PITCH;

    // For each point what the page that comes finishes, and the output behind that.
    T sums[2][COLUMNS][ROWS];

    // A page of samples, from this lane's place there: `emit` gets what is finished, column by column, and `beside` is
    // called as often.
    template <class Emit, class Beside>
    __device__ __forceinline__ void page(const T* from, const Emit& emit, const Beside& beside) {
        T samples[3][ROWS + 2];
        load(from - PITCH, samples[0]);
        load(from, samples[1]);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            T finished[ROWS];
            beside(c);
#pragma unroll
            for (int q = 0; q < 3; ++q) {
                const T(&column)[ROWS + 2] = samples[(c + q) % 3];
#pragma unroll
                for (int r = 0; r < 3; ++r) {
#pragma unroll
                    for (int i = 0; i < ROWS; ++i) {
                        const bool begins = q == 0 && r == 0;
                        T& old = sums[0][c][i];
                        T& young = sums[1][c][i];
                        finished[i] = fma(column[i + r], Filter::tap(2, q, r), begins ? old : finished[i]);
                        old = fma(column[i + r], Filter::tap(1, q, r), begins ? young : old);
                        young = fma(column[i + r], Filter::tap(0, q, r), begins ? T(0) : young);
                    }
                }
                // The first column of samples is not needed any more.
                if (q == 0) load(from + (c + 1) * PITCH, samples[(c + 2) % 3]);
            }
            emit(c, finished);
        }
    }

private:
    static __device__ __forceinline__ void load(const T* from, T (&column)[ROWS + 2]) {
#pragma unroll
        for (int i = 0; i < ROWS + 2; ++i) column[i] = from[i - 1];
    }
};

template <typename T, class Tile>
__device__ __forceinline__ void sweep_volumes(const Launch<T>& launch) {
    constexpr int ROWS = Tile::ROWS;
    constexpr int COLUMNS = Tile::COLUMNS;
    constexpr int WARPS = Tile::WARPS;
    constexpr int AT_ONCE = Tile::AT_ONCE;
    constexpr int PITCH = Tile::PITCH;
    constexpr int PAGE = Tile::PAGE;
    constexpr int THREADS = Tile::THREADS;
    constexpr int GROUP = Tile::GROUP;
    constexpr int WRITES = Tile::WRITES;
    // Two pages of samples, two of the first sweep's results, and for each warp two groups of columns.
    DYNAMIC_SHARED(T, memory);
    T* const between = memory + 2 * PAGE;
    __shared__ Run run;
    // Where each column of the tile lies in a page of the volume, or NOWHERE.
    __shared__ unsigned int columns_at[(Tile::COPIES + Tile::ASKED) * Tile::COPIED];
    const int pages = launch.pages;
    const bool circular = launch.boundary == CIRCULAR;
    const bool constant = launch.boundary == CONSTANT;
    const bool doubles = !circular && !constant;

    Tile tile;
#pragma unroll
    for (int q = 0; q < 2; ++q) {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) tile.sums[q][c][i] = 0;
        }
    }

    const int slots_of_tile = BEGINNING + pages;
    long long at = launch.share * blockIdx.x;
    const long long end =
        least(at + launch.share, (long long)slots_of_tile * (launch.down.count * launch.across.count));
#pragma unroll 1
    while (at < end) {
        const int number = (int)(at / slots_of_tile);
        const int before = (int)(at - (long long)number * slots_of_tile);
        const int behind = (int)least(end - (long long)number * slots_of_tile, (long long)slots_of_tile);
        at += behind - before;
        if (behind <= BEGINNING) continue;
        __syncthreads();
        if (threadIdx.x == 0) {
            run.down.set(launch.down, number % launch.down.count, (int)launch.rows, launch.lanes * ROWS, circular);
            run.across.set(launch.across, number / launch.down.count, launch.columns, launch.warps * COLUMNS, circular);
            run.begin = most(before - BEGINNING, 0);
            run.stop = behind - BEGINNING;
        }
        __syncthreads();
        for (int c = threadIdx.x; c < (Tile::COPIES + Tile::ASKED) * Tile::COPIED; c += THREADS) {
            const int column = run.across.source<1>(run.across.start - 1 + c, launch.columns, launch.boundary);
            const bool is_column = c < launch.warps * COLUMNS + 2 && column >= 0;
            columns_at[c] = is_column ? (unsigned int)column * (int)launch.rows : NOWHERE;
        }
        // What stands outside is there from now on: nothing is ever written to its place.
        const auto fill = [&](T* page, int count) {
#pragma unroll 1
            for (int i = threadIdx.x; i < count; i += THREADS) page[i] = T(launch.value);
        };
        if (constant) fill(memory, 4 * PAGE);
        __syncthreads();

        // A step is a slot. But the second sweep takes the volume's first page twice where it stands before itself, too,
        // and all others wait for that.
        const int begin = run.begin;
        const bool waits = doubles && begin == 0;
        // Before the first slot comes what is taken in it, unless that is the constant.
        const int first_step = most(begin - 2, circular ? begin - 2 : -1) - 1;
        int step = first_step;
#pragma unroll 1
        while (step <= run.stop + 2 + (waits ? 1 : 0)) {
            // Some steps that do the same, each in the other buffers than the one before it and a page further. What is
            // in these braces is computed anew each time: it is to take no registers elsewhere.
            const int thread = here(threadIdx.x);
            const int lane = thread % LANES;
            // The same for all lanes, which the compiler cannot know.
            const int warp_of_block = __shfl_sync(0xffffffff, thread / LANES, 0);
            const bool second = warp_of_block >= WARPS;
            const int warp = second ? warp_of_block - WARPS : warp_of_block;
            const bool works = lane < launch.lanes && warp < launch.warps;
            const int stop = run.stop;
            const int rows = (int)launch.rows;
            const int height = launch.lanes * ROWS;
            const int width = launch.warps * COLUMNS;
            const unsigned int page_size = (unsigned int)rows * launch.columns;
            const Span& down = run.down;
            const Span& across = run.across;

            // In a slot the first sweep takes the page of that number, and the second one that the first has finished.
            const bool waits_now = waits && step == 3;
            const int slot = waits && step >= 3 ? step - 1 : step;
            const int first = first_step + 1;
            const int last = circular ? stop + 1 : least(stop + 1, pages);
            const int page = second ? slot - 2 : slot;
            const int first_own = !second ? first : doubles ? most(begin - 1, 0) : begin - 1;
            const int last_own = second ? stop : last;
            const bool takes = page >= first_own && page <= last_own && (second || !waits_now);
            // The first page that finishes one that counts.
            const int first_counts = second ? begin + 1 : circular ? begin : most(begin, 1);
            const bool counts = takes && page >= first_counts;
            // The page that comes for the next slot. The first of the volume is taken twice where it stands before
            // itself, too, and so is the last one.
            const int coming = doubles && slot < first ? most(first, 0) : slot + 1;
            const int last_come = circular ? last : least(last, pages - 1);
            const bool is_there = doubles && slot == -1 && slot == first;
            const bool page_comes = (circular || coming >= 0) && coming <= last_come && !is_there && !waits_now;
            // From here on steps are alike, up to there.
            const int alike = begin + 3;
            const int unlike = least(last_come, pages - 1);
            int count = slot >= alike && slot < unlike ? unlike - slot : 1;
            if (waits_now) count = 1;
            step += count;

            // This thread's share of a page that comes: the same rows of some columns.
            const int copied_row = thread % Tile::COPYING * AT_ONCE;
            const int copied_column = thread / Tile::COPYING;
            const int row = down.start - AT_ONCE + copied_row;
            const bool is_ghost = doubles && (row < 0 || row >= rows);
            const bool is_row = copied_row < height + 2 * AT_ONCE && copied_column < Tile::COPIED && !is_ghost;
            const int row_at = is_row ? down.template source<AT_ONCE>(row, rows, launch.boundary) : -1;
            const bool comes = page_comes && row_at >= 0;
            int comes_from = coming;
            if (circular) {
                comes_from %= pages;
                if (comes_from < 0) comes_from += pages;
            }
            const T* coming_from = launch.input + most(row_at, 0) + (long long)most(comes_from, 0) * page_size;
            T* coming_to = memory + (coming & 1) * PAGE + copied_column * PITCH + copied_row;
            const unsigned int* const offsets_at = columns_at + copied_column;

            // This lane's place in a page, and its warp's in the columns of results. Columns of results of the first
            // sweep lie one behind the other. Those that go to device memory, and those that nobody needs, take turns.
            const int place = Tile::FIRST + warp * COLUMNS * PITCH + lane * ROWS;
            T* const staged = memory + 4 * PAGE + warp_of_block * 2 * GROUP * PITCH;
            const bool goes_on = !second && works && counts;
            // A page that is outside of the volume may be one of the volume once more.
            const int taken = doubles ? most(0, least(page, pages - 1)) : page;
            const T* samples = (second ? between : memory) + (taken & 1) * PAGE + place;
            T* finished = goes_on ? between + ((page + 1) & 1) * PAGE + place : staged + lane * ROWS;

            // The runs of AT_ONCE elements that this lane writes: so many of each group of columns, a bit each.
            constexpr int GROUPS = (COLUMNS + GROUP - 1) / GROUP;
            static_assert(WRITES * GROUPS <= 32, "runs have bits");
            const int first_column = across.start + warp * COLUMNS;
            unsigned int runs_written = 0;
            unsigned int runs_at[WRITES];
#pragma unroll
            for (int i = 0; i < WRITES; ++i) {
                const int number = lane + i * LANES;
                const int column = GROUP == 1 ? 0 : number / (Tile::HEIGHT / AT_ONCE);
                const int first_row = (number - column * (Tile::HEIGHT / AT_ONCE)) * AT_ONCE;
                const int row = down.start + first_row;
                const bool is_row = second && counts && warp < launch.warps && row >= down.from && row < down.to;
#pragma unroll
                for (int g = 0; g < GROUPS; ++g) {
                    const int of_warp = g * GROUP + column;
                    const bool is_column = of_warp < COLUMNS && first_column + of_warp >= across.from &&
                                           first_column + of_warp < across.to;
                    if (is_row && is_column) runs_written |= 1u << (i * GROUPS + g);
                }
                runs_at[i] = GROUP == 1 ? i * LANES * AT_ONCE : (unsigned int)(column * rows + first_row);
            }
            T* write_to = launch.output + (long long)(page - 1) * page_size + (long long)first_column * rows + down.start +
                          (GROUP == 1 ? lane * AT_ONCE : 0);

            // Which sides of the volume this warp has, whose samples stand outside, too.
            const bool above = doubles && down.start == 0;
            const bool below = doubles && down.start + height == rows;
            const bool left = doubles && warp == 0 && across.start == 0;
            const bool right = doubles && warp == launch.warps - 1 && across.start + width == launch.columns;
            const bool sides = !second && counts && warp < launch.warps && (above || below || left || right);
            const bool rows_double = page_comes && (above || below) && copied_column < Tile::COPIED;

            // Behind the last page stands the constant.
            if (constant && slot == pages - 1 && coming <= last) fill(memory + (coming & 1) * PAGE, PAGE);
            if (constant && slot == pages + 1) fill(between + (pages & 1) * PAGE, PAGE);

#pragma unroll 1
            do {
                const T* const from = held(coming_from);
                const Place to_place = place_in_shared(coming_to);
                if (takes) {
                    unsigned int offsets[Tile::ASKED];
                    const auto ask = [&](int c) {
#pragma unroll
                        for (int n = 0; n < Tile::ASKED; ++n) {
                            offsets[n] = offsets_at[(c * Tile::ASKED + n) * Tile::COPIED];
                        }
                    };
                    const auto beside = [&](int c) {
                        if (c * Tile::ASKED >= Tile::COPIES) return;
#pragma unroll
                        for (int n = 0; n < Tile::ASKED; ++n) {
                            const int number = c * Tile::ASKED + n;
                            if (number < Tile::COPIES && comes && offsets[n] != NOWHERE) {
                                copy_to_place<AT_ONCE>(to_place, number * Tile::COPIED * PITCH, from + offsets[n]);
                            }
                        }
                        if ((c + 1) * Tile::ASKED < Tile::COPIES) ask(c + 1);
                    };
                    ask(0);
                    tile.page(samples, [&](int c, const T (&points)[ROWS]) {
                        // A column of results: the first sweep's for the second, the second's so that lanes then find
                        // neighbouring rows.
                        const int column = c % (2 * GROUP) * PITCH;
#pragma unroll
                        for (int i = 0; i < ROWS; ++i) finished[column + i] = points[i];
                        if (c % (2 * GROUP) == 2 * GROUP - 1 && goes_on) finished += 2 * GROUP * PITCH;
                        if (c % GROUP < GROUP - 1 && c < COLUMNS - 1) return;
                        __syncwarp();
#pragma unroll
                        for (int i = 0; i < WRITES; ++i) {
                            if (runs_written >> (i * GROUPS + c / GROUP) & 1) {
                                const int number = lane + i * LANES;
                                const int place = GROUP == 1 ? number * AT_ONCE
                                                             : number / (Tile::HEIGHT / AT_ONCE) * PITCH +
                                                                   number % (Tile::HEIGHT / AT_ONCE) * AT_ONCE;
                                write_run<AT_ONCE>(write_to + runs_at[i], staged + c / GROUP % 2 * GROUP * PITCH + place);
                            }
                        }
                        write_to += GROUP * (unsigned int)rows;
                    }, beside);
                    if (goes_on) finished -= COLUMNS / (2 * GROUP) * (2 * GROUP * PITCH);
                    write_to -= (COLUMNS + GROUP - 1) / GROUP * GROUP * (long long)rows;
                } else {
#pragma unroll 1
                    for (int n = 0; n < Tile::COPIES; ++n) {
                        const unsigned int offset = offsets_at[n * Tile::COPIED];
                        if (comes && offset != NOWHERE) {
                            copy_to_place<AT_ONCE>(to_place, n * Tile::COPIED * PITCH, from + offset);
                        }
                    }
                }
                // The rows and columns at the volume's sides stand outside, too.
                if (sides) {
                    T* const top = between + (coming_to >= memory + PAGE ? PAGE : 0) + place - lane * ROWS;
                    __syncwarp();
                    if (lane < COLUMNS) {
                        T* const column = top + lane * PITCH;
                        if (above) column[-1] = column[0];
                        if (below) column[height] = column[height - 1];
                    }
                    __syncwarp();
                    for (int i = lane - 1; i <= height; i += LANES) {
                        if (left) top[i - PITCH] = top[i];
                        if (right) top[i + COLUMNS * PITCH] = top[i + (COLUMNS - 1) * PITCH];
                    }
                }
                end_group();
                wait_groups<0>();
                if (rows_double) {
                    for (int c = copied_column; c < width + 2; c += Tile::COPIED) {
                        T* const rows_here = coming_to + (c - copied_column) * PITCH;
                        if (above && row == 0) rows_here[-1] = rows_here[0];
                        if (below && row == rows - AT_ONCE) rows_here[AT_ONCE] = rows_here[AT_ONCE - 1];
                    }
                }
                // The other buffers: all lie alike.
                const int other = coming_to >= memory + PAGE ? PAGE : -PAGE;
                samples += other;
                coming_to -= other;
                if (goes_on) finished -= other;
                coming_from += page_size;
                write_to += page_size;
                __syncthreads();
            } while (--count > 0);
        }
    }
}

}  // namespace volumes
