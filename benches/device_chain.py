#!/usr/bin/env python3
"""Work on arrays that stay on the device, with CuPy and PyTorch: what benches/device_chain.m does, as lines of CSV with
medians in ms:

    chain,cupy,WHAT,N,MS

device_chain.py [--largest N] [NAME...]   NAME is cupy, torch or scipy (which is on the processor, of ordinary arrays);
                                          cupy and torch unless given; the largest arrays have 10^8 elements unless given

A sample is as many runs back to back as take about 50 ms, and one wait for the device after the last. What is missing
is said, and the rest goes on. Each library runs in a process of its own.
"""

import argparse
import math
import statistics
import subprocess
import sys
import time

# The filters of the examples, by the names of their steps: all are 3 x 3 and the same from all sides.
FILTERS = {
    "gray_scott": [[1 / 6, 4 / 6, 1 / 6], [4 / 6, -20 / 6, 4 / 6], [1 / 6, 4 / 6, 1 / 6]],
    "wave": [[0, 1 / 4, 0], [1 / 4, 1, 1 / 4], [0, 1 / 4, 0]],
    "life": [[1, 1, 1], [1, 0, 1], [1, 1, 1]],
}


def filters():
    """Ten that differ, each with a sum of 1, so that the numbers stay what they are."""
    taps = []
    for k in range(1, 11):
        bell = [math.exp(-0.5 * (i / (1 + 0.2 * k)) ** 2) * (1 + 0.02 * k * i) for i in range(-5, 6)]
        taps.append([entry / sum(bell) for entry in bell])
    return taps


class Cupy:
    """As users of CuPy write it: the functions of cupyx.scipy.ndimage, with filters that are on the device."""

    def __init__(self):
        import cupy
        import cupyx.scipy.ndimage

        if cupy.cuda.runtime.getDeviceCount() < 1:
            raise RuntimeError("no device")
        self.cupy = cupy
        self.ndimage = cupyx.scipy.ndimage
        self.filters = {name: cupy.asarray(taps, dtype=cupy.float64) for name, taps in FILTERS.items()}
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
        self.words = f"CuPy {cupy.__version__}, {name.decode() if isinstance(name, bytes) else name}"

    def to_device(self, x):
        return self.cupy.asarray(x)

    def to_host(self, u):
        return self.cupy.asnumpy(u)

    def wait(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def filter(self, k):
        return self.cupy.asarray(k, dtype=self.cupy.float64)

    def stencil(self, u, k):
        return self.ndimage.correlate1d(u, k, mode="constant")

    def image(self, u, name, circular=True):
        # Its "reflect" has the outermost sample twice.
        return self.ndimage.correlate(u, self.filters[name], mode="wrap" if circular else "reflect")

    def to_double(self, truth):
        return truth.astype(self.cupy.float64)

    def read(self, u):
        return float(u[0])

    def release(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


class Torch:
    def __init__(self):
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("no device")
        self.torch = torch
        self.functional = torch.nn.functional
        # They are in double: nothing here uses TF32. Without gradients nothing is kept for them.
        torch.set_grad_enabled(False)
        self.filters = {
            name: torch.tensor(taps, dtype=torch.float64, device="cuda").view(1, 1, 3, 3) for name, taps in FILTERS.items()
        }
        self.words = f"PyTorch {torch.__version__}, {torch.cuda.get_device_name(0)}"

    def to_device(self, x):
        return self.torch.from_numpy(x).cuda()

    def to_host(self, u):
        return u.cpu().numpy()

    def wait(self):
        self.torch.cuda.synchronize()

    def filter(self, k):
        return self.torch.tensor(k, dtype=self.torch.float64, device="cuda").view(1, 1, -1)

    def stencil(self, u, k):
        return self.functional.conv1d(u.view(1, 1, -1), k, padding=k.shape[2] // 2).view(-1)

    def image(self, u, name, circular=True):
        # One sample beyond the edge, the nearest one is the mirrored one.
        mode = "circular" if circular else "replicate"
        padded = self.functional.pad(u.view(1, 1, *u.shape), (1, 1, 1, 1), mode=mode)
        return self.functional.conv2d(padded, self.filters[name]).view(u.shape)

    def to_double(self, truth):
        return truth.to(self.torch.float64)

    def read(self, u):
        return float(u[0])

    def release(self):
        self.torch.cuda.empty_cache()


class Scipy:
    """On the processor, where the device's memory is the host's."""

    def __init__(self):
        import numpy
        import scipy
        import scipy.ndimage

        self.numpy = numpy
        self.ndimage = scipy.ndimage
        self.words = f"SciPy {scipy.__version__}, NumPy {numpy.__version__}"

    def to_device(self, x):
        return x.copy()

    def to_host(self, u):
        return u.copy()

    def wait(self):
        pass

    def filter(self, k):
        return self.numpy.asarray(k)

    def stencil(self, u, k):
        return self.ndimage.correlate1d(u, k, mode="constant")

    def image(self, u, name, circular=True):
        return self.ndimage.correlate(u, self.numpy.asarray(FILTERS[name]), mode="wrap" if circular else "reflect")

    def to_double(self, truth):
        return truth.astype(self.numpy.float64)

    def read(self, u):
        return float(u[0])

    def release(self):
        pass


LIBRARIES = {"cupy": Cupy, "torch": Torch, "scipy": Scipy}


def one_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def say(text):
    print(text, flush=True)


def react(library, u, v):
    """One step of GrayScott_Demo, in the same words."""
    du, dv, f, k = 0.16, 0.08, 0.037, 0.06
    uvv = u * v * v
    lu = library.image(u, "gray_scott")
    lv = library.image(v, "gray_scott")
    return u + (du * lu - uvv + f * (1 - u)), v + (dv * lv + uvv - (f + k) * v)


def leap(library, p, before, is_open):
    """One step of WaveEquation_Demo."""
    return is_open * library.image(p, "wave", circular=False) - before, p, is_open


def live(library, u):
    """One generation of GameOfLife_Demo."""
    n = library.image(u, "life")
    return library.to_double((n == 3) | ((u != 0) & (n == 2)))


class Bench:
    def __init__(self, name, largest):
        import numpy

        self.numpy = numpy
        self.name = name
        self.largest = largest
        self.library = LIBRARIES[name]()
        self.random = numpy.random.default_rng(1)
        self.taps = [self.library.filter(k) for k in filters()]

    def seconds(self, run, count):
        """Seconds of this number of runs back to back. RUN gets the result of the run before, None in the first."""
        self.library.wait()
        last = None
        start = time.perf_counter()
        for _ in range(count):
            last = run(last)
        self.library.wait()
        return time.perf_counter() - start

    def measure(self, what, n, run):
        """Median of the samples, in ms, as a line."""
        try:
            self.seconds(run, 1)
            self.seconds(run, 2)
            count, t = 1, self.seconds(run, 1)
            while t < 0.04:
                count = max(2 * count, math.ceil(min(10, 0.05 / t) * count))
                t = self.seconds(run, count)
            samples = [self.seconds(run, count) / count for _ in range(15 if t < 0.5 else 5)]
        except Exception as error:  # noqa: BLE001 - what it cannot do is said, and the rest goes on
            say(f"# failed: {self.name}, {what}, n = {n}: {one_line(error)}")
            self.library.release()
            return
        ms = statistics.median(samples) * 1e3
        say(f"chain,{self.name},{what},{n},{ms:.6f}")
        per_element = {"plus": 24, "scale": 16, "abs": 16}
        if what in per_element:
            say(f"# {self.name}, {what}, n = {n:g}: {per_element[what] * n / ms / 1e6:.0f} GB moved a second")

    def chain(self, u):
        for k in self.taps:
            u = self.library.stencil(u, k)
        return u

    def host_calls(self, x):
        for k in self.taps:
            x = self.library.to_host(self.library.stencil(self.library.to_device(x), k))
        return x

    def check(self):
        """Checks the timed results."""
        np, library = self.numpy, self.library
        x = self.random.random(1000)
        expected = x
        for k in filters():
            expected = np.convolve(expected, np.asarray(k)[::-1], mode="same")
        if np.max(np.abs(library.to_host(self.chain(library.to_device(x))) - expected)) > 1e-13:
            raise RuntimeError("the chain is wrong")
        image = self.random.random((20, 30))
        expected = np.zeros_like(image)
        for i in range(3):
            for j in range(3):
                expected += FILTERS["gray_scott"][i][j] * np.roll(image, (1 - i, 1 - j), axis=(0, 1))
        if np.max(np.abs(library.to_host(library.image(library.to_device(image), "gray_scott")) - expected)) > 1e-13:
            raise RuntimeError("the Laplacian is wrong")

    def run(self):
        library = self.library
        say(f"# {library.words}")
        self.check()

        x = self.random.random(100)
        u, v = library.to_device(x), library.to_device(self.random.random(100))
        first = self.taps[0]
        self.measure("plus_small", 100, lambda _: u + v)
        self.measure("stencil_small", 100, lambda _: library.stencil(u, first))
        self.measure("new_small", 100, lambda _: library.to_device(x))
        self.measure("read_small", 100, lambda _: library.read(u))

        for n in (size for size in (10**3, 10**4, 10**5, 10**6, 10**7, 10**8) if size <= self.largest):
            self.arrays(n)
            library.release()

        side = min(2048, math.isqrt(self.largest))
        fields = (
            library.to_device(1 - 0.5 * self.random.random((side, side))),
            library.to_device(0.25 * self.random.random((side, side))),
        )
        self.measure("gray_scott_step", side * side, lambda last: react(library, *(last or fields)))
        field = self.random.random((side, side))
        basin = (library.to_device(field), library.to_device(field), library.to_device((field > 0.1) * 1.0))
        self.measure("wave_step", side * side, lambda last: leap(library, *(last or basin)))
        cells = library.to_device((field < 0.4) * 1.0)
        self.measure("life_step", side * side, lambda last: live(library, cells if last is None else last))

    def arrays(self, n):
        library = self.library
        x = self.random.random(n)
        u = library.to_device(x)
        self.measure("chain_device", n, lambda _: self.chain(u))
        v = library.to_device(self.random.random(n))
        self.measure("plus", n, lambda _: u + v)
        if n < min(10**7, self.largest):
            return
        self.measure("chain_host_to_host", n, lambda _: library.to_host(self.chain(library.to_device(x))))
        if n <= 10**7:
            self.measure("chain_host_calls", n, lambda _: self.host_calls(x))
        self.measure("scale", n, lambda _: u * 1.25)
        self.measure("abs", n, lambda _: abs(u))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = parser.parse_args()
    names = asked.names or ["cupy", "torch"]
    unknown = [name for name in names if name not in LIBRARIES]
    if unknown:
        parser.error(f"there is no {unknown[0]} here, but {', '.join(LIBRARIES)}")
    if not asked.here:
        say("chain,name,what,n,ms")
        for name in names:
            status = subprocess.call([sys.executable, __file__, "--here", "--largest", str(asked.largest), name])
            if status:
                say(f"# failed: {name} ended with status {status}")
        return
    for name in names:
        try:
            bench = Bench(name, asked.largest)
        except Exception as error:  # noqa: BLE001 - whatever it lacks, it is left out and said
            say(f"# skipped: {name} ({one_line(error)})")
            continue
        bench.run()


if __name__ == "__main__":
    main()
