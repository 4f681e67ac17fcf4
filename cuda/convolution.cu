// The convolution of ConvolutionConstantMemory_CUDA: a filter in constant memory, laid with its middle on every element
// of an image or a volume.
//
// Compiled for -DREAL=float and -DREAL=double; for a filter of -DSIZE rows and columns, or, without that, for one of
// any size.
//
// A block computes a tile of ROWS x COLUMNS outputs of one page. It stages the samples under it in shared memory, so
// that each is read from device memory about once. A thread computes two neighbouring rows of OUTPUTS neighbouring
// columns. It reads samples from shared memory in pairs and uses each for all its columns, and for both rows: one read
// serves nearly 2 * OUTPUTS multiply-adds. Sums run in the filter's column-major order: pages, then columns, then rows.
// With the size known, every entry of the filter is an operand of its multiply-add, straight from constant memory.

#include "boundary.cuh"

#ifndef REAL
#error "REAL, the class of the samples, must be given"
#endif

namespace {
constexpr int MAX_ENTRIES = 343;  // 7 x 7 x 7, which is more than 15 x 15
constexpr int LANES = 32;
// How a block is laid out: its warps, the columns a thread computes, and how many blocks a multiprocessor is to hold, its
// occupancy, which bounds the registers. Measured on an H200 among some dozen layouts a size: small filters wait for memory and
// like many small blocks; large ones are bound by arithmetic.
#ifdef SIZE
constexpr bool DOUBLE = sizeof(REAL) == 8;
constexpr bool LARGE = SIZE > (DOUBLE ? 7 : 9);
constexpr int WARPS = LARGE ? 8 : 4;
constexpr int OUTPUTS = LARGE ? (DOUBLE ? 4 : 5) : SIZE == 3 && DOUBLE ? 4 : 8;
constexpr int OCCUPANCY = LARGE ? 3 : SIZE == 3 && DOUBLE ? 8 : SIZE == 3 || SIZE == 9 ? 1 : 6;
#else
constexpr int WARPS = 4;
constexpr int OUTPUTS = 8;
constexpr int OCCUPANCY = 1;
#endif
constexpr int ROWS = 2 * LANES;
constexpr int COLUMNS = WARPS * OUTPUTS;
constexpr int THREADS = LANES * WARPS;
constexpr int COLUMNS_AT_ONCE = THREADS / ROWS;  // that are staged in one step

template <typename T>
struct PairOf;
template <>
struct PairOf<float> {
    typedef float2 Type;
};
template <>
struct PairOf<double> {
    typedef double2 Type;
};
typedef PairOf<REAL>::Type Pair;
}  // namespace

// The filter, in column-major order.
__constant__ REAL F[MAX_ENTRIES];

// The part of an image or a volume that one launch works on: whole columns, counted through all pages.
struct Part {
    const REAL* input;  // the samples, from `before` columns ahead of the first output's column
    REAL* output;
    long long count;   // columns to compute
    long long before;  // columns at hand ahead of the first
    long long after;   // columns at hand behind the last
    long long first;   // the first output's column
    long long rows;    // of the image
    long long columns;
    long long pages;
    int height;  // of the filter
    int width;
    int depth;
    int skip;       // columns of tiles, in the first output's page, ahead of the first that is needed
    int backwards;  // whether to begin with the last tile: what was written last is in the cache still
    Ends of_rows;   // what stands beyond them
    Ends of_columns;
    Ends of_pages;
};

// What is known of the filter when this is compiled, and what is known only when it runs.
#ifdef SIZE
#define FILTER_HEIGHT SIZE
#define FILTER_WIDTH SIZE
#define LARGEST SIZE
#define UNROLL _Pragma("unroll")
#else
#define FILTER_HEIGHT part.height
#define FILTER_WIDTH part.width
#define LARGEST 15
#define UNROLL _Pragma("unroll 1")
#endif

// The samples of one column that a thread needs: from its first row on, one more than the filter has rows.
struct Samples {
#ifdef SIZE
    REAL values[SIZE + 1];

    __device__ __forceinline__ explicit Samples(const REAL* from) {
        const Pair* pairs = reinterpret_cast<const Pair*>(from);
#pragma unroll
        for (int i = 0; i < (SIZE + 1) / 2; ++i) {
            const Pair pair = pairs[i];
            values[2 * i] = pair.x;
            values[2 * i + 1] = pair.y;
        }
    }
    __device__ __forceinline__ REAL operator[](int i) const { return values[i]; }
#else
    const REAL* from;

    __device__ __forceinline__ explicit Samples(const REAL* from) : from(from) {}
    __device__ __forceinline__ REAL operator[](int i) const { return from[i]; }
#endif
};

