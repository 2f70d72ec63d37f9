package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
    Map<String, Long> theirs = theirs(counts);
    Map<String, Long> ours = ours(run.report("--report=flat"));
    assertTrue(theirs.size() >= program.leastMethods(), theirs.size() + " methods");
    assertEquals(List.of(), Expectations.differences(theirs, ours));
    if (Setup.LONG) {
      System.out.printf(
          "JDK %d, %s, %s: %,d calls of %,d methods agree%n", Setup.JDK_MAJOR, program.name(), way,
          theirs.values().stream().mapToLong(calls -> calls).sum(), theirs.size());
    }
    Files.delete(run.trace());
  }

  /** "3 a/B.m([ILjava/util/List;)V" → a.B.m(int[],List) */
  private static Map<String, Long> theirs(Path file) throws IOException {
    Map<String, Long> counts = new TreeMap<>();
    for (String line : Files.readAllLines(file)) {
      int space = line.indexOf(' ');
      int open = line.indexOf('(');
      long calls = Long.parseLong(line.substring(0, space));
      String method = line.substring(space + 1, open).replace('/', '.');
      if (calls != 0) counts.merge(method + parameters(line.substring(open)), calls, Long::sum);
    }
    return counts;
  }

  private static final Map<Character, String> PRIMITIVES = new HashMap<>();

  static {
    String letters = "BCDFIJSZ";
    String[] names = {"byte", "char", "double", "float", "int", "long", "short", "boolean"};
    for (int i = 0; i < names.length; i++) PRIMITIVES.put(letters.charAt(i), names[i]);
  }

  private static String parameters(String descriptor) {
    List<String> types = new ArrayList<>();
    for (int i = 1; descriptor.charAt(i) != ')'; i++) {
      int dimensions = 0;
      for (; descriptor.charAt(i) == '['; i++) ++dimensions;
      String type = PRIMITIVES.get(descriptor.charAt(i));
      if (type == null) {
        int end = descriptor.indexOf(';', i);
        type = simple(descriptor.substring(i + 1, end).replace('/', '.'));
        i = end;
      }
      types.add(type + "[]".repeat(dimensions));
    }
    return "(" + String.join(",", types) + ")";
  }

  private static String simple(String type) {
    return type.substring(type.lastIndexOf('.') + 1);
  }

  /**
   * jtrace tells methods of one name and the same simple parameter types by their results, packages
   * or loaders; here they are one, on both sides.
   */
  private static Map<String, Long> ours(Report flat) {
    Map<String, Long> counts = new TreeMap<>();
    for (Map<String, String> row : flat.rows()) {
      String name = row.get("name");
      int open = name.indexOf('(');
      if (open < 0 || row.get("calls").isEmpty()) continue;
      long calls = Long.parseLong(row.get("calls"));
      List<String> types = new ArrayList<>();
      for (String type : name.substring(open + 1, name.lastIndexOf(')')).split(",")) {
        types.add(simple(type));
      }
      String key = name.substring(0, open) + "(" + String.join(",", types) + ")";
      if (calls != 0) counts.merge(key, calls, Long::sum);
    }
    return counts;
  }
}
