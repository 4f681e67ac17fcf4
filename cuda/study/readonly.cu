// The study "readonly": constant memory, the read-only cache and kernel arguments compared.
//
// Three kernels compute the nine-point first derivative of one line of samples. They differ only in the memory of the
// four coefficients. A block has as many points as threads; the study varies blockDim.x, which is at least 2 * RADIUS.

#include "arguments.cuh"
#include "chip.cuh"

namespace {
constexpr int RADIUS = STUDY_RADIUS;
}  // namespace

__constant__ float constantCoefficients[RADIUS];

namespace {
struct Constant {
    static __device__ __forceinline__ float at(const ReadOnlyArgument&, int i) { return constantCoefficients[i]; }
};
struct ReadOnly {
    static __device__ __forceinline__ float at(const ReadOnlyArgument& job, int i) {
        return __ldg(job.coefficients + i);
    }
};
struct Argument {
    static __device__ __forceinline__ float at(const ReadOnlyArgument& job, int i) { return job.argument[i]; }
};

template <class Coefficients>
__device__ __forceinline__ void differentiate(const ReadOnlyArgument& job) {
    DYNAMIC_SHARED(float, tile);  // blockDim.x + 2 * RADIUS

    // Every thread reaches every barrier, also one without a point of its own. The grid has a thread for each point, so
    // that each block has one tile.
    const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x;
    const unsigned int thread = threadIdx.x;
    // Positions before the line wrap round to huge numbers, and the one comparison covers both ends: outside is zero.
    const unsigned long long start = first - RADIUS;
    const unsigned long long at = start + thread;
    tile[thread] = at < job.count ? job.samples[at] : 0.0f;
    if (thread < 2 * RADIUS) {
        const unsigned long long behind = start + blockDim.x + thread;
        tile[blockDim.x + thread] = behind < job.count ? job.samples[behind] : 0.0f;
    }
    __syncthreads();

    const unsigned long long x = first + thread;
    if (x < job.count) {
        const float* middle = tile + thread + RADIUS;
        float sum = 0.0f;
#pragma unroll
        for (int i = 1; i <= RADIUS; ++i) sum = fmaf(Coefficients::at(job, i - 1), middle[i] - middle[-i], sum);
        job.derivative[x] = sum;
    }
}
}  // namespace

extern "C" __global__ void __launch_bounds__(1024) derivative_constant(ReadOnlyArgument job) {
    differentiate<Constant>(job);
}
extern "C" __global__ void __launch_bounds__(1024) derivative_readonly(ReadOnlyArgument job) {
    differentiate<ReadOnly>(job);
}
extern "C" __global__ void __launch_bounds__(1024) derivative_argument(ReadOnlyArgument job) {
    differentiate<Argument>(job);
}
