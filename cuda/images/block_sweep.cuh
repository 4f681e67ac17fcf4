// Many sweeps of a convolution over images in one launch.
//
// A sweep that goes to device memory and back is bound by the bytes. Here a block takes a strip of rows through several
// sweeps, column by column: its warps are a pipeline, and each does Warp::SWEEPS sweeps. In a slot of time each warp
// takes a column, then all meet at a barrier. What a warp has finished lies in a ring of columns (a circular buffer) in
// shared memory behind it, and is the next warp's column a slot later. There is such a ring before the first warp, too,
// and columns go to device memory from the one behind the last.
//
//   plan the block: its strip, its columns, each warp's columns        (one thread: plan.cuh)
//   fill the columns of constants, make barriers, wait for the launch before
//   producer, where there is one: copy columns in bulk, slot by slot   (one thread of another warp: producer.cuh)
//   each sweeping warp, in each slot:
//     regular slot, as most are: none of this warp's columns is at an edge of the image
//       take a column from the ring before to the ring behind          (warp_sweep.cuh)
//       between the multiply-adds: load a column, store a column, scan for special values  (transport.cuh)
//     other slot:
//       copy what comes and goes in it
//       take the column, if it is the warp's, and those that the boundary says stand before the first one
//       find how many regular slots follow
//     meet
//   return whether special values were seen                            (special_values.cuh)
//
// What makes the speed:
//  - A slot has little beside its multiply-adds: no branches, and copies are instructions with a predicate that stand
//    between them.
//  - The multiply-adds of one block cannot keep a multiprocessor busy, those of two can. One of the two has precedence,
//    always, and the other gets what is left. So segments of columns are of two lengths: the longer ones are those of
//    the first half of the blocks, which are those that have precedence.
//  - In single every instruction beside the multiply-adds costs as much as one of them, and two warps are too few to
//    hide what a warp waits for. So a warp reads a column ahead, when it is done with the samples of the one before;
//    the halo of a lane's rows comes from its neighbours' registers; and whether warps have met is asked in the middle
//    of the next slot, when all have long arrived.
//  - A block of eight warps has a multiprocessor for itself. In double it has a producer: so much less stands between
//    the multiply-adds. All strips follow each other in one line, of which each block takes as much.
//
// Strips overlap, and so do segments: each sweep spoils as many rows or columns at a side that is not the image's. At
// the image's own edges every sweep is true. A strip that touches the first or last row does so with the first or last
// lane, whose registers then tell the ghost values. Each warp takes the columns that the boundary says, before the
// first and behind the last, as columns of their own, from what is in the ring. Those before the first it takes all in
// one slot, when what stands there has come: they finish no output. Between two sweeps of one warp there is no ring:
// see WarpSweep.
//
// Along a dimension that goes around, images have no edge: they are seen as going on. Where two sides meet, a constant
// beside the columns counts: a column that is repeated repeats what stands above and below.
//
// A filter of one row has RADIUS_ROWS 0: no strip spoils anything. One of one column has RADIUS_COLUMNS 0: no sums wait
// for another column, so a warp has registers for any number of sweeps, and its first ones may be skipped. Columns, and
// images, may lie as far apart as they like: so the pages of a volume are columns, too.
#pragma once

#include "images/launch.cuh"
#include "images/plan.cuh"
#include "images/producer.cuh"
#include "images/transport.cuh"
#include "images/warp_sweep.cuh"

namespace images {

// Where warps that read ahead meet: each arrives at the end of a slot, and asks in the next one whether all have.
struct SlotBarrier {
    const unsigned int is_first_lane;
    const Place<Barrier> barrier;
    unsigned int parity = 1;

    __device__ __forceinline__ explicit SlotBarrier(Barrier* barrier)
        : is_first_lane(kept_number(threadIdx.x % LANES == 0)), barrier(kept_place(barrier)) {}

    __device__ __forceinline__ void arrive() {
        __syncwarp();
        arrive_if(is_first_lane, barrier);
        parity ^= 1;
    }
    __device__ __forceinline__ void wait() const { wait_at(barrier, parity); }
};

// The state of a sweeping warp of a block, in each of its threads; its members are the steps.
template <class Warp, class Transport>
struct BlockSweep {
    typedef typename Warp::Launch Launch;
    typedef typename Warp::T T;
    static constexpr int PITCH = Warp::PITCH;

