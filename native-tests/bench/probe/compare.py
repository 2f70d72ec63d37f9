#!/usr/bin/env python3
"""Compares the cost of agents on the workloads of java-tests/workloads.

    compare.py --java JAVA --classes DIR [--rounds N] [--cpu N] [--workloads fib,h2,clojure]
               VARIANT=JAVA_OPTIONS...

VARIANT is a name, JAVA_OPTIONS what java gets for it (none for the plain program). The variants run
in turn, --rounds times, each time in a JVM of its own, on one processor. A workload prints CPU
times of its thread, a line a round; the median of the second half counts, so that warm-up and
compiler threads stay out. Printed: the median over the JVMs, and its ratio to the first variant.
CLASSES holds the compiled workloads.
"""
import argparse
import pathlib
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
JARS = "/usr/share/java/"
CLOJURE = ":".join(JARS + jar for jar in
                   ("clojure.jar", "spec.alpha.jar", "core.specs.alpha.jar"))
# Class path (after CLASSES) and arguments; the meaning of a printed number.
WORKLOADS = {
    "fib": ("", ["Fib", "35", "6"], "ns/call"),
    "h2": (":" + JARS + "h2.jar", ["H2Work", "10"], "ms"),
    "clojure": (":" + CLOJURE,
                ["clojure.main", str(ROOT / "java-tests/workloads/sequences.clj"), "200"], "ms"),
}


def run(args, workload, options):
    """The median of the second half of the numbers that one JVM prints."""
    extra_path, main, _ = WORKLOADS[workload]
    command = ["taskset", "-c", str(args.cpu), args.java, "-XX:+UseSerialGC", "-Xmx1g",
               *shlex.split(options), "-cp", args.classes + extra_path, *main]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stderr}")
    numbers = [float(line) for line in done.stdout.split("\n") if line]
    return statistics.median(numbers[len(numbers) // 2:])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--java", default="java")
    parser.add_argument("--classes", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu", type=int, default=1)
    parser.add_argument("--workloads", default="fib,h2,clojure")
    parser.add_argument("variants", nargs="+")
    args = parser.parse_args()
    variants = dict(variant.split("=", 1) for variant in args.variants)
    for workload in args.workloads.split(","):
        times = {name: [] for name in variants}
        for _ in range(args.rounds):
            for name, options in variants.items():
                times[name].append(run(args, workload, options))
        plain = statistics.median(next(iter(times.values())))
        for name, values in times.items():
            median = statistics.median(values)
            print(f"{workload:8} {name:12} {median:9.2f} {WORKLOADS[workload][2]:8}"
                  f"{median / plain:6.2f}x  {median - plain:+9.2f}  "
                  f"[{min(values):.2f} .. {max(values):.2f}]", flush=True)


if __name__ == "__main__":
    main()
