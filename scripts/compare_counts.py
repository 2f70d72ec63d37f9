#!/usr/bin/env python3
"""Runs a Java program under jtrace and under an agent that counts by itself (ASM), in one JVM, and
compares the calls of each method.

Usage: scripts/compare_counts.py [--jdk=HOME] [--options=OPTIONS] PREFIX[,PREFIX…] JAVA_ARGUMENT…

PREFIX names classes as class files do, such as org/h2/. OPTIONS are the agent's, beside include=.
Exit codes: 0 equal · 1 methods differ · 2 a run or a report failed.

example
  scripts/compare_counts.py clojure/ -cp /usr/share/java/clojure.jar clojure.main -e '(+ 1 2)'
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from chaos import counts

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("JTRACE_BUILD", ROOT / "build"))
MOST_LISTED = 20


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", default=os.environ.get("JTRACE_JDK_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
    parser.add_argument("--options", default="mode=events")
    parser.add_argument("prefixes")
    parser.add_argument("java", nargs=argparse.REMAINDER)
    return parser.parse_args()


def run_program(args, folder):
    """The program's exit code; its counts are in counts.txt, its trace is trace.bin."""
    prefixes = args.prefixes.split(",")
    include = ";".join(prefix.rstrip("/").replace("/", ".") + ".**" if prefix.endswith("/")
                       else prefix.replace("/", ".") + "*" for prefix in prefixes)
    agent = BUILD / "java-tests/agents/counting.jar"
    command = [f"{args.jdk}/bin/java",
               f"-javaagent:{agent}=on {' '.join(prefixes)}|out {folder / 'counts.txt'}",
               f"-agentpath:{BUILD / 'lib/libjtrace.so'}={args.options},include={include},"
               f"out={folder / 'trace.bin'}"] + args.java
    return subprocess.run(command, stdout=sys.stderr, check=False).returncode


def report(folder, name):
    done = subprocess.run([BUILD / "bin/jtrace-post", f"--report={name}", "--format=csv", folder / "trace.bin"],
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        sys.exit(f"jtrace-post --report={name}: {done.stderr.strip()}")
    return done.stdout


def main():
    args = parse()
    with tempfile.TemporaryDirectory(prefix="jtrace-compare") as name:
        folder = pathlib.Path(name)
        code = run_program(args, folder)
        if not (folder / "counts.txt").exists() or not (folder / "trace.bin").exists():
            print(f"the program ended with {code}, without counts of both agents", file=sys.stderr)
            return 2
        scope = " ".join(args.prefixes.split(","))
        theirs, _ = counts.other_counts(folder / "counts.txt")
        ours = counts.within(counts.of_flat(report(folder, "flat")), scope)
        nodes = re.search(r"^node_records,(\d+)|^nodes,(\d+)", report(folder, "summary"), re.M)
        differing = sorted(m for m in theirs.keys() | ours.keys() if theirs.get(m, 0) != ours.get(m, 0))
        for method in differing[:MOST_LISTED]:
            print(f"{method}: {theirs.get(method, 0):,} by the other agent, {ours.get(method, 0):,} by jtrace")
        print(f"{len(differing)} of {len(theirs)} methods differ; {sum(theirs.values()):,} calls"
              f"{', ' + next(filter(None, nodes.groups())) + ' nodes' if nodes else ''}; exit {code}")
        return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
