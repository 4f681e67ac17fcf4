// Messages between the driver's stand-in and the process that runs its kernels: one each way, over a socket.
#pragma once

#include <stdint.h>

namespace stand_in {

// The address ranges. They are no addresses of the host's process: it maps only pinned memory there.
constexpr uint64_t PINNED_BASE = 0x2f0000000000;
constexpr uint64_t DEVICE_BASE = 0x300000000000;
constexpr uint64_t DEVICE_RANGE = 0x10000000000;  // for each device, beginning at DEVICE_BASE + ordinal * DEVICE_RANGE

constexpr uint64_t PAGE = 4096;
constexpr int MAX_DEVICES = 8;
// Devices of other processes, whose memory lies in ranges behind those: each range is one device's.
constexpr int MAX_FOREIGN = 16;

// The files that an executor is started with: its socket, pinned memory, and the memory of each device.
constexpr int SOCKET_FILE = 3;
constexpr int PINNED_FILE = 4;
constexpr int FIRST_DEVICE_FILE = 5;

// The most bytes of a kernel's argument: CUDA's own limit.
constexpr uint32_t MAX_ARGUMENT = 4096;

enum Kind : uint32_t {
    MAP,       // `address`, `bytes`: makes an allocation reachable; `text` is the path of its file, if it is another
               // process's
    UNMAP,     // the same no longer
    LOAD,      // `module`, `text` is the path of the library; its shared memory is found; `flag`: of PTX to interpret
    UNLOAD,    // `module`
    SYMBOL,    // `module`, `text` is a name; its memory on the device is `address`, `bytes`; `flag`: kernels may write
               // it
    FUNCTION,  // `module`, `text` is a name; the answer has its address
    LAUNCH,    // `module`, `address` of the function, `grid`, `block`, `shared`, `bytes` of `argument`, so many
               // `times`; `text` is its name; `flag`: it may begin before the one before it has ended
    SEED,      // `address` is the seed for the order of blocks and threads
    WATCH,     // `address`, `bytes`: where races are looked for, launches answer what they touch of this, until UNMAP
};

struct Command {
    Kind kind;
    uint32_t module;
    uint64_t address;
    uint64_t bytes;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared;
    uint32_t flag;
    uint32_t times;
    uint32_t unused;
    char text[512];
    char argument[MAX_ARGUMENT];
};

// The driver's statuses that a launch can end with.
enum Status : uint32_t {
    DONE = 0,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    MISALIGNED_ADDRESS = 716,
    LAUNCH_FAILED = 719,
};

// Accesses of a launch to a watched range, reads or writes: from the first byte to the last.
struct Touch {
    uint64_t from, to;
    uint64_t writes;
};
constexpr uint32_t MOST_TOUCHES = 32;

struct Answer {
    uint32_t status;
    uint32_t touched;  // how many of `touches` there are
    uint64_t address;
    Touch touches[MOST_TOUCHES];
    char text[1024];
};

}  // namespace stand_in
