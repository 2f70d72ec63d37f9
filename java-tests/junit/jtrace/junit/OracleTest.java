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
 * Real programs under an independent counter: another agent adds one at every entry of a method, by
 * other means (ASM, an array of atomic counters), in the same run, so that what the program does at
 * random is the same for both. Every routine has to have exactly the calls that the other one has,
 * and neither may have one that the other has not.
 *
 * <p>The long form: longer programs, every clock and way to record.
 */
final class OracleTest {
  private static List<RealProgram> programs() {
    return List.of(
        RealProgram.h2(), RealProgram.clojure(), RealProgram.ecj(), RealProgram.sixteenThreads());
  }

  private static List<String> ways() {
    List<String> ways = new ArrayList<>(List.of("record=tree", "record=flat", "record=log"));
    if (!Setup.LONG) return ways;
    for (String clock : List.of("coarse", "tsc", "cpu")) {
      ways.add("record=tree,clock=" + clock);
      ways.add("record=log,clock=" + clock);
    }
    ways.add("record=log,logbudget=1m");
    return ways;
  }

  /** Some take their time: on one JDK only. */
  private static boolean isFor(RealProgram program) {
    return switch (program.name()) {
      case "Clojure" -> Setup.LONG || Setup.JDK_MAJOR >= 25;
      case "ecj" -> Setup.LONG || Setup.JDK_MAJOR < 25;
      default -> true;
    };
  }

  @TestFactory
  Stream<DynamicTest> everyMethodHasTheCallsThatTheOtherAgentCounts() throws IOException {
    return programs().stream()
        .filter(OracleTest::isFor)
        .flatMap(
            program ->
                ways().stream()
                    .map(
                        way ->
                            DynamicTest.dynamicTest(
                                program.name() + ", " + way, () -> check(program, way))));
  }

  private static void check(RealProgram program, String way) throws IOException {
    Path counts = Jvm.temporary("oracle", ".txt");
    Jvm.Result run =
        program.run(
            "mode=events,include=" + program.include() + "," + way,
            "-javaagent:" + Setup.property("jtrace.counting.agent") + "=on " + program.prefixes()
                + "|out " + counts);
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    Map<String, Long> theirs = OtherCounts.methods(counts);
    Map<String, Long> ours = OtherCounts.ofFlat(run.report("--report=flat"));
    assertTrue(theirs.size() >= program.leastMethods(), theirs.size() + " methods");
    assertEquals(List.of(), Expectations.differences(theirs, ours));
    if (Setup.LONG) {
      System.out.printf(
          "JDK %d, %s, %s: %,d calls of %,d methods agree%n", Setup.JDK_MAJOR, program.name(), way,
          theirs.values().stream().mapToLong(calls -> calls).sum(), theirs.size());
    }
    Files.delete(run.trace());
  }
}
