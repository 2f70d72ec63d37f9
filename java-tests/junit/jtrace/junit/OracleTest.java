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
 * Real programs with an independent counter: a second agent counts every entry of a method by other
 * means (ASM, an array of atomic counters), in the same run, so that random behaviour of the
 * program is the same for both. Every routine must have exactly the calls of the other side, and
 * both sides must have the same routines.
 *
 * <p>The long form: longer programs, every clock and `record=`.
 */
final class OracleTest {
  private static List<RealProgram> programs() {
    return List.of(
        RealProgram.h2(), RealProgram.clojure(), RealProgram.ecj(), RealProgram.sixteenThreads());
  }

  private static List<String> ways() {
    List<String> ways =
        new ArrayList<>(List.of("record=tree", "record=flat", "record=log", "sites=on"));
    if (!Setup.LONG) return ways;
    for (String clock : List.of("coarse", "tsc", "cpu")) {
      ways.add("record=tree,clock=" + clock);
      ways.add("record=log,clock=" + clock);
    }
    ways.add("record=log,logbudget=1m");
    return ways;
  }

  /** Some programs take long: they run on one JDK only. */
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

  private static String oracle(String commands) {
    return "-javaagent:" + Setup.property("jtrace.counting.agent") + "=" + commands;
  }

  private static String oracle(RealProgram program, Path counts) {
    return oracle("on " + program.prefixes() + "|out " + counts);
  }

  private static void check(RealProgram program, String way) throws IOException {
    Path counts = Jvm.temporary("oracle", ".txt");
    compare(
        program, way, counts,
        program.run(
            "mode=events,include=" + program.include() + "," + way, oracle(program, counts)));
  }

  /** The same with the program's classes from an archive, linked from JDK 24 on. */
  @TestFactory
  Stream<DynamicTest> everyMethodOfAnArchiveHasTheCallsThatTheOtherAgentCounts() {
    RealProgram program = RealProgram.h2OfItsJar();
    boolean linked = Archive.Kind.AOT_CACHE.isThere();
    // A cache needs JVMs with the same modules as the JVM that made it. Archives of older kinds are
    // made without agents.
    Archive archive =
        linked
            ? program.archive(Archive.Kind.AOT_CACHE, oracle("write /dev/null"))
            : program.archive(Archive.Kind.STATIC);
    return Stream.of("record=tree", "record=flat")
        .map(
            way ->
                DynamicTest.dynamicTest(
                    (linked ? "AOT cache, " : "archive, ") + way,
                    () -> {
                      Path counts = Jvm.temporary("oracle", ".txt");
                      // The default scope: all classes except those of the JDK and the other agent.
                      String options = "mode=events,exclude=agents.**;org.objectweb.**," + way;
                      Path log = Jvm.temporary("classes", ".log");
                      // Before jtrace's class-file hook is on, the other agent may change a class.
                      Jvm.Result run =
                          archive
                              .use(true)
                              .agent(options)
                              .afterOtherAgents()
                              .arguments(oracle(program, counts))
                              .arguments("-Xlog:class+load:file=" + log + ":tags")
                              .run(program.arguments().toArray(String[]::new));
                      compare(program, way, counts, run);
                      assertEquals(
                          linked,
                          Archive.shared(log).stream().anyMatch(it -> it.startsWith("org.h2.")));
                    }));
  }

  private static void compare(RealProgram program, String way, Path counts, Jvm.Result run)
      throws IOException {
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
