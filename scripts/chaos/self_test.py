"""Shows that the checks can fail: wrong results, one at a time, must be findings."""
import pathlib
import random
import tempfile
import unittest

from . import checks, counts, faults, options
from .commands import FAULTS
from .run import Limits, Run
from .session import Progress

FLAT = {"a.B.m(int)": 7, "a.B.n()": 2}
WHOLE = {"end": "the program ended", "invariants_held": "4"}


def outcome(**changed):
    """A correct run, except for the fields that are given."""
    report = checks.Report("trace.bin", 9000, summary=dict(WHOLE), flat=dict(FLAT), tree=dict(FLAT))
    right = {"expected": faults.Expected(), "out": "hello\n", "plain_out": "hello\n", "err":
             "jtrace: recording to x\njtrace: wrote x\n", "reports": (report,), "methods": dict(FLAT)}
    return checks.Outcome(**{**right, **changed})


def with_report(**changed):
    run = outcome()
    for name, value in changed.items():
        setattr(run.reports[0], name, value)
    return run


class ChecksTest(unittest.TestCase):
    def finds(self, run, beginning):
        found = checks.check(run)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(beginning), found)

    def test_nothing_is_wrong(self):
        self.assertEqual(checks.check(outcome()), [])

    def test_changed_output(self):
        self.finds(outcome(out="hullo\n"), "output: differs at 1")
        self.finds(outcome(out="hel"), "output: differs at 3")
        killed = faults.Expected((-9,), faults.PREFIX, faults.NONE, faults.CUT)
        cut = checks.Report("trace.bin", summary={})
        self.assertEqual(checks.check(outcome(out="hel", expected=killed, exit=-9, reports=(cut,))), [])
        self.finds(outcome(out="held", expected=killed, exit=-9, reports=(cut,)), "output: differs at 3")

    def test_another_exit_code(self):
        self.finds(outcome(exit=1), "exit: 1 instead of 0")
        self.finds(outcome(ended=False), "hang")

    def test_unknown_lines_on_stderr(self):
        self.finds(outcome(err="java.lang.VerifyError\n"), "stderr: java.lang.VerifyError")
        self.assertEqual(checks.check(outcome(err="mine\n", plain_err="mine\n")), [])
        redefined = outcome(err="\tat A.b(Unknown Source)\n", plain_err="\tat A.b(A.java:3)\n")
        self.assertEqual(checks.check(redefined), [])
        self.finds(outcome(err="\tat A.c(Unknown Source)\n", plain_err="\tat A.b(A.java:3)\n"), "stderr: ")
        self.finds(outcome(expected=faults.Expected(says="not a file")), "stderr: lacks")

    def test_a_crash(self):
        self.finds(outcome(crashes=("hs_err.log",)), "crash: hs_err.log")

    def test_too_much_memory(self):
        self.finds(outcome(peak_mb=801, most_mb=800), "memory: peak 801 MB")

    def test_missing_and_surplus_calls(self):
        self.finds(outcome(methods={**FLAT, "a.B.n()": 3}), "counts: missing: 1 differ: a.B.n() 3 → 2")
        self.finds(outcome(methods={"a.B.n()": 2}), "counts: too many")
        self.finds(outcome(arcs={"a.B.n() > a.B.m(int)": 7}), "arcs: missing")

    def test_a_part_of_a_program_that_is_ended(self):
        ended = faults.Expected((143,), faults.PREFIX, faults.AT_LEAST)
        run = outcome(expected=ended, exit=143, is_part=True, methods={**FLAT, "a.B.n()": 3})
        self.assertEqual(checks.check(run), [])

    def test_a_loss_explains_missing_calls_only(self):
        run = with_report(unprobed=frozenset(["a.B"]))
        run.methods = {**FLAT, "a.B.n()": 3}
        self.assertEqual(checks.check(run), [])
        run.methods = {**FLAT, "a.C.n()": 3}
        self.finds(run, "counts: missing: 1 differ: a.C.n() 3 → 0")
        run = with_report(summary={**WHOLE, "loss.methods_too_large": "1"})
        run.methods = {**FLAT, "a.B.n()": 3}
        self.assertEqual(checks.check(run), [])
        run.methods = {"a.B.n()": 2}
        self.finds(run, "counts: too many")

    def test_a_full_disk_must_be_reported(self):
        full = faults.Expected(counts=faults.AT_MOST, trace=faults.ANY, reported=True)
        run = outcome(expected=full, methods={**FLAT, "a.B.n()": 3})
        self.finds(run, "counts: missing, and nothing reports it")
        run.err += "jtrace: warning: 'x' could not be written: No space left on device\n"
        self.assertEqual(checks.check(run), [])

    def test_traces(self):
        self.finds(with_report(failed="--report=flat: exit 139"), "trace: --report=flat: exit 139")
        self.finds(with_report(summary={"invariants_held": "4"}), "trace: trace.bin has no end")
        self.finds(outcome(reports=(), methods=None), "trace: there is none")
        killed = faults.Expected((-9,), faults.PREFIX, faults.NONE, faults.CUT)
        cut = outcome(expected=killed, exit=-9, err="jtrace: recording to x\n")
        self.finds(cut, "trace: trace.bin has an end")
        # Killed after the end of the recording, before the process ended.
        self.assertEqual(checks.check(outcome(expected=killed, exit=-9)), [])

    def test_a_refused_trace(self):
        run = with_report(refused="holds nothing that can be read", size=16384)
        run.methods = None
        self.finds(run, "trace: trace.bin of 16384 bytes: holds nothing")
        run.expected = faults.Expected(counts=faults.AT_MOST, trace=faults.ANY, reported=True)
        self.finds(run, "trace: trace.bin of 16384 bytes: holds nothing")
        run.err += "jtrace: recording stopped, the program runs on: cannot write 'x'\n"
        self.assertEqual(checks.check(run), [])
        run.expected, run.exit = faults.Expected((-9,), faults.PREFIX, faults.NONE, faults.CUT), -9
        self.assertEqual(checks.check(run), [])
        run.reports[0].size = 1 << 20
        self.finds(run, "trace: trace.bin of 1048576 bytes: holds nothing")

    def test_a_jvm_that_is_ended_before_it_begins(self):
        ended = faults.Expected((143,), faults.PREFIX, faults.AT_LEAST)
        run = outcome(expected=ended, exit=143, out="", err="", methods=None,
                      reports=(checks.Report("trace.bin", 12, refused="holds nothing"),))
        self.assertEqual(checks.check(run), [])
        run.err = "jtrace: recording to x\n"
        self.finds(run, "trace: trace.bin of 12 bytes: holds nothing")

    def test_sums(self):
        self.finds(with_report(tree={"a.B.m(int)": 6, "a.B.n()": 2}), "sums: trace.bin: flat and tree")
        self.finds(with_report(summary={**WHOLE, "invariants_held": "3"}), "sums: trace.bin: 3 of 4")

    def test_calls_that_the_program_prints(self):
        said = "EXPECT 7 a.B.m(int)\nEXPECT_NEAR 1 3 a.B.n()\n"
        self.assertEqual(checks.check(outcome(out=said, plain_out=said)), [])
        said = "EXPECT 8 a.B.m(int)\n"
        self.finds(outcome(out=said, plain_out=said), "counts: a.B.m(int): 7 instead of 8")
        said = "TOTAL 10\n"
        self.finds(outcome(out=said, plain_out=said), "counts: 9 calls instead of 10")


