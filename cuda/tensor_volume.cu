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

#if SIZE != 5 && SIZE != 7
#error "SIZE, the most rows, columns and pages of the filter, must be 5 or 7"
#endif
constexpr int ACROSS = 16, WARPS = 8, BLOCKS = 1, CHUNKS = 3;
constexpr int RADIUS = SIZE / 2;
constexpr int SLOTS = 8;
constexpr int STEPS = 8;  // multiply-adds of an output's column
constexpr int ROWS = 16;
constexpr int COLUMNS = ACROSS + SIZE - 1;  // of samples
constexpr int THREADS = LANES * WARPS;
// Samples of a column that a strip needs, and one more: the first may have to lie at an odd place.
constexpr int LENGTH = (ROWS - 2 + STEPS + 2) / 2 * 2;
constexpr int CHUNK = LENGTH * COLUMNS;
constexpr int RING = CHUNK * CHUNKS;
constexpr int TABLE = SLOTS * SIZE * 128;
constexpr int SHARED = 8 * (TABLE + WARPS * (RING + CHUNKS));

// Writes the warps' table: for each phase and each column of the filter, the fragments of the band, a pair of a lane
// together.
__device__ __forceinline__ void write_table(const Part& part, double* table) {
    for (int at = threadIdx.x; at < TABLE; at += THREADS) {
        const int lane = at / 2 % LANES;
        const int slot = lane / 4;
        const int below = at & 1;  // which of the two rows of outputs
        const int row = lane % 4 + 4 * (at / 64 % 2) - below - (SIZE - part.height) / 2;
        const int column = at / 128 % SIZE - (SIZE - part.width) / 2;
        const int page = (at / 128 / SIZE - slot + SIZE - 1 + SLOTS) % SLOTS - (SIZE - part.depth) / 2;
        const bool has = row >= 0 && row < part.height && column >= 0 && column < part.width && page >= 0 &&
                         page < part.depth;
        table[at] = has ? F[(page * part.width + column) * part.height + row] : 0.0;
    }
}

