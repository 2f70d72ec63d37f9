#!/usr/bin/env python3
"""Compares the speed of a program after a recording with a program that was never recorded.

Pairs of runs of H2 in one JVM each: in every second one jtrace attaches, records some iterations and
stops. The medians of the same iterations after that are compared.
Usage: scripts/bench/detach.py [--pairs N] [--jdk HOME] [OPTION=VALUE …]    options of `jtrace start`
"""

import argparse
import os
import re
import statistics
import subprocess
import tempfile

from paired import H2, ROOT, default_jdk

JTRACE = os.path.join(ROOT, "build/bin/jtrace")
START_AT, STOP_AT, COMPARE_FROM, ITERATIONS = 12, 17, 27, 42


def jtrace(verb, pid, *options):
    subprocess.run([JTRACE, verb, str(pid), *options], check=True, stdout=subprocess.DEVNULL)


def run(java, options):
    """Times of the iterations to compare; `options` None: without attaching."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([java, *H2, str(ITERATIONS)], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.DEVNULL, cwd=folder)
        for line in process.stdout:
            number, time = re.match(r"iter (\d+) (\d+) ms", line).groups()
            times.append(float(time))
            if options is not None and int(number) == START_AT:
                jtrace("start", process.pid, "--probes", *options)
            if options is not None and int(number) == STOP_AT:
                jtrace("stop", process.pid)
        process.wait()
    return times[COMPARE_FROM:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--jdk", help="default: JAVA_HOME, or the java on the path")
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    java = os.path.join(args.jdk or default_jdk(), "bin/java")
    ratios = []
    for _ in range(args.pairs):
        alone = statistics.median(run(java, None))
        after = statistics.median(run(java, args.options))
        ratios.append(after / alone)
        print(f"alone {alone:.0f} ms, after a recording {after:.0f} ms: "
              f"{100 * (ratios[-1] - 1):+.1f} %", flush=True)
    print(f"median {100 * (statistics.median(ratios) - 1):+.1f} %")


if __name__ == "__main__":
    main()
