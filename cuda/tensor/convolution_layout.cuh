// The sizes of tensor/convolution.cu, for filters of up to SIZE rows and columns, and the layout of shared memory.
#pragma once

#include "tensor/strips.cuh"

namespace {

// Division of the outputs of a strip among tiles of the tensor cores, as measured on an H200 among some dozen layouts a
// size.
//  - OUTPUTS: neighbouring outputs that share a slot of the accumulators.
//  - STEPS: multiply-adds of an output's column, a multiple of 4.
// - SLOTS: columns of outputs that are in flight.
// - TILES: of a strip, one below the other; PASSES: blocks of instructions in which they are multiplied.
//  - COLUMNS: of a chunk of samples.
#if SIZE == 15
constexpr int OUTPUTS = 1, STEPS = 16, SLOTS = 16, TILES = 8, PASSES = 2, COLUMNS = 8;
#elif SIZE == 11
constexpr int OUTPUTS = 2, STEPS = 12, SLOTS = 12, TILES = 2, PASSES = TILES, COLUMNS = 12;
#elif SIZE == 9
constexpr int OUTPUTS = 4, STEPS = 12, SLOTS = 10, TILES = 2, PASSES = TILES, COLUMNS = 10;
#elif SIZE == 7
constexpr int OUTPUTS = 2, STEPS = 8, SLOTS = 8, TILES = 4, PASSES = TILES, COLUMNS = 8;
#else
#error "SIZE, the most rows and columns of the filter, must be 7, 9, 11 or 15"
#endif
// True if the slots are the rows of D, false for its columns.
constexpr bool SLOTS_ARE_ROWS = SIZE == 15;
// True if a segment ends with a whole chunk, whose last columns may be unused, false if with its last column.
constexpr bool ENDS_WITH_CHUNK = SLOTS_ARE_ROWS;
constexpr int ROWS = (SLOTS_ARE_ROWS ? 8 : 16 * OUTPUTS) * TILES;  // of a strip
constexpr int RADIUS = SIZE / 2;
constexpr int WARPS = 8;      // of a block
constexpr int OCCUPANCY = 1;  // blocks that a multiprocessor holds
constexpr int THREADS = LANES * WARPS;

// Additional cost of a segment, in columns: those before its outputs, and the time until its first samples come.
constexpr int SEGMENT_OVERHEAD = SIZE - 1 + 8;

// A warp's circular buffer has CHUNKS chunks of COLUMNS columns. A column has the samples that a strip needs, and one
// more: the first may have to lie at an odd place.
constexpr int CHUNKS = 2;
constexpr int LENGTH = (ROWS - OUTPUTS + STEPS + 2) / 2 * 2;
constexpr int CHUNK = LENGTH * COLUMNS;
constexpr int RING = CHUNK * CHUNKS;
// Outputs in the image are multiplied with this number of rows below them, even if by zero.
constexpr int ROWS_BELOW = STEPS - RADIUS - 1;
static_assert(COLUMNS % 2 == 0 && SLOTS % COLUMNS == 0, "phases have places in chunks");

// The scan of a chunk for special values, a pair of samples a lane and turn: its turns are spread over the chunk's
// passes, all but the last one. A pass reads no more than SCANNED turns, which the next one looks at.
constexpr int CHUNK_PASSES = COLUMNS * PASSES;
constexpr int SCAN_TURNS = (CHUNK / 2 + LANES - 1) / LANES;
constexpr int SCANNED = (SCAN_TURNS + CHUNK_PASSES - 2) / (CHUNK_PASSES - 1);

// Shared memory, in doubles: the band if it does not fit into registers, the warps' buffers, the barriers of their
// chunks, their segments, and the array's boundaries.
constexpr int TABLE = SLOTS_ARE_ROWS ? SLOTS * STEPS * 16 : 0;
constexpr int BARRIERS_AT = TABLE + WARPS * RING;
constexpr int SEGMENTS_AT = BARRIERS_AT + WARPS * CHUNKS;
constexpr int SEGMENT = 11;  // doubles' room for a `Segment`
constexpr int SIDES_AT = SEGMENTS_AT + WARPS * SEGMENT;
constexpr int SHARED = 8 * SIDES_AT + sizeof(SidesArgument);

}  // namespace
