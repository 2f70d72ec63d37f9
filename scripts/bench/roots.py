#!/usr/bin/env python3
"""Share of samples whose stack reaches the thread's first frame: programs × JVM settings × intervals.

Usage: scripts/bench/roots.py [--jdk HOME]… [--seconds N] [PROGRAM…]     programs: h2 clojure ecj jython paths
Needs a built tree and perf events, which keep each interval exactly. A row is one run; samples that
did not reach the first frame are listed by reason.
"""

import argparse
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

from paired import AGENT, CLASSES, CLOJURE, JARS, POST, ROOT, default_jdk

SETTINGS = {"default": [], "C1": ["-XX:TieredStopAtLevel=1"], "-Xint": ["-Xint"],
            "Serial": ["-XX:+UseSerialGC"], "ZGC": ["-XX:+UseZGC"]}
INTERVALS = ("1ms", "100us")
GOAL = 99.95  # percent
# Long enough that the clock ends it with any settings of the JVM.
PYTHON = """
def spread(n):
    return sorted([(i * 7919) % 1009 for i in range(n)], key=lambda v: -v)
while True:
    words = {}
    for v in spread(2000):
        words.setdefault(str(v % 97), []).append(v)
"""


def programs(folder):
    sources = glob.glob(os.path.join(ROOT, "java-tests/cases/cases/*.java"))
    walker = os.path.join(ROOT, "build/java-tests/walker/classes")
    return {
        "h2": ["-cp", f"{CLASSES}:{JARS}h2.jar", "H2W", "100000"],
        "clojure": ["-cp", CLOJURE, "clojure.main",
                    os.path.join(ROOT, "java-tests/workloads/bench.clj"), "1000000"],
        "ecj": ["-cp", f"{JARS}eclipse-jdt-core.jar", "org.eclipse.jdt.internal.compiler.batch.Main",
                "-17", "-nowarn", "-proc:none", "-repeat", "100000", "-d", folder, *sources],
        "jython": ["-cp", f"{JARS}jython.jar", "org.python.util.jython", "-c", PYTHON],
        "paths": ["-cp", walker, "PathCheck", os.path.join(ROOT, "build/lib/libwalker_agent.so"),
                  "100000"],
    }


def record(java, settings, sampling, program, seconds, trace):
    """Samples of `seconds` of the program, including its start-up and its end."""
    agent = f"-agentpath:{AGENT}=mode=samples,{sampling},log=none,out={trace}"
    with tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([java, *settings, agent, *program], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=err)
        time.sleep(seconds)
        ended = process.poll()
        process.terminate()  # the JVM ends orderly
        process.wait(60)
        if ended is not None:
            err.seek(0)
            sys.exit(f"{program} ended early with status {ended}: {err.read()[-2000:]}")


def summary(trace):
    text = subprocess.run([POST, "--report=summary", "--format=csv", trace], check=True,
                          capture_output=True, text=True).stdout
    return {row["key"]: row["value"] for row in csv.DictReader(text.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jdk", action="append", help="default: JAVA_HOME, or the java on the path")
    parser.add_argument("--intervals", default=",".join(INTERVALS))
    parser.add_argument("--seconds", type=float, default=6, help="of each run")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    worst = 100.0
    with tempfile.TemporaryDirectory() as folder:
        known = programs(folder)
        for name in arguments.programs or known:
            if name not in known:
                parser.error(f"no program {name}; there are: {' '.join(known)}")
        for jdk in arguments.jdk or [default_jdk()]:
            for name in arguments.programs or known:
                for setting, options in SETTINGS.items():
                    for interval in arguments.intervals.split(','):
                        trace = os.path.join(folder, "trace.bin")
                        sampling = f"timer=perf:cpu-clock,interval={interval}"
                        record(os.path.join(jdk, "bin/java"), options, sampling, known[name],
                               arguments.seconds, trace)
                        rows = summary(trace)
                        samples, whole = int(rows["samples"]), int(rows["samples_whole"])
                        if samples == 0:
                            sys.exit(f"no samples of {name} ({setting}): give it more --seconds")
                        percent = 100 * whole / samples
                        worst = min(worst, percent)
                        reasons = [f"{key[5:]} {value}" for key, value in rows.items()
                                   if re.match(r"loss\.(sample|walk)", key)]
                        print(f"{os.path.basename(jdk):<26} {name:<8} {setting:<8} {interval:<6} "
                              f"{samples:>8} samples  {percent:8.4f} %"
                              f"{'' if percent >= GOAL else ' BELOW'}  {', '.join(reasons)}", flush=True)
    print(f"worst {worst:.4f} %, goal {GOAL} %")
    return 0 if worst >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
