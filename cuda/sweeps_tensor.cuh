// Many sweeps of a stencil along long lines, in double, on the tensor cores of chips of compute capability 9.0.
//
// A line falls into rows, runs of neighbouring outputs of one length, and a warp takes ROWS of them at a time: the rows
// of its matrices. It streams along all of them at once, four samples a step, through SWEEPS stages, one for each sweep
// of the launch.
//  - A stage has TILES accumulators of 16 x 8: two groups of four neighbouring outputs of each row. A step multiplies
//    the four samples for all groups that are under way, by the taps laid into a band, which turns from step to step.
//    A group is finished after GROUP_STEPS of them, and its place is taken by the next one.
//  - The columns of a tile are in such an order that a lane holds of a finished group what it has to give of the next
//    stage's four samples: nothing moves between lanes, and nothing goes through memory between sweeps. All stages take
//    a step at a time, each what the one before it finished in the step before: SWEEPS * TILES multiplications that do
//    not wait for each other.
//  - Samples come through a ring in shared memory, that only the warp uses, by copies that run by themselves: one for
//    each step, between the multiplications. Outputs are written from registers. Each row begins SWEEPS * RADIUS samples
//    ahead of its outputs and computes for itself what it needs of its neighbours.
//
// So each output is the chain of fused multiply-adds from +0 in the order of the taps, with products with zeros ahead of
// it and behind it, never in between. Such a product changes two things, and nothing else:
//  - It is NaN where the sample is infinite or NaN. Then so is what comes of it in all later sweeps. So an output of the
//    last sweep that is finite had no such sample, in no sweep.
//  - It may turn a sum of -0 into +0. A chain that began with +0 is -0 only where a sum of finite numbers that is not zero
//    was rounded to zero, which needs a sample that is not zero and too small (`TensorLines::underflow_limit`; see
//    tensor_strips.cuh). A zero's sign changes nothing in later sweeps but zeros' signs, and those only where there is
//    such a sum again. So the samples of the last sweep tell.
// A warp scans for these two, flags the pieces of its rows in which it finds them, and computes those again by plain
// chains. The ends of lines, where the boundary counts, are computed like that in the first place.
//
//     compute some ends of lines by plain chains
//     for each ROWS rows of the warp:
//         fill the ring; clear the accumulators
//         for each turn of the band, and each of its steps:
//             copy some samples of the chunk CHUNKS - 1 further on
//             read the next four samples, as soon as their chunk has come
//             in all stages: multiply, take out the finished group, pass it on to the next stage
//             write and scan what the last stage has finished
//             after the turn: flag the piece if there were special values
//         compute flagged pieces again by plain chains
#pragma once

#include "boundary.cuh"
#include "tensor.cuh"

namespace {

constexpr int LANES = 32;

// EndsArgument the block of instructions after each step. Otherwise ptxas orders the multiplications by accumulator, and each
// waits for the one before. It cannot know that these numbers are zero.
#define END_OF_STEP(NUMBER)                    \
    do {                                       \
        if (launch.zeros[NUMBER] != 0) return; \
    } while (0)

// Writes and copies where `which` has that bit, here, and without a branch: that would end the block of instructions,
// too. A copy is of two doubles, and both addresses are multiples of 16; it belongs to this thread's current group.
#ifdef __CUDACC_RTC__
__device__ __forceinline__ void write_of(unsigned int which, int bit, double* to, double value) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        ".reg .b32 b;\n"
        "and.b32 b, %2, %3;\n"
        "setp.ne.u32 p, b, 0;\n"
        "@p st.global.f64 [%0], %1;\n"
        "}" ::"l"(to),
        "d"(value), "r"(which), "r"(1u << bit)
        : "memory");
}
__device__ __forceinline__ void copy_pair_if(bool copied, Shared to, const double* from) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.s32 p, %2, 0;\n"
        "@p cp.async.cg.shared.global [%0], [%1], 16;\n"
        "}" ::"r"(to.at),
        "l"(from), "r"(static_cast<int>(copied))
        : "memory");
}
#else
__device__ inline void write_of(unsigned int which, int bit, double* to, double value) {
    if ((which >> bit & 1) != 0) *to = value;
}
__device__ inline void copy_pair_if(bool copied, Shared to, const double* from) {
    if (copied) stand_in_copy_element(const_cast<double*>(to.at), from, 2 * sizeof *from);
}
#endif

