// Stencils along lines: common part of the stencil and the derivative.
//
// A point moves two numbers and takes a few multiply-adds, which on any GPU with full rate takes less time than the
// bytes. So the kernel must keep the memory busy:
//  - A block stages a tile of the input in shared memory: each sample is read from device memory once, by neighbouring
//    threads.
//  - A thread computes OUTPUTS neighbouring points from one run of samples. OUTPUTS is odd: the threads of a warp then
//    fall on different banks.
//  - All threads use the same coefficient at the same time: one broadcast from constant memory, or an operand of the
//    multiply-add itself.
//  - Results go back through the tile, so that neighbouring threads write neighbouring points.
#pragma once

#include "arguments.cuh"

// Computes a tile. Operator::all (samples, sums) computes the OUTPUTS points whose first sample is samples[0];
// Operator::one (sample) computes a single point from sample (0) .. sample (2 * RADIUS).
template <typename T, int THREADS, int OUTPUTS, int RADIUS, class Operator>
__device__ __forceinline__ void along_lines(const PieceArgument<T>& piece) {
    constexpr int TILE = THREADS * OUTPUTS;
    __shared__ T tile[TILE + 2 * RADIUS];
    __shared__ long long tile_phase;

    const unsigned int block = piece.backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const unsigned long long first = (unsigned long long)block * TILE;
    const int thread = threadIdx.x;

    // Samples before and after those in the input are zero. `available` counts from the first sample in the input; if a
    // tile begins before it the subtraction wraps round to a huge number, and the one comparison covers both ends.
    const unsigned long long available = piece.before + piece.count + piece.after;
    const unsigned long long start = first + piece.before - RADIUS;
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i) {
        const unsigned long long at = start + (i * THREADS + thread);
        tile[i * THREADS + thread] = at < available ? piece.input[at] : T(0);
    }
    if (thread < 2 * RADIUS) {
        const unsigned long long at = start + (TILE + thread);
        tile[TILE + thread] = at < available ? piece.input[at] : T(0);
    }
    // One 64-bit division a block, and none if there is only one line.
    if (!piece.one_line && thread == 0) {
        tile_phase = (long long)((first + piece.phase) % piece.line);
    }
    __syncthreads();

    const int own = thread * OUTPUTS;
    T sum[OUTPUTS];
    const long long line = piece.line;
    bool inside = piece.one_line;
    long long position = 0;  // of this thread's first output in its line
    if (!piece.one_line) {
        position = tile_phase + own;
        if (position >= line) {
            position = line > TILE ? position - line : (unsigned int)position % (unsigned int)line;
        }
        inside = position >= RADIUS && position + OUTPUTS + RADIUS <= line;
    }
    if (inside) {
        Operator::all(tile + own, sum);
    } else {
        // Samples of other lines are replaced by zero, and used like any other.
#pragma unroll 1
        for (int v = 0; v < OUTPUTS; ++v) {
            const T result = Operator::one([&](int k) {
                const long long at = position + k - RADIUS;
                return at >= 0 && at < line ? tile[own + v + k] : T(0);
            });
            // A register array must not be indexed by a variable.
#pragma unroll
            for (int u = 0; u < OUTPUTS; ++u) sum[u] = u == v ? result : sum[u];
            position = position + 1 == line ? 0 : position + 1;
        }
    }

    __syncthreads();
#pragma unroll
    for (int v = 0; v < OUTPUTS; ++v) tile[own + v] = sum[v];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i) {
        const unsigned long long at = first + (i * THREADS + thread);
        if (at < piece.count) piece.output[at] = tile[i * THREADS + thread];
    }
}
