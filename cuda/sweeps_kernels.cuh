// The kernels of a module that sweeps, for its own REAL, RADIUS and Operator, and what the host must know to launch them.
#pragma once

#include "sweeps.cuh"

#ifdef TUNE
extern "C" __global__ void __launch_bounds__(L_T, L_B) tuned(Sweeps<REAL> launch) {
    sweep_tiles<REAL, L_T, L_V, RADIUS, Lines::L_M, TUNE == 0, L_E, Operator>(launch);
}
#else

namespace {
// Long lines with inner == 1: many points a thread, for the barriers and what the overlaps compute twice to be a small part.
constexpr int LONG_THREADS = 128;
constexpr int LONG_POINTS = 37;
constexpr int WHOLE_THREADS = 128;
constexpr int WHOLE_POINTS = 25;
// The same for few points: as many threads as there can be.
constexpr int SMALL_THREADS = 128;
constexpr int SMALL_POINTS = 11;
// inner > 1. A line of 512 fits 16 segments, next to 8 lanes.
constexpr int ROWS_THREADS = 128;
constexpr int ROWS_POINTS = 32;
// Lines of fewer than twice the points of the others.
constexpr int SHORT_THREADS = 256;
constexpr int SHORT_CAPACITY = 2560;
}  // namespace

#if !defined(ONLY) || ONLY == 0
extern "C" __global__ void __launch_bounds__(LONG_THREADS, 3) sweeps_long(Sweeps<REAL> launch) {
    sweep_tiles<REAL, LONG_THREADS, LONG_POINTS, RADIUS, Lines::TILED, true, false, Operator>(launch);
}
#endif

#if !defined(ONLY) || ONLY == 4
extern "C" __global__ void __launch_bounds__(WHOLE_THREADS, 4) sweeps_whole(Sweeps<REAL> launch) {
    sweep_tiles<REAL, WHOLE_THREADS, WHOLE_POINTS, RADIUS, Lines::WHOLE, true, true, Operator>(launch);
}
#endif

#if !defined(ONLY) || ONLY == 1
extern "C" __global__ void __launch_bounds__(SMALL_THREADS, 6) sweeps_small(Sweeps<REAL> launch) {
    sweep_tiles<REAL, SMALL_THREADS, SMALL_POINTS, RADIUS, Lines::ANY, true, true, Operator>(launch);
}
#endif

#if !defined(ONLY) || ONLY == 2
extern "C" __global__ void __launch_bounds__(ROWS_THREADS, 4) sweeps_rows(Sweeps<REAL> launch) {
    sweep_tiles<REAL, ROWS_THREADS, ROWS_POINTS, RADIUS, Lines::ANY, false, true, Operator>(launch);
}
#endif

#if !defined(ONLY) || ONLY == 3
extern "C" __global__ void __launch_bounds__(SHORT_THREADS) sweeps_short(Sweeps<REAL> launch) {
    sweep_short_lines<REAL, SHORT_THREADS, SHORT_CAPACITY, RADIUS, Operator>(launch);
}
#endif

extern "C" __constant__ unsigned int sweeps_long_threads = LONG_THREADS;
extern "C" __constant__ unsigned int sweeps_long_points = LONG_POINTS;
extern "C" __constant__ unsigned int sweeps_small_threads = SMALL_THREADS;
extern "C" __constant__ unsigned int sweeps_small_points = SMALL_POINTS;
extern "C" __constant__ unsigned int sweeps_rows_threads = ROWS_THREADS;
extern "C" __constant__ unsigned int sweeps_rows_points = ROWS_POINTS;
extern "C" __constant__ unsigned int sweeps_short_threads = SHORT_THREADS;
extern "C" __constant__ unsigned int sweeps_short_capacity = SHORT_CAPACITY;
#endif
