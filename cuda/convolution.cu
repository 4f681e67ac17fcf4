// The convolution of ConvolutionConstantMemory_CUDA: a filter in constant memory, laid with its middle on every element of an image or a volume.
//
// Compiled for -DREAL=float and -DREAL=double; for a filter of -DHEIGHT rows and -DWIDTH columns, or, without these, for one of any size.
//
// A block computes a tile of ROWS x COLUMNS outputs of one page. It stages the samples under it in shared memory, so that each is read from device
// memory about once. Neighbouring threads have neighbouring rows, which are neighbours in memory; a thread computes OUTPUTS neighbouring columns and
// uses each sample that it reads from shared memory for all of them. Sums run in the filter's column-major order: pages, then columns, then rows.

#ifndef REAL
#error "REAL, the class of the samples, must be given"
#endif

namespace {
constexpr int MAX_ENTRIES = 343;  // 7 x 7 x 7, which is more than 15 x 15
#ifndef HEIGHT
constexpr int MAX_SIZE = 15;
#endif
constexpr int ROWS = 64;
constexpr int GROUPS = 4;  // of columns, each of ROWS threads
constexpr int OUTPUTS = 8;
constexpr int COLUMNS = GROUPS * OUTPUTS;
constexpr int THREADS = ROWS * GROUPS;
}  // namespace

// The filter, in column-major order.
__constant__ REAL F[MAX_ENTRIES];

// The part of an image or a volume that one launch works on: whole columns, counted through all pages.
struct Part {
    const REAL* input;          // the samples, from `before` columns ahead of the first output's column
    REAL* output;
    unsigned long long count;   // columns to compute
    unsigned long long before;  // columns at hand ahead of the first
    unsigned long long after;   // columns at hand behind the last
    unsigned long long first;   // the first output's column, counted through all pages
    unsigned long long rows;    // of the image
    unsigned long long columns;
    unsigned long long pages;
    unsigned int height;  // of the filter
    unsigned int width;
    unsigned int depth;
};

// A size of the filter that is known when this is compiled, or else is in `part`.
#ifdef HEIGHT
#define FILTER_HEIGHT HEIGHT
#define FILTER_WIDTH WIDTH
#define UNROLL _Pragma("unroll")
#else
#define FILTER_HEIGHT ((int)part.height)
#define FILTER_WIDTH ((int)part.width)
#define UNROLL _Pragma("unroll 1")
#endif

