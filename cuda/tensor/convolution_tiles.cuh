// Layout of the outputs in flight in the tiles of the tensor cores: a warp's accumulators, and the fragments of the
// band and of the samples that it multiplies. Part of tensor/convolution.cu, which calls these functions.
//
// A column of samples is multiplied in PASSES passes, of some tiles each. A phase is the column's number modulo SLOTS:
// it gives the slot that has just been completed, and the columns of the filter that the others need. All functions are
// unrolled, so that registers are selected at compile time.
#pragma once

#include "tensor/convolution_ring.cuh"

namespace {

// Returns the entry of the filter in a row and a column of SIZE x SIZE: zero outside of the filter.
__device__ __forceinline__ double entry_at(const TensorPart& part, const double* entries, int row, int column) {
    row -= (SIZE - part.height) / 2;
    column -= (SIZE - part.width) / 2;
    const bool has = row >= 0 && row < part.height && column >= 0 && column < part.width;
    return has ? entries[column * part.height + row] : 0.0;
}

// Returns the column of the filter that a slot needs in a phase, or one outside of the filter.
__device__ __forceinline__ int column_of(int phase, int slot) { return (phase - slot + SIZE - 1 + 2 * SLOTS) % SLOTS; }

// A lane's outputs of a segment.
template <bool PAIRS>
struct Outputs {
    double* to;  // the first, in the column that is written while the present column of samples is multiplied
    int rows;    // from there to the end of the strip or of the image
    int step;    // columns of samples that have been taken up
    int steps;   // in all

    __device__ __forceinline__ Outputs(const TensorPart& part, const Segment& segment, int first_row)
        : to(outputs_of(part, segment) - SIZE * part.rows + first_row), step(0), steps(segment.count + SIZE - 1) {
        const long long below = part.rows - segment.top - first_row;
        rows = below < ROWS ? static_cast<int>(below) : ROWS;
    }

    // Goes to the next column of samples.
    __device__ __forceinline__ void advance(const TensorPart& part) {
        ++step;
        to += part.rows;
    }
    // Returns the number of rows that a lane writes now, if it has the completed slot.
    __device__ __forceinline__ int written(bool has_slot) const {
        return has_slot && step >= SIZE && step <= steps ? rows : 0;
    }
    __device__ __forceinline__ void write(int written, int row, double first, double second) const {
        write_two<PAIRS>(written, row, to + row, first, second);
    }
};

#if SIZE == 15

// Slots are the rows of D, 8 neighbouring outputs a tile. The band is A, from a table in shared memory; samples are B.
struct Tiles {
    static constexpr int PASS_TILES = TILES / PASSES;
    static constexpr int KS = STEPS / 8;
    static constexpr int FRAGMENTS = PASS_TILES + 1;  // a tile's second half of samples is its neighbour's first half

    Shared band;  // of this lane, in the table
    double sums[TILES][4];
    double b[PASSES][FRAGMENTS][2];
    double2 a[2][KS][2];  // of the present column and of the next one

    // Lays the filter into the table: for each phase and each 8 steps, the fragments of the band, a pair of a lane
    // together.
    __device__ __forceinline__ Tiles(const TensorPart& part, const double* entries) {
        double* const table = shared_memory();
        for (int at = threadIdx.x; at < TABLE; at += THREADS) {
            const int lane = at / 2 % LANES;
            const int slot = lane / 4 + 8 * (at & 1);
            const int row = lane % 4 + 4 * (at / 64 % 2) + 8 * (at / 128 % (STEPS / 8));
            const int column = column_of(at / 128 / (STEPS / 8), slot);
            table[at] = column < SIZE ? entry_at(part, entries, row, column) : 0.0;
        }
        band = in_shared(table + 2 * (threadIdx.x % LANES));
    }

    // Return a lane's first sample of a column, and its first row of outputs, in the strip.
    static __device__ __forceinline__ int first_sample() { return threadIdx.x % LANES / 4 + threadIdx.x % 4; }
    static __device__ __forceinline__ int first_output() { return 2 * (threadIdx.x % 4); }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int t = 0; t < TILES; ++t) {
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[t][i] = 0;
        }
    }

    // Reads a pass's samples of a column.
    __device__ __forceinline__ void load(int pass, Shared from) {
#pragma unroll
        for (int v = 0; v < FRAGMENTS; ++v) {
            b[pass][v][0] = read_here(from + 8 * (pass * PASS_TILES + v));
            b[pass][v][1] = read_here(from + 8 * (pass * PASS_TILES + v) + 4);
        }
    }

    // Reads a phase's band.
    __device__ __forceinline__ void load_band(int phase) {
        const Shared entries = band + phase % SLOTS * (KS * 128);
#pragma unroll
        for (int k = 0; k < KS; ++k) {
            a[phase % 2][k][0] = read_pair_here(entries + k * 128);
            a[phase % 2][k][1] = read_pair_here(entries + k * 128 + 64);
        }
    }

    // Writes and clears the slot that a pass has completed in a phase. A lane has two slots.
    template <bool PAIRS>
    __device__ __forceinline__ void finish(const Outputs<PAIRS>& outputs, int pass, int phase) {
        const int half = phase / 8;
        const bool has_slot = static_cast<int>(threadIdx.x % LANES / 4) == phase % 8;
        const int written = outputs.written(has_slot);
#pragma unroll
        for (int n = pass * PASS_TILES; n < (pass + 1) * PASS_TILES; ++n) {
            outputs.write(written, 8 * n, sums[n][2 * half], sums[n][2 * half + 1]);
            sums[n][2 * half] = has_slot ? 0.0 : sums[n][2 * half];
            sums[n][2 * half + 1] = has_slot ? 0.0 : sums[n][2 * half + 1];
        }
    }

    __device__ __forceinline__ void multiply(int pass, int phase) {
        const double2(&of_phase)[KS][2] = a[phase % 2];
#pragma unroll
        for (int k = 0; k < KS; ++k) {
#pragma unroll
            for (int n = 0; n < PASS_TILES; ++n) {
                multiply_8(sums[pass * PASS_TILES + n], of_phase[k][0].x, of_phase[k][0].y, of_phase[k][1].x,
                           of_phase[k][1].y, b[pass][n + k][0], b[pass][n + k][1]);
            }
        }
    }
};

