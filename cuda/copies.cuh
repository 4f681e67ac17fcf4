// Copies between global and shared memory in pieces that a condition may leave out, without a branch: a branch would
// end the block of instructions in which ptxas mixes them with arithmetic. Each has a form for a processor next to it.
//
// The condition is a bit of a mask.
#pragma once

#include "tensor.cuh"

#ifdef __CUDACC_RTC__

// A place in shared memory, in 32 bits: with a pointer NVRTC computes in 64 bits, for which 19 rows of 3 x 3 have no
// registers.
template <typename T>
struct Place {
    unsigned int address;

    __device__ __forceinline__ Place operator+(int elements) const {
        return {address + (unsigned int)(elements * (int)sizeof(T))};
    }
    // For reads that the compiler may order freely.
    __device__ __forceinline__ T* pointer() const { return static_cast<T*>(__cvta_shared_to_generic(address)); }
};

// Returns the place that a pointer points to.
template <typename T>
__device__ __forceinline__ Place<T> place_at(const T* pointer) {
    return {shared_address(pointer)};
}

// Returns the place that a pointer points to, kept in a register: the compiler would recompute it wherever registers
// are few.
template <typename T>
__device__ __forceinline__ Place<T> kept_place(const T* pointer) {
    unsigned int address = shared_address(pointer);
    asm volatile("" : "+r"(address));
    return {address};
}

// Reads COUNT neighbours: one, or four singles at a multiple of 16 bytes.
template <int COUNT>
__device__ __forceinline__ void read_at(Place<double> from, double* to) {
    static_assert(COUNT == 1, "");
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(*to) : "r"(from.address) : "memory");
}
template <int COUNT>
__device__ __forceinline__ void read_at(Place<float> from, float* to) {
    static_assert(COUNT == 1 || COUNT == 4, "");
    if constexpr (COUNT == 1) {
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(*to) : "r"(from.address) : "memory");
    } else {
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                     : "r"(from.address)
                     : "memory");
    }
}

// Writes COUNT neighbours: one, or four singles at a multiple of 16 bytes.
template <int COUNT>
__device__ __forceinline__ void write_at(Place<double> to, const double* from) {
    static_assert(COUNT == 1, "");
    asm volatile("st.shared.f64 [%0], %1;" ::"r"(to.address), "d"(*from) : "memory");
}
template <int COUNT>
__device__ __forceinline__ void write_at(Place<float> to, const float* from) {
    static_assert(COUNT == 1 || COUNT == 4, "");
    if constexpr (COUNT == 1) {
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(to.address), "f"(*from) : "memory");
    } else {
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to.address), "f"(from[0]), "f"(from[1]),
                     "f"(from[2]), "f"(from[3])
                     : "memory");
    }
}

// Returns the number, kept in a register.
__device__ __forceinline__ unsigned int kept_number(unsigned int number) {
    asm volatile("" : "+r"(number));
    return number;
}
__device__ __forceinline__ long long kept_distance(long long distance) {
    asm volatile("" : "+l"(distance));
    return distance;
}

// Arrives at a barrier if a number is not 0.
__device__ __forceinline__ void arrive_if(unsigned int arrives, Place<Barrier> barrier) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %1, 0;\n"
        "@p mbarrier.arrive.shared.b64 _, [%0];\n"
        "}" ::"r"(barrier.address),
        "r"(arrives)
        : "memory");
}
// Waits until the phase of this parity is over.
__device__ __forceinline__ void wait_at(Place<Barrier> barrier, unsigned int parity) {
    asm volatile(
        "{\n"
        ".reg .pred over;\n"
        "AGAIN: mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
        "@!over bra AGAIN;\n"
        "}" ::"r"(barrier.address),
        "r"(parity)
        : "memory");
}

// Begins a copy of BYTES bytes for this thread's current group of copies if the mask has the bit.
template <int BYTES, typename T>
__device__ __forceinline__ void copy_piece(unsigned int mask, unsigned int bit, Place<T> to, const void* from) {
    if constexpr (BYTES == 16) {
        asm volatile(
            "{\n"
            ".reg .pred p;\n"
            ".reg .b32 bit;\n"
            "and.b32 bit, %0, %1;\n"
            "setp.ne.u32 p, bit, 0;\n"
            "@p cp.async.cg.shared.global [%2], [%3], 16;\n"
            "}" ::"r"(mask),
            "r"(bit), "r"(to.address), "l"(from)
            : "memory");
    } else {
        asm volatile(
            "{\n"
            ".reg .pred p;\n"
            ".reg .b32 bit;\n"
            "and.b32 bit, %0, %1;\n"
            "setp.ne.u32 p, bit, 0;\n"
            "@p cp.async.ca.shared.global [%2], [%3], %4;\n"
            "}" ::"r"(mask),
            "r"(bit), "r"(to.address), "l"(from), "n"(BYTES)
            : "memory");
    }
}

