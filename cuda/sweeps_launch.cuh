// One launch of many sweeps along lines, as the host describes it.
#pragma once

#include "boundary.cuh"

// One launch. Positions are counted in elements: (i, j, k) of the array is at i + inner * (j + length * k), and a line
// is all j of one (i, k).
template <typename T>
struct Sweeps {
    const T* input;
    T* output;  // another array
    unsigned long long inner;
    unsigned long long length;
    unsigned long long outer;
    Ends ends;              // what stands beyond those of a line, in every sweep
    unsigned int sweeps;    // at least 1
    unsigned int abreast;   // neighbouring lines (along inner) that one row of threads, or one slab, takes
    unsigned int segments;  // threads that one tile of a line takes
    unsigned int groups;    // tiles of `abreast` lines, or slabs, that one block takes
    unsigned int tiles;     // tiles that a line takes: 1 where it is whole
};