// A copy that the compiler cannot see through, as it does not know that `zero` is zero. Otherwise it would copy a
// sample for each multiplication that has it, and keep the original as long: more than there are registers.
__device__ __forceinline__ double copy_of(double value, int zero) {
#ifdef __CUDACC_RTC__
    return __hiloint2double(__double2hiint(value) ^ zero, __double2loint(value) ^ zero);
#else
    (void)zero;
    return value;
#endif
}

// What a kernel for TAP_COUNT taps does with SWEEPS sweeps a launch, by WARPS warps a block, each with a ring of CHUNKS
// chunks of samples.
template <int TAP_COUNT, int SWEEPS, int WARPS, int CHUNKS>
struct Pipeline {
    static constexpr int RADIUS = TAP_COUNT / 2;
    static constexpr int REACH = RADIUS * SWEEPS;
    static constexpr int ROWS = 16;
    static constexpr int GROUP_STEPS = (3 + 2 * RADIUS) / 4 + 1;
    static constexpr int TILES = (GROUP_STEPS + 1) / 2;
    static constexpr int PLACES = 2 * TILES;  // of groups
    // Steps from one where a group of outputs has its first samples to that where it is finished by the last stage.
    static constexpr int LAG = SWEEPS * GROUP_STEPS - 1;

    // A chunk is for a turn of the band: CHUNK samples of each row, and four more, as copies begin at multiples of 32
    // bytes, up to three samples ahead. PITCH is such that a warp reads four of each of eight rows without conflicts.
    static constexpr int CHUNK = 4 * PLACES;
    static constexpr int PITCH = CHUNK + 4;
    static_assert(PITCH % 8 == 4, "rows are to begin at banks apart from each other");
    static constexpr int CHUNK_ROOM = ROWS * PITCH;
    static constexpr int RING = CHUNK_ROOM * CHUNKS;
    static_assert(CHUNKS >= 3, "one is read, one has come, and the others are on their way");

    // Plain chains: a lane has EACH neighbouring outputs, an odd number for the banks, and ROOM points are at hand.
    static constexpr int EACH = 7;
    static constexpr int ROUND = LANES * EACH;
    static constexpr int ROOM = (RING / 2 - 2 * RADIUS) / ROUND * ROUND;
    static_assert(ROOM > 3 * REACH, "the end of a line is one window");

    // The first outputs of a line that go through tensor cores are no nearer to its beginning, and the last to its end:
    // their samples come by four, and in pairs.
    static constexpr int MARGIN = REACH + 3;
    static constexpr int LEAST_LENGTH = 2 * MARGIN + 8;

    // Where a row's samples are and where its outputs go.
    struct Row {
        const double* from;  // the first sample, or some ahead of it: a multiple of 32
        double* to;
        int ahead;    // how many
        int samples;  // at hand from there on, an even number
        int steps;    // its outputs, by four
        int unused;
    };

    // What a warp has in shared memory.
    struct alignas(16) Memory {
        double ring[RING];
        Row rows[ROWS];
        unsigned long long flags[LANES];  // see `flag`
    };

    static constexpr int SHARED = WARPS * static_cast<int>(sizeof(Memory));

    // Of an output, the complement of twice its upper half is less than this where it is infinite or NaN.
    static constexpr unsigned int FINITE = 1u << 21;

    static __device__ __forceinline__ Memory& memory() {
        DYNAMIC_SHARED(double2, shared);
        return reinterpret_cast<Memory*>(shared)[threadIdx.x / LANES];
    }

