// The convolution of volumes, in double, on the tensor cores of chips of compute capability 9.0: see tensor_strips.cuh.
//
// Compiled for -DSIZE, 5 or 7: filters of up to so many rows, columns and pages, which are laid into the middle of
// SIZE x SIZE x SIZE.
//
// A warp takes ROWS rows of ACROSS columns and streams over the pages. Its samples come into a ring in shared memory,
// that only it uses: a page a time, with CHUNKS pages on their way. There are 8 slots for the pages of outputs that
// are under way, and 2 neighbouring rows each: the 16 rows of D. The band is A, from a table in shared memory; samples
// are B, 8 pairs of rows. A column of samples is read once and multiplied for the SIZE columns of outputs that need it.
// Of the multiply-adds 77% are the filter's with 7, 39% with 5.

#include "tensor_strips.cuh"

namespace {

#if SIZE == 7
constexpr int ACROSS = 16, WARPS = 8, BLOCKS = 1, CHUNKS = 3;
#elif SIZE == 5
constexpr int ACROSS = 12, WARPS = 8, BLOCKS = 1, CHUNKS = 4;
#else
#error "SIZE, the most rows, columns and pages of the filter, must be 5 or 7"
#endif
constexpr int RADIUS = SIZE / 2;
constexpr int SLOTS = 8;
constexpr int STEPS = 8;  // multiply-adds of an output's column
constexpr int ROWS = 16;
constexpr int COLUMNS = ACROSS + SIZE - 1;  // of samples
constexpr int THREADS = LANES * WARPS;
// Samples of a column that a strip needs, and one more: the first may have to lie at an odd place.
constexpr int LENGTH = (ROWS - 2 + STEPS + 2) / 2 * 2;
// Rows below the image that outputs in it are multiplied for, be it by zero.
constexpr int BELOW = STEPS - RADIUS - 1;
constexpr int CHUNK = LENGTH * COLUMNS;
constexpr int RING = CHUNK * CHUNKS;
constexpr int TABLE = SLOTS * SIZE * 128;
constexpr int STRETCH = 9;  // doubles' room for a `Stretch`
constexpr int SHARED = 8 * (TABLE + WARPS * (RING + CHUNKS + STRETCH));

// Writes the warps' table: for each phase and each column of the filter, the fragments of the band, a pair of a lane
// together.
__device__ __forceinline__ void write_table(const Part& part, const double* entries, double* table) {
    for (int at = threadIdx.x; at < TABLE; at += THREADS) {
        const int lane = at / 2 % LANES;
        const int slot = lane / 4;
        const int below = at & 1;  // which of the two rows of outputs
        const int row = lane % 4 + 4 * (at / 64 % 2) - below - (SIZE - part.height) / 2;
        const int column = at / 128 % SIZE - (SIZE - part.width) / 2;
        const int page = (at / 128 / SIZE - slot + SIZE - 1 + SLOTS) % SLOTS - (SIZE - part.depth) / 2;
        const bool has = row >= 0 && row < part.height && column >= 0 && column < part.width && page >= 0 &&
                         page < part.depth;
        table[at] = has ? entries[(page * part.width + column) * part.height + row] : 0.0;
    }
}

// A stretch: neighbouring pages, in one strip.
struct Stretch {
    long long top;    // its first row
    long long left;   // its first column
    long long first;  // its first page
    int count;        // its pages
    Pieces pieces;    // of its pages of samples: an output is written SIZE pages after its own
    Inner inner;      // of its pages of samples
};
static_assert(sizeof(Stretch) <= 8 * STRETCH, "there is room for it");

// The next stretch of a share.
__device__ __forceinline__ Stretch next_of(const Part& part, Share& share, long long groups_down) {
    const long long pages = part.count / part.columns;
    const long long group = share.at / pages;
    const long long from = share.at - group * pages;
    const long long most = share.end - share.at < pages - from ? share.end - share.at : pages - from;
    share.at += most;
    Stretch stretch;
    stretch.top = (group % groups_down * part.abreast + threadIdx.x / LANES % part.abreast) * ROWS;
    stretch.left = group / groups_down * ACROSS;
    stretch.first = part.first / part.columns + from;
    stretch.count = static_cast<int>(most);
    stretch.pieces = Pieces::of<SLOTS>(stretch.count + SIZE - 1);
    return stretch;
}

// A warp's ring in shared memory, through which pages come: they are counted through all stretches.
struct Ring {
    // Of the present stretch:
    int begin;  // its first page
    int end;    // behind its last

