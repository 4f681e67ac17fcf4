// Two sweeps of a 3 x 3 x 3 convolution over a volume in one launch, for chips of compute capability 9.0: see
// sweeps_volumes.cuh.
//
// Compiled for -DREAL=float and -DREAL=double, and with -DTAP_ROWS=1 for filters of 1 x 3 x 3. -DWITH_BOXES=1 says that there
// is a kernel for samples that come in boxes, too: in double, and with one row of taps, it is slower.

#include "sweeps_volumes.cuh"

#ifndef TAP_ROWS
#define TAP_ROWS 3
#endif

namespace {
// The columns that a lane holds, the lanes of a strip, the warps of a sweep, and after which columns a block of
// instructions ends, a bit for each: measured on an H200 among some four hundred.
constexpr bool DOUBLE = sizeof(REAL) == 8;
constexpr int COLUMNS = !DOUBLE ? 11 : TAP_ROWS == 3 ? 15 : 10;
constexpr int DOWN = DOUBLE ? 48 : 24;
constexpr int WARPS = 6;
constexpr unsigned int CUTS = DOUBLE ? 0 : 1u << 4 | 1u << 9;
#ifdef WITH_BOXES
constexpr unsigned int CUTS_OF_BOXES = 1u << 4;
#endif
}  // namespace

// The filter, in column-major order.
__constant__ REAL F[TAP_ROWS * 9];

namespace {
struct Filter {
    static __device__ __forceinline__ REAL tap(int page, int column, int row) {
        return F[(page * 3 + column) * TAP_ROWS + row];
    }
};

constexpr int ROWS = 16 / sizeof(REAL);
typedef volumes::Tile<REAL, DOWN, COLUMNS, WARPS, ROWS, CUTS, false, TAP_ROWS, Filter> AtOnce;
typedef volumes::Tile<REAL, DOWN, COLUMNS, WARPS, 1, CUTS, false, TAP_ROWS, Filter> OneByOne;
#ifdef WITH_BOXES
typedef volumes::Tile<REAL, DOWN, COLUMNS, WARPS, ROWS, CUTS_OF_BOXES, true, TAP_ROWS, Filter> InBoxes;
#endif
}  // namespace

#ifdef WITH_BOXES
// Where, beside what is said of the next, neither rows nor columns go round.
extern "C" __global__ void __launch_bounds__(InBoxes::THREADS, 1) sweeps_volumes_in_boxes(
    const __grid_constant__ volumes::Launch<REAL> launch) {
    volumes::sweep_volumes<REAL, InBoxes>(launch);
}

extern "C" __constant__ unsigned int shared_bytes_in_boxes = InBoxes::ELEMENTS * sizeof(REAL);
#endif

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
extern "C" __constant__ unsigned int strip_lanes = DOWN;
extern "C" __constant__ unsigned int sweep_warps = WARPS;
extern "C" __constant__ unsigned int shared_bytes = AtOnce::ELEMENTS * sizeof(REAL);
extern "C" __constant__ unsigned int shared_bytes_one_by_one = OneByOne::ELEMENTS * sizeof(REAL);
