// Several sweeps of a filter over small images in one launch.
//
// A launch costs some microseconds however little it does, and a sweep over a small image takes less. So a block takes
// a region of an image into shared memory and does several sweeps there. Each sweep invalidates a radius of rows and of
// columns at a side that is not the image's, so regions overlap, and a block writes its valid outputs at the end.
//
// A thread has the same patch of ROWS x COLUMNS outputs in every sweep. It reads the samples around the patch from
// shared memory, those of the patch are in its registers, and writes its outputs to the other of two buffers: one
// barrier a sweep. The entries of the filter are operands of the multiply-adds, straight from constant memory. Patches
// have an odd number of rows: lanes read shared memory at odd distances, without conflicts, if the host chooses the
// pitch accordingly.
//
//   sweep_tile: chooses this block's region, and Region with or without MAPPED
//   Region:
//       load                                  // the patch, into registers
//       write_constants                       // ghost cells, into both buffers
//       keep                                  // the patch, in the first buffer
//       for each sweep:
//           patch := Filter::apply (window of the patch in the buffer)
//           keep                              // in the other buffer
//           one barrier of the block
//       store                                 // the valid outputs
//
// At the image's own edges every sweep is valid. For constants there are ghost cells around the region, which are never
// overwritten. At sides that repeat samples (replicate, symmetric, mirror) a thread reads the samples in place of the
// ghost cells: only blocks at such an edge do so, in a path of their own, in which the other sides keep their ghost
// cells. Along a circular dimension, the region is loaded as if the image went on, and there are no edges.
#pragma once

#include "boundary.cuh"
#include "chip.cuh"

namespace tiles {

// Divides a number whose product with the divisor is less than 2^32.
__device__ __forceinline__ int quotient(int number, int divisor, unsigned int turn) {
    return divisor == 1 ? number : (int)((unsigned long long)(unsigned int)number * turn >> 32);
}

constexpr int NEVER = 1 << 30;

// A block's samples of an image along one dimension, and the outputs that it writes.
struct Span {
    int first;  // the sample of its first place
    int from;   // the places it writes: from here on
    int to;     // and up to here
    bool low;   // true if its first sample is the image's, and samples repeat before it
    bool high;  // true if its last sample is the image's, and samples repeat behind it

    __device__ __forceinline__ Span(int tile, int tiles, int count, int held, int reach, bool circular,
                                    const Repeated (&repeated)[2]) {
        const int step = held - 2 * reach;
        if (circular) {
            first = tile * step - reach;
            from = reach;
            to = tile == tiles - 1 ? count - first : held - reach;
            low = high = false;
        } else {
            first = tile * step < count - held ? tile * step : count - held;
            from = tile == 0 ? 0 : tile * step + reach - first;
            to = tile == tiles - 1 ? held : (tile + 1) * step + reach - first;
            low = first == 0 && repeated[0].turns != 1;
            high = first + held == count && repeated[1].turns != 1;
        }
    }

    // True if some places copy others.
    __device__ __forceinline__ bool repeats() const { return low || high; }

    // Returns the place of the region that replaces one that may be beyond the image.
    __device__ __forceinline__ int standing_for(int at, int held, int radius, const Repeated (&repeated)[2]) const {
        // (Constants, with 0 turns, are no such end. Products would take more registers.)
        const int before = repeated[0].turns != 0 ? repeated[0].first - at : repeated[0].first;
        const int behind = repeated[1].turns != 0 ? repeated[1].first - at : repeated[1].first;
        at = low && at < 0 ? before : high && at >= held ? behind : at;
        // Samples farther out are needed by no output.
        return at < -radius ? -radius : at;
    }

    // Returns the number of sweeps that must be left for the `count` outputs from a place on to influence the results.
    // Each sweep needs `radius` places more on either side.
    __device__ __forceinline__ int counts_from(int at, int count, int radius) const {
        const int behind = at + 1 - to;
        const int before = from + 1 - at - count;
        const int away = behind > before ? behind : before;
        return away <= 0 ? 0 : (away + radius - 1) / radius;
    }
};

// The samples of some neighbouring places of a region, from the image's first on: places behind the region get the last
// one's.
template <int COUNT>
__device__ __forceinline__ void samples_of(int (&samples)[COUNT], int at, int held, int first, int count,
                                           bool circular) {
    if (circular) {
        int sample = (first + at) % count;
        if (sample < 0) sample += count;
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            samples[i] = sample;
            sample = sample + 1 == count ? 0 : sample + 1;
        }
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) samples[i] = first + (at + i < held ? at + i : held - 1);
    }
}

