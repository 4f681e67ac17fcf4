// Many sweeps of a square filter over images: see sweeps_images.cuh.
//
// Compiled for -DREAL=float and -DREAL=double, and for each -DSIZE, the filter's rows and columns.

#include "sweeps_images.cuh"

#ifndef TUNE_POINTS
#define TUNE_POINTS 21
#define TUNE_STAGES 2
#define TUNE_BLOCKS 2
#endif

// The filter, in column-major order.
__constant__ REAL F[SIZE * SIZE];

namespace {
struct Tune { int points, stages, blocks; };
constexpr Tune TUNED = {TUNE_POINTS, TUNE_STAGES, TUNE_BLOCKS};
// All taps, whatever their values.
struct Square {
    // What an output has of the filter's first column.
    template <class Sample>
    static __device__ __forceinline__ REAL first(unsigned int, const Sample& sample) {
        return chain(0, sample, REAL(0), 0);
    }

    template <int COUNT, class Sample, class Emit>
    static __device__ __forceinline__ void apply(unsigned int, const Sample& sample, REAL (&sums)[SIZE - 1][COUNT],
                                                 const Emit& emit) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            emit(i, chain(i, sample, sums[0][i], SIZE - 1));
#pragma unroll
            for (int q = 1; q < SIZE - 1; ++q) sums[q - 1][i] = chain(i, sample, sums[q][i], SIZE - 1 - q);
            sums[SIZE - 2][i] = chain(i, sample, REAL(0), 0);
        }
    }

    // A sum goes on over a column of the filter.
    template <class Sample>
    static __device__ __forceinline__ REAL chain(int i, const Sample& sample, REAL sum, int column) {
#pragma unroll
        for (int r = 0; r < SIZE; ++r) sum = fma(sample(i + r - SIZE / 2), F[column * SIZE + r], sum);
        return sum;
    }
};
}  // namespace

extern "C" __global__ void __launch_bounds__(images::THREADS, TUNED.blocks) sweeps_images(images::Launch<REAL> launch) {
    images::sweep_images<REAL, SIZE / 2, TUNED.points, TUNED.stages, Square>(launch);
}