template <bool VOLUME>
__device__ __forceinline__ void convolution(const Part& part) {
    const int height = FILTER_HEIGHT;
    const int width = FILTER_WIDTH;
    const int depth = VOLUME ? (int)part.depth : 1;
#ifdef HEIGHT
    __shared__ REAL tile[(ROWS + HEIGHT - 1) * (COLUMNS + WIDTH - 1)];
#else
    __shared__ REAL tile[(ROWS + MAX_SIZE - 1) * (COLUMNS + MAX_SIZE - 1)];
#endif
    const int tile_rows = ROWS + height - 1;
    const int tile_size = tile_rows * (COLUMNS + width - 1);

    // Tiles of one column of tiles are neighbours: what they share is in the cache.
    const unsigned long long tiles_down = (part.rows + ROWS - 1) / ROWS;
    const long long top = (long long)(blockIdx.x % tiles_down) * ROWS;
    const long long left = (long long)(blockIdx.x / tiles_down) * COLUMNS;  // counted from the part's first column

    const int row = threadIdx.x % ROWS;
    const int own = threadIdx.x / ROWS * OUTPUTS;  // this thread's first column in the tile

    // A tile may end one page and begin the next: then each of its columns has to ask which samples are of its own page.
    const long long columns = part.columns;
    const long long first = (long long)part.first + left;
    const long long in_page = first % columns;
    const long long page = first / columns;
    const bool one_page = in_page + COLUMNS <= columns || part.pages == 1;

    REAL sum[OUTPUTS];
#pragma unroll
    for (int w = 0; w < OUTPUTS; ++w) sum[w] = 0;

#pragma unroll 1
    for (int p = 0; p < depth; ++p) {
        const long long shift = (long long)(p - depth / 2) * columns;  // from an output's page to the samples'
        const bool there = !VOLUME || !one_page || (page + p - depth / 2 >= 0 && page + p - depth / 2 < (long long)part.pages);
        // Samples that are not at hand are outside the array; those of other pages and rows are taken out here as well, where the tile is of one page.
        const long long start = left + shift - width / 2;
#ifdef HEIGHT
#pragma unroll
        for (int i = 0; i < (tile_size + THREADS - 1) / THREADS; ++i) {
            const int at = i * THREADS + threadIdx.x;
            if (at >= tile_size) break;
#else
        for (int at = threadIdx.x; at < tile_size; at += THREADS) {
#endif
            const int r = at % tile_rows;
            const int c = at / tile_rows;
            const long long sample_row = top + r - height / 2;
            const long long sample_column = start + c;  // counted from the part's first column
            const long long sample_in_page = in_page + c - width / 2;
            const bool inside = sample_row >= 0 && sample_row < (long long)part.rows && sample_column >= -(long long)part.before &&
                                sample_column < (long long)(part.count + part.after) &&
                                (!one_page || (there && sample_in_page >= 0 && sample_in_page < columns));
            tile[at] = inside ? part.input[(sample_column + (long long)part.before) * (long long)part.rows + sample_row] : REAL(0);
        }
        __syncthreads();

        const REAL* entries = VOLUME ? F + p * height * width : F;
        if (one_page) {
            UNROLL
            for (int j = 0; j < OUTPUTS + width - 1; ++j) {
                UNROLL
                for (int r = 0; r < height; ++r) {
                    const REAL sample = tile[(own + j) * tile_rows + row + r];
#pragma unroll
                    for (int w = 0; w < OUTPUTS; ++w) {
                        const int c = j - w;
                        if (c >= 0 && c < width) sum[w] = fma(sample, entries[c * height + r], sum[w]);
                    }
                }
            }
        } else {
#pragma unroll 1
            for (int w = 0; w < OUTPUTS; ++w) {
                const long long output_column = first + own + w;
                const long long output_page = output_column / columns + p - depth / 2;
                const bool has_page = output_page >= 0 && output_page < (long long)part.pages;
                const long long from = output_column % columns - width / 2;
                REAL acc = 0;
#pragma unroll
                for (int u = 0; u < OUTPUTS; ++u) acc = u == w ? sum[u] : acc;
#pragma unroll 1
                for (int c = 0; c < width; ++c) {
                    const bool has_column = has_page && from + c >= 0 && from + c < columns;
#pragma unroll 1
                    for (int r = 0; r < height; ++r) {
                        const REAL sample = has_column ? tile[(own + w + c) * tile_rows + row + r] : REAL(0);
                        acc = fma(sample, entries[c * height + r], acc);
                    }
                }
#pragma unroll
                for (int u = 0; u < OUTPUTS; ++u) sum[u] = u == w ? acc : sum[u];
            }
        }
        if (VOLUME) __syncthreads();
    }

    if (top + row < (long long)part.rows) {
#pragma unroll
        for (int w = 0; w < OUTPUTS; ++w) {
            const long long column = left + own + w;
            if (column < (long long)part.count) part.output[column * (long long)part.rows + top + row] = sum[w];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) convolution_2D_const_mem_kernel(Part part) { convolution<false>(part); }

// Specialised ones up to 7 x 7 serve the pages of a volume too; larger filters have one page.
#if !defined(HEIGHT) || HEIGHT <= 7
extern "C" __global__ void __launch_bounds__(THREADS) convolution_3D_const_mem_kernel(Part part) { convolution<true>(part); }
#endif

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int tile_rows_of_output = ROWS;
extern "C" __constant__ unsigned int tile_columns_of_output = COLUMNS;
extern "C" __constant__ unsigned int tile_threads = THREADS;
