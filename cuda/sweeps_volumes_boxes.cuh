// Two sweeps of a 3 x 3 x 3 convolution over a volume of singles in one launch, as in sweeps_volumes.cuh, by a block
// whose warps wait for each other as little as they can.
//
// In a slot the first sweep takes a page of samples, and the second one that the first has finished in the slot before.
// There are four pages of samples in shared memory, so that one is asked for three slots before it is needed, and two of the
// first sweep's results. No warp waits for all others. The first sweep's wait until their page has come, and, before they
// write, until the second sweep has done the slot before, which read from that place; the second's until the first sweep has
// done the slot before. So a warp goes on while others of its partition are still in the last columns of their page.
// Barriers are four of each kind: nobody is four slots ahead of another.
//
// Four warps more than those that sweep do all that is not multiply-adds, and lend their registers. One asks for pages, as
// one box each, by a tensor map. Others make of what has come what the first sweep needs: what is outside of the volume comes
// as zeros, and where the boundary says something else, they write that; what comes from around an end they bring in pieces
// of 16 bytes, to a place beside, and put it into the page once that has come, for the box would write zeros over it. Where
// there are sides, one does the same with what the first sweep has finished. Nobody waits for those who have nothing to do.
#pragma once

#include "boundary.cuh"
#include "copies.cuh"
#include "sweeps_volumes.cuh"
#include "tensor.cuh"

namespace volumes {

// One launch: as of the other kernel, and how its input lies, in boxes as large as a page of a tile in shared memory. All
// lanes and strips of a tile work.
template <typename T>
struct BoxLaunch {
    TensorMap map;
    Launch<T> launch;
    unsigned long long unused[6];  // up to a multiple of 64 bytes
};

// Pages of samples, and barriers of a kind; and pages of the first sweep's results. They are taken in turn.
constexpr int DEEP = 4;
constexpr int RESULTS = 2;

// Whether that is what comes with a box from outside of an array.
__device__ __forceinline__ bool is_plain_zero(double value) { return high_word(value) == 0 && low_word(value) == 0; }

using ::arrive;
using ::wait;

#ifdef __CUDACC_RTC__

// Waits at a barrier, and arrives there. Who waits is woken up, and does not ask in between.
__device__ __forceinline__ void wait(Place<Barrier> barrier, unsigned int parity) {
    asm volatile(
        "{\n"
        ".reg .pred over;\n"
        "AGAIN: mbarrier.try_wait.parity.shared.b64 over, [%0], %1, 1000000;\n"
        "@over bra DONE;\n"
        "bra AGAIN;\n"
        "DONE:\n"
        "}" ::"r"(barrier.address),
        "r"(parity)
        : "memory");
}
__device__ __forceinline__ void arrive(Place<Barrier> barrier) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier.address) : "memory");
}

// Before it is made once more.
__device__ __forceinline__ void end_barrier(Barrier* barrier) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

#else

inline void wait(Place<Barrier> barrier, unsigned int parity) { wait(barrier.at, (int)parity); }
inline void arrive(Place<Barrier> barrier) { arrive(barrier.at, 0); }
inline void end_barrier(Barrier*) {}

#endif

// Each barrier belongs to the slot of those who wait for it: the page of samples that the first sweep takes in that slot has
// come, and is ready; the first sweep has done the slot before, and what it has finished there, which the second takes, is
// complete; the second sweep has done the slot before, and left what the first writes to.
struct Barriers {
    Barrier come[DEEP];
    Barrier ready[DEEP];
    Barrier first[DEEP];
    Barrier complete[DEEP];
    Barrier second[DEEP];

    // Slots are counted from 0 in each run.
    static __device__ __forceinline__ int place(int number) { return number % DEEP; }
    static __device__ __forceinline__ unsigned int parity(int number) { return number / DEEP % 2; }

    static __device__ __forceinline__ void wait_for(Barrier* of, int number) {
        wait(place_at(of + place(number)), parity(number));
    }
    // By a whole warp, behind all that its lanes have read and written.
    static __device__ __forceinline__ void tell(Barrier* of, int number) {
        __syncwarp();
        if (is_elected()) arrive(place_at(of + place(number)));
    }

