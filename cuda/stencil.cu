// The stencil of StencilConstantMemory_CUDA: up to 21 double taps in constant memory, laid with their middle on every element.
//
// Compiled once for each odd number of taps (-DTAPS=1, 3, .. 21), each into a module of its own with its own copy of the taps.
//
// What it costs: a point moves 16 bytes and takes TAPS multiply-adds, which on any GPU with full double-precision rate is less time than the
// bytes. So the work is to keep the memory busy and everything else out of its way:
//  - A block stages a tile of the input in shared memory: each sample is read from device memory once, by neighbouring threads.
//  - A thread computes OUTPUTS neighbouring points. It slides over the samples once and uses each for all of its points, so shared memory is
//    read (OUTPUTS + TAPS - 1) / OUTPUTS times a point, not TAPS times. OUTPUTS is odd: the threads of a warp then fall on different banks.
//  - All threads use the same tap at the same time: one broadcast from constant memory, or an operand of the multiply-add itself.
//  - Results go back through the tile, so that neighbouring threads write neighbouring points.

#ifndef TAPS
#error "TAPS, the number of taps, must be given"
#endif

namespace {
constexpr int MAX_TAPS = 21;
constexpr int THREADS = 128;
constexpr int OUTPUTS = 5;
constexpr int TILE = THREADS * OUTPUTS;
}  // namespace

// The filter. All 21 entries are there whatever TAPS is; those beyond it are not read.
__constant__ double kernelTaps[MAX_TAPS];

// The part of a long array that one launch works on. Positions are counted in elements.
struct Piece {
    const double* input;        // the samples, from `before` of them ahead of the first output's own
    double* output;
    unsigned long long count;   // outputs to compute
    unsigned long long before;  // samples at hand ahead of the first output's own, at most the radius
    unsigned long long after;   // samples at hand behind the last output's own, at most the radius
    unsigned long long line;    // elements in a line: samples of another line count for nothing
    unsigned long long phase;   // the first output's position in its line
    unsigned int one_line;      // whether the whole array is one line; then what is not at hand is what is outside
};

template <int T>
__device__ __forceinline__ void stencil(const Piece& piece) {
    constexpr int RADIUS = T / 2;
    __shared__ double tile[TILE + 2 * RADIUS];
    __shared__ long long tile_phase;

    const unsigned long long first = (unsigned long long)blockIdx.x * TILE;
    const int thread = threadIdx.x;

    // Samples ahead of what is at hand and behind it are zero. `available` counts from the first sample at hand; where a tile begins before
    // it the subtraction wraps round to a huge number, and the one comparison covers both ends.
    const unsigned long long available = piece.before + piece.count + piece.after;
    const unsigned long long start = first + piece.before - RADIUS;
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i) {
        const unsigned long long at = start + (i * THREADS + thread);
        tile[i * THREADS + thread] = at < available ? piece.input[at] : 0.0;
    }
    if (thread < 2 * RADIUS) {
        const unsigned long long at = start + (TILE + thread);
        tile[TILE + thread] = at < available ? piece.input[at] : 0.0;
    }
    // One 64-bit division a block, and none where there is but one line.
    if (!piece.one_line && thread == 0) {
        tile_phase = (long long)((first + piece.phase) % piece.line);
    }
    __syncthreads();

    const int own = thread * OUTPUTS;
    double sum[OUTPUTS];
#pragma unroll
    for (int v = 0; v < OUTPUTS; ++v) sum[v] = 0.0;

    const long long line = piece.line;
    bool inside = piece.one_line;
    long long position = 0;  // of this thread's first output in its line
    if (!piece.one_line) {
        position = tile_phase + own;
        if (position >= line) {
            position = line > TILE ? position - line : (unsigned int)position % (unsigned int)line;
        }
        inside = position >= RADIUS && position + OUTPUTS + RADIUS <= line;
    }
    if (inside) {
#pragma unroll
        for (int j = 0; j < OUTPUTS + 2 * RADIUS; ++j) {
            const double sample = tile[own + j];
#pragma unroll
            for (int v = 0; v < OUTPUTS; ++v) {
                const int k = j - v;
                if (k >= 0 && k < T) sum[v] = fma(sample, kernelTaps[k], sum[v]);
            }
        }
    } else {
        // Some sample under some tap belongs to another line: it is replaced by zero, and multiplied like any other.
#pragma unroll 1
        for (int v = 0; v < OUTPUTS; ++v) {
            double acc = 0.0;
#pragma unroll
            for (int k = 0; k < T; ++k) {
                const long long at = position + k - RADIUS;
                const bool in_line = at >= 0 && at < line;
                acc = fma(in_line ? tile[own + v + k] : 0.0, kernelTaps[k], acc);
            }
            // A register array must not be indexed by a variable.
#pragma unroll
            for (int u = 0; u < OUTPUTS; ++u) sum[u] = u == v ? acc : sum[u];
            position = position + 1 == line ? 0 : position + 1;
        }
    }

    __syncthreads();
#pragma unroll
    for (int v = 0; v < OUTPUTS; ++v) tile[own + v] = sum[v];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i) {
        const unsigned long long at = first + (i * THREADS + thread);
        if (at < piece.count) piece.output[at] = tile[i * THREADS + thread];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) Stencil_ConstantMemory(Piece piece) { stencil<TAPS>(piece); }

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int stencil_threads = THREADS;
extern "C" __constant__ unsigned int stencil_tile = TILE;
