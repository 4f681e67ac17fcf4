// The convolution of images, in double, on the tensor cores of chips of compute capability 9.0: see tensor_strips.cuh.
//
// Compiled for -DSIZE, 7, 9, 11 or 15: filters of up to so many rows and columns, which are laid into the middle of
// SIZE x SIZE.
//
// A warp takes a strip of ROWS rows and streams over the columns. Its samples come into a ring in shared memory, that
// only it uses: CHUNKS chunks of COLUMNS columns. While some tiles of a column are multiplied, the fragments of the
// next ones are read.
//  - SIZE 15: the slots are the 16 rows of D. The band is A, from a table in shared memory; a column of samples is B,
//    8 outputs a tile. Of the multiply-adds 88% are the filter's.
//  - The others: the slots are columns of D, each with OUTPUTS neighbouring outputs. The band is B, in registers; a
//    column of samples is A, 16 * OUTPUTS outputs a tile. 84% with 11, 67% with 9, 77% with 7.

#include "tensor_strips.cuh"

namespace {

// Multiply-adds of an output's column, a multiple of 4; outputs that share them; slots; tiles of a strip; and the ring.
#if SIZE == 15
constexpr int OUTPUTS = 1, STEPS = 16, SLOTS = 16;
constexpr int TILES = 8, WARPS = 8, BLOCKS = 1, COLUMNS = 8, CHUNKS = 2;
constexpr int ROWS = 8 * TILES;
constexpr int TABLE = SLOTS * STEPS * 16;
#else
#if SIZE == 11
constexpr int OUTPUTS = 2, STEPS = 12, SLOTS = 12;
constexpr int TILES = 2, WARPS = 8, BLOCKS = 1, COLUMNS = 12, CHUNKS = 2;
#elif SIZE == 9
constexpr int OUTPUTS = 4, STEPS = 12, SLOTS = 10;
constexpr int TILES = 2, WARPS = 8, BLOCKS = 1, COLUMNS = 10, CHUNKS = 2;
#elif SIZE == 7
constexpr int OUTPUTS = 2, STEPS = 8, SLOTS = 8;
constexpr int TILES = 4, WARPS = 8, BLOCKS = 1, COLUMNS = 8, CHUNKS = 2;
#else
#error "SIZE, the most rows and columns of the filter, must be 7, 9, 11 or 15"
#endif
constexpr int ROWS = 16 * OUTPUTS * TILES;
constexpr int TABLE = 0;
#endif
constexpr int RADIUS = SIZE / 2;
// What a stretch costs beside its outputs, in columns: those ahead of them, and the time until its first samples come.
constexpr int AHEAD = SIZE - 1 + 8;
constexpr int THREADS = LANES * WARPS;
// Samples of a column that a strip needs, and one more: the first may have to lie at an odd place.
constexpr int LENGTH = (ROWS - OUTPUTS + STEPS + 2) / 2 * 2;
// Rows below the image that outputs in it are multiplied for, be it by zero.
constexpr int BELOW = STEPS - RADIUS - 1;
constexpr int CHUNK = LENGTH * COLUMNS;
constexpr int RING = CHUNK * CHUNKS;
// Blocks of instructions in which a chunk is multiplied; turns in which a warp looks at it, a pair of samples a lane;
// and turns that one block reads at most.
constexpr int BLOCKS_OF_CHUNK = COLUMNS * (SIZE == 15 ? 2 : TILES);
constexpr int TURNS = (CHUNK / 2 + LANES - 1) / LANES;
constexpr int HELD = (TURNS + BLOCKS_OF_CHUNK - 2) / (BLOCKS_OF_CHUNK - 1);
constexpr int STRETCH = 11;  // doubles' room for a `Stretch`
constexpr int SIDES_AT = TABLE + WARPS * (RING + CHUNKS + STRETCH);  // where they are
constexpr int SHARED = 8 * SIDES_AT + sizeof(Sides);
static_assert(COLUMNS % 2 == 0 && (SIZE == 15 ? COLUMNS == 8 : SLOTS % COLUMNS == 0), "phases have places in chunks");

// The entry of the filter in a row and a column of SIZE x SIZE, or of what lies around it: zero there.
__device__ __forceinline__ double entry_at(const Part& part, const double* entries, int row, int column) {
    row -= (SIZE - part.height) / 2;
    column -= (SIZE - part.width) / 2;
    const bool has = row >= 0 && row < part.height && column >= 0 && column < part.width;
    return has ? entries[column * part.height + row] : 0.0;
}

// The column of the filter that a slot needs in a phase, or one that is none.
__device__ __forceinline__ int column_of(int phase, int slot) { return (phase - slot + SIZE - 1 + 2 * SLOTS) % SLOTS; }

// A stretch: neighbouring columns of a page, in one strip. And what is asked for, chunk by chunk.
struct Stretch {
    long long top;     // its first row
    long long page;
    long long column;  // its first
    int count;         // its columns
    int rest;          // whether some of what is above or below the image comes one by one
    Pieces pieces;     // of its steps: an output is written SIZE steps after its column
    Inner inner;       // of its chunks
    Share share;       // what comes behind it. (Here, since a loop that runs long has no registers to spare.)
};
static_assert(sizeof(Stretch) <= 8 * STRETCH, "there is room for it");

// A warp's ring in shared memory, through which chunks come: they are counted through all stretches.
struct Ring {
    // Of the present stretch:
    int begin;  // its first chunk
    int end;    // behind its last

