#!/usr/bin/env python3
"""Real programs under jtrace: the known culprit of each stands in the first screen, and before the fold of the page.

usage: run_test.py BUILD JDK PROGRAM    (Tomcat, Spring, Fop, PlantUml, Groovy or Maven)
       run_test.py --jfr JDK PROGRAM    what JFR says of it: the methods with most samples, a second opinion

exit codes: 0 all is as it should be · 1 something is not · 77 not verified: the program is not there
"""
import base64
import collections
import csv
import gzip
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import programs

SKIPPED = 77
LINES, COLUMNS = 25, 100  # of the first screen
OF_JDK = ("java.", "javax.", "jdk.", "sun.", "com.sun.")


def page_summary(page):
    """The words of the page's data that its summary shows first: findings, and the heaviest methods."""
    packed = re.search(r'<script type="application/gzip" id="profile">([^<]*)</script>', page).group(1)
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    words = [finding["finding"] for finding in data["findings"][:5]]
    for method in data["headline"]["heaviest"][:5]:
        shown = [method["routine"], method["callee"], *method["callers"][:4]]
        words += [data["routines"][number] for number in shown if number >= 0]
    return "\n".join(words)


def loaded_by_log(log):
    """How many classes the JVM loaded from each jar, as -Xlog:class+load says."""
    sources = re.findall(r" source: (?:jar:)?file:(\S+?)(?:!/)?$", log, re.M)
    return collections.Counter(sources)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory(prefix="jtrace-program-")
        self.addCleanup(self.work.cleanup)
        self.trace = pathlib.Path(self.work.name) / "trace.bin"
        self.program = PROGRAM(pathlib.Path(self.work.name), JDK / "bin/javac")
        self.program.prepare()

    def post(self, *arguments):
        return subprocess.run([BUILD / "bin/jtrace-post", *arguments, self.trace], text=True, check=True,
                              stdout=subprocess.PIPE).stdout

    def rows(self, report):
        return list(csv.DictReader(io.StringIO(self.post(f"--report={report}", "--format=csv"))))

    def test_the_culprit_is_in_the_first_screen(self):
        log = self.trace.with_name("classes.log")
        self.program.run([JDK / "bin/java", f"-Xlog:class+load:file={log}",
                          f"-agentpath:{BUILD}/lib/libjtrace.so=mode=merged,out={self.trace}"])
        screen = "\n".join(self.post(f"--width={COLUMNS}").splitlines()[:LINES])
        print(screen)
        flat = {row["name"]: row for row in self.rows("flat")}
        # A line ends where the screen does: words of a sentence may be on two lines.
        words = re.sub(r"\s+", " ", screen)
        summary = page_summary(self.post("--report=html"))
        for culprit in self.program.culprits:
            with self.subTest(culprit=culprit):
                self.assertIn(culprit, words)
                self.assertIn(culprit, summary)
        for sentence in self.program.sentences:
            with self.subTest(sentence=sentence):
                self.assertIn(sentence, summary)
        if self.program.loads_jar:
            finding = next(row for row in self.rows("findings") if row["rule"] == "class-loading")
            jar = loaded_by_log(log.read_text()).most_common(1)[0][0]
            self.assertIn(f" of them from {pathlib.Path(jar).name}", finding["evidence"])
        for routine, calls in self.program.counts:
            with self.subTest(routine=routine):
                self.assertEqual(calls, int(flat[routine]["calls"]))


def print_jfr(jdk):
    with tempfile.TemporaryDirectory(prefix="jtrace-program-") as work:
        program = PROGRAM(pathlib.Path(work), jdk / "bin/javac")
        program.prepare()
        recording = pathlib.Path(work) / "recording.jfr"
        program.run([jdk / "bin/java", f"-XX:StartFlightRecording=filename={recording},settings=profile"])
        printed = subprocess.run([jdk / "bin/jfr", "print", "--json", "--stack-depth", "256", "--events",
                                  "jdk.ExecutionSample", recording], check=True, stdout=subprocess.PIPE).stdout
    own = collections.Counter()
    for event in json.loads(printed)["recording"]["events"]:
        methods = [frame["method"] for frame in (event["values"]["stackTrace"] or {}).get("frames", [])]
        names = [f"{method['type']['name']}.{method['name']}".replace("/", ".") for method in methods]
        own[next((name for name in names if not name.startswith(OF_JDK)), "none")] += 1
    for name, samples in own.most_common(10):
        print(f"{100 * samples / own.total():5.1f} %  {name}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    PROGRAM = next(each for each in programs.PROGRAMS if each.__name__ == sys.argv[3])
    JDK = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "--jfr":
        print_jfr(JDK)
        sys.exit()
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    reason = PROGRAM(pathlib.Path("/"), None).missing()
    if reason is not None:
        print(f"not verified: {reason}; scripts/setup.sh programs")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