    // By one thread, for a run: so many warps do a sweep, and so many make a page ready. What stands before the first slots
    // is done.
    __device__ __forceinline__ void make(bool again, int warps, int makers) {
        const auto barrier = [again](Barrier* of, int arrivals) {
            if (again) end_barrier(of);
            make_barrier(of, arrivals);
        };
#pragma unroll 1
        for (int i = 0; i < DEEP; ++i) {
            barrier(come + i, 1);
            barrier(ready + i, makers);
            barrier(first + i, warps);
            barrier(complete + i, 1);
            barrier(second + i, warps);
        }
        barriers_are_made();
#pragma unroll 1
        for (int i = 0; i < warps; ++i) {
            arrive(place_at(first));
            arrive(place_at(second));
        }
        arrive(place_at(complete));
    }
};

// A run, and what stands outside of its tile.
template <typename T>
struct BoxRun {
    Run run;
    // At which sides a constant stands that does not come with a box, a bit each as in `sides`, and which.
    unsigned int constants;
    T values[4];
    // The first row and the first column outside that come from around an end, or NONE; and in how many pieces.
    int row_around;
    int column_around;
    int pieces;
    // Whether anything stands outside that is neither a zero nor from around an end, and anything that is not a zero.
    bool has_sides;
    bool plain;
    // Barriers have been made.
    bool made;

    static constexpr int NONE = 0x7fffffff;

    static __device__ __forceinline__ int around(const Span& span, int size, int count, const Ends& ends) {
        if (!ends.circular()) return NONE;
        return span.low < 0 ? -count : span.high > size ? size : NONE;
    }
};

// A piece of 16 bytes from around an end: where it lies in a page of the volume, or NOWHERE, and in one of the tile.
struct Piece {
    unsigned int from;
    int to;
};

// The runs of this block, one after the other: see Round.
struct Runs {
    int round;
    int unit;
    int tile;  // of the run
    int begin;
    int stop;

    template <typename T>
    __device__ __forceinline__ explicit Runs(const Launch<T>& launch)
        : round(0), unit((int)blockIdx.x - launch.rounds[0].block), tile(0), begin(0), stop(0) {}

    template <typename T>
    __device__ __forceinline__ bool next(const Launch<T>& launch) {
#pragma unroll 1
        while (round < ROUNDS) {
            const Round& of = launch.rounds[round];
            const int parts = (of.pages + of.share - 1) / of.share;
            const bool is_in = (int)blockIdx.x >= of.block && (int)blockIdx.x < of.block + of.blocks;
            if (is_in && unit < of.tiles * parts) {
                const int part = unit / of.tiles;
                tile = of.tile + unit - part * of.tiles;
                begin = of.page + part * of.share;
                stop = least(of.page + of.pages, begin + of.share);
                unit += of.blocks;
                return true;
            }
            if (++round < ROUNDS) unit = (int)blockIdx.x - launch.rounds[round].block;
        }
        return false;
    }

    // The first and the last page that the first sweep takes.
    template <typename T>
    __device__ __forceinline__ int first(const Launch<T>& launch) const {
        return launch.of_pages.circular() ? begin - 2 : most(begin - 2, -1);
    }
    template <typename T>
    __device__ __forceinline__ int last(const Launch<T>& launch) const {
        return launch.of_pages.circular() ? stop + 1 : least(stop + 1, launch.pages);
    }
    // The last slot, in which the second sweep takes its last page. In a slot the first sweep takes the page of its
    // number, the second the second before it.
    __device__ __forceinline__ int slots() const { return stop + LATER; }

    static constexpr int LATER = 2;
};

template <typename T, class Tile>
struct Boxes {
    static constexpr int ROWS = Tile::ROWS;
    static constexpr int COLUMNS = Tile::COLUMNS;
    static constexpr int PITCH = Tile::PITCH;
    static constexpr int SWEEPERS = Tile::THREADS;
    static constexpr int HELPERS = 4;
    // Of these one asks for pages, and the others make them ready.
    static constexpr int MAKERS = HELPERS - 1;
    static constexpr int ALL = SWEEPERS + HELPERS * LANES;
    // Registers of a thread that sweeps, and of one that helps: together they are what all have at first.
    static constexpr int OF_SWEEPERS = 160;
    static constexpr int OF_HELPERS = 32;
    // Behind that column a block of instructions ends: of some ten ways the one that is best for zeros and circular alike.
    static constexpr int CUT = 4;
    // Pages begin at multiples of 128 bytes.
    static constexpr int OF_128 = 128 / (int)sizeof(T);
    static constexpr int BOX = PITCH * (Tile::WIDTH + 2);
    static constexpr int PAGE = (BOX + OF_128 - 1) / OF_128 * OF_128;
    static constexpr int ELEMENTS = (DEEP + RESULTS) * PAGE;
    // From around an end come at most as many rows as a lane has, and two columns.
    static constexpr int PIECES_OF_ROWS = Tile::WIDTH + 2;
    static constexpr int PIECES_OF_COLUMN = Tile::DOWN + 2;
    static constexpr int PIECES = PIECES_OF_ROWS + 2 * PIECES_OF_COLUMN;
    static constexpr int OF_MAKERS = MAKERS * LANES;  // a lane has two of them at most
    static_assert(PIECES <= 2 * OF_MAKERS, "two pieces a lane");
    static_assert(sizeof(T) == 4 && ROWS == 4 && Tile::AT_ONCE == ROWS, "singles, four at a time");
    static_assert(Tile::ROWS_COUNT, "a filter of several rows");
    static_assert(PITCH <= 256 && Tile::WIDTH + 2 <= 256, "a box has at most 256 rows and columns");
    static_assert(SWEEPERS % 128 == 0, "four neighbouring warps have as many registers each");
    static_assert(OF_SWEEPERS * SWEEPERS + OF_HELPERS * HELPERS * LANES <= 65536 / ALL / 8 * 8 * ALL, "there are so many");

    const BoxLaunch<T>& with_map;
    T* const samples;
    T* const results;
    T* const beside;  // two times the pieces that come
    Piece* const pieces;
    BoxRun<T>& of_run;
    Barriers& barriers;

    // What all threads of a run need: by those that sweep.
    __device__ __forceinline__ void prepare(const Runs& runs) const {
        const Launch<T>& launch = with_map.launch;
        Run& run = of_run.run;
        if (threadIdx.x == 0) {
            const int rows = (int)launch.rows;
            run.down.set(launch.down, runs.tile % launch.down.count, rows, Tile::HEIGHT, launch.of_rows.circular());
            run.across.set(launch.across, runs.tile / launch.down.count, launch.columns, Tile::WIDTH,
                           launch.of_columns.circular());
            run.begin = runs.begin;
            run.stop = runs.stop;
            const bool is_there[4] = {run.down.start == 0, run.down.start + Tile::HEIGHT == rows, run.across.start == 0,
                                      run.across.start + Tile::WIDTH == launch.columns};
            unsigned int sides = 0, constants = 0;
            // A constant page leaves its number at the sides of its place, too.
            bool plain = is_plain_zero(page_value(-1)) && is_plain_zero(page_value(0));
#pragma unroll
            for (int side = 0; side < 4; ++side) {
                const Ends& ends = side < 2 ? launch.of_rows : launch.of_columns;
                const unsigned int boundary = ends.boundary[side % 2];
                of_run.values[side] = T(ends.value[side % 2]);
                if (boundary == CONSTANT && !is_plain_zero(of_run.values[side])) plain = false;
                if (!is_there[side]) continue;
                if (is_sample(boundary)) sides |= (boundary == MIRROR ? 17u : 1u) << side;
                if (boundary == CONSTANT) constants |= 1u << side;
            }
            // Where there is another constant, 0 may have to be written over it.
            if (plain) constants = 0;
            run.sides = sides;
            of_run.constants = constants;
            of_run.row_around = BoxRun<T>::around(run.down, rows, ROWS, launch.of_rows);
            of_run.column_around = BoxRun<T>::around(run.across, launch.columns, 2, launch.of_columns);
            of_run.pieces = (of_run.row_around != BoxRun<T>::NONE ? PIECES_OF_ROWS : 0) +
                            (of_run.column_around != BoxRun<T>::NONE ? 2 * PIECES_OF_COLUMN : 0);
            of_run.has_sides = (sides | constants) != 0;
            of_run.plain = !of_run.has_sides && of_run.pieces == 0;
            barriers.make(of_run.made, Tile::WARPS, of_run.has_sides ? 1 : MAKERS);
            of_run.made = true;
        }
        // What the second sweep finds before the first page, where that is a constant.
        if (runs.begin == 0 && page_at(-1) < 0) {
            // It would be finished in the slot of page 0, which is number 1.
            fill(place_of_result(1 + 1), page_value(-1), (int)threadIdx.x, SWEEPERS);
        }
        meet<ALL>();
        // Pieces of the rows outside, column by column, then those of the columns outside.
        const int of_rows = of_run.row_around != BoxRun<T>::NONE ? PIECES_OF_ROWS : 0;
        for (int i = (int)threadIdx.x; i < of_run.pieces; i += SWEEPERS) {
            const bool of_row = i < of_rows;
            const int further = i - of_rows;
            const int first_row = run.down.start - ROWS;
            const int first_column = run.across.start - 1;
            const int row = of_row ? of_run.row_around : first_row + further / 2 * ROWS;
            const int column = of_row ? first_column + i : of_run.column_around + further % 2;
            // What is outside of both is among the rows.
            const bool is_row = of_row || (row >= 0 && row < (int)launch.rows);
            const int row_at = is_row ? run.down.template source<ROWS>(row, (int)launch.rows, launch.of_rows) : -1;
            const int column_at = run.across.template source<1>(column, launch.columns, launch.of_columns);
            const bool comes = row_at >= 0 && column_at >= 0;
            pieces[i].from = comes ? (unsigned int)column_at * (int)launch.rows + row_at : NOWHERE;
            pieces[i].to = (column - first_column) * PITCH + row - first_row;
        }
    }

    // The places of what the first sweep takes in a slot, and of what the second takes.
    __device__ __forceinline__ T* place_of_sample(int number) const { return samples + number % DEEP * PAGE; }
    __device__ __forceinline__ T* place_of_result(int number) const { return results + number % RESULTS * PAGE; }

    // The page of the volume that stands at a place, or a negative number for a constant.
    __device__ __forceinline__ int page_at(int page) const {
        return stands_at(page, with_map.launch.pages, with_map.launch.of_pages);
    }

    // The constant that stands before the first page, or else behind the last.
    __device__ __forceinline__ T page_value(int page) const {
        return T(page < 0 ? with_map.launch.of_pages.value[0] : with_map.launch.of_pages.value[1]);
    }

    // A page all of which is a constant, by so many threads.
    __device__ __forceinline__ static void fill(T* page, T value, int thread, int threads) {
#pragma unroll 1
        for (int i = thread; i < PAGE; i += threads) page[i] = value;
    }

    // The page of the volume behind one that stands at the place before this.
    __device__ __forceinline__ int page_behind(int at, int page) const {
        if (!with_map.launch.of_pages.circular()) return page_at(page);
        return at + 1 == with_map.launch.pages ? 0 : at + 1;
    }

    // What stands just outside of the volume's sides in a page of the tile, by one warp.
    __device__ __forceinline__ void surround(T* page, int lane) const {
        const unsigned int sides = of_run.run.sides;
        const unsigned int constants = of_run.constants;
        __syncwarp();
        if ((sides | constants) & 3) {
#pragma unroll
            for (int k = 0; k < (Tile::WIDTH + 2 + LANES - 1) / LANES; ++k) {
                const int c = k * LANES + lane;
                if (c >= Tile::WIDTH + 2) continue;
                T* const column = page + ROWS + c * PITCH;
                if (sides & 1) column[-1] = column[sides >> 4 & 1];
                if (sides & 2) column[Tile::HEIGHT] = column[Tile::HEIGHT - 1 - (int)(sides >> 5 & 1)];
                if (constants & 1) column[-1] = of_run.values[0];
                if (constants & 2) column[Tile::HEIGHT] = of_run.values[1];
            }
            __syncwarp();
        }
        // A column as a whole, some rows further than is needed.
        if (lane < PIECES_OF_COLUMN) {
            T* const first = page + PITCH + lane * ROWS;
            T* const behind = first + Tile::WIDTH * PITCH;
            T piece[ROWS];
            const auto constant = [&](T value) {
#pragma unroll
                for (int i = 0; i < ROWS; ++i) piece[i] = value;
            };
            if (sides & 4) read_run(first + (int)(sides >> 6 & 1) * PITCH, piece);
            if (constants & 4) constant(of_run.values[2]);
            write_run(((sides | constants) & 4) != 0, place_at(first - PITCH), piece);
            if (sides & 8) read_run(behind - (1 + (int)(sides >> 7 & 1)) * PITCH, piece);
            if (constants & 8) constant(of_run.values[3]);
            write_run(((sides | constants) & 8) != 0, place_at(behind), piece);
        }
    }

    // Asks for pages, as soon as the first sweep is through with what was in their places.
    __device__ __forceinline__ void ask(const Runs& runs) const {
        const Launch<T>& launch = with_map.launch;
        const int lane = (int)threadIdx.x % LANES;
        const int first = runs.first(launch);
        const int last = runs.last(launch);
        const int row = of_run.run.down.start - ROWS;
        const int column = of_run.run.across.start - 1;
        // Threads write to places of pages, too.
        const bool written = !of_run.plain || !is_plain_zero(page_value(-1)) || !is_plain_zero(page_value(0));
        int at = page_at(first);
        int number = 0;
#pragma unroll 1
        for (int page = first; page <= last; ++page, ++number) {
            // Those who help have seen what was there, too, and are no further behind.
            if (number >= DEEP) {
                if (!of_run.plain) Barriers::wait_for(barriers.ready, number - DEEP);
                Barriers::wait_for(of_run.has_sides ? barriers.complete : barriers.first, number - DEEP + 1);
            }
            Barrier* const come = barriers.come + Barriers::place(number);
            T* const place = place_of_sample(number);
            if (at >= 0 || is_plain_zero(page_value(page))) {
                if (is_elected()) {
                    // What threads have written there comes first.
                    if (written) writes_before_copies();
                    arrive(come, BOX * (int)sizeof(T));
                    // Outside of the volume there are zeros.
                    copy_box(place, with_map.map, row, column, at, come);
                }
            } else {
                fill(place, page_value(page), lane, LANES);
                Barriers::tell(barriers.come, number);
            }
            at = page_behind(at, page + 1);
        }
    }

    // Makes of what the first sweep has finished what the second needs.
    __device__ __forceinline__ void make_complete(const Runs& runs) const {
        const Launch<T>& launch = with_map.launch;
        const int lane = (int)threadIdx.x % LANES;
        const int first = runs.first(launch);
        const int last = runs.last(launch);
#pragma unroll 1
        for (int slot = first; slot <= runs.slots(); ++slot) {
            const int for_second = slot - first + 1;
            Barriers::wait_for(barriers.first, for_second);
            if (slot >= first + 2 && slot <= last) surround(place_of_result(for_second), lane);
            Barriers::tell(barriers.complete, for_second);
        }
    }