    static __device__ __forceinline__ double* samples() {
        return shared_memory() + TABLE + threadIdx.x / LANES * RING;
    }
    // Tells when a chunk has come.
    static __device__ __forceinline__ Barrier* full(int number) {
        return reinterpret_cast<Barrier*>(shared_memory() + TABLE + WARPS * RING) + threadIdx.x / LANES * CHUNKS +
               number % CHUNKS;
    }
    static __device__ __forceinline__ Stretch* stretch() {
        return reinterpret_cast<Stretch*>(shared_memory() + TABLE + WARPS * (RING + CHUNKS)) + threadIdx.x / LANES;
    }
    static __device__ __forceinline__ Sides* sides() { return reinterpret_cast<Sides*>(shared_memory() + SIDES_AT); }
    static __device__ __forceinline__ int offset(int number) { return number % CHUNKS * CHUNK; }
    static __device__ __forceinline__ double* chunk(int number) { return samples() + offset(number); }

    // Begins a stretch behind the last.
    __device__ __forceinline__ void turn_to(const Part& part, int chunks) {
        begin = end;
        end += chunks;
        const Box box = box_of(begin);
        const unsigned long long address = address_of(part, box);
        // The first column of the box is this far from the first that is at hand, and as far behind the last.
        const long long ahead = box.column < place_of(part, box) ? box.column : place_of(part, box);
        const long long at_hand = part.before + part.count + part.after - place_of(part, box);
        const long long behind = part.columns - box.column < at_hand ? part.columns - box.column : at_hand;
        const Bulk bulk = Inner::bulk_of(part, box, LENGTH);
        const long long first = ahead < 0 ? (COLUMNS - 1 - ahead) / COLUMNS : 0;
        const long long last = behind < chunks * COLUMNS ? behind / COLUMNS : chunks;
        const unsigned long long from = address - 8 * begin * (COLUMNS * part.rows);
        const int end_of_inner = bulk.low < bulk.high ? begin + static_cast<int>(last) : 0;
        bool rest = bulk.high - bulk.low < LENGTH;
        // The same constant for all columns, with no sample beside it that comes alone, is written once: copies in bulk
        // leave it there. Columns before the first that have a constant of their own would not, and chunks follow them.
        const unsigned long long odd = part.rows | is_odd(reinterpret_cast<unsigned long long>(part.input));
        const bool stays = (bulk.low == 0 || part.stays[0]) && (bulk.high == LENGTH || part.stays[1]);
        if (rest && stays && (odd & 1) == 0) {
            rest = false;
#pragma unroll 1
            for (int c = threadIdx.x % LANES; c < COLUMNS * CHUNKS; c += LANES) {
                double* const column = samples() + c * LENGTH;
#pragma unroll 1
                for (int i = 0; i < bulk.low; ++i) column[i] = sides()->of_rows.value[0];
#pragma unroll 1
                for (int i = bulk.high; i < LENGTH; ++i) column[i] = sides()->of_rows.value[1];
            }
            writes_before_copies();
        }
        __syncwarp();
        if (threadIdx.x % LANES == 0) {
            stretch()->inner = {from, begin + static_cast<int>(first), end_of_inner, bulk};
            stretch()->rest = rest;
        }
        __syncwarp();
    }

