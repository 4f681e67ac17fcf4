// A lane's work on a page in sweeps/volumes/volumes.cuh, with the copies and writes that go on meanwhile.
//
// In the loop over columns nothing branches: copies and writes are instructions with a predicate.
#pragma once

#include "copies.cuh"
#include "sweeps/volumes/launch.cuh"

namespace volumes {

constexpr int LANES = 32;

// The offset of a column that no page of the volume has.
constexpr unsigned int NOWHERE = 0xffffffff;

#ifdef __CUDACC_RTC__

// Begins a copy of COUNT elements from `offset` behind an address, for this thread's current group of copies: if
// `comes`, and the offset is not NOWHERE.
template <int COUNT, typename T>
__device__ __forceinline__ void copy_to_place(bool comes, Place<T> to, const T* from, unsigned int offset) {
    const T* const address = from + offset;
    if constexpr (COUNT * sizeof(T) == 16) {
        asm volatile(
            "{\n"
            ".reg .pred p, q;\n"
            "setp.ne.u32 q, %0, 0;\n"
            "setp.ne.and.u32 p, %1, 0xffffffff, q;\n"
            "@p cp.async.cg.shared.global [%2], [%3], 16;\n"
            "}" ::"r"((unsigned int)comes),
            "r"(offset), "r"(to.address), "l"(address)
            : "memory");
    } else {
        static_assert(COUNT == 1, "one element or 16 bytes");
        asm volatile(
            "{\n"
            ".reg .pred p, q;\n"
            "setp.ne.u32 q, %0, 0;\n"
            "setp.ne.and.u32 p, %1, 0xffffffff, q;\n"
            "@p cp.async.ca.shared.global [%2], [%3], %4;\n"
            "}" ::"r"((unsigned int)comes),
            "r"(offset), "r"(to.address), "l"(address), "n"(sizeof(T))
            : "memory");
    }
}

// Returns the address. The compiler keeps it in registers, and does not recompute it where it is needed.
template <typename T>
__device__ __forceinline__ T* keep_address(T* address) {
    asm volatile("" : "+l"(address));
    return address;
}

#else

template <int COUNT, typename T>
inline void copy_to_place(bool comes, Place<T> to, const T* from, unsigned int offset) {
    if (!comes || offset == NOWHERE) return;
    for (int i = 0; i < COUNT; ++i) copy_element(to.at + i, from + offset + i);
}

template <typename T>
inline T* keep_address(T* address) {
    return address;
}

#endif

#ifdef __CUDACC_RTC__

// Bounds how far ptxas moves instructions: it delays multiply-adds for which nothing waits, and their operands take
// registers until then. It does so by a branch that is never taken: no number of slots is as large.
__device__ __forceinline__ void bound_schedule(int slots, int number) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.eq.u32 p, %0, %1;\n"
        "@p exit;\n"
        "}" ::"r"(slots),
        "r"(0x7fff0000 + number));
}

#else

inline void bound_schedule(int, int) {}

#endif

// Reads a lane's rows of a column, 16 bytes, from shared memory.
__device__ __forceinline__ void read_run(const float* from, float* to) { read_four(from, to); }
__device__ __forceinline__ void read_run(const double* from, double* to) {
    const double2 pair = *reinterpret_cast<const double2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

#ifdef __CUDACC_RTC__

// Writes a lane's rows of a column to shared memory if `goes`.
__device__ __forceinline__ void write_run(bool goes, Place<float> to, const float (&from)[4]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %0, 0;\n"
        "@p st.shared.v4.f32 [%1], {%2, %3, %4, %5};\n"
        "}" ::"r"((unsigned int)goes),
        "r"(to.address), "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3])
        : "memory");
}
__device__ __forceinline__ void write_run(bool goes, Place<double> to, const double (&from)[2]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %0, 0;\n"
        "@p st.shared.v2.f64 [%1], {%2, %3};\n"
        "}" ::"r"((unsigned int)goes),
        "r"(to.address), "d"(from[0]), "d"(from[1])
        : "memory");
}

#else

template <typename T, int COUNT>
inline void write_run(bool goes, Place<T> to, const T (&from)[COUNT]) {
    if (goes) memcpy(to.at, from, sizeof from);
}

#endif

// A tile: the layout of its pages in shared memory, and a lane's work on one.
//
// A lane holds the neighbouring rows that fill 16 bytes, of COLUMNS columns. STRIP_LANES lanes, one below the other,
// are a strip, and those of a sweep's WARPS warps are some strips side by side. COPY elements are copied at a time, 1
// or all of a lane's rows: then columns of the volume and of tiles begin and end at multiples of that. The compiler's
// schedule is bounded after every BOUND columns, or not at all with 0. A filter has ROW_TAPS rows, 3 or 1.
template <typename T, int STRIP_LANE_COUNT, int COLUMN_COUNT, int WARP_COUNT, int COPY_COUNT, int BOUND, int ROW_TAPS,
          class Filter>
