// Many sweeps of a convolution over images in one launch.
//
// A sweep that goes to device memory and back is bound by the bytes. Here a block takes a strip of rows through several
// sweeps, column by column: its warps are the stages of a pipeline, and each does STAGES sweeps. A lane holds POINTS
// neighbouring rows of the column that has come, and the partial sums of the 2 * RADIUS_COLUMNS outputs for which the
// column is not the last. So a column is used up as it comes: in the filter's column-major order an output gets one run
// of multiply-adds from each, which is its chain. RADIUS_ROWS is the number of rows above an output, and below it, in
// that run.
//
// In a slot of time each warp takes a column, then all meet at one barrier. A warp's results are in a ring of columns
// in shared memory behind it, and are the next warp's column a slot later. Such a ring is also before the first warp,
// and columns go to device memory from the one behind the last.
//
// In single every other instruction costs as much as a multiply-add, and two warps are too few to hide a warp's
// latencies. So there a warp reads a column ahead, when it is done with the samples of the one before; a lane's
// neighbouring rows come from its neighbours' registers; and the barrier of a slot is awaited only in the middle of the
// next slot, before that reading: all warps have long arrived by then.
//
// The multiply-adds of one block alone cannot keep a multiprocessor busy, those of two could; but one of the two always
// has precedence, and the other gets the rest. So two things make the speed. A slot has few other instructions: no
// branches, and each thread's copies of the columns that come and go are between the multiply-adds, as instructions
// with a predicate. And the segments of columns are of two lengths: the longer ones are those of the first half of the
// blocks, which have precedence.
//
// A block of eight warps has a multiprocessor to itself. In double, one thread of another warp copies for all, in bulk:
// so far fewer instructions are between the multiply-adds. All strips follow each other in one line, of which each
// block takes an equal part; the piece of a second strip in it is a block of its own, which gets a multiprocessor when
// one is free.
//
// Strips overlap, and so do segments: each sweep invalidates as many rows or columns at a side that is not the image's.
// At the image's own edges every sweep is valid: a strip that touches the first or last row does so with the first or
// last lane, whose registers then give the ghost values; and each warp takes the columns that the boundary gives,
// before the first and behind the last, as columns of their own, from the ring. It takes all those before the first in
// one slot, when their sources have come: no output is completed by them. Between two sweeps inside a warp there is no
// ring: one column is kept as source of the ghost column behind the last, as RADIUS_COLUMNS is 1 there, and the one
// before the first is corrected when its source has come.
//
// Along a circular dimension, images go on periodically: it has no edge.
//
// If two sides meet, a constant of the columns takes precedence. A copied column includes its ghost values above and
// below.
//
// Columns, and images, may be any distance apart: so the pages of a volume are columns, too.
//
// Work of a block:
//
//     fill the rings, lay out the block, make the barriers
//     the producer, if there is one: produce, and end
//     in each slot, until the block's last one:
//         if it is like any other (SlotRun):
//             the warp's column goes through its stages; pieces are copied and scanned between multiply-adds
//         else (Sweeper):
//             copy_columns, scan_column, take_columns, each as far as there is something to do
//             look_ahead: number of the next slots that are like any other
//         meet at the barrier
//
// A kernel that leaves out a filter's zeros gives other results than the chain in two cases, and in no others. It flags
// them, and a second launch, of the full kernel, recomputes the sweeps: see sweeps/images/special_values.cuh.
#pragma once

#include "sweeps/images/launch.cuh"
#include "sweeps/images/warp.cuh"
#include "sweeps/images/plan.cuh"
#include "sweeps/images/pieces.cuh"

