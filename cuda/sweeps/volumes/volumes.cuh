// Two sweeps of a 3 x 3 x 3 convolution over a volume in one launch.
//
// A block takes a tile of rows and columns through both sweeps, page by page: half of its warps do the first sweep, the
// others the second. A lane holds ROWS neighbouring rows of COLUMNS columns and, for each of these points, the sums of
// the two outputs that the next page does not complete. So a page is used up as it comes: in the filter's order, pages
// outermost, an output gets one run of nine multiply-adds from each of three pages, which is its chain.
//
//   for each run of this block, some pages of a tile:
//       Run::set, set_offsets, write_constants         // state that is constant for the run
//       for each slot, which takes a page further:
//           Slots::take_page, the first sweep's warps:
//               next page of samples := copies from device memory, begun among the multiply-adds
//               page of results      := filter (page of samples)
//           Slots::take_page, the second sweep's warps:
//               next page of samples := their share of these copies
//               device memory        := filter (page of results of the slot before)
//           Slots::write_ghosts_of_results             // at the volume's sides, if they are samples
//           wait for the copies
//           Slots::write_ghosts_of_samples             // of the page that was copied
//           Slots::go_on                               // to the other buffers
//           one barrier of the block
//
// Pages of samples come into two buffers in shared memory, a slot ahead; the first sweep's results go to two others.
// The results of the second sweep go straight to device memory: a lane has 16 bytes of a column, its neighbours have
// those next to them. Tiles write whole sectors of 32 bytes where they can: memory reads a sector before it writes a
// part of one.
//
// Instructions come slowly if a warp does not share them: a line of them is fetched while eight are done. So both
// sweeps go through the same instructions, and several warps of a partition share the fetched lines. And sums and
// samples take nearly all registers: other values kept across a page would be spilled to local memory, which is slow.
// So a block recomputes the values for the first and the last slots of a run, and in those between only addresses
// change.
//
// Tiles overlap, and so do the runs of pages that blocks take: each sweep invalidates a row, a column and a page at a
// side that is not the volume's. At the volume's own sides each sweep is valid. Every page in shared memory has an
// additional row and column on each side. A tile at the volume's side has the ghost values there: samples come from the
// place that the boundary gives, the first sweep's results at the side are copied outwards, and a constant is there
// from the beginning. The page before the first and the one behind the last are taken like others: samples are copied
// once more from the page that the boundary gives, and the second sweep takes the buffer that has it. With a radius of
// 1, 'replicate' and 'symmetric' are alike.
//
// Along a circular dimension the volume goes on, and has no sides.
#pragma once

#include "sweeps/volumes/tile.cuh"

namespace volumes {

// A block's memory, and its work for a run.
template <typename T, class Tile>
struct Block {
    static constexpr int ROWS = Tile::ROWS;
    static constexpr int PITCH = Tile::PITCH;
    static constexpr int PAGE = Tile::PAGE;
    static constexpr int THREADS = Tile::THREADS;

    const VolumesArgument<T>& launch;
    T* samples;  // two pages
    T* results;  // of the first sweep: two pages

    Run& run;
    unsigned int* offsets;  // of each column of the tile in a page of the volume, or NOWHERE

    // Extents of the part of a tile that works.
    __device__ __forceinline__ int height() const { return launch.lanes * ROWS; }
    __device__ __forceinline__ int width() const { return launch.strips * Tile::COLUMNS; }

    __device__ __forceinline__ void set_offsets() const {
        for (int c = threadIdx.x; c < Tile::OFFSETS; c += THREADS) {
            const int column =
                run.across.template source<1>(run.across.start - 1 + c, launch.columns, launch.sides.of_columns);
            const bool is_column = c < width() + 2 && column >= 0;
            offsets[c] = is_column ? (unsigned int)column * (int)launch.rows : NOWHERE;
        }
    }

    // Writes a page that is a constant throughout.
    __device__ __forceinline__ void fill(T* page, double value) const {
#pragma unroll 1
        for (int i = threadIdx.x; i < PAGE; i += THREADS) page[i] = T(value);
    }

