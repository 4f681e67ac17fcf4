// Many sweeps of a filter over images in one launch, for chips of compute capability 9.0: see sweeps_images.cuh.
//
// Compiled for -DREAL=float and -DREAL=double, and for each filter's -DROWS and -DCOLUMNS: odd, from 3 to 7, and in
// single one of them may be 1. With -DSIDES=1 each side of the images has its own boundary; with -DBLOCK_WARPS=8 a block
// has eight warps; with -DSTAR=1 there is a kernel for filters that are zero beside their middle row and column, which
// leaves these zeros out.

#include "images/sweeps_images.cuh"

namespace {
#ifdef SIDES
typedef images::OfSides<REAL> Launch;
#else
typedef images::Launch<REAL> Launch;
#endif

// Rows that a lane holds, sweeps that a warp does, and the blocks that a multiprocessor holds, which bounds the
// registers. Measured on an H200: as many rows as leave no register's value to be put away in memory (a few of those in
// the loop take a third of the speed). An odd number of doubles, or one of singles that is four times an odd one, is
// read from shared memory without conflicts.
struct Tuned {
    int points;
    int stages;
    int blocks;
    bool ahead;
    int registers;  // of a thread that sweeps where another one copies; 0 where none does
};
constexpr bool DOUBLE = sizeof(REAL) == 8;
#if BLOCK_WARPS == 8
// One block has a multiprocessor for itself. In single these are stars alone, which are faster with more rows.
constexpr Tuned TUNED = !DOUBLE ? Tuned{COLUMNS == 3   ? 32
                                        : COLUMNS == 5 ? 28
                                                       : 24,
                                        COLUMNS == 3 ? 2 : 1, 1, true}
                        : COLUMNS == 3 ? Tuned{17, 2, 1, true, 240}
                        : COLUMNS == 5 ? Tuned{ROWS == 3 ? 19 : 17, 1, 1, true, 232}
                                       : Tuned{ROWS == 3 ? 15 : 11, 1, 1, true, 232};
#else
constexpr Tuned TUNED = COLUMNS == 1 ? Tuned{28, ROWS == 3 ? 8 : 4, 4, false}
                        : ROWS == 1
                            ? (COLUMNS == 7 ? Tuned{28, 1, 2, false} : Tuned{20, COLUMNS == 3 ? 2 : 1, 3, false})
                        : !DOUBLE      ? Tuned{COLUMNS == 3 && ROWS > 3 ? 28 : 24, COLUMNS == 3 ? 2 : 1, 2, true}
                        : COLUMNS == 3 ? Tuned{ROWS == 3 && !Launch::OWN_SIDES ? 19 : 17, 2, 2, false}
                        : COLUMNS == 5 ? Tuned{ROWS == 7 ? 15 : 17, 1, 2, false}
                                       : Tuned{ROWS == 3 ? 13 : 11, 1, 2, false};
#endif
#ifdef STAR
// The fallback is rare.
constexpr int REGISTERS = 0;
#else
constexpr int REGISTERS = TUNED.registers;
#endif
// How many slots before its turn a column comes: more where that was measured to be faster.
constexpr int LEAD = REGISTERS > 0 ? 6 : images::WARPS == 4 && !DOUBLE && ROWS == 3 && COLUMNS == 3 ? 5 : 3;
// Whether a thread keeps a pointer for each piece that it copies, which saves instructions and takes registers: where that
// was measured to be faster.
#ifdef STAR
constexpr bool POINTERS = !DOUBLE && COLUMNS < 7;
#else
constexpr bool POINTERS = !DOUBLE && TUNED.ahead && (COLUMNS == 7 || (ROWS == 3 && COLUMNS == 5));
#endif
}  // namespace

// The filter, in column-major order.
__constant__ REAL F[ROWS * COLUMNS];

namespace {
template <bool IS_STAR>
struct FilterOf {
    // Whether entries are left out.
    static constexpr bool LEAVES_OUT = IS_STAR;

    // A column of samples for all outputs that it counts for, by the place of the column under their filters: the
    // oldest sums are finished.
    template <int COUNT, int SUMS, class Sample, class Emit>
    static __device__ __forceinline__ void apply(const Sample& sample, REAL (&sums)[SUMS][COUNT], const Emit& emit) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            if constexpr (COLUMNS == 1) {
                emit(i, chain(i, sample, REAL(0), 0));
            } else {
                emit(i, chain(i, sample, sums[0][i], COLUMNS - 1));
#pragma unroll
                for (int q = 1; q < COLUMNS - 1; ++q) sums[q - 1][i] = chain(i, sample, sums[q][i], COLUMNS - 1 - q);
                sums[COLUMNS - 2][i] = chain(i, sample, REAL(0), 0);
            }
        }
    }

    // A sum goes on over a column of the filter.
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
using StageOf = images::Warp<Launch, ROWS / 2, COLUMNS / 2, TUNED.points, TUNED.stages, TUNED.ahead, LEAD, POINTERS,
                             FilterOf<IS_STAR>>;
typedef StageOf<false> Stage;
}  // namespace

#ifdef STAR

// The last run in which a block saw special values.
__device__ unsigned int fallback_run;

namespace {
__device__ __forceinline__ bool needs_fallback(const Launch& launch) {
    return *const_cast<volatile unsigned int*>(&fallback_run) == launch.run;
}

// Whether a launch of the full kernel is a fallback that has nothing to do.
__device__ __forceinline__ bool is_idle_fallback(const Launch& launch) {
    follow_launch_before();
    return launch.run != 0 && !needs_fallback(launch);
}

// The sweeps by a kernel that leaves out zeros, unless the fallback does them.
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

extern "C" __global__ void __launch_bounds__(images::THREADS, TUNED.blocks) sweeps_images_star(Launch launch) {
    sweep_and_scan<StageOf<true>, 1>(launch);
}
extern "C" __global__ void __launch_bounds__(images::THREADS, TUNED.blocks) sweeps_images_star_aligned(Launch launch) {
    sweep_and_scan<StageOf<true>, 16 / sizeof(REAL)>(launch);
}

#endif

extern "C" __global__ void __launch_bounds__(images::THREADS, TUNED.blocks) sweeps_images(Launch launch) {
    if (!is_idle_fallback(launch)) images::sweep_images<Stage, 1>(launch);
}

// For images whose columns and strips begin and end at multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(images::threads_of(REGISTERS > 0), TUNED.blocks)
    sweeps_images_aligned(Launch launch) {
    if (!is_idle_fallback(launch)) images::sweep_images<Stage, 16 / sizeof(REAL), REGISTERS>(launch);
}

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int lane_points = TUNED.points;
extern "C" __constant__ unsigned int column_pitch = Stage::PITCH;
extern "C" __constant__ unsigned int slots_between = 1 + Stage::AHEAD;
extern "C" __constant__ unsigned int warp_sweeps = TUNED.stages;
extern "C" __constant__ unsigned int blocks_at_once = TUNED.blocks;
extern "C" __constant__ unsigned int block_warps = images::WARPS;
extern "C" __constant__ unsigned int columns_lead = LEAD;
extern "C" __constant__ unsigned int block_threads_aligned = images::threads_of(REGISTERS > 0);
