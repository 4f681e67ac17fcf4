// The study "angles": every thread reads a whole table, entry after entry, and so all threads of a warp read the same
// one at a time.
//
// Two kernels add all 360 entries to each element, in ascending order. They differ in the table's memory.

#include "arguments.cuh"

namespace {
constexpr int ANGLES = 360;
}  // namespace

__constant__ float constantAngles[ANGLES];

namespace {
struct Constant {
    static __device__ __forceinline__ float at(const AnglesArgument&, int i) { return constantAngles[i]; }
};
struct Global {
    static __device__ __forceinline__ float at(const AnglesArgument& job, int i) { return job.angles[i]; }
};

template <class Table>
__device__ __forceinline__ void add(const AnglesArgument& job) {
    const unsigned long long thread = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < job.count) {
        float sum = job.elements[thread];
        // Equal numbers of steps between two jumps in both kernels, whatever the compiler would choose for each.
#pragma unroll 8
        for (int i = 0; i < ANGLES; ++i) sum += Table::at(job, i);
        job.sums[thread] = sum;
    }
}
}  // namespace

extern "C" __global__ void __launch_bounds__(64) angles_constant(AnglesArgument job) { add<Constant>(job); }
extern "C" __global__ void __launch_bounds__(64) angles_global(AnglesArgument job) { add<Global>(job); }