    __device__ __forceinline__ Box box_of(int number) const {
        const long long column = stretch()->column - RADIUS + (number - begin) * COLUMNS;
        return {stretch()->top - RADIUS, column, stretch()->page, stretch()->page};
    }

    // The samples come, some by themselves, which the barrier tells, and some in this group of copies. Some are written
    // at once, where copies in bulk may come later. (Here and below the part is a copy: what a function that is called
    // has the address of is no constant to the compiler any more.)
    static __device__ __noinline__ void fetch_at_edge(Part part, int begin, int number) {
        const Box box = Ring{begin, 0}.box_of(number);
        ask_at_edge<LENGTH, COLUMNS, RADIUS, BELOW>(part, *sides(), box, chunk(number), full(number));
        writes_before_copies();
    }
    static __device__ __noinline__ void fetch_above_and_below(Part part, int begin, int number) {
        const Box box = Ring{begin, 0}.box_of(number);
        ask_above_and_below<LENGTH, COLUMNS, RADIUS, BELOW>(part, *sides(), box, chunk(number), stretch()->inner.bulk);
        writes_before_copies();
    }

    // Asks for a chunk, if it is one of the stretch's.
    __device__ __forceinline__ void fetch(const Part& part, int number) const {
        if (number < end) {
            const Inner inner = stretch()->inner;
            if (number >= inner.first && number < inner.end) {
                const unsigned long long from = inner.from + 8 * (number * (COLUMNS * part.rows));
                ask_in_bulk<LENGTH, COLUMNS>(part, from, inner.bulk, chunk(number), full(number));
                if (stretch()->rest) fetch_above_and_below(part, begin, number);
            } else {
                fetch_at_edge(part, begin, number);
            }
        }
        end_group();
    }

    // Waits for a chunk, with all that were asked for before the last CHUNKS - 2.
    __device__ __forceinline__ void await(int number) const {
        wait_groups<CHUNKS - 2>();
        if (number < end) wait(full(number), number / CHUNKS & 1);
        __syncwarp();
    }