// A block's tile of outputs: its first row and column, and its page.
struct Tile {
    long long top;
    long long left;
    long long page;

    // Tiles of one column of tiles are neighbours: what they share is in the cache. No tile reaches into another page.
    __device__ __forceinline__ explicit Tile(const Part& part) {
        const int tiles_down = (int)((part.rows + ROWS - 1) / ROWS);
        const int tiles_across = (int)((part.columns + COLUMNS - 1) / COLUMNS);
        const int number = (int)(part.backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
        const int block = number / tiles_down + part.skip;
        top = (long long)(number % tiles_down) * ROWS;
        left = (long long)(block % tiles_across) * COLUMNS;
        page = part.first / part.columns + block / tiles_across;
    }
};

// The samples of one page under a tile, as they are staged in shared memory: first the rows of outputs, by ROWS threads a
// column, then those below them, a few in each column.
struct Stage {
    long long of_page;    // which page of samples: see `sample_at`
    long long at_hand;    // the columns that are at hand
    long long first_at;   // where among those the first column would be if all were at hand
    long long first_row;  // of the samples, in their page
    long long first_column;
    int rows;  // of the samples: even, so that pairs stay aligned in every column
    int columns;
    int row;    // of this thread, among the rows of outputs
    int group;  // the columns that are staged at once: which is this thread's
    int rest;   // the samples below the rows of outputs

    __device__ __forceinline__ Stage(const Part& part, const Tile& tile, int height, int width, long long of_page)
        : of_page(of_page) {
        rows = ROWS + height - 1;
        columns = COLUMNS + width - 1;
        at_hand = part.before + part.count + part.after;
        // A sample that is not at hand belongs to outputs that are not this launch's.
        first_at = of_page * part.columns + tile.left - width / 2 - (part.first - part.before);
        first_row = tile.top - height / 2;
        first_column = tile.left - width / 2;
        row = threadIdx.x % ROWS;
        group = threadIdx.x / ROWS;
        rest = columns * (height - 1);
    }

