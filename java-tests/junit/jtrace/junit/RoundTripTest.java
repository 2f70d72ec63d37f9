package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

  @TestFactory
  Stream<DynamicNode> dumpGivesTheSameReports() {
    Stream<RealProgram> programs = Stream.of(RealProgram.h2(), RealProgram.ecj());
    if (Setup.LONG) programs = Stream.concat(programs, Stream.of(RealProgram.clojure()));
    return programs.map(RoundTripTest::container);
  }

  private static DynamicNode container(RealProgram program) {
    Jvm.Result run = program.run("mode=merged");
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