    const Launch& launch;
    const BlockPlan& plan;
    const int warp_number;
    const bool circular;             // columns go round
    const unsigned int size_before;  // of the ring before the warp, elements
    const unsigned int size_behind;  // and of the one behind it
    Warp warp;
    Transport transport;
    int slot = -(Warp::LOAD_LEAD + Warp::READS_AHEAD);  // the first ones only load columns
    // Of a run of regular slots: how many are left, and the places of the columns in the rings before and behind the
    // warp.
    int regular_slots = 0;
    unsigned int from = 0, to = 0;

    __device__ __forceinline__ BlockSweep(const Launch& launch, const BlockPlan& plan, const Rings<Warp>& rings,
                                          int warp_number)
        : launch(launch),
          plan(plan),
          warp_number(warp_number),
          circular(launch.column_boundary(0) == CIRCULAR),
          size_before(rings.size_before(warp_number)),
          size_behind(rings.size_behind(launch, warp_number)),
          warp(launch, plan, rings, warp_number),
          transport(launch, plan, rings) {}

    // All slots of warps that meet at the end of each.
    __device__ __forceinline__ void run_in_step() {
        const auto end_slot = [&]() {
            ++slot;
            transport.end_slot();
            meet<THREADS>();
        };
#pragma unroll 1
        while (true) {
            if (regular_slots > 0) {
                --regular_slots;
                warp.template column<false>(warp.before + from, warp.behind + to, 0,
                                            [&](int i) { transport.copy_at_point(i); });
                transport.advance();
                from = next_place<PITCH>(from, size_before);
                to = next_place<PITCH>(to, size_behind);
                end_slot();
            } else {
                if (slot >= plan.slots) break;
                edge_slot();
                find_regular_slots(slot + 1);
                end_slot();
            }
        }
    }

    // All slots of warps that read a column ahead.
    __device__ __forceinline__ void run_ahead(Barrier* barrier) {
        SlotBarrier slots(barrier);
        const unsigned int ring_before = kept_number(size_before);
        const auto wait = [&]() { slots.wait(); };
        const auto end_slot = [&]() {
            transport.end_slot();
            slots.arrive();
        };
#pragma unroll 1
        while (true) {
            if (regular_slots > 0) {
                wait();
                T points[Warp::POINTS];
                warp.read(warp.before + from, points);
                slot += regular_slots;
#pragma unroll 1
                do {
                    from = next_place<PITCH>(from, ring_before);
                    warp.column_and_next(
                        points, warp.before + from, warp.behind + to, [&](int i) { transport.copy_at_point(i); }, wait);
                    transport.advance();
                    // Beside a producer the ring's size is computed anew: that takes an instruction less.
                    to = next_place<PITCH>(
                        to, Transport::HAS_PRODUCER ? depth_behind(launch, warp_number) * PITCH : size_behind);
                    end_slot();
                } while (--regular_slots > 0);
            } else {
                if (slot >= plan.slots) break;
                wait();
                edge_slot();
                find_regular_slots(slot + 1);
                ++slot;
                end_slot();
            }
        }
    }

private:
    // Columns in the ring before the warp.
    __device__ __forceinline__ int depth_before() const {
        const int depth = rarely_used(launch.depth);
        return warp_number == 0 ? depth + Warp::LOAD_LEAD - 1 : depth;
    }

    // A slot of any kind.
    __device__ __forceinline__ void edge_slot() {
        transport.copy_in_edge_slot(slot);
        if (warp_number >= launch.warps) return;
        const ColumnRange columns = plan.columns[warp_number];
        const int last = columns.at_slot_0 + slot;
        if (last < columns.first || last >= columns.end) return;
        int column = last;
        if (columns.first < 0 && !circular) {
            // The columns before the image's first are taken together, when what stands there has come.
            const unsigned int boundary = launch.column_boundary(0);
            const int ready = Launch::is_mirror(boundary) ? Warp::RADIUS_COLUMNS
                              : boundary == SYMMETRIC     ? Warp::RADIUS_COLUMNS - 1
                                                          : 0;
            if (last < ready) return;
            if (last == ready) column = columns.first;
        }
#pragma unroll 1
        for (; column <= last; ++column) edge_column(column);
    }