namespace images {

// The thread that copies for all others, in bulk: in each slot it begins to copy the column that comes, and the one
// that goes. It ends the slot when the column requested LEAD - 1 slots before is there, and the one that goes has left
// shared memory.
//
// All meet at `slot_barrier`; each of LEAD barriers at `full` is for the column that comes in a slot.
template <class Stages>
__device__ __forceinline__ void produce(const typename Stages::Launch& launch, const Block& block,
                                        typename Stages::T* memory, Barrier* slot_barrier, Barrier* full) {
    typedef typename Stages::T T;
    constexpr int PITCH = Stages::PITCH, LEAD = Stages::LEAD;
    const auto next = [](unsigned int place, unsigned int ring) { return place + PITCH == ring ? 0 : place + PITCH; };
    const unsigned int ring = launch.depth * PITCH;
    const unsigned int first_ring = ring + (LEAD - 1) * PITCH, last_ring = launch.last_depth() * PITCH;
    int slot = -(LEAD + Stages::AHEAD);
    const int slots = block.slots;
    // Number of slots until the first of the columns that come, and number of these columns.
    int until_comes = block.low - block.coming - slot, to_come = block.high - block.low;
    int of_image = around(block.low, launch.columns);
    const T* before = launch.input + block.before + of_image * launch.column_step;
    const int height = block.height, wrap = block.wrap;
    T* const coming = memory + PAD;
    unsigned int coming_to = 0;
    // Number of slots until the first of the columns that go.
    int until_goes = block.begin - block.leaving - slot;
    T* output = launch.output + block.output;
    T* const leaving = memory + first_ring + (launch.warps - 1) * ring + PAD + block.from;
    const int bytes = (block.to - block.from) * (int)sizeof(T);
    unsigned int leaving_from = place_of(block.begin - block.low, launch.last_depth()) * PITCH;
    unsigned int parity = 1;
    int number = 0;
#pragma unroll 1
    for (; slot < slots; ++slot) {
        wait(slot_barrier, parity);
        writes_before_copies();
        const bool comes = until_comes <= 0 && to_come > 0;
        arrive(full + number % LEAD, comes ? height * (int)sizeof(T) : 0);
        if (comes) {
            // Beyond the image's end the rows wrap around.
            T* const to = coming + coming_to;
            copy_bulk(to, before + launch.rows, wrap * (int)sizeof(T), full + number % LEAD);
            if (wrap < height) {
                copy_bulk(to + wrap, before + wrap, (height - wrap) * (int)sizeof(T), full + number % LEAD);
            }
            coming_to = next(coming_to, first_ring);
            before += launch.column_step;
            if (++of_image == launch.columns) {
                of_image = 0;
                before -= launch.columns * launch.column_step;
            }
            --to_come;
        }
        --until_comes;
        if (until_goes <= 0) {
            copy_out_bulk(output, leaving + leaving_from, bytes);
            end_leaving();
            leaving_from = next(leaving_from, last_ring);
            output += launch.column_step;
        }
        --until_goes;
        wait_for_leaving();
        // Nothing was to come before the first slot.
        wait(full + (number + 1) % LEAD, (number + 1 < LEAD ? 1 : (number + 1 - LEAD) / LEAD) & 1);
        ++number;
        arrive(slot_barrier, 0);
        parity ^= 1;
    }
}

// Fills the places that no copy fills: the columns of constants, and, if samples are scanned, the rings, whose zeros
// are multiplied next to the columns and in those that have not come. By THREADS threads.
template <class Stages, int THREADS>
__device__ __forceinline__ void fill_rings(const typename Stages::Launch& launch, typename Stages::T* memory,
                                           typename Stages::T* constant) {
    typedef typename Stages::T T;
    constexpr int PITCH = Stages::PITCH;
    const unsigned int ring = launch.depth * PITCH;
    const unsigned int first_ring = ring + (Stages::LEAD - 1) * PITCH;
    const int thread = threadIdx.x;
    if constexpr (Stages::SCANS) {
        const unsigned int rings = first_ring + launch.warps * ring - (launch.depth - launch.last_depth()) * PITCH;
        for (int i = thread; i < rings; i += THREADS) memory[i] = T(0);
    }
#pragma unroll
    for (int end = 0; end < (Stages::Launch::OWN_SIDES ? 2 : 1); ++end) {
        if (launch.beyond_columns(end) != CONSTANT) continue;
        for (int i = thread; i < PITCH; i += THREADS) {
            constant[i + end * PITCH * upper(launch)] = launch.value_of_columns(end);
        }
    }
}

// Makes the barrier of slots, if warps read ahead, and those of a producer. By one thread.
template <class Stages, bool HAS_PRODUCER>
__device__ __forceinline__ void make_barriers(Barrier* slot_barrier, Barrier* full) {
    if constexpr (Stages::AHEAD) make_barrier(slot_barrier, HAS_PRODUCER ? WARPS + 1 : WARPS);
    if constexpr (HAS_PRODUCER) {
        for (int i = 0; i < Stages::LEAD; ++i) make_barrier(full + i, 1);
        barriers_are_made();
    }
}

// Returns the column that replaces one that may be outside, if columns are not circular, by the boundary; the result is
// outside if there is none.
template <class Launch>
__device__ __forceinline__ int column_source(const Launch& launch, int column) {
    int place = column;
    if (column < 0 || column >= launch.columns) {
        const unsigned int boundary = launch.beyond_columns(column < 0 ? 0 : 1);
        const int left_out = Launch::is_mirror(boundary) ? 1 : 0;
        if (boundary == REPLICATE) {
            place = column < 0 ? 0 : launch.columns - 1;
        } else if (boundary == SYMMETRIC || left_out) {
            do place = (place < 0 ? left_out : 2 * launch.columns - left_out) - 1 - place;
            while (place < 0 || place >= launch.columns);
        }
    }
    return place;
}

// Plain slots, which see no edge: their number, sources and destinations of columns, places in the rings, and the
// pieces that are copied and scanned. Variables of the kernel: as members they would get other registers.
template <class Stages, int WIDE>
struct SlotRun {
    typedef typename Stages::T T;
    typedef Pieces<Stages, WIDE> Copies;

