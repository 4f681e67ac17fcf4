// How columns come from device memory into the first ring, and go from the last ring back.
//
// A transport is a policy of the block's sweep:
//  - ThreadTransport: every thread copies its pieces of each column, in instructions that stand between multiply-adds.
//  - BulkTransport: a producer, one thread of another warp, copies whole columns in bulk; sweeping warps copy nothing.
#pragma once

#include "images/launch.cuh"
#include "images/plan.cuh"
#include "images/special_values.cuh"

namespace images {

// The pieces of each column that a thread copies: runs of WIDE neighbouring elements, STEP rows apart. The source of
// each is told by its distance from a place as far ahead of the column as an image has rows: rows around the image's
// end come from there.
template <class Warp, int WIDE>
struct Pieces {
    typedef typename Warp::T T;
    static constexpr int POINTS = Warp::POINTS;
    // Where there are gaps, only as many threads copy as make a step of whole groups of lanes.
    static constexpr int GROUP_ROWS = Warp::GROUP * POINTS;
    static constexpr int STEP = Warp::GAP == 0 ? THREADS * WIDE : THREADS * WIDE / GROUP_ROWS * GROUP_ROWS;
    static constexpr int PLACES = Warp::GAP == 0 ? STEP : STEP + STEP / GROUP_ROWS * Warp::GAP;
    static constexpr int COUNT = (LANES * POINTS + STEP - 1) / STEP;
    static constexpr int BYTES = WIDE * (int)sizeof(T);
    static_assert(COUNT <= 16 && POINTS / COUNT >= 2, "bits, and a point for the beginning and the end of each");

    // With pointers a thread needs no registers for distances.
    static constexpr bool POINTERS = Warp::KEEPS_POINTERS && WIDE > 1;
    static_assert(!POINTERS || COUNT <= 2, "there are registers for pointers");

    unsigned int distance[COUNT];  // bytes
    unsigned int target_distance;  // of the first piece from the column's place in the output, bytes
    unsigned int loads;            // a bit a piece: whether the strip has it
    unsigned int stores;           // whether this block stores it

    __device__ __forceinline__ Pieces(const BlockPlan& plan, long long rows)
        : target_distance(kept_number(threadIdx.x * BYTES)), loads(0), stores(0) {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const int at = threadIdx.x * WIDE + k * STEP;
            const unsigned int bytes = (unsigned int)((at < plan.wrap ? at + rows : at) * sizeof(T));
            distance[k] = POINTERS ? bytes : kept_number(bytes);
            const bool has_one = (int)threadIdx.x * WIDE < STEP;
            if (has_one && at < plan.height) loads |= 1u << k;
            if (has_one && at < plan.end_row - plan.first_row) stores |= 1u << k;
        }
    }

    // Where piece k of a column comes from. `column` is the strip's place in the column, less the rows of an image.
    __device__ __forceinline__ const char* source(int k, const T* column) const {
        return reinterpret_cast<const char*>(column) + distance[k];
    }
    // Where the first piece of a column goes.
    __device__ __forceinline__ T* target(T* column) const {
        return reinterpret_cast<T*>(reinterpret_cast<char*>(column) + target_distance);
    }

    // Each copies piece k if `mask` has its bit: from device memory to a ring, from a ring to registers, and from these
    // to device memory.
    static __device__ __forceinline__ void load(unsigned int mask, int k, Place<T> to, const char* source) {
        copy_piece<BYTES>(mask, 1u << k, to + k * PLACES, source);
    }
    static __device__ __forceinline__ void read(unsigned int mask, int k, Place<T> from, T (&to)[WIDE]) {
        read_piece(mask, 1u << k, from + k * PLACES, to);
    }
    static __device__ __forceinline__ void store(unsigned int mask, int k, T* target, const T (&from)[WIDE]) {
        write_piece(mask, 1u << k, target + k * STEP, from);
    }
};

// Pointers to a thread's pieces of the column that comes. Two are not set from the beginning: ptxas would have the
// halves of a pointer in registers that are no pair, and move them for each copy.
template <int COUNT>
struct Sources {
    const char* of[COUNT];
};
template <>
struct Sources<1> {
    const char* of[1] = {};
};
template <>
struct Sources<0> {};

// Copies by all threads, with WIDE elements an access.
template <class Warp, int WIDE>
struct ThreadTransport {
    typedef typename Warp::Launch Launch;
    typedef typename Warp::T T;
    typedef images::Pieces<Warp, WIDE> Pieces;
    static constexpr bool HAS_PRODUCER = false;
    static constexpr int PITCH = Warp::PITCH, POINTS = Warp::POINTS, COUNT = Pieces::COUNT;
    static constexpr bool POINTERS = Pieces::POINTERS, READS_AHEAD = Warp::READS_AHEAD, SCANS = Warp::SCANS;