class CountsTest(unittest.TestCase):
    def test_names_have_one_form(self):
        self.assertEqual(counts.of_method("a/B.m([ILjava/util/List;J)V"), "a.B.m(int[],List,long)")
        self.assertEqual(counts.of_report("a.B.m(int[],java.util.List,long):void"),
                         "a.B.m(int[],List,long)")
        self.assertEqual(counts.of_report("main"), counts.NOBODY)

    def test_classes_without_probes(self):
        dump = "# jtrace-text 1 unit=ns\n5\t\tclass-unprobed\ta.B\tclass.late\n6\tt\tclass-load\ta.C\n"
        self.assertEqual(counts.unprobed_of(dump.splitlines()), {"a.B"})
        self.assertEqual(counts.class_of("a.B.m(x.C,int)"), "a.B")

    def test_rows_are_added_up(self):
        flat = "calls,name\n3,a.B.m(x.C)\n4,a.B.m(y.C)\n0,a.B.n()\n,libc\n"
        self.assertEqual(counts.of_flat(flat), {"a.B.m(C)": 7})
        tree = "origin,calls,name\nthread,1,t(1)\nevent,3,a.B.n()\nevent,4,a.B.n()\n"
        self.assertEqual(counts.of_tree(tree), {"a.B.n()": 7})


class SeedsTest(unittest.TestCase):
    def setUp(self):
        self.jdks = [type("Jdk", (), {"major": 17, "home": "/jdk", "java": "/jdk/bin/java"})()]

    def describe(self, seed, **limits):
        build = type("Build", (), {"classes": pathlib.Path("/classes")})()
        return Run(seed, Limits(self.jdks, **limits), build, "/tmp").describe()

    def test_a_seed_decides_all(self):
        self.assertEqual(self.describe(5), self.describe(5))
        self.assertGreater(len({self.describe(seed) for seed in range(40)}), 35)

    def test_each_fault_can_be_chosen(self):
        for name, fault in FAULTS.items():
            if fault.is_possible():
                self.assertIn(f", {name};", self.describe(1, faults=(name,), programs=("cases",)))

    def test_threads_beside_a_full_heap(self):
        for seed in range(60):
            self.assertNotIn(" oom,", self.describe(seed, faults=("forks",)))

    def test_options_are_valid_together(self):
        for seed in range(300):
            way = options.random_way(random.Random(seed), "a.**").options
            if way.get("record") == "flat":
                self.assertNotIn("clock", way)
            if way["mode"] == "events":
                self.assertNotIn("hook", way)


class ProgressTest(unittest.TestCase):
    def test_a_session_is_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "progress"
            before = Progress(file, resume=True)
            before.add(3, 17, 1.5, "")
            before.add(4, 25, 2.5, "FINDING")
            after = Progress(file, resume=True)
            after.add(5, 17, 1, "")
            self.assertEqual(after.total(), "3 runs, 5 s (JDK 17: 2 s, JDK 25: 2 s), 1 findings, last seed 5")


if __name__ == "__main__":
    unittest.main()