    unsigned int& coming;
    unsigned int& leaving;
    int& count;
    const T*& before;
    T*& output;
    Sources<Copies::POINTERS ? Copies::COUNT : 0>& sources;
    T*& target;
    unsigned int& from;
    unsigned int& to;
    unsigned int& coming_to;
    unsigned int& leaving_from;
    unsigned int& scanned_from;
    unsigned int& scanning;
};

// Common state of a block's warps, and this warp's own; and a slot of any kind, which may include an edge.
template <class Stages, int WIDE, bool HAS_PRODUCER>
struct Sweeper {
    typedef typename Stages::Launch Launch;
    typedef typename Stages::T T;
    typedef Pieces<Stages, WIDE> Copies;
    static constexpr int PITCH = Stages::PITCH, LEAD = Stages::LEAD, RADIUS_COLUMNS = Stages::RADIUS_COLUMNS;
    // Number of columns that a warp's outputs are behind the column that it takes.
    static constexpr int WARP_REACH = Stages::STAGES * RADIUS_COLUMNS;

    const Launch& launch;
    const Block& block;
    Stages& stages;
    const Copies& copies;
    SpecialValueScan<Stages, WIDE>& scan;
    const Place<T>& coming_here;
    const Place<T>& leaving_here;
    int warp;
    int first_depth;
    int own_depth;
    int last_depth;
    bool circular;

    // Does a slot of any kind: copies, scans, and the warp's column.
    __device__ __forceinline__ void take_any_slot(int slot) {
        copy_columns(slot);
        scan_column(slot);
        take_columns(slot);
    }

