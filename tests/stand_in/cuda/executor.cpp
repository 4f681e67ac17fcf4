// Runs the kernels for the driver's stand-in, in a separate process, so that the host's process cannot access the
// memory of a device.
//
// A block's threads are fibers on one thread of the system. The order in which blocks run, and in which the threads of
// a block run between two barriers, is drawn from a seed: results that depend on it without a barrier change. Shared
// memory is filled with a pattern before every block.
//
// A kernel's access outside the device's memory ends this process, after a report of the address, kernel, block and
// thread.
//
// With STAND_IN_RACES the modules are compiled with the calls that -fsanitize=thread puts before each access, and this
// file answers them: two threads that touch the same bytes with no barrier between, one of them writing, are a race and
// end the launch.

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda_words.hpp"
#include "protocol.hpp"
#include "ptx.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define POISON_BYTES(address, bytes) __asan_poison_memory_region(address, bytes)
#define UNPOISON_BYTES(address, bytes) __asan_unpoison_memory_region(address, bytes)
#else
#define POISON_BYTES(address, bytes) ((void)0)
#define UNPOISON_BYTES(address, bytes) ((void)0)
#endif

using namespace stand_in;

// Saves the registers that a call preserves on the stack, leaves the stack pointer at `*from`, and continues at `to`.
extern "C" void stand_in_switch(void** from, void* to);
asm(R"(
.text
.globl stand_in_switch
.type stand_in_switch, @function
stand_in_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size stand_in_switch, .-stand_in_switch
)");

extern "C" void stand_in_thread();

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace {

constexpr int MOST_THREADS = 1024;
constexpr int WARP = 32;
#if defined(__SANITIZE_ADDRESS__) || defined(STAND_IN_RACES)
constexpr size_t STACK = 256 << 10;
#else
constexpr size_t STACK = 64 << 10;
#endif
constexpr size_t DYNAMIC_SHARED = 228 << 10;

[[noreturn]] void end_with(uint32_t status, const char* format, ...) __attribute__((format(printf, 2, 3)));

void answer(const Answer& answer) {
    if (send(SOCKET_FILE, &answer, sizeof answer, MSG_NOSIGNAL) < 0) _exit(1);
}

// ---- memory

struct Allocation {
    uint64_t bytes;
    uint64_t first_page, pages;
    bool constant = false;
};
std::map<uint64_t, Allocation> allocations;

// An allocation ends where its last page does, as far as its alignment allows; a sanitizer's build poisons the rest.
void map(uint64_t address, uint64_t bytes, const char* path) {
    const bool pinned = address < DEVICE_BASE, foreign = path[0] != 0;
    const uint64_t base = pinned ? PINNED_BASE : DEVICE_BASE + (address - DEVICE_BASE) / DEVICE_RANGE * DEVICE_RANGE;
    const int file = pinned    ? PINNED_FILE
                     : foreign ? open(path, O_RDWR | O_CLOEXEC)
                               : FIRST_DEVICE_FILE + (int)((address - DEVICE_BASE) / DEVICE_RANGE);
    const uint64_t first = address / PAGE * PAGE;
    const uint64_t pages = (address + bytes + PAGE - 1) / PAGE * PAGE - first;
    void* at = mmap((void*)first, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)(first - base));
    if (at == MAP_FAILED) {
        end_with(LAUNCH_FAILED, "the executor could not map %lu bytes at %#lx", (unsigned long)pages,
                 (unsigned long)first);
    }
    if (foreign) close(file);
    POISON_BYTES((void*)first, address - first);
    POISON_BYTES((void*)(address + bytes), first + pages - address - bytes);
    allocations[address] = {bytes, first, pages};
}

// Memory that copies between devices read and write. There are few, or the same again and again.
struct Watched {
    uint64_t from, to;
    Touch read, written;
};
std::vector<Watched> watched;

void unmap(uint64_t address) {
    const auto found = allocations.find(address);
    if (found == allocations.end()) return;
    for (auto one = watched.begin(); one != watched.end();) {
        const bool goes = one->from >= address && one->from < address + found->second.bytes;
        one = goes ? watched.erase(one) : one + 1;
    }
    UNPOISON_BYTES((void*)found->second.first_page, found->second.pages);
    munmap((void*)found->second.first_page, found->second.pages);
    allocations.erase(found);
}

// ---- modules

struct Symbol {
    char* own;
    uint64_t device;
    uint64_t bytes;
    bool written;
};

struct Module {
    void* library = nullptr;
    int file = -1;
    char *statics = nullptr, *statics_end = nullptr;
    std::vector<Symbol> symbols;
    // Statics that are shared memory.
    std::vector<std::pair<char*, size_t>> shared;
    // Replaces the library for a module that was made at run time.
    std::shared_ptr<ptx::Module> generated;

    void find_shared() {
        std::map<char*, char*> holes;
        for (const auto& symbol : symbols) holes[symbol.own] = symbol.own + symbol.bytes;
        shared.clear();
        char* from = statics;
        for (const auto& [begin, end] : holes) {
            if (begin < statics || begin >= statics_end) continue;
            if (begin > from) shared.push_back({from, (size_t)(begin - from)});
            from = end;
        }
        if (statics_end > from) shared.push_back({from, (size_t)(statics_end - from)});
    }
};
std::unordered_map<uint32_t, Module> modules;

// ---- threads

enum State { NEW, READY, AT_BARRIER, AT_WARP_BARRIER, AT_COPY, OVER };

// Work of each warp of a block before an access: the number of its arrivals at barriers in shared memory.
typedef std::array<uint32_t, MOST_THREADS / WARP> Clocks;

// A thread at some time, and its knowledge of others then.
struct Stamp {
    uint32_t thread;
    uint32_t clock;
    Clocks knows;
};
Stamp stamp_now();