    // The first output of a line that goes through tensor cores: its place is a multiple of 32 bytes, so that four
    // lanes write a whole sector.
    static __device__ __forceinline__ int first_output(const TensorLines& lines, long long line) {
        const unsigned long long place =
            reinterpret_cast<unsigned long long>(lines.output + line * lines.length + MARGIN) >> 3;
        return MARGIN + static_cast<int>(-place & 3);
    }

    // How many groups of four go through them.
    static __device__ __forceinline__ long long groups_of(const TensorLines& lines, long long line) {
        return (lines.length - MARGIN - first_output(lines, line)) / 4;
    }

    static __device__ __forceinline__ Row row_of(const TensorLines& lines, long long number) {
        const long long line = number / lines.rows;
        if (line >= lines.lines) return {lines.input, lines.output, 0, 0, 0, 0};
        const long long begin = (number - line * lines.rows) * lines.row_steps;
        const long long left = groups_of(lines, line) - begin;
        const long long output = first_output(lines, line) + 4 * begin;
        const double* const from = lines.input + line * lines.length + (output - REACH);
        const int ahead = static_cast<int>(reinterpret_cast<unsigned long long>(from) >> 3 & 3);
        // No more than any row reads, so that it can be counted.
        const long long most = 4ll * (lines.row_steps + LAG + PLACES) + 4;
        const long long samples = (lines.length - (output - REACH) + ahead) & ~1ll;
        Row row;
        row.from = from - ahead;
        row.to = lines.output + line * lines.length + output;
        row.ahead = ahead;
        row.samples = static_cast<int>(samples < most ? samples : most);
        row.steps = static_cast<int>(left < lines.row_steps ? left : lines.row_steps);
        row.unused = 0;
        return row;
    }

    // What a lane copies: every other pair of samples of a row, in turn with its neighbour. Of a row that ends before,
    // what the ring had is left: its outputs are not written, and zeros, or samples of the same row, do no harm.
    struct Copies {
        const double* from;  // of the chunk that comes
        int left;            // samples of the row from there on

        __device__ __forceinline__ void step(Shared to, int step) const {
            copy_pair_if(left > 4 * step, to + 4 * step, from + 4 * step);
        }
        __device__ __forceinline__ void next_chunk() {
            from += CHUNK;
            left -= CHUNK;
        }
    };

    // Which of a turn's steps finish outputs of a row, as bits; the first of them would finish its output of this
    // number, by four.
    static __device__ __forceinline__ unsigned int finished(int output, int steps) {
        const int low = output < 0 ? (-output < PLACES ? -output : PLACES) : 0;
        const int left = steps - output;
        const int high = left < 0 ? 0 : left < PLACES ? left : PLACES;
        return ((1u << high) - 1) & ~((1u << low) - 1);
    }

    // Flags pieces of this lane's two rows, which are to be computed again. A piece is of so many turns, by the turn in
    // which outputs are written. A special value changes outputs of its piece and of the next one.
    static __device__ __noinline__ void flag(int turn, int turns_of_piece) {
        memory().flags[threadIdx.x % LANES] |= 3ull << turn / turns_of_piece;
    }

    // Where a point of the window's buffer is taken from: places of a circular line go round.
    static __device__ __forceinline__ long long around(const TensorLines& lines, long long at) {
        return at < 0 ? at + lines.length : at >= lines.length ? at - lines.length : at;
    }