struct Tile {
    static constexpr int ROWS = 16 / sizeof(T);
    static constexpr int COLUMNS = COLUMN_COUNT;
    static constexpr int WARPS = WARP_COUNT;
    static constexpr int STRIP_LANES = STRIP_LANE_COUNT;
    static constexpr int STRIPS = WARPS * LANES / STRIP_LANES;
    // A filter of one row has the sample in the middle, and needs none above and below.
    static constexpr int FIRST_TAP_ROW = 1 - ROW_TAPS / 2;
    static constexpr bool NEEDS_ROWS_ASIDE = ROW_TAPS > 1;
    static constexpr int COPY = COPY_COUNT;
    static constexpr int HEIGHT = STRIP_LANES * ROWS;
    static constexpr int WIDTH = STRIPS * COLUMNS;
    static constexpr int THREADS = 2 * WARPS * LANES;
    // A column of a page in shared memory, with 16 bytes more at both ends, and a page.
    static constexpr int PITCH = HEIGHT + 2 * ROWS;
    static constexpr int PAGE = PITCH * (WIDTH + 2);
    static constexpr int ELEMENTS = 4 * PAGE;
    // The place of the tile's first row and column in it.
    static constexpr int FIRST = PITCH + ROWS;
    // All threads copy a page, COPY_COLUMNS of its columns at a time by COPY_ROWS threads each: so a thread has the
    // same rows of COPIES columns.
    static constexpr int COPY_ROWS = HEIGHT / COPY + 2;
    static constexpr int COPY_COLUMNS = THREADS / COPY_ROWS;
    static constexpr int COPIES = (WIDTH + 2 + COPY_COLUMNS - 1) / COPY_COLUMNS;
    // It begins them while it computes the first half of its columns, COPIES_A_COLUMN with each.
    static constexpr int COPIES_A_COLUMN = most(2, (COPIES + COLUMNS / 2 - 1) / (COLUMNS / 2));
    // Number of these columns, with some behind the tile.
    static constexpr int OFFSETS = (COPIES + COPIES_A_COLUMN) * COPY_COLUMNS;
    static_assert(COPY == 1 || COPY == ROWS, "one element or 16 bytes");
    static_assert(COPY_COLUMNS > 0, "a thread has the same rows of all columns that come");
    static_assert(COLUMNS <= 32, "columns have bits");
    static_assert(STRIP_LANES % 8 == 0 && STRIP_LANES * STRIPS == WARPS * LANES,
                  "all lanes work, and their accesses do not conflict");

    // For each point the sums of the output that the next page completes, and of the one behind that.
    T sums[2][COLUMNS][ROWS];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int q = 0; q < 2; ++q) {
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) {
#pragma unroll
                for (int i = 0; i < ROWS; ++i) sums[q][c][i] = 0;
            }
        }
    }

    // Takes a page of samples, from this lane's place there: `emit` gets the completed outputs, column by column, and
    // `beside` is called before each. `slots` is the number of slots to come.
    template <class Emit, class Beside>
    __device__ __forceinline__ void take_page(Place<T> place, int slots, const Emit& emit, const Beside& beside) {
        const T* const from = place.pointer();
        T samples[3][ROWS + 2];
        load(from - PITCH, samples[0]);
        load(from, samples[1]);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            T finished[ROWS];
            beside(c);
#pragma unroll
            for (int q = 0; q < 3; ++q) {
                const T(&column)[ROWS + 2] = samples[(c + q) % 3];
#pragma unroll
                for (int r = 0; r < ROW_TAPS; ++r) {
#pragma unroll
                    for (int i = 0; i < ROWS; ++i) {
                        const bool begins = q == 0 && r == 0;
                        T& old = sums[0][c][i];
                        T& young = sums[1][c][i];
                        finished[i] =
                            fma(column[i + r + FIRST_TAP_ROW], Filter::tap(2, q, r), begins ? old : finished[i]);
                        old = fma(column[i + r + FIRST_TAP_ROW], Filter::tap(1, q, r), begins ? young : old);
                        young = fma(column[i + r + FIRST_TAP_ROW], Filter::tap(0, q, r), begins ? T(0) : young);
                    }
                }
                // The first column of samples is not needed any more.
                if (q == 0) load(from + (c + 1) * PITCH, samples[(c + 2) % 3]);
            }
            emit(c, finished);
            if constexpr (BOUND > 0) {
                if (c % BOUND == BOUND - 1) bound_schedule(slots, c);
            }
        }
    }

private:
    static __device__ __forceinline__ void load(const T* from, T (&column)[ROWS + 2]) {
        column[0] = from[-1];
        read_run(from, column + 1);
        column[ROWS + 1] = from[ROWS];
    }
};

}  // namespace volumes
