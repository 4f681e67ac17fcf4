"""Runs jobs on all cores, the longest first, and sums up what they counted in a table.

A job is a process with a log of its own. It starts when what it needs has passed and a core is free. A job that passed
with the same inputs before is left out while somebody works (`fresh` says no to that).
"""

import ctypes
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time
import traceback
import typing

from counts import Counts

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PR_SET_CHILD_SUBREAPER = 36


@dataclasses.dataclass
class Job:
    name: str
    # The row of the table that it counts for; None if it makes files for others and has no tests.
    part: str
    # A program and its arguments, or a function that returns a status; it runs in a process of its own, too.
    command: typing.Union[list, typing.Callable]
    # Returns the counts of its output and its status.
    count: typing.Callable
    # Jobs that must have passed before it starts.
    needs: tuple = ()
    # Says of another job that this one waits for its end, however it ends.
    after: typing.Callable = lambda other: False
    # Variables added to those of this process; None removes one.
    environment: dict = dataclasses.field(default_factory=dict)
    # Duration in seconds, until a run has measured it.
    weight: float = 10
    cores: int = 1
    # Ahead of longer ones: others wait for it.
    is_urgent: bool = False
    # Resource that only one job has at a time.
    holds: str = None
    # The seconds after which it is ended, and has failed.
    limit: float = 900
    # Files and folders that decide how it ends; without them it always runs.
    inputs: tuple = None
    # Its own folder, made anew when it starts and kept for others after it.
    folder: pathlib.Path = None
    # Gets the output of a job that passed; returns further jobs.
    then: typing.Callable = lambda output: []

    pid: int = None
    began: float = None
    was_ended: bool = False
    # The processor time of all that it has started, in seconds.
    processor: float = 0
    digest: str = None
    # passed, failed, unchanged; None while it waits or runs.
    state: str = None


@dataclasses.dataclass
class Row:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    unchanged: int = 0
    # To have run no test is no failure.
    is_excused: bool = False
    notes: list = dataclasses.field(default_factory=list)
    why: dict = dataclasses.field(default_factory=dict)


def say(text):
    print(text, flush=True)


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def saved(path):
    """Returns a former run's file; nothing if there was none."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def save(path, value):
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n")
    new.replace(path)


class Digests:
    """Hashes of files, each read once while it stays as it is."""

    def __init__(self):
        self.known = {}

    def of_file(self, path):
        status = path.stat()
        key = (str(path), status.st_mtime_ns, status.st_size)
        if key not in self.known:
            self.known[key] = hashlib.sha256(path.read_bytes()).hexdigest()
        return self.known[key]

    def of(self, words, paths):
        """Digest of words, of files and of all files in folders; a missing path counts as missing."""
        digest = hashlib.sha256(json.dumps(words, default=str).encode())
        for path in sorted({pathlib.Path(ROOT, path) for path in paths}):
            for file in self.files(path):
                digest.update(f"{file} {self.of_file(file) if file.is_file() else None}\n".encode())
        return digest.hexdigest()

    @staticmethod
    def files(path):
        if not path.is_dir():
            return [path]
        return sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


def session_at(pid):
    """The session of a process, which may have ended."""
    try:
        return int(pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[3])
    except OSError:
        return None


def session_of(pid):
    """The living processes of a session: a job and its children, some of which make groups of their own."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                state, _, _, session, *_ = pathlib.Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(session) == pid and state != "Z":
                found.append(int(entry))
    return found


def end(pid):
    """Kills a session. More than once, since a process may have started another meanwhile."""
    for _ in range(500):
        alive = session_of(pid)
        if not alive:
            return
        for process in alive:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


