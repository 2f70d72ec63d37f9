"""Real programs from Debian's packages: what each needs, how it is run, and what is known to cost most in it.

A program is a class: `needs` are its files, `prepare` makes its input in the folder `work`, and `java` are the
arguments of the JVM. `culprits` must stand in the first screen and before the fold of the page, `sentences` are parts
of findings, `counts` are calls that are known exactly, and
`loads_jar` says that the finding about loaded classes names the jar that the JVM's log names, too.
"""
import pathlib
import re
import shutil
import subprocess

JARS = pathlib.Path("/usr/share/java")
HERE = pathlib.Path(__file__).resolve().parent


def jars(*names):
    return [JARS / f"{name}.jar" for name in names]


def path_of(*places):
    return ":".join(str(place) for place in places)


class Program:
    needs = ()
    culprits = ()
    sentences = ()
    loads_jar = False
    counts = ()
    source = None
    release = "17"

    def __init__(self, work, javac):
        self.work = work
        self.classes = work / "classes"
        self.javac = javac

    def missing(self):
        absent = [str(file) for file in self.needs if not pathlib.Path(file).exists()]
        return f"there is no {absent[0]}" if absent else None

    def compile(self, *more):
        sources = [*sorted((HERE / self.source).glob("**/*.java")), *more]
        subprocess.run([self.javac, "--release", self.release, "-Xlint:-options", "-g", "-cp", path_of(*self.needs),
                        "-d", self.classes, *sources], check=True)

    def prepare(self):
        if self.source:
            self.compile()

    def run(self, java):
        """Runs to the end, and returns what it printed."""
        return subprocess.run([*java, *self.java()], cwd=self.work, text=True, timeout=300, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def java(self):
        raise NotImplementedError


class Tomcat(Program):
    """Ten workers; a servlet compiles a pattern for each of 2,000 items at each request (planted)."""
    REQUESTS = 300
    source = "tomcat"
    needs = jars("tomcat10-embed-core", "tomcat10-annotations-api")
    culprits = ("Catalog.matches", "Pattern.compile")
    sentences = ("shop.Catalog.matches(String,String) runs 2,000 times per shop.Catalog.count(String); ",)
    counts = (("shop.Catalog.matches(String,String)", 2000 * REQUESTS),
              ("shop.SearchServlet.doGet(HttpServletRequest,HttpServletResponse)", REQUESTS))

    def missing(self):
        return super().missing() or (None if shutil.which("ab") else "there is no ab")

    def java(self):
        return ["-cp", path_of(self.classes, *self.needs), "shop.Server", str(self.work / "base")]

    def run(self, java):
        with open(self.work / "log", "w+") as log:
            server = subprocess.Popen([*java, *self.java()], cwd=self.work, text=True, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=log)
            line = server.stdout.readline()
            port = re.fullmatch("port ([0-9]+)\n", line)
            if port is None:
                server.stdin.close()
                server.wait(60)
                raise RuntimeError(f"the server did not start: {(self.work / 'log').read_text()}")
            load = subprocess.run(["ab", "-q", "-c", "10", "-n", str(self.REQUESTS),
                                   f"http://127.0.0.1:{port.group(1)}/search?item"], text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
            server.communicate(timeout=300)
        expected = (rf"Complete requests: +{self.REQUESTS}\n", r"Failed requests: +0\n")
        if server.returncode != 0 or any(not re.search(text, load) for text in expected):
            raise RuntimeError(f"exit code {server.returncode}, {load}")
        return load


class Spring(Program):
    """A context of 100 scanned beans, whose post-processor compiles 2,000 patterns for each bean (planted)."""
    PARTS = 100
    source = "spring"
    release = "8"  # the newest that this Spring's scanner reads
    needs = jars("spring3-context", "spring3-core", "spring3-beans", "spring3-aop", "spring3-expression",
                 "commons-logging")
    culprits = ("Names.fits", "Pattern.compile")
    sentences = ("shop.Names.fits(String,int) runs 2,000 times per"
                 " shop.Names.postProcessBeforeInitialization(Object,String); ", "class loading takes ")

    def prepare(self):
        generated = self.work / "shop"
        generated.mkdir()
        for i in range(self.PARTS):
            (generated / f"Part{i}.java").write_text(
                f"package shop;\n@org.springframework.stereotype.Component final class Part{i} implements Part {{}}\n")
        self.compile(*generated.iterdir())

    def java(self):
        return ["--add-opens", "java.base/java.lang=ALL-UNNAMED", "-cp", path_of(self.classes, *self.needs),
                "shop.Start"]


class Fop(Program):
    """A document of 30,000 days: a method of the style sheet makes a format for each (planted), and Xalan looks for
    each attribute in one of 101 lists, as JFR finds, too."""
    ITEMS = 30_000
    source = "fop"
    needs = jars("fop", "commons-io", "serializer", "xalan2", "xml-apis", "batik-all", "commons-logging", "xercesImpl",
                 "xmlgraphics-commons", "xml-apis-ext", "fontbox2")
    culprits = ("Days.of", "SimpleDateFormat.<init>", "DTMStringPool.stringToIndex")
    sentences = ("shop.Days.of(double) runs 30,000 times",)
    counts = (("shop.Days.of(double)", ITEMS),)

    def prepare(self):
        super().prepare()
        items = "".join(f'<item number="{i}"/>' for i in range(self.ITEMS))
        (self.work / "list.xml").write_text(f"<list>{items}</list>\n")

    def java(self):
        return ["-Djava.awt.headless=true",
                "-Dorg.apache.commons.logging.Log=org.apache.commons.logging.impl.NoOpLog",
                "-cp", path_of(self.classes, *self.needs), "org.apache.fop.cli.Main", "-xml", "list.xml",
                "-xsl", str(HERE / "fop/days.xsl"), "list.pdf"]


class PlantUml(Program):
    """A sequence of 1,200 messages. PlantUML compiles its expressions anew for them; JFR finds the same methods."""
    needs = ("/usr/share/plantuml/plantuml.jar",)
    culprits = ("MyPattern.cmpile", "Pattern.compile", "Matcher2.")
    sentences = ("MyPattern.cmpile(String) runs ",)

    def prepare(self):
        messages = [f"P{i % 30} -> P{(i * 7 + 3) % 30} : message {i} of the sequence" for i in range(1200)]
        (self.work / "sequence.puml").write_text("\n".join(["@startuml", *messages, "@enduml", ""]))

    def java(self):
        return ["-Djava.awt.headless=true", "-jar", self.needs[0], "-tsvg", "sequence.puml"]


class Groovy(Program):
    """A script whose method compiles a pattern at each of 100,000 lines (planted). Groovy calls it by a class that it
    makes, so that the finding must name the caller as well."""
    needs = [pathlib.Path("/usr/share/groovy/lib") / f"{name}.jar"
             for name in ("groovy-2.4.21", "asm", "asm-util", "asm-tree", "asm-analysis", "antlr", "commons-cli")]
    culprits = ("Sales.town", "Pattern.compile")
    sentences = ("all from Sales.town(String); ",)
    counts = (("Sales.town(String)", 100_000),)

    def java(self):
        opens = ("java.base/java.lang=ALL-UNNAMED", "java.base/java.util=ALL-UNNAMED")
        return [*(f"--add-opens={package}" for package in opens), "-cp", path_of(*self.needs), "groovy.ui.GroovyMain",
                str(HERE / "groovy/report.groovy")]


class Maven(Program):
    """`mvn -o compile` of 40 classes: most of the time goes into loading its own classes, as JFR and the JVM's log of
    loaded classes say."""
    HOME = pathlib.Path("/usr/share/maven")
    REPOSITORY = pathlib.Path("/usr/share/maven-repo")
    needs = (HOME / "bin/m2.conf", HOME / "boot/plexus-classworlds-2.x.jar",
             REPOSITORY / "org/apache/maven/plugins/maven-compiler-plugin",
             REPOSITORY / "org/apache/maven/plugins/maven-resources-plugin")
    loads_jar = True
    culprits = ("class loading takes", "ClassRealm.findClassInternal", "JavaxToolsCompiler.compileInProcess")

    def prepare(self):
        (self.work / "pom.xml").write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>shop</artifactId>"
            "<version>1</version><properties><maven.compiler.release>17</maven.compiler.release>"
            "<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>\n")
        sources = self.work / "src/main/java/shop"
        sources.mkdir(parents=True)
        for i in range(40):
            (sources / f"Part{i}.java").write_text(
                f"package shop;\npublic class Part{i} {{ int f() {{ return {i}; }} }}\n")
        subprocess.run(["cp", "-rs", f"{self.REPOSITORY}/.", self.work / "local"], check=True)

    def run(self, java):
        shutil.rmtree(self.work / "target", ignore_errors=True)
        return super().run(java)

    def java(self):
        return ["-cp", str(self.needs[1]), f"-Dclassworlds.conf={self.needs[0]}", f"-Dmaven.home={self.HOME}",
                f"-Dmaven.multiModuleProjectDirectory={self.work}", "org.codehaus.plexus.classworlds.launcher.Launcher",
                "-B", "-o", f"-Dmaven.repo.local={self.work}/local", "compile"]


PROGRAMS = (Tomcat, Spring, Fop, PlantUml, Groovy, Maven)