    // True if the ghost values at an end of the tile's rows or columns are a constant.
    static __device__ __forceinline__ bool is_constant(const Span& span, int extent, int size, const EndsArgument& ends,
                                                       int end) {
        const bool has = end == 0 ? span.start == 0 : span.start + extent == size;
        return has && (end == 0 ? ends.boundary[0] : ends.boundary[1]) == CONSTANT;
    }

    // Writes the constants at a page's sides; where two meet, those of columns take precedence. Nothing else is written
    // to their places.
    __device__ __forceinline__ void outline(T* page) const {
        const int height = this->height();
        const int width = this->width();
        const bool above = is_constant(run.down, height, (int)launch.rows, launch.sides.of_rows, 0);
        const bool below = is_constant(run.down, height, (int)launch.rows, launch.sides.of_rows, 1);
        const bool left = is_constant(run.across, width, launch.columns, launch.sides.of_columns, 0);
        const bool right = is_constant(run.across, width, launch.columns, launch.sides.of_columns, 1);
        T* const first = page + ROWS;
        T* const last = first + (width + 1) * PITCH;
#pragma unroll 1
        for (int c = (int)threadIdx.x + (left ? 1 : 0); c < width + (right ? 1 : 2); c += THREADS) {
            if (above) first[c * PITCH - 1] = T(launch.sides.of_rows.value[0]);
            if (below) first[c * PITCH + height] = T(launch.sides.of_rows.value[1]);
        }
#pragma unroll 1
        for (int i = (int)threadIdx.x - 1; i <= height; i += THREADS) {
            if (left) first[i] = T(launch.sides.of_columns.value[0]);
            if (right) last[i] = T(launch.sides.of_columns.value[1]);
        }
    }

    // Writes the constants that all buffers have as a run begins.
    __device__ __forceinline__ void write_constants() const {
        // The page before the first is a constant throughout. Its buffers are those of the page behind the first.
        const bool low = launch.sides.of_pages.boundary[0] == CONSTANT;
#pragma unroll 1
        for (int q = 0; q < 4; ++q) {
            if (low && (q == 1 || q == 3) && run.begin < (q == 1 ? 2 : 1)) {
                fill(samples + q * PAGE, launch.sides.of_pages.value[0]);
            } else {
                outline(samples + q * PAGE);
            }
        }
    }
};

// A thread's lane in the block.
template <class Tile>
struct Lane {
    int thread;
    bool second;  // true if its warp does the second sweep
    int strip;
    int row;  // of the strip's lanes

    __device__ __forceinline__ Lane() {
        thread = here(threadIdx.x);
        const int lane = thread % LANES;
        // By a shuffle, for the compiler to know that all lanes have the same number.
        const int warp_of_block = __shfl_sync(0xffffffff, thread / LANES, 0);
        second = warp_of_block >= Tile::WARPS;
        const int warp = second ? warp_of_block - Tile::WARPS : warp_of_block;
        const int of_sweep = warp * LANES + lane;
        strip = of_sweep / Tile::STRIP_LANES;
        row = of_sweep - strip * Tile::STRIP_LANES;
    }
};

// The sequence of a run's slots. In a slot the first sweep takes the page of that number, and the second one the page
// that the first has finished.
//
// A step is a slot. But if the ghost values before the volume's first page are samples, the second sweep needs a page
// there that the first has to have finished: the first once more, or the one behind it. All others wait for that.
struct Steps {
    int begin;            // the first page that is written
    unsigned int before;  // the boundary before the first page
    int waits;
    int first;
    int step;

    __device__ __forceinline__ Steps(const Run& run, const EndsArgument& of_pages) {
        begin = run.begin;
        before = of_pages.boundary[0];
        waits = begin > 0 || !is_sample(before) ? 0 : before == MIRROR ? 2 : 1;
        // Before the first slot its page is copied.
        first = most(begin - 2, of_pages.circular() ? begin - 2 : -1) - 1;
        step = first;
    }
};

// Some slots that are alike, each with other buffers than the one before it and a page further.
template <typename T, class Tile>
struct Slots {
    static constexpr int ROWS = Tile::ROWS;
    static constexpr int COLUMNS = Tile::COLUMNS;
    static constexpr int COPY = Tile::COPY;
    static constexpr int PITCH = Tile::PITCH;
    static constexpr int PAGE = Tile::PAGE;
    static constexpr int THREADS = Tile::THREADS;