    // Computes the outputs of a line from `from` up to `to` by plain chains, in the place of the ring, in which no copy
    // is under way. A window of the line is at hand, and shrinks by RADIUS at either side in each sweep, but not at an
    // end of the line. (The lines are a copy: what a function that is called has the address of is no constant to the
    // compiler any more.)
    static __device__ __noinline__ void compute_plainly(TensorLines lines, long long line, long long from,
                                                        long long to) {
        const int lane = threadIdx.x % LANES;
        const double* const input = lines.input + line * lines.length;
        double* const output = lines.output + line * lines.length;
        double* now = memory().ring + RADIUS;
        double* next = now + ROOM + 2 * RADIUS;
        const bool circular = lines.ends.circular();
#pragma unroll 1
        while (from < to) {
            const long long end = to - from > ROOM - 2 * REACH ? from + (ROOM - 2 * REACH) : to;
            const bool at_begin = !circular && from <= REACH;
            const bool at_end = !circular && end + REACH >= lines.length;
            const long long begin = at_begin ? 0 : from - REACH;
            const int count = static_cast<int>((at_end ? lines.length : end + REACH) - begin);
            __syncwarp();
#pragma unroll 1
            for (int at = lane; at < count; at += LANES) now[at] = input[around(lines, begin + at)];
#pragma unroll 1
            for (int sweep = 0; sweep < SWEEPS; ++sweep) {
                __syncwarp();
#pragma unroll 1
                for (int i = lane; i < RADIUS; i += LANES) {
                    // The constant, or a point so far inwards from the end.
                    const auto outside = [&](int end, int last, int inwards) {
                        const unsigned int boundary = lines.ends.boundary[end];
                        const int away = boundary == REPLICATE ? 0 : boundary == SYMMETRIC ? i : i + 1;
                        return boundary == CONSTANT ? lines.ends.value[end] : now[last + inwards * away];
                    };
                    if (at_begin) now[-1 - i] = outside(0, 0, 1);
                    if (at_end) now[count + i] = outside(1, count - 1, -1);
                }
                __syncwarp();
#pragma unroll 1
                for (int first = lane * EACH; first < count; first += ROUND) {
                    double sums[EACH];
#pragma unroll
                    for (int v = 0; v < EACH; ++v) sums[v] = 0;
#pragma unroll
                    for (int j = 0; j < EACH + 2 * RADIUS; ++j) {
                        const double sample = now[first - RADIUS + j];
#pragma unroll
                        for (int v = 0; v < EACH; ++v) {
                            if (j >= v && j - v < TAP_COUNT) sums[v] = fma(sample, kernelTaps[j - v], sums[v]);
                        }
                    }
#pragma unroll
                    for (int v = 0; v < EACH; ++v) next[first + v] = sums[v];
                }
                double* const other = now;
                now = next;
                next = other;
            }
            __syncwarp();
#pragma unroll 1
            for (long long at = from + lane; at < end; at += LANES) output[at] = now[at - begin];
            from = end;
        }
        __syncwarp();
    }

    // Computes the flagged pieces of the warp's rows again.
    static __device__ __noinline__ void recompute_flagged(TensorLines lines, long long first_row, int steps_of_piece) {
        Memory& own = memory();
#pragma unroll 1
        for (int i = 0; i < ROWS; ++i) {
            unsigned long long flags = 0;
            for (int q = 0; q < 4; ++q) flags |= own.flags[i % 8 * 4 + q];
            const Row row = own.rows[i];
            const long long line = (first_row + i) / lines.rows;
            const long long at = row.to - (lines.output + line * lines.length);
#pragma unroll 1
            for (int piece = 0; piece < 64; ++piece) {
                // Neighbouring pieces together.
                const int first = piece;
                while (piece < 64 && (flags >> piece & 1) != 0) ++piece;
                const long long begin = static_cast<long long>(first) * steps_of_piece - LAG;
                const long long end = static_cast<long long>(piece) * steps_of_piece - LAG;
                const long long from = begin > 0 ? begin : 0;
                const long long to = end < row.steps ? end : row.steps;
                if (piece > first && from < to) compute_plainly(lines, line, at + 4 * from, at + 4 * to);
            }
        }
    }

    // The ends of lines are shared out among the warps, of which the last have least to do.
    static __device__ __forceinline__ void compute_ends(const TensorLines& lines, long long warp, long long warps) {
#pragma unroll 1
        for (long long number = warps - 1 - warp; number < 2 * lines.lines; number += warps) {
            const long long line = number / 2;
            const long long first = first_output(lines, line);
            if (number % 2 == 0) {
                compute_plainly(lines, line, 0, first);
            } else {
                compute_plainly(lines, line, first + 4 * groups_of(lines, line), lines.length);
            }
        }
    }

