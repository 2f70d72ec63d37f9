package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Inline functions of Kotlin count where they were written (JSR 45). */
final class KotlinLinesTest {
  private static final Path SOURCES = Setup.SOURCE.resolve("java-tests/kotlin");
  private static final Path KOTLINC = Path.of("/usr/bin/kotlinc");

  /** The compiled programs with Kotlin's library. */
  private static Path compile() throws Exception {
    Assumptions.assumeTrue(Files.exists(KOTLINC), "not verified: kotlinc (package kotlin) is not installed");
    Path jar = Jvm.temporary("kotlin", ".jar");
    Process compiler =
        new ProcessBuilder(
                KOTLINC.toString(), "-include-runtime", "-d", jar.toString(),
                SOURCES.resolve("Util.kt").toString(), SOURCES.resolve("Main.kt").toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(compiler.getInputStream().readAllBytes());
    assertEquals(0, compiler.waitFor(), said);
    return jar;
  }

  /** File and line → executions; the greatest of several methods. */
  private static Map<String, Long> executions(Report lines) {
    Map<String, Long> counts = new TreeMap<>();
    for (Map<String, String> row : lines.rows()) {
      counts.merge(
          row.get("file") + ":" + row.get("line"), Long.parseLong(row.get("executions")), Math::max);
    }
    return counts;
  }

  @Test
  void inlinedLinesAreThoseOfTheirFunctions() throws Exception {
    Path jar = compile();
    Jvm.Result run =
        new Jvm()
            .agent("mode=events,blocks=on,include=app.**")
            .classpathOf(jar)
            .run("app.MainKt");
    assertEquals(0, run.exit(), run.err());
    Map<String, Long> counts = executions(run.report("--report=lines"));
    // repeatTimes(10): its loop, whose condition is checked once more.
    assertEquals(11, counts.get("app/Util.kt:5"));
    assertEquals(10, counts.get("app/Util.kt:6"));
    assertEquals(10, counts.get("app/Util.kt:7"));
    // Box.update: ten times in the loop, and once in each copy of twice's argument. (Kotlin 2 gives
    // both copies the same line numbers: there they are one line, counted once.)
    assertEquals(12, counts.get("app/Util.kt:13"));
    assertEquals(10, counts.get("app/Main.kt:11"));
    assertEquals(0, counts.get("app/Main.kt:16"));
    // Nothing is beyond the end of a file.
    for (String place : counts.keySet()) {
      List<String> lines =
          Files.readAllLines(SOURCES.resolve(place.replaceAll(".*/|:.*", "")));
      assertTrue(Integer.parseInt(place.replaceAll(".*:", "")) <= lines.size(), place);
    }
    // The sources are not in a folder of their package.
    String listing = Report.text(run.trace(), "--report=source", "--source=" + SOURCES, "--width=0");
    assertTrue(
        listing.matches("(?s).*\n +11 +[0-9.]+ % \\+    5    while \\(i < n\\) \\{  2/2\n.*"), listing);
    assertTrue(listing.contains("never called; inlined elsewhere"), listing);
  }
}