    const Block<T, Tile>& block;
    Lane<Tile> lane;
    bool works;  // true if this lane has a part of the volume
    int rows;    // of the volume
    int height;  // of the tile
    int width;
    unsigned int page_size;

    int count;
    int slot;
    int last;        // that the first sweep takes
    int page;        // that this lane's sweep takes
    bool takes;      // true if it takes one
    bool counts;     // true if that finishes one that counts
    int coming;      // the page that is copied for the next slot
    int comes_from;  // number of its source in the volume
    bool page_comes;
    bool finishes;  // true if the first sweep finishes a page that counts

    int copied_column;  // the first column that this thread copies
    int own_copy;       // its place in a page
    int copied_row;     // of the volume
    bool comes;         // true if there is anything to copy
    const T* coming_from;
    Place<T> coming_to;
    Place<unsigned int> offsets_at;
    int buffer;

    Place<T> samples;   // this lane's place in the page that it takes
    bool goes_on;       // true if its results are for the second sweep
    Place<T> finished;  // destination
    T* write_to;

    unsigned int outside;  // see set_ghosts

    __device__ __forceinline__ Slots(const Block<T, Tile>& block, Steps& steps) : block(block) {
        set_slots(steps);
        set_copy();
        set_places(steps);
        set_ghosts();
    }

    // Sets the pages of these slots.
    __device__ __forceinline__ void set_slots(Steps& steps) {
        const VolumesArgument<T>& launch = block.launch;
        const int pages = launch.pages;
        const bool circular = launch.sides.of_pages.circular();
        const bool second = lane.second;
        works = lane.row < launch.lanes && lane.strip < launch.strips;
        const int stop = block.run.stop;
        rows = (int)launch.rows;
        height = block.height();
        width = block.width();
        page_size = (unsigned int)rows * launch.columns;
        const int begin = steps.begin;
        const int step = steps.step;
        const int waits = steps.waits;
        const bool waits_now = step >= 3 && step < 3 + waits;
        const int slot = step < 3 ? step : most(2, step - waits);
        const int first = steps.first + 1;
        const int last = circular ? stop + 1 : least(stop + 1, pages);
        const int page = second ? step - waits - 2 : slot;
        const int first_own = second ? begin - 1 : first;
        const int last_own = second ? stop : last;
        const bool takes = page >= first_own && page <= last_own && (second || !waits_now);
        // The first page that finishes one that counts.
        const int first_finishes = circular ? begin : most(begin, 1);
        const int coming = slot + 1;
        const int comes_from = boundary_source(coming, pages, launch.sides.of_pages);
        // From here on slots are alike, up to there.
        const int alike = begin + 3;
        const int unlike = least(last, pages - 1);
        this->slot = slot;
        this->last = last;
        this->page = page;
        this->takes = takes;
        counts = takes && page >= (second ? begin + 1 : first_finishes);
        this->coming = coming;
        this->comes_from = comes_from;
        page_comes = coming <= last && comes_from >= 0 && !waits_now;
        finishes = slot >= first_finishes && slot <= last && !waits_now;
        count = slot >= alike && slot < unlike ? unlike - slot : 1;
        steps.step += count;
    }

