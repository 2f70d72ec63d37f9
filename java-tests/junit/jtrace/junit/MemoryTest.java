package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Trees that would outgrow memory= (S3.13, S3.14): they lose detail, but never a call. */
final class MemoryTest {
  private static final Pattern TOTAL = Pattern.compile("TOTAL (\\d+)");
  private static Map<String, Long> exact;

  @TestFactory
  Stream<DynamicTest> unboundedPathsKeepTheirTotals() {
    return Stream.of(
            "mode=events", "mode=merged,interval=100us", "mode=events,prune=0",
            "mode=events,clock=tsc", "mode=merged,clock=cpu", "mode=events,record=log",
            "mode=events,record=log,clock=tsc")
        .map(options -> DynamicTest.dynamicTest(options, () -> checkTotals(options)));
  }

  private static void checkTotals(String options) {
    Jvm.Result run = new Jvm().agent(options + ",memory=16m").run("GeneratedPaths", "2500", "120");
    assertEquals(0, run.exit(), run.err());
    List<Map<String, String>> tree = run.report("--report=tree").rows();
    assertEquals(total(run.out()), calls(tree, row -> true));
    assertTrue(callsBelowPruned(tree) > 0, "nothing was pruned");
    assertEquals(List.of(), Expectations.differences(exactByRoutine(), byRoutine(run)));
    String summary = Report.text(run.trace(), "--report=summary");
    Matcher memory = Pattern.compile("([\\d.]+) MB for trees").matcher(summary);
    assertTrue(memory.find() && Double.parseDouble(memory.group(1)) <= 16.8, summary);
  }

  /** The same program and calls with a counter for each routine and no tree. */
  private static synchronized Map<String, Long> exactByRoutine() {
    if (exact == null) {
      Jvm.Result run = new Jvm().agent("mode=events,record=flat").run("GeneratedPaths", "2500", "120");
      assertEquals(0, run.exit(), run.err());
      exact = byRoutine(run);
      assertEquals(total(run.out()), exact.values().stream().mapToLong(calls -> calls).sum());
    }
    return exact;
  }

  private static Map<String, Long> byRoutine(Jvm.Result run) {
    return run.report("--report=flat").rows().stream()
        .filter(row -> row.get("name").contains("(") && !row.get("calls").equals("0"))
        .collect(Collectors.toMap(
            row -> row.get("name"), row -> Long.parseLong(row.get("calls")), Long::sum, TreeMap::new));
  }

  /** A [pruned] node has no count itself, but has a child for each routine. */
  private static long callsBelowPruned(List<Map<String, String>> tree) {
    Set<String> pruned = tree.stream()
        .filter(row -> row.get("name").equals("[pruned]"))
        .map(row -> row.get("id"))
        .collect(Collectors.toSet());
    assertEquals(0, calls(tree, row -> row.get("name").equals("[pruned]")));
    return calls(tree, row -> pruned.contains(row.get("parent")));
  }

  /** The default of memory= has room for 100,000 that are alive at once. */
  @Test
  void defaultMemoryHasRoomForVirtualThreads() {
    Assumptions.assumeTrue(Setup.JDK_MAJOR >= 21);
    Jvm.Result run = new Jvm().agent("mode=events").run("cases.ManyVirtualThreads");
    assertEquals(0, run.exit(), run.err());
    assertEquals(600_000, run.report("--report=flat").sum("calls", "cases.ManyVirtualThreads.leaf(int)"));
    String summary = Report.text(run.trace(), "--report=summary");
    assertFalse(summary.contains("memory="), summary);
  }

  /** Thirteen times the threads that there is room for, but at most a quarter of that at once. */
  @Test
  void virtualThreadsReleaseTheirMemory() {
    Assumptions.assumeTrue(Setup.JDK_MAJOR >= 21);
    Jvm.Result run =
        new Jvm().agent("mode=events,memory=16m").run("VirtualBatches", "50", "1600", "60");
    assertEquals(0, run.exit(), run.err());
    List<Map<String, String>> tree = run.report("--report=tree").rows();
    String task = "VirtualBatches.task(";
    assertEquals(80_000, calls(tree, row -> row.get("name").startsWith(task)));
    // A late collector leaves some unplaced; without it hardly any would be placed.
    long placed = calls(tree, row -> row.get("thread").equals("[virtual threads]")
        && row.get("name").startsWith(task));
    assertTrue(placed >= 40_000, "in the tree: " + placed);
  }

  /**
   * HotSpot never frees the jmethodIDs of a class: requesting them would leave a block of memory
   * for each of the classes, most of which are unloaded at the end. A few thousand are still
   * loaded.
   */
  @Test
  void unloadedClassesKeepNoMemory() {
    Assumptions.assumeTrue(Setup.LONG, "20,000 classes run in the long form only");
    Jvm.Result run = new Jvm().agent("mode=samples")
        .arguments("-XX:+UseSerialGC", "-Xmx64m", "-XX:MaxMetaspaceSize=32m",
            "-XX:NativeMemoryTracking=summary", "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+PrintNMTStatistics")
        .run("GeneratedPaths", "20000", "120");
    assertEquals(0, run.exit(), run.err());
    Matcher blocks = Pattern.compile("Internal \\(reserved.*\\s+\\(malloc=[^#]*#(\\d+)").matcher(run.out());
    assertTrue(blocks.find(), run.out());
    assertTrue(Long.parseLong(blocks.group(1)) < 15_000, blocks.group());
  }

  /** 6,000 levels, of which 50 are kept as separate nodes. */
  @TestFactory
  Stream<DynamicTest> deepRecursionIsFolded() {
    return Stream.of("mode=events", "mode=events,clock=tsc", "mode=events,clock=cpu")
        .map(options -> DynamicTest.dynamicTest(options, () -> checkFolded(options)));
  }

  private static void checkFolded(String options) {
    Jvm.Result run = new Jvm().agent(options + ",maxdepth=50").run("cases.DeepRecursion");
    assertEquals(0, run.exit(), run.err());
    List<Map<String, String>> tree = run.report("--report=tree").rows();
    assertTrue(tree.size() < 200, tree.size() + " nodes");
    Expectations.check(run);
    assertTrue(Report.text(run.trace(), "--report=summary").contains("4 of 4 hold"));
  }

  private static long total(String out) {
    Matcher total = TOTAL.matcher(out);
    assertTrue(total.find(), out);
    return Long.parseLong(total.group(1));
  }

  private static long calls(
      List<Map<String, String>> tree, java.util.function.Predicate<Map<String, String>> wanted) {
    return tree.stream()
        .filter(row -> !row.get("origin").equals("thread"))
        .filter(wanted)
        .mapToLong(row -> Long.parseLong(row.get("calls")))
        .sum();
  }
}
