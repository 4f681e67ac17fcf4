// Additional features of chips of compute capability 9.0, each with a form for a processor next to it: FP64 tensor
// cores, and asynchronous copies into shared memory that signal a barrier when they are done.
#pragma once

#include "chip.cuh"

// A barrier in shared memory, one phase after the other. A phase is over when all its expected arrivals and all bytes
// that they announced have come.
typedef unsigned long long Barrier;

#ifdef __CUDACC_RTC__

__device__ __forceinline__ unsigned int shared_address(const void* pointer) {
    return static_cast<unsigned int>(__cvta_generic_to_shared(pointer));
}

// D = A * B + D by a whole warp: D has 16 rows and 8 columns, A 16 x 8, B 8 x 8. With g = lane / 4 and q = lane % 4, a
// lane has A(g, q), A(g + 8, q), A(g, q + 4), A(g + 8, q + 4); B(q, g), B(q + 4, g); D(g, 2 q), D(g, 2 q + 1), D(g + 8,
// 2 q), D(g + 8, 2 q + 1). Each element of D is a chain of fused multiply-adds in ascending order, begun from its
// previous value: to the last bit, infinities and subnormal numbers included.
__device__ __forceinline__ void multiply_8(double (&d)[4], double a0, double a1, double a2, double a3, double b0,
                                           double b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
}

// D = A * B + D with the first four columns of A and the first four rows of B alone.
__device__ __forceinline__ void multiply_4(double (&d)[4], double a0, double a1, double b0) {
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a0), "d"(a1), "d"(b0));
}

// A barrier of a block's THREADS threads, at which warps of different roles arrive from different lines of the program.
template <int THREADS>
__device__ __forceinline__ void meet() {
    asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
}

