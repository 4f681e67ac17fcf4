// A warp's work in tensor/convolution.cu, segment by segment, and the circular buffer through which its samples come.
#pragma once

#include "tensor/convolution_layout.cuh"

namespace {

// Neighbouring columns of a page, in one strip, and the transfer of their samples, chunk by chunk.
struct Segment {
    long long top;  // its first row
    long long page;
    long long column;      // its first
    int count;             // its columns
    int rest;              // nonzero if some ghost cells above or below the image are copied one by one
    FlaggedPieces pieces;  // of its steps: an output is written SIZE steps after its column
    InnerBoxes inner;      // of its chunks
    WorkRange work;        // the rest. (Kept here, since a loop that runs long has no registers to spare.)
};
static_assert(sizeof(Segment) <= 8 * SEGMENT, "there is room for it");

// A warp's circular buffer in shared memory. Chunks are counted through all segments.
struct Ring {
    // In the present segment:
    int begin;  // its first chunk
    int end;    // behind its last

    static __device__ __forceinline__ double* samples() { return shared_memory() + TABLE + threadIdx.x / LANES * RING; }
    // Returns the barrier that signals a chunk's arrival.
    static __device__ __forceinline__ Barrier* full(int number) {
        return reinterpret_cast<Barrier*>(shared_memory() + BARRIERS_AT) + threadIdx.x / LANES * CHUNKS +
               number % CHUNKS;
    }
    static __device__ __forceinline__ Segment* segment() {
        return reinterpret_cast<Segment*>(shared_memory() + SEGMENTS_AT) + threadIdx.x / LANES;
    }
    static __device__ __forceinline__ SidesArgument* sides() {
        return reinterpret_cast<SidesArgument*>(shared_memory() + SIDES_AT);
    }
    static __device__ __forceinline__ int offset(int number) { return number % CHUNKS * CHUNK; }
    static __device__ __forceinline__ double* chunk(int number) { return samples() + offset(number); }

    // Begins a segment behind the last one.
    __device__ __forceinline__ void begin_segment(const TensorPart& part, int chunks) {
        begin = end;
        end += chunks;
        const Box box = box_of(begin);
        const unsigned long long address = address_of(part, box);
        // The first column of the box is this far from the first in the input, and as far behind the last.
        const long long ahead = box.column < place_of(part, box) ? box.column : place_of(part, box);
        const long long at_hand = part.before + part.count + part.after - place_of(part, box);
        const long long behind = part.columns - box.column < at_hand ? part.columns - box.column : at_hand;
        const BulkRows bulk = InnerBoxes::bulk_of(part, box, LENGTH);
        const long long first = ahead < 0 ? (COLUMNS - 1 - ahead) / COLUMNS : 0;
        const long long last = behind < chunks * COLUMNS ? behind / COLUMNS : chunks;
        const unsigned long long from = address - 8 * begin * (COLUMNS * part.rows);
        const int end_of_inner = bulk.low < bulk.high ? begin + static_cast<int>(last) : 0;
        bool rest = bulk.high - bulk.low < LENGTH;
        const unsigned long long odd = part.rows | is_odd(reinterpret_cast<unsigned long long>(part.input));
        const bool once = (bulk.low == 0 || part.written_once[0]) && (bulk.high == LENGTH || part.written_once[1]);
        if (rest && once && (odd & 1) == 0) {
            rest = false;
            write_once(bulk);
        }
        __syncwarp();
        if (threadIdx.x % LANES == 0) {
            segment()->inner = {from, begin + static_cast<int>(first), end_of_inner, bulk};
            segment()->rest = rest;
        }
        __syncwarp();
    }

    // Writes the constants above and below the image into all columns of the buffer. Bulk copies do not overwrite them,
    // so this is done once a segment: if each column has the same constant, without adjacent samples that are copied
    // one by one, and if no columns before the first one have a constant of their own, which would take their place.
    static __device__ __forceinline__ void write_once(const BulkRows& bulk) {
#pragma unroll 1
        for (int c = threadIdx.x % LANES; c < COLUMNS * CHUNKS; c += LANES) {
            double* const column = samples() + c * LENGTH;
#pragma unroll 1
            for (int i = 0; i < bulk.low; ++i) column[i] = sides()->of_rows.value[0];
#pragma unroll 1
            for (int i = bulk.high; i < LENGTH; ++i) column[i] = sides()->of_rows.value[1];
        }
        writes_before_copies();
    }

    __device__ __forceinline__ Box box_of(int number) const {
        const long long column = segment()->column - RADIUS + (number - begin) * COLUMNS;
        return {segment()->top - RADIUS, column, segment()->page, segment()->page};
    }

    // Requests a chunk at an edge. Some samples are written at once, before later bulk copies; some come in this group
    // of copies; the others are copied in bulk, which the barrier signals. (Here and below the part is a copy: a
    // variable whose address is passed to a called function is no constant to the compiler any more.)
    static __device__ __noinline__ void fetch_at_edge(TensorPart part, int begin, int number) {
        const Box box = Ring{begin, 0}.box_of(number);
        request_at_edge<LENGTH, COLUMNS, RADIUS, ROWS_BELOW>(part, *sides(), box, chunk(number), full(number));
        writes_before_copies();
    }
    static __device__ __noinline__ void fetch_above_and_below(TensorPart part, int begin, int number) {
        const Box box = Ring{begin, 0}.box_of(number);
        request_above_and_below<LENGTH, COLUMNS, RADIUS, ROWS_BELOW>(part, *sides(), box, chunk(number),
                                                                     segment()->inner.bulk);
        writes_before_copies();
    }