    // Looks at a chunk's samples, at those that are the share of a block of instructions: at what the block before has
    // read, and reads what the next one looks at, so that nothing waits for that. `own` is this lane's first pair.
    static __device__ __forceinline__ void look(Met& met, double2 (&held)[HELD], Shared own, int block) {
        const int lane = threadIdx.x % LANES;
#pragma unroll
        for (int later = 1; later >= 0; --later) {
#pragma unroll
            for (int i = 0; i < TURNS; ++i) {
                if (i * (BLOCKS_OF_CHUNK - 1) / TURNS + later != block) continue;
                if (2 * LANES * (i + 1) <= CHUNK || 2 * (LANES * i + lane) < CHUNK) {
                    double2& pair = held[i % HELD];
                    if (later == 0) {
                        pair = read_pair_here(own + 2 * LANES * i);
                    } else {
                        met.sample(pair.x);
                        met.sample(pair.y);
                    }
                }
            }
        }
    }

#if SIZE != 15
    // Looks at what is left of a chunk whose multiplications end with so many blocks: a block looks at what the one before
    // it has read, so some samples of the last column are among that.
    static __device__ __forceinline__ void look_at_rest(Met& met, Shared own, int blocks) {
        const int seen = (blocks - 2) * TURNS / (BLOCKS_OF_CHUNK - 1);
#pragma unroll 1
        for (int i = seen; i < TURNS; ++i) {
            if (2 * (LANES * i + static_cast<int>(threadIdx.x % LANES)) >= CHUNK) continue;
            const double2 pair = read_pair_here(own + 2 * LANES * i);
            met.sample(pair.x);
            met.sample(pair.y);
        }
    }
#endif
};

// The next stretch of a share, or one below the image. Each group of strips has AHEAD places ahead of its columns, so
// that warps whose share goes on into another group have as much to do as the others.
__device__ __forceinline__ Stretch next_of(const Part& part, Share& share) {
    const long long group = share.at / (AHEAD + part.count);
    long long from = share.at - group * (AHEAD + part.count) - AHEAD;
    Stretch stretch;
    if (from < 0) {
        share.at -= from;
        from = 0;
        if (share.at >= share.end) {
            stretch.top = part.rows;
            return stretch;
        }
    }
    const long long through = part.first + from;  // counted through all pages
    stretch.page = through / part.columns;
    stretch.column = through - stretch.page * part.columns;
    long long most = share.end - share.at;
    if (most > part.count - from) most = part.count - from;
    if (most > part.columns - stretch.column) most = part.columns - stretch.column;
    stretch.count = static_cast<int>(most);
    stretch.pieces = Pieces::of<2 * SLOTS>(stretch.count + SIZE - 1);
    share.at += most;
    stretch.top = (group * part.abreast + threadIdx.x / LANES % part.abreast) * ROWS;
    return stretch;
}

// Turns to the next stretch of the warp's share, if there is one.
__device__ __forceinline__ bool go_on(const Part& part) {
    Stretch* const stretch = Ring::stretch();
    Share share = stretch->share;
    Stretch next;
    do {
        if (share.at >= share.end) return false;
        next = next_of(part, share);
    } while (next.top >= part.rows);
    next.share = share;
    __syncwarp();
    if (threadIdx.x % LANES == 0) *stretch = next;
    __syncwarp();
    return true;
}

// The first column's place of a stretch's outputs.
__device__ __forceinline__ double* outputs_of(const Part& part, const Stretch& stretch) {
    return part.output + (stretch.page * part.columns + stretch.column - part.first) * part.rows + stretch.top;
}

// ---- plain chains

constexpr int EACH = ROWS / LANES;  // rows of a lane, which lie LANES rows apart

// Multiplies a column of samples for all outputs that need it: sums[w] is that of the output that has taken w columns
// of SIZE x SIZE, of which the filter is the middle, and becomes sums[w + 1]; the last comes out as sums[SIZE - 1].
//
// FULL: the filter is SIZE x SIZE.
template <bool FULL>
__device__ __forceinline__ void take(const Part& part, const double* samples, double (&sums)[SIZE][EACH]) {
    if (FULL) {
        double own[EACH][SIZE];
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
#pragma unroll
            for (int r = 0; r < SIZE; ++r) own[i][r] = samples[i * LANES + r];
        }
#pragma unroll
        for (int w = SIZE - 1; w >= 0; --w) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) sums[w][i] = w > 0 ? sums[w > 0 ? w - 1 : 0][i] : 0.0;
#pragma unroll
            for (int r = 0; r < SIZE; ++r) {
#pragma unroll
                for (int i = 0; i < EACH; ++i) sums[w][i] = fma(own[i][r], F[w * SIZE + r], sums[w][i]);
            }
        }
    } else {
        const double* const from = samples + (SIZE - part.height) / 2;
        const int first = (SIZE - part.width) / 2;
#pragma unroll
        for (int w = SIZE - 1; w >= 0; --w) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) sums[w][i] = w > 0 ? sums[w > 0 ? w - 1 : 0][i] : 0.0;
            if (w < first || w >= first + part.width) continue;
            const double* const entries = F + (w - first) * part.height;
#pragma unroll 1
            for (int r = 0; r < part.height; ++r) {
#pragma unroll
                for (int i = 0; i < EACH; ++i) sums[w][i] = fma(from[i * LANES + r], entries[r], sums[w][i]);
            }
        }
    }
}