    __device__ __forceinline__ void copy_columns(int slot) {
        const int coming = block.coming + slot;
        const int leaving = block.leaving + slot;
        if (!HAS_PRODUCER && coming >= block.low && coming < block.high) {
            const T* const before = launch.input + block.before + around(coming, launch.columns) * launch.column_step;
            const Place<T> to = coming_here + place_of(coming - block.low, first_depth) * PITCH;
#pragma unroll
            for (int k = 0; k < Copies::COUNT; ++k) copies.bring(k, to, copies.source(k, before));
        }
        if (!HAS_PRODUCER && leaving >= block.begin && leaving < block.end) {
            T* const output = launch.output + block.output + (leaving - block.begin) * launch.column_step;
            const Place<T> from = leaving_here + place_of(leaving - block.low, launch.last_depth()) * PITCH;
#pragma unroll
            for (int k = 0; k < Copies::COUNT; ++k) {
                T held[WIDE];
                copies.read(k, from, held);
                copies.write(k, copies.target(output), held);
                scan.at_output(copies, k, held);
            }
        }
    }

    __device__ __forceinline__ void scan_column(int slot) {
        if constexpr (Stages::SCANS) {
            // The source of a ghost column of the image is scanned itself.
            const Columns columns = block.columns[launch.warps - 1];
            const int column = columns.zero + slot;
            if (column >= most(columns.first, block.low) && column < least(columns.last, block.high)) {
                scan.at_samples(copies, place_of(column - block.low, last_depth) * PITCH);
            }
        }
    }

    __device__ __forceinline__ void take_columns(int slot) {
        if (warp >= launch.warps) return;
        const Columns columns = block.columns[warp];
        const int last = columns.zero + slot;
        if (last < columns.first || last >= columns.last) return;
        int column = last;
        if (columns.first < 0 && !circular) {
            // The columns before the image's first are taken together, when their sources have come.
            const unsigned int boundary = launch.beyond_columns(0);
            const int ready = Launch::is_mirror(boundary) ? RADIUS_COLUMNS
                              : boundary == SYMMETRIC     ? RADIUS_COLUMNS - 1
                                                          : 0;
            if (last < ready) return;
            if (last == ready) column = columns.first;
        }
#pragma unroll 1
        for (; column <= last; ++column) {
            const int place = circular ? column : column_source(launch, column);
            const bool none = !circular && (place < 0 || place >= launch.columns);
            const Place<T> from = none ? stages.constant + (column < 0 ? 0 : upper(launch) * PITCH)
                                       : stages.before + place_of(place - block.low, own_depth) * PITCH;
            const int to = place_of(column - WARP_REACH - block.low, depth_behind(launch, warp)) * PITCH;
            stages.template column<true>(from, stages.behind + to, column, [](int) {});
        }
    }