// A pending copy into shared memory. The seed decides if it is done immediately or at a wait: an access that is too early
// finds other data.
struct Copy {
    void* to;
    const void* from;
    size_t bytes;
    unsigned long long* barrier;  // that it tells, or none
    unsigned int group;           // of its thread
    uint64_t begun;               // the epoch
    Stamp stamp = stamp_now();    // who began it, and when
};

struct Thread {
    void* stack_pointer;
    State state;
    uint3 index;
    int line;
    unsigned int mask;
    alignas(16) char given[64], taken[64];
    void* fake_stack;
    // The barrier that it waits for, and the parity of the phase.
    unsigned long long* barrier;
    int parity;
    std::vector<Copy> copies;
    unsigned int group;
    bool follows;  // has waited for the launch before
};

struct Running {
    const Command* command;
    void (*function)();
    unsigned int threads;
    std::vector<Thread> all;
    // The order of this launch, and how far it has come: where the next turn is, in which direction, and how many are
    // left of this round.
    std::vector<unsigned int> turns;
    unsigned int at, left;
    bool back;
    // Numbers of threads that wait for the block, wait for their warp, wait for a copy, and are over.
    unsigned int at_barrier, at_warp_barrier, at_copy, over;
    // True if any has passed its turn on in this round, and can go on.
    bool any_passed;
    // Copies that signal a barrier.
    std::vector<Copy> copies;
    // Number of barriers of all of its threads that each warp has passed.
    uint64_t warp_epochs[MOST_THREADS / WARP];
    // The epoch in which each warp last touched memory, and that which began when all threads of the block met.
    uint64_t touched[MOST_THREADS / WARP];
    uint64_t all_met;
    unsigned int current;
    void* scheduler;
    void* scheduler_fake_stack;
    const void* scheduler_stack;
    size_t scheduler_stack_bytes;
    uint64_t epoch;
    uint64_t block;
} run;

char* stacks;
alignas(128) char dynamic_shared[DYNAMIC_SHARED];
std::mt19937_64 order(1);

void end_with(uint32_t status, const char* format, ...) {
    Answer told = {};
    told.status = status;
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(told.text, sizeof told.text, format, arguments);
    va_end(arguments);
    if (run.command && used >= 0 && (size_t)used < sizeof told.text) {
        snprintf(told.text + used, sizeof told.text - (size_t)used,
                 " [kernel %s, block (%u, %u, %u), thread (%u, %u, %u)]", run.command->text, blockIdx.x, blockIdx.y,
                 blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    }
    fprintf(stderr, "stand-in for CUDA: %s\n", told.text);
    answer(told);
    _exit(1);
}

// A structure of more than 16 bytes is passed on the stack, as the bytes that it is: a larger one in its place is the
// same to the kernel.
template <size_t BYTES>
struct Blob {
    alignas(8) char bytes[BYTES];
};

template <size_t BYTES>
void call_with() {
    Blob<BYTES> blob;
    memcpy(blob.bytes, run.command->argument, BYTES);
    reinterpret_cast<void (*)(Blob<BYTES>)>(run.function)(blob);
}

// The next thread in this round that can run, or none.
bool next_turn() {
    while (run.left > 0) {
        --run.left;
        const unsigned int number = run.turns[run.at];
        if (run.back)
            run.at = (run.at == 0 ? run.threads : run.at) - 1;
        else if (++run.at == run.threads)
            run.at = 0;
        if (run.all[number].state <= READY) {
            run.current = number;
            threadIdx = run.all[number].index;
            return true;
        }
    }
    return false;
}

// On its own stack, unused while its thread is new: as if `stand_in_thread` had been called, with its return address,
// aligned as the ABI requires, and six zero registers.
void begin(Thread& thread) {
    // A guard page below every stack, from its first use on: most blocks are small.
    static bool guarded[MOST_THREADS];
    if (!guarded[run.current]) {
        mprotect(stacks + run.current * (STACK + PAGE), PAGE, PROT_NONE);
        guarded[run.current] = true;
    }
    char* top = stacks + (run.current + 1) * (STACK + PAGE);
    void** frame = reinterpret_cast<void**>(top) - 2;
    frame[1] = nullptr;
    frame[0] = reinterpret_cast<void*>(&stand_in_thread);
    frame -= 6;
    // Poison that an earlier thread left there.
    UNPOISON_BYTES(top - (64 << 10), 64 << 10);
    memset(frame, 0, 6 * sizeof *frame);
    thread.stack_pointer = frame;
    thread.state = READY;
}

// The stack pointer of the thread whose turn it is.
void* whose_turn() {
    Thread& thread = run.all[run.current];
    if (thread.state == NEW) begin(thread);
    return thread.stack_pointer;
}

// From the scheduler, to the thread whose turn it is.
void go_on() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&run.scheduler_fake_stack, stacks + run.current * (STACK + PAGE) + PAGE, STACK);
#endif
    stand_in_switch(&run.scheduler, whose_turn());
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(run.scheduler_fake_stack, nullptr, nullptr);
#endif
}

// From `thread`, which waits or is over, to the next one; to the scheduler at the end of the round, and each time where
// the sanitizer has to know of stacks.
void pass_on(Thread& thread) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(thread.state == OVER ? nullptr : &thread.fake_stack, run.scheduler_stack,
                                   run.scheduler_stack_bytes);
    stand_in_switch(&thread.stack_pointer, run.scheduler);
    __sanitizer_finish_switch_fiber(thread.fake_stack, nullptr, nullptr);
#else
    stand_in_switch(&thread.stack_pointer, next_turn() ? whose_turn() : run.scheduler);
#endif
}

