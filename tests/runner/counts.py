"""Counts of a program's output: each function takes its output and its status and returns `Counts`."""

import dataclasses
import re


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    # A word on it in the table.
    note: str = ""
    # The reasons of skipped tests, and how many each has.
    why: dict = dataclasses.field(default_factory=dict)
    # To have run no test is no failure: the note says why it cannot run here, or other jobs of the row run them.
    is_excused: bool = False
    # Remarks after the end of the program, for readers of its output.
    told: str = ""

    def numbers(self):
        return self.passed, self.failed, self.skipped

    def judged(self, status):
        """One that ended badly without counting a failure, or that ran nothing, has failed."""
        if status and not self.failed and not self.is_excused:
            self.failed, self.note = 1, f"ended with status {status}"
        elif not any(self.numbers()) and not self.is_excused:
            self.failed, self.note = 1, "ran no test"
        return self


def absent(reason):
    return Counts(skipped=1, note=reason, is_excused=True)


def work(output, status):
    """Counts a program without tests: it succeeds or fails."""
    return Counts(failed=1, note=f"ended with status {status}") if status else Counts()


def one(output, status):
    """A command that is a test itself."""
    return Counts(failed=1, note=f"ended with status {status}") if status else Counts(passed=1)


def reasons(pairs):
    why = {}
    for number, reason in pairs:
        why[reason] = why.get(reason, 0) + int(number)
    return why


def rust(output, status):
    """Anything that closes the way Rust's test programs do, once or often."""
    results = re.findall(r"^test result: .* (\d+) passed; (\d+) failed; (\d+) ignored;", output, re.MULTILINE)
    named = re.findall(r"^test .*\(skipped: (.*)\)\s+\.\.\. ignored", output, re.MULTILINE)
    marked = re.findall(r"^test .* \.\.\. ignored, (.*)$", output, re.MULTILINE)
    why = reasons((1, reason) for reason in named + marked)
    return Counts(*(sum(int(result[i]) for result in results) for i in range(3)), why=why)


def python(output, status):
    """Python's unittest."""
    ran = re.findall(r"^Ran (\d+) tests? in ", output, re.MULTILINE)
    closing = (re.findall(r"^(?:OK|FAILED)(?: \((.*)\))?$", output, re.MULTILINE) or [""])[-1]
    bad = {word: int(number) for word, number in re.findall(r"(\w+)=(\d+)", closing)}
    failed, skipped = bad.get("failures", 0) + bad.get("errors", 0), bad.get("skipped", 0)
    why = reasons((1, reason) for reason in re.findall(r"\.\.\. skipped ['\"](.*)['\"]$", output, re.MULTILINE))
    return Counts(sum(map(int, ran)) - failed - skipped, failed, skipped, why=why)


def octave(output, status):
    """A run of tests/run-octave, which closes with its own count."""
    closing = re.findall(
        r"^octave \S+ \((?:cpu|cuda|auto)\): (\d+) passed, (\d+) failed, (\d+) skipped$", output, re.MULTILINE
    )
    why = reasons(re.findall(r"^    skipped (\d+): (.*)$", output, re.MULTILINE))
    return Counts(*map(int, closing[-1]), why=why) if closing else Counts()


def fuzz(output, status):
    """A call of tests/fuzz is a test."""
    closing = re.findall(r"^fuzz \(.*\): \d+ calls, (\d+) passed, (\d+) failed, (seed \d+)$", output, re.MULTILINE)
    return Counts(int(closing[-1][0]), int(closing[-1][1]), note=closing[-1][2]) if closing else Counts()


def unavailable(output):
    """The reason of a tool that cannot be installed. The detail after the colon stands in the log."""
    reason = re.search(r"^unavailable: (.*)", output, re.MULTILINE)
    return absent(reason[1].partition(": ")[0] if reason else "unavailable")


def kernels(output, status):
    """A module that cuda/make-ptx compiled and compared is a test. What is left over is a difference, too."""
    if status == 3:
        return unavailable(output)
    closing = re.findall(r"^kernels: (\d+) modules compiled and compared, (\d+) differences$", output, re.MULTILINE)
    modules, differ = map(int, closing[-1]) if closing else (0, 0)
    return Counts(max(modules - differ, 0), differ)


def of_all(output, status):
    """Counts output that closes with `N of M ...`: each of the M is a test."""
    closing = re.findall(r"^(\d+) of (\d+) ", output, re.MULTILINE)
    good, every = map(int, closing[-1]) if closing else (0, 0)
    return Counts(good, every - good)


def checks(*found):
    """Counts pairs: a condition, and true if it is met."""
    failed = sum(not is_so for _, is_so in found)
    told = "".join(f"{'ok' if is_so else 'FAILED'}: {what}\n" for what, is_so in found)
    return Counts(len(found) - failed, failed, told=told)
