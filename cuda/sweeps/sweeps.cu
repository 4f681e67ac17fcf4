// Many sweeps of the stencil of StencilConstantMemory_CUDA in one launch: up to 21 taps in constant memory, any
// boundary.
//
// Compiled for -DREAL=double, each odd number of taps (-DTAPS=1, 3, .. 21) and each kernel (-DKERNEL=LONG, WHOLE,
// SMALL, ROWS, SHORT), each into a module of its own with its own copy of the taps; and for -DREAL=float, from 3 taps
// on: a stencil in single is a convolution, and one by a single entry goes along no dimension.

#ifndef REAL
#error "REAL, the class of the samples, must be given"
#endif
#ifndef TAPS
#error "TAPS, the number of taps, must be given"
#endif

namespace {
constexpr int MAX_TAPS = 21;
constexpr int RADIUS = TAPS / 2;
}  // namespace

// The filter. It always has room for 21 entries; those beyond TAPS are not read.
__constant__ REAL kernelTaps[MAX_TAPS];

struct Operator {
    // For each point the order of `one`; each sample is taken once for all points, so that many chains are in flight at
    // a time.
    template <int FROM, int TO, class Sample>
    static __device__ __forceinline__ void range(Sample sample, REAL* sum) {
#pragma unroll
        for (int v = FROM; v < TO; ++v) sum[v] = 0;
#pragma unroll
        for (int j = FROM; j < TO + 2 * RADIUS; ++j) {
            const REAL x = sample(j);
#pragma unroll
            for (int v = FROM; v < TO; ++v) {
                const int k = j - v;
                if (k >= 0 && k < TAPS) sum[v] = fma(x, kernelTaps[k], sum[v]);
            }
        }
    }

    template <class Sample>
    static __device__ __forceinline__ REAL one(Sample sample) {
        REAL acc = 0;
#pragma unroll
        for (int k = 0; k < TAPS; ++k) acc = fma(sample(k), kernelTaps[k], acc);
        return acc;
    }
};

#include "sweeps/kernels.cuh"
