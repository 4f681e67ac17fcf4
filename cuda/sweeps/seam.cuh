// The exchange at a seam: there the last segment of a whole line shares some points with those before it. Part of
// sweeps/sweeps.cuh.
#pragma once

// A thread's segment at a seam, and the slots that the segments fill.
template <typename T>
struct Seam {
    bool second_last;  // the last but one
    bool third_last;   // the one before that
    bool last;         // the last
    T* left_of_last;
    T* right_of_second_last;
};

// Publishes the points of a segment at a seam of `overlap` points, LOW <= overlap < HIGH. A register array must not be
// indexed by a variable, so there is code for each overlap, found by bisection. For few taps: the code grows with them.
template <int LOW, int HIGH, int POINTS, int RADIUS, int THREADS, typename T>
__device__ __forceinline__ void publish_overlap(const T* points, int overlap, const Seam<T>& seam) {
    if constexpr (HIGH - LOW > 1) {
        constexpr int MIDDLE = (LOW + HIGH) / 2;
        if (overlap < MIDDLE) {
            publish_overlap<LOW, MIDDLE, POINTS, RADIUS, THREADS>(points, overlap, seam);
        } else {
            publish_overlap<MIDDLE, HIGH, POINTS, RADIUS, THREADS>(points, overlap, seam);
        }
    } else {
#pragma unroll
        for (int i = 0; i < RADIUS; ++i) {
            const int left = POINTS - LOW - RADIUS + i;
            if (left >= 0) {
                if (seam.second_last) seam.left_of_last[i * THREADS] = points[left >= 0 ? left : 0];
            } else {
                if (seam.third_last) seam.left_of_last[i * THREADS] = points[left >= 0 ? 0 : left + POINTS];
            }
            if (LOW + i < POINTS) {
                if (seam.last) seam.right_of_second_last[i * THREADS] = points[LOW + i < POINTS ? LOW + i : 0];
            }
        }
    }
}

// Publishes for many taps: puts those of the RADIUS points from `from` on that lie in [LOW, HIGH) to their places among
// the rows at a slot; `row` is the place of point 0. A test of each point would take longer than the sweep.
template <int LOW, int HIGH, int RADIUS, int THREADS, typename T>
__device__ __forceinline__ void publish_some(const T* points, int from, T* row) {
    constexpr int FEW = 4;
    if constexpr (HIGH - LOW > FEW) {
        constexpr int MIDDLE = (LOW + HIGH) / 2;
        if (from < MIDDLE) publish_some<LOW, MIDDLE, RADIUS, THREADS>(points, from, row);
        if (from + RADIUS > MIDDLE) publish_some<MIDDLE, HIGH, RADIUS, THREADS>(points, from, row);
    } else {
#pragma unroll
        for (int v = LOW; v < HIGH; ++v) {
            if ((unsigned int)(v - from) < RADIUS) row[v * THREADS] = points[v];
        }
    }
}
