"""Jobs with known endings, and the table that they make."""

import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import counts
import demos
import parts
from jobs import Job, Run

PASSES = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured"


def shell(name, script, row="Row", count=counts.rust, **more):
    return Job(name, row, ["sh", "-c", script], count, **more)


def is_running(command):
    """True if a process has this command."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_text().replace("\0", " ").strip() == command:
                return True
    return False


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_all(self, *jobs, **options):
        """Runs jobs: the lines of the table without times, whether all is good, and what was said meanwhile."""
        run = Run(self.folder / "state", jobs, **options)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            run.run()
        table, is_good = run.table()
        without_times = re.sub(r"^(\S.*?(?: +\d+){3}) +\d+", r"\1", table, flags=re.MULTILINE)
        return [re.sub(" +", " ", line) for line in without_times.splitlines()], is_good, said.getvalue()

    def test_every_ending_is_in_the_table(self):
        marker = f"sleep 1234{os.getpid()}"
        table, is_good, said = self.run_all(
            shell("passes", f"echo 'test a (skipped: no GPU) ... ignored'; echo '{PASSES}'", "Good"),
            shell("fails", "echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured'; exit 101", "Fails"),
            shell("runs nothing", "true", "Nothing"),
            shell("skips all", "echo 'test result: ok. 0 passed; 0 failed; 5 ignored; 0 measured'", "Skips"),
            # `timeout` makes its own group, and so do programs that really hang.
            shell("hangs", f"echo begins; timeout 1234 {marker}", "Hangs", limit=0.3),
            shell("crashes", f"echo '{PASSES}'; kill -SEGV $$", "Crashes"),
            shell("is not there", "exit 0", "Waits", needs=("fails",)),
            Job("no such program", "Missing", ["/no/such/program"], counts.one),
            Job("raises", "Raises", lambda: print("here:") or 1 / 0, counts.one),
            shell("cannot run here", "true", "Absent", lambda output, status: counts.absent("no machine")),
        )
        self.assertEqual(
            table,
            [
                "part passed failed skipped processor s",
                "Good 3 0 1",
                "Fails 2 1 0",
                "Nothing 0 1 0 ran no test",
                "Skips 0 1 5 ran no test",
                "Hangs 0 1 0 hangs was ended after 0 s",
                "Crashes 3 1 1 ended with status 139",
                "Waits 0 1 0 not run, since fails failed",
                "Missing 0 1 0 ended with status 1",
                "Raises 0 1 0 ended with status 1",
                "Absent 0 0 1 no machine",
                "",
                "Skipped:",
                " Good: 1: no GPU",
                "",
                "8 passed, 8 failed, 8 skipped",
            ],
        )
        self.assertFalse(is_good)
        self.assertRegex(said, "(?s)here:.*ZeroDivisionError")
        self.assertFalse(is_running(marker))

    def test_processor_time_is_that_of_all_that_a_job_has_started(self):
        busy = "python3 -c 'import time; [0 for _ in iter(lambda: time.process_time() < 0.4, False)]'"
        pid = self.folder / "pid"
        job = shell("leaves it behind", f"echo '{PASSES}'; {busy} & echo $! >{pid}.new; mv {pid}.new {pid}")
        # Until it has been waited for.
        wait = f"until [ -e {pid} ]; do sleep 0.05; done; while kill -0 $(cat {pid}); do sleep 0.05; done 2>/dev/null"
        later = shell("later", f"echo '{PASSES}'; {wait}")
        self.run_all(job, later, cores=2)
        self.assertGreater(job.processor, 0.3)
        self.assertLess(later.processor, job.processor)

    def test_what_is_good_is_said_to_be(self):
        table, is_good, said = self.run_all(shell("passes", f"echo '{PASSES}'"))
        self.assertTrue(is_good)
        self.assertEqual(table[-1], "3 passed, 0 failed, 1 skipped")
        self.assertRegex(said, "ok +passes: 3 passed, 1 skipped, 0 s")
        self.assertNotIn(PASSES, said)

    def test_the_longest_is_first_and_needs_come_before(self):
        order = self.folder / "order"
        write = f"echo {PASSES!r}; echo $0 >>{order}"
        made = [Job("late", "Row", ["sh", "-c", write, "late"], counts.rust)]
        jobs = [
            Job(name, "Row", ["sh", "-c", write, name], counts.rust, weight=weight, **more)
            for name, weight, more in [
                ("short", 1, {}),
                ("long", 5, {}),
                ("after all", 99, {"after": lambda job: job.name != "last", "cores": 8}),
                ("needs short", 50, {"needs": ("short",), "then": lambda output: made}),
                ("urgent", 0, {"is_urgent": True}),
            ]
        ]
        self.run_all(*jobs, cores=1)
        self.assertEqual(
            order.read_text().splitlines(), ["urgent", "long", "short", "needs short", "late", "after all"]
        )

    def test_as_many_run_at_once_as_there_are_cores(self):
        # Each waits until all have begun.
        here = self.folder
        meet = f"until [ $(ls {here}/begun-* | wc -l) -eq 4 ]; do sleep 0.02; done"
        meeting = [shell(f"job {i}", f"touch {here}/begun-{i}; {meet}; echo '{PASSES}'", limit=60) for i in range(4)]
        self.assertTrue(self.run_all(*meeting, cores=4)[1])
        # None begins while another holds the same thing.
        alone = f"mkdir {here}/held && sleep 0.1 && rmdir {here}/held && echo '{PASSES}'"
        self.assertTrue(self.run_all(*(shell(f"job {i}", alone, holds="it") for i in range(3)), cores=4)[1])

    def test_what_is_unchanged_is_left_out_and_counted(self):
        given = self.folder / "given"
        given.write_text("one")

        def again(**options):
            jobs = [
                shell("passes", f"echo '{PASSES}'; cat {given}", inputs=(given,)),
                shell("fails", "false", "Other", inputs=(given,)),
                shell("always", f"echo '{PASSES}'"),
            ]
            table, _, _ = self.run_all(*jobs, **options)
            return table[1], table[-1]

        both, left_out = "Row 6 0 2", "Row 3 0 1 1 unchanged since it passed"
        sum_of_both = "6 passed, 1 failed, 2 skipped"
        self.assertEqual(again(fresh=False), (both, sum_of_both))
        self.assertEqual(again(fresh=False), (left_out, "3 passed, 1 failed, 1 skipped"))
        self.assertEqual(again(fresh=True), (both, sum_of_both))
        self.assertEqual(again(fresh=False, words=["another mode"]), (both, sum_of_both))
        self.assertEqual(again(fresh=False, words=["another mode"])[0], left_out)
        given.write_text("two")
        self.assertEqual(again(fresh=False, words=["another mode"]), (both, sum_of_both))

    def test_jobs_without_end_are_not_waited_for(self):
        table, is_good, _ = self.run_all(shell("waits", "true", needs=("nothing",)))
        self.assertEqual((table[1], is_good), ("Row 0 1 0 it waits for what does not come", False))


class Groups(unittest.TestCase):
    NAMES = ["engines::cuda::a", "engines::cuda::ab", "engines::cuda::b", "engines::cpu::a (skipped: no::such)"]
    NAMES += ["faults::whole", "ranks::whole::3"]

    def test_groups_are_by_the_first_names(self):
        self.assertEqual(
            parts.grouped(self.NAMES),
            {
                "engines::cuda": self.NAMES[:3],
                "engines::cpu": [self.NAMES[3]],
                "faults::whole": ["faults::whole"],
                "ranks": ["ranks::whole::3"],
            },
        )

    def test_what_one_filter_takes_stays_together(self):
        self.assertEqual(parts.families(self.NAMES[:3]), [self.NAMES[:2], self.NAMES[2:3]])

    def test_a_filter_takes_its_tests_and_no_others(self):
        told = parts.arguments(self.NAMES, "engines::cuda::", ["engines::cuda::b"])
        self.assertEqual(told, ["engines::cuda::", "--skip", "engines::cuda::a", "--skip", "engines::cuda::ab"])
        with self.assertRaises(ValueError):
            parts.arguments(self.NAMES, "engines::cuda::", ["engines::cuda::ab"])


class Outputs(unittest.TestCase):
    def test_what_closes_with_counts_is_read(self):
        cases = [
            (counts.octave, "octave 7.3.0 (cpu): 5 passed, 1 failed, 2 skipped", (5, 1, 2)),
            (counts.octave, "Octave died", (0, 0, 0)),
            (counts.fuzz, "fuzz (cpu): 9 calls, 8 passed, 1 failed, seed 7", (8, 1, 0)),
            (counts.kernels, "kernels: 4 modules compiled and compared, 1 differences", (3, 1, 0)),
            (counts.python, "Ran 4 tests in 0.1s\n\nFAILED (failures=1, errors=1)", (2, 2, 0)),
            (counts.python, "Ran 4 tests in 0.1s\n\nOK", (4, 0, 0)),
            (counts.of_all, "not launched: a\n2 of 3 modules were launched", (2, 1, 0)),
        ]
        for count, output, numbers in cases:
            self.assertEqual(count(output, 0).numbers(), numbers, output)
        self.assertEqual(counts.kernels("unavailable: no pip: why", 3), counts.absent("no pip"))
        why = counts.octave("    skipped 2: needs a GPU\noctave 7 (cpu): 1 passed, 0 failed, 2 skipped", 0).why
        self.assertEqual(why, {"needs a GPU": 2})

    def test_a_demo_that_says_nothing_meets_no_check(self):
        for name, (_, own) in demos.DEMOS.items():
            for what, check in own:
                self.assertFalse(demos.holds(check, ""), f"{name}: {what}")


if __name__ == "__main__":
    unittest.main()
