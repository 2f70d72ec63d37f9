"""Programs that run for about a second: of this project's tests, and of Debian's packages. What is not there is left
out."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "programs"))
import programs  # noqa: E402

JARS = pathlib.Path("/usr/share/java")
SUMS = "(println (count (distinct (map #(mod (* % %) 997) (range 3000)))))"
SCRIPT = "var t = {}; for (var i = 0; i < 20000; i++) { t['k' + i % 97] = i; } print(Object.keys(t).length)"


class Fop(programs.Fop):
    ITEMS = 100


class Tomcat(programs.Tomcat):
    REQUESTS = 10


class Simple:
    """`needs`: the class path; `arguments` of the JVM after it."""

    def __init__(self, needs, *arguments):
        self.needs, self.arguments = needs, arguments

    def missing(self):
        return next((f"there is no {file}" for file in self.needs if not pathlib.Path(file).exists()), None)

    def run(self, java):
        import subprocess
        subprocess.run([*java, "-cp", ":".join(map(str, self.needs)), *map(str, self.arguments)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)


def all_programs(work, build, javac):
    """service: a program that is ready to run."""
    source = work / "Small.java"
    source.write_text("class Small {\n" + "".join(
        f"  int f{i}(int a) {{ return a > {i} ? f{max(i - 1, 0)}(a - 1) : {i}; }}\n" for i in range(200)) + "}\n")
    classes = build / "java-tests/classes"
    found = {
        "recursion": Simple([classes], "cases.Recursion"),
        "h2": Simple([classes, JARS / "h2.jar"], "H2Work", "1"),
        "ecj": Simple([JARS / "eclipse-jdt-core.jar"], "org.eclipse.jdt.internal.compiler.batch.Main", "-17",
                      "-proc:none", "-d", work / "compiled", source),
        "clojure": Simple([JARS / f"{name}.jar" for name in ("clojure", "spec.alpha", "core.specs.alpha")],
                          "clojure.main", "-e", SUMS),
        "rhino": Simple([JARS / "js.jar"], "org.mozilla.javascript.tools.shell.Main", "-e", SCRIPT),
    }
    for service, kind in (("fop", Fop), ("tomcat", Tomcat)):
        folder = work / service
        folder.mkdir()
        found[service] = kind(folder, javac)
        if found[service].missing() is None:
            found[service].prepare()
    return {service: program for service, program in found.items() if program.missing() is None}
