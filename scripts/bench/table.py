#!/usr/bin/env python3
"""Writes the README's tables of costs from a file of results (results.py), between their markers.

Usage: scripts/bench/table.py [--check] [--results FILE] [README]
`--check`: changes nothing, and fails if the README has other tables than the results.
"""

import argparse
import collections
import os
import re
import sys

from results import Results

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WAYS = ("plain", "samples", "flat", "tree", "merged", "resting", "peer")


def cell(text):
    return text.replace("<= ", "≤ ").replace(">= ", "≥ ").replace("x", "×") if text[:1].isdigit() or text[:2] in (
        "<=", ">=", "< ") else text.replace("-", "–") if text == "-" else text


def row(cells):
    return "| " + " | ".join(cells) + " |"


def costs(results):
    jdks = sorted({jdk for found in results.rows.values() for jdk in found["values"]}, key=lambda jdk: (jdk != "17", int(jdk)))
    lines = [row(["", *(f"JDK {jdk}" for jdk in jdks), "goal"]), "|---" * (len(jdks) + 2) + "|"]
    for name, found in results.rows.items():
        values = [cell(found["values"][jdk][0]) if jdk in found["values"] else "" for jdk in jdks]
        goal = found["goal"]
        lines.append(row([name, *values, "" if goal == "-" else cell(goal)]))
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


def put(text, name, lines):
    """Replaces what is between the markers of that name."""
    found = re.search(rf"(<!-- bench: {name} -->\n).*?(<!-- end -->)", text, re.DOTALL)
    if found is None:
        sys.exit(f"table: the README has no <!-- bench: {name} --> … <!-- end -->")
    return text[:found.end(1)] + "\n".join(lines) + "\n" + text[found.start(2):]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", metavar="FILE", default=os.path.join(ROOT, "docs/bench.json"))
    parser.add_argument("readme", nargs="?", default=os.path.join(ROOT, "README.md"))
    args = parser.parse_args()
    results = Results(args.results)
    with open(args.readme, encoding="utf-8") as file:
        before = file.read()
    after = put(before, "machine", [f"{results.machine}; {days(results)}."])
    after = put(put(after, "costs", costs(results)), "warmup", warmup(results))
    if args.check and after != before:
        sys.exit("README.md does not have the figures of docs/bench.json: run scripts/bench/table.py")
    if not args.check and after != before:
        with open(args.readme, "w", encoding="utf-8") as file:
            file.write(after)


if __name__ == "__main__":
    main()