    // Requests a chunk, if it is one of the segment's.
    __device__ __forceinline__ void fetch(const TensorPart& part, int number) const {
        if (number < end) {
            const InnerBoxes inner = segment()->inner;
            if (number >= inner.first && number < inner.end) {
                const unsigned long long from = inner.from + 8 * (number * (COLUMNS * part.rows));
                request_in_bulk<LENGTH, COLUMNS>(part, from, inner.bulk, chunk(number), full(number));
                if (segment()->rest) fetch_above_and_below(part, begin, number);
            } else {
                fetch_at_edge(part, begin, number);
            }
        }
        end_group();
    }

    // Requests the segment's first chunks, up to the number in flight at a time.
    __device__ __forceinline__ void fetch_first(const TensorPart& part) const {
        for (int i = 0; i < CHUNKS - 1; ++i) fetch(part, begin + i);
    }

    // Waits for a chunk, with all that were requested before the last CHUNKS - 2.
    __device__ __forceinline__ void await(int number) const {
        wait_groups<CHUNKS - 2>();
        if (number < end) wait(full(number), number / CHUNKS & 1);
        __syncwarp();
    }
};

// ---- special values

// Scans some of a chunk's samples, in one of its CHUNK_PASSES passes: the pairs that the pass before has read, so that
// nothing waits for them. Then it reads those of the next pass. `own` is this lane's first pair in the chunk.
__device__ __forceinline__ void scan_in_pass(SpecialValueScan& scan, double2 (&pairs)[SCANNED], Shared own, int pass) {
    const int lane = threadIdx.x % LANES;
#pragma unroll
    for (int later = 1; later >= 0; --later) {
#pragma unroll
        for (int i = 0; i < SCAN_TURNS; ++i) {
            if (i * (CHUNK_PASSES - 1) / SCAN_TURNS + later != pass) continue;
            if (2 * LANES * (i + 1) <= CHUNK || 2 * (LANES * i + lane) < CHUNK) {
                double2& pair = pairs[i % SCANNED];
                if (later == 0) {
                    pair = read_pair_here(own + 2 * LANES * i);
                } else {
                    scan.sample(pair.x);
                    scan.sample(pair.y);
                }
            }
        }
    }
}

// Scans the rest of a chunk after this number of passes. A pass scans the pairs that the one before it has read, so
// some samples of the last column that was multiplied are among them.
__device__ __forceinline__ void scan_rest(SpecialValueScan& scan, Shared own, int passes) {
    const int seen = (passes - 2) * SCAN_TURNS / (CHUNK_PASSES - 1);
#pragma unroll 1
    for (int i = seen; i < SCAN_TURNS; ++i) {
        if (2 * (LANES * i + static_cast<int>(threadIdx.x % LANES)) >= CHUNK) continue;
        const double2 pair = read_pair_here(own + 2 * LANES * i);
        scan.sample(pair.x);
        scan.sample(pair.y);
    }
}

// ---- the segments of a warp

// Returns all of a warp's work. Each group of strips that neighbouring warps take has SEGMENT_OVERHEAD places before
// its columns, so that warps whose work goes on into another group have as much to do as the others.
__device__ __forceinline__ WorkRange work_of(const TensorPart& part) {
    const long long groups = ((part.rows + ROWS - 1) / ROWS + part.abreast - 1) / part.abreast;
    return work_range_of(groups * (SEGMENT_OVERHEAD + part.count), part.abreast, WARPS);
}

// Returns the next segment of a warp's work, or one below the image.
__device__ __forceinline__ Segment next_of(const TensorPart& part, WorkRange& work) {
    const long long group = work.at / (SEGMENT_OVERHEAD + part.count);
    long long from = work.at - group * (SEGMENT_OVERHEAD + part.count) - SEGMENT_OVERHEAD;
    Segment segment;
    if (from < 0) {
        work.at -= from;
        from = 0;
        if (work.at >= work.end) {
            segment.top = part.rows;
            return segment;
        }
    }
    const long long through = part.first + from;  // counted through all pages
    segment.page = through / part.columns;
    segment.column = through - segment.page * part.columns;
    long long most = work.end - work.at;
    if (most > part.count - from) most = part.count - from;
    if (most > part.columns - segment.column) most = part.columns - segment.column;
    segment.count = static_cast<int>(most);
    segment.pieces = FlaggedPieces::of<2 * SLOTS>(segment.count + SIZE - 1);
    work.at += most;
    segment.top = (group * part.abreast + threadIdx.x / LANES % part.abreast) * ROWS;
    return segment;
}

// Goes to the next segment of the warp's work, if there is one.
__device__ __forceinline__ bool next_segment(const TensorPart& part) {
    Segment* const segment = Ring::segment();
    WorkRange work = segment->work;
    Segment next;
    do {
        if (work.at >= work.end) return false;
        next = next_of(part, work);
    } while (next.top >= part.rows);
    next.work = work;
    __syncwarp();
    if (threadIdx.x % LANES == 0) *segment = next;
    __syncwarp();
    return true;
}

// Returns the address of the first output of a segment.
__device__ __forceinline__ double* outputs_of(const TensorPart& part, const Segment& segment) {
    return part.output + (segment.page * part.columns + segment.column - part.first) * part.rows + segment.top;
}

}  // namespace
