// Two sweeps of a 3 x 3 x 3 convolution over a volume in one launch, for chips of compute capability 9.0: see
// sweeps/volumes/volumes.cuh.
//
// Compiled for -DREAL=float and -DREAL=double, and with -DTAP_ROWS=1 for filters of 1 x 3 x 3. The other definitions of
// modules.txt were measured on an H200 among some three hundred: LANE_COLUMNS, the columns that a lane holds;
// LANES_DOWN, the lanes of a strip; SWEEP_WARPS, the warps of a sweep; BOUND_COLUMNS, the number of columns after which
// the compiler's schedule is bounded.

#include "sweeps/volumes/volumes.cuh"

#ifndef TAP_ROWS
#define TAP_ROWS 3
#endif
#ifndef BOUND_COLUMNS
#define BOUND_COLUMNS 0
#endif

// The filter, in column-major order.
__constant__ REAL F[TAP_ROWS * 9];

namespace {
struct Filter {
    static __device__ __forceinline__ REAL tap(int page, int column, int row) {
        return F[(page * 3 + column) * TAP_ROWS + row];
    }
};

typedef volumes::Tile<REAL, LANES_DOWN, LANE_COLUMNS, SWEEP_WARPS, 16 / sizeof(REAL), BOUND_COLUMNS, TAP_ROWS, Filter>
    AtOnce;
typedef volumes::Tile<REAL, LANES_DOWN, LANE_COLUMNS, SWEEP_WARPS, 1, BOUND_COLUMNS, TAP_ROWS, Filter> OneByOne;
}  // namespace

// For columns of the volume, and outputs of tiles, that begin and end at multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(AtOnce::THREADS, 1) sweeps_volumes_at_once(VolumesArgument<REAL> launch) {
    volumes::sweep_volumes<REAL, AtOnce>(launch);
}

extern "C" __global__ void __launch_bounds__(OneByOne::THREADS, 1) sweeps_volumes(VolumesArgument<REAL> launch) {
    volumes::sweep_volumes<REAL, OneByOne>(launch);
}

// Constants of the module that the host needs for a launch.
extern "C" __constant__ unsigned int lane_rows = AtOnce::ROWS;
extern "C" __constant__ unsigned int lane_columns = LANE_COLUMNS;
extern "C" __constant__ unsigned int strip_lanes = LANES_DOWN;
extern "C" __constant__ unsigned int sweep_warps = SWEEP_WARPS;
extern "C" __constant__ unsigned int shared_bytes = AtOnce::ELEMENTS * sizeof(REAL);
extern "C" __constant__ unsigned int shared_bytes_one_by_one = OneByOne::ELEMENTS * sizeof(REAL);
