// PTX that was made at run time, which is not compiled for the stand-in: it is read, checked and interpreted.
//
// Such a text begins with the line `// generated`. ptx.cpp reads it, ptx_operations.cpp has the instructions and their
// meaning. An unknown word is an error of the whole module, and so is an operand whose register was declared with
// another width or kind than the instruction has: an assembler would accept some of that, with results that only it
// could show.
//
// Each thread runs to its end by itself. In a kernel with shuffles the lanes of a warp run from one shuffle to the
// next, each by itself in a random order, and all 32 have to come to it; a warp runs to its end, or to a barrier of the
// block, before the next one begins. A shuffle orders no accesses to memory. Not checked are bra.uni in divergent
// threads, lanes that come to a shuffle or a barrier by different ways, which chips before sm_70 must not, and a write
// to memory that ld.global.nc reads in the same launch. An f64 NaN has the bits that this machine gives it; an f32 NaN
// has 0x7fffffff, as PTX has it, from any operation but neg, abs and copysign.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

namespace ptx {

enum Kind : uint8_t { PREDICATE, BITS, UNSIGNED, SIGNED, FLOAT };

struct Type {
    Kind kind;
    uint8_t bits;
};

enum Space : uint8_t { NOWHERE, PARAMETER, GLOBAL, CONSTANT, SHARED };

struct Thread;
struct Op;

// Does one instruction; the answer is the next one, or none where the thread is over, or stands at a shuffle or a barrier.
typedef const Op* (*Handler)(Thread&, const Op*);

constexpr uint32_t NONE = ~0u;
constexpr uint32_t WARP = 32;

// An instruction. Registers and numbers are slots of a thread's values.
struct Op {
    Handler run = nullptr;
    uint32_t to = NONE;
    uint32_t from[3] = {NONE, NONE, NONE};
    uint32_t guard = NONE;
    bool unless = false;    // it is done where the guard is false
    bool inverted = false;  // the last source is a predicate that is
    uint32_t target = 0;    // of a branch
    int64_t offset = 0;     // of an address
    uint32_t line = 0;
};

// Role of an operand: (d) a register that is written, (s) one that is read or a number, (p) a predicate that is read
// and may be inverted, (a) an address, (l) a label, (w) registers in braces that are written, (r) such that are read,
// (m) the mask of a shuffle's lanes, (b) the number of a barrier.
struct Operand {
    char role;
    Type type;
};

// An instruction by its whole name, such as `setp.lt.and.f64`.
struct Form {
    Handler run = nullptr;
    std::vector<Operand> operands;
    Space space = NOWHERE;
    bool moves = false;  // may read special registers, and addresses of symbols
    // The number of registers in braces. `element` does one of them, if they are done one by one: a separate
    // instruction behind `run`, whose source is the result of `run`, and whose offset is the bytes before it.
    uint32_t elements = 1;
    Handler element = nullptr;
};

// None where there is no such instruction.
const Form* form_of(const std::string& name);

enum Special { TID_X, TID_Y, TID_Z, NTID_X, NTID_Y, NTID_Z, CTAID_X, CTAID_Y, CTAID_Z, NCTAID_X, NCTAID_Y, NCTAID_Z };
constexpr int SPECIALS = 12;

// A variable of the module.
struct Symbol {
    std::string name;
    Space space;
    uint64_t bytes, align;
    std::string initial;   // its bytes
    uint64_t window = 0;   // where it lies in constant or shared memory, as ld.const and ld.shared see it
    uint64_t address = 0;  // in the device's memory, once that is known; in shared memory, from its beginning
};

struct Kernel {
    std::string name;
    uint32_t argument_bytes = 0;
    uint32_t most_threads = 1024;
    std::vector<Op> ops;
    // The slots: first those that are registers, by their names; then numbers.
    std::vector<std::string> registers;
    std::vector<uint64_t> numbers;
    std::vector<std::pair<uint32_t, uint32_t>> addresses;  // slots that hold the address of a symbol, by its place
    uint32_t specials[SPECIALS];                           // slots, or NONE
    bool shuffles = false, barriers = false;
};

struct Module {
    unsigned int target = 0;
    std::vector<Symbol> symbols;
    std::vector<Kernel> kernels;
    uint64_t shared_bytes = 0;
};

// True for a text to interpret.
bool is_generated(const std::string& text);

// Reads a module; returns the error and its line, or an empty text.
std::string read(const std::string& text, Module& module);

// Accessible memory: addresses, and the offset to this process's own.
struct Place {
    uint64_t from = 1, to = 0;
    int64_t shift = 0;
    bool read_only = false;
};

// Functions that an interpreter needs of its surroundings.
struct Machine {
    // The allocation that holds an address in global memory. Where there is none, the answer is false, and the place is
    // the next one below, if there is any.
    virtual bool find(uint64_t address, Place& place) = 0;
    // Called for each access to global memory, with its line.
    virtual void touch(uint64_t address, size_t bytes, bool writes, uint32_t line) = 0;
    [[noreturn]] virtual void fail(uint32_t status, const std::string& why) = 0;
    // Called with the thread of the block that runs from now on, if it is not the one that Launch::run was called for.
    virtual void turn_to(uint32_t number) = 0;
    virtual uint64_t draw() = 0;
    // Shared memory, and that all threads of the block have met.
    virtual char* shared() = 0;
    virtual void all_met() = 0;

protected:
    ~Machine() = default;
};

// A thread that runs: the values of its slots, and which of them were written.
struct Thread {
    const Module& module;
    const Kernel& kernel;
    Machine& machine;
    const char* argument;
    uint64_t* values = nullptr;
    uint8_t* written = nullptr;
    Place* places = nullptr;  // where each instruction was last
    uint64_t branches = 0;
    // The shuffle or barrier at which it stands, if any: the value that it gives there, and the lane that it takes
    // from.
    const Op* stands = nullptr;
    uint32_t lane = 0;
    uint32_t given = 0, takes_from = 0;
};

// A launch of a kernel: thread by thread, or where it has shuffles or barriers warp by warp.
class Launch {
public:
    Launch(const Module& module, const Kernel& kernel, const char* argument, const uint32_t (&grid)[3],
           const uint32_t (&block)[3], Machine& machine);
    void run(const uint32_t (&block)[3], const uint32_t (&thread)[3]);
    bool has_warps() const { return kernel.shuffles || kernel.barriers; }
    uint64_t shared_bytes() const { return threads[0].module.shared_bytes; }
    void run_warps(const uint32_t (&block)[3], uint32_t threads);

private:
    void set(Thread& thread, int special, uint32_t value);
    void begin(Thread& thread, const uint32_t (&block)[3], const uint32_t (&index)[3]);
    const Op* run_warp(const Op* from, uint32_t first, uint32_t count);
    const Op* gather(const Thread* lanes, uint32_t first, uint32_t count);
    [[noreturn]] void part(const Op* op, uint32_t number, const std::string& what);

    const Kernel& kernel;
    Machine& machine;
    const uint32_t block_size[3];
    // One thread's, those of each lane of a warp, or where there are barriers those of a block.
    std::vector<uint64_t> values;
    std::vector<uint8_t> written;
    std::vector<Place> places;
    std::vector<Thread> threads;
};

}  // namespace ptx
