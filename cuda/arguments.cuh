// Arguments of all kernels. build.rs makes Rust's types of the same names from this file, so it uses only C's own
// types. A device address is an integer there, and padding at the end of a struct has a name.
#pragma once

#ifdef FOR_RUST
#define ADDRESS(T) unsigned long long
#define OF_CLASS
#define PADDING unsigned int unused;
#else
#define ADDRESS(T) T*
#define OF_CLASS template <typename T>
#define PADDING
#endif

// Lengths of arrays. (Constants would be variables of every module.)
enum Length : int {
    ROUNDS = 4,                // maximum of rounds of a launch over volumes
    RANK = 5,                  // maximum of dimensions of a walk
    STUDY_RADIUS = 4,          // the coefficients of a derivative on either side of a point
    FILTER_THREADS = 128,      // of a block of any_filter/any_filter.cu and any_filter/tensor.cu
    FILTER_TENSOR_TILE = 128,  // rows of a block's tile, on tensor cores
    FILTER_TENSOR_COLUMNS = 32,
};

// Value beyond an end of a dimension, at the places -1 - i and length + i.
enum Boundary : unsigned int {
    CONSTANT = 0,   // a number
    REPLICATE = 1,  // the first sample and the last
    SYMMETRIC = 2,  // the samples i and length - 1 - i: mirrored, the sample at the end included
    CIRCULAR = 3,   // the samples length - 1 - i and i; of both ends or of none
    MIRROR = 4,     // the samples i + 1 and length - 2 - i: mirrored, the sample at the end left out
};

// Boundaries at both ends of a dimension, the lower one first.
struct EndsArgument {
    double value[2];  // the number, if it is CONSTANT
    unsigned int boundary[2];

#ifndef FOR_RUST
    __device__ __forceinline__ bool circular() const { return boundary[0] == CIRCULAR; }
#endif
};

// ---- the stencil and the derivative along lines: lines.cuh

// Part of a long array for one launch. Positions are counted in elements.
OF_CLASS
struct PieceArgument {
    ADDRESS(const T) input;  // the samples, from `before` of them ahead of the first output's own
    ADDRESS(T) output;
    unsigned long long count;   // outputs to compute
    unsigned long long before;  // samples in the input before the first output's own, at most the radius
    unsigned long long after;   // samples in the input after the last output's own, at most the radius
    unsigned long long line;    // elements in a line: samples of another line are not used
    unsigned long long phase;   // the first output's position in its line
    unsigned int one_line;      // nonzero if the whole array is one line; then missing samples are outside
    unsigned int backwards;     // nonzero to begin with the last tile: data written last are still in the cache
};

// ---- many sweeps along lines: sweeps/sweeps.cuh

// One launch. Positions are counted in elements: (i, j, k) of the array is at i + inner * (j + length * k), and a line
// is all j of one (i, k).
OF_CLASS
struct SweepsArgument {
    ADDRESS(const T) input;
    ADDRESS(T) output;  // another array
    unsigned long long inner;
    unsigned long long length;
    unsigned long long outer;
    EndsArgument ends;      // boundaries of a line, in every sweep
    unsigned int sweeps;    // at least 1
    unsigned int abreast;   // lines side by side that one row of threads, or one plane, takes
    unsigned int segments;  // threads that one tile of a line takes
    unsigned int groups;    // tiles of `abreast` lines that one block takes
    unsigned int tiles;     // tiles that a line takes: 1 if it is whole
    PADDING
};

// ---- sweeps of two levels along lines: sweeps/levels.cu

struct LevelsArgument {
    ADDRESS(const double) input;  // the newest level, and the one before it
    ADDRESS(const double) older;
    ADDRESS(double) output;  // other arrays for both
    ADDRESS(double) older_output;
    unsigned long long length;  // of a line: more than a tile, or whole lines fit with RADIUS points on either side
    unsigned long long lines;
    double weight;
    EndsArgument ends;    // boundaries of a line, in every sweep
    unsigned int sweeps;  // at least 1
    unsigned int tiles;   // of a line, or the lines of a block if they are whole
};

// ---- the convolution: convolution.cu

// Boundaries of an array.
struct SidesArgument {
    EndsArgument of_rows;
    EndsArgument of_columns;
    EndsArgument of_pages;
};