// A block's region, and this thread's patch of it. The values of the patch are arguments of the members, not a member:
// the compiler would keep all members in memory until it has unrolled the loops over them.
//
// MAPPED is for regions with sides that repeat samples: there the window of a patch is looked up place by place.
template <typename T, int ROWS, int COLUMNS, bool MAPPED, class Filter>
struct Region {
    const TilesArgument<T>& launch;
    const Span& down;
    const Span& across;
    const Filter& filter;
    int above;  // rows of samples on either side of an output
    int aside;  // and columns
    int rows;   // of the region
    int columns;
    int pitch;
    int row;  // begin of the patch in the region
    int column;
    bool has_patch;
    bool whole;  // true if all of the patch is in the region

    __device__ __forceinline__ Region(const TilesArgument<T>& launch, const Span& down, const Span& across,
                                      const Filter& filter)
        : launch(launch), down(down), across(across), filter(filter) {
        above = filter.height() / 2;
        aside = filter.width() / 2;
        rows = launch.region_rows;
        columns = launch.region_columns;
        pitch = launch.pitch;
        const int patch_across = quotient((int)threadIdx.x, launch.patches_down, launch.patches_turn);
        row = ((int)threadIdx.x - patch_across * launch.patches_down) * ROWS;
        column = patch_across * COLUMNS;
        has_patch = patch_across < launch.patches_across;
        whole = row + ROWS <= rows && column + COLUMNS <= columns;
    }

    __device__ __forceinline__ void load(T (&patch)[COLUMNS][ROWS], long long page) const {
        int row_of[ROWS];
        int column_of[COLUMNS];
        samples_of(row_of, row, rows, down.first, launch.rows, launch.of_rows.circular());
        samples_of(column_of, column, columns, across.first, launch.columns, launch.of_columns.circular());
        const T* const image = launch.input + page;
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            const T* const of_column = image + (long long)column_of[j] * launch.rows;
#pragma unroll
            for (int i = 0; i < ROWS; ++i) patch[j][i] = of_column[row_of[i]];
        }
    }

    // Writes the ghost cells that are constants to both buffers: at all sides, as those inside the image are invalid
    // anyway, and those that repeat samples are not read.
    __device__ __forceinline__ void write_constants(T* current, T* next) const {
        const auto constant = [](const EndsArgument& ends) {
            return ends.boundary[0] == CONSTANT || ends.boundary[1] == CONSTANT;
        };
        if (constant(launch.of_rows) || constant(launch.of_columns)) {
            const auto fill = [&](int place, double value) {
                current[place] = T(value);
                next[place] = T(value);
            };
#pragma unroll 1
            for (int at = (int)threadIdx.x; at < columns; at += (int)blockDim.x) {
#pragma unroll 1
                for (int i = 0; i < above; ++i) {
                    fill(at * pitch - 1 - i, launch.of_rows.value[0]);
                    fill(at * pitch + rows + i, launch.of_rows.value[1]);
                }
            }
            // If two sides meet, the columns' constant or repeated column takes precedence.
#pragma unroll 1
            for (int at = (int)threadIdx.x - above; at < rows + above; at += (int)blockDim.x) {
#pragma unroll 1
                for (int j = 0; j < aside; ++j) {
                    fill(at - (1 + j) * pitch, launch.of_columns.value[0]);
                    fill(at + (columns + j) * pitch, launch.of_columns.value[1]);
                }
            }
            // A patch that reaches out of the region writes there, too.
            __syncthreads();
        }
    }

    // A patch at the last row or column may reach out of the region: there it holds constants, like ghost cells.
    __device__ __forceinline__ void reach_out(T (&patch)[COLUMNS][ROWS]) const {
        if (!whole) {
            const int rows_inside = here(rows - row);
            const int columns_inside = here(columns - column);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
#pragma unroll
                for (int i = 0; i < ROWS; ++i) {
                    if (i >= rows_inside) patch[j][i] = T(launch.of_rows.value[1]);
                }
            }
            if (columns_inside < COLUMNS) {
#pragma unroll
                for (int j = 0; j < COLUMNS; ++j) {
#pragma unroll
                    for (int i = 0; i < ROWS; ++i) {
                        if (j >= columns_inside) patch[j][i] = T(launch.of_columns.value[1]);
                    }
                }
            }
        }
    }

    // Writes the patch to its place `own` in a buffer. Outside of the region its outputs are the constants, which are
    // already there.
    __device__ __forceinline__ void keep(T (&patch)[COLUMNS][ROWS], T* buffer, int own) const {
        reach_out(patch);
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) buffer[own + j * pitch + i] = patch[j][i];
        }
    }

    // Returns the number of sweeps that must be left for the patch's outputs to influence the results.
    __device__ __forceinline__ int counts_from() const {
        const int from_down = down.counts_from(row, ROWS, above);
        const int from_across = across.counts_from(column, COLUMNS, aside);
        return !has_patch ? NEVER : from_down > from_across ? from_down : from_across;
    }

    __device__ __forceinline__ void store(const T (&patch)[COLUMNS][ROWS], long long page) const {
        T* const to = launch.output + page + (long long)(across.first + column) * launch.rows + down.first + row;
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            const bool inside = column + j >= across.from && column + j < across.to;
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                if (inside && row + i >= down.from && row + i < down.to)
                    to[(long long)j * launch.rows + i] = patch[j][i];
            }
        }
    }

    // Does all sweeps over the image that begins at `page`, in shared memory.
    __device__ __forceinline__ void sweep(long long page, T* shared) const {
        T patch[COLUMNS][ROWS];
        load(patch, page);
        // Two buffers, each with room for ghost cells around the region.
        T* current = shared + above + aside * pitch;
        T* next = current + launch.buffer;
        write_constants(current, next);
        const int own = column * pitch + row;
        if (has_patch) keep(patch, current, own);

        // The window of a patch: places of its rows and columns in a buffer, counted from its first.
        const auto row_at = [&](int k) {
            const int at = row + k - above;
            return MAPPED ? down.standing_for(at, rows, above, launch.repeated_rows) : at;
        };
        const auto column_at = [&](int m) {
            const int at = column + m - aside;
            return (MAPPED ? across.standing_for(at, columns, aside, launch.repeated_columns) : at) * pitch;
        };
        const typename Filter::template Window<ROWS, COLUMNS, MAPPED> window(row_at, column_at);
        const int counts_from = this->counts_from();
        __syncthreads();
#pragma unroll 1
        for (int left = launch.sweeps - 1;; --left) {
            const bool counts = left >= counts_from;
            if (counts) filter.apply(window, column_at, current, patch);
            if (left == 0) break;
            if (counts) keep(patch, next, own);
            __syncthreads();
            T* const last = current;
            current = next;
            next = last;
        }
        if (counts_from <= 0) store(patch, page);
    }
};