// Reads neighbouring elements from shared memory if the mask has the bit; otherwise the result must not be used.
__device__ __forceinline__ void read_piece(unsigned int mask, unsigned int bit, Place<double> from, double (&to)[1]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %1, %2;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p ld.shared.f64 %0, [%3];\n"
        "}"
        : "=d"(to[0])
        : "r"(mask), "r"(bit), "r"(from.address)
        : "memory");
}
__device__ __forceinline__ void read_piece(unsigned int mask, unsigned int bit, Place<double> from, double (&to)[2]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %2, %3;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p ld.shared.v2.f64 {%0, %1}, [%4];\n"
        "}"
        : "=d"(to[0]), "=d"(to[1])
        : "r"(mask), "r"(bit), "r"(from.address)
        : "memory");
}
__device__ __forceinline__ void read_piece(unsigned int mask, unsigned int bit, Place<float> from, float (&to)[1]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %1, %2;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p ld.shared.f32 %0, [%3];\n"
        "}"
        : "=f"(to[0])
        : "r"(mask), "r"(bit), "r"(from.address)
        : "memory");
}
__device__ __forceinline__ void read_piece(unsigned int mask, unsigned int bit, Place<float> from, float (&to)[4]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %4, %5;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p ld.shared.v4.f32 {%0, %1, %2, %3}, [%6];\n"
        "}"
        : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
        : "r"(mask), "r"(bit), "r"(from.address)
        : "memory");
}

// Keeps the lesser of two numbers if the mask has the bit.
__device__ __forceinline__ void keep_least_of_piece(unsigned int mask, unsigned int bit, unsigned int& least,
                                                    unsigned int other) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %1, %2;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p min.u32 %0, %0, %3;\n"
        "}"
        : "+r"(least)
        : "r"(mask), "r"(bit), "r"(other));
}
// Adds zero times a value to a sum if the mask has the bit: a sum of 0 stays 0 as long as all values are finite.
__device__ __forceinline__ void add_nothing_of_piece(unsigned int mask, unsigned int bit, float& sum, float value) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %1, %2;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p fma.rn.f32 %0, %3, 0f00000000, %0;\n"
        "}"
        : "+f"(sum)
        : "r"(mask), "r"(bit), "f"(value));
}

// Writes them to global memory if the mask has the bit.
__device__ __forceinline__ void write_piece(unsigned int mask, unsigned int bit, double* to, const double (&from)[1]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %1, %2;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p st.global.f64 [%3], %0;\n"
        "}" ::"d"(from[0]),
        "r"(mask), "r"(bit), "l"(to)
        : "memory");
}
__device__ __forceinline__ void write_piece(unsigned int mask, unsigned int bit, double* to, const double (&from)[2]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %2, %3;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p st.global.v2.f64 [%4], {%0, %1};\n"
        "}" ::"d"(from[0]),
        "d"(from[1]), "r"(mask), "r"(bit), "l"(to)
        : "memory");
}
__device__ __forceinline__ void write_piece(unsigned int mask, unsigned int bit, float* to, const float (&from)[1]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %1, %2;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p st.global.f32 [%3], %0;\n"
        "}" ::"f"(from[0]),
        "r"(mask), "r"(bit), "l"(to)
        : "memory");
}
__device__ __forceinline__ void write_piece(unsigned int mask, unsigned int bit, float* to, const float (&from)[4]) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 bit;\n"
        "and.b32 bit, %4, %5;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@p st.global.v4.f32 [%6], {%0, %1, %2, %3};\n"
        "}" ::"f"(from[0]),
        "f"(from[1]), "f"(from[2]), "f"(from[3]), "r"(mask), "r"(bit), "l"(to)
        : "memory");
}

#else

template <typename T>
struct Place {
    T* at;

    __device__ Place operator+(int elements) const { return {at + elements}; }
    __device__ T* pointer() const { return at; }
};
template <typename T>
__device__ inline Place<T> place_at(T* pointer) {
    return {pointer};
}
template <typename T>
__device__ inline Place<T> kept_place(T* pointer) {
    return {pointer};
}
template <int COUNT, typename T>
__device__ inline void read_at(Place<T> from, T* to) {
    memcpy(to, from.at, COUNT * sizeof *to);
}
template <int COUNT, typename T>
__device__ inline void write_at(Place<T> to, const T* from) {
    memcpy(to.at, from, COUNT * sizeof *from);
}
__device__ inline unsigned int kept_number(unsigned int number) { return number; }
__device__ inline long long kept_distance(long long distance) { return distance; }
__device__ inline void arrive_if(unsigned int arrives, Place<Barrier> barrier) {
    if (arrives != 0) stand_in_arrive(barrier.at, 0);
}
__device__ inline void wait_at(Place<Barrier> barrier, unsigned int parity) { stand_in_wait(barrier.at, parity); }
template <int BYTES, typename T>
__device__ inline void copy_piece(unsigned int mask, unsigned int bit, Place<T> to, const void* from) {
    if (mask & bit) stand_in_copy_element(to.at, from, BYTES);
}
template <typename T, int WIDE>
__device__ inline void read_piece(unsigned int mask, unsigned int bit, Place<T> from, T (&to)[WIDE]) {
    if (mask & bit) memcpy(to, from.at, sizeof to);
}
__device__ inline void keep_least_of_piece(unsigned int mask, unsigned int bit, unsigned int& least,
                                           unsigned int other) {
    if (mask & bit) keep_least(least, other);
}
__device__ inline void add_nothing_of_piece(unsigned int mask, unsigned int bit, float& sum, float value) {
    if (mask & bit) sum = fma(value, 0.0f, sum);
}
template <typename T, int WIDE>
__device__ inline void write_piece(unsigned int mask, unsigned int bit, T* to, const T (&from)[WIDE]) {
    if (mask & bit) memcpy(to, from, sizeof from);
}

#endif
