// Convolutions in double by filters of any size, on FP64 tensor cores: on chips of compute capability 9.0 twice as fast
// as any_filter.cu, with the same bits.
//
// Compiled for -DREAL=double; -DOUTPUTS is for recomputed tiles.
//
// A warp computes ROWS rows of COLUMNS columns. A product has samples of 16 columns and 8 rows, and a band of a
// filter's column: 8 entries for each of 8 outputs below each other, padded with zeros. The next 8 samples down the
// columns serve all groups of 8 outputs whose filter lies over them, each with its own part of the band: each sample
// that is read is multiplied ROWS / 8 times. A long line goes through as columns that follow each other: their samples
// overlap in shared memory. Stages are those of any_filter.cuh.
//
// Products with the band's zeros change two things, see tensor/strips.cuh: they are NaN where a sample is infinite or
// NaN, and may turn -0 into +0. All samples are scanned for special values; a tile with any is recomputed on the vector
// units.

#define IN_GLOBAL_MEMORY
#include "any_filter/any_filter.cuh"
#include "tensor.cuh"

namespace {
constexpr int LANES = 32;
constexpr int OCCUPANCY = 4;
constexpr int WARPS = THREADS / LANES;
constexpr int TILE = FILTER_TENSOR_TILE;  // rows of a block's tile, or distance between two columns of a line
constexpr int ROWS = TILE / WARPS;
constexpr int COLUMNS = FILTER_TENSOR_COLUMNS;
constexpr int GROUPS = ROWS / 8;     // of outputs below each other
constexpr int SIDES = COLUMNS / 16;  // of columns side by side
constexpr int STEP = 8;              // samples that a product takes down the columns
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr unsigned int NOT_FINITE = 0x7ffu << 21;  // the magnitude of infinities and NaN, or less
}  // namespace

// Returns true if a sample may make a difference in a product with a zero.
__device__ __forceinline__ bool is_special(const Launch& launch, double sample) {
    const unsigned int size = magnitude(sample);
    return size >= NOT_FINITE || size - 1 < launch.underflow_limit;
}

// The staged samples and entries, as a lane reads them.
struct Stage {
    const double* samples;  // of the lane's first column and of its row in the tile's first product
    const double* bands;    // the lane's entry of the first band
    int own;                // the warp's first row in the tile
    int stride;             // from one column of samples to the next
    int gap;                // that a line leaves between two columns of its tile
    int next;               // from the samples of a filter's column to those of the next
    int band;               // from one band to the next
    int columns;            // of the filter
    int steps;              // products that an output takes of each

    // Reads the samples of a step under a filter's column.
    __device__ __forceinline__ void read(int j, int t, double (&to)[SIDES][4]) const {
        const int row = own + t * STEP;
        const double* from = samples + j * next + row + row / TILE * gap;
#pragma unroll
        for (int i = 0; i < SIDES; ++i) {
            to[i][0] = from[16 * i * stride];
            to[i][1] = from[(16 * i + 8) * stride];
            to[i][2] = from[16 * i * stride + 4];
            to[i][3] = from[(16 * i + 8) * stride + 4];
        }
    }

    // Multiplies step s of a group of outputs.
    __device__ __forceinline__ void multiply(int j, int s, const double (&of)[SIDES][4],
                                             double (&sums)[SIDES][GROUPS][4], int group) const {
        const double* entries = bands + j * band + s * STEP;
        const double b0 = entries[0], b1 = entries[4];
#pragma unroll
        for (int i = 0; i < SIDES; ++i) {
            multiply_8(sums[i][group], of[i][0], of[i][1], of[i][2], of[i][3], b0, b1);
        }
    }

    // Computes all products. Step s of group b has samples that lie 8 * (s + b) below the warp's first. So in step t of
    // a column all groups take the same samples, except in the first steps, in which the last groups still do the last
    // ones of the column before.
    __device__ __forceinline__ void multiply_all(double (&sums)[SIDES][GROUPS][4]) const {
        double of[SIDES][4], before[SIDES][4];
#pragma unroll 1
        for (int j = 0; j <= columns; ++j) {
#pragma unroll
            for (int t = 0; t < GROUPS - 1; ++t) {
                if (j > 0) {
                    read(j - 1, t + steps, before);
#pragma unroll
                    for (int b = t + 1; b < GROUPS; ++b) multiply(j - 1, t - b + steps, before, sums, b);
                }
                if (j < columns) {
                    read(j, t, of);
#pragma unroll
                    for (int b = 0; b <= t; ++b) multiply(j, t - b, of, sums, b);
                }
            }
            if (j == columns) break;
#pragma unroll 1
            for (int t = GROUPS - 1; t < steps; ++t) {
                read(j, t, of);
#pragma unroll
                for (int b = 0; b < GROUPS; ++b) multiply(j, t - b, of, sums, b);
            }
        }
    }
};