// Lets the warps go on whose threads have all come to their barrier; whether there were any.
bool release_warps() {
    bool any = false;
    if (run.at_warp_barrier == 0) return any;
    for (unsigned int first = 0; first < run.threads; first += WARP) {
        const unsigned int count = run.threads - first < WARP ? run.threads - first : WARP;
        unsigned int handled = 0;
        for (unsigned int lane = 0; lane < count; ++lane) {
            const Thread& thread = run.all[first + lane];
            if (thread.state != AT_WARP_BARRIER || (handled >> lane & 1)) continue;
            const unsigned int mask = thread.mask & (count == 32 ? ~0u : (1u << count) - 1);
            bool complete = mask >> lane & 1;
            for (unsigned int other = 0; other < count; ++other) {
                if (!(mask >> other & 1)) continue;
                const Thread& one = run.all[first + other];
                const bool here = one.state == AT_WARP_BARRIER && one.mask == thread.mask && one.line == thread.line;
                complete = complete && (one.state == OVER || here);
            }
            if (!complete) continue;
            handled |= mask;
            any = true;
            if (mask == (count == 32 ? ~0u : (1u << count) - 1)) ++run.warp_epochs[first / WARP];
            for (unsigned int other = 0; other < count; ++other) {
                Thread& one = run.all[first + other];
                if (!(mask >> other & 1) || one.state == OVER) continue;
                memcpy(one.taken, one.given, sizeof one.taken);
                one.state = READY;
                --run.at_warp_barrier;
            }
        }
    }
    return any;
}

#if defined(STAND_IN_RACES)
void on_copy(const Copy& copy);
void on_access(void* address, size_t bytes, bool writes, void* code);
#else
void on_access(void*, size_t, bool, void*) {}
void on_copy(const Copy&) {}
#endif

// State of a barrier in shared memory: arrivals of a phase, missing ones, the parity of the phase, and the announced
// bytes that have not come.
struct Phase {
    uint16_t arrivals, missing;
    int16_t parity, made;
    static constexpr int16_t MADE = 0x5a5a;
};
std::map<const unsigned long long*, int64_t> announced;

// The warps that have arrived at a barrier in its phase, a bit for each.
std::map<const unsigned long long*, uint32_t> arrived;
static_assert(MOST_THREADS / WARP <= 32, "a bit for each");

// A thread that waits at such a barrier is ordered after all that the arrived ones had done and knew. The first
// arrivals of a block have the number 1.
Clocks clocks;
std::vector<Clocks> knows(MOST_THREADS);
struct Told {
    Clocks coming = {}, over[2] = {};
};
std::map<const unsigned long long*, Told> told;

void join(Clocks& to, const Clocks& from) {
    for (size_t warp = 0; warp < to.size(); ++warp) to[warp] = std::max(to[warp], from[warp]);
}

Stamp stamp_now() { return {run.current, clocks[run.current / WARP], knows[run.current]}; }

void tell(const unsigned long long* barrier, const Stamp& stamp) {
    Clocks& coming = told[barrier].coming;
    join(coming, stamp.knows);
    uint32_t& own = coming[stamp.thread / WARP];
    own = std::max(own, stamp.clock);
}

// True if these are all warps of the block that have work: the others have accessed nothing since all threads met.
bool are_all(uint32_t warps) {
    for (unsigned int warp = 0; warp < (run.threads + WARP - 1) / WARP; ++warp) {
        if ((warps >> warp & 1) == 0 && run.touched[warp] >= run.all_met) return false;
    }
    return true;
}

// Checks the requirements of a copy in bulk.
void check_bulk(const void* to, const void* from, int bytes) {
    if ((uint64_t)to % 16 != 0 || (uint64_t)from % 16 != 0 || bytes <= 0 || bytes % 16 != 0) {
        end_with(LAUNCH_FAILED, "a copy in bulk of %d bytes from %p to %p: no multiples of 16", bytes, from, to);
    }
}

Phase phase_of(const unsigned long long* barrier) {
    Phase phase;
    memcpy(&phase, barrier, sizeof phase);
    if (phase.made != Phase::MADE) end_with(LAUNCH_FAILED, "a barrier for copies was used that nobody has made");
    return phase;
}

// Ends the phase if nothing is missing.
void settle(unsigned long long* barrier, Phase phase) {
    if (phase.missing == 0 && announced[barrier] == 0) {
        phase.missing = phase.arrivals;
        told[barrier].over[phase.parity] = std::exchange(told[barrier].coming, Clocks{});
        phase.parity ^= 1;
        // Each warp of the block has arrived once: earlier accesses are before later ones. A thread's accesses after
        // its arrival count as before, too: their races with later ones are not seen.
        const uint32_t warps = arrived[barrier];
        arrived[barrier] = 0;
        if (phase.arrivals > 1 && phase.arrivals == __builtin_popcount(warps) && are_all(warps)) ++run.epoch;
    }
    memcpy(barrier, &phase, sizeof phase);
}

void do_copy(const Copy& copy) {
    on_copy(copy);
    memcpy(copy.to, copy.from, copy.bytes);
    if (copy.barrier) {
        tell(copy.barrier, copy.stamp);
        announced[copy.barrier] -= (int64_t)copy.bytes;
        settle(copy.barrier, phase_of(copy.barrier));
    }
}

// True if the phase of that parity is over, once the copies that signal this barrier are done.
bool is_over(unsigned long long* barrier, int parity) {
    std::vector<Copy> later;
    for (const Copy& copy : run.copies) {
        if (copy.barrier == barrier)
            do_copy(copy);
        else
            later.push_back(copy);
    }
    run.copies = later;
    return phase_of(barrier).parity != parity;
}