// Part of an image or a volume for one launch: whole columns, counted through all pages.
OF_CLASS
struct ConvolutionArgument {
    ADDRESS(const T) input;  // the samples, from `before` columns ahead of the first output's column
    ADDRESS(T) output;
    long long count;   // columns to compute
    long long before;  // columns in the input before the first
    long long after;   // columns in the input after the last
    long long first;   // the first output's column
    long long rows;    // of the image
    long long columns;
    long long pages;
    int height;  // of the filter
    int width;
    int depth;
    int skip;       // columns of tiles, in the first output's page, before the first that is needed
    int backwards;  // nonzero to begin with the last tile: data written last are still in the cache
    PADDING
    SidesArgument sides;
};

// ---- filters of any size: any_filter/any_filter.cu

// Some tiles of an image or a volume for one launch. Places are counted in elements, tiles along the rows first, then
// along the columns, then along the pages.
OF_CLASS
struct FilterArgument {
    ADDRESS(const T) input;  // the whole array
    ADDRESS(T) output;
    long long first;  // the place of the first output, and the number of places to be written from there on
    long long count;
    long long rows;  // of the array
    long long columns;
    long long pages;
    long long skip;  // tiles before the launch's first
    int height;      // of the filter
    int width;
    int depth;
    int down;          // log2 of the number of threads below each other, or, by columns, side by side
    int stage_length;  // entries of a filter's column that are staged at a time, or, by columns, of its row
    int stage_width;   // columns of the filter that are staged at a time: 1 if only a part of their entries is
    int stride;        // elements from one staged column to the next: at least those of the tile and stage_length
    int backwards;     // nonzero to begin with the last tile: data written last are still in the cache
    // On tensor cores, instead of the three above, which are then for recomputed tiles.
    int tensor_length;
    int tensor_width;
    int tensor_stride;
    int bands;                     // elements of shared memory before the bands of the filter's columns
    int line;                      // nonzero if the array is one column, processed as columns that follow each other
    unsigned int underflow_limit;  // samples whose magnitude less 1 is less than this need the fallback
    SidesArgument sides;
};

// ---- the convolution on tensor cores: tensor/strips.cuh

// Part of an image or a volume for one launch: whole columns, counted through all pages.
struct TensorPart {
    ADDRESS(const double) input;  // the samples, from `before` columns ahead of the first output's column
    ADDRESS(double) output;
    long long count;   // columns to compute; of a volume, those of whole pages
    long long before;  // columns in the input before the first
    long long after;   // columns in the input after the last
    long long first;   // the first output's column
    long long rows;    // of the image
    long long columns;
    long long pages;
    int height;  // of the filter, and no more than the kernel's SIZE
    int width;
    int depth;
    int abreast;  // strips below each other that neighbouring warps take: a divisor of the warps of a block
    unsigned int underflow_limit;  // samples whose magnitude less 1 is less than this need the fallback
    int written_once[2];           // nonzero for constants above the rows, and below, that can be written once
    int unused;
};

struct TensorArgument {
    TensorPart part;
    SidesArgument sides;
    int zeros[24];  // see `END_OF_BLOCK`
};

// ---- several sweeps over images in a launch: sweeps/images/launch.cuh

// One launch, over images with the same boundary on all sides. Its blocks are (page, strip, segment), the segment
// counting fastest; if segments are of two lengths, first all the longer ones, then the others. In each block, `warps`
// warps do STAGES sweeps each.
OF_CLASS
struct ImagesArgument {
    ADDRESS(const T) input;
    ADDRESS(T) output;
    long long rows;         // of an image, which lie next to each other
    long long column_step;  // elements from a column to the next one
    long long image_step;   // and from an image to the next one
    double value;           // of the boundary, if it is CONSTANT
    int columns;            // of an image
    int strips;             // of an image
    int segments;           // of a strip: none has 2^24 columns; or the parts of a LINE
    int long_share_256;     // 256ths of two neighbouring segments in the longer one; 0 if all are equal; LINE
    int lanes;              // that work: POINTS * lanes <= rows
    int warps;              // that sweep
    int depth;              // columns in a ring; the one before the first warp has Stages::LEAD - 1 more
    unsigned int boundary;  // no MIRROR
    unsigned int run;  // of launches for stars, and of the fallback behind each: see images/special_values.cuh; else 0
    unsigned int near_zero;  // samples whose magnitude less 1 is less than this need the fallback
    int depth_behind_last;   // if each side has its own boundary: columns in the ring behind the last warp, which has
                             // no ghost columns; as many as in the others unless warps read ahead
    int edge_columns;        // a segment with the image's first or last column is shorter by this number

#ifndef FOR_RUST
    // Class of the elements, as a type member for templates.
    typedef T Real;
    // True if each side has its own boundary.
    static constexpr bool OWN_SIDES = false;
    // Value of `long_share_256` for launches in which all strips are one line.
    static constexpr int LINE = -1;

