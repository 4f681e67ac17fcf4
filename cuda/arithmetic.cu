// Arithmetic on arrays: what each result is, to the last bit, is said in src/stencil/arithmetic.rs.
//
// An element takes an operation or two, so all that counts is to keep the memory busy:
//  - What is done is a number in the argument. A thread asks for it once, when the numbers of several elements are on
//    their way.
//  - Where arrays lie side by side, a thread moves 16 bytes at a time. Every array begins at a multiple of that, and
//    only the last block has elements that do not fill them.
//  - Where they do not, neighbouring threads take neighbouring elements, and a thread goes from one of its elements to
//    the next by adding: it divides for the first one alone.
//  - Every operation is named by the intrinsic that rounds to nearest: the compiler may fuse a plain + and *.

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
};

namespace {
constexpr int RANK = 5;
constexpr int LANES = 32;
constexpr int CHUNK = 1024;

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / LANES;

// Side by side: loads of a thread, and the elements of one.
constexpr int STEPS = 4;
constexpr int WIDTH = 16 / sizeof(REAL);
constexpr int OWN = STEPS * WIDTH;
// Anywhere: elements of a thread.
constexpr int RUN = 8;
// Lines shorter than a warp: how many a lane takes a part of.
constexpr int SHORT_LINES = 4;
// The elements of the longest line that is short, where lines are columns beside each other. It is a power of two.
constexpr int SHORT_COLUMN = 16;

using Math = Class<REAL>;
using OTHER = Math::Other;

struct __align__(16) Numbers {
    REAL of[WIDTH];
};
template <class T>
struct __align__(2 * sizeof(T)) Two {
    T of[2];
};

__device__ __forceinline__ REAL truth(bool truth) { return truth ? REAL(1) : REAL(0); }
}  // namespace

// ---- side by side

// All the arrays of the kernels below have `count` elements. `backwards` says to begin with the last block of them: what
// was written last is in the cache still.
struct OneToOne {
    const void* from;
    REAL* to;
    u64 count;
    u32 op;
    int exponent;
    u32 backwards;
    u32 unused;
};

struct Scalar {
    REAL* to;
    u64 count;
    double value;
};

// An operand that is nowhere is the scalar.
struct TwoToOne {
    const REAL* from[2];
    REAL* to;
    u64 count;
    double scalar[2];
    u32 op;
    u32 backwards;
};

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

template <int COUNT, class Operation>
__device__ __forceinline__ void each(REAL (&own)[COUNT], Operation operation) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) own[i] = operation(own[i]);
}

// The numbers of `Unary` and `Binary` in src/cuda/kernels/arithmetic.rs.
enum UnaryOp : u32 { NEGATE, ABS, SQRT, NOT, IS_NAN, POWER };
enum BinaryOp : u32 {
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    MIN,
    MAX,
    EQUAL,
    NOT_EQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    AND,
    OR
};

template <int COUNT, class Operation>
__device__ __forceinline__ void both(REAL (&a)[COUNT], const REAL (&b)[COUNT], Operation operation) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) a[i] = operation(a[i], b[i]);
}

