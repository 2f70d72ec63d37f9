"""Programs that end within seconds, from Debian's packages, for warmup.py."""

import functools
import glob
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JARS = "/usr/share/java"
HEADLESS = "-Djava.awt.headless=true"


def jars(*names):
    return [f"{JARS}/{name}.jar" for name in names]


class Program:
    """One whose class path is in `needs`, files of Debian's `package`."""

    def __init__(self, name, package, needs, arguments, prepare=None, status=0):
        """`arguments`: after the class path; `prepare`: gets the folder that it runs in."""
        self.name, self.package, self.needs, self.status = name, package, needs, status
        self.arguments, self.prepare = arguments, prepare

    def absent(self):
        """What the program lacks, or None."""
        missing = [path for path in self.needs if not os.path.exists(path)]
        return f"{missing[0]} (package {self.package})" if missing else None

    def command(self, java, folder):
        extra = self.prepare(java, folder) if self.prepare else []
        return [java, HEADLESS, "-cp", ":".join(self.needs + extra), *self.arguments]


def write_diagram(_, folder):
    """Twenty messages between five participants, three times: PlantUML needs no Graphviz for it."""
    for number in range(3):
        with open(f"{folder}/d{number}.puml", "w", encoding="utf-8") as file:
            file.write("@startuml\n")
            file.writelines(f"P{i % 5} -> P{(i * 3 + 1) % 5} : message {i}\n" for i in range(20))
            file.write("@enduml\n")
    return []


def write_document(_, folder):
    """About forty pages of text with a table each."""
    paragraph = "A calling-context tree has a node for each path of calls that a program took. " * 8
    row = "".join(f"<fo:table-cell><fo:block>cell {i}</fo:block></fo:table-cell>" for i in range(4))
    table = f"<fo:table><fo:table-body>{f'<fo:table-row>{row}</fo:table-row>' * 5}</fo:table-body></fo:table>"
    body = f"<fo:block space-after='6pt'>{paragraph}</fo:block>{table}" * 80
    with open(f"{folder}/d.fo", "w", encoding="utf-8") as file:
        file.write('<fo:root xmlns:fo="http://www.w3.org/1999/XSL/Format"><fo:layout-master-set>'
                   '<fo:simple-page-master master-name="a" page-height="29.7cm" page-width="21cm" margin="2cm">'
                   "<fo:region-body/></fo:simple-page-master></fo:layout-master-set>"
                   '<fo:page-sequence master-reference="a"><fo:flow flow-name="xsl-region-body">'
                   f"{body}</fo:flow></fo:page-sequence></fo:root>")
    return []


def write_project(_, folder):
    with open(f"{folder}/pom.xml", "w", encoding="utf-8") as file:
        file.write("<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>b</artifactId>"
                   "<version>1</version><packaging>pom</packaging></project>")
    return []


def compiled(java, path, folder):
    """Compiles the sources in a temporary folder, which is returned and lives as long as the caller keeps it."""
    subprocess.run([f"{os.path.dirname(java)}/javac", "-cp", ":".join(path), "-d", folder.name,
                    *glob.glob(f"{folder.name}/*.java")], check=True)
    return folder


@functools.cache
def tomcat_classes(java):
    """A program that starts a Tomcat with JSP support and an empty application, and stops it."""
    folder = tempfile.TemporaryDirectory()
    with open(f"{folder.name}/Starts.java", "w", encoding="utf-8") as file:
        file.write("import org.apache.catalina.startup.Tomcat;\nclass Starts { public static void main(String[] a)"
                   " throws Exception { var t = new Tomcat(); t.setPort(0); t.setBaseDir(\".\");"
                   " t.addWebapp(\"\", new java.io.File(\".\").getAbsolutePath()); t.getConnector(); t.start();"
                   " t.stop(); t.destroy(); } }\n")
    return compiled(java, TOMCAT, folder)


@functools.cache
def test_classes(java):
    """A folder with a hundred compiled JUnit classes of five tests each."""
    folder = tempfile.TemporaryDirectory()
    for number in range(100):
        tests = "".join(
            f"@Test void t{i}() {{ var m = new TreeMap<Integer, String>(); for (int k = 0; k < 50; k++)"
            f' m.put(k * {number + i + 1} % 37, "v" + k); assertEquals(37, m.size() + 37 - m.size()); }}\n'
            for i in range(5))
        with open(f"{folder.name}/T{number}Test.java", "w", encoding="utf-8") as file:
            file.write("import org.junit.jupiter.api.Test; import static org.junit.jupiter.api.Assertions.*;"
                       f"import java.util.*;\nclass T{number}Test {{ {tests} }}\n")
    return compiled(java, JUNIT, folder)


JUNIT = jars("junit-jupiter-api", "junit-jupiter-engine", "junit-platform-commons", "junit-platform-console",
             "junit-platform-engine", "junit-platform-launcher", "junit-platform-reporting", "opentest4j",
             "apiguardian-api", "picocli", "univocity-parsers")
TOMCAT = jars(*(f"tomcat9-{part}" for part in (
    "annotations-api", "api", "catalina", "coyote", "el-api", "jasper", "jasper-el", "jaspic-api", "jni", "jsp-api",
    "juli", "servlet-api", "util", "util-scan", "websocket", "websocket-api")))

PROGRAMS = {program.name: program for program in (
    Program("clojure", "clojure", jars("clojure", "spec.alpha", "core.specs.alpha"),
            ["clojure.main", "-e", '(println "hello")']),
    Program("plantuml", "plantuml", ["/usr/share/plantuml/plantuml.jar"],
            ["net.sourceforge.plantuml.Run", "d0.puml", "d1.puml", "d2.puml"], write_diagram),
    Program("fop", "libfop-java", jars("fop", "batik-all", "commons-io", "commons-logging", "fontbox2", "serializer",
                                       "xalan2", "xercesImpl", "xml-apis", "xml-apis-ext", "xmlgraphics-commons"),
            ["org.apache.fop.cli.Main", "-q", "-fo", "d.fo", "-pdf", "d.pdf"], write_document),
    Program("ecj", "ecj", jars("eclipse-jdt-core", "h2", "clojure"),
            ["org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-proc:none", "-nowarn", "-proceedOnError", "-d", "out",
             f"{ROOT}/java-tests/workloads", f"{ROOT}/java-tests/cases"]),
    Program("maven", "maven", ["/usr/share/maven/boot/plexus-classworlds-2.x.jar"],
            ["-Dclassworlds.conf=/usr/share/maven/bin/m2.conf", "-Dmaven.home=/usr/share/maven",
             "-Dmaven.multiModuleProjectDirectory=.", "org.codehaus.plexus.classworlds.launcher.Launcher", "-o", "-q",
             "validate"], write_project),
    Program("h2", "libh2-java", [f"{ROOT}/build/java-tests/classes", *jars("h2")], ["H2W", "8"]),
    Program("tomcat", "libtomcat9-java", TOMCAT, ["Starts"], lambda java, _: [tomcat_classes(java).name]),
    Program("junit", "junit5", JUNIT,
            ["org.junit.platform.console.ConsoleLauncher", "--scan-classpath", "--details=none",
             "--disable-banner"], lambda java, _: [test_classes(java).name]),
)}
