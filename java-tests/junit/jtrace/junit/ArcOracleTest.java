package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * A program that calls and leaves methods in all ways, with an independent recorder of arcs in the
 * same run: the counting agent keeps a stack of each thread's open calls. In trees and in logs
 * every caller must have called every callee exactly as often as that agent counted.
 *
 * <p>The long form: more rounds, every clock, both orders of the agents, interpreted and C1 code.
 */
final class ArcOracleTest {
  private static final List<String> WAYS =
      List.of("record=tree", "record=log,memory=32m", "record=log,clock=tsc,memory=32m");

  @TestFactory
  Stream<DynamicTest> everyCallerHasTheCallsThatTheOtherAgentCounts() {
    List<DynamicTest> tests = new ArrayList<>();
    for (String way : WAYS) tests.add(test(way, false, List.of()));
    if (!Setup.LONG) return tests.stream();
    for (String way : WAYS) tests.add(test(way, true, List.of()));
    for (String clock : List.of("coarse", "tsc", "cpu")) {
      tests.add(test("record=tree,clock=" + clock, false, List.of()));
      tests.add(test("record=log,memory=32m,clock=" + clock, false, List.of()));
    }
    for (String compiler : List.of("-Xint", "-XX:TieredStopAtLevel=1")) {
      tests.add(test("record=log,clock=tsc", false, List.of(compiler)));
    }
    return tests.stream();
  }

  private static DynamicTest test(String way, boolean otherFirst, List<String> jvmArguments) {
    String name = way + (otherFirst ? ", the other agent first " : " ") + String.join(" ", jvmArguments);
    return DynamicTest.dynamicTest(name, () -> check(way, otherFirst, jvmArguments));
  }

  private static void check(String way, boolean otherFirst, List<String> jvmArguments)
      throws IOException {
    Path counts = Jvm.temporary("arcs", ".txt");
    String other =
        "-javaagent:" + Setup.property("jtrace.counting.agent") + "=arcs ManyWays|out " + counts;
    Jvm jvm = new Jvm().agent("mode=events,include=ManyWays*," + way);
    jvm = otherFirst ? jvm.argumentsBeforeAgent(other) : jvm.arguments(other);
    Jvm.Result run =
        jvm.arguments(jvmArguments.toArray(String[]::new))
            .run("ManyWays", Setup.LONG ? "2000" : "200");
    assertEquals(0, run.exit(), run.err());
    Map<String, Long> theirs = OtherCounts.arcs(counts);
    assertTrue(theirs.size() > 100, theirs.size() + " arcs");
    assertEquals(
        List.of(),
        Expectations.differences(theirs, OtherCounts.ofArcFlow(run.report("--report=arcflow"))));
    Files.delete(run.trace());
  }
}
