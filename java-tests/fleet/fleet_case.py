"""What the cases of the tier `fleet` share: a folder of tables, jtrace-post and jtrace, and recordings."""
import csv
import io
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import engines

SKIPPED = 77  # an exit code that CTest knows
H2 = "/usr/share/java/h2.jar"
# service: options of the agent, arguments of java
RUNS = {"rec": ("mode=events", ["cases.Recursion"]),
        "fig": ("boundary=on", ["Fig18A"]),
        "fib": ("mode=samples", ["Fib", "35", "1"]),
        "h2": ("clock=tsc,metrics=alloc.bytes", ["H2Work", "1"])}


def run_case(case):
    """All tests of a class; returns the exit code. What was skipped is printed with its reason."""
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    for _, reason in result.skipped:
        print(reason)
    if not result.wasSuccessful():
        return 1
    return SKIPPED if result.skipped and len(result.skipped) == result.testsRun else 0


def major(jdk):
    return re.search(r'^JAVA_VERSION="(\d+)', (jdk / "release").read_text(), re.M)[1]


def plain_name(shown):
    """Reports distinguish routines of one name within a trace by result, packages of parameters, and loader."""
    name = re.sub(r" \[loader \d+\]$", "", shown)
    parts = re.fullmatch(r"(.*)\(([^()]*)\)(:[^ ]*)?", name)
    if not parts:
        return name
    parameters = re.sub(r"(?:[\w$]+[.])+", "", parts[2])  # not the "..." of a native function
    return f"{parts[1]}({parameters})"


def same(one, other):
    """Integers and texts alike, doubles to 1e-9."""
    if isinstance(one, float) or isinstance(other, float):
        return one is not None and other is not None and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other


class FleetTest(unittest.TestCase):
    maxDiff = 4000
    build = jdks = None  # of the command line

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="jtrace-fleet-")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.data = self.work / "data"

    def need(self, *modules):
        missing = [name for name in modules if engines.module(self.build, name) is None]
        if not (self.build / "lib/jtrace/libduckdb.so").exists():
            missing.append("libduckdb.so")
        if missing:
            self.skipTest(f"not verified: there is no {', '.join(missing)} (scripts/fleet.sh test)")

    def post(self, *arguments):
        return subprocess.run([self.build / "bin/jtrace-post", *arguments], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def fleet(self, query, *options):
        return subprocess.run([self.build / "bin/jtrace", "fleet", query, f"--data={self.data}", *options], check=True,
                              text=True, stdout=subprocess.PIPE).stdout

    def rows(self, query, *options):
        return list(csv.DictReader(io.StringIO(self.fleet(query, "--format=csv", *options))))

    def java(self, jdk, options, trace, *arguments, classes=""):
        subprocess.run([jdk / "bin/java", f"-agentpath:{self.build}/lib/libjtrace.so={options},log=none,out={trace}",
                        "-cp", classes or f"{self.build}/java-tests/classes:{H2}", *arguments], check=True,
                       cwd=self.work, stdout=subprocess.DEVNULL)

    def record(self):
        """Each program on each JDK, and their tables. Returns the traces."""
        traces = []
        for jdk in self.jdks:
            for service, (options, arguments) in RUNS.items():
                trace = self.work / f"{service}{major(jdk)}.bin"
                self.java(jdk, options, trace, *arguments)
                self.post("--report=parquet", "-o", self.data, f"--label=service={service}",
                          f"--label=version={major(jdk)}", f"--label=host=jdk{major(jdk)}", trace)
                traces.append(trace)
        return traces