    const Launch& launch;
    const BlockPlan& plan;
    const Rings<Warp>& rings;
    const Pieces pieces;
    // The pieces that are copied in regular slots.
    unsigned int loads, stores;
    // This thread's first place in the first column of the first ring, and of the last ring.
    const Place<T> first_ring, last_ring;
    // The columns that come and go in a regular slot, in device memory and in the rings.
    const T* input = nullptr;
    T* output = nullptr;
    Sources<POINTERS ? COUNT : 0> sources;
    T* target = nullptr;
    const long long step_bytes;
    unsigned int load_to = 0, store_from = 0;
    T held[WIDE];
    // What is scanned: the column that the last warp takes, in the ring before it.
    const unsigned int scanned_size;
    SpecialValueScan<Warp, WIDE> scan;
    unsigned int scanned_from = 0, scanned_pieces;

    __device__ __forceinline__ ThreadTransport(const Launch& launch, const BlockPlan& plan, const Rings<Warp>& rings)
        : launch(launch),
          plan(plan),
          rings(rings),
          pieces(plan, launch.rows),
          loads(pieces.loads),
          stores(pieces.stores),
          first_ring(kept_place(rings.memory + PAD + Warp::place(threadIdx.x * WIDE))),
          last_ring(
              kept_place(rings.behind(launch.warps - 1) + PAD + Warp::place(plan.first_row + threadIdx.x * WIDE))),
          step_bytes(POINTERS ? kept_distance(launch.column_step * (long long)sizeof(T)) : 0),
          scanned_size(rings.size_before(launch.warps - 1)),
          scan(rings.behind(launch.warps - 1) + PAD - scanned_size),
          scanned_pieces(pieces.loads) {}

    // Columns in the first ring, and in the one that is scanned.
    __device__ __forceinline__ int first_depth() const { return rarely_used(launch.depth) + Warp::LOAD_LEAD - 1; }
    __device__ __forceinline__ int scanned_depth() const {
        const int depth = rarely_used(launch.depth);
        return launch.warps == 1 ? depth + Warp::LOAD_LEAD - 1 : depth;
    }

    // What is done in a regular slot as point i of POINTS is finished: each piece has its part of the points.
    __device__ __forceinline__ void copy_at_point(int i) {
        const unsigned int load_mask = READS_AHEAD ? loads : pieces.loads;
        const unsigned int store_mask = READS_AHEAD ? stores : pieces.stores;
        constexpr int EACH = POINTS / COUNT;
        const int k = i / EACH;
        if (k >= COUNT) return;
        if (i % EACH == 0) {
            if constexpr (POINTERS) {
                Pieces::load(load_mask, k, first_ring + load_to, sources.of[k]);
            } else {
                Pieces::load(load_mask, k, first_ring + load_to, pieces.source(k, input));
            }
            Pieces::read(store_mask, k, last_ring + store_from, held);
        }
        // A thread that scans has a sample in its registers when the output has left them, if there are points enough.
        constexpr int WRITTEN = SCANS && EACH >= 4 ? EACH / 2 : EACH - 1;
        if (i % EACH == WRITTEN) {
            Pieces::store(store_mask, k, POINTERS ? target : pieces.target(output), held);
            scan.at_output(store_mask, k, held);
        }
        if (i % EACH == (WRITTEN < EACH - 1 ? WRITTEN : 0)) {
            scan.template read_sample<Pieces>(scanned_pieces, k, scanned_from);
        }
        if (i % EACH == EACH - 1) scan.at_sample(scanned_pieces, k);
    }

    // Goes on to the columns of the next regular slot.
    __device__ __forceinline__ void advance() {
        if constexpr (POINTERS) {
#pragma unroll
            for (const char*& source : sources.of) source += step_bytes;
            target = reinterpret_cast<T*>(reinterpret_cast<char*>(target) + step_bytes);
        } else {
            input += launch.column_step;
            output += launch.column_step;
        }
        load_to = next_place<PITCH>(load_to, rings.first_size);
        store_from = next_place<PITCH>(store_from, rings.last_size(launch));
        if constexpr (SCANS) scanned_from = next_place<PITCH>(scanned_from, scanned_size);
    }

