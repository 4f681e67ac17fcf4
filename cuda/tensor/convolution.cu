// The convolution of images, in double, on the tensor cores of chips of compute capability 9.0: see tensor/strips.cuh.
//
// Compiled for -DSIZE, 7, 9, 11 or 15: filters of at most this number of rows and columns, which are laid into the
// middle of SIZE x SIZE.
//
// A warp takes a strip of ROWS rows and streams over the columns. Its samples come through a circular buffer in shared
// memory, which only this warp uses. The outputs in flight have SLOTS slots among its accumulators.
//
//     lay the filter into a band; clear the circular buffer
//     for each segment of the warp's work, some neighbouring columns in a strip:
//         ask for the first chunks of samples
//         for each column of samples, SLOTS columns a turn:
//             at a chunk's first column: ask for the chunk that is CHUNKS - 1 further on
//             for each pass, which multiplies some tiles of the column in a block of instructions of its own:
//                 scan some samples of the chunk for special values
//                 read the samples of the next pass, as soon as their chunk has come
//                 write and clear the slot that the pass before has completed
//                 multiply the tiles of this pass
//             after the turn: flag the piece of the segment if there were special values
//         compute flagged pieces again, by plain chains
//
// So no multiplication waits for the reads or writes in its pass. The layout of outputs in the tiles is the policy
// `Tiles`:
//  - SIZE 15: the slots are the 16 rows of D. The band is A, from a table in shared memory; a column of samples is B,
//    8 outputs a tile. Of the multiply-adds 88% are the filter's.
//  - The others: the slots are columns of D, each with OUTPUTS neighbouring outputs. The band is B, in registers; a
//    column of samples is A, 16 * OUTPUTS outputs a tile. 84% with 11, 67% with 9, 77% with 7.

#include "tensor/convolution_layout.cuh"
#include "tensor/convolution_ring.cuh"
#include "tensor/convolution_chains.cuh"
#include "tensor/convolution_tiles.cuh"

namespace {

// Makes the barriers and clears the buffer, which are empty, and lays the filter into the band.
__device__ __forceinline__ Tiles prepare(const TensorArgument& launch, const Ring& ring) {
    const int lane = threadIdx.x % LANES;
    double* const entries = shared_memory() + TABLE;
    if (lane == 0) {
        for (int i = 0; i < CHUNKS; ++i) make_barrier(ring.full(i), COLUMNS);
        barriers_are_made();
    }
    fetch_filter<THREADS>(launch, entries, ring.sides());
    Tiles tiles(launch.part, entries);
    __syncthreads();
    clear_ring<RING>(ring.samples());
    if (lane == 0) ring.segment()->work = work_of(launch.part);
    __syncwarp();
    return tiles;
}

template <bool PAIRS>
__device__ __forceinline__ void convolution(const TensorArgument& launch) {
    const TensorPart& part = launch.part;
    const int lane = threadIdx.x % LANES;
    Ring ring{0, 0};
    Tiles tiles = prepare(launch, ring);
    const Shared ring_at = in_shared(ring.samples());
    const int turns = PAIRS ? 0 : static_cast<int>(part.rows & 1);
    while (next_segment(part)) {
        const Segment& segment = *ring.segment();
        const int steps = segment.count + SIZE - 1;
        ring.begin_segment(part, (steps + COLUMNS - 1) / COLUMNS);
        // This lane's samples in columns of an even and of an odd number.
        const int odd = is_odd(address_of(part, ring.box_of(ring.begin)));
        const int samples[2] = {tiles.first_sample() + odd, tiles.first_sample() + (odd ^ turns)};
        Outputs<PAIRS> outputs(part, segment, tiles.first_output());
        SpecialValueScan scan;
        double2 scanned[SCANNED];
        tiles.clear();

        __syncwarp();
        ring.fetch_first(part);
        int chunk = ring.begin;
        ring.await(chunk);
        Shared now = ring_at + ring.offset(chunk);
        tiles.load(0, now + samples[0]);
        tiles.load_band(0);
        bool more = true;
        while (more) {
            const int turn_from = outputs.step;
#pragma unroll
            for (int first = 0; first < SLOTS; first += COLUMNS) {
                if (!more) continue;
                __syncwarp();
                ring.fetch(part, chunk + CHUNKS - 1);
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c) {
                    if (!more) continue;
                    const int phase = first + c;
#pragma unroll
                    for (int pass = 0; pass < PASSES; ++pass) {
                        scan_in_pass(scan, scanned, now + 2 * lane, c * PASSES + pass);
                        if (pass + 1 < PASSES) {
                            tiles.load(pass + 1, now + samples[c & 1] + c * LENGTH);
                        } else {
                            if (c + 1 < COLUMNS) {
                                tiles.load(0, now + samples[(c + 1) & 1] + (c + 1) * LENGTH);
                            } else {
                                ring.await(chunk + 1);
                                now = ring_at + ring.offset(chunk + 1);
                                tiles.load(0, now + samples[0]);
                            }
                            tiles.load_band(phase + 1);
                        }
                        if (pass > 0) {
                            tiles.finish(outputs, pass - 1, phase);
                        } else {
                            tiles.finish(outputs, PASSES - 1, (phase + SLOTS - 1) % SLOTS);
                            outputs.advance(part);
                        }
                        tiles.multiply(pass, phase);
                        if (pass + 1 < PASSES || ENDS_WITH_CHUNK) END_OF_BLOCK((phase * PASSES + pass) % 24);
                    }
                    if (!ENDS_WITH_CHUNK && outputs.step == steps) {
                        more = false;
                        tiles.finish(outputs, PASSES - 1, phase);
                    }
                }
                ++chunk;
                if (ENDS_WITH_CHUNK && chunk == ring.end) {
                    more = false;
                    tiles.finish(outputs, PASSES - 1, first + COLUMNS - 1);
                }
            }
            if (!ENDS_WITH_CHUNK && !more) {
                const int columns_of_last = (steps - 1) % COLUMNS + 1;
                if (columns_of_last < COLUMNS) scan_rest(scan, now + 2 * lane, columns_of_last * PASSES);
            }
            ring.segment()->pieces.flag(scan, part, turn_from);
        }
        recompute_flagged(part, ring);
    }
}

}  // namespace

// If every column of outputs begins at a multiple of 16: two rows are written at once.
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) tensor_convolution_pairs(TensorArgument launch) {
    convolution<true>(launch);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) tensor_convolution_singles(TensorArgument launch) {
    convolution<false>(launch);
}

// Constants of the module that the host needs for a launch.
extern "C" __constant__ unsigned int tile_rows_of_output = ROWS;
extern "C" __constant__ unsigned int tile_columns_of_output = 1;
extern "C" __constant__ unsigned int block_warps = WARPS;
extern "C" __constant__ unsigned int block_threads = THREADS;
extern "C" __constant__ unsigned int blocks_at_once = OCCUPANCY;
extern "C" __constant__ unsigned int shared_bytes = SHARED;
