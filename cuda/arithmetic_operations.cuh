// The operations of arithmetic.cu, for the class -DREAL.
#pragma once

#include "arguments.cuh"

using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

// What each class of numbers calls its operations: all rounded to nearest, once.
template <class T>
struct Class;
template <>
struct Class<float> {
    using Other = double;
    static __device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
    static __device__ __forceinline__ float minus(float a, float b) { return __fsub_rn(a, b); }
    static __device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
    static __device__ __forceinline__ float over(float a, float b) { return __fdiv_rn(a, b); }
    static __device__ __forceinline__ float square_root(float a) { return __fsqrt_rn(a); }
    static __device__ __forceinline__ float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
    static __device__ __forceinline__ float magnitude(float a) { return fabsf(a); }
    static __device__ __forceinline__ float with_sign_of(float a, float b) { return copysignf(a, b); }
    static __device__ __forceinline__ float down(float a) { return floorf(a); }
    static __device__ __forceinline__ float up(float a) { return ceilf(a); }
    static __device__ __forceinline__ float to_zero(float a) { return truncf(a); }
    static __device__ __forceinline__ float nearest(float a) { return roundf(a); }
    static __device__ __forceinline__ u32 bits(float a) { return __float_as_uint(a); }
    static constexpr float EPSILON = 1.1920928955078125e-7f;
};
template <>
struct Class<double> {
    using Other = float;
    static __device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
    static __device__ __forceinline__ double minus(double a, double b) { return __dsub_rn(a, b); }
    static __device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
    static __device__ __forceinline__ double over(double a, double b) { return __ddiv_rn(a, b); }
    static __device__ __forceinline__ double square_root(double a) { return __dsqrt_rn(a); }
    static __device__ __forceinline__ double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
    static __device__ __forceinline__ double magnitude(double a) { return fabs(a); }
    static __device__ __forceinline__ double with_sign_of(double a, double b) { return copysign(a, b); }
    static __device__ __forceinline__ double down(double a) { return floor(a); }
    static __device__ __forceinline__ double up(double a) { return ceil(a); }
    static __device__ __forceinline__ double to_zero(double a) { return trunc(a); }
    static __device__ __forceinline__ double nearest(double a) { return round(a); }
    static __device__ __forceinline__ u64 bits(double a) { return __double_as_longlong(a); }
    static constexpr double EPSILON = 2.220446049250313e-16;
};

namespace {

constexpr int THREADS = 256;

using Math = Class<REAL>;
using OTHER = Math::Other;

__device__ __forceinline__ REAL truth(bool truth) { return truth ? REAL(1) : REAL(0); }

// The nearest number that a class of whole numbers holds.
__device__ __forceinline__ REAL saturated(REAL x, REAL low, REAL high) {
    const REAL whole = x != x ? REAL(0) : Math::nearest(x);
    const REAL bounded = whole < low ? low : whole;
    // The sum is +0 where both are zeros.
    return Math::plus(REAL(0), bounded > high ? high : bounded);
}

// What is left of `a` by a divisor: with the sign of the divisor (MOD) or of `a`.
template <bool MOD>
__device__ __forceinline__ REAL remainder_of(REAL a, REAL b) {
    // Of infinities no sum is asked for: they are whole.
    const auto nearest = [](REAL x) { return Math::minus(x, x) == 0 ? Math::down(Math::plus(x, REAL(0.5))) : x; };
    const REAL quotient = Math::over(a, b);
    const REAL near = nearest(quotient);
    const bool is_whole =
        nearest(b) != b && Math::magnitude(Math::over(Math::minus(quotient, near), near)) < Math::EPSILON;
    const REAL times = MOD ? Math::down(quotient) : Math::to_zero(quotient);
    REAL rest = is_whole ? REAL(0) : Math::minus(a, Math::times(b, times));
    if (a != b) rest = Math::with_sign_of(rest, MOD ? b : a);
    // 0 / 0 is NaN.
    return b != 0 ? rest : MOD ? a : Math::over(REAL(0), REAL(0));
}

// ---- operations on the elements of a thread

template <int COUNT, class Operation>
__device__ __forceinline__ void each(REAL (&own)[COUNT], Operation operation) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) own[i] = operation(own[i]);
}

template <int COUNT, class Operation>
__device__ __forceinline__ void both(REAL (&a)[COUNT], const REAL (&b)[COUNT], Operation operation) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) a[i] = operation(a[i], b[i]);
}

// Leaves the results in `a`.
template <int COUNT>
__device__ __forceinline__ void combine(BinaryOp op, REAL (&a)[COUNT], const REAL (&b)[COUNT]) {
    switch (op) {
        case BinaryOp::ADD: return both(a, b, [](REAL x, REAL y) { return Math::plus(x, y); });
        case BinaryOp::SUBTRACT: return both(a, b, [](REAL x, REAL y) { return Math::minus(x, y); });
        case BinaryOp::MULTIPLY: return both(a, b, [](REAL x, REAL y) { return Math::times(x, y); });
        case BinaryOp::DIVIDE: return both(a, b, [](REAL x, REAL y) { return Math::over(x, y); });
        case BinaryOp::MIN: return both(a, b, [](REAL x, REAL y) { return y != y || x <= y ? x : y; });
        case BinaryOp::MAX: return both(a, b, [](REAL x, REAL y) { return y != y || x >= y ? x : y; });
        case BinaryOp::EQUAL: return both(a, b, [](REAL x, REAL y) { return truth(x == y); });
        case BinaryOp::NOT_EQUAL: return both(a, b, [](REAL x, REAL y) { return truth(x != y); });
        case BinaryOp::LESS: return both(a, b, [](REAL x, REAL y) { return truth(x < y); });
        case BinaryOp::LESS_EQUAL: return both(a, b, [](REAL x, REAL y) { return truth(x <= y); });
        case BinaryOp::GREATER: return both(a, b, [](REAL x, REAL y) { return truth(x > y); });
        case BinaryOp::GREATER_EQUAL: return both(a, b, [](REAL x, REAL y) { return truth(x >= y); });
        case BinaryOp::AND: return both(a, b, [](REAL x, REAL y) { return truth(x != 0 && y != 0); });
        case BinaryOp::OR: return both(a, b, [](REAL x, REAL y) { return truth(x != 0 || y != 0); });
        case BinaryOp::XOR: return both(a, b, [](REAL x, REAL y) { return truth((x != 0) != (y != 0)); });
        case BinaryOp::MOD: return both(a, b, [](REAL x, REAL y) { return remainder_of<true>(x, y); });
        default: return both(a, b, [](REAL x, REAL y) { return remainder_of<false>(x, y); });
    }
}
}  // namespace
