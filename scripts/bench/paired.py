#!/usr/bin/env python3
"""Paired runs of programs with and without the agent; medians and their spread.

A pair is a plain run and a traced run one after the other, so that a drift of the machine's speed
affects both equally. The program itself measures the figures inside a run (steady state: the second
half of its iterations), so that warm-up does not count. Each row is kept in a file of results as well,
from which table.py makes the README's table.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from results import Results, version_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AGENT = os.path.join(ROOT, "build/lib/libjtrace.so")
POST = os.path.join(ROOT, "build/bin/jtrace-post")
JACOCO = os.path.join(ROOT, "build/java-tests/agents/jacoco.jar")
CLASSES = os.path.join(ROOT, "build/java-tests/classes")
JARS = "/usr/share/java/"
CLOJURE = ":".join(JARS + jar for jar in ("clojure.jar", "spec.alpha.jar", "core.specs.alpha.jar"))
H2 = ["-cp", f"{CLASSES}:{JARS}h2.jar", "H2W"]


class Run:
    """One finished process: wall and CPU seconds, its output, its trace."""

    def __init__(self, java, program, options=None):
        """`options`: of the agent; with a dash, of the JVM: another agent."""
        self.trace = tempfile.mktemp(suffix=".bin", prefix="jtrace-bench-")
        agent = [f"-agentpath:{AGENT}=out={self.trace},log=none,{options}"] if options else []
        if options and options.startswith("-"):
            agent = [options]
        if options and options.startswith("serve"):
            agent = [f"-agentpath:{AGENT}={options},log=none"]
        start = time.monotonic()
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen([java, *agent, *program], stdout=out, stderr=err)
            _, status, usage = os.wait4(process.pid, 0)
            self.wall = time.monotonic() - start
            out.seek(0)
            self.out = out.read()
            if status != 0:
                err.seek(0)
                sys.exit(f"bench: {program} ended with status {status}: {err.read()}")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak_mb = usage.ru_maxrss / 1024

    def figures(self, pattern):
        return [float(x) for x in re.findall(pattern, self.out, re.MULTILINE)]

    def steady(self, pattern):
        """Median of the second half of the figures that the program printed."""
        figures = self.figures(pattern)
        return statistics.median(figures[len(figures) // 2:])

    def drop(self):
        if os.path.exists(self.trace):
            os.remove(self.trace)


class Bench:
    def __init__(self, java, quick, results):
        self.java = java
        self.jdk = version_of(java)
        self.results = results
        self.pairs = 3 if quick else 5
        self.long_pairs = 4 if quick else 24
        self.start_pairs = 7 if quick else 31

    def pair(self, program, options, measure, pairs, base=None):
        """Both sides' values of `measure`, pair by pair; `base`: the options of the first."""
        plain, traced = [], []
        for i in range(pairs):
            for side in ((plain, base), (traced, options))[:: 1 if i % 2 == 0 else -1]:
                run = Run(self.java, program, side[1])
                side[0].append(measure(run))
                run.drop()
        return plain, traced

    def row(self, what, value, goal, detail):
        self.results.add(what, self.jdk, value, goal)
        print(f"{what:<44} {value:>12}   goal {goal:<9} {detail}", flush=True)

    def ratio(self, what, program, options, pattern, goal, base=None):
        plain, traced = self.pair(program, options, lambda r: r.steady(pattern), self.pairs, base)
        ratio = statistics.median(b / a for a, b in zip(plain, traced))
        self.row(what, f"{ratio:.2f}x", goal,
                 f"{statistics.median(plain):.0f} -> {statistics.median(traced):.0f} ms")

    def fib(self):
        program = ["-cp", CLASSES, "F", "38"]
        for options, name in (("mode=events", "tree"), ("mode=events,record=flat", "flat")):
            plain, traced = self.pair(program, options, lambda r: r.steady(r"([\d.]+) ns/call"),
                                      self.pairs)
            added = statistics.median(b - a for a, b in zip(plain, traced))
            self.row(f"fib, record={name}: added a call", f"{added:.2f} ns",
                     "<= 1 ns" if name == "tree" else "-", f"plain {statistics.median(plain):.2f} ns")

    def added(self, what, program, options, pattern, goal, base=None):
        """Nanoseconds that a call takes longer."""
        plain, traced = self.pair(program, options, lambda r: r.steady(pattern), self.pairs, base)
        added = statistics.median(b - a for a, b in zip(plain, traced))
        self.row(what, f"{added:.2f} ns", goal, f"{base or 'plain'} {statistics.median(plain):.2f} ns")

    def blocks(self):
        """Counts of lines, and JaCoCo, which shows only whether a line ran."""
        iterations = r"iter \d+ (\d+) ms"
        self.added("fib, blocks=on: added a call", ["-cp", CLASSES, "F", "38"], "mode=events,blocks=on",
                   r"([\d.]+) ns/call", "<= 1 ns", base="mode=events")
        self.ratio("H2, record=flat,blocks=on", [*H2, "12"], "mode=events,record=flat,blocks=on", iterations,
                   "<= 1.6x")
        self.ratio("H2, tree with blocks=on, of the tree's time", [*H2, "12"], "mode=events,blocks=on", iterations,
                   "<= 1.3x", base="mode=events")
        self.added("fib, blocks=paths: added a call", ["-cp", CLASSES, "F", "38"], "mode=events,blocks=paths",
                   r"([\d.]+) ns/call", "-", base="mode=events,blocks=on")
        self.ratio("H2, tree with blocks=paths, of the time with blocks=on", [*H2, "12"], "mode=events,blocks=paths",
                   iterations, "-", base="mode=events,blocks=on")
        self.ratio("H2, tree with blocks=paths, of the tree's time", [*H2, "12"], "mode=events,blocks=paths",
                   iterations, "-", base="mode=events")
        if os.path.exists(JACOCO):
            with tempfile.TemporaryDirectory() as folder:
                self.ratio("H2, JaCoCo", [*H2, "12"],
                           f"-javaagent:{JACOCO}=includes=org.h2.*,destfile={folder}/jacoco.exec", iterations, "-")
        run = Run(self.java, [*H2, "2"], "mode=events,record=flat,blocks=on")
        start = time.monotonic()
        subprocess.run([POST, "--report=source", "--top=100000", run.trace], capture_output=True, check=True)
        self.row("H2, jtrace-post --report=source", f"{time.monotonic() - start:.2f} s", "<= 1 s",
                 f"{os.path.getsize(run.trace) / 1e6:.1f} MB of trace")
        summary = subprocess.run([POST, "dump", run.trace], capture_output=True, check=True, text=True).stdout
        counts = dict(re.findall(r"planner\.probe\.(block|block-counter)\t(\d+)", summary))
        share = 100 * int(counts["block-counter"]) / int(counts["block"])
        self.row("H2, blocks with a counter", f"{share:.0f} %", "<= 60 %", f"of {int(counts['block']):,}")
        run.drop()

    def events(self):
        """The cost of more than counts: clocks, logs, calls that leave the scope."""
        fib = ["-cp", CLASSES, "F", "36"]
        for options, goal in (("clock=coarse", "<= 6 ns"), ("clock=tsc", "<= 45 ns"),
                              ("record=log", "<= 6 ns"), ("record=log,clock=tsc", "<= 45 ns")):
            self.added(f"fib, {options}: added a call", fib, f"mode=events,{options}",
                       r"([\d.]+) ns/call", goal)
        self.added("boundary=on: added a call that leaves", ["-cp", CLASSES, "Outside"],
                   "mode=events,boundary=on,include=Outside", r"([\d.]+) ns a call", "<= 20 ns")
        for options, goal in (("clock=coarse", "-"), ("clock=tsc", "<= 14x"), ("record=log", "-"),
                              ("record=log,clock=tsc", "<= 14x")):
            self.ratio(f"H2, {options}", [*H2, "8"], f"mode=events,{options}",
                       r"iter \d+ (\d+) ms", goal)

    def logs(self):
        """The size of logs, and the speed of reading them: events that are in the log, not those of its gaps."""
        for options in ("record=log", "record=log,overflow=wait", "record=log,clock=coarse,overflow=wait",
                        "record=log,clock=tsc,overflow=wait"):
            run = Run(self.java, [*H2, "3"], f"mode=events,{options}")
            start = os.times()
            report = subprocess.run([POST, "--report=summary", run.trace],
                                    capture_output=True, check=True, text=True).stdout
            end = os.times()
            seconds = end.children_user + end.children_system - start.children_user - start.children_system
            calls = re.findall(r"([\d,]+) (?:interpreted|compiled) calls", report)
            left_out = sum(int(n.replace(",", "")) for n in re.findall(r"([\d,]+) entries and exits left out", report))
            everything = 2 * sum(int(n.replace(",", "")) for n in calls)  # with their exits
            events = everything - left_out
            size = os.path.getsize(run.trace)
            self.row(f"H2 {options}: bytes an event on disk", f"{size / events:.3f}", "<= 2",
                     f"{size / 1e6:.1f} MB, {events / 1e6:.0f} M events, {100 * left_out / everything:.0f} % left out")
            writer = float(re.search(r"writer ([\d.]+) s CPU", report).group(1))
            self.row(f"H2 {options}: its writer's time an event", f"{1e9 * writer / events:.1f} ns", "-",
                     f"{writer:.1f} s of processor time")
            self.row(f"H2 {options}: jtrace-post, events a second", f"{events / seconds / 1e6:.0f} M", ">= 100 M",
                     f"{seconds:.1f} s of processor time")
            run.drop()

    def threads(self):
        """Threads that count at once must not slow each other down. Processor time of a thread's round."""
        for count in ("1", "2"):
            program = ["-cp", f"{CLASSES}:{JARS}h2.jar", "H2Work", "12", count]
            self.ratio(f"H2, {count} thread{'s' if count > '1' else ''}, mode=events", program, "mode=events", r"^([\d.]+)$",
                       "-")

    def resting(self):
        """Probes that are in, while no recording runs."""
        rests = "serve,probes=resting"
        self.added(f"fib, {rests}: added a call", ["-cp", CLASSES, "F", "38"], rests, r"([\d.]+) ns/call", "-", base="serve")
        self.ratio(f"H2, {rests}", [*H2, "12"], rests, r"iter \d+ (\d+) ms", "-", base="serve")
        self.ratio(f"H2, {rests},record=flat", [*H2, "12"], f"{rests},record=flat", r"iter \d+ (\d+) ms", "-", base="serve")
        plain, traced = self.pair(["-cp", CLASSES, "Empty"], rests, lambda r: r.wall, 4 * self.pairs, base="serve")
        self.row(f"empty program, {rests}: added", f"{statistics.median(b - a for a, b in zip(plain, traced)) * 1e3:.0f} ms",
                 "-", f"serve {statistics.median(plain) * 1e3:.0f} ms")

    def h2(self):
        for options, goal in (("mode=events", "<= 1.8x"), ("mode=events,record=flat", "<= 1.1x"),
                              ("mode=merged", "-"), ("mode=events,sites=on", "-")):
            self.ratio(f"H2, {options}", [*H2, "12"], options, r"iter \d+ (\d+) ms", goal)

    def clojure(self):
        script = os.path.join(ROOT, "java-tests/workloads/bench.clj")
        program = ["-cp", CLOJURE, "clojure.main", script, "150"]
        self.ratio("Clojure, mode=events", program, "mode=events", r"iter \d+ ([\d.]+) ms", "<= 1.3x")

    def samples(self):
        for options in ("mode=samples", "mode=samples,codes=-0x51"):
            plain, traced = self.pair([*H2, "8"], options, lambda r: r.cpu, self.long_pairs)
            ratio = statistics.median(b / a for a, b in zip(plain, traced))
            self.row(f"H2, {options}: CPU time", f"{(ratio - 1) * 100:+.1f} %", "-",
                     f"{statistics.median(plain):.2f} -> {statistics.median(traced):.2f} s, "
                     f"{self.long_pairs} pairs, JIT compilation included")
        plain, traced = self.pair([*H2, "20"], "mode=samples",
                                  lambda r: r.steady(r"iter \d+ (\d+) ms"), self.long_pairs)
        ratio = statistics.median(b / a for a, b in zip(plain, traced))
        self.row("H2, mode=samples: steady state", f"{(ratio - 1) * 100:+.1f} %", "<= 1 %",
                 f"{statistics.median(plain):.0f} -> {statistics.median(traced):.0f} ms")

    def startup(self):
        for options in ("mode=merged", "mode=events"):
            plain, traced = self.pair(["-cp", CLASSES, "Empty"], options, lambda r: r.wall, self.start_pairs)
            added = [b - a for a, b in zip(plain, traced)]
            self.row(f"empty program, {options}: added", f"{statistics.median(added) * 1e3:.0f} ms", "<= 35 ms",
                     f"plain {statistics.median(plain) * 1e3:.0f} ms, nine of ten below "
                     f"{statistics.quantiles(added, n=10)[-1] * 1e3:.0f} ms")

    def size(self):
        run = Run(self.java, [*H2, "10"], "mode=merged")
        self.row("H2 trace, 10 iterations", f"{os.path.getsize(run.trace) / 1e6:.2f} MB", "< 5 MB", "")
        start = time.monotonic()
        subprocess.run([POST, run.trace], capture_output=True, check=True)
        self.row("H2 trace, 10 iterations: jtrace-post", f"{time.monotonic() - start:.2f} s", "< 1 s", "")
        run.drop()
        # A heap of fixed size that is touched at once, so that the heap does not differ.
        heap = ["-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch"]
        plain, traced = self.pair([*heap, *H2, "10"], "mode=merged", lambda r: r.peak_mb, self.pairs)
        added = statistics.median(b - a for a, b in zip(plain, traced))
        self.row("H2, peak memory added", f"{added:.0f} MB", "< 64 MB",
                 f"{statistics.median(plain):.0f} -> {statistics.median(traced):.0f} MB, "
                 "with the JVM's own for more code")


def default_jdk():
    """JAVA_HOME, or the home of the java on the path."""
    java = os.environ.get("JAVA_HOME") or shutil.which("java")
    if java is None:
        sys.exit("no java found: set JAVA_HOME, or give --jdk")
    return java if os.path.isdir(java) else os.path.dirname(os.path.dirname(os.path.realpath(java)))


def main():
    names = ["fib", "h2", "threads", "clojure", "samples", "startup", "size", "events", "logs", "blocks",
             "resting"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer pairs, for a first look")
    parser.add_argument("--jdk", help="JDK to measure on (default: JAVA_HOME, or the java on the path)")
    parser.add_argument("--results", metavar="FILE", help="results to add to (default: build/bench.json)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(names))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are: {' '.join(names)}")
    java = os.path.join(arguments.jdk or default_jdk(), "bin/java")
    results = Results(arguments.results or os.path.join(ROOT, "build/bench.json"))
    bench = Bench(java, arguments.quick, results)
    for name in arguments.names or names:
        getattr(bench, name)()
        results.write()


if __name__ == "__main__":
    main()
