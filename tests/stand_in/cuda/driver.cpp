// A stand-in for the CUDA driver: the functions that the library calls, on a machine without a GPU.
//
//  - The memory of a device is a file in memory that only the executor maps: host code that reads it ends with a fault.
//    Each allocation lies by itself, with nothing reachable on either side, and its addresses are never given out
//    again. New memory is filled with a pattern.
//  - A stream is a thread that works in order and late: delays are drawn from a seed. Copies have the driver's
//    semantics: pinned memory is read and written when the copy's turn comes; pageable memory is read at the call, and
//    written before the call returns.
//  - Kernels run in the executor, a process for each context: see executor.cpp. Those of a module that the library has
//    made at run time are interpreted there: see ptx.hpp.
//  - Devices reach each other's memory, or do not. While a copy between two of them is under way, its target
//    holds the pattern of new memory. Conflicting work of two devices that nothing orders is reported, in whatever
//    order it ran: copies always, and kernels if the executor looks for races.
//  - Any call can be made to fail (stand_in_fail). Living objects are counted; an object freed under work that uses it,
//    freed twice, or used afterwards is reported on standard error and counted. A process that ends with living
//    objects, or after any such misuse, ends with status 86.
//
// Not shown are speed, the memory order of a chip, and the driver's compilation of PTX.
//
// Environment: CUDA_STAND_IN_DEVICES (1, at most 8), CUDA_STAND_IN_PEERS (1; 0 where no device reaches another's
// memory), CUDA_STAND_IN_MEMORY (bytes of each device, 1 GiB), CUDA_STAND_IN_SEED (1), CUDA_STAND_IN_CAPABILITY (9.0),
// CUDA_STAND_IN_MULTIPROCESSORS (4), CUDA_STAND_IN_VERSION (12090), CUDA_STAND_IN_FAIL (N:STATUS:MODE, as stand_in_fail has
// them), CUDA_STAND_IN_SPEED (1; how many times as fast the device's events say it is: with a large number what a call puts
// into one launch does not depend on this machine), CUDA_STAND_IN_KERNELS (a file that gets the module and kernel of each
// launch), CUDA_STAND_IN_TRACE (if set, they go to standard error), CUDA_STAND_IN_PTX (a folder that gets each text made at
// run time), CUDA_VISIBLE_DEVICES (empty or -1 for none).

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "protocol.hpp"
#include "ptx.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

extern char** environ;

