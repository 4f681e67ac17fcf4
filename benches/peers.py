#!/usr/bin/env python3
"""Other libraries at the same work.

peers.py serve NAME   takes orders from benches/bench.py on standard input, by the protocol of bench_server.m; NAME is scipy,
                      cupy, torch or launch
peers.py passes [--quick] [NAME...]   one pass over arrays that stay on the device, as lines of CSV, as passes.m has them
peers.py large [--quick] [NAME...]    likewise, by long and large filters, as large.m has them
peers.py sweeps [--quick] [NAME...]   many sweeps over such arrays, as sweeps.m has them

NAME is cupy, torch, jax or scipy (on the processor); the first three unless given. What is missing is said, and the rest
goes on. With --quick arrays are small, to see that it works.
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
    """Measurements that leave out this contender, and the reasons."""


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
            # Does each step of a call of the documents' gateway, but for the reset of the device,
            # which would end this process's CuPy.
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


class Library:
    """Operations of a library on arrays that stay on the device; each computes correlations with zeros outside."""

    def __init__(self):
        import numpy

        self.numpy = numpy

    def array(self, x):
        return x

    def wait(self, u):
        pass

    def host(self, u):
        return self.numpy.asarray(u)

    def correlate(self, u, k):
        raise NotImplementedError

    def sweep(self, u, k, count):
        for _ in range(count):
            u = self.correlate(u, k)
        return u


class Scipy(Library):
    name = "scipy"

    def __init__(self):
        super().__init__()
        import scipy.ndimage

        self.ndimage = scipy.ndimage

    def correlate(self, u, k):
        return self.ndimage.correlate(u, k, mode="constant")


class Cupy(Library):
    name = "cupy"

    def __init__(self):
        super().__init__()
        self.cupy = cupy_device()
        import cupyx.scipy.ndimage

        import cupyx.scipy.signal

        self.ndimage = cupyx.scipy.ndimage
        self.signal = cupyx.scipy.signal

    def array(self, x):
        return self.cupy.asarray(x)

    def by_fft(self, u, k):
        return self.signal.fftconvolve(u, k[(slice(None, None, -1),) * k.ndim], mode="same")

    def wait(self, u):
        self.cupy.cuda.runtime.deviceSynchronize()

    def host(self, u):
        return self.cupy.asnumpy(u)

    def correlate(self, u, k):
        return self.ndimage.correlate(u, k, mode="constant")


class Torch(Library):
    name = "torch"

    def __init__(self):
        super().__init__()
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("no device")
        torch.backends.cudnn.allow_tf32 = False
        torch.set_grad_enabled(False)
        self.torch = torch

    def array(self, x):
        return self.torch.from_numpy(x).cuda()[None, None]

    def wait(self, u):
        self.torch.cuda.synchronize()

    def host(self, u):
        return u[0, 0].cpu().numpy()

    def correlate(self, u, k):
        functional = self.torch.nn.functional
        conv = (functional.conv1d, functional.conv2d, functional.conv3d)[k.dim() - 3]
        return conv(u, k, padding=[side // 2 for side in k.shape[2:]])


class Jax(Library):
    """Shifted arrays times the filter's entries, summed up: XLA makes one kernel of a sweep."""

    name = "jax"

    def __init__(self):
        super().__init__()
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.swept = jax.jit(self.sweeps, static_argnums=(2,))

    def array(self, x):
        return self.jax.numpy.asarray(x)

    def wait(self, u):
        u.block_until_ready()

    def once(self, u, k):
        jnp = self.jax.numpy
        padded = jnp.pad(u, [(side // 2, side // 2) for side in k.shape])
        total = jnp.zeros_like(u)
        for at in self.numpy.ndindex(*k.shape):
            shifted = tuple(slice(i, i + length) for i, length in zip(at, u.shape))
            total = total + padded[shifted] * k[at]
        return total

    def sweeps(self, u, k, count):
        return self.jax.lax.fori_loop(0, count, lambda _, v: self.once(v, k), u)

    def correlate(self, u, k):
        return self.swept(u, k, 1)

    def sweep(self, u, k, count):
        return self.swept(u, k, count)


def check_library(library):
    """Compares small correlations with plain sums."""
    np = library.numpy
    random = np.random.default_rng(3)
    for sides, area in (((5,), (40,)), ((3, 5), (12, 9)), ((3, 3, 3), (6, 7, 8))):
        x, k = random.standard_normal(area), random.standard_normal(sides)
        expected = np.zeros_like(x)
        padded = np.pad(x, [(side // 2, side // 2) for side in sides])
        for at in np.ndindex(*sides):
            expected += padded[tuple(slice(i, i + length) for i, length in zip(at, area))] * k[at]
        got = library.host(library.correlate(library.array(x), library.array(k)))
        if np.max(np.abs(got - expected)) > 1e-12:
            raise RuntimeError(f"a correlation by {sides} is wrong")


def on_device(library, function):
    """Seconds of a call, after one that does not count; one that takes seconds is measured once."""
    times = []
    for number in range(6):
        start = time.perf_counter()
        library.wait(function())
        times.append(time.perf_counter() - start)
        if times[-1] > 2 and number > 0:
            break
    return statistics.median(times[1:])


def words(sides):
    return "x".join(str(side) for side in sides)


def passes(library, quick):
    """One pass: NAME,CLASS,FUNCTION,FILTER,SIZE,US, as benches/passes.m has it."""
    cases = [("stencil", (taps,), (1 << 27,)) for taps in (3, 11, 21)]
    cases += [("convolution", (taps, taps), (8192, 8192)) for taps in (3, 5, 7, 9, 11, 15)]
    cases += [("convolution", (taps, taps, taps), (256, 256, 256)) for taps in (3, 5, 7)]
    for kind in ("double", "single"):
        for function, sides, area in cases:
            if quick:
                area = tuple(min(length, 32) for length in area)
            if function == "stencil" and kind == "single":
                continue
            if library.name == "jax" and math.prod(sides) > 49:
                continue  # so many shifted arrays take XLA longer to compile than all else here takes
            u, k = inputs(library, kind, area, sides)
            seconds = attempt(library, sides, lambda: on_device(library, lambda: library.correlate(u, k)))
            if seconds:
                print(f"{library.name},{kind},{function},{words(sides)},{words(area)},{seconds * 1e6:.4g},", flush=True)


def large(library, quick):
    """One pass of filters that are long or large: as `passes`."""
    cases = [("stencil", (taps,), (10_000_000,)) for taps in (63, 255, 1023)]
    cases += [("convolution", (taps, taps), (4096, 4096)) for taps in (17, 31, 49)]
    cases += [("convolution", (11, 11, 11), (256, 256, 256))]
    for kind in ("double", "single"):
        for function, sides, area in cases:
            if quick:
                area = tuple(min(length, 64) for length in area)
            # PyTorch takes a quarter of a second for 31 x 31.
            if library.name == "jax" or library.name == "torch" and math.prod(sides) > 300 and len(sides) > 1:
                continue
            u, k = inputs(library, kind, area, sides)
            ways = {library.name: library.correlate}
            if library.name == "cupy":
                ways["cupy_fft"] = library.by_fft
            for name, way in ways.items():
                seconds = attempt(library, sides, lambda way=way: on_device(library, lambda: way(u, k)))
                if seconds:
                    print(f"{name},{kind},{function},{words(sides)},{words(area)},{seconds * 1e6:.4g},", flush=True)


def sweeps(library, quick):
    """Many sweeps: NAME,device,CLASS,FILTER,0,SIZE,SWEEPS,RATE, as benches/sweeps.m has it."""
    count = 2 if quick else 20
    cases = [((taps,), (1 << 26,)) for taps in (3, 5, 9, 21)]
    cases += [((taps, taps), (8192, 8192)) for taps in (3, 5, 7)]
    cases += [((3, 3, 3), (512, 512, 512))]
    for kind in ("double", "single"):
        for sides, area in cases:
            if quick:
                area = tuple(min(length, 32) for length in area)
            if len(sides) == 1 and kind == "single":
                continue
            u, k = inputs(library, kind, area, sides)
            seconds = attempt(library, sides, lambda: on_device(library, lambda: library.sweep(u, k, count)))
            if seconds:
                rate = math.prod(area) * count / seconds / 1e9
                print(f"{library.name},device,{kind},{words(sides)},0,{words(area)},{count},{rate:.4g}", flush=True)


def inputs(library, kind, area, sides):
    np = library.numpy
    dtype = np.float64 if kind == "double" else np.float32
    x = np.random.default_rng(1).random(area, dtype=dtype)
    return library.array(x), library.array(np.full(sides, 1 / math.prod(sides), dtype=dtype))


def attempt(library, sides, measure):
    try:
        return measure()
    except Exception as error:  # noqa: BLE001 - a size it has no room for, say
        print(f"# {library.name}, {words(sides)}: {one_line(error)}", flush=True)
        return None


def in_turn(work, names, quick):
    for make in (Cupy, Torch, Jax, Scipy):
        if make.name not in names:
            continue
        try:
            library = make()
            check_library(library)
        except Exception as error:  # noqa: BLE001 - whatever it lacks, it is left out and said
            print(f"# skipped: {make.name} ({one_line(error)})", flush=True)
            continue
        work(library, quick)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"] and len(sys.argv) == 3 and sys.argv[2] in PEERS:
        serve(sys.argv[2])
    elif sys.argv[1:2] in (["passes"], ["large"], ["sweeps"]):
        words_after = sys.argv[2:]
        names = [word for word in words_after if word != "--quick"] or ["cupy", "torch", "jax"]
        in_turn({"passes": passes, "large": large, "sweeps": sweeps}[sys.argv[1]], names, "--quick" in words_after)
    else:
        sys.exit(__doc__.strip())
