// The convolution of volumes, in double, on the tensor cores of chips of compute capability 9.0: see tensor_strips.cuh.
//
// Compiled for -DSIZE, 5 or 7: filters of up to so many rows, columns and pages, which are laid into the middle of
// SIZE x SIZE x SIZE.
//
// Of a block, WARPS warps multiply, and BRINGING more bring the samples for all of them. Each of the first takes ROWS
// rows of ACROSS columns, and all stream over the pages together. Samples come into a ring in shared memory, a page a
// time, with CHUNKS pages on their way. The warps that bring them know all about the array's edges, look at the
// samples, and leave most of their registers to those that multiply. All warps meet after each page.
//
// There are 8 slots for the pages of outputs that are under way, and 2 rows each, APART: the 16 rows of D. The
// band is A, from a table in shared memory; samples are B, 8 pairs of rows. A column of samples is read once and
// multiplied for the SIZE columns of outputs that need it. Of the multiply-adds 77% are the filter's with 7, 39% with
// 5.

#include "tensor_strips.cuh"

namespace {

#if SIZE == 7
constexpr int ACROSS = 16, CHUNKS = 3;
// Registers of a thread that brings samples, and of one that multiplies. A scheduler has 512 for each lane, and two
// warps that multiply and one that brings.
constexpr int FEW = 72, MANY = 216;
#elif SIZE == 5
constexpr int ACROSS = 16, CHUNKS = 3;
constexpr int FEW = 88, MANY = 208;
#else
#error "SIZE, the most rows, columns and pages of the filter, must be 5 or 7"
#endif
constexpr int WARPS = 8;     // that multiply
constexpr int BRINGING = 4;  // that bring samples and look at them
constexpr int BLOCKS = 1;    // at once
constexpr int RADIUS = SIZE / 2;
constexpr int SLOTS = 8;
constexpr int STEPS = 8;  // multiply-adds of an output's column
constexpr int ROWS = 16;
constexpr int APART = SIZE == 5 ? 2 : 1;  // rows between the two of a slot
constexpr int COLUMNS = ACROSS + SIZE - 1;  // of samples
constexpr int THREADS = LANES * (WARPS + BRINGING);
// Samples of a column that a strip needs beside its ROWS, and one more: the first may have to lie at an odd place.
constexpr int BESIDE = STEPS;
// Rows below the image that outputs in it are multiplied for, be it by zero.
constexpr int BELOW = STEPS - RADIUS - 1;
// A column of samples in the ring: those of all teams of warps, one behind the other. If each warp is a team, that is:
constexpr int STRIDE = WARPS * (ROWS + BESIDE);
constexpr int CHUNK = STRIDE * COLUMNS;
constexpr int RING = CHUNK * CHUNKS;
constexpr int TABLE = SLOTS * SIZE * 128;
constexpr int SIDES_AT = TABLE + RING + CHUNKS + BRINGING + 1 + 2 * BRINGING * WARPS;  // where they are
constexpr int SHARED = 8 * SIDES_AT + sizeof(Sides);
static_assert(CHUNKS > 1 && CHUNKS < SIZE, "a page comes while another is taken; a stretch has more than the ring");
static_assert((ROWS + BESIDE) % 2 == 0 && COLUMNS <= LANES, "a copy is of pairs, and a column a lane's");

// The ring; the barriers that tell when its pages have come; and of each warp that brings samples, which pieces are to
// be computed again.
__device__ __forceinline__ double* ring() { return shared_memory() + TABLE; }
__device__ __forceinline__ Barrier* barriers() { return reinterpret_cast<Barrier*>(shared_memory() + TABLE + RING); }
__device__ __forceinline__ unsigned long long* again() { return barriers() + CHUNKS; }
__device__ __forceinline__ Sides* sides() { return reinterpret_cast<Sides*>(shared_memory() + SIDES_AT); }

// Writes the warps' table: for each phase and each column of the filter, the fragments of the band, a pair of a lane
// together.
__device__ __forceinline__ void write_table(const Part& part, const double* entries, double* table) {
    for (int at = threadIdx.x; at < TABLE; at += THREADS) {
        const int lane = at / 2 % LANES;
        const int slot = lane / 4;
        const int below = (at & 1) * APART;  // from the upper of the two rows of outputs
        const int row = lane % 4 + 4 * (at / 64 % 2) - below - (SIZE - part.height) / 2;
        const int column = at / 128 % SIZE - (SIZE - part.width) / 2;
        const int page = (at / 128 / SIZE - slot + SIZE - 1 + SLOTS) % SLOTS - (SIZE - part.depth) / 2;
        const bool has = row >= 0 && row < part.height && column >= 0 && column < part.width && page >= 0 &&
                         page < part.depth;
        table[at] = has ? entries[(page * part.width + column) * part.height + row] : 0.0;
    }
}

// A stretch: neighbouring pages, in the strips of a block.
struct Stretch {
    long long group;  // which strips
    long long first;  // its first page
    int count;        // its pages
};

// A strip: its first row and column.
struct Strip {
    long long top;
    long long left;
};

// How an array is cut. Strips below each other are a team's, as many as warps are; teams lie below each other, then
// beside each other; and as many as a block has are a group.
struct Cut {
    int teams;        // of a block
    long long down;   // teams below each other
    long long count;  // teams in all
    long long pages;  // to compute

