#!/usr/bin/env python3
"""The tables of real runs, read by DuckDB, PyArrow and Spark, and the answers of jtrace fleet.

usage: run_test.py BUILD JDK[,JDK…] CASE    (Readers, Runs, ManyRuns, Generated, Questions, Compaction,
       Versions, Spark or SparkEngine)

exit codes: 0 all is as it should be · 1 something is not · 77 not verified: a component is not there (scripts/fleet.sh)
"""
import collections
import csv
import io
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

import engines
from fleet_case import FleetTest, plain_name, run_case, same
from compaction import Compaction  # noqa: F401
from many_runs import ManyRuns  # noqa: F401  (found by its name)
from questions import Questions  # noqa: F401
from spark_engine import SparkEngine  # noqa: F401

# Version 1, as it was first written: Recursion on JDK 17.
GOLDEN = pathlib.Path(__file__).resolve().parent / "version1"


class Readers(FleetTest):
    """Random tables of the writer's tests, in other readers."""
    COUNT = 40

    def setUp(self):
        super().setUp()
        subprocess.run([self.build / "tests/parquet_samples", self.work, str(self.COUNT)], check=True)

    def check(self, read):
        for file in sorted(self.work.glob("*.parquet")):
            expected = json.loads(file.with_suffix(".json").read_text())
            found = read(str(file))
            for name, values in expected.items():
                self.assertEqual(len(found[name]), len(values), f"{file} {name}")
                for got, wanted in zip(found[name], values):
                    self.assertEqual(got, wanted, f"{file} {name}")

    def test_duckdb(self):
        self.need("duckdb")

        def read(file):
            relation = engines.module(self.build, "duckdb").sql(f"SELECT * FROM read_parquet('{file}')")
            rows = relation.fetchall()
            return {name: [row[i] for row in rows] for i, name in enumerate(relation.columns)}
        self.check(read)

    def test_pyarrow(self):
        self.need("pyarrow")
        self.check(lambda file: engines.module(self.build, "pyarrow.parquet").read_table(file).to_pydict())


