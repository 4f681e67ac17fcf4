// Two sweeps of a 3 x 3 x 3 convolution over a volume of singles in one launch, for chips of compute capability 9.0: see
// sweeps_volumes_boxes.cuh.
//
// Compiled for -DREAL=float, and with -DTAP_ROWS=1 for filters of 1 x 3 x 3.

#include "sweeps_volumes_boxes.cuh"

#ifndef TAP_ROWS
#define TAP_ROWS 3
#endif

namespace {
// The columns that a lane holds, the lanes of a strip, and the warps of a sweep: as of the other kernel.
constexpr int COLUMNS = 11;
constexpr int DOWN = 24;
constexpr int WARPS = 6;
}  // namespace

// The filter, in column-major order.
__constant__ REAL F[TAP_ROWS * 9];

namespace {
struct Filter {
    static __device__ __forceinline__ REAL tap(int page, int column, int row) {
        return F[(page * 3 + column) * TAP_ROWS + row];
    }
};

typedef volumes::Tile<REAL, DOWN, COLUMNS, WARPS, 16 / sizeof(REAL), 0, TAP_ROWS, Filter> Tile;
typedef volumes::Boxes<REAL, Tile> Boxes;
}  // namespace

extern "C" __global__ void __launch_bounds__(Boxes::ALL, 1)
    sweeps_volumes_in_boxes(const __grid_constant__ volumes::BoxLaunch<REAL> launch) {
    volumes::sweep_volumes_in_boxes<REAL, Tile>(launch);
}

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int lane_rows = Tile::ROWS;
extern "C" __constant__ unsigned int lane_columns = COLUMNS;
extern "C" __constant__ unsigned int strip_lanes = DOWN;
extern "C" __constant__ unsigned int sweep_warps = WARPS;
extern "C" __constant__ unsigned int block_threads = Boxes::ALL;
extern "C" __constant__ unsigned int shared_bytes_in_boxes = Boxes::ELEMENTS * sizeof(REAL);
