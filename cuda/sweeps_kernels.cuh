// The kernel of a module that sweeps, for its own REAL, RADIUS and Operator, and what the host must know to launch it.
//
// One kernel a module (-DKERNEL=LONG, ..): the driver compiles a module when it is first used, and few arrays need more
// than one of them.
#pragma once

#include "sweeps.cuh"

#define LONG 1
#define WHOLE 2
#define SMALL 3
#define ROWS 4
#define SHORT 5

#if KERNEL == LONG
// inner == 1, lines longer than a tile: many points a thread, for the barriers and what the overlaps compute twice to
// be a small part.
constexpr int THREADS = 128;
constexpr int POINTS = RADIUS == 1 ? 45 : 37;
constexpr int BLOCKS = 3;  // a multiprocessor, at least: it bounds the registers
constexpr Lines LINES = Lines::Tiled;
constexpr bool CONTIGUOUS = true;
constexpr bool EARLY = false;
#elif KERNEL == WHOLE
// inner == 1, lines that fit a tile.
constexpr int THREADS = 128;
constexpr int POINTS = 25;
constexpr int BLOCKS = 5;
constexpr Lines LINES = Lines::Whole;
constexpr bool CONTIGUOUS = true;
constexpr bool EARLY = false;
#elif KERNEL == SMALL
// inner == 1, any lines, few points in all or one sweep: as many threads as there can be. No fewer points, for 21 taps.
constexpr int THREADS = 128;
constexpr int POINTS = 11;
constexpr int BLOCKS = 6;
constexpr Lines LINES = Lines::Any;
constexpr bool CONTIGUOUS = true;
constexpr bool EARLY = true;
#elif KERNEL == ROWS
// inner > 1. With 8 abreast a tile takes lines of up to 512 whole.
constexpr int THREADS = 128;
constexpr int POINTS = 32;
constexpr int BLOCKS = 4;
constexpr Lines LINES = Lines::Any;
constexpr bool CONTIGUOUS = false;
constexpr bool EARLY = true;
#elif KERNEL == SHORT
// Lines of fewer than twice the points of the others.
constexpr int THREADS = 256;
constexpr int CAPACITY = 2560;
#else
#error "KERNEL, which of the kernels, must be given"
#endif

#if KERNEL == SHORT
extern "C" __global__ void __launch_bounds__(THREADS) sweeps(Sweeps<REAL> launch) {
    sweep_short_lines<REAL, THREADS, CAPACITY, RADIUS, Operator>(launch);
}

extern "C" __constant__ unsigned int sweeps_capacity = CAPACITY;
#else
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) sweeps(Sweeps<REAL> launch) {
    sweep_tiles<REAL, THREADS, POINTS, RADIUS, LINES, CONTIGUOUS, EARLY, Operator>(launch);
}

extern "C" __constant__ unsigned int sweeps_points = POINTS;
#endif

extern "C" __constant__ unsigned int sweeps_threads = THREADS;