// Leaves the results in `a`.
template <int COUNT>
__device__ __forceinline__ void combine(u32 op, REAL (&a)[COUNT], const REAL (&b)[COUNT]) {
    switch (op) {
        case ADD: return both(a, b, [](REAL x, REAL y) { return Math::plus(x, y); });
        case SUBTRACT: return both(a, b, [](REAL x, REAL y) { return Math::minus(x, y); });
        case MULTIPLY: return both(a, b, [](REAL x, REAL y) { return Math::times(x, y); });
        case DIVIDE: return both(a, b, [](REAL x, REAL y) { return Math::over(x, y); });
        case MIN: return both(a, b, [](REAL x, REAL y) { return y != y || x <= y ? x : y; });
        case MAX: return both(a, b, [](REAL x, REAL y) { return y != y || x >= y ? x : y; });
        case EQUAL: return both(a, b, [](REAL x, REAL y) { return truth(x == y); });
        case NOT_EQUAL: return both(a, b, [](REAL x, REAL y) { return truth(x != y); });
        case LESS: return both(a, b, [](REAL x, REAL y) { return truth(x < y); });
        case LESS_EQUAL: return both(a, b, [](REAL x, REAL y) { return truth(x <= y); });
        case GREATER: return both(a, b, [](REAL x, REAL y) { return truth(x > y); });
        case GREATER_EQUAL: return both(a, b, [](REAL x, REAL y) { return truth(x >= y); });
        case AND: return both(a, b, [](REAL x, REAL y) { return truth(x != 0 && y != 0); });
        default: return both(a, b, [](REAL x, REAL y) { return truth(x != 0 || y != 0); });
    }
}
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_unary(OneToOne job) {
    const u64 first = first_of(THREADS * OWN, job.backwards);
    REAL own[OWN];
    load<Numbers, REAL, WIDTH>(own, static_cast<const REAL*>(job.from), first, job.count);
    switch (job.op) {
        case NEGATE: each(own, [](REAL x) { return -x; }); break;
        case ABS: each(own, [](REAL x) { return Math::magnitude(x); }); break;
        case SQRT: each(own, [](REAL x) { return Math::square_root(x); }); break;
        case NOT: each(own, [](REAL x) { return truth(x == 0); }); break;
        case IS_NAN: each(own, [](REAL x) { return truth(x != x); }); break;
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

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_binary(TwoToOne job) {
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
struct Advance {
    const REAL* step;
    const REAL* source;
    REAL* older;
    u64 count;
    double weight;
    double scalar;
    u32 with_source;  // whether there is one
    u32 backwards;
};

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_advance(Advance job) {
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

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_fill(Scalar job) {
    const u64 first = (u64)blockIdx.x * (THREADS * OWN);
    REAL own[OWN];
#pragma unroll
    for (int i = 0; i < OWN; ++i) own[i] = REAL(job.value);
    store<Numbers, REAL, WIDTH>(own, job.to, first, job.count);
}

// From the other class, by pairs: so neighbouring threads read and write neighbouring ones in both.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_convert(OneToOne job) {
    const u64 first = first_of(THREADS * STEPS * 2, job.backwards);
    OTHER own[STEPS * 2];
    REAL converted[STEPS * 2];
    load<Two<OTHER>, OTHER, 2>(own, static_cast<const OTHER*>(job.from), first, job.count);
#pragma unroll
    for (int i = 0; i < STEPS * 2; ++i) converted[i] = REAL(own[i]);
    store<Two<REAL>, REAL, 2>(converted, job.to, first, job.count);
}

// ---- in several dimensions

// How a box is walked through, the first dimension fastest, in arrays that advance by other steps than it.
struct Walk {
    u64 count;  // of all places
    u64 rank;
    u64 size[RANK];
    i64 steps[2][RANK];  // of each array, along each dimension
    // From one element of a thread to the next are THREADS places: so many along each dimension, ..
    u64 stride[RANK];
    // .. by so much in each array, ..
    i64 advance[2];
    // .. and so much more where a dimension is over and the next one goes on.
    i64 wraps[2][RANK];
};

struct Expanded {
    const REAL* from[2];
    REAL* to;
    double scalar[2];
    Walk walk;
    u32 op;
    u32 unused;
};

struct Section {
    const REAL* from;
    REAL* to;
    u64 start;
    Walk walk;
};

struct List {
    const REAL* from;
    REAL* to;
    const u64* places;
    const u64* others;  // which elements go there; nowhere: one after the other
    u64 count;
};

namespace {
// The elements of a thread one after the other, wherever lines end, in the first ARRAYS of the walk.
template <int ARRAYS>
struct Flat {
    u64 at;  // of the first one, counted through
    u64 index[RANK];
    i64 offset[ARRAYS];

    __device__ __forceinline__ explicit Flat(const Walk& walk) {
        at = (u64)blockIdx.x * (THREADS * RUN) + threadIdx.x;
        u64 left = at;
#pragma unroll
        for (int a = 0; a < ARRAYS; ++a) offset[a] = 0;
#pragma unroll
        for (int d = 0; d < RANK; ++d) {
            if (d >= walk.rank) break;
            // Beyond the end the last one goes on.
            const u64 rest = d + 1 < walk.rank ? left / walk.size[d] : 0;
            index[d] = left - rest * walk.size[d];
            left = rest;
#pragma unroll
            for (int a = 0; a < ARRAYS; ++a) offset[a] += (i64)index[d] * walk.steps[a][d];
        }
    }

    // Whether there is an element so many further on.
    __device__ __forceinline__ bool has(const Walk& walk, int further) const {
        return at + further * THREADS < walk.count;
    }

    __device__ __forceinline__ void next(const Walk& walk) {
#pragma unroll
        for (int a = 0; a < ARRAYS; ++a) offset[a] += walk.advance[a];
        bool over = false;
#pragma unroll
        for (int d = 0; d < RANK - 1; ++d) {
            if (d + 1 >= walk.rank) break;
            index[d] += walk.stride[d] + over;
            over = index[d] >= walk.size[d];
            if (over) {
                index[d] -= walk.size[d];
#pragma unroll
                for (int a = 0; a < ARRAYS; ++a) offset[a] += walk.wraps[a][d];
            }
        }
    }
};

// The same where the first dimension is long: a block stays in one line.
template <int ARRAYS>
struct Rows {
    u64 at;      // of the first one, counted through,
    u64 column;  // and in its line
    i64 offset[ARRAYS];

    __device__ __forceinline__ explicit Rows(const Walk& walk) {
        const u64 blocks = (walk.size[0] + THREADS * RUN - 1) / (THREADS * RUN);
        u64 left = blockIdx.x / blocks;
        column = (blockIdx.x - left * blocks) * (THREADS * RUN) + threadIdx.x;
        at = left * walk.size[0] + column;
#pragma unroll
        for (int a = 0; a < ARRAYS; ++a) offset[a] = (i64)column * walk.steps[a][0];
#pragma unroll
        for (int d = 1; d < RANK; ++d) {
            if (d >= walk.rank) break;
            const u64 rest = d + 1 < walk.rank ? left / walk.size[d] : 0;
            const i64 index = left - rest * walk.size[d];
            left = rest;
#pragma unroll
            for (int a = 0; a < ARRAYS; ++a) offset[a] += index * walk.steps[a][d];
        }
    }

    __device__ __forceinline__ bool has(const Walk& walk, int further) const {
        return column + further * THREADS < walk.size[0];
    }

    __device__ __forceinline__ void next(const Walk& walk) {
#pragma unroll
        for (int a = 0; a < ARRAYS; ++a) offset[a] += THREADS * walk.steps[a][0];
    }
};


template <class Way>
__device__ __forceinline__ void expanded(const Expanded& job) {
    Way way(job.walk);
    REAL own[2][RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        const bool here = way.has(job.walk, i);
#pragma unroll
        for (int which = 0; which < 2; ++which) {
            own[which][i] = REAL(job.scalar[which]);
            if (here && job.from[which]) own[which][i] = job.from[which][way.offset[which]];
        }
        way.next(job.walk);
    }
    combine(job.op, own[0], own[1]);
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (way.has(job.walk, i)) job.to[way.at + i * THREADS] = own[0][i];
    }
}

template <class Way>
__device__ __forceinline__ void pick(const Section& job) {
    Way way(job.walk);
    REAL own[RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (way.has(job.walk, i)) own[i] = job.from[job.start + way.offset[0]];
        way.next(job.walk);
    }
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (way.has(job.walk, i)) job.to[way.at + i * THREADS] = own[i];
    }
}

template <class Way>
__device__ __forceinline__ void put(const Section& job) {
    Way way(job.walk);
    REAL own[RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (way.has(job.walk, i)) own[i] = job.from[way.at + i * THREADS];
    }
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (way.has(job.walk, i)) job.to[job.start + way.offset[0]] = own[i];
        way.next(job.walk);
    }
}
}  // namespace

