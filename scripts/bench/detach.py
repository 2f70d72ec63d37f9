#!/usr/bin/env python3
"""Speed of a program after a recording has come and gone, against one that was left alone.

Pairs of runs of H2 in one JVM each: in every second one jtrace attaches, records some iterations and
stops. Compared are the medians of the same iterations in both: soon after, while the JVM compiles the
restored methods anew, and later. The window before the recording shows how far two runs differ alone.
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
START_AT, STOP_AT, ITERATIONS = 12, 17, 110
WINDOWS = {"before": (8, START_AT), "soon after": (22, 42), "later": (60, ITERATIONS)}


def jtrace(verb, pid, *options):
    subprocess.run([JTRACE, verb, str(pid), *options], check=True, stdout=subprocess.DEVNULL)


def run(java, options):
    """Times of the iterations; `options` None: nobody attaches."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([java, *H2, str(ITERATIONS)], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.DEVNULL, cwd=folder)
        for line in process.stdout:
            number, time = re.match(r"iter (\d+) (\d+) ms", line).groups()
            times.append(float(time))
            if options is not None and int(number) == START_AT:
                jtrace("start", process.pid, *options)
            if options is not None and int(number) == STOP_AT:
                jtrace("stop", process.pid)
        process.wait()
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--jdk", help="default: JAVA_HOME, or the java on the path")
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    java = os.path.join(args.jdk or default_jdk(), "bin/java")
    ratios = {name: [] for name in WINDOWS}
    for _ in range(args.pairs):
        alone, recorded = run(java, None), run(java, args.options)
        for name, (begin, end) in WINDOWS.items():
            ratios[name].append(statistics.median(recorded[begin:end]) /
                                statistics.median(alone[begin:end]))
        print(", ".join(f"{name} {100 * (values[-1] - 1):+.1f} %" for name, values in ratios.items()),
              flush=True)
    for name, values in ratios.items():
        print(f"{name}: median {100 * (statistics.median(values) - 1):+.1f} %")


if __name__ == "__main__":
    main()
