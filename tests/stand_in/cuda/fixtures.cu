// Kernels with one fault each, and some without: what the stand-in finds is tested on them. The PTX that goes with them
// is in tests/system/cuda_stand_in.rs.

struct Job {
    const float* input;
    float* output;
    const float* other;
    unsigned long long count;
};

__constant__ float factor[4];
__device__ float total[1];

namespace {
constexpr int THREADS = 64;

__device__ __forceinline__ unsigned long long own() {
    return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
}
}  // namespace

// Each block turned round.
extern "C" __global__ void __launch_bounds__(THREADS) turned(Job job) {
    __shared__ float tile[THREADS];
    tile[threadIdx.x] = job.input[own()];
    __syncthreads();
    job.output[own()] = factor[1] * tile[THREADS - 1 - threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(THREADS) without_barrier(Job job) {
    __shared__ float tile[THREADS];
    tile[threadIdx.x] = job.input[own()];
    job.output[own()] = tile[THREADS - 1 - threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(THREADS) two_barriers(Job job) {
    if (threadIdx.x % 2) {
        __syncthreads();
        job.output[own()] = 1;
    } else {
        __syncthreads();
        job.output[own()] = 2;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) ends_before_barrier(Job job) {
    if (threadIdx.x == 7) return;
    __syncthreads();
    job.output[own()] = 1;
}

extern "C" __global__ void __launch_bounds__(THREADS) one_too_far(Job job) { job.output[own() + 1] = 1; }

extern "C" __global__ void __launch_bounds__(THREADS) reads_one_too_far(Job job) {
    job.output[own()] = job.input[own() + 1];
}

extern "C" __global__ void __launch_bounds__(THREADS) too_far_in_shared(Job job) {
    __shared__ float tile[THREADS];
    tile[threadIdx.x + (job.count > 0)] = 1;
    __syncthreads();
    job.output[own()] = tile[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(THREADS) reads_what_nobody_wrote(Job job) {
    __shared__ float tile[THREADS];
    if (threadIdx.x != 5) tile[threadIdx.x] = 1;
    __syncthreads();
    job.output[own()] = tile[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(THREADS) writes_constant(Job job) { factor[0] = job.input[0] + 1; }

extern "C" __global__ void __launch_bounds__(THREADS) counts(Job job) {
    if (own() == 0) total[0] = (float)(gridDim.x * blockDim.x);
    job.output[own()] = blockIdx.x;
}

// Every block writes the first element.
extern "C" __global__ void __launch_bounds__(THREADS) blocks_meet(Job job) {
    if (threadIdx.x == 0) job.output[0] = blockIdx.x;
}

// Sums of a warp's values in four ways, which all come to the same.
extern "C" __global__ void __launch_bounds__(THREADS) shuffles(Job job) {
    const unsigned int all = 0xffffffffu;
    const unsigned int lane = threadIdx.x % 32;
    const float mine = job.input[own()];
    float with_xor = mine;
    for (int by = 16; by > 0; by /= 2) with_xor += __shfl_xor_sync(all, with_xor, by);
    float with_down = mine;
    for (int by = 16; by > 0; by /= 2) with_down += __shfl_down_sync(all, with_down, by);
    with_down = __shfl_sync(all, with_down, 0);
    float with_up = mine;
    for (int by = 1; by < 32; by *= 2) {
        const float ahead = __shfl_up_sync(all, with_up, by);
        if (lane >= (unsigned int)by) with_up += ahead;
    }
    with_up = __shfl_sync(all, with_up, 31);
    __syncwarp();
    // In groups of eight: the last of each.
    const float of_group = __shfl_sync(all, mine, 7, 8);
    const bool same = with_xor == with_down && with_down == with_up && of_group == job.input[own() - lane % 8 + 7];
    job.output[own()] = same ? with_xor : -1;
}

// Rounded once, not twice, and not fused unless asked for.
extern "C" __global__ void __launch_bounds__(THREADS) rounds(Job job) {
    const float x = job.input[own()];
    const float fused = fma(x, x, -job.other[own()]);
    const float apart = x * x - job.other[own()];
    job.output[own()] = fused != 0 && apart == 0 ? 1 : 0;
}

extern "C" __global__ void __launch_bounds__(THREADS) dynamic(Job job) {
    float* tile = static_cast<float*>(stand_in_dynamic_shared());
    tile[threadIdx.x] = job.input[own()];
    __syncthreads();
    job.output[own()] = tile[(threadIdx.x + 1) % THREADS];
}

// A block's samples come by themselves: all of them in bulk, half of that announced by each of two threads, and then
// the first two one by one.
namespace {
template <bool WAITS, bool BEGUN, int OFF>
__device__ __forceinline__ void copied(const Job& job) {
    struct __align__(16) Memory {
        float tile[THREADS + 4];
        unsigned long long barrier;
    };
    __shared__ Memory memory;
    constexpr int HALF = THREADS / 2;
    const float* from = job.input + blockIdx.x * THREADS;
    if (threadIdx.x == 0) stand_in_make_barrier(&memory.barrier, 2);
    __syncthreads();
    if (threadIdx.x % HALF == 0 && (BEGUN || threadIdx.x == 0)) {
        stand_in_arrive(&memory.barrier, HALF * 4);
        stand_in_copy_bulk(memory.tile + threadIdx.x + OFF, from + threadIdx.x, HALF * 4, &memory.barrier);
    }
    if (WAITS) stand_in_wait(&memory.barrier, 0);
    __syncthreads();
    if (threadIdx.x < 2) {
        stand_in_copy_element(memory.tile + threadIdx.x, from + threadIdx.x + 2, 4);
        stand_in_end_group();
        // No thread waits for the next group before the end.
        stand_in_copy_element(memory.tile + THREADS + threadIdx.x, from, 4);
        stand_in_end_group();
        if (WAITS) stand_in_wait_groups(1);
    }
    __syncthreads();
    job.output[own()] = memory.tile[THREADS - 1 - threadIdx.x];
    __syncthreads();
    stand_in_wait_groups(0);
    if (BEGUN) stand_in_wait(&memory.barrier, 0);
}
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) copies(Job job) { copied<true, true, 0>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) copies_too_late(Job job) { copied<false, true, 0>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) copies_never_begun(Job job) { copied<true, false, 0>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) copies_off_their_place(Job job) { copied<true, true, 1>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) copies_left(Job job) {
    __shared__ float tile[2];
    stand_in_copy_element(tile, job.input, 4);
    stand_in_copy_element(tile + 1, job.input, 4);
    job.output[own()] = 1;
}

// One thread has a block's samples come, and all meet at a barrier in shared memory. It is to have waited for them by then.
namespace {
template <bool WAITED>
__device__ __forceinline__ void met(const Job& job) {
    struct __align__(16) Memory {
        float tile[THREADS];
        unsigned long long come, all;
    };
    __shared__ Memory memory;
    if (threadIdx.x == 0) {
        stand_in_make_barrier(&memory.come, 1);
        stand_in_make_barrier(&memory.all, THREADS / 32);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        stand_in_arrive(&memory.come, THREADS * 4);
        stand_in_copy_bulk(memory.tile, job.input + blockIdx.x * THREADS, THREADS * 4, &memory.come);
        if (WAITED) stand_in_wait(&memory.come, 0);
    }
    if (threadIdx.x % 32 == 0) stand_in_arrive(&memory.all, 0);
    if (!WAITED && threadIdx.x == 0) stand_in_wait(&memory.come, 0);
    stand_in_wait(&memory.all, 0);
    job.output[own()] = memory.tile[THREADS - 1 - threadIdx.x];
}

// The first warp hands samples to the second, and later others at the same place: they wait for each other at barriers in
// shared memory, and never all for all. It is to write before it says so, and again when the second has read.
enum { HANDED, TOO_EARLY, AGAIN_TOO_EARLY };
template <int HOW>
__device__ __forceinline__ void handed(const Job& job) {
    struct Memory {
        float tile[32];
        unsigned long long there[2], read[2];
    };
    __shared__ Memory memory;
    if (threadIdx.x == 0) {
        for (int turn = 0; turn < 2; ++turn) {
            stand_in_make_barrier(memory.there + turn, 1);
            stand_in_make_barrier(memory.read + turn, 1);
        }
    }
    __syncthreads();
    const unsigned int lane = threadIdx.x % 32;
    const auto tell = [&](unsigned long long* barrier) {
        __syncwarp();
        if (lane == 0) stand_in_arrive(barrier, 0);
    };
    for (int turn = 0; turn < 2; ++turn) {
        if (threadIdx.x < 32) {
            if (turn > 0 && HOW != AGAIN_TOO_EARLY) stand_in_wait(memory.read, 0);
            if (turn > 0 && HOW == TOO_EARLY) tell(memory.there + turn);
            memory.tile[lane] = job.input[own()] + turn;
            if (turn == 0 || HOW != TOO_EARLY) tell(memory.there + turn);
            job.output[own()] = job.input[own()];
        } else {
            stand_in_wait(memory.there + turn, 0);
            job.output[own()] = memory.tile[lane];
            tell(memory.read + turn);
        }
    }
}

// Samples that leave in bulk, and may not begin elsewhere than at a multiple of 16 bytes.
template <int OFF>
__device__ __forceinline__ void left(const Job& job) {
    struct __align__(16) Memory { float tile[THREADS + 4]; };
    __shared__ Memory memory;
    memory.tile[threadIdx.x] = job.input[own()];
    __syncthreads();
    if (threadIdx.x > 0) return;
    stand_in_copy_out_bulk(job.output + blockIdx.x * THREADS, memory.tile + OFF, THREADS * 4);
    stand_in_end_group();
    stand_in_wait_groups(0);
}
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) meets(Job job) { met<true>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) meets_too_early(Job job) { met<false>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) hands(Job job) { handed<HANDED>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) hands_too_early(Job job) { handed<TOO_EARLY>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) hands_again_too_early(Job job) { handed<AGAIN_TOO_EARLY>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) leaves(Job job) { left<0>(job); }
extern "C" __global__ void __launch_bounds__(THREADS) leaves_off_its_place(Job job) { left<1>(job); }

// A launch that may begin early: all threads wait for the one before, or all but one.
extern "C" __global__ void __launch_bounds__(THREADS) follows(Job job) {
    stand_in_follow_launch_before();
    job.output[own()] = job.input[own()];
}
extern "C" __global__ void __launch_bounds__(THREADS) follows_but_one(Job job) {
    if (threadIdx.x != 5) stand_in_follow_launch_before();
    job.output[own()] = job.input[own()];
}

// A number that each lane of a warp gives the others.
extern "C" __global__ void __launch_bounds__(THREADS) any(Job job) {
    const int lane = threadIdx.x % 32;
    bool right = true;
    for (int one = 0; one < 32; ++one) right = right && __any_sync(0xffffffffu, lane == one);
    right = right && !__any_sync(0xffffffffu, lane > 31);
    job.output[own()] = right;
}
