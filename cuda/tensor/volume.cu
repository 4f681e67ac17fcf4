// The convolution of volumes, in double, on the tensor cores of chips of compute capability 9.0: see tensor/strips.cuh.
//
// Compiled for -DSIZE, 5 or 7: filters of at most this number of rows, columns and pages, which are laid into the
// middle of SIZE x SIZE x SIZE.
//
// The kernel is warp-specialised. Of a block, PRODUCERS warps bring samples through a circular buffer in shared memory,
// a page a time, with CHUNKS pages in flight. They handle the array's edges, scan the samples for special values, and
// leave most of their registers to the CONSUMERS warps, which multiply. Each consumer takes ROWS rows of ACROSS
// columns, and all stream over the pages together.
//
//     for each segment of the block's work, some neighbouring pages in its strips:
//         producers, for each page of samples:            consumers, for each page of samples:
//             ask for the page CHUNKS - 1 further on          for each column of the page:
//             scan the present one; flag special values           read the next column's samples
//             wait for the next one                               write and clear a column of the completed slot
//             all warps meet                                      multiply the column for all that need it
//                                                             all warps meet
//         both: once more for the flagged pages, by plain chains
//
// There are 8 slots for the pages of outputs in flight, and 2 rows each, APART: the 16 rows of D. The band is A, from a
// table in shared memory; samples are B, 8 pairs of rows. A column of samples is read once and multiplied for the SIZE
// columns of outputs that need it. Of the multiply-adds 77% are the filter's with 7, 39% with 5.

#include "tensor/volume_layout.cuh"
#include "tensor/volume_producer.cuh"
// After the producers: ptxas would order the functions otherwise.
#include "tensor/volume_consumer.cuh"

namespace {

template <bool PAIRS>
__device__ __forceinline__ void convolution(const TensorArgument& launch) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < CHUNKS; ++i) make_barrier(barriers() + i, LANES * PRODUCERS);
        barriers_are_made();
    }
    fetch_filter<THREADS>(launch, ring(), sides());
    write_table(launch.part, ring(), shared_memory());
    __syncthreads();
    // The ring is not filled completely: its old contents may not be finite.
    for (int at = threadIdx.x; at < RING; at += THREADS) ring()[at] = 0;
    writes_before_copies();
    __syncthreads();
    if (threadIdx.x / LANES >= CONSUMERS) {
        give_registers<PRODUCER_REGISTERS>();
        produce_all_segments(launch.part);
    } else {
        take_registers<CONSUMER_REGISTERS>();
        consume_all<PAIRS>(launch);
    }
}

}  // namespace

// For columns of outputs that all begin at a multiple of 16.
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) tensor_volume_pairs(TensorArgument launch) {
    convolution<true>(launch);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) tensor_volume_singles(TensorArgument launch) {
    convolution<false>(launch);
}

// Constants of the module that the host needs for a launch.
extern "C" __constant__ unsigned int tile_rows_of_output = ROWS;
extern "C" __constant__ unsigned int tile_columns_of_output = ACROSS;
extern "C" __constant__ unsigned int block_warps = CONSUMERS;
extern "C" __constant__ unsigned int block_threads = THREADS;
extern "C" __constant__ unsigned int blocks_at_once = OCCUPANCY;
extern "C" __constant__ unsigned int shared_bytes = SHARED;