class Run:
    """All jobs of a run. `words` are what the outcome of every job depends on, beside its inputs."""

    def __init__(self, folder, jobs, cores=None, fresh=True, words=()):
        self.folder = folder
        self.cores = cores or len(os.sched_getaffinity(0))
        self.fresh = fresh
        self.words = list(words)
        self.jobs = []
        self.rows = {}
        self.running = []
        self.digests = Digests()
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        self.times = saved(folder / "times.json")
        self.passed = saved(folder / "passed.json")
        self.began = time.monotonic()
        self.told = self.began
        self.add(jobs)

    def add(self, jobs):
        for job in jobs:
            if any(other.name == job.name for other in self.jobs):
                raise ValueError(f"two jobs are called {job.name}")
            self.jobs.append(job)
            if job.part:
                self.rows.setdefault(job.part, Row())

    # ---- which job is next

    def find(self, name):
        return next((job for job in self.jobs if job.name == name), None)

    def expected(self, job):
        return self.times.get(job.name, job.weight)

    def waiting(self):
        return [job for job in self.jobs if job.state is None and job.pid is None]

    def is_ready(self, job):
        if any(self.find(name) is None or self.find(name).state is None for name in job.needs):
            return False
        return not any(other.state is None and other is not job and job.after(other) for other in self.jobs)

    def fits(self, job):
        if job.holds and any(other.holds == job.holds for other in self.running):
            return False
        return not self.running or sum(other.cores for other in self.running) + job.cores <= self.cores

    def start_some(self):
        """Starts what is ready and fits; whether a job was booked without running, which others may have waited for."""
        is_booked = False
        for job in sorted(self.waiting(), key=lambda job: (not job.is_urgent, -self.expected(job))):
            if not self.is_ready(job):
                continue
            missing = [name for name in job.needs if self.find(name).state == "failed"]
            if missing:
                self.finish(job, Counts(failed=1, note=f"not run, since {missing[0]} failed"), "")
                is_booked = True
            elif self.is_unchanged(job):
                self.finish(job, None, "")
                is_booked = True
            elif self.fits(job):
                self.start(job)
        return is_booked

    # ---- how it runs

    def log(self, job):
        return self.folder / "logs" / (re.sub(r"[^\w.-]+", "-", job.name) + ".log")

    def is_unchanged(self, job):
        """True if it passed with these inputs, and the files that it left are there."""
        if self.fresh or job.inputs is None or (job.folder and not job.folder.is_dir()):
            return False
        return self.log(job).is_file() and self.passed.get(job.name) == self.digest_of(job)

    def digest_of(self, job):
        command = job.name if callable(job.command) else [str(word) for word in job.command]
        if job.digest is None:
            job.digest = self.digests.of([self.words, command, sorted(job.environment.items())], job.inputs)
        return job.digest

    def start(self, job):
        # Inputs may change during the run: those at its start count.
        if job.inputs is not None:
            self.digest_of(job)
        if job.folder:
            shutil.rmtree(job.folder, ignore_errors=True)
            job.folder.mkdir(parents=True)
        job.began = time.monotonic()
        with open(self.log(job), "wb", buffering=0) as log:
            if not callable(job.command):
                shown = [f"{name}={value}" for name, value in job.environment.items() if value is not None]
                log.write((" ".join(["$", *shown, *map(str, job.command)]) + "\n").encode())
            sys.stdout.flush()
            job.pid = os.fork()
            if job.pid == 0:
                self.become(job, log.fileno())
        self.running.append(job)

    def become(self, job, log):
        """The job's process; never returns."""
        status = 1
        try:
            os.setsid()
            for caught in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(caught, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(log, 1)
            os.dup2(log, 2)
            sys.stdout = sys.stderr = open(1, "w", buffering=1, closefd=False)
            os.chdir(ROOT)
            for name, value in job.environment.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = str(value)
            if callable(job.command):
                status = job.command() or 0
            else:
                command = [str(word) for word in job.command]
                os.execvp(command[0], command)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)

    def reap(self):
        """Takes up what has ended; whether a job has. What jobs leave behind is waited for, since its time counts."""
        before = len(self.running)
        while True:
            try:
                # Looked at first: the session of a process is known until somebody has waited for
                # it.
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                ended = None
            if ended is None:
                return len(self.running) < before
            session = session_at(ended.si_pid)
            pid, status, usage = os.wait4(ended.si_pid, 0)
            for job in [job for job in self.jobs if job.pid == session]:
                job.processor += usage.ru_utime + usage.ru_stime
            for job in [job for job in self.running if job.pid == pid]:
                self.running.remove(job)
                self.judge(job, os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))

    def judge(self, job, status):
        output = self.log(job).read_text(errors="replace")
        try:
            if job.was_ended:
                counts = job.count(output, status)
                counts.failed, counts.note = max(counts.failed, 1), f"{job.name} was ended after {job.limit:.0f} s"
            else:
                counts = job.count(output, status)
                if job.part:
                    counts = counts.judged(status)
            if not counts.failed:
                self.add(job.then(output))
        except Exception:
            output += "\n" + traceback.format_exc()
            counts = Counts(failed=1, note="its output cannot be read")
        self.finish(job, counts, output)

    def finish(self, job, counts, output):
        """Books a job that ended, was not run, or, without counts, is unchanged."""
        row = self.rows.setdefault(job.part, Row()) if job.part else Row()
        if counts is None:
            job.state = "unchanged"
            row.unchanged += 1
            self.add(job.then(self.log(job).read_text(errors="replace")))
            return
        job.state = "failed" if counts.failed else "passed"
        if job.part is None and counts.failed:
            row = self.rows.setdefault("Build", row)
        seconds = time.monotonic() - job.began if job.began else 0
        row.passed += counts.passed
        row.failed += counts.failed
        row.skipped += counts.skipped
        row.is_excused |= counts.is_excused
        if counts.note and counts.note not in row.notes:
            row.notes.append(counts.note)
        for reason, number in counts.why.items():
            row.why[reason] = row.why.get(reason, 0) + number
        if job.state == "passed":
            self.times[job.name] = round(seconds, 1)
            save(self.folder / "times.json", self.times)
        self.passed.pop(job.name, None)
        if job.state == "passed" and job.inputs is not None and counts.passed:
            self.passed[job.name] = job.digest
        save(self.folder / "passed.json", self.passed)
        self.tell(job, counts, seconds, output + counts.told)

    def tell(self, job, counts, seconds, output):
        if job.part is None and job.state == "passed" and seconds < 1:
            return
        self.told = time.monotonic()
        numbers = ", ".join(
            f"{number} {word}" for number, word in zip(counts.numbers(), ("passed", "failed", "skipped")) if number
        )
        note = f" ({counts.note})" if counts.note else ""
        is_bad = job.state == "failed"
        at = minutes(self.told - self.began)
        say(f"{at:>6}  {'FAILED' if is_bad else 'ok':<6}  {job.name}: {numbers or 'done'}, {seconds:.0f} s{note}")
        if is_bad and output:
            say(f"\n== The output of {job.name}\n{output.rstrip()}\n== End of {job.name}\n")

    def keep_told(self):
        """Says every minute what runs, so that nobody takes a long job for a hang."""
        now = time.monotonic()
        if now - self.told > 60:
            self.told = now
            names = ", ".join(f"{job.name} ({now - job.began:.0f} s)" for job in self.running)
            ended = sum(job.state is not None for job in self.jobs)
            say(f"{minutes(now - self.began):>6}  {ended} of {len(self.jobs)} jobs have ended; running: {names}")

    def end_late(self):
        now = time.monotonic()
        for job in self.running:
            if not job.was_ended and now - job.began > job.limit:
                job.was_ended = True
                end(job.pid)

    def run(self):
        """Runs all jobs."""
        # A job's orphans become children of this process, not of the system's first.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)

        def stop(number, frame):
            raise KeyboardInterrupt

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        try:
            has_ended = True
            while any(job.state is None for job in self.jobs):
                while has_ended and self.start_some():
                    pass
                if not self.running:
                    for job in self.waiting():
                        self.finish(job, Counts(failed=1, note="it waits for what does not come"), "")
                time.sleep(0.02)
                has_ended = self.reap()
                self.end_late()
                self.keep_told()
        finally:
            for job in self.running:
                end(job.pid)
            for number, handler in before.items():
                signal.signal(number, handler)

    # ---- output

    def table(self):
        """The table by parts, the reasons of what was skipped, and the sum; whether none failed."""
        work = {part: sum(job.processor for job in self.jobs if (job.part or "Build") == part) for part in self.rows}
        for row in self.rows.values():
            # One that has only skipped tests has shown nothing.
            if not (row.passed or row.failed or row.unchanged or row.is_excused):
                row.failed = 1
                row.notes.append("ran no test")
        lines = [f"{'part':<34} {'passed':>7} {'failed':>7} {'skipped':>8} {'processor s':>12}"]
        for part, row in self.rows.items():
            unchanged = [f"{row.unchanged} unchanged since it passed"] if row.unchanged else []
            numbers = f"{row.passed:7d} {row.failed:7d} {row.skipped:8d} {work[part]:12.0f}"
            lines.append(f"{part:<34} {numbers}  {'; '.join(row.notes + unchanged)}".rstrip())
        built = sum(job.processor for job in self.jobs if job.part is None)
        lines += [f"{'builds and lists':<59} {built:12.0f}"] if built else []
        why = [f"{part}: {number}: {reason}" for part, row in self.rows.items() for reason, number in row.why.items()]
        lines += ["", "Skipped:", *(f"  {line}" for line in why)] if why else []
        sums = [(row.passed, row.failed, row.skipped, row.unchanged) for row in self.rows.values()]
        passed, failed, skipped, unchanged = map(sum, zip(*sums))
        if unchanged:
            lines += ["", f"{unchanged} jobs were left out: unchanged since they passed (tests/run --fresh runs them)."]
        return "\n".join([*lines, "", f"{passed} passed, {failed} failed, {skipped} skipped"]), not failed
