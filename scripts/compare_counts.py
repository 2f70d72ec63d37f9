#!/usr/bin/env python3
"""Runs a Java program under jtrace and under an agent that counts by itself (ASM), in one JVM, and
compares the calls of each method.

Usage: scripts/compare_counts.py [--jdk=HOME] [--build=FOLDER] [--options=OPTIONS] SCOPE[,SCOPE…] JAVA_ARGUMENT…

SCOPE is a package, which ends with a slash, or the begin of class names: org/h2/
or cases/Recursion, with its nested classes. OPTIONS are the
agent's, besides include= and out=.
Exit codes: 0 equal · 1 methods differ · 2 a run or a report failed.

example
  scripts/compare_counts.py clojure/ -cp /usr/share/java/clojure.jar clojure.main -e '(+ 1 2)'
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from chaos import counts
from chaos.places import SOURCE, Build

MOST_LISTED = 20


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", default=os.environ.get("JAVA_HOME", ""), help="(JAVA_HOME, or java of PATH)")
    parser.add_argument("--build", default=SOURCE / "build", help="(build)")
    parser.add_argument("--options", default="mode=events", help="(mode=events)")
    parser.add_argument("scopes")
    parser.add_argument("java", nargs=argparse.REMAINDER)
    return parser.parse_args()


def pattern_of(scope):
    """org/h2/ → org.h2.**; a/B → a.B*, its nested classes too, as the other agent counts them."""
    return scope.replace("/", ".") + ("**" if scope.endswith("/") else "*")


def run_program(args, build, folder):
    """The program's exit code; its counts are in counts.txt, its trace is trace.bin."""
    scopes = args.scopes.split(",")
    java = f"{args.jdk}/bin/java" if args.jdk else "java"
    include = ";".join(map(pattern_of, scopes))
    command = [java,
               f"-javaagent:{build.other_agent}=on {' '.join(scopes)}|out {folder / 'counts.txt'}",
               f"-agentpath:{build.agent}={args.options},include={include},out={folder / 'trace.bin'}"]
    return subprocess.run(command + args.java, stdout=sys.stderr, check=False).returncode


def fail(text):
    print(f"compare_counts.py: {text}", file=sys.stderr)
    sys.exit(2)


def flat_counts(build, folder, scopes):
    done = subprocess.run([build.post, "--report=flat", "--format=csv", folder / "trace.bin"],
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        fail(done.stderr.strip())
    return counts.within(counts.of_flat(done.stdout), " ".join(scopes.split(",")))


def main():
    args = parse()
    build = Build(args.build)
    if build.missing():
        fail(f"{build.missing()[0]} is not built; run scripts/build.sh")
    with tempfile.TemporaryDirectory(prefix="jtrace-compare") as name:
        folder = pathlib.Path(name)
        code = run_program(args, build, folder)
        if not (folder / "counts.txt").exists() or not (folder / "trace.bin").exists():
            fail(f"the program ended with {code}, without counts of both agents")
        theirs, _ = counts.other_counts(folder / "counts.txt")
        ours = flat_counts(build, folder, args.scopes)
    if not theirs:
        fail(f"the other agent counted no call in {args.scopes}")
    differing = sorted(m for m in theirs.keys() | ours.keys() if theirs.get(m, 0) != ours.get(m, 0))
    for method in differing[:MOST_LISTED]:
        print(f"{method}: {theirs.get(method, 0):,} by the other agent, {ours.get(method, 0):,} by jtrace")
    print(f"{len(differing)} of {len(theirs)} methods differ; {sum(theirs.values()):,} calls; "
          f"the program ended with {code}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