// Lets the threads go on whose copies have come; whether there were any.
bool release_copies() {
    if (run.at_copy == 0) return false;
    bool any = false;
    for (auto& thread : run.all) {
        if (thread.state != AT_COPY || !is_over(thread.barrier, thread.parity)) continue;
        thread.state = READY;
        join(knows[(size_t)(&thread - run.all.data())], told[thread.barrier].over[thread.parity]);
        --run.at_copy;
        any = true;
    }
    return any;
}

#if defined(__SANITIZE_ADDRESS__)
__attribute__((no_sanitize("address"))) void fill(char* from, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        reinterpret_cast<volatile char*>(from)[i] = (char)0xff;
    }
}
#endif

// Memory beyond the launch's request is out of bounds.
void fill_dynamic(size_t bytes) {
    UNPOISON_BYTES(dynamic_shared, DYNAMIC_SHARED);
    memset(dynamic_shared, 0xff, bytes);
    POISON_BYTES(dynamic_shared + bytes, DYNAMIC_SHARED - bytes);
}

void fill_shared(const Module& module) {
    for (const auto& [from, bytes] : module.shared) {
#if defined(__SANITIZE_ADDRESS__)
        fill(from, bytes);
#else
        memset(from, 0xff, bytes);
#endif
    }
    fill_dynamic(run.command->shared);
}

// Forgets all states of barriers in shared memory.
void forget_told() {
    clocks.fill(1);
    std::fill(knows.begin(), knows.end(), Clocks{});
}

#if defined(STAND_IN_RACES)
void begin_launch_of_races(const Module& module);
#endif

void run_block(const Module& module) {
    fill_shared(module);
    run.all_met = ++run.epoch;
    for (auto& thread : run.all) {
        thread.state = NEW;
        thread.group = 0;
        thread.follows = !run.command->flag;
    }
    run.at_barrier = run.at_warp_barrier = run.at_copy = run.over = 0;
    announced.clear();
    told.clear();
    forget_told();
    for (;;) {
        // A rotation and a direction of a fixed shuffle: every order that matters comes by, at little cost.
        const uint64_t draw = order();
        run.at = (unsigned int)(draw % run.threads);
        run.back = draw >> 40 & 1;
        run.left = run.threads;
        while (next_turn()) go_on();
        const bool passed = std::exchange(run.any_passed, false);
        if (release_warps() || release_copies() || passed) continue;
        if (run.over == run.threads) {
            bool left = !run.copies.empty();
            for (const auto& thread : run.all) left = left || !thread.copies.empty();
            if (left) end_with(LAUNCH_FAILED, "a block ended before its copies");
            return;
        }
        if (run.at_copy > 0) {
            end_with(LAUNCH_FAILED, "%u threads wait for copies of which not all have been begun", run.at_copy);
        }
        if (run.at_warp_barrier > 0) {
            end_with(LAUNCH_FAILED, "threads of a warp wait for others that do not come, in line %d", run.all[0].line);
        }
        int line = 0;
        for (const auto& thread : run.all) {
            if (thread.state != AT_BARRIER) continue;
            if (line == 0) line = thread.line;
            if (thread.line != line) {
                end_with(LAUNCH_FAILED, "threads of a block wait at two barriers, in lines %d and %d", line,
                         thread.line);
            }
        }
        if (run.over > 0) {
            end_with(LAUNCH_FAILED, "%u threads of a block wait in line %d for %u that have ended", run.at_barrier,
                     line, run.over);
        }
        run.all_met = ++run.epoch;
        for (auto& thread : run.all) thread.state = READY;
        run.at_barrier = 0;
    }
}

// Surroundings of an interpreter. Its accesses are checked by the byte, and the races build finds those between its
// threads as others.
struct Surroundings final : ptx::Machine {
    uint32_t line = 0;

    bool find(uint64_t address, ptx::Place& place) override {
        const auto behind = allocations.upper_bound(address);
        if (behind == allocations.begin()) return false;
        const auto& [from, one] = *std::prev(behind);
        place = {from, from + one.bytes, 0, one.constant};
        return address < place.to;
    }
    void touch(uint64_t address, size_t bytes, bool writes, uint32_t of) override {
        line = of;
        on_access((void*)address, bytes, writes, nullptr);
    }
    [[noreturn]] void fail(uint32_t status, const std::string& why) override { end_with(status, "%s", why.c_str()); }
    void turn_to(uint32_t number) override { threadIdx = run.all[run.current = number].index; }
    uint64_t draw() override { return order(); }
    char* shared() override { return dynamic_shared; }
    void all_met() override { run.all_met = ++run.epoch; }
} surroundings;

void run_block(ptx::Launch& launch) {
    run.all_met = ++run.epoch;
    const uint32_t block[3] = {blockIdx.x, blockIdx.y, blockIdx.z};
    if (const uint64_t bytes = launch.shared_bytes()) {
        fill_dynamic(bytes);
        forget_told();
    }
    if (launch.has_warps()) return launch.run_warps(block, run.threads);
    for (auto& thread : run.all) thread.state = READY;
    const uint64_t draw = order();
    run.at = (unsigned int)(draw % run.threads);
    run.back = draw >> 40 & 1;
    run.left = run.threads;
    while (next_turn()) launch.run(block, {threadIdx.x, threadIdx.y, threadIdx.z});
}