#define EITHER_WAY(NAME, JOB, ARRAYS)                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_##NAME##_flat(JOB job) { \
        NAME<Flat<ARRAYS>>(job);                                                              \
    }                                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_##NAME##_rows(JOB job) { \
        NAME<Rows<ARRAYS>>(job);                                                              \
    }

EITHER_WAY(expanded, Expanded, 2)
EITHER_WAY(pick, Section, 1)
EITHER_WAY(put, Section, 1)

namespace {
// Of this thread in a launch over a list: where its element `i` is in it.
__device__ __forceinline__ u64 in_list(int i) { return (u64)blockIdx.x * (THREADS * RUN) + i * THREADS + threadIdx.x; }
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_pick_list(List job) {
    REAL own[RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (in_list(i) < job.count) own[i] = job.from[job.places[in_list(i)]];
    }
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (in_list(i) < job.count) job.to[in_list(i)] = own[i];
    }
}

// No place comes twice: nobody knows which thread is the last.
extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_put_list(List job) {
    u64 place[RUN];
    REAL own[RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (in_list(i) < job.count) {
            place[i] = job.places[in_list(i)];
            own[i] = job.from[job.others ? job.others[in_list(i)] : in_list(i)];
        }
    }
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
        if (in_list(i) < job.count) job.to[place[i]] = own[i];
    }
}