// Computes those pieces of a stretch once more that ask for it. Returns the number of chunks that have come through the
// ring then.
template <bool FULL>
__device__ __noinline__ int compute_again(Part part, Ring ring) {
    Stretch* const stretch = ring.stretch();
    const int lane = threadIdx.x % LANES;
    const Stretch whole = *stretch;
    const int turns = static_cast<int>(part.rows & 1);
#pragma unroll 1
    for (int piece = 0; piece < 64; ++piece) {
        // Neighbouring pieces together.
        const int first = piece;
        while (whole.pieces.has(piece)) ++piece;
        const long long begin = static_cast<long long>(first) * whole.pieces.length - SIZE;
        const long long end = static_cast<long long>(piece) * whole.pieces.length - SIZE;
        const int from = begin > 0 ? static_cast<int>(begin) : 0;
        const int to = end < whole.count ? static_cast<int>(end) : whole.count;
        if (from >= to) continue;
        __syncwarp();
        if (lane == 0) {
            stretch->column = whole.column + from;
            stretch->count = to - from;
        }
        __syncwarp();
        const int steps = to - from + SIZE - 1;
        ring.turn_to(part, (steps + COLUMNS - 1) / COLUMNS);
        int odd = is_odd(address_of(part, ring.box_of(ring.begin)));
        double* output = outputs_of(part, *stretch) - (SIZE - 1) * part.rows + lane;
        double sums[SIZE][EACH];
#pragma unroll
        for (int w = 0; w < SIZE; ++w) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) sums[w][i] = 0;
        }
#pragma unroll 1
        for (int i = 0; i < CHUNKS - 1; ++i) ring.fetch(part, ring.begin + i);
        int step = 0;
#pragma unroll 1
        for (int chunk = ring.begin; chunk < ring.end; ++chunk) {
            ring.await(chunk);
            ring.fetch(part, chunk + CHUNKS - 1);
            const double* samples = ring.chunk(chunk) + lane;
#pragma unroll 1
            for (int i = 0; i < COLUMNS && step < steps; ++i) {
                take<FULL>(part, samples + odd, sums);
                if (step >= SIZE - 1) {
#pragma unroll
                    for (int e = 0; e < EACH; ++e) {
                        if (stretch->top + e * LANES + lane < part.rows) output[e * LANES] = sums[SIZE - 1][e];
                    }
                }
                samples += LENGTH;
                output += part.rows;
                odd ^= turns;
                ++step;
            }
        }
    }
    return ring.end;
}

// The same for either kind of filter, if there is such a piece.
__device__ __forceinline__ void look_again(const Part& part, Ring& ring) {
    if (ring.stretch()->pieces.again == 0) return;
    if (part.height == SIZE && part.width == SIZE) {
        ring.end = compute_again<true>(part, ring);
    } else {
        ring.end = compute_again<false>(part, ring);
    }
}

#if SIZE == 15

// Writes the warps' table: for each phase and each 8 steps, the fragments of the band, a pair of a lane together.
__device__ __forceinline__ void write_table(const Part& part, const double* entries, double* table) {
    for (int at = threadIdx.x; at < TABLE; at += THREADS) {
        const int lane = at / 2 % LANES;
        const int slot = lane / 4 + 8 * (at & 1);
        const int row = lane % 4 + 4 * (at / 64 % 2) + 8 * (at / 128 % (STEPS / 8));
        const int column = column_of(at / 128 / (STEPS / 8), slot);
        table[at] = column < SIZE ? entry_at(part, entries, row, column) : 0.0;
    }
}

