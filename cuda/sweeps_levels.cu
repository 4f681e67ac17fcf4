// Many sweeps of two time levels in one launch: new = F * u + weight * older, and then older = u. F is a stencil of a few
// double taps along lines of neighbours that are longer than a tile.
//
// Compiled once for 3, 5, 7 and 9 taps (-DTAPS), each into a module of its own with its own copy of the taps. One H200,
// 10^7 points, 128 sweeps a launch with 3 and 5 taps, 96 and 64 with 7 and 9: 3,202, 2,056, 1,567 and 1,239 G updates/s.
//
// A block holds a tile of a line in registers, POINTS neighbouring points a thread, at both levels. A sweep needs RADIUS
// points of the newest level on either side, which threads leave for each other in shared memory, and nothing of the
// older one but the points themselves: each is needed for the last time by what takes its place. So the levels change
// their names and not their registers, two sweeps at a time. Tiles overlap by what the sweeps of a launch spoil.

#include "boundary.cuh"
#include "chip.cuh"

#ifndef TAPS
#error "TAPS, the number of taps, must be given"
#endif

namespace {
constexpr int MAX_TAPS = 21;
constexpr int RADIUS = TAPS / 2;
constexpr int THREADS = 256;
// Odd: neighbouring threads fall on different banks.
constexpr int POINTS = 21;
constexpr int TILE = THREADS * POINTS;
// With 9 taps two blocks hide what one waits for; with fewer, one that has the registers is faster.
constexpr int BLOCKS = TAPS >= 9 ? 2 : 1;
}  // namespace

// The filter. All 21 entries are there whatever TAPS is; those beyond it are not read.
__constant__ double kernelTaps[MAX_TAPS];

// One launch, of a block for each tile of each line: those of a line are neighbours.
struct Levels {
    const double* input;  // the newest level, and the one before it
    const double* older;
    double* output;  // other arrays for both
    double* older_output;
    unsigned long long length;  // of a line, which is longer than a tile
    double weight;
    Ends ends;            // what stands beyond those of a line, in every sweep
    unsigned int sweeps;  // at least 1
    unsigned int tiles;   // of a line
};