// ---- many numbers into one

// An array of inner x length x outer elements, and another one of the same size where there are two. Each line of
// `length` gives a result; where it is longer than a chunk, each of its chunks does, one behind the other.
struct Reduced {
    const REAL* from[2];
    REAL* to;
    u64 inner;
    u64 length;
    u64 outer;
    u64 chunks;    // of a line
    double start;  // what a lane begins with
    u32 op;
    u32 bits;  // the lanes that share a short line, or the columns of a unit, are this power of two
};

namespace {
// The numbers of `Reduction` in src/cuda/kernels/arithmetic.rs.
enum ReductionOp : u32 { SUM, DOT, SUM_OF_MAGNITUDES, SMALLEST, LARGEST, LARGEST_MAGNITUDE, ANY, ALL, DIFFER };

// Chunks are joined by reducing their results once more: so one way of joining serves for lanes and for chunks.
struct Sum {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return Math::plus(lane, a); }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) { return Math::plus(lane, other); }
};
struct Dot : Sum {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL b) { return Math::fused(a, b, lane); }
};
struct SumOfMagnitudes : Sum {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) {
        return Math::plus(lane, Math::magnitude(a));
    }
};
struct Smallest {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return join(lane, a); }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) {
        return lane != lane || other < lane ? other : lane;
    }
};
struct Largest {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return join(lane, a); }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) {
        return lane != lane || other > lane ? other : lane;
    }
};
struct LargestMagnitude {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return join(lane, Math::magnitude(a)); }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) {
        return other != other || other > lane ? other : lane;
    }
};
struct Any {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return a < 0 || a > 0 ? REAL(1) : lane; }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) { return other != 0 ? other : lane; }
};
struct All {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL) { return a == 0 ? REAL(0) : lane; }
    static __device__ __forceinline__ REAL join(REAL lane, REAL other) { return other == 0 ? other : lane; }
};
struct Differ : Any {
    static __device__ __forceinline__ REAL take(REAL lane, REAL a, REAL b) { return a != b ? REAL(1) : lane; }
};

// Lines of neighbours: a warp takes a chunk, and reads 32 neighbours at a time.
template <class Op, bool TWO>
struct Lines {
    static __device__ __forceinline__ void run(const Reduced& job) {
        constexpr int ABREAST = TWO ? 8 : 16;
        const int lane = threadIdx.x % LANES;
        const u64 chunks = job.outer * job.chunks;
        const u64 warps = (u64)gridDim.x * WARPS;
#pragma unroll 1
        for (u64 chunk = (u64)blockIdx.x * WARPS + threadIdx.x / LANES; chunk < chunks; chunk += warps) {
            const u64 line = chunk / job.chunks;
            const u64 begin = (chunk - line * job.chunks) * CHUNK;
            const int count = job.length - begin < CHUNK ? (int)(job.length - begin) : CHUNK;
            const REAL* const a = job.from[0] + line * job.length + begin + lane;
            const REAL* const b = TWO ? job.from[1] + line * job.length + begin + lane : a;
            REAL own = REAL(job.start);
            int at = 0;  // of lane 0
#pragma unroll 1
            for (; at + ABREAST * LANES <= count; at += ABREAST * LANES) {
                REAL first[ABREAST], second[ABREAST];
#pragma unroll
                for (int i = 0; i < ABREAST; ++i) {
                    first[i] = a[at + i * LANES];
                    second[i] = TWO ? b[at + i * LANES] : first[i];
                }
#pragma unroll
                for (int i = 0; i < ABREAST; ++i) own = Op::take(own, first[i], second[i]);
            }
#pragma unroll 4
            for (; at + lane < count; at += LANES) own = Op::take(own, a[at], b[at]);
            __syncwarp();
#pragma unroll
            for (int by = LANES / 2; by > 0; by /= 2) own = Op::join(own, __shfl_down_sync(0xffffffffu, own, by));
            if (lane == 0) job.to[chunk] = own;
        }
    }
};

