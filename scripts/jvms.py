#!/usr/bin/env python3
"""Runs the release on every JVM: a cover of all pairs of JVMs, programs, collectors, compilers and object layouts.

Usage: scripts/jvms.py [--slice=I/N] [--only=TEXT] [--again] [--list] [--table]

  --slice=I/N   the I-th of N parts, from 1
  --only=TEXT   runs whose names contain it
  --again       also those that have a result without faults
  --list        print the names of the runs
  --table       write docs/JVMS.md of the results

Roots of Debian releases are made by scripts/roots.sh, the release by scripts/release.sh products. Results are kept in
build/jvms/results with the release's digest, so that a cut-off matrix goes on where it was.
Exit codes: 0 no fault · 1 faults · 2 wrong usage.
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
import sys

from jvm_matrix import kit, matrix, runs, table

SOURCE = pathlib.Path(__file__).resolve().parents[1]
RESULTS = SOURCE / "build/jvms/results"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slice", default="1/1")
    parser.add_argument("--only", default="")
    for flag in ("--again", "--list", "--table"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse_args()
    try:
        part, parts = map(int, arguments.slice.split("/"))
    except ValueError:
        part = parts = 0
    if not 1 <= part <= parts:
        parser.error(f"--slice={arguments.slice}: write I/N, from 1/N to N/N")
    arguments.part, arguments.parts = part, parts
    return arguments


def file_of(run):
    return RESULTS / (run.name.replace("/", "_") + ".json")


def result_of(run, digest):
    """None: there is none of this release, or it has faults."""
    if not file_of(run).exists():
        return None
    result = json.loads(file_of(run).read_text())
    return result if result.get("release") == digest else None


def release():
    found = sorted((SOURCE / "dist").glob("jtrace-*-linux-x86_64.tar.gz"))
    if not found:
        subprocess.run([SOURCE / "scripts/release.sh", "products"], check=True)
        found = sorted((SOURCE / "dist").glob("jtrace-*-linux-x86_64.tar.gz"))
    return found[-1]


def make_root(jvm):
    """False: it cannot be made here."""
    if not jvm.root:
        return True
    made = subprocess.run([SOURCE / "scripts/roots.sh", "make", jvm.root, jvm.package], check=False)
    return made.returncode == 0


def perform_all(chosen, archive, digest, again):
    """The JVMs that could not be run."""
    kits, not_verified = {}, []
    for number, run in enumerate(chosen, 1):
        before = result_of(run, digest)
        if before and not before["faults"] and not again:
            continue
        if run.jvm not in kits:
            there = make_root(run.jvm)
            kits[run.jvm] = kit.Kit(run.jvm, archive, SOURCE / "build") if there else None
            if not there:
                not_verified.append(f"{run.jvm.name}: its root cannot be made here")
        if kits[run.jvm] is None:
            continue
        result = runs.perform(kits[run.jvm], run, SOURCE / "build/jvms/logs" / run.name.replace("/", "_"))
        result.update(release=digest, root=run.jvm.root)
        file_of(run).write_text(json.dumps(result, indent=1))
        verdict = "; ".join(result["faults"]) or result.get("not_possible", "ok")
        print(f"{number:3} of {len(chosen)}  {run.name:<46} {result['seconds']:6.1f} s  {verdict}", flush=True)
    return not_verified


def main():
    arguments = parse()
    cover = [run for run in matrix.cover(matrix.all_jvms()) if arguments.only in run.name]
    if arguments.list:
        print("\n".join(run.name for run in cover))
        return 0
    RESULTS.mkdir(parents=True, exist_ok=True)
    chosen = cover[arguments.part - 1::arguments.parts]
    archive = release()
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    not_verified = perform_all(chosen, archive, digest, arguments.again)
    for line in not_verified:
        print(f"not verified: {line}")
    results = [result for result in (result_of(run, digest) for run in cover) if result]
    if arguments.table:
        (SOURCE / "docs/JVMS.md").write_text(table.document(results, not_verified))
    faults = sum(bool(result["faults"]) for result in results)
    for jvm in dict.fromkeys(run.jvm for run in cover):
        of_jvm = [result for result in results if result["jvm"] == jvm.name]
        for fault in runs.faults_of_jvm(of_jvm, jvm.may_degrade):
            print(f"{jvm.name}: {fault}")
            faults += 1
    print(f"{len(results)} of {len(cover)} runs have a result, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