class Runs(FleetTest):
    def setUp(self):
        super().setUp()
        self.need("duckdb", "pyarrow")
        self.traces = self.record()
        self.engine = engines.DuckDb(self.build, self.data)

    def test_all(self):
        """In one test, because the recordings take longest."""
        self.flat_lists_add_up()
        self.checks_hold()
        self.paths_are_the_same_on_each_jdk()
        self.answers_are_those_of_another_duckdb()
        self.pyarrow_reads_each_table()
        self.merged_trace_has_the_same_sums()
        self.known_answers()

    def flat_lists_add_up(self):
        single = collections.Counter()
        for trace in self.traces:
            for row in csv.DictReader(io.StringIO(self.post("--report=flat", "--format=csv", trace))):
                if row["kind"] == "thread":
                    continue
                for column in ("calls", "calls_jitted", "base", "base_ticks"):
                    single[plain_name(row["name"]), column] += int(row[column])
        fleet = collections.Counter()
        for row in self.rows("flat"):
            for column, name in (("calls", "calls"), ("calls_jitted", "calls_jitted"), ("base_ns", "base")):
                fleet[row["routine"], name] += int(row[column] or 0)
        for routine, ticks in self.engine.ask(
                "SELECT n.routine, CAST(SUM(s.ticks) AS BIGINT) FROM samples s JOIN (SELECT routine_id, MIN(routine) AS"
                " routine FROM routines GROUP BY routine_id) n ON s.function_id = n.routine_id GROUP BY n.routine"):
            fleet[routine, "base_ticks"] += ticks
        self.assertGreater(sum(value for (_, column), value in single.items() if column == "calls"), 1_000_000)
        self.assertEqual({key: value for key, value in fleet.items() if value},
                         {key: value for key, value in single.items() if value})

    def checks_hold(self):
        checks = self.rows("check")
        self.assertEqual(len(checks), 10)
        for row in checks:
            self.assertEqual(row["broken"], "0", row["holds"])
            self.assertGreater(int(row["checked"]), 0, row["holds"])
        self.assertIn("4 of 4 checks hold", self.fleet("arcs"))

    def paths_are_the_same_on_each_jdk(self):
        by_host = collections.defaultdict(lambda: collections.defaultdict(dict))
        for service, host, high, low, calls in self.engine.ask(
                "SELECT service, host, path_hi, path_lo, CAST(SUM(calls) AS BIGINT) FROM nodes GROUP BY ALL"):
            by_host[service][host][high, low] = calls
        for service in ("rec", "fig"):
            one, *others = by_host[service].values()
            self.assertGreater(len(one), 5)
            for other in others:
                self.assertEqual(one, other, service)
        one, *others = by_host["h2"].values()
        for other in others:
            self.assertGreater(len(one.keys() & other.keys()), 0.9 * len(one))

    def answers_are_those_of_another_duckdb(self):
        """The engine that jtrace loads, and that of Python, which is of another release."""
        for query, options in engines.QUERIES.items():
            if (query == "diff" and len(self.jdks) < 2) or query.startswith("merged_"):
                continue  # the latter are read by `trace`, which does not print them
            wanted = self.engine.rows(query, options)
            found = [list(row.values()) for row in self.rows(query, *options)]
            self.assertEqual(len(found), len(wanted), query)
            for one, other in zip(found, wanted):
                for text, value in zip(one, other):
                    text = float(text) if isinstance(value, float) else text
                    self.assertTrue(same(text, "" if value is None else
                                         value if isinstance(value, float) else str(value)), f"{query}: {one} {other}")

    def pyarrow_reads_each_table(self):
        parquet = engines.module(self.build, "pyarrow.parquet")
        for table in engines.TABLES:
            files = sorted((self.data / table).rglob("*.parquet"))
            read = [parquet.read_table(file, partitioning=None) for file in files]
            (rows,), = self.engine.ask(f"SELECT COUNT(*) FROM {table}") if files else ((0,),)
            self.assertEqual(sum(it.num_rows for it in read), rows, table)
            for it in read:
                it.validate(full=True)

    def merged_trace_has_the_same_sums(self):
        trace = self.work / "all.jtxt"
        trace.write_text(self.fleet("trace"))
        rows = list(csv.DictReader(io.StringIO(self.post("--report=flat", "--format=csv", "--no-files", trace))))
        merged, wanted = collections.Counter(), collections.Counter()
        for row in rows:
            if row["kind"] != "thread":
                merged[row["name"]] += int(row["calls"])
        for row in self.rows("flat"):
            wanted[row["routine"]] += int(row["calls"])
        self.assertEqual({name: calls for name, calls in merged.items() if calls},
                         {name: calls for name, calls in wanted.items() if calls})
        (ticks,), = self.engine.ask("SELECT CAST(SUM(ticks) AS BIGINT) FROM samples")
        self.assertEqual(sum(int(row["base_ticks"]) for row in rows), ticks)
        page = self.work / "all.html"
        self.post("--report=html", "--no-files", "-o", page, trace)
        self.assertIn("</html>", page.read_text())

    def known_answers(self):
        calls = {row["routine"]: int(row["calls"]) for row in self.rows("flat", "--service=rec")}
        self.assertEqual(calls["cases.Recursion.fib(int)"], 21_891 * len(self.jdks))
        dead = {row["routine"] for row in self.rows("dead")}
        self.assertIn("cases.Recursion.<init>()", dead)
        self.assertNotIn("cases.Recursion.fib(int)", dead)
        callers = {row["caller"] for row in self.rows("callers", "--of=cases.Recursion.over(long)")}
        self.assertEqual(callers, {"cases.Recursion.over(int)"})
        self.assertIn("H2Work.main(String[])", self.fleet("tree", "--service=h2"))
        if len(self.jdks) > 1:
            diff = self.rows("diff", "--before=version=17", "--after=version=25", "--service=rec", "--top=1000")
            self.assertEqual({row["calls_differ"] for row in diff}, {"0"})


