// The producer: one thread of a warp beside the sweeping ones, which copies whole columns in bulk for all of them.
//
// In each slot it begins to copy the column that comes and the one that goes. It arrives at the barrier of the slots
// when what came LOAD_LEAD - 1 slots before is there, and what goes has left shared memory.
//
//   for each slot:
//     wait for the slot barrier: all warps have ended the slot before, so a place of the first ring is empty
//     begin to load a column; a barrier of `full` is for its bytes
//     begin to store a column
//     wait until the store has read shared memory, and for the `full` barrier of the column that is needed next
//     arrive at the slot barrier
#pragma once

#include "images/launch.cuh"
#include "images/plan.cuh"

namespace images {

template <class Warp>
struct Producer {
    typedef typename Warp::Launch Launch;
    typedef typename Warp::T T;
    static constexpr int PITCH = Warp::PITCH, BARRIER_STAGES = Warp::LOAD_LEAD;

    const Launch& launch;
    Barrier* const slot_barrier;
    Barrier* const full;  // BARRIER_STAGES of them, in turn
    int slot;
    const int slots;
    // Columns that come: slots until the first, how many there are, and the next one.
    int until_loads, loads;
    int column_of_image;
    const T* input;
    T* const first_ring;
    const unsigned int first_size;
    unsigned int load_to = 0;
    const int height, wrap;
    // Columns that go.
    int until_stores;
    T* output;
    T* const last_ring;
    const unsigned int last_size;
    unsigned int store_from;
    const int stored_bytes;

    __device__ __forceinline__ Producer(const Launch& launch, const BlockPlan& plan, const Rings<Warp>& rings,
                                        Barrier* slot_barrier, Barrier* full)
        : launch(launch),
          slot_barrier(slot_barrier),
          full(full),
          slot(-(Warp::LOAD_LEAD + Warp::READS_AHEAD)),
          slots(plan.slots),
          until_loads(plan.first_load - plan.load_at_slot_0 - slot),
          loads(plan.end_load - plan.first_load),
          column_of_image(around(plan.first_load, launch.columns)),
          input(launch.input + plan.input + column_of_image * launch.column_step),
          first_ring(rings.memory + PAD),
          first_size(rings.first_size),
          height(plan.height),
          wrap(plan.wrap),
          until_stores(plan.first_store - plan.store_at_slot_0 - slot),
          output(launch.output + plan.output),
          last_ring(rings.behind(launch.warps - 1) + PAD + plan.first_row),
          last_size(launch.last_depth() * PITCH),
          store_from(place_of(plan.first_store - plan.first_load, launch.last_depth()) * PITCH),
          stored_bytes((plan.end_row - plan.first_row) * (int)sizeof(T)) {}

    __device__ __forceinline__ void run() {
        unsigned int parity = 1;
        int number = 0;
#pragma unroll 1
        for (; slot < slots; ++slot) {
            wait(slot_barrier, parity);
            writes_before_copies();
            const bool has_load = until_loads <= 0 && loads > 0;
            arrive(full + number % BARRIER_STAGES, has_load ? height * (int)sizeof(T) : 0);
            if (has_load) load_column(full + number % BARRIER_STAGES);
            --until_loads;
            if (until_stores <= 0) store_column();
            --until_stores;
            wait_for_leaving();
            // Before the first slot nothing was to come.
            wait(full + (number + 1) % BARRIER_STAGES,
                 (number + 1 < BARRIER_STAGES ? 1 : (number + 1 - BARRIER_STAGES) / BARRIER_STAGES) & 1);
            ++number;
            arrive(slot_barrier, 0);
            parity ^= 1;
        }
    }

private:
    __device__ __forceinline__ void load_column(Barrier* full) {
        // Rows around the image's end come from its other end.
        T* const to = first_ring + load_to;
        copy_bulk(to, input + launch.rows, wrap * (int)sizeof(T), full);
        if (wrap < height) copy_bulk(to + wrap, input + wrap, (height - wrap) * (int)sizeof(T), full);
        load_to = next(load_to, first_size);
        input += launch.column_step;
        if (++column_of_image == launch.columns) {
            column_of_image = 0;
            input -= launch.columns * launch.column_step;
        }
        --loads;
    }

    __device__ __forceinline__ void store_column() {
        copy_out_bulk(output, last_ring + store_from, stored_bytes);
        end_leaving();
        store_from = next(store_from, last_size);
        output += launch.column_step;
    }

    static __device__ __forceinline__ unsigned int next(unsigned int place, unsigned int ring) {
        return place + PITCH == ring ? 0 : place + PITCH;
    }
};

}  // namespace images
