#!/usr/bin/env python3
"""Measures what an attach costs a server under load.

A Tomcat with ten workers (Debian's libtomcat9-java) answers `ab` with ten clients, on the machine's own
processors; the server itself prints how many requests it has answered in each second. After a warm-up jtrace
attaches. Printed: the requests a second in the ten seconds before, how long `jtrace start` took, the share of that
speed in the ten seconds after it, and the seconds below half of it from the command on.
Usage: scripts/bench/attach.py [--rounds N] [--jdk HOME] [--warm SECONDS] [WAY…]
Ways: none samples one probes atonce serve resting. `none` attaches nothing: what the machine does by itself. `one`:
probes in one class of the program, the least that makes HotSpot discard all compiled code. `probes`: in all classes, as
`jtrace start --probes` does by default; `atonce`: in one batch in any case. `serve`: in a JVM that has loaded the agent at
its start; `resting`: and has had its probes since.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from paired import AGENT, ROOT, default_jdk
from warmup_programs import TOMCAT, compiled

JTRACE = os.path.join(ROOT, "build/bin/jtrace")
SERVER = """
import java.util.concurrent.atomic.AtomicLong;
import javax.servlet.http.*;
import org.apache.catalina.startup.Tomcat;

class Answers {
  static final AtomicLong answered = new AtomicLong();

  public static class Page extends HttpServlet {
    @Override protected void doGet(HttpServletRequest request, HttpServletResponse response) throws java.io.IOException {
      var text = new StringBuilder();
      for (int i = 0; i < 50; i++) text.append(request.getParameter("q")).append(String.format("%05d", i)).append('\\n');
      response.getWriter().print(text);
      answered.incrementAndGet();
    }
  }

  public static void main(String[] arguments) throws Exception {
    var tomcat = new Tomcat();
    tomcat.setBaseDir(".");
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("maxThreads", "10");
    tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
    var context = tomcat.addContext("", new java.io.File(".").getAbsolutePath());
    Tomcat.addServlet(context, "page", new Page());
    context.addServletMappingDecoded("/", "page");
    tomcat.start();
    System.out.println("port " + tomcat.getConnector().getLocalPort());
    for (long last = 0, now; ; last = now) {
      Thread.sleep(1000);
      now = answered.get();
      System.out.println("answered " + (now - last));
    }
  }
}
"""
BEFORE = AFTER = 10


class Server:
    """A server under load; `seconds`: the requests answered in each second so far."""

    def __init__(self, java, folder, agent):
        with tempfile.TemporaryDirectory() as sources:
            with open(f"{sources}/Answers.java", "w", encoding="utf-8") as file:
                file.write(SERVER)
            shutil.copytree(sources, folder, dirs_exist_ok=True)
        classes = compiled(java, TOMCAT, Named(folder)).name
        self.seconds = []
        self.process = subprocess.Popen([java, *agent, "-cp", ":".join([*TOMCAT, classes]), "Answers"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
        self.port = re.match(r"port (\d+)", self.process.stdout.readline()).group(1)
        threading.Thread(target=self.read, daemon=True).start()
        self.load = subprocess.Popen(["ab", "-q", "-k", "-c", "10", "-t", "600", "-n", "100000000",
                                      f"http://127.0.0.1:{self.port}/?q=abc"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def read(self):
        for line in self.process.stdout:
            self.seconds.append(int(line.split()[1]))

    def wait(self, seconds):
        until = len(self.seconds) + seconds
        while len(self.seconds) < until:
            if self.process.poll() is not None or self.load.poll() is not None:
                sys.exit("attach: the server or ab has ended")
            time.sleep(0.01)

    def end(self):
        self.load.kill()
        self.process.kill()
        self.load.wait()
        self.process.wait()


class Named:
    def __init__(self, name):
        self.name = name


def attach(server, way, trace):
    """How long it took."""
    began = time.monotonic()
    if way == "none":
        return 0.0
    probes = {"samples": [], "one": ["--probes", "include=Answers$Page"],
              "atonce": ["--probes", "probebudget=100%"]}.get(way, ["--probes"])
    subprocess.run([JTRACE, "start", str(server.process.pid), *probes, f"out={trace}"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def measure(java, way, warm):
    with tempfile.TemporaryDirectory() as folder:
        agent = {"serve": [f"-agentpath:{AGENT}=serve"],
                 "resting": [f"-agentpath:{AGENT}=serve,probes=resting"]}.get(way, [])
        server = Server(java, folder, agent)
        server.wait(warm)
        before = statistics.mean(server.seconds[-BEFORE:])
        at = len(server.seconds)
        took = attach(server, way, f"{folder}/t.bin")
        ready = len(server.seconds)
        server.wait(AFTER)
        after = statistics.mean(server.seconds[ready:ready + AFTER])
        slow = sum(second < before / 2 for second in server.seconds[at:])
        print(f"    {way}: {' '.join(map(str, server.seconds[at - 3:]))}", file=sys.stderr, flush=True)
        server.end()
    return before, took, after / before, slow


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jdk", help="default: JAVA_HOME, or the java on the path")
    parser.add_argument("--warm", type=int, default=30, help="seconds of load before the attach")
    parser.add_argument("ways", nargs="*", metavar="WAY", default=["none", "samples", "one", "probes", "atonce", "serve", "resting"])
    args = parser.parse_args()
    if missing := [file for file in TOMCAT if not os.path.exists(file)] or not shutil.which("ab"):
        sys.exit(f"attach: install Debian's libtomcat9-java and apache2-utils: {missing}")
    java = os.path.join(args.jdk or default_jdk(), "bin/java")
    print(f"{'':<10}{'requests/s':>12}{'ready after':>13}{'speed after':>13}{'seconds below half':>20}")
    for way in args.ways:
        runs = [measure(java, way, args.warm) for _ in range(args.rounds)]
        before, took, share, slow = (statistics.median(column) for column in zip(*runs))
        print(f"{way:<10}{before:>12,.0f}{took:>11.2f} s{100 * share:>11.0f} %{slow:>20.0f}", flush=True)


if __name__ == "__main__":
    main()
