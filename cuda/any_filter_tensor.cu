// Convolutions in double by filters of any size, on FP64 tensor cores: on chips of compute capability 9.0 twice as fast as
// any_filter.cu, with the same bits.
//
// Compiled for -DREAL=double; -DOUTPUTS is of what is computed again.
//
// A warp computes ROWS rows of COLUMNS columns. A product has samples of 16 columns and 8 rows, and a band of a filter's
// column: 8 entries that each of 8 outputs below each other takes, with zeros where it has none. The next 8 samples down
// the columns serve all groups of 8 outputs whose filter lies over them, each with its own part of the band: what is read
// once is multiplied ROWS / 8 times. A long line goes through as columns that follow each other: their samples overlap in
// shared memory. Stages are those of any_filter.cuh.
//
// Products with the band's zeros change two things, as tensor_strips.cuh has it: they are NaN where a sample is infinite or
// NaN, and may turn -0 into +0. All samples are scanned for what can have such an effect; a tile that has it is computed
// once more, on the units of vectors.

#define IN_GLOBAL_MEMORY
#include "any_filter.cuh"
#include "tensor.cuh"

namespace {
constexpr int LANES = 32;
constexpr int OCCUPANCY = 4;
constexpr int WARPS = THREADS / LANES;
constexpr int TILE = FILTER_TENSOR_TILE;  // rows of a block's tile, or what a line has between two columns
constexpr int ROWS = TILE / WARPS;
constexpr int COLUMNS = FILTER_TENSOR_COLUMNS;
constexpr int GROUPS = ROWS / 8;       // of outputs below each other
constexpr int SIDES = COLUMNS / 16;    // of columns beside each other
constexpr int STEP = 8;                // samples that a product takes down the columns
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr unsigned int NOT_FINITE = 0x7ffu << 21;  // the magnitude of infinities and NaN, or less
}  // namespace

// Whether a sample may make a difference in a product with a zero.
__device__ __forceinline__ bool is_special(const Launch& launch, double sample) {
    const unsigned int size = magnitude(sample);
    return size >= NOT_FINITE || size - 1 < launch.underflow_limit;
}

