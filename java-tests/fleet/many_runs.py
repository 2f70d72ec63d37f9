"""Many real runs of real programs, several hosts and versions: their tables say exactly what their single reports say.

JTRACE_FLEET_RUNS: how many (default 21; docs/FLEET.md has the figures of 200).
"""
import collections
import concurrent.futures
import csv
import io
import itertools
import os

from fleet_case import FleetTest, major, plain_name
import short_programs

RUNS = int(os.environ.get("JTRACE_FLEET_RUNS", "21"))
# As many that several runs of a program share files.
HOSTS = ("web-1", "web-2", "web-3", "db-1", "db-2")[:1 + RUNS // 40]
VERSIONS = ("1.3", "1.4")
MODES = ("mode=merged", "mode=samples", "clock=tsc", "mode=events", "boundary=on,record=flat")
LARGEST = 1.3 if RUNS >= 200 else 3  # of the traces' bytes, in tables: less, the more runs share files


class ManyRuns(FleetTest):
    def setUp(self):
        super().setUp()
        self.need()

    def record_many(self):
        """Traces by service, host and version."""
        found = short_programs.all_programs(self.work, self.build, self.jdks[0] / "bin/javac")
        self.assertGreaterEqual(len(found), 2)
        turns = itertools.islice(zip(itertools.cycle(found.items()), itertools.count()), RUNS)
        groups = collections.defaultdict(list)

        def record(turn):
            (service, program), i = turn
            each = i // len(found)  # of this service
            jdk = self.jdks[each % len(self.jdks)]
            trace = self.work / f"{service}-{i}.bin"
            mode = MODES[(each + i) % len(MODES)]
            program.run([jdk / "bin/java", f"-agentpath:{self.build}/lib/libjtrace.so={mode},log=none,out={trace}"])
            return (service, HOSTS[each % len(HOSTS)], VERSIONS[each // len(HOSTS) % 2], major(jdk)), trace
        # One program runs once at a time: it may write files.
        by_service = collections.defaultdict(list)
        for turn in turns:
            by_service[turn[0][0]].append(turn)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for recorded in pool.map(lambda its: [record(it) for it in its], by_service.values()):
                for group, trace in recorded:
                    groups[group[:3]].append(trace)
        return groups

    def singles(self, traces):
        sums = collections.Counter()
        for trace in traces:
            for row in csv.DictReader(io.StringIO(self.post("--report=flat", "--format=csv", "--no-files", trace))):
                if row["kind"] != "thread":
                    for column in ("calls", "calls_jitted", "base"):
                        sums[plain_name(row["name"]), column] += int(row[column])
        return {key: value for key, value in sums.items() if value}

    def merged(self):
        sums = collections.Counter()
        for row in self.rows("flat"):
            for column, name in (("calls", "calls"), ("calls_jitted", "calls_jitted"), ("base_ns", "base")):
                sums[row["routine"], name] += int(row[column] or 0)
        return {key: value for key, value in sums.items() if value}

    def same_sums(self, found, wanted):
        differ = {key: (found.get(key, 0), wanted.get(key, 0)) for key in found.keys() | wanted.keys()
                  if found.get(key, 0) != wanted.get(key, 0)}
        self.assertEqual(list(differ.items())[:5], [], f"{len(differ)} sums differ")

    def arcs_add_up(self, calls):
        """In the merged tree, as a trace of its own: the arcs to a routine add up to its calls, from both ends."""
        trace = self.work / "all.jtxt"
        trace.write_text(self.fleet("trace"))
        by_callee, by_caller = collections.Counter(), collections.Counter()
        for row in csv.DictReader(io.StringIO(self.post("--report=arcflow", "--format=csv", "--no-files", trace))):
            if row["row"] in ("parent", "rparent"):
                by_callee[row["self"]] += int(row["calls"])
            elif row["row"] in ("child", "rchild"):
                by_caller[row["name"]] += int(row["calls"])
        for incoming in (by_callee, by_caller):
            self.same_sums(incoming, calls)

    def test_tables_are_the_sum_of_single_reports(self):
        groups = self.record_many()
        for (service, host, version), traces in groups.items():
            self.post("--report=parquet", "-o", self.data, f"--label=service={service}", f"--label=host={host}",
                      f"--label=version={version}", *traces)
        traces = [trace for group in groups.values() for trace in group]
        self.assertEqual(len(traces), RUNS)
        self.assertEqual(sum(int(row["runs"]) > 0 for row in self.rows("top", "--top=1")), 1)
        wanted, found = self.singles(traces), self.merged()
        self.assertGreater(sum(count for (_, column), count in wanted.items() if column == "calls"), 1_000_000)
        self.same_sums(found, wanted)
        self.assertIn("4 of 4 checks hold", self.fleet("arcs"))
        self.assertTrue(all(row["broken"] == "0" for row in self.rows("check")))
        self.arcs_add_up({name: count for (name, column), count in wanted.items() if column == "calls"})
        trace_bytes = sum(trace.stat().st_size for trace in traces)
        table_bytes = sum(file.stat().st_size for file in self.data.rglob("*.parquet"))
        calls = sum(count for (_, column), count in wanted.items() if column == "calls")
        print(f"\n{len(traces)} runs of {len({group[0] for group in groups})} programs, {len(groups)} partitions and"
              f" versions: {calls:,} calls; traces {trace_bytes:,} bytes, tables {table_bytes:,} in"
              f" {len(list(self.data.rglob('*.parquet')))} files: {table_bytes / trace_bytes:.2f}")
        self.assertLess(table_bytes, LARGEST * trace_bytes)
