#pragma once
#ifdef TUNE
extern "C" __global__ void __launch_bounds__(L_T, L_B) tuned(Sweeps<REAL> launch) {
    sweep_tiles<REAL, L_T, L_V, RADIUS, TUNE == 0, L_E, Correlation>(launch);
}
#else
#ifndef L_E
#define L_E false
#endif
#ifndef L_T
#define L_T 128
#define L_V 31
#define L_B 4
#define S_T 128
#define S_V 11
#define S_B 4
#define R_T 128
#define R_V 32
#define R_B 4
#endif
extern "C" __global__ void __launch_bounds__(L_T, L_B) sweeps_long(Sweeps<REAL> launch) {
    sweep_tiles<REAL, L_T, L_V, RADIUS, true, L_E, Correlation>(launch);
}
extern "C" __global__ void __launch_bounds__(S_T, S_B) sweeps_small(Sweeps<REAL> launch) {
    sweep_tiles<REAL, S_T, S_V, RADIUS, true, L_E, Correlation>(launch);
}
extern "C" __global__ void __launch_bounds__(R_T, R_B) sweeps_rows(Sweeps<REAL> launch) {
    sweep_tiles<REAL, R_T, R_V, RADIUS, false, L_E, Correlation>(launch);
}
extern "C" __global__ void __launch_bounds__(256) sweeps_short(Sweeps<REAL> launch) {
    sweep_short_lines<REAL, 256, 2560, RADIUS, Correlation>(launch);
}
extern "C" __constant__ unsigned int long_threads = L_T;
extern "C" __constant__ unsigned int long_points = L_V;
extern "C" __constant__ unsigned int small_threads = S_T;
extern "C" __constant__ unsigned int small_points = S_V;
extern "C" __constant__ unsigned int rows_threads = R_T;
extern "C" __constant__ unsigned int rows_points = R_V;
extern "C" __constant__ unsigned int short_threads = 256;
extern "C" __constant__ unsigned int short_capacity = 2560;
#endif
