#!/usr/bin/env python3
"""Limits of any call, measured with Python's standard library alone; a line of standard output each, `skipped REASON` if it cannot be measured.

limits.py context   seconds from loading the driver to a context, which every first call on a GPU has to pay
limits.py link      seconds and bytes of copies between page-locked memory and the device, both ways at once, so many bytes each way
limits.py copy      seconds and bytes of copies into fresh pages by as many threads as there are processors
"""

import ctypes
import mmap
import os
import sys
import threading
import time

SAMPLES = 7


class Driver:
    """The driver's functions by name; one that fails raises."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def __call__(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} answered {status}")

    def context(self):
        self("cuInit", ctypes.c_uint(0))
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)


def context():
    start = time.perf_counter()
    Driver().context()
    print(f"context {time.perf_counter() - start:.9g}")


def link():
    size = 256 << 20
    cuda = Driver()
    cuda.context()
    pinned = [ctypes.c_void_p() for _ in range(2)]
    device = [ctypes.c_uint64() for _ in range(2)]
    streams = [ctypes.c_void_p() for _ in range(2)]
    for i in range(2):
        cuda("cuMemHostAlloc", ctypes.byref(pinned[i]), ctypes.c_size_t(size), ctypes.c_uint(0))
        ctypes.memset(pinned[i], 1, size)
        cuda("cuMemAlloc_v2", ctypes.byref(device[i]), ctypes.c_size_t(size))
        cuda("cuStreamCreate", ctypes.byref(streams[i]), ctypes.c_uint(1))  # 1: does not wait for the default stream
    for sample in range(SAMPLES + 2):
        start = time.perf_counter()
        cuda("cuMemcpyHtoDAsync_v2", device[0], pinned[0], ctypes.c_size_t(size), streams[0])
        cuda("cuMemcpyDtoHAsync_v2", pinned[1], device[1], ctypes.c_size_t(size), streams[1])
        for stream in streams:
            cuda("cuStreamSynchronize", stream)
        seconds = time.perf_counter() - start
        if sample >= 2:
            print(f"link {seconds:.9g} {size}")


def copy():
    size = 256 << 20
    threads = len(os.sched_getaffinity(0))
    share = size // threads // 4096 * 4096
    # Private: shared memory has no large pages.
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    source = mmap.mmap(-1, size, flags=private)
    source_address = ctypes.addressof(ctypes.c_char.from_buffer(source))
    ctypes.memset(source_address, 1, size)
    for sample in range(SAMPLES + 1):
        target = mmap.mmap(-1, size, flags=private)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            try:
                target.madvise(mmap.MADV_HUGEPAGE)
            except OSError:
                pass  # a kernel without large pages
        view = ctypes.c_char.from_buffer(target)
        address = ctypes.addressof(view)

        def part(i):
            # Python's lock is not held while it copies.
            ctypes.memmove(address + i * share, source_address + i * share, share)

        workers = [threading.Thread(target=part, args=(i,)) for i in range(threads)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        seconds = time.perf_counter() - start
        if sample >= 1:
            print(f"copy {seconds:.9g} {share * threads}")
        del view, part
        target.close()


if __name__ == "__main__":
    modes = {"context": context, "link": link, "copy": copy}
    if len(sys.argv) != 2 or sys.argv[1] not in modes:
        sys.exit(__doc__.strip())
    try:
        modes[sys.argv[1]]()
    except Exception as error:  # noqa: BLE001 - whatever is missing is said
        print(f"skipped {str(error).splitlines()[0] if str(error) else type(error).__name__}")
