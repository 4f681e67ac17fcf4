// Several sweeps of a filter over small images in one launch: see sweeps/tiles/tiles.cuh.
//
// Compiled for -DREAL=float and -DREAL=double; for a filter of -DSIZE rows and columns, or, without that, for one of 3,
// 5 or 7 rows and as many columns or others of these. The other definitions of modules.txt were measured on an H200
// among some dozen:
// - PATCH_ROWS, PATCH_COLUMNS: a thread's patch. Small ones are faster for small images, which have hardly enough
//    threads, and large ones read fewer results of other threads.
// - MOST_THREADS: maximum number of threads of a block.
// - BOUND_THREADS, BOUND_BLOCKS: launch bounds for the compiler: without the hint that one block is enough it would use
//    too few registers, and with a smaller number of threads more than modules.txt counts with.

#include "sweeps/tiles/tiles.cuh"

#ifndef BOUND_THREADS
#define BOUND_THREADS MOST_THREADS
#endif
#ifndef BOUND_BLOCKS
#define BOUND_BLOCKS 1
#endif

namespace {
#ifdef SIZE
constexpr int LARGEST = SIZE;
#else
constexpr int LARGEST = 7;
#endif
}  // namespace

// The filter, in column-major order.
__constant__ REAL F[LARGEST * LARGEST];

namespace {
typedef TilesArgument<REAL> Launch;

struct Filter {
#ifdef SIZE
    __device__ __forceinline__ explicit Filter(const Launch&) {}
    static constexpr __device__ int height() { return SIZE; }
    static constexpr __device__ int width() { return SIZE; }

    // The window of a patch in a buffer. Where it depends on the boundary, it is computed once.
    template <int ROWS, int COLUMNS, bool MAPPED>
    struct Window {
        int rows[ROWS + SIZE - 1];
        int columns[COLUMNS + SIZE - 1];

        template <class RowAt, class ColumnAt>
        __device__ __forceinline__ Window(const RowAt& row_at, const ColumnAt& column_at) {
#pragma unroll
            for (int k = 0; k < ROWS + SIZE - 1; ++k) rows[k] = MAPPED ? here(row_at(k)) : row_at(k);
#pragma unroll
            for (int m = 0; m < COLUMNS + SIZE - 1; ++m) columns[m] = MAPPED ? here(column_at(m)) : column_at(m);
        }
    };

    // Computes the outputs of a patch in place of its samples, column by column of the window. If the window is
    // contiguous in the buffer, the samples of the patch itself are in registers.
    template <int ROWS, int COLUMNS, bool MAPPED, class ColumnAt>
    __device__ __forceinline__ void apply(const Window<ROWS, COLUMNS, MAPPED>& window, const ColumnAt&,
                                          const REAL* buffer, REAL (&patch)[COLUMNS][ROWS]) const {
        REAL sums[COLUMNS][ROWS];
#pragma unroll
        for (int m = 0; m < COLUMNS + SIZE - 1; ++m) {
            const REAL* const column = buffer + window.columns[m];
            REAL samples[ROWS + SIZE - 1];
#pragma unroll
            for (int k = 0; k < ROWS + SIZE - 1; ++k) {
                const int i = k - SIZE / 2;
                const int j = m - SIZE / 2;
                const bool at_hand = !MAPPED && i >= 0 && i < ROWS && j >= 0 && j < COLUMNS;
                samples[k] = at_hand ? patch[at_hand ? j : 0][at_hand ? i : 0] : column[window.rows[k]];
            }
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                const int c = m - j;
                if (c < 0 || c >= SIZE) continue;
#pragma unroll
                for (int r = 0; r < SIZE; ++r) {
#pragma unroll
                    for (int i = 0; i < ROWS; ++i) {
                        const REAL sum = c == 0 && r == 0 ? REAL(0) : sums[j][i];
                        sums[j][i] = fma(samples[i + r], F[c * SIZE + r], sum);
                    }
                }
            }
        }
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) patch[j][i] = sums[j][i];
        }
    }
#else
    int high;
    int wide;

    __device__ __forceinline__ explicit Filter(const Launch& launch) : high(launch.height), wide(launch.width) {}
    __device__ __forceinline__ int height() const { return high; }
    __device__ __forceinline__ int width() const { return wide; }

    // The rows of a patch's window in a buffer.
    template <int ROWS, int COLUMNS, bool MAPPED>
    struct Window {
        int rows[ROWS + LARGEST - 1];

        template <class RowAt, class ColumnAt>
        __device__ __forceinline__ Window(const RowAt& row_at, const ColumnAt&) {
#pragma unroll
            for (int k = 0; k < ROWS + LARGEST - 1; ++k) rows[k] = MAPPED ? here(row_at(k)) : row_at(k);
        }
    };

    // Computes the outputs of a patch in place of its samples, column by column of the filter: samples go down the
    // window a row at a time.
    template <int ROWS, int COLUMNS, bool MAPPED, class ColumnAt>
    __device__ __forceinline__ void apply(const Window<ROWS, COLUMNS, MAPPED>& window, const ColumnAt& column_at,
                                          const REAL* buffer, REAL (&patch)[COLUMNS][ROWS]) const {
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) patch[j][i] = 0;
        }
        const REAL* entries = F;
#pragma unroll 1
        for (int c = 0; c < wide; ++c) {
            REAL samples[COLUMNS][ROWS + LARGEST - 1];
            const REAL* columns[COLUMNS];
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                columns[j] = buffer + column_at(j + c);
#pragma unroll
                for (int k = 0; k < ROWS - 1; ++k) samples[j][k] = columns[j][window.rows[k]];
            }
#pragma unroll
            for (int r = 0; r < LARGEST; ++r) {
                if (r >= high) break;
                const REAL entry = entries[r];
#pragma unroll
                for (int j = 0; j < COLUMNS; ++j) {
                    samples[j][ROWS - 1 + r] = columns[j][window.rows[ROWS - 1 + r]];
#pragma unroll
                    for (int i = 0; i < ROWS; ++i) patch[j][i] = fma(samples[j][i + r], entry, patch[j][i]);
                }
            }
            entries += high;
        }
    }
#endif
};
}  // namespace

extern "C" __global__ void __launch_bounds__(BOUND_THREADS, BOUND_BLOCKS) sweeps_tiles(Launch launch) {
    DYNAMIC_SHARED(REAL, shared);
    tiles::sweep_tile<REAL, PATCH_ROWS, PATCH_COLUMNS>(launch, shared, Filter(launch));
}

// Constants of the module that the host needs for a launch.
extern "C" __constant__ unsigned int patch_rows = PATCH_ROWS;
extern "C" __constant__ unsigned int patch_columns = PATCH_COLUMNS;
extern "C" __constant__ unsigned int most_threads = MOST_THREADS;
