// The nine-point derivative of DerivativeConstantMemory_CUDA along any dimension, compiled for -DREAL=float and for
// -DREAL=double, and for each kernel that is of use for a single sweep (-DKERNEL=SMALL, ROWS, SHORT).

#ifndef REAL
#error "REAL, the class of the samples, must be given"
#endif

namespace {
constexpr int RADIUS = 4;
}  // namespace

// Factors of the differences, the nearest first.
__constant__ REAL coefficients[RADIUS];

struct Operator {
    template <class Sample>
    static __device__ __forceinline__ REAL one(Sample sample) {
        REAL acc = 0;
#pragma unroll
        for (int i = 1; i <= RADIUS; ++i) acc = fma(coefficients[i - 1], sample(RADIUS + i) - sample(RADIUS - i), acc);
        return acc;
    }

    template <int FROM, int TO, class Sample>
    static __device__ __forceinline__ void range(Sample sample, REAL* sum) {
#pragma unroll
        for (int v = FROM; v < TO; ++v) sum[v] = one([&](int k) { return sample(v + k); });
    }
};

#include "sweeps/kernels.cuh"