    __device__ __forceinline__ explicit Cut(const Part& part) {
        teams = WARPS / part.abreast;
        down = ((part.rows + ROWS - 1) / ROWS + part.abreast - 1) / part.abreast;
        count = down * ((part.columns + ACROSS - 1) / ACROSS);
        pages = part.count / part.columns;
    }

    __device__ __forceinline__ Share share() const {
        const long long total = (count + teams - 1) / teams * pages;
        return {total * blockIdx.x / gridDim.x, total * (blockIdx.x + 1) / gridDim.x};
    }

    // The next stretch of a share.
    __device__ __forceinline__ Stretch next_of(const Part& part, Share& share) const {
        const long long group = share.at / pages;
        const long long from = share.at - group * pages;
        const long long most = share.end - share.at < pages - from ? share.end - share.at : pages - from;
        share.at += most;
        return {group, part.first / part.columns + from, static_cast<int>(most)};
    }

    // The first strip of a group's team, which is below the last row if there is no such team.
    __device__ __forceinline__ Strip strip_of(const Part& part, long long group, int team) const {
        const long long number = group * teams + team;
        if (number >= count) return {part.rows, 0};
        return {number % down * part.abreast * ROWS, number / down * ACROSS};
    }
};

// Room for the strips of a group, for each warp that brings samples.
__device__ __forceinline__ Strip* strips_of_groups() {
    return reinterpret_cast<Strip*>(shared_memory() + (TABLE + RING + CHUNKS + BRINGING + 1) / 2 * 2);
}

// Its pieces: none to be computed again, or those that the warps that look have found.
__device__ __forceinline__ Pieces pieces_of(const Stretch& stretch) {
    return Pieces::of<SLOTS>(stretch.count + SIZE - 1);
}
__device__ __forceinline__ Pieces pieces_of(const Stretch& stretch, const unsigned long long* again) {
    Pieces pieces = pieces_of(stretch);
    for (int i = 0; i < BRINGING; ++i) pieces.again |= again[i];
    return pieces;
}

// What is computed again, a few neighbouring pages a time.
struct Run {
    static constexpr int MOST = 4;
    Pieces pieces;
    int end;    // behind the last page of the stretch
    int page;   // the first of the run
    int count;  // its pages

    __device__ __forceinline__ Run(const Pieces& pieces, int end) : pieces(pieces), end(end), page(0), count(0) {}

