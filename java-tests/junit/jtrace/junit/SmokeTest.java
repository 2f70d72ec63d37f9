package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.api.TestFactory;

/**
 * The minimum that must work on a JDK: the default tests run this class on JDKs other than the
 * build's. All other classes run there in the tier of the JDKs.
 */
final class SmokeTest {
  @TestFactory
  Stream<DynamicTest> countsAreExact() {
    return Stream.of("mode=merged", "mode=events,record=flat", "mode=merged,record=log,clock=tsc")
        .map(options -> DynamicTest.dynamicTest(options, () -> checkCounts(options)));
  }

  private static void checkCounts(String options) {
    Jvm.Result run =
        new Jvm()
            .agent(options)
            .run(
                "InTurn", "cases.Recursion", "cases.ControlFlow", "cases.EightThreads",
                "cases.ThrowingConstructors", "cases.ThrowingTasks");
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    Expectations.check(run);
  }

  /** A real program: its samples are complete and have the names of their Java frames. */
  @ParameterizedTest
  @EnumSource(Timer.class)
  void samplesOfADatabaseAreWhole(Timer timer) {
    Jvm.Result run = RealProgram.h2().run(timer, "mode=merged,interval=1ms");
    assertEquals(0, run.exit(), run.err());
    List<Map<String, String>> samples = run.report("--report=samples").rows();
    long all = 0;
    long bad = 0;
    for (Map<String, String> row : samples) {
      long weight = Long.parseLong(row.get("weight"));
      all += weight;
      String outermost = row.get("stack").split(" > ")[0];
      boolean cut = outermost.startsWith("[") && !outermost.startsWith("[unknown");
      if (cut || row.get("stack").contains("[unknown_java")) bad += weight;
    }
    assertTrue(all > 100, all + " samples");
    assertTrue(bad * 50 <= all, bad + " of " + all + " samples are cut or have nameless Java frames");
  }

  @Test
  void attachesToARunningProgram() {
    try (LiveJvm jvm = new LiveJvm()) {
      AttachTest.checkWindow(jvm, "window.bin", 1234);
      assertEquals(0, jvm.end());
    }
  }
}