class Generated(FleetTest):
    """Two versions, each with six hosts of five runs; in one, a tick of one host weighs three times as much."""

    def test_slow_host_and_regression_are_found(self):
        self.need("duckdb")
        trace = self.work / "model.bin"
        self.java(self.jdks[0], "mode=merged", trace, "H2Work", "2")
        made = self.work / "made"
        made.mkdir()
        for version, slow in (("1", []), ("2", ["4"])):
            for file in made.iterdir():
                file.unlink()
            first = {"1": "0", "2": "30"}[version]
            subprocess.run([self.build / "tests/perturb_traces", trace, made, first, "30", "6", *slow], check=True)
            self.post("--report=parquet", "-o", self.data, f"--label=version={version}", "--label=service=h2",
                      *sorted(made.iterdir()))
        checks = self.rows("check")
        self.assertEqual(checks[4]["checked"], "60")
        self.assertTrue(all(row["broken"] == "0" for row in checks))
        outliers = collections.Counter(row["host"] for row in self.rows("hosts", "--top=10"))
        self.assertTrue(outliers, "no outlier")
        self.assertEqual(outliers.most_common(1)[0][0], "web-4")
        sides = ("--before=version=1", "--after=version=2", "--top=10")
        diff = self.rows("diff", *sides)
        self.assertTrue(all(float(row["least_ns"]) <= float(row["difference_ns"]) <= float(row["greatest_ns"])
                            for row in diff))
        # The same draw each time.
        self.assertEqual(diff, self.rows("diff", *sides))
        # That host alone is certainly slower.
        slow = self.rows("diff", *sides, "--host=web-4")
        self.assertEqual({row["verdict"] for row in slow[:3]}, {"slower"})


class Versions(FleetTest):
    """Files of an older version, and of a later one, which has one more column, in one query."""

    def test_old_and_new_files_are_read_together(self):
        self.need("duckdb", "pyarrow")
        arrow, parquet = engines.module(self.build, "pyarrow"), engines.module(self.build, "pyarrow.parquet")
        shutil.copytree(GOLDEN, self.data)
        before = {row["routine"]: int(row["calls"]) for row in self.rows("flat")}
        self.assertEqual(before["cases.Recursion.fib(int)"], 21_891)
        trace = self.work / "rec.bin"
        self.java(self.jdks[0], "mode=events", trace, "cases.Recursion")
        self.post("--report=parquet", "-o", self.data, "--label=service=rec", "--label=host=new", trace)
        for file in self.data.rglob("host=new/*.parquet"):
            table = parquet.read_table(file, partitioning=None)
            table = table.append_column("of_later", arrow.array([7] * table.num_rows, arrow.int64()))
            parquet.write_table(table, file)
        after = {row["routine"]: int(row["calls"]) for row in self.rows("flat")}
        self.assertEqual(after["cases.Recursion.fib(int)"], 2 * 21_891)
        self.assertTrue(all(row["broken"] == "0" for row in self.rows("check")))
        # The old file's paths are still those of today.
        engine = engines.DuckDb(self.build, self.data)
        (paths,), = engine.ask("SELECT COUNT(*) FROM (SELECT DISTINCT path_hi, path_lo FROM nodes)")
        (old,), = engine.ask("SELECT COUNT(*) FROM (SELECT DISTINCT path_hi, path_lo FROM nodes WHERE host = 'old')")
        self.assertGreater(old, 5)
        self.assertEqual(paths, old)


class Spark(FleetTest):
    def test_all_queries_have_the_rows_of_duckdb(self):
        self.need("duckdb")
        if engines.module(self.build, "pyspark", "spark") is None:
            self.skipTest("not verified: there is no pyspark (scripts/fleet.sh spark)")
        self.record()
        spark = engines.Spark(self.build, self.data, self.jdks[0])
        self.addCleanup(spark.session.stop)
        duckdb = engines.DuckDb(self.build, self.data)
        for query, options in engines.QUERIES.items():
            found, wanted = spark.rows(query, options), duckdb.rows(query, options)
            self.assertEqual(len(found), len(wanted), query)
            for one, other in zip(found, wanted):
                self.assertTrue(all(same(a, b) for a, b in zip(one, other)), f"{query}: {one} {other}")
        self.assertGreaterEqual(spark.executors(), 2)


def main():
    FleetTest.build = pathlib.Path(sys.argv[1]).resolve()
    FleetTest.jdks = [pathlib.Path(jdk) for jdk in sys.argv[2].split(",")]
    return run_case(globals()[sys.argv[3]])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        print(__doc__)
        sys.exit(2)
    sys.exit(main())