#else

// Slots are columns of D, each with OUTPUTS neighbouring outputs; a tile has 16 * OUTPUTS outputs. The band is B, in
// registers; samples are A.
struct Tiles {
    static constexpr int KS = STEPS / 4;
    static constexpr int TILE_SLOTS = 8 / OUTPUTS;
    static constexpr int SLOT_TILES = SLOTS / TILE_SLOTS;

    double band[SLOTS][KS];  // for the slots of the first tile, by phase; the other tiles use earlier phases
    double sums[TILES][SLOT_TILES][4];
    double a[TILES][KS][2];

    __device__ __forceinline__ Tiles(const TensorPart& part, const double* entries) {
        const int g = threadIdx.x % LANES / 4;
        const int q = threadIdx.x % 4;
#pragma unroll
        for (int phase = 0; phase < SLOTS; ++phase) {
#pragma unroll
            for (int k = 0; k < KS; ++k) {
                const int column = column_of(phase, g / OUTPUTS);
                const int row = 4 * k + q - g % OUTPUTS;
                const bool has = column < SIZE && row >= 0 && row < SIZE;
                band[phase][k] = has ? entry_at(part, entries, row, column) : 0.0;
            }
        }
    }

    // Return a lane's first sample of a column, and the first of its two neighbouring rows of outputs in a tile, in the
    // strip.
    static __device__ __forceinline__ int first_sample() {
        return OUTPUTS * (threadIdx.x % LANES / 4) + threadIdx.x % 4;
    }
    static __device__ __forceinline__ int first_output() {
        const int q = threadIdx.x % 4;
        return OUTPUTS * (threadIdx.x % LANES / 4) + (OUTPUTS == 4 ? 2 * (q & 1) : 0);
    }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int m = 0; m < TILES; ++m) {
#pragma unroll
            for (int t = 0; t < SLOT_TILES; ++t) {
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[m][t][i] = 0;
            }
        }
    }

    // Reads a pass's samples of a column.
    __device__ __forceinline__ void load(int pass, Shared from) {
#pragma unroll
        for (int k = 0; k < KS; ++k) {
            a[pass][k][0] = read_here(from + 16 * OUTPUTS * pass + 4 * k);
            a[pass][k][1] = read_here(from + 16 * OUTPUTS * pass + 8 * OUTPUTS + 4 * k);
        }
    }

    // The band is in registers.
    __device__ __forceinline__ void load_band(int) {}

    // Writes and clears the slot that a pass has completed in a phase.
    template <bool PAIRS>
    __device__ __forceinline__ void finish(const Outputs<PAIRS>& outputs, int pass, int phase) {
        const int q = threadIdx.x % 4;
        const int slot = phase % TILE_SLOTS;
        const bool has_slot = OUTPUTS == 2 ? q == slot : q / 2 == slot;
        const int written = outputs.written(has_slot);
        double(&d)[4] = sums[pass][phase / TILE_SLOTS];
        outputs.write(written, 16 * OUTPUTS * pass, d[0], d[1]);
        outputs.write(written, 16 * OUTPUTS * pass + 8 * OUTPUTS, d[2], d[3]);
#pragma unroll
        for (int i = 0; i < 4; ++i) d[i] = has_slot ? 0.0 : d[i];
    }

    __device__ __forceinline__ void multiply(int pass, int phase) {
        const double(&samples)[KS][2] = a[pass];
#pragma unroll
        for (int k = 0; k < KS; k += 2) {
#pragma unroll
            for (int i = 0; i < SLOT_TILES; ++i) {
                // The tile whose slot is completed next comes first.
                const int t = (phase / TILE_SLOTS + i) % SLOT_TILES;
                const int of = (phase - t * TILE_SLOTS + SLOTS) % SLOTS;
                if (k + 1 < KS) {
                    multiply_8(sums[pass][t], samples[k][0], samples[k][1], samples[k + 1][0], samples[k + 1][1],
                               band[of][k], band[of][k + 1]);
                } else {
                    multiply_4(sums[pass][t], samples[k][0], samples[k][1], band[of][k]);
                }
            }
        }
    }
};

#endif

}  // namespace