// Sets the registers of each thread from here on, for all of four neighbouring warps: fewer than before, which others
// may take, or more, once that many are free.
template <int COUNT>
__device__ __forceinline__ void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// Makes a barrier for this number of arrivals a phase.
__device__ __forceinline__ void make_barrier(Barrier* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// To be called after the barriers are made and before the first copy: makes them visible to the copy unit.
__device__ __forceinline__ void barriers_are_made() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// To be called after this thread's writes to shared memory: orders later copies after them.
__device__ __forceinline__ void writes_before_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Arrives, and announces this number of bytes.
__device__ __forceinline__ void arrive(Barrier* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

// Lets the next launch begin where there is room, as soon as all blocks of this one have called this; and waits until
// the launch before has ended and its results are visible. Each thread of launches that may begin early calls it,
// before it touches an array and before it ends: a wait for this launch is then also one for those before it. For
// others it does nothing.
__device__ __forceinline__ void follow_launch_before() {
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Begins a bulk copy of `bytes` bytes, which were announced. Both addresses and the number are multiples of 16.
__device__ __forceinline__ void copy_bulk(void* to, const void* from, int bytes, Barrier* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

// Begins a bulk copy of `bytes` bytes from shared memory, after writes_before_copies, in this thread's current group of
// such copies. Both addresses and the number are multiples of 16.
__device__ __forceinline__ void copy_out_bulk(void* to, const void* from, int bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
                 "r"(bytes)
                 : "memory");
}

// Ends that group, and waits until shared memory has been read for all such groups.
__device__ __forceinline__ void end_leaving() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void wait_for_leaving() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// True for the one lane that the whole warp elects. For work with numbers that are the same in all lanes, the compiler
// then knows that it is done once, and makes no loop over lanes of it.
__device__ __forceinline__ bool is_elected() {
    unsigned int elected;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "elect.sync _|p, 0xffffffff;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(elected));
    return elected != 0;
}

// Waits until the phase is over: the barrier's first has parity 0, then they take turns.
__device__ __forceinline__ void wait(Barrier* barrier, int parity) {
    asm volatile(
        "{\n"
        ".reg .pred over;\n"
        "AGAIN: mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
        "@over bra DONE;\n"
        "bra AGAIN;\n"
        "DONE:\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

// Begins a copy of one element, for this thread's current group of copies.
template <typename T>
__device__ __forceinline__ void copy_element(T* to, const T* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(sizeof(T))
                 : "memory");
}

// Ends the group.
__device__ __forceinline__ void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits for all of this thread's groups but the last LATER ones.
template <int LATER>
__device__ __forceinline__ void wait_groups() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}

// Place of a double in shared memory: 32 bits that the compiler keeps instead of recomputing them from a pointer.
struct Shared {
    unsigned int at;

    __device__ __forceinline__ Shared operator+(int doubles) const { return {at + 8 * doubles}; }
};
__device__ __forceinline__ Shared in_shared(const double* pointer) {
    Shared place;
    asm volatile("mov.b32 %0, %1;" : "=r"(place.at) : "r"(shared_address(pointer)));
    return place;
}

// Reads from shared memory here, and not where the value is first needed.
__device__ __forceinline__ double read_here(Shared from) {
    double value;
    asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(value) : "r"(from.at) : "memory");
    return value;
}
__device__ __forceinline__ double2 read_pair_here(Shared from) {
    double2 pair;
    asm volatile("ld.volatile.shared.v2.f64 {%0, %1}, [%2];" : "=d"(pair.x), "=d"(pair.y) : "r"(from.at) : "memory");
    return pair;
}

// Reads four neighbours at a multiple of 16 bytes in shared memory, in one access. In this form it stays one: the
// compiler would split the four and merge them again, with varying results.
__device__ __forceinline__ void read_four(const float* from, float* to) {
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                 : "r"(shared_address(from))
                 : "memory");
}

// Writes two neighbouring outputs if there is room for them: the first needs `room` to be more than `at`, the second
// more than `at + 1`. This is predicated: a branch would end the block of instructions in which ptxas mixes this with
// the multiplications.
//
// PAIRS: `room - at` is never 1, and `to` is a multiple of 16.
template <bool PAIRS>
__device__ __forceinline__ void write_two(int room, int at, double* to, double first, double second) {
    if (PAIRS) {
        asm volatile(
            "{\n"
            ".reg .pred p;\n"
            "setp.gt.s32 p, %3, %4;\n"
            "@p st.global.v2.f64 [%0], {%1, %2};\n"
            "}" ::"l"(to),
            "d"(first), "d"(second), "r"(room), "r"(at)
            : "memory");
    } else {
        asm volatile(
            "{\n"
            ".reg .pred p, r;\n"
            "setp.gt.s32 p, %3, %4;\n"
            "setp.gt.s32 r, %3, %5;\n"
            "@p st.global.f64 [%0], %1;\n"
            "@r st.global.f64 [%0 + 8], %2;\n"
            "}" ::"l"(to),
            "d"(first), "d"(second), "r"(room), "r"(at), "r"(at + 1)
            : "memory");
    }
}

// Writes two neighbouring outputs if `which` has that bit, and the second only if the first is not `alone`: predicated,
// too. PAIRS: `to` is a multiple of 16 and `alone` never holds.
template <bool PAIRS>
__device__ __forceinline__ void write_two_of(unsigned int which, int bit, bool alone, double* to, double first,
                                             double second) {
    if (PAIRS) {
        asm volatile(
            "{\n"
            ".reg .pred p;\n"
            ".reg .b32 b;\n"
            "and.b32 b, %3, %4;\n"
            "setp.ne.u32 p, b, 0;\n"
            "@p st.global.v2.f64 [%0], {%1, %2};\n"
            "}" ::"l"(to),
            "d"(first), "d"(second), "r"(which), "r"(1u << bit)
            : "memory");
    } else {
        asm volatile(
            "{\n"
            ".reg .pred p, r;\n"
            ".reg .b32 b;\n"
            "and.b32 b, %3, %4;\n"
            "setp.ne.u32 p, b, 0;\n"
            "setp.eq.and.u32 r, %5, 0, p;\n"
            "@p st.global.f64 [%0], %1;\n"
            "@r st.global.f64 [%0 + 8], %2;\n"
            "}" ::"l"(to),
            "d"(first), "d"(second), "r"(which), "r"(1u << bit), "r"(static_cast<int>(alone))
            : "memory");
    }
}

// Keep the lesser or the greater of both, here and not later.
__device__ __forceinline__ void keep_least(unsigned int& least, unsigned int other) {
    asm volatile("min.u32 %0, %0, %1;" : "+r"(least) : "r"(other));
}
__device__ __forceinline__ void keep_most(unsigned int& most, unsigned int other) {
    asm volatile("max.u32 %0, %0, %1;" : "+r"(most) : "r"(other));
}

// Return the upper or the lower half of the 64 bits.
__device__ __forceinline__ unsigned int high_word(double value) {
    return static_cast<unsigned int>(__double2hiint(value));
}
__device__ __forceinline__ unsigned int low_word(double value) {
    return static_cast<unsigned int>(__double2loint(value));
}

#else

__device__ __forceinline__ unsigned int high_word(double value) {
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    return static_cast<unsigned int>(bits >> 32);
}
__device__ __forceinline__ unsigned int low_word(double value) {
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    return static_cast<unsigned int>(bits);
}

// A lane's factors of a product for the other lanes, and the product of the factors of all.
struct Factors {
    double a[4];
    double b[2];
};
__device__ inline void multiply(double (&d)[4], const Factors& own, int steps) {
    memcpy(stand_in_warp_give(), &own, sizeof own);
    stand_in_warp_barrier(0xffffffffu, __LINE__);
    const unsigned int lane = stand_in_lane();
    for (unsigned int i = 0; i < 4; ++i) {
        const unsigned int row = lane / 4 + i / 2 * 8;
        const unsigned int column = lane % 4 * 2 + i % 2;
        for (unsigned int k = 0; k < (unsigned int)steps; ++k) {
            const auto* of_row = static_cast<const Factors*>(stand_in_warp_take(row % 8 * 4 + k % 4));
            const auto* of_column = static_cast<const Factors*>(stand_in_warp_take(column * 4 + k % 4));
            d[i] = fma(of_row->a[row / 8 + k / 4 * 2], of_column->b[k / 4], d[i]);
        }
    }
}
__device__ inline void multiply_8(double (&d)[4], double a0, double a1, double a2, double a3, double b0, double b1) {
    multiply(d, {{a0, a1, a2, a3}, {b0, b1}}, 8);
}
__device__ inline void multiply_4(double (&d)[4], double a0, double a1, double b0) {
    multiply(d, {{a0, a1, 0, 0}, {b0, 0}}, 4);
}

template <int THREADS>
__device__ inline void meet() {
    __syncthreads();
}
template <int COUNT>
__device__ inline void give_registers() {}
template <int COUNT>
__device__ inline void take_registers() {}
__device__ inline void make_barrier(Barrier* barrier, int arrivals) { stand_in_make_barrier(barrier, arrivals); }
__device__ inline void barriers_are_made() {}
__device__ inline void writes_before_copies() {}
__device__ inline void follow_launch_before() { stand_in_follow_launch_before(); }
__device__ inline bool is_elected() { return stand_in_lane() == 0; }
__device__ inline void arrive(Barrier* barrier, int bytes) { stand_in_arrive(barrier, bytes); }
__device__ inline void copy_bulk(void* to, const void* from, int bytes, Barrier* barrier) {
    stand_in_copy_bulk(to, from, bytes, barrier);
}
__device__ inline void copy_out_bulk(void* to, const void* from, int bytes) { stand_in_copy_out_bulk(to, from, bytes); }
__device__ inline void end_leaving() { stand_in_end_group(); }
__device__ inline void wait_for_leaving() { stand_in_wait_groups(0); }
__device__ inline void wait(Barrier* barrier, int parity) { stand_in_wait(barrier, parity); }
template <typename T>
__device__ inline void copy_element(T* to, const T* from) {
    stand_in_copy_element(to, from, sizeof *to);
}
__device__ inline void end_group() { stand_in_end_group(); }
template <int LATER>
__device__ inline void wait_groups() {
    stand_in_wait_groups(LATER);
}
struct Shared {
    const double* at;

    __device__ Shared operator+(int doubles) const { return {at + doubles}; }
};
__device__ inline Shared in_shared(const double* pointer) { return {pointer}; }
__device__ inline double read_here(Shared from) { return *from.at; }
__device__ inline void read_four(const float* from, float* to) { memcpy(to, from, 4 * sizeof *to); }
__device__ inline double2 read_pair_here(Shared from) { return *reinterpret_cast<const double2*>(from.at); }
template <bool PAIRS>
__device__ inline void write_two(int room, int at, double* to, double first, double second) {
    if (PAIRS) {
        if (room > at) *reinterpret_cast<double2*>(to) = {first, second};
    } else {
        if (room > at) to[0] = first;
        if (room > at + 1) to[1] = second;
    }
}
template <bool PAIRS>
__device__ inline void write_two_of(unsigned int which, int bit, bool alone, double* to, double first, double second) {
    if ((which >> bit & 1) != 0) write_two<PAIRS>(PAIRS || !alone ? 2 : 1, 0, to, first, second);
}
__device__ inline void keep_least(unsigned int& least, unsigned int other) { least = other < least ? other : least; }
__device__ inline void keep_most(unsigned int& most, unsigned int other) { most = other > most ? other : most; }

#endif

// Returns the magnitude of the value: the upper half without the sign, with all of the lower half in the last bit. It
// is 0 for zero alone.
__device__ __forceinline__ unsigned int magnitude(double value) {
    const unsigned int low = low_word(value);
    return (high_word(value) << 1) + (low < 1 ? low : 1);
}
