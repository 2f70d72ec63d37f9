#!/usr/bin/env python3
"""Measures what an attach costs a server under load.

A Tomcat with ten workers (Debian's libtomcat9-java), a Vert.x, a Spring Boot with JPA or a Kafka broker (from Maven
Central) answers ten clients on the machine's own processors; how many requests it answered is printed in each second.
After a warm-up jtrace attaches. Printed: the requests a second in the ten seconds before, how long `jtrace start` took,
the share of that speed in the ten seconds after it, the seconds below half of it from the command on, and how long
`jtrace stop` took.
Usage: scripts/bench/attach.py [--server NAME,…] [--rounds N] [--jdk HOME] [--warm SECONDS] [WAY…]
Ways: none samples one probes all atonce serve resting. `none` attaches nothing: what the machine does by itself. `one`:
probes in one class of the program, the least that makes HotSpot discard all compiled code. `probes`: as
`jtrace start --probes` chooses by default; `all`: in all classes; `atonce`: in one batch in any case. `serve`: in a JVM that has loaded the agent at
its start; `resting`: and has had its probes since.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from attach_servers import NAMES, Server
from paired import AGENT, ROOT, default_jdk
from warmup_programs import TOMCAT

JTRACE = os.path.join(ROOT, "build/bin/jtrace")
BEFORE = AFTER = 10


class Counted:
    """A server under load; `seconds`: the requests answered in each second so far."""

    def __init__(self, server):
        self.server, self.seconds = server, []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.server.counter.stdout:
            if line.startswith("answered "):
                self.seconds.append(int(line.split()[1]))

    def wait(self, seconds):
        until = len(self.seconds) + seconds
        while len(self.seconds) < until:
            if self.server.has_ended():
                sys.exit("attach: the server or its client has ended")
            time.sleep(0.01)


def attach(server, way, trace):
    """How long it took."""
    began = time.monotonic()
    if way == "none":
        return 0.0
    probes = {"samples": [], "one": ["--probes", "include=**.Answers$Page"], "all": ["--probes", "--all"],
              "atonce": ["--probes", "probebudget=100%"]}.get(way, ["--probes"])
    subprocess.run([JTRACE, "start", str(server.process.pid), *probes, f"out={trace}"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def stop(server, way):
    """How long it took."""
    began = time.monotonic()
    if way != "none":
        subprocess.run([JTRACE, "stop", str(server.process.pid)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def measure(name, jdk, way, warm):
    with tempfile.TemporaryDirectory() as folder:
        agent = {"serve": [f"-agentpath:{AGENT}=serve"],
                 "resting": [f"-agentpath:{AGENT}=serve,probes=resting"]}.get(way, [])
        server = Server(name, jdk, folder, agent)
        counted = Counted(server)
        counted.wait(warm)
        before = statistics.mean(counted.seconds[-BEFORE:])
        at = len(counted.seconds)
        took = attach(server, way, f"{folder}/t.bin")
        ready = len(counted.seconds)
        counted.wait(AFTER)
        after = statistics.mean(counted.seconds[ready:ready + AFTER])
        stopped = stop(server, way)
        slow = sum(second < before / 2 for second in counted.seconds[at:])
        print(f"    {way}: {' '.join(map(str, counted.seconds[at - 3:]))}", file=sys.stderr, flush=True)
        server.end()
    return before, took, after / before, slow, stopped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jdk", default=default_jdk(), help="default: JAVA_HOME, or the java on the path")
    parser.add_argument("--server", default="tomcat", help=f"of {' '.join(NAMES)}; more than one with commas")
    parser.add_argument("--warm", type=int, default=30, help="seconds of load before the attach")
    parser.add_argument("ways", nargs="*", metavar="WAY", default=["none", "samples", "one", "probes", "atonce", "serve", "resting"])
    args = parser.parse_args()
    if missing := [file for file in TOMCAT if not os.path.exists(file)] or not shutil.which("ab"):
        sys.exit(f"attach: install Debian's libtomcat9-java and apache2-utils: {missing}")
    for name in args.server.split(","):
        print(f"{name:<10}{'requests/s':>12}{'ready after':>13}{'speed after':>13}{'seconds below half':>20}{'stop':>9}")
        for way in args.ways:
            runs = [measure(name, args.jdk, way, args.warm) for _ in range(args.rounds)]
            before, took, share, slow, stopped = (statistics.median(column) for column in zip(*runs))
            print(f"{way:<10}{before:>12,.0f}{took:>11.2f} s{100 * share:>11.0f} %{slow:>20.0f}{stopped:>7.2f} s",
                  flush=True)


if __name__ == "__main__":
    main()
