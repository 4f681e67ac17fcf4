// The kernel of a module that sweeps, for its own REAL, RADIUS and Operator, and its constants for the host.
//
// One kernel a module (-DKERNEL=LONG, ..): the driver compiles a module on first use, and few arrays need more than one
// of them.
#pragma once

#include "sweeps/sweeps.cuh"

#define LONG 1
#define WHOLE 2
#define SMALL 3
#define ROWS 4
#define SHORT 5

#if KERNEL == SHORT
// For lines of fewer than twice the points of the others.
constexpr int THREADS = 256;
constexpr int PLANES = 8;
#else
struct Policy {
    static constexpr int THREADS = 128;
    // Samples in single take half as many registers as in double.
    static constexpr bool SINGLE = sizeof(REAL) == sizeof(float);
#if KERNEL == LONG
    // inner == 1, lines longer than a tile: many points a thread, so that barriers and redundant work at overlaps are a
    // small part.
    static constexpr int POINTS = SINGLE ? 33 : RADIUS == 1 ? 45 : 37;
    static constexpr int BLOCKS = SINGLE ? 7 : 3;  // a multiprocessor, at least: it bounds the registers
    static constexpr Lines LINES = Lines::Tiled;
    static constexpr bool CONTIGUOUS = true;
    static constexpr bool EARLY = false;
#elif KERNEL == WHOLE
    // inner == 1, lines that fit a tile.
    static constexpr int POINTS = SINGLE ? 33 : 25;
    static constexpr int BLOCKS = SINGLE ? 7 : 5;
    static constexpr Lines LINES = Lines::Whole;
    static constexpr bool CONTIGUOUS = true;
    static constexpr bool EARLY = false;
#elif KERNEL == SMALL
    // inner == 1, any lines, few points in all or one sweep: the maximum number of threads. No fewer points, for 21
    // taps.
    static constexpr int POINTS = 11;
    static constexpr int BLOCKS = SINGLE ? 10 : 6;
    static constexpr Lines LINES = Lines::Any;
    static constexpr bool CONTIGUOUS = true;
    static constexpr bool EARLY = true;
#elif KERNEL == ROWS
    // inner > 1. With 8 abreast a tile takes lines of up to 512 whole.
    static constexpr int POINTS = 32;
    static constexpr int BLOCKS = SINGLE ? 7 : 4;
    static constexpr Lines LINES = Lines::Any;
    static constexpr bool CONTIGUOUS = false;
    static constexpr bool EARLY = true;
#else
#error "KERNEL, which of the kernels, must be given"
#endif
};
#endif

#if KERNEL == SHORT
extern "C" __global__ void __launch_bounds__(THREADS) sweeps(SweepsArgument<REAL> launch) {
    sweep_short_lines<REAL, THREADS, PLANES, RADIUS, Operator>(launch);
}

extern "C" __constant__ unsigned int sweeps_planes = PLANES;
extern "C" __constant__ unsigned int sweeps_threads = THREADS;
#else
extern "C" __global__ void __launch_bounds__(Policy::THREADS, Policy::BLOCKS) sweeps(SweepsArgument<REAL> launch) {
    sweep_lines<REAL, RADIUS, Policy, Operator>(launch);
}

extern "C" __constant__ unsigned int sweeps_points = Policy::POINTS;
extern "C" __constant__ unsigned int sweeps_threads = Policy::THREADS;
#endif