template <bool BY_COLUMNS>
__device__ __forceinline__ void on_tensor_cores(const Launch& launch) {
    DYNAMIC_SHARED(double, memory);
    const int lane = threadIdx.x % LANES, g = lane / 4, q = lane % 4;
    const int own = threadIdx.x / LANES * ROWS;  // the warp's first row in the tile
    const int length = BY_COLUMNS ? launch.width : launch.height, width = BY_COLUMNS ? 1 : launch.width;
    // Of a line, the columns follow each other: sample x has its place at x + x / TILE * gap, so that columns begin at other
    // banks.
    const bool line = launch.line != 0;
    const int gap = line ? launch.tensor_stride - TILE : 0;
    const int stride = launch.tensor_stride;
    const int along = line ? TILE * COLUMNS : TILE, across = line ? 1 : COLUMNS;
    const auto place = [&](int s, int c) { return c * stride + s + s / TILE * gap; };
    const int tile_rows = BY_COLUMNS ? across : along, tile_columns = BY_COLUMNS ? along : across;
    const int log_abreast = BY_COLUMNS ? 5 : LOG_THREADS;
    const Place tile_at = tile_of_block(launch, tile_rows, tile_columns);
    double* const bands = memory + launch.bands;

    double sums[SIDES][GROUPS][4];
#pragma unroll
    for (int i = 0; i < SIDES * GROUPS * 4; ++i) sums[i / (GROUPS * 4)][i / 4 % GROUPS][i % 4] = 0;
    int special = 0;
#pragma unroll 1
    for (int p = 0; p < launch.depth; ++p) {
        const long long page = page_under(launch, tile_at.page, p);
#pragma unroll 1
        for (int c = 0; c < width; c += launch.tensor_width) {
            const int columns = min(launch.tensor_width, width - c);
#pragma unroll 1
            for (int k = 0; k < length; k += launch.tensor_length) {
                const int count = min(launch.tensor_length, length - k);
                // Products that an output takes of a filter's column, and what its band has.
                const int steps = (count + 7 + STEP - 1) / STEP, band = steps * STEP + 7;
                const int ahead = k - (length - 1) / 2, left = c - (width - 1) / 2;
                const int staged = along + (steps - 1) * STEP, beside = across + columns - 1;
                const Place first = {tile_at.row + (BY_COLUMNS ? 0 : ahead), tile_at.column + (BY_COLUMNS ? ahead : left),
                                     page};
                __syncthreads();
                const auto place_of = [&](int r, int c) { return BY_COLUMNS ? place(c, r) : place(r, c); };
                const auto copy = [&](int top, int left, int rows, int columns, const double* from) {
                    for (Way at(rows, columns, log_abreast); at.goes_on(); at.next()) {
                        copy_element(memory + place_of(top + at.r, left + at.c), from + at.c * launch.rows + at.r);
                    }
                };
                const auto put = [&](int r, int c, double sample) { memory[place_of(r, c)] = sample; };
                const int rows = BY_COLUMNS ? beside : staged, all = BY_COLUMNS ? staged : beside;
                stage(launch, first, page >= 0, rows, all, log_abreast, copy, put);
                end_group();
                // Entry i of the column stands at 7 + i of its band.
                const REAL* entries = F + (p * width + c) * length + k;
                for (int j = 0; j < columns; ++j) {
                    for (int i = threadIdx.x; i < band; i += THREADS) {
                        bands[j * band + i] = i >= 7 && i - 7 < count ? entries[j * length + i - 7] : 0;
                    }
                }
                wait_groups<0>();
                __syncthreads();
                for (Way at(rows, all, log_abreast); at.goes_on(); at.next()) {
                    special |= is_special(launch, memory[place_of(at.r, at.c)]);
                }
                // Step s of group b has samples that lie 8 * (s + b) below the warp's first. So in step t of a column all
                // groups take the same samples, but for the first steps, in which the last groups still do the last ones
                // of the column before.
                const auto read = [&](int j, int t, double (&samples)[SIDES][4]) {
                    const int row = own + t * STEP;
                    const double* from = memory + (line ? 0 : j * stride) + g * stride + q + row + row / TILE * gap;
#pragma unroll
                    for (int i = 0; i < SIDES; ++i) {
                        samples[i][0] = from[16 * i * stride];
                        samples[i][1] = from[(16 * i + 8) * stride];
                        samples[i][2] = from[16 * i * stride + 4];
                        samples[i][3] = from[(16 * i + 8) * stride + 4];
                    }
                };
                const auto multiply = [&](int j, int s, int b, const double (&samples)[SIDES][4]) {
                    const double* of_band = bands + j * band + 7 + q - g + s * STEP;
                    const double b0 = of_band[0], b1 = of_band[4];
#pragma unroll
                    for (int i = 0; i < SIDES; ++i) {
                        multiply_8(sums[i][b], samples[i][0], samples[i][1], samples[i][2], samples[i][3], b0, b1);
                    }
                };
                double samples[SIDES][4], before[SIDES][4];
#pragma unroll 1
                for (int j = 0; j <= columns; ++j) {
#pragma unroll
                    for (int t = 0; t < GROUPS - 1; ++t) {
                        if (j > 0) {
                            read(j - 1, t + steps, before);
#pragma unroll
                            for (int b = t + 1; b < GROUPS; ++b) multiply(j - 1, t - b + steps, b, before);
                        }
                        if (j < columns) {
                            read(j, t, samples);
#pragma unroll
                            for (int b = 0; b <= t; ++b) multiply(j, t - b, b, samples);
                        }
                    }
                    if (j == columns) break;
#pragma unroll 1
                    for (int t = GROUPS - 1; t < steps; ++t) {
                        read(j, t, samples);
#pragma unroll
                        for (int b = 0; b < GROUPS; ++b) multiply(j, t - b, b, samples);
                    }
                }
            }
        }
    }
    __shared__ int flags[WARPS];
    special = __any_sync(ALL_LANES, special);
    if (lane == 0) flags[threadIdx.x / LANES] = special;
    __syncthreads();
    for (int i = 0; i < WARPS; ++i) special |= flags[i];
    if (special) {
        // Once more, on the units of vectors, whose tiles are of another size.
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
    for (int i = 0; i < SIDES; ++i) {
#pragma unroll
        for (int b = 0; b < GROUPS; ++b) {
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                memory[(16 * i + g + n / 2 * 8) * stride + own + 8 * b + 2 * q + n % 2] = sums[i][b][n];
            }
        }
    }
    __syncthreads();
    store(launch, tile_at, tile_rows, tile_columns, log_abreast,
          [&](int r, int c) { return memory[BY_COLUMNS ? place(c, r) : place(r, c)]; });
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) any_filter_tensor_by_rows(Launch launch) {
    on_tensor_cores<false>(launch);
}

// Under filters of one row and one page.
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) any_filter_tensor_by_columns(Launch launch) {
    on_tensor_cores<true>(launch);
}