    // Makes of the pages that have come what the first sweep needs: MAKERS warps do that, or the first of them alone where
    // there are sides. These warps get few turns, so what counts is how few instructions they have.
    __device__ __forceinline__ void make_ready(int maker, const Runs& runs) const {
        const Launch<T>& launch = with_map.launch;
        const int first = runs.first(launch);
        const int last = runs.last(launch);
        if (!of_run.has_sides && (launch.of_pages.circular() || (first >= 0 && last < launch.pages))) {
            put_pieces(maker, first, last);
            return;
        }
        const int lane = (int)threadIdx.x % LANES;
        const int makers = of_run.has_sides ? 1 : MAKERS;
        const unsigned int page_size = (unsigned int)launch.rows * launch.columns;
        const auto bring_pieces = [&](int page, int at) {
            if (at >= 0 && page <= last) {
                const T* const from = launch.input + (long long)at * page_size;
                const Place<T> to = place_at(beside + (page & 1) * PIECES * ROWS);
#pragma unroll 1
                for (int i = maker * LANES + lane; i < of_run.pieces; i += makers * LANES) {
                    copy_to_place<ROWS>(true, to + i * ROWS, from, pieces[i].from);
                }
            }
            end_group();
        };
        int page = first;
        int at = page_at(page);
        bring_pieces(page, at);
#pragma unroll 1
        for (; page <= last; ++page) {
            const int behind = page_behind(at, page + 1);
            bring_pieces(page + 1, behind);
            Barriers::wait_for(barriers.come, page - first);
            if (at >= 0) {
                T* const place = place_of_sample(page - first);
                const T* const from = beside + (page & 1) * PIECES * ROWS;
                wait_groups<1>();
#pragma unroll 1
                for (int i = maker * LANES + lane; i < of_run.pieces; i += makers * LANES) {
                    T piece[ROWS];
                    read_run(from + i * ROWS, piece);
                    write_run(pieces[i].from != NOWHERE, place_at(place + pieces[i].to), piece);
                }
                if (of_run.has_sides) surround(place, lane);
            }
            Barriers::tell(barriers.ready, page - first);
            at = behind;
        }
        wait_groups<0>();
    }

    // The same where there are pieces alone, and all pages are the volume's: a lane has two of them at most.
    __device__ __forceinline__ void put_pieces(int maker, int first, int last) const {
        const Launch<T>& launch = with_map.launch;
        constexpr int STEP = OF_MAKERS;
        const int own = maker * LANES + (int)threadIdx.x % LANES;
        const int pages = launch.pages;
        const unsigned int page_size = (unsigned int)launch.rows * launch.columns;
        const auto is_piece = [&](int i) { return i < of_run.pieces && pieces[i].from != NOWHERE; };
        const bool has = is_piece(own);
        const bool has_other = is_piece(own + STEP);
        const bool two = of_run.pieces > STEP;
        int at = page_at(first);
        const T* from = launch.input + (long long)at * page_size;
        const T* other_from = from + (has_other ? pieces[own + STEP].from : 0);
        from += has ? pieces[own].from : 0;
        const Place<T> to = place_at(samples + (has ? pieces[own].to : 0));
        const Place<T> other_to = place_at(samples + (has_other ? pieces[own + STEP].to : 0));
        Place<T> aside = place_at(beside + own * ROWS);
        const auto bring = [&](bool comes) {
            copy_to_place<ROWS>(comes && has, aside, from, 0);
            if (two) copy_to_place<ROWS>(comes && has_other, aside + STEP * ROWS, other_from, 0);
            end_group();
            from += page_size;
            other_from += page_size;
            if (++at == pages) {
                at = 0;
                from -= (long long)pages * page_size;
                other_from -= (long long)pages * page_size;
            }
        };
        // The two places beside are taken in turn.
        bring(true);
        aside = aside + PIECES * ROWS;
        bring(first < last);
        aside = aside + -PIECES * ROWS;
        const int count = last - first + 1;
#pragma unroll 1
        for (int number = 0; number < count; ++number) {
            Barriers::wait_for(barriers.come, number);
            wait_groups<1>();
            const int place = Barriers::place(number) * PAGE;
            T piece[ROWS];
            read_run(aside.pointer(), piece);
            write_run(has, to + place, piece);
            if (two) {
                read_run((aside + STEP * ROWS).pointer(), piece);
                write_run(has_other, other_to + place, piece);
            }
            Barriers::tell(barriers.ready, number);
            bring(number + 2 < count);
            aside = aside + (number % 2 == 0 ? PIECES * ROWS : -PIECES * ROWS);
        }
        wait_groups<0>();
    }

