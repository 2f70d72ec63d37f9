package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Logs, trees, flat counters and programs that count for themselves agree exactly. */
final class LogExactTest {
  private static final Pattern PATH = Pattern.compile("PATH (\\S+) (\\d+) (.+)");

  private record Way(String options, String... jvmArguments) {
    @Override
    public String toString() {
      return options + " " + String.join(" ", jvmArguments);
    }
  }

  private static final List<Way> LOGS =
      List.of(
          new Way("record=log"),
          new Way("record=log,clock=coarse"),
          new Way("record=log,clock=tsc"),
          new Way("record=log,clock=cpu", "-XX:TieredStopAtLevel=1"),
          new Way("record=log,clock=tsc", "-Xint"),
          new Way("record=log,overflow=wait"),
          new Way("record=log,clock=tsc,overflow=wait"),
          new Way("record=log,logbudget=20k"));

  private static Stream<Way> treesAndLogs() {
    return Stream.concat(Stream.of(new Way("record=tree")), LOGS.stream());
  }

  // ---- Sixteen threads that count their own call paths ------------------------------------------

  @TestFactory
  Stream<DynamicTest> sixteenThreadsHaveEveryPathAsOftenAsTheySay() {
    return treesAndLogs()
        .map(way -> DynamicTest.dynamicTest(way.toString(), () -> checkSixteenThreads(way)));
  }

