// Many sweeps along lines that are too short for registers (sweeps/sweeps.cuh): they are kept whole in shared memory.
#pragma once

#include "boundary.cuh"

// A thread's element of an array in each plane: at one place, of lines that are `abreast` apart. As lines lie side by
// side and slab behind slab, such a step is some slabs and a rest.
struct OneAPlane {
    unsigned long long inner, length, slabs, rest;
    unsigned long long i;  // the line's number in its slab
    unsigned long long element;

    __device__ __forceinline__ OneAPlane(unsigned long long inner, unsigned long long length, unsigned int abreast)
        : inner(inner), length(length), slabs(abreast / inner), rest(abreast - slabs * inner) {}

    __device__ __forceinline__ void begin(unsigned long long line, unsigned int place) {
        const unsigned long long slab = line / inner;
        i = line - slab * inner;
        element = (slab * length + place) * inner + i;
    }

    __device__ __forceinline__ void next() {
        i += rest;
        element += slabs * inner * length + rest;
        if (i >= inner) {
            i -= inner;
            element += inner * (length - 1);
        }
    }
};

// A block keeps PLANES planes of whole lines, `abreast` of them each. A thread has one element of every plane, all at
// one place of their lines: so the threads that hold its neighbours are the same in every plane and every sweep, and
// are found once. Behind the elements of a plane are the constants of the boundary, once for each bank of the memory:
// so a warp's reads of them have no conflicts.
//
// The host guarantees 1 <= abreast <= THREADS / length, and launches ceil (inner * outer / (abreast * PLANES)) blocks.
//
// Operator::one (sample) computes a single point from sample (0) .. sample (2 * RADIUS).
template <typename T, int THREADS, int PLANES, int RADIUS, class Operator>
__device__ __forceinline__ void sweep_short_lines(const SweepsArgument<T>& launch) {
    constexpr int BANKS = 32;
    constexpr int SAMPLES = 2 * RADIUS + 1;  // of a point
    __shared__ T memory[2][PLANES][THREADS + 2 * BANKS];
    // The places of the values RADIUS .. 1 before a line, and 0 .. RADIUS - 1 behind it.
    __shared__ int outside[SAMPLES];

    const int thread = (int)threadIdx.x;
    const int length = (int)launch.length;
    const int abreast = (int)launch.abreast;
    // Neighbouring threads have neighbours in memory: elements of a line, or of lines side by side.
    const bool along = launch.inner == 1;
    const int next = along ? 1 : abreast;
    const int place = along ? thread % length : thread / abreast;
    const bool used = thread < abreast * length;

    for (int at = thread; at < 2 * RADIUS; at += THREADS) {
        const int position = at < RADIUS ? at - RADIUS : at - RADIUS + length;
        const unsigned int boundary = position < 0 ? launch.ends.boundary[0] : launch.ends.boundary[1];
        int from = -1;
        if (boundary == REPLICATE) {
            from = position < 0 ? 0 : length - 1;
        } else if (boundary != CONSTANT) {
            // Whole periods at once: a line may be shorter than the radius.
            const int mirrored = boundary == SYMMETRIC ? 2 * length : length > 1 ? 2 * length - 2 : 1;
            const int period = boundary == CIRCULAR ? length : mirrored;
            from = position % period;
            if (from < 0) from += period;
            if (from >= length) from = boundary == SYMMETRIC ? period - 1 - from : period - from;
        }
        outside[at] = from;
    }
    for (int at = thread; at < 2 * PLANES * 2 * BANKS; at += THREADS) {
        const int plane = at / (2 * BANKS), ghost = at % (2 * BANKS);
        memory[plane / PLANES][plane % PLANES][THREADS + ghost] = T(launch.ends.value[ghost / BANKS]);
    }
    __syncthreads();

    // The threads that hold the samples under the filter's entries.
    int holder[SAMPLES];
#pragma unroll
    for (int k = 0; k < SAMPLES; ++k) {
        // A thread without an element has a place behind the line.
        int from = used ? place + k - RADIUS : 0;
        const bool before = from < 0;
        if (before)
            from = outside[from + RADIUS];
        else if (from >= length)
            from = outside[from - length + RADIUS];
        const int ghost = THREADS + (before ? 0 : BANKS) + ((thread + (k - RADIUS) * next) & (BANKS - 1));
        holder[k] = !used ? thread : from >= 0 ? thread + (from - place) * next : ghost;
    }

    const unsigned long long inner = launch.inner;
    const unsigned long long lines = inner * launch.outer;
    const unsigned long long first_line = (unsigned long long)blockIdx.x * PLANES * abreast +
                                          (unsigned long long)(along ? thread / length : thread % abreast);
    const unsigned long long left = used && first_line < lines ? lines - first_line : 0;
    OneAPlane walk(inner, length, abreast);

    T values[PLANES] = {};
    walk.begin(first_line, place);
#pragma unroll
    for (int p = 0; p < PLANES; ++p, walk.next()) {
        if ((unsigned int)(p * abreast) < left) values[p] = launch.input[walk.element];
        memory[0][p][thread] = values[p];
    }
    int current = 0;
#pragma unroll 1
    for (unsigned int sweep = 0; sweep < launch.sweeps; ++sweep) {
        __syncthreads();
#pragma unroll
        for (int p = 0; p < PLANES; ++p) {
            const T* plane = memory[current][p];
            values[p] = Operator::one([&](int k) { return k == RADIUS ? values[p] : plane[holder[k]]; });
        }
        current ^= 1;
#pragma unroll
        for (int p = 0; p < PLANES; ++p) memory[current][p][thread] = values[p];
    }
    walk.begin(first_line, place);
#pragma unroll
    for (int p = 0; p < PLANES; ++p, walk.next())
        if ((unsigned int)(p * abreast) < left) launch.output[walk.element] = values[p];
}