    // Both sweeps over a run. What is in the outer loop is computed anew each time: it is to take no registers elsewhere.
    __device__ __forceinline__ void sweep(Tile& tile, const Runs& runs) const {
        const Launch<T>& launch = with_map.launch;
        const int pages = launch.pages;
        int number = 0;  // of the slot
        int slot = runs.first(launch);
#pragma unroll 1
        while (slot <= of_run.run.stop + Runs::LATER) {
            const int thread = here(threadIdx.x);
            const int lane = thread % LANES;
            // The same for all lanes, which the compiler cannot know.
            const int warp_of_block = __shfl_sync(0xffffffff, thread / LANES, 0);
            const bool second = warp_of_block >= Tile::WARPS;
            const int of_sweep = (second ? warp_of_block - Tile::WARPS : warp_of_block) * LANES + lane;
            const int strip = of_sweep / Tile::DOWN;
            const int row_of_lanes = of_sweep - strip * Tile::DOWN;
            const bool circular = launch.of_pages.circular();
            const int begin = of_run.run.begin;
            const int stop = of_run.run.stop;
            const int rows = (int)launch.rows;
            const unsigned int page_size = (unsigned int)rows * launch.columns;
            const Span& down = of_run.run.down;
            const Span& across = of_run.run.across;

            const int first = circular ? begin - 2 : most(begin - 2, -1);
            const int last = circular ? stop + 1 : least(stop + 1, pages);
            const int page = second ? slot - Runs::LATER : slot;
            const bool takes = second ? page >= begin - 1 && page <= stop : page <= last;
            // The first page that finishes one that counts.
            const bool counts = takes && page >= (second ? begin + 1 : first + 2);
            // From here on slots are alike, up to the last page that the first sweep takes.
            int count = slot >= begin + 1 + Runs::LATER && slot <= last ? last + 1 - slot : 1;
            slot += count;

            // Before the first page and behind the last the second sweep takes what stands there: of the first sweep's
            // results those that are for another slot.
            int source = number;
            if (second && !circular && (page < 0 || page == pages)) {
                const unsigned int boundary = launch.of_pages.boundary[page < 0 ? 0 : 1];
                // There is no MIRROR before the first page.
                if (is_sample(boundary)) source = page < 0 ? number + 1 : boundary == MIRROR ? number - 2 : number - 1;
            }
            Barrier* const of_first = of_run.has_sides ? barriers.complete : barriers.first;
            Barrier* const of_samples = of_run.plain ? barriers.come : barriers.ready;
            // Behind the last page none comes: what the first sweep waits for there is what it waits for below.
            const Place<Barrier> waits_for = kept_place(second ? of_first : takes ? of_samples : barriers.second);
            const Place<Barrier> follows = kept_place(barriers.second);
            const Place<Barrier> tells = kept_place(second ? barriers.second : barriers.first);
            if (second && takes && page < 0) Barriers::wait_for(of_first, source);

            const int place = Tile::FIRST + strip * COLUMNS * PITCH + row_of_lanes * ROWS;
            Place<T> from = place_at((second ? place_of_result(source) : place_of_sample(number)) + place);
            Place<T> finished = place_at(place_of_result(number + 1) + place);
            const int all = (second ? RESULTS : DEEP) - 1;  // of its buffers
            const bool goes_on = here(!second && counts) != 0;

            // What this lane writes of each column: a bit for each.
            const int first_column = across.start + strip * COLUMNS;
            unsigned int columns_written = 0;
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) {
                if (first_column + c >= across.from && first_column + c < across.to) columns_written |= 1u << c;
            }
            const int first_row = down.start + row_of_lanes * ROWS;
            const bool is_row = first_row >= down.from && first_row < down.to;
            const unsigned int written = second && counts && is_row ? columns_written : 0;
            T* write_to = launch.output + (long long)(page - 1) * page_size + (long long)first_column * rows + first_row;

#pragma unroll 1
            do {
                wait(waits_for + Barriers::place(number), Barriers::parity(number));
                // The first sweep writes where the second has been in the slot before.
                const auto follow = [&]() {
                    if (!second) wait(follows + Barriers::place(number), Barriers::parity(number));
                };
                if (takes) {
                    T* to = held(write_to);
                    tile.page(from, count, [&](int c, const T (&points)[ROWS]) {
                        if (c == 0) follow();
                        write_run(goes_on, finished + c * PITCH, points);
                        write_piece(written, 1u << c, to, points);
                        to = held(to + (unsigned int)rows);
                        if (c == CUT) cut(count, c);
                    }, [](int) {});
                } else {
                    // What the second sweep finds behind the last page, where that is a constant.
                    if (!second && page == pages + 1 && stop == pages && page_at(pages) < 0) {
                        fill(place_of_result(number + 1), page_value(pages), of_sweep, SWEEPERS / 2);
                    }
                }
                // On to the next buffers.
                from = from + ((number & all) == all ? -all * PAGE : PAGE);
                finished = finished + (number % 2 == 0 ? -PAGE : PAGE);
                write_to += page_size;
                ++number;
                __syncwarp();
                if (is_elected()) arrive(tells + Barriers::place(number));
            } while (--count > 0);
        }
    }
};

