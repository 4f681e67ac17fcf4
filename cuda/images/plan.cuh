// What a block computes: a strip of rows and a run of columns of one image, and which columns each of its warps takes.
#pragma once

#include "images/launch.cuh"

namespace images {

// The columns that one warp takes.
struct ColumnRange {
    int first;
    int end;        // the one behind the last
    int at_slot_0;  // the one that the warp would take in slot 0
};

// What a block has to know. It lies in shared memory, as sums and samples leave few registers for it.
//
// Rows count from the strip's first one. Columns count from the image's first one; where columns go round there are
// others before and behind.
struct BlockPlan {
    long long input;   // the strip's first element in its image's first column, less the rows of an image
    long long output;  // the first element that is stored
    int height;        // rows of the strip
    int first_row;     // the first row that is stored
    int end_row;       // and the one behind the last
    int wrap;          // rows that lie ahead of the image's end; the others lie before its first row
    int first_strip;   // whether the strip's first row is an edge
    int last_strip;
    int slots;
    int first_load;      // the first column that is loaded
    int end_load;        // and the one behind the last
    int first_store;     // the first column that is stored
    int end_store;       // and the one behind the last
    int load_at_slot_0;  // the column that would be loaded in slot 0
    int store_at_slot_0;
    ColumnRange columns[WARPS];
};

// Columns of a strip of an image.
struct Piece {
    long long page;
    int strip;
    int begin;
    int end;
};

// The piece of this block where each strip is in segments.
template <class Launch>
__device__ __forceinline__ Piece segment_of_block(const Launch& launch) {
    const bool alike = launch.long_share_256 == 0;
    const unsigned int half = alike ? gridDim.x : gridDim.x / 2;
    const bool second = blockIdx.x >= half;
    const unsigned int number = second ? blockIdx.x - half : blockIdx.x;
    const int runs = alike ? launch.segments : launch.segments / 2;
    const int run = number % runs;
    const unsigned int strip = number / runs;
    const long long length = launch.columns + 2LL * launch.edge_columns;
    int begin = (int)(length * run / runs) - launch.edge_columns;
    int end = (int)(length * (run + 1) / runs) - launch.edge_columns;
    if (!alike) {
        const int between = begin + (int)((long long)(end - begin) * launch.long_share_256 >> 8);
        (second ? begin : end) = between;
    }
    return {strip / launch.strips, (int)(strip % launch.strips), most(begin, 0), least(end, launch.columns)};
}

// The piece of this block where all strips follow each other in one line, which is in `segments` equal parts. No part
// is longer than a strip, and none begins behind the line. In the line each strip is longer by the columns that it
// takes to begin with it, which is done for each part.
//
// The first blocks take a part each, up to the end of the strip in which it begins. What parts have of a second strip
// goes to further blocks, the longest rest first: so each comes to a multiprocessor where a block has just ended that
// had so much less.
template <class Warp>
__device__ __forceinline__ Piece part_of_block(const typename Warp::Launch& launch) {
    const int to_begin = launch.warps * (2 * Warp::SWEEPS * Warp::RADIUS_COLUMNS + 1 + Warp::READS_AHEAD);
    const int parts = launch.segments, strips = gridDim.x - parts + 1, length = launch.columns + to_begin;
    const int part = (int)(((long long)strips * length + parts - 1) / parts);
    int strip, from;  // the part begins there, in the strip's own count
    if (blockIdx.x < parts) {
        const long long in_line = (long long)blockIdx.x * part;
        strip = (int)(in_line / length);
        from = (int)(in_line - (long long)strip * length);
    } else {
        // Sorts strips but the first by where each begins in its part: the earlier, the more is behind that. One that
        // begins with a part counts as beginning at the end of the part before.
        const int step = length % part;
        const auto next = [&](int at) { return at + step <= part ? at + step : at + step - part; };
        int at = part, ahead;
        strip = 0;
        do {
            ++strip;
            at = next(at);
            ahead = 0;
            int other = part;
#pragma unroll 1
            for (int i = 1; i < strips; ++i) {
                other = next(other);
                ahead += other < at || (other == at && i < strip);
            }
        } while (ahead != blockIdx.x - parts);
        from = -at;
    }
    const int begin = most(from - to_begin, 0), end = least(from + part - to_begin, launch.columns);
    return {strip / launch.strips, strip % launch.strips, begin, most(begin, end)};
}

// The rows of the strip, and which of them this block stores: all but those that a sweep spoils at a side that is no
// edge.
template <class Warp>
__device__ __forceinline__ void plan_rows(const typename Warp::Launch& launch, BlockPlan& plan, const Piece& piece) {
    const bool around_rows = launch.row_boundary(0) == CIRCULAR;
    const int strip = piece.strip;
    const int height = launch.lanes * Warp::POINTS;
    const int spoiled = launch.warps * Warp::SWEEPS * Warp::RADIUS_ROWS;
    const int step = height - 2 * spoiled;
    const bool first_strip = strip == 0 && !around_rows;
    const bool last_strip = strip == launch.strips - 1 && !around_rows;
    const long long stored = (long long)strip * step + (first_strip || around_rows ? 0 : spoiled);
    const long long top = around_rows ? stored - spoiled : last_strip ? launch.rows - height : (long long)strip * step;
    const long long below = launch.rows - top;
    plan.input = piece.page * launch.image_step + (top < 0 ? top : top - launch.rows);
    plan.output = piece.page * launch.image_step + stored;
    plan.height = height;
    plan.first_row = (int)(stored - top);
    plan.end_row = last_strip ? height : (int)least(below, (long long)(height - spoiled));
    plan.wrap = (int)least(top < 0 ? -top : below, (long long)height);
    plan.first_strip = first_strip;
    plan.last_strip = last_strip;
}

// The columns that are loaded and stored, and those that each warp takes for them.
template <class Warp>
__device__ __forceinline__ void plan_columns(const typename Warp::Launch& launch, BlockPlan& plan, const Piece& piece) {
    constexpr int WARP_REACH = Warp::REACH;
    const bool around_columns = launch.column_boundary(0) == CIRCULAR;
    const int reach = launch.warps * WARP_REACH;
    const int begin = piece.begin, end = piece.end;
    const int start = around_columns ? begin - reach : most(begin - reach, -Warp::RADIUS_COLUMNS);
    const int stop = around_columns ? end + reach : least(end + reach, launch.columns + WARP_REACH);
    const int lag = WARP_REACH + 1 + Warp::READS_AHEAD;
    for (int w = 0; w < launch.warps; ++w) {
        const int rest = reach - w * WARP_REACH;
        plan.columns[w].first = most(start, begin - rest);
        plan.columns[w].end = least(stop, end + rest);
        plan.columns[w].at_slot_0 = start - w * lag;
    }
    plan.first_load = around_columns ? start : most(start, 0);
    plan.end_load = around_columns ? stop : least(stop, launch.columns);
    plan.output += begin * launch.column_step;
    plan.first_store = begin;
    plan.end_store = end;
    plan.load_at_slot_0 = start + Warp::LOAD_LEAD + Warp::READS_AHEAD;
    plan.store_at_slot_0 = start - launch.warps * lag;
    // Of no columns nothing is done.
    plan.slots = begin < end ? end - plan.store_at_slot_0 : -EARLIEST;
}

// Plans this block's work; one thread calls it.
template <class Warp>
__device__ __forceinline__ void plan_block(const typename Warp::Launch& launch, BlockPlan& plan) {
    // No launch for stars is a line: their blocks take longer to begin.
    const bool is_line = ALONE && !Warp::SCANS && launch.long_share_256 == Warp::Launch::LINE;
    const Piece piece = is_line ? part_of_block<Warp>(launch) : segment_of_block(launch);
    plan_rows<Warp>(launch, plan, piece);
    plan_columns<Warp>(launch, plan, piece);
}

}  // namespace images
