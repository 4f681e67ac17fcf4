// Code for the chip's compiler only, each with a form for a processor next to it: the tests compile the kernels as C++,
// too.
#pragma once

#ifdef __CUDACC_RTC__
// Declares the shared memory that the launch asks for as an array.
#define DYNAMIC_SHARED(TYPE, NAME) extern __shared__ TYPE NAME[]
#else
#define DYNAMIC_SHARED(TYPE, NAME) TYPE* const NAME = static_cast<TYPE*>(stand_in_dynamic_shared())
#endif

// Returns the number, hidden from the compiler: values derived from it are computed where they are needed, and take no
// registers elsewhere. The statement has no instruction in it, and is the same for every compiler.
__device__ __forceinline__ int here(int number) {
    asm volatile("" : "+r"(number));
    return number;
}