    static __device__ __forceinline__ double* samples() {
        return shared_memory() + TABLE + threadIdx.x / LANES * RING;
    }
    // Tells when a page has come.
    static __device__ __forceinline__ Barrier* full(int number) {
        return reinterpret_cast<Barrier*>(shared_memory() + TABLE + WARPS * RING) + threadIdx.x / LANES * CHUNKS +
               number % CHUNKS;
    }
    static __device__ __forceinline__ Stretch* stretch() {
        return reinterpret_cast<Stretch*>(shared_memory() + TABLE + WARPS * (RING + CHUNKS)) + threadIdx.x / LANES;
    }
    static __device__ __forceinline__ int offset(int number) { return number % CHUNKS * CHUNK; }
    static __device__ __forceinline__ double* page(int number) { return samples() + offset(number); }

    // Begins a stretch behind the last.
    __device__ __forceinline__ void turn_to(const Part& part) {
        begin = end;
        end += stretch()->count + SIZE - 1;
        const Box box = box_of(part, begin);
        const long long ahead = part.first - part.before;
        const long long at_hand = ahead + part.before + part.count + part.after;
        const Bulk bulk = Inner::bulk_of<LENGTH>(part, box);
        const bool inside = box.column >= 0 && box.column + COLUMNS <= part.columns;
        // The first page and the one behind the last of which all columns are at hand.
        const long long low = (ahead + part.columns - 1) / part.columns;
        const long long high = at_hand / part.columns < part.pages ? at_hand / part.columns : part.pages;
        const long long first = low > box.page ? low - box.page : 0;
        const long long last = high - box.page < end - begin ? high - box.page : end - begin;
        const unsigned long long from = address_of(part, box) - 8 * begin * (part.rows * part.columns);
        const int end_of_inner = inside && bulk.low < bulk.high ? begin + static_cast<int>(last) : 0;
        __syncwarp();
        if (threadIdx.x % LANES == 0) stretch()->inner = {from, begin + static_cast<int>(first), end_of_inner, bulk};
        __syncwarp();
    }

    __device__ __forceinline__ Box box_of(const Part& part, int number) const {
        const long long page = stretch()->first - RADIUS + (number - begin);
        const long long source = sample_at(page, part.pages, RADIUS, part.behind);
        return {stretch()->top - RADIUS, stretch()->left - RADIUS, page, source};
    }

    // The samples come, some by themselves, which the barrier tells, and some in this group of copies. Some are written
    // at once, where copies in bulk may come later. (Here and below the part is a copy: what a function that is called
    // has the address of is no constant to the compiler any more.)
    static __device__ __noinline__ void fetch_at_edge(Part part, int begin, int number) {
        const Box box = Ring{begin, 0}.box_of(part, number);
        ask_at_edge<LENGTH, COLUMNS, RADIUS, BELOW>(part, box, page(number), full(number));
        writes_before_copies();
    }
    static __device__ __noinline__ void fetch_above_and_below(Part part, int begin, int number) {
        const Box box = Ring{begin, 0}.box_of(part, number);
        ask_above_and_below<LENGTH, COLUMNS, RADIUS, BELOW>(part, box, page(number), stretch()->inner.bulk);
        writes_before_copies();
    }

    // Asks for a page, if it is one of the stretch's.
    __device__ __forceinline__ void fetch(const Part& part, int number) const {
        if (number < end) {
            const Inner inner = stretch()->inner;
            if (number >= inner.first && number < inner.end) {
                const unsigned long long from = inner.from + 8 * (number * (part.rows * part.columns));
                ask_in_bulk<LENGTH, COLUMNS>(part, from, inner.bulk, page(number), full(number));
                if (inner.bulk.high - inner.bulk.low < LENGTH) fetch_above_and_below(part, begin, number);
            } else {
                fetch_at_edge(part, begin, number);
            }
        }
        end_group();
    }

