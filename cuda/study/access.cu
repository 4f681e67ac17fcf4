// The study "access": speed of constant memory by access pattern of a table.
//
// Eight kernels add an entry of a table to every element. They differ in the table's memory, and in the entry of a
// thread. The pattern is fixed at compile time, so that the time is that of memory and not of a switch. Entries are
// chosen by indices within the block, except in the first pattern.
//
// The table takes all of the 64 KiB of constant memory that a module can have: nothing else may be constant here.

#include "arguments.cuh"

namespace {
constexpr int ENTRIES = 16384;
}  // namespace

__constant__ int constantTable[ENTRIES];

namespace {
enum class Pattern { PerBlock, PerWarp, PerThread, PseudoRandom };

template <Pattern pattern>
__device__ __forceinline__ unsigned int entry() {
    switch (pattern) {
        case Pattern::PerBlock: return blockIdx.x % ENTRIES;
        case Pattern::PerWarp: return threadIdx.x / 32 % ENTRIES;
        case Pattern::PerThread: return threadIdx.x % ENTRIES;
        default: return threadIdx.x * 1357 % ENTRIES;
    }
}

// Tables are types, so that the kernels over one of them hold no trace of the other.
struct Constant {
    static __device__ __forceinline__ int at(const AccessArgument&, unsigned int entry) { return constantTable[entry]; }
};
struct Global {
    static __device__ __forceinline__ int at(const AccessArgument& job, unsigned int entry) { return job.table[entry]; }
};

template <class Table, Pattern pattern>
__device__ __forceinline__ void add(const AccessArgument& job) {
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.count) job.sums[i] = job.inputs[i] + Table::at(job, entry<pattern>());
}
}  // namespace

#define KERNELS(NAME, PATTERN)                                                               \
    extern "C" __global__ void __launch_bounds__(1024) constant_##NAME(AccessArgument job) { \
        add<Constant, Pattern::PATTERN>(job);                                                \
    }                                                                                        \
    extern "C" __global__ void __launch_bounds__(1024) global_##NAME(AccessArgument job) {   \
        add<Global, Pattern::PATTERN>(job);                                                  \
    }

KERNELS(one_access_per_block, PerBlock)
KERNELS(one_access_per_warp, PerWarp)
KERNELS(one_access_per_thread, PerThread)
KERNELS(pseudo_random, PseudoRandom)