namespace {

using namespace stand_in;

typedef int CUresult;
enum : CUresult {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEINITIALIZED = 4,
    DEVICE_UNAVAILABLE = 46,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_HANDLE = 400,
    NOT_FOUND_STATUS = 500,
    NOT_READY = 600,
    LAUNCH_OUT_OF_RESOURCES = 701,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    NOT_SUPPORTED = 801,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    CONTEXT_IS_DESTROYED = 709,
    UNKNOWN = 999,
};

const auto& STATUSES = *new std::map<CUresult, std::pair<const char*, const char*>>{
    {SUCCESS, {"CUDA_SUCCESS", "no error"}},
    {INVALID_VALUE, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {OUT_OF_MEMORY, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {NOT_INITIALIZED, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {DEINITIALIZED, {"CUDA_ERROR_DEINITIALIZED", "driver shutting down"}},
    {DEVICE_UNAVAILABLE, {"CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"}},
    {NO_DEVICE, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {INVALID_DEVICE, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {INVALID_IMAGE, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {INVALID_CONTEXT, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {NO_BINARY_FOR_GPU, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"}},
    {PEER_ACCESS_UNSUPPORTED,
     {"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"}},
    {INVALID_HANDLE, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {NOT_FOUND_STATUS, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {NOT_READY, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {ILLEGAL_ADDRESS, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {MISALIGNED_ADDRESS, {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"}},
    {LAUNCH_OUT_OF_RESOURCES, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
    {PEER_ACCESS_ALREADY_ENABLED, {"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"}},
    {PEER_ACCESS_NOT_ENABLED, {"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"}},
    {CONTEXT_IS_DESTROYED, {"CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"}},
    {LAUNCH_FAILED, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
    {NOT_SUPPORTED, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
    {STREAM_CAPTURE_UNSUPPORTED,
     {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"}},
    {UNKNOWN, {"CUDA_ERROR_UNKNOWN", "unknown error"}},
};

// ---- reports and counts

// One lock for all books. Work on streams is done without it.
//
// The books are never destroyed: they are looked at when the process ends.
std::recursive_mutex& books = *new std::recursive_mutex;
using Lock = std::lock_guard<std::recursive_mutex>;

std::string& misuses = *new std::string;
int misuse_count = 0;

void misuse(const std::string& what) {
    Lock lock(books);
    ++misuse_count;
    misuses += what + "\n";
    fprintf(stderr, "stand-in for CUDA: %s\n", what.c_str());
}

const char* environment(const char* name, const char* otherwise) {
    const char* value = getenv(name);
    return value && *value ? value : otherwise;
}

struct Settings {
    int devices = atoi(environment("CUDA_STAND_IN_DEVICES", "1"));
    uint64_t memory = strtoull(environment("CUDA_STAND_IN_MEMORY", "1073741824"), nullptr, 10);
    uint64_t seed = strtoull(environment("CUDA_STAND_IN_SEED", "1"), nullptr, 10);
    int version = atoi(environment("CUDA_STAND_IN_VERSION", "12090"));
    int multiprocessors = atoi(environment("CUDA_STAND_IN_MULTIPROCESSORS", "4"));
    bool peers = atoi(environment("CUDA_STAND_IN_PEERS", "1")) != 0;
    bool ipc = atoi(environment("CUDA_STAND_IN_IPC", "1")) != 0;  // whether memory of other processes can be reached
    bool trace = *environment("CUDA_STAND_IN_TRACE", "") != 0;
    float speed = strtof(environment("CUDA_STAND_IN_SPEED", "1"), nullptr);
    int major = 9, minor = 0;
    Settings() {
        sscanf(environment("CUDA_STAND_IN_CAPABILITY", "9.0"), "%d.%d", &major, &minor);
        const char* visible = getenv("CUDA_VISIBLE_DEVICES");
        if (visible && (!*visible || strcmp(visible, "-1") == 0)) devices = 0;
        if (devices > MAX_DEVICES) devices = MAX_DEVICES;
    }
};

const Settings& settings() {
    static const Settings all;
    return all;
}

// ---- faults

enum Mode { ONCE, FROM_THEN_ON, STICKY, LOST };

struct Fault {
    long in = 0;  // calls until it comes; 0 for none
    CUresult status = SUCCESS;
    Mode mode = ONCE;
    std::string function;  // only calls of this one count, unless it is empty
};

Fault& fault = *new Fault;
std::atomic<CUresult> lost[MAX_DEVICES] = {};
CUresult always = SUCCESS;
long calls = 0;
// The names of the calls, kept once a test has set their count back: else a long process would grow by them.
bool named = false;
std::vector<const char*>& names = *new std::vector<const char*>;
// And the module and kernel of each launch. A name that was passed on stays.
std::map<size_t, const std::string*>& launched = *new std::map<size_t, const std::string*>;
std::set<std::string>& kernels_told = *new std::set<std::string>;

// ---- objects

struct Executor;
struct Stream;

struct Allocation {
    uint64_t address, bytes, first_page, pages;
};

struct Context {
    int device;
    bool primary;
    int uses = 0;
    uint64_t id = 0;
    std::atomic<CUresult> status{SUCCESS};
    std::string why;
    std::unique_ptr<Executor> executor;
    std::map<uint64_t, Allocation> memory, pinned;
    std::set<Stream*> streams;
    Stream* null_stream = nullptr;
    std::set<struct Module*> modules;
    std::set<struct Event*> events, gone;
    std::set<std::pair<uint64_t, uint64_t>> watched;  // addresses and bytes of its memory that copies have exchanged
    std::set<struct Graph*> graphs;
    std::set<struct Exec*> execs;
    std::set<Context*> peers;  // whose memory its kernels may reach
};

// Part of each stream's work that is ordered before something: the stream's number and its last op's, sorted by stream.
using Clock = std::vector<std::pair<uint64_t, uint64_t>>;

// Bytes that work reads or writes.
struct Span {
    uint64_t from, to;
    bool writes;
};

struct Turn;

struct Op {
    std::function<CUresult(const Turn&)> work;
    std::vector<uint64_t> uses;  // addresses of memory that it reads or writes
    std::vector<Span> spans;     // what of it, exactly, where that is known
    bool between = false;        // two devices
    std::set<Context*> reaches;  // whose memory it needs access to
    bool always = false;         // done in a context that is broken, too
    struct Module* module = nullptr;
    struct Graph* graph = nullptr;
    const char* name;
    // For a launch: the command, so that a graph can recognise equal launches.
    struct Executor* executor = nullptr;
    std::shared_ptr<const Command> launch;
};

// Work that was submitted: a graph submits the same again.
struct Turn {
    std::shared_ptr<Op> op;
    uint64_t stream = 0, number = 0;
    std::shared_ptr<const Clock> after;  // with itself
    Context* context = nullptr;
};

struct Stream {
    Context* context;
    std::shared_ptr<Stream> self;  // until it is destroyed; who waits for it keeps it
    std::thread thread;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Turn> queue;  // the first is under way
    uint64_t submitted = 0, done = 0;
    bool ending = false;
    std::mt19937_64 delays;
    struct Graph* capturing = nullptr;
    uint64_t id = 0;
    Clock clock;          // of what is submitted next
    uint64_t looked = 0;  // how often the host had seen something when this clock last learned of it
};

// A point in a stream. It belongs to all who wait for it: the event may be recorded anew or destroyed, and its context
// end, while they do.
struct Mark {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
    std::chrono::steady_clock::time_point when;
    std::shared_ptr<const Clock> clock;  // of several devices

    bool is_over() {
        std::lock_guard<std::mutex> lock(mutex);
        return over;
    }
    void wait() {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return over; });
    }
};

struct Event {
    Context* context;
    bool timing;
    std::shared_ptr<Mark> last;  // that was recorded; none before
};

struct Function {
    struct Module* module;
    std::string name;
    uint64_t address;
    uint32_t argument_bytes;
    uint32_t arguments;
    uint32_t most_threads;
    uint32_t static_shared;
    uint32_t most_shared;  // that a launch may ask for, with the static
};

struct Module {
    Context* context;
    uint32_t number;
    std::string name;        // in modules.txt
    bool generated = false;  // made at run time: its PTX is interpreted
    std::map<std::string, Function> functions;
    std::map<std::string, Allocation> symbols;
};

struct Link {
    std::string text;
};

struct Graph {
    Context* context;
    std::vector<std::shared_ptr<Op>> ops;
};

struct Exec {
    Context* context;
    std::vector<std::shared_ptr<Op>> ops;
};

bool initialised = false;

// As the driver, which ends with the handlers that ran at the exit before its own: those registered behind cuInit.
std::atomic<bool> ended{false};
int device_files[MAX_DEVICES + MAX_FOREIGN], pinned_file = -1;
// The devices of other processes whose memory was imported: which process, and which of its files.
std::vector<std::pair<int, int>> foreign;
uint64_t next_address[MAX_DEVICES], next_pinned = PINNED_BASE + PAGE;
uint64_t allocated[MAX_DEVICES];
std::set<Context*>& contexts = *new std::set<Context*>;
std::set<Link*>& links = *new std::set<Link*>;
Context* primary[MAX_DEVICES] = {};
uint32_t next_module = 1;
uint64_t next_context = 1;
uint64_t next_stream = 0;
thread_local Context* current = nullptr;
std::atomic<bool> forked{false};

template <class T>
bool is_one_of(const std::set<T*>& all, const void* one) {
    return all.count(static_cast<T*>(const_cast<void*>(one))) > 0;
}

std::string hex(uint64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%#lx", (unsigned long)number);
    return text;
}

// ---- a call

// True if a function makes something: exhausted resources stay so for these, while waits and releases go on.
bool acquires(const char* name) {
    static const char* const ALL[] = {"cuDevicePrimaryCtxRetain",
                                      "cuCtxCreate_v4",
                                      "cuMemAlloc_v2",
                                      "cuMemHostAlloc",
                                      "cuStreamCreate",
                                      "cuEventCreate",
                                      "cuModuleLoadData",
                                      "cuLinkCreate_v2",
                                      "cuLaunchKernel",
                                      "cuLaunchKernelEx",
                                      "cuStreamBeginCapture_v2",
                                      "cuGraphInstantiateWithFlags",
                                      "cuGraphLaunch",
                                      "cuCtxEnablePeerAccess"};
    for (const char* one : ALL) {
        if (strcmp(one, name) == 0) return true;
    }
    return false;
}

// Every function of the driver begins with one of these: it counts the call, and says whether it is to fail.
struct Call {
    const char* name;
    size_t number = 0;
    CUresult injected = SUCCESS;

    explicit Call(const char* name) : name(name) {
        if (forked) {
            fprintf(stderr, "stand-in for CUDA: %s was called in a process that was forked\n", name);
            _exit(87);
        }
        if (ended) {
            injected = DEINITIALIZED;
            return;
        }
        Lock lock(books);
        ++calls;
        if (named) {
            number = names.size();
            names.push_back(name);
        }
        if (always != SUCCESS && acquires(name)) injected = always;
        if (fault.in > 0 && (fault.function.empty() || fault.function == name) && --fault.in == 0) {
            injected = fault.status;
            if (fault.mode == FROM_THEN_ON) always = fault.status;
            if (fault.mode == STICKY && current && contexts.count(current)) {
                break_down(*current, fault.status, "as it was told to");
            }
            if (fault.mode == LOST) {
                for (auto& one : lost) one = fault.status;
                for (Context* context : contexts) break_down(*context, fault.status, "as it was told to");
            }
        }
    }

    // The current context, if the call may go on in it.
    CUresult enter(Context*& context) const {
        if (injected != SUCCESS) return injected;
        context = current;
        if (!context || !contexts.count(context)) return INVALID_CONTEXT;
        return context->status;
    }

    static void break_down(Context& context, CUresult status, const std::string& why);
};

void Call::break_down(Context& context, CUresult status, const std::string& why) {
    Lock lock(books);
    CUresult none = SUCCESS;
    if (context.status.compare_exchange_strong(none, status)) context.why = why;
}

// ---- the executor

std::string folder() {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&folder), &info);
    const std::string path = info.dli_fname;
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

struct Executor {
    Context& context;
    pid_t process = -1;
    int socket = -1;
    std::mutex mutex;
    // Commands to send before anything else, queued by callers that do not wait for a launch.
    std::mutex of_pending;
    std::vector<Command> pending;

    explicit Executor(Context& context) : context(context) {}

    bool start() {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return false;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        // First far away from the numbers that they are to have.
        const int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 100);
        close(pair[1]);
        posix_spawn_file_actions_adddup2(&actions, theirs, SOCKET_FILE);
        posix_spawn_file_actions_adddup2(&actions, pinned_file, PINNED_FILE);
        for (int i = 0; i < settings().devices; ++i) {
            posix_spawn_file_actions_adddup2(&actions, device_files[i], FIRST_DEVICE_FILE + i);
        }
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        // Not interrupted with the host by Ctrl-C, and with no signal blocked that the host may have blocked.
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        const std::string program = folder() + "/executor";
        std::vector<char*> variables;
        // The executor does not use the library's search path: a sanitizer's own libraries must be the system's.
        for (char** one = environ; *one; ++one) {
            if (strncmp(*one, "LD_", 3) != 0) variables.push_back(*one);
        }
        char options[] = "ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:allow_user_segv_handler=1";
        variables.push_back(options);
        variables.push_back(nullptr);
        char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
        const int failed = posix_spawn(&process, program.c_str(), &actions, &attributes, arguments, variables.data());
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        close(theirs);
        socket = pair[0];
        if (failed) {
            fprintf(stderr, "stand-in for CUDA: %s does not start: %s\n", program.c_str(), strerror(failed));
            process = -1;
            return false;
        }
        Command seed = {};
        seed.kind = SEED;
        seed.address = settings().seed;
        return ask(seed).status == SUCCESS;
    }

    ~Executor() {
        if (socket >= 0) close(socket);
        if (process > 0) {
            int status;
            while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
        }
    }

    Answer ask(const Command& command) {
        std::lock_guard<std::mutex> lock(mutex);
        tell_pending();
        return exchange(command);
    }

    // Without an answer: immediately if nothing runs, and else before the next command.
    void tell(const Command& command) {
        {
            std::lock_guard<std::mutex> lock(of_pending);
            pending.push_back(command);
        }
        if (std::unique_lock<std::mutex> lock(mutex, std::try_to_lock); lock) tell_pending();
    }

private:
    void tell_pending() {
        std::vector<Command> now;
        {
            std::lock_guard<std::mutex> lock(of_pending);
            now.swap(pending);
        }
        for (const Command& one : now) exchange(one);
    }

    Answer exchange(const Command& command) {
        Answer told = {};
        const size_t bytes = sizeof command - (MAX_ARGUMENT - (command.kind == LAUNCH ? command.bytes : 0));
        ssize_t got = -1;
        if (send(socket, &command, bytes, MSG_NOSIGNAL) == (ssize_t)bytes) {
            while ((got = recv(socket, &told, sizeof told, 0)) < 0 && errno == EINTR) {}
        }
        if (got != (ssize_t)sizeof told) {
            told = {};
            told.status = ILLEGAL_ADDRESS;
            snprintf(told.text, sizeof told.text, "the executor has ended");
        }
        return told;
    }
};

// True for memory of another process's device.
bool is_foreign(uint64_t address) { return address >= DEVICE_BASE + MAX_DEVICES * DEVICE_RANGE; }

std::string path_of(int process, int file) {
    return "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
}

std::string path_of(uint64_t address) {
    const auto [process, file] = foreign[(address - DEVICE_BASE) / DEVICE_RANGE - MAX_DEVICES];
    return path_of(process, file);
}

void tell_range(Context& context, uint64_t address, uint64_t bytes, Kind kind) {
    if (!context.executor) return;
    Command command = {};
    command.kind = kind;
    command.address = address;
    command.bytes = bytes;
    if (kind == MAP && is_foreign(address)) snprintf(command.text, sizeof command.text, "%s", path_of(address).c_str());
    context.executor->tell(command);
}

void tell_map(Context& context, const Allocation& allocation, Kind kind) {
    tell_range(context, allocation.address, allocation.bytes, kind);
}

// The executor of a context, started when first needed.
Executor* executor_of(Context& context) {
    Lock lock(books);
    if (context.executor) return context.executor.get();
    context.executor = std::make_unique<Executor>(context);
    if (!context.executor->start()) {
        context.executor.reset();
        return nullptr;
    }
    for (const auto& [address, allocation] : context.memory) tell_map(context, allocation, MAP);
    for (Context* peer : context.peers) {
        for (const auto& [address, allocation] : peer->memory) tell_map(context, allocation, MAP);
    }
    for (Context* any : contexts) {
        for (const auto& [address, allocation] : any->pinned) tell_map(context, allocation, MAP);
    }
    for (const auto& [address, bytes] : context.watched) tell_range(context, address, bytes, WATCH);
    return context.executor.get();
}

// ---- memory

bool is_device(uint64_t address) {
    return address >= DEVICE_BASE && address < DEVICE_BASE + (MAX_DEVICES + MAX_FOREIGN) * DEVICE_RANGE;
}

const Allocation* find(const std::map<uint64_t, Allocation>& all, uint64_t address) {
    auto behind = all.upper_bound(address);
    if (behind == all.begin()) return nullptr;
    const Allocation& one = std::prev(behind)->second;
    return address < one.address + one.bytes ? &one : nullptr;
}

// The allocation of any context that has all of these bytes.
const Allocation* holds(uint64_t address, uint64_t bytes, Context** of = nullptr) {
    for (Context* context : contexts) {
        const Allocation* one = find(is_device(address) ? context->memory : context->pinned, address);
        if (one && address + bytes <= one->address + one->bytes) {
            if (of) *of = context;
            return one;
        }
    }
    return nullptr;
}

bool is_pinned(const void* address, uint64_t bytes) {
    const auto at = (uint64_t)address;
    return at >= PINNED_BASE && at < DEVICE_BASE && holds(at, bytes);
}

// Reads or writes a device's memory as the copy engine does.
bool transfer(uint64_t device_address, void* host, uint64_t bytes, bool to_device) {
    const int device = (int)((device_address - DEVICE_BASE) / DEVICE_RANGE);
    auto offset = (off_t)(device_address - DEVICE_BASE - device * DEVICE_RANGE);
    auto* at = static_cast<char*>(host);
    while (bytes > 0) {
        const int file = device_files[device];
        const ssize_t done = to_device ? pwrite(file, at, bytes, offset) : pread(file, at, bytes, offset);
        if (done <= 0) return false;
        at += done;
        offset += done;
        bytes -= (uint64_t)done;
    }
    return true;
}

// Fills new memory: with NaN of either class, which is not a valid index either.
void fill_new(uint64_t address, uint64_t bytes) {
    // Very large memory is filled at both ends.
    constexpr uint64_t MOST = 8 << 20;
    static const std::vector<char> pattern(1 << 20, (char)0xff);
    for (uint64_t done = 0; done < bytes; done += pattern.size()) {
        if (bytes > 2 * MOST && done == MOST) done = (bytes - MOST) / PAGE * PAGE;
        const uint64_t part = bytes - done < pattern.size() ? bytes - done : pattern.size();
        transfer(address + done, const_cast<char*>(pattern.data()), part, true);
    }
}

Allocation new_device_memory(Context& context, uint64_t bytes) {
    const int device = context.device;
    // The driver aligns to 256 bytes: so far the end may be from the page that cannot be reached.
    const uint64_t room = (bytes + 255) / 256 * 256;
    const uint64_t pages = (room + PAGE - 1) / PAGE * PAGE;
    Allocation one = {next_address[device] + pages - room, bytes, next_address[device], pages};
    next_address[device] += pages + 16 * PAGE;
    allocated[device] += pages;
    fill_new(one.address, room);
    return one;
}

// Checks that the bytes between the end of an allocation and the end of its last page are unchanged.
void check_end(const Allocation& one) {
    char rest[256];
    const uint64_t bytes = one.first_page + one.pages - one.address - one.bytes;
    transfer(one.address + one.bytes, rest, bytes, false);
    for (uint64_t i = 0; i < bytes; ++i) {
        if (rest[i] != (char)0xff) {
            misuse("something was written " + std::to_string(i) + " bytes behind the end of " + hex(one.address) +
                   ", which has " + std::to_string(one.bytes));
            return;
        }
    }
}

void give_back(Context& context, const Allocation& one) {
    if (!is_foreign(one.address)) {
        check_end(one);
        const int device = context.device;
        fallocate(device_files[device], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(one.first_page - DEVICE_BASE - device * DEVICE_RANGE), (off_t)one.pages);
        allocated[device] -= one.pages;
    }
    tell_map(context, one, UNMAP);
    context.watched.erase(context.watched.lower_bound({one.address, 0}),
                          context.watched.lower_bound({one.address + one.bytes, 0}));
    for (Context* other : contexts) {
        if (other != &context && other->peers.count(&context)) tell_map(*other, one, UNMAP);
    }
}

void give_back_pinned(const Allocation& one) {
    munmap((void*)one.address, one.pages);
    fallocate(pinned_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(one.address - PINNED_BASE),
              (off_t)one.pages);
    for (Context* context : contexts) tell_map(*context, one, UNMAP);
}

// Checks that no work of a living context uses an object that is about to be freed.
void check_unused(Context& context, const char* what, const std::function<bool(const Op&)>& uses) {
    if (context.status != SUCCESS) return;
    for (Stream* stream : context.streams) {
        std::lock_guard<std::mutex> lock(stream->mutex);
        for (const auto& turn : stream->queue) {
            if (uses(*turn.op)) misuse(std::string(what) + " while a " + turn.op->name + " that uses it has not ended");
        }
    }
}

// Checks every context: copies are between two.
void check_unused_memory(const char* what, const Allocation& one) {
    for (Context* context : contexts) {
        check_unused(*context, what, [&](const Op& op) {
            for (uint64_t address : op.uses) {
                if (address >= one.address && address < one.address + one.bytes) return true;
            }
            return false;
        });
    }
}

// ---- unordered work

// Work of one device, and of two, is reported if nothing orders it and it conflicts in memory. The criterion is the
// order of submission and of waits, so it does not matter when it ran. Work that any thread of the host has seen
// finished is before all that is submitted later, by any thread. Work of a broken context is not done.

bool several() { return settings().devices > 1; }

Clock& seen = *new Clock;  // by the host
uint64_t looks = 0;        // how often that changed

// True for each living stream, by its number. Ended streams are dropped from clocks: else these would grow for ever,
// and all work copies them.
std::vector<bool>& living = *new std::vector<bool>;

uint64_t last_of(const Clock& clock, uint64_t stream) {
    const auto found = std::lower_bound(clock.begin(), clock.end(), std::make_pair(stream, (uint64_t)0));
    return found != clock.end() && found->first == stream ? found->second : 0;
}

void come_after(Clock& clock, const Clock& other) {
    Clock both;
    both.reserve(clock.size() + other.size());
    const auto learn = [&](const std::pair<uint64_t, uint64_t>& known) {
        if (!living[known.first]) return;
        if (both.empty() || both.back().first != known.first)
            both.push_back(known);
        else
            both.back().second = std::max(both.back().second, known.second);
    };
    auto mine = clock.begin();
    for (const auto& known : other) {
        while (mine != clock.end() && mine->first <= known.first) learn(*mine++);
        learn(known);
    }
    while (mine != clock.end()) learn(*mine++);
    clock.swap(both);
}

// The host has seen the end of work with this clock.
void see(const Clock& clock) {
    come_after(seen, clock);
    ++looks;
}

struct Access {
    Span span;
    const char* name;
    const Context* context;  // of a stream that has not ended
    bool between;
    uint64_t stream, number;
    std::shared_ptr<const Clock> after;

    bool is_before(const Access& other) const { return number <= last_of(*other.after, stream); }
    bool meets(const Access& other) const {
        return span.from < other.span.to && other.span.from < span.to && (span.writes || other.span.writes) &&
               (between || other.between || context != other.context) && !is_before(other) && !other.is_before(*this) &&
               context->status == SUCCESS && other.context->status == SUCCESS;
    }
};

// The last ones: who exchanges for long without ever looking is compared with these.
std::deque<Access>& accesses = *new std::deque<Access>;
constexpr size_t MOST_ACCESSES = 1024;

void note(const Turn& turn, const std::vector<Span>& spans) {
    for (const Span& span : spans) {
        const Access one = {span, turn.op->name, turn.context, turn.op->between, turn.stream, turn.number, turn.after};
        for (const Access& other : accesses) {
            if (!one.meets(other)) continue;
            misuse("a " + std::string(other.name) + " that " + (other.span.writes ? "writes" : "reads") + " " +
                   hex(other.span.from) + " to " + hex(other.span.to) + " and a " + one.name + " that " +
                   (span.writes ? "writes" : "reads") + " " + hex(span.from) + " to " + hex(span.to) +
                   " with nothing that orders them");
            break;
        }
        accesses.push_back(one);
        if (accesses.size() > MOST_ACCESSES) accesses.pop_front();
    }
}

// A stream that has ended, with all its work.
void forget(uint64_t stream) {
    living[stream] = false;
    const auto goes = [&](const Access& one) { return one.stream == stream; };
    accesses.erase(std::remove_if(accesses.begin(), accesses.end(), goes), accesses.end());
}

// ---- streams

void work_off(Stream& stream) {
    pthread_setname_np(pthread_self(), "stand-in stream");
    // With several devices, one of them falls far behind the others now and then.
    const unsigned int latest = several() ? 2000 : 200;
    std::unique_lock<std::mutex> lock(stream.mutex);
    for (;;) {
        stream.changed.wait(lock, [&] { return stream.ending || !stream.queue.empty(); });
        if (stream.queue.empty()) return;
        const Turn turn = stream.queue.front();
        lock.unlock();
        if (stream.context->status == SUCCESS) {
            // Half of the time immediately, now and then so late that a host which did not wait has finished.
            const uint64_t draw = stream.delays();
            if (draw % 2 == 0) {
                if (draw % 32 == 0)
                    usleep((useconds_t)(draw >> 32) % latest);
                else
                    std::this_thread::yield();
            }
            const CUresult status = turn.op->work(turn);
            if (status != SUCCESS) Call::break_down(*stream.context, status, turn.op->name);
        } else if (turn.op->always) {
            turn.op->work(turn);
        }
        lock.lock();
        stream.queue.pop_front();
        ++stream.done;
        stream.changed.notify_all();
    }
}

Stream* new_stream(Context& context) {
    auto stream = std::make_shared<Stream>();
    stream->context = &context;
    stream->id = next_stream;
    stream->delays.seed(settings().seed * 1000003 + next_stream++);
    try {
        stream->thread = std::thread(work_off, std::ref(*stream));
    } catch (const std::system_error&) {
        return nullptr;
    }
    context.streams.insert(stream.get());
    living.resize(next_stream);
    living[stream->id] = true;
    stream->self = stream;
    return stream.get();
}

// The books must not be held: its work may need them.
void end_stream(Stream* stream) {
    {
        std::lock_guard<std::mutex> lock(stream->mutex);
        stream->ending = true;
        stream->changed.notify_all();
    }
    stream->thread.join();
    Lock lock(books);
    forget(stream->id);
    stream->self.reset();
}

void submit(Stream& stream, std::shared_ptr<Op> op) {
    if (stream.capturing) {
        stream.capturing->ops.push_back(std::move(op));
        return;
    }
    Turn turn;
    turn.op = std::move(op);
    turn.context = stream.context;
    if (several()) {
        turn.stream = stream.id;
        turn.number = stream.submitted + 1;
        if (stream.looked != looks) come_after(stream.clock, seen);
        stream.looked = looks;
        come_after(stream.clock, {{stream.id, turn.number}});
        turn.after = std::make_shared<Clock>(stream.clock);
        note(turn, turn.op->spans);
    }
    std::lock_guard<std::mutex> lock(stream.mutex);
    ++stream.submitted;
    stream.queue.push_back(std::move(turn));
    stream.changed.notify_all();
}

// Condition of a host's wait for a stream: all that was submitted until now, and no more.
struct Wait {
    std::shared_ptr<Stream> stream;
    uint64_t until;
    Clock clock;

    explicit Wait(Stream& of) : stream(of.self), until(of.submitted), clock(of.clock) {}

    // The books must not be held.
    void wait() const {
        {
            std::unique_lock<std::mutex> lock(stream->mutex);
            stream->changed.wait(lock, [&] { return stream->done >= until; });
        }
        Lock lock(books);
        see(clock);
    }
};

// The stream of this handle in this context; the null stream is made when it is first used.
CUresult stream_of(Context& context, void* handle, Stream*& stream) {
    if (!handle) {
        if (!context.null_stream) {
            context.null_stream = new_stream(context);
            if (!context.null_stream) return OUT_OF_MEMORY;
        }
        stream = context.null_stream;
        return SUCCESS;
    }
    stream = static_cast<Stream*>(handle);
    if (is_one_of(context.streams, handle)) return SUCCESS;
    misuse("a stream that is none of the current context's");
    return INVALID_HANDLE;
}

// ---- contexts

void empty(Context* context);

void end_context(Context* context) {
    std::vector<Stream*> streams;
    {
        Lock lock(books);
        if (context->status == SUCCESS) {
            const auto left = [&](size_t count, const char* what) {
                if (count > 0) misuse(std::to_string(count) + " " + what + " alive when their context ended");
            };
            left(context->memory.size(), "allocations were");
            left(context->pinned.size(), "page-locked allocations were");
            left(context->streams.size() - (context->null_stream ? 1 : 0), "streams were");
            left(context->modules.size(), "modules were");
            left(context->events.size(), "events were");
            left(context->graphs.size() + context->execs.size(), "graphs were");
        }
        streams.assign(context->streams.begin(), context->streams.end());
        context->streams.clear();
    }
    for (Stream* stream : streams) end_stream(stream);
    Lock lock(books);
    contexts.erase(context);
    empty(context);
    if (current == context) current = nullptr;
    delete context;
}

// Takes all out of a context whose streams have ended.
void empty(Context* context) {
    context->executor.reset();
    for (const auto& [address, one] : context->memory) {
        check_unused_memory("the end of its context", one);
        give_back(*context, one);
    }
    for (const auto& [address, one] : context->pinned) {
        check_unused_memory("the end of its context", one);
        give_back_pinned(one);
    }
    for (Context* other : contexts) other->peers.erase(context);
    for (Module* module : context->modules) delete module;
    for (Event* event : context->events) delete event;
    for (Event* event : context->gone) delete event;
    for (Graph* graph : context->graphs) delete graph;
    for (Exec* exec : context->execs) delete exec;
    context->memory.clear();
    context->pinned.clear();
    context->streams.clear();
    context->null_stream = nullptr;
    context->modules.clear();
    context->events.clear();
    context->gone.clear();
    context->graphs.clear();
    context->execs.clear();
    context->peers.clear();
    context->watched.clear();
}

Context* new_context(int device, bool is_primary) {
    auto* context = new Context;
    context->device = device;
    context->primary = is_primary;
    context->id = next_context++;
    contexts.insert(context);
    return context;
}

// ---- modules

// POSIX's cksum, by which kernels/INDEX lists the modules' PTX.
uint32_t cksum(const char* text, size_t length) {
    const auto next = [](uint32_t sum, unsigned char byte) {
        sum ^= (uint32_t)byte << 24;
        for (int i = 0; i < 8; ++i) sum = sum << 1 ^ (sum >> 31 ? 0x04c11db7 : 0);
        return sum;
    };
    uint32_t sum = 0;
    for (size_t i = 0; i < length; ++i) sum = next(sum, (unsigned char)text[i]);
    for (size_t rest = length; rest > 0; rest >>= 8) sum = next(sum, (unsigned char)rest);
    return ~sum;
}

// The library that is compiled from the source of this PTX, and the reason where there is none.
std::string library_of(const std::string& text, std::string& why) {
    static std::map<std::pair<uint32_t, size_t>, std::string> index;
    if (index.empty()) {
        const std::string path = folder() + "/kernels/INDEX";
        FILE* file = fopen(path.c_str(), "r");
        unsigned int sum;
        unsigned long length;
        char name[256];
        while (file && fscanf(file, "%u %lu %255s", &sum, &length, name) == 3) index[{sum, length}] = name;
        if (file) fclose(file);
    }
    static const char FIXTURE[] = "// stand-in fixtures";
    const bool is_fixture = text.compare(0, sizeof FIXTURE - 1, FIXTURE) == 0;
    const auto found = index.find(is_fixture ? std::make_pair(0u, size_t{0})
                                             : std::make_pair(cksum(text.data(), text.size()), text.size()));
    if (found == index.end()) {
        why = "the stand-in was built from other PTX than this, or the text is none";
        return "";
    }
    return folder() + "/kernels/" + found->second + ".so";
}

uint64_t number_behind(const std::string& text, size_t at, char open) {
    const size_t from = text.find(open, at);
    return from == std::string::npos ? 0 : strtoull(text.c_str() + from + 1, nullptr, 10);
}

uint64_t size_of_type(const std::string& type) { return strtoull(type.c_str() + 2, nullptr, 10) / 8; }

// The bytes of a declaration such as `.align 8 .b8 name[168];` or `.align 4 .u32 name`; `line` is the rest after the
// state space.
bool declaration(const std::string& line, std::string& name, uint64_t& bytes) {
    size_t at = line.find(".align ");
    if (at == std::string::npos) return false;
    at = line.find(" .", at + 7);
    if (at == std::string::npos) return false;
    const size_t space = line.find(' ', at + 1);
    const std::string type = line.substr(at + 1, space - at - 1);
    const size_t end = line.find_first_of("[;= \n", space + 1);
    name = line.substr(space + 1, end - space - 1);
    bytes = size_of_type(type);
    if (end != std::string::npos && line[end] == '[') bytes *= number_behind(line, end, '[');
    return true;
}

// Reads the kernels and symbols from the text of a module.
void read_ptx(const std::string& text, std::map<std::string, Function>& functions,
              std::map<std::string, std::pair<uint64_t, bool>>& symbols) {
    Function* entry = nullptr;
    bool parameters = false;
    size_t from = 0;
    while (from < text.size()) {
        size_t end = text.find('\n', from);
        if (end == std::string::npos) end = text.size();
        const std::string line = text.substr(from, end - from);
        from = end + 1;
        std::string name;
        uint64_t bytes = 0;
        const auto begins = [&](const char* word) { return line.compare(0, strlen(word), word) == 0; };
        if (begins(".visible .entry ")) {
            const std::string entry_name = line.substr(16, line.find('(') - 16);
            entry = &functions[entry_name];
            entry->name = entry_name;
            entry->most_threads = 1024;
            entry->most_shared = 48 << 10;
            parameters = true;
        } else if (begins(")")) {
            // Later parameters belong to the functions that it calls.
            parameters = false;
        } else if (begins("\t.param ") && parameters && declaration(line, name, bytes)) {
            ++entry->arguments;
            entry->argument_bytes += (uint32_t)bytes;
        } else if (begins("\t.param ") && parameters) {
            // One that is no structure.
            entry->arguments += 2;
        } else if (begins(".maxntid ") && entry) {
            unsigned int x = 1, y = 1, z = 1;
            sscanf(line.c_str(), ".maxntid %u, %u, %u", &x, &y, &z);
            entry->most_threads = x * y * z;
        } else if (line.find(".shared .align") != std::string::npos && line.find(".extern") == std::string::npos &&
                   entry && declaration(line, name, bytes)) {
            entry->static_shared += (uint32_t)bytes;
        } else if ((begins(".const ") || begins(".global ")) && declaration(line, name, bytes) &&
                   name.compare(0, 2, "_Z") != 0) {
            symbols[name] = {bytes, begins(".global ")};
        }
    }
}

// Does as read_ptx for a module that is interpreted.
void list_generated(const ptx::Module& module, std::map<std::string, Function>& functions,
                    std::map<std::string, std::pair<uint64_t, bool>>& symbols) {
    for (const auto& kernel : module.kernels) {
        Function& function = functions[kernel.name];
        function.name = kernel.name;
        function.arguments = 1;
        function.argument_bytes = kernel.argument_bytes;
        function.most_threads = kernel.most_threads;
        function.most_shared = 48 << 10;
        function.static_shared = (uint32_t)module.shared_bytes;
    }
    for (const auto& symbol : module.symbols) {
        if (symbol.space != ptx::SHARED) symbols[symbol.name] = {symbol.bytes, symbol.space == ptx::GLOBAL};
    }
}

// A file in memory that holds a text.
int file_of(const std::string& text) {
    const int file = memfd_create("generated", MFD_CLOEXEC);
    if (file >= 0 && write(file, text.data(), text.size()) == (ssize_t)text.size()) return file;
    fprintf(stderr, "stand-in for CUDA: no file of %zu bytes\n", text.size());
    abort();
}

// Writes each text that was made at run time once to the folder that CUDA_STAND_IN_PTX names: tests/run gives them to
// an assembler.
void keep_generated(const std::string& text) {
    const char* folder = getenv("CUDA_STAND_IN_PTX");
    if (!folder || !*folder) return;
    char name[32];
    snprintf(name, sizeof name, "/%016zx.ptx", std::hash<std::string>()(text));
    const std::string path = folder + std::string(name);
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) return;
    const bool is_kept = file >= 0 && write(file, text.data(), text.size()) == (ssize_t)text.size();
    if (!is_kept) {
        fprintf(stderr, "stand-in for CUDA: %s cannot be written\n", path.c_str());
        abort();
    }
    close(file);
}

CUresult check(const char* name, CUresult status, const std::string& why) {
    if (status != SUCCESS) fprintf(stderr, "stand-in for CUDA: %s: %s\n", name, why.c_str());
    return status;
}

// ---- copies

Span reads(uint64_t from, uint64_t bytes) { return {from, from + bytes, false}; }
Span writes(uint64_t from, uint64_t bytes) { return {from, from + bytes, true}; }

CUresult copy_to_device(const char* name, uint64_t to, const void* from, uint64_t bytes, void* handle, bool waits) {
    Call call(name);
    std::unique_ptr<Wait> wait;
    {
        Lock lock(books);
        Context* context;
        if (CUresult status = call.enter(context)) return status;
        if (bytes == 0) return SUCCESS;
        const Allocation* target = holds(to, bytes);
        if (!is_device(to) || !target) {
            const std::string what = std::to_string(bytes) + " bytes to " + hex(to);
            return check(name, INVALID_VALUE, what + " are not in one allocation");
        }
        Stream* stream;
        if (CUresult status = stream_of(*context, handle, stream)) return status;
        auto op = std::make_shared<Op>();
        op->name = name;
        op->uses.push_back(to);
        op->spans.push_back(writes(to, bytes));
        if (is_pinned(from, bytes)) {
            op->uses.push_back((uint64_t)from);
            op->spans.push_back(reads((uint64_t)from, bytes));
            op->work = [=](const Turn&) {
                return transfer(to, const_cast<void*>(from), bytes, true) ? SUCCESS : (CUresult)ILLEGAL_ADDRESS;
            };
        } else {
            // Read now: when the call returns, the memory is the caller's again.
            auto copy = std::make_shared<std::vector<char>>((const char*)from, (const char*)from + bytes);
            op->work = [=](const Turn&) {
                return transfer(to, copy->data(), bytes, true) ? SUCCESS : (CUresult)ILLEGAL_ADDRESS;
            };
            waits = false;
        }
        submit(*stream, op);
        if (waits) wait = std::make_unique<Wait>(*stream);
    }
    if (wait) wait->wait();
    return SUCCESS;
}

CUresult copy_to_host(const char* name, void* to, uint64_t from, uint64_t bytes, void* handle, bool waits) {
    Call call(name);
    Context* context;
    std::unique_ptr<Wait> wait;
    {
        Lock lock(books);
        if (CUresult status = call.enter(context)) return status;
        if (bytes == 0) return SUCCESS;
        if (!is_device(from) || !holds(from, bytes)) {
            const std::string what = std::to_string(bytes) + " bytes from " + hex(from);
            return check(name, INVALID_VALUE, what + " are not in one allocation");
        }
        Stream* stream;
        if (CUresult status = stream_of(*context, handle, stream)) return status;
        auto op = std::make_shared<Op>();
        op->name = name;
        op->uses = {from, (uint64_t)to};
        op->spans = {reads(from, bytes), writes((uint64_t)to, bytes)};
        op->work = [=](const Turn&) { return transfer(from, to, bytes, false) ? SUCCESS : (CUresult)ILLEGAL_ADDRESS; };
        if (!is_pinned(to, bytes)) waits = true;
        if (waits && stream->capturing) return STREAM_CAPTURE_UNSUPPORTED;
        submit(*stream, op);
        if (waits) wait = std::make_unique<Wait>(*stream);
    }
    if (!wait) return SUCCESS;
    wait->wait();
    return context->status;
}

// From one place on the devices to another, in parts.
bool move_bytes(uint64_t to, uint64_t from, uint64_t bytes) {
    std::vector<char> part(std::min<uint64_t>(bytes, 1 << 20));
    for (uint64_t done = 0; done < bytes; done += part.size()) {
        const uint64_t now = std::min<uint64_t>(part.size(), bytes - done);
        if (!transfer(from + done, part.data(), now, false)) return false;
        if (!transfer(to + done, part.data(), now, true)) return false;
    }
    return true;
}

// Duration of a copy between devices, in microseconds: now and then so long that code which does not wait for it finds
// the pattern in its target, or has overwritten its source.
useconds_t time_on_the_way() {
    static std::mt19937_64 draws(settings().seed);
    const uint64_t draw = draws();
    return draw % 2 ? 0 : (useconds_t)((draw >> 32) % 1000);
}

// If the devices reach each other, the source is read as late as the target is written; else it goes to a buffer of the
// driver's first.
CUresult copy_between(uint64_t to, uint64_t from, uint64_t bytes, bool staged, useconds_t time) {
    std::vector<char> stage(staged ? bytes : 0);
    if (staged && !transfer(from, stage.data(), bytes, false)) return ILLEGAL_ADDRESS;
    const std::vector<char> pattern(bytes, (char)0xff);
    if (!transfer(to, const_cast<char*>(pattern.data()), bytes, true)) return ILLEGAL_ADDRESS;
    if (time > 0) usleep(time);
    const bool done = staged ? transfer(to, stage.data(), bytes, true) : move_bytes(to, from, bytes);
    return done ? SUCCESS : (CUresult)ILLEGAL_ADDRESS;
}

// From now on launches report their accesses to these bytes.
void watch(Context& owner, uint64_t address, uint64_t bytes) {
    if (owner.watched.insert({address, bytes}).second) tell_range(owner, address, bytes, WATCH);
}

// The copy between two places on devices, of the contexts that own them.
std::shared_ptr<Op> copy_op(const char* name, uint64_t to, Context& to_owner, uint64_t from, Context& from_owner,
                            uint64_t bytes, bool staged) {
    auto op = std::make_shared<Op>();
    op->name = name;
    op->uses = {from, to};
    op->spans = {reads(from, bytes), writes(to, bytes)};
    op->between = &to_owner != &from_owner;
    if (!op->between) {
        op->work = [=](const Turn&) -> CUresult {
            return move_bytes(to, from, bytes) ? SUCCESS : (CUresult)ILLEGAL_ADDRESS;
        };
        return op;
    }
    watch(to_owner, to, bytes);
    watch(from_owner, from, bytes);
    const useconds_t time = time_on_the_way();
    op->work = [=](const Turn&) { return copy_between(to, from, bytes, staged, time); };
    return op;
}

// True if work of this context reaches the memory of that one by its address.
bool reaches(const Context& context, Context* owner) {
    return owner->device == context.device || context.peers.count(owner) > 0;
}

// Describes the objects that are alive.
std::string alive() {
    Lock lock(books);
    std::string all;
    const auto say = [&](size_t count, const char* what) {
        if (count > 0) all += std::to_string(count) + " " + what + ", ";
    };
    size_t memory = 0, pinned = 0, streams = 0, modules = 0, events = 0, graphs = 0;
    for (Context* context : contexts) {
        memory += context->memory.size();
        pinned += context->pinned.size();
        streams += context->streams.size() - (context->null_stream ? 1 : 0);
        modules += context->modules.size();
        events += context->events.size();
        graphs += context->graphs.size() + context->execs.size();
    }
    say(contexts.size(), "contexts");
    say(memory, "allocations");
    say(pinned, "page-locked allocations");
    say(streams, "streams");
    say(modules, "modules");
    say(events, "events");
    say(graphs, "graphs");
    if (!all.empty()) all.resize(all.size() - 2);
    return all;
}

__attribute__((destructor)) void at_exit() {
    if (forked) return;
    const std::string left = alive();
    if (!left.empty()) {
        fprintf(stderr, "stand-in for CUDA: at the end of the process there are alive: %s\n", left.c_str());
    }
    if (misuse_count > 0) fprintf(stderr, "stand-in for CUDA: %d misuses in all\n", misuse_count);
    if (!left.empty() || misuse_count > 0) {
        fflush(nullptr);
        _exit(86);
    }
}

__attribute__((constructor)) void at_start() {
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

void put(const std::string& text, char* to, size_t room) {
    if (room == 0) return;
    const size_t length = std::min(room - 1, text.size());
    memcpy(to, text.data(), length);
    to[length] = 0;
}

}  // namespace

// ---- for tests

// Number of calls since the last reset; queries of errors or versions do not count.
EXPORT long stand_in_calls() {
    Lock lock(books);
    return calls;
}

// The name of a call since the last reset, from 0. Before the first reset none is kept.
EXPORT const char* stand_in_call(long number) {
    Lock lock(books);
    return number >= 0 && (size_t)number < names.size() ? names[(size_t)number] : "";
}

// The module's name and the kernel's, with a slash between, that a call launches; nothing where it launches none.
EXPORT const char* stand_in_kernel(long number) {
    Lock lock(books);
    const auto found = launched.find((size_t)number);
    return found != launched.end() ? found->second->c_str() : "";
}

// Makes the `in`th call from now fail (of `function`, if it is not null). Mode 0: once; 1: and every later call that
// makes something; 2: the context's state from then on; 3: the device's, until `stand_in_heal`.
EXPORT void stand_in_fail(const char* function, long in, int status, int mode) {
    Lock lock(books);
    fault = {in, status, (Mode)mode, function ? function : ""};
}

// Forgets faults that have not come, and those that last. Contexts that are broken stay so.
EXPORT void stand_in_heal() {
    Lock lock(books);
    fault = {};
    always = SUCCESS;
    for (auto& one : lost) one = SUCCESS;
}

// Sets the count of calls back.
EXPORT void stand_in_reset() {
    Lock lock(books);
    calls = 0;
    named = true;
    names.clear();
    launched.clear();
}

// Writes each module and kernel that was launched as a line to the file that CUDA_STAND_IN_KERNELS names, at the end of
// a process: tests/run checks by them that some test launches every kernel.
__attribute__((destructor)) static void tell_kernels() {
    const char* path = getenv("CUDA_STAND_IN_KERNELS");
    FILE* file = path && *path ? fopen(path, "a") : nullptr;
    if (!file) return;
    std::string lines;
    for (const std::string& kernel : kernels_told) lines += kernel + "\n";
    fwrite(lines.data(), 1, lines.size(), file);
    fclose(file);
}

// Describes the objects that are alive; empty if there are none.
EXPORT void stand_in_alive(char* to, size_t room) { put(alive(), to, room); }

// Number and text of the forbidden actions since the last query.
EXPORT int stand_in_misuse(char* to, size_t room) {
    Lock lock(books);
    put(misuses, to, room);
    const int count = misuse_count;
    misuse_count = 0;
    misuses.clear();
    return count;
}

// ---- the driver

EXPORT CUresult cuGetErrorName(CUresult status, const char** text) {
    const auto found = STATUSES.find(status);
    *text = found == STATUSES.end() ? nullptr : found->second.first;
    return *text ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cuGetErrorString(CUresult status, const char** text) {
    const auto found = STATUSES.find(status);
    *text = found == STATUSES.end() ? nullptr : found->second.second;
    return *text ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cuDriverGetVersion(int* version) {
    Call call("cuDriverGetVersion");
    if (call.injected) return call.injected;
    *version = settings().version;
    return SUCCESS;
}

EXPORT CUresult cuInit(unsigned int flags) {
    static const bool read = [] {
        long in;
        int status, mode;
        if (sscanf(environment("CUDA_STAND_IN_FAIL", ""), "%ld:%d:%d", &in, &status, &mode) == 3) {
            stand_in_fail(nullptr, in, status, mode);
        }
        return true;
    }();
    (void)read;
    Call call("cuInit");
    Lock lock(books);
    if (call.injected) return call.injected;
    if (flags != 0) return INVALID_VALUE;
    if (settings().devices == 0) return NO_DEVICE;
    if (initialised) return SUCCESS;
    const auto make = [](const char* name) {
        const int file = memfd_create(name, MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, (off_t)DEVICE_RANGE) != 0) return -1;
        // Out of the way of the numbers that the executor's files have.
        const int far = fcntl(file, F_DUPFD_CLOEXEC, 100);
        close(file);
        return far;
    };
    pinned_file = make("stand-in pinned memory");
    for (int i = 0; i < settings().devices; ++i) {
        device_files[i] = make("stand-in device memory");
        next_address[i] = DEVICE_BASE + i * DEVICE_RANGE + 16 * PAGE;
        if (device_files[i] < 0) return OUT_OF_MEMORY;
    }
    if (pinned_file < 0) return OUT_OF_MEMORY;
    if (atexit([] { ended = true; }) != 0) return OUT_OF_MEMORY;
    initialised = true;
    return SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int* count) {
    Call call("cuDeviceGetCount");
    if (call.injected) return call.injected;
    if (!initialised) return NOT_INITIALIZED;
    *count = settings().devices;
    return SUCCESS;
}

static CUresult check_device(const Call& call, int device) {
    if (call.injected) return call.injected;
    if (!initialised) return NOT_INITIALIZED;
    if (device < 0 || device >= settings().devices) return INVALID_DEVICE;
    return lost[device];
}

EXPORT CUresult cuDeviceGet(int* device, int ordinal) {
    Call call("cuDeviceGet");
    if (CUresult status = check_device(call, ordinal)) return status;
    *device = ordinal;
    return SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char* name, int length, int device) {
    Call call("cuDeviceGetName");
    if (CUresult status = check_device(call, device)) return status;
    put("Stand-in for CUDA", name, (size_t)length);
    return SUCCESS;
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, int device) {
    Call call("cuDeviceTotalMem_v2");
    if (CUresult status = check_device(call, device)) return status;
    *bytes = settings().memory;
    return SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int* value, int attribute, int device) {
    Call call("cuDeviceGetAttribute");
    if (CUresult status = check_device(call, device)) return status;
    switch (attribute) {
        case 1: *value = 1024; break;                         // MAX_THREADS_PER_BLOCK
        case 8: *value = 48 << 10; break;                     // MAX_SHARED_MEMORY_PER_BLOCK
        case 9: *value = 64 << 10; break;                     // TOTAL_CONSTANT_MEMORY
        case 10: *value = 32; break;                          // WARP_SIZE
        case 13: *value = 1000000; break;                     // CLOCK_RATE, kHz
        case 16: *value = settings().multiprocessors; break;  // MULTIPROCESSOR_COUNT
        case 38: *value = 4 << 20; break;                     // L2_CACHE_SIZE
        case 41: *value = 1; break;                           // UNIFIED_ADDRESSING
        case 75: *value = settings().major; break;            // COMPUTE_CAPABILITY_MAJOR
        case 76: *value = settings().minor; break;            // COMPUTE_CAPABILITY_MINOR
        case 115: *value = 0; break;                          // MEMORY_POOLS_SUPPORTED
        default:
            return check("cuDeviceGetAttribute", INVALID_VALUE,
                         "the stand-in has no attribute " + std::to_string(attribute));
    }
    return SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(Context** context, int device) {
    Call call("cuDevicePrimaryCtxRetain");
    Lock lock(books);
    if (CUresult status = check_device(call, device)) return status;
    if (!primary[device]) primary[device] = new_context(device, true);
    if (primary[device]->status == CONTEXT_IS_DESTROYED) {
        // It was reset: a new one under the old handle.
        primary[device]->id = next_context++;
        primary[device]->status = SUCCESS;
    }
    ++primary[device]->uses;
    *context = primary[device];
    return SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(int device) {
    Call call("cuDevicePrimaryCtxRelease_v2");
    Context* ending = nullptr;
    CUresult status;
    {
        Lock lock(books);
        if (device < 0 || device >= MAX_DEVICES || !primary[device]) {
            misuse("a primary context was released that nobody had retained");
            return INVALID_CONTEXT;
        }
        status = call.injected ? call.injected : primary[device]->status.load();
        if (--primary[device]->uses == 0) {
            ending = primary[device];
            primary[device] = nullptr;
        }
    }
    if (ending) end_context(ending);
    return status;
}

// As the driver does it: all objects of the context are gone, whoever made them. Its handle stays, and serves for the
// context that replaces it when it is next retained; so do the counts of those who have retained it. Some drivers crash
// if they get one of its streams: so any use of its objects is a misuse.
EXPORT CUresult cuDevicePrimaryCtxReset_v2(int device) {
    Call call("cuDevicePrimaryCtxReset_v2");
    std::vector<Stream*> streams;
    Context* context;
    {
        Lock lock(books);
        if (CUresult status = check_device(call, device)) return status;
        context = primary[device];
        if (!context) return SUCCESS;
        streams.assign(context->streams.begin(), context->streams.end());
        context->streams.clear();
    }
    for (Stream* stream : streams) end_stream(stream);
    Lock lock(books);
    empty(context);
    context->status = CONTEXT_IS_DESTROYED;
    return SUCCESS;
}

// The number of a context, which is another after a reset.
EXPORT CUresult cuCtxGetId(Context* context, unsigned long long* id) {
    Call call("cuCtxGetId");
    Lock lock(books);
    if (call.injected) return call.injected;
    if (!context) context = current;
    if (!contexts.count(context)) return INVALID_CONTEXT;
    if (context->status == CONTEXT_IS_DESTROYED) return CONTEXT_IS_DESTROYED;
    *id = context->id;
    return SUCCESS;
}

EXPORT CUresult cuCtxGetDevice(int* device) {
    Call call("cuCtxGetDevice");
    Lock lock(books);
    if (call.injected) return call.injected;
    if (!contexts.count(current)) return INVALID_CONTEXT;
    *device = current->device;
    return SUCCESS;
}

// Needs no context.
EXPORT CUresult cuPointerGetAttribute(void* value, int attribute, uint64_t address) {
    Call call("cuPointerGetAttribute");
    Lock lock(books);
    if (call.injected) return call.injected;
    if (!initialised) return NOT_INITIALIZED;
    Context* owner = nullptr;
    if (!holds(address, 1, &owner)) return INVALID_VALUE;
    if (attribute == 2) {  // MEMORY_TYPE: DEVICE or HOST
        *static_cast<unsigned int*>(value) = is_device(address) ? 2 : 1;
        return SUCCESS;
    }
    if (attribute != 9) {  // DEVICE_ORDINAL
        return check(call.name, NOT_SUPPORTED, "the stand-in has no attribute " + std::to_string(attribute));
    }
    *static_cast<int*>(value) = owner->device;
    return SUCCESS;
}

EXPORT CUresult cuCtxCreate_v4(Context** context, void*, unsigned int, int device) {
    Call call("cuCtxCreate_v4");
    Lock lock(books);
    if (CUresult status = check_device(call, device)) return status;
    *context = current = new_context(device, false);
    return SUCCESS;
}

EXPORT CUresult cuCtxDestroy_v2(Context* context) {
    Call call("cuCtxDestroy_v2");
    {
        Lock lock(books);
        if (!contexts.count(context) || context->primary) {
            misuse("cuCtxDestroy of what is no context of one's own");
            return INVALID_CONTEXT;
        }
    }
    end_context(context);
    return call.injected;
}

EXPORT CUresult cuCtxGetCurrent(Context** context) {
    Call call("cuCtxGetCurrent");
    if (call.injected) return call.injected;
    Lock lock(books);
    *context = contexts.count(current) ? current : nullptr;
    return SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(Context* context) {
    Call call("cuCtxSetCurrent");
    Lock lock(books);
    if (call.injected) return call.injected;
    // No misuse: the host's own context, which is put back after a call, may have ended meanwhile.
    if (context && !contexts.count(context)) return INVALID_CONTEXT;
    current = context;
    return SUCCESS;
}

EXPORT CUresult cuCtxSynchronize() {
    Call call("cuCtxSynchronize");
    Context* context;
    std::vector<Wait> waits;
    {
        Lock lock(books);
        if (CUresult status = call.enter(context)) return status;
        for (Stream* stream : context->streams) waits.emplace_back(*stream);
    }
    for (const Wait& wait : waits) wait.wait();
    return context->status;
}

EXPORT CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    Call call("cuMemGetInfo_v2");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    *total = settings().memory;
    *free = *total - std::min<uint64_t>(allocated[context->device], *total);
    return SUCCESS;
}

EXPORT CUresult cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    Call call("cuMemAlloc_v2");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (bytes == 0) return INVALID_VALUE;
    if (bytes > settings().memory || allocated[context->device] + bytes + PAGE > settings().memory) {
        return OUT_OF_MEMORY;
    }
    const Allocation one = new_device_memory(*context, bytes);
    context->memory[one.address] = one;
    tell_map(*context, one, MAP);
    for (Context* other : contexts) {
        if (other->peers.count(context)) tell_map(*other, one, MAP);
    }
    *address = one.address;
    return SUCCESS;
}

EXPORT CUresult cuMemFree_v2(uint64_t address) {
    Call call("cuMemFree_v2");
    Lock lock(books);
    Context* owner = nullptr;
    const Allocation* found = holds(address, 1, &owner);
    if (!found || found->address != address || !is_device(address) || is_foreign(address)) {
        misuse("cuMemFree of " + hex(address) + ", which is no allocation, or no longer");
        return INVALID_VALUE;
    }
    // A broken context keeps its objects until it ends.
    if (owner->status != SUCCESS) return call.injected ? call.injected : owner->status.load();
    const Allocation one = *found;
    check_unused_memory("cuMemFree", one);
    owner->memory.erase(address);
    give_back(*owner, one);
    return call.injected;
}

// Contents of a handle of memory: the process, the file and the offset, and the bytes.
struct IpcHandle {
    int process, file;
    uint64_t from, bytes;
};
static_assert(sizeof(IpcHandle) <= 64);

// A handle for another process; of an allocation alone, not of a place within.
EXPORT CUresult cuIpcGetMemHandle(IpcHandle* handle, uint64_t address) {
    Call call("cuIpcGetMemHandle");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    Context* owner = nullptr;
    const Allocation* found = holds(address, 1, &owner);
    if (!found || found->address != address || owner != context || !is_device(address) || is_foreign(address)) {
        misuse("cuIpcGetMemHandle of " + hex(address) + ", which is no allocation of the current context");
        return INVALID_VALUE;
    }
    // The driver puts small allocations into one block, and of two of these another process gets the same address.
    if (found->bytes < (2 << 20)) {
        misuse("cuIpcGetMemHandle of " + std::to_string(found->bytes) + " bytes, which may lie in a block with others");
    }
    memset((void*)handle, 0, 64);
    *handle = {getpid(), device_files[context->device], address - DEVICE_BASE - context->device * DEVICE_RANGE,
               found->bytes};
    return SUCCESS;
}

// The handle is a structure of 64 bytes, which is passed by value: in memory.
struct IpcBytes {
    char bytes[64];
};

EXPORT CUresult cuIpcOpenMemHandle_v2(uint64_t* address, IpcBytes bytes, unsigned int flags) {
    Call call("cuIpcOpenMemHandle_v2");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (flags != 1) return INVALID_VALUE;
    if (!settings().ipc) return NOT_SUPPORTED;
    IpcHandle handle;
    memcpy(&handle, bytes.bytes, sizeof handle);
    if (handle.process == getpid()) return INVALID_CONTEXT;
    const std::pair<int, int> of(handle.process, handle.file);
    size_t number = std::find(foreign.begin(), foreign.end(), of) - foreign.begin();
    if (number == foreign.size()) {
        const int file = number < MAX_FOREIGN ? open(path_of(of.first, of.second).c_str(), O_RDWR | O_CLOEXEC) : -1;
        if (file < 0) return INVALID_VALUE;
        device_files[MAX_DEVICES + number] = fcntl(file, F_DUPFD_CLOEXEC, 100);
        close(file);
        foreign.push_back(of);
    }
    const uint64_t at = DEVICE_BASE + (MAX_DEVICES + number) * DEVICE_RANGE + handle.from, first = at / PAGE * PAGE;
    const Allocation one = {at, handle.bytes, first, (at + handle.bytes + PAGE - 1) / PAGE * PAGE - first};
    if (!context->memory.insert({at, one}).second) {
        misuse("cuIpcOpenMemHandle of what is open");
        return INVALID_VALUE;
    }
    tell_map(*context, one, MAP);
    *address = at;
    return SUCCESS;
}

EXPORT CUresult cuIpcCloseMemHandle(uint64_t address) {
    Call call("cuIpcCloseMemHandle");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    const auto found = context->memory.find(address);
    if (found == context->memory.end() || !is_foreign(address)) {
        misuse("cuIpcCloseMemHandle of " + hex(address) + ", which is not open");
        return INVALID_VALUE;
    }
    const Allocation one = found->second;
    check_unused_memory("cuIpcCloseMemHandle", one);
    context->memory.erase(found);
    give_back(*context, one);
    return SUCCESS;
}

EXPORT CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned int flags) {
    Call call("cuMemHostAlloc");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (bytes == 0) return INVALID_VALUE;
    if (flags != 0) return check("cuMemHostAlloc", NOT_SUPPORTED, "the stand-in knows no flags");
    const uint64_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
    void* at = mmap((void*)next_pinned, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, pinned_file,
                    (off_t)(next_pinned - PINNED_BASE));
    if (at == MAP_FAILED) return OUT_OF_MEMORY;
    const Allocation one = {next_pinned, bytes, next_pinned, pages};
    next_pinned += pages + 16 * PAGE;
    memset(at, 0xff, pages);
    context->pinned[one.address] = one;
    for (Context* other : contexts) tell_map(*other, one, MAP);
    *address = at;
    return SUCCESS;
}

EXPORT CUresult cuMemFreeHost(void* pointer) {
    Call call("cuMemFreeHost");
    Lock lock(books);
    const auto address = (uint64_t)pointer;
    Context* owner = nullptr;
    const Allocation* found = is_device(address) ? nullptr : holds(address, 1, &owner);
    if (!found || found->address != address) {
        misuse("cuMemFreeHost of " + hex(address) + ", which is no allocation, or no longer");
        return INVALID_VALUE;
    }
    if (owner->status != SUCCESS) return call.injected ? call.injected : owner->status.load();
    const Allocation one = *found;
    check_unused_memory("cuMemFreeHost", one);
    owner->pinned.erase(address);
    give_back_pinned(one);
    return call.injected;
}

EXPORT CUresult cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
    return copy_to_device("cuMemcpyHtoD_v2", to, from, bytes, nullptr, true);
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
    return copy_to_device("cuMemcpyHtoDAsync_v2", to, from, bytes, stream, false);
}

EXPORT CUresult cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
    return copy_to_host("cuMemcpyDtoH_v2", to, from, bytes, nullptr, true);
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
    return copy_to_host("cuMemcpyDtoHAsync_v2", to, from, bytes, stream, false);
}

// Between two devices where the current context has access to the memory of both. Without, a driver may find another
// way, but promises none: cuMemcpyPeerAsync is for that. Here it is an illegal access.
EXPORT CUresult cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* handle) {
    Call call("cuMemcpyDtoDAsync_v2");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (bytes == 0) return SUCCESS;
    Context *to_owner = nullptr, *from_owner = nullptr;
    if (!is_device(to) || !holds(to, bytes, &to_owner) || !is_device(from) || !holds(from, bytes, &from_owner)) {
        const std::string what = std::to_string(bytes) + " bytes from " + hex(from) + " to " + hex(to);
        return check(call.name, INVALID_VALUE, what + " are not in one allocation");
    }
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    const auto op = copy_op(call.name, to, *to_owner, from, *from_owner, bytes, false);
    for (Context* owner : {to_owner, from_owner}) {
        if (owner->device == context->device) continue;
        op->reaches.insert(owner);
        if (reaches(*context, owner)) continue;
        op->spans.clear();
        op->work = [=](const Turn& turn) {
            return check(turn.op->name, ILLEGAL_ADDRESS,
                         hex(from) + " to " + hex(to) + ": the context has no access to the other device's memory");
        };
    }
    submit(*stream, op);
    return SUCCESS;
}

// With and without access, from a stream of either context. A context that is not the memory's is a misuse, although
// the copy would do.
EXPORT CUresult cuMemcpyPeerAsync(uint64_t to, Context* to_context, uint64_t from, Context* from_context, size_t bytes,
                                  void* handle) {
    Call call("cuMemcpyPeerAsync");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    for (Context* one : {to_context, from_context}) {
        if (!contexts.count(one)) {
            misuse("cuMemcpyPeerAsync with what is no context, or no longer");
            return INVALID_CONTEXT;
        }
        if (one->status != SUCCESS) return one->status;
    }
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    if (context != to_context && context != from_context) {
        misuse("cuMemcpyPeerAsync in a stream of neither context");
        return INVALID_HANDLE;
    }
    if (bytes == 0) return SUCCESS;
    Context *to_owner = nullptr, *from_owner = nullptr;
    if (!is_device(to) || !holds(to, bytes, &to_owner) || !is_device(from) || !holds(from, bytes, &from_owner)) {
        const std::string what = std::to_string(bytes) + " bytes from " + hex(from) + " to " + hex(to);
        return check(call.name, INVALID_VALUE, what + " are not in one allocation");
    }
    if (to_owner != to_context || from_owner != from_context) {
        misuse("cuMemcpyPeerAsync with a context that has not the memory");
        return INVALID_VALUE;
    }
    Context* other = context == to_context ? from_context : to_context;
    const bool direct = other->device != context->device && reaches(*context, other);
    const auto op = copy_op(call.name, to, *to_owner, from, *from_owner, bytes, !direct);
    if (direct) op->reaches.insert(other);
    submit(*stream, op);
    return SUCCESS;
}

EXPORT CUresult cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* handle) {
    Call call("cuMemsetD8Async");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (bytes == 0) return SUCCESS;
    if (!is_device(to) || !holds(to, bytes)) return INVALID_VALUE;
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    auto op = std::make_shared<Op>();
    op->name = call.name;
    op->uses.push_back(to);
    op->spans.push_back(writes(to, bytes));
    op->work = [=](const Turn&) -> CUresult {
        const std::vector<char> part(std::min<uint64_t>(bytes, 1 << 20), (char)value);
        for (uint64_t done = 0; done < bytes; done += part.size()) {
            const uint64_t now = std::min<uint64_t>(part.size(), bytes - done);
            if (!transfer(to + done, const_cast<char*>(part.data()), now, true)) return ILLEGAL_ADDRESS;
        }
        return SUCCESS;
    };
    submit(*stream, op);
    return SUCCESS;
}

EXPORT CUresult cuDeviceCanAccessPeer(int* can, int device, int peer) {
    Call call("cuDeviceCanAccessPeer");
    if (CUresult status = check_device(call, device)) return status;
    if (CUresult status = check_device(call, peer)) return status;
    *can = settings().peers && device != peer;
    return SUCCESS;
}

// From the current context to the peer's memory, and not back.
EXPORT CUresult cuCtxEnablePeerAccess(Context* peer, unsigned int flags) {
    Call call("cuCtxEnablePeerAccess");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (flags != 0) return INVALID_VALUE;
    if (!contexts.count(peer)) {
        misuse("cuCtxEnablePeerAccess to what is no context, or no longer");
        return INVALID_CONTEXT;
    }
    if (peer == context) return INVALID_CONTEXT;
    if (peer->status != SUCCESS) return peer->status;
    if (!settings().peers || peer->device == context->device) return PEER_ACCESS_UNSUPPORTED;
    if (!context->peers.insert(peer).second) return PEER_ACCESS_ALREADY_ENABLED;
    for (const auto& [address, one] : peer->memory) tell_map(*context, one, MAP);
    return SUCCESS;
}

EXPORT CUresult cuCtxDisablePeerAccess(Context* peer) {
    Call call("cuCtxDisablePeerAccess");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (!contexts.count(peer)) {
        misuse("cuCtxDisablePeerAccess to what is no context, or no longer");
        return INVALID_CONTEXT;
    }
    if (context->peers.erase(peer) == 0) return PEER_ACCESS_NOT_ENABLED;
    check_unused(*context, call.name, [&](const Op& op) { return op.reaches.count(peer) > 0; });
    for (const auto& [address, one] : peer->memory) tell_map(*context, one, UNMAP);
    return SUCCESS;
}

EXPORT CUresult cuStreamCreate(Stream** stream, unsigned int flags) {
    Call call("cuStreamCreate");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (flags != 1) {
        return check("cuStreamCreate", NOT_SUPPORTED,
                     "the stand-in knows streams that do not wait for the null stream only");
    }
    *stream = new_stream(*context);
    return *stream ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT CUresult cuStreamDestroy_v2(Stream* stream) {
    Call call("cuStreamDestroy_v2");
    {
        Lock lock(books);
        Context* owner = nullptr;
        for (Context* context : contexts) owner = is_one_of(context->streams, stream) ? context : owner;
        if (!owner) {
            misuse("cuStreamDestroy of what is no stream, or no longer");
            return INVALID_HANDLE;
        }
        if (owner->status != SUCCESS) return call.injected ? call.injected : owner->status.load();
        owner->streams.erase(stream);
        if (stream->capturing) {
            misuse("cuStreamDestroy of a stream that records a graph");
            stream->capturing = nullptr;
        }
    }
    end_stream(stream);
    return call.injected;
}

EXPORT CUresult cuStreamSynchronize(void* handle) {
    Call call("cuStreamSynchronize");
    Context* context;
    std::unique_ptr<Wait> wait;
    {
        Lock lock(books);
        if (CUresult status = call.enter(context)) return status;
        Stream* stream;
        if (CUresult status = stream_of(*context, handle, stream)) return status;
        if (stream->capturing) return STREAM_CAPTURE_UNSUPPORTED;
        wait = std::make_unique<Wait>(*stream);
    }
    wait->wait();
    return context->status;
}

EXPORT CUresult cuStreamQuery(void* handle) {
    Call call("cuStreamQuery");
    Lock lock(books);
    Context* context;
    Stream* stream;
    if (CUresult status = call.enter(context)) return status;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    if (stream->capturing) return STREAM_CAPTURE_UNSUPPORTED;
    std::lock_guard<std::mutex> queue(stream->mutex);
    if (!stream->queue.empty()) return NOT_READY;
    see(stream->clock);
    return context->status;
}

// The event may be another context's: so devices wait for each other. It waits for the last record before this call, if
// there is one.
EXPORT CUresult cuStreamWaitEvent(void* handle, Event* event, unsigned int flags) {
    Call call("cuStreamWaitEvent");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    bool known = false;
    for (Context* any : contexts) known = known || is_one_of(any->events, event);
    if (!known) {
        misuse("cuStreamWaitEvent for what is no event, or no longer");
        return INVALID_HANDLE;
    }
    if (flags != 0 || stream->capturing) return NOT_SUPPORTED;
    const std::shared_ptr<Mark> mark = event->last;
    if (!mark) return SUCCESS;
    auto op = std::make_shared<Op>();
    op->name = call.name;
    op->work = [=](const Turn&) -> CUresult {
        mark->wait();
        return SUCCESS;
    };
    submit(*stream, op);
    if (mark->clock) come_after(stream->clock, *mark->clock);
    return SUCCESS;
}

EXPORT CUresult cuEventCreate(Event** event, unsigned int flags) {
    Call call("cuEventCreate");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    *event = new Event;
    (*event)->context = context;
    (*event)->timing = !(flags & 2);
    context->events.insert(*event);
    return SUCCESS;
}

static CUresult find_event(Event* event, Context*& owner, const char* name) {
    owner = nullptr;
    for (Context* context : contexts) owner = is_one_of(context->events, event) ? context : owner;
    if (owner) return SUCCESS;
    misuse(std::string(name) + " of what is no event, or no longer");
    return INVALID_HANDLE;
}

EXPORT CUresult cuEventDestroy_v2(Event* event) {
    Call call("cuEventDestroy_v2");
    Lock lock(books);
    Context* owner;
    if (CUresult status = find_event(event, owner, call.name)) return status;
    if (owner->status != SUCCESS) return call.injected ? call.injected : owner->status.load();
    // It may be destroyed before it has happened: who waits for it has its mark. The handle is not given out again.
    owner->events.erase(event);
    owner->gone.insert(event);
    event->last.reset();
    return call.injected;
}

EXPORT CUresult cuEventRecord(Event* event, void* handle) {
    Call call("cuEventRecord");
    Lock lock(books);
    Context *context, *owner;
    if (CUresult status = call.enter(context)) return status;
    if (CUresult status = find_event(event, owner, call.name)) return status;
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    if (owner != stream->context) {
        return check(call.name, INVALID_HANDLE, "the event and the stream are of two contexts");
    }
    if (stream->capturing) return STREAM_CAPTURE_UNSUPPORTED;
    auto op = std::make_shared<Op>();
    op->name = call.name;
    const auto mark = std::make_shared<Mark>();
    // Also where the context is broken: those who wait are not left waiting.
    op->always = true;
    op->work = [=](const Turn&) -> CUresult {
        std::lock_guard<std::mutex> lock(mark->mutex);
        mark->over = true;
        mark->when = std::chrono::steady_clock::now();
        mark->changed.notify_all();
        return SUCCESS;
    };
    submit(*stream, op);
    if (several()) mark->clock = std::make_shared<Clock>(stream->clock);
    event->last = mark;
    return SUCCESS;
}

// From any current context.
EXPORT CUresult cuEventSynchronize(Event* event) {
    Call call("cuEventSynchronize");
    Context *context, *owner;
    std::shared_ptr<Mark> mark;
    {
        Lock lock(books);
        if (CUresult status = call.enter(context)) return status;
        if (CUresult status = find_event(event, owner, call.name)) return status;
        mark = event->last;
    }
    if (mark) mark->wait();
    Lock lock(books);
    if (mark && mark->clock) see(*mark->clock);
    return contexts.count(owner) ? owner->status.load() : (CUresult)CONTEXT_IS_DESTROYED;
}

// From any current context.
EXPORT CUresult cuEventQuery(Event* event) {
    Call call("cuEventQuery");
    Lock lock(books);
    Context *context, *owner;
    if (CUresult status = call.enter(context)) return status;
    if (CUresult status = find_event(event, owner, call.name)) return status;
    if (owner->status != SUCCESS) return owner->status;
    if (!event->last) return SUCCESS;
    if (!event->last->is_over()) return NOT_READY;
    if (event->last->clock) see(*event->last->clock);
    return SUCCESS;
}

EXPORT CUresult cuEventElapsedTime_v2(float* milliseconds, Event* begin, Event* end) {
    Call call("cuEventElapsedTime_v2");
    Lock lock(books);
    Context *context, *owner;
    if (CUresult status = call.enter(context)) return status;
    if (CUresult status = find_event(begin, owner, call.name)) return status;
    if (CUresult status = find_event(end, owner, call.name)) return status;
    if (!begin->timing || !end->timing || !begin->last || !end->last) return INVALID_HANDLE;
    if (!begin->last->is_over() || !end->last->is_over()) return NOT_READY;
    const float took = std::chrono::duration<float, std::milli>(end->last->when - begin->last->when).count();
    *milliseconds = took / settings().speed;
    return SUCCESS;
}

EXPORT CUresult cuEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
    return cuEventElapsedTime_v2(milliseconds, begin, end);
}

EXPORT CUresult cuModuleLoadData(Module** module, const void* image) {
    Call call("cuModuleLoadData");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    const std::string text = static_cast<const char*>(image);
    std::string why;
    ptx::Module generated;
    const bool is_generated = ptx::is_generated(text);
    if (is_generated) why = ptx::read(text, generated);
    const std::string library = is_generated ? "/generated-" : library_of(text, why);
    if (!why.empty()) return check(call.name, INVALID_IMAGE, why);
    unsigned int target = generated.target;
    const size_t at = text.find("\n.target sm_");
    if (!is_generated && at != std::string::npos) target = (unsigned int)strtoul(text.c_str() + at + 12, nullptr, 10);
    if (target > (unsigned int)(10 * settings().major + settings().minor)) return NO_BINARY_FOR_GPU;
    if (is_generated) keep_generated(text);
    Executor* executor = executor_of(*context);
    if (!executor) return OUT_OF_MEMORY;
    auto loaded = std::make_unique<Module>();
    loaded->context = context;
    loaded->number = next_module++;
    const size_t name_at = library.rfind('/') + 1;
    loaded->name = library.substr(name_at, library.rfind('-') - name_at);
    Command command = {};
    command.kind = LOAD;
    command.module = loaded->number;
    const int file = is_generated ? file_of(text) : -1;
    put(is_generated ? path_of(getpid(), file) : library, command.text, sizeof command.text);
    command.flag = loaded->generated = is_generated;
    Answer told = executor->ask(command);
    if (file >= 0) close(file);
    if (told.status) return check(call.name, INVALID_IMAGE, told.text);
    std::map<std::string, std::pair<uint64_t, bool>> symbols;
    if (is_generated)
        list_generated(generated, loaded->functions, symbols);
    else
        read_ptx(text, loaded->functions, symbols);
    for (const auto& [name, what] : symbols) {
        Allocation one = new_device_memory(*context, what.first);
        tell_map(*context, one, MAP);
        command.kind = SYMBOL;
        command.address = one.address;
        command.bytes = what.first;
        command.flag = what.second;
        put(name, command.text, sizeof command.text);
        told = executor->ask(command);
        if (told.status == SUCCESS) {
            loaded->symbols[name] = one;
            context->memory[one.address] = one;
        } else {
            // A constant that was compiled away.
            give_back(*context, one);
        }
    }
    for (auto& [name, function] : loaded->functions) function.module = loaded.get();
    context->modules.insert(loaded.get());
    *module = loaded.release();
    return SUCCESS;
}

// The linker: of one text that was made at run time, which is its own binary here.
EXPORT CUresult cuLinkCreate_v2(unsigned int options, int*, void**, Link** link) {
    Call call("cuLinkCreate_v2");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (options != 0) return NOT_SUPPORTED;
    links.insert(*link = new Link);
    return SUCCESS;
}

EXPORT CUresult cuLinkAddData_v2(Link* link, int type, const char* data, size_t size, const char*, unsigned int options,
                                 int*, void**) {
    constexpr int PTX = 1;
    Call call("cuLinkAddData_v2");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (!is_one_of(links, link) || size == 0 || data[size - 1] != 0) {
        misuse("cuLinkAddData of no link, or of a text that does not end");
        return INVALID_VALUE;
    }
    if (type != PTX || options != 0 || !link->text.empty() || !ptx::is_generated(data)) return NOT_SUPPORTED;
    ptx::Module module;
    const std::string why = ptx::read(data, module);
    if (!why.empty()) return check(call.name, INVALID_IMAGE, why);
    link->text = data;
    return SUCCESS;
}

EXPORT CUresult cuLinkComplete(Link* link, const void** binary, size_t* size) {
    Call call("cuLinkComplete");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (!is_one_of(links, link)) {
        misuse("cuLinkComplete of no link");
        return INVALID_HANDLE;
    }
    *binary = link->text.c_str();
    *size = link->text.size() + 1;
    return SUCCESS;
}

EXPORT CUresult cuLinkDestroy(Link* link) {
    Call call("cuLinkDestroy");
    Lock lock(books);
    if (!is_one_of(links, link)) {
        misuse("cuLinkDestroy of no link");
        return INVALID_HANDLE;
    }
    links.erase(link);
    delete link;
    return call.injected;
}

static CUresult find_module(Module* module, const Call& call) {
    for (Context* context : contexts) {
        if (is_one_of(context->modules, module)) return SUCCESS;
    }
    misuse(std::string(call.name) + " of what is no module, or no longer");
    return INVALID_HANDLE;
}

EXPORT CUresult cuModuleUnload(Module* module) {
    Call call("cuModuleUnload");
    Lock lock(books);
    if (CUresult status = find_module(module, call)) return status;
    Context& context = *module->context;
    if (context.status != SUCCESS) return call.injected ? call.injected : context.status.load();
    check_unused(context, "cuModuleUnload", [&](const Op& op) { return op.module == module; });
    Command command = {};
    command.kind = UNLOAD;
    command.module = module->number;
    context.executor->ask(command);
    for (const auto& [name, one] : module->symbols) {
        context.memory.erase(one.address);
        give_back(context, one);
    }
    context.modules.erase(module);
    delete module;
    return call.injected;
}

EXPORT CUresult cuModuleGetFunction(Function** function, Module* module, const char* name) {
    Call call("cuModuleGetFunction");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (CUresult status = find_module(module, call)) return status;
    const auto found = module->functions.find(name);
    if (found == module->functions.end()) return NOT_FOUND_STATUS;
    Command command = {};
    command.kind = FUNCTION;
    command.module = module->number;
    put(name, command.text, sizeof command.text);
    const Answer told = context->executor->ask(command);
    if (told.status) return NOT_FOUND_STATUS;
    found->second.address = told.address;
    *function = &found->second;
    return SUCCESS;
}

EXPORT CUresult cuFuncSetAttribute(Function* function, int attribute, int value) {
    Call call("cuFuncSetAttribute");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    bool known = false;
    for (Module* module : context->modules) {
        for (auto& [name, one] : module->functions) known = known || &one == function;
    }
    if (!known) {
        misuse("cuFuncSetAttribute of what is no kernel of this context, or no longer");
        return INVALID_HANDLE;
    }
    if (attribute != 8) {  // MAX_DYNAMIC_SHARED_SIZE_BYTES
        return check(call.name, NOT_SUPPORTED, "the stand-in has no attribute " + std::to_string(attribute));
    }
    // Shared memory of a block on a chip of compute capability 9.0.
    if (value < 0 || (uint32_t)value + function->static_shared > 227 << 10) return INVALID_VALUE;
    function->most_shared = (uint32_t)value + function->static_shared;
    return SUCCESS;
}

EXPORT CUresult cuModuleGetGlobal_v2(uint64_t* address, size_t* bytes, Module* module, const char* name) {
    Call call("cuModuleGetGlobal_v2");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (CUresult status = find_module(module, call)) return status;
    const auto found = module->symbols.find(name);
    if (found == module->symbols.end()) return NOT_FOUND_STATUS;
    if (address) *address = found->second.address;
    if (bytes) *bytes = found->second.bytes;
    return SUCCESS;
}

// A launch asks its executor.
void set_work(Op& op) {
    op.work = [executor = op.executor, command = op.launch](const Turn& turn) -> CUresult {
        const Answer told = executor->ask(*command);
        if (told.status != SUCCESS) fprintf(stderr, "stand-in for CUDA: %s ended: %s\n", command->text, told.text);
        if (told.status == SUCCESS && told.touched > 0 && turn.after) {
            std::vector<Span> spans;
            for (uint32_t i = 0; i < told.touched; ++i) {
                spans.push_back({told.touches[i].from, told.touches[i].to, told.touches[i].writes != 0});
            }
            Lock lock(books);
            note(turn, spans);
        }
        return (CUresult)told.status;
    };
}

// Groups a graph's ops: consecutive equal launches go into one message.
std::vector<std::shared_ptr<Op>> in_runs(const std::vector<std::shared_ptr<Op>>& ops) {
    std::vector<std::shared_ptr<Op>> runs;
    for (const auto& op : ops) {
        const bool again = op->launch && !runs.empty() && runs.back()->launch && runs.back()->executor == op->executor;
        if (again) {
            Command command = *op->launch;
            command.times = runs.back()->launch->times;
            if (memcmp(&command, runs.back()->launch.get(), sizeof command) == 0) {
                ++command.times;
                auto both = std::make_shared<Op>(*op);
                both->launch = std::make_shared<Command>(command);
                set_work(*both);
                runs.back() = both;
                continue;
            }
        }
        runs.push_back(op);
    }
    return runs;
}

// A launch that is called so; `early` says whether it may begin before the one before it on its stream has ended.
static CUresult launch(const char* name, Function* function, const unsigned int (&grid)[3],
                       const unsigned int (&block)[3], unsigned int shared, void* handle, void** arguments,
                       void** extra, bool early) {
    const auto [gx, gy, gz] = grid;
    const auto [bx, by, bz] = block;
    Call call(name);
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    bool known = false;
    for (Module* module : context->modules) {
        for (auto& [name, one] : module->functions) known = known || &one == function;
    }
    if (!known) {
        misuse("a launch of what is no kernel of this context, or no longer");
        return INVALID_HANDLE;
    }
    const auto& told = *kernels_told.insert(function->module->name + "/" + function->name).first;
    if (settings().trace)
        fprintf(stderr, "stand-in for CUDA: launches %s, %u x %u x %u blocks\n", told.c_str(), gx, gy, gz);
    if (named) launched[call.number] = &told;
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    const auto bad = [&](CUresult status, const std::string& why) {
        return check(call.name, status, function->name + ": " + why);
    };
    if (extra) return bad(NOT_SUPPORTED, "the stand-in takes arguments by their addresses");
    if (function->arguments != 1 || (function->argument_bytes <= 16 && !function->module->generated)) {
        return bad(NOT_SUPPORTED, "the stand-in passes one structure of more than 16 bytes");
    }
    if (gx == 0 || gy == 0 || gz == 0 || gx > 0x7fffffffu || gy > 65535 || gz > 65535) {
        return bad(INVALID_VALUE, "a grid that there cannot be");
    }
    if (bx == 0 || by == 0 || bz == 0 || bx > 1024 || by > 1024 || bz > 64 || (uint64_t)bx * by * bz > 1024) {
        return bad(INVALID_VALUE, "a block that there cannot be");
    }
    // The driver's own answer to a block of more threads than its kernel was compiled for.
    if (bx * by * bz > function->most_threads) {
        return bad(INVALID_VALUE, "more threads a block than it was compiled for");
    }
    if (function->static_shared + shared > function->most_shared) {
        return bad(INVALID_VALUE, "more shared memory than a block has");
    }
    auto command = std::make_shared<Command>();
    memset(command.get(), 0, sizeof *command);
    command->kind = LAUNCH;
    command->module = function->module->number;
    command->address = function->address;
    command->bytes = function->argument_bytes;
    command->grid[0] = gx, command->grid[1] = gy, command->grid[2] = gz;
    command->block[0] = bx, command->block[1] = by, command->block[2] = bz;
    command->shared = shared;
    command->flag = early;
    put(function->name, command->text, sizeof command->text);
    memcpy(command->argument, arguments[0], function->argument_bytes);
    auto op = std::make_shared<Op>();
    op->name = "launch";
    op->module = function->module;
    for (uint32_t i = 0; i + 8 <= function->argument_bytes; i += 8) {
        uint64_t word;
        memcpy(&word, command->argument + i, 8);
        if (word >= PINNED_BASE && word < DEVICE_BASE + MAX_DEVICES * DEVICE_RANGE) op->uses.push_back(word);
    }
    command->times = 1;
    op->executor = context->executor.get();
    op->launch = command;
    set_work(*op);
    submit(*stream, op);
    return SUCCESS;
}

EXPORT CUresult cuLaunchKernel(Function* function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                               unsigned int by, unsigned int bz, unsigned int shared, void* handle, void** arguments,
                               void** extra) {
    return launch("cuLaunchKernel", function, {gx, gy, gz}, {bx, by, bz}, shared, handle, arguments, extra, false);
}

// Attributes of a launch: only early begin is known.
struct LaunchAttribute {
    int id;
    char unused[4];
    union {
        char bytes[64];
        int number;
    } value;
};
struct LaunchConfig {
    unsigned int grid[3];
    unsigned int block[3];
    unsigned int shared;
    void* stream;
    const LaunchAttribute* attributes;
    unsigned int count;
};

EXPORT CUresult cuLaunchKernelEx(const LaunchConfig* config, Function* function, void** arguments, void** extra) {
    constexpr int PROGRAMMATIC_STREAM_SERIALIZATION = 6;
    bool early = false;
    for (unsigned int i = 0; i < config->count; ++i) {
        if (config->attributes[i].id != PROGRAMMATIC_STREAM_SERIALIZATION) {
            return check("cuLaunchKernelEx", NOT_SUPPORTED, "an attribute that the stand-in does not know");
        }
        early = config->attributes[i].value.number != 0;
    }
    return launch("cuLaunchKernelEx", function, config->grid, config->block, config->shared, config->stream, arguments,
                  extra, early);
}

EXPORT CUresult cuStreamBeginCapture_v2(void* handle, int mode) {
    Call call("cuStreamBeginCapture_v2");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    if (!handle || stream->capturing || mode < 0 || mode > 2) return INVALID_VALUE;
    stream->capturing = new Graph;
    stream->capturing->context = context;
    context->graphs.insert(stream->capturing);
    return SUCCESS;
}

EXPORT CUresult cuStreamEndCapture(void* handle, Graph** graph) {
    Call call("cuStreamEndCapture");
    Lock lock(books);
    Context* context = current;
    if (!context || !contexts.count(context)) return INVALID_CONTEXT;
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    if (!stream->capturing) return INVALID_VALUE;
    Graph* ended = stream->capturing;
    stream->capturing = nullptr;
    const CUresult status = call.injected ? call.injected : context->status.load();
    if (status != SUCCESS) {
        context->graphs.erase(ended);
        delete ended;
        *graph = nullptr;
        return status;
    }
    *graph = ended;
    return SUCCESS;
}

EXPORT CUresult cuStreamIsCapturing(void* handle, int* capturing) {
    Call call("cuStreamIsCapturing");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    *capturing = stream->capturing ? 1 : 0;
    return SUCCESS;
}

EXPORT CUresult cuGraphInstantiateWithFlags(Exec** exec, Graph* graph, unsigned long long) {
    Call call("cuGraphInstantiateWithFlags");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (!is_one_of(context->graphs, graph)) return INVALID_HANDLE;
    *exec = new Exec{context, in_runs(graph->ops)};
    context->execs.insert(*exec);
    return SUCCESS;
}

EXPORT CUresult cuGraphLaunch(Exec* exec, void* handle) {
    Call call("cuGraphLaunch");
    Lock lock(books);
    Context* context;
    if (CUresult status = call.enter(context)) return status;
    if (!is_one_of(context->execs, exec)) {
        misuse("cuGraphLaunch of what is no graph, or no longer");
        return INVALID_HANDLE;
    }
    Stream* stream;
    if (CUresult status = stream_of(*context, handle, stream)) return status;
    for (const auto& op : exec->ops) submit(*stream, op);
    return SUCCESS;
}

EXPORT CUresult cuGraphDestroy(Graph* graph) {
    Call call("cuGraphDestroy");
    Lock lock(books);
    for (Context* context : contexts) {
        if (!is_one_of(context->graphs, graph)) continue;
        if (context->status != SUCCESS) return call.injected ? call.injected : context->status.load();
        context->graphs.erase(graph);
        delete graph;
        return call.injected;
    }
    misuse("cuGraphDestroy of what is no graph, or no longer");
    return INVALID_HANDLE;
}

EXPORT CUresult cuGraphExecDestroy(Exec* exec) {
    Call call("cuGraphExecDestroy");
    Lock lock(books);
    for (Context* context : contexts) {
        if (!is_one_of(context->execs, exec)) continue;
        if (context->status != SUCCESS) return call.injected ? call.injected : context->status.load();
        context->execs.erase(exec);
        delete exec;
        return call.injected;
    }
    misuse("cuGraphExecDestroy of what is no graph, or no longer");
    return INVALID_HANDLE;
}