    // The band: the taps of a tile's groups at their ages. A lane's part is of the sample q, and of the output g / 2 of the
    // even group or of the odd one, which is a step younger.
    static __device__ __forceinline__ void make_band(double (&band)[PLACES]) {
        const int g = threadIdx.x % LANES / 4;
        const int q = threadIdx.x % 4;
#pragma unroll
        for (int age = 0; age < PLACES; ++age) {
            const int of_group = g % 2 == 0 ? age : (age + PLACES - 1) % PLACES;
            const int tap = 4 * of_group + q - g / 2;
            band[age] = tap >= 0 && tap < TAP_COUNT ? kernelTaps[tap >= 0 && tap < TAP_COUNT ? tap : 0] : 0.0;
        }
    }

    // Takes the next ROWS rows: where they are, no flags, and zeros in the ring.
    static __device__ __forceinline__ void begin_rows(const TensorLines& lines, long long first_row) {
        Memory& own = memory();
        const int lane = threadIdx.x % LANES;
        __syncwarp();
        if (lane < ROWS) own.rows[lane] = row_of(lines, first_row + lane);
        own.flags[lane] = 0;
#pragma unroll 1
        for (int at = lane; at < RING; at += LANES) own.ring[at] = 0;
        __syncwarp();
    }

    // Asks for the first chunks.
    static __device__ __forceinline__ void fill_ring(Copies& copies, Shared to) {
#pragma unroll 1
        for (int i = 0; i < CHUNKS - 1; ++i) {
#pragma unroll
            for (int step = 0; step <= PLACES; ++step) copies.step(to + i * CHUNK_ROOM, step);
            end_group();
            copies.next_chunk();
        }
    }

    // The accumulators of all stages, and the samples of each: of the lane's two rows.
    struct Stages {
        double sums[SWEEPS][TILES][4];
        double samples[SWEEPS][2];

        __device__ __forceinline__ void clear() {
#pragma unroll
            for (int p = 0; p < SWEEPS; ++p) {
#pragma unroll
                for (int t = 0; t < TILES; ++t) {
#pragma unroll
                    for (int i = 0; i < 4; ++i) sums[p][t][i] = 0;
                }
                samples[p][0] = samples[p][1] = 0;
            }
        }

        // Multiplies in all stages. What stage p finishes comes to next[p + 1].
        __device__ __forceinline__ void multiply(const double (&band)[PLACES], int step, int zero,
                                                 double (&next)[SWEEPS + 1][2]) {
#pragma unroll
            for (int k = 0; k < TILES; ++k) {
#pragma unroll
                for (int p = 0; p < SWEEPS; ++p) {
                    // The age of the group at place 0, and the place of the one that is finished: its tile comes first.
                    const int age = (step + 64 * PLACES - p * GROUP_STEPS) % PLACES;
                    const int done = (age + PLACES - (GROUP_STEPS - 1) % PLACES) % PLACES;
                    const int tile = (done / 2 + k) % TILES;
                    multiply_4(sums[p][tile], samples[p][0], samples[p][1], band[(age + PLACES - 2 * tile) % PLACES]);
                    if (k == (TILES > 1 ? 1 : 0)) {
                        double(&d)[4] = sums[p][done / 2];
#pragma unroll
                        for (int i = 0; i < 2; ++i) {
                            next[p + 1][i] = copy_of(d[2 * i + done % 2], zero);
                            d[2 * i + done % 2] = 0;
                        }
                    }
                }
            }
        }

        __device__ __forceinline__ void pass_on(const double (&next)[SWEEPS + 1][2]) {
#pragma unroll
            for (int p = 0; p < SWEEPS; ++p) {
                samples[p][0] = next[p][0];
                samples[p][1] = next[p][1];
            }
        }
    };

