// Convolutions by filters of any size on the vector units: common part of any_filter.cu and tensor.cu.
//
// A thread computes OUTPUTS neighbouring outputs and slides along the filter with as many samples in registers: each
// entry takes one read of constant memory and one sample of shared memory, for OUTPUTS multiply-adds. It slides along
// the rows of a column, filter column after filter column, or, under a filter of one row, along the columns of a row: a
// block is long in that direction. The launch sets the length, and the number of threads side by side. The samples come
// into shared memory in stages, some of the filter's columns at a time, or a part of a long one: so the shared memory
// of every device suffices for any filter. Sums run in the filter's column-major order.
#pragma once

#include "boundary.cuh"
#include "chip.cuh"

#ifndef REAL
#error "REAL, the class of the samples, must be given"
#endif
#ifndef OUTPUTS
#error "OUTPUTS, those of a thread, must be given: an odd number, so that neighbours fall on different banks"
#endif

namespace {
constexpr int MAX_ENTRIES = 8191;
constexpr int THREADS = FILTER_THREADS;
constexpr int LOG_THREADS = 7;
static_assert(THREADS == 1 << LOG_THREADS, "");
constexpr int AT_ONCE = 8;  // samples of a thread in flight
}  // namespace

// The filter, in column-major order. Threads that read different entries read global memory faster.
#ifdef IN_GLOBAL_MEMORY
__device__ REAL F[MAX_ENTRIES];
#else
__constant__ REAL F[MAX_ENTRIES];
#endif

typedef FilterArgument<REAL> Launch;

// A place in the array. It may lie outside.
struct Place {
    long long row, column, page;
};

// Adds the products of `count` entries of the filter to the sums of a thread, whose first sample is `samples[0]`. It
// may read as many extra samples as a thread has outputs.
__device__ __forceinline__ void chain(const REAL* samples, const REAL* entries, int count, REAL (&sums)[OUTPUTS]) {
    // The samples under the first entry, and those that follow.
    REAL window[OUTPUTS], next[OUTPUTS];
#pragma unroll
    for (int v = 0; v < OUTPUTS; ++v) window[v] = samples[v];
    const auto add = [&](int u, REAL entry) {
#pragma unroll
        for (int v = 0; v < OUTPUTS; ++v) {
            sums[v] = fma(u + v < OUTPUTS ? window[(u + v) % OUTPUTS] : next[(u + v) % OUTPUTS], entry, sums[v]);
        }
    };
    int k = 0;
#pragma unroll 1
    for (; k + OUTPUTS <= count; k += OUTPUTS) {
#pragma unroll
        for (int v = 0; v < OUTPUTS; ++v) next[v] = samples[k + OUTPUTS + v];
#pragma unroll
        for (int u = 0; u < OUTPUTS; ++u) add(u, entries[k + u]);
#pragma unroll
        for (int v = 0; v < OUTPUTS; ++v) window[v] = next[v];
    }
    const int rest = count - k;
    if (rest == 0) return;
#pragma unroll
    for (int v = 0; v < OUTPUTS - 1; ++v) next[v] = samples[k + OUTPUTS + v];
    // Some entries are read together, so that there is one wait for them.
    constexpr int TOGETHER = 4;
#pragma unroll
    for (int first = 0; first < OUTPUTS - 1; first += TOGETHER) {
        if (first >= rest) return;
        REAL few[TOGETHER];
#pragma unroll
        for (int i = 0; i < TOGETHER; ++i) few[i] = entries[k + min(first + i, rest - 1)];
#pragma unroll
        for (int i = 0; i < TOGETHER; ++i) {
            if (first + i < OUTPUTS - 1 && first + i < rest) add(first + i, few[i]);
        }
    }
}

// A thread's share of some rows and columns: a power of two of threads are abreast in the direction of the rows.
struct Way {
    int rows, columns, abreast, step, first;
    int r, c;

