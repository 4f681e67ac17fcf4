// Convolutions by filters of any size, odd or even, without a module of their own in convolution.cu: see any_filter.cuh.
//
// Compiled for -DREAL=float and -DREAL=double. -DOUTPUTS, the outputs of a thread, and -DOCCUPANCY, the blocks that a
// multiprocessor is to hold, which bounds the registers, were measured on an H200: many outputs need fewer reads for
// each product, and few waste less of a short filter.

#include "any_filter/any_filter.cuh"

template <bool BY_COLUMNS>
__device__ __forceinline__ void tile_of(const Launch& launch) {
    DYNAMIC_SHARED(REAL, tile);
    const int along = OUTPUTS << launch.down, across = THREADS >> launch.down;
    const int rows = BY_COLUMNS ? across : along, columns = BY_COLUMNS ? along : across;
    any_filter<BY_COLUMNS>(launch, tile_of_block(launch, rows, columns), rows, columns, tile);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) any_filter_by_rows(Launch launch) {
    tile_of<false>(launch);
}

// For filters of one row and one page.
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) any_filter_by_columns(Launch launch) {
    tile_of<true>(launch);
}

// One output a thread, straight from memory: for arrays of few rows or few columns, which would fill little of a tile.
// A launch's tiles are blocks of outputs, one after the other.
extern "C" __global__ void __launch_bounds__(THREADS) any_filter_of_few(Launch launch) {
    const long long block = launch.skip + (launch.backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    const long long to = block * THREADS + threadIdx.x;
    if (to >= launch.count) return;
    const long long place = launch.first + to, columns = place / launch.rows;
    const Place at = {place % launch.rows, columns % launch.columns, columns / launch.columns};
    REAL sum = 0;
    const REAL* entries = F;
    for (int p = 0; p < launch.depth; ++p) {
        const long long page = page_under(launch, at.page, p);
        const REAL* from = page_from(launch, page);
        for (int c = 0; c < launch.width; ++c) {
            const long long left = at.column + c - (launch.width - 1) / 2;
            const long long column = sample_at(left, launch.columns, launch.width / 2, launch.sides.of_columns);
            for (int r = 0; r < launch.height; ++r) {
                const long long above = at.row + r - (launch.height - 1) / 2;
                const long long row = sample_at(above, launch.rows, launch.height / 2, launch.sides.of_rows);
                sum = fma(sample_of(launch, from, {row, column, page}), *entries++, sum);
            }
        }
    }
    launch.output[to] = sum;
}
