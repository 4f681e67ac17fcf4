// Two sweeps of a 3 x 3 x 3 convolution over a volume in one launch.
//
// A block takes a tile of rows and columns through both sweeps, page by page: half of its warps do the first sweep, the
// others the second. A lane holds ROWS neighbouring rows of COLUMNS columns and, for each of these points, the sums of
// the two outputs that the page that has come is not the last for. So a page is used up as it comes: in the filter's
// order, pages outermost, an output gets one run of nine multiply-adds from each of three pages, which is its chain.
//
// In a slot of time each half takes a page, then all meet at one barrier. Pages of samples come into two buffers in
// shared memory, one ahead; pages that the first sweep has finished go to two others, and are the second sweep's
// samples one slot later. What the second sweep has finished goes straight to device memory: a lane has 16 bytes of a
// column, its neighbours have those beside them. Tiles write whole sectors of 32 bytes where they can: memory reads what
// stands in a sector before it writes a part of one.
//
// In the loop over columns nothing branches: copies and writes are instructions with a predicate.
//
// Instructions come slowly where a warp has them for itself: a line of them is fetched while eight are done. So both
// sweeps go through the same instructions, and several warps of a partition share what was fetched. And sums and
// samples take nearly all registers: what would be kept across a page beside them goes to local memory and comes back
// from afar. So a block computes anew what it needs for the first and the last slots of a run, and in those between
// only addresses change.
//
// Tiles overlap, and so do the runs of pages that blocks take: each sweep spoils a row, a column and a page at a side
// that is not the volume's. At the volume's own sides each sweep is true. Every page in shared memory has a row and a
// column more on each side. A tile that reaches to the volume's side has there what that side's boundary asks for:
// samples come from the place that the boundary says, what the first sweep has finished at the side is copied to where
// it stands outside, and a constant is there from the beginning. The page before the first and the one behind the last
// are taken like others: samples come once more from the page that stands there, and the second sweep takes the buffer
// that has it. With a radius of 1, 'replicate' and 'symmetric' are the same.
//
// Along a dimension that goes round, volumes are seen as going on: it has no sides.
#pragma once

#include "boundary.cuh"
#include "copies.cuh"
#include "tensor.cuh"

namespace volumes {

constexpr int LANES = 32;

// What is not an element of a page.
constexpr unsigned int NOWHERE = 0xffffffff;

#ifdef __CUDACC_RTC__

// Begins a copy of COUNT elements from `offset` behind an address to a place, for this thread's current group: if it is
// to come, and is somewhere.
template <int COUNT, typename T>
__device__ __forceinline__ void copy_to_place(bool comes, Place<T> to, const T* from, unsigned int offset) {
    const T* const address = from + offset;
    if constexpr (COUNT * sizeof(T) == 16) {
        asm volatile(
            "{\n"
            ".reg .pred p, q;\n"
            "setp.ne.u32 q, %0, 0;\n"
            "setp.ne.and.u32 p, %1, 0xffffffff, q;\n"
            "@p cp.async.cg.shared.global [%2], [%3], 16;\n"
            "}" ::"r"((unsigned int)comes),
            "r"(offset), "r"(to.address), "l"(address)
            : "memory");
    } else {
        static_assert(COUNT == 1, "one element or 16 bytes");
        asm volatile(
            "{\n"
            ".reg .pred p, q;\n"
            "setp.ne.u32 q, %0, 0;\n"
            "setp.ne.and.u32 p, %1, 0xffffffff, q;\n"
            "@p cp.async.ca.shared.global [%2], [%3], %4;\n"
            "}" ::"r"((unsigned int)comes),
            "r"(offset), "r"(to.address), "l"(address), "n"(sizeof(T))
            : "memory");
    }
}

// The same address, but the compiler does not compute it anew where it is needed.
template <typename T>
__device__ __forceinline__ T* held(T* address) {
    asm volatile("" : "+l"(address));
    return address;
}

#else

template <int COUNT, typename T>
inline void copy_to_place(bool comes, Place<T> to, const T* from, unsigned int offset) {
    if (!comes || offset == NOWHERE) return;
    for (int i = 0; i < COUNT; ++i) copy_element(to.at + i, from + offset + i);
}

template <typename T>
inline T* held(T* address) {
    return address;
}

#endif

#ifdef __CUDACC_RTC__

// Ends a block of instructions, which ptxas would otherwise order as it likes: it puts off multiply-adds that nothing
// waits for, and their operands take registers until then. No number of slots is as large.
__device__ __forceinline__ void cut(int slots, int number) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.eq.u32 p, %0, %1;\n"
        "@p exit;\n"
        "}" ::"r"(slots),
        "r"(0x7fff0000 + number));
}

