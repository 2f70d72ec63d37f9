#!/usr/bin/env python3
"""Breaks each entry that the agent reads of a JVM, and asks that nothing else breaks.

Usage: scripts/broken_jvms.py [--build=FOLDER] [--java=HOME] [--some] [--only=TEXT] [--slice=I/N] [--list]

  --build=FOLDER  products and test programs of this build, on one JVM (default: the release on every JVM)
  --java=HOME     that JVM
  --some          a few entries of each part
  --only=TEXT     breaks whose names contain it, e.g. nmethod::
  --slice=I/N     the I-th of N parts
  --list          print the breaks

In each run the program's output, exit code and counts must be those of the unbroken JVM; stacks must be whole, or a
loss must say what is missing. Exit codes: 0 no fault · 1 faults · 2 wrong usage.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from jvm_matrix import broken, kit, matrix

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "java", "only"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--slice", default="1/1")
    for name in ("some", "list"):
        parser.add_argument(f"--{name}", action="store_true")
    arguments = parser.parse_args()
    try:
        arguments.part, arguments.parts = map(int, arguments.slice.split("/"))
    except ValueError:
        parser.error(f"--slice={arguments.slice}: write I/N")
    return arguments


def chosen(arguments, build):
    listing = subprocess.run([build / "tests/jtrace_vm_reads"], capture_output=True, text=True, check=True).stdout
    breaks = list(broken.all_breaks(listing))
    if arguments.some:
        breaks = list(broken.some(breaks))
    breaks = [each for each in breaks if arguments.only in each.option]
    return breaks[arguments.part - 1::arguments.parts]


def place_of_build(build, home, folder):
    tests = build / "java-tests/broken_jvm"
    return broken.Place(java=f"{home}/bin/java", agent=f"{build}/lib/libjtrace.so", post=f"{build}/bin/jtrace-post",
                        breaker=f"{tests}/libjtrace_break.so", classes=f"{tests}/classes", out=folder)


def place_of_release(jvm, build):
    """None: its root cannot be made here."""
    if jvm.root:
        made = subprocess.run([SOURCE / "scripts/roots.sh", "make", jvm.root, jvm.package], check=False)
        if made.returncode != 0:
            return None
    release = sorted((SOURCE / "dist").glob("jtrace-*-linux-x86_64.tar.gz"))[-1]
    place = kit.Kit(jvm, release, SOURCE / "build")
    tests = build / "java-tests/broken_jvm"
    shutil.copy(tests / "libjtrace_break.so", place.outside)
    shutil.copytree(tests / "classes", place.outside / "broken")
    (place.outside / "run").mkdir(exist_ok=True)
    at = place.inside
    return broken.Place(java=f"{jvm.home}/bin/java", agent=f"{at}/jtrace/lib/libjtrace.so",
                        post=f"{at}/jtrace/bin/jtrace-post", breaker=f"{at}/libjtrace_break.so",
                        classes=f"{at}/broken", out=f"{at}/run", wrap=place.command)


def try_all(name, place, breaks):
    """The number of faults."""
    expected = broken.whole(place)
    effects, faults = collections.Counter(), 0

    def attempt(numbered):
        number, each = numbered
        return each, *broken.fault_of(place, number, each, expected)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for each, effect, fault in pool.map(attempt, enumerate(breaks)):
            if fault:
                print(f"{name}: {each.part}: {each.option}: {fault}", flush=True)
                faults += 1
            else:
                effects[effect] += 1
    if not effects["reported"]:
        print(f"{name}: no break was reported: does the agent read these tables?")
        faults += 1
    tally = " · ".join(f"{count} {effect}" for effect, count in sorted(effects.items()))
    print(f"{name}: {len(breaks)} breaks: {faults} faults · {tally}", flush=True)
    return faults


def main():
    arguments = parse()
    build = pathlib.Path(arguments.build or SOURCE / "build").resolve()
    breaks = chosen(arguments, build)
    if arguments.list:
        print("\n".join(f"{each.part:14} {each.option}" for each in breaks))
        return 0
    if arguments.build:
        with tempfile.TemporaryDirectory() as folder:
            return 1 if try_all(arguments.java, place_of_build(build, arguments.java, folder), breaks) else 0
    faults = 0
    for jvm in matrix.all_jvms():
        if arguments.java not in jvm.home:
            continue
        place = place_of_release(jvm, build)
        if place is None:
            print(f"not verified: {jvm.name}: its root cannot be made here")
        else:
            faults += try_all(jvm.name, place, breaks)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