template <typename T, int ROWS, int COLUMNS, bool MAPPED, class Filter>
__device__ __forceinline__ void sweep_region(const TilesArgument<T>& launch, const Span& down, const Span& across,
                                             long long page, T* shared, const Filter& filter) {
    const Region<T, ROWS, COLUMNS, MAPPED, Filter> region(launch, down, across, filter);
    region.sweep(page, shared);
}

template <typename T, int ROWS, int COLUMNS, class Filter>
__device__ __forceinline__ void sweep_tile(const TilesArgument<T>& launch, T* shared, const Filter& filter) {
    const unsigned int tiles = (unsigned int)(launch.tiles_down * launch.tiles_across);
    const unsigned int number = blockIdx.x / tiles;
    const int tile = (int)(blockIdx.x - number * tiles);
    const int tile_across = quotient(tile, launch.tiles_down, launch.tiles_turn);
    const int tile_down = tile - tile_across * launch.tiles_down;
    const long long page = (long long)number * launch.rows * launch.columns;
    const Span down(tile_down, launch.tiles_down, launch.rows, launch.region_rows,
                    launch.sweeps * (filter.height() / 2), launch.of_rows.circular(), launch.repeated_rows);
    const Span across(tile_across, launch.tiles_across, launch.columns, launch.region_columns,
                      launch.sweeps * (filter.width() / 2), launch.of_columns.circular(), launch.repeated_columns);
    if (down.repeats() || across.repeats()) {
        sweep_region<T, ROWS, COLUMNS, true>(launch, down, across, page, shared, filter);
    } else {
        sweep_region<T, ROWS, COLUMNS, false>(launch, down, across, page, shared, filter);
    }
}

}  // namespace tiles