    __device__ __forceinline__ Way(int rows, int columns, int log_abreast)
        : rows(rows), columns(columns), abreast(1 << log_abreast), step(THREADS >> log_abreast) {
        r = first = threadIdx.x & (abreast - 1);
        c = r < rows ? threadIdx.x >> log_abreast : columns;
    }
    __device__ __forceinline__ bool goes_on() const { return c < columns; }
    __device__ __forceinline__ void next() {
        r += abreast;
        if (r >= rows) {
            r = first;
            c += step;
        }
    }
};

// Returns the first element of a page.
__device__ __forceinline__ const REAL* page_from(const Launch& launch, long long page) {
    return launch.input + (page < 0 ? 0 : page * launch.rows * launch.columns);
}

// Returns the sample at a place of a page, or the constant for a negative number. Where two sides meet, the later
// dimension's constant takes precedence.
__device__ __forceinline__ REAL sample_of(const Launch& launch, const REAL* page, const Place& at) {
    if (at.page < 0) return REAL(constant_of(launch.sides.of_pages, at.page));
    if (at.column < 0) return REAL(constant_of(launch.sides.of_columns, at.column));
    if (at.row < 0) return REAL(constant_of(launch.sides.of_rows, at.row));
    return __ldg(page + at.column * launch.rows + at.row);
}

// Brings samples into shared memory: this number of rows and columns from `first` on, whose page may be negative. First
// the samples of the array, by `copy`, which takes a row, a column, the number of both, and the address of the first.
// Then `put` takes a row, a column and the sample of each place outside.
template <class Copy, class Put>
__device__ __forceinline__ void stage(const Launch& launch, const Place& first, int rows, int columns, int log_abreast,
                                      const Copy& copy, const Put& put) {
    const bool has_page = first.page >= 0;
    const auto inside = [](long long place, long long most) { return (int)min(max(place, 0ll), most); };
    const int top = inside(-first.row, rows), bottom = inside(launch.rows - first.row, rows);
    const int left = inside(-first.column, columns);
    const int right = has_page ? inside(launch.columns - first.column, columns) : left;
    const REAL* page = page_from(launch, first.page);
    if (top < bottom && left < right) {
        copy(top, left, bottom - top, right - left, page + (first.column + left) * launch.rows + first.row + top);
    }
    if (top == 0 && bottom == rows && left == 0 && right == columns) return;
    for (Way at(rows, columns, log_abreast); at.goes_on(); at.next()) {
        if (at.r >= top && at.r < bottom && at.c >= left && at.c < right) continue;
        const long long column =
            sample_at(first.column + at.c, launch.columns, launch.width / 2, launch.sides.of_columns);
        const long long row = sample_at(first.row + at.r, launch.rows, launch.height / 2, launch.sides.of_rows);
        put(at.r, at.c, sample_of(launch, page, {row, column, first.page}));
    }
}

// Writes the outputs of this number of rows and columns from `first` on. `get` takes a row and a column.
template <class Get>
__device__ __forceinline__ void store(const Launch& launch, const Place& first, int rows, int columns, int log_abreast,
                                      const Get& get) {
    rows = (int)min((long long)rows, launch.rows - first.row);
    columns = (int)min((long long)columns, launch.columns - first.column);
    // Counted from the first output of all.
    const long long place = (first.page * launch.columns + first.column) * launch.rows + first.row - launch.first;
    for (Way at(rows, columns, log_abreast); at.goes_on(); at.next()) {
        const long long to = place + at.c * launch.rows + at.r;
        if (to >= 0 && to < launch.count) launch.output[to] = get(at.r, at.c);
    }
}

