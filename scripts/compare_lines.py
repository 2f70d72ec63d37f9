#!/usr/bin/env python3
"""Runs a Java program under jtrace with blocks=on, or paths, and under an agent that counts each instruction and
each way out of a branch by itself (ASM), in one JVM, and compares the lines.

Usage: scripts/compare_lines.py [--jdk=HOME] [--build=FOLDER] [--options=OPTIONS] [--blocks=on|paths] [--all]
                                SCOPE[,SCOPE…] JAVA_ARGUMENT…

SCOPE is a package, which ends with a slash, or the begin of class names: org/h2/ or cases/Recursion. OPTIONS are the
agent's, besides include= and out=.
The other agent's code is in the classes when jtrace sees them; its instructions are known, and its code has no branches
of its own. Methods whose blocks jtrace does not count (most are too large with the other agent's code in them) are left
out, and said; with --all they are a difference.
With --blocks=paths, which needs record=tree, each method's bytecodes over all its call paths must be those of its lines.
Exit codes: 0 equal · 1 lines differ · 2 a run or a report failed.

example
  scripts/compare_lines.py clojure/ -cp /usr/share/java/clojure.jar clojure.main -e '(+ 1 2)'
"""
import argparse
import collections
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

from chaos import counts
from chaos.places import SOURCE, Build

MOST_LISTED = 20
Line = collections.namedtuple("Line", "executions instructions branches taken")


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", default=os.environ.get("JAVA_HOME", ""), help="(JAVA_HOME, or java of PATH)")
    parser.add_argument("--build", default=SOURCE / "build", help="(build)")
    parser.add_argument("--options", default="mode=events,record=flat", help="(mode=events,record=flat)")
    parser.add_argument("--blocks", choices=["on", "paths"], default="on", help="(on)")
    parser.add_argument("--all", action="store_true", help="each method must be counted")
    parser.add_argument("scopes")
    parser.add_argument("java", nargs=argparse.REMAINDER)
    return parser.parse_args()


def pattern_of(scope):
    return scope.replace("/", ".") + ("**" if scope.endswith("/") else "*")


def run_program(args, build, folder):
    """The program's exit code; the counts are in lines.txt and trace.bin."""
    scopes = args.scopes.split(",")
    java = f"{args.jdk}/bin/java" if args.jdk else "java"
    include = ";".join(map(pattern_of, scopes))
    command = [java,
               f"-javaagent:{build.other_agent}=lines {' '.join(scopes)}|lines-out {folder / 'lines.txt'}",
               f"-agentpath:{build.agent}={args.options},blocks={args.blocks},include={include},out={folder / 'trace.bin'}"]
    return subprocess.run(command + args.java, stdout=sys.stderr, check=False).returncode


def fail(text):
    print(f"compare_lines.py: {text}", file=sys.stderr)
    sys.exit(2)


def report(build, trace, name, *options):
    done = subprocess.run([build.post, f"--report={name}", "--format=csv", *options, trace],
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        fail(done.stderr.strip())
    return list(csv.DictReader(done.stdout.splitlines()))


def added(lines):
    """Methods of one name and the same simple parameter types are one."""
    return Line(*(sum(values) for values in zip(*lines)))


def ours(build, trace):
    found = collections.defaultdict(list)
    for row in report(build, trace, "lines"):
        method = row["class"] + "." + row["method"]
        method = method[:method.index(")") + 1]  # without the result, or the class loader
        found[method, int(row["line"])].append(Line(int(row["executions"]), int(row["instructions"]),
                                                    int(row["branches"]), int(row["branches_taken"])))
    return {key: added(lines) for key, lines in found.items()}


def paths_that_differ(build, trace):
    """Of methods compiled with line numbers: bytecodes over all call paths, and over all lines."""
    by_line, by_path = collections.Counter(), collections.Counter()
    for row in report(build, trace, "lines"):
        by_line[row["class"] + "." + row["method"]] += int(row["instructions"])
    for row in report(build, trace, "tree", "--metric=bytecodes"):
        by_path[row["name"]] += int(row["bytecodes.base"])
    differing = sorted(method for method in by_line if by_line[method] != by_path[method])
    for method in differing[:MOST_LISTED]:
        print(f"{method}: {by_path[method]:,} bytecodes over its call paths, {by_line[method]:,} over its lines")
    print(f"{len(differing)} of {len(by_line)} methods have other bytecodes by path than by line")
    return differing


def theirs(file):
    found = collections.defaultdict(list)
    for text in file.read_text().splitlines():
        name, line, *numbers = text.rsplit(" ", 5)
        found[counts.of_method(name), int(line)].append(Line(*map(int, numbers)))
    return {key: added(lines) for key, lines in found.items()}


def main():
    args = parse()
    build = Build(args.build)
    if build.missing():
        fail(f"{build.missing()[0]} is not built; run scripts/build.sh")
    with tempfile.TemporaryDirectory(prefix="jtrace-compare") as name:
        folder = pathlib.Path(name)
        code = run_program(args, build, folder)
        if not (folder / "lines.txt").exists() or not (folder / "trace.bin").exists():
            fail(f"the program ended with {code}, without counts of both agents")
        expected = theirs(folder / "lines.txt")
        found = ours(build, folder / "trace.bin")
        paths_differ = args.blocks == "paths" and paths_that_differ(build, folder / "trace.bin")
    if not any(line.executions for line in expected.values()):
        fail(f"the other agent counted nothing in {args.scopes}")
    counted = {method for method, _ in found}
    left_out = {method for method, _ in expected} - counted
    expected = {key: line for key, line in expected.items() if key[0] in counted}
    differing = sorted(key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key))
    for method, line in differing[:MOST_LISTED]:
        print(f"{method}:{line}: {expected.get((method, line))} by the other agent, {found.get((method, line))} by jtrace")
    print(f"{len(differing)} of {len(expected)} lines differ; "
          f"{sum(line.instructions for line in expected.values()):,} instructions, "
          f"{sum(line.taken for line in expected.values()):,} of "
          f"{sum(line.branches for line in expected.values()):,} branches taken; "
          f"{len(left_out)} methods not counted; the program ended with {code}")
    return 1 if differing or paths_differ or (args.all and left_out) else 0


if __name__ == "__main__":
    sys.exit(main())