    // Waits for a page, with all that were asked for before the last CHUNKS - 2.
    __device__ __forceinline__ void await(int number) const {
        wait_groups<CHUNKS - 2>();
        if (number < end) wait(full(number), number / CHUNKS & 1);
        __syncwarp();
    }

    // Looks at a page's samples, at those that are a column's share of the work. `own` is this lane's first pair.
    __device__ __forceinline__ void look(Met& met, Shared own, int column) const {
        constexpr int PAIRS_OF_PAGE = CHUNK / 2;
        constexpr int TURNS = (PAIRS_OF_PAGE + LANES - 1) / LANES;
        const int lane = threadIdx.x % LANES;
#pragma unroll
        for (int i = 0; i < TURNS; ++i) {
            if (i * COLUMNS / TURNS != column) continue;
            if ((i + 1) * LANES <= PAIRS_OF_PAGE || i * LANES + lane < PAIRS_OF_PAGE) {
                const double2 pair = read_pair_here(own + 2 * LANES * i);
                met.sample(pair.x);
                met.sample(pair.y);
            }
        }
    }
};

// The first page's place of a stretch's outputs.
__device__ __forceinline__ double* outputs_of(const Part& part, const Stretch& stretch) {
    const long long page = stretch.first - part.first / part.columns;
    return part.output + (page * part.columns + stretch.left) * part.rows + stretch.top;
}

// ---- plain chains

constexpr int SIDES = LANES / ROWS;   // lanes beside each other
constexpr int EACH = ACROSS / SIDES;  // neighbouring columns of outputs of a lane
static_assert(EACH % 2 == 0 && COLUMNS % 2 == 0, "a lane's first column is of an even number, and so is a page's");

// Multiplies a page of samples for the outputs of one page: `samples` are a lane's first, at an odd place or not in
// columns of an even and of an odd number; `of_page` says which page of SIZE of them, of which the filter is the
// middle.
//
// FULL: the filter is SIZE x SIZE x SIZE.
template <bool FULL>
__device__ __forceinline__ void take(const Part& part, const double* const (&samples)[2], int of_page,
                                     double (&sums)[EACH]) {
    if (FULL) {
        const double* const entries = F + of_page * (SIZE * SIZE);
#pragma unroll
        for (int u = 0; u < EACH + SIZE - 1; ++u) {
            double own[SIZE];
#pragma unroll
            for (int r = 0; r < SIZE; ++r) own[r] = samples[u & 1][u * LENGTH + r];
#pragma unroll
            for (int r = 0; r < SIZE; ++r) {
#pragma unroll
                for (int j = 0; j < EACH; ++j) {
                    const int w = u - j;
                    if (w >= 0 && w < SIZE) sums[j] = fma(own[r], entries[w * SIZE + r], sums[j]);
                }
            }
        }
    } else {
        const int page = of_page - (SIZE - part.depth) / 2;
        if (page < 0 || page >= part.depth) return;
        const double* const entries = F + page * part.width * part.height;
        const int first = (SIZE - part.width) / 2;
        const int below = (SIZE - part.height) / 2;
#pragma unroll 1
        for (int w = 0; w < part.width; ++w) {
            const double* const even = samples[(first + w) & 1] + (first + w) * LENGTH + below;
            const double* const odd = samples[(first + w + 1) & 1] + (first + w) * LENGTH + below;
#pragma unroll 1
            for (int r = 0; r < part.height; ++r) {
                const double entry = entries[w * part.height + r];
#pragma unroll
                for (int j = 0; j < EACH; ++j) {
                    sums[j] = fma((j & 1 ? odd : even)[j * LENGTH + r], entry, sums[j]);
                }
            }
        }
    }
}

// Computes those pieces of a stretch once more that ask for it, page by page. Returns the number of pages of samples
// that have come through the ring then.
template <bool FULL>
__device__ __noinline__ int compute_again(Part part, Ring ring) {
    Stretch* const stretch = ring.stretch();
    const int lane = threadIdx.x % LANES;
    const Stretch whole = *stretch;
    const int turns = static_cast<int>(part.rows & 1);
    const int turns_of_page = static_cast<int>(part.rows & part.columns & 1);
    const long long row = whole.top + lane % ROWS;
    const int own = lane / ROWS * EACH;  // first column of a lane's outputs
#pragma unroll 1
    for (int page = 0; page < whole.count; ++page) {
        if (!whole.pieces.has((page + SIZE) / whole.pieces.length)) continue;
        __syncwarp();
        if (lane == 0) {
            stretch->first = whole.first + page;
            stretch->count = 1;
        }
        __syncwarp();
        ring.turn_to(part);
        int odd = is_odd(address_of(part, ring.box_of(part, ring.begin)));
        double sums[EACH];
#pragma unroll
        for (int j = 0; j < EACH; ++j) sums[j] = 0;
#pragma unroll 1
        for (int i = 0; i < CHUNKS - 1; ++i) ring.fetch(part, ring.begin + i);
#pragma unroll 1
        for (int number = ring.begin; number < ring.end; ++number) {
            ring.await(number);
            ring.fetch(part, number + CHUNKS - 1);
            const double* const samples = ring.page(number) + own * LENGTH + lane % ROWS;
            take<FULL>(part, {samples + odd, samples + (odd ^ turns)}, number - ring.begin, sums);
            odd ^= turns_of_page;
        }
        double* const output = outputs_of(part, *stretch) + own * part.rows + lane % ROWS;
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            if (row < part.rows && whole.left + own + j < part.columns) output[j * part.rows] = sums[j];
        }
    }
    return ring.end;
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
    fetch_filter<THREADS>(part, rings);
    write_table(part, rings, table);
    __syncthreads();
    clear_ring<RING>(ring.samples());