#else

inline void cut(int, int) {}

#endif

// Reads a lane's rows from shared memory.
__device__ __forceinline__ void read_run(const float* from, float* to) { read_four(from, to); }
__device__ __forceinline__ void read_run(const double* from, double* to) {
    const double2 pair = *reinterpret_cast<const double2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

#ifdef __CUDACC_RTC__

// Writes them to shared memory, if they go there.
__device__ __forceinline__ void write_run(bool goes, Place<float> to, const float (&from)[4]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %0, 0;\n"
        "@p st.shared.v4.f32 [%1], {%2, %3, %4, %5};\n"
        "}" ::"r"((unsigned int)goes),
        "r"(to.address), "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3])
        : "memory");
}
__device__ __forceinline__ void write_run(bool goes, Place<double> to, const double (&from)[2]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %0, 0;\n"
        "@p st.shared.v2.f64 [%1], {%2, %3};\n"
        "}" ::"r"((unsigned int)goes),
        "r"(to.address), "d"(from[0]), "d"(from[1])
        : "memory");
}

#else

template <typename T, int COUNT>
inline void write_run(bool goes, Place<T> to, const T (&from)[COUNT]) {
    if (goes) memcpy(to.at, from, sizeof from);
}

#endif

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
    int tile;    // likewise
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
    Axis down;    // tiles along rows
    Axis across;  // and along columns
    int lanes;    // that work: ROWS * lanes <= rows, but where rows go round
    int strips;   // that work: COLUMNS * strips <= columns, likewise
    Ends of_rows;  // what stands beyond them; no MIRROR of one row, and so with columns and pages
    Ends of_columns;
    Ends of_pages;
    Round rounds[ROUNDS];
};

template <typename Number>
__device__ __forceinline__ Number least(Number a, Number b) {
    return a < b ? a : b;
}

template <typename Number>
__device__ __forceinline__ constexpr Number most(Number a, Number b) {
    return a > b ? a : b;
}

// What stands just outside, at one end of a dimension.
__device__ __forceinline__ bool is_sample(unsigned int boundary) { return boundary != CONSTANT && boundary != CIRCULAR; }

// Which of so many rows, columns or pages stands at a place no further outside than one, but where they go round;
// negative for a constant.
__device__ __forceinline__ int stands_at(int place, int size, const Ends& ends) {
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

    // Where the boundary says that COUNT neighbouring samples come from, if one of them is needed and they are there at
    // all, or a negative number.
    template <int COUNT>
    __device__ __forceinline__ int source(int place, int size, const Ends& ends) const {
        return place + COUNT <= low || place >= high ? -1 : stands_at(place, size, ends);
    }
};

// A run: some pages of a tile, which are written. In shared memory: sums and samples leave no registers for it.
struct Run {
    Span down;
    Span across;
    int begin;  // the pages: from here on
    int stop;   // and up to here
    // At which sides of the volume the tile is, whose samples stand outside, too: above, below, left and right a bit
    // each, and 4 bits further where that is not the sample at the side but the one before it.
    unsigned int sides;
};

// A tile's pages, and what a lane does with one.
//
// A lane holds as many neighbouring rows as have 16 bytes, of COLUMNS columns. DOWN lanes, one below the other, are a
// strip, and those of a sweep's WARPS warps are some strips side by side. AT_ONCE elements are copied at a time, 1 or as
// many as a lane has rows: then columns of the volume and of tiles begin and end at multiples of that.
template <typename T, int DOWN_COUNT, int COLUMN_COUNT, int WARP_COUNT, int RUN, int CUT_COUNT, int ROW_TAPS,
          class Filter>
