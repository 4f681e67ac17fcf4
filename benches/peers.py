#!/usr/bin/env python3
"""Other libraries at the same work.

peers.py serve NAME   takes orders from benches/bench.py on standard input; NAME is scipy, cupy, torch or launch. The protocol is that of bench_server.m.
peers.py sweeps       a stencil applied again and again to an array that stays on the device, as lines of CSV
peers.py images       convolutions of an image that stays on the device, as lines of CSV with medians in ms
"""

import math
import os
import statistics
import sys
import time

# The documents' launch: one block for each output, and one thread in it. Their test for the array's ends, which is
# always true, is put right.
LAUNCH = r"""
extern "C" {
__constant__ double kernel_array[21];

__global__ void Stencil_ConstantMemory(const double *input, double *output, long long n, int taps)
{
    const long long i = blockIdx.x;
    double sum = 0.0;
    for (int k = 0; k < taps; ++k) {
        const long long j = i + k - taps / 2;
        if (j >= 0 && j < n)
            sum += input[j] * kernel_array[k];
    }
    output[i] = sum;
}
}
"""


class Skip(Exception):
    """What this contender is left out of, and why."""


def scipy_peer():
    import numpy
    import scipy
    import scipy.ndimage

    def prepare(x, k):
        return lambda: scipy.ndimage.correlate1d(x, k, mode="constant")

    return f"SciPy {scipy.__version__}, NumPy {numpy.__version__}", prepare


def cupy_device():
    import cupy

    if cupy.cuda.runtime.getDeviceCount() < 1:
        raise RuntimeError("no device")
    return cupy


def cupy_peer():
    cupy = cupy_device()
    import cupyx.scipy.ndimage

    def prepare(x, k):
        on_device = cupy.asarray(k)
        return lambda: cupy.asnumpy(cupyx.scipy.ndimage.correlate1d(cupy.asarray(x), on_device, mode="constant"))

    return f"CuPy {cupy.__version__}", prepare


def torch_peer():
    import torch

    cuda = torch.cuda.is_available()

    def prepare(x, k):
        pad = len(k) // 2
        if cuda:
            taps = torch.from_numpy(k).cuda().view(1, 1, -1)

            def on_device():
                samples = torch.from_numpy(x).cuda().view(1, 1, -1)
                return torch.nn.functional.conv1d(samples, taps, padding=pad).view(-1).cpu().numpy()

            return on_device
        if len(x) > 1_000_000:
            raise Skip("on the processor PyTorch unfolds the array, taps times its size; only up to 10^6 here")
        taps = torch.from_numpy(k).view(1, 1, -1)

        def on_processor():
            return torch.nn.functional.conv1d(torch.from_numpy(x).view(1, 1, -1), taps, padding=pad).view(-1).numpy()

        return on_processor

    return f"PyTorch {torch.__version__} on {'CUDA' if cuda else 'the processor'}", prepare


def launch_peer():
    cupy = cupy_device()
    import numpy

    module = cupy.RawModule(code=LAUNCH)
    kernel = module.get_function("Stencil_ConstantMemory")
    kernel_array = cupy.ndarray((21,), dtype=numpy.float64, memptr=module.get_global("kernel_array"))

    def prepare(x, k):
        padded = numpy.zeros(21)
        padded[: len(k)] = k
        n, taps = numpy.int64(len(x)), numpy.int32(len(k))

        def call():
            # What the documents' gateway does in each call, but for the reset of the device, which would end this
            # process's CuPy.
            kernel_array.set(padded)
            on_device = cupy.asarray(x)
            output = cupy.empty_like(on_device)
            kernel((int(n),), (1,), (on_device, output, n, taps))
            return cupy.asnumpy(output)

        return call

    return f"one thread a block, through CuPy {cupy.__version__}", prepare


PEERS = {"scipy": scipy_peer, "cupy": cupy_peer, "torch": torch_peer, "launch": launch_peer}


def one_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def timed(function, calls):
    """Seconds that so many calls took, and the last result; each makes a new one."""
    start = time.perf_counter()
    for _ in range(calls):
        result = function()
    return time.perf_counter() - start, result


