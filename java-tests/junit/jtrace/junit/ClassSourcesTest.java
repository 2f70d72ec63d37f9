package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where classes come from: their folder or jar, the JDK's module, or nothing of the boot loader's. */
final class ClassSourcesTest {
  private static Map<String, String> sources(Jvm.Result run) {
    List<Map<String, String>> rows = run.report("--report=classes").rows();
    return rows.stream()
        .filter(row -> !row.get("loads").equals("0"))
        .collect(Collectors.toMap(row -> row.get("name"), row -> row.get("source")));
  }

  @Test
  void ofAFolderAndOfTheBootLoader() {
    Jvm.Result run = new Jvm().agent("mode=merged").run("Fib", "10", "1");
    Map<String, String> sources = sources(run);
    assertEquals(Path.of(System.getProperty("jtrace.cases")) + "/", sources.get("Fib"));
    assertEquals("", sources.get("java.lang.String"));
  }

  @Test
  void ofAJarWithoutProbes() throws IOException {
    Path jar = Path.of("/usr/share/java/h2.jar");
    Jvm.Result run =
        new Jvm().agent("include=Fib*").classpath("h2.jar").run("org.h2.tools.Shell", "-help");
    Map<String, String> sources = sources(run);
    assertEquals(jar.toRealPath().toString(), sources.get("org.h2.tools.Shell"));
  }

  /** URLs have %20 for a blank; people have blanks. */
  @Test
  void ofAJarWhoseNameUrlsEncode(@TempDir Path folder) throws IOException {
    Path jar = Files.copy(Path.of("/usr/share/java/h2.jar"), folder.resolve("my h2+%.jar"));
    Jvm.Result run =
        new Jvm().agent("include=Fib*").classpathOf(jar).run("org.h2.tools.Shell", "-help");
    Map<String, String> sources = sources(run);
    assertEquals(jar.toRealPath().toString(), sources.get("org.h2.tools.Shell"));
  }
}
