"""The places of the products, the Java test programs and the JDKs."""
import os
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]
JARS = pathlib.Path("/usr/share/java")
LEAST_JDK = 17


class Build:
    """A build folder, and the parts of it that are used."""

    def __init__(self, folder):
        self.folder = folder = pathlib.Path(folder).resolve()
        self.agent = folder / "lib/libjtrace.so"
        self.post = folder / "bin/jtrace-post"
        self.command = folder / "bin/jtrace"
        self.classes = folder / "java-tests/classes"
        self.other_agent = folder / "java-tests/agents/counting.jar"

    def missing(self):
        parts = (self.agent, self.post, self.command, self.classes, self.other_agent)
        return [part for part in parts if not part.exists()]


class Jdk:
    """`home` has bin/java; `major` is the feature release."""

    def __init__(self, home):
        self.home = pathlib.Path(home).resolve()
        text = (self.home / "release").read_text()
        self.major = int(re.search(r'JAVA_VERSION="(\d+)', text).group(1))

    @property
    def java(self):
        return str(self.home / "bin/java")


def find_jdks():
    """One JDK of each feature release from 17 on, the oldest first."""
    homes = sorted(pathlib.Path("/usr/lib/jvm").glob("*"))
    if os.environ.get("JAVA_HOME"):
        homes.insert(0, pathlib.Path(os.environ["JAVA_HOME"]))
    found = {}
    for home in homes:
        if not (home / "release").is_file() or not os.access(home / "bin/java", os.X_OK):
            continue
        jdk = Jdk(home)
        if jdk.major >= LEAST_JDK:
            found.setdefault(jdk.major, jdk)
    return [found[major] for major in sorted(found)]