struct Tile {
    static constexpr int ROWS = 16 / sizeof(T);
    static constexpr int COLUMNS = COLUMN_COUNT;
    static constexpr int WARPS = WARP_COUNT;
    static constexpr int DOWN = DOWN_COUNT;
    static constexpr int STRIPS = WARPS * LANES / DOWN;
    static constexpr int CUT = CUT_COUNT;
    // A filter of one row has the sample in the middle, and what stands above and below does not count.
    static constexpr int ASIDE = 1 - ROW_TAPS / 2;
    static constexpr bool ROWS_COUNT = ROW_TAPS > 1;
    static constexpr int AT_ONCE = RUN;
    static constexpr int HEIGHT = DOWN * ROWS;
    static constexpr int WIDTH = STRIPS * COLUMNS;
    static constexpr int THREADS = 2 * WARPS * LANES;
    // A column of a page in shared memory, with 16 bytes more at both ends, and a page.
    static constexpr int PITCH = HEIGHT + 2 * ROWS;
    static constexpr int PAGE = PITCH * (WIDTH + 2);
    static constexpr int ELEMENTS = 4 * PAGE;
    // The place of the tile's first row and column in it.
    static constexpr int FIRST = PITCH + ROWS;
    // Columns of a page come several at a time: a thread has the same rows of every COPIED-th.
    static constexpr int COPYING = HEIGHT / AT_ONCE + 2;
    static constexpr int COPIED = THREADS / COPYING;
    static constexpr int COPIES = (WIDTH + 2 + COPIED - 1) / COPIED;
    // They are asked for with the first of a lane's columns: so many with each.
    static constexpr int ASKED = most(2, (COPIES + COLUMNS / 2 - 1) / (COLUMNS / 2));
    static_assert(AT_ONCE == 1 || AT_ONCE == ROWS, "one element or 16 bytes");
    static_assert(COPIED > 0, "a thread has the same rows of all columns that come");
    static_assert(COLUMNS <= 32, "columns have bits");
    static_assert(DOWN % 8 == 0 && DOWN * STRIPS == WARPS * LANES, "all lanes work, and their accesses do not conflict");

    // For each point what the page that comes finishes, and the output behind that.
    T sums[2][COLUMNS][ROWS];

    // A page of samples, from this lane's place there: `emit` gets what is finished, column by column, and `beside` is
    // called before each.
    template <class Emit, class Beside>
    __device__ __forceinline__ void page(Place<T> place, int never, const Emit& emit, const Beside& beside) {
        const T* const from = place.pointer();
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
                for (int r = 0; r < ROW_TAPS; ++r) {
#pragma unroll
                    for (int i = 0; i < ROWS; ++i) {
                        const bool begins = q == 0 && r == 0;
                        T& old = sums[0][c][i];
                        T& young = sums[1][c][i];
                        finished[i] = fma(column[i + r + ASIDE], Filter::tap(2, q, r), begins ? old : finished[i]);
                        old = fma(column[i + r + ASIDE], Filter::tap(1, q, r), begins ? young : old);
                        young = fma(column[i + r + ASIDE], Filter::tap(0, q, r), begins ? T(0) : young);
                    }
                }
                // The first column of samples is not needed any more.
                if (q == 0) load(from + (c + 1) * PITCH, samples[(c + 2) % 3]);
            }
            emit(c, finished);
            if constexpr (CUT > 0) {
                if (c % CUT == CUT - 1) cut(never, c);
            }
        }
    }

