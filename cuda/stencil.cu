// The stencil of StencilConstantMemory_CUDA: up to 21 double taps in constant memory, centred on every element.
//
// Compiled once for each odd number of taps (-DTAPS=1, 3, .. 21), each into a module of its own with its own copy of
// the taps.

#include "lines.cuh"

#ifndef TAPS
#error "TAPS, the number of taps, must be given"
#endif

namespace {
constexpr int MAX_TAPS = 21;
constexpr int THREADS = 128;
constexpr int OUTPUTS = 5;
constexpr int RADIUS = TAPS / 2;
}  // namespace

// The filter. It always has room for 21 entries; those beyond TAPS are not read.
__constant__ double kernelTaps[MAX_TAPS];

struct Correlation {
    // Slides over the samples once and uses each for all points: shared memory is read (OUTPUTS + TAPS - 1) / OUTPUTS
    // times a point, not TAPS times.
    static __device__ __forceinline__ void all(const double* samples, double* sum) {
#pragma unroll
        for (int v = 0; v < OUTPUTS; ++v) sum[v] = 0.0;
#pragma unroll
        for (int j = 0; j < OUTPUTS + 2 * RADIUS; ++j) {
            const double sample = samples[j];
#pragma unroll
            for (int v = 0; v < OUTPUTS; ++v) {
                const int k = j - v;
                if (k >= 0 && k < TAPS) sum[v] = fma(sample, kernelTaps[k], sum[v]);
            }
        }
    }

    template <class Sample>
    static __device__ __forceinline__ double one(Sample sample) {
        double acc = 0.0;
#pragma unroll
        for (int k = 0; k < TAPS; ++k) acc = fma(sample(k), kernelTaps[k], acc);
        return acc;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS) Stencil_ConstantMemory(PieceArgument<double> piece) {
    along_lines<double, THREADS, OUTPUTS, RADIUS, Correlation>(piece);
}

// Constants of the module that the host needs for a launch.
extern "C" __constant__ unsigned int lines_threads = THREADS;
extern "C" __constant__ unsigned int lines_tile = THREADS * OUTPUTS;
