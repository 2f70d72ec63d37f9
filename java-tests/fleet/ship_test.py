#!/usr/bin/env python3
"""jtrace ship: tables and servers, with servers that fail, and with everything killed at random.

usage: ship_test.py BUILD JDK CASE    (Servers, Kills, Jvms or Collector)

exit codes: 0 all is as it should be · 1 something is not · 77 not verified: a component is not there (scripts/fleet.sh)
"""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import engines
import receiver
from fleet_case import run_case

OTLP = "/v1development/profiles"
GATE = "--feature-gates=+service.profilesSupport"
CALLS = "SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM nodes"


class ShipTest(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="jtrace-ship-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.traces, self.data = self.work / "traces", self.work / "data"
        self.traces.mkdir()

    def need_tables(self):
        if engines.module(BUILD, "duckdb") is None or not (BUILD / "lib/jtrace/libduckdb.so").exists():
            self.skipTest("not verified: there is no duckdb (scripts/fleet.sh test)")

    def java(self, options, *arguments, **how):
        return subprocess.Popen([JDK / "bin/java", f"-agentpath:{BUILD}/lib/libjtrace.so={options},log=none", "-cp",
                                 BUILD / "java-tests/classes", *arguments], cwd=self.work, stdout=subprocess.DEVNULL,
                                **how)

    def make(self, count):
        """Traces of as many runs, of which some hundred calls differ."""
        self.assertEqual(self.java("mode=merged,out=one.bin", "cases.Recursion").wait(), 0)
        made = self.work / "made"
        made.mkdir()
        subprocess.run([BUILD / "tests/perturb_traces", self.work / "one.bin", made, "0", str(count), "3"], check=True)
        return sorted(made.iterdir())

    def seal(self, trace):
        """As an agent does: complete when it has its name. Old enough to be no copy that still grows."""
        part = self.traces / f"{trace.name}.part"
        shutil.copy(trace, part)
        os.utime(part, (time.time() - 60,) * 2)
        part.rename(self.traces / trace.name)

    def ship(self, *options):
        return subprocess.Popen([BUILD / "bin/jtrace", "ship", self.traces, *options], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ship_once(self, *options, code=0):
        shipper = self.ship("--once", *options)
        out, err = shipper.communicate(timeout=120)
        self.assertEqual(shipper.returncode, code, out + err)
        return out + err

    def ask(self, sql):
        (value,), = engines.DuckDb(BUILD, self.data).ask(sql)
        return value

    def calls_of(self, traces):
        """By another way: all in one conversion."""
        other = self.work / "other"
        subprocess.run([BUILD / "bin/jtrace-post", "--report=parquet", "-o", other, *traces], check=True)
        (value,), = engines.DuckDb(BUILD, other).ask(CALLS)
        self.assertGreater(value, 0)
        return value

    def check_tables(self, traces):
        """Each trace once, with all its calls."""
        engine = engines.DuckDb(BUILD, self.data)
        rows = dict(engine.ask("SELECT trace, COUNT(*) FROM runs GROUP BY trace"))
        self.assertEqual(rows, {trace.name: 1 for trace in traces})
        self.assertEqual(self.ask(CALLS), self.calls_of(traces))
        checks = subprocess.run([BUILD / "bin/jtrace", "fleet", "check", f"--data={self.data}"], text=True,
                                stdout=subprocess.PIPE, check=False)
        self.assertEqual(checks.returncode, 0, checks.stdout)

    def check_profiles(self, server, count):
        """Each trace at least once, always with the same ids, and other traces have others."""
        ids = collections.defaultdict(set)
        for request in server.requests:
            if request.path == OTLP:
                for start, kind, id_ in receiver.profiles_of(request.body):
                    ids[start, kind].add(id_)
        self.assertEqual(len({receiver.profiles_of(it.body)[0][0] for it in server.taken(OTLP)}), count)
        self.assertEqual({len(it) for it in ids.values()}, {1})
        self.assertEqual(len({id_ for it in ids.values() for id_ in it}), len(ids))


class Servers(ShipTest):
    def test_what_servers_get(self):
        traces = self.make(2)
        for trace in traces:
            self.seal(trace)
        server = receiver.Receiver()
        self.addCleanup(server.close)
        headers = self.work / "headers"
        headers.write_text("Authorization: Bearer secret\n")
        said = self.ship_once(f"--to=otlp:{server.url}", f"--to=pprof:{server.url}", f"--header-file={headers}",
                              "--label=service=shop", "--label=version=1.4", "--label=container=c1",
                              f"--metrics-file={self.work}/ship.prom")
        self.assertNotIn("secret", said)
        self.assertEqual([it.headers["Authorization"] for it in server.requests], ["Bearer secret"] * 4)
        otlp, pprof = server.taken(OTLP), server.taken("/ingest")
        self.assertEqual((len(otlp), len(pprof)), (2, 2))
        attributes = receiver.attributes_of(otlp[0].body)
        self.assertEqual([attributes[key] for key in ("service.name", "service.version", "container.name")],
                         ["shop", "1.4", "c1"])
        self.assertEqual(otlp[0].headers["Content-Type"], "application/x-protobuf")
        query = pprof[0].query
        self.assertEqual(query["name"], f"shop{{host={attributes['host.name']},version=1.4,container=c1}}")
        self.assertEqual(query["format"], "pprof")
        starts = [receiver.profiles_of(it.body)[0][0] for it in otlp]
        self.assertTrue(abs(int(query["from"]) - starts[0] / 1e9) <= 1, (query, starts))
        self.assertGreater(int(query["until"]), int(query["from"]))
        self.assertNotEqual(pprof[0].headers["Idempotency-Key"], pprof[1].headers["Idempotency-Key"])
        self.assertEqual(sorted(it.name for it in (self.traces / "shipped").iterdir()),
                         sorted(it.name for it in traces))
        metrics = (self.work / "ship.prom").read_text()
        self.assertIn(f'delivered_total{{target="otlp:{server.url}{OTLP}"}} 2\n', metrics)
        self.go_reads(pprof[0].body)

    def go_reads(self, body):
        if shutil.which("go") is None:
            print("not verified: there is no go tool pprof")
            return
        profile = self.work / "pushed.pb.gz"
        profile.write_bytes(body)
        top = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=calls", profile], check=True, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        self.assertIn("cases.Recursion.fib", top)

    def test_bad_servers_are_tried_again(self):
        """A busy one, broken ones, resets and a slow one: in the end it has everything."""
        behaviours = [503, "reset", (429, {"Retry-After": "2"}), 500, 401, None, "reset", None, 2.5]
        server = receiver.Receiver(lambda number: behaviours[number] if number < len(behaviours) else None)
        self.addCleanup(server.close)
        traces = self.make(5)
        for trace in traces:
            self.seal(trace)
        shipper = self.ship(f"--to=otlp:{server.url}", "--interval=20ms", "--timeout=1s",
                            f"--metrics-file={self.work}/ship.prom")
        deadline = time.monotonic() + 100
        while len(list(self.traces.glob("*.bin"))) and time.monotonic() < deadline:
            time.sleep(0.05)
        shipper.send_signal(signal.SIGTERM)
        out, err = shipper.communicate(timeout=20)
        self.assertEqual(shipper.returncode, 0, err)
        self.assertIn("shipped 5, set aside 0, dropped 0, waiting 0", out)
        self.assertIn("works again", err)
        metrics = (self.work / "ship.prom").read_text()  # as it ended
        self.assertIn("jtrace_ship_shipped_total 5\n", metrics)
        self.assertGreaterEqual(int(re.search(r"retries_total{.*} (\d+)", metrics)[1]), 5)  # resets may be mended by libcurl
        self.check_profiles(server, 5)
        times = [it.time for it in server.requests]
        self.assertGreaterEqual(times[3] - times[2], 2)  # Retry-After

    def test_a_refused_trace_and_a_bad_one_are_set_aside(self):
        server = receiver.Receiver(lambda number: 413 if number == 1 else None)
        self.addCleanup(server.close)
        traces = self.make(3)
        for trace in traces:
            self.seal(trace)
        bad = self.work / "0bad.bin"
        bad.write_bytes(traces[0].read_bytes()[:8] + b"\xff" * 100)
        self.seal(bad)
        said = self.ship_once(f"--to=otlp:{server.url}")
        self.assertIn("shipped 2, set aside 2", said)
        reasons = {it.name: it.read_text() for it in (self.traces / "failed").glob("*.reason")}
        self.assertEqual(len(reasons), 2)
        self.assertIn("jtrace-post", reasons["0bad.bin.reason"] + said)
        self.assertTrue(any("413" in it for it in reasons.values()), reasons)

    def test_without_a_server_once_ends_with_2_and_keeps_the_trace(self):
        self.seal(self.make(1)[0])
        said = self.ship_once("--to=otlp:http://127.0.0.1:9", "--timeout=1s", code=2)
        self.assertIn("waiting 1", said)
        self.assertEqual(len(list(self.traces.glob("*.bin"))), 1)

    def test_redirections_are_not_followed(self):
        other = receiver.Receiver()
        self.addCleanup(other.close)
        server = receiver.Receiver(lambda number: (307, {"Location": f"{other.url}{OTLP}"}))
        self.addCleanup(server.close)
        self.seal(self.make(1)[0])
        self.assertIn("307", self.ship_once(f"--to=otlp:{server.url}", code=2))
        self.assertEqual(other.requests, [])


class Kills(ShipTest):
    KILLS = 100
    TRACES = 60

    def test_nothing_is_lost_or_counted_twice(self):
        """SIGKILL at random moments, while traces arrive and the server fails now and then."""
        self.need_tables()
        seed = int(os.environ.get("JTRACE_SEED", "0")) or random.randrange(1, 1 << 30)
        print(f"JTRACE_SEED={seed}")
        chance = random.Random(seed)
        traces = self.make(self.TRACES)
        server = receiver.Receiver(lambda number: (503, "reset", None, 0.1, None, 0.2)[number % 6])
        self.addCleanup(server.close)
        options = [f"--to=parquet:{self.data}", f"--to=otlp:{server.url}", f"--to=pprof:{server.url}",
                   "--interval=10ms", "--niceness=0"]
        arrived = 0
        for number in range(self.KILLS):
            if number * self.TRACES >= arrived * self.KILLS and traces[arrived:]:
                self.seal(traces[arrived])
                arrived += 1
            shipper = self.ship(*options)
            time.sleep(chance.uniform(0.005, 0.35))
            self.assertIsNone(shipper.poll(), shipper.stderr.read() if shipper.poll() is not None else "")
            shipper.kill()
            shipper.communicate()
        for trace in traces[arrived:]:
            self.seal(trace)
        before = len(list(self.traces.glob("*.bin")))
        print(f"{len(traces) - before} of {len(traces)} traces shipped between {self.KILLS} kills,"
              f" {len(server.requests)} requests")
        self.assertGreater(len(traces) - before, 5)
        server.misbehave = lambda number: None
        for _ in range(5):
            self.ship("--once", *options).communicate(timeout=300)
        self.assertEqual(list(self.traces.glob("*.bin")), [])
        self.assertFalse((self.traces / "failed").exists())
        self.check_tables(traces)
        self.check_profiles(server, len(traces))
        keys = collections.defaultdict(set)
        pprof = [it for it in server.requests if it.path == "/ingest"]
        for request in pprof:
            keys[request.query["from"], request.query["name"]].add(request.headers["Idempotency-Key"])
        self.assertEqual({len(it) for it in keys.values()}, {1})
        self.assertEqual(len(keys), len(traces))
        self.assertGreater(len(pprof), len(traces), "nothing was sent twice: the test has no power")


class Jvms(ShipTest):
    def test_files_of_a_loop_are_shipped_while_jvms_run_and_are_killed(self):
        """Two JVMs, one of which is killed: every file is a run of its own, with its program's name."""
        self.need_tables()
        shipper = self.ship(f"--to=parquet:{self.data}", "--interval=100ms", "--label=version=1")
        options = f"mode=samples,loop=1s,out={self.traces}/%p.bin"
        ends, killed = self.java(options, "Fib", "40", "12"), self.java(options, "Fib", "40", "100")
        time.sleep(4.4)
        killed.kill()
        killed.wait()
        self.assertEqual(ends.wait(timeout=100), 0)
        deadline = time.monotonic() + 60
        while list(self.traces.glob("*.bin")) and time.monotonic() < deadline:
            time.sleep(0.1)
        shipper.terminate()
        out, err = shipper.communicate(timeout=30)
        self.assertEqual(shipper.returncode, 0, err)
        kept = sorted(it.name for it in (self.traces / "shipped").iterdir())
        engine = engines.DuckDb(BUILD, self.data)
        rows = engine.ask("SELECT trace, service, start_ns, run_id, pid FROM runs ORDER BY pid, start_ns")
        self.assertEqual(sorted(row[0] for row in rows), kept)
        self.assertEqual({row[1] for row in rows}, {"Fib"})
        self.assertEqual(len({row[3] for row in rows}), len(rows))
        for pid in (ends.pid, killed.pid):
            starts = [row[2] for row in rows if row[4] == pid]
            self.assertGreaterEqual(len(starts), 4)
            for one, next_ in zip(starts, starts[1:]):
                self.assertGreater(next_ - one, 0.5e9)
        self.assertIn(f"shipped {len(kept)}, set aside 0", out)


class Collector(ShipTest):
    """OpenTelemetry's collector, which is killed as well."""

    def start(self, port, log):
        config = self.work / "collector.yaml"
        config.write_text(json.dumps({
            "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{port}"}}}},
            "exporters": {"debug": {"verbosity": "detailed"}},
            "service": {"telemetry": {"metrics": {"level": "none"}},
                        "pipelines": {"profiles": {"receivers": ["otlp"], "exporters": ["debug"]}}}}))
        return subprocess.Popen([COLLECTOR, f"--config={config}", GATE], stdout=log, stderr=subprocess.STDOUT)

    def test_a_collector_gets_each_profile_with_one_id(self):
        if not COLLECTOR.exists():
            self.skipTest("not verified: there is no OpenTelemetry collector (scripts/fleet.sh collector)")
        traces = self.make(20)
        unused = receiver.Receiver()
        port = unused.server.server_port
        unused.close()
        chance = random.Random(5)
        with open(self.work / "collector.log", "wb") as log:
            shipper = self.ship(f"--to=otlp:http://127.0.0.1:{port}", "--interval=50ms", "--label=service=shop")
            for number in range(5):
                collector = self.start(port, log)
                for trace in traces[4 * number:4 * number + 4]:
                    self.seal(trace)
                time.sleep(chance.uniform(0.5, 3))
                collector.kill()
                collector.wait()
            collector = self.start(port, log)
            deadline = time.monotonic() + 120
            while list(self.traces.glob("*.bin")) and time.monotonic() < deadline:
                time.sleep(0.1)
            time.sleep(1)
            shipper.terminate()
            out, err = shipper.communicate(timeout=30)
            collector.terminate()
            collector.wait()
        self.assertEqual(shipper.returncode, 0, err)
        self.assertIn("shipped 20, set aside 0", out)
        text = (self.work / "collector.log").read_text(errors="replace")
        ids = collections.Counter(re.findall(r"Profile ID *: *([0-9a-f]{32})", text))
        kinds = len(profile_kinds(traces[0]))
        print(f"{sum(ids.values())} profiles, {len(ids)} ids")
        self.assertEqual(len(ids), 20 * kinds)
        self.assertIn("service.name: Str(shop)", text)


def profile_kinds(trace):
    body = subprocess.run([BUILD / "bin/jtrace-post", "--report=otlp", trace], check=True, stdout=subprocess.PIPE).stdout
    return receiver.profiles_of(body)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        print(__doc__)
        sys.exit(2)
    BUILD, JDK = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    COLLECTOR = BUILD / "fleet/collector/otelcol-profiles"
    sys.exit(run_case(globals()[sys.argv[3]]))