namespace {
// The slots of all threads at one distance lie beside each other: [2][2][RADIUS][THREADS], for two sweeps in turns what
// lies left of a thread's points and what lies right of them.
constexpr int SLOTS = RADIUS * THREADS;
constexpr int MEMORY = TILE > 4 * SLOTS ? TILE : 4 * SLOTS;

struct Place {
    int thread;
    bool at_begin;  // whether the tile's first point is the line's
    bool at_end;    // and its last
};

// What stands beyond an end of the line, at a distance from it.
__device__ __forceinline__ double outside(const Ends& ends, const double (&points)[POINTS], int i, bool behind) {
    const unsigned int boundary = behind ? ends.boundary[1] : ends.boundary[0];
    if (boundary == CONSTANT) return behind ? ends.value[1] : ends.value[0];
    if (boundary == REPLICATE) return behind ? points[POINTS - 1] : points[0];
    if (boundary == MIRROR) return behind ? points[POINTS - 2 - i] : points[i + 1];
    return behind ? points[POINTS - 1 - i] : points[i];
}

// The next level at a point, in the place of the older one. sample (j) is the newest one at a point of this thread.
template <class Sample>
__device__ __forceinline__ void advance(double weight, int v, Sample sample, double (&older)[POINTS]) {
    double acc = 0.0;
#pragma unroll
    for (int k = 0; k < TAPS; ++k) acc = fma(sample(v + k - RADIUS), kernelTaps[k], acc);
    older[v] = fma(weight, older[v], acc);
}

// A sweep: the next level takes the place of the older one.
__device__ __forceinline__ void sweep(const Levels& launch, const Place& place, double* slots,
                                      const double (&newest)[POINTS], double (&older)[POINTS]) {
    double* const left_of = slots;
    double* const right_of = slots + SLOTS;
    const int thread = place.thread;
#pragma unroll
    for (int i = 0; i < RADIUS; ++i) {
        if (thread > 0) right_of[i * THREADS + thread - 1] = newest[i];
        if (thread < THREADS - 1) left_of[i * THREADS + thread + 1] = newest[POINTS - RADIUS + i];
    }
    // What is outside where the tile was cut off is anything: it spoils what overlaps.
    if (thread == 0) {
#pragma unroll
        for (int i = 0; i < RADIUS; ++i) {
            left_of[(RADIUS - 1 - i) * THREADS] = place.at_begin ? outside(launch.ends, newest, i, false) : 0.0;
        }
    }
    if (thread == THREADS - 1) {
#pragma unroll
        for (int i = 0; i < RADIUS; ++i) {
            right_of[i * THREADS + thread] = place.at_end ? outside(launch.ends, newest, i, true) : 0.0;
        }
    }
    const double weight = launch.weight;
    // What needs no neighbour is computed ahead of the barrier.
#pragma unroll
    for (int v = RADIUS; v < POINTS - RADIUS; ++v) {
        advance(weight, v, [&](int j) { return newest[j]; }, older);
    }
    __syncthreads();
    double before[RADIUS];
    double after[RADIUS];
#pragma unroll
    for (int i = 0; i < RADIUS; ++i) {
        before[i] = left_of[i * THREADS + thread];
        after[i] = right_of[i * THREADS + thread];
    }
    const auto sample = [&](int j) {
        return j < 0 ? before[j + RADIUS] : j < POINTS ? newest[j] : after[j - POINTS];
    };
#pragma unroll
    for (int v = 0; v < RADIUS; ++v) {
        advance(weight, v, sample, older);
        advance(weight, POINTS - 1 - v, sample, older);
    }
}
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) sweeps_levels(Levels launch) {
    __shared__ double memory[MEMORY];
    const int thread = threadIdx.x;
    const unsigned int line = blockIdx.x / launch.tiles;
    const unsigned int tile = blockIdx.x - line * launch.tiles;
    const long long length = launch.length;
    const bool circular = launch.ends.circular();

    // Where the tile begins in its line, and which of its points it computes rightly that no tile before it does:
    // [from, to).
    const int loss = RADIUS * (int)launch.sweeps;
    const int step = TILE - 2 * loss;
    const bool final = tile == launch.tiles - 1;
    long long begin;
    int from;
    int to;
    if (circular) {
        begin = (long long)tile * step - loss;
        from = loss;
        to = final ? (int)(length - begin) : TILE - loss;
    } else {
        begin = final ? length - TILE : (long long)tile * step;
        from = tile == 0 ? 0 : (int)((long long)(tile - 1) * step + (TILE - loss) - begin);
        to = final ? TILE : TILE - loss;
    }
    const Place place = {thread, !circular && tile == 0, !circular && final};

    // Points beyond an end of a circular line are a length away.
    const long long ahead = begin < 0 ? length : 0;
    const long long left = length - begin - ahead;
    const int wrap = circular && left < TILE ? (int)left : TILE;
    const long long start = (long long)line * length + begin + ahead + thread;
    double newest[POINTS];
    double older[POINTS];
    const auto load = [&](const double* input, double(&points)[POINTS]) {
        const double* const at_start = input + start;
#pragma unroll
        for (int v = 0; v < POINTS; ++v) {
            const int at = v * THREADS + thread;
            memory[at] = (at < wrap ? at_start : at_start - length)[v * THREADS];
        }
        __syncthreads();
#pragma unroll
        for (int v = 0; v < POINTS; ++v) points[v] = memory[thread * POINTS + v];
        __syncthreads();
    };
    load(launch.input, newest);
    load(launch.older, older);

    unsigned int done = 0;
#pragma unroll 1
    for (; done + 2 <= launch.sweeps; done += 2) {
        sweep(launch, place, memory, newest, older);
        sweep(launch, place, memory + 2 * SLOTS, older, newest);
    }
    const bool odd = done < launch.sweeps;
    if (odd) sweep(launch, place, memory, newest, older);

    const auto store = [&](const double(&points)[POINTS], double* output) {
        __syncthreads();
#pragma unroll
        for (int v = 0; v < POINTS; ++v) memory[thread * POINTS + v] = points[v];
        __syncthreads();
        double* const at_start = output + (long long)line * length + begin + thread;
        const unsigned int count = to - from;
#pragma unroll
        for (int v = 0; v < POINTS; ++v) {
            const int at = v * THREADS + thread;
            if ((unsigned int)(at - from) < count) at_start[v * THREADS] = memory[at];
        }
    };
    store(newest, odd ? launch.older_output : launch.output);
    store(older, odd ? launch.output : launch.older_output);
}

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int levels_threads = THREADS;
extern "C" __constant__ unsigned int levels_tile = TILE;
