// Elements of arrays that are moved, advanced and reduced: src/stencil/arithmetic/ says what each result is, to the last
// bit. Other operations are kernels that are written at run time (src/cuda/program/once.rs).
//
//  - In arrays that lie side by side, a thread moves 16 bytes at a time. Every array begins at a multiple of that, and
//    only the last block has elements that do not fill them.
//  - In others, neighbouring threads take neighbouring elements, and a thread goes from one of its elements to
//    the next by adding: it divides for the first one alone.
//  - Every operation is named by the intrinsic that rounds to nearest: the compiler may fuse a plain + and *.

#include "arithmetic/elements.cuh"
#include "arithmetic/reductions.cuh"
#include "arithmetic/walks.cuh"

// Sizes for the host that launches them: threads of a block, and elements that one of them takes of arrays side by side,
// and of any others.
extern "C" __constant__ unsigned int arithmetic_threads = THREADS;
extern "C" __constant__ unsigned int arithmetic_own = OWN;
extern "C" __constant__ unsigned int arithmetic_run = RUN;
// And of lines shorter than a warp, how many a lane takes a part of.
extern "C" __constant__ unsigned int arithmetic_short_lines = SHORT_LINES;
// The elements of the longest line that is short, where lines have others beside them.
extern "C" __constant__ unsigned int arithmetic_short_column = SHORT_COLUMN;
