#!/usr/bin/env python3
"""Measures programs with millions of call paths: the end of a recording, and each report of jtrace-post.

The programs of wide_programs.py, which `mvn` fetches, run plain, under `mode=samples` and `mode=merged`, and with --peer
under async-profiler, once a round. Printed are the processor time over that of the round's plain run, the time from the
program's end to that of the process, the paths, the writer's processor time and the samples lost. Of wide programs then
the processor time and the greatest memory of each report, medians of the rounds; and of made traces of 1.2, 3 and 6.3
million paths, with --huge of 60 million.
Usage: scripts/bench.sh wide [--rounds N] [--huge] [--jdk HOME] [--peer FILE] [--ways NAME,…] [--only NAME,…] [TRACE…]
TRACE: only these. NAME: of a program, or "made". FILE: async-profiler's library. Ways: those of warmup.py; of
the first one the traces are read.
"""

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from paired import AGENT, ROOT, default_jdk
from warmup import WAYS
from wide_programs import PROGRAMS

POST = os.path.join(ROOT, "build/bin/jtrace-post")
MAKER = os.path.join(ROOT, "build/bench/wide_trace")
REPORTS = ["summary", "headline", "flat", "arcflow", "overview", "tree", "tree,csv", "html", "pprof"]
class Run:
    """Of a program in its folder: seconds of processor time, and from its end on to the process's."""

    def __init__(self, program, jdk, folder, way, trace, peer):
        agent = {"plain": [], "peer": [f"-agentpath:{peer}=start,event=cpu,interval=10ms,file={folder}/peer.jfr"],
                 "resting": [f"-agentpath:{AGENT}={WAYS['resting']},log=none"]}.get(way)
        if agent is None:
            agent = [f"-agentpath:{AGENT}={WAYS[way]},out={trace},log=none"]
        with tempfile.TemporaryFile("w+") as log:
            process = subprocess.Popen(program.command(jdk, agent), cwd=folder, stdout=log, stderr=log)
            _, status, usage = os.wait4(process.pid, 0)
            ended = time.time()
            if status != 0:
                log.seek(0)
                sys.exit(f"wide: {program.name} failed: {log.read()[-2000:]}")
        self.cpu = usage.ru_utime + usage.ru_stime
        with open(os.path.join(folder, "end"), encoding="utf-8") as file:
            self.end = ended - int(file.read()) / 1000


def run_program(program, jdk, folder, rounds, ways, peer):
    """Prints what its runs cost, one of each way a round. Its trace."""
    program.prepare(jdk, folder)
    trace = os.path.join(folder, "wide.bin")
    ways = ["plain", *ways, *(["peer"] if peer else [])]
    runs = [{way: Run(program, jdk, folder, way, trace if way == ways[1] else trace + ".others", peer)
             for way in ways} for _ in range(rounds)]
    median = lambda figure: statistics.median(map(figure, runs))
    print(f"\n{program.name}, plain {median(lambda it: it['plain'].cpu):.2f} s: "
          + ", ".join(f"{way} {median(lambda it: it[way].cpu / it['plain'].cpu):.2f}" for way in ways[1:])
          + " times; after its end "
          + ", ".join(f"{way} {median(lambda it: it[way].end) * 1000:.0f} ms" for way in ways), flush=True)
    return trace


def command(report, trace):
    report, _, form = report.partition(",")
    options = [] if report == "overview" else [f"--report={report}"]
    return [POST, "--width=120", *options, *(["--format=csv"] if form else []), trace]


def measure(arguments):
    """The seconds of processor time, and the megabytes of memory."""
    pid = os.posix_spawn(arguments[0], arguments, os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                                       (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"wide: {' '.join(arguments)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * resource.getpagesize() / 4096 * 1024 / 1e6


def about(trace):
    text = subprocess.run([POST, "--report=summary", trace], capture_output=True, text=True, check=True).stdout
    nodes = re.search(r"in ([\d,]+) nodes?", text)
    writer = re.search(r"writer ([\d.]+ \S+) CPU", text)
    lost = re.search(r"([\d,]+) samples? lost", text)
    return (f"{nodes.group(1) if nodes else '?'} paths, {os.path.getsize(trace) / 1e6:.1f} MB"
            + (f"; writer {writer.group(1)}, {lost.group(1) if lost else 0} samples lost" if writer else ""))


def table(name, trace, rounds, reports):
    print(f"{name}: {about(trace)}")
    for report in reports:
        figures = [measure(command(report, trace)) for _ in range(rounds)]
        seconds = statistics.median(it[0] for it in figures)
        print(f"| `{report}` | {seconds:.2f} s | {max(it[1] for it in figures):.0f} MB |", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--jdk", default=default_jdk())
    parser.add_argument("--ways", default="merged,samples")
    parser.add_argument("--peer")
    parser.add_argument("--only")
    parser.add_argument("traces", nargs="*")
    options = parser.parse_args()
    for trace in options.traces:
        table(os.path.basename(trace), trace, options.rounds, REPORTS)
    if options.traces:
        return
    wanted = options.only.split(",") if options.only else [*PROGRAMS, "made"]
    with tempfile.TemporaryDirectory() as folder:
        for name, program in PROGRAMS.items():
            if name not in wanted:
                continue
            if not shutil.which("mvn"):
                print(f"{name}: *not verified*, as mvn is not installed")
                continue
            trace = run_program(program, options.jdk, os.path.join(folder, name), options.rounds,
                                options.ways.split(","), options.peer)
            table(name, trace, options.rounds, REPORTS if program.is_wide else [])
        sizes = [1_200_000, 3_000_000, 6_300_000] + ([60_000_000] if options.huge else [])
        for nodes in sizes if "made" in wanted else []:
            trace = os.path.join(folder, "made.bin")
            subprocess.run([MAKER, str(nodes), trace], check=True)
            table(f"made, {nodes:,}", trace, options.rounds, REPORTS)


if __name__ == "__main__":
    main()
