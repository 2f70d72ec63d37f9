#!/usr/bin/env python3
"""Measures the whole run of programs that end within seconds: builds, tests, tools.

Each round runs every program plain and with every way of recording, one after the other, so that a
drift of the machine's speed affects all alike. A cell is the median, over the rounds, of a run's
processor time divided by that of the plain run of its round. `--parts` prints where the time went:
the processor time of the JVM's threads by name, as last seen in /proc, so short of the end by up to
20 ms.

Below a row are the samples a second of processor time that `samples` and the peer took in the last
round: their timers must be alike for the figures to be compared.

Usage: scripts/bench/warmup.py [--rounds N] [--jdk HOME] [--parts] [--wall] [--peer FILE] [PROGRAM…] [--ways NAME,…]
PROGRAM: clojure plantuml fop ecj maven h2 tomcat junit. One whose Debian package is absent is printed as
*not verified*. `--peer`: a library of async-profiler to measure beside jtrace.
"""

import argparse
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from paired import AGENT, POST, ROOT, default_jdk
from results import Results
from warmup_programs import PROGRAMS

WAYS = {
    "samples": "mode=samples",
    "flat": "mode=events,record=flat",
    "tree": "mode=events",
    "merged": "mode=merged",
    "resting": "serve,probes=resting",
}
# Thread names in /proc, which has their first 15 characters.
PARTS = (
    ("C1", re.compile(r"C1 Compiler|C1 CompilerThre")),
    ("C2", re.compile(r"C2 Compiler|C2 CompilerThre")),
    ("GC", re.compile(r"G1 |GC Thread|Parallel|Serial")),
    ("VM", re.compile(r"VM Thread|VM Periodic|Signal|Monitor|Common-|Service|Sweeper|Notif|Attach|Finalizer|Reference|Cleaner")),
    ("jtrace", re.compile(r"jtrace|Async-profiler", re.I)),
)


def part_of(name):
    return next((part for part, names in PARTS if names.match(name)), "program")


class ThreadTimes:
    """Watches a process: processor seconds of its threads by part."""

    def __init__(self, pid):
        self.pid, self.last, self.is_over = pid, {}, False
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while not self.is_over:
            self.look()
            time.sleep(0.02)

    def look(self):
        try:
            for task in os.listdir(f"/proc/{self.pid}/task"):
                with open(f"/proc/{self.pid}/task/{task}/stat", encoding="utf-8", errors="replace") as file:
                    line = file.read()
                name, rest = line[line.index("(") + 1:line.rindex(")")], line[line.rindex(")") + 2:].split()
                self.last[task] = (name, (int(rest[11]) + int(rest[12])) / os.sysconf("SC_CLK_TCK"))
        except (OSError, ValueError):
            pass

    def end(self):
        self.is_over = True
        self.thread.join()
        parts = collections.Counter()
        for name, seconds in self.last.values():
            parts[part_of(name)] += seconds
        return parts


class Run:
    """A finished run: seconds of processor and of wall, processor seconds by part, its trace's path."""

    def __init__(self, program, java, agent, with_parts):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
            command = program.command(java, folder)
            if agent:
                command[1:1] = [agent]
            start = time.monotonic()
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
            watched = ThreadTimes(process.pid) if with_parts else None
            _, status, usage = os.wait4(process.pid, 0)
            self.wall = time.monotonic() - start
            self.cpu = usage.ru_utime + usage.ru_stime
            self.parts = watched.end() if watched else {}
            log.seek(0)
            if status != program.status << 8:
                sys.exit(f"warmup: {command} ended with status {status}: {log.read()[-2000:]}")


def samples_of(trace):
    """Samples in a trace."""
    text = subprocess.run([POST, "--report=dump", trace], capture_output=True, text=True, check=True).stdout
    records = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    # "sample*4": of four ticks
    return sum(1 for record in records if len(record) > 2 and record[2].split("*")[0] == "sample")


def samples_of_peer(java, recording):
    """Samples in a recording of async-profiler, which has JFR's format."""
    jfr = os.path.join(os.path.dirname(java), "jfr")
    text = subprocess.run([jfr, "summary", recording], capture_output=True, text=True, check=True).stdout
    return next((int(line.split()[1]) for line in text.splitlines() if "jdk.ExecutionSample" in line), 0)


def agents(args, folder):
    """Way to the JVM's option; the plain run is first."""
    ways = {"plain": None}
    for name in args.ways.split(","):
        options = WAYS[name] if WAYS[name].startswith("serve") else f"out={folder}/{name}.bin,{WAYS[name]}"
        ways[name] = f"-agentpath:{AGENT}={options},log=none"
    if args.peer:
        ways["peer"] = f"-agentpath:{args.peer}=start,event=ctimer,interval=1ms,file={folder}/peer.jfr"
    return ways


def measure(program, java, ways, args):
    runs = collections.defaultdict(list)
    for i in range(args.rounds):
        for way in list(ways)[:: 1 if i % 2 == 0 else -1]:
            runs[way].append(Run(program, java, ways[way], args.parts))
    return runs


def print_row(program, runs, wall):
    take = (lambda run: run.wall) if wall else (lambda run: run.cpu)
    plain = [take(run) for run in runs["plain"]]
    cells = [f"{statistics.median(plain):8.2f} s"]
    for way, found in runs.items():
        if way != "plain":
            cells.append(f"{statistics.median(take(r) / p for r, p in zip(found, plain)):9.2f}x")
    print(f"{program.name:<12}" + " ".join(cells), flush=True)
    return {way: cell.strip() for way, cell in zip(runs, cells)}


def print_rates(runs, java, folder):
    cells = []
    if "samples" in runs:
        cells.append(f"samples {samples_of(f'{folder}/samples.bin') / runs['samples'][-1].cpu:.0f}")
    if "peer" in runs:
        cells.append(f"peer {samples_of_peer(java, f'{folder}/peer.jfr') / runs['peer'][-1].cpu:.0f}")
    if cells:
        print(f"    samples a second: {'  '.join(cells)}", flush=True)


def print_parts(runs):
    names = [part for part, _ in PARTS] + ["program"]
    for way, found in runs.items():
        cells = [f"{name} {statistics.median(run.parts[name] for run in found):.2f}" for name in names]
        print(f"    {way:<10} " + "  ".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jdk", help="default: JAVA_HOME, or the java on the path")
    parser.add_argument("--peer", metavar="FILE", help="libasyncProfiler.so")
    parser.add_argument("--results", metavar="FILE", help="results to add to (default: build/bench.json)")
    parser.add_argument("--parts", action="store_true", help="processor time of the JVM's threads")
    parser.add_argument("--wall", action="store_true", help="elapsed instead of processor time")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    args = parser.parse_args()
    java = os.path.join(args.jdk or default_jdk(), "bin/java")
    results = Results(args.results or os.path.join(ROOT, "build/bench.json"))
    chosen = args.programs or list(PROGRAMS)
    with tempfile.TemporaryDirectory() as folder:
        ways = agents(args, folder)
        print(f"{'':<12}{'plain':>10} " + " ".join(f"{way:>10}" for way in ways if way != "plain"))
        for name in chosen:
            program = PROGRAMS[name]
            if absent := program.absent():
                print(f"{name:<12}*not verified*: no {absent}")
                continue
            runs = measure(program, java, ways, args)
            row = print_row(program, runs, args.wall)
            if not args.wall:
                results.add_warmup(name, row)
                results.write()
            print_rates(runs, java, folder)
            if args.parts:
                print_parts(runs)


if __name__ == "__main__":
    main()
