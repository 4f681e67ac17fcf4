#!/usr/bin/env python3
"""Ours beside its peers: ratios of samples that were taken in turn. `make bench` builds first and runs this.

StencilConstantMemory_CUDA on each backend, Octave's filter and conv, and what of SciPy, CuPy and PyTorch a Python has,
each from an ordinary array to a new one. An Octave and a Python for each library stay open; in every round each
contender is asked for one sample of at least 2 ms, in an order that rotates. A ratio is that of two samples of one
round. Written are results.csv, samples.csv, table.txt and, where there is gnuplot, throughput.png. Nothing is asserted
about times. Only Python's standard library is needed here."""

import argparse
import csv
import datetime
import os
import re
import select
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# Every contender by its key, in the order of the table.
LABELS = {
    "ours_cuda": "ours, CUDA",
    "ours_cpu": "ours, CPU",
    "filter": "Octave filter",
    "conv": "Octave conv",
    "scipy": "SciPy",
    "cupy": "CuPy",
    "torch": "PyTorch",
    "launch": "one thread a block",
}
PEERS = ("scipy", "cupy", "torch", "launch")
SIZES = (1, 20, 100, 1000, 4096, 10**4, 10**5, 10**6, 10**7, 10**8)
TAPS = (5, 11, 21)
QUICK_SIZES = (20, 10**4, 10**6, 10**7)
MOST_ROUNDS = 101
ANSWER_SECONDS = 300