    __device__ __forceinline__ bool has(int page) const { return pieces.has((page + SIZE) / pieces.length); }
    // Goes on to the next run; whether there is one.
    __device__ __forceinline__ bool next() {
        if (pieces.again == 0) return false;
        page += count;
        while (page < end && !has(page)) ++page;
        for (count = 0; count < MOST && page + count < end && has(page + count);) ++count;
        return count > 0;
    }
};

// ---- the warps that bring samples and look at them

// Asks for a warp's columns of a page of samples, for all strips of a group; a few lanes share a column. What can comes
// in bulk, of which the barrier tells, and the rest in this group of copies. Some are written at once, where copies in
// bulk may come later.
//
// No output that is written needs samples further below the last row than BELOW. They keep what the ring had.
__device__ __forceinline__ void ask(const Part& part, const Cut& cut, const Strip* strips, long long page, double* to,
                                    Barrier* full) {
    constexpr int OWN = (COLUMNS + BRINGING - 1) / BRINGING;
    constexpr int SHARING = LANES / OWN;
    const int lane = threadIdx.x % LANES;
    const int c = lane % OWN + (threadIdx.x / LANES - WARPS) * OWN;
    const int first = lane / OWN;
    const int length = part.abreast * ROWS + BESIDE;
    const int turns = static_cast<int>(part.rows & 1);
    const long long source = sample_at(page, part.pages, RADIUS, sides()->of_pages);
    int bytes = 0;
    if (c < COLUMNS && first < SHARING) {
        double* column = to + c * STRIDE;
#pragma unroll 1
        for (int team = 0; team < cut.teams; ++team) {
            const Strip strip = strips[team];
            if (strip.top >= part.rows) break;
            const Box box{strip.top - RADIUS, strip.left - RADIUS, page, source};
            const long long top = box.top - (is_odd(address_of(part, box)) ^ (c & turns));
            const long long of = sample_at(box.column + c, part.columns, RADIUS, sides()->of_columns);
            const long long at = source * part.columns + of - (part.first - part.before);
            const bool has = source >= 0 && of >= 0 && at >= 0 && at < part.before + part.count + part.after;
            const double* const from = part.input + (has ? at : 0) * part.rows;
            const int low = top < 0 ? static_cast<int>(-top) : 0;
            const int high = part.rows - top < length ? static_cast<int>(part.rows - top) : length;
            const int end = part.rows + BELOW - top < length ? static_cast<int>(part.rows + BELOW - top) : length;
            Bulk bulk{0, 0};
            if (has && low + 1 < high && !is_odd(reinterpret_cast<unsigned long long>(from) + 8 * top)) {
                bulk = {low + (low & 1), high - (high & 1)};
            }
            if (first == 0 && bulk.low < bulk.high) {
                bytes += (bulk.high - bulk.low) * 8;
                copy_bulk(column + bulk.low, from + top + bulk.low, (bulk.high - bulk.low) * 8, full);
            }
#pragma unroll 1
            for (int i = first;; i += SHARING) {
                const int place = i < bulk.low ? i : i + bulk.high - bulk.low;
                if (place >= end) break;
                const long long row = has ? sample_at(top + place, part.rows, RADIUS, sides()->of_rows) : -1;
                if (row >= 0) {
                    copy_element(column + place, from + row);
                } else {
                    // Where two sides meet, the later dimension's constant counts.
                    column[place] = source < 0 ? constant_of(sides()->of_pages, source)
                                    : of < 0   ? constant_of(sides()->of_columns, of)
                                               : constant_of(sides()->of_rows, row);
                }
            }
            column += length;
        }
        writes_before_copies();
    }
    arrive(full, bytes);
}

// Looks at a warp's share of a page's samples, of `used` places of each column.
__device__ __forceinline__ void look(Met& met, Shared page, int used) {
    const int lane = threadIdx.x % LANES;
#pragma unroll 1
    for (int c = threadIdx.x / LANES - WARPS; c < COLUMNS; c += BRINGING) {
#pragma unroll
        for (int at = 0; at < STRIDE; at += 2 * LANES) {
            if (at + 2 * lane >= used) continue;
            const double2 pair = read_pair_here(page + (c * STRIDE + at + 2 * lane));
            met.sample(pair.x);
            met.sample(pair.y);
        }
    }
}

// Brings `count` pages of samples from `first` on, behind as many in the ring as `number` says, and looks at them if
// `pieces` are given. All warps meet when the first is there, and each time when one has been taken and the next is
// there. Before they meet for the last time this warp tells what it has found.
__device__ __forceinline__ void bring(const Part& part, const Cut& cut, const Strip* strips, long long first, int count,
                                      int& number, Pieces* pieces) {
    const Shared samples = in_shared(ring());
    const int used = cut.teams * (part.abreast * ROWS + BESIDE);
#pragma unroll 1
    for (int step = 1 - CHUNKS; step < count; ++step) {
        const int asked = step + CHUNKS - 1;
        if (asked < count) {
            const int at = (number + asked) % CHUNKS;
            ask(part, cut, strips, first + asked, ring() + at * CHUNK, barriers() + at);
        }
        end_group();
        if (step < -1) continue;
        if (step >= 0 && pieces != nullptr) {
            Met met;
            look(met, samples + (number + step) % CHUNKS * CHUNK, used);
            // What was met changes what is written until SLOTS steps later, no more than a piece has.
            if (__any_sync(ALL_LANES, met.is_awkward(part))) pieces->again |= 3ull << step / pieces->length;
            if (step == count - 1 && threadIdx.x % LANES == 0) again()[threadIdx.x / LANES - WARPS] = pieces->again;
        }
        if (step + 1 < count) {
            const int next = number + step + 1;
            wait_groups<CHUNKS - 2>();
            wait(barriers() + next % CHUNKS, next / CHUNKS & 1);
            __syncwarp();
        }
        meet<THREADS>();
    }
    number += count;
}

__device__ __noinline__ void bring_all(Part part) {
    const Cut cut(part);
    Strip* const strips = strips_of_groups() + (threadIdx.x / LANES - WARPS) * WARPS;
    int number = 0;
    Share share = cut.share();
    while (share.at < share.end) {
        const Stretch stretch = cut.next_of(part, share);
        const int lane = threadIdx.x % LANES;
        __syncwarp();
        if (lane < cut.teams) strips[lane] = cut.strip_of(part, stretch.group, lane);
        __syncwarp();
        Pieces pieces = pieces_of(stretch);
        bring(part, cut, strips, stretch.first - RADIUS, stretch.count + SIZE - 1, number, &pieces);
        pieces = pieces_of(stretch, again());
        for (Run run(pieces, stretch.count); run.next();) {
            bring(part, cut, strips, stretch.first + run.page - RADIUS, run.count + SIZE - 1, number, nullptr);
        }
    }
}

// ---- the warps that multiply

// Where a warp's samples and outputs are.
struct Own {
    int place;    // of its first sample in a page of the ring
    Strip strip;  // has no outputs if it is below the last row
    int odd;      // whether the first column of the next page of samples begins at an odd place

