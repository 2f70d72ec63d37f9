#!/usr/bin/env python3
"""The cost of sampling in a warm program: the same JVM with and without it, window by window.

Usage: scripts/bench/steady.py [--jdk HOME] [--windows N] [--options OPTIONS]
Runs of a few seconds differ by several percent from each other, mostly in the work of the JIT;
windows of one run differ much less. CPU time is the whole process's, including agent and JIT.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from paired import AGENT, H2, ROOT, default_jdk

JTRACE = os.path.join(ROOT, "build/bin/jtrace")
WARM_UP = 60  # iterations


def process_clock(pid):
    """The kernel's clock of the CPU time of all threads of `pid` (clock_getcpuclockid)."""
    cpuclock_sched = 2
    return ~pid << 3 | cpuclock_sched


class Program:
    def __init__(self, java):
        self.process = subprocess.Popen([java, *H2, "1000000"], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def iterations(self, count):
        """CPU milliseconds of the next `count` iterations, the average of one."""
        clock = process_clock(self.process.pid)
        begin = time.clock_gettime_ns(clock)
        for _ in range(count):
            while not self.process.stdout.readline().startswith("iter"):
                pass
        return (time.clock_gettime_ns(clock) - begin) / count / 1e6

    def jtrace(self, *words):
        command = [JTRACE, words[0], str(self.process.pid), *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command)}: {done.stderr}")


def measure(program, options, windows, size):
    """CPU time of windows without and with sampling, in turns."""
    plain, traced = [], []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(windows):
            program.iterations(1)  # the one that was running meanwhile
            plain.append(program.iterations(size))
            program.jtrace("start", f"{options},out={folder}/{i}.bin,log=none")
            program.iterations(1)
            traced.append(program.iterations(size))
            program.jtrace("stop")
    return plain, traced


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jdk", help="default: JAVA_HOME, or the java on the path")
    parser.add_argument("--windows", type=int, default=24)
    parser.add_argument("--iterations", type=int, default=6, help="of a window")
    parser.add_argument("--options", default="mode=samples")
    arguments = parser.parse_args()
    java = os.path.join(arguments.jdk or default_jdk(), "bin/java")
    program = Program(java)
    try:
        program.iterations(WARM_UP)
        plain, traced = measure(program, arguments.options, arguments.windows, arguments.iterations)
    finally:
        program.process.kill()
    # Each window is compared with the mean of those around it, which cancels drift.
    ratios = [2 * b / (a + c) for a, b, c in zip(plain, traced, plain[1:])]
    percent = [(r - 1) * 100 for r in ratios]
    error = statistics.stdev(percent) / len(percent) ** 0.5
    print(f"H2, {arguments.options}: {statistics.mean(percent):+.2f} % ± {error:.2f} CPU time (median "
          f"{statistics.median(percent):+.2f} %, {len(percent)} windows of {arguments.iterations} "
          f"iterations of {statistics.median(plain):.0f} ms)")


if __name__ == "__main__":
    main()