def progress(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def power(n):
    """10^6 for a power of ten from 10^4 on."""
    digits = str(n)
    return f"10^{len(digits) - 1}" if n >= 10**4 and digits.rstrip("0") == "1" else digits


def short(value):
    """Three figures, without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{1 if value >= 10 else 2 if value >= 1 else 3}f}"


class Spread:
    """Median, quartiles and ends of samples."""

    def __init__(self, samples):
        self.count = len(samples)
        self.median = statistics.median(samples)
        self.lower, self.upper = self.median, self.median
        if len(samples) > 1:
            self.lower, _, self.upper = statistics.quantiles(samples, n=4, method="inclusive")
        self.least, self.most = min(samples), max(samples)

    def text(self, scale=1.0):
        return f"{short(self.median * scale)} ({short(self.lower * scale)}..{short(self.upper * scale)})"


class Dead(Exception):
    """A server that ended, or does not answer."""


class Server:
    """A process that takes orders and gives answers, a line each."""

    def __init__(self, name, command, environment, folder):
        self.name = name
        self.log = Path(folder) / f"{name}.log"
        self.told = 0
        self.buffer = b""
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0, env=environment
            )

    def answer(self, seconds=ANSWER_SECONDS):
        deadline = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                self.end()
                raise Dead(f"no answer within {seconds} s")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                status = self.process.wait()
                log = self.log.read_text(errors="replace").strip().splitlines()
                raise Dead(f"its process ended with status {status}" + (f": {log[-1][:200]}" if log else ""))
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode(errors="replace").strip()

    def ask(self, order):
        try:
            # Octave's fgetl returns a line once it has seen that something follows: the empty one does.
            self.process.stdin.write(order.encode() + b"\n\n")
        except OSError as error:
            raise Dead(f"its process is gone ({error.strerror})") from error
        return self.answer()

    def new_log(self):
        """Returns its output on standard error since the last call."""
        with open(self.log, "rb") as log:
            log.seek(self.told)
            data = log.read()
        self.told += len(data)
        return data.decode(errors="replace")

    def end(self):
        """Its input ends, and then it does; one that does not is killed."""
        for stream in (self.process.stdin,):
            try:
                stream.close()
            except OSError:
                pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def inside(log):
    """Seconds inside mexFunction of each call that STENCIL_TRACE told of."""
    calls = re.findall(r"^StencilConstantMemory_CUDA:(.*)$", log, re.MULTILINE)
    return [sum(float(us) for us in re.findall(r"([\d.]+) us", call)) * 1e-6 for call in calls]


def available_bytes():
    """Memory that may still be taken: the system's, or the control group's if that is less. None where nobody tells."""
    try:
        found = re.search(r"^MemAvailable: *(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
        available = int(found.group(1)) * 1024
    except (OSError, AttributeError):
        return None
    try:
        most, used = (Path(f"/sys/fs/cgroup/memory.{what}").read_text().strip() for what in ("max", "current"))
        cached = re.search(r"^inactive_file (\d+)", Path("/sys/fs/cgroup/memory.stat").read_text(), re.MULTILINE)
        if most != "max":
            available = min(available, int(most) - int(used) + (int(cached.group(1)) if cached else 0))
    except (OSError, ValueError):
        pass
    return available


class Bench:
    def __init__(self, options):
        self.options = options
        self.started = time.monotonic()
        self.info = {}
        self.servers = {}
        self.skips = {}  # (what, reason) -> the settings that it was skipped in; none where it is all of them
        self.samples = {}  # (taps, n, contender) -> {round: seconds}
        self.inside = {}  # (taps, n, contender) -> [seconds]
        self.first = {}  # what -> [seconds]
        self.limits = {}  # what -> [points a second]
        self.rows = []  # of samples.csv
        octave = options.octave
        self.octave = [octave] if shutil.which(octave) else shlex.split(octave)
        self.octave += ["--norc", "--no-history", "--quiet"]
        self.environment = dict(os.environ)
        # Every contender's backend is named, and the trace is switched on where it is wanted.
        for name in ("STENCIL_TRACE", "STENCIL_BACKEND"):
            self.environment.pop(name, None)

    def left(self):
        return self.options.seconds - (time.monotonic() - self.started)

    def skip(self, what, reason, setting=None):
        if (what, reason) not in self.skips:
            progress(f"skipped: {what}{'' if setting is None else ' at ' + setting}: {reason}")
        settings = self.skips.setdefault((what, reason), [])
        if setting is not None:
            settings.append(setting)

    # The servers.

    def open(self, folder):
        quoted = [str(path).replace("'", "''") for path in (HERE, self.options.mex)]
        start = "addpath ('{}'); bench_server ('{}');".format(*quoted)
        servers = [Server("octave", self.octave + ["--eval", start], self.environment, folder)]
        for name in PEERS:
            try:
                command = [self.options.python, str(HERE / "peers.py"), "serve", name]
                servers.append(Server(name, command, self.environment, folder))
            except OSError as error:
                self.skip(LABELS[name], f"{self.options.python}: {error.strerror}")
        for server in servers:
            found = []
            try:
                while (line := server.answer()) != "ready":
                    word, key, rest = (line.split(" ", 2) + ["", ""])[:3]
                    if word == "info":
                        self.info[key] = rest
                    elif word == "contender":
                        found.append(key)
                    elif word == "skipped":
                        self.skip(LABELS[key], rest)
            except Dead as death:
                if server.name == "octave":
                    sys.exit(f"bench: Octave did not start: {death}")
                self.skip(LABELS[server.name], str(death))
                continue
            if found:
                self.servers.update({key: server for key in found})
            else:
                server.end()
        self.contenders = [key for key in LABELS if key in self.servers]
        progress("contenders: " + "; ".join(LABELS[key] for key in self.contenders))

    def close(self):
        for server in {id(server): server for server in self.servers.values()}.values():
            server.end()

    # Rounds of samples.

    def sample(self, key, taps, n, number):
        """Asks for one sample; whether there was one."""
        server = self.servers[key]
        setting = f"{taps} taps, n = {power(n)}"
        try:
            answer = server.ask(f"measure {key} {taps} {n}").split(" ", 2)
        except Dead as death:
            for lost in [other for other in self.contenders if self.servers[other] is server]:
                self.skip(LABELS[lost], f"from {setting} on: {death}")
                self.contenders.remove(lost)
            if server.name == "octave":
                raise
            return False
        if answer[0] != "sample":
            self.skip(LABELS[key], " ".join(answer[1:]), setting)
            return False
        seconds = float(answer[1])
        self.samples.setdefault((taps, n, key), {})[number] = seconds
        self.rows.append((taps, n, number, key, f"{seconds:.9g}", answer[2]))
        if key.startswith("ours"):
            self.inside.setdefault((taps, n, key), []).extend(inside(server.new_log()))
        return True

    def cell(self, taps, n, seconds):
        """Rounds for one setting.

        Each contender has an equal share of the time and three samples at least; ours is in every round.
        """
        playing = list(self.contenders)
        spent = dict.fromkeys(playing, 0.0)
        for number in range(MOST_ROUNDS):
            share = seconds / len(self.contenders)
            peers = [key for key in playing if not key.startswith("ours") and (number < 3 or spent[key] < share)]
            ours = [key for key in playing if key.startswith("ours")]
            if not peers and (number >= 3 and all(spent[key] >= share for key in ours)):
                break
            if number >= 3 and sum(spent.values()) >= seconds:
                break
            order = [key for key in playing if key in peers or key in ours]
            turn = number % len(order) if order else 0
            for key in order[turn:] + order[:turn]:
                start = time.monotonic()
                if key in self.contenders and not self.sample(key, taps, n, number):
                    playing.remove(key)
                spent[key] += time.monotonic() - start

    def measure(self):
        # The large ones first: their time is fixed, and the others share the rest.
        cells = [(n, taps) for n in sorted(self.options.sizes, reverse=True) for taps in self.options.taps]
        for i, (n, taps) in enumerate(cells):
            setting = f"{taps} taps, n = {power(n)}"
            # Every server keeps its input, and one at a time has also its output and copies, five
            # at the most.
            needed = 8 * n * (len(self.contenders) + 5) + (1 << 30 if n >= 10**6 else 0)
            available = available_bytes()
            if available is not None and needed > available:
                reason = f"it takes {needed / 1e9:.1f} GB of memory, and there are {available / 1e9:.1f}"
                self.skip("all", reason, setting)
                continue
            seconds = max(0.0, self.left()) / (len(cells) - i)
            progress(f"{setting} ({i + 1} of {len(cells)}, {max(0.0, self.left()):.0f} s left)")
            self.cell(taps, n, seconds)

    # Physical limits of a call.

    def probe(self, what, environment=None):
        """Lines of benches/limits.py, as lists of numbers; none, and a reason, where it skipped."""
        command = [sys.executable, str(HERE / "limits.py"), what]
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment or self.environment, text=True
        )
        lines = [line.split(" ", 1) for line in run.stdout.splitlines()]
        for word, rest in lines:
            if word == "skipped":
                return [], rest
        if run.returncode != 0 or not lines:
            return [], (run.stderr.strip().splitlines() or [f"status {run.returncode}"])[-1]
        return [[float(number) for number in rest.split()] for _, rest in lines], None

    def measure_limits(self):
        for what, label in (("link", "the link's limit"), ("copy", "the copy into fresh pages")):
            needed = 3 * (256 << 20)
            if (available_bytes() or needed) < needed:
                self.skip(label, "too little memory")
                continue
            found, reason = self.probe(what)
            if reason:
                self.skip(label, reason)
            else:
                self.limits.setdefault(what, []).extend(size / 8 / seconds for seconds, size in found)

    # First calls.

    def first_call(self, what, backend, n, environment):
        script = (
            "addpath ('{}'); x = rand (1, {}); k = rand (1, 11); t = tic (); "
            "y = StencilConstantMemory_CUDA (x, k, 'Backend', '{}'); printf (\"@%.9g\\n\", toc (t));"
        ).format(str(self.options.mex).replace("'", "''"), n, backend)
        run = subprocess.run(
            self.octave + ["--eval", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        found = re.search(r"^@(\S+)$", run.stdout, re.MULTILINE)
        if found:
            self.first.setdefault(what, []).append(float(found.group(1)))
        else:
            self.skip(what, (run.stderr.strip().splitlines() or [f"status {run.returncode}"])[-1])

    def measure_first_calls(self):
        cuda = "ours_cuda" in self.servers
        if not cuda:
            self.skip("first calls on CUDA", self.info.get("reason", "no device"))
        context = "a context alone, no kernel"
        for number in range(2 if self.options.quick else 5):
            progress(f"first calls in fresh processes, {number + 1}")
            with tempfile.TemporaryDirectory() as cache:
                # The driver keeps compiled kernels in this folder, which is empty for the first process.
                environment = dict(self.environment, CUDA_CACHE_PATH=cache)
                environment.pop("CUDA_CACHE_DISABLE", None)
                found, reason = self.probe("context", environment)
                if reason:
                    self.skip(context, reason)
                else:
                    self.first.setdefault(context, []).append(found[0][0])
                if cuda:
                    self.first_call("ours, CUDA, 20 points, driver's kernel cache empty", "cuda", 20, environment)
                    self.first_call("ours, CUDA, 20 points, kernel cached", "cuda", 20, environment)
                    if not self.options.quick:
                        self.first_call("ours, CUDA, 10^6 points, kernel cached", "cuda", 10**6, environment)
                self.first_call("ours, CPU, 20 points", "cpu", 20, environment)

    # Evaluation.

    def ratios(self, taps, n, peer, ours):
        """Peer's time over ours, of the rounds that both were in."""
        a, b = (self.samples.get((taps, n, key), {}) for key in (peer, ours))
        return [a[number] / b[number] for number in sorted(a.keys() & b.keys())]

    def settings(self):
        return [(taps, n) for taps in self.options.taps for n in sorted(self.options.sizes)]

    def heading(self):
        info = self.info
        try:
            model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE).group(1)
        except (OSError, AttributeError):
            model = "unknown processor"
        if info.get("device"):
            gpu = f"{info.get('device')}, driver {info.get('driver')}"
        else:
            gpu = f"no GPU ({info.get('reason')})"
        cores = len(os.sched_getaffinity(0))
        lines = [
            ("machine", f"{model}, {cores} cores, {info.get('simd')}, {info.get('threads')} threads; {gpu}"),
            ("Octave", info.get("octave", "")),
            ("ours", f"{info.get('version')} ({info.get('build')})"),
            ("peers", "; ".join(info[name] for name in PEERS if name in info) or "Octave's own alone"),
            ("command", self.options.command),
            ("when", f"{datetime.datetime.now():%Y-%m-%d %H:%M}, {time.monotonic() - self.started:.0f} s"),
        ]
        names = ("STENCIL_THREADS", "STENCIL_DEVICE_BYTES", "CUDA_VISIBLE_DEVICES")
        settings = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
        if settings:
            lines.append(("set", " ".join(settings)))
        return lines

    def tables(self):
        ours = [key for key in ("ours_cuda", "ours_cpu") if any(k == key for _, _, k in self.samples)]
        measured = [key for key in LABELS if any(k == key for _, _, k in self.samples)]
        for key in ours:
            peers = [peer for peer in measured if peer != key]
            yield (
                f"Against {LABELS[key]}: its time a call in us, at the prompt and inside mexFunction; "
                "then how many times that time the others take. Medians (quartiles)."
            )
            rows = [["taps", "n", "rounds", "prompt, us", "inside"] + [LABELS[peer] for peer in peers]]
            for taps, n in self.settings():
                samples = self.samples.get((taps, n, key))
                if not samples:
                    continue
                traced = self.inside.get((taps, n, key))
                row = [str(taps), power(n), str(len(samples)), Spread(list(samples.values())).text(1e6)]
                row.append(short(statistics.median(traced) * 1e6) if traced else "-")
                for peer in peers:
                    ratios = self.ratios(taps, n, peer, key)
                    row.append(Spread(ratios).text() if ratios else "-")
                rows.append(row)
            widths = [max(map(len, column)) for column in zip(*rows)]
            yield from ("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows)
            yield ""

    def report(self):
        yield from (f"{what + ':':<9}{text}" for what, text in self.heading())
        yield ""
        yield from self.tables()
        if self.first:
            yield "First call in a fresh process, ms. Median (quartiles)."
            width = max(map(len, self.first))
            for what, samples in self.first.items():
                yield f"{what:<{width}}  {Spread(samples).text(1e3)}, {len(samples)} times"
            yield ""
        for what, text in (
            (
                "link",
                "The link's limit, page-locked both ways at once: {} million points a second, {:.1f} GB/s each way.",
            ),
            (
                "copy",
                "A copy of the same bytes into fresh pages, by all processors: {} million points a second, "
                "{:.1f} GB/s read and as much written.",
            ),
        ):
            if what in self.limits:
                spread = Spread(self.limits[what])
                yield text.format(spread.text(1e-6), spread.median * 8e-9)
        yield f"Skipped: {len(self.skips)}" + (", namely" if self.skips else "")
        for (what, reason), settings in self.skips.items():
            where = f" ({'; '.join(settings)})" if settings else ""
            yield f"  {what}{where}: {reason}"

    def records(self):
        """Lines of results.csv: what, taps, n, contender, against, count, median, quartiles, ends, unit, note."""

        def line(record, taps, n, key, against, samples, unit):
            spread = Spread(samples)
            values = (spread.median, spread.lower, spread.upper, spread.least, spread.most)
            values = [f"{value:.9g}" for value in values]
            return [record, taps, n, key, against, spread.count, *values, unit, ""]

        empty = [""] * 6
        for what, text in self.heading():
            yield ["info", "", "", what, "", *empty, "", text]
        for taps, n in self.settings():
            for key in LABELS:
                if (taps, n, key) in self.samples:
                    yield line("time", taps, n, key, "", list(self.samples[taps, n, key].values()), "s")
                if self.inside.get((taps, n, key)):
                    yield line("inside", taps, n, key, "", self.inside[taps, n, key], "s")
            for ours in ("ours_cuda", "ours_cpu"):
                for key in LABELS:
                    ratios = self.ratios(taps, n, key, ours)
                    if ratios and key != ours:
                        yield line("ratio", taps, n, key, ours, ratios, "1")
        for what, samples in self.first.items():
            yield line("first", "", "", what, "", samples, "s")
        for what, samples in self.limits.items():
            yield line("limit", "", "", what, "", samples, "points/s")
        for (what, reason), settings in self.skips.items():
            yield ["skipped", "", "", what, "", *empty, "", "; ".join(settings) + (": " if settings else "") + reason]

    def write(self):
        out = self.options.out
        out.mkdir(parents=True, exist_ok=True)
        with open(out / "results.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow("record,taps,n,contender,against,count,median,lower,upper,least,most,unit,note".split(","))
            writer.writerows(self.records())
        with open(out / "samples.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow("taps,n,round,contender,seconds,calls".split(","))
            writer.writerows(self.rows)
        self.plot()
        text = "\n".join(self.report()) + "\n"
        (out / "table.txt").write_text(text)
        print(text, end="", flush=True)
        names = ("results.csv", "samples.csv", "table.txt", "throughput.png")
        names = [name for name in names if (out / name).exists()]
        print(f"\n{', '.join(names)} are in {out}")

    def plot(self):
        picture = self.options.out / "throughput.png"
        picture.unlink(missing_ok=True)
        paths = (str(path).replace("'", "''") for path in (HERE, self.options.out / "results.csv"))
        script = "addpath ('{}'); plot_bench ('{}');".format(*paths)
        later = "draw it from results.csv where there is one, with: make bench-plot RESULTS=results.csv"
        if not shutil.which("gnuplot"):
            self.skip("the plot", f"there is no gnuplot; {later}")
            return
        run = subprocess.run(
            self.octave + ["--eval", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        if run.returncode != 0 or not picture.exists():
            self.skip("the plot", f"{(run.stdout.strip().splitlines() or ['Octave drew none'])[-1]}; {later}")


def numbers(text):
    return [int(float(word)) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n")[1])
    parser.add_argument(
        "--octave",
        default=os.environ.get("OCTAVE") or "octave-cli",
        help="how Octave is started (OCTAVE, or octave-cli)",
    )
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peers, if not this one")
    parser.add_argument("--mex", type=Path, default=ROOT / "matlab", help="the folder of the built MEX files (matlab/)")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "target" / "bench", help="where the results go (target/bench/)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        help="about how long it may take (BENCH_SECONDS, or 270; 40 with --quick); "
        "the largest sizes take what they take",
    )
    parser.add_argument("--quick", action="store_true", help="fewer and smaller sizes, about 40 s")
    parser.add_argument("--sizes", type=numbers, help="numbers of points, such as 20,1e6")
    parser.add_argument("--taps", type=numbers, default=TAPS, help="numbers of taps, such as 5,21")
    options = parser.parse_args()
    # Paths of the machine that measured are of no use: keeps only names.
    words = [re.sub(r"^(--[^=]+=)?/.*/", r"\1", word) for word in sys.argv[1:]]
    options.command = shlex.join(["benches/bench.py", *words])
    options.sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    if options.seconds is None:
        set_seconds = os.environ.get("BENCH_SECONDS")
        try:
            options.seconds = float(set_seconds) if set_seconds else 40 if options.quick else 270
        except ValueError:
            sys.exit(f"bench: BENCH_SECONDS is '{set_seconds}', not a number of seconds")
    options.out = options.out.resolve()
    options.mex = options.mex.resolve()
    if not (options.mex / "StencilConstantMemory_CUDA.mex").exists():
        sys.exit(f"bench: there is no StencilConstantMemory_CUDA.mex in {options.mex}: build first (make build)")
    bench = Bench(options)
    if not shutil.which(bench.octave[0]):
        sys.exit(f"bench: there is no {bench.octave[0]}: name Octave with OCTAVE or --octave")
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        bench.open(folder)
        try:
            bench.measure_limits()
            bench.measure_first_calls()
            bench.measure()
        except Dead:
            status = 1  # said already; what was measured until then is shown
        except KeyboardInterrupt:
            progress("interrupted; what was measured until now:")
            status = 130
        finally:
            bench.close()
    bench.write()
    sys.exit(status)


if __name__ == "__main__":
    main()