void launch(const Command& command) {
    Module& module = modules[command.module];
    std::unique_ptr<ptx::Launch> interpreted;
    if (module.generated) {
        const auto& kernel = module.generated->kernels[command.address - 1];
        interpreted = std::make_unique<ptx::Launch>(*module.generated, kernel, command.argument, command.grid,
                                                    command.block, surroundings);
    }
    for (const auto& symbol : module.symbols) memcpy(symbol.own, (const void*)symbol.device, symbol.bytes);
    run.command = &command;
    run.function = reinterpret_cast<void (*)()>(command.address);
    gridDim = {command.grid[0], command.grid[1], command.grid[2]};
    blockDim = {command.block[0], command.block[1], command.block[2]};
    run.threads = blockDim.x * blockDim.y * blockDim.z;
    run.all.resize(run.threads);
    run.turns.resize(run.threads);
    for (unsigned int i = 0; i < run.threads; ++i) {
        run.all[i].index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        run.turns[i] = i;
    }
    for (unsigned int i = run.threads; i > 1; --i) std::swap(run.turns[i - 1], run.turns[order() % i]);
    const uint64_t blocks = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
    // Every block once, beginning anywhere and going on in steps that have no divisor in common with their number.
    uint64_t step = order() % blocks, at = order() % blocks;
    while (std::gcd(step, blocks) != 1) ++step;
#if defined(STAND_IN_RACES)
    begin_launch_of_races(module);
#endif
    if (interpreted && command.flag)
        end_with(LAUNCH_FAILED, "a launch that may begin early, and waits for none before");
    for (uint64_t i = 0; i < blocks; ++i) {
        run.block = at;
        blockIdx = {(unsigned int)(at % gridDim.x), (unsigned int)(at / gridDim.x % gridDim.y),
                    (unsigned int)(at / gridDim.x / gridDim.y)};
        interpreted ? run_block(*interpreted) : run_block(module);
        at = (at + step) % blocks;
    }
    run.command = nullptr;
    for (const auto& symbol : module.symbols) {
        if (symbol.written)
            memcpy((void*)symbol.device, symbol.own, symbol.bytes);
        else if (memcmp((const void*)symbol.device, symbol.own, symbol.bytes) != 0) {
            end_with(LAUNCH_FAILED, "%s wrote to constant memory, or it was written to while the kernel ran",
                     command.text);
        }
    }
}

void on_fault(int, siginfo_t* info, void*) {
    const auto address = (uint64_t)info->si_addr;
    char what[256];
    if (address >= PINNED_BASE && address < DEVICE_BASE + MAX_DEVICES * DEVICE_RANGE) {
        const auto behind = allocations.upper_bound(address);
        uint64_t before = 0, bytes = 0;
        if (behind != allocations.begin()) {
            before = std::prev(behind)->first;
            bytes = std::prev(behind)->second.bytes;
        }
        snprintf(what, sizeof what,
                 "is no memory of the device, or no longer; the next below is %#lx of %lu bytes, %lu before its end",
                 (unsigned long)before, (unsigned long)bytes, (unsigned long)(address - before - bytes));
    } else {
        snprintf(what, sizeof what, "is no memory of the device");
    }
    end_with(ILLEGAL_ADDRESS, "%#lx %s", (unsigned long)address, what);
}

// Compiles a missing library: by the command in its folder, which `modules` has written.
void compile(const std::string& library) {
    const std::string command = "'" + library.substr(0, library.rfind('/')) + "/compile' '" + library + "'";
    if (access(library.c_str(), F_OK) == 0 || system(command.c_str()) == 0) return;
    end_with(NOT_FOUND, "%s cannot be compiled", library.c_str());
}

std::string content(const char* path) {
    FILE* from = fopen(path, "rb");
    if (!from) end_with(NOT_FOUND, "%s cannot be opened", path);
    std::string all;
    char buffer[1 << 16];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, from)) > 0;) all.append(buffer, got);
    fclose(from);
    return all;
}

// A module that is interpreted has its symbols in the device's memory, and nowhere else.
void place_symbol(ptx::Module& module, const Command& command) {
    for (auto& symbol : module.symbols) {
        if (symbol.name != command.text) continue;
        symbol.address = command.address;
        memcpy((void*)command.address, symbol.initial.data(), symbol.bytes);
    }
}

// The number of a kernel, from 1; 0 where there is none of that name.
uint64_t number_of(const ptx::Module& module, const std::string& name) {
    for (size_t i = 0; i < module.kernels.size(); ++i) {
        if (module.kernels[i].name == name) return i + 1;
    }
    return 0;
}

void serve(const Command& command) {
    Answer told = {};
    Module* module = nullptr;
    if (const auto found = modules.find(command.module); found != modules.end()) module = &found->second;
    switch (command.kind) {
        case MAP: map(command.address, command.bytes, command.text); break;
        case UNMAP: unmap(command.address); break;
        case SEED: order.seed(command.address); break;
        case WATCH: watched.push_back({command.address, command.address + command.bytes, {}, {}}); break;
        case LOAD: {
            Module loaded;
            if (!command.flag) compile(command.text);
            const std::string text = content(command.text);
            if (command.flag) {
                loaded.generated = std::make_shared<ptx::Module>();
                const std::string why = ptx::read(text, *loaded.generated);
                if (!why.empty()) end_with(NOT_FOUND, "%s", why.c_str());
                modules[command.module] = loaded;
                break;
            }
            // A copy of the file is a separate library: a module that is loaded twice has two of everything.
            const int copy = memfd_create("module", 0);
            if (write(copy, text.data(), text.size()) != (ssize_t)text.size()) {
                end_with(NOT_FOUND, "%s cannot be copied", command.text);
            }
            char path[64];
            snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
            loaded.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (!loaded.library) end_with(NOT_FOUND, "%s", dlerror());
            // Open as long as the library: another of the same path would be taken for this one.
            loaded.file = copy;
            const auto statics = reinterpret_cast<void (*)(char**, char**)>(dlsym(loaded.library, "stand_in_statics"));
            statics(&loaded.statics, &loaded.statics_end);
            loaded.find_shared();
            modules[command.module] = loaded;
            break;
        }
        case UNLOAD:
            if (module->library) dlclose(module->library);
            if (module->file >= 0) close(module->file);
            modules.erase(command.module);
            break;
        case SYMBOL:
            allocations[command.address].constant = !command.flag;
            if (module->generated) {
                place_symbol(*module->generated, command);
            } else if (auto* own = static_cast<char*>(dlsym(module->library, command.text))) {
                memcpy((void*)command.address, own, command.bytes);
                module->symbols.push_back({own, command.address, command.bytes, command.flag != 0});
                module->find_shared();
            } else {
                told.status = NOT_FOUND;
            }
            break;
        case FUNCTION:
            told.address = module->generated ? number_of(*module->generated, command.text)
                                             : (uint64_t)dlsym(module->library, command.text);
            if (!told.address) told.status = NOT_FOUND;
            break;
        case LAUNCH:
            for (auto& one : watched) one.read = one.written = {};
            for (uint32_t i = 0; i < command.times; ++i) launch(command);
            for (const auto& one : watched) {
                for (const Touch& touch : {one.read, one.written}) {
                    if (touch.to > 0 && told.touched < MOST_TOUCHES) told.touches[told.touched++] = touch;
                }
            }
            break;
    }
    answer(told);
}

