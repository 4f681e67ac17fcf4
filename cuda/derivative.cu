// The nine-point derivative of DerivativeConstantMemory_CUDA, compiled for -DREAL=float and for -DREAL=double.
//
// Two kernels that differ in one thing only: the memory of the four coefficients.

#include "lines.cuh"

#ifndef REAL
#error "REAL, the class of the samples, must be given"
#endif

namespace {
constexpr int RADIUS = 4;
constexpr int THREADS = 128;
// Equal numbers of bytes in flight in each thread, whatever the class.
constexpr int OUTPUTS = sizeof(REAL) == 4 ? 9 : 5;
}  // namespace

// Factors of the differences, the nearest first, in either memory.
__constant__ REAL coefficients[RADIUS];
__device__ REAL coefficientsGlobal[RADIUS];

struct FromConstant {
    static __device__ __forceinline__ REAL at(int i) { return coefficients[i]; }
};

struct ThroughReadOnlyCache {
    static __device__ __forceinline__ REAL at(int i) { return __ldg(coefficientsGlobal + i); }
};

template <class Coefficients>
struct Differences {
    template <class Sample>
    static __device__ __forceinline__ REAL one(Sample sample) {
        REAL acc = 0;
#pragma unroll
        for (int i = 1; i <= RADIUS; ++i) {
            acc = fma(Coefficients::at(i - 1), sample(RADIUS + i) - sample(RADIUS - i), acc);
        }
        return acc;
    }

    static __device__ __forceinline__ void all(const REAL* samples, REAL* sum) {
        REAL window[OUTPUTS + 2 * RADIUS];
#pragma unroll
        for (int j = 0; j < OUTPUTS + 2 * RADIUS; ++j) window[j] = samples[j];
#pragma unroll
        for (int v = 0; v < OUTPUTS; ++v) sum[v] = one([&](int k) { return window[v + k]; });
    }
};

extern "C" __global__ void __launch_bounds__(THREADS) stencil1DGPU(PieceArgument<REAL> piece) {
    along_lines<REAL, THREADS, OUTPUTS, RADIUS, Differences<FromConstant>>(piece);
}

extern "C" __global__ void __launch_bounds__(THREADS) stencil1DReadOnly(PieceArgument<REAL> piece) {
    along_lines<REAL, THREADS, OUTPUTS, RADIUS, Differences<ThroughReadOnlyCache>>(piece);
}

extern "C" __constant__ unsigned int lines_threads = THREADS;
extern "C" __constant__ unsigned int lines_tile = THREADS * OUTPUTS;
