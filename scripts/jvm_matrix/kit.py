"""What runs need inside a root: the release, the programs, the counting agent."""
import pathlib
import shutil
import subprocess
import tarfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
JARS = pathlib.Path("/usr/share/java")
# Of Debian packages (scripts/setup.sh): the programs' and those of the counting agent.
NAMES = ("h2.jar", "clojure.jar", "core.specs.alpha.jar", "spec.alpha.jar", "eclipse-jdt-core.jar")
OF_AGENT = ("asm.jar", "asm-commons.jar", "asm-tree.jar", "asm-analysis.jar")
FOLDER = pathlib.Path("/opt/jtrace-matrix")

SHELL = ("create table t(id int primary key, c int, note varchar);"
         " insert into t select x, mod(x, 97), 'note ' || x from system_range(1, 2000);"
         " create index i on t(c); select a.c, count(*), max(b.note) from t a join t b on a.id = b.c"
         " where a.id > 20 group by a.c order by 2 desc, 1")


class Kit:
    """`inside`: where it is for the JVM; `outside`: for this process."""

    def __init__(self, jvm, release, build):
        self.jvm = jvm
        self.root = SOURCE / "build/roots" / jvm.root if jvm.root else None
        self.inside = FOLDER if jvm.root else SOURCE / "build/jvms/kit"
        self.outside = pathlib.Path(f"{self.root}{FOLDER}") if jvm.root else self.inside
        self._fill(release, build)

    def _fill(self, release, build):
        shutil.rmtree(self.outside, ignore_errors=True)
        self.outside.mkdir(parents=True)
        with tarfile.open(release) as archive:
            archive.extractall(self.outside)
        next(self.outside.glob("jtrace-*")).rename(self.outside / "jtrace")
        for name in NAMES:
            shutil.copy(JARS / name, self.outside)
        shutil.copy(build / "java-tests/agents/counting.jar", self.outside)
        if self.root:  # where the manifest of counting.jar expects them
            (self.root / "usr/share/java").mkdir(parents=True, exist_ok=True)
            for name in OF_AGENT:
                shutil.copy(JARS / name, self.root / "usr/share/java")
        sources = SOURCE / "java-tests/workloads"
        for name in ("H2Work.java", "Fib.java", "CallPaths.java", "sequences.clj"):
            shutil.copy(sources / name, self.outside)
        jdk = pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64/bin")
        classes = self.outside / "classes"
        subprocess.run([jdk / "javac", "--release", "11", "-d", classes, sources / "H2W.java",
                        sources / "JdkCalls.java"], check=True)
        # Archives of classes take none of a folder.
        subprocess.run([jdk / "jar", "--create", "--file", self.outside / "h2w.jar", "-C", classes, "."], check=True)

    def command(self, words):
        """The command that runs `words` where the JVM is."""
        if not self.root:
            return [str(word) for word in words]
        return [str(SOURCE / "scripts/roots.sh"), "run", self.jvm.root, *map(str, words)]

    def program(self, name, short):
        """Scope for both agents, and the arguments of java."""
        at = self.inside
        if name == "h2":
            arguments = (["org.h2.tools.Shell", "-url", "jdbc:h2:mem:oracle", "-sql", SHELL] if short
                         else ["H2W", "1"])
            return "org/h2/", ["-cp", f"{at}/h2.jar:{at}/h2w.jar", *arguments]
        if name == "clojure":
            jars = ":".join(f"{at}/{jar}" for jar in NAMES[1:4])
            script = ["-e", "(println (reduce + (map inc (range 9999))))"] if short else [f"{at}/sequences.clj", "1"]
            return "clojure/", ["-cp", jars, "clojure.main", *script]
        sources = [f"{at}/{file}" for file in ("H2Work.java", "Fib.java", "CallPaths.java")]
        return "org/eclipse/jdt/", ["-cp", f"{at}/eclipse-jdt-core.jar",
                                    "org.eclipse.jdt.internal.compiler.batch.Main", "-11", "-nowarn", "-proc:none",
                                    "-d", "none", *sources]
