// The consumers of tensor/volume.cu: the warps that multiply.
#pragma once

#include "tensor/volume_layout.cuh"

namespace {

// A consumer's samples and outputs.
struct Own {
    int place;    // of its first sample in a page of the ring
    Strip strip;  // without outputs if it is below the last row
    int odd;      // 1 if the first column of the segment's first page of samples begins at an odd place

    __device__ __forceinline__ Own(const TensorPart& part, const Cut& cut, const Segment& segment) {
        const int warp = threadIdx.x / LANES;
        const int team = warp / part.abreast;
        strip = cut.strip_of(part, segment.group, team);
        place = team * (part.abreast * ROWS + HALO) + warp % part.abreast * ROWS;
        const Box box{strip.top - RADIUS, strip.left - RADIUS, segment.first - RADIUS, 0};
        odd = is_odd(address_of(part, box));
        strip.top += warp % part.abreast * ROWS;
    }

    // Returns the place of the outputs in the segment's first page.
    __device__ __forceinline__ double* outputs(const TensorPart& part, const Segment& segment) const {
        const long long page = segment.first - part.first / part.columns;
        return part.output + (page * part.columns + strip.left) * part.rows + strip.top;
    }
};

__device__ __forceinline__ int next_page(int offset) { return offset == RING - CHUNK ? 0 : offset + CHUNK; }

// ---- plain chains

constexpr int SIDE_LANES = LANES / ROWS;   // lanes side by side
constexpr int EACH = ACROSS / SIDE_LANES;  // neighbouring columns of outputs of a lane
static_assert(EACH % 2 == 0 && COLUMNS % 2 == 0, "a lane's first column is of an even number, and so is a page's");

// Multiplies a page of samples for the outputs of one page. `samples` are a lane's first ones in columns of an even and
// of an odd number, which may lie at odd places. `of_page` is the page of SIZE that they meet, with the filter in the
// middle.
//
// FULL: the filter is SIZE x SIZE x SIZE.
template <bool FULL>
__device__ __forceinline__ void multiply_page(const TensorPart& part, const double* const (&samples)[2], int of_page,
                                              double (&sums)[EACH]) {
    if (FULL) {
        const double* const entries = F + of_page * (SIZE * SIZE);
#pragma unroll
        for (int u = 0; u < EACH + SIZE - 1; ++u) {
            double own[SIZE];
#pragma unroll
            for (int r = 0; r < SIZE; ++r) own[r] = samples[u & 1][u * STRIDE + r];
#pragma unroll
            for (int r = 0; r < SIZE; ++r) {
#pragma unroll
                for (int j = 0; j < EACH; ++j) {
                    const int w = u - j;
                    if (w >= 0 && w < SIZE) sums[j] = fma(own[r], entries[w * SIZE + r], sums[j]);
                }
            }
        }
    } else {
        const int page = of_page - (SIZE - part.depth) / 2;
        if (page < 0 || page >= part.depth) return;
        const double* const entries = F + page * part.width * part.height;
        const int first = (SIZE - part.width) / 2;
        const int below = (SIZE - part.height) / 2;
#pragma unroll 1
        for (int w = 0; w < part.width; ++w) {
            const double* const even = samples[(first + w) & 1] + (first + w) * STRIDE + below;
            const double* const odd = samples[(first + w + 1) & 1] + (first + w) * STRIDE + below;
#pragma unroll 1
            for (int r = 0; r < part.height; ++r) {
                const double entry = entries[w * part.height + r];
#pragma unroll
                for (int j = 0; j < EACH; ++j) {
                    sums[j] = fma((j & 1 ? odd : even)[j * STRIDE + r], entry, sums[j]);
                }
            }
        }
    }
}

// Recomputes the flagged pieces of a segment, a few pages a time. `offset` is the place of the next page of samples in
// the ring; the result is its place afterwards.
template <bool FULL>
__device__ __noinline__ int recompute_pieces(TensorPart part, Segment segment, FlaggedPieces pieces, int offset) {
    const int lane = threadIdx.x % LANES;
    const Cut cut(part);
    const Own own(part, cut, segment);
    const int alternates = static_cast<int>(part.rows & 1);
    const int pages_alternate = static_cast<int>(part.rows & part.columns & 1);
    const long long row = own.strip.top + lane % ROWS;
    const int left = lane / ROWS * EACH;  // first column of a lane's outputs
    const double* const samples_of = ring() + own.place + left * STRIDE + lane % ROWS;
    double* const to = own.outputs(part, segment) + left * part.rows + lane % ROWS;
    for (FlaggedRun run(pieces, segment.count); run.next();) {
        int odd = own.odd ^ (run.page & pages_alternate);
        double sums[FlaggedRun::MOST][EACH];
#pragma unroll
        for (int r = 0; r < FlaggedRun::MOST; ++r) {
#pragma unroll
            for (int j = 0; j < EACH; ++j) sums[r][j] = 0;
        }
        meet<THREADS>();
#pragma unroll 1
        for (int i = 0; i < run.count + SIZE - 1; ++i) {
            const double* const samples = samples_of + offset;
#pragma unroll
            for (int r = 0; r < FlaggedRun::MOST; ++r) {
                if (i >= r && i < r + SIZE) {
                    multiply_page<FULL>(part, {samples + odd, samples + (odd ^ alternates)}, i - r, sums[r]);
                }
            }
            odd ^= pages_alternate;
            offset = next_page(offset);
            meet<THREADS>();
        }
#pragma unroll
        for (int r = 0; r < FlaggedRun::MOST; ++r) {
            double* const output = to + (run.page + r) * (part.rows * part.columns);
            if (r >= run.count) continue;
#pragma unroll
            for (int j = 0; j < EACH; ++j) {
                if (row < part.rows && own.strip.left + left + j < part.columns) output[j * part.rows] = sums[r][j];
            }
        }
    }
    return offset;
}

// ---- tensor cores

// Writes the consumers' table: for each phase and each column of the filter, the fragments of the band, a pair of a
// lane together.
__device__ __forceinline__ void write_table(const TensorPart& part, const double* entries, double* table) {
    for (int at = threadIdx.x; at < TABLE; at += THREADS) {
        const int lane = at / 2 % LANES;
        const int slot = lane / 4;
        const int below = (at & 1) * APART;  // from the upper of the two rows of outputs
        const int row = lane % 4 + 4 * (at / 64 % 2) - below - (SIZE - part.height) / 2;
        const int column = at / 128 % SIZE - (SIZE - part.width) / 2;
        const int page = (at / 128 / SIZE - slot + SIZE - 1 + SLOTS) % SLOTS - (SIZE - part.depth) / 2;
        const bool has =
            row >= 0 && row < part.height && column >= 0 && column < part.width && page >= 0 && page < part.depth;
        table[at] = has ? entries[(page * part.width + column) * part.height + row] : 0.0;
    }
}

template <bool PAIRS>
__device__ __forceinline__ void consume_all(const TensorArgument& launch) {
    const TensorPart& part = launch.part;
    const int lane = threadIdx.x % LANES;
    const int g = lane / 4;
    const int q = lane % 4;
    const Shared band = in_shared(shared_memory() + 2 * lane);
    const Shared samples_of = in_shared(ring() + (APART == 2 ? 2 * g - (g & 1) : 2 * g) + q);
    const int alternates = PAIRS ? 0 : static_cast<int>(part.rows & 1);
    const int pages_alternate = PAIRS ? 0 : static_cast<int>(part.rows & part.columns & 1);
    const Cut cut(part);
    WorkRange work = cut.work();
    int offset = 0;  // of the present page in the ring
    while (work.at < work.end) {
        const Segment segment = cut.next_of(part, work);
        {
            const Own own(part, cut, segment);
            // In the page that is written while the present page of samples is taken.
            const long long page_size = part.rows * part.columns;
            double* to = own.outputs(part, segment) - SIZE * page_size + 4 * q;
            const long long below = part.rows - own.strip.top - 4 * q;
            const int room = below < ROWS ? static_cast<int>(below) : ROWS;
            const int across =
                static_cast<int>(part.columns - own.strip.left < ACROSS ? part.columns - own.strip.left : ACROSS);
            int odd = own.odd;
            const Shared own_samples = samples_of + own.place;

            double sums[ACROSS][4];
            double2 a[SIZE][2];
#pragma unroll
            for (int j = 0; j < ACROSS; ++j) {
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[j][i] = 0;
            }
            // A bit for each two rows of this lane that are outputs: in each column two.
            static_assert(ACROSS <= 16, "there are as many bits");
            const unsigned int inside = across < 16 ? (1u << 2 * across) - 1 : ~0u;
            const unsigned int outputs = (room > 0 ? 0x55555555u & inside : 0) | (room > 2 ? 0xaaaaaaaau & inside : 0);
            // Two rows are written at once if they are neighbours in D, too: bringing them together takes longer.
            constexpr bool TOGETHER = PAIRS && APART == 2;
            // Writes the outputs of `written`, and clears the slot of these lanes.
            const auto finish = [&](int j, bool has_slot, unsigned int written) {
                double* const column = to + j * part.rows;
                constexpr int SECOND = APART == 2 ? 1 : 2;
                write_two_of<TOGETHER>(written, 2 * j, room == 1, column, sums[j][0], sums[j][SECOND]);
                write_two_of<TOGETHER>(written, 2 * j + 1, room == 3, column + 2, sums[j][3 - SECOND], sums[j][3]);
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[j][i] = has_slot ? 0.0 : sums[j][i];
            };
#pragma unroll
            for (int k = 0; k < SIZE; ++k) {
                a[k][0] = read_pair_here(band + k * 128);
                a[k][1] = read_pair_here(band + k * 128 + 64);
            }
            meet<THREADS>();
            double b[2][2];
            b[0][0] = read_here(own_samples + offset + odd);
            b[0][1] = read_here(own_samples + offset + odd + 4);
            const int steps = segment.count + SIZE - 1;
            // One more step, to write the last.
            for (int step = 0;; ++step) {
                const bool has_slot = g == ((step + 7) & 7);
                const unsigned int written = has_slot && step >= SIZE ? outputs : 0;
                if (step == steps) {
#pragma unroll
                    for (int j = 0; j < ACROSS; ++j) finish(j, has_slot, written);
                    break;
                }
                const Shared now = own_samples + offset;
                const int samples[2] = {odd, odd ^ alternates};
                const Shared next_entries = band + ((step + 1) & 7) * (SIZE * 128);
                odd ^= pages_alternate;
                offset = offset == RING - CHUNK ? 0 : offset + CHUNK;
#pragma unroll
                for (int u = 0; u < COLUMNS; ++u) {
                    const int cur = u & 1;
                    if (u + 1 < COLUMNS) {
                        b[cur ^ 1][0] = read_here(now + samples[(u + 1) & 1] + (u + 1) * STRIDE);
                        b[cur ^ 1][1] = read_here(now + samples[(u + 1) & 1] + (u + 1) * STRIDE + 4);
                    } else {
                        meet<THREADS>();
                        // Behind the last page the samples of the next segment are in flight.
                        const Shared next = step + 1 < steps ? own_samples + offset : now;
                        b[cur ^ 1][0] = read_here(next + odd);
                        b[cur ^ 1][1] = read_here(next + odd + 4);
                    }
                    if (u < ACROSS) finish(u, has_slot, written);
#pragma unroll
                    for (int j = (u > ACROSS - 1 ? ACROSS - 1 : u); j >= 0 && j > u - SIZE; --j) {
                        const int k = u - j;
                        multiply_8(sums[j], a[k][0].x, a[k][0].y, a[k][1].x, a[k][1].y, b[cur][0], b[cur][1]);
                    }
                    // The next phase's entries, as soon as this one's have been used.
                    if (u >= ACROSS - 1) {
                        const int k = u - (ACROSS - 1);
                        a[k][0] = read_pair_here(next_entries + k * 128);
                        a[k][1] = read_pair_here(next_entries + k * 128 + 64);
                    }
                    END_OF_BLOCK_UNSCANNED(u);
                }
                to += page_size;
            }
        }
        const FlaggedPieces pieces = flagged_pieces_of(segment);
        if (pieces.flags != 0) {
            if (part.height == SIZE && part.width == SIZE && part.depth == SIZE) {
                offset = recompute_pieces<true>(part, segment, pieces, offset);
            } else {
                offset = recompute_pieces<false>(part, segment, pieces, offset);
            }
        }
    }
}

}  // namespace