// Brings the samples of a stage, this number of rows and columns of the array from `first` on, to the places that
// `place` returns, and lays the stage's entries of some of the filter's columns into bands. Returns true if a sample is
// special.
template <class PlaceOf>
__device__ __forceinline__ bool stage_for_products(const Launch& launch, const Place& first, int rows, int columns,
                                                   int log_abreast, const PlaceOf& place, double* memory,
                                                   const REAL* entries, int length, int count, const Stage& what) {
    const auto copy = [&](int top, int left, int rows, int columns, const double* from) {
        for (Way at(rows, columns, log_abreast); at.goes_on(); at.next()) {
            copy_element(memory + place(top + at.r, left + at.c), from + at.c * launch.rows + at.r);
        }
    };
    const auto put = [&](int r, int c, double sample) { memory[place(r, c)] = sample; };
    stage(launch, first, rows, columns, log_abreast, copy, put);
    end_group();
    // Entry i of a column is at 7 + i of its band.
    double* const bands = memory + launch.bands;
    for (int j = 0; j < what.columns; ++j) {
        for (int i = threadIdx.x; i < what.band; i += THREADS) {
            bands[j * what.band + i] = i >= 7 && i - 7 < count ? entries[j * length + i - 7] : 0;
        }
    }
    wait_groups<0>();
    __syncthreads();
    bool special = false;
    for (Way at(rows, columns, log_abreast); at.goes_on(); at.next()) {
        special |= is_special(launch, memory[place(at.r, at.c)]);
    }
    return special;
}

// Returns true if any thread of the block passes true.
__device__ __forceinline__ bool any_of_block(bool says) {
    __shared__ int flags[WARPS];
    const int of_warp = __any_sync(ALL_LANES, says);
    if (threadIdx.x % LANES == 0) flags[threadIdx.x / LANES] = of_warp;
    __syncthreads();
    int any = 0;
    for (int i = 0; i < WARPS; ++i) any |= flags[i];
    return any != 0;
}

template <bool BY_COLUMNS>
__device__ __forceinline__ void on_tensor_cores(const Launch& launch) {
    DYNAMIC_SHARED(double, memory);
    const int lane = threadIdx.x % LANES, g = lane / 4, q = lane % 4;
    const int length = BY_COLUMNS ? launch.width : launch.height, width = BY_COLUMNS ? 1 : launch.width;
    // A line's columns follow each other: sample x has its place at x + x / TILE * gap, so that columns begin at other
    // banks.
    const bool line = launch.line != 0;
    const int stride = launch.tensor_stride;
    const int gap = line ? stride - TILE : 0;
    const int along = line ? TILE * COLUMNS : TILE, across = line ? 1 : COLUMNS;
    const auto place = [&](int r, int c) {
        const int s = BY_COLUMNS ? c : r, beside = BY_COLUMNS ? r : c;
        return beside * stride + s + s / TILE * gap;
    };
    const int tile_rows = BY_COLUMNS ? across : along, tile_columns = BY_COLUMNS ? along : across;
    const int log_abreast = BY_COLUMNS ? 5 : LOG_THREADS;
    const Place tile_at = tile_of_block(launch, tile_rows, tile_columns);
    Stage of_lane;
    of_lane.samples = memory + g * stride + q;
    of_lane.bands = memory + launch.bands + 7 + q - g;
    of_lane.own = threadIdx.x / LANES * ROWS;
    of_lane.stride = stride;
    of_lane.gap = gap;
    of_lane.next = line ? 0 : stride;

    double sums[SIDES][GROUPS][4];
#pragma unroll
    for (int i = 0; i < SIDES * GROUPS * 4; ++i) sums[i / (GROUPS * 4)][i / 4 % GROUPS][i % 4] = 0;
    bool special = false;
#pragma unroll 1
    for (int p = 0; p < launch.depth; ++p) {
        const long long page = page_under(launch, tile_at.page, p);
#pragma unroll 1
        for (int c = 0; c < width; c += launch.tensor_width) {
            of_lane.columns = min(launch.tensor_width, width - c);
#pragma unroll 1
            for (int k = 0; k < length; k += launch.tensor_length) {
                const int count = min(launch.tensor_length, length - k);
                of_lane.steps = (count + 7 + STEP - 1) / STEP;
                of_lane.band = of_lane.steps * STEP + 7;
                const int ahead = k - (length - 1) / 2, left = c - (width - 1) / 2;
                const int staged = along + (of_lane.steps - 1) * STEP, beside = across + of_lane.columns - 1;
                const Place first = {tile_at.row + (BY_COLUMNS ? 0 : ahead),
                                     tile_at.column + (BY_COLUMNS ? ahead : left), page};
                __syncthreads();
                special |= stage_for_products(launch, first, BY_COLUMNS ? beside : staged, BY_COLUMNS ? staged : beside,
                                              log_abreast, place, memory, F + (p * width + c) * length + k, length,
                                              count, of_lane);
                of_lane.multiply_all(sums);
            }
        }
    }
    if (any_of_block(special)) {
        // Recomputed on the vector units, whose tiles are of another size.
        const int rows = BY_COLUMNS ? THREADS >> launch.down : OUTPUTS << launch.down;
        const int columns = BY_COLUMNS ? OUTPUTS << launch.down : THREADS >> launch.down;
        for (int c = 0; c < tile_columns; c += columns) {
            for (int r = 0; r < tile_rows; r += rows) {
                const Place at = {tile_at.row + r, tile_at.column + c, tile_at.page};
                any_filter<BY_COLUMNS>(launch, at, tile_rows - r, tile_columns - c, memory);
            }
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < SIDES * GROUPS * 4; ++i) {
        const int side = i / (GROUPS * 4), b = i / 4 % GROUPS, n = i % 4;
        memory[(16 * side + g + n / 2 * 8) * stride + of_lane.own + 8 * b + 2 * q + n % 2] = sums[side][b][n];
    }
    __syncthreads();
    store(launch, tile_at, tile_rows, tile_columns, log_abreast, [&](int r, int c) { return memory[place(r, c)]; });
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) any_filter_tensor_by_rows(Launch launch) {
    on_tensor_cores<false>(launch);
}

// For filters of one row and one page.
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) any_filter_tensor_by_columns(Launch launch) {
    on_tensor_cores<true>(launch);
}
