#!/usr/bin/env python3
"""Runs Java programs under the agent of this processor and under the one of aarch64, in qemu, and compares the calls
of each method and of each pair of caller and callee; they must be equal.

Usage: scripts/compare_processors.py [--build=FOLDER] [--other=FOLDER] [--root=FOLDER] [--jdk=HOME]

FOLDER of --root is what scripts/roots.sh aarch64 makes.
Exit codes: 0 equal, and everything that needs x86-64 is refused there · 1 not so · 2 a run or a report failed.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from chaos import counts
from chaos.places import SOURCE

JDK = "/usr/lib/jvm/java-17-openjdk-amd64"
# Programs whose calls do not depend on time or on the size of a stack.
CASES = ["ControlFlow", "DeepRecursion", "EightThreads", "LeafCallback", "Recursion", "ThrowingConstructors",
         "ThrowingTasks"]
PROGRAMS = {"Fib": ["Fib", "18", "2"], "cases": ["InTurn", *(f"cases.{name}" for name in CASES)]}
WAYS = ["mode=events", "mode=events,record=flat", "mode=events,record=log", "mode=events,clock=tsc",
        "mode=events,metrics=exceptions;alloc.objects", "mode=merged,stack=pc"]
REFUSED = {"mode=merged,hook=libc.so.6!malloc": "hooks need x86-64",
           "mode=samples,stack=full": "option 'stack': walking stacks needs x86-64",
           "mode=merged,unwind=Fib::fib": "option 'unwind': walking stacks needs x86-64"}
MOST_LISTED = 20


class Side:
    """A processor: how its programs start, its build and its JVM."""

    def __init__(self, name, start, build, java):
        self.name, self.start, self.java = name, start, java
        self.agent, self.post = build / "lib/libjtrace.so", build / "bin/jtrace-post"

    def run_java(self, options, classes, program):
        command = [*self.start, self.java, f"-agentpath:{self.agent}={options}", "-cp", classes, *program]
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)

    def report(self, name, trace):
        command = [*self.start, self.post, f"--report={name}", "--format=csv", trace]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            fail(f"{self.name}: --report={name}: {done.stderr.strip()}")
        return done.stdout

    def counted(self, way, classes, program, folder):
        """Calls of methods of the program, and of pairs of caller and callee if the way knows callers."""
        trace = folder / f"{self.name}.bin"
        done = self.run_java(f"{way},out={trace}", classes, program)
        if done.returncode != 0 or not trace.exists():
            fail(f"{self.name}: {way}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
        found = counts.of_flat(self.report("flat", trace))
        if "record=flat" not in way:
            found += counts.of_arcs(self.report("arcflow", trace))
        return found


def fail(text):
    print(f"compare_processors.py: {text}", file=sys.stderr)
    sys.exit(2)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build", help="(build)")
    parser.add_argument("--other", type=pathlib.Path, default=SOURCE / "build-aarch64", help="(build-aarch64)")
    parser.add_argument("--root", type=pathlib.Path, default=SOURCE / "build/roots/bookworm-arm64",
                        help="(build/roots/bookworm-arm64)")
    parser.add_argument("--jdk", default=os.environ.get("JTRACE_JDK_HOME", JDK), help=f"({JDK})")
    return parser.parse_args()


def compile_programs(jdk, folder):
    sources = [*(SOURCE / "java-tests/cases/cases").glob("*.java"),
               *(SOURCE / "java-tests/workloads" / f"{name}.java" for name in ("Fib", "InTurn"))]
    subprocess.run([f"{jdk}/bin/javac", "--release", "17", "-d", folder, *sources], check=True)


def compare(here, there, way, name, folder):
    """Prints a line; whether all counts are equal."""
    ours, theirs = (side.counted(way, folder / "classes", PROGRAMS[name], folder) for side in (here, there))
    differing = sorted(each for each in ours.keys() | theirs.keys() if ours[each] != theirs[each])
    for each in differing[:MOST_LISTED]:
        print(f"{each}: {ours[each]:,} on {here.name}, {theirs[each]:,} on {there.name}")
    calls = sum(number for each, number in ours.items() if " > " not in each)
    print(f"{name}, {way}: {calls:,} calls, {len(differing)} of {len(ours)} counts differ", flush=True)
    return not differing and calls > 0


def refuses(side, options, line, folder):
    """Whether the agent ends the JVM with this line."""
    done = side.run_java(f"{options},out={folder / 'refused.bin'}", folder / "classes", PROGRAMS["Fib"])
    refused = done.returncode != 0 and line in done.stderr
    print(f"{options}: {'refused' if refused else 'NOT refused: ' + done.stderr.strip()[-400:]}", flush=True)
    return refused


def main():
    args = parse()
    here = Side("x86-64", [], args.build.resolve(), f"{args.jdk}/bin/java")
    root = args.root.resolve()
    there = Side("aarch64", ["qemu-aarch64-static", "-L", root], args.other.resolve(),
                 root / "usr/lib/jvm/java-17-openjdk-arm64/bin/java")
    with tempfile.TemporaryDirectory(prefix="jtrace-processors") as name:
        folder = pathlib.Path(name)
        compile_programs(args.jdk, folder / "classes")
        results = [compare(here, there, way, program, folder) for way in WAYS for program in PROGRAMS]
        results += [refuses(there, options, line, folder) for options, line in REFUSED.items()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
