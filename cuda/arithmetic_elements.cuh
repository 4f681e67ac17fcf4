// Arithmetic on arrays that lie side by side: element by element. Part of arithmetic.cu.
#pragma once

#include "arithmetic_operations.cuh"

namespace {
// Loads of a thread, and the elements of one.
constexpr int STEPS = 4;
constexpr int WIDTH = 16 / sizeof(REAL);
constexpr int OWN = STEPS * WIDTH;

struct __align__(16) Numbers { REAL of[WIDTH]; };
template <class T>
struct __align__(2 * sizeof(T)) Two {
    T of[2];
};
}  // namespace

namespace {
// The first element of this block, of so many in each.
__device__ __forceinline__ u64 first_of(u64 elements, u32 backwards) {
    return (backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * elements;
}

// Of this thread: where its vector `i` begins, in a block that begins at `first`.
template <int OF_VECTOR>
__device__ __forceinline__ u64 place(u64 first, int i) {
    return first + (i * THREADS + (int)threadIdx.x) * OF_VECTOR;
}

// Vectors of a thread, from and to memory; what is not there is zero.
template <class Vector, class T, int OF_VECTOR>
__device__ __forceinline__ void load(T (&own)[STEPS * OF_VECTOR], const T* from, u64 first, u64 count) {
    if (first + THREADS * STEPS * OF_VECTOR <= count) {
        Vector vectors[STEPS];
#pragma unroll
        for (int i = 0; i < STEPS; ++i) {
            vectors[i] = *reinterpret_cast<const Vector*>(from + place<OF_VECTOR>(first, i));
        }
#pragma unroll
        for (int i = 0; i < STEPS * OF_VECTOR; ++i) own[i] = vectors[i / OF_VECTOR].of[i % OF_VECTOR];
    } else {
#pragma unroll
        for (int i = 0; i < STEPS * OF_VECTOR; ++i) {
            const u64 at = place<OF_VECTOR>(first, i / OF_VECTOR) + i % OF_VECTOR;
            own[i] = at < count ? from[at] : T(0);
        }
    }
}

template <class Vector, class T, int OF_VECTOR>
__device__ __forceinline__ void store(const T (&own)[STEPS * OF_VECTOR], T* to, u64 first, u64 count) {
    if (first + THREADS * STEPS * OF_VECTOR <= count) {
#pragma unroll
        for (int i = 0; i < STEPS; ++i) {
            Vector vector;
#pragma unroll
            for (int w = 0; w < OF_VECTOR; ++w) vector.of[w] = own[i * OF_VECTOR + w];
            *reinterpret_cast<Vector*>(to + place<OF_VECTOR>(first, i)) = vector;
        }
    } else {
#pragma unroll
        for (int i = 0; i < STEPS * OF_VECTOR; ++i) {
            const u64 at = place<OF_VECTOR>(first, i / OF_VECTOR) + i % OF_VECTOR;
            if (at < count) to[at] = own[i];
        }
    }
}
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_unary(UnaryArgument<REAL> job) {
    const u64 first = first_of(THREADS * OWN, job.backwards);
    REAL own[OWN];
    load<Numbers, REAL, WIDTH>(own, static_cast<const REAL*>(job.from), first, job.count);
    switch (job.op) {
        case UnaryOp::NEGATE: each(own, [](REAL x) { return -x; }); break;
        case UnaryOp::ABS: each(own, [](REAL x) { return Math::magnitude(x); }); break;
        case UnaryOp::SQRT: each(own, [](REAL x) { return Math::square_root(x); }); break;
        case UnaryOp::NOT: each(own, [](REAL x) { return truth(x == 0); }); break;
        case UnaryOp::IS_NAN: each(own, [](REAL x) { return truth(x != x); }); break;
        case UnaryOp::FLOOR: each(own, [](REAL x) { return Math::down(x); }); break;
        case UnaryOp::CEIL: each(own, [](REAL x) { return Math::up(x); }); break;
        case UnaryOp::ROUND: each(own, [](REAL x) { return Math::nearest(x); }); break;
        case UnaryOp::FIX: each(own, [](REAL x) { return Math::to_zero(x); }); break;
        case UnaryOp::SIGN:
            each(own, [](REAL x) { return x > 0 ? REAL(1) : x < 0 ? REAL(-1) : Math::magnitude(x); });
            break;
        case UnaryOp::SATURATE: {
            const REAL low = REAL(job.bounds[0]), high = REAL(job.bounds[1]);
            each(own, [=](REAL x) { return saturated(x, low, high); });
            break;
        }
        default: {
            const int exponent = job.exponent;
            REAL power[OWN];
#pragma unroll
            for (int i = 0; i < OWN; ++i) power[i] = exponent == 0 ? REAL(1) : own[i];
#pragma unroll 1
            for (int k = exponent < 0 ? -exponent : exponent; k > 1; --k) {
#pragma unroll
                for (int i = 0; i < OWN; ++i) power[i] = Math::times(power[i], own[i]);
            }
#pragma unroll
            for (int i = 0; i < OWN; ++i) own[i] = power[i];
            if (exponent < 0) each(own, [](REAL x) { return Math::over(REAL(1), x); });
        }
    }
    store<Numbers, REAL, WIDTH>(own, job.to, first, job.count);
}

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_binary(BinaryArgument<REAL> job) {
    const u64 first = first_of(THREADS * OWN, job.backwards);
    REAL own[2][OWN];
#pragma unroll
    for (int which = 0; which < 2; ++which) {
        if (job.from[which]) {
            load<Numbers, REAL, WIDTH>(own[which], job.from[which], first, job.count);
        } else {
            each(own[which], [&](REAL) { return REAL(job.scalar[which]); });
        }
    }
    combine(job.op, own[0], own[1]);
    store<Numbers, REAL, WIDTH>(own[0], job.to, first, job.count);
}

// A step of two time levels, in the place of the older one. A source that is nowhere is the scalar.

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_advance(AdvanceArgument<REAL> job) {
    const u64 first = first_of(THREADS * OWN, job.backwards);
    REAL step[OWN];
    REAL older[OWN];
    load<Numbers, REAL, WIDTH>(step, job.step, first, job.count);
    load<Numbers, REAL, WIDTH>(older, job.older, first, job.count);
    REAL source[OWN];
    if (job.source) {
        load<Numbers, REAL, WIDTH>(source, job.source, first, job.count);
    } else {
        each(source, [&](REAL) { return REAL(job.scalar); });
    }
    const REAL weight = REAL(job.weight);
    both(older, step, [&](REAL x, REAL y) { return Math::fused(weight, x, y); });
    if (job.with_source) both(older, source, [](REAL x, REAL y) { return Math::plus(x, y); });
    store<Numbers, REAL, WIDTH>(older, job.older, first, job.count);
}

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_fill(FillArgument<REAL> job) {
    const u64 first = (u64)blockIdx.x * (THREADS * OWN);
    REAL own[OWN];
#pragma unroll
    for (int i = 0; i < OWN; ++i) own[i] = REAL(job.value);
    store<Numbers, REAL, WIDTH>(own, job.to, first, job.count);
}

// From the other class, by pairs: so neighbouring threads read and write neighbouring ones in both.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_convert(UnaryArgument<REAL> job) {
    const u64 first = first_of(THREADS * STEPS * 2, job.backwards);
    OTHER own[STEPS * 2];
    REAL converted[STEPS * 2];
    load<Two<OTHER>, OTHER, 2>(own, static_cast<const OTHER*>(job.from), first, job.count);
#pragma unroll
    for (int i = 0; i < STEPS * 2; ++i) converted[i] = REAL(own[i]);
    store<Two<REAL>, REAL, 2>(converted, job.to, first, job.count);
}
