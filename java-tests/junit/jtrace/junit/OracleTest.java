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
 * <p>JTRACE_ORACLE=all in the environment: every program, clock and way to record.
 */
final class OracleTest {
  private static final boolean ALL = "all".equals(System.getenv("JTRACE_ORACLE"));

  /** `include`: for jtrace; `prefixes`: the same for the other agent. */
  private record Program(
      String name, int leastMethods, String include, String prefixes, List<String> jars,
      List<String> arguments) {}

  private static final List<String> SHELL =
      List.of(
          "org.h2.tools.Shell", "-url", "jdbc:h2:mem:oracle", "-sql",
          "create table t(id int primary key, c int, note varchar);"
              + " insert into t select x, mod(x, 97), 'note ' || x from system_range(1, 2000);"
              + " create index i on t(c);"
              + " select a.c, count(*), max(b.note) from t a join t b on a.id = b.c"
              + " where a.id > 20 group by a.c order by 2 desc, 1");

  private static List<Program> programs() throws IOException {
    String classes = Files.createTempDirectory("jtrace-ecj").toString();
    String sequences = Setup.SOURCE.resolve("java-tests/workloads/sequences.clj").toString();
    List<String> clojure = new ArrayList<>(List.of("clojure.main"));
    clojure.addAll(
        ALL ? List.of(sequences, "1") : List.of("-e", "(println (reduce + (map inc (range 9999))))"));
    return List.of(
        new Program(
            "H2", 1000, "org.h2.**;H2W", "org/h2/ H2W", List.of("h2.jar"),
            ALL ? List.of("H2W", "1") : SHELL),
        new Program(
            "Clojure", 1000, "clojure.**", "clojure/",
            List.of("clojure.jar", "core.specs.alpha.jar", "spec.alpha.jar"), clojure),
        new Program(
            "ecj", 1000, "org.eclipse.jdt.**", "org/eclipse/jdt/", List.of("eclipse-jdt-core.jar"),
            List.of(
                "org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-nowarn", "-proc:none",
                "-d", classes, Setup.CASE_SOURCES.resolve("cases").toString())),
        new Program(
            "sixteen threads", 10, "SixteenThreads*;CallPaths*", "SixteenThreads CallPaths",
            List.of(), List.of("SixteenThreads", ALL ? "1500" : "100")));
  }

  private static List<String> ways() {
    List<String> ways = new ArrayList<>(List.of("record=tree", "record=flat", "record=log"));
    if (!ALL) return ways;
    for (String clock : List.of("coarse", "tsc", "cpu")) {
      ways.add("record=tree,clock=" + clock);
      ways.add("record=log,clock=" + clock);
    }
    ways.add("record=log,logbudget=1m");
    return ways;
  }

  /** Some take their time: on one JDK only. */
  private static boolean isFor(Program program) {
    return switch (program.name()) {
      case "Clojure" -> ALL || Setup.JDK_MAJOR >= 25;
      case "ecj" -> ALL || Setup.JDK_MAJOR < 25;
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

  private static void check(Program program, String way) throws IOException {
    Path counts = Jvm.temporary("oracle", ".txt");
    Jvm.Result run =
        new Jvm()
            .agent("mode=events,include=" + program.include() + "," + way)
            .arguments(
                "-javaagent:" + Setup.property("jtrace.counting.agent") + "=on "
                    + program.prefixes() + "|out " + counts)
            .classpath(program.jars().toArray(String[]::new))
            .run(program.arguments().toArray(String[]::new));
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    Map<String, Long> theirs = theirs(counts);
    Map<String, Long> ours = ours(run.report("--report=flat"));
    assertTrue(theirs.size() >= program.leastMethods(), theirs.size() + " methods");
    assertEquals(List.of(), differences(theirs, ours));
    if (ALL) {
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

  /** The first few, in both directions. */
  private static List<String> differences(Map<String, Long> theirs, Map<String, Long> ours) {
    Map<String, Long> either = new TreeMap<>(theirs);
    either.putAll(ours);
    return either.keySet().stream()
        .filter(name -> !theirs.getOrDefault(name, 0L).equals(ours.getOrDefault(name, 0L)))
        .limit(20)
        .map(name -> name + ": theirs " + theirs.get(name) + ", ours " + ours.get(name))
        .toList();
  }
}
