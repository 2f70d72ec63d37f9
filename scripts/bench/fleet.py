#!/usr/bin/env python3
"""Figures of docs/FLEET.md: the size of tables, the time of their conversion, and of queries over many runs.

usage: scripts/bench/fleet.py TRACE… [--traces=N] [--hosts=N] [--build=DIR] [--work=DIR]

TRACE: recordings of real programs. The last one is the model of N generated traces (default 10,000) of so many hosts
(default 200), which are made, converted and removed host by host. Needs scripts/fleet.sh, and the target
perturb_traces. --work: a folder for the tables, which stay (default: a temporary one).
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

QUERIES = (["top"], ["tree"], ["arcs"], ["dead"], ["hosts"], ["callers", "--of=org.h2.command.Parser.parse"], ["check"])


def size_of(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def convert(post, folder, traces):
    """Processor seconds."""
    before = children_seconds()
    subprocess.run([post, "--report=parquet", "--jobs=1", "-o", folder, *traces], check=True)
    return children_seconds() - before


def singles(post, traces, work):
    print(f"{'trace':30} {'bytes':>10} {'tables':>10} {'ratio':>6} {'s':>6}")
    for trace in traces:
        folder = work / f"single-{trace.stem}"
        seconds = convert(post, folder, [trace])
        ratio = size_of(folder) / trace.stat().st_size
        print(f"{trace.name:30} {trace.stat().st_size:10} {size_of(folder):10} {ratio:6.2f} {seconds:6.2f}")


def generated(arguments, build, work):
    folder = work / "generated"
    each = arguments.traces // arguments.hosts
    trace_bytes = seconds = 0
    for host in range(arguments.hosts):
        with tempfile.TemporaryDirectory(dir=work) as made:
            subprocess.run([build / "tests/perturb_traces", arguments.trace[-1], made, str(host * each), str(each),
                            str(arguments.traces)], check=True)
            # All traces of one call are of one host, so that they share files.
            trace_bytes += size_of(pathlib.Path(made))
            before = children_seconds()
            subprocess.run([build / "bin/jtrace-post", "--report=parquet", "--jobs=1", "-o", folder,
                            f"--label=host=web-{host:03}", "--label=service=h2",
                            *sorted(pathlib.Path(made).iterdir())], check=True)
            seconds += children_seconds() - before
    count = each * arguments.hosts
    print(f"\n{count} generated traces of {arguments.hosts} hosts: {trace_bytes} bytes, tables {size_of(folder)} bytes"
          f" (ratio {size_of(folder) / trace_bytes:.2f}), {count / seconds:.1f} traces a second of a processor")
    return folder


def queries(jtrace, folder):
    print(f"\n{'query':10} {'first s':>8} {'best of 3':>9}")
    for query in QUERIES:
        times = []
        for _ in range(3):
            begin = time.monotonic()
            subprocess.run([jtrace, "fleet", *query, f"--data={folder}"], check=True, stdout=subprocess.DEVNULL)
            times.append(time.monotonic() - begin)
        print(f"{query[0]:10} {times[0]:8.2f} {min(times):9.2f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("trace", nargs="+", type=pathlib.Path)
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--work", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jtrace-fleet-") as temporary:
        work = arguments.work or pathlib.Path(temporary)
        os.makedirs(work, exist_ok=True)
        singles(arguments.build / "bin/jtrace-post", arguments.trace, work)
        folder = generated(arguments, arguments.build, work)
        queries(arguments.build / "bin/jtrace", folder)


if __name__ == "__main__":
    sys.exit(main())
