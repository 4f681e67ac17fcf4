#!/usr/bin/env python3
"""What other libraries take for the same: a correlation of an ordinary array of doubles, host to host, medians in ms as lines of CSV.

Behind them, convolutions of an image that stays on the device."""

import statistics
import time

import numpy as np


def measure(function, n):
    repeats = max(7, min(501, 10_000_000 // n))
    for _ in range(2):
        function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def peers(x, k):
    """Name and function of each peer that is installed and has the device it needs."""
    found = []
    try:
        import scipy.ndimage

        if len(x) <= 10_000_000:
            found.append(("scipy correlate1d", lambda: scipy.ndimage.correlate1d(x, k, mode="constant")))
    except ImportError as error:
        print(f"skipped: scipy ({error})")
    try:
        import cupy
        import cupyx.scipy.ndimage

        kd = cupy.asarray(k)
        cupy.cuda.runtime.getDeviceCount()
        found.append(("cupy correlate1d", lambda: cupy.asnumpy(cupyx.scipy.ndimage.correlate1d(cupy.asarray(x), kd, mode="constant"))))
    except Exception as error:  # noqa: BLE001 - whatever it lacks, it is left out and said
        print(f"skipped: cupy ({error})")
    try:
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("no device")
        kt = torch.from_numpy(k).cuda().view(1, 1, -1)
        pad = len(k) // 2
        found.append(
            ("torch conv1d", lambda: torch.nn.functional.conv1d(torch.from_numpy(x).cuda().view(1, 1, -1), kt, padding=pad).view(-1).cpu().numpy())
        )
    except Exception as error:  # noqa: BLE001
        print(f"skipped: torch ({error})")
    return found


def images():
    """Convolutions of an image that stays on the device, in ms by the device's own clock."""
    try:
        import cupy
        import cupyx.scipy.ndimage
        import torch
    except ImportError as error:
        print(f"skipped: images ({error})")
        return
    if not torch.cuda.is_available():
        print("skipped: images (no device)")
        return

    def on_device(function):
        for _ in range(2):
            function()
        times = []
        for _ in range(5):
            torch.cuda.synchronize()
            start = time.perf_counter()
            function()
            torch.cuda.synchronize()
            cupy.cuda.runtime.deviceSynchronize()
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1e3

    print("image,name,class,filter,ms")
    for size in (5, 15):
        for kind in ("float64", "float32"):
            image = np.random.default_rng(1).standard_normal((8192, 8192)).astype(kind)
            entries = np.random.default_rng(2).standard_normal((size, size)).astype(kind)
            image_cupy, entries_cupy = cupy.asarray(image), cupy.asarray(entries)
            out = cupy.empty_like(image_cupy)
            ms = on_device(lambda: cupyx.scipy.ndimage.correlate(image_cupy, entries_cupy, output=out, mode="constant"))
            print(f"image,cupy correlate,{kind},{size},{ms:.4f}", flush=True)
            image_torch = torch.from_numpy(image).cuda().view(1, 1, 8192, 8192)
            entries_torch = torch.from_numpy(entries).cuda().view(1, 1, size, size)
            torch.backends.cudnn.allow_tf32 = False
            ms = on_device(lambda: torch.nn.functional.conv2d(image_torch, entries_torch, padding=size // 2))
            print(f"image,torch conv2d,{kind},{size},{ms:.4f}", flush=True)


def main():
    print("peer,name,taps,n,ms")
    for taps in (11, 21):
        k = np.random.default_rng(1).standard_normal(taps)
        for n in (20, 10_000, 1_000_000, 10_000_000, 100_000_000):
            x = np.random.default_rng(2).standard_normal(n)
            for name, function in peers(x, k):
                print(f"peer,{name},{taps},{n},{measure(function, n):.4f}", flush=True)


if __name__ == "__main__":
    main()
    images()
