#!/usr/bin/env python3
"""Builds the project of docs/MAVEN.md, made only from that page, with Maven and without network.

usage: build_test.py SOURCES BUILD [BuildTest.NAME …]

The page's blocks after `FILE`: are its files. Maven's own plugins come from Debian's packages (scripts/setup.sh
maven), jtrace's jars from a repository that scripts/release/jars.sh makes, as for a release.
exit codes: 0 all is as it should be · 1 something is not · 77 not verified: there is no Maven, or no plugin
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

DEBIAN = pathlib.Path("/usr/share/maven-repo")
PLUGINS = DEBIAN / "org/apache/maven/plugins"
SKIPPED = 77


def newest(folder):
    """The greatest version of an artifact in Debian's repository that has a jar."""
    versions = [jar.parent.name for jar in folder.glob("[0-9]*/*.jar")]
    return max(versions, key=lambda version: [int(part) for part in re.findall("[0-9]+", version)], default=None)


def missing(build):
    if shutil.which("mvn") is None:
        return "there is no Maven"
    for name in ("maven-surefire-plugin", "maven-compiler-plugin", "maven-resources-plugin", "maven-jar-plugin"):
        if newest(PLUGINS / name) is None:
            return f"Debian's {name} is missing"
    if not (build / "jar/jtrace-maven-plugin.jar").exists():
        return "jtrace-maven-plugin.jar was not built"
    return None


