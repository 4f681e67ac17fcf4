// Many sweeps of two time levels in one launch: new = F * u + weight * older, and then older = u. F is a stencil of a
// few double taps along lines of neighbours.
//
// Compiled once for 3, 5, 7 and 9 taps (-DTAPS), each into a module of its own with its own copy of the taps.
//
// Long lines: a block holds a tile of a line in registers, POINTS neighbouring points a thread, at both levels. A sweep
// needs RADIUS points of the newest level on either side, which threads exchange through shared memory, and of the
// older one only the points themselves: each is needed for the last time by its successor. So the levels change their
// names and not their registers, two sweeps at a time. Tiles overlap by the points that the sweeps of a launch
// invalidate.
//
// Short lines: a block holds lines whole in shared memory, at both levels, with ghost cells at their ends. A thread
// whose point is also copied to a ghost cell, as its mirror image say, writes it to both places.

#include "boundary.cuh"
#include "chip.cuh"

#ifndef TAPS
#error "TAPS, the number of taps, must be given"
#endif

namespace {
constexpr int MAX_TAPS = 21;
constexpr int RADIUS = TAPS / 2;
// A block's share of a long line. POINTS is odd: neighbouring threads fall on different banks.
template <int THREADS_, int POINTS_>
struct Tile {
    static constexpr int THREADS = THREADS_;
    static constexpr int POINTS = POINTS_;
    static constexpr int SIZE = THREADS * POINTS;
    // The slots of all threads at one distance are adjacent: [2][2][RADIUS][THREADS], for two sweeps in turns the
    // points left of a thread's and those right of them. A level is loaded and stored in their place.
    static constexpr int SLOTS = RADIUS * THREADS;
    static constexpr int MEMORY = SIZE > 4 * SLOTS ? SIZE : 4 * SLOTS;
};

// For arrays that then still keep the chip busy, and for smaller ones.
using Large = Tile<256, 21>;
using Small = Tile<128, 11>;
// With 9 taps two blocks of large tiles hide each other's latency; with fewer, a single one with all registers is
// faster. Four blocks of small ones have the registers that all taps need.
constexpr int BLOCKS = TAPS >= 9 ? 2 : 1;
constexpr int SMALL_BLOCKS = 4;

// Maximum number of threads that share whole lines, and of points of a level with the lines' ghost cells.
constexpr int WHOLE_THREADS = 1024;
constexpr int WHOLE_POINTS = 2048;
}  // namespace

// The filter. It always has room for 21 entries; those beyond TAPS are not read.
__constant__ double kernelTaps[MAX_TAPS];

// One launch: a block for each tile of each line, tiles of a line being neighbours; or, if lines are whole, for each
// `tiles` lines.