    // Sets this thread's share of a page that is copied: the same rows of some columns.
    __device__ __forceinline__ void set_copy() {
        const VolumesArgument<T>& launch = block.launch;
        const Span& down = block.run.down;
        const int rows = this->rows;
        const int height = this->height;
        const int row_of_copy = lane.thread % Tile::COPY_ROWS * COPY;
        const int copied_column = lane.thread / Tile::COPY_ROWS;
        const int row = down.start - COPY + row_of_copy;
        const bool is_ghost = !launch.sides.of_rows.circular() && (row < 0 || row >= rows);
        const bool is_row = row_of_copy < height + 2 * COPY && copied_column < Tile::COPY_COLUMNS && !is_ghost;
        const int row_at = is_row ? down.template source<COPY>(row, rows, launch.sides.of_rows) : -1;
        const bool page_comes = this->page_comes;
        comes = page_comes && row_at >= 0;
        coming_from = launch.input + most(row_at, 0) + (long long)most(comes_from, 0) * page_size;
        buffer = coming & 1;
        own_copy = copied_column * PITCH + ROWS - COPY + row_of_copy;
        coming_to = place_at(block.samples + buffer * PAGE + own_copy);
        offsets_at = place_at(block.offsets + copied_column);
        this->copied_column = copied_column;
        copied_row = row;
    }

    // Sets this lane's places in pages in shared memory.
    __device__ __forceinline__ void set_places(const Steps& steps) {
        const VolumesArgument<T>& launch = block.launch;
        const bool second = lane.second;
        const bool works = this->works;
        const bool counts = this->counts;
        const int page = this->page;
        const int place = Tile::FIRST + lane.strip * COLUMNS * PITCH + lane.row * ROWS;
        goes_on = !second && works && counts;
        // The first sweep's results of the volume's first and last pages may be those of the page outside, too. (The
        // samples of a mirror are in the buffer of the page outside.)
        const unsigned int beyond = page < 0 ? steps.before : launch.sides.of_pages.boundary[1];
        const bool again = second && (page < 0 || page == launch.pages) && is_sample(beyond) && beyond != MIRROR;
        samples = place_at((second ? block.results : block.samples) + ((page ^ (int)again) & 1) * PAGE + place);
        finished = place_at(block.results + ((page + 1) & 1) * PAGE + place);
        const int first_column = block.run.across.start + lane.strip * COLUMNS;
        const int first_row = block.run.down.start + lane.row * ROWS;
        write_to = block.launch.output + (long long)(page - 1) * page_size + (long long)first_column * rows + first_row;
    }

    // Sets the outputs of each column that this lane writes to device memory: a bit for each column, by the rows that
    // are written at a time. (No member: the compiler would keep all members in memory until it has unrolled the loops
    // over this array.)
    __device__ __forceinline__ void set_written(unsigned int (&written)[ROWS / COPY]) const {
        const Span& down = block.run.down;
        const Span& across = block.run.across;
        const bool second = lane.second;
        const bool works = this->works;
        const bool counts = this->counts;
        const int first_column = across.start + lane.strip * COLUMNS;
        unsigned int columns_written = 0;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            if (first_column + c >= across.from && first_column + c < across.to) columns_written |= 1u << c;
        }
        if (!second || !counts || !works) columns_written = 0;
        const int first_row = down.start + lane.row * ROWS;
#pragma unroll
        for (int i = 0; i < ROWS / COPY; ++i) {
            written[i] = first_row + i >= down.from && first_row + i < down.to ? columns_written : 0;
        }
    }

    // Sets the tile's sides that are copied outwards, as in Run::sides: of the first sweep's results, and, 8 bits
    // further, of the samples above and below that this thread copies. (With 3 x 3 x 3 it must not be a number that all
    // lanes share: the registers for those are full of the filter.)
    __device__ __forceinline__ void set_ghosts() {
        const unsigned int sides = block.run.sides;
        const int upper = COPY == 1 ? (int)(sides >> 4 & 1) : 0;
        const int lower = COPY == 1 ? (int)(sides >> 5 & 1) : 0;
        const unsigned int own_sides = (copied_row == upper ? 17 : 0) | (copied_row == rows - COPY - lower ? 34 : 0);
        const bool brings = page_comes && copied_column < Tile::COPY_COLUMNS;
        const bool brings_rows = Tile::NEEDS_ROWS_ASIDE && brings;
        const unsigned int now = (finishes ? sides : 0) | (brings_rows ? sides & own_sides : 0) << 8;
        outside = Tile::NEEDS_ROWS_ASIDE ? here((int)now) : now;
    }

