#!/usr/bin/env python3
"""Writes the tables of costs from a file of results (results.py) between their markers: those of README.md, and all
figures in docs/SPEED.md.

Usage: scripts/bench/table.py [--check] [--results FILE]
`--check`: changes nothing, and fails if the pages have other tables than the results.
"""

import argparse
import collections
import os
import re
import sys

from results import Results

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WAYS = ("plain", "samples", "flat", "tree", "merged", "resting", "peer")
# Rows of the README, as it names them.
MAIN = {
    "fib, record=tree: added a call": "recursive fib, exact tree: added a call",
    "fib, record=flat: added a call": "the same, `record=flat`",
    "fib, clock=tsc: added a call": "the same, tree with `clock=tsc`",
    "H2, mode=events": "H2 database, exact tree",
    "H2, mode=merged": "the same with samples (`mode=merged`)",
    "H2, mode=events,record=flat": "the same, `record=flat`",
    "H2, clock=tsc": "the same, tree with `clock=tsc`",
    "H2, record=log,clock=tsc": "the same, every call in a log with its time",
    "H2, tree with blocks=on, of the tree's time": "counts of lines (`blocks=on`): times the tree",
    "Clojure, mode=events": "Clojure, exact tree",
    "H2, mode=samples: steady state": "samples alone, H2: time of an iteration",
    "H2, mode=samples: CPU time": "the same, processor time of its first ten seconds, the JIT's too",
    "H2, serve,probes=resting": "probes that rest (`serve,probes=resting`), H2",
    "empty program, mode=merged: added": "start-up of an empty program, `mode=merged`: added",
    "H2, peak memory added": "memory added, H2",
    "H2 trace, 10 iterations": "trace of ten iterations of H2, 1.8 billion calls",
    "H2 trace, 10 iterations: jtrace-post": "`jtrace-post` on it",
}


def sign(text):
    """A value or a goal as people write it."""
    text = text.replace("<=", "≤").replace(">=", "≥")
    return re.sub(r"(?<=\d)x$", "×", "" if text == "-" else text)


def row(cells):
    return "| " + " | ".join(cells) + " |"


def costs(results, names):
    """`names`: of rows, and what they are called."""
    jdks = sorted({jdk for found in results.rows.values() for jdk in found["values"]}, key=int)
    lines = [row(["", *(f"JDK {jdk}" for jdk in jdks), "goal"]), "|---" * (len(jdks) + 2) + "|"]
    for name, label in names.items():
        found = results.rows[name]
        values = [sign(found["values"].get(jdk, [""])[0]) for jdk in jdks]
        lines.append(row([label, *values, sign(found["goal"])]))
    return lines


def warmup(results):
    lines = [row(["program", *(name if name != "peer" else "async-profiler, 1 ms" for name in WAYS)]),
             "|---" * (len(WAYS) + 1) + "|"]
    for program, columns in results.warmup.items():
        lines.append(row([program, *(columns.get(way, "").rstrip("x") for way in WAYS)]))
    return lines


def days(results):
    counts = collections.Counter(day for found in results.rows.values() for _, day in found["values"].values())
    counts.update(columns["day"] for columns in results.warmup.values())
    return ", ".join(f"{count} figures of {day}" for day, count in sorted(counts.items(), reverse=True))


def call(results):
    """Nanoseconds that the exact tree adds to a call, from the best JDK to the worst."""
    values = results.rows["fib, record=tree: added a call"]["values"].values()
    found = sorted(float(value.split()[0]) for value, _ in values)
    return f"{found[0]:.1f}–{found[-1]:.1f}"


def put(text, name, what):
    """Replaces what is between the markers of that name: lines, or a word in a line."""
    found = re.search(rf"(<!-- bench: {name} -->\n?).*?(<!-- end -->)", text, re.DOTALL)
    if found is None:
        sys.exit(f"table: a page has no <!-- bench: {name} --> … <!-- end -->")
    if not isinstance(what, str):
        what = "\n".join(what) + "\n"
    return text[:found.end(1)] + what + text[found.start(2):]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", metavar="FILE", default=os.path.join(ROOT, "docs/bench.json"))
    args = parser.parse_args()
    results = Results(args.results)
    pages = {
        "README.md": {"machine": [f"{results.machine}; {days(results)}."], "costs": costs(results, MAIN),
                      "warmup": warmup(results), "call": call(results)},
        "docs/DESIGN.md": {"call": call(results)},
        "docs/SPEED.md": {"all": costs(results, {name: f"`{name}`" for name in results.rows})},
    }
    for page, tables in pages.items():
        path = os.path.join(ROOT, page)
        with open(path, encoding="utf-8") as file:
            before = file.read()
        after = before
        for name, lines in tables.items():
            after = put(after, name, lines)
        if after == before:
            continue
        if args.check:
            sys.exit(f"{page} does not have the figures of docs/bench.json: run scripts/bench/table.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(after)


if __name__ == "__main__":
    main()
