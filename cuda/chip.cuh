// What only the chip's compiler understands, each with a form for a processor beside it: the tests compile the kernels
// as C++, too.
#pragma once

#ifdef __CUDACC_RTC__
// The shared memory that the launch asks for, as an array.
#define DYNAMIC_SHARED(TYPE, NAME) extern __shared__ TYPE NAME[]
#else
#define DYNAMIC_SHARED(TYPE, NAME) TYPE* const NAME = static_cast<TYPE*>(stand_in_dynamic_shared())
#endif

// The same number, but the compiler cannot know it before: what follows from it is computed where it is needed, and
// takes no registers elsewhere. The statement has no instruction in it, and is the same for every compiler.
__device__ __forceinline__ int here(int number) {
    asm volatile("" : "+r"(number));
    return number;
}

#ifdef __CUDACC_RTC__
// An element goes from global to shared memory without a register: it is there after `copies_wait` of the same thread.
// For compute capability 8.0 and newer.
template <typename T>
__device__ __forceinline__ void copy_async(T* to, const T* from) {
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
    if constexpr (sizeof(T) == 8) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(place), "l"(from) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place), "l"(from) : "memory");
    }
}

__device__ __forceinline__ void copies_wait() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// Barriers in shared memory that some arrive at and others wait for: so many arrivals are a phase, and phases have
// parity 0, 1, 0, .. For compute capability 9.0, as what is copied as a whole.
__device__ __forceinline__ void barrier_init(unsigned long long* barrier, int arrivals) {
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(place), "r"(arrivals) : "memory");
}

// All that this thread has made are there for all that it meets after this.
__device__ __forceinline__ void barriers_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ __forceinline__ void barrier_arrive(unsigned long long* barrier) {
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(place) : "memory");
}

// Arrives when all that this thread had copied asynchronously is there.
__device__ __forceinline__ void barrier_arrive_copied(unsigned long long* barrier) {
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(barrier);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(place) : "memory");
}

// Arrives; and the phase is over when so many bytes have come, too.
__device__ __forceinline__ void barrier_expect(unsigned long long* barrier, int bytes) {
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(place), "r"(bytes) : "memory");
}

// Waits until the phase of this parity is over; of a barrier that nobody arrived at, that of parity 1 is.
__device__ __forceinline__ void barrier_wait(unsigned long long* barrier, unsigned int parity) {
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(barrier);
    unsigned int over;
    do {
        asm volatile(
            "{\n"
            ".reg .pred over;\n"
            "mbarrier.try_wait.parity.shared.b64 over, [%1], %2;\n"
            "selp.u32 %0, 1, 0, over;\n"
            "}\n"
            : "=r"(over)
            : "r"(place), "r"(parity)
            : "memory");
    } while (!over);
}

// Runs of memory that one thread has copied as a whole, both ends and the length in multiples of 16 bytes.
__device__ __forceinline__ void bulk_copy_in(void* to, const void* from, int bytes, unsigned long long* barrier) {
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
    const unsigned int at = (unsigned int)__cvta_generic_to_shared(barrier);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place),
                 "l"(from), "r"(bytes), "r"(at)
                 : "memory");
}

// What this thread has written to shared memory may be copied out by another that it meets after this.
__device__ __forceinline__ void bulk_publish() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void bulk_copy_out(void* to, const void* from, int bytes) {
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(from);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(place), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// What this thread has copied out has been read.
__device__ __forceinline__ void bulk_copies_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// All of it is there.
__device__ __forceinline__ void bulk_copies_wait() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif
