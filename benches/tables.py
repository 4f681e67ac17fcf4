#!/usr/bin/env python3
"""Every measurement of BENCHMARKS.md, and its tables.

tables.py measure   runs the benchmarks, ours and the peers' in turn, and writes a CSV file for each part
tables.py write     makes the tables of BENCHMARKS.md from the files in docs/measurements

A part is calls, passes, large, shapes, sweeps, steps, arrays, solver, levels or study. What a machine lacks (a GPU, a peer) is said
in the log and left out. Only Python's standard library is needed here; the peers are taken from the Python that --python names.
CONTRIBUTING.md has the commands for a machine with a GPU and neither Rust nor Octave.
"""

import argparse
import csv
import datetime
import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MEASUREMENTS = ROOT / "docs" / "measurements"
DOCUMENT = ROOT / "BENCHMARKS.md"


# Measuring.


# Prints a line for each peer that a Python has.
VERSIONS = """
import importlib.metadata
for package in sorted(importlib.metadata.distributions(), key=lambda p: str(p.metadata["Name"])):
    name = str(package.metadata["Name"])
    if name in ("jax", "numpy", "scipy", "torch") or name.startswith("cupy"):
        print(name, package.version)
"""


class Run:
    """Settings that all parts share: the commands of the hosts, and the places of results and log."""

    def __init__(self, options):
        self.options = options
        self.out = options.out.resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.log = open(self.out / "log.txt", "a")
        self.start = time.monotonic()
        self.octave = shlex.split(options.octave) + ["--norc", "--no-history", "--quiet"]
        self.facts = self.machine()
        self.backend = "cuda" if self.facts["device"] else "cpu"

    def say(self, text):
        line = f"[{time.monotonic() - self.start:5.0f} s] {text}"
        print(line, flush=True)
        self.log.write(line + "\n")
        self.log.flush()

    def lines(self, command):
        """Returns a command's output, line by line; standard error goes to the log."""
        self.say("$ " + shlex.join(command).splitlines()[0])
        limit = self.options.limit - (time.monotonic() - self.start)
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL, text=True, cwd=ROOT
        )
        try:
            text, _ = process.communicate(timeout=max(1, limit))
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
            self.say(f"stopped at the limit of {self.options.limit} s")
        if process.returncode:
            self.say(f"ended with status {process.returncode}")
        found = (text or "").splitlines()
        for line in found:
            if line.startswith("#"):
                self.log.write(line + "\n")
        return found

    def in_octave(self, code):
        paths = ", ".join("'" + str(path).replace("'", "''") + "'" for path in (HERE, self.options.mex.resolve()))
        return self.lines([*self.octave, "--eval", f"addpath ({paths}); {code}"])

    def peers(self, what, columns):
        """Rows of the libraries on the device, each in a process of its own."""
        quick = ["--quick"] if self.options.quick else []
        rows = []
        for name in ("cupy", "torch", "jax"):
            rows += fields(self.lines([self.options.python, str(HERE / "peers.py"), what, name, *quick]), columns)
        return rows

    def read(self, part, path):
        """Takes a file that a benchmark wrote for the part's."""
        try:
            with open(path, newline="") as file:
                rows = list(csv.reader(line for line in file if not line.startswith("#")))
        except OSError as error:
            self.say(f"{part}: {error}")
            return
        self.write(part, rows[0], rows[1:])

    def machine(self):
        code = (
            "d = ConstantMemoryDevice_CUDA (); printf ('%s\\n', d.Name, d.KernelDriver, d.Version, d.Build, d.SIMD, "
            "version ()); printf ('%d\\n', d.DeviceSupported);"
        )
        words = self.in_octave(code)
        if len(words) < 7:
            sys.exit(f"tables: Octave did not answer; see {self.out / 'log.txt'}")
        device, driver, version, build, simd, octave, supported = words[-7:]
        try:
            model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE).group(1)
        except (OSError, AttributeError):
            model = "unknown processor"
        on_gpu = supported == "1"
        gpu = f"one {device} (driver {driver})" if on_gpu else "no GPU"
        return {
            "device": device if on_gpu else "",
            "machine": f"{gpu}; {model}, {len(os.sched_getaffinity(0))} cores, {simd}; Octave {octave}",
            "build": f"{version}, {build}",
            "peers": ", ".join(self.lines([self.options.python, "-c", VERSIONS])),
        }

    def write(self, part, columns, rows):
        """The part's file: what it was measured on in lines that begin with #, then the columns."""
        if not rows:
            self.say(f"{part}: nothing was measured")
            return
        name = f"{part}.csv"
        with open(self.out / name, "w", newline="") as file:
            file.write(f"# machine: {self.facts['machine']}\n# build: {self.facts['build']}\n")
            file.write(f"# peers: {self.facts['peers']}\n# date: {datetime.datetime.now():%Y-%m-%d}\n")
            file.write(f"# command: benches/tables.py measure --parts {part}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)
        self.say(f"{name}: {len(rows)} lines")


def fields(lines, columns):
    """The lines of CSV that have so many columns, without the heading."""
    rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    return [row for row in rows if len(row) == len(columns) and row != list(columns)]


def truth(value):
    return "true" if value else "false"


def calls(run):
    quick = run.options.quick
    command = [sys.executable, str(HERE / "bench.py"), "--octave", run.options.octave, "--python", run.options.python]
    command += ["--mex", str(run.options.mex.resolve()), "--taps", "11"]
    command += ["--sizes", "20,1e4" if quick else "20,1e3,1e4,1e5,1e6,1e7,1e8"]
    command += ["--seconds", "6", "--quick"] if quick else ["--seconds", "150"]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "calls"
        run.lines([*command, "--out", str(out)])
        run.read("calls", out / "results.csv")


PASSES = ("name", "class", "function", "filter", "size", "us", "share")
SHAPES = ("engine", "class", "filter", "size", "sweeps", "us", "times")
SWEEPS = ("name", "place", "class", "filter", "boundary", "size", "sweeps", "rate")
ARRAYS = ("chain", "name", "what", "n", "ms")
SOLVER = ("solver", "what", "n", "us", "bytes", "share")
STEPS = ("steps", "name", "what", "n", "us")
LEVELS = ("levels", "taps", "length", "lines", "us", "rate", "stepwise")


def passes(run):
    rows = fields(run.in_octave(f"passes ('{run.backend}', {truth(run.options.quick)})"), PASSES)
    run.write("passes", PASSES, rows + run.peers("passes", PASSES))


def large(run):
    rows = fields(run.in_octave(f"large ('{run.backend}', {truth(run.options.quick)})"), PASSES)
    run.write("large", PASSES, rows + run.peers("large", PASSES))


def shapes(run):
    engines = sorted({run.backend, "cpu"}, reverse=True)
    found = [fields(run.in_octave(f"shapes ('{engine}', {truth(run.options.quick)})"), SHAPES) for engine in engines]
    run.write("shapes", SHAPES, [row for rows in found for row in rows])


def sweeps(run):
    rows = fields(run.in_octave(f"sweeps ('{run.backend}', {truth(run.options.quick)})"), SWEEPS)
    run.write("sweeps", SWEEPS, rows + run.peers("sweeps", SWEEPS))


def steps(run):
    quick = ["--quick"] if run.options.quick else []
    rows = fields(run.in_octave(f"steps ('{run.backend}', {truth(run.options.quick)})"), STEPS)
    run.write("steps", STEPS, rows + fields(run.lines([run.options.python, str(HERE / "steps.py"), *quick]), STEPS))


def arrays(run):
    largest = "1e3" if run.options.quick else "1e8"
    rows = fields(run.in_octave(f"device_chain ('{run.backend}', {largest})"), ARRAYS)
    rows += fields(run.lines([run.options.python, str(HERE / "device_chain.py"), "--largest", largest]), ARRAYS)
    run.write("arrays", ARRAYS, rows)


def solver(run):
    code = f"solver ('{run.backend}', {'1e3' if run.options.quick else '1e8'})"
    run.write("solver", SOLVER, fields(run.in_octave(code), SOLVER))


def levels(run):
    code = f"levels ('{run.backend}', {truth(run.options.quick)})"
    run.write("levels", LEVELS, fields(run.in_octave(code), LEVELS))


def study(run):
    if run.backend != "cuda":
        run.say("study: it needs a GPU")
        return
    with tempfile.TemporaryDirectory() as folder:
        small = "r = ConstantMemoryStudy_CUDA ('angles', 'Threads', 64); " if run.options.quick else ""
        run.in_octave(f"{small}ConstantMemoryStudy_Demo ('{folder}'{', r' if small else ''})")
        run.read("study", Path(folder) / "study_demo.csv")


PARTS = {
    "passes": passes,
    "large": large,
    "shapes": shapes,
    "sweeps": sweeps,
    "levels": levels,
    "steps": steps,
    "solver": solver,
    "study": study,
    "arrays": arrays,
    "calls": calls,
}


def measure(options):
    run = Run(options)
    for name in options.parts:
        left = options.limit - (time.monotonic() - run.start)
        if left < 10:
            run.say(f"{name}: no time is left")
            continue
        run.say(f"== {name}")
        PARTS[name](run)
    run.say("done")


# Writing.


class Table:
    """A file of measurements: its facts and its rows."""

    def __init__(self, name):
        self.path = MEASUREMENTS / f"{name}.csv"
        self.facts = {}
        with open(self.path, newline="") as file:
            lines = file.read().splitlines()
        for line in lines:
            if found := re.match(r"# (\w+): (.*)", line):
                self.facts[found.group(1)] = found.group(2)
        self.rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))

    def caption(self):
        """The command, and what the top of the page does not say of all tables."""
        common = common_facts()
        own = [f"{key} {self.facts[key]}" for key in FACTS if key in self.facts and key not in common]
        command = f"`{self.facts['command']}`" if "command" in self.facts else ""
        return "(" + "; ".join([*own, command]).rstrip("; ") + ")"

    def find(self, column, **wanted):
        """The number in the first row that has these values; None where there is none."""
        for row in self.rows:
            if all(row[key] == str(value) for key, value in wanted.items()):
                try:
                    return float(row[column])
                except ValueError:
                    return None
        return None


FACTS = ("machine", "build", "peers", "date")


@functools.cache
def common_facts():
    """Properties that all measured parts share."""
    tables = [Table(part) for part in PARTS if (MEASUREMENTS / f"{part}.csv").exists()]
    of_all = {key: {table.facts.get(key) for table in tables} for key in FACTS}
    return {key: values.pop() for key, values in of_all.items() if len(values) == 1 and None not in values}


def table_facts():
    return [f"- {key}: {value}" for key, value in common_facts().items() if value]


def times(size):
    """3x3 with a sign for it."""
    return size.replace("x", "\u00d7")


def short(value, scale=1.0):
    """Three figures, or all before the point."""
    if value is None or value != value:
        return "-"
    value *= scale
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:#.3g}".rstrip(".")


def power(n):
    digits = str(n)
    return f"10^{len(digits) - 1}" if n >= 10**4 and digits.rstrip("0") == "1" else f"{n:,}"


def markdown(heading, rows):
    lines = ["|" + "|".join(row) + "|" for row in [heading, *rows]]
    return [lines[0], "|" + "---|" * len(heading), *lines[1:]]


def table_calls():
    table = Table("calls")
    taps = next(row["taps"] for row in table.rows if row["record"] == "time")
    sizes = sorted({int(row["n"]) for row in table.rows if row["record"] == "time"})
    names = ("ours_cpu", "filter", "conv", "scipy", "cupy", "torch", "launch")
    heading = ["n", "CUDA, us", "CPU", "`filter`", "`conv`", "SciPy", "CuPy", "PyTorch", "one thread a block"]
    rows = []
    for n in sizes:
        own = table.find("median", record="time", taps=taps, n=n, contender="ours_cuda")
        ratio = lambda name: table.find("median", record="ratio", taps=taps, n=n, contender=name, against="ours_cuda")
        rows.append([power(n), short(own, 1e6), *[short(ratio(name)) for name in names]])
    lines = markdown(heading, rows)
    return [*lines, "", f"{taps} taps; the others: how many times the time of ours on CUDA. {table.caption()}"]


def table_limits():
    table = Table("calls")
    words = {"link": "the link, both ways at once, GB/s each way", "copy": "a copy into fresh pages, all cores, GB/s"}
    rows = []
    for row in table.rows:
        if row["record"] == "first":
            rows.append([f"first call: {row['contender']}, ms", short(float(row["median"]), 1e3)])
        elif row["record"] == "limit":
            rows.append([words[row["contender"]], short(float(row["median"]) * 8e-9)])
    return markdown(["", ""], rows)


def product(size):
    total = 1
    for side in size.split("x"):
        total *= int(side)
    return total


def dims(size, count):
    return len(size.split("x")) == count


def kept(rows):
    """Without rows of nothing but dashes."""
    return [row for row in rows if any(cell not in ("-", "") for cell in row[1:])]


PEERS = (("jax", "JAX"), ("cupy", "CuPy"), ("torch", "PyTorch"))


def table_stencil():
    table = Table("passes")
    size = max((row["size"] for row in table.rows if row["function"] == "stencil"), key=product)
    taps = (3, 11, 21)
    of = {"function": "stencil", "size": size, "class": "double"}
    found = lambda column, name: [short(table.find(column, name=name, filter=tap, **of)) for tap in taps]
    rows = [["us", *found("us", "ours")], ["of the copy", *found("share", "ours")]]
    rows += [[f"{label}, us", *found("us", name)] for name, label in PEERS]
    return [*markdown([f"{product(size):,} doubles; taps", *map(str, taps)], kept(rows)), "", table.caption()]


def table_derivative():
    table = Table("passes")
    rows = []
    for kind in ("double", "single"):
        for memory in ("constant", "readonly"):
            of = {"name": "ours", "function": "derivative", "filter": memory, "class": kind}
            rows.append([f"{kind}, {memory}", short(table.find("us", **of)), short(table.find("share", **of))])
    return [*markdown(["", "us", "of the copy"], kept(rows)), "", table.caption()]


def table_convolution():
    table = Table("passes")
    lines = []
    ours = [row for row in table.rows if row["function"] == "convolution" and row["name"] == "ours"]
    for count, wanted in ((2, "8192x8192"), (3, "256x256x256")):
        sizes = {row["size"] for row in ours if dims(row["size"], count)}
        size = wanted if wanted in sizes else max(sizes, key=product)
        filters = sorted({row["filter"] for row in ours if dims(row["filter"], count)} - {"13x13"}, key=product)
        rows = []
        for kind in ("double", "single"):
            of = {"function": "convolution", "size": size, "class": kind}
            found = lambda column, name: [table.find(column, name=name, filter=what, **of) for what in filters]
            us = found("us", "ours")
            work = [2e-6 * product(what) * product(size) for what in filters]
            rows.append([f"{kind}, us", *map(short, us)])
            rows.append(["TFLOP/s", *[short(flops / time if time else None) for flops, time in zip(work, us)]])
            rows.append(["of the copy", *map(short, found("share", "ours"))])
            rows += [[f"{label}, us", *map(short, found("us", name))] for name, label in PEERS]
        title = f"{'image' if count == 2 else 'volume'} of {times(size)}"
        lines += [*markdown([title, *map(times, filters)], kept(rows)), ""]
    return [*lines, table.caption()]


def table_large():
    table = Table("large")
    ours = [row for row in table.rows if row["name"] == "ours" and row["function"] != "copy"]
    peers = (("cupy", "CuPy"), ("cupy_fft", "CuPy, FFT"), ("torch", "PyTorch"))
    head = ["filter, array", "double, us", "TFLOP/s", *[label for _, label in peers], "single, us", "TFLOP/s"]
    rows = []
    for row in (row for row in ours if row["class"] == "double"):
        what, size = row["filter"], row["size"]
        cells = [f"{times(what)}, {times(size) if 'x' in size else power(int(size))}"]
        for kind in ("double", "single"):
            us = table.find("us", name="ours", filter=what, size=size, **{"class": kind})
            cells += [short(us), short(2e-6 * product(what) * product(size) / us if us else None)]
            if kind == "double":
                of = {"filter": what, "size": size, "class": kind}
                cells += [short(table.find("us", name=name, **of)) for name, _ in peers]
        rows.append(cells)
    return [*markdown(head, rows), "", table.caption()]


def table_shapes():
    table = Table("shapes")
    sizes = list(dict.fromkeys(row["size"] for row in table.rows))
    lines = []
    for engine in dict.fromkeys(row["engine"] for row in table.rows):
        rows = {}
        for row in (row for row in table.rows if row["engine"] == engine):
            of = {key: row[key] for key in ("engine", "filter", "sweeps")}
            cells = [f"{times(row['filter'])}, {'1 pass' if row['sweeps'] == '1' else row['sweeps'] + ' sweeps'}"]
            for size in sizes:
                both = [table.find("times", size=size, **{"class": kind}, **of) for kind in ("double", "single")]
                cells.append(" / ".join(f"{value:.1f}" for value in both))
            rows[cells[0]] = cells
        head = ["the GPU" if engine == "cuda" else "the processor", *[by_powers(size) for size in sizes]]
        lines += [*markdown(head, rows.values()), ""]
    return [*lines, table.caption()]


def by_powers(size):
    return "×".join(power(int(n)) for n in size.split("x"))


def table_sweeps_lines():
    table = Table("sweeps")
    ours = [row for row in table.rows if row["name"] == "ours" and row["place"] == "device" and dims(row["size"], 1)]
    size = max((row["size"] for row in ours), key=product)
    taps = (3, 5, 9, 13, 21)
    found = lambda name, **of: table.find("rate", name=name, place="device", boundary="0", **of)
    rows = []
    for name, label in (("ours", "ours"), *PEERS):
        rows.append([label, *[short(found(name, filter=tap, size=size)) for tap in taps]])
    lines = [*markdown([f"G updates/s, {product(size):,} doubles; taps", *map(str, taps)], kept(rows)), ""]
    lengths = sorted({row["size"] for row in ours if row["size"] != size}, key=product)
    rows = []
    for tap in (3, 21):
        rate = [found("ours", filter=tap, size=n) for n in lengths]
        rows.append([f"{tap} taps", *[short(int(n) / r / 1e3 if r else None) for n, r in zip(lengths, rate)]])
    return [*lines, *markdown(["us a sweep; points", *[power(int(n)) for n in lengths]], kept(rows)), "", table.caption()]


def table_sweeps_images():
    table = Table("sweeps")
    published = Table("published")
    ours = [row for row in table.rows if row["name"] == "ours" and row["place"] == "device"]
    images = max((row["size"] for row in ours if dims(row["size"], 2)), key=product)
    volumes = max((row["size"] for row in ours if dims(row["size"], 3)), key=product)
    rows = []
    for kind in ("double", "single", "star double", "star single"):
        for what in ("3x3", "5x5", "7x7", "3x3x3"):
            of = {"filter": what, "class": kind}
            size = images if dims(what, 2) else volumes
            rate = lambda name, **more: short(table.find("rate", name=name, place="device", **of, **more))
            own = [rate("ours", boundary=name, size=size) for name in ("0", "circular", "replicate")]
            rows.append([f"{times(what)} {kind}", *own, *[rate(name) for name, _ in PEERS]])
            rows[-1].append(short(published.find("rate", name="FastStencil", **of)))
    heading = ["", "zeros", "circular", "replicate", *[label for _, label in PEERS], "FastStencil *"]
    lines = markdown(heading, kept(rows))
    lines += ["", f"G updates/s, images of {times(images)}, volumes of {times(volumes)}.", ""]
    sides = sorted({row["size"] for row in ours if dims(row["size"], 2) and row["size"] != images}, key=product)
    rows = []
    for kind in ("double", "single"):
        for what in ("3x3", "5x5", "7x7"):
            of = {"filter": what, "class": kind, "boundary": "0"}
            rate = [table.find("rate", name="ours", place="device", size=size, **of) for size in sides]
            us = [short(product(size) / r / 1e3 if r else None) for size, r in zip(sides, rate)]
            rows.append([f"{times(what)} {kind}", *us])
    lines += markdown(["us a sweep; side", *[size.split("x")[0] for size in sides]], kept(rows))
    return [*lines, "", table.caption()]


def table_sweeps_host():
    table = Table("sweeps")
    host = [row for row in table.rows if row["place"] == "host"]
    rows = []
    for what, size in dict.fromkeys((row["filter"], row["size"]) for row in host):
        of = {row["name"]: row for row in host if (row["filter"], row["size"]) == (what, size)}
        count = max(int(row["sweeps"]) for row in of.values())
        own = "conv2" if dims(what, 2) else "conv"
        seconds = lambda name: product(size) * count / float(of[name]["rate"]) / 1e9 if name in of else None
        area = times(size) if dims(size, 2) else power(int(size))
        found = [short(seconds(name)) for name in ("ours cuda", "ours cpu", "filter", own)]
        filter = times(what) if dims(what, 2) else f"{what} taps"
        rows.append([f"{filter}, {area}, {count:,} sweeps", *found])
    lines = markdown(["seconds", "CUDA", "CPU", "`filter` *", "`conv`, `conv2` *"], rows)
    return [*lines, "", f"(* One call, times the number of sweeps.) {table.caption()}"]


def table_solver():
    table = Table("solver")
    rows = [[row["what"], short(float(row["us"])), row["bytes"], short(float(row["share"]))] for row in table.rows]
    n = power(int(table.rows[0]["n"]))
    return [*markdown([f"a sweep over {n}", "us", "bytes an element", "share of a copy"], rows), "", table.caption()]


def table_levels():
    table = Table("levels")
    known = [(int(row["length"]), int(row["lines"])) for row in table.rows]
    sizes = [size for size in ((10**8, 1), (10**6, 1), (10**4, 1), (1000, 10**4)) if size in known] or known[:2]
    name = lambda length, lines: power(length) if lines == 1 else f"{power(lines)} x {length:,}"
    rows = []
    for taps in sorted({int(row["taps"]) for row in table.rows}):
        rows.append([f"{taps} taps"])
        for length, lines in sizes:
            of = {"taps": taps, "length": length, "lines": lines}
            rows[-1].append(f"{short(table.find('rate', **of))} ({short(table.find('stepwise', **of))})")
    return [*markdown(["", *[name(*size) for size in sizes]], rows), "", table.caption()]


STEP_WORDS = {
    "gray_scott": "Gray and Scott",
    "wave": "wave with obstacles",
    "life": "Game of Life",
    "heat": "heat, 3\u00d73",
    "flux": "heat through a material, four filters",
    "gradients": "conjugate gradients",
}


def table_steps():
    table = Table("steps")
    sizes = sorted({int(row["n"]) for row in table.rows})
    rows = []
    for what, words in STEP_WORDS.items():
        of = lambda name, n: short(table.find("us", name=name, what=what, n=n))
        rows.append([words, *[f"{of('ours', n)} ({of('jax', n)})" for n in sizes]])
    heading = ["us a step (JAX)", *[times(f"{n}x{n}") for n in sizes]]
    return [*markdown(heading, rows), "", table.caption()]


ARRAY_WORDS = {
    "chain_device": "ten filters of 11 taps",
    "chain_host_to_host": "the same, one transfer each way",
    "gray_scott_step": "a step of Gray and Scott",
    "wave_step": "a step of the wave equation",
    "life_step": "a step of the Game of Life",
    "plus_small": "`a + b` of 100",
    "stencil_small": "a stencil of 100",
    "new_small": "`DeviceArray (x)` of 100",
    "read_small": "`u(1)`",
}


def table_arrays():
    table = Table("arrays")
    rows = []
    for what, words in ARRAY_WORDS.items():
        sizes = sorted({int(row["n"]) for row in table.rows if row["what"] == what})
        if what.startswith("chain"):
            sizes = [n for n in sizes if n >= 10**6] or sizes
        for n in sizes:
            found = [table.find("ms", name=name, what=what, n=n) for name in ("ours", "cupy", "torch", "octave")]
            side = round(n**0.5)
            area = times(f"{side}x{side}") if what.endswith("_step") else power(n)
            title = words if what.endswith("_small") else f"{words}, {area}"
            rows.append([title, *[short(value, 1e3) for value in found]])
    return [*markdown(["us", "ours", "CuPy", "PyTorch", "Octave"], kept(rows)), "", table.caption()]


def table_pays():
    table = Table("arrays")
    sizes = sorted({int(row["n"]) for row in table.rows if row["what"] in ("chain_device", "plus")})
    cases = (
        ("ten filters, DeviceArray", "ours", "chain_device"),
        ("ordinary arrays, CUDA", "ours", "chain_host_calls"),
        ("ordinary arrays, CPU", "ours", "chain_cpu_calls"),
        ("`u + v`, DeviceArray", "ours", "plus"),
        ("`x + x`, Octave", "octave", "plus"),
    )
    rows = []
    for words, name, what in cases:
        rows.append([words, *[short(table.find("ms", name=name, what=what, n=n), 1e3) for n in sizes]])
    return markdown(["us", *map(power, sizes)], kept(rows))


def table_study():
    table = Table("study")
    rows = {}
    for row in table.rows:
        elements, block = int(float(row["Elements"])), int(float(row["BlockSize"]))
        if (row["Study"], block) in [("readonly", other) for other in (64, 128, 512, 1024)]:
            continue
        words = row["Pattern"].replace("_", " ").replace("one access ", "")
        name = f"{row['Study']}, {words}" if words else f"{row['Study']}, blocks of {block}"
        rows.setdefault((f"{name}, {elements:,}"), []).append(f"{row['Kernel']} {short(float(row['MedianMs']), 1e3)}")
    lines = markdown(["study, elements", "us"], [[name, ", ".join(found)] for name, found in rows.items()])
    return [*lines, "", table.caption()]


TABLES = {
    "facts": table_facts,
    "calls": table_calls,
    "limits": table_limits,
    "stencil": table_stencil,
    "derivative": table_derivative,
    "convolution": table_convolution,
    "large": table_large,
    "shapes": table_shapes,
    "sweeps-lines": table_sweeps_lines,
    "sweeps-images": table_sweeps_images,
    "sweeps-host": table_sweeps_host,
    "solver": table_solver,
    "levels": table_levels,
    "steps": table_steps,
    "arrays": table_arrays,
    "pays": table_pays,
    "study": table_study,
}


def write(options):
    """Fills what stands between <!-- table NAME --> and <!-- end --> in BENCHMARKS.md, or looks whether it stands there."""
    text = before = DOCUMENT.read_text()
    marks = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
    missing = set(TABLES)

    def filled(found):
        name = found.group(2)
        if name not in TABLES:
            sys.exit(f"tables: BENCHMARKS.md asks for a table '{name}', of which nothing is known")
        missing.discard(name)
        lines = wrapped(TABLES[name]())
        return found.group(1) + "\n" + "\n".join(lines).rstrip() + "\n\n" + found.group(3)

    text = marks.sub(filled, text)
    if options.check and text != before:
        sys.exit("tables: BENCHMARKS.md is not what `benches/tables.py write` makes of docs/measurements")
    DOCUMENT.write_text(text)
    print(f"tables: BENCHMARKS.md has {len(text.split()):,} words")
    for name in sorted(missing):
        print(f"tables: BENCHMARKS.md has no place for the table '{name}'")


def wrapped(lines):
    """Text is broken at 120 columns, tables are not."""
    result = []
    for line in lines:
        if line.startswith("|") or len(line) <= 120:
            result.append(line)
            continue
        current = ""
        for word in line.split(" "):
            if current and len(current) + 1 + len(word) > 120:
                result.append(current)
                current = word
            else:
                current = f"{current} {word}" if current else word
        result.append(current)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    how = modes.add_parser("measure", help="run the benchmarks, write CSV files")
    how.add_argument("--octave", default=os.environ.get("OCTAVE") or "octave-cli", help="how Octave is started")
    how.add_argument("--python", default=sys.executable, help="the Python that has the peers, if not this one")
    how.add_argument("--mex", type=Path, default=ROOT / "matlab", help="the folder of the built MEX files (matlab/)")
    how.add_argument("--out", type=Path, default=MEASUREMENTS, help="where the files go (docs/measurements/)")
    how.add_argument("--limit", type=float, default=540, help="seconds after which nothing more is begun (540)")
    how.add_argument("--quick", action="store_true", help="small arrays, about a minute: to see that all of it works")
    how.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS), help=",".join(PARTS))
    how = modes.add_parser("write", help="make the tables of BENCHMARKS.md")
    how.add_argument("--check", action="store_true", help="change nothing; say whether the tables are of these files")
    options = parser.parse_args()
    if options.mode == "measure" and (unknown := set(options.parts) - set(PARTS)):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    {"measure": measure, "write": write}[options.mode](options)


if __name__ == "__main__":
    main()
