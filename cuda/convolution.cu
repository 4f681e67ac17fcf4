// The convolution of ConvolutionConstantMemory_CUDA: a filter in constant memory, centred on every element of an image
// or a volume.
//
// Compiled for -DREAL=float and -DREAL=double, and for a filter of -DSIZE rows and columns, an odd number. Other sizes
// are for any_filter/any_filter.cu.
//
// A block computes a tile of ROWS x COLUMNS outputs of one page. It stages the samples under it in shared memory, so
// that each is read from device memory about once. A thread computes two neighbouring rows of OUTPUTS neighbouring
// columns. It reads samples from shared memory in pairs and uses each for all its columns, and for both rows: one read
// serves nearly 2 * OUTPUTS multiply-adds. Sums run in the filter's column-major order: pages, then columns, then rows.
// As the size is known at compile time, every entry of the filter is an operand of its multiply-add, straight from
// constant memory.

#include "boundary.cuh"

#ifndef REAL
#error "REAL, the class of the samples, must be given"
#endif
#ifndef SIZE
#error "SIZE, the rows and columns of the filter, must be given"
#endif

namespace {
constexpr int MAX_ENTRIES = 343;  // 7 x 7 x 7, which is more than 15 x 15
constexpr int LANES = 32;
// Layout of a block: its warps, the columns a thread computes, and the occupancy, the number of blocks that a
// multiprocessor is to hold, which bounds the registers. Measured on an H200 among some dozen layouts a size: small
// filters wait for memory and like many small blocks; large ones are bound by arithmetic.
constexpr bool DOUBLE = sizeof(REAL) == 8;
constexpr bool LARGE = SIZE > (DOUBLE ? 7 : 9);
constexpr int WARPS = LARGE ? 8 : 4;
constexpr int OUTPUTS = LARGE ? (DOUBLE ? 4 : 5) : SIZE == 3 && DOUBLE ? 4 : 8;
constexpr int OCCUPANCY = LARGE ? 3 : SIZE == 3 && DOUBLE ? 8 : SIZE == 3 || SIZE == 9 ? 1 : 6;
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

typedef ConvolutionArgument<REAL> Part;

// A thread's samples of one column: from its first row on, one more than the filter has rows.
struct Samples {
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
};

// Writes a thread's outputs, in the tile at `top` and `left` of a page, from its column `own` on.
__device__ __forceinline__ void store(const Part& part, long long top, long long left, long long page, int own,
                                      const Pair (&sum)[OUTPUTS]) {
    const int lane = threadIdx.x % LANES;
    const long long row = top + 2 * lane;
    // Counted from the launch's first column.
    const long long column = page * part.columns + left + own - part.first;
    REAL* to = part.output + column * part.rows + row;
    // If every column begins at an even place, both rows are written at once.
    const bool pairs = part.rows % 2 == 0;
#pragma unroll
    for (int w = 0; w < OUTPUTS; ++w) {
        if (row < part.rows && column + w >= 0 && column + w < part.count && left + own + w < part.columns) {
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
    const int height = SIZE;
    const int width = SIZE;
    const int depth = VOLUME ? part.depth : 1;
    __shared__ __align__(16) REAL tile[(ROWS + SIZE - 1) * (COLUMNS + SIZE - 1)];
    const int tile_rows = ROWS + height - 1;  // even: pairs stay aligned in every column
    const int tile_columns = COLUMNS + width - 1;

    // Tiles of one column of tiles are neighbours: their common samples are in the cache. No tile reaches into another
    // page.
    const int tiles_down = (int)((part.rows + ROWS - 1) / ROWS);
    const int tiles_across = (int)((part.columns + COLUMNS - 1) / COLUMNS);
    const int number = (int)(part.backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    const int block = number / tiles_down + part.skip;
    const long long top = (long long)(number % tiles_down) * ROWS;
    const long long left = (long long)(block % tiles_across) * COLUMNS;
    const long long page = part.first / part.columns + block / tiles_across;

    const int lane = threadIdx.x % LANES;
    const int own = threadIdx.x / LANES * OUTPUTS;  // this thread's first column in the tile

    Pair sum[OUTPUTS];
#pragma unroll
    for (int w = 0; w < OUTPUTS; ++w) sum[w].x = sum[w].y = 0;

#pragma unroll 1
    for (int p = 0; p < depth; ++p) {
        const long long of_page =
            VOLUME ? sample_at(page + p - depth / 2, part.pages, depth / 2, part.sides.of_pages) : page;
        const bool has_page = of_page >= 0;
        // Place of the tile's first sample if all were in the input. Missing ones belong to outputs of other launches.
        const long long at_hand = part.before + part.count + part.after;
        const long long first_at = of_page * part.columns + left - width / 2 - (part.first - part.before);
        const long long first_row = top - height / 2;
        const long long first_column = left - width / 2;
        // First the rows of outputs, by ROWS threads a column, then those below them, a few in each column.
        const int row = threadIdx.x % ROWS;
        const int group = threadIdx.x / ROWS;
        const int rest = tile_columns * (height - 1);
        const bool inner = has_page && first_row >= 0 && first_row + tile_rows <= part.rows && first_column >= 0 &&
                           first_column + tile_columns <= part.columns && first_at >= 0 &&
                           first_at + tile_columns <= at_hand;
        if (inner) {
            // All loads are in flight before the first is waited for.
            const REAL* from = part.input + first_at * part.rows + first_row;
            constexpr int STEPS = (COLUMNS + SIZE - 1 + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE;
            constexpr int REST_STEPS = ((COLUMNS + SIZE - 1) * (SIZE - 1) + THREADS - 1) / THREADS;
            REAL staged[STEPS];
            REAL staged_rest[REST_STEPS];
#pragma unroll
            for (int i = 0; i < STEPS; ++i) {
                const int c = i * COLUMNS_AT_ONCE + group;
                if (c < tile_columns) staged[i] = from[c * part.rows + row];
            }
#pragma unroll
            for (int i = 0; i < REST_STEPS; ++i) {
                const int at = i * THREADS + threadIdx.x;
                if (at < rest) staged_rest[i] = from[at / (SIZE - 1) * part.rows + ROWS + at % (SIZE - 1)];
            }
#pragma unroll
            for (int i = 0; i < STEPS; ++i) {
                const int c = i * COLUMNS_AT_ONCE + group;
                if (c < tile_columns) tile[c * tile_rows + row] = staged[i];
            }
#pragma unroll
            for (int i = 0; i < REST_STEPS; ++i) {
                const int at = i * THREADS + threadIdx.x;
                if (at < rest) tile[at / (SIZE - 1) * tile_rows + ROWS + at % (SIZE - 1)] = staged_rest[i];
            }
        } else {
            // If a ghost cell may copy a distant sample, all samples are in the input.
            const long long page_at = first_at - first_column;
            const auto stage = [&](long long row_at, int r, int c) {
                const long long column_at =
                    inner ? first_column + c
                          : sample_at(first_column + c, part.columns, width / 2, part.sides.of_columns);
                const long long at = page_at + column_at;
                const bool inside = inner || (has_page && row_at >= 0 && column_at >= 0 && at >= 0 && at < at_hand);
                // If two sides meet, the later dimension's constant takes precedence.
                const auto constant = [&] {
                    return !has_page       ? constant_of(part.sides.of_pages, of_page)
                           : column_at < 0 ? constant_of(part.sides.of_columns, column_at)
                                           : constant_of(part.sides.of_rows, row_at);
                };
                tile[c * tile_rows + r] = inside ? part.input[at * part.rows + row_at] : REAL(constant());
            };
            const auto row_of = [&](int r) {
                return inner ? first_row + r : sample_at(first_row + r, part.rows, height / 2, part.sides.of_rows);
            };
            const long long row_at = row_of(row);
#pragma unroll 1
            for (int c = group; c < tile_columns; c += COLUMNS_AT_ONCE) stage(row_at, row, c);
#pragma unroll 1
            for (int at = threadIdx.x; at < rest; at += THREADS) {
                const int r = ROWS + at % (height - 1);
                stage(row_of(r), r, at / (height - 1));
            }
        }
        __syncthreads();

        const REAL* entries = VOLUME ? F + p * height * width : F;
#pragma unroll
        for (int j = 0; j < OUTPUTS + width - 1; ++j) {
            const Samples samples(tile + (own + j) * tile_rows + 2 * lane);
#pragma unroll
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
        if (VOLUME) __syncthreads();
    }

    store(part, top, left, page, own, sum);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) convolution_2D_const_mem_kernel(Part part) {
    convolution<false>(part);
}

// Filters of up to 7 rows and columns may have several pages.
#if SIZE <= 7
constexpr int OCCUPANCY_OF_VOLUME = SIZE == 3 && DOUBLE ? 4 : 3;
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY_OF_VOLUME) convolution_3D_const_mem_kernel(Part part) {
    convolution<true>(part);
}
#endif

// Constants of the module that the host needs for a launch.
extern "C" __constant__ unsigned int tile_rows_of_output = ROWS;
extern "C" __constant__ unsigned int tile_columns_of_output = COLUMNS;
extern "C" __constant__ unsigned int tile_threads = THREADS;