template <bool PAIRS>
__device__ __forceinline__ void convolution(const Launch& launch) {
    const Part& part = launch.part;
    const int lane = threadIdx.x % LANES;
    const int g = lane / 4;
    const int q = lane % 4;
    double* const table = shared_memory();
    double* const rings = table + TABLE;
    Ring ring{0, 0};
    if (lane == 0) {
        for (int i = 0; i < CHUNKS; ++i) make_barrier(ring.full(i), COLUMNS);
        barriers_are_made();
    }
    fetch_filter<THREADS>(launch, rings, Ring::sides());
    write_table(part, rings, table);
    __syncthreads();
    clear_ring<RING>(ring.samples());

    constexpr int KS = STEPS / 8;
    constexpr int NB = TILES / 2 + 1;  // fragments of half a column: a tile's second is its neighbour's first
    const Shared band = in_shared(table + 2 * lane);
    const Shared samples_of = in_shared(ring.samples());
    const int turns = PAIRS ? 0 : static_cast<int>(part.rows & 1);
    const long long groups = ((part.rows + ROWS - 1) / ROWS + part.abreast - 1) / part.abreast;
    if (lane == 0) ring.stretch()->share = share_of(groups * (AHEAD + part.count), part.abreast, WARPS);
    __syncwarp();
    while (go_on(part)) {
        const Stretch& stretch = *ring.stretch();
        const int steps = stretch.count + SIZE - 1;
        ring.turn_to(part, (steps + COLUMNS - 1) / COLUMNS);
        // Where this lane's samples are in columns of an even and of an odd number.
        const int odd = is_odd(address_of(part, ring.box_of(ring.begin)));
        const int samples[2] = {g + q + odd, g + q + (odd ^ turns)};
        // In the column of outputs that is written while the present column of samples is taken.
        double* to = outputs_of(part, stretch) - SIZE * part.rows + 2 * q;
        const long long below = part.rows - stretch.top - 2 * q;
        const int room = below < ROWS ? static_cast<int>(below) : ROWS;
        Met met;
        double2 held[HELD];

        int step = 0;
        // A column is multiplied in two blocks of instructions, half of the tiles each. In either the other half's slot
        // is finished, and what the next block multiplies is read: so no multiplication waits for any of that.
        double sums[TILES][4], b[2][NB][2];
        double2 a[2][KS][2];
#pragma unroll
        for (int t = 0; t < TILES; ++t) {
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[t][i] = 0;
        }
        const auto load = [&](int block, Shared from) {
#pragma unroll
            for (int v = 0; v < NB; ++v) {
                b[block][v][0] = read_here(from + 8 * (block * (TILES / 2) + v));
                b[block][v][1] = read_here(from + 8 * (block * (TILES / 2) + v) + 4);
            }
        };
        const auto load_band = [&](int into, Shared entries) {
#pragma unroll
            for (int k = 0; k < KS; ++k) {
                a[into][k][0] = read_pair_here(entries + k * 128);
                a[into][k][1] = read_pair_here(entries + k * 128 + 64);
            }
        };
        // Writes and clears the slot of these lanes, of which there are two, in a block's tiles.
        const auto finish = [&](int block, bool mine, int half) {
            const int rows = mine && step >= SIZE && step <= steps ? room : 0;
#pragma unroll
            for (int n = block * (TILES / 2); n < (block + 1) * (TILES / 2); ++n) {
                write_two<PAIRS>(rows, 8 * n, to + 8 * n, sums[n][2 * half], sums[n][2 * half + 1]);
                sums[n][2 * half] = mine ? 0.0 : sums[n][2 * half];
                sums[n][2 * half + 1] = mine ? 0.0 : sums[n][2 * half + 1];
            }
        };
        const auto multiply = [&](int block, int cur) {
#pragma unroll
            for (int k = 0; k < KS; ++k) {
#pragma unroll
                for (int n = 0; n < TILES / 2; ++n) {
                    multiply_8(sums[block * (TILES / 2) + n], a[cur][k][0].x, a[cur][k][0].y, a[cur][k][1].x,
                               a[cur][k][1].y, b[block][n + k][0], b[block][n + k][1]);
                }
            }
        };

        __syncwarp();
        for (int i = 0; i < CHUNKS - 1; ++i) ring.fetch(part, ring.begin + i);
        int chunk = ring.begin;
        ring.await(chunk);
        load(0, samples_of + ring.offset(chunk) + samples[0]);
        load_band(0, band);
        bool more = true;
        while (more) {
            const int from = step;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                if (!more) continue;
                const Shared now = samples_of + ring.offset(chunk);
                const Shared entries = band + half * 8 * (KS * 128);
                const Shared next_entries = half == 1 ? band : entries + 8 * (KS * 128);
#pragma unroll
                for (int i = 0; i < COLUMNS; ++i) {
                    const int cur = i & 1;
                    if (i == 0) {
                        __syncwarp();
                        ring.fetch(part, chunk + CHUNKS - 1);
                    }
                    ring.look(met, held, now + 2 * lane, 2 * i);
                    load(1, now + samples[i & 1] + i * LENGTH);
                    // The slot of the column before. A choice among registers is not made by a variable.
                    if (i > 0) {
                        finish(1, g == i - 1, half);
                    } else {
                        finish(1, g == 7, half ^ 1);
                    }
                    multiply(0, cur);
                    ++step;
                    to += part.rows;
                    END_OF_COLUMN(2 * (half * 8 + i) % 24);

                    ring.look(met, held, now + 2 * lane, 2 * i + 1);
                    if (i == COLUMNS - 1) {
                        ring.await(chunk + 1);
                        load(0, samples_of + ring.offset(chunk + 1) + samples[0]);
                        load_band(cur ^ 1, next_entries);
                    } else {
                        load(0, now + samples[(i + 1) & 1] + (i + 1) * LENGTH);
                        load_band(cur ^ 1, entries + (i + 1) * (KS * 128));
                    }
                    finish(0, g == i, half);
                    multiply(1, cur);
                    END_OF_COLUMN((2 * (half * 8 + i) + 1) % 24);
                }
                if (++chunk == ring.end) {
                    more = false;
                    finish(1, g == 7, half);
                }
            }
            ring.stretch()->pieces.remember(met, part, from);
        }
        look_again(part, ring);
    }
}