// Lines of no more elements than there are lanes: those of a warp share them out, and have several under way.
template <class Op, bool TWO>
struct ShortLines {
    static __device__ __forceinline__ void run(const Reduced& job) {
        const int lane = threadIdx.x % LANES;
        const int lanes = 1 << job.bits;
        const int own = lane & (lanes - 1);
        const int lines = LANES >> job.bits;
        const u64 warp = (u64)blockIdx.x * WARPS + threadIdx.x / LANES;
        const u64 first = warp * (SHORT_LINES * lines) + (lane >> job.bits);
        REAL value[SHORT_LINES];
#pragma unroll
        for (int i = 0; i < SHORT_LINES; ++i) {
            const u64 line = first + i * lines;
            value[i] = REAL(job.start);
            if (line < job.outer && own < (int)job.length) {
                const u64 at = line * job.length + own;
                const REAL a = job.from[0][at];
                value[i] = Op::take(value[i], a, TWO ? job.from[1][at] : a);
            }
        }
#pragma unroll 1
        for (int by = lanes / 2; by > 0; by /= 2) {
#pragma unroll
            for (int i = 0; i < SHORT_LINES; ++i) {
                value[i] = Op::join(value[i], __shfl_down_sync(0xffffffffu, value[i], by));
            }
        }
#pragma unroll
        for (int i = 0; i < SHORT_LINES; ++i) {
            // The lanes that are not there hold what lanes begin with. To join them once is as good as each time: it
            // makes +0 of -0, which a product leaves that is too small.
            if (lanes < LANES) value[i] = Op::join(value[i], REAL(job.start));
            if (own == 0 && first + i * lines < job.outer) job.to[first + i * lines] = value[i];
        }
    }
};

// Lines with others beside them: a unit is a chunk of up to 32 neighbouring lines, and has 8 rows of threads. A thread
// is the lanes of its row, 8 rows further on, 16 and 24.
template <class Op, bool TWO>
struct Columns {
    static __device__ __forceinline__ void run(const Reduced& job) {
        constexpr int ROWS = 8;
        constexpr int APART = LANES / ROWS;
        constexpr int ABREAST = TWO ? 2 : 4;
        __shared__ REAL lanes[THREADS];
        const int columns = 1 << job.bits;
        const int per_block = THREADS / ROWS >> job.bits;
        const int row = threadIdx.x >> job.bits & (ROWS - 1);
        const u64 tiles = (job.inner + columns - 1) >> job.bits;
        const u64 units = tiles * job.chunks * job.outer;
#pragma unroll 1
        for (u64 block = (u64)blockIdx.x * per_block; block < units; block += (u64)gridDim.x * per_block) {
            const u64 unit = block + (threadIdx.x / ROWS >> job.bits);
            const u64 rest = unit / tiles;
            const u64 outer = rest / job.chunks;
            const u64 begin = (rest - outer * job.chunks) * CHUNK;
            const u64 column = ((unit - rest * tiles) << job.bits) + (threadIdx.x & (columns - 1));
            const bool mine = unit < units && column < job.inner;
            REAL own[APART];
#pragma unroll
            for (int k = 0; k < APART; ++k) own[k] = REAL(job.start);
            if (mine) {
                const int count = job.length - begin < CHUNK ? (int)(job.length - begin) : CHUNK;
                const u64 place = (outer * job.length + begin + row) * job.inner + column;
                const REAL* const a = job.from[0] + place;
                const REAL* const b = TWO ? job.from[1] + place : a;
                int at = 0;  // of row 0
#pragma unroll 1
                for (; at + ABREAST * LANES <= count; at += ABREAST * LANES) {
                    REAL first[ABREAST * APART], second[ABREAST * APART];
#pragma unroll
                    for (int i = 0; i < ABREAST * APART; ++i) {
                        first[i] = a[(at + i * ROWS) * job.inner];
                        second[i] = TWO ? b[(at + i * ROWS) * job.inner] : first[i];
                    }
#pragma unroll
                    for (int i = 0; i < ABREAST * APART; ++i) {
                        own[i % APART] = Op::take(own[i % APART], first[i], second[i]);
                    }
                }
#pragma unroll 1
                for (; at < count; at += LANES) {
#pragma unroll
                    for (int k = 0; k < APART; ++k) {
                        const int i = at + k * ROWS;
                        if (i + row < count) own[k] = Op::take(own[k], a[i * job.inner], b[i * job.inner]);
                    }
                }
            }
            // A lane takes the one 16 further on, then 8: they are this thread's.
            const REAL both[2] = {Op::join(own[0], own[2]), Op::join(own[1], own[3])};
            lanes[threadIdx.x] = Op::join(both[0], both[1]);
            __syncthreads();
#pragma unroll
            for (int by = ROWS / 2; by > 0; by /= 2) {
                if (row < by) lanes[threadIdx.x] = Op::join(lanes[threadIdx.x], lanes[threadIdx.x + (by << job.bits)]);
                __syncthreads();
            }
            if (row == 0 && mine) {
                // Of all lines the results of chunks come one behind the other.
                job.to[(outer * job.inner + column) * job.chunks + begin / CHUNK] = lanes[threadIdx.x];
            }
        }
    }
};

