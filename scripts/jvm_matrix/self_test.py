"""The cover of pairs, the verdicts and the table, without a JVM: python3 -m unittest jvm_matrix.self_test."""
import unittest

from jvm_matrix import matrix, runs, table

JVMS = [matrix.debian("bullseye", 11), matrix.debian("bullseye", 17), matrix.debian("trixie", 25),
        matrix.debian("sid", 28, may_degrade=True)]


def result(**changes):
    good = {"name": "a/b", "jvm": "25-trixie", "root": "trixie", "exit": 0, "exit_plain": 0, "output_equal": True,
            "differing": 0, "names": [], "methods": 10, "calls": 1000, "samples": 4000, "samples_whole": 4000, "samples_placed": 3000,
            "unmatched": 0, "faults": [], "version": "25"}
    return {**good, **changes}


class CoverTest(unittest.TestCase):
    def test_every_possible_pair_is_in_a_run(self):
        chosen = matrix.cover(JVMS)
        found = set().union(*(run.pairs() for run in chosen))
        for program in matrix.PROGRAMS:
            for compiler in matrix.COMPILERS:
                self.assertIn(((1, program), (3, compiler)), found)
        self.assertIn(((0, "28-sid"), (2, "zgc")), found)
        self.assertIn(((0, "28-sid"), (3, "hot")), found)
        self.assertNotIn(((0, "25-trixie"), (3, "hot")), found)
        self.assertNotIn(((0, "17-bullseye"), (4, "compact")), found)
        self.assertLess(len(chosen), 40)

    def test_the_whole_matrix_is_at_most_60_runs(self):
        many = JVMS + [matrix.debian("trixie", major) for major in (21, 23, 24, 26, 27)]
        self.assertLessEqual(len(matrix.cover(many)), 60)

    def test_flags_of_older_releases(self):
        zgc = matrix.Run(JVMS[0], "h2", "zgc", "tiered", "default")
        self.assertEqual(zgc.flags(), ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"])


class FaultsTest(unittest.TestCase):
    def faults(self, jvm=JVMS[2], **changes):
        run = matrix.Run(jvm, "h2", "g1", "tiered", "default")
        return runs.faults_of(result(**changes), run)

    def test_a_good_run_has_none(self):
        self.assertEqual(self.faults(), [])

    def test_each_wrong_figure_is_one(self):
        for changes in ({"exit": 134}, {"output_equal": False}, {"differing": 900, "names": ["a.B.c()"]},
                        {"exit_plain": 1, "exit": 1}, {"samples_placed": 0}, {"calls": 0},
                        {"samples_whole": 3993}, {"unmatched": 7}):
            self.assertEqual(len(self.faults(**changes)), 1, changes)

    def test_an_unfinished_release_may_lose_stacks_only(self):
        self.assertEqual(self.faults(jvm=JVMS[3], samples_whole=10, unmatched=500), [])
        self.assertEqual(len(self.faults(jvm=JVMS[3], differing=1, names=["a.B.c()"])), 1)

    def test_all_runs_of_a_jvm_together_have_less_room(self):
        three = [result(unmatched=3), result(unmatched=3), {"name": "e/f", "not_possible": "no archive"}]
        self.assertEqual(len(runs.faults_of_jvm(three, False)), 1)
        self.assertEqual(runs.faults_of_jvm(three, True), [])
        self.assertEqual(runs.faults_of_jvm([result(unmatched=2), result(unmatched=2)], False), [])

    def test_calls_of_the_jdk_are_exact(self):
        expected = "EXPECT 3 java.util.BitSet.flip(int)\nother\n"
        self.assertEqual(runs.differing_in_jdk(expected, {"java.util.BitSet.flip(int)": 3}), [])
        self.assertEqual(len(runs.differing_in_jdk(expected, {})), 1)
        self.assertEqual(len(runs.differing_in_jdk("", {})), 1)

    def test_times_are_no_difference(self):
        self.assertEqual(runs.steady("iter 0 4777 ms"), runs.steady("iter 0 12 ms"))
        self.assertNotEqual(runs.steady("97 rows"), runs.steady("98 rows"))


class TableTest(unittest.TestCase):
    def test_nothing_is_rounded_up_to_all(self):
        self.assertEqual(table.share(99_999, 100_000), "99.99 %")
        self.assertEqual(table.share(100_000, 100_000), "100.00 %")

    def test_faults_and_absent_things_are_named(self):
        text = table.document([result(), result(name="c/d", faults=["the output differs"], output_equal=False),
                               {"name": "e/f", "jvm": "25-trixie", "root": "trixie", "faults": [],
                                "not_possible": "no archive"}],
                              ["26-sid: its root cannot be made here"])
        for part in ("1 of 2", "`c/d`: the output differs", "`e/f`: no archive", "26-sid: its root"):
            self.assertIn(part, text)


if __name__ == "__main__":
    unittest.main()