#else

template <bool PAIRS>
__device__ __forceinline__ void convolution(const Launch& launch) {
    const Part& part = launch.part;
    const int lane = threadIdx.x % LANES;
    const int g = lane / 4;
    const int q = lane % 4;
    double* const rings = shared_memory();
    Ring ring{0, 0};
    if (lane == 0) {
        for (int i = 0; i < CHUNKS; ++i) make_barrier(ring.full(i), COLUMNS);
        barriers_are_made();
    }
    fetch_filter<THREADS>(launch, rings, Ring::sides());

    constexpr int KS = STEPS / 4;
    constexpr int TILE_SLOTS = 8 / OUTPUTS;
    constexpr int SLOT_TILES = SLOTS / TILE_SLOTS;
    // The band: what the slots of the first tile need, phase by phase. The other tiles' is that of earlier phases.
    double band[SLOTS][KS];
#pragma unroll
    for (int phase = 0; phase < SLOTS; ++phase) {
#pragma unroll
        for (int k = 0; k < KS; ++k) {
            const int column = column_of(phase, g / OUTPUTS);
            const int row = 4 * k + q - g % OUTPUTS;
            band[phase][k] = column < SIZE && row >= 0 && row < SIZE ? entry_at(part, rings, row, column) : 0.0;
        }
    }
    __syncthreads();
    clear_ring<RING>(ring.samples());

    const Shared samples_of = in_shared(ring.samples());
    // The first of a lane's two neighbouring outputs in a tile.
    const int own = OUTPUTS * g + (OUTPUTS == 4 ? 2 * (q & 1) : 0);
    const int turns = PAIRS ? 0 : static_cast<int>(part.rows & 1);
    const long long groups = ((part.rows + ROWS - 1) / ROWS + part.abreast - 1) / part.abreast;
    if (lane == 0) ring.stretch()->share = share_of(groups * (AHEAD + part.count), part.abreast, WARPS);
    __syncwarp();
    while (go_on(part)) {
        const Stretch& stretch = *ring.stretch();
        const int steps = stretch.count + SIZE - 1;
        ring.turn_to(part, (steps + COLUMNS - 1) / COLUMNS);
        // Where this lane's samples are in columns of an even and of an odd number.
        const int odd = is_odd(address_of(part, ring.box_of(ring.begin)));
        const int samples[2] = {OUTPUTS * g + q + odd, OUTPUTS * g + q + (odd ^ turns)};
        // In the column of outputs that is written while the present column of samples is taken.
        double* to = outputs_of(part, stretch) - SIZE * part.rows + own;
        const long long below = part.rows - stretch.top - own;
        const int room = below < ROWS ? static_cast<int>(below) : ROWS;
        Met met;
        double2 held[HELD];

        // A column is multiplied in a block of instructions a tile. In each the slot of the tile before is finished,
        // and what the next block multiplies is read: so no multiplication waits for any of that.
        double sums[TILES][SLOT_TILES][4], a[TILES][KS][2];
#pragma unroll
        for (int m = 0; m < TILES; ++m) {
#pragma unroll
            for (int t = 0; t < SLOT_TILES; ++t) {
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[m][t][i] = 0;
            }
        }
        const auto load = [&](int m, Shared from) {
#pragma unroll
            for (int k = 0; k < KS; ++k) {
                a[m][k][0] = read_here(from + 16 * OUTPUTS * m + 4 * k);
                a[m][k][1] = read_here(from + 16 * OUTPUTS * m + 8 * OUTPUTS + 4 * k);
            }
        };
        int step = 0;
        // Writes and clears the slot that has taken its last column in a phase.
        const auto finish = [&](int m, int phase) {
            const int slot = phase % TILE_SLOTS;
            const bool mine = OUTPUTS == 2 ? q == slot : q / 2 == slot;
            double(&d)[4] = sums[m][phase / TILE_SLOTS];
            const int at = 16 * OUTPUTS * m;
            const int rows = mine && step >= SIZE && step <= steps ? room : 0;
            write_two<PAIRS>(rows, at, to + at, d[0], d[1]);
            write_two<PAIRS>(rows, at + 8 * OUTPUTS, to + at + 8 * OUTPUTS, d[2], d[3]);
#pragma unroll
            for (int i = 0; i < 4; ++i) d[i] = mine ? 0.0 : d[i];
        };

        __syncwarp();
        for (int i = 0; i < CHUNKS - 1; ++i) ring.fetch(part, ring.begin + i);
        int chunk = ring.begin;
        ring.await(chunk);
        Shared now = samples_of + ring.offset(chunk);
        load(0, now + samples[0]);
        bool more = true;
        while (more) {
            const int from = step;
#pragma unroll
            for (int phase = 0; phase < SLOTS; ++phase) {
                if (!more) continue;
                const int i = phase % COLUMNS;
                if (i == 0) {
                    __syncwarp();
                    ring.fetch(part, chunk + CHUNKS - 1);
                }
#pragma unroll
                for (int m = 0; m < TILES; ++m) {
                    ring.look(met, held, now + 2 * lane, i * TILES + m);
                    if (m + 1 < TILES) {
                        load(m + 1, now + samples[i & 1] + i * LENGTH);
                    } else {
                        if (i == COLUMNS - 1) {
                            ring.await(chunk + 1);
                            now = samples_of + ring.offset(chunk + 1);
                            load(0, now + samples[0]);
                        } else {
                            load(0, now + samples[(i + 1) & 1] + (i + 1) * LENGTH);
                        }
                    }
                    finish((m + TILES - 1) % TILES, m == 0 ? (phase + SLOTS - 1) % SLOTS : phase);
                    if (m == 0) {
                        ++step;
                        to += part.rows;
                    }
#pragma unroll
                    for (int k = 0; k < KS; k += 2) {
#pragma unroll
                        for (int t0 = 0; t0 < SLOT_TILES; ++t0) {
                            // The tile that is finished next comes first.
                            const int t = (phase / TILE_SLOTS + t0) % SLOT_TILES;
                            const int of = (phase - t * TILE_SLOTS + SLOTS) % SLOTS;
                            if (k + 1 < KS) {
                                multiply_8(sums[m][t], a[m][k][0], a[m][k][1], a[m][k + 1][0], a[m][k + 1][1],
                                           band[of][k], band[of][k + 1]);
                            } else {
                                multiply_4(sums[m][t], a[m][k][0], a[m][k][1], band[of][k]);
                            }
                        }
                    }
                    if (m + 1 < TILES) {
                        END_OF_COLUMN((phase * TILES + m) % 24);
                    } else if (step == steps) {
                        // (This ends the block, too.)
                        more = false;
                        finish(TILES - 1, phase);
                    }
                }
                if (i == COLUMNS - 1) ++chunk;
            }
            const int columns_of_last = (steps - 1) % COLUMNS + 1;
            if (!more && columns_of_last < COLUMNS) Ring::look_at_rest(met, now + 2 * lane, columns_of_last * TILES);
            ring.stretch()->pieces.remember(met, part, from);
        }
        look_again(part, ring);
    }
}

#endif

}  // namespace

// Where every column of outputs begins at a multiple of 16: two rows go out at once.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    tensor_convolution_pairs(Launch launch) {
    convolution<true>(launch);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    tensor_convolution_singles(Launch launch) {
    convolution<false>(launch);
}

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int tile_rows_of_output = ROWS;
extern "C" __constant__ unsigned int tile_columns_of_output = 1;
extern "C" __constant__ unsigned int block_warps = WARPS;
extern "C" __constant__ unsigned int block_threads = THREADS;
extern "C" __constant__ unsigned int blocks_at_once = BLOCKS;
extern "C" __constant__ unsigned int shared_bytes = SHARED;