namespace {
struct Place {
    int thread;
    bool at_begin;  // true if the tile's first point is the line's
    bool at_end;    // and its last
};

// Returns the ghost value beyond an end of the line, at a distance from it.
template <int POINTS>
__device__ __forceinline__ double outside(const EndsArgument& ends, const double (&points)[POINTS], int i,
                                          bool behind) {
    const unsigned int boundary = behind ? ends.boundary[1] : ends.boundary[0];
    if (boundary == CONSTANT) return behind ? ends.value[1] : ends.value[0];
    if (boundary == REPLICATE) return behind ? points[POINTS - 1] : points[0];
    if (boundary == MIRROR) return behind ? points[POINTS - 2 - i] : points[i + 1];
    return behind ? points[POINTS - 1 - i] : points[i];
}

// Applies the filter at a point, whose neighbour at a distance is sample (distance).
template <class Sample>
__device__ __forceinline__ double filtered(Sample sample) {
    double acc = 0.0;
#pragma unroll
    for (int k = 0; k < TAPS; ++k) acc = fma(sample(k - RADIUS), kernelTaps[k], acc);
    return acc;
}

// Does a sweep: the next level takes the place of the older one.
template <class Kind>
__device__ __forceinline__ void sweep(const LevelsArgument& launch, const Place& place, double* slots,
                                      const double (&newest)[Kind::POINTS], double (&older)[Kind::POINTS]) {
    constexpr int THREADS = Kind::THREADS;
    constexpr int POINTS = Kind::POINTS;
    double* const left_of = slots;
    double* const right_of = slots + Kind::SLOTS;
    const int thread = place.thread;
#pragma unroll
    for (int i = 0; i < RADIUS; ++i) {
        if (thread > 0) right_of[i * THREADS + thread - 1] = newest[i];
        if (thread < THREADS - 1) left_of[i * THREADS + thread + 1] = newest[POINTS - RADIUS + i];
    }
    // Beyond a cut of the tile the ghost values are arbitrary: they invalidate only the overlap.
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
    // Points that need no neighbour are computed before the barrier.
#pragma unroll
    for (int v = RADIUS; v < POINTS - RADIUS; ++v) {
        older[v] = fma(weight, older[v], filtered([&](int j) { return newest[v + j]; }));
    }
    __syncthreads();
    double before[RADIUS];
    double after[RADIUS];
#pragma unroll
    for (int i = 0; i < RADIUS; ++i) {
        before[i] = left_of[i * THREADS + thread];
        after[i] = right_of[i * THREADS + thread];
    }
    const auto advance = [&](int v) {
        older[v] = fma(weight, older[v], filtered([&](int j) {
                           const int i = v + j;
                           return i < 0 ? before[i + RADIUS] : i < POINTS ? newest[i] : after[i - POINTS];
                       }));
    };
#pragma unroll
    for (int v = 0; v < RADIUS; ++v) {
        advance(v);
        advance(POINTS - 1 - v);
    }
}

// Does all sweeps of a launch over a tile.
template <class Kind>
__device__ __forceinline__ void sweep_tile(const LevelsArgument& launch) {
    constexpr int THREADS = Kind::THREADS;
    constexpr int POINTS = Kind::POINTS;
    constexpr int TILE = Kind::SIZE;
    __shared__ double memory[Kind::MEMORY];
    const int thread = threadIdx.x;
    const unsigned int line = blockIdx.x / launch.tiles;
    const unsigned int tile = blockIdx.x - line * launch.tiles;
    const long long length = launch.length;
    const bool circular = launch.ends.circular();

    // Begin of the tile in its line, and the range of its points that it computes correctly and no tile before it does:
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
        sweep<Kind>(launch, place, memory, newest, older);
        sweep<Kind>(launch, place, memory + 2 * Kind::SLOTS, older, newest);
    }
    const bool odd = done < launch.sweeps;
    if (odd) sweep<Kind>(launch, place, memory, newest, older);

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

// Returns the place of the ghost cell beyond this end that copies a point of a line of more than RADIUS points, counted
// from the line's first point: the lowest place, or 0 for none. With REPLICATE there are RADIUS of them.
__device__ __forceinline__ int beyond(const EndsArgument& ends, int end, int length, int j) {
    const unsigned int boundary = ends.boundary[end];
    const int at = end == 0 ? j : length - 1 - j;
    int out = 0;
    if (boundary == REPLICATE && at == 0) out = end == 0 ? RADIUS : 1;
    if (boundary == SYMMETRIC && at < RADIUS) out = at + 1;
    if (boundary == MIRROR && at <= RADIUS) out = at;
    if (boundary == CIRCULAR && at >= length - RADIUS) out = length - at;
    return out == 0 ? 0 : end == 0 ? -out : length - 1 + out;
}
}  // namespace

extern "C" __global__ void __launch_bounds__(Large::THREADS, BLOCKS) levels_large(LevelsArgument launch) {
    sweep_tile<Large>(launch);
}

extern "C" __global__ void __launch_bounds__(Small::THREADS, SMALL_BLOCKS) levels_small(LevelsArgument launch) {
    sweep_tile<Small>(launch);
}

