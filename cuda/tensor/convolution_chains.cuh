// The fallback of tensor/convolution.cu: pieces of a segment that have special values are recomputed by plain chains of
// fused multiply-adds, on the vector units. Samples come through the warp's circular buffer once more.
#pragma once

#include "tensor/convolution_ring.cuh"

namespace {

constexpr int EACH = ROWS / LANES;  // rows of a lane, which lie LANES rows apart

// Multiplies a column of samples for all outputs that need it. sums[w] is the sum of the output that has taken w
// columns of SIZE x SIZE, with the filter in the middle. It becomes sums[w + 1]; the last one comes out as sums[SIZE -
// 1].
//
// FULL: the filter is SIZE x SIZE.
template <bool FULL>
__device__ __forceinline__ void multiply_column(const TensorPart& part, const double* samples,
                                                double (&sums)[SIZE][EACH]) {
    if (FULL) {
        double own[EACH][SIZE];
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
#pragma unroll
            for (int r = 0; r < SIZE; ++r) own[i][r] = samples[i * LANES + r];
        }
#pragma unroll
        for (int w = SIZE - 1; w >= 0; --w) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) sums[w][i] = w > 0 ? sums[w > 0 ? w - 1 : 0][i] : 0.0;
#pragma unroll
            for (int r = 0; r < SIZE; ++r) {
#pragma unroll
                for (int i = 0; i < EACH; ++i) sums[w][i] = fma(own[i][r], F[w * SIZE + r], sums[w][i]);
            }
        }
    } else {
        const double* const from = samples + (SIZE - part.height) / 2;
        const int first = (SIZE - part.width) / 2;
#pragma unroll
        for (int w = SIZE - 1; w >= 0; --w) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) sums[w][i] = w > 0 ? sums[w > 0 ? w - 1 : 0][i] : 0.0;
            if (w < first || w >= first + part.width) continue;
            const double* const entries = F + (w - first) * part.height;
#pragma unroll 1
            for (int r = 0; r < part.height; ++r) {
#pragma unroll
                for (int i = 0; i < EACH; ++i) sums[w][i] = fma(from[i * LANES + r], entries[r], sums[w][i]);
            }
        }
    }
}

// Recomputes the flagged pieces of a segment. Returns the number of chunks that have come through the ring then.
template <bool FULL>
__device__ __noinline__ int recompute_pieces(TensorPart part, Ring ring) {
    Segment* const segment = ring.segment();
    const int lane = threadIdx.x % LANES;
    const Segment whole = *segment;
    const int turns = static_cast<int>(part.rows & 1);
#pragma unroll 1
    for (int piece = 0; piece < 64; ++piece) {
        // Neighbouring pieces together.
        const int first = piece;
        while (whole.pieces.has(piece)) ++piece;
        const long long begin = static_cast<long long>(first) * whole.pieces.length - SIZE;
        const long long end = static_cast<long long>(piece) * whole.pieces.length - SIZE;
        const int from = begin > 0 ? static_cast<int>(begin) : 0;
        const int to = end < whole.count ? static_cast<int>(end) : whole.count;
        if (from >= to) continue;
        __syncwarp();
        if (lane == 0) {
            segment->column = whole.column + from;
            segment->count = to - from;
        }
        __syncwarp();
        const int steps = to - from + SIZE - 1;
        ring.begin_segment(part, (steps + COLUMNS - 1) / COLUMNS);
        int odd = is_odd(address_of(part, ring.box_of(ring.begin)));
        double* output = outputs_of(part, *segment) - (SIZE - 1) * part.rows + lane;
        double sums[SIZE][EACH];
#pragma unroll
        for (int w = 0; w < SIZE; ++w) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) sums[w][i] = 0;
        }
        ring.fetch_first(part);
        int step = 0;
#pragma unroll 1
        for (int chunk = ring.begin; chunk < ring.end; ++chunk) {
            ring.await(chunk);
            ring.fetch(part, chunk + CHUNKS - 1);
            const double* samples = ring.chunk(chunk) + lane;
#pragma unroll 1
            for (int i = 0; i < COLUMNS && step < steps; ++i) {
                multiply_column<FULL>(part, samples + odd, sums);
                if (step >= SIZE - 1) {
#pragma unroll
                    for (int e = 0; e < EACH; ++e) {
                        if (segment->top + e * LANES + lane < part.rows) output[e * LANES] = sums[SIZE - 1][e];
                    }
                }
                samples += LENGTH;
                output += part.rows;
                odd ^= turns;
                ++step;
            }
        }
    }
    return ring.end;
}

// Recomputes the flagged pieces of the present segment, if there are any.
__device__ __forceinline__ void recompute_flagged(const TensorPart& part, Ring& ring) {
    if (ring.segment()->pieces.flags == 0) return;
    if (part.height == SIZE && part.width == SIZE) {
        ring.end = recompute_pieces<true>(part, ring);
    } else {
        ring.end = recompute_pieces<false>(part, ring);
    }
}

}  // namespace