def check(x, k, y):
    """Compares a few outputs with the sum that they are to be: what computes something else is no peer."""
    n, r = len(x), len(k) // 2
    if len(y) != n:
        raise RuntimeError(f"{len(y)} outputs for {n}")
    for i in sorted({0, n // 2, n - 1}):
        near = range(max(0, i - r), min(n, i + r + 1))
        if not abs(float(y[i]) - sum(float(x[j]) * float(k[j - i + r]) for j in near)) <= 1e-12:
            raise RuntimeError(f"output {i} of {n} is wrong")


def serve(name):
    # The answers keep standard output to themselves: libraries may print there, too.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(text):
        answers.write(text + "\n")
        answers.flush()

    try:
        version, prepare = PEERS[name]()
        import numpy
    except Exception as error:  # noqa: BLE001 - whatever it lacks, it is left out and said
        say(f"skipped {name} {one_line(error)}")
        say("ready")
        return
    say(f"info {name} {version}")
    say(f"contender {name}")
    say("ready")

    random = numpy.random.default_rng(1)
    x = numpy.empty(0)
    setting, function, calls = None, None, 1
    for order in sys.stdin:
        if not order.strip():
            continue
        _, _, taps, n = order.split()
        taps, n = int(taps), int(float(n))
        try:
            if setting != (taps, n):
                setting = function = None
                if len(x) != n:
                    x = None  # before the next one is made: there may be no room for both
                    x = random.random(n)
                    x -= 0.5
                k = random.random(taps) - 0.5
                function = prepare(x, k)
                seconds, result = timed(function, 1)
                check(x, k, result)
                result = None
                setting, calls = (taps, n), 1
                if seconds >= 0.5 and name == "scipy":
                    # It has nothing to get ready: a first call as long as this is a sample.
                    say(f"sample {seconds:.9g} 1")
                    continue
                seconds = timed(function, 1)[0]
                while seconds < 2e-3:
                    calls = max(2 * calls, math.ceil(min(10 * calls, 3e-3 / seconds * calls)))
                    seconds = timed(function, calls)[0]
            if calls > 1:
                # Others have used the caches since: one call brings data and code back.
                function()
            seconds = timed(function, calls)[0] / calls
            say(f"sample {seconds:.9g} {calls}")
        except Skip as reason:
            say(f"failed {reason}")
        except Exception as error:  # noqa: BLE001
            say(f"failed {one_line(error)}")


def images():
    """Convolutions of an image that stays on the device, in ms by the host's clock."""
    try:
        import cupy
        import cupyx.scipy.ndimage
        import numpy as np
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


def sweeps():
    """Sweeps over 2^26 doubles that stay on the device, one call each.

    In 10^9 updates of a point a second by the host's clock.
    """
    print("sweeps,name,taps,n,G updates/s")
    import numpy as np

    n, count = 1 << 26, 20
    for taps in (3, 5, 9, 21):
        k = np.full(taps, 1.0 / taps)
        x = np.random.default_rng(1).standard_normal(n)
        contenders = {}
        try:
            import cupy
            import cupyx.scipy.ndimage

            a, b, kd = cupy.asarray(x), cupy.empty(n), cupy.asarray(k)

            def in_cupy(a=a, b=b, kd=kd):
                for _ in range(count // 2):
                    cupyx.scipy.ndimage.correlate1d(a, kd, output=b, mode="constant")
                    cupyx.scipy.ndimage.correlate1d(b, kd, output=a, mode="constant")
                cupy.cuda.runtime.deviceSynchronize()

            contenders["cupy correlate1d"] = in_cupy
        except Exception as error:  # noqa: BLE001 - whatever it lacks, it is left out and said
            print(f"skipped: cupy ({error})")
        try:
            import torch

            kt = torch.from_numpy(k).cuda().view(1, 1, -1)
            state = [torch.from_numpy(x).cuda().view(1, 1, -1)]

            def in_torch(state=state, kt=kt, pad=taps // 2):
                for _ in range(count):
                    state[0] = torch.nn.functional.conv1d(state[0], kt, padding=pad)
                torch.cuda.synchronize()

            contenders["torch conv1d"] = in_torch
        except Exception as error:  # noqa: BLE001
            print(f"skipped: torch ({error})")
        for name, function in contenders.items():
            times = []
            for sample in range(4):
                start = time.perf_counter()
                function()
                times.append(time.perf_counter() - start)
            print(f"sweeps,{name},{taps},{n},{n * count / statistics.median(times[1:]) / 1e9:.1f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"] and len(sys.argv) == 3 and sys.argv[2] in PEERS:
        serve(sys.argv[2])
    elif sys.argv[1:] == ["images"]:
        images()
    elif sys.argv[1:] == ["sweeps"]:
        sweeps()
    else:
        sys.exit(__doc__.strip())