    // Writes constant pages, and the constants at the sides of pages that replace them.
    __device__ __forceinline__ void write_constants() const {
        const EndsArgument& ends = block.launch.sides.of_pages;
        const int pages = block.launch.pages;
        const bool low = ends.boundary[0] == CONSTANT;
        const bool high = ends.boundary[1] == CONSTANT;
        const int slot = this->slot;
        const int coming = this->coming;
        const int last = this->last;
        const auto is_high = [&](int of) { return high && slot == of && coming <= last + 2; };
        if (is_high(pages - 1)) block.fill(block.samples + (pages & 1) * PAGE, ends.value[1]);
        if (is_high(pages + 1)) block.fill(block.results + (pages & 1) * PAGE, ends.value[1]);
        if (low && slot == 0 && !is_high(pages - 1)) block.outline(block.samples + PAGE);
        if (low && slot == 2 && !is_high(pages + 1)) block.outline(block.results + PAGE);
    }

    // Takes this lane's page, and begins the copies of the next slot's among the multiply-adds.
    __device__ __forceinline__ void take_page(Tile& tile, const T* from,
                                              const unsigned int (&written)[ROWS / COPY]) const {
        unsigned int own[Tile::COPIES_A_COLUMN];
        const auto read_offsets = [&](int c) {
#pragma unroll
            for (int n = 0; n < Tile::COPIES_A_COLUMN; ++n) {
                own[n] = offsets_at.pointer()[(c * Tile::COPIES_A_COLUMN + n) * Tile::COPY_COLUMNS];
            }
        };
        const auto begin_copies = [&](int c) {
            if (c * Tile::COPIES_A_COLUMN >= Tile::COPIES) return;
#pragma unroll
            for (int n = 0; n < Tile::COPIES_A_COLUMN; ++n) {
                const int number = c * Tile::COPIES_A_COLUMN + n;
                if (number >= Tile::COPIES) continue;
                copy_to_place<COPY>(comes, coming_to + number * Tile::COPY_COLUMNS * PITCH, from, own[n]);
            }
            if ((c + 1) * Tile::COPIES_A_COLUMN < Tile::COPIES) read_offsets(c + 1);
        };
        read_offsets(0);
        T* to = keep_address(write_to);
        // The first sweep's results are for the second, whose results are written.
        const auto write = [&](int c, const T(&points)[ROWS]) {
            write_run(goes_on, finished + c * PITCH, points);
            if constexpr (COPY == ROWS) {
                write_piece(written[0], 1u << c, to, points);
            } else {
#pragma unroll
                for (int i = 0; i < ROWS; ++i) {
                    const T point[1] = {points[i]};
                    write_piece(written[i], 1u << c, to + i, point);
                }
            }
            to = keep_address(to + (unsigned int)rows);
        };
        tile.take_page(samples, count, write, begin_copies);
    }

    // Begins the copies of a lane that takes no page.
    __device__ __forceinline__ void copy_page(const T* from) const {
#pragma unroll 1
        for (int n = 0; n < Tile::COPIES; ++n) {
            const unsigned int offset = offsets_at.pointer()[n * Tile::COPY_COLUMNS];
            copy_to_place<COPY>(comes, coming_to + n * Tile::COPY_COLUMNS * PITCH, from, offset);
        }
    }

    // Copies the first sweep's results at the volume's sides outwards, all threads of the block together.
    __device__ __forceinline__ void write_ghosts_of_results() const {
        if ((this->outside & 0xff) != 0) {
            // Computed here, and not before the loop over slots: it must take no registers there.
            const unsigned int outside = here((int)this->outside);
            T* const top = block.results + buffer * PAGE + Tile::FIRST;
            __syncthreads();
            if constexpr (Tile::NEEDS_ROWS_ASIDE) {
#pragma unroll 1
                for (int c = lane.thread; c < width; c += THREADS) {
                    T* const column = top + c * PITCH;
                    if (outside & 1) column[-1] = column[outside >> 4 & 1];
                    if (outside & 2) column[height] = column[height - 1 - (int)(outside >> 5 & 1)];
                }
                __syncthreads();
            }
#pragma unroll 1
            for (int i = lane.thread - 1; i <= height; i += THREADS) {
                const int left = (int)(outside >> 6 & 1);
                const int right = width - 1 - (int)(outside >> 7 & 1);
                if (outside & 4) top[i - PITCH] = top[i + left * PITCH];
                if (outside & 8) top[i + width * PITCH] = top[i + right * PITCH];
            }
        }
    }

