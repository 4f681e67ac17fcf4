// Two sweeps of a 3 x 3 x 3 convolution over a volume in one launch, for chips of compute capability 9.0: see
// sweeps_volumes.cuh.
//
// Compiled for -DREAL=float and -DREAL=double.

#include "sweeps_volumes.cuh"

namespace {
// The rows and columns that a lane holds, how many warps lie side by side, and how many columns of results are written
// together, where 16 bytes are written at a time. Measured on an H200 among some ten, but for what leaves more of these
// in registers: registers that spill cost most. An odd number of rows is read
// from shared memory without conflicts.
constexpr bool DOUBLE = sizeof(REAL) == 8;
constexpr int ROWS = 3;
constexpr int COLUMNS = DOUBLE ? 8 : 10;
constexpr int WARPS = DOUBLE ? 6 : 8;
constexpr int GROUP = DOUBLE ? 1 : 4;
}  // namespace

// The filter, in column-major order.
__constant__ REAL F[27];

namespace {
struct Filter {
    static __device__ __forceinline__ REAL tap(int page, int column, int row) {
        return F[(page * 3 + column) * 3 + row];
    }
};

typedef volumes::Tile<REAL, ROWS, COLUMNS, WARPS, 16 / sizeof(REAL), GROUP, Filter> AtOnce;
typedef volumes::Tile<REAL, ROWS, COLUMNS, WARPS, 1, 1, Filter> OneByOne;
}  // namespace

// Where columns of the volume, and of what tiles write, begin and end at multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(AtOnce::THREADS, 1) sweeps_volumes_at_once(volumes::Launch<REAL> launch) {
    volumes::sweep_volumes<REAL, AtOnce>(launch);
}

extern "C" __global__ void __launch_bounds__(OneByOne::THREADS, 1) sweeps_volumes(volumes::Launch<REAL> launch) {
    volumes::sweep_volumes<REAL, OneByOne>(launch);
}

// What the host must know to launch them, told by the module itself.
extern "C" __constant__ unsigned int lane_rows = ROWS;
extern "C" __constant__ unsigned int lane_columns = COLUMNS;
extern "C" __constant__ unsigned int sweep_warps = WARPS;
extern "C" __constant__ unsigned int shared_bytes = AtOnce::ELEMENTS * sizeof(REAL);
extern "C" __constant__ unsigned int shared_bytes_one_by_one = OneByOne::ELEMENTS * sizeof(REAL);