extern "C" __global__ void __launch_bounds__(WHOLE_THREADS) levels_whole(LevelsArgument launch) {
    constexpr int MOST = WHOLE_POINTS / WHOLE_THREADS;
    __shared__ double memory[2][WHOLE_POINTS];
    const int thread = threadIdx.x;
    const int threads = blockDim.x;
    const int length = (int)launch.length;
    const int pitch = length + 2 * RADIUS;
    const unsigned long long first = (unsigned long long)blockIdx.x * launch.tiles;
    const unsigned long long left = launch.lines - first;
    const int lines = left < launch.tiles ? (int)left : (int)launch.tiles;
    const int points = lines * length;
    const unsigned long long element = first * launch.length + thread;

    // Constants do not change.
    for (int i = thread; i < lines * RADIUS; i += threads) {
        const int at = i / RADIUS * pitch + i % RADIUS;
#pragma unroll
        for (int end = 0; end < 2; ++end) {
            if (launch.ends.boundary[end] == CONSTANT) {
                memory[0][at + end * (RADIUS + length)] = launch.ends.value[end];
                memory[1][at + end * (RADIUS + length)] = launch.ends.value[end];
            }
        }
    }
    // Places of this thread's points, and of their ghost cells beyond either end; 0 for none.
    int place[MOST];
    int shown[MOST][2];
#pragma unroll
    for (int i = 0; i < MOST; ++i) {
        const int at = i * threads + thread;
        const int line = at / length;
        const int j = at - line * length;
        place[i] = at < points ? line * pitch + RADIUS + j : 0;
#pragma unroll
        for (int end = 0; end < 2; ++end) {
            const int out = beyond(launch.ends, end, length, j);
            shown[i][end] = out == 0 ? -1 : place[i] - j + out;
        }
    }
    const auto put = [&](double* level, int i, double point) {
        level[place[i]] = point;
#pragma unroll
        for (int end = 0; end < 2; ++end) {
            if (shown[i][end] >= 0) {
                level[shown[i][end]] = point;
                if (launch.ends.boundary[end] == REPLICATE) {
#pragma unroll
                    for (int k = 1; k < RADIUS; ++k) level[shown[i][end] + k] = point;
                }
            }
        }
    };
#pragma unroll
    for (int i = 0; i < MOST; ++i) {
        if (place[i] > 0) {
            put(memory[0], i, launch.input[element + i * threads]);
            memory[1][place[i]] = launch.older[element + i * threads];
        }
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned int done = 0; done < launch.sweeps; ++done) {
        const double* const newest = memory[done % 2];
        double* const older = memory[1 - done % 2];
        double next[MOST];
#pragma unroll
        for (int i = 0; i < MOST; ++i) {
            if (place[i] > 0) {
                const double chain = filtered([&](int j) { return newest[place[i] + j]; });
                next[i] = fma(launch.weight, older[place[i]], chain);
            }
        }
#pragma unroll
        for (int i = 0; i < MOST; ++i) {
            if (place[i] > 0) put(older, i, next[i]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < MOST; ++i) {
        if (place[i] > 0) {
            launch.output[element + i * threads] = memory[launch.sweeps % 2][place[i]];
            launch.older_output[element + i * threads] = memory[1 - launch.sweeps % 2][place[i]];
        }
    }
}

// Constants of the module that the host needs for a launch.
extern "C" __constant__ unsigned int levels_large_threads = Large::THREADS;
extern "C" __constant__ unsigned int levels_large_points = Large::SIZE;
extern "C" __constant__ unsigned int levels_small_threads = Small::THREADS;
extern "C" __constant__ unsigned int levels_small_points = Small::SIZE;
extern "C" __constant__ unsigned int levels_whole_threads = WHOLE_THREADS;
extern "C" __constant__ unsigned int levels_whole_points = WHOLE_POINTS;
