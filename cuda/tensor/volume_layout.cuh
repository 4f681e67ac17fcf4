// The sizes of tensor/volume.cu, for filters of up to SIZE rows, columns and pages; the cut of an array; and the layout
// of shared memory.
#pragma once

#include "tensor/strips.cuh"

namespace {

// A multiprocessor's scheduler has 512 registers for each lane, and two warps that multiply and one that brings
// samples.
#if SIZE == 7
constexpr int PRODUCER_REGISTERS = 72, CONSUMER_REGISTERS = 216;
#elif SIZE == 5
constexpr int PRODUCER_REGISTERS = 88, CONSUMER_REGISTERS = 208;
#else
#error "SIZE, the most rows, columns and pages of the filter, must be 5 or 7"
#endif
constexpr int CONSUMERS = 8;  // warps that multiply
constexpr int PRODUCERS = 4;  // warps that bring samples and scan them
constexpr int THREADS = LANES * (CONSUMERS + PRODUCERS);
constexpr int OCCUPANCY = 1;  // blocks that a multiprocessor holds

// A consumer's strip is of ROWS rows and ACROSS columns. Each column of outputs has SLOTS slots for pages in flight,
// with two rows each, which lie APART.
constexpr int RADIUS = SIZE / 2;
constexpr int ROWS = 16;
constexpr int ACROSS = 16;
constexpr int SLOTS = 8;
constexpr int STEPS = 8;  // multiply-adds of an output's column
constexpr int APART = SIZE == 5 ? 2 : 1;
// Outputs in the image are multiplied with this number of rows below them, even if by zero.
constexpr int ROWS_BELOW = STEPS - RADIUS - 1;

// The circular buffer has CHUNKS pages of COLUMNS columns of samples. A column has those of all teams, one after the
// other. A team's strips, below each other, share the samples between them, and have HALO places more than rows: one of
// them since the first sample may have to lie at an odd place. A column takes most if each consumer is a team.
constexpr int COLUMNS = ACROSS + SIZE - 1;
constexpr int CHUNKS = 3;
constexpr int HALO = STEPS;
constexpr int STRIDE = CONSUMERS * (ROWS + HALO);
constexpr int CHUNK = STRIDE * COLUMNS;
constexpr int RING = CHUNK * CHUNKS;
static_assert(CHUNKS > 1 && CHUNKS < SIZE, "a page comes while another is taken; a segment has more than the ring");
static_assert((ROWS + HALO) % 2 == 0 && COLUMNS <= LANES, "a copy is of pairs, and a column a lane's");

// A strip: its first row and column.
struct Strip {
    long long top;
    long long left;
};

// Shared memory, in doubles: the band, the buffer, the barriers of its pages, the flags that each producer has found,
// the strips of a group for each producer, and the array's boundaries.
constexpr int TABLE = SLOTS * SIZE * 128;
constexpr int BARRIERS_AT = TABLE + RING;
constexpr int FLAGS_AT = BARRIERS_AT + CHUNKS;
constexpr int STRIPS_AT = (FLAGS_AT + PRODUCERS + 1) / 2 * 2;
constexpr int SIDES_AT = FLAGS_AT + PRODUCERS + 1 + 2 * PRODUCERS * CONSUMERS;
constexpr int SHARED = 8 * SIDES_AT + sizeof(SidesArgument);

__device__ __forceinline__ double* ring() { return shared_memory() + TABLE; }
__device__ __forceinline__ Barrier* barriers() { return reinterpret_cast<Barrier*>(shared_memory() + BARRIERS_AT); }
__device__ __forceinline__ unsigned long long* flags() {
    return reinterpret_cast<unsigned long long*>(shared_memory() + FLAGS_AT);
}
__device__ __forceinline__ Strip* strips_of_producers() {
    return reinterpret_cast<Strip*>(shared_memory() + STRIPS_AT);
}
__device__ __forceinline__ SidesArgument* sides() {
    return reinterpret_cast<SidesArgument*>(shared_memory() + SIDES_AT);
}

// A segment: neighbouring pages, in the strips of a block.
struct Segment {
    long long group;  // which strips
    long long first;  // its first page
    int count;        // its pages
};

// The cut of an array. A team takes strips below each other, one for each warp; teams lie below each other, then side
// by side; and the teams of a block are a group.
struct Cut {
    int teams;        // of a block
    long long down;   // teams below each other
    long long count;  // teams in all
    long long pages;  // to compute

    __device__ __forceinline__ explicit Cut(const TensorPart& part) {
        teams = CONSUMERS / part.abreast;
        down = ((part.rows + ROWS - 1) / ROWS + part.abreast - 1) / part.abreast;
        count = down * ((part.columns + ACROSS - 1) / ACROSS);
        pages = part.count / part.columns;
    }

    // Returns a block's work.
    __device__ __forceinline__ WorkRange work() const {
        const long long total = (count + teams - 1) / teams * pages;
        return {total * blockIdx.x / gridDim.x, total * (blockIdx.x + 1) / gridDim.x};
    }

    // Returns the next segment of that.
    __device__ __forceinline__ Segment next_of(const TensorPart& part, WorkRange& work) const {
        const long long group = work.at / pages;
        const long long from = work.at - group * pages;
        const long long most = work.end - work.at < pages - from ? work.end - work.at : pages - from;
        work.at += most;
        return {group, part.first / part.columns + from, static_cast<int>(most)};
    }

    // Returns the first strip of a group's team, which is below the last row if there is no such team.
    __device__ __forceinline__ Strip strip_of(const TensorPart& part, long long group, int team) const {
        const long long number = group * teams + team;
        if (number >= count) return {part.rows, 0};
        return {number % down * part.abreast * ROWS, number / down * ACROSS};
    }
};

// Return the pieces of a segment: without flags, and with those that the producers have set.
__device__ __forceinline__ FlaggedPieces pieces_of(const Segment& segment) {
    return FlaggedPieces::of<SLOTS>(segment.count + SIZE - 1);
}
__device__ __forceinline__ FlaggedPieces flagged_pieces_of(const Segment& segment) {
    FlaggedPieces pieces = pieces_of(segment);
    for (int i = 0; i < PRODUCERS; ++i) pieces.flags |= flags()[i];
    return pieces;
}

// Flagged pages that are recomputed together: a few neighbours.
struct FlaggedRun {
    static constexpr int MOST = 4;
    FlaggedPieces pieces;
    int end;    // behind the last page of the segment
    int page;   // the first of the run
    int count;  // its pages

    __device__ __forceinline__ FlaggedRun(const FlaggedPieces& pieces, int end)
        : pieces(pieces), end(end), page(0), count(0) {}

    __device__ __forceinline__ bool has(int page) const { return pieces.has((page + SIZE) / pieces.length); }
    // Goes on to the next run; returns true if there is one.
    __device__ __forceinline__ bool next() {
        if (pieces.flags == 0) return false;
        page += count;
        while (page < end && !has(page)) ++page;
        for (count = 0; count < MOST && page + count < end && has(page + count);) ++count;
        return count > 0;
    }
};

}  // namespace
