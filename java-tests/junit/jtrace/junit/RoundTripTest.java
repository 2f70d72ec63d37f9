package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** A text dump of a trace gives the same CSV reports as the trace itself. */
final class RoundTripTest {
  private static final List<String> REPORTS =
      List.of(
          "tree", "flat", "arcflow", "functions", "modules", "samples", "paths", "threads",
          "callees --of=JavaMain", "callers --of=JavaMain", "tree --merge=embed", "tree --merge=none",
          "flat --scope=app");

  private record Program(String name, List<String> jars, List<String> arguments) {}

  private static List<Program> programs() throws IOException {
    Path classes = Files.createTempDirectory("jtrace-ecj");
    return List.of(
        new Program("H2", List.of("h2.jar"), List.of("H2W", "1")),
        new Program(
            "clojure",
            List.of("clojure.jar", "core.specs.alpha.jar", "spec.alpha.jar"),
            List.of("clojure.main", "-e", "(println (reduce + (map #(* % %) (range 200000))))")),
        new Program(
            "ecj",
            List.of("eclipse-jdt-core.jar"),
            List.of(
                "org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-nowarn", "-proc:none", "-d", classes.toString(),
                Setup.CASE_SOURCES.toString())));
  }

  @TestFactory
  Stream<DynamicNode> dumpGivesTheSameReports() throws IOException {
    return programs().stream().map(RoundTripTest::container);
  }

  private static DynamicNode container(Program program) {
    Jvm.Result run =
        new Jvm()
            .agent("mode=merged")
            .classpath(program.jars().toArray(String[]::new))
            .run(program.arguments().toArray(String[]::new));
    assertEquals(0, run.exit(), run.err());
    Path dump = Jvm.temporary("dump", ".jtxt");
    Report.text(run.trace(), "--report=dump", "-o", dump.toString());
    return DynamicContainer.dynamicContainer(
        program.name(),
        REPORTS.stream()
            .map(report -> DynamicTest.dynamicTest(report, () -> compare(run.trace(), dump, report))));
  }

  private static void compare(Path trace, Path dump, String report) {
    List<String> options = new ArrayList<>(List.of("--format=csv"));
    for (String word : ("--report=" + report).split(" ")) options.add(word);
    String[] array = options.toArray(String[]::new);
    String expected = Report.text(trace, array);
    assertTrue(expected.lines().count() >= 1);
    assertEquals(expected, Report.text(dump, array));
  }
}