    // Begins a run of regular slots from this one on, up to slot `end` at most. Returns how many there are.
    //
    // Without reading ahead, a column comes and one goes in each of them; with it, a column comes in all of them or in
    // none, and one goes in all or in none, as when a block begins and ends. Columns that come are neighbours in memory
    // up to where they go round. The last warp takes a column that is scanned in all of them, or in none.
    __device__ __forceinline__ int begin_regular(int slot, int end) {
        const int load = plan.load_at_slot_0 + slot, store = plan.store_at_slot_0 + slot;
        const bool has_load = load < plan.end_load, has_store = store >= plan.first_store;
        if (load < plan.first_load || (!READS_AHEAD && !has_store)) return 0;
        const int column_of_image = around(load, launch.columns);
        if (!READS_AHEAD || has_load) {
            const int until_round = slot + launch.columns - column_of_image;
            end = least(end, least(plan.end_load - plan.load_at_slot_0, until_round));
        }
        end = least(end, (has_store ? plan.end_store : plan.first_store) - plan.store_at_slot_0);
        if (slot >= end) return 0;
        int count = end - slot;
        if constexpr (READS_AHEAD) {
            loads = has_load ? pieces.loads : 0;
            stores = has_store ? pieces.stores : 0;
        }
        load_to = place_of(load - plan.first_load, first_depth()) * PITCH;
        store_from = place_of(store - plan.first_load, rarely_used(launch.last_depth())) * PITCH;
        if constexpr (SCANS) {
            const ColumnRange columns = plan.columns[launch.warps - 1];
            scanned_from = place_of(columns.at_slot_0 + slot - plan.first_load, scanned_depth()) * PITCH;
            const int first = most(columns.first, plan.first_load) - columns.at_slot_0;
            const int behind = least(columns.end, plan.end_load) - columns.at_slot_0;
            const bool takes = slot >= first && slot < behind;
            if (slot < behind) count = least(count, (takes ? behind : first) - slot);
            scanned_pieces = takes ? pieces.loads : 0;
        }
        input = launch.input + plan.input + column_of_image * launch.column_step;
        output = launch.output + plan.output + (store - plan.first_store) * launch.column_step;
        if constexpr (POINTERS) {
#pragma unroll
            for (int k = 0; k < COUNT; ++k) sources.of[k] = pieces.source(k, input);
            target = pieces.target(output);
        }
        return count;
    }

    // What is copied and scanned in a slot of any kind.
    __device__ __forceinline__ void copy_in_edge_slot(int slot) {
        const int load = plan.load_at_slot_0 + slot, store = plan.store_at_slot_0 + slot;
        if (load >= plan.first_load && load < plan.end_load) {
            const T* const input = launch.input + plan.input + around(load, launch.columns) * launch.column_step;
            const Place<T> to = first_ring + place_of(load - plan.first_load, first_depth()) * PITCH;
#pragma unroll
            for (int k = 0; k < COUNT; ++k) Pieces::load(pieces.loads, k, to, pieces.source(k, input));
        }
        if (store >= plan.first_store && store < plan.end_store) {
            T* const output = launch.output + plan.output + (store - plan.first_store) * launch.column_step;
            const Place<T> from = last_ring + place_of(store - plan.first_load, rarely_used(launch.last_depth())) * PITCH;
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                T held[WIDE];
                Pieces::read(pieces.stores, k, from, held);
                Pieces::store(pieces.stores, k, pieces.target(output), held);
                scan.at_output(pieces.stores, k, held);
            }
        }
        if constexpr (SCANS) {
            // A column that stands for one outside of the image is scanned itself.
            const ColumnRange columns = plan.columns[launch.warps - 1];
            const int column = columns.at_slot_0 + slot;
            if (column >= most(columns.first, plan.first_load) && column < least(columns.end, plan.end_load)) {
                const unsigned int place = place_of(column - plan.first_load, scanned_depth()) * PITCH;
                scan.template at_samples<Pieces>(pieces.loads, place);
            }
        }
    }

    // Ends a slot: what came LOAD_LEAD - 1 slots before is there.
    __device__ __forceinline__ void end_slot() {
        end_group();
        wait_groups<Warp::LOAD_LEAD - 1>();
    }

    __device__ __forceinline__ bool needs_fallback() const { return scan.needs_fallback(launch.near_zero); }
};

// Copies by a producer: sweeping warps, whose threads have REGISTERS registers, copy nothing.
template <class Warp, int REGISTERS_OF_A_THREAD>
struct BulkTransport {
    typedef typename Warp::Launch Launch;
    static constexpr bool HAS_PRODUCER = true;
    static constexpr int REGISTERS = REGISTERS_OF_A_THREAD;
    static_assert(ALONE && Warp::READS_AHEAD && Warp::GAP == 0 && !Warp::SCANS,
                  "columns that are copied whole, by one that need not scan them");

    __device__ __forceinline__ BulkTransport(const Launch&, const BlockPlan&, const Rings<Warp>&) {}
    __device__ __forceinline__ void copy_at_point(int) {}
    __device__ __forceinline__ void advance() {}
    __device__ __forceinline__ int begin_regular(int slot, int end) { return end - slot; }
    __device__ __forceinline__ void copy_in_edge_slot(int) {}
    __device__ __forceinline__ void end_slot() {}
    __device__ __forceinline__ bool needs_fallback() const { return false; }
};

}  // namespace images
