// Convolutions by filters of any size, odd or even: what has no module of its own in convolution.cu. See any_filter.cuh.
//
// Compiled for -DREAL=float and -DREAL=double. -DOUTPUTS, those of a thread, and -DOCCUPANCY, the blocks that a multiprocessor
// is to hold, which bounds the registers, were measured on an H200: many outputs read less for each product, and few leave
// less of a short filter over.

#include "any_filter.cuh"

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

// Under filters of one row and one page.
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) any_filter_by_columns(Launch launch) {
    tile_of<true>(launch);
}
