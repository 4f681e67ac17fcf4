// CUDA's words for a C++ compiler: the kernels of cuda/ are compiled with this header ahead of them, unchanged, and run
// by executor.cpp, a block's threads as fibers.
//
// Words of CUDA that the kernels use, and no others. A missing word is a compile error that names it.
#pragma once

#include <string.h>

// Functions of C's <math.h>, which takes longer to compile in C++ than most kernels do; and CUDA's fma of floats.
extern "C" {
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double sqrt(double) noexcept;
float sqrtf(float) noexcept;
double fabs(double) noexcept;
float fabsf(float) noexcept;
double copysign(double, double) noexcept;
float copysignf(float, float) noexcept;
double floor(double) noexcept;
float floorf(float) noexcept;
double ceil(double) noexcept;
float ceilf(float) noexcept;
double trunc(double) noexcept;
float truncf(float) noexcept;
double round(double) noexcept;
float roundf(float) noexcept;
}
static inline float fma(float a, float b, float c) { return fmaf(a, b, c); }

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct uint3 {
    unsigned int x, y, z;
};
struct dim3 {
    unsigned int x, y, z;
};
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) double2 { double x, y; };

// The executor's: it sets them before it lets a thread go on.
extern "C" {
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

// A thread waits for the others of its block. The line identifies the barrier.
void stand_in_barrier(int line);
// A thread waits for those of its warp that `mask` has.
void stand_in_warp_barrier(unsigned int mask, int line);
// Memory for a value of up to 64 bytes that this thread gives to its warp, and, after the barrier, the value of the
// thread of `lane`.
void* stand_in_warp_give();
const void* stand_in_warp_take(unsigned int lane);
// The lane of this thread.
unsigned int stand_in_lane();
// The shared memory that the launch asked for.
void* stand_in_dynamic_shared();

// A barrier in shared memory for copies in bulk, one phase after the other: its construction for a number of arrivals;
// an arrival that announces bytes; a copy of announced bytes; and a wait for the end of the phase of a parity.
void stand_in_make_barrier(unsigned long long* barrier, int arrivals);
void stand_in_arrive(unsigned long long* barrier, int bytes);
void stand_in_copy_bulk(void* to, const void* from, int bytes, unsigned long long* barrier);
void stand_in_wait(unsigned long long* barrier, int parity);
// One that leaves shared memory: in this thread's groups of copies, as below.
void stand_in_copy_out_bulk(void* to, const void* from, int bytes);
// Copies of this thread, in groups: one that belongs to the group that is open; the end of that group; and the end of
// all groups but the last `later` that were ended.
void stand_in_copy_element(void* to, const void* from, int bytes);
void stand_in_end_group();
void stand_in_wait_groups(int later);
// A thread waits for the launch before its own, if that may begin early. Here launches follow each other: checks that
// each thread has waited before it copies from an array or ends.
void stand_in_follow_launch_before();
}

#define __syncthreads() stand_in_barrier(__LINE__)
#define __syncwarp(...) stand_in_warp_sync{__LINE__}.with(__VA_ARGS__)
#define __any_sync(mask, ...) stand_in_any(__LINE__, mask, __VA_ARGS__)
#define __ballot_sync(mask, ...) stand_in_ballot(__LINE__, mask, __VA_ARGS__)
#define __shfl_sync(mask, ...) stand_in_shuffle<stand_in_exact>(__LINE__, mask, __VA_ARGS__)
#define __shfl_up_sync(mask, ...) stand_in_shuffle<stand_in_up>(__LINE__, mask, __VA_ARGS__)
#define __shfl_down_sync(mask, ...) stand_in_shuffle<stand_in_down>(__LINE__, mask, __VA_ARGS__)
#define __shfl_xor_sync(mask, ...) stand_in_shuffle<stand_in_xor>(__LINE__, mask, __VA_ARGS__)

constexpr int warpSize = 32;

struct stand_in_warp_sync {
    int line;
    void with(unsigned int mask = 0xffffffffu) const { stand_in_warp_barrier(mask, line); }
};

// The lane of a group of `width` that a shuffle reads; false if it is outside the group, and a thread keeps its own
// value.
struct stand_in_exact {
    static bool from(unsigned int lane, int by, int width, unsigned int& source) {
        source = (lane & ~(unsigned int)(width - 1)) + ((unsigned int)by & (unsigned int)(width - 1));
        return true;
    }
};
struct stand_in_up {
    static bool from(unsigned int lane, int by, int width, unsigned int& source) {
        source = lane - (unsigned int)by;
        return (lane & (unsigned int)(width - 1)) >= (unsigned int)by;
    }
};
struct stand_in_down {
    static bool from(unsigned int lane, int by, int width, unsigned int& source) {
        source = lane + (unsigned int)by;
        return (lane & (unsigned int)(width - 1)) + (unsigned int)by < (unsigned int)width;
    }
};
struct stand_in_xor {
    static bool from(unsigned int lane, int by, int width, unsigned int& source) {
        source = lane ^ (unsigned int)by;
        return source / (unsigned int)width <= lane / (unsigned int)width;
    }
};

template <class Way, class T>
static inline T stand_in_shuffle(int line, unsigned int mask, T value, int by, int width = warpSize) {
    static_assert(sizeof(T) <= 16, "no value of more than 16 bytes is exchanged");
    const unsigned int lane = stand_in_lane();
    memcpy(stand_in_warp_give(), &value, sizeof value);
    stand_in_warp_barrier(mask, line);
    unsigned int source;
    if (Way::from(lane, by, width, source)) memcpy(&value, stand_in_warp_take(source), sizeof value);
    return value;
}

static inline int stand_in_any(int line, unsigned int mask, int predicate) {
    *static_cast<int*>(stand_in_warp_give()) = predicate;
    stand_in_warp_barrier(mask, line);
    int any = 0;
    for (unsigned int lane = 0; lane < 32; ++lane) {
        if (mask >> lane & 1) any |= *static_cast<const int*>(stand_in_warp_take(lane)) != 0;
    }
    return any;
}

static inline unsigned int stand_in_ballot(int line, unsigned int mask, int predicate) {
    *static_cast<int*>(stand_in_warp_give()) = predicate;
    stand_in_warp_barrier(mask, line);
    unsigned int ballot = 0;
    for (unsigned int lane = 0; lane < 32; ++lane) {
        if (mask >> lane & 1 && *static_cast<const int*>(stand_in_warp_take(lane))) ballot |= 1u << lane;
    }
    return ballot;
}

static inline int __popc(unsigned int bits) { return __builtin_popcount(bits); }
static inline int __ffs(int bits) { return __builtin_ffs(bits); }

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }

template <class T>
static inline T __ldg(const T* address) {
    return *address;
}

static inline unsigned int __float_as_uint(float value) {
    unsigned int bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline long long __double_as_longlong(double value) {
    long long bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// One operation, rounded to nearest: the processor's, which the compiler must not fuse.
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

// The statics between these two are the block's shared memory, unless they are constant or global: the module passes
// them to the executor.
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
extern "C" __attribute__((visibility("default"))) inline void stand_in_statics(char** begin, char** end) {
    *begin = __bss_start;
    *end = _end;
}
// Emitted in every module, although nothing in it calls it.
__attribute__((used)) static void (*const stand_in_keep)(char**, char**) = stand_in_statics;
