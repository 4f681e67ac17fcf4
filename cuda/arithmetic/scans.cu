// Results along lines that are more than one number: running sums and products, the places of the smallest or largest,
// and lists of places. What each result is, src/stencil/arithmetic/ says.

#include "arithmetic/extremes.cuh"
#include "arithmetic/lists.cuh"
#include "arithmetic/scan.cuh"

// Sizes for the host that launches them: threads of a block, and of one that scans lines of neighbours; elements of a warp
// that looks for places, rows of a part in which a thread looks for an extreme, elements of one in which a warp does, and
// elements of its short lines.
extern "C" __constant__ unsigned int arithmetic_threads = THREADS;
extern "C" __constant__ unsigned int arithmetic_scan_threads = SCAN_THREADS;
extern "C" __constant__ unsigned int arithmetic_searched = SEARCHED;
extern "C" __constant__ unsigned int arithmetic_part_rows = PART_ROWS;
extern "C" __constant__ unsigned int arithmetic_part_elements = PART_ELEMENTS;
extern "C" __constant__ unsigned int arithmetic_short_search = SHORT_SEARCH;