    // Boundaries above the rows and below, and before the columns and behind; and the number of a CONSTANT one.
    __device__ __forceinline__ unsigned int beyond_rows(int) const { return boundary; }
    __device__ __forceinline__ unsigned int beyond_columns(int) const { return boundary; }
    __device__ __forceinline__ T value_of_rows(int) const { return T(value); }
    __device__ __forceinline__ T value_of_columns(int) const { return T(value); }
    static __device__ __forceinline__ bool is_mirror(unsigned int) { return false; }

    // Columns in the ring behind the last warp.
    __device__ __forceinline__ int last_depth() const { return depth; }
#endif
};

// Second part of the argument, if each side has its own boundary: `value` is that above then, and `boundary` has a byte
// of each side, the lowest first: above, below, before, behind. No MIRROR of a single column.
struct OtherSides {
    double below;
    double before;
    double behind;
};

// ---- several sweeps over small images in a launch: sweeps/tiles/tiles.cuh

// Place in a region of the ghost value beyond its end.
struct Repeated {
    int first;
    int turns;  // 1 for itself, as for a constant; 0 for always the same place; -1 for a mirror
};

// One launch, over images of up to 2^28 rows and columns.
OF_CLASS
struct TilesArgument {
    ADDRESS(const T) input;
    ADDRESS(T) output;
    EndsArgument of_rows;  // boundaries
    EndsArgument of_columns;
    Repeated repeated_rows[2];  // the lower end first
    Repeated repeated_columns[2];
    int rows;  // of an image, which lie next to each other
    int columns;
    int region_rows;  // that a block holds: no more than the image's, unless they are circular
    int region_columns;
    int tiles_down;  // of an image
    int tiles_across;
    int patches_down;  // of a region: patches_down * patches_across threads have one
    int patches_across;
    int pitch;   // between columns of a buffer
    int buffer;  // elements of one
    int sweeps;
    int height;  // of the filter
    int width;
    unsigned int tiles_turn;    // 2^32 / tiles_down, rounded up
    unsigned int patches_turn;  // 2^32 / patches_down, likewise
    PADDING
};

// ---- two sweeps over volumes in a launch: sweeps/volumes/launch.cuh

// Tiles along rows or columns: `count` of them write `step` each, the first one `more` in addition, the last one the
// rest. Each begins `lead` before its first output, and has at least step + lead + 1 rows or columns; the last one is
// moved to end at the volume's side.
struct Axis {
    int count;
    int step;
    int lead;
    int more;
};

// Part of a launch: some pages of some tiles, by some of the blocks. Each of these pages is in one of the parts that
// `share` pages make. The runs are counted through the tiles, then through the parts, and each block takes every
// blocks-th of them.
struct Round {
    int block;   // the first one
    int blocks;  // their number, or 0
    int tile;    // the first one
    int tiles;
    int page;
    int pages;
    int share;
    int unused;
};

// One launch. Blocks at work at the same time go through the same pages of neighbouring tiles: their halos are in the
// chip's cache then.
OF_CLASS
struct VolumesArgument {
    ADDRESS(const T) input;
    ADDRESS(T) output;
    long long rows;  // rows * columns < 2^31
    int columns;
    int pages;
    Axis down;            // tiles along rows
    Axis across;          // and along columns
    int lanes;            // that work: ROWS * lanes <= rows, unless rows are circular
    int strips;           // that work: COLUMNS * strips <= columns, unless columns are circular
    SidesArgument sides;  // the boundaries; no MIRROR of one row, and so with columns and pages
    Round rounds[ROUNDS];
};

// ---- arithmetic on arrays: arithmetic/arithmetic.cu

enum class ReductionOp : unsigned int {
    SUM,
    DOT,
    SUM_OF_MAGNITUDES,
    PRODUCT,
    SMALLEST,
    LARGEST,
    LARGEST_MAGNITUDE,
    ANY,
    ALL,
    DIFFER
};

OF_CLASS
struct FillArgument {
    ADDRESS(T) to;
    unsigned long long count;
    double value;
};

OF_CLASS
struct AdvanceArgument {
    ADDRESS(const T) step;
    ADDRESS(const T) source;
    ADDRESS(T) older;
    unsigned long long count;
    double weight;
    double scalar;
    unsigned int with_source;
    unsigned int backwards;  // from the last block on: the elements written last are still in the cache
};

