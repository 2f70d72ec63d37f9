#!/usr/bin/env python3
"""Top methods by self time: jtrace's samples against JFR's CPU-time sampler (JDK 25 or later).

Runs of the two alternate, so that a drift of the machine's speed affects both equally. A method's
share is that of the samples with this method as innermost Java frame; its deviation is estimated
from the differences between runs of each tool, and is at least that of counting.

JIT compilers inline differently from run to run: --physical charges inlined methods to the method
that they are inlined into, --jvm=-XX:-Inline keeps compilers from inlining. Short runs show start-
up costs that only one of the tools has.

Where the processor was in a stub (interface and virtual calls, array copies), JFR names the method
at the thread's next safepoint, and calls the sample biased. Such samples are left out on both sides
and their share is printed; --biased keeps them.
Usage: scripts/bench/top_methods.py --jdk HOME [--runs N] [--seconds N] [PROGRAM…]
"""

import argparse
import collections
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from paired import AGENT, POST
from roots import programs

TOP, SIGMAS, GOAL = 20, 3, 18
JAVA = re.compile(r"^([JCI]):([^(]+)\(")
STUB = "V:[stubs]!"
BIASED = "(biased)"  # in place of a method where samples in stubs are left out


def run(command, seconds, cwd):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, cwd=cwd)
    time.sleep(seconds)
    if process.poll() is not None:
        sys.exit(f"ended early: {' '.join(command)}")
    process.terminate()
    process.wait(120)


def plain_name(name):
    """The name without numbers of lambdas and hidden classes, which differ from run to run."""
    return re.sub(r"(0x[0-9a-f]+|\d{2,})", "#", name.replace("/", "."))


def leaf_of(frames, physical, biased):
    """The innermost Java method of frames, outermost first; None if there is none."""
    if not biased and frames[-1].startswith(STUB):
        return BIASED
    for frame in reversed(frames):
        match = JAVA.match(frame)
        if match and not (physical and match.group(1) == "I"):
            return plain_name(match.group(2))
    return None


def jtrace_shares(java, program, seconds, folder, physical, biased):
    trace = os.path.join(folder, "trace.bin")
    run([java, f"-agentpath:{AGENT}=mode=samples,log=none,out={trace}", *program], seconds, folder)
    process = subprocess.Popen([POST, "--report=samples", "--format=csv", trace], text=True,
                               stdout=subprocess.PIPE)
    counts = collections.Counter()
    for row in csv.DictReader(process.stdout):
        leaf = leaf_of(row["stack"].split(" > "), physical, biased)
        if leaf:
            counts[leaf] += 1
    process.wait()
    return counts


def jfr_leaf_of(values, physical, biased):
    stack = values.get("stackTrace")
    if not stack:
        return None
    # A sample in a native method is also biased, but its method's name is right.
    if values["biased"] and not biased and stack["frames"][0]["type"] != "Native":
        return BIASED
    for frame in stack["frames"]:
        if not (physical and frame["type"] == "Inlined"):
            method = frame["method"]
            return plain_name(f"{method['type']['name']}.{method['name']}")
    return None


def jfr_shares(java, program, seconds, folder, physical, biased):
    recording = os.path.join(folder, "recording.jfr")
    settings = os.path.join(folder, "cpu.jfc")
    with open(settings, "w") as file:
        file.write('<configuration version="2.0"><event name="jdk.CPUTimeSample">'
                   '<setting name="enabled">true</setting><setting name="throttle">4 ms</setting>'
                   "</event></configuration>")
    run([java, f"-XX:StartFlightRecording=filename={recording},settings={settings},dumponexit=true",
         # Without it JFR only has the JVM's debug information at safepoints; for jtrace it is on.
         "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints",
         "-XX:FlightRecorderOptions=stackdepth=1024", *program], seconds, folder)
    tool = os.path.join(os.path.dirname(java), "jfr")
    text = subprocess.run([tool, "print", "--json", "--stack-depth", "64", "--events",
                           "jdk.CPUTimeSample", recording], check=True, capture_output=True).stdout
    counts = collections.Counter()
    for event in json.loads(text)["recording"]["events"]:
        leaf = jfr_leaf_of(event["values"], physical, biased)
        if leaf:
            counts[leaf] += 1
    return counts


def share_of(runs, name):
    return sum(counts[name] for counts in runs) / sum(sum(counts.values()) for counts in runs)


def without(runs, name):
    return [collections.Counter({k: v for k, v in counts.items() if k != name}) for counts in runs]


def share_and_variance(runs, name):
    """Mean share over the runs, and the variance of that mean."""
    totals = [sum(counts.values()) for counts in runs]
    shares = [counts[name] / total for counts, total in zip(runs, totals)]
    mean = share_of(runs, name)
    counting = max(mean, 1 / sum(totals)) / sum(totals)
    return mean, max(counting, statistics.variance(shares) / len(shares))


def compare(jtrace, jfr):
    total = collections.Counter()
    for counts in (*jtrace, *jfr):
        for name, count in counts.items():
            total[name] += count / sum(counts.values())
    within = 0
    for name, _ in total.most_common(TOP):
        ours, our_variance = share_and_variance(jtrace, name)
        theirs, their_variance = share_and_variance(jfr, name)
        sigmas = (ours - theirs) / math.sqrt(our_variance + their_variance)
        within += abs(sigmas) <= SIGMAS
        print(f"  {100 * ours:6.2f} %  {100 * theirs:6.2f} %  {sigmas:+6.1f}  {name}")
    return within


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jdk", required=True)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--jvm", default="", help="options of both JVMs, e.g. --jvm=-XX:-Inline")
    parser.add_argument("--physical", action="store_true",
                        help="count inlined methods to what they are inlined into")
    parser.add_argument("--biased", action="store_true", help="keep samples taken in stubs")
    parser.add_argument("programs", nargs="*", default=["h2", "ecj", "clojure"])
    arguments = parser.parse_args()
    java = os.path.join(arguments.jdk, "bin/java")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        known = programs(folder)
        for name in arguments.programs:
            jtrace, jfr = [], []
            for _ in range(arguments.runs):
                program = [*arguments.jvm.split(), *known[name]]
                how = (program, arguments.seconds, folder, arguments.physical, arguments.biased)
                jtrace.append(jtrace_shares(java, *how))
                jfr.append(jfr_shares(java, *how))
            print(f"{name}: {sum(map(lambda c: sum(c.values()), jtrace))} samples of jtrace, "
                  f"{sum(map(lambda c: sum(c.values()), jfr))} of JFR\n"
                  f"  in stubs: {100 * share_of(jtrace, BIASED):.1f} % of jtrace's, "
                  f"{100 * share_of(jfr, BIASED):.1f} % of JFR's\n"
                  "  jtrace      JFR      sigmas")
            within = compare(without(jtrace, BIASED), without(jfr, BIASED))
            good = good and within >= GOAL
            print(f"  {within} of {TOP} within {SIGMAS} deviations, goal {GOAL}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