// No thread may access an array, or end, before the launch ahead has ended.
void check_follows() {
    if (!run.all[run.current].follows) {
        end_with(LAUNCH_FAILED, "a thread of a launch that may begin early has not waited for the one before");
    }
}

}  // namespace

extern "C" void stand_in_thread() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &run.scheduler_stack, &run.scheduler_stack_bytes);
#endif
    if (run.command->bytes <= 128)
        call_with<128>();
    else if (run.command->bytes <= 512)
        call_with<512>();
    else
        call_with<MAX_ARGUMENT>();
    Thread& thread = run.all[run.current];
    check_follows();
    thread.state = OVER;
    ++run.over;
    pass_on(thread);
    abort();
}

void stand_in_barrier(int line) {
    Thread& thread = run.all[run.current];
    thread.state = AT_BARRIER;
    ++run.at_barrier;
    thread.line = line;
    pass_on(thread);
}

void stand_in_warp_barrier(unsigned int mask, int line) {
    Thread& thread = run.all[run.current];
    thread.state = AT_WARP_BARRIER;
    ++run.at_warp_barrier;
    thread.mask = mask;
    thread.line = line;
    pass_on(thread);
}

void* stand_in_warp_give() { return run.all[run.current].given; }

const void* stand_in_warp_take(unsigned int lane) {
    const unsigned int number = run.current / WARP * WARP + lane;
    if (lane >= WARP || number >= run.threads) {
        end_with(LAUNCH_FAILED, "a shuffle reads lane %u, which is not there", lane);
    }
    return run.all[number].taken;
}

unsigned int stand_in_lane() { return run.current % WARP; }

void stand_in_make_barrier(unsigned long long* barrier, int arrivals) {
    if ((uint64_t)barrier % 8 != 0) end_with(LAUNCH_FAILED, "a barrier for copies at no multiple of 8");
    const Phase phase = {(uint16_t)arrivals, (uint16_t)arrivals, 0, Phase::MADE};
    announced[barrier] = 0;
    arrived[barrier] = 0;
    told[barrier] = {};
    memcpy(barrier, &phase, sizeof phase);
}

void stand_in_arrive(unsigned long long* barrier, int bytes) {
    Phase phase = phase_of(barrier);
    if (phase.missing == 0) end_with(LAUNCH_FAILED, "a thread too many arrives at a barrier for copies");
    --phase.missing;
    arrived[barrier] |= 1u << run.current / WARP;
    tell(barrier, stamp_now());
    ++clocks[run.current / WARP];
    announced[barrier] += bytes;
    settle(barrier, phase);
    // Others may be far ahead before it does anything else.
    const uint64_t draw = order() % 16;
    for (uint64_t turns = draw == 0 ? order() % 128 : draw & 1 ? order() % 4 : 0; turns > 0; --turns) {
        run.any_passed = true;
        pass_on(run.all[run.current]);
    }
}

void stand_in_copy_bulk(void* to, const void* from, int bytes, unsigned long long* barrier) {
    check_bulk(to, from, bytes);
    check_follows();
    const Copy copy = {to, from, (size_t)bytes, barrier, 0, run.epoch};
    if (order() & 1)
        do_copy(copy);
    else
        run.copies.push_back(copy);
}

void stand_in_copy_out_bulk(void* to, const void* from, int bytes) {
    check_bulk(to, from, bytes);
    stand_in_copy_element(to, from, bytes);
}

void stand_in_wait(unsigned long long* barrier, int parity) {
    if (is_over(barrier, parity)) {
        join(knows[run.current], told[barrier].over[parity]);
        return;
    }
    Thread& thread = run.all[run.current];
    thread.state = AT_COPY;
    ++run.at_copy;
    thread.barrier = barrier;
    thread.parity = parity;
    pass_on(thread);
}

void stand_in_copy_element(void* to, const void* from, int bytes) {
    Thread& thread = run.all[run.current];
    check_follows();
    const Copy copy = {to, from, (size_t)bytes, nullptr, thread.group, run.epoch};
    if (order() & 1)
        do_copy(copy);
    else
        thread.copies.push_back(copy);
}

void stand_in_end_group() { ++run.all[run.current].group; }

void stand_in_wait_groups(int later) {
    Thread& thread = run.all[run.current];
    std::vector<Copy> left;
    for (const Copy& copy : thread.copies) {
        if (copy.group + (unsigned int)later < thread.group)
            do_copy(copy);
        else
            left.push_back(copy);
    }
    thread.copies = left;
}

void stand_in_follow_launch_before() { run.all[run.current].follows = true; }

void* stand_in_dynamic_shared() { return dynamic_shared; }

#if defined(STAND_IN_RACES)