// A box of places, the first dimension fastest, in an array that advances by other steps.
struct Walk {
    unsigned long long count;  // of all places
    unsigned long long rank;
    unsigned long long size[RANK];
    long long steps[RANK];  // of the array, along each dimension
    // THREADS places lie between the elements of a thread: so many along each dimension,
    unsigned long long stride[RANK];
    // elements of the array,
    long long advance;
    // and more where a dimension ends and the next one goes on.
    long long wraps[RANK];
};

OF_CLASS
struct SectionArgument {
    ADDRESS(const T) from;
    ADDRESS(T) to;
    unsigned long long start;
    Walk walk;
};

OF_CLASS
struct ListArgument {
    ADDRESS(const T) from;
    ADDRESS(T) to;
    ADDRESS(const unsigned long long) places;
    ADDRESS(const unsigned long long) others;  // which elements go there; nowhere: one after the other
    unsigned long long count;
};

OF_CLASS
struct ReductionArgument {
    ADDRESS(const T) from[2];
    ADDRESS(T) to;
    unsigned long long inner;
    unsigned long long length;
    unsigned long long outer;
    unsigned long long chunks;  // of a line
    double start;               // what a lane begins with
    ReductionOp op;
    unsigned int bits;  // the lanes that share a short line, or the columns of a unit, are this power of two
};

enum class ScanOp : unsigned int { SUM, PRODUCT };

// An array of inner x length x outer elements, scanned along the middle: arithmetic/scans.cu.
OF_CLASS
struct ScanArgument {
    ADDRESS(const T) from;
    ADDRESS(T) to;  // the results, or the last of each chunk
    // Result of each chunk and those before it in its line; laid out like the last results of chunks, line by line.
    ADDRESS(const T) ahead;
    unsigned long long inner;
    unsigned long long length;
    unsigned long long outer;
    unsigned long long chunks;  // of a line
    ScanOp op;
    unsigned int bits;  // the columns of a unit are this power of two
};

OF_CLASS
struct ExtremesArgument {
    ADDRESS(const T) from;
    ADDRESS(T) to;                             // the numbers; nowhere, while there are several parts
    ADDRESS(const unsigned long long) places;  // the candidates of each line; nowhere: all elements
    ADDRESS(unsigned long long) found;         // the place of each part
    unsigned long long inner;
    unsigned long long whole;   // the elements of a line
    unsigned long long length;  // the candidates of a line
    unsigned long long outer;
    unsigned long long parts;  // of a line
    unsigned int largest;
    unsigned int unused;
};

OF_CLASS
struct FindArgument {
    ADDRESS(const T) from;
    ADDRESS(unsigned long long) counts;  // of each warp
    ADDRESS(unsigned long long) places;
    unsigned long long count;
    unsigned long long warps;
};

// Lines of neighbours, sorted by a byte of their keys or by all of them: arithmetic/sort.cu.
OF_CLASS
struct SortArgument {
    ADDRESS(const T) from;
    ADDRESS(T) to;
    ADDRESS(const unsigned int) origins;  // where each element was in its line; nowhere: where it is
    ADDRESS(unsigned int) origins_to;     // of the results: their places in their lines; nowhere: not wanted
    ADDRESS(unsigned long long) places;   // where the last pass puts those of the results; else nowhere
    ADDRESS(unsigned long long) counts;   // of each line, for each digit of each tile
    unsigned long long length;
    unsigned long long lines;
    unsigned long long tiles;  // of a line
    int shift;                 // the byte
    unsigned int descending;
};

OF_CLASS
struct OrdinalsArgument {
    ADDRESS(const unsigned long long) from;
    ADDRESS(T) to;
    unsigned long long count;
};

// ---- the studies: study/access.cu and so on

struct AccessArgument {
    ADDRESS(const int) inputs;
    ADDRESS(int) sums;
    ADDRESS(const int) table;  // the same entries in global memory
    unsigned long long count;
};

struct AnglesArgument {
    ADDRESS(const float) elements;
    ADDRESS(float) sums;
    ADDRESS(const float) angles;  // the same entries in global memory
    unsigned long long count;
};

struct StudyConvolutionArgument {
    ADDRESS(const float) image;
    ADDRESS(float) output;
    ADDRESS(const float) filter;  // the same entries in global memory
    int rows;
    int columns;
    int radius;
    PADDING
};

struct ReadOnlyArgument {
    ADDRESS(const float) samples;
    ADDRESS(float) derivative;
    ADDRESS(const float) coefficients;  // in global memory
    unsigned long long count;
    float argument[STUDY_RADIUS];  // the same as arguments
};