    // Copies samples above and below outwards, each thread those that it has copied itself.
    __device__ __forceinline__ void write_ghosts_of_samples() const {
        if (Tile::NEEDS_ROWS_ASIDE && outside >> 8 != 0) {
            const int above = (int)(outside >> 12 & 1);
            const int below = (int)(outside >> 13 & 1);
#pragma unroll 1
            for (int c = copied_column; c < width + 2; c += Tile::COPY_COLUMNS) {
                T* const rows_here = block.samples + buffer * PAGE + own_copy + (c - copied_column) * PITCH;
                if (COPY == 1) {
                    if (outside & 0x100) rows_here[-1 - above] = rows_here[0];
                    if (outside & 0x200) rows_here[1 + below] = rows_here[0];
                } else {
                    if (outside & 0x100) rows_here[-1] = rows_here[above];
                    if (outside & 0x200) rows_here[COPY] = rows_here[COPY - 1 - below];
                }
            }
        }
    }

    // Goes on by a page, and to the other buffers: all have the same layout.
    __device__ __forceinline__ void go_on() {
        const int other = buffer == 1 ? PAGE : -PAGE;
        buffer ^= 1;
        samples = samples + other;
        coming_to = coming_to + -other;
        finished = finished + -other;
        coming_from += page_size;
        write_to += page_size;
    }

    __device__ __forceinline__ void sweep(Tile& tile, const unsigned int (&written)[ROWS / COPY]) {
#pragma unroll 1
        do {
            const T* const from = keep_address(coming_from);
            if (takes) {
                take_page(tile, from, written);
            } else {
                copy_page(from);
            }
            write_ghosts_of_results();
            end_group();
            wait_groups<0>();
            write_ghosts_of_samples();
            go_on();
            __syncthreads();
        } while (--count > 0);
    }
};

template <typename T, class Tile>
__device__ __forceinline__ void sweep_run(const Block<T, Tile>& block, Tile& tile) {
    Steps steps(block.run, block.launch.sides.of_pages);
#pragma unroll 1
    while (steps.step <= block.run.stop + 2 + steps.waits) {
        // Recomputed each time: it must take no registers elsewhere.
        Slots<T, Tile> slots(block, steps);
        unsigned int written[Tile::ROWS / Tile::COPY];
        slots.set_written(written);
        slots.write_constants();
        __syncthreads();
        slots.sweep(tile, written);
    }
}

template <typename T, class Tile>
__device__ __forceinline__ void sweep_volumes(const VolumesArgument<T>& launch) {
    DYNAMIC_SHARED(T, memory);
    __shared__ Run run;
    __shared__ unsigned int offsets[Tile::OFFSETS];
    const Block<T, Tile> block = {launch, memory, memory + 2 * Tile::PAGE, run, offsets};
    Tile tile;
    tile.clear();

    int number = 0;
    int unit = (int)blockIdx.x - launch.rounds[0].block;
#pragma unroll 1
    while (number < ROUNDS) {
        const Round& round = launch.rounds[number];
        const int parts = (round.pages + round.share - 1) / round.share;
        const bool is_in = (int)blockIdx.x >= round.block && (int)blockIdx.x < round.block + round.blocks;
        if (!is_in || unit >= round.tiles * parts) {
            if (++number < ROUNDS) unit = (int)blockIdx.x - launch.rounds[number].block;
            continue;
        }
        const int part = unit / round.tiles;
        const int tile_number = round.tile + unit - part * round.tiles;
        unit += round.blocks;
        __syncthreads();
        if (threadIdx.x == 0) block.run.set(launch, round, part, tile_number, block.height(), block.width());
        __syncthreads();
        block.set_offsets();
        block.write_constants();
        __syncthreads();
        sweep_run(block, tile);
    }
}

}  // namespace volumes