    // Sets the number of slots from this one on that are plain: no stage sees an edge in them, a column comes
    // in each, and one goes. If stages read ahead, there may be none in all of them, as when a block begins and ends.
    __device__ __forceinline__ void look_ahead(int slot, const SlotRun<Stages, WIDE>& run) {
        if (warp >= launch.warps) return;
        const Columns columns = block.columns[warp];
        // A mirror needs a column more.
        const int first = WARP_REACH + Launch::is_mirror(launch.beyond_columns(0));
        const int inner = circular ? columns.first : most(columns.first, first);
        const int outer = circular ? columns.last : least(columns.last, launch.columns - 1);
        int until = outer - columns.zero;
        if constexpr (!Stages::AHEAD) until = least(until, block.end - block.leaving);
        const int column = columns.zero + slot;
        if constexpr (HAS_PRODUCER) {
            if (column < inner || slot >= until) return;
            run.count = until - slot;
            run.from = place_of(column - block.low, own_depth) * PITCH;
            run.to = place_of(column - WARP_REACH - block.low, depth_behind(launch, warp)) * PITCH;
            return;
        }
        const int coming = block.coming + slot;
        const int leaving = block.leaving + slot;
        // The columns that come are neighbours in memory up to the wrap-around.
        const int of_image = around(coming, launch.columns);
        const int around_at = slot + launch.columns - of_image;
        if constexpr (Stages::AHEAD) {
            // None comes or goes in any of them, or one in each.
            const bool comes = coming < block.high;
            const bool leaves = leaving >= block.begin;
            if (comes) until = least(until, least(block.high - block.coming, around_at));
            until = least(until, (leaves ? block.end : block.begin) - block.leaving);
            if (column < inner || coming < block.low || slot >= until) return;
            run.coming = comes ? copies.coming : 0;
            run.leaving = leaves ? copies.leaving : 0;
        } else {
            until = least(until, least(block.high - block.coming, around_at));
            if (column < inner || coming < block.low || leaving < block.begin || slot >= until) return;
        }
        run.count = until - slot;
        run.from = place_of(column - block.low, own_depth) * PITCH;
        run.to = place_of(column - WARP_REACH - block.low, depth_behind(launch, warp)) * PITCH;
        run.coming_to = place_of(coming - block.low, first_depth) * PITCH;
        run.leaving_from = place_of(leaving - block.low, launch.last_depth()) * PITCH;
        if constexpr (Stages::SCANS) {
            run.scanned_from = place_of(block.columns[launch.warps - 1].zero + slot - block.low, last_depth) * PITCH;
        }
        if constexpr (Stages::SCANS) {
            // The last warp takes a column in all of them, or in none.
            const Columns of_last = block.columns[launch.warps - 1];
            const int begin = most(of_last.first, block.low) - of_last.zero;
            const int end = least(of_last.last, block.high) - of_last.zero;
            const bool takes = slot >= begin && slot < end;
            if (slot < end) run.count = least(run.count, (takes ? end : begin) - slot);
            run.scanning = takes ? copies.coming : 0;
        }
        run.before = launch.input + block.before + of_image * launch.column_step;
        run.output = launch.output + block.output + (leaving - block.begin) * launch.column_step;
        if constexpr (Copies::POINTERS) {
#pragma unroll
            for (int k = 0; k < Copies::COUNT; ++k) run.sources.of[k] = copies.source(k, run.before);
            run.target = copies.target(run.output);
        }
    }
};

#ifdef __CUDACC_RTC__
// Sources are used when they have been set, by a function that is made before.
#pragma nv_diag_suppress 549
#endif

// Does a block's work, with warps of this kind and copies of WIDE elements. Returns true if this thread found special
// values that need the fallback. With REGISTERS, the registers of a thread that sweeps, one thread copies for all.
template <class Stages, int WIDE, int REGISTERS = 0>
__device__ __forceinline__ bool sweep_images(const typename Stages::Launch& launch) {
    typedef typename Stages::Launch Launch;
    typedef typename Stages::T T;
    constexpr int POINTS = Stages::POINTS, LEAD = Stages::LEAD;
    constexpr bool HAS_PRODUCER = REGISTERS > 0;
    static_assert(!HAS_PRODUCER || (ALONE && WIDE > 1 && Stages::AHEAD && Stages::GAP == 0 && !Stages::SCANS),
                  "columns that are copied whole, by one that need not scan them");
    constexpr int ALL = threads_of(HAS_PRODUCER);
    typedef Pieces<Stages, WIDE> Copies;
    constexpr int PITCH = Stages::PITCH;
    DYNAMIC_SHARED(T, memory);
    __shared__ Block block;
    const int thread = threadIdx.x;
    // A number that is the same in all lanes, unknown to the compiler: values that are the same in a warp take no
    // registers of a lane.
    const int warp = __shfl_sync(0xffffffff, threadIdx.x / LANES, 0);
    const unsigned int ring = launch.depth * PITCH;
    const unsigned int first_ring = ring + (LEAD - 1) * PITCH;
    const bool circular = launch.beyond_columns(0) == CIRCULAR;
    T* constant = memory + first_ring + (launch.warps * ring - (launch.depth - launch.last_depth()) * PITCH);
    fill_rings<Stages, ALL>(launch, memory, constant);
    __shared__ Barrier slot_barrier;
    __shared__ Barrier full[HAS_PRODUCER ? LEAD : 1];
    if (thread == 0) {
        lay_out<Stages>(launch, block);
        make_barriers<Stages, HAS_PRODUCER>(&slot_barrier, full);
    }
    __syncthreads();
    follow_launch_before();

    if constexpr (HAS_PRODUCER) {
        if (warp >= WARPS) {
            give_registers<(65536 / ALL / 8 * 8 * ALL / LANES - WARPS * REGISTERS) / PRODUCER_WARPS>();
            if (warp == WARPS && is_elected()) produce<Stages>(launch, block, memory, &slot_barrier, full);
            return false;
        }
        take_registers<REGISTERS>();
    }

    const unsigned int own_ring = warp == 0 ? first_ring : ring;
    Stages stages(launch, block, memory + first_ring + warp * ring, own_ring, constant);

    const Copies copies(block, launch.rows);
    // The pieces of these that are copied in the plain slots.
    unsigned int coming_now = copies.coming, leaving_now = copies.leaving;
    const Place<T> coming_here = kept_place(memory + PAD + Stages::place(thread * WIDE));
    const Place<T> leaving_here =
        kept_place(memory + first_ring + (launch.warps - 1) * ring + PAD + Stages::place(block.from + thread * WIDE));
    // For the plain slots: their number, sources and destinations of columns, and their places in the rings.
    int alike = 0;
    const T* before = nullptr;
    T* output = nullptr;
    Sources<Copies::POINTERS ? Copies::COUNT : 0> sources;
    T* target = nullptr;
    const long long step_bytes = Copies::POINTERS ? kept_distance(launch.column_step * (long long)sizeof(T)) : 0;
    unsigned int from = 0, to = 0, coming_to = 0, leaving_from = 0;

    const int first_depth = launch.depth + LEAD - 1;
    const int own_depth = warp == 0 ? first_depth : launch.depth;

    // The pieces that this thread scans: its part of the samples of the last sweep, and of its results.
    const int last_depth = launch.warps == 1 ? first_depth : launch.depth;
    const unsigned int last_ring = last_depth * PITCH;
    T* const last = memory + PAD + first_ring + (launch.warps - 1) * ring;
    SpecialValueScan<Stages, WIDE> scan(last - last_ring);
    unsigned int scanned_from = 0;
    unsigned int scanning_now = copies.coming;
    Sweeper<Stages, WIDE, HAS_PRODUCER> sweeper{launch,       block, stages,      copies,    scan,       coming_here,
                                                leaving_here, warp,  first_depth, own_depth, last_depth, circular};
    const SlotRun<Stages, WIDE> run{coming_now, leaving_now, alike,     before,       output,       sources,     target,
                                    from,       to,          coming_to, leaving_from, scanned_from, scanning_now};
    // Places in rings wrap around.
    const auto next = [](unsigned int place, unsigned int ring) { return least(place + PITCH, place + PITCH - ring); };
    // The elements being copied while one of those slots is computed, as its points are completed.
    T held[WIDE];
    const auto copy = [&](int i) {
        Copies now = copies;
        if constexpr (Stages::AHEAD) {
            now.coming = coming_now;
            now.leaving = leaving_now;
        }
        constexpr int EACH = POINTS / Copies::COUNT;
        const int k = i / EACH;
        if (k >= Copies::COUNT) return;
        if (i % EACH == 0) {
            if constexpr (Copies::POINTERS) {
                now.bring(k, coming_here + coming_to, sources.of[k]);
            } else {
                now.bring(k, coming_here + coming_to, now.source(k, before));
            }
            now.read(k, leaving_here + leaving_from, held);
        }
        // Scanned elements are in registers after the output has left these, if there are enough points.
        constexpr int WRITTEN = Stages::SCANS && EACH >= 4 ? EACH / 2 : EACH - 1;
        if (i % EACH == WRITTEN) {
            now.write(k, Copies::POINTERS ? target : now.target(output), held);
            scan.at_output(now, k, held);
        }
        if (i % EACH == (WRITTEN < EACH - 1 ? WRITTEN : 0))
            scan.template read_sample<Copies>(scanning_now, k, scanned_from);
        if (i % EACH == EACH - 1) scan.at_sample(scanning_now, k);
    };
    // Does one slot of those.
    const auto take_plain_slot = [&]() {
        --alike;
        stages.inner_column(stages.before + from, stages.behind + to, copy);
        if constexpr (Stages::SCANS) {
            scanned_from = next(scanned_from, last_ring);
        }
        before += launch.column_step;
        output += launch.column_step;
        from = next(from, own_ring);
        to = next(to, depth_behind(launch, warp) * PITCH);
        coming_to = next(coming_to, first_ring);
        leaving_from = next(leaving_from, launch.last_depth() * PITCH);
    };
    // The first slots only bring columns. A column that comes is for a slot LEAD later, one that goes was there before
    // the last barrier.
    int slot = -(LEAD + Stages::AHEAD);
    const auto end_slot = [&]() {
        ++slot;
        end_group();
        wait_groups<LEAD - 1>();
        meet<THREADS>();
    };
    if constexpr (Stages::AHEAD) {
        // A warp arrives at the end of a slot, and waits for all in the next one.
        const unsigned int is_first = kept_number(thread % LANES == 0);
        const Place<Barrier> meeting = kept_place(&slot_barrier);
        unsigned int parity = 1;
        const auto arrive = [&]() {
            if constexpr (!HAS_PRODUCER) {
                end_group();
                wait_groups<LEAD - 1>();
            }
            __syncwarp();
            arrive_if(is_first, meeting);
            parity ^= 1;
        };
        const auto all_are_there = [&]() { wait_at(meeting, parity); };
        const unsigned int ring_before = kept_number(own_ring);
#pragma unroll 1
        while (true) {
            if (alike > 0) {
                all_are_there();
                T points[POINTS];
                stages.read(stages.before + from, points);
                slot += alike;
#pragma unroll 1
                do {
                    from = next(from, ring_before);
                    if constexpr (HAS_PRODUCER) {
                        stages.column_and_next(
                            points, stages.before + from, stages.behind + to, [](int) {}, all_are_there);
                    } else {
                        stages.column_and_next(points, stages.before + from, stages.behind + to, copy, all_are_there);
                        if constexpr (Copies::POINTERS) {
#pragma unroll
                            for (const char*& source : sources.of) source += step_bytes;
                            target = reinterpret_cast<T*>(reinterpret_cast<char*>(target) + step_bytes);
                        } else {
                            before += launch.column_step;
                            output += launch.column_step;
                        }
                        coming_to = next(coming_to, first_ring);
                        leaving_from = next(leaving_from, launch.last_depth() * PITCH);
                    }
                    to = next(to, depth_behind(launch, warp) * PITCH);
                    if constexpr (Stages::SCANS) scanned_from = next(scanned_from, last_ring);
                    arrive();
                } while (--alike > 0);
            } else {
                if (slot >= block.slots) break;
                all_are_there();
                sweeper.take_any_slot(slot);
                sweeper.look_ahead(slot + 1, run);
                ++slot;
                arrive();
            }
        }
    } else {
#pragma unroll 1
        while (true) {
            if (alike > 0) {
                take_plain_slot();
                end_slot();
            } else {
                if (slot >= block.slots) break;
                sweeper.take_any_slot(slot);
                sweeper.look_ahead(slot + 1, run);
                end_slot();
            }
        }
    }
    return scan.needs_fallback(launch.near_zero);
}

#ifdef __CUDACC_RTC__
#pragma nv_diag_default 549
#endif

}  // namespace images
