// Many sweeps of the stencil of StencilConstantMemory_CUDA along long lines, in one launch, on the tensor cores of chips
// of compute capability 9.0: see sweeps_tensor.cuh.
//
// Compiled for 13, 17, 19 and 21 taps (-DTAPS), each into a module of its own. Fewer do better without, and so do 15, of
// which each takes as many multiplications as one of 21.

#ifndef TAPS
#error "TAPS, the number of taps, must be given"
#endif

// The filter. All 21 entries are there whatever TAPS is; those beyond it are not read.
__constant__ double kernelTaps[21];

#include "sweeps_tensor.cuh"

namespace {
// Sweeps of a launch, warps of a block, and chunks of a warp's ring. Measured on an H200 among some.
#ifndef TUNED
#if TAPS >= 15
#define TUNED 6, 8, 4
#else
#define TUNED 8, 8, 4
#endif
#endif
using Tuned = Pipeline<TAPS, TUNED>;
constexpr int PARAMETERS[] = {TUNED};
}  // namespace

extern "C" __global__ void __launch_bounds__(LANES* PARAMETERS[1], 1) sweeps_tensor(TensorSweepsArgument launch) {
    Tuned::sweep(launch);
}

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int launch_sweeps = PARAMETERS[0];
extern "C" __constant__ unsigned int block_warps = PARAMETERS[1];
extern "C" __constant__ unsigned int lag_steps = Tuned::LAG;
extern "C" __constant__ unsigned int turn_steps = Tuned::PLACES;
extern "C" __constant__ unsigned int least_length = Tuned::LEAST_LENGTH;
extern "C" __constant__ unsigned int shared_bytes = Tuned::SHARED;