template <bool PAIRS>
__device__ __forceinline__ void convolution(const Part& part) {
    DYNAMIC_SHARED(double2, memory);
    const int lane = threadIdx.x % LANES;
    const int warp = threadIdx.x / LANES;
    const int g = lane / 4;
    const int q = lane % 4;
    double* const table = reinterpret_cast<double*>(memory);
    double* const rings = table + TABLE;
    double* const ring = rings + warp * RING;
    Barrier* const full = reinterpret_cast<Barrier*>(rings + WARPS * RING) + warp * CHUNKS;
    if (lane == 0) {
        for (int i = 0; i < CHUNKS; ++i) make_barrier(full + i, COLUMNS);
        barriers_are_made();
    }
    write_table(part, table);
    __syncthreads();

    const double* const band = table + 2 * lane;
    const int turns = static_cast<int>(part.rows & 1);
    const int turns_of_page = static_cast<int>(part.rows & part.columns & 1);
    const long long page_size = part.rows * part.columns;
    const long long pages = part.count / part.columns;
    const long long groups_down = ((part.rows + ROWS - 1) / ROWS + part.abreast - 1) / part.abreast;
    const long long groups = groups_down * ((part.columns + ACROSS - 1) / ACROSS);
    Share share = share_of(groups * pages, part.abreast, WARPS);
    int taken = 0;  // pages of earlier stretches
    while (share.at < share.end) {
        // A stretch: neighbouring pages, in one strip.
        const long long group = share.at / pages;
        const long long from = share.at - group * pages;
        const int count =
            static_cast<int>(share.end - share.at < pages - from ? share.end - share.at : pages - from);
        share.at += count;
        const long long top = (group % groups_down * part.abreast + warp % part.abreast) * ROWS;
        const long long left = group / groups_down * ACROSS;
        if (top >= part.rows) continue;
        const long long first_page = part.first / part.columns + from;
        const int steps = count + SIZE - 1;
        // The page that is written while the first page of samples is taken.
        double* to = part.output + (from - SIZE) * page_size + left * part.rows + top + 4 * q;
        const long long below = part.rows - top - 4 * q;
        const int room = below < ROWS ? static_cast<int>(below) : ROWS;
        const int across = static_cast<int>(part.columns - left < ACROSS ? part.columns - left : ACROSS);
        int odd = oddness_of(part, {top - RADIUS, left - RADIUS, first_page - RADIUS, 0});
        Met met;

        const auto slot = [&](int page) { return (taken + page) % CHUNKS; };
        const auto fetch = [&](int page) {
            if (page < steps) {
                const long long at = first_page - RADIUS + page;
                const long long source = sample_at(at, part.pages, RADIUS, part.behind);
                ask<LENGTH, COLUMNS, RADIUS>(part, {top - RADIUS, left - RADIUS, at, source},
                                             ring + slot(page) * CHUNK, full + slot(page), lane);
            }
            end_group();
        };
        const auto await = [&](int page) {
            wait_groups<CHUNKS - 2>();
            if (page < steps) wait(full + slot(page), (taken + page) / CHUNKS & 1);
            __syncwarp();
        };

        double sums[ACROSS][4];
        double2 a[SIZE][2];
#pragma unroll
        for (int j = 0; j < ACROSS; ++j) {
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[j][i] = 0;
        }
        // Writes and clears the slot of these lanes.
        const auto finish = [&](int j, bool mine, bool written) {
            const int rows = mine && written && j < across ? room : 0;
            double* const column = to + j * part.rows;
            write_two<PAIRS>(rows, 0, column, sums[j][0], sums[j][2], met.largest);
            write_two<PAIRS>(rows, 2, column + 2, sums[j][1], sums[j][3], met.largest);
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[j][i] = mine ? 0.0 : sums[j][i];
        };

        __syncwarp();
        for (int page = 0; page < CHUNKS - 1; ++page) fetch(page);
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
            a[k][0] = read_pair_here(band + k * 128);
            a[k][1] = read_pair_here(band + k * 128 + 64);
        }
        await(0);
        const double* const own = ring + 2 * g + q;
        double b[2][2];
        b[0][0] = read_here(own + odd + slot(0) * CHUNK);
        b[0][1] = read_here(own + odd + slot(0) * CHUNK + 4);
        // One more, to write the last.
        for (int step = 0; step <= steps; ++step) {
            const bool mine = g == ((step + 7) & 7);
            const bool written = step >= SIZE;
            if (step == steps) {
#pragma unroll
                for (int j = 0; j < ACROSS; ++j) finish(j, mine, written);
                break;
            }
            const double* const now = own + slot(step) * CHUNK;
            const double* const samples[2] = {now + odd, now + (odd ^ turns)};
            const double* const next_entries = band + ((step + 1) & 7) * (SIZE * 128);
            __syncwarp();
            fetch(step + CHUNKS - 1);
            odd ^= turns_of_page;
#pragma unroll
            for (int u = 0; u < COLUMNS; ++u) {
                const int cur = u & 1;
                if (u + 1 < COLUMNS) {
                    b[cur ^ 1][0] = read_here(samples[(u + 1) & 1] + (u + 1) * LENGTH);
                    b[cur ^ 1][1] = read_here(samples[(u + 1) & 1] + (u + 1) * LENGTH + 4);
                } else {
                    await(step + 1);
                    b[cur ^ 1][0] = read_here(own + odd + slot(step + 1) * CHUNK);
                    b[cur ^ 1][1] = read_here(own + odd + slot(step + 1) * CHUNK + 4);
                }
                // This page's samples, a share with each column.
                constexpr int PAIRS_OF_PAGE = CHUNK / 2;
                constexpr int TURNS = (PAIRS_OF_PAGE + LANES - 1) / LANES;
#pragma unroll
                for (int i = 0; i < TURNS; ++i) {
                    // Not with the last, after which the next page's samples may come in this one's place.
                    if (i * (COLUMNS - 1) / TURNS != u) continue;
                    const int at = i * LANES + lane;
                    if ((i + 1) * LANES <= PAIRS_OF_PAGE || at < PAIRS_OF_PAGE) {
                        const double2 pair = read_pair_here(ring + slot(step) * CHUNK + 2 * at);
                        met.sample(pair.x);
                        met.sample(pair.y);
                    }
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
        }
        taken += steps;
        __syncwarp();
        const bool near_zero = met.near_zero(part);
        if (met.not_finite() || near_zero) {
#pragma unroll 1
            for (long long page = first_page; page < first_page + count; ++page) {
                again<ROWS>(part, top, page, left, left + across, near_zero);
            }
        }
    }
}

}  // namespace

// Where every column of outputs begins at a multiple of 16: two rows go out at once.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) tensor_volume_pairs(const __grid_constant__ Part part) {
    convolution<true>(part);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    tensor_volume_singles(const __grid_constant__ Part part) {
    convolution<false>(part);
}

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int tile_rows_of_output = ROWS;
extern "C" __constant__ unsigned int tile_columns_of_output = ACROSS;
extern "C" __constant__ unsigned int block_warps = WARPS;
extern "C" __constant__ unsigned int blocks_at_once = BLOCKS;
extern "C" __constant__ unsigned int shared_bytes = SHARED;
