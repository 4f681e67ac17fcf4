// The study "convolution": gain of reading the filter from constant memory, and then of reading the image once.
//
// Three kernels centre a square filter on every element of an image, not flipped, with zeros outside. The first two
// have a thread for each output, which reads all its operands from global memory; they differ in the filter's memory.
// The third has the filter in constant memory too, and stages the image in shared memory.
//
// Arrays are column-major: neighbouring threads have neighbouring rows. Each sum runs in the filter's column-major
// order, and a sample outside is a zero that is multiplied like any other; so all three give the same bits. The radius
// is not known at compile time, in any of them.

#include "arguments.cuh"

namespace {
constexpr int MAX_RADIUS = 7;
constexpr int MAX_SIZE = 2 * MAX_RADIUS + 1;

// Outputs of a block, along rows and along columns; a thread each.
constexpr int EDGE = 16;

// Outputs of a block of the tiled kernel, along rows and along columns; a thread has OUTPUTS columns, TILE_COLUMNS
// apart. A warp is a column of the tile: it has no bank conflicts.
constexpr int TILE_EDGE = 32;
constexpr int OUTPUTS = 4;
constexpr int TILE_COLUMNS = TILE_EDGE / OUTPUTS;
constexpr int STAGED_EDGE = TILE_EDGE + 2 * MAX_RADIUS;
}  // namespace

__constant__ float constantFilter[MAX_SIZE * MAX_SIZE];

namespace {
struct Constant {
    static __device__ __forceinline__ float at(const StudyConvolutionArgument&, int i) { return constantFilter[i]; }
};
struct Global {
    static __device__ __forceinline__ float at(const StudyConvolutionArgument& job, int i) { return job.filter[i]; }
};

__device__ __forceinline__ float sample(const StudyConvolutionArgument& job, int row, int column) {
    const bool inside = row >= 0 && row < job.rows && column >= 0 && column < job.columns;
    return inside ? job.image[(long long)column * job.rows + row] : 0.0f;
}

template <class Filter>
__device__ __forceinline__ void convolve(const StudyConvolutionArgument& job) {
    const int row = blockIdx.x * EDGE + threadIdx.x;
    const int column = blockIdx.y * EDGE + threadIdx.y;
    if (row >= job.rows || column >= job.columns) return;
    const int size = 2 * job.radius + 1;
    float sum = 0.0f;
    for (int j = 0; j < size; ++j) {
        for (int i = 0; i < size; ++i) {
            sum = fmaf(sample(job, row - job.radius + i, column - job.radius + j), Filter::at(job, j * size + i), sum);
        }
    }
    job.output[(long long)column * job.rows + row] = sum;
}
}  // namespace

extern "C" __global__ void __launch_bounds__(EDGE* EDGE) convolution_basic(StudyConvolutionArgument job) {
    convolve<Global>(job);
}
extern "C" __global__ void __launch_bounds__(EDGE* EDGE) convolution_constant(StudyConvolutionArgument job) {
    convolve<Constant>(job);
}

extern "C" __global__ void __launch_bounds__(TILE_EDGE* TILE_COLUMNS) convolution_tiled(StudyConvolutionArgument job) {
    __shared__ float tile[STAGED_EDGE][STAGED_EDGE];  // a column of the image a row of this

    const int first_row = blockIdx.x * TILE_EDGE;
    const int first_column = blockIdx.y * TILE_EDGE;
    const int staged = TILE_EDGE + 2 * job.radius;
    for (int column = threadIdx.y; column < staged; column += TILE_COLUMNS) {
        for (int row = threadIdx.x; row < staged; row += TILE_EDGE) {
            tile[column][row] = sample(job, first_row - job.radius + row, first_column - job.radius + column);
        }
    }
    __syncthreads();

    const int size = 2 * job.radius + 1;
    float sum[OUTPUTS];
#pragma unroll
    for (int v = 0; v < OUTPUTS; ++v) sum[v] = 0.0f;
    for (int j = 0; j < size; ++j) {
        for (int i = 0; i < size; ++i) {
            const float entry = constantFilter[j * size + i];
#pragma unroll
            for (int v = 0; v < OUTPUTS; ++v) {
                sum[v] = fmaf(tile[threadIdx.y + v * TILE_COLUMNS + j][threadIdx.x + i], entry, sum[v]);
            }
        }
    }

    const int row = first_row + threadIdx.x;
#pragma unroll
    for (int v = 0; v < OUTPUTS; ++v) {
        const int column = first_column + threadIdx.y + v * TILE_COLUMNS;
        if (row < job.rows && column < job.columns) job.output[(long long)column * job.rows + row] = sum[v];
    }
}

// Constants of the module that the host needs for a launch.
extern "C" __constant__ unsigned int study_edge = EDGE;
extern "C" __constant__ unsigned int study_tile_edge = TILE_EDGE;
extern "C" __constant__ unsigned int study_tile_columns = TILE_COLUMNS;