namespace {

// Epochs are counted through all launches: those left by an earlier launch are older than any now.
struct Access {
    uint64_t epoch = 0;
    uint64_t warp_epoch = 0;
    uint32_t block = 0;
    uint16_t thread = 0;
    bool several = false;  // threads, since the last barrier of their warp
    bool warps = false;    // of several warps
    uint16_t actor = 0;    // the thread that began it, where it is a copy, and when
    uint32_t clock = 0;
    bool many = false;  // warps that have read: when each of them did stands in `reads`
};

struct Shadow {
    Access read, written;
};

// Nothing in shared memory is smaller, and in the arrays nothing smaller than twice that.
constexpr uint64_t GRAIN = 2;

char *shared_from, *shared_to;
uint64_t first_epoch_of_launch;
std::vector<Shadow> of_shared;
std::vector<Shadow> of_dynamic(DYNAMIC_SHARED / GRAIN);
// Last read there by each warp, since all threads met or a write was ordered after all reads.
std::vector<Clocks> reads_of_shared;
std::vector<Clocks> reads_of_dynamic(DYNAMIC_SHARED / GRAIN);
// The copy that is done.
const Stamp* acting;
std::unordered_map<uint64_t, std::vector<Shadow>> of_global;  // by page

void begin_launch_of_races(const Module& module) {
    shared_from = module.statics;
    shared_to = module.statics_end;
    const size_t needed = (size_t)(shared_to - shared_from) / GRAIN + 1;
    if (of_shared.size() < needed) {
        of_shared.resize(needed);
        reads_of_shared.resize(needed);
    }
    if (of_global.size() > 4096) of_global.clear();
    first_epoch_of_launch = run.epoch + 1;
}

Shadow& global_shadow(uint64_t address) {
    static uint64_t last_page = 0;
    static std::vector<Shadow>* last = nullptr;
    static size_t pages = 0;
    if (!last || last_page != address / PAGE || pages != of_global.size()) {
        last_page = address / PAGE;
        last = &of_global[last_page];
        if (last->empty()) last->resize(PAGE / (2 * GRAIN));
        pages = of_global.size();
    }
    return (*last)[address % PAGE / (2 * GRAIN)];
}

// The line of the source that is compiled to this; for interpreted code, the line of its PTX.
std::string line_of(void* code) {
    if (!code) return "line " + std::to_string(surroundings.line) + " of the PTX";
    Dl_info where = {};
    dladdr(code, &where);
    const auto offset = (char*)code - (char*)where.dli_fbase;
    char line[256] = "";
    char command[512];
    snprintf(command, sizeof command, "addr2line -i -e %s %#lx 2>/dev/null", where.dli_fname, (unsigned long)offset);
    if (FILE* found = popen(command, "r")) {
        const size_t got = fread(line, 1, sizeof line - 1, found);
        line[got] = 0;
        for (char* at = line; *at; ++at) *at = *at == '\n' ? ' ' : *at;
        pclose(found);
    }
    return line;
}

[[noreturn]] void race(const char* kind, uint64_t address, const Access& other, void* code) {
    end_with(LAUNCH_FAILED, "a race: %s %#lx, after thread %u of block %lu, with no barrier between; %s", kind,
             (unsigned long)address, other.thread, (unsigned long)other.block, line_of(code).c_str());
}

// True if it came before a barrier of this thread's warp, which includes its thread.
bool before_warp_barrier(const Access& other) {
    const unsigned int warp = run.current / WARP;
    return other.thread / WARP == warp && other.warp_epoch != run.warp_epochs[warp];
}

// True if an earlier access may be concurrent with this thread's.
bool meets(const Access& other, bool between_blocks) {
    if (other.epoch < first_epoch_of_launch) return false;
    if (other.block != (uint32_t)run.block) return between_blocks;
    if (other.epoch != run.epoch) return false;
    return other.warps || (!before_warp_barrier(other) && (other.several || other.thread != run.current));
}

// Originator of an access, its time, and its knowledge of others: the running thread, or the one that began the copy.
struct Actor {
    uint32_t thread;
    uint32_t clock;
    const Clocks& knows;
};
Actor actor_now() {
    if (acting) return {acting->thread, acting->clock, acting->knows};
    return {run.current, clocks[run.current / WARP], knows[run.current]};
}

void take(Access& access, const Actor& actor) {
    const bool same = access.epoch == run.epoch;
    access.warps = same && (access.warps || access.thread / WARP != run.current / WARP);
    access.several = same && !before_warp_barrier(access) && (access.several || access.thread != run.current);
    access.warp_epoch = run.warp_epochs[run.current / WARP];
    access.block = (uint32_t)run.block;
    access.epoch = run.epoch;
    access.thread = (uint16_t)run.current;
    access.actor = (uint16_t)actor.thread;
    access.clock = actor.clock;
}

// True if the actor knows, by barriers in shared memory, that the other access is over.
bool knows_of(const Actor& actor, const Access& other) {
    const unsigned int warp = other.actor / WARP;
    if (actor.knows[warp] >= other.clock) return true;
    return warp == actor.thread / WARP &&
           (before_warp_barrier(other) || (!other.several && other.actor == actor.thread));
}
bool knows_of(const Actor& actor, const Access& last, const Clocks& reads) {
    if (!last.many) return knows_of(actor, last);
    for (size_t warp = 0; warp < reads.size(); ++warp) {
        if (warp != actor.thread / WARP && actor.knows[warp] < reads[warp]) return false;
    }
    return last.actor / WARP != actor.thread / WARP || knows_of(actor, last);
}

void look(Shadow& shadow, Clocks* reads, uint64_t address, bool writes, void* code) {
    const bool between_blocks = !reads;
    const Actor actor = actor_now();
    if (meets(shadow.written, between_blocks) && !(reads && knows_of(actor, shadow.written))) {
        race(writes ? "two writes to" : "a read of", address, shadow.written, code);
    }
    if (writes && meets(shadow.read, between_blocks) && !(reads && knows_of(actor, shadow.read, *reads))) {
        race("a write to", address, shadow.read, code);
    }
    if (reads) {
        const bool has_read = shadow.read.epoch == run.epoch && shadow.read.block == (uint32_t)run.block;
        if (!has_read) {
            shadow.read.many = false;
        } else if (writes) {
            // Later writes have to be ordered after a write that is ordered after all reads.
            shadow.read = {};
        } else if (shadow.read.many || shadow.read.actor / WARP != actor.thread / WARP) {
            if (!shadow.read.many) {
                reads->fill(0);
                (*reads)[shadow.read.actor / WARP] = shadow.read.clock;
            }
            shadow.read.many = true;
            (*reads)[actor.thread / WARP] = actor.clock;
        }
    }
    take(writes ? shadow.written : shadow.read, actor);
}

void on_access(void* address, size_t bytes, bool writes, void* code) {
    if (!run.command) return;
    run.touched[run.current / WARP] = run.epoch;
    char* at = static_cast<char*>(address);
    if (at >= shared_from && at < shared_to) {
        for (size_t i = 0; i < bytes; i += GRAIN) {
            const size_t place = (size_t)(at + i - shared_from) / GRAIN;
            look(of_shared[place], &reads_of_shared[place], (uint64_t)at, writes, code);
        }
    } else if (at >= dynamic_shared && at < dynamic_shared + DYNAMIC_SHARED) {
        for (size_t i = 0; i < bytes; i += GRAIN) {
            const size_t place = (size_t)(at + i - dynamic_shared) / GRAIN;
            look(of_dynamic[place], &reads_of_dynamic[place], (uint64_t)at, writes, code);
        }
    } else if ((uint64_t)at >= PINNED_BASE && (uint64_t)at < DEVICE_BASE + MAX_DEVICES * DEVICE_RANGE) {
        for (size_t i = 0; i < bytes; i += 2 * GRAIN) {
            look(global_shadow((uint64_t)at + i), nullptr, (uint64_t)at, writes, code);
        }
        for (auto& one : watched) {
            const uint64_t from = std::max((uint64_t)at, one.from), to = std::min((uint64_t)at + bytes, one.to);
            if (from >= to) continue;
            Touch& touch = writes ? one.written : one.read;
            touch = {touch.to == 0 ? from : std::min(touch.from, from), std::max(touch.to, to), writes};
        }
    }
}

// The shadows of an address in shared memory; none elsewhere.
std::pair<Shadow*, Shadow*> shadows_of(const void* address, size_t bytes) {
    const char* const at = static_cast<const char*>(address);
    const auto in = [&](std::vector<Shadow>& all, const char* from) {
        Shadow* const first = all.data() + (at - from) / GRAIN;
        return std::make_pair(first, first + (bytes + GRAIN - 1) / GRAIN);
    };
    if (at >= shared_from && at < shared_to) return in(of_shared, shared_from);
    if (at >= dynamic_shared && at < dynamic_shared + DYNAMIC_SHARED) return in(of_dynamic, dynamic_shared);
    return {nullptr, nullptr};
}

void on_copy(const Copy& copy) {
    void* const code = __builtin_return_address(0);
    // It may have come at any time since it was begun: an access behind a later barrier did not wait for it.
    const auto [first, last] = shadows_of(copy.to, copy.bytes);
    for (Shadow* shadow = first; shadow != last; ++shadow) {
        const auto met = [&](const Access& other) {
            return other.block == (uint32_t)run.block && other.epoch > copy.begun;
        };
        if (met(shadow->read)) race("a copy under way and a read of", (uint64_t)copy.to, shadow->read, code);
        if (met(shadow->written)) race("a copy under way and a write to", (uint64_t)copy.to, shadow->written, code);
    }
    acting = &copy.stamp;
    on_access(const_cast<void*>(copy.from), copy.bytes, false, code);
    on_access(copy.to, copy.bytes, true, code);
    acting = nullptr;
}

}  // namespace

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
#define ACCESS(SIZE)                                                                                                  \
    void __tsan_read##SIZE(void* address) { on_access(address, SIZE, false, __builtin_return_address(0)); }           \
    void __tsan_write##SIZE(void* address) { on_access(address, SIZE, true, __builtin_return_address(0)); }           \
    void __tsan_unaligned_read##SIZE(void* address) { on_access(address, SIZE, false, __builtin_return_address(0)); } \
    void __tsan_unaligned_write##SIZE(void* address) { on_access(address, SIZE, true, __builtin_return_address(0)); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(void* address, size_t bytes) { on_access(address, bytes, false, __builtin_return_address(0)); }
void __tsan_write_range(void* address, size_t bytes) { on_access(address, bytes, true, __builtin_return_address(0)); }
void __tsan_vptr_update(void*, void*) {}
}

#endif

int main() {
    const size_t bytes = (size_t)MOST_THREADS * (STACK + PAGE);
    constexpr int KIND = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, KIND, -1, 0);
    if (at == MAP_FAILED) return 1;
    stacks = static_cast<char*>(at);

#if !defined(__SANITIZE_ADDRESS__)
    // On its own stack, for a fault may be an overflow of a fiber's.
    static char alternate[64 << 10];
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = sizeof alternate;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
#else
    (void)on_fault;
#endif
    signal(SIGINT, SIG_IGN);

    static Command command;
    for (;;) {
        const ssize_t got = recv(SOCKET_FILE, &command, sizeof command, 0);
        if (got <= 0) return 0;
        serve(command);
    }
}
