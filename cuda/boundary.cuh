// Boundaries of an array.
#pragma once

#include "arguments.cuh"

// Returns the sample of `count` of a dimension that a place `at` takes its value from; -1 for the constant of the lower
// end, -2 for that of the upper end. Behind the last sample no output needs more than `radius`.
__device__ __forceinline__ long long sample_at(long long at, long long count, int radius, const EndsArgument& ends) {
    if (at >= 0 && at < count) return at;
    const unsigned int boundary = at < 0 ? ends.boundary[0] : ends.boundary[1];
    if (boundary == CONSTANT || at >= count + radius) return at < 0 ? -1 : -2;
    if (boundary == REPLICATE || count == 1) return at < 0 ? 0 : count - 1;
    // Once, unless there are fewer samples than the radius.
    const int included = boundary == SYMMETRIC ? 1 : 0;
    do {
        const long long mirrored = (at < 0 ? -included : 2 * count - 2 + included) - at;
        const long long around = at < 0 ? at + count : at - count;
        at = boundary == CIRCULAR ? around : mirrored;
    } while (at < 0 || at >= count);
    return at;
}

// Returns the constant for such a negative number.
__device__ __forceinline__ double constant_of(const EndsArgument& ends, long long sample) {
    return sample == -1 ? ends.value[0] : ends.value[1];
}