    const Shared band = in_shared(table + 2 * lane);
    const Shared samples_of = in_shared(ring.samples());
    const int turns = PAIRS ? 0 : static_cast<int>(part.rows & 1);
    const int turns_of_page = PAIRS ? 0 : static_cast<int>(part.rows & part.columns & 1);
    const long long groups_down = ((part.rows + ROWS - 1) / ROWS + part.abreast - 1) / part.abreast;
    const long long groups = groups_down * ((part.columns + ACROSS - 1) / ACROSS);
    Share share = share_of(groups * (part.count / part.columns), part.abreast, WARPS);
    while (share.at < share.end) {
        {
            const Stretch next = next_of(part, share, groups_down);
            __syncwarp();
            if (lane == 0) *ring.stretch() = next;
            __syncwarp();
        }
        const Stretch& stretch = *ring.stretch();
        if (stretch.top >= part.rows) continue;
        ring.turn_to(part);
        // In the page that is written while the present page of samples is taken.
        const long long page_size = part.rows * part.columns;
        double* to = outputs_of(part, stretch) - SIZE * page_size + 4 * q;
        const long long below = part.rows - stretch.top - 4 * q;
        const int room = below < ROWS ? static_cast<int>(below) : ROWS;
        const int across =
            static_cast<int>(part.columns - stretch.left < ACROSS ? part.columns - stretch.left : ACROSS);
        int odd = is_odd(address_of(part, ring.box_of(part, ring.begin)));
        Met met;

        double sums[ACROSS][4];
        double2 a[SIZE][2];
#pragma unroll
        for (int j = 0; j < ACROSS; ++j) {
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[j][i] = 0;
        }
        // A bit for each two rows of this lane that are outputs: in each column two.
        static_assert(ACROSS <= 16, "there are as many bits");
        const unsigned int inside = across < 16 ? (1u << 2 * across) - 1 : ~0u;
        const unsigned int outputs = (room > 0 ? 0x55555555u & inside : 0) | (room > 2 ? 0xaaaaaaaau & inside : 0);
        // Writes of `written` what is there, and clears the slot of these lanes.
        const auto finish = [&](int j, bool mine, unsigned int written) {
            double* const column = to + j * part.rows;
            write_two_of<PAIRS>(written, 2 * j, room == 1, column, sums[j][0], sums[j][2]);
            write_two_of<PAIRS>(written, 2 * j + 1, room == 3, column + 2, sums[j][1], sums[j][3]);
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[j][i] = mine ? 0.0 : sums[j][i];
        };

        __syncwarp();
        for (int i = 0; i < CHUNKS - 1; ++i) ring.fetch(part, ring.begin + i);
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
            a[k][0] = read_pair_here(band + k * 128);
            a[k][1] = read_pair_here(band + k * 128 + 64);
        }
        ring.await(ring.begin);
        const int own = 2 * g + q;
        double b[2][2];
        b[0][0] = read_here(samples_of + ring.offset(ring.begin) + own + odd);
        b[0][1] = read_here(samples_of + ring.offset(ring.begin) + own + odd + 4);
        // One more, to write the last.
        for (int number = ring.begin;; ++number) {
            const int step = number - ring.begin;
            const bool mine = g == ((step + 7) & 7);
            const unsigned int written = mine && step >= SIZE ? outputs : 0;
            if (number == ring.end) {
#pragma unroll
                for (int j = 0; j < ACROSS; ++j) finish(j, mine, written);
                break;
            }
            const Shared page = samples_of + ring.offset(number);
            const Shared now = page + own;
            const int samples[2] = {odd, odd ^ turns};
            const Shared next_entries = band + ((step + 1) & 7) * (SIZE * 128);
            __syncwarp();
            ring.fetch(part, number + CHUNKS - 1);
            odd ^= turns_of_page;
#pragma unroll
            for (int u = 0; u < COLUMNS; ++u) {
                const int cur = u & 1;
                ring.look(met, page + 2 * lane, u);
                if (u + 1 < COLUMNS) {
                    b[cur ^ 1][0] = read_here(now + samples[(u + 1) & 1] + (u + 1) * LENGTH);
                    b[cur ^ 1][1] = read_here(now + samples[(u + 1) & 1] + (u + 1) * LENGTH + 4);
                } else {
                    ring.await(number + 1);
                    b[cur ^ 1][0] = read_here(samples_of + ring.offset(number + 1) + own + odd);
                    b[cur ^ 1][1] = read_here(samples_of + ring.offset(number + 1) + own + odd + 4);
                }
                if (u < ACROSS) finish(u, mine, written);
#pragma unroll
                for (int j = (u > ACROSS - 1 ? ACROSS - 1 : u); j >= 0 && j > u - SIZE; --j) {
                    const int k = u - j;
                    multiply_8(sums[j], a[k][0].x, a[k][0].y, a[k][1].x, a[k][1].y, b[cur][0], b[cur][1]);
                }
                // The next phase's entries, as soon as this one's have been used.
                if (u >= ACROSS - 1) {
                    const int k = u - (ACROSS - 1);
                    a[k][0] = read_pair_here(next_entries + k * 128);
                    a[k][1] = read_pair_here(next_entries + k * 128 + 64);
                }
                END_OF_COLUMN(u);
            }
            to += page_size;
            ring.stretch()->pieces.remember(met, part, step);
        }
        if (ring.stretch()->pieces.again != 0) {
            if (part.height == SIZE && part.width == SIZE && part.depth == SIZE) {
                ring.end = compute_again<true>(part, ring);
            } else {
                ring.end = compute_again<false>(part, ring);
            }
        }
    }
}

}  // namespace

// Where every column of outputs begins at a multiple of 16: two rows go out at once.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) tensor_volume_pairs(Launch launch) {
    convolution<true>(launch);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    tensor_volume_singles(Launch launch) {
    convolution<false>(launch);
}

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int tile_rows_of_output = ROWS;
extern "C" __constant__ unsigned int tile_columns_of_output = ACROSS;
extern "C" __constant__ unsigned int block_warps = WARPS;
extern "C" __constant__ unsigned int blocks_at_once = BLOCKS;
extern "C" __constant__ unsigned int shared_bytes = SHARED;
