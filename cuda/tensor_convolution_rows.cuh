// The convolution of images with a filter of up to 15 x 15, of which the slots are the rows of D, 8 neighbouring outputs a
// tile: part of tensor_convolution.cu. The band is A, from a table in shared memory; samples are B.
//
// Its loop is written out: as an object's members ptxas schedules it worse, by 1.7%. A segment ends with a whole chunk,
// whose last columns may be for nothing.
#pragma once

#include "tensor_convolution_chains.cuh"
#include "tensor_convolution_tiles.cuh"

namespace {

// Writes the warps' table: for each phase and each 8 steps, the fragments of the band, a pair of a lane together.
__device__ __forceinline__ void write_table(const Part& part, const double* entries, double* table) {
    for (int at = threadIdx.x; at < TABLE; at += THREADS) {
        const int lane = at / 2 % LANES;
        const int slot = lane / 4 + 8 * (at & 1);
        const int row = lane % 4 + 4 * (at / 64 % 2) + 8 * (at / 128 % (STEPS / 8));
        const int column = column_of(at / 128 / (STEPS / 8), slot);
        table[at] = column < SIZE ? entry_at(part, entries, row, column) : 0.0;
    }
}

template <bool PAIRS>
__device__ __forceinline__ void convolution(const Launch& launch) {
    const Part& part = launch.part;
    const int lane = threadIdx.x % LANES;
    const int g = lane / 4;
    const int q = lane % 4;
    double* const table = shared_memory();
    double* const rings = table + TABLE;
    Ring ring{0, 0};
    if (lane == 0) {
        for (int i = 0; i < CHUNKS; ++i) make_barrier(ring.full(i), COLUMNS);
        barriers_are_made();
    }
    fetch_filter<THREADS>(launch, rings, Ring::sides());
    write_table(part, rings, table);
    __syncthreads();
    clear_ring<RING>(ring.samples());

    constexpr int KS = STEPS / 8;
    constexpr int NB = TILES / 2 + 1;  // fragments of half a column: a tile's second is its neighbour's first
    const Shared band = in_shared(table + 2 * lane);
    const Shared samples_of = in_shared(ring.samples());
    const int alternates = PAIRS ? 0 : static_cast<int>(part.rows & 1);
    const long long groups = ((part.rows + ROWS - 1) / ROWS + part.abreast - 1) / part.abreast;
    if (lane == 0) ring.segment()->work = work_range_of(groups * (SEGMENT_OVERHEAD + part.count), part.abreast, WARPS);
    __syncwarp();
    while (next_segment(part)) {
        const Segment& segment = *ring.segment();
        const int steps = segment.count + SIZE - 1;
        ring.begin_segment(part, (steps + COLUMNS - 1) / COLUMNS);
        // Where this lane's samples are in columns of an even and of an odd number.
        const int odd = is_odd(address_of(part, ring.box_of(ring.begin)));
        const int samples[2] = {g + q + odd, g + q + (odd ^ alternates)};
        // In the column of outputs that is written while the present column of samples is taken.
        double* to = outputs_of(part, segment) - SIZE * part.rows + 2 * q;
        const long long below = part.rows - segment.top - 2 * q;
        const int room = below < ROWS ? static_cast<int>(below) : ROWS;
        SpecialValueScan scan;
        double2 scanned[SCANNED];

        int step = 0;
        // A column is multiplied in two blocks of instructions, half of the tiles each. In either the other half's slot
        // is finished, and what the next block multiplies is read: so no multiplication waits for any of that.
        double sums[TILES][4], b[2][NB][2];
        double2 a[2][KS][2];
#pragma unroll
        for (int t = 0; t < TILES; ++t) {
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[t][i] = 0;
        }
        const auto load = [&](int block, Shared from) {
#pragma unroll
            for (int v = 0; v < NB; ++v) {
                b[block][v][0] = read_here(from + 8 * (block * (TILES / 2) + v));
                b[block][v][1] = read_here(from + 8 * (block * (TILES / 2) + v) + 4);
            }
        };
        const auto load_band = [&](int into, Shared entries) {
#pragma unroll
            for (int k = 0; k < KS; ++k) {
                a[into][k][0] = read_pair_here(entries + k * 128);
                a[into][k][1] = read_pair_here(entries + k * 128 + 64);
            }
        };
        // Writes and clears the slot of these lanes, of which there are two, in a block's tiles.
        const auto finish = [&](int block, bool has_slot, int half) {
            const int rows = has_slot && step >= SIZE && step <= steps ? room : 0;
#pragma unroll
            for (int n = block * (TILES / 2); n < (block + 1) * (TILES / 2); ++n) {
                write_two<PAIRS>(rows, 8 * n, to + 8 * n, sums[n][2 * half], sums[n][2 * half + 1]);
                sums[n][2 * half] = has_slot ? 0.0 : sums[n][2 * half];
                sums[n][2 * half + 1] = has_slot ? 0.0 : sums[n][2 * half + 1];
            }
        };
        const auto multiply = [&](int block, int cur) {
#pragma unroll
            for (int k = 0; k < KS; ++k) {
#pragma unroll
                for (int n = 0; n < TILES / 2; ++n) {
                    multiply_8(sums[block * (TILES / 2) + n], a[cur][k][0].x, a[cur][k][0].y, a[cur][k][1].x,
                               a[cur][k][1].y, b[block][n + k][0], b[block][n + k][1]);
                }
            }
        };

        __syncwarp();
        for (int i = 0; i < CHUNKS - 1; ++i) ring.fetch(part, ring.begin + i);
        int chunk = ring.begin;
        ring.await(chunk);
        load(0, samples_of + ring.offset(chunk) + samples[0]);
        load_band(0, band);
        bool more = true;
        while (more) {
            const int from = step;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                if (!more) continue;
                const Shared now = samples_of + ring.offset(chunk);
                const Shared entries = band + half * 8 * (KS * 128);
                const Shared next_entries = half == 1 ? band : entries + 8 * (KS * 128);
#pragma unroll
                for (int i = 0; i < COLUMNS; ++i) {
                    const int cur = i & 1;
                    if (i == 0) {
                        __syncwarp();
                        ring.fetch(part, chunk + CHUNKS - 1);
                    }
                    scan_in_pass(scan, scanned, now + 2 * lane, 2 * i);
                    load(1, now + samples[i & 1] + i * LENGTH);
                    // The slot of the column before. A choice among registers is not made by a variable.
                    if (i > 0) {
                        finish(1, g == i - 1, half);
                    } else {
                        finish(1, g == 7, half ^ 1);
                    }
                    multiply(0, cur);
                    ++step;
                    to += part.rows;
                    END_OF_BLOCK(2 * (half * 8 + i) % 24);

                    scan_in_pass(scan, scanned, now + 2 * lane, 2 * i + 1);
                    if (i == COLUMNS - 1) {
                        ring.await(chunk + 1);
                        load(0, samples_of + ring.offset(chunk + 1) + samples[0]);
                        load_band(cur ^ 1, next_entries);
                    } else {
                        load(0, now + samples[(i + 1) & 1] + (i + 1) * LENGTH);
                        load_band(cur ^ 1, entries + (i + 1) * (KS * 128));
                    }
                    finish(0, g == i, half);
                    multiply(1, cur);
                    END_OF_BLOCK((2 * (half * 8 + i) + 1) % 24);
                }
                if (++chunk == ring.end) {
                    more = false;
                    finish(1, g == 7, half);
                }
            }
            ring.segment()->pieces.flag(scan, part, from);
        }
        recompute_flagged(part, ring);
    }
}

}  // namespace
