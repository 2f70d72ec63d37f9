"""Known answers of the queries over made runs: text traces of one method, in and out of all the ways to measure."""
from fleet_case import FleetTest

MS = 1_000_000
DAY = 1_764_115_200_000_000_000  # 2025-11-26


class MadeRuns(FleetTest):
    def setUp(self):
        super().setUp()
        self.need()
        self.made = 0

    def run_of(self, calls, ns=None, ticks=0, tick_ns=0, host="h", mode="merged", routine="a.A.run()", start=DAY):
        """A trace with so many calls; its time: None for no clock."""
        self.made += 1
        lines = ["# jtrace-text 1 unit=ns", f"#@\tscope\t{routine}"]
        facts = {"host": host, "pid": self.made, "unix_time_ns": start + self.made, "mode": mode}
        if tick_ns:
            facts["interval_ns"] = tick_ns
        lines += [f"#@\tsession\t{key}\t{value}" for key, value in facts.items()]
        lines.append(f"0\tmain\tnode\tcalls={calls}" + (f",base={ns}" if ns else "") + f"\t{routine}")
        if ticks:
            lines.append(f"0\tmain\tsample-at*{ticks}\t1\t{routine}\tC:{routine}")
        trace = self.work / f"{self.made}.jtxt"
        trace.write_text("\n".join(lines) + "\n")
        return trace

    def convert(self, traces, version="1"):
        self.post("--report=parquet", "-o", self.data, "--label=service=s", f"--label=version={version}",
                  "--no-files", *traces)


class Questions(MadeRuns):
    def diff(self):
        return self.rows("diff", "--before=version=1", "--after=version=2", "--top=100")

    def test_runs_without_time_do_not_make_calls_cheap(self):
        """All hosts pay 2 ms a call; all but one also have runs that count without a clock."""
        traces = []
        for host in range(6):
            traces.append(self.run_of(10, 20 * MS, host=f"h{host}"))
            if host != 5:
                traces.append(self.run_of(90, host=f"h{host}"))
                traces.append(self.run_of(90, tick_ns=MS, mode="events", host=f"h{host}"))
        self.convert(traces)
        self.assertEqual(self.rows("hosts"), [])
        (row,) = self.rows("percentiles")
        self.assertEqual([float(row[name]) for name in ("p50", "p90", "greatest")], [2 * MS] * 3)

    def test_a_slow_host_is_found(self):
        self.convert([self.run_of(10, (60 if host == 4 else 20 + host) * MS, host=f"h{host}") for host in range(6)])
        self.assertEqual([row["host"] for row in self.rows("hosts")], ["h4"])

    def test_versions_that_cost_the_same_do_not_differ(self):
        self.convert([self.run_of(10, 20 * MS) for _ in range(6)])
        self.convert([self.run_of(10, 20 * MS) for _ in range(6)]
                     + [self.run_of(10), self.run_of(10, tick_ns=MS, mode="events")], version="2")
        (row,) = self.diff()
        self.assertEqual(row["verdict"], "unknown")
        self.assertEqual(float(row["difference_ns"]), 0)
        self.assertEqual([row[name] for name in ("runs_before", "runs_after", "timed_before", "timed_after")],
                         ["6", "8", "6", "6"])
        self.assertEqual(row["calls_differ"], "0")

    def test_few_runs_prove_nothing(self):
        """Four runs a side have no interval, five have one."""
        self.convert([self.run_of(10, 20 * MS) for _ in range(4)])
        self.convert([self.run_of(10, 30 * MS) for _ in range(5)], version="2")
        (row,) = self.diff()
        self.assertEqual([row["verdict"], row["least_ns"], row["greatest_ns"]], ["unknown", "", ""])
        self.convert([self.run_of(10, 20 * MS)])
        (row,) = self.diff()
        self.assertEqual([row["verdict"], float(row["least_ns"])], ["slower", 10 * MS])

    def test_calls_are_compared_by_run(self):
        """Twice the runs are not twice the calls. The method whose calls a run differ stands first."""
        self.convert([self.run_of(1000, routine="a.A.run()") for _ in range(2)]
                     + [self.run_of(7, routine="a.B.run()") for _ in range(2)])
        self.convert([self.run_of(1000, routine="a.A.run()") for _ in range(4)]
                     + [self.run_of(9, routine="a.B.run()") for _ in range(4)], version="2")
        rows = [[row["routine"], row["calls_differ"], float(row["calls_a_run_before"]), float(row["calls_a_run_after"])]
                for row in self.diff()]
        self.assertEqual(rows, [["a.B.run()", "1", 3.5, 4.5], ["a.A.run()", "0", 500, 500]])

    def test_calls_of_both_sides_may_be_many(self):
        """Their product with the runs of the other side is more than 64 bits hold."""
        self.convert([self.run_of(2**60) for _ in range(3)])
        self.convert([self.run_of(2**60) for _ in range(3)] + [self.run_of(1) for _ in range(9)], version="2")
        (row,) = self.diff()
        self.assertEqual(row["calls_differ"], "1")

    def test_a_run_in_two_files_counts_twice(self):
        """Not four times, as often as a join would have it."""
        one = self.run_of(10, 20 * MS, ticks=3, tick_ns=MS)
        self.convert([one])
        self.convert([one, self.run_of(1, 2 * MS, ticks=1, tick_ns=MS)])
        (row,) = self.rows("top")
        self.assertEqual([row[name] for name in ("calls", "ticks", "sampled_ns", "self_ns")],
                         ["21", "7", str(7 * MS), str(42 * MS)])
        (tree,) = [row for row in self.rows("tree", "--filter=0") if row["depth"] == "1"]
        self.assertEqual([tree["calls"], tree["sampled_ns"]], ["21", str(7 * MS)])
        broken = {row["holds"]: row["broken"] for row in self.rows("check")}
        self.assertTrue(any(count != "0" for count in broken.values()), broken)

    def test_absurd_ticks_do_not_stop_the_others(self):
        """Each fits, their sum does not."""
        tick = 2**62 // 4
        self.convert([self.run_of(1, ticks=7, tick_ns=tick), self.run_of(1, ticks=7, tick_ns=tick, host="i"),
                      self.run_of(3, ticks=2, tick_ns=MS, routine="a.B.run()")])
        rows = {row["routine"]: row["sampled_ns"] for row in self.rows("top")}
        self.assertEqual(rows, {"a.A.run()": str(2**63 - 1), "a.B.run()": str(2 * MS)})
        for query in ("tree", "arcs", "hosts", "percentiles", "trace"):
            self.fleet(query)