template <typename T, class Tile>
__device__ __forceinline__ void sweep_volumes_in_boxes(const BoxLaunch<T>& with_map) {
    typedef Boxes<T, Tile> Boxes;
    DYNAMIC_SHARED_OF_BOXES(T, memory);
    __shared__ BoxRun<T> of_run;
    __shared__ Barriers barriers;
    __shared__ Piece pieces[Boxes::PIECES];
    struct __align__(16) Beside {
        // The pieces of two pages. Lanes that have none read as far as others, so there is more room.
        T pieces[(Boxes::PIECES + 2 * Boxes::OF_MAKERS) * Boxes::ROWS];
    };
    __shared__ Beside beside;
    const Launch<T>& launch = with_map.launch;
    const Boxes boxes = {with_map, memory, memory + DEEP * Boxes::PAGE, beside.pieces, pieces, of_run, barriers};
    if (threadIdx.x == 0) of_run.made = false;
    // Zeros stand outside of what the first sweep finishes: nobody writes there unless it is something else.
    for (int i = (int)threadIdx.x; i < RESULTS * Boxes::PAGE; i += Boxes::ALL) boxes.results[i] = 0;
    follow_launch_before();

    Runs runs(launch);
    const int warp = __shfl_sync(0xffffffff, here(threadIdx.x) / LANES, 0);
    const int helper = warp - Boxes::SWEEPERS / LANES;
    if (helper >= 0) {
        give_registers<Boxes::OF_HELPERS>();
#pragma unroll 1
        while (runs.next(launch)) {
            meet<Boxes::ALL>();
            meet<Boxes::ALL>();
            meet<Boxes::ALL>();
            if (helper == 0) {
                boxes.ask(runs);
            } else if (!of_run.has_sides ? !of_run.plain : helper == 1) {
                boxes.make_ready(helper - 1, runs);
            } else if (of_run.has_sides && helper == 2) {
                boxes.make_complete(runs);
            }
        }
        return;
    }
    take_registers<Boxes::OF_SWEEPERS>();
    Tile tile;
#pragma unroll
    for (int q = 0; q < 2; ++q) {
#pragma unroll
        for (int c = 0; c < Tile::COLUMNS; ++c) {
#pragma unroll
            for (int i = 0; i < Tile::ROWS; ++i) tile.sums[q][c][i] = 0;
        }
    }
#pragma unroll 1
    while (runs.next(launch)) {
        meet<Boxes::ALL>();
        boxes.prepare(runs);
        meet<Boxes::ALL>();
        boxes.sweep(tile, runs);
    }
}

}  // namespace volumes
