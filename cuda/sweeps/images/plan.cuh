// Assignment of columns and strips to a block, and of its work to slots.
#pragma once

#include "sweeps/images/launch.cuh"

namespace images {

// The columns of a strip of a page that a block takes.
struct Piece {
    long long page;
    int strip;
    int begin;
    int end;
};

// Returns a block's piece if each strip is in segments.
template <class Launch>
__device__ __forceinline__ Piece segment_of(const Launch& launch) {
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

// Returns a block's piece if all strips follow each other in one line, in `segments` equal parts, none of which begins
// behind it or is longer than a strip. There each strip is longer by its start-up, which each part repeats.
//
// The first blocks take a part each, up to the end of the strip in which it begins. The others take the pieces of parts
// in the next strip, the longest first: so each gets a multiprocessor whose block has just ended because it had that
// much less.
template <class Stages>
__device__ __forceinline__ Piece part_of(const typename Stages::Launch& launch) {
    const int to_begin = launch.warps * (2 * Stages::STAGES * Stages::RADIUS_COLUMNS + 1 + Stages::AHEAD);
    const int parts = launch.segments, strips = gridDim.x - parts + 1, length = launch.columns + to_begin;
    const int part = (int)(((long long)strips * length + parts - 1) / parts);
    int strip, from;  // the part begins there, in the strip's own count
    if (blockIdx.x < parts) {
        const long long in_line = (long long)blockIdx.x * part;
        strip = (int)(in_line / length);
        from = (int)(in_line - (long long)strip * length);
    } else {
        // The begin of each strip but the first in its part: the longer its piece there, the earlier; at the part's end
        // if it begins with the next part, whose block takes it.
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

// Lays out this block's work, for thread 0.
template <class Stages>
__device__ __forceinline__ void lay_out(const typename Stages::Launch& launch, Block& block) {
    constexpr int POINTS = Stages::POINTS, STAGES = Stages::STAGES;
    constexpr int RADIUS_ROWS = Stages::RADIUS_ROWS, RADIUS_COLUMNS = Stages::RADIUS_COLUMNS;
    constexpr int WARP_REACH = STAGES * RADIUS_COLUMNS;
    const bool around_rows = launch.beyond_rows(0) == CIRCULAR, around_columns = launch.beyond_columns(0) == CIRCULAR;
    const int reach = launch.warps * WARP_REACH;
    // No launch of stages that scan is a line: their blocks take longer to begin.
    const bool is_line = ALONE && !Stages::SCANS && launch.long_share_256 == Stages::Launch::LINE;
    const Piece piece = is_line ? part_of<Stages>(launch) : segment_of(launch);
    const int strip = piece.strip, begin = piece.begin, end = piece.end;
    const long long page = piece.page;
    // The rows of the strip, and those that this block writes.
    const int height = launch.lanes * POINTS;
    const int spoiled = launch.warps * STAGES * RADIUS_ROWS;
    const int step = height - 2 * spoiled;
    const bool first_strip = strip == 0 && !around_rows;
    const bool last_strip = strip == launch.strips - 1 && !around_rows;
    const long long wanted = (long long)strip * step + (first_strip || around_rows ? 0 : spoiled);
    const long long top = around_rows ? wanted - spoiled : last_strip ? launch.rows - height : (long long)strip * step;
    const long long below = launch.rows - top;
    block.before = page * launch.image_step + (top < 0 ? top : top - launch.rows);
    block.output = page * launch.image_step + wanted;
    block.height = height;
    block.from = (int)(wanted - top);
    block.to = last_strip ? height : (int)least(below, (long long)(height - spoiled));
    block.wrap = (int)least(top < 0 ? -top : below, (long long)height);
    block.first_strip = first_strip;
    block.last_strip = last_strip;
    // The columns that each warp needs for the block's outputs.
    const int start = around_columns ? begin - reach : most(begin - reach, -RADIUS_COLUMNS);
    const int stop = around_columns ? end + reach : least(end + reach, launch.columns + WARP_REACH);
    const int lag = WARP_REACH + 1 + Stages::AHEAD;
    for (int w = 0; w < launch.warps; ++w) {
        const int rest = reach - w * WARP_REACH;
        block.columns[w].first = most(start, begin - rest);
        block.columns[w].last = least(stop, end + rest);
        block.columns[w].zero = start - w * lag;
    }
    block.low = around_columns ? start : most(start, 0);
    block.high = around_columns ? stop : least(stop, launch.columns);
    block.output += begin * launch.column_step;
    block.begin = begin;
    block.end = end;
    block.coming = start + Stages::LEAD + Stages::AHEAD;
    block.leaving = start - launch.warps * lag;
    // Without columns there is no work.
    block.slots = begin < end ? end - block.leaving : -EARLIEST;
}

}  // namespace images
