// The operations of arithmetic/arithmetic.cu, for the class -DREAL.
#pragma once

#include "arguments.cuh"

using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

// The operations of each class, rounded to nearest.
template <class T>
struct Class;
template <>
struct Class<float> {
    static __device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
    static __device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
    static __device__ __forceinline__ float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
    static __device__ __forceinline__ float magnitude(float a) { return fabsf(a); }
    static __device__ __forceinline__ u32 bits(float a) { return __float_as_uint(a); }
};
template <>
struct Class<double> {
    static __device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
    static __device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
    static __device__ __forceinline__ double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
    static __device__ __forceinline__ double magnitude(double a) { return fabs(a); }
    static __device__ __forceinline__ u64 bits(double a) { return __double_as_longlong(a); }
};

namespace {
constexpr int THREADS = 256;

using Math = Class<REAL>;
}  // namespace