  private static Jvm.Result sixteenThreads(Way way) {
    Jvm.Result run =
        new Jvm()
            .agent("mode=events,include=SixteenThreads," + way.options())
            .arguments(way.jvmArguments())
            .run("SixteenThreads", way.toString().contains("-Xint") ? "100" : Setup.LONG ? "1500" : "400");
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  private static void checkSixteenThreads(Way way) {
    Jvm.Result run = sixteenThreads(way);
    Map<String, Long> recorded = new TreeMap<>();
    CallTree.of(run)
        .forEach(
            (path, calls) -> {
              if (path.startsWith("walker")) recorded.put(path, calls);
            });
    Map<String, Long> counted = new TreeMap<>();
    for (String line : run.out().lines().toList()) {
      Matcher path = PATH.matcher(line);
      assertTrue(path.matches(), line);
      String key = path.group(1) + ": " + path.group(3).replace(" ", " > ");
      counted.put(key, Long.parseLong(path.group(2)));
    }
    assertTrue(counted.size() > 5_000, "paths: " + counted.size());
    assertEquals(counted, withoutClasses(recorded));
  }

  /** `SixteenThreads.step(CallPaths,int)` to `step`. */
  private static Map<String, Long> withoutClasses(Map<String, Long> tree) {
    Map<String, Long> calls = new TreeMap<>();
    tree.forEach(
        (path, count) ->
            calls.put(path.replaceAll("SixteenThreads\\.(\\w+)\\([^)]*\\)", "$1"), count));
    return calls;
  }

  @Test
  void flatCountersAgreeWithThePaths() {
    Jvm.Result run = sixteenThreads(new Way("record=flat"));
    Report flat = run.report("--report=flat");
    Map<String, Long> counted = new TreeMap<>();
    for (String line : run.out().lines().toList()) {
      Matcher path = PATH.matcher(line);
      assertTrue(path.matches(), line);
      String method = path.group(3).substring(path.group(3).lastIndexOf(' ') + 1);
      counted.merge(method, Long.parseLong(path.group(2)), Long::sum);
    }
    Map<String, Long> recorded = new TreeMap<>();
    for (Map<String, String> row : flat.rows()) {
      Matcher name = Pattern.compile("SixteenThreads\\.(\\w+)\\(.*").matcher(row.get("name"));
      if (!name.matches() || !counted.containsKey(name.group(1))) continue;
      recorded.merge(name.group(1), Long.parseLong(row.get("calls")), Long::sum);
    }
    assertEquals(counted, recorded);
  }

  // ---- Ways to end ------------------------------------------------------------------------------

  @TestFactory
  Stream<DynamicTest> callsAreExactForEveryEndOfThreadsAndPrograms() {
    List<DynamicTest> tests = new ArrayList<>();
    for (Way way :
        List.of(
            new Way("record=flat"),
            new Way("record=tree"),
            new Way("record=log"),
            new Way("record=log,overflow=wait"),
            new Way("record=log,clock=coarse"),
            new Way("record=log,clock=tsc", "-Xint"))) {
      tests.add(ending("oom", 0, way));
      tests.add(ending("stop", 0, way));
      tests.add(ending("exit", 3, way));
      tests.add(ending("halt", 4, way));
    }
    return tests.stream();
  }

  private static DynamicTest ending(String how, int exitCode, Way way) {
    return DynamicTest.dynamicTest(
        how + ", " + way,
        () -> {
          // Later ones have no Thread.stop.
          assumeTrue(!how.equals("stop") || Setup.JDK_MAJOR < 20);
          Jvm.Result run =
              new Jvm()
                  .agent("mode=events,include=Ends," + way.options())
                  .arguments(way.jvmArguments())
                  .arguments("-Xmx64m")
                  .run("Ends", how);
          assertEquals(exitCode, run.exit(), run.err());
          Expectations.check(run);
        });
  }

  // ---- Many threads -----------------------------------------------------------------------------

  private static final Pattern TREES = Pattern.compile("([\\d.]+) MB for trees");

  /** Threads use little memory for their logs as long as they record little, and release it. */
  @TestFactory
  Stream<DynamicTest> logsOfShortThreadsAreComplete() {
    return Stream.of("none", "coarse", "tsc", "cpu")
        .map(clock -> DynamicTest.dynamicTest("clock=" + clock, () -> checkShortThreads(clock)));
  }

  private static void checkShortThreads(String clock) {
    String threads = Setup.LONG ? "5000" : "300";
    Jvm.Result run =
        new Jvm()
            .agent("mode=events,include=ShortThreads,record=log,memory=64m,clock=" + clock)
            .run("ShortThreads", threads);
    assertEquals(0, run.exit(), run.err());
    Expectations.check(run);
    long entries =
        Report.text(run.trace(), "--report=dump").lines()
            .filter(line -> line.contains("\tenter.") && line.endsWith("\tShortThreads.outer(int)"))
            .count();
    assertEquals(10 * Long.parseLong(threads), entries);
    String summary = Report.text(run.trace(), "--report=summary");
    Matcher trees = TREES.matcher(summary);
    assertTrue(trees.find(), summary);
    assertTrue(Double.parseDouble(trees.group(1)) < 32, summary);
  }

  /** More threads than there is memory for logs: calls without a log are counted, and reported. */
  @TestFactory
  Stream<DynamicTest> callsWithoutALogAreReportedAsLeftOut() {
    return Stream.of("none", "tsc")
        .map(clock -> DynamicTest.dynamicTest("clock=" + clock, () -> checkLeftOut(clock)));
  }

  private static void checkLeftOut(String clock) {
    Jvm.Result run =
        new Jvm()
            .agent("mode=events,include=ShortThreads,record=log,memory=16m,clock=" + clock)
            .run("ShortThreads", "600", "together");
    assertEquals(0, run.exit(), run.err());
    Expectations.check(run);
    String dump = Report.text(run.trace(), "--report=dump");
    long logged = dump.lines().filter(line -> line.contains("\tenter.")).count();
    long all = run.report("--report=flat").rows().stream()
        .filter(row -> row.get("name").startsWith("ShortThreads."))
        .mapToLong(row -> Long.parseLong(row.get("calls")))
        .sum();
    assertTrue(logged < all, "there was memory for all");
    Matcher left =
        Pattern.compile("([\\d,]+) entries and exits left out")
            .matcher(Report.text(run.trace(), "--report=summary"));
    assertTrue(left.find());
    assertEquals(all, logged + Long.parseLong(left.group(1).replace(",", "")) / 2);
  }

  // ---- Real programs: the log's tree is the tree ------------------------------------------------

  /** Only H2; the others in the long form, because half a million paths of Clojure take long. */
  @TestFactory
  Stream<DynamicTest> logsOfRealProgramsHaveTheirTrees() {
    List<DynamicTest> tests = new ArrayList<>();
    tests.add(pairs(RealProgram.h2(), "none"));
    if (Setup.LONG) tests.add(pairs(RealProgram.ecj(), "none"));
    if (Setup.LONG && Setup.JDK_MAJOR >= 25) tests.add(pairs(RealProgram.clojure(), "tsc"));
    return tests.stream();
  }

  private static DynamicTest pairs(RealProgram program, String clock) {
    return DynamicTest.dynamicTest(
        program.name() + ", clock=" + clock, () -> compareWithTree(program, clock));
  }

  /**
   * Two runs may differ, with or without a log: one of three pairs has to agree. Both sides use the
   * same clock: its set-up changes the JVM's sequence of identity hash codes, and so Clojure's
   * maps.
   */
  private static void compareWithTree(RealProgram program, String clock) {
    List<String> differences = List.of();
    for (int pair = 0; pair < 3; pair++) {
      differences = differencesOfAPair(program, clock);
      if (differences.isEmpty()) return;
    }
    assertEquals(List.of(), differences);
  }

  private static List<String> differencesOfAPair(RealProgram program, String clock) {
    Map<String, Long> tree = record(program, "record=tree,clock=" + clock);
    Map<String, Long> log = record(program, "record=log,clock=" + clock);
    long all = CallTree.sum(tree);
    for (Map<String, Long> side : List.of(tree, log)) {
      side.keySet().removeIf(path -> path.contains(program.jitter()));
    }
    long compared = CallTree.sum(tree);
    assertTrue(compared * 100 >= all * 95, compared + " of " + all + " calls are compared");
    return Expectations.differences(tree, log);
  }

  private static Map<String, Long> record(RealProgram program, String options) {
    Jvm.Result run = program.run("mode=events," + options);
    assertEquals(0, run.exit(), run.err());
    Map<String, Long> tree = CallTree.of(run);
    assertFalse(tree.isEmpty());
    return tree;
  }
}
