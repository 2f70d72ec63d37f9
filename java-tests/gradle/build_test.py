#!/usr/bin/env python3
"""Runs the build file of docs/MAVEN.md, section Gradle, with Debian's Gradle and without network.

usage: build_test.py SOURCES BUILD
Debian's Gradle is 4.4.1, which is older than `useJUnitPlatform` (4.6) and `tasks.register` (4.9): the tests are of
JUnit 4, and the task is declared the old way. All else is the page's.
exit codes: 0 all is as it should be · 1 something is not · 77 not verified: there is no Gradle or no JUnit 4
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
JUNIT = [pathlib.Path("/usr/share/java") / name for name in ("junit4.jar", "hamcrest-core.jar")]
MAIN = "package shop;\npublic class Cart {\n  public static int sum(int n) {\n    int sum = 0;\n" \
       "    for (int i = 0; i < n; i++) sum += price(i);\n    return sum;\n  }\n" \
       "  static int price(int item) { return item; }\n}\n"
TEST = "package shop;\npublic class CartTest {\n  @org.junit.Test public void sums() {\n" \
       "    org.junit.Assert.assertEquals(45, Cart.sum(10));\n  }\n}\n"
CHANGES = [("  useJUnitPlatform()\n", ""), ("tasks.register('jtraceCheck', Exec)", "task jtraceCheck(type: Exec)")]


def build_file(sources, build, repository):
    page = (sources / "docs/MAVEN.md").read_text()
    text = re.search(r"^## Gradle\n.*?```groovy\n(.*?)```", page, re.M | re.S).group(1)
    junit = ", ".join(f"'{jar}'" for jar in JUNIT)
    for old, new in [*CHANGES, ("file:///opt/jtrace/maven", f"file://{repository}"), ("/opt/jtrace", str(build)),
                     ("dependencies {\n", f"dependencies {{\n  testImplementation files({junit})\n")]:
        assert old in text, f"the page has no {old}"
        text = text.replace(old, new)
    # The page's project has JUnit Jupiter; here its jars come from Debian's repository.
    return "apply plugin: 'java'\n" + text + "repositories { maven { url 'file:///usr/share/maven-repo' } }\n"


class Project:
    def __init__(self, sources, build, work):
        self.folder = work / "shop"
        self.home = work / "home"
        subprocess.run([sources / "scripts/release/jars.sh", "0.1.0", build / "jar", work / "maven"], check=True,
                       stdout=subprocess.DEVNULL)
        self.write("build.gradle", build_file(sources, build, work / "maven"))
        self.write("src/main/java/shop/Cart.java", MAIN)
        self.write("src/test/java/shop/CartTest.java", TEST)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def gradle(self, expected, task):
        done = subprocess.run(["gradle", "--offline", "--no-daemon", "-g", self.home, task], cwd=self.folder, text=True,
                              timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert (done.returncode == 0) == expected, done.stdout
        return done.stdout


def main(sources, build):
    if shutil.which("gradle") is None or not all(jar.exists() for jar in JUNIT):
        print("not verified: there is no Gradle or no JUnit 4 (scripts/setup.sh maven)")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="jtrace-gradle-") as name:
        project = Project(sources, build, pathlib.Path(name))
        assert "wrote" in project.gradle(True, "test")
        baseline = project.folder / "src/test/jtrace/baseline.bin"
        baseline.parent.mkdir(parents=True)
        shutil.copy(project.folder / "build/trace.bin", baseline)
        project.gradle(True, "jtraceCheck")
        project.write("src/main/java/shop/Cart.java", MAIN.replace("sum += price(i)", "if (price(i) >= 0) sum += price(i)"))
        failed = project.gradle(False, "jtraceCheck")
        assert "shop.Cart.price(int)" in failed and "jtraceCheck" in failed, failed
    print("the regression failed the build, with its method")
    return 0


if __name__ == "__main__":
    sys.exit(main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:])))