    __device__ __forceinline__ Own(const Part& part, const Cut& cut, const Stretch& stretch) {
        const int warp = threadIdx.x / LANES;
        const int team = warp / part.abreast;
        strip = cut.strip_of(part, stretch.group, team);
        place = team * (part.abreast * ROWS + BESIDE) + warp % part.abreast * ROWS;
        const Box box{strip.top - RADIUS, strip.left - RADIUS, stretch.first - RADIUS, 0};
        odd = is_odd(address_of(part, box));
        strip.top += warp % part.abreast * ROWS;
    }

    // The outputs' place in the stretch's first page.
    __device__ __forceinline__ double* outputs(const Part& part, const Stretch& stretch) const {
        const long long page = stretch.first - part.first / part.columns;
        return part.output + (page * part.columns + strip.left) * part.rows + strip.top;
    }
};

// ---- plain chains

constexpr int SIDES = LANES / ROWS;   // lanes beside each other
constexpr int EACH = ACROSS / SIDES;  // neighbouring columns of outputs of a lane
static_assert(EACH % 2 == 0 && COLUMNS % 2 == 0, "a lane's first column is of an even number, and so is a page's");

// Multiplies a page of samples for the outputs of one page: `samples` are a lane's first, at an odd place or not in
// columns of an even and of an odd number; `of_page` says which page of SIZE of them, of which the filter is the
// middle.
//
// FULL: the filter is SIZE x SIZE x SIZE.
template <bool FULL>
__device__ __forceinline__ void take(const Part& part, const double* const (&samples)[2], int of_page,
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

// Computes those pieces of a stretch once more that ask for it, a few pages a time. `offset` is where the next page of
// samples comes to in the ring; returned is where it is then.
template <bool FULL>
__device__ __noinline__ int compute_again(Part part, Stretch stretch, Pieces pieces, int offset) {
    const int lane = threadIdx.x % LANES;
    const Cut cut(part);
    const Own own(part, cut, stretch);
    const int turns = static_cast<int>(part.rows & 1);
    const int turns_of_page = static_cast<int>(part.rows & part.columns & 1);
    const long long row = own.strip.top + lane % ROWS;
    const int left = lane / ROWS * EACH;  // first column of a lane's outputs
    const double* const samples_of = ring() + own.place + left * STRIDE + lane % ROWS;
    double* const to = own.outputs(part, stretch) + left * part.rows + lane % ROWS;
    for (Run run(pieces, stretch.count); run.next();) {
        int odd = own.odd ^ (run.page & turns_of_page);
        double sums[Run::MOST][EACH];
#pragma unroll
        for (int r = 0; r < Run::MOST; ++r) {
#pragma unroll
            for (int j = 0; j < EACH; ++j) sums[r][j] = 0;
        }
        meet<THREADS>();
#pragma unroll 1
        for (int i = 0; i < run.count + SIZE - 1; ++i) {
            const double* const samples = samples_of + offset;
#pragma unroll
            for (int r = 0; r < Run::MOST; ++r) {
                if (i >= r && i < r + SIZE) take<FULL>(part, {samples + odd, samples + (odd ^ turns)}, i - r, sums[r]);
            }
            odd ^= turns_of_page;
            offset = offset == RING - CHUNK ? 0 : offset + CHUNK;
            meet<THREADS>();
        }
#pragma unroll
        for (int r = 0; r < Run::MOST; ++r) {
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

template <bool PAIRS>
__device__ __forceinline__ void multiply_all(const Launch& launch) {
    const Part& part = launch.part;
    const int lane = threadIdx.x % LANES;
    const int g = lane / 4;
    const int q = lane % 4;
    const Shared band = in_shared(shared_memory() + 2 * lane);
    const Shared samples_of = in_shared(ring() + (APART == 2 ? 2 * g - (g & 1) : 2 * g) + q);
    const int turns = PAIRS ? 0 : static_cast<int>(part.rows & 1);
    const int turns_of_page = PAIRS ? 0 : static_cast<int>(part.rows & part.columns & 1);
    const Cut cut(part);
    Share share = cut.share();
    int offset = 0;  // of the present page in the ring
    while (share.at < share.end) {
        const Stretch stretch = cut.next_of(part, share);
        {
            const Own own(part, cut, stretch);
            // In the page that is written while the present page of samples is taken.
            const long long page_size = part.rows * part.columns;
            double* to = own.outputs(part, stretch) - SIZE * page_size + 4 * q;
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
            // Two rows go out at once where they are neighbours in D, too: to bring them together takes longer.
            constexpr bool TOGETHER = PAIRS && APART == 2;
            // Writes of `written` what is there, and clears the slot of these lanes.
            const auto finish = [&](int j, bool mine, unsigned int written) {
                double* const column = to + j * part.rows;
                constexpr int SECOND = APART == 2 ? 1 : 2;
                write_two_of<TOGETHER>(written, 2 * j, room == 1, column, sums[j][0], sums[j][SECOND]);
                write_two_of<TOGETHER>(written, 2 * j + 1, room == 3, column + 2, sums[j][3 - SECOND], sums[j][3]);
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[j][i] = mine ? 0.0 : sums[j][i];
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
            const int steps = stretch.count + SIZE - 1;
            // One more, to write the last.
            for (int step = 0;; ++step) {
                const bool mine = g == ((step + 7) & 7);
                const unsigned int written = mine && step >= SIZE ? outputs : 0;
                if (step == steps) {
#pragma unroll
                    for (int j = 0; j < ACROSS; ++j) finish(j, mine, written);
                    break;
                }
                const Shared now = own_samples + offset;
                const int samples[2] = {odd, odd ^ turns};
                const Shared next_entries = band + ((step + 1) & 7) * (SIZE * 128);
                odd ^= turns_of_page;
                offset = offset == RING - CHUNK ? 0 : offset + CHUNK;
#pragma unroll
                for (int u = 0; u < COLUMNS; ++u) {
                    const int cur = u & 1;
                    if (u + 1 < COLUMNS) {
                        b[cur ^ 1][0] = read_here(now + samples[(u + 1) & 1] + (u + 1) * STRIDE);
                        b[cur ^ 1][1] = read_here(now + samples[(u + 1) & 1] + (u + 1) * STRIDE + 4);
                    } else {
                        meet<THREADS>();
                        // Behind the last page what comes for the next stretch is under way.
                        const Shared next = step + 1 < steps ? own_samples + offset : now;
                        b[cur ^ 1][0] = read_here(next + odd);
                        b[cur ^ 1][1] = read_here(next + odd + 4);
                    }
                    if (u < ACROSS) finish(u, mine, written);
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
                    END_OF_COLUMN_ALONE(u);
                }
                to += page_size;
            }
        }
        const Pieces pieces = pieces_of(stretch, again());
        if (pieces.again != 0) {
            if (part.height == SIZE && part.width == SIZE && part.depth == SIZE) {
                offset = compute_again<true>(part, stretch, pieces, offset);
            } else {
                offset = compute_again<false>(part, stretch, pieces, offset);
            }
        }
    }
}

template <bool PAIRS>
__device__ __forceinline__ void convolution(const Launch& launch) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < CHUNKS; ++i) make_barrier(barriers() + i, LANES * BRINGING);
        barriers_are_made();
    }
    fetch_filter<THREADS>(launch, ring(), sides());
    write_table(launch.part, ring(), shared_memory());
    __syncthreads();
    // Not every place of the ring is filled: what lies there by chance may not be finite.
    for (int at = threadIdx.x; at < RING; at += THREADS) ring()[at] = 0;
    writes_before_copies();
    __syncthreads();
    if (threadIdx.x / LANES >= WARPS) {
        give_registers<FEW>();
        bring_all(launch.part);
    } else {
        take_registers<MANY>();
        multiply_all<PAIRS>(launch);
    }
}

}  // namespace

// Where every column of outputs begins at a multiple of 16.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) tensor_volume_pairs(Launch launch) {
    convolution<true>(launch);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    tensor_volume_singles(Launch launch) {
    convolution<false>(launch);
}

// What the host must know to launch it, told by the module itself.
extern "C" __constant__ unsigned int tile_rows_of_output = ROWS;
extern "C" __constant__ unsigned int tile_columns_of_output = ACROSS;
extern "C" __constant__ unsigned int block_warps = WARPS;
extern "C" __constant__ unsigned int block_threads = THREADS;
extern "C" __constant__ unsigned int blocks_at_once = BLOCKS;
extern "C" __constant__ unsigned int shared_bytes = SHARED;
