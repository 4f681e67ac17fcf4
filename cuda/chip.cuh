// What only the chip's compiler understands, each with a form for a processor beside it: the tests compile the kernels
// as C++, too.
#pragma once

#ifdef __CUDACC_RTC__
// The shared memory that the launch asks for, as an array.
#define DYNAMIC_SHARED(TYPE, NAME) extern __shared__ TYPE NAME[]
#else
#define DYNAMIC_SHARED(TYPE, NAME) TYPE* const NAME = static_cast<TYPE*>(stand_in_dynamic_shared())
#endif

// The number itself, hidden from the compiler: what follows from it is computed where it is needed, and
// takes no registers elsewhere. The statement has no instruction in it, and is the same for every compiler.
__device__ __forceinline__ int here(int number) {
    asm volatile("" : "+r"(number));
    return number;
}
