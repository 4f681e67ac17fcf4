// The producers of tensor/volume.cu: the warps that bring pages of samples, and scan them for special values.
#pragma once

#include "tensor/volume_layout.cuh"

namespace {

// Requests a producer's columns of a page of samples, for all strips of a group; a few lanes share a column. Most are
// copied in bulk, which the barrier signals; the rest comes in this group of copies, or is written at once, before
// later bulk copies.
__device__ __forceinline__ void request_page(const TensorPart& part, const Cut& cut, const Strip* strips,
                                             long long page, double* to, Barrier* full) {
    constexpr int OWN = (COLUMNS + PRODUCERS - 1) / PRODUCERS;
    constexpr int SHARING = LANES / OWN;
    const int lane = threadIdx.x % LANES;
    const int c = lane % OWN + (threadIdx.x / LANES - CONSUMERS) * OWN;
    const int first = lane / OWN;
    const int length = part.abreast * ROWS + HALO;
    const int alternates = static_cast<int>(part.rows & 1);
    const long long source = sample_at(page, part.pages, RADIUS, sides()->of_pages);
    int bytes = 0;
    if (c < COLUMNS && first < SHARING) {
        double* column = to + c * STRIDE;
#pragma unroll 1
        for (int team = 0; team < cut.teams; ++team) {
            const Strip strip = strips[team];
            if (strip.top >= part.rows) break;
            const Box box{strip.top - RADIUS, strip.left - RADIUS, page, source};
            const long long top = box.top - (is_odd(address_of(part, box)) ^ (c & alternates));
            const long long of = sample_at(box.column + c, part.columns, RADIUS, sides()->of_columns);
            const long long at = source * part.columns + of - (part.first - part.before);
            const bool has = source >= 0 && of >= 0 && at >= 0 && at < part.before + part.count + part.after;
            const double* const from = part.input + (has ? at : 0) * part.rows;
            const int low = top < 0 ? static_cast<int>(-top) : 0;
            const int high = part.rows - top < length ? static_cast<int>(part.rows - top) : length;
            const int end =
                part.rows + ROWS_BELOW - top < length ? static_cast<int>(part.rows + ROWS_BELOW - top) : length;
            BulkRows bulk{0, 0};
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
                    // If two sides meet, the later dimension's constant takes precedence.
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

// Scans a producer's share of a page's samples, of `used` places of each column.
__device__ __forceinline__ void scan_page(SpecialValueScan& scan, Shared page, int used) {
    const int lane = threadIdx.x % LANES;
#pragma unroll 1
    for (int c = threadIdx.x / LANES - CONSUMERS; c < COLUMNS; c += PRODUCERS) {
#pragma unroll
        for (int at = 0; at < STRIDE; at += 2 * LANES) {
            if (at + 2 * lane >= used) continue;
            const double2 pair = read_pair_here(page + (c * STRIDE + at + 2 * lane));
            scan.sample(pair.x);
            scan.sample(pair.y);
        }
    }
}

// Brings `count` pages of samples from `first` on, after `number` earlier pages of the ring, and scans them if `pieces`
// are given. All warps meet when the first page is there, and then each time when one has been taken and the next is
// there. Before they meet for the last time this warp publishes its flags.
__device__ __forceinline__ void produce(const TensorPart& part, const Cut& cut, const Strip* strips, long long first,
                                        int count, int& number, FlaggedPieces* pieces) {
    const Shared samples = in_shared(ring());
    const int used = cut.teams * (part.abreast * ROWS + HALO);
#pragma unroll 1
    for (int step = 1 - CHUNKS; step < count; ++step) {
        const int asked = step + CHUNKS - 1;
        if (asked < count) {
            const int at = (number + asked) % CHUNKS;
            request_page(part, cut, strips, first + asked, ring() + at * CHUNK, barriers() + at);
        }
        end_group();
        if (step < -1) continue;
        if (step >= 0 && pieces != nullptr) {
            SpecialValueScan scan;
            scan_page(scan, samples + (number + step) % CHUNKS * CHUNK, used);
            // Special values change the outputs up to SLOTS steps later, no more than a piece has.
            if (__any_sync(ALL_LANES, scan.needs_fallback(part))) pieces->flags |= 3ull << step / pieces->length;
            if (step == count - 1 && threadIdx.x % LANES == 0) flags()[threadIdx.x / LANES - CONSUMERS] = pieces->flags;
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

// Brings all samples of a block's work: for each segment, and once more for recomputed pieces.
__device__ __noinline__ void produce_all_segments(TensorPart part) {
    const Cut cut(part);
    Strip* const strips = strips_of_producers() + (threadIdx.x / LANES - CONSUMERS) * CONSUMERS;
    int number = 0;
    WorkRange work = cut.work();
    while (work.at < work.end) {
        const Segment segment = cut.next_of(part, work);
        const int lane = threadIdx.x % LANES;
        __syncwarp();
        if (lane < cut.teams) strips[lane] = cut.strip_of(part, segment.group, lane);
        __syncwarp();
        FlaggedPieces pieces = pieces_of(segment);
        produce(part, cut, strips, segment.first - RADIUS, segment.count + SIZE - 1, number, &pieces);
        pieces = flagged_pieces_of(segment);
        for (FlaggedRun run(pieces, segment.count); run.next();) {
            produce(part, cut, strips, segment.first + run.page - RADIUS, run.count + SIZE - 1, number, nullptr);
        }
    }
}

}  // namespace
