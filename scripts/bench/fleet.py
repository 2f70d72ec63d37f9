#!/usr/bin/env python3
"""Figures of docs/FLEET.md: the size of tables, the time of their conversion, and of queries over many runs.

usage: scripts/bench/fleet.py TRACE… [--traces=N] [--hosts=N] [--build=DIR] [--work=DIR]

TRACE: recordings of real programs: models, in turn, of N generated traces (default 10,000) of so many hosts (default
200), which are made, converted and removed host by host. Queries: the first and the best time of three, with its
processor time and memory. Needs scripts/fleet.sh, and the target
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
            model = arguments.trace[host % len(arguments.trace)]
            subprocess.run([build / "tests/perturb_traces", model, made, str(host * each), str(each),
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


def measure(command):
    """Seconds, processor seconds, MB."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def queries(jtrace, folder):
    print(f"\n{'query':10} {'first s':>8} {'best s':>8} {'processor s':>11} {'MB':>6}")
    for query in QUERIES:
        times = [measure([jtrace, "fleet", *query, f"--data={folder}"]) for _ in range(3)]
        seconds, processor, memory = min(times)
        print(f"{query[0]:10} {times[0][0]:8.2f} {seconds:8.2f} {processor:11.2f} {memory:6.0f}")


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