    // Takes a column that may be outside of the image.
    __device__ __forceinline__ void edge_column(int column) {
        const int place = boundary_source_column(column);
        const bool none = !circular && (place < 0 || place >= launch.columns);
        const Place<T> from = none ? warp.constant + (column < 0 ? 0 : constant_behind(launch) * PITCH)
                                   : warp.before + place_of(place - plan.first_load, depth_before()) * PITCH;
        const int to = place_of(column - Warp::REACH - plan.first_load, rarely_used(depth_behind(launch, warp_number))) * PITCH;
        warp.template column<true>(from, warp.behind + to, column, [](int) {});
    }

    // The column that stands for one outside of the image; that column itself where it is one of a constant.
    __device__ __forceinline__ int boundary_source_column(int column) const {
        int place = column;
        if (circular || (column >= 0 && column < launch.columns)) return place;
        const unsigned int boundary = launch.column_boundary(column < 0 ? 0 : 1);
        const int columns = rarely_used(launch.columns);
        const int left_out = Launch::is_mirror(boundary) ? 1 : 0;
        if (boundary == REPLICATE) {
            place = column < 0 ? 0 : columns - 1;
        } else if (boundary == SYMMETRIC || left_out) {
            do place = (place < 0 ? left_out : 2 * columns - left_out) - 1 - place;
            while (place < 0 || place >= columns);
        }
        return place;
    }

    // Finds how many regular slots there are from this one on: no warp's sweep sees an edge in them.
    __device__ __forceinline__ void find_regular_slots(int slot) {
        if (warp_number >= launch.warps) return;
        const ColumnRange columns = plan.columns[warp_number];
        // A mirror shows a column more.
        const int first = Warp::REACH + Launch::is_mirror(launch.column_boundary(0));
        const int inner = circular ? columns.first : most(columns.first, first);
        const int outer = circular ? columns.end : least(columns.end, rarely_used(launch.columns) - 1);
        const int column = columns.at_slot_0 + slot;
        const int end = outer - columns.at_slot_0;
        if (column < inner || slot >= end) return;
        regular_slots = transport.begin_regular(slot, end);
        from = place_of(column - plan.first_load, depth_before()) * PITCH;
        to = place_of(column - Warp::REACH - plan.first_load, rarely_used(depth_behind(launch, warp_number))) * PITCH;
    }
};

// What a block does. Returns whether this thread saw special values that need the fallback.
template <class Warp, class Transport>
__device__ __forceinline__ bool sweep_images(const typename Warp::Launch& launch) {
    constexpr bool HAS_PRODUCER = Transport::HAS_PRODUCER;
    constexpr int ALL = threads_of(HAS_PRODUCER);
    DYNAMIC_SHARED(typename Warp::T, memory);
    __shared__ BlockPlan plan;
    __shared__ Barrier slot_barrier;
    __shared__ Barrier full[HAS_PRODUCER ? Warp::LOAD_LEAD : 1];
    const int thread = threadIdx.x;
    // It is the same for all lanes, which the compiler cannot know: what is the same for a warp takes no registers of a
    // lane.
    const int warp = __shfl_sync(0xffffffff, threadIdx.x / LANES, 0);
    const Rings<Warp> rings(launch, memory);
    // Halo, and columns that have not come, are multiplied: without special values among them.
    if constexpr (Warp::SCANS) rings.template clear<ALL>(thread);
    rings.template fill_constants<ALL>(launch, thread);
    if (thread == 0) {
        plan_block<Warp>(launch, plan);
        if constexpr (Warp::READS_AHEAD) make_barrier(&slot_barrier, HAS_PRODUCER ? WARPS + 1 : WARPS);
        if constexpr (HAS_PRODUCER) {
            for (Barrier& barrier : full) make_barrier(&barrier, 1);
            barriers_are_made();
        }
    }
    __syncthreads();
    follow_launch_before();
    if constexpr (HAS_PRODUCER) {
        constexpr int REGISTERS = Transport::REGISTERS;
        if (warp >= WARPS) {
            give_registers<(65536 / ALL / 8 * 8 * ALL / LANES - WARPS * REGISTERS) / PRODUCER_WARPS>();
            if (warp == WARPS && is_elected()) Producer<Warp>(launch, plan, rings, &slot_barrier, full).run();
            return false;
        }
        take_registers<REGISTERS>();
    }
    BlockSweep<Warp, Transport> sweep(launch, plan, rings, warp);
    if constexpr (Warp::READS_AHEAD) {
        sweep.run_ahead(&slot_barrier);
    } else {
        sweep.run_in_step();
    }
    return sweep.transport.needs_fallback();
}

}  // namespace images