    // Whether all samples are the array's, and at hand.
    __device__ __forceinline__ bool is_inner(const Part& part) const {
        return of_page >= 0 && first_row >= 0 && first_row + rows <= part.rows && first_column >= 0 &&
               first_column + columns <= part.columns && first_at >= 0 && first_at + columns <= at_hand;
    }

#ifdef SIZE
    // Stages samples that are all at hand. All loads are under way before the first is waited for.
    __device__ __forceinline__ void copy(const Part& part, REAL* to) const {
        constexpr int STEPS = (COLUMNS + SIZE - 1 + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE;
        constexpr int REST_STEPS = ((COLUMNS + SIZE - 1) * (SIZE - 1) + THREADS - 1) / THREADS;
        const REAL* from = part.input + first_at * part.rows + first_row;
        REAL staged[STEPS];
        REAL staged_rest[REST_STEPS];
#pragma unroll
        for (int i = 0; i < STEPS; ++i) {
            const int c = i * COLUMNS_AT_ONCE + group;
            if (c < columns) staged[i] = from[c * part.rows + row];
        }
#pragma unroll
        for (int i = 0; i < REST_STEPS; ++i) {
            const int at = i * THREADS + threadIdx.x;
            if (at < rest) staged_rest[i] = from[at / (SIZE - 1) * part.rows + ROWS + at % (SIZE - 1)];
        }
#pragma unroll
        for (int i = 0; i < STEPS; ++i) {
            const int c = i * COLUMNS_AT_ONCE + group;
            if (c < columns) to[c * rows + row] = staged[i];
        }
#pragma unroll
        for (int i = 0; i < REST_STEPS; ++i) {
            const int at = i * THREADS + threadIdx.x;
            if (at < rest) to[at / (SIZE - 1) * rows + ROWS + at % (SIZE - 1)] = staged_rest[i];
        }
    }
#endif

    // Stages any samples, one by one. Where a sample that another one stands for may be far away, all are at hand.
    __device__ __forceinline__ void copy_each(const Part& part, int height, int width, bool inner, REAL* to) const {
        const bool has_page = of_page >= 0;
        const long long page_at = first_at - first_column;
        const auto stage = [&](long long row_at, int r, int c) {
            const long long column_at =
                inner ? first_column + c : sample_at(first_column + c, part.columns, width / 2, part.of_columns);
            const long long at = page_at + column_at;
            const bool inside = inner || (has_page && row_at >= 0 && column_at >= 0 && at >= 0 && at < at_hand);
            // Where two sides meet, the later dimension's constant counts.
            const auto constant = [&] {
                return !has_page       ? constant_of(part.of_pages, of_page)
                       : column_at < 0 ? constant_of(part.of_columns, column_at)
                                       : constant_of(part.of_rows, row_at);
            };
            to[c * rows + r] = inside ? part.input[at * part.rows + row_at] : REAL(constant());
        };
        const auto row_of = [&](int r) {
            return inner ? first_row + r : sample_at(first_row + r, part.rows, height / 2, part.of_rows);
        };
        const long long row_at = row_of(row);
#pragma unroll 1
        for (int c = group; c < columns; c += COLUMNS_AT_ONCE) stage(row_at, row, c);
#pragma unroll 1
        for (int at = threadIdx.x; at < rest; at += THREADS) {
            const int r = ROWS + at % (height - 1);
            stage(row_of(r), r, at / (height - 1));
        }
    }
};

// Multiplies the staged samples of a page. `own` is this thread's first column in the tile.
__device__ __forceinline__ void multiply(const REAL* staged, int staged_rows, const REAL* entries, int height,
                                         int width, int own, Pair (&sum)[OUTPUTS]) {
    const int lane = threadIdx.x % LANES;
    UNROLL
    for (int j = 0; j < OUTPUTS + width - 1; ++j) {
        const Samples samples(staged + (own + j) * staged_rows + 2 * lane);
        UNROLL
        for (int r = 0; r < height; ++r) {
#pragma unroll
            for (int w = 0; w < OUTPUTS; ++w) {
                const int c = j - w;
                if (c >= 0 && c < width) {
                    const REAL entry = entries[c * height + r];
                    sum[w].x = fma(samples[r], entry, sum[w].x);
                    sum[w].y = fma(samples[r + 1], entry, sum[w].y);
                }
            }
        }
    }
}

__device__ __forceinline__ void store(const Part& part, const Tile& tile, int own, const Pair (&sum)[OUTPUTS]) {
    const int lane = threadIdx.x % LANES;
    const long long row = tile.top + 2 * lane;
    // Counted from the launch's first column.
    const long long column = tile.page * part.columns + tile.left + own - part.first;
    REAL* to = part.output + column * part.rows + row;
    // Where every column begins at an even place, both rows go out at once.
    const bool pairs = part.rows % 2 == 0;
#pragma unroll
    for (int w = 0; w < OUTPUTS; ++w) {
        if (row < part.rows && column + w >= 0 && column + w < part.count && tile.left + own + w < part.columns) {
            if (pairs) {
                *reinterpret_cast<Pair*>(to + w * part.rows) = sum[w];
            } else {
                to[w * part.rows] = sum[w].x;
                if (row + 1 < part.rows) to[w * part.rows + 1] = sum[w].y;
            }
        }
    }
}

template <bool VOLUME>
__device__ __forceinline__ void convolution(const Part& part) {
    const int height = FILTER_HEIGHT;
    const int width = FILTER_WIDTH;
    const int depth = VOLUME ? part.depth : 1;
    __shared__ __align__(16) REAL staged[(ROWS + LARGEST - 1) * (COLUMNS + LARGEST - 1)];
    const Tile tile(part);
    const int own = threadIdx.x / LANES * OUTPUTS;  // this thread's first column in the tile

    Pair sum[OUTPUTS];
#pragma unroll
    for (int w = 0; w < OUTPUTS; ++w) sum[w].x = sum[w].y = 0;

#pragma unroll 1
    for (int p = 0; p < depth; ++p) {
        const long long of_page =
            VOLUME ? sample_at(tile.page + p - depth / 2, part.pages, depth / 2, part.of_pages) : tile.page;
        const Stage stage(part, tile, height, width, of_page);
        const bool inner = stage.is_inner(part);
#ifdef SIZE
        if (inner) {
            stage.copy(part, staged);
        } else
#endif
        {
            stage.copy_each(part, height, width, inner, staged);
        }
        __syncthreads();
        multiply(staged, stage.rows, VOLUME ? F + p * height * width : F, height, width, own, sum);
        if (VOLUME) __syncthreads();
    }
    store(part, tile, own, sum);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) convolution_2D_const_mem_kernel(Part part) {
    convolution<false>(part);
}

// Filters of up to 7 rows and columns may have several pages.
#if !defined(SIZE) || SIZE <= 7
#ifdef SIZE
constexpr int OCCUPANCY_OF_VOLUME = SIZE == 3 && DOUBLE ? 4 : 3;
#else
constexpr int OCCUPANCY_OF_VOLUME = sizeof(REAL) == 8 ? 6 : 8;
#endif
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY_OF_VOLUME) convolution_3D_const_mem_kernel(Part part) {
    convolution<true>(part);
}
#endif

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int tile_rows_of_output = ROWS;
extern "C" __constant__ unsigned int tile_columns_of_output = COLUMNS;
extern "C" __constant__ unsigned int tile_threads = THREADS;
