// Two sweeps of a 3 x 3 x 3 convolution over a volume in one launch, for chips of compute capability 9.0: see
// sweeps_volumes.cuh.
//
// Compiled for -DREAL=float and -DREAL=double, and with -DTAP_ROWS=1 for filters of 1 x 3 x 3.

#include "sweeps_volumes.cuh"

#ifndef TAP_ROWS
#define TAP_ROWS 3
#endif

namespace {
// The columns that a lane holds, the lanes of a strip, the warps of a sweep, and after how many columns the compiler's
// schedule is bounded: measured on an H200 among some three hundred.
constexpr bool DOUBLE = sizeof(REAL) == 8;
constexpr int COLUMNS = !DOUBLE ? 11 : TAP_ROWS == 3 ? 15 : 10;
constexpr int STRIP_LANES = DOUBLE ? 48 : 24;
constexpr int WARPS = 6;
constexpr int BOUND = DOUBLE ? 0 : 5;
}  // namespace

// The filter, in column-major order.
__constant__ REAL F[TAP_ROWS * 9];

namespace {
struct Filter {
    static __device__ __forceinline__ REAL tap(int page, int column, int row) {
        return F[(page * 3 + column) * TAP_ROWS + row];
    }
};

typedef volumes::Tile<REAL, STRIP_LANES, COLUMNS, WARPS, 16 / sizeof(REAL), BOUND, TAP_ROWS, Filter> AtOnce;
typedef volumes::Tile<REAL, STRIP_LANES, COLUMNS, WARPS, 1, BOUND, TAP_ROWS, Filter> OneByOne;
}  // namespace

// Where columns of the volume, and of what tiles write, begin and end at multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(AtOnce::THREADS, 1) sweeps_volumes_at_once(volumes::Launch<REAL> launch) {
    volumes::sweep_volumes<REAL, AtOnce>(launch);
}

extern "C" __global__ void __launch_bounds__(OneByOne::THREADS, 1) sweeps_volumes(volumes::Launch<REAL> launch) {
    volumes::sweep_volumes<REAL, OneByOne>(launch);
}

// What the host must know to launch them, told by the module itself.
extern "C" __constant__ unsigned int lane_rows = AtOnce::ROWS;
extern "C" __constant__ unsigned int lane_columns = COLUMNS;
extern "C" __constant__ unsigned int strip_lanes = STRIP_LANES;
extern "C" __constant__ unsigned int sweep_warps = WARPS;
extern "C" __constant__ unsigned int shared_bytes = AtOnce::ELEMENTS * sizeof(REAL);
extern "C" __constant__ unsigned int shared_bytes_one_by_one = OneByOne::ELEMENTS * sizeof(REAL);