// Lanes of one thread: each of the first BY takes the one BY further on, and so on.
template <class Op, int BY>
struct Tree {
    static __device__ __forceinline__ void join(REAL (&lane)[SHORT_COLUMN]) {
#pragma unroll
        for (int i = 0; i < BY; ++i) lane[i] = Op::join(lane[i], lane[i + BY]);
        Tree<Op, BY / 2>::join(lane);
    }
};
template <class Op>
struct Tree<Op, 0> {
    static __device__ __forceinline__ void join(REAL (&)[SHORT_COLUMN]) {}
};

// Short lines with others beside them: a thread is all lanes of one, and joins those that are not there once.
template <class Op, bool TWO>
struct ShortColumns {
    static __device__ __forceinline__ void run(const Reduced& job) {
        const u64 line = (u64)blockIdx.x * THREADS + threadIdx.x;
        if (line >= job.inner * job.outer) return;
        const u64 outer = line / job.inner;
        const u64 place = outer * job.length * job.inner + (line - outer * job.inner);
        REAL lane[SHORT_COLUMN], second[SHORT_COLUMN];
        const int length = (int)job.length;
#pragma unroll
        for (int i = 0; i < SHORT_COLUMN; ++i) {
            lane[i] = second[i] = 0;
            if (i < length) lane[i] = job.from[0][place + i * job.inner];
            if (TWO && i < length) second[i] = job.from[1][place + i * job.inner];
        }
        const REAL start = REAL(job.start);
#pragma unroll
        for (int i = 0; i < SHORT_COLUMN; ++i) lane[i] = i < length ? Op::take(start, lane[i], second[i]) : start;
        Tree<Op, SHORT_COLUMN / 2>::join(lane);
        job.to[line] = Op::join(lane[0], start);
    }
};

template <template <class, bool> class Form>
__device__ __forceinline__ void reduce(const Reduced& job) {
    switch (job.op) {
        case SUM: return Form<Sum, false>::run(job);
        case SUM_OF_MAGNITUDES: return Form<SumOfMagnitudes, false>::run(job);
        case SMALLEST: return Form<Smallest, false>::run(job);
        case LARGEST: return Form<Largest, false>::run(job);
        case LARGEST_MAGNITUDE: return Form<LargestMagnitude, false>::run(job);
        case ANY: return Form<Any, false>::run(job);
        default: return Form<All, false>::run(job);
    }
}

template <template <class, bool> class Form>
__device__ __forceinline__ void reduce_two(const Reduced& job) {
    if (job.op == DOT) return Form<Dot, true>::run(job);
    Form<Differ, true>::run(job);
}
}  // namespace

// Of two arrays by kernels of their own: registers for two would be too many for one.
#define REDUCTION(NAME, FORM)                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_reduce_##NAME(Reduced job) {     \
        reduce<FORM>(job);                                                                            \
    }                                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS) arithmetic_reduce_two_##NAME(Reduced job) { \
        reduce_two<FORM>(job);                                                                        \
    }

REDUCTION(lines, Lines)
REDUCTION(short_lines, ShortLines)
REDUCTION(columns, Columns)
REDUCTION(short_columns, ShortColumns)

// What the host must know to launch them, told by the module itself: threads of a block, and elements that one of them
// takes of arrays side by side, of those to be converted, and of any others.
extern "C" __constant__ unsigned int arithmetic_threads = THREADS;
extern "C" __constant__ unsigned int arithmetic_own = OWN;
extern "C" __constant__ unsigned int arithmetic_own_converted = STEPS * 2;
extern "C" __constant__ unsigned int arithmetic_run = RUN;
// And of lines shorter than a warp, how many a lane takes a part of.
extern "C" __constant__ unsigned int arithmetic_short_lines = SHORT_LINES;
// The elements of the longest line that is short, where lines have others beside them.
extern "C" __constant__ unsigned int arithmetic_short_column = SHORT_COLUMN;
