// Many sweeps of a filter over images in one launch, for chips of compute capability 9.0: see sweeps/images/images.cuh.
//
// Compiled for -DREAL=float and -DREAL=double, and for each filter's -DROWS and -DCOLUMNS: odd, from 3 to 7. With
// -DSIDES=1 each side of the images has its own boundary; with -DBLOCK_WARPS=8 a block has eight warps; with -DSTAR=1
// there is a kernel for filters that are zero outside their middle row and column, which leaves these zeros out. The
// other definitions of modules.txt were measured on an H200:
// - LANE_ROWS: rows that a lane holds; the maximum without register spills (a few of those in the loop take a third of
//    the speed). An odd number of doubles, or one of singles that is four times an odd one, is read from shared memory
//    without conflicts.
//  - WARP_SWEEPS: sweeps that a warp does.
//  - BLOCKS: blocks that a multiprocessor holds, which bounds the registers.
// - LOAD_LEAD: number of slots before its turn in which a column comes.
//  - SLOTS_AHEAD=1: a warp reads a column a slot before its turn.
//  - COPY_POINTERS=1: a thread keeps a pointer for each piece that it copies: fewer instructions, more registers.
//  - SWEEPER_REGISTERS: of a thread that sweeps where another one copies for all; none does without it.
#ifndef SLOTS_AHEAD
#define SLOTS_AHEAD 0
#endif
#ifndef COPY_POINTERS
#define COPY_POINTERS 0
#endif
#ifndef SWEEPER_REGISTERS
#define SWEEPER_REGISTERS 0
#endif

#include "sweeps/images/images.cuh"

namespace {
#ifdef SIDES
typedef images::OfSides<REAL> Launch;
#else
typedef ImagesArgument<REAL> Launch;
#endif
}  // namespace

// The filter, in column-major order.
__constant__ REAL F[ROWS * COLUMNS];

namespace {
template <bool IS_STAR>
struct FilterOf {
    // True if entries are left out.
    static constexpr bool LEAVES_OUT = IS_STAR;

    // Adds a column of samples to all outputs that depend on it, by the place of the column under their filters: the
    // oldest sums are finished.
    template <int COUNT, int SUMS, class Sample, class Emit>
    static __device__ __forceinline__ void apply(const Sample& sample, REAL (&sums)[SUMS][COUNT], const Emit& emit) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            emit(i, chain(i, sample, sums[0][i], COLUMNS - 1));
#pragma unroll
            for (int q = 1; q < COLUMNS - 1; ++q) sums[q - 1][i] = chain(i, sample, sums[q][i], COLUMNS - 1 - q);
            sums[COLUMNS - 2][i] = chain(i, sample, REAL(0), 0);
        }
    }

    // Adds a column of the filter to a sum.
    template <class Sample>
    static __device__ __forceinline__ REAL chain(int i, const Sample& sample, REAL sum, int column) {
        if (LEAVES_OUT && column != COLUMNS / 2) return fma(sample(i), F[column * ROWS + ROWS / 2], sum);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) sum = fma(sample(i + r - ROWS / 2), F[column * ROWS + r], sum);
        return sum;
    }
};
}  // namespace

namespace {
template <bool IS_STAR>
using StageOf = images::Warp<Launch, ROWS / 2, COLUMNS / 2, LANE_ROWS, WARP_SWEEPS, SLOTS_AHEAD != 0, LOAD_LEAD,
                             COPY_POINTERS != 0, FilterOf<IS_STAR>>;
typedef StageOf<false> Stage;
}  // namespace

#ifdef STAR

// The last run in which a block saw special values.
__device__ unsigned int fallback_run;

namespace {
__device__ __forceinline__ bool needs_fallback(const Launch& launch) {
    return *const_cast<volatile unsigned int*>(&fallback_run) == launch.run;
}

// Returns true if a launch of the full kernel is a fallback that has nothing to do.
__device__ __forceinline__ bool is_idle_fallback(const Launch& launch) {
    follow_launch_before();
    return launch.run != 0 && !needs_fallback(launch);
}

// Does the sweeps by a kernel that leaves out zeros, unless the fallback does them.
template <class Stages, int WIDE>
__device__ __forceinline__ void sweep_and_scan(const Launch& launch) {
    // Other blocks of this launch may ask for the fallback meanwhile, so one thread reads for all.
    __shared__ bool left;
    follow_launch_before();
    if (threadIdx.x == 0) left = needs_fallback(launch);
    __syncthreads();
    if (left) return;
    const bool seen = __any_sync(0xffffffff, images::sweep_images<Stages, WIDE>(launch));
    // One thread writes for all. Other blocks write the same number.
    __shared__ unsigned long long seen_by[images::WARPS];
    if (threadIdx.x % images::LANES == 0) seen_by[threadIdx.x / images::LANES] = seen;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int warp = 0; warp < images::WARPS; ++warp) {
        if (seen_by[warp]) fallback_run = launch.run;
    }
}
}  // namespace

#else

namespace {
__device__ __forceinline__ bool is_idle_fallback(const Launch&) { return false; }
}  // namespace

#endif

#ifdef STAR

extern "C" __global__ void __launch_bounds__(images::THREADS, BLOCKS) sweeps_images_star(Launch launch) {
    sweep_and_scan<StageOf<true>, 1>(launch);
}
extern "C" __global__ void __launch_bounds__(images::THREADS, BLOCKS) sweeps_images_star_aligned(Launch launch) {
    sweep_and_scan<StageOf<true>, 16 / sizeof(REAL)>(launch);
}

#endif

extern "C" __global__ void __launch_bounds__(images::THREADS, BLOCKS) sweeps_images(Launch launch) {
    if (!is_idle_fallback(launch)) images::sweep_images<Stage, 1>(launch);
}

// For images whose columns and strips begin and end at multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(images::threads_of(SWEEPER_REGISTERS > 0), BLOCKS)
    sweeps_images_aligned(Launch launch) {
    if (!is_idle_fallback(launch)) images::sweep_images<Stage, 16 / sizeof(REAL), SWEEPER_REGISTERS>(launch);
}

// Constants of the module that the host needs for a launch.
extern "C" __constant__ unsigned int lane_points = LANE_ROWS;
extern "C" __constant__ unsigned int column_pitch = Stage::PITCH;
extern "C" __constant__ unsigned int slots_between = 1 + Stage::AHEAD;
extern "C" __constant__ unsigned int warp_sweeps = WARP_SWEEPS;
extern "C" __constant__ unsigned int blocks_at_once = BLOCKS;
extern "C" __constant__ unsigned int block_warps = images::WARPS;
extern "C" __constant__ unsigned int columns_lead = LOAD_LEAD;
extern "C" __constant__ unsigned int block_threads_aligned = images::threads_of(SWEEPER_REGISTERS > 0);