    static __device__ __forceinline__ void sweep(const TensorSweepsArgument& launch) {
        const TensorLines& lines = launch.lines;
        const int lane = threadIdx.x % LANES;
        const int g = lane / 4;
        const int q = lane % 4;
        const long long warps = static_cast<long long>(gridDim.x) * WARPS;
        const long long warp = static_cast<long long>(blockIdx.x) * WARPS + threadIdx.x / LANES;
        const long long rows = lines.lines * lines.rows;
        compute_ends(lines, warp, warps);
        Memory& own = memory();
        double band[PLACES];
        make_band(band);
        const unsigned int limit = lines.underflow_limit > FINITE ? lines.underflow_limit : FINITE;

#pragma unroll 1
        for (long long first_row = ROWS * warp; first_row < rows; first_row += ROWS * warps) {
            begin_rows(lines, first_row);
            const int turns = (lines.row_steps + LAG + PLACES - 1) / PLACES;
            const int turns_of_piece = (turns + 61) / 62;

            const Shared ring = in_shared(own.ring);
            const int own_copies = lane / 2 * PITCH + lane % 2 * 2;
            Copies copies{own.rows[lane / 2].from + lane % 2 * 2, own.rows[lane / 2].samples - lane % 2 * 2};
            fill_ring(copies, ring + own_copies);

            // Of the lane's two rows, where its samples are, and where its outputs go: those of the present turn.
            const int own_samples[2] = {g * PITCH + q + own.rows[g].ahead, (g + 8) * PITCH + q + own.rows[g + 8].ahead};
            double* to[2] = {own.rows[g].to + q - 4 * LAG, own.rows[g + 8].to + q - 4 * LAG};
            // The scan: the least of the magnitudes less 1 of the last stage's samples, and of what is left to the outputs
            // until they are not finite.
            unsigned int least = ~0u;

            Stages stages;
            stages.clear();
            wait_groups<CHUNKS - 2>();
            __syncwarp();
            int place = 0;  // of the ring, in doubles, where the present chunk is
            stages.samples[0][0] = read_here(ring + own_samples[0]);
            stages.samples[0][1] = read_here(ring + own_samples[1]);
#pragma unroll 1
            for (int turn = 0; turn < turns; ++turn) {
                const int next_place = place == RING - CHUNK_ROOM ? 0 : place + CHUNK_ROOM;
                // The chunk before the present one makes room.
                const Shared copied = ring + ((place == 0 ? RING : place) - CHUNK_ROOM + own_copies);
                const Shared now[2] = {ring + (place + own_samples[0]), ring + (place + own_samples[1])};
                const int output = turn * PLACES - LAG;
                const unsigned int written =
                    finished(output, own.rows[g].steps) | finished(output, own.rows[g + 8].steps) << PLACES;
#pragma unroll
                for (int step = 0; step < PLACES; ++step) {
                    double next[SWEEPS + 1][2];
                    copies.step(copied, step);
                    if (step < PLACES - 1) {
#pragma unroll
                        for (int i = 0; i < 2; ++i) next[0][i] = read_here(now[i] + 4 * (step + 1));
                    } else {
                        copies.step(copied, PLACES);
                        end_group();
                        wait_groups<CHUNKS - 2>();
                        __syncwarp();
#pragma unroll
                        for (int i = 0; i < 2; ++i) next[0][i] = read_here(ring + (next_place + own_samples[i]));
                    }
                    stages.multiply(band, step, launch.zeros[23], next);
#pragma unroll
                    for (int i = 0; i < 2; ++i) {
                        write_of(written, step + i * PLACES, to[i] + 4 * step, next[SWEEPS][i]);
                        keep_least(least, magnitude(next[SWEEPS - 1][i]) - 1);
                        keep_least(least, ~(high_word(next[SWEEPS][i]) << 1));
                    }
                    stages.pass_on(next);
                    END_OF_STEP(step);
                }
                copies.next_chunk();
                to[0] += CHUNK;
                to[1] += CHUNK;
                place = next_place;
                if (least < limit) {
                    flag(turn, turns_of_piece);
                    least = ~0u;
                }
            }
            wait_groups<0>();
            if (__any_sync(0xffffffffu, own.flags[lane] != 0)) {
                recompute_flagged(lines, first_row, turns_of_piece * PLACES);
            }
        }
    }
};

}  // namespace