// Returns the place of this block's tile, for tiles of this number of rows and columns.
__device__ __forceinline__ Place tile_of_block(const Launch& launch, int rows, int columns) {
    const long long down = (launch.rows + rows - 1) / rows, beside = (launch.columns + columns - 1) / columns;
    const long long number = launch.skip + (launch.backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    return {number % down * rows, number / down % beside * columns, number / down / beside};
}

// Returns the page under an entry's page, or a negative number.
__device__ __forceinline__ long long page_under(const Launch& launch, long long page, int entry) {
    if (launch.depth == 1) return page;
    return sample_at(page + entry - (launch.depth - 1) / 2, launch.pages, launch.depth / 2, launch.sides.of_pages);
}

// Computes a tile of the outputs from `tile_at` on, and writes at most the given rows and columns. All threads of a
// block call it.
template <bool BY_COLUMNS>
__device__ __forceinline__ void any_filter(const Launch& launch, const Place& tile_at, int most_rows, int most_columns,
                                           REAL* tile) {
    // The block's threads: `lanes` along the direction in which they slide, each with OUTPUTS outputs, the others
    // across it.
    const int lanes = 1 << launch.down;
    const int along = OUTPUTS << launch.down, across = THREADS >> launch.down;
    const int own = threadIdx.x / lanes * launch.stride + threadIdx.x % lanes * OUTPUTS;
    const int log_abreast = BY_COLUMNS ? LOG_THREADS - launch.down : max(5, launch.down);
    // Extents of the filter, in that direction and across it.
    const int length = BY_COLUMNS ? launch.width : launch.height, width = BY_COLUMNS ? 1 : launch.width;
    const auto place = [&](int r, int c) { return BY_COLUMNS ? r * launch.stride + c : c * launch.stride + r; };

    REAL sums[OUTPUTS];
#pragma unroll
    for (int v = 0; v < OUTPUTS; ++v) sums[v] = 0;
#pragma unroll 1
    for (int p = 0; p < launch.depth; ++p) {
        const long long page = page_under(launch, tile_at.page, p);
#pragma unroll 1
        for (int c = 0; c < width; c += launch.stage_width) {
            const int columns = min(launch.stage_width, width - c);
#pragma unroll 1
            for (int k = 0; k < length; k += launch.stage_length) {
                const int count = min(launch.stage_length, length - k);
                const int ahead = k - (length - 1) / 2, left = c - (width - 1) / 2;
                const int staged = along + count - 1, beside = across + columns - 1;
                const Place first = {tile_at.row + (BY_COLUMNS ? 0 : ahead),
                                     tile_at.column + (BY_COLUMNS ? ahead : left), page};
                __syncthreads();
                const auto put = [&](int r, int c, REAL sample) { tile[place(r, c)] = sample; };
                const auto copy = [&](int top, int left, int rows, int columns, const REAL* from) {
                    Way at(rows, columns, log_abreast);
                    while (at.goes_on()) {
                        // All of them are in flight before the first is waited for.
                        REAL samples[AT_ONCE];
                        int to[AT_ONCE];
#pragma unroll
                        for (int i = 0; i < AT_ONCE; ++i) {
                            to[i] = -1;
                            if (at.goes_on()) {
                                to[i] = place(top + at.r, left + at.c);
                                samples[i] = __ldg(from + at.c * launch.rows + at.r);
                            }
                            at.next();
                        }
#pragma unroll
                        for (int i = 0; i < AT_ONCE; ++i) {
                            if (to[i] >= 0) tile[to[i]] = samples[i];
                        }
                    }
                };
                stage(launch, first, BY_COLUMNS ? beside : staged, BY_COLUMNS ? staged : beside, log_abreast, copy,
                      put);
                __syncthreads();
                const REAL* entries = F + (p * width + c) * length + k;
#pragma unroll 1
                for (int j = 0; j < columns; ++j) {
                    chain(tile + own + j * launch.stride, entries + j * length, count, sums);
                }
            }
        }
    }
    // Through shared memory, so that adjacent threads write adjacent outputs.
    __syncthreads();
#pragma unroll
    for (int v = 0; v < OUTPUTS; ++v) tile[own + v] = sums[v];
    __syncthreads();
    store(launch, tile_at, min(BY_COLUMNS ? across : along, most_rows), min(BY_COLUMNS ? along : across, most_columns),
          log_abreast, [&](int r, int c) { return tile[place(r, c)]; });
}