private:
    static __device__ __forceinline__ void load(const T* from, T (&column)[ROWS + 2]) {
        column[0] = from[-1];
        read_run(from, column + 1);
        column[ROWS + 1] = from[ROWS];
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
    // Two pages of samples, two of the first sweep's results.
    DYNAMIC_SHARED(T, memory);
    T* const between = memory + 2 * PAGE;
    __shared__ Run run;
    // Where each column of the tile lies in a page of the volume, or NOWHERE.
    __shared__ unsigned int columns_at[(Tile::COPIES + Tile::ASKED) * Tile::COPIED];
    const int pages = launch.pages;
    const bool circular = launch.of_pages.circular();

    Tile tile;
#pragma unroll
    for (int q = 0; q < 2; ++q) {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) tile.sums[q][c][i] = 0;
        }
    }

    int round = 0;
    int unit = (int)blockIdx.x - launch.rounds[0].block;
#pragma unroll 1
    while (round < ROUNDS) {
        const Round& of = launch.rounds[round];
        const int parts = (of.pages + of.share - 1) / of.share;
        const bool is_in = (int)blockIdx.x >= of.block && (int)blockIdx.x < of.block + of.blocks;
        if (!is_in || unit >= of.tiles * parts) {
            if (++round < ROUNDS) unit = (int)blockIdx.x - launch.rounds[round].block;
            continue;
        }
        const int part = unit / of.tiles;
        const int number = of.tile + unit - part * of.tiles;
        unit += of.blocks;
        __syncthreads();
        if (threadIdx.x == 0) {
            run.down.set(launch.down, number % launch.down.count, (int)launch.rows, launch.lanes * ROWS,
                         launch.of_rows.circular());
            run.across.set(launch.across, number / launch.down.count, launch.columns, launch.strips * COLUMNS,
                           launch.of_columns.circular());
            const auto side_of = [&](bool is_there, unsigned int boundary, int bit) {
                return is_there && is_sample(boundary) ? (boundary == MIRROR ? 17u : 1u) << bit : 0;
            };
            const bool below = run.down.start + launch.lanes * ROWS == (int)launch.rows;
            const bool right = run.across.start + launch.strips * COLUMNS == launch.columns;
            run.sides = side_of(run.down.start == 0, launch.of_rows.boundary[0], 0) |
                        side_of(below, launch.of_rows.boundary[1], 1) |
                        side_of(run.across.start == 0, launch.of_columns.boundary[0], 2) |
                        side_of(right, launch.of_columns.boundary[1], 3);
            run.begin = of.page + part * of.share;
            run.stop = least(of.page + of.pages, run.begin + of.share);
        }
        __syncthreads();
        for (int c = threadIdx.x; c < (Tile::COPIES + Tile::ASKED) * Tile::COPIED; c += THREADS) {
            const int column = run.across.source<1>(run.across.start - 1 + c, launch.columns, launch.of_columns);
            const bool is_column = c < launch.strips * COLUMNS + 2 && column >= 0;
            columns_at[c] = is_column ? (unsigned int)column * (int)launch.rows : NOWHERE;
        }
        // A page of shared memory all of which is a constant.
        const auto fill = [&](T* page, double value) {
#pragma unroll 1
            for (int i = threadIdx.x; i < PAGE; i += THREADS) page[i] = T(value);
        };
        // The constants at a page's sides, of which those of columns count where two meet. They are there from then on:
        // nothing else is written to their places.
        const auto outline = [&](T* page) {
            const int height = launch.lanes * ROWS;
            const int width = launch.strips * COLUMNS;
            const auto is_constant = [&](const Span& span, int extent, int size, const Ends& ends, int end) {
                const bool has = end == 0 ? span.start == 0 : span.start + extent == size;
                return has && (end == 0 ? ends.boundary[0] : ends.boundary[1]) == CONSTANT;
            };
            const bool above = is_constant(run.down, height, (int)launch.rows, launch.of_rows, 0);
            const bool below = is_constant(run.down, height, (int)launch.rows, launch.of_rows, 1);
            const bool left = is_constant(run.across, width, launch.columns, launch.of_columns, 0);
            const bool right = is_constant(run.across, width, launch.columns, launch.of_columns, 1);
            T* const first = page + ROWS;
            T* const last = first + (width + 1) * PITCH;
#pragma unroll 1
            for (int c = (int)threadIdx.x + (left ? 1 : 0); c < width + (right ? 1 : 2); c += THREADS) {
                if (above) first[c * PITCH - 1] = T(launch.of_rows.value[0]);
                if (below) first[c * PITCH + height] = T(launch.of_rows.value[1]);
            }
#pragma unroll 1
            for (int i = (int)threadIdx.x - 1; i <= height; i += THREADS) {
                if (left) first[i] = T(launch.of_columns.value[0]);
                if (right) last[i] = T(launch.of_columns.value[1]);
            }
        };
        // The page before the first is a constant throughout. Its buffers are those of the page behind the first.
        const bool low = launch.of_pages.boundary[0] == CONSTANT;
        const bool high = launch.of_pages.boundary[1] == CONSTANT;
#pragma unroll 1
        for (int q = 0; q < 4; ++q) {
            if (low && (q == 1 || q == 3) && run.begin < (q == 1 ? 2 : 1)) {
                fill(memory + q * PAGE, launch.of_pages.value[0]);
            } else {
                outline(memory + q * PAGE);
            }
        }
        __syncthreads();

        // A step is a slot. But where samples stand before the volume's first page, the second sweep needs a page there
        // that the first has to have finished: the first once more, or the one behind it. All others wait for that.
        const int begin = run.begin;
        const unsigned int before = launch.of_pages.boundary[0];
        const int waits = begin > 0 || !is_sample(before) ? 0 : before == MIRROR ? 2 : 1;
        // Before the first slot comes what is taken in it.
        const int first_step = most(begin - 2, circular ? begin - 2 : -1) - 1;
        int step = first_step;
#pragma unroll 1
        while (step <= run.stop + 2 + waits) {
            // Some steps that do the same, each in the other buffers than the one before it and a page further. What is
            // in these braces is computed anew each time: it is to take no registers elsewhere.
            const int thread = here(threadIdx.x);
            const int lane = thread % LANES;
            // The same for all lanes, which the compiler cannot know.
            const int warp_of_block = __shfl_sync(0xffffffff, thread / LANES, 0);
            const bool second = warp_of_block >= WARPS;
            const int warp = second ? warp_of_block - WARPS : warp_of_block;
            const int of_sweep = warp * LANES + lane;
            const int strip = of_sweep / Tile::DOWN;
            const int row_of_lanes = of_sweep - strip * Tile::DOWN;
            const bool works = row_of_lanes < launch.lanes && strip < launch.strips;
            const int stop = run.stop;
            const int rows = (int)launch.rows;
            const int height = launch.lanes * ROWS;
            const int width = launch.strips * COLUMNS;
            const unsigned int page_size = (unsigned int)rows * launch.columns;
            const Span& down = run.down;
            const Span& across = run.across;

            // In a slot the first sweep takes the page of that number, and the second one that the first has finished.
            const bool waits_now = step >= 3 && step < 3 + waits;
            const int slot = step < 3 ? step : most(2, step - waits);
            const int first = first_step + 1;
            const int last = circular ? stop + 1 : least(stop + 1, pages);
            const int page = second ? step - waits - 2 : slot;
            const int first_own = second ? begin - 1 : first;
            const int last_own = second ? stop : last;
            const bool takes = page >= first_own && page <= last_own && (second || !waits_now);
            // The first page that finishes one that counts.
            const int first_finishes = circular ? begin : most(begin, 1);
            const bool counts = takes && page >= (second ? begin + 1 : first_finishes);
            // The page that comes for the next slot, and which one of the volume it is.
            const int coming = slot + 1;
            const int comes_from = stands_at(coming, pages, launch.of_pages);
            const bool page_comes = coming <= last && comes_from >= 0 && !waits_now;
            // From here on steps are alike, up to there.
            const int alike = begin + 3;
            const int unlike = least(last, pages - 1);
            int count = slot >= alike && slot < unlike ? unlike - slot : 1;
            step += count;

            // This thread's share of a page that comes: the same rows of some columns.
            const int copied_row = thread % Tile::COPYING * AT_ONCE;
            const int copied_column = thread / Tile::COPYING;
            const int row = down.start - AT_ONCE + copied_row;
            const bool is_ghost = !launch.of_rows.circular() && (row < 0 || row >= rows);
            const bool is_row = copied_row < height + 2 * AT_ONCE && copied_column < Tile::COPIED && !is_ghost;
            const int row_at = is_row ? down.template source<AT_ONCE>(row, rows, launch.of_rows) : -1;
            const bool comes = page_comes && row_at >= 0;
            const T* coming_from = launch.input + most(row_at, 0) + (long long)most(comes_from, 0) * page_size;
            int buffer = coming & 1;
            const int own_copy = copied_column * PITCH + ROWS - AT_ONCE + copied_row;
            Place<T> coming_to = place_at(memory + buffer * PAGE + own_copy);
            const Place<unsigned int> offsets_at = place_at(columns_at + copied_column);

            // This lane's place in a page.
            const int place = Tile::FIRST + strip * COLUMNS * PITCH + row_of_lanes * ROWS;
            const bool goes_on = !second && works && counts;
            // What the first sweep has finished of the volume's first and last pages may stand outside once more. (What
            // a mirror shows is in the buffer of the page outside.)
            const unsigned int beyond = page < 0 ? before : launch.of_pages.boundary[1];
            const bool again = second && (page < 0 || page == pages) && is_sample(beyond) && beyond != MIRROR;
            Place<T> samples = place_at((second ? between : memory) + ((page ^ (int)again) & 1) * PAGE + place);
            Place<T> finished = place_at(between + ((page + 1) & 1) * PAGE + place);

            // What this lane writes of each column: a bit for each.
            const int first_column = across.start + strip * COLUMNS;
            unsigned int columns_written = 0;
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) {
                if (first_column + c >= across.from && first_column + c < across.to) columns_written |= 1u << c;
            }
            if (!second || !counts || !works) columns_written = 0;
            const int first_row = down.start + row_of_lanes * ROWS;
            unsigned int written[ROWS / AT_ONCE];
#pragma unroll
            for (int i = 0; i < ROWS / AT_ONCE; ++i) {
                written[i] = first_row + i >= down.from && first_row + i < down.to ? columns_written : 0;
            }
            T* write_to = launch.output + (long long)(page - 1) * page_size + (long long)first_column * rows + first_row;

            // What of the tile's sides comes to stand outside: of the first sweep's results, and, 8 bits further, of the
            // samples above and below that this thread brings. (With 3 x 3 x 3 it is to be no number that all lanes share:
            // those have their registers full of the filter.)
            const unsigned int sides = run.sides;
            const int upper = AT_ONCE == 1 ? (int)(sides >> 4 & 1) : 0;
            const int lower = AT_ONCE == 1 ? (int)(sides >> 5 & 1) : 0;
            const unsigned int own_sides = (row == upper ? 17 : 0) | (row == rows - AT_ONCE - lower ? 34 : 0);
            const bool finishes = slot >= first_finishes && slot <= last && !waits_now;
            const bool brings = page_comes && copied_column < Tile::COPIED;
            const bool brings_rows = Tile::ROWS_COUNT && brings;
            const unsigned int now = (finishes ? sides : 0) | (brings_rows ? sides & own_sides : 0) << 8;
            const unsigned int outside = Tile::ROWS_COUNT ? here((int)now) : now;

            // Constant pages, and the constants at the sides of those that come into their places.
            const auto is_high = [&](int of) { return high && slot == of && coming <= last + 2; };
            if (is_high(pages - 1)) fill(memory + (pages & 1) * PAGE, launch.of_pages.value[1]);
            if (is_high(pages + 1)) fill(between + (pages & 1) * PAGE, launch.of_pages.value[1]);
            if (low && slot == 0 && !is_high(pages - 1)) outline(memory + PAGE);
            if (low && slot == 2 && !is_high(pages + 1)) outline(between + PAGE);
            __syncthreads();

#pragma unroll 1
            do {
                const T* const from = held(coming_from);
                if (takes) {
                    unsigned int offsets[Tile::ASKED];
                    const auto ask = [&](int c) {
#pragma unroll
                        for (int n = 0; n < Tile::ASKED; ++n) {
                            offsets[n] = offsets_at.pointer()[(c * Tile::ASKED + n) * Tile::COPIED];
                        }
                    };
                    const auto beside = [&](int c) {
                        if (c * Tile::ASKED >= Tile::COPIES) return;
#pragma unroll
                        for (int n = 0; n < Tile::ASKED; ++n) {
                            const int number = c * Tile::ASKED + n;
                            if (number >= Tile::COPIES) continue;
                            copy_to_place<AT_ONCE>(comes, coming_to + number * Tile::COPIED * PITCH, from, offsets[n]);
                        }
                        if ((c + 1) * Tile::ASKED < Tile::COPIES) ask(c + 1);
                    };
                    ask(0);
                    T* to = held(write_to);
                    tile.page(samples, count, [&](int c, const T (&points)[ROWS]) {
                        // The first sweep's results are for the second, whose are written.
                        write_run(goes_on, finished + c * PITCH, points);
                        if constexpr (AT_ONCE == ROWS) {
                            write_piece(written[0], 1u << c, to, points);
                        } else {
#pragma unroll
                            for (int i = 0; i < ROWS; ++i) {
                                const T point[1] = {points[i]};
                                write_piece(written[i], 1u << c, to + i, point);
                            }
                        }
                        to = held(to + (unsigned int)rows);
                    }, beside);
                } else {
#pragma unroll 1
                    for (int n = 0; n < Tile::COPIES; ++n) {
                        const unsigned int offset = offsets_at.pointer()[n * Tile::COPIED];
                        copy_to_place<AT_ONCE>(comes, coming_to + n * Tile::COPIED * PITCH, from, offset);
                    }
                }
                // The rows and columns at the volume's sides stand outside, too.
                if ((outside & 0xff) != 0) {
                    T* const top = between + buffer * PAGE + Tile::FIRST;
                    __syncthreads();
                    if constexpr (Tile::ROWS_COUNT) {
#pragma unroll 1
                        for (int c = thread; c < width; c += THREADS) {
                            T* const column = top + c * PITCH;
                            if (outside & 1) column[-1] = column[outside >> 4 & 1];
                            if (outside & 2) column[height] = column[height - 1 - (int)(outside >> 5 & 1)];
                        }
                        __syncthreads();
                    }
#pragma unroll 1
                    for (int i = thread - 1; i <= height; i += THREADS) {
                        const int left = (int)(outside >> 6 & 1);
                        const int right = width - 1 - (int)(outside >> 7 & 1);
                        if (outside & 4) top[i - PITCH] = top[i + left * PITCH];
                        if (outside & 8) top[i + width * PITCH] = top[i + right * PITCH];
                    }
                }
                end_group();
                wait_groups<0>();
                if (Tile::ROWS_COUNT && outside >> 8 != 0) {
                    const int above = (int)(outside >> 12 & 1);
                    const int below = (int)(outside >> 13 & 1);
#pragma unroll 1
                    for (int c = copied_column; c < width + 2; c += Tile::COPIED) {
                        T* const rows_here = memory + buffer * PAGE + own_copy + (c - copied_column) * PITCH;
                        if (AT_ONCE == 1) {
                            if (outside & 0x100) rows_here[-1 - above] = rows_here[0];
                            if (outside & 0x200) rows_here[1 + below] = rows_here[0];
                        } else {
                            if (outside & 0x100) rows_here[-1] = rows_here[above];
                            if (outside & 0x200) rows_here[AT_ONCE] = rows_here[AT_ONCE - 1 - below];
                        }
                    }
                }
                // The other buffers: all lie alike.
                const int other = buffer == 1 ? PAGE : -PAGE;
                buffer ^= 1;
                samples = samples + other;
                coming_to = coming_to + -other;
                finished = finished + -other;
                coming_from += page_size;
                write_to += page_size;
                __syncthreads();
            } while (--count > 0);
        }
    }
}

}  // namespace volumes
