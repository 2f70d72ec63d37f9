"""Programs with the same output in each run: of Debian packages, of java-tests, of the JDK."""
import dataclasses
import hashlib
import re

from .places import JARS, SOURCE

QUERIES = (
    "create table t(id int primary key, c int, note varchar);"
    " insert into t select x, mod(x, 97), 'note ' || x from system_range(1, 2000);"
    " create index i on t(c);"
    " select a.c, count(*), max(b.note) from t a join t b on a.id = b.c"
    " where a.id > 20 group by a.c order by 2 desc, 1")
CASES = ("ControlFlow", "DeepRecursion", "EightThreads", "LeafCallback", "Recursion",
         "ThrowingConstructors", "ThrowingTasks")
MILLISECONDS = r"\b\d+ ms\b"
NUMBERS = r"\d+"


@dataclasses.dataclass(frozen=True)
class Program:
    """`scope`: include= of jtrace, `{jdk}` in it: one of JDK_SCOPES; `counted`: the same as prefixes for the other agent, empty if that
    one cannot count it; `arcs`: the other agent also counts callers; `varies`: the parts of the
    output that may differ; `exit`: its own exit code; `long`: it runs for seconds; `heavy`: too much
    for an interpreter; `makes`: its arguments name {out}, a folder that it fills with class files;
    `writes_counts`: the other agent sees it end; `fills_heap`: threads of another agent would run out
    of memory before it does; `closes_itself`: a shutdown hook ends threads that still run, which then
    fail; `weight`: how often it is chosen."""
    name: str
    arguments: tuple
    scope: str
    counted: str = ""
    jars: tuple = ()
    arcs: bool = False
    varies: str = ""
    exit: int = 0
    long: bool = False
    heavy: bool = False
    makes: bool = False
    least_jdk: int = 17
    most_counted_jdk: int = 99
    writes_counts: bool = True
    fills_heap: bool = False
    closes_itself: bool = False
    weight: float = 1

    def command(self, build, out):
        """The command line after the JVM's own options."""
        path = [str(build.classes)] + [str(JARS / jar) for jar in self.jars]
        arguments = []
        for word in self.arguments:
            if word == "{cases}":
                arguments += [str(f) for f in sorted((SOURCE / "java-tests/cases/cases").glob("*.java"))]
            else:
                arguments.append(word.replace("{out}", str(out)).replace("{source}", str(SOURCE)))
        return ["-cp", ":".join(path)] + arguments

    def is_here(self, jdk):
        return jdk.major >= self.least_jdk and all((JARS / jar).exists() for jar in self.jars)

    def can_count(self, jdk):
        return bool(self.counted) and jdk.major <= self.most_counted_jdk

    def output(self, text, out):
        """The output without the parts that vary, and with a digest of the files made in `out`."""
        if self.varies:
            text = re.sub(self.varies, "N", text)
        if self.makes and out:
            digest = hashlib.sha256()
            for made in sorted(out.rglob("*.class")):
                digest.update(made.relative_to(out).as_posix().encode() + made.read_bytes())
            text += f"made {digest.hexdigest()}\n"
        return text


def of_workloads(name, *arguments, scope, **more):
    return Program(name, arguments, scope, **more)


PROGRAMS = (
    Program("h2", ("org.h2.tools.Shell", "-url", "jdbc:h2:mem:oracle", "-sql", QUERIES), "org.h2.**",
            "org/h2/", ("h2.jar",), varies=MILLISECONDS, heavy=True, long=True, closes_itself=True),
    Program("h2w", ("H2W", "1"), "org.h2.**;H2W", "org/h2/ H2W", ("h2.jar",), varies=MILLISECONDS,
            heavy=True, long=True, closes_itself=True, weight=0.1),
    Program("clojure", ("clojure.main", "{source}/java-tests/workloads/sequences.clj", "1"),
            "clojure.**", "clojure/", ("clojure.jar", "core.specs.alpha.jar", "spec.alpha.jar"),
            varies=r"[\d.]+", heavy=True, long=True),  # it prints its times
    Program("ecj", ("org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-nowarn", "-proc:none",
                    "-d", "{out}", "{source}/java-tests/cases/cases"),
            "org.eclipse.jdt.**", "org/eclipse/jdt/", ("eclipse-jdt-core.jar",), heavy=True, long=True,
            makes=True),
    # ASM of Debian reads class files up to those of Java 20.
    Program("javac", ("-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-d", "{out}",
                      "{cases}"),
            "com.sun.tools.javac.**", "com/sun/tools/javac/", heavy=True, long=True, makes=True,
            most_counted_jdk=20),
    of_workloads("sixteen", "SixteenThreads", "400", scope="SixteenThreads*;CallPaths*",
                 counted="SixteenThreads CallPaths", long=True),
    of_workloads("ways", "ManyWays", "1000", scope="ManyWays*", counted="ManyWays", arcs=True, long=True),
    of_workloads("short", "ShortThreads", "2000", scope="ShortThreads", counted="ShortThreads", long=True),
    of_workloads("together", "ShortThreads", "500", "together", scope="ShortThreads",
                 counted="ShortThreads"),
    of_workloads("generated", "GeneratedPaths", "1500", "600", scope="Generated*", long=True, heavy=True),
    of_workloads("oom", "Ends", "oom", scope="Ends*", heavy=True, varies=NUMBERS, fills_heap=True),
    of_workloads("throw", "Exits", "throw", scope="Exits", counted="Exits", exit=1),
    of_workloads("exit", "Exits", "exit", scope="Exits", counted="Exits", exit=7),
    of_workloads("halt", "Exits", "halt", scope="Exits", counted="Exits", exit=8, writes_counts=False),
    of_workloads("processes", "ThreadsAndProcesses", scope="ThreadsAndProcesses*",
                 counted="ThreadsAndProcesses"),
    of_workloads("events", "Events", scope="Events*", counted="Events", long=True),
    of_workloads("boundary", "Boundary", scope="Boundary*", counted="Boundary"),
    of_workloads("virtual", "VirtualBatches", "10", "300", "20", scope="VirtualBatches*",
                 counted="VirtualBatches", least_jdk=21),
    of_workloads("yields", "VirtualYields", "400", "50", scope="VirtualYields*;{jdk}", least_jdk=21, long=True),
    Program("cases", ("InTurn",) + tuple("cases." + case for case in CASES), "cases.**;InTurn",
            "cases/ InTurn", long=True),
    Program("overflow", ("InTurn", "cases.StackOverflows"), "cases.**;InTurn", varies=NUMBERS),
)