class Project:
    """A copy of the page's project, with a local repository in place of what Maven would download."""

    def __init__(self, sources, build, work):
        self.build = build
        self.folder = work / "shop with blank"
        self.page = (sources / "docs/MAVEN.md").read_text()
        for name, text in re.findall(r"^`([^`]+)`[^\n]*\n\n```\w+\n(.*?)^```", self.page, re.M | re.S):
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        version = re.search(r"<jtrace.version>(.*?)<", self.page).group(1)
        subprocess.run([sources / "scripts/release/jars.sh", version, build / "jar", work / "maven"], check=True,
                       stdout=subprocess.DEVNULL)
        self.local = work / "local"
        subprocess.run(["cp", "-rs", f"{DEBIAN}/.", self.local], check=True)
        self.add_plexus_utils()
        self.arguments = ["-B", "-o", f"-Dmaven.repo.local={self.local}", "-Daether.offline.protocols=file",
                          f"-Djtrace.home={build}", f"-Djtrace.repository=file://{work}/maven",
                          f"-Dsurefire.version={newest(PLUGINS / 'maven-surefire-plugin')}",
                          f"-Djunit.version={newest(DEBIAN / 'org/junit/jupiter/junit-jupiter')}"]

    def add_plexus_utils(self):
        """Maven gives each plugin that names none version 1.1 of it, which Debian's repository lacks."""
        debian = DEBIAN / "org/codehaus/plexus/plexus-utils"
        folder = self.local / "org/codehaus/plexus/plexus-utils/1.1"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(debian / newest(debian) / f"plexus-utils-{newest(debian)}.jar", folder / "plexus-utils-1.1.jar")
        (folder / "plexus-utils-1.1.pom").write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>org.codehaus.plexus</groupId>"
            "<artifactId>plexus-utils</artifactId><version>1.1</version></project>\n")

    def maven(self, *arguments):
        done = subprocess.run(["mvn", *self.arguments, *arguments], cwd=self.folder, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def edit(self, name, old, new):
        file = self.folder / name
        text = file.read_text()
        assert old in text, f"{name} has no {old}"
        file.write_text(text.replace(old, new))

    def post(self, *arguments):
        return subprocess.run([self.build / "bin/jtrace-post", *arguments], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, check=True).stdout


class BuildTest(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory(prefix="jtrace-maven-")
        self.addCleanup(self.work.cleanup)
        self.project = Project(SOURCES, BUILD, pathlib.Path(self.work.name))
        self.target = self.project.folder / "target/jtrace"

    def maven(self, expected, *arguments):
        code, output = self.project.maven(*arguments)
        self.assertEqual(code == 0, expected, output)
        return output

    def test_a_regression_fails_the_build_with_its_path(self):
        plain = self.maven(True, "verify")
        self.assertIn("Tests run: 2, Failures: 0, Errors: 0, Skipped: 1", plain)
        self.assertFalse(self.target.exists(), "recorded without the profile")
        self.assertIn("make it once: mvn test jtrace:baseline", self.maven(False, "-Pjtrace", "verify"))
        self.maven(True, "-Pjtrace", "test", "jtrace:baseline")
        good = self.maven(True, "-Pjtrace", "verify")
        self.assertIn("Tests run: 2, Failures: 0, Errors: 0, Skipped: 0", good)
        self.assertIn("jtrace: rules that hold: 2", good)
        self.assertIn("shop.Prices.of(String)", (self.target / "report.txt").read_text())
        self.assertTrue((self.target / "report.html").read_text().startswith("<!doctype html>"))
        self.project.edit("src/main/java/shop/Cart.java", "sum += Prices.of(item);",
                          "if (Prices.of(item) > 0) sum += Prices.of(item);")
        bad = self.maven(False, "-Pjtrace", "verify")
        example = re.search(r"^\[ERROR\] calls>0.*\n\[ERROR\].*\n", self.project.page, re.M).group(0)
        self.assertIn(example, bad)
        self.assertIn("shop.Prices.of(String)", (self.target / "diff.txt").read_text())
        self.assertTrue((self.target / "report.html").exists())
        self.maven(True, "-Pjtrace", "-Djtrace.skip", "verify")

    def test_a_build_that_checks_nothing_fails(self):
        self.maven(True, "-Pjtrace", "test", "jtrace:baseline")
        self.maven(True, "-Pjtrace", "-DskipTests", "verify")
        self.project.edit("pom.xml", "@{argLine} -Xmx256m", "-Xmx256m")
        self.assertIn("the tests ran without the agent", self.maven(False, "-Pjtrace", "verify"))
        self.project.edit("pom.xml", "<argLine>-Xmx256m", "<argLine>@{argLine}")
        self.project.edit("pom.xml", "<rule>calls>0@shop.**</rule>", "<rule>calls>0@shopp.**</rule>")
        self.assertIn("checks nothing: no routine matches it", self.maven(False, "-Pjtrace", "verify"))
        self.project.edit("pom.xml", "<rule>calls>0@shopp.**</rule>", "<rule>cals>0</rule>")
        self.assertIn("'cals' is unknown, nearest: calls", self.maven(False, "-Pjtrace", "verify"))
        self.assertIn("no libjtrace.so in", self.maven(False, "-Pjtrace", "-Djtrace.home=/nowhere", "verify"))

    def test_rules_of_one_trace_need_no_baseline(self):
        self.project.edit("pom.xml", "<rule>calls>0@shop.**</rule>", "<rule>coverage.lines&lt;95%</rule>")
        self.project.edit("pom.xml", "<rule>appeared@shop.**</rule>", "")
        self.project.edit("pom.xml", "mode=events,", "mode=events,blocks=on,")
        self.assertIn("jtrace: rules that hold: 1", self.maven(True, "-Pjtrace", "verify"))
        self.project.edit("src/main/java/shop/Prices.java", "return 100",
                          "if (item.isEmpty())\n      return 0;\n    return 100")
        self.assertIn("[ERROR] coverage.lines<95%: ", self.maven(False, "-Pjtrace", "verify"))

    def test_surefire_alone(self):
        line = re.search(r"^<argLine>.*</argLine>$", self.project.page, re.M).group(0)
        self.project.edit("pom.xml", "<argLine>@{argLine} -Xmx256m</argLine>",
                          line.replace("${project.basedir}", self.work.name))
        self.maven(True, "test")
        self.assertRegex(self.project.post("--report=flat", "--format=csv", f"{self.work.name}/trace.bin"),
                         r"(?m)^.*shop\.Prices\.of\(String\).*$")


if __name__ == "__main__":
    SOURCES, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    reason = missing(BUILD)
    if reason is not None:
        print(f"not verified: {reason}; scripts/setup.sh maven, then build again")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
